//! What a machine lacks is said in a line that names it and what to do: no Rust, a home that cannot be written to, a
//! disk that is full in the middle of an installation, nobody who reads.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A home with a `PATH` of its own, on which are only these programs of the system.
struct Home(TempDir);

impl Home {
    fn with(programs: &[&str]) -> Home {
        let home = Home(TempDir::new().expect("a directory"));
        let bin = home.0.path().join("bin");
        fs::create_dir(&bin).expect("made");
        for program in programs {
            symlink(Path::new("/usr/bin").join(program), bin.join(program)).expect("made");
        }
        home
    }

    /// A program that the shell runs.
    fn script(self, name: &str, text: &str) -> Home {
        let file = self.0.path().join("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}")).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("made executable");
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.arg("hostcall").args(arguments).env_clear().current_dir(self.0.path());
        command.env("HOME", self.0.path()).env("PATH", self.0.path().join("bin"));
        // Nor is there a device toolchain, for which anything would be compiled.
        command.env("HOSTCALL_DEVICE_RUSTC", self.0.path().join("rustc"));
        command
    }

    fn hostcall(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it starts")
    }
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[test]
fn without_rust_a_new_package_is_refused_with_where_to_get_it() {
    let home = Home::with(&["cc"]);
    let refused = home.hostcall(&["new", "package"]);
    let text = said(&refused);
    assert!(!refused.status.success() && text.contains("https://rustup.rs") && text.lines().count() == 1, "{text}");
    assert!(!home.0.path().join("package").exists());
    let text = said(&home.hostcall(&["doctor"]));
    assert!(text.contains("MISSING  host toolchain") && text.contains("https://rustup.rs"), "{text}");
}

#[test]
fn half_an_installation_is_not_there_afterwards_and_what_was_wanted_is_named() {
    // A pip that writes a part and finds the disk full.
    let pip = "case \"$*\" in *--version*) exit 0 ;; esac\nwhile [ $# -gt 0 ]; do [ $1 = --target ] && to=$2; shift; done\n\
        /bin/mkdir -p $to/nvidia/cuda_nvcc/bin $to/nvidia/cu13/bin\nfor tool in cuda_nvcc/bin/ptxas cu13/bin/nvlink; do\n\
        printf '#!/bin/sh\\necho release 12.9, V12.9.86\\n' > $to/nvidia/$tool; /bin/chmod +x $to/nvidia/$tool; done\n\
        echo 'No space left on device' >&2; exit 2\n";
    let home = Home::with(&["cc"]).script("python3", pip);
    let setup = home.hostcall(&["setup"]);
    let text = said(&setup);
    assert!(!setup.status.success(), "{text}");
    for wheel in ["nvidia-cuda-nvcc-cu12==", "nvidia-cuda-nvcc=="] {
        let line = text.lines().find(|line| line.contains("could not be installed") && line.contains(wheel));
        assert!(line.is_some_and(|line| line.contains("missing") && line.contains("room on the disk")), "{text}");
    }
    assert!(text.contains("No space left on device"), "{text}");
    let cache = home.0.path().join(".cache/hostcall");
    let left: Vec<_> = ["cuda", "nvlink"].into_iter().filter(|name| cache.join(name).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(fs::read_dir(cache.join("work")).expect("it was made").count(), 0, "nothing of it fills the disk");
}

#[test]
fn a_home_that_cannot_be_written_to_is_named_with_the_variable_that_names_another_place() {
    // (Root writes where nobody else does, but not into a file.)
    let home = Home::with(&["cc"]).script("python3", "exit 0\n");
    fs::write(home.0.path().join(".cache"), "").expect("written");
    let text = said(&home.hostcall(&["setup"]));
    let line = text.lines().find(|line| line.contains("ptxas"));
    assert!(line.is_some_and(|line| line.contains(".cache/hostcall") && line.contains("HOSTCALL_CACHE")), "{text}");
    // There it is installed, and found.
    let other = home.0.path().join("elsewhere");
    let _ = home.command(&["setup"]).env("HOSTCALL_CACHE", &other).output().expect("it starts");
    assert!(other.is_dir());
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let home = Home::with(&["cc"]);
    let mut child = home.command(&["doctor"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().expect("it is a pipe").read_to_string(&mut complaints).expect("it is text");
    child.wait().expect("it ends");
    assert_eq!(complaints, "");
}

#[test]
fn a_package_without_a_program_is_refused_before_anything_is_compiled_and_its_neighbour_with_one_is_not() {
    let dir = TempDir::new().expect("a directory");
    let root = fs::canonicalize(dir.path()).expect("it is there");
    let package = |path: &str, source: &str| {
        let dir = root.join(path);
        fs::create_dir_all(dir.join("src")).expect("made");
        let name = path.split('/').next_back().expect("it has a name");
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        fs::write(dir.join("Cargo.toml"), manifest).expect("written");
        fs::write(dir.join("src").join(source), "fn main() {}\n").expect("written");
        dir
    };
    let kernels = package("kernels", "lib.rs");
    let program = package("kernels/program", "main.rs");
    let mut manifest = fs::read_to_string(kernels.join("Cargo.toml")).expect("it was written");
    manifest += "\n[workspace]\nmembers = [\"program\"]\n";
    fs::write(kernels.join("Cargo.toml"), manifest).expect("written");
    let run = |arguments: &[&str], dir: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.arg("hostcall").args(arguments).current_dir(dir);
        // Nothing can be compiled for a device, and where that is wanted, this is what is said.
        command.env("HOSTCALL_DEVICE_RUSTC", root.join("rustc")).env("HOSTCALL_CACHE", root.join("cache"));
        let output = command.output().expect("it starts");
        assert!(!output.status.success());
        said(&output)
    };
    for arguments in [&["build", "--for", "sim"][..], &["run", "--device", "sim"]] {
        let refused = "nothing to build: kernels has no program";
        let text = run(arguments, &kernels);
        assert!(text.contains(refused) && text.contains("cargo hostcall run . NAME"), "{text}");
        let text = run(arguments, &kernels.join("src"));
        assert!(text.contains(refused), "{text}");
        for text in [run(arguments, &program), run(&[arguments, &["-p", "program"]].concat(), &kernels)] {
            assert!(!text.contains("nothing to build") && text.contains("rustc"), "{text}");
        }
        let named = program.join("Cargo.toml");
        let text = run(&[arguments, &["--manifest-path", named.to_str().expect("UTF-8")]].concat(), &kernels);
        assert!(!text.contains("nothing to build") && text.contains("rustc"), "{text}");
    }
}

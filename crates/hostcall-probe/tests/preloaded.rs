//! The library before a stand-in for CUDA's driver, in a program in C that knows of neither: what the driver is given,
//! by whichever way the program finds it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hostcall_build::DeviceToolchain;
use hostcall_build::ptx::Library;

const PTX: &str = "//\n.version 8.4\n.target sm_80\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 p\n)\n{\n\t.reg .b64 %rd<2>;\n\t.reg .b32 %r<2>;\n\n\
                   \tld.param.u64 %rd1, [p];\n\tld.global.u32 %r1, [%rd1];\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n\n\
                   .visible .entry other()\n{\n\tret;\n}\n";
/// What instrumented PTX has before each access.
const CALLS: &str = "__hostcall_probe_access";

/// A program, a driver, and a directory in which the driver keeps what it was given.
struct Trial {
    dir: tempfile::TempDir,
}

fn compile(arguments: &[&str], sources: &[&Path], output: &Path) {
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-O1", "-Wall"]).args(sources).args(arguments).arg("-o").arg(output);
    let compiled = compile.output().expect("cc starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

impl Trial {
    /// `None`: there is no device toolchain, which is said.
    fn new() -> Option<Self> {
        if let Err(error) = DeviceToolchain::find() {
            println!("not run: {error}");
            return None;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let (here, there) = (Path::new(env!("CARGO_MANIFEST_DIR")), dir.path());
        let [driver, program, next] = ["driver.c", "program.c", "next.c"].map(|file| here.join("tests/c").join(file));
        let fake = here.join("../hostcall-c/tests/c/fake_cuda.c");
        compile(&["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-ldl"], &[&fake, &driver], &there.join("libcuda.so.1"));
        compile(&["-ldl", "-L", &there.display().to_string(), "-l:libcuda.so.1"], &[&program], &there.join("program"));
        compile(&["-shared", "-fPIC", "-ldl"], &[&next], &there.join("next.so"));
        fs::write(there.join("hostcall.ptx"), Library::text_of_device().expect("hostcall's functions")).expect("written");
        fs::write(there.join("k.ptx"), PTX).expect("written");
        Some(Self { dir })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program, with the library before the driver.
    fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
        let own = std::env::current_exe().expect("this program");
        let library = own.parent().expect("a directory").join("libhostcall_probe.so");
        let _ = fs::remove_file(self.path("log"));
        let mut command = Command::new(self.path("program"));
        command.args(arguments).current_dir(self.dir.path()).env("LD_LIBRARY_PATH", self.dir.path()).env("FAKE_DIR", self.dir.path());
        command
            .env("LD_PRELOAD", library)
            .env("FAKE_REGISTERS", "20")
            .env("HOSTCALL_PROBE_LIBRARY", self.path("hostcall.ptx"))
            .env("HOSTCALL_PROBE_INSTRUMENT", "access");
        command.envs(settings.iter().copied()).output().expect("it starts")
    }

    /// The program that ends as it would without: what was said besides.
    fn said(&self, arguments: &[&str], settings: &[(&str, &str)]) -> String {
        let output = self.run(arguments, settings);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((output.status.code(), out.ends_with("the program has ended\n")), (Some(7), true), "{arguments:?}: {out}{err}");
        err.into_owned()
    }

    /// What the driver wrote down, and the `number`th image that it got.
    fn log(&self) -> Vec<String> {
        fs::read_to_string(self.path("log")).expect("the driver was used").lines().map(str::to_owned).collect()
    }

    fn image(&self, number: u32) -> Vec<u8> {
        fs::read(self.path(&number.to_string())).expect("the driver got it")
    }

    fn has_calls(&self, number: u32) -> bool {
        String::from_utf8_lossy(&self.image(number)).contains(CALLS)
    }

    /// The function by which the driver got PTX with calls, and that.
    fn instrumented(&self) -> Option<(String, String)> {
        self.log().iter().find_map(|line| {
            let (function, number) = line.split_once(' ')?;
            let text = String::from_utf8_lossy(&self.image(number.parse().ok()?)).into_owned();
            text.contains(CALLS).then(|| (function.to_owned(), text))
        })
    }
}

/// A fatbin with these parts: kind, architecture, bytes.
fn fatbin(parts: &[(u16, u32, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (kind, arch, bytes) in parts {
        let padded = bytes.len().next_multiple_of(8);
        all.extend([&kind.to_le_bytes()[..], &[1, 1], &64u32.to_le_bytes(), &(padded as u64).to_le_bytes(), &[0; 12]].concat());
        all.extend([&arch.to_le_bytes()[..], &[0; 32], bytes].concat());
        all.resize(all.len() + padded - bytes.len(), 0);
    }
    [&0xba55_ed50u32.to_le_bytes()[..], &1u16.to_le_bytes(), &16u16.to_le_bytes(), &(all.len() as u64).to_le_bytes(), &all].concat()
}

#[test]
fn ptx_is_instrumented_by_whichever_way_a_program_finds_the_driver() {
    let Some(trial) = Trial::new() else { return };
    for (how, by, function) in [
        ("linked", "data", "cuModuleLoadData"),
        ("dlsym", "data", "cuModuleLoadData"),
        ("proc11", "data", "cuModuleLoadData"),
        ("proc12", "data", "cuModuleLoadData"),
        ("proc12", "ex", "cuModuleLoadDataEx"),
        ("dlsym", "ex", "cuModuleLoadDataEx"),
        // A file is loaded from memory then.
        ("proc12", "file", "cuModuleLoadData"),
        ("linked", "library", "cuLibraryLoadData"),
        ("proc12", "library", "cuLibraryLoadData"),
        ("proc12", "link", "cuLinkAddData_v2"),
    ] {
        let said = trial.said(&[how, by, "k.ptx"], &[]);
        let (by_which, text) = trial.instrumented().unwrap_or_else(|| panic!("{how} {by}: {said}"));
        assert_eq!(by_which, function, "{how} {by}");
        // As many registers more as they may take; of a part that is linked nobody knows how many they had.
        assert_eq!(text.matches(".maxnreg 48\n").count(), if by == "link" { 0 } else { 2 }, "{how} {by}");
        if by != "link" {
            assert!(said.contains("hostcall probe: 1 module with 2 kernels told of themselves"), "{how} {by}: {said}");
        }
    }
}

#[test]
fn what_is_not_meant_is_given_to_the_driver_as_it_came() {
    let Some(trial) = Trial::new() else { return };
    let said = trial.said(&["proc12", "data", "k.ptx"], &[("HOSTCALL_PROBE_KERNELS", "^nobody$")]);
    assert_eq!(trial.image(0), PTX.as_bytes());
    assert!(said.contains("0 modules with 0 kernels told of themselves; in 1 module no kernel was meant"), "{said}");
    // Machine code, alone and in a fatbin.
    let mut code = vec![0u8; 64];
    code[..4].copy_from_slice(b"\x7fELF");
    code[40] = 64; // where its sections would begin
    fs::write(trial.path("k.cubin"), &code).expect("written");
    fs::write(trial.path("k.fatbin"), fatbin(&[(2, 90, &code), (1, 120, PTX.as_bytes())])).expect("written");
    for (by, file) in [("data", "k.cubin"), ("data", "k.fatbin"), ("fat", "k.fatbin")] {
        let said = trial.said(&["linked", by, file], &[]);
        let given = fs::read(trial.path(file)).expect("it is there");
        // (By the wrapper the driver keeps its first bytes alone.)
        assert!(by == "fat" || trial.image(0) == given, "{by} {file}");
        assert!(said.contains("1 module had machine code alone and told nothing"), "{by} {file}: {said}");
    }
    // No session, no words.
    let output = Command::new("true").env("LD_PRELOAD", "").output().expect("it starts");
    assert!(output.stderr.is_empty());
}

#[test]
fn of_several_kernels_those_that_are_meant_have_calls() {
    let Some(trial) = Trial::new() else { return };
    let said = trial.said(&["proc12", "data", "k.ptx"], &[("HOSTCALL_PROBE_KERNELS", "^nobody$\n^k$")]);
    let (_, text) = trial.instrumented().expect("it has calls");
    assert_eq!(text.matches(".maxnreg").count(), 1);
    assert!(said.contains("1 module with 1 kernel told of themselves"), "{said}");
}

#[test]
fn ptx_in_a_fatbin_is_loaded_instead_of_the_machine_code_beside_it() {
    let Some(trial) = Trial::new() else { return };
    let code = [0u8; 64];
    let both = fatbin(&[(2, 90, &code), (1, 80, PTX.as_bytes()), (1, 120, b".version 9.0")]);
    fs::write(trial.path("k.fatbin"), both).expect("written");
    for (how, by) in [("linked", "fat"), ("proc12", "fat"), ("proc12", "data"), ("dlsym", "file"), ("proc12", "library")] {
        let said = trial.said(&[how, by, "k.fatbin"], &[]);
        assert!(trial.instrumented().is_some(), "{how} {by}: {said}");
    }
}

#[test]
fn what_the_driver_refuses_is_loaded_as_it_came() {
    let Some(trial) = Trial::new() else { return };
    let said = trial.said(&["proc12", "data", "k.ptx"], &[("FAKE_REFUSES", CALLS)]);
    assert_eq!(trial.image(0), PTX.as_bytes());
    assert!(said.contains("the driver refuses k, other with hostcall's calls (218)"), "{said}");
    // And what cannot be instrumented.
    fs::write(trial.path("old.ptx"), PTX.replace("sm_80", "sm_35")).expect("written");
    let said = trial.said(&["linked", "data", "old.ptx"], &[]);
    assert!(said.contains("1 module could not be instrumented: this is PTX for sm_35"), "{said}");
}

#[test]
fn of_two_parts_of_a_module_that_is_linked_one_has_hostcalls_functions() {
    let Some(trial) = Trial::new() else { return };
    trial.said(&["linked", "link", "k.ptx", "k.ptx"], &[]);
    assert_eq!([0, 1].map(|number| trial.has_calls(number)), [true, false]);
}

#[test]
fn launches_that_are_not_meant_find_their_streams_off() {
    let Some(trial) = Trial::new() else { return };
    for (wanted, found) in [("1..2", ["off", "on", "off"]), ("2..", ["off", "off", "on"]), ("..9", ["on", "on", "on"])] {
        for how in ["linked", "dlsym", "proc12"] {
            trial.said(&[how, "data", "k.ptx"], &[("HOSTCALL_PROBE_LAUNCHES", wanted)]);
            let launches: Vec<String> = trial.log().into_iter().filter(|line| line.starts_with("launch")).collect();
            assert_eq!(launches, found.map(|word| format!("launch k {word}")), "{how} {wanted}");
        }
    }
    trial.said(&["linked", "data", "k.ptx"], &[]);
    assert_eq!(trial.log().iter().filter(|line| *line == "launch k on").count(), 3);
}

#[test]
fn a_program_ends_though_its_kernels_do_not() {
    let Some(trial) = Trial::new() else { return };
    let said = trial.said(&["linked", "data", "k.ptx"], &[("FAKE_ENDLESS", "1")]);
    assert!(said.contains("not all messages came: kernels still run after 10 s"), "{said}");
}

#[test]
fn a_child_that_the_program_forks_says_nothing_at_its_end() {
    let Some(trial) = Trial::new() else { return };
    let said = trial.said(&["linked", "data", "k.ptx"], &[("PROGRAM_FORKS", "1")]);
    assert_eq!(said.matches("told of themselves").count(), 1, "{said}");
}

#[test]
fn settings_that_are_wrong_are_said_and_the_program_runs_as_it_is() {
    let Some(trial) = Trial::new() else { return };
    for (settings, problem) in [
        ([("HOSTCALL_PROBE_INSTRUMENT", "nothing")], "HOSTCALL_PROBE_INSTRUMENT=nothing: `nothing` is none of access"),
        ([("HOSTCALL_PROBE_LIBRARY", "/nowhere.ptx")], "cannot read /nowhere.ptx"),
        ([("HOSTCALL_PROBE_LAUNCHES", "5")], "HOSTCALL_PROBE_LAUNCHES=5: no range"),
    ] {
        let said = trial.said(&["proc12", "data", "k.ptx"], &settings);
        assert_eq!(said.matches("hostcall probe: nothing is told of: ").count(), 1, "{said}");
        assert!(said.contains(problem), "{said}");
        assert_eq!(trial.image(0), PTX.as_bytes());
    }
}

#[test]
fn a_library_that_asks_for_the_next_function_gets_it() {
    let Some(trial) = Trial::new() else { return };
    let own = std::env::current_exe().expect("this program");
    let ours = own.parent().expect("a directory").join("libhostcall_probe.so");
    let both = format!("{}:{}", ours.display(), trial.path("next.so").display());
    let output = trial.run(&["linked", "data", "k.ptx"], &[("LD_PRELOAD", &both)]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "through the next library\nthe program has ended\n");
    // A program without CUDA is not told anything.
    let other = Command::new("sh").args(["-c", "exit 5"]).env("LD_PRELOAD", ours).output().expect("it starts");
    assert_eq!((other.status.code(), other.stdout.len(), other.stderr.len()), (Some(5), 0, 0));
}

//! The compiler that cargo calls: rustc, with the flags that a device program needs.
//!
//! What is compiled for the host on the way (build scripts, procedural macros) passes through untouched. Crates for the
//! device get the sysroot, the `hostcall_device` cfg, and for GPUs no optimisation before the link. A final crate also
//! depends on the runtime it is linked with and on the linker's own steps, and cargo is told so by a line in the
//! dependency file: when they change, programs are linked again and nothing else is built.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::foreign;
use super::linker::{ARCHIVES_VARIABLE, C_LIBRARIES, HARNESS_VARIABLE, PARTS_VARIABLE};
use super::sysroot::{STATE_VARIABLE, Sysroot};
use super::unwinding;
use crate::flags::{self, KERNEL_FEATURES};
use crate::instrument;
use crate::{BuildError, INSTRUMENT_VARIABLE};

pub(crate) fn run(sysroot: &Sysroot, arguments: Vec<OsString>) -> Result<u8, BuildError> {
    let name = sysroot.machine.name();
    let call = Call::read(&arguments);
    let mut command = Command::new(&sysroot.toolchain.rustc);
    command.args(&arguments);
    if call.target.as_deref() == Some(&name) {
        if sysroot.machine.is_gpu()
            && let Some(refused) = refuse(&call.not_for_gpus())
        {
            return Ok(refused);
        }
        command.env("RUSTC_BOOTSTRAP", "1").arg("--sysroot").arg(&sysroot.dir).arg("-Zunstable-options");
        // Of this program, and no other that builds with the same sysroot.
        command.arg(format!("-Clinker={}", sysroot.linker().display()));
        command.args(flags::common());
        command.args(sysroot.machine.codegen_flags());
        if std::env::var("CARGO_PKG_NAME").is_ok_and(|name| KNOW_C_BY_ARCH.contains(&&*name)) {
            command.args(flags::C_OF_X86_64);
        }
        if call.crate_name.as_deref() == Some(PROBE) {
            command.args(["--cfg", RUSTIX_CALLS_C]);
        }
        let instrumented = std::env::var_os(INSTRUMENT_VARIABLE).is_some_and(|value| !value.is_empty());
        if instrumented {
            command.args(instrument::flags());
            command.args(instrument::AS_BITCODE.into_iter().filter(|_| !sysroot.machine.is_gpu()));
        }
        if sysroot.machine.is_gpu() {
            // The runtime is C's library, and no other is linked.
            command.arg("-Zlink-native-libraries=no");
            if call.is_final {
                command.env(ARCHIVES_VARIABLE, call.archives().iter().map(|file| format!("{}\n", file.display())).collect::<String>());
            }
            // No image for a GPU has it, and of a large program's bitcode it is most.
            command.args((!instrumented).then_some("-Cdebuginfo=0"));
            // Others have no kernels, and some refuse to be compiled with any feature (`unstable_features`).
            if call.knows_kernels && call.is_crate {
                command.arg(format!("-Zcrate-attr=feature({KERNEL_FEATURES})")).arg("-Aunused_features");
            }
        }
        if call.is_test {
            // Then a test is its own process, whose exit code says what became of it: panics abort here.
            command.arg("-Zpanic-abort-tests").env(HARNESS_VARIABLE, "1");
        }
    }
    let line = || format!("{}", sysroot.toolchain.rustc.display());
    let status = command.status().map_err(|source| BuildError::Spawn { command: line(), source })?;
    if arguments.iter().any(|argument| argument == "-vV") {
        // Part of what cargo knows programs by: another std means another build.
        println!("hostcall: {}", sysroot.dir.file_name().unwrap_or_default().to_string_lossy());
        // Cargo does not see what is added here to a crate's flags.
        println!("C of x86-64: {}, {RUSTIX_CALLS_C}", KNOW_C_BY_ARCH.join(" "));
    }
    if status.success()
        && call.target.as_deref() == Some(&name)
        && is_users_own()
        && let Some(said) = call.dependency_file().and_then(|file| unwinding::about(&fs::read_to_string(file).ok()?))
    {
        eprintln!("{said}");
    }
    if status.success()
        && call.target.as_deref() == Some(&name)
        && sysroot.machine.is_gpu()
        && let Some(refused) = refuse(&call.brought_along())
    {
        return Ok(refused);
    }
    if status.success() && call.is_final {
        depend_on_stamp(sysroot, &call)?;
    }
    if !status.success()
        && let Some(hint) = hint(&call, &name)
    {
        eprintln!("note: {hint}");
    }
    Ok(if status.success() { 0 } else { status.code().map_or(1, |code| (code as u8).max(1)) })
}

/// Packages that know C's types and the system's numbers by `target_arch`, and are told that of the machine whose C
/// these have: `x86_64`. (The allocator asks which alignment C's types have at most.)
const KNOW_C_BY_ARCH: [&str; 4] = ["libc", "rustix", "linux-raw-sys", "tikv-jemallocator"];

/// The crate for which cargo asks what is configured; it tells build scripts.
const PROBE: &str = "___";
/// Has the build script of the crate `rustix` take C's functions. On the simulator's processor it would take the
/// instruction for system calls, which go past the device to this machine.
const RUSTIX_CALLS_C: &str = "rustix_use_libc";

/// What matters of a call.
#[derive(Debug, Default, PartialEq, Eq)]
struct Call {
    target: Option<String>,
    crate_name: Option<String>,
    extra_filename: String,
    out_dir: Option<PathBuf>,
    is_crate: bool,
    is_test: bool,
    /// Whether this call ends with a link.
    is_final: bool,
    /// Libraries of another language that the crate names.
    libraries: Vec<String>,
    /// Where they are looked for.
    directories: Vec<PathBuf>,
    /// Whether it depends on `hostcall`, under whatever name: what is a kernel is said by a macro of that crate.
    knows_kernels: bool,
}

impl Call {
    fn read(arguments: &[OsString]) -> Call {
        let mut call = Call::default();
        let words: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
        let mut emits_link = true;
        let mut crate_type = "bin";
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            at += 1;
            // `--key value`, `--key=value`, `-C value`, `-Cvalue`
            let (key, joined) = match word.split_once('=') {
                Some((key, value)) if key.starts_with("--") => (key, Some(value)),
                _ => (word, None),
            };
            let value = joined.or_else(|| words.get(at).copied());
            let mut takes = |slot: &mut Option<String>| {
                *slot = value.map(str::to_owned);
                at += usize::from(joined.is_none());
            };
            match key {
                "--target" => takes(&mut call.target),
                "--crate-name" => takes(&mut call.crate_name),
                "--out-dir" => call.out_dir = value.map(PathBuf::from),
                "--crate-type" => crate_type = value.unwrap_or(crate_type),
                "--emit" => emits_link = value.is_some_and(|value| value.split(',').any(|kind| kind == "link")),
                "--test" => call.is_test = true,
                "--extern" => call.knows_kernels |= value.is_some_and(is_hostcall),
                "-L" => call.directories.extend(value.map(directory)),
                _ if word.starts_with("-L") => call.directories.push(directory(&word[2..])),
                "-l" => call.libraries.extend(value.map(library)),
                _ if word.starts_with("-l") => call.libraries.push(library(&word[2..])),
                "-C" if value.is_some_and(|value| value.starts_with("extra-filename=")) => {
                    call.extra_filename = value.unwrap_or_default().trim_start_matches("extra-filename=").to_owned();
                }
                _ => {}
            }
            call.is_crate |= word.ends_with(".rs");
        }
        call.is_crate &= !matches!(call.crate_name.as_deref(), Some(PROBE) | None);
        call.is_final = call.is_crate && emits_link && (call.is_test || crate_type == "bin") && call.target.is_some();
        call
    }
}

/// Whether a value of `--extern`, `[OPTIONS:]NAME=PATH`, is the crate `hostcall`.
fn is_hostcall(value: &str) -> bool {
    let file = value.split_once('=').and_then(|(_, path)| Path::new(path).file_name()?.to_str());
    file.is_some_and(|file| file.starts_with("libhostcall-"))
}

/// The name in a value of `-l`: `[KIND[:MODIFIERS]=]NAME[:RENAME]`.
fn library(value: &str) -> String {
    let name = value.split_once('=').map_or(value, |(_, name)| name);
    name.split(':').next().unwrap_or(name).to_owned()
}

/// The directory in a value of `-L`: `[KIND=]DIR`.
fn directory(value: &str) -> PathBuf {
    value.split_once('=').map_or(value, |(_, dir)| dir).into()
}

/// Whether the package is one that cargo was asked for, not a dependency.
fn is_users_own() -> bool {
    std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some()
}

/// The package that cargo has us compile, for messages.
fn package() -> String {
    let variable = |name| std::env::var(name).unwrap_or_default();
    format!("{} {}", variable("CARGO_PKG_NAME"), variable("CARGO_PKG_VERSION"))
}

impl Call {
    /// Where rustc says what the crate was made of, if it was asked to.
    fn dependency_file(&self) -> Option<PathBuf> {
        let (dir, name) = (self.out_dir.as_ref()?, self.crate_name.as_ref()?);
        Some(dir.join(format!("{name}{}.d", self.extra_filename)))
    }

    /// The archive of a library that the crate names.
    fn archive(&self, name: &str) -> Option<PathBuf> {
        self.directories.iter().map(|dir| dir.join(format!("lib{name}.a"))).find(|file| file.is_file())
    }

    /// The archives of all of them.
    fn archives(&self) -> Vec<PathBuf> {
        self.libraries.iter().filter_map(|name| self.archive(name)).collect()
    }

    /// Of the libraries that the crate names, those that no GPU runs: machine code, and what is loaded later.
    fn not_for_gpus(&self) -> Vec<String> {
        let is_bitcode = |file: PathBuf| foreign::members(&file).is_ok_and(|members| members.iter().all(|member| member.is_bitcode));
        let is_for_gpus = |name: &str| C_LIBRARIES.contains(&name) || self.archive(name).is_some_and(is_bitcode);
        self.libraries.iter().filter(|name| !is_for_gpus(name)).cloned().collect()
    }

    /// Objects of machine code that are in what rustc has made, though nobody has told it of them: the source names
    /// their library.
    fn brought_along(&self) -> Vec<String> {
        let library = || Some(self.out_dir.as_ref()?.join(format!("lib{}{}.rlib", self.crate_name.as_ref()?, self.extra_filename)));
        // No such file: it is no library.
        let members = library().and_then(|library| foreign::members(&library).ok()).unwrap_or_default();
        members.into_iter().filter(|member| !member.is_bitcode).map(|member| member.name).collect()
    }
}

/// Says of the package that is compiled that a GPU does not run its libraries; the exit code. It is found out before
/// rustc where that is possible: code generation for a GPU does not survive objects of another machine.
fn refuse(libraries: &[String]) -> Option<u8> {
    eprintln!("{}", about_c(libraries, &package())?);
    Some(1)
}

fn about_c(libraries: &[String], package: &str) -> Option<String> {
    if libraries.is_empty() {
        return None;
    }
    let names = libraries.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Some(format!(
        "error: the package `{package}` links {names}, which a GPU cannot: it is machine code, or a library that is not brought along. C runs there \
         if the package's build script compiles it (by the crates `cc` or `cmake`); look for a feature of it that has it do so, or that does without"
    ))
}

/// Adds the stamp of the runtime and the linker to the dependency file of a crate that was linked with them.
fn depend_on_stamp(sysroot: &Sysroot, call: &Call) -> Result<(), BuildError> {
    let Some(file) = call.dependency_file() else { return Ok(()) };
    let Ok(text) = fs::read_to_string(&file) else { return Ok(()) };
    let stamp = sysroot.stamp().display().to_string().replace(' ', "\\ ");
    let mut changed = with_dependency(&text, &stamp);
    if std::env::var_os(STATE_VARIABLE).is_some() {
        changed += &format!("\n# env-dep:{STATE_VARIABLE}={}\n", sysroot.runtime_state()?);
    }
    // Cargo compares what they were then with what they are.
    for variable in [PARTS_VARIABLE, INSTRUMENT_VARIABLE] {
        changed += &match std::env::var(variable) {
            Ok(value) => format!("\n# env-dep:{variable}={value}\n"),
            Err(_) => format!("\n# env-dep:{variable}\n"),
        };
    }
    fs::write(&file, changed).map_err(BuildError::io("write", &file))
}

/// A dependency file in which everything also depends on `path`. Cargo reads the first rule.
fn with_dependency(text: &str, path: &str) -> String {
    let mut changed = String::with_capacity(text.len() + 512);
    for line in text.lines() {
        changed += line;
        // Rules are `file: dependencies`; comments carry the environment, and a rule without dependencies says that
        // there is such a file.
        if line.contains(": ") && !line.starts_with('#') {
            changed += " ";
            changed += path;
        }
        changed += "\n";
    }
    changed + &format!("\n{path}:\n")
}

/// What a person should know whose crate does not compile for the device.
fn hint(call: &Call, machine: &str) -> Option<String> {
    let name = call.crate_name.as_deref().filter(|_| call.is_crate)?;
    if call.target.as_deref() != Some(machine) {
        return None;
    }
    (!is_users_own()).then(|| {
        format!(
            "`{name}` does not compile for the device. Programs there see Linux with musl, and the true `target_arch`: there is no assembler of another \
             processor. A crate that needs one of those cannot be used; look for a feature that turns it off, or for another crate"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Call {
        Call::read(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_call_of_cargos_is_understood() {
        let call = read(
            "--crate-name hello --edition=2024 src/main.rs --error-format=json --crate-type bin --emit=dep-info,link -C opt-level=3 \
             -C metadata=1 -C extra-filename=-12ab --out-dir /t/deps --target nvptx64-hostcall-cuda",
        );
        assert_eq!(call.target.as_deref(), Some("nvptx64-hostcall-cuda"));
        assert_eq!((call.crate_name.as_deref(), call.extra_filename.as_str()), (Some("hello"), "-12ab"));
        assert_eq!(call.out_dir, Some("/t/deps".into()));
        assert!(call.is_final && call.is_crate && !call.is_test);
    }

    #[test]
    fn only_who_depends_on_hostcall_has_kernels() {
        let knows = |externs: &str| read(&format!("--crate-name x src/lib.rs {externs} --target t")).knows_kernels;
        assert!(knows("--extern log=/t/liblog-1.rmeta --extern hostcall=/t/libhostcall-12.rmeta"));
        assert!(knows("--extern=priv:calls=/t/libhostcall-12.rlib"), "under another name");
        assert!(!knows("--extern hostcall_lookalike=/t/libhostcall_lookalike-12.rmeta --extern hostcall=/t/libother-1.rmeta"));
    }

    #[test]
    fn libraries_are_found_and_those_that_no_gpu_runs_are_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let member = |bytes: &[u8]| [format!("!<arch>\n{:<16}{:<32}{:<10}`\n", "x.o/", "", bytes.len()).as_bytes(), bytes].concat();
        fs::write(dir.path().join("libz.a"), member(b"BC\xc0\xde")).expect("written");
        fs::write(dir.path().join("libelf.a"), member(b"\x7fELF")).expect("written");
        let line =
            "--crate-name x src/lib.rs --crate-type lib --target t -l static=z -lstatic:+whole-archive=elf:renamed -l m -l dylib=gone";
        let call = read(&format!("{line} -L native={}", dir.path().display()));
        assert_eq!(call.libraries, ["z", "elf", "m", "gone"]);
        assert_eq!(call.not_for_gpus(), ["elf", "gone"]);
        assert_eq!(call.archives(), [dir.path().join("libz.a"), dir.path().join("libelf.a")]);
        let said = about_c(&call.not_for_gpus(), "x-sys 1.0.0").expect("there is one");
        assert!(said.starts_with("error: the package `x-sys 1.0.0` links `elf`, `gone`, "), "{said}");
        assert_eq!(about_c(&[], "x 1.0.0"), None);
    }

    #[test]
    fn a_program_depends_on_the_stamp_and_its_sources_do_not() {
        let text = "/t/x.d: src/main.rs src/a.rs\n\n/t/x: src/main.rs src/a.rs\n\nsrc/main.rs:\nsrc/a.rs:\n\n# env-dep:A=b: c\n";
        assert_eq!(
            with_dependency(text, "/s/runtime.key"),
            "/t/x.d: src/main.rs src/a.rs /s/runtime.key\n\n/t/x: src/main.rs src/a.rs /s/runtime.key\n\nsrc/main.rs:\nsrc/a.rs:\n\n# env-dep:A=b: c\n\n\
             /s/runtime.key:\n"
        );
    }

    #[test]
    fn libraries_checks_and_questions_are_not_linked() {
        assert!(!read("--crate-name x src/lib.rs --crate-type lib --emit=dep-info,metadata,link --target t").is_final);
        assert!(!read("--crate-name x src/main.rs --crate-type bin --emit=dep-info,metadata --target t").is_final);
        assert!(!read("- --crate-name ___ --print=file-names --crate-type bin --target t").is_crate);
        let test = read("--crate-name x src/lib.rs --emit=dep-info,link --test --target t");
        assert!(test.is_final && test.is_test);
        assert!(!read("--crate-name build_script_build build.rs --crate-type bin --emit=dep-info,link").is_final, "for the host");
    }
}

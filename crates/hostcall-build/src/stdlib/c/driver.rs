//! `hostcall-cc` and `hostcall-c++`: clang for a machine, and for whole programs the linker of programs with std.
//!
//! What stops before a link is clang's alone, with what the machine wants in front and without what another machine
//! would want (`-march=…`). A link compiles what is source and makes a bundle, which `cargo hostcall exec` runs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compiler;
use super::library::Library;
use crate::cache::Scratch;
use crate::stdlib::linker;
use crate::stdlib::machine::Machine;
use crate::stdlib::sysroot::Sysroot;
use crate::{BuildError, Image, ImageKind, ProgramBundle, Ptxas, Target, assemble_as_built};

/// Compiles C, or with `is_cxx` C++, for the machine that `--target=TARGET` names among `arguments`, or for the
/// simulator; the exit code. std is built first where that has not been done, and `progress` told so.
///
/// # Errors
///
/// Any [`BuildError`]: above all [`BuildError::Missing`] without clang or musl's sources.
pub fn compile(arguments: Vec<OsString>, is_cxx: bool, progress: impl FnMut(&str)) -> Result<u8, BuildError> {
    let named = arguments.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--target=")).next_back();
    let target = match named {
        Some(named) => Target::parse_list(named)?.into_iter().next().unwrap_or(Target::Sim),
        None => Target::Sim,
    };
    let sysroot = Sysroot::prepare(&Machine::of(&target), None, progress)?;
    let call = Call::read(arguments, &sysroot.machine);
    let output = call.links.then(|| call.place());
    let code = act(&sysroot, &call, is_cxx)?;
    match (&target, output) {
        (Target::Cubin { arch }, Some(output)) if code == 0 => assemble(&output, arch).map(|()| 0),
        _ => Ok(code),
    }
}

/// Makes machine code of the PTX in a bundle.
fn assemble(file: &Path, arch: &str) -> Result<(), BuildError> {
    let bytes = fs::read(file).map_err(BuildError::io("read", file))?;
    let unexpected =
        |error: offload_image::BundleError| BuildError::Unexpected { command: "hostcall-link".into(), problem: error.to_string() };
    let mut bundle = ProgramBundle::from_bytes(&bytes).map_err(unexpected)?;
    let ptxas = Ptxas::find()?;
    for image in &mut bundle.images {
        *image = Image::new(ImageKind::Cubin, arch.to_owned(), assemble_as_built(&ptxas, &image.bytes, arch)?);
    }
    fs::write(file, bundle.to_bytes()).map_err(BuildError::io("write", file))
}

/// [`compile`] for a sysroot's machine, whichever target is named: build scripts name cargo's.
pub(crate) fn run(sysroot: &Sysroot, arguments: Vec<OsString>, is_cxx: bool) -> Result<u8, BuildError> {
    act(sysroot, &Call::read(arguments, &sysroot.machine), is_cxx)
}

fn act(sysroot: &Sysroot, call: &Call, is_cxx: bool) -> Result<u8, BuildError> {
    if let Some(file) = call.assembly.iter().find(|_| sysroot.machine.is_gpu()) {
        eprintln!("error: {}: assembly of another processor, which a GPU does not run; look for a way to build without it", file.display());
        return Ok(1);
    }
    let clang = Clang { sysroot, library: Library::prepare(sysroot)?, is_cxx };
    if !call.links {
        return clang.run(call.flags.iter().chain(&call.whole));
    }
    link(&clang, call)
}

/// Makes a program of sources, objects and libraries.
fn link(clang: &Clang<'_>, call: &Call) -> Result<u8, BuildError> {
    let sysroot = clang.sysroot;
    if let Some(refused) = call.refused {
        eprintln!("error: `{refused}`: the devices have no libraries that are loaded later, and programs are one image; leave it out");
        return Ok(1);
    }
    let output = call.place();
    let scratch = Scratch::new(&std::env::temp_dir())?;
    let mut arguments: Vec<String> = Vec::new();
    for (index, input) in call.inputs.iter().enumerate() {
        match input {
            Input::Source(flags, file) => {
                let object = scratch.0.join(format!("{index}.o"));
                let rest = [OsStr::new("-c"), file.as_os_str(), OsStr::new("-o"), object.as_os_str()].map(OsStr::to_owned);
                let code = clang.run(call.flags.iter().chain(flags).chain(&rest))?;
                if code != 0 {
                    return Ok(code);
                }
                arguments.push(object.display().to_string());
            }
            Input::Made(file) => arguments.push(file.display().to_string()),
            Input::Library(name) => match call.find(name) {
                Some(file) => arguments.push(file.display().to_string()),
                None if linker::C_LIBRARIES.contains(&name.as_str()) || CXX_LIBRARIES.contains(&name.as_str()) => {}
                None => {
                    eprintln!(
                        "error: no library lib{name}.a in the directories that `-L` names: compile it with hostcall-cc, for this machine"
                    );
                    return Ok(1);
                }
            },
        }
    }
    arguments.extend(["-o".into(), output.display().to_string()]);
    linker::link_c(sysroot, arguments, &clang.library)
}

/// What C++ asks for, which nobody has; what is called of it is told at the link.
const CXX_LIBRARIES: [&str; 2] = ["stdc++", "c++"];

/// clang for a machine.
struct Clang<'a> {
    sysroot: &'a Sysroot,
    library: Library,
    is_cxx: bool,
}

impl Clang<'_> {
    /// Runs it; its exit code. What it says of things that no GPU has gets a line more.
    fn run<'b>(&self, arguments: impl Iterator<Item = &'b OsString>) -> Result<u8, BuildError> {
        let machine = &self.sysroot.machine;
        let path = compiler::clang(&self.sysroot.toolchain)?;
        let mut command = Command::new(&path);
        if self.is_cxx {
            command.arg("--driver-mode=g++");
        }
        command.args(compiler::flags(machine)?).args(["-nostdlibinc", "-isystem"]).arg(self.library.include());
        if compiler::has_prelude(machine) {
            command.arg("-include").arg(self.library.prelude());
        }
        command.arg("-Wno-unused-command-line-argument").args(arguments);
        if !machine.is_gpu() {
            let status = command.status().map_err(|source| BuildError::Spawn { command: path.display().to_string(), source })?;
            return Ok(code(status));
        }
        let spawned = command.stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|source| BuildError::Spawn { command: path.display().to_string(), source })?;
        let mut reasons: Vec<&str> = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                reasons.extend(REASONS.iter().filter(|(said, _)| line.contains(said)).map(|(_, reason)| reason));
                eprintln!("{line}");
            }
        }
        let status = child.wait().map_err(|source| BuildError::Spawn { command: path.display().to_string(), source })?;
        reasons.sort_unstable();
        reasons.dedup();
        for reason in reasons {
            eprintln!("note: {reason}");
        }
        Ok(code(status))
    }
}

fn code(status: std::process::ExitStatus) -> u8 {
    if status.success() { 0 } else { status.code().map_or(1, |code| (code as u8).max(1)) }
}

/// What clang says where a GPU lacks something, and why it does.
const REASONS: [(&str, &str); 3] = [
    ("inline assembly is disabled", "a GPU runs no assembly of another processor: look for a macro that turns it off"),
    ("variable length arrays are not supported", "a GPU's compiler must know how large a function's variables are: use malloc"),
    ("thread-local storage is not supported", "a GPU has no variables of a thread's own: use pthread_getspecific"),
];

/// What clang is asked for, taken apart.
#[derive(Debug, Default)]
struct Call {
    /// For every file.
    flags: Vec<OsString>,
    /// What is compiled, and what names the output and dependencies, for a call that does not link.
    whole: Vec<OsString>,
    inputs: Vec<Input>,
    assembly: Vec<PathBuf>,
    directories: Vec<PathBuf>,
    output: Option<PathBuf>,
    links: bool,
    refused: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq)]
enum Input {
    /// With the language that it is said to be in.
    Source(Vec<OsString>, PathBuf),
    Made(PathBuf),
    Library(String),
}

/// Stops before a link.
const STOPS: [&str; 10] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "-dumpversion", "-dumpmachine"];
/// Options whose value is the next word.
const VALUED: [&str; 20] = [
    "-I",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-iprefix",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-mllvm",
    "-arch",
    "--param",
    "-x",
];
/// Options of the link whose value is the next word.
const LINKS_VALUED: [&str; 6] = ["-Xlinker", "-T", "-u", "-z", "-e", "-framework"];
/// Options that say what this driver says itself.
const OURS: [&str; 7] = ["--target=", "--sysroot=", "-fuse-ld", "-static", "-nostdinc++", "-stdlib=", "-rdynamic"];
/// Options for other processors than a GPU's.
const NOT_FOR_GPUS: [&str; 14] = [
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-pie",
    "-no-pie",
    "-m",
    "-fstack-",
    "-fcf-protection",
    "-pthread",
    "-flto",
    "-g",
    "-fplt",
    "-fno-plt",
];

impl Call {
    fn read(arguments: Vec<OsString>, machine: &Machine) -> Call {
        let mut call = Call { links: true, ..Call::default() };
        let mut language: Vec<OsString> = Vec::new();
        let mut words = arguments.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let text = text.as_str();
            if STOPS.contains(&text) || text.starts_with("-print-") || text.starts_with("--print-") {
                call.links = false;
                call.whole.push(word);
            } else if text == "-o" {
                let to = words.next().unwrap_or_default();
                call.whole.extend([word, to.clone()]);
                call.output = Some(to.into());
            } else if text == "-target" || LINKS_VALUED.contains(&text) {
                words.next();
            } else if text == "-shared" || text == "-dynamiclib" {
                call.refused = Some("-shared");
            } else if let Some(dir) = text.strip_prefix("-L") {
                let dir = if dir.is_empty() { words.next().unwrap_or_default().into() } else { PathBuf::from(dir) };
                call.directories.push(dir);
            } else if let Some(name) = text.strip_prefix("-l") {
                let name = if name.is_empty() { words.next().unwrap_or_default().to_string_lossy().into_owned() } else { name.to_owned() };
                call.inputs.push(Input::Library(name));
            } else if text.starts_with("-Wl,") || OURS.iter().any(|ours| text.starts_with(ours)) {
                // The link is this driver's own.
            } else if machine.is_gpu() && NOT_FOR_GPUS.iter().any(|start| text.starts_with(start)) && text != "-mllvm" {
                // Nothing of the kind is there.
            } else if machine.is_gpu() && text == "-O0" {
                // It would forbid what the link does.
            } else if VALUED.contains(&text) {
                let value = words.next();
                if text == "-x" {
                    language = [word.clone()].into_iter().chain(value.clone()).collect();
                    call.whole.extend(language.iter().cloned());
                } else {
                    call.flags.extend([word].into_iter().chain(value));
                }
            } else if text.starts_with('-') && text != "-" {
                call.flags.push(word);
            } else {
                call.take(PathBuf::from(&word), &language);
                call.whole.push(word);
            }
        }
        // Only to say what it is or to ask what it has, no file is needed.
        call.links &= !call.inputs.is_empty();
        call
    }

    /// Where a program goes.
    fn place(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| "a.out".into())
    }

    fn take(&mut self, file: PathBuf, language: &[OsString]) {
        let kind = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        match kind {
            "o" | "a" | "bc" | "obj" | "rlib" if language.is_empty() => self.inputs.push(Input::Made(file)),
            _ => {
                if matches!(kind, "s" | "S" | "asm") || language.iter().any(|word| word.to_string_lossy().starts_with("assembler")) {
                    self.assembly.push(file.clone());
                }
                self.inputs.push(Input::Source(language.to_vec(), file));
            }
        }
    }

    /// The file of a library.
    fn find(&self, name: &str) -> Option<PathBuf> {
        self.directories.iter().map(|dir| dir.join(format!("lib{name}.a"))).find(|file| file.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, machine: &Machine) -> Call {
        Call::read(line.split_whitespace().map(OsString::from).collect(), machine)
    }

    fn words(all: &[OsString]) -> Vec<&str> {
        all.iter().filter_map(|word| word.to_str()).collect()
    }

    #[test]
    fn a_build_scripts_call_keeps_its_flags_and_loses_those_of_other_machines() {
        let line =
            "-O3 -ffunction-sections -fPIC -g -m64 --target=x86_64-hostcall-linux-musl -I include -DX=1 -march=native -o out/a.o -c a.c";
        let call = read(line, &Machine::Nvptx);
        assert!(!call.links);
        assert_eq!(words(&call.flags), ["-O3", "-ffunction-sections", "-I", "include", "-DX=1"]);
        assert_eq!(words(&call.whole), ["-o", "out/a.o", "-c", "a.c"]);
        let call = read(line, &Machine::Sim);
        assert_eq!(words(&call.flags), ["-O3", "-ffunction-sections", "-fPIC", "-g", "-m64", "-I", "include", "-DX=1", "-march=native"]);
    }

    #[test]
    fn a_link_knows_sources_objects_and_libraries() {
        let call = read("main.c -O2 other.o -L/lib -lz -lm -o main.program -Wl,-s", &Machine::Sim);
        assert!(call.links && call.refused.is_none());
        assert_eq!(call.output, Some("main.program".into()));
        assert_eq!(
            call.inputs,
            [
                Input::Source(Vec::new(), "main.c".into()),
                Input::Made("other.o".into()),
                Input::Library("z".into()),
                Input::Library("m".into()),
            ]
        );
        assert_eq!(read("-shared a.o", &Machine::Sim).refused, Some("-shared"));
        assert!(!read("--version", &Machine::Sim).links);
    }

    #[test]
    fn assembly_is_told_by_its_name_or_its_language() {
        assert_eq!(read("-c a.S", &Machine::Nvptx).assembly, [PathBuf::from("a.S")]);
        assert_eq!(read("-x assembler-with-cpp -c a", &Machine::Nvptx).assembly, [PathBuf::from("a")]);
        assert!(read("-c a.c", &Machine::Nvptx).assembly.is_empty());
    }
}

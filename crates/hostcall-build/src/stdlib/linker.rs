//! The linker that rustc calls: from a program's crates, std and the runtime to a bundle with one image.
//!
//! For GPUs everything is bitcode, and goes the way that kernels go ([`crate::bitcode`]): one module, internal but for
//! kernels and the words that the host looks up, marked convergent, optimised, and only then code. For the simulator
//! everything is machine code, and becomes a shared library. What is missing is told with the function that calls it.
//! Equal inputs give equal bundles, and each carries its image's SHA-256.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use offload_image::{Image, ImageKind, ProgramBundle};

use super::c::computed;
use super::c::library::Library;
use super::machine::Machine;
use super::shorten::shorten;
use super::sysroot::Sysroot;
use super::variadic;
use super::{foreign, math};
use crate::bitcode::Style;
use crate::cache::{Scratch, cached};
use crate::command::Run;
use crate::gpu::Gpu;
use crate::probe::{self, Probe};
use crate::progress::Progress;
use crate::symbols::{C_PREFIX, EXPORTED, QUADS, VARIADIC};
use crate::{BuildError, NVPTX_ARCH, amdgpu, bitcode, constructors, module, nvptx, parts, sim, symbols};

pub(crate) fn run(sysroot: &Sysroot, arguments: Vec<OsString>) -> Result<u8, BuildError> {
    let mut arguments = expand(arguments)?;
    arguments.extend(std::env::var(ARCHIVES_VARIABLE).unwrap_or_default().lines().map(str::to_owned));
    if carries_c(sysroot, &arguments)? {
        return link(sysroot, &arguments, Some(&Library::prepare(sysroot)?));
    }
    match link(sysroot, &arguments, None) {
        // Somebody calls a function of C's without bringing any C along.
        Err(unresolved @ BuildError::Unresolved { .. }) => match Library::prepare(sysroot) {
            Ok(library) => link(sysroot, &arguments, Some(&library)),
            Err(_) => Err(unresolved),
        },
        other => other,
    }
}

/// Links a program in C: objects and archives, and `-o`.
pub(crate) fn link_c(sysroot: &Sysroot, mut arguments: Vec<String>, library: &Library) -> Result<u8, BuildError> {
    arguments.extend(sysroot.core()?);
    link(sysroot, &arguments, Some(library))
}

/// Whether there is something among what is linked that rustc has not compiled.
fn carries_c(sysroot: &Sysroot, arguments: &[String]) -> Result<bool, BuildError> {
    let is_library =
        |argument: &&String| argument.ends_with(".a") || argument.strip_prefix("-l").is_some_and(|name| !C_LIBRARIES.contains(&name));
    if arguments.iter().any(|argument| is_library(&argument)) {
        return Ok(true);
    }
    for archive in arguments.iter().filter(|argument| argument.ends_with(".rlib")).map(Path::new) {
        if !archive.starts_with(&sysroot.dir) && !foreign::members(archive).map_err(BuildError::io("read", archive))?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Links a program, with C's library if it is there.
fn link(sysroot: &Sysroot, arguments: &[String], library: Option<&Library>) -> Result<u8, BuildError> {
    let output = after(arguments, "-o")
        .ok_or_else(|| BuildError::Unexpected { command: "hostcall-link".into(), problem: "rustc names no output (`-o`)".into() })?;
    let output = PathBuf::from(output);
    let scratch = Scratch::new(output.parent().unwrap_or(Path::new(".")))?;
    let name = program_name(&output.file_stem().unwrap_or_default().to_string_lossy()).to_owned();
    let state = sysroot.runtime_state()?;
    let wanted = probe::asked_for()?;
    let is_instrumented = wanted.is_some();
    let runtime = match library {
        Some(_) => sysroot.runtime_beside_c(&state, is_instrumented),
        None => sysroot.runtime(&state, is_instrumented),
    };
    let probe = wanted.map(|wanted| Probe::new(&wanted, &sysroot.toolchain)).transpose()?;
    let (probe, library) = (probe.as_ref(), library.map(Library::file));
    let library = library.as_deref();
    let _progress = Progress::of(format!("{name} for {}", sysroot.machine));
    let image = match &sysroot.machine {
        Machine::Sim => match probe {
            Some(probe) => {
                let arguments = instrumented(sysroot, probe, arguments, &scratch.0)?;
                shared_library(sysroot, &runtime, &name, &arguments, library, &scratch.0)?
            }
            None => shared_library(sysroot, &runtime, &name, arguments, library, &scratch.0)?,
        },
        Machine::Nvptx | Machine::Amdgpu { .. } => gpu_image(sysroot, &runtime, probe, &name, arguments, library, &scratch.0)?,
    };
    let kind = if std::env::var_os(HARNESS_VARIABLE).is_some() { HARNESS_NOTE } else { PROGRAM_NOTE };
    let mut bundle = ProgramBundle::new(name, vec![image]);
    bundle.note = Some(format!("{kind}{STATE_NOTE}{state}").into());
    let made = scratch.0.join("bundle");
    fs::write(&made, bundle.to_bytes()).map_err(BuildError::io("write", &made))?;
    // rustc's own linkers leave executables, and cargo starts programs through our runner: the permission is a courtesy
    // to tools that look for it.
    fs::rename(&made, &output).map_err(BuildError::io("write", &output))?;
    Ok(0)
}

/// Archives of C's objects, a line each, that rustc does not hand on for a GPU.
pub(crate) const ARCHIVES_VARIABLE: &str = "HOSTCALL_LINKS_ARCHIVES";

/// Set by the compiler for the linker that it calls.
pub(crate) const HARNESS_VARIABLE: &str = "HOSTCALL_LINKS_TESTS";
const HARNESS_NOTE: &str = "a test harness, for one device";
const PROGRAM_NOTE: &str = "a program, built for one device";
/// Before the state of the runtime.
const STATE_NOTE: &str = "; runtime ";

/// Whether a program is Rust's test harness.
pub fn is_test_harness(bundle: &ProgramBundle) -> bool {
    bundle.note.as_deref().is_some_and(|note| note.starts_with(HARNESS_NOTE))
}

/// The state of the runtime that a program was linked with, if it was linked by us.
pub fn linked_runtime(bundle: &ProgramBundle) -> Option<&str> {
    bundle.note.as_deref()?.split_once(STATE_NOTE).map(|(_, state)| state)
}

/// Without the hash that cargo adds.
fn program_name(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => stem,
    }
}

/// Long command lines come in files: `@FILE`, an argument on each line, with backslashes before blanks and backslashes.
fn expand(arguments: Vec<OsString>) -> Result<Vec<String>, BuildError> {
    let mut all = Vec::new();
    for argument in arguments {
        let argument = argument.to_string_lossy().into_owned();
        let Some(file) = argument.strip_prefix('@') else {
            all.push(argument);
            continue;
        };
        let text = fs::read_to_string(file).map_err(BuildError::io("read", file))?;
        all.extend(text.lines().map(unquoted));
    }
    Ok(all)
}

fn unquoted(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut escaped = false;
    for c in line.trim_matches('"').chars() {
        if c == '\\' && !escaped {
            escaped = true;
        } else {
            text.push(c);
            escaped = false;
        }
    }
    text
}

fn after<'a>(arguments: &'a [String], key: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == key)?;
    arguments.get(at + 1).map(String::as_str)
}

/// PTX or a code object.
fn gpu_image(
    sysroot: &Sysroot,
    runtime: &Path,
    probe: Option<&Probe>,
    name: &str,
    arguments: &[String],
    library: Option<&Path>,
    dir: &Path,
) -> Result<Image, BuildError> {
    let toolchain = &sysroot.toolchain;
    let files = |suffix: &str| arguments.iter().filter(|argument| argument.ends_with(suffix)).map(PathBuf::from).collect::<Vec<_>>();
    let (objects, archives) = ([files(".o"), files(".bc")].concat(), [files(".rlib"), files(".a")].concat());
    // The program's own crates are linked whole, because nothing but the host refers to a kernel; of everything else,
    // what is needed.
    let [program, linked, functions, reached] = ["program.bc", "linked.bc", "functions.ll", "reached.bc"].map(|name| dir.join(name));
    let link = |to: &Path| toolchain.llvm("llvm-link").arg("--ignore-non-bitcode").arg("-o").arg(to);
    let own = dir.join("own.bc");
    link(&own).args(&objects).output()?;
    link(&program).arg(runtime).arg(&own).output()?;
    let (ours, others): (Vec<&PathBuf>, _) = archives.iter().partition(|archive| archive.starts_with(&sysroot.dir));
    let libraries = joined(sysroot, &ours, dir)?;
    let libraries: Vec<&Path> = others.into_iter().map(PathBuf::as_path).chain(library).chain([libraries.as_path()]).collect();
    let join = |times: usize| {
        link(&linked).arg("--only-needed").arg(&program).args(libraries.iter().cycle().take(libraries.len() * times)).output()?;
        symbols::of_module(toolchain, &linked)
    };
    let mut names = join(1)?;
    // Crates may refer to each other in both directions (panics, allocation): what one needs is in one before it then.
    if names.missing().any(|name| !VARIADIC.contains(&name)) {
        names = join(2)?;
    }
    let visible: Vec<&str> = names.exported(&EXPORTED).collect();
    let exports = dir.join("exports");
    let keep = |names: &[&str]| fs::write(&exports, names.join("\n")).map_err(BuildError::io("write", &exports));
    let public = format!("-internalize-public-api-file={}", exports.display());

    // What nobody reaches goes first, and what debuggers want to know, which no image here carries: all that follows is
    // text, and there is a fiftieth of it. (The pass that instruments wants to know it, too.)
    let with_slots = VARIADIC.map(|name| format!("{C_PREFIX}{name}"));
    keep(&visible.iter().copied().chain(with_slots.iter().map(String::as_str)).collect::<Vec<_>>())?;
    let opt = toolchain.llvm("opt").args(probe.is_none().then_some("-strip-debug")).arg("-passes=internalize,globaldce");
    let text = opt.arg(&public).arg(&linked).args(["-S", "-o", "-"]).text()?;
    let text = variadic::lower(&constructors::lower(&text), library.is_some());
    let text = if library.is_some() { with_own_variadics(sysroot, &computed::lower(&text), dir)? } else { text };
    let with_functions = math::replace(&text);
    if sysroot.machine == Machine::Nvptx
        && in_parts(arguments, probe)
        && with_functions == text
        && let Some(ptx) = ptx_in_parts(sysroot, name, &text, &own, &ours)?
    {
        return Ok(Image::new(ImageKind::Ptx, NVPTX_ARCH, ptx));
    }
    fs::write(&functions, &with_functions).map_err(BuildError::io("write", &functions))?;
    let whole = if with_functions == text {
        &functions
    } else {
        // Nothing else may come again: what is there is internal by now.
        let builtins = archives.iter().filter(|archive| archive.to_string_lossy().contains("compiler_builtins"));
        link(&linked).arg("--only-needed").arg(&functions).args(builtins).output()?;
        &linked
    };
    keep(&visible)?;
    let opt = toolchain.llvm("opt").arg("-passes=internalize,globaldce");
    opt.arg(&public).arg(whole).arg("-o").arg(&reached).output()?;
    let names = symbols::of_module(toolchain, &reached)?;
    let missing: Vec<&str> = names.missing().collect();
    if !missing.is_empty() {
        let text = toolchain.llvm("llvm-dis").arg(&reached).args(["-o", "-"]).text()?;
        let missing = missing.into_iter().map(|symbol| Missing { symbol: symbol.into(), caller: module::caller_of(&text, symbol) });
        return Err(unresolved(name, missing));
    }
    match &sysroot.machine {
        Machine::Amdgpu { arch } => {
            let code = amdgpu::code_object(name, &Gpu::amd(toolchain, arch), Style::Program, probe, &reached, dir)?;
            Ok(Image::new(ImageKind::AmdCodeObject, arch.clone(), code))
        }
        _ => {
            if in_parts(arguments, probe) && with_functions != text {
                let text = toolchain.llvm("llvm-dis").arg(&reached).args(["-o", "-"]).text()?;
                if let Some(ptx) = ptx_in_parts(sysroot, name, &text, &own, &ours)? {
                    return Ok(Image::new(ImageKind::Ptx, NVPTX_ARCH, ptx));
                }
            }
            let ptx = nvptx::ptx(name, &Gpu::nvidia(toolchain, NVPTX_ARCH), Style::Program, probe, &reached, dir)?;
            Ok(Image::new(ImageKind::Ptx, NVPTX_ARCH, shorten(&ptx)))
        }
    }
}

/// C's own variadic functions, and calls of them, lowered as clang's `va_arg` for the machine wants it.
fn with_own_variadics(sysroot: &Sysroot, text: &str, dir: &Path) -> Result<String, BuildError> {
    let [before, after] = ["variadic.ll", "lowered.ll"].map(|name| dir.join(name));
    fs::write(&before, text).map_err(BuildError::io("write", &before))?;
    let opt = sysroot.toolchain.llvm("opt").args(["-passes=expand-variadics", "-expand-variadics-override=lowering", "-S"]);
    opt.arg(&before).arg("-o").arg(&after).output()?;
    fs::read_to_string(&after).map_err(BuildError::io("read", &after))
}

/// PTX of a program (a module as text, in which something may be that nobody reaches), compiled in parts. `None` if it
/// cannot be, or if something is missing, which then is told on the way that all others go.
fn ptx_in_parts(sysroot: &Sysroot, name: &str, module: &str, own: &Path, libraries: &[&PathBuf]) -> Result<Option<Vec<u8>>, BuildError> {
    let toolchain = &sysroot.toolchain;
    let Some(module) = parts::reached(module) else { return Ok(None) };
    let own = symbols::of_module(toolchain, own)?;
    let own: HashSet<&str> = own.defined.iter().map(String::as_str).collect();
    let libraries = libraries.iter().filter_map(|library| library_name(library)).collect();
    parts::ptx(name, &Gpu::nvidia(toolchain, NVPTX_ARCH), &module, &own, &libraries)
}

/// Whether a program is compiled in parts, which takes less time at each link and gives slower code: one that is not to
/// be optimised. `HOSTCALL_PARTS` says it for all (`1`, `0`).
fn in_parts(arguments: &[String], probe: Option<&Probe>) -> bool {
    match std::env::var(PARTS_VARIABLE).as_deref() {
        _ if probe.is_some() => false,
        Ok("1") => true,
        Ok("0") => false,
        _ => arguments.iter().any(|argument| argument == "-O0"),
    }
}

/// Asks for parts, or against them.
pub(crate) const PARTS_VARIABLE: &str = "HOSTCALL_PARTS";

/// `alloc` of `liballoc-81e81f99d19580a9.rlib`.
fn library_name(file: &Path) -> Option<&str> {
    file.file_stem()?.to_str()?.strip_prefix("lib")?.rsplit_once('-').map(|(name, _)| name)
}

/// std's libraries as one module, made once: of one file a link reads what it needs, of hundreds all.
fn joined(sysroot: &Sysroot, libraries: &[&PathBuf], dir: &Path) -> Result<PathBuf, BuildError> {
    let names: Vec<u8> = libraries.iter().flat_map(|library| [library.as_os_str().as_encoded_bytes(), b"\n"].concat()).collect();
    let identity = sysroot.toolchain.identity();
    let module = cached(&sysroot.dir, &[&names, identity.as_bytes()], |dir| {
        let module = dir.join("libraries.bc");
        sysroot.toolchain.llvm("llvm-link").arg("--ignore-non-bitcode").arg("-o").arg(&module).args(libraries).output()?;
        fs::read(&module).map_err(BuildError::io("read", &module))
    })?;
    let file = dir.join("libraries.bc");
    fs::write(&file, module).map_err(BuildError::io("write", &file))?;
    Ok(file)
}

/// The arguments of a link for the simulator with one object file, which is instrumented, instead of all that are
/// bitcode. Crates stay behind it, for what is machine code in them.
fn instrumented(sysroot: &Sysroot, probe: &Probe, arguments: &[String], dir: &Path) -> Result<Vec<String>, BuildError> {
    let is_object = |argument: &&String| argument.ends_with(".o") && is_bitcode(Path::new(argument));
    let is_crate = |argument: &&String| argument.ends_with(".rlib") && !Path::new(argument).starts_with(&sysroot.dir);
    let [own, linked] = ["own.bc", "linked.bc"].map(|name| dir.join(name));
    let link = |to: &Path| sysroot.toolchain.llvm("llvm-link").arg("--ignore-non-bitcode").arg("-o").arg(to);
    link(&own).args(arguments.iter().filter(is_object)).output()?;
    // As for GPUs: what one needs is in one before it the second time.
    let crates: Vec<&String> = arguments.iter().filter(is_crate).collect();
    link(&linked).arg("--only-needed").arg(&own).args(crates.iter().chain(&crates)).output()?;
    let object = bitcode::for_processor(&sysroot.toolchain, probe, &linked, dir)?;
    let first = arguments.iter().position(|argument| is_object(&argument)).unwrap_or(0);
    let mut changed = Vec::with_capacity(arguments.len());
    for (at, argument) in arguments.iter().enumerate() {
        if at == first {
            changed.push(object.display().to_string());
        }
        if !is_object(&argument) {
            changed.push(argument.clone());
        }
    }
    Ok(changed)
}

/// Whether a file begins as LLVM's bitcode does. (rustc's list of symbols is machine code.)
fn is_bitcode(file: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(file).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
    read.is_ok() && magic == *b"BC\xc0\xde"
}

/// What `libc` and others link with on Linux.
pub(crate) const C_LIBRARIES: [&str; 9] = ["c", "m", "rt", "pthread", "util", "dl", "gcc", "gcc_s", "unwind"];

/// The simulator's image.
fn shared_library(
    sysroot: &Sysroot,
    runtime: &Path,
    name: &str,
    arguments: &[String],
    c_library: Option<&Path>,
    dir: &Path,
) -> Result<Image, BuildError> {
    let [library, script] = ["image.so", "exports"].map(|name| dir.join(name));
    let exported: String = EXPORTED.iter().map(|prefix| format!("{prefix}*; ")).collect();
    fs::write(&script, format!("{{ global: {exported}local: *; }};\n")).map_err(BuildError::io("write", &script))?;
    let link = |more: &[&str]| -> Result<Run, BuildError> {
        let mut run = sysroot.toolchain.ld()?;
        let mut skip = false;
        for argument in arguments {
            if std::mem::take(&mut skip) {
                continue;
            }
            match argument.as_str() {
                "-o" | "-flavor" => skip = true,
                // What an executable is told; this becomes a library.
                "-pie" | "-no-pie" | "-static" | "-static-pie" | "-Bdynamic" | "--no-dynamic-linker" => {}
                // The runtime is C's library.
                _ if C_LIBRARIES.contains(&argument.trim_start_matches("-l")) && argument.starts_with("-l") => {}
                _ => run = run.arg(argument),
            }
        }
        // Names that the runtime and the program both have are one thing, the runtime's.
        let run = run.args(["-shared", "-Bsymbolic", "--gc-sections", "--allow-multiple-definition", "--build-id=none", "--strip-debug"]);
        // LLVM takes a `f128` for C's `long double` here, and calls its functions by those names; std's
        // compiler_builtins has them under their own.
        let run = QUADS.iter().fold(run, |run, name| run.arg(format!("--defsym={name}l={name}f128")));
        Ok(run.arg("--version-script").arg(&script).arg(runtime).args(c_library).args(more).arg("-o").arg(&library))
    };
    link(&[])?.output()?;
    let mut bytes = fs::read(&library).map_err(BuildError::io("read", &library))?;
    let missing = sim::undefined_symbols(name, &bytes)?;
    if !missing.is_empty() {
        // The linker knows who calls, and says so if it may not leave anything open.
        let said = match link(&["--no-undefined", "--no-demangle"])?.output() {
            Err(BuildError::Failed { tail, .. }) => tail,
            _ => String::new(),
        };
        let missing = missing.into_iter().map(|symbol| Missing { caller: caller_in(&said, &symbol), symbol });
        return Err(unresolved(name, missing));
    }
    constructors::hide(&mut bytes)
        .ok_or_else(|| BuildError::Unexpected { command: "ld.lld".into(), problem: "it wrote no shared library".into() })?;
    let triple = crate::HostToolchain::find()?.triple;
    Ok(Image::new(ImageKind::Sim, triple, bytes))
}

/// From what `ld.lld` says: `error: undefined symbol: NAME`, and in the lines `>>> …` that follow, once,
/// `FILE.o:(FUNCTION)`, perhaps after `.text.`.
fn caller_in(said: &str, symbol: &str) -> Option<String> {
    let heading = format!("undefined symbol: {symbol}");
    let about = said.lines().skip_while(|line| !line.ends_with(&heading)).skip(1).take_while(|line| line.starts_with(">>>"));
    let place = about.filter_map(|line| line.split(":(").nth(1)).next()?;
    let function = place.split(')').next().unwrap_or(place);
    let function = function.split('+').next().unwrap_or(function);
    Some(function.strip_prefix(".text.").unwrap_or(function).to_owned())
}

struct Missing {
    symbol: String,
    caller: Option<String>,
}

fn unresolved(program: &str, missing: impl Iterator<Item = Missing>) -> BuildError {
    let readable = |name: &str| format!("{:#}", rustc_demangle::demangle(name));
    let symbols = missing.map(|Missing { symbol, caller }| match caller {
        Some(caller) => format!("`{}` (called by `{}`{})", readable(&symbol), readable(&caller), reason(&symbol)),
        None => format!("`{}`{}", readable(&symbol), reason(&symbol)),
    });
    BuildError::Unresolved { program: program.to_owned(), symbols: symbols.collect() }
}

/// Why there is no such function, where there is a reason.
fn reason(symbol: &str) -> &'static str {
    match symbol {
        "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp" | "longjmp" | "_longjmp" | "siglongjmp" => {
            "; a GPU's calls return in their order, and no jump leaves them: return an error instead"
        }
        "__cxa_throw" | "__cxa_begin_catch" | "_Unwind_Resume" | "__gxx_personality_v0" => {
            "; no stack is unwound on a device: return an error instead"
        }
        "vfork" | "execl" | "execle" | "execlp" | "execvpe" | "wait3" | "wait4" => "; there are no other processes on a device",
        "sigsuspend" | "sigwait" | "sigwaitinfo" | "sigtimedwait" | "setitimer" | "timer_create" | "pthread_kill" | "pthread_cancel" => {
            "; no signal comes on a device"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_in_a_file_are_taken_apart_by_lines() {
        assert_eq!(unquoted(r"/a\ b/c.o"), "/a b/c.o");
        assert_eq!(unquoted(r#""-L" "#.trim()), "-L");
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("args");
        fs::write(&file, "-o\nx\\ y\n").expect("written");
        let all = expand(vec!["a.o".into(), format!("@{}", file.display()).into()]).expect("read");
        assert_eq!(all, ["a.o", "-o", "x y"]);
        assert_eq!(after(&all, "-o"), Some("x y"));
    }

    #[test]
    fn a_programs_name_has_no_hash() {
        assert_eq!(program_name("word-count-3240eec080c4de61"), "word-count");
        assert_eq!(program_name("word-count"), "word-count");
    }

    #[test]
    fn the_linkers_words_name_the_caller() {
        let said = "ld.lld: error: undefined symbol: getpid\n>>> referenced by x.4f.rcgu.o:(.text._ZN1x4main17h0123456789abcdefE)\n";
        assert_eq!(caller_in(said, "getpid").as_deref(), Some("_ZN1x4main17h0123456789abcdefE"));
        let BuildError::Unresolved { program, symbols } =
            unresolved("x", [Missing { symbol: "getpid".into(), caller: caller_in(said, "getpid") }].into_iter())
        else {
            panic!("another error")
        };
        assert_eq!((program.as_str(), symbols[0].as_str()), ("x", "`getpid` (called by `x::main`)"));
        assert_eq!(caller_in(said, "other"), None);
        let with_lines =
            "ld.lld: error: undefined symbol: f\n>>> referenced by main.rs:3\n>>>               /t/x.rcgu.o:(_RNvCs1_1x8calls_it)\n";
        assert_eq!(caller_in(with_lines, "f").as_deref(), Some("_RNvCs1_1x8calls_it"));
    }
}

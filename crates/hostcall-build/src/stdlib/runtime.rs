//! The runtime: `hostcall-std`, compiled once for a machine, with nothing visible but what std and the host look for.
//!
//! It brings a `core` and an `alloc` of its own, which must not meet the program's: so all but its interface becomes
//! internal here, and programs are linked with what is left, one file.

use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;

use super::machine::Machine;
use super::registry;
use super::sysroot::Sysroot;
use crate::cache::{Scratch, cache_directory};
use crate::context::{Context, ProgramSpec};
use crate::gpu::Gpu;
use crate::source::{Source, beside};
use crate::symbols::{C_PREFIX, OF_C, VISIBLE, linked_name};
use crate::{BuildError, HostToolchain, Instrument, bitcode, cargo, flags, instrument, panics, recipe, symbols};

/// The state of the runtime that this program links with and answers: a hash of its sources and of the steps here, the
/// linker's included. `None` where there are no sources, as where only images and programs were brought: there nothing
/// can be linked either.
pub fn runtime_state() -> Option<String> {
    state(&source_directory().ok()?).ok()
}

fn state(crate_dir: &Path) -> Result<String, BuildError> {
    let parts = [sources_hash(crate_dir)?, Sha256::of(recipe::images()), Sha256::of(recipe::links().as_bytes())];
    Ok(Sha256::of(parts.map(|part| part.0).as_flattened()).to_string()[..16].to_owned())
}

/// Builds the runtime in the state that this program wants if it is not there. Then this program's stamp is written,
/// last of all: what it links depends on it, and so is linked again. Runtimes in other states are other files, which
/// other programs link with.
pub(crate) fn refresh(sysroot: &Sysroot, cache: &Path, progress: &mut impl FnMut(&str)) -> Result<(), BuildError> {
    let crate_dir = source_directory()?;
    let state = state(&crate_dir)?;
    build(sysroot, cache, &state, None, progress)?;
    let stamp = sysroot.stamp();
    if fs::read_to_string(&stamp).is_ok_and(|found| found == state) {
        return Ok(());
    }
    // Links may be reading it.
    let fresh = stamp.with_extension(std::process::id().to_string());
    fs::write(&fresh, state).map_err(BuildError::io("write", &fresh))?;
    fs::rename(&fresh, &stamp).map_err(BuildError::io("write", &stamp))
}

/// Builds the runtime in that state, if it is not there: the one that instrumented programs are linked with, if
/// something is wanted of them.
pub(crate) fn build(
    sysroot: &Sysroot,
    cache: &Path,
    state: &str,
    wanted: Option<&Instrument>,
    progress: &mut impl FnMut(&str),
) -> Result<(), BuildError> {
    let crate_dir = source_directory()?;
    let file = sysroot.runtime(state, wanted.is_some());
    if !file.is_file() {
        progress(&format!("building the runtime for {}", sysroot.machine));
        let host = HostToolchain::find()?;
        let source = Source::of_package(&host, &crate_dir, Some(&target_dir(cache, &crate_dir)))?;
        let spec = ProgramSpec { instrument: wanted.cloned(), ..ProgramSpec::new(&crate_dir) };
        let context = Context::new(&spec, &host, source);
        let scratch = Scratch::new(cache)?;
        let made = match &sysroot.machine {
            Machine::Sim => object(sysroot, &context, &scratch.0)?,
            Machine::Nvptx => module(&context, &Gpu::nvidia(&sysroot.toolchain, crate::NVPTX_ARCH), &scratch.0)?,
            Machine::Amdgpu { arch } => module(&context, &Gpu::amd(&sysroot.toolchain, arch), &scratch.0)?,
        };
        let place = file.parent().unwrap_or(&sysroot.dir);
        fs::create_dir_all(place).map_err(BuildError::io("create", place))?;
        let beside_c = sysroot.runtime_beside_c(state, wanted.is_some());
        fs::rename(&made.beside_c, &beside_c).map_err(BuildError::io("write", &beside_c))?;
        fs::rename(&made.runtime, &file).map_err(BuildError::io("write", &file))?;
    }
    Ok(())
}

/// Where the runtime with those sources is compiled. Cargo knows the crates of a workspace by where they lie in it: in
/// one directory, it takes what it made of one checkout's for another's.
fn target_dir(cache: &Path, crate_dir: &Path) -> PathBuf {
    let hash = Sha256::of(crate_dir.as_os_str().as_encoded_bytes()).to_string();
    cache.join(format!("runtime-{}", &hash[..16]))
}

/// The runtime as it was made.
struct Made {
    runtime: PathBuf,
    /// Without what C's library has itself ([`OF_C`]).
    beside_c: PathBuf,
}

/// For GPUs: one module of bitcode.
fn module(context: &Context<'_>, gpu: &Gpu<'_>, dir: &Path) -> Result<Made, BuildError> {
    let archive = bitcode::archive(context, gpu)?;
    let [replaced, exports, runtime, beside_c] = ["replaced.ll", "exports", "runtime.bc", "runtime-c.bc"].map(|name| dir.join(name));
    let linked = bitcode::link(gpu, &archive, dir)?;
    let names = symbols::of_module(gpu.toolchain, &linked)?;
    // Its own panics, while it can be told from the program, whose panics are std's.
    let text = gpu.toolchain.llvm("llvm-dis").arg(&linked).args(["-o", "-"]).text()?;
    fs::write(&replaced, with_c_names(&panics::replace(&text))).map_err(BuildError::io("write", &replaced))?;
    let visible: Vec<&str> = names.exported(&VISIBLE).map(linked_name).collect();
    let is_ours = |name: &&str| !OF_C.contains(&name.strip_prefix(C_PREFIX).unwrap_or(name));
    let without: Vec<&str> = visible.iter().copied().filter(is_ours).collect();
    for (names, module) in [(visible, &runtime), (without, &beside_c)] {
        fs::write(&exports, names.join("\n")).map_err(BuildError::io("write", &exports))?;
        // That of an instrumented program has line tables, and is none of what is instrumented.
        let strip = context.spec.instrument.is_some().then_some("-strip-debug");
        let opt = gpu.toolchain.llvm("opt").args(strip).arg("-passes=internalize,globaldce");
        opt.arg(format!("-internalize-public-api-file={}", exports.display())).arg(&replaced).arg("-o").arg(module).output()?;
    }
    Ok(Made { runtime, beside_c })
}

/// A module (as text) whose functions of C's have C's names, but for the variadic ones.
fn with_c_names(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    let mut rest = module;
    while let Some(at) = rest.find(&format!("@{C_PREFIX}")) {
        let (before, symbol) = rest.split_at(at + 1);
        let end = symbol.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(symbol.len());
        out.push_str(before);
        out.push_str(linked_name(&symbol[..end]));
        rest = &symbol[end..];
    }
    out + rest
}

/// For the simulator: one object file.
fn object(sysroot: &Sysroot, context: &Context<'_>, dir: &Path) -> Result<Made, BuildError> {
    let host = context.host;
    let mut all = flags::common();
    context.source.remap(&mut all);
    if context.spec.instrument.is_some() {
        all.extend(instrument::flags());
    }
    let run = context
        .host_cargo()
        .env("CARGO_TARGET_DIR", context.target_dir())
        .env("CARGO_ENCODED_RUSTFLAGS", all.join("\u{1f}"))
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .args(["rustc", "--release", "--lib", "--crate-type", "staticlib", "--target", &host.triple])
        .arg(cargo::MESSAGES);
    let archive = context.artifact(run, "the simulator", ".a")?;
    let [whole, runtime, beside_c] = ["whole.o", "runtime.o", "runtime-c.o"].map(|name| dir.join(name));
    sysroot.toolchain.ld()?.args(["-r", "--whole-archive"]).arg(&archive).arg("-o").arg(&whole).output()?;
    let mut objcopy = sysroot.toolchain.llvm("llvm-objcopy").args(["--wildcard", "--strip-debug"]);
    for prefix in VISIBLE {
        objcopy = objcopy.arg(format!("--keep-global-symbol={prefix}*"));
    }
    // In this order: what is renamed is kept by its new name.
    let listed = sysroot.toolchain.llvm("llvm-nm").args(["--defined-only", "--format=just-symbols"]).arg(&whole).text()?;
    for name in listed.lines().filter_map(|symbol| symbol.strip_prefix(C_PREFIX)) {
        objcopy = objcopy.arg(format!("--redefine-sym={C_PREFIX}{name}={name}")).arg(format!("--keep-global-symbol={name}"));
    }
    objcopy.arg(&whole).arg(&runtime).output()?;
    let local = sysroot.toolchain.llvm("llvm-objcopy").args(OF_C.map(|name| format!("--localize-symbol={name}")));
    local.arg(&runtime).arg(&beside_c).output()?;
    Ok(Made { runtime, beside_c })
}

/// Where the runtime's sources are: `HOSTCALL_STD_SOURCE`, or beside the sources that this program was built from, or
/// where cargo has them from the registry.
pub(crate) fn source_directory() -> Result<PathBuf, BuildError> {
    let named = std::env::var_os("HOSTCALL_STD_SOURCE").map(PathBuf::from);
    let dir = match named.or_else(|| beside("hostcall-std")) {
        Some(dir) => dir,
        None => registry::source(&cache_directory("std")?)?,
    };
    dir.canonicalize().map_err(BuildError::io("find the runtime's sources (HOSTCALL_STD_SOURCE names their directory) in", &dir))
}

/// A hash of all files of the crate and of those that it depends on by path: their names and contents, wherever they
/// lie.
fn sources_hash(crate_dir: &Path) -> Result<Sha256, BuildError> {
    let mut crates = vec![crate_dir.to_path_buf()];
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(dir) = crates.get(at).cloned() {
        at += 1;
        let manifest = dir.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(BuildError::io("read", &manifest))?;
        for path in text.split("path = \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            if let Ok(found) = dir.join(path).canonicalize()
                && found.join("Cargo.toml").is_file()
                && !crates.contains(&found)
            {
                crates.push(found);
            }
        }
        let mut files = vec![manifest];
        files_below(&dir.join("src"), &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(&dir).unwrap_or(&file).to_string_lossy().into_owned();
            all.extend_from_slice(&Sha256::of(name.as_bytes()).0);
            all.extend_from_slice(&Sha256::of(&fs::read(&file).map_err(BuildError::io("read", &file))?).0);
        }
    }
    Ok(Sha256::of(&all))
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), BuildError> {
    for entry in fs::read_dir(dir).map_err(BuildError::io("read", dir))? {
        let path = entry.map_err(BuildError::io("read", dir))?.path();
        if path.is_dir() { files_below(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkouts_are_compiled_in_directories_of_their_own() {
        let of = |dir: &str| target_dir(Path::new("/cache"), Path::new(dir));
        assert_ne!(of("/a/crates/hostcall-std"), of("/b/crates/hostcall-std"));
    }

    #[test]
    fn functions_of_c_have_its_names_and_variadic_ones_wait_for_theirs() {
        let module = "define i32 @libc_close(i32 %0) {\n  %1 = call i32 @libc_open(ptr @libc_environ, i32 0)\n}\n@sys_x = alias i32, ptr @libc_openat";
        let named = "define i32 @close(i32 %0) {\n  %1 = call i32 @libc_open(ptr @environ, i32 0)\n}\n@sys_x = alias i32, ptr @libc_openat";
        assert_eq!(with_c_names(module), named);
    }

    #[test]
    fn the_hash_of_the_sources_follows_path_dependencies() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().expect("it has one")).expect("made");
            fs::write(file, text).expect("written");
        };
        write("a/Cargo.toml", "[dependencies]\nb = { path = \"../b\" }\n");
        write("a/src/lib.rs", "");
        write("b/Cargo.toml", "[dependencies]\na = { path = \"../a\" }\n");
        write("b/src/x/y.rs", "1");
        let root = dir.path().join("a").canonicalize().expect("it is there");
        let before = sources_hash(&root).expect("hashed");
        assert_eq!(before, sources_hash(&root).expect("hashed"));
        write("b/src/x/y.rs", "2");
        assert_ne!(before, sources_hash(&root).expect("hashed"));
    }
}

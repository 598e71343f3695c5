//! Making a sysroot where there is none, and bringing the runtime in it up to date.

use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;
use serde_json::json;

use super::machine::Machine;
use super::sysroot::{DESCRIPTION, RECIPE, Sysroot, flags};
use super::{compilers, known, overlay, runtime, tools};
use crate::cache::{Lock, Scratch, cache_directory};
use crate::command::Run;
use crate::flags::C_OF_X86_64;
use crate::probe::Probe;
use crate::toolchain::vendored;
use crate::{BuildError, DeviceToolchain, Instrument, Piece};

impl Sysroot {
    /// The sysroot for `machine`, built if it is not there yet: that takes a minute, and `progress` is told what is
    /// being done. `tool` is the program that acts as compiler and linker when cargo calls it (see
    /// [`act_as_tool`](crate::act_as_tool)); `None`: this one.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] without a device toolchain or its `ld.lld`; [`BuildError::Overlay`] for a compiler that
    /// the overlay does not know; [`BuildError::Failed`] if something does not compile.
    pub fn prepare(machine: &Machine, tool: Option<&Path>, mut progress: impl FnMut(&str)) -> Result<Sysroot, BuildError> {
        let cache = cache_directory("std")?;
        let program = tools::program(tool)?;
        let mut sysroot = match known::read(&cache, machine) {
            Some(sysroot) => sysroot,
            None => Sysroot::find_or_build(machine, &cache, &mut progress)?,
        };
        sysroot.tools = tools::directory(&sysroot.dir, &program, &runtime::source_directory()?);
        let _lock = Lock::take(&cache.join(format!("{machine}.lock")), || progress(WAITING))?;
        tools::install(&sysroot.tools, &program)?;
        compilers::install(&sysroot.machine, &sysroot.tools, &sysroot.toolchain.llvm_bin)?;
        runtime::refresh(&sysroot, &cache, &mut progress)?;
        Ok(sysroot)
    }

    /// Makes ready what instrumented programs need besides: the pass, and a runtime that has the functions which it
    /// calls. A cargo that is to build them is given [`INSTRUMENT_VARIABLE`](crate::INSTRUMENT_VARIABLE), and a
    /// directory of its own.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] without LLVM's headers or a C++ compiler; [`BuildError::Failed`] if something does not
    /// compile.
    pub fn prepare_instrumented(&self, wanted: &Instrument, mut progress: impl FnMut(&str)) -> Result<(), BuildError> {
        Probe::new(wanted, &self.toolchain)?;
        let cache = cache_directory("std")?;
        let _lock = Lock::take(&cache.join(format!("{}.lock", self.machine)), || progress(WAITING))?;
        runtime::build(self, &cache, &self.runtime_state()?, Some(wanted), &mut progress)
    }

    /// The sysroot of the toolchain that is there now.
    fn find_or_build(machine: &Machine, cache: &Path, progress: &mut impl FnMut(&str)) -> Result<Sysroot, BuildError> {
        let (sysroot, specification) = Sysroot::find(machine, cache)?;
        let _lock = Lock::take(&cache.join(format!("{machine}.lock")), || progress(WAITING))?;
        if !sysroot.is_built() {
            progress(&format!("building std for {machine} with {}, once: a minute or two", sysroot.toolchain.version));
            sysroot.build(cache, &specification)?;
        }
        known::write(cache, &sysroot)?;
        Ok(sysroot)
    }

    /// Where the sysroot of the toolchain that is there now is or would be, and its specification with [`LINKER_PLACE`]
    /// in it.
    fn find(machine: &Machine, cache: &Path) -> Result<(Sysroot, String), BuildError> {
        let toolchain = DeviceToolchain::find()?;
        if toolchain.lld.is_none() {
            return Err(BuildError::Missing { piece: Piece::Lld, tried: toolchain.llvm_bin.display().to_string() });
        }
        let specification = machine.spec(&toolchain, LINKER_PLACE)?;
        let flags = flags(machine, &toolchain);
        let key =
            [&*toolchain.version, &overlay::identity(), &specification, &flags.join(" "), RECIPE].map(|part| Sha256::of(part.as_bytes()).0);
        let key = Sha256::of(key.as_flattened()).to_string();
        let dir = cache.join(format!("{machine}-{}", &key[..16]));
        Ok((Sysroot { machine: machine.clone(), dir, toolchain, tools: PathBuf::new() }, specification))
    }

    /// The machine's sysroot, if it has been prepared and is still right. Builds nothing.
    pub fn prepared(machine: &Machine) -> Option<Sysroot> {
        let cache = cache_directory("std").ok()?;
        // What is noted is where another program with other variables looked: that it is not noted for this one says
        // nothing.
        known::read(&cache, machine).or_else(|| Sysroot::find(machine, &cache).ok().map(|(sysroot, _)| sysroot).filter(Sysroot::is_built))
    }

    fn build(&self, cache: &Path, specification: &str) -> Result<(), BuildError> {
        let name = self.machine.name();
        let scratch = Scratch::new(cache)?;
        let made = scratch.0.join("sysroot");
        let place = made.join("lib/rustlib").join(&name);
        fs::create_dir_all(place.join("lib")).map_err(BuildError::io("create", &place))?;
        let specification = specification.replace(LINKER_PLACE, tools::LINKER);
        fs::write(place.join("target.json"), &specification).map_err(BuildError::io("write", &place))?;

        let library = scratch.0.join("library");
        overlay::apply(&self.toolchain, &library)?;
        let named = scratch.0.join(format!("{name}.json"));
        fs::write(&named, &specification).map_err(BuildError::io("write", &named))?;
        let mut flags = flags(&self.machine, &self.toolchain);
        flags.push(format!("--remap-path-prefix={}=rust/library", library.display()));
        let target_dir = scratch.0.join("target");
        let package = scratch.0.join("package");
        write_package(&package, &library, self.machine.is_gpu())?;
        let run = Run::new(&self.toolchain.cargo)
            .without_outer_cargo()
            .dir(&package)
            .echo(true)
            .env("RUSTC", &self.toolchain.rustc)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUST_TARGET_PATH", &scratch.0)
            .env("CARGO_TARGET_DIR", &target_dir)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            // Another version of a crate that is also in a program must not have std's symbols.
            .env("__CARGO_DEFAULT_LIB_METADATA", "hostcall-std")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .args(["build", "--release", "--target", &name])
            .args(vendored(&library));
        run.output()?;
        let built = target_dir.join(&name).join("release/deps");
        for entry in fs::read_dir(&built).map_err(BuildError::io("read", &built))? {
            let file = entry.map_err(BuildError::io("read", &built))?.path();
            if let Some(name) = file.file_name().filter(|_| file.extension().is_some_and(|extension| extension == "rlib")) {
                fs::rename(&file, place.join("lib").join(name)).map_err(BuildError::io("move", &file))?;
            }
        }
        let toolchain = &self.toolchain;
        let description = json!({
            "machine": name,
            "arch": match &self.machine { Machine::Amdgpu { arch } => arch, _ => "" },
            "cargo": toolchain.cargo, "rustc": toolchain.rustc, "sysroot": toolchain.sysroot, "version": toolchain.version,
            "llvm_major": toolchain.llvm_major, "llvm_bin": toolchain.llvm_bin, "lld": toolchain.lld,
        });
        let file = made.join(DESCRIPTION);
        fs::write(&file, format!("{description:#}\n")).map_err(BuildError::io("write", &file))?;
        // A directory without a description is what a broken machine or a person left.
        let _ = fs::remove_dir_all(&self.dir);
        fs::rename(&made, &self.dir).map_err(BuildError::io("create", &self.dir))
    }
}

/// A package that depends on all that a sysroot holds. Not std's own workspace: its tests need crates that rust-src
/// does not always bring.
fn write_package(dir: &Path, library: &Path, small: bool) -> Result<(), BuildError> {
    let features = if small { "\"compiler-builtins-mem\", \"optimize_for_size\"" } else { "\"compiler-builtins-mem\"" };
    let path = |name: &str| library.join(name).display().to_string();
    // What std's own workspace patches. Since 1.97 that is also an empty `windows-sys`, instead of a large one among
    // the vendored crates.
    let patches: String = ["rustc-std-workspace-core", "rustc-std-workspace-alloc", "rustc-std-workspace-std", "windows-sys"]
        .into_iter()
        .filter(|name| library.join(name).is_dir())
        .map(|name| format!("{name} = {{ path = {:?} }}\n", path(name)))
        .collect();
    let manifest = format!(
        "cargo-features = [\"profile-rustflags\"]\n[package]\nname = \"hostcall-sysroot\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
         [dependencies]\nsysroot = {{ path = {:?}, default-features = false, features = [{features}] }}\n\
         [patch.crates-io]\n{patches}\
         [profile.release.package.compiler_builtins]\ncodegen-units = 10000\n\
         [profile.release.package.libc]\nrustflags = {:?}\n",
        path("sysroot"),
        C_OF_X86_64,
    );
    fs::create_dir_all(dir).map_err(BuildError::io("create", dir))?;
    let write = |name: &str, bytes: &[u8]| {
        let file = dir.join(name);
        fs::write(&file, bytes).map_err(BuildError::io("write", file))
    };
    write("Cargo.toml", manifest.as_bytes())?;
    write("lib.rs", b"#![feature(no_core)]\n#![no_core]\n")?;
    let lock = library.join("Cargo.lock");
    write("Cargo.lock", &fs::read(&lock).map_err(BuildError::io("read", &lock))?)
}

const WAITING: &str = "waiting for another process that prepares std";

/// Stands for the linker where the key is computed. Each program's compiler names its own linker on the command line.
const LINKER_PLACE: &str = "HOSTCALL_LINK";

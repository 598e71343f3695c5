//! A sysroot: std, built once for a machine, and the tools that build programs against it.
//!
//! ```text
//! ~/.cache/hostcall/std/MACHINE-KEY/
//!   for/PROGRAM/…                             what belongs to one program that builds with it: see `tools`
//!   lib/rustlib/MACHINE/target.json           the specification, where rustc looks for it
//!   lib/rustlib/MACHINE/lib/*.rlib            std, test, proc_macro and what they need
//!   runtime/STATE/runtime.bc or runtime.o     hostcall-std, as it was in some checkout: see `runtime`
//!   hostcall.json                             which toolchain all this is for
//! ```
//!
//! The key is a hash of the compiler, the overlay, the specification and the flags: a sysroot that is there is right, and one for another compiler is
//! another directory. It is made under another name and appears by a rename, so nobody finds half of one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;
use serde_json::json;

use super::machine::Machine;
use super::wrapper::STATE_VARIABLE;
use super::{known, overlay, runtime, tools};
use crate::cache::{Scratch, cache_directory};
use crate::command::Run;
use crate::{BuildError, DeviceToolchain, Piece};

/// Changes with the steps here.
pub(crate) const RECIPE: &str = concat!("std 1 ", env!("CARGO_PKG_VERSION"));

/// std for one machine, ready to be built against.
#[derive(Clone, Debug)]
pub struct Sysroot {
    /// The machine.
    pub machine: Machine,
    /// Where it is.
    pub dir: PathBuf,
    pub(crate) toolchain: DeviceToolchain,
    /// The directory of the program that prepared it; nobody's, if nobody did.
    pub(crate) tools: PathBuf,
}

impl Sysroot {
    /// The sysroot for `machine`, built if it is not there yet: that takes a minute, and `progress` is told what is being done. `tool` is the program
    /// that acts as compiler and linker when cargo calls it (see [`act_as_tool`](crate::act_as_tool)); `None`: this one.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] without a device toolchain or its `ld.lld`; [`BuildError::Overlay`] for a compiler that the overlay does not know;
    /// [`BuildError::Failed`] if something does not compile.
    pub fn prepare(machine: &Machine, tool: Option<&Path>, mut progress: impl FnMut(&str)) -> Result<Sysroot, BuildError> {
        let cache = cache_directory("std")?;
        let program = tools::program(tool)?;
        let mut sysroot = match known::read(&cache, machine) {
            Some(sysroot) => sysroot,
            None => Sysroot::find_or_build(machine, &cache, &mut progress)?,
        };
        sysroot.tools = tools::directory(&sysroot.dir, &program, &runtime::source_directory()?);
        let _lock = Lock::take(&cache.join(format!("{machine}.lock")), &mut progress)?;
        tools::install(&sysroot.tools, &program)?;
        runtime::refresh(&sysroot, &cache, &mut progress)?;
        Ok(sysroot)
    }

    /// The sysroot of the toolchain that is there now.
    fn find_or_build(machine: &Machine, cache: &Path, progress: &mut impl FnMut(&str)) -> Result<Sysroot, BuildError> {
        let (sysroot, specification) = Sysroot::find(machine, cache)?;
        let _lock = Lock::take(&cache.join(format!("{machine}.lock")), progress)?;
        if !sysroot.is_built() {
            progress(&format!("building std for {machine} with {}, once: a minute or two", sysroot.toolchain.version));
            sysroot.build(cache, &specification)?;
        }
        known::write(cache, &sysroot)?;
        Ok(sysroot)
    }

    /// Where the sysroot of the toolchain that is there now is or would be, and its specification with [`LINKER_PLACE`] in it.
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
        // What is noted is where another program with other variables looked: that it is not noted for this one says nothing.
        known::read(&cache, machine).or_else(|| Sysroot::find(machine, &cache).ok().map(|(sysroot, _)| sysroot).filter(Sysroot::is_built))
    }

    pub(crate) fn is_built(&self) -> bool {
        self.dir.join(DESCRIPTION).is_file()
    }

    /// What cargo is given as `RUSTC`.
    pub fn rustc(&self) -> PathBuf {
        self.tools.join(tools::COMPILER)
    }

    /// The variables that a cargo is given to build with this sysroot: its compiler, and the state of the runtime, so that cargo sees what was linked
    /// with another.
    ///
    /// # Errors
    ///
    /// [`BuildError::Io`] if nobody has prepared it.
    pub fn variables(&self) -> Result<[(&'static str, OsString); 2], BuildError> {
        Ok([("RUSTC", self.rustc().into()), (STATE_VARIABLE, self.runtime_state()?.into())])
    }

    /// What rustc calls as its linker.
    pub(crate) fn linker(&self) -> PathBuf {
        self.tools.join(tools::LINKER)
    }

    /// The cargo of the device toolchain, which is of the same release.
    pub fn cargo(&self) -> &Path {
        &self.toolchain.cargo
    }

    /// The release of the compiler: `1.96.0`.
    pub fn release(&self) -> &str {
        self.toolchain.version.split_whitespace().nth(1).unwrap_or(&self.toolchain.version)
    }

    /// The runtime of that state.
    pub(crate) fn runtime(&self, state: &str) -> PathBuf {
        self.dir.join("runtime").join(state).join(if self.machine.is_gpu() { "runtime.bc" } else { "runtime.o" })
    }

    /// Holds the state of the runtime that this program links with. It changes with the runtime and with how programs are linked, and with nothing else.
    pub(crate) fn stamp(&self) -> PathBuf {
        self.tools.join("runtime.key")
    }

    /// The state of the runtime that this program links with.
    pub(crate) fn runtime_state(&self) -> Result<String, BuildError> {
        let stamp = self.stamp();
        fs::read_to_string(&stamp).map_err(BuildError::io("read", stamp))
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
        let mut run = Run::new(&self.toolchain.cargo)
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
            .args(["build", "--release", "--target", &name]);
        if library.join("vendor").is_dir() {
            let vendor = format!("source.vendored-sources.directory={:?}", library.join("vendor"));
            run = run.args(["--offline", "--config", "source.crates-io.replace-with=\"vendored-sources\"", "--config", &vendor]);
        }
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

    /// The sysroot of whoever is called through a program's directory in it.
    pub(crate) fn of_tool(tools: &Path) -> Result<Sysroot, BuildError> {
        let dir = tools::sysroot_of(tools).unwrap_or(Path::new(""));
        Ok(Sysroot { tools: tools.to_path_buf(), ..Sysroot::open(dir)? })
    }

    /// The sysroot that is in `dir`.
    pub(crate) fn open(dir: &Path) -> Result<Sysroot, BuildError> {
        let file = dir.join(DESCRIPTION);
        let bytes = fs::read(&file).map_err(BuildError::io("read", &file))?;
        let text = |value: &serde_json::Value, key: &str| value[key].as_str().map(str::to_owned);
        let parse = || {
            let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
            let name = text(&value, "machine")?;
            let arch = text(&value, "arch")?;
            let known = [Machine::Sim, Machine::Nvptx, Machine::Amdgpu { arch }];
            let machine = known.into_iter().find(|machine| machine.name() == name)?;
            let path = |key: &str| text(&value, key).map(PathBuf::from);
            let toolchain = DeviceToolchain {
                cargo: path("cargo")?,
                rustc: path("rustc")?,
                sysroot: path("sysroot")?,
                version: text(&value, "version")?,
                llvm_major: value["llvm_major"].as_u64()?.try_into().ok()?,
                llvm_bin: path("llvm_bin")?,
                lld: path("lld"),
            };
            Some(Sysroot { machine, dir: dir.to_owned(), toolchain, tools: PathBuf::new() })
        };
        parse().ok_or_else(|| BuildError::Unexpected {
            command: format!("reading {}", file.display()),
            problem: format!("it does not describe a sysroot; remove {} and build again", dir.display()),
        })
    }
}

/// A package that depends on all that a sysroot holds. Not std's own workspace: its tests need crates that rust-src does not always bring.
fn write_package(dir: &Path, library: &Path, small: bool) -> Result<(), BuildError> {
    let features = if small { "\"compiler-builtins-mem\", \"optimize_for_size\"" } else { "\"compiler-builtins-mem\"" };
    let path = |name: &str| library.join(name).display().to_string();
    let patches: String = ["core", "alloc", "std"]
        .map(|name| format!("rustc-std-workspace-{name} = {{ path = {:?} }}\n", path(&format!("rustc-std-workspace-{name}"))))
        .concat();
    let manifest = format!(
        "[package]\nname = \"hostcall-sysroot\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
         [dependencies]\nsysroot = {{ path = {:?}, default-features = false, features = [{features}] }}\n\
         [patch.crates-io]\n{patches}\
         [profile.release.package.compiler_builtins]\ncodegen-units = 10000\n",
        path("sysroot"),
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

const DESCRIPTION: &str = "hostcall.json";

/// Stands for the linker where the key is computed. Each program's compiler names its own linker on the command line.
const LINKER_PLACE: &str = "HOSTCALL_LINK";

/// Flags for std that are not in its own manifests.
pub(crate) fn flags(machine: &Machine, toolchain: &DeviceToolchain) -> Vec<String> {
    let mut flags: Vec<String> = ["-Zunstable-options", "-Zforce-unstable-if-unmarked", "-Aunexpected_cfgs"].map(String::from).to_vec();
    flags.push(format!("--remap-path-prefix={}=rust", toolchain.sysroot.join("lib/rustlib/src/rust").display()));
    // Programs may ask for link-time optimisation, and then need the bitcode.
    flags.push("-Cembed-bitcode=yes".into());
    flags.extend(machine.codegen_flags().map(String::from));
    flags
}

/// One process at a time prepares a machine; the others wait.
struct Lock {
    _file: fs::File,
}

impl Lock {
    fn take(path: &Path, progress: &mut impl FnMut(&str)) -> Result<Lock, BuildError> {
        let file = fs::File::create(path).map_err(BuildError::io("create", path))?;
        if file.try_lock().is_err() {
            progress("waiting for another process that prepares std");
            file.lock().map_err(BuildError::io("lock", path))?;
        }
        Ok(Lock { _file: file })
    }
}

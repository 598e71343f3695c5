//! A sysroot: std, built once for a machine, and the tools that build programs against it.
//!
//! ```text
//! ~/.cache/hostcall/std/MACHINE-KEY/
//!   for/PROGRAM/…                             what belongs to one program that builds with it: see `tools`
//!   lib/rustlib/MACHINE/target.json           the specification, where rustc looks for it
//!   lib/rustlib/MACHINE/lib/*.rlib            std, test, proc_macro and what they need
//!   runtime/STATE/runtime.bc or runtime.o     hostcall-std, as it was in some checkout: see `runtime`
//!   runtime/STATE/runtime-c.…, c/…            the same beside C's library, and that: see `c`
//!   hostcall.json                             which toolchain all this is for
//! ```
//!
//! The key is a hash of the compiler, the overlay, the specification and the flags: a sysroot that is there is right,
//! and one for another compiler is another directory. It is made under another name and appears by a rename, so nobody
//! finds half of one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::natives::{self, Setting};
use super::{compilers, tools};
use crate::{BuildError, DeviceToolchain};

/// Changes with the steps here.
pub(crate) const RECIPE: &str = concat!("std 1 ", env!("CARGO_PKG_VERSION"));

/// The state of the runtime, in the environment of the cargo that we run. Cargo compares it with what the dependency
/// file says, and so sees that a program was linked with another: by another checkout's program, perhaps, into the same
/// directory.
pub(crate) const STATE_VARIABLE: &str = "HOSTCALL_RUNTIME_STATE";

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
    pub(crate) fn is_built(&self) -> bool {
        self.dir.join(DESCRIPTION).is_file()
    }

    /// What cargo is given as `RUSTC`.
    pub fn rustc(&self) -> PathBuf {
        self.tools.join(tools::COMPILER)
    }

    /// The variables that a cargo is given to build with this sysroot: its compiler, the state of the runtime, so that
    /// cargo sees what was linked with another, and the compilers of C and C++ that build scripts ask for.
    ///
    /// # Errors
    ///
    /// [`BuildError::Io`] if nobody has prepared it.
    pub fn variables(&self) -> Result<Vec<(String, OsString)>, BuildError> {
        let mut all = vec![("RUSTC".to_owned(), self.rustc().into()), (STATE_VARIABLE.to_owned(), self.runtime_state()?.into())];
        all.extend(self.c_variables());
        Ok(all)
    }

    /// Those of them that name compilers of C and C++. What is set in this process's environment is not among them.
    pub fn c_variables(&self) -> Vec<(String, OsString)> {
        compilers::variables(&self.machine, &self.tools, &self.toolchain.llvm_bin)
    }

    /// The settings that a cargo is given to build with this sysroot: what it need not build, because the runtime has
    /// it.
    pub fn settings(&self) -> Vec<Setting> {
        natives::settings(&self.machine)
    }

    /// The libraries that every program needs, whatever it is written in: `core`, and what code generation calls.
    pub(crate) fn core(&self) -> Result<Vec<String>, BuildError> {
        let dir = self.dir.join("lib/rustlib").join(self.machine.name()).join("lib");
        let mut found = Vec::new();
        for entry in fs::read_dir(&dir).map_err(BuildError::io("read", &dir))? {
            let path = entry.map_err(BuildError::io("read", &dir))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".rlib") && ["libcore-", "libcompiler_builtins-"].iter().any(|start| name.starts_with(start)) {
                found.push(path.display().to_string());
            }
        }
        found.sort();
        Ok(found)
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

    /// The runtime of that state, or the one that instrumented programs are linked with.
    pub(crate) fn runtime(&self, state: &str, instrumented: bool) -> PathBuf {
        self.runtime_file(state, if instrumented { "instrumented" } else { "runtime" })
    }

    /// The same, without the functions that C's library has itself.
    pub(crate) fn runtime_beside_c(&self, state: &str, instrumented: bool) -> PathBuf {
        self.runtime_file(state, if instrumented { "instrumented-c" } else { "runtime-c" })
    }

    fn runtime_file(&self, state: &str, name: &str) -> PathBuf {
        self.dir.join("runtime").join(state).join(format!("{name}.{}", if self.machine.is_gpu() { "bc" } else { "o" }))
    }

    /// Holds the state of the runtime that this program links with. It changes with the runtime and with how programs
    /// are linked, and with nothing else.
    pub(crate) fn stamp(&self) -> PathBuf {
        self.tools.join("runtime.key")
    }

    /// The state of the runtime that this program links with.
    pub(crate) fn runtime_state(&self) -> Result<String, BuildError> {
        let stamp = self.stamp();
        fs::read_to_string(&stamp).map_err(BuildError::io("read", stamp))
    }

    /// Whether a directory is a program's in a sysroot.
    pub(crate) fn has_tools(tools: &Path) -> bool {
        tools::sysroot_of(tools).is_some_and(|dir| dir.join(DESCRIPTION).is_file())
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

/// What says of a directory that it is a sysroot, and which toolchain it is for.
pub(crate) const DESCRIPTION: &str = "hostcall.json";

/// Flags for std that are not in its own manifests.
pub(crate) fn flags(machine: &Machine, toolchain: &DeviceToolchain) -> Vec<String> {
    let mut flags: Vec<String> =
        ["-Zunstable-options", "-Zforce-unstable-if-unmarked", "-Aunexpected_cfgs", "-Aunused"].map(String::from).to_vec();
    flags.push(format!("--remap-path-prefix={}=rust", toolchain.sysroot.join("lib/rustlib/src/rust").display()));
    // Programs may ask for link-time optimisation, and then need the bitcode.
    flags.push("-Cembed-bitcode=yes".into());
    flags.extend(machine.codegen_flags().map(String::from));
    flags
}

//! What this machine has of all that a build can use.

use std::fmt;

use crate::nvlink::Nvlink;
use crate::probe::Parts;
use crate::stdlib::c::{compiler, musl};
use crate::toolchain::which;
use crate::{BuildError, DeviceToolchain, HostToolchain, Machine, Piece, Ptxas, Sysroot};

/// What depends on a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Importance {
    /// Without it nothing builds.
    Required,
    /// Without it there are no images for GPUs; the simulator does not need it.
    ForGpus,
    /// Without it something rarer is missing; the check's detail says what.
    Optional,
}

impl fmt::Display for Importance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Importance::Required => "required",
            Importance::ForGpus => "for GPUs",
            Importance::Optional => "optional",
        })
    }
}

/// One thing looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// What depends on it.
    pub importance: Importance,
    /// Whether it is there.
    pub found: bool,
    /// Which one it is, or what was tried and found wanting.
    pub detail: String,
    /// What installs it, if it is missing.
    pub remedy: Option<String>,
}

/// Looks for everything that a build can use. Changes nothing.
pub fn doctor() -> Vec<Check> {
    let host = HostToolchain::find();
    let device = DeviceToolchain::find();
    let lld = device.as_ref().ok().map(|device| match &device.lld {
        Some(lld) => Ok(lld.display().to_string()),
        None => Err(BuildError::Missing { piece: Piece::Lld, tried: format!("not in {}", device.llvm_bin.display()) }),
    });
    let instrumentation = device
        .as_ref()
        .ok()
        .map(|device| check("instrumentation", Importance::Optional, Parts::find(device).map(|parts| parts.describe())));
    let mut checks = vec![
        check("host toolchain", Importance::Required, host.map(|host| format!("{}, {}", host.version, host.triple))),
        linker(),
        check("device toolchain", Importance::ForGpus, device.map(|device| describe(&device))),
    ];
    checks.extend(lld.map(|lld| check("ld.lld", Importance::Optional, lld)));
    checks.extend([Machine::Sim, Machine::Nvptx].iter().map(standard_library));
    checks.push(check("ptxas", Importance::Optional, Ptxas::find().map(|ptxas| format!("{} {}", ptxas.version, ptxas.path.display()))));
    let clang = DeviceToolchain::find().and_then(|device| compiler::clang(&device));
    checks.push(check("clang", Importance::Optional, clang.map(|clang| format!("{}, for C in programs", clang.display()))));
    checks.push(check("musl", Importance::Optional, musl::find().map(|dir| format!("{}, C's library for devices", dir.display()))));
    checks.push(check("nvlink", Importance::Optional, Nvlink::find().map(|nvlink| nvlink.describe())));
    checks.extend(instrumentation);
    checks
}

fn describe(device: &DeviceToolchain) -> String {
    format!("{} at {}, with LLVM {} in {}", device.version, device.rustc.display(), device.llvm_major, device.llvm_bin.display())
}

fn check(name: &'static str, importance: Importance, found: Result<String, BuildError>) -> Check {
    match found {
        Ok(detail) => Check { name, importance, found: true, detail, remedy: None },
        Err(BuildError::Missing { piece, tried }) => {
            let detail = if tried.is_empty() { "not found".into() } else { tried };
            Check { name, importance, found: false, detail, remedy: Some(piece.remedy().into()) }
        }
        Err(error) => Check { name, importance, found: false, detail: error.to_string(), remedy: None },
    }
}

/// std is built by whoever needs it first; it is only good to know who will wait.
fn standard_library(machine: &Machine) -> Check {
    let prepared = Sysroot::prepared(machine);
    Check {
        name: if *machine == Machine::Sim { "std, simulator" } else { "std, NVIDIA" },
        importance: Importance::Optional,
        found: prepared.is_some(),
        detail: prepared.as_ref().map_or("not built yet".into(), |sysroot| sysroot.dir.display().to_string()),
        remedy: prepared
            .is_none()
            .then(|| "`cargo hostcall setup`, or the first `cargo hostcall run` of a program builds it, in a minute or two".into()),
    }
}

/// rustc links the simulator's image with `cc`.
fn linker() -> Check {
    let found = which("cc").into_iter().next();
    Check {
        name: "C linker",
        importance: Importance::Required,
        found: found.is_some(),
        detail: found.as_ref().map_or("no `cc` on PATH".into(), |path| path.display().to_string()),
        remedy: found.is_none().then(|| "`apt-get install gcc`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missing_piece_comes_with_a_remedy_and_every_found_one_with_its_place() {
        let checks = doctor();
        assert!(checks.iter().any(|check| check.name == "host toolchain" && check.found), "cargo runs this test");
        for check in checks {
            assert!(!check.detail.is_empty(), "{}", check.name);
            assert_eq!(check.found, check.remedy.is_none(), "{check:?}");
        }
    }

    #[test]
    fn a_missing_piece_is_reported_with_what_was_tried() {
        let missing = BuildError::Missing { piece: Piece::Ptxas, tried: "/x/ptxas does not run".into() };
        let check = check("ptxas", Importance::Optional, Err(missing));
        assert!(!check.found && check.detail == "/x/ptxas does not run");
        assert!(check.remedy.expect("a remedy").contains("cargo hostcall setup"));
    }
}

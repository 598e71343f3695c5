//! The part of the GPU bundle with programs of the registry, and programs over larger libraries: as PTX, with what
//! native builds print and leave.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use build::{Libraries, Made, packed};
use programs::PROGRAMS;

#[path = "../../crates/cargo-hostcall/tests/registry/build.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod build;
#[path = "../../crates/cargo-hostcall/tests/registry/programs.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod programs;

/// Where the snapshots are.
const SNAPSHOTS: &str = "crates/cargo-hostcall/tests/registry/snapshots";

/// Images, snapshots, the test that compares, and the command line.
pub(crate) fn bundle(sh: &Shell, out: &str) -> Result<()> {
    let json = cmd!(sh, "cargo build --release --message-format=json-render-diagnostics --package cargo-hostcall --bins --test registry")
        .read()?;
    for (name, to) in [("registry", "std-registry"), ("cargo-hostcall", "cargo-hostcall")] {
        let file = super::bundle::executable(&json, name).with_context(|| format!("cargo built no {name}"))?;
        sh.copy_file(file, format!("{out}/{to}"))?;
        cmd!(sh, "strip {out}/{to}").quiet().run().context("needs binutils")?;
    }
    let command = super::bundle::executable(&json, "cargo-hostcall").context("cargo built no command line")?;
    let (root, to) = (super::root(), sh.current_dir().join(out).join("registry"));
    sh.create_dir(to.join("libraries"))?;
    let (made, target) = (Made::by(command.as_ref(), "nvptx"), super::target_directory().join("registry"));
    for program in &PROGRAMS {
        println!("   {} {}", program.package, program.version);
        packed(&made.program(&root, program, &target), &to.join(format!("{}.program.gz", program.bin)));
    }
    println!("   {:?}", Libraries::NAMES);
    Libraries { root: &root, target: &target }.make(&made, &to.join("libraries"));
    sh.create_dir(to.join("snapshots"))?;
    for file in sh.read_dir(SNAPSHOTS)? {
        sh.copy_file(file, to.join("snapshots"))?;
    }
    Ok(())
}

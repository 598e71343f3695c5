//! Which crates are in what is given away: a bill of materials for each library and for the command line, in
//! CycloneDX's form.

use std::path::Path;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{COMMAND_LINE, LIBRARIES, Machine};

/// What writes them, from crates.io.
const CYCLONEDX: &str = "cargo-cyclonedx@0.5.9";

/// The files for the command line, or for the libraries.
pub(super) fn names(command_line: bool) -> Vec<String> {
    let packages = if command_line { vec![COMMAND_LINE] } else { LIBRARIES.map(|(package, ..)| package).to_vec() };
    packages.into_iter().map(|package| format!("{package}.cdx.json")).collect()
}

/// Writes the lists into the documentation of `tree`.
pub(super) fn write(sh: &Shell, tree: &Path, machine: &Machine, epoch: &str) -> Result<()> {
    let names: Vec<String> = names(false).into_iter().chain(names(true)).collect();
    write_into(sh, &tree.join("share/doc/hostcall"), &names, machine, epoch)
}

/// Writes these lists, `PACKAGE.cdx.json`, into a directory.
pub(super) fn write_into(sh: &Shell, to: &Path, names: &[String], machine: &Machine, epoch: &str) -> Result<()> {
    let tool = crate::root().join("target/cyclonedx");
    if !tool.join("bin/cargo-cyclonedx").exists() {
        cmd!(sh, "cargo install --quiet --locked --root {tool} {CYCLONEDX}").run()?;
    }
    // It writes a file beside each manifest of the workspace: in a clone.
    let (elsewhere, root) = (sh.create_temp_dir()?, crate::root());
    let clone = elsewhere.path();
    cmd!(sh, "git clone --quiet --shared {root} {clone}").quiet().run()?;
    let triple = machine.triple();
    let options = ["--format", "json", "--spec-version", "1.5", "--no-build-deps", "--target", &triple, "--quiet"];
    let there = sh.push_dir(clone);
    cmd!(sh, "{tool}/bin/cargo-cyclonedx cyclonedx {options...}").env("SOURCE_DATE_EPOCH", epoch).quiet().run()?;
    drop(there);
    for name in names {
        let text = sh.read_file(clone.join("crates").join(name.trim_end_matches(".cdx.json")).join(name))?;
        let text = text.replace(&*clone.to_string_lossy(), "/hostcall");
        ensure!(text.matches("\"purl\": \"pkg:cargo/").count() > 2, "{name} lists next to nothing");
        sh.write_file(to.join(name), text)?;
    }
    Ok(())
}

//! Directories of the building machine, which no file may name that is given away: they say whose machine it is, and
//! differ from one build to another.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

/// Where cargo keeps the registry's crates.
pub(super) fn cargo_home() -> Result<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = named.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    home.context("neither CARGO_HOME nor HOME says where crates are kept")
}

/// Where the compiler and the standard library's sources are.
pub(super) fn sysroot(sh: &Shell) -> Result<PathBuf> {
    Ok(cmd!(sh, "rustc --print sysroot").quiet().read()?.into())
}

/// The checkout, the homes of the user and of cargo, and the directory of the compiler.
pub(super) fn of_this_machine(sh: &Shell) -> Result<Vec<PathBuf>> {
    let mut found = vec![crate::root(), cargo_home()?, sysroot(sh)?];
    found.extend(std::env::home_dir().filter(|home| home.parent().is_some()));
    Ok(found)
}

/// An error with each file below `tree` in which one of these directories is named.
pub(super) fn none_in(tree: &Path, directories: &[PathBuf]) -> Result<()> {
    // Each with what follows its name: `/root` is also how other words begin.
    let named = directories.iter().flat_map(|dir| ["-e".to_owned(), format!("{}/", dir.display())]);
    let output = std::process::Command::new("grep").args(["-raoF"]).args(named).arg("--").arg(tree).output().context("grep")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut found: Vec<&str> = said.lines().collect();
    found.sort_unstable();
    found.dedup();
    if !found.is_empty() {
        bail!("directories of this machine are in what is given away:\n{}", found.join("\n"));
    }
    // It says 1 where nothing was found.
    ensure!(output.status.code() == Some(1), "grep: {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[test]
fn a_directory_is_found_among_any_bytes_and_in_any_file() {
    let tree = tempfile::tempdir().unwrap();
    let directories = [PathBuf::from("/home/somebody"), PathBuf::from("/root")];
    let write = |bytes: &[u8]| std::fs::write(tree.path().join("library.a"), bytes).unwrap();
    write(b"\x7fELF\0\xff/home/some/body\0the /rooted tree\0");
    none_in(tree.path(), &directories).unwrap();
    write(b"\x7fELF\0\xff/home/somebody/src/lib.rs\0");
    let error = none_in(tree.path(), &directories).unwrap_err().to_string();
    assert!(error.contains("library.a") && error.contains("/home/somebody/") && !error.contains("/root"), "{error}");
    assert!(none_in(&tree.path().join("absent"), &directories).is_err());
}

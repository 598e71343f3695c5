//! Two builds of a commit are equal: the second is made in a clone elsewhere.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{Machine, SUMS};

/// Makes everything again in a clone, and compares the files of these names.
pub(super) fn again(sh: &Shell, out: &Path, machine: &Machine, names: &[String]) -> Result<()> {
    let changes = cmd!(sh, "git status --porcelain").quiet().read()?;
    ensure!(changes.is_empty(), "a commit is compared, and these were not committed:\n{changes}");
    let elsewhere = tempfile::Builder::new().prefix("hostcall-again-").tempdir()?;
    // Deeper than the first, and of another length.
    let (clone, root) = (elsewhere.path().join("another/checkout"), crate::root());
    cmd!(sh, "git clone --quiet --shared {root} {clone}").quiet().run()?;
    let arch = &machine.arch;
    {
        let _there = sh.push_dir(&clone);
        // (Without what cargo tells the program that it runs.)
        cmd!(sh, "cargo xtask dist --arch {arch} --no-root").env_remove("CARGO_TARGET_DIR").run()?;
    }
    let [mine, other] = [out, &clone.join("target/dist")].map(|dir| fs::read_to_string(dir.join(SUMS)).context("the sums"));
    let (mine, other) = (of(&mine?, names)?, of(&other?, names)?);
    let different = different(&mine, &other);
    ensure!(different.is_empty(), "these differ from those of a second build:\n{}", different.join("\n"));
    Ok(())
}

/// The lines of a list of sums that are of these files.
fn of(sums: &str, names: &[String]) -> Result<String> {
    let lines = names.iter().map(|name| {
        let line = sums.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
        Ok(format!("{}\n", line.with_context(|| format!("{SUMS} has no {name}"))?))
    });
    lines.collect()
}

/// The files that only one of two lists of sums has, or that have another sum in the other.
fn different(mine: &str, other: &str) -> Vec<String> {
    let name = |line: &str| line.split_whitespace().nth(1).unwrap_or(line).to_owned();
    let only = |these: &str, those: &str| -> Vec<String> {
        these.lines().filter(|line| !those.lines().any(|there| there == *line)).map(name).collect()
    };
    let mut names = only(mine, other);
    names.extend(only(other, mine));
    names.sort();
    names.dedup();
    names
}

#[test]
fn sums_for_other_machines_are_not_compared() {
    let sums = "11  a_amd64.deb\n22  a_arm64.deb\n";
    assert_eq!(of(sums, &["a_arm64.deb".to_owned()]).unwrap(), "22  a_arm64.deb\n");
    assert!(of(sums, &["b_arm64.deb".to_owned()]).is_err());
}

#[test]
fn files_that_differ_are_named_once_and_files_that_one_build_lacks_as_well() {
    let mine = "11  a.deb\n22  b.tar.xz\n33  c.deb\n";
    assert_eq!(different(mine, mine), Vec::<String>::new());
    assert_eq!(different(mine, "11  a.deb\n23  b.tar.xz\n44  d.deb\n"), ["b.tar.xz", "c.deb", "d.deb"]);
}

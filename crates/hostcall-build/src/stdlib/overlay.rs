//! The overlay: what std needs changed to run on the device, as patches against the user's own rust-src.
//!
//! std's layer for Unix speaks to the system beneath it through C's functions, and so runs anywhere those exist; what
//! is left are a few lines (`overlay/*.patch`, each with its reason). They are applied to a copy, hunk by hunk: one
//! that finds no place means a release of Rust that the overlay does not know, and the error names it.

use std::fs;
use std::path::Path;

use offload_image::Sha256;

use crate::{BuildError, DeviceToolchain};

/// The patches by name. Unified diffs, each with a line before it that says what it is for.
const PATCHES: [(&str, &str); 14] = [
    ("allocation", include_str!("../../overlay/allocation.patch")),
    ("arguments", include_str!("../../overlay/arguments.patch")),
    ("entropy", include_str!("../../overlay/entropy.patch")),
    ("files", include_str!("../../overlay/files.patch")),
    ("functions", include_str!("../../overlay/functions.patch")),
    ("futexes", include_str!("../../overlay/futexes.patch")),
    ("lanes", include_str!("../../overlay/lanes.patch")),
    ("machine", include_str!("../../overlay/machine.patch")),
    ("output", include_str!("../../overlay/output.patch")),
    ("panic", include_str!("../../overlay/panic.patch")),
    ("start", include_str!("../../overlay/start.patch")),
    ("thread-local", include_str!("../../overlay/thread-local.patch")),
    ("threads", include_str!("../../overlay/threads.patch")),
    ("unwinding", include_str!("../../overlay/unwinding.patch")),
];

/// The packages that are patched.
const PATCHED: [&str; 4] = ["backtrace", "compiler-builtins", "std", "unwind"];

/// What tells this overlay from another.
pub fn identity() -> String {
    Sha256::of(&PATCHES.iter().flat_map(|(_, text)| Sha256::of(text.as_bytes()).0).collect::<Vec<u8>>()).to_string()
}

/// Makes `dir` a copy of the toolchain's `library` directory with the overlay in it. What the overlay does not touch is
/// linked, not copied.
///
/// # Errors
///
/// [`BuildError::Overlay`] for sources that the overlay does not know, [`BuildError::Io`] if they cannot be read or the
/// copy not written.
pub fn apply(toolchain: &DeviceToolchain, dir: &Path) -> Result<(), BuildError> {
    let library = toolchain.library();
    fs::create_dir_all(dir).map_err(BuildError::io("create", dir))?;
    for entry in fs::read_dir(&library).map_err(BuildError::io("read", &library))? {
        let entry = entry.map_err(BuildError::io("read", &library))?;
        let (from, to) = (entry.path(), dir.join(entry.file_name()));
        // Cargo may want to write its lock file, and packages that are patched must be ours.
        if PATCHED.iter().any(|package| entry.file_name() == *package) {
            copy_tree(&from, &to)?;
        } else if from.is_file() {
            copy_file(&from, &to)?;
        } else {
            link(&from, &to)?;
        }
    }
    for (patch, text) in PATCHES {
        for change in changes(text) {
            change.apply(patch, &toolchain.version, dir)?;
        }
    }
    Ok(())
}

/// A patch of one file.
struct Change<'a> {
    /// Below `library`.
    file: &'a str,
    /// The diff with its two header lines.
    diff: &'a str,
    /// Whether the file is new.
    new: bool,
}

/// The changes of a patch file: each begins at a line `--- …`, followed by one `+++ b/FILE`.
fn changes(text: &str) -> impl Iterator<Item = Change<'_>> {
    let mut starts: Vec<usize> = text.match_indices("--- ").map(|(at, _)| at).filter(|&at| at == 0 || text[..at].ends_with('\n')).collect();
    starts.push(text.len());
    let spans: Vec<(usize, usize)> = starts.windows(2).map(|pair| (pair[0], pair[1])).collect();
    spans.into_iter().filter_map(move |(from, to)| {
        let diff = &text[from..to];
        let file = diff.lines().nth(1)?.strip_prefix("+++ b/")?;
        Some(Change { file, diff, new: diff.starts_with("--- /dev/null") })
    })
}

impl Change<'_> {
    fn apply(&self, patch: &'static str, version: &str, dir: &Path) -> Result<(), BuildError> {
        let path = dir.join(self.file);
        let refused = |problem: String| BuildError::Overlay { version: version.into(), patch, file: self.file.into(), problem };
        let diff = diffy::Patch::from_str(self.diff).map_err(|error| refused(error.to_string()))?;
        let before = if self.new {
            if path.exists() {
                return Err(refused("the file is there already".into()));
            }
            String::new()
        } else {
            fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?
        };
        let after = diffy::apply(&before, &diff).map_err(|error| refused(error.to_string()))?;
        fs::write(&path, after).map_err(BuildError::io("write", &path))
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(to).map_err(BuildError::io("create", to))?;
    for entry in fs::read_dir(from).map_err(BuildError::io("read", from))? {
        let entry = entry.map_err(BuildError::io("read", from))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy_tree(&from, &to)? } else { copy_file(&from, &to)? }
    }
    Ok(())
}

/// A copy that can be written to, whatever the original is.
fn copy_file(from: &Path, to: &Path) -> Result<(), BuildError> {
    let bytes = fs::read(from).map_err(BuildError::io("read", from))?;
    fs::write(to, bytes).map_err(BuildError::io("write", to))
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Result<(), BuildError> {
    std::os::unix::fs::symlink(from, to).map_err(BuildError::io("link", to))
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> Result<(), BuildError> {
    copy_tree(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'a>(diff: &'a str, file: &'a str) -> Change<'a> {
        Change { file, diff, new: diff.starts_with("--- /dev/null") }
    }

    #[test]
    fn every_patch_has_a_reason_and_is_a_diff_of_files_of_packages_that_are_copied() {
        for (name, text) in PATCHES {
            assert!(!text.starts_with("---"), "{name} begins with its reason");
            let mut files = 0;
            for change in changes(text) {
                files += 1;
                assert!(PATCHED.iter().any(|package| change.file.starts_with(&format!("{package}/"))), "{name}: {}", change.file);
                diffy::Patch::from_str(change.diff).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            assert!(files > 0, "{name}");
        }
    }

    #[test]
    fn the_overlay_applies_to_every_rust_src_of_this_machine() {
        let Ok(toolchain) = DeviceToolchain::find() else {
            println!("no device toolchain here: nothing to apply the overlay to");
            return;
        };
        let dir = tempfile::tempdir().expect("a directory");
        apply(&toolchain, &dir.path().join("library")).expect("it applies");
        let patched = fs::read_to_string(dir.path().join("library/std/src/sys/alloc/mod.rs")).expect("it is there");
        assert!(patched.contains("nvptx64"));
    }

    #[test]
    fn a_hunk_without_a_place_names_the_compiler_the_file_and_the_hunk() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("f.rs"), "one\ntwo\nthree\n").expect("written");
        let diff = "--- a/f.rs\n+++ b/f.rs\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n@@ -3 +3 @@\n-four\n+FOUR\n";
        let error = change(diff, "f.rs").apply("entry", "rustc 1.99.0", dir.path()).expect_err("there is no `four`");
        let text = error.to_string();
        assert!(["rustc 1.99.0", "entry", "f.rs", "#2"].iter().all(|part| text.contains(part)), "{text}");
        assert_eq!(fs::read_to_string(dir.path().join("f.rs")).expect("it is there"), "one\ntwo\nthree\n", "all or nothing");
    }

    #[test]
    fn a_new_file_is_made_and_never_written_over() {
        let dir = tempfile::tempdir().expect("a directory");
        let diff = "--- /dev/null\n+++ b/f.rs\n@@ -0,0 +1 @@\n+new\n";
        change(diff, "f.rs").apply("entry", "rustc", dir.path()).expect("it is made");
        assert_eq!(fs::read_to_string(dir.path().join("f.rs")).expect("made"), "new\n");
        assert!(change(diff, "f.rs").apply("entry", "rustc", dir.path()).is_err());
    }
}

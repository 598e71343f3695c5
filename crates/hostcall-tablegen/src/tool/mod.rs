//! What every command-line tool on top of this front end needs: the [options](Common) that all of them have, in LLVM's
//! spelling, output files that are never half written, dependency files.
//!
//! LLVM's tools accept a long option after one dash or two, and a short one likewise (`-print-records`, `--I dir`), and
//! build systems use all of them. [`spell_options`] turns such an argument list into the one that option parsers
//! expect.

mod common;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

pub use common::{Common, DiagnosticFormat, Phases, arguments};

/// Turns LLVM's spelling of options into the usual one: long options (`long`, without dashes) get two dashes,
/// one-letter options of `short` get one. What follows `--`, and the value that follows a one-letter option, is left
/// alone.
///
/// ```
/// let given = ["tool", "-dump-json", "--I", "dir", "-o=x", "in.td"].map(Into::into);
/// let spelt = tablegen::tool::spell_options(given, &["dump-json"], &['I', 'o']);
/// assert_eq!(spelt, ["tool", "--dump-json", "-I", "dir", "-o=x", "in.td"]);
/// ```
pub fn spell_options(arguments: impl IntoIterator<Item = OsString>, long: &[&str], short: &[char]) -> Vec<OsString> {
    let mut spelt = Vec::new();
    let mut verbatim = false;
    let mut is_value = false;
    for argument in arguments {
        let respelt = match argument.to_str() {
            Some("--") if !is_value => {
                verbatim = true;
                None
            }
            Some(text) if !verbatim && !is_value => respell(text, long, short),
            _ => None,
        };
        let argument = respelt.unwrap_or(argument);
        let takes_next = |text: &str| text.strip_prefix('-').is_some_and(|name| is_letter_of(name, short));
        is_value = !verbatim && !is_value && argument.to_str().is_some_and(takes_next);
        spelt.push(argument);
    }
    spelt
}

fn respell(argument: &str, long: &[&str], short: &[char]) -> Option<OsString> {
    let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'))?;
    let bare = name.split_once('=').map_or(name, |(bare, _)| bare);
    if is_letter_of(bare, short) {
        return Some(format!("-{name}").into());
    }
    long.contains(&bare).then(|| format!("--{name}").into())
}

fn is_letter_of(name: &str, short: &[char]) -> bool {
    let mut letters = name.chars();
    matches!((letters.next(), letters.next()), (Some(letter), None) if short.contains(&letter))
}

/// Writes `contents` to `path` so that a reader, or a crash, finds either the old file or the new one. `-` is the
/// standard output; what is no regular file (a pipe, a device) is written to directly. With `only_if_changed` a file
/// that already holds `contents` keeps its time of modification. Says whether anything was written.
///
/// # Errors
/// What the system said. The file at `path` is then as it was.
pub fn write_output(path: &Path, contents: &[u8], only_if_changed: bool) -> io::Result<bool> {
    if path == Path::new("-") {
        let mut out = io::stdout().lock();
        out.write_all(contents)?;
        out.flush()?;
        return Ok(true);
    }
    // Of a symbolic link, what it leads to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if let Some(existing) = &existing
        && !existing.is_file()
        && !existing.is_dir()
    {
        fs::OpenOptions::new().write(true).open(&target)?.write_all(contents)?;
        return Ok(true);
    }
    if only_if_changed && existing.as_ref().is_some_and(|existing| holds(&target, existing, contents)) {
        return Ok(false);
    }
    replace(&target, existing.map(|existing| existing.permissions()), contents)?;
    Ok(true)
}

fn holds(path: &Path, metadata: &fs::Metadata, contents: &[u8]) -> bool {
    metadata.len() == contents.len() as u64 && fs::read(path).is_ok_and(|old| old == contents)
}

fn replace(target: &Path, permissions: Option<fs::Permissions>, contents: &[u8]) -> io::Result<()> {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tablegen-").suffix(".tmp");
    #[cfg(unix)]
    {
        // Else it would be readable by its owner only. The umask applies.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(contents)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// A dependency file for `make` and `ninja`, as LLVM writes it: the output, a colon, and the files it depends on in
/// order of their names.
#[must_use]
pub fn dependency_file(output: &Path, dependencies: &[PathBuf]) -> String {
    let mut names: Vec<_> = dependencies.iter().map(|path| path.display().to_string()).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = format!("{}:", output.display());
    for name in names {
        text.push(' ');
        text.push_str(&name);
    }
    text.push('\n');
    text
}

/// Reads the standard input as text, for the input name `-`.
///
/// # Errors
/// What the system said, or that it is not UTF-8.
pub fn read_stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(arguments: &[&str]) -> Vec<String> {
        let arguments = arguments.iter().map(OsString::from);
        spell_options(arguments, &["dump-json", "max-errors"], &['I', 'D', 'o', 'd'])
            .into_iter()
            .map(|argument| argument.into_string().expect("UTF-8 went in"))
            .collect()
    }

    #[test]
    fn a_long_option_may_have_one_dash_and_a_value() {
        assert_eq!(spell(&["-dump-json", "-max-errors=3", "--dump-json"]), ["--dump-json", "--max-errors=3", "--dump-json"]);
    }

    #[test]
    fn a_letter_may_have_two_dashes_and_its_value_is_not_touched() {
        assert_eq!(spell(&["--I", "-dump-json", "--o=x", "-Ddump"]), ["-I", "-dump-json", "-o=x", "-Ddump"]);
    }

    #[test]
    fn what_follows_two_dashes_is_left_alone() {
        assert_eq!(spell(&["--", "-dump-json"]), ["--", "-dump-json"]);
    }

    #[test]
    fn what_is_no_option_of_ours_is_left_to_the_parser() {
        assert_eq!(spell(&["-", "-unknown", "---", "dump-json"]), ["-", "-unknown", "---", "dump-json"]);
    }

    #[test]
    fn an_unchanged_file_is_not_written_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out");
        assert!(write_output(&path, b"one", true).expect("written"));
        assert!(!write_output(&path, b"one", true).expect("compared"));
        assert!(write_output(&path, b"two", true).expect("written"));
        assert_eq!(fs::read(&path).expect("there"), b"two");
    }

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("a directory");
        let blocked = dir.path().join("is-a-directory");
        fs::create_dir(&blocked).expect("made");
        write_output(&blocked, b"text", false).expect_err("a directory cannot be replaced");
        write_output(&dir.path().join("missing/out"), b"text", false).expect_err("no such directory");
        let left: Vec<_> = fs::read_dir(dir.path()).expect("readable").map(|entry| entry.expect("entry").file_name()).collect();
        assert_eq!(left, ["is-a-directory"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_symbolic_links_stay() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        assert!(write_output(&link, b"new", false).expect("written"));
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn dependencies_are_sorted_and_named_once() {
        let dependencies = ["b.td", "a.td", "b.td"].map(PathBuf::from);
        assert_eq!(dependency_file(Path::new("out.inc"), &dependencies), "out.inc: a.td b.td\n");
    }
}

//! What the compiler says of the device's half, as whoever wrote the code should read it.
//!
//! Paths: images have none of this machine's directories in them (`Source::remap`), and rustc leaves them out of its
//! messages as well. They are put back here. Hints: what is a matter of course in an ordinary program, and not on a
//! device, the compiler cannot explain.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The compiler's message with paths that lead somewhere and with our hint, if we have one.
pub(crate) fn said(message: &Value, place: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<String> {
    let mut text = String::new();
    for line in message["rendered"].as_str()?.trim_end().lines() {
        text += &with_place(line, place).unwrap_or_else(|| line.to_owned());
        text.push('\n');
    }
    if message["level"].as_str().is_some_and(|level| level.starts_with("error"))
        && let Some(hint) = hint(message["code"]["code"].as_str(), message["message"].as_str()?)
    {
        text += &format!("   = help: {hint}\n");
    }
    Some(text)
}

/// A line that says where something is (`  --> PATH:LINE:COLUMN`), with the path from which the reader finds it.
fn with_place(line: &str, place: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<String> {
    let at = line.find("--> ").or_else(|| line.find("::: "))? + 4;
    let (arrow, rest) = line.split_at(at);
    if !arrow[..at - 4].trim().is_empty() {
        return None;
    }
    let (path, position) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
    let found = place(Path::new(path))?;
    Some(format!("{arrow}{}{position}", from_here(&found).display()))
}

/// As cargo shows paths: from the workspace's directory on, if they are in it.
fn from_here(path: &Path) -> &Path {
    static ROOT: std::sync::LazyLock<Option<PathBuf>> = std::sync::LazyLock::new(|| {
        let here = std::env::current_dir().ok()?;
        here.ancestors().find(|dir| dir.join("Cargo.lock").is_file()).map(Path::to_path_buf)
    });
    ROOT.as_ref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path)
}

/// What `alloc` has, by the names that everybody uses without an import.
const ALLOC: [(&str, &str); 10] = [
    ("String", "string::String"),
    ("ToString", "string::ToString"),
    ("Vec", "vec::Vec"),
    ("vec", "vec"),
    ("Box", "boxed::Box"),
    ("format", "format"),
    ("ToOwned", "borrow::ToOwned"),
    ("Rc", "rc::Rc"),
    ("Arc", "sync::Arc"),
    ("BTreeMap", "collections::BTreeMap"),
];

/// The way out of an error that the device is the reason of.
fn hint(code: Option<&str>, message: &str) -> Option<String> {
    let is_missing = message.starts_with("cannot find ") || message.starts_with("unresolved import") || message.contains("undeclared");
    let named: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if matches!(code, Some("E0432" | "E0433")) && named.iter().any(|name| *name == "std" || name.starts_with("std::")) {
        return Some(
            "kernels are `#![no_std]`: what is in `core` or `alloc` is there under these names (`extern crate alloc;`); files, time and printing are in \
             `hostcall::prelude`; a whole program with `std` is what `cargo hostcall new` without `--kernel` makes"
                .into(),
        );
    }
    if is_missing && let Some((name, path)) = named.first().and_then(|name| ALLOC.iter().find(|(known, _)| known == name)) {
        return Some(format!(
            "kernels are `#![no_std]`, and have no prelude with `{name}`: `extern crate alloc;` in the crate's root, and `use alloc::{path};` where it is used; \
             `.heap(bytes)` on the server's builder gives the kernel memory"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(level: &str, code: &str, message: &str, rendered: &str) -> String {
        let message = json!({"level": level, "code": {"code": code}, "message": message, "rendered": rendered});
        said(&message, &|path| (path == Path::new("demo/src/main.rs")).then(|| "/w/demo/src/main.rs".into())).expect("it is rendered")
    }

    #[test]
    fn a_place_is_one_that_the_reader_finds() {
        let text = shown(
            "error",
            "E0308",
            "mismatched types",
            "error[E0308]: mismatched types\n  --> demo/src/main.rs:3:5\n   ::: core/src/x.rs:1:1\n3 | a --> b\n",
        );
        assert_eq!(text, "error[E0308]: mismatched types\n  --> /w/demo/src/main.rs:3:5\n   ::: core/src/x.rs:1:1\n3 | a --> b\n");
    }

    #[test]
    fn what_only_std_has_is_told_with_the_way_out() {
        for (code, message, way) in [
            ("E0412", "cannot find type `String` in this scope", "use alloc::string::String;"),
            ("E0425", "cannot find type `Vec` in this scope", "use alloc::vec::Vec;"),
            ("E0433", "failed to resolve: use of undeclared type `Box`", "use alloc::boxed::Box;"),
            ("E0433", "cannot find type `Vec` in this scope", "extern crate alloc;"),
            ("", "cannot find macro `format` in this scope", "use alloc::format;"),
            ("E0432", "unresolved import `std`", "cargo hostcall new"),
            ("E0433", "failed to resolve: use of unresolved module or unlinked crate `std`", "`core` or `alloc`"),
        ] {
            assert!(shown("error", code, message, "error: x").contains(way), "{message}");
        }
        assert_eq!(shown("error", "E0412", "cannot find type `Strin` in this scope", "error: x"), "error: x\n");
        assert_eq!(shown("warning", "unused_imports", "unused import: `std`", "warning: x"), "warning: x\n");
    }
}

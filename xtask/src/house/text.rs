//! What tests can hold of the text: comments of at most 120 columns, pages of the guide of at most 200 lines, and one
//! version of each crate of others.

use std::fs;
use std::path::Path;

/// The most columns of a comment's line.
const COLUMNS: usize = 120;
/// The most lines of a page of the guide.
const LINES: usize = 200;

/// The files that git knows, with their texts. Those that a generator wrote follow its rules.
fn sources(endings: &[&str]) -> Vec<(String, String)> {
    let listed = std::process::Command::new("git").arg("ls-files").current_dir(crate::root()).output().expect("git is there");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("names are UTF-8");
    let written = |name: &&str| !["/generated/", "/fixtures/", "/corpus/"].iter().any(|place| name.contains(place));
    let wanted = |name: &&str| Path::new(name).extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted));
    let read = |name: &str| Some((name.to_owned(), fs::read_to_string(crate::root().join(name)).ok()?));
    listed.lines().filter(wanted).filter(written).filter_map(read).collect()
}

/// The lines of whole-line comments that are wider than they may be. A row of a table and code in a fence cannot be
/// broken.
fn wide(name: &str, text: &str, marks: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        let Some(said) = marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)) else {
            is_code = false;
            continue;
        };
        let said = said.trim_start();
        is_code ^= said.starts_with("```");
        if line.chars().count() > COLUMNS && !said.starts_with('|') && !is_code {
            found.push(format!("{name}:{}", number + 1));
        }
    }
    found
}

#[test]
fn lines_of_comments_have_at_most_120_columns() {
    let slashes = ["///", "//!", "//"];
    let mut found = Vec::new();
    for (name, text) in sources(&["rs", "c", "h", "cpp", "hpp", "cuh", "cu"]) {
        found.extend(wide(&name, &text, &slashes));
    }
    for (name, text) in sources(&["py", "toml", "sh"]) {
        found.extend(wide(&name, &text, &["#"]));
    }
    assert!(found.is_empty(), "{} lines of comments have more than {COLUMNS} columns: {found:#?}", found.len());
}

#[test]
fn what_is_no_text_may_be_wide() {
    let long = "word ".repeat(30);
    let text = format!("//! {long}\n//! | {long}|\n//! ```\n//! {long}\n//! ```\nlet a = \"{long}\";\n/// {long}\n");
    assert_eq!(wide("a.rs", &text, &["///", "//!", "//"]), ["a.rs:1", "a.rs:7"]);
}

#[test]
fn pages_of_the_guide_have_at_most_200_lines() {
    let pages = sources(&["md"]).into_iter().filter(|(name, _)| name.starts_with("docs/guide/"));
    let lines = pages.map(|(name, text)| (name, text.lines().count()));
    let long: Vec<_> = lines.filter(|(_, lines)| *lines > LINES).collect();
    assert!(long.is_empty(), "pages of the guide with more than {LINES} lines: {long:?}");
}

#[test]
fn versions_of_other_crates_stand_in_the_workspace() {
    let root: toml::Table = fs::read_to_string(crate::root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members = root["workspace"]["members"].as_array().expect("the workspace has members");
    let mut found = Vec::new();
    let mut seen = 0;
    for (name, text) in sources(&["toml"]) {
        let Some(dir) = name.strip_suffix("/Cargo.toml") else { continue };
        let is_member = members.iter().filter_map(toml::Value::as_str).any(|member| match member.strip_suffix("/*") {
            Some(parent) => Path::new(dir).parent() == Some(Path::new(parent)),
            None => dir == member,
        });
        if !is_member {
            continue;
        }
        seen += 1;
        let manifest: toml::Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let targets =
            manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten().filter_map(|(_, value)| value.as_table());
        for table in std::iter::once(&manifest).chain(targets) {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let listed = table.get(kind).and_then(toml::Value::as_table).into_iter().flatten();
                let versions = listed.filter(|(_, value)| value.get("path").is_none() && value.get("workspace").is_none());
                found.extend(versions.map(|(dependency, _)| format!("{name}: {dependency}")));
            }
        }
    }
    assert!(seen >= 30, "only {seen} members were found");
    assert!(found.is_empty(), "write `NAME.workspace = true`, and the version into [workspace.dependencies]: {found:#?}");
}

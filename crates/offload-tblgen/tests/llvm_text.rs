//! The text of the back ends in LLVM's dialect, for definitions that have one of everything.

mod support;

use std::path::{Path, PathBuf};

use support::{generate, program, run};

const ACTIONS: [&str; 10] = [
    "gen-api",
    "gen-doc",
    "gen-func-names",
    "gen-impl-func-decls",
    "gen-entry-points",
    "gen-print-header",
    "gen-exports",
    "gen-errcodes",
    "gen-info",
    "gen-get-info-wrappers",
];

fn everything() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llvm/everything.td")
}

fn text(action: &str, version: &str) -> String {
    generate(&["--dialect", "llvm", "--llvm-version", version, "--lints", "off", &format!("-{action}")], &everything())
}

#[test]
fn each_action_writes_its_text() {
    for action in ACTIONS {
        insta::assert_snapshot!(action, text(action, "23"));
    }
}

/// Lines that two versions of LLVM write differently.
fn differences(action: &str, versions: [&str; 2]) -> String {
    let [old, new] = versions.map(|version| text(action, version));
    similar_lines(&old, &new)
}

fn similar_lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same_begin = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    let (mut i, mut j) = (same_begin, same_begin);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if let Some(skip) = new[j.min(new.len())..].iter().position(|line| old.get(i) == Some(line)).filter(|skip| *skip < 3) {
            out.extend(new[j..j + skip].iter().map(|line| format!("+{line}\n")));
            j += skip;
        } else {
            out.extend(old.get(i).map(|line| format!("-{line}\n")));
            out.extend(new.get(j).map(|line| format!("+{line}\n")));
            (i, j) = (i + 1, j + 1);
        }
    }
    out
}

#[test]
fn versions_of_llvm_differ_where_they_do() {
    insta::assert_snapshot!("gen-print-header-22-to-23", differences("gen-print-header", ["22", "23"]));
    insta::assert_snapshot!("gen-api-23-to-24", differences("gen-api", ["23", "24"]));
    for action in ACTIONS {
        if !["gen-api", "gen-doc"].contains(&action) {
            assert_eq!(text(action, "23"), text(action, "24"), "{action}");
        }
    }
}

#[test]
fn the_version_follows_from_the_definitions_when_it_is_not_said() {
    let without = generate(&["--dialect", "llvm", "--lints", "off", "-gen-api"], &everything());
    assert_eq!(without, text("gen-api", "24"), "the class Function has `nodiscard`");
}

#[test]
fn what_a_back_end_is_about_must_be_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("empty.td");
    std::fs::write(&file, "include \"APIDefs.td\"\n").expect("written");
    for (action, part) in [("-gen-errcodes", "`ol_errc_t`"), ("-gen-info", "`ol_device_info_t`")] {
        let output = run(&[action, "--dialect", "llvm"], &file);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(part), "{said}");
    }
    assert!(generate(&["-gen-api", "--dialect", "llvm"], &file).contains("#pragma once"));
}

#[test]
fn a_property_without_a_type_is_an_error_where_types_are_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("untyped.td");
    let text = "def ol_x_info_t : Enum { let desc = \"d\"; let is_typed = 1; let etors = [Etor<\"BARE\", \"d\">]; }\n";
    std::fs::write(&file, format!("include \"APIDefs.td\"\n{text}")).expect("written");
    for action in ["-gen-api", "-gen-doc", "-gen-print-header"] {
        let output = run(&[action, "--dialect", "llvm"], &file);
        assert_eq!(output.status.code(), Some(1), "{action}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("OL_X_INFO_BARE") && said.contains("TaggedEtor"), "{said}");
    }
    assert!(generate(&["-gen-exports", "--dialect", "llvm"], &file).contains("VERS1.0"));
}

#[test]
fn a_field_of_a_wrong_kind_is_an_error_with_its_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("unset.td");
    std::fs::write(&file, "include \"APIDefs.td\"\ndef olThing : Function {\n  let desc = \"d\";\n  let params = [];\n}\n")
        .expect("written");
    let output = program().args(["-gen-api"]).arg(&file).output().expect("starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("olThing") && said.contains("returns") && said.contains("unset.td:"), "{said}");
}

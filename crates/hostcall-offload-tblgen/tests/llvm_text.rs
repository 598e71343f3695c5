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

/// Definitions in classes without `nodiscard`, which are LLVM 22's or 23's.
fn of_22_or_23(dir: &Path, more: &str) -> PathBuf {
    let classes = std::fs::read_to_string(support::api_dir().join("APIDefs.td")).expect("there");
    let classes: String = classes.lines().filter(|line| !line.contains("nodiscard")).map(|line| format!("{line}\n")).collect();
    let file = dir.join("old.td");
    let typed = "def ol_x_info_t : Enum { let desc = \"d\"; let is_typed = 1; let etors = [TaggedEtor<\"P\", \"void *\", \"d\">]; }\n";
    std::fs::write(&file, format!("{classes}{typed}{more}")).expect("written");
    file
}

#[test]
fn llvm_22_s_definitions_are_told_from_23_s_by_the_parameters_of_ol_init() {
    let dir = tempfile::tempdir().expect("a folder");
    let init = |params: &str| format!("def olInit : Function {{ let desc = \"d\"; let params = [{params}]; let returns = []; }}\n");
    let args = |more: &'static [&'static str]| [&["--lints", "off", "-gen-print-header"], more].concat();
    for (params, version) in [("", "22"), ("Param<\"const void*\", \"Args\", \"d\", PARAM_IN_OPTIONAL>", "23")] {
        let file = of_22_or_23(dir.path(), &init(params));
        let output = run(&args(&[]), &file);
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = generate(&if version == "22" { args(&["--llvm-version", "22"]) } else { args(&["--llvm-version", "23"]) }, &file);
        assert_eq!(String::from_utf8(output.stdout).expect("text"), said, "{version}");
    }
    let file = of_22_or_23(dir.path(), "");
    let output = run(&args(&[]), &file);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("warning: ") && said.contains("--llvm-version"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).expect("text"), generate(&args(&["--llvm-version", "23"]), &file));
    let same = run(&["--lints", "off", "-gen-func-names"], &file);
    assert!(same.stderr.is_empty(), "where both versions write the same, there is nothing to say");
}

#[test]
fn what_has_no_description_gets_no_header_and_no_documentation_as_in_llvm() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("bare.td");
    let text = "def ol_x_t : Struct { let members = [StructMember<\"int\", \"a\", ?>]; }\n";
    std::fs::write(&file, format!("include \"APIDefs.td\"\n{text}")).expect("written");
    for action in ["-gen-api", "-gen-doc"] {
        let output = run(&[action, "--lints", "off"], &file);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{action}");
        assert!(said.contains("bare.td:2:5: error: `ol_x_t` has no description") && said.contains("error: `a` has no"), "{said}");
    }
    assert!(generate(&["-gen-print-header", "--lints", "off"], &file).contains("ol_x_t"));
    std::fs::write(&file, format!("include \"APIDefs.td\"\n{}", text.replace("let m", "let desc = \"\"; let m").replace('?', "\"\"")))
        .expect("written");
    assert!(generate(&["-gen-api", "--lints", "off"], &file).contains("ol_x_t"), "an empty text is a description");
}

#[test]
fn untyped_memory_with_a_range_is_printed_as_an_address_since_it_has_no_elements() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("range.td");
    let definitions = "\
        include \"APIDefs.td\"\n\
        def olRead : Function {\n\
          let desc = \"reads\";\n\
          let params = [RangedParam<\"const void*\", \"From\", \"bytes\", PARAM_IN, Range<\"0\", \"Size\">>, Param<\"size_t\", \"Size\", \"how many\", PARAM_IN>];\n\
          let returns = [];\n\
        }\n";
    std::fs::write(&file, definitions).expect("written");
    let text = generate(&["-gen-print-header", "--dialect", "llvm", "--lints", "off"], &file);
    assert!(text.contains("printPtr(os, *params->pFrom);") && !text.contains("(*params->pFrom)[i]"), "{text}");
}

#[test]
fn documentation_takes_handles_of_any_name_as_llvm_s_does() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("handles.td");
    let handles = ["ol_a_handle_t", "ol_something", "ol_b"].map(|name| format!("def {name} : Handle {{ let desc = \"d\"; }}\n")).concat();
    std::fs::write(&file, format!("include \"APIDefs.td\"\n{handles}")).expect("written");
    let text = generate(&["-gen-doc", "--lints", "off"], &file);
    for line in ["struct ol_a_impl_t *ol_a_handle_t", "struct ol__impl_t *ol_something", "struct ol_b_impl_t *ol_b"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert_eq!(run(&["-gen-api", "--lints", "off"], &file).status.code(), Some(1), "the header refuses them");
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

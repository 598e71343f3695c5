//! What the lints find, where, and what they advise.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use support::{generate, run};

fn faults() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lints/faults.td")
}

fn said(args: &[&str]) -> (bool, String) {
    let output = run(&[&["--diagnostics=rich"], args].concat(), &faults());
    let text = String::from_utf8(output.stderr).expect("text");
    let text = text.replace(&faults().display().to_string(), "faults.td").replace(&support::api_dir().display().to_string(), "api");
    (output.status.success(), text)
}

/// How often each lint is named.
fn counts(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in text.lines().filter_map(|line| line.trim().strip_prefix("= lint: ")) {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn each_fault_is_found_where_it_is() {
    let (succeeded, text) = said(&["--lint", "--dialect", "llvm", "--lints", "error"]);
    assert!(!succeeded);
    insta::assert_snapshot!("faults", text);
}

#[test]
fn every_lint_finds_something() {
    let (_, text) = said(&["-gen-api", "--dialect", "llvm"]);
    let found = counts(&text);
    for lint in offload_tblgen::lint::Lint::ALL {
        assert!(found.contains_key(lint.name()), "{} finds nothing", lint.name());
    }
}

#[test]
fn faults_are_warnings_for_llvm_s_text_and_errors_for_ours_but_for_guesses() {
    let (succeeded, text) = said(&["-gen-func-names", "--dialect", "llvm"]);
    assert!(succeeded && text.contains("warning: [OT001]"), "{text}");
    let (succeeded, text) = said(&["--lint", "--dialect", "hostcall"]);
    let warnings: Vec<_> = text.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(!succeeded && text.contains("error: [OT001]") && warnings.iter().all(|line| line.starts_with("warning: [OT010]")), "{text}");
    assert_eq!(warnings.len(), 1, "{text}");
    let (succeeded, text) = said(&["-gen-func-names", "--dialect", "llvm", "--lints", "error"]);
    assert!(!succeeded && text.contains("error: [OT001]"), "{text}");
}

#[test]
fn a_pointer_beside_a_count_of_something_else_is_a_right_definition() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("right.td");
    let definitions = "\
        include \"APIDefs.td\"\n\
        def settings : ApiSettings<\"hostcall\">;\n\
        include \"Differences.td\"\n\
        include \"Common.td\"\n\
        include \"Platform.td\"\n\
        def ol_base_desc_t : Struct { let desc = \"has a base\"; let base_class = \"ol_base_desc_t\"; let members = []; }\n\
        def olTake : Function {\n\
          let desc = \"Takes one event, some times\";\n\
          let params = [\n\
            Param<\"ol_dimensions_t*\", \"Shape\", \"one shape\", PARAM_IN>,\n\
            Param<\"uint32_t\", \"Count\", \"how often it is taken\", PARAM_IN>,\n\
          ];\n\
          let returns = [];\n\
        }\n";
    std::fs::write(&file, definitions).expect("written");
    let header = generate(&["-gen-api", "--dialect", "hostcall"], &file);
    // A structure with a base needs nothing that nobody defines.
    assert!(header.contains("uint32_t stype;") && header.contains("olTake"), "{header}");
}

#[test]
fn lints_can_be_switched_off_one_by_one_or_all() {
    let (_, text) = said(&["-gen-api", "--dialect", "llvm", "--allow", "OT001", "--allow", "unknown-type"]);
    let found = counts(&text);
    assert!(
        !found.contains_key("unknown-return-code") && !found.contains_key("unknown-type") && found.contains_key("duplicate-name"),
        "{found:?}"
    );
    let (succeeded, text) = said(&["-gen-func-names", "--dialect", "llvm", "--lints", "off"]);
    assert!(succeeded && text.is_empty(), "{text}");
}

#[test]
fn definitions_without_an_api_have_no_faults() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("records.td");
    std::fs::write(&file, "class Animal<string n> { string name = n; }\ndef cat : Animal<\"Tom\">;\n").expect("written");
    assert!(generate(&["-print-records"], &file).contains("Tom"));
    assert!(generate(&["--lint"], &file).is_empty());
}

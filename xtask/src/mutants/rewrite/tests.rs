use std::path::Path;
use std::process::Command;

use super::super::list::read;
use super::super::tree::SWITCH_SOURCE;
use super::*;

const FIXTURE: &str = include_str!("fixture.rs.in");
const WHOLE: &str = "7 true false negative zero positive read write -4 3 true 12";

/// What is broken, by its line and the text in it, and what the fixture prints then.
const BROKEN: &[(&str, &str, &str, &str, &str)] = &[
    ("FnValue", "low <= x", "low <= x && x + 1 < high", "true", "7 true true negative zero positive read write -4 3 true 12"),
    ("BinaryOperator", "low <= x", "&&", "||", "7 true true negative zero positive read write -4 3 true 12"),
    ("BinaryOperator", "low <= x", "<=", ">", "7 false false negative zero positive read write -4 3 true 12"),
    ("BinaryOperator", "low <= x", "+", "-", "7 true true negative zero positive read write -4 3 true 12"),
    ("BinaryOperator", "low <= x", "+", "*", "7 true true negative zero positive read write -4 3 true 12"),
    ("BinaryOperator", "low <= x", "< ", "<=", "7 true true negative zero positive read write -4 3 true 12"),
    ("StructField", "Limits { depth", "depth: 7,", "", "0 true false negative zero positive read write -4 3 true 12"),
    ("MatchArmGuard", "\"negative\"", "x < T::default()", "true", "7 true false negative negative negative read write -4 3 true 12"),
    ("MatchArmGuard", "\"negative\"", "x < T::default()", "false", "7 true false zero zero positive read write -4 3 true 12"),
    ("BinaryOperator", "\"negative\"", "< ", ">", "7 true false zero zero negative read write -4 3 true 12"),
    ("UnaryOperator", "\"zero\"", "!", "", "7 true false negative positive zero read write -4 3 true 12"),
    ("MatchArm", "\"read\"", "0 => \"read\",", "", "7 true false negative zero positive none write -4 3 true 12"),
    ("MatchArm", "\"write\"", "1 | 2 => \"write\",", "", "7 true false negative zero positive read none -4 3 true 12"),
    ("FnValue", "-x", "-x", "1", "7 true false negative zero positive read write 1 3 true 12"),
    ("UnaryOperator", "-x", "-", "", "7 true false negative zero positive read write 4 3 true 12"),
    ("BinaryOperator", "sum += ", "+=", "-=", "7 true false negative zero positive read write -4 -3 true 12"),
    ("BinaryOperator", "if let", "> ", "<", "7 true false negative zero positive read write -4 3 false 12"),
    ("BinaryOperator", "x * 2", "*", "+", "7 true false negative zero positive read write -4 3 true 8"),
];

/// A list as cargo-mutants prints it.
fn list(broken: &[(&str, &str, &str, &str, &str)]) -> Vec<Mutant> {
    let entry = |(genre, line, text, replacement, _): &(&str, &str, &str, &str, &str)| {
        let (number, line) = FIXTURE.lines().enumerate().find(|(_, found)| found.contains(line)).unwrap();
        let column = line.find(text).unwrap();
        let end = column + text.trim_end().len();
        serde_json::json!({
            "name": format!("fixture.rs:{}:{}: {genre} {replacement}", number + 1, column + 1),
            "file": "fixture.rs", "function": null, "replacement": replacement, "genre": genre,
            "span": {"start": {"line": number + 1, "column": column + 1}, "end": {"line": number + 1, "column": end + 1}},
        })
    };
    read(&serde_json::Value::from(broken.iter().map(entry).collect::<Vec<_>>()).to_string()).unwrap()
}

fn rewritten(mutants: &[Mutant]) -> Rewritten {
    with_switches(FIXTURE, mutants)
}

fn with_switches(source: &str, mutants: &[Mutant]) -> Rewritten {
    rewrite(source, &mutants.iter().enumerate().collect::<Vec<_>>()).unwrap()
}

fn rustc(directory: &Path, arguments: &[&str]) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--edition=2024", "--cap-lints=allow"]).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn all_switches_of_a_file_compile_at_once_and_each_breaks_its_rule_alone() {
    let mutants = list(BROKEN);
    let file = with_switches(&without_const(FIXTURE, &BTreeSet::new()).unwrap(), &mutants);
    assert!(file.left.is_empty(), "{:?}", file.left);
    let directory = crate::target_directory().join(format!("mutants-fixture-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("switch.rs"), SWITCH_SOURCE).unwrap();
    std::fs::write(directory.join("fixture.rs"), &file.text).unwrap();
    rustc(&directory, &["--crate-type=rlib", "--crate-name=hostcall_mutant_switch", "switch.rs"]);
    rustc(&directory, &["--extern=hostcall_mutant_switch=libhostcall_mutant_switch.rlib", "-L.", "fixture.rs"]);
    let map = directory.join("reached");
    std::fs::write(&map, vec![0; mutants.len()]).unwrap();
    let run = |name: &str, value: &str| {
        let output = Command::new(directory.join("fixture")).env(name, value).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(run("HOSTCALL_MUTANTS_REACHED", map.to_str().unwrap()), WHOLE);
    assert!(std::fs::read(&map).unwrap().iter().all(|byte| *byte == 1), "every switch was reached");
    for (number, (.., expected)) in BROKEN.iter().enumerate() {
        assert_eq!(run("HOSTCALL_MUTANT", &number.to_string()), *expected, "{}", mutants[number].name);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn constants_and_what_they_call_are_left_to_cargo_mutants_and_what_cannot_be_parsed_has_no_switch() {
    let mutants = list(&[
        ("BinaryOperator", "const WIDTH", "*", "+", ""),
        ("BinaryOperator", "x * 2", "*", "+", ""),
        ("FnValue", "x * 2", "x * 2", "1", ""),
        ("BinaryOperator", "if let", "&&", "||", ""),
        ("BinaryOperator", "low <= x", "+", "< 1 <", ""),
    ]);
    let left = |called: &[&str]| -> Vec<Left> {
        let called = called.iter().map(|name| (*name).to_owned()).collect();
        with_switches(&without_const(FIXTURE, &called).unwrap(), &mutants).left.into_values().collect()
    };
    assert_eq!(left(&["twice"]), [Left::Alone, Left::Alone, Left::Alone, Left::Unviable, Left::Unviable]);
    assert_eq!(left(&[]), [Left::Alone, Left::Unviable, Left::Unviable]);
}

#[test]
fn an_error_of_the_compiler_is_blamed_on_the_innermost_switch() {
    let mutants = list(&[BROKEN[0], BROKEN[1], BROKEN[2], BROKEN[4]]);
    let file = rewritten(&mutants);
    let blame = |text: &str, within: Range<usize>| {
        let at = file.text.find(text).unwrap();
        file.blame(&(at + within.start..at + within.end))
    };
    assert_eq!(blame("return true", 0..6), Some((BTreeSet::from([0]), true)));
    assert_eq!(blame("{ x * 1 }", 2..7), Some((BTreeSet::from([3]), true)));
    assert_eq!(blame("{ low > x }", 0..1), Some((BTreeSet::from([2]), false)));
    assert_eq!(blame("fn main", 0..2), None);
}

//! Crates that mean to catch a panic, where none can be caught.
//!
//! Panics abort on a device. `catch_unwind` compiles, and never returns an error there: a panic in it ends the program.
//! So whoever compiles a crate of their own with it is told once, where it stands.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What cannot do what it is for.
const NAME: &str = "catch_unwind";
/// Places that are named; the others are counted.
const NAMED: usize = 3;

/// What is to be said of a crate whose dependency file this is; `None` if there is nothing.
pub(crate) fn about(dependencies: &str) -> Option<String> {
    let files = sources(dependencies);
    let places = files.into_iter().flat_map(|file| {
        let text = fs::read_to_string(Path::new(file)).unwrap_or_default();
        lines_with(&text).into_iter().map(move |line| format!("{file}:{line}")).collect::<Vec<_>>()
    });
    said(&places.collect::<Vec<_>>())
}

fn said(places: &[String]) -> Option<String> {
    let (named, more) = places.split_at(places.len().min(NAMED));
    let mut text = format!("warning: `{NAME}` catches nothing on a device, where a panic ends the program: {}", named.join(", "));
    if !more.is_empty() {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " and {} more", more.len());
    }
    (!named.is_empty()).then_some(text)
}

/// The sources in a dependency file: behind the colon of its first rule.
fn sources(dependencies: &str) -> Vec<&str> {
    let rule = dependencies.lines().find_map(|line| line.split_once(": "));
    rule.map_or_else(Vec::new, |(_, files)| files.split(' ').filter(|file| file.ends_with(".rs")).collect())
}

/// The numbers of the lines that name it, comments and `use` declarations not counted.
fn lines_with(source: &str) -> Vec<usize> {
    let names = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        code.match_indices(NAME).any(|(at, _)| {
            let after = code[at + NAME.len()..].chars().next();
            !inside(code[..at].chars().next_back()) && !inside(after)
        })
    };
    let uses = |line: &str| line.trim_start().trim_start_matches("pub ").starts_with("use ");
    source.lines().enumerate().filter(|(_, line)| names(line) && !uses(line)).map(|(index, _)| index + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_means_to_catch_a_panic_is_told_where() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("main.rs");
        let source =
            "use std::panic::catch_unwind;\n// catch_unwind\nfn main() {\n    let _ = catch_unwind(|| 1);\n    my_catch_unwinder();\n}\n";
        fs::write(&file, source).expect("written");
        let file = file.display();
        let said = about(&format!("/t/x.d: {file} /t/other.txt\n\n{file}:\n")).expect("there is one");
        assert_eq!(said, format!("warning: `catch_unwind` catches nothing on a device, where a panic ends the program: {file}:4"));
    }

    #[test]
    fn a_crate_that_catches_nothing_is_told_nothing() {
        assert_eq!(about("/t/x.d: /nowhere/main.rs\n"), None);
        assert_eq!(lines_with("fn f() {} // catch_unwind\nuse std::panic::{catch_unwind};\n"), [0; 0]);
    }

    #[test]
    fn of_many_places_the_first_are_named() {
        let places: Vec<String> = (1..6).map(|line| format!("a.rs:{line}")).collect();
        assert!(said(&places).expect("many").ends_with(": a.rs:1, a.rs:2, a.rs:3 and 2 more"));
    }
}

//! The first example of docs/guide/cpp.md: the files are what the page shows, and they do what it says.
#![allow(missing_docs, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use hostcall_cpp_tests::add42_images;
use hostcall_test_support::{built, has, succeed, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// The page's blocks of a language, in order.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/guide/cpp.md")).expect("the page");
    let opened = format!("```{language}\n");
    page.split(&opened).skip(1).map(|rest| rest.split("```").next().expect("a block").to_owned()).collect()
}

fn file(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Lines without what they are indented by.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Whether `part` is in `whole`, line after line, with nothing between them.
fn has_lines(whole: &str, part: &str) -> bool {
    let part = lines(part);
    lines(whole).windows(part.len()).any(|window| window == part)
}

#[test]
fn the_page_shows_the_files_of_its_first_example() {
    let kernel = file("examples/cuda/add42.cu");
    let code: String = kernel.lines().filter(|line| !line.starts_with("//")).map(|line| format!("{line}\n")).collect();
    assert_eq!(blocks("cpp")[0], code, "examples/cuda/add42.cu");
    let host = &blocks("rust,ignore")[0];
    assert!(has_lines(&file("tests/cpp/examples/cpp_add42.rs"), host), "examples/cpp_add42.rs is not\n{host}");
    // The trait has more functions than the page shows: each that it shows is there as it shows it, with what it says
    // of it.
    let (services, shown) = (file("examples/cuda/services.rs"), &blocks("rust")[0]);
    let (head, functions) = shown.split_once("pub trait Host {\n").expect("a trait");
    assert!(has_lines(&services, &format!("{head}pub trait Host {{")), "{head}");
    let functions: Vec<_> = lines(functions.trim_end().strip_suffix('}').expect("its end")).chunks(2).map(|pair| pair.join("\n")).collect();
    assert_eq!(functions.len(), 2);
    for function in functions {
        assert!(has_lines(&services, &function), "examples/cuda/services.rs has no\n{function}");
    }
}

/// Runs the host in a directory that has the image, and looks at what it prints.
fn runs(directory: &Path) {
    let host = built("hostcall-cpp-tests", &["--example", "cpp_add42"]);
    let said = text(&succeed(Command::new(&host[0]).current_dir(directory)).stdout);
    let values: Vec<f32> = (0..100u8).map(|i| f32::from(i) + 42.0).collect();
    let mut said: Vec<_> = said.lines().collect();
    said.sort_unstable();
    assert_eq!(said, [format!("{values:?}").as_str(), "the first lane is done"]);
}

#[test]
fn the_first_example_adds_42_and_logs_with_each_compiler() {
    for (compiler, image) in add42_images() {
        println!("{compiler}");
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::copy(image, directory.path().join("add42.so")).expect("the image");
        runs(directory.path());
    }
}

#[test]
fn the_first_example_runs_after_the_command_that_the_page_shows() {
    let command = blocks("console").into_iter().next().expect("a command");
    let mut words = command.split_whitespace();
    let compiler = words.next().expect("a compiler");
    if !has(compiler, compiler) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    // As it is written, but that the image goes elsewhere than into the repository.
    let words: Vec<_> = words.map(|word| if word == "add42.so" { directory.path().join(word) } else { word.into() }).collect();
    succeed(Command::new(compiler).args(words).current_dir(root()));
    runs(directory.path());
}

//! What a test can hold of the documentation: dependencies are explained, links lead somewhere, and pages have the form
//! that readers expect.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file below `dir` whose name ends with `name`, but for what is built or belongs to a test.
fn files(dir: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, file_name) = (entry.path(), entry.file_name());
        let file_name = file_name.to_string_lossy();
        if entry.file_type().unwrap().is_dir() {
            if !file_name.starts_with('.') && !file_name.starts_with("target") && file_name != "fixtures" {
                files(&path, name, found);
            }
        } else if file_name.ends_with(name) {
            found.push(path);
        }
    }
}

fn all(name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&crate::root(), name, &mut found);
    assert!(found.len() > 5, "{found:?}");
    found
}

/// Dependencies of a manifest that are not paths of this repository.
fn third_party(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
        } else if let Some((name, value)) = line.split_once('=')
            && inside
            && !line.starts_with([' ', '#'])
            && !value.contains("path =")
        {
            names.insert(name.trim().trim_end_matches(".workspace").to_owned());
        }
    }
    names
}

#[test]
fn every_dependency_is_explained() {
    let page = fs::read_to_string(crate::root().join("docs/reference/dependencies.md")).unwrap();
    // The first column.
    let explained: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next())
        .flat_map(|cell| cell.split(',').map(|name| name.trim_matches([' ', '`']).to_owned()))
        .collect();
    // Crates that are there to be tried are no dependencies.
    let tried = crate::root().join("tests/suites");
    let manifests = all("Cargo.toml").into_iter().filter(|path| !path.starts_with(&tried));
    let named: BTreeSet<String> = manifests.flat_map(|path| third_party(&fs::read_to_string(path).unwrap())).collect();
    let missing: Vec<_> = named.difference(&explained).collect();
    let gone: Vec<_> = explained.difference(&named).collect();
    assert!(missing.is_empty(), "docs/reference/dependencies.md gives no reason for {missing:?}");
    assert!(gone.is_empty(), "docs/reference/dependencies.md explains {gone:?}, which no Cargo.toml names");
}

#[test]
fn dependencies_are_told_from_paths_and_other_settings() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\nb = { path = \"../b\" }\n# c = \"1\"\n[lints.rust]\nd = \"warn\"\n\
        [target.'cfg(unix)'.dev-dependencies]\ne = { version = \"1\" }\n";
    assert_eq!(third_party(manifest), ["a", "e"].map(String::from).into());
}

/// The anchor that a heading gets, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn without_code(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// Words of a page that look like paths of this repository.
fn paths(page: &str) -> Vec<&str> {
    let words = page.split(|c: char| !(c.is_ascii_alphanumeric() || "_-./*{}@<>$".contains(c)));
    let of_ours =
        |word: &&str| ["crates/", "examples/", "tests/", "bench/", "xtask/", "fuzz/", "docs/"].iter().any(|top| word.starts_with(top));
    words.filter(of_ours).map(|word| word.trim_end_matches(['.', '/'])).filter(|word| !word.contains(['*', '{', '<', '$', '@'])).collect()
}

#[test]
fn paths_that_pages_name_are_there() {
    let root = crate::root();
    let crates: Vec<PathBuf> = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (mut gone, mut seen) = (Vec::new(), 0);
    // What has been changed is told with the names of its time.
    for page in all(".md").into_iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&page).unwrap();
        let beside = page.parent().unwrap().to_path_buf();
        for path in paths(&text) {
            seen += 1;
            // A page about a crate names its files as they are called there.
            let places = [&root, &beside].into_iter().chain(&crates);
            if !places.into_iter().any(|place| place.join(path).exists()) {
                gone.push(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(gone.is_empty(), "{gone:#?}");
    assert!(seen > 200, "{seen}");
}

/// Sources that the commands of a page name where they have gone to a directory of this repository.
fn sources_of_commands(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for block in page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let mut inside = None;
        for line in block.lines() {
            if let Some(directory) = line.trim().strip_prefix("cd ") {
                inside = Some(directory.trim()).filter(|directory| !directory.starts_with(['/', '~', '$']));
            } else if let Some(directory) = inside {
                let words: Vec<&str> = line.split_whitespace().collect();
                let sources = words.iter().enumerate().filter(|(at, word)| {
                    let is_source = [".c", ".cpp", ".cu", ".py", ".rs"].iter().any(|end| word.ends_with(end));
                    is_source && !word.starts_with(['/', '-', '$']) && (*at == 0 || words[at - 1] != "-o")
                });
                found.extend(sources.map(|(_, word)| (directory.to_owned(), (*word).to_owned())));
            }
        }
    }
    found
}

#[test]
fn sources_that_commands_name_are_where_they_go() {
    let mut seen = 0;
    for page in all(".md") {
        for (directory, source) in sources_of_commands(&fs::read_to_string(&page).unwrap()) {
            seen += 1;
            assert!(crate::root().join(&directory).join(&source).is_file(), "{}: no {source} in {directory}", page.display());
        }
    }
    assert!(seen > 0, "no page has such a command");
}

#[test]
fn paths_are_told_from_other_words_and_commands_from_what_they_make() {
    let page = "`crates/hostcall/src/lib.rs`, tests/x/*.rs and (docs/guide/c.md). /tests/no, `a/crates/no`";
    assert_eq!(paths(page), ["crates/hostcall/src/lib.rs", "docs/guide/c.md"]);
    let commands = "```sh\ncc a.c\ncd examples/c\ncc -O1 add42.c -o b.c /tmp/d.c\n```\n";
    assert_eq!(sources_of_commands(commands), [("examples/c".to_owned(), "add42.c".to_owned())]);
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    let mut broken = Vec::new();
    for page in all(".md") {
        let text = without_code(&fs::read_to_string(&page).unwrap());
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            // A picture need not be text.
            let found = match fs::read(&target) {
                Ok(bytes) => {
                    heading.is_empty()
                        || without_code(&String::from_utf8_lossy(&bytes))
                            .lines()
                            .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading)
                }
                Err(_) => target.is_dir(),
            };
            if !found {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn headings_have_the_anchors_that_links_use() {
    assert_eq!(anchor("(c) One owner after another"), "c-one-owner-after-another");
    assert_eq!(anchor("Scrubs: why 31 bits are enough"), "scrubs-why-31-bits-are-enough");
}

/// The most characters of a line of text.
const LINE: usize = 120;
/// The most lines of README.
const README_LINES: usize = 120;
/// The line before which a page shows something that runs.
const FIRST_CODE: usize = 30;

/// README and the pages of the book that are written by hand, with their names.
fn written() -> Vec<(String, String)> {
    let mut files = Vec::new();
    self::files(&crate::root().join("docs"), ".md", &mut files);
    files.push(crate::root().join("README.md"));
    files.sort();
    let name = |path: &Path| path.strip_prefix(crate::root()).unwrap().display().to_string();
    let pages = files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap()));
    let pages: Vec<_> = pages.filter(|(_, text)| !text.starts_with("<!-- Made from ")).collect();
    assert!(pages.len() > 15, "only {} pages", pages.len());
    pages
}

/// Lines of text that are too long: their number and their length. Code, tables, what a program writes between marks,
/// and lines that have no place to break (a link) may be longer.
fn long_lines(text: &str) -> Vec<(usize, usize)> {
    let (mut code, mut made) = (false, false);
    let mut long = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            code = !code;
        } else if trimmed.starts_with("<!-- final") {
            made = true;
        } else if trimmed.starts_with("<!-- /final") {
            made = false;
        }
        let length = line.chars().count();
        let breakable = trimmed.trim_start_matches(['*', '-', '#']).trim().contains(' ');
        if length > LINE && !code && !made && !trimmed.starts_with('|') && breakable {
            long.push((number, length));
        }
    }
    long
}

#[test]
fn lines_of_the_documentation_fit_a_screen() {
    let found: Vec<String> = written()
        .iter()
        .flat_map(|(name, text)| long_lines(text).into_iter().map(move |(line, length)| format!("{name}:{line}: {length} characters")))
        .collect();
    assert!(found.is_empty(), "lines of text have at most {LINE} characters: {found:#?}");
}

#[test]
fn long_lines_are_found_where_they_are_text() {
    let long = "word ".repeat(30);
    assert_eq!(long_lines(&format!("a\n{long}\n")), [(2, 150)]);
    assert_eq!(long_lines(&format!("* {}\n", "é ".repeat(70))), [(1, 142)]);
    assert_eq!(long_lines(&format!("{}\n", "é".repeat(119))), []);
    let link = format!("[a](https://example.org/{})", "x".repeat(120));
    for kept in [
        format!("```text\n{long}\n```\n"),
        format!("| {long} |\n"),
        format!("* {link}\n"),
        format!("<!-- final -->\n{long}\n<!-- /final -->\n"),
    ] {
        assert_eq!(long_lines(&kept), [], "{kept}");
    }
}

#[test]
fn the_readme_is_one_page() {
    let lines = fs::read_to_string(crate::root().join("README.md")).unwrap().lines().count();
    assert!(lines <= README_LINES, "README has {lines} lines; what does not fit into {README_LINES} belongs into docs/");
}

#[test]
fn pages_that_name_the_wire_name_the_one_that_there_is() {
    let wire = format!("ABI {}", hostcall_abi::ABI_VERSION);
    for page in ["CHANGELOG.md", "docs/reference/protocol.md"] {
        let text = fs::read_to_string(crate::root().join(page)).unwrap();
        let named = text.match_indices("ABI ").map(|(at, _)| &text[at..]).find(|rest| rest[4..].starts_with(|c: char| c.is_ascii_digit()));
        assert!(named.is_some_and(|rest| rest.starts_with(&wire)), "{page} does not name {wire} first");
    }
}

#[test]
fn every_page_is_in_the_summary_once() {
    let summary = fs::read_to_string(crate::root().join("docs/SUMMARY.md")).unwrap();
    let mut listed: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    listed.sort_unstable();
    let (docs, mut pages) = (crate::root().join("docs"), Vec::new());
    files(&docs, ".md", &mut pages);
    let mut pages: Vec<String> = pages.iter().map(|path| path.strip_prefix(&docs).unwrap().display().to_string()).collect();
    pages.retain(|name| name != "SUMMARY.md");
    pages.sort_unstable();
    assert_eq!(listed, pages, "docs/SUMMARY.md, and the pages that there are");
}

/// The line of the first code block.
fn first_code(text: &str) -> Option<usize> {
    text.lines().position(|line| line.trim_start().starts_with("```")).map(|at| at + 1)
}

#[test]
fn every_page_begins_with_something_that_runs() {
    let pages = written().into_iter().filter(|(name, _)| !name.ends_with("SUMMARY.md") && name != "docs/README.md");
    let late: Vec<String> =
        pages.filter(|(_, text)| first_code(text).is_none_or(|line| line >= FIRST_CODE)).map(|(name, _)| name).collect();
    assert!(late.is_empty(), "no code block before line {FIRST_CODE}: {late:?}");
}

#[test]
fn the_first_code_block_of_a_page_is_found() {
    assert_eq!(first_code("# A\n\n```sh\nls\n```\n```\n"), Some(3));
    assert_eq!(first_code("1. a\n   ```rust\n"), Some(2));
    assert_eq!(first_code("no code\n"), None);
}

/// Names of tests in a table's last column, as module and function.
fn named_tests(page: &str) -> Vec<(String, String)> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |")?.rsplit_once("| `").map(|cells| cells.1));
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let names = cells.filter_map(|cell| cell.split_once("::")).filter(|(module, test)| is_name(module) && is_name(test));
    names.map(|(module, test)| (module.to_owned(), test.to_owned())).collect()
}

#[test]
fn tests_that_the_page_for_julia_names_exist() {
    let page = fs::read_to_string(crate::root().join("docs/guide/from-julia.md")).unwrap();
    let named = named_tests(&page);
    assert!(named.len() > 10, "{named:?}");
    let folder = crate::root().join("tests/behaviours/tests/behaviours");
    for (module, test) in named {
        let source = fs::read_to_string(folder.join(format!("{module}.rs"))).unwrap_or_default();
        assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{module}::{test} is no test");
    }
}

#[test]
fn names_of_tests_are_found_in_the_last_column() {
    let page = "| behaviour | test |\n|---|---|\n| per lane | `a::b_c` |\n| printing | `print.rs`, `library.rs` |\n\
                | Julia | `x::y` | Rust |\n| Julia | `let x = host::f(1);` |\n";
    assert_eq!(named_tests(page), [("a".to_owned(), "b_c".to_owned())]);
}

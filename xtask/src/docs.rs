//! What the documentation must keep up with: dependencies are explained, links lead somewhere.

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
    let page = fs::read_to_string(crate::root().join("docs/dependencies.md")).unwrap();
    // The first column.
    let explained: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next())
        .flat_map(|cell| cell.split(',').map(|name| name.trim_matches([' ', '`']).to_owned()))
        .collect();
    // Crates that are there to be tried are no dependencies.
    let tried = crate::root().join("tests/crates");
    let manifests = all("Cargo.toml").into_iter().filter(|path| !path.starts_with(&tried));
    let named: BTreeSet<String> = manifests.flat_map(|path| third_party(&fs::read_to_string(path).unwrap())).collect();
    let missing: Vec<_> = named.difference(&explained).collect();
    let gone: Vec<_> = explained.difference(&named).collect();
    assert!(missing.is_empty(), "docs/dependencies.md gives no reason for {missing:?}");
    assert!(gone.is_empty(), "docs/dependencies.md explains {gone:?}, which no Cargo.toml names");
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
            let found = match fs::read_to_string(&target) {
                Ok(text) => {
                    heading.is_empty()
                        || without_code(&text).lines().any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading)
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

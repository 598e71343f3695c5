//! What tests can hold of how the house is laid out: arrows between crates and between folders, circles of files, the
//! way of a call, and a README in each folder. `docs/reference/architecture.md` says the same in prose, and is compared
//! with the sources here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod sources;
mod text;

use sources::Crate;

/// Crates in which files use each other in a circle, and the largest number of such circles that each may have. A
/// number here may fall, and must then be lowered; it may not rise.
const CIRCLES: [(&str, usize); 20] = [
    ("cargo-hostcall", 1),
    ("hostcall", 4),
    ("hostcall-abi", 2),
    ("hostcall-amd", 1),
    ("hostcall-build", 3),
    ("hostcall-c", 1),
    ("hostcall-device", 2),
    ("hostcall-idl", 2),
    ("hostcall-image", 1),
    ("hostcall-macros", 1),
    ("hostcall-offload-api", 2),
    ("hostcall-offload-tblgen", 4),
    ("hostcall-platform", 4),
    ("hostcall-python", 1),
    ("hostcall-remote", 2),
    ("hostcall-report", 1),
    ("hostcall-sinks", 3),
    ("hostcall-std", 3),
    ("hostcall-stream", 2),
    ("hostcall-tablegen", 6),
];

/// Files of `crates/hostcall` that use a folder above theirs, and why.
const UPWARDS: [(&str, &str); 2] = [
    // A runner of messages that came through no port fails as a server does, with the same errors.
    ("detached/runner.rs", "server/mod.rs"),
    // A batch becomes data, and data becomes replies, where a batch's parts are known.
    ("service/carry.rs", "detached/message.rs"),
];

fn page() -> String {
    read("docs/reference/architecture.md")
}

fn read(path: &str) -> String {
    fs::read_to_string(crate::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folders of a folder, sorted.
fn folders(dir: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(crate::root().join(dir)).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// A dependency on a crate of this repository: its folder's name, and whether a feature brings it.
fn own_dependencies(manifest: &toml::Table) -> BTreeSet<(bool, String)> {
    let mut found = BTreeSet::new();
    let targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    // The device's half of `hostcall` is another crate under its name.
    let targets = targets.filter(|(name, _)| !name.contains("cfg(hostcall_device)")).filter_map(|(_, value)| value.as_table());
    for table in std::iter::once(manifest).chain(targets) {
        let Some(dependencies) = table.get("dependencies").and_then(toml::Value::as_table) else { continue };
        for value in dependencies.values() {
            let Some(path) = value.get("path").and_then(toml::Value::as_str) else { continue };
            let name = Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
            if path.starts_with("../hostcall") {
                found.insert((value.get("optional").is_some(), name));
            }
        }
    }
    found
}

/// The arrows as the page shows them.
fn arrows() -> String {
    let mut lines = Vec::new();
    for dir in folders("crates") {
        let manifest: toml::Table = fs::read_to_string(dir.join("Cargo.toml")).unwrap().parse().unwrap();
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let used = own_dependencies(&manifest);
        let used: Vec<_> = used.into_iter().map(|(optional, name)| if optional { format!("{name}?") } else { name }).collect();
        lines.push(format!("{name:24} -> {}", if used.is_empty() { "(none)".to_owned() } else { used.join(", ") }));
    }
    lines.join("\n")
}

#[test]
fn the_page_has_the_arrows_that_the_manifests_have() {
    let page = page();
    let shown = page.split("<!-- arrows: crates -->\n```text\n").nth(1).and_then(|rest| rest.split("\n```").next());
    let arrows = arrows();
    assert!(shown == Some(arrows.as_str()), "docs/reference/architecture.md should show:\n{arrows}");
}

#[test]
fn every_crate_is_in_the_pages_table() {
    let page = page();
    let cells: BTreeSet<_> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next()).collect();
    let names: BTreeSet<_> = cells.iter().flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`').to_owned()).collect();
    let missing: Vec<_> = folders("crates")
        .into_iter()
        .map(|dir| dir.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| !names.contains(name) && !name.ends_with("24"))
        .collect();
    assert!(missing.is_empty(), "docs/reference/architecture.md does not say what {missing:?} own");
}

/// The rows of the table that follows `heading`: their cells.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let after = page.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
    let table = after.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|')).skip(2);
    table.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_function_of_the_way_of_a_call_stands_in_its_file() {
    let page = page();
    let rows = rows(&page, "## One call, on the host");
    assert!(rows.len() >= 8, "{rows:?}");
    for row in rows {
        for file in quoted(&row[2]) {
            let path = if file.starts_with("crates/") { file.to_owned() } else { format!("crates/hostcall/src/{file}") };
            let text = read(&path);
            for function in quoted(&row[1]) {
                let name = function.rsplit("::").next().unwrap();
                let stands = ["(", "<"].iter().any(|next| text.contains(&format!("fn {name}{next}")));
                assert!(stands, "{path} has no function {function}, which the way of a call in docs/reference/architecture.md names");
            }
        }
    }
}

#[test]
fn folders_of_hostcall_use_only_those_below_them() {
    let page = page();
    let order: Vec<Vec<String>> = rows(&page, "## Folders of `crates/hostcall`")
        .iter()
        .map(|row| quoted(&row[0]).into_iter().map(|folder| folder.trim_end_matches('/').to_owned()).collect())
        .collect();
    let floor = |folder: &str| order.iter().position(|row| row.iter().any(|name| name == folder));
    let hostcall = Crate::read(&crate::root().join("crates/hostcall/src"));
    let mut wrong = BTreeSet::new();
    for (from, to) in hostcall.arrows() {
        let [from_folder, to_folder] = [&from, &to].map(|file| file.split('/').next().unwrap_or_default().to_owned());
        if let (Some(above), Some(below)) = (floor(&from_folder), floor(&to_folder))
            && below < above
            && !UPWARDS.contains(&(from.as_str(), to.as_str()))
        {
            wrong.insert(format!("{from} uses {to}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn circles_of_files_are_known() {
    let known: BTreeMap<_, _> = CIRCLES.into();
    let mut found = BTreeMap::new();
    let mut text = String::new();
    for dir in folders("crates") {
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let circles = Crate::read(&dir.join("src")).circles();
        for circle in &circles {
            text += &format!("{name}: {}\n", circle.join(", "));
        }
        if !circles.is_empty() {
            found.insert(name, circles.len());
        }
    }
    let found: BTreeMap<&str, usize> = found.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(found, known, "circles of files, and those that are known; all of them:\n{text}");
}

#[test]
fn every_folder_has_a_readme_that_fits_a_screen() {
    let groups = ["crates", "examples", "tests", "bench", "include", "fuzz", "xtask", "tests/suites"];
    let groups = groups.map(|dir| crate::root().join(dir)).into_iter();
    let within = folders("crates").into_iter().chain(folders("tests"));
    for dir in groups.chain(within) {
        let readme = dir.join("README.md");
        let text = fs::read_to_string(&readme).unwrap_or_else(|error| panic!("{}: {error}", readme.display()));
        let lines = text.lines().count();
        assert!(lines <= 20, "{} has {lines} lines: 20 say what it is, what it is not, and where to begin", readme.display());
    }
}

//! Which files of a crate use which, read from their text.
//!
//! A path that begins with `crate`, `super`, `self` or the name of a module declared in the same file leads to the file
//! of the longest part of it that is a module; where that file only has the name from another one, to that one. A file
//! that hands on what its submodules define does not use them by that. Tests do not count: what a file has behind
//! `#[cfg(test)]`, and files of tests. Macros' contents count like everything else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of a crate: by their paths, as `serving::ports`, the files, and what those say.
pub(super) struct Crate {
    modules: BTreeMap<Vec<String>, (String, String)>,
}

impl Crate {
    /// Reads what lies below `src`.
    pub(super) fn read(src: &Path) -> Self {
        let mut modules = BTreeMap::new();
        walk(src, src, &mut modules);
        Self { modules }
    }

    /// A crate of these files, for tests.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self { modules: files.iter().map(|(file, text)| (module_of(file), ((*file).to_owned(), bare(text)))).collect() }
    }

    /// Pairs of files, the first of which uses the second.
    pub(super) fn arrows(&self) -> BTreeSet<(String, String)> {
        let mut arrows = BTreeSet::new();
        for (module, (file, text)) in &self.modules {
            for Found { path, handed_on } in paths(text) {
                let Some(used) = self.target(module, &path, 0) else { continue };
                let (target, _) = &self.modules[&used];
                if target != file && !(handed_on && used.starts_with(module)) {
                    arrows.insert((file.clone(), target.clone()));
                }
            }
        }
        arrows
    }

    /// The module that a path within `module` leads to.
    fn target(&self, module: &[String], path: &[String], depth: u32) -> Option<Vec<String>> {
        let mut at = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "super" => module.split_last()?.1.to_vec(),
            "self" => module.to_vec(),
            _ => return None,
        };
        for segment in &path[1..] {
            match segment.as_str() {
                "super" => at = at.split_last()?.1.to_vec(),
                "self" => {}
                name => {
                    at.push(name.to_owned());
                    if !self.modules.contains_key(&at) {
                        at.pop();
                        return self.origin(at, name, depth);
                    }
                }
            }
        }
        self.modules.contains_key(&at).then_some(at)
    }

    /// Where the module `at` has `name` from: itself, unless it only hands it on.
    fn origin(&self, at: Vec<String>, name: &str, depth: u32) -> Option<Vec<String>> {
        let (_, text) = self.modules.get(&at)?;
        // A name that leads in a circle of `use` would not compile; a path that is misread may.
        if depth < 8 {
            for Found { path, handed_on } in paths(text) {
                if handed_on && path.len() > 1 && path.last().is_some_and(|last| last == name) {
                    return self.target(&at, &path, depth + 1).or(Some(at));
                }
            }
        }
        Some(at)
    }

    /// Sets of files each of which leads to each other, of two or more.
    pub(super) fn circles(&self) -> Vec<Vec<String>> {
        let arrows = self.arrows();
        let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (file, _) in self.modules.values() {
            let mut seen = BTreeSet::new();
            let mut left = vec![file.as_str()];
            while let Some(from) = left.pop() {
                for (_, to) in arrows.range((from.to_owned(), String::new())..).take_while(|(at, _)| at == from) {
                    if seen.insert(to.as_str()) {
                        left.push(to);
                    }
                }
            }
            reach.insert(file, seen);
        }
        let mut circles = BTreeSet::new();
        for (file, reached) in &reach {
            let circle: Vec<String> = reached.iter().filter(|other| reach[*other].contains(file)).map(|name| (*name).to_owned()).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }
}

fn walk(src: &Path, dir: &Path, modules: &mut BTreeMap<Vec<String>, (String, String)>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_tests = name == "tests" || name == "bin" || name.ends_with("tests.rs") || name == "generated";
        if is_tests {
            continue;
        }
        if path.is_dir() {
            walk(src, &path, modules);
        } else if name.ends_with(".rs") {
            let file = path.strip_prefix(src).unwrap().display().to_string();
            modules.insert(module_of(&file), (file, bare(&fs::read_to_string(&path).unwrap())));
        }
    }
}

/// The module that a file is.
fn module_of(file: &str) -> Vec<String> {
    let file = file.trim_end_matches(".rs");
    let parts = file.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main"));
    parts.map(str::to_owned).collect()
}

/// The text without comments, strings, and what is for tests only (which stands last in a file here).
fn bare(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        // Paths do not stand in strings often enough to matter; a quote that opens a string ends what is read of it.
        for (i, piece) in code.split('"').enumerate() {
            if i % 2 == 0 {
                out.push_str(piece);
            }
        }
        out.push('\n');
    }
    out
}

/// A path that leads within the crate.
struct Found {
    path: Vec<String>,
    /// Whether it stands in a `pub use`.
    handed_on: bool,
}

/// All paths of a text that lead within the crate, with the groups of `use` spelt out.
fn paths(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let declared: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            let line = line.trim();
            let name = line.rsplit_once("mod ")?.1.strip_suffix(';')?;
            (line.starts_with("mod ") || line.starts_with("pub")).then_some(name)
        })
        .collect();
    for root in ["crate", "super", "self"].into_iter().chain(declared.iter().copied()) {
        let mut from = 0;
        while let Some(at) = text[from..].find(&format!("{root}::")).map(|at| from + at) {
            let before = &text[..at];
            if !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$')) {
                let start = if matches!(root, "crate" | "super" | "self") { vec![] } else { vec!["self".to_owned()] };
                let statement = before.rsplit([';', '}']).next().unwrap_or_default();
                let handed_on =
                    statement.lines().next_back().is_some_and(|line| line.trim_start().starts_with("pub") && line.contains("use "));
                let mut trees = Vec::new();
                expand(&start, &text[at..], &mut trees);
                found.extend(trees.into_iter().map(|path| Found { path, handed_on }));
            }
            from = at + root.len() + 2;
        }
    }
    found
}

/// The paths of one tree, as `a::{b, c::d}`.
fn expand(start: &[String], tree: &str, found: &mut Vec<Vec<String>>) -> usize {
    let mut path = start.to_vec();
    let mut at = 0;
    loop {
        let length = tree[at..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tree.len() - at);
        if length > 0 {
            path.push(tree[at..at + length].to_owned());
            at += length;
        }
        if !tree[at..].starts_with("::") {
            break;
        }
        at += 2;
        if tree[at..].starts_with('{') {
            at += 1;
            loop {
                at += tree[at..].find(|c: char| !c.is_whitespace() && c != ',').unwrap_or(tree.len() - at);
                if at >= tree.len() || tree[at..].starts_with('}') {
                    return (at + 1).min(tree.len());
                }
                let taken = expand(&path, &tree[at..], found);
                // `as name`, `*`, or something that is no tree of a `use`.
                let end = tree[at + taken..].find([',', '}']).map_or(tree.len(), |end| at + taken + end);
                at = end.max(at + 1);
            }
        }
    }
    found.push(path);
    at
}

#[test]
fn files_that_use_each_other_are_a_circle() {
    let circle = Crate::of(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "use crate::b::{B, Other};\n"),
        ("b.rs", "use super::{a::A, c};\nfn f() { c::g() }\n"),
        ("c.rs", "// crate::a::A\nfn g() { let _ = \"crate::a\"; }\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
    ]);
    assert_eq!(circle.circles(), [["a.rs", "b.rs"]]);
    assert!(circle.arrows().contains(&("b.rs".into(), "c.rs".into())));
}

#[test]
fn a_path_leads_to_the_deepest_module_of_it() {
    let nested = Crate::of(&[
        ("lib.rs", "mod outer;"),
        ("outer/mod.rs", "mod inner;\npub use inner::deep::Thing;"),
        ("outer/inner/mod.rs", "pub mod deep;"),
        ("outer/inner/deep.rs", "use super::super::Item;\nuse crate::outer::inner::{self, deep};"),
        ("other.rs", "use crate::outer::{self, Thing};"),
    ]);
    let arrows: Vec<_> = nested.arrows().into_iter().collect();
    let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    // What `outer` hands on it does not use, and who uses it uses the file that defines it.
    assert_eq!(
        arrows,
        [
            arrow("other.rs", "outer/inner/deep.rs"),
            arrow("other.rs", "outer/mod.rs"),
            arrow("outer/inner/deep.rs", "outer/inner/mod.rs"),
            arrow("outer/inner/deep.rs", "outer/mod.rs"),
        ]
    );
}

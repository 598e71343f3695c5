//! The book's pages as the site has them: their links to files of the repository that are no part of the book lead to
//! the repository on the web.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// What README says of the documentation of items, and what the site's first page says instead.
const ITEMS: (&str, &str) = ("`cargo doc --workspace --no-deps --open` shows that", "[the API's pages](api/index.html) show that");

/// Copies the book's pages and pictures from `docs` to `to`, with links as the site needs them. `docs` lies in the root
/// of what `repository` is the address of.
pub(super) fn copy(docs: &Path, to: &Path, repository: &str) -> Result<()> {
    let root = docs.parent().context("the book lies in the repository")?;
    let mut dirs = vec![docs.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        let there = to.join(dir.strip_prefix(docs)?);
        fs::create_dir_all(&there)?;
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            let copy = there.join(path.file_name().unwrap_or_default());
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path)?;
                let mut text = with_links(&text, dir.strip_prefix(root)?, root, repository);
                if path == docs.join("README.md") {
                    ensure!(text.contains(ITEMS.0), "docs/README.md does not say any more that {}", ITEMS.0);
                    text = text.replace(ITEMS.0, ITEMS.1);
                }
                fs::write(copy, text)?;
            } else {
                fs::copy(&path, copy)?;
            }
        }
    }
    Ok(())
}

/// The text of a page in the folder `dir` of the repository, with other links where they lead out of `docs`.
fn with_links(text: &str, dir: &Path, root: &Path, repository: &str) -> String {
    let mut out = String::new();
    for (number, part) in text.split("```").enumerate() {
        if number > 0 {
            out += "```";
        }
        // Every second part is code.
        if number % 2 == 1 {
            out += part;
            continue;
        }
        let mut rest = part;
        while let Some(at) = rest.find("](") {
            let (before, after) = rest.split_at(at + 2);
            let link = after.split([')', ' ', '\n']).next().unwrap_or_default();
            out += before;
            match outside(link, dir, root) {
                Some((kind, path, anchor)) => out += &format!("{repository}/{kind}/main/{}{anchor}", path.display()),
                None => out += link,
            }
            rest = &after[link.len()..];
        }
        out += rest;
    }
    out
}

/// What a link leads to outside of the book: whether it is a file (`blob`) or a folder (`tree`), where it lies in the
/// repository, and the anchor.
fn outside<'a>(link: &'a str, dir: &Path, root: &Path) -> Option<(&'static str, PathBuf, &'a str)> {
    let (path, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
    if path.is_empty() || path.contains(':') {
        return None;
    }
    let mut there = PathBuf::new();
    for part in dir.join(path).components() {
        match part {
            Component::ParentDir => drop(there.pop()),
            Component::Normal(name) => there.push(name),
            _ => {}
        }
    }
    let is_page = root.join(&there).is_file();
    (!there.starts_with("docs")).then_some((if is_page { "blob" } else { "tree" }, there, anchor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        with_links(text, Path::new("docs/guide"), &crate::root(), "https://example.org/it")
    }

    #[test]
    fn links_out_of_the_book_lead_to_the_repository() {
        assert_eq!(
            written("[a](../../CONTRIBUTING.md#a-release) ![b](../../crates)."),
            "[a](https://example.org/it/blob/main/CONTRIBUTING.md#a-release) ![b](https://example.org/it/tree/main/crates)."
        );
    }

    #[test]
    fn other_links_and_code_stay_as_they_are() {
        let text = "[a](start.md) [b](../reference/protocol.md#x) [c](#here) [d](https://x.org/../../y)\n```\n[e](../../Cargo.toml)\n```\n";
        assert_eq!(written(text), text);
    }

    #[test]
    fn the_first_page_leads_to_the_pages_of_items() {
        let dir = tempfile::tempdir().unwrap();
        copy(&crate::root().join("docs"), dir.path(), "https://example.org/it").unwrap();
        let page = fs::read_to_string(dir.path().join("README.md")).unwrap();
        assert!(page.contains("](api/index.html)") && dir.path().join("call.svg").is_file(), "{page}");
    }
}

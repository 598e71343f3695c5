//! Links of a static site: each local one leads to a file of the site, and to an anchor that this file has. Those to
//! the repository on the web lead to a file of this checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use super::html;

/// What a page is to others.
#[derive(Debug, Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
    /// What links are relative to, if it is not the page.
    base: Option<String>,
    /// The page that a reader sees at once instead.
    redirect: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) pages: usize,
    /// Links to files and anchors of the site.
    pub(super) local: usize,
    /// Links to files of the repository on the web.
    pub(super) repository: usize,
    /// Other links, which nobody has followed.
    pub(super) elsewhere: usize,
    /// Page, link, and what is wrong with it.
    pub(super) broken: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { pages, local, repository, elsewhere, broken } = self;
        let broken = broken.len();
        write!(
            f,
            "{pages} pages, {local} links within the site, {repository} to the repository, {elsewhere} to other sites (not followed), {broken} broken"
        )
    }
}

/// Attributes that hold an address, by element.
const ADDRESSES: [(&str, &str); 8] = [
    ("a", "href"),
    ("area", "href"),
    ("link", "href"),
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("use", "href"),
];

fn page(text: &str) -> Page {
    let mut page = Page::default();
    for tag in html::tags(text) {
        page.anchors.extend(tag.get("id").map(str::to_owned));
        match tag.name.as_str() {
            "base" => page.base = tag.get("href").map(str::to_owned),
            "a" => page.anchors.extend(tag.get("name").map(str::to_owned)),
            "meta" if tag.get("http-equiv").is_some_and(|kind| kind.eq_ignore_ascii_case("refresh")) => {
                let content = tag.get("content").unwrap_or_default();
                page.redirect = content.to_ascii_lowercase().find("url=").map(|at| content[at + 4..].to_owned());
                page.links.extend(page.redirect.clone());
            }
            _ => {}
        }
        let addresses = ADDRESSES.iter().filter(|(name, _)| *name == tag.name);
        page.links.extend(addresses.filter_map(|(_, attribute)| tag.get(attribute)).map(str::to_owned));
    }
    page
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
enum Leads {
    /// To a path below the site, and an anchor, which may be empty.
    Here(PathBuf, String),
    /// To a path below the checkout.
    Repository(PathBuf),
    Elsewhere,
    /// Above the site.
    Out,
}

/// Follows a link of the page at `from`, a path below the site.
fn follow(link: &str, from: &Path, base: Option<&str>, repository: &str) -> Leads {
    if let Some(rest) = link.strip_prefix(repository)
        && let Some(path) = ["/blob/main/", "/tree/main/", "/edit/main/"].iter().find_map(|kind| rest.strip_prefix(kind))
    {
        let path = path.split(['#', '?']).next().unwrap_or_default();
        return below(Path::new(""), &decoded(path)).map_or(Leads::Out, Leads::Repository);
    }
    let is_scheme = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if link.starts_with("//") || link.split_once(':').is_some_and(|(name, _)| is_scheme(name)) {
        return Leads::Elsewhere;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = decoded(path.split('?').next().unwrap_or_default());
    let beside = from.parent().unwrap_or(Path::new(""));
    let there = match (path.as_str(), base) {
        ("", None) => Some(from.to_path_buf()),
        (path, base) => {
            let base = base.and_then(|base| below(beside, base));
            below(base.as_deref().unwrap_or(beside), path)
        }
    };
    there.map_or(Leads::Out, |there| Leads::Here(there, anchor.to_owned()))
}

/// `path` from the folder `dir` on, without `.` and `..`; nothing if it leads above all.
fn below(dir: &Path, path: &str) -> Option<PathBuf> {
    let mut there = if path.starts_with('/') { PathBuf::new() } else { dir.to_path_buf() };
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::Normal(name) => there.push(name),
            Component::ParentDir if !there.pop() => return None,
            _ => {}
        }
    }
    Some(there)
}

/// The text with the bytes that `%` and two digits stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let byte = (first == b'%').then(|| after.get(..2)).flatten().and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a page has the anchor, as it stands in a link or without escapes: rustdoc's anchors have escapes of their
/// own. Pages of sources have an anchor for each line, and a script of rustdoc's marks lines from one to another.
fn has(page: &Page, anchor: &str) -> bool {
    let is_there = |anchor: &str| page.anchors.contains(anchor) || page.anchors.contains(&decoded(anchor));
    let lines = || anchor.split_once('-').filter(|(first, last)| [first, last].iter().all(|line| line.parse::<u32>().is_ok()));
    anchor.is_empty() || is_there(anchor) || lines().is_some_and(|(first, last)| is_there(first) && is_there(last))
}

/// Files below the site with this ending, sorted, as paths in it.
pub(super) fn files(site: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let (mut found, mut dirs) = (Vec::new(), vec![site.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path.strip_prefix(site)?.to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Follows every link of every page below `site`. `repository` is the address of what `checkout` is a checkout of.
pub(super) fn check(site: &Path, repository: &str, checkout: &Path) -> Result<Report> {
    let mut pages = BTreeMap::new();
    for path in files(site, "html")? {
        let text = fs::read_to_string(site.join(&path)).with_context(|| format!("cannot read {}", path.display()))?;
        pages.insert(path, page(&text));
    }
    let mut report = Report { pages: pages.len(), ..Report::default() };
    for (from, page) in &pages {
        for link in &page.links {
            let wrong = match follow(link, from, page.base.as_deref(), repository) {
                Leads::Elsewhere => {
                    report.elsewhere += 1;
                    None
                }
                Leads::Out => Some("leads out of the site"),
                Leads::Repository(path) => {
                    report.repository += 1;
                    (!checkout.join(path).exists()).then_some("the repository has no such file")
                }
                // rustdoc names a list of implementations in other crates, whether or not there are any.
                Leads::Here(path, _)
                    if path.extension().is_some_and(|kind| kind == "js") && path.iter().any(|name| name == "trait.impl") =>
                {
                    None
                }
                Leads::Here(mut path, anchor) => {
                    report.local += 1;
                    if site.join(&path).is_dir() {
                        path.push("index.html");
                    }
                    match pages.get(&path) {
                        Some(page) => {
                            // Where a page leads on at once, rustdoc's script takes the anchor with it.
                            let on = page.redirect.as_deref().map(|link| follow(link, &path, page.base.as_deref(), repository));
                            let page = match &on {
                                Some(Leads::Here(on, _)) => pages.get(on).unwrap_or(page),
                                _ => page,
                            };
                            (!has(page, &anchor)).then_some("the page has no such anchor")
                        }
                        None => (!site.join(&path).is_file()).then_some("there is no such file"),
                    }
                }
            };
            report.broken.extend(wrong.map(|wrong| format!("{}: {link}: {wrong}", from.display())));
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPOSITORY: &str = "https://example.org/it";

    #[test]
    fn links_are_followed_from_their_page() {
        let from = Path::new("guide/start.html");
        let leads = |link| follow(link, from, None, REPOSITORY);
        let here = |path: &str, anchor: &str| Leads::Here(path.into(), anchor.into());
        assert_eq!(leads("../index.html?a=b#c%20d"), here("index.html", "c%20d"));
        assert_eq!(leads("#c"), here("guide/start.html", "c"));
        assert_eq!(leads("/api/"), here("api", ""));
        assert_eq!(leads("../../x"), Leads::Out);
        assert_eq!(leads("https://example.org/it/blob/main/a/b.rs#L1"), Leads::Repository("a/b.rs".into()));
        assert_eq!(leads("https://example.org/it/issues"), Leads::Elsewhere);
        assert_eq!(["//x.org", "mailto:a@b", "javascript:void(0)"].map(leads), [const { Leads::Elsewhere }; 3]);
        assert_eq!(follow("x.html", from, Some("/"), REPOSITORY), here("x.html", ""));
    }

    /// A site of two pages, of which the first is given.
    fn checked(first: &str) -> Report {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        write("index.html", first);
        write("sub/index.html", "<h1 id=top>T</h1><a id=10></a><a id=20></a><i id='of%3CT%3E'></i><i id='a b'></i>");
        write("on.html", "<meta http-equiv=refresh content='0;URL=sub/index.html'>");
        write("plot.svg", "");
        check(dir.path(), REPOSITORY, &crate::root()).unwrap()
    }

    #[test]
    fn links_that_lead_somewhere_are_counted() {
        let report = checked(
            "<a href='sub/#top'></a><a href='sub/index.html#10-20'></a><img src=plot.svg><a href=https://x.org></a>\
             <a href='https://example.org/it/blob/main/Cargo.toml'></a><a href='' id=x></a><a href='#x'></a>\
             <a href='sub/#of%3CT%3E'></a><a href='sub/#a%20b'></a><a href='on.html#top'></a>",
        );
        assert_eq!(report.to_string(), "3 pages, 9 links within the site, 1 to the repository, 1 to other sites (not followed), 0 broken");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named_with_its_page() {
        for (page, wrong) in [
            ("<a href=gone.html>", "index.html: gone.html: there is no such file"),
            ("<a href='sub/#gone'>", "index.html: sub/#gone: the page has no such anchor"),
            ("<a href='sub/#10-21'>", "index.html: sub/#10-21: the page has no such anchor"),
            ("<a href='#gone'>", "index.html: #gone: the page has no such anchor"),
            ("<img src=gone.svg>", "index.html: gone.svg: there is no such file"),
            ("<script src=gone.js></script>", "index.html: gone.js: there is no such file"),
            ("<a href=../x>", "index.html: ../x: leads out of the site"),
            ("<a href='on.html#gone'>", "index.html: on.html#gone: the page has no such anchor"),
            ("<meta http-equiv=refresh content='0;URL=gone.html'>", "index.html: gone.html: there is no such file"),
            (
                "<a href=https://example.org/it/blob/main/gone>",
                "index.html: https://example.org/it/blob/main/gone: the repository has no such file",
            ),
        ] {
            assert_eq!(checked(page).broken, [wrong]);
        }
    }
}

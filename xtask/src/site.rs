//! `cargo xtask site`: the book and the API's pages as one static site, `target/site`, and what is true of it.
//!
//! * `/` is the book, by mdBook. Its links to files that are no part of it lead to the repository on the web.
//! * `/api/` is what rustdoc makes of the crates that users name in their own `Cargo.toml`, with the features that
//!   `docs.rs` takes: of `hostcall` the host's half and, as the module `device`, the device's.
//!
//! The check follows all links, and looks at the pages in a browser: on a phone, and in dark themes.

#[expect(dead_code, reason = "the tests of reports use the rest")]
#[path = "../../crates/hostcall-report/tests/support/browser.rs"]
pub(crate) mod browser;
mod html;
mod links;
mod look;
mod source;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use crate::steps::Steps;

/// The version of mdBook that makes the site: another one may make other pages.
const MDBOOK: &str = "0.5.4";

/// The crates whose pages the site has: what users name in their own `Cargo.toml`, and what these show of others. Each
/// stands behind those that its pages lead to: rustdoc has to find their pages.
const CRATES: [&str; 11] = [
    "hostcall-abi",
    "hostcall-error",
    "hostcall-macros",
    "hostcall-device",
    "hostcall-image",
    "hostcall-build",
    "hostcall-platform",
    "hostcall-top",
    "hostcall-stream",
    "hostcall-report",
    "hostcall",
];

/// A link in what `tracing` says of a trait, which rustdoc copies into the page of every type, and where it leads.
const TRACING: (&str, &str) = ("href=\"dispatcher#", "href=\"https://docs.rs/tracing/latest/tracing/dispatcher/index.html#");

/// Lines of sources scroll by themselves on narrow screens, and not the page.
const SOURCES: &str = "\n.src .example-wrap { overflow-x: auto; max-width: 100%; }\n";

/// What is done.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Make nothing: check what is in `target/site`
    #[arg(long)]
    check: bool,
    /// Look at every page of the API on a phone, instead of the largest of each kind: minutes
    #[arg(long)]
    every_page: bool,
}

/// Makes `target/site`, and checks it.
pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let mut steps = Steps::begin();
    if !arguments.check {
        steps.run("mdBook", || mdbook(sh).map(drop));
        steps.run("the API's pages, by rustdoc", || rustdoc(sh));
        steps.run("the book", || make(sh));
    }
    check(&mut steps, arguments.every_page);
    steps.finish()
}

/// Where the site is.
fn site() -> PathBuf {
    crate::root().join("target/site")
}

/// Steps that check what is in `target/site`.
fn check(steps: &mut Steps, every: bool) {
    let site = site();
    steps.run("links and anchors", || {
        let report = links::check(&site, env!("CARGO_PKG_REPOSITORY"), &crate::root())?;
        println!("{report}");
        ensure!(report.pages > 0, "there is no page in {}: `cargo xtask site` makes it", site.display());
        ensure!(report.broken.is_empty(), "{} broken links:\n{}", report.broken.len(), report.broken.join("\n"));
        Ok(())
    });
    steps.run("in a browser: pages on a phone, plots in dark themes", || look::check(&site, every));
}

/// The program, which is built once.
fn mdbook(sh: &Shell) -> Result<PathBuf> {
    let root = crate::root().join("target/mdbook");
    let program = root.join("bin/mdbook");
    let known = cmd!(sh, "{program} --version").quiet().ignore_stderr().read();
    if known.is_ok_and(|version| version == format!("mdbook v{MDBOOK}")) {
        return Ok(program);
    }
    // Without its server, which the site does not need.
    let features = ["--no-default-features", "--features", "search"];
    cmd!(sh, "cargo install mdbook@{MDBOOK} --locked {features...} --root {root} --force").run()?;
    Ok(program)
}

/// A crate's `Cargo.toml`.
fn manifest(sh: &Shell, name: &str) -> Result<toml::Table> {
    sh.read_file(format!("crates/{name}/Cargo.toml"))?.parse().with_context(|| format!("in the manifest of {name}"))
}

/// The features with which `docs.rs` documents a crate.
fn features(manifest: &toml::Table) -> Vec<&str> {
    let mut place = manifest.get("package");
    for key in ["metadata", "docs", "rs", "features"] {
        place = place.and_then(|table| table.get(key));
    }
    place.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// The name of a crate in programs, and in addresses of its pages.
fn library(name: &str, manifest: &toml::Table) -> String {
    let named = manifest.get("lib").and_then(|lib| lib.get("name")).and_then(toml::Value::as_str);
    named.map_or_else(|| name.replace('-', "_"), str::to_owned)
}

fn rustdoc(sh: &Shell) -> Result<()> {
    // Pages of what is not documented any more would stay.
    sh.remove_path("target/docs/doc")?;
    for name in CRATES {
        let manifest = manifest(sh, name)?;
        let features = features(&manifest).into_iter().flat_map(|feature| ["--features", feature]);
        // The device library as a module of `hostcall`, which no program may have, is built apart from all else.
        let doc = cmd!(sh, "cargo doc --no-deps --lib --quiet --target-dir target/docs --package {name} {features...}");
        doc.env("RUSTDOCFLAGS", "-D warnings").run()?;
    }
    Ok(())
}

/// The book, and beside it what rustdoc has made.
fn make(sh: &Shell) -> Result<()> {
    let (source, site, program) = (crate::root().join("target/site-source"), site(), mdbook(sh)?);
    sh.remove_path(&source)?;
    source::copy(&crate::root().join("docs"), &source, env!("CARGO_PKG_REPOSITORY"))?;
    sh.remove_path(&site)?;
    let said = cmd!(sh, "{program} build {source} --dest-dir {site}").quiet().ignore_status().output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    print!("{said}");
    if [" WARN ", "ERROR"].iter().any(|word| said.contains(word)) || !site.join("index.html").is_file() {
        bail!("mdBook complains");
    }
    sh.remove_path(&source)?;
    let pages = crate::root().join("target/docs/doc");
    let api = site.join("api");
    cmd!(sh, "cp -r {pages} {api}").quiet().run()?;
    // For one program at a time.
    sh.remove_path(api.join(".lock"))?;
    sh.remove_path(site.join("book.toml"))?;
    mended(sh, &api)?;
    sh.write_file(api.join("index.html"), index(sh, &api)?)?;
    Ok(())
}

/// Mends what rustdoc's pages lack here.
fn mended(sh: &Shell, api: &Path) -> Result<()> {
    for page in links::files(api, "html")? {
        let page = api.join(page);
        let text = sh.read_file(&page)?;
        if text.contains(TRACING.0) {
            sh.write_file(&page, text.replace(TRACING.0, TRACING.1))?;
        }
    }
    let styles = links::files(&api.join("static.files"), "css")?;
    let style = styles.iter().find(|style| style.display().to_string().starts_with("rustdoc-"));
    let style = api.join("static.files").join(style.context("rustdoc's styles have another name now")?);
    Ok(sh.write_file(&style, sh.read_file(&style)? + SOURCES)?)
}

/// The page that has the crates.
fn index(sh: &Shell, api: &Path) -> Result<String> {
    let mut rows = String::new();
    for name in CRATES.into_iter().rev() {
        let manifest = manifest(sh, name)?;
        let library = library(name, &manifest);
        ensure!(api.join(&library).join("index.html").is_file(), "rustdoc has made no pages of {name}");
        let description = manifest.get("package").and_then(|package| package.get("description")).and_then(toml::Value::as_str);
        let description = description.with_context(|| format!("{name} has no description"))?;
        let device = if name == "hostcall" { "; in kernels it is <a href=\"hostcall/device/index.html\">another library</a>" } else { "" };
        writeln!(rows, "<dt><a href=\"{library}/index.html\"><code>{name}</code></a></dt><dd>{description}{device}</dd>")?;
    }
    Ok(INDEX.replace("ROWS", &rows))
}

/// `ROWS` stands for the crates.
const INDEX: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hostcall: the API</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 45rem; margin: 0 auto; padding: 1rem; }
dt { margin-top: .8rem; }
dd { margin: 0; }
</style>
</head>
<body>
<h1>The API</h1>
<p><a href="../index.html">The book</a> says how to use it.</p>
<dl>
ROWS</dl>
</body>
</html>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_are_published_and_documented_with_the_features_that_their_manifests_name() {
        let sh = Shell::new().unwrap();
        sh.change_dir(crate::root());
        for name in CRATES {
            let manifest = manifest(&sh, name).unwrap();
            assert_eq!(manifest["package"].get("publish"), None, "{name}");
        }
        let hostcall = manifest(&sh, "hostcall").unwrap();
        assert!(features(&hostcall).contains(&"docs"), "docs.rs shows no device half");
        assert_eq!(library("hostcall-platform", &manifest(&sh, "hostcall-platform").unwrap()), "offload");
        assert_eq!(library("hostcall-abi", &toml::Table::new()), "hostcall_abi");
        assert!(features(&toml::Table::new()).is_empty());
    }
}

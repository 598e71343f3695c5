//! Programs in C whose authors have tests for them: Lua and SQLite, downloaded for the tests `c_suites` of
//! `cargo-hostcall`, which `cargo xtask crates` runs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Where they lie: `lua/` with `testes/` in it, `sqlite/` with `test/`.
const PLACE: &str = "target/c-suites";

/// Debian's package of Lua is without its tests. This one of Python's has Lua as its authors keep it, with them.
const LUA: (&str, &str) = ("lupa-2.8", "d8022641b9ec8ecf2c5ecbe9f47e5a70e0b87c4b5ae921b92cb02a638e0acd08");

/// Downloads an archive of sources from Python's registry, as it is: `pip download` would begin to build it.
const DOWNLOAD: &str = r#"
import json, os, sys, urllib.request
package, file = sys.argv[1].rsplit("-", 1)[0], sys.argv[1] + ".tar.gz"
index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
request = urllib.request.Request(f"{index}/{package}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
with urllib.request.urlopen(request, timeout=60) as answer:
    files = json.load(answer)["files"]
place = urllib.parse.urljoin(request.full_url, next(found["url"] for found in files if found["filename"] == file))
urllib.request.urlretrieve(place, file)
"#;

/// Downloads what is missing; the directory.
pub(crate) fn fetch(sh: &Shell) -> Result<PathBuf> {
    let place = sh.current_dir().join(PLACE);
    let (lua, sqlite) = (place.join("lua"), place.join("sqlite"));
    if !lua.is_dir() {
        fetch_lua(sh, &lua).context("Lua's sources and tests, from Python's registry")?;
    }
    if !sqlite.is_dir() {
        fetch_sqlite(sh, &sqlite).context("SQLite's sources and tests, from Debian's archive")?;
    }
    Ok(place)
}

fn fetch_lua(sh: &Shell, to: &Path) -> Result<()> {
    let scratch = sh.create_temp_dir()?;
    let there = sh.push_dir(scratch.path());
    let ((name, sum), python) = (LUA, crate::wheel::python());
    println!("   {name} of Python's registry");
    cmd!(sh, "{python} -c {DOWNLOAD} {name}").quiet().run()?;
    let found = cmd!(sh, "sha256sum {name}.tar.gz").quiet().read()?;
    ensure!(found.starts_with(sum), "{name} is another one: {found}");
    let inside = format!("{name}/third-party/lua54");
    cmd!(sh, "tar -xzf {name}.tar.gz {inside}").quiet().run()?;
    let unpacked = scratch.path().join(inside);
    drop(there);
    keep(sh, &unpacked, to)
}

/// SQLite's program is written by programs in Tcl, which it brings.
fn fetch_sqlite(sh: &Shell, to: &Path) -> Result<()> {
    if cmd!(sh, "tclsh").stdin("exit").quiet().run().is_err() {
        crate::debian::install(sh, &["tcl"])?;
    }
    let scratch = sh.create_temp_dir()?;
    println!("   Debian's source package sqlite3");
    let sources = crate::debian::sources(sh, "stable", "sqlite3", scratch.path())?;
    let there = sh.push_dir(&sources);
    cmd!(sh, "./configure --disable-tcl --disable-readline").quiet().ignore_stdout().run()?;
    cmd!(sh, "make sqlite3.c shell.c").quiet().ignore_stdout().run()?;
    drop(there);
    keep(sh, &sources, to)
}

/// Moves what is whole to where it is looked for.
fn keep(sh: &Shell, whole: &Path, to: &Path) -> Result<()> {
    let parent = to.parent().context("it is in a directory")?;
    sh.create_dir(parent)?;
    let next = parent.join(".next");
    sh.remove_path(&next)?;
    // The scratch directory may be on another file system.
    cmd!(sh, "cp -r {whole} {next}").quiet().run()?;
    Ok(std::fs::rename(&next, to)?)
}

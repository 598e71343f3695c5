//! `cargo xtask release`: the crates as the registry would have them.
//!
//! Each published crate is packaged, and built from its package and those of the others alone. Then the packages go
//! into a directory with all that they depend on, which takes the registry's place: from there the command line is
//! installed into an empty home, and used as somebody does who has no checkout. Only after that is anything published.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use xshell::{Shell, cmd};

use crate::steps::Steps;
use crate::ways;

#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// Publish nothing
    #[arg(long)]
    dry_run: bool,
    /// The crates are not built from their packages one by one: what is installed is built all the same
    #[arg(long)]
    no_verify: bool,
    /// What was not committed is packaged as well
    #[arg(long, requires = "dry_run")]
    allow_dirty: bool,
    /// Write what the ways in cost into the documentation
    #[arg(long)]
    figures: bool,
}

/// Tries the packages, and publishes them.
pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let published = published(&workspace(sh)?);
    let packages: &Vec<String> = &published.iter().flat_map(|name| ["--package".to_owned(), name.clone()]).collect();
    let options: &[&str] = if arguments.no_verify { &["--no-verify"] } else { &[] };
    let commit = ways::commit(sh)?;
    let home = tempfile::tempdir()?;
    // Outside of the checkout, as the registry is: cargo looks for a workspace above a package.
    let registry = home.path().join("registry");
    let sources = Sources::check_out(sh, home.path().join("sources"), arguments.allow_dirty)?;
    let mut steps = Steps::begin();
    crate::api::steps(sh, &mut steps, false);
    steps.run("packages", || sources.run(sh, "package", packages, options));
    steps.run("a directory in the registry's place", || gather(sh, &published, &registry));
    let trial = Trial { home: home.path(), registry: &registry };
    steps.run(ways::INSTALLED, || trial.install());
    steps.run(ways::KERNEL, || trial.kernel());
    steps.run(ways::SET_UP, || trial.setup());
    steps.run(ways::PROGRAM, || trial.program());
    steps.run("tested and looked at there", || trial.tests());
    if arguments.figures {
        ways::record(sh, &steps, &commit)?;
    }
    steps.finish()?;
    if !arguments.dry_run {
        sources.run(sh, "publish", packages, &[])?;
    }
    Ok(())
}

/// A checkout of its own, of which the packages are made.
///
/// Cargo takes profiles from the manifest of what it installs. A member of a workspace cannot have any, for cargo warns
/// of them at each command, and packages do not get the workspace's. Without them all that the command line consists of
/// would be optimised as if it were run in each call. So its manifest gets the workspace's release profile here.
struct Sources<'a> {
    checkout: &'a Shell,
    place: PathBuf,
}

impl Sources<'_> {
    /// What was committed last, or also what git knows and was changed since.
    fn check_out(checkout: &Shell, place: PathBuf, changed: bool) -> Result<Sources<'_>> {
        let now = crate::checks::changed(checkout)?;
        ensure!(changed || now.is_empty(), "these are not committed, and `--allow-dirty` was not given:\n{now}");
        // (It says nothing where nothing was changed.)
        let stash = if changed { cmd!(checkout, "git stash create").quiet().read()? } else { String::new() };
        let commit = if stash.is_empty() { "HEAD" } else { stash.trim() };
        cmd!(checkout, "git worktree add --quiet --detach {place} {commit}").run()?;
        let sources = Sources { checkout, place };
        let manifest = sources.place.join("crates/cargo-hostcall/Cargo.toml");
        let profile = release_profile(&fs::read_to_string(sources.place.join("Cargo.toml"))?)?;
        fs::write(&manifest, format!("{}\n{profile}", fs::read_to_string(&manifest)?))?;
        Ok(sources)
    }

    /// `cargo package` or `cargo publish`, there. What was built goes where it always goes.
    fn run(&self, sh: &Shell, command: &str, packages: &[String], options: &[&str]) -> Result<()> {
        let target = crate::target_directory();
        let _there = sh.push_dir(&self.place);
        Ok(cmd!(sh, "cargo {command} --allow-dirty --target-dir {target} {packages...} {options...}").run()?)
    }
}

impl Drop for Sources<'_> {
    fn drop(&mut self) {
        let place = &self.place;
        if let Err(error) = cmd!(self.checkout, "git worktree remove --force {place}").quiet().run() {
            eprintln!("{}: {error}", place.display());
        }
    }
}

/// The table of a workspace's manifest that says how a release is compiled.
fn release_profile(manifest: &str) -> Result<String> {
    let manifest: toml::Table = manifest.parse()?;
    let release = manifest.get("profile").and_then(|profiles| profiles.get("release")).context("the workspace has no release profile")?;
    let of = |name: &str, value: toml::Value| toml::Value::from(toml::Table::from_iter([(name.to_owned(), value)]));
    Ok(toml::to_string(&of("profile", of("release", release.clone())))?)
}

/// What the program with std is called.
const MADE_PROGRAM: &str = "first-program";

/// What cargo says of the workspace's members.
fn workspace(sh: &Shell) -> Result<serde_json::Value> {
    Ok(serde_json::from_str(&cmd!(sh, "cargo metadata --format-version 1 --no-deps --locked").quiet().read()?)?)
}

/// The members that the registry gets.
fn published(metadata: &serde_json::Value) -> Vec<String> {
    let members = metadata["packages"].as_array().into_iter().flatten();
    let members = members.filter(|package| package["publish"].is_null());
    members.filter_map(|package| package["name"].as_str().map(str::to_owned)).collect()
}

/// Fills `registry` with the packages and everything that the lock file names.
fn gather(sh: &Shell, published: &[String], registry: &Path) -> Result<()> {
    sh.remove_path(registry)?;
    cmd!(sh, "cargo vendor --locked --quiet --versioned-dirs {registry}").ignore_stdout().run()?;
    for name in published {
        let version = env!("CARGO_PKG_VERSION");
        let package = crate::target_directory().join(format!("package/{name}-{version}.crate"));
        cmd!(sh, "tar -xzf {package} -C {registry}").quiet().run()?;
        let sum = cmd!(sh, "sha256sum {package}").quiet().read()?;
        let sum = sum.split_whitespace().next().context("`sha256sum` prints a sum")?;
        // No file of it is changed by anybody: the sum of all of them is what counts.
        let checksums = serde_json::json!({ "files": {}, "package": sum });
        sh.write_file(registry.join(format!("{name}-{version}/.cargo-checksum.json")), checksums.to_string())?;
    }
    Ok(())
}

/// A home in which nothing is but what is installed there.
struct Trial<'a> {
    home: &'a Path,
    registry: &'a Path,
}

impl Trial<'_> {
    /// A command as somebody starts it who has this home.
    fn command(&self, program: &str, dir: &Path) -> Command {
        let bin = self.home.join(".cargo/bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap_or(path);
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["CARGO", "HOSTCALL_", "RUST", "XDG_"].iter().any(|prefix| text.starts_with(prefix))
                && !["RUSTUP_HOME", "RUSTUP_TOOLCHAIN"].contains(&&*text)
            {
                command.env_remove(&name);
            }
        }
        // (Where rustup keeps its toolchains, unless that is said.)
        if std::env::var_os("RUSTUP_HOME").is_none()
            && let Some(home) = std::env::home_dir()
        {
            command.env("RUSTUP_HOME", home.join(".rustup"));
        }
        command.current_dir(dir).env("HOME", self.home).env("CARGO_HOME", self.home.join(".cargo")).env("PATH", path);
        command
    }

    /// Runs it: what it printed.
    fn output(&self, dir: &Path, line: &[&str]) -> Result<String> {
        let (program, arguments) = line.split_first().context("a command has a name")?;
        println!("$ {}", line.join(" "));
        let output = self.command(program, dir).args(arguments).output().with_context(|| format!("{program} does not start"))?;
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        ensure!(output.status.success(), "`{}` failed ({}):\n{}{}", line.join(" "), output.status, said[0], said[1]);
        Ok(said.concat())
    }

    fn install(&self) -> Result<()> {
        let settings = self.home.join(".cargo");
        fs::create_dir_all(&settings)?;
        fs::write(settings.join("config.toml"), replacement(self.registry))?;
        self.output(self.home, &["cargo", "install", "--locked", "cargo-hostcall"])?;
        let said = self.output(self.home, &["cargo", "hostcall", "--version"])?;
        ensure!(said.contains(env!("CARGO_PKG_VERSION")), "another one: {said}");
        Ok(())
    }

    /// A package that `new` made: its directory, when its manifest names this version and no path.
    fn made(&self, options: &[&str], name: &str) -> Result<PathBuf> {
        self.output(self.home, &[&["cargo", "hostcall", "new"], options, &[name]].concat())?;
        let dir = self.home.join(name);
        let manifest = fs::read_to_string(dir.join("Cargo.toml"))?;
        ensure!(!manifest.contains("path =") && !manifest.contains("git ="), "it depends on what lies elsewhere:\n{manifest}");
        Ok(dir)
    }

    fn kernel(&self) -> Result<()> {
        let dir = self.made(&["--kernel"], "first-call")?;
        let said = self.output(&dir, &["cargo", "run"])?;
        ensure!(said.contains("42"), "no call was answered:\n{said}");
        Ok(())
    }

    fn setup(&self) -> Result<()> {
        self.output(self.home, &["cargo", "hostcall", "setup"])?;
        Ok(())
    }

    fn program(&self) -> Result<()> {
        let dir = self.made(&[], MADE_PROGRAM)?;
        self.output(&dir, &["cargo", "hostcall", "run"])?;
        Ok(())
    }

    fn tests(&self) -> Result<()> {
        let dir = self.home.join(MADE_PROGRAM);
        self.output(&dir, &["cargo", "hostcall", "test"])?;
        self.output(&dir, &["cargo", "hostcall", "doctor"])?;
        Ok(())
    }
}

/// Cargo's settings that put a directory in the registry's place.
fn replacement(registry: &Path) -> String {
    let directory = toml::Value::from(registry.display().to_string());
    format!("[source.crates-io]\nreplace-with = \"packages\"\n\n[source.packages]\ndirectory = {directory}\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn manifests() -> Vec<(PathBuf, toml::Table)> {
        let crates = fs::read_dir(crate::root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        let read = |dir: PathBuf| (dir.clone(), fs::read_to_string(dir.join("Cargo.toml")).unwrap().parse().unwrap());
        let published = |(_, manifest): &(PathBuf, toml::Table)| manifest["package"].get("publish").is_none();
        crates.map(read).filter(published).collect()
    }

    /// Tables of dependencies that users' builds need: of the package and of its build script, for every target.
    fn tables(manifest: &toml::Table) -> Vec<&toml::Table> {
        let targets =
            manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten().filter_map(|(_, value)| value.as_table());
        let sections = std::iter::once(manifest).chain(targets);
        sections
            .flat_map(|section| ["dependencies", "build-dependencies"].into_iter().filter_map(|name| section.get(name)?.as_table()))
            .collect()
    }

    #[test]
    fn what_is_published_depends_on_this_version_of_what_is_published() {
        let manifests = manifests();
        let names: BTreeSet<&str> = manifests.iter().map(|(_, manifest)| manifest["package"]["name"].as_str().unwrap()).collect();
        assert!(names.len() > 15 && names.contains("hostcall") && names.contains("cargo-hostcall"), "{names:?}");
        let version = format!("={}", env!("CARGO_PKG_VERSION"));
        let mut own = 0;
        for (dir, manifest) in &manifests {
            for (name, dependency) in tables(manifest).into_iter().flatten() {
                let Some(path) = dependency.get("path").and_then(toml::Value::as_str) else { continue };
                let target = Path::new(path).file_name().unwrap().to_str().unwrap();
                assert!(path == format!("../{target}") && names.contains(target), "{}: {name} is not published", dir.display());
                assert_eq!(dependency.get("version").and_then(toml::Value::as_str), Some(&*version), "{}: {name}", dir.display());
                own += 1;
            }
        }
        assert!(own > 30, "{own}");
    }

    #[test]
    fn what_is_published_has_its_licences_a_page_and_words_to_find_it_by() {
        for (dir, manifest) in manifests() {
            for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
                assert!(dir.join(file).is_file(), "{} has no {file}", dir.display());
            }
            for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
                assert_eq!(fs::read(dir.join(file)).unwrap(), fs::read(crate::root().join(file)).unwrap(), "{}: {file}", dir.display());
            }
            for key in ["description", "license", "repository", "keywords", "categories"] {
                assert!(manifest["package"].get(key).is_some(), "{} has no {key}", dir.display());
            }
        }
    }

    /// Files that a source names by a path: what `include_str!` and its neighbours read, and modules with a path.
    fn named(source: &str) -> Vec<&str> {
        let after =
            ["include_str!(", "include_bytes!(", "include!(", "#[path = ", "hostcall_build::program(", "hostcall_build::std_program("];
        let mut found = Vec::new();
        for word in after {
            let rest = source.split(word).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
            found.extend(rest);
        }
        found
    }

    /// The part of a source that users' builds compile: what comes before its tests, without what the documentation's
    /// tests alone read.
    fn compiled(source: &str) -> String {
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        match text.split_once("#[cfg(doctest)]\n") {
            Some((before, after)) => before.to_owned() + after.split_once("\n}\n").map_or("", |(_, after)| after),
            None => text,
        }
    }

    fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    /// A path without `..`.
    fn plain(path: &Path) -> PathBuf {
        let mut plain = PathBuf::new();
        for part in path.components() {
            if part == std::path::Component::ParentDir {
                plain.pop();
            } else {
                plain.push(part);
            }
        }
        plain
    }

    #[test]
    fn what_is_published_reads_nothing_outside_of_itself() {
        let (mut outside, mut seen) = (Vec::new(), 0);
        for (dir, _) in manifests() {
            let mut files = vec![dir.join("build.rs")];
            sources(&dir.join("src"), &mut files);
            for file in files {
                let Ok(text) = fs::read_to_string(&file) else { continue };
                for name in named(&compiled(&text)) {
                    let place = plain(&file.parent().unwrap().join(name));
                    seen += 1;
                    if !place.starts_with(&dir) {
                        outside.push(format!("{}: {name}", file.display()));
                    }
                }
            }
        }
        assert!(outside.is_empty(), "{outside:#?}");
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn a_path_that_leaves_a_package_is_found_and_one_of_its_tests_is_not() {
        let source = "include_str!(\"../../x\");\n// include_str!(\"../no\")\n#[path = \"y.rs\"]\nmod y;\n#[cfg(doctest)]\nmod book {\n    \
            #[doc = include_str!(\"../../docs/z\")]\n    mod z {}\n}\n#[cfg(test)]\nmod tests { const X: &[u8] = include_bytes!(\"../t\"); }\n";
        assert_eq!(named(&compiled(source)), ["../../x", "y.rs"]);
        assert_eq!(plain(Path::new("/a/b/../c")), Path::new("/a/c"));
    }

    #[test]
    fn the_release_profile_of_a_workspace_is_a_table_that_a_package_can_have() {
        let manifest = "[workspace]\nmembers = []\n[profile.dev]\nopt-level = 0\n[profile.release.package]\na-b.opt-level = 1\n";
        let profile: toml::Table = release_profile(manifest).unwrap().parse().unwrap();
        assert_eq!(profile, "[profile.release.package.a-b]\nopt-level = 1".parse().unwrap());
        assert!(release_profile("[workspace]").is_err());
    }

    #[test]
    fn members_that_are_not_published_are_no_packages() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "hostcall", "publish": null }, { "name": "xtask", "publish": [] }, { "name": "hostcall-abi", "publish": null },
        ] });
        assert_eq!(published(&metadata), ["hostcall", "hostcall-abi"]);
    }
}

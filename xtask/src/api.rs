//! `cargo xtask api`: the faces that others write against, as text. `xtask/api` has what they were, so a change of one
//! is a change of a file there, which a reviewer sees. `--bless` writes the files anew.
//!
//! Of a crate it is what its public items are called and take, by rustdoc's description for machines. Of a library in C
//! it is the names that it exports, with their versions, the functions that its headers declare, and what programs that
//! were compiled with these have in them: the [`layout`] of structures, and numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use crate::steps::Steps;

mod layout;

/// The Rust that describes crates: rustdoc's description has no stable form, and [`TOOL`] reads that of this one.
const RUST: &str = "1.95.0";
/// What makes a list of such a description, from crates.io.
const TOOL: &str = "cargo-public-api@0.52.0";
/// Published crates that users name in their own manifests, and features with which all of their face is there.
const CRATES: [(&str, &str); 5] = [
    ("hostcall", "spans,tokio"),
    ("hostcall-device", ""),
    ("hostcall-platform", "cudarc,cudarc/cuda-13000"),
    ("hostcall-remote", "nats"),
    ("hostcall-stream", ""),
];

/// A library in C: its package, where its `install.sh` is and further words for it, the shared library (and another
/// with other functions under its names), and its headers.
struct Library {
    package: &'static str,
    folder: &'static str,
    words: &'static [&'static str],
    files: &'static [&'static str],
    headers: &'static [&'static str],
}

const LIBRARIES: [Library; 4] = [
    Library { package: "hostcall-c", folder: "hostcall-c", words: &[], files: &["libhostcall.so"], headers: &["hostcall.h"] },
    Library {
        package: "hostcall-amd",
        folder: "hostcall-amd",
        words: &[],
        files: &["libamd_hostcall.so", "amd_hostcall_v0/libamd_hostcall.so"],
        headers: &["amd_hostcall.h", "amd_hostcall_device.h"],
    },
    Library {
        package: "hostcall-offload",
        folder: "hostcall-offload",
        words: &["--llvm", "23"],
        files: &["libhostcall_offload.so"],
        headers: &["OffloadAPI.h", "OffloadPort.h"],
    },
    Library {
        package: "hostcall-offload24",
        folder: "hostcall-offload",
        words: &["--llvm", "24"],
        files: &["libhostcall_offload24.so"],
        headers: &["OffloadAPI.h", "OffloadPort.h"],
    },
];

impl Library {
    /// What its face is called.
    fn name(&self) -> &'static str {
        self.files[0].trim_end_matches(".so")
    }
}

/// Compares all, or writes them.
pub(crate) fn run(sh: &Shell, bless: bool) -> Result<()> {
    let mut all = Steps::begin();
    steps(sh, &mut all, bless);
    all.finish()
}

/// The same as steps of something longer.
pub(crate) fn steps(sh: &Shell, steps: &mut Steps, bless: bool) {
    let mut tool = None;
    steps.run("what describes the faces of crates", || {
        tool = Some(setup(sh)?);
        Ok(())
    });
    if let Some(tool) = tool {
        for (name, features) in CRATES {
            steps.run(format!("the face of {name}"), || compare(sh, name, &of_crate(sh, &tool, name, features)?, bless));
        }
    }
    let packages = LIBRARIES.iter().map(|library| format!(" --package {}", library.package)).collect::<String>();
    steps.run("libraries in C", || crate::test::succeed(&format!("build --quiet{packages}")));
    for library in &LIBRARIES {
        let name = library.name();
        steps.run(format!("the face of {name}"), || compare(sh, name, &of_library(sh, library)?, bless));
    }
}

/// Installs what is missing, and says where the tool is.
fn setup(sh: &Shell) -> Result<PathBuf> {
    if cmd!(sh, "rustup run {RUST} rustc --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        cmd!(sh, "rustup toolchain install --profile minimal {RUST}").run().context("needs rustup, for the Rust that describes crates")?;
    }
    let root = crate::root().join("target/public-api");
    let stamp = root.join(".hostcall");
    if !sh.read_file(&stamp).is_ok_and(|there| there == TOOL) {
        cmd!(sh, "cargo install --quiet --locked --force --root {root} {TOOL}").run()?;
        sh.write_file(stamp, TOOL)?;
    }
    Ok(root.join("bin/cargo-public-api"))
}

/// The public items of a crate, one a line.
fn of_crate(sh: &Shell, tool: &Path, name: &str, features: &str) -> Result<String> {
    let target = crate::root().join("target/api");
    let library = library_name(sh, name)?;
    // Rustdoc writes the description for these alone, and no dependency takes the compiler for an unstable one. They
    // are the same for each crate: build scripts of dependencies look at this variable, and would run again.
    let allowed = CRATES.iter().map(|(name, _)| library_name(sh, name)).collect::<Result<Vec<_>>>()?.join(",");
    cmd!(sh, "rustup run {RUST} cargo rustdoc --quiet --locked --package {name} --lib --features {features} --target-dir {target} -- -Z unstable-options --output-format json")
        .env("RUSTC_BOOTSTRAP", allowed)
        .env_remove("RUSTC")
        .env_remove("RUSTDOC")
        .run()?;
    let described = target.join(format!("doc/{library}.json"));
    // Without what every type has, and what is derived: they follow from the rest.
    Ok(cmd!(sh, "{tool} public-api -sss --color never --rustdoc-json {described}").quiet().read()? + "\n")
}

/// What the library of a package is called.
fn library_name(sh: &Shell, package: &str) -> Result<String> {
    let manifest: toml::Table = sh.read_file(format!("crates/{package}/Cargo.toml"))?.parse()?;
    let named = manifest.get("lib").and_then(|library| library.get("name")).and_then(toml::Value::as_str);
    Ok(named.map_or_else(|| package.replace('-', "_"), str::to_owned))
}

/// What a library exports, and what its headers declare.
fn of_library(sh: &Shell, library: &Library) -> Result<String> {
    let Library { package, folder, words, files, headers } = *library;
    let (prefix, from) = (crate::root().join("target/api").join(package), crate::target_directory().join("debug"));
    sh.remove_path(&prefix)?;
    cmd!(sh, "sh crates/{folder}/packaging/install.sh --prefix {prefix} --from {from} {words...}").quiet().ignore_stdout().run()?;
    let mut text = String::new();
    for file in files {
        let library = prefix.join("lib").join(file);
        let symbols = exported(&cmd!(sh, "nm --dynamic --defined-only --with-symbol-versions {library}").quiet().read()?);
        ensure!(symbols.len() > 5, "{file} exports {symbols:?}");
        text += &format!("# exported by {file}\n{}\n\n", symbols.join("\n"));
    }
    for header in headers {
        let (name, header) = (header, find(&prefix.join("include"), header)?);
        let (functions, types) = (declared(sh, &header)?, layout::of_header(sh, &header)?);
        ensure!(!functions.is_empty() || !types.is_empty(), "{name} declares nothing");
        if !functions.is_empty() {
            text += &format!("# declared in {name}\n{}\n\n", functions.join("\n"));
        }
        text += &format!("# structures and values of {name}\n{types}\n");
    }
    Ok(text)
}

/// Names and versions in what `nm` prints, sorted.
fn exported(said: &str) -> Vec<String> {
    let mut symbols: Vec<String> = said
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let (kind, name) = (words.next()?, words.next()?);
            // (A version itself is an absolute symbol.)
            (kind != "A").then(|| name.to_owned())
        })
        .collect();
    symbols.sort();
    symbols
}

/// A header below a directory.
fn find(dir: &Path, name: &str) -> Result<PathBuf> {
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.file_name().is_some_and(|file| file == name) {
                return Ok(path);
            }
        }
    }
    bail!("no {name} below {}", dir.display())
}

/// The functions that a header declares, as GCC writes them.
fn declared(sh: &Shell, header: &Path) -> Result<Vec<String>> {
    let directory = sh.create_temp_dir()?;
    let (info, include) = (directory.path().join("functions"), header.parent().context("it is in a directory")?);
    cmd!(sh, "gcc -std=c11 -x c -fsyntax-only -I {include} -aux-info {info} {header}").quiet().run()?;
    Ok(functions(&sh.read_file(info)?, &header.to_string_lossy()))
}

/// The declarations of one file among those that GCC writes: `/* FILE:LINE:NC */ extern int f (int);`.
fn functions(info: &str, file: &str) -> Vec<String> {
    let own = info.lines().filter_map(|line| line.strip_prefix("/* ")?.strip_prefix(file)?.strip_prefix(':')?.split_once("*/ "));
    let mut found: Vec<String> = own.map(|(_, declaration)| declaration.trim_start_matches("extern ").to_owned()).collect();
    found.sort();
    found.dedup();
    found
}

/// Compares a face with what it was, or writes it.
fn compare(sh: &Shell, name: &str, face: &str, bless: bool) -> Result<()> {
    let file = format!("xtask/api/{name}.txt");
    let was = sh.read_file(&file).unwrap_or_default();
    if bless {
        sh.create_dir("xtask/api")?;
        sh.write_file(&file, face)?;
    }
    if bless || was == face {
        return Ok(());
    }
    let changes = changes(&was, face);
    println!("{}", changes.join("\n"));
    let count = changes.len();
    bail!("{file} differs by {count} lines: write them by `cargo xtask api --bless`, and say in CHANGELOG.md what changed")
}

/// Lines that are gone, and those that are new, each as often as they are.
fn changes(was: &str, is: &str) -> Vec<String> {
    let mut counts = BTreeMap::<&str, i64>::new();
    was.lines().for_each(|line| *counts.entry(line).or_default() -= 1);
    is.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    let mark = |(line, count): (&str, i64)| {
        let mark = if count < 0 { '-' } else { '+' };
        std::iter::repeat_n(format!("{mark} {line}"), usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX))
    };
    counts.into_iter().flat_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_gone_and_new_ones_are_changes_and_moved_ones_are_none() {
        assert_eq!(changes("a\nb\nc\n", "c\na\nb\n"), Vec::<String>::new());
        assert_eq!(changes("a\nb\nb\n", "a\nb\nd\n"), ["- b", "+ d"]);
    }

    #[test]
    fn symbols_have_their_versions_and_versions_are_no_symbols() {
        let said = "0000 T hc_wait@@HOSTCALL_0\n0000 A HOSTCALL_0@@HOSTCALL_0\n0000 D hc_data@@HOSTCALL_0\n";
        assert_eq!(exported(said), ["hc_data@@HOSTCALL_0", "hc_wait@@HOSTCALL_0"]);
    }

    #[test]
    fn functions_are_those_of_the_header_itself() {
        let info = "/* compiled from: . */\n/* /usr/include/x.h:3:NC */ extern int other (void);\n/* a.h:9:NC */ extern int g (int);\n\
            /* a.h:7:NC */ extern void f (char *);\n/* a.h:8:NC */ extern void f (char *);\n";
        assert_eq!(functions(info, "a.h"), ["int g (int);", "void f (char *);"]);
    }

    #[test]
    fn each_face_has_its_file_and_each_file_its_face() {
        let mut faces: Vec<String> = CRATES.iter().map(|(name, _)| (*name).to_owned()).collect();
        faces.extend(LIBRARIES.iter().map(|library| library.name().to_owned()));
        faces.sort();
        let files = std::fs::read_dir(crate::root().join("xtask/api")).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<String> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        files.sort();
        assert_eq!(faces, files);
    }
}

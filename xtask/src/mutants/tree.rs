//! A copy of the sources with all switches, and the programs of its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use xshell::{Shell, cmd};

use super::list::{Genre, Mutant};
use super::rewrite::{Left, Rewritten, rewrite, without_const};

/// The crate of the switches, which exists in the copy alone.
const SWITCH: &str = "crates/hostcall-mutant-switch";
const DEPENDENCY: &str = "\n[dependencies.hostcall-mutant-switch]\npath = \"../hostcall-mutant-switch\"\n";
const SWITCH_MANIFEST: &str = "[package]\nname = \"hostcall-mutant-switch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
pub(super) const SWITCH_SOURCE: &str = include_str!("switch.rs.in");

/// The crates whose rules are broken and whose tests have to notice.
const CRATES: [&str; 2] = ["hostcall", "hostcall-abi"];

/// First what is quick: the libraries alone, with the features that their tests have.
const CHECK: &str = "check --features hostcall/cudarc,hostcall/test-utils,hostcall/tokio";
const BUILD: &str = "test --no-run --tests";

/// One program of tests.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// Where its tests expect to run.
    pub(super) directory: PathBuf,
}

/// The copy.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    target: PathBuf,
    /// What of the sources decides whether results still hold.
    pub(super) fingerprint: String,
    /// The sources that are written when it is built.
    sources: Vec<String>,
}

/// What has no switch.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Switchless {
    /// Rules, and what becomes of them.
    pub(super) rules: BTreeMap<usize, Left>,
    /// The names of functions that constants call.
    constant: BTreeSet<String>,
}

impl Tree {
    /// Copies what git knows or would add, but for the sources of `CRATES`, which are written when it is built.
    pub(super) fn copy(sh: &Shell, output: &Path) -> Result<Self> {
        let root = output.join("tree");
        let listed = cmd!(sh, "git ls-files --cached --others --exclude-standard").quiet().read()?;
        let files: BTreeSet<&str> = listed.lines().filter(|file| super::super::root().join(file).is_file()).collect();
        let folders = CRATES.map(|name| format!("crates/{name}/src/"));
        let rewritten = |file: &str| file.ends_with(".rs") && folders.iter().any(|folder| file.starts_with(folder));
        let manifests = CRATES.map(|name| format!("crates/{name}/Cargo.toml"));
        let mut hasher = DefaultHasher::new();
        for file in &files {
            let mut bytes = fs::read(super::super::root().join(file))?;
            if file.starts_with("crates/") || matches!(*file, "Cargo.lock" | "Cargo.toml" | ".cargo/mutants.toml") {
                (file, &bytes).hash(&mut hasher);
            }
            if manifests.iter().any(|manifest| manifest == file) {
                bytes.extend_from_slice(DEPENDENCY.as_bytes());
            }
            if !rewritten(file) {
                write(&root.join(file), &bytes)?;
            }
        }
        let copied = cmd!(sh, "find {root}/crates -name *.rs -printf crates/%P\\n").quiet().read()?;
        for file in copied.lines().filter(|file| !files.contains(file) && !file.starts_with(SWITCH)) {
            fs::remove_file(root.join(file))?;
        }
        write(&root.join(SWITCH).join("Cargo.toml"), SWITCH_MANIFEST.as_bytes())?;
        write(&root.join(SWITCH).join("src/lib.rs"), SWITCH_SOURCE.as_bytes())?;
        let sources = files.iter().filter(|file| rewritten(file)).map(|file| (*file).to_owned()).collect();
        Ok(Self { root, target: output.join("build"), fingerprint: format!("{:016x}", hasher.finish()), sources })
    }

    /// Writes the switches of all rules that compile behind one, and builds the tests. `switchless` is what is known
    /// already; what is found is added.
    pub(super) fn build(&self, sh: &Shell, mutants: &[Mutant], switchless: &mut Switchless) -> Result<Vec<Program>> {
        let mut files: BTreeMap<&str, Vec<(usize, &Mutant)>> = self.sources.iter().map(|file| (file.as_str(), Vec::new())).collect();
        for (number, mutant) in mutants.iter().enumerate() {
            files.entry(&mutant.file).or_default().push((number, mutant));
        }
        let Switchless { rules: left, constant } = switchless;
        loop {
            let mut written: BTreeMap<&str, Rewritten> = BTreeMap::new();
            for (file, mutants) in &files {
                let source = fs::read_to_string(super::super::root().join(file))?;
                let source = without_const(&source, constant).with_context(|| (*file).to_owned())?;
                let here: Vec<(usize, &Mutant)> = mutants.iter().filter(|(number, _)| !left.contains_key(number)).copied().collect();
                let rewritten = rewrite(&source, &here).with_context(|| (*file).to_owned())?;
                write(&self.root.join(file), rewritten.text.as_bytes())?;
                written.insert(file, rewritten);
            }
            left.extend(written.values().flat_map(|file| &file.left).map(|(number, why)| (*number, *why)));
            let mut messages = self.cargo(sh, CHECK)?;
            if errors(&messages).next().is_none() {
                messages = self.cargo(sh, BUILD)?;
            }
            let before = (left.len(), constant.len());
            constant.extend(errors(&messages).filter_map(called_by_a_constant));
            for error in errors(&messages).filter(|error| called_by_a_constant(error).is_none()) {
                left.extend(blamed(error, &written).into_iter().map(|(number, broken)| (number, why(&mutants[number], broken))));
            }
            println!("{} of {} rules have a switch", mutants.len() - left.len(), mutants.len());
            if let Some(error) = errors(&messages).next() {
                ensure!(
                    (left.len(), constant.len()) != before,
                    "the copy does not compile, and no switch is to blame:\n{}",
                    error.rendered
                );
                continue;
            }
            let finished = messages.iter().any(|message| message.reason == "build-finished" && message.success == Some(true));
            ensure!(finished, "cargo fails without an error of the compiler");
            return programs(messages);
        }
    }

    fn cargo(&self, sh: &Shell, options: &str) -> Result<Vec<Message>> {
        let packages = CRATES.iter().flat_map(|name| ["-p", name]);
        let options = options.split(' ');
        let (root, target) = (&self.root, &self.target);
        let command = cmd!(sh, "cargo {options...} {packages...} --lib --message-format=json");
        let command = command.env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "--cap-lints=allow").env("CARGO_INCREMENTAL", "0");
        let command = command.env("CARGO_PROFILE_DEV_DEBUG", "0").quiet().ignore_status();
        let directory = sh.push_dir(root);
        let text = command.read()?;
        drop(directory);
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}

/// What does not compile.
fn errors(messages: &[Message]) -> impl Iterator<Item = &Diagnostic> {
    messages.iter().filter_map(|message| message.message.as_ref()).filter(|error| error.level.starts_with("error"))
}

fn programs(messages: Vec<Message>) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for message in messages {
        if let (Some(file), Some(target), Some(manifest)) = (message.executable, message.target, message.manifest_path) {
            let directory = manifest.parent().context("a manifest without a folder")?.to_owned();
            let package = directory.file_name().unwrap_or_default().to_string_lossy();
            programs.push(Program { name: format!("{package}::{}", target.name), file, directory });
        }
    }
    ensure!(!programs.is_empty(), "there are no programs of tests");
    // Cargo tells of them in another order when they are built already, and the plan has their numbers.
    programs.sort_by(|a: &Program, b: &Program| a.name.cmp(&b.name));
    Ok(programs)
}

/// Writes a file, unless it has this content: what is older than its build is not built again.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().context("a file without a folder")?)?;
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// One line of what cargo prints.
#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    success: Option<bool>,
    message: Option<Diagnostic>,
    executable: Option<PathBuf>,
    target: Option<Target>,
    manifest_path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
}

/// What the compiler says.
#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    rendered: String,
    spans: Vec<Span>,
    children: Vec<Child>,
}

#[derive(Debug, Deserialize)]
struct Child {
    spans: Vec<Span>,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
}

/// The name of the function that has to be `const`, where that is what is wrong.
fn called_by_a_constant(error: &Diagnostic) -> Option<String> {
    let (_, path) = error.message.strip_prefix("cannot call non-const ")?.split_once('`')?;
    let (path, _) = path.split_once('`')?;
    // `Block::<N>::lanes`, `wire::stride::<u32>`
    let names = path.split("::").filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    names.map(|name| name.trim_end_matches('>').to_owned()).last()
}

/// The rules to which an error belongs, and whether it is in the broken text of each.
fn blamed(error: &Diagnostic, files: &BTreeMap<&str, Rewritten>) -> BTreeMap<usize, bool> {
    let blame = |span: &Span| {
        let bytes: Range<usize> = span.byte_start..span.byte_end;
        files.get(span.file_name.as_str())?.blame(&bytes)
    };
    let primary = error.spans.iter().filter(|span| span.is_primary);
    let others = error.spans.iter().filter(|span| !span.is_primary);
    let mut spans = primary.chain(others).chain(error.children.iter().flat_map(|child| &child.spans)).filter_map(blame);
    spans.next().map(|(numbers, broken)| numbers.into_iter().map(|number| (number, broken)).collect()).unwrap_or_default()
}

/// Whether a rule that does not compile behind its switch would compile alone.
fn why(mutant: &Mutant, broken: bool) -> Left {
    let opaque = mutant.function.as_ref().is_some_and(|function| function.return_type.contains("impl "));
    match mutant.genre {
        Genre::MatchArm => Left::Alone,
        Genre::FnValue if opaque => Left::Alone,
        _ if broken => Left::Unviable,
        _ => Left::Alone,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_compiler_names_the_functions_that_constants_call() {
        let source = "struct Block<const N: usize>;\nimpl<const N: usize> Block<N> {\n    fn new() -> Self { Self }\n    \
                      fn lanes(&self) -> usize { N }\n}\nfn stride<T>() -> usize { size_of::<T>() }\n\
                      static BLOCK: Block<3> = Block::<3>::new();\nconst LANES: usize = Block::<3>.lanes();\n\
                      const BYTES: [u8; stride::<u32>()] = [0; 4];\nfn main() {}\n";
        let directory = crate::target_directory().join(format!("mutants-constants-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let called = |source: &str| -> BTreeSet<String> {
            fs::write(directory.join("constants.rs"), source).unwrap();
            let mut command = Command::new(&rustc);
            command.args(["--edition=2024", "--error-format=json", "--emit=metadata", "constants.rs"]).current_dir(&directory);
            let text = String::from_utf8(command.output().unwrap().stderr).unwrap();
            text.lines().filter_map(|line| called_by_a_constant(&serde_json::from_str(line).unwrap())).collect()
        };
        assert_eq!(called(source), ["lanes", "new", "stride"].map(str::to_owned).into());
        assert!(called("fn main() { let x: u32 = 0u8; }").is_empty());
        fs::remove_dir_all(&directory).unwrap();
    }
}

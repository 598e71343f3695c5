//! A run of cargo that compiles a device program: the files that it made, and what the compiler said.
//!
//! Cargo is asked for JSON, so that the compiler's words are told from cargo's own. Warnings of crates that were
//! compiled before are among them: cargo keeps them and says them again. An error begins with the compiler's words, and
//! the command line, which is long, comes last.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::BuildError;
use crate::command::{Finished, Run};
use crate::said::said;

/// What cargo left.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) artifacts: Vec<Artifact>,
    /// The compiler's warnings about the crates that were asked about, each once, as the compiler writes them.
    pub(crate) warnings: Vec<String>,
    /// The command, for messages.
    pub(crate) command: String,
}

/// What was made of one target of a package.
#[derive(Debug)]
pub(crate) struct Artifact {
    manifest: PathBuf,
    files: Vec<PathBuf>,
    executable: Option<PathBuf>,
}

impl Compiled {
    /// The file with that suffix that was made of the package with that manifest.
    pub(crate) fn file(&self, manifest: &Path, suffix: &str) -> Option<&Path> {
        let made = self.artifacts.iter().filter(|artifact| artifact.manifest == manifest);
        made.flat_map(|artifact| &artifact.files).find(|file| file.to_string_lossy().ends_with(suffix)).map(PathBuf::as_path)
    }

    /// All files with that suffix.
    pub(crate) fn files(&self, suffix: &str) -> impl Iterator<Item = &Path> {
        let all = self.artifacts.iter().flat_map(|artifact| &artifact.files);
        all.filter(move |file| file.to_string_lossy().ends_with(suffix)).map(PathBuf::as_path)
    }

    /// The programs.
    pub(crate) fn executables(&self) -> impl Iterator<Item = &Path> {
        self.artifacts.iter().filter_map(|artifact| artifact.executable.as_deref())
    }
}

/// The argument that every run of [`compile`] needs, before a `--`.
pub(crate) const MESSAGES: &str = "--message-format=json";

/// Runs cargo, which is given [`MESSAGES`], to compile `package` for `target`. Warnings about crates in `ours` are
/// kept; `echo` also prints what the compiler says about any crate.
///
/// `place` says where a file is that the compiler names by a path of the image's.
pub(crate) fn compile(
    run: Run,
    package: &str,
    target: &str,
    ours: &[PathBuf],
    place: &dyn Fn(&Path) -> Option<PathBuf>,
    echo: bool,
) -> Result<Compiled, BuildError> {
    let run = run.echo(echo);
    let command = run.line();
    let Finished { status, stdout, tail } = run.finish()?;
    let mut compiled = Compiled { command: command.clone(), ..Compiled::default() };
    let mut errors = String::new();
    // Whatever else a build prints to stdout is not ours.
    let text = String::from_utf8_lossy(&stdout);
    for message in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let manifest = PathBuf::from(message["manifest_path"].as_str().unwrap_or_default());
        match message["reason"].as_str() {
            Some("compiler-artifact") => {
                let files = message["filenames"].as_array().map(Vec::as_slice).unwrap_or_default();
                let files = files.iter().filter_map(Value::as_str).map(PathBuf::from).collect();
                let executable = message["executable"].as_str().map(PathBuf::from);
                compiled.artifacts.push(Artifact { manifest, files, executable });
            }
            Some("compiler-message") => {
                let Some(rendered) = said(&message["message"], place).filter(|_| !is_count(&message["message"])) else { continue };
                if echo {
                    eprintln!("{}", rendered.trim_end());
                }
                match message["message"]["level"].as_str() {
                    // What has no place in the source is about the command line, which is ours.
                    Some("warning") if message["message"]["spans"].as_array().is_some_and(|spans| !spans.is_empty()) => {
                        let warning = rendered.trim_end().to_owned();
                        if ours.iter().any(|dir| Some(dir.as_path()) == manifest.parent()) && !compiled.warnings.contains(&warning) {
                            compiled.warnings.push(warning);
                        }
                    }
                    Some("error" | "error: internal compiler error") => errors += &rendered,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if status.success() {
        return Ok(compiled);
    }
    let said = if errors.is_empty() { from_the_error_on(&tail).to_owned() } else { errors.trim_end().to_owned() };
    Err(BuildError::Compile { package: package.into(), target: target.into(), said, command, status })
}

/// Whether a message only counts the others: "1 warning emitted", "aborting due to 2 previous errors".
fn is_count(message: &Value) -> bool {
    let text = message["message"].as_str().unwrap_or_default();
    message["code"].is_null()
        && message["spans"].as_array().is_none_or(Vec::is_empty)
        && (text.ends_with(" emitted") || text.starts_with("aborting due to "))
}

/// Cargo's own error without what it said about its progress before.
fn from_the_error_on(tail: &str) -> &str {
    let start = tail.match_indices("error").map(|(at, _)| at).find(|&at| at == 0 || tail[..at].ends_with('\n'));
    &tail[start.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[&str], code: u8) -> Result<Compiled, BuildError> {
        let script =
            lines.iter().map(|line| format!("printf '%s\\n' '{line}'; ")).collect::<String>() + &format!("echo \"$0\" >&2; exit {code}");
        let run = Run::new("sh").args(["-c", &script, "   Compiling x\nerror: no such crate\nhelp"]);
        compile(run, "x", "sim", &["/w/x".into()], &|_| None, false)
    }

    const WARNING: &str = r#"{"reason":"compiler-message","manifest_path":"/w/x/Cargo.toml","message":{"level":"warning","code":{"code":"unused"},"message":"unused","spans":[{}],"rendered":"warning: unused\n"}}"#;
    const OTHERS: &str = r#"{"reason":"compiler-message","manifest_path":"/w/y/Cargo.toml","message":{"level":"warning","code":{"code":"unused"},"message":"other","spans":[{}],"rendered":"warning: other\n"}}"#;
    const COUNT: &str = r#"{"reason":"compiler-message","manifest_path":"/w/x/Cargo.toml","message":{"level":"warning","code":null,"message":"1 warning emitted","spans":[],"rendered":"warning: 1 warning emitted\n"}}"#;
    const FLAG: &str = r#"{"reason":"compiler-message","manifest_path":"/w/x/Cargo.toml","message":{"level":"warning","code":null,"message":"unstable feature","spans":[],"rendered":"warning: unstable feature\n"}}"#;
    const ERROR: &str = r#"{"reason":"compiler-message","manifest_path":"/w/x/Cargo.toml","message":{"level":"error","code":null,"message":"no","spans":[],"rendered":"error: no\n --> a.rs\n"}}"#;

    #[test]
    fn warnings_about_ones_own_crates_are_kept_and_each_once() {
        let compiled = said(&[WARNING, OTHERS, FLAG, COUNT, WARNING, "not json"], 0).expect("it succeeds");
        assert_eq!(compiled.warnings, ["warning: unused"]);
    }

    #[test]
    fn an_error_begins_with_the_compilers_words_and_ends_with_the_command() {
        let text = said(&[WARNING, ERROR], 1).expect_err("it fails").to_string();
        assert!(text.starts_with("error: no\n --> a.rs\n") && !text.contains("unused\n"), "{text}");
        assert!(text.split("the command was:\n").nth(1).is_some_and(|rest| rest.starts_with("sh -c ")), "{text}");
    }

    #[test]
    fn an_error_of_cargos_own_begins_where_the_error_does() {
        let text = said(&[], 1).expect_err("it fails").to_string();
        assert!(text.starts_with("error: no such crate\nhelp\n"), "{text}");
    }
}

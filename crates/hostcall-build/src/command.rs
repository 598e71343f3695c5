//! Running other programs: what they write is kept, and a failure carries it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::{BuildError, progress, timings};

/// Lines of a failed program's stderr that its error carries.
const TAIL_LINES: usize = 40;

/// A command that is run to its end, its stdout kept.
pub(crate) struct Run {
    command: Command,
    echo: bool,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// The end of what it wrote to stderr.
    pub(crate) tail: String,
}

impl Run {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Run {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        Run { command, echo: false }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Run {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Run {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    /// Under another name than its file's.
    pub(crate) fn called(mut self, name: &str) -> Run {
        std::os::unix::process::CommandExt::arg0(&mut self.command, name);
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Run {
        self.command.current_dir(dir);
        self
    }

    /// Also passes the program's stderr on, line by line, while it runs.
    pub(crate) fn echo(mut self, echo: bool) -> Run {
        self.echo = echo;
        self
    }

    /// Removes what a cargo that runs us (for a build script, a test, `cargo run`) has set for *its* build, and
    /// would change this one: flags, wrappers, target directory, profile settings, the outer package's variables.
    pub(crate) fn without_outer_cargo(mut self) -> Run {
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(belongs_to_outer_cargo) {
                self.command.env_remove(&name);
            }
        }
        self
    }

    /// Runs it; its stdout. A failure is an error.
    pub(crate) fn output(self) -> Result<Vec<u8>, BuildError> {
        let command = self.line();
        let Finished { status, stdout, tail } = self.finish()?;
        if status.success() { Ok(stdout) } else { Err(BuildError::Failed { command, status, tail }) }
    }

    /// Runs it; how it ended and what it wrote.
    pub(crate) fn finish(mut self) -> Result<Finished, BuildError> {
        let tool = Path::new(self.command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
        progress::runs(&tool);
        let spawned = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|source| BuildError::Spawn { command: self.line(), source })?;
        let stderr = child.stderr.take();
        let echo = self.echo;
        let tail = std::thread::spawn(move || stderr.map(|stderr| keep_tail(stderr, echo)).unwrap_or_default());
        let mut output = Vec::new();
        let read = match child.stdout.take() {
            Some(mut stdout) => stdout.read_to_end(&mut output).map(drop),
            None => Ok(()),
        };
        let status = read.and_then(|()| child.wait()).map_err(|source| BuildError::Spawn { command: self.line(), source })?;
        let tail = tail.join().unwrap_or_default();
        timings::ended(&tool);
        Ok(Finished { status, stdout: output, tail })
    }

    /// Runs it; its stdout as text, which must be UTF-8.
    pub(crate) fn text(self) -> Result<String, BuildError> {
        let command = self.line();
        let output = self.output()?;
        String::from_utf8(output).map_err(|_| BuildError::Unexpected { command, problem: "it is not UTF-8".into() })
    }

    /// The command line, for messages.
    pub(crate) fn line(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }
}

/// Reads lines until the end and keeps the last [`TAIL_LINES`].
fn keep_tail(stream: impl Read, echo: bool) -> String {
    let mut tail = std::collections::VecDeque::with_capacity(TAIL_LINES);
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    // A read error ends the text; the exit status still tells what happened.
    while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if echo {
            eprintln!("{text}");
        }
        if tail.len() == TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(text);
        line.clear();
    }
    Vec::from(tail).join("\n")
}

/// Whether the variable would carry the outer build's settings into the inner one. Kept are where cargo keeps its
/// downloads, how it reaches registries, what links for which machine, and the jobserver, so that both builds together
/// use the cores once.
fn belongs_to_outer_cargo(name: &str) -> bool {
    const KEPT: [&str; 3] = ["CARGO_HOME", "CARGO_MAKEFLAGS", "CARGO_TERM_COLOR"];
    const KEPT_PREFIXES: [&str; 4] = ["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    const REMOVED: [&str; 14] = [
        "CARGO",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_LINKER",
        "RUSTC_BOOTSTRAP",
        "RUSTDOC",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
        "TARGET",
        "OUT_DIR",
        "PROFILE",
        "OPT_LEVEL",
        "DEBUG",
    ];
    let links = name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER");
    if links || KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return false;
    }
    name.starts_with("CARGO_") || name.starts_with("__CARGO") || REMOVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_carries_command_status_and_the_last_lines() {
        let script = "for i in $(seq 100); do echo line $i >&2; done; exit 3";
        let error = Run::new("sh").args(["-c", script]).output().expect_err("it exits with 3");
        let BuildError::Failed { command, status, tail } = error else { panic!("another error") };
        assert!(command.starts_with("sh -c"));
        assert_eq!(status.code(), Some(3));
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.starts_with("line 61\n") && tail.ends_with("\nline 100"));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Run::new("/no/such/program").output().expect_err("it is not there");
        assert!(error.to_string().starts_with("cannot run `/no/such/program`"));
    }

    #[test]
    fn output_larger_than_a_pipe_on_both_streams_does_not_block() {
        let script = "head -c 300000 /dev/zero | tr '\\0' 'x' >&2; head -c 300000 /dev/zero";
        assert_eq!(Run::new("sh").args(["-c", script]).output().expect("it succeeds").len(), 300_000);
    }

    #[test]
    fn settings_of_the_outer_cargo_are_removed_and_its_home_is_kept() {
        for name in
            ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_TARGET_DIR", "CARGO_PKG_NAME", "RUSTFLAGS", "CARGO_PROFILE_RELEASE_LTO"]
        {
            assert!(belongs_to_outer_cargo(name), "{name}");
        }
        let kept = ["CARGO_HOME", "CARGO_MAKEFLAGS", "CARGO_NET_OFFLINE", "CARGO_REGISTRIES_X_TOKEN", "PATH", "HOME", "RUSTUP_HOME"];
        for name in kept.into_iter().chain(["CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER"]) {
            assert!(!belongs_to_outer_cargo(name), "{name}");
        }
    }
}

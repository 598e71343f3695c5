//! What uutils' tests start: this program under another name, which starts the tool on a device as `cargo hostcall
//! exec` does.
//!
//! A tool's standard error is compared to the letter. So the notes of `cargo hostcall` about what a tool was refused
//! are left out of it here. All else is passed on as it comes, which may be half a line: a question, whose answer the
//! tool waits for.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// Beside the link: how the tools are started. (The tests clear the environment.)
const FILE: &str = "start.toml";
/// The signal that a tool ends by where nobody reads what it writes.
const SIGPIPE: i32 = 13;
/// What begins a note.
const NOTE: &[u8] = b"note: the program asked";

/// How the tools are started.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) tool: PathBuf,
    pub(super) program: PathBuf,
    pub(super) device: String,
    pub(super) grants: Vec<String>,
}

impl Start {
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        Ok(fs::write(dir.join(FILE), toml::to_string(self)?)?)
    }

    fn command(&self, name: &Path) -> Result<Command> {
        // It ends with this program, which a test may kill.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.tool).args([
            "hostcall",
            "exec",
            "-q",
            "--threads",
            "6",
            "--device",
            &self.device,
        ]);
        command.args(self.grants.iter().flat_map(|grant| ["--dir", grant]));
        // A directory that is gone has no name; the tool finds none there either.
        command.arg("--cwd").arg(env::current_dir().unwrap_or_else(|_| "/gone".into())).arg("--argv0").arg(name);
        for (name, value) in env::vars_os() {
            let mut variable = name;
            variable.push("=");
            variable.push(value);
            command.arg("--env").arg(variable);
        }
        command.arg(&self.program).arg("--").args(env::args_os().skip(1));
        // Nobody but the owner may be able to read the runtime's sources, and nothing is built here.
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", env::temp_dir()).env("HOSTCALL_STD_SOURCE", "/nowhere");
        Ok(command)
    }
}

/// Starts the tool, if this program was started by its name.
pub(crate) fn act_as_tool() -> Result<Option<ExitCode>> {
    let name = PathBuf::from(env::args_os().next().unwrap_or_default());
    if name.file_name().is_none_or(|name| name != "coreutils") {
        return Ok(None);
    }
    let file = name.with_file_name(FILE);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let start: Start = toml::from_str(&text)?;
    let mut child = start.command(&name)?.stderr(Stdio::piped()).spawn()?;
    without_notes(child.stderr.take().context("it was piped")?, io::stderr())?;
    let status = child.wait()?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    if code == 128 + SIGPIPE {
        // Tests ask for the signal itself. This process ignores it; a shell does not.
        return Err(Command::new("sh").args(["-c", "kill -PIPE $$"]).exec().into());
    }
    Ok(Some(ExitCode::from(code as u8)))
}

/// Passes on what is said, as it comes, without the lines that are notes.
fn without_notes(mut said: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut came = [0; 4096];
    // What may become a note, from the line's beginning on.
    let mut held: Vec<u8> = Vec::new();
    let mut is_note = None;
    loop {
        let len = match said.read(&mut came) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let mut out = Vec::new();
        for byte in &came[..len] {
            match is_note {
                None => {
                    held.push(*byte);
                    is_note = if held.len() == NOTE.len() && held == NOTE {
                        Some(true)
                    } else if NOTE.starts_with(&held) {
                        None
                    } else {
                        Some(false)
                    };
                    if is_note == Some(false) {
                        out.append(&mut held);
                    }
                }
                Some(false) => out.push(*byte),
                Some(true) => {}
            }
            if *byte == b'\n' {
                is_note = None;
                held.clear();
            }
        }
        if len == 0 {
            // A line that has ended before it was a note.
            out.append(&mut held);
        }
        // Nobody may be left who reads it.
        let _ = to.write_all(&out);
        if len == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says one piece at a time.
    struct Pieces<'a>(&'a [&'a str]);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            self.0 = rest;
            into[..first.len()].copy_from_slice(first.as_bytes());
            Ok(first.len())
        }
    }

    #[test]
    fn notes_are_left_out_however_the_text_comes() {
        let note = std::str::from_utf8(NOTE).unwrap();
        let noted = format!("a\n{note} for x\nnote: b\n\n{note}\nc");
        let bytes: Vec<&str> = noted.split_inclusive(|_| true).collect();
        for pieces in [&[&*noted][..], &bytes] {
            let mut passed = Vec::new();
            without_notes(Pieces(pieces), &mut passed).unwrap();
            assert_eq!(String::from_utf8(passed).unwrap(), "a\nnote: b\n\nc");
        }
        let mut passed = Vec::new();
        without_notes(Pieces(&["not"]), &mut passed).unwrap();
        assert_eq!(passed, b"not");
    }

    #[test]
    fn half_a_line_is_passed_on_before_its_end_comes() {
        let (from, mut to) = io::pipe().unwrap();
        let (mut passed, into) = io::pipe().unwrap();
        let passing = std::thread::spawn(move || without_notes(from, into));
        to.write_all(b"overwrite? ").unwrap();
        let mut half = [0; 11];
        passed.read_exact(&mut half).unwrap();
        assert_eq!(&half, b"overwrite? ");
        drop(to);
        passing.join().unwrap().unwrap();
    }
}

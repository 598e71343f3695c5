//! What uutils' tests start: this program under another name, which starts the tool on a device as `cargo hostcall exec` does.
//!
//! A tool's standard error is compared to the letter. So the notes of `cargo hostcall` about what a tool was refused are left out of it here.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
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
    let mut said = BufReader::new(child.stderr.take().context("it was piped")?);
    let mut line = Vec::new();
    while said.read_until(b'\n', &mut line)? > 0 {
        if !line.starts_with(NOTE) {
            // Nobody may be left who reads it.
            let _ = io::stderr().write_all(&line);
        }
        line.clear();
    }
    let status = child.wait()?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    if code == 128 + SIGPIPE {
        // Tests ask for the signal itself. This process ignores it; a shell does not.
        return Err(Command::new("sh").args(["-c", "kill -PIPE $$"]).exec().into());
    }
    Ok(Some(ExitCode::from(code as u8)))
}

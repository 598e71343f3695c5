//! A program on several devices, each in a process of its own: `--devices LIST --isolated`.
//!
//! CUDA takes a fault on one GPU for one of the whole process: every later call fails, for the other GPUs too. What is
//! to outlive the others' faults needs a process of its own. Each is this command again, with one device and the
//! variables of a launcher.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;

use hostcall::Rank;
use offload::Device;

use super::Threads;
use crate::Outcome;
use crate::environment::without_environment;
use crate::launch::INTERRUPTED;
use crate::options::Options;

/// What every process is started with beside its device.
pub(super) struct Work<'a> {
    pub(super) threads: Threads,
    /// Of a kernel, if one is launched instead of `main`.
    pub(super) entry: Vec<OsString>,
    pub(super) image: &'a Path,
    pub(super) args: &'a [OsString],
    pub(super) quiet: bool,
}

/// Starts a process for each device that `list` names, and waits for all of them: each says what went wrong as soon as
/// it has ended. The exit code is that of the first one, by rank, that did not succeed.
pub(super) fn run(options: &Options, list: &str, work: &Work<'_>) -> Outcome {
    let specs = Device::list(list)?;
    if specs.len() > 1 {
        options.check_names()?;
    }
    let world = u32::try_from(specs.len())?;
    // A terminal tells all of them of Ctrl-C. This process stays for what they say; a second one ends it.
    let mut first = true;
    ctrlc::set_handler(move || {
        if !std::mem::take(&mut first) {
            std::process::exit(INTERRUPTED.into());
        }
    })?;
    let mut children = Vec::with_capacity(specs.len());
    for (rank, spec) in (0..).zip(&specs) {
        let rank = Rank { rank, world, local: rank };
        match work.command(&options.one_of(list, spec), rank)?.spawn() {
            Ok(child) => children.push(child),
            Err(error) => {
                // Those that run already would wait for nobody: they go.
                children.iter_mut().for_each(|child: &mut Child| _ = child.kill());
                children.iter_mut().for_each(|child| _ = child.wait());
                return Err(format!("device {}: {spec}: no process could be started: {error}", rank.rank).into());
            }
        }
    }
    let mut codes = vec![0; children.len()];
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for (number, child) in children.iter_mut().enumerate() {
            let tell = tell.clone();
            // The other end is there until all have told.
            scope.spawn(move || _ = tell.send((number, child.wait())));
        }
        drop(tell);
        for (number, ended) in told {
            codes[number] = ended.map_or(1, code);
            if codes[number] != 0 {
                eprintln!("device {number}: {}: its process ended with {}", specs[number], codes[number]);
            }
        }
    });
    Ok(codes.into_iter().find(|code| *code != 0).map_or(ExitCode::SUCCESS, ExitCode::from))
}

impl Work<'_> {
    fn command(&self, options: &Options, rank: Rank) -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("exec").args(options.to_arguments()).args(self.threads.to_arguments()).args(&self.entry);
        if self.quiet {
            command.arg("--quiet");
        }
        without_environment(&mut command);
        command.arg("--").arg(self.image).args(self.args).envs(rank.variables());
        if rank.rank > 0 {
            // Standard input belongs to the first.
            command.stdin(Stdio::null());
        }
        Ok(command)
    }
}

/// The exit code of a process, and of one that a signal ended as shells have it.
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_a_signal_ends_has_the_code_that_shells_give_it() {
        let status = |script: &str| Command::new("sh").args(["-c", script]).status().expect("a shell");
        assert_eq!([status("exit 7"), status("kill -ABRT $$"), status("true")].map(code), [7, 134, 0]);
    }
}

//! A launch that is waited for: until it ends, its time is up, or somebody presses Ctrl-C; and the exit code of each.

use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use hostcall::{Fleet, KernelReport, Server, WaitError, std_programs};
use offload::{Error, Fault, FaultKind, Program, Queue};

use crate::stream::receiver::Receiver;
use crate::{Outcome, device};

/// Exit code after a device panic: that of a Rust program that panicked.
const PANICKED: u8 = 101;
/// Exit code after a stack overflow: that of a Rust program, which says so and aborts, as shells have it.
const ABORTED: u8 = 134;
/// Exit code after a fault, of memory or otherwise, and after the loss of the device: that of a program which the
/// system ends for it, as shells have it.
const FAULTED: u8 = 139;
/// Exit code after `--timeout`: that of `timeout(1)`.
pub(crate) const TIMED_OUT: u8 = 124;
/// Exit code after Ctrl-C, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// What has happened to a run.
enum End {
    /// The queue of this number is empty.
    Finished(usize),
    TimedOut(Duration),
    Interrupted,
}

/// Says that a queue is at its end, when it is dropped: a completion that will never be called, because its device was
/// lost, is dropped too.
struct Tell(mpsc::Sender<End>, usize);

impl Drop for Tell {
    fn drop(&mut self) {
        // Nobody listens if the run was ended before.
        let _ = self.0.send(End::Finished(self.1));
    }
}

/// What ends a run.
pub(crate) struct Watch {
    events: mpsc::Receiver<End>,
    sender: mpsc::Sender<End>,
    timeout: Option<Duration>,
    since: Instant,
}

impl Watch {
    /// Ctrl-C is looked out for from here on: the first one ends the run, a second one the process.
    pub(crate) fn new(timeout: Option<Duration>) -> Result<Watch, ctrlc::Error> {
        let (sender, events) = mpsc::channel();
        let interrupts = sender.clone();
        let mut first = true;
        ctrlc::set_handler(move || {
            if !std::mem::take(&mut first) || interrupts.send(End::Interrupted).is_err() {
                std::process::exit(INTERRUPTED.into());
            }
        })?;
        Ok(Watch { events, sender, timeout, since: Instant::now() })
    }

    /// Waits for what was launched on the queue, and says on stderr what went wrong.
    pub(crate) fn finish(
        self,
        launched: Launched<'_>,
        server: Server,
        receiver: Option<Receiver>,
        queue: &Queue,
        stats: bool,
        quiet: bool,
    ) -> Outcome {
        self.look_at(0, queue)?;
        let end = self.next();
        let took = self.since.elapsed();
        let what = launched.what();
        let code = end.ended_early(what).or_else(|| finished("", launched, server.wait(queue)));
        let (received, receiver) = match (receiver, code) {
            // What runs may run on, and wait for ever: what has come is kept at the end.
            (receiver, Some(TIMED_OUT | INTERRUPTED)) => (true, receiver),
            (Some(receiver), _) => (receiver.wait(queue, quiet), None),
            (None, _) => (true, None),
        };
        for note in notes(&server.denials(), quiet, code == Some(0)) {
            eprintln!("note: {note}");
        }
        if stats {
            eprintln!("\nthe {what} took {took:.3?} from its launch to its end\n{}", device::called(&server));
        }
        match code {
            Some(code @ (TIMED_OUT | INTERRUPTED)) => {
                // Calls fail from now on, and the trace is complete. What runs may run on all the same: it ends with
                // this process.
                drop(server);
                if let Some(receiver) = receiver {
                    receiver.end(quiet);
                }
                std::process::exit(code.into());
            }
            Some(0) if !received => Ok(ExitCode::FAILURE),
            code => Ok(code.map_or(ExitCode::FAILURE, ExitCode::from)),
        }
    }

    /// As [`Watch::finish`], for what was launched on several devices: each says what went wrong as soon as it has
    /// ended, and the first one's exit code that is none of a success is that of all.
    pub(crate) fn finish_all(self, together: Together<'_>, stats: bool, quiet: bool) -> Outcome {
        let Together { fleet, mut receivers, queues, launched } = together;
        for (number, queue) in queues.iter().enumerate() {
            self.look_at(number, queue)?;
        }
        let (mut codes, mut received) = (vec![Some(0); queues.len()], true);
        let mut early = None;
        for _ in queues {
            let end = self.next();
            let End::Finished(number) = end else {
                early = end.ended_early("program");
                break;
            };
            let (member, queue) = (&fleet.members().as_slice()[number], &queues[number]);
            codes[number] = finished(&format!("device {}: ", member.label()), launched[number], member.server().wait(queue));
            if let Some(receiver) = receivers[number].take() {
                received &= receiver.wait(queue, quiet);
            }
        }
        let took = self.since.elapsed();
        let code = codes.into_iter().find(|code| *code != Some(0)).unwrap_or(Some(0));
        for member in fleet.members() {
            for note in notes(&member.server().denials(), quiet, code == Some(0) && early.is_none()) {
                eprintln!("note: device {}: {note}", member.label());
            }
        }
        if stats {
            eprintln!("\nthe program took {took:.3?} from its first launch to its last end\n{}", fleet.stats().called());
        }
        if let Some(early) = early {
            drop(fleet);
            receivers.into_iter().flatten().for_each(|receiver| receiver.end(quiet));
            std::process::exit(early.into());
        }
        match code {
            Some(0) if !received => Ok(ExitCode::FAILURE),
            code => Ok(code.map_or(ExitCode::FAILURE, ExitCode::from)),
        }
    }

    /// [`Watch::next`] will tell when this queue is empty, or its device lost.
    fn look_at(&self, number: usize, queue: &Queue) -> Result<(), Error> {
        let tell = Tell(self.sender.clone(), number);
        queue.on_complete(Box::new(move || drop(tell)))
    }

    /// Waits until a queue is empty, or something ends the run before.
    fn next(&self) -> End {
        let told = match self.timeout {
            None => self.events.recv().map_err(RecvTimeoutError::from),
            Some(timeout) => self.events.recv_timeout(timeout.saturating_sub(self.since.elapsed())),
        };
        // The other end is ours, and open: no answer is one that was too late.
        told.unwrap_or_else(|_| End::TimedOut(self.timeout.unwrap_or_default()))
    }
}

impl End {
    /// The exit code of a run that was ended before it came to its end, which is said on stderr.
    fn ended_early(&self, what: &str) -> Option<u8> {
        match self {
            End::Finished(_) => None,
            End::TimedOut(after) => {
                eprintln!("error: the {what} has not ended after {after:?}");
                Some(TIMED_OUT)
            }
            End::Interrupted => {
                eprintln!("interrupted");
                Some(INTERRUPTED)
            }
        }
    }
}

/// What was launched on several devices.
pub(crate) struct Together<'a> {
    pub(crate) fleet: Fleet,
    /// One for each device.
    pub(crate) receivers: Vec<Option<Receiver>>,
    /// One for each device.
    pub(crate) queues: &'a [Queue],
    /// One for each device.
    pub(crate) launched: Vec<Launched<'a>>,
}

/// What was launched, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Launched<'a> {
    /// A kernel, whose lanes have no names.
    Kernel,
    /// A program's `main`.
    Main(&'a Program),
}

impl Launched<'_> {
    fn what(self) -> &'static str {
        match self {
            Launched::Kernel => "kernel",
            Launched::Main(_) => "program",
        }
    }

    /// The thread of the program in which a fault was, as it is called in messages.
    fn thread(self, fault: &Fault) -> Option<String> {
        let Launched::Main(program) = self else { return None };
        let name = std_programs::thread_name(program, fault.block[0])?;
        Some(format!("thread {name}"))
    }
}

/// What is said of calls that the policy refused. Who wants to hear little hears of the first, and only if the program
/// failed: many look for what they can do without.
fn notes(denials: &[impl ToString], quiet: bool, succeeded: bool) -> Vec<String> {
    if quiet && succeeded {
        return Vec::new();
    }
    let mut notes: Vec<String> = denials.iter().map(ToString::to_string).collect();
    if quiet && notes.len() > 1 {
        let more = notes.len() - 1;
        notes.truncate(1);
        notes[0] += &format!(" (and {more} more, which a run without `-q` names)");
    }
    notes
}

/// The exit code of what has ended; says on stderr what went wrong, and `whose` it is before that.
fn finished(whose: &str, launched: Launched<'_>, outcome: Result<(), WaitError>) -> Option<u8> {
    let Err(error) = outcome else { return Some(0) };
    let report = error.report();
    let KernelReport { panics, exits, handler_panics, handler_failures, .. } = report;
    let only_exits = panics.is_empty() && handler_panics.is_empty() && handler_failures.is_empty() && !exits.is_empty();
    match &error {
        WaitError::Kernel(_) if only_exits => {}
        WaitError::Kernel(report) => eprintln!("{whose}{}", device::summary(report)),
        WaitError::Device { source, report, .. } => {
            let (text, code) = ended_by_device(launched, source);
            eprintln!("error: {whose}{text}");
            if !report.is_success() {
                eprintln!("{}", device::summary(report));
            }
            if code.is_some() {
                return code;
            }
        }
        error => eprintln!("error: {whose}{error}"),
    }
    match report.exit_code() {
        _ if !panics.is_empty() => Some(PANICKED),
        // As the operating system does, the low byte; but a failure is never taken for a success.
        Some(code) if code != 0 => Some((code as u8).max(1)),
        _ => None,
    }
}

/// What is said of a failure of the device, with the way to know more, and the exit code if it is that of a fault.
fn ended_by_device(launched: Launched<'_>, error: &Error) -> (String, Option<u8>) {
    match error {
        Error::Fault(fault) => {
            // (Where the program itself notices that a stack overflows, it says so, in these words, and aborts.)
            let whose = match launched.thread(fault) {
                Some(thread) => thread,
                None => {
                    let ([bx, by, bz], [tx, ty, tz]) = (fault.block, fault.thread);
                    format!("kernel `{}`, block {bx},{by},{bz} thread {tx},{ty},{tz}", fault.kernel)
                }
            };
            match &fault.kind {
                FaultKind::StackOverflow { stack_bytes } => {
                    let each = if let Launched::Main(_) = launched { "thread" } else { "lane" };
                    let text = format!("stack overflow: {whose} has {stack_bytes} bytes\nnote: `--stack BYTES` gives each {each} more");
                    (text, Some(ABORTED))
                }
                FaultKind::Deadlock(_) | FaultKind::Misuse(_) => (format!("{whose}: {}", fault.kind), None),
                kind => {
                    let function = fault.function.as_ref().map(|function| format!(" in `{function}`")).unwrap_or_default();
                    (format!("a fault ended the {}: {whose}{function}: {kind}", launched.what()), Some(FAULTED))
                }
            }
        }
        Error::DeviceLost { device, .. } => {
            let note = if device.starts_with("hsa:") {
                "AMD's runtime knows no stacks: one that is too small looks like this; `--stack BYTES` gives each lane more"
            } else {
                "a GPU does not say where; the simulator, `--device sim`, names the thread and the address"
            };
            (format!("a fault ended the {}: {error}\nnote: {note}", launched.what()), Some(FAULTED))
        }
        error => (error.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_run_that_fails_names_one_refused_call_and_counts_the_others() {
        for succeeded in [true, false] {
            assert_eq!(notes(&["a", "b", "c"], false, succeeded), ["a", "b", "c"]);
        }
        assert_eq!(notes(&["a", "b", "c"], true, false), ["a (and 2 more, which a run without `-q` names)"]);
        assert_eq!(notes(&["a"], true, false), ["a"]);
        assert!(notes(&["a"], true, true).is_empty());
    }
}

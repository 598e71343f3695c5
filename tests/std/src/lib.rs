//! What the tests of programs share: a device, a server with what a test grants, and a run to its end.
//!
//! `HOSTCALL_TEST_DEVICE` chooses the device; the default is the simulator.

use std::sync::{Arc, Mutex, PoisonError};

use hostcall::{Denial, Input, KernelReport, Server, ServerBuilder, Sink, WaitError};
use offload::{Args, Device, Launch, ProgramBundle};

/// What a run left.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` if the program did not end by one.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// What was asked for and not granted.
    pub denials: Vec<Denial>,
    /// Everything that the server reports.
    pub report: KernelReport,
}

impl Outcome {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// A run of a program.
#[derive(Debug)]
pub struct Run {
    bundle: ProgramBundle,
    threads: u32,
    heap: usize,
    stdin: Input,
    arguments: Vec<String>,
}

/// The device that the tests run on.
///
/// # Panics
/// When it cannot be opened: the test cannot run.
pub fn device() -> Device {
    let spec = std::env::var("HOSTCALL_TEST_DEVICE").unwrap_or_else(|_| "sim:stack=1m".to_owned());
    Device::open(&spec).unwrap_or_else(|error| panic!("HOSTCALL_TEST_DEVICE={spec}: {error}"))
}

/// A run of the program against the system calls themselves that is called `name`.
pub fn call(name: &str) -> Run {
    Run::new(offload::include_program!("std-calls")).argument("std-calls").argument(name)
}

impl Run {
    /// A run of a program: 8 threads besides `main`, 64 MiB of heap, nothing granted.
    pub fn new(bundle: ProgramBundle) -> Self {
        Self { bundle, threads: 8, heap: 64 << 20, stdin: Input::Null, arguments: Vec::new() }
    }

    /// With one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With so many threads besides `main`.
    #[must_use]
    pub fn threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }

    /// With so much heap.
    #[must_use]
    pub fn heap(self, heap: usize) -> Self {
        Self { heap, ..self }
    }

    /// With this standard input.
    #[must_use]
    pub fn stdin(self, stdin: Input) -> Self {
        Self { stdin, ..self }
    }

    /// Runs it to its end with nothing granted.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn run(self) -> Outcome {
        self.run_with(|server| server)
    }

    /// Runs it to its end with what `grant` grants.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn run_with(self, grant: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Outcome {
        let device = device();
        let ((out, stdout), (err, stderr)) = (Sink::buffer(), Sink::buffer());
        let mut builder = Server::builder(&device).heap(self.heap).stdin(self.stdin).stdout(out).stderr(err);
        for argument in self.arguments {
            builder = builder.arg(argument);
        }
        let server = grant(builder).start().expect("the server starts");
        let program = device.load(&self.bundle).expect("the program loads");
        server.attach(&program).expect("the program is attached");
        let queue = device.queue().expect("a queue");
        let kernel = program.kernel("hostcall_std").expect("programs have an entry");
        // SAFETY: the entry takes no arguments.
        unsafe { queue.launch(&kernel, Launch::linear(1 + self.threads, 1), Args::new()) }.expect("the launch");
        let report = match server.wait(&queue) {
            Ok(()) => KernelReport::default(),
            Err(WaitError::Kernel(report)) => *report,
            Err(error) => panic!("{error}"),
        };
        let taken = |memory: Arc<Mutex<Vec<u8>>>| std::mem::take(&mut *memory.lock().unwrap_or_else(PoisonError::into_inner));
        // A success keeps no exits.
        let code = if report.is_success() { Some(0) } else { report.exit_code() };
        Outcome { code, stdout: taken(stdout), stderr: taken(stderr), denials: server.denials(), report }
    }
}

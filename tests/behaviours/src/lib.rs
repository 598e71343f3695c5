//! What the behaviour tests share: the device they run on, and a program attached to a server.
//!
//! `HOSTCALL_TEST_DEVICE` chooses the device (`sim`, `sim:threads`, `cuda:0`, `hsa:0`, …); the default is the
//! simulator. With `hsa:0` and the library of `tests/hsa-on-sim` in `HOSTCALL_HSA_LIBRARY`, they run through the HSA
//! plugin, on the simulator all the same.
//!
//! `HOSTCALL_TEST_PORTS` and `HOSTCALL_TEST_SLOTS` make ports and staging slots scarce, for servers of which a test
//! does not say itself how many they have. `cargo xtask scarcity` runs every behaviour so. With `HOSTCALL_TEST_HELP=0`
//! waves that wait serve no ports.
//!
//! `HOSTCALL_TEST_KERNELS` names an image that takes the place of the kernels: those of `tests/cpp/cpp/twins.cu`.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use hostcall::{BufferHandle, Server, ServerBuilder, Status, WaitError};
use offload::{Args, Device, Image, ImageKind, Launch, Program, ProgramBundle, Queue};

/// The kernels.
///
/// # Panics
/// When others are asked for, and cannot be read.
pub fn bundle() -> ProgramBundle {
    let Some(path) = std::env::var_os("HOSTCALL_TEST_KERNELS") else { return offload::include_program!("behaviours") };
    let path = Path::new(&path);
    let kind = if path.extension().is_some_and(|extension| extension == "cubin") { ImageKind::Cubin } else { ImageKind::Sim };
    let image = std::fs::read(path).unwrap_or_else(|error| panic!("HOSTCALL_TEST_KERNELS={}: {error}", path.display()));
    ProgramBundle::new("behaviours", vec![Image::new(kind, device().info().arch.clone(), image)])
}

/// What `HOSTCALL_TEST_DEVICE` says.
pub fn device_spec() -> String {
    std::env::var("HOSTCALL_TEST_DEVICE").unwrap_or_else(|_| "sim".to_owned())
}

/// Whether the tests run on a GPU, and may be as large as one.
pub fn on_gpu() -> bool {
    !device_spec().starts_with("sim") && !emulated()
}

/// Whether a library that the tests were given stands in for a GPU's runtime, or whether `HOSTCALL_TEST_FEW` asks for
/// few waves, as for an emulator.
pub fn emulated() -> bool {
    let stands_in = device_spec().starts_with("hsa") && std::env::var_os("HOSTCALL_HSA_LIBRARY").is_some();
    stands_in || std::env::var_os("HOSTCALL_TEST_FEW").is_some()
}

/// Whether the tests run in one of the simulator's slow modes, in which loads are smaller.
pub fn slow() -> bool {
    let spec = device_spec();
    spec.starts_with("sim") && (spec.contains("threads") || spec.contains("seed"))
}

/// The device the tests run on, opened for the caller: what other tests launch meanwhile is not in flight on it.
///
/// # Panics
/// When it cannot be opened: the test cannot run.
pub fn device() -> Device {
    Device::open(&device_spec()).unwrap_or_else(|e| panic!("HOSTCALL_TEST_DEVICE={}: {e}", device_spec()))
}

/// The number in an environment variable.
fn number(variable: &str) -> Option<u32> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: give a number")))
}

const PORTS: &str = "HOSTCALL_TEST_PORTS";

/// A server for the test device, with as few ports and staging slots as the environment says.
pub fn builder(device: &Device) -> ServerBuilder {
    let mut builder = Server::builder(device);
    if std::env::var_os("HOSTCALL_TEST_HELP").is_some_and(|value| value == "0") {
        builder = builder.waves_help(false);
    }
    if let Some(ports) = number(PORTS) {
        builder = builder.ports(ports);
    }
    if let Some(slots) = number("HOSTCALL_TEST_SLOTS") {
        let whole = hostcall::__private::Geometry::new(1, 32);
        builder = builder.staging(slots, whole.slot_bytes);
    }
    builder
}

/// What the test is about takes so many ports at once: as many calls wait, or ports are kept. They are there, however
/// few the environment asks for.
pub fn with_ports(builder: ServerBuilder, least: u32) -> ServerBuilder {
    match number(PORTS) {
        Some(ports) if ports < least => {
            println!("{PORTS}={ports}, but this test is about {least} ports that are held at once");
            builder.ports(least)
        }
        _ => builder,
    }
}

/// A program attached to a server, and a queue.
#[derive(Debug)]
pub struct Bench {
    /// The queue that [`Bench::run`] launches on.
    pub queue: Queue,
    /// The program.
    pub program: Program,
    /// The server.
    pub server: Server,
    /// The port buffer that the program has of the server.
    pub buffer: BufferHandle,
    /// The device.
    pub device: Device,
}

impl Bench {
    /// Starts a server on the test device as `set_up` wants it, and attaches the kernels.
    pub fn new(set_up: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        Self::on(&device(), set_up)
    }

    /// As [`Bench::new`], on another device.
    ///
    /// # Panics
    /// When anything of it fails: the test cannot run.
    pub fn on(device: &Device, set_up: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let server = set_up(builder(device)).start().expect("the server starts");
        let program = device.load(&bundle()).expect("the kernels load");
        let buffer = server.attach(&program).expect("the kernels are attached");
        Self { queue: device.queue().expect("a queue"), program, server, buffer, device: device.clone() }
    }

    /// Launches a kernel.
    ///
    /// # Panics
    /// When the launch is refused.
    pub fn launch(&self, kernel: &str, launch: Launch, args: Args) {
        let kernel = self.program.kernel(kernel).expect("the kernel is there");
        // SAFETY: the kernels of the tests write only where their arguments say, within the lengths that come along.
        unsafe { self.queue.launch(&kernel, launch, args) }.expect("the launch");
    }

    /// Launches a kernel and waits for it.
    ///
    /// # Errors
    /// What the kernel, a handler or the device reported.
    pub fn run(&self, kernel: &str, launch: Launch, args: Args) -> Result<(), WaitError> {
        self.launch(kernel, launch, args);
        self.server.wait(&self.queue)
    }

    /// Runs a kernel of `lanes` lanes in groups of `group` whose last parameter is a slice of a result per lane.
    ///
    /// # Panics
    /// When anything of it fails.
    pub fn results<T: hostcall::Plain + Default>(&self, kernel: &str, lanes: u32, group: u32, args: Args) -> Vec<T> {
        self.try_results(kernel, lanes, group, args).unwrap_or_else(|e| panic!("{kernel}: {e}"))
    }

    /// As [`Bench::results`], for kernels that may fail.
    ///
    /// # Errors
    /// What the kernel, a handler or the device reported.
    ///
    /// # Panics
    /// When memory cannot be had or copied.
    pub fn try_results<T: hostcall::Plain + Default>(&self, kernel: &str, lanes: u32, group: u32, args: Args) -> Result<Vec<T>, WaitError> {
        let memory = self.device.alloc::<T>(lanes as usize).expect("memory for the results");
        self.queue.copy_to(&memory, 0, &vec![T::default(); lanes as usize]).expect("results are cleared");
        self.run(kernel, Launch::threads(lanes, group), args.slice(&memory))?;
        Ok(self.queue.read(&memory).expect("results are read"))
    }
}

/// A counter that handlers share with the test.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<std::sync::atomic::AtomicU64>);

impl Counter {
    /// Adds.
    pub fn add(&self, n: u64) {
        // A count and nothing else depends on it; `wait` orders it before the test's look.
        self.0.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
    }

    /// The count.
    pub fn get(&self) -> u64 {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// The status in a kernel's result word, for those that report errors as `status << 32 | detail`.
pub fn status(word: u64) -> Status {
    Status((word >> 32) as u16)
}

/// Words that are locked in a port buffer: of ports, and of staging slots. No kernel of the program may run.
///
/// # Panics
/// When the kernel that looks cannot run.
pub fn locks_held(bench: &Bench, buffer: &BufferHandle) -> (u32, u32) {
    let held = bench.device.alloc::<u32>(2).expect("memory for the counts");
    let d = buffer.descriptor();
    let args = Args::new().address(d.states).value(d.ports).address(d.slot_locks).value(d.slots).slice(&held);
    bench.launch("counts_locks", Launch::linear(1, 1), args);
    bench.queue.synchronize().expect("the kernel that looks at the locks");
    let held = bench.queue.read(&held).expect("the counts");
    (held[0], held[1])
}

/// The variable that names the test that a process was started for.
const CHILD: &str = "HOSTCALL_TEST_CHILD";

/// Whether this is the process that [`in_child`] has started for a test.
pub fn is_child(test: &str) -> bool {
    std::env::var_os(CHILD).is_some_and(|name| name == test)
}

/// This program once more, by what runs it where an emulator does (`cargo xtask arm`).
fn this_program() -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let Ok(runner) = std::env::var("HOSTCALL_TEST_RUNNER") else { return Command::new(program) };
    let mut words = runner.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(program);
    command
}

/// Runs a test in a process of its own, in which it must exit with success, and returns what that printed.
/// For tests whose kernels ruin the device's context, or that look at the whole process.
///
/// In the child `body` is run, and `None` returned. The device's name and all else is inherited.
///
/// # Panics
/// When the child cannot be started, or fails.
pub fn in_child(test: &str, body: impl FnOnce()) -> Option<Output> {
    if is_child(test) {
        body();
        return None;
    }
    let mut command = this_program();
    let output = command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, test).output();
    let output = output.expect("a child process");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{test} in a process of its own: {}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    assert!(text(&output.stdout).contains("1 passed"), "no test is called {test}");
    Some(output)
}

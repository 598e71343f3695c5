//! What the tests share: the images of the kernels in C++, and the handlers that they call.
//!
//! They run on the simulator, with images that `build.rs` has compiled. With `HOSTCALL_TEST_DEVICE=cuda:0` the
//! behaviours run there, with the images of `HOSTCALL_CPP_CUBINS`, a directory of `*.cubin`, each named after its
//! compiler: `cargo xtask gpu-bundle` has them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hostcall::{BufferHandle, HandlerError, Server, ServerBuilder, WaitError};
use offload::{Args, Device, DeviceKind, Image, ImageKind, Launch, Program, ProgramBundle, Queue};

#[path = "../../../examples/cuda/services.rs"]
pub mod services;

use services::{Particle, host};

/// The device of the behaviours, as `Device::open` takes it.
pub fn device_spec() -> String {
    std::env::var("HOSTCALL_TEST_DEVICE").unwrap_or_else(|_| "sim".to_owned())
}

/// Whether it is a simulator, which has more modes than one.
pub fn on_simulator() -> bool {
    device_spec().starts_with("sim")
}

/// The compilers whose images for the device there are: their names, and where the images lie.
///
/// # Panics
/// When there should be cubins, and there are none.
pub fn images() -> Vec<(String, PathBuf)> {
    if on_simulator() {
        return present([("g++", env!("HOSTCALL_CPP_KERNELS_GCC")), ("clang++", env!("HOSTCALL_CPP_KERNELS_CLANG"))]);
    }
    cubins("HOSTCALL_CPP_CUBINS")
}

/// The cubins in the directory that a variable names, or the code objects; or the simulator's images, for a stand-in of
/// AMD's runtime.
fn cubins(variable: &str) -> Vec<(String, PathBuf)> {
    let dir = std::env::var_os(variable).unwrap_or_else(|| panic!("on a GPU {variable} names a directory with *.cubin or *.co"));
    let files = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let is_image = |path: &PathBuf| path.extension().is_some_and(|extension| ["cubin", "co", "so"].iter().any(|known| extension == *known));
    let files = files.map(|file| file.expect("an entry").path()).filter(is_image);
    let mut all: Vec<_> = files.map(|path| (path.file_stem().unwrap_or_default().display().to_string(), path)).collect();
    all.sort();
    assert!(!all.is_empty(), "{}: no *.cubin, *.co or *.so", dir.display());
    all
}

/// The same of the kernels that fill packets; on a GPU from `HOSTCALL_PACKETS_CUBINS`.
///
/// # Panics
/// When there should be cubins, and there are none.
pub fn packet_images() -> Vec<(String, PathBuf)> {
    if on_simulator() {
        return present([("g++", env!("HOSTCALL_CPP_PACKETS_GCC")), ("clang++", env!("HOSTCALL_CPP_PACKETS_CLANG"))]);
    }
    cubins("HOSTCALL_PACKETS_CUBINS")
}

/// The same of the kernel that probes words of 16 bytes; on a GPU from `HOSTCALL_WHOLE_IMAGES`, cubins or AMD's code
/// objects.
///
/// # Panics
/// When there should be images, and there are none.
pub fn whole_images() -> Vec<(String, PathBuf)> {
    if on_simulator() {
        return present([("g++", env!("HOSTCALL_CPP_WHOLE_GCC")), ("clang++", env!("HOSTCALL_CPP_WHOLE_CLANG"))]);
    }
    cubins("HOSTCALL_WHOLE_IMAGES")
}

/// The same of kernels in the names of LLVM's `rpc.h`, over our own wire; on a GPU from `HOSTCALL_RPC_CUBINS`.
///
/// # Panics
/// When there should be cubins, and there are none.
pub fn rpc_images() -> Vec<(String, PathBuf)> {
    if on_simulator() {
        return present([("g++", env!("HOSTCALL_CPP_RPC_GCC")), ("clang++", env!("HOSTCALL_CPP_RPC_CLANG"))]);
    }
    cubins("HOSTCALL_RPC_CUBINS")
}

/// The simulator's images of the same text over LLVM's wire.
pub fn rpc_wire_images() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_RPC_WIRE_GCC")), ("clang++", env!("HOSTCALL_CPP_RPC_WIRE_CLANG"))])
}

/// The simulator's images of kernels that assert and print.
pub fn assert_images() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_ASSERTS_GCC")), ("clang++", env!("HOSTCALL_CPP_ASSERTS_CLANG"))])
}

/// The same of kernels whose lanes go on.
pub fn continue_images() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_CONTINUE_GCC")), ("clang++", env!("HOSTCALL_CPP_CONTINUE_CLANG"))])
}

/// The simulator's images of the first example of docs/guide/cpp.md.
pub fn add42_images() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_ADD42_GCC")), ("clang++", env!("HOSTCALL_CPP_ADD42_CLANG"))])
}

/// The simulator's images of the kernels that the tests of kernels in Rust run.
pub fn twin_images() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_TWINS_GCC")), ("clang++", env!("HOSTCALL_CPP_TWINS_CLANG"))])
}

/// The simulator's images of the client over a recorded bus.
pub fn clients() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_CLIENT_GCC")), ("clang++", env!("HOSTCALL_CPP_CLIENT_CLANG"))])
}

/// The same of its streams.
pub fn stream_clients() -> Vec<(String, PathBuf)> {
    present([("g++", env!("HOSTCALL_CPP_STREAMS_GCC")), ("clang++", env!("HOSTCALL_CPP_STREAMS_CLANG"))])
}

fn present(all: [(&str, &str); 2]) -> Vec<(String, PathBuf)> {
    let (there, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, image)| !image.is_empty());
    for (compiler, _) in missing {
        println!("skipped: there is no {compiler}");
    }
    there.into_iter().map(|(compiler, image)| (compiler.to_owned(), image.into())).collect()
}

/// What handlers saw of posts.
#[derive(Debug, Default)]
pub struct Seen {
    /// Sum of the values of `note`.
    pub notes: AtomicU64,
    /// Messages of `log`, their bytes, and a sum of them.
    pub logs: AtomicU64,
    /// Bytes of them.
    pub log_bytes: AtomicU64,
}

/// The handlers of `Host`, without `held_back`.
pub fn handlers(builder: ServerBuilder, seen: &Arc<Seen>) -> ServerBuilder {
    let (noted, logged) = (seen.clone(), seen.clone());
    builder
        .service(host::add42(|x| x + 42.0))
        .service(host::nothing(|| ()))
        .service(host::sum(|a, b| a + b))
        .service(host::scale(|a, b| f64::from(a) * b))
        .service(host::mixed(|a| (a, -i64::from(a), a % 2 == 1, 'ß')))
        .service(host::lookup(|key| key.is_multiple_of(3).then(|| key * key)))
        .service(host::half(|n| if n % 2 == 0 { Ok(u64::from(n / 2)) } else { Err(n) }))
        .service(host::set(|n| if n == 5 { Err(5) } else { Ok(()) }))
        .service(host::digest(|block: [u8; 64]| [block.iter().map(|b| u32::from(*b)).sum(), u32::from(block[63])]))
        .service(host::step(|before: Particle, seconds| {
            let [x, y, z] = before.place;
            Particle { place: [x, y, z + seconds], number: before.number + 1, ..before }
        }))
        .service(host::wide(|values: [u32; 100]| std::array::from_fn(|i| values[i + 40])))
        .service(host::small(|a, b, yes, letter| i16::from(a) + b as i16 + if yes { letter as i16 } else { 0 }))
        .service(host::measure(|text: &str, numbers: &[u32]| (text.len() as u32, numbers.iter().map(|n| u64::from(*n)).sum::<u64>())))
        .service(host::echo(|data: &[u8], back: &mut [u8]| {
            back.copy_from_slice(data);
            data.iter().map(|b| u32::from(*b)).sum::<u32>()
        }))
        .service(host::fill(|block, out: &mut [u16]| {
            out.fill(block as u16);
            if block % 2 == 0 { Ok(out.len() as u32) } else { Err(block) }
        }))
        // Relaxed: they are read when the kernel has been waited for.
        .service(host::note(move |value| _ = noted.notes.fetch_add(value, Ordering::Relaxed)))
        .service(host::log(move |message: &str| {
            logged.logs.fetch_add(1, Ordering::Relaxed);
            logged.log_bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        }))
        .service(host::picky(|v| if v % 2 == 0 { Ok(v * 10) } else { Err(HandlerError::new(v + 7, "odd")) }))
        .service(host::fragile(|v| {
            assert!(v % 2 == 0, "odd: {v}");
            v * 10
        }))
}

/// A device, and how few ports and staging slots a server on it has.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As `Device::open` takes it.
    pub device: String,
    /// Ports and staging slots, if they are not as many as usual.
    pub scarce: Option<(u32, u32)>,
}

impl Setting {
    /// As many ports and slots as usual.
    pub fn usual(device: impl Into<String>) -> Self {
        Self { device: device.into(), scarce: None }
    }
}

/// A program in C++ attached to a server, and a queue.
#[derive(Debug)]
pub struct Bench {
    /// The queue.
    pub queue: Queue,
    /// The program.
    pub program: Program,
    /// The server.
    pub server: Server,
    /// Its port buffer.
    pub buffer: BufferHandle,
    /// The device.
    pub device: Device,
    /// What handlers saw.
    pub seen: Arc<Seen>,
}

/// The image at `path` as a bundle for the device.
///
/// # Panics
/// When it cannot be read.
pub fn bundle(device: &Device, path: &Path) -> ProgramBundle {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The simulator's too, where a stand-in for AMD's runtime runs them.
    let kind = match (path.extension().and_then(|extension| extension.to_str()), device.info().kind) {
        (Some("so"), _) => ImageKind::Sim,
        (_, DeviceKind::Hsa) => ImageKind::AmdCodeObject,
        _ => ImageKind::Cubin,
    };
    ProgramBundle::new("behaviours.cu", vec![Image::new(kind, device.info().arch.clone(), bytes)])
}

impl Bench {
    /// Loads the image at `path`, and attaches it to a server with the handlers and what `more` adds.
    ///
    /// # Panics
    /// When anything of it fails: the test cannot run.
    pub fn new(path: &Path, setting: &Setting, more: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let device = Device::open(&setting.device).unwrap_or_else(|error| panic!("{}: {error}", setting.device));
        let seen = Arc::new(Seen::default());
        let mut builder = Server::builder(&device);
        if let Some((ports, slots)) = setting.scarce {
            builder = builder.ports(ports).staging(slots, hostcall::__private::Geometry::new(1, 32).slot_bytes);
        }
        let server = more(handlers(builder, &seen)).start().expect("the server starts");
        let program = device.load(&bundle(&device, path)).expect("the kernels load");
        let buffer = server.attach(&program).expect("the kernels are attached");
        Self { queue: device.queue().expect("a queue"), program, server, buffer, device, seen }
    }

    /// Launches a kernel whose last parameter is a slice of `per_lane` results of each lane.
    ///
    /// # Panics
    /// When the launch is refused.
    pub fn launch<T: hostcall::Plain + Default>(&self, kernel: &str, lanes: u32, per_lane: u32, args: Args) -> offload::Memory<T> {
        let memory = self.device.alloc::<T>((lanes * per_lane) as usize).expect("memory for the results");
        let kernel = self.program.kernel(kernel).expect("the kernel is there");
        self.queue.copy_to(&memory, 0, &vec![T::default(); (lanes * per_lane) as usize]).expect("results are cleared");
        let args = args.address(memory.address()).value(u64::from(lanes));
        // SAFETY: the kernels write only where their arguments say, and lanes from the given number on do nothing.
        unsafe { self.queue.launch(&kernel, Launch::threads(lanes, lanes.min(96)), args) }.expect("the launch");
        memory
    }

    /// Runs such a kernel.
    ///
    /// # Errors
    /// What the kernel, a handler or the device reported.
    ///
    /// # Panics
    /// When results cannot be read.
    pub fn run<T: hostcall::Plain + Default>(&self, kernel: &str, lanes: u32, args: Args) -> Result<Vec<T>, WaitError> {
        let memory = self.launch(kernel, lanes, 1, args);
        self.server.wait(&self.queue)?;
        Ok(self.queue.read(&memory).expect("results are read"))
    }
}

//! What a handler costs that is called through C, beside the same in Rust: all waves of a device call `Bench::exchange`, 64 bytes there
//! and 16 back by every lane, answered by a closure and by an `hc_handler` in turns.
//!
//! `cargo run --release -p libhostcall --example kernels -- kernels/bench bench.program`, then
//! `cargo run --release -p libhostcall --example handler_rate -- sim bench.program [CALLS]`

use std::error::Error;
use std::ffi::{c_char, c_void};
use std::time::Instant;

use bench_services::{answer, bench};
use hostcall::Server;
use offload::{Args, Device, Launch, ProgramBundle};

/// The interface of `hostcall.h`, as far as this needs it.
mod c {
    use std::ffi::{c_char, c_void};

    #[repr(C)]
    pub(super) struct Lanes {
        pub(super) size: usize,
        pub(super) count: u32,
        pub(super) posted: u32,
        pub(super) mask: u64,
        pub(super) arguments: *const u32,
        pub(super) argument_stride: usize,
        pub(super) argument_units: usize,
        pub(super) results: *mut u32,
        pub(super) result_stride: usize,
        pub(super) result_units: usize,
    }

    #[repr(C)]
    pub(super) struct Definition {
        pub(super) size: usize,
        pub(super) name: *const c_char,
        pub(super) signature: u64,
        pub(super) text: *const c_char,
        pub(super) rest: [u32; 4],
        pub(super) variables: *const c_void,
    }

    #[repr(C)]
    pub(super) struct Options {
        pub(super) size: usize,
        pub(super) threads: u32,
    }

    #[repr(C)]
    pub(super) struct Shape {
        pub(super) size: usize,
        pub(super) groups: [u32; 3],
        pub(super) group_size: [u32; 3],
        pub(super) dynamic_shared: u32,
    }

    #[repr(C)]
    pub(super) struct Argument {
        pub(super) bytes: *const c_void,
        pub(super) count: usize,
    }

    pub(super) type Handler = unsafe extern "C" fn(*mut c_void, *const Lanes, *mut c_void);

    pub(super) const INLINE: u32 = 1;
}

/// The functions, of the shared library that `HOSTCALL_LIBRARY` names.
struct Library {
    library: libloading::Library,
}

impl Library {
    /// A function of this name.
    ///
    /// # Safety
    /// `F` is the type that `hostcall.h` gives it.
    unsafe fn get<F: Copy>(&self, name: &str) -> F {
        // SAFETY: the caller's.
        *unsafe { self.library.get::<F>(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Fails with what the library says, unless `status` is `HC_OK`.
    fn must(&self, status: i32) {
        // SAFETY: the type of the header.
        let last: unsafe extern "C" fn() -> *const c_char = unsafe { self.get("hc_last_error") };
        // SAFETY: a text of this thread's, until the next failure.
        assert_eq!(status, 0, "{}", unsafe { std::ffi::CStr::from_ptr(last()) }.to_string_lossy());
    }
}

/// The definition of `Bench::exchange`.
const NAME: &std::ffi::CStr = c"Bench__exchange";
const TEXT: &std::ffi::CStr = c"fn([u32; 16]) -> [u64; 2]";

unsafe extern "C" fn exchange(_: *mut c_void, lanes: *const c::Lanes, _: *mut c_void) {
    // SAFETY: the library's, until the handler returns.
    let lanes = unsafe { &*lanes };
    for i in 0..lanes.count as usize {
        // SAFETY: row `i` of the arguments has 16 units, and that of the results four.
        unsafe {
            let block = lanes.arguments.add(i * lanes.argument_stride).cast::<[u32; 16]>().read_unaligned();
            lanes.results.add(i * lanes.result_stride).cast::<[u64; 2]>().write_unaligned(answer(&block));
        }
    }
}

/// Launches of `throughput_wide`: as many waves as can be resident, so many calls of each lane.
#[derive(Clone, Copy)]
struct Load {
    groups: u32,
    group_size: u32,
    calls: u32,
}

impl Load {
    fn lanes(self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }

    /// Calls of waves, of 32 lanes, a second.
    fn rate(self, took: std::time::Duration) -> f64 {
        self.lanes() as f64 / 32.0 * f64::from(self.calls) / took.as_secs_f64()
    }
}

/// By a closure.
fn in_rust(device: &Device, bundle: &ProgramBundle, load: Load) -> Result<f64, Box<dyn Error>> {
    let service = bench::exchange(|block| answer(&block));
    let program = device.load(bundle)?;
    let server = Server::builder(device).threads(THREADS as usize).service(service).start()?;
    server.attach(&program)?;
    let (queue, kernel) = (device.queue()?, program.kernel("throughput_wide")?);
    let right = device.alloc::<u64>(load.lanes() as usize)?;
    let mut best = 0.0f64;
    for _ in 0..SAMPLES {
        let start = Instant::now();
        let args = Args::new().value(load.calls).slice(&right);
        // SAFETY: the kernel takes a number and a slice of a word for each lane.
        unsafe { queue.launch(&kernel, Launch::linear(load.groups, load.group_size), args) }?;
        server.wait(&queue)?;
        best = best.max(load.rate(start.elapsed()));
        assert_eq!(queue.read(&right)?.iter().sum::<u64>(), load.lanes() * u64::from(load.calls), "right answers");
    }
    Ok(best)
}

/// Through C.
fn in_c(library: &Library, which: &std::ffi::CStr, image: &[u8], load: Load) -> f64 {
    let mut best = 0.0f64;
    // SAFETY: functions of `hostcall.h` with its types; every pointer is to what lives until the call has ended, and handles end in order.
    unsafe {
        let open: unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> i32 = library.get("hc_device_open");
        let start: unsafe extern "C" fn(*mut c_void, *const c::Options, *const c_void, usize, *mut *mut c_void) -> i32 =
            library.get("hc_server_start");
        let register: unsafe extern "C" fn(
            *mut c_void,
            *const c::Definition,
            u32,
            c::Handler,
            *mut c_void,
            *const c_void,
            *mut c_void,
        ) -> i32 = library.get("hc_register");
        let load_program: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut *mut c_void) -> i32 = library.get("hc_program_load");
        let attach: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void) -> i32 = library.get("hc_attach_program");
        let alloc: unsafe extern "C" fn(*mut c_void, usize, *mut *mut c_void) -> i32 = library.get("hc_memory_alloc");
        let address_of: unsafe extern "C" fn(*const c_void, *mut u64) -> i32 = library.get("hc_memory_address");
        let read: unsafe extern "C" fn(*const c_void, usize, *mut u64, usize) -> i32 = library.get("hc_memory_read");
        let launch: unsafe extern "C" fn(*mut c_void, *const c_char, *const c::Shape, *const c::Argument, usize, *mut c_void) -> i32 =
            library.get("hc_launch");
        let wait: unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32 = library.get("hc_wait");
        let end = |name: &str, handle: &mut *mut c_void| {
            let end: unsafe extern "C" fn(*mut *mut c_void) = library.get(name);
            end(handle);
        };
        let stop: unsafe extern "C" fn(*mut *mut c_void) -> i32 = library.get("hc_server_stop");

        let null = std::ptr::null_mut::<c_void>();
        let [mut device, mut server, mut program, mut attachment, mut memory] = [null; 5];
        library.must(open(which.as_ptr(), &raw mut device));
        let options = c::Options { size: size_of::<c::Options>(), threads: THREADS };
        library.must(start(device, &raw const options, null, 0, &raw mut server));
        let definition = c::Definition {
            size: size_of::<c::Definition>(),
            name: NAME.as_ptr(),
            signature: 0,
            text: TEXT.as_ptr(),
            rest: [0; 4],
            variables: null,
        };
        library.must(register(server, &raw const definition, c::INLINE, exchange, null, null, null));
        library.must(load_program(device, image.as_ptr(), image.len(), &raw mut program));
        library.must(attach(server, program, &raw mut attachment));
        let lanes = load.lanes();
        library.must(alloc(device, lanes as usize * 8, &raw mut memory));
        let mut address = 0u64;
        library.must(address_of(memory, &raw mut address));
        let shape =
            c::Shape { size: size_of::<c::Shape>(), groups: [load.groups, 1, 1], group_size: [load.group_size, 1, 1], dynamic_shared: 0 };
        let argument = |bytes: *const c_void, count| c::Argument { bytes, count };
        let arguments =
            [argument((&raw const load.calls).cast(), 4), argument((&raw const address).cast(), 8), argument((&raw const lanes).cast(), 8)];
        for _ in 0..SAMPLES {
            let begun = Instant::now();
            library.must(launch(program, c"throughput_wide".as_ptr(), &raw const shape, arguments.as_ptr(), 3, null));
            library.must(wait(server, null));
            best = best.max(load.rate(begun.elapsed()));
            let mut right = vec![0u64; lanes as usize];
            library.must(read(memory, 0, right.as_mut_ptr(), lanes as usize * 8));
            assert_eq!(right.iter().sum::<u64>(), lanes * u64::from(load.calls), "right answers");
        }
        end("hc_detach", &mut attachment);
        library.must(stop(&raw mut server));
        end("hc_program_unload", &mut program);
        end("hc_memory_free", &mut memory);
        end("hc_device_destroy", &mut device);
    }
    best
}

/// Server threads.
const THREADS: u32 = 8;
/// Launches of which the best counts.
const SAMPLES: usize = 3;
/// Turns, each with servers of its own.
const TURNS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (which, file, calls) = match &arguments[..] {
        [which, file] => (which, file, 200),
        [which, file, calls] => (which, file, calls.parse()?),
        _ => return Err("usage: handler_rate DEVICE bench.program [CALLS]".into()),
    };
    let path = std::env::var_os("HOSTCALL_LIBRARY").ok_or("HOSTCALL_LIBRARY names libhostcall.so")?;
    // SAFETY: the library's initialisers only set up itself.
    let library = Library { library: unsafe { libloading::Library::new(path) }? };
    let image = std::fs::read(file)?;
    let bundle = ProgramBundle::from_bytes(&image)?;
    let device = Device::open(which)?;
    let info = device.info();
    let load = Load { groups: info.resident_waves / 8, group_size: 8 * info.wave_size, calls };
    let named = std::ffi::CString::new(which.as_str())?;
    let mut ratios = Vec::new();
    for turn in 0..TURNS {
        // Each is first in every other turn, so that what a machine does as time goes by concerns both.
        let c_first = (turn % 2 == 1).then(|| in_c(&library, &named, &image, load));
        let rust = in_rust(&device, &bundle, load)?;
        let c = c_first.unwrap_or_else(|| in_c(&library, &named, &image, load));
        println!("turn {turn}: {:.3} M calls of waves a second in Rust, {:.3} M through C, {:.3}x the time", rust / 1e6, c / 1e6, rust / c);
        ratios.push(rust / c);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{}: through C a message takes {:.3}x the time (median of {} turns)", info.name, ratios[ratios.len() / 2], ratios.len());
    Ok(())
}

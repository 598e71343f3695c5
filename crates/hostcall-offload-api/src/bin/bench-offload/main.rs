//! `bench-offload`: what calls of the library cost here, in nanoseconds. The least of several rounds, each of many
//! calls.
//!
//! Run it with `--release`, alone on the machine: `cargo run --release -p hostcall-offload-api --bin bench-offload
//! [IMAGE [GPU-IMAGE]]`. With a host image of `tests/images/kernels.c`, launches are measured too. Where there is a
//! GPU, the same is measured on it, beside the driver's own functions: with PTX or machine code of the same file,
//! launches as well.

mod driver;
mod gpu;

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use liboffload::library::Library;
use liboffload::runtime::safe::result;
use liboffload::sys;

// The calls go through the functions of the C library, as those of other programs do.
liboffload::export_entry_points!(Library);

const ROUNDS: u32 = 15;

/// Nanoseconds of one call of `work`, the least of several rounds.
fn measure(name: &str, calls: u32, mut work: impl FnMut()) {
    let round = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| work());
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    let least = (0..ROUNDS).map(|_| round(&mut work)).fold(f64::INFINITY, f64::min);
    println!("{name:<58} {least:>10.1} ns");
}

#[inline]
fn must(outcome: sys::ol_result_t) {
    if !outcome.is_null() {
        failed(outcome);
    }
}

#[cold]
fn failed(outcome: sys::ol_result_t) {
    // SAFETY: a result of the library.
    if let Err(error) = unsafe { result(outcome) } {
        eprintln!("bench-offload: {error}");
        std::process::exit(1);
    }
}

unsafe extern "C" fn take_first(device: sys::ol_device_handle_t, data: *mut c_void) -> bool {
    // SAFETY: `main` passes such a pointer.
    unsafe { data.cast::<sys::ol_device_handle_t>().write(device) };
    false
}

unsafe extern "C" fn take_last(device: sys::ol_device_handle_t, data: *mut c_void) -> bool {
    // SAFETY: `main` passes such a pointer.
    unsafe { data.cast::<sys::ol_device_handle_t>().write(device) };
    true
}

/// Set in a process of this program that measures traced calls only: whether calls are traced is decided at the first
/// one.
const TRACED: &str = "BENCH_OFFLOAD_TRACED";

fn main() {
    if let Some(name) = std::env::var_os(TRACED) {
        return traced_call(&name.to_string_lossy());
    }
    measure("olInit and olShutDown, no platform asked for", 1000, || {
        // SAFETY: null is allowed.
        must(unsafe { sys::olInit(ptr::null()) });
        // SAFETY: no arguments.
        must(unsafe { sys::olShutDown() });
    });
    // SAFETY: null is allowed.
    must(unsafe { sys::olInit(ptr::null()) });
    let device = host();

    let (mut word, what) = (0u32, sys::ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    // SAFETY: room for the property.
    measure("olGetDeviceInfo, a number", 100_000, || unsafe {
        must(sys::olGetDeviceInfo(black_box(device), what, 4, (&raw mut word).cast()));
    });
    // SAFETY: refused before anything is written.
    measure("an error whose text is always the same", 100_000, || unsafe {
        black_box(sys::olGetDeviceInfo(black_box(device), what, 0, (&raw mut word).cast()));
    });
    // SAFETY: as above.
    measure("an error whose text is made for the call", 20_000, || unsafe {
        black_box(sys::olGetDeviceInfo(black_box(device), what, 3, (&raw mut word).cast()));
    });
    traced_calls();
    for size in [64, 1 << 20] {
        measure(&format!("olMemAlloc and olMemFree, {size} bytes, host"), 2000, || {
            let mut address = ptr::null_mut();
            // SAFETY: room for the address; freed once.
            unsafe {
                must(sys::olMemAlloc(device, sys::ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE, size, &raw mut address));
                must(sys::olMemFree(address));
            }
        });
    }
    let mut queue: sys::ol_queue_handle_t = ptr::null_mut();
    // SAFETY: room for the handle.
    must(unsafe { sys::olCreateQueue(device, &raw mut queue) });
    let (mut to, from) = ([0u8; 4096], [1u8; 4096]);
    let (target, source) = (to.as_mut_ptr().cast::<c_void>(), from.as_ptr().cast::<c_void>());
    // SAFETY: both have as many bytes, and outlive the copies, which are waited for.
    measure("olMemcpy of 4 KiB without a queue, host", 2000, || unsafe {
        must(sys::olMemcpy(ptr::null_mut(), target, device, source, device, 4096));
    });
    // SAFETY: as above.
    measure("olMemcpy of 4 KiB in a queue and olSyncQueue, host", 2000, || unsafe {
        must(sys::olMemcpy(queue, target, device, source, device, 4096));
        must(sys::olSyncQueue(queue));
    });
    if let Some(path) = std::env::args().nth(1) {
        launches(device, queue, &path);
    }
    let mut first: sys::ol_device_handle_t = ptr::null_mut();
    // SAFETY: as above.
    must(unsafe { sys::olIterateDevices(Some(take_first), (&raw mut first).cast()) });
    if first != device {
        gpu::measure_all(first, std::env::args().nth(2).as_deref());
    }
    // SAFETY: no arguments.
    must(unsafe { sys::olShutDown() });
}

/// The host's device, which is the last.
fn host() -> sys::ol_device_handle_t {
    let mut device: sys::ol_device_handle_t = ptr::null_mut();
    // SAFETY: `take_last` writes a handle to where the data points.
    must(unsafe { sys::olIterateDevices(Some(take_last), (&raw mut device).cast()) });
    device
}

/// Calls that are traced into a file, as text and as JSON, each in a process of its own.
fn traced_calls() {
    for ending in ["txt", "json"] {
        let file = std::env::temp_dir().join(format!("bench-offload-{}.{ending}", std::process::id()));
        let child = std::env::current_exe().and_then(|program| {
            let name = format!("olGetDeviceInfo, traced into a file (.{ending})");
            std::process::Command::new(program).env("OFFLOAD_TRACE", &file).env(TRACED, name).status()
        });
        if let Err(error) = child {
            println!("a traced call was not measured: {error}");
        }
        // What is not there need not be removed.
        let _ = std::fs::remove_file(file);
    }
}

/// The benchmark in such a process.
fn traced_call(name: &str) {
    // SAFETY: null is allowed.
    must(unsafe { sys::olInit(ptr::null()) });
    let (device, what) = (host(), sys::ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    let mut word = 0u32;
    // SAFETY: room for the property.
    measure(name, 2000, || unsafe {
        must(sys::olGetDeviceInfo(device, what, 4, (&raw mut word).cast()));
    });
    // SAFETY: no arguments.
    must(unsafe { sys::olShutDown() });
}

/// The bytes of an image.
fn image(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| {
        eprintln!("bench-offload: cannot read {path}: {error}");
        std::process::exit(1);
    })
}

/// The kernel of an image that has no parameters and does nothing.
fn nothing(device: sys::ol_device_handle_t, image: &[u8]) -> sys::ol_symbol_handle_t {
    let (mut program, mut kernel): (sys::ol_program_handle_t, sys::ol_symbol_handle_t) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the image outlives the call; room for the handles.
    unsafe {
        must(sys::olCreateProgram(device, image.as_ptr().cast(), image.len(), &raw mut program));
        must(sys::olGetSymbol(program, c"nothing".as_ptr(), sys::ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL, &raw mut kernel));
    }
    kernel
}

/// Launches it once.
fn launch(device: sys::ol_device_handle_t, queue: sys::ol_queue_handle_t, kernel: sys::ol_symbol_handle_t) {
    let one = sys::ol_dimensions_t { x: 1, y: 1, z: 1 };
    let shape = sys::ol_kernel_launch_size_args_t { Dimensions: 1, NumGroups: one, GroupSize: one, DynSharedMemory: 0 };
    // SAFETY: the kernel has no parameters, and does nothing.
    must(unsafe { sys::olLaunchKernel(queue, device, kernel, &raw const shape, ptr::null(), 0, ptr::null_mut(), ptr::null()) });
}

fn launches(device: sys::ol_device_handle_t, queue: sys::ol_queue_handle_t, path: &str) {
    let kernel = nothing(device, &image(path));
    let launch = || launch(device, queue, kernel);
    measure("olLaunchKernel of a host image and olSyncQueue", 2000, || {
        launch();
        // SAFETY: a live handle.
        must(unsafe { sys::olSyncQueue(queue) });
    });
    measure("olLaunchKernel of a host image, 100 and one olSyncQueue", 50, || {
        (0..100).for_each(|_| launch());
        // SAFETY: a live handle.
        must(unsafe { sys::olSyncQueue(queue) });
    });
}

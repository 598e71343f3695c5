//! The same on a GPU, beside the driver's own functions in the same process and the same context.

use std::error::Error;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use libloading::Library;
use liboffload::sys;

use super::{image, launch, measure, must, nothing};

/// Bytes of a copy.
const COPY: usize = 4096;
/// Threads that launch at once, and what each of them does: rounds of launches that are waited for.
const THREADS: usize = 8;
const ROUNDS: u32 = 20;
const LAUNCHES: u32 = 100;

/// Measures allocation, copies, and, with an image, launches.
pub(super) fn measure_all(gpu: sys::ol_device_handle_t, path: Option<&str>) {
    for size in [64, 64 << 10, 4 << 20] {
        // Small blocks come from the cache when they were freed before, large ones from the driver.
        measure(&format!("olMemAlloc and olMemFree, {size} bytes, GPU"), 500, || free(alloc(gpu, size)));
    }
    let (host, memory, mut queue) = (super::host(), alloc(gpu, COPY), ptr::null_mut());
    let source = [1u8; COPY];
    let source = source.as_ptr().cast::<c_void>();
    // SAFETY: room for the handle; both ends of the copies have as many bytes, and outlive them.
    unsafe {
        must(sys::olCreateQueue(gpu, &raw mut queue));
        measure("olMemcpy of 4 KiB to the GPU without a queue", 500, || {
            must(sys::olMemcpy(ptr::null_mut(), memory, gpu, source, host, COPY))
        });
        measure("olMemcpy of 4 KiB to the GPU in a queue and olSyncQueue", 500, || {
            must(sys::olMemcpy(queue, memory, gpu, source, host, COPY));
            must(sys::olSyncQueue(queue));
        });
    }
    free(memory);
    let image = path.map(image);
    if let Some(image) = &image {
        let kernel = nothing(gpu, image);
        measure("olLaunchKernel, GPU: 100 and one olSyncQueue", 20, || {
            (0..LAUNCHES).for_each(|_| launch(gpu, queue, kernel));
            // SAFETY: a live handle.
            must(unsafe { sys::olSyncQueue(queue) });
        });
        let (gpu, kernel) = (Handle(gpu), Handle(kernel));
        by_threads("olLaunchKernel, GPU, by 8 threads with a queue each", || {
            let (gpu, kernel) = (gpu.get(), kernel.get());
            let mut queue = ptr::null_mut();
            // SAFETY: room for the handle.
            must(unsafe { sys::olCreateQueue(gpu, &raw mut queue) });
            move || {
                (0..LAUNCHES).for_each(|_| launch(gpu, queue, kernel));
                // SAFETY: a live handle.
                must(unsafe { sys::olSyncQueue(queue) });
            }
        });
    }
    if let Err(error) = driver(image.as_deref()) {
        println!("the driver's own functions were not measured: {error}");
    }
}

/// A handle that threads share: the library's may be used by any.
#[derive(Clone, Copy)]
struct Handle<T>(T);

// SAFETY: a handle is a number to the library, whose functions may be called by any thread.
unsafe impl<T> Sync for Handle<T> {}

impl<T: Copy> Handle<T> {
    fn get(&self) -> T {
        self.0
    }
}

fn alloc(gpu: sys::ol_device_handle_t, size: usize) -> *mut c_void {
    let mut address = ptr::null_mut();
    // SAFETY: room for the address.
    must(unsafe { sys::olMemAlloc(gpu, sys::ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE, size, &raw mut address) });
    address
}

fn free(address: *mut c_void) {
    // SAFETY: of `alloc`, and freed once.
    must(unsafe { sys::olMemFree(address) });
}

/// Nanoseconds of a launch when many threads launch at once. `prepare` gives each thread what it repeats: [`LAUNCHES`] launches.
fn by_threads<W: FnMut()>(name: &str, prepare: impl Fn() -> W + Sync) {
    let least = (0..super::ROUNDS)
        .map(|_| {
            let ready = Barrier::new(THREADS);
            let thread = || {
                let mut work = prepare();
                work();
                ready.wait();
                let start = Instant::now();
                (0..ROUNDS).for_each(|_| work());
                start.elapsed()
            };
            let longest = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(thread)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or(Duration::MAX)).max().unwrap_or_default()
            });
            longest.as_nanos() as f64 / (THREADS as u32 * ROUNDS * LAUNCHES) as f64
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:<58} {least:>10.1} ns");
}

type Status = u32;
/// `cuLaunchKernel`.
type Launch =
    unsafe extern "C" fn(*mut c_void, u32, u32, u32, u32, u32, u32, u32, *mut c_void, *mut *mut c_void, *mut *mut c_void) -> Status;

fn ok(status: Status) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("CUresult {status}")) }
}

/// The driver's own functions, in the first GPU's primary context.
fn driver(image: Option<&[u8]>) -> Result<(), Box<dyn Error>> {
    // A first failure, for closures that have nowhere else to put it.
    let mut failed = Ok(());
    let mut note = |outcome: Result<(), String>| {
        if failed.is_ok() {
            failed = outcome;
        }
    };
    // SAFETY: the driver, which is loaded already; the functions have these types (cuda.h), and get what they ask for.
    unsafe {
        let driver = Library::new("libcuda.so.1")?;
        let retain = driver.get::<unsafe extern "C" fn(*mut *mut c_void, i32) -> Status>(b"cuDevicePrimaryCtxRetain")?;
        let release = driver.get::<unsafe extern "C" fn(i32) -> Status>(b"cuDevicePrimaryCtxRelease_v2")?;
        let enter = *driver.get::<unsafe extern "C" fn(*mut c_void) -> Status>(b"cuCtxSetCurrent")?;
        let alloc = driver.get::<unsafe extern "C" fn(*mut u64, usize, *mut c_void) -> Status>(b"cuMemAllocAsync")?;
        let free = driver.get::<unsafe extern "C" fn(u64, *mut c_void) -> Status>(b"cuMemFreeAsync")?;
        let copy = driver.get::<unsafe extern "C" fn(u64, *const c_void, usize) -> Status>(b"cuMemcpyHtoD_v2")?;
        let copy_in_order =
            driver.get::<unsafe extern "C" fn(u64, *const c_void, usize, *mut c_void) -> Status>(b"cuMemcpyHtoDAsync_v2")?;
        let stream = *driver.get::<unsafe extern "C" fn(*mut *mut c_void, u32) -> Status>(b"cuStreamCreate")?;
        let wait = *driver.get::<unsafe extern "C" fn(*mut c_void) -> Status>(b"cuStreamSynchronize")?;
        let load = driver.get::<unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Status>(b"cuModuleLoadData")?;
        let function = driver.get::<unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const i8) -> Status>(b"cuModuleGetFunction")?;
        let launch = *driver.get::<Launch>(b"cuLaunchKernel")?;

        let mut context = ptr::null_mut();
        ok(retain(&raw mut context, 0))?;
        ok(enter(context))?;
        for size in [64, 64 << 10, 4 << 20] {
            measure(&format!("cuMemAllocAsync and cuMemFreeAsync, {size} bytes"), 500, || {
                let mut address = 0;
                note(ok(alloc(&raw mut address, size, ptr::null_mut())).and_then(|()| ok(free(address, ptr::null_mut()))));
            });
        }
        let (source, mut memory, mut queue) = ([1u8; COPY], 0, ptr::null_mut());
        ok(alloc(&raw mut memory, COPY, ptr::null_mut()))?;
        // CU_STREAM_NON_BLOCKING
        ok(stream(&raw mut queue, 1))?;
        ok(wait(ptr::null_mut()))?;
        measure("cuMemcpyHtoD of 4 KiB", 500, || note(ok(copy(memory, source.as_ptr().cast(), COPY))));
        measure("cuMemcpyHtoDAsync of 4 KiB and cuStreamSynchronize", 500, || {
            note(ok(copy_in_order(memory, source.as_ptr().cast(), COPY, queue)).and_then(|()| ok(wait(queue))));
        });
        ok(free(memory, ptr::null_mut()))?;
        if let Some(image) = image {
            // Text needs its end.
            let text = CString::new(image.strip_suffix(&[0]).unwrap_or(image))
                .map(CString::into_bytes_with_nul)
                .unwrap_or_else(|_| image.to_vec());
            let (mut module, mut kernel) = (ptr::null_mut(), ptr::null_mut());
            ok(load(&raw mut module, text.as_ptr().cast()))?;
            ok(function(&raw mut kernel, module, c"nothing".as_ptr()))?;
            let once = move |kernel, queue| ok(launch(kernel, 1, 1, 1, 1, 1, 1, 0, queue, ptr::null_mut(), ptr::null_mut()));
            measure("cuLaunchKernel: 100 and one cuStreamSynchronize", 20, || {
                note((0..LAUNCHES).try_for_each(|_| once(kernel, queue)).and_then(|()| ok(wait(queue))));
            });
            let (context, kernel) = (Handle(context), Handle(kernel));
            by_threads("cuLaunchKernel, by 8 threads with a stream each", || {
                let (context, kernel, mut queue) = (context.get(), kernel.get(), ptr::null_mut());
                let entered = ok(enter(context)).and_then(|()| ok(stream(&raw mut queue, 1)));
                move || {
                    let done = entered.clone().and_then(|()| (0..LAUNCHES).try_for_each(|_| once(kernel, queue)));
                    if let Err(error) = done.and_then(|()| ok(wait(queue))) {
                        eprintln!("bench-offload: cuLaunchKernel: {error}");
                        std::process::exit(1);
                    }
                }
            });
        }
        ok(enter(ptr::null_mut()))?;
        ok(release(0))?;
    }
    Ok(failed?)
}

//! The same on a GPU, beside the driver's own functions in the same process and the same context.

use std::ffi::c_void;
use std::ptr;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use liboffload::sys;

use super::driver::{Driver, check};
use super::{image, launch, must, nothing};

/// Bytes of a copy.
const COPY: usize = 4096;
/// Threads that launch at once, and what each of them does: rounds of launches that are waited for.
const THREADS: usize = 8;
const ROUNDS: u32 = 20;
const LAUNCHES: u32 = 100;

/// Measures allocation, copies, and, with an image, launches: the library and the driver in turns, because a machine's
/// clock rate and what its caches hold change by more than what is looked for.
pub(super) fn measure_all(gpu: sys::ol_device_handle_t, path: Option<&str>) {
    let image = path.map(image);
    match Driver::open(image.as_deref()) {
        Ok(driver) => {
            allocations(gpu, &driver);
            copies(gpu, &driver);
            if let (Some(image), Some(kernel)) = (&image, driver.kernel) {
                launches(gpu, image, &driver, kernel);
            }
            driver.close();
        }
        Err(error) => println!("nothing was measured on the GPU: the driver's own functions are not there: {error}"),
    }
}

/// Small blocks come from the cache when they were freed before, large ones from the driver.
fn allocations(gpu: sys::ol_device_handle_t, driver: &Driver) {
    for size in [64, 64 << 10, 4 << 20] {
        in_turns(
            if size > 1 << 20 { 20 } else { 500 },
            &mut [
                (&format!("olMemAlloc and olMemFree, {size} bytes, GPU"), &mut || free(alloc(gpu, size))),
                ("cuMemAllocAsync and cuMemFreeAsync", &mut || driver.free(driver.alloc(size))),
            ],
        );
    }
}

fn copies(gpu: sys::ol_device_handle_t, driver: &Driver) {
    let (host, memory, queue) = (super::host(), alloc(gpu, COPY), queue(gpu));
    let (bytes, theirs, stream) = ([1u8; COPY], driver.alloc(COPY), driver.stream());
    driver.wait(ptr::null_mut());
    let source = bytes.as_ptr().cast::<c_void>();
    // SAFETY: both ends of the copies have as many bytes, and outlive them.
    unsafe {
        in_turns(
            500,
            &mut [
                ("olMemcpy of 4 KiB to the GPU without a queue", &mut || {
                    must(sys::olMemcpy(ptr::null_mut(), memory, gpu, source, host, COPY));
                }),
                ("olMemcpy of 4 KiB to the GPU in a queue and olSyncQueue", &mut || {
                    must(sys::olMemcpy(queue, memory, gpu, source, host, COPY));
                    must(sys::olSyncQueue(queue));
                }),
                ("cuMemcpyHtoD", &mut || check((driver.copy)(theirs, source, COPY))),
                ("cuMemcpyHtoDAsync and cuStreamSynchronize", &mut || {
                    check((driver.copy_in_order)(theirs, source, COPY, stream));
                    driver.wait(stream);
                }),
                ("cuMemcpyHtoDAsync and cuStreamQuery, until it is done", &mut || {
                    check((driver.copy_in_order)(theirs, source, COPY, stream));
                    while !driver.is_idle(stream) {}
                }),
                ("cuMemcpyAsync and cuStreamSynchronize", &mut || {
                    check((driver.copy_any)(theirs, source as u64, COPY, stream));
                    driver.wait(stream);
                }),
            ],
        );
    }
    free(memory);
    driver.free(theirs);
}

fn launches(gpu: sys::ol_device_handle_t, image: &[u8], driver: &Driver, theirs: *mut c_void) {
    let (kernel, queue, stream) = (nothing(gpu, image), queue(gpu), driver.stream());
    for (name, count) in [("1 and a wait", 1), ("100 and a wait, each", LAUNCHES)] {
        in_turns_each(
            if count == 1 { 500 } else { 20 },
            count,
            &mut [
                (&format!("olLaunchKernel, GPU, {name}"), &mut || {
                    (0..count).for_each(|_| launch(gpu, queue, kernel));
                    sync(queue);
                }),
                ("cuLaunchKernel", &mut || {
                    (0..count).for_each(|_| driver.launch(theirs, stream));
                    driver.wait(stream);
                }),
            ],
        );
    }
    // The calls alone: the GPU is waited for between the rounds, and has room for that many launches.
    let idle = || {
        sync(queue);
        driver.wait(stream);
    };
    let ours = || {
        idle();
        let start = Instant::now();
        (0..LAUNCHES).for_each(|_| launch(gpu, queue, kernel));
        start.elapsed()
    };
    let own = || {
        idle();
        let start = Instant::now();
        (0..LAUNCHES).for_each(|_| driver.launch(theirs, stream));
        start.elapsed()
    };
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..20 * super::ROUNDS {
        times[0].push(ours().as_nanos() as f64 / f64::from(LAUNCHES));
        times[1].push(own().as_nanos() as f64 / f64::from(LAUNCHES));
    }
    idle();
    print(&["olLaunchKernel, GPU, the call alone", "cuLaunchKernel"], &times);
    let kept = driver.elsewhere(|| {
        launch(gpu, queue, kernel);
        sync(queue);
    });
    println!("launches work with another context or none current, and it stays: {kept:?}");
    in_turns(10_000, &mut [("cuCtxGetCurrent", &mut || driver.ask())]);

    let (gpu, kernel) = (Handle(gpu), Handle(kernel));
    by_threads("olLaunchKernel, GPU, by 8 threads with a queue each", || {
        let (gpu, kernel) = (gpu.get(), kernel.get());
        let queue = self::queue(gpu);
        move || {
            (0..LAUNCHES).for_each(|_| launch(gpu, queue, kernel));
            sync(queue);
        }
    });
    let theirs = Handle(theirs);
    by_threads("cuLaunchKernel, by 8 threads with a stream each", || {
        driver.enter();
        let (kernel, stream) = (theirs.get(), driver.stream());
        move || {
            (0..LAUNCHES).for_each(|_| driver.launch(kernel, stream));
            driver.wait(stream);
        }
    });
}

/// What is measured beside something else: its name, and one call.
type Work<'a> = (&'a str, &'a mut dyn FnMut());

/// Nanoseconds of a call of each, in turns.
fn in_turns(calls: u32, works: &mut [Work<'_>]) {
    in_turns_each(calls, 1, works);
}

/// The same of work that is `parts` equal parts, for each part.
fn in_turns_each(calls: u32, parts: u32, works: &mut [Work<'_>]) {
    let mut times = vec![Vec::new(); works.len()];
    for round in 0..2 * super::ROUNDS as usize {
        // The first one changes, so that none is always measured after the same other one.
        for turn in 0..works.len() {
            let at = (round + turn) % works.len();
            let start = Instant::now();
            (0..calls).for_each(|_| works[at].1());
            times[at].push(start.elapsed().as_nanos() as f64 / f64::from(calls * parts));
        }
    }
    print(&works.iter().map(|(name, _)| *name).collect::<Vec<_>>(), &times);
}

/// The least and the middle of each, and the middle of the differences to the first, turn by turn.
fn print(names: &[&str], times: &[Vec<f64>]) {
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    for (at, (name, times_of)) in names.iter().zip(times).enumerate() {
        let least = times_of.iter().copied().fold(f64::INFINITY, f64::min);
        print!("{name:<58} {least:>10.1} ns, middle {:>9.1}", middle(times_of.clone()));
        if at > 0 {
            let differences = times[0].iter().zip(times_of).map(|(first, this)| first - this).collect();
            print!("; the first - this: {:>+8.1}", middle(differences));
        }
        println!();
    }
}

fn queue(gpu: sys::ol_device_handle_t) -> sys::ol_queue_handle_t {
    let mut queue = ptr::null_mut();
    // SAFETY: room for the handle.
    must(unsafe { sys::olCreateQueue(gpu, &raw mut queue) });
    queue
}

fn sync(queue: sys::ol_queue_handle_t) {
    // SAFETY: a live handle.
    must(unsafe { sys::olSyncQueue(queue) });
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

/// Nanoseconds of a launch when many threads launch at once. `prepare` gives each thread what it repeats: [`LAUNCHES`]
/// launches.
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

//! Copies: engines that work beside the kernels, one copy after another.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offload::hsa::sys::*;

use crate::memory::check;
use crate::signals::{self, Signal};
use crate::world::{CPU, Gpu, lock, world};

/// A copy.
struct Job {
    to: usize,
    from: usize,
    bytes: usize,
    after: Vec<Arc<Signal>>,
    done: Arc<Signal>,
    gpu: hsa_agent_t,
}

/// Engines by GPU and direction.
type Engines = HashMap<(u64, bool), Sender<Job>>;

static ENGINES: Mutex<Option<Engines>> = Mutex::new(None);

/// Whether copies are done by kernels instead.
fn by_kernels() -> bool {
    std::env::var_os("HSA_ENABLE_SDMA").is_some_and(|value| value == "0")
}

fn gpu(agent: hsa_agent_t) -> &'static Gpu {
    world().gpu(agent).unwrap_or(&world().gpus[0])
}

/// A kernel of the runtime's own waits behind those that run.
fn wait_for_kernels(gpu: &Gpu) {
    while gpu.running.load(Ordering::SeqCst) > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// `hsa_amd_memory_async_copy`.
///
/// # Safety
/// Both sides live until `done` is decremented, and `wait_for` has `waits` signals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_memory_async_copy(
    to: *mut c_void,
    to_agent: hsa_agent_t,
    from: *const c_void,
    from_agent: hsa_agent_t,
    bytes: usize,
    waits: u32,
    wait_for: *const hsa_signal_t,
    done: hsa_signal_t,
) -> hsa_status_t {
    let agent = if to_agent == CPU { from_agent } else { to_agent };
    let agent = gpu(agent).agent;
    if (waits > 0) == wait_for.is_null() || bytes == 0 {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    let checked = check(to.addr(), bytes, to_agent, agent).and_then(|()| check(from.addr(), bytes, from_agent, agent));
    if let Err(why) = checked {
        eprintln!("hsa-on-sim: a copy was refused: {why}");
        return hsa_status_t::INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    let handles = if waits == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(wait_for, waits as usize) } };
    let after: Option<Vec<_>> = handles.iter().map(|&handle| signals::find(handle)).collect();
    let (Some(after), Some(done)) = (after, signals::find(done)) else { return hsa_status_t::INVALID_SIGNAL };
    let job = Job { to: to.expose_provenance(), from: from.expose_provenance(), bytes, after, done, gpu: agent };
    let mut engines = lock(&ENGINES);
    let engine = engines.get_or_insert_default().entry((agent.handle, to_agent == CPU)).or_insert_with(|| {
        let (sender, receiver) = channel::<Job>();
        let thread = std::thread::Builder::new().name("hsa-engine".into());
        thread.spawn(move || receiver.into_iter().for_each(run)).expect("a thread");
        sender
    });
    if engine.send(job).is_ok() { hsa_status_t::SUCCESS } else { hsa_status_t::ERROR }
}

fn run(job: Job) {
    for signal in &job.after {
        while signal.wait(|value| value == 0, Duration::from_secs(3600)) != 0 {}
    }
    if by_kernels() {
        wait_for_kernels(gpu(job.gpu));
    }
    // SAFETY: both sides live until the signal is decremented, and were found to have so many bytes.
    unsafe { std::ptr::copy(job.from as *const u8, job.to as *mut u8, job.bytes) };
    job.done.subtract(1);
}

/// `hsa_amd_memory_fill`: a kernel of the runtime's own, waited for.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_amd_memory_fill(to: *mut c_void, value: u32, count: usize) -> hsa_status_t {
    let bytes = count * 4;
    let owner = std::iter::once(CPU).chain(world().gpus.iter().map(|gpu| gpu.agent));
    let owner = owner.into_iter().find(|&agent| check(to.addr(), bytes, agent, agent).is_ok());
    let (Some(owner), true) = (owner, to.addr().is_multiple_of(4)) else { return hsa_status_t::INVALID_ARGUMENT };
    wait_for_kernels(gpu(owner));
    let mut start = to.addr();
    let end = start + bytes;
    const PAGE: usize = 4096;
    let (first, last) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
    if value == 0 && owner != CPU && first < last {
        // SAFETY: whole pages of the simulator's own private mapping, which come back as zeros; what is before them is
        // filled first.
        unsafe {
            std::ptr::write_bytes(start as *mut u8, 0, first - start);
            if libc::madvise(first as *mut c_void, last - first, libc::MADV_DONTNEED) == 0 {
                start = last;
            }
        }
    }
    for at in (start..end).step_by(4) {
        // SAFETY: inside of memory of the runtime's, as was checked.
        unsafe { (at as *mut u32).write(value) };
    }
    hsa_status_t::SUCCESS
}

//! The floor: what one word there and one word back costs on this device, with nothing around it.
//!
//! It moves with the core that the host's thread is on, and with where its words are. So it is taken on several
//! threads, each with words of its own, as calls are on [several servers](super::latency): both see the same spread,
//! and their medians can be compared.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use offload::{Args, HostMemory, Launch};

use super::error::Error;
use super::rig::{Rig, middle};
use super::watchdog::Watchdog;

/// Microseconds of a round trip: on the simulator between two threads of this process, on a GPU between one lane and a
/// thread.
pub(super) fn measure(rig: &Rig) -> Result<f64, Error> {
    let (warm, trips) = (u64::from(rig.scale.calls / 10), u64::from(rig.scale.calls));
    rig.watchdog.during("the floor's ping-pong", Watchdog::LAUNCH, || {
        if rig.is_sim() { Ok(middle(threads(trips, rig.scale.latency_samples)?)) } else { kernels(rig, warm, trips) }
    })
}

/// The median of several threads' samples.
fn kernels(rig: &Rig, warm: u64, trips: u64) -> Result<f64, Error> {
    // Kept until the last is measured, so that no two are the same memory.
    let mut pages = Vec::new();
    let mut all = Vec::new();
    for _ in 0..rig.scale.hosts {
        // A page for each of the two words: what the two sides write shares no cache line.
        let words = rig.device.alloc_host(2 * PAGE)?;
        let samples = std::thread::scope(|scope| {
            let host = std::thread::Builder::new().spawn_scoped(scope, || {
                (0..rig.scale.latency_samples).map(|_| kernel(rig, &words, warm, trips)).collect::<Result<Vec<_>, _>>()
            });
            host.map_err(Error::Thread)?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        all.extend(samples);
        pages.push(words);
    }
    Ok(middle(all))
}

/// Words of a page.
const PAGE: usize = 4096 / size_of::<u64>();

/// Waits until `word` is `value`.
fn await_word(word: &AtomicU64, value: u64) {
    let mut spins = 0u32;
    // Relaxed: the word is all there is to say. Pairs with the other thread's store.
    while word.load(Ordering::Relaxed) != value {
        spins += 1;
        // On a machine whose cores are all busy the other thread may be waiting for ours.
        if spins.is_multiple_of(1 << 14) {
            std::thread::yield_now();
        }
    }
}

/// Two threads bounce one word. The same two for all samples, as it is the same two that make and serve the simulator's
/// calls.
fn threads(trips: u64, samples: usize) -> Result<Vec<f64>, Error> {
    // The first sample warms up.
    let rounds = samples + 1;
    let word = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || {
            for i in 0..trips * rounds as u64 {
                await_word(&word, 2 * i + 1);
                // Pairs with the first thread's load.
                word.store(2 * i + 2, Ordering::Relaxed);
            }
        });
        other.map_err(Error::Thread)?;
        let sample = |round: usize| {
            let start = Instant::now();
            for i in trips * round as u64..trips * (round as u64 + 1) {
                // Pairs with the second thread's load.
                word.store(2 * i + 1, Ordering::Relaxed);
                await_word(&word, 2 * i + 2);
            }
            start.elapsed().as_secs_f64() * 1e6 / trips as f64
        };
        Ok((0..rounds).map(sample).skip(1).collect())
    })
}

/// The kernel stores a word to host memory and polls another; this thread does the same the other way round.
fn kernel(rig: &Rig, words: &HostMemory<u64>, warm: u64, trips: u64) -> Result<f64, Error> {
    let out = rig.zeroed::<u64>(1)?;
    // SAFETY: both words are inside `words`, aligned, and nobody else's; the kernel and this thread touch them only
    // atomically.
    let (ping, pong) = unsafe { (AtomicU64::from_ptr(words.as_ptr()), AtomicU64::from_ptr(words.as_ptr().add(PAGE))) };
    // Relaxed: the launch orders them.
    ping.store(0, Ordering::Relaxed);
    pong.store(0, Ordering::Relaxed);
    let kernel = rig.program.kernel("floor")?;
    let args = Args::new().value(warm).value(trips).address(words.address()).address(words.address() + 4096).slice(&out);
    // SAFETY: as `bench/kernels` says: two counts, two words of host memory, and a slice; all live until the queue is
    // synchronised below.
    unsafe { rig.queue.launch(&kernel, Launch::linear(1, 1), args) }?;
    for i in 1..=warm + trips {
        // Relaxed: the word is all there is to say. Pairs with the kernel's store, and the store below with its load.
        while ping.load(Ordering::Relaxed) != i {}
        pong.store(i, Ordering::Relaxed);
    }
    rig.queue.synchronize()?;
    Ok(rig.queue.read(&out)?[0] as f64 / 1e3 / trips as f64)
}

//! Calls after the end: how soon waiting lanes learn that their buffer is gone, and what a call costs that knows it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use offload::{Args, HostMemory, Memory};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, middle};
use super::watchdog::Watchdog;

/// How long waves go on if nobody ends them.
const LIMIT: Duration = Duration::from_secs(5);

/// What one ending was like.
struct Ending {
    /// From just before the removal of the buffer until the last wave has learnt it.
    learnt: Duration,
    /// Nanoseconds of one call of the first wave after that.
    call_ns: f64,
}

/// Lets `waves` waves call, takes their buffer away, and has each make `calls` calls more.
fn end(session: &Session<'_>, waves: u32, calls: u32) -> Result<Ending, Error> {
    let rig = session.rig;
    let told: HostMemory<u32> = rig.device.alloc_host(2)?;
    let learnt: Memory<u32> = rig.zeroed(1)?;
    let out = rig.zeroed::<[u64; 2]>(waves as usize)?;
    // SAFETY: two words of host memory, which both sides access atomically only, and which are kept until the kernel
    // has ended.
    let word = |i: usize| unsafe { AtomicU32::from_ptr(told.as_ptr().add(i)) };
    rig.watchdog.during("calls after the end", Watchdog::LAUNCH, || {
        let kernel = rig.program.kernel("until_closed")?;
        let args = Args::new().value(calls).value(LIMIT.as_nanos() as u64).address(learnt.address()).address(told.address()).slice(&out);
        // SAFETY: as `bench/kernels` says: a count and a time, a word of device memory, two words of host memory, and
        // an element for each wave; all are kept until the queue is synchronised.
        unsafe { rig.queue.launch(&kernel, rig.waves(waves), args) }?;
        // In the midst of calls: the first wave says when it has had answers. (Relaxed: the words are all there is to
        // say.)
        await_word(rig, word(1))?;
        let start = Instant::now();
        let took = std::thread::scope(|scope| {
            // On a thread of its own: it may wait for what is being answered.
            let remove = || session.server.remove_buffer(&session.buffer);
            std::thread::Builder::new().spawn_scoped(scope, remove).map_err(Error::Thread)?;
            await_word(rig, word(0))?;
            Ok::<_, Error>(start.elapsed())
        })?;
        rig.queue.synchronize()?;
        let out = rig.queue.read(&out)?;
        Error::unless_all("calls that failed after the end", out.iter().map(|wave| wave[1]).sum(), u64::from(calls) * u64::from(waves))?;
        Ok(Ending { learnt: took, call_ns: out[0][0] as f64 / f64::from(calls.max(1)) })
    })
}

/// Waits for a word that the kernel sets, or until the kernel has ended without.
fn await_word(rig: &Rig, word: &AtomicU32) -> Result<(), Error> {
    let mut looks = 0u32;
    // Relaxed: the word is all there is to say. Pairs with the kernel's store.
    while word.load(Ordering::Relaxed) == 0 {
        looks += 1;
        if looks.is_multiple_of(1 << 12) {
            if rig.queue.is_idle()? {
                // Once more: it may have been the last that it did.
                return Error::unless_all("waves that learnt of the end", word.load(Ordering::Relaxed).into(), 1);
            }
            std::thread::yield_now();
        }
    }
    Ok(())
}

/// The rows `closed.call` and `closed.learn`.
pub(super) fn rows(rig: &Rig, threads: usize, floor_us: f64) -> Result<[Row; 2], Error> {
    let calls = rig.scale.calls;
    let (mut ns, mut learnt) = (Vec::new(), Vec::new());
    for _ in 0..rig.scale.samples {
        ns.push(end(&rig.session(threads)?, 1, calls)?.call_ns);
        learnt.push(end(&rig.session(threads)?, rig.all_waves(), 0)?.learnt.as_secs_f64() * 1e6);
    }
    let worst = learnt.iter().copied().fold(0.0, f64::max);
    let (ns, us, samples) = (middle(ns), middle(learnt), rig.scale.samples);
    let call =
        format!("median of {samples} x {calls} calls of one wave over a buffer that it knows to be gone, {threads} server thread(s)");
    let learn = format!(
        "from the removal of the buffer until the last of {} calling waves knows; slowest of {samples}: {worst:.1} us, {threads} server \
         thread(s)",
        rig.all_waves()
    );
    Ok([
        Row { name: "closed.call", figure: Figure::Ns(ns), ratio: ns / 1e3 / floor_us, against: Against::Floor, note: call },
        Row { name: "closed.learn", figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note: learn },
    ])
}

#[cfg(test)]
mod tests {
    use super::super::rig;
    use super::*;

    #[test]
    fn waves_learn_of_the_end_and_calls_after_it_fail() {
        let rig = rig::tests::small();
        for waves in [1, rig.all_waves()] {
            end(&rig.session(1).unwrap(), waves, 100).unwrap();
        }
    }
}

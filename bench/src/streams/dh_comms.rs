//! The form of AMD's dh_comms, measured beside ours: `bench/kernels/src/dh_comms.rs` sends, and a thread here sweeps
//! flags as theirs does.
//!
//! Theirs makes vectors of each message, and hands it to handlers; this one only sums up, which is kinder.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use bench_services::dh_comms::{HEADER_UNITS, SUB_BYTES, SUBS};
use offload::{Args, HostMemory};

use super::{Shape, rate};
use crate::error::Error;
use crate::report::{Against, Figure, Row};
use crate::rig::{Rig, median};

/// The sub-buffers, on the host's side.
struct Area {
    data: HostMemory<u32>,
    sizes: HostMemory<u64>,
    flags: HostMemory<u32>,
}

/// What a thread has taken: messages, and the sum of their units.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    messages: u64,
    sum: u32,
}

impl Area {
    fn new(rig: &Rig) -> Result<Self, Error> {
        let subs = SUBS as usize;
        Ok(Self {
            data: rig.device.alloc_host(subs * SUB_BYTES as usize / 4)?,
            sizes: rig.device.alloc_host(subs)?,
            flags: rig.device.alloc_host(subs)?,
        })
    }

    fn size(&self, sub: usize) -> &AtomicU64 {
        // SAFETY: one of the sizes, which both sides access atomically.
        unsafe { AtomicU64::from_ptr(self.sizes.as_ptr().add(sub)) }
    }

    fn flag(&self, sub: usize) -> &AtomicU32 {
        // SAFETY: one of the flags, likewise.
        unsafe { AtomicU32::from_ptr(self.flags.as_ptr().add(sub)) }
    }

    /// Takes all messages of a sub-buffer, whose waves wait for that, or have ended.
    fn take(&self, sub: usize, taken: &mut Taken) {
        let units = SUB_BYTES as usize / 4;
        // SAFETY: the sub-buffer's units; the wave that has its lock has asked for this, or no kernel runs, so nobody
        // writes them.
        let data = unsafe { std::slice::from_raw_parts(self.data.as_ptr().add(sub * units), units) };
        // Relaxed: after the flag's acquire, or the kernel's end. Pairs with the waves' stores.
        let used = (self.size(sub).load(Ordering::Relaxed) / 4) as usize;
        let mut rest = data.get(..used).unwrap_or_default();
        while let Some((header, behind)) = rest.split_at_checked(HEADER_UNITS as usize) {
            let lanes = (header[0].count_ones() + header[1].count_ones()) as usize;
            let Some((message, behind)) = behind.split_at_checked(lanes + header[2] as usize / 4) else { break };
            taken.sum = message[lanes..].iter().fold(taken.sum, |sum, unit| sum.wrapping_add(*unit));
            taken.messages += 1;
            rest = behind;
        }
        // Relaxed: the flag's release follows, or the next launch.
        self.size(sub).store(0, Ordering::Relaxed);
    }

    /// Sweeps flags without pause until the kernel has ended, then takes what is left.
    fn sweep(&self, ended: &AtomicBool) -> Taken {
        let mut taken = Taken::default();
        loop {
            // Acquire: pairs with `Ends`. After it nobody sets a flag.
            let last = ended.load(Ordering::Acquire);
            for sub in 0..SUBS as usize {
                // Acquire: pairs with the wave's release, behind which are size and bytes.
                if last || self.flag(sub).load(Ordering::Acquire) != 0 {
                    self.take(sub, &mut taken);
                    // Release: pairs with the wave's acquire, which then writes over what was read.
                    self.flag(sub).store(0, Ordering::Release);
                }
            }
            if last {
                return taken;
            }
            std::hint::spin_loop();
        }
    }
}

/// Tells the thread that the kernel has ended, also when something failed: the scope waits for it.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        // Release: pairs with the load in `sweep`.
        self.0.store(true, Ordering::Release);
    }
}

/// Sends `each` messages from each wave, and checks what was received. How long the kernel took.
fn run(rig: &Rig, each: u32) -> Result<Duration, Error> {
    let (area, locks) = (Area::new(rig)?, rig.zeroed::<u32>(SUBS as usize)?);
    let launch = rig.waves(rig.all_waves());
    let out = rig.zeroed::<[u64; 2]>((launch.group_count() * launch.group_threads()) as usize)?;
    let args = Args::new().value(each).address(area.data.address()).address(area.sizes.address()).address(area.flags.address());
    let args = args.address(locks.address()).value(SUBS).slice(&out);
    let ended = AtomicBool::new(false);
    let (took, taken) = std::thread::scope(|scope| {
        let sweeper =
            std::thread::Builder::new().name("dh-comms".into()).spawn_scoped(scope, || area.sweep(&ended)).map_err(Error::Thread)?;
        let ends = Ends(&ended);
        let took = rig.run("dh_comms_16", launch, args, || Ok(rig.queue.synchronize()?));
        drop(ends);
        let taken = sweeper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok::<_, Error>((took?, taken))
    })?;
    let sent = rig.queue.read(&out)?.iter().fold(0u32, |sum, lane| sum.wrapping_add(lane[0] as u32));
    Error::unless_all("messages of `dh_comms_16`", taken.messages, u64::from(rig.all_waves()) * u64::from(each))?;
    Error::unless_all("sums of `dh_comms_16`", u64::from(taken.sum == sent), 1)?;
    Ok(took)
}

/// Measures the row: theirs, and ours in the same run.
pub(crate) fn row(rig: &Rig, name: &'static str) -> Result<Row, Error> {
    let (waves, threads) = (f64::from(rig.all_waves()), rig.threads(8)?);
    let each = rig.calibrate(|each| run(rig, each))?;
    let theirs = median(rig.scale.samples, || Ok(waves * f64::from(each) / run(rig, each)?.as_secs_f64()))?;
    let ours = rate(rig, Shape::Lanes(16), threads, rig.window.is_ok())?;
    let note = format!(
        "its form written anew: {SUBS} sub-buffers of {} KiB, {:.2} M messages/s of all lanes, 16 B each, one host thread; ours {:.2} M/s, {threads} reader(s)",
        SUB_BYTES >> 10,
        theirs / 1e6,
        ours / 1e6
    );
    let lanes = f64::from(rig.device.info().wave_size);
    Ok(Row { name, figure: Figure::PerS(theirs * lanes), ratio: ours / theirs, against: Against::DhComms, note })
}

//! The form of AMD's dh_comms, for comparison: what its protocol does for a message, written anew.
//!
//! A workgroup's number modulo the number of *sub-buffers* says which one its waves share. Their bytes, how many of
//! them are used, and a flag lie in host memory; a lock in device memory. The first lane of a wave takes the lock and
//! reads how much is used. If the message does not fit it sets the flag, and waits until the host has emptied the
//! sub-buffer. All lanes append a header of 64 bytes, one of 4 bytes for each lane, and the data, by 4 bytes of each
//! lane in turn. Then the first lane says what is used now, and releases the lock.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use bench_services::{dh_comms, units};
use hostcall::kernel;
use hostcall::stream::Sent;
use hostcall::time::Instant;
use hostcall::wave::{Converged, global_id, group_index, wave_index};

use crate::clock::Ticks;
use crate::streams::{Tally, write};

/// Looks at a word between two at the clock.
const LOOKS: u32 = 1 << 10;

/// After a look at a word that another wave or the host changes: whether to look again. Not for ever: a host that fails
/// must not leave a kernel behind.
struct Wait {
    looks: u32,
    since: Option<Instant>,
}

impl Wait {
    const fn new() -> Self {
        Self { looks: 0, since: None }
    }

    #[inline(always)]
    fn goes_on(&mut self) -> bool {
        // A simulated wave gives its processor to whom it waits for.
        #[cfg(not(target_arch = "nvptx64"))]
        hostcall::time::sleep(core::time::Duration::from_micros(1));
        self.looks += 1;
        if !self.looks.is_multiple_of(LOOKS) {
            return true;
        }
        self.since.get_or_insert_with(Instant::now).elapsed().as_nanos() < 10_000_000_000
    }
}

/// `each` messages of 16 bytes from each lane. `data`: `subs` sub-buffers; `sizes` and `flags`: a word for each, in
/// host memory; `locks`: in device memory. `out`, for each lane: the sum of what it sent, and messages that it gave up.
#[kernel]
pub fn dh_comms_16(each: u32, data: *mut u8, sizes: *mut u64, flags: *mut u32, locks: *mut u32, subs: u32, out: &mut [[u64; 2]]) {
    let wave = Converged::here();
    let (lane, sub) = (global_id(), group_index() % subs as usize);
    // SAFETY: the host passes as many of each as there are sub-buffers. They are accessed atomically only, by both
    // sides.
    let (size, flag, lock) =
        unsafe { (AtomicU64::from_ptr(sizes.add(sub)), AtomicU32::from_ptr(flags.add(sub)), AtomicU32::from_ptr(locks.add(sub))) };
    let total = dh_comms::message_bytes(wave.count());
    let (mut tally, clock) = (Tally::default(), Ticks::start());
    for i in 0..each {
        let units: [u32; 4] = units(lane as u32, i);
        let mut used = u64::MAX;
        if wave.leads() {
            let mut wait = Wait::new();
            let mut locked = false;
            // Acquire: pairs with the release by the wave that had it, whose size and bytes were before.
            while !locked && wait.goes_on() {
                locked = lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
            }
            if locked {
                used = size.load(Ordering::Relaxed);
                if used + total > dh_comms::SUB_BYTES {
                    // Release: pairs with the host's acquire, which then reads size and bytes.
                    flag.store(1, Ordering::Release);
                    used = 0;
                    let mut wait = Wait::new();
                    // Acquire: pairs with the host's release, which has read all bytes.
                    while flag.load(Ordering::Acquire) != 0 {
                        if !wait.goes_on() {
                            used = u64::MAX;
                            break;
                        }
                    }
                }
            }
        }
        let used: u64 = wave.broadcast(used);
        if used == u64::MAX {
            tally.add(Sent::Dropped, &units);
            break;
        }
        // SAFETY: the wave has the sub-buffer's lock, and the message fits behind what is used; each lane stores its
        // own words. The host reads them later.
        unsafe {
            let at = data.add(sub * dh_comms::SUB_BYTES as usize + used as usize).cast::<u32>();
            if wave.leads() {
                let header = dh_comms::Header {
                    mask: wave.mask(),
                    bytes: u64::from(wave.count()) * 16,
                    time: clock.now(),
                    place: [0, i, 1, 2, 3, 4],
                    group: [group_index() as u32, 0],
                    wave: [wave_index() as u32, wave.count()],
                };
                at.cast::<dh_comms::Header>().write(header);
            }
            let lanes = at.add(dh_comms::HEADER_UNITS as usize);
            lanes.add(wave.rank() as usize).write(lane as u32);
            for (k, unit) in units.iter().enumerate() {
                lanes.add(wave.count() as usize * (k + 1) + wave.rank() as usize).write(*unit);
            }
        }
        fence(Ordering::Release);
        wave.sync();
        if wave.leads() {
            size.store(used + total, Ordering::Relaxed);
            // Release: pairs with the acquire by the wave that takes it next.
            lock.store(0, Ordering::Release);
        }
        tally.add(Sent::Sent, &units);
    }
    write(out, lane, tally.0);
}

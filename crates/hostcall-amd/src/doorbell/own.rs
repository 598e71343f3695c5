//! A doorbell of ours: a counter, and a word to sleep on.
//!
//! Its first words are those of AMD's signals, so that a client which rings by adding to the value, as AMD's device
//! libraries do, needs to know nothing of us. Such a client wakes nobody. Once a doorbell has been rung like that, its
//! consumer looks every 50 µs as long as there is something to do, and for a second afterwards; then ever less often,
//! down to every 10 ms. Clients that ring by `hostcall_amd_ring` wake it at once.

use std::mem::offset_of;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::futex;

use super::known::{HEARTBEAT, Known};
use crate::Error;
use crate::patience::Patience;

/// The shortest sleep, where clients ring without waking.
const SHORT: u64 = 50;
/// What kind of signal it is: one that users ring.
const SIGNAL: u64 = 1;
/// How long such clients may be silent before the sleeps grow.
const QUIET: Duration = Duration::from_secs(1);

/// What a client sees: the words of `amd_signal_t`.
#[repr(C, align(64))]
#[derive(Debug)]
struct Signal {
    /// What [`SIGNAL`] says.
    kind: AtomicU64,
    /// Counts. Sequentially consistent on both sides, with `sleeping`: a ringer adds, then looks whether somebody
    /// sleeps; a sleeper says so, then looks at the value. One of the two sees the other.
    value: AtomicI64,
    /// 0: there is no mailbox for an interrupt.
    mailbox: AtomicU64,
    event: AtomicU64,
    reserved: [AtomicU64; 4],
}

/// Bytes of memory that a doorbell has for itself, from its handle on: whole pages, which a program pins for GPUs that
/// reach no other memory.
const PAGE: usize = 4096;

/// A doorbell. A device may write anything into the first page, and rings by that. The words of the second are this
/// library's.
#[repr(C, align(4096))]
#[derive(Debug)]
pub(crate) struct Bell {
    signal: Signal,
    _rest: [AtomicU64; (PAGE - size_of::<Signal>()) / 8],
    /// 1 while a consumer sleeps; the word it sleeps on.
    sleeping: AtomicU32,
    /// How long a consumer looks before it sleeps.
    patience: Patience,
    /// Microseconds of the next sleep. Only consumers use it; a lost update makes one sleep longer or shorter.
    sleep: AtomicU64,
    /// When it was last rung by somebody who woke nobody: microseconds since `EPOCH`.
    silent: AtomicU64,
}

const _: () = assert!(size_of::<Bell>() == 2 * PAGE && align_of::<Bell>() == PAGE && offset_of!(Bell, sleeping) == PAGE);
const _: () = assert!(size_of::<Signal>() == 64 && offset_of!(Signal, value) == 8 && offset_of!(Signal, mailbox) == 16);
const _: () = assert!(offset_of!(Signal, event) == 24 && offset_of!(Bell, signal) == 0);

/// All doorbells of this kind.
static ALL: Known = Known::new();

/// The doorbell with this handle.
pub(crate) fn find(handle: u64) -> Option<&'static Bell> {
    // SAFETY: entries are addresses of leaked doorbells.
    ALL.has(handle).then(|| unsafe { &*std::ptr::with_exposed_provenance::<Bell>(handle as usize) })
}

fn now() -> u64 {
    static EPOCH: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_micros() as u64
}

impl Bell {
    pub(crate) fn new() -> Result<&'static Bell, Error> {
        let bell = Box::into_raw(Box::new(Bell {
            signal: Signal {
                kind: AtomicU64::new(SIGNAL),
                value: AtomicI64::new(0),
                mailbox: AtomicU64::new(0),
                event: AtomicU64::new(0),
                reserved: [const { AtomicU64::new(0) }; 4],
            },
            _rest: [const { AtomicU64::new(0) }; (PAGE - size_of::<Signal>()) / 8],
            sleeping: AtomicU32::new(0),
            patience: Patience::new(),
            sleep: AtomicU64::new(HEARTBEAT.as_micros() as u64),
            silent: AtomicU64::new(0),
        }));
        if let Err(error) = ALL.add(bell.expose_provenance() as u64) {
            // SAFETY: it came from a box, and nobody has its handle.
            drop(unsafe { Box::from_raw(bell) });
            return Err(error);
        }
        // SAFETY: it came from a box that is never freed, and consists of atomics.
        Ok(unsafe { &*bell })
    }

    /// Makes it what a client expects again, whatever a device has written there. Its value may be any.
    pub(crate) fn renew(&self) {
        // Relaxed: whoever gets the handle next gets it from a buffer's word, which is written afterwards by a release.
        self.signal.kind.store(SIGNAL, Ordering::Relaxed);
        let zeros = [&self.signal.mailbox, &self.signal.event].into_iter().chain(&self.signal.reserved);
        zeros.for_each(|word| word.store(0, Ordering::Relaxed));
    }

    pub(crate) fn handle(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    pub(crate) fn ring(&self) {
        self.signal.value.fetch_add(1, Ordering::SeqCst);
        if self.sleeping.load(Ordering::SeqCst) != 0 && self.sleeping.swap(0, Ordering::SeqCst) != 0 {
            let _ = futex::wake(&self.sleeping, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }

    pub(crate) fn value(&self) -> i64 {
        self.signal.value.load(Ordering::SeqCst)
    }

    pub(crate) fn wait(&self, seen: i64, limit: Option<Duration>, mut came: Option<impl FnMut() -> bool>) -> i64 {
        let look = || {
            let value = self.signal.value.load(Ordering::SeqCst);
            (value != seen || came.as_mut().is_some_and(|came| came())).then_some(value)
        };
        let in_vain = match self.patience.look(look) {
            Ok(value) => return value,
            Err(in_vain) => in_vain,
        };
        self.sleeping.store(1, Ordering::SeqCst);
        let value = self.signal.value.load(Ordering::SeqCst);
        if value != seen {
            self.sleeping.store(0, Ordering::SeqCst);
            return value;
        }
        let micros = self.sleep.load(Ordering::Relaxed).min(limit.map_or(u64::MAX, |limit| limit.as_micros() as u64));
        let limit = futex::Timespec { tv_sec: 0, tv_nsec: (micros * 1000) as _ };
        // Woken, interrupted or too late: the words say which.
        let _ = futex::wait(&self.sleeping, futex::Flags::PRIVATE, 1, Some(&limit));
        self.patience.slept(in_vain);
        let woken = self.sleeping.swap(0, Ordering::SeqCst) == 0;
        let value = self.signal.value.load(Ordering::SeqCst);
        self.choose_sleep(value != seen && !woken);
        value
    }

    pub(crate) fn missed(&self) {
        self.patience.missed();
    }

    /// How long the next sleep is.
    fn choose_sleep(&self, rung_silently: bool) {
        let longest = HEARTBEAT.as_micros() as u64;
        if rung_silently {
            self.silent.store(now(), Ordering::Relaxed);
            self.sleep.store(SHORT, Ordering::Relaxed);
            return;
        }
        let sleep = self.sleep.load(Ordering::Relaxed);
        if sleep < longest && now().saturating_sub(self.silent.load(Ordering::Relaxed)) > QUIET.as_micros() as u64 {
            self.sleep.store((2 * sleep).min(longest), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_no_doorbell_is_not_found() {
        let bell = Bell::new().unwrap();
        assert!(find(bell.handle()).is_some());
        for handle in [0, 1, bell.handle() + 64, bell.handle() - 8, u64::MAX] {
            assert!(find(handle).is_none(), "{handle:#x}");
        }
    }

    #[test]
    fn a_ring_between_the_look_and_the_sleep_is_not_lost() {
        let bell = Bell::new().unwrap();
        // Each turn rings once; a lost one would be found only at the heartbeat, and counted.
        let ringer = std::thread::spawn(move || {
            for turn in 0..2000 {
                while bell.signal.mailbox.load(Ordering::SeqCst) != turn {
                    std::thread::yield_now();
                }
                bell.ring();
            }
        });
        for seen in 0..2000 {
            bell.signal.mailbox.store(seen as u64, Ordering::SeqCst);
            while bell.wait(seen, None, None::<fn() -> bool>) == seen {}
        }
        ringer.join().unwrap();
        assert_eq!(bell.signal.value.load(Ordering::SeqCst), 2000);
        assert_eq!(bell.silent.load(Ordering::SeqCst), 0, "every ring was seen at once, or woke");
    }

    #[test]
    fn what_comes_without_a_ring_ends_the_look_before_anybody_sleeps() {
        let bell = Bell::new().unwrap();
        // A sleep would end at the next ring, and there is none.
        bell.sleep.store(u64::from(u32::MAX), Ordering::SeqCst);
        for looks in [1, 2, 30] {
            let mut looked = 0;
            let came = || {
                looked += 1;
                looked == looks
            };
            assert_eq!(bell.wait(0, None, Some(came)), 0);
            assert_eq!(looked, looks);
        }
    }

    #[test]
    fn a_doorbell_that_a_device_has_written_into_is_a_signal_again_for_the_next_consumer() {
        let bell = Bell::new().unwrap();
        let words = std::ptr::from_ref(bell).cast::<AtomicU64>();
        for at in 0..PAGE / 8 {
            // SAFETY: the first page, which consists of atomics.
            unsafe { &*words.add(at) }.store(u64::MAX, Ordering::Relaxed);
        }
        // The words by which consumers sleep are not among them.
        assert_eq!(bell.sleep.load(Ordering::Relaxed), HEARTBEAT.as_micros() as u64);
        bell.renew();
        let Signal { kind, mailbox, event, reserved, .. } = &bell.signal;
        let words = [kind, mailbox, event].into_iter().chain(reserved).map(|word| word.load(Ordering::Relaxed));
        assert_eq!(words.collect::<Vec<_>>(), [SIGNAL, 0, 0, 0, 0, 0, 0]);
        bell.ring();
        assert_eq!(bell.value(), 0, "one more than all bits");
    }

    #[test]
    fn a_client_that_wakes_nobody_makes_the_sleeps_short_and_silence_makes_them_long_again() {
        let bell = Bell::new().unwrap();
        let longest = HEARTBEAT.as_micros() as u64;
        bell.choose_sleep(true);
        assert_eq!(bell.sleep.load(Ordering::Relaxed), SHORT);
        bell.choose_sleep(false);
        assert_eq!(bell.sleep.load(Ordering::Relaxed), SHORT, "it was rung a moment ago");
        bell.silent.store(0, Ordering::Relaxed);
        while now() <= QUIET.as_micros() as u64 {
            std::thread::sleep(Duration::from_millis(10));
        }
        for _ in 0..20 {
            bell.choose_sleep(false);
        }
        assert_eq!(bell.sleep.load(Ordering::Relaxed), longest);
    }
}

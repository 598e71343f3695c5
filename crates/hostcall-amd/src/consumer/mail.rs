//! When a consumer of mailboxes looks at them although nobody has rung.
//!
//! Waves that use mailboxes ring no more than once in some ten microseconds, whichever doorbell it was. So a packet
//! that rang nothing may be in any mailbox of the process as long as there are packets in one of them. Therefore all
//! consumers of mailboxes are awake together: the first that finds a packet after a silence rings the others, and until
//! there is silence again all look often.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::doorbell::{Doorbell, HEARTBEAT};

/// The longest sleep while there are packets.
const SLEEP: Duration = Duration::from_micros(100);
/// How long after a packet that lasts.
const AWAKE: u64 = 20_000;
/// A packet that was found so soon after another is not noted: consumers would take the word from each other.
const SAME: u64 = 1_000;

/// Who has mailboxes, and when a packet was last found in one: microseconds, 0 for never. Its own lines are few, and it
/// is written once in a millisecond.
struct Mail {
    last: AtomicU64,
    doorbells: Mutex<Vec<Doorbell>>,
}

static MAIL: Mail = Mail { last: AtomicU64::new(0), doorbells: Mutex::new(Vec::new()) };

fn now() -> u64 {
    static EPOCH: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_micros() as u64 + AWAKE + 1
}

impl Mail {
    fn lock(&self) -> MutexGuard<'_, Vec<Doorbell>> {
        self.doorbells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A packet was found; how many doorbells were rung because it was the first for long.
    fn found(&self, now: u64) -> usize {
        // Relaxed, all: a moment more or less. Who is rung looks at it after the ring, which is sequentially
        // consistent.
        let last = self.last.load(Ordering::Relaxed);
        if now.saturating_sub(last) < SAME {
            return 0;
        }
        self.last.store(now, Ordering::Relaxed);
        if now.saturating_sub(last) < AWAKE / 2 {
            return 0;
        }
        let doorbells = self.lock();
        doorbells.iter().for_each(|doorbell| doorbell.ring());
        doorbells.len()
    }

    fn sleep_at_most(&self, now: u64) -> Duration {
        if now.saturating_sub(self.last.load(Ordering::Relaxed)) < AWAKE { SLEEP } else { HEARTBEAT }
    }
}

/// A packet was found in a mailbox.
pub(super) fn found() {
    MAIL.found(now());
}

/// The longest sleep of a consumer that has mailboxes.
pub(super) fn sleep_at_most() -> Duration {
    MAIL.sleep_at_most(now())
}

/// A consumer has mailboxes from now on.
pub(super) fn add(doorbell: Doorbell) {
    MAIL.lock().push(doorbell);
}

/// Some mailboxes of a consumer are gone.
pub(super) fn remove(doorbell: Doorbell) {
    let mut doorbells = MAIL.lock();
    if let Some(at) = doorbells.iter().position(|other| other.handle() == doorbell.handle()) {
        doorbells.swap_remove(at);
    }
}

/// The list, held while the process forks.
pub(crate) fn freeze() -> MutexGuard<'static, Vec<Doorbell>> {
    MAIL.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_packet_after_a_silence_rings_all_who_have_mailboxes_and_all_look_often_until_the_next() {
        let mail = Mail { last: AtomicU64::new(0), doorbells: Mutex::new(Vec::new()) };
        let bells = [(); 3].map(|()| Doorbell::own().unwrap());
        mail.lock().extend(bells);
        let values = || bells.map(|bell| bell.value(0));
        assert_eq!(mail.sleep_at_most(AWAKE + 1), HEARTBEAT);
        let begin = AWAKE + 1;
        assert_eq!((mail.found(begin), values()), (3, [1, 1, 1]));
        for later in (0..10 * AWAKE).step_by(SAME as usize / 3) {
            assert_eq!(mail.sleep_at_most(begin + later), SLEEP);
            assert_eq!(mail.found(begin + later), 0, "they are awake");
        }
        let end = mail.last.load(Ordering::SeqCst) + AWAKE;
        assert_eq!((mail.sleep_at_most(end - 1), mail.sleep_at_most(end)), (SLEEP, HEARTBEAT));
        assert_eq!((mail.found(end), values()), (3, [2, 2, 2]));
    }
}

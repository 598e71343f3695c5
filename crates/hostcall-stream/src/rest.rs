//! When a thread that reads rings looks at them again.

use std::time::{Duration, Instant};

use offload::host::Heartbeat;

/// How long a thread looks at its rings without a pause when nothing arrives.
const EAGER: Duration = Duration::from_micros(500);
/// The longest pause between two looks. Rings hold what arrives meanwhile: at a bus's full speed 64 MiB are filled in a
/// millisecond.
const NAP: Duration = Duration::from_micros(100);

/// What is known of kernels that may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Senders {
    /// Some are in flight, or somebody waits for messages.
    InFlight,
    /// Others may have launched some, of which nobody tells.
    Elsewhere,
    /// None is in flight.
    None,
}

/// The looks of one thread in which nothing had arrived.
#[derive(Debug)]
pub(crate) struct Rest {
    /// Whether the simulator's kernels want the processors, too.
    modest: bool,
    looks: u32,
    /// When the first of them was.
    since: Instant,
    heartbeat: Heartbeat,
    /// Whether the last rest was a heartbeat's.
    beats: bool,
}

impl Rest {
    /// For the calling thread, one of so many.
    pub(crate) fn new(modest: bool, threads: usize) -> Self {
        Self { modest, looks: 0, since: Instant::now(), heartbeat: Heartbeat::new(threads), beats: false }
    }

    /// Something had arrived.
    pub(crate) fn end(&mut self) {
        self.looks = 0;
    }

    /// Rests after a look in which nothing had arrived. `flush` is called before a sleep.
    pub(crate) fn rest(&mut self, senders: Senders, flush: impl FnOnce()) {
        // Kernels that have just been announced are looked for without a pause.
        let begins = std::mem::take(&mut self.beats) && senders == Senders::InFlight;
        if self.looks == 0 || begins {
            self.looks = 0;
            self.since = Instant::now();
        }
        self.looks = self.looks.wrapping_add(1);
        match senders {
            Senders::None => {
                flush();
                std::thread::park();
                self.looks = 0;
            }
            Senders::Elsewhere if self.since.elapsed() > Heartbeat::LINGER => {
                self.beats = true;
                flush();
                // (Whoever wakes this thread sooner has told the others, or has something for it to read.)
                std::thread::park_timeout(self.heartbeat.nap());
            }
            Senders::Elsewhere | Senders::InFlight => self.pause(flush),
        }
    }

    fn pause(&self, flush: impl FnOnce()) {
        if self.modest {
            // Kernels of the simulator run on the same processors.
            if self.looks < 4 {
                return std::thread::yield_now();
            }
            flush();
            return std::thread::sleep(NAP);
        }
        if self.looks.is_multiple_of(64) && self.since.elapsed() > EAGER {
            flush();
            return std::thread::sleep(NAP);
        }
        std::hint::spin_loop();
    }
}

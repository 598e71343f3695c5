//! Memory that was put back: by a profiler that runs a kernel in several passes.
//!
//! All that the device can reach is put back, so mailboxes of both sides agree after it, wherever they lie. What the
//! host knows of its own is ahead then: a port on which it has given an odd number of packets would look as if the
//! client had sent something. So each share of the ports has a number that goes on before anything is taken, and leaves
//! it as a mark before all other memory and one behind. Where one of the two is not what was left, nothing is taken
//! until both went back and some time has passed; then the host goes back to what it knew at that time.
//!
//! A device that writes marks disturbs its own ports. (A free or a packet without an answer that is still to be taken
//! when memory is put back, milliseconds after its kernel has ended, may be taken for one of the next pass.)

use std::sync::atomic::{Ordering, fence};

use offload::host::{PutBack, Verdict};

use super::memory::Memory;

/// How often memory may be put back while a drain is asked for: a device that writes marks keeps nobody waiting.
const DISTURBED: u32 = 1;

/// What a share knows of its marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    share: usize,
    number: u32,
    put_back: PutBack,
    disturbed: u32,
}

/// What is to be done with a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Its ports are looked at.
    Look,
    /// They are left alone.
    Wait,
    /// They are what the memory says, first.
    Follow,
}

impl Marks {
    pub(super) fn of(share: usize) -> Self {
        Self { share, ..Self::default() }
    }

    /// Whether a mark is not what was left: of those before and behind the rest.
    #[inline]
    fn went_back(&self, memory: &Memory) -> [bool; 2] {
        // Relaxed: pairs with nothing, as the device may write them at any time.
        memory.marks(self.share).map(|mark| mark.load(Ordering::Relaxed) != self.number)
    }

    /// Before the ports are looked at; `asked`: somebody waits for it.
    #[inline]
    pub(super) fn step(&mut self, memory: &Memory, asked: bool) -> Step {
        if !asked {
            self.disturbed = 0;
        }
        match self.went_back(memory) {
            [false, false] => {
                self.put_back.end();
                Step::Look
            }
            went_back => self.disturbed(memory, went_back == [true, true], asked),
        }
    }

    #[cold]
    fn disturbed(&mut self, memory: &Memory, whole: bool, asked: bool) -> Step {
        let verdict = if asked && self.disturbed >= DISTURBED { Verdict::Restore } else { self.put_back.look(whole) };
        if verdict == Verdict::Wait {
            return Step::Wait;
        }
        self.disturbed = self.disturbed.saturating_add(1);
        self.number = self.number.wrapping_add(1);
        // As in `went_back`.
        memory.marks(self.share).iter().for_each(|mark| mark.store(self.number, Ordering::Relaxed));
        if verdict == Verdict::Follow { Step::Follow } else { Step::Look }
    }

    /// Something was found, which may be taken if this is true: the marks are what was left behind that look, or the
    /// device has written them too often. The `first` time in a turn they go on.
    #[inline]
    pub(super) fn may_take(&mut self, memory: &Memory, first: bool) -> bool {
        // Who puts memory back has written one of the marks before what was found.
        fence(Ordering::Acquire);
        if self.disturbed > DISTURBED {
            return true;
        }
        if !first {
            return self.went_back(memory) == [false, false];
        }
        let (before, after) = (self.number, self.number.wrapping_add(1));
        // Exchanges: a store behind a mark that went back would say the contrary, and nobody would follow. Relaxed, as
        // in `went_back`.
        let went_on =
            memory.marks(self.share).map(|mark| mark.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).is_ok());
        self.number = after;
        went_on == [true, true]
    }
}

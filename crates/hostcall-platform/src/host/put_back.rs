//! Memory that a tool puts back, while the host goes on.

use std::time::{Duration, Instant};

/// Times how long memory is left alone that is being put back: by a profiler, say, that runs a kernel again.
///
/// It is seen where a mark is not what the host has left there. What lies in the rest of the memory may still be what
/// the last pass has sent, which must not be taken for the next one's. So there are two marks, one before all of it and
/// one behind, and some time passes after both went back.
#[derive(Debug, Default)]
pub struct PutBack {
    begun: Option<Instant>,
    whole: Option<Instant>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Wait,
    /// The host goes back to the marks.
    Follow,
    /// Nobody puts memory back: the device has written a mark. The host writes its own.
    Restore,
}

impl PutBack {
    /// How long nothing is taken after both marks went back. (Nsight Compute 2025.3 on an H200's host puts 200 MiB back
    /// within 73 ms.)
    pub const SETTLES: Duration = Duration::from_millis(20);
    /// How long the second mark may take.
    pub const LONGEST: Duration = Duration::from_millis(500);

    /// A mark is not what was left there; `whole`: nor is the other one.
    pub fn look(&mut self, whole: bool) -> Verdict {
        let now = Instant::now();
        let begun = *self.begun.get_or_insert(now);
        let verdict = if !whole {
            self.whole = None;
            if now - begun < Self::LONGEST { Verdict::Wait } else { Verdict::Restore }
        } else if now - *self.whole.get_or_insert(now) < Self::SETTLES {
            Verdict::Wait
        } else {
            Verdict::Follow
        };
        if verdict != Verdict::Wait {
            *self = Self::default();
        }
        verdict
    }

    /// Both marks are what was left there.
    #[inline(always)]
    pub fn end(&mut self) {
        if self.begun.is_some() {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_last(put_back: &mut PutBack, whole: bool) -> Verdict {
        loop {
            match put_back.look(whole) {
                Verdict::Wait => std::thread::sleep(Duration::from_millis(1)),
                verdict => return verdict,
            }
        }
    }

    #[test]
    fn memory_is_followed_some_time_after_both_marks_went_back_and_a_mark_alone_is_written_again() {
        let mut put_back = PutBack::default();
        for _ in 0..2 {
            let start = Instant::now();
            assert_eq!((put_back.look(false), put_back.look(true)), (Verdict::Wait, Verdict::Wait));
            assert_eq!(at_last(&mut put_back, true), Verdict::Follow);
            assert!(start.elapsed() >= PutBack::SETTLES);
        }
        let start = Instant::now();
        assert_eq!(at_last(&mut put_back, false), Verdict::Restore);
        assert!(start.elapsed() >= PutBack::LONGEST);
        assert_eq!(put_back.look(false), Verdict::Wait);
        put_back.end();
        assert!(put_back.begun.is_none());
    }
}

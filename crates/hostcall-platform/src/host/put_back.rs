//! Since when memory is being put back that the device can reach.

use std::time::{Duration, Instant};

/// Times how long memory is left alone that a tool is putting back: a profiler, say, that runs a kernel again.
///
/// It is seen where the host's mark is not what the host has left there. What lies in the rest of the memory may still be
/// what the last pass has sent, which must not be taken for the next one's.
#[derive(Debug, Default)]
pub struct PutBack(Option<Instant>);

impl PutBack {
    /// How long that is.
    pub const SETTLES: Duration = Duration::from_millis(20);

    /// Whether so much time has passed since this was asked first. The next time, it is asked for the first time again.
    pub fn has_settled(&mut self) -> bool {
        let settled = self.0.get_or_insert_with(Instant::now).elapsed() >= Self::SETTLES;
        if settled {
            self.0 = None;
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_settles_after_a_while_and_then_anew() {
        let mut put_back = PutBack::default();
        assert!(!put_back.has_settled());
        std::thread::sleep(PutBack::SETTLES);
        assert!(put_back.has_settled() && !put_back.has_settled());
    }
}

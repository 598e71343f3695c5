//! How often somebody looks at a word before they sleep.
//!
//! Sleeping and being woken takes some microseconds, so who is answered sooner should look a little longer. On a machine with fewer
//! processors than threads, looking only keeps others from running. So each waiter learns: a look that succeeds doubles the patience, one
//! that fails halves it.

use std::sync::atomic::{AtomicU32, Ordering};

/// Looks that are always made.
const LEAST: u32 = 32;
/// Looks at most: between 10 and 50 µs, as processors go.
const MOST: u32 = 1024;

/// Learns how many looks are worth their time.
#[derive(Debug)]
pub(crate) struct Patience(AtomicU32);

impl Patience {
    pub(crate) const fn new() -> Patience {
        Patience(AtomicU32::new(256))
    }

    /// Looks until there is something, or patience ends.
    pub(crate) fn look<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        // Relaxed: a lost update makes the next wait a little longer or shorter, and nothing depends on it.
        let looks = self.0.load(Ordering::Relaxed);
        for _ in 0..looks {
            if let Some(found) = look() {
                if looks < MOST {
                    self.0.store(2 * looks, Ordering::Relaxed);
                }
                return Some(found);
            }
            std::hint::spin_loop();
        }
        if looks > LEAST {
            self.0.store(looks / 2, Ordering::Relaxed);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_when_it_is_rewarded_and_shrinks_when_it_is_not_within_bounds() {
        let patience = Patience::new();
        for _ in 0..20 {
            assert_eq!(patience.look(|| None::<()>), None);
        }
        let mut looks = 0;
        patience.look(|| {
            looks += 1;
            None::<()>
        });
        assert_eq!(looks, LEAST);
        for n in 0..20 {
            assert_eq!(patience.look(|| Some(n)), Some(n));
        }
        looks = 0;
        patience.look(|| {
            looks += 1;
            None::<()>
        });
        assert_eq!(looks, MOST);
    }
}

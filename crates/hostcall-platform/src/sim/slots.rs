//! Slots of SMs: how many waves can be resident, and where.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::grid::Place;
use super::rendezvous::bits;

/// All slots of a device.
pub(super) struct Slots {
    waves_per_sm: u32,
    /// For each SM the free slots.
    free: Mutex<Vec<u64>>,
    changed: Condvar,
    /// Kernels that wait for slots.
    waiting: AtomicUsize,
}

impl Slots {
    pub(super) fn new(sms: u32, waves_per_sm: u32) -> Self {
        let all = if waves_per_sm == 64 { !0 } else { (1 << waves_per_sm) - 1 };
        let free = Mutex::new(vec![all; sms as usize]);
        Self { waves_per_sm, free, changed: Condvar::new(), waiting: AtomicUsize::new(0) }
    }

    /// Takes `waves` slots of the SM with the most free ones, if it has so many.
    fn take_from(self: &Arc<Self>, free: &mut [u64], waves: usize) -> Option<Lease> {
        // `max_by_key` takes the last of equals; the first is wanted.
        let (sm, slots) = free.iter_mut().enumerate().rev().max_by_key(|(_, slots)| slots.count_ones())?;
        if (slots.count_ones() as usize) < waves {
            return None;
        }
        let taken = bits(*slots).take(waves).fold(0, |mask, slot| mask | 1 << slot);
        *slots &= !taken;
        Some(Lease { slots: self.clone(), sm: sm as u32, taken })
    }

    /// Takes `waves` slots of one SM, waiting for them; `None` as soon as `wanted` says so, which it is asked whenever
    /// slots come free.
    pub(super) fn take(self: &Arc<Self>, waves: usize, wanted: impl Fn() -> bool) -> Option<Lease> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if !wanted() {
                return None;
            }
            if let Some(lease) = self.take_from(&mut free, waves) {
                return Some(lease);
            }
            // A hint for `contended`, which is asked again after each workgroup.
            self.waiting.fetch_add(1, Ordering::Relaxed);
            free = self.changed.wait(free).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether more kernels than `own` wait for slots.
    pub(super) fn contended(&self, own: usize) -> bool {
        // A hint: see `take`.
        self.waiting.load(Ordering::Relaxed) > own
    }
}

/// Slots of one SM, given back when dropped.
pub(super) struct Lease {
    slots: Arc<Slots>,
    sm: u32,
    taken: u64,
}

impl Lease {
    /// The place of the `index`-th wave.
    pub(super) fn place(&self, index: usize) -> Place {
        let slot = bits(self.taken).nth(index).expect("a lease has a slot for each wave of the workgroup");
        Place { sm: self.sm, wave: self.sm * self.slots.waves_per_sm + slot }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.slots.free.lock().unwrap_or_else(PoisonError::into_inner)[self.sm as usize] |= self.taken;
        self.slots.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_of_the_emptiest_sm_and_comes_back() {
        let slots = Arc::new(Slots::new(2, 4));
        let now = |waves| slots.take_from(&mut slots.free.lock().unwrap(), waves);
        let a = now(3).unwrap();
        let b = now(2).unwrap();
        assert_eq!((a.place(2).sm, b.place(0).sm), (0, 1));
        assert_eq!((a.place(2).wave, b.place(1).wave), (2, 5));
        assert!(now(3).is_none());
        drop(a);
        assert_eq!(now(4).unwrap().place(0).wave, 0);
    }
}

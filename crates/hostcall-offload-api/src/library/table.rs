//! Handles that are numbers, and the objects behind them.
//!
//! A handle says its kind, the number of a slot, and the slot's generation when the handle was made. A slot's
//! generation grows by one when an object comes and by one when it goes, so it is odd while there is an object, and no
//! two handles of one slot are equal. Nothing is ever reached through a handle without that comparison. A slot whose
//! generations are used up is not used again.
//!
//! ```text
//! bit 63      32 31        8 7   4 3  0
//!     generation |   slot   | 1111 | kind
//! ```
//!
//! A pointer to something else is taken for a handle only if its slot and generation are those of a live one. Even then
//! nothing at that address is touched.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::HandleKind;

/// What marks a handle, in bits 4 to 7.
const MARK: usize = 0xf0;

/// The parts of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) kind: HandleKind,
    pub(super) slot: u32,
    pub(super) generation: u32,
}

impl Parts {
    /// The handle.
    pub(super) fn handle(self) -> *mut c_void {
        let kind = match self.kind {
            HandleKind::Context => 1,
            HandleKind::Device => 2,
            HandleKind::Event => 3,
            HandleKind::Platform => 4,
            HandleKind::Program => 5,
            HandleKind::Queue => 6,
            HandleKind::Symbol => 7,
        };
        ptr::without_provenance_mut((self.generation as usize) << 32 | (self.slot as usize) << 8 | MARK | kind)
    }

    /// The parts of what a caller passed, if it can be a handle.
    #[inline]
    pub(super) fn of(handle: *const c_void) -> Option<Parts> {
        let bits = handle.addr();
        let kind = match bits & 0xff {
            0xf1 => HandleKind::Context,
            0xf2 => HandleKind::Device,
            0xf3 => HandleKind::Event,
            0xf4 => HandleKind::Platform,
            0xf5 => HandleKind::Program,
            0xf6 => HandleKind::Queue,
            0xf7 => HandleKind::Symbol,
            _ => return None,
        };
        Some(Parts { kind, slot: (bits >> 8) as u32 & 0xff_ffff, generation: (bits >> 32) as u32 })
    }
}

/// The kind that a handle says it is of.
pub(super) fn kind_of(handle: *const c_void) -> Option<HandleKind> {
    Some(Parts::of(handle)?.kind)
}

struct Slot<T> {
    /// Odd while there is an object.
    generation: AtomicU32,
    object: RwLock<Option<Arc<T>>>,
}

/// Slots come in blocks, each twice as large as the one before, that are never moved or freed.
const FIRST_BLOCK: u32 = 64;
/// 64 + 128 + … slots: 2^24.
const BLOCKS: usize = 18;

/// The objects of one kind.
pub(super) struct Table<T> {
    kind: HandleKind,
    blocks: [OnceLock<Box<[Slot<T>]>>; BLOCKS],
    free: Mutex<Free>,
}

struct Free {
    /// Slots that were used and are not any more.
    list: Vec<u32>,
    /// The first slot that was never used.
    next: u32,
}

/// Which block a slot is in, and where there.
#[inline]
fn place(slot: u32) -> (usize, usize) {
    let block = ((slot / FIRST_BLOCK) + 1).ilog2();
    (block as usize, (slot - FIRST_BLOCK * ((1 << block) - 1)) as usize)
}

impl<T> Table<T> {
    pub(super) const fn new(kind: HandleKind) -> Table<T> {
        Table { kind, blocks: [const { OnceLock::new() }; BLOCKS], free: Mutex::new(Free { list: Vec::new(), next: 0 }) }
    }

    #[inline]
    fn slot(&self, slot: u32) -> Option<&Slot<T>> {
        let (block, index) = place(slot);
        self.blocks.get(block)?.get()?.get(index)
    }

    /// The slot of a handle of this kind, if it holds the handle's object.
    #[inline]
    fn live(&self, handle: *const c_void) -> Option<(&Slot<T>, Parts)> {
        let parts = Parts::of(handle).filter(|parts| parts.kind == self.kind && parts.generation % 2 == 1)?;
        let slot = self.slot(parts.slot)?;
        // Pairs with the change in `insert`: who sees the generation sees the slot's object when it takes the lock.
        (slot.generation.load(Ordering::Acquire) == parts.generation).then_some((slot, parts))
    }

    /// Whether there is an object of this handle.
    #[inline]
    pub(super) fn is_live(&self, handle: *const c_void) -> bool {
        self.live(handle).is_some()
    }

    /// The object of a handle.
    #[inline]
    pub(super) fn get(&self, handle: *const c_void) -> Option<Arc<T>> {
        let (slot, parts) = self.live(handle)?;
        let object = slot.object.read().unwrap_or_else(PoisonError::into_inner);
        // The generation changes under the write lock, so it is that of the object from here on.
        (slot.generation.load(Ordering::Relaxed) == parts.generation).then(|| object.clone())?
    }

    /// Puts an object into a slot; its handle, or `None` if all slots are in use.
    pub(super) fn insert(&self, object: Arc<T>) -> Option<*mut c_void> {
        let number = {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            match free.list.pop() {
                Some(number) => number,
                None => {
                    let (block, _) = place(free.next);
                    self.blocks.get(block)?.get_or_init(|| {
                        (0..FIRST_BLOCK << block).map(|_| Slot { generation: AtomicU32::new(0), object: RwLock::new(None) }).collect()
                    });
                    free.next += 1;
                    free.next - 1
                }
            }
        };
        let slot = self.slot(number)?;
        let mut place = slot.object.write().unwrap_or_else(PoisonError::into_inner);
        *place = Some(object);
        // Release: pairs with the load in `live`.
        let generation = slot.generation.fetch_add(1, Ordering::Release) + 1;
        Some(Parts { kind: self.kind, slot: number, generation }.handle())
    }

    /// Takes the object out. Of several threads that destroy the same handle one gets it.
    pub(super) fn remove(&self, handle: *const c_void) -> Option<Arc<T>> {
        let (slot, parts) = self.live(handle)?;
        let object = {
            let mut object = slot.object.write().unwrap_or_else(PoisonError::into_inner);
            if slot.generation.load(Ordering::Relaxed) != parts.generation {
                return None;
            }
            // Release: pairs with the load in `live`; who sees it does not look for the object.
            slot.generation.store(parts.generation.wrapping_add(1), Ordering::Release);
            object.take()
        };
        if parts.generation < u32::MAX {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).list.push(parts.slot);
        }
        object
    }

    /// All live handles and their objects.
    pub(super) fn live_objects(&self) -> Vec<(*mut c_void, Arc<T>)> {
        let used = self.free.lock().unwrap_or_else(PoisonError::into_inner).next;
        let object = |number| {
            let slot = self.slot(number)?;
            let object = slot.object.read().unwrap_or_else(PoisonError::into_inner).clone()?;
            let generation = slot.generation.load(Ordering::Relaxed);
            Some((Parts { kind: self.kind, slot: number, generation }.handle(), object))
        };
        (0..used).filter_map(object).collect()
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_place() {
        assert_eq!([0, 63, 64, 191, 192].map(place), [(0, 0), (0, 63), (1, 0), (1, 127), (2, 0)]);
        assert_eq!(place((1 << 24) - FIRST_BLOCK - 1).0, BLOCKS - 1);
        assert!(place((1 << 24) - FIRST_BLOCK).0 >= BLOCKS, "the slots end before their numbers do");
    }

    #[test]
    fn a_slot_that_is_used_again_has_another_handle() {
        let table = Table::new(HandleKind::Queue);
        let first = table.insert(Arc::new(1)).unwrap();
        assert_eq!(table.get(first).as_deref(), Some(&1));
        assert_eq!(table.remove(first).as_deref(), Some(&1));
        let second = table.insert(Arc::new(2)).unwrap();
        assert_ne!(first, second);
        assert!(table.get(first).is_none() && table.remove(first).is_none() && !table.is_live(first));
        assert_eq!(table.live_objects(), [(second, Arc::new(2))]);
    }

    #[test]
    fn what_is_no_handle_of_the_kind_is_nothing() {
        let (queues, events) = (Table::new(HandleKind::Queue), Table::new(HandleKind::Event));
        let queue = queues.insert(Arc::new(())).unwrap();
        events.insert(Arc::new(())).unwrap();
        assert!(!events.is_live(queue) && kind_of(queue) == Some(HandleKind::Queue));
        let local = 0u64;
        for other in [ptr::null(), ptr::from_ref(&local).cast(), ptr::without_provenance(usize::MAX), ptr::without_provenance(0xf6)] {
            assert!(!queues.is_live(other), "{other:?}");
        }
    }

    #[test]
    fn of_threads_that_destroy_one_handle_one_gets_the_object() {
        let table = Table::new(HandleKind::Event);
        for _ in 0..200 {
            let handle = table.insert(Arc::new(())).unwrap().addr();
            let got = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| table.remove(ptr::without_provenance(handle)).is_some())).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).filter(|got| *got).count()
            });
            assert_eq!(got, 1);
        }
        assert!(table.live_objects().is_empty());
    }
}

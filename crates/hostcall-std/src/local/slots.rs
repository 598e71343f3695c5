//! What open objects of the device are kept in: what POSIX calls open file descriptions.
//!
//! A *reference* names an open object: the number of a slot, and the slot's generation. Descriptors hold references;
//! all duplicates of a descriptor hold the same one, and the slot counts them. The memory of slots is never given back.
//! So a lane may count itself in at a slot that is just being closed or used for another object: it then finds nobody
//! there or another generation, and counts itself out again.

use super::object::Object;
use super::spin::Spin;
use crate::abi::errno::{EMFILE, ENOMEM};
use crate::error::Errno;
use alloc::alloc::{Layout, alloc_zeroed};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};

/// Slots of a chunk.
const CHUNK: usize = 128;
/// Chunks, at most.
const CHUNKS: usize = 256;

struct Slot {
    /// Descriptors that refer to it, and lanes that use it.
    count: AtomicU32,
    generation: AtomicU32,
    /// `O_NONBLOCK`, the access mode and what else belongs to an open file.
    status: AtomicI32,
    object: UnsafeCell<Option<Object>>,
}

/// Chunks of slots, null until they are needed.
static CHUNK_TABLE: [AtomicPtr<Slot>; CHUNKS] = [const { AtomicPtr::new(null_mut()) }; CHUNKS];

struct Places {
    /// Slots that have been used and are free.
    free: Vec<u32>,
    /// Slots that have ever been used.
    used: u32,
}

static PLACES: Spin<Places> = Spin::new(Places { free: Vec::new(), used: 0 });

fn chunk(index: u32) -> Option<&'static AtomicPtr<Slot>> {
    CHUNK_TABLE.get(index as usize / CHUNK)
}

fn slot(index: u32) -> Option<&'static Slot> {
    // Acquire pairs with the release in `prepare`: the slots are initialised.
    let first = chunk(index)?.load(Ordering::Acquire);
    // SAFETY: a chunk that is there has `CHUNK` slots, which stay.
    (!first.is_null()).then(|| unsafe { &*first.add(index as usize % CHUNK) })
}

/// Sees to it that a slot has memory.
fn prepare(index: u32) -> Result<(), Errno> {
    let chunk = chunk(index).ok_or(Errno(EMFILE))?;
    if !chunk.load(Ordering::Acquire).is_null() {
        return Ok(());
    }
    let Ok(layout) = Layout::array::<Slot>(CHUNK) else { return Err(Errno(ENOMEM)) };
    // SAFETY: the layout is not empty.
    let slots = unsafe { alloc_zeroed(layout) }.cast::<Slot>();
    if slots.is_null() {
        return Err(Errno(ENOMEM));
    }
    for i in 0..CHUNK {
        let empty =
            Slot { count: AtomicU32::new(0), generation: AtomicU32::new(0), status: AtomicI32::new(0), object: UnsafeCell::new(None) };
        // SAFETY: of the new block, which nobody else knows.
        unsafe { slots.add(i).write(empty) };
    }
    // Release pairs with the acquire in `slot`.
    if chunk.compare_exchange(null_mut(), slots, Ordering::Release, Ordering::Relaxed).is_err() {
        // Another lane was first. SAFETY: allocated above with this layout; an empty slot needs no drop.
        unsafe { alloc::alloc::dealloc(slots.cast(), layout) };
    }
    Ok(())
}

/// An open object that the caller uses: it stays until this is dropped.
pub(crate) struct Held {
    slot: &'static Slot,
    index: u32,
}

impl core::ops::Deref for Held {
    type Target = Object;

    fn deref(&self) -> &Object {
        // SAFETY: while the slot counts the caller, its object is there, and nobody changes it.
        match unsafe { &*self.slot.object.get() } {
            Some(object) => object,
            None => unreachable!("a slot that counts somebody has an object"),
        }
    }
}

impl Held {
    /// The open object's status: `O_NONBLOCK` and its like.
    pub(crate) fn status(&self) -> i32 {
        // Relaxed: the program's own calls order what it sets.
        self.slot.status.load(Ordering::Relaxed)
    }

    /// Sets the bits `mask` of the status.
    pub(crate) fn set_status(&self, mask: i32, bits: i32) {
        let _ = self.slot.status.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(old & !mask | bits & mask));
    }

    /// As dropping it; but if the object is closed by that, the caller gets it and closes it by dropping it.
    pub(crate) fn leave(self) -> Option<Object> {
        let this = core::mem::ManuallyDrop::new(self);
        leave(this.slot, this.index)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(leave(self.slot, self.index));
    }
}

fn leave(slot: &'static Slot, index: u32) -> Option<Object> {
    // Release: what the caller did with the object is over; acquire: what all others did, for the one who closes it.
    if slot.count.fetch_sub(1, Ordering::AcqRel) != 1 {
        return None;
    }
    // SAFETY: nobody is counted, and with nobody counted nobody counts himself in: the slot is this lane's until it is
    // free.
    let object = unsafe { (*slot.object.get()).take() };
    PLACES.with(|places| places.free.push(index));
    object
}

/// Opens an object: a reference to it, for one descriptor.
pub(crate) fn insert(object: Object, status: i32) -> Result<u64, Errno> {
    let index = PLACES.with(|places| {
        places.free.pop().or_else(|| {
            let index = places.used;
            ((index as usize) < CHUNK * CHUNKS).then(|| {
                places.used += 1;
                index
            })
        })
    });
    let index = index.ok_or(Errno(EMFILE))?;
    if let Err(error) = prepare(index) {
        PLACES.with(|places| places.free.push(index));
        return Err(error);
    }
    let Some(slot) = slot(index) else { unreachable!("it was prepared") };
    // SAFETY: the slot is free and out of the list: nobody else uses its object.
    unsafe { *slot.object.get() = Some(object) };
    slot.status.store(status, Ordering::Relaxed);
    // Relaxed: `get` reads it behind the count. Never 0, so that no reference is below 2³².
    let generation = slot.generation.load(Ordering::Relaxed).wrapping_add(1).max(1);
    slot.generation.store(generation, Ordering::Relaxed);
    // Release pairs with the acquire in `get`: object and generation.
    slot.count.store(1, Ordering::Release);
    Ok(u64::from(generation) << 32 | u64::from(index))
}

/// The object of a reference, if it is still open.
pub(crate) fn get(reference: u64) -> Option<Held> {
    let (index, generation) = (reference as u32, (reference >> 32) as u32);
    let slot = slot(index)?;
    let more = |count: u32| (count > 0).then_some(count + 1);
    // Acquire pairs with the release in `insert`.
    slot.count.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok()?;
    let held = Held { slot, index };
    // Another object's, perhaps: then it is left again.
    (slot.generation.load(Ordering::Relaxed) == generation).then_some(held)
}

/// Counts one descriptor more: whether the object was still open.
pub(crate) fn share(reference: u64) -> bool {
    get(reference).map(core::mem::forget).is_some()
}

/// Counts one descriptor less. The last one closes the object, once nobody uses it.
pub(crate) fn release(reference: u64) {
    let index = reference as u32;
    if let Some(slot) = slot(index) {
        drop(leave(slot, index));
    }
}

#[cfg(test)]
mod tests {
    use super::super::counter::Counter;
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn counter() -> Object {
        Object::Counter(Counter::new(0, false))
    }

    #[test]
    fn an_object_stays_while_somebody_uses_it_and_is_found_no_more() {
        let reference = insert(counter(), 4).unwrap();
        let held = get(reference).unwrap();
        assert!(share(reference));
        release(reference);
        assert!(get(reference).is_some());
        release(reference);
        assert_eq!((held.status(), held.ready()), (4, 4), "it is still there for the one who uses it");
        drop(held);
        assert!(get(reference).is_none() && !share(reference));
    }

    #[test]
    fn a_reference_to_a_slot_that_is_used_again_is_refused() {
        let first = insert(counter(), 0).unwrap();
        release(first);
        let others: Vec<_> = (0..300).map(|_| insert(counter(), 0).unwrap()).collect();
        assert!(get(first).is_none() && others.iter().all(|other| get(*other).is_some()));
        others.into_iter().for_each(release);
        for hostile in [0, u64::MAX, 1 << 32 | (CHUNK * CHUNKS) as u64, 1 << 63] {
            assert!(get(hostile).is_none(), "{hostile:#x}");
        }
    }

    #[test]
    fn looking_while_others_open_and_close_finds_the_right_object_or_none() {
        static SHOWN: [core::sync::atomic::AtomicU64; 2] = [const { core::sync::atomic::AtomicU64::new(0) }; 2];
        let done = std::sync::Arc::new(AtomicBool::new(false));
        let looker = {
            let done = done.clone();
            std::thread::spawn(move || {
                let mut found = 0;
                while !done.load(Ordering::Relaxed) {
                    for (which, shown) in SHOWN.iter().enumerate() {
                        if let Some(held) = get(shown.load(Ordering::Relaxed)) {
                            assert_eq!(held.status(), which as i32);
                            found += 1;
                        }
                    }
                }
                found
            })
        };
        for round in 0..20_000 {
            let which = round % 2;
            let reference = insert(counter(), which as i32).unwrap();
            SHOWN[which].store(reference, Ordering::Relaxed);
            if round % 3 == 0 {
                std::thread::yield_now();
            }
            release(reference);
        }
        done.store(true, Ordering::Relaxed);
        let _found: u64 = looker.join().unwrap();
    }
}

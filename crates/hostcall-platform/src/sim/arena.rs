//! Device memory: one reserved range of addresses, and gaps between allocations that nobody can touch.
//!
//! The range is reserved without access. An allocation opens whole pages, with at least one closed page behind them.
//! It lies at their end (as far as an alignment of 256 allows), so that running past it is a fault. Freed pages go
//! back to the system.

use std::any::Any;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::BackendMemory;
use crate::error::Error;

pub(super) const PAGE: usize = 4096;
const ALIGN: usize = 256;

/// A mapping of this process, unmapped when dropped.
pub(super) struct Mapping {
    pub(super) start: usize,
    pub(super) bytes: usize,
}

impl Mapping {
    /// Reserves addresses without access.
    pub(super) fn reserve(bytes: usize) -> Result<Self, Error> {
        // SAFETY: a new anonymous mapping at an address that the system chooses touches nothing that exists.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0)
        };
        if start == libc::MAP_FAILED {
            return Err(Error::OutOfHostMemory { asked: bytes as u64, reason: std::io::Error::last_os_error().to_string() });
        }
        Ok(Self { start: start as usize, bytes })
    }

    /// Opens a part for reading and writing.
    pub(super) fn open(&self, at: usize, bytes: usize) -> Result<(), Error> {
        debug_assert!(at >= self.start && at + bytes <= self.start + self.bytes);
        // SAFETY: the part is of this mapping.
        if unsafe { libc::mprotect(at as *mut _, bytes, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(Error::OutOfHostMemory { asked: bytes as u64, reason: std::io::Error::last_os_error().to_string() });
        }
        Ok(())
    }

    /// Closes a part and gives its pages back.
    fn close(&self, at: usize, bytes: usize) {
        debug_assert!(at >= self.start && at + bytes <= self.start + self.bytes);
        // SAFETY: a new mapping in place of a part of this one, which nobody uses any more.
        let mapped = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
            libc::mmap(at as *mut _, bytes, libc::PROT_NONE, flags, -1, 0)
        };
        if mapped == libc::MAP_FAILED {
            tracing::warn!(at, bytes, "cannot close freed device memory: {}", std::io::Error::last_os_error());
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody uses it any more.
        unsafe { libc::munmap(self.start as *mut _, self.bytes) };
    }
}

/// The memory of one device.
pub(super) struct Arena {
    mapping: Mapping,
    /// Bytes that may be allocated.
    limit: u64,
    state: Mutex<State>,
    /// Whether kernels run that nobody waits for: nothing is freed any more.
    left: AtomicBool,
}

struct State {
    /// Start and length of free parts.
    free: BTreeMap<usize, usize>,
    /// Start and length of open parts.
    used: BTreeMap<usize, usize>,
    bytes: u64,
}

impl Arena {
    pub(super) fn new(limit: u64) -> Result<Self, Error> {
        // Every allocation of n pages takes at most 2n with its gap; the rest is for fragmentation.
        let bytes = (limit as usize) * 2 + (64 << 20);
        let mapping = Mapping::reserve(bytes.next_multiple_of(PAGE))?;
        let free = BTreeMap::from([(mapping.start, mapping.bytes)]);
        let state = Mutex::new(State { free, used: BTreeMap::new(), bytes: 0 });
        Ok(Self { mapping, limit, state, left: AtomicBool::new(false) })
    }

    /// A queue of the device is left to itself: nothing is freed any more.
    pub(super) fn keep_all(&self) {
        // Pairs with the load in `keeps_all`. Release: what is dropped after this is kept.
        self.left.store(true, Ordering::Release);
    }

    fn keeps_all(&self) -> bool {
        // Pairs with the store in `keep_all`.
        self.left.load(Ordering::Acquire)
    }

    pub(super) fn alloc(self: &Arc<Self>, bytes: usize, device: &str) -> Result<Allocation, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let available = self.limit - state.bytes;
        let out_of_memory = || Error::OutOfMemory { device: device.to_owned(), asked: bytes as u64, available };
        if bytes as u64 > available {
            return Err(out_of_memory());
        }
        let open = bytes.next_multiple_of(PAGE);
        let need = open + PAGE;
        if open as u64 > available {
            return Err(out_of_memory());
        }
        let (start, len) = state.free.iter().find(|&(_, &len)| len >= need).map(|(&s, &l)| (s, l)).ok_or_else(out_of_memory)?;
        self.mapping.open(start, open)?;
        state.free.remove(&start);
        if len > need {
            state.free.insert(start + need, len - need);
        }
        state.used.insert(start, open);
        state.bytes += open as u64;
        let address = start + open - bytes.next_multiple_of(ALIGN);
        Ok(Allocation { arena: self.clone(), start, open, address, bytes })
    }

    fn free(&self, start: usize, open: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.mapping.close(start, open);
        state.used.remove(&start);
        state.bytes -= open as u64;
        let (mut start, mut len) = (start, open + PAGE);
        if let Some((&before, &bytes)) = state.free.range(..start).next_back()
            && before + bytes == start
        {
            state.free.remove(&before);
            (start, len) = (before, bytes + len);
        }
        if let Some(bytes) = state.free.remove(&(start + len)) {
            len += bytes;
        }
        state.free.insert(start, len);
    }

    /// Where an address lies, for the report of a fault.
    pub(super) fn describe(&self, address: u64) -> Option<String> {
        let address = address as usize;
        if address < PAGE {
            return Some("a null pointer".to_owned());
        }
        if address < self.mapping.start || address >= self.mapping.start + self.mapping.bytes {
            return None;
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((&start, &open)) = state.used.range(..=address).next_back() else {
            return Some("device memory that is not allocated".to_owned());
        };
        match address - start {
            past if past < open => Some("device memory, freed or allocated meanwhile".to_owned()),
            past => Some(format!("device memory {} bytes past the end of an allocation", past - open + 1)),
        }
    }
}

/// Device memory, freed when dropped.
pub(super) struct Allocation {
    arena: Arc<Arena>,
    start: usize,
    open: usize,
    address: usize,
    bytes: usize,
}

/// Zeroing at least so many bytes gives pages back instead of writing them.
const LARGE: usize = 1 << 20;

impl Allocation {
    /// Zeroes a part. Of a large one whole pages are given back to the system, which hands them out again as zeros when
    /// they are touched: a heap of which a program uses little costs little.
    ///
    /// # Safety
    /// The part is of this allocation, and nobody else uses it meanwhile.
    pub(super) unsafe fn zero(&self, offset: usize, bytes: usize) {
        let (start, end) = (self.address + offset, self.address + offset + bytes);
        let (first, last) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
        // SAFETY: whole pages inside the allocation, which are of our own anonymous and private mapping.
        let given_back = bytes >= LARGE && unsafe { libc::madvise(first as *mut _, last - first, libc::MADV_DONTNEED) } == 0;
        let (first, last) = if given_back { (first, last) } else { (end, end) };
        // SAFETY: the caller's; both parts lie between `start` and `end`.
        unsafe {
            ptr::write_bytes(start as *mut u8, 0, first - start);
            ptr::write_bytes(last as *mut u8, 0, end - last);
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if !self.arena.keeps_all() {
            self.arena.free(self.start, self.open);
        }
    }
}

// SAFETY: both addresses are of the same bytes, as many as it says, which stay until this is dropped.
unsafe impl BackendMemory for Allocation {
    fn device_address(&self) -> u64 {
        self.address as u64
    }

    fn host_pointer(&self) -> *mut u8 {
        self.address as *mut u8
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Host memory that the device sees: page-aligned, zeroed, with a closed page behind it.
pub(super) struct HostAllocation {
    /// Keeps it mapped.
    mapping: ManuallyDrop<Mapping>,
    /// Of the device whose kernels see it.
    arena: Arc<Arena>,
    start: usize,
    bytes: usize,
}

/// Bytes of a huge page.
#[cfg(target_os = "linux")]
const HUGE: usize = 2 << 20;

impl HostAllocation {
    pub(super) fn new(bytes: usize, arena: &Arc<Arena>) -> Result<Self, Error> {
        let too_much = || Error::OutOfHostMemory { asked: bytes as u64, reason: "more than the address space".to_owned() };
        let open = bytes.checked_next_multiple_of(PAGE).ok_or_else(too_much)?;
        let mapping = Mapping::reserve(open.checked_add(PAGE).ok_or_else(too_much)?)?;
        mapping.open(mapping.start, open)?;
        Ok(Self { start: mapping.start, mapping: ManuallyDrop::new(mapping), arena: arena.clone(), bytes })
    }

    /// On huge pages, if the system likes.
    #[cfg(target_os = "linux")]
    pub(super) fn huge(bytes: usize, arena: &Arc<Arena>) -> Result<Self, Error> {
        let too_much = || Error::OutOfHostMemory { asked: bytes as u64, reason: "more than the address space".to_owned() };
        let open = bytes.checked_next_multiple_of(HUGE).ok_or_else(too_much)?;
        let mapping = Mapping::reserve(open.checked_add(HUGE + PAGE).ok_or_else(too_much)?)?;
        let start = mapping.start.next_multiple_of(HUGE);
        mapping.open(start, open)?;
        // SAFETY: a part of our own mapping. It is advice, so whether it is taken does not matter.
        unsafe { libc::madvise(start as *mut _, open, libc::MADV_HUGEPAGE) };
        Ok(Self { start, mapping: ManuallyDrop::new(mapping), arena: arena.clone(), bytes })
    }
}

impl Drop for HostAllocation {
    fn drop(&mut self) {
        if !self.arena.keeps_all() {
            // SAFETY: dropped this once, and not used any more.
            unsafe { ManuallyDrop::drop(&mut self.mapping) };
        }
    }
}

// SAFETY: both addresses are of the same bytes, as many as it says, which stay until this is dropped.
unsafe impl BackendMemory for HostAllocation {
    fn device_address(&self) -> u64 {
        self.start as u64
    }

    fn host_pointer(&self) -> *mut u8 {
        self.start as *mut u8
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_joined_and_used_again() {
        let arena = Arc::new(Arena::new(1 << 20).unwrap());
        for _ in 0..100 {
            let all: Vec<_> = (1..200).map(|n| arena.alloc(n * 7, "d").unwrap()).collect();
            for a in &all {
                assert_eq!(a.address % ALIGN, 0);
                // SAFETY: the allocation has these bytes, and nobody else uses it.
                unsafe { ptr::write_bytes(a.host_pointer(), 0xff, a.bytes) };
            }
        }
        assert_eq!(arena.state.lock().unwrap().free.len(), 1);
        assert!(arena.alloc(1 << 20, "d").is_ok());
    }

    #[test]
    fn zeroing_reaches_every_byte_of_the_part_and_no_other() {
        let arena = Arc::new(Arena::new(16 << 20).unwrap());
        let memory = arena.alloc((4 << 20) + 777, "d").unwrap();
        for (offset, bytes) in [(0, memory.bytes), (1, LARGE), (PAGE - 1, LARGE + 2), (5000, 3 << 20), (9, 100), (memory.bytes, 0)] {
            // SAFETY: the allocation has these bytes, and nobody else uses it.
            let all = unsafe {
                ptr::write_bytes(memory.host_pointer(), 0xff, memory.bytes);
                memory.zero(offset, bytes);
                std::slice::from_raw_parts(memory.host_pointer(), memory.bytes)
            };
            let wrong = all.iter().enumerate().find(|(at, byte)| **byte != if (offset..offset + bytes).contains(at) { 0 } else { 0xff });
            assert_eq!(wrong, None, "{bytes} bytes at {offset}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_on_huge_pages_is_zeroed_from_its_first_byte_to_its_last() {
        let arena = Arc::new(Arena::new(1 << 20).unwrap());
        for bytes in [1, HUGE - 1, HUGE, 3 * HUGE + 1] {
            let memory = HostAllocation::huge(bytes, &arena).unwrap();
            assert!((memory.host_pointer() as usize).is_multiple_of(HUGE) && memory.bytes() == bytes);
            // SAFETY: the allocation has these bytes, and nobody else uses it.
            let all = unsafe { std::slice::from_raw_parts_mut(memory.host_pointer(), bytes) };
            assert!(all.iter().all(|byte| *byte == 0));
            all.fill(7);
        }
    }

    #[test]
    fn exhaustion_names_what_was_asked_and_what_is_left() {
        let arena = Arc::new(Arena::new(1 << 20).unwrap());
        let _half = arena.alloc(1 << 19, "d").unwrap();
        let error = arena.alloc(1 << 20, "d").err().unwrap();
        assert!(matches!(error, Error::OutOfMemory { asked: 0x10_0000, available: 0x8_0000, .. }), "{error}");
    }
}

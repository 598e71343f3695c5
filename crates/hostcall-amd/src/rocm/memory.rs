//! Memory for kernels: what `malloc` on a device asks the host for, in slabs.
//!
//! A lane sends an address to release, or 0 and a number of bytes, and gets an address, or 0 if there is no more.
//! Kernels are untrusted: what they have has a limit, what they get holds nothing of others, and only what was handed
//! out is released.

use std::alloc::{self, Layout};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use crate::services::{Outcome, State};

/// Gets memory: its state, how many bytes, and their alignment. 0 if there is none; else the address as kernels see it.
pub type Allocate = unsafe extern "C-unwind" fn(*mut c_void, u64, u64) -> u64;
/// Gives memory back: its state, the address, and how many bytes.
pub type Release = unsafe extern "C-unwind" fn(*mut c_void, u64, u64);

/// ROCm's `malloc` expects a slab of this size to be aligned to it.
const SLAB: u64 = 2 << 20;
const PAGE: u64 = 4096;

/// Where memory comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// This process's own memory, for devices that reach it.
    Host,
    User(Allocate, Release, State),
}

/// Memory that kernels have, and may have.
#[derive(Debug)]
pub(crate) struct Memory {
    source: Source,
    limit: u64,
    handed_out: Mutex<HandedOut>,
}

#[derive(Debug, Default)]
struct HandedOut {
    bytes: u64,
    /// How many bytes each address has.
    all: HashMap<u64, u64>,
}

fn alignment(bytes: u64) -> u64 {
    if bytes == SLAB { SLAB } else { PAGE }
}

fn layout(bytes: u64) -> Option<Layout> {
    Layout::from_size_align(usize::try_from(bytes).ok()?, alignment(bytes) as usize).ok().filter(|layout| layout.size() > 0)
}

impl Source {
    fn allocate(self, bytes: u64) -> u64 {
        match self {
            // SAFETY: of at least a byte. Zeros: what was there before is not the kernel's to read.
            Source::Host => layout(bytes).map_or(0, |layout| unsafe { alloc::alloc_zeroed(layout) }.expose_provenance() as u64),
            // SAFETY: the client registered it as a function of this type, with this state.
            Source::User(allocate, _, state) => unsafe { allocate(state.0, bytes, alignment(bytes)) },
        }
    }

    fn release(self, address: u64, bytes: u64) {
        match self {
            Source::Host => {
                if let Some(layout) = layout(bytes) {
                    // SAFETY: `allocate` has handed it out, for as many bytes, and nobody has released it since.
                    unsafe { alloc::dealloc(std::ptr::with_exposed_provenance_mut(address as usize), layout) };
                }
            }
            // SAFETY: as above.
            Source::User(_, release, state) => unsafe { release(state.0, address, bytes) },
        }
    }
}

impl Memory {
    /// Memory of which kernels may have so many bytes at a time.
    pub(crate) fn new(source: Source, limit: u64) -> Memory {
        Memory { source, limit, handed_out: Mutex::default() }
    }

    /// One lane's call of service 3.
    pub(crate) fn call(&self, words: &mut [u64; 8]) -> Outcome {
        match (words[0], words[1]) {
            (0, 0) => return Outcome::Refused,
            (0, bytes) => words[0] = self.allocate(bytes),
            (address, _) => {
                let bytes = {
                    let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(bytes) = handed_out.all.remove(&address) else { return Outcome::Refused };
                    handed_out.bytes -= bytes;
                    bytes
                };
                self.source.release(address, bytes);
            }
        }
        Outcome::Done
    }

    fn allocate(&self, bytes: u64) -> u64 {
        {
            let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
            if handed_out.bytes.checked_add(bytes).is_none_or(|sum| sum > self.limit) {
                return 0;
            }
            // Before it is there: several lanes may ask at once.
            handed_out.bytes += bytes;
        }
        let address = self.source.allocate(bytes);
        let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        if address == 0 {
            handed_out.bytes -= bytes;
        } else if let Some(before) = handed_out.all.insert(address, bytes) {
            // Handed out twice by the client's function.
            handed_out.bytes -= before;
        }
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(memory: &Memory, address: u64, bytes: u64) -> Result<u64, Outcome> {
        let mut words = [address, bytes, 0, 0, 0, 0, 0, 0];
        match memory.call(&mut words) {
            Outcome::Done => Ok(words[0]),
            refused => Err(refused),
        }
    }

    #[test]
    fn memory_has_a_limit_holds_nothing_of_others_and_is_released_once() {
        let memory = Memory::new(Source::Host, 3 * SLAB);
        let slab = call(&memory, 0, SLAB).unwrap();
        assert!(slab != 0 && slab.is_multiple_of(SLAB));
        let small = call(&memory, 0, 5).unwrap();
        assert!(small != 0 && small.is_multiple_of(PAGE));
        // SAFETY: five bytes of this process.
        assert_eq!(unsafe { std::ptr::with_exposed_provenance::<[u8; 5]>(small as usize).read() }, [0; 5]);
        assert_eq!(call(&memory, 0, 2 * SLAB), Ok(0), "more than is left");
        assert_eq!(call(&memory, 0, u64::MAX), Ok(0));
        assert_eq!(call(&memory, slab + 8, 0), Err(Outcome::Refused), "nobody has that");
        assert_eq!(call(&memory, slab, 0), Ok(slab));
        assert_eq!(call(&memory, slab, 0), Err(Outcome::Refused), "once");
        assert_eq!(call(&memory, 0, 0), Err(Outcome::Refused));
        let large = call(&memory, 0, 2 * SLAB).unwrap();
        assert_ne!(large, 0);
        assert_eq!((call(&memory, small, 0), call(&memory, large, 0)), (Ok(small), Ok(large)));
        assert_eq!(memory.handed_out.lock().unwrap().bytes, 0);
    }
}

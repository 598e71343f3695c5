//! Arguments of launches: small blocks of the host's memory for arguments, one for each packet in flight, used again
//! and again.

use std::collections::HashMap;
use std::sync::Arc;

use super::context::{Context, lock};
use super::memory;
use crate::error::Error;

/// What blocks are cut from.
const SLAB: usize = 64 << 10;
/// The least block: a cache line.
const LEAST: usize = 64;

/// Memory that blocks are cut from, and blocks that are free.
#[derive(Default)]
pub(super) struct Slabs {
    all: Vec<usize>,
    /// Free blocks of each size.
    free: HashMap<usize, Vec<usize>>,
    /// What is left of the last slab.
    rest: std::ops::Range<usize>,
}

impl Slabs {
    /// All slabs, to be freed.
    pub(super) fn take(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.all)
    }
}

/// A block, given back when dropped.
pub(super) struct Kernarg {
    context: Arc<Context>,
    address: usize,
    size: usize,
}

/// The size of the block that `bytes` go into.
fn block(bytes: usize) -> usize {
    bytes.max(LEAST).next_power_of_two()
}

impl Kernarg {
    /// A zeroed block of at least so many bytes, aligned to a cache line.
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<Kernarg, Error> {
        let size = block(bytes);
        let mut slabs = lock(&context.slabs);
        let address = match slabs.free.get_mut(&size).and_then(Vec::pop) {
            Some(address) => address,
            None => {
                if slabs.rest.len() < size {
                    let slab = SLAB.max(size);
                    let start = memory::allocate(context, context.found.pools.kernarg, slab)
                        .map_err(|status| super::fault::out_of_host_memory(slab, context.runtime, status))?;
                    slabs.all.push(start);
                    memory::allow(context, &[context.found.agent], start)?;
                    slabs.rest = start..start + slab;
                }
                let address = slabs.rest.start;
                slabs.rest.start += size;
                address
            }
        };
        drop(slabs);
        // SAFETY: `size` bytes of a slab, which no packet in flight and no other block has.
        unsafe { std::ptr::write_bytes(address as *mut u8, 0, size) };
        Ok(Kernarg { context: context.clone(), address, size })
    }

    pub(super) fn address(&self) -> u64 {
        self.address as u64
    }

    /// Writes bytes at an offset.
    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.size, "{} bytes at {at} of a block of {}", bytes.len(), self.size);
        // SAFETY: inside the block (just checked), which is this object's alone until its packet is published.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.address + at) as *mut u8, bytes.len()) };
    }
}

impl Drop for Kernarg {
    fn drop(&mut self) {
        // A lost device may still read it.
        if !self.context.is_lost() {
            lock(&self.context.slabs).free.entry(self.size).or_default().push(self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_powers_of_two_of_at_least_a_cache_line() {
        assert_eq!([0, 1, 64, 65, 300, 70_000].map(block), [64, 64, 64, 128, 512, 131_072]);
    }
}

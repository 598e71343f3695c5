//! Regions: memory that the program and its device share.

use std::collections::{BTreeMap, BTreeSet};

use offload::Sha256;
use serde_json::{Value, json};

/// Memory that an address may lie in.
pub(super) struct Region {
    pub(super) number: u64,
    pub(super) size: usize,
    /// Whether the program can read and write it itself.
    reachable: bool,
    pub(super) kind: Kind,
    /// What was in it when that was last looked at.
    known: Option<Sha256>,
}

/// What a region is, and with what it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Allocation,
    Registered,
    /// A global variable, by its symbol's handle.
    Global(usize),
}

/// All regions, by their first address.
#[derive(Default)]
pub(super) struct Regions {
    list: BTreeMap<usize, Region>,
    latest: u64,
    /// Those that work of a device may be writing, by their first address.
    touched: BTreeSet<usize>,
}

/// How much is copied at once.
const PIECE: usize = 1 << 20;

/// What is in memory: `size` bytes from `address` on, or as many as can be read. The system copies them, so that an address or a size that a call will refuse
/// does no harm.
pub(super) fn bytes(address: usize, size: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < size {
        let (at, piece) = (all.len(), PIECE.min(size - all.len()));
        all.resize(at + piece, 0);
        let to = libc::iovec { iov_base: all[at..].as_mut_ptr().cast(), iov_len: piece };
        let from = libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(address.wrapping_add(at)), iov_len: piece };
        // SAFETY: there is room for a piece; the system looks for itself what can be read.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
        let read = usize::try_from(read).unwrap_or(0);
        if read < piece {
            all.truncate(at + read);
            break;
        }
    }
    all
}

impl Regions {
    /// Adds one; its number. Memory in another region is not one of its own.
    pub(super) fn add(&mut self, address: usize, size: usize, reachable: bool, kind: Kind) -> u64 {
        if let Some((_, region)) = self.find(address) {
            return region.number;
        }
        self.latest += 1;
        self.list.insert(address, Region { number: self.latest, size, reachable, kind, known: None });
        self.latest
    }

    /// Removes the one that begins there, if it is of this kind.
    pub(super) fn remove(&mut self, address: usize, kind: Kind) {
        if self.list.get(&address).is_some_and(|region| region.kind == kind) {
            self.list.remove(&address);
            self.touched.remove(&address);
        }
    }

    /// Removes all of which this is said.
    pub(super) fn remove_all(&mut self, gone: impl Fn(Kind) -> bool) {
        self.list.retain(|_, region| !gone(region.kind));
        let list = &self.list;
        self.touched.retain(|start| list.contains_key(start));
    }

    /// The region of an address, and where it begins.
    pub(super) fn find(&self, address: usize) -> Option<(usize, &Region)> {
        let (&start, region) = self.list.range(..=address).next_back()?;
        (address - start < region.size).then_some((start, region))
    }

    /// An address as a recording says it.
    pub(super) fn place(&self, address: usize) -> Value {
        match self.find(address) {
            _ if address == 0 => Value::Null,
            Some((start, region)) => json!({ "region": region.number, "offset": address - start }),
            None => json!({ "host": format!("{address:#x}") }),
        }
    }

    /// Work that was asked for may write where this address lies.
    pub(super) fn touch(&mut self, address: usize) {
        if let Some((start, _)) = self.find(address) {
            self.touched.insert(start);
        }
    }

    /// What the program wrote since that was last looked at, by region.
    pub(super) fn written(&mut self) -> Vec<(u64, Vec<u8>)> {
        let mut all = Vec::new();
        for (start, region) in self.list.iter_mut().filter(|(start, region)| region.reachable && !self.touched.contains(start)) {
            let bytes = bytes(*start, region.size);
            if bytes.len() < region.size {
                continue;
            }
            let hash = Sha256::of(&bytes);
            if region.known.replace(hash) != Some(hash) {
                all.push((region.number, bytes));
            }
        }
        all
    }

    /// Nothing is being written any more: what is in the regions that were, by number.
    pub(super) fn settle(&mut self) -> Vec<(u64, Sha256)> {
        let mut all = Vec::new();
        for start in std::mem::take(&mut self.touched) {
            let Some(region) = self.list.get_mut(&start).filter(|region| region.reachable) else { continue };
            let hash = Sha256::of(&bytes(start, region.size));
            region.known = Some(hash);
            all.push((region.number, hash));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_writes_is_seen_once_and_not_while_a_device_may_write_there() {
        let mut memory = [1u8; 64];
        let address = memory.as_mut_ptr().expose_provenance();
        let mut regions = Regions::default();
        assert_eq!((regions.add(address, 64, true, Kind::Allocation), regions.add(address + 8, 8, true, Kind::Registered)), (1, 1));
        assert_eq!(regions.written(), [(1, memory.to_vec())]);
        assert!(regions.written().is_empty());
        memory[3] = 7;
        regions.touch(address + 63);
        assert!(regions.written().is_empty());
        assert_eq!(regions.settle(), [(1, Sha256::of(&memory))]);
        assert!(regions.written().is_empty() && regions.settle().is_empty());
        assert_eq!(regions.place(address + 5), json!({ "region": 1, "offset": 5 }));
        assert_eq!(regions.place(16), json!({ "host": "0x10" }));
        regions.remove(address, Kind::Registered);
        assert!(regions.find(address).is_some());
        regions.remove(address, Kind::Allocation);
        assert!(regions.find(address).is_none() && regions.place(0).is_null());
    }

    #[test]
    fn memory_that_is_not_there_is_read_as_far_as_it_is() {
        let memory = vec![7u8; 3 * PIECE];
        assert_eq!(bytes(memory.as_ptr().expose_provenance(), memory.len()), memory);
        assert!(bytes(16, 1 << 40).is_empty() && bytes(usize::MAX - 3, 8).is_empty());
        assert!(bytes(memory.as_ptr().expose_provenance(), 0).is_empty());
    }

    #[test]
    fn globals_of_a_program_go_with_it() {
        let mut regions = Regions::default();
        regions.add(0x1000, 8, false, Kind::Global(5));
        regions.add(0x2000, 8, false, Kind::Global(6));
        regions.touch(0x1004);
        regions.remove_all(|kind| kind == Kind::Global(5));
        assert!(regions.find(0x1000).is_none() && regions.find(0x2007).is_some() && regions.settle().is_empty());
    }
}

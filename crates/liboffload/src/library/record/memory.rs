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
    /// What was in it when that was last looked at.
    known: Option<Sha256>,
}

/// All regions, by their first address.
#[derive(Default)]
pub(super) struct Regions {
    list: BTreeMap<usize, Region>,
    latest: u64,
    /// Those that work of a device may be writing, by their first address.
    touched: BTreeSet<usize>,
}

/// What is in memory.
///
/// # Safety
/// There are `size` bytes at `address`, which the program can read.
pub(super) unsafe fn bytes(address: usize, size: usize) -> Vec<u8> {
    let mut copy = Vec::<u8>::with_capacity(size);
    // SAFETY: the caller's; there is room for as many bytes, which are initialised then. Somebody may be writing there: any bytes will do.
    unsafe {
        std::ptr::copy_nonoverlapping(std::ptr::with_exposed_provenance(address), copy.as_mut_ptr(), size);
        copy.set_len(size);
    }
    copy
}

impl Regions {
    /// Adds one; its number. Memory in another region is not one of its own.
    pub(super) fn add(&mut self, address: usize, size: usize, reachable: bool) -> u64 {
        if let Some((_, region)) = self.find(address) {
            return region.number;
        }
        self.latest += 1;
        self.list.insert(address, Region { number: self.latest, size, reachable, known: None });
        self.latest
    }

    /// Removes the one that begins there.
    pub(super) fn remove(&mut self, address: usize) {
        self.list.remove(&address);
        self.touched.remove(&address);
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
            // SAFETY: a region that the program can read, of that size.
            let bytes = unsafe { bytes(*start, region.size) };
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
            // SAFETY: as above.
            let hash = Sha256::of(&unsafe { bytes(start, region.size) });
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
        assert_eq!((regions.add(address, 64, true), regions.add(address + 8, 8, true)), (1, 1));
        assert_eq!(regions.written(), [(1, memory.to_vec())]);
        assert!(regions.written().is_empty());
        memory[3] = 7;
        regions.touch(address + 63);
        assert!(regions.written().is_empty());
        assert_eq!(regions.settle(), [(1, Sha256::of(&memory))]);
        assert!(regions.written().is_empty() && regions.settle().is_empty());
        assert_eq!(regions.place(address + 5), json!({ "region": 1, "offset": 5 }));
        assert_eq!(regions.place(16), json!({ "host": "0x10" }));
        regions.remove(address);
        assert!(regions.find(address).is_none() && regions.place(0).is_null());
    }
}

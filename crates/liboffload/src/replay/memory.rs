//! Handles and memory of a replay, by what the recording calls them.

use std::collections::HashMap;
use std::ffi::c_void;

use serde_json::Value;

use super::ReplayError;
use super::script::Said;

/// Memory that stands for a region.
pub(super) struct Region {
    pub(super) address: usize,
    pub(super) size: usize,
    /// If it is this program's own: registered memory.
    owned: Option<Vec<u128>>,
}

/// What the recording's numbers stand for.
#[derive(Default)]
pub(super) struct Memory {
    handles: HashMap<usize, usize>,
    regions: HashMap<u64, Region>,
    /// Memory for copies to the recorded program's own, by the call: kept to the end, for the copies may still be under way.
    copies: HashMap<u64, Vec<u128>>,
    /// What calls copy from the recorded program's own memory.
    sources: HashMap<u64, Vec<u8>>,
    /// Devices of the regions that are global variables.
    globals: HashMap<u64, usize>,
}

/// A number as recordings write handles and addresses.
fn parse(text: &str) -> Option<usize> {
    usize::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

impl Memory {
    /// The handle that stands for a recorded one. One that no call gave was no handle then either.
    pub(super) fn handle(&self, value: &Value, said: &Said<'_>) -> Result<*mut c_void, ReplayError> {
        if value.is_null() {
            return Ok(std::ptr::null_mut());
        }
        let recorded = value.as_str().and_then(parse).ok_or_else(|| said.error("a handle is neither null nor a number"))?;
        Ok(std::ptr::without_provenance_mut(self.handles.get(&recorded).copied().unwrap_or(recorded)))
    }

    /// A handle given by a call, recorded and here.
    pub(super) fn gave(&mut self, recorded: &Value, handle: *mut c_void, said: &Said<'_>) -> Result<(), ReplayError> {
        let recorded = recorded.as_str().and_then(parse).ok_or_else(|| said.error("a handle that was given is no number"))?;
        self.handles.insert(recorded, handle.addr());
        Ok(())
    }

    pub(super) fn add(&mut self, number: u64, address: *mut c_void, size: usize) {
        self.regions.entry(number).or_insert(Region { address: address.expose_provenance(), size, owned: None });
    }

    /// Makes memory of this program's own for a region that is about to be registered.
    pub(super) fn own(&mut self, number: u64, size: usize) -> usize {
        let region = self.regions.entry(number).or_insert_with(|| {
            let mut memory = vec![0u128; size.div_ceil(16).max(1)];
            Region { address: memory.as_mut_ptr().expose_provenance(), size, owned: Some(memory) }
        });
        region.address
    }

    pub(super) fn region(&self, number: u64, said: &Said<'_>) -> Result<&Region, ReplayError> {
        self.regions.get(&number).ok_or_else(|| said.error(format!("nothing has made region {number}")))
    }

    /// The address here of a recorded one; `None` for memory that was the program's own.
    pub(super) fn address(&self, place: &Value, said: &Said<'_>) -> Result<Option<usize>, ReplayError> {
        if place.is_null() {
            return Ok(Some(0));
        }
        if place.get("host").is_some() {
            return Ok(None);
        }
        let number = |name| place.get(name).and_then(Value::as_u64);
        let (Some(region), Some(offset)) = (number("region"), number("offset")) else {
            return Err(said.error("an address is neither null nor in a region nor the program's own"));
        };
        Ok(Some(self.region(region, said)?.address.wrapping_add(offset as usize)))
    }

    /// Memory for what a call copies to memory that was the program's own.
    pub(super) fn room(&mut self, call: u64, size: usize) -> usize {
        self.copies.entry(call).or_insert_with(|| vec![0; size.div_ceil(16).max(1)]).as_mut_ptr().expose_provenance()
    }

    /// What a call copied there.
    pub(super) fn copied(&self, call: u64) -> Option<&[u8]> {
        let units = self.copies.get(&call)?;
        // SAFETY: initialised units, as many bytes; the copy is done.
        Some(unsafe { std::slice::from_raw_parts(units.as_ptr().cast(), units.len() * 16) })
    }

    /// Where a region is, and its size.
    pub(super) fn find(&self, number: u64) -> Option<(usize, usize)> {
        self.regions.get(&number).map(|region| (region.address, region.size))
    }

    /// Keeps what a call copies or fills with: it may still be under way when the call has returned.
    pub(super) fn kept(&mut self, call: u64, content: &[u8]) -> usize {
        self.sources.entry(call).or_insert_with(|| content.to_vec()).as_ptr().expose_provenance()
    }

    /// A global variable, on a device.
    pub(super) fn global(&mut self, number: u64, address: usize, size: usize, device: *mut c_void) {
        self.regions.entry(number).or_insert(Region { address, size, owned: None });
        self.globals.insert(number, device.addr());
    }

    /// The device of the global variable that an address lies in.
    pub(super) fn device_of(&self, address: usize) -> Option<*mut c_void> {
        let within = |region: &Region| address.checked_sub(region.address).is_some_and(|offset| offset < region.size);
        let found = self.globals.iter().find(|(number, _)| self.regions.get(number).is_some_and(within));
        found.map(|(_, device)| std::ptr::without_provenance_mut(*device))
    }

    /// Whether the region is memory of this program's own.
    pub(super) fn is_own(&self, number: u64) -> bool {
        self.regions.get(&number).is_some_and(|region| region.owned.is_some())
    }
}

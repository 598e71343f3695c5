//! Which addresses are memory of a device: those that were allocated there, and global variables.
//!
//! The processor may see such memory, through a window, but must not be relied on to see it fresh or fast. So it is
//! copied by the driver. All other addresses are the host's.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock};

use crate::library::error::of_device;
use crate::library::worker::{Mover, Processor};
use crate::runtime::Error;

/// Memory of all devices.
pub(super) static SPACE: Space = Space { ranges: RwLock::new(BTreeMap::new()) };

pub(super) struct Space {
    /// By the first address: how many bytes, how many say so, and of which device.
    ranges: RwLock<BTreeMap<usize, (usize, usize, offload::Device)>>,
}

/// Memory that is known until this is dropped.
pub(super) struct Known(usize);

/// Several of these.
pub(super) struct List(Mutex<Vec<(usize, Known)>>);

impl Space {
    /// Memory of a device.
    pub(super) fn add(&'static self, address: usize, size: usize, device: &offload::Device) -> Known {
        let mut ranges = self.ranges.write().unwrap_or_else(PoisonError::into_inner);
        ranges.entry(address).or_insert_with(|| (size, 0, device.clone())).1 += 1;
        Known(address)
    }

    pub(super) fn list(&'static self) -> List {
        List(Mutex::default())
    }

    /// The device whose memory is at an address.
    fn device(&self, address: usize) -> Option<offload::Device> {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let (start, (size, _, device)) = ranges.range(..=address).next_back()?;
        (address - start < *size).then(|| device.clone())
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        let mut ranges = SPACE.ranges.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, users, _)) = ranges.get_mut(&self.0) {
            *users -= 1;
            if *users == 0 {
                ranges.remove(&self.0);
            }
        }
    }
}

impl List {
    /// Adds memory that is not in the list yet.
    pub(super) fn add(&self, address: usize, size: usize, device: &offload::Device) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.iter().any(|(known, _)| *known == address) {
            list.push((address, SPACE.add(address, size, device)));
        }
    }
}

/// Bytes of one part of a copy between devices, or of a fill.
const PART: usize = 1 << 20;

impl Mover for Space {
    unsafe fn copy(&self, to: usize, from: usize, size: usize) -> Result<(), Error> {
        let source = std::ptr::with_exposed_provenance::<u8>(from);
        let target = std::ptr::with_exposed_provenance_mut::<u8>(to);
        match (self.device(to), self.device(from)) {
            // SAFETY: the caller's.
            (None, None) => unsafe { Processor.copy(to, from, size) },
            (Some(device), None) => {
                // SAFETY: the caller says that there are as many bytes on either side, which nobody else writes
                // meanwhile.
                unsafe { device.backend().write(to as u64, std::slice::from_raw_parts(source, size)) }.map_err(of_device)
            }
            (None, Some(device)) => {
                // SAFETY: as above.
                unsafe { device.backend().read(from as u64, std::slice::from_raw_parts_mut(target, size)) }.map_err(of_device)
            }
            (Some(there), Some(here)) => {
                let mut part = vec![0; size.min(PART)];
                for at in (0..size).step_by(PART) {
                    let part = &mut part[..PART.min(size - at)];
                    // SAFETY: as above.
                    unsafe {
                        here.backend().read((from + at) as u64, part).map_err(of_device)?;
                        there.backend().write((to + at) as u64, part).map_err(of_device)?;
                    }
                }
                Ok(())
            }
        }
    }

    unsafe fn fill(&self, to: usize, pattern: &[u8], size: usize) -> Result<(), Error> {
        // SAFETY: the caller's.
        let Some(device) = self.device(to) else { return unsafe { Processor.fill(to, pattern, size) } };
        let whole = (PART / pattern.len()).max(1) * pattern.len();
        let part = pattern.repeat(whole.min(size) / pattern.len());
        for at in (0..size).step_by(whole) {
            // SAFETY: the caller says that there are as many bytes.
            unsafe { device.backend().write((to + at) as u64, &part[..whole.min(size - at)]) }.map_err(of_device)?;
        }
        Ok(())
    }
}

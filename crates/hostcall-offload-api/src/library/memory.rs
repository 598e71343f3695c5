//! Allocations and registered memory: which there are, by address.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::backend::{Block, Pin, Place};
use super::device::Device;
use super::error::{Launched, fail};
use super::info::Value;
use super::leaks::Origin;
use super::queue::refuse_in_host_function;
use super::{Core, Owner, session, worker};
use crate::runtime::Error;
use crate::sys::{ol_alloc_type_t, ol_errc_t, ol_mem_info_t, ol_memory_register_flag_t};

/// The largest alignment that is served.
const MOST_ALIGNMENT: usize = 1 << 30;

/// The same for memory of a GPU: the size of its pages. LLVM's library refuses larger ones, too.
const MOST_DEVICE_ALIGNMENT: usize = 2 << 20;

/// What every allocation is aligned to.
const LEAST_ALIGNMENT: usize = 64;

struct Allocation {
    size: usize,
    kind: ol_alloc_type_t,
    device: &'static Device,
    owner: Owner,
    block: Arc<dyn Block>,
    origin: Origin,
}

/// Registered memory of one device.
struct Registered {
    size: usize,
    device: &'static Device,
    pin: Option<Box<dyn Pin>>,
    /// First bytes of the ranges that were registered, each once for each user.
    users: Vec<usize>,
}

/// What this library knows of memory.
pub(super) struct Memory {
    /// By the address of the first byte. No two have a byte in common.
    allocations: RwLock<BTreeMap<usize, Allocation>>,
    registered: Mutex<Vec<(usize, Registered)>>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

/// Whether `size` bytes from `address` on have a byte in common with another such range.
fn overlap(address: usize, size: usize, other: usize, other_size: usize) -> bool {
    address < other.saturating_add(other_size) && other < address.saturating_add(size)
}

/// Whether `size` bytes from `address` on lie in another such range.
fn within(address: usize, size: usize, other: usize, other_size: usize) -> bool {
    address >= other && address - other <= other_size && size <= other_size - (address - other)
}

/// The allocation that an address lies in, and where it begins.
fn around(allocations: &BTreeMap<usize, Allocation>, address: usize) -> Option<(usize, &Allocation)> {
    let (&base, allocation) = allocations.range((Bound::Unbounded, Bound::Included(address))).next_back()?;
    (address - base < allocation.size).then_some((base, allocation))
}

/// See [`Memory::place`].
fn place_in(allocations: &BTreeMap<usize, Allocation>, argument: &str, address: usize, size: usize, place: &mut Place) -> Launched {
    place.address = address;
    if let Some((base, allocation)) = around(allocations, address) {
        if within(address, size, base, allocation.size) {
            place.block = Some(allocation.block.clone());
            return Ok(());
        }
        let left = allocation.size - (address - base);
        let text = format!("{size} bytes from {argument} on: its allocation of {} bytes ends after {left}", allocation.size);
        return Ok(fail(ol_errc_t::OL_ERRC_INVALID_SIZE, text)?);
    }
    if address.checked_add(size).is_none_or(|end| end > isize::MAX as usize) {
        return Ok(fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("{size} bytes from {argument} on: there is no such memory"))?);
    }
    Ok(())
}

/// Memory that its caller's context does not know.
fn of_another_context<T>(address: *const c_void) -> Result<T, Error> {
    fail(ol_errc_t::OL_ERRC_NOT_FOUND, format!("{address:p} is in an allocation of another context"))
}

impl Memory {
    pub(super) const fn new() -> Memory {
        Memory { allocations: RwLock::new(BTreeMap::new()), registered: Mutex::new(Vec::new()) }
    }

    /// Calls `use_it` with the allocation that an address lies in.
    fn find<R>(&self, address: usize, use_it: impl FnOnce(usize, &Allocation) -> R) -> Option<R> {
        let allocations = self.allocations.read().unwrap_or_else(PoisonError::into_inner);
        around(&allocations, address).map(|(base, allocation)| use_it(base, allocation))
    }

    /// Memory that a copy or a fill uses. An address in an allocation must be followed by as many bytes of it.
    pub(super) fn place(&self, argument: &str, address: *const c_void, size: usize) -> Result<Place, Error> {
        let mut places = [Place::NONE];
        self.places([(argument, address)], size, &mut places).map_err(|error| *error)?;
        let [place] = places;
        Ok(place)
    }

    /// The same for several, each of `size` bytes.
    #[inline(always)]
    pub(super) fn places<const N: usize>(&self, all: [(&str, *const c_void); N], size: usize, places: &mut [Place; N]) -> Launched {
        let allocations = self.allocations.read().unwrap_or_else(PoisonError::into_inner);
        all.into_iter()
            .zip(places)
            .try_for_each(|((argument, address), place)| place_in(&allocations, argument, address.addr(), size, place))
    }

    /// The device of the allocation that an address lies in.
    pub(super) fn device_of(&self, address: *const c_void) -> Option<&'static Device> {
        self.find(address.addr(), |_, allocation| allocation.device)
    }

    /// Whether an address lies in an allocation that the driver moves.
    pub(super) fn is_managed(&self, address: *const c_void) -> bool {
        self.find(address.addr(), |_, allocation| allocation.kind == ol_alloc_type_t::OL_ALLOC_TYPE_MANAGED).unwrap_or(false)
    }

    /// Allocates memory.
    pub(super) fn allocate(
        &self,
        owner: Owner,
        device: &'static Device,
        kind: ol_alloc_type_t,
        size: usize,
        alignment: usize,
    ) -> Result<*mut c_void, Error> {
        let is_apart = kind == ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE && !session::is_host(device);
        let most = if is_apart { MOST_DEVICE_ALIGNMENT } else { MOST_ALIGNMENT };
        if alignment > most {
            let text = "an alignment of {} bytes: the largest is {}";
            return Err(Error::with_numbers(ol_errc_t::OL_ERRC_UNSUPPORTED, text, [alignment, most]));
        }
        if size > isize::MAX as usize - alignment {
            let text = "{} bytes are more than the address space has";
            return Err(Error::with_numbers(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, text, [size]));
        }
        let block = device.driver.allocate(kind, size, alignment.max(LEAST_ALIGNMENT))?;
        let address = block.address();
        let allocation = Allocation { size, kind, device, owner, block, origin: Origin::here() };
        self.allocations.write().unwrap_or_else(PoisonError::into_inner).insert(address, allocation);
        Ok(std::ptr::with_exposed_provenance_mut(address))
    }

    /// Frees memory. What work in queues may use is freed when that is done.
    pub(super) fn free(&self, owner: Owner, address: *const c_void) -> Result<(), Error> {
        let removed = {
            let mut allocations = self.allocations.write().unwrap_or_else(PoisonError::into_inner);
            match allocations.entry(address.addr()) {
                Entry::Occupied(entry) if entry.get().owner == owner => Some(entry.remove()),
                Entry::Occupied(_) => return of_another_context(address),
                Entry::Vacant(_) => None,
            }
        };
        // Dropped here, where no lock is held: a driver may take its time.
        match removed {
            Some(removed) => {
                worker::retire(removed);
                Ok(())
            }
            None => fail(ol_errc_t::OL_ERRC_NOT_FOUND, format!("no allocation of this library begins at {address:p}")),
        }
    }

    /// Frees what belongs to a context.
    #[cfg(llvm24)]
    pub(super) fn free_all_of(&self, owner: Owner) {
        let mut allocations = self.allocations.write().unwrap_or_else(PoisonError::into_inner);
        let freed: Vec<_> = allocations.extract_if(.., |_, allocation| allocation.owner == owner).collect();
        drop(allocations);
        worker::retire(freed);
    }

    /// Whether kernels of a device can use memory, of which a part may be registered for the device.
    #[cfg(llvm24)]
    pub(super) fn is_accessible(&self, owner: Owner, device: &Device, address: usize, size: usize) -> bool {
        // Asks the driver, so before the lock.
        let reaches = device.reaches_host();
        let found = self.find(address, |base, it| {
            let shared = it.kind != ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE && (it.device.platform == device.platform || reaches);
            it.owner == owner && within(address, size, base, it.size) && (it.device.is(device) || shared)
        });
        let registered = || {
            let registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
            registered.iter().any(|(base, it)| it.device.is(device) && it.pin.is_some() && within(address, size, *base, it.size))
        };
        let is_memory = address.checked_add(size).is_some_and(|end| end <= isize::MAX as usize);
        found.unwrap_or_else(|| is_memory && (reaches || registered()))
    }

    /// The value of a property of an allocation.
    pub(super) fn info(&self, library: &Core, owner: Owner, address: *const c_void, name: ol_mem_info_t) -> Result<Value<'static>, Error> {
        let value = self.find(address.addr(), |base, allocation| match name {
            _ if allocation.owner != owner => of_another_context(address),
            ol_mem_info_t::OL_MEM_INFO_DEVICE => Ok(Value::Pointer(library.session.device_handle(allocation.device))),
            ol_mem_info_t::OL_MEM_INFO_BASE => Ok(Value::Pointer(std::ptr::with_exposed_provenance_mut(base))),
            ol_mem_info_t::OL_MEM_INFO_SIZE => Ok(Value::Size(allocation.size)),
            ol_mem_info_t::OL_MEM_INFO_TYPE => Ok(Value::U32(allocation.kind.0)),
            other => fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of allocations", other.0)),
        });
        value.unwrap_or_else(|| fail(ol_errc_t::OL_ERRC_NOT_FOUND, format!("{address:p} is in no allocation of this library")))
    }

    /// Adds a user to host memory, and locks its pages if that is asked for. The address that the device uses.
    pub(super) fn register(&self, device: &'static Device, address: usize, size: usize, flags: u32) -> Result<usize, Error> {
        if address.checked_add(size).is_none_or(|end| end > isize::MAX as usize) {
            return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("{size} bytes from Ptr on: there is no such memory"));
        }
        let lock = flags & ol_memory_register_flag_t::OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY.0 != 0;
        let mut registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
        let known = registered.iter_mut().find(|(base, it)| it.device.is(device) && overlap(address, size, *base, it.size));
        let (base, memory) = match known {
            Some((base, memory)) if within(address, size, *base, memory.size) => (*base, memory),
            Some((base, memory)) => {
                let text = format!(
                    "{size} bytes at {address:#x} overlap registered memory ({} bytes at {base:#x}) and do not lie in it",
                    memory.size
                );
                return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
            }
            None => {
                let pin = if lock { Some(device.driver.pin(address, size)?) } else { None };
                let pinned = pin.as_ref().map_or(address, |pin| pin.address());
                registered.push((address, Registered { size, device, pin, users: vec![address] }));
                return Ok(pinned);
            }
        };
        if lock && memory.pin.is_none() {
            memory.pin = Some(device.driver.pin(base, memory.size)?);
        }
        memory.users.push(address);
        Ok(memory.pin.as_ref().map_or(base, |pin| pin.address()) + (address - base))
    }

    /// Takes a user from registered memory. The last one's pages are unlocked if that is asked for, which waits until
    /// no queue's work uses them.
    pub(super) fn unregister(&self, device: &'static Device, address: usize, flags: u32) -> Result<(), Error> {
        let unlock = flags & ol_memory_register_flag_t::OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY.0 != 0;
        let mut registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
        // A user may name the memory by the address that it was given.
        let own = |base: usize, it: &Registered| {
            let given = it.pin.as_ref().map_or(base, |pin| pin.address());
            if it.users.contains(&address) || address < given { address } else { (address - given).saturating_add(base) }
        };
        let found = registered.iter().position(|(base, it)| {
            let address = own(*base, it);
            // Where no user is left but pages are locked, they may still be unlocked.
            it.device.is(device) && (it.users.contains(&address) || it.users.is_empty() && *base == address && unlock)
        });
        let Some(found) = found else {
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, format!("no memory registered for this device begins at {address:#x}"));
        };
        let address = own(registered[found].0, &registered[found].1);
        let memory = &mut registered[found].1;
        let is_last = memory.users.iter().all(|user| *user == address) && memory.users.len() <= 1;
        if is_last && unlock && memory.pin.is_some() {
            refuse_in_host_function("olMemUnregister of locked memory")?;
            device.driver.may_wait()?;
        }
        if let Some(user) = memory.users.iter().position(|user| *user == address) {
            memory.users.swap_remove(user);
        }
        let gone = memory.users.is_empty() && (unlock || memory.pin.is_none());
        let gone = gone.then(|| registered.swap_remove(found));
        drop(registered);
        if gone.as_ref().is_some_and(|(_, gone)| gone.pin.is_some()) && device.platform != session::CUDA {
            worker::wait_for_all();
        }
        drop(gone);
        Ok(())
    }

    /// Frees everything.
    pub(super) fn clear(&self) {
        drop(std::mem::take(&mut *self.allocations.write().unwrap_or_else(PoisonError::into_inner)));
        drop(std::mem::take(&mut *self.registered.lock().unwrap_or_else(PoisonError::into_inner)));
    }

    /// A line for each allocation and each registered range that has users.
    pub(super) fn describe(&self, origin: impl Fn(&Origin) -> &str) -> Vec<String> {
        let allocations = self.allocations.read().unwrap_or_else(PoisonError::into_inner);
        let allocation = |(base, it): (&usize, &Allocation)| format!("{} bytes at {base:#x}, made by {}", it.size, origin(&it.origin));
        let mut lines: Vec<_> = allocations.iter().map(allocation).collect();
        for (base, it) in &*self.registered.lock().unwrap_or_else(PoisonError::into_inner) {
            if !it.users.is_empty() {
                lines.push(format!("{} bytes at {base:#x}, registered by {} users", it.size, it.users.len()));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_compared_without_wrapping_around() {
        assert!(within(10, 5, 10, 5) && within(12, 3, 10, 5) && !within(12, 4, 10, 5) && !within(9, 2, 10, 5));
        assert!(!within(usize::MAX - 1, usize::MAX, 10, 5) && !within(12, usize::MAX, 10, 5));
        assert!(overlap(10, 5, 14, 1) && !overlap(10, 5, 15, 1) && overlap(0, usize::MAX, 15, 1));
    }
}

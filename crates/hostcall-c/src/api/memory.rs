//! Device memory, for programs without CUDA.

use std::ffi::c_void;

use super::Device;
use crate::boundary::{self, give, handle, place, place_for, take};
use crate::status::{Error, enter, quietly};

/// `hc_memory`.
#[derive(Debug)]
pub struct Memory(offload::Memory<u8>);

impl Memory {
    /// The address of `count` bytes from `offset` on, all of which are its own.
    fn part(&self, offset: usize, count: usize) -> Result<u64, Error> {
        let end = offset.checked_add(count).filter(|&end| end <= self.0.len());
        end.map(|_| self.0.address() + offset as u64)
            .ok_or_else(|| Error::invalid(format!("{count} bytes at {offset} are outside of the memory's {}", self.0.len())))
    }
}

/// Allocates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_memory_alloc(device: *mut Device, bytes: usize, out: *mut *mut Memory) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (out, device) = unsafe { (place_for(out)?, handle(device, "device")?) };
        *out = give(Memory(device.0.device.alloc::<u8>(bytes)?));
        Ok(())
    })
}

/// Where the device sees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_memory_address(memory: *const Memory, address: *mut u64) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (address, memory) = unsafe { (place(address, 0, "address")?, handle(memory, "memory")?) };
        *address = memory.0.address();
        Ok(())
    })
}

/// Writes now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_memory_write(memory: *mut Memory, offset: usize, from: *const c_void, count: usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let memory = unsafe { handle(memory, "memory") }?;
        if from.is_null() {
            return Err(boundary::null("from"));
        }
        let to = memory.part(offset, count)?;
        // SAFETY: the memory's own, as was checked, and the caller's: so many bytes to read, and no kernel uses it
        // otherwise.
        Ok(unsafe { memory.0.device().backend().write(to, std::slice::from_raw_parts(from.cast(), count)) }?)
    })
}

/// Reads now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_memory_read(memory: *const Memory, offset: usize, to: *mut c_void, count: usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let memory = unsafe { handle(memory, "memory") }?;
        if to.is_null() {
            return Err(boundary::null("to"));
        }
        let from = memory.part(offset, count)?;
        // SAFETY: so much room is the caller's; zeroed, because it may not be initialised.
        let to = unsafe {
            to.cast::<u8>().write_bytes(0, count);
            std::slice::from_raw_parts_mut(to.cast(), count)
        };
        // SAFETY: the memory's own, as was checked.
        Ok(unsafe { memory.0.device().backend().read(from, to) }?)
    })
}

/// Gives it back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_memory_free(memory: *mut *mut Memory) {
    // SAFETY: the caller's.
    quietly(|| drop(unsafe { take(memory, "memory") }));
}

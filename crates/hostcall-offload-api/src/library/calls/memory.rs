//! Memory.

use std::ffi::c_void;

use crate::library::backend::Place;
use crate::library::error::{Launched, fail};
use crate::library::info::Value;
use crate::library::queue::refuse_in_host_function;
use crate::library::session;
use crate::library::{Core, Owner};
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    pub(in crate::library) fn mem_alloc(
        &self,
        owner: Owner,
        device: ol_device_handle_t,
        kind: ol_alloc_type_t,
        size: usize,
        alignment: usize,
    ) -> Result<*mut c_void, Error> {
        self.memory.allocate(owner, self.device_in(owner, device)?, kind, size, alignment)
    }

    pub(in crate::library) fn mem_free(&self, owner: Owner, address: *mut c_void) -> Result<(), Error> {
        self.memory.free(owner, address)
    }

    pub(in crate::library) fn mem_info(&self, owner: Owner, address: *const c_void, name: ol_mem_info_t) -> Result<Value<'static>, Error> {
        self.memory.info(self, owner, address, name)
    }

    #[cfg(llvm24)]
    pub(in crate::library) fn mem_is_accessible(
        &self,
        owner: Owner,
        device: ol_device_handle_t,
        address: *const c_void,
        size: usize,
    ) -> Result<bool, Error> {
        Ok(self.memory.is_accessible(owner, self.device_in(owner, device)?, address.addr(), size))
    }

    /// # Safety
    /// As the function of this name says.
    pub(in crate::library) unsafe fn memcpy(
        &self,
        queue: ol_queue_handle_t,
        dst_ptr: *mut c_void,
        dst_device: ol_device_handle_t,
        src_ptr: *const c_void,
        src_device: ol_device_handle_t,
        size: usize,
    ) -> Launched {
        let (queue, to_device, from_device) = (self.optional_queue(queue)?, self.device(dst_device)?, self.device(src_device)?);
        let both_host = session::is_host(to_device) && session::is_host(from_device);
        if queue.as_ref().is_some_and(|queue| both_host && !session::is_host(queue.device)) {
            let text = "DstDevice and SrcDevice are the host, and Queue is another device's: copy without a queue, or in one of the host's";
            return Ok(fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text)?);
        }
        if size == 0 {
            return Ok(());
        }
        let mut places = [Place::NONE; 2];
        self.memory.places([("DstPtr", dst_ptr), ("SrcPtr", src_ptr)], size, &mut places)?;
        if queue.is_none() && both_host {
            // SAFETY: the caller says that this is memory of the host; `copy` allows it to overlap.
            unsafe { std::ptr::copy(src_ptr.cast::<u8>(), dst_ptr.cast::<u8>(), size) };
            return Ok(());
        }
        let device = if session::is_host(to_device) { from_device } else { to_device };
        match queue {
            Some(queue) => {
                let [to, from] = places;
                // SAFETY: the caller says so.
                Ok(unsafe { queue.driver.copy(to, from, size) }?)
            }
            None => {
                refuse_in_host_function("olMemcpy without a queue")?;
                // SAFETY: as above.
                device.with_idle_queue(|queue| unsafe { queue.copy_now(&places, size) })
            }
        }
    }

    /// # Safety
    /// As the function of this name says.
    pub(in crate::library) unsafe fn mem_fill(
        &self,
        queue: ol_queue_handle_t,
        ptr: *mut c_void,
        pattern_size: usize,
        pattern_ptr: *const c_void,
        fill_size: usize,
    ) -> Result<(), Error> {
        let queue = self.optional_queue(queue)?;
        if fill_size == 0 {
            return Ok(());
        }
        if pattern_size == 0 {
            return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, "PatternSize is 0");
        }
        // The entry point refuses sizes that are no multiples of the pattern's. Where it does not look, the last
        // pattern is cut.
        let cut = fill_size % pattern_size;
        let place = self.memory.place("Ptr", ptr, fill_size)?;
        let device = match self.memory.device_of(ptr) {
            Some(device) => device,
            None => self.session.host()?,
        };
        // SAFETY: the caller says that there are that many bytes; no more than `fill_size`, which `place` found
        // possible.
        let pattern = unsafe { std::slice::from_raw_parts(pattern_ptr.cast::<u8>(), pattern_size.min(fill_size)) };
        self.in_queue("olMemFill without a queue", queue.as_deref(), device, |queue| {
            let whole = fill_size - cut;
            let rest = Place { address: place.address + whole, ..place.clone() };
            if whole > 0 {
                // SAFETY: the caller says that `fill_size` bytes are there.
                unsafe { queue.fill(place, pattern, whole) }?;
            }
            // SAFETY: as above; these follow the others.
            if cut > 0 { unsafe { queue.fill(rest, &pattern[..cut], cut) } } else { Ok(()) }
        })
    }

    /// # Safety
    /// As the function of this name says.
    pub(in crate::library) unsafe fn mem_prefetch(
        &self,
        queue: ol_queue_handle_t,
        count: usize,
        mems: *mut *const c_void,
        sizes: *const usize,
        flags: ol_mem_migration_flags_t,
    ) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        let to_host = flags & ol_mem_migration_flag_t::OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST.0 != 0;
        for index in 0..count {
            // SAFETY: the caller says that there are that many.
            let (memory, size) = unsafe { (mems.add(index).read_unaligned(), sizes.add(index).read_unaligned()) };
            if memory.is_null() {
                return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, format!("Mems[{index}] must not be NULL"));
            }
            self.memory.place(&format!("Mems[{index}]"), memory, size)?;
            if size > 0 && self.memory.is_managed(memory) {
                queue.driver.prefetch(memory.addr(), size, to_host)?;
            }
        }
        Ok(())
    }

    pub(in crate::library) fn mem_register(
        &self,
        device: ol_device_handle_t,
        address: *mut c_void,
        size: usize,
        flags: ol_memory_register_flags_t,
    ) -> Result<*mut c_void, Error> {
        let pinned = self.memory.register(self.device(device)?, address.expose_provenance(), size, flags)?;
        Ok(std::ptr::with_exposed_provenance_mut(pinned))
    }

    pub(in crate::library) fn mem_unregister(
        &self,
        device: ol_device_handle_t,
        address: *mut c_void,
        flags: ol_memory_register_flags_t,
    ) -> Result<(), Error> {
        self.memory.unregister(self.device(device)?, address.addr(), flags)
    }
}

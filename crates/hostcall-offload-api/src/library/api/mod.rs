//! The functions of the API: what the calls give is written where the caller wants it.
//!
//! Those that are not the same in LLVM 23 and LLVM 24, or that one of them does not have, are in a file for each.

#[cfg(not(llvm24))]
#[macro_use]
mod llvm23;
#[cfg(llvm24)]
#[macro_use]
mod llvm24;

use std::ffi::{c_char, c_void};

#[cfg(not(llvm24))]
use super::NO_CONTEXT;
use super::{Core, HostCallsOf, Library};
use crate::runtime::record::Recorder;
use crate::runtime::{Error, HandleState};
use crate::sys::*;
use crate::{Api, HandleKind};

/// # Safety
/// The caller of the C API says that there is room; it need not be aligned.
#[inline(always)]
unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Error> {
    // SAFETY: the caller's.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

impl<S: HostCallsOf> Api for Library<S> {
    fn instance() -> &'static Library<S> {
        const { &Library::<S>::NEW }
    }

    functions_of_this_version!();

    #[inline]
    fn is_initialized(&self) -> bool {
        Core::get().session.is_started()
    }

    #[inline]
    fn handle_state(&self, kind: HandleKind, handle: *const c_void) -> HandleState<HandleKind> {
        Core::get().state(kind, handle)
    }

    #[inline]
    fn recorder(&self) -> Option<&'static dyn Recorder> {
        super::recording::recorder()
    }

    unsafe fn init(&self, init_args: *const ol_init_args_t) -> Result<(), Error> {
        super::host_calls::provide(S::host_calls());
        // SAFETY: null, or the caller's structure.
        let arguments = unsafe { init_args.as_ref() };
        Core::get().session.start(arguments)
    }

    unsafe fn shut_down(&self) -> Result<(), Error> {
        Core::get().session.end(Core::get())
    }

    unsafe fn iterate_devices(&self, callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { Core::get().iterate_devices(callback, user_data) }
    }

    #[inline]
    unsafe fn get_device_info(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        unsafe { Core::get().device_info(device, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_device_info_size(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = Core::get().device_info(device, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { put(prop_size_ret, size) }
    }

    unsafe fn get_platform_info(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        Core::get().platform_info(platform, prop_name, |value| unsafe { value.write(prop_size, prop_value) })
    }

    unsafe fn get_platform_info_size(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = Core::get().platform_info(platform, prop_name, |value| Ok(value.size()))?;
        // SAFETY: the caller's.
        unsafe { put(prop_size_ret, size) }
    }

    unsafe fn platform_register_rpc_callback(&self, platform: ol_platform_handle_t, callback: ol_platform_rpc_cb_t) -> Result<(), Error> {
        Core::get().register_rpc_callback(platform, callback)
    }

    unsafe fn destroy_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        Core::get().destroy_queue(queue)
    }

    unsafe fn sync_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        Core::get().sync_queue(queue)
    }

    unsafe fn query_queue(&self, queue: ol_queue_handle_t, is_queue_work_completed: *mut bool) -> Result<(), Error> {
        let idle = Core::get().query_queue(queue)?;
        // SAFETY: the caller's.
        if is_queue_work_completed.is_null() { Ok(()) } else { unsafe { put(is_queue_work_completed, idle) } }
    }

    unsafe fn wait_events(&self, queue: ol_queue_handle_t, events: *mut ol_event_handle_t, num_events: usize) -> Result<(), Error> {
        // SAFETY: the caller says that there are that many.
        unsafe { Core::get().wait_events(queue, events, num_events) }
    }

    unsafe fn get_queue_info(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        unsafe { Core::get().queue_info(queue, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_queue_info_size(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = Core::get().queue_info(queue, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { put(prop_size_ret, size) }
    }

    unsafe fn launch_host_function(
        &self,
        queue: ol_queue_handle_t,
        callback: ol_host_function_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { Core::get().launch_host_function(queue, callback, user_data) }
    }

    unsafe fn create_event(&self, queue: ol_queue_handle_t, flags: ol_event_flags_t, event: *mut ol_event_handle_t) -> Result<(), Error> {
        let made = Core::get().create_event(queue, flags)?;
        // SAFETY: the caller's.
        unsafe { put(event, made) }
    }

    unsafe fn destroy_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        Core::get().destroy_event(event)
    }

    unsafe fn sync_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        Core::get().sync_event(event)
    }

    unsafe fn get_event_elapsed_time(
        &self,
        start_event: ol_event_handle_t,
        end_event: ol_event_handle_t,
        elapsed_time: *mut f32,
    ) -> Result<(), Error> {
        let time = Core::get().elapsed_time(start_event, end_event)?;
        // SAFETY: the caller's.
        unsafe { put(elapsed_time, time) }
    }

    unsafe fn get_event_info(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        unsafe { Core::get().event_info(event, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_event_info_size(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = Core::get().event_info(event, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { put(prop_size_ret, size) }
    }

    unsafe fn memcpy(
        &self,
        queue: ol_queue_handle_t,
        dst_ptr: *mut c_void,
        dst_device: ol_device_handle_t,
        src_ptr: *const c_void,
        src_device: ol_device_handle_t,
        size: usize,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is such memory.
        unsafe { Core::get().memcpy(queue, dst_ptr, dst_device, src_ptr, src_device, size) }.map_err(|error| *error)
    }

    unsafe fn mem_fill(
        &self,
        queue: ol_queue_handle_t,
        ptr: *mut c_void,
        pattern_size: usize,
        pattern_ptr: *const c_void,
        fill_size: usize,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is such memory, and such a pattern.
        unsafe { Core::get().mem_fill(queue, ptr, pattern_size, pattern_ptr, fill_size) }
    }

    unsafe fn mem_prefetch(
        &self,
        queue: ol_queue_handle_t,
        count: usize,
        mems: *mut *const c_void,
        sizes: *const usize,
        flags: ol_mem_migration_flags_t,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there are that many.
        unsafe { Core::get().mem_prefetch(queue, count, mems, sizes, flags) }
    }

    unsafe fn mem_register(
        &self,
        device: ol_device_handle_t,
        ptr: *mut c_void,
        size: usize,
        flags: ol_memory_register_flags_t,
        pinned_ptr: *mut *mut c_void,
    ) -> Result<(), Error> {
        let pinned = Core::get().mem_register(device, ptr, size, flags)?;
        // SAFETY: the caller's.
        unsafe { put(pinned_ptr, pinned) }
    }

    unsafe fn mem_unregister(&self, device: ol_device_handle_t, ptr: *mut c_void, flags: ol_memory_register_flags_t) -> Result<(), Error> {
        Core::get().mem_unregister(device, ptr, flags)
    }

    unsafe fn is_valid_binary(
        &self,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        valid: *mut bool,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is such an image.
        let fits = unsafe { Core::get().is_valid_binary(device, prog_data, prog_data_size) }?;
        // SAFETY: the caller's.
        unsafe { put(valid, fits) }
    }

    unsafe fn destroy_program(&self, program: ol_program_handle_t) -> Result<(), Error> {
        Core::get().destroy_program(program.cast())
    }

    unsafe fn get_symbol(
        &self,
        program: ol_program_handle_t,
        name: *const c_char,
        kind: ol_symbol_kind_t,
        symbol: *mut ol_symbol_handle_t,
    ) -> Result<(), Error> {
        // SAFETY: as above.
        let found = unsafe { Core::get().get_symbol(program, name, kind) }?;
        // SAFETY: the caller's.
        unsafe { put(symbol, found) }
    }

    unsafe fn get_symbol_info(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        Core::get().symbol_info(symbol, prop_name, |value| unsafe { value.write(prop_size, prop_value) })
    }

    unsafe fn get_symbol_info_size(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = Core::get().symbol_info(symbol, prop_name, |value| Ok(value.size()))?;
        // SAFETY: the caller's.
        unsafe { put(prop_size_ret, size) }
    }

    unsafe fn launch_kernel(
        &self,
        queue: ol_queue_handle_t,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        launch_size_args: *const ol_kernel_launch_size_args_t,
        properties: *const ol_kernel_launch_prop_t,
        num_args: usize,
        arg_ptrs: *mut *mut c_void,
        arg_sizes: *const usize,
    ) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { Core::get().launch_kernel(queue, device, kernel, launch_size_args, properties, num_args, arg_ptrs, arg_sizes) }
            .map_err(|error| *error)
    }

    unsafe fn calculate_optimal_occupancy(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        shared_memory: usize,
        group_size: *mut usize,
    ) -> Result<(), Error> {
        let size = Core::get().optimal_group_size(device, kernel, shared_memory)?;
        // SAFETY: the caller's.
        unsafe { put(group_size, size) }
    }

    unsafe fn get_kernel_max_cooperative_group_count(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        launch_size_args: *const ol_kernel_launch_size_args_t,
        max_group_count: *mut u32,
    ) -> Result<(), Error> {
        // SAFETY: the caller's structure.
        let size = unsafe { launch_size_args.read_unaligned() };
        let count = Core::get().max_cooperative_groups(device, kernel, size)?;
        // SAFETY: the caller's.
        unsafe { put(max_group_count, count) }
    }
}

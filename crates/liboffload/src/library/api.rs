//! The functions of the API, each in a few lines over the objects.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use super::arguments::Arguments;
use super::backend::Shape;
use super::device::Device;
use super::error::fail;
use super::event::Event;
use super::info::Value;
use super::leaks::Origin;
use super::program::{Program, Symbol, no_handles};
use super::queue::{Queue, in_host_function, refuse_in_host_function};
use super::{LIBRARY, Library, host_calls, session};
use crate::runtime::{Error, HandleState};
use crate::sys::*;
use crate::{Api, HandleKind};

impl Library {
    fn device(&self, handle: ol_device_handle_t) -> Result<&'static Device, Error> {
        self.session.device(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_DEVICE, "device"))
    }

    fn queue(&self, handle: ol_queue_handle_t) -> Result<Arc<Queue>, Error> {
        self.queues.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_QUEUE, "queue"))
    }

    fn event(&self, handle: ol_event_handle_t) -> Result<Arc<Event>, Error> {
        self.events.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_EVENT, "event"))
    }

    fn symbol_of(&self, handle: ol_symbol_handle_t) -> Result<Arc<Symbol>, Error> {
        self.symbols.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "symbol"))
    }

    fn queue_info(&self, queue: &Queue, name: ol_queue_info_t) -> Result<Value<'static>, Error> {
        match name {
            ol_queue_info_t::OL_QUEUE_INFO_DEVICE => Ok(Value::Pointer(self.session.device_handle(queue.device))),
            ol_queue_info_t::OL_QUEUE_INFO_EMPTY => Ok(Value::Bool(queue.driver.is_idle()?)),
            other => fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of queues", other.0)),
        }
    }

    fn event_info(&self, event: &Event, name: ol_event_info_t) -> Result<Value<'static>, Error> {
        match name {
            ol_event_info_t::OL_EVENT_INFO_QUEUE if self.queues.is_live(event.queue_handle()) => Ok(Value::Pointer(event.queue_handle())),
            ol_event_info_t::OL_EVENT_INFO_QUEUE => fail(ol_errc_t::OL_ERRC_INVALID_QUEUE, "the event's queue has been destroyed"),
            ol_event_info_t::OL_EVENT_INFO_IS_COMPLETE => Ok(Value::Bool(event.driver.is_complete()?)),
            other => fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of events", other.0)),
        }
    }

    /// Puts work into a queue; without one, into one of the device's own, and waits for it.
    fn in_queue(
        &self,
        call: &str,
        queue: Option<&Queue>,
        device: &Device,
        work: impl FnOnce(&dyn super::backend::Queue) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match queue {
            Some(queue) => work(&*queue.driver),
            None => {
                refuse_in_host_function(call)?;
                device.at_once(work)
            }
        }
    }

    fn optional_queue(&self, handle: ol_queue_handle_t) -> Result<Option<Arc<Queue>>, Error> {
        if handle.is_null() { Ok(None) } else { self.queue(handle).map(Some) }
    }
}

/// The object of a handle was destroyed after the entry point saw it, or checks are switched off.
fn gone(code: ol_errc_t, noun: &str) -> Error {
    Error::new(code, format!("the {noun} does not exist: it has been destroyed, or this library never made it"))
}

/// An image as the caller says it is.
///
/// # Safety
/// There are `size` bytes at `data`.
unsafe fn image<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], Error> {
    if size == 0 {
        return fail(ol_errc_t::OL_ERRC_INVALID_BINARY, "the image is empty");
    }
    if data.addr().checked_add(size).is_none_or(|end| end > isize::MAX as usize) {
        return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("an image of {size} bytes: there is no such memory"));
    }
    // SAFETY: the caller says so, and the size is one that a slice can have.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) })
}

/// The shape of a launch. Dimensions that are not used are 1.
fn shape(arguments: &ol_kernel_launch_size_args_t, cooperative: bool) -> Result<Shape, Error> {
    let ol_kernel_launch_size_args_t { Dimensions: used, NumGroups: groups, GroupSize: size, DynSharedMemory: shared } = *arguments;
    if !(1..=3).contains(&used) {
        return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, format!("LaunchSizeArgs->Dimensions is {used}: it must be 1, 2 or 3"));
    }
    let cut = |sizes: ol_dimensions_t| {
        let [_, y, z] = [sizes.x, sizes.y, sizes.z];
        [sizes.x, if used > 1 { y } else { 1 }, if used > 2 { z } else { 1 }]
    };
    let (groups, size) = (cut(groups), cut(size));
    for (what, sizes) in [("NumGroups", groups), ("GroupSize", size)] {
        if sizes.contains(&0) {
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, format!("LaunchSizeArgs->{what} is {sizes:?}: no dimension may be 0"));
        }
    }
    let Ok(shared) = u32::try_from(shared) else {
        return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("LaunchSizeArgs->DynSharedMemory is {shared}, more than any device has"));
    };
    Ok(Shape { groups, size, shared, cooperative })
}

/// What a list of properties says: whether the launch is cooperative.
///
/// # Safety
/// `properties` is null or a list that ends with `OL_KERNEL_LAUNCH_PROP_END`, whose values are of the types that go with them.
unsafe fn is_cooperative(mut properties: *const ol_kernel_launch_prop_t) -> Result<bool, Error> {
    let mut cooperative = false;
    while !properties.is_null() {
        // SAFETY: the caller says that the list goes on to its end.
        let property = unsafe { properties.read_unaligned() };
        match property.type_ {
            ol_kernel_launch_prop_type_t::OL_KERNEL_LAUNCH_PROP_TYPE_NONE => break,
            ol_kernel_launch_prop_type_t::OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE if property.data.is_null() => {
                return fail(
                    ol_errc_t::OL_ERRC_INVALID_NULL_POINTER,
                    "the data of OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE must not be NULL",
                );
            }
            ol_kernel_launch_prop_type_t::OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE => {
                // Any byte but 0 is taken for true.
                // SAFETY: the value is a C `bool`, of one byte.
                cooperative = unsafe { property.data.cast::<u8>().read() } != 0;
            }
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("Properties: {} is no property of launches", other.0)),
        }
        // SAFETY: this was not the end.
        properties = unsafe { properties.add(1) };
    }
    Ok(cooperative)
}

/// Calls a caller's function with a caller's pointer, on another thread.
struct HostFunction(unsafe extern "C" fn(*mut c_void), *mut c_void);

// SAFETY: whoever launches the function says that it may run on another thread.
unsafe impl Send for HostFunction {}

impl HostFunction {
    fn run(self) {
        // SAFETY: the caller passed this function with this data.
        in_host_function(|| unsafe { (self.0)(self.1) });
    }
}

impl Api for Library {
    fn instance() -> &'static Library {
        &LIBRARY
    }

    fn is_initialized(&self) -> bool {
        self.session.is_started()
    }

    fn handle_state(&self, kind: HandleKind, handle: *const c_void) -> HandleState<HandleKind> {
        self.state(kind, handle)
    }

    unsafe fn init(&self, init_args: *const ol_init_args_t) -> Result<(), Error> {
        // SAFETY: null, or the caller's structure.
        let arguments = unsafe { init_args.as_ref() };
        self.session.start(arguments)
    }

    unsafe fn shut_down(&self) -> Result<(), Error> {
        self.session.end(self)
    }

    unsafe fn iterate_devices(&self, callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
        let Some(callback) = callback else { return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL") };
        for device in self.session.devices() {
            // SAFETY: the caller's function and its data. No lock is held: it may call this library.
            if !unsafe { callback(self.session.device_handle(device).cast(), user_data) } {
                break;
            }
        }
        Ok(())
    }

    unsafe fn get_device_info(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        unsafe { self.device(device)?.info(&self.session, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_device_info_size(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = self.device(device)?.info(&self.session, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { prop_size_ret.write_unaligned(size) };
        Ok(())
    }

    unsafe fn get_platform_info(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        self.platform_info(platform, prop_name, |value| unsafe { value.write(prop_size, prop_value) })
    }

    unsafe fn get_platform_info_size(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        self.platform_info(platform, prop_name, |value| {
            // SAFETY: the caller's.
            unsafe { prop_size_ret.write_unaligned(value.size()) };
            Ok(())
        })
    }

    unsafe fn platform_register_rpc_callback(&self, platform: ol_platform_handle_t, callback: ol_platform_rpc_cb_t) -> Result<(), Error> {
        let found = self.session.platform(platform.cast());
        host_calls::register(found.ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_PLATFORM, "platform"))?, callback)
    }

    unsafe fn create_queue(&self, device: ol_device_handle_t, queue: *mut ol_queue_handle_t) -> Result<(), Error> {
        let device = self.device(device)?;
        let made = Queue { device, driver: device.driver.queue()?, origin: Origin::here() };
        let handle = self.queues.insert(Arc::new(made)).ok_or_else(no_handles)?;
        // SAFETY: the caller's.
        unsafe { queue.write_unaligned(handle.cast()) };
        Ok(())
    }

    unsafe fn destroy_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        match self.queues.remove(queue.cast()) {
            Some(_) => Ok(()),
            None => Err(gone(ol_errc_t::OL_ERRC_INVALID_QUEUE, "queue")),
        }
    }

    unsafe fn sync_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        refuse_in_host_function("olSyncQueue")?;
        self.queue(queue)?.driver.synchronize()
    }

    unsafe fn query_queue(&self, queue: ol_queue_handle_t, is_queue_work_completed: *mut bool) -> Result<(), Error> {
        let idle = self.queue(queue)?.driver.is_idle()?;
        if !is_queue_work_completed.is_null() {
            // SAFETY: the caller's.
            unsafe { is_queue_work_completed.write(idle) };
        }
        Ok(())
    }

    unsafe fn wait_events(&self, queue: ol_queue_handle_t, events: *mut ol_event_handle_t, num_events: usize) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        // All are looked up before the queue waits for any.
        // SAFETY: the caller says that there are that many.
        let events = (0..num_events).map(|index| self.event(unsafe { events.add(index).read_unaligned() }));
        for event in events.collect::<Result<Vec<_>, _>>()? {
            queue.driver.wait(&event.driver)?;
        }
        Ok(())
    }

    unsafe fn get_queue_info(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        // SAFETY: the caller says that there is room.
        unsafe { self.queue_info(&queue, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_queue_info_size(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = self.queue_info(&*self.queue(queue)?, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { prop_size_ret.write_unaligned(size) };
        Ok(())
    }

    unsafe fn launch_host_function(
        &self,
        queue: ol_queue_handle_t,
        callback: ol_host_function_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let Some(callback) = callback else { return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL") };
        let function = HostFunction(callback, user_data);
        self.queue(queue)?.driver.call(Box::new(move || function.run()))
    }

    unsafe fn create_event(&self, queue: ol_queue_handle_t, flags: ol_event_flags_t, event: *mut ol_event_handle_t) -> Result<(), Error> {
        let owner = self.queue(queue)?;
        let timed = flags == ol_event_flags_t::OL_EVENT_FLAGS_ENABLE_PROFILING;
        let driver = owner.driver.record(timed)?;
        let made = Event { device: owner.device, driver, queue: queue.addr(), timed, origin: Origin::here() };
        let handle = self.events.insert(Arc::new(made)).ok_or_else(no_handles)?;
        // SAFETY: the caller's.
        unsafe { event.write_unaligned(handle.cast()) };
        Ok(())
    }

    unsafe fn destroy_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        match self.events.remove(event.cast()) {
            Some(_) => Ok(()),
            None => Err(gone(ol_errc_t::OL_ERRC_INVALID_EVENT, "event")),
        }
    }

    unsafe fn sync_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        refuse_in_host_function("olSyncEvent")?;
        self.event(event)?.driver.synchronize()
    }

    unsafe fn get_event_elapsed_time(
        &self,
        start_event: ol_event_handle_t,
        end_event: ol_event_handle_t,
        elapsed_time: *mut f32,
    ) -> Result<(), Error> {
        let time = self.event(end_event)?.since(&*self.event(start_event)?)?;
        // SAFETY: the caller's.
        unsafe { elapsed_time.write_unaligned(time) };
        Ok(())
    }

    unsafe fn get_event_info(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let event = self.event(event)?;
        // SAFETY: the caller says that there is room.
        unsafe { self.event_info(&event, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_event_info_size(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = self.event_info(&*self.event(event)?, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { prop_size_ret.write_unaligned(size) };
        Ok(())
    }

    unsafe fn mem_alloc(
        &self,
        device: ol_device_handle_t,
        r#type: ol_alloc_type_t,
        size: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error> {
        let address = self.memory.allocate(self.device(device)?, r#type, size, 1)?;
        // SAFETY: the caller's.
        unsafe { allocation_out.write_unaligned(address) };
        Ok(())
    }

    unsafe fn mem_alloc_aligned(
        &self,
        device: ol_device_handle_t,
        r#type: ol_alloc_type_t,
        size: usize,
        alignment: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error> {
        let address = self.memory.allocate(self.device(device)?, r#type, size, alignment)?;
        // SAFETY: the caller's.
        unsafe { allocation_out.write_unaligned(address) };
        Ok(())
    }

    unsafe fn mem_free(&self, address: *mut c_void) -> Result<(), Error> {
        self.memory.free(address)
    }

    unsafe fn get_mem_info(
        &self,
        ptr: *const c_void,
        prop_name: ol_mem_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        unsafe { self.memory.info(self, ptr, prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_mem_info_size(&self, ptr: *const c_void, prop_name: ol_mem_info_t, prop_size_ret: *mut usize) -> Result<(), Error> {
        let size = self.memory.info(self, ptr, prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { prop_size_ret.write_unaligned(size) };
        Ok(())
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
        let (queue, to_device, from_device) = (self.optional_queue(queue)?, self.device(dst_device)?, self.device(src_device)?);
        let both_host = session::is_host(to_device) && session::is_host(from_device);
        if queue.as_ref().is_some_and(|queue| both_host && !session::is_host(queue.device)) {
            let text = "DstDevice and SrcDevice are the host, and Queue is another device's: copy without a queue, or in one of the host's";
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
        if size == 0 {
            return Ok(());
        }
        let (to, from) = (self.memory.place("DstPtr", dst_ptr, size)?, self.memory.place("SrcPtr", src_ptr, size)?);
        if queue.is_none() && both_host {
            // SAFETY: the caller says that this is memory of the host; `copy` allows it to overlap.
            unsafe { std::ptr::copy(src_ptr.cast::<u8>(), dst_ptr.cast::<u8>(), size) };
            return Ok(());
        }
        let device = if session::is_host(to_device) { from_device } else { to_device };
        // SAFETY: the caller says so.
        self.in_queue("olMemcpy without a queue", queue.as_deref(), device, |queue| unsafe { queue.copy(to, from, size) })
    }

    unsafe fn mem_fill(
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
        if pattern_size == 0 || !fill_size.is_multiple_of(pattern_size) {
            return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("FillSize {fill_size} is no multiple of PatternSize {pattern_size}"));
        }
        let place = self.memory.place("Ptr", ptr, fill_size)?;
        let device = match self.memory.device_of(ptr) {
            Some(device) => device,
            None => self.session.host()?,
        };
        // SAFETY: the caller says that there are that many bytes; no more than `fill_size`, which `place` found possible.
        let pattern = unsafe { std::slice::from_raw_parts(pattern_ptr.cast::<u8>(), pattern_size) };
        // SAFETY: the caller says so.
        self.in_queue("olMemFill without a queue", queue.as_deref(), device, |queue| unsafe { queue.fill(place, pattern, fill_size) })
    }

    unsafe fn mem_prefetch(
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

    unsafe fn mem_register(
        &self,
        device: ol_device_handle_t,
        ptr: *mut c_void,
        size: usize,
        flags: ol_memory_register_flags_t,
        pinned_ptr: *mut *mut c_void,
    ) -> Result<(), Error> {
        let pinned = self.memory.register(self.device(device)?, ptr.expose_provenance(), size, flags)?;
        // SAFETY: the caller's.
        unsafe { pinned_ptr.write_unaligned(std::ptr::with_exposed_provenance_mut(pinned)) };
        Ok(())
    }

    unsafe fn mem_unregister(&self, device: ol_device_handle_t, ptr: *mut c_void, flags: ol_memory_register_flags_t) -> Result<(), Error> {
        self.memory.unregister(self.device(device)?, ptr.addr(), flags)
    }

    unsafe fn create_program(
        &self,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        program: *mut ol_program_handle_t,
    ) -> Result<(), Error> {
        let device = self.device(device)?;
        // SAFETY: the caller says so.
        let driver = device.driver.load(unsafe { image(prog_data, prog_data_size) }?)?;
        let handle = self.programs.insert(Arc::new(Program::new(device, driver))).ok_or_else(no_handles)?;
        // SAFETY: the caller's.
        unsafe { program.write_unaligned(handle.cast()) };
        Ok(())
    }

    unsafe fn is_valid_binary(
        &self,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        valid: *mut bool,
    ) -> Result<(), Error> {
        let device = self.device(device)?;
        // SAFETY: the caller says so.
        let fits = unsafe { image(prog_data, prog_data_size) }.and_then(|image| device.driver.check(image)).is_ok();
        // SAFETY: the caller's.
        unsafe { valid.write(fits) };
        Ok(())
    }

    unsafe fn destroy_program(&self, program: ol_program_handle_t) -> Result<(), Error> {
        Library::destroy_program(self, program.cast())
    }

    unsafe fn get_symbol(
        &self,
        program: ol_program_handle_t,
        name: *const c_char,
        kind: ol_symbol_kind_t,
        symbol: *mut ol_symbol_handle_t,
    ) -> Result<(), Error> {
        let program = self.programs.get(program.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "program"))?;
        // SAFETY: the caller's text, which ends in a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let handle = self.symbol(&program, &name, kind)?;
        // SAFETY: the caller's.
        unsafe { symbol.write_unaligned(handle.cast()) };
        Ok(())
    }

    unsafe fn get_symbol_info(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the caller says that there is room.
        unsafe { self.symbol_of(symbol)?.info(prop_name)?.write(prop_size, prop_value) }
    }

    unsafe fn get_symbol_info_size(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let size = self.symbol_of(symbol)?.info(prop_name)?.size();
        // SAFETY: the caller's.
        unsafe { prop_size_ret.write_unaligned(size) };
        Ok(())
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
        let (queue, device, symbol) = (self.optional_queue(queue)?, self.device(device)?, self.symbol_of(kernel)?);
        if queue.as_ref().is_some_and(|queue| !queue.device.is(device)) {
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, "Device is not the device of Queue");
        }
        let kernel = symbol.kernel()?;
        if !symbol.device.is(device) {
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, format!("`{}` is a kernel of a program on another device", symbol.name));
        }
        // SAFETY: the caller's structure, list and arrays; the entry point checked which of them may be null.
        let (shape, arguments) = unsafe {
            (shape(&launch_size_args.read_unaligned(), is_cooperative(properties)?)?, Arguments::copy(num_args, arg_ptrs, arg_sizes)?)
        };
        // SAFETY: the caller says what kernels do with their arguments.
        self.in_queue("olLaunchKernel without a queue", queue.as_deref(), device, |queue| unsafe {
            queue.launch(kernel, &shape, arguments)
        })
    }

    unsafe fn calculate_optimal_occupancy(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        shared_memory: usize,
        group_size: *mut usize,
    ) -> Result<(), Error> {
        let (device, symbol) = (self.device(device)?, self.symbol_of(kernel)?);
        let kernel = symbol.kernel()?;
        if !symbol.device.is(device) {
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, format!("`{}` is a kernel of a program on another device", symbol.name));
        }
        let size = kernel.optimal_group_size(shared_memory)?;
        // SAFETY: the caller's.
        unsafe { group_size.write_unaligned(size) };
        Ok(())
    }

    unsafe fn get_kernel_max_cooperative_group_count(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        launch_size_args: *const ol_kernel_launch_size_args_t,
        max_group_count: *mut u32,
    ) -> Result<(), Error> {
        let (device, symbol) = (self.device(device)?, self.symbol_of(kernel)?);
        let kernel = symbol.kernel()?;
        if !symbol.device.is(device) {
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, format!("`{}` is a kernel of a program on another device", symbol.name));
        }
        // The number of groups does not matter, so it may be anything.
        // SAFETY: the caller's structure.
        let mut size = unsafe { launch_size_args.read_unaligned() };
        size.NumGroups = ol_dimensions_t { x: 1, y: 1, z: 1 };
        let count = kernel.max_cooperative_groups(&shape(&size, true)?)?;
        // SAFETY: the caller's.
        unsafe { max_group_count.write_unaligned(count) };
        Ok(())
    }
}

impl Library {
    fn platform_info(
        &self,
        handle: ol_platform_handle_t,
        name: ol_platform_info_t,
        use_it: impl FnOnce(&Value<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let platform = self.session.platform(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_PLATFORM, "platform"))?;
        let driver = platform.driver;
        let version;
        use_it(&match name {
            ol_platform_info_t::OL_PLATFORM_INFO_NAME => Value::Text(driver.name()),
            ol_platform_info_t::OL_PLATFORM_INFO_VENDOR_NAME => Value::Text(driver.vendor()),
            ol_platform_info_t::OL_PLATFORM_INFO_VERSION => {
                version = driver.version();
                Value::Text(&version)
            }
            ol_platform_info_t::OL_PLATFORM_INFO_BACKEND => Value::U32(driver.backend().0),
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of platforms", other.0)),
        })
    }
}

//! The entry points. Each checks its arguments, calls the implementation, and writes a line to the trace.
//!
//! [`export_entry_points!`](crate::export_entry_points) makes C functions of them.
//!
//! Made from OffloadAPI.td (LLVM 23) by offload-tblgen --gen-entry-points; change that, not this file.

#![allow(clippy::too_many_arguments, reason = "a function has as many as its definition says")]
#![allow(unused_imports, reason = "not every API needs each of them")]

use std::ffi::{c_char, c_void};

use super::api::{Api, HandleKind};
use super::print;
use super::sys::*;
use crate::runtime::check::{self, Number};
use crate::runtime::record::{Access, Element};
use crate::runtime::{Bool, Error, call, is_watched, watched};

/// `olCalculateOptimalOccupancy`: Tells the size of work groups with which a device is best used by a kernel.
///
/// # Safety
///
/// As [`Api::calculate_optimal_occupancy`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn calculate_optimal_occupancy<A: Api>(
    device: ol_device_handle_t,
    kernel: ol_symbol_handle_t,
    shared_memory: usize,
    group_size: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olCalculateOptimalOccupancy")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(kernel.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Kernel must not be NULL")?;
            check::refuse_if(group_size.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "GroupSize must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::handle(
                api.handle_state(HandleKind::Symbol, kernel.cast()),
                HandleKind::Symbol,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Kernel",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.calculate_optimal_occupancy(device, kernel, shared_memory, group_size) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("Kernel", &kernel);
            list.value("SharedMemory", &shared_memory);
            // SAFETY: the caller says so.
            unsafe { list.output("GroupSize", group_size) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.handle(kernel.cast());
            list.number(shared_memory as u64);
            list.elements(Access::Out, group_size, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olCalculateOptimalOccupancy", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olCalculateOptimalOccupancy", location, body) }
}

/// `olCreateEvent`: Marks the end of the work that a queue has so far.
///
/// # Safety
///
/// As [`Api::create_event`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn create_event<A: Api>(
    queue: ol_queue_handle_t,
    flags: ol_event_flags_t,
    event: *mut ol_event_handle_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olCreateEvent")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::refuse_if(event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Event must not be NULL")?;
            check::enumerator(&flags, flags.0, ol_event_flags_t::ALL, "Flags", "ol_event_flags_t")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.create_event(queue, flags, event) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("Flags", &flags);
            // SAFETY: the caller says so.
            unsafe { list.output("Event", event) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.number(u64::from(flags.0));
            list.memory(Access::OutHandle, event.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olCreateEvent", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olCreateEvent", location, body) }
}

/// `olCreateProgram`: Loads an image on a device.
///
/// # Safety
///
/// As [`Api::create_program`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn create_program<A: Api>(
    device: ol_device_handle_t,
    prog_data: *const c_void,
    prog_data_size: usize,
    program: *mut ol_program_handle_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olCreateProgram")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(prog_data.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "ProgData must not be NULL")?;
            check::refuse_if(program.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Program must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.create_program(device, prog_data, prog_data_size, program) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("ProgData", &prog_data);
            list.value("ProgDataSize", &prog_data_size);
            // SAFETY: the caller says so.
            unsafe { list.output("Program", program) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.memory(Access::Read, prog_data.cast(), check::range(0, prog_data_size.number()).end);
            list.number(prog_data_size as u64);
            list.memory(Access::OutHandle, program.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olCreateProgram", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olCreateProgram", location, body) }
}

/// `olCreateQueue`: Makes a queue.
///
/// # Safety
///
/// As [`Api::create_queue`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn create_queue<A: Api>(
    device: ol_device_handle_t,
    queue: *mut ol_queue_handle_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olCreateQueue")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Queue must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.create_queue(device, queue) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            // SAFETY: the caller says so.
            unsafe { list.output("Queue", queue) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.memory(Access::OutHandle, queue.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olCreateQueue", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olCreateQueue", location, body) }
}

/// `olDestroyEvent`: Gives an event back.
///
/// # Safety
///
/// As [`Api::destroy_event`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn destroy_event<A: Api>(event: ol_event_handle_t, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olDestroyEvent")?;
        if check::enabled() {
            check::refuse_if(event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Event must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Event, event.cast()), HandleKind::Event, ol_errc_t::OL_ERRC_INVALID_EVENT, "Event")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.destroy_event(event) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Event", &event);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(event.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olDestroyEvent", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olDestroyEvent", location, body) }
}

/// `olDestroyProgram`: Unloads a program.
///
/// # Safety
///
/// As [`Api::destroy_program`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn destroy_program<A: Api>(program: ol_program_handle_t, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olDestroyProgram")?;
        if check::enabled() {
            check::refuse_if(program.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Program must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Program, program.cast()),
                HandleKind::Program,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Program",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.destroy_program(program) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Program", &program);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(program.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olDestroyProgram", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olDestroyProgram", location, body) }
}

/// `olDestroyQueue`: Gives a queue back.
///
/// # Safety
///
/// As [`Api::destroy_queue`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn destroy_queue<A: Api>(queue: ol_queue_handle_t, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olDestroyQueue")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.destroy_queue(queue) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olDestroyQueue", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olDestroyQueue", location, body) }
}

/// `olGetDeviceInfo`: Tells a property of a device.
///
/// # Safety
///
/// As [`Api::get_device_info`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_device_info<A: Api>(
    device: ol_device_handle_t,
    prop_name: ol_device_info_t,
    prop_size: usize,
    prop_value: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetDeviceInfo")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(prop_value.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropValue must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_device_info_t::ALL, "PropName", "ol_device_info_t")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::refuse_if(prop_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PropSize == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_device_info(device, prop_name, prop_size, prop_value) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("PropName", &prop_name);
            list.value("PropSize", &prop_size);
            // SAFETY: the caller says so.
            unsafe { list.property("PropValue", prop_value, prop_size, |bytes, to| print::show_ol_device_info_t(prop_name, bytes, to)) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.number(u64::from(prop_name.0));
            list.number(prop_size as u64);
            list.memory(Access::Out, prop_value.cast(), prop_size);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetDeviceInfo", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetDeviceInfo", location, body) }
}

/// `olGetDeviceInfoSize`: Tells how many bytes a property of a device needs.
///
/// # Safety
///
/// As [`Api::get_device_info_size`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_device_info_size<A: Api>(
    device: ol_device_handle_t,
    prop_name: ol_device_info_t,
    prop_size_ret: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetDeviceInfoSize")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(prop_size_ret.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropSizeRet must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_device_info_t::ALL, "PropName", "ol_device_info_t")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_device_info_size(device, prop_name, prop_size_ret) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("PropName", &prop_name);
            // SAFETY: the caller says so.
            unsafe { list.output("PropSizeRet", prop_size_ret) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.number(u64::from(prop_name.0));
            list.elements(Access::Out, prop_size_ret, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetDeviceInfoSize", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetDeviceInfoSize", location, body) }
}

/// `olGetEventElapsedTime`: Tells how much time lies between two events.
///
/// # Safety
///
/// As [`Api::get_event_elapsed_time`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_event_elapsed_time<A: Api>(
    start_event: ol_event_handle_t,
    end_event: ol_event_handle_t,
    elapsed_time: *mut f32,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetEventElapsedTime")?;
        if check::enabled() {
            check::refuse_if(start_event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "StartEvent must not be NULL")?;
            check::refuse_if(end_event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "EndEvent must not be NULL")?;
            check::refuse_if(elapsed_time.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "ElapsedTime must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Event, start_event.cast()),
                HandleKind::Event,
                ol_errc_t::OL_ERRC_INVALID_EVENT,
                "StartEvent",
            )?;
            check::handle(
                api.handle_state(HandleKind::Event, end_event.cast()),
                HandleKind::Event,
                ol_errc_t::OL_ERRC_INVALID_EVENT,
                "EndEvent",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_event_elapsed_time(start_event, end_event, elapsed_time) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("StartEvent", &start_event);
            list.value("EndEvent", &end_event);
            // SAFETY: the caller says so.
            unsafe { list.output("ElapsedTime", elapsed_time) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(start_event.cast());
            list.handle(end_event.cast());
            list.elements(Access::Out, elapsed_time, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetEventElapsedTime", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetEventElapsedTime", location, body) }
}

/// `olGetEventInfo`: Tells a property of an event.
///
/// # Safety
///
/// As [`Api::get_event_info`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_event_info<A: Api>(
    event: ol_event_handle_t,
    prop_name: ol_event_info_t,
    prop_size: usize,
    prop_value: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetEventInfo")?;
        if check::enabled() {
            check::refuse_if(event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Event must not be NULL")?;
            check::refuse_if(prop_value.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropValue must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_event_info_t::ALL, "PropName", "ol_event_info_t")?;
            check::handle(api.handle_state(HandleKind::Event, event.cast()), HandleKind::Event, ol_errc_t::OL_ERRC_INVALID_EVENT, "Event")?;
            check::refuse_if(prop_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PropSize == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_event_info(event, prop_name, prop_size, prop_value) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Event", &event);
            list.value("PropName", &prop_name);
            list.value("PropSize", &prop_size);
            // SAFETY: the caller says so.
            unsafe { list.property("PropValue", prop_value, prop_size, |bytes, to| print::show_ol_event_info_t(prop_name, bytes, to)) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(event.cast());
            list.number(u64::from(prop_name.0));
            list.number(prop_size as u64);
            list.memory(Access::Out, prop_value.cast(), prop_size);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetEventInfo", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetEventInfo", location, body) }
}

/// `olGetEventInfoSize`: Tells how many bytes a property of an event needs.
///
/// # Safety
///
/// As [`Api::get_event_info_size`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_event_info_size<A: Api>(
    event: ol_event_handle_t,
    prop_name: ol_event_info_t,
    prop_size_ret: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetEventInfoSize")?;
        if check::enabled() {
            check::refuse_if(event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Event must not be NULL")?;
            check::refuse_if(prop_size_ret.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropSizeRet must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_event_info_t::ALL, "PropName", "ol_event_info_t")?;
            check::handle(api.handle_state(HandleKind::Event, event.cast()), HandleKind::Event, ol_errc_t::OL_ERRC_INVALID_EVENT, "Event")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_event_info_size(event, prop_name, prop_size_ret) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Event", &event);
            list.value("PropName", &prop_name);
            // SAFETY: the caller says so.
            unsafe { list.output("PropSizeRet", prop_size_ret) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(event.cast());
            list.number(u64::from(prop_name.0));
            list.elements(Access::Out, prop_size_ret, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetEventInfoSize", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetEventInfoSize", location, body) }
}

/// `olGetKernelMaxCooperativeGroupCount`: Tells how many work groups a cooperative launch of a kernel may have.
///
/// # Safety
///
/// As [`Api::get_kernel_max_cooperative_group_count`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_kernel_max_cooperative_group_count<A: Api>(
    device: ol_device_handle_t,
    kernel: ol_symbol_handle_t,
    launch_size_args: *const ol_kernel_launch_size_args_t,
    max_group_count: *mut u32,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetKernelMaxCooperativeGroupCount")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(kernel.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Kernel must not be NULL")?;
            check::refuse_if(launch_size_args.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "LaunchSizeArgs must not be NULL")?;
            check::refuse_if(max_group_count.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "MaxGroupCount must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::handle(
                api.handle_state(HandleKind::Symbol, kernel.cast()),
                HandleKind::Symbol,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Kernel",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_kernel_max_cooperative_group_count(device, kernel, launch_size_args, max_group_count) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("Kernel", &kernel);
            // SAFETY: the caller says so.
            unsafe { list.input("LaunchSizeArgs", launch_size_args) };
            // SAFETY: the caller says so.
            unsafe { list.output("MaxGroupCount", max_group_count) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.handle(kernel.cast());
            list.elements(Access::Value, launch_size_args, 1);
            list.elements(Access::Out, max_group_count, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetKernelMaxCooperativeGroupCount", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetKernelMaxCooperativeGroupCount", location, body) }
}

/// `olGetMemInfo`: Tells a property of an allocation.
///
/// # Safety
///
/// As [`Api::get_mem_info`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_mem_info<A: Api>(
    ptr: *const c_void,
    prop_name: ol_mem_info_t,
    prop_size: usize,
    prop_value: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetMemInfo")?;
        if check::enabled() {
            check::refuse_if(ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Ptr must not be NULL")?;
            check::refuse_if(prop_value.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropValue must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_mem_info_t::ALL, "PropName", "ol_mem_info_t")?;
            check::refuse_if(prop_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PropSize == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_mem_info(ptr, prop_name, prop_size, prop_value) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Ptr", &ptr);
            list.value("PropName", &prop_name);
            list.value("PropSize", &prop_size);
            // SAFETY: the caller says so.
            unsafe { list.property("PropValue", prop_value, prop_size, |bytes, to| print::show_ol_mem_info_t(prop_name, bytes, to)) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.pointer(ptr.cast());
            list.number(u64::from(prop_name.0));
            list.number(prop_size as u64);
            list.memory(Access::Out, prop_value.cast(), prop_size);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetMemInfo", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetMemInfo", location, body) }
}

/// `olGetMemInfoSize`: Tells how many bytes a property of an allocation needs.
///
/// # Safety
///
/// As [`Api::get_mem_info_size`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_mem_info_size<A: Api>(
    ptr: *const c_void,
    prop_name: ol_mem_info_t,
    prop_size_ret: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetMemInfoSize")?;
        if check::enabled() {
            check::refuse_if(ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Ptr must not be NULL")?;
            check::refuse_if(prop_size_ret.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropSizeRet must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_mem_info_t::ALL, "PropName", "ol_mem_info_t")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_mem_info_size(ptr, prop_name, prop_size_ret) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Ptr", &ptr);
            list.value("PropName", &prop_name);
            // SAFETY: the caller says so.
            unsafe { list.output("PropSizeRet", prop_size_ret) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.pointer(ptr.cast());
            list.number(u64::from(prop_name.0));
            list.elements(Access::Out, prop_size_ret, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetMemInfoSize", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetMemInfoSize", location, body) }
}

/// `olGetPlatformInfo`: Tells a property of a platform.
///
/// # Safety
///
/// As [`Api::get_platform_info`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_platform_info<A: Api>(
    platform: ol_platform_handle_t,
    prop_name: ol_platform_info_t,
    prop_size: usize,
    prop_value: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetPlatformInfo")?;
        if check::enabled() {
            check::refuse_if(platform.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Platform must not be NULL")?;
            check::refuse_if(prop_value.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropValue must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_platform_info_t::ALL, "PropName", "ol_platform_info_t")?;
            check::handle(
                api.handle_state(HandleKind::Platform, platform.cast()),
                HandleKind::Platform,
                ol_errc_t::OL_ERRC_INVALID_PLATFORM,
                "Platform",
            )?;
            check::refuse_if(prop_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PropSize == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_platform_info(platform, prop_name, prop_size, prop_value) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Platform", &platform);
            list.value("PropName", &prop_name);
            list.value("PropSize", &prop_size);
            // SAFETY: the caller says so.
            unsafe { list.property("PropValue", prop_value, prop_size, |bytes, to| print::show_ol_platform_info_t(prop_name, bytes, to)) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(platform.cast());
            list.number(u64::from(prop_name.0));
            list.number(prop_size as u64);
            list.memory(Access::Out, prop_value.cast(), prop_size);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetPlatformInfo", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetPlatformInfo", location, body) }
}

/// `olGetPlatformInfoSize`: Tells how many bytes a property of a platform needs.
///
/// # Safety
///
/// As [`Api::get_platform_info_size`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_platform_info_size<A: Api>(
    platform: ol_platform_handle_t,
    prop_name: ol_platform_info_t,
    prop_size_ret: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetPlatformInfoSize")?;
        if check::enabled() {
            check::refuse_if(platform.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Platform must not be NULL")?;
            check::refuse_if(prop_size_ret.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropSizeRet must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_platform_info_t::ALL, "PropName", "ol_platform_info_t")?;
            check::handle(
                api.handle_state(HandleKind::Platform, platform.cast()),
                HandleKind::Platform,
                ol_errc_t::OL_ERRC_INVALID_PLATFORM,
                "Platform",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_platform_info_size(platform, prop_name, prop_size_ret) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Platform", &platform);
            list.value("PropName", &prop_name);
            // SAFETY: the caller says so.
            unsafe { list.output("PropSizeRet", prop_size_ret) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(platform.cast());
            list.number(u64::from(prop_name.0));
            list.elements(Access::Out, prop_size_ret, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetPlatformInfoSize", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetPlatformInfoSize", location, body) }
}

/// `olGetQueueInfo`: Tells a property of a queue.
///
/// # Safety
///
/// As [`Api::get_queue_info`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_queue_info<A: Api>(
    queue: ol_queue_handle_t,
    prop_name: ol_queue_info_t,
    prop_size: usize,
    prop_value: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetQueueInfo")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::refuse_if(prop_value.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropValue must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_queue_info_t::ALL, "PropName", "ol_queue_info_t")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
            check::refuse_if(prop_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PropSize == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_queue_info(queue, prop_name, prop_size, prop_value) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("PropName", &prop_name);
            list.value("PropSize", &prop_size);
            // SAFETY: the caller says so.
            unsafe { list.property("PropValue", prop_value, prop_size, |bytes, to| print::show_ol_queue_info_t(prop_name, bytes, to)) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.number(u64::from(prop_name.0));
            list.number(prop_size as u64);
            list.memory(Access::Out, prop_value.cast(), prop_size);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetQueueInfo", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetQueueInfo", location, body) }
}

/// `olGetQueueInfoSize`: Tells how many bytes a property of a queue needs.
///
/// # Safety
///
/// As [`Api::get_queue_info_size`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_queue_info_size<A: Api>(
    queue: ol_queue_handle_t,
    prop_name: ol_queue_info_t,
    prop_size_ret: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetQueueInfoSize")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::refuse_if(prop_size_ret.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropSizeRet must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_queue_info_t::ALL, "PropName", "ol_queue_info_t")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_queue_info_size(queue, prop_name, prop_size_ret) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("PropName", &prop_name);
            // SAFETY: the caller says so.
            unsafe { list.output("PropSizeRet", prop_size_ret) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.number(u64::from(prop_name.0));
            list.elements(Access::Out, prop_size_ret, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetQueueInfoSize", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetQueueInfoSize", location, body) }
}

/// `olGetSymbol`: Finds a symbol of a program by its name.
///
/// # Safety
///
/// As [`Api::get_symbol`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_symbol<A: Api>(
    program: ol_program_handle_t,
    name: *const c_char,
    kind: ol_symbol_kind_t,
    symbol: *mut ol_symbol_handle_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetSymbol")?;
        if check::enabled() {
            check::refuse_if(program.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Program must not be NULL")?;
            check::refuse_if(name.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Name must not be NULL")?;
            check::refuse_if(symbol.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Symbol must not be NULL")?;
            check::enumerator(&kind, kind.0, ol_symbol_kind_t::ALL, "Kind", "ol_symbol_kind_t")?;
            check::handle(
                api.handle_state(HandleKind::Program, program.cast()),
                HandleKind::Program,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Program",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_symbol(program, name, kind, symbol) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Program", &program);
            // SAFETY: the caller says so.
            unsafe { list.text("Name", name) };
            list.value("Kind", &kind);
            // SAFETY: the caller says so.
            unsafe { list.output("Symbol", symbol) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(program.cast());
            list.text(name);
            list.number(u64::from(kind.0));
            list.memory(Access::OutHandle, symbol.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetSymbol", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetSymbol", location, body) }
}

/// `olGetSymbolInfo`: Tells a property of a symbol.
///
/// # Safety
///
/// As [`Api::get_symbol_info`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_symbol_info<A: Api>(
    symbol: ol_symbol_handle_t,
    prop_name: ol_symbol_info_t,
    prop_size: usize,
    prop_value: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetSymbolInfo")?;
        if check::enabled() {
            check::refuse_if(symbol.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Symbol must not be NULL")?;
            check::refuse_if(prop_value.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropValue must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_symbol_info_t::ALL, "PropName", "ol_symbol_info_t")?;
            check::handle(
                api.handle_state(HandleKind::Symbol, symbol.cast()),
                HandleKind::Symbol,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Symbol",
            )?;
            check::refuse_if(prop_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PropSize == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_symbol_info(symbol, prop_name, prop_size, prop_value) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Symbol", &symbol);
            list.value("PropName", &prop_name);
            list.value("PropSize", &prop_size);
            // SAFETY: the caller says so.
            unsafe { list.property("PropValue", prop_value, prop_size, |bytes, to| print::show_ol_symbol_info_t(prop_name, bytes, to)) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(symbol.cast());
            list.number(u64::from(prop_name.0));
            list.number(prop_size as u64);
            list.memory(Access::Out, prop_value.cast(), prop_size);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetSymbolInfo", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetSymbolInfo", location, body) }
}

/// `olGetSymbolInfoSize`: Tells how many bytes a property of a symbol needs.
///
/// # Safety
///
/// As [`Api::get_symbol_info_size`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn get_symbol_info_size<A: Api>(
    symbol: ol_symbol_handle_t,
    prop_name: ol_symbol_info_t,
    prop_size_ret: *mut usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olGetSymbolInfoSize")?;
        if check::enabled() {
            check::refuse_if(symbol.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Symbol must not be NULL")?;
            check::refuse_if(prop_size_ret.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PropSizeRet must not be NULL")?;
            check::enumerator(&prop_name, prop_name.0, ol_symbol_info_t::ALL, "PropName", "ol_symbol_info_t")?;
            check::handle(
                api.handle_state(HandleKind::Symbol, symbol.cast()),
                HandleKind::Symbol,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Symbol",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.get_symbol_info_size(symbol, prop_name, prop_size_ret) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Symbol", &symbol);
            list.value("PropName", &prop_name);
            // SAFETY: the caller says so.
            unsafe { list.output("PropSizeRet", prop_size_ret) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(symbol.cast());
            list.number(u64::from(prop_name.0));
            list.elements(Access::Out, prop_size_ret, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olGetSymbolInfoSize", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olGetSymbolInfoSize", location, body) }
}

/// `olInit`: Starts the library.
///
/// # Safety
///
/// As [`Api::init`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn init<A: Api>(init_args: *const ol_init_args_t, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        if check::enabled() {
            // SAFETY: the caller says so, and what is null has been refused or is asked for first.
            let holds =
                unsafe { (!init_args.is_null() && ((*init_args).NumPlatforms.number() > 0_i128)) && (*init_args).Platforms.is_null() };
            check::refuse_if(
                holds,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "`InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL`",
            )?;
            // SAFETY: the caller says so, and what is null has been refused or is asked for first.
            let holds = unsafe { !init_args.is_null() && ((*init_args).Size.number() == 0_i128) };
            check::refuse_if(holds, ol_errc_t::OL_ERRC_INVALID_SIZE, "`InitArgs != NULL && InitArgs->Size == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.init(init_args) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            // SAFETY: the caller says so.
            unsafe { list.input("InitArgs", init_args) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.elements(Access::Value, init_args, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olInit", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olInit", location, body) }
}

/// `olIsValidBinary`: Tells whether a device can load an image, without loading it.
///
/// # Safety
///
/// As [`Api::is_valid_binary`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn is_valid_binary<A: Api>(
    device: ol_device_handle_t,
    prog_data: *const c_void,
    prog_data_size: usize,
    valid: *mut bool,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olIsValidBinary")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(prog_data.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "ProgData must not be NULL")?;
            check::refuse_if(valid.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Valid must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.is_valid_binary(device, prog_data, prog_data_size, valid) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("ProgData", &prog_data);
            list.value("ProgDataSize", &prog_data_size);
            // SAFETY: the caller says so.
            unsafe { list.output("Valid", valid.cast::<Bool>()) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.memory(Access::Read, prog_data.cast(), check::range(0, prog_data_size.number()).end);
            list.number(prog_data_size as u64);
            list.elements(Access::Out, valid, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olIsValidBinary", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olIsValidBinary", location, body) }
}

/// `olIterateDevices`: Shows every device to a function.
///
/// # Safety
///
/// As [`Api::iterate_devices`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn iterate_devices<A: Api>(
    callback: ol_device_iterate_cb_t,
    user_data: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olIterateDevices")?;
        if check::enabled() {
            check::refuse_if(callback.is_none(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.iterate_devices(callback, user_data) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Callback", &callback.map_or(std::ptr::null(), |callback| callback as *const c_void));
            list.value("UserData", &user_data);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.callback(callback.is_some());
            list.pointer(user_data.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olIterateDevices", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olIterateDevices", location, body) }
}

/// `olLaunchHostFunction`: Puts a call of a host function into a queue.
///
/// # Safety
///
/// As [`Api::launch_host_function`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn launch_host_function<A: Api>(
    queue: ol_queue_handle_t,
    callback: ol_host_function_cb_t,
    user_data: *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olLaunchHostFunction")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::refuse_if(callback.is_none(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.launch_host_function(queue, callback, user_data) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("Callback", &callback.map_or(std::ptr::null(), |callback| callback as *const c_void));
            list.value("UserData", &user_data);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.callback(callback.is_some());
            list.pointer(user_data.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olLaunchHostFunction", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olLaunchHostFunction", location, body) }
}

/// `olLaunchKernel`: Launches a kernel.
///
/// # Safety
///
/// As [`Api::launch_kernel`]. `location` is null or points to a location whose texts are null or end in a zero.
// A call would copy the parameters that are on the stack, from where the caller wrote them just now.
#[inline(always)]
pub unsafe fn launch_kernel<A: Api>(
    queue: ol_queue_handle_t,
    device: ol_device_handle_t,
    kernel: ol_symbol_handle_t,
    launch_size_args: *const ol_kernel_launch_size_args_t,
    properties: *const ol_kernel_launch_prop_t,
    num_args: usize,
    arg_ptrs: *mut *mut c_void,
    arg_sizes: *const usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olLaunchKernel")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(kernel.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Kernel must not be NULL")?;
            check::refuse_if(launch_size_args.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "LaunchSizeArgs must not be NULL")?;
            if !queue.is_null() {
                check::handle(
                    api.handle_state(HandleKind::Queue, queue.cast()),
                    HandleKind::Queue,
                    ol_errc_t::OL_ERRC_INVALID_QUEUE,
                    "Queue",
                )?;
            }
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::handle(
                api.handle_state(HandleKind::Symbol, kernel.cast()),
                HandleKind::Symbol,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "Kernel",
            )?;
            check::refuse_if(
                arg_ptrs.is_null() != arg_sizes.is_null(),
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "`(ArgPtrs == NULL) != (ArgSizes == NULL)`",
            )?;
            check::refuse_if(
                (num_args.number() > 0_i128) && (arg_ptrs.is_null() || arg_sizes.is_null()),
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "`NumArgs > 0 && (ArgPtrs == NULL || ArgSizes == NULL)`",
            )?;
            if !properties.is_null() {
                // SAFETY: the caller says so.
                let value = unsafe { properties.read_unaligned() };
                check::enumerator(
                    &value.type_,
                    value.type_.0,
                    ol_kernel_launch_prop_type_t::ALL,
                    "Properties->type",
                    "ol_kernel_launch_prop_type_t",
                )?;
            }
        }
        // SAFETY: the caller says so.
        unsafe { api.launch_kernel(queue, device, kernel, launch_size_args, properties, num_args, arg_ptrs, arg_sizes) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("Device", &device);
            list.value("Kernel", &kernel);
            // SAFETY: the caller says so.
            unsafe { list.input("LaunchSizeArgs", launch_size_args) };
            // SAFETY: the caller says so.
            unsafe { list.input("Properties", properties) };
            list.value("NumArgs", &num_args);
            // SAFETY: the caller says so.
            unsafe { list.inputs("ArgPtrs", arg_ptrs, check::range(0, num_args.number())) };
            // SAFETY: the caller says so.
            unsafe { list.inputs("ArgSizes", arg_sizes, check::range(0, num_args.number())) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.handle(device.cast());
            list.handle(kernel.cast());
            list.elements(Access::Value, launch_size_args, 1);
            list.elements(Access::Value, properties, 1);
            list.number(num_args as u64);
            list.array(Element::Pointer, arg_ptrs.cast(), check::range(0, num_args.number()).end);
            list.elements(Access::Value, arg_sizes, check::range(0, num_args.number()).end);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olLaunchKernel", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olLaunchKernel", location, body) }
}

/// `olMemAlloc`: Allocates memory.
///
/// # Safety
///
/// As [`Api::mem_alloc`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_alloc<A: Api>(
    device: ol_device_handle_t,
    r#type: ol_alloc_type_t,
    size: usize,
    allocation_out: *mut *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemAlloc")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(allocation_out.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "AllocationOut must not be NULL")?;
            check::enumerator(&r#type, r#type.0, ol_alloc_type_t::ALL, "Type", "ol_alloc_type_t")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::refuse_if(size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`Size == 0`")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_alloc(device, r#type, size, allocation_out) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("Type", &r#type);
            list.value("Size", &size);
            // SAFETY: the caller says so.
            unsafe { list.output("AllocationOut", allocation_out) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.number(u64::from(r#type.0));
            list.number(size as u64);
            list.memory(Access::OutPointer, allocation_out.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemAlloc", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemAlloc", location, body) }
}

/// `olMemAllocAligned`: Allocates memory at an address that is a multiple of an alignment.
///
/// # Safety
///
/// As [`Api::mem_alloc_aligned`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_alloc_aligned<A: Api>(
    device: ol_device_handle_t,
    r#type: ol_alloc_type_t,
    size: usize,
    alignment: usize,
    allocation_out: *mut *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemAllocAligned")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(allocation_out.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "AllocationOut must not be NULL")?;
            check::enumerator(&r#type, r#type.0, ol_alloc_type_t::ALL, "Type", "ol_alloc_type_t")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::refuse_if(size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`Size == 0`")?;
            check::refuse_if(alignment.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "`Alignment == 0`")?;
            check::refuse_if(
                (alignment.number() & alignment.number().saturating_sub(1_i128)) != 0_i128,
                ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
                "`(Alignment & (Alignment - 1)) != 0`",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_alloc_aligned(device, r#type, size, alignment, allocation_out) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("Type", &r#type);
            list.value("Size", &size);
            list.value("Alignment", &alignment);
            // SAFETY: the caller says so.
            unsafe { list.output("AllocationOut", allocation_out) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.number(u64::from(r#type.0));
            list.number(size as u64);
            list.number(alignment as u64);
            list.memory(Access::OutPointer, allocation_out.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemAllocAligned", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemAllocAligned", location, body) }
}

/// `olMemFill`: Fills memory with a repeated pattern.
///
/// # Safety
///
/// As [`Api::mem_fill`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_fill<A: Api>(
    queue: ol_queue_handle_t,
    ptr: *mut c_void,
    pattern_size: usize,
    pattern_ptr: *const c_void,
    fill_size: usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemFill")?;
        if check::enabled() {
            check::refuse_if(ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Ptr must not be NULL")?;
            check::refuse_if(pattern_ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PatternPtr must not be NULL")?;
            if !queue.is_null() {
                check::handle(
                    api.handle_state(HandleKind::Queue, queue.cast()),
                    HandleKind::Queue,
                    ol_errc_t::OL_ERRC_INVALID_QUEUE,
                    "Queue",
                )?;
            }
            check::refuse_if(pattern_size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`PatternSize == 0`")?;
            check::refuse_if(
                check::remainder(fill_size.number(), pattern_size.number()) != 0_i128,
                ol_errc_t::OL_ERRC_INVALID_SIZE,
                "`FillSize % PatternSize != 0`",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_fill(queue, ptr, pattern_size, pattern_ptr, fill_size) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("Ptr", &ptr);
            list.value("PatternSize", &pattern_size);
            list.value("PatternPtr", &pattern_ptr);
            list.value("FillSize", &fill_size);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.memory(Access::Write, ptr.cast(), check::range(0, fill_size.number()).end);
            list.number(pattern_size as u64);
            list.memory(Access::Read, pattern_ptr.cast(), check::range(0, pattern_size.number()).end);
            list.number(fill_size as u64);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemFill", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemFill", location, body) }
}

/// `olMemFree`: Gives memory back that olMemAlloc or olMemAllocAligned allocated.
///
/// # Safety
///
/// As [`Api::mem_free`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_free<A: Api>(address: *mut c_void, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemFree")?;
        if check::enabled() {
            check::refuse_if(address.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Address must not be NULL")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_free(address) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Address", &address);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.pointer(address.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemFree", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemFree", location, body) }
}

/// `olMemPrefetch`: Advises that managed memory will be used on the other side.
///
/// # Safety
///
/// As [`Api::mem_prefetch`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_prefetch<A: Api>(
    queue: ol_queue_handle_t,
    count: usize,
    mems: *mut *const c_void,
    sizes: *const usize,
    flags: ol_mem_migration_flags_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemPrefetch")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::flags(flags, ol_mem_migration_flag_t::MASK, "Flags", "ol_mem_migration_flag_t")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
            check::refuse_if(
                (count.number() > 0_i128) && mems.is_null(),
                ol_errc_t::OL_ERRC_INVALID_NULL_POINTER,
                "`Count > 0 && Mems == NULL`",
            )?;
            check::refuse_if(
                (count.number() > 0_i128) && sizes.is_null(),
                ol_errc_t::OL_ERRC_INVALID_NULL_POINTER,
                "`Count > 0 && Sizes == NULL`",
            )?;
            check::refuse_if(
                (flags.number()
                    & (!(ol_mem_migration_flag_t::OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE.0.number()
                        | ol_mem_migration_flag_t::OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST.0.number())))
                    != 0_i128,
                ol_errc_t::OL_ERRC_INVALID_ENUMERATION,
                "`(Flags & ~(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST)) != 0`",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_prefetch(queue, count, mems, sizes, flags) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("Count", &count);
            // SAFETY: the caller says so.
            unsafe { list.inputs("Mems", mems, check::range(0, count.number())) };
            // SAFETY: the caller says so.
            unsafe { list.inputs("Sizes", sizes, check::range(0, count.number())) };
            list.value("Flags", &ol_mem_migration_flag_t(flags));
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.number(count as u64);
            list.array(Element::Pointer, mems.cast(), check::range(0, count.number()).end);
            list.elements(Access::Value, sizes, check::range(0, count.number()).end);
            list.number(flags as u64);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemPrefetch", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemPrefetch", location, body) }
}

/// `olMemRegister`: Lets a device use host memory, and gives the address to use.
///
/// # Safety
///
/// As [`Api::mem_register`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_register<A: Api>(
    device: ol_device_handle_t,
    ptr: *mut c_void,
    size: usize,
    flags: ol_memory_register_flags_t,
    pinned_ptr: *mut *mut c_void,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemRegister")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Ptr must not be NULL")?;
            check::refuse_if(pinned_ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "PinnedPtr must not be NULL")?;
            check::flags(flags, ol_memory_register_flag_t::MASK, "Flags", "ol_memory_register_flag_t")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::refuse_if(size.number() == 0_i128, ol_errc_t::OL_ERRC_INVALID_SIZE, "`Size == 0`")?;
            check::refuse_if(
                (flags.number()
                    & (!(ol_memory_register_flag_t::OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY.0.number()
                        | ol_memory_register_flag_t::OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY.0.number())))
                    != 0_i128,
                ol_errc_t::OL_ERRC_INVALID_ENUMERATION,
                "`(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_register(device, ptr, size, flags, pinned_ptr) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("Ptr", &ptr);
            list.value("Size", &size);
            list.value("Flags", &ol_memory_register_flag_t(flags));
            // SAFETY: the caller says so.
            unsafe { list.output("PinnedPtr", pinned_ptr) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.memory(Access::Write, ptr.cast(), check::range(0, size.number()).end);
            list.number(size as u64);
            list.number(flags as u64);
            list.memory(Access::OutPointer, pinned_ptr.cast(), size_of::<usize>());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemRegister", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemRegister", location, body) }
}

/// `olMemUnregister`: Takes back what olMemRegister did for one user.
///
/// # Safety
///
/// As [`Api::mem_unregister`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn mem_unregister<A: Api>(
    device: ol_device_handle_t,
    ptr: *mut c_void,
    flags: ol_memory_register_flags_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemUnregister")?;
        if check::enabled() {
            check::refuse_if(device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Device must not be NULL")?;
            check::refuse_if(ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Ptr must not be NULL")?;
            check::flags(flags, ol_memory_register_flag_t::MASK, "Flags", "ol_memory_register_flag_t")?;
            check::handle(
                api.handle_state(HandleKind::Device, device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "Device",
            )?;
            check::refuse_if(
                (flags.number()
                    & (!(ol_memory_register_flag_t::OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY.0.number()
                        | ol_memory_register_flag_t::OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY.0.number())))
                    != 0_i128,
                ol_errc_t::OL_ERRC_INVALID_ENUMERATION,
                "`(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.mem_unregister(device, ptr, flags) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Device", &device);
            list.value("Ptr", &ptr);
            list.value("Flags", &ol_memory_register_flag_t(flags));
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(device.cast());
            list.pointer(ptr.cast());
            list.number(flags as u64);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemUnregister", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemUnregister", location, body) }
}

/// `olMemcpy`: Copies memory.
///
/// # Safety
///
/// As [`Api::memcpy`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn memcpy<A: Api>(
    queue: ol_queue_handle_t,
    dst_ptr: *mut c_void,
    dst_device: ol_device_handle_t,
    src_ptr: *const c_void,
    src_device: ol_device_handle_t,
    size: usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olMemcpy")?;
        if check::enabled() {
            check::refuse_if(dst_ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "DstPtr must not be NULL")?;
            check::refuse_if(dst_device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "DstDevice must not be NULL")?;
            check::refuse_if(src_ptr.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "SrcPtr must not be NULL")?;
            check::refuse_if(src_device.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "SrcDevice must not be NULL")?;
            if !queue.is_null() {
                check::handle(
                    api.handle_state(HandleKind::Queue, queue.cast()),
                    HandleKind::Queue,
                    ol_errc_t::OL_ERRC_INVALID_QUEUE,
                    "Queue",
                )?;
            }
            check::handle(
                api.handle_state(HandleKind::Device, dst_device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "DstDevice",
            )?;
            check::handle(
                api.handle_state(HandleKind::Device, src_device.cast()),
                HandleKind::Device,
                ol_errc_t::OL_ERRC_INVALID_DEVICE,
                "SrcDevice",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.memcpy(queue, dst_ptr, dst_device, src_ptr, src_device, size) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            list.value("DstPtr", &dst_ptr);
            list.value("DstDevice", &dst_device);
            list.value("SrcPtr", &src_ptr);
            list.value("SrcDevice", &src_device);
            list.value("Size", &size);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.memory(Access::Write, dst_ptr.cast(), check::range(0, size.number()).end);
            list.handle(dst_device.cast());
            list.memory(Access::Read, src_ptr.cast(), check::range(0, size.number()).end);
            list.handle(src_device.cast());
            list.number(size as u64);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olMemcpy", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olMemcpy", location, body) }
}

/// `olPlatformRegisterRPCCallback`: Has a function answer the calls that kernels of a platform make to the host.
///
/// # Safety
///
/// As [`Api::platform_register_rpc_callback`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn platform_register_rpc_callback<A: Api>(
    platform: ol_platform_handle_t,
    callback: ol_platform_rpc_cb_t,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olPlatformRegisterRPCCallback")?;
        if check::enabled() {
            check::refuse_if(platform.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Platform must not be NULL")?;
            check::refuse_if(callback.is_none(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL")?;
            check::handle(
                api.handle_state(HandleKind::Platform, platform.cast()),
                HandleKind::Platform,
                ol_errc_t::OL_ERRC_INVALID_PLATFORM,
                "Platform",
            )?;
        }
        // SAFETY: the caller says so.
        unsafe { api.platform_register_rpc_callback(platform, callback) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Platform", &platform);
            list.value("Callback", &callback.map_or(std::ptr::null(), |callback| callback as *const c_void));
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(platform.cast());
            list.callback(callback.is_some());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olPlatformRegisterRPCCallback", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olPlatformRegisterRPCCallback", location, body) }
}

/// `olQueryQueue`: Tells, without waiting, whether a queue's work is done.
///
/// # Safety
///
/// As [`Api::query_queue`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn query_queue<A: Api>(
    queue: ol_queue_handle_t,
    is_queue_work_completed: *mut bool,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olQueryQueue")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.query_queue(queue, is_queue_work_completed) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            // SAFETY: the caller says so.
            unsafe { list.output("IsQueueWorkCompleted", is_queue_work_completed.cast::<Bool>()) };
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.elements(Access::Out, is_queue_work_completed, 1);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olQueryQueue", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olQueryQueue", location, body) }
}

/// `olShutDown`: Undoes one call of olInit.
///
/// # Safety
///
/// As [`Api::shut_down`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn shut_down<A: Api>(location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olShutDown")?;
        // SAFETY: the caller says so.
        unsafe { api.shut_down() }
    };
    if is_watched::<A>() {
        let arguments = |_: &mut crate::runtime::trace::Arguments| {};
        let recorded = |_: &mut crate::runtime::record::Arguments| {};
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olShutDown", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olShutDown", location, body) }
}

/// `olSyncEvent`: Waits until an event is complete.
///
/// # Safety
///
/// As [`Api::sync_event`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn sync_event<A: Api>(event: ol_event_handle_t, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olSyncEvent")?;
        if check::enabled() {
            check::refuse_if(event.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Event must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Event, event.cast()), HandleKind::Event, ol_errc_t::OL_ERRC_INVALID_EVENT, "Event")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.sync_event(event) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Event", &event);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(event.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olSyncEvent", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olSyncEvent", location, body) }
}

/// `olSyncQueue`: Waits until a queue's work is done.
///
/// # Safety
///
/// As [`Api::sync_queue`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn sync_queue<A: Api>(queue: ol_queue_handle_t, location: *const ol_code_location_t) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olSyncQueue")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
        }
        // SAFETY: the caller says so.
        unsafe { api.sync_queue(queue) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olSyncQueue", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olSyncQueue", location, body) }
}

/// `olWaitEvents`: Has later work of a queue wait for events.
///
/// # Safety
///
/// As [`Api::wait_events`]. `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn wait_events<A: Api>(
    queue: ol_queue_handle_t,
    events: *mut ol_event_handle_t,
    num_events: usize,
    location: *const ol_code_location_t,
) -> ol_result_t {
    let body = move || {
        let api = A::instance();
        check::initialized(api.is_initialized(), "olWaitEvents")?;
        if check::enabled() {
            check::refuse_if(queue.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "Queue must not be NULL")?;
            check::refuse_if(events.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Events must not be NULL")?;
            check::handle(api.handle_state(HandleKind::Queue, queue.cast()), HandleKind::Queue, ol_errc_t::OL_ERRC_INVALID_QUEUE, "Queue")?;
            if !events.is_null() {
                for index in check::range(0, num_events.number()) {
                    // SAFETY: the caller says that the array has this element.
                    let element = unsafe { events.add(index).read_unaligned() };
                    let check_element = || {
                        check::refuse_if(element.is_null(), ol_errc_t::OL_ERRC_INVALID_NULL_HANDLE, "a handle must not be NULL")?;
                        check::handle(
                            api.handle_state(HandleKind::Event, element.cast()),
                            HandleKind::Event,
                            ol_errc_t::OL_ERRC_INVALID_EVENT,
                            "Events",
                        )?;
                        Ok::<(), Error>(())
                    };
                    check::element(check_element(), "Events", index)?;
                }
            }
        }
        // SAFETY: the caller says so.
        unsafe { api.wait_events(queue, events, num_events) }
    };
    if is_watched::<A>() {
        let arguments = |list: &mut crate::runtime::trace::Arguments| {
            list.value("Queue", &queue);
            // SAFETY: the caller says so.
            unsafe { list.inputs("Events", events, check::range(0, num_events.number())) };
            list.value("NumEvents", &num_events);
        };
        let recorded = |list: &mut crate::runtime::record::Arguments| {
            list.handle(queue.cast());
            list.array(Element::Handle, events.cast(), check::range(0, num_events.number()).end);
            list.number(num_events as u64);
        };
        // SAFETY: the caller says so.
        return unsafe { watched::<A>("olWaitEvents", location, body, arguments, recorded) };
    }
    // SAFETY: the caller says so.
    unsafe { call("olWaitEvents", location, body) }
}

/// Defines the C functions of the API over an implementation: a type that implements [`Api`](crate::Api).
///
/// Once per library or program: the functions have their C names.
#[macro_export]
macro_rules! export_entry_points {
    ($implementation:ty) => {
        const _: () = {
            #[allow(unused_imports, reason = "not every API uses both")]
            use ::std::ffi::{c_char, c_void};
            use $crate::sys::*;
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCalculateOptimalOccupancy(
                device: ol_device_handle_t,
                kernel: ol_symbol_handle_t,
                shared_memory: usize,
                group_size: *mut usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::calculate_optimal_occupancy::<$implementation>(
                        device,
                        kernel,
                        shared_memory,
                        group_size,
                        ::std::ptr::null(),
                    )
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCalculateOptimalOccupancyWithCodeLoc(
                device: ol_device_handle_t,
                kernel: ol_symbol_handle_t,
                shared_memory: usize,
                group_size: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::calculate_optimal_occupancy::<$implementation>(device, kernel, shared_memory, group_size, location)
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCreateEvent(
                queue: ol_queue_handle_t,
                flags: ol_event_flags_t,
                event: *mut ol_event_handle_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::create_event::<$implementation>(queue, flags, event, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCreateEventWithCodeLoc(
                queue: ol_queue_handle_t,
                flags: ol_event_flags_t,
                event: *mut ol_event_handle_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::create_event::<$implementation>(queue, flags, event, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCreateProgram(
                device: ol_device_handle_t,
                prog_data: *const c_void,
                prog_data_size: usize,
                program: *mut ol_program_handle_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::create_program::<$implementation>(device, prog_data, prog_data_size, program, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCreateProgramWithCodeLoc(
                device: ol_device_handle_t,
                prog_data: *const c_void,
                prog_data_size: usize,
                program: *mut ol_program_handle_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::create_program::<$implementation>(device, prog_data, prog_data_size, program, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCreateQueue(device: ol_device_handle_t, queue: *mut ol_queue_handle_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::create_queue::<$implementation>(device, queue, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olCreateQueueWithCodeLoc(
                device: ol_device_handle_t,
                queue: *mut ol_queue_handle_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::create_queue::<$implementation>(device, queue, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olDestroyEvent(event: ol_event_handle_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::destroy_event::<$implementation>(event, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olDestroyEventWithCodeLoc(event: ol_event_handle_t, location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::destroy_event::<$implementation>(event, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olDestroyProgram(program: ol_program_handle_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::destroy_program::<$implementation>(program, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olDestroyProgramWithCodeLoc(
                program: ol_program_handle_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::destroy_program::<$implementation>(program, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olDestroyQueue(queue: ol_queue_handle_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::destroy_queue::<$implementation>(queue, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olDestroyQueueWithCodeLoc(queue: ol_queue_handle_t, location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::destroy_queue::<$implementation>(queue, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetDeviceInfo(
                device: ol_device_handle_t,
                prop_name: ol_device_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_device_info::<$implementation>(device, prop_name, prop_size, prop_value, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetDeviceInfoWithCodeLoc(
                device: ol_device_handle_t,
                prop_name: ol_device_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_device_info::<$implementation>(device, prop_name, prop_size, prop_value, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetDeviceInfoSize(
                device: ol_device_handle_t,
                prop_name: ol_device_info_t,
                prop_size_ret: *mut usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_device_info_size::<$implementation>(device, prop_name, prop_size_ret, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetDeviceInfoSizeWithCodeLoc(
                device: ol_device_handle_t,
                prop_name: ol_device_info_t,
                prop_size_ret: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_device_info_size::<$implementation>(device, prop_name, prop_size_ret, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetEventElapsedTime(
                start_event: ol_event_handle_t,
                end_event: ol_event_handle_t,
                elapsed_time: *mut f32,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::get_event_elapsed_time::<$implementation>(start_event, end_event, elapsed_time, ::std::ptr::null())
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetEventElapsedTimeWithCodeLoc(
                start_event: ol_event_handle_t,
                end_event: ol_event_handle_t,
                elapsed_time: *mut f32,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_event_elapsed_time::<$implementation>(start_event, end_event, elapsed_time, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetEventInfo(
                event: ol_event_handle_t,
                prop_name: ol_event_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_event_info::<$implementation>(event, prop_name, prop_size, prop_value, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetEventInfoWithCodeLoc(
                event: ol_event_handle_t,
                prop_name: ol_event_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_event_info::<$implementation>(event, prop_name, prop_size, prop_value, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetEventInfoSize(
                event: ol_event_handle_t,
                prop_name: ol_event_info_t,
                prop_size_ret: *mut usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_event_info_size::<$implementation>(event, prop_name, prop_size_ret, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetEventInfoSizeWithCodeLoc(
                event: ol_event_handle_t,
                prop_name: ol_event_info_t,
                prop_size_ret: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_event_info_size::<$implementation>(event, prop_name, prop_size_ret, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetKernelMaxCooperativeGroupCount(
                device: ol_device_handle_t,
                kernel: ol_symbol_handle_t,
                launch_size_args: *const ol_kernel_launch_size_args_t,
                max_group_count: *mut u32,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::get_kernel_max_cooperative_group_count::<$implementation>(
                        device,
                        kernel,
                        launch_size_args,
                        max_group_count,
                        ::std::ptr::null(),
                    )
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetKernelMaxCooperativeGroupCountWithCodeLoc(
                device: ol_device_handle_t,
                kernel: ol_symbol_handle_t,
                launch_size_args: *const ol_kernel_launch_size_args_t,
                max_group_count: *mut u32,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::get_kernel_max_cooperative_group_count::<$implementation>(
                        device,
                        kernel,
                        launch_size_args,
                        max_group_count,
                        location,
                    )
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetMemInfo(
                ptr: *const c_void,
                prop_name: ol_mem_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_mem_info::<$implementation>(ptr, prop_name, prop_size, prop_value, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetMemInfoWithCodeLoc(
                ptr: *const c_void,
                prop_name: ol_mem_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_mem_info::<$implementation>(ptr, prop_name, prop_size, prop_value, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetMemInfoSize(ptr: *const c_void, prop_name: ol_mem_info_t, prop_size_ret: *mut usize) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_mem_info_size::<$implementation>(ptr, prop_name, prop_size_ret, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetMemInfoSizeWithCodeLoc(
                ptr: *const c_void,
                prop_name: ol_mem_info_t,
                prop_size_ret: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_mem_info_size::<$implementation>(ptr, prop_name, prop_size_ret, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetPlatformInfo(
                platform: ol_platform_handle_t,
                prop_name: ol_platform_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::get_platform_info::<$implementation>(platform, prop_name, prop_size, prop_value, ::std::ptr::null())
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetPlatformInfoWithCodeLoc(
                platform: ol_platform_handle_t,
                prop_name: ol_platform_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_platform_info::<$implementation>(platform, prop_name, prop_size, prop_value, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetPlatformInfoSize(
                platform: ol_platform_handle_t,
                prop_name: ol_platform_info_t,
                prop_size_ret: *mut usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_platform_info_size::<$implementation>(platform, prop_name, prop_size_ret, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetPlatformInfoSizeWithCodeLoc(
                platform: ol_platform_handle_t,
                prop_name: ol_platform_info_t,
                prop_size_ret: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_platform_info_size::<$implementation>(platform, prop_name, prop_size_ret, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetQueueInfo(
                queue: ol_queue_handle_t,
                prop_name: ol_queue_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_queue_info::<$implementation>(queue, prop_name, prop_size, prop_value, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetQueueInfoWithCodeLoc(
                queue: ol_queue_handle_t,
                prop_name: ol_queue_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_queue_info::<$implementation>(queue, prop_name, prop_size, prop_value, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetQueueInfoSize(
                queue: ol_queue_handle_t,
                prop_name: ol_queue_info_t,
                prop_size_ret: *mut usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_queue_info_size::<$implementation>(queue, prop_name, prop_size_ret, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetQueueInfoSizeWithCodeLoc(
                queue: ol_queue_handle_t,
                prop_name: ol_queue_info_t,
                prop_size_ret: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_queue_info_size::<$implementation>(queue, prop_name, prop_size_ret, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetSymbol(
                program: ol_program_handle_t,
                name: *const c_char,
                kind: ol_symbol_kind_t,
                symbol: *mut ol_symbol_handle_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_symbol::<$implementation>(program, name, kind, symbol, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetSymbolWithCodeLoc(
                program: ol_program_handle_t,
                name: *const c_char,
                kind: ol_symbol_kind_t,
                symbol: *mut ol_symbol_handle_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_symbol::<$implementation>(program, name, kind, symbol, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetSymbolInfo(
                symbol: ol_symbol_handle_t,
                prop_name: ol_symbol_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_symbol_info::<$implementation>(symbol, prop_name, prop_size, prop_value, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetSymbolInfoWithCodeLoc(
                symbol: ol_symbol_handle_t,
                prop_name: ol_symbol_info_t,
                prop_size: usize,
                prop_value: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_symbol_info::<$implementation>(symbol, prop_name, prop_size, prop_value, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetSymbolInfoSize(
                symbol: ol_symbol_handle_t,
                prop_name: ol_symbol_info_t,
                prop_size_ret: *mut usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_symbol_info_size::<$implementation>(symbol, prop_name, prop_size_ret, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olGetSymbolInfoSizeWithCodeLoc(
                symbol: ol_symbol_handle_t,
                prop_name: ol_symbol_info_t,
                prop_size_ret: *mut usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::get_symbol_info_size::<$implementation>(symbol, prop_name, prop_size_ret, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olInit(init_args: *const ol_init_args_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::init::<$implementation>(init_args, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olInitWithCodeLoc(init_args: *const ol_init_args_t, location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::init::<$implementation>(init_args, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olIsValidBinary(
                device: ol_device_handle_t,
                prog_data: *const c_void,
                prog_data_size: usize,
                valid: *mut bool,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::is_valid_binary::<$implementation>(device, prog_data, prog_data_size, valid, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olIsValidBinaryWithCodeLoc(
                device: ol_device_handle_t,
                prog_data: *const c_void,
                prog_data_size: usize,
                valid: *mut bool,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::is_valid_binary::<$implementation>(device, prog_data, prog_data_size, valid, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olIterateDevices(callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::iterate_devices::<$implementation>(callback, user_data, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olIterateDevicesWithCodeLoc(
                callback: ol_device_iterate_cb_t,
                user_data: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::iterate_devices::<$implementation>(callback, user_data, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olLaunchHostFunction(
                queue: ol_queue_handle_t,
                callback: ol_host_function_cb_t,
                user_data: *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::launch_host_function::<$implementation>(queue, callback, user_data, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olLaunchHostFunctionWithCodeLoc(
                queue: ol_queue_handle_t,
                callback: ol_host_function_cb_t,
                user_data: *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::launch_host_function::<$implementation>(queue, callback, user_data, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olLaunchKernel(
                queue: ol_queue_handle_t,
                device: ol_device_handle_t,
                kernel: ol_symbol_handle_t,
                launch_size_args: *const ol_kernel_launch_size_args_t,
                properties: *const ol_kernel_launch_prop_t,
                num_args: usize,
                arg_ptrs: *mut *mut c_void,
                arg_sizes: *const usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::launch_kernel::<$implementation>(
                        queue,
                        device,
                        kernel,
                        launch_size_args,
                        properties,
                        num_args,
                        arg_ptrs,
                        arg_sizes,
                        ::std::ptr::null(),
                    )
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olLaunchKernelWithCodeLoc(
                queue: ol_queue_handle_t,
                device: ol_device_handle_t,
                kernel: ol_symbol_handle_t,
                launch_size_args: *const ol_kernel_launch_size_args_t,
                properties: *const ol_kernel_launch_prop_t,
                num_args: usize,
                arg_ptrs: *mut *mut c_void,
                arg_sizes: *const usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::launch_kernel::<$implementation>(
                        queue,
                        device,
                        kernel,
                        launch_size_args,
                        properties,
                        num_args,
                        arg_ptrs,
                        arg_sizes,
                        location,
                    )
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemAlloc(
                device: ol_device_handle_t,
                r#type: ol_alloc_type_t,
                size: usize,
                allocation_out: *mut *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_alloc::<$implementation>(device, r#type, size, allocation_out, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemAllocWithCodeLoc(
                device: ol_device_handle_t,
                r#type: ol_alloc_type_t,
                size: usize,
                allocation_out: *mut *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_alloc::<$implementation>(device, r#type, size, allocation_out, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemAllocAligned(
                device: ol_device_handle_t,
                r#type: ol_alloc_type_t,
                size: usize,
                alignment: usize,
                allocation_out: *mut *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::mem_alloc_aligned::<$implementation>(device, r#type, size, alignment, allocation_out, ::std::ptr::null())
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemAllocAlignedWithCodeLoc(
                device: ol_device_handle_t,
                r#type: ol_alloc_type_t,
                size: usize,
                alignment: usize,
                allocation_out: *mut *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_alloc_aligned::<$implementation>(device, r#type, size, alignment, allocation_out, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemFill(
                queue: ol_queue_handle_t,
                ptr: *mut c_void,
                pattern_size: usize,
                pattern_ptr: *const c_void,
                fill_size: usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_fill::<$implementation>(queue, ptr, pattern_size, pattern_ptr, fill_size, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemFillWithCodeLoc(
                queue: ol_queue_handle_t,
                ptr: *mut c_void,
                pattern_size: usize,
                pattern_ptr: *const c_void,
                fill_size: usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_fill::<$implementation>(queue, ptr, pattern_size, pattern_ptr, fill_size, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemFree(address: *mut c_void) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_free::<$implementation>(address, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemFreeWithCodeLoc(address: *mut c_void, location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_free::<$implementation>(address, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemPrefetch(
                queue: ol_queue_handle_t,
                count: usize,
                mems: *mut *const c_void,
                sizes: *const usize,
                flags: ol_mem_migration_flags_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_prefetch::<$implementation>(queue, count, mems, sizes, flags, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemPrefetchWithCodeLoc(
                queue: ol_queue_handle_t,
                count: usize,
                mems: *mut *const c_void,
                sizes: *const usize,
                flags: ol_mem_migration_flags_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_prefetch::<$implementation>(queue, count, mems, sizes, flags, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemRegister(
                device: ol_device_handle_t,
                ptr: *mut c_void,
                size: usize,
                flags: ol_memory_register_flags_t,
                pinned_ptr: *mut *mut c_void,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_register::<$implementation>(device, ptr, size, flags, pinned_ptr, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemRegisterWithCodeLoc(
                device: ol_device_handle_t,
                ptr: *mut c_void,
                size: usize,
                flags: ol_memory_register_flags_t,
                pinned_ptr: *mut *mut c_void,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_register::<$implementation>(device, ptr, size, flags, pinned_ptr, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemUnregister(
                device: ol_device_handle_t,
                ptr: *mut c_void,
                flags: ol_memory_register_flags_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_unregister::<$implementation>(device, ptr, flags, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemUnregisterWithCodeLoc(
                device: ol_device_handle_t,
                ptr: *mut c_void,
                flags: ol_memory_register_flags_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::mem_unregister::<$implementation>(device, ptr, flags, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemcpy(
                queue: ol_queue_handle_t,
                dst_ptr: *mut c_void,
                dst_device: ol_device_handle_t,
                src_ptr: *const c_void,
                src_device: ol_device_handle_t,
                size: usize,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe {
                    $crate::entry::memcpy::<$implementation>(queue, dst_ptr, dst_device, src_ptr, src_device, size, ::std::ptr::null())
                }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olMemcpyWithCodeLoc(
                queue: ol_queue_handle_t,
                dst_ptr: *mut c_void,
                dst_device: ol_device_handle_t,
                src_ptr: *const c_void,
                src_device: ol_device_handle_t,
                size: usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::memcpy::<$implementation>(queue, dst_ptr, dst_device, src_ptr, src_device, size, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olPlatformRegisterRPCCallback(
                platform: ol_platform_handle_t,
                callback: ol_platform_rpc_cb_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::platform_register_rpc_callback::<$implementation>(platform, callback, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olPlatformRegisterRPCCallbackWithCodeLoc(
                platform: ol_platform_handle_t,
                callback: ol_platform_rpc_cb_t,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::platform_register_rpc_callback::<$implementation>(platform, callback, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olQueryQueue(queue: ol_queue_handle_t, is_queue_work_completed: *mut bool) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::query_queue::<$implementation>(queue, is_queue_work_completed, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olQueryQueueWithCodeLoc(
                queue: ol_queue_handle_t,
                is_queue_work_completed: *mut bool,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::query_queue::<$implementation>(queue, is_queue_work_completed, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olShutDown() -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::shut_down::<$implementation>(::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olShutDownWithCodeLoc(location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::shut_down::<$implementation>(location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olSyncEvent(event: ol_event_handle_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::sync_event::<$implementation>(event, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olSyncEventWithCodeLoc(event: ol_event_handle_t, location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::sync_event::<$implementation>(event, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olSyncQueue(queue: ol_queue_handle_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::sync_queue::<$implementation>(queue, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olSyncQueueWithCodeLoc(queue: ol_queue_handle_t, location: *mut ol_code_location_t) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::sync_queue::<$implementation>(queue, location) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olWaitEvents(queue: ol_queue_handle_t, events: *mut ol_event_handle_t, num_events: usize) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::wait_events::<$implementation>(queue, events, num_events, ::std::ptr::null()) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn olWaitEventsWithCodeLoc(
                queue: ol_queue_handle_t,
                events: *mut ol_event_handle_t,
                num_events: usize,
                location: *mut ol_code_location_t,
            ) -> ol_result_t {
                // SAFETY: the caller of the C function says so.
                unsafe { $crate::entry::wait_events::<$implementation>(queue, events, num_events, location) }
            }
        };
    };
}

//! Calls of the entry points by name.
//!
//! Made from OffloadAPI.td (LLVM 23) by offload-tblgen --gen-rust-replay; change that, not this file.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, reason = "names are those of the C API")]

use std::ptr;

use super::api::Api;
use super::entry;
use super::sys::*;

/// What is passed where the caller passed a function of its own.
#[derive(Clone, Copy, Debug)]
pub struct Callbacks {
    /// For every function of this type.
    pub ol_device_iterate_cb_t: ol_device_iterate_cb_t,
    /// For every function of this type.
    pub ol_host_function_cb_t: ol_host_function_cb_t,
    /// For every function of this type.
    pub ol_platform_rpc_cb_t: ol_platform_rpc_cb_t,
}

/// Calls the entry point of this name, each argument as a machine word (numbers as their bits, callbacks as whether there is one).
/// `None`: there is no such function, or it has another number of arguments.
///
/// # Safety
///
/// What the function's own documentation says of its arguments.
pub unsafe fn replay<A: Api>(name: &str, arguments: &[u64], callbacks: &Callbacks) -> Option<ol_result_t> {
    // SAFETY: the caller says so, for each of them.
    Some(unsafe {
        match (name, arguments) {
            ("olCalculateOptimalOccupancy", &[device, kernel, shared_memory, group_size]) => entry::calculate_optimal_occupancy::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ptr::with_exposed_provenance_mut(kernel as usize),
                shared_memory as usize,
                ptr::with_exposed_provenance_mut(group_size as usize),
                ptr::null(),
            ),
            ("olCreateEvent", &[queue, flags, event]) => entry::create_event::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ol_event_flags_t(flags as _),
                ptr::with_exposed_provenance_mut(event as usize),
                ptr::null(),
            ),
            ("olCreateProgram", &[device, prog_data, prog_data_size, program]) => entry::create_program::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ptr::with_exposed_provenance_mut(prog_data as usize),
                prog_data_size as usize,
                ptr::with_exposed_provenance_mut(program as usize),
                ptr::null(),
            ),
            ("olCreateQueue", &[device, queue]) => entry::create_queue::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ptr::with_exposed_provenance_mut(queue as usize),
                ptr::null(),
            ),
            ("olDestroyEvent", &[event]) => entry::destroy_event::<A>(ptr::with_exposed_provenance_mut(event as usize), ptr::null()),
            ("olDestroyProgram", &[program]) => {
                entry::destroy_program::<A>(ptr::with_exposed_provenance_mut(program as usize), ptr::null())
            }
            ("olDestroyQueue", &[queue]) => entry::destroy_queue::<A>(ptr::with_exposed_provenance_mut(queue as usize), ptr::null()),
            ("olGetDeviceInfo", &[device, prop_name, prop_size, prop_value]) => entry::get_device_info::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ol_device_info_t(prop_name as _),
                prop_size as usize,
                ptr::with_exposed_provenance_mut(prop_value as usize),
                ptr::null(),
            ),
            ("olGetDeviceInfoSize", &[device, prop_name, prop_size_ret]) => entry::get_device_info_size::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ol_device_info_t(prop_name as _),
                ptr::with_exposed_provenance_mut(prop_size_ret as usize),
                ptr::null(),
            ),
            ("olGetEventElapsedTime", &[start_event, end_event, elapsed_time]) => entry::get_event_elapsed_time::<A>(
                ptr::with_exposed_provenance_mut(start_event as usize),
                ptr::with_exposed_provenance_mut(end_event as usize),
                ptr::with_exposed_provenance_mut(elapsed_time as usize),
                ptr::null(),
            ),
            ("olGetEventInfo", &[event, prop_name, prop_size, prop_value]) => entry::get_event_info::<A>(
                ptr::with_exposed_provenance_mut(event as usize),
                ol_event_info_t(prop_name as _),
                prop_size as usize,
                ptr::with_exposed_provenance_mut(prop_value as usize),
                ptr::null(),
            ),
            ("olGetEventInfoSize", &[event, prop_name, prop_size_ret]) => entry::get_event_info_size::<A>(
                ptr::with_exposed_provenance_mut(event as usize),
                ol_event_info_t(prop_name as _),
                ptr::with_exposed_provenance_mut(prop_size_ret as usize),
                ptr::null(),
            ),
            ("olGetKernelMaxCooperativeGroupCount", &[device, kernel, launch_size_args, max_group_count]) => {
                entry::get_kernel_max_cooperative_group_count::<A>(
                    ptr::with_exposed_provenance_mut(device as usize),
                    ptr::with_exposed_provenance_mut(kernel as usize),
                    ptr::with_exposed_provenance_mut(launch_size_args as usize),
                    ptr::with_exposed_provenance_mut(max_group_count as usize),
                    ptr::null(),
                )
            }
            ("olGetMemInfo", &[ptr, prop_name, prop_size, prop_value]) => entry::get_mem_info::<A>(
                ptr::with_exposed_provenance_mut(ptr as usize),
                ol_mem_info_t(prop_name as _),
                prop_size as usize,
                ptr::with_exposed_provenance_mut(prop_value as usize),
                ptr::null(),
            ),
            ("olGetMemInfoSize", &[ptr, prop_name, prop_size_ret]) => entry::get_mem_info_size::<A>(
                ptr::with_exposed_provenance_mut(ptr as usize),
                ol_mem_info_t(prop_name as _),
                ptr::with_exposed_provenance_mut(prop_size_ret as usize),
                ptr::null(),
            ),
            ("olGetPlatformInfo", &[platform, prop_name, prop_size, prop_value]) => entry::get_platform_info::<A>(
                ptr::with_exposed_provenance_mut(platform as usize),
                ol_platform_info_t(prop_name as _),
                prop_size as usize,
                ptr::with_exposed_provenance_mut(prop_value as usize),
                ptr::null(),
            ),
            ("olGetPlatformInfoSize", &[platform, prop_name, prop_size_ret]) => entry::get_platform_info_size::<A>(
                ptr::with_exposed_provenance_mut(platform as usize),
                ol_platform_info_t(prop_name as _),
                ptr::with_exposed_provenance_mut(prop_size_ret as usize),
                ptr::null(),
            ),
            ("olGetQueueInfo", &[queue, prop_name, prop_size, prop_value]) => entry::get_queue_info::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ol_queue_info_t(prop_name as _),
                prop_size as usize,
                ptr::with_exposed_provenance_mut(prop_value as usize),
                ptr::null(),
            ),
            ("olGetQueueInfoSize", &[queue, prop_name, prop_size_ret]) => entry::get_queue_info_size::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ol_queue_info_t(prop_name as _),
                ptr::with_exposed_provenance_mut(prop_size_ret as usize),
                ptr::null(),
            ),
            ("olGetSymbol", &[program, name, kind, symbol]) => entry::get_symbol::<A>(
                ptr::with_exposed_provenance_mut(program as usize),
                ptr::with_exposed_provenance_mut(name as usize),
                ol_symbol_kind_t(kind as _),
                ptr::with_exposed_provenance_mut(symbol as usize),
                ptr::null(),
            ),
            ("olGetSymbolInfo", &[symbol, prop_name, prop_size, prop_value]) => entry::get_symbol_info::<A>(
                ptr::with_exposed_provenance_mut(symbol as usize),
                ol_symbol_info_t(prop_name as _),
                prop_size as usize,
                ptr::with_exposed_provenance_mut(prop_value as usize),
                ptr::null(),
            ),
            ("olGetSymbolInfoSize", &[symbol, prop_name, prop_size_ret]) => entry::get_symbol_info_size::<A>(
                ptr::with_exposed_provenance_mut(symbol as usize),
                ol_symbol_info_t(prop_name as _),
                ptr::with_exposed_provenance_mut(prop_size_ret as usize),
                ptr::null(),
            ),
            ("olInit", &[init_args]) => entry::init::<A>(ptr::with_exposed_provenance_mut(init_args as usize), ptr::null()),
            ("olIsValidBinary", &[device, prog_data, prog_data_size, valid]) => entry::is_valid_binary::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ptr::with_exposed_provenance_mut(prog_data as usize),
                prog_data_size as usize,
                ptr::with_exposed_provenance_mut(valid as usize),
                ptr::null(),
            ),
            ("olIterateDevices", &[callback, user_data]) => entry::iterate_devices::<A>(
                if callback == 0 { None } else { callbacks.ol_device_iterate_cb_t },
                ptr::with_exposed_provenance_mut(user_data as usize),
                ptr::null(),
            ),
            ("olLaunchHostFunction", &[queue, callback, user_data]) => entry::launch_host_function::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                if callback == 0 { None } else { callbacks.ol_host_function_cb_t },
                ptr::with_exposed_provenance_mut(user_data as usize),
                ptr::null(),
            ),
            ("olLaunchKernel", &[queue, device, kernel, launch_size_args, properties, num_args, arg_ptrs, arg_sizes]) => {
                entry::launch_kernel::<A>(
                    ptr::with_exposed_provenance_mut(queue as usize),
                    ptr::with_exposed_provenance_mut(device as usize),
                    ptr::with_exposed_provenance_mut(kernel as usize),
                    ptr::with_exposed_provenance_mut(launch_size_args as usize),
                    ptr::with_exposed_provenance_mut(properties as usize),
                    num_args as usize,
                    ptr::with_exposed_provenance_mut(arg_ptrs as usize),
                    ptr::with_exposed_provenance_mut(arg_sizes as usize),
                    ptr::null(),
                )
            }
            ("olMemAlloc", &[device, r#type, size, allocation_out]) => entry::mem_alloc::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ol_alloc_type_t(r#type as _),
                size as usize,
                ptr::with_exposed_provenance_mut(allocation_out as usize),
                ptr::null(),
            ),
            ("olMemAllocAligned", &[device, r#type, size, alignment, allocation_out]) => entry::mem_alloc_aligned::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ol_alloc_type_t(r#type as _),
                size as usize,
                alignment as usize,
                ptr::with_exposed_provenance_mut(allocation_out as usize),
                ptr::null(),
            ),
            ("olMemFill", &[queue, ptr, pattern_size, pattern_ptr, fill_size]) => entry::mem_fill::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ptr::with_exposed_provenance_mut(ptr as usize),
                pattern_size as usize,
                ptr::with_exposed_provenance_mut(pattern_ptr as usize),
                fill_size as usize,
                ptr::null(),
            ),
            ("olMemFree", &[address]) => entry::mem_free::<A>(ptr::with_exposed_provenance_mut(address as usize), ptr::null()),
            ("olMemPrefetch", &[queue, count, mems, sizes, flags]) => entry::mem_prefetch::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                count as usize,
                ptr::with_exposed_provenance_mut(mems as usize),
                ptr::with_exposed_provenance_mut(sizes as usize),
                flags as u32,
                ptr::null(),
            ),
            ("olMemRegister", &[device, ptr, size, flags, pinned_ptr]) => entry::mem_register::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ptr::with_exposed_provenance_mut(ptr as usize),
                size as usize,
                flags as u32,
                ptr::with_exposed_provenance_mut(pinned_ptr as usize),
                ptr::null(),
            ),
            ("olMemUnregister", &[device, ptr, flags]) => entry::mem_unregister::<A>(
                ptr::with_exposed_provenance_mut(device as usize),
                ptr::with_exposed_provenance_mut(ptr as usize),
                flags as u32,
                ptr::null(),
            ),
            ("olMemcpy", &[queue, dst_ptr, dst_device, src_ptr, src_device, size]) => entry::memcpy::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ptr::with_exposed_provenance_mut(dst_ptr as usize),
                ptr::with_exposed_provenance_mut(dst_device as usize),
                ptr::with_exposed_provenance_mut(src_ptr as usize),
                ptr::with_exposed_provenance_mut(src_device as usize),
                size as usize,
                ptr::null(),
            ),
            ("olPlatformRegisterRPCCallback", &[platform, callback]) => entry::platform_register_rpc_callback::<A>(
                ptr::with_exposed_provenance_mut(platform as usize),
                if callback == 0 { None } else { callbacks.ol_platform_rpc_cb_t },
                ptr::null(),
            ),
            ("olQueryQueue", &[queue, is_queue_work_completed]) => entry::query_queue::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ptr::with_exposed_provenance_mut(is_queue_work_completed as usize),
                ptr::null(),
            ),
            ("olShutDown", &[]) => entry::shut_down::<A>(ptr::null()),
            ("olSyncEvent", &[event]) => entry::sync_event::<A>(ptr::with_exposed_provenance_mut(event as usize), ptr::null()),
            ("olSyncQueue", &[queue]) => entry::sync_queue::<A>(ptr::with_exposed_provenance_mut(queue as usize), ptr::null()),
            ("olWaitEvents", &[queue, events, num_events]) => entry::wait_events::<A>(
                ptr::with_exposed_provenance_mut(queue as usize),
                ptr::with_exposed_provenance_mut(events as usize),
                num_events as usize,
                ptr::null(),
            ),
            _ => return None,
        }
    })
}

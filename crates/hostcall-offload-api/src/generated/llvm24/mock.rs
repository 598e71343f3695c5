//! An implementation of the API for tests.
//!
//! By itself it makes and destroys handles and writes zeros where a function writes; [hooks](Hook) before, instead of and after each
//! function do the rest, and [`Faults`] make calls fail. Through `export_entry_points!(Mock)` it is a C library.
//!
//! Made from OffloadAPI.td (LLVM 24) by offload-tblgen --gen-mock; change that, not this file.

#![allow(clippy::too_many_arguments, reason = "a function has as many as its definition says")]

use std::ffi::{c_char, c_void};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::api::{Api, HandleKind};
use super::sys::*;
use crate::runtime::mock::{self, Faults, Hook};
use crate::runtime::{Error, HandleState, HandleTable};

/// The arguments of a call of `olCalculateOptimalOccupancy`.
#[derive(Clone, Copy, Debug)]
pub struct CalculateOptimalOccupancy {
    /// the device
    pub device: ol_device_handle_t,
    /// the kernel
    pub kernel: ol_symbol_handle_t,
    /// how many bytes of local memory each work item needs besides what the kernel declares
    pub shared_memory: usize,
    /// receives the number of work items
    pub group_size: *mut usize,
}

/// The arguments of a call of `olCreateContext`.
#[derive(Clone, Copy, Debug)]
pub struct CreateContext {
    /// how many devices there are
    pub devices_count: usize,
    /// the devices
    pub devices: *mut ol_device_handle_t,
    /// receives the context
    pub context: *mut ol_context_handle_t,
}

/// The arguments of a call of `olCreateEvent`.
#[derive(Clone, Copy, Debug)]
pub struct CreateEvent {
    /// the queue
    pub queue: ol_queue_handle_t,
    /// what the event is for
    pub flags: ol_event_flags_t,
    /// receives the event
    pub event: *mut ol_event_handle_t,
}

/// The arguments of a call of `olCreateProgram`.
#[derive(Clone, Copy, Debug)]
pub struct CreateProgram {
    /// the context
    pub context: ol_context_handle_t,
    /// the device
    pub device: ol_device_handle_t,
    /// the image
    pub prog_data: *const c_void,
    /// how many bytes it has
    pub prog_data_size: usize,
    /// receives the program
    pub program: *mut ol_program_handle_t,
}

/// The arguments of a call of `olCreateQueue`.
#[derive(Clone, Copy, Debug)]
pub struct CreateQueue {
    /// the context
    pub context: ol_context_handle_t,
    /// the device that will do the queue's work
    pub device: ol_device_handle_t,
    /// receives the queue
    pub queue: *mut ol_queue_handle_t,
}

/// The arguments of a call of `olDestroyContext`.
#[derive(Clone, Copy, Debug)]
pub struct DestroyContext {
    /// the context, which must not be used again
    pub context: ol_context_handle_t,
}

/// The arguments of a call of `olDestroyEvent`.
#[derive(Clone, Copy, Debug)]
pub struct DestroyEvent {
    /// the event, which must not be used again
    pub event: ol_event_handle_t,
}

/// The arguments of a call of `olDestroyProgram`.
#[derive(Clone, Copy, Debug)]
pub struct DestroyProgram {
    /// the program, which must not be used again
    pub program: ol_program_handle_t,
}

/// The arguments of a call of `olDestroyQueue`.
#[derive(Clone, Copy, Debug)]
pub struct DestroyQueue {
    /// the queue, which must not be used again
    pub queue: ol_queue_handle_t,
}

/// The arguments of a call of `olGetContextInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetContextInfo {
    /// the context
    pub context: ol_context_handle_t,
    /// the property
    pub prop_name: ol_context_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetContextInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetContextInfoSize {
    /// the context
    pub context: ol_context_handle_t,
    /// the property
    pub prop_name: ol_context_info_t,
    /// receives the size in bytes
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olGetDeviceInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetDeviceInfo {
    /// the device
    pub device: ol_device_handle_t,
    /// the property
    pub prop_name: ol_device_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetDeviceInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetDeviceInfoSize {
    /// the device
    pub device: ol_device_handle_t,
    /// the property
    pub prop_name: ol_device_info_t,
    /// receives the size in bytes; that of a text includes its terminating zero
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olGetEventElapsedTime`.
#[derive(Clone, Copy, Debug)]
pub struct GetEventElapsedTime {
    /// the earlier event
    pub start_event: ol_event_handle_t,
    /// the later event
    pub end_event: ol_event_handle_t,
    /// receives the time in milliseconds
    pub elapsed_time: *mut f32,
}

/// The arguments of a call of `olGetEventInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetEventInfo {
    /// the event
    pub event: ol_event_handle_t,
    /// the property
    pub prop_name: ol_event_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetEventInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetEventInfoSize {
    /// the event
    pub event: ol_event_handle_t,
    /// the property
    pub prop_name: ol_event_info_t,
    /// receives the size in bytes
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olGetKernelMaxCooperativeGroupCount`.
#[derive(Clone, Copy, Debug)]
pub struct GetKernelMaxCooperativeGroupCount {
    /// the device
    pub device: ol_device_handle_t,
    /// the kernel
    pub kernel: ol_symbol_handle_t,
    /// how large a work group is; the number of groups does not matter
    pub launch_size_args: *const ol_kernel_launch_size_args_t,
    /// receives the number of work groups
    pub max_group_count: *mut u32,
}

/// The arguments of a call of `olGetMemInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetMemInfo {
    /// the context
    pub context: ol_context_handle_t,
    /// an address in the allocation
    pub ptr: *const c_void,
    /// the property
    pub prop_name: ol_mem_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetMemInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetMemInfoSize {
    /// the context
    pub context: ol_context_handle_t,
    /// an address in the allocation
    pub ptr: *const c_void,
    /// the property
    pub prop_name: ol_mem_info_t,
    /// receives the size in bytes
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olGetPlatformInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetPlatformInfo {
    /// the platform
    pub platform: ol_platform_handle_t,
    /// the property
    pub prop_name: ol_platform_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetPlatformInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetPlatformInfoSize {
    /// the platform
    pub platform: ol_platform_handle_t,
    /// the property
    pub prop_name: ol_platform_info_t,
    /// receives the size in bytes; that of a text includes its terminating zero
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olGetQueueInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetQueueInfo {
    /// the queue
    pub queue: ol_queue_handle_t,
    /// the property
    pub prop_name: ol_queue_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetQueueInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetQueueInfoSize {
    /// the queue
    pub queue: ol_queue_handle_t,
    /// the property
    pub prop_name: ol_queue_info_t,
    /// receives the size in bytes
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olGetSymbol`.
#[derive(Clone, Copy, Debug)]
pub struct GetSymbol {
    /// the program
    pub program: ol_program_handle_t,
    /// the symbol's name
    pub name: *const c_char,
    /// its kind
    pub kind: ol_symbol_kind_t,
    /// receives the symbol
    pub symbol: *mut ol_symbol_handle_t,
}

/// The arguments of a call of `olGetSymbolInfo`.
#[derive(Clone, Copy, Debug)]
pub struct GetSymbolInfo {
    /// the symbol
    pub symbol: ol_symbol_handle_t,
    /// the property
    pub prop_name: ol_symbol_info_t,
    /// how many bytes PropValue has room for
    pub prop_size: usize,
    /// receives the property; not written when the call fails
    pub prop_value: *mut c_void,
}

/// The arguments of a call of `olGetSymbolInfoSize`.
#[derive(Clone, Copy, Debug)]
pub struct GetSymbolInfoSize {
    /// the symbol
    pub symbol: ol_symbol_handle_t,
    /// the property
    pub prop_name: ol_symbol_info_t,
    /// receives the size in bytes
    pub prop_size_ret: *mut usize,
}

/// The arguments of a call of `olInit`.
#[derive(Clone, Copy, Debug)]
pub struct Init {
    /// what to start; null for everything that is there
    pub init_args: *const ol_init_args_t,
}

/// The arguments of a call of `olIsValidBinary`.
#[derive(Clone, Copy, Debug)]
pub struct IsValidBinary {
    /// the device
    pub device: ol_device_handle_t,
    /// the image
    pub prog_data: *const c_void,
    /// how many bytes it has
    pub prog_data_size: usize,
    /// receives the answer
    pub valid: *mut bool,
}

/// The arguments of a call of `olIterateCompatibleDevices`.
#[derive(Clone, Copy, Debug)]
pub struct IterateCompatibleDevices {
    /// the image
    pub prog_data: *const c_void,
    /// how many bytes it has
    pub prog_data_size: usize,
    /// the function
    pub callback: ol_device_iterate_cb_t,
    /// handed to the function as it is
    pub user_data: *mut c_void,
}

/// The arguments of a call of `olIterateDevices`.
#[derive(Clone, Copy, Debug)]
pub struct IterateDevices {
    /// the function
    pub callback: ol_device_iterate_cb_t,
    /// handed to the function as it is
    pub user_data: *mut c_void,
}

/// The arguments of a call of `olIteratePlatforms`.
#[derive(Clone, Copy, Debug)]
pub struct IteratePlatforms {
    /// the function
    pub callback: ol_platform_iterate_cb_t,
    /// handed to the function as it is
    pub user_data: *mut c_void,
}

/// The arguments of a call of `olIterateSymbols`.
#[derive(Clone, Copy, Debug)]
pub struct IterateSymbols {
    /// the program
    pub program: ol_program_handle_t,
    /// the kind of symbols
    pub kind: ol_symbol_kind_t,
    /// the function
    pub callback: ol_symbol_iterate_cb_t,
    /// handed to the function as it is
    pub user_data: *mut c_void,
}

/// The arguments of a call of `olLaunchHostFunction`.
#[derive(Clone, Copy, Debug)]
pub struct LaunchHostFunction {
    /// the queue
    pub queue: ol_queue_handle_t,
    /// the function
    pub callback: ol_host_function_cb_t,
    /// handed to the function as it is
    pub user_data: *mut c_void,
}

/// The arguments of a call of `olLaunchKernel`.
#[derive(Clone, Copy, Debug)]
pub struct LaunchKernel {
    /// the queue, or null to wait for the kernel
    pub queue: ol_queue_handle_t,
    /// the device that runs the kernel
    pub device: ol_device_handle_t,
    /// the kernel
    pub kernel: ol_symbol_handle_t,
    /// how large the launch is
    pub launch_size_args: *const ol_kernel_launch_size_args_t,
    /// what else is said of the launch, ending with OL_KERNEL_LAUNCH_PROP_END
    pub properties: *const ol_kernel_launch_prop_t,
    /// how many arguments there are: as many as the kernel has
    pub num_args: usize,
    /// where each argument's value is; null if there are none
    pub arg_ptrs: *mut *mut c_void,
    /// how many bytes each argument has; null if there are none
    pub arg_sizes: *const usize,
}

/// The arguments of a call of `olMemAlloc`.
#[derive(Clone, Copy, Debug)]
pub struct MemAlloc {
    /// the context
    pub context: ol_context_handle_t,
    /// the device that the memory is for
    pub device: ol_device_handle_t,
    /// where the memory lies
    pub r#type: ol_alloc_type_t,
    /// how many bytes
    pub size: usize,
    /// receives the address
    pub allocation_out: *mut *mut c_void,
}

/// The arguments of a call of `olMemAllocAligned`.
#[derive(Clone, Copy, Debug)]
pub struct MemAllocAligned {
    /// the context
    pub context: ol_context_handle_t,
    /// the device that the memory is for
    pub device: ol_device_handle_t,
    /// where the memory lies
    pub r#type: ol_alloc_type_t,
    /// how many bytes
    pub size: usize,
    /// the alignment in bytes: a power of two
    pub alignment: usize,
    /// receives the address
    pub allocation_out: *mut *mut c_void,
}

/// The arguments of a call of `olMemAllocAlignedHost`.
#[derive(Clone, Copy, Debug)]
pub struct MemAllocAlignedHost {
    /// the context
    pub context: ol_context_handle_t,
    /// the device that the memory is for
    pub device: ol_device_handle_t,
    /// how many bytes
    pub size: usize,
    /// the alignment in bytes: a power of two
    pub alignment: usize,
    /// receives the address
    pub allocation_out: *mut *mut c_void,
}

/// The arguments of a call of `olMemAllocHost`.
#[derive(Clone, Copy, Debug)]
pub struct MemAllocHost {
    /// the context
    pub context: ol_context_handle_t,
    /// the device that the memory is for
    pub device: ol_device_handle_t,
    /// how many bytes
    pub size: usize,
    /// receives the address
    pub allocation_out: *mut *mut c_void,
}

/// The arguments of a call of `olMemFill`.
#[derive(Clone, Copy, Debug)]
pub struct MemFill {
    /// the queue, or null to wait for the fill
    pub queue: ol_queue_handle_t,
    /// the first byte to fill
    pub ptr: *mut c_void,
    /// how many bytes the pattern has
    pub pattern_size: usize,
    /// the pattern, in host memory
    pub pattern_ptr: *const c_void,
    /// how many bytes to fill: a multiple of PatternSize
    pub fill_size: usize,
}

/// The arguments of a call of `olMemFree`.
#[derive(Clone, Copy, Debug)]
pub struct MemFree {
    /// the context
    pub context: ol_context_handle_t,
    /// the address that the allocating call gave
    pub address: *mut c_void,
}

/// The arguments of a call of `olMemIsAccessible`.
#[derive(Clone, Copy, Debug)]
pub struct MemIsAccessible {
    /// the context
    pub context: ol_context_handle_t,
    /// the device
    pub device: ol_device_handle_t,
    /// the memory's first byte; it is not read
    pub ptr: *const c_void,
    /// how many bytes
    pub size: usize,
    /// receives the answer
    pub is_accessible: *mut bool,
}

/// The arguments of a call of `olMemPrefetch`.
#[derive(Clone, Copy, Debug)]
pub struct MemPrefetch {
    /// the queue in whose turn the memory migrates
    pub queue: ol_queue_handle_t,
    /// how many pieces of memory there are; none is allowed
    pub count: usize,
    /// where each piece begins; may be null if there are none
    pub mems: *mut *const c_void,
    /// how many bytes each piece has; may be null if there are none
    pub sizes: *const usize,
    /// which way
    pub flags: ol_mem_migration_flags_t,
}

/// The arguments of a call of `olMemRegister`.
#[derive(Clone, Copy, Debug)]
pub struct MemRegister {
    /// the device
    pub device: ol_device_handle_t,
    /// the memory's first byte
    pub ptr: *mut c_void,
    /// how many bytes
    pub size: usize,
    /// whether to lock the pages
    pub flags: ol_memory_register_flags_t,
    /// receives the address to use
    pub pinned_ptr: *mut *mut c_void,
}

/// The arguments of a call of `olMemUnregister`.
#[derive(Clone, Copy, Debug)]
pub struct MemUnregister {
    /// the device
    pub device: ol_device_handle_t,
    /// the memory's first byte, as it was registered or as olMemRegister gave it
    pub ptr: *mut c_void,
    /// whether to unlock the pages
    pub flags: ol_memory_register_flags_t,
}

/// The arguments of a call of `olMemcpy`.
#[derive(Clone, Copy, Debug)]
pub struct Memcpy {
    /// the queue, or null to wait for the copy
    pub queue: ol_queue_handle_t,
    /// where to copy to
    pub dst_ptr: *mut c_void,
    /// whose memory that is
    pub dst_device: ol_device_handle_t,
    /// where to copy from
    pub src_ptr: *const c_void,
    /// whose memory that is
    pub src_device: ol_device_handle_t,
    /// how many bytes
    pub size: usize,
}

/// The arguments of a call of `olPlatformRegisterRPCCallback`.
#[derive(Clone, Copy, Debug)]
pub struct PlatformRegisterRpcCallback {
    /// the platform
    pub platform: ol_platform_handle_t,
    /// the function
    pub callback: ol_platform_rpc_cb_t,
}

/// The arguments of a call of `olQueryQueue`.
#[derive(Clone, Copy, Debug)]
pub struct QueryQueue {
    /// the queue
    pub queue: ol_queue_handle_t,
    /// receives the answer; null to learn only whether the queue works
    pub is_queue_work_completed: *mut bool,
}

/// The arguments of a call of `olShutDown`.
#[derive(Clone, Copy, Debug)]
pub struct ShutDown {}

/// The arguments of a call of `olSyncEvent`.
#[derive(Clone, Copy, Debug)]
pub struct SyncEvent {
    /// the event
    pub event: ol_event_handle_t,
}

/// The arguments of a call of `olSyncQueue`.
#[derive(Clone, Copy, Debug)]
pub struct SyncQueue {
    /// the queue
    pub queue: ol_queue_handle_t,
}

/// The arguments of a call of `olWaitEvents`.
#[derive(Clone, Copy, Debug)]
pub struct WaitEvents {
    /// the queue that waits
    pub queue: ol_queue_handle_t,
    /// the events to wait for
    pub events: *mut ol_event_handle_t,
    /// how many events there are
    pub num_events: usize,
}

/// The hooks of all functions.
#[derive(Debug, Default)]
pub struct Hooks {
    /// Of `olCalculateOptimalOccupancy`.
    pub calculate_optimal_occupancy: Hook<CalculateOptimalOccupancy>,
    /// Of `olCreateContext`.
    pub create_context: Hook<CreateContext>,
    /// Of `olCreateEvent`.
    pub create_event: Hook<CreateEvent>,
    /// Of `olCreateProgram`.
    pub create_program: Hook<CreateProgram>,
    /// Of `olCreateQueue`.
    pub create_queue: Hook<CreateQueue>,
    /// Of `olDestroyContext`.
    pub destroy_context: Hook<DestroyContext>,
    /// Of `olDestroyEvent`.
    pub destroy_event: Hook<DestroyEvent>,
    /// Of `olDestroyProgram`.
    pub destroy_program: Hook<DestroyProgram>,
    /// Of `olDestroyQueue`.
    pub destroy_queue: Hook<DestroyQueue>,
    /// Of `olGetContextInfo`.
    pub get_context_info: Hook<GetContextInfo>,
    /// Of `olGetContextInfoSize`.
    pub get_context_info_size: Hook<GetContextInfoSize>,
    /// Of `olGetDeviceInfo`.
    pub get_device_info: Hook<GetDeviceInfo>,
    /// Of `olGetDeviceInfoSize`.
    pub get_device_info_size: Hook<GetDeviceInfoSize>,
    /// Of `olGetEventElapsedTime`.
    pub get_event_elapsed_time: Hook<GetEventElapsedTime>,
    /// Of `olGetEventInfo`.
    pub get_event_info: Hook<GetEventInfo>,
    /// Of `olGetEventInfoSize`.
    pub get_event_info_size: Hook<GetEventInfoSize>,
    /// Of `olGetKernelMaxCooperativeGroupCount`.
    pub get_kernel_max_cooperative_group_count: Hook<GetKernelMaxCooperativeGroupCount>,
    /// Of `olGetMemInfo`.
    pub get_mem_info: Hook<GetMemInfo>,
    /// Of `olGetMemInfoSize`.
    pub get_mem_info_size: Hook<GetMemInfoSize>,
    /// Of `olGetPlatformInfo`.
    pub get_platform_info: Hook<GetPlatformInfo>,
    /// Of `olGetPlatformInfoSize`.
    pub get_platform_info_size: Hook<GetPlatformInfoSize>,
    /// Of `olGetQueueInfo`.
    pub get_queue_info: Hook<GetQueueInfo>,
    /// Of `olGetQueueInfoSize`.
    pub get_queue_info_size: Hook<GetQueueInfoSize>,
    /// Of `olGetSymbol`.
    pub get_symbol: Hook<GetSymbol>,
    /// Of `olGetSymbolInfo`.
    pub get_symbol_info: Hook<GetSymbolInfo>,
    /// Of `olGetSymbolInfoSize`.
    pub get_symbol_info_size: Hook<GetSymbolInfoSize>,
    /// Of `olInit`.
    pub init: Hook<Init>,
    /// Of `olIsValidBinary`.
    pub is_valid_binary: Hook<IsValidBinary>,
    /// Of `olIterateCompatibleDevices`.
    pub iterate_compatible_devices: Hook<IterateCompatibleDevices>,
    /// Of `olIterateDevices`.
    pub iterate_devices: Hook<IterateDevices>,
    /// Of `olIteratePlatforms`.
    pub iterate_platforms: Hook<IteratePlatforms>,
    /// Of `olIterateSymbols`.
    pub iterate_symbols: Hook<IterateSymbols>,
    /// Of `olLaunchHostFunction`.
    pub launch_host_function: Hook<LaunchHostFunction>,
    /// Of `olLaunchKernel`.
    pub launch_kernel: Hook<LaunchKernel>,
    /// Of `olMemAlloc`.
    pub mem_alloc: Hook<MemAlloc>,
    /// Of `olMemAllocAligned`.
    pub mem_alloc_aligned: Hook<MemAllocAligned>,
    /// Of `olMemAllocAlignedHost`.
    pub mem_alloc_aligned_host: Hook<MemAllocAlignedHost>,
    /// Of `olMemAllocHost`.
    pub mem_alloc_host: Hook<MemAllocHost>,
    /// Of `olMemFill`.
    pub mem_fill: Hook<MemFill>,
    /// Of `olMemFree`.
    pub mem_free: Hook<MemFree>,
    /// Of `olMemIsAccessible`.
    pub mem_is_accessible: Hook<MemIsAccessible>,
    /// Of `olMemPrefetch`.
    pub mem_prefetch: Hook<MemPrefetch>,
    /// Of `olMemRegister`.
    pub mem_register: Hook<MemRegister>,
    /// Of `olMemUnregister`.
    pub mem_unregister: Hook<MemUnregister>,
    /// Of `olMemcpy`.
    pub memcpy: Hook<Memcpy>,
    /// Of `olPlatformRegisterRPCCallback`.
    pub platform_register_rpc_callback: Hook<PlatformRegisterRpcCallback>,
    /// Of `olQueryQueue`.
    pub query_queue: Hook<QueryQueue>,
    /// Of `olShutDown`.
    pub shut_down: Hook<ShutDown>,
    /// Of `olSyncEvent`.
    pub sync_event: Hook<SyncEvent>,
    /// Of `olSyncQueue`.
    pub sync_queue: Hook<SyncQueue>,
    /// Of `olWaitEvents`.
    pub wait_events: Hook<WaitEvents>,
}

/// The mock.
#[derive(Debug, Default)]
pub struct Mock {
    /// What happens at each call.
    pub hooks: Hooks,
    /// Which calls fail.
    pub faults: Faults,
    /// The handles that exist.
    pub handles: HandleTable<HandleKind>,
    started: AtomicUsize,
}

impl Mock {
    /// A handle that no other is equal to, and that the entry points take for live.
    pub fn new_handle(&self, kind: HandleKind, parent: Option<*const c_void>) -> *mut c_void {
        let handle = mock::new_address();
        self.handles.insert(kind, handle, parent);
        handle
    }
}

impl Api for Mock {
    fn instance() -> &'static Mock {
        static MOCK: LazyLock<Mock> = LazyLock::new(|| Mock { faults: Faults::from_environment(), ..Mock::default() });
        &MOCK
    }

    fn is_initialized(&self) -> bool {
        // Pairs with the changes that starting and ending make.
        self.started.load(Ordering::Acquire) > 0
    }

    fn handle_state(&self, kind: HandleKind, handle: *const c_void) -> HandleState<HandleKind> {
        self.handles.state(kind, handle)
    }

    unsafe fn calculate_optimal_occupancy(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        shared_memory: usize,
        group_size: *mut usize,
    ) -> Result<(), Error> {
        let call = CalculateOptimalOccupancy { device, kernel, shared_memory, group_size };
        self.hooks.calculate_optimal_occupancy.run("olCalculateOptimalOccupancy", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.group_size.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn create_context(
        &self,
        devices_count: usize,
        devices: *mut ol_device_handle_t,
        context: *mut ol_context_handle_t,
    ) -> Result<(), Error> {
        let call = CreateContext { devices_count, devices, context };
        self.hooks.create_context.run("olCreateContext", &self.faults, call, |call| {
            if !call.context.is_null() {
                let handle = self.new_handle(HandleKind::Context, None);
                // SAFETY: the caller says so.
                unsafe { call.context.write(handle.cast()) };
            }
            Ok(())
        })
    }

    unsafe fn create_event(&self, queue: ol_queue_handle_t, flags: ol_event_flags_t, event: *mut ol_event_handle_t) -> Result<(), Error> {
        let call = CreateEvent { queue, flags, event };
        self.hooks.create_event.run("olCreateEvent", &self.faults, call, |call| {
            if !call.event.is_null() {
                let handle = self.new_handle(HandleKind::Event, (!call.queue.is_null()).then_some(call.queue.cast_const().cast()));
                // SAFETY: the caller says so.
                unsafe { call.event.write(handle.cast()) };
            }
            Ok(())
        })
    }

    unsafe fn create_program(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        program: *mut ol_program_handle_t,
    ) -> Result<(), Error> {
        let call = CreateProgram { context, device, prog_data, prog_data_size, program };
        self.hooks.create_program.run("olCreateProgram", &self.faults, call, |call| {
            if !call.program.is_null() {
                let handle = self.new_handle(HandleKind::Program, (!call.context.is_null()).then_some(call.context.cast_const().cast()));
                // SAFETY: the caller says so.
                unsafe { call.program.write(handle.cast()) };
            }
            Ok(())
        })
    }

    unsafe fn create_queue(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        queue: *mut ol_queue_handle_t,
    ) -> Result<(), Error> {
        let call = CreateQueue { context, device, queue };
        self.hooks.create_queue.run("olCreateQueue", &self.faults, call, |call| {
            if !call.queue.is_null() {
                let handle = self.new_handle(HandleKind::Queue, (!call.context.is_null()).then_some(call.context.cast_const().cast()));
                // SAFETY: the caller says so.
                unsafe { call.queue.write(handle.cast()) };
            }
            Ok(())
        })
    }

    unsafe fn destroy_context(&self, context: ol_context_handle_t) -> Result<(), Error> {
        let call = DestroyContext { context };
        self.hooks.destroy_context.run("olDestroyContext", &self.faults, call, |call| {
            mock::destroyed(self.handles.remove(HandleKind::Context, call.context.cast()))
        })
    }

    unsafe fn destroy_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        let call = DestroyEvent { event };
        self.hooks
            .destroy_event
            .run("olDestroyEvent", &self.faults, call, |call| mock::destroyed(self.handles.remove(HandleKind::Event, call.event.cast())))
    }

    unsafe fn destroy_program(&self, program: ol_program_handle_t) -> Result<(), Error> {
        let call = DestroyProgram { program };
        self.hooks.destroy_program.run("olDestroyProgram", &self.faults, call, |call| {
            mock::destroyed(self.handles.remove(HandleKind::Program, call.program.cast()))
        })
    }

    unsafe fn destroy_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        let call = DestroyQueue { queue };
        self.hooks
            .destroy_queue
            .run("olDestroyQueue", &self.faults, call, |call| mock::destroyed(self.handles.remove(HandleKind::Queue, call.queue.cast())))
    }

    unsafe fn get_context_info(
        &self,
        context: ol_context_handle_t,
        prop_name: ol_context_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetContextInfo { context, prop_name, prop_size, prop_value };
        self.hooks.get_context_info.run("olGetContextInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_context_info_size(
        &self,
        context: ol_context_handle_t,
        prop_name: ol_context_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetContextInfoSize { context, prop_name, prop_size_ret };
        self.hooks.get_context_info_size.run("olGetContextInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_device_info(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetDeviceInfo { device, prop_name, prop_size, prop_value };
        self.hooks.get_device_info.run("olGetDeviceInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_device_info_size(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetDeviceInfoSize { device, prop_name, prop_size_ret };
        self.hooks.get_device_info_size.run("olGetDeviceInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_event_elapsed_time(
        &self,
        start_event: ol_event_handle_t,
        end_event: ol_event_handle_t,
        elapsed_time: *mut f32,
    ) -> Result<(), Error> {
        let call = GetEventElapsedTime { start_event, end_event, elapsed_time };
        self.hooks.get_event_elapsed_time.run("olGetEventElapsedTime", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.elapsed_time.cast::<f32>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_event_info(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetEventInfo { event, prop_name, prop_size, prop_value };
        self.hooks.get_event_info.run("olGetEventInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_event_info_size(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetEventInfoSize { event, prop_name, prop_size_ret };
        self.hooks.get_event_info_size.run("olGetEventInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_kernel_max_cooperative_group_count(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        launch_size_args: *const ol_kernel_launch_size_args_t,
        max_group_count: *mut u32,
    ) -> Result<(), Error> {
        let call = GetKernelMaxCooperativeGroupCount { device, kernel, launch_size_args, max_group_count };
        self.hooks.get_kernel_max_cooperative_group_count.run("olGetKernelMaxCooperativeGroupCount", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.max_group_count.cast::<u32>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_mem_info(
        &self,
        context: ol_context_handle_t,
        ptr: *const c_void,
        prop_name: ol_mem_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetMemInfo { context, ptr, prop_name, prop_size, prop_value };
        self.hooks.get_mem_info.run("olGetMemInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_mem_info_size(
        &self,
        context: ol_context_handle_t,
        ptr: *const c_void,
        prop_name: ol_mem_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetMemInfoSize { context, ptr, prop_name, prop_size_ret };
        self.hooks.get_mem_info_size.run("olGetMemInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_platform_info(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetPlatformInfo { platform, prop_name, prop_size, prop_value };
        self.hooks.get_platform_info.run("olGetPlatformInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_platform_info_size(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetPlatformInfoSize { platform, prop_name, prop_size_ret };
        self.hooks.get_platform_info_size.run("olGetPlatformInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_queue_info(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetQueueInfo { queue, prop_name, prop_size, prop_value };
        self.hooks.get_queue_info.run("olGetQueueInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_queue_info_size(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetQueueInfoSize { queue, prop_name, prop_size_ret };
        self.hooks.get_queue_info_size.run("olGetQueueInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn get_symbol(
        &self,
        program: ol_program_handle_t,
        name: *const c_char,
        kind: ol_symbol_kind_t,
        symbol: *mut ol_symbol_handle_t,
    ) -> Result<(), Error> {
        let call = GetSymbol { program, name, kind, symbol };
        self.hooks.get_symbol.run("olGetSymbol", &self.faults, call, |call| {
            if !call.symbol.is_null() {
                let handle = self.new_handle(HandleKind::Symbol, (!call.program.is_null()).then_some(call.program.cast_const().cast()));
                // SAFETY: the caller says so.
                unsafe { call.symbol.write(handle.cast()) };
            }
            Ok(())
        })
    }

    unsafe fn get_symbol_info(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error> {
        let call = GetSymbolInfo { symbol, prop_name, prop_size, prop_value };
        self.hooks.get_symbol_info.run("olGetSymbolInfo", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_value.cast::<u8>(), call.prop_size) };
            Ok(())
        })
    }

    unsafe fn get_symbol_info_size(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error> {
        let call = GetSymbolInfoSize { symbol, prop_name, prop_size_ret };
        self.hooks.get_symbol_info_size.run("olGetSymbolInfoSize", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.prop_size_ret.cast::<usize>(), 1) };
            Ok(())
        })
    }

    unsafe fn init(&self, init_args: *const ol_init_args_t) -> Result<(), Error> {
        let call = Init { init_args };
        self.hooks.init.run("olInit", &self.faults, call, |_| {
            // Pairs with `is_initialized`.
            self.started.fetch_add(1, Ordering::AcqRel);
            Ok(())
        })
    }

    unsafe fn is_valid_binary(
        &self,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        valid: *mut bool,
    ) -> Result<(), Error> {
        let call = IsValidBinary { device, prog_data, prog_data_size, valid };
        self.hooks.is_valid_binary.run("olIsValidBinary", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.valid.cast::<u8>(), 1) };
            Ok(())
        })
    }

    unsafe fn iterate_compatible_devices(
        &self,
        prog_data: *const c_void,
        prog_data_size: usize,
        callback: ol_device_iterate_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let call = IterateCompatibleDevices { prog_data, prog_data_size, callback, user_data };
        self.hooks.iterate_compatible_devices.run("olIterateCompatibleDevices", &self.faults, call, |_| Ok(()))
    }

    unsafe fn iterate_devices(&self, callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
        let call = IterateDevices { callback, user_data };
        self.hooks.iterate_devices.run("olIterateDevices", &self.faults, call, |_| Ok(()))
    }

    unsafe fn iterate_platforms(&self, callback: ol_platform_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
        let call = IteratePlatforms { callback, user_data };
        self.hooks.iterate_platforms.run("olIteratePlatforms", &self.faults, call, |_| Ok(()))
    }

    unsafe fn iterate_symbols(
        &self,
        program: ol_program_handle_t,
        kind: ol_symbol_kind_t,
        callback: ol_symbol_iterate_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let call = IterateSymbols { program, kind, callback, user_data };
        self.hooks.iterate_symbols.run("olIterateSymbols", &self.faults, call, |_| Ok(()))
    }

    unsafe fn launch_host_function(
        &self,
        queue: ol_queue_handle_t,
        callback: ol_host_function_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let call = LaunchHostFunction { queue, callback, user_data };
        self.hooks.launch_host_function.run("olLaunchHostFunction", &self.faults, call, |_| Ok(()))
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
        let call = LaunchKernel { queue, device, kernel, launch_size_args, properties, num_args, arg_ptrs, arg_sizes };
        self.hooks.launch_kernel.run("olLaunchKernel", &self.faults, call, |_| Ok(()))
    }

    unsafe fn mem_alloc(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        r#type: ol_alloc_type_t,
        size: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error> {
        let call = MemAlloc { context, device, r#type, size, allocation_out };
        self.hooks.mem_alloc.run("olMemAlloc", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.allocation_out.cast::<*mut c_void>(), 1) };
            Ok(())
        })
    }

    unsafe fn mem_alloc_aligned(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        r#type: ol_alloc_type_t,
        size: usize,
        alignment: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error> {
        let call = MemAllocAligned { context, device, r#type, size, alignment, allocation_out };
        self.hooks.mem_alloc_aligned.run("olMemAllocAligned", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.allocation_out.cast::<*mut c_void>(), 1) };
            Ok(())
        })
    }

    unsafe fn mem_alloc_aligned_host(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        size: usize,
        alignment: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error> {
        let call = MemAllocAlignedHost { context, device, size, alignment, allocation_out };
        self.hooks.mem_alloc_aligned_host.run("olMemAllocAlignedHost", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.allocation_out.cast::<*mut c_void>(), 1) };
            Ok(())
        })
    }

    unsafe fn mem_alloc_host(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        size: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error> {
        let call = MemAllocHost { context, device, size, allocation_out };
        self.hooks.mem_alloc_host.run("olMemAllocHost", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.allocation_out.cast::<*mut c_void>(), 1) };
            Ok(())
        })
    }

    unsafe fn mem_fill(
        &self,
        queue: ol_queue_handle_t,
        ptr: *mut c_void,
        pattern_size: usize,
        pattern_ptr: *const c_void,
        fill_size: usize,
    ) -> Result<(), Error> {
        let call = MemFill { queue, ptr, pattern_size, pattern_ptr, fill_size };
        self.hooks.mem_fill.run("olMemFill", &self.faults, call, |_| Ok(()))
    }

    unsafe fn mem_free(&self, context: ol_context_handle_t, address: *mut c_void) -> Result<(), Error> {
        let call = MemFree { context, address };
        self.hooks.mem_free.run("olMemFree", &self.faults, call, |_| Ok(()))
    }

    unsafe fn mem_is_accessible(
        &self,
        context: ol_context_handle_t,
        device: ol_device_handle_t,
        ptr: *const c_void,
        size: usize,
        is_accessible: *mut bool,
    ) -> Result<(), Error> {
        let call = MemIsAccessible { context, device, ptr, size, is_accessible };
        self.hooks.mem_is_accessible.run("olMemIsAccessible", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.is_accessible.cast::<u8>(), 1) };
            Ok(())
        })
    }

    unsafe fn mem_prefetch(
        &self,
        queue: ol_queue_handle_t,
        count: usize,
        mems: *mut *const c_void,
        sizes: *const usize,
        flags: ol_mem_migration_flags_t,
    ) -> Result<(), Error> {
        let call = MemPrefetch { queue, count, mems, sizes, flags };
        self.hooks.mem_prefetch.run("olMemPrefetch", &self.faults, call, |_| Ok(()))
    }

    unsafe fn mem_register(
        &self,
        device: ol_device_handle_t,
        ptr: *mut c_void,
        size: usize,
        flags: ol_memory_register_flags_t,
        pinned_ptr: *mut *mut c_void,
    ) -> Result<(), Error> {
        let call = MemRegister { device, ptr, size, flags, pinned_ptr };
        self.hooks.mem_register.run("olMemRegister", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.pinned_ptr.cast::<*mut c_void>(), 1) };
            Ok(())
        })
    }

    unsafe fn mem_unregister(&self, device: ol_device_handle_t, ptr: *mut c_void, flags: ol_memory_register_flags_t) -> Result<(), Error> {
        let call = MemUnregister { device, ptr, flags };
        self.hooks.mem_unregister.run("olMemUnregister", &self.faults, call, |_| Ok(()))
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
        let call = Memcpy { queue, dst_ptr, dst_device, src_ptr, src_device, size };
        self.hooks.memcpy.run("olMemcpy", &self.faults, call, |_| Ok(()))
    }

    unsafe fn platform_register_rpc_callback(&self, platform: ol_platform_handle_t, callback: ol_platform_rpc_cb_t) -> Result<(), Error> {
        let call = PlatformRegisterRpcCallback { platform, callback };
        self.hooks.platform_register_rpc_callback.run("olPlatformRegisterRPCCallback", &self.faults, call, |_| Ok(()))
    }

    unsafe fn query_queue(&self, queue: ol_queue_handle_t, is_queue_work_completed: *mut bool) -> Result<(), Error> {
        let call = QueryQueue { queue, is_queue_work_completed };
        self.hooks.query_queue.run("olQueryQueue", &self.faults, call, |call| {
            // SAFETY: the caller says so.
            unsafe { mock::zero(call.is_queue_work_completed.cast::<u8>(), 1) };
            Ok(())
        })
    }

    unsafe fn shut_down(&self) -> Result<(), Error> {
        let call = ShutDown {};
        self.hooks.shut_down.run("olShutDown", &self.faults, call, |_| {
            // Pairs with `is_initialized`. Entry points refuse a call that would make it negative, unless two threads end what was started once.
            let _ = self.started.fetch_update(Ordering::AcqRel, Ordering::Acquire, |started| started.checked_sub(1));
            Ok(())
        })
    }

    unsafe fn sync_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        let call = SyncEvent { event };
        self.hooks.sync_event.run("olSyncEvent", &self.faults, call, |_| Ok(()))
    }

    unsafe fn sync_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        let call = SyncQueue { queue };
        self.hooks.sync_queue.run("olSyncQueue", &self.faults, call, |_| Ok(()))
    }

    unsafe fn wait_events(&self, queue: ol_queue_handle_t, events: *mut ol_event_handle_t, num_events: usize) -> Result<(), Error> {
        let call = WaitEvents { queue, events, num_events };
        self.hooks.wait_events.run("olWaitEvents", &self.faults, call, |_| Ok(()))
    }
}

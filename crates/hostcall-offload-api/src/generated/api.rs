//! The trait that an implementation of the API fills. A function that is missing is a compile error.
//!
//! Made from OffloadAPI.td (LLVM 23) by offload-tblgen --gen-impl-trait; change that, not this file.

#![allow(clippy::too_many_arguments, reason = "a function has as many as its definition says")]

use std::ffi::{c_char, c_void};

use super::sys::*;
use crate::runtime::record::Recorder;
use crate::runtime::{Error, HandleState};

/// The kinds of handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandleKind {
    /// A context, in which devices share resources
    Context,
    /// A device, which belongs to a platform
    Device,
    /// An event: a point in a queue's work
    Event,
    /// A platform: the devices that one driver serves
    Platform,
    /// A program, loaded on one device
    Program,
    /// A queue: work for one device, done in order
    Queue,
    /// A kernel or a global variable of a program
    Symbol,
}

/// An implementation of the API.
///
/// Entry points call it after they have checked the arguments: required handles and pointers are not null, handles are live and of their
/// kind, enumerations and flags have known values, and no condition that a function refuses holds. (With `OFFLOAD_DISABLE_VALIDATION`,
/// callers promise all that.) Calls come from any thread. A panic becomes an error.
pub trait Api: Sync + 'static {
    /// The one instance that entry points call.
    fn instance() -> &'static Self
    where
        Self: Sized;

    /// Whether the library has been started and not ended.
    fn is_initialized(&self) -> bool;

    /// What is known of a handle, which may be any address. [`HandleTable`](crate::runtime::HandleTable) knows.
    fn handle_state(&self, kind: HandleKind, handle: *const c_void) -> HandleState<HandleKind>;

    /// What keeps the calls, if they are recorded.
    #[inline]
    fn recorder(&self) -> Option<&'static dyn Recorder> {
        None
    }

    /// Tells the size of work groups with which a device is best used by a kernel (`olCalculateOptimalOccupancy`).
    ///
    /// * `device` (in): the device
    /// * `kernel` (in): the kernel
    /// * `shared_memory` (in): how many bytes of local memory each work item needs besides what the kernel declares
    /// * `group_size` (out): receives the number of work items
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_SYMBOL_KIND`: `Kernel` is not a kernel
    /// * `OL_ERRC_UNSUPPORTED`: the driver does not tell
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`; `NULL == Kernel`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == GroupSize`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn calculate_optimal_occupancy(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        shared_memory: usize,
        group_size: *mut usize,
    ) -> Result<(), Error>;

    /// Marks the end of the work that a queue has so far (`olCreateEvent`).
    ///
    /// * The event is complete when everything that was put into the queue before it is done.
    ///
    /// * `queue` (in): the queue
    /// * `flags` (in): what the event is for
    /// * `event` (out): receives the event
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_ENUMERATION`: `Flags` is not an event flag
    /// * `OL_ERRC_OUT_OF_RESOURCES`
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Event`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn create_event(&self, queue: ol_queue_handle_t, flags: ol_event_flags_t, event: *mut ol_event_handle_t) -> Result<(), Error>;

    /// Loads an image on a device (`olCreateProgram`).
    ///
    /// * The image is copied; the caller may free it when the call returns.
    ///
    /// * `device` (in): the device
    /// * `prog_data` (in): the image
    /// * `prog_data_size` (in): how many bytes it has
    /// * `program` (out): receives the program
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_BINARY`: the image is damaged, or not for this device
    /// * `OL_ERRC_ASSEMBLE_FAILURE`
    /// * `OL_ERRC_COMPILE_FAILURE`
    /// * `OL_ERRC_LINK_FAILURE`
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == ProgData`; `NULL == Program`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn create_program(
        &self,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        program: *mut ol_program_handle_t,
    ) -> Result<(), Error>;

    /// Makes a queue (`olCreateQueue`).
    ///
    /// * `device` (in): the device that will do the queue's work
    /// * `queue` (out): receives the queue
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_OUT_OF_RESOURCES`
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Queue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn create_queue(&self, device: ol_device_handle_t, queue: *mut ol_queue_handle_t) -> Result<(), Error>;

    /// Gives an event back (`olDestroyEvent`).
    ///
    /// * `event` (in): the event, which must not be used again
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_EVENT`: `Event` is not an event, or is destroyed already
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Event`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn destroy_event(&self, event: ol_event_handle_t) -> Result<(), Error>;

    /// Unloads a program (`olDestroyProgram`).
    ///
    /// * Its symbols are gone with it.
    ///
    /// * `program` (in): the program, which must not be used again
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ARGUMENT`: `Program` is not a program, or is destroyed already
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Program`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn destroy_program(&self, program: ol_program_handle_t) -> Result<(), Error>;

    /// Gives a queue back (`olDestroyQueue`).
    ///
    /// * Does not wait: work that is in the queue is still done, and events that mark it stay valid.
    ///
    /// * `queue` (in): the queue, which must not be used again
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue, or is destroyed already
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn destroy_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error>;

    /// Tells a property of a device (`olGetDeviceInfo`).
    ///
    /// * `olGetDeviceInfoSize` tells how many bytes the property needs.
    ///
    /// * `device` (in): the device
    /// * `prop_name` (in): the property
    /// * `prop_size` (in): how many bytes PropValue has room for
    /// * `prop_value` (out): receives the property; not written when the call fails
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PropSize == 0`; the property needs more than `PropSize` bytes
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of devices
    /// * `OL_ERRC_UNSUPPORTED`: the driver does not tell this property
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropValue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_device_info(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error>;

    /// Tells how many bytes a property of a device needs (`olGetDeviceInfoSize`).
    ///
    /// * `device` (in): the device
    /// * `prop_name` (in): the property
    /// * `prop_size_ret` (out): receives the size in bytes; that of a text includes its terminating zero
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of devices
    /// * `OL_ERRC_UNSUPPORTED`: the driver does not tell this property
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropSizeRet`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_device_info_size(
        &self,
        device: ol_device_handle_t,
        prop_name: ol_device_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error>;

    /// Tells how much time lies between two events (`olGetEventElapsedTime`).
    ///
    /// * Both events must be of one device, made with `OL_EVENT_FLAGS_ENABLE_PROFILING`, and complete.
    ///
    /// * `start_event` (in): the earlier event
    /// * `end_event` (in): the later event
    /// * `elapsed_time` (out): receives the time in milliseconds
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_EVENT`: `StartEvent` or `EndEvent` is not an event
    /// * `OL_ERRC_INVALID_ARGUMENT`: an event does not measure time, or is not complete
    /// * `OL_ERRC_INVALID_DEVICE`: the events are of different devices
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == StartEvent`; `NULL == EndEvent`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == ElapsedTime`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_event_elapsed_time(
        &self,
        start_event: ol_event_handle_t,
        end_event: ol_event_handle_t,
        elapsed_time: *mut f32,
    ) -> Result<(), Error>;

    /// Tells a property of an event (`olGetEventInfo`).
    ///
    /// * `olGetEventInfoSize` tells how many bytes the property needs.
    ///
    /// * `event` (in): the event
    /// * `prop_name` (in): the property
    /// * `prop_size` (in): how many bytes PropValue has room for
    /// * `prop_value` (out): receives the property; not written when the call fails
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PropSize == 0`; the property needs more than `PropSize` bytes
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of events
    /// * `OL_ERRC_INVALID_EVENT`: `Event` is not an event
    /// * `OL_ERRC_INVALID_QUEUE`: the queue is asked for, and has been destroyed
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Event`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropValue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_event_info(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error>;

    /// Tells how many bytes a property of an event needs (`olGetEventInfoSize`).
    ///
    /// * `event` (in): the event
    /// * `prop_name` (in): the property
    /// * `prop_size_ret` (out): receives the size in bytes
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of events
    /// * `OL_ERRC_INVALID_EVENT`: `Event` is not an event
    /// * `OL_ERRC_INVALID_QUEUE`: the queue is asked for, and has been destroyed
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Event`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropSizeRet`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_event_info_size(
        &self,
        event: ol_event_handle_t,
        prop_name: ol_event_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error>;

    /// Tells how many work groups a cooperative launch of a kernel may have (`olGetKernelMaxCooperativeGroupCount`).
    ///
    /// * Work groups that wait for one another must all fit on the device at the same time; how many do depends on their size.
    ///
    /// * `device` (in): the device
    /// * `kernel` (in): the kernel
    /// * `launch_size_args` (in): how large a work group is; the number of groups does not matter
    /// * `max_group_count` (out): receives the number of work groups
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_SYMBOL_KIND`: `Kernel` is not a kernel
    /// * `OL_ERRC_UNSUPPORTED`: the device has no cooperative launches, or its driver does not tell
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`; `NULL == Kernel`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == LaunchSizeArgs`; `NULL == MaxGroupCount`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_kernel_max_cooperative_group_count(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        launch_size_args: *const ol_kernel_launch_size_args_t,
        max_group_count: *mut u32,
    ) -> Result<(), Error>;

    /// Tells a property of an allocation (`olGetMemInfo`).
    ///
    /// * The address may be that of any byte of the allocation.
    /// * `olGetMemInfoSize` tells how many bytes the property needs.
    ///
    /// * `ptr` (in): an address in the allocation
    /// * `prop_name` (in): the property
    /// * `prop_size` (in): how many bytes PropValue has room for
    /// * `prop_value` (out): receives the property; not written when the call fails
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PropSize == 0`; the property needs more than `PropSize` bytes
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of allocations
    /// * `OL_ERRC_NOT_FOUND`: `Ptr` is in no allocation of this library
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Ptr`; `NULL == PropValue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_mem_info(
        &self,
        ptr: *const c_void,
        prop_name: ol_mem_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error>;

    /// Tells how many bytes a property of an allocation needs (`olGetMemInfoSize`).
    ///
    /// * The address may be that of any byte of the allocation.
    ///
    /// * `ptr` (in): an address in the allocation
    /// * `prop_name` (in): the property
    /// * `prop_size_ret` (out): receives the size in bytes
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of allocations
    /// * `OL_ERRC_NOT_FOUND`: `Ptr` is in no allocation of this library
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Ptr`; `NULL == PropSizeRet`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_mem_info_size(&self, ptr: *const c_void, prop_name: ol_mem_info_t, prop_size_ret: *mut usize) -> Result<(), Error>;

    /// Tells a property of a platform (`olGetPlatformInfo`).
    ///
    /// * `olGetPlatformInfoSize` tells how many bytes the property needs.
    ///
    /// * `platform` (in): the platform
    /// * `prop_name` (in): the property
    /// * `prop_size` (in): how many bytes PropValue has room for
    /// * `prop_value` (out): receives the property; not written when the call fails
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PropSize == 0`; the property needs more than `PropSize` bytes
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of platforms
    /// * `OL_ERRC_INVALID_PLATFORM`: `Platform` is not a platform
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Platform`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropValue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_platform_info(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error>;

    /// Tells how many bytes a property of a platform needs (`olGetPlatformInfoSize`).
    ///
    /// * `platform` (in): the platform
    /// * `prop_name` (in): the property
    /// * `prop_size_ret` (out): receives the size in bytes; that of a text includes its terminating zero
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of platforms
    /// * `OL_ERRC_INVALID_PLATFORM`: `Platform` is not a platform
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Platform`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropSizeRet`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_platform_info_size(
        &self,
        platform: ol_platform_handle_t,
        prop_name: ol_platform_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error>;

    /// Tells a property of a queue (`olGetQueueInfo`).
    ///
    /// * `olGetQueueInfoSize` tells how many bytes the property needs.
    ///
    /// * `queue` (in): the queue
    /// * `prop_name` (in): the property
    /// * `prop_size` (in): how many bytes PropValue has room for
    /// * `prop_value` (out): receives the property; not written when the call fails
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PropSize == 0`; the property needs more than `PropSize` bytes
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of queues
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropValue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_queue_info(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error>;

    /// Tells how many bytes a property of a queue needs (`olGetQueueInfoSize`).
    ///
    /// * `queue` (in): the queue
    /// * `prop_name` (in): the property
    /// * `prop_size_ret` (out): receives the size in bytes
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of queues
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropSizeRet`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_queue_info_size(
        &self,
        queue: ol_queue_handle_t,
        prop_name: ol_queue_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error>;

    /// Finds a symbol of a program by its name (`olGetSymbol`).
    ///
    /// * The symbol lives as long as its program, and is not destroyed by itself.
    ///
    /// * `program` (in): the program
    /// * `name` (in): the symbol's name
    /// * `kind` (in): its kind
    /// * `symbol` (out): receives the symbol
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `Kind` is not a kind of symbols
    /// * `OL_ERRC_NOT_FOUND`: the program has no such symbol
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Program`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Name`; `NULL == Symbol`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_symbol(
        &self,
        program: ol_program_handle_t,
        name: *const c_char,
        kind: ol_symbol_kind_t,
        symbol: *mut ol_symbol_handle_t,
    ) -> Result<(), Error>;

    /// Tells a property of a symbol (`olGetSymbolInfo`).
    ///
    /// * `olGetSymbolInfoSize` tells how many bytes the property needs.
    ///
    /// * `symbol` (in): the symbol
    /// * `prop_name` (in): the property
    /// * `prop_size` (in): how many bytes PropValue has room for
    /// * `prop_value` (out): receives the property; not written when the call fails
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PropSize == 0`; the property needs more than `PropSize` bytes
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of symbols
    /// * `OL_ERRC_SYMBOL_KIND`: symbols of this kind do not have the property
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Symbol`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropValue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_symbol_info(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size: usize,
        prop_value: *mut c_void,
    ) -> Result<(), Error>;

    /// Tells how many bytes a property of a symbol needs (`olGetSymbolInfoSize`).
    ///
    /// * `symbol` (in): the symbol
    /// * `prop_name` (in): the property
    /// * `prop_size_ret` (out): receives the size in bytes
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ENUMERATION`: `PropName` is no property of symbols
    /// * `OL_ERRC_SYMBOL_KIND`: symbols of this kind do not have the property
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Symbol`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == PropSizeRet`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn get_symbol_info_size(
        &self,
        symbol: ol_symbol_handle_t,
        prop_name: ol_symbol_info_t,
        prop_size_ret: *mut usize,
    ) -> Result<(), Error>;

    /// Starts the library (`olInit`).
    ///
    /// * Comes before every other call.
    /// * May be called again: the library ends with as many calls of `olShutDown` as there were of `olInit`. Only the first call's
    ///   `InitArgs` count.
    ///
    /// * `init_args` (in, may be null): what to start; null for everything that is there
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ARGUMENT`: `InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL`
    /// * `OL_ERRC_INVALID_SIZE`: `InitArgs != NULL && InitArgs->Size == 0`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn init(&self, init_args: *const ol_init_args_t) -> Result<(), Error>;

    /// Tells whether a device can load an image, without loading it (`olIsValidBinary`).
    ///
    /// * `device` (in): the device
    /// * `prog_data` (in): the image
    /// * `prog_data_size` (in): how many bytes it has
    /// * `valid` (out): receives the answer
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == ProgData`; `NULL == Valid`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn is_valid_binary(
        &self,
        device: ol_device_handle_t,
        prog_data: *const c_void,
        prog_data_size: usize,
        valid: *mut bool,
    ) -> Result<(), Error>;

    /// Shows every device to a function (`olIterateDevices`).
    ///
    /// * Ends early, and successfully, when the function returns false.
    ///
    /// * `callback` (in): the function
    /// * `user_data` (in, may be null): handed to the function as it is
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Callback`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn iterate_devices(&self, callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error>;

    /// Puts a call of a host function into a queue (`olLaunchHostFunction`).
    ///
    /// * The function runs in this process, after the work before it is done; the work after it begins when it has returned.
    /// * It must call neither this API nor the driver below it.
    ///
    /// * `queue` (in): the queue
    /// * `callback` (in): the function
    /// * `user_data` (in, may be null): handed to the function as it is
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Callback`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn launch_host_function(
        &self,
        queue: ol_queue_handle_t,
        callback: ol_host_function_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error>;

    /// Launches a kernel (`olLaunchKernel`).
    ///
    /// * With a queue the kernel runs in the queue's turn; without one it has run when the call returns.
    /// * Arguments are copied: `ArgPtrs[i]` points to `ArgSizes[i]` bytes, the value of the kernel's argument `i`.
    ///
    /// * `queue` (in, may be null): the queue, or null to wait for the kernel
    /// * `device` (in): the device that runs the kernel
    /// * `kernel` (in): the kernel
    /// * `launch_size_args` (in): how large the launch is
    /// * `properties` (in, may be null): what else is said of the launch, ending with OL_KERNEL_LAUNCH_PROP_END
    /// * `num_args` (in): how many arguments there are: as many as the kernel has
    /// * `arg_ptrs` (in, may be null): where each argument's value is; null if there are none
    /// * `arg_sizes` (in, may be null): how many bytes each argument has; null if there are none
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_ARGUMENT`: `(ArgPtrs == NULL) != (ArgSizes == NULL)`; `NumArgs > 0 && (ArgPtrs == NULL || ArgSizes == NULL)`;
    ///   the kernel has more arguments than `NumArgs`, or fewer
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is neither null nor a queue
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device, or not the queue's
    /// * `OL_ERRC_SYMBOL_KIND`: `Kernel` is not a kernel
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`; `NULL == Kernel`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == LaunchSizeArgs`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
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
    ) -> Result<(), Error>;

    /// Allocates memory (`olMemAlloc`).
    ///
    /// * Addresses are unique: no two allocations that exist at the same time have an address in common, whatever their devices.
    ///
    /// * `device` (in): the device that the memory is for
    /// * `r#type` (in): where the memory lies
    /// * `size` (in): how many bytes
    /// * `allocation_out` (out): receives the address
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `Size == 0`
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_ENUMERATION`: `Type` is not an allocation type
    /// * `OL_ERRC_OUT_OF_RESOURCES`: there is not that much memory
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == AllocationOut`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_alloc(
        &self,
        device: ol_device_handle_t,
        r#type: ol_alloc_type_t,
        size: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error>;

    /// Allocates memory at an address that is a multiple of an alignment (`olMemAllocAligned`).
    ///
    /// * Addresses are unique, as `olMemAlloc` says.
    ///
    /// * `device` (in): the device that the memory is for
    /// * `r#type` (in): where the memory lies
    /// * `size` (in): how many bytes
    /// * `alignment` (in): the alignment in bytes: a power of two
    /// * `allocation_out` (out): receives the address
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `Size == 0`
    /// * `OL_ERRC_INVALID_ARGUMENT`: `Alignment == 0`; `(Alignment & (Alignment - 1)) != 0`
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_ENUMERATION`: `Type` is not an allocation type
    /// * `OL_ERRC_OUT_OF_RESOURCES`: there is not that much memory
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == AllocationOut`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_alloc_aligned(
        &self,
        device: ol_device_handle_t,
        r#type: ol_alloc_type_t,
        size: usize,
        alignment: usize,
        allocation_out: *mut *mut c_void,
    ) -> Result<(), Error>;

    /// Fills memory with a repeated pattern (`olMemFill`).
    ///
    /// * With a queue the memory is filled in the queue's turn; without one it is filled when the call returns.
    /// * The memory is of the queue's device. Patterns of more than four bytes may take longer.
    ///
    /// * `queue` (in, may be null): the queue, or null to wait for the fill
    /// * `ptr` (in): the first byte to fill
    /// * `pattern_size` (in): how many bytes the pattern has
    /// * `pattern_ptr` (in): the pattern, in host memory
    /// * `fill_size` (in): how many bytes to fill: a multiple of PatternSize
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `PatternSize == 0`; `FillSize % PatternSize != 0`
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is neither null nor a queue
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Ptr`; `NULL == PatternPtr`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_fill(
        &self,
        queue: ol_queue_handle_t,
        ptr: *mut c_void,
        pattern_size: usize,
        pattern_ptr: *const c_void,
        fill_size: usize,
    ) -> Result<(), Error>;

    /// Gives memory back that olMemAlloc or olMemAllocAligned allocated (`olMemFree`).
    ///
    /// * `address` (in): the address that the allocating call gave
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_NOT_FOUND`: no allocation of this library begins at `Address`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Address`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_free(&self, address: *mut c_void) -> Result<(), Error>;

    /// Advises that managed memory will be used on the other side (`olMemPrefetch`).
    ///
    /// * Changes where the memory lies, not what it holds, and only where the device can: otherwise nothing happens, successfully.
    ///
    /// * `queue` (in): the queue in whose turn the memory migrates
    /// * `count` (in): how many pieces of memory there are; none is allowed
    /// * `mems` (in, may be null): where each piece begins; may be null if there are none
    /// * `sizes` (in, may be null): how many bytes each piece has; may be null if there are none
    /// * `flags` (in): which way
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `Count > 0 && Mems == NULL`; `Count > 0 && Sizes == NULL`
    /// * `OL_ERRC_INVALID_ENUMERATION`: `(Flags & ~(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST)) != 0`
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_prefetch(
        &self,
        queue: ol_queue_handle_t,
        count: usize,
        mems: *mut *const c_void,
        sizes: *const usize,
        flags: ol_mem_migration_flags_t,
    ) -> Result<(), Error>;

    /// Lets a device use host memory, and gives the address to use (`olMemRegister`).
    ///
    /// * With `OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY` the pages are locked, which makes transfers fast.
    /// * Memory may be registered again, as a whole or a part of it, and then has one more user; a range that only overlaps a registered
    ///   one is refused.
    /// * Host and device may both use the address. Nothing is promised about when one sees what the other wrote.
    ///
    /// * `device` (in): the device
    /// * `ptr` (in): the memory's first byte
    /// * `size` (in): how many bytes
    /// * `flags` (in): whether to lock the pages
    /// * `pinned_ptr` (out): receives the address to use
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_SIZE`: `Size == 0`
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_ENUMERATION`: `(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`
    /// * `OL_ERRC_INVALID_ARGUMENT`: the memory overlaps registered memory without lying in it
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Ptr`; `NULL == PinnedPtr`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_register(
        &self,
        device: ol_device_handle_t,
        ptr: *mut c_void,
        size: usize,
        flags: ol_memory_register_flags_t,
        pinned_ptr: *mut *mut c_void,
    ) -> Result<(), Error>;

    /// Takes back what olMemRegister did for one user (`olMemUnregister`).
    ///
    /// * With `OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY` the last user's pages are unlocked.
    ///
    /// * `device` (in): the device
    /// * `ptr` (in): the memory's first byte, as it was registered or as olMemRegister gave it
    /// * `flags` (in): whether to unlock the pages
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_DEVICE`: `Device` is not a device
    /// * `OL_ERRC_INVALID_ENUMERATION`: `(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`
    /// * `OL_ERRC_INVALID_ARGUMENT`: no registered memory begins at `Ptr`
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Device`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Ptr`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn mem_unregister(&self, device: ol_device_handle_t, ptr: *mut c_void, flags: ol_memory_register_flags_t) -> Result<(), Error>;

    /// Copies memory (`olMemcpy`).
    ///
    /// * With a queue the copy is done in the queue's turn; without one it is done when the call returns.
    /// * For memory of the host, the device is the one of the platform whose back end is `OL_PLATFORM_BACKEND_HOST`.
    /// * With a queue of another device than the host, at least one of the two devices is not the host.
    ///
    /// * `queue` (in, may be null): the queue, or null to wait for the copy
    /// * `dst_ptr` (in): where to copy to
    /// * `dst_device` (in): whose memory that is
    /// * `src_ptr` (in): where to copy from
    /// * `src_device` (in): whose memory that is
    /// * `size` (in): how many bytes
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is neither null nor a queue
    /// * `OL_ERRC_INVALID_DEVICE`: `DstDevice` or `SrcDevice` is not a device
    /// * `OL_ERRC_INVALID_ARGUMENT`: both devices are the host, and `Queue` is another device's
    /// * `OL_ERRC_INVALID_SIZE`: an allocation of this library ends before `Size` bytes do
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == DstDevice`; `NULL == SrcDevice`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == DstPtr`; `NULL == SrcPtr`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn memcpy(
        &self,
        queue: ol_queue_handle_t,
        dst_ptr: *mut c_void,
        dst_device: ol_device_handle_t,
        src_ptr: *const c_void,
        src_device: ol_device_handle_t,
        size: usize,
    ) -> Result<(), Error>;

    /// Has a function answer the calls that kernels of a platform make to the host (`olPlatformRegisterRPCCallback`).
    ///
    /// * The function is asked before the library answers itself, and says by its result whether the call is answered.
    ///
    /// * `platform` (in): the platform
    /// * `callback` (in): the function
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_PLATFORM`: `Platform` is not a platform
    /// * `OL_ERRC_UNSUPPORTED`: kernels of the platform cannot call the host
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Platform`
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Callback`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn platform_register_rpc_callback(&self, platform: ol_platform_handle_t, callback: ol_platform_rpc_cb_t) -> Result<(), Error>;

    /// Tells, without waiting, whether a queue's work is done (`olQueryQueue`).
    ///
    /// * `queue` (in): the queue
    /// * `is_queue_work_completed` (out, may be null): receives the answer; null to learn only whether the queue works
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn query_queue(&self, queue: ol_queue_handle_t, is_queue_work_completed: *mut bool) -> Result<(), Error>;

    /// Undoes one call of olInit (`olShutDown`).
    ///
    /// * The last one ends the library: whatever was made by it is gone, and calls other than `olInit` return `OL_ERRC_UNINITIALIZED`.
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn shut_down(&self) -> Result<(), Error>;

    /// Waits until an event is complete (`olSyncEvent`).
    ///
    /// * `event` (in): the event
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_EVENT`: `Event` is not an event
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Event`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn sync_event(&self, event: ol_event_handle_t) -> Result<(), Error>;

    /// Waits until a queue's work is done (`olSyncQueue`).
    ///
    /// * `queue` (in): the queue
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn sync_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error>;

    /// Has later work of a queue wait for events (`olWaitEvents`).
    ///
    /// * Does not itself wait: work that is put into the queue from now on begins when all of `Events` are complete.
    /// * The events may be of any queues of devices of the queue's platform.
    ///
    /// * `queue` (in): the queue that waits
    /// * `events` (in): the events to wait for
    /// * `num_events` (in): how many events there are
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: an element of `Events` is null; `NULL == Queue`
    /// * `OL_ERRC_INVALID_EVENT`: an element of `Events` is not an event
    /// * `OL_ERRC_INVALID_NULL_POINTER`: `NULL == Events`
    ///
    /// # Safety
    ///
    /// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.
    unsafe fn wait_events(&self, queue: ol_queue_handle_t, events: *mut ol_event_handle_t, num_events: usize) -> Result<(), Error>;
}

//! The API for Rust programs that are linked to a library that has it.
//!
//! Handles are checked by the library, also whether they still exist: what these functions promise holds with a library that does so.
//!
//! Made from OffloadAPI.td (LLVM 23) by offload-tblgen --gen-rust-safe; change that, not this file.

#![allow(clippy::too_many_arguments, reason = "a function has as many as its definition says")]

#[allow(unused_imports, reason = "not every API has functions that take text")]
use std::ffi::CStr;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use super::sys::*;
use crate::runtime::{Error, safe};

/// A context, in which devices share resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Context(ol_context_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave.
    pub unsafe fn from_raw(raw: ol_context_handle_t) -> Context {
        Context(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_context_handle_t {
        self.0
    }
}

/// A device, which belongs to a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Device(ol_device_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave.
    pub unsafe fn from_raw(raw: ol_device_handle_t) -> Device {
        Device(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_device_handle_t {
        self.0
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
    pub fn calculate_optimal_occupancy(&self, kernel: &Symbol, shared_memory: usize) -> Result<usize, Error> {
        let mut group_size = MaybeUninit::<usize>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olCalculateOptimalOccupancy(self.0, kernel.0, shared_memory, group_size.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { group_size.assume_init() })
    }

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
    pub unsafe fn create_program(&self, prog_data: *const c_void, prog_data_size: usize) -> Result<Program, Error> {
        let mut program = MaybeUninit::<ol_program_handle_t>::zeroed();
        // SAFETY: the caller says so.
        unsafe { safe::result(olCreateProgram(self.0, prog_data, prog_data_size, program.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { Program(program.assume_init()) })
    }

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
    pub fn create_queue(&self) -> Result<Queue, Error> {
        let mut queue = MaybeUninit::<ol_queue_handle_t>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olCreateQueue(self.0, queue.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { Queue(queue.assume_init()) })
    }

    /// its kind (`OL_DEVICE_INFO_TYPE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_type(&self) -> Result<ol_device_type_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_TYPE, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_device_type_t>(get) }?;
        Ok(value)
    }

    /// the platform that it belongs to (`OL_DEVICE_INFO_PLATFORM`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_platform(&self) -> Result<Platform, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get =
            |size: usize, value: *mut c_void| unsafe { olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_PLATFORM, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_platform_handle_t>(get) }?;
        Ok(Platform(value))
    }

    /// its name, as the driver gives it (`OL_DEVICE_INFO_NAME`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_name(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NAME, size, value) };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetDeviceInfoSize(self.0, ol_device_info_t::OL_DEVICE_INFO_NAME, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// the name under which it is sold (`OL_DEVICE_INFO_PRODUCT_NAME`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_product_name(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_PRODUCT_NAME, size, value)
        };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetDeviceInfoSize(self.0, ol_device_info_t::OL_DEVICE_INFO_PRODUCT_NAME, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// a text that no other device of this machine has (`OL_DEVICE_INFO_UID`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_uid(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_UID, size, value) };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetDeviceInfoSize(self.0, ol_device_info_t::OL_DEVICE_INFO_UID, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// who made it (`OL_DEVICE_INFO_VENDOR`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_vendor(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get =
            |size: usize, value: *mut c_void| unsafe { olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_VENDOR, size, value) };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetDeviceInfoSize(self.0, ol_device_info_t::OL_DEVICE_INFO_VENDOR, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// the version of its driver (`OL_DEVICE_INFO_DRIVER_VERSION`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_driver_version(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_DRIVER_VERSION, size, value)
        };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetDeviceInfoSize(self.0, ol_device_info_t::OL_DEVICE_INFO_DRIVER_VERSION, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// the most work items that a work group may have (`OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_max_work_group_size(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// the most work items that a work group may have in each dimension (`OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_max_work_group_size_per_dimension(&self) -> Result<ol_dimensions_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_dimensions_t>(get) }?;
        Ok(value)
    }

    /// the most work items that a launch may have (`OL_DEVICE_INFO_MAX_WORK_SIZE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_max_work_size(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_SIZE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// the most work items that a launch may have in each dimension (`OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_max_work_size_per_dimension(&self) -> Result<ol_dimensions_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_dimensions_t>(get) }?;
        Ok(value)
    }

    /// its maker's number in the PCI registry (`OL_DEVICE_INFO_VENDOR_ID`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_vendor_id(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get =
            |size: usize, value: *mut c_void| unsafe { olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_VENDOR_ID, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many units run work groups at the same time (`OL_DEVICE_INFO_NUM_COMPUTE_UNITS`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_num_compute_units(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NUM_COMPUTE_UNITS, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// the highest clock rate of those units, in MHz (`OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_max_clock_frequency(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// the clock rate of its memory, in MHz (`OL_DEVICE_INFO_MEMORY_CLOCK_RATE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_memory_clock_rate(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MEMORY_CLOCK_RATE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many bits an address in its memory has (`OL_DEVICE_INFO_ADDRESS_BITS`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_address_bits(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_ADDRESS_BITS, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// the largest single allocation, in bytes (`OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_max_mem_alloc_size(&self) -> Result<u64, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u64>(get) }?;
        Ok(value)
    }

    /// how much memory it has, in bytes (`OL_DEVICE_INFO_GLOBAL_MEM_SIZE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_global_mem_size(&self) -> Result<u64, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_GLOBAL_MEM_SIZE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u64>(get) }?;
        Ok(value)
    }

    /// how much local memory a work group may have, in bytes (`OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_work_group_local_mem_size(&self) -> Result<u64, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u64>(get) }?;
        Ok(value)
    }

    /// what its single-precision arithmetic does (`OL_DEVICE_INFO_SINGLE_FP_CONFIG`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_single_fp_config(&self) -> Result<ol_device_fp_capability_flags_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_SINGLE_FP_CONFIG, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_device_fp_capability_flags_t>(get) }?;
        Ok(value)
    }

    /// what its double-precision arithmetic does (`OL_DEVICE_INFO_DOUBLE_FP_CONFIG`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_double_fp_config(&self) -> Result<ol_device_fp_capability_flags_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_DOUBLE_FP_CONFIG, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_device_fp_capability_flags_t>(get) }?;
        Ok(value)
    }

    /// what its half-precision arithmetic does (`OL_DEVICE_INFO_HALF_FP_CONFIG`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_half_fp_config(&self) -> Result<ol_device_fp_capability_flags_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_HALF_FP_CONFIG, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_device_fp_capability_flags_t>(get) }?;
        Ok(value)
    }

    /// how many elements of type char its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_char(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many elements of type short its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_short(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many elements of type int its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_int(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many elements of type long its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_long(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many elements of type float its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_float(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many elements of type double its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_double(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// how many elements of type half its own vectors hold (`OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_native_vector_width_half(&self) -> Result<u32, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u32>(get) }?;
        Ok(value)
    }

    /// whether it computes in single precision (`OL_DEVICE_INFO_SINGLE_FP_SUPPORT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_single_fp_support(&self) -> Result<bool, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_SINGLE_FP_SUPPORT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u8>(get) }?;
        Ok(value != 0)
    }

    /// whether it computes in double precision (`OL_DEVICE_INFO_DOUBLE_FP_SUPPORT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_double_fp_support(&self) -> Result<bool, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_DOUBLE_FP_SUPPORT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u8>(get) }?;
        Ok(value != 0)
    }

    /// whether it computes in half precision (`OL_DEVICE_INFO_HALF_FP_SUPPORT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_half_fp_support(&self) -> Result<bool, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_HALF_FP_SUPPORT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u8>(get) }?;
        Ok(value != 0)
    }

    /// whether all work groups of a launch can wait for one another (`OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT`).
    ///
    /// # Errors
    ///
    /// Those of `olGetDeviceInfo`.
    pub fn info_cooperative_launch_support(&self) -> Result<bool, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetDeviceInfo(self.0, ol_device_info_t::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u8>(get) }?;
        Ok(value != 0)
    }

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
    pub fn get_kernel_max_cooperative_group_count(
        &self,
        kernel: &Symbol,
        launch_size_args: &ol_kernel_launch_size_args_t,
    ) -> Result<u32, Error> {
        let mut max_group_count = MaybeUninit::<u32>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olGetKernelMaxCooperativeGroupCount(self.0, kernel.0, launch_size_args, max_group_count.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { max_group_count.assume_init() })
    }

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
    pub unsafe fn is_valid_binary(&self, prog_data: *const c_void, prog_data_size: usize) -> Result<bool, Error> {
        let mut valid = MaybeUninit::<bool>::zeroed();
        // SAFETY: the caller says so.
        unsafe { safe::result(olIsValidBinary(self.0, prog_data, prog_data_size, valid.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { valid.assume_init() })
    }

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
    pub fn mem_alloc(&self, r#type: ol_alloc_type_t, size: usize) -> Result<*mut c_void, Error> {
        let mut allocation_out = MaybeUninit::<*mut c_void>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olMemAlloc(self.0, r#type, size, allocation_out.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { allocation_out.assume_init() })
    }

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
    pub fn mem_alloc_aligned(&self, r#type: ol_alloc_type_t, size: usize, alignment: usize) -> Result<*mut c_void, Error> {
        let mut allocation_out = MaybeUninit::<*mut c_void>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olMemAllocAligned(self.0, r#type, size, alignment, allocation_out.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { allocation_out.assume_init() })
    }

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
    pub unsafe fn mem_register(&self, ptr: *mut c_void, size: usize, flags: ol_memory_register_flags_t) -> Result<*mut c_void, Error> {
        let mut pinned_ptr = MaybeUninit::<*mut c_void>::zeroed();
        // SAFETY: the caller says so.
        unsafe { safe::result(olMemRegister(self.0, ptr, size, flags, pinned_ptr.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { pinned_ptr.assume_init() })
    }

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
    pub unsafe fn mem_unregister(&self, ptr: *mut c_void, flags: ol_memory_register_flags_t) -> Result<(), Error> {
        // SAFETY: the caller says so.
        unsafe { safe::result(olMemUnregister(self.0, ptr, flags)) }?;
        Ok(())
    }
}

/// An event: a point in a queue's work.
///
/// Dropping it calls `olDestroyEvent`. If that fails, [`take_drop_errors`](crate::runtime::safe::take_drop_errors) tells; [`destroy`](Self::destroy) tells at once.
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Event(ol_event_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave, and no one else destroys it.
    pub unsafe fn from_raw(raw: ol_event_handle_t) -> Event {
        Event(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_event_handle_t {
        self.0
    }

    /// Gives the handle up: nothing destroys it any more.
    pub fn into_raw(self) -> ol_event_handle_t {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Destroys it.
    ///
    /// # Errors
    ///
    /// Those of `olDestroyEvent`.
    pub fn destroy(self) -> Result<(), Error> {
        // SAFETY: the handle is this value's, which is gone afterwards.
        unsafe { safe::result(olDestroyEvent(self.into_raw())) }
    }

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
    pub fn get_event_elapsed_time(&self, end_event: &Event) -> Result<f32, Error> {
        let mut elapsed_time = MaybeUninit::<f32>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olGetEventElapsedTime(self.0, end_event.0, elapsed_time.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { elapsed_time.assume_init() })
    }

    /// the queue whose work it marks (`OL_EVENT_INFO_QUEUE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetEventInfo`.
    pub fn info_queue(&self) -> Result<ol_queue_handle_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetEventInfo(self.0, ol_event_info_t::OL_EVENT_INFO_QUEUE, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_queue_handle_t>(get) }?;
        Ok(value)
    }

    /// whether it is complete (`OL_EVENT_INFO_IS_COMPLETE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetEventInfo`.
    pub fn info_is_complete(&self) -> Result<bool, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get =
            |size: usize, value: *mut c_void| unsafe { olGetEventInfo(self.0, ol_event_info_t::OL_EVENT_INFO_IS_COMPLETE, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u8>(get) }?;
        Ok(value != 0)
    }

    /// Waits until an event is complete (`olSyncEvent`).
    ///
    /// * `event` (in): the event
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_EVENT`: `Event` is not an event
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Event`
    pub fn sync_event(&self) -> Result<(), Error> {
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olSyncEvent(self.0)) }?;
        Ok(())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's, which is gone afterwards.
        safe::dropped(unsafe { safe::result(olDestroyEvent(self.0)) });
    }
}

/// A platform: the devices that one driver serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Platform(ol_platform_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Platform {}
// SAFETY: as above.
unsafe impl Sync for Platform {}

impl Platform {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave.
    pub unsafe fn from_raw(raw: ol_platform_handle_t) -> Platform {
        Platform(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_platform_handle_t {
        self.0
    }

    /// its name (`OL_PLATFORM_INFO_NAME`).
    ///
    /// # Errors
    ///
    /// Those of `olGetPlatformInfo`.
    pub fn info_name(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get =
            |size: usize, value: *mut c_void| unsafe { olGetPlatformInfo(self.0, ol_platform_info_t::OL_PLATFORM_INFO_NAME, size, value) };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetPlatformInfoSize(self.0, ol_platform_info_t::OL_PLATFORM_INFO_NAME, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// who made it (`OL_PLATFORM_INFO_VENDOR_NAME`).
    ///
    /// # Errors
    ///
    /// Those of `olGetPlatformInfo`.
    pub fn info_vendor_name(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetPlatformInfo(self.0, ol_platform_info_t::OL_PLATFORM_INFO_VENDOR_NAME, size, value)
        };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetPlatformInfoSize(self.0, ol_platform_info_t::OL_PLATFORM_INFO_VENDOR_NAME, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// the version of its driver (`OL_PLATFORM_INFO_VERSION`).
    ///
    /// # Errors
    ///
    /// Those of `olGetPlatformInfo`.
    pub fn info_version(&self) -> Result<String, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetPlatformInfo(self.0, ol_platform_info_t::OL_PLATFORM_INFO_VERSION, size, value)
        };
        // SAFETY: the handle is checked by the library; `size` is a place for the size.
        let size = |size: *mut usize| unsafe { olGetPlatformInfoSize(self.0, ol_platform_info_t::OL_PLATFORM_INFO_VERSION, size) };
        // SAFETY: both are functions of the library, which write no more than they are given room for.
        let bytes = unsafe { safe::bytes(size, get) }?;
        Ok(safe::text(&bytes))
    }

    /// the driver interface behind it (`OL_PLATFORM_INFO_BACKEND`).
    ///
    /// # Errors
    ///
    /// Those of `olGetPlatformInfo`.
    pub fn info_backend(&self) -> Result<ol_platform_backend_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetPlatformInfo(self.0, ol_platform_info_t::OL_PLATFORM_INFO_BACKEND, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_platform_backend_t>(get) }?;
        Ok(value)
    }

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
    pub unsafe fn platform_register_rpc_callback(&self, callback: ol_platform_rpc_cb_t) -> Result<(), Error> {
        // SAFETY: the caller says so.
        unsafe { safe::result(olPlatformRegisterRPCCallback(self.0, callback)) }?;
        Ok(())
    }
}

/// A program, loaded on one device.
///
/// Dropping it calls `olDestroyProgram`. If that fails, [`take_drop_errors`](crate::runtime::safe::take_drop_errors) tells; [`destroy`](Self::destroy) tells at once.
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Program(ol_program_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Program {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave, and no one else destroys it.
    pub unsafe fn from_raw(raw: ol_program_handle_t) -> Program {
        Program(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_program_handle_t {
        self.0
    }

    /// Gives the handle up: nothing destroys it any more.
    pub fn into_raw(self) -> ol_program_handle_t {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Destroys it.
    ///
    /// # Errors
    ///
    /// Those of `olDestroyProgram`.
    pub fn destroy(self) -> Result<(), Error> {
        // SAFETY: the handle is this value's, which is gone afterwards.
        unsafe { safe::result(olDestroyProgram(self.into_raw())) }
    }

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
    pub fn get_symbol(&self, name: &CStr, kind: ol_symbol_kind_t) -> Result<Symbol, Error> {
        let mut symbol = MaybeUninit::<ol_symbol_handle_t>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olGetSymbol(self.0, name.as_ptr(), kind, symbol.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { Symbol(symbol.assume_init()) })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's, which is gone afterwards.
        safe::dropped(unsafe { safe::result(olDestroyProgram(self.0)) });
    }
}

/// A queue: work for one device, done in order.
///
/// Dropping it calls `olDestroyQueue`. If that fails, [`take_drop_errors`](crate::runtime::safe::take_drop_errors) tells; [`destroy`](Self::destroy) tells at once.
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Queue(ol_queue_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave, and no one else destroys it.
    pub unsafe fn from_raw(raw: ol_queue_handle_t) -> Queue {
        Queue(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_queue_handle_t {
        self.0
    }

    /// Gives the handle up: nothing destroys it any more.
    pub fn into_raw(self) -> ol_queue_handle_t {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Destroys it.
    ///
    /// # Errors
    ///
    /// Those of `olDestroyQueue`.
    pub fn destroy(self) -> Result<(), Error> {
        // SAFETY: the handle is this value's, which is gone afterwards.
        unsafe { safe::result(olDestroyQueue(self.into_raw())) }
    }

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
    pub fn create_event(&self, flags: ol_event_flags_t) -> Result<Event, Error> {
        let mut event = MaybeUninit::<ol_event_handle_t>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olCreateEvent(self.0, flags, event.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { Event(event.assume_init()) })
    }

    /// the device that does its work (`OL_QUEUE_INFO_DEVICE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetQueueInfo`.
    pub fn info_device(&self) -> Result<Device, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetQueueInfo(self.0, ol_queue_info_t::OL_QUEUE_INFO_DEVICE, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_device_handle_t>(get) }?;
        Ok(Device(value))
    }

    /// whether it is known to have no work left; always false where the driver cannot tell (`OL_QUEUE_INFO_EMPTY`).
    ///
    /// # Errors
    ///
    /// Those of `olGetQueueInfo`.
    pub fn info_empty(&self) -> Result<bool, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetQueueInfo(self.0, ol_queue_info_t::OL_QUEUE_INFO_EMPTY, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<u8>(get) }?;
        Ok(value != 0)
    }

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
    pub unsafe fn launch_host_function(&self, callback: ol_host_function_cb_t, user_data: *mut c_void) -> Result<(), Error> {
        // SAFETY: the caller says so.
        unsafe { safe::result(olLaunchHostFunction(self.0, callback, user_data)) }?;
        Ok(())
    }

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
    pub unsafe fn mem_prefetch(
        &self,
        count: usize,
        mems: *mut *const c_void,
        sizes: *const usize,
        flags: ol_mem_migration_flags_t,
    ) -> Result<(), Error> {
        // SAFETY: the caller says so.
        unsafe { safe::result(olMemPrefetch(self.0, count, mems, sizes, flags)) }?;
        Ok(())
    }

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
    pub fn query_queue(&self) -> Result<bool, Error> {
        let mut is_queue_work_completed = MaybeUninit::<bool>::zeroed();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olQueryQueue(self.0, is_queue_work_completed.as_mut_ptr())) }?;
        // SAFETY: the call succeeded, and so has written what it writes.
        Ok(unsafe { is_queue_work_completed.assume_init() })
    }

    /// Waits until a queue's work is done (`olSyncQueue`).
    ///
    /// * `queue` (in): the queue
    ///
    /// # Errors
    ///
    /// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
    /// * `OL_ERRC_INVALID_QUEUE`: `Queue` is not a queue
    /// * `OL_ERRC_INVALID_NULL_HANDLE`: `NULL == Queue`
    pub fn sync_queue(&self) -> Result<(), Error> {
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olSyncQueue(self.0)) }?;
        Ok(())
    }

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
    pub fn wait_events(&self, events: &[&Event]) -> Result<(), Error> {
        let events: Vec<_> = events.iter().map(|handle| handle.as_raw()).collect();
        // SAFETY: all pointers are to values that are borrowed or made here.
        unsafe { safe::result(olWaitEvents(self.0, events.as_ptr().cast_mut(), events.len())) }?;
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's, which is gone afterwards.
        safe::dropped(unsafe { safe::result(olDestroyQueue(self.0)) });
    }
}

/// A kernel or a global variable of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Symbol(ol_symbol_handle_t);

// SAFETY: the API's functions can be called from any thread.
unsafe impl Send for Symbol {}
// SAFETY: as above.
unsafe impl Sync for Symbol {}

impl Symbol {
    /// Takes a handle that C code has.
    ///
    /// # Safety
    ///
    /// The handle is one that a function of this API gave.
    pub unsafe fn from_raw(raw: ol_symbol_handle_t) -> Symbol {
        Symbol(raw)
    }

    /// The handle as C code knows it. It stays this value's.
    pub fn as_raw(&self) -> ol_symbol_handle_t {
        self.0
    }

    /// its kind (`OL_SYMBOL_INFO_KIND`).
    ///
    /// # Errors
    ///
    /// Those of `olGetSymbolInfo`.
    pub fn info_kind(&self) -> Result<ol_symbol_kind_t, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe { olGetSymbolInfo(self.0, ol_symbol_info_t::OL_SYMBOL_INFO_KIND, size, value) };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<ol_symbol_kind_t>(get) }?;
        Ok(value)
    }

    /// where a global variable lies in the device's memory (`OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS`).
    ///
    /// # Errors
    ///
    /// Those of `olGetSymbolInfo`.
    pub fn info_global_variable_address(&self) -> Result<*mut c_void, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetSymbolInfo(self.0, ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<*mut c_void>(get) }?;
        Ok(value)
    }

    /// how many bytes a global variable has (`OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE`).
    ///
    /// # Errors
    ///
    /// Those of `olGetSymbolInfo`.
    pub fn info_global_variable_size(&self) -> Result<usize, Error> {
        // SAFETY: the handle is checked by the library; there are `size` bytes at `value`.
        let get = |size: usize, value: *mut c_void| unsafe {
            olGetSymbolInfo(self.0, ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE, size, value)
        };
        // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
        let value = unsafe { safe::property::<usize>(get) }?;
        Ok(value)
    }
}

/// the device that it was allocated for (`OL_MEM_INFO_DEVICE`).
///
/// # Errors
///
/// Those of `olGetMemInfo`.
///
/// # Safety
///
/// What the pointers among the arguments point to is what the parameters say.
pub unsafe fn mem_info_device(ptr: *const c_void) -> Result<Device, Error> {
    // SAFETY: the caller says so; there are `size` bytes at `value`.
    let get = |size: usize, value: *mut c_void| unsafe { olGetMemInfo(ptr, ol_mem_info_t::OL_MEM_INFO_DEVICE, size, value) };
    // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
    let value = unsafe { safe::property::<ol_device_handle_t>(get) }?;
    Ok(Device(value))
}

/// the address of its first byte (`OL_MEM_INFO_BASE`).
///
/// # Errors
///
/// Those of `olGetMemInfo`.
///
/// # Safety
///
/// What the pointers among the arguments point to is what the parameters say.
pub unsafe fn mem_info_base(ptr: *const c_void) -> Result<*mut c_void, Error> {
    // SAFETY: the caller says so; there are `size` bytes at `value`.
    let get = |size: usize, value: *mut c_void| unsafe { olGetMemInfo(ptr, ol_mem_info_t::OL_MEM_INFO_BASE, size, value) };
    // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
    let value = unsafe { safe::property::<*mut c_void>(get) }?;
    Ok(value)
}

/// how many bytes it has (`OL_MEM_INFO_SIZE`).
///
/// # Errors
///
/// Those of `olGetMemInfo`.
///
/// # Safety
///
/// What the pointers among the arguments point to is what the parameters say.
pub unsafe fn mem_info_size(ptr: *const c_void) -> Result<usize, Error> {
    // SAFETY: the caller says so; there are `size` bytes at `value`.
    let get = |size: usize, value: *mut c_void| unsafe { olGetMemInfo(ptr, ol_mem_info_t::OL_MEM_INFO_SIZE, size, value) };
    // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
    let value = unsafe { safe::property::<usize>(get) }?;
    Ok(value)
}

/// where it lies (`OL_MEM_INFO_TYPE`).
///
/// # Errors
///
/// Those of `olGetMemInfo`.
///
/// # Safety
///
/// What the pointers among the arguments point to is what the parameters say.
pub unsafe fn mem_info_type(ptr: *const c_void) -> Result<ol_alloc_type_t, Error> {
    // SAFETY: the caller says so; there are `size` bytes at `value`.
    let get = |size: usize, value: *mut c_void| unsafe { olGetMemInfo(ptr, ol_mem_info_t::OL_MEM_INFO_TYPE, size, value) };
    // SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.
    let value = unsafe { safe::property::<ol_alloc_type_t>(get) }?;
    Ok(value)
}

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
pub unsafe fn init(init_args: Option<&ol_init_args_t>) -> Result<(), Error> {
    // SAFETY: the caller says so.
    unsafe { safe::result(olInit(init_args.map_or(ptr::null(), ptr::from_ref))) }?;
    Ok(())
}

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
pub unsafe fn iterate_devices(callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
    // SAFETY: the caller says so.
    unsafe { safe::result(olIterateDevices(callback, user_data)) }?;
    Ok(())
}

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
pub unsafe fn launch_kernel(
    queue: Option<&Queue>,
    device: &Device,
    kernel: &Symbol,
    launch_size_args: &ol_kernel_launch_size_args_t,
    properties: Option<&ol_kernel_launch_prop_t>,
    num_args: usize,
    arg_ptrs: *mut *mut c_void,
    arg_sizes: *const usize,
) -> Result<(), Error> {
    // SAFETY: the caller says so.
    unsafe {
        safe::result(olLaunchKernel(
            queue.map_or(ptr::null_mut(), Queue::as_raw),
            device.0,
            kernel.0,
            launch_size_args,
            properties.map_or(ptr::null(), ptr::from_ref),
            num_args,
            arg_ptrs,
            arg_sizes,
        ))
    }?;
    Ok(())
}

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
pub unsafe fn mem_fill(
    queue: Option<&Queue>,
    ptr: *mut c_void,
    pattern_size: usize,
    pattern_ptr: *const c_void,
    fill_size: usize,
) -> Result<(), Error> {
    // SAFETY: the caller says so.
    unsafe { safe::result(olMemFill(queue.map_or(ptr::null_mut(), Queue::as_raw), ptr, pattern_size, pattern_ptr, fill_size)) }?;
    Ok(())
}

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
pub unsafe fn mem_free(address: *mut c_void) -> Result<(), Error> {
    // SAFETY: the caller says so.
    unsafe { safe::result(olMemFree(address)) }?;
    Ok(())
}

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
pub unsafe fn memcpy(
    queue: Option<&Queue>,
    dst_ptr: *mut c_void,
    dst_device: &Device,
    src_ptr: *const c_void,
    src_device: &Device,
    size: usize,
) -> Result<(), Error> {
    // SAFETY: the caller says so.
    unsafe { safe::result(olMemcpy(queue.map_or(ptr::null_mut(), Queue::as_raw), dst_ptr, dst_device.0, src_ptr, src_device.0, size)) }?;
    Ok(())
}

/// Undoes one call of olInit (`olShutDown`).
///
/// * The last one ends the library: whatever was made by it is gone, and calls other than `olInit` return `OL_ERRC_UNINITIALIZED`.
///
/// # Errors
///
/// * `OL_ERRC_UNINITIALIZED`: the library is not initialised
pub fn shut_down() -> Result<(), Error> {
    // SAFETY: all pointers are to values that are borrowed or made here.
    unsafe { safe::result(olShutDown()) }?;
    Ok(())
}

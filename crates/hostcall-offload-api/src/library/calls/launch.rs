//! Launches, and what can be asked of a kernel before.

use std::ffi::c_void;
use std::sync::Arc;

use crate::library::Core;
use crate::library::arguments::Given;
use crate::library::backend::{Kernel, Shape};
use crate::library::device::Device;
use crate::library::error::{Launched, fail};
use crate::library::program::Symbol;
use crate::library::queue::refuse_in_host_function;
use crate::runtime::Error;
use crate::sys::*;

/// The shape of a launch. Dimensions that are not used are 1.
///
/// Read and written number by number: a processor waits for numbers that were stored apart and are loaded together, and
/// the caller may have stored these just now.
///
/// # Safety
/// There is such a structure at `arguments`.
#[inline(always)]
unsafe fn shape(arguments: *const ol_kernel_launch_size_args_t, cooperative: bool, shape: &mut Shape) -> Launched {
    // SAFETY: the caller's.
    let (used, shared) =
        unsafe { ((&raw const (*arguments).Dimensions).read_unaligned(), (&raw const (*arguments).DynSharedMemory).read_unaligned()) };
    if !(1..=3).contains(&used) {
        return Ok(fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, format!("LaunchSizeArgs->Dimensions is {used}: it must be 1, 2 or 3"))?);
    }
    // SAFETY: as above.
    let all = unsafe {
        [
            ("NumGroups", &raw const (*arguments).NumGroups, &mut shape.groups),
            ("GroupSize", &raw const (*arguments).GroupSize, &mut shape.size),
        ]
    };
    for (what, given, taken) in all {
        // SAFETY: as above.
        let [x, y, z] = unsafe { [&raw const (*given).x, &raw const (*given).y, &raw const (*given).z] };
        // SAFETY: as above.
        let number = |at: *const u32| unsafe { at.read_unaligned() };
        taken[0] = number(x);
        taken[1] = if used > 1 { number(y) } else { 1 };
        taken[2] = if used > 2 { number(z) } else { 1 };
        if taken.contains(&0) {
            let text = format!("LaunchSizeArgs->{what} is {taken:?}: no dimension may be 0");
            return Ok(fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text)?);
        }
    }
    let Ok(shared) = u32::try_from(shared) else {
        let text = format!("LaunchSizeArgs->DynSharedMemory is {shared}, more than any device has");
        return Ok(fail(ol_errc_t::OL_ERRC_INVALID_SIZE, text)?);
    };
    (shape.shared, shape.cooperative) = (shared, cooperative);
    Ok(())
}

/// What a list of properties says: whether the launch is cooperative.
///
/// # Safety
/// `properties` is null or a list that ends with `OL_KERNEL_LAUNCH_PROP_END`, whose values are of the types that go
/// with them.
#[inline(always)]
pub(in crate::library) unsafe fn is_cooperative(mut properties: *const ol_kernel_launch_prop_t) -> Result<bool, Error> {
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

/// The kernel that a symbol is, which must be one of the device.
#[inline(always)]
fn kernel_of<'a>(symbol: &'a Symbol, device: &Device) -> Result<&'a Arc<dyn Kernel>, Error> {
    let kernel = symbol.kernel()?;
    if !symbol.device.is(device) {
        return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, format!("`{}` is a kernel of a program on another device", symbol.name));
    }
    Ok(kernel)
}

/// The shape (`shape`) and the arguments of a launch.
///
/// # Safety
/// As `olLaunchKernel` says; the entry point checked that the structure is not null, and that the arrays are not if
/// there are arguments.
#[inline(always)]
unsafe fn described(
    size: *const ol_kernel_launch_size_args_t,
    properties: *const ol_kernel_launch_prop_t,
    count: usize,
    pointers: *mut *mut c_void,
    sizes: *const usize,
    shape: &mut Shape,
) -> Result<Given, Box<Error>> {
    // SAFETY: the caller's structure, list and arrays.
    unsafe {
        self::shape(size, is_cooperative(properties)?, shape)?;
        Ok(Given::new(count, pointers, sizes)?)
    }
}

impl Core {
    /// # Safety
    /// As `olLaunchKernel` says.
    #[expect(clippy::too_many_arguments, reason = "those of the function")]
    pub(in crate::library) unsafe fn launch_kernel(
        &self,
        queue: ol_queue_handle_t,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        launch_size_args: *const ol_kernel_launch_size_args_t,
        properties: *const ol_kernel_launch_prop_t,
        num_args: usize,
        arg_ptrs: *mut *mut c_void,
        arg_sizes: *const usize,
    ) -> Launched {
        let (device, mut shape) = (self.device(device)?, Shape::ONE);
        if queue.is_null() {
            let symbol = self.symbol_of(kernel)?;
            let kernel = kernel_of(&symbol, device)?;
            // SAFETY: the caller's.
            let arguments = unsafe { described(launch_size_args, properties, num_args, arg_ptrs, arg_sizes, &mut shape) }?;
            refuse_in_host_function("olLaunchKernel without a queue")?;
            // SAFETY: the caller says what kernels do with their arguments.
            let done = device.at_once(|queue| unsafe { queue.launch(kernel, &shape, &arguments) }.map_err(|error| *error));
            return Ok(kernel.host_calls().map_or(done.clone(), |calls| calls.collected(done))?);
        }
        self.launches.with(self, queue, kernel, |queue, symbol| {
            if !queue.device.is(device) {
                return Ok(fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, "Device is not the device of Queue")?);
            }
            let kernel = kernel_of(symbol, device)?;
            // SAFETY: the caller's.
            let arguments = unsafe { described(launch_size_args, properties, num_args, arg_ptrs, arg_sizes, &mut shape) }?;
            // SAFETY: as above.
            unsafe { queue.launch(kernel, &shape, &arguments) }
        })
    }

    pub(in crate::library) fn optimal_group_size(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        shared_memory: usize,
    ) -> Result<usize, Error> {
        let (device, symbol) = (self.device(device)?, self.symbol_of(kernel)?);
        kernel_of(&symbol, device)?.optimal_group_size(shared_memory)
    }

    pub(in crate::library) fn max_cooperative_groups(
        &self,
        device: ol_device_handle_t,
        kernel: ol_symbol_handle_t,
        mut size: ol_kernel_launch_size_args_t,
    ) -> Result<u32, Error> {
        let (device, symbol) = (self.device(device)?, self.symbol_of(kernel)?);
        // The number of groups does not matter, so it may be anything.
        size.NumGroups = ol_dimensions_t { x: 1, y: 1, z: 1 };
        let mut shape = Shape::ONE;
        // SAFETY: a structure.
        unsafe { self::shape(&raw const size, true, &mut shape) }.map_err(|error| *error)?;
        kernel_of(&symbol, device)?.max_cooperative_groups(&shape)
    }
}

//! Kernels: their parameters, how they are launched, and how many fit.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::{Flat, FlatStream};
use crate::backend::BackendKernel;
use crate::cuda::driver::Status;
use crate::cuda::fault;
use crate::cuda::module::Function;
use crate::error::Error;
use crate::queue::Launch;

/// A kernel, which keeps its program loaded.
#[derive(Clone)]
pub struct FlatKernel {
    function: Arc<Function>,
    /// Sizes of the parameters, if the driver tells.
    parameters: Option<Arc<[usize]>>,
}

/// No kernel has more: 32 764 bytes.
const MOST_PARAMETERS: usize = 1 << 15;

thread_local! {
    /// Bytes of shared memory that each item needs, while the driver asks for a group's.
    static SHARED_PER_ITEM: Cell<usize> = const { Cell::new(0) };
}

/// `CUoccupancyB2DSize`: bytes of dynamic shared memory that a group of this many items needs.
unsafe extern "C" fn shared_of_group(items: c_int) -> usize {
    SHARED_PER_ITEM.get().saturating_mul(usize::try_from(items).unwrap_or(0))
}

impl FlatKernel {
    pub(super) fn new(function: Function) -> Result<FlatKernel, Error> {
        let function = Arc::new(function);
        let mut sizes = Vec::new();
        let entered = function.module.context.enter()?;
        let parameters = loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: out parameters; a live function.
            match unsafe { entered.driver.function_parameter(function.raw, sizes.len(), &mut offset, &mut size) } {
                Ok(()) if sizes.len() < MOST_PARAMETERS => sizes.push(size),
                // There is no parameter of this number.
                Err(failed) if failed.status == Status::INVALID_VALUE => break Some(sizes.into()),
                Err(failed) if failed.status.is_sticky() => return Err(entered.error(&failed)),
                _ => break None,
            }
        };
        drop(entered);
        Ok(FlatKernel { function, parameters })
    }

    /// Sizes of its parameters, if the driver tells.
    #[inline]
    pub fn parameters(&self) -> Option<&[usize]> {
        self.parameters.as_deref()
    }

    /// The most items of a group.
    pub fn max_group_size(&self) -> u32 {
        self.function.info().max_group_size
    }

    /// The size of groups with which the device is used best.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn best_group_size(&self, shared_per_item: usize) -> Result<u32, Error> {
        let entered = self.function.module.context.enter()?;
        let (mut groups, mut items) = (0, 0);
        SHARED_PER_ITEM.set(shared_per_item);
        // SAFETY: out parameters; a live function; the driver calls `shared_of_group` on this thread during the call.
        entered.check(unsafe { entered.driver.occupancy_group_size(&mut groups, &mut items, self.function.raw, shared_of_group, 0, 0) })?;
        Ok(u32::try_from(items).unwrap_or(0))
    }

    /// How many groups of this size are resident on one multiprocessor.
    ///
    /// # Errors
    /// When the driver does not tell.
    pub fn resident_groups(&self, items: u32, shared: u32) -> Result<u32, Error> {
        let entered = self.function.module.context.enter()?;
        let mut groups = 0;
        let items = c_int::try_from(items).unwrap_or(c_int::MAX);
        // SAFETY: an out parameter; a live function.
        entered.check(unsafe { entered.driver.occupancy_groups(&mut groups, self.function.raw, items, shared as usize) })?;
        Ok(u32::try_from(groups).unwrap_or(0))
    }
}

impl FlatStream {
    /// Launches a kernel.
    ///
    /// # Safety
    /// * `pointers` are as many pointers as the kernel has parameters (null if it has none), each to as many bytes as
    ///   the parameter has;
    /// * what the kernel does with them is right: see [`crate::Queue::launch`].
    ///
    /// # Errors
    /// [`Error::Launch`] for a shape that the device cannot run, [`Error::DeviceLost`].
    // For results that hold errors, which are large: they stay out of memory.
    #[inline(always)]
    pub unsafe fn launch(
        &self,
        kernel: &FlatKernel,
        groups: [u32; 3],
        group_size: [u32; 3],
        dynamic_shared: u32,
        cooperative: bool,
        pointers: *mut *mut c_void,
    ) -> Result<(), Error> {
        let function = &kernel.function;
        if !Arc::ptr_eq(&function.module.context, &self.context) {
            return Err(Error::WrongDevice { what: "the kernel" });
        }
        if !function.allows_dynamic_shared(dynamic_shared) {
            function.allow_dynamic_shared(&self.context.enter()?, dynamic_shared)?;
        }
        let ([gx, gy, gz], [bx, by, bz], shared) = (groups, group_size, dynamic_shared);
        let _putting = self.work.begin();
        self.context.call(
            // SAFETY: live handles; the driver copies each parameter before it returns.
            |driver| unsafe {
                if cooperative {
                    driver.launch_cooperative(function.raw, gx, gy, gz, bx, by, bz, shared, self.raw, pointers)
                } else {
                    driver.launch_kernel(function.raw, gx, gy, gz, bx, by, bz, shared, self.raw, pointers, std::ptr::null_mut())
                }
            },
            |failed| match failed.status {
                Status::INVALID_VALUE | Status::LAUNCH_OUT_OF_RESOURCES => {
                    let launch = Launch { groups, group_size, dynamic_shared };
                    fault::launch(&function.name, &launch, function.info(), self.context.driver, failed)
                }
                _ => self.context.error(failed),
            },
        )
    }
}

impl Flat {
    /// Whether a kernel is of this device.
    #[inline]
    pub fn owns(&self, kernel: &FlatKernel) -> bool {
        Arc::ptr_eq(&kernel.function.module.context, &self.context)
    }
}

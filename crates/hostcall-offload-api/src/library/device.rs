//! Devices, and what can be asked of them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::backend::{self, Properties};
use super::error::{Launched, fail};
use super::info::Value;
use super::session::Session;
use crate::runtime::Error;
use crate::sys::{ol_device_info_t, ol_errc_t};

/// A device, for as long as the process runs.
pub(super) struct Device {
    /// Its platform's place among the platforms.
    pub(super) platform: usize,
    /// Its place among the platform's devices.
    pub(super) ordinal: usize,
    pub(super) driver: Arc<dyn backend::Device>,
    properties: OnceLock<Result<Properties, Error>>,
    /// Queues for calls without one, that no call uses now.
    idle: Mutex<Vec<Arc<dyn backend::Queue>>>,
}

impl Device {
    pub(super) fn new(platform: usize, ordinal: usize, driver: Arc<dyn backend::Device>) -> Device {
        Device { platform, ordinal, driver, properties: OnceLock::new(), idle: Mutex::default() }
    }

    /// Whether both are the same.
    pub(super) fn is(&self, other: &Device) -> bool {
        std::ptr::eq(self, other)
    }

    /// Puts work into a queue that nobody else uses meanwhile, and waits for it.
    pub(super) fn at_once(&self, work: impl FnOnce(&dyn backend::Queue) -> Result<(), Error>) -> Result<(), Error> {
        let work = |queue: &dyn backend::Queue| {
            // Waited for even if not all of the work was taken, so that nothing is left of it. What was taken reports
            // its own failure.
            let taken = work(queue);
            Ok(taken.and(queue.synchronize())?)
        };
        self.with_idle_queue(work).map_err(|error| *error)
    }

    /// Lends a queue that nobody else uses meanwhile. `work` leaves nothing in it, unless it fails: then the queue is
    /// not used again.
    #[inline(always)]
    pub(super) fn with_idle_queue(&self, work: impl FnOnce(&dyn backend::Queue) -> Launched) -> Launched {
        self.driver.may_wait()?;
        let queue = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let queue = queue.map_or_else(|| self.driver.queue(), Ok)?;
        work(&*queue)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(queue);
        Ok(())
    }

    /// Ends a session: no queue of it is left.
    pub(super) fn end(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.driver.drain();
    }

    #[inline]
    fn properties(&self) -> Result<&Properties, Error> {
        self.properties.get_or_init(|| self.driver.properties()).as_ref().map_err(Clone::clone)
    }

    /// Whether kernels can use any memory of the host.
    #[cfg(llvm24)]
    pub(super) fn reaches_host(&self) -> bool {
        self.properties().is_ok_and(|all| all.reaches_host)
    }

    /// Its name, or why it has none.
    pub(super) fn name(&self) -> String {
        self.properties().map_or_else(|error| error.to_string(), |all| all.name.clone())
    }

    /// The value of a property.
    #[inline]
    pub(super) fn info(&self, session: &Session, name: ol_device_info_t) -> Result<Value<'_>, Error> {
        use ol_device_info_t as D;
        let all = self.properties()?;
        let known = |value: Option<u32>| match value {
            Some(value) => Ok(Value::U32(value)),
            None => fail(ol_errc_t::OL_ERRC_UNSUPPORTED, format!("the driver of {} does not tell this property", all.name)),
        };
        let [single, double, half] = all.arithmetic;
        let [chars, shorts, ints, longs, floats, doubles, halves] = all.vector_widths;
        Ok(match name {
            D::OL_DEVICE_INFO_TYPE => Value::U32(all.kind.0),
            D::OL_DEVICE_INFO_PLATFORM => Value::Pointer(session.platform_handle(self.platform)),
            D::OL_DEVICE_INFO_NAME => Value::Text(&all.name),
            D::OL_DEVICE_INFO_PRODUCT_NAME => Value::Text(&all.product_name),
            D::OL_DEVICE_INFO_UID => Value::Text(&all.uid),
            D::OL_DEVICE_INFO_VENDOR => Value::Text(&all.vendor),
            D::OL_DEVICE_INFO_DRIVER_VERSION => Value::Text(&all.driver_version),
            D::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE => Value::U32(all.max_group_size),
            D::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION => Value::Dimensions(all.max_group_dimensions),
            D::OL_DEVICE_INFO_MAX_WORK_SIZE => Value::U32(all.max_work_size),
            D::OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION => Value::Dimensions(all.max_work_dimensions),
            D::OL_DEVICE_INFO_VENDOR_ID => Value::U32(all.vendor_id),
            D::OL_DEVICE_INFO_NUM_COMPUTE_UNITS => Value::U32(all.compute_units),
            D::OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY => known(all.clock)?,
            D::OL_DEVICE_INFO_MEMORY_CLOCK_RATE => known(all.memory_clock)?,
            D::OL_DEVICE_INFO_ADDRESS_BITS => Value::U32(usize::BITS),
            D::OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE => Value::U64(all.max_allocation),
            D::OL_DEVICE_INFO_GLOBAL_MEM_SIZE => Value::U64(all.memory),
            D::OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE => Value::U64(all.local_memory),
            D::OL_DEVICE_INFO_SINGLE_FP_CONFIG => Value::U32(single),
            D::OL_DEVICE_INFO_DOUBLE_FP_CONFIG => Value::U32(double),
            D::OL_DEVICE_INFO_HALF_FP_CONFIG => Value::U32(half),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR => Value::U32(chars),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT => Value::U32(shorts),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT => Value::U32(ints),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG => Value::U32(longs),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT => Value::U32(floats),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE => Value::U32(doubles),
            D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF => Value::U32(halves),
            D::OL_DEVICE_INFO_SINGLE_FP_SUPPORT => Value::Bool(single != 0),
            D::OL_DEVICE_INFO_DOUBLE_FP_SUPPORT => Value::Bool(double != 0),
            D::OL_DEVICE_INFO_HALF_FP_SUPPORT => Value::Bool(half != 0),
            D::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT => Value::Bool(all.cooperative),
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_NUM_LANES => Value::U32(all.lanes),
            // One driver serves all devices of a platform.
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_DRIVER_ID => Value::U32(0),
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_COMPUTE_UNIT_KIND => Value::Text(&all.arch),
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_TIMESTAMP_FREQUENCY => Value::U64(all.timestamps_per_second),
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_HARDWARE_PARALLELISM => Value::U64(all.resident_waves.into()),
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE => Value::U32(default_group(all)),
            #[cfg(llvm24)]
            D::OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS => {
                Value::U32((u64::from(all.resident_waves) * u64::from(all.lanes) / u64::from(default_group(all).max(1))).max(1) as u32)
            }
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of devices", other.0)),
        })
    }
}

/// The number of items of a group where nothing speaks for another: whole waves, and enough of them to hide waiting.
#[cfg(llvm24)]
fn default_group(all: &Properties) -> u32 {
    const ITEMS: u32 = 128;
    ITEMS.min(all.max_group_size)
}

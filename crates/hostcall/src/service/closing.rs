//! Whether a port buffer is being taken out of service.

use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::Status;

/// The status with which calls end instead of being handled, once there is one.
#[derive(Debug, Default)]
pub(crate) struct Closing(AtomicU32);

impl Closing {
    /// From now on calls that no handler has begun end with this status.
    pub(crate) fn set(&self, status: Status) {
        // Pairs with the load in `get`. Relaxed: a call that slips through is merely handled.
        self.0.store(u32::from(status.0), Ordering::Relaxed);
    }

    /// The status, if there is one.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<Status> {
        // Pairs with the store in `set`.
        Some(Status(self.0.load(Ordering::Relaxed) as u16)).filter(|&status| status != Status::OK)
    }
}

//! What lanes do to memory: a stream of [`Access`]es, for heat maps, use of cache lines and bank conflicts.
//!
//! Each function is a message of all lanes that run converged at its call, each with its own address. It accesses
//! nothing itself. [`access!`](crate::access) also says where in the source that is.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! use hostcall::prelude::*;
//! use hostcall::stream::access;
//!
//! #[kernel]
//! pub fn double(values: &mut [f32]) {
//!     let i = global_id();
//!     access::read(&values[i]);
//!     hostcall::access!(write, &values[i]);
//!     values[i] *= 2.0;
//! }
//! # fn main() {}
//! ```

pub use hostcall_abi::stream::{Access, AccessKind, Space};

use super::{Sent, Site, send_units, units_of, words};
use crate::arch::current as arch;

words!(Access, __HOSTCALL_STREAM__Access, __HOSTCALL_SCHEMA__Access);

/// Whether anybody wants these messages: for what is costly to prepare.
#[inline(always)]
pub fn armed() -> bool {
    __HOSTCALL_STREAM__Access.armed()
}

/// Says that the lane reads the value at `place`.
#[inline(always)]
#[track_caller]
pub fn read<T>(place: *const T) -> Sent {
    send(place, AccessKind::Read, size_of::<T>())
}

/// Says that the lane writes the value at `place`.
#[inline(always)]
#[track_caller]
pub fn write<T>(place: *const T) -> Sent {
    send(place, AccessKind::Write, size_of::<T>())
}

/// Says that the lane changes the value at `place` by one atomic operation.
#[inline(always)]
#[track_caller]
pub fn atomic<T>(place: *const T) -> Sent {
    send(place, AccessKind::Atomic, size_of::<T>())
}

/// Says that the lane accesses `bytes` bytes from `place` on. Which memory that is, the machine says where it knows.
///
/// Sizes are as those of [`Access::new`].
#[inline(always)]
#[track_caller]
pub fn send<T>(place: *const T, kind: AccessKind, bytes: usize) -> Sent {
    send_from(None, place, kind, bytes)
}

/// What `access!` is.
#[doc(hidden)]
#[inline(always)]
#[track_caller]
pub fn send_at<T>(site: Site, place: *const T, kind: AccessKind) -> Sent {
    send_from(Some(site), place, kind, size_of::<T>())
}

#[inline(always)]
#[track_caller]
fn send_from<T>(site: Option<Site>, place: *const T, kind: AccessKind, bytes: usize) -> Sent {
    if !armed() {
        return Sent::Off;
    }
    let bytes = bytes.min(Access::MAX_BYTES as usize) as u32;
    let access = Access::new(place as u64, kind, arch::space(place.cast()), bytes);
    send_units::<UNITS>(&__HOSTCALL_STREAM__Access, site, 1, &units_of(&access))
}

/// Says what an access is, address and all.
#[inline(always)]
#[track_caller]
pub fn send_access(access: Access) -> Sent {
    send_units::<UNITS>(&__HOSTCALL_STREAM__Access, None, 1, &units_of(&access))
}

/// What `access!` is of an [`Access`].
#[doc(hidden)]
#[inline(always)]
#[track_caller]
pub fn send_access_at(site: Site, access: Access) -> Sent {
    send_units::<UNITS>(&__HOSTCALL_STREAM__Access, Some(site), 1, &units_of(&access))
}

//! How long something takes: a stream of [`Interval`]s.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! use hostcall::prelude::*;
//! use hostcall::stream::interval;
//!
//! const WHOLE: u32 = 0;
//! const SUM: u32 = 1;
//!
//! #[kernel]
//! pub fn sums(values: &[f32], sums: &mut [f32]) {
//!     let _whole = interval::begin(WHOLE);
//!     let i = global_id();
//!     let sum = interval::of(SUM, || values.iter().sum::<f32>());
//!     let _scaling = hostcall::interval!("scaling"); // named, with its place in the source, instead of numbered
//!     sums[i] = sum * i as f32;
//! }
//! # fn main() {}
//! ```

pub use hostcall_abi::stream::Interval;

use core::panic::Location;

use super::{Here, Sent, Site, send_once, send_once_at, units_of, words};
use crate::context::machine;
use hostcall_abi::lanes::Lanes;

words!(Interval, __HOSTCALL_STREAM__Interval, __HOSTCALL_SCHEMA__Interval);

/// Whether anybody wants these messages.
#[inline(always)]
pub fn armed() -> bool {
    __HOSTCALL_STREAM__Interval.armed()
}

/// A time that runs. Dropping it sends an [`Interval`]: one of all lanes that drop it together, with the times of the
/// first of them.
///
/// A lane that panics or exits sends none. If nobody listens, no clock is read.
#[derive(Debug)]
#[must_use = "it ends where it is dropped"]
pub struct Span {
    start: Option<u64>,
    label: u32,
    /// Whatever belongs to it, 0 at first.
    pub detail: u32,
    site: Option<Site>,
    here: Here,
}

/// Begins to measure what the program calls `label`.
#[inline(always)]
#[track_caller]
pub fn begin(label: u32) -> Span {
    begin_from(None, label)
}

/// What `interval!` is.
#[doc(hidden)]
#[inline(always)]
#[track_caller]
pub fn begin_at(site: Site) -> Span {
    begin_from(Some(site), 0)
}

#[inline(always)]
#[track_caller]
fn begin_from(site: Option<Site>, label: u32) -> Span {
    let start = if armed() { Some(machine().now_ns()) } else { None };
    Span { start, label, detail: 0, site, here: Location::caller() }
}

/// Measures a function.
#[inline(always)]
#[track_caller]
pub fn of<R>(label: u32, f: impl FnOnce() -> R) -> R {
    let _span = begin(label);
    f()
}

/// Sends an interval that was measured elsewhere: one of all lanes that run converged here, the first one's.
#[inline(always)]
#[track_caller]
pub fn send(interval: impl FnOnce() -> Interval) -> Sent {
    send_once::<UNITS>(&__HOSTCALL_STREAM__Interval, || units_of(&interval()))
}

impl Drop for Span {
    #[inline(always)]
    fn drop(&mut self) {
        let Some(start) = self.start else { return };
        let (label, detail) = (self.label, self.detail);
        // The place where it began: two that end at one place of this function are not the same.
        let _ = send_once_at::<UNITS>(&__HOSTCALL_STREAM__Interval, self.site, self.here, || {
            units_of(&Interval { start, end: machine().now_ns(), label, detail })
        });
    }
}

//! Lanes that end by a failure without text of the device's: `?` in a kernel, and the panics of indexing.
//!
//! `core::fmt` writes a panic's text, and would then be in every kernel that indexes a slice. So on GPUs the build
//! sends the calls of the most usual panics to this module (`hostcall-build`'s `panics.rs`, which finds these
//! functions by their names). The host shows the same text as `core` would write.

use crate::builtin::failed_word;
use crate::call::unit_of;
use crate::context::{client, group_at};
use crate::wave;
use core::fmt::Debug;
use hostcall_abi::codec::Fixed;
use hostcall_abi::failure::{Cause, FailureSite, SITE_UNITS};
use hostcall_abi::{CallError, Flags, Header};

/// An error that ends a lane. `#[kernel]` calls [`Failed::end`] on it, which is the inherent one for a [`CallError`]
/// and that of [`Fails`] for other errors.
#[derive(Debug)]
pub struct Failed<E>(E);

/// Wraps the error of a kernel.
#[inline(always)]
pub fn failed<E: Debug>(error: E) -> Failed<E> {
    Failed(error)
}

/// The end of a lane by an error that only the device can put into words.
pub trait Fails {
    /// Panics with the error's text.
    fn end(self, site: &'static FailureSite) -> !;
}

impl<E: Debug> Fails for Failed<E> {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn end(self, site: &'static FailureSite) -> ! {
        panic!("{}: {:?}", site.what, self.0)
    }
}

impl Failed<CallError> {
    /// Tells the host, and ends the lane.
    #[inline(always)]
    pub fn end(self, site: &'static FailureSite) -> ! {
        call_failed(self.0, site)
    }
}

impl Failed<crate::fs::Error> {
    /// Tells the host, and ends the lane.
    #[inline(always)]
    pub fn end(self, site: &'static FailureSite) -> ! {
        report(Cause::FILE, [self.0.to_wire(), 0, 0], &site.units)
    }
}

/// Tells the host that a call failed, and ends the lane.
#[cold]
#[inline(never)]
pub fn call_failed(error: CallError, site: &'static FailureSite) -> ! {
    let (status, detail) = error.to_status();
    report(Cause::CALL, [u64::from(status.0), u64::from(detail), 0], &site.units)
}

/// What the panics of `core` are replaced by: of the same parameters, the place that `#[track_caller]` adds among them.
#[cfg(all(hostcall_device, not(test), not(target_vendor = "hostcall"), any(target_arch = "nvptx64", target_arch = "amdgpu")))]
mod replaced {
    use super::{Cause, report};
    use core::panic::Location;
    use hostcall_abi::failure::place_units;

    #[cold]
    #[inline(never)]
    fn failed_at(cause: Cause, a: usize, b: usize, c: usize, place: &Location<'_>) -> ! {
        report(cause, [a, b, c].map(|number| number as u64), &place_units("", place))
    }

    /// `core::panicking::panic` and `core::option::expect_failed`
    #[cold]
    #[inline(never)]
    #[unsafe(no_mangle)]
    fn hostcall_panic_text(text: &'static str, place: &'static Location<'static>) -> ! {
        report(Cause::TEXT, [text.len() as u64, 0, 0], &place_units(text, place))
    }

    /// `alloc::alloc::handle_alloc_error`, with a `Layout` in its two parts. Its caller is `alloc`, so there is no
    /// place that would help.
    #[cold]
    #[inline(never)]
    #[unsafe(no_mangle)]
    fn hostcall_panic_memory(_align: usize, size: usize) -> ! {
        let heap = crate::heap::stats();
        failed_at(Cause::MEMORY, size, heap.used_bytes, heap.total_bytes, Location::caller())
    }

    /// `alloc::raw_vec::capacity_overflow`
    #[cold]
    #[inline(never)]
    #[unsafe(no_mangle)]
    fn hostcall_panic_capacity() -> ! {
        failed_at(Cause::CAPACITY, 0, 0, 0, Location::caller())
    }

    macro_rules! panics {
        ($($(#[doc = $doc:literal])+ $name:ident($($number:ident),*) = $cause:ident [$($all:expr),*];)+) => { $(
            $(#[doc = $doc])+
            #[cold]
            #[inline(never)]
            #[unsafe(no_mangle)]
            fn $name($($number: usize,)* place: &'static Location<'static>) -> ! {
                failed_at(Cause::$cause, $($all,)* place)
            }
        )+ };
    }
    panics! {
        /// `core::panicking::panic_bounds_check`
        hostcall_panic_index(index, len) = INDEX [index, len, 0];
        /// `core::slice::index::slice_index_fail`
        hostcall_panic_range(start, end, len) = RANGE [start, end, len];
        /// `<[T]>::copy_from_slice`, lengths differ
        hostcall_panic_lengths(to, from) = LENGTHS [to, from, 0];
        /// `core::panicking::panic_const::panic_const_div_by_zero`
        hostcall_panic_division() = DIVISION [0, 0, 0];
        /// `core::panicking::panic_const::panic_const_rem_by_zero`
        hostcall_panic_remainder() = REMAINDER [0, 0, 0];
        /// `core::option::unwrap_failed`
        hostcall_panic_none() = NONE [0, 0, 0];
    }
}

/// Units of `Process::failed` before those of the site: workgroup, thread, lanes, cause, numbers.
const HEAD: usize = 3 + 3 + 2 + 1 + 6;
const _: () = assert!(Header::words_for((HEAD + SITE_UNITS) as u32, 1) <= 32, "it fits into the smallest request area");

/// Posted by the first of the lanes that fail together in this way: none of them goes on, so none waits for the host.
#[cold]
#[inline(never)]
fn report(cause: Cause, numbers: [u64; 3], site: &[u32; SITE_UNITS]) -> ! {
    let number = failed_word().number();
    let lanes = group_at(core::ptr::from_ref(failed_word()) as usize, cause.0 << 16 ^ site[0]);
    // A host that does not know the service cannot be told.
    if lanes.leads() && number != 0 {
        let mut units = [0; HEAD + SITE_UNITS];
        let head = (wave::group_id(), wave::local_id(), lanes.mask, cause.0, numbers);
        head.put(&mut units);
        for (to, from) in units.iter_mut().skip(HEAD).zip(site) {
            *to = *from;
        }
        let alone = lanes.alone();
        if let Ok(mut held) = client().acquire(&alone, true) {
            // If the host is gone nobody can be told.
            let _ = client().send_long(&alone, &mut held, number as u16, Flags::default(), units.len() as u32, |i| unit_of(&units, i));
            client().release(&alone, held);
        }
    }
    crate::ending::end_lane()
}

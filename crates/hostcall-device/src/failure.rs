//! The end of a lane whose call failed and whose kernel does not go on: what `?` in a kernel comes to.

use crate::arch::current as arch;
use crate::builtin::failed_word;
use crate::context::{client, group_at};
use crate::wave;
use core::fmt::Debug;
use hostcall_abi::failure::{FailureSite, SITE_UNITS};
use hostcall_abi::word::WORD_DWORDS;
use hostcall_abi::{CallError, Flags};

/// An error that ends a lane. `#[kernel]` calls [`Failed::end`] on it, which is the inherent one for a [`CallError`] and that of [`Fails`] for
/// other errors.
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
        let (status, detail) = self.0.to_status();
        report(site, u32::from(status.0), detail)
    }
}

/// Units of `Process::failed` before those of the site: workgroup, thread, lanes, error.
const HEAD: usize = 3 + 3 + 2 + 2;
const _: () = assert!((HEAD + SITE_UNITS).div_ceil(WORD_DWORDS as usize) <= 32, "it fits into the smallest request area");

/// Posted by the first of the lanes that fail together with this error: none of them goes on, so none waits for the host.
#[cold]
#[inline(never)]
fn report(site: &'static FailureSite, status: u32, detail: u32) -> ! {
    let lanes = group_at(core::ptr::from_ref(site) as usize, status);
    let number = failed_word().number();
    // A host that does not know the service cannot be told.
    if lanes.leads() && number != 0 {
        let [bx, by, bz] = wave::group_id();
        let [tx, ty, tz] = wave::local_id();
        let head: [u32; HEAD] = [bx, by, bz, tx, ty, tz, lanes.mask as u32, (lanes.mask >> 32) as u32, status, detail];
        let unit = |i: usize| head.get(i).or_else(|| site.units.get(i.wrapping_sub(HEAD))).copied().unwrap_or(0);
        let alone = hostcall_abi::port::Group::new(lanes.mask & lanes.mask.wrapping_neg(), lanes.leader);
        if let Some(mut held) = client().acquire(&alone, true) {
            let words = crate::call::words_of(HEAD + SITE_UNITS);
            // If the host is gone nobody can be told.
            let _ = client().send(&alone, &mut held, number as u16, Flags::default(), words, |j| {
                core::array::from_fn(|k| unit((j * WORD_DWORDS) as usize + k))
            });
            client().release(&alone, held);
        }
    }
    arch::exit_lane()
}

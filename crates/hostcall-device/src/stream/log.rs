//! Lines of a log whose text stays on the host: [`log!`](crate::log) sends a line's arguments, and the place in the
//! source that has its text.
//!
//! `print!` formats on the GPU and waits for the host. A line of a log is a message of all lanes that run converged
//! there: 4 bytes and 8 for each argument of each lane. The host formats it (`hostcall_stream::handlers::Logger`), or
//! keeps it as it is in a recording.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! use hostcall::prelude::*;
//!
//! #[kernel]
//! pub fn train(steps: u32) {
//!     for step in 0..steps {
//!         let loss = 1.0 / (step + 1) as f32;
//!         if step % 100 == 0 {
//!             hostcall::log!(Info, "step {step}: loss {loss:.3}");
//!         }
//!     }
//! }
//! # fn main() {}
//! ```

pub use hostcall_abi::stream::Log;

use super::{Sent, Site, send_units, words};
use hostcall_abi::stream::log;

words!(Log, __HOSTCALL_STREAM__Log, __HOSTCALL_SCHEMA__Log);
const _: () = assert!(UNITS == 1);

/// Whether anybody wants these messages.
#[inline(always)]
pub fn armed() -> bool {
    __HOSTCALL_STREAM__Log.armed()
}

/// The units of a line, which `log!` fills.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Line<const UNITS: usize>([u32; UNITS]);

impl<const UNITS: usize> Line<UNITS> {
    /// Without arguments.
    #[expect(clippy::new_without_default, reason = "for the macro only")]
    #[inline(always)]
    pub const fn new() -> Self {
        Self([0; UNITS])
    }

    /// One more argument: number `index`.
    #[inline(always)]
    pub fn put<T: log::LogValue>(&mut self, index: usize, value: &T) {
        log::put(&mut self.0, index, *value);
    }

    /// Sends it.
    #[inline(always)]
    #[track_caller]
    pub fn send(self, site: Site) -> Sent {
        send_units::<UNITS>(&__HOSTCALL_STREAM__Log, Some(site), UNITS as u32, &self.0)
    }
}

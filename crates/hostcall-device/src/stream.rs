//! Streams: messages that nobody answers, through rings in host memory.
//!
//! A stream is a type ([`macro@crate::stream`]). Its values are sent by methods that the attribute makes. A message costs a wave one atomic and a few
//! stores; it waits for nothing but room in its ring, and not even for that if its policy is to be dropped. `hostcall_stream` reads the rings on the host.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! use hostcall::prelude::*;
//!
//! /// In a crate that kernels and hosts share.
//! #[hostcall::stream]
//! #[derive(Clone, Copy)]
//! #[repr(C)]
//! pub struct Loss {
//!     pub step: u32,
//!     pub value: f32,
//! }
//!
//! #[kernel]
//! pub fn train(steps: u32) {
//!     for step in 0..steps {
//!         let value = 1.0 / (step + 1) as f32;
//!         Loss { step, value }.send(); // a message of all lanes that run converged here
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! Two streams are there without a definition: [`access`](mod@access), what lanes do to memory, and [`interval`](mod@interval), how long something takes.

pub mod access;
pub mod interval;

use core::cell::UnsafeCell;
use core::panic::Location;
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::Subject;
use hostcall_abi::stream::message::word;
pub use hostcall_abi::stream::{Message, Policy, Sent};

use crate::arch::current as arch;
use crate::context::machine;

/// What the host says of a stream: its number, and how its messages are sent. 0 until the program is attached to rings: off.
///
/// Bits 0 to 11: the number; bit 12: [`Policy::Drop`]; bit 13: messages have no time.
#[repr(transparent)]
pub struct StreamWord(UnsafeCell<u32>);

// SAFETY: lanes only read it, through `arch::load_number`.
unsafe impl Sync for StreamWord {}

impl StreamWord {
    /// Off.
    #[expect(clippy::new_without_default, reason = "used in statics only")]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    #[inline(always)]
    fn load(&self) -> u32 {
        // SAFETY: the address of the word itself.
        unsafe { arch::load_number(self.0.get()) }
    }

    /// Whether anybody reads the stream.
    #[inline(always)]
    pub fn armed(&self) -> bool {
        self.load() != 0
    }

    /// What messages say of themselves; `None`: the stream is off.
    #[inline(always)]
    fn subject(&self, values: u32) -> Option<Subject> {
        let word = self.load();
        let policy = if word & word::DROP != 0 { Policy::Drop } else { Policy::Block };
        (word != 0).then_some(Subject { stream: word & word::NUMBER, site: 0, policy, timed: word & word::UNTIMED == 0, values })
    }
}

/// A place in the source.
type Site = &'static Location<'static>;

/// The lanes that run converged at a place in the source.
#[inline(always)]
fn converged_at(site: Site) -> Group {
    Group::new(arch::converged_at(core::ptr::from_ref(site) as usize), machine().lane())
}

/// Sends `values` values of `UNITS` units altogether from each lane that runs converged here.
#[inline(always)]
#[track_caller]
pub fn send_units<const UNITS: usize>(word: &'static StreamWord, values: u32, units: &[u32; UNITS]) -> Sent {
    let Some(subject) = word.subject(values) else { return Sent::Off };
    hostcall_abi::stream::send(machine(), &converged_at(Location::caller()), subject, units)
}

/// Sends the first lane's value for all that run converged here. (Each works out one, and the others' are not used, so that the lanes stay together.)
#[inline(always)]
#[track_caller]
pub fn send_once<const UNITS: usize>(word: &'static StreamWord, units: impl FnOnce() -> [u32; UNITS]) -> Sent {
    send_once_at(word, Location::caller(), units)
}

/// The same for lanes that run converged at `site`.
#[inline(always)]
fn send_once_at<const UNITS: usize>(word: &'static StreamWord, site: Site, units: impl FnOnce() -> [u32; UNITS]) -> Sent {
    let Some(subject) = word.subject(1) else { return Sent::Off };
    hostcall_abi::stream::send_once(machine(), &converged_at(site), subject, &units())
}

/// The units of a value.
#[inline(always)]
fn units_of<M: Message, const UNITS: usize>(value: &M) -> [u32; UNITS] {
    let mut units = [0; UNITS];
    Fixed::put(value, &mut units);
    units
}

/// The words of a message that the library brings along: what `#[stream]` makes for others.
macro_rules! words {
    ($message:ident, $word:ident, $schema:ident) => {
        #[unsafe(no_mangle)]
        #[cfg_attr(not(target_arch = "amdgpu"), used)]
        static $word: $crate::stream::StreamWord = $crate::stream::StreamWord::new();

        #[unsafe(no_mangle)]
        #[cfg_attr(not(target_arch = "amdgpu"), used)]
        static $schema: hostcall_abi::stream::SchemaWord<
            { <$message as hostcall_abi::stream::Message>::FIELDS.len() },
            { hostcall_abi::stream::message::schema_text(<$message as hostcall_abi::stream::Message>::FIELDS) },
        > = hostcall_abi::stream::SchemaWord::of::<$message>();

        /// Units of a message.
        const UNITS: usize = hostcall_abi::stream::message::units::<$message>();
    };
}
use words;

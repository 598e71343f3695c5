//! Streams: messages that nobody answers, through rings in host memory.
//!
//! A stream is a type ([`macro@crate::stream`]). Its values are sent by methods that the attribute makes. A message
//! costs a wave one atomic and a few stores; it waits for nothing but room in its ring, and not even for that if its
//! policy is to be dropped. `hostcall_stream` reads the rings on the host.
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
//! Messages of any length are those of [`bytes`](mod@bytes), and of text.
//!
//! Three streams are there without a definition: [`access`](mod@access), what lanes do to memory,
//! [`interval`](mod@interval), how long something takes, and [`log`](mod@log), lines whose text stays on the host.
//!
//! [`send!`](crate::send), [`send_if!`](crate::send_if), [`access!`](crate::access), [`interval!`](crate::interval) and
//! [`log!`](crate::log) also say where in the source they are. It costs the load of a number, and no room in the
//! message.
//!
//! With the feature `streams-off` nothing of all that is in the kernels: functions that send say [`Sent::Off`], and the
//! host finds no streams.

pub mod access;
pub mod bytes;
pub mod interval;
pub mod log;
#[cfg(all(hostcall_probe, not(target_vendor = "hostcall")))]
pub(crate) mod probe;

use core::cell::UnsafeCell;
use core::panic::Location;
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::Subject;
use hostcall_abi::stream::message::word;
use hostcall_abi::stream::site::SITE_OFF;
pub use hostcall_abi::stream::{Message, Policy, Sent, SiteHead};

use crate::arch::current as arch;
use crate::context::machine;

/// What the host says of a stream: its number, and how its messages are sent. 0 until the program is attached to rings:
/// off.
///
/// [`word`] says what its bits are.
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
        if cfg!(feature = "streams-off") {
            return 0;
        }
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
        (word != 0).then_some(subject_of(word, values))
    }

    /// The same for messages from a place in the source; also `None` if nobody wants messages from there.
    #[inline(always)]
    fn subject_at(&self, site: Option<Site>, values: u32) -> Option<Subject> {
        let subject = self.subject(values)?;
        let Some(site) = site else { return Some(subject) };
        // SAFETY: the address of the number itself.
        let site = unsafe { arch::load_number(site.number()) };
        (site & SITE_OFF == 0).then_some(Subject { site, ..subject })
    }
}

/// What messages say of themselves that have no place in the source, by a word that is not 0.
#[inline(always)]
fn subject_of(word: u32, values: u32) -> Subject {
    let (stream, timed, live) = (word & word::NUMBER, word & word::UNTIMED == 0, word & word::LIVE != 0);
    Subject { stream, site: 0, policy: word::policy(word), timed, values, live, weight: 0 }
}

/// A place in the source, as the macros that name one make it.
pub type Site = &'static SiteHead;

/// The place that messages name which are never sent: `streams-off`.
pub static NO_SITE: hostcall_abi::stream::Site<0> = hostcall_abi::stream::Site::new("", 0, 0, "", 0, "");

/// A place in the source, for finding out which lanes are there.
type Here = &'static Location<'static>;

/// The lanes that run converged at a place in the source.
#[inline(always)]
fn converged_at(here: Here) -> Group {
    Group::new(arch::converged_at(core::ptr::from_ref(here) as usize), machine().lane())
}

/// Sends `values` values of `UNITS` units altogether from each lane that runs converged here; `site`: the place that
/// the message names.
#[inline(always)]
#[track_caller]
pub fn send_units<const UNITS: usize>(word: &'static StreamWord, site: Option<Site>, values: u32, units: &[u32; UNITS]) -> Sent {
    let Some(subject) = word.subject_at(site, values) else { return Sent::Off };
    hostcall_abi::stream::send(machine(), &converged_at(Location::caller()), subject, units)
}

/// [`send_units`] of a stream of the policy `latest`: the last unit is room for a check.
#[inline(always)]
#[track_caller]
pub fn send_latest_units<const UNITS: usize>(word: &'static StreamWord, site: Option<Site>, values: u32, units: &[u32; UNITS]) -> Sent {
    let Some(subject) = word.subject_at(site, values) else { return Sent::Off };
    hostcall_abi::stream::send_latest(machine(), &converged_at(Location::caller()), subject, units)
}

/// [`send_once`] of a stream of the policy `latest`: the last unit is room for a check.
#[inline(always)]
#[track_caller]
pub fn send_latest_once<const UNITS: usize>(word: &'static StreamWord, units: impl FnOnce() -> [u32; UNITS]) -> Sent {
    let Some(subject) = word.subject_at(None, 1) else { return Sent::Off };
    hostcall_abi::stream::send_latest_once(machine(), &converged_at(Location::caller()), subject, &units())
}

/// Sends the first lane's value for all that run converged here. (Each works out one, and the others' are not used, so
/// that the lanes stay together.)
#[inline(always)]
#[track_caller]
pub fn send_once<const UNITS: usize>(word: &'static StreamWord, units: impl FnOnce() -> [u32; UNITS]) -> Sent {
    send_once_at(word, None, Location::caller(), units)
}

/// The same for lanes that run converged `here`.
#[inline(always)]
fn send_once_at<const UNITS: usize>(
    word: &'static StreamWord,
    site: Option<Site>,
    here: Here,
    units: impl FnOnce() -> [u32; UNITS],
) -> Sent {
    let Some(subject) = word.subject_at(site, 1) else { return Sent::Off };
    hostcall_abi::stream::send_once(machine(), &converged_at(here), subject, &units())
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
        #[cfg_attr(not(feature = "streams-off"), unsafe(no_mangle))]
        #[cfg_attr(not(any(feature = "streams-off", target_arch = "amdgpu")), used)]
        pub(super) static $word: $crate::stream::StreamWord = $crate::stream::StreamWord::new();

        #[cfg(not(feature = "streams-off"))]
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

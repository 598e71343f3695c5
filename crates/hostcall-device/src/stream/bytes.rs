//! Messages of bytes and of text: as many as a lane likes, up to a quarter of a ring.
//!
//! Each lane sends a message of its own. The lanes of a wave that run converged copy together what all of them can
//! read, one lane's bytes after another's. What is on a lane's own stack it copies alone, which takes longer.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! use hostcall::prelude::*;
//!
//! /// In a crate that kernels and hosts share.
//! #[hostcall::stream(bytes)]
//! pub struct Frame;
//!
//! /// The same for text, and not for whoever is too slow.
//! #[hostcall::stream(text, policy = "drop")]
//! pub struct Note;
//!
//! #[kernel]
//! pub fn filter(pixels: &[u8], width: u32) {
//!     let rows = pixels.chunks(width as usize);
//!     if let Some(row) = rows.skip(global_id()).next() {
//!         Frame::send(row);
//!     }
//!     if lane_id() == 0 {
//!         Note::send("one row is done");
//!     }
//! }
//! # fn main() {}
//! ```

use core::panic::Location;

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::bytes::{ByteLink, QUAD_BYTES, send_bytes};
use hostcall_abi::stream::site::SITE_OFF;

use super::{Here, Sent, Site, StreamWord, converged_at, subject_of};
use crate::arch::current::{self as arch, Machine};
use crate::context::machine;

/// Bytes of a lane that are to be sent: what `of` of a stream of bytes or text makes.
#[derive(Clone, Copy)]
#[must_use = "nothing is sent until `send`"]
pub struct Slice<'a> {
    word: &'static StreamWord,
    bytes: &'a [u8],
}

impl<'a> Slice<'a> {
    /// For `#[stream]`.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn new(word: &'static StreamWord, bytes: &'a [u8]) -> Self {
        Self { word, bytes }
    }

    /// Sends them: a message of each lane that runs converged here.
    #[inline(always)]
    #[track_caller]
    pub fn send(self) -> Sent {
        self.send_from(None, false, Location::caller())
    }

    /// Sends the first lane's, for all that run converged here, which copy them together.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub fn send_once(self) -> Sent {
        self.send_from(None, true, Location::caller())
    }

    /// What `send!` does.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub fn __send_at(self, site: Site) -> Sent {
        self.send_from(Some(site), false, Location::caller())
    }

    #[inline(always)]
    fn send_from(self, site: Option<Site>, once: bool, here: Here) -> Sent {
        let word = self.word.load();
        if word == 0 {
            return Sent::Off;
        }
        // SAFETY: the address of the number itself.
        let site = site.map_or(0, |site| unsafe { arch::load_number(site.number()) });
        if site & SITE_OFF != 0 {
            return Sent::Off;
        }
        let (address, length) = (self.bytes.as_ptr() as u64, self.bytes.len().min(u32::MAX as usize) as u32);
        // SAFETY: a slice: its bytes can be read, and nobody writes them as long as it is borrowed.
        let sent = unsafe { send_all(converged_at(here).mask, once, word, site, address, length) };
        // What `send_all` said as a number.
        match sent {
            sent if sent == Sent::Sent as u32 => Sent::Sent,
            sent if sent == Sent::Dropped as u32 => Sent::Dropped,
            sent if sent == Sent::Closed as u32 => Sent::Closed,
            sent if sent == Sent::TooLarge as u32 => Sent::TooLarge,
            sent if sent == Sent::Filtered as u32 => Sent::Filtered,
            _ => Sent::Off,
        }
    }
}

/// Sends the bytes of each lane of `mask`, or (`once`) the first one's: a [`Sent`] as a number. A function of its own,
/// because it is long, and its time is that of the bytes.
///
/// # Safety
/// The lane can read `length` bytes from `address` on, and so can other lanes unless they are on its own stack; nobody
/// writes them meanwhile.
#[inline(never)]
unsafe fn send_all(mask: u64, once: bool, word: u32, site: u32, address: u64, length: u32) -> u32 {
    let machine = machine();
    let group = Group::new(mask, machine.lane());
    let subject = hostcall_abi::stream::Subject { site, ..subject_of(word, 1) };
    let senders = if once { 1 << group.leader } else { mask };
    // SAFETY: the caller's.
    let sent = unsafe { send_bytes(machine, &group, senders, subject, address, length) } as u32;
    if once { machine.broadcast(mask, sent, group.leader) } else { sent }
}

impl ByteLink for Machine {
    #[inline(always)]
    fn is_private(self, address: u64) -> bool {
        arch::is_private(address as *const u8)
    }

    #[inline(always)]
    unsafe fn load_bytes(self, address: u64, count: u32) -> [u32; 4] {
        // SAFETY: below `count`, which the caller vouches for.
        let byte = |index: u32| unsafe { u32::from((address as *const u8).add(index as usize).read()) };
        if count == QUAD_BYTES {
            // All loads before the first is waited for.
            return [
                byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24,
                byte(4) | byte(5) << 8 | byte(6) << 16 | byte(7) << 24,
                byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24,
                byte(12) | byte(13) << 8 | byte(14) << 16,
            ];
        }
        // From the last on: each moves those behind it up. (An array with an index would be on the stack.)
        let (mut low, mut high, mut rest) = (0u64, 0u64, count);
        while rest != 0 {
            rest -= 1;
            high = high << 8 | low >> 56;
            low = low << 8 | u64::from(byte(rest));
        }
        [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
    }
}

//! Where each word of a hostcall buffer lies. This memory is the interface: kernels, AMD's device libraries and other runtimes fill it in.
//!
//! A buffer is a block of words, an array of packet headers and an array of payloads. The two arrays follow the block where this library
//! lays a buffer out; a buffer that somebody else laid out may have them anywhere.
//!
//! A *tagged pointer* names a packet. Its low `index_size` bits are the packet's index. The rest is a tag that grows each time the packet
//! is given back, so that a stack's top that returns to the same packet is still another value. 0 is no packet; packet 0 therefore begins
//! with tag 1, and its tag skips 0 when it wraps.

use std::mem::{align_of, offset_of, size_of};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Lanes of a packet. A wave of 32 lanes uses the first half.
pub const LANES: usize = 64;
/// Words of 64 bits that one lane sends, and gets back.
pub const QWORDS: usize = 8;

/// The first words of a buffer.
#[repr(C)]
#[derive(Debug)]
pub struct BufferWords {
    /// Address of the headers.
    pub headers: AtomicU64,
    /// Address of the payloads.
    pub payloads: AtomicU64,
    /// The doorbell's handle: an HSA signal, or a doorbell of this library.
    pub doorbell: AtomicU64,
    /// Top of the stack of free packets.
    pub free_stack: AtomicU64,
    /// Top of the stack of packets that wait for the host.
    pub ready_stack: AtomicU64,
    /// Bits of a tagged pointer that are an index.
    pub index_size: AtomicU32,
}

/// What a packet says of itself.
#[repr(C)]
#[derive(Debug)]
pub struct HeaderWords {
    /// The packet below this one, as a tagged pointer.
    pub next: AtomicU64,
    /// A bit for each lane that takes part.
    pub active_mask: AtomicU64,
    /// The service that is asked for.
    pub service: AtomicU32,
    /// Bits of [`control`].
    pub control: AtomicU32,
}

/// What the lanes send and get back.
#[repr(C)]
#[derive(Debug)]
pub struct PayloadWords {
    /// Eight words for each lane.
    pub lanes: [[AtomicU64; QWORDS]; LANES],
}

/// Bits of a header's control word. AMD defines the first; the others are this library's, and clients that do not know them ignore them.
pub mod control {
    /// The packet waits for the host. The wave sets it, the host clears it.
    pub const READY: u32 = 1;
    /// Set by the host: some lane's call was refused, and its words are as the lane sent them.
    pub const REFUSED: u32 = 2;
    /// Set by a client on the processor that sleeps on this word until the host changes it.
    pub const SLEEPER: u32 = 4;
}

/// The interface's table: a name, where it lies, and where it must lie.
macro_rules! table {
    ($($kind:ident { size $size:literal, align $align:literal, $($field:ident $offset:literal),* })*) => {
        $(
            const _: () = assert!(size_of::<$kind>() == $size && align_of::<$kind>() == $align);
            $(const _: () = assert!(offset_of!($kind, $field) == $offset);)*
        )*
        /// Every offset, for the test that compares them with the C header's.
        pub const TABLE: &[(&str, &str, usize)] = &[$($((stringify!($kind), stringify!($field), $offset)),*),*];
    };
}

table! {
    BufferWords { size 48, align 8, headers 0, payloads 8, doorbell 16, free_stack 24, ready_stack 32, index_size 40 }
    HeaderWords { size 24, align 8, next 0, active_mask 8, service 16, control 20 }
    PayloadWords { size 4096, align 8, lanes 0 }
}

/// Alignment of a buffer in bytes.
pub const ALIGNMENT: usize = align_of::<PayloadWords>();

/// Bytes from a buffer's start to its headers, where this library lays it out.
pub const HEADERS_AT: usize = size_of::<BufferWords>();

/// Bytes from a buffer's start to its payloads, where this library lays it out.
pub const fn payloads_at(packets: u32) -> usize {
    HEADERS_AT + packets as usize * size_of::<HeaderWords>()
}

/// Bytes of a buffer of so many packets.
pub const fn buffer_size(packets: u32) -> usize {
    payloads_at(packets) + packets as usize * size_of::<PayloadWords>()
}

/// Bits that the index of a packet takes in a tagged pointer.
pub const fn index_size(packets: u32) -> u32 {
    if packets > 2 { u32::BITS - packets.leading_zeros() } else { 1 }
}

/// The index in a tagged pointer.
pub const fn index(pointer: u64, index_size: u32) -> u64 {
    pointer & ((1 << index_size) - 1)
}

/// The pointer with the next tag.
pub const fn next_tag(pointer: u64, index_size: u32) -> u64 {
    let step = 1 << index_size;
    let next = pointer.wrapping_add(step);
    if next == 0 { step } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_clients_compute() {
        assert_eq!(buffer_size(1), 4168);
        assert_eq!(buffer_size(42), 48 + 42 * 24 + 42 * 4096);
        assert_eq!((index_size(1), index_size(2), index_size(3), index_size(4), index_size(1000)), (1, 1, 2, 3, 10));
        assert_eq!((index_size(u32::MAX), ALIGNMENT), (32, 8));
    }

    #[test]
    fn the_tag_of_packet_zero_skips_the_value_that_means_no_packet() {
        for bits in [1, 2, 10, 32] {
            let last = u64::MAX << bits;
            assert_eq!(next_tag(last, bits), 1 << bits, "{bits}");
            assert_eq!(next_tag(last | 1, bits), 1, "another packet's tag may be 0");
            assert_eq!(index(next_tag(7 << bits | 1, bits), bits), 1);
        }
    }
}

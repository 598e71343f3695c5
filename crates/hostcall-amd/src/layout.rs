//! Where each word of a hostcall buffer lies. This memory is the interface: kernels, AMD's device libraries and other
//! runtimes fill it in.
//!
//! A buffer is a block of words, an array of packet headers and an array of payloads. The two arrays follow the block
//! where this library lays a buffer out; a buffer that somebody else laid out may have them anywhere.
//!
//! A *tagged pointer* names a packet. Its low `index_size` bits are the packet's index. The rest is a tag that grows
//! each time the packet is given back, so that a stack's top that returns to the same packet is still another value. 0
//! is no packet; packet 0 therefore begins with tag 1, and its tag skips 0 when it wraps.
//!
//! *Mailboxes* are the later form. Each packet has a word that waves flip when they ask and a word that the host flips
//! when it has answered: a packet waits for the host as long as the two differ. There is nothing that all waves write,
//! but the bits by which they claim packets.

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
    /// Bits of a tagged pointer that are an index; or, where [`Form::MaskedStacks`] is meant, these bits as a mask.
    pub index: AtomicU32,
    /// The upper half of the mask.
    pub index_high: AtomicU32,
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

/// The first words of a buffer of mailboxes.
#[repr(C)]
#[derive(Debug)]
pub struct MailboxWords {
    /// Address of the words that waves flip, one for each packet.
    pub device_phase: AtomicU64,
    /// Address of the words that the host flips.
    pub host_phase: AtomicU64,
    /// Address of the bits by which waves claim packets. The host never looks there.
    pub occupied: AtomicU64,
    /// Address of the headers.
    pub headers: AtomicU64,
    /// Address of the payloads.
    pub payloads: AtomicU64,
    /// The doorbell's handle.
    pub doorbell: AtomicU64,
    /// How many packets there are.
    pub packets: AtomicU32,
}

/// What a packet in a mailbox says of itself.
#[repr(C)]
#[derive(Debug)]
pub struct MailboxHeaderWords {
    /// A bit for each lane that takes part.
    pub active_mask: AtomicU64,
    /// The service that is asked for.
    pub service: AtomicU32,
}

/// How packets travel through a buffer. The numbers are `hostcall_amd_form_t`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Form {
    /// Two stacks, and the bits of an index: AMD's library.
    Stacks = 0,
    /// Two stacks, and a mask of these bits: ROCm's device libraries since then.
    MaskedStacks = 1,
    /// A mailbox for each packet: ROCm's device libraries since July 2026, where they are built so.
    Mailboxes = 2,
}

impl Form {
    /// The form of a number.
    pub const fn from_number(number: u32) -> Option<Form> {
        match number {
            0 => Some(Form::Stacks),
            1 => Some(Form::MaskedStacks),
            2 => Some(Form::Mailboxes),
            _ => None,
        }
    }
}

/// What the lanes send and get back.
#[repr(C)]
#[derive(Debug)]
pub struct PayloadWords {
    /// Eight words for each lane.
    pub lanes: [[AtomicU64; QWORDS]; LANES],
}

/// Bits of a header's control word. AMD defines the first; the others are this library's, and clients that do not know
/// them ignore them.
pub mod control {
    /// The packet waits for the host. The wave sets it, the host clears it.
    pub const READY: u32 = 1;
    /// Set by the host, if the client has set [`TELL`]: some lane's call was refused, and its words are as the lane
    /// sent them.
    pub const REFUSED: u32 = 2;
    /// Set by a client on the processor that sleeps on this word until the host changes it.
    pub const SLEEPER: u32 = 4;
    /// Set with [`READY`] by a client that reads [`REFUSED`]. AMD's clients do not set it, and some of them wait until
    /// the word is 0.
    pub const TELL: u32 = 8;
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
    BufferWords { size 48, align 8, headers 0, payloads 8, doorbell 16, free_stack 24, ready_stack 32, index 40, index_high 44 }
    HeaderWords { size 24, align 8, next 0, active_mask 8, service 16, control 20 }
    MailboxWords { size 56, align 8, device_phase 0, host_phase 8, occupied 16, headers 24, payloads 32, doorbell 40, packets 48 }
    MailboxHeaderWords { size 16, align 8, active_mask 0, service 8 }
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

/// Where the arrays of a buffer of mailboxes lie, in bytes from its start, where this library lays it out: words that
/// waves flip, words that the host flips, claims, headers, payloads, and the end. The first two are on lines of their
/// own, so that neither side takes a line from the other by writing.
pub const fn mailboxes_at(packets: u32) -> [usize; 6] {
    let packets = packets as usize;
    let device = size_of::<MailboxWords>().next_multiple_of(LINE);
    let host = (device + 4 * packets).next_multiple_of(LINE);
    let occupied = (host + 4 * packets).next_multiple_of(LINE);
    let headers = (occupied + 4 * packets.div_ceil(32)).next_multiple_of(LINE);
    let payloads = (headers + packets * size_of::<MailboxHeaderWords>()).next_multiple_of(LINE);
    [device, host, occupied, headers, payloads, payloads + packets * size_of::<PayloadWords>()]
}

/// Bytes of a processor's cache line.
const LINE: usize = 64;

/// Bytes of a buffer in some form.
pub const fn size_in(form: Form, packets: u32) -> usize {
    match form {
        Form::Stacks | Form::MaskedStacks => buffer_size(packets),
        Form::Mailboxes => mailboxes_at(packets)[5],
    }
}

/// Bits that the index of a packet takes in a mask's place: as few as there can be.
pub const fn masked_index_size(packets: u32) -> u32 {
    if packets > 2 { u32::BITS - (packets - 1).leading_zeros() } else { 1 }
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
        assert_eq!([1, 2, 3, 4, 5, 64, 65].map(masked_index_size), [1, 1, 2, 2, 3, 6, 7]);
        assert_eq!(mailboxes_at(20), [64, 192, 320, 384, 704, 704 + 20 * 4096]);
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

//! Messages that the library brings along: what a lane accesses, and how long something took.
//!
//! `hostcall::stream::access` and `hostcall::stream::interval` send them. `hostcall_stream::handlers` has what counts
//! and shows them.

use super::message::{Field, Message};
use super::policy::Policy;
use crate::codec::{Plain, signature};

/// [`Plain`] and [`Message`] of a struct.
macro_rules! message {
    ($name:ident { $($field:ident: $ty:ident),+ }) => {
        // SAFETY: numbers, in the order of C; the assertion says that there is no padding.
        unsafe impl Plain for $name {}
        const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$ty>())+);

        impl Message for $name {
            const NAME: &'static str = stringify!($name);
            const SIGNATURE: u64 =
                signature(concat!(stringify!($name), $(" ", stringify!($field), " ", stringify!($ty)),+), &[$(size_of::<$ty>()),+]);
            const FIELDS: &'static [Field] = &[$(Field {
                name: stringify!($field),
                ty: stringify!($ty),
                offset: core::mem::offset_of!($name, $field),
                bytes: size_of::<$ty>(),
            }),+];
            const POLICY: Policy = Policy::Block;
        }
    };
}

/// What a lane does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AccessKind {
    /// Reads and writes it at once, as one operation.
    Atomic = 0,
    /// Reads it.
    Read = 1,
    /// Writes it.
    Write = 2,
    /// Reads it and then writes it.
    ReadWrite = 3,
}

impl AccessKind {
    /// The kind in the two lowest bits.
    #[inline(always)]
    pub const fn new(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::Atomic,
            1 => Self::Read,
            2 => Self::Write,
            _ => Self::ReadWrite,
        }
    }

    /// Whether the memory is read.
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }

    /// Whether the memory is written.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read and write",
        }
    }
}

/// Which of a GPU's memories an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Space {
    /// Nobody has said which.
    Flat = 0,
    /// The device's memory, or the host's.
    Global = 1,
    /// AMD's memory that all workgroups share (GDS).
    Region = 2,
    /// The workgroup's own: NVIDIA's shared memory, AMD's LDS.
    Shared = 3,
    /// Memory that kernels only read.
    Constant = 4,
    /// The lane's own, its stack.
    Private = 5,
}

impl Space {
    /// The space with a number; `Flat` if there is none.
    #[inline(always)]
    pub const fn new(number: u64) -> Self {
        match number {
            1 => Self::Global,
            2 => Self::Region,
            3 => Self::Shared,
            4 => Self::Constant,
            5 => Self::Private,
            _ => Self::Flat,
        }
    }
}

/// An access of one lane to memory: address, kind, space and size in 64 bits.
///
/// | bits, from the lowest | |
/// |---|---|
/// | 56 | address |
/// | 2 | [`AccessKind`] |
/// | 3 | [`Space`] |
/// | 3 | bytes, as a power of two |
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Access {
    bits: u64,
}

message!(Access { bits: u64 });

impl Access {
    /// Bits of an address.
    pub const ADDRESS_BITS: u32 = 56;
    /// The most bytes of an access.
    pub const MAX_BYTES: u32 = 128;

    /// An access to `bytes` bytes. The size is rounded up to a power of two, and is at most [`Access::MAX_BYTES`]. The
    /// address is cut to its bits.
    #[inline(always)]
    pub const fn new(address: u64, kind: AccessKind, space: Space, bytes: u32) -> Self {
        let log2 = if bytes >= Self::MAX_BYTES { 7 } else { bytes.next_power_of_two().trailing_zeros() };
        let address = address & ((1 << Self::ADDRESS_BITS) - 1);
        Self { bits: address | (kind as u64) << 56 | (space as u64) << 58 | (log2 as u64) << 61 }
    }

    /// The first byte's address, as the device sees it.
    #[inline(always)]
    pub const fn address(self) -> u64 {
        self.bits & ((1 << Self::ADDRESS_BITS) - 1)
    }

    /// The last byte's address.
    #[inline(always)]
    pub const fn last(self) -> u64 {
        self.address() + (self.bytes() as u64 - 1)
    }

    /// What the lane does there.
    #[inline(always)]
    pub const fn kind(self) -> AccessKind {
        AccessKind::new(self.bits >> 56)
    }

    /// Which memory it is in.
    #[inline(always)]
    pub const fn space(self) -> Space {
        Space::new(self.bits >> 58 & 7)
    }

    /// Bytes accessed: a power of two, 1 to [`Access::MAX_BYTES`].
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        1 << (self.bits >> 61)
    }
}

impl core::fmt::Debug for Access {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} of {} bytes at {:#x} ({:?})", self.kind().name(), self.bytes(), self.address(), self.space())
    }
}

/// How long a wave took for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Interval {
    /// When it began, in nanoseconds of the device's clock.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// What was measured, as the program numbers it.
    pub label: u32,
    /// Whatever belongs to it: a step, a size.
    pub detail: u32,
}

message!(Interval { start: u64, end: u64, label: u32, detail: u32 });

/// What a wave has come to, in code that was instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum StepKind {
    /// The beginning of a kernel.
    Kernel = 0,
    /// The beginning of a block of instructions, none of which is a jump but the last.
    Block = 1,
    /// The beginning of such a block that is a loop's first.
    Loop = 2,
}

impl StepKind {
    /// The kind with a number; a block if there is none.
    #[inline(always)]
    pub const fn new(number: u32) -> Self {
        match number {
            0 => Self::Kernel,
            2 => Self::Loop,
            _ => Self::Block,
        }
    }

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Block => "block",
            Self::Loop => "loop",
        }
    }
}

/// Lanes of a wave that have come to a block of a function together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Step {
    /// A [`StepKind`].
    pub kind: u32,
    /// The block's number in its function.
    pub block: u32,
    /// How many lanes.
    pub lanes: u32,
}

message!(Step { kind: u32, block: u32, lanes: u32 });

/// [`Interval::label`] of those that instrumented code sends: how long a wave took for a kernel.
pub const OF_KERNEL: u32 = 0;
/// And how long it waited for the others of its workgroup.
pub const OF_BARRIER: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_access_keeps_what_fits_into_it() {
        let access = Access::new(0x7f12_3456_789a, AccessKind::Write, Space::Shared, 16);
        assert_eq!(
            (access.address(), access.kind(), access.space(), access.bytes()),
            (0x7f12_3456_789a, AccessKind::Write, Space::Shared, 16)
        );
        assert_eq!(access.last(), 0x7f12_3456_78a9);
        for (given, kept) in [(0, 1), (1, 1), (3, 4), (12, 16), (128, 128), (129, 128), (u32::MAX, 128)] {
            let access = Access::new(u64::MAX, AccessKind::Atomic, Space::Flat, given);
            assert_eq!((access.bytes(), access.address()), (kept, (1 << 56) - 1));
        }
    }

    #[test]
    fn messages_say_what_they_are_made_of() {
        assert_eq!((Access::NAME, size_of::<Access>(), Access::FIELDS.len()), ("Access", 8, 1));
        assert_eq!((Interval::NAME, size_of::<Interval>()), ("Interval", 24));
        let last = Interval::FIELDS[3];
        assert_eq!((last.name, last.ty, last.offset, last.bytes), ("detail", "u32", 20, 4));
        assert_eq!(Interval::SIGNATURE, signature("Interval start u64 end u64 label u32 detail u32", &[8, 8, 4, 4]));
    }

    proptest! {
        #[test]
        fn any_bits_are_an_access_without_overflow(bits: u64) {
            let access = Access { bits };
            prop_assert!(access.last() >= access.address() && access.bytes() <= Access::MAX_BYTES);
            let again = Access::new(access.address(), access.kind(), access.space(), access.bytes());
            // Numbers of spaces that there are not are read as `Flat`.
            prop_assert_eq!(again.bits & !(7 << 58), bits & !(7 << 58));
            prop_assert_eq!(again.space(), access.space());
        }
    }
}

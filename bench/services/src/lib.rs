//! What the benchmark's kernels ask of their host: one definition for both sides.
#![cfg_attr(hostcall_device, no_std)]

/// Calls of the shapes whose cost is measured.
#[hostcall::service]
pub trait Bench {
    /// 64 bytes in, 16 bytes out: [`answer`] to the block.
    fn exchange(block: [u32; 16]) -> [u64; 2];
    /// The same 64 bytes, posted.
    fn note(block: [u32; 16]);
    /// A large slice to the host, which returns its [`digest`].
    fn take(data: &[u8]) -> u64;
    /// A large slice to the kernel, every byte of it [`filling`] of `chunk`. Returns how many bytes.
    fn give(chunk: u32, out: &mut [u8]) -> u64;
}

/// A message of four bytes.
#[hostcall::stream]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Message4 {
    /// What is summed up.
    pub units: [u32; 1],
}

/// A message of eight bytes: as many as an address has.
#[hostcall::stream]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Message8 {
    /// What is summed up.
    pub units: [u32; 2],
}

/// A message of sixteen bytes.
#[hostcall::stream]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Message16 {
    /// What is summed up.
    pub units: [u32; 4],
}

/// The form of dh_comms: where its messages lie.
pub mod dh_comms {
    /// Sub-buffers, and bytes of each: what its examples have.
    pub const SUBS: u32 = 256;
    /// Bytes of a sub-buffer.
    pub const SUB_BYTES: u64 = 64 << 10;
    /// Units of a message's header.
    pub const HEADER_UNITS: u32 = 16;

    /// A message's header. All but `mask` and `bytes` is only carried.
    #[derive(Clone, Copy, Debug)]
    #[repr(C)]
    pub struct Header {
        /// Lanes that send.
        pub mask: u64,
        /// Bytes of their data.
        pub bytes: u64,
        /// The clock.
        pub time: u64,
        /// File, line, column, the user's type and data.
        pub place: [u32; 6],
        /// The workgroup.
        pub group: [u32; 2],
        /// The wave, and how many lanes send.
        pub wave: [u32; 2],
    }

    const _: () = assert!(size_of::<Header>() == 64);

    /// Bytes of a message of 16 bytes from each of so many lanes.
    pub const fn message_bytes(lanes: u32) -> u64 {
        64 + lanes as u64 * (4 + 16)
    }
}

/// The units of message `i` of lane `lane`.
#[inline(always)]
pub fn units<const N: usize>(lane: u32, i: u32) -> [u32; N] {
    core::array::from_fn(|k| (lane ^ 0x8000_0000).wrapping_add(i).wrapping_mul(2 * k as u32 + 1))
}

/// The block that asks number `i`.
#[inline(always)]
pub fn question(i: u32) -> [u32; 16] {
    core::array::from_fn(|k| if k == 0 { i } else { i ^ k as u32 })
}

/// What [`Bench::exchange`] answers: enough to see that all of the block arrived, and little enough to cost nothing.
#[inline(always)]
pub fn answer(block: &[u32; 16]) -> [u64; 2] {
    [u64::from(block[0]) + 1, block[1..].iter().fold(0, |all, unit| all ^ u64::from(*unit))]
}

/// First and last eight bytes of a slice, mixed with its length: both sides can work it out without a pass over the
/// data.
#[inline(always)]
pub fn digest(data: &[u8]) -> u64 {
    match (data.first_chunk::<8>(), data.last_chunk::<8>()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(1) ^ data.len() as u64,
        _ => data.len() as u64,
    }
}

/// The byte that chunk number `chunk` is full of.
#[inline(always)]
pub fn filling(chunk: u32) -> u8 {
    (chunk.wrapping_mul(31) as u8) | 1
}

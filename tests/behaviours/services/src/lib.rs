//! The services that the behaviour tests call.
#![no_std]

pub mod soaked;

/// A plain struct of more than 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, hostcall::Plain)]
#[repr(C)]
pub struct Large {
    /// Something that says which lane it is of.
    pub seed: u64,
    /// The rest.
    pub values: [u32; 30],
}

impl Large {
    /// The value for a seed.
    pub fn of(seed: u64) -> Self {
        Self { seed, values: core::array::from_fn(|i| (seed as u32).wrapping_mul(31).wrapping_add(i as u32)) }
    }
}

/// Why `Typed::fill` refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hostcall::Plain)]
#[repr(C)]
pub struct Refused {
    /// The block that was asked for.
    pub block: u32,
}

/// One function for each shape of arguments and results.
#[hostcall::service]
pub trait Typed {
    /// No argument and no result.
    fn nothing() -> ();
    /// One argument.
    fn add42(x: f32) -> f32;
    /// Two arguments of one type.
    fn sum(a: u64, b: u64) -> u64;
    /// Two arguments of different types.
    fn scale(a: i32, b: f64) -> f64;
    /// A tuple of equal parts.
    fn swap(a: u32, b: u32) -> (u32, u32);
    /// A tuple of different parts.
    fn mixed(a: u8) -> (u8, i64, bool, char);
    /// An option.
    fn lookup(key: u64) -> Option<u64>;
    /// More than 64 bytes each way.
    fn large(value: Large) -> Large;
    /// A string and a slice in.
    fn measure(text: &str, numbers: &[u32]) -> (u32, u64);
    /// A slice out, or an error of the service's own.
    fn fill(block: u32, out: &mut [u8]) -> Result<u32, Refused>;
    /// Slices of any size there and back.
    fn echo(data: &[u8], back: &mut [u8]) -> u32;
    /// Fire and forget.
    fn note(value: u64);
    /// Fire and forget with a string.
    fn log(message: &str);
    /// Sleeps on the host.
    fn nap(millis: u32) -> u32;
    /// Fails for odd arguments.
    fn picky(value: u32) -> u32;
    /// Panics for odd arguments.
    fn fragile(value: u32) -> u32;
}

/// A service that no test registers.
#[hostcall::service]
pub trait Nobody {
    /// Never answered by a handler.
    fn home(x: u32) -> u32;
}

/// A service whose stubs panic instead of returning errors.
#[hostcall::service(on_error = "panic")]
pub trait Strict {
    /// As `Typed::add42`.
    fn strict_add(x: u32) -> u32;
}

/// Calls that are counted by where they come from.
#[hostcall::service]
pub trait Tally {
    /// Counts a call made for `what`; gives each call a number of its own.
    fn tick(what: u32) -> u64;
}

/// Calls that a wave makes together. Each returns the number of the call, as the host counts them, and something of the
/// arguments.
#[hostcall::service]
pub trait Together {
    /// No argument.
    fn none() -> u64;
    /// One unit.
    fn one(a: u32) -> (u64, u64);
    /// Two units.
    fn two(a: u64) -> (u64, u64);
    /// Sixteen: `block[0] >> 8`, if the others belong to it.
    fn sixteen(block: [u32; 16]) -> (u64, u64);
    /// Thirty: likewise.
    fn thirty(block: [u32; 30]) -> (u64, u64);
    /// Posted.
    fn note(value: u64);
    /// Posted, with a string.
    fn say(text: &str);
    /// The data, turned round.
    fn turn(data: &[u8], back: &mut [u8]) -> u64;
    /// How long the data is.
    fn take(data: &[u8]) -> u64;
    /// Fails for odd arguments.
    fn picky(value: u32) -> u64;
}

/// A second service beside [`Tally`] and [`Typed`].
#[hostcall::service]
pub trait Second {
    /// Three times `x`.
    fn triple(x: u32) -> u32;
}

/// A service that no test registers before its kernel is attached.
#[hostcall::service]
pub trait Late {
    /// Answered by whoever comes late.
    fn come(x: u32) -> u32;
}

/// Calls whose answers the test holds back, and ones by which a kernel waits for the test.
#[hostcall::service]
pub trait Gate {
    /// Answered when the test likes.
    fn held_back(x: u32) -> u32;
    /// Whether the kernel may go on.
    fn may_go(x: u32) -> bool;
    /// Says that a lane is there.
    fn here(x: u32) -> ();
}

/// Messages with checksums.
#[hostcall::service]
pub trait Stress {
    /// A number of the lane's, echoed with one more.
    fn count(lane: u32, number: u32) -> (u32, u32);
    /// The data's checksum, which the handler also compares.
    fn sum(lane: u32, checksum: u64, data: &[u8]) -> u64;
    /// The data, turned round, and its checksum.
    fn turn(lane: u32, data: &[u8], back: &mut [u8]) -> u64;
    /// A number of the lane's, posted.
    fn post(lane: u32, number: u32);
    /// Data and its checksum, posted.
    fn post_sum(lane: u32, checksum: u64, data: &[u8]);
}

/// FNV-1a over bytes: what both sides check messages with.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What the soak calls. A `key` is different for every call of a run; all else follows from it.
#[hostcall::service]
pub trait Soak {
    /// Returns `mix(key)`.
    fn mark(key: u64) -> u64;
    /// The key twice in a larger message; returns `mix(key)` likewise.
    fn wide(key: u64, value: Large) -> Large;
    /// Words made of the key; returned with each bit flipped.
    fn bulk(key: u64, data: &[u32], back: &mut [u32]) -> u64;
    /// A text made of the key.
    fn text(key: u64, text: &str) -> u64;
    /// Posted.
    fn post(key: u64);
    /// The handler fails with the code `key as u32`, or panics if the key is even.
    fn fail(key: u64) -> u64;
}

/// A bijective mixing function (the last steps of SplitMix64).
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A message of one unit.
#[hostcall::stream]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Tiny {
    /// Lane and number.
    pub value: u32,
}

/// A message that waits for room for a while.
#[hostcall::stream(policy = "wait")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Patient {
    /// The lane in the grid.
    pub lane: u32,
    /// The lane's messages so far.
    pub number: u32,
}

/// A message of which fewer are sent the fuller the ring is.
#[hostcall::stream(policy = "sample")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sampled {
    /// The lane in the grid.
    pub lane: u32,
    /// The lane's messages so far.
    pub number: u32,
}

/// Messages of bytes of any length.
#[hostcall::stream(bytes)]
pub struct Frame;

/// Messages of text.
#[hostcall::stream(text)]
#[derive(Clone, Copy, Debug)]
pub struct Note;

/// The most bytes of [`frame_length`].
pub const FRAME_MOST: u32 = 301;

/// How long message `number` of lane `lane` is: every length from 0 on, in steps of `step`.
pub const fn frame_length(lane: u32, number: u32, step: u32) -> u32 {
    (number * step + lane * 13) % FRAME_MOST
}

/// Where it begins, at all kinds of addresses.
pub const fn frame_start(lane: u32, number: u32) -> u32 {
    (lane * 31 + number * 17) % 1024
}

/// A message that overwrites the oldest.
#[hostcall::stream(policy = "latest")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Flown {
    /// The lane in the grid.
    pub lane: u32,
    /// The lane's messages so far.
    pub number: u32,
    /// A product of both in each.
    pub rest: [u32; 3],
}

impl Flown {
    /// That of a lane.
    #[inline(always)]
    pub fn of(lane: u32, number: u32) -> Self {
        Self { lane, number, rest: core::array::from_fn(|i| (lane ^ i as u32).wrapping_mul(number | 1).wrapping_mul(0x9e37_79b9)) }
    }
}

/// A message of two units, of which the first is often of the largest numbers.
#[hostcall::stream]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Numbered {
    /// The lane in the grid.
    pub lane: u32,
    /// The lane's messages so far.
    pub number: u32,
}

/// A message of six units.
#[hostcall::stream]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Mixed {
    /// All bits set, or none.
    pub bits: u64,
    /// Half the lane's number, below zero.
    pub half: f64,
    /// The lane in the grid.
    pub lane: i32,
    /// Its bytes.
    pub bytes: [u8; 4],
}

impl Mixed {
    /// That of a lane.
    pub fn of(lane: u32) -> Self {
        let bits = if lane.is_multiple_of(2) { u64::MAX } else { 0 };
        Self { bits, half: -0.5 * f64::from(lane), lane: -(lane as i32), bytes: lane.wrapping_mul(0x8040_2011).to_le_bytes() }
    }
}

/// The largest message, which is dropped when there is no room.
#[hostcall::stream(policy = "drop")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Big {
    /// The lane in the grid.
    pub lane: u32,
    /// The lane's messages so far.
    pub number: u32,
    /// A product of both in each.
    pub rest: [u32; 29],
}

impl Big {
    /// That of a lane.
    #[inline(always)]
    pub fn of(lane: u32, number: u32) -> Self {
        Self { lane, number, rest: core::array::from_fn(|i| (lane ^ i as u32).wrapping_mul(number | 1).wrapping_mul(0x9e37_79b9)) }
    }
}

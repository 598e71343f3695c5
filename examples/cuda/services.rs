//! The services that the kernels of this directory call. `services.cuh` has their stubs for C++.

/// A plain struct of 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, hostcall::Plain)]
#[repr(C)]
pub struct Particle {
    /// Where it is.
    pub place: [f32; 3],
    /// How heavy it is.
    pub mass: f32,
    /// Which one it is.
    pub number: u64,
}

/// A function for each shape of arguments and results.
#[hostcall::service]
pub trait Host {
    /// Adds 42.
    fn add42(x: f32) -> f32;
    /// No argument and no result, but waited for.
    fn nothing() -> ();
    /// Two arguments of one type.
    fn sum(a: u64, b: u64) -> u64;
    /// Two arguments of different types.
    fn scale(a: i32, b: f64) -> f64;
    /// A tuple.
    fn mixed(a: u8) -> (u8, i64, bool, char);
    /// The square of a number that 3 divides.
    fn lookup(key: u64) -> Option<u64>;
    /// Half of an even number; of an odd one itself, as an error.
    fn half(n: u32) -> Result<u64, u32>;
    /// Nothing, or an error.
    fn set(n: u64) -> Result<(), u16>;
    /// 64 bytes there, 8 back.
    fn digest(block: [u8; 64]) -> [u32; 2];
    /// A struct there and back.
    fn step(particle: Particle, seconds: f32) -> Particle;
    /// So many bytes that the lanes of a wave call in turns.
    fn wide(values: [u32; 100]) -> [u32; 60];
    /// Values of every size less than a unit.
    fn small(a: i8, b: u16, yes: bool, letter: char) -> i16;
    /// A string and a slice: bytes of the one, sum of the other.
    fn measure(text: &str, numbers: &[u32]) -> (u32, u64);
    /// Bytes there and back: their sum.
    fn echo(data: &[u8], back: &mut [u8]) -> u32;
    /// Fills a slice; odd blocks are refused.
    fn fill(block: u32, out: &mut [u16]) -> Result<u32, u32>;
    /// Posted.
    fn note(value: u64);
    /// Posted, with a string.
    fn log(message: &str);
    /// Fails for odd arguments.
    fn picky(value: u32) -> u32;
    /// Panics for odd arguments.
    fn fragile(value: u32) -> u32;
    /// Answered when the host likes.
    fn held_back(value: u32) -> u32;
}

/// A service that nobody registers.
#[hostcall::service]
pub trait Nobody {
    /// Never answered by a handler.
    fn home(x: u32) -> u32;
}

/// A message of an odd number of units; it waits for room.
#[hostcall::stream]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Sample {
    /// Who sent it.
    pub lane: u32,
    /// Which one of that lane's it is.
    pub round: u32,
    /// Any number, negative ones too.
    pub value: f32,
    /// Another one.
    pub more: i32,
    /// The lane's bits, upside down.
    pub inverted: u32,
}

/// A message of one unit, dropped when there is no room.
#[hostcall::stream(policy = "drop")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Mark {
    /// Any number.
    pub value: i32,
}

/// Text of any length.
#[hostcall::stream(text)]
pub struct Line;

/// Bytes of any length, dropped when there is no room.
#[hostcall::stream(bytes, policy = "drop")]
pub struct Blob;

/// A struct in a message; the fuller the ring, the fewer are sent.
#[hostcall::stream(policy = "sample")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Track {
    /// Where a particle was.
    pub particle: Particle,
    /// When.
    pub seconds: [f32; 2],
}

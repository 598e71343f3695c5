//! The services that the behaviour tests call.
#![no_std]

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

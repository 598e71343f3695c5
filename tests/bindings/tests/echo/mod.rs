//! Functions that return what they are given, so that a value can go through another language and come back.

/// A struct.
#[derive(Clone, Copy, Debug, PartialEq, hostcall::Plain)]
#[repr(C)]
pub struct Pair {
    /// Eight bytes.
    pub wide: f64,
    /// Six.
    pub small: [u16; 3],
    /// What C++ reserves.
    pub new: u16,
}

/// What is returned as it came.
#[hostcall::service]
pub trait Echo {
    /// A number.
    fn alone(x: f32) -> f32;
    /// A number of 128 bits.
    fn wide(x: u128) -> u128;
    /// Less than a unit.
    fn small(x: i8) -> i8;
    /// Numbers.
    fn numbers(x: (u8, i16, u32, i64, f32, f64)) -> (u8, i16, u32, i64, f32, f64);
    /// What is checked.
    fn letters(x: (bool, char)) -> (bool, char);
    /// A truth.
    fn truth(x: bool) -> bool;
    /// Bytes that fill no unit.
    fn bytes(x: [u8; 5]) -> [u8; 5];
    /// Options.
    fn maybe(x: Option<(u8, Option<u64>)>) -> Option<(u8, Option<u64>)>;
    /// Both of one type.
    fn same(x: Result<u32, u32>) -> Result<u32, u32>;
    /// An error that is larger.
    fn either(x: Result<u8, (u64, bool)>) -> Result<u8, (u64, bool)>;
    /// No value.
    fn nothing(x: Result<(), u8>) -> Result<(), u8>;
    /// A struct.
    fn pair(x: Pair) -> Pair;
    /// A string, a slice, and bytes that come back, among others: the sum of `numbers`, `a` and `b`, and the length of
    /// `text`. `back` gets `a` and its number of elements, and only these two come back.
    fn mixed(a: u8, text: &str, numbers: &[u32], back: &mut [u16], b: Option<u64>) -> u64;
    /// Posted.
    fn post(x: u64);
    /// Waited for.
    fn wait(x: u64) -> ();
}

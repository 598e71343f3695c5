//! Services of odd types. The tests compile this file, and read it.

pub mod parts {
    //! Types that another module has.

    /// Elements.
    pub const COUNT: usize = 3;

    /// What stands for a place.
    pub type Place = [f32; COUNT];

    /// A struct without names.
    #[derive(Clone, Copy, Debug, PartialEq, hostcall::Plain)]
    #[repr(transparent)]
    pub struct Id(pub u64);
}

use core::option::Option as Maybe;

use parts::{Id, Place};

/// A struct with everything that is plain.
#[derive(Clone, Copy, Debug, PartialEq, hostcall::Plain)]
#[repr(C)]
pub struct Wide {
    /// The widest.
    pub wide: i128,
    /// Of a struct.
    pub ids: [Id; 2],
    /// Of an array.
    pub place: Place,
    /// What C++ reserves.
    pub class: u16,
    /// Small numbers.
    pub r#type: [[i8; 3]; 4],
    /// Fills it up.
    pub rest: [u8; 6],
}

/// A struct that is packed.
#[derive(Clone, Copy, hostcall::Plain)]
#[repr(C, packed(2))]
pub struct Packed {
    /// Two bytes.
    pub kind: u16,
    /// At an address that is even.
    pub value: f64,
}

/// A struct with an alignment of its own.
#[derive(Clone, Copy, hostcall::Plain)]
#[repr(C, align(16))]
pub struct Aligned {
    /// All of it.
    pub lanes: [f32; 4],
}

/// A message of a stream is plain, too.
#[hostcall::stream(policy = "drop")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Loss {
    /// The step.
    pub step: u32,
    /// The loss.
    pub value: f32,
}

/// Every kind of argument, and odd ones. A line that ends with a backslash \
/// and one with a trigraph ??/
/// and */ what ends comments /* elsewhere.
#[hostcall::service]
pub trait Odd {
    /// Nothing.
    fn nothing();
    /// Waited for.
    fn barrier() -> ();
    /// All numbers.
    fn numbers(a: u8, b: u16, c: u32, d: u64, e: u128, f: usize, g: i8, h: i16, i: i32, j: i64, k: i128, l: isize, m: f32, n: f64) -> i128;
    /// What is checked.
    fn checked(yes: bool, letter: char) -> (bool, char);
    /// Units, and braces that mean nothing but are hashed.
    fn units(a: (), b: ((), u8), c: (u32)) -> Option<()>;
    /// Tuples of one to eight.
    fn tuples(a: (u8,), b: (u8, (u16, [u32; 2]), bool, char, i8, i16, i32, i64)) -> ((u8,), [[u8; 2]; 3]);
    /// Options of options.
    fn options(a: Option<Option<u64>>, b: Maybe<char>, c: core::option::Option<[u8; 5]>) -> Option<Result<u8, ()>>;
    /// Results, by other paths.
    fn results(a: Result<u64, u8>, b: ::core::result::Result<(), (u8, bool)>) -> std::result::Result<Wide, u32>;
    /// Structs and names from elsewhere.
    fn structs(wide: Wide, id: parts::Id, place: Place, packed: Packed, aligned: Aligned, loss: Loss) -> Packed;
    /// Lengths that are not numbers.
    fn lengths(a: [u8; parts::COUNT], b: [u16; parts::COUNT * 2 + 1], c: [u8; 0x10]) -> [u64; 1 << 2];
    /// Strings and slices.
    fn slices(text: &str, bytes: &[u8], ids: &[Id], rows: &[[f32; 4]], wide: &mut [Wide], out: &mut [[u8; 3]], n: u16) -> Option<u64>;
    /// A post with a string.
    fn say(text: &str);
    /// Names that other languages reserve.
    fn r#type(class: u8, namespace: u16, r#in: u32, lambda: u64, hc_port: u8, NULL: i8, None_: u8, new_: u8, new: u8) -> u8;
    /// The same, as a function.
    fn operator(this: &str, this_count: u32) -> bool;
    /// A function that is called as its class.
    fn Odd(x: u32) -> u32;
}

/// Its stubs return the bare result.
#[hostcall::service(on_error = "panic")]
pub trait Shouting {
    /// Adds.
    fn add(x: f32) -> f32;
    /// Posts.
    fn post(x: u32);
}

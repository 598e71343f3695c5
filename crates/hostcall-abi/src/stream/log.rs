//! Lines of a log whose text stays on the host: a message has the arguments alone, and names its place in the source,
//! which has the format.
//!
//! Each lane sends, as values of one stream, 1 + 2 × n units: the kinds of its n arguments, 4 bits each from the lowest
//! on, and each argument's 64 bits, low half first.

use super::message::{Field, Message};
use super::policy::Policy;
use crate::codec::{Plain, signature};

/// A unit of a log message, see [`Argument`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Log {
    /// Its bits.
    pub unit: u32,
}

// SAFETY: a number.
unsafe impl Plain for Log {}

impl Message for Log {
    const NAME: &'static str = "Log";
    const SIGNATURE: u64 = signature("Log unit u32", &[4]);
    const FIELDS: &'static [Field] = &[Field { name: "unit", ty: "u32", offset: 0, bytes: 4 }];
    const POLICY: Policy = Policy::Block;
}

/// The most arguments of a line.
pub const MAX_ARGUMENTS: usize = 8;

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LogKind {
    /// An unsigned integer of any size.
    Unsigned = 1,
    /// `i8`.
    I8 = 2,
    /// `i16`.
    I16 = 3,
    /// `i32`.
    I32 = 4,
    /// `i64`, `isize`.
    I64 = 5,
    /// `f32`.
    F32 = 6,
    /// `f64`.
    F64 = 7,
    /// `bool`.
    Bool = 8,
    /// `char`.
    Char = 9,
    /// An address.
    Pointer = 10,
}

/// An argument of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// [`LogKind::Unsigned`].
    Unsigned(u64),
    /// A signed integer, and its size in bits.
    Signed(i64, u32),
    /// [`LogKind::F32`].
    F32(f32),
    /// [`LogKind::F64`].
    F64(f64),
    /// [`LogKind::Bool`].
    Bool(bool),
    /// [`LogKind::Char`].
    Char(char),
    /// [`LogKind::Pointer`].
    Pointer(u64),
}

/// A type of arguments.
pub trait LogValue: Copy {
    /// What it is.
    const KIND: LogKind;
    /// Its bits.
    fn bits(self) -> u64;
}

macro_rules! values {
    ($($ty:ty: $kind:ident, |$it:ident| $bits:expr;)+) => { $(
        impl LogValue for $ty {
            const KIND: LogKind = LogKind::$kind;
            #[inline(always)]
            fn bits(self) -> u64 {
                let $it = self;
                $bits
            }
        }
    )+ };
}

values! {
    u8: Unsigned, |it| it.into();
    u16: Unsigned, |it| it.into();
    u32: Unsigned, |it| it.into();
    u64: Unsigned, |it| it;
    usize: Unsigned, |it| it as u64;
    i8: I8, |it| it as u8 as u64;
    i16: I16, |it| it as u16 as u64;
    i32: I32, |it| it as u32 as u64;
    i64: I64, |it| it as u64;
    isize: I64, |it| it as u64;
    f32: F32, |it| it.to_bits().into();
    f64: F64, |it| it.to_bits();
    bool: Bool, |it| it.into();
    char: Char, |it| it.into();
}

impl<T> LogValue for *const T {
    const KIND: LogKind = LogKind::Pointer;
    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
}

impl<T> LogValue for *mut T {
    const KIND: LogKind = LogKind::Pointer;
    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }
}

impl<T: LogValue> LogValue for &T {
    const KIND: LogKind = T::KIND;
    #[inline(always)]
    fn bits(self) -> u64 {
        (*self).bits()
    }
}

/// The units of one argument more: the kinds so far with this one's, and its halves.
#[inline(always)]
pub fn put<T: LogValue, const UNITS: usize>(units: &mut [u32; UNITS], index: usize, value: T) {
    let bits = value.bits();
    units[0] |= (T::KIND as u32) << (4 * index);
    units[1 + 2 * index] = bits as u32;
    units[2 + 2 * index] = (bits >> 32) as u32;
}

impl Argument {
    /// The arguments in the units of one lane; `None`: they are none.
    pub fn parse(units: &[Log]) -> Option<([Self; MAX_ARGUMENTS], usize)> {
        let (kinds, rest) = units.split_first()?;
        let (pairs, odd) = rest.as_chunks::<2>();
        if !odd.is_empty() || pairs.len() > MAX_ARGUMENTS {
            return None;
        }
        let mut all = [Self::Bool(false); MAX_ARGUMENTS];
        for (i, [low, high]) in pairs.iter().enumerate() {
            all[i] = Self::of(kinds.unit >> (4 * i) & 15, u64::from(low.unit) | u64::from(high.unit) << 32)?;
        }
        Some((all, pairs.len()))
    }

    fn of(kind: u32, bits: u64) -> Option<Self> {
        let signed = |size: u32| Self::Signed((bits << (64 - size)) as i64 >> (64 - size), size);
        Some(match kind {
            1 => Self::Unsigned(bits),
            2 => signed(8),
            3 => signed(16),
            4 => signed(32),
            5 => signed(64),
            6 => Self::F32(f32::from_bits(bits as u32)),
            7 => Self::F64(f64::from_bits(bits)),
            8 => Self::Bool(bits & 1 != 0),
            9 => Self::Char(char::from_u32(bits as u32)?),
            10 => Self::Pointer(bits),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_back_from_their_units() {
        let mut units = [0; 17];
        put(&mut units, 0, u64::MAX);
        put(&mut units, 1, -3i8);
        put(&mut units, 2, -3i16);
        put(&mut units, 3, i32::MIN);
        let large = &-1isize;
        put(&mut units, 4, large);
        put(&mut units, 5, -0.5f32);
        put(&mut units, 6, 'ß');
        put(&mut units, 7, 0x10 as *const u8);
        let expected = [
            Argument::Unsigned(u64::MAX),
            Argument::Signed(-3, 8),
            Argument::Signed(-3, 16),
            Argument::Signed(i64::from(i32::MIN), 32),
            Argument::Signed(-1, 64),
            Argument::F32(-0.5),
            Argument::Char('ß'),
            Argument::Pointer(16),
        ];
        assert_eq!(Argument::parse(&units.map(|unit| Log { unit })), Some((expected, 8)));
    }

    #[test]
    fn units_that_are_no_arguments_are_none() {
        let parse = |units: &[u32]| Argument::parse(&units.iter().map(|unit| Log { unit: *unit }).collect::<Vec<_>>());
        assert!(parse(&[]).is_none() && parse(&[1, 2]).is_none() && parse(&[0, 1, 1]).is_none() && parse(&[11, 1, 1]).is_none());
        assert!(parse(&[9, 0xd800, 0]).is_none(), "no character");
        assert!(parse(&[0; 19]).is_none(), "nine");
        assert_eq!(parse(&[0]).expect("none").1, 0);
    }
}

//! Values as text, for people.

use std::fmt::{self, Write as _};

/// A value that a trace can show. Unlike `Display`, pointers have it.
pub trait Print {
    /// Writes it.
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Adds it to a text. A trace is mostly made of values that need no format, and takes most of its time for them.
    fn push(&self, to: &mut String) {
        push_formatted(self, to);
    }
}

/// [`Print::push`] by way of [`Print::print`].
pub fn push_formatted<T: Print + ?Sized>(value: &T, to: &mut String) {
    // Writing to a `String` does not fail.
    let _ = write!(to, "{}", Shown(value));
}

/// A value's text.
#[derive(Debug)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

impl<T: Print + ?Sized> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.print(f)
    }
}

macro_rules! by_display {
    ($($ty:ty)*) => {$(
        impl Print for $ty {
            fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    )*};
}
by_display!(bool f32 f64);

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Print for $ty {
            fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }

            fn push(&self, to: &mut String) {
                to.push_str(itoa::Buffer::new().format(*self));
            }
        }
    )*};
}
integers!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize);

impl<T> Print for *const T {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_null() { f.write_str("NULL") } else { write!(f, "{:#x}", self.addr()) }
    }

    fn push(&self, to: &mut String) {
        if self.is_null() { to.push_str("NULL") } else { push_hexadecimal(self.addr(), to) }
    }
}

/// A number as `{:#x}` has it.
fn push_hexadecimal(number: usize, to: &mut String) {
    to.push_str("0x");
    let digits = (usize::BITS - number.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        to.push(char::from(b"0123456789abcdef"[number >> (4 * place) & 0xf]));
    }
}

impl<T> Print for *mut T {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cast_const().print(f)
    }

    fn push(&self, to: &mut String) {
        self.cast_const().push(to);
    }
}

impl<T: Print, const N: usize> Print for [T; N] {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, item) in self.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, Shown(item))?;
        }
        f.write_str("]")
    }
}

/// A C `bool` somewhere in memory, which may hold any byte.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Bool(pub u8);

impl Print for Bool {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 == 0 { "false" } else { "true" })
    }
}

/// Text in some encoding, in quotation marks, on one line, up to its first zero or [`Bytes::MOST`].
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// How many bytes are shown.
    pub const MOST: usize = 256;
}

impl Print for Bytes<'_> {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        let shown = &text[..text.len().min(Self::MOST)];
        write!(f, "\"{}\"{}", String::from_utf8_lossy(shown).escape_debug(), if shown.len() < text.len() { "…" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_pushed_as_they_are_printed() {
        fn both<T: Print>(value: T) {
            let mut text = String::from("= ");
            value.push(&mut text);
            assert_eq!(text, format!("= {}", Shown(&value)));
        }
        for address in [0, 1, 0xf, 0x10, 0x7ffc_1d20, 0xdead_beef_cafe, usize::MAX] {
            both(std::ptr::without_provenance::<u8>(address));
            both(std::ptr::without_provenance_mut::<u8>(address));
            both(address);
        }
        both(-7i32);
        both(i64::MIN);
        both(true);
        both(1.5f32);
        both(crate::sys::ol_errc_t(0));
        both(crate::sys::ol_errc_t(4711));
        both([1, 2]);
    }

    #[test]
    fn text_stays_on_one_line_and_ends_somewhere() {
        assert_eq!(Shown(&Bytes(b"one\ntwo\0three")).to_string(), r#""one\ntwo""#);
        let long = Shown(&Bytes(&[b'a'; 1000])).to_string();
        assert_eq!(long.chars().count(), Bytes::MOST + 3);
        assert_eq!(Shown(&std::ptr::null::<u8>()).to_string(), "NULL");
        assert_eq!(Shown(&[1, 2]).to_string(), "[1, 2]");
    }
}

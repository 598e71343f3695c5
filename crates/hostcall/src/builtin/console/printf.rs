//! C's `printf`, of values that come with their types: what kernels in C++ print ([`hostcall_abi::services::printf`]).
//!
//! The kernel sends the format and the values; nothing is formatted there. Each conversion is checked against the type
//! of its value, which the C language cannot do: `%d` with a floating-point number is an error that names both, and not
//! a number that nobody meant. The lengths of integers (`l`, `ll`, `z`) are taken from the values, so that `%d` prints
//! a 64-bit integer in full; `h` and `hh` cut it, as in C. There is no `%n`.

mod float;

use hostcall_abi::services::printf as wire;

/// The widest field, and the longest precision.
const WIDEST: usize = 4096;
/// Bytes that one call may print.
const LONGEST: usize = 1 << 20;

/// A value to be printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::builtin) enum Value<'a> {
    /// With its size in bytes.
    Signed(i64, u32),
    /// With its size in bytes.
    Unsigned(u64, u32),
    Float(f64),
    Pointer(u64),
    /// `None`: a null pointer.
    Text(Option<&'a [u8]>),
    /// A code point, if it is one.
    Char(u32),
}

impl Value<'_> {
    /// What it is, and the conversions that it has.
    fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::Signed(..) | Self::Unsigned(..) => ("an integer", "%d, %u, %x, %o or %c"),
            Self::Float(_) => ("a floating-point number", "%f, %e, %g or %a"),
            Self::Pointer(_) => ("a pointer", "%p"),
            Self::Text(_) => ("a text", "%s"),
            Self::Char(_) => ("a character", "%c"),
        }
    }
}

/// Why nothing is printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::builtin) enum FormatError {
    #[error("printf: `{conversion}` is given {kind}: write {wanted}")]
    Kind { conversion: String, kind: &'static str, wanted: &'static str },
    #[error("printf: there is no value for `{conversion}`: {given} are given")]
    Missing { conversion: String, given: usize },
    #[error("printf: {given} values are given, and the format has conversions for {used}")]
    TooMany { given: usize, used: usize },
    #[error("printf: `{conversion}` is no conversion{}", if conversion.ends_with('n') { ": %n writes to memory, and the host writes to none" } else { "" })]
    Unknown { conversion: String },
    #[error("printf: `{conversion}` is wider than {WIDEST} characters")]
    Wide { conversion: String },
    #[error("printf: the text is longer than {LONGEST} bytes")]
    Long,
    #[error("printf: the values are none: {0}")]
    Values(&'static str),
}

/// The values that a kernel sent: three units for each, and the texts among them.
pub(in crate::builtin) fn values<'a>(units: &[u32], texts: &[&'a [u8]]) -> Result<Vec<Value<'a>>, FormatError> {
    let (values, []) = units.as_chunks::<3>() else { return Err(FormatError::Values("each has three units")) };
    let value = |&[kind, low, high]: &[u32; 3]| {
        let bits = u64::from(high) << 32 | u64::from(low);
        let bytes = kind >> wire::SIZE_SHIFT;
        let is_size = matches!(bytes, 1 | 2 | 4 | 8);
        match kind & wire::KIND {
            wire::SIGNED if is_size => Ok(Value::Signed(bits as i64, bytes)),
            wire::UNSIGNED if is_size => Ok(Value::Unsigned(bits, bytes)),
            wire::FLOAT => Ok(Value::Float(f64::from_bits(bits))),
            wire::POINTER => Ok(Value::Pointer(bits)),
            wire::CHAR => Ok(Value::Char(low)),
            wire::TEXT if low == wire::NULL => Ok(Value::Text(None)),
            wire::TEXT => {
                texts.get(low as usize).map(|text| Value::Text(Some(text))).ok_or(FormatError::Values("one is a text that is not there"))
            }
            _ => Err(FormatError::Values("one is of no type that there is")),
        }
    };
    values.iter().map(value).collect()
}

/// The text of a format with its values.
pub(in crate::builtin) fn printf(format: &[u8], values: &[Value<'_>]) -> Result<Vec<u8>, FormatError> {
    let (mut out, mut rest, mut values) = (Vec::with_capacity(format.len() + 16), format, Values { all: values, used: 0 });
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with(b"%%") {
            out.push(b'%');
            rest = &rest[2..];
            continue;
        }
        let (conversion, behind) = Conversion::read(rest, &mut values)?;
        conversion.put(&mut out, &mut values)?;
        if out.len() > LONGEST {
            return Err(FormatError::Long);
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    match (values.all.len(), values.used) {
        (given, used) if given > used => Err(FormatError::TooMany { given, used }),
        _ if out.len() > LONGEST => Err(FormatError::Long),
        _ => Ok(out),
    }
}

/// What a conversion takes of C's variable arguments, with its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum Wanted {
    Signed(u32),
    Unsigned(u32),
    Double,
    Pointer,
    /// A pointer as well.
    Text,
}

/// What a format takes of C's variable arguments.
pub(in crate::builtin) fn wanted(format: &[u8]) -> Result<Vec<Wanted>, FormatError> {
    let (mut all, mut rest) = (Vec::new(), format);
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix(b"%%") {
            rest = behind;
            continue;
        }
        // A width and a precision at most.
        let mut stars = Values { all: &[Value::Signed(0, 4); 2], used: 0 };
        let (conversion, behind) = Conversion::read(rest, &mut stars)?;
        all.extend(std::iter::repeat_n(Wanted::Signed(4), stars.used));
        all.push(conversion.wanted());
        rest = behind;
    }
    Ok(all)
}

/// Values, as far as they are printed.
struct Values<'v, 'a> {
    all: &'v [Value<'a>],
    used: usize,
}

impl<'a> Values<'_, 'a> {
    fn next(&mut self, conversion: &str) -> Result<Value<'a>, FormatError> {
        let missing = || FormatError::Missing { conversion: conversion.to_owned(), given: self.all.len() };
        let value = *self.all.get(self.used).ok_or_else(missing)?;
        self.used += 1;
        Ok(value)
    }
}

/// One conversion of a format.
#[derive(Clone, Debug, Default)]
struct Conversion {
    /// As it is written.
    text: String,
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes to which `h` and `hh` cut an integer; 0: they are not there.
    cut: u32,
    letter: u8,
}

impl Conversion {
    /// The conversion at the beginning of a text, and what is behind it. `*` takes a value.
    fn read<'f>(text: &'f [u8], values: &mut Values<'_, '_>) -> Result<(Self, &'f [u8]), FormatError> {
        let mut this = Self::default();
        let mut at = 1;
        let peek = |at: usize| text.get(at).copied().unwrap_or(0);
        let said = |end: usize| String::from_utf8_lossy(&text[..text.len().min(end)]).into_owned();
        loop {
            match peek(at) {
                b'-' => this.left = true,
                b'+' => this.plus = true,
                b' ' => this.space = true,
                b'#' => this.alternate = true,
                b'0' => this.zeros = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize, values: &mut Values<'_, '_>| -> Result<i64, FormatError> {
            if peek(*at) == b'*' {
                *at += 1;
                let conversion = said(*at);
                return match values.next(&conversion)? {
                    Value::Signed(number, _) => Ok(number),
                    Value::Unsigned(number, _) => Ok(i64::try_from(number).unwrap_or(i64::MAX)),
                    other => Err(FormatError::Kind { conversion, kind: other.kind().0, wanted: other.kind().1 }),
                };
            }
            let mut value = 0i64;
            while peek(*at).is_ascii_digit() {
                value = value.saturating_mul(10).saturating_add(i64::from(peek(*at) - b'0'));
                *at += 1;
            }
            Ok(value)
        };
        let width = number(&mut at, values)?;
        this.left |= width < 0;
        let mut precision = None;
        if peek(at) == b'.' {
            at += 1;
            // A negative one is as if there were none.
            precision = Some(number(&mut at, values)?).filter(|precision| *precision >= 0);
        }
        let limited = |number: u64| {
            usize::try_from(number).ok().filter(|number| *number <= WIDEST).ok_or_else(|| FormatError::Wide { conversion: said(at) })
        };
        this.width = limited(width.unsigned_abs())?;
        this.precision = precision.map(|precision| limited(precision.unsigned_abs())).transpose()?;
        let rest = &text[at..];
        let (lengths, cut) = match rest {
            [b'h', b'h', ..] => (2, 1),
            [b'h', ..] => (1, 2),
            [b'l', b'l', ..] => (2, 0),
            [b'l' | b'j' | b'z' | b't' | b'L', ..] => (1, 0),
            _ => (0, 0),
        };
        (at, this.cut, this.letter) = (at + lengths, cut, peek(at + lengths));
        this.text = said(at + 1);
        if !b"diouxXcspfFeEgGaA".contains(&this.letter) {
            return Err(FormatError::Unknown { conversion: this.text });
        }
        Ok((this, &text[at + 1..]))
    }

    /// What it takes of C's variable arguments.
    fn wanted(&self) -> Wanted {
        let before = self.text.len().checked_sub(2).and_then(|at| self.text.as_bytes().get(at));
        let bytes = if before.is_some_and(|length| b"ljztL".contains(length)) { 8 } else { 4 };
        match self.letter {
            b'd' | b'i' => Wanted::Signed(bytes),
            b'c' => Wanted::Signed(4),
            b'u' | b'o' | b'x' | b'X' => Wanted::Unsigned(bytes),
            b's' => Wanted::Text,
            b'p' => Wanted::Pointer,
            _ => Wanted::Double,
        }
    }

    /// Appends the next value.
    fn put(&self, out: &mut Vec<u8>, values: &mut Values<'_, '_>) -> Result<(), FormatError> {
        let value = values.next(&self.text)?;
        match (self.letter, value) {
            (b'd' | b'i', Value::Signed(..) | Value::Unsigned(..)) => {
                let number = self.signed(value);
                let digits = number.unsigned_abs().to_string();
                self.integer(out, self.sign(number < 0), digits.into_bytes());
            }
            (b'u' | b'o' | b'x' | b'X', Value::Signed(..) | Value::Unsigned(..)) => {
                let number = self.unsigned(value);
                let (prefix, digits) = match self.letter {
                    b'u' => ("", number.to_string()),
                    b'o' => ("", format!("{number:o}")),
                    b'x' => ("0x", format!("{number:x}")),
                    _ => ("0X", format!("{number:X}")),
                };
                let mut digits = digits.into_bytes();
                if self.letter == b'o' && self.alternate && self.precision.unwrap_or(0) <= digits.len() && number != 0 {
                    digits.insert(0, b'0');
                }
                let prefix = if self.alternate && number != 0 { prefix } else { "" };
                self.integer(out, prefix, digits);
            }
            (b'c', Value::Signed(..) | Value::Unsigned(..)) => self.pad(out, b"", &[self.unsigned(value) as u8], false),
            (b'c', Value::Char(code)) => {
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.pad(out, b"", character.encode_utf8(&mut [0; 4]).as_bytes(), false);
            }
            (b's', Value::Text(text)) => {
                // As glibc does: a null pointer is said only where there is room for all of it.
                let text = text.unwrap_or(if self.precision.is_none_or(|most| most >= 6) { b"(null)" } else { b"" });
                self.pad(out, b"", &text[..text.len().min(self.precision.unwrap_or(usize::MAX))], false);
            }
            (b'p', Value::Pointer(0)) => self.pad(out, b"", b"(nil)", false),
            (b'p', Value::Pointer(address)) => self.pad(out, b"", format!("{address:#x}").as_bytes(), false),
            (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', Value::Float(number)) => {
                let upper = self.letter.is_ascii_uppercase();
                let (prefix, mut body) = float::body(number.abs(), self.letter.to_ascii_lowercase(), self.precision, self.alternate);
                let mut sign = format!("{}{prefix}", self.sign(number.is_sign_negative()));
                if upper {
                    body.make_ascii_uppercase();
                    sign.make_ascii_uppercase();
                }
                self.pad(out, sign.as_bytes(), body.as_bytes(), self.zeros && number.is_finite());
            }
            (_, other) => {
                let (kind, wanted) = other.kind();
                return Err(FormatError::Kind { conversion: self.text.clone(), kind, wanted });
            }
        }
        Ok(())
    }

    /// What stands before a number.
    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// An integer as `%d` sees it: what is smaller than an `int` has become one.
    fn signed(&self, value: Value<'_>) -> i64 {
        let (bits, bytes) = match value {
            Value::Signed(number, bytes) => (number, bytes),
            Value::Unsigned(number, bytes) => (number as i64, bytes),
            _ => (0, 8),
        };
        match (self.cut, bytes) {
            (1, _) => i64::from(bits as i8),
            (2, _) => i64::from(bits as i16),
            (_, 4) => i64::from(bits as i32),
            _ => bits,
        }
    }

    /// The same as `%u` sees it.
    fn unsigned(&self, value: Value<'_>) -> u64 {
        let (bits, bytes) = match value {
            Value::Signed(number, bytes) => (number as u64, bytes),
            Value::Unsigned(number, bytes) => (number, bytes),
            _ => (0, 8),
        };
        match (self.cut, bytes) {
            (1, _) => u64::from(bits as u8),
            (2, _) => u64::from(bits as u16),
            (_, 8) => bits,
            _ => u64::from(bits as u32),
        }
    }

    /// Digits behind a sign or a prefix.
    fn integer(&self, out: &mut Vec<u8>, prefix: &str, mut digits: Vec<u8>) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == b"0" && !(self.letter == b'o' && self.alternate) {
                digits.clear();
            }
            let missing = precision.saturating_sub(digits.len());
            digits.splice(..0, std::iter::repeat_n(b'0', missing));
        }
        self.pad(out, prefix.as_bytes(), &digits, self.zeros && self.precision.is_none());
    }

    /// Appends a body of the width that is wanted.
    fn pad(&self, out: &mut Vec<u8>, prefix: &[u8], body: &[u8], zeros: bool) {
        let missing = self.width.saturating_sub(prefix.len() + body.len());
        let spaces = |out: &mut Vec<u8>, some: bool, with: u8| out.extend(std::iter::repeat_n(with, if some { missing } else { 0 }));
        spaces(out, !self.left && !zeros, b' ');
        out.extend_from_slice(prefix);
        spaces(out, !self.left && zeros, b'0');
        out.extend_from_slice(body);
        spaces(out, self.left, b' ');
    }
}

#[cfg(test)]
mod tests;

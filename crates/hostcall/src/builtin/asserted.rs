//! What a kernel in C++ says of a check that failed, in the words of Rust's `assert_eq!`.
//!
//! The kernel sends the condition as it is written and the values as they are: no text is made there. All of it is
//! somebody else's, and is shown as such; the report shows its message by the printer that escapes.

use std::fmt::{self, Write as _};

use hostcall_abi::Shown;
use hostcall_abi::services::{check, printf as wire};

use super::console::printf;

/// Characters of a message that belongs to a check.
const LONGEST: usize = 4096;

/// A check that failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asserted<'a> {
    /// Bits of [`check`].
    pub(super) bits: u32,
    /// What should have been true.
    pub(super) condition: &'a [u8],
    /// Where it stands.
    pub(super) function: &'a [u8],
    /// Units of the values: of both sides, if the bits say so, and of the message.
    pub(super) values: &'a [u32],
    /// The message's format.
    pub(super) format: &'a [u8],
    /// The message's texts.
    pub(super) texts: [&'a [u8]; check::TEXTS],
}

impl Asserted<'_> {
    fn has(&self, bit: u32) -> bool {
        self.bits & bit != 0
    }

    /// The units of the sides and those of the message.
    fn split(&self) -> (Option<[Side; 2]>, &[u32]) {
        match self.values {
            [a, b, c, d, e, f, rest @ ..] if self.has(check::SIDES) => (Some([Side([*a, *b, *c]), Side([*d, *e, *f])]), rest),
            all => (None, all),
        }
    }

    /// The message that belongs to it; of a format that does not go with its values the format, and why.
    fn message(&self, units: &[u32]) -> Option<String> {
        if self.format.is_empty() {
            return None;
        }
        let text = printf::values(units, &self.texts).and_then(|values| printf::printf(self.format, &values));
        let text = match text {
            Ok(text) => String::from_utf8_lossy(&text).trim_end().to_owned(),
            Err(error) => format!("{} ({error})", String::from_utf8_lossy(self.format)),
        };
        Some(match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{} […]", &text[..end]),
            None => text,
        })
    }
}

impl fmt::Display for Asserted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((sides, values), condition) = (self.split(), String::from_utf8_lossy(self.condition));
        write!(f, "assertion `{}` failed", Shown(&condition))?;
        if let Some(message) = self.message(values) {
            write!(f, ": {message}")?;
        }
        if self.has(check::GOES_ON) {
            f.write_str(" (the lanes went on)")?;
        }
        if let Some([left, right]) = sides {
            let first = if self.has(check::FIRST_OF) { " (of the first comparison)" } else { "" };
            write!(f, "\n  left: {left}{first}\n right: {right}")?;
        }
        let function = String::from_utf8_lossy(self.function);
        if function.is_empty() { Ok(()) } else { write!(f, "\n    in: {}", Shown(&function)) }
    }
}

/// One side of a comparison: its three units.
struct Side([u32; 3]);

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kind, low, high] = self.0;
        let bits = u64::from(high) << 32 | u64::from(low);
        match kind & wire::KIND {
            wire::SIGNED => write!(f, "{}", bits as i64),
            wire::UNSIGNED => write!(f, "{bits}"),
            // What was a `float` has no digits that are only its conversion's.
            wire::FLOAT if kind >> wire::SIZE_SHIFT == 4 => write!(f, "{:?}", f64::from_bits(bits) as f32),
            wire::FLOAT => write!(f, "{:?}", f64::from_bits(bits)),
            wire::POINTER => write!(f, "{bits:#x}"),
            wire::CHAR => match char::from_u32(low) {
                Some(c) => write!(f, "{c:?}"),
                None => write!(f, "{low}"),
            },
            check::BOOL => write!(f, "{}", bits != 0),
            _ => f.write_char('?'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(kind: u32, size: u32, bits: u64) -> [u32; 3] {
        [kind | size << wire::SIZE_SHIFT, bits as u32, (bits >> 32) as u32]
    }

    #[test]
    fn a_comparison_is_told_as_assert_eq_tells_it() {
        let values = [side(wire::SIGNED, 8, -7i64 as u64), side(wire::UNSIGNED, 4, 65_536)].concat();
        let all = Asserted { bits: check::SIDES, condition: b"i < n", function: b"void f(int)", values: &values, ..Asserted::default() };
        assert_eq!(all.to_string(), "assertion `i < n` failed\n  left: -7\n right: 65536\n    in: void f(int)");
        let first = Asserted { bits: check::SIDES | check::FIRST_OF | check::GOES_ON, function: b"", ..all };
        assert_eq!(first.to_string(), "assertion `i < n` failed (the lanes went on)\n  left: -7 (of the first comparison)\n right: 65536");
        let condition = Asserted { bits: 0, values: &[], function: b"", ..all };
        assert_eq!(condition.to_string(), "assertion `i < n` failed");
    }

    #[test]
    fn values_are_shown_by_their_types() {
        let shown = |kind, size, bits| Side(side(kind, size, bits)).to_string();
        assert_eq!(shown(wire::FLOAT, 4, f64::from(0.1f32).to_bits()), "0.1");
        assert_eq!(shown(wire::FLOAT, 8, 2f64.to_bits()), "2.0");
        assert_eq!(shown(wire::FLOAT, 8, f64::NAN.to_bits()), "NaN");
        assert_eq!(shown(wire::POINTER, 0, 0x7f00_0000_0010), "0x7f0000000010");
        assert_eq!(shown(check::BOOL, 0, 1), "true");
        assert_eq!(shown(wire::CHAR, 0, 0x1b), "'\\u{1b}'");
        assert_eq!(shown(wire::CHAR, 0, 0xd800), "55296");
        assert_eq!(shown(check::OTHER, 0, 5), "?");
        assert_eq!(shown(200, 3, 5), "?");
    }

    #[test]
    fn a_message_is_formatted_bounded_and_if_it_is_none_shown_with_the_reason() {
        let values = side(wire::SIGNED, 4, 9);
        let all = Asserted { condition: b"ok", values: &values, format: b"row %d of %s\n", texts: [b"t", b""], ..Asserted::default() };
        let told = all.to_string();
        assert!(told.starts_with("assertion `ok` failed: row %d of %s\n (printf: there is no value for `%s`"), "{told}");
        let both = [values, side(wire::TEXT, 0, 0)].concat();
        assert_eq!(Asserted { values: &both, ..all }.to_string(), "assertion `ok` failed: row 9 of t");
        let wide = Asserted { format: b"%4000d%4000d", values: &[values, values].concat(), ..all }.to_string();
        assert!(wide.ends_with(" […]") && wide.chars().count() < LONGEST + 100, "{}", wide.len());
    }

    #[test]
    fn what_steers_a_terminal_or_lacks_values_is_shown_as_it_is() {
        let hostile = Asserted { bits: u32::MAX, condition: b"a\x1b[2J\nb\xff", values: &[1, 2], ..Asserted::default() };
        assert_eq!(hostile.to_string(), "assertion `a\\u{1b}[2J\\nb\u{fffd}` failed (the lanes went on)");
    }
}

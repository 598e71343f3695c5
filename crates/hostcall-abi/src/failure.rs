//! Failures that a device reports by numbers, of which the host makes the text.
//!
//! Code that writes text on a device is large: tens of kilobytes, and its registers, in every kernel that contains it.
//! So a kernel that returns a [`CallError`] writes no text, and neither does an index out of bounds. They post
//! `Process::failed`. Its arguments are the lane's place, a [`Cause`] with its numbers, and the place in the source.
//! For an error that a kernel returns, that place is made at compile time, as a [`FailureSite`].

use crate::{CallError, Status, file_error};
use core::fmt;
use core::panic::Location;

/// Bytes of [`FailureSite::what`], or of a panic's text, that travel.
pub const WHAT_BYTES: usize = 128;
/// Bytes of a file's name that travel: its last.
pub const FILE_BYTES: usize = 96;
/// 32-bit units of a place: line, text, file.
pub const SITE_UNITS: usize = 1 + WHAT_BYTES / 4 + FILE_BYTES / 4;

/// Why a lane ended. A number, not an enum: one that this version does not know survives and is shown as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause(pub u32);

impl Cause {
    /// A call's error: status, detail.
    pub const CALL: Self = Self(0);
    /// An index out of bounds: index, length.
    pub const INDEX: Self = Self(1);
    /// A range out of bounds: start, end, length.
    pub const RANGE: Self = Self(2);
    /// `copy_from_slice`: the destination's length, the source's.
    pub const LENGTHS: Self = Self(3);
    /// A division by zero.
    pub const DIVISION: Self = Self(4);
    /// A remainder of a division by zero.
    pub const REMAINDER: Self = Self(5);
    /// `Option::unwrap` of `None`.
    pub const NONE: Self = Self(6);
    /// A panic with a constant text, which is in the place of what failed: bytes of the whole text.
    pub const TEXT: Self = Self(7);
    /// A file operation's error: as [`file_error::Error::to_wire`] gives it.
    pub const FILE: Self = Self(8);
    /// The heap is exhausted: bytes wanted, in use, of all.
    pub const MEMORY: Self = Self(9);
    /// A collection that would be larger than memory can be.
    pub const CAPACITY: Self = Self(10);
}

/// A failure as it came. Shown in the words of Rust's own panics.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// Why.
    pub cause: Cause,
    /// What belongs to it.
    pub numbers: [u64; 3],
    /// [`FailureSite::what`].
    pub what: &'a str,
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.numbers;
        match self.cause {
            Cause::CALL => {
                // A number above 16 bits is none that a device of ours sends.
                let error = CallError::from_status(Status(u16::try_from(a).unwrap_or(u16::MAX)), b as u32);
                write!(f, "{}: {error}", self.what)
            }
            Cause::INDEX => write!(f, "index out of bounds: the len is {b} but the index is {a}"),
            Cause::RANGE if a > c => write!(f, "range start index {a} out of range for slice of length {c}"),
            Cause::RANGE if a > b => write!(f, "slice index starts at {a} but ends at {b}"),
            Cause::RANGE => write!(f, "range end index {b} out of range for slice of length {c}"),
            Cause::LENGTHS => write!(f, "copy_from_slice: source slice length ({b}) does not match destination slice length ({a})"),
            Cause::DIVISION => f.write_str("attempt to divide by zero"),
            Cause::REMAINDER => f.write_str("attempt to calculate the remainder with a divisor of zero"),
            Cause::NONE => f.write_str("called `Option::unwrap()` on a `None` value"),
            Cause::TEXT if a > WHAT_BYTES as u64 => write!(f, "{} […]", self.what),
            Cause::TEXT => f.write_str(self.what),
            Cause::FILE => write!(f, "{}: {:?}", self.what, file_error::Error::from_wire(a)),
            Cause::MEMORY => write!(
                f,
                "memory allocation of {a} bytes failed: {b} of the {c} bytes of the device heap are in use; raise it with `.heap(bytes)` or `--heap`"
            ),
            Cause::CAPACITY => f.write_str("capacity overflow"),
            Cause(number) => write!(f, "cause {number} of {:?}, unknown to this version of hostcall", self.numbers),
        }
    }
}

/// What failed, and where.
#[derive(Debug)]
pub struct FailureSite {
    /// What failed: "kernel `demo` failed".
    pub what: &'static str,
    /// The last arguments of `Process::failed`, as they travel.
    pub units: [u32; SITE_UNITS],
}

impl FailureSite {
    /// Made at compile time. Of a text that is too long the start travels, of a file's name the end.
    pub const fn new(what: &'static str, place: &Location<'_>) -> Self {
        Self { what, units: place_units(what, place) }
    }
}

/// The units of a place, and of what failed there.
pub const fn place_units(what: &str, place: &Location<'_>) -> [u32; SITE_UNITS] {
    let mut units = [0; SITE_UNITS];
    units[0] = place.line();
    pack(what.as_bytes(), 0, WHAT_BYTES, 1, &mut units);
    let file = place.file().as_bytes();
    pack(file, file.len().saturating_sub(FILE_BYTES), FILE_BYTES, 1 + WHAT_BYTES / 4, &mut units);
    units
}

/// Puts up to `most` bytes of `text` from `from` on into the units from `at` on, little-endian as on all machines that
/// this crate serves.
const fn pack(text: &[u8], from: usize, most: usize, at: usize, units: &mut [u32; SITE_UNITS]) {
    let (Some((_, mut text)), Some((_, mut units))) = (text.split_at_checked(from), units.as_mut_slice().split_at_mut_checked(at)) else {
        return;
    };
    let mut done = 0;
    // Without an index that could panic: it runs in kernels that have just failed by one.
    while done < most
        && let [unit, others @ ..] = units
    {
        let mut shift = 0;
        while shift < u32::BITS
            && let [byte, rest @ ..] = text
        {
            *unit |= (*byte as u32) << shift;
            text = rest;
            shift += 8;
        }
        units = others;
        done += 4;
    }
}

/// The text in a field of fixed size, which ends at the first zero; a character that was cut at an end is left out.
pub fn text(mut field: &[u8]) -> &str {
    if let Some(end) = field.iter().position(|byte| *byte == 0) {
        field = &field[..end];
    }
    // Of a character that was cut at the start there are only bytes like 0b10……….
    while let [0x80..=0xbf, rest @ ..] = field {
        field = rest;
    }
    match core::str::from_utf8(field) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&field[..error.valid_up_to()]).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(units: &[u32]) -> Vec<u8> {
        units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
    }

    #[test]
    fn a_site_carries_what_failed_and_where() {
        let place = Location::caller();
        let site = FailureSite::new("kernel `demo` failed", place);
        assert_eq!(site.units[0], place.line());
        assert_eq!(text(&bytes(&site.units[1..1 + WHAT_BYTES / 4])), site.what);
        assert_eq!(text(&bytes(&site.units[1 + WHAT_BYTES / 4..])), place.file());
    }

    /// Panics when it is given 0.
    type Panics = fn(usize);

    fn keep(bytes: &[u8]) {
        std::hint::black_box(bytes);
    }

    #[test]
    fn failures_read_like_the_panics_they_stand_for() {
        let text = |cause, numbers| Failure { cause, numbers, what: "kernel `demo` failed" }.to_string();
        assert_eq!(text(Cause::CALL, [4, 0, 0]), format!("kernel `demo` failed: {}", CallError::HandlerPanicked));
        assert!(text(Cause::CALL, [1 << 40, 0, 0]).contains("65535"));
        assert_eq!(
            (text(Cause::TEXT, [9, 0, 0]), text(Cause::TEXT, [999, 0, 0])),
            ("kernel `demo` failed".into(), "kernel `demo` failed […]".into())
        );
        assert!(text(Cause(77), [1, 2, 3]).contains("77"));
        #[expect(clippy::unnecessary_literal_unwrap, reason = "its panic is what is compared")]
        let cases: [(Cause, [u64; 3], Panics); 7] = [
            (Cause::INDEX, [5, 3, 0], |n| keep(&[[0u8; 3][n + 5]])),
            (Cause::RANGE, [4, 9, 3], |n| keep(&[0u8; 3][n + 4..n + 9])),
            (Cause::RANGE, [2, 1, 3], |n| keep(&[0u8; 3][n + 2..n + 1])),
            (Cause::RANGE, [1, 9, 3], |n| keep(&[0u8; 3][n + 1..n + 9])),
            (Cause::LENGTHS, [3, 2, 0], |n| [0u8; 3].copy_from_slice(&[0u8; 2][n..])),
            (Cause::DIVISION, [0; 3], |n| keep(&[(7 / n) as u8])),
            (Cause::NONE, [0; 3], |_| keep(None::<&[u8]>.unwrap())),
        ];
        for (cause, numbers, panics) in cases {
            let panic = std::panic::catch_unwind(|| panics(std::hint::black_box(0))).expect_err("it panics");
            let message = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            assert_eq!(message.as_deref(), Some(&*text(cause, numbers)));
        }
    }

    #[test]
    fn texts_are_cut_between_characters_and_garbage_is_no_text() {
        let long = "ä".repeat(80);
        let mut units = [0; SITE_UNITS];
        pack(long.as_bytes(), 1, WHAT_BYTES, 1, &mut units);
        assert_eq!(text(&bytes(&units[1..1 + WHAT_BYTES / 4])), "ä".repeat(63));
        assert_eq!(text(&[0xff, b'x']), "");
        assert_eq!(text(&[]), "");
    }
}

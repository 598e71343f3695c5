//! A call's failure that ends its lane, as it is told to the host: by numbers and a constant, which the host makes a text of.
//!
//! What writes text on a device is large: tens of kilobytes of code, and its registers, in every kernel that contains it. So a kernel that returns a
//! [`CallError`](crate::CallError) does not write one. It posts `Process::failed`, whose arguments are the lane's place, the error as
//! it travels, and a [`FailureSite`] that is made when the kernel is compiled.

use core::panic::Location;

/// Bytes of [`FailureSite::what`] that travel.
pub const WHAT_BYTES: usize = 64;
/// Bytes of a file's name that travel: its last.
pub const FILE_BYTES: usize = 96;
/// 32-bit units of a [`FailureSite`]: line, text, file.
pub const SITE_UNITS: usize = 1 + WHAT_BYTES / 4 + FILE_BYTES / 4;

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
        let mut units = [0; SITE_UNITS];
        units[0] = place.line();
        pack(what.as_bytes(), 0, WHAT_BYTES, 1, &mut units);
        let file = place.file().as_bytes();
        pack(file, file.len().saturating_sub(FILE_BYTES), FILE_BYTES, 1 + WHAT_BYTES / 4, &mut units);
        Self { what, units }
    }
}

/// Puts up to `most` bytes of `text` from `from` on into the units from `at` on, little-endian as on all machines that this crate serves.
const fn pack(text: &[u8], from: usize, most: usize, at: usize, units: &mut [u32; SITE_UNITS]) {
    let mut i = 0;
    while i < most && from + i < text.len() {
        units[at + i / 4] |= (text[from + i] as u32) << (8 * (i % 4));
        i += 1;
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

    #[test]
    fn texts_are_cut_between_characters_and_garbage_is_no_text() {
        let long = "ä".repeat(40);
        let mut units = [0; SITE_UNITS];
        pack(long.as_bytes(), 1, WHAT_BYTES, 1, &mut units);
        assert_eq!(text(&bytes(&units[1..1 + WHAT_BYTES / 4])), "ä".repeat(31));
        assert_eq!(text(&[0xff, b'x']), "");
        assert_eq!(text(&[]), "");
    }
}

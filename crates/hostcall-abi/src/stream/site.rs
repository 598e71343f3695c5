//! Places in the source that messages name, and what a program says of them.
//!
//! Each place has a word in the program, into which the host writes a number when it attaches the program. Messages
//! carry the number, and the text stays where it is: the host has read it from behind the word.

use core::cell::UnsafeCell;

/// Prefix of the names of places' words. Behind it is whatever makes the name the only one.
pub const SITE_PREFIX: &str = "__HOSTCALL_SITE__";
/// The largest number of a place. 0: the host has given none.
pub const MAX_SITE: u32 = 0xffff;
/// In the word: nobody wants messages from here.
pub const SITE_OFF: u32 = 1 << 31;

/// What a program says of a place in its source, under [`SITE_PREFIX`] and a name.
#[derive(Debug)]
#[repr(C)]
pub struct Site<const TEXT: usize> {
    head: SiteHead,
    /// File, module, text and kernel, one behind another, filled up with zeros.
    text: [u8; TEXT],
}

/// A [`Site`] without its texts.
#[derive(Debug)]
#[repr(C)]
pub struct SiteHead {
    /// Its number, or [`SITE_OFF`]. The host writes it.
    number: UnsafeCell<u32>,
    /// Line, from 1 on.
    line: u32,
    /// Column, from 1 on.
    column: u32,
    /// The level of a [`Log`](super::Log), 1 (error) to 5 (trace); 0: it is none.
    level: u32,
    /// Lengths of file, module, text and kernel.
    lengths: [u16; 4],
}

// SAFETY: lanes only read the number, by whatever way their machine has for words that the host writes; everything else
// is constant.
unsafe impl Sync for SiteHead {}

/// Bytes of a [`SiteHead`].
pub const SITE_HEAD: usize = 24;
const _: () = assert!(size_of::<SiteHead>() == SITE_HEAD);

/// The most bytes of each of its texts.
pub const MAX_TEXT: usize = 4096;

/// Bytes of all texts of a [`Site`].
///
/// # Panics
/// At compile time, when one is longer than [`MAX_TEXT`].
pub const fn site_text(file: &str, module: &str, text: &str) -> usize {
    assert!(file.len() <= MAX_TEXT && module.len() <= MAX_TEXT && text.len() <= MAX_TEXT, "the text is longer than 4096 bytes");
    (file.len() + module.len() + text.len()).next_multiple_of(4)
}

impl<const TEXT: usize> Site<TEXT> {
    /// A place.
    ///
    /// # Panics
    /// At compile time, when `TEXT` is not what [`site_text`] says.
    pub const fn new(file: &str, line: u32, column: u32, module: &str, level: u32, text: &str) -> Self {
        assert!(site_text(file, module, text) == TEXT);
        let mut all = [0; TEXT];
        let at = super::message::put(&mut all, 0, file);
        let at = super::message::put(&mut all, at, module);
        super::message::put(&mut all, at, text);
        let lengths = [file.len() as u16, module.len() as u16, text.len() as u16, 0];
        Self { head: SiteHead { number: UnsafeCell::new(0), line, column, level, lengths }, text: all }
    }

    /// It without its texts.
    #[inline(always)]
    pub const fn head(&self) -> &SiteHead {
        &self.head
    }
}

impl SiteHead {
    /// Where its number is.
    #[inline(always)]
    pub const fn number(&self) -> *const u32 {
        self.number.get()
    }
}

/// What a host finds behind a place's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteText<'a> {
    /// The file, as its compiler was given it.
    pub file: &'a str,
    /// Line, from 1 on.
    pub line: u32,
    /// Column, from 1 on.
    pub column: u32,
    /// The module's path.
    pub module: &'a str,
    /// The level of a [`Log`](super::Log), 1 (error) to 5 (trace); 0: it is none.
    pub level: u32,
    /// The label of an interval, the format of a log line, or nothing.
    pub text: &'a str,
    /// The symbol of the only kernel that comes here, where that is known: in PTX that was instrumented. Else nothing.
    pub kernel: &'a str,
}

impl<'a> SiteText<'a> {
    /// The place in the bytes of a program's [`Site`]; `None`: they are none.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (head, mut rest) = bytes.split_at_checked(SITE_HEAD)?;
        let word = |i: usize| head[4 * i..].first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        let length = |i: usize| head[16 + 2 * i..].first_chunk().map(|bytes| usize::from(u16::from_ne_bytes(*bytes)));
        let mut text = |i| {
            let (text, behind) = rest.split_at_checked(length(i)?)?;
            rest = behind;
            core::str::from_utf8(text).ok()
        };
        let (line, column, level) = (word(1)?, word(2)?, word(3)?);
        (level <= 5).then_some(())?;
        Some(Self { line, column, level, file: text(0)?, module: text(1)?, text: text(2)?, kernel: text(3)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "src/lib.rs";
    const TEXT: &str = "step {0} – ok";

    fn bytes<const N: usize>(site: &Site<N>) -> &[u8] {
        // SAFETY: `repr(C)`, its parts are multiples of 4 bytes, so there is no padding.
        unsafe { core::slice::from_raw_parts(core::ptr::from_ref(site).cast(), size_of::<Site<N>>()) }
    }

    #[test]
    fn a_place_comes_back_from_its_bytes_and_not_from_fewer() {
        let site = Site::<{ site_text(FILE, "a::b", TEXT) }>::new(FILE, 7, 9, "a::b", 3, TEXT);
        let bytes = bytes(&site);
        let expected = SiteText { file: FILE, line: 7, column: 9, module: "a::b", level: 3, text: TEXT, kernel: "" };
        assert_eq!(SiteText::parse(bytes), Some(expected));
        let used = SITE_HEAD + FILE.len() + 4 + TEXT.len();
        for length in 0..bytes.len() {
            assert_eq!(SiteText::parse(&bytes[..length]).is_some(), length >= used, "{length} bytes of {used}");
        }
    }

    #[test]
    fn bytes_that_are_no_place_are_none() {
        assert_eq!(SiteText::parse(&[0xff; 64]), None);
        let mut level = [0; SITE_HEAD];
        assert!(SiteText::parse(&level).is_some());
        level[12] = 6;
        assert_eq!(SiteText::parse(&level), None);
    }
}

//! The demo of `cargo hostcall demo`: kernels that count the words of a file, and what they share with their host,
//! which is in the command line. This package is compiled twice: for the device, with the kernels, and for this
//! machine, with their images.
//!
//! The text lies in device memory as a whole and is cut into *slices* of equal length, which different lanes look at. A
//! word belongs to the slice that it begins in, wherever it ends. So that nobody has to walk along a word of a
//! gigabyte, each slice's [`Head`] says how many letters it begins with and what they hash to: a word that leaves its
//! slice is put together from the heads of the next ones.
#![no_std]

#[cfg(hostcall_device)]
pub mod kernels;

/// The kernels, for all devices that they were built for.
#[cfg(not(hostcall_device))]
pub fn program() -> hostcall::ProgramBundle {
    hostcall::include_program!("hostcall-demo")
}

/// How far the kernels are.
#[hostcall::service]
pub trait Progress {
    /// A wave has read so many bytes of the file.
    fn read(bytes: u64);
    /// A wave has counted so many words.
    fn counted(words: u64);
    /// The counts are in the file: so many bytes.
    fn written(bytes: u64) -> ();
}

/// The text, where it is no file of the host beside the device: whoever answers has it.
#[hostcall::service]
pub trait Texts {
    /// Where the part `part` of `parts` begins, such that no word is in two of them: 0 for the first, the text's length
    /// for the one behind the last.
    fn begin(part: u32, parts: u32) -> u64;
    /// Reads from byte `at` on. Returns the bytes read: fewer than there is room for only where the text ends.
    fn read_at(at: u64, into: &mut [u8]) -> u32;
}

/// A slice's first letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hostcall::Plain)]
#[repr(C)]
pub struct Head {
    /// How many: the slice's length if it has nothing else.
    pub len: u64,
    /// Their hash.
    pub hash: u64,
}

/// A word and how often it was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hostcall::Plain)]
#[repr(C)]
pub struct Entry {
    /// How often.
    pub count: u64,
    /// Its first eight letters in lower case, the first one highest, 0 where it has ended.
    pub key: u64,
    /// Where it begins, once, in the text.
    pub at: u64,
    /// Its letters.
    pub len: u64,
}

/// What counting found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hostcall::Plain)]
#[repr(C)]
pub struct Totals {
    /// Words.
    pub words: u64,
    /// Different ones.
    pub distinct: u64,
    /// Not 0 if the table was too small.
    pub full: u64,
}

/// Entries that are sorted, or measured, by one lane.
pub const BLOCK: usize = 32;

/// A word in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it begins.
    pub at: usize,
    /// Its letters.
    pub len: usize,
    /// Hash of its letters in lower case.
    pub hash: u64,
}

/// A text and its slices.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// Bytes of a slice (the last one may be shorter), at least 1.
    pub slice: usize,
}

/// Whether it is part of a word.
#[inline(always)]
pub const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// A polynomial over the letters, so that the hash of two parts is that of the whole: see [`join`]. Words whose hashes
/// are equal are compared, so that a clash costs time only.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn extend(hash: u64, letter: u8) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(u64::from(letter | 0x20))
}

/// The hash of a word whose first part has the hash `hash`, and whose rest is `rest`.
#[inline(always)]
fn join(hash: u64, rest: Head) -> u64 {
    let (mut power, mut square, mut exponent) = (1u64, BASE, rest.len);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    hash.wrapping_mul(power).wrapping_add(rest.hash)
}

impl Text<'_> {
    /// How many slices there are.
    #[inline(always)]
    pub fn slices(&self) -> usize {
        self.bytes.len().div_ceil(self.slice)
    }

    #[inline(always)]
    fn end(&self, slice: usize) -> usize {
        self.slice.saturating_mul(slice + 1).min(self.bytes.len())
    }

    /// The head of a slice.
    #[inline(always)]
    pub fn head(&self, slice: usize) -> Head {
        self.letters(slice * self.slice, self.end(slice))
    }

    /// The letters from `at` on, before `end`.
    #[inline(always)]
    fn letters(&self, at: usize, end: usize) -> Head {
        let mut head = Head::default();
        for &byte in &self.bytes[at..end] {
            if !is_letter(byte) {
                break;
            }
            head.len += 1;
            head.hash = extend(head.hash, byte);
        }
        head
    }

    /// The word that begins at `at`, which is in `slice`.
    #[inline(always)]
    pub fn word(&self, heads: &[Head], slice: usize, at: usize) -> Word {
        let Head { mut len, mut hash } = self.letters(at, self.end(slice));
        if at + len as usize == self.end(slice) {
            for &head in &heads[slice + 1..] {
                hash = join(hash, head);
                len += head.len;
                if head.len < self.slice as u64 {
                    break;
                }
            }
        }
        Word { at, len: len as usize, hash }
    }

    /// Hands the words that begin in `slice` to `each`, until that returns `false`.
    #[inline(always)]
    pub fn words(&self, heads: &[Head], slice: usize, mut each: impl FnMut(Word) -> bool) {
        let (mut at, end) = (slice * self.slice, self.end(slice));
        if at > 0 && is_letter(self.bytes[at - 1]) {
            at += heads[slice].len as usize;
        }
        while at < end {
            if !is_letter(self.bytes[at]) {
                at += 1;
                continue;
            }
            let word = self.word(heads, slice, at);
            if !each(word) {
                return;
            }
            // What follows a word is no letter.
            at += word.len + 1;
        }
    }

    /// Whether the word that begins at `at` has the letters of `word`.
    #[inline(always)]
    pub fn is_same(&self, at: usize, word: Word) -> bool {
        const LOWER: u64 = 0x2020_2020_2020_2020;
        // `b | 0x20` is a letter in lower case only if `b` is that letter: a byte that is no letter equals none.
        let (Some(mine), Some(other)) = (self.bytes.get(word.at..word.at + word.len), self.bytes.get(at..at + word.len)) else {
            return false;
        };
        let (mine, mine_rest) = mine.as_chunks::<8>();
        let (other, other_rest) = other.as_chunks::<8>();
        let mut chunks = mine.iter().zip(other);
        chunks.all(|(a, b)| u64::from_le_bytes(*a) | LOWER == u64::from_le_bytes(*b) | LOWER)
            && mine_rest.iter().zip(other_rest).all(|(a, b)| a | 0x20 == b | 0x20)
            && !self.bytes.get(at + word.len).is_some_and(|&byte| is_letter(byte))
    }

    /// The entry of a word.
    #[inline(always)]
    pub fn entry(&self, word: Word, count: u64) -> Entry {
        let mut key = 0;
        for i in 0..word.len.min(8) {
            key |= u64::from(self.bytes[word.at + i] | 0x20) << (56 - 8 * i);
        }
        Entry { count, key, at: word.at as u64, len: word.len as u64 }
    }

    /// Whether `a` comes before `b`: by falling count, then by word. No two entries are the same word.
    #[inline(always)]
    pub fn before(&self, a: &Entry, b: &Entry) -> bool {
        if a.count != b.count {
            return a.count > b.count;
        }
        if a.key != b.key {
            return a.key < b.key;
        }
        for i in 8..a.len.min(b.len) {
            let [a, b] = [a, b].map(|entry| self.bytes[(entry.at + i) as usize] | 0x20);
            if a != b {
                return a < b;
            }
        }
        a.len < b.len
    }
}

/// The longest number.
const DIGITS: usize = 20;

/// A number in decimal.
#[inline(always)]
fn decimal(mut number: u64, buffer: &mut [u8; DIGITS]) -> usize {
    let mut at = DIGITS;
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return at;
        }
    }
}

impl Entry {
    /// Bytes of its line.
    #[inline(always)]
    pub fn line_len(&self) -> u64 {
        (DIGITS - decimal(self.count, &mut [0; DIGITS])) as u64 + 1 + self.len + 1
    }

    /// Writes its line, `COUNT WORD` and a newline, from byte `skip` on, as far as `out` reaches. Returns the bytes
    /// written.
    #[inline(always)]
    pub fn write_line(&self, text: &[u8], skip: u64, out: &mut [u8]) -> usize {
        let mut digits = [0; DIGITS];
        let start = decimal(self.count, &mut digits);
        let digits = &digits[start..];
        let word = &text[self.at as usize..][..self.len as usize];
        let len = (self.line_len() - skip).min(out.len() as u64) as usize;
        for (i, out) in out[..len].iter_mut().enumerate() {
            let i = i + skip as usize;
            *out = match i.checked_sub(digits.len()) {
                None => digits[i],
                Some(0) => b' ',
                Some(i) => word.get(i - 1).map_or(b'\n', |letter| letter | 0x20),
            };
        }
        len
    }
}

//! The text of a message: a format, and what it names, as the device's compiler has packed them.
//!
//! The format ends with a zero, and so does each string; both are filled up to whole words. Any other argument is a
//! word. Each conversion is taken apart here and put together anew, so that no text of a kernel's is a format of the C
//! library's, and widths and the whole have bounds.

use std::ffi::{CString, c_int};

/// Bytes of a text.
const MOST: usize = 1 << 20;
/// The largest width and precision.
const WIDEST: i64 = 4096;

/// A conversion of a format: what stands between `%` and its letter.
#[derive(Debug, Default, PartialEq, Eq)]
struct Conversion {
    flags: Vec<u8>,
    width: i64,
    /// Negative: none.
    precision: i64,
    /// Bits of an integer.
    bits: u32,
    letter: u8,
}

/// Arguments of a format, in words.
struct Arguments<'a>(&'a [u8]);

impl<'a> Arguments<'a> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let (words, rest) = self.0.split_at((length + 1).next_multiple_of(8).min(self.0.len()));
        self.0 = rest;
        Some(&words[..length])
    }
}

/// Takes a number off the front of a format: digits, or an argument's.
fn number(format: &mut &[u8], arguments: &mut Arguments<'_>) -> Option<i64> {
    if let Some(rest) = format.strip_prefix(b"*") {
        *format = rest;
        return Some(i64::from(arguments.word()? as i32).clamp(-WIDEST, WIDEST));
    }
    let digits = format.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = format.split_at(digits);
    *format = rest;
    Some(digits.iter().fold(0, |sum: i64, digit| (10 * sum + i64::from(digit - b'0')).min(WIDEST)))
}

/// Takes a conversion off the front of a format, behind its `%`; `None` if it has no end, or lacks an argument.
fn conversion(format: &mut &[u8], arguments: &mut Arguments<'_>) -> Option<Conversion> {
    let flags = format.iter().take_while(|byte| b"-+ #0".contains(byte)).count();
    let (flags, rest) = format.split_at(flags);
    *format = rest;
    let width = number(format, arguments)?;
    let mut precision = -1;
    if let Some(rest) = format.strip_prefix(b".") {
        *format = rest;
        precision = number(format, arguments)?;
    }
    let length = format.iter().take_while(|byte| b"hlqLjzt".contains(byte)).count();
    let (length, rest) = format.split_at(length);
    let bits = match length {
        b"hh" => 8,
        b"h" => 16,
        b"" => 32,
        _ => 64,
    };
    let (letter, rest) = rest.split_first()?;
    *format = rest;
    Some(Conversion { flags: flags.to_vec(), width, precision, bits, letter: *letter })
}

impl Conversion {
    /// Appends bytes, filled up to the width.
    fn pad(&self, text: &[u8], out: &mut Vec<u8>) {
        let fill = vec![b' '; (self.width.unsigned_abs() as usize).saturating_sub(text.len())];
        let left = self.width < 0 || self.flags.contains(&b'-');
        let parts = if left { [text, &fill[..]] } else { [&fill[..], text] };
        parts.iter().for_each(|part| out.extend_from_slice(part));
    }

    /// A format of the C library for this conversion, with width and precision as arguments.
    fn for_c(&self, length: &str) -> Option<CString> {
        let flags = std::str::from_utf8(&self.flags).ok()?;
        CString::new(format!("%{flags}*.*{length}{}", char::from(self.letter))).ok()
    }

    fn integer(&self, word: u64, out: &mut Vec<u8>) {
        let above = 64 - self.bits;
        let signed = matches!(self.letter, b'd' | b'i');
        let value = if signed { ((word << above) as i64 >> above) as u64 } else { word << above >> above };
        // SAFETY: the format asks for two numbers and one of 64 bits.
        self.by_c("ll", out, |format, to, room, width, precision| unsafe {
            libc::snprintf(to, room, format, width, precision, value as libc::c_longlong)
        });
    }

    fn real(&self, word: u64, out: &mut Vec<u8>) {
        // SAFETY: the format asks for two numbers and a real one.
        self.by_c("", out, |format, to, room, width, precision| unsafe {
            libc::snprintf(to, room, format, width, precision, f64::from_bits(word))
        });
    }

    /// Appends what the C library makes of a value. The widest has its width, or its precision and as many digits as
    /// the largest number.
    fn by_c(
        &self,
        length: &str,
        out: &mut Vec<u8>,
        print: impl FnOnce(*const libc::c_char, *mut libc::c_char, usize, c_int, c_int) -> c_int,
    ) {
        let mut room = [0u8; 2 * WIDEST as usize];
        let Some(format) = self.for_c(length) else { return };
        let written = print(format.as_ptr(), room.as_mut_ptr().cast(), room.len(), self.width as c_int, self.precision as c_int);
        out.extend_from_slice(&room[..(written.max(0) as usize).min(room.len() - 1)]);
    }

    /// Appends the next argument; `None` if there is none, or if nothing is known of the letter.
    fn append(&self, arguments: &mut Arguments<'_>, out: &mut Vec<u8>) -> Option<()> {
        match self.letter {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => self.integer(arguments.word()?, out),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => self.real(arguments.word()?, out),
            b'c' => self.pad(&[arguments.word()? as u8], out),
            b'p' => match arguments.word()? {
                0 => self.pad(b"(nil)", out),
                address => self.pad(format!("{address:#x}").as_bytes(), out),
            },
            b's' => {
                let text = arguments.string()?;
                let length = usize::try_from(self.precision).map_or(text.len(), |most| most.min(text.len()));
                self.pad(&text[..length], out);
            }
            // There is no place to write to.
            b'n' => _ = arguments.word()?,
            _ => return None,
        }
        Some(())
    }
}

/// The text of a message. It ends where an argument is missing.
pub(super) fn format(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut arguments = Arguments(message);
    let Some(format) = arguments.string() else { return out };
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix(b"%") {
            out.push(b'%');
            rest = behind;
            continue;
        }
        let appended = conversion(&mut rest, &mut arguments).and_then(|conversion| conversion.append(&mut arguments, &mut out));
        if appended.is_none() || out.len() > MOST {
            out.truncate(MOST);
            return out;
        }
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Argument {
        Word(u64),
        Text(&'static str),
    }
    use Argument::{Text, Word};

    fn packed(format: &str, arguments: &[Argument]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend_from_slice(text.as_bytes());
            bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
        };
        text(&mut bytes, format);
        for argument in arguments {
            match argument {
                Word(word) => bytes.extend_from_slice(&word.to_le_bytes()),
                Text(string) => text(&mut bytes, string),
            }
        }
        bytes
    }

    fn print(format: &str, arguments: &[Argument]) -> String {
        String::from_utf8(super::format(&packed(format, arguments))).unwrap()
    }

    #[test]
    fn conversions_are_those_of_c() {
        assert_eq!(print("nothing", &[]), "nothing");
        assert_eq!(print("%d %i %u %x %X %o", &[-1i32, 7, -1, 255, 255, 8].map(|n| Word(n as u32 as u64))), "-1 7 4294967295 ff FF 10");
        assert_eq!(
            print("%hhd %hd %ld %llu %zu", &[Word(0xff), Word(0xffff), Word(u64::MAX), Word(u64::MAX), Word(3)]),
            format!("-1 -1 -1 {} 3", u64::MAX)
        );
        assert_eq!(print("[%5d|%-5d|%05d|%+d|% d|%#x]", &[7, 7, 7, 7, 7, 255].map(Word)), "[    7|7    |00007|+7| 7|0xff]");
        assert_eq!(print("[%*d|%-*d|%.*d]", &[4, 7, 4, 7, 3, 7].map(Word)), "[   7|7   |007]");
        let reals = [1.5f64, 0.25, 1e100, 255.0].map(|value| Word(value.to_bits()));
        assert_eq!(print("%f %.1e %g %a", &reals), "1.500000 2.5e-01 1e+100 0x1.fep+7");
        assert_eq!(
            print("[%s|%8s|%-8s|%.2s|%c|%%]", &[Text("a longer text"), Text("abc"), Text("abc"), Text("abcdefghij"), Word(65)]),
            "[a longer text|     abc|abc     |ab|A|%]"
        );
        assert_eq!(print("%p %p", &[Word(0), Word(0xdead_beef)]), "(nil) 0xdeadbeef");
        assert_eq!(print("%s%n%d", &[Text(""), Word(9), Word(5)]), "5");
    }

    #[test]
    fn a_string_takes_its_words_however_much_of_it_is_printed() {
        for length in 0..20 {
            let text: &'static str = &"abcdefghijklmnopqrst"[..length];
            assert_eq!(print("%.1s %d", &[Text(text), Word(5)]), format!("{} 5", &text[..length.min(1)]));
        }
    }

    #[test]
    fn a_text_ends_where_an_argument_is_missing_or_nothing_is_known_of_a_letter() {
        assert_eq!(print("a %d b", &[]), "a ");
        assert_eq!(print("a %*d b", &[Word(1)]), "a ");
        assert_eq!(print("a %y b", &[Word(1)]), "a ");
        assert_eq!(print("a %", &[Word(1)]), "a ");
        assert_eq!(print("a %-", &[Word(1)]), "a ");
        assert_eq!(print("%s", &[]), "");
        assert_eq!(super::format(&[]), b"");
        assert_eq!(super::format(b"no zero"), b"no zero");
        assert_eq!(super::format(b"12345678%s\0\0\0\0\0\0no zero "), b"12345678no zero ");
    }

    #[test]
    fn widths_and_the_whole_text_have_bounds() {
        assert_eq!(print("%99999999999999999999d", &[Word(1)]).len(), WIDEST as usize);
        assert_eq!(print("%*s", &[Word(u64::from(u32::MAX / 2)), Text("")]).len(), WIDEST as usize);
        assert_eq!(print("%.999999f", &[Word(f64::MAX.to_bits())]).len(), 309 + 1 + WIDEST as usize);
        let many = "%4096d".repeat(1000);
        assert_eq!(print(&many, &(0..1000).map(Word).collect::<Vec<_>>()).len(), MOST);
        // Bytes of any kind.
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..40)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b"%%d*.sln-0#9x\0f"[(seed >> 33) as usize % 15]
                })
                .collect();
            assert!(super::format(&bytes).len() <= MOST);
        }
    }
}

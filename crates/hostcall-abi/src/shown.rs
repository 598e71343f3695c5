//! Text of somebody else, as it is printed.

use core::fmt;

/// Text that came from somewhere else (a file, a device, another host), as it can be printed: one line, which steers no
/// terminal and shows its characters in the order in which they are. What does so is written as an escape of Rust, such
/// as `\u{1b}`, and by `{:#}` as one of JSON, `\u001b`, so that JSON that is printed by this means what it meant.
///
/// All programs of hostcall that print such text do it by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown<'a>(pub &'a str);

impl Shown<'_> {
    /// Whether it is printed as it is.
    pub fn is_plain(&self) -> bool {
        !self.0.contains(Self::acts)
    }

    /// Whether a character does something else than to be seen: control characters, ends of lines and paragraphs, what
    /// turns the direction of writing, and what is never seen.
    fn acts(c: char) -> bool {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, Self::acts)
    }
}

/// The same for text that may have several lines, as the messages of panics do: ends of lines and tabs are what they
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLines<'a>(pub &'a str);

impl fmt::Display for ShownLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, |c| c != '\n' && c != '\t' && Shown::acts(c))
    }
}

/// Writes a text with escapes for the characters that act.
fn escape(f: &mut fmt::Formatter<'_>, text: &str, acts: fn(char) -> bool) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        f.write_str(&rest[..at])?;
        let mut behind = rest[at..].chars();
        if let Some(c) = behind.next() {
            match c {
                c if f.alternate() => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
                '\n' | '\r' | '\t' => write!(f, "{}", c.escape_default())?,
                c => write!(f, "{}", c.escape_unicode())?,
            }
        }
        rest = behind.as_str();
    }
    f.write_str(rest)
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn text_that_steers_a_terminal_is_shown_as_its_escapes() {
        for (text, shown) in [
            ("plain, \"quoted\" and \\", "plain, \"quoted\" and \\"),
            ("ß 漢字 e\u{301} 🙂", "ß 漢字 e\u{301} 🙂"),
            ("\x1b]0;mine\x07", "\\u{1b}]0;mine\\u{7}"),
            ("two\r\nlines\tand\u{85}more", "two\\r\\nlines\\tand\\u{85}more"),
            ("\u{202e}gnirts\u{2066}\u{2028}\u{feff}", "\\u{202e}gnirts\\u{2066}\\u{2028}\\u{feff}"),
            ("", ""),
        ] {
            assert_eq!(Shown(text).to_string(), shown);
            assert_eq!(Shown(text).is_plain(), text == shown);
        }
    }

    #[test]
    fn lines_stay_lines_and_nothing_else_acts() {
        assert_eq!(ShownLines("left: 1\n\tright: 2").to_string(), "left: 1\n\tright: 2");
        assert_eq!(ShownLines("a\r\n\x1b[2J\u{202e}b\x08").to_string(), "a\\r\n\\u{1b}[2J\\u{202e}b\\u{8}");
    }

    #[test]
    fn what_is_printed_of_json_is_the_same_json() {
        assert_eq!(std::format!("{:#}", Shown("\"\u{9b}1m\u{e0001}\"")), "\"\\u009b1m\\udb40\\udc01\"");
    }
}

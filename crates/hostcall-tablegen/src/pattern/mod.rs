//! Patterns of `!match` and `!instances`: POSIX extended regular expressions over bytes, as LLVM reads them.
//!
//! A pattern is [parsed](parse) to a tree, the tree becomes a [program](matcher), and the program runs over a text in
//! time that grows with the product of both lengths: there is nothing that a pattern could make exponential. LLVM's
//! reader is Henry Spencer's, so a `.` is one byte, a line's end is a byte like others, `{` stands for itself unless a
//! digit follows, and `[[:<:]]` is the beginning of a word.
//!
//! References back to a group (`\1`) are refused: no matcher that knows them has such a bound.

mod bracket;
mod matcher;
mod parse;

use matcher::Program;

/// A pattern that is ready to be used.
#[derive(Debug)]
pub(crate) struct Pattern(Program);

impl Pattern {
    /// Compiles a pattern. The error says what is wrong with it.
    pub(crate) fn compile(pattern: &[u8]) -> Result<Pattern, String> {
        Program::of(&parse::parse(pattern)?).map(Pattern)
    }

    /// Whether the pattern matches a part of the text. Also how many steps it took, of which there may be `limit`;
    /// `Err` if they did not suffice.
    pub(crate) fn is_match(&self, text: &[u8], limit: u64) -> Result<(bool, u64), TooManySteps> {
        self.0.run(text, limit)
    }
}

/// The steps that a match may take did not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManySteps;

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn invert(&mut self) {
        self.0 = self.0.map(|bits| !bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(text: &[u8], pattern: &[u8]) -> bool {
        let shown = pattern.escape_ascii();
        let compiled = Pattern::compile(pattern).unwrap_or_else(|error| panic!("{shown}: {error}"));
        compiled.is_match(text, u64::MAX).expect("there is no limit").0
    }

    /// Each was checked with `llvm-tblgen-22`.
    #[test]
    fn patterns_mean_what_posix_says() {
        let cases = [
            ("d", r"^\d$", true),
            ("5", r"^\d$", false),
            ("a\nb", "a.b", true),
            ("a\nb", "^b", false),
            ("a{b", "a{b", true),
            ("aaab", "^a{3}b", true),
            ("aab", "^a{3}b", false),
            ("aaaa", "^a{2,3}$", false),
            ("aaaa", "^a{2,}$", true),
            ("b", "^a{0}b$", true),
            ("a]b", "a[]]b", true),
            ("a]", "a]", true),
            ("\\", r"[\]", true),
            ("aXb", "a[^a-z]b", true),
            ("xyz", "^[[:alpha:]]{3}$", true),
            ("wd x", r"\bx", false),
            ("a+", r"a\+$", true),
            ("a-b", "a[+-]b", true),
            ("ab", "^(a|b)+$", true),
            ("a&&b", "[a&&b]&", true),
            ("é", "^é$", true),
            ("ab", "a()b", true),
            ("a", "a$*", true),
            ("a<b>", "<b>", true),
            ("b", "<b>", false),
            ("ab", "a{,3}b", false),
            ("a{,3}b", "a{,3}b", true),
        ];
        for (text, pattern, wanted) in cases {
            assert_eq!(matches(text.as_bytes(), pattern.as_bytes()), wanted, "{text:?} against {pattern}");
        }
    }

    #[test]
    fn each_punctuation_character_stands_for_itself_behind_a_backslash_and_in_brackets() {
        let punctuation: Vec<u8> = (0..128_u8).filter(u8::is_ascii_punctuation).collect();
        assert_eq!(punctuation.len(), 32);
        for &c in &punctuation {
            for &other in &punctuation {
                assert_eq!(matches(&[b'a', other, b'b'], &[b'a', b'\\', c, b'b']), c == other, "\\{} and {}", c as char, other as char);
                if c != b'^' {
                    assert_eq!(matches(&[other], &[b'[', c, b']']), c == other, "[{}] and {}", c as char, other as char);
                }
            }
            assert!(!matches(b"ab", &[b'a', b'\\', c, b'b']), "\\{} is no place between characters", c as char);
        }
    }

    #[test]
    fn a_dot_is_one_byte() {
        assert!(matches("é".as_bytes(), b"^..$") && !matches("é".as_bytes(), b"^.$"));
        assert!(matches(b"\xc3", b"^.$") && matches(b"\xc3", b"^[^a]$") && matches("é".as_bytes(), b"\xa9$"));
    }

    #[test]
    fn brackets_know_the_forms_of_posix() {
        for (text, pattern, wanted) in [
            (".", "^[[.period.]]$", true),
            ("a", "^[[.a.]]$", true),
            ("a", "^[[=a=]]$", true),
            ("b", "^[[=a=]]$", false),
            ("-", "^[[.hyphen.]]$", true),
            ("b", "^[[.a.]-c]$", true),
            ("]", "^[[.right-square-bracket.]]$", true),
            ("+", "^[%--]$", true),
            ("-", "^[%--]$", true),
            (".", "^[%--]$", false),
            ("-", "^[a-]$", true),
            ("-", "^[-a]$", true),
            ("^", "^[a^]$", true),
            ("x", "^[^]a]$", true),
            ("]", "^[^]a]$", false),
            ("a b", "[[:<:]]b", true),
            ("ab", "[[:<:]]b", false),
            ("a b", "a[[:>:]]", true),
            ("_", "^[[:punct:]]$", true),
            ("\t", "^[[:blank:][:digit:]]$", true),
        ] {
            assert_eq!(matches(text.as_bytes(), pattern.as_bytes()), wanted, "{text:?} against {pattern}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let patterns = [
            "",
            "a|b|",
            "|a",
            "a(|b)",
            "*a",
            "a**",
            "a*?",
            "(?i)a",
            "[a",
            "a(",
            "a{2",
            "\\",
            r"(a)\1",
            "[[:no:]]",
            "[b-a]",
            "a{3,2}",
            "^*",
            "a)",
            "a{256}",
            "a{1,256}",
            "a{1x}",
            "[--a]",
            "[[.no.]]",
            "[[.a",
            "[[=]=]]",
            "[[:]:]]",
            "[a-[:alpha:]]",
            "[[=a=]-c]",
        ];
        for pattern in patterns {
            assert!(Pattern::compile(pattern.as_bytes()).is_err(), "{pattern}");
        }
        Pattern::compile(b"a{255}").expect("as often as may be");
    }

    #[test]
    fn what_would_fill_the_memory_or_the_day_is_refused() {
        assert!(Pattern::compile(b"(((a{255}){255}){255}){255}").is_err());
        assert!(Pattern::compile(&b"(".repeat(1_000_000)).is_err());
        let nested = [b"(".repeat(100_000), b"a".to_vec(), b")".repeat(100_000)].concat();
        assert!(Pattern::compile(&nested).is_err());
        let slow = Pattern::compile(b"(a*)*b").expect("a pattern");
        assert_eq!(slow.is_match(&b"a".repeat(10_000), 1000), Err(TooManySteps));
        let (found, steps) = slow.is_match(&b"a".repeat(10_000), u64::MAX).expect("no limit");
        assert!(!found && steps < 1_000_000, "{steps}");
    }
}

//! PTX as tokens that are the whole text: one behind another they are what was read, byte for byte.

use super::error::PtxError;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Blanks, line ends and comments: nothing for the assembler.
    Blank,
    /// A name, a register, a directive, or the dotted name of an instruction: `%r1`, `.reg`,
    /// `ld.shared::cluster.u32`.
    Word,
    /// A number, however it is written.
    Number,
    /// What is between quotes, and they.
    Text,
    /// Another character.
    Sign,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn text(self, all: &str) -> &str {
        &all[self.start..self.end]
    }
}

/// Whether a character can be within a name. (A dot stands within dotted names.)
fn within(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$%".contains(&byte)
}

/// All tokens of a text.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, PtxError> {
    let bytes = text.as_bytes();
    let mut all = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        let rest = &bytes[at..];
        let (kind, length) = match first {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | 0 => {
                (Kind::Blank, rest.iter().position(|byte| !b" \t\r\n\x0b\x0c\0".contains(byte)).unwrap_or(rest.len()))
            }
            b'/' if rest.get(1) == Some(&b'/') => (Kind::Blank, rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())),
            b'/' if rest.get(1) == Some(&b'*') => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                let unended = || PtxError::syntax(text, at, "a comment that has no end");
                (Kind::Blank, end.ok_or_else(unended)? + 4)
            }
            b'"' => {
                let mut end = 1;
                while rest.get(end).is_some_and(|byte| *byte != b'"') {
                    end += 1 + usize::from(rest[end] == b'\\');
                }
                if end >= rest.len() {
                    return Err(PtxError::syntax(text, at, "a string that has no end"));
                }
                (Kind::Text, end + 1)
            }
            b'0'..=b'9' => (Kind::Number, rest.iter().position(|byte| !within(*byte) && *byte != b'.').unwrap_or(rest.len())),
            _ if within(first) || first == b'.' => (Kind::Word, word(rest)),
            // (What is not ASCII is in comments and strings only; whole characters all the same.)
            _ => (Kind::Sign, text[at..].chars().next().map_or(1, char::len_utf8)),
        };
        all.push(Token { kind, start: at, end: at + length });
        at += length;
    }
    Ok(all)
}

/// How long the word is that this begins with. Two colons are within it if a name follows, as in `shared::cta`.
fn word(bytes: &[u8]) -> usize {
    let mut end = 1;
    loop {
        match &bytes[end..] {
            [byte, ..] if within(*byte) || *byte == b'.' => end += 1,
            [b':', b':', next, ..] if within(*next) => end += 3,
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let all = tokens(text).expect("tokens");
        assert_eq!(all.iter().map(|token| token.text(text)).collect::<String>(), text);
        all.into_iter().filter(|token| token.kind != Kind::Blank).map(|token| (token.kind, token.text(text))).collect()
    }

    #[test]
    fn names_of_instructions_are_one_token_with_their_colons_and_labels_are_not() {
        let words = |text: &str| kinds(text).into_iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            words("L1:ld.shared::cluster.v2.u32{%r1,%r2},[a+-4];"),
            ["L1", ":", "ld.shared::cluster.v2.u32", "{", "%r1", ",", "%r2", "}", ",", "[", "a", "+", "-", "4", "]", ";"]
        );
        assert_eq!(words("@!%p1 bra $L__BB0_1; mov.f32 %f1, 0f3F800000;")[..4], ["@", "!", "%p1", "bra"]);
        assert_eq!(words(".reg .b32 %r<5>; x::y"), [".reg", ".b32", "%r", "<", "5", ">", ";", "x::y"]);
    }

    #[test]
    fn comments_are_blank_and_what_looks_like_one_in_a_string_is_not() {
        let text = "a // b \"\n/* \" ; ** é */.file 1 \"/*x//\\\"y\" c/d";
        assert_eq!(
            kinds(text),
            [
                (Kind::Word, "a"),
                (Kind::Word, ".file"),
                (Kind::Number, "1"),
                (Kind::Text, "\"/*x//\\\"y\""),
                (Kind::Word, "c"),
                (Kind::Sign, "/"),
                (Kind::Word, "d"),
            ]
        );
    }

    #[test]
    fn what_has_no_end_is_told_with_its_line() {
        for (text, told) in [
            ("a\n/* b", "line 2: a comment that has no end"),
            ("\n\n\"x\\\"", "line 3: a string that has no end"),
            ("\"\\", "line 1: a string that has no end"),
        ] {
            assert_eq!(tokens(text).expect_err("bad").to_string(), format!("this is no PTX that can be read: {told}"));
        }
    }

    #[test]
    fn any_text_is_its_tokens() {
        for text in ["é\u{0}§:::%.:", "#x", "0x1F.5e+3", ".", ":", "a::", "a:: b", ""] {
            kinds(text);
        }
    }
}

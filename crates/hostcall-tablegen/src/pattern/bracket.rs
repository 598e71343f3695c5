//! Sets of bytes in brackets: `[a-z[:digit:]]`.

use super::Bytes;
use super::parse::{Input, Part, Place};

const OPEN: &str = "a '[' is not closed";

/// What follows `[`, to the `]` that closes it.
pub(super) fn read(input: &mut Input<'_>) -> Result<Part, String> {
    // Two names that stand for places.
    if input.eat(b"[:<:]]") {
        return Ok(Part::At(Place::WordBegin));
    }
    if input.eat(b"[:>:]]") {
        return Ok(Part::At(Place::WordEnd));
    }
    let mut set = Bytes::default();
    let inverted = input.eat(b"^");
    if input.eat(b"]") {
        set.insert(b']');
    } else if input.eat(b"-") {
        set.insert(b'-');
    }
    while !matches!(input.peek(), None | Some(b']')) && !input.sees(b"-]") {
        term(input, &mut set)?;
    }
    if input.eat(b"-") {
        set.insert(b'-');
    }
    if !input.eat(b"]") {
        return Err(OPEN.into());
    }
    if inverted {
        set.invert();
    }
    Ok(Part::Set(set))
}

/// A class, a byte, or a range of bytes.
fn term(input: &mut Input<'_>, set: &mut Bytes) -> Result<(), String> {
    if input.eat(b"[:") {
        return class(input, set);
    }
    if input.eat(b"[=") {
        set.insert(element(input, b"=]")?);
        return Ok(());
    }
    if input.sees(b"-") {
        return Err("a '-' in brackets stands at the beginning or the end, or between two characters".into());
    }
    let first = symbol(input)?;
    let mut last = first;
    if input.sees(b"-") && input.second().is_some_and(|byte| byte != b']') {
        input.next();
        last = if input.eat(b"-") { b'-' } else { symbol(input)? };
    }
    // LLVM's characters have a sign: those beyond ASCII come before those within.
    let (first, last) = (first.cast_signed(), last.cast_signed());
    if first > last {
        return Err("a range in brackets ends before it begins".into());
    }
    (first..=last).for_each(|byte| set.insert(byte.cast_unsigned()));
    Ok(())
}

fn symbol(input: &mut Input<'_>) -> Result<u8, String> {
    if input.eat(b"[.") { element(input, b".]") } else { Ok(input.next().ok_or(OPEN)?) }
}

/// What follows `[:`, to the `:]`.
fn class(input: &mut Input<'_>, set: &mut Bytes) -> Result<(), String> {
    let name = input.take_while(|byte| byte.is_ascii_alphabetic());
    let member: fn(u8) -> bool = match name.as_slice() {
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"blank" => |byte| byte == b' ' || byte == b'\t',
        b"cntrl" => |byte| byte.is_ascii_control() && byte != 0,
        b"digit" => |byte| byte.is_ascii_digit(),
        b"graph" => |byte| byte.is_ascii_graphic(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"print" => |byte| byte.is_ascii_graphic() || byte == b' ',
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"space" => |byte| matches!(byte, b'\t'..=b'\r' | b' '),
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return Err(format!("there is no class of characters '{}'", name.escape_ascii())),
    };
    if !input.eat(b":]") {
        return Err("a class of characters is not closed by ':]'".into());
    }
    (0..=u8::MAX).filter(|&byte| member(byte)).for_each(|byte| set.insert(byte));
    Ok(())
}

/// What follows `[.` or `[=`, to its end: a character, or the name of one.
fn element(input: &mut Input<'_>, end: &[u8; 2]) -> Result<u8, String> {
    let mut name = Vec::new();
    // These two would look like the end of the brackets.
    if matches!(input.peek(), Some(b'-' | b']')) && end[0] == b'=' {
        return Err("'-' and ']' have no class of equal characters".into());
    }
    while !input.eat(end) {
        name.push(input.next().ok_or(OPEN)?);
    }
    if let Some((_, byte)) = NAMES.iter().find(|(known, _)| known.as_bytes() == name) {
        return Ok(*byte);
    }
    match name[..] {
        [byte] => Ok(byte),
        _ => Err(format!("there is no character called '{}'", name.escape_ascii())),
    }
}

/// The characters that POSIX names.
const NAMES: [(&str, u8); 95] = [
    ("NUL", 0),
    ("SOH", 1),
    ("STX", 2),
    ("ETX", 3),
    ("EOT", 4),
    ("ENQ", 5),
    ("ACK", 6),
    ("BEL", 7),
    ("alert", 7),
    ("BS", 8),
    ("backspace", 8),
    ("HT", 9),
    ("tab", 9),
    ("LF", 10),
    ("newline", 10),
    ("VT", 11),
    ("vertical-tab", 11),
    ("FF", 12),
    ("form-feed", 12),
    ("CR", 13),
    ("carriage-return", 13),
    ("SO", 14),
    ("SI", 15),
    ("DLE", 16),
    ("DC1", 17),
    ("DC2", 18),
    ("DC3", 19),
    ("DC4", 20),
    ("NAK", 21),
    ("SYN", 22),
    ("ETB", 23),
    ("CAN", 24),
    ("EM", 25),
    ("SUB", 26),
    ("ESC", 27),
    ("IS4", 28),
    ("FS", 28),
    ("IS3", 29),
    ("GS", 29),
    ("IS2", 30),
    ("RS", 30),
    ("IS1", 31),
    ("US", 31),
    ("space", b' '),
    ("exclamation-mark", b'!'),
    ("quotation-mark", b'"'),
    ("number-sign", b'#'),
    ("dollar-sign", b'$'),
    ("percent-sign", b'%'),
    ("ampersand", b'&'),
    ("apostrophe", b'\''),
    ("left-parenthesis", b'('),
    ("right-parenthesis", b')'),
    ("asterisk", b'*'),
    ("plus-sign", b'+'),
    ("comma", b','),
    ("hyphen", b'-'),
    ("hyphen-minus", b'-'),
    ("period", b'.'),
    ("full-stop", b'.'),
    ("slash", b'/'),
    ("solidus", b'/'),
    ("zero", b'0'),
    ("one", b'1'),
    ("two", b'2'),
    ("three", b'3'),
    ("four", b'4'),
    ("five", b'5'),
    ("six", b'6'),
    ("seven", b'7'),
    ("eight", b'8'),
    ("nine", b'9'),
    ("colon", b':'),
    ("semicolon", b';'),
    ("less-than-sign", b'<'),
    ("equals-sign", b'='),
    ("greater-than-sign", b'>'),
    ("question-mark", b'?'),
    ("commercial-at", b'@'),
    ("left-square-bracket", b'['),
    ("backslash", b'\\'),
    ("reverse-solidus", b'\\'),
    ("right-square-bracket", b']'),
    ("circumflex", b'^'),
    ("circumflex-accent", b'^'),
    ("underscore", b'_'),
    ("low-line", b'_'),
    ("grave-accent", b'`'),
    ("left-brace", b'{'),
    ("left-curly-bracket", b'{'),
    ("vertical-line", b'|'),
    ("right-brace", b'}'),
    ("right-curly-bracket", b'}'),
    ("tilde", b'~'),
    ("DEL", 127),
];

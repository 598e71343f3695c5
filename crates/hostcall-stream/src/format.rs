//! Lines of a log, formatted on the host as `format!` would have on the device.
//!
//! The text is a program's, so it may be anything. What is no placeholder, or has no argument, stays as it is.

use std::fmt::Write;

use hostcall_abi::stream::log::Argument;

/// The text with its placeholders `{number:spec}` replaced by arguments.
pub(crate) fn format(text: &str, arguments: &[Argument]) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len() + 8 * arguments.len()), text);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        if behind.starts_with("{{") || behind.starts_with("}}") {
            out.push_str(&behind[..1]);
            rest = &behind[2..];
            continue;
        }
        let placeholder = behind.find('}').filter(|_| behind.starts_with('{')).and_then(|end| {
            let inside = &behind[1..end];
            let (index, spec) = inside.split_once(':').unwrap_or((inside, ""));
            Some((arguments.get(index.parse::<usize>().ok()?)?, Spec::parse(spec)?, end))
        });
        match placeholder {
            Some((argument, spec, end)) => {
                spec.put(&mut out, argument);
                rest = &behind[end + 1..];
            }
            None => {
                out.push_str(&behind[..1]);
                rest = &behind[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The most characters that a placeholder is filled up to, and digits behind the point: a program may say anything.
const MOST: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Middle,
    Right,
}

/// What stands behind the colon of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spec<'a> {
    fill: char,
    align: Option<Align>,
    plus: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    ty: &'a str,
}

/// A number or a word, before it is filled up.
struct Rendered {
    sign: &'static str,
    prefix: &'static str,
    digits: String,
    is_number: bool,
}

impl<'a> Spec<'a> {
    fn parse(spec: &'a str) -> Option<Self> {
        let align = |c: char| match c {
            '<' => Some(Align::Left),
            '^' => Some(Align::Middle),
            '>' => Some(Align::Right),
            _ => None,
        };
        let mut parsed = Self { fill: ' ', align: None, plus: false, alternate: false, zeros: false, width: 0, precision: None, ty: "" };
        let mut rest = spec.trim_end();
        let mut chars = rest.chars();
        if let (Some(fill), Some(second)) = (chars.next(), chars.next())
            && let Some(align) = align(second)
        {
            (parsed.fill, parsed.align, rest) = (fill, Some(align), chars.as_str());
        } else if let Some(first) = rest.chars().next().and_then(align) {
            (parsed.align, rest) = (Some(first), &rest[1..]);
        }
        for (sign, found) in [("+", &mut parsed.plus), ("#", &mut parsed.alternate), ("0", &mut parsed.zeros)] {
            if let Some(behind) = rest.strip_prefix(sign) {
                (*found, rest) = (true, behind);
            }
        }
        let number = |rest: &mut &'a str| {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, behind) = rest.split_at(digits);
            *rest = behind;
            number.parse::<usize>().ok().map(|number| number.min(MOST))
        };
        parsed.width = number(&mut rest).unwrap_or(0);
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
            parsed.precision = Some(number(&mut rest)?);
        }
        parsed.ty = rest;
        ["", "?", "x", "X", "o", "b", "e", "E", "p", "x?", "X?"].contains(&rest).then_some(parsed)
    }

    fn put(&self, out: &mut String, argument: &Argument) {
        let Rendered { sign, prefix, digits, is_number } = self.render(argument);
        let length = sign.len() + prefix.len() + digits.chars().count();
        let missing = self.width.saturating_sub(length);
        if self.zeros && is_number {
            out.extend([sign, prefix]);
            out.extend(std::iter::repeat_n('0', missing));
            out.push_str(&digits);
            return;
        }
        let before = match self.align.unwrap_or(if is_number { Align::Right } else { Align::Left }) {
            Align::Left => 0,
            Align::Middle => missing / 2,
            Align::Right => missing,
        };
        out.extend(std::iter::repeat_n(self.fill, before));
        out.extend([sign, prefix]);
        out.push_str(&digits);
        out.extend(std::iter::repeat_n(self.fill, missing - before));
    }

    fn render(&self, argument: &Argument) -> Rendered {
        match *argument {
            Argument::Unsigned(number) => self.integer(false, number, number),
            Argument::Signed(number, bits) => {
                let pattern = number as u64 & (u64::MAX >> (64 - bits));
                self.integer(number < 0, number.unsigned_abs(), pattern)
            }
            Argument::F32(number) => self.float(number.is_sign_negative() && !number.is_nan(), &|f| f.put(number.abs())),
            Argument::F64(number) => self.float(number.is_sign_negative() && !number.is_nan(), &|f| f.put(number.abs())),
            Argument::Bool(value) => self.word(value.to_string()),
            Argument::Char(value) => self.word(if self.ty == "?" { format!("{value:?}") } else { value.to_string() }),
            Argument::Pointer(address) => {
                let digits = if self.alternate { format!("{address:016x}") } else { format!("{address:x}") };
                Rendered { sign: "", prefix: "0x", digits, is_number: true }
            }
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        }
    }

    fn word(&self, word: String) -> Rendered {
        let digits = match self.precision {
            Some(most) => word.chars().take(most).collect(),
            None => word,
        };
        Rendered { sign: "", prefix: "", digits, is_number: false }
    }

    fn integer(&self, negative: bool, magnitude: u64, pattern: u64) -> Rendered {
        let (prefix, digits) = match self.ty {
            "x" | "x?" => ("0x", format!("{pattern:x}")),
            "X" | "X?" => ("0x", format!("{pattern:X}")),
            "o" => ("0o", format!("{pattern:o}")),
            "b" => ("0b", format!("{pattern:b}")),
            "e" | "E" => {
                let mut digits = match self.precision {
                    Some(precision) => format!("{magnitude:.precision$e}"),
                    None => format!("{magnitude:e}"),
                };
                if self.ty == "E" {
                    digits.make_ascii_uppercase();
                }
                return Rendered { sign: self.sign(negative), prefix: "", digits, is_number: true };
            }
            _ => return Rendered { sign: self.sign(negative), prefix: "", digits: magnitude.to_string(), is_number: true },
        };
        Rendered { sign: self.sign(false), prefix: if self.alternate { prefix } else { "" }, digits, is_number: true }
    }

    fn float(&self, negative: bool, put: &dyn Fn(&mut Float<'_>)) -> Rendered {
        let mut digits = String::new();
        put(&mut Float { out: &mut digits, precision: self.precision, ty: self.ty });
        Rendered { sign: self.sign(negative), prefix: "", digits, is_number: true }
    }
}

/// Where the digits of a number go.
struct Float<'a> {
    out: &'a mut String,
    precision: Option<usize>,
    ty: &'a str,
}

impl Float<'_> {
    fn put<T: std::fmt::Display + std::fmt::Debug + std::fmt::LowerExp + std::fmt::UpperExp>(&mut self, number: T) {
        let written = match (self.ty, self.precision) {
            ("e", Some(precision)) => write!(self.out, "{number:.precision$e}"),
            ("e", None) => write!(self.out, "{number:e}"),
            ("E", Some(precision)) => write!(self.out, "{number:.precision$E}"),
            ("E", None) => write!(self.out, "{number:E}"),
            ("?", None) => write!(self.out, "{number:?}"),
            (_, Some(precision)) => write!(self.out, "{number:.precision$}"),
            (_, None) => write!(self.out, "{number}"),
        };
        written.expect("text is written into memory");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What `format!` makes of the same.
    macro_rules! same {
        ($($spec:literal of $value:expr => $argument:expr),+ $(,)?) => { $(
            assert_eq!(format(concat!("[{0:", $spec, "}]"), &[$argument]), std::format!(concat!("[{0:", $spec, "}]"), $value), "{}", $spec);
        )+ };
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        let signed = |number: i32| Argument::Signed(number.into(), 32);
        same! {
            "" of 7u32 => Argument::Unsigned(7), "5" of 7u32 => Argument::Unsigned(7), "<5" of 7u32 => Argument::Unsigned(7),
            "*^5" of 7u32 => Argument::Unsigned(7), "05" of -7i32 => signed(-7), "+" of 7i32 => signed(7), "+05" of 7i32 => signed(7),
            "x" of -1i32 => signed(-1), "#x" of 255u32 => Argument::Unsigned(255), "#010X" of 255u32 => Argument::Unsigned(255),
            "#b" of 5u32 => Argument::Unsigned(5), "o" of 8u32 => Argument::Unsigned(8), "?" of -3i32 => signed(-3),
            "e" of 1200u32 => Argument::Unsigned(1200), "x" of -1i8 => Argument::Signed(-1, 8), "" of i64::MIN => Argument::Signed(i64::MIN, 64),
            "" of 1.0f32 => Argument::F32(1.0), "?" of 1.0f32 => Argument::F32(1.0), ".3" of 2.0f32 / 3.0 => Argument::F32(2.0 / 3.0),
            "8.2" of -1.005f64 => Argument::F64(-1.005), "08.2" of -1.005f64 => Argument::F64(-1.005), "<8.1" of 2.25f64 => Argument::F64(2.25),
            "e" of 1234.5f64 => Argument::F64(1234.5), ".1E" of 1234.5f64 => Argument::F64(1234.5), "+" of 0.5f64 => Argument::F64(0.5),
            "" of f32::NAN => Argument::F32(f32::NAN), "6" of f64::NEG_INFINITY => Argument::F64(f64::NEG_INFINITY),
            "06" of f64::NAN => Argument::F64(f64::NAN), "" of -0.0f32 => Argument::F32(-0.0),
            "6" of true => Argument::Bool(true), ">6" of false => Argument::Bool(false), ".2" of true => Argument::Bool(true),
            "" of 'ß' => Argument::Char('ß'), "?" of '\n' => Argument::Char('\n'), "3" of 'x' => Argument::Char('x'),
            "p" of 0x1f as *const u8 => Argument::Pointer(0x1f), "#p" of 0x1f as *const u8 => Argument::Pointer(0x1f),
        }
    }

    #[test]
    fn braces_and_what_is_no_placeholder_stay() {
        let one = [Argument::Unsigned(1)];
        assert_eq!(format("{{{0:}}} {{}} {0:}{0:}", &one), "{1} {} 11");
        for text in ["{1:}", "{", "}", "{0", "{0:y}", "{x}", "{0:.}", "a } b { c"] {
            assert_eq!(format(text, &one), text);
        }
        assert_eq!(format("{0:999999999}", &one).len(), MOST);
    }

    proptest! {
        #[test]
        fn any_text_is_formatted(text in ".{0,40}", spec in "[<^>+#0-9.a-zA-Z?]{0,6}", bits: u64) {
            let arguments = [Argument::Unsigned(bits), Argument::Signed(bits as i64, 64), Argument::F64(f64::from_bits(bits))];
            for index in 0..3 {
                let _ = format(&std::format!("{text}{{{index}:{spec}}}"), &arguments);
            }
        }

        #[test]
        fn floats_of_any_precision_are_those_of_the_standard_library(number: f64, precision in 0..20usize, width in 0..30usize) {
            let argument = [Argument::F64(number)];
            prop_assert_eq!(format(&std::format!("{{0:{width}.{precision}}}"), &argument), std::format!("{number:width$.precision$}"));
            prop_assert_eq!(format(&std::format!("{{0:0{width}.{precision}}}"), &argument), std::format!("{number:0width$.precision$}"));
            prop_assert_eq!(format("{0:?}", &argument), std::format!("{number:?}"));
        }
    }
}

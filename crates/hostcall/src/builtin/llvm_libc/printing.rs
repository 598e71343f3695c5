//! `printf` of LLVM's clients: the format and C's variable arguments come as bytes, the strings one by one.
//!
//! The format decides how the arguments lie, and it is as much the device's as they are. So it is read by the parser
//! that formats: what that one refuses (`%n`, fields wider than it allows) is refused before any argument comes.

use super::super::console::printf::{FormatError, Value, Wanted, printf, wanted};

/// Bytes of a format.
const LONGEST: usize = 64 << 10;

/// A format, and what it wants.
#[derive(Debug)]
pub(super) struct Format<'a> {
    text: &'a [u8],
    wanted: Vec<Wanted>,
    packed: bool,
}

/// Why nothing is printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PrintError {
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error("printf: the format has more than {LONGEST} bytes, or there is no room for it")]
    Long,
    #[error("printf: the arguments have {given} bytes, and the format wants {wanted}")]
    Short { given: usize, wanted: usize },
    #[error("printf: a string is longer than there is room for")]
    Text,
}

fn size(wanted: Wanted) -> usize {
    match wanted {
        Wanted::Signed(bytes) | Wanted::Unsigned(bytes) => bytes as usize,
        Wanted::Double | Wanted::Pointer | Wanted::Text => 8,
    }
}

impl<'a> Format<'a> {
    /// Of a text that a lane has sent, if all of it came.
    pub(super) fn new(text: Option<&'a [u8]>, packed: bool) -> Result<Self, PrintError> {
        let text = text.filter(|text| text.len() <= LONGEST).ok_or(PrintError::Long)?;
        Ok(Self { text, wanted: wanted(text)?, packed })
    }

    /// Where each argument begins, and where the last ends.
    fn places(&self) -> (Vec<usize>, usize) {
        let mut end = 0usize;
        let place = |&wanted: &Wanted| {
            let at = if self.packed { end } else { end.next_multiple_of(size(wanted)) };
            end = at + size(wanted);
            at
        };
        (self.wanted.iter().map(place).collect(), end)
    }

    /// Bytes of its arguments.
    pub(super) fn bytes(&self) -> usize {
        self.places().1
    }

    /// The arguments, as bits.
    pub(super) fn arguments(&self, bytes: &[u8]) -> Result<Vec<u64>, PrintError> {
        let (places, end) = self.places();
        if bytes.len() < end {
            return Err(PrintError::Short { given: bytes.len(), wanted: end });
        }
        let argument = |(&at, &wanted): (&usize, &Wanted)| {
            let mut whole = [0; 8];
            let size = size(wanted);
            whole[..size].copy_from_slice(&bytes[at..at + size]);
            u64::from_le_bytes(whole)
        };
        Ok(places.iter().zip(&self.wanted).map(argument).collect())
    }

    /// The addresses of the strings among the arguments, but for null ones.
    pub(super) fn strings(&self, arguments: &[u64]) -> Vec<u64> {
        let strings = arguments.iter().zip(&self.wanted).filter(|&(&bits, &wanted)| wanted == Wanted::Text && bits != 0);
        strings.map(|(&bits, _)| bits).collect()
    }

    /// The text, with those strings.
    pub(super) fn text(&self, arguments: &[u64], strings: &[Option<Vec<u8>>]) -> Result<Vec<u8>, PrintError> {
        let mut strings = strings.iter();
        let value = |(&bits, &wanted): (&u64, &Wanted)| {
            Ok(match wanted {
                Wanted::Signed(4) => Value::Signed(i64::from(bits as i32), 4),
                Wanted::Signed(bytes) => Value::Signed(bits as i64, bytes),
                Wanted::Unsigned(bytes) => Value::Unsigned(bits, bytes),
                Wanted::Double => Value::Float(f64::from_bits(bits)),
                Wanted::Pointer => Value::Pointer(bits),
                Wanted::Text if bits == 0 => Value::Text(None),
                Wanted::Text => Value::Text(Some(strings.next().and_then(Option::as_deref).ok_or(PrintError::Text)?)),
            })
        };
        let values: Vec<_> = arguments.iter().zip(&self.wanted).map(value).collect::<Result<_, PrintError>>()?;
        Ok(printf(self.text, &values)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str, packed: bool, arguments: &[u8], strings: &[&str]) -> Result<String, PrintError> {
        let format = Format::new(Some(text.as_bytes()), packed)?;
        let arguments = format.arguments(arguments)?;
        let strings: Vec<_> = strings.iter().map(|text| Some(text.as_bytes().to_vec())).collect();
        assert_eq!(format.strings(&arguments).len(), strings.len());
        Ok(String::from_utf8(format.text(&arguments, &strings)?).unwrap())
    }

    #[test]
    fn arguments_lie_as_c_s_variable_arguments_do() {
        let mut aligned = Vec::new();
        aligned.extend((-7i32).to_le_bytes());
        aligned.extend([0xee; 4]);
        aligned.extend((1i64 << 40).to_le_bytes());
        aligned.extend(2.5f64.to_le_bytes());
        aligned.extend(0x1234u64.to_le_bytes());
        aligned.extend(u32::from(b'c').to_le_bytes());
        let format = "%d %ld %.1f %s %c";
        assert_eq!(formatted(format, false, &aligned, &["text"]).unwrap(), "-7 1099511627776 2.5 text c");
        // The same, packed.
        let packed: Vec<u8> = aligned[..4].iter().chain(&aligned[8..]).copied().collect();
        assert_eq!(formatted(format, true, &packed, &["text"]).unwrap(), "-7 1099511627776 2.5 text c");
        assert_eq!(Format::new(Some(format.as_bytes()), false).unwrap().bytes(), 36);
        assert_eq!(Format::new(Some(format.as_bytes()), true).unwrap().bytes(), 32);
    }

    #[test]
    fn widths_from_arguments_are_arguments() {
        let arguments: Vec<u8> = [6i32, 2, 0, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut arguments = arguments[..8].to_vec();
        arguments.extend(1.25f64.to_le_bytes());
        assert_eq!(formatted("[%*.*f]", false, &arguments, &[]).unwrap(), "[  1.25]");
        let wide = i32::MAX.to_le_bytes();
        assert!(matches!(formatted("%*d", true, &[wide, wide].concat(), &[]), Err(PrintError::Format(FormatError::Wide { .. }))));
    }

    #[test]
    fn null_strings_are_said_and_nobody_is_asked_for_them() {
        assert_eq!(formatted("%s!", false, &[0; 8], &[]).unwrap(), "(null)!");
        let format = Format::new(Some(b"%s"), false).unwrap();
        assert_eq!(format.text(&[1], &[None]), Err(PrintError::Text));
    }

    #[test]
    fn what_is_refused_is_refused_before_an_argument_comes() {
        for text in ["%n", "%5$d", "%99999d", "%.99999f", "%", "%l", "%q"] {
            assert!(matches!(Format::new(Some(text.as_bytes()), false), Err(PrintError::Format(_))), "{text}");
        }
        assert_eq!(Format::new(None, false).unwrap_err(), PrintError::Long);
        assert_eq!(Format::new(Some(&[b'x'; LONGEST + 1]), false).unwrap_err(), PrintError::Long);
        assert_eq!(formatted("%d%d", false, &[0; 7], &[]), Err(PrintError::Short { given: 7, wanted: 8 }));
    }
}

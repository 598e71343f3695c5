//! Values of fields, by the types that their source gave them.

use std::fmt;

use crate::schema::Field;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `u8` to `u64`, and `usize`.
    Unsigned(u64),
    /// `i8` to `i64`, and `isize`.
    Signed(i64),
    /// `f32`.
    F32(f32),
    /// `f64`.
    F64(f64),
    /// `bool`.
    Bool(bool),
    /// An array.
    List(Vec<Value>),
    /// The bytes of any other type, those of a `bool` that is none, and a message of bytes.
    Bytes(Vec<u8>),
    /// A message of text. What is no UTF-8 in it is U+FFFD.
    Text(String),
}

impl Value {
    /// As a number, if it is one; the nearest that there is.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Unsigned(number) => Some(*number as f64),
            Self::Signed(number) => Some(*number as f64),
            Self::F32(number) => Some((*number).into()),
            Self::F64(number) => Some(*number),
            Self::Bool(_) | Self::List(_) | Self::Bytes(_) | Self::Text(_) => None,
        }
    }

    /// As JSON. Numbers that JSON has not are strings (`"NaN"`, `"inf"`), and so are bytes, in hexadecimal digits.
    pub fn to_json(&self) -> serde_json::Value {
        let float = |number: f64| serde_json::Number::from_f64(number).map(serde_json::Value::Number);
        match self {
            Self::Unsigned(number) => (*number).into(),
            Self::Signed(number) => (*number).into(),
            // By its digits: 0.1 stays 0.1.
            Self::F32(number) => number.to_string().parse().ok().and_then(float).unwrap_or_else(|| self.to_string().into()),
            Self::F64(number) => float(*number).unwrap_or_else(|| self.to_string().into()),
            Self::Bool(value) => (*value).into(),
            Self::List(values) => values.iter().map(Self::to_json).collect(),
            Self::Bytes(_) => self.to_string().into(),
            Self::Text(text) => text.as_str().into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::F32(number) => write!(f, "{number:?}"),
            Self::F64(number) => write!(f, "{number:?}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A type, as far as values of it can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// `u8` to `u64`, and `usize`, by their bytes.
    Unsigned(usize),
    /// `i8` to `i64`, and `isize`, by their bytes.
    Signed(usize),
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `bool`.
    Bool,
    /// Elements and how many.
    List(Box<Type>, usize),
    /// Anything else, of so many bytes.
    Bytes(usize),
    /// Bytes of any length: those of a message.
    Slice,
    /// UTF-8 of any length: that of a message.
    Text,
}

impl Type {
    /// That of a field.
    pub fn of(field: &Field) -> Self {
        Self::new(&field.ty, field.bytes)
    }

    /// The type that the source calls `text`, whose values have `bytes` bytes.
    fn new(text: &str, bytes: u32) -> Self {
        let bytes = bytes as usize;
        match (text, bytes) {
            ("[u8]", 0) => return Self::Slice,
            ("str", 0) => return Self::Text,
            _ => {}
        }
        // The size decides: `usize` is that of the device, and a type may have been given the name of another.
        Self::parse(text, Some(bytes)).filter(|ty| ty.bytes() == bytes).unwrap_or(Self::Bytes(bytes))
    }

    /// `bytes` is the size, where that is known: of all but elements.
    fn parse(text: &str, bytes: Option<usize>) -> Option<Self> {
        let text = text.trim();
        if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (element, count) = inside.rsplit_once(';')?;
            let element = Self::parse(element, None)?;
            // A length may be a constant's name; then the size says it.
            let count = match (bytes, count.trim().parse::<usize>()) {
                (Some(bytes), _) => bytes.checked_div(element.bytes())?,
                (None, count) => count.ok().filter(|count| *count <= 4 * hostcall_abi::stream::MAX_UNITS as usize)?,
            };
            return Some(Self::List(Box::new(element), count));
        }
        Some(match text {
            "u8" => Self::Unsigned(1),
            "u16" => Self::Unsigned(2),
            "u32" => Self::Unsigned(4),
            "u64" => Self::Unsigned(8),
            "i8" => Self::Signed(1),
            "i16" => Self::Signed(2),
            "i32" => Self::Signed(4),
            "i64" => Self::Signed(8),
            "usize" => Self::Unsigned(bytes.filter(|bytes| [4, 8].contains(bytes)).unwrap_or(8)),
            "isize" => Self::Signed(bytes.filter(|bytes| [4, 8].contains(bytes)).unwrap_or(8)),
            "f32" => Self::F32,
            "f64" => Self::F64,
            "bool" => Self::Bool,
            _ => return None,
        })
    }

    /// Bytes of a value; 0, if it may have any number.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Unsigned(bytes) | Self::Signed(bytes) | Self::Bytes(bytes) => *bytes,
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Bool => 1,
            Self::Slice | Self::Text => 0,
            Self::List(element, count) => element.bytes().saturating_mul(*count),
        }
    }

    /// The value in as many bytes as the type has; in all of them, if it may have any number.
    pub(super) fn value(&self, bytes: &[u8]) -> Value {
        let mut word = [0; 8];
        let low = bytes.len().min(8);
        word[..low].copy_from_slice(&bytes[..low]);
        let word = u64::from_le_bytes(word);
        match self {
            Self::Unsigned(_) => Value::Unsigned(word),
            Self::Signed(bytes) => {
                let above = 64 - 8 * *bytes as u32;
                Value::Signed((word << above) as i64 >> above)
            }
            Self::F32 => Value::F32(f32::from_bits(word as u32)),
            Self::F64 => Value::F64(f64::from_bits(word)),
            Self::Bool if word <= 1 => Value::Bool(word == 1),
            Self::List(element, _) => Value::List(bytes.chunks_exact(element.bytes().max(1)).map(|bytes| element.value(bytes)).collect()),
            Self::Bool | Self::Bytes(_) | Self::Slice => Value::Bytes(bytes.into()),
            Self::Text => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(ty: &str, bytes: &[u8]) -> Value {
        Type::new(ty, bytes.len() as u32).value(bytes)
    }

    #[test]
    fn numbers_of_all_types_are_told() {
        assert_eq!(value("u8", &[200]), Value::Unsigned(200));
        assert_eq!(value("i8", &[200]), Value::Signed(-56));
        assert_eq!(value("u16", &0xfffe_u16.to_le_bytes()), Value::Unsigned(0xfffe));
        assert_eq!(value("i16", &(-2i16).to_le_bytes()), Value::Signed(-2));
        assert_eq!(value("u32", &u32::MAX.to_le_bytes()), Value::Unsigned(u32::MAX.into()));
        assert_eq!(value("i32", &i32::MIN.to_le_bytes()), Value::Signed(i32::MIN.into()));
        assert_eq!(value("u64", &u64::MAX.to_le_bytes()), Value::Unsigned(u64::MAX));
        assert_eq!(value("i64", &i64::MIN.to_le_bytes()), Value::Signed(i64::MIN));
        assert_eq!(value("usize", &7u32.to_le_bytes()), Value::Unsigned(7));
        assert_eq!(value("isize", &(-7i64).to_le_bytes()), Value::Signed(-7));
        assert_eq!(value("f32", &0.1f32.to_le_bytes()), Value::F32(0.1));
        assert_eq!(value("f64", &(-0.5f64).to_le_bytes()), Value::F64(-0.5));
        assert_eq!(
            [value("bool", &[0]), value("bool", &[1]), value("bool", &[2])].map(|value| value.to_string()),
            ["false", "true", "0x02"]
        );
    }

    #[test]
    fn bytes_and_text_of_any_length_are_told() {
        let of = |ty: &str, bytes: &[u8]| Type::new(ty, 0).value(bytes);
        assert_eq!((of("[u8]", b"\x00\xff"), of("[u8]", b"").to_string()), (Value::Bytes(vec![0, 255]), "0x".into()));
        assert_eq!((of("str", "ä\n".as_bytes()), of("str", b"a\xffb")), (Value::Text("ä\n".into()), Value::Text("a\u{fffd}b".into())));
        assert_eq!((Type::new("str", 4), Type::new("[u8]", 4)), (Type::Bytes(4), Type::Bytes(4)));
        assert_eq!(Value::Text("a\n\"".into()).to_json().to_string(), "\"a\\n\\\"\"");
    }

    #[test]
    fn arrays_are_lists_and_their_lengths_may_be_names() {
        let three = Value::List([1u64, 2, 3].map(Value::Unsigned).into());
        assert_eq!(value("[u16; 3]", &[1, 0, 2, 0, 3, 0]), three);
        assert_eq!(value("[u16 ; LANES]", &[1, 0, 2, 0, 3, 0]), three);
        assert_eq!(value("[[i8; 2]; 2]", &[1, 255, 2, 254]).to_string(), "[[1, -1], [2, -2]]");
        // What does not divide, or cannot be told, is bytes.
        for ty in ["[u16; 3]", "[[u8; N]; 2]", "[u8; ", "[Thing; 3]", "Thing", "u32", "[[u8; 0]; 3]", "[[u64; 18446744073709551615]; 1]"] {
            assert_eq!(value(ty, &[0xde, 0xad, 0]), Value::Bytes([0xde, 0xad, 0].into()), "{ty}");
        }
    }

    #[test]
    fn values_are_json_that_says_the_same() {
        assert_eq!(Value::F32(0.1).to_json().to_string(), "0.1");
        assert_eq!(Value::F32(1e30).to_json().to_string(), "1e+30");
        assert_eq!(Value::F64(f64::NAN).to_json().to_string(), "\"NaN\"");
        assert_eq!(Value::F32(f32::NEG_INFINITY).to_json().to_string(), "\"-inf\"");
        assert_eq!(
            Value::List(vec![Value::Signed(-1), Value::Bool(true), Value::Bytes(vec![0xab])]).to_json().to_string(),
            "[-1,true,\"0xab\"]"
        );
        assert_eq!(Value::Unsigned(u64::MAX).to_json().to_string(), "18446744073709551615");
    }
}

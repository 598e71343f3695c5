//! C types as trees, and reading them from C text.
//!
//! Only what an API boundary needs is read: named and primitive types, `const`, `struct`/`enum` in front of a name,
//! pointers, and a trailing `[]` or `[N]`. Function pointers are callbacks of their own and never written in place.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A C type. Qualifiers of a value itself (`const size_t`) mean nothing to a caller and are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CType {
    /// `void`.
    Void,
    /// A type of the language or of its standard headers.
    Primitive {
        /// Which.
        name: Primitive,
    },
    /// A type that the API defines.
    Named {
        /// Its name.
        name: String,
        /// What the name stands for.
        of: NamedKind,
        /// The keyword written in front of it (`struct`, `enum`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keyword: Option<String>,
    },
    /// A pointer.
    Pointer {
        /// Whether what it points to is read-only.
        is_const: bool,
        /// What it points to.
        to: Box<CType>,
    },
    /// An array.
    Array {
        /// Type of its elements.
        of: Box<CType>,
        /// Number of elements; unknown without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        len: Option<u64>,
    },
    /// Text that is not a type this program knows.
    Opaque {
        /// The text.
        text: String,
    },
}

/// Types of C and its standard headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the C type of the same name")]
pub enum Primitive {
    Bool,
    Char,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Intptr,
    Uintptr,
    Size,
    Int,
    Unsigned,
    Float,
    Double,
}

/// What the name of a type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedKind {
    /// A handle.
    Handle,
    /// An enumeration.
    Enum,
    /// Another name for a type.
    Typedef,
    /// The type of a function that users pass in: a pointer.
    Callback,
    /// A structure.
    Struct,
    /// The API defines no such name.
    Unknown,
}

/// Why C text is not a type that this program knows.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the C type `{text}`: {reason}")]
pub struct CTypeError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

hostcall_error::readable!(CTypeError);

const PRIMITIVES: [(&str, Primitive); 17] = [
    ("bool", Primitive::Bool),
    ("char", Primitive::Char),
    ("int8_t", Primitive::Int8),
    ("uint8_t", Primitive::Uint8),
    ("int16_t", Primitive::Int16),
    ("uint16_t", Primitive::Uint16),
    ("int32_t", Primitive::Int32),
    ("uint32_t", Primitive::Uint32),
    ("int64_t", Primitive::Int64),
    ("uint64_t", Primitive::Uint64),
    ("intptr_t", Primitive::Intptr),
    ("uintptr_t", Primitive::Uintptr),
    ("size_t", Primitive::Size),
    ("int", Primitive::Int),
    ("unsigned", Primitive::Unsigned),
    ("float", Primitive::Float),
    ("double", Primitive::Double),
];

impl Primitive {
    /// Its name in C.
    pub fn c_name(self) -> &'static str {
        PRIMITIVES.iter().find(|(_, primitive)| *primitive == self).map_or("", |(name, _)| name)
    }

    /// Whether it is an integer (`bool` and `char` are not).
    pub fn is_integer(self) -> bool {
        !matches!(self, Primitive::Bool | Primitive::Char | Primitive::Float | Primitive::Double)
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 | Primitive::Intptr | Primitive::Int)
    }

    /// Size in bytes, which is also its alignment, on a 64-bit system.
    pub fn size(self) -> u64 {
        match self {
            Primitive::Bool | Primitive::Char | Primitive::Int8 | Primitive::Uint8 => 1,
            Primitive::Int16 | Primitive::Uint16 => 2,
            Primitive::Int32 | Primitive::Uint32 | Primitive::Int | Primitive::Unsigned | Primitive::Float => 4,
            Primitive::Int64 | Primitive::Uint64 | Primitive::Intptr | Primitive::Uintptr | Primitive::Size | Primitive::Double => 8,
        }
    }
}

/// A type's text in words and signs. No type needs more; the limit keeps trees shallow.
const MAX_TOKENS: usize = 64;

impl CType {
    /// Reads C text. Names are of kind [`NamedKind::Unknown`] until [`Api::link`](super::Api::link).
    ///
    /// # Errors
    ///
    /// Text that is not a type, or one that does not belong at an API boundary (function pointers, `volatile`, bit
    /// fields…).
    pub fn parse(text: &str) -> Result<CType, CTypeError> {
        let fail = |reason: String| CTypeError { text: text.to_owned(), reason };
        let tokens = tokens(text).map_err(fail)?;
        if tokens.len() > MAX_TOKENS {
            return Err(fail(format!("it is made of {} words and signs, and {MAX_TOKENS} are the limit", tokens.len())));
        }
        let mut rest = tokens.as_slice();
        let mut is_const = false;
        let mut keyword = None;
        let mut words: Vec<&str> = Vec::new();
        while let Some((&token, tail)) = rest.split_first() {
            match token {
                "const" => is_const = true,
                "struct" | "enum" if words.is_empty() && keyword.is_none() => keyword = Some(token.to_owned()),
                "struct" | "enum" | "union" | "volatile" | "restrict" | "_Atomic" => {
                    return Err(fail(format!("`{token}` is not supported here")));
                }
                _ if is_word(token) => words.push(token),
                _ => break,
            }
            rest = tail;
        }
        let mut ty = base(&words, keyword).map_err(fail)?;
        while let Some((&token, tail)) = rest.split_first() {
            rest = tail;
            match token {
                "*" => {
                    ty = CType::Pointer { is_const, to: Box::new(ty) };
                    is_const = false;
                }
                "const" if matches!(ty, CType::Pointer { .. }) => is_const = true,
                "[" => {
                    let len = match rest {
                        ["]"] => None,
                        [len, "]"] => Some(len.parse().map_err(|_| fail(format!("`{len}` is not the length of an array")))?),
                        _ => return Err(fail("an array ends in `[]` or `[N]`".into())),
                    };
                    rest = &[];
                    ty = CType::Array { of: Box::new(ty), len };
                }
                "(" => return Err(fail("function types have to be defined as callbacks of their own".into())),
                other => return Err(fail(format!("`{other}` was not expected"))),
            }
        }
        if let CType::Array { of, .. } = &ty
            && **of == CType::Void
        {
            return Err(fail("arrays have elements of a type with a size".into()));
        }
        Ok(ty)
    }

    /// The type that a pointer points to, and whether it is read-only.
    pub fn pointee(&self) -> Option<(&CType, bool)> {
        match self {
            CType::Pointer { to, is_const } => Some((to, *is_const)),
            _ => None,
        }
    }

    /// The name and its kind, if this is a type that the API defines.
    pub fn named(&self) -> Option<(&str, NamedKind)> {
        match self {
            CType::Named { name, of, .. } => Some((name, *of)),
            _ => None,
        }
    }

    /// Whether this is a handle.
    pub fn is_handle(&self) -> bool {
        matches!(self, CType::Named { of: NamedKind::Handle, .. })
    }

    /// Whether this is a callback.
    pub fn is_callback(&self) -> bool {
        matches!(self, CType::Named { of: NamedKind::Callback, .. })
    }

    /// Calls `f` with every named type in it.
    pub(super) fn for_each_named(&mut self, f: &mut dyn FnMut(&str, &mut NamedKind)) {
        match self {
            CType::Named { name, of, .. } => f(name, of),
            CType::Pointer { to: inner, .. } | CType::Array { of: inner, .. } => inner.for_each_named(f),
            CType::Void | CType::Primitive { .. } | CType::Opaque { .. } => {}
        }
    }
}

/// C text, in one spelling: `const char *`, `void **`, `uint32_t`, `char[]`.
impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Void => f.write_str("void"),
            CType::Primitive { name } => f.write_str(name.c_name()),
            CType::Named { name, keyword: Some(keyword), .. } => write!(f, "{keyword} {name}"),
            CType::Named { name, .. } => f.write_str(name),
            CType::Pointer { is_const, to } => match (&**to, is_const) {
                (CType::Pointer { .. }, false) => write!(f, "{to}*"),
                (CType::Pointer { .. }, true) => write!(f, "{to} const *"),
                (_, false) => write!(f, "{to} *"),
                (_, true) => write!(f, "const {to} *"),
            },
            CType::Array { of, len: Some(len) } => write!(f, "{of}[{len}]"),
            CType::Array { of, len: None } => write!(f, "{of}[]"),
            CType::Opaque { text } => f.write_str(text),
        }
    }
}

fn base(words: &[&str], keyword: Option<String>) -> Result<CType, String> {
    let primitive = |name: Primitive| Ok(CType::Primitive { name });
    match (words, &keyword) {
        ([], _) => Err("it names no type".into()),
        ([name], None) if *name == "void" => Ok(CType::Void),
        ([name], None) => match PRIMITIVES.iter().find(|(known, _)| known == name) {
            Some((_, known)) => primitive(*known),
            None if matches!(*name, "long" | "short" | "signed") => {
                Err(format!("`{name}` differs in size between systems; use a type such as `int64_t`"))
            }
            None => Ok(CType::Named { name: (*name).to_owned(), of: NamedKind::Unknown, keyword }),
        },
        ([name], Some(_)) => Ok(CType::Named { name: (*name).to_owned(), of: NamedKind::Unknown, keyword }),
        (["unsigned", "int"], None) => primitive(Primitive::Unsigned),
        (["signed", "int"], None) => primitive(Primitive::Int),
        _ => Err(format!("`{}` is not a single type", words.join(" "))),
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = if first.is_ascii_alphanumeric() || first == '_' {
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else if first.is_ascii_punctuation() {
            1
        } else {
            return Err(format!("`{first}` cannot be part of a type"));
        };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        CType::parse(text).map_or_else(|error| error.to_string(), |ty| ty.to_string())
    }

    #[test]
    fn types_are_read_whatever_their_spacing() {
        assert_eq!(shown("const void*"), "const void *");
        assert_eq!(shown("void const *"), "const void *");
        assert_eq!(shown("void  * *"), "void **");
        assert_eq!(shown("const void** "), "const void **");
        assert_eq!(shown("char *const *"), "char * const *");
        assert_eq!(shown("struct ol_dimensions_t"), "struct ol_dimensions_t");
        assert_eq!(shown("unsigned"), "unsigned");
        assert_eq!(shown("char[]"), "char[]");
        assert_eq!(shown("uint8_t [16]"), "uint8_t[16]");
        assert_eq!(shown("const size_t"), "size_t");
    }

    #[test]
    fn constness_belongs_to_what_is_pointed_to() {
        let Ok(CType::Pointer { is_const: false, to }) = CType::parse("const void**") else { panic!("no pointer") };
        assert_eq!(*to, CType::Pointer { is_const: true, to: Box::new(CType::Void) });
    }

    #[test]
    fn text_that_is_no_type_says_why() {
        for (text, part) in [
            ("", "names no type"),
            ("void (*)(int)", "callbacks"),
            ("long", "int64_t"),
            ("unsigned char", "not a single type"),
            ("volatile int", "volatile"),
            ("void[]", "elements"),
            ("int[x]", "not the length"),
            ("int[1][2]", "ends in"),
            ("ol_a_t;", "`;`"),
            ("é*", "`é`"),
        ] {
            let error = shown(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(shown(&"*".repeat(100_000)).contains("the limit"));
    }
}

//! Definitions that are made at run time, from the text of a function's types: for services that no Rust trait defines.
//!
//! The text is what stands in a `#[hostcall::service]` trait. It is split into the same tokens, so its hash is the
//! same, and a program that was compiled from the trait accepts the definition.

mod function;

use std::collections::HashMap;

use hostcall_abi::Header;
use hostcall_abi::codec::{VarHead, signature};

use super::definition::Definition;
pub use function::{Variable, VariableKind};

/// Why no definition was made.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The service has no name.
    #[error("a service needs a name, such as `Host__add42`")]
    EmptyName,
    /// A name is not an identifier, or for a service several joined by `__` or `::`.
    #[error("`{name}` is no name: use letters, digits and `_`, such as `Host__add42`")]
    BadName {
        /// The name.
        name: String,
    },
    /// A name or a type is not UTF-8.
    #[error("`{text}` is not UTF-8")]
    NotUtf8 {
        /// The text, with what is not UTF-8 replaced.
        text: String,
    },
    /// The text of a type is none.
    #[error("`{text}` is no type: expected {expected}")]
    Syntax {
        /// The text.
        text: String,
        /// What would have gone on.
        expected: &'static str,
    },
    /// A type is not known here.
    #[error(
        "the type `{name}` is not known: number types, `bool`, `char`, tuples, arrays, `Option` and `Result` are; declare a structure by `structure`"
    )]
    UnknownType {
        /// Its name.
        name: String,
    },
    /// An element of an array or a slice must be its bytes.
    #[error("`{text}` cannot be an element: only numbers, arrays of them, and structures are their bytes")]
    NotPlain {
        /// The element's type.
        text: String,
    },
    /// A string or slice where none may be.
    #[error("`{text}` can be an argument itself, not a result or a part of another type")]
    Misplaced {
        /// The type.
        text: String,
    },
    /// Bytes can only come back to a call that is waited for.
    #[error("a service with `&mut [T]` arguments needs a result: bytes can only come back to a call that is waited for")]
    PostedOut,
    /// A second result.
    #[error("the service has a result already; several values are a tuple")]
    SecondResult,
    /// The arguments or the result are more than one message can carry.
    #[error("{units} units of 4 bytes are more than one message carries: at most {max}; pass large data as a slice")]
    TooManyUnits {
        /// How many there are.
        units: usize,
        /// The most.
        max: usize,
    },
}

hostcall_error::readable!(DefinitionError);

/// Makes a [`Definition`] at run time. See [`Definition::builder`].
#[derive(Clone, Debug)]
#[must_use = "`build` makes the definition"]
pub struct DefinitionBuilder {
    name: Vec<u8>,
    structures: Vec<(Vec<u8>, usize)>,
    arguments: Vec<Vec<u8>>,
    results: Vec<Vec<u8>>,
}

impl Definition {
    /// The most units of fixed arguments: what a message of one lane can say that it has.
    pub const MOST_UNITS: usize = Header::MOST_UNITS;

    /// Begins a definition at run time. `name` is the one on the wire: for the function `add42` of the trait `Host` it
    /// is `Host__add42`.
    ///
    /// Types are written as in the trait, with the same names; only white space may differ. The definition is then
    /// equal to the trait's.
    ///
    /// ```
    /// use hostcall::Definition;
    ///
    /// #[hostcall::service]
    /// pub trait Host {
    ///     fn fill(block: u32, name: &str, out: &mut [u8]) -> Option<u64>;
    /// }
    ///
    /// # fn main() -> Result<(), hostcall::DefinitionError> {
    /// let made = Definition::builder("Host__fill").argument("u32").argument("&str").argument("&mut [u8]").result("Option<u64>").build()?;
    /// assert_eq!(made, host::definition::fill());
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(name: impl AsRef<[u8]>) -> DefinitionBuilder {
        DefinitionBuilder { name: name.as_ref().to_vec(), structures: Vec::new(), arguments: Vec::new(), results: Vec::new() }
    }
}

impl DefinitionBuilder {
    /// A structure under `#[derive(hostcall::Plain)]` of so many bytes, which the types may name.
    pub fn structure(mut self, name: impl AsRef<[u8]>, bytes: usize) -> Self {
        self.structures.push((name.as_ref().to_vec(), bytes));
        self
    }

    /// The next argument: `f32`, `Option<u64>`, `&str`, `&[u8]`, `&mut [f32]`, …
    pub fn argument(mut self, ty: impl AsRef<[u8]>) -> Self {
        self.arguments.push(ty.as_ref().to_vec());
        self
    }

    /// The result. Without one the service is posted.
    pub fn result(mut self, ty: impl AsRef<[u8]>) -> Self {
        self.results.push(ty.as_ref().to_vec());
        self
    }

    /// Sizes of the structures, by name.
    fn known_structures(&self) -> Result<HashMap<&str, usize>, DefinitionError> {
        let mut structures = HashMap::new();
        for (name, bytes) in &self.structures {
            let name = text(name)?;
            if !is_name(name) {
                return Err(DefinitionError::BadName { name: name.into() });
            }
            structures.insert(name, *bytes);
        }
        Ok(structures)
    }

    /// The definition.
    ///
    /// # Errors
    /// When a name or a type cannot be, or there is too much for a message: see [`DefinitionError`].
    pub fn build(self) -> Result<Definition, DefinitionError> {
        let name = text(&self.name)?;
        if name.is_empty() {
            return Err(DefinitionError::EmptyName);
        }
        if !is_name(name) {
            return Err(DefinitionError::BadName { name: name.into() });
        }
        let structures = self.known_structures()?;
        let (mut spoken, mut units) = (String::from("fn ("), Vec::new());
        let (mut takes_var, mut total) = (false, 0);
        let mut takes_out = false;
        for (i, argument) in self.arguments.iter().enumerate() {
            let argument = Type::parse(text(argument)?, &structures, true)?;
            let kind = argument.kind;
            takes_out |= matches!(kind, Kind::SliceMut { .. });
            takes_var |= !matches!(kind, Kind::Fixed { .. });
            total = usize::saturating_add(total, if let Kind::Fixed { units, .. } = kind { units } else { 1 });
            units.push(match kind {
                Kind::Fixed { units, .. } => units,
                Kind::Str => 1,
                Kind::Slice { element } | Kind::SliceMut { element } => element,
            });
            spoken += if i == 0 { " " } else { " , " };
            spoken += &argument.tokens;
        }
        spoken += " )";
        let mut reply_dwords = None;
        for result in &self.results {
            let result = Type::parse(text(result)?, &structures, false)?;
            let Kind::Fixed { units, .. } = result.kind else { return Err(DefinitionError::Misplaced { text: result.tokens }) };
            if reply_dwords.replace(units).is_some() {
                return Err(DefinitionError::SecondResult);
            }
            spoken += " - > ";
            spoken += &result.tokens;
        }
        if takes_out && reply_dwords.is_none() {
            return Err(DefinitionError::PostedOut);
        }
        let result = reply_dwords.unwrap_or(0);
        units.push(result);
        let head = if takes_var { VarHead::DWORDS } else { 0 };
        let most_result = if takes_var { VarHead::MOST_RESULT } else { Definition::MOST_UNITS };
        for (units, max) in [(total.saturating_add(head), Definition::MOST_UNITS), (result, most_result)] {
            if units > max {
                return Err(DefinitionError::TooManyUnits { units, max });
            }
        }
        let signature = signature(&spoken, &units);
        let text = tidy(&spoken).into();
        Ok(Definition { name: name.to_owned().into(), signature, text, takes_var, units: head + total, reply_dwords })
    }
}

fn text(bytes: &[u8]) -> Result<&str, DefinitionError> {
    std::str::from_utf8(bytes).map_err(|_| DefinitionError::NotUtf8 { text: String::from_utf8_lossy(bytes).into_owned() })
}

/// The tokens of a definition as people write it: `fn(&mut [u8]) -> u32`. The macro does the same.
fn tidy(spoken: &str) -> String {
    let text = spoken.replace("- >", "->");
    let (mut out, mut before) = (String::new(), "");
    for token in text.split(' ') {
        let opens = ["", "(", "[", "<", "&"].contains(&before);
        let tight = [")", "]", ">", ",", ";", "<"].contains(&token) || (before == "fn" && token == "(");
        if !(opens || tight) {
            out.push(' ');
        }
        out += token;
        before = token;
    }
    out
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric())
}

/// A type: its tokens, and how it travels.
struct Type {
    tokens: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// By value. `bytes`: its size, if it is its bytes.
    Fixed {
        units: usize,
        bytes: Option<usize>,
    },
    Str,
    /// Of elements of this size.
    Slice {
        element: usize,
    },
    SliceMut {
        element: usize,
    },
}

impl Type {
    /// Reads a type; as an argument it may be a string or slice.
    fn parse(text: &str, structures: &HashMap<&str, usize>, argument: bool) -> Result<Self, DefinitionError> {
        let tokens = tokens(text)?;
        let mut parser = Parser { text, tokens: &tokens, at: 0, structures, depth: 0 };
        let kind = if argument { parser.argument()? } else { parser.fixed()? };
        if parser.at < tokens.len() {
            return Err(parser.expected("the end"));
        }
        Ok(Self { tokens: tokens.join(" "), kind })
    }
}

/// The words, numbers and signs of a type.
fn tokens(text: &str) -> Result<Vec<&str>, DefinitionError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        if !word(first) && !"&[](),;<>".contains(first) {
            return Err(DefinitionError::Syntax { text: text.into(), expected: "a type, such as `u32`, `&[f32]` or `Option<u64>`" });
        }
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [&'a str],
    at: usize,
    structures: &'a HashMap<&'a str, usize>,
    depth: u32,
}

impl Parser<'_> {
    /// Types that are deeper are nobody's.
    const DEEPEST: u32 = 32;

    fn expected(&self, expected: &'static str) -> DefinitionError {
        DefinitionError::Syntax { text: self.text.into(), expected }
    }

    /// The next token is this one: goes on behind it.
    fn take(&mut self, token: &str) -> bool {
        let there = self.tokens.get(self.at) == Some(&token);
        self.at += usize::from(there);
        there
    }

    fn need(&mut self, token: &'static str) -> Result<(), DefinitionError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(token)) }
    }

    fn argument(&mut self) -> Result<Kind, DefinitionError> {
        if !self.take("&") {
            return self.fixed();
        }
        if self.take("str") {
            return Ok(Kind::Str);
        }
        let mutable = self.take("mut");
        self.need("[")?;
        let element = self.plain()?;
        self.need("]")?;
        Ok(if mutable { Kind::SliceMut { element } } else { Kind::Slice { element } })
    }

    /// The size of a type that is its bytes.
    fn plain(&mut self) -> Result<usize, DefinitionError> {
        let start = self.at;
        match self.fixed()? {
            Kind::Fixed { bytes: Some(bytes), .. } => Ok(bytes),
            _ => Err(DefinitionError::NotPlain { text: self.tokens[start..self.at].join(" ") }),
        }
    }

    /// Units of a type that travels by value.
    fn units(&mut self) -> Result<usize, DefinitionError> {
        match self.fixed()? {
            Kind::Fixed { units, .. } => Ok(units),
            _ => Err(self.expected("a type that is passed by value")),
        }
    }

    fn fixed(&mut self) -> Result<Kind, DefinitionError> {
        self.depth += 1;
        if self.depth > Self::DEEPEST {
            return Err(self.expected("a type that is less deep"));
        }
        let kind = self.one();
        self.depth -= 1;
        kind
    }

    fn one(&mut self) -> Result<Kind, DefinitionError> {
        let of_bytes = |bytes: usize| Kind::Fixed { units: bytes.div_ceil(4), bytes: Some(bytes) };
        let of_units = |units: usize| Kind::Fixed { units, bytes: None };
        if self.take("&") {
            return Err(DefinitionError::Misplaced { text: self.text.into() });
        }
        if self.take("(") {
            return self.tuple();
        }
        if self.take("[") {
            let element = self.plain()?;
            self.need(";")?;
            let count =
                self.tokens.get(self.at).and_then(|token| token.parse::<usize>().ok()).ok_or(self.expected("a number of elements"))?;
            self.at += 1;
            self.need("]")?;
            let bytes = element.saturating_mul(count);
            return Ok(of_bytes(bytes));
        }
        let name = *self.tokens.get(self.at).filter(|token| is_name(token)).ok_or(self.expected("a type"))?;
        self.at += 1;
        Ok(match name {
            "u8" | "i8" => of_bytes(1),
            "u16" | "i16" => of_bytes(2),
            "u32" | "i32" | "f32" => of_bytes(4),
            "u64" | "i64" | "f64" | "usize" | "isize" => of_bytes(8),
            "u128" | "i128" => of_bytes(16),
            "bool" | "char" => of_units(1),
            "str" => return Err(DefinitionError::Misplaced { text: self.text.into() }),
            "Option" => {
                self.need("<")?;
                let units = self.units()?;
                self.need(">")?;
                of_units(units.saturating_add(1))
            }
            "Result" => {
                self.need("<")?;
                let value = self.units()?;
                self.need(",")?;
                let error = self.units()?;
                self.need(">")?;
                of_units(value.max(error).saturating_add(1))
            }
            name => match self.structures.get(name) {
                Some(&bytes) => of_bytes(bytes),
                None => return Err(DefinitionError::UnknownType { name: name.into() }),
            },
        })
    }

    /// Behind its opening parenthesis: a tuple, or one type in parentheses.
    fn tuple(&mut self) -> Result<Kind, DefinitionError> {
        let (mut units, mut members) = (0usize, 0);
        while !self.take(")") {
            let member = self.fixed()?;
            if members == 0 && self.take(")") {
                return Ok(member);
            }
            let Kind::Fixed { units: more, .. } = member else { return Err(self.expected("a type that is passed by value")) };
            (units, members) = (units.saturating_add(more), members + 1);
            if members > 8 {
                return Err(self.expected("a tuple of at most 8"));
            }
            if !self.take(",") {
                self.need(")")?;
                break;
            }
        }
        Ok(Kind::Fixed { units, bytes: None })
    }
}

#[cfg(test)]
mod tests;

//! The intermediate representation: an API as data.
//!
//! What a back end needs is said here outright, so that no back end reads C text or TableGen values: C types are trees
//! ([`CType`]), conditions are expression trees ([`Expr`]), every enumerator has its number. The same structure is the
//! JSON that `--gen-json` writes; its schema (`--gen-json-schema`) is made from these types, and the documentation of
//! each field is its description there.
//!
//! Objects stand in the order in which LLVM's back ends see records ([`tablegen::compare_names`]): by name, where runs
//! of digits are numbers. [`Api::link`] finds out what the names in types mean; a loader calls it last.

mod ctype;
mod name;
mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::condition::Expr;
pub use ctype::{CType, CTypeError, NamedKind, Primitive};
pub use name::{pascal_case, snake_case};
pub use resolve::{Named, UnknownType};

/// Version of the JSON format. It grows when a field changes its meaning or disappears; new fields do not change it.
pub const FORMAT: u32 = 1;

/// A whole API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Api {
    /// Version of this format, [`FORMAT`].
    pub format: u32,
    /// File name (without folders) of the definition that this was made from.
    pub source: String,
    /// The version of LLVM whose API this is, if the definition says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llvm: Option<u32>,
    /// What every macro and enumerator begins with, without the underscore: `OL`.
    pub prefix: String,
    /// Preprocessor macros.
    pub macros: Vec<Macro>,
    /// Opaque handles.
    pub handles: Vec<Handle>,
    /// Enumerations.
    pub enums: Vec<Enum>,
    /// Plain type definitions.
    pub typedefs: Vec<Typedef>,
    /// Types of functions that users pass in.
    pub callbacks: Vec<Callback>,
    /// Structures.
    pub structs: Vec<Struct>,
    /// Entry points.
    pub functions: Vec<Function>,
}

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// File, as it was named on the command line or in an `include`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A preprocessor macro.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Macro {
    /// Name, with its parameters in parentheses if it has any.
    pub name: String,
    /// What it is for.
    pub desc: String,
    /// Replacement text.
    pub value: String,
    /// Preprocessor condition under which `value` holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Replacement text where `condition` does not hold. Without it, the macro is not defined there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt_value: Option<String>,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A handle: a pointer to a structure that only the library knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handle {
    /// Name; ends in `_handle_t`.
    pub name: String,
    /// What it stands for.
    pub desc: String,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// An enumeration. All are 32 bits wide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enum {
    /// Name; ends in `_t`.
    pub name: String,
    /// What it chooses.
    pub desc: String,
    /// What its enumerators begin with, without the last underscore: `OL_DEVICE_INFO`.
    pub prefix: String,
    /// Whether the enumerators are bits to be combined.
    pub is_bit_field: bool,
    /// Whether the enumerators say what type a value has.
    pub is_typed: bool,
    /// Whether a compiler is to warn when a value of it is dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodiscard: bool,
    /// The enumerators, in order of definition.
    pub etors: Vec<Enumerator>,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

impl Enum {
    /// The number that an enumerator after the last one would have; it is that of `…_LAST`.
    pub fn next_value(&self) -> u32 {
        match self.etors.last() {
            None => u32::from(self.is_bit_field),
            Some(last) if self.is_bit_field => last.value << 1,
            Some(last) => last.value.wrapping_add(1),
        }
    }
}

/// One value of an enumeration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enumerator {
    /// Name as it is written in the definition: `TYPE`.
    pub name: String,
    /// Name in C: `OL_DEVICE_INFO_TYPE`.
    pub c_name: String,
    /// Number.
    pub value: u32,
    /// What it means.
    pub desc: String,
    /// Type of the value that it selects, if the enumeration is typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagged_type: Option<Type>,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// Another name for a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Typedef {
    /// Name.
    pub name: String,
    /// What it is for.
    pub desc: String,
    /// The type it stands for.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// The type of a function that users pass in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Callback {
    /// Name; ends in `_cb_t`.
    pub name: String,
    /// When it is called.
    pub desc: String,
    /// What it is given.
    pub params: Vec<Param>,
    /// What it returns.
    #[serde(rename = "return")]
    pub ret: Type,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Struct {
    /// Name; ends in `_t`.
    pub name: String,
    /// What it holds.
    pub desc: String,
    /// The structure whose members it begins with, if any; they are part of `members` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_class: Option<String>,
    /// All members, in order.
    pub members: Vec<Member>,
    /// Whether a compiler is to warn when a value of it is dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodiscard: bool,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Name.
    pub name: String,
    /// What it holds.
    pub desc: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// An entry point. Its result is always the type named `<prefix>_result_t`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Name: `olGetDeviceInfo`.
    pub name: String,
    /// What it does, in a sentence.
    pub desc: String,
    /// What else is to be known, one point each.
    pub details: Vec<String>,
    /// Functions of other APIs that do the same.
    pub analogues: Vec<String>,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// Results and when they are returned: those that all functions have, those declared, and those that follow from
    /// the parameters.
    pub returns: Vec<Return>,
    /// Whether a compiler is to warn when the result is dropped.
    pub nodiscard: bool,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// A parameter of a function or callback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Name.
    pub name: String,
    /// What it is.
    pub desc: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Whether the function reads it.
    pub is_in: bool,
    /// Whether the function writes what it points to.
    pub is_out: bool,
    /// Whether it may be null.
    pub is_optional: bool,
    /// For a pointer to several elements: how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// For a pointer whose pointee's type depends on other parameters: which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_tag: Option<TypeTag>,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// The elements that a pointer points to: those from `begin` up to and without `end`. Each is a number or the name of a
/// parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Index of the first.
    pub begin: String,
    /// Index after the last.
    pub end: String,
}

/// Which parameters say what a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeTag {
    /// The parameter that is an enumerator of a typed enumeration.
    #[serde(rename = "enum")]
    pub tag: String,
    /// The parameter that is the number of bytes.
    pub size: String,
}

/// A result, and when it is returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Return {
    /// Enumerator's name in C, or the prefix followed by `_RESULT_SUCCESS` or `_SUCCESS`.
    pub value: String,
    /// When it is returned. Not all of them can be checked from outside.
    pub conditions: Vec<Condition>,
    /// Who said so.
    pub origin: ReturnOrigin,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// Where a [`Return`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReturnOrigin {
    /// Every function has it.
    Default,
    /// The function's definition says it (null checks may have been added to its conditions).
    Declared,
    /// It follows from a parameter that must not be null.
    Implied,
}

/// When a result is returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The condition as written, backticks included.
    pub text: String,
    /// Whether it is meant to be code: whether it begins and ends with a backtick and has no other.
    pub is_code: bool,
    /// The expression, if it is code that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expr: Option<Expr>,
}

impl Condition {
    /// Reads a condition. Code that cannot be read keeps its text and has no expression; [`crate::condition::parse`]
    /// says why.
    pub fn new(text: impl Into<String>) -> Condition {
        let text = text.into();
        let code = Condition::code_of(&text);
        let expr = code.and_then(|code| crate::condition::parse(code).ok());
        Condition { is_code: code.is_some(), expr, text }
    }

    /// The code between the backticks, if the condition is code.
    pub fn code(&self) -> Option<&str> {
        Condition::code_of(&self.text)
    }

    fn code_of(text: &str) -> Option<&str> {
        text.strip_prefix('`')?.strip_suffix('`').filter(|code| !code.contains('`'))
    }
}

/// A type where it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Type {
    /// C text as written in the definition.
    pub text: String,
    /// What it says. The kind `opaque` is text that is not a type this program knows; the lints report it.
    pub form: CType,
}

impl Type {
    /// Reads a type. Text that cannot be read becomes [`CType::Opaque`]; [`CType::parse`] says why.
    pub fn new(text: impl Into<String>) -> Type {
        let text = text.into();
        let form = CType::parse(&text).unwrap_or_else(|_| CType::Opaque { text: text.clone() });
        Type { text, form }
    }
}

//! Definitions with their types worked out: what bindings are written from.

use std::sync::Arc;

use hostcall_abi::codec::{VarHead, signature};
use hostcall_abi::stream::Policy;

/// Everything that files define and a binding needs.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// The structs that services use, each behind those that it contains.
    pub structures: Vec<Arc<Structure>>,
    /// The services, in the order of the files.
    pub services: Vec<Service>,
    /// Streams whose messages are structs, if they were asked for.
    pub streams: Vec<Stream>,
    /// Streams of bytes and of text, if they were asked for.
    pub byte_streams: Vec<ByteStream>,
    /// Names of other streams, and what they are.
    pub other_streams: Vec<(String, String)>,
}

/// A `#[hostcall::stream]` struct.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its messages.
    pub structure: Arc<Structure>,
    /// What a message does when its ring is full, unless the host says otherwise.
    pub policy: Policy,
    /// Names and types of its fields, as messages say them.
    pub fields: Vec<[String; 2]>,
    /// The signature: the hash that the macro's expansion contains.
    pub signature: u64,
}

/// A `#[hostcall::stream(bytes)]` or `(text)` struct.
#[derive(Clone, Debug)]
pub struct ByteStream {
    /// Its name.
    pub name: String,
    /// Lines of its documentation.
    pub doc: Vec<String>,
    /// Whether its messages are text.
    pub is_text: bool,
    /// As of [`Stream`].
    pub policy: Policy,
    /// As of [`Stream`].
    pub signature: u64,
}

/// A `#[hostcall::service]` trait.
#[derive(Clone, Debug)]
pub struct Service {
    /// The trait's name.
    pub name: String,
    /// Lines of its documentation.
    pub doc: Vec<String>,
    /// `on_error = "panic"`: its stubs return the bare result.
    pub panics: bool,
    /// Its functions, in order.
    pub functions: Vec<Function>,
}

/// A function of a service.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its name on the wire: `Trait__function`.
    pub wire_name: String,
    /// Lines of its documentation.
    pub doc: Vec<String>,
    /// Its types as they are hashed.
    pub normalised: String,
    /// Its types as people write them.
    pub text: String,
    /// Its arguments, in order.
    pub arguments: Vec<Argument>,
    /// Its result; `None` if it is posted.
    pub result: Option<Type>,
    /// The signature: the hash that the macros' expansions contain.
    pub signature: u64,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// How it travels.
    pub kind: Kind,
}

/// How an argument travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By value.
    Fixed(Type),
    /// `&str`.
    Str,
    /// `&[T]`.
    Slice(Type),
    /// `&mut [T]`.
    SliceMut(Type),
}

/// A type of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `()`.
    Unit,
    /// A number.
    Number(Number),
    /// `bool`.
    Bool,
    /// `char`.
    Char,
    /// `[T; N]` of a plain type, with `N` of at least 1.
    Array(Box<Type>, usize),
    /// A tuple of 1 to 8 types.
    Tuple(Vec<Type>),
    /// `Option<T>`.
    Option(Box<Type>),
    /// `Result<T, E>`.
    Result(Box<Type>, Box<Type>),
    /// A struct under `#[derive(Plain)]`.
    Structure(Arc<Structure>),
}

/// A type of numbers.
#[expect(missing_docs, reason = "named as in Rust")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    F32,
    F64,
}

/// A struct under `#[derive(Plain)]`. It has no padding: its size is the sum of its fields' sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// Lines of its documentation.
    pub doc: Vec<String>,
    /// Its fields, in order; at least one.
    pub fields: Vec<Field>,
    /// Its size, in bytes.
    pub bytes: usize,
    /// Its alignment, in bytes.
    pub align: usize,
    /// `#[repr(packed)]`: fields may lie at any place.
    pub packed: bool,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; `_0`, `_1`, … if it has none.
    pub name: String,
    /// Lines of its documentation.
    pub doc: Vec<String>,
    /// Its type, which is plain.
    pub ty: Type,
    /// Where it begins in the struct, in bytes.
    pub offset: usize,
}

impl Function {
    /// Whether it takes strings or slices.
    pub fn takes_var(&self) -> bool {
        self.arguments.iter().any(|argument| !matches!(argument.kind, Kind::Fixed(_)))
    }

    /// 32-bit units of a request before its variable bytes: `hostcall::Definition::units`.
    pub fn units(&self) -> usize {
        self.placed().last().map_or(self.head_units(), |(_, end)| end)
    }

    /// 32-bit units of the result; `None` if it is posted.
    pub fn reply_units(&self) -> Option<usize> {
        self.result.as_ref().map(Type::units)
    }

    /// Each argument with the units of the request that it takes: the first one, and the one behind.
    pub fn placed(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut at = self.head_units();
        self.arguments.iter().map(move |argument| {
            let start = at;
            at = usize::saturating_add(at, argument.kind.units());
            (start, at)
        })
    }

    fn head_units(&self) -> usize {
        if self.takes_var() { VarHead::DWORDS } else { 0 }
    }

    /// Fills in the hash of the text and of `measures`, which are the numbers of
    /// [`hostcall_idl::Function::measures`](crate::Function::measures).
    pub(crate) fn sign(&mut self, measures: &[usize]) {
        self.signature = signature(&self.normalised, measures);
    }
}

impl Kind {
    /// 32-bit units that it takes in a request: its own, or one for the length.
    pub fn units(&self) -> usize {
        match self {
            Self::Fixed(ty) => ty.units(),
            Self::Str | Self::Slice(_) | Self::SliceMut(_) => 1,
        }
    }
}

impl Type {
    /// 32-bit units of a value: `Fixed::DWORDS`.
    pub fn units(&self) -> usize {
        match self {
            Self::Unit => 0,
            Self::Bool | Self::Char => 1,
            Self::Number(_) | Self::Array(..) | Self::Structure(_) => self.bytes().unwrap_or(0).div_ceil(4),
            Self::Tuple(types) => types.iter().map(Self::units).fold(0, usize::saturating_add),
            Self::Option(value) => value.units().saturating_add(1),
            Self::Result(value, error) => value.units().max(error.units()).saturating_add(1),
        }
    }

    /// Size of a plain type, in bytes; `None` for types that are not their bytes.
    pub fn bytes(&self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(number.bytes()),
            Self::Array(element, count) => element.bytes().map(|bytes| bytes.saturating_mul(*count)),
            Self::Structure(structure) => Some(structure.bytes),
            Self::Unit | Self::Bool | Self::Char | Self::Tuple(_) | Self::Option(_) | Self::Result(..) => None,
        }
    }

    /// Alignment of a plain type, in bytes; `None` for types that are not their bytes.
    pub fn align(&self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(number.bytes()),
            Self::Array(element, _) => element.align(),
            Self::Structure(structure) => Some(structure.align),
            Self::Unit | Self::Bool | Self::Char | Self::Tuple(_) | Self::Option(_) | Self::Result(..) => None,
        }
    }
}

impl Number {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
        Self::Usize,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
        Self::Isize,
        Self::F32,
        Self::F64,
    ];

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::Usize => "usize",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::Isize => "isize",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Its size, and its alignment, in bytes. Addresses have 64 bits on every device and host.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::Usize | Self::Isize | Self::F64 => 8,
            Self::U128 | Self::I128 => 16,
        }
    }
}

//! Values of fields, as programs read them.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::node::{Kind, Node, Slice};
use crate::records::RecordId;
use crate::ty::{Ty, TyKind};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bit`
    Bit,
    /// `bits<n>`
    Bits(u32),
    /// `int`
    Int,
    /// `string`, and `code`
    String,
    /// `dag`
    Dag,
    /// `list<…>`
    List(Box<Type>),
    /// A record of all these classes, sorted by name; none: any record.
    Record(Vec<Arc<str>>),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bit => f.write_str("bit"),
            Type::Bits(width) => write!(f, "bits<{width}>"),
            Type::Int => f.write_str("int"),
            Type::String => f.write_str("string"),
            Type::Dag => f.write_str("dag"),
            Type::List(element) => write!(f, "list<{element}>"),
            Type::Record(classes) => match &classes[..] {
                [class] => f.write_str(class),
                _ => write!(f, "{{{}}}", classes.join(", ")),
            },
        }
    }
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// `?`
    Unset,
    /// A bit.
    Bit(bool),
    /// Bits, the lowest first: each `Bit`, `Unset` or `Unresolved`.
    Bits(Vec<Value>),
    /// A number.
    Int(i64),
    /// A text.
    String(Arc<str>),
    /// A text that was written as `[{code}]`.
    Code(Arc<str>),
    /// A string that is no UTF-8, of bytes. Only cutting a character in two (`!substr`) makes such.
    Bytes(Arc<[u8]>),
    /// A list.
    List {
        /// Type of the elements.
        element: Type,
        /// The elements.
        items: Vec<Value>,
    },
    /// A dag.
    Dag(Box<Dag>),
    /// A reference to a definition.
    Record(RecordId),
    /// An expression that could not be evaluated (only in fields declared with `field`), as it is written.
    Unresolved(Arc<str>),
}

/// `(operator:$name argument:$name, …)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dag {
    /// Mostly a record.
    pub operator: Value,
    /// The name of the operator.
    pub name: Option<Arc<str>>,
    /// The arguments.
    pub args: Vec<DagArg>,
}

/// One argument of a [`Dag`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DagArg {
    /// Its value.
    pub value: Value,
    /// Its name, without the `$`. What is no UTF-8 is replaced.
    pub name: Option<Arc<str>>,
}

impl Value {
    /// What kind of value it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Unset => "unset",
            Value::Bit(_) => "bit",
            Value::Bits(_) => "bits",
            Value::Int(_) => "int",
            Value::String(_) => "string",
            Value::Code(_) => "code",
            Value::Bytes(_) => "bytes that are no UTF-8",
            Value::List { .. } => "list",
            Value::Dag(_) => "dag",
            Value::Record(_) => "record",
            Value::Unresolved(_) => "unresolved expression",
        }
    }

    /// The text of a string or of code; `None` for [`Value::Bytes`].
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::Code(text) => Some(text),
            _ => None,
        }
    }

    /// The number that an `int`, a `bit` or `bits` without open bits is.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bit(bit) => Some(i64::from(*bit)),
            Value::Bits(bits) => {
                let mut value = 0;
                for (i, bit) in bits.iter().enumerate() {
                    let Value::Bit(bit) = bit else { return None };
                    if i < 64 {
                        value |= i64::from(*bit) << i;
                    }
                }
                Some(value)
            }
            _ => None,
        }
    }

    /// The elements of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List { items, .. } = self { Some(items) } else { None }
    }

    /// The record that it refers to.
    #[must_use]
    pub fn as_record(&self) -> Option<RecordId> {
        if let Value::Record(id) = self { Some(*id) } else { None }
    }
}

fn public_text(text: &[u8], of: impl Fn(Arc<str>) -> Value) -> Value {
    std::str::from_utf8(text).map_or_else(|_| Value::Bytes(text.into()), |text| of(text.into()))
}

impl Context {
    pub(crate) fn public_type(&self, ty: Ty) -> Type {
        match self.types.kind(ty) {
            TyKind::Bit => Type::Bit,
            TyKind::Int => Type::Int,
            TyKind::String => Type::String,
            TyKind::Dag => Type::Dag,
            TyKind::Bits(width) => Type::Bits(*width),
            TyKind::List(element) => Type::List(Box::new(self.public_type(*element))),
            TyKind::Record(classes) => Type::Record(classes.iter().map(|&class| self.record_name(class).into()).collect()),
            // Nothing that is stored has no type.
            TyKind::None => Type::Record(Vec::new()),
        }
    }

    fn public_items(&self, items: Slice) -> Vec<Value> {
        self.nodes.items(items).iter().map(|&item| self.public_value(item)).collect()
    }

    pub(crate) fn public_value(&self, node: Node) -> Value {
        let name = |node: Node| self.text_of(node).map(|text| Arc::from(String::from_utf8_lossy(text)));
        match self.kind(node) {
            Kind::Unset => Value::Unset,
            Kind::Bit(bit) => Value::Bit(bit),
            Kind::Int(value) => Value::Int(value),
            Kind::Str(symbol) => public_text(self.symbols.get(symbol), Value::String),
            Kind::Code(symbol) => public_text(self.symbols.get(symbol), Value::Code),
            Kind::Bits(items) => Value::Bits(self.public_items(items)),
            Kind::List(items) => Value::List {
                element: self.types.element(self.ty(node)).map_or(Type::Record(Vec::new()), |element| self.public_type(element)),
                items: self.public_items(items),
            },
            Kind::Def(record) => Value::Record(RecordId(record)),
            Kind::Dag { operator, name: own, args, names } => Value::Dag(Box::new(Dag {
                operator: self.public_value(operator),
                name: name(own),
                args: self
                    .nodes
                    .items(args)
                    .iter()
                    .zip(self.nodes.items(names))
                    .map(|(&arg, &own)| DagArg { value: self.public_value(arg), name: name(own) })
                    .collect(),
            })),
            _ => Value::Unresolved(self.text(node).into()),
        }
    }
}

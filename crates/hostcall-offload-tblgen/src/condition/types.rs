//! What kind of value each part of a condition is.

use super::{BinaryOp, Expr, UnaryOp};
use crate::ir::{Api, CType, Function, Named, Primitive};

/// What a condition may speak of: a function's parameters, and the API's enumerators and numeric macros.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The API.
    pub api: &'a Api,
    /// The function.
    pub function: &'a Function,
}

/// The kind of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// An integer.
    Integer,
    /// A value of an enumeration, which is an integer.
    Enum,
    /// A pointer or handle; what it points to, as far as that is known.
    Pointer(Option<CType>),
    /// A callback.
    Callback,
    /// A structure of that name.
    Struct(String),
    /// `NULL` itself.
    Null,
}

/// Why an expression means nothing.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}, in `{at}`")]
pub struct TypeError {
    /// What is wrong.
    pub message: String,
    /// The part of the condition.
    pub at: String,
}

hostcall_error::readable!(TypeError);

impl Kind {
    /// Whether it is null or points somewhere.
    pub fn is_nullable(&self) -> bool {
        matches!(self, Kind::Pointer(_) | Kind::Callback | Kind::Null)
    }

    /// Whether one can calculate with it. Truth values count as 0 and 1, as in C.
    pub fn is_number(&self) -> bool {
        matches!(self, Kind::Bool | Kind::Integer | Kind::Enum)
    }
}

impl<'a> Scope<'a> {
    /// The kind of an expression.
    ///
    /// # Errors
    ///
    /// Names that are neither parameters nor constants, and operators on what they are not for.
    pub fn kind(&self, expr: &Expr) -> Result<Kind, TypeError> {
        let fail = |message: String| Err(TypeError { message, at: expr.to_string() });
        match expr {
            Expr::Int { .. } => Ok(Kind::Integer),
            Expr::Bool { .. } => Ok(Kind::Bool),
            Expr::Null => Ok(Kind::Null),
            Expr::Name { name } => self.name(name),
            Expr::SizeOf { ty } => self.size_of(ty),
            Expr::Member { of, member, through_pointer } => {
                let name = match (self.kind(of)?, through_pointer) {
                    (Kind::Struct(name), false) => name,
                    (Kind::Pointer(Some(CType::Named { name, .. })), true) => name,
                    (Kind::Struct(_), true) => return fail(format!("`{of}` is a structure; use `.`")),
                    (Kind::Pointer(_), false) => return fail(format!("`{of}` is a pointer; use `->`")),
                    _ => return fail(format!("`{of}` is not a structure")),
                };
                let Some(Named::Struct(object)) = self.api.named(&name) else { return fail(format!("`{name}` has no members")) };
                match object.members.iter().find(|known| known.name == *member) {
                    Some(found) => self.kind_of(&found.ty.form),
                    None => fail(format!("`{name}` has no member `{member}`")),
                }
            }
            Expr::Deref { pointer } => match self.kind(pointer)? {
                Kind::Pointer(Some(to)) if to != CType::Void => self.kind_of(&to),
                _ => fail(format!("`{pointer}` points to nothing that can be read")),
            },
            Expr::Unary { op: UnaryOp::Not, operand } => match self.kind(operand)? {
                Kind::Struct(_) => fail("a structure is neither true nor false".into()),
                _ => Ok(Kind::Bool),
            },
            Expr::Unary { op, operand } => match self.kind(operand)? {
                kind if kind.is_number() => Ok(Kind::Integer),
                _ => fail(format!("`{}` needs a number", op.symbol())),
            },
            Expr::Binary { op, left, right } => {
                let (a, b) = (self.kind(left)?, self.kind(right)?);
                if op.is_logical() {
                    return if matches!(a, Kind::Struct(_)) || matches!(b, Kind::Struct(_)) {
                        fail("a structure is neither true nor false".into())
                    } else {
                        Ok(Kind::Bool)
                    };
                }
                let null_check = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) && a.is_nullable() && b.is_nullable();
                match (op.is_comparison(), a.is_number() && b.is_number()) {
                    (true, true) => Ok(Kind::Bool),
                    (false, true) => Ok(Kind::Integer),
                    (true, false)
                        if null_check && !matches!((&a, &b), (Kind::Callback, Kind::Pointer(_)) | (Kind::Pointer(_), Kind::Callback)) =>
                    {
                        Ok(Kind::Bool)
                    }
                    _ if a.is_nullable() != b.is_nullable() => {
                        fail(format!("`{}` between a pointer and something else; compare pointers with `NULL`", op.symbol()))
                    }
                    _ => fail(format!("`{}` is not defined for these operands", op.symbol())),
                }
            }
        }
    }

    /// The number behind a constant's name.
    pub fn constant(&self, name: &str) -> Option<u64> {
        if let Some((_, etor)) = self.api.enumerator(name) {
            return Some(etor.value.into());
        }
        let object = self.api.macros.iter().find(|object| object.name == name && object.condition.is_none())?;
        match super::parse(&object.value) {
            Ok(Expr::Int { value }) => Some(value),
            _ => None,
        }
    }

    fn name(&self, name: &str) -> Result<Kind, TypeError> {
        if let Some(param) = self.function.params.iter().find(|param| param.name == name) {
            return self.kind_of(&param.ty.form);
        }
        if self.api.enumerator(name).is_some() {
            return Ok(Kind::Enum);
        }
        if self.constant(name).is_some() {
            return Ok(Kind::Integer);
        }
        let params: Vec<_> = self.function.params.iter().map(|param| param.name.as_str()).collect();
        let known = if params.is_empty() { "it has no parameters".to_owned() } else { format!("its parameters are {}", params.join(", ")) };
        let message = format!("`{name}` is neither a parameter of {} nor an enumerator or a numeric macro; {known}", self.function.name);
        Err(TypeError { message, at: name.to_owned() })
    }

    fn size_of(&self, text: &str) -> Result<Kind, TypeError> {
        let fail = |message: String| Err(TypeError { message, at: format!("sizeof({text})") });
        match CType::parse(text) {
            Err(error) => fail(error.to_string()),
            Ok(CType::Void | CType::Array { len: None, .. } | CType::Opaque { .. }) => fail("this type has no size".into()),
            Ok(CType::Named { name, .. }) if self.api.named(&name).is_none() => fail(format!("unknown type `{name}`")),
            Ok(_) => Ok(Kind::Integer),
        }
    }

    /// The kind of the values of a type.
    ///
    /// # Errors
    ///
    /// Types that a condition cannot speak of: floating point, arrays, unknown names.
    pub fn kind_of(&self, ty: &CType) -> Result<Kind, TypeError> {
        match self.api.underlying(ty) {
            CType::Primitive { name: Primitive::Bool } => Ok(Kind::Bool),
            CType::Primitive { name: Primitive::Float | Primitive::Double } => {
                Err(TypeError { message: "conditions are over integers, not floating point".into(), at: ty.to_string() })
            }
            CType::Primitive { .. } => Ok(Kind::Integer),
            CType::Pointer { to, .. } => Ok(Kind::Pointer(Some((**to).clone()))),
            CType::Named { name, .. } => match self.api.named(name) {
                Some(Named::Handle(_)) => Ok(Kind::Pointer(None)),
                Some(Named::Enum(_)) => Ok(Kind::Enum),
                Some(Named::Callback(_)) => Ok(Kind::Callback),
                Some(Named::Struct(object)) => Ok(Kind::Struct(object.name.clone())),
                Some(Named::Typedef(_)) | None => Err(TypeError { message: format!("unknown type `{name}`"), at: ty.to_string() }),
            },
            CType::Void | CType::Array { .. } | CType::Opaque { .. } => {
                Err(TypeError { message: "a condition cannot speak of a value of this type".into(), at: ty.to_string() })
            }
        }
    }
}

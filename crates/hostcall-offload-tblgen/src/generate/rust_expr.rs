//! Conditions in Rust.
//!
//! Numbers are `i128` (`check::Number`), so that nothing wraps around and every comparison is between numbers of one
//! type.

use super::GenError;
use super::rust::{rust_name, rust_type};
use super::rust_sys::member_name;
use crate::condition::{BinaryOp, Expr, Kind, Scope, UnaryOp};
use crate::ir::CType;

/// An expression that is true or false.
pub(super) fn truth(scope: Scope<'_>, expr: &Expr) -> Result<String, GenError> {
    Ok(match expr {
        Expr::Bool { value } => value.to_string(),
        Expr::Null => "false".into(),
        Expr::Unary { op: UnaryOp::Not, operand } => match kind(scope, operand)? {
            Kind::Bool => format!("!{}", operand_text(operand, truth(scope, operand)?)),
            Kind::Callback => format!("{}.is_none()", plain(scope, operand)?),
            kind if kind.is_nullable() => format!("{}.is_null()", plain(scope, operand)?),
            _ => format!("{} == 0", number(scope, operand)?),
        },
        Expr::Binary { op: BinaryOp::Equal | BinaryOp::NotEqual, left, right } => {
            let not = matches!(expr, Expr::Binary { op: BinaryOp::NotEqual, .. });
            let symbol = if not { "!=" } else { "==" };
            match (kind(scope, left)?, kind(scope, right)?) {
                (Kind::Bool, Kind::Bool) => {
                    format!("{} {symbol} {}", operand_text(left, truth(scope, left)?), operand_text(right, truth(scope, right)?))
                }
                (a, b) if a.is_number() && b.is_number() => format!("{} {symbol} {}", number(scope, left)?, number(scope, right)?),
                (Kind::Null, Kind::Null) => (!not).to_string(),
                (Kind::Null, other) => null_test(&other, plain(scope, right)?, not),
                (other, Kind::Null) => null_test(&other, plain(scope, left)?, not),
                (Kind::Callback, _) => return unsupported(scope, expr, "callbacks can be compared with `NULL` only"),
                _ => format!("{}.addr() {symbol} {}.addr()", plain(scope, left)?, plain(scope, right)?),
            }
        }
        Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
            format!("{} {} {}", operand_text(left, truth(scope, left)?), op.symbol(), operand_text(right, truth(scope, right)?))
        }
        Expr::Binary { op, left, right } if op.is_comparison() => {
            if kind(scope, left)?.is_nullable() {
                return unsupported(scope, expr, "pointers can be compared for equality only");
            }
            format!("{} {} {}", number(scope, left)?, op.symbol(), number(scope, right)?)
        }
        other => match kind(scope, other)? {
            Kind::Bool => plain(scope, other)?,
            Kind::Callback => format!("{}.is_some()", plain(scope, other)?),
            kind if kind.is_nullable() => format!("!{}.is_null()", plain(scope, other)?),
            _ => format!("{} != 0", number(scope, other)?),
        },
    })
}

fn null_test(kind: &Kind, text: String, not: bool) -> String {
    match (kind, not) {
        (Kind::Callback, false) => format!("{text}.is_none()"),
        (Kind::Callback, true) => format!("{text}.is_some()"),
        (_, false) => format!("{text}.is_null()"),
        (_, true) => format!("!{text}.is_null()"),
    }
}

/// An expression that is a number. What it writes binds tighter than every operator.
pub(super) fn number(scope: Scope<'_>, expr: &Expr) -> Result<String, GenError> {
    Ok(match expr {
        Expr::Int { value } => format!("{value}_i128"),
        Expr::SizeOf { ty } => {
            let parsed = CType::parse(ty)
                .map_err(|error| GenError::Unsupported { place: scope.function.name.clone(), reason: error.to_string() })?;
            format!("size_of::<{}>().number()", size_type(scope, &parsed)?)
        }
        Expr::Name { name } if !is_param(scope, name) => match scope.api.enumerator(name) {
            Some((object, _)) => format!("{}::{name}.0.number()", object.name),
            None => format!("{}_i128", scope.constant(name).unwrap_or(0)),
        },
        Expr::Unary { op: UnaryOp::Negate, operand } => format!("{}.saturating_neg()", number(scope, operand)?),
        Expr::Unary { op: UnaryOp::Complement, operand } => format!("(!{})", number(scope, operand)?),
        Expr::Binary { op, left, right } if !op.is_comparison() && !op.is_logical() => {
            let (left, right) = (number(scope, left)?, number(scope, right)?);
            match op {
                BinaryOp::Add => format!("{left}.saturating_add({right})"),
                BinaryOp::Subtract => format!("{left}.saturating_sub({right})"),
                BinaryOp::Multiply => format!("{left}.saturating_mul({right})"),
                BinaryOp::Divide => format!("check::quotient({left}, {right})"),
                BinaryOp::Remainder => format!("check::remainder({left}, {right})"),
                BinaryOp::ShiftLeft => format!("check::shift_left({left}, {right})"),
                BinaryOp::ShiftRight => format!("check::shift_right({left}, {right})"),
                _ => format!("({left} {} {right})", op.symbol()),
            }
        }
        other => match kind(scope, other)? {
            Kind::Bool => format!("({}).number()", truth(scope, other)?),
            Kind::Enum => format!("{}.0.number()", plain(scope, other)?),
            _ => format!("{}.number()", plain(scope, other)?),
        },
    })
}

/// The type in a `sizeof`, which is read before names are looked up; that it has a size has been checked.
fn size_type(scope: Scope<'_>, ty: &CType) -> Result<String, GenError> {
    match ty {
        CType::Named { name, .. } => Ok(name.clone()),
        CType::Array { of, len: Some(len) } => Ok(format!("[{}; {len}]", size_type(scope, of)?)),
        CType::Pointer { .. } => Ok("*const c_void".into()),
        other => rust_type(other, &scope.function.name),
    }
}

/// A name, a member, or what a pointer points to.
fn plain(scope: Scope<'_>, expr: &Expr) -> Result<String, GenError> {
    match expr {
        Expr::Name { name } if is_param(scope, name) => Ok(rust_name(name)),
        Expr::Member { of, member, through_pointer: true } => Ok(format!("(*{}).{}", plain(scope, of)?, member_name(member))),
        Expr::Member { of, member, through_pointer: false } => Ok(format!("{}.{}", plain(scope, of)?, member_name(member))),
        Expr::Deref { pointer } => Ok(format!("(*{})", plain(scope, pointer)?)),
        _ => unsupported(scope, expr, "only parameters and what is reached from them can stand here"),
    }
}

/// Whether an expression reads through a pointer.
pub(super) fn dereferences(expr: &Expr) -> bool {
    match expr {
        Expr::Deref { .. } | Expr::Member { through_pointer: true, .. } => true,
        Expr::Member { of: inner, .. } | Expr::Unary { operand: inner, .. } => dereferences(inner),
        Expr::Binary { left, right, .. } => dereferences(left) || dereferences(right),
        Expr::Int { .. } | Expr::Bool { .. } | Expr::Null | Expr::Name { .. } | Expr::SizeOf { .. } => false,
    }
}

fn is_param(scope: Scope<'_>, name: &str) -> bool {
    scope.function.params.iter().any(|param| param.name == name)
}

/// An operand, in parentheses if it has an operator of its own.
fn operand_text(expr: &Expr, text: String) -> String {
    if matches!(expr, Expr::Binary { .. }) && text.contains(' ') { format!("({text})") } else { text }
}

fn kind(scope: Scope<'_>, expr: &Expr) -> Result<Kind, GenError> {
    scope.kind(expr).map_err(|error| GenError::Unsupported { place: scope.function.name.clone(), reason: error.to_string() })
}

fn unsupported<T>(scope: Scope<'_>, expr: &Expr, reason: &str) -> Result<T, GenError> {
    Err(GenError::Unsupported { place: scope.function.name.clone(), reason: format!("`{expr}`: {reason}") })
}

//! What is known while a condition is evaluated, and what would have to be known.
//!
//! A fact is an expression that is not zero and not null. Conditions give facts: a call that was not refused for
//! `PatternSize == 0` has a `PatternSize` that is not zero, and so has the right-hand side of `PatternSize != 0 && …`.

use super::{BinaryOp, Expr, Scope, UnaryOp};

/// Something that would go wrong if an expression were zero or null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// The expression.
    pub what: Expr,
    /// What would go wrong.
    pub kind: HazardKind,
}

/// What would go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HazardKind {
    /// It divides.
    DivideByZero,
    /// It is dereferenced.
    NullPointer,
}

/// The hazards of evaluating `expr` when `facts` are known.
pub(super) fn hazards(scope: Scope<'_>, expr: &Expr, facts: &[Expr]) -> Vec<Hazard> {
    let mut found = Vec::new();
    walk(scope, expr, &mut facts.to_vec(), &mut found);
    found
}

/// What is known once `expr` is known to be false.
pub(super) fn known_if_false(expr: &Expr, facts: &mut Vec<Expr>) {
    match expr {
        Expr::Unary { op: UnaryOp::Not, operand } => known_if_true(operand, facts),
        Expr::Binary { op: BinaryOp::Or, left, right } => {
            known_if_false(left, facts);
            known_if_false(right, facts);
        }
        Expr::Binary { op, left, right } => {
            let opposite = match op {
                BinaryOp::Equal => BinaryOp::NotEqual,
                BinaryOp::NotEqual => BinaryOp::Equal,
                BinaryOp::Less => BinaryOp::GreaterEqual,
                BinaryOp::LessEqual => BinaryOp::Greater,
                BinaryOp::Greater => BinaryOp::LessEqual,
                BinaryOp::GreaterEqual => BinaryOp::Less,
                _ => return,
            };
            compared(opposite, left, right, facts);
        }
        _ => {}
    }
}

fn known_if_true(expr: &Expr, facts: &mut Vec<Expr>) {
    match expr {
        Expr::Unary { op: UnaryOp::Not, operand } => known_if_false(operand, facts),
        Expr::Binary { op: BinaryOp::And, left, right } => {
            known_if_true(left, facts);
            known_if_true(right, facts);
        }
        Expr::Binary { op, left, right } if op.is_comparison() => compared(*op, left, right, facts),
        Expr::Name { .. } | Expr::Member { .. } | Expr::Deref { .. } => facts.push(expr.clone()),
        _ => {}
    }
}

/// What a comparison that holds says. `a > n` says that `a` is not zero for every `n` that can be written.
fn compared(op: BinaryOp, left: &Expr, right: &Expr, facts: &mut Vec<Expr>) {
    for (what, bound, op) in [(left, right, op), (right, left, mirrored(op))] {
        let number = match bound {
            Expr::Null => 0,
            Expr::Int { value } => *value,
            _ => continue,
        };
        let not_zero = match op {
            BinaryOp::NotEqual => number == 0,
            BinaryOp::Equal | BinaryOp::GreaterEqual => number > 0,
            BinaryOp::Greater => true,
            _ => false,
        };
        if not_zero {
            facts.push(what.clone());
        }
    }
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

fn walk(scope: Scope<'_>, expr: &Expr, facts: &mut Vec<Expr>, found: &mut Vec<Hazard>) {
    let mut need = |what: &Expr, kind: HazardKind, facts: &[Expr]| {
        let hazard = Hazard { what: what.clone(), kind };
        if !facts.contains(what) && !found.contains(&hazard) {
            found.push(hazard);
        }
    };
    match expr {
        Expr::Int { .. } | Expr::Bool { .. } | Expr::Null | Expr::Name { .. } | Expr::SizeOf { .. } => {}
        Expr::Member { of, through_pointer, .. } => {
            if *through_pointer {
                need(of, HazardKind::NullPointer, facts);
            }
            walk(scope, of, facts, found);
        }
        Expr::Deref { pointer } => {
            need(pointer, HazardKind::NullPointer, facts);
            walk(scope, pointer, facts, found);
        }
        Expr::Unary { operand, .. } => walk(scope, operand, facts, found),
        Expr::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
            walk(scope, left, facts, found);
            let before = facts.len();
            if matches!(expr, Expr::Binary { op: BinaryOp::And, .. }) {
                known_if_true(left, facts);
            } else {
                known_if_false(left, facts);
            }
            walk(scope, right, facts, found);
            facts.truncate(before);
        }
        Expr::Binary { op, left, right } => {
            if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) && !is_nonzero_constant(scope, right) {
                need(right, HazardKind::DivideByZero, facts);
            }
            walk(scope, left, facts, found);
            walk(scope, right, facts, found);
        }
    }
}

fn is_nonzero_constant(scope: Scope<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Int { value } => *value != 0,
        Expr::SizeOf { .. } => true,
        Expr::Name { name } => scope.constant(name).is_some_and(|value| value != 0),
        _ => false,
    }
}

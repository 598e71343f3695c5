//! The order in which an entry point checks its function's conditions.
//!
//! First that what must not be null is not; then the other conditions as they are written, except that one which
//! divides by something or reads through a pointer waits for the condition that rules out zero or null. Where there is
//! none, the hazard stays with the check, and a back end refuses the call when it applies.

use super::facts::{self, Hazard, HazardKind};
use super::{BinaryOp, Expr, Kind, Scope};
use crate::ir::{Condition, Return};

/// One condition to be checked.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    /// The result that it belongs to.
    pub ret: &'a Return,
    /// The condition.
    pub condition: &'a Condition,
    /// Its expression.
    pub expr: &'a Expr,
    /// What no condition before it rules out, and what it must not meet.
    pub hazards: Vec<Hazard>,
}

/// A condition that is code and cannot be checked as it stands.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// The result that it belongs to.
    pub ret: &'a Return,
    /// The condition.
    pub condition: &'a Condition,
    /// What is wrong.
    pub message: String,
    /// Whether it cannot be evaluated at all. Otherwise it is [in the plan](Plan::checks), with a hazard.
    pub is_fatal: bool,
}

/// A function's checks, in order.
#[derive(Clone, Debug, Default)]
pub struct Plan<'a> {
    /// Parameters that must not be null: `X == NULL` for a parameter `X`.
    pub nulls: Vec<Check<'a>>,
    /// All other conditions that are code.
    pub checks: Vec<Check<'a>>,
    /// What is wrong with the conditions.
    pub problems: Vec<Problem<'a>>,
}

/// Orders the conditions of a function.
pub fn plan<'a>(scope: Scope<'a>) -> Plan<'a> {
    let mut plan = Plan::default();
    let mut waiting = Vec::new();
    for ret in &scope.function.returns {
        for condition in ret.conditions.iter().filter(|condition| condition.is_code) {
            let Some(expr) = &condition.expr else {
                let message =
                    condition.code().and_then(|code| super::parse(code).err()).map_or_else(String::new, |error| error.to_string());
                plan.problems.push(Problem { ret, condition, message, is_fatal: true });
                continue;
            };
            match scope.kind(expr) {
                Ok(Kind::Struct(_)) => {
                    let message = format!("`{expr}` is a structure, which is neither true nor false");
                    plan.problems.push(Problem { ret, condition, message, is_fatal: true });
                }
                Ok(_) => waiting.push(Check { ret, condition, expr, hazards: Vec::new() }),
                Err(error) => plan.problems.push(Problem { ret, condition, message: error.to_string(), is_fatal: true }),
            }
        }
    }
    let mut known = Vec::new();
    for param in &scope.function.params {
        let is_check_of = |check: &Check<'_>| null_check(check.expr) == Some(param.name.as_str());
        for check in waiting.extract_if(.., |check| is_check_of(check)) {
            // A parameter may be checked by its definition and by the rule for all; once is enough.
            if !plan.nulls.iter().any(is_check_of) {
                facts::known_if_false(check.expr, &mut known);
                plan.nulls.push(check);
            }
        }
    }
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|check| facts::hazards(scope, check.expr, &known).is_empty());
        let mut check = waiting.remove(ready.unwrap_or(0));
        check.hazards = facts::hazards(scope, check.expr, &known);
        for hazard in &check.hazards {
            let message = match hazard.kind {
                HazardKind::DivideByZero => format!("`{0}` may be zero here; add a condition `{0} == 0`", hazard.what),
                HazardKind::NullPointer => format!("`{0}` may be null here; write `{0} != NULL && …`", hazard.what),
            };
            plan.problems.push(Problem { ret: check.ret, condition: check.condition, message, is_fatal: false });
            known.push(hazard.what.clone());
        }
        facts::known_if_false(check.expr, &mut known);
        plan.checks.push(check);
    }
    plan
}

/// The parameter `X`, if the expression is `X == NULL` or `NULL == X`.
fn null_check(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Binary { op: BinaryOp::Equal, left, right } => match (&**left, &**right) {
            (Expr::Null, Expr::Name { name }) | (Expr::Name { name }, Expr::Null) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

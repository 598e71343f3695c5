//! Conditions under which a function returns an error, as expressions.
//!
//! A definition writes them in C between backticks: `` `FillSize % PatternSize != 0` ``. Here they become trees, so
//! that each language's back end writes them in its own way, and so that what could go wrong while one is evaluated is
//! known before: a division whose divisor may be zero, a pointer that may be null. [`plan`] puts a function's checks
//! into an order in which each comes after those it relies on.
//!
//! Numbers in conditions are those of mathematics, as far as 128 bits go: nothing wraps around, so `A + B < A` is no
//! test for an overflow.

mod expr;
mod facts;
mod parse;
mod plan;
mod types;

pub use expr::{BinaryOp, Expr, UnaryOp};
pub use facts::{Hazard, HazardKind};
pub use parse::{ParseError, parse};
pub use plan::{Check, Plan, Problem, plan};
pub use types::{Kind, Scope, TypeError};

#[cfg(test)]
mod tests;

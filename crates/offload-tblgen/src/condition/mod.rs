//! Conditions under which a function returns an error, as expressions.
//!
//! A definition writes them in C between backticks: `` `FillSize % PatternSize != 0` ``. Here they become trees, so that each language's back end
//! writes them in its own way, and so that what could go wrong while one is evaluated is known before: a division whose divisor may be zero, a
//! pointer that may be null.

mod expr;
mod parse;

pub use expr::{BinaryOp, Expr, UnaryOp};
pub use parse::{ParseError, parse};

//! The tree.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An expression over the parameters of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expr {
    /// A number.
    Int {
        /// Which.
        value: u64,
    },
    /// `true` or `false`.
    Bool {
        /// Which.
        value: bool,
    },
    /// `NULL`, or `nullptr`.
    Null,
    /// A parameter, an enumerator, or a macro that is a number.
    Name {
        /// Its name.
        name: String,
    },
    /// `sizeof(type)`: the size in bytes of a type.
    SizeOf {
        /// C text of the type.
        #[serde(rename = "type")]
        ty: String,
    },
    /// A member of a structure: `a.b`, or `a->b`.
    Member {
        /// The structure, or the pointer to it.
        of: Box<Expr>,
        /// The member's name.
        member: String,
        /// Whether `of` is a pointer.
        through_pointer: bool,
    },
    /// What a pointer points to.
    Deref {
        /// The pointer.
        pointer: Box<Expr>,
    },
    /// An operator with one operand.
    Unary {
        /// Which.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// An operator with two operands.
    Binary {
        /// Which.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnaryOp {
    /// `!`: true for zero, false and null.
    Not,
    /// `-`.
    Negate,
    /// `~`.
    Complement,
}

/// Operators with two operands. `and` and `or` evaluate the right one only if the left one does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the C operator that `symbol` gives")]
pub enum BinaryOp {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl UnaryOp {
    /// The operator in C.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Not => "!",
            UnaryOp::Negate => "-",
            UnaryOp::Complement => "~",
        }
    }
}

impl BinaryOp {
    /// The operator in C.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::BitAnd => "&",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
        }
    }

    /// How tightly it binds; higher is tighter. As in C.
    pub(super) fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::BitOr => 3,
            BinaryOp::BitXor => 4,
            BinaryOp::BitAnd => 5,
            BinaryOp::Equal | BinaryOp::NotEqual => 6,
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => 7,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 8,
            BinaryOp::Add | BinaryOp::Subtract => 9,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 10,
        }
    }

    /// Whether it compares, and so gives true or false.
    pub fn is_comparison(self) -> bool {
        matches!(self.precedence(), 6 | 7)
    }

    /// Whether it joins truth values.
    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOp::Or | BinaryOp::And)
    }
}

/// C text, with parentheses only where they are needed.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Int { value } => write!(f, "{value}"),
            Expr::Bool { value } => write!(f, "{value}"),
            Expr::Null => f.write_str("NULL"),
            Expr::Name { name } => f.write_str(name),
            Expr::SizeOf { ty } => write!(f, "sizeof({ty})"),
            Expr::Member { of, member, through_pointer } => {
                write!(f, "{}{}{member}", Inner(of, 12), if *through_pointer { "->" } else { "." })
            }
            Expr::Deref { pointer } => write!(f, "*{}", Inner(pointer, 11)),
            Expr::Unary { op, operand } => write!(f, "{}{}", op.symbol(), Inner(operand, 11)),
            Expr::Binary { op, left, right } => {
                write!(f, "{} {} {}", Inner(left, op.precedence()), op.symbol(), Inner(right, op.precedence() + 1))
            }
        }
    }
}

/// An operand, in parentheses if it binds less tightly than its place needs.
struct Inner<'a>(&'a Expr, u8);

impl fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precedence = match self.0 {
            Expr::Binary { op, .. } => op.precedence(),
            Expr::Unary { .. } | Expr::Deref { .. } => 11,
            _ => 12,
        };
        if precedence < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

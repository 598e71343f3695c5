//! Reading a condition's text.

use super::{BinaryOp, Expr, UnaryOp};
use crate::ir::CType;

/// Why a condition cannot be read.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}, at `{at}`")]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// Byte offset of it in the text.
    pub offset: usize,
    /// The text from there on, shortened.
    pub at: String,
}

hostcall_error::readable!(ParseError);

/// How deep expressions may be nested. The trees are walked by recursion.
const MAX_DEPTH: u32 = 100;
/// How many operators and operands an expression may have: a chain without parentheses nests as deep as it is long.
const MAX_TOKENS: usize = 300;

/// Reads an expression.
///
/// # Errors
///
/// Text that is not an expression of the operators, names and numbers that conditions are made of; calls, assignments
/// and casts are not.
pub fn parse(text: &str) -> Result<Expr, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens: &tokens, next: 0 };
    let expr = parser.binary(0, 0)?;
    match parser.peek() {
        None => Ok(expr),
        Some("=") => Err(parser.error("an assignment is not a condition; did you mean `==`?")),
        Some("(") => Err(parser.error("calls are not supported in conditions")),
        Some("?") => Err(parser.error("`?:` is not supported in conditions; use `&&` and `||`")),
        Some(_) => Err(parser.error("expected an operator or the end of the condition")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [(usize, &'a str)],
    next: usize,
}

const OPERATORS: [BinaryOp; 18] = [
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::BitAnd,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
];

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.error(format!("expected `{token}`"))) }
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        error_at(self.text, self.tokens.get(self.next).map_or(self.text.len(), |(offset, _)| *offset), message)
    }

    fn binary(&mut self, least: u8, depth: u32) -> Result<Expr, ParseError> {
        let mut left = self.unary(depth)?;
        while let Some(op) = self.peek().and_then(|token| OPERATORS.into_iter().find(|op| op.symbol() == token && op.precedence() > least))
        {
            self.next += 1;
            let right = self.binary(op.precedence(), depth + 1)?;
            left = Expr::Binary { op, left: Box::new(left), right: Box::new(right) };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Expr, ParseError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} expressions within one another")));
        }
        for op in [UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement] {
            if self.take(op.symbol()) {
                return Ok(Expr::Unary { op, operand: Box::new(self.unary(depth + 1)?) });
            }
        }
        if self.take("*") {
            return Ok(Expr::Deref { pointer: Box::new(self.unary(depth + 1)?) });
        }
        let mut expr = self.primary(depth)?;
        loop {
            let through_pointer = match self.peek() {
                Some("->") => true,
                Some(".") => false,
                _ => return Ok(expr),
            };
            self.next += 1;
            let Some(member) = self.peek().filter(|token| is_name(token)) else { return Err(self.error("expected the name of a member")) };
            self.next += 1;
            expr = Expr::Member { of: Box::new(expr), member: member.to_owned(), through_pointer };
        }
    }

    fn primary(&mut self, depth: u32) -> Result<Expr, ParseError> {
        let Some(token) = self.peek() else { return Err(self.error("expected an expression, found the end")) };
        if self.take("(") {
            let inner = self.binary(0, depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            let Some(value) = number(token) else { return Err(self.error("this is not a number")) };
            self.next += 1;
            return Ok(Expr::Int { value });
        }
        if !is_name(token) {
            return Err(self.error("expected a name, a number or `(`"));
        }
        if token == "sizeof" {
            return self.size_of();
        }
        self.next += 1;
        Ok(match token {
            "NULL" | "nullptr" => Expr::Null,
            "true" => Expr::Bool { value: true },
            "false" => Expr::Bool { value: false },
            name => Expr::Name { name: name.to_owned() },
        })
    }

    fn size_of(&mut self) -> Result<Expr, ParseError> {
        self.next += 1;
        self.expect("(")?;
        let begin = self.tokens.get(self.next).map_or(self.text.len(), |(offset, _)| *offset);
        while self.peek().is_some_and(|token| token != ")") {
            self.next += 1;
        }
        let end = self.tokens.get(self.next).map_or(self.text.len(), |(offset, _)| *offset);
        let ty = self.text[begin..end].trim();
        if let Err(error) = CType::parse(ty) {
            return Err(error_at(self.text, begin, error.to_string()));
        }
        self.expect(")")?;
        Ok(Expr::SizeOf { ty: ty.to_owned() })
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn number(token: &str) -> Option<u64> {
    let token = token.trim_end_matches(['u', 'U', 'l', 'L']);
    match token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        // An octal number in C; nobody means one.
        None if token.len() > 1 && token.starts_with('0') => None,
        None => token.parse().ok(),
    }
}

fn error_at(text: &str, offset: usize, message: impl Into<String>) -> ParseError {
    let rest = &text[offset..];
    let at = match rest.char_indices().nth(20) {
        _ if rest.is_empty() => "end of the condition".to_owned(),
        Some((end, _)) => format!("{}…", &rest[..end]),
        None => rest.to_owned(),
    };
    ParseError { message: message.into(), offset, at }
}

fn tokens(text: &str) -> Result<Vec<(usize, &str)>, ParseError> {
    const SIGNS: [&str; 9] = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "->"];
    let mut tokens = Vec::new();
    let mut offset = 0;
    while let Some(first) = text[offset..].chars().next() {
        let rest = &text[offset..];
        let len = if first.is_ascii_whitespace() {
            offset += 1;
            continue;
        } else if first.is_ascii_alphanumeric() || first == '_' {
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            sign.len()
        } else if "()+-*/%!~<>&|^.=?:,[]".contains(first) {
            1
        } else {
            return Err(error_at(text, offset, format!("`{first}` cannot be part of a condition")));
        };
        tokens.push((offset, &rest[..len]));
        offset += len;
        if tokens.len() > MAX_TOKENS {
            return Err(error_at(text, offset, format!("the condition is longer than {MAX_TOKENS} words and signs")));
        }
    }
    Ok(tokens)
}

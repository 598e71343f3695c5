//! Operators of two operands.

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::ops::BinOp;
use crate::record::RecId;
use crate::ty::Ty;

impl Context {
    pub(crate) fn fold_bin(&mut self, op: BinOp, a: Node, b: Node, ty: Ty, record: Option<RecId>) -> Node {
        let stuck = Kind::Bin(op, a, b);
        let result = match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Shl
            | BinOp::Sra
            | BinOp::Srl => match (self.as_int(a), self.as_int(b)) {
                (Some(x), Some(y)) => match arithmetic(op, x, y) {
                    Ok(value) => Some(self.int(value)),
                    Err(message) => return self.impossible(record, message, stuck, ty),
                },
                _ => None,
            },
            BinOp::Eq | BinOp::Ne | BinOp::Le | BinOp::Lt | BinOp::Ge | BinOp::Gt => self.compare(op, a, b).map(Node::bit),
            BinOp::StrConcat => self.concat_text(a, b),
            BinOp::Interleave => self.interleave(a, b),
            BinOp::Match => match (self.symbol_of(a), self.symbol_of(b)) {
                (Some(text), Some(_)) => self.pattern(b, record).and_then(|pattern| self.matches(&pattern, text)).map(Node::bit),
                _ => None,
            },
            BinOp::ListConcat => self.concat_lists(a, b),
            BinOp::ListSplat => match (self.is_typed(a), self.kind(b)) {
                (true, Kind::Int(count)) => {
                    let Ok(count) = usize::try_from(count) else {
                        return self.impossible(record, format!("!listsplat to {count} elements"), stuck, ty);
                    };
                    self.splat(a, count)
                }
                _ => None,
            },
            BinOp::ListRemove => self.remove_from_list(a, b),
            BinOp::ListElement => self.list_element(a, b),
            BinOp::ListSlice => self.list_slice(a, b),
            BinOp::ClosedRange => match (self.kind(a), self.kind(b)) {
                (Kind::Int(first), Kind::Int(last)) => {
                    let step = if first <= last { 1 } else { -1 };
                    // One beyond the last is only needed as a bound: the count says how many.
                    self.int_range(first, last.abs_diff(first).saturating_add(1), step)
                }
                _ => None,
            },
            BinOp::Concat => match self.concat_dags(a, b) {
                Ok(result) => result,
                Err(message) => return self.impossible(record, message, stuck, ty),
            },
            BinOp::GetDagArg => match self.dag_argument(a, b) {
                Ok(None) => None,
                Ok(Some(arg)) => {
                    // An argument of another type reads as no value.
                    let fits = !self.is_typed(arg) || self.convertible(self.ty(arg), ty);
                    Some(if fits { arg } else { Node::UNSET })
                }
                Err(message) => return self.impossible(record, message, stuck, ty),
            },
            BinOp::GetDagName => match self.dag_argument_name(a, b) {
                Ok(result) => result,
                Err(message) => return self.impossible(record, message, stuck, ty),
            },
            BinOp::SetDagOp | BinOp::SetDagOpName => self.replace_dag_operator(op, a, b),
        };
        match result {
            Some(node) => node,
            None => self.node(stuck, ty),
        }
    }
}

fn arithmetic(op: BinOp, a: i64, b: i64) -> Result<i64, String> {
    let shift = || u32::try_from(b).ok().filter(|&by| by < 64).ok_or_else(|| format!("!{} by {b} bits of 64", op.name()));
    Ok(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div => {
            if b == 0 {
                return Err(format!("division of {a} by zero"));
            }
            a.checked_div(b).ok_or_else(|| format!("{a} divided by {b} does not fit in 64 bits"))?
        }
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << shift()?,
        BinOp::Sra => a >> shift()?,
        _ => ((a as u64) >> shift()?) as i64,
    })
}

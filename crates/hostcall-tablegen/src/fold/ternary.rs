//! Operators of three operands.

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::ops::TernOp;
use crate::record::RecId;
use crate::ty::Ty;

impl Context {
    pub(crate) fn fold_tern(&mut self, op: TernOp, a: Node, b: Node, c: Node, ty: Ty, record: Option<RecId>) -> Node {
        let result = match op {
            TernOp::If => Ok(self.as_int(a).map(|condition| if condition != 0 { b } else { c })),
            TernOp::Foreach if matches!(self.kind(b), Kind::Dag { .. }) => Ok(self.foreach_dag(a, b, c, record)),
            TernOp::Foreach => Ok(self.foreach(a, b, c, ty, record)),
            TernOp::Filter => Ok(self.filter(a, b, c, ty, record)),
            TernOp::Sort => Ok(self.sort(a, b, c, ty, record)),
            TernOp::Dag => Ok(self.build_dag(a, b, c)),
            TernOp::SetDagArg => self.replace_dag_argument(a, b, c, false),
            TernOp::SetDagName => self.replace_dag_argument(a, b, c, true),
            TernOp::Subst => self.subst(a, b, c, ty),
            TernOp::Range => match (self.kind(a), self.kind(b), self.kind(c)) {
                (Kind::Int(start), Kind::Int(end), Kind::Int(step)) => self.range(start, end, step),
                _ => Ok(None),
            },
            TernOp::Substr => match (self.text_of(a), self.kind(b), self.kind(c)) {
                (Some(_), Kind::Int(start), Kind::Int(length)) => self.substring(a, start, length).map(Some),
                _ => Ok(None),
            },
            TernOp::Find => match (self.text_of(a), self.text_of(b), self.kind(c)) {
                (Some(_), Some(_), Kind::Int(start)) => self.find_text(a, b, start).map(Some),
                _ => Ok(None),
            },
        };
        match result {
            Ok(Some(node)) => node,
            Ok(None) => self.tern(op, a, b, c, ty),
            Err(message) => self.impossible(record, message, Kind::Tern(op, a, b, c), ty),
        }
    }

    fn range(&mut self, start: i64, end: i64, step: i64) -> Result<Option<Node>, String> {
        let count = match step {
            0 => return Err("step of !range is 0".to_owned()),
            1.. if start < end => end.abs_diff(start).div_ceil(step.unsigned_abs()),
            ..0 if start > end => end.abs_diff(start).div_ceil(step.unsigned_abs()),
            _ => 0,
        };
        Ok(self.int_range(start, count, step))
    }

    /// `!subst(from, to, value)`: in a string each occurrence, otherwise the whole value.
    fn subst(&mut self, from: Node, to: Node, value: Node, ty: Ty) -> Result<Option<Node>, String> {
        match (self.kind(from), self.kind(to), self.kind(value)) {
            (Kind::Def(a), Kind::Def(_), Kind::Def(c)) => {
                let same = self.records[a].name == self.records[c].name;
                Ok(Some(if same { to } else { value }))
            }
            (Kind::Var(a), Kind::Var(b), Kind::Var(c)) => {
                let name = if a == c { b } else { c };
                Ok(Some(self.var(name, ty)))
            }
            _ => {
                let texts = [from, to, value].iter().all(|&node| self.text_of(node).is_some());
                if texts { self.replace_text(from, to, value).map(Some) } else { Ok(None) }
            }
        }
    }
}

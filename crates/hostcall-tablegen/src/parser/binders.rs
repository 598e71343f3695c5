//! Operators that give names to values: `!foreach`, `!filter`, `!sort`, `!foldl`.

use super::scope::Scope;
use super::{Mode, Parser};
use crate::context::Attempt;
use crate::node::{Kind, Node};
use crate::ops::TernOp;
use crate::record::RecId;
use crate::source::Span;
use crate::symbol::Symbol;
use crate::token::Tok;
use crate::ty::Ty;

impl Parser {
    /// The name that an operator binds.
    fn parse_binding(&mut self, record: Option<RecId>) -> Attempt<(Symbol, Node)> {
        let (symbol, span) = self.expect_identifier("the name of a variable")?;
        let name = self.cx.nodes.string(symbol);
        let is_field = record.is_some_and(|record| self.cx.records[record].field_index(name).is_some());
        if is_field || self.bound.contains(&name) {
            let message = format!("'{}' is defined already", self.cx.symbols.shown(symbol));
            return Err(self.cx.error(span, message));
        }
        Ok((symbol, name))
    }

    /// The expression in which names are bound.
    fn parse_bound(&mut self, record: Option<RecId>, want: Option<Ty>, names: &[(Symbol, Node, Ty)]) -> Attempt<Node> {
        let mut scope = Scope::local();
        for &(symbol, name, ty) in names {
            let variable = self.cx.var(name, ty);
            scope.define(symbol, variable);
        }
        let depth = self.bound.len();
        self.bound.extend(names.iter().map(|&(_, name, _)| name));
        let record = record.unwrap_or(self.nowhere);
        let result = self.within(scope, |parser| parser.parse_value(Some(record), want, Mode::Value));
        self.bound.truncate(depth);
        result
    }

    /// `!foreach(name, list or dag, body)`, `!filter(name, list, predicate)` and `!sort(name, list, key)`
    pub(super) fn parse_binder(&mut self, record: Option<RecId>, want: Option<Ty>, op: TernOp, span: Span) -> Attempt<Node> {
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let (symbol, name) = self.parse_binding(record)?;
        self.expect(Tok::Comma, "after the variable")?;
        let at = self.tok.span;
        let over = self.parse_value(record, None, Mode::Value)?;
        self.expect(Tok::Comma, "after the list")?;
        let element = self.cx.types.element(self.cx.ty(over));
        let (item, body_want) = match element {
            Some(element) => {
                let wanted = match want {
                    None => None,
                    Some(want) => match self.cx.types.element(want) {
                        Some(wanted) => Some(wanted),
                        None => {
                            let message = format!("!{} gives a list, not a value of type '{}'", op.name(), self.cx.type_text(want));
                            return Err(self.cx.error(span, message));
                        }
                    },
                };
                let body = match op {
                    TernOp::Foreach => wanted,
                    TernOp::Filter => wanted.map(|_| Ty::INT),
                    _ => None,
                };
                (element, body)
            }
            None if op == TernOp::Foreach && self.is_dag(over) => {
                if let Some(want) = want
                    && want != Ty::DAG
                {
                    let message = format!("!foreach over a dag gives a dag, not a value of type '{}'", self.cx.type_text(want));
                    return Err(self.cx.error(span, message));
                }
                (Ty::DAG, None)
            }
            None => return Err(self.wrong_operand(over, if op == TernOp::Foreach { "a list or dag" } else { "a list" }, at)),
        };
        let at = self.tok.span;
        let body = self.parse_bound(record, body_want, &[(symbol, name, item)])?;
        self.expect_close(Tok::RightParen, open, "the operator")?;
        let ty = match (op, element) {
            (TernOp::Foreach, Some(_)) => {
                if body == Node::UNSET {
                    return Err(self.cx.error(at, "each result of !foreach is '?', which has no type"));
                }
                let result = self.cx.ty(body);
                self.cx.types.list(result)
            }
            (_, Some(element)) => self.cx.types.list(element),
            (_, None) => Ty::DAG,
        };
        Ok(self.cx.fold_tern(op, name, over, body, ty, record))
    }

    /// `!foldl(start, list, accumulator, element, body)`
    pub(super) fn parse_foldl(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let at = self.tok.span;
        let start = self.parse_value(record, None, Mode::Value)?;
        if start == Node::UNSET {
            return Err(self.cx.error(at, "!foldl starts with '?', which has no type"));
        }
        self.expect(Tok::Comma, "after the start")?;
        let at = self.tok.span;
        let list = self.parse_value(record, None, Mode::Value)?;
        let Some(item) = self.cx.types.element(self.cx.ty(list)) else {
            return Err(self.wrong_operand(list, "a list", at));
        };
        self.expect(Tok::Comma, "after the list")?;
        let (accumulator_symbol, accumulator) = self.parse_binding(record)?;
        self.expect(Tok::Comma, "after the variable")?;
        let (element_symbol, element) = self.parse_binding(record)?;
        self.expect(Tok::Comma, "after the variable")?;
        let ty = self.cx.ty(start);
        let at = self.tok.span;
        let body = self.parse_bound(record, None, &[(accumulator_symbol, accumulator, ty), (element_symbol, element, item)])?;
        if self.cx.ty(body) != ty {
            return Err(self.wrong_operand(body, &format!("a value of the start's type '{}'", self.cx.type_text(ty)), at));
        }
        self.expect_close(Tok::RightParen, open, "!foldl")?;
        if matches!(self.cx.kind(list), Kind::List(_)) {
            self.cx.here = Some(at);
        }
        Ok(self.cx.fold_fold((start, list, accumulator, element, body), ty, record))
    }
}

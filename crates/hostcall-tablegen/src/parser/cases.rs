//! Operators that choose among values: `!cond` and `!switch`.

use super::{Mode, Parser};
use crate::context::Attempt;
use crate::node::Node;
use crate::ops::BinOp;
use crate::record::RecId;
use crate::source::Span;
use crate::token::Tok;
use crate::ty::Ty;

impl Parser {
    /// `!cond(condition: value, …)`
    pub(super) fn parse_cond(&mut self, record: Option<RecId>, want: Option<Ty>) -> Attempt<Node> {
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let mut items = Vec::new();
        let mut ty = None;
        while !self.at(Tok::RightParen) {
            items.push(self.parse_value(record, None, Mode::Value)?);
            self.expect(Tok::Colon, "after the condition")?;
            let at = self.tok.span;
            let value = self.parse_value(record, want, Mode::Value)?;
            items.push(value);
            ty = self.type_of_cases(ty, value, at)?;
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect_close(Tok::RightParen, open, "!cond")?;
        let Some(ty) = ty else {
            let message = if items.is_empty() { "!cond needs at least one condition and value" } else { "all values of !cond are '?'" };
            return Err(self.cx.error(open, message));
        };
        let items = self.cx.nodes.slice(&items);
        Ok(self.cx.fold_cond(items, ty, record))
    }

    /// `!switch(key, case: value, …, value of all others)`, which is `!cond(!eq(key, case): value, …, true: value of
    /// all others)`
    pub(super) fn parse_switch(&mut self, record: Option<RecId>, want: Option<Ty>) -> Attempt<Node> {
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let at = self.tok.span;
        let key = self.parse_value(record, None, Mode::Value)?;
        let mut key_type = self.check_operand(BinOp::Eq, None, key, 1, None, at)?;
        self.expect(Tok::Comma, "after the key: !switch ends with the value of all other keys")?;
        let (mut items, mut ty) = (Vec::new(), None);
        loop {
            // A case, or the last value. No list is a case, and one that is empty has the type that is wanted.
            let (mut at, wanted) = (self.tok.span, if self.at(Tok::LeftSquare) { want } else { None });
            let mut value = self.parse_value(record, wanted, Mode::Value)?;
            let is_case = self.eat(Tok::Colon);
            if is_case {
                key_type = self.check_operand(BinOp::Eq, key_type, value, 2, None, at)?;
                items.push(self.cx.fold_bin(BinOp::Eq, key, value, Ty::BIT, record));
                at = self.tok.span;
                value = self.parse_value(record, want, Mode::Value)?;
            } else {
                items.push(self.cx.int(1));
            }
            items.push(value);
            ty = self.type_of_cases(ty, value, at)?;
            if !is_case {
                break;
            }
            self.expect(Tok::Comma, "after the case: !switch ends with the value of all other keys")?;
        }
        self.expect_close(Tok::RightParen, open, "!switch")?;
        let Some(ty) = ty else { return Err(self.cx.error(open, "all values of !switch are '?'")) };
        let items = self.cx.nodes.slice(&items);
        Ok(self.cx.fold_cond(items, ty, record))
    }

    /// What is common to the types of the values so far and of one more.
    fn type_of_cases(&mut self, so_far: Option<Ty>, value: Node, at: Span) -> Attempt<Option<Ty>> {
        let found = self.cx.ty(value);
        match so_far {
            _ if found == Ty::NONE => Ok(so_far),
            None => Ok(Some(found)),
            Some(so_far) => match self.cx.common_type(so_far, found) {
                Some(common) => Ok(Some(common)),
                None => Err(self.wrong_operand(value, &format!("a value of type '{}'", self.cx.type_text(so_far)), at)),
            },
        }
    }
}

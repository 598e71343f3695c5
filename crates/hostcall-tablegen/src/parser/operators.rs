//! Bang operators: how many operands they take, and of which types.

use super::{Mode, Parser};
use crate::context::Attempt;
use crate::node::{Kind, Node};
use crate::ops::{BinOp, TernOp, UnOp};
use crate::record::RecId;
use crate::source::Span;
use crate::token::{Bang, Tok};
use crate::ty::{Ty, TyKind};

impl Parser {
    pub(super) fn parse_operator(&mut self, record: Option<RecId>, want: Option<Ty>, bang: Bang) -> Attempt<Node> {
        let span = self.tok.span;
        self.advance();
        match bang {
            Bang::Un(op) => self.parse_unary(record, op),
            Bang::Bin(op) => self.parse_binary(record, want, op, span),
            Bang::Tern(op) if op.binds() => self.parse_binder(record, want, op, span),
            Bang::Tern(TernOp::Range) => self.parse_range_operator(record),
            Bang::Tern(op @ (TernOp::Substr | TernOp::Find)) => self.parse_text_operator(record, want, op, span),
            Bang::Tern(op) => self.parse_ternary(record, want, op),
            Bang::Cond => self.parse_cond(record, want),
            Bang::Switch => self.parse_switch(record, want),
            Bang::Foldl => self.parse_foldl(record),
            Bang::IsA => {
                let ty = self.parse_operator_type()?;
                let (value, _) = self.parse_only_operand(record)?;
                Ok(self.cx.fold_is_a(ty, value))
            }
            Bang::Exists => {
                let ty = self.parse_operator_type()?;
                let (name, at) = self.parse_only_operand(record)?;
                if matches!(self.cx.types.kind(self.cx.ty(name)), TyKind::Record(_)) {
                    return Err(self.cx.error(at, "!exists takes the name of a record as a string; !isa takes a record"));
                }
                self.require_type(name, Ty::STRING, at)?;
                Ok(self.cx.fold_exists(ty, name, record, false))
            }
            Bang::Instances => self.parse_instances(record),
        }
    }

    /// Reports a value that is not of a type.
    fn require_type(&mut self, value: Node, ty: Ty, span: Span) -> Attempt<()> {
        if self.cx.ty(value) == ty {
            return Ok(());
        }
        Err(self.wrong_operand(value, &format!("a value of type '{}'", self.cx.type_text(ty)), span))
    }

    pub(super) fn wrong_operand(&mut self, value: Node, wanted: &str, span: Span) -> crate::context::Reported {
        let found = self.cx.ty(value);
        let message = if found == Ty::NONE {
            format!("expected {wanted}, found '?'")
        } else {
            format!("expected {wanted}, found {} of type '{}'", self.cx.text(value), self.cx.type_text(found))
        };
        self.cx.error(span, message)
    }

    fn parse_only_operand(&mut self, record: Option<RecId>) -> Attempt<(Node, Span)> {
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let span = self.tok.span;
        let value = self.parse_value(record, None, Mode::Value)?;
        self.expect_close(Tok::RightParen, open, "the operator")?;
        Ok((value, span))
    }

    fn parse_instances(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let ty = self.parse_operator_type()?;
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let pattern = if self.at(Tok::RightParen) {
            self.cx.string(".*")
        } else {
            let span = self.tok.span;
            let pattern = self.parse_value(record, None, Mode::Value)?;
            self.require_type(pattern, Ty::STRING, span)?;
            pattern
        };
        self.expect_close(Tok::RightParen, open, "!instances")?;
        Ok(self.cx.fold_instances(ty, pattern, record, false))
    }

    fn parse_unary(&mut self, record: Option<RecId>, op: UnOp) -> Attempt<Node> {
        let ty = match op {
            UnOp::Cast => self.parse_operator_type()?,
            UnOp::GetDagOp if self.at(Tok::Less) => {
                let span = self.tok.span;
                let ty = self.parse_operator_type()?;
                if !matches!(self.cx.types.kind(ty), TyKind::Record(_)) {
                    return Err(self.cx.error(span, "the operator of a dag is a record: its type must be a class"));
                }
                ty
            }
            UnOp::GetDagOp => Ty::ANY_RECORD,
            UnOp::ToLower | UnOp::ToUpper | UnOp::Repr | UnOp::GetDagOpName => Ty::STRING,
            _ => Ty::INT,
        };
        let (value, span) = self.parse_only_operand(record)?;
        let ty = self.unary_type(op, ty, value, span)?;
        Ok(self.cx.fold_un(op, value, ty, record, false))
    }

    /// The type of the result, where it depends on the operand.
    fn unary_type(&mut self, op: UnOp, ty: Ty, value: Node, span: Span) -> Attempt<Ty> {
        let found = self.cx.ty(value);
        match op {
            UnOp::Empty | UnOp::Size => {
                if matches!(self.cx.types.kind(found), TyKind::List(_) | TyKind::String | TyKind::Dag) {
                    Ok(ty)
                } else {
                    Err(self.wrong_operand(value, "a string, list or dag", span))
                }
            }
            UnOp::Head | UnOp::Tail | UnOp::ListFlatten => {
                let Some(mut element) = self.cx.types.element(found) else {
                    return Err(self.wrong_operand(value, "a list", span));
                };
                if let Some(items) = self.cx.list_items(value) {
                    if items.is_empty() {
                        return Err(self.cx.error(span, format!("!{} of an empty list", op.name())));
                    }
                    let first = self.cx.nodes.item(items, 0);
                    element = self.cx.ty(first);
                    if element == Ty::NONE {
                        return Err(self.cx.error(span, format!("!{} of a list that begins with '?'", op.name())));
                    }
                }
                Ok(match op {
                    UnOp::Head => element,
                    UnOp::Tail => self.cx.types.list(element),
                    // A list of anything but lists is flat already.
                    _ if self.cx.types.element(element).is_some() => element,
                    _ => self.cx.types.list(element),
                })
            }
            _ => Ok(ty),
        }
    }

    fn parse_binary(&mut self, record: Option<RecId>, want: Option<Ty>, op: BinOp, span: Span) -> Attempt<Node> {
        let (mut ty, mut operand) = match op {
            BinOp::Match => (Some(Ty::BIT), Some(Ty::STRING)),
            BinOp::Concat | BinOp::SetDagOp | BinOp::SetDagOpName => (Some(Ty::DAG), Some(Ty::DAG)),
            BinOp::GetDagArg => (Some(self.parse_operator_type()?), Some(Ty::DAG)),
            BinOp::GetDagName => (Some(Ty::STRING), Some(Ty::DAG)),
            BinOp::Eq | BinOp::Ne | BinOp::Le | BinOp::Lt | BinOp::Ge | BinOp::Gt => (Some(Ty::BIT), None),
            BinOp::ListConcat | BinOp::ListRemove => (None, want),
            BinOp::ListSplat => (None, None),
            BinOp::StrConcat => (Some(Ty::STRING), Some(Ty::STRING)),
            BinOp::Interleave => (Some(Ty::STRING), None),
            _ => (Some(Ty::INT), Some(Ty::INT)),
        };
        if let (Some(ty), Some(want)) = (ty, want)
            && !self.cx.convertible(ty, want)
        {
            let message = format!("!{} gives a value of type '{}', not '{}'", op.name(), self.cx.type_text(ty), self.cx.type_text(want));
            return Err(self.cx.error(span, message));
        }
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let mut operands: Vec<Node> = Vec::new();
        loop {
            let at = self.tok.span;
            let value = self.parse_value(record, operand, Mode::Value)?;
            operands.push(value);
            operand = self.check_operand(op, operand, value, operands.len(), want, at)?;
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect_close(Tok::RightParen, open, "the operator")?;
        match op {
            BinOp::ListConcat | BinOp::ListRemove => ty = operand,
            BinOp::ListSplat => {
                let element = self.cx.ty(operands[0]);
                ty = Some(self.cx.types.list(element));
            }
            _ => {}
        }
        let ty = ty.unwrap_or(Ty::INT);
        if op.is_associative() {
            while operands.len() > 2 {
                let (Some(b), Some(a)) = (operands.pop(), operands.pop()) else { break };
                let joined = self.cx.fold_bin(op, a, b, ty, record);
                operands.push(joined);
            }
        }
        match operands[..] {
            [a, b] => Ok(self.cx.fold_bin(op, a, b, ty, record)),
            _ => Err(self.cx.error(span, format!("!{} takes two operands, not {}", op.name(), operands.len()))),
        }
    }

    /// Checks an operand, and gives the type of the next one. `count` operands have been read.
    pub(super) fn check_operand(
        &mut self,
        op: BinOp,
        wanted: Option<Ty>,
        value: Node,
        count: usize,
        result: Option<Ty>,
        at: Span,
    ) -> Attempt<Option<Ty>> {
        if value == Node::UNSET {
            return Err(self.cx.error(at, format!("operand of !{} is '?', which has no type", op.name())));
        }
        let found = self.cx.ty(value);
        let mut next = match wanted {
            None => self.check_first_operand(op, value, count, result, at)?,
            Some(wanted) => match self.cx.common_type(wanted, found) {
                Some(_) if op.is_arithmetic() => Some(wanted),
                Some(common) => Some(common),
                None => return Err(self.wrong_operand(value, &format!("a value of type '{}'", self.cx.type_text(wanted)), at)),
            },
        };
        // These take operands of different types.
        match op {
            BinOp::SetDagOp => next = Some(Ty::ANY_RECORD),
            BinOp::GetDagArg => next = None,
            BinOp::GetDagName => next = Some(Ty::INT),
            BinOp::SetDagOpName => next = Some(Ty::STRING),
            _ => {}
        }
        Ok(next)
    }

    /// Checks an operand whose type is its own choice.
    fn check_first_operand(&mut self, op: BinOp, value: Node, count: usize, result: Option<Ty>, at: Span) -> Attempt<Option<Ty>> {
        let found = self.cx.ty(value);
        let to = |parser: &Parser, ty| parser.cx.convertible(found, ty);
        let (fits, wanted) = match op {
            BinOp::ListConcat | BinOp::ListRemove => (self.cx.types.element(found).is_some(), "a list"),
            BinOp::Eq | BinOp::Ne => (
                to(self, Ty::INT) || to(self, Ty::STRING) || to(self, Ty::ANY_RECORD),
                "a value of type bit, bits, int or string, or a record",
            ),
            BinOp::Le | BinOp::Lt | BinOp::Ge | BinOp::Gt | BinOp::GetDagArg => {
                (to(self, Ty::INT) || to(self, Ty::STRING), "a value of type bit, bits, int or string")
            }
            BinOp::ListSplat if count == 1 => {
                if let Some(result) = result {
                    let list = self.cx.types.list(found);
                    if !self.cx.convertible(list, result) {
                        let message =
                            format!("!listsplat gives a value of type '{}', not '{}'", self.cx.type_text(list), self.cx.type_text(result));
                        return Err(self.cx.error(at, message));
                    }
                }
                (true, "")
            }
            BinOp::ListSplat => (found == Ty::INT, "an int"),
            BinOp::Interleave if count == 1 => {
                let element = self.cx.types.element(found);
                let fits = element.is_some_and(|element| element == Ty::STRING || self.cx.convertible(element, Ty::INT));
                (fits, "a list of string, int, bits or bit")
            }
            _ => (found == Ty::STRING, "a string"),
        };
        if !fits {
            return Err(self.wrong_operand(value, wanted, at));
        }
        Ok(if matches!(op, BinOp::ListSplat | BinOp::Interleave) { None } else { Some(found) })
    }

    fn parse_ternary(&mut self, record: Option<RecId>, want: Option<Ty>, op: TernOp) -> Attempt<Node> {
        let want = if matches!(op, TernOp::If | TernOp::Subst) { want } else { None };
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let a = self.parse_value(record, None, Mode::Value)?;
        self.expect(Tok::Comma, "after the first operand")?;
        let at_b = self.tok.span;
        let b = self.parse_value(record, want, Mode::Value)?;
        self.expect(Tok::Comma, "after the second operand")?;
        let at_c = self.tok.span;
        let c = self.parse_value(record, want, Mode::Value)?;
        self.expect_close(Tok::RightParen, open, "the operator")?;
        let ty = match op {
            TernOp::If => self.type_of_branches(b, c, at_c)?,
            TernOp::Subst => {
                if c == Node::UNSET {
                    return Err(self.cx.error(at_c, "!subst in '?', which has no type"));
                }
                self.cx.ty(c)
            }
            TernOp::Dag => {
                self.check_dag_lists((b, at_b), (c, at_c))?;
                Ty::DAG
            }
            _ => {
                if !matches!(self.cx.ty(b), Ty::INT | Ty::STRING) {
                    return Err(self.wrong_operand(b, "the number or name of an argument", at_b));
                }
                if op == TernOp::SetDagName && !matches!(self.cx.ty(c), Ty::STRING | Ty::NONE) {
                    return Err(self.wrong_operand(c, "a string or '?'", at_c));
                }
                Ty::DAG
            }
        };
        Ok(self.cx.fold_tern(op, a, b, c, ty, record))
    }

    fn type_of_branches(&mut self, b: Node, c: Node, at: Span) -> Attempt<Ty> {
        let (first, second) = match (self.cx.ty(b), self.cx.ty(c)) {
            (Ty::NONE, Ty::NONE) => return Err(self.cx.error(at, "both results of !if are '?', which has no type")),
            (Ty::NONE, ty) | (ty, Ty::NONE) => (ty, ty),
            types => types,
        };
        match self.cx.common_type(first, second) {
            Some(ty) => Ok(ty),
            None => {
                let message = format!(
                    "results of !if are of types '{}' and '{}', which have nothing in common",
                    self.cx.type_text(first),
                    self.cx.type_text(second)
                );
                Err(self.cx.error(at, message))
            }
        }
    }

    fn check_dag_lists(&mut self, (args, at_args): (Node, Span), (names, at_names): (Node, Span)) -> Attempt<()> {
        let args_ty = self.cx.ty(args);
        if args_ty != Ty::NONE && self.cx.types.element(args_ty).is_none() {
            return Err(self.wrong_operand(args, "a list of arguments or '?'", at_args));
        }
        let names_ty = self.cx.ty(names);
        if names_ty != Ty::NONE && self.cx.types.element(names_ty) != Some(Ty::STRING) {
            return Err(self.wrong_operand(names, "a list of strings or '?'", at_names));
        }
        if args_ty == Ty::NONE && names_ty == Ty::NONE {
            return Err(self.cx.error(at_args, "arguments and names of !dag cannot both be '?'"));
        }
        Ok(())
    }

    /// `!range(end)`, `!range(start, end)`, `!range(start, end, step)`, `!range(list)`
    fn parse_range_operator(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let mut args = Vec::new();
        loop {
            let at = self.tok.span;
            let value = self.parse_value(record, None, Mode::Value)?;
            let ty = self.cx.ty(value);
            let is_list = self.cx.types.element(ty).is_some();
            if !(ty == Ty::INT || is_list && args.is_empty()) {
                return Err(self.wrong_operand(value, if args.is_empty() { "an int or a list" } else { "an int" }, at));
            }
            args.push(value);
            if args.len() > 3 || (args.len() > 1 && self.cx.ty(args[0]) != Ty::INT) {
                return Err(self.cx.error(at, "!range takes one list, or up to three numbers"));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect_close(Tok::RightParen, open, "!range")?;
        let (zero, one) = (self.cx.int(0), self.cx.int(1));
        let (start, end, step) = match args[..] {
            [end] if self.cx.ty(end) == Ty::INT => (zero, end, one),
            [start, end] => (start, end, one),
            [start, end, step] => (start, end, step),
            _ => (zero, self.cx.fold_un(UnOp::Size, args[0], Ty::INT, record, false), one),
        };
        let ty = self.cx.types.list(Ty::INT);
        Ok(self.cx.fold_tern(TernOp::Range, start, end, step, ty, record))
    }

    /// `!substr(text, start, length)` and `!find(text, wanted, start)`; the last operand may be left out.
    fn parse_text_operator(&mut self, record: Option<RecId>, want: Option<Ty>, op: TernOp, span: Span) -> Attempt<Node> {
        let (ty, second, default) = if op == TernOp::Substr { (Ty::STRING, Ty::INT, i64::MAX) } else { (Ty::INT, Ty::STRING, 0) };
        let open = self.expect(Tok::LeftParen, "after the operator")?;
        let mut operands = [Node::UNSET, Node::UNSET, self.cx.int(default)];
        for (i, wanted) in [Ty::STRING, second, Ty::INT].into_iter().enumerate() {
            if i == 1 {
                self.expect(Tok::Comma, "after the first operand")?;
            } else if i == 2 && !self.eat(Tok::Comma) {
                break;
            }
            let at = self.tok.span;
            let value = self.parse_value(record, None, Mode::Value)?;
            if value != Node::UNSET {
                self.require_type(value, wanted, at)?;
            }
            operands[i] = value;
        }
        self.expect_close(Tok::RightParen, open, "the operator")?;
        if let Some(want) = want
            && !self.cx.convertible(ty, want)
        {
            let message = format!("!{} gives a value of type '{}', not '{}'", op.name(), self.cx.type_text(ty), self.cx.type_text(want));
            return Err(self.cx.error(span, message));
        }
        let [a, b, c] = operands;
        Ok(self.cx.fold_tern(op, a, b, c, ty, record))
    }

    /// Whether a value is known to be a dag, a list, or neither.
    pub(super) fn is_dag(&self, value: Node) -> bool {
        matches!(self.cx.kind(value), Kind::Dag { .. }) || self.cx.ty(value) == Ty::DAG
    }
}

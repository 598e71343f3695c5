//! Values: literals, names, instances, and what may follow them.

use super::{Mode, Parser};
use crate::context::{Attempt, Reported};
use crate::node::{Kind, Node};
use crate::ops::{BinOp, UnOp};
use crate::record::RecId;
use crate::source::Span;
use crate::token::{Bang, Tok};
use crate::ty::Ty;

impl Parser {
    /// A value. `want` is the type that its place has, where known: it decides the type of `[]` and is checked by some
    /// operators.
    pub(super) fn parse_value(&mut self, record: Option<RecId>, want: Option<Ty>, mode: Mode) -> Attempt<Node> {
        self.descend()?;
        let result = self.parse_value_here(record, want, mode);
        self.ascend();
        result
    }

    fn parse_value_here(&mut self, record: Option<RecId>, want: Option<Ty>, mode: Mode) -> Attempt<Node> {
        let start = self.tok.span;
        let mut value = self.parse_simple_value(record, want, mode)?;
        loop {
            value = match self.tok.kind {
                // After a name, it begins the body.
                Tok::LeftBrace if mode == Mode::Value => self.parse_bit_suffix(value)?,
                Tok::LeftSquare => self.parse_list_suffix(record, value, start)?,
                Tok::Dot => self.parse_field_suffix(record, value)?,
                Tok::Paste => self.parse_paste(record, want, mode, value)?,
                _ => return Ok(value),
            };
        }
    }

    fn parse_simple_value(&mut self, record: Option<RecId>, want: Option<Ty>, mode: Mode) -> Attempt<Node> {
        let tok = self.tok;
        let value = match tok.kind {
            Tok::Bang(bang) => return self.parse_operator(record, want, bang),
            Tok::True => self.cx.int(1),
            Tok::False => self.cx.int(0),
            Tok::Int => self.cx.int(tok.int),
            Tok::BinaryInt => {
                let bits: Vec<Node> = (0..tok.width).map(|i| Node::bit(i < 64 && tok.int >> i & 1 == 1)).collect();
                self.cx.bits(&bits)
            }
            Tok::String => return Ok(self.parse_string()),
            Tok::CodeBlock => self.cx.code(tok.symbol),
            Tok::Question => Node::UNSET,
            Tok::Identifier => return self.parse_name_or_instance(record, mode),
            Tok::LeftBrace => return self.parse_bits(record),
            Tok::LeftSquare => return self.parse_list(record, want),
            Tok::LeftParen => return self.parse_dag(record),
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        Ok(value)
    }

    /// String literals, which join if they stand next to one another.
    fn parse_string(&mut self) -> Node {
        let first = self.tok.symbol;
        self.advance();
        if !self.at(Tok::String) {
            return self.cx.nodes.string(first);
        }
        let mut text = self.cx.symbols.get(first).to_vec();
        while self.at(Tok::String) {
            text.extend_from_slice(self.cx.symbols.get(self.tok.symbol));
            self.advance();
        }
        self.cx.string(text)
    }

    fn parse_name_or_instance(&mut self, record: Option<RecId>, mode: Mode) -> Attempt<Node> {
        let (name, span) = (self.tok.symbol, self.tok.span);
        self.advance();
        match self.tok.kind {
            // The name of a named argument.
            Tok::Equal => Ok(self.cx.nodes.string(name)),
            Tok::Less => {
                let Some(&class) = self.cx.classes.get(&name) else {
                    let message = format!("'{}' is not a class: it cannot have arguments", self.cx.symbols.shown(name));
                    return Err(self.cx.error(span, message));
                };
                let args = self.parse_arguments(record, class)?;
                self.bind_arguments(class, &args, span)?;
                let args: Vec<Node> = args.iter().flat_map(|arg| [arg.key, arg.value]).collect();
                let value = self.cx.class_value(span, class, &args);
                Ok(self.cx.fold_class_value(value))
            }
            _ => self.identifier(record, name, span, mode),
        }
    }

    fn parse_value_list(&mut self, record: Option<RecId>, want: Option<Ty>) -> Attempt<Vec<Node>> {
        let mut values = vec![self.parse_value(record, want, Mode::Value)?];
        while self.eat(Tok::Comma) {
            // Lists may end with a comma.
            if self.at(Tok::RightSquare) {
                break;
            }
            values.push(self.parse_value(record, want, Mode::Value)?);
        }
        Ok(values)
    }

    /// `{ high, …, low }`
    fn parse_bits(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let open = self.tok.span;
        self.advance();
        let values = if self.at(Tok::RightBrace) { Vec::new() } else { self.parse_value_list(record, None)? };
        self.expect_close(Tok::RightBrace, open, "the list of bits")?;
        let mut bits = Vec::with_capacity(values.len());
        for (i, value) in values.into_iter().enumerate() {
            let kind = self.cx.kind(value);
            match self.cx.types.width(self.cx.ty(value)) {
                Some(width) if matches!(kind, Kind::Bits(_) | Kind::Var(_)) => {
                    for bit in (0..width).rev() {
                        bits.push(self.cx.bit_of(value, bit));
                    }
                }
                _ => match self.cx.cast_to(value, Ty::BIT) {
                    Some(bit) => bits.push(bit),
                    None => {
                        let message = format!("element {i} of the bits is {}, which is no bit", self.cx.text(value));
                        return Err(self.cx.error(open, message));
                    }
                },
            }
        }
        bits.reverse();
        Ok(self.cx.bits(&bits))
    }

    /// `[ value, … ]<type>`
    fn parse_list(&mut self, record: Option<RecId>, want: Option<Ty>) -> Attempt<Node> {
        let open = self.tok.span;
        let wanted = match want {
            None => None,
            Some(want) => match self.cx.types.element(want) {
                Some(element) => Some(element),
                None => return Err(self.cx.error(open, format!("this list should be of type '{}'", self.cx.type_text(want)))),
            },
        };
        self.advance();
        let values = if self.at(Tok::RightSquare) { Vec::new() } else { self.parse_value_list(record, wanted)? };
        self.expect_close(Tok::RightSquare, open, "the list")?;
        let mut given = None;
        if self.at(Tok::Less) {
            let open = self.tok.span;
            self.advance();
            given = Some(self.parse_type()?);
            self.expect_close(Tok::Greater, open, "the list's element type")?;
        }
        let mut found: Option<Ty> = None;
        for &value in values.iter().filter(|&&value| value != Node::UNSET) {
            let ty = self.cx.ty(value);
            found = match found {
                None => Some(ty),
                Some(so_far) => match self.cx.common_type(so_far, ty) {
                    Some(common) => Some(common),
                    None => {
                        let message = format!(
                            "elements of the list have types '{}' and '{}', which have nothing in common",
                            self.cx.type_text(so_far),
                            self.cx.type_text(ty)
                        );
                        return Err(self.cx.error(open, message));
                    }
                },
            };
        }
        for limit in [given, wanted].into_iter().flatten() {
            let ty = given.filter(|_| Some(limit) != given).or(found);
            if let Some(ty) = ty
                && !self.cx.convertible(ty, limit)
            {
                let message = format!("elements of the list are of type '{}', not '{}'", self.cx.type_text(ty), self.cx.type_text(limit));
                return Err(self.cx.error(open, message));
            }
        }
        match given.or(found).or(wanted) {
            Some(element) => Ok(self.cx.list(element, &values)),
            None => Err(self.cx.error(open, "the type of this list is not known; write it after the list: [ … ]<type>")),
        }
    }

    /// `(operator:$name argument:$name, …)`; the operator may be a list.
    fn parse_dag(&mut self, record: Option<RecId>) -> Attempt<Node> {
        let open = self.tok.span;
        self.advance();
        let operator_may_begin =
            matches!(self.tok.kind, Tok::Identifier | Tok::Question | Tok::LeftSquare | Tok::Bang(Bang::Un(UnOp::Cast | UnOp::GetDagOp)));
        if !operator_may_begin {
            return Err(self.unexpected("the operator of a dag, or a list of them"));
        }
        let operator = self.parse_value(record, None, Mode::Value)?;
        let name = self.parse_dag_name()?;
        let (mut args, mut names) = (Vec::new(), Vec::new());
        if !self.at(Tok::RightParen) {
            loop {
                if self.at(Tok::VarName) {
                    args.push(Node::UNSET);
                    names.push(self.cx.nodes.string(self.tok.symbol));
                    self.advance();
                } else {
                    args.push(self.parse_value(record, None, Mode::Value)?);
                    names.push(self.parse_dag_name()?);
                }
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect_close(Tok::RightParen, open, "the dag")?;
        Ok(self.cx.dag(operator, name, &args, &names))
    }

    fn parse_dag_name(&mut self) -> Attempt<Node> {
        if !self.eat(Tok::Colon) {
            return Ok(Node::UNSET);
        }
        let symbol = self.tok.symbol;
        self.expect(Tok::VarName, "after ':' in the dag")?;
        Ok(self.cx.nodes.string(symbol))
    }

    /// `value{bits}`
    fn parse_bit_suffix(&mut self, value: Node) -> Attempt<Node> {
        let open = self.tok.span;
        self.advance();
        let mut bits = self.parse_ranges()?;
        bits.reverse();
        let Some(result) = self.cx.bit_range(value, &bits) else {
            let message = format!("{} has no such bits", self.cx.text(value));
            return Err(self.cx.error(open, message));
        };
        self.expect_close(Tok::RightBrace, open, "the bits")?;
        Ok(result)
    }

    /// `list[indices]`
    fn parse_list_suffix(&mut self, record: Option<RecId>, list: Node, start: Span) -> Attempt<Node> {
        let ty = self.cx.ty(list);
        let Some(element) = self.cx.types.element(ty) else {
            let message = format!("{} of type '{}' is no list", self.cx.text(list), self.cx.type_text(ty));
            return Err(self.cx.error(start, message));
        };
        let open = self.tok.span;
        self.advance();
        let indices = self.parse_indices(record)?;
        let result = if self.cx.types.element(self.cx.ty(indices)).is_some() {
            self.cx.fold_bin(BinOp::ListSlice, list, indices, ty, record)
        } else {
            self.cx.fold_bin(BinOp::ListElement, list, indices, element, record)
        };
        self.expect_close(Tok::RightSquare, open, "the indices")?;
        Ok(result)
    }

    /// Whether a record, or a class of it, has an error that was reported.
    pub(super) fn is_faulty(&self, value: Node) -> bool {
        if let Kind::Def(def) = self.cx.kind(value) {
            return self.cx.records[def].faulty;
        }
        let classes = self.cx.types.classes(self.cx.ty(value)).unwrap_or_default();
        classes.iter().any(|&class| self.cx.records[class].faulty)
    }

    /// `value.field`
    fn parse_field_suffix(&mut self, record: Option<RecId>, value: Node) -> Attempt<Node> {
        self.advance();
        let (symbol, span) = self.expect_identifier("the name of a field after '.'")?;
        let name = self.cx.nodes.string(symbol);
        let ty = match self.cx.kind(value) {
            Kind::Def(def) => self.cx.records[def].field(name).map(|field| field.ty),
            _ => self.cx.field_type(self.cx.ty(value), name),
        };
        match ty {
            Some(ty) => Ok(self.cx.fold_field(value, name, ty, record)),
            None if self.is_faulty(value) => Err(Reported),
            None => {
                let message = format!("{} has no field '{}'", self.cx.text(value), self.cx.symbols.shown(symbol));
                Err(self.cx.error(span, message))
            }
        }
    }

    /// `value # value`: lists join, everything else joins as text.
    fn parse_paste(&mut self, record: Option<RecId>, want: Option<Ty>, mode: Mode, left: Node) -> Attempt<Node> {
        let span = self.tok.span;
        if left == Node::UNSET {
            return Err(self.cx.error(span, "'?' cannot be pasted"));
        }
        let ends = |kind| matches!(kind, Tok::Colon | Tok::Semicolon | Tok::LeftBrace);
        let ty = self.cx.ty(left);
        if self.cx.types.element(ty).is_some() {
            self.advance();
            if mode == Mode::Name {
                return Err(self.cx.error(span, "a list cannot be part of a name"));
            }
            if ends(self.tok.kind) {
                return Ok(left);
            }
            let right = self.parse_value(record, want, Mode::Value)?;
            return Ok(match self.cx.concat_lists(left, right) {
                Some(list) => list,
                None => self.cx.bin(BinOp::ListConcat, left, right, ty),
            });
        }
        let left = self.as_text(left, span, record)?;
        self.advance();
        let right = if ends(self.tok.kind) {
            self.cx.string("")
        } else {
            let right = self.parse_value(record, None, Mode::Name)?;
            self.as_text(right, span, record)?
        };
        Ok(self.cx.fold_bin(BinOp::StrConcat, left, right, Ty::STRING, record))
    }

    fn as_text(&mut self, value: Node, span: Span, record: Option<RecId>) -> Attempt<Node> {
        if value == Node::UNSET {
            return Err(self.cx.error(span, "'?' cannot be pasted"));
        }
        if self.cx.ty(value) == Ty::STRING {
            return Ok(value);
        }
        Ok(self.cx.fold_un(UnOp::Cast, value, Ty::STRING, record, false))
    }
}

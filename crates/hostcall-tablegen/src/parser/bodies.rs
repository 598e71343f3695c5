//! Bodies of classes and definitions: what they inherit, declare and set.

use super::{Mode, Parser, Setting};
use crate::context::{Attempt, Reported};
use crate::diagnostic::Diagnostic;
use crate::node::{Kind, Node};
use crate::ops::BinOp;
use crate::record::{Check, Field, FieldKind, RecId};
use crate::source::Span;
use crate::symbol::Symbol;
use crate::token::Tok;
use crate::ty::TyKind;

use super::scope::Scope;

/// `class<arguments>` as something to inherit.
pub(super) struct Superclass {
    class: RecId,
    /// The value of each of its arguments.
    args: Vec<(Node, Node)>,
    span: Span,
}

impl Parser {
    pub(super) fn parse_superclass(&mut self, record: Option<RecId>) -> Attempt<Superclass> {
        let span = self.tok.span;
        let class = self.parse_class_name()?;
        let args = if self.at(Tok::Less) { self.parse_arguments(record, class)? } else { Vec::new() };
        let args = self.bind_arguments(class, &args, span)?;
        Ok(Superclass { class, args, span })
    }

    pub(super) fn inherit(&mut self, record: RecId, from: &Superclass) -> Attempt<()> {
        self.cx.inherit(record, from.class, from.span, &from.args)
    }

    /// `: classes { body }`
    pub(super) fn parse_object_body(&mut self, record: RecId) -> Attempt<()> {
        self.within(Scope::record(record), |parser| {
            if parser.eat(Tok::Colon) {
                loop {
                    let superclass = parser.parse_superclass(Some(record))?;
                    parser.inherit(record, &superclass)?;
                    if !parser.eat(Tok::Comma) {
                        break;
                    }
                }
            }
            parser.apply_lets(record)?;
            parser.parse_body(record)
        })
    }

    fn parse_body(&mut self, record: RecId) -> Attempt<()> {
        if self.eat(Tok::Semicolon) {
            return Ok(());
        }
        if !self.at(Tok::LeftBrace) {
            return Err(self.unexpected("'{' before the body, or ';' for none"));
        }
        self.advance();
        while !self.eat(Tok::RightBrace) {
            let (nesting, bound) = (self.nesting, self.bound.len());
            let outer = self.cx.here.replace(self.tok.span);
            let result = self.parse_body_item(record);
            self.cx.here = outer;
            if result.is_err() {
                self.nesting = nesting;
                self.bound.truncate(bound);
                self.cx.records[record].faulty = true;
                self.skip_item()?;
            }
        }
        let span = self.tok.span;
        if self.eat(Tok::Semicolon) {
            self.cx.report(Diagnostic::error(span, "no ';' may follow a body").with_note("remove it"));
        }
        Ok(())
    }

    /// After an error in a body: goes behind the next ';', or to the '}' that ends the body.
    fn skip_item(&mut self) -> Attempt<()> {
        let mut depth = 0_u32;
        loop {
            match self.tok.kind {
                Tok::Eof => return Err(Reported),
                Tok::Semicolon if depth == 0 => {
                    self.advance();
                    return Ok(());
                }
                Tok::RightBrace if depth == 0 => return Ok(()),
                Tok::LeftBrace | Tok::LeftParen | Tok::LeftSquare => depth += 1,
                Tok::RightBrace | Tok::RightParen | Tok::RightSquare => depth = depth.saturating_sub(1),
                kind if kind.starts_statement() && self.cx.sources.location(self.tok.span).column == 1 => return Err(Reported),
                _ => {}
            }
            self.advance();
        }
    }

    fn parse_body_item(&mut self, record: RecId) -> Attempt<()> {
        match self.tok.kind {
            Tok::Assert => {
                let check = self.parse_assert(Some(record))?;
                self.cx.records[record].asserts.push(check);
                Ok(())
            }
            Tok::Dump => {
                let check = self.parse_dump(Some(record))?;
                self.cx.records[record].dumps.push(check);
                Ok(())
            }
            Tok::Defvar => self.parse_defvar(Some(record)),
            Tok::Let => self.parse_field_let(record),
            _ => {
                self.parse_declaration(Some(record), record, FieldKind::Normal)?;
                self.expect(Tok::Semicolon, "after the declaration").map(|_| ())
            }
        }
    }

    /// The name of a field after `let`, which `append` or `prepend` may be before. (Fields may have these names, too.)
    pub(super) fn parse_let_name(&mut self) -> Attempt<(Symbol, Span, Setting)> {
        let (symbol, span) = self.expect_identifier("the name of a field after 'let'")?;
        let how = match self.cx.symbols.get(symbol) {
            b"append" if self.at(Tok::Identifier) => Setting::Append,
            b"prepend" if self.at(Tok::Identifier) => Setting::Prepend,
            _ => return Ok((symbol, span, Setting::Replace)),
        };
        let (symbol, span) = self.expect_identifier("the name of a field")?;
        Ok((symbol, span, how))
    }

    /// `let name{bits} = value;`, `let append name = value;`
    fn parse_field_let(&mut self, record: RecId) -> Attempt<()> {
        self.advance();
        let (symbol, span, how) = self.parse_let_name()?;
        let name = self.cx.nodes.string(symbol);
        let bits = self.parse_optional_ranges(Tok::LeftBrace, Tok::RightBrace)?;
        self.expect(Tok::Equal, "after the field's name")?;
        let Some(&field) = self.cx.records[record].field(name) else {
            return Err(self.no_such_field(record, name, span));
        };
        // Of `bits`, the value is as wide as what it sets.
        let partial = !bits.is_empty() && self.cx.types.width(field.ty).is_some();
        let want = if partial { self.cx.types.bits(bits.len() as u32) } else { field.ty };
        let value = self.parse_value(Some(record), Some(want), Mode::Value)?;
        self.expect(Tok::Semicolon, "after the value")?;
        let value = self.extended(record, span, name, (how, &bits), value)?;
        self.set_field(record, span, name, &bits, value)?;
        Ok(())
    }

    /// What a field is set to: `value`, or what it is and `value`.
    fn extended(&mut self, record: RecId, span: Span, name: Node, (how, bits): (Setting, &[u32]), value: Node) -> Attempt<Node> {
        if how == Setting::Replace {
            return Ok(value);
        }
        let Some(&Field { ty, value: current, .. }) = self.cx.records[record].field(name) else {
            return Err(self.no_such_field(record, name, span));
        };
        let op = match self.cx.types.kind(ty) {
            TyKind::List(_) => BinOp::ListConcat,
            TyKind::String => BinOp::StrConcat,
            TyKind::Dag => BinOp::Concat,
            _ => {
                let message = format!(
                    "field '{}' is of type '{}', and lists, strings and dags can be extended",
                    self.cx.unquoted(name),
                    self.cx.type_text(ty)
                );
                return Err(self.cx.error(span, message));
            }
        };
        if !bits.is_empty() {
            return Err(self.cx.error(span, "bits are set, not extended"));
        }
        let Some(value) = self.cx.stored(value, ty) else { return Ok(value) };
        Ok(match (how, current) {
            (_, Node::UNSET) => value,
            (Setting::Append, current) => self.cx.fold_bin(op, current, value, ty, Some(record)),
            (_, current) => self.cx.fold_bin(op, value, current, ty, Some(record)),
        })
    }

    fn no_such_field(&mut self, record: RecId, name: Node, span: Span) -> Reported {
        // It may be one whose declaration was not understood.
        if self.cx.records[record].faulty {
            return Reported;
        }
        let message = format!("'{}' has no field '{}'", self.cx.record_name(record), self.cx.unquoted(name));
        self.cx.error(span, message)
    }

    /// `field? type name = value`, as a field of `record` or as one of its arguments. The name, qualified if an
    /// argument. `scope` is what the value may refer to.
    pub(super) fn parse_declaration(&mut self, scope: Option<RecId>, record: RecId, kind: FieldKind) -> Attempt<Node> {
        let kind = if self.eat(Tok::Field) && kind == FieldKind::Normal { FieldKind::MayBeUnresolved } else { kind };
        let ty = self.parse_type()?;
        let (symbol, span) = self.expect_identifier("a name in the declaration")?;
        if self.cx.symbols.get(symbol) == b"NAME" {
            return Err(self.cx.error(span, "'NAME' stands for the name of the record and cannot be declared"));
        }
        if kind != FieldKind::TemplateArg && self.is_defined_here(symbol) {
            let message = format!("there is a variable '{}' here already", self.cx.symbols.shown(symbol));
            return Err(self.cx.error(span, message));
        }
        let mut name = self.cx.nodes.string(symbol);
        if kind == FieldKind::TemplateArg {
            name = self.cx.qualified(record, name);
        }
        let unset = self.cx.stored(Node::UNSET, ty).unwrap_or(Node::UNSET);
        self.cx.add_field(record, span, Field { name, ty, kind, used: false, value: unset, span })?;
        if self.eat(Tok::Equal) {
            let at = self.tok.span;
            let value = self.parse_value(scope, Some(ty), Mode::Value)?;
            let declared = span;
            self.set_field(record, at, name, &[], value)?;
            if let Some(index) = self.cx.records[record].field_index(name) {
                self.cx.records[record].fields[index].span = declared;
            }
        }
        Ok(name)
    }

    /// `<declaration, …>`: the arguments of a class or multiclass.
    pub(super) fn parse_template_args(&mut self, scope: Option<RecId>, record: RecId) -> Attempt<()> {
        let open = self.expect(Tok::Less, "before the arguments")?;
        loop {
            let span = self.tok.span;
            let name = self.parse_declaration(scope, record, FieldKind::TemplateArg)?;
            if self.cx.records[record].template_args.contains(&name) {
                let message = format!("there is an argument '{}' already", self.cx.unquoted(name));
                return Err(self.cx.error(span, message));
            }
            self.cx.records[record].template_args.push(name);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect_close(Tok::Greater, open, "the arguments")
    }

    /// Warns of arguments that nothing refers to.
    pub(super) fn check_unused_args(&mut self, record: RecId) {
        if !self.cx.options.warn_unused_template_args {
            return;
        }
        for i in 0..self.cx.records[record].fields.len() {
            let field = self.cx.records[record].fields[i];
            if field.kind == FieldKind::TemplateArg && !field.used {
                let message = format!("argument '{}' is not used", self.cx.unquoted(field.name));
                self.cx.report(Diagnostic::warning(field.span, message));
            }
        }
    }

    /// Sets a field, or some of its bits.
    pub(super) fn set_field(&mut self, record: RecId, span: Span, name: Node, bits: &[u32], value: Node) -> Attempt<()> {
        let Some(at) = self.cx.records[record].field_index(name) else {
            return Err(self.no_such_field(record, name, span));
        };
        let Field { ty, value: current, .. } = self.cx.records[record].fields[at];
        let value = if bits.is_empty() {
            if matches!(self.cx.kind(value), Kind::Var(own) if own == name) {
                let message = format!("'{}' is set to itself", self.cx.unquoted(name));
                return Err(self.cx.error(span, message));
            }
            value
        } else {
            self.with_bits(span, name, current, bits, value)?
        };
        match self.cx.stored(value, ty) {
            Some(stored) => {
                let field = &mut self.cx.records[record].fields[at];
                field.value = stored;
                field.span = span;
                Ok(())
            }
            None if self.is_faulty(value) => Err(Reported),
            None => {
                let message = format!(
                    "field '{}' is of type '{}', but {} is of type '{}'",
                    self.cx.unquoted(name),
                    self.cx.type_text(ty),
                    self.cx.text(value),
                    self.cx.type_text(self.cx.ty(value))
                );
                Err(self.cx.error(span, message))
            }
        }
    }

    /// `current` with some of its bits replaced.
    fn with_bits(&mut self, span: Span, name: Node, current: Node, bits: &[u32], value: Node) -> Attempt<Node> {
        let Kind::Bits(items) = self.cx.kind(current) else {
            let message = format!("field '{}' has no bits to set", self.cx.unquoted(name));
            return Err(self.cx.error(span, message));
        };
        let ty = self.cx.types.bits(bits.len() as u32);
        let Some(value) = self.cx.cast_to(value, ty) else {
            let message = format!("{} is no value of {} bits", self.cx.text(value), bits.len());
            return Err(self.cx.error(span, message));
        };
        let mut new: Vec<Option<Node>> = vec![None; items.len()];
        for (i, &bit) in bits.iter().enumerate() {
            let source = self.cx.bit_of(value, i as u32);
            match new.get_mut(bit as usize) {
                Some(slot @ None) => *slot = Some(source),
                Some(_) => {
                    let message = format!("bit {bit} of '{}' is set twice", self.cx.unquoted(name));
                    return Err(self.cx.error(span, message));
                }
                None => {
                    let message = format!("'{}' has no bit {bit}: it has {}", self.cx.unquoted(name), items.len());
                    return Err(self.cx.error(span, message));
                }
            }
        }
        let new: Vec<Node> = new.into_iter().enumerate().map(|(i, bit)| bit.unwrap_or_else(|| self.cx.nodes.item(items, i))).collect();
        Ok(self.cx.bits(&new))
    }

    /// Applies the `let … in` around a record, the outermost first.
    pub(super) fn apply_lets(&mut self, record: RecId) -> Attempt<()> {
        let lets = std::mem::take(&mut self.lets);
        let result = lets.iter().flatten().try_for_each(|item| {
            let value = self.extended(record, item.span, item.name, (item.how, &item.bits), item.value)?;
            self.set_field(record, item.span, item.name, &item.bits, value)
        });
        self.lets = lets;
        result
    }

    /// `assert condition, message;`
    pub(super) fn parse_assert(&mut self, record: Option<RecId>) -> Attempt<Check> {
        self.advance();
        let span = self.tok.span;
        let condition = self.parse_value(record, None, Mode::Value)?;
        self.expect(Tok::Comma, "and a message after the condition")?;
        let message = self.parse_value(record, None, Mode::Value)?;
        self.expect(Tok::Semicolon, "after the assert")?;
        Ok(Check { span, condition: Some(condition), message })
    }

    /// `dump message;`
    pub(super) fn parse_dump(&mut self, record: Option<RecId>) -> Attempt<Check> {
        let span = self.tok.span;
        self.advance();
        let mut message = self.parse_value(record, None, Mode::Value)?;
        if matches!(self.cx.kind(message), Kind::Def(_)) {
            message = self.cx.fold_un(crate::ops::UnOp::Repr, message, crate::ty::Ty::STRING, record, false);
        }
        self.expect(Tok::Semicolon, "after the dump")?;
        Ok(Check { span, condition: None, message })
    }
}

//! Statements that define things.

use super::scope::Scope;
use super::{Defset, Entry, Let, Mode, Parser};
use crate::context::Attempt;
use crate::diagnostic::Diagnostic;
use crate::node::Node;
use crate::record::{RecId, Record, RecordKind};
use crate::resolve::Mentions;
use crate::source::Span;
use crate::token::Tok;
use crate::ty::{Ty, TyKind};

impl Parser {
    pub(super) fn parse_statement(&mut self) -> Attempt<()> {
        self.descend()?;
        let outer = self.cx.here.replace(self.tok.span);
        let result = self.parse_statement_here();
        self.cx.here = outer;
        self.ascend();
        result
    }

    fn parse_statement_here(&mut self) -> Attempt<()> {
        let span = self.tok.span;
        let forbidden = |within: &str, what: Tok| format!("{} is not allowed inside {within}", what.describe());
        match self.tok.kind {
            Tok::Assert => {
                let check = self.parse_assert(None)?;
                self.add_entry(Entry::Check(check))
            }
            Tok::Dump => self.parse_dump_statement(),
            Tok::Def => self.parse_def(),
            Tok::Defm => self.parse_defm(),
            Tok::Deftype => self.parse_deftype(),
            Tok::Defvar => self.parse_defvar(None),
            Tok::Foreach => self.parse_foreach(),
            Tok::If => self.parse_if(),
            Tok::Let => self.parse_let(),
            kind @ (Tok::Defset | Tok::Class | Tok::Multiclass) if self.multiclass.is_some() => {
                Err(self.cx.error(span, forbidden("a multiclass", kind)))
            }
            kind @ (Tok::Class | Tok::Multiclass) if !self.loops.is_empty() => Err(self.cx.error(span, forbidden("a loop", kind))),
            Tok::Defset => self.parse_defset(),
            Tok::Class => self.parse_class(),
            Tok::Multiclass => self.parse_multiclass(),
            _ => Err(self.unexpected("a statement")),
        }
    }

    pub(super) fn parse_statements(&mut self) -> Attempt<()> {
        while self.tok.kind.starts_statement() {
            self.parse_statement()?;
        }
        Ok(())
    }

    /// One statement, or several in braces.
    pub(super) fn parse_block(&mut self, what: &str) -> Attempt<()> {
        if !self.at(Tok::LeftBrace) {
            return self.parse_statement();
        }
        let open = self.tok.span;
        self.advance();
        self.parse_statements()?;
        self.expect_close(Tok::RightBrace, open, what)
    }

    fn parse_dump_statement(&mut self) -> Attempt<()> {
        let mut check = self.parse_dump(None)?;
        let mut nothing = Mentions { name: Node::UNSET, found: false, is_final: true };
        check.message = self.cx.resolve(check.message, &mut nothing);
        self.add_entry(Entry::Check(check))
    }

    /// The name of a `def` or `defm`; `?` for none.
    pub(super) fn parse_object_name(&mut self) -> Attempt<Node> {
        if matches!(self.tok.kind, Tok::Colon | Tok::Semicolon | Tok::LeftBrace) {
            return Ok(Node::UNSET);
        }
        let Some(multiclass) = self.multiclass else {
            return self.parse_value(None, Some(Ty::STRING), Mode::Name);
        };
        let record = self.multiclasses[multiclass].record;
        let name = self.parse_value(Some(record), Some(Ty::STRING), Mode::Name)?;
        // Unless it says where the name of the `defm` goes, that goes in front.
        let implicit = self.cx.qualified_implicit_name(record);
        let mut mentions = Mentions { name: implicit, found: false, is_final: false };
        self.cx.resolve(name, &mut mentions);
        if mentions.found {
            return Ok(name);
        }
        let prefix = self.cx.var(implicit, Ty::STRING);
        Ok(self.cx.fold_bin(crate::ops::BinOp::StrConcat, prefix, name, Ty::STRING, None))
    }

    fn parse_def(&mut self) -> Attempt<()> {
        let start = self.tok.span;
        self.advance();
        let span = if self.at(Tok::Identifier) { self.tok.span } else { start };
        let name = self.parse_object_name()?;
        let record = if name == Node::UNSET {
            let name = self.cx.anonymous_name();
            Record::new(name, RecordKind::AnonymousDef, start)
        } else {
            if self.cx.ty(name) != Ty::STRING {
                let message = format!(
                    "the name of a record is a string, not {} of type '{}'",
                    self.cx.text(name),
                    self.cx.type_text(self.cx.ty(name))
                );
                return Err(self.cx.error(span, message));
            }
            Record::new(name, RecordKind::Def, span)
        };
        let record = self.cx.add_record(record);
        if let Err(reported) = self.parse_object_body(record) {
            // References to it are not at fault.
            self.cx.records[record].faulty = true;
            if let (None, Some(symbol)) = (self.multiclass, self.cx.symbol_of(name)) {
                self.cx.defs.entry(symbol).or_insert(record);
            }
            return Err(reported);
        }
        self.add_entry(Entry::Record(record))
    }

    fn parse_class(&mut self) -> Attempt<()> {
        self.advance();
        let (name, span) = self.expect_identifier("the name of a class")?;
        let class = match self.cx.classes.get(&name) {
            Some(&class) => {
                let known = &self.cx.records[class];
                if !(known.fields.is_empty() && known.supers.is_empty() && known.template_args.is_empty()) {
                    let earlier = known.span();
                    let message = format!("class '{}' is defined already", self.cx.symbols.shown(name));
                    return Err(self.cx.report(Diagnostic::error(span, message).with_label(earlier, "defined here before")));
                }
                // It was only declared before.
                self.cx.records[class].spans = vec![span];
                class
            }
            None => {
                if self.type_name_taken(name) {
                    let message = format!("there is a type '{}' already", self.cx.symbols.shown(name));
                    return Err(self.cx.error(span, message));
                }
                let node = self.cx.nodes.string(name);
                let class = self.cx.add_record(Record::new(node, RecordKind::Class, span));
                self.cx.classes.insert(name, class);
                class
            }
        };
        self.within(Scope::record(class), |parser| {
            if parser.at(Tok::Less) {
                parser.parse_template_args(Some(class), class)?;
            }
            parser.parse_object_body(class)
        })?;
        if !self.cx.records[class].faulty {
            self.check_unused_args(class);
        }
        Ok(())
    }

    fn parse_defset(&mut self) -> Attempt<()> {
        self.advance();
        let span = self.tok.span;
        let ty = self.parse_type()?;
        let TyKind::List(element) = *self.cx.types.kind(ty) else {
            let message = format!("a defset is a list, not '{}'", self.cx.type_text(ty));
            return Err(self.cx.error(span, message));
        };
        let (name, at) = self.expect_identifier("the name of the defset")?;
        self.require_new_global(name, at)?;
        self.expect(Tok::Equal, "after the name")?;
        let open = self.tok.span;
        self.expect(Tok::LeftBrace, "after '='")?;
        let depth = self.defsets.len();
        self.defsets.push(Defset { span, element, items: Vec::new() });
        let result = self.parse_statements();
        let items = self.defsets.get(depth).map(|defset| defset.items.clone()).unwrap_or_default();
        self.defsets.truncate(depth);
        result?;
        self.expect_close(Tok::RightBrace, open, "the defset")?;
        let list = self.cx.list(element, &items);
        self.cx.globals.insert(name, list);
        Ok(())
    }

    fn require_new_global(&mut self, name: crate::symbol::Symbol, span: Span) -> Attempt<()> {
        let message = format!("there is a record or variable '{}' already", self.cx.symbols.shown(name));
        if let Some(&earlier) = self.cx.defs.get(&name) {
            let earlier = self.cx.records[earlier].span();
            return Err(self.cx.report(Diagnostic::error(span, message).with_label(earlier, "defined here before")));
        }
        if self.cx.globals.contains_key(&name) {
            return Err(self.cx.error(span, message));
        }
        Ok(())
    }

    /// `deftype name = type;`
    fn parse_deftype(&mut self) -> Attempt<()> {
        self.advance();
        let (name, span) = self.expect_identifier("a name for the type")?;
        if self.type_name_taken(name) {
            let message = format!("there is a type '{}' already", self.cx.symbols.shown(name));
            return Err(self.cx.error(span, message));
        }
        self.expect(Tok::Equal, "after the name")?;
        let at = self.tok.span;
        let ty = self.parse_type()?;
        if matches!(self.cx.types.kind(ty), TyKind::Record(_)) {
            let message = format!("'{}' is a class; a class cannot have a second name", self.cx.type_text(ty));
            return Err(self.cx.error(at, message));
        }
        self.aliases.insert(name, ty);
        self.expect(Tok::Semicolon, "after the type").map(|_| ())
    }

    /// `defvar name = value;`
    pub(super) fn parse_defvar(&mut self, record: Option<RecId>) -> Attempt<()> {
        self.advance();
        let (name, span) = self.expect_identifier("the name of a variable")?;
        if self.is_defined_here(name) {
            let message = format!("there is a variable '{}' here already", self.cx.symbols.shown(name));
            return Err(self.cx.error(span, message));
        }
        if let Some(record) = record {
            let node = self.cx.nodes.string(name);
            if let Some(field) = self.cx.records[record].field(node) {
                let earlier = field.span;
                let message = format!("there is a field '{}' already", self.cx.symbols.shown(name));
                return Err(self.cx.report(Diagnostic::error(span, message).with_label(earlier, "declared here before")));
            }
        }
        if self.is_outermost() {
            self.require_new_global(name, span)?;
        }
        self.expect(Tok::Equal, "after the name")?;
        let value = self.parse_value(record, None, Mode::Value)?;
        self.expect(Tok::Semicolon, "after the value")?;
        if self.is_outermost() {
            self.cx.globals.insert(name, value);
        } else if let Some(scope) = self.scopes.last_mut() {
            scope.define(name, value);
        }
        Ok(())
    }

    /// `let name<bits> = value, append name = value, … in statements`
    fn parse_let(&mut self) -> Attempt<()> {
        self.advance();
        let mut items = Vec::new();
        loop {
            let (symbol, span, how) = self.parse_let_name()?;
            let name = self.cx.nodes.string(symbol);
            let bits = self.parse_optional_ranges(Tok::Less, Tok::Greater)?;
            self.expect(Tok::Equal, "after the field's name")?;
            let value = self.parse_value(None, None, Mode::Value)?;
            items.push(Let { name, span, bits, value, how });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::In, "after the values of 'let'")?;
        let depth = self.lets.len();
        self.lets.push(items);
        let result = if self.at(Tok::LeftBrace) {
            self.within(Scope::local(), |parser| parser.parse_block("the 'let'"))
        } else {
            self.parse_statement()
        };
        self.lets.truncate(depth);
        result
    }
}

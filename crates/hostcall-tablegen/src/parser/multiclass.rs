//! Multiclasses and their use.

use super::bodies::Superclass;
use super::scope::Scope;
use super::{Entry, MultiClass, Parser};
use crate::context::Attempt;
use crate::diagnostic::Diagnostic;
use crate::node::Node;
use crate::ops::BinOp;
use crate::record::{RecId, Record, RecordKind};
use crate::source::Span;
use crate::token::Tok;
use crate::ty::Ty;

impl Parser {
    /// `multiclass name<arguments> : multiclasses { statements }`
    pub(super) fn parse_multiclass(&mut self) -> Attempt<()> {
        self.advance();
        let (name, span) = self.expect_identifier("the name of a multiclass")?;
        if let Some(&known) = self.multiclass_names.get(&name) {
            let earlier = self.cx.records[self.multiclasses[known].record].span();
            let message = format!("multiclass '{}' is defined already", self.cx.symbols.shown(name));
            return Err(self.cx.report(Diagnostic::error(span, message).with_label(earlier, "defined here before")));
        }
        let node = self.cx.nodes.string(name);
        let record = self.cx.add_record(Record::new(node, RecordKind::MultiClass, span));
        let index = self.multiclasses.len();
        self.multiclasses.push(MultiClass { record, entries: Vec::new() });
        self.multiclass_names.insert(name, index);
        self.multiclass = Some(index);
        let result = self.within(Scope::multiclass(record), |parser| parser.parse_multiclass_body(index, record));
        self.multiclass = None;
        result?;
        self.check_unused_args(record);
        Ok(())
    }

    fn parse_multiclass_body(&mut self, index: usize, record: RecId) -> Attempt<()> {
        if self.at(Tok::Less) {
            self.parse_template_args(None, record)?;
        }
        let mut inherits = false;
        if self.eat(Tok::Colon) {
            inherits = true;
            loop {
                self.parse_parent_multiclass(index, record)?;
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        if inherits && self.eat(Tok::Semicolon) {
            return Ok(());
        }
        let open = self.tok.span;
        if !self.at(Tok::LeftBrace) {
            return Err(self.unexpected("'{' before the body of the multiclass"));
        }
        self.advance();
        if self.at(Tok::RightBrace) {
            return Err(self.cx.error(open, "a multiclass must define something"));
        }
        self.parse_statements()?;
        self.expect_close(Tok::RightBrace, open, "the multiclass")?;
        let span = self.tok.span;
        if self.eat(Tok::Semicolon) {
            self.cx.report(Diagnostic::error(span, "no ';' may follow a body").with_note("remove it"));
        }
        Ok(())
    }

    fn parse_parent_multiclass(&mut self, index: usize, record: RecId) -> Attempt<()> {
        let span = self.tok.span;
        let parent = self.parse_multiclass_name()?;
        let implicit = self.cx.qualified_implicit_name(record);
        let name = self.cx.var(implicit, Ty::STRING);
        let mut dest = Some(Vec::new());
        self.expand(parent, Some(record), name, span, false, &mut dest, None)?;
        self.multiclasses[index].entries.extend(dest.unwrap_or_default());
        Ok(())
    }

    fn parse_multiclass_name(&mut self) -> Attempt<usize> {
        let (name, span) = self.expect_identifier("the name of a multiclass")?;
        match self.multiclass_names.get(&name) {
            Some(&index) => Ok(index),
            None => {
                let mut diagnostic = Diagnostic::error(span, format!("there is no multiclass '{}'", self.cx.symbols.shown(name)));
                if self.cx.classes.contains_key(&name) {
                    diagnostic = diagnostic.with_note("it is a class: those are used with 'def', or after the multiclasses of a 'defm'");
                }
                Err(self.cx.report(diagnostic))
            }
        }
    }

    /// Reads a multiclass's arguments and adds what it makes with them to `dest`.
    #[expect(clippy::too_many_arguments, reason = "each says one thing about the instantiation, and there are two callers")]
    fn expand(
        &mut self,
        index: usize,
        scope: Option<RecId>,
        name: Node,
        span: Span,
        is_final: bool,
        dest: &mut Option<Vec<Entry>>,
        defm: Option<Span>,
    ) -> Attempt<()> {
        let record = self.multiclasses[index].record;
        let args = match (self.at(Tok::Less), scope) {
            (false, _) => Vec::new(),
            (true, None) => self.parse_arguments(scope, record)?,
            (true, Some(_)) => self.parse_parent_arguments(scope, record)?,
        };
        let mut substitutions = vec![(self.cx.qualified_implicit_name(record), name)];
        substitutions.extend(self.bind_arguments(record, &args, span)?);
        // A multiclass that uses itself sees nothing of what it makes: it is not finished.
        let entries = std::mem::take(&mut self.multiclasses[index].entries);
        let result = self.resolve_entries(&entries, &mut substitutions, is_final, dest, defm);
        let added = std::mem::replace(&mut self.multiclasses[index].entries, entries);
        self.multiclasses[index].entries.extend(added);
        result
    }

    /// `defm name : multiclasses, classes;`
    pub(super) fn parse_defm(&mut self) -> Attempt<()> {
        self.advance();
        let mut name = self.parse_object_name()?;
        if name == Node::UNSET {
            name = self.cx.anonymous_name();
            if let Some(multiclass) = self.multiclass {
                let implicit = self.cx.qualified_implicit_name(self.multiclasses[multiclass].record);
                let prefix = self.cx.var(implicit, Ty::STRING);
                name = self.cx.fold_bin(BinOp::StrConcat, prefix, name, Ty::STRING, None);
            }
        }
        self.expect(Tok::Colon, "after the name of the defm")?;
        let is_final = self.multiclass.is_none() && self.loops.is_empty();
        let mut made = Some(Vec::new());
        let mut classes = false;
        loop {
            let span = self.tok.span;
            let multiclass = self.parse_multiclass_name()?;
            self.expand(multiclass, None, name, span, is_final, &mut made, Some(span))?;
            if !self.eat(Tok::Comma) {
                break;
            }
            if !self.at(Tok::Identifier) {
                return Err(self.unexpected("the name of a multiclass or class"));
            }
            // Classes may follow the multiclasses.
            classes = self.cx.classes.contains_key(&self.tok.symbol);
            if classes {
                break;
            }
        }
        let made = made.unwrap_or_default();
        if classes {
            loop {
                let superclass = self.parse_superclass(None)?;
                self.inherit_all(&made, &superclass)?;
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        for entry in made {
            self.apply_lets_to(&entry)?;
            self.add_entry(entry)?;
        }
        self.expect(Tok::Semicolon, "at the end of the defm").map(|_| ())
    }

    fn inherit_all(&mut self, entries: &[Entry], superclass: &Superclass) -> Attempt<()> {
        for entry in entries {
            match entry {
                Entry::Record(record) => self.inherit(*record, superclass)?,
                Entry::Loop(of) => self.inherit_all(&of.entries, superclass)?,
                Entry::Check(_) => {}
            }
        }
        Ok(())
    }

    fn apply_lets_to(&mut self, entry: &Entry) -> Attempt<()> {
        match entry {
            Entry::Record(record) => self.apply_lets(*record),
            Entry::Loop(of) => of.entries.iter().try_for_each(|entry| self.apply_lets_to(entry)),
            Entry::Check(_) => Ok(()),
        }
    }
}

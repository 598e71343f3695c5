//! Loops and conditions, and carrying out what was put off.

use super::scope::Scope;
use super::{Entry, Loop, Mode, Parser};
use crate::context::Attempt;
use crate::diagnostic::Diagnostic;
use crate::node::{Kind, Node};
use crate::ops::TernOp;
use crate::record::RecId;
use crate::resolve::MapResolver;
use crate::source::Span;
use crate::token::Tok;
use crate::ty::Ty;

/// Names and what they stand for, the outermost first.
pub(super) type Substitutions = Vec<(Node, Node)>;

fn resolver(record: Option<RecId>, substitutions: &Substitutions) -> MapResolver {
    let mut resolver = MapResolver::new(record);
    for &(name, value) in substitutions {
        resolver.set(name, value);
    }
    resolver
}

impl Parser {
    /// `foreach name = list in statements`
    pub(super) fn parse_foreach(&mut self) -> Attempt<()> {
        let span = self.tok.span;
        self.advance();
        let (symbol, _) = self.expect_identifier("the name of the loop's variable")?;
        let name = self.cx.nodes.string(symbol);
        self.expect(Tok::Equal, "after the loop's variable")?;
        let (list, element) = self.parse_loop_list()?;
        self.expect(Tok::In, "after the loop's list")?;
        let variable = self.cx.var(name, element);
        self.parse_loop_body(span, Some(variable), list, "the loop")
    }

    /// The list of a loop, and the type of its elements.
    fn parse_loop_list(&mut self) -> Attempt<(Node, Ty)> {
        let mut numbers = Vec::new();
        let span = self.tok.span;
        if self.at(Tok::LeftBrace) {
            self.advance();
            numbers = self.parse_ranges()?;
            self.expect_close(Tok::RightBrace, span, "the range")?;
        } else {
            let value = self.parse_value(None, None, Mode::Value)?;
            if let Some(element) = self.cx.types.element(self.cx.ty(value)) {
                return Ok((value, element));
            }
            if value == Node::UNSET {
                return Err(self.cx.error(span, "a loop needs a list, not '?'"));
            }
            self.parse_range(Some((value, span)), &mut numbers)?;
        }
        let numbers: Vec<Node> = numbers.into_iter().map(|number| self.cx.int(i64::from(number))).collect();
        Ok((self.cx.list(Ty::INT, &numbers), Ty::INT))
    }

    /// Reads what a loop repeats, and runs it or puts it off.
    fn parse_loop_body(&mut self, span: Span, variable: Option<Node>, list: Node, what: &str) -> Attempt<()> {
        let depth = self.loops.len();
        self.loops.push(Loop { span, variable, list, entries: Vec::new() });
        let result = self.within(Scope::of_loop(variable), |parser| parser.parse_block(what));
        let done = if self.loops.len() > depth { self.loops.pop() } else { None };
        self.loops.truncate(depth);
        result?;
        match done {
            Some(done) => self.add_entry(Entry::Loop(done)),
            None => Ok(()),
        }
    }

    /// `if condition then statements else statements`: two loops over a list of none or one.
    pub(super) fn parse_if(&mut self) -> Attempt<()> {
        let span = self.tok.span;
        self.advance();
        let condition = self.parse_value(None, None, Mode::Value)?;
        self.expect(Tok::Then, "after the condition")?;
        let none = self.cx.list(Ty::BIT, &[]);
        let once = self.cx.list(Ty::BIT, &[Node::TRUE]);
        let ty = self.cx.types.list(Ty::BIT);
        let list = self.cx.fold_tern(TernOp::If, condition, once, none, ty, None);
        self.parse_loop_body(span, None, list, "the 'then' part")?;
        if self.eat(Tok::Else) {
            let list = self.cx.fold_tern(TernOp::If, condition, none, once, ty, None);
            self.parse_loop_body(span, None, list, "the 'else' part")?;
        }
        Ok(())
    }

    /// Carries an entry out, or hands it to the loop or multiclass around it.
    pub(super) fn add_entry(&mut self, entry: Entry) -> Attempt<()> {
        if let Some(around) = self.loops.last_mut() {
            around.entries.push(entry);
            return Ok(());
        }
        match (entry, self.multiclass) {
            (Entry::Loop(done), None) => self.resolve_loop(&done, &mut Vec::new(), true, &mut None),
            (Entry::Loop(done), Some(multiclass)) => {
                let mut entries = Some(std::mem::take(&mut self.multiclasses[multiclass].entries));
                let result = self.resolve_loop(&done, &mut Vec::new(), false, &mut entries);
                self.multiclasses[multiclass].entries = entries.unwrap_or_default();
                result
            }
            (entry, Some(multiclass)) => {
                self.multiclasses[multiclass].entries.push(entry);
                Ok(())
            }
            (Entry::Check(check), None) => {
                self.cx.run_check(check);
                Ok(())
            }
            (Entry::Record(record), None) => self.finish_record(record),
        }
    }

    /// Finishes a definition and adds it to the open defsets.
    fn finish_record(&mut self, record: RecId) -> Attempt<()> {
        let outer = self.cx.here.replace(self.cx.records[record].span());
        let result = self.cx.finish_def(record);
        self.cx.here = outer;
        let def = result?;
        for i in 0..self.defsets.len() {
            let (element, span) = (self.defsets[i].element, self.defsets[i].span);
            if !self.cx.is_a(self.cx.ty(def), element) {
                let message = format!(
                    "record '{}' of type '{}' cannot be in a defset of '{}'",
                    self.cx.record_name(record),
                    self.cx.type_text(self.cx.ty(def)),
                    self.cx.type_text(element)
                );
                let here = self.cx.records[record].span();
                return Err(self.cx.report(Diagnostic::error(here, message).with_label(span, "the defset is declared here")));
            }
            self.defsets[i].items.push(def);
        }
        Ok(())
    }

    /// Runs a loop with names replaced. What it makes goes to `dest` if there is one, and is finished otherwise.
    pub(super) fn resolve_loop(
        &mut self,
        of: &Loop,
        substitutions: &mut Substitutions,
        is_final: bool,
        dest: &mut Option<Vec<Entry>>,
    ) -> Attempt<()> {
        let mut names = resolver(None, substitutions);
        let mut list = self.cx.resolve(of.list, &mut names);
        if let (Kind::Tern(TernOp::If, condition, yes, no), true) = (self.cx.kind(list), is_final) {
            // How many records there are must be known now.
            names.set_final();
            let decided = self.cx.resolve(condition, &mut names);
            if decided == condition {
                let message = format!("cannot decide the condition {}", self.cx.text(condition));
                return Err(self.cx.error(of.span, message));
            }
            let ty = self.cx.ty(list);
            list = self.cx.fold_tern(TernOp::If, decided, yes, no, ty, None);
        }
        let Some(items) = self.cx.list_items(list) else {
            if let (false, Some(entries)) = (is_final, dest) {
                let mut inner = Some(Vec::new());
                let result = self.resolve_entries(&of.entries, substitutions, is_final, &mut inner, None);
                entries.push(Entry::Loop(Loop { span: of.span, variable: of.variable, list, entries: inner.unwrap_or_default() }));
                return result;
            }
            let message = format!("cannot loop over {}, which is no list", self.cx.text(list));
            return Err(self.cx.error(of.span, message));
        };
        let name = of.variable.and_then(|variable| if let Kind::Var(name) = self.cx.kind(variable) { Some(name) } else { None });
        for i in 0..items.len() {
            let depth = substitutions.len();
            if let Some(name) = name {
                substitutions.push((name, self.cx.nodes.item(items, i)));
            }
            let result = self.resolve_entries(&of.entries, substitutions, is_final, dest, None);
            substitutions.truncate(depth);
            result?;
            if self.cx.stopped {
                break;
            }
        }
        Ok(())
    }

    /// The same for several entries. `defm` is where they are instantiated, if it is to be noted in each record.
    pub(super) fn resolve_entries(
        &mut self,
        entries: &[Entry],
        substitutions: &mut Substitutions,
        is_final: bool,
        dest: &mut Option<Vec<Entry>>,
        defm: Option<Span>,
    ) -> Attempt<()> {
        for entry in entries {
            if self.cx.stopped {
                break;
            }
            match entry {
                Entry::Loop(of) => self.resolve_loop(of, substitutions, is_final, dest)?,
                Entry::Check(check) => {
                    let check = self.cx.resolve_check(*check, &mut resolver(None, substitutions));
                    match dest {
                        Some(dest) => dest.push(Entry::Check(check)),
                        None => {
                            self.cx.run_check(check);
                        }
                    }
                }
                Entry::Record(record) => {
                    let mut copy = self.cx.records[*record].clone();
                    copy.def = None;
                    copy.spans.extend(defm);
                    let copy = self.cx.add_record(copy);
                    self.cx.resolve_record(copy, &mut resolver(Some(copy), substitutions));
                    match dest {
                        Some(dest) => dest.push(Entry::Record(copy)),
                        None => self.finish_record(copy)?,
                    }
                }
            }
        }
        Ok(())
    }
}

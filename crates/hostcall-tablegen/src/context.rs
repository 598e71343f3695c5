//! Everything that one run knows: texts, types, nodes, records, names, and what went wrong.

use std::collections::HashSet;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::node::{Flags, Kind, Node, Nodes, Slice};
use crate::ops::{BinOp, TernOp, UnOp};
use crate::options::Options;
use crate::pattern::{Pattern, TooManySteps};
use crate::record::{RecId, Record, RecordTable};
use crate::source::{SourceMap, Span};
use crate::symbol::{Symbol, Symbols};
use crate::ty::{Ty, Types};

/// An error was recorded; the caller gives up what it was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported;

/// What came of something that may fail.
pub(crate) type Attempt<T> = Result<T, Reported>;

/// Why evaluation is where it is, for the notes of a diagnostic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    pub(crate) span: Span,
    pub(crate) record: RecId,
}

/// More instantiations than this are not named in a diagnostic.
const MOST_CAUSES: usize = 8;

pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) sources: SourceMap,
    pub(crate) symbols: Symbols,
    pub(crate) types: Types,
    pub(crate) nodes: Nodes,
    pub(crate) records: RecordTable,
    pub(crate) classes: FxHashMap<Symbol, RecId>,
    pub(crate) defs: FxHashMap<Symbol, RecId>,
    /// `defvar` and `defset` at top level.
    pub(crate) globals: FxHashMap<Symbol, Node>,
    /// What each class value without open references became, and where each class value was first written.
    pub(crate) instances: FxHashMap<Node, Node>,
    pub(crate) class_value_spans: FxHashMap<Node, Span>,
    /// Regular expressions that were used, compiled.
    pub(crate) patterns: FxHashMap<Symbol, Arc<Pattern>>,
    pub(crate) anonymous: u32,
    pub(crate) diagnostics: Vec<Diagnostic>,
    reported: HashSet<Diagnostic, FxBuildHasher>,
    pub(crate) errors: usize,
    /// The statement being read: where an error is that has no place of its own.
    pub(crate) here: Option<Span>,
    /// Instantiations under way, outermost first.
    pub(crate) causes: Vec<Cause>,
    /// Set when a limit was hit or too many errors were found: everything winds up.
    pub(crate) stopped: bool,
    pub(crate) depth: u32,
    steps: u64,
    /// Fields of all records as they were when added.
    fields: usize,
    /// Results of list elements being evaluated.
    pub(crate) scratch: Vec<Node>,
}

impl Context {
    pub(crate) fn new(options: Options) -> Context {
        Context {
            options,
            sources: SourceMap::default(),
            symbols: Symbols::new(),
            types: Types::new(),
            nodes: Nodes::new(),
            records: RecordTable::default(),
            classes: FxHashMap::default(),
            defs: FxHashMap::default(),
            globals: FxHashMap::default(),
            instances: FxHashMap::default(),
            class_value_spans: FxHashMap::default(),
            patterns: FxHashMap::default(),
            anonymous: 0,
            diagnostics: Vec::new(),
            reported: HashSet::default(),
            errors: 0,
            here: None,
            causes: Vec::new(),
            stopped: false,
            depth: 0,
            steps: 0,
            fields: 0,
            scratch: Vec::new(),
        }
    }

    // ---- Diagnostics ----

    pub(crate) fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        if diagnostic.span.is_none() {
            diagnostic.span = self.here;
        }
        // A class that instantiates itself is the same cause many times.
        for cause in self.causes.iter().rev() {
            let message = format!("in this instance of '{}'", self.record_name(cause.record));
            let label = Label { span: cause.span, message };
            if diagnostic.labels.len() >= MOST_CAUSES {
                break;
            }
            if !diagnostic.labels.contains(&label) {
                diagnostic.labels.push(label);
            }
        }
        if self.stopped || !self.reported.insert(diagnostic.clone()) {
            return Reported;
        }
        let is_error = diagnostic.severity == Severity::Error;
        self.diagnostics.push(diagnostic);
        if is_error {
            self.errors += 1;
            if self.errors >= self.options.max_errors {
                self.diagnostics.push(Diagnostic::error(None, format!("giving up after {} errors", self.errors)));
                self.stopped = true;
            }
        }
        Reported
    }

    pub(crate) fn error(&mut self, span: impl Into<Option<Span>>, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(span, message))
    }

    /// An error of evaluation: it is where the record is, if there is one.
    pub(crate) fn error_in(&mut self, record: Option<RecId>, message: impl Into<String>) -> Reported {
        let mut diagnostic = Diagnostic::error(None, message);
        if let Some(record) = record {
            self.records[record].faulty = true;
            diagnostic.span = self.records[record].spans.first().copied();
            for &span in self.records[record].spans.iter().skip(1) {
                diagnostic = diagnostic.with_label(span, "instantiated from here");
            }
        }
        self.report(diagnostic)
    }

    /// Reports that a limit was hit and stops the run.
    pub(crate) fn over_limit(&mut self, what: &str, limit: impl std::fmt::Display) -> Reported {
        let reported = self.error(None, format!("{what} (the limit is {limit})"));
        self.stopped = true;
        reported
    }

    /// One level deeper into an evaluation. `false` when everything has to wind up; otherwise [`Context::leave`]
    /// follows.
    pub(crate) fn enter(&mut self) -> bool {
        self.steps += 1;
        if self.stopped {
            return false;
        }
        if self.depth >= self.options.limits.depth {
            self.over_limit("evaluation goes too deep: does it refer to itself?", self.options.limits.depth);
            return false;
        }
        if self.steps > self.options.limits.steps {
            self.over_limit("evaluation takes too many steps", self.options.limits.steps);
            return false;
        }
        self.depth += 1;
        true
    }

    /// Whether a pattern matches a text. `None` when that would take too many steps.
    pub(crate) fn matches(&mut self, pattern: &Pattern, text: Symbol) -> Option<bool> {
        if self.stopped {
            return None;
        }
        match pattern.is_match(self.symbols.get(text), self.options.limits.steps.saturating_sub(self.steps)) {
            Ok((found, steps)) => {
                self.steps += steps;
                Some(found)
            }
            Err(TooManySteps) => {
                self.over_limit("evaluation takes too many steps", self.options.limits.steps);
                None
            }
        }
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    // ---- Making nodes ----

    pub(crate) fn node(&mut self, kind: Kind, ty: Ty) -> Node {
        let node = self.nodes.intern(kind, ty);
        if self.nodes.depth(node) > self.options.limits.expression {
            self.over_limit("expression is nested too deeply", self.options.limits.expression);
            return Node::UNSET;
        }
        if self.nodes.size() > self.options.limits.nodes && !self.stopped {
            self.over_limit("too many different values", self.options.limits.nodes);
        }
        node
    }

    pub(crate) fn int(&mut self, value: i64) -> Node {
        self.nodes.intern(Kind::Int(value), Ty::INT)
    }

    pub(crate) fn intern(&mut self, text: impl AsRef<[u8]>) -> Symbol {
        let symbol = self.symbols.intern(text);
        if self.symbols.bytes() > self.options.limits.text && !self.stopped {
            self.over_limit("too many bytes of text", self.options.limits.text);
        }
        symbol
    }

    pub(crate) fn string(&mut self, text: impl AsRef<[u8]>) -> Node {
        let symbol = self.intern(text);
        self.nodes.string(symbol)
    }

    pub(crate) fn code(&mut self, symbol: Symbol) -> Node {
        self.node(Kind::Code(symbol), Ty::STRING)
    }

    pub(crate) fn list(&mut self, element: Ty, items: &[Node]) -> Node {
        if items.len() > self.options.limits.list {
            self.over_limit("list is too long", self.options.limits.list);
            return Node::UNSET;
        }
        let slice = self.nodes.slice(items);
        self.list_of(element, slice)
    }

    pub(crate) fn list_of(&mut self, element: Ty, items: Slice) -> Node {
        let ty = self.types.list(element);
        self.node(Kind::List(items), ty)
    }

    pub(crate) fn bits(&mut self, items: &[Node]) -> Node {
        let slice = self.nodes.slice(items);
        let ty = self.types.bits(items.len() as u32);
        self.node(Kind::Bits(slice), ty)
    }

    pub(crate) fn var(&mut self, name: Node, ty: Ty) -> Node {
        self.node(Kind::Var(name), ty)
    }

    pub(crate) fn var_bit(&mut self, of: Node, bit: u32) -> Node {
        self.node(Kind::VarBit(of, bit), Ty::BIT)
    }

    pub(crate) fn un(&mut self, op: UnOp, a: Node, ty: Ty) -> Node {
        self.node(Kind::Un(op, a), ty)
    }

    pub(crate) fn bin(&mut self, op: BinOp, a: Node, b: Node, ty: Ty) -> Node {
        self.node(Kind::Bin(op, a, b), ty)
    }

    pub(crate) fn tern(&mut self, op: TernOp, a: Node, b: Node, c: Node, ty: Ty) -> Node {
        self.node(Kind::Tern(op, a, b, c), ty)
    }

    pub(crate) fn field_node(&mut self, record: Node, field: Node, ty: Ty) -> Node {
        self.node(Kind::Field(record, field), ty)
    }

    pub(crate) fn dag(&mut self, operator: Node, name: Node, args: &[Node], names: &[Node]) -> Node {
        if args.len() > self.options.limits.list {
            self.over_limit("dag has too many arguments", self.options.limits.list);
            return Node::UNSET;
        }
        let (args, names) = (self.nodes.slice(args), self.nodes.slice(names));
        self.node(Kind::Dag { operator, name, args, names }, Ty::DAG)
    }

    pub(crate) fn class_value(&mut self, span: Span, class: RecId, args: &[Node]) -> Node {
        let ty = self.record_type(&[class]);
        let args = self.nodes.slice(args);
        let node = self.node(Kind::ClassValue(class, args), ty);
        self.class_value_spans.entry(node).or_insert(span);
        node
    }

    /// The value that refers to a record. Its type is settled by the first call.
    pub(crate) fn def_node(&mut self, record: RecId) -> Node {
        if let Some(node) = self.records[record].def {
            return node;
        }
        let ty = self.type_of_record(record);
        let node = self.nodes.intern(Kind::Def(record), ty);
        self.records[record].def = Some(node);
        node
    }

    pub(crate) fn type_of_record(&mut self, record: RecId) -> Ty {
        let supers: Vec<RecId> = self.records[record].supers.iter().map(|&(class, _)| class).collect();
        self.record_type(&supers)
    }

    pub(crate) fn anonymous_name(&mut self) -> Node {
        let number = self.anonymous;
        self.anonymous += 1;
        self.node(Kind::AnonymousName(number), Ty::STRING)
    }

    /// The plain string of an anonymous name.
    pub(crate) fn anonymous_text(&mut self, number: u32) -> Node {
        self.string(format!("anonymous_{number}"))
    }

    // ---- Looking at nodes ----

    pub(crate) fn kind(&self, node: Node) -> Kind {
        self.nodes.kind(node)
    }

    pub(crate) fn ty(&self, node: Node) -> Ty {
        self.nodes.ty(node)
    }

    pub(crate) fn is_typed(&self, node: Node) -> bool {
        node != Node::UNSET
    }

    /// The text of a string or code node.
    pub(crate) fn text_of(&self, node: Node) -> Option<&[u8]> {
        match self.kind(node) {
            Kind::Str(symbol) | Kind::Code(symbol) => Some(self.symbols.get(symbol)),
            _ => None,
        }
    }

    /// The text of a node that is a name: of a field, or of a record that is finished. These are UTF-8.
    pub(crate) fn str_of(&self, node: Node) -> &str {
        self.text_of(node).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// The name of a record that is finished.
    pub(crate) fn name_text(&self, record: RecId) -> &str {
        self.str_of(self.records[record].name)
    }

    pub(crate) fn symbol_of(&self, node: Node) -> Option<Symbol> {
        match self.kind(node) {
            Kind::Str(symbol) | Kind::Code(symbol) => Some(symbol),
            _ => None,
        }
    }

    pub(crate) fn list_items(&self, node: Node) -> Option<Slice> {
        if let Kind::List(items) = self.kind(node) { Some(items) } else { None }
    }

    /// Fully resolved, without references or operators that are stuck.
    pub(crate) fn is_concrete(&self, node: Node) -> bool {
        let flags = self.nodes.flags(node);
        if flags.has(Flags::CONCRETE) || !flags.has(Flags::HAS_FIELD) {
            return flags.has(Flags::CONCRETE);
        }
        let all = |items: Slice| self.nodes.items(items).iter().all(|&item| self.is_concrete(item));
        match self.kind(node) {
            Kind::Bits(items) | Kind::List(items) | Kind::Cond(items) => all(items),
            Kind::Dag { operator, args, .. } => self.is_concrete(operator) && all(args),
            Kind::Field(of, name) => match self.kind(of) {
                Kind::Def(record) => self.records[record].field(name).is_some_and(|field| self.is_concrete(field.value)),
                _ => false,
            },
            _ => false,
        }
    }

    pub(crate) fn is_complete(&self, node: Node) -> bool {
        !self.nodes.flags(node).has(Flags::INCOMPLETE)
    }

    // ---- Records ----

    pub(crate) fn add_record(&mut self, record: Record) -> RecId {
        if self.records.len() >= self.options.limits.records && !self.stopped {
            self.over_limit("too many records", self.options.limits.records);
        }
        self.fields += record.fields.len();
        if self.fields > self.options.limits.fields && !self.stopped {
            self.over_limit("too many fields of records", self.options.limits.fields);
        }
        self.records.add(record)
    }

    /// A record's name as text, even if it is not decided yet.
    pub(crate) fn record_name(&self, record: RecId) -> String {
        self.unquoted(self.records[record].name)
    }

    pub(crate) fn is_subclass(&self, record: RecId, class: RecId) -> bool {
        self.records[record].ancestors.binary_search(&class).is_ok()
    }

    /// Makes `class` a direct superclass of `record`.
    pub(crate) fn add_super(&mut self, record: RecId, class: RecId, span: Span) {
        let added = self.records[class].printed_supers + 1;
        let total = self.records[record].printed_supers.saturating_add(added);
        if total > self.options.limits.list {
            self.over_limit("class is inherited too many times", self.options.limits.list);
            return;
        }
        let mut ancestors = std::mem::take(&mut self.records[record].ancestors);
        ancestors.extend_from_slice(&self.records[class].ancestors);
        ancestors.push(class);
        ancestors.sort_unstable();
        ancestors.dedup();
        let record = &mut self.records[record];
        record.ancestors = ancestors;
        record.printed_supers = total;
        record.supers.push((class, span));
    }

    /// A definition or a global variable.
    pub(crate) fn global(&mut self, name: Symbol) -> Option<Node> {
        if let Some(&record) = self.defs.get(&name) {
            return Some(self.def_node(record));
        }
        self.globals.get(&name).copied()
    }
}

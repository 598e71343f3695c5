//! What an identifier means where it stands.

use rustc_hash::FxHashMap;

use super::{Mode, Parser};
use crate::context::Attempt;
use crate::diagnostic::Diagnostic;
use crate::node::Node;
use crate::ops::UnOp;
use crate::record::{RecId, RecordKind};
use crate::source::Span;
use crate::symbol::Symbol;
use crate::ty::Ty;

/// What a scope adds besides its `defvar`s.
#[derive(Clone, Copy, Debug)]
enum Names {
    Nothing,
    /// Fields, and arguments if it is a class.
    Record(RecId),
    /// A loop's variable.
    Loop(Node),
    /// A multiclass's arguments.
    MultiClass(RecId),
}

#[derive(Debug)]
pub(super) struct Scope {
    variables: FxHashMap<Symbol, Node>,
    names: Names,
}

impl Scope {
    fn with(names: Names) -> Scope {
        Scope { variables: FxHashMap::default(), names }
    }

    pub(super) fn local() -> Scope {
        Scope::with(Names::Nothing)
    }

    pub(super) fn record(record: RecId) -> Scope {
        Scope::with(Names::Record(record))
    }

    pub(super) fn of_loop(variable: Option<Node>) -> Scope {
        Scope::with(variable.map_or(Names::Nothing, Names::Loop))
    }

    pub(super) fn multiclass(record: RecId) -> Scope {
        Scope::with(Names::MultiClass(record))
    }

    pub(super) fn define(&mut self, name: Symbol, value: Node) {
        self.variables.insert(name, value);
    }
}

impl Parser {
    /// Runs `body` within a scope.
    pub(super) fn within<T>(&mut self, scope: Scope, body: impl FnOnce(&mut Parser) -> Attempt<T>) -> Attempt<T> {
        let depth = self.scopes.len();
        self.scopes.push(scope);
        let result = body(self);
        self.scopes.truncate(depth);
        result
    }

    /// Whether the innermost scope has a `defvar` of that name.
    pub(super) fn is_defined_here(&self, name: Symbol) -> bool {
        self.scopes.last().is_some_and(|scope| scope.variables.contains_key(&name))
    }

    pub(super) fn is_outermost(&self) -> bool {
        self.scopes.len() == 1
    }

    fn template_arg(&mut self, record: RecId, symbol: Symbol, name: Node) -> Option<Node> {
        let qualified = self.cx.qualified(record, name);
        if let Some(at) = self.cx.records[record].field_index(qualified)
            && self.cx.records[record].template_args.contains(&qualified)
        {
            let field = &mut self.cx.records[record].fields[at];
            field.used = true;
            let ty = field.ty;
            return Some(self.cx.var(qualified, ty));
        }
        (self.cx.symbols.get(symbol) == b"NAME").then(|| self.cx.var(qualified, Ty::STRING))
    }

    /// A variable, field, argument or loop variable, the innermost first.
    fn find_variable(&mut self, symbol: Symbol, name: Node) -> Option<Node> {
        for i in (0..self.scopes.len()).rev() {
            if let Some(&value) = self.scopes[i].variables.get(&symbol) {
                return Some(value);
            }
            match self.scopes[i].names {
                Names::Nothing => {}
                Names::Record(record) => {
                    if let Some(ty) = self.cx.records[record].field(name).map(|field| field.ty) {
                        return Some(self.cx.var(name, ty));
                    }
                    if self.cx.records[record].kind == RecordKind::Class
                        && let Some(found) = self.template_arg(record, symbol, name)
                    {
                        return Some(found);
                    }
                }
                Names::Loop(variable) => {
                    if matches!(self.cx.kind(variable), crate::node::Kind::Var(own) if own == name) {
                        return Some(variable);
                    }
                }
                Names::MultiClass(record) => {
                    if let Some(found) = self.template_arg(record, symbol, name) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// The value of an identifier.
    pub(super) fn identifier(&mut self, record: Option<RecId>, symbol: Symbol, span: Span, mode: Mode) -> Attempt<Node> {
        let name = self.cx.nodes.string(symbol);
        if let Some(found) = self.find_variable(symbol, name) {
            return Ok(found);
        }
        if mode == Mode::Name {
            return Ok(name);
        }
        if let Some(found) = self.cx.global(symbol) {
            return Ok(found);
        }
        // A definition may refer to itself; its type is known when it is finished.
        if let Some(record) = record
            && self.multiclass.is_none()
            && self.cx.records[record].kind != RecordKind::Class
            && self.cx.records[record].name == name
        {
            let ty = self.cx.type_of_record(record);
            return Ok(self.cx.un(UnOp::Cast, name, ty));
        }
        let mut diagnostic = Diagnostic::error(span, format!("'{}' is not defined", self.cx.symbols.shown(symbol)));
        if self.cx.classes.contains_key(&symbol) {
            diagnostic = diagnostic.with_note("a class of that name is; an instance of it is written with '<' and '>'");
        }
        Err(self.cx.report(diagnostic))
    }
}

//! Evaluating operators whose operands are resolved far enough.
//!
//! Each function gives the result, or the operator itself where it has to wait. What can never be evaluated (a
//! division by zero) is reported, and stays as it is.

mod binary;
mod dag;
mod list;
mod ternary;
mod text;
mod unary;

use std::sync::Arc;

use crate::context::Context;
use crate::node::{Kind, Node, Slice};
use crate::ops::BinOp;
use crate::order::compare_numeric;
use crate::pattern::Pattern;
use crate::record::RecId;
use crate::resolve::MapResolver;
use crate::symbol::Symbol;
use crate::ty::{Ty, TyKind};

impl Context {
    /// `!foldl`: start, list, names of accumulator and element, body.
    pub(crate) fn fold_fold(
        &mut self,
        (start, list, accumulator, element, body): (Node, Node, Node, Node, Node),
        ty: Ty,
        record: Option<RecId>,
    ) -> Node {
        let Some(items) = self.list_items(list) else {
            return self.node(Kind::Fold { start, list, accumulator, element, body }, ty);
        };
        let mut result = start;
        for i in 0..items.len() {
            if self.stopped {
                break;
            }
            let mut names = MapResolver::new(record);
            names.set(accumulator, result);
            names.set(element, self.nodes.item(items, i));
            result = self.resolve(body, &mut names);
        }
        result
    }

    /// `!isa<target>(value)`
    pub(crate) fn fold_is_a(&mut self, target: Ty, value: Node) -> Node {
        if self.is_typed(value) {
            let ty = self.ty(value);
            if self.convertible(ty, target) {
                return self.int(1);
            }
            let is_def = matches!(self.kind(value), Kind::Def(_));
            let decided = match self.types.kind(target) {
                TyKind::Record(_) => is_def || (!self.convertible(target, ty) && self.is_concrete(value)),
                _ => true,
            };
            if decided {
                return self.int(0);
            }
        }
        self.node(Kind::IsA(target, value), Ty::INT)
    }

    /// Whether a string is the name of the record being made.
    fn names_itself(&mut self, name: Node, record: RecId) -> bool {
        let own = self.records[record].name;
        let own = if let Kind::AnonymousName(number) = self.kind(own) { self.anonymous_text(number) } else { own };
        own == name
    }

    /// `!exists<target>(name)`
    pub(crate) fn fold_exists(&mut self, target: Ty, name: Node, record: Option<RecId>, is_final: bool) -> Node {
        if let Some(symbol) = self.symbol_of(name) {
            if let Some(&found) = self.defs.get(&symbol) {
                let def = self.def_node(found);
                let answer = self.is_a(self.ty(def), target);
                return self.int(i64::from(answer));
            }
            match record {
                Some(record) if is_final && self.names_itself(name, record) => {
                    let ty = self.type_of_record(record);
                    let answer = self.is_a(ty, target);
                    return self.int(i64::from(answer));
                }
                _ if is_final => return self.int(0),
                _ => {}
            }
        }
        self.node(Kind::Exists(target, name), Ty::INT)
    }

    /// `!instances<class>(pattern)`
    pub(crate) fn fold_instances(&mut self, class: Ty, pattern: Node, record: Option<RecId>, is_final: bool) -> Node {
        let ty = self.types.list(class);
        let stuck = Kind::Instances(class, pattern);
        if (record.is_some() && !is_final) || self.text_of(pattern).is_none() {
            return self.node(stuck, ty);
        }
        let Some(compiled) = self.pattern(pattern, record) else { return self.node(stuck, ty) };
        let wanted: Vec<RecId> = self.types.classes(class).map(<[RecId]>::to_vec).unwrap_or_default();
        let has_classes = |def: RecId| wanted.iter().all(|&class| self.is_subclass(def, class));
        let mut found: Vec<(Symbol, RecId)> =
            self.defs.iter().filter(|&(_, &def)| has_classes(def)).map(|(&name, &def)| (name, def)).collect();
        found.retain(|&(name, _)| self.matches(&compiled, name) == Some(true));
        found.sort_by(|a, b| compare_numeric(self.symbols.get(a.0), self.symbols.get(b.0)));
        let found: Vec<Node> = found.into_iter().map(|(_, def)| self.def_node(def)).collect();
        self.list(class, &found)
    }

    /// A regular expression given as a string.
    pub(crate) fn pattern(&mut self, pattern: Node, record: Option<RecId>) -> Option<Arc<Pattern>> {
        let symbol = self.symbol_of(pattern)?;
        if let Some(known) = self.patterns.get(&symbol) {
            return Some(known.clone());
        }
        match Pattern::compile(self.symbols.get(symbol)) {
            Ok(compiled) => Some(self.patterns.entry(symbol).or_insert(Arc::new(compiled)).clone()),
            Err(error) => {
                let message = format!("'{}' is not a regular expression: {error}", self.symbols.shown(symbol));
                self.error_in(record, message);
                None
            }
        }
    }

    /// `!cond(condition: value, …)`
    pub(crate) fn fold_cond(&mut self, items: Slice, ty: Ty, record: Option<RecId>) -> Node {
        for i in (0..items.len()).step_by(2) {
            match self.as_int(self.nodes.item(items, i)) {
                Some(0) => {}
                Some(_) => {
                    let value = self.nodes.item(items, i + 1);
                    return self.cast_to(value, ty).unwrap_or(value);
                }
                None => return self.node(Kind::Cond(items), ty),
            }
        }
        let stuck = self.node(Kind::Cond(items), ty);
        let message = format!("none of the conditions is true in {}", self.text(stuck));
        self.error_in(record, message);
        stuck
    }

    /// `value.field`; `ty` is its type if the value does not say.
    pub(crate) fn fold_field(&mut self, of: Node, name: Node, ty: Ty, record: Option<RecId>) -> Node {
        if let Kind::Def(def) = self.kind(of) {
            if Some(def) == record {
                let message =
                    format!("'{}' of '{}' is asked for while that record is being made", self.unquoted(name), self.record_name(def));
                self.error_in(record, message);
            } else if let Some(&field) = self.records[def].field(name) {
                if self.is_concrete(field.value) {
                    return field.value;
                }
                return self.field_node(of, name, field.ty);
            }
            return self.field_node(of, name, ty);
        }
        let ty = self.field_type(self.ty(of), name).unwrap_or(ty);
        self.field_node(of, name, ty)
    }

    /// How two values compare: numbers, texts, or records (only whether they are the same).
    fn compare(&self, op: BinOp, a: Node, b: Node) -> Option<bool> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = if let (Some(a), Some(b)) = (self.as_int(a), self.as_int(b)) {
            a.cmp(&b)
        } else if let (Some(a), Some(b)) = (self.text_of(a), self.text_of(b)) {
            a.cmp(b)
        } else if let (BinOp::Eq | BinOp::Ne, Kind::Def(a), Kind::Def(b)) = (op, self.kind(a), self.kind(b)) {
            if a == b { Equal } else { Less }
        } else {
            return None;
        };
        Some(match op {
            BinOp::Eq => order == Equal,
            BinOp::Ne => order != Equal,
            BinOp::Le => order != Greater,
            BinOp::Lt => order == Less,
            BinOp::Ge => order != Less,
            _ => order == Greater,
        })
    }

    /// Evaluates `body` with `name` standing for `value`.
    fn apply(&mut self, name: Node, value: Node, body: Node, record: Option<RecId>) -> Node {
        let mut names = MapResolver::new(record);
        names.set(name, value);
        self.resolve(body, &mut names)
    }

    /// Reports what makes an operator impossible, and gives the operator as it is.
    fn impossible(&mut self, record: Option<RecId>, message: String, stuck: Kind, ty: Ty) -> Node {
        self.error_in(record, message);
        self.node(stuck, ty)
    }
}

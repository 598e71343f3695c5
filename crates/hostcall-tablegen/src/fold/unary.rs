//! Operators of one operand.

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::ops::UnOp;
use crate::record::RecId;
use crate::ty::{Ty, TyKind};

impl Context {
    pub(crate) fn fold_un(&mut self, op: UnOp, a: Node, ty: Ty, record: Option<RecId>, is_final: bool) -> Node {
        let result = match op {
            UnOp::Cast => self.fold_cast(a, ty, record, is_final),
            UnOp::ToLower => self.text_of(a).map(<[u8]>::to_ascii_lowercase).map(|text| self.string(text)),
            UnOp::ToUpper => self.text_of(a).map(<[u8]>::to_ascii_uppercase).map(|text| self.string(text)),
            UnOp::Not => self.as_int(a).map(|value| self.int(i64::from(value == 0))),
            UnOp::Initialized if a == Node::UNSET => Some(self.int(0)),
            UnOp::Initialized => self.is_concrete(a).then(|| self.int(1)),
            UnOp::Repr => self.is_concrete(a).then(|| {
                let text = if let Kind::Def(def) = self.kind(a) { self.record_text(def) } else { self.bytes(a) };
                self.string(text)
            }),
            UnOp::Size | UnOp::Empty => {
                self.size_of(a).map(|size| self.int(if op == UnOp::Size { size as i64 } else { i64::from(size == 0) }))
            }
            UnOp::Head => self.list_items(a).filter(|items| !items.is_empty()).map(|items| self.nodes.item(items, 0)),
            UnOp::Tail => self.fold_tail(a),
            UnOp::ListFlatten => self.fold_flatten(a),
            UnOp::Log2 => match self.as_int(a) {
                Some(value @ 1..) => Some(self.int(i64::from(value.ilog2()))),
                Some(value) => {
                    return self.impossible(record, format!("!logtwo of {value}, which is not above 0"), Kind::Un(op, a), ty);
                }
                None => None,
            },
            UnOp::GetDagOp => match self.kind(a) {
                Kind::Dag { operator, .. } => {
                    if operator == Node::UNSET || !self.is_a(self.ty(operator), ty) {
                        let message = format!("operator of {} is no '{}'", self.text(a), self.type_text(ty));
                        return self.impossible(record, message, Kind::Un(op, a), ty);
                    }
                    Some(operator)
                }
                _ => None,
            },
            UnOp::GetDagOpName => {
                if let Kind::Dag { name, .. } = self.kind(a) {
                    Some(name)
                } else {
                    None
                }
            }
        };
        match result {
            Some(node) => node,
            None => self.un(op, a, ty),
        }
    }

    fn size_of(&self, a: Node) -> Option<usize> {
        match self.kind(a) {
            Kind::List(items) => Some(items.len()),
            Kind::Dag { args, .. } => Some(args.len()),
            _ => self.text_of(a).map(<[u8]>::len),
        }
    }

    fn fold_cast(&mut self, a: Node, ty: Ty, record: Option<RecId>, is_final: bool) -> Option<Node> {
        if ty == Ty::STRING {
            if self.text_of(a).is_some() {
                return Some(a);
            }
            if let Kind::Def(def) = self.kind(a) {
                let name = self.unquoted_bytes(self.records[def].name);
                return Some(self.string(name));
            }
            if let Some(value) = self.as_int(a) {
                return Some(self.string(value.to_string()));
            }
        } else if matches!(self.types.kind(ty), TyKind::Record(_))
            && let Some(symbol) = self.symbol_of(a)
        {
            return self.fold_record_cast(a, symbol, ty, record, is_final);
        }
        self.convert(a, ty)
    }

    /// A record by its name.
    fn fold_record_cast(&mut self, a: Node, symbol: crate::symbol::Symbol, ty: Ty, record: Option<RecId>, is_final: bool) -> Option<Node> {
        let found = match self.defs.get(&symbol) {
            Some(&def) => def,
            None => match record {
                // The type of a record that names itself is known only at the end.
                Some(own) if self.names_itself(a, own) => {
                    if !is_final {
                        return None;
                    }
                    own
                }
                _ => {
                    if is_final {
                        let message = format!("there is no record '{}'", self.symbols.shown(symbol));
                        self.error_in(record, message);
                    }
                    return None;
                }
            },
        };
        let def = self.def_node(found);
        if !self.is_a(self.ty(def), ty) {
            let message =
                format!("'{}' is of type '{}', not '{}'", self.symbols.shown(symbol), self.type_text(self.ty(def)), self.type_text(ty));
            self.error_in(record, message);
            return None;
        }
        Some(def)
    }
}

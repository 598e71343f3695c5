//! Nodes as they are written in TableGen.

use crate::context::Context;
use crate::node::{Kind, Node, Slice};
use crate::ops::{BinOp, TernOp, UnOp};

impl Context {
    /// A value as it is written.
    pub(crate) fn text(&self, node: Node) -> String {
        let mut out = String::new();
        self.write(&mut out, node);
        out
    }

    /// The same, with strings bare.
    pub(crate) fn unquoted(&self, node: Node) -> String {
        match self.text_of(node) {
            Some(text) => text.to_owned(),
            None => self.text(node),
        }
    }

    fn write_unquoted(&self, out: &mut String, node: Node) {
        match self.text_of(node) {
            Some(text) => out.push_str(text),
            None => self.write(out, node),
        }
    }

    fn write_items(&self, out: &mut String, items: Slice) {
        for (i, &item) in self.nodes.items(items).iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write(out, item);
        }
    }

    pub(crate) fn write(&self, out: &mut String, node: Node) {
        match self.kind(node) {
            Kind::Unset => out.push('?'),
            Kind::Bit(bit) => out.push(if bit { '1' } else { '0' }),
            Kind::Int(value) => out.push_str(&value.to_string()),
            Kind::Str(symbol) => {
                out.push('"');
                out.push_str(self.symbols.get(symbol));
                out.push('"');
            }
            Kind::Code(symbol) => {
                out.push_str("[{");
                out.push_str(self.symbols.get(symbol));
                out.push_str("}]");
            }
            Kind::AnonymousName(number) => {
                out.push_str("anonymous_");
                out.push_str(&number.to_string());
            }
            Kind::Bits(items) => {
                out.push_str("{ ");
                for (i, &bit) in self.nodes.items(items).iter().rev().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    self.write(out, bit);
                }
                out.push_str(" }");
            }
            Kind::List(items) => {
                out.push('[');
                self.write_items(out, items);
                out.push(']');
            }
            Kind::Un(op, a) => {
                let ty = if op == UnOp::Cast { format!("<{}>", self.type_text(self.ty(node))) } else { String::new() };
                self.write_call(out, op.name(), &ty, &[a]);
            }
            Kind::Bin(BinOp::ListElement | BinOp::ListSlice, a, b) => {
                self.write(out, a);
                out.push('[');
                self.write(out, b);
                out.push(']');
            }
            Kind::Bin(BinOp::ClosedRange, a, b) => {
                self.write(out, a);
                out.push_str("...");
                self.write(out, b);
            }
            Kind::Bin(op, a, b) => {
                let ty = if op == BinOp::GetDagArg { format!("<{}>", self.type_text(self.ty(node))) } else { String::new() };
                self.write_call(out, op.name(), &ty, &[a, b]);
            }
            Kind::Tern(op @ (TernOp::Foreach | TernOp::Filter), a, b, c) => self.write_binder(out, op.name(), &[], &[a], &[b, c]),
            Kind::Tern(op, a, b, c) => self.write_call(out, op.name(), "", &[a, b, c]),
            Kind::Fold { start, list, accumulator, element, body } => {
                self.write_binder(out, "foldl", &[start, list], &[accumulator, element], &[body]);
            }
            Kind::IsA(ty, a) => self.write_call(out, "isa", &format!("<{}>", self.type_text(ty)), &[a]),
            Kind::Exists(ty, a) => self.write_call(out, "exists", &format!("<{}>", self.type_text(ty)), &[a]),
            Kind::Instances(ty, a) => self.write_call(out, "instances", &format!("<{}>", self.type_text(ty)), &[a]),
            Kind::Cond(items) => {
                out.push_str("!cond(");
                for (i, &item) in self.nodes.items(items).iter().enumerate() {
                    if i > 0 {
                        out.push_str(if i % 2 == 1 { ": " } else { ", " });
                    }
                    self.write(out, item);
                }
                out.push(')');
            }
            Kind::Var(name) => self.write_unquoted(out, name),
            Kind::VarBit(of, bit) => {
                self.write(out, of);
                out.push('{');
                out.push_str(&bit.to_string());
                out.push('}');
            }
            Kind::Def(record) => self.write_unquoted(out, self.records[record].name),
            Kind::ClassValue(class, args) => {
                self.write_unquoted(out, self.records[class].name);
                out.push('<');
                for (i, pair) in self.nodes.items(args).chunks(2).enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    self.write(out, pair[0]);
                    out.push_str(": ");
                    self.write(out, pair[1]);
                }
                out.push('>');
            }
            Kind::Field(of, name) => {
                self.write(out, of);
                out.push('.');
                self.write_unquoted(out, name);
            }
            Kind::Dag { operator, name, args, names } => self.write_dag(out, operator, name, args, names),
        }
    }

    fn write_call(&self, out: &mut String, op: &str, ty: &str, args: &[Node]) {
        out.push('!');
        out.push_str(op);
        out.push_str(ty);
        out.push('(');
        for (i, &arg) in args.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write(out, arg);
        }
        out.push(')');
    }

    /// An operator that names variables: operands, names, operands.
    fn write_binder(&self, out: &mut String, op: &str, before: &[Node], names: &[Node], after: &[Node]) {
        out.push('!');
        out.push_str(op);
        out.push('(');
        let mut separator = "";
        for (part, bare) in [(before, false), (names, true), (after, false)] {
            for &node in part {
                out.push_str(separator);
                separator = ", ";
                if bare { self.write_unquoted(out, node) } else { self.write(out, node) }
            }
        }
        out.push(')');
    }

    fn write_dag(&self, out: &mut String, operator: Node, name: Node, args: Slice, names: Slice) {
        out.push('(');
        self.write(out, operator);
        if name != Node::UNSET {
            out.push_str(":$");
            self.write_unquoted(out, name);
        }
        for (i, (&arg, &name)) in self.nodes.items(args).iter().zip(self.nodes.items(names)).enumerate() {
            out.push_str(if i == 0 { " " } else { ", " });
            self.write(out, arg);
            if name != Node::UNSET {
                out.push_str(":$");
                self.write_unquoted(out, name);
            }
        }
        out.push(')');
    }
}

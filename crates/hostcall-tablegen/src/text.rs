//! Nodes as they are written in TableGen: bytes, since strings are.

use std::io::Write as _;

use crate::context::Context;
use crate::node::{Kind, Node, Slice};
use crate::ops::{BinOp, UnOp};

/// Text that is put together.
pub(crate) trait Put {
    fn put(&mut self, text: &str);
    fn put_number(&mut self, number: impl std::fmt::Display);
}

impl Put for Vec<u8> {
    fn put(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }

    fn put_number(&mut self, number: impl std::fmt::Display) {
        // Writing to memory does not fail.
        let _infallible = write!(self, "{number}");
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl Context {
    /// A value as it is written.
    pub(crate) fn bytes(&self, node: Node) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, node);
        out
    }

    /// The same for people: what is no UTF-8 is replaced.
    pub(crate) fn text(&self, node: Node) -> String {
        lossy(self.bytes(node))
    }

    /// A value as it is written, but strings bare.
    pub(crate) fn unquoted_bytes(&self, node: Node) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_unquoted(&mut out, node);
        out
    }

    /// The same for people.
    pub(crate) fn unquoted(&self, node: Node) -> String {
        lossy(self.unquoted_bytes(node))
    }

    fn write_unquoted(&self, out: &mut Vec<u8>, node: Node) {
        match self.text_of(node) {
            Some(text) => out.extend_from_slice(text),
            None => self.write(out, node),
        }
    }

    fn write_items(&self, out: &mut Vec<u8>, items: Slice) {
        for (i, &item) in self.nodes.items(items).iter().enumerate() {
            if i > 0 {
                out.put(", ");
            }
            self.write(out, item);
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, node: Node) {
        match self.kind(node) {
            Kind::Unset => out.push(b'?'),
            Kind::Bit(bit) => out.push(if bit { b'1' } else { b'0' }),
            Kind::Int(value) => out.put_number(value),
            Kind::Str(symbol) => {
                out.push(b'"');
                out.extend_from_slice(self.symbols.get(symbol));
                out.push(b'"');
            }
            Kind::Code(symbol) => {
                out.put("[{");
                out.extend_from_slice(self.symbols.get(symbol));
                out.put("}]");
            }
            Kind::AnonymousName(number) => {
                out.put("anonymous_");
                out.put_number(number);
            }
            Kind::Bits(items) => {
                out.put("{ ");
                for (i, &bit) in self.nodes.items(items).iter().rev().enumerate() {
                    if i > 0 {
                        out.put(", ");
                    }
                    self.write(out, bit);
                }
                out.put(" }");
            }
            Kind::List(items) => {
                out.push(b'[');
                self.write_items(out, items);
                out.push(b']');
            }
            Kind::Un(op, a) => {
                let ty = if op == UnOp::Cast { format!("<{}>", self.type_text(self.ty(node))) } else { String::new() };
                self.write_call(out, op.name(), &ty, &[a]);
            }
            Kind::Bin(BinOp::ListElement | BinOp::ListSlice, a, b) => {
                self.write(out, a);
                out.push(b'[');
                self.write(out, b);
                out.push(b']');
            }
            Kind::Bin(BinOp::ClosedRange, a, b) => {
                self.write(out, a);
                out.put("...");
                self.write(out, b);
            }
            Kind::Bin(op, a, b) => {
                let ty = if op == BinOp::GetDagArg { format!("<{}>", self.type_text(self.ty(node))) } else { String::new() };
                self.write_call(out, op.name(), &ty, &[a, b]);
            }
            Kind::Tern(op, a, b, c) if op.binds() => self.write_binder(out, op.name(), &[], &[a], &[b, c]),
            Kind::Tern(op, a, b, c) => self.write_call(out, op.name(), "", &[a, b, c]),
            Kind::Fold { start, list, accumulator, element, body } => {
                self.write_binder(out, "foldl", &[start, list], &[accumulator, element], &[body]);
            }
            Kind::IsA(ty, a) => self.write_call(out, "isa", &format!("<{}>", self.type_text(ty)), &[a]),
            Kind::Exists(ty, a) => self.write_call(out, "exists", &format!("<{}>", self.type_text(ty)), &[a]),
            Kind::Instances(ty, a) => self.write_call(out, "instances", &format!("<{}>", self.type_text(ty)), &[a]),
            Kind::Cond(items) => {
                out.put("!cond(");
                for (i, &item) in self.nodes.items(items).iter().enumerate() {
                    if i > 0 {
                        out.put(if i % 2 == 1 { ": " } else { ", " });
                    }
                    self.write(out, item);
                }
                out.push(b')');
            }
            Kind::Var(name) => self.write_unquoted(out, name),
            Kind::VarBit(of, bit) => {
                self.write(out, of);
                out.push(b'{');
                out.put_number(bit);
                out.push(b'}');
            }
            Kind::Def(record) => self.write_unquoted(out, self.records[record].name),
            Kind::ClassValue(class, args) => {
                self.write_unquoted(out, self.records[class].name);
                out.push(b'<');
                for (i, pair) in self.nodes.items(args).chunks(2).enumerate() {
                    if i > 0 {
                        out.put(", ");
                    }
                    self.write(out, pair[0]);
                    out.put(": ");
                    self.write(out, pair[1]);
                }
                out.push(b'>');
            }
            Kind::Field(of, name) => {
                self.write(out, of);
                out.push(b'.');
                self.write_unquoted(out, name);
            }
            Kind::Dag { operator, name, args, names } => self.write_dag(out, operator, name, args, names),
        }
    }

    fn write_call(&self, out: &mut Vec<u8>, op: &str, ty: &str, args: &[Node]) {
        out.push(b'!');
        out.put(op);
        out.put(ty);
        out.push(b'(');
        for (i, &arg) in args.iter().enumerate() {
            if i > 0 {
                out.put(", ");
            }
            self.write(out, arg);
        }
        out.push(b')');
    }

    /// An operator that names variables: operands, names, operands.
    fn write_binder(&self, out: &mut Vec<u8>, op: &str, before: &[Node], names: &[Node], after: &[Node]) {
        out.push(b'!');
        out.put(op);
        out.push(b'(');
        let mut separator = "";
        for (part, bare) in [(before, false), (names, true), (after, false)] {
            for &node in part {
                out.put(separator);
                separator = ", ";
                if bare { self.write_unquoted(out, node) } else { self.write(out, node) }
            }
        }
        out.push(b')');
    }

    fn write_dag(&self, out: &mut Vec<u8>, operator: Node, name: Node, args: Slice, names: Slice) {
        out.push(b'(');
        self.write(out, operator);
        if name != Node::UNSET {
            out.put(":$");
            self.write_unquoted(out, name);
        }
        for (i, (&arg, &name)) in self.nodes.items(args).iter().zip(self.nodes.items(names)).enumerate() {
            out.put(if i == 0 { " " } else { ", " });
            self.write(out, arg);
            if name != Node::UNSET {
                out.put(":$");
                self.write_unquoted(out, name);
            }
        }
        out.push(b')');
    }
}

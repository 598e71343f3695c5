//! Conversions between types, and single bits of values.

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::ops::UnOp;
use crate::ty::{Ty, TyKind};

/// Whether a number can be the value of `bits<width>`, read as signed or unsigned.
fn fits(value: i64, width: u32) -> bool {
    match width {
        64.. => true,
        0 => value == 0 || value == -1,
        _ => value >> width == 0 || value >> (width - 1) == -1,
    }
}

impl Context {
    /// The value as one of type `ty`, if it is resolved enough to say.
    pub(crate) fn convert(&mut self, node: Node, ty: Ty) -> Option<Node> {
        let target = self.types.kind(ty).clone();
        match self.kind(node) {
            Kind::Unset => Some(node),
            Kind::Bit(bit) => match target {
                TyKind::Bit => Some(node),
                TyKind::Int => Some(self.int(i64::from(bit))),
                TyKind::Bits(1) => Some(self.bits(&[node])),
                _ => None,
            },
            Kind::Bits(items) => match target {
                TyKind::Bit => (items.len() == 1).then(|| self.nodes.item(items, 0)),
                TyKind::Bits(width) => (items.len() == width as usize).then_some(node),
                TyKind::Int => {
                    let value = self.bits_value(node)?;
                    Some(self.int(value))
                }
                _ => None,
            },
            Kind::Int(value) => match target {
                TyKind::Int => Some(node),
                TyKind::Bit => (value == 0 || value == 1).then(|| Node::bit(value == 1)),
                TyKind::Bits(width) => fits(value, width).then(|| {
                    let bits: Vec<Node> = (0..width).map(|i| Node::bit(i < 64 && value >> i & 1 == 1)).collect();
                    self.bits(&bits)
                }),
                _ => None,
            },
            Kind::Str(_) | Kind::Code(_) => (ty == Ty::STRING).then_some(node),
            Kind::List(items) => {
                if self.ty(node) == ty {
                    return Some(node);
                }
                let TyKind::List(element) = target else { return None };
                let mut converted = Vec::with_capacity(items.len());
                for i in 0..items.len() {
                    let item = self.nodes.item(items, i);
                    converted.push(self.convert(item, element)?);
                }
                Some(if converted == self.nodes.items(items) { node } else { self.list(element, &converted) })
            }
            Kind::Def(_) => (matches!(target, TyKind::Record(_)) && self.convertible(self.ty(node), ty)).then_some(node),
            _ => {
                if self.is_a(self.ty(node), ty) {
                    return Some(node);
                }
                (self.ty(node) == Ty::BIT && target == TyKind::Bits(1)).then(|| self.bits(&[node]))
            }
        }
    }

    /// The number that a `bits` value of known bits is.
    fn bits_value(&self, node: Node) -> Option<i64> {
        let Kind::Bits(items) = self.kind(node) else { return None };
        let mut value = 0;
        for (i, &bit) in self.nodes.items(items).iter().enumerate() {
            let Kind::Bit(bit) = self.kind(bit) else { return None };
            if bit && i < 64 {
                value |= 1_i64 << i;
            }
        }
        Some(value)
    }

    /// The number that a value is, if it is one: an `int`, a `bit` or a `bits` without open bits.
    pub(crate) fn as_int(&self, node: Node) -> Option<i64> {
        match self.kind(node) {
            Kind::Int(value) => Some(value),
            Kind::Bit(bit) => Some(i64::from(bit)),
            Kind::Bits(_) => self.bits_value(node),
            _ => None,
        }
    }

    /// The value as one of type `ty`, with a cast that waits for what is not resolved yet. `None` if the types cannot
    /// fit.
    pub(crate) fn cast_to(&mut self, node: Node, ty: Ty) -> Option<Node> {
        if node == Node::UNSET || self.is_a(self.ty(node), ty) {
            return Some(node);
        }
        if let Some(converted) = self.convert(node, ty) {
            return Some(converted);
        }
        if !self.convertible(self.ty(node), ty) {
            return None;
        }
        Some(self.fold_un(UnOp::Cast, node, ty, None, false))
    }

    /// One bit of a value.
    pub(crate) fn bit_of(&mut self, node: Node, bit: u32) -> Node {
        match self.kind(node) {
            Kind::Bits(items) if (bit as usize) < items.len() => self.nodes.item(items, bit as usize),
            Kind::Int(value) => Node::bit(bit < 64 && value >> bit & 1 == 1),
            Kind::Un(..) | Kind::Bin(..) | Kind::Tern(..) | Kind::Var(_) | Kind::Field(..) if self.ty(node) != Ty::BIT => {
                self.var_bit(node, bit)
            }
            Kind::Fold { .. } | Kind::IsA(..) | Kind::Exists(..) | Kind::Instances(..) | Kind::Cond(_) => self.var_bit(node, bit),
            _ => node,
        }
    }

    /// `value{bits}`: `None` if the value has no such bits.
    pub(crate) fn bit_range(&mut self, node: Node, wanted: &[u32]) -> Option<Node> {
        let width = match self.kind(node) {
            Kind::Unset => return None,
            Kind::Int(_) => 64,
            _ => self.types.width(self.ty(node))?,
        };
        if wanted.iter().any(|&bit| bit >= width) {
            return None;
        }
        let plain = matches!(self.kind(node), Kind::Int(_) | Kind::Bits(_));
        let bits: Vec<Node> = wanted.iter().map(|&bit| if plain { self.bit_of(node, bit) } else { self.var_bit(node, bit) }).collect();
        Some(self.bits(&bits))
    }

    /// The value as it is stored in a field of type `ty`: `bits` fields always hold separate bits.
    pub(crate) fn stored(&mut self, node: Node, ty: Ty) -> Option<Node> {
        let value = self.cast_to(node, ty)?;
        match self.types.width(ty) {
            Some(width) if !matches!(self.kind(value), Kind::Bits(_)) => {
                let bits: Vec<Node> = (0..width).map(|bit| self.bit_of(value, bit)).collect();
                Some(self.bits(&bits))
            }
            _ => Some(value),
        }
    }
}

//! Lists: joining, repeating, picking, counting up and down.

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::ops::BinOp;
use crate::record::RecId;
use crate::ty::Ty;

impl Context {
    fn element_type(&self, list: Node) -> Ty {
        self.types.element(self.ty(list)).unwrap_or(Ty::NONE)
    }

    pub(crate) fn concat_lists(&mut self, a: Node, b: Node) -> Option<Node> {
        let (first, second) = (self.list_items(a)?, self.list_items(b)?);
        let mut items = self.nodes.items(first).to_vec();
        items.extend_from_slice(self.nodes.items(second));
        let element = self.element_type(a);
        Some(self.list(element, &items))
    }

    pub(super) fn splat(&mut self, value: Node, count: usize) -> Option<Node> {
        if count > self.options.limits.list {
            self.over_limit("list is too long", self.options.limits.list);
            return None;
        }
        let ty = self.ty(value);
        Some(self.list(ty, &vec![value; count]))
    }

    pub(super) fn remove_from_list(&mut self, a: Node, b: Node) -> Option<Node> {
        let (items, unwanted) = (self.list_items(a)?, self.list_items(b)?);
        let unwanted = self.nodes.items(unwanted);
        let keep = |&&item: &&Node| !unwanted.iter().any(|&other| self.compare(BinOp::Eq, item, other) == Some(true));
        let kept: Vec<Node> = self.nodes.items(items).iter().filter(keep).copied().collect();
        let element = self.element_type(a);
        Some(self.list(element, &kept))
    }

    /// The element that an index names; `None` while either is open, or if there is no such element.
    fn element_at(&self, list: Node, index: Node) -> Option<Node> {
        let items = self.list_items(list)?;
        let Kind::Int(index) = self.kind(index) else { return None };
        self.nodes.items(items).get(usize::try_from(index).ok()?).copied()
    }

    pub(super) fn list_element(&self, list: Node, index: Node) -> Option<Node> {
        self.element_at(list, index)
    }

    pub(super) fn list_slice(&mut self, list: Node, indices: Node) -> Option<Node> {
        let indices = self.list_items(indices)?;
        let picked: Option<Vec<Node>> = self.nodes.items(indices).iter().map(|&index| self.element_at(list, index)).collect();
        let element = self.element_type(list);
        Some(self.list(element, &picked?))
    }

    pub(super) fn int_range(&mut self, first: i64, count: u64, step: i64) -> Option<Node> {
        if count > self.options.limits.list as u64 {
            self.over_limit("list is too long", self.options.limits.list);
            return None;
        }
        let mut items = Vec::with_capacity(count as usize);
        let mut value = first;
        for _ in 0..count {
            items.push(self.int(value));
            // Only the value after the last can overflow.
            value = value.wrapping_add(step);
        }
        Some(self.list(Ty::INT, &items))
    }

    pub(super) fn fold_tail(&mut self, a: Node) -> Option<Node> {
        let items = self.list_items(a).filter(|items| !items.is_empty())?;
        let rest = self.nodes.items(items)[1..].to_vec();
        let element = self.element_type(a);
        Some(self.list(element, &rest))
    }

    pub(super) fn fold_flatten(&mut self, a: Node) -> Option<Node> {
        let outer = self.list_items(a)?;
        // A list of anything but lists is flat already.
        let Some(element) = self.types.element(self.element_type(a)) else { return Some(a) };
        let mut flat = Vec::new();
        for &inner in self.nodes.items(outer) {
            flat.extend_from_slice(self.nodes.items(self.list_items(inner)?));
        }
        Some(self.list(element, &flat))
    }

    pub(super) fn foreach(&mut self, name: Node, over: Node, body: Node, ty: Ty, record: Option<RecId>) -> Option<Node> {
        let items = self.list_items(over)?;
        let mut results = Vec::with_capacity(items.len());
        for i in 0..items.len() {
            let item = self.nodes.item(items, i);
            results.push(self.apply(name, item, body, record));
        }
        let element = self.types.element(ty).unwrap_or(Ty::NONE);
        Some(self.list(element, &results))
    }

    pub(super) fn filter(&mut self, name: Node, over: Node, body: Node, ty: Ty, record: Option<RecId>) -> Option<Node> {
        let items = self.list_items(over)?;
        let mut kept = Vec::new();
        for i in 0..items.len() {
            let item = self.nodes.item(items, i);
            let answer = self.apply(name, item, body, record);
            if self.as_int(answer)? != 0 {
                kept.push(item);
            }
        }
        let element = self.types.element(ty).unwrap_or(Ty::NONE);
        Some(self.list(element, &kept))
    }

    /// Elements in the order of what `body` says of each; equal ones stay in theirs.
    pub(super) fn sort(&mut self, name: Node, over: Node, body: Node, ty: Ty, record: Option<RecId>) -> Option<Node> {
        let items = self.list_items(over)?;
        let mut sorted = Vec::with_capacity(items.len());
        for i in 0..items.len() {
            let item = self.nodes.item(items, i);
            sorted.push((self.apply(name, item, body, record), item));
        }
        if let Some(numbers) = sorted.iter().map(|&(key, item)| Some((self.as_int(key)?, item))).collect::<Option<Vec<_>>>() {
            let mut numbers = numbers;
            numbers.sort_by_key(|&(key, _)| key);
            sorted = numbers.into_iter().map(|(_, item)| (item, item)).collect();
        } else if sorted.iter().all(|&(key, _)| self.text_of(key).is_some()) {
            sorted.sort_by(|a, b| self.text_of(a.0).cmp(&self.text_of(b.0)));
        } else {
            return None;
        }
        let element = self.types.element(ty).unwrap_or(Ty::NONE);
        let sorted: Vec<Node> = sorted.into_iter().map(|(_, item)| item).collect();
        Some(self.list(element, &sorted))
    }
}

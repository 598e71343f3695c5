//! Strings: joining, cutting, searching, replacing. All of them count bytes.

use memchr::memmem;

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::text::Put as _;
use crate::ty::Ty;

impl Context {
    /// A string, or code if any of what it was made of is code.
    fn string_or_code(&mut self, text: &[u8], code: bool) -> Node {
        if code {
            let symbol = self.intern(text);
            self.code(symbol)
        } else {
            self.string(text)
        }
    }

    /// Whether a text that is about to be made is acceptably long.
    fn may_be_long(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.options.limits.string;
        if !fits {
            self.over_limit("string is too long", self.options.limits.string);
        }
        fits
    }

    fn is_code(&self, node: Node) -> bool {
        matches!(self.kind(node), Kind::Code(_))
    }

    pub(super) fn concat_text(&mut self, a: Node, b: Node) -> Option<Node> {
        let bytes = self.text_of(a)?.len() + self.text_of(b)?.len();
        if !self.may_be_long(bytes) {
            return None;
        }
        let text = [self.text_of(a)?, self.text_of(b)?].concat();
        Some(self.string_or_code(&text, self.is_code(a) || self.is_code(b)))
    }

    pub(super) fn interleave(&mut self, list: Node, separator: Node) -> Option<Node> {
        let items = self.list_items(list)?;
        let joint = self.text_of(separator)?.len();
        let texts = self.types.element(self.ty(list)) == Some(Ty::STRING);
        let text_bytes = |&item: &Node| self.text_of(item).map_or(0, <[u8]>::len);
        let bytes = joint * items.len() + self.nodes.items(items).iter().map(text_bytes).sum::<usize>();
        if !self.may_be_long(bytes) {
            return None;
        }
        let separator = self.text_of(separator)?;
        let mut result = Vec::new();
        let mut code = false;
        for (i, &item) in self.nodes.items(items).iter().enumerate() {
            if i > 0 {
                result.extend_from_slice(separator);
            }
            if texts {
                result.extend_from_slice(self.text_of(item)?);
                code |= i > 0 && self.is_code(item);
            } else {
                result.put_number(self.as_int(item)?);
            }
        }
        Some(self.string_or_code(&result, code))
    }

    pub(super) fn substring(&mut self, text: Node, start: i64, length: i64) -> Result<Node, String> {
        let code = self.is_code(text);
        let text = self.text_of(text).unwrap_or_default();
        let size = text.len();
        let start = usize::try_from(start)
            .ok()
            .filter(|&start| start <= size)
            .ok_or_else(|| format!("!substr begins at {start}, outside of 0...{size}"))?;
        let length = usize::try_from(length).map_err(|_| format!("!substr of {length} characters"))?;
        let part = text[start..start.saturating_add(length).min(size)].to_vec();
        Ok(self.string_or_code(&part, code))
    }

    pub(super) fn find_text(&mut self, text: Node, wanted: Node, start: i64) -> Result<Node, String> {
        let (text, wanted) = (self.text_of(text).unwrap_or_default(), self.text_of(wanted).unwrap_or_default());
        let rest = usize::try_from(start)
            .ok()
            .and_then(|start| text.get(start..))
            .ok_or_else(|| format!("!find begins at {start}, outside of 0...{}", text.len()))?;
        let found = memmem::find(rest, wanted).map_or(-1, |at| start + at as i64);
        Ok(self.int(found))
    }

    pub(super) fn replace_text(&mut self, from: Node, to: Node, text: Node) -> Result<Node, String> {
        let part = |node| self.text_of(node).unwrap_or_default();
        if part(from).is_empty() {
            return Err("!subst of an empty text".to_owned());
        }
        let count = memmem::find_iter(part(text), part(from)).count();
        let bytes = part(text).len().saturating_add(count.saturating_mul(part(to).len()));
        if !self.may_be_long(bytes) {
            return Ok(Node::UNSET);
        }
        let (from, to, text) = (self.text_of(from), self.text_of(to).unwrap_or_default(), self.text_of(text).unwrap_or_default());
        let from = from.unwrap_or_default();
        let mut result = Vec::new();
        let mut copied = 0;
        for at in memmem::find_iter(text, from) {
            result.extend_from_slice(&text[copied..at]);
            result.extend_from_slice(to);
            copied = at + from.len();
        }
        result.extend_from_slice(&text[copied..]);
        Ok(self.string(result))
    }
}

//! The names in the guest's tree that are its own: those of grants, and of the directories above them.

use std::collections::BTreeMap;
use std::fmt;

use super::super::quoted::quoted;

/// Which of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(usize);

#[derive(Debug, Default)]
struct Named {
    /// From the root on, with a slash before each part: nothing for the root.
    text: Vec<u8>,
    children: BTreeMap<Box<[u8]>, Node>,
    /// The grant whose name it is.
    mount: Option<usize>,
}

/// All of them. The root is always there.
#[derive(Debug)]
pub(super) struct Tree(Vec<Named>);

impl Default for Tree {
    fn default() -> Self {
        Self(vec![Named::default()])
    }
}

impl Tree {
    pub(super) const ROOT: Node = Node(0);

    pub(super) fn child(&self, node: Node, name: &[u8]) -> Option<Node> {
        self.0[node.0].children.get(name).copied()
    }

    pub(super) fn has_children(&self, node: Node) -> bool {
        !self.0[node.0].children.is_empty()
    }

    pub(super) fn mount(&self, node: Node) -> Option<usize> {
        self.0[node.0].mount
    }

    /// The node's path, with nothing for the root.
    pub(super) fn text(&self, node: Node) -> &[u8] {
        &self.0[node.0].text
    }

    /// The node's path, for messages.
    pub(super) fn name(&self, node: Node) -> impl fmt::Display {
        let text = self.text(node);
        quoted(if text.is_empty() { b"/" } else { text })
    }

    pub(super) fn index(node: Node) -> usize {
        node.0
    }

    /// All, parents before their children.
    pub(super) fn all(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.0.len()).map(Node)
    }

    /// Names the node of a grant.
    pub(super) fn mount_at<'n>(&mut self, name: impl Iterator<Item = &'n [u8]>, mount: usize) -> Node {
        let node = name.fold(Self::ROOT, |node, part| {
            self.child(node, part).unwrap_or_else(|| {
                let new = Node(self.0.len());
                let text = [self.text(node), b"/", part].concat();
                self.0.push(Named { text, ..Named::default() });
                self.0[node.0].children.insert(part.into(), new);
                new
            })
        });
        self.0[node.0].mount = Some(mount);
        node
    }
}

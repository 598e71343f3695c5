//! Values and unevaluated expressions, hash-consed: equal ones are the same number.
//!
//! Nothing is ever changed or freed while a run lasts, so copying a record copies numbers, comparing values compares
//! numbers, and a part shared by a thousand records is stored once.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::ops::{BinOp, TernOp, UnOp};
use crate::record::RecId;
use crate::symbol::Symbol;
use crate::ty::Ty;

/// A value or expression, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(u32);

impl Node {
    /// `?`
    pub(crate) const UNSET: Node = Node(0);
    pub(crate) const FALSE: Node = Node(1);
    pub(crate) const TRUE: Node = Node(2);

    pub(crate) fn bit(value: bool) -> Node {
        if value { Node::TRUE } else { Node::FALSE }
    }
}

/// A sequence of nodes, stored once for each content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slice {
    start: u32,
    len: u32,
}

impl Slice {
    pub(crate) const EMPTY: Slice = Slice { start: 0, len: 0 };

    pub(crate) fn len(self) -> usize {
        self.len as usize
    }

    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Unset,
    Bit(bool),
    /// Lowest bit first.
    Bits(Slice),
    Int(i64),
    Str(Symbol),
    /// A string that was written as a code block.
    Code(Symbol),
    /// The name `anonymous_N` of a record whose name may still be decided.
    AnonymousName(u32),
    /// The element type is in the node's type.
    List(Slice),
    Un(UnOp, Node),
    Bin(BinOp, Node, Node),
    Tern(TernOp, Node, Node, Node),
    Fold {
        start: Node,
        list: Node,
        accumulator: Node,
        element: Node,
        body: Node,
    },
    IsA(Ty, Node),
    Exists(Ty, Node),
    Instances(Ty, Node),
    /// Condition, value, condition, value, …
    Cond(Slice),
    /// A reference to the name (a string, or an expression that will become one).
    Var(Node),
    VarBit(Node, u32),
    Def(RecId),
    /// A class with arguments, not yet instantiated. Each argument is two nodes: its position (`Int`) or qualified
    /// name, and its value.
    ClassValue(RecId, Slice),
    Field(Node, Node),
    /// `name` is `?` or a string; so is each of `names`.
    Dag {
        operator: Node,
        name: Node,
        args: Slice,
        names: Slice,
    },
}

/// What is known of a node without looking into it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Resolving references may change it.
    pub(crate) const REACTIVE: Flags = Flags(1);
    /// Fully resolved, whatever the state of other records.
    pub(crate) const CONCRETE: Flags = Flags(2);
    /// Contains a field access, which becomes concrete when the record's field does.
    pub(crate) const HAS_FIELD: Flags = Flags(4);
    /// Contains `?` where that means "no value".
    pub(crate) const INCOMPLETE: Flags = Flags(8);
    /// Contains a name: a reference, or a name `anonymous_N` that may still be decided.
    pub(crate) const NAMED: Flags = Flags(16);
    /// Contains an operator that binds names, or one that may become simpler though nothing is resolved: only a walk
    /// through it can tell what it refers to.
    pub(crate) const UNCLEAR: Flags = Flags(32);

    pub(crate) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    fn and_concrete(self, other: Flags) -> Flags {
        // Concreteness needs both; everything else is inherited from either.
        Flags((self.0 | other.0) & !(Flags::CONCRETE.0) | (self.0 & other.0 & Flags::CONCRETE.0))
    }

    fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// Names that an expression mentions, or that a resolver knows: a bit for each, which others may share. Where two sets
/// have no bit in common, the resolver has nothing to say about the expression, and need not look into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameSet(u64);

impl NameSet {
    pub(crate) const EMPTY: NameSet = NameSet(0);
    pub(crate) const ALL: NameSet = NameSet(u64::MAX);

    pub(crate) fn of(name: Node) -> NameSet {
        // The upper bits of a product with the golden ratio are as good as random.
        NameSet(1 << (name.0.wrapping_mul(0x9e37_79b9) >> 26))
    }

    pub(crate) fn and(self, other: NameSet) -> NameSet {
        NameSet(self.0 | other.0)
    }

    /// Whether a resolver that knows these has something to say about an expression that mentions `others`. One that
    /// knows all may, even if the expression mentions none.
    pub(crate) fn may_resolve(self, others: NameSet) -> bool {
        self == NameSet::ALL || self.0 & others.0 != 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Data {
    kind: Kind,
    ty: Ty,
    depth: u32,
    flags: Flags,
    names: NameSet,
}

/// All nodes of a run.
#[derive(Debug)]
pub(crate) struct Nodes {
    data: Vec<Data>,
    table: HashTable<u32>,
    pool: Vec<Node>,
    slices: HashTable<Slice>,
    /// The node of each plain string, by symbol.
    strings: Vec<Node>,
}

fn hash_of(kind: &Kind, ty: Ty) -> u64 {
    FxBuildHasher.hash_one((kind, ty))
}

impl Nodes {
    pub(crate) fn new() -> Nodes {
        let mut nodes =
            Nodes { data: Vec::new(), table: HashTable::new(), pool: Vec::new(), slices: HashTable::new(), strings: Vec::new() };
        nodes.intern(Kind::Unset, Ty::NONE);
        nodes.intern(Kind::Bit(false), Ty::BIT);
        nodes.intern(Kind::Bit(true), Ty::BIT);
        nodes
    }

    pub(crate) fn kind(&self, node: Node) -> Kind {
        self.data[node.0 as usize].kind
    }

    pub(crate) fn ty(&self, node: Node) -> Ty {
        self.data[node.0 as usize].ty
    }

    pub(crate) fn flags(&self, node: Node) -> Flags {
        self.data[node.0 as usize].flags
    }

    /// The names that it mentions, or all if it may change even so.
    pub(crate) fn names(&self, node: Node) -> NameSet {
        self.data[node.0 as usize].names
    }

    /// Levels of nesting.
    pub(crate) fn depth(&self, node: Node) -> u32 {
        self.data[node.0 as usize].depth
    }

    pub(crate) fn items(&self, slice: Slice) -> &[Node] {
        &self.pool[slice.start as usize..(slice.start + slice.len) as usize]
    }

    pub(crate) fn item(&self, slice: Slice, index: usize) -> Node {
        self.items(slice)[index]
    }

    pub(crate) fn slice(&mut self, items: &[Node]) -> Slice {
        if items.is_empty() {
            return Slice::EMPTY;
        }
        let hash = FxBuildHasher.hash_one(items);
        let pool = &self.pool;
        let view = |slice: &Slice| &pool[slice.start as usize..(slice.start + slice.len) as usize];
        if let Some(&found) = self.slices.find(hash, |slice| view(slice) == items) {
            return found;
        }
        let slice = Slice { start: self.pool.len() as u32, len: items.len() as u32 };
        self.pool.extend_from_slice(items);
        let pool = &self.pool;
        self.slices
            .insert_unique(hash, slice, |slice| FxBuildHasher.hash_one(&pool[slice.start as usize..(slice.start + slice.len) as usize]));
        slice
    }

    pub(crate) fn string(&mut self, symbol: Symbol) -> Node {
        let index = symbol.index();
        if let Some(&node) = self.strings.get(index)
            && node != Node::UNSET
        {
            return node;
        }
        let node = self.intern(Kind::Str(symbol), Ty::STRING);
        if self.strings.len() <= index {
            self.strings.resize(index + 1, Node::UNSET);
        }
        self.strings[index] = node;
        node
    }

    pub(crate) fn intern(&mut self, kind: Kind, ty: Ty) -> Node {
        let hash = hash_of(&kind, ty);
        let data = &self.data;
        let same = |&id: &u32| data[id as usize].kind == kind && data[id as usize].ty == ty;
        if let Some(&id) = self.table.find(hash, same) {
            return Node(id);
        }
        let id = self.data.len() as u32;
        let (flags, depth, names) = self.summary(&kind, Node(id));
        self.data.push(Data { kind, ty, depth, flags, names });
        let data = &self.data;
        self.table.insert_unique(hash, id, |&id| hash_of(&data[id as usize].kind, data[id as usize].ty));
        Node(id)
    }

    /// Number of nodes, and of references between them.
    pub(crate) fn size(&self) -> usize {
        self.data.len() + self.pool.len()
    }

    fn summary(&self, kind: &Kind, own_name: Node) -> (Flags, u32, NameSet) {
        let mut below = Below { nodes: self, flags: Flags::CONCRETE, depth: 0, names: NameSet::EMPTY };
        let own = match *kind {
            Kind::Unset => Flags::INCOMPLETE,
            Kind::Bit(_) | Kind::Int(_) | Kind::Str(_) | Kind::Code(_) | Kind::Def(_) => Flags::default(),
            Kind::Bits(items) => {
                below.all(items);
                if self.items(items).iter().all(|&bit| self.is_plain_bit(bit)) {
                    Flags::default()
                } else {
                    below.names = NameSet::ALL;
                    Flags::UNCLEAR
                }
            }
            Kind::List(items) | Kind::Cond(items) => {
                below.all(items);
                Flags::default()
            }
            Kind::Dag { operator, args, .. } => {
                below.one(operator);
                below.all(args);
                below.flags = below.flags.without(Flags::INCOMPLETE);
                Flags::default()
            }
            Kind::AnonymousName(_) => {
                below.stuck();
                below.names = NameSet::of(own_name);
                Flags::REACTIVE.with(Flags::NAMED)
            }
            Kind::Var(name) => {
                below.one(name);
                below.stuck();
                below.flags = below.flags.without(Flags::INCOMPLETE);
                below.names = NameSet::of(name);
                Flags::REACTIVE.with(Flags::NAMED)
            }
            Kind::Un(op, a) => {
                below.one(a);
                below.stuck();
                below.flags = below.flags.without(Flags::INCOMPLETE);
                if op == UnOp::Cast { Flags::REACTIVE } else { Flags::default() }
            }
            Kind::Bin(op, a, b) => {
                below.one(a);
                below.one(b);
                below.stuck();
                below.flags = below.flags.without(Flags::INCOMPLETE);
                // These two short-circuit, even if their operands stay as they are.
                if !matches!(op, BinOp::And | BinOp::Or) {
                    Flags::default()
                } else if self.flags(a).has(Flags::CONCRETE) {
                    below.names = NameSet::ALL;
                    Flags::REACTIVE.with(Flags::UNCLEAR)
                } else {
                    Flags::REACTIVE
                }
            }
            Kind::Tern(op, a, b, c) => {
                below.one(a);
                below.one(b);
                below.one(c);
                below.stuck();
                if op.binds() { Flags::UNCLEAR } else { Flags::default() }
            }
            Kind::Fold { start, list, body, .. } => {
                below.one(start);
                below.one(list);
                below.one(body);
                below.stuck();
                Flags::INCOMPLETE.with(Flags::UNCLEAR)
            }
            Kind::IsA(_, a) => {
                below.one(a);
                below.stuck();
                Flags::INCOMPLETE
            }
            Kind::Exists(_, a) | Kind::Instances(_, a) => {
                below.one(a);
                below.stuck();
                Flags::INCOMPLETE.with(Flags::REACTIVE)
            }
            Kind::VarBit(a, _) => {
                below.one(a);
                below.stuck();
                below.flags = below.flags.without(Flags::INCOMPLETE);
                Flags::default()
            }
            Kind::ClassValue(_, args) => {
                below.all(args);
                below.stuck();
                below.flags = below.flags.without(Flags::INCOMPLETE);
                Flags::default()
            }
            Kind::Field(record, _) => {
                below.one(record);
                below.stuck();
                below.flags = below.flags.without(Flags::INCOMPLETE);
                Flags::HAS_FIELD
            }
        };
        (below.flags.with(own), below.depth + 1, below.names)
    }

    /// Whether resolving `bits` leaves this bit as it is unless something in it is resolved.
    fn is_plain_bit(&self, bit: Node) -> bool {
        match self.kind(bit) {
            Kind::Unset | Kind::Bit(_) | Kind::VarBit(..) => true,
            Kind::Un(..) | Kind::Bin(..) | Kind::Tern(..) | Kind::Var(_) | Kind::Field(..) => self.ty(bit) == Ty::BIT,
            _ => false,
        }
    }
}

/// What the children of a node have in common.
struct Below<'a> {
    nodes: &'a Nodes,
    flags: Flags,
    depth: u32,
    names: NameSet,
}

impl Below<'_> {
    fn one(&mut self, child: Node) {
        let data = &self.nodes.data[child.0 as usize];
        self.flags = self.flags.and_concrete(data.flags);
        self.depth = self.depth.max(data.depth);
        self.names = self.names.and(data.names);
    }

    fn all(&mut self, children: Slice) {
        for &child in self.nodes.items(children) {
            self.one(child);
        }
    }

    fn stuck(&mut self) {
        self.flags = self.flags.without(Flags::CONCRETE);
    }
}

//! Late binding: replacing references by values wherever an expression mentions them.
//!
//! A [`Resolver`] says what a name stands for. Parts of an expression that refer to nothing, or to none of the names
//! that the resolver knows, are returned untouched without being looked into.

use crate::context::Context;
use crate::node::{Flags, Kind, NameSet, Node, Slice};
use crate::ops::{BinOp, TernOp, UnOp};
use crate::record::RecId;
use crate::ty::Ty;

/// Says what names stand for.
pub(crate) trait Resolver {
    /// The record in which the expression stands.
    fn record(&self) -> Option<RecId>;

    /// Whether this is the last resolution: what cannot be decided now never will be.
    fn is_final(&self) -> bool {
        false
    }

    /// Whether a bit stays a reference where it would become `?`.
    fn keeps_unset_bits(&self) -> bool {
        false
    }

    /// The names that it can replace. All, if it may change what mentions none of them.
    fn knows(&self) -> NameSet {
        NameSet::ALL
    }

    /// Whether it wants to know what is left as it is: [`Resolver::pass`] is called then.
    fn tracks(&self) -> bool {
        false
    }

    /// An expression is left as it is, since it mentions no name that this knows.
    fn pass(&mut self, _: &mut Context, _: Node) {}

    fn lookup(&mut self, context: &mut Context, name: Node) -> Option<Node>;
}

/// Names with given values, which may refer to one another.
pub(crate) struct MapResolver {
    record: Option<RecId>,
    is_final: bool,
    names: NameSet,
    /// Name, value, and whether the value's own references are resolved.
    entries: Vec<(Node, Node, bool)>,
}

impl MapResolver {
    pub(crate) fn new(record: Option<RecId>) -> MapResolver {
        MapResolver { record, is_final: false, names: NameSet::EMPTY, entries: Vec::new() }
    }

    pub(crate) fn set(&mut self, name: Node, value: Node) {
        self.names = self.names.and(NameSet::of(name));
        match self.entries.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => *entry = (name, value, false),
            None => self.entries.push((name, value, false)),
        }
    }

    pub(crate) fn set_final(&mut self) {
        self.is_final = true;
    }
}

impl Resolver for MapResolver {
    fn record(&self) -> Option<RecId> {
        self.record
    }

    fn is_final(&self) -> bool {
        self.is_final
    }

    fn knows(&self) -> NameSet {
        if self.is_final { NameSet::ALL } else { self.names }
    }

    fn lookup(&mut self, context: &mut Context, name: Node) -> Option<Node> {
        let at = self.entries.iter().position(|entry| entry.0 == name)?;
        let (_, value, resolved) = self.entries[at];
        if resolved || self.entries.len() == 1 {
            return Some(value);
        }
        // Values may refer to other names of the map; taking the entry out ends cycles.
        self.entries.swap_remove(at);
        let value = context.resolve(value, self);
        self.entries.push((name, value, true));
        Some(value)
    }
}

/// The fields of a record that have a value.
pub(crate) struct RecordResolver {
    record: RecId,
    /// What the record's own name becomes.
    name: Option<Node>,
    cache: Vec<(Node, Node)>,
    /// Names being resolved: a field that depends on itself stays as it is.
    active: Vec<Node>,
}

impl RecordResolver {
    pub(crate) fn new(record: RecId, name: Option<Node>) -> RecordResolver {
        RecordResolver { record, name, cache: Vec::new(), active: Vec::new() }
    }
}

impl Resolver for RecordResolver {
    fn record(&self) -> Option<RecId> {
        Some(self.record)
    }

    fn is_final(&self) -> bool {
        true
    }

    fn keeps_unset_bits(&self) -> bool {
        true
    }

    fn lookup(&mut self, context: &mut Context, name: Node) -> Option<Node> {
        if let Some(&(_, value)) = self.cache.iter().find(|entry| entry.0 == name) {
            return Some(value);
        }
        if self.active.contains(&name) {
            return None;
        }
        let value = match context.records[self.record].field(name) {
            Some(field) if field.value == Node::UNSET => return None,
            Some(field) => field.value,
            None if name == context.records[self.record].name => self.name?,
            None => return None,
        };
        self.active.push(name);
        let value = context.resolve(value, self);
        self.active.pop();
        self.cache.push((name, value));
        Some(value)
    }
}

/// Another resolver, except for some names.
struct Shadowed<'a> {
    inner: &'a mut dyn Resolver,
    hidden: [Node; 2],
}

impl Resolver for Shadowed<'_> {
    fn record(&self) -> Option<RecId> {
        self.inner.record()
    }

    fn is_final(&self) -> bool {
        self.inner.is_final()
    }

    fn knows(&self) -> NameSet {
        self.inner.knows()
    }

    fn tracks(&self) -> bool {
        self.inner.tracks()
    }

    fn pass(&mut self, context: &mut Context, node: Node) {
        // The hidden names are not unresolved, so a walk has to tell them from others.
        context.resolve_within(node, self);
    }

    fn lookup(&mut self, context: &mut Context, name: Node) -> Option<Node> {
        if self.hidden.contains(&name) { None } else { self.inner.lookup(context, name) }
    }
}

/// Another resolver, or none, and whether anything stayed unresolved.
pub(crate) struct Tracking<'a> {
    inner: Option<&'a mut dyn Resolver>,
    pub(crate) found_unresolved: bool,
}

impl<'a> Tracking<'a> {
    pub(crate) fn new(inner: Option<&'a mut dyn Resolver>) -> Tracking<'a> {
        Tracking { inner, found_unresolved: false }
    }
}

impl Resolver for Tracking<'_> {
    fn record(&self) -> Option<RecId> {
        self.inner.as_ref().and_then(|inner| inner.record())
    }

    fn knows(&self) -> NameSet {
        self.inner.as_ref().map_or(NameSet::ALL, |inner| inner.knows())
    }

    fn tracks(&self) -> bool {
        true
    }

    fn pass(&mut self, context: &mut Context, node: Node) {
        self.found_unresolved = self.found_unresolved || context.has_unresolved(node);
        if let Some(inner) = self.inner.as_mut().filter(|inner| inner.tracks()) {
            inner.pass(context, node);
        }
    }

    fn lookup(&mut self, context: &mut Context, name: Node) -> Option<Node> {
        let value = self.inner.as_mut().and_then(|inner| inner.lookup(context, name));
        match value {
            // Not resolved further: that would change what the inner resolver means.
            Some(value) if !self.found_unresolved => self.found_unresolved = context.has_unresolved(value),
            Some(_) => {}
            None => self.found_unresolved = true,
        }
        value
    }
}

/// Resolves nothing, and sees whether a name is mentioned.
pub(crate) struct Mentions {
    pub(crate) name: Node,
    pub(crate) found: bool,
    pub(crate) is_final: bool,
}

impl Resolver for Mentions {
    fn record(&self) -> Option<RecId> {
        None
    }

    fn is_final(&self) -> bool {
        self.is_final
    }

    fn knows(&self) -> NameSet {
        if self.is_final { NameSet::ALL } else { NameSet::of(self.name) }
    }

    fn lookup(&mut self, _: &mut Context, name: Node) -> Option<Node> {
        self.found |= name == self.name;
        None
    }
}

impl Context {
    /// Whether an expression mentions a name that is not bound within it.
    pub(crate) fn has_unresolved(&mut self, node: Node) -> bool {
        let flags = self.nodes.flags(node);
        if !flags.has(Flags::UNCLEAR) || !flags.has(Flags::NAMED) {
            return flags.has(Flags::NAMED);
        }
        let mut tracking = Tracking::new(None);
        self.resolve(node, &mut tracking);
        tracking.found_unresolved
    }

    /// Replaces references and evaluates what that makes possible.
    pub(crate) fn resolve(&mut self, node: Node, resolver: &mut dyn Resolver) -> Node {
        if !self.nodes.flags(node).has(Flags::REACTIVE) {
            return node;
        }
        if !resolver.knows().may_resolve(self.nodes.names(node)) {
            if resolver.tracks() {
                resolver.pass(self, node);
            }
            return node;
        }
        self.resolve_within(node, resolver)
    }

    /// The same for an expression that has to be looked into.
    fn resolve_within(&mut self, node: Node, resolver: &mut dyn Resolver) -> Node {
        if !self.enter() {
            return node;
        }
        let result = self.resolve_reactive(node, resolver);
        self.leave();
        result
    }

    fn resolve_reactive(&mut self, node: Node, resolver: &mut dyn Resolver) -> Node {
        let ty = self.ty(node);
        match self.kind(node) {
            Kind::Unset | Kind::Bit(_) | Kind::Int(_) | Kind::Str(_) | Kind::Code(_) | Kind::Def(_) => node,
            Kind::AnonymousName(_) => self.resolve_anonymous_name(node, resolver),
            Kind::Var(name) => resolver.lookup(self, name).unwrap_or(node),
            Kind::VarBit(of, bit) => {
                let new = self.resolve(of, resolver);
                if new == of { node } else { self.bit_of(new, bit) }
            }
            Kind::Bits(items) => self.resolve_bits(node, items, resolver),
            Kind::List(items) => match self.resolve_items(items, resolver) {
                Some(items) => self.node(Kind::List(items), ty),
                None => node,
            },
            Kind::Un(op, a) => {
                let new = self.resolve(a, resolver);
                if new == a && !(op == UnOp::Cast && resolver.is_final()) {
                    return node;
                }
                self.fold_un(op, new, ty, resolver.record(), resolver.is_final())
            }
            Kind::Bin(op, a, b) => self.resolve_bin(node, (op, a, b), resolver),
            Kind::Tern(op, a, b, c) => self.resolve_tern(node, (op, a, b, c), resolver),
            Kind::Fold { start, list, accumulator, element, body } => {
                let new_start = self.resolve(start, resolver);
                let new_list = self.resolve(list, resolver);
                let new_body = self.resolve(body, &mut Shadowed { inner: resolver, hidden: [accumulator, element] });
                if (new_start, new_list, new_body) == (start, list, body) {
                    return node;
                }
                self.fold_fold((new_start, new_list, accumulator, element, new_body), ty, resolver.record())
            }
            Kind::IsA(target, a) => {
                let new = self.resolve(a, resolver);
                if new == a { node } else { self.fold_is_a(target, new) }
            }
            Kind::Exists(target, a) => {
                let new = self.resolve(a, resolver);
                if new == a && !resolver.is_final() {
                    return node;
                }
                self.fold_exists(target, new, resolver.record(), resolver.is_final())
            }
            Kind::Instances(target, a) => {
                let new = self.resolve(a, resolver);
                if new == a && !resolver.is_final() {
                    return node;
                }
                self.fold_instances(target, new, resolver.record(), resolver.is_final())
            }
            Kind::Cond(items) => match self.resolve_items(items, resolver) {
                Some(items) => self.fold_cond(items, ty, resolver.record()),
                None => node,
            },
            Kind::ClassValue(class, args) => self.resolve_class_value(node, class, args, resolver),
            Kind::Field(of, name) => {
                let new = self.resolve(of, resolver);
                if new == of { node } else { self.fold_field(new, name, ty, resolver.record()) }
            }
            Kind::Dag { operator, name, args, names } => {
                let new_args = self.resolve_items(args, resolver);
                let new_operator = self.resolve(operator, resolver);
                if new_args.is_none() && new_operator == operator {
                    return node;
                }
                self.node(Kind::Dag { operator: new_operator, name, args: new_args.unwrap_or(args), names }, ty)
            }
        }
    }

    fn resolve_anonymous_name(&mut self, node: Node, resolver: &mut dyn Resolver) -> Node {
        let new = resolver.lookup(self, node).unwrap_or(node);
        match self.kind(new) {
            Kind::AnonymousName(number) if resolver.is_final() => self.anonymous_text(number),
            _ => new,
        }
    }

    /// Resolves each item; `None` if none changes.
    fn resolve_items(&mut self, items: Slice, resolver: &mut dyn Resolver) -> Option<Slice> {
        let base = self.scratch.len();
        let mut changed = false;
        for i in 0..items.len() {
            let item = self.nodes.item(items, i);
            let new = self.resolve(item, resolver);
            changed |= new != item;
            self.scratch.push(new);
        }
        let result = changed.then(|| self.nodes.slice(&self.scratch[base..]));
        self.scratch.truncate(base);
        result
    }

    fn resolve_bits(&mut self, node: Node, items: Slice, resolver: &mut dyn Resolver) -> Node {
        let mut last = None;
        let mut bits = Vec::with_capacity(items.len());
        for i in 0..items.len() {
            let bit = self.nodes.item(items, i);
            let new = if let Kind::VarBit(of, number) = self.kind(bit) {
                // Neighbouring bits mostly belong to the same value.
                let value = match last {
                    Some((source, value)) if source == of => value,
                    _ => self.resolve(of, resolver),
                };
                last = Some((of, value));
                if value == of { bit } else { self.bit_of(value, number) }
            } else {
                let value = self.resolve(bit, resolver);
                self.bit_of(value, 0)
            };
            bits.push(if new == Node::UNSET && resolver.keeps_unset_bits() { bit } else { new });
        }
        if bits == self.nodes.items(items) { node } else { self.bits(&bits) }
    }

    fn resolve_bin(&mut self, node: Node, (op, a, b): (BinOp, Node, Node), resolver: &mut dyn Resolver) -> Node {
        let new_a = self.resolve(a, resolver);
        // Short-circuit, whether meant as logic or bits: only what decides either.
        if let BinOp::And | BinOp::Or = op
            && let Some(value) = self.as_int(new_a)
            && value == if op == BinOp::And { 0 } else { -1 }
        {
            return self.int(value);
        }
        let new_b = self.resolve(b, resolver);
        if (new_a, new_b) == (a, b) {
            return node;
        }
        let ty = self.ty(node);
        self.fold_bin(op, new_a, new_b, ty, resolver.record())
    }

    fn resolve_tern(&mut self, node: Node, (op, a, b, c): (TernOp, Node, Node, Node), resolver: &mut dyn Resolver) -> Node {
        let new_a = self.resolve(a, resolver);
        if op == TernOp::If
            && new_a != a
            && let Some(value) = self.as_int(new_a)
        {
            return self.resolve(if value != 0 { b } else { c }, resolver);
        }
        let new_b = self.resolve(b, resolver);
        let new_c =
            if op.binds() { self.resolve(c, &mut Shadowed { inner: resolver, hidden: [new_a, new_a] }) } else { self.resolve(c, resolver) };
        if (new_a, new_b, new_c) == (a, b, c) {
            return node;
        }
        let ty = self.ty(node);
        self.fold_tern(op, new_a, new_b, new_c, ty, resolver.record())
    }

    fn resolve_class_value(&mut self, node: Node, class: RecId, args: Slice, resolver: &mut dyn Resolver) -> Node {
        let mut tracking = Tracking::new(Some(resolver));
        let mut new_args = self.nodes.items(args).to_vec();
        for arg in new_args.iter_mut().skip(1).step_by(2) {
            *arg = self.resolve(*arg, &mut tracking);
        }
        let unresolved = tracking.found_unresolved;
        if new_args == self.nodes.items(args) {
            return node;
        }
        let span = self.class_value_spans[&node];
        let new = self.class_value(span, class, &new_args);
        if unresolved { new } else { self.instantiate(new) }
    }

    /// The name of a record's field or argument, with the record's name in front.
    pub(crate) fn qualified(&mut self, record: RecId, name: Node) -> Node {
        let own = self.records[record].name;
        let scope = if self.records[record].kind == crate::record::RecordKind::MultiClass { "::" } else { ":" };
        let scope = self.string(scope);
        let prefix = self.fold_bin(BinOp::StrConcat, own, scope, Ty::STRING, Some(record));
        self.fold_bin(BinOp::StrConcat, prefix, name, Ty::STRING, Some(record))
    }

    /// The name of the implicit argument `NAME`.
    pub(crate) fn qualified_implicit_name(&mut self, record: RecId) -> Node {
        let name = self.string("NAME");
        self.qualified(record, name)
    }
}

//! Directed acyclic graphs: `(operator arg:$name, …)`.

use crate::context::Context;
use crate::node::{Kind, Node};
use crate::ops::BinOp;
use crate::record::RecId;

impl Context {
    pub(super) fn concat_dags(&mut self, a: Node, b: Node) -> Result<Option<Node>, String> {
        let (
            Kind::Dag { operator: op_a, name: name_a, args: args_a, names: names_a },
            Kind::Dag { operator: op_b, name: name_b, args: args_b, names: names_b },
        ) = (self.kind(a), self.kind(b))
        else {
            return Ok(None);
        };
        let settled = |op: Node| op == Node::UNSET || matches!(self.kind(op), Kind::Def(_));
        if !settled(op_a) || !settled(op_b) {
            return Ok(None);
        }
        if op_a != Node::UNSET && op_b != Node::UNSET && op_a != op_b {
            return Err(format!("!con of dags with different operators: {} and {}", self.text(a), self.text(b)));
        }
        let first_set = |first: Node, second: Node| if first == Node::UNSET { second } else { first };
        let join = |first, second| [self.nodes.items(first), self.nodes.items(second)].concat();
        let (args, names) = (join(args_a, args_b), join(names_a, names_b));
        Ok(Some(self.dag(first_set(op_a, op_b), first_set(name_a, name_b), &args, &names)))
    }

    /// The position that an index or a name means; `None` while either is open.
    fn dag_position(&self, dag: Node, key: Node) -> Result<Option<usize>, String> {
        let Kind::Dag { args, names, .. } = self.kind(dag) else { return Ok(None) };
        if let Kind::Int(index) = self.kind(key) {
            let position = usize::try_from(index).ok().filter(|&index| index < args.len());
            return position
                .map(Some)
                .ok_or_else(|| format!("dag of {} arguments has no argument {index}: {}", args.len(), self.text(dag)));
        }
        let Some(wanted) = self.text_of(key) else { return Ok(None) };
        let found = self.nodes.items(names).iter().position(|&name| self.text_of(name) == Some(wanted));
        found.map(Some).ok_or_else(|| format!("dag has no argument named '{}': {}", self.unquoted(key), self.text(dag)))
    }

    pub(super) fn dag_argument(&self, dag: Node, key: Node) -> Result<Option<Node>, String> {
        let Some(position) = self.dag_position(dag, key)? else { return Ok(None) };
        let Kind::Dag { args, .. } = self.kind(dag) else { return Ok(None) };
        Ok(Some(self.nodes.item(args, position)))
    }

    pub(super) fn dag_argument_name(&self, dag: Node, index: Node) -> Result<Option<Node>, String> {
        let (Kind::Dag { names, .. }, Kind::Int(_)) = (self.kind(dag), self.kind(index)) else { return Ok(None) };
        Ok(self.dag_position(dag, index)?.map(|position| self.nodes.item(names, position)))
    }

    pub(super) fn replace_dag_operator(&mut self, op: BinOp, dag: Node, new: Node) -> Option<Node> {
        let Kind::Dag { operator, args, names, .. } = self.kind(dag) else { return None };
        let kind = match (op, self.kind(new)) {
            (BinOp::SetDagOp, Kind::Def(_)) => Kind::Dag { operator: new, name: Node::UNSET, args, names },
            (BinOp::SetDagOpName, Kind::Str(_) | Kind::Code(_)) => Kind::Dag { operator, name: new, args, names },
            _ => return None,
        };
        Some(self.node(kind, self.ty(dag)))
    }

    /// The dag with one argument, or the name of one, replaced.
    pub(super) fn replace_dag_argument(&mut self, dag: Node, key: Node, new: Node, is_name: bool) -> Result<Option<Node>, String> {
        let Some(position) = self.dag_position(dag, key)? else { return Ok(None) };
        let Kind::Dag { operator, name, args, names } = self.kind(dag) else { return Ok(None) };
        let (mut args, mut names) = (self.nodes.items(args).to_vec(), self.nodes.items(names).to_vec());
        if is_name {
            names[position] = if self.text_of(new).is_some() { new } else { Node::UNSET };
        } else {
            args[position] = new;
        }
        Ok(Some(self.dag(operator, name, &args, &names)))
    }

    /// `!dag(operator, arguments, names)`, where either list may be `?`.
    pub(super) fn build_dag(&mut self, operator: Node, args: Node, names: Node) -> Option<Node> {
        let list = |node: Node| if node == Node::UNSET { Some(None) } else { self.list_items(node).map(Some) };
        let (args, names) = (list(args)?, list(names)?);
        let size = args.or(names)?.len();
        if args.is_some_and(|args| args.len() != size) || names.is_some_and(|names| names.len() != size) {
            return None;
        }
        let column = |items: Option<_>| items.map_or_else(|| vec![Node::UNSET; size], |items| self.nodes.items(items).to_vec());
        let (args, names) = (column(args), column(names));
        if names.iter().any(|&name| name != Node::UNSET && self.text_of(name).is_none()) {
            return None;
        }
        Some(self.dag(operator, Node::UNSET, &args, &names))
    }

    /// `!foreach` over a dag: the operator, the arguments, and those of dags within.
    pub(super) fn foreach_dag(&mut self, name: Node, dag: Node, body: Node, record: Option<RecId>) -> Option<Node> {
        let Kind::Dag { operator, name: dag_name, args, names } = self.kind(dag) else { return None };
        if !self.enter() {
            return None;
        }
        let new_operator = self.apply(name, operator, body, record);
        let mut new_args = Vec::with_capacity(args.len());
        for i in 0..args.len() {
            let arg = self.nodes.item(args, i);
            let new = match self.foreach_dag(name, arg, body, record) {
                Some(new) => new,
                None => self.apply(name, arg, body, record),
            };
            new_args.push(new);
        }
        self.leave();
        let names = self.nodes.items(names).to_vec();
        Some(self.dag(new_operator, dag_name, &new_args, &names))
    }
}

//! Functions that may call themselves, over others or not, from a module's text.
//!
//! Every circle of calls has a function in it that is found here: whoever looks at the stack in each of them sees every
//! endless recursion. A call through a pointer may reach every function whose address is taken.

use std::collections::{HashMap, HashSet};

use super::layout::name_len;
use crate::module::{definition, is_kernel};

/// Of the defined functions, by name: one of each circle of calls.
pub(super) fn breakers(module: &str) -> Vec<&str> {
    let graph = Graph::read(module);
    let components = graph.components();
    // The pointer, as something that is called and calls, is a circle's member as any function, but nothing can be
    // looked at in it.
    let pointer = graph.names.len();
    let with_pointer = |function: usize| components[function] == components[pointer];
    let through = |chosen: &[bool]| (0..pointer).filter(|&function| chosen[function] && with_pointer(function)).collect::<Vec<_>>();
    let (callers, called) = (through(&graph.calls_pointers), through(&graph.address_taken));
    let mut breaks = vec![false; pointer];
    if !callers.is_empty() && !called.is_empty() {
        for function in if callers.len() <= called.len() { callers } else { called } {
            breaks[function] = true;
        }
    }
    graph.break_the_rest(&components, &mut breaks);
    (0..pointer).filter(|&function| breaks[function]).map(|function| graph.names[function]).collect()
}

/// All functions that may call themselves, over others or not.
pub(crate) fn circles(module: &str) -> HashSet<&str> {
    let graph = Graph::read(module);
    let components = graph.components();
    let mut members = vec![0; components.len()];
    components.iter().for_each(|component| members[*component] += 1);
    let alone = |function: usize| members[components[function]] == 1 && !graph.calls[function].contains(&function);
    graph.names.iter().enumerate().filter(|(function, _)| !alone(*function)).map(|(_, name)| *name).collect()
}

/// The kernels (functions of this calling convention) of whose stack nobody knows the bound: those that reach a circle
/// of calls, or a call through a pointer, whatever it points at.
pub(crate) fn unbounded<'a>(module: &'a str, convention: &str) -> Vec<&'a str> {
    let graph = Graph::read(module);
    let circles = breakers(module);
    let endless: Vec<bool> =
        graph.names.iter().zip(&graph.calls_pointers).map(|(name, &pointers)| pointers || circles.contains(name)).collect();
    let reaches_one = |start: usize| {
        let mut seen = vec![false; graph.names.len()];
        let mut open = vec![start];
        while let Some(function) = open.pop() {
            if endless[function] {
                return true;
            }
            if !std::mem::replace(&mut seen[function], true) {
                open.extend(&graph.calls[function]);
            }
        }
        false
    };
    let definitions = module.lines().filter_map(definition).enumerate();
    let kernels = definitions.filter(|(_, (before, _))| is_kernel(before, convention));
    kernels.filter(|(number, _)| reaches_one(*number)).map(|(_, (_, name))| name).collect()
}

struct Graph<'a> {
    names: Vec<&'a str>,
    /// Direct calls.
    calls: Vec<Vec<usize>>,
    calls_pointers: Vec<bool>,
    address_taken: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn read(module: &'a str) -> Graph<'a> {
        let names: Vec<&str> = module.lines().filter_map(definition).map(|(_, name)| name).collect();
        let by_name: HashMap<&str, usize> = names.iter().enumerate().map(|(function, name)| (*name, function)).collect();
        let count = names.len();
        let mut graph =
            Graph { names, calls: vec![Vec::new(); count], calls_pointers: vec![false; count], address_taken: vec![false; count] };
        let mut current = None;
        for line in module.lines() {
            let defined = definition(line);
            if let Some((_, name)) = defined {
                current = by_name.get(name).copied();
            } else if line.starts_with('}') {
                current = None;
            }
            let caller = current.filter(|_| is_call(line));
            for (name, is_callee) in mentions(line, '@') {
                let known = by_name.get(name.trim_matches('"')).copied();
                match (caller, known) {
                    (Some(caller), Some(callee)) if is_callee => graph.calls[caller].push(callee),
                    // Another name of something, perhaps; what is only declared and called is LLVM's own.
                    (Some(caller), None) if is_callee && !name.starts_with("llvm.") => graph.calls_pointers[caller] = true,
                    (_, Some(function)) if defined.is_none_or(|(_, own)| own != name.trim_matches('"')) => {
                        graph.address_taken[function] = true
                    }
                    _ => {}
                }
            }
            if let Some(caller) = caller.filter(|_| mentions(line, '%').any(|(_, is_callee)| is_callee)) {
                graph.calls_pointers[caller] = true;
            }
        }
        for callees in &mut graph.calls {
            callees.sort_unstable();
            callees.dedup();
        }
        graph
    }

    /// What a node calls; the last node is the pointer.
    fn callees(&self, node: usize) -> Vec<usize> {
        let count = self.names.len();
        if node == count {
            return (0..count).filter(|&function| self.address_taken[function]).collect();
        }
        let mut callees = self.calls[node].clone();
        callees.extend(self.calls_pointers[node].then_some(count));
        callees
    }

    /// Nodes that reach each other have the same number (Tarjan's algorithm).
    fn components(&self) -> Vec<usize> {
        const NEW: usize = usize::MAX;
        let nodes = self.names.len() + 1;
        let (mut order, mut low, mut component) = (vec![NEW; nodes], vec![0; nodes], vec![NEW; nodes]);
        let (mut open, mut next, mut found) = (Vec::new(), 0, 0);
        for root in 0..nodes {
            if order[root] != NEW {
                continue;
            }
            let mut path = vec![(root, self.callees(root), 0)];
            (order[root], low[root], next) = (next, next, next + 1);
            open.push(root);
            while let Some((node, callees, at)) = path.last_mut() {
                let node = *node;
                if let Some(&callee) = callees.get(*at) {
                    *at += 1;
                    if order[callee] == NEW {
                        (order[callee], low[callee], next) = (next, next, next + 1);
                        open.push(callee);
                        path.push((callee, self.callees(callee), 0));
                    } else if component[callee] == NEW {
                        low[node] = low[node].min(order[callee]);
                    }
                    continue;
                }
                path.pop();
                if let Some((caller, ..)) = path.last() {
                    low[*caller] = low[*caller].min(low[node]);
                }
                if low[node] == order[node] {
                    while let Some(member) = open.pop() {
                        component[member] = found;
                        if member == node {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
        component
    }

    /// Marks what direct calls come back to, in a walk that does not enter what is marked already.
    fn break_the_rest(&self, components: &[usize], breaks: &mut [bool]) {
        let mut seen = vec![false; breaks.len()];
        let mut on_path = vec![false; breaks.len()];
        for root in 0..breaks.len() {
            if seen[root] || breaks[root] {
                continue;
            }
            let mut path = vec![(root, 0)];
            (seen[root], on_path[root]) = (true, true);
            while let Some((node, at)) = path.last_mut() {
                let node = *node;
                let Some(&callee) = self.calls[node].get(*at) else {
                    on_path[node] = false;
                    path.pop();
                    continue;
                };
                *at += 1;
                if components[callee] != components[node] || breaks[callee] {
                    continue;
                }
                if on_path[callee] {
                    breaks[callee] = true;
                } else if !seen[callee] {
                    (seen[callee], on_path[callee]) = (true, true);
                    path.push((callee, 0));
                }
            }
        }
    }
}

/// Whether the line is a call that is not of the machine's own instructions.
fn is_call(line: &str) -> bool {
    let code = line.split('"').next().unwrap_or(line);
    (code.contains("call ") || code.contains("invoke ")) && !code.contains(" asm ")
}

/// The names of a line that begin with `sigil`, without it, and whether each is called there: then its parameters
/// follow at once.
pub(crate) fn mentions(line: &str, sigil: char) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = &rest[rest.find(sigil)?..];
        let (name, after) = rest.split_at(name_len(rest));
        rest = after;
        Some((&name[1..], after.starts_with('(')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(functions: &[(&str, &[&str])]) -> String {
        functions.iter().map(|(name, lines)| format!("define void @{name}() #0 {{\n  {}\n  ret void\n}}\n", lines.join("\n  "))).collect()
    }

    #[test]
    fn all_of_a_circle_are_found_over_pointers_too() {
        let text = module(&[
            ("main", &["call void @itself()", "call void @ping()", "store ptr @called, ptr %p"]),
            ("itself", &["call void @itself()", "call void @leaf()"]),
            ("ping", &["call void @pong()"]),
            ("pong", &["call void @leaf()", "call void @ping()"]),
            ("called", &["call void @leaf()", "call void %f()"]),
            ("leaf", &[]),
        ]);
        let mut found: Vec<&str> = circles(&text).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, ["called", "itself", "ping", "pong"]);
    }

    #[test]
    fn what_calls_itself_is_found_and_what_is_only_called_is_not() {
        let text = module(&[
            ("main", &["call void @itself()", "tail call fastcc void @ping(i64 1)", "%1 = call i64 @leaf(ptr nonnull %0)"]),
            ("itself", &["call void @itself()", "call void @leaf()"]),
            ("ping", &["call void @pong()"]),
            ("pong", &["call void @leaf()", "call void @ping()"]),
            (
                "leaf",
                &["call void @llvm.memset.p0.i64(ptr %0, i8 0, i64 8, i1 false)", "call void asm sideeffect \"call @itself()\", \"\"()"],
            ),
        ]);
        assert_eq!(breakers(&text), ["itself", "ping"]);
    }

    #[test]
    fn a_call_through_a_pointer_reaches_all_whose_address_is_taken() {
        let text = "@table = internal constant [1 x ptr] [ptr @visited]\n".to_owned()
            + &module(&[
                ("main", &["call void @visit(ptr @other)"]),
                ("visit", &["call void %1(ptr %0)", "%2 = call i32 %1(ptr %0)"]),
                ("visited", &["call void @\"visit\"(ptr null)"]),
                ("other", &["call void @visited()"]),
                ("alone", &["call void @other()"]),
            ]);
        assert_eq!(breakers(&text), ["visit"], "all that is called by it calls it again");
        let text = module(&[("main", &["call void %0()"]), ("other", &["store ptr @leaf, ptr %0"]), ("leaf", &[])]);
        assert!(breakers(&text).is_empty(), "main is called by nobody");
    }

    #[test]
    fn kernels_that_reach_a_circle_or_a_pointer_have_no_known_bound() {
        let kernel = |name: &str, calls: &str| format!("define amdgpu_kernel void @{name}() #0 {{\n  {calls}\n  ret void\n}}\n");
        let text = kernel("plain", "call void @leaf()")
            + &kernel("recursive", "call void @once()")
            + &kernel("pointer", "call void %1(ptr %0)")
            + &kernel("over", "call void @visit()")
            + &module(&[
                ("once", &["call void @itself()"]),
                ("itself", &["call void @itself()"]),
                ("visit", &["%2 = call i32 %1(ptr %0)"]),
                ("leaf", &["call void @llvm.memset.p0.i64(ptr %0, i8 0, i64 8, i1 false)"]),
            ]);
        assert_eq!(unbounded(&text, "amdgpu_kernel"), ["recursive", "pointer", "over"]);
        assert!(unbounded(&text, "ptx_kernel").is_empty());
    }

    #[test]
    fn circles_beside_those_through_pointers_are_broken_as_well() {
        let text = module(&[
            ("a", &["call void %0()", "call void @b()", "store ptr @a, ptr %1"]),
            ("b", &["call void @c()"]),
            ("c", &["call void @b()", "call void @a()"]),
        ]);
        assert_eq!(breakers(&text), ["a", "b"]);
    }
}

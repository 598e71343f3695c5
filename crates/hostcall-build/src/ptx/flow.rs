//! Where a function's blocks begin: instructions of which none is a jump but the last; and which of them are the first
//! of loops.

use std::collections::HashMap;

use super::module::{Body, Instruction, Module, What};

/// The beginning of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    /// The statement that is its first instruction.
    pub(crate) statement: usize,
    /// Whether a loop comes back to it.
    pub(crate) is_loop: bool,
}

struct Block<'a> {
    first: usize,
    last: &'a Instruction<'a>,
    last_at: usize,
    labels: Vec<(usize, &'a str)>,
}

/// Braces within braces: the scope that each scope is in.
struct Scopes(Vec<usize>);

impl Scopes {
    /// What a name stands for where it is said.
    fn find<T: Copy>(&self, known: &HashMap<(usize, &str), T>, mut scope: usize, name: &str) -> Option<T> {
        loop {
            if let Some(found) = known.get(&(scope, name)) {
                return Some(*found);
            }
            if scope == 0 {
                return None;
            }
            scope = self.0[scope];
        }
    }
}

/// The blocks of a function, in the order of the text.
pub(crate) fn blocks(module: &Module<'_>, body: &Body<'_>) -> Vec<Begin> {
    let mut scopes = Scopes(vec![0]);
    let mut scope = 0;
    let mut scope_of = Vec::with_capacity(body.statements.len());
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut lists: HashMap<(usize, &str), usize> = HashMap::new();
    // Labels that stand before the next instruction, and whether it begins a block.
    let (mut labels, mut begins) = (Vec::new(), true);
    for (at, statement) in body.statements.iter().enumerate() {
        match &statement.what {
            What::Open => {
                scopes.0.push(scope);
                scope = scopes.0.len() - 1;
            }
            What::Close => scope = scopes.0[scope],
            What::Label(label) => labels.push((scope, *label)),
            What::Directive { label: Some(label), .. } => _ = lists.insert((scope, *label), at),
            What::Instruction(instruction) => {
                if begins || !labels.is_empty() {
                    let labels = std::mem::take(&mut labels);
                    blocks.push(Block { first: at, last: instruction, last_at: at, labels });
                } else if let Some(block) = blocks.last_mut() {
                    (block.last, block.last_at) = (instruction, at);
                }
                begins = instruction.ends();
            }
            _ => {}
        }
        scope_of.push(scope);
    }
    let by_label: HashMap<(usize, &str), usize> =
        blocks.iter().enumerate().flat_map(|(number, block)| block.labels.iter().map(move |label| (*label, number))).collect();
    let next: Vec<Vec<usize>> = blocks
        .iter()
        .enumerate()
        .map(|(number, block)| {
            let scope = scope_of[block.last_at];
            let mut to = Vec::new();
            let operands = block.last.operands.iter().map(|operand| module.between(operand));
            if block.last.is("bra") {
                to.extend(operands.take(1).filter_map(|label| scopes.find(&by_label, scope, label)));
            } else if block.last.is("brx") {
                let list = operands.skip(1).find_map(|label| scopes.find(&lists, scope, label));
                if let Some(What::Directive { words, .. }) = list.map(|at| &body.statements[at].what) {
                    to.extend(words.iter().filter_map(|label| scopes.find(&by_label, scope, label)));
                }
            }
            if !block.last.ends_always() && number + 1 < blocks.len() {
                to.push(number + 1);
            }
            to
        })
        .collect();
    let heads = loop_heads(&next);
    blocks.iter().zip(heads).map(|(block, is_loop)| Begin { statement: block.first, is_loop }).collect()
}

/// Which blocks others come back to that are reached by them alone: a loop's first.
fn loop_heads(next: &[Vec<usize>]) -> Vec<bool> {
    let mut heads = vec![false; next.len()];
    let order = behind_first(next);
    let mut place = vec![usize::MAX; next.len()];
    order.iter().enumerate().for_each(|(at, block)| place[*block] = at);
    let mut before = vec![Vec::new(); next.len()];
    for block in &order {
        next[*block].iter().for_each(|to| before[*to].push(*block));
    }
    // The nearest block through which each is reached, by place (Cooper, Harvey and Kennedy's way).
    let mut over = vec![usize::MAX; order.len()];
    if let Some(first) = over.first_mut() {
        *first = 0;
    }
    loop {
        let mut changed = false;
        for at in 1..order.len() {
            let known = before[order[at]].iter().map(|block| place[*block]).filter(|from| over[*from] != usize::MAX);
            let nearest = known.reduce(|mut one, mut other| {
                while one != other {
                    if one > other { one = over[one] } else { other = over[other] }
                }
                one
            });
            if let Some(nearest) = nearest
                && over[at] != nearest
            {
                over[at] = nearest;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for from in 0..order.len() {
        for to in next[order[from]].iter().map(|block| place[*block]) {
            let mut at = from;
            while at > to {
                at = over[at];
            }
            heads[order[to]] |= at == to;
        }
    }
    heads
}

/// The blocks that the first reaches: each before those that come behind it, but for ways back.
fn behind_first(next: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; next.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        open.push((0, 0));
    }
    while let Some((block, number)) = open.last_mut() {
        match next[*block].get(*number) {
            Some(to) => {
                *number += 1;
                if !std::mem::replace(&mut seen[*to], true) {
                    open.push((*to, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first instruction of each block, with `*` if it is a loop's.
    fn begins(body: &str) -> Vec<String> {
        let text = format!(".version 8.0\n.target sm_90\n.entry k()\n{{\n{body}\n}}\n");
        let module = Module::read(&text).expect("PTX");
        let body = module.functions[0].body.as_ref().expect("a body");
        let begins = blocks(&module, body);
        let said = |begin: &Begin| {
            let What::Instruction(first) = &body.statements[begin.statement].what else { panic!("no instruction") };
            format!("{}{}", first.opcode, if begin.is_loop { "*" } else { "" })
        };
        begins.iter().map(said).collect()
    }

    #[test]
    fn blocks_begin_at_the_function_at_labels_and_behind_jumps() {
        assert_eq!(begins("a; b; @%p bra L; c; bra.uni M; L: d; M: N: e; @%p exit; f; ret;"), ["a", "c", "d", "e", "f"]);
        assert_eq!(begins(""), [] as [&str; 0]);
        assert_eq!(begins("a; L:"), ["a"]);
    }

    #[test]
    fn the_first_of_a_loop_is_what_is_come_back_to() {
        assert_eq!(begins("a; L: b; @%p bra L; c; ret;"), ["a", "b*", "c"]);
        assert_eq!(begins("a; L: b; M: c; @%p bra M; @%q bra L; ret;"), ["a", "b*", "c*", "bra", "ret"]);
        // Back in the text, and no loop.
        assert_eq!(begins("bra M; L: a; ret; M: b; bra L;"), ["bra", "a", "b"]);
        // Two ways into it: nothing in it is before all the rest.
        assert_eq!(begins("@%p bra M; L: a; M: b; @%q bra L; ret;"), ["bra", "a", "b", "ret"]);
        assert_eq!(begins("L: a; bra L;"), ["a*"]);
    }

    #[test]
    fn labels_are_those_of_the_nearest_braces_and_tables_of_targets_are_read() {
        assert_eq!(begins("{ L: a; @%p bra L; } { b; L: c; @%p bra L; } ret;"), ["a*", "b", "c*", "ret"]);
        assert_eq!(begins("T: .branchtargets L, M; L: a; brx.idx %r1, T; M: b; ret;"), ["a*", "b"]);
        assert_eq!(begins("L: a; { @%p bra L; } ret;"), ["a*", "ret"]);
    }
}

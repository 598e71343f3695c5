//! A module's functions and variables, in an order that needs few declarations.
//!
//! LLVM declares whatever is used before it is defined, and as it defines variables first and functions as they come,
//! that is nearly everything: a tenth of a program's lines. Here what is called comes before its callers, and a table
//! of functions before the first function that uses it; declared is only what calls come back to.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{is_symbol, words};

/// A part of a module.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// A directive, or a variable.
    Line(&'a str),
    /// A function with its body, braces included.
    Function { head: Vec<&'a str>, body: Vec<&'a str> },
    /// What is defined elsewhere.
    Extern(Vec<&'a str>),
}

/// The parts of a module whose lines have no comments, without the declarations of what it defines; `None` if it is not
/// what LLVM writes.
pub(super) fn read<'a>(lines: &[&'a str]) -> Option<Vec<Item<'a>>> {
    let (mut items, mut declared) = (Vec::new(), Vec::new());
    let mut lines = lines.iter().copied();
    while let Some(line) = lines.next() {
        if !is_head(line) {
            items.push(Item::Line(line));
            continue;
        }
        let mut head = vec![line];
        while !head.last()?.ends_with(';') && !head.last()?.starts_with('{') {
            head.push(lines.next()?);
        }
        if head.last()?.ends_with(';') {
            declared.push(head);
            continue;
        }
        let mut body = vec![head.pop()?];
        let mut depth = depth(body[0]);
        while depth > 0 {
            let line = lines.next()?;
            depth += self::depth(line);
            body.push(line);
        }
        name(&head)?;
        items.push(Item::Function { head, body });
    }
    let defined: HashSet<&str> = items.iter().filter_map(Item::name).collect();
    let elsewhere: Vec<_> = declared.into_iter().filter(|head| name(head).is_none_or(|name| !defined.contains(name))).collect();
    // Behind the directives that a module begins with.
    let at = items.iter().position(|item| !matches!(item, Item::Line(line) if !line.ends_with(';'))).unwrap_or(items.len());
    items.splice(at..at, elsewhere.into_iter().map(Item::Extern));
    Some(items)
}

/// Whether a line begins a function, or its declaration.
fn is_head(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || c == '(')
        .take_while(|word| word.starts_with('.'))
        .any(|word| [".func", ".entry"].contains(&word))
}

/// How many blocks more a line begins than it ends.
fn depth(line: &str) -> i64 {
    line.bytes().map(|byte| i64::from(byte == b'{') - i64::from(byte == b'}')).sum()
}

/// A function's name: `f` of `.visible .func (.param .b32 result) f(`.
fn name<'a>(head: &[&'a str]) -> Option<&'a str> {
    let line = head.first()?;
    let at = [".func", ".entry"].iter().find_map(|word| Some(line.find(word)? + word.len()))?;
    let rest = line[at..].trim_start();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
    words(rest).find(|word| is_symbol(word))
}

impl<'a> Item<'a> {
    /// The function's or variable's name.
    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Item::Line(line) if line.ends_with(';') => words(line).find(|word| is_symbol(word)),
            Item::Function { head, .. } | Item::Extern(head) => name(head),
            Item::Line(_) => None,
        }
    }

    /// The line that says what it is.
    pub(super) fn head(&self) -> Option<&'a str> {
        match self {
            Item::Line(line) => Some(line),
            Item::Function { head, .. } | Item::Extern(head) => head.first().copied(),
        }
    }

    /// All its lines.
    pub(super) fn all_lines(&self) -> impl Iterator<Item = &'a str> {
        let (head, body): (&[&str], &[&str]) = match self {
            Item::Line(line) => (std::slice::from_ref(line), &[]),
            Item::Function { head, body } => (head, body),
            Item::Extern(lines) => (lines, &[]),
        };
        head.iter().chain(body).copied()
    }

    /// The lines that may name others.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a str> {
        let lines = match self {
            Item::Line(line) => std::slice::from_ref(line),
            Item::Function { body, .. } => body,
            Item::Extern(_) => &[],
        };
        lines.iter().copied()
    }
}

/// What uses what.
struct Graph {
    uses: Vec<Vec<usize>>,
    is_function: Vec<bool>,
}

/// The items in the order in which they are to be written, each with the functions that are to be declared in front of
/// it.
pub(super) fn order(items: &[Item<'_>]) -> Vec<(Vec<usize>, usize)> {
    let graph = Graph::of(items);
    let mut written = Written { graph: &graph, state: vec![State::New; items.len()], order: Vec::with_capacity(items.len()) };
    // What uses no function stays where it is, in front; of the variables that do, those that nothing uses come last.
    for (item, plain) in graph.plain().into_iter().enumerate() {
        if plain {
            written.write(item);
        }
    }
    for function in graph.callees_first() {
        for variable in graph.variables_of(function) {
            written.write(variable);
        }
        written.write(function);
    }
    for item in 0..items.len() {
        written.write(item);
    }
    written.order
}

impl Graph {
    fn of(items: &[Item<'_>]) -> Graph {
        let names: HashMap<&str, usize> = items.iter().enumerate().filter_map(|(at, item)| Some((item.name()?, at))).collect();
        let uses = |(at, item): (usize, &Item<'_>)| {
            let mut seen = HashSet::from([at]);
            let used = item.lines().flat_map(words).filter_map(|word| names.get(word).copied());
            used.filter(|&used| seen.insert(used)).collect()
        };
        Graph {
            uses: items.iter().enumerate().map(uses).collect(),
            is_function: items.iter().map(|item| matches!(item, Item::Function { .. })).collect(),
        }
    }

    /// Of each item whether it is none that refers to functions. LLVM writes variables behind those that they refer to.
    fn plain(&self) -> Vec<bool> {
        let mut plain: Vec<bool> = self.is_function.iter().map(|function| !function).collect();
        for item in 0..plain.len() {
            plain[item] &= self.uses[item].iter().all(|&used| plain[used]);
        }
        plain
    }

    /// Functions, and before each what it uses, over variables, too, as far as they do not use each other.
    fn callees_first(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.uses.len()];
        for root in 0..self.uses.len() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((item, at)) = path.last_mut() {
                let item = *item;
                let Some(&used) = self.uses[item].get(*at) else {
                    path.pop();
                    order.extend(self.is_function[item].then_some(item));
                    continue;
                };
                *at += 1;
                if !std::mem::replace(&mut seen[used], true) {
                    path.push((used, 0));
                }
            }
        }
        order
    }

    /// The variables that a function uses, and those that they use, in LLVM's order.
    fn variables_of(&self, function: usize) -> BTreeSet<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![function]);
        while let Some(item) = open.pop() {
            open.extend(self.uses[item].iter().copied().filter(|&used| !self.is_function[used] && found.insert(used)));
        }
        found
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Declared,
    Written,
}

struct Written<'a> {
    graph: &'a Graph,
    state: Vec<State>,
    order: Vec<(Vec<usize>, usize)>,
}

impl Written<'_> {
    /// An item, behind declarations of the functions that it uses.
    fn write(&mut self, item: usize) {
        if self.state[item] == State::Written {
            return;
        }
        self.state[item] = State::Written;
        let graph = self.graph;
        let new = |used: &usize| graph.is_function[*used] && self.state[*used] == State::New;
        let declared: Vec<usize> = graph.uses[item].iter().copied().filter(new).collect();
        for &function in &declared {
            self.state[function] = State::Declared;
        }
        self.order.push((declared, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the order in which they would be written, declarations in brackets.
    fn ordered(text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let items = read(&lines).expect("it is a module");
        let name = |item: usize| items[item].name().unwrap_or("-");
        let mut out = Vec::new();
        for (declared, item) in order(&items) {
            out.extend(declared.into_iter().map(|function| format!("({})", name(function))));
            out.push(name(item).to_owned());
        }
        out.join(" ")
    }

    fn function(name: &str, body: &str) -> String {
        format!(".func (.param .b32 r) {name}(\n.param .b64 {name}_p\n)\n{{\n{body}\n}}\n")
    }

    #[test]
    fn what_is_called_comes_first_and_is_not_declared() {
        let declared = ".func (.param .b32 r) leaf\n(\n.param .b64 leaf_p\n)\n;\n";
        let text = [
            ".version 8.4\n",
            declared,
            &function("top", "{\ncall.uni (r), middle, (a);\n}"),
            &function("middle", "call.uni (r), leaf, (a);"),
            &function("leaf", "ret;"),
        ];
        assert_eq!(ordered(&text.concat()), "- leaf middle top");
    }

    #[test]
    fn functions_that_call_each_other_are_declared_once() {
        let text = function("a", "call b;\ncall b;") + &function("b", "call c;\ncall a;") + &function("c", "call a;\ncall c;");
        assert_eq!(ordered(&text), "(a) c b a");
    }

    #[test]
    fn a_table_stands_between_what_is_in_it_and_what_uses_it() {
        let tables = ".global .align 8 .u64 number = 3;\n.global .align 8 .u64 table[2] = {f, number};\n.global .align 8 .u64 outer[1] = {generic(table)};\n\
                      .global .align 8 .u64 unused[1] = {f};\n";
        let text = tables.to_owned() + &function("user", "mov.b64 %d1, outer;") + &function("f", "ret;");
        assert_eq!(ordered(&text), "number f table outer user unused");
        // What is in it uses it.
        let text = tables.to_owned() + &function("f", "mov.b64 %d1, outer;");
        assert_eq!(ordered(&text), "number (f) table outer f unused");
    }

    #[test]
    fn what_is_defined_elsewhere_stays_declared_and_kernels_are_functions() {
        let text = ".version 8.4\n.target sm_70\n.extern .func other\n(\n)\n;\n.visible .entry k()\n{\n{ .reg .pred p; }\ncall other;\nst.v2 [x], {%a, %b};\n}\n.shared .b8 x[4];\n";
        let lines: Vec<&str> = text.lines().collect();
        let items = read(&lines).expect("a module");
        assert_eq!(items[2], Item::Extern(vec![".extern .func other", "(", ")", ";"]));
        assert!(matches!(&items[3], Item::Function { head, body } if head == &[".visible .entry k()"] && body.len() == 5));
        assert_eq!(ordered(text), "- - other x k");
    }

    #[test]
    fn what_is_cut_off_is_not_read() {
        let text = function("a", "{\ncall b;\n}");
        let lines: Vec<&str> = text.lines().collect();
        for end in 1..lines.len() {
            assert_eq!(read(&lines[..end]), None, "{end}");
        }
        assert!(read(&lines).is_some() && read(&[]).is_some());
        assert_eq!(read(&[".func", "{", "}"]), None);
    }
}

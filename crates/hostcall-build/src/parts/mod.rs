//! A program's module in parts that are compiled one by one.
//!
//! Most of a program is what it was before a line of it changed: std, the runtime, other crates. So the module is cut by the crates that its functions
//! come from, before it is optimised, and each part is optimised, compiled and assembled by itself, and kept by what it was made of. What is the same
//! again is found again. Nothing is inlined from part to part, so this is for programs that are to be ready soon, not fast.
//!
//! * std and the runtime are one part: what hangs together there (lanes without a stack, the heap) stays together.
//! * A function that another part calls is visible outside, and declared there. Constants whose address means nothing are in every part that uses them.
//! * A part is written in its own order and with its own numbers of attributes and metadata, so that it is the same text whatever the others are.
//!
//! What is decided with the whole program in view is decided before: what is reached, which services are called, which functions are in a circle of
//! calls and look at the end of the stack ([`Part::checked`]).

mod compile;
mod module;
mod origin;

use std::collections::{BTreeMap, BTreeSet, HashSet};

pub(crate) use self::compile::ptx;
use self::module::{Module, Symbol};
use self::origin::{crate_of, name_of};

/// The sources of this module.
pub(crate) fn recipe() -> &'static str {
    concat!(include_str!("mod.rs"), include_str!("compile.rs"), include_str!("module.rs"), include_str!("origin.rs"))
}

/// The part that std and the runtime are.
pub(crate) const LIBRARY: &str = "std";

/// What is known of a program besides its module.
pub(crate) struct Facts<'a> {
    /// What the objects of the program's own crate define.
    pub(crate) own: &'a HashSet<&'a str>,
    /// Names of the crates that std is made of.
    pub(crate) libraries: &'a HashSet<&'a str>,
}

/// A part, as a module of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Functions of it that are in a circle of calls, by their names in it.
    pub(crate) checked: BTreeSet<String>,
}

/// The parts of a module (as text, of which all is reached and whose circles of statics are opened), by name; `None` if there is something in it that is
/// not understood. `circles` are functions that may call themselves, over others or not.
pub(crate) fn split(text: &str, facts: &Facts<'_>, circles: &HashSet<&str>) -> Option<Vec<Part>> {
    let module = Module::read(text)?;
    let owners = owners(&module, facts);
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (symbol, owner) in owners.iter().enumerate() {
        if let Some(owner) = owner {
            members.entry(owner).or_default().push(symbol);
        }
    }
    // What some other part refers to: directly, or by a constant that it has a copy of.
    let needed: BTreeMap<&str, BTreeSet<usize>> =
        members.iter().map(|(part, members)| (*part, needed(&module, &owners, members))).collect();
    let mut shared = HashSet::new();
    for (part, needed) in &needed {
        shared.extend(needed.iter().copied().filter(|symbol| owners[*symbol].is_some_and(|owner| owner != *part)));
    }
    let parts = needed.iter().map(|(part, needed)| {
        let mut text = module.head(part, *part == LIBRARY);
        let mut writer = module.writer();
        let mut checked = BTreeSet::new();
        let mut symbols: Vec<usize> = needed.iter().copied().collect();
        symbols.sort_unstable_by_key(|symbol| module.symbols[*symbol].name());
        for symbol in symbols {
            let found = &module.symbols[symbol];
            match owners[symbol] {
                Some(owner) if owner != *part => writer.declare(found, &mut text)?,
                owner => writer.define(found, owner.is_some() && shared.contains(&symbol), &mut text)?,
            }
            if circles.contains(found.name()) && owners[symbol] == Some(part) {
                checked.insert(module::plain(found.name()).into_owned());
            }
        }
        writer.finish(&mut text)?;
        Some(Part { name: (*part).to_owned(), text, checked })
    });
    parts.collect()
}

/// The part that each symbol is in; nothing for what is only declared, and for what every part has that refers to it.
fn owners<'m>(module: &'m Module<'_>, facts: &Facts<'m>) -> Vec<Option<&'m str>> {
    let by_name = |name: &'m str| match crate_of(name) {
        _ if facts.own.contains(name) => PROGRAM,
        Some(root) if facts.libraries.contains(name_of(root)) || RUNTIME.iter().any(|name| name_of(root).starts_with(name)) => LIBRARY,
        Some(root) => root,
        None => LIBRARY,
    };
    let mut owners: Vec<Option<&str>> = module
        .symbols
        .iter()
        .map(|symbol| match symbol {
            Symbol::Function { .. } => Some(by_name(symbol.name())),
            _ => None,
        })
        .collect();
    // A static without a mangled name, as services' words are, is where it is used, if that is one part.
    let mut users: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); module.symbols.len()];
    for (symbol, owner) in owners.iter().enumerate() {
        if let Some(owner) = owner {
            for used in needed(module, &owners, &[symbol]) {
                users[used].insert(owner);
            }
        }
    }
    for (number, symbol) in module.symbols.iter().enumerate().filter(|(_, symbol)| symbol.is_owned_static()) {
        let named = crate_of(symbol.name()).map(|_| by_name(symbol.name()));
        let single = users[number].first().copied().filter(|_| users[number].len() == 1);
        owners[number] = Some(named.or(single).unwrap_or(LIBRARY));
    }
    owners
}

/// What the crates of the runtime are called, and the one that rustc's own symbols are of.
const RUNTIME: [&str; 2] = ["hostcall_", "__rustc"];

/// What the program's own objects are.
const PROGRAM: &str = "program";

/// The members, what they refer to, and what is referred to by that of it which no part owns.
fn needed(module: &Module<'_>, owners: &[Option<&str>], members: &[usize]) -> BTreeSet<usize> {
    let mut needed: BTreeSet<usize> = members.iter().copied().collect();
    let mut open: Vec<usize> = members.to_vec();
    while let Some(symbol) = open.pop() {
        for &used in &module.uses[symbol] {
            if needed.insert(used) && owners[used].is_none() {
                open.push(used);
            }
        }
    }
    needed
}

//! Interned texts: each text is stored once and compared by number.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A text, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    pub(crate) const EMPTY: Symbol = Symbol(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All texts of a run.
#[derive(Debug)]
pub(crate) struct Symbols {
    text: String,
    /// Start and length in `text`.
    ranges: Vec<(usize, usize)>,
    table: HashTable<u32>,
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        let mut symbols = Symbols { text: String::new(), ranges: Vec::new(), table: HashTable::new() };
        symbols.intern("");
        symbols
    }

    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        let hash = FxBuildHasher.hash_one(text);
        let same = |&id: &u32| slice(&self.text, self.ranges[id as usize]) == text;
        if let Some(&id) = self.table.find(hash, same) {
            return Symbol(id);
        }
        let id = self.ranges.len() as u32;
        self.ranges.push((self.text.len(), text.len()));
        self.text.push_str(text);
        let (all, ranges) = (&self.text, &self.ranges);
        self.table.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(slice(all, ranges[id as usize])));
        Symbol(id)
    }

    /// The symbol of a text that was interned before.
    pub(crate) fn find(&self, text: &str) -> Option<Symbol> {
        let hash = FxBuildHasher.hash_one(text);
        self.table.find(hash, |&id| slice(&self.text, self.ranges[id as usize]) == text).map(|&id| Symbol(id))
    }

    pub(crate) fn get(&self, symbol: Symbol) -> &str {
        slice(&self.text, self.ranges[symbol.0 as usize])
    }

    /// Bytes held by all texts together.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }
}

fn slice(text: &str, (start, len): (usize, usize)) -> &str {
    &text[start..start + len]
}

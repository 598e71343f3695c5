//! Interned texts: each text is stored once and compared by number. A text is bytes: what a string was cut to need not
//! be UTF-8.

use std::borrow::Cow;
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
    text: Vec<u8>,
    /// Start and length in `text`.
    ranges: Vec<(usize, usize)>,
    table: HashTable<u32>,
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        let mut symbols = Symbols { text: Vec::new(), ranges: Vec::new(), table: HashTable::new() };
        symbols.intern("");
        symbols
    }

    pub(crate) fn intern(&mut self, text: impl AsRef<[u8]>) -> Symbol {
        let text = text.as_ref();
        let hash = FxBuildHasher.hash_one(text);
        let same = |&id: &u32| slice(&self.text, self.ranges[id as usize]) == text;
        if let Some(&id) = self.table.find(hash, same) {
            return Symbol(id);
        }
        let id = self.ranges.len() as u32;
        self.ranges.push((self.text.len(), text.len()));
        self.text.extend_from_slice(text);
        let (all, ranges) = (&self.text, &self.ranges);
        self.table.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(slice(all, ranges[id as usize])));
        Symbol(id)
    }

    /// The symbol of a text that was interned before.
    pub(crate) fn find(&self, text: impl AsRef<[u8]>) -> Option<Symbol> {
        let text = text.as_ref();
        let hash = FxBuildHasher.hash_one(text);
        self.table.find(hash, |&id| slice(&self.text, self.ranges[id as usize]) == text).map(|&id| Symbol(id))
    }

    pub(crate) fn get(&self, symbol: Symbol) -> &[u8] {
        slice(&self.text, self.ranges[symbol.0 as usize])
    }

    /// The same for people: what is no UTF-8 is replaced.
    pub(crate) fn shown(&self, symbol: Symbol) -> Cow<'_, str> {
        String::from_utf8_lossy(self.get(symbol))
    }

    /// Bytes held by all texts together.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }
}

fn slice(text: &[u8], (start, len): (usize, usize)) -> &[u8] {
    &text[start..start + len]
}

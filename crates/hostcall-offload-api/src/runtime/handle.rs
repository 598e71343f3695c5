//! Which handles exist.
//!
//! A handle is an address that the caller keeps and hands back, perhaps after what it named is gone, perhaps where
//! another kind is wanted. The implementation writes each handle that it gives out into a [`HandleTable`]; entry points
//! ask it before the implementation sees the address.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{PoisonError, RwLock};

/// What is known of a handle that a caller passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleState<K> {
    /// It exists, and is of the kind that is wanted.
    Live,
    /// It exists, and is of this kind instead.
    OtherKind(K),
    /// It does not exist: it was destroyed, or is no handle at all.
    Unknown,
}

/// The handles that exist, by address.
#[derive(Debug)]
pub struct HandleTable<K>(RwLock<Option<Entries<K>>>);

/// By address: the kind, and the address of the parent.
type Entries<K> = HashMap<usize, (K, Option<usize>)>;

/// A handle that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveHandle<K> {
    /// Its kind.
    pub kind: K,
    /// Its address.
    pub address: usize,
    /// The address of the handle that it was made from.
    pub parent: Option<usize>,
}

impl<K: Copy + Eq> HandleTable<K> {
    /// An empty table.
    pub const fn new() -> HandleTable<K> {
        HandleTable(RwLock::new(None))
    }

    /// Adds a handle that is about to be given out, and the handle that it was made from.
    pub fn insert(&self, kind: K, handle: *const c_void, parent: Option<*const c_void>) {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        table.get_or_insert_default().insert(handle.addr(), (kind, parent.map(|parent| parent.addr())));
    }

    /// Removes a handle. Of several threads that destroy the same handle, one is told `true`, and it destroys what the
    /// handle names.
    pub fn remove(&self, kind: K, handle: *const c_void) -> bool {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(table) = table.as_mut() else { return false };
        let found = table.get(&handle.addr()).is_some_and(|(found, _)| *found == kind);
        if found {
            table.remove(&handle.addr());
        }
        found
    }

    /// What is known of a handle that ought to be of kind `wanted`.
    pub fn state(&self, wanted: K, handle: *const c_void) -> HandleState<K> {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match table.as_ref().and_then(|table| table.get(&handle.addr())) {
            Some((kind, _)) if *kind == wanted => HandleState::Live,
            Some((kind, _)) => HandleState::OtherKind(*kind),
            None => HandleState::Unknown,
        }
    }

    /// All handles that exist, by address: at the end, those that were not destroyed.
    pub fn live(&self) -> Vec<LiveHandle<K>> {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut live: Vec<_> = table
            .iter()
            .flatten()
            .map(|(address, (kind, parent))| LiveHandle { kind: *kind, address: *address, parent: *parent })
            .collect();
        live.sort_unstable_by_key(|handle| handle.address);
        live
    }
}

impl<K: Copy + Eq> Default for HandleTable<K> {
    fn default() -> Self {
        HandleTable::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_live_until_it_is_removed_once() {
        let table = HandleTable::new();
        let (a, b) = (&raw const table as *const c_void, std::ptr::dangling());
        assert_eq!(table.state('q', a), HandleState::Unknown);
        table.insert('q', a, None);
        table.insert('e', b, Some(a));
        assert_eq!(table.state('q', a), HandleState::Live);
        assert_eq!(table.state('e', a), HandleState::OtherKind('q'));
        assert!(!table.remove('e', a), "not of that kind");
        assert!(table.remove('q', a));
        assert!(!table.remove('q', a), "already removed");
        assert_eq!(table.live(), [LiveHandle { kind: 'e', address: b.addr(), parent: Some(a.addr()) }]);
    }
}

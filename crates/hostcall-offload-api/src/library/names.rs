//! The symbols that an image says it has, by name and kind.

use crate::sys::ol_symbol_kind_t;

/// Symbols of an image, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(Vec<(String, ol_symbol_kind_t)>);

impl Names {
    /// Those of a list, without this project's own machinery.
    pub(super) fn new(all: impl IntoIterator<Item = (String, ol_symbol_kind_t)>) -> Names {
        let is_own = |name: &str| name.starts_with("__hostcall") || name.starts_with("__HOSTCALL");
        let mut names: Vec<_> = all.into_iter().filter(|(name, _)| !name.is_empty() && !is_own(name)).collect();
        names.sort_by(|(a, a_kind), (b, b_kind)| (a, a_kind.0).cmp(&(b, b_kind.0)));
        names.dedup();
        Names(names)
    }

    /// The names of one kind.
    pub(super) fn of_kind(&self, kind: ol_symbol_kind_t) -> Vec<String> {
        self.0.iter().filter(|(_, its)| *its == kind).map(|(name, _)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_without_machinery() {
        let (kernel, global) = (ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL, ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE);
        let names = ["b", "__hostcall_abi", "a", "", "__HOSTCALL__X", "b"].map(|name| (name.to_owned(), kernel));
        let names = Names::new(names.into_iter().chain([("c".to_owned(), global)]));
        assert_eq!((names.of_kind(kernel), names.of_kind(global)), (vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]));
    }
}

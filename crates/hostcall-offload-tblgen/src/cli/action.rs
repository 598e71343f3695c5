//! What can be asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::generate::Backend;
use crate::llvm;

/// What to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// All records as text.
    PrintRecords,
    /// All records as JSON.
    DumpJson,
    /// What LLVM's tool writes, where only that has an action of the name.
    Llvm(llvm::Action),
    /// What a back end of ours writes, where LLVM's tool has no action of the name.
    Own(Backend),
    /// One or the other: the dialect decides.
    Either(llvm::Action, Backend),
    /// Nothing: faults of the definitions are reported.
    Lint,
    /// A template, rendered over the API.
    Template(PathBuf),
    /// Nothing: the API is compared with an ABI lock.
    CheckAbiLock(PathBuf),
}

impl Action {
    /// The actions without a value by their names, and what each writes.
    pub(super) fn named() -> BTreeMap<&'static str, (&'static str, Action)> {
        let mut named = BTreeMap::from([
            ("print-records", ("Print all records (the default)", Action::PrintRecords)),
            ("dump-json", ("Print all records as JSON", Action::DumpJson)),
            ("lint", ("Nothing; only report faults of the definitions", Action::Lint)),
        ]);
        for &action in llvm::Action::ALL {
            named.insert(action.name(), (action.help(), Action::Llvm(action)));
        }
        for &backend in Backend::ALL {
            let own = || (backend.help().trim_end_matches('.'), Action::Own(backend));
            let (_, action) = named.entry(backend.action()).or_insert_with(own);
            if let Action::Llvm(llvm) = *action {
                *action = Action::Either(llvm, backend);
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_that_both_dialects_have_is_either() {
        let named = Action::named();
        assert_eq!(named["gen-api"].1, Action::Either(llvm::Action::Api, Backend::Header));
        assert_eq!(named["gen-errcodes"].1, Action::Llvm(llvm::Action::Errcodes));
        assert_eq!(named["gen-rust-sys"].1, Action::Own(Backend::RustSys));
        let each_once = Backend::ALL.iter().all(|backend| named.contains_key(backend.action()))
            && llvm::Action::ALL.iter().all(|action| named.contains_key(action.name()));
        assert!(each_once && named.values().all(|(help, _)| !help.is_empty()));
    }
}

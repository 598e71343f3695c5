//! Arbitrary text, as the definition of an API: the loader, the lints, and the back ends that need no other program.
//!
//! The classes are there already, so that an input need only define things. Whatever it defines, each step gives a
//! result or an error.

use offload_tblgen::generate::Backend;
use offload_tblgen::lint::{self, Rules};
use offload_tblgen::{llvm, model};
use tablegen::{Limits, Options};

/// The classes, which the input is put behind.
const CLASSES: &str = include_str!("../../crates/hostcall-offload-api/api/APIDefs.td");

const LLVM: [llvm::Action; 10] = [
    llvm::Action::Api,
    llvm::Action::Doc,
    llvm::Action::FuncNames,
    llvm::Action::ImplFuncDecls,
    llvm::Action::EntryPoints,
    llvm::Action::PrintHeader,
    llvm::Action::Exports,
    llvm::Action::Errcodes,
    llvm::Action::Info,
    llvm::Action::GetInfoWrappers,
];

/// Back ends whose text goes through `rustfmt`: a process for each input would take too long.
const FORMATTED: [&str; 6] = ["gen-rust-sys", "gen-rust-print", "gen-rust-safe", "gen-impl-trait", "gen-entry-points", "gen-mock"];

/// Reads one input, and makes everything of it.
pub fn run(data: &[u8]) {
    let text = format!("{CLASSES}\n{}", String::from_utf8_lossy(data));
    // Low, so that reaching them takes no time.
    let limits = Limits {
        nesting: 200,
        depth: 1000,
        list: 1 << 12,
        text: 1 << 20,
        nodes: 1 << 18,
        records: 1 << 12,
        steps: 1 << 20,
        ..Limits::default()
    };
    let outcome = tablegen::parse_str("input.td", &text, &Options { limits, ..Options::default() });
    let Some(records) = outcome.records else { return };
    let _dialect = model::dialect(&records);
    let Ok(api) = model::load(&records, "input.td") else { return };
    for types_by_name in [false, true] {
        for finding in lint::check(&api, Rules { types_by_name }) {
            assert!(!finding.message.is_empty() && !finding.fix.is_empty(), "{} says nothing", finding.lint.name());
        }
    }
    for action in LLVM {
        for version in [llvm::Version::V22, llvm::Version::V23, llvm::Version::V24] {
            let _text = llvm::generate(&api, action, version);
        }
    }
    for backend in Backend::ALL.iter().filter(|backend| !FORMATTED.contains(&backend.action())) {
        let _text = backend.generate(&api);
    }
}

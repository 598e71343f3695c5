//! Damaged definitions: whatever a file says, the answer is diagnostics, findings, errors or text, and never a panic.

use std::path::Path;

use offload_tblgen::generate::Backend;
use offload_tblgen::lint::{self, Rules};
use offload_tblgen::{llvm, model};
use tablegen::Options;

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("below a usize")
    }
}

/// Everything that is made of definitions, without looking at it. How many texts there were.
fn digest(text: &str) -> usize {
    let options =
        Options { include_dirs: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-offload-api/api")], ..Options::default() };
    let outcome = tablegen::parse_str("damaged.td", text, &options);
    let Some(records) = outcome.records else { return 0 };
    let Ok(api) = model::load(&records, "damaged.td") else { return 0 };
    let (_, _) = (model::dialect(&records), model::llvm_version(&records));
    for types_by_name in [false, true] {
        lint::check(&api, Rules { types_by_name });
    }
    let mut texts = 0;
    use llvm::Action;
    for action in
        [Action::Api, Action::Doc, Action::EntryPoints, Action::PrintHeader, Action::Errcodes, Action::Info, Action::GetInfoWrappers]
    {
        for version in [llvm::Version::V22, llvm::Version::V23, llvm::Version::V24] {
            texts += usize::from(llvm::generate(&api, action, version).is_ok());
        }
    }
    // What needs a formatter is left out: a process for each text would take minutes.
    for backend in Backend::ALL.iter().filter(|backend| !backend.action().contains("rust") && !is_formatted(**backend)) {
        texts += usize::from(backend.generate(&api).is_ok());
    }
    texts
}

fn is_formatted(backend: Backend) -> bool {
    ["gen-impl-trait", "gen-entry-points", "gen-mock"].contains(&backend.action())
}

#[test]
fn damaged_definitions_never_panic() {
    let whole = [include_str!("llvm/everything.td"), include_str!("lints/faults.td")];
    let scraps = [
        "",
        "\"",
        "é",
        "`",
        " ",
        "_handle_t",
        "*",
        "[]",
        "0",
        "-1",
        "?",
        "PARAM_OUT",
        "\\n",
        "const ",
        "(",
        "ol_errc_t",
        "char[]",
        "x",
        "==",
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut texts = 0;
    for round in 0..600 {
        let mut text: Vec<char> = whole[round % whole.len()].chars().collect();
        for _ in 0..=random.below(3) {
            // Mostly inside a string: there a definition stays readable, and its back ends are reached.
            let quotes: Vec<usize> = text.iter().enumerate().filter(|(_, c)| **c == '"').map(|(at, _)| at).collect();
            let at =
                if random.below(8) == 0 || quotes.is_empty() { random.below(text.len()) } else { quotes[random.below(quotes.len())] + 1 };
            let end = (at + random.below(6)).min(text.len());
            let scrap = scraps[random.below(scraps.len())];
            text.splice(at.min(end)..end, scrap.chars());
        }
        texts += digest(&text.into_iter().collect::<String>());
    }
    assert!(texts > 1000, "most damage was beyond reading: {texts} texts");
}

#[test]
fn whole_definitions_give_every_text() {
    assert!(digest(include_str!("llvm/everything.td")) > 20);
}

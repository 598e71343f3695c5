//! The files that `offload-tblgen` makes of the Offload API's definitions, and that live in the tree.

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

/// The definitions.
const API: &str = "crates/hostcall-offload-api/api";

/// A version of the API: its definition, the files that are made of it, and the record of its ABI.
struct Version {
    definition: &'static str,
    /// Actions, and the files that they write.
    files: &'static [(&'static str, &'static str)],
    /// Written only on demand: a change of the ABI is to be noticed.
    lock: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version {
        definition: "OffloadAPI.td",
        files: &[
            ("gen-api", "crates/hostcall-offload-api/include/OffloadAPI.h"),
            ("gen-print-header", "crates/hostcall-offload-api/include/OffloadPrint.hpp"),
            ("gen-exports", "crates/hostcall-offload-api/OffloadAPI.map"),
            ("gen-rust-sys", "crates/hostcall-offload-api/src/generated/sys.rs"),
            ("gen-rust-print", "crates/hostcall-offload-api/src/generated/print.rs"),
            ("gen-impl-trait", "crates/hostcall-offload-api/src/generated/api.rs"),
            ("gen-entry-points", "crates/hostcall-offload-api/src/generated/entry.rs"),
            ("gen-rust-replay", "crates/hostcall-offload-api/src/generated/replay.rs"),
            ("gen-mock", "crates/hostcall-offload-api/src/generated/mock.rs"),
            ("gen-rust-safe", "crates/hostcall-offload-api/src/generated/safe.rs"),
            ("gen-tests", "crates/hostcall-offload-api/tests/c/conformance.c"),
            ("gen-doc-md", "docs/reference/offload-api.md"),
            ("gen-json-schema", "docs/reference/offload-api.schema.json"),
        ],
        lock: "crates/hostcall-offload-api/api/OffloadAPI.abi.json",
    },
    Version {
        definition: "24/OffloadAPI.td",
        files: &[
            ("gen-api", "crates/hostcall-offload-api/include/24/OffloadAPI.h"),
            ("gen-print-header", "crates/hostcall-offload-api/include/24/OffloadPrint.hpp"),
            ("gen-exports", "crates/hostcall-offload-api/OffloadAPI24.map"),
            ("gen-rust-sys", "crates/hostcall-offload-api/src/generated/llvm24/sys.rs"),
            ("gen-rust-print", "crates/hostcall-offload-api/src/generated/llvm24/print.rs"),
            ("gen-impl-trait", "crates/hostcall-offload-api/src/generated/llvm24/api.rs"),
            ("gen-entry-points", "crates/hostcall-offload-api/src/generated/llvm24/entry.rs"),
            ("gen-rust-replay", "crates/hostcall-offload-api/src/generated/llvm24/replay.rs"),
            ("gen-mock", "crates/hostcall-offload-api/src/generated/llvm24/mock.rs"),
            ("gen-rust-safe", "crates/hostcall-offload-api/src/generated/llvm24/safe.rs"),
            ("gen-tests", "crates/hostcall-offload-api/tests/c/conformance24.c"),
            ("gen-doc-md", "docs/reference/offload-api-24.md"),
        ],
        lock: "crates/hostcall-offload-api/api/24/OffloadAPI.abi.json",
    },
];

/// Writes the files, or, to check, fails if one of them is not what it should be.
pub(crate) fn run(sh: &Shell, check: bool, accept_abi: bool) -> Result<()> {
    super::locks::run(sh, check)?;
    super::abi_header::run(sh, check)?;
    println!("== files made from {API}");
    // As the tests are built, and not alone with features of its own: nearly everything would be built twice.
    super::test::succeed(&format!("test {} --no-run --quiet --test own_dialect", super::test::workspace()))?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let tool = format!("{target}/debug/offload-tblgen");
    let mut failed = Vec::new();
    for Version { definition, files, lock } in &VERSIONS {
        let mut make = |action: &str, file: &str| -> Result<()> {
            if let Some(folder) = std::path::Path::new(file).parent() {
                sh.create_dir(folder)?;
            }
            let mode = if check { "--check" } else { "--write-if-changed" };
            if cmd!(sh, "{tool} --dialect hostcall -I {API} {API}/{definition} --{action} -o {file} {mode}").quiet().run().is_err() {
                failed.push(file.to_owned());
            }
            Ok(())
        };
        for (action, file) in *files {
            make(action, file)?;
        }
        if accept_abi {
            make("gen-abi-lock", lock)?;
        } else if cmd!(sh, "{tool} --dialect hostcall -I {API} {API}/{definition} --check-abi-lock {lock}").quiet().run().is_err() {
            bail!("the ABI is not what {lock} says; if that is meant, `cargo xtask generate --accept-abi` writes it anew");
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        files if check => bail!("not made from the definitions as they are: {}; run `cargo xtask generate`", files.join(", ")),
        files => bail!("not written: {}", files.join(", ")),
    }
}

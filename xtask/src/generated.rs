//! The files that `offload-tblgen` makes of the Offload API's definitions, and that live in the tree.

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

/// The definitions.
const API: &str = "crates/liboffload/api";

/// Actions, and the files that they write.
const FILES: [(&str, &str); 13] = [
    ("gen-api", "crates/liboffload/include/OffloadAPI.h"),
    ("gen-print-header", "crates/liboffload/include/OffloadPrint.hpp"),
    ("gen-exports", "crates/liboffload/OffloadAPI.map"),
    ("gen-rust-sys", "crates/liboffload/src/generated/sys.rs"),
    ("gen-rust-print", "crates/liboffload/src/generated/print.rs"),
    ("gen-impl-trait", "crates/liboffload/src/generated/api.rs"),
    ("gen-entry-points", "crates/liboffload/src/generated/entry.rs"),
    ("gen-rust-replay", "crates/liboffload/src/generated/replay.rs"),
    ("gen-mock", "crates/liboffload/src/generated/mock.rs"),
    ("gen-rust-safe", "crates/liboffload/src/generated/safe.rs"),
    ("gen-tests", "crates/liboffload/tests/c/conformance.c"),
    ("gen-doc-md", "docs/offload-api.md"),
    ("gen-json-schema", "docs/offload-api.schema.json"),
];

/// The record of the ABI. It is written only on demand: a change of the ABI is to be noticed.
const LOCK: &str = "crates/liboffload/api/OffloadAPI.abi.json";

/// Writes the files, or, to check, fails if one of them is not what it should be.
pub(crate) fn run(sh: &Shell, check: bool, accept_abi: bool) -> Result<()> {
    super::abi_header::run(sh, check)?;
    println!("== files made from {API}");
    cmd!(sh, "cargo build --quiet --package offload-tblgen").run()?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let tool = format!("{target}/debug/offload-tblgen");
    let mut failed = Vec::new();
    let mut make = |action: &str, file: &str| -> Result<()> {
        if let Some(folder) = std::path::Path::new(file).parent() {
            sh.create_dir(folder)?;
        }
        let mode = if check { "--check" } else { "--write-if-changed" };
        if cmd!(sh, "{tool} --dialect hostcall -I {API} {API}/OffloadAPI.td --{action} -o {file} {mode}").quiet().run().is_err() {
            failed.push(file.to_owned());
        }
        Ok(())
    };
    for (action, file) in FILES {
        make(action, file)?;
    }
    if accept_abi {
        make("gen-abi-lock", LOCK)?;
    } else if cmd!(sh, "{tool} --dialect hostcall -I {API} {API}/OffloadAPI.td --check-abi-lock {LOCK}").quiet().run().is_err() {
        bail!("the ABI is not what {LOCK} says; if that is meant, `cargo xtask generate --accept-abi` writes it anew");
    }
    match failed.as_slice() {
        [] => Ok(()),
        files if check => bail!("not made from the definitions as they are: {}; run `cargo xtask generate`", files.join(", ")),
        files => bail!("not written: {}", files.join(", ")),
    }
}

//! Python with the packages that `cargo xtask setup` installs.

use std::path::{Path, PathBuf};

/// Its program; `None`: it is not there, which has been said.
pub(crate) fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "`cargo xtask setup` makes {}", python.display());
    println!("not run: there is no {}, which `cargo xtask setup` makes", python.display());
    None
}

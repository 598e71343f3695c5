//! The runtime's sources, as the registry has them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Run;
use crate::{BuildError, HostToolchain};

/// The package, of this crate's version: they are released together.
const PACKAGE: &str = "hostcall-std";

/// The directory in which cargo has unpacked the package. It is asked for once; `cache` remembers the answer.
pub(super) fn source(cache: &Path) -> Result<PathBuf, BuildError> {
    let dir = cache.join(format!("source-{}", env!("CARGO_PKG_VERSION")));
    let remembered = dir.join("place");
    if let Some(place) = fs::read_to_string(&remembered).ok().map(PathBuf::from).filter(|place| place.join("Cargo.toml").is_file()) {
        return Ok(place);
    }
    let host = HostToolchain::find()?;
    let source = dir.join("src");
    fs::create_dir_all(&source).map_err(BuildError::io("create", &source))?;
    write(&source.join("lib.rs"), "")?;
    write(&dir.join("Cargo.toml"), &manifest())?;
    let run = Run::new(&host.cargo).without_outer_cargo().dir(&dir).args(["metadata", "--format-version", "1"]);
    let unexpected = |problem: String| BuildError::Unexpected { command: "cargo metadata".into(), problem };
    let metadata: serde_json::Value = serde_json::from_slice(&run.output()?).map_err(|error| unexpected(error.to_string()))?;
    let place = place(&metadata).ok_or_else(|| unexpected(format!("nothing about {PACKAGE}, on which {} depends", dir.display())))?;
    write(&remembered, &place.display().to_string())?;
    Ok(place)
}

/// A package that depends on it and on nothing else.
fn manifest() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "[package]\nname = \"hostcall-std-source\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{PACKAGE} = \"={version}\"\n\n[workspace]\n"
    )
}

/// Where the package lies, by what cargo says of one that depends on it.
fn place(metadata: &serde_json::Value) -> Option<PathBuf> {
    let package = metadata["packages"].as_array()?.iter().find(|package| package["name"] == PACKAGE)?;
    Some(Path::new(package["manifest_path"].as_str()?).parent()?.to_path_buf())
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    fs::write(path, text).map_err(BuildError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_lies_where_cargo_says_and_is_looked_for_once() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "hostcall-std-source", "manifest_path": "/cache/Cargo.toml" },
            { "name": "hostcall-std", "manifest_path": "/registry/hostcall-std-0.1.0/Cargo.toml" },
        ] });
        assert_eq!(place(&metadata), Some(PathBuf::from("/registry/hostcall-std-0.1.0")));
        assert_eq!(place(&serde_json::json!({ "packages": [] })), None);
        assert!(manifest().contains(concat!("hostcall-std = \"=", env!("CARGO_PKG_VERSION"), "\"\n")));

        let cache = tempfile::tempdir().unwrap();
        let (unpacked, dir) = (cache.path().join("unpacked"), cache.path().join(concat!("source-", env!("CARGO_PKG_VERSION"))));
        for dir in [&unpacked, &dir] {
            fs::create_dir(dir).unwrap();
        }
        write(&unpacked.join("Cargo.toml"), "").unwrap();
        write(&dir.join("place"), &unpacked.display().to_string()).unwrap();
        assert_eq!(source(cache.path()).unwrap(), unpacked);
    }
}

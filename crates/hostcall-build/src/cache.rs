//! Results of the stages after cargo, kept by what they were made from.
//!
//! Cargo knows when to run rustc again; what follows it is keyed by the hash of the bitcode, the tools and the options,
//! so a result is found exactly when it would be made again. Files appear by rename: nobody reads half of one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use offload_image::Sha256;

use crate::BuildError;

/// The result for `inputs`, made by `make` if it is not there yet. `make` gets an empty directory for its own files.
pub(crate) fn cached(
    target_dir: &Path,
    inputs: &[&[u8]],
    make: impl FnOnce(&Path) -> Result<Vec<u8>, BuildError>,
) -> Result<Vec<u8>, BuildError> {
    let dir = target_dir.join("images");
    let file = dir.join(key(inputs).to_string());
    if let Some(bytes) = intact(&file) {
        return Ok(bytes);
    }
    let scratch = Scratch::new(target_dir)?;
    let bytes = make(&scratch.0)?;
    // The file carries its own hash, so a damaged one is made again rather than believed.
    let mut content = Sha256::of(&bytes).0.to_vec();
    content.extend_from_slice(&bytes);
    fs::create_dir_all(&dir).map_err(BuildError::io("create", &dir))?;
    let temporary = scratch.0.join("result");
    fs::write(&temporary, content).map_err(BuildError::io("write", &temporary))?;
    fs::rename(&temporary, &file).map_err(BuildError::io("write", &file))?;
    Ok(bytes)
}

fn intact(file: &Path) -> Option<Vec<u8>> {
    let content = fs::read(file).ok()?;
    let (hash, bytes) = content.split_first_chunk()?;
    (Sha256::of(bytes).0 == *hash).then(|| bytes.to_vec())
}

/// One hash of all inputs; each is hashed by itself first, so that no two lists look alike joined.
fn key(inputs: &[&[u8]]) -> Sha256 {
    Sha256::of(&inputs.iter().flat_map(|input| Sha256::of(input).0).collect::<Vec<u8>>())
}

/// `HOSTCALL_CACHE`, `XDG_CACHE_HOME/hostcall` or `~/.cache/hostcall`, and in it `name`.
pub(crate) fn cache_path(name: &str) -> PathBuf {
    let named = std::env::var_os("HOSTCALL_CACHE").map(PathBuf::from);
    let xdg = || std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).map(|path| path.join("hostcall"));
    let home = || std::env::home_dir().map(|home| home.join(".cache/hostcall"));
    let dir = named.or_else(xdg).or_else(home).unwrap_or_else(|| std::env::temp_dir().join("hostcall")).join(name);
    // Relative to where it is first used is not where cargo uses it.
    std::path::absolute(&dir).unwrap_or(dir)
}

/// [`cache_path`], made if it is not there.
pub(crate) fn cache_directory(name: &str) -> Result<PathBuf, BuildError> {
    let path = cache_path(name);
    match fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(BuildError::Cache { path, source }),
    }
}

/// Held by one process at a time; the others wait.
pub(crate) struct Lock {
    _file: fs::File,
}

impl Lock {
    /// Takes the lock in that file; `waits` is called first if another process has it.
    pub(crate) fn take(path: &Path, waits: impl FnOnce()) -> Result<Lock, BuildError> {
        let file = fs::File::create(path).map_err(BuildError::io("create", path))?;
        if file.try_lock().is_err() {
            waits();
            file.lock().map_err(BuildError::io("lock", path))?;
        }
        Ok(Lock { _file: file })
    }
}

/// A directory that is gone when this is dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(parent: &Path) -> Result<Scratch, BuildError> {
        // Relaxed: only the numbers must differ, nothing is published by them.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("work-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = parent.join(name);
        // Left over by a killed process of the same number.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).map_err(BuildError::io("create", &dir))?;
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover costs disk space and nothing else.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_made_once_for_equal_inputs_and_again_for_others() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut made = 0;
        for (inputs, expected) in [(&[b"a".as_slice(), b"bc"], 1), (&[b"a".as_slice(), b"bc"], 1), (&[b"ab".as_slice(), b"c"], 2)] {
            let bytes = cached(dir.path(), inputs, |_| {
                made += 1;
                Ok(b"result".to_vec())
            });
            assert_eq!(bytes.expect("it is made"), b"result");
            assert_eq!(made, expected);
        }
    }

    #[test]
    fn a_damaged_result_is_made_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let make = || cached(dir.path(), &[b"a"], |_| Ok(b"result".to_vec())).expect("it is made");
        make();
        let file = dir.path().join("images").join(key(&[b"a"]).to_string());
        for damage in [b"".as_slice(), b"short", &[0; 40]] {
            fs::write(&file, damage).expect("it is writable");
            assert_eq!(make(), b"result");
        }
    }

    #[test]
    fn a_failed_stage_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("a directory");
        let result = cached(dir.path(), &[b"a"], |_| Err(BuildError::NoKernel { package: "p".into() }));
        assert!(result.is_err());
        assert_eq!(fs::read_dir(dir.path()).expect("it is a directory").count(), 0);
    }
}

//! The file that is counted and the one that is written, found before anything is launched.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use hostcall_demo::is_letter;

use super::Error;

/// What is counted if no file is given.
const LICENCE: &[u8] = include_bytes!("../../LICENSE-APACHE");

/// The file that was asked for, or the licence, in a file that is there as long as what comes with it.
pub(super) fn or_licence(file: Option<&Path>) -> Result<(PathBuf, Option<tempfile::NamedTempFile>), Error> {
    if let Some(path) = file {
        return Ok((path.to_owned(), None));
    }
    let licence = write_licence()?;
    Ok((licence.path().to_owned(), Some(licence)))
}

/// The licence's text as a file, for kernels to open.
fn write_licence() -> Result<tempfile::NamedTempFile, Error> {
    let make = || {
        let mut file = tempfile::Builder::new().prefix("LICENSE-APACHE-").tempfile()?;
        file.write_all(LICENCE)?;
        Ok(file)
    };
    make().map_err(|source| Error::Write { path: std::env::temp_dir(), source })
}

/// A text in parts.
pub(super) struct TextFile {
    file: fs::File,
    pub(super) len: u64,
}

impl TextFile {
    /// Where a part begins, such that no word is in two of them: where there is no letter.
    pub(super) fn begin(&self, part: u32, parts: u32) -> io::Result<u64> {
        if part >= parts {
            return Ok(self.len);
        }
        if part == 0 {
            return Ok(0);
        }
        let mut at = (u128::from(self.len) * u128::from(part) / u128::from(parts)) as u64;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = self.file.read_at(&mut buffer, at)?;
            if read == 0 {
                return Ok(self.len);
            }
            if let Some(end) = buffer[..read].iter().position(|byte| !is_letter(*byte)) {
                return Ok(at + end as u64);
            }
            at += read as u64;
        }
    }

    /// Reads from a byte on: less than there is room for only at the end.
    #[cfg(feature = "remote")]
    pub(super) fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<u32> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], at + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done as u32)
    }
}

/// The file, as the kernels are to find it.
pub(super) struct Input {
    pub(super) full: PathBuf,
    pub(super) directory: PathBuf,
    pub(super) name: String,
    pub(super) text: TextFile,
}

impl Input {
    /// Finds out here what would go wrong there, because errors are better before a launch than after it.
    pub(super) fn open(path: &Path) -> Result<Input, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        // Kernels see one directory, which a symbolic link may not lead out of.
        let full = path.canonicalize().map_err(unreadable)?;
        let metadata = full.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Error::NotAFile { path: path.into(), what: "a directory" });
        }
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: path.into(), what: "a device, pipe or socket" });
        }
        let file = fs::File::open(&full).map_err(unreadable)?;
        let len = metadata.len();
        if len > (1 << 40) - 2 {
            return Err(Error::TooLong { path: path.into(), len });
        }
        let (directory, name) = split(&full)?;
        Ok(Input { full, directory, name, text: TextFile { file, len } })
    }
}

/// Where the counts go.
pub(super) struct Output {
    pub(super) full: PathBuf,
    pub(super) directory: PathBuf,
    pub(super) name: String,
}

impl Output {
    pub(super) fn find(path: &Path) -> Result<Output, Error> {
        let unwritable = |source| Error::Write { path: path.into(), source };
        let full = std::path::absolute(path).map_err(unwritable)?;
        let (directory, name) = split(&full)?;
        // Not truncated yet: that is the kernel's to do, once there is something to write.
        fs::File::options().append(true).create(true).open(&full).map_err(unwritable)?;
        Ok(Output { full, directory, name })
    }
}

fn split(full: &Path) -> Result<(PathBuf, String), Error> {
    let name = full.file_name().and_then(|name| name.to_str());
    match (full.parent(), name) {
        (Some(directory), Some(name)) => Ok((directory.into(), name.into())),
        _ => Err(Error::Name { path: full.into() }),
    }
}

//! Listing directories.

use super::{Error, FileType, Metadata, Result, metadata};
use crate::builtin::Files;
use alloc::string::String;
use alloc::vec;
use hostcall_abi::services::errno;

/// Bytes of the longest name that Linux allows.
const NAME_MAX: usize = 255;

/// The entries of a directory, without `.` and `..`, in no particular order.
#[derive(Debug)]
pub struct ReadDir {
    handle: u64,
    path: String,
    ended: bool,
}

/// One entry of a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    path: String,
    name_len: usize,
    kind: FileType,
}

impl DirEntry {
    /// The name of the entry. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn file_name(&self) -> &str {
        &self.path[self.path.len() - self.name_len..]
    }

    /// The listed directory's path with the name.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The kind of the entry. A symbolic link is a link, whatever it leads to.
    pub fn file_type(&self) -> FileType {
        self.kind
    }

    /// Metadata of the entry.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn metadata(&self) -> Result<Metadata> {
        metadata(&self.path)
    }
}

/// Opens a directory for listing.
///
/// # Errors
/// The error that the host returned.
pub fn read_dir(path: &str) -> Result<ReadDir> {
    let handle = Files::open_dir(path.as_bytes())??;
    Ok(ReadDir { handle, path: path.into(), ended: false })
}

impl ReadDir {
    fn entry(&mut self) -> Result<Option<DirEntry>> {
        let mut name = vec![0u8; NAME_MAX];
        loop {
            match Files::next_entry(self.handle, &mut name)? {
                Ok(None) => return Ok(None),
                Ok(Some((len, kind))) => {
                    // The host sends names that fit.
                    let name = name.get(..len as usize).ok_or(Error::from_errno(errno::EINVAL))?;
                    let name = String::from_utf8_lossy(name);
                    let mut path = self.path.clone();
                    if !path.ends_with('/') {
                        path.push('/');
                    }
                    path.push_str(&name);
                    return Ok(Some(DirEntry { path, name_len: name.len(), kind: FileType(kind) }));
                }
                Err(errno::ERANGE) if name.len() < NAME_MAX * 16 => name.resize(name.len() * 2, 0),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Iterator for ReadDir {
    type Item = Result<DirEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let entry = self.entry().transpose();
        self.ended = !matches!(entry, Some(Ok(_)));
        entry
    }
}

impl Drop for ReadDir {
    fn drop(&mut self) {
        // As for files.
        let _ = Files::close(self.handle);
    }
}

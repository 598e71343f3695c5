//! Directories that are being listed: entry by entry, or in batches.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Mutex, PoisonError};

use cap_std::fs::{Dir, ReadDir};
use hostcall_abi::services::kind;

use super::errno::{self, check};

/// See `hostcall_abi::services::kind`.
pub(super) fn kind_of(file_type: cap_std::fs::FileType) -> u32 {
    if file_type.is_file() {
        kind::FILE
    } else if file_type.is_dir() {
        kind::DIR
    } else if file_type.is_symlink() {
        kind::SYMLINK
    } else {
        kind::OTHER
    }
}

/// An open directory, and how far its entries have been read.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) dir: Dir,
    /// From the first entry on.
    entries: Option<ReadDir>,
    /// Read, but too long for the guest's buffer.
    next: Option<Entry>,
    /// Entries that have been handed out in batches.
    count: u64,
}

#[derive(Debug)]
struct Entry {
    name: OsString,
    /// See `hostcall_abi::services::kind`.
    kind: u32,
}

impl Listing {
    pub(super) fn new(dir: Dir) -> Mutex<Self> {
        Mutex::new(Self { dir, entries: None, next: None, count: 0 })
    }

    fn read(&mut self) -> Result<Option<Entry>, u32> {
        if let Some(entry) = self.next.take() {
            return Ok(Some(entry));
        }
        if self.entries.is_none() {
            self.entries = Some(check(self.dir.entries())?);
        }
        let Some(entry) = self.entries.as_mut().and_then(Iterator::next) else { return Ok(None) };
        let entry = check(entry)?;
        // An entry whose kind the file system does not know at once is still an entry.
        let kind = entry.file_type().map_or(kind::OTHER, kind_of);
        Ok(Some(Entry { name: entry.file_name(), kind }))
    }
}

/// The next entry: its name, which is copied, and its kind. `ERANGE` if the name does not fit: it stays next.
pub(super) fn next_entry(listing: &Mutex<Listing>, into: &mut [u8]) -> Result<Option<(usize, u32)>, u32> {
    let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(entry) = listing.read()? else { return Ok(None) };
    let (name, kind) = (entry.name.as_bytes(), entry.kind);
    let Some(room) = into.get_mut(..name.len()) else {
        listing.next = Some(entry);
        return Err(errno::ERANGE);
    };
    room.copy_from_slice(name);
    Ok(Some((name.len(), kind)))
}

/// The next entries, as many as fit: how many bytes they are. `EINVAL` if not even one fits.
pub(super) fn batch(listing: &Mutex<Listing>, into: &mut [u8]) -> Result<usize, u32> {
    let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
    let mut used = 0;
    loop {
        let entry = match listing.read() {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(used),
            // What was read before is handed out, and the next batch says what is wrong.
            Err(_) if used > 0 => return Ok(used),
            Err(error) => return Err(error),
        };
        match pack(&entry, listing.count + 1, &mut into[used..]) {
            Some(len) => {
                used += len;
                listing.count += 1;
            }
            None => {
                listing.next = Some(entry);
                return if used > 0 { Ok(used) } else { Err(errno::EINVAL) };
            }
        }
    }
}

/// An entry as Linux's `getdents64` has it: inode and offset (8 bytes each), length of the entry (2), kind (1), name, zeros up to a multiple of 8.
fn pack(entry: &Entry, number: u64, into: &mut [u8]) -> Option<usize> {
    const DT_DIR: u8 = 4;
    const DT_REG: u8 = 8;
    const DT_LNK: u8 = 10;
    /// Before the name.
    const HEAD: usize = 19;
    let name = entry.name.as_bytes();
    let len = (HEAD + name.len() + 1).next_multiple_of(8);
    let into = into.get_mut(..len)?;
    into.fill(0);
    // Nobody looks at the inode but to see that it is not 0.
    into[..8].copy_from_slice(&number.to_ne_bytes());
    into[8..16].copy_from_slice(&number.to_ne_bytes());
    into[16..18].copy_from_slice(&(len as u16).to_ne_bytes());
    into[18] = match entry.kind {
        kind::DIR => DT_DIR,
        kind::FILE => DT_REG,
        kind::SYMLINK => DT_LNK,
        _ => 0,
    };
    into[HEAD..HEAD + name.len()].copy_from_slice(name);
    Some(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;

    fn listing(names: impl IntoIterator<Item = String>) -> (tempfile::TempDir, Mutex<Listing>) {
        let host = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(host.path().join(name), "").unwrap();
        }
        let dir = Dir::open_ambient_dir(host.path(), ambient_authority()).unwrap();
        (host, Listing::new(dir))
    }

    /// The names in a batch.
    fn names(mut batch: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        while !batch.is_empty() {
            let len = usize::from(u16::from_ne_bytes([batch[16], batch[17]]));
            let name = batch[19..len].split(|byte| *byte == 0).next().unwrap();
            names.push(String::from_utf8(name.to_vec()).unwrap());
            batch = &batch[len..];
        }
        names
    }

    #[test]
    fn batches_have_every_entry_once_whatever_their_room() {
        let all: Vec<String> = (0..300).map(|i| format!("{i:0>width$}", width = 1 + i % 200)).collect();
        for room in [240, 241, 1000, 100_000] {
            let (_host, listing) = listing(all.clone());
            let mut found = Vec::new();
            let mut into = vec![0xff; room];
            loop {
                let used = batch(&listing, &mut into).unwrap();
                assert_eq!(used % 8, 0);
                if used == 0 {
                    break;
                }
                found.extend(names(&into[..used]));
            }
            found.sort_unstable();
            let mut expected = all.clone();
            expected.sort_unstable();
            assert_eq!(found, expected, "{room}");
            assert_eq!(batch(&listing, &mut into), Ok(0));
        }
    }

    #[test]
    fn an_entry_that_does_not_fit_stays_next() {
        let (_host, listing) = listing(["x".repeat(100)]);
        assert_eq!(batch(&listing, &mut [0; 119]), Err(errno::EINVAL));
        assert_eq!(next_entry(&listing, &mut [0; 99]), Err(errno::ERANGE));
        let mut into = [0; 120];
        assert_eq!(batch(&listing, &mut into), Ok(120));
        assert_eq!(names(&into), ["x".repeat(100)]);
    }
}

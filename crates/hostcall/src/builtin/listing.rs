//! Directories that are being listed: entry by entry, or in batches.

use std::ffi::CString;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostcall_abi::services::kind;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::counted::Counted;
use super::errno::{self, check};
use super::socket::number;

/// See `hostcall_abi::services::kind`.
pub(super) fn kind_of(file_type: std::fs::FileType) -> u32 {
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

/// An open directory.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) dir: Counted<File>,
    /// Whether it is in a grant for writing: what is known of it may be changed.
    pub(super) changeable: bool,
    listing: Mutex<Listing>,
}

/// How far its entries have been read.
#[derive(Debug, Default)]
struct Listing {
    /// From the first entry on.
    entries: Option<Counted<Dir>>,
    /// Read, but too long for the guest's buffer.
    next: Option<Entry>,
    /// Why no more can be read, which nobody has been told yet: the system says it once, and then that this is the end.
    failed: Option<u32>,
    /// Entries that have been handed out in batches.
    count: u64,
}

#[derive(Debug)]
struct Entry {
    name: CString,
    inode: u64,
    file_type: FileType,
}

impl Entry {
    /// See `hostcall_abi::services::kind`.
    fn kind(&self) -> u32 {
        match self.file_type {
            FileType::RegularFile => kind::FILE,
            FileType::Directory => kind::DIR,
            FileType::Symlink => kind::SYMLINK,
            _ => kind::OTHER,
        }
    }
}

impl Directory {
    pub(super) fn new(dir: Counted<File>, changeable: bool) -> Self {
        Self { dir, changeable, listing: Mutex::default() }
    }

    fn listing(&self) -> MutexGuard<'_, Listing> {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew.
    pub(super) fn rewind(&self) {
        *self.listing() = Listing::default();
    }

    /// Its entries, through a descriptor of their own: that of the directory may be one for paths only.
    fn entries(&self) -> Result<Counted<Dir>, u32> {
        let room = self.dir.room_for_another()?;
        match rustix::fs::openat(&self.dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(dir) => room.take(dir)?.try_map(|dir| Dir::new(dir).map_err(number)),
            // It may be read, and nothing in it may be named, not even `.`.
            Err(rustix::io::Errno::ACCESS) => {
                let dir = room.take(rustix::io::fcntl_dupfd_cloexec(&self.dir, 0).map_err(number)?)?;
                let mut entries = dir.try_map(|dir| Dir::new(dir).map_err(number))?;
                entries.get_mut().rewind();
                Ok(entries)
            }
            Err(error) => Err(number(error)),
        }
    }

    fn read(&self, listing: &mut Listing) -> Result<Option<Entry>, u32> {
        if let Some(entry) = listing.next.take() {
            return Ok(Some(entry));
        }
        if let Some(error) = listing.failed.take() {
            return Err(error);
        }
        let entries = match &mut listing.entries {
            Some(entries) => entries,
            none => none.insert(self.entries()?),
        };
        loop {
            let Some(entry) = entries.get_mut().read() else { return Ok(None) };
            let entry = check(entry.map_err(Into::into))?;
            let (name, inode, mut file_type) = (entry.file_name(), entry.ino(), entry.file_type());
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if file_type == FileType::Unknown {
                // The file system does not know at once. An entry whose kind cannot be told is still an entry.
                file_type = rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(file_type, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            return Ok(Some(Entry { name: name.to_owned(), inode, file_type }));
        }
    }
}

/// The next entry: its name, which is copied, and its kind. `ERANGE` if the name does not fit: it stays next.
pub(super) fn next_entry(dir: &Directory, into: &mut [u8]) -> Result<Option<(usize, u32)>, u32> {
    let mut listing = dir.listing();
    let Some(entry) = dir.read(&mut listing)? else { return Ok(None) };
    let (name, kind) = (entry.name.as_bytes(), entry.kind());
    let Some(room) = into.get_mut(..name.len()) else {
        listing.next = Some(entry);
        return Err(errno::ERANGE);
    };
    room.copy_from_slice(name);
    Ok(Some((name.len(), kind)))
}

/// The next entries, as many as fit: how many bytes they are. `EINVAL` if not even one fits.
pub(super) fn batch(dir: &Directory, into: &mut [u8]) -> Result<usize, u32> {
    let mut listing = dir.listing();
    let mut used = 0;
    loop {
        let entry = match dir.read(&mut listing) {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(used),
            // What was read before is handed out, and the next batch says what is wrong.
            Err(error) if used > 0 => {
                listing.failed = Some(error);
                return Ok(used);
            }
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

/// An entry as Linux's `getdents64` has it: inode and offset (8 bytes each), length of the entry (2), kind (1), name,
/// zeros up to a multiple of 8.
fn pack(entry: &Entry, number: u64, into: &mut [u8]) -> Option<usize> {
    /// Before the name.
    const HEAD: usize = 19;
    let name = entry.name.as_bytes();
    let len = (HEAD + name.len() + 1).next_multiple_of(8);
    let into = into.get_mut(..len)?;
    into.fill(0);
    // One that is 0 would say that the entry is gone.
    into[..8].copy_from_slice(&entry.inode.max(1).to_ne_bytes());
    into[8..16].copy_from_slice(&number.to_ne_bytes());
    into[16..18].copy_from_slice(&(len as u16).to_ne_bytes());
    into[18] = match entry.file_type {
        FileType::Unknown => libc::DT_UNKNOWN,
        // Its number is where a mode has it.
        known => (known.as_raw_mode() >> 12) as u8,
    };
    into[HEAD..HEAD + name.len()].copy_from_slice(name);
    Some(len)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::super::counted::Room;
    use super::*;
    use crate::tenant::Tenant;

    fn listing(names: impl IntoIterator<Item = String>) -> (tempfile::TempDir, Directory) {
        let host = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(host.path().join(name), "").unwrap();
        }
        let room = Room::of(&Tenant::new(), 2).unwrap();
        let dir = room.take(File::open(host.path()).unwrap()).unwrap();
        (host, Directory::new(dir, true))
    }

    /// The names in a batch.
    fn names(mut batch: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        while !batch.is_empty() {
            let len = usize::from(u16::from_ne_bytes([batch[16], batch[17]]));
            assert_eq!(batch[len - 1], 0, "a name has an end");
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
            listing.rewind();
            assert_ne!(batch(&listing, &mut into), Ok(0), "from the start");
        }
    }

    #[test]
    fn an_entry_says_which_file_it_is_and_of_what_kind() {
        use std::os::unix::fs::MetadataExt as _;
        let (host, listing) = listing(["file".into()]);
        std::os::unix::fs::symlink("file", host.path().join("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(host.path().join("socket")).unwrap();
        let mut into = [0; 240];
        let used = batch(&listing, &mut into).unwrap();
        let mut at = 0;
        while at < used {
            let name = into[at + 19..used].split(|byte| *byte == 0).next().unwrap();
            let path = host.path().join(std::str::from_utf8(name).unwrap());
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            assert_eq!(u64::from_ne_bytes(into[at..at + 8].try_into().unwrap()), metadata.ino());
            assert_eq!(u32::from(into[at + 18]), metadata.mode() >> 12);
            at += usize::from(u16::from_ne_bytes([into[at + 16], into[at + 17]]));
        }
    }

    #[test]
    fn no_program_that_the_host_starts_has_the_descriptor_of_a_listing() {
        let (_host, listing) = listing([]);
        let mut entries = listing.entries().unwrap();
        let flags = rustix::io::fcntl_getfd(entries.get_mut().fd().unwrap()).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }

    #[test]
    fn a_listing_that_cannot_be_opened_says_so() {
        let host = tempfile::tempdir().unwrap();
        let room = Room::of(&Tenant::new(), 1).unwrap();
        let listing = Directory::new(room.take(File::open(host.path()).unwrap()).unwrap(), true);
        assert_eq!(batch(&listing, &mut [0; 240]), Err(errno::EMFILE));
        assert_eq!(next_entry(&listing, &mut [0; 240]), Err(errno::EMFILE));
    }

    #[test]
    fn what_was_read_before_an_error_is_handed_out_and_the_error_is_told_next() {
        // More than are read at a time.
        let (_host, listing) = listing((0..300).map(|i| format!("{i:050}")));
        let (mut name, mut into) = ([0; 50], [0; 100_000]);
        next_entry(&listing, &mut name).unwrap();
        {
            let mut known = listing.listing();
            let open = known.entries.as_mut().unwrap().get_mut().fd().unwrap();
            let null = File::open("/dev/null").unwrap();
            // SAFETY: both are open. The listing's descriptor stays one, of something that cannot be listed.
            assert!(unsafe { libc::dup2(null.as_raw_fd(), open.as_raw_fd()) } >= 0);
        }
        let used = batch(&listing, &mut into).unwrap();
        assert!((1..299).contains(&names(&into[..used]).len()));
        assert_eq!(batch(&listing, &mut into), Err(errno::ENOTDIR));
        listing.rewind();
        assert_eq!(next_entry(&listing, &mut name).map(|entry| entry.is_some()), Ok(true), "from the start");
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

//! Open files by handle.
//!
//! A handle is a number that came from the device, so it proves nothing. The table looks it up, compares its
//! generation, and checks that it belongs to the program that uses it.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use offload::host::without_sigpipe;

use super::errno;
use super::listing::Directory;
use super::socket::Socket;
use super::watch::{Alarm, Set};

/// Which way bytes go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    Read,
    Write,
}

/// An open file.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// Whether it is in a grant for writing: what is known of it may be changed.
    pub(super) changeable: bool,
    /// Whether a write to it may raise SIGPIPE: it is a pipe, or anything else than a regular file.
    signals: bool,
    /// Its file system does not say whether a read, or a write, would block: always ask the blocking pool.
    untold: [AtomicBool; 2],
}

impl OpenFile {
    pub(super) fn new(file: File, readable: bool, writable: bool, changeable: bool) -> Self {
        let signals = writable && !file.metadata().is_ok_and(|metadata| metadata.is_file());
        Self { file, readable, writable, changeable, signals, untold: Default::default() }
    }

    /// Runs something that writes to it. Nobody gets a signal for that.
    pub(super) fn writing<T>(&self, write: impl FnOnce() -> T) -> T {
        if self.signals { without_sigpipe(write) } else { write() }
    }

    /// Whether it is a place only, and no file that is open.
    pub(super) fn is_place(&self) -> bool {
        !self.readable && !self.writable
    }

    /// Whether a read or write without blocking is worth trying.
    pub(super) fn worth_trying(&self, direction: Direction) -> bool {
        // Pairs with `not_worth_trying`. Relaxed: advice.
        !self.untold[direction as usize].load(Ordering::Relaxed)
    }

    /// Remembers that it is not.
    pub(super) fn not_worth_trying(&self, direction: Direction) {
        // Pairs with `worth_trying`.
        self.untold[direction as usize].store(true, Ordering::Relaxed);
    }
}

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(super) enum Open {
    File(Arc<OpenFile>),
    Dir(Arc<Directory>),
    Socket(Arc<Socket>),
    Alarm(Arc<Alarm>),
    Set(Arc<Set>),
}

impl Open {
    /// The file that it is.
    pub(super) fn file(self) -> Result<Arc<OpenFile>, u32> {
        match self {
            Self::File(file) => Ok(file),
            Self::Dir(_) => Err(errno::EISDIR),
            Self::Socket(_) | Self::Alarm(_) | Self::Set(_) => Err(errno::ESPIPE),
        }
    }
}

#[derive(Debug)]
struct Entry {
    generation: u32,
    /// The program whose handle it is.
    owner: usize,
    open: Option<Open>,
}

#[derive(Debug, Default)]
struct Entries {
    list: Vec<Entry>,
    free: Vec<u32>,
}

/// The open files and directories of one server.
#[derive(Debug)]
pub(super) struct FileTable {
    entries: RwLock<Entries>,
    limit: usize,
}

fn split(handle: u64) -> (usize, u32) {
    (handle as u32 as usize, (handle >> 32) as u32)
}

impl FileTable {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: RwLock::default(), limit: limit.min(1 << 30) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more may be opened. (Several that ask at once may all be told so; `insert` decides.)
    pub(super) fn has_room(&self) -> bool {
        let entries = self.read();
        entries.list.len() - entries.free.len() < self.limit
    }

    /// Gives an open file or directory a handle.
    pub(super) fn insert(&self, owner: usize, open: Open) -> Result<u64, u32> {
        let mut entries = self.write();
        let Entries { list, free } = &mut *entries;
        if list.len() - free.len() >= self.limit {
            return Err(errno::EMFILE);
        }
        let index = free.pop().unwrap_or(list.len() as u32);
        if index as usize == list.len() {
            list.push(Entry { generation: 0, owner: 0, open: None });
        }
        let entry = &mut list[index as usize];
        // Never 0, so that no handle is 0.
        entry.generation = entry.generation.wrapping_add(1).max(1);
        (entry.owner, entry.open) = (owner, Some(open));
        Ok(u64::from(entry.generation) << 32 | u64::from(index))
    }

    /// What a handle stands for.
    pub(super) fn get(&self, owner: usize, handle: u64) -> Result<Open, u32> {
        let (index, generation) = split(handle);
        let entries = self.read();
        let entry = entries.list.get(index).filter(|entry| entry.generation == generation && entry.owner == owner).ok_or(errno::EBADF)?;
        entry.open.clone().ok_or(errno::EBADF)
    }

    /// The file that a handle stands for.
    pub(super) fn file(&self, owner: usize, handle: u64) -> Result<Arc<OpenFile>, u32> {
        self.get(owner, handle)?.file()
    }

    /// The directory that a handle stands for.
    pub(super) fn dir(&self, owner: usize, handle: u64) -> Result<Arc<Directory>, u32> {
        match self.get(owner, handle)? {
            Open::Dir(listing) => Ok(listing),
            _ => Err(errno::ENOTDIR),
        }
    }

    /// The socket that a handle stands for.
    pub(super) fn socket(&self, owner: usize, handle: u64) -> Result<Arc<Socket>, u32> {
        match self.get(owner, handle)? {
            Open::Socket(socket) => Ok(socket),
            _ => Err(errno::ENOTSOCK),
        }
    }

    /// Forgets a handle. What it stood for is closed when the last call that uses it has ended.
    pub(super) fn remove(&self, owner: usize, handle: u64) -> Result<Open, u32> {
        let (index, generation) = split(handle);
        let mut entries = self.write();
        let Entries { list, free } = &mut *entries;
        let entry = list.get_mut(index).filter(|entry| entry.generation == generation && entry.owner == owner).ok_or(errno::EBADF)?;
        let open = entry.open.take().ok_or(errno::EBADF)?;
        free.push(index as u32);
        Ok(open)
    }

    /// Closes everything of a program that is gone.
    pub(super) fn forget(&self, owner: usize) {
        let mut entries = self.write();
        let Entries { list, free } = &mut *entries;
        let mut closed = Vec::new();
        for (index, entry) in list.iter_mut().enumerate().filter(|(_, entry)| entry.owner == owner) {
            if let Some(open) = entry.open.take() {
                closed.push(open);
                free.push(index as u32);
            }
        }
        // Closing may take a while: not under the lock.
        drop(entries);
        drop(closed);
    }
}

/// Lets this process open as many files as the system allows it: thousands of waves may each open one, and the usual limit of 1024 is for
/// the sake of programs that use `select`.
pub(super) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If it cannot be raised, files that are one too many say `EMFILE`.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Open {
        Open::File(Arc::new(OpenFile::new(tempfile::tempfile().unwrap(), true, true, true)))
    }

    #[test]
    fn a_closed_handle_is_refused_even_when_its_place_is_taken_again() {
        let table = FileTable::new(10);
        let first = table.insert(1, file()).unwrap();
        table.remove(1, first).unwrap();
        let second = table.insert(1, file()).unwrap();
        assert_eq!(split(first).0, split(second).0);
        assert_eq!(table.file(1, first).unwrap_err(), errno::EBADF);
        assert_eq!(table.remove(1, first).unwrap_err(), errno::EBADF);
        assert!(table.file(1, second).is_ok());
    }

    #[test]
    fn another_programs_handle_is_refused() {
        let table = FileTable::new(10);
        let handle = table.insert(1, file()).unwrap();
        assert_eq!(table.file(2, handle).unwrap_err(), errno::EBADF);
        assert_eq!(table.remove(2, handle).unwrap_err(), errno::EBADF);
        table.forget(2);
        assert!(table.file(1, handle).is_ok());
        table.forget(1);
        assert_eq!(table.file(1, handle).unwrap_err(), errno::EBADF);
        assert!(table.has_room());
    }

    #[test]
    fn invented_handles_are_refused() {
        let table = FileTable::new(10);
        let handle = table.insert(1, file()).unwrap();
        for hostile in [0, 1, handle + 1, handle ^ 1 << 32, handle | 1 << 63, u64::MAX, u64::from(u32::MAX), 1 << 32 | 77] {
            assert_eq!(table.file(1, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
            assert_eq!(table.dir(1, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
            assert_eq!(table.remove(1, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
        }
        assert_eq!(table.dir(1, handle).unwrap_err(), errno::ENOTDIR);
    }

    #[test]
    fn the_cap_on_open_files_counts_those_that_are_open() {
        let table = FileTable::new(2);
        let first = table.insert(1, file()).unwrap();
        table.insert(1, file()).unwrap();
        assert!(!table.has_room());
        assert_eq!(table.insert(1, file()).unwrap_err(), errno::EMFILE);
        table.remove(1, first).unwrap();
        assert!(table.insert(1, file()).is_ok());
    }
}

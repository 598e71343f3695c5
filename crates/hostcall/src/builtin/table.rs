//! Open files by handle.
//!
//! A handle is a number that came from the device, so it proves nothing. The table looks it up, compares its
//! generation, and checks that it belongs to the program that uses it.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use offload::host::without_sigpipe;

use super::counted::{Counted, Instance, Room};
use super::errno;
use super::listing::Directory;
use super::socket::Socket;
use super::watch::{Alarm, Set};
use crate::tenant::{Keeper, Number, Tenant};

/// Which way bytes go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    Read,
    Write,
}

/// An open file.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: Counted<File>,
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// Whether it is in a grant for writing: what is known of it may be changed.
    pub(super) changeable: bool,
    /// Whether a write to it may raise SIGPIPE: it is a pipe, or anything else than a regular file.
    signals: bool,
    /// Its file system does not say whether a read, or a write, would block: always ask the blocking pool.
    untold: [AtomicBool; 2],
    _watcher: Option<Instance>,
}

impl OpenFile {
    pub(super) fn new(file: Counted<File>, readable: bool, writable: bool, changeable: bool) -> Self {
        let signals = writable && !file.metadata().is_ok_and(|metadata| metadata.is_file());
        Self { file, readable, writable, changeable, signals, untold: Default::default(), _watcher: None }
    }

    /// What tells of changes of files.
    pub(super) fn watcher(file: Counted<File>, instance: Instance) -> Self {
        Self { _watcher: Some(instance), ..Self::new(file, true, false, false) }
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

/// A handle that is open.
#[derive(Debug)]
struct Held {
    /// The program whose handle it is.
    owner: Number,
    open: Open,
    /// Of a handle that was made of another one: it counts as a descriptor of its own.
    _another: Option<Room>,
}

#[derive(Debug, Default)]
struct Entry {
    generation: u32,
    held: Option<Held>,
}

impl Entry {
    /// What the handle stands for, if it is this program's.
    fn of(&self, tenant: &Tenant, generation: u32) -> Option<&Open> {
        let held = self.held.as_ref().filter(|held| self.generation == generation && held.owner == tenant.number());
        held.map(|held| &held.open)
    }
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
    /// Descriptors of one program.
    most: usize,
}

fn split(handle: u64) -> (usize, u32) {
    (handle as u32 as usize, (handle >> 32) as u32)
}

impl FileTable {
    /// With at most so many descriptors of each program.
    pub(super) fn new(most: usize) -> Self {
        // An index has 32 bits.
        Self { entries: RwLock::default(), most: most.min(1 << 30) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for one more descriptor of a program, which is then opened and [inserted](FileTable::insert).
    pub(super) fn room(&self, tenant: &Arc<Tenant>) -> Result<Room, u32> {
        Room::of(tenant, self.most)
    }

    /// Gives something that a program has opened a handle. It is closed if the program has ended meanwhile.
    pub(super) fn insert(&self, tenant: &Tenant, open: Open) -> Result<u64, u32> {
        self.hold(tenant, Held { owner: tenant.number(), open, _another: None })
    }

    /// Gives what a handle stands for another one.
    pub(super) fn duplicate(&self, tenant: &Arc<Tenant>, handle: u64) -> Result<u64, u32> {
        let open = self.get(tenant, handle)?;
        self.hold(tenant, Held { owner: tenant.number(), open, _another: Some(self.room(tenant)?) })
    }

    // (What is not held is dropped when the lock has been given back: closing may take a while.)
    fn hold(&self, tenant: &Tenant, held: Held) -> Result<u64, u32> {
        let mut entries = self.write();
        tenant.lives().map_err(|_| errno::EBADF)?;
        let Entries { list, free } = &mut *entries;
        let index = free.pop().map_or_else(|| u32::try_from(list.len()), Ok).map_err(|_| errno::EMFILE)?;
        if index as usize == list.len() {
            list.push(Entry::default());
        }
        let entry = &mut list[index as usize];
        // Never 0, so that no handle is 0.
        entry.generation = entry.generation.wrapping_add(1).max(1);
        entry.held = Some(held);
        Ok(u64::from(entry.generation) << 32 | u64::from(index))
    }

    /// What a handle stands for.
    pub(super) fn get(&self, tenant: &Tenant, handle: u64) -> Result<Open, u32> {
        let (index, generation) = split(handle);
        self.read().list.get(index).and_then(|entry| entry.of(tenant, generation)).cloned().ok_or(errno::EBADF)
    }

    /// The file that a handle stands for.
    pub(super) fn file(&self, tenant: &Tenant, handle: u64) -> Result<Arc<OpenFile>, u32> {
        self.get(tenant, handle)?.file()
    }

    /// The directory that a handle stands for.
    pub(super) fn dir(&self, tenant: &Tenant, handle: u64) -> Result<Arc<Directory>, u32> {
        match self.get(tenant, handle)? {
            Open::Dir(listing) => Ok(listing),
            _ => Err(errno::ENOTDIR),
        }
    }

    /// The socket that a handle stands for.
    pub(super) fn socket(&self, tenant: &Tenant, handle: u64) -> Result<Arc<Socket>, u32> {
        match self.get(tenant, handle)? {
            Open::Socket(socket) => Ok(socket),
            _ => Err(errno::ENOTSOCK),
        }
    }

    /// Forgets a handle. What it stood for is closed when the last call that uses it has ended.
    pub(super) fn remove(&self, tenant: &Tenant, handle: u64) -> Result<Open, u32> {
        let (index, generation) = split(handle);
        let mut entries = self.write();
        let Entries { list, free } = &mut *entries;
        let entry = list.get_mut(index).filter(|entry| entry.of(tenant, generation).is_some()).ok_or(errno::EBADF)?;
        let held = entry.held.take().ok_or(errno::EBADF)?;
        free.push(index as u32);
        Ok(held.open)
    }
}

impl Keeper for FileTable {
    fn let_go(&self, tenant: &Tenant) {
        let mut entries = self.write();
        let Entries { list, free } = &mut *entries;
        let mut closed = Vec::new();
        for (index, entry) in list.iter_mut().enumerate() {
            if let Some(held) = entry.held.take_if(|held| held.owner == tenant.number()) {
                closed.push(held);
                free.push(index as u32);
            }
        }
        // Closing may take a while: not under the lock.
        drop(entries);
        drop(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::Thing;

    fn file(table: &FileTable, tenant: &Arc<Tenant>) -> Result<Open, u32> {
        let file = table.room(tenant)?.take(tempfile::tempfile().unwrap())?;
        Ok(Open::File(Arc::new(OpenFile::new(file, true, true, true))))
    }

    fn open(table: &FileTable, tenant: &Arc<Tenant>) -> Result<u64, u32> {
        table.insert(tenant, file(table, tenant)?)
    }

    #[test]
    fn a_closed_handle_is_refused_even_when_its_place_is_taken_again() {
        let (table, tenant) = (FileTable::new(10), Tenant::new());
        let first = open(&table, &tenant).unwrap();
        table.remove(&tenant, first).unwrap();
        let second = open(&table, &tenant).unwrap();
        assert_eq!(split(first).0, split(second).0);
        assert_eq!(table.file(&tenant, first).unwrap_err(), errno::EBADF);
        assert_eq!(table.remove(&tenant, first).unwrap_err(), errno::EBADF);
        assert!(table.file(&tenant, second).is_ok());
    }

    #[test]
    fn another_programs_handle_is_refused() {
        let (table, tenant, other) = (FileTable::new(10), Tenant::new(), Tenant::new());
        let handle = open(&table, &tenant).unwrap();
        assert_eq!(table.file(&other, handle).unwrap_err(), errno::EBADF);
        assert_eq!(table.remove(&other, handle).unwrap_err(), errno::EBADF);
        other.end(&[&table]);
        assert!(table.file(&tenant, handle).is_ok());
        tenant.end(&[&table]);
        assert_eq!(table.file(&tenant, handle).unwrap_err(), errno::EBADF);
        assert_eq!(tenant.has(Thing::Descriptor), 0);
    }

    #[test]
    fn what_is_opened_when_its_program_has_ended_is_closed_and_no_later_program_reads_it() {
        let (table, tenant) = (FileTable::new(10), Tenant::new());
        let (read, write) = std::io::pipe().unwrap();
        let late = table.room(&tenant).unwrap().take(std::fs::File::from(std::os::fd::OwnedFd::from(write))).unwrap();
        let late = Open::File(Arc::new(OpenFile::new(late, true, true, true)));
        let twice = open(&table, &tenant).unwrap();
        tenant.end(&[&table]);
        assert_eq!(table.insert(&tenant, late), Err(errno::EBADF));
        assert_eq!(std::io::read_to_string(read).unwrap(), "", "nobody has the other end");
        assert_eq!((table.duplicate(&tenant, twice), table.room(&tenant).unwrap_err()), (Err(errno::EBADF), errno::EBADF));
        assert_eq!(tenant.has(Thing::Descriptor), 0);
        // One that comes where the other was, as an address or an index.
        drop(tenant);
        let later = Tenant::new();
        let own = open(&table, &later).unwrap();
        for hostile in (0..4u64).flat_map(|index| (0..4u64).map(move |generation| generation << 32 | index)).filter(|handle| *handle != own)
        {
            assert_eq!(table.get(&later, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
        }
    }

    #[test]
    fn invented_handles_are_refused() {
        let (table, tenant) = (FileTable::new(10), Tenant::new());
        let handle = open(&table, &tenant).unwrap();
        for hostile in [0, 1, handle + 1, handle ^ 1 << 32, handle | 1 << 63, u64::MAX, u64::from(u32::MAX), 1 << 32 | 77] {
            assert_eq!(table.file(&tenant, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
            assert_eq!(table.dir(&tenant, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
            assert_eq!(table.remove(&tenant, hostile).unwrap_err(), errno::EBADF, "{hostile:#x}");
        }
        assert_eq!(table.dir(&tenant, handle).unwrap_err(), errno::ENOTDIR);
    }

    #[test]
    fn the_cap_on_descriptors_is_each_programs_own_and_counts_what_is_open() {
        let (table, tenant, other) = (FileTable::new(2), Tenant::new(), Tenant::new());
        let first = open(&table, &tenant).unwrap();
        let second = table.duplicate(&tenant, first).unwrap();
        assert_eq!(open(&table, &tenant).unwrap_err(), errno::EMFILE);
        assert_eq!(table.duplicate(&tenant, first).unwrap_err(), errno::EMFILE);
        assert!(open(&table, &other).is_ok());
        // A call that still uses what was closed keeps its descriptor.
        let used = table.file(&tenant, first).unwrap();
        table.remove(&tenant, first).unwrap();
        table.remove(&tenant, second).unwrap();
        assert!(open(&table, &tenant).is_ok());
        assert_eq!(open(&table, &tenant).unwrap_err(), errno::EMFILE);
        drop(used);
        assert!(open(&table, &tenant).is_ok());
    }
}

//! Files and directories of the host, as far as the host granted them.
//!
//! The interface is that of `std::fs`, with the calls of each lane its own: a [`File`] is a number that the
//! host gave to this program, and several lanes may use one. Large reads and writes travel in chunks of a
//! staging slot. To move much data, let the lanes of a wave share one buffer:
//! [`File::read_at_wave`] and [`File::write_at_wave`].

mod dir;

pub use dir::{DirEntry, ReadDir, read_dir};
pub use hostcall_abi::file_error::{Error, ErrorKind};

/// The result of a file operation.
pub type Result<T> = core::result::Result<T, Error>;

use crate::builtin::Files;
use crate::context::descriptor;
use crate::time::SystemTime;
use crate::wave::Converged;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;
use hostcall_abi::services::{errno, kind, open};

/// How to open a file. All off at first, as in `std`.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions(u32);

impl OpenOptions {
    /// Nothing chosen yet.
    pub const fn new() -> Self {
        Self(0)
    }

    const fn set(mut self, bit: u32, on: bool) -> Self {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
        self
    }

    /// For reading.
    #[must_use]
    pub const fn read(self, on: bool) -> Self {
        self.set(open::READ, on)
    }

    /// For writing.
    #[must_use]
    pub const fn write(self, on: bool) -> Self {
        self.set(open::WRITE, on)
    }

    /// For writing at the end, whatever other lanes write meanwhile.
    #[must_use]
    pub const fn append(self, on: bool) -> Self {
        self.set(open::APPEND, on)
    }

    /// Cut to length 0.
    #[must_use]
    pub const fn truncate(self, on: bool) -> Self {
        self.set(open::TRUNCATE, on)
    }

    /// Create it if it does not exist.
    #[must_use]
    pub const fn create(self, on: bool) -> Self {
        self.set(open::CREATE, on)
    }

    /// Create it, and fail if it exists.
    #[must_use]
    pub const fn create_new(self, on: bool) -> Self {
        self.set(open::CREATE_NEW, on)
    }

    /// Opens `path`.
    ///
    /// # Errors
    /// The error that the host returned; a path that is not granted is [`ErrorKind::PermissionDenied`].
    pub fn open(self, path: &str) -> Result<File> {
        Ok(File { handle: Files::open(path.as_bytes(), self.0)?? })
    }

    /// Opens `path` once for all converged lanes, which pass the same one: the first opens it, and all get the same
    /// open file.
    ///
    /// # Errors
    /// As [`OpenOptions::open`], in all lanes.
    #[track_caller]
    pub fn open_wave(self, path: &str) -> Result<WaveFile> {
        let lanes = Converged::here();
        let handle = Files::open_together(path.as_bytes(), self.0)??;
        Ok(WaveFile { file: ManuallyDrop::new(File { handle }), owner: lanes.leads() })
    }
}

/// Where to [`File::seek`] to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekFrom {
    /// From the file's start.
    Start(u64),
    /// From its end.
    End(i64),
    /// From where the cursor is.
    Current(i64),
}

/// Metadata of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    len: u64,
    kind: FileType,
    mode: u32,
    modified: SystemTime,
}

impl Metadata {
    fn new([len, kind, mode, seconds, nanos]: [u64; 5]) -> Self {
        Self { len, kind: FileType(kind as u32), mode: mode as u32, modified: SystemTime::new(seconds.cast_signed(), nanos as u32) }
    }

    /// Length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "as std's Metadata")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// What it is.
    pub fn file_type(&self) -> FileType {
        self.kind
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind.is_file()
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind.is_dir()
    }

    /// Unix permission bits, as the host has them.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// When its contents were last changed.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }
}

/// What a directory entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType(u32);

impl FileType {
    /// A regular file.
    pub fn is_file(self) -> bool {
        self.0 == kind::FILE
    }

    /// A directory.
    pub fn is_dir(self) -> bool {
        self.0 == kind::DIR
    }

    /// A symbolic link.
    pub fn is_symlink(self) -> bool {
        self.0 == kind::SYMLINK
    }
}

/// An open file of the host. Closed when dropped.
#[derive(Debug)]
pub struct File {
    handle: u64,
}

/// A [`File`] that the lanes of a wave opened together: see [`OpenOptions::open_wave`]. Closed when the lane that
/// opened it, the first of them, drops it.
#[derive(Debug)]
pub struct WaveFile {
    file: ManuallyDrop<File>,
    owner: bool,
}

impl core::ops::Deref for WaveFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for WaveFile {
    fn drop(&mut self) {
        if self.owner {
            // SAFETY: `self` is being dropped, so nobody uses `file` again.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// The most bytes that a single lane moves in one call.
fn slot_bytes() -> usize {
    // A host without staging slots answers with `TooLarge` whatever does not fit into a message.
    (descriptor().slot_bytes as usize).max(64)
}

/// The most bytes that each of the lanes converged here should ask for: together they fill one slot.
fn lane_bytes() -> usize {
    let count = Converged::here().count() as usize;
    ((slot_bytes() / count) & !15).max(16)
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn open(path: &str) -> Result<Self> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file for writing, created if need be and cut to length 0.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn create(path: &str) -> Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path)
    }

    /// How to open files.
    pub const fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Reads at the cursor, which all users of the file share, and moves it. May read less than `into` holds; 0 is the
    /// end.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn read(&self, into: &mut [u8]) -> Result<usize> {
        let len = into.len().min(lane_bytes());
        Ok(Files::read(self.handle, &mut into[..len])?? as usize)
    }

    /// Reads at the cursor until `into` is full.
    ///
    /// # Errors
    /// The error that the host returned; [`ErrorKind::UnexpectedEof`] if the file ends first.
    pub fn read_exact(&self, into: &mut [u8]) -> Result<()> {
        let mut at = 0;
        while at < into.len() {
            match self.read(&mut into[at..])? {
                0 => return Err(Error::from_kind(ErrorKind::UnexpectedEof)),
                n => at += n,
            }
        }
        Ok(())
    }

    /// Reads from the cursor to the end, behind what `into` holds. Returns how many bytes.
    ///
    /// # Errors
    /// The error that the host returned; [`ErrorKind::OutOfMemory`] if the device heap is too small.
    pub fn read_to_end(&self, into: &mut Vec<u8>) -> Result<usize> {
        let start = into.len();
        // One byte more, so that the end is seen without growing; files without a length say 0.
        let hint = self.metadata().map_or(0, |m| m.len()) as usize;
        into.try_reserve(hint.saturating_add(1)).map_err(|_| Error::from_kind(ErrorKind::OutOfMemory))?;
        loop {
            let at = into.len();
            if at == into.capacity() {
                into.try_reserve(at.max(256)).map_err(|_| Error::from_kind(ErrorKind::OutOfMemory))?;
            }
            let room = (into.capacity() - at).min(lane_bytes());
            into.resize(at + room, 0);
            let read = self.read(&mut into[at..]);
            into.truncate(at + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Ok(into.len() - start);
            }
        }
    }

    /// Reads from the cursor to the end, as UTF-8.
    ///
    /// # Errors
    /// As [`File::read_to_end`]; [`ErrorKind::InvalidData`] if it is not UTF-8.
    pub fn read_to_string(&self, into: &mut String) -> Result<usize> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        let text = core::str::from_utf8(&bytes).map_err(|_| Error::from_kind(ErrorKind::InvalidData))?;
        into.try_reserve(text.len()).map_err(|_| Error::from_kind(ErrorKind::OutOfMemory))?;
        into.push_str(text);
        Ok(text.len())
    }

    /// Reads at `offset` until `into` is full or the file ends. The cursor stays. Returns how many bytes.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        let mut at = 0;
        while at < into.len() {
            let len = (into.len() - at).min(lane_bytes());
            match Files::read_at(self.handle, offset + at as u64, &mut into[at..at + len])?? {
                0 => break,
                n => at += n as usize,
            }
        }
        Ok(at)
    }

    /// As [`File::read_at`], by all converged lanes together: each passes the *same* arguments, the host reads whole
    /// slots, and all lanes copy. All get the same result.
    ///
    /// # Errors
    /// The error that the host returned.
    #[track_caller]
    pub fn read_at_wave(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        let lanes = Converged::here();
        let mut at = 0;
        while at < into.len() {
            let len = (into.len() - at).min(slot_bytes());
            // The call before may have ended at different times for them, and only together do they share the copying.
            lanes.sync();
            match Files::read_at_together(self.handle, offset + at as u64, &mut into[at..at + len])?? {
                0 => break,
                n => at += n as usize,
            }
        }
        Ok(at)
    }

    /// Writes at the cursor (of an appending file: at the end), and moves it. May write less than there is.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn write(&self, from: &[u8]) -> Result<usize> {
        let len = from.len().min(lane_bytes());
        Ok(Files::write(self.handle, &from[..len])?? as usize)
    }

    /// Writes all of `from` at the cursor. What does not fit into one call may have other lanes' writes in between.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn write_all(&self, from: &[u8]) -> Result<()> {
        let mut at = 0;
        while at < from.len() {
            match self.write(&from[at..])? {
                0 => return Err(Error::from_kind(ErrorKind::WriteZero)),
                n => at += n,
            }
        }
        Ok(())
    }

    /// Writes all of `from` at `offset`. The cursor stays.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn write_at(&self, offset: u64, from: &[u8]) -> Result<()> {
        let mut at = 0;
        while at < from.len() {
            let len = (from.len() - at).min(lane_bytes());
            match Files::write_at(self.handle, offset + at as u64, &from[at..at + len])?? {
                0 => return Err(Error::from_kind(ErrorKind::WriteZero)),
                n => at += n as usize,
            }
        }
        Ok(())
    }

    /// As [`File::write_at`], by all converged lanes together, which pass the same arguments.
    ///
    /// # Errors
    /// The error that the host returned.
    #[track_caller]
    pub fn write_at_wave(&self, offset: u64, from: &[u8]) -> Result<()> {
        let lanes = Converged::here();
        let mut at = 0;
        while at < from.len() {
            let len = (from.len() - at).min(slot_bytes());
            // As in `read_at_wave`.
            lanes.sync();
            match Files::write_at_together(self.handle, offset + at as u64, &from[at..at + len])?? {
                0 => return Err(Error::from_kind(ErrorKind::WriteZero)),
                n => at += n as usize,
            }
        }
        Ok(())
    }

    /// Moves the cursor. Returns where it is then, from the start.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn seek(&self, to: SeekFrom) -> Result<u64> {
        let (whence, offset) = match to {
            SeekFrom::Start(n) => (0, i64::try_from(n).map_err(|_| Error::from_errno(errno::EINVAL))?),
            SeekFrom::Current(n) => (1, n),
            SeekFrom::End(n) => (2, n),
        };
        Ok(Files::seek(self.handle, whence, offset)??)
    }

    /// Cuts or lengthens the file.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn set_len(&self, len: u64) -> Result<()> {
        Ok(Files::set_len(self.handle, len)??)
    }

    /// Waits until everything written is on the host's disk.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn sync_all(&self) -> Result<()> {
        Ok(Files::sync(self.handle)??)
    }

    /// Metadata of the file.
    ///
    /// # Errors
    /// The error that the host returned.
    pub fn metadata(&self) -> Result<Metadata> {
        Ok(Metadata::new(Files::stat(self.handle)??))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Posted: nobody waits for it. If the host is gone, so is the file.
        let _ = Files::close(self.handle);
    }
}

impl core::fmt::Write for &File {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.write_all(text.as_bytes()).map_err(|_| core::fmt::Error)
    }
}

impl core::fmt::Write for File {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        (&*self).write_str(text)
    }
}

/// Reads a whole file.
///
/// # Errors
/// The error that the host returned; [`ErrorKind::OutOfMemory`] if the device heap is too small.
pub fn read(path: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file as UTF-8.
///
/// # Errors
/// As [`read`]; [`ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_to_string(path: &str) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::from_kind(ErrorKind::InvalidData))
}

/// Writes a whole file, created if need be.
///
/// # Errors
/// The error that the host returned.
pub fn write(path: &str, contents: impl AsRef<[u8]>) -> Result<()> {
    File::create(path)?.write_all(contents.as_ref())
}

/// Removes a file.
///
/// # Errors
/// The error that the host returned.
pub fn remove_file(path: &str) -> Result<()> {
    Ok(Files::remove_file(path.as_bytes())??)
}

/// Removes an empty directory.
///
/// # Errors
/// The error that the host returned.
pub fn remove_dir(path: &str) -> Result<()> {
    Ok(Files::remove_dir(path.as_bytes())??)
}

/// Renames a file or directory, over whatever has the new name.
///
/// # Errors
/// The error that the host returned; [`ErrorKind::CrossesDevices`] from one grant to another.
pub fn rename(from: &str, to: &str) -> Result<()> {
    Ok(Files::rename(from.as_bytes(), to.as_bytes())??)
}

/// Creates a directory.
///
/// # Errors
/// The error that the host returned.
pub fn create_dir(path: &str) -> Result<()> {
    Ok(Files::create_dir(path.as_bytes(), false)??)
}

/// Creates a directory and its parents; it may exist.
///
/// # Errors
/// The error that the host returned.
pub fn create_dir_all(path: &str) -> Result<()> {
    Ok(Files::create_dir(path.as_bytes(), true)??)
}

/// Metadata of the file or directory that `path` leads to.
///
/// # Errors
/// The error that the host returned.
pub fn metadata(path: &str) -> Result<Metadata> {
    Ok(Metadata::new(Files::stat_path(path.as_bytes(), true)??))
}

/// As [`metadata`], of a symbolic link itself.
///
/// # Errors
/// The error that the host returned.
pub fn symlink_metadata(path: &str) -> Result<Metadata> {
    Ok(Metadata::new(Files::stat_path(path.as_bytes(), false)??))
}

/// Whether `path` leads to something.
///
/// # Errors
/// The error that the host returned, except "not found".
pub fn exists(path: &str) -> Result<bool> {
    match metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

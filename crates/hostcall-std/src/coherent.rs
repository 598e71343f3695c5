//! What mappings of files have to do with everything else that is done with files.
//!
//! Whoever reads or writes a file asks here first. While no file is mapped that is one load, and a second one behind
//! what changes a file. [`mapping`](crate::mapping) sets what is to be done while one is; a program that maps none has
//! none of it.

use crate::error::Errno;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Where in a file something is read or written.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    At(u64),
    /// At the cursor, which moves.
    Cursor,
    /// At the end, wherever the cursor is.
    End,
}

/// Which file.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    Handle(u64),
    Path(&'a [u8]),
}

/// Moves bytes of a file: how many.
pub(crate) type Moving<'a> = &'a mut dyn FnMut() -> Result<isize, Errno>;

/// Mappings of files, some of which are there.
pub(crate) trait Mappings: Sync {
    /// Runs what reads a file, which then has what was stored in its mappings.
    fn read(&self, handle: u64, place: Place, len: usize, act: Moving<'_>) -> Result<isize, Errno>;
    /// Runs what writes `from` to a file, and has its mappings see it.
    fn write(&self, handle: u64, place: Place, from: &[u8], act: Moving<'_>) -> Result<isize, Errno>;
    /// Runs what changes a file otherwise. If only its length, `moves` is false.
    fn change(&self, which: Which<'_>, moves: bool, act: Moving<'_>) -> Result<isize, Errno>;
    /// Writes what was stored in the mappings of a file.
    fn flush(&self, handle: u64) -> Result<(), Errno>;
    /// Writes what was stored in all mappings: the process ends.
    fn end(&self);
}

/// Null while there are none.
static MAPPINGS: AtomicPtr<&'static dyn Mappings> = AtomicPtr::new(null_mut());

fn mappings() -> Option<&'static dyn Mappings> {
    // Acquire pairs with the release in `set`. Of the load behind a change: the host has made the change before whoever
    // calls knows that it has, so a mapping that is not seen here reads the file afterwards.
    let mappings = MAPPINGS.load(Ordering::Acquire);
    // SAFETY: null, or from a reference that lives as long as the program.
    unsafe { mappings.as_ref() }.copied()
}

/// Says that there are mappings, or that there are none any more.
pub(crate) fn set(mappings: Option<&'static &'static dyn Mappings>) {
    MAPPINGS.store(mappings.map_or(null_mut(), |mappings| core::ptr::from_ref(mappings).cast_mut()), Ordering::Release);
}

/// Reads up to `len` bytes of a file by `act`.
pub(crate) fn read(handle: u64, place: Place, len: usize, mut act: impl FnMut() -> Result<isize, Errno>) -> Result<isize, Errno> {
    match mappings() {
        None => act(),
        Some(mappings) => mappings.read(handle, place, len, &mut act),
    }
}

/// Writes `from` to a file by `act`.
pub(crate) fn write(handle: u64, place: Place, from: &[u8], mut act: impl FnMut() -> Result<isize, Errno>) -> Result<isize, Errno> {
    match mappings() {
        None => late(Which::Handle(handle), act()),
        Some(mappings) => mappings.write(handle, place, from, &mut act),
    }
}

/// Changes a file otherwise by `act`.
pub(crate) fn change(which: Which<'_>, moves: bool, mut act: impl FnMut() -> Result<isize, Errno>) -> Result<isize, Errno> {
    match mappings() {
        None => late(which, act()),
        Some(mappings) => mappings.change(which, moves, &mut act),
    }
}

/// A file was changed while there were no mappings. If there are some now, they may have been made meanwhile.
fn late(which: Which<'_>, done: Result<isize, Errno>) -> Result<isize, Errno> {
    if let Some(mappings) = mappings() {
        // The change is done, whatever comes of this.
        let _ = mappings.change(which, true, &mut || Ok(0));
    }
    done
}

/// Writes what was stored in the mappings of a file.
pub(crate) fn flush(handle: u64) -> Result<(), Errno> {
    mappings().map_or(Ok(()), |mappings| mappings.flush(handle))
}

/// Writes what was stored in all mappings.
pub(crate) fn end() {
    if let Some(mappings) = mappings() {
        mappings.end();
    }
}

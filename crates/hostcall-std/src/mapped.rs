//! Files in memory: shared mappings, and how they stay as their files are.
//!
//! A file that is mapped is read into an [`Image`]. A mapping that lies in one that is there gets that one's memory,
//! so that what is stored by either is in both at once. What the program writes to the file by a descriptor is put
//! into its images; what is stored in an image is written to the file before the program reads there by a descriptor,
//! and at `msync`, `fsync`, `munmap` and the end. What was stored is found by a comparison with what the file had, page
//! by page, and changed pages are written whole.
//!
//! Not held:
//! * Between two images of one file (of which neither lies in the other) it takes one of these calls for what is stored
//!   in one to be seen in the other.
//! * What other processes write is seen when it is mapped anew, and lost if they write to a page that is stored to.
//! * If a thread moves the cursor of a descriptor while another writes there, what is written may come to another place
//!   of the image than of the file.
//! * A `write` that has begun before the file's first mapping is overwritten by whoever stores to the same page and
//!   calls `msync` before that `write` has returned.
//!
//! All of it happens under one lock, calls to the host as well, in which nothing waits but for files' bytes. Files that
//! are not mapped are read and written outside of it.

use crate::abi::errno::{EACCES, EBADF, EIO, ENOMEM, EOPNOTSUPP};
use crate::arguments::most;
use crate::coherent::{self, Mappings, Moving, Place, Which};
use crate::error::{Errno, answered};
use crate::lock::Lock;
use crate::memory;
use crate::services::StdFiles;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use hostcall_abi::std_services::stat as field;
use hostcall_device::__runtime::Files;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// What files are told apart by: device and inode.
type File = [u64; 2];

/// What a file is mapped by.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) handle: u64,
    /// Whether the host appends what is written by it.
    pub(crate) appends: bool,
    pub(crate) offset: u64,
}

/// A part of a file in memory.
struct Image {
    file: File,
    /// Its handle is the image's own: the program may close its descriptor.
    source: Source,
    /// The address of its memory.
    at: usize,
    /// A multiple of [`PAGE`].
    len: usize,
    /// Where as much memory is as `at` has, with what the file had when it was read or last written; 0 if nobody may
    /// store to it.
    before: usize,
    /// The bytes of all mappings that are in it.
    mapped: usize,
}

static IMAGES: Lock<Vec<Image>> = Lock::new(Vec::new());
/// How many images may be stored to.
static WRITABLE: AtomicU32 = AtomicU32::new(0);
/// How many images there have been.
static MADE: AtomicU32 = AtomicU32::new(0);

struct All;
static ALL: &dyn Mappings = &All;

/// Memory with zeros.
pub(crate) fn zeroed(len: usize) -> Result<usize, Errno> {
    let block = memory::sys_alloc_zeroed(len, PAGE);
    if block.is_null() { Err(Errno(ENOMEM)) } else { Ok(block as usize) }
}

/// Gives memory back that was made by [`zeroed`].
///
/// # Safety
/// `at` and `len` are of one block, which nobody uses any more.
pub(crate) unsafe fn free(at: usize, len: usize) {
    // SAFETY: the caller's.
    unsafe { memory::sys_free(at as *mut u8, len, PAGE) };
}

fn no_access(error: Errno) -> Errno {
    if error == Errno(EBADF) { Errno(EACCES) } else { error }
}

/// Reads a file from `offset` on, as far as it goes: how far.
fn read_file(handle: u64, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < into.len() {
        let end = into.len().min(done + most());
        match answered(Files::read_at(handle, offset + done as u64, &mut into[done..end]))? as usize {
            0 => break,
            read => done += read.min(end - done),
        }
    }
    Ok(done)
}

fn write_file(handle: u64, offset: u64, from: &[u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < from.len() {
        let end = from.len().min(done + most());
        match answered(Files::write_at(handle, offset + done as u64, &from[done..end]))? as usize {
            0 => return Err(Errno(EIO)),
            written => done += written.min(end - done),
        }
    }
    Ok(())
}

/// Fills memory from a file that may have been stored to in its mappings.
pub(crate) fn fill(handle: u64, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
    coherent::read(handle, Place::At(offset), into.len(), || read_file(handle, offset, into).map(|read| read as isize))
        .map(drop)
        .map_err(no_access)
}

fn file_of(which: Which<'_>) -> Result<File, Errno> {
    let known = answered(match which {
        Which::Handle(handle) => StdFiles::stat(handle),
        Which::Path(path) => StdFiles::stat_path(path, true),
    })?;
    Ok([known[field::DEV], known[field::INO]])
}

fn size_of(handle: u64) -> Result<u64, Errno> {
    Ok(answered(StdFiles::stat(handle))?[field::SIZE])
}

/// Neighbouring pages of `now` that are not as in `before`, one run of them after another.
fn changed(now: &[u8], before: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (i, (now, before)) in now.chunks(PAGE).zip(before.chunks(PAGE)).enumerate() {
        if now == before {
            continue;
        }
        let (start, end) = (i * PAGE, i * PAGE + now.len());
        match runs.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => runs.push(start..end),
        }
    }
    runs
}

/// Takes over what a file has, but where something was stored that it has not yet.
fn merge(now: &mut [u8], before: &mut [u8], file: &[u8]) {
    for ((now, before), file) in now.iter_mut().zip(before).zip(file) {
        if file != before {
            if now == before {
                *now = *file;
            }
            *before = *file;
        }
    }
}

/// What of `len` bytes that begin at `offset` in a file its bytes from `from` on are, `count` of them.
fn part(offset: u64, len: usize, from: u64, count: usize) -> Range<usize> {
    let within = |at: u64| usize::try_from(at.saturating_sub(offset)).unwrap_or(len).min(len);
    within(from)..within(from.saturating_add(count as u64))
}

/// The pages that a part lies in.
fn pages_of(part: Range<usize>) -> Range<usize> {
    if part.is_empty() { part } else { part.start / PAGE * PAGE..part.end.next_multiple_of(PAGE) }
}

impl Image {
    /// What it has, and what the file had, of a part; the latter is empty if nobody may store to it.
    #[expect(clippy::mut_from_ref, reason = "the memory is not the image's own, but the program's")]
    fn bytes(&self, part: Range<usize>) -> (&mut [u8], &mut [u8]) {
        let before = if self.before == 0 { 0..0 } else { part.clone() };
        // SAFETY: within the image's memory, which stays while it does, and under the lock that images are in. What the
        // program stores meanwhile is seen now or at the next time, as on Linux.
        unsafe {
            (
                core::slice::from_raw_parts_mut((self.at + part.start) as *mut u8, part.len()),
                core::slice::from_raw_parts_mut((self.before + before.start).max(1) as *mut u8, before.len()),
            )
        }
    }

    /// Where in the file a part of it is.
    fn place(&self, at: usize) -> u64 {
        self.source.offset + at as u64
    }

    /// The file has `bytes` from `from` on, whatever was stored there.
    fn put(&self, from: u64, bytes: &[u8]) {
        let part = part(self.source.offset, self.len, from, bytes.len());
        if part.is_empty() {
            return;
        }
        let first = (self.place(part.start) - from) as usize;
        let bytes = &bytes[first..first + part.len()];
        let (now, before) = self.bytes(part);
        now.copy_from_slice(bytes);
        if !before.is_empty() {
            before.copy_from_slice(bytes);
        }
    }

    /// The file has `bytes` from `from` on, but where something else was stored.
    fn take(&self, from: u64, bytes: &[u8]) {
        if self.before == 0 {
            return self.put(from, bytes);
        }
        let part = part(self.source.offset, self.len, from, bytes.len());
        if !part.is_empty() {
            let first = (self.place(part.start) - from) as usize;
            let (now, before) = self.bytes(part);
            merge(now, before, &bytes[first..]);
        }
    }

    /// The file ends at `size`.
    fn cut(&self, size: u64) {
        let (now, before) = self.bytes(part(self.source.offset, self.len, size, self.len));
        now.fill(0);
        before.fill(0);
    }

    /// Reads a part again.
    fn read_again(&self, part: Range<usize>) -> Result<(), Errno> {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(most().max(PAGE)).map_err(|_| Errno(ENOMEM))?;
        buffer.resize(buffer.capacity(), 0);
        let mut at = part.start;
        while at < part.end {
            let wanted = buffer.len().min(part.end - at);
            let read = read_file(self.source.handle, self.place(at), &mut buffer[..wanted])?;
            self.take(self.place(at), &buffer[..read]);
            at += read;
            if read < wanted {
                self.cut(self.place(at));
                break;
            }
        }
        Ok(())
    }

    /// Lets the program store to it, by what it may be written with.
    fn allow(&mut self, source: Source) -> Result<(), Errno> {
        if self.before != 0 {
            return Ok(());
        }
        if source.appends {
            // Linux would write what is stored at its place; the host has only a way to append.
            return Err(Errno(EOPNOTSUPP));
        }
        // Nothing is written: it is asked whether something may be.
        answered(Files::write_at(source.handle, 0, &[])).map_err(no_access)?;
        let before = zeroed(self.len)?;
        if source.handle != self.source.handle {
            match answered(StdFiles::duplicate(source.handle)) {
                Ok(handle) => {
                    let _ = Files::close(self.source.handle);
                    (self.source.handle, self.source.appends) = (handle, false);
                }
                Err(error) => {
                    // SAFETY: nobody has been given it.
                    unsafe { free(before, self.len) };
                    return Err(error);
                }
            }
        }
        self.before = before;
        let (now, before) = self.bytes(0..self.len);
        before.copy_from_slice(now);
        // Relaxed: who stores to it has come from here.
        WRITABLE.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Gives its memory and its handle back.
    ///
    /// # Safety
    /// Nobody uses its memory any more.
    unsafe fn end(self) {
        let _ = Files::close(self.source.handle);
        if self.before != 0 {
            WRITABLE.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: the image's own.
            unsafe { free(self.before, self.len) };
        }
        // SAFETY: the caller's.
        unsafe { free(self.at, self.len) };
    }
}

/// Writes what was stored in a part of an image; the file's other images see it.
fn flush(images: &[Image], of: usize, part: Range<usize>) -> Result<(), Errno> {
    let Some(image) = images.get(of).filter(|image| image.before != 0 && !part.is_empty()) else { return Ok(()) };
    let part = pages_of(part);
    let (now, before) = image.bytes(part.clone());
    let runs = changed(now, before);
    if runs.is_empty() {
        return Ok(());
    }
    let inside = usize::try_from(size_of(image.source.handle)?.saturating_sub(image.place(part.start))).unwrap_or(usize::MAX);
    for run in runs {
        let run = run.start.min(inside)..run.end.min(inside);
        let place = image.place(part.start + run.start);
        let written = &mut before[run.clone()];
        written.copy_from_slice(&now[run]);
        if let Err(error) = write_file(image.source.handle, place, written) {
            // It is still to be written.
            written.iter_mut().for_each(|byte| *byte = !*byte);
            return Err(error);
        }
        let others = images.iter().enumerate().filter(|(i, other)| *i != of && other.file == image.file);
        others.for_each(|(_, other)| other.take(place, written));
    }
    Ok(())
}

/// Writes what was stored in the images of a file within `count` bytes from `from` on. The last error, if any.
fn flush_file(images: &[Image], file: File, from: u64, count: usize) -> Result<(), Errno> {
    let all = images.iter().enumerate().filter(|(_, image)| image.file == file);
    all.map(|(i, image)| flush(images, i, part(image.source.offset, image.len, from, count))).fold(Ok(()), Result::and)
}

/// Runs what reads or changes a file: by `mapped`, under the lock, if it is mapped in a way that counts.
fn with_file(
    which: Which<'_>,
    counts: impl Fn(&Image) -> bool,
    act: Moving<'_>,
    mapped: impl FnOnce(&[Image], File, Moving<'_>) -> Result<isize, Errno>,
) -> Result<isize, Errno> {
    // What cannot be asked is no file, and the call will say so.
    let Ok(file) = file_of(which) else { return act() };
    let done = IMAGES.with(|images| {
        let counts = images.iter().any(|image| image.file == file && counts(image));
        counts.then(|| mapped(images, file, &mut *act))
    });
    match done {
        Some(Some(done)) => done,
        _ => act(),
    }
}

impl Mappings for All {
    fn read(&self, handle: u64, place: Place, len: usize, act: Moving<'_>) -> Result<isize, Errno> {
        // Relaxed: whoever reads what another thread stored has been told by that thread.
        if WRITABLE.load(Ordering::Relaxed) == 0 {
            return act();
        }
        with_file(
            Which::Handle(handle),
            |image| image.before != 0,
            act,
            |images, file, act| {
                let from = match place {
                    Place::At(at) => at,
                    Place::Cursor | Place::End => answered(Files::seek(handle, 1, 0))?,
                };
                // An error of writing is `msync`'s to tell.
                let _ = flush_file(images, file, from, len);
                act()
            },
        )
    }

    fn write(&self, handle: u64, place: Place, from: &[u8], act: Moving<'_>) -> Result<isize, Errno> {
        let made = MADE.load(Ordering::Acquire);
        let mut mapped = false;
        let done = with_file(
            Which::Handle(handle),
            |_| true,
            act,
            |images, file, act| {
                mapped = true;
                let written = act()?;
                let end = match place {
                    Place::At(at) => at.saturating_add(written as u64),
                    Place::Cursor => answered(Files::seek(handle, 1, 0))?,
                    Place::End => size_of(handle)?,
                };
                let bytes = from.get(..written as usize).unwrap_or_default();
                let begin = end.saturating_sub(written as u64);
                images.iter().filter(|image| image.file == file).for_each(|image| image.put(begin, bytes));
                Ok(written)
            },
        );
        // Acquire pairs with the release in `share`, as in `coherent::mappings`.
        if !mapped && MADE.load(Ordering::Acquire) != made {
            self.change(Which::Handle(handle), true, &mut || Ok(0))?;
        }
        done
    }

    fn change(&self, which: Which<'_>, moves: bool, act: Moving<'_>) -> Result<isize, Errno> {
        let made = MADE.load(Ordering::Acquire);
        let mut mapped = false;
        let done = with_file(
            which,
            |_| true,
            act,
            |images, file, act| {
                mapped = true;
                let _ = flush_file(images, file, 0, usize::MAX);
                let done = act()?;
                for image in images.iter().filter(|image| image.file == file) {
                    image.cut(size_of(image.source.handle)?);
                    if moves {
                        image.read_again(0..image.len)?;
                    }
                }
                Ok(done)
            },
        );
        if !mapped && MADE.load(Ordering::Acquire) != made {
            self.change(which, true, &mut || Ok(0))?;
        }
        done
    }

    fn flush(&self, handle: u64) -> Result<(), Errno> {
        let mut nothing = || Ok(0);
        with_file(
            Which::Handle(handle),
            |image| image.before != 0,
            &mut nothing,
            |images, file, _| flush_file(images, file, 0, usize::MAX).map(|()| 0),
        )
        .map(drop)
    }

    fn end(&self) {
        IMAGES.with(|images| (0..images.len()).for_each(|i| _ = flush(images, i, 0..images[i].len)));
    }
}

/// Maps a part of a file: the address of its bytes. `len` is a multiple of [`PAGE`].
pub(crate) fn share(source: Source, len: usize, writable: bool) -> Result<usize, Errno> {
    // Nothing is read: it is asked whether something may be.
    answered(Files::read_at(source.handle, 0, &mut [])).map_err(no_access)?;
    let file = file_of(Which::Handle(source.handle))?;
    let end = source.offset.checked_add(len as u64).ok_or(Errno(ENOMEM))?;
    let shared = IMAGES.with(|images| {
        let found =
            images.iter_mut().find(|image| image.file == file && image.source.offset <= source.offset && end <= image.place(image.len));
        if let Some(image) = found {
            if writable {
                image.allow(source)?;
            }
            let start = (source.offset - image.source.offset) as usize;
            image.read_again(start..start + len)?;
            image.mapped += len;
            return Ok(image.at + start);
        }
        let _ = flush_file(images, file, source.offset, len);
        images.try_reserve(1).map_err(|_| Errno(ENOMEM))?;
        let at = zeroed(len)?;
        let handle = answered(StdFiles::duplicate(source.handle)).inspect_err(|_| {
            // SAFETY: nobody has been given it.
            unsafe { free(at, len) };
        })?;
        let mut image = Image { file, source: Source { handle, ..source }, at, len, before: 0, mapped: len };
        // Before it is read: who writes the file meanwhile looks once more afterwards, and waits for the lock. Release
        // pairs with the acquires in `write` and `change`.
        MADE.fetch_add(1, Ordering::Release);
        coherent::set(Some(&ALL));
        let filled = read_file(handle, source.offset, image.bytes(0..len).0);
        let source = image.source;
        match filled.map(drop).map_err(no_access).and_then(|()| if writable { image.allow(source) } else { Ok(()) }) {
            Ok(()) => images.push(image),
            Err(error) => {
                // SAFETY: nobody has been given it.
                unsafe { image.end() };
                set_or_not(images);
                return Err(error);
            }
        }
        Ok(at)
    });
    shared.unwrap_or(Err(Errno(ENOMEM)))
}

/// Mappings are of no concern once there are none.
fn set_or_not(images: &[Image]) {
    if images.is_empty() {
        coherent::set(None);
    }
}

/// Which image an address is in.
fn position(images: &[Image], at: usize) -> Option<usize> {
    images.iter().position(|image| image.at <= at && at < image.at + image.len)
}

/// What of an image is the range that begins there.
fn range(image: &Image, at: usize, len: usize) -> Range<usize> {
    let start = at - image.at;
    start..image.len.min(start.saturating_add(len))
}

/// What a shared mapping of a file is of, and whether it may be stored to.
pub(crate) fn source(at: usize) -> Option<(Source, bool)> {
    IMAGES.with(|images| {
        let image = images.get(position(images, at)?)?;
        Some((Source { offset: image.place(at - image.at), ..image.source }, image.before != 0))
    })?
}

/// Lets the program store to a shared mapping of a file; nothing if there is none at that address.
pub(crate) fn allow(at: usize) -> Option<Result<(), Errno>> {
    IMAGES.with(|images| {
        let of = position(images, at)?;
        let image = images.get_mut(of)?;
        Some(image.allow(image.source))
    })?
}

/// Writes what was stored in a shared mapping of a file; nothing if there is none at that address.
pub(crate) fn sync(at: usize, len: usize) -> Option<Result<(), Errno>> {
    IMAGES.with(|images| {
        let of = position(images, at)?;
        Some(flush(images, of, range(&images[of], at, len)))
    })?
}

/// Ends a shared mapping of a file, or a part of it; nothing if there is none at that address.
///
/// # Safety
/// Nobody uses that memory any more by that mapping.
pub(crate) unsafe fn unmap(at: usize, len: usize) -> Option<()> {
    IMAGES.with(|images| {
        let of = position(images, at)?;
        let part = range(&images[of], at, len);
        // An error is told nobody, as on Linux.
        let _ = flush(images, of, part.clone());
        let image = &mut images[of];
        image.mapped = image.mapped.saturating_sub(part.len());
        if image.mapped == 0 {
            // SAFETY: the caller's: all mappings that were in it have been given back.
            unsafe { images.swap_remove(of).end() };
            set_or_not(images);
        }
        Some(())
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_changed_are_written_in_runs() {
        let before = vec![0u8; 5 * PAGE + 10];
        let mut now = before.clone();
        assert!(changed(&now, &before).is_empty());
        (now[PAGE], now[2 * PAGE + 5], now[5 * PAGE + 9]) = (1, 1, 1);
        assert_eq!(changed(&now, &before), [PAGE..3 * PAGE, 5 * PAGE..5 * PAGE + 10]);
    }

    #[test]
    fn what_a_file_has_comes_where_nothing_was_stored() {
        let (mut now, mut before) = (*b"aXcd", *b"abcd");
        merge(&mut now, &mut before, b"ABcD");
        assert_eq!((&now, &before), (b"AXcD", b"ABcD"));
    }

    #[test]
    fn a_part_of_a_file_is_found_in_an_image_of_another_part() {
        const AT: u64 = 2 * PAGE as u64;
        assert_eq!(part(AT, PAGE, 0, 10), 0..0);
        assert_eq!(part(AT, PAGE, AT - 5, 10), 0..5);
        assert_eq!(part(AT, PAGE, AT + 5, 10), 5..15);
        assert_eq!(part(AT, PAGE, AT + PAGE as u64 - 5, 10), PAGE - 5..PAGE);
        assert_eq!(part(AT, PAGE, u64::MAX, usize::MAX), PAGE..PAGE);
        assert_eq!(part(AT, PAGE, 0, usize::MAX), 0..PAGE);
        assert_eq!(pages_of(5..PAGE + 1), 0..2 * PAGE);
        assert_eq!(pages_of(7..7), 7..7);
    }
}

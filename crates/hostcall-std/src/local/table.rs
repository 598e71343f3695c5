//! File descriptors: small numbers for handles of the host, and for objects of the device.
//!
//! An entry is one word, so looking a descriptor up is one load, however many lanes do so. Of a handle of the host it
//! is the handle, of which two bits that handles leave free say what it stands for. Of an object of the device it is
//! the object's reference ([`slots`]), and those bits are 0. Words below 2³² are marks: free, a standard stream, a
//! standard stream that was closed.
//!
//! Duplicates of a descriptor for an object share a reference. Duplicates of one for a handle have handles of their
//! own, which the host keeps for the same open file.
//!
//! Closing a descriptor while others use it is safe: an object stays until they are done, and a handle that is closed
//! is refused by the host.

use super::machine;
use super::numbering::{NUMBERS, Numbering};
use super::object::Object;
use super::slots::{self, Held};
use super::spin::Spin;
use crate::abi::errno::{EBADF, EBUSY, EINVAL, EMFILE};
use crate::abi::{O_ACCMODE, O_APPEND, O_CLOEXEC, O_NONBLOCK};
use crate::error::Errno;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard input.
    Input,
    /// Standard output (1) or standard error (2).
    Output(u32),
    /// A file of the host.
    File(u64),
    /// A directory of the host.
    Dir(u64),
    /// A socket of the host.
    Socket(u64),
    /// An object of the device, by its reference.
    Object(u64),
}

/// The standard streams.
const STREAMS: usize = 3;

/// Free; of a standard stream: as it was at the start.
const FREE: u64 = 0;
/// Standard input; one and two more are standard output and standard error.
const INPUT: u64 = 1;
/// A standard stream that was closed, or a number for which something is being opened.
const NONE: u64 = 4;

const KIND_SHIFT: u32 = 30;
const KIND_MASK: u64 = 3 << KIND_SHIFT;

static ENTRIES: [AtomicU64; NUMBERS] = [const { AtomicU64::new(FREE) }; NUMBERS];
/// `O_CLOEXEC`, and of handles of the host what they were opened with and may be asked for.
static FLAGS: [AtomicI32; NUMBERS] = [const { AtomicI32::new(0) }; NUMBERS];
static NUMBERING: Numbering = Numbering::new(STREAMS as u32);
/// The paths of directories, for what is named by where it is in them.
static PATHS: Spin<Vec<(i32, Box<[u8]>)>> = Spin::new(Vec::new());

/// Flags that belong to a descriptor here.
const KEPT: i32 = O_CLOEXEC | O_ACCMODE | O_APPEND | O_NONBLOCK | WAITS | LOCKED;
/// One more, of a bit that C has no flag for: a FIFO or a device of the host, for which calls may have to wait.
pub(crate) const WAITS: i32 = 1 << 28;
/// As [`WAITS`]: it has been locked, so that closing it gives a lock back.
pub(crate) const LOCKED: i32 = 1 << 29;

fn pack(target: Target) -> Option<u64> {
    let (kind, handle) = match target {
        Target::File(handle) => (1, handle),
        Target::Dir(handle) => (2, handle),
        Target::Socket(handle) => (3, handle),
        Target::Object(reference) => (0, reference),
        Target::Input => return Some(INPUT),
        Target::Output(stream) => return Some(INPUT + u64::from(stream)),
    };
    (handle & KIND_MASK == 0 && handle >> 32 != 0).then_some(handle | kind << KIND_SHIFT)
}

fn unpack(fd: usize, entry: u64) -> Option<Target> {
    let handle = entry & !KIND_MASK;
    match (entry & KIND_MASK) >> KIND_SHIFT {
        1 => Some(Target::File(handle)),
        2 => Some(Target::Dir(handle)),
        3 => Some(Target::Socket(handle)),
        _ if entry >> 32 != 0 => Some(Target::Object(entry)),
        _ => {
            let stream = if entry == FREE && fd < STREAMS { INPUT + fd as u64 } else { entry };
            match stream {
                INPUT => Some(Target::Input),
                2 | 3 => Some(Target::Output((stream - INPUT) as u32)),
                _ => None,
            }
        }
    }
}

fn entry(fd: i32) -> Result<(usize, &'static AtomicU64), Errno> {
    let number = usize::try_from(fd).map_err(|_| Errno(EBADF))?;
    Ok((number, ENTRIES.get(number).ok_or(Errno(EBADF))?))
}

/// Gives back what an entry stood for, or was to stand for.
pub(crate) fn give_back(target: Target) -> Result<(), Errno> {
    match target {
        Target::File(handle) | Target::Dir(handle) | Target::Socket(handle) => machine::close(handle),
        Target::Object(reference) => {
            slots::release(reference);
            Ok(())
        }
        Target::Input | Target::Output(_) => Ok(()),
    }
}

fn number_from(least: i32) -> Result<usize, Errno> {
    let least = usize::try_from(least).ok().filter(|least| *least < NUMBERS).ok_or(Errno(EINVAL))?;
    NUMBERING.take(least).ok_or(Errno(EMFILE))
}

/// A descriptor from `least` on for something that was opened. If there is none left, it is closed again.
pub(crate) fn open_from(least: i32, target: Target, flags: i32) -> Result<i32, Errno> {
    let word = pack(target).ok_or(Errno(EINVAL))?;
    let number = match number_from(least) {
        Ok(number) => number,
        Err(error) => {
            // Nobody could do anything about it.
            let _ = give_back(target);
            return Err(error);
        }
    };
    FLAGS[number].store(flags & KEPT, Ordering::Relaxed);
    // Release pairs with the acquire in `target`: the flags, and what was opened.
    ENTRIES[number].store(word, Ordering::Release);
    Ok(number as i32)
}

/// The lowest free descriptor for something that was opened, with `O_CLOEXEC` and what else of `flags` belongs to it.
pub(crate) fn open(target: Target, flags: i32) -> Result<i32, Errno> {
    open_from(0, target, flags)
}

/// A descriptor for an object of the device.
pub(crate) fn open_object(object: Object, flags: i32) -> Result<i32, Errno> {
    let reference = slots::insert(object, flags & (O_ACCMODE | O_APPEND | O_NONBLOCK))?;
    open(Target::Object(reference), flags)
}

/// Two descriptors for two objects, or none.
pub(crate) fn open_two(objects: [Object; 2], flags: [i32; 2]) -> Result<[i32; 2], Errno> {
    let [first, second] = objects;
    let first = open_object(first, flags[0])?;
    match open_object(second, flags[1]) {
        Ok(second) => Ok([first, second]),
        Err(error) => {
            let _ = close(first);
            Err(error)
        }
    }
}

/// What a descriptor stands for.
pub(crate) fn target(fd: i32) -> Result<Target, Errno> {
    let (number, entry) = entry(fd)?;
    // Acquire pairs with the release in `open_from`: a descriptor may come from another thread.
    unpack(number, entry.load(Ordering::Acquire)).ok_or(Errno(EBADF))
}

/// The open object of a reference.
pub(crate) fn held(reference: u64) -> Result<Held, Errno> {
    slots::get(reference).ok_or(Errno(EBADF))
}

/// Closes a descriptor.
pub(crate) fn close(fd: i32) -> Result<(), Errno> {
    let (number, entry) = entry(fd)?;
    let mark = if number < STREAMS { NONE } else { FREE };
    // Acquire and release: between whoever opened it and whoever opens the next in its place.
    let old = entry.swap(mark, Ordering::AcqRel);
    let Some(target) = unpack(number, old) else {
        // Not this lane's to say what it is.
        let _ = entry.compare_exchange(mark, old, Ordering::AcqRel, Ordering::Relaxed);
        return Err(Errno(EBADF));
    };
    forget_path(fd, target);
    NUMBERING.give_back(number);
    give_back(target)
}

fn another(target: Target) -> Result<Target, Errno> {
    Ok(match target {
        Target::File(handle) => Target::File(machine::duplicate(handle)?),
        Target::Dir(handle) => Target::Dir(machine::duplicate(handle)?),
        Target::Socket(handle) => Target::Socket(machine::duplicate(handle)?),
        Target::Object(reference) if slots::share(reference) => target,
        Target::Object(_) => return Err(Errno(EBADF)),
        Target::Input | Target::Output(_) => target,
    })
}

fn copy_path(from: i32, to: i32, target: Target) {
    if let (Target::Dir(_), Some(path)) = (target, path(from)) {
        set_path(to, &path);
    }
}

/// Another descriptor, from `least` on, for the same thing; `flags` may be `O_CLOEXEC`.
pub(crate) fn duplicate(fd: i32, least: i32, flags: i32) -> Result<i32, Errno> {
    let old = target(fd)?;
    if usize::try_from(least).is_ok_and(|least| least >= NUMBERS) || least < 0 {
        return Err(Errno(EINVAL));
    }
    let new = open_from(least, another(old)?, flags & O_CLOEXEC | own_flags(fd) & !O_CLOEXEC)?;
    copy_path(fd, new, old);
    Ok(new)
}

/// Makes `to` another descriptor for what `from` stands for, and closes what it stood for before; `flags` may be
/// `O_CLOEXEC`.
pub(crate) fn duplicate_to(from: i32, to: i32, flags: i32) -> Result<i32, Errno> {
    let old = target(from)?;
    let (number, entry) = entry(to)?;
    if from == to {
        return Ok(to);
    }
    let word = pack(another(old)?).ok_or(Errno(EINVAL))?;
    if !NUMBERING.claim(number) && target(to).is_err() {
        // Another thread is opening or closing something there.
        if let Some(new) = unpack(number, word) {
            let _ = give_back(new);
        }
        return Err(Errno(EBUSY));
    }
    FLAGS[number].store(flags & O_CLOEXEC | own_flags(from) & !O_CLOEXEC, Ordering::Relaxed);
    let before = unpack(number, entry.swap(word, Ordering::AcqRel));
    match before {
        Some(before) => {
            forget_path(to, before);
            // An error of closing what was there is told nobody, as on Linux.
            let _ = give_back(before);
        }
        // It was claimed above, or another thread has closed it meanwhile and given the number back.
        None => _ = NUMBERING.claim(number),
    }
    copy_path(from, to, old);
    Ok(to)
}

/// `O_CLOEXEC` and what a handle of the host was opened with.
pub(crate) fn own_flags(fd: i32) -> i32 {
    entry(fd).map_or(0, |(number, _)| FLAGS[number].load(Ordering::Relaxed))
}

/// Sets the bits `mask` of a descriptor's own flags.
pub(crate) fn set_own_flags(fd: i32, mask: i32, bits: i32) {
    if let Ok((number, _)) = entry(fd) {
        let _ = FLAGS[number].fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| Some(old & !mask | bits & mask & KEPT));
    }
}

/// The status of the open file: access mode, `O_NONBLOCK`, `O_APPEND`. Whether calls on a socket of the host wait, the
/// host knows.
pub(crate) fn status(fd: i32) -> Result<i32, Errno> {
    Ok(match target(fd)? {
        Target::Object(reference) => held(reference)?.status(),
        Target::Input => crate::abi::O_RDONLY,
        Target::Output(_) => crate::abi::O_WRONLY,
        Target::Socket(_) => crate::abi::O_RDWR,
        Target::File(_) | Target::Dir(_) => own_flags(fd) & !(O_CLOEXEC | WAITS | LOCKED),
    })
}

/// Remembers the path of a directory, by which what is in it can be named.
pub(crate) fn set_path(fd: i32, path: &[u8]) {
    let path: Box<[u8]> = path.into();
    let old = PATHS.with(|paths| match paths.iter_mut().find(|(of, _)| *of == fd) {
        Some((_, old)) => Some(core::mem::replace(old, path)),
        None => {
            paths.push((fd, path));
            None
        }
    });
    drop(old);
}

/// The path of a directory, as it was opened.
pub(crate) fn path(fd: i32) -> Option<Vec<u8>> {
    PATHS.with(|paths| paths.iter().find(|(of, _)| *of == fd).map(|(_, path)| path.to_vec()))
}

fn forget_path(fd: i32, target: Target) {
    if let Target::Dir(_) = target {
        let old = PATHS.with(|paths| paths.iter().position(|(of, _)| *of == fd).map(|at| paths.swap_remove(at)));
        drop(old);
    }
}

#[cfg(test)]
mod tests {
    use super::super::counter::Counter;
    use super::super::pipe::Pipe;
    use super::*;
    use crate::abi::errno::EAGAIN;
    use alloc::sync::Arc;
    use std::sync::Mutex;

    /// The tests share the process's one table.
    static ALONE: Mutex<()> = Mutex::new(());

    fn alone() -> std::sync::MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn counter(fd: i32) -> Held {
        let Ok(Target::Object(reference)) = target(fd) else { panic!("{fd}") };
        held(reference).unwrap()
    }

    #[test]
    fn an_entry_says_what_it_stands_for() {
        let handle = u64::from(u32::MAX) << 32 | 0x3fff_ffff;
        for target in [Target::File(1 << 32), Target::Dir(7 << 32 | 5), Target::Socket(handle), Target::Object(1 << 32 | 9), Target::Input]
        {
            assert_eq!(unpack(3, pack(target).unwrap()), Some(target));
        }
        assert_eq!((unpack(3, FREE), unpack(2, NONE), unpack(9, NONE)), (None, None, None));
        assert_eq!([0, 1, 2].map(|fd| unpack(fd, FREE)), [Some(Target::Input), Some(Target::Output(1)), Some(Target::Output(2))]);
        for hostile in [0, 1 << 30, 1 << 31, u64::MAX, 5] {
            assert_eq!(pack(Target::File(hostile)), None, "{hostile:#x}");
        }
    }

    #[test]
    fn descriptors_out_of_range_are_refused() {
        for fd in [-1, i32::MIN, 60_000, NUMBERS as i32, i32::MAX] {
            assert_eq!((target(fd), close(fd)), (Err(Errno(EBADF)), Err(Errno(EBADF))), "{fd}");
            assert_eq!((duplicate(fd, 0, 0), duplicate_to(fd, 5, 0)), (Err(Errno(EBADF)), Err(Errno(EBADF))), "{fd}");
        }
        assert_eq!((duplicate(0, -1, 0), duplicate(0, NUMBERS as i32, 0)), (Err(Errno(EINVAL)), Err(Errno(EINVAL))));
        assert_eq!(duplicate_to(0, NUMBERS as i32, 0), Err(Errno(EBADF)));
    }

    #[test]
    fn duplicates_share_an_object_and_its_status_but_not_the_flag_of_the_descriptor() {
        let _alone = alone();
        let fd = open_object(Object::Counter(Counter::new(5, false)), O_CLOEXEC).unwrap();
        let other = duplicate(fd, 100, 0).unwrap();
        assert!(other >= 100);
        counter(fd).set_status(O_NONBLOCK, O_NONBLOCK);
        assert_eq!((status(other), own_flags(fd), own_flags(other)), (Ok(O_NONBLOCK), O_CLOEXEC, 0));
        close(fd).unwrap();
        assert_eq!((target(fd), close(fd)), (Err(Errno(EBADF)), Err(Errno(EBADF))));
        assert_eq!(counter(other).read(&mut [0; 8]), Ok(8), "the object is still open");
        close(other).unwrap();
    }

    #[test]
    fn a_standard_stream_is_closed_replaced_and_brought_back() {
        let _alone = alone();
        let saved = duplicate(1, 10, 0).unwrap();
        assert_eq!(target(saved), Ok(Target::Output(1)));
        let fd = open_object(Object::Counter(Counter::new(0, false)), 0).unwrap();
        assert_eq!((duplicate_to(fd, 1, 0), close(fd)), (Ok(1), Ok(())));
        assert!(matches!(target(1), Ok(Target::Object(_))));
        assert_eq!(close(1), Ok(()));
        assert_eq!((target(1), close(1)), (Err(Errno(EBADF)), Err(Errno(EBADF))));
        assert_eq!(open_object(Object::Counter(Counter::new(0, false)), 0), Ok(1), "it is the lowest that is free");
        assert_eq!((duplicate_to(saved, 1, 0), target(1)), (Ok(1), Ok(Target::Output(1))));
        close(saved).unwrap();
        assert_eq!([0, 1, 2].map(|fd| target(fd).is_ok()), [true; 3]);
    }

    #[test]
    fn handles_are_duplicated_and_closed_on_the_host() {
        let _alone = alone();
        let handle = machine::handle(0);
        let fd = open(Target::Dir(handle), O_CLOEXEC).unwrap();
        set_path(fd, b"some/where");
        let other = duplicate(fd, 0, 0).unwrap();
        let Ok(Target::Dir(second)) = target(other) else { panic!("{:?}", target(other)) };
        assert!(second != handle && path(other).as_deref() == Some(b"some/where"));
        close(fd).unwrap();
        assert!(!machine::is_open(handle) && machine::is_open(second) && path(fd).is_none());
        assert_eq!(duplicate_to(0, other, 0), Ok(other));
        assert!(!machine::is_open(second) && path(other).is_none());
        close(other).unwrap();
    }

    #[test]
    fn closing_the_last_descriptor_of_an_end_is_seen_at_the_other() {
        let _alone = alone();
        let pipe = Arc::new(Pipe::new());
        let [from, to] = open_two([Object::PipeReader(pipe.clone()), Object::PipeWriter(pipe)], [0, 1]).unwrap();
        let second = duplicate(to, 0, 0).unwrap();
        close(to).unwrap();
        assert_eq!(counter(from).read(&mut [0]), Err(Errno(EAGAIN)));
        close(second).unwrap();
        assert_eq!(counter(from).read(&mut [0]), Ok(0));
        close(from).unwrap();
    }

    #[test]
    fn closing_while_others_use_it_is_safe() {
        let _alone = alone();
        for _ in 0..500 {
            let fd = open_object(Object::Counter(Counter::new(0, false)), 0).unwrap();
            let users: Vec<_> = (0..2)
                .map(|_| {
                    std::thread::spawn(move || {
                        let mut done = 0;
                        while let Ok(Target::Object(reference)) = target(fd)
                            && let Ok(held) = held(reference)
                        {
                            held.write(&[1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
                            done += 1;
                        }
                        done
                    })
                })
                .collect();
            std::thread::yield_now();
            close(fd).unwrap();
            users.into_iter().for_each(|user| _ = user.join().unwrap());
        }
    }
}

//! What files hold, without its way over the device: copies on the host, room on the disk, and what is safely there.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::super::context::{Context, answer};
use super::super::errno::Fault;
use super::super::opening::mode_of;
use super::super::table::{FileTable, Open, OpenFile};
use super::super::{define, errno};
use crate::service::{Failure, Service};

/// The most bytes of one call that copies: it holds a thread of the blocking pool meanwhile, and cannot be ended.
const COPIED: u64 = 64 << 20;
/// Bytes that are copied at a time where the system does not copy by itself.
const PIECE: usize = 128 << 10;

/// A place in a file, or its cursor.
fn offset(offset: i64) -> Result<Option<u64>, Fault> {
    match offset {
        -1 => Ok(None),
        at => u64::try_from(at).map(Some).map_err(|_| errno::EINVAL.into()),
    }
}

/// Reads and writes, where the system does not copy by itself: at most as much as is asked for, at most once.
fn by_hand(from: &File, from_at: Option<u64>, to: &File, to_at: Option<u64>, len: u64) -> Result<u64, Fault> {
    let mut piece = vec![0; PIECE.min(usize::try_from(len).unwrap_or(PIECE))];
    let read = match from_at {
        Some(at) => from.read_at(&mut piece, at)?,
        None => (&*from).read(&mut piece)?,
    };
    let mut rest = &piece[..read];
    let mut written = 0;
    while !rest.is_empty() {
        let more = match to_at {
            Some(at) => to.write_at(rest, at + written),
            None => (&*to).write(rest),
        };
        match more {
            Ok(0) => break,
            Ok(more) => {
                written += more as u64;
                rest = &rest[more..];
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // What was read by the cursor and not written is lost, unless it is a file, where the cursor goes back.
            Err(error) if written == 0 => {
                give_back(from, from_at, rest.len());
                return Err(error.into());
            }
            Err(_) => break,
        }
    }
    give_back(from, from_at, rest.len());
    Ok(written)
}

/// Moves a cursor back to what was read and not used.
fn give_back(from: &File, at: Option<u64>, unused: usize) {
    if at.is_none() && unused > 0 {
        // A pipe has no places to go back to.
        let _ = std::io::Seek::seek(&mut &*from, std::io::SeekFrom::Current(-(unused as i64)));
    }
}

fn copy(from: &OpenFile, from_at: i64, to: &OpenFile, to_at: i64, len: u64) -> Result<u64, Fault> {
    if !from.readable || !to.writable {
        return Err(errno::EBADF.into());
    }
    let (from_at, to_at) = (offset(from_at)?, offset(to_at)?);
    let len = len.min(COPIED);
    // The system's limit of a place in a file, which the sums below keep to.
    if [from_at, to_at].into_iter().flatten().any(|at| i64::try_from(at + len).is_err()) {
        return Err(errno::EINVAL.into());
    }
    let (mut at, mut into) = (from_at, to_at);
    let by_system = || rustix::fs::copy_file_range(&from.file, at.as_mut(), &to.file, into.as_mut(), len as usize);
    match to.writing(|| rustix::io::retry_on_intr(by_system)) {
        Ok(copied) if copied > 0 || len == 0 => return Ok(copied as u64),
        // Files of `/proc` say that they are empty, and are not.
        Ok(_) => {}
        Err(Errno::XDEV | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        // Of FIFOs and devices it says this as well.
        Err(Errno::INVAL) if !regular(&from.file)? || !regular(&to.file)? => {}
        Err(error) => return Err(error.into()),
    }
    to.writing(|| by_hand(&from.file, from_at, &to.file, to_at, len))
}

fn regular(file: &File) -> Result<bool, Fault> {
    Ok(mode_of(file)? & libc::S_IFMT == libc::S_IFREG)
}

fn allocate(file: &OpenFile, mode: u32, at: u64, len: u64) -> Result<(), Fault> {
    if !file.writable {
        return Err(errno::EBADF.into());
    }
    let mode = FallocateFlags::from_bits(mode).ok_or(errno::ENOTSUP)?;
    if len == 0 || i64::try_from(at).is_err() || i64::try_from(len).is_err() {
        return Err(errno::EINVAL.into());
    }
    Ok(rustix::io::retry_on_intr(|| rustix::fs::fallocate(&file.file, mode, at, len))?)
}

pub(super) fn services(context: &Context, files: &Arc<FileTable>) -> Vec<Service> {
    let (f, limits) = (files.clone(), context.limits);
    let copy = context.blocking(define::std_files::definition::copy(), move |call| {
        let (from, from_at) = (call.fixed()?, call.fixed()?);
        let (to, to_at, len) = (call.fixed()?, call.fixed()?, call.fixed::<u64>()?);
        let Some(_transfer) = limits.transfer(call.tenant(), len.min(COPIED) as usize) else {
            return Err(Failure::Refused { code: errno::EDQUOT });
        };
        let tenant = call.tenant();
        let result = f.file(tenant, from).and_then(|from| Ok((from, f.file(tenant, to)?)));
        let result = result.and_then(|(from, to)| copy(&from, from_at, &to, to_at, len).map_err(Fault::number));
        answer(call, result)
    });
    let f = files.clone();
    let allocate = context.blocking(define::std_files::definition::allocate(), move |call| {
        let handle = call.fixed()?;
        let (mode, at, len) = (call.fixed()?, call.fixed()?, call.fixed()?);
        let file = f.file(call.tenant(), handle);
        answer(call, file.and_then(|file| allocate(&file, mode, at, len).map_err(Fault::number)))
    });
    let f = files.clone();
    let sync_data = context.blocking(define::std_files::definition::sync_data(), move |call| {
        let handle = call.fixed()?;
        let result = match f.get(call.tenant(), handle) {
            Ok(Open::Dir(dir)) => errno::check(dir.dir.sync_data()),
            Ok(open) => open.file().and_then(|file| errno::check(file.file.sync_data())),
            Err(error) => Err(error),
        };
        answer(call, result)
    });
    vec![copy, allocate, sync_data]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek as _;

    /// A file of three pages.
    fn three_pages() -> (File, Vec<u8>) {
        let (file, bytes) = (tempfile::tempfile().unwrap(), (0..3072u32).flat_map(u32::to_ne_bytes).collect::<Vec<_>>());
        file.write_all_at(&bytes, 0).unwrap();
        (file, bytes)
    }

    fn cursor(file: &File) -> u64 {
        (&*file).stream_position().unwrap()
    }

    #[test]
    fn what_was_read_and_not_written_is_read_again() {
        let (file, bytes) = three_pages();
        let (from, to) = std::io::pipe().unwrap();
        let to = File::from(std::os::fd::OwnedFd::from(to));
        rustix::io::ioctl_fionbio(&to, true).unwrap();
        let room = rustix::pipe::fcntl_setpipe_size(&to, 8192).and_then(|_| rustix::pipe::fcntl_getpipe_size(&to)).unwrap();
        assert!(room < bytes.len(), "{room}");
        assert_eq!(by_hand(&file, None, &to, None, 1 << 20).unwrap(), room as u64);
        assert_eq!(cursor(&file), room as u64);
        // And nothing at all where nothing is written.
        assert_eq!(by_hand(&file, None, &to, None, 1 << 20).map_err(Fault::number), Err(errno::EAGAIN));
        assert_eq!(cursor(&file), room as u64);
        let mut got = vec![0; room];
        assert_eq!((rustix::io::read(&from, &mut got), got == bytes[..room]), (Ok(room), true));
        assert_eq!(by_hand(&file, None, &to, None, 1 << 20).unwrap(), (bytes.len() - room) as u64);
        assert_eq!(cursor(&file), bytes.len() as u64);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn each_part_is_written_behind_the_one_before_it_and_a_place_moves_no_cursor() {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        let (mut file, bytes) = three_pages();
        let to = File::from(memfd_create("part", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC).unwrap());
        // It grows no more: of two pages and a half, two can be written.
        to.set_len(3 * 4096 + 2048).unwrap();
        fcntl_add_seals(&to, SealFlags::GROW).unwrap();
        file.seek(std::io::SeekFrom::Start(8192)).unwrap();
        assert_eq!(by_hand(&file, Some(0), &to, Some(4096), 1 << 20).unwrap(), 8192);
        let mut got = vec![0; to.metadata().unwrap().len() as usize];
        to.read_exact_at(&mut got, 0).unwrap();
        assert!(got[..4096].iter().chain(&got[3 * 4096..]).all(|byte| *byte == 0) && got[4096..3 * 4096] == bytes[..8192]);
        assert_eq!((cursor(&file), cursor(&to)), (8192, 0));
        assert_eq!(by_hand(&file, Some(0), &to, Some(3 * 4096), 1 << 20).map_err(Fault::number), Err(errno::EPERM));
        assert_eq!(cursor(&file), 8192);
    }
}

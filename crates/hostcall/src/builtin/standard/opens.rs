//! Opening whatever is there, and creating files, directories and FIFOs with the permission bits that the program says.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use hostcall_abi::services::kind;
use hostcall_abi::std_services::open;
use rustix::fs::{Mode, OFlags};

use super::super::context::{Context, answer};
use super::super::counted::Room;
use super::super::errno::Fault;
use super::super::listing::Directory;
use super::super::opening::{self, PERMISSIONS, mode_of, umask};
use super::super::table::{FileTable, Open, OpenFile};
use super::super::{define, errno};
use crate::policy::{Entry, Place, Policy};
use crate::service::{Definition, Service};

/// What an opened thing is, see `hostcall_abi::services::kind`.
fn kind_of(mode: u32) -> u32 {
    match mode & libc::S_IFMT {
        libc::S_IFREG => kind::FILE,
        libc::S_IFDIR => kind::DIR,
        libc::S_IFLNK => kind::SYMLINK,
        _ => kind::OTHER,
    }
}

/// A place only, whatever is there.
fn open_place(place: &Place<'_>, room: Room, bits: u32) -> Result<(Open, u32), Fault> {
    let flags = if bits & open::DIRECTORY == 0 { OFlags::PATH } else { OFlags::PATH | OFlags::DIRECTORY };
    let file = room.take(place.open(flags, Mode::empty())?.into())?;
    let kind = kind_of(mode_of(&file)?);
    Ok((Open::File(Arc::new(OpenFile::new(file, false, false, false))), kind))
}

/// What the system knows of the options.
fn flags(bits: u32) -> OFlags {
    let table = [
        (open::APPEND, OFlags::APPEND),
        (open::TRUNCATE, OFlags::TRUNC),
        (open::CREATE, OFlags::CREATE),
        (open::CREATE_NEW, OFlags::CREATE.union(OFlags::EXCL)),
        (open::DIRECTORY, OFlags::DIRECTORY),
        (open::SYNC, OFlags::SYNC),
        (open::DATA_SYNC, OFlags::DSYNC),
    ];
    let access = match (bits & open::READ != 0, bits & (open::WRITE | open::APPEND) != 0) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    table.iter().filter(|(bit, _)| bits & bit != 0).fold(access, |flags, (_, flag)| flags | *flag)
}

/// Opens a file, or creates it with exactly this mode.
fn open_file(place: &Place<'_>, bits: u32, mode: u32) -> Result<std::fs::File, Fault> {
    let on = |bit| bits & bit != 0;
    let creates = on(open::CREATE) || on(open::CREATE_NEW);
    if !creates || mode & umask() == 0 {
        return opening::open(place, flags(bits), mode);
    }
    // The system would take bits away. They are given to a file that is certainly new, and to no other.
    match opening::open(place, flags(bits | open::CREATE_NEW), mode) {
        Ok(file) => {
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
            return Ok(file);
        }
        Err(Fault::Errno(errno::EEXIST)) if !on(open::CREATE_NEW) => {}
        Err(fault) => return Err(fault),
    }
    // It is there, or it is a link to where nothing is, where the system takes its bits.
    opening::open(place, flags(bits), mode)
}

fn open_any(place: &Place<'_>, room: Room, bits: u32, mode: u32) -> Result<(Open, u32), Fault> {
    let on = |bit| bits & bit != 0;
    if bits & !open::KNOWN != 0 {
        return Err(errno::EINVAL.into());
    }
    if on(open::UNNAMED) {
        return Err(errno::ENOTSUP.into());
    }
    if on(open::PATH) {
        return open_place(place, room, bits);
    }
    let writes = on(open::WRITE) || on(open::APPEND);
    let creates = on(open::CREATE) || on(open::CREATE_NEW);
    if !on(open::READ) && !writes || creates && on(open::DIRECTORY) {
        return Err(errno::EINVAL.into());
    }
    if writes || creates || on(open::TRUNCATE) {
        place.writable()?;
    }
    let file = room.take(open_file(place, bits, mode & PERMISSIONS)?)?;
    let kind = kind_of(mode_of(&file)?);
    let changeable = place.is_writable();
    let open = match kind {
        kind::DIR => Open::Dir(Arc::new(Directory::new(file, changeable))),
        _ => Open::File(Arc::new(OpenFile::new(file, on(open::READ), writes, changeable))),
    };
    Ok((open, kind))
}

/// Gives what was made the bits that the system took away.
fn with_mode(made: &Place<'_>, mode: u32) -> Result<(), Fault> {
    if mode & umask() == 0 { Ok(()) } else { opening::set_mode(made, mode) }
}

fn make_dir(entry: &Entry<'_>, mode: u32) -> Result<(), Fault> {
    let mode = mode & PERMISSIONS;
    with_mode(&entry.make_dir(Mode::from_raw_mode(mode))?, mode)
}

fn make_fifo(entry: &Entry<'_>, mode: u32) -> Result<(), Fault> {
    let mode = mode & PERMISSIONS;
    with_mode(&entry.make_fifo(Mode::from_raw_mode(mode))?, mode)
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let (p, f) = (policy.clone(), files.clone());
    let open = context.blocking(define::std_files::definition::open(), move |call| {
        let path = call.slice::<u8>()?;
        let (bits, mode) = (call.fixed::<u32>()?, call.fixed::<u32>()?);
        let tenant = call.tenant();
        let follow = bits & (open::NO_FOLLOW | open::CREATE_NEW) == 0;
        let result = p.mounts.at(path, follow, |place| {
            let (open, kind) = open_any(place, f.room(tenant)?, bits, mode)?;
            Ok((f.insert(tenant, open)?, kind))
        });
        answer(call, result)
    });
    let making = |definition: Definition, make: fn(&Entry<'_>, u32) -> Result<(), Fault>| {
        let p = policy.clone();
        context.blocking(definition, move |call| {
            let path = call.slice::<u8>()?;
            let mode = call.fixed::<u32>()?;
            answer(call, p.mounts.entry(path, |entry| make(entry, mode)))
        })
    };
    vec![open, making(define::std_files::definition::make_dir(), make_dir), making(define::std_files::definition::make_fifo(), make_fifo)]
}

//! Opening whatever is there, and creating files, directories and FIFOs with the permission bits that the program says.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use cap_std::fs::{DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _};
use hostcall_abi::services::kind;
use hostcall_abi::std_services::open;
use rustix::fs::Mode;

use super::super::context::{Context, answer};
use super::super::counted::Room;
use super::super::errno::Fault;
use super::super::listing::Directory;
use super::super::opening::{self, PERMISSIONS, anchor, at, mode_of, parent_of_new, umask};
use super::super::table::{FileTable, Open, OpenFile};
use super::super::{define, errno};
use crate::policy::{Place, Policy};
use crate::service::Service;

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
fn open_place(place: &Place, room: Room, bits: u32) -> Result<(Open, u32), Fault> {
    let file = anchor(place, bits & open::NO_FOLLOW == 0, bits & open::DIRECTORY != 0)?;
    let file = room.take(file)?;
    let kind = kind_of(mode_of(&file)?);
    Ok((Open::File(Arc::new(OpenFile::new(file, false, false, false))), kind))
}

/// What of the options is the system's affair: what std refuses and POSIX does not is asked for in this way, too.
fn flags(bits: u32) -> i32 {
    let table = [
        (open::TRUNCATE, libc::O_TRUNC),
        (open::CREATE, libc::O_CREAT),
        (open::CREATE_NEW, libc::O_CREAT | libc::O_EXCL),
        (open::DIRECTORY, libc::O_DIRECTORY),
        (open::SYNC, libc::O_SYNC),
        (open::DATA_SYNC, libc::O_DSYNC),
    ];
    table.iter().filter(|(bit, _)| bits & bit != 0).fold(0, |flags, (_, flag)| flags | flag)
}

/// Opens a file, or creates it with exactly this mode.
fn open_file(place: &Place, bits: u32, mode: u32) -> Result<std::fs::File, Fault> {
    let on = |bit| bits & bit != 0;
    let mut options = OpenOptions::new();
    options.read(on(open::READ)).write(on(open::WRITE)).append(on(open::APPEND)).mode(mode);
    let creates = on(open::CREATE) || on(open::CREATE_NEW);
    if !creates || mode & umask() == 0 {
        return opening::open(place, &mut options, flags(bits));
    }
    // The system would take bits away. They are given to a file that is certainly new, and to no other.
    match opening::open(place, &mut options, flags(bits | open::CREATE_NEW)) {
        Ok(file) => {
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
            return Ok(file);
        }
        Err(Fault::Errno(errno::EEXIST)) if !on(open::CREATE_NEW) => {}
        Err(fault) => return Err(fault),
    }
    // It is there, or it is a link to where nothing is, where the system takes its bits.
    opening::open(place, &mut options, flags(bits))
}

fn open_any(place: Place, room: Room, bits: u32, mode: u32) -> Result<(Open, u32), Fault> {
    let on = |bit| bits & bit != 0;
    if bits & !open::KNOWN != 0 {
        return Err(errno::EINVAL.into());
    }
    if on(open::UNNAMED) {
        return Err(errno::ENOTSUP.into());
    }
    if on(open::PATH) {
        return open_place(&place, room, bits);
    }
    let writes = on(open::WRITE) || on(open::APPEND);
    let creates = on(open::CREATE) || on(open::CREATE_NEW);
    if !on(open::READ) && !writes || creates && on(open::DIRECTORY) {
        return Err(errno::EINVAL.into());
    }
    let place = if writes || creates || on(open::TRUNCATE) { place.writable()? } else { place };
    if on(open::NO_FOLLOW) && place.dir.symlink_metadata(&place.path).is_ok_and(|metadata| metadata.is_symlink()) {
        // Whoever exchanges it for a link just now is in time for the program, and leads it nowhere that is not granted.
        return Err(if on(open::DIRECTORY) { errno::ENOTDIR } else { errno::ELOOP }.into());
    }
    let file = room.take(open_file(&place, bits, mode & PERMISSIONS)?)?;
    let kind = kind_of(mode_of(&file)?);
    let changeable = place.is_writable();
    let open = match kind {
        kind::DIR => Open::Dir(Arc::new(Directory::new(file, changeable))),
        _ => Open::File(Arc::new(OpenFile::new(file, on(open::READ), writes, changeable))),
    };
    Ok((open, kind))
}

fn make_dir(place: Place, mode: u32) -> Result<(), Fault> {
    let place = place.writable()?;
    let mode = mode & PERMISSIONS;
    place.dir.create_dir_with(&place.path, DirBuilder::new().mode(mode))?;
    if mode & umask() == 0 { Ok(()) } else { opening::set_mode(&place, mode) }
}

fn make_fifo(place: Place, mode: u32) -> Result<(), Fault> {
    let place = place.writable()?;
    place.special_files()?;
    let mode = mode & PERMISSIONS;
    let (dir, name) = parent_of_new(&place)?;
    rustix::fs::mkfifoat(&dir, &name, Mode::from_raw_mode(mode))?;
    if mode & umask() == 0 { Ok(()) } else { opening::set_mode(&place, mode) }
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let (p, f) = (policy.clone(), files.clone());
    let open = context.blocking(&define::std_files::open(|_, _, _| Err(0)), move |call| {
        let path = call.slice::<u8>()?;
        let (bits, mode) = (call.fixed::<u32>()?, call.fixed::<u32>()?);
        let tenant = call.tenant();
        let follow = bits & (open::NO_FOLLOW | open::CREATE_NEW) == 0;
        let result = at(&p.mounts, path, follow, |place| {
            let (open, kind) = open_any(place, f.room(tenant)?, bits, mode)?;
            Ok((f.insert(tenant, open)?, kind))
        });
        answer(call, result)
    });
    let making = |defined: &Service, make: fn(Place, u32) -> Result<(), Fault>| {
        let p = policy.clone();
        context.blocking(defined, move |call| {
            let path = call.slice::<u8>()?;
            let mode = call.fixed::<u32>()?;
            answer(call, at(&p.mounts, path, false, |place| make(place, mode)))
        })
    };
    vec![
        open,
        making(&define::std_files::make_dir(|_, _| Err(0)), make_dir),
        making(&define::std_files::make_fifo(|_, _| Err(0)), make_fifo),
    ]
}

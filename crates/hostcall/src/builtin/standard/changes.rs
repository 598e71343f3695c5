//! What may be set of files: permission bits, owners, times and lengths; and whether they may be used, and how much
//! room there is.
//!
//! All of it by path and most of it by handle. What a path leads to is not opened for reading or writing, so it may be
//! anything. FIFOs and devices are for grants that have them.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use hostcall_abi::codec::Fixed;
use hostcall_abi::std_services::{space, time};
use rustix::fs::{Access, AtFlags, CWD, Gid, OFlags, Timespec, Timestamps, Uid};

use super::super::context::{Context, answer};
use super::super::errno::Fault;
use super::super::opening::{self, Kind, PERMISSIONS, mode_of};
use super::super::table::{FileTable, Open};
use super::super::{define, errno};
use crate::policy::{Place, Policy, by_descriptor};
use crate::service::{Definition, Service};
use crate::tenant::Tenant;

/// What is changed of a file.
#[derive(Clone, Copy, Debug)]
enum Change {
    Mode(u32),
    Owner(u32, u32),
    Times([i64; 4]),
}

/// The time that two numbers say.
fn timespec(seconds: i64, nanos: i64) -> Result<Timespec, Fault> {
    match nanos {
        0..1_000_000_000 | time::NOW | time::OMIT => Ok(Timespec { tv_sec: seconds, tv_nsec: nanos }),
        _ => Err(errno::EINVAL.into()),
    }
}

fn timestamps([access, access_nanos, modification, modification_nanos]: [i64; 4]) -> Result<Timestamps, Fault> {
    Ok(Timestamps { last_access: timespec(access, access_nanos)?, last_modification: timespec(modification, modification_nanos)? })
}

fn owner(user: u32, group: u32) -> (Option<Uid>, Option<Gid>) {
    let named = |number: u32| (number != u32::MAX).then_some(number);
    (named(user).map(Uid::from_raw), named(group).map(Gid::from_raw))
}

impl Change {
    /// To what is open.
    fn to_file(self, file: &File) -> Result<(), Fault> {
        match self {
            Self::Mode(mode) => Ok(file.set_permissions(std::fs::Permissions::from_mode(mode & PERMISSIONS))?),
            Self::Owner(user, group) => {
                let (user, group) = owner(user, group);
                Ok(rustix::fs::fchown(file, user, group)?)
            }
            Self::Times(times) => Ok(rustix::fs::futimens(file, &timestamps(times)?)?),
        }
    }

    /// To what is at a place.
    fn to_place(self, place: &Place<'_>) -> Result<(), Fault> {
        place.writable()?;
        if let Self::Mode(mode) = self {
            return opening::set_mode(place, mode);
        }
        let file = place.anchor()?;
        let mode = mode_of(&file)?;
        let is_link = mode & libc::S_IFMT == libc::S_IFLNK;
        if !is_link {
            Kind::of(mode).check(place)?;
        }
        match self {
            Self::Mode(_) => Ok(()),
            Self::Owner(user, group) => {
                let (user, group) = owner(user, group);
                Ok(rustix::fs::chownat(&file, "", user, group, AtFlags::EMPTY_PATH)?)
            }
            // Its name in `/proc` is a link to a link, at which the system does not stop.
            Self::Times(times) if is_link => Ok(rustix::fs::utimensat(&file, "", &timestamps(times)?, AtFlags::EMPTY_PATH)?),
            Self::Times(times) => Ok(rustix::fs::utimensat(CWD, by_descriptor(&file), &timestamps(times)?, AtFlags::empty())?),
        }
    }
}

/// Changes what is open, if its grant is for writing.
fn change(files: &FileTable, tenant: &Tenant, handle: u64, change: Change) -> Result<(), u32> {
    let changed = match files.get(tenant, handle)? {
        Open::File(file) if file.is_place() => return Err(errno::EBADF),
        Open::File(file) if file.changeable => change.to_file(&file.file),
        Open::Dir(dir) if dir.changeable => change.to_file(&dir.dir),
        Open::File(_) | Open::Dir(_) => return Err(errno::EACCES),
        Open::Socket(_) | Open::Alarm(_) | Open::Set(_) => return Err(errno::EINVAL),
    };
    changed.map_err(Fault::number)
}

fn set_len(place: &Place<'_>, len: u64) -> Result<(), Fault> {
    place.writable()?;
    if i64::try_from(len).is_err() {
        return Err(errno::EINVAL.into());
    }
    Ok(opening::open(place, OFlags::WRONLY, 0)?.set_len(len)?)
}

/// Whether it may be used. A question, too, asks for what a grant does not have.
fn access(place: &Place<'_>, mode: u32) -> Result<(), Fault> {
    let access = Access::from_bits(mode).ok_or(errno::EINVAL)?;
    let file = place.anchor()?;
    let found = mode_of(&file)?;
    if found & libc::S_IFMT == libc::S_IFLNK {
        // A link's own bits let everybody do everything.
        return Ok(());
    }
    if access.intersects(Access::READ_OK | Access::WRITE_OK) {
        Kind::of(found).check(place)?;
    }
    if access.contains(Access::WRITE_OK) {
        place.writable()?;
    }
    Ok(rustix::fs::accessat(CWD, by_descriptor(&file), access, AtFlags::empty())?)
}

fn space_of(file: &File, changeable: bool) -> Result<[u64; 11], Fault> {
    let all = rustix::fs::fstatvfs(file)?;
    let own = rustix::fs::fstatfs(file)?;
    let mut known = [0; 11];
    known[space::BLOCK] = all.f_bsize;
    known[space::FRAGMENT] = all.f_frsize;
    known[space::BLOCKS] = all.f_blocks;
    known[space::FREE] = all.f_bfree;
    known[space::AVAILABLE] = all.f_bavail;
    known[space::FILES] = all.f_files;
    known[space::FILES_FREE] = all.f_ffree;
    known[space::NAME] = all.f_namemax;
    known[space::TYPE] = own.f_type.cast_unsigned();
    known[space::FLAGS] = all.f_flag.bits() | if changeable { 0 } else { space::READ_ONLY };
    known[space::ID] = all.f_fsid;
    Ok(known)
}

fn space_of_handle(files: &FileTable, tenant: &Tenant, handle: u64) -> Result<[u64; 11], u32> {
    let known = match files.get(tenant, handle)? {
        Open::File(file) => space_of(&file.file, file.changeable),
        Open::Dir(dir) => space_of(&dir.dir, dir.changeable),
        Open::Socket(_) | Open::Alarm(_) | Open::Set(_) => return Err(errno::EINVAL),
    };
    known.map_err(Fault::number)
}

/// A service that changes what a handle stands for; the call has the handle, and then what is changed.
fn by_handle<A: Fixed + 'static>(context: &Context, files: &Arc<FileTable>, definition: Definition, to: fn(A) -> Change) -> Service {
    let files = files.clone();
    context.blocking(definition, move |call| {
        let handle = call.fixed()?;
        let to = to(call.fixed()?);
        let result = change(&files, call.tenant(), handle, to);
        answer(call, result)
    })
}

/// As [`by_handle`], of a path, and perhaps whether a link at its end is followed.
fn by_path<A: Fixed + 'static>(
    context: &Context,
    policy: &Arc<Policy>,
    definition: Definition,
    asks: bool,
    to: fn(A) -> Change,
) -> Service {
    let policy = policy.clone();
    context.blocking(definition, move |call| {
        let path = call.slice::<u8>()?;
        let follow = if asks { call.fixed()? } else { true };
        let to = to(call.fixed()?);
        answer(call, policy.mounts.at(path, follow, |place| to.to_place(place)))
    })
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    // Arguments that follow one another are read as a tuple or an array of them is.
    let owner = |[user, group]: [u32; 2]| Change::Owner(user, group);
    let mut all = vec![
        by_handle(context, files, define::std_files::definition::set_mode(), Change::Mode),
        by_handle(context, files, define::std_files::definition::set_owner(), owner),
        by_handle(context, files, define::std_files::definition::set_times(), Change::Times),
        by_path(context, policy, define::std_files::definition::set_mode_path(), false, Change::Mode),
        by_path(context, policy, define::std_files::definition::set_owner_path(), true, owner),
        by_path(context, policy, define::std_files::definition::set_times_path(), true, Change::Times),
    ];
    let p = policy.clone();
    all.push(context.blocking(define::std_files::definition::set_len_path(), move |call| {
        let path = call.slice::<u8>()?;
        let len = call.fixed()?;
        answer(call, p.mounts.at(path, true, |place| set_len(place, len)))
    }));
    let p = policy.clone();
    all.push(context.blocking(define::std_files::definition::access(), move |call| {
        let path = call.slice::<u8>()?;
        let (follow, mode) = (call.fixed()?, call.fixed()?);
        answer(call, p.mounts.at(path, follow, |place| access(place, mode)))
    }));
    let f = files.clone();
    all.push(context.blocking(define::std_files::definition::space(), move |call| {
        let handle = call.fixed()?;
        let result = space_of_handle(&f, call.tenant(), handle);
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(define::std_files::definition::space_path(), move |call| {
        let path = call.slice::<u8>()?;
        answer(call, p.mounts.at(path, true, |place| space_of(&place.anchor()?, place.is_writable())))
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_or_a_group_that_is_not_named_stays() {
        let (user, group) = (Some(Uid::from_raw(7)), Some(Gid::from_raw(8)));
        assert_eq!([owner(7, 8), owner(7, u32::MAX), owner(u32::MAX, 8)], [(user, group), (user, None), (None, group)]);
        assert_eq!(owner(u32::MAX, u32::MAX), (None, None));
    }

    #[test]
    fn what_is_granted_for_reading_is_read_only_on_whatever_file_system() {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        // None of these waits for another machine.
        let local = |kind: &str| ["ext4", "overlay", "proc", "squashfs", "sysfs", "tmpfs", "xfs"].contains(&kind);
        let places = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|fields| local(fields[2]));
        let dirs = places.filter_map(|fields| File::open(fields[1]).ok()).chain([File::open("/").unwrap()]);
        for dir in dirs {
            let [reading, writing] = [false, true].map(|changeable| space_of(&dir, changeable).unwrap()[space::FLAGS]);
            assert_eq!((reading, reading & space::READ_ONLY), (writing | space::READ_ONLY, space::READ_ONLY));
        }
    }
}

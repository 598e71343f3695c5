//! Services of files and directories, except reading and writing bytes, which [`super::transfer`] does.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use hostcall_abi::services::open;
use rustix::fs::{Mode, OFlags, RenameFlags, SeekFrom};

use super::clock::since_epoch;
use super::context::{Context, answer};
use super::errno::check;
use super::listing::{Directory, kind_of, next_entry};
use super::table::{FileTable, Open, OpenFile};
use super::{define, errno, opening};
use crate::policy::Policy;
use crate::service::Invocation;
use crate::service::{Definition, Failure, Service};
use crate::tenant::Tenant;

/// The permission bits of what is made, of which the system takes away what its user does not want.
const MODES: [u32; 2] = [0o666, 0o777];

/// The options of an open, if they make sense together: `std`'s rules.
fn options(bits: u32) -> Result<OFlags, u32> {
    let on = |bit| bits & bit != 0;
    let writes = on(open::WRITE) || on(open::APPEND);
    let creates = on(open::CREATE) || on(open::CREATE_NEW);
    let sensible = bits & !open::KNOWN == 0
        && (on(open::READ) || writes)
        && (writes || !creates && !on(open::TRUNCATE))
        && !(on(open::APPEND) && on(open::TRUNCATE) && !on(open::CREATE_NEW));
    if !sensible {
        return Err(errno::EINVAL);
    }
    let mut flags = match (on(open::READ), writes) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    flags.set(OFlags::APPEND, on(open::APPEND));
    flags.set(OFlags::CREATE, creates);
    flags.set(OFlags::EXCL, on(open::CREATE_NEW));
    // What is new is empty.
    flags.set(OFlags::TRUNC, on(open::TRUNCATE) && !on(open::CREATE_NEW));
    Ok(flags)
}

pub(super) fn open_file(policy: &Policy, files: &FileTable, tenant: &Arc<Tenant>, path: &[u8], bits: u32) -> Result<u64, u32> {
    policy.mounts.at(path, bits & open::CREATE_NEW == 0, |place| {
        let flags = options(bits)?;
        let writes = bits & !open::READ != 0;
        if writes {
            place.writable()?;
        }
        let room = files.room(tenant)?;
        let file = room.take(opening::open(place, flags, MODES[0])?)?;
        let open = OpenFile::new(file, bits & open::READ != 0, writes, place.is_writable());
        Ok(files.insert(tenant, Open::File(Arc::new(open)))?)
    })
}

fn open_dir(policy: &Policy, files: &FileTable, tenant: &Arc<Tenant>, path: &[u8]) -> Result<u64, u32> {
    policy.mounts.at(path, true, |place| {
        let room = files.room(tenant)?;
        let dir = room.take(place.open(OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?.into())?;
        Ok(files.insert(tenant, Open::Dir(Arc::new(Directory::new(dir, place.is_writable()))))?)
    })
}

fn stat(metadata: &Metadata) -> [u64; 5] {
    let (seconds, nanos) = metadata.modified().map_or((0, 0), since_epoch);
    [metadata.len(), u64::from(kind_of(metadata.file_type())), u64::from(metadata.mode()), seconds.cast_unsigned(), u64::from(nanos)]
}

fn make_dir(policy: &Policy, path: &[u8]) -> Result<(), u32> {
    policy.mounts.entry(path, |entry| entry.make_dir(Mode::from_raw_mode(MODES[1])).map(drop))
}

/// With all directories above it that are missing. One that is there already is as good as one that was made.
fn make_dirs(policy: &Policy, path: &[u8]) -> Result<(), u32> {
    let made = |path: &[u8]| match make_dir(policy, path) {
        Err(error) if error != errno::ENOENT => {
            let is_dir = policy.mounts.at(path, true, |place| Ok(place.metadata()?.is_dir()));
            if is_dir == Ok(true) { Ok(()) } else { Err(error) }
        }
        done => done,
    };
    // The longest way that is there, and then from there on.
    let whole = path.iter().rposition(|byte| *byte != b'/').map_or(path.len(), |at| at + 1);
    let mut ends = vec![whole];
    loop {
        let end = ends[ends.len() - 1];
        match made(&path[..end]) {
            Ok(()) => break,
            Err(errno::ENOENT) => {}
            Err(error) => return Err(error),
        }
        let Some(slash) = path[..end].iter().rposition(|byte| *byte == b'/') else { return Err(errno::ENOENT) };
        let Some(above) = path[..slash].iter().rposition(|byte| *byte != b'/') else { return Err(errno::ENOENT) };
        ends.push(above + 1);
    }
    ends.iter().rev().skip(1).try_for_each(|end| made(&path[..*end]))
}

fn seek(files: &FileTable, tenant: &Tenant, handle: u64, whence: u32, offset: i64) -> Result<u64, u32> {
    let from_start = || u64::try_from(offset);
    let to = match whence {
        0 => SeekFrom::Start(from_start().map_err(|_| errno::EINVAL)?),
        1 => SeekFrom::Current(offset),
        2 => SeekFrom::End(offset),
        // What is no place in a file is behind its end.
        3 => SeekFrom::Data(from_start().map_err(|_| errno::ENXIO)?),
        4 => SeekFrom::Hole(from_start().map_err(|_| errno::ENXIO)?),
        _ => return Err(errno::EINVAL),
    };
    check(rustix::fs::seek(&files.file(tenant, handle)?.file, to).map_err(Into::into))
}

/// A service on one path that says only whether it worked.
fn on_path<F>(context: &Context, definition: Definition, policy: &Arc<Policy>, act: F) -> Service
where
    F: Fn(&Policy, &[u8]) -> Result<(), u32> + Send + Sync + 'static,
{
    let policy = policy.clone();
    context.blocking(definition, move |call| {
        let path = call.slice::<u8>()?;
        answer(call, act(&policy, path))
    })
}

/// A service on one open file that says only whether it worked. The call has the remaining arguments.
fn on_file<F>(context: &Context, definition: Definition, files: &Arc<FileTable>, act: F) -> Service
where
    F: Fn(&OpenFile, &mut Invocation<'_>) -> Result<Result<(), u32>, Failure> + Send + Sync + 'static,
{
    let files = files.clone();
    context.blocking(definition, move |call| {
        let handle = call.fixed()?;
        let result = match files.file(call.tenant(), handle) {
            Ok(file) => act(&file, call)?,
            Err(error) => Err(error),
        };
        answer(call, result)
    })
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let with = || (policy.clone(), files.clone());
    let mut all = Vec::new();

    let (p, f) = with();
    all.push(context.blocking(define::files::definition::open(), move |call| {
        let path = call.slice::<u8>()?;
        let bits = call.fixed()?;
        let result = open_file(&p, &f, call.tenant(), path, bits);
        answer(call, result)
    }));
    let (p, f) = with();
    all.push(context.blocking(define::files::definition::open_dir(), move |call| {
        let path = call.slice::<u8>()?;
        let result = open_dir(&p, &f, call.tenant(), path);
        answer(call, result)
    }));
    let f = files.clone();
    // Closing flushes, on some network file systems.
    all.push(context.blocking(define::files::definition::close(), move |call| {
        let handle = call.fixed()?;
        // A handle that was never open, or not any more, is a guest's mistake of which nobody need learn.
        let _ = f.remove(call.tenant(), handle);
        Ok(())
    }));
    let f = files.clone();
    all.push(context.inline(define::files::definition::seek(), move |call| {
        let (handle, whence, offset) = (call.fixed()?, call.fixed()?, call.fixed()?);
        let result = seek(&f, call.tenant(), handle, whence, offset);
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.blocking(define::files::definition::stat(), move |call| {
        let handle = call.fixed()?;
        let file = f.file(call.tenant(), handle);
        let result = file.and_then(|file| check(file.file.metadata()).map(|metadata| stat(&metadata)));
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(define::files::definition::stat_path(), move |call| {
        let path = call.slice::<u8>()?;
        let follow = call.fixed()?;
        answer(call, p.mounts.at(path, follow, |place| Ok(stat(&place.metadata()?))))
    }));
    let p = policy.clone();
    all.push(context.blocking(define::files::definition::rename(), move |call| {
        let (from, to) = (call.slice::<u8>()?, call.slice::<u8>()?);
        answer(call, p.mounts.entries(from, to, |from, to| from.rename(to, RenameFlags::empty())))
    }));
    let p = policy.clone();
    all.push(context.blocking(define::files::definition::create_dir(), move |call| {
        let path = call.slice::<u8>()?;
        let all = call.fixed::<bool>()?;
        answer(call, if all { make_dirs(&p, path) } else { make_dir(&p, path) })
    }));
    let f = files.clone();
    all.push(context.blocking(define::files::definition::next_entry(), move |call| {
        let handle = call.fixed()?;
        let name = call.out::<u8>()?;
        let entry = f.dir(call.tenant(), handle).and_then(|listing| next_entry(&listing, name));
        let found = entry.ok().flatten().map_or(0, |(len, _)| len);
        let result: Result<Option<(u32, u32)>, u32> = entry.map(|entry| entry.map(|(len, kind)| (len as u32, kind)));
        call.reply(&result, &[&name[..found]]);
        Ok(())
    }));
    let remove_file = |policy: &Policy, path: &[u8]| policy.mounts.entry(path, |entry| entry.remove_file());
    all.push(on_path(context, define::files::definition::remove_file(), policy, remove_file));
    let remove_dir = |policy: &Policy, path: &[u8]| policy.mounts.entry(path, |entry| entry.remove_dir());
    all.push(on_path(context, define::files::definition::remove_dir(), policy, remove_dir));
    let f = files.clone();
    all.push(context.blocking(define::files::definition::sync(), move |call| {
        let handle = call.fixed()?;
        let result = match f.get(call.tenant(), handle) {
            Ok(Open::Dir(dir)) => check(dir.dir.sync_all()),
            Ok(open) => open.file().and_then(|file| check(file.file.sync_all())),
            Err(error) => Err(error),
        };
        answer(call, result)
    }));
    all.push(on_file(context, define::files::definition::set_len(), files, |file, call| {
        let len = call.fixed()?;
        Ok(if file.writable { check(file.file.set_len(len)) } else { Err(errno::EBADF) })
    }));
    all
}

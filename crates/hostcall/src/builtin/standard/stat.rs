//! Metadata of files, listings of whole directories, and second handles.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::{Metadata, MetadataExt};
use hostcall_abi::services::kind;
use hostcall_abi::std_services::stat;

use super::super::clock::since_epoch;
use super::super::context::{Context, answer, owner_of};
use super::super::errno::check;
use super::super::files::kind_of;
use super::super::table::{FileTable, Listing, Open};
use super::super::{define, errno, opening};
use crate::policy::{Place, Policy};
use crate::service::Service;

/// What a program may set of a file's mode: nothing that makes it run as somebody else.
const PERMISSIONS: u32 = 0o777;

fn all_of(metadata: &Metadata) -> [u64; 13] {
    let mut all = [0; 13];
    all[stat::DEV] = metadata.dev();
    all[stat::INO] = metadata.ino();
    all[stat::LINKS] = metadata.nlink();
    all[stat::MODE] = u64::from(metadata.mode());
    all[stat::OWNER] = u64::from(metadata.uid()) | u64::from(metadata.gid()) << 32;
    all[stat::SIZE] = metadata.len();
    all[stat::BLOCKS] = metadata.blksize() & 0xffff_ffff | metadata.blocks() << 32;
    let mut put = |at: usize, time: std::io::Result<cap_std::time::SystemTime>| {
        let (seconds, nanos) = time.map_or((0, 0), |time| since_epoch(time.into_std()));
        all[at] = seconds.cast_unsigned();
        all[at + 1] = u64::from(nanos);
    };
    put(stat::ACCESSED, metadata.accessed());
    put(stat::MODIFIED, metadata.modified());
    put(stat::CREATED, metadata.created());
    all
}

fn of_handle(files: &FileTable, owner: usize, handle: u64) -> Result<[u64; 13], u32> {
    let metadata = match files.get(owner, handle)? {
        Open::File(file) => check(Metadata::from_file(&file.file))?,
        Open::Dir(listing) => check(listing.lock().unwrap_or_else(PoisonError::into_inner).dir.dir_metadata())?,
        Open::Socket(_) => return Err(errno::EINVAL),
    };
    Ok(all_of(&metadata))
}

/// Entries as Linux's `getdents64` has them: inode and offset (8 bytes each), length of the entry (2), kind (1), name, zeros up to a multiple of 8.
fn pack(listing: &Listing) -> Result<Vec<u8>, u32> {
    const DT_DIR: u8 = 4;
    const DT_REG: u8 = 8;
    const DT_LNK: u8 = 10;
    let mut packed = Vec::new();
    for (index, entry) in check(listing.dir.entries())?.enumerate() {
        let entry = check(entry)?;
        let name = entry.file_name();
        let name = name.as_bytes();
        let len = (19 + name.len() + 1).next_multiple_of(8);
        let kind = match entry.file_type().map_or(kind::OTHER, kind_of) {
            kind::DIR => DT_DIR,
            kind::FILE => DT_REG,
            kind::SYMLINK => DT_LNK,
            _ => 0,
        };
        let start = packed.len();
        // Nobody looks at the inode but to see that it is not 0.
        packed.extend_from_slice(&(index as u64 + 1).to_ne_bytes());
        packed.extend_from_slice(&((start + len) as u64).to_ne_bytes());
        packed.extend_from_slice(&(len as u16).to_ne_bytes());
        packed.push(kind);
        packed.extend_from_slice(name);
        packed.resize(start + len, 0);
    }
    Ok(packed)
}

fn list(listing: &Mutex<Listing>, offset: usize, into: &mut [u8]) -> Result<[u32; 2], u32> {
    let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
    if offset == 0 {
        listing.packed = pack(&listing)?;
    }
    let all = u32::try_from(listing.packed.len()).map_err(|_| errno::ENOMEM)?;
    let rest = listing.packed.get(offset..).unwrap_or_default();
    let copied = rest.len().min(into.len());
    into[..copied].copy_from_slice(&rest[..copied]);
    if copied == rest.len() {
        listing.packed = Vec::new();
    }
    Ok([copied as u32, all])
}

fn canonicalize(policy: &Policy, path: &str, into: &mut [u8]) -> Result<usize, u32> {
    let Place { dir, path, grant, .. } = policy.mounts.resolve(path)?;
    let found = check(dir.canonicalize(&path))?;
    let mut whole = grant.as_bytes().to_vec();
    for part in found.components().filter(|part| matches!(part, std::path::Component::Normal(_))) {
        whole.push(b'/');
        whole.extend_from_slice(part.as_os_str().as_bytes());
    }
    if whole.is_empty() {
        whole.push(b'/');
    }
    let fits = whole.len().min(into.len());
    into[..fits].copy_from_slice(&whole[..fits]);
    Ok(whole.len())
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let mut all = Vec::new();
    let f = files.clone();
    all.push(context.blocking(&define::std_files::stat(|_| Err(0)), move |call| {
        let handle = call.fixed()?;
        let result = of_handle(&f, owner_of(call.report()), handle);
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(&define::std_files::stat_path(|_, _| Err(0)), move |call| {
        let path = call.str()?;
        let follow = call.fixed()?;
        let result = p.mounts.resolve(path).and_then(|Place { dir, path, .. }| {
            check(if follow { dir.metadata(&path) } else { dir.symlink_metadata(&path) }).map(|metadata| all_of(&metadata))
        });
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.blocking(&define::std_files::list(|_, _, _| Err(0)), move |call| {
        let (handle, offset) = (call.fixed()?, call.fixed::<u32>()?);
        let into = call.out::<u8>()?;
        let result = f.dir(owner_of(call.report()), handle).and_then(|listing| list(&listing, offset as usize, into));
        let copied = result.map_or(0, |[copied, _]| copied as usize);
        call.reply(&result, &[&into[..copied]]);
        Ok(())
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_files::duplicate(|_| Err(0)), move |call| {
        let handle = call.fixed()?;
        let owner = owner_of(call.report());
        let result = f.get(owner, handle).and_then(|open| f.insert(owner, open));
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.blocking(&define::std_files::set_mode(|_, _| Err(0)), move |call| {
        let (handle, mode) = (call.fixed()?, call.fixed::<u32>()?);
        let result = f.file(owner_of(call.report()), handle).and_then(|file| {
            if !file.writable {
                return Err(errno::EACCES);
            }
            check(file.file.set_permissions(std::fs::Permissions::from_mode(mode & PERMISSIONS)))
        });
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(&define::std_files::set_mode_path(|_, _| Err(0)), move |call| {
        let path = call.str()?;
        let mode = call.fixed::<u32>()?;
        let result = p.mounts.resolve(path).and_then(Place::writable).and_then(|place| opening::set_mode(&place, mode & PERMISSIONS));
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(&define::std_files::canonicalize(|_, _| Err(0)), move |call| {
        let path = call.str()?;
        let into = call.out::<u8>()?;
        let result = canonicalize(&p, path, into);
        let fits = result.map_or(0, |all| all.min(into.len()));
        call.reply(&result.map(|all| all as u32), &[&into[..fits]]);
        Ok(())
    }));
    all
}

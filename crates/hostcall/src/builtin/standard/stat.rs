//! Metadata of files, listings of whole directories, and second handles.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use hostcall_abi::std_services::stat;

use super::super::clock::since_epoch;
use super::super::context::{Context, answer};
use super::super::errno::check;
use super::super::listing::batch;
use super::super::table::{FileTable, Open};
use super::super::{define, errno};
use crate::policy::Policy;
use crate::service::Service;
use crate::tenant::Tenant;

/// As `StdFiles::stat` says it.
pub(super) fn all_of(metadata: &Metadata) -> [u64; 16] {
    let mut all = [0; 16];
    all[stat::DEV] = metadata.dev();
    all[stat::INO] = metadata.ino();
    all[stat::LINKS] = metadata.nlink();
    all[stat::MODE] = u64::from(metadata.mode());
    all[stat::OWNER] = u64::from(metadata.uid()) | u64::from(metadata.gid()) << 32;
    all[stat::SIZE] = metadata.len();
    all[stat::BLOCKS] = metadata.blksize() & 0xffff_ffff | metadata.blocks() << 32;
    let mut put = |at: usize, time: std::io::Result<std::time::SystemTime>| {
        let (seconds, nanos) = time.map_or((0, 0), since_epoch);
        all[at] = seconds.cast_unsigned();
        all[at + 1] = u64::from(nanos);
    };
    put(stat::ACCESSED, metadata.accessed());
    put(stat::MODIFIED, metadata.modified());
    put(stat::CREATED, metadata.created());
    all[stat::CHANGED] = metadata.ctime().cast_unsigned();
    all[stat::CHANGED + 1] = metadata.ctime_nsec().cast_unsigned();
    all[stat::RDEV] = metadata.rdev();
    all
}

fn of_handle(files: &FileTable, tenant: &Tenant, handle: u64) -> Result<[u64; 16], u32> {
    let metadata = match files.get(tenant, handle)? {
        Open::File(file) => check(file.file.metadata())?,
        Open::Dir(dir) => check(dir.dir.metadata())?,
        Open::Socket(_) | Open::Alarm(_) | Open::Set(_) => return Err(errno::EINVAL),
    };
    Ok(all_of(&metadata))
}

fn canonicalize(policy: &Policy, path: &[u8], into: &mut [u8]) -> Result<usize, u32> {
    let whole = policy.mounts.canonical(path)?;
    let fits = whole.len().min(into.len());
    into[..fits].copy_from_slice(&whole[..fits]);
    Ok(whole.len())
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let mut all = Vec::new();
    let f = files.clone();
    all.push(context.blocking(define::std_files::definition::stat(), move |call| {
        let handle = call.fixed()?;
        let result = of_handle(&f, call.tenant(), handle);
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(define::std_files::definition::stat_path(), move |call| {
        let path = call.slice::<u8>()?;
        let follow = call.fixed()?;
        answer(call, p.mounts.at(path, follow, |place| Ok(all_of(&place.metadata()?))))
    }));
    let f = files.clone();
    all.push(context.blocking(define::std_files::definition::list(), move |call| {
        let handle = call.fixed()?;
        let into = call.out::<u8>()?;
        let result = f.dir(call.tenant(), handle).and_then(|listing| batch(&listing, into));
        let used = result.unwrap_or(0);
        call.reply(&result.map(|used| used as u32), &[&into[..used]]);
        Ok(())
    }));
    let f = files.clone();
    all.push(context.inline(define::std_files::definition::duplicate(), move |call| {
        let handle = call.fixed()?;
        let tenant = call.tenant();
        let result = f.duplicate(tenant, handle);
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(define::std_files::definition::rewind(), move |call| {
        let handle = call.fixed()?;
        let result = f.dir(call.tenant(), handle).map(|dir| dir.rewind());
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(define::std_files::definition::canonicalize(), move |call| {
        let path = call.slice::<u8>()?;
        let into = call.out::<u8>()?;
        let result = canonicalize(&p, path, into);
        let fits = result.map_or(0, |all| all.min(into.len()));
        call.reply(&result.map(|all| all as u32), &[&into[..fits]]);
        Ok(())
    }));
    all
}

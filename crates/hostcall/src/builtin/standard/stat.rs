//! Metadata of files, listings of whole directories, and second handles.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use cap_std::fs::{Metadata, MetadataExt};
use hostcall_abi::std_services::stat;

use super::super::clock::since_epoch;
use super::super::context::{Context, answer};
use super::super::errno::check;
use super::super::listing::batch;
use super::super::opening::at;
use super::super::table::{FileTable, Open};
use super::super::{define, errno};
use crate::policy::{Place, Policy};
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
    let mut put = |at: usize, time: std::io::Result<cap_std::time::SystemTime>| {
        let (seconds, nanos) = time.map_or((0, 0), |time| since_epoch(time.into_std()));
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
        Open::File(file) => check(Metadata::from_file(&file.file))?,
        Open::Dir(dir) => check(Metadata::from_file(&dir.dir))?,
        Open::Socket(_) | Open::Alarm(_) | Open::Set(_) => return Err(errno::EINVAL),
    };
    Ok(all_of(&metadata))
}

fn canonicalize(policy: &Policy, path: &[u8], into: &mut [u8]) -> Result<usize, u32> {
    let whole = at(&policy.mounts, path, true, |Place { dir, path, grant, .. }| {
        let found = dir.canonicalize(&path)?;
        let mut whole = grant.as_bytes().to_vec();
        for part in found.components().filter(|part| matches!(part, std::path::Component::Normal(_))) {
            whole.push(b'/');
            whole.extend_from_slice(part.as_os_str().as_bytes());
        }
        if whole.is_empty() {
            whole.push(b'/');
        }
        Ok(whole)
    })?;
    let fits = whole.len().min(into.len());
    into[..fits].copy_from_slice(&whole[..fits]);
    Ok(whole.len())
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let mut all = Vec::new();
    let f = files.clone();
    all.push(context.blocking(&define::std_files::stat(|_| Err(0)), move |call| {
        let handle = call.fixed()?;
        let result = of_handle(&f, call.tenant(), handle);
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(&define::std_files::stat_path(|_, _| Err(0)), move |call| {
        let path = call.slice::<u8>()?;
        let follow = call.fixed()?;
        let result = at(&p.mounts, path, follow, |Place { dir, path, .. }| {
            Ok(all_of(&if follow { dir.metadata(&path) } else { dir.symlink_metadata(&path) }?))
        });
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.blocking(&define::std_files::list(|_, _| Err(0)), move |call| {
        let handle = call.fixed()?;
        let into = call.out::<u8>()?;
        let result = f.dir(call.tenant(), handle).and_then(|listing| batch(&listing, into));
        let used = result.unwrap_or(0);
        call.reply(&result.map(|used| used as u32), &[&into[..used]]);
        Ok(())
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_files::duplicate(|_| Err(0)), move |call| {
        let handle = call.fixed()?;
        let tenant = call.tenant();
        let result = f.duplicate(tenant, handle);
        answer(call, result)
    }));
    let f = files.clone();
    all.push(context.inline(&define::std_files::rewind(|_| Err(0)), move |call| {
        let handle = call.fixed()?;
        let result = f.dir(call.tenant(), handle).map(|dir| dir.rewind());
        answer(call, result)
    }));
    let p = policy.clone();
    all.push(context.blocking(&define::std_files::canonicalize(|_, _| Err(0)), move |call| {
        let path = call.slice::<u8>()?;
        let into = call.out::<u8>()?;
        let result = canonicalize(&p, path, into);
        let fits = result.map_or(0, |all| all.min(into.len()));
        call.reply(&result.map(|all| all as u32), &[&into[..fits]]);
        Ok(())
    }));
    all
}

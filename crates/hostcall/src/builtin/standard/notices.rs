//! Notices of what happens to files: an `inotify` of the host's kernel, with the places that are granted.

use std::sync::Arc;

use super::super::context::{Context, answer};
use super::super::counted::Instance;
use super::super::define;
use super::super::table::{FileTable, Open, OpenFile};
use crate::policy::Policy;
use crate::service::Service;
use crate::tenant::Tenant;

/// `IN_DONT_FOLLOW`: what a link leads to is not meant, but the link.
const NO_FOLLOW: u32 = 0x0200_0000;

/// A new watcher of a program that has `most` of them at most.
fn watcher(files: &FileTable, tenant: &Arc<Tenant>, most: usize) -> Result<Open, u32> {
    let (room, instance) = (files.room(tenant)?, Instance::of(tenant, most)?);
    Ok(Open::File(Arc::new(OpenFile::watcher(room.take(kernel::open()?)?, instance))))
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let f = files.clone();
    let most = context.limits.watchers;
    let new = context.inline(define::std_files::definition::watcher(), move |call| {
        let tenant = call.tenant();
        let result = watcher(&f, tenant, most).and_then(|watcher| f.insert(tenant, watcher));
        answer(call, result)
    });
    let (p, f) = (policy.clone(), files.clone());
    let watch = context.blocking(define::std_files::definition::watch(), move |call| {
        let handle = call.fixed()?;
        let path = call.slice::<u8>()?;
        let mask = call.fixed::<u32>()?;
        let watcher = f.file(call.tenant(), handle);
        let result = watcher.and_then(|watcher| kernel::watch(&p.mounts, &watcher.file, path, mask & NO_FOLLOW == 0, mask & !NO_FOLLOW));
        answer(call, result)
    });
    let f = files.clone();
    let unwatch = context.inline(define::std_files::definition::unwatch(), move |call| {
        let (handle, watch) = (call.fixed()?, call.fixed::<i32>()?);
        let watcher = f.file(call.tenant(), handle);
        answer(call, watcher.and_then(|watcher| kernel::unwatch(&watcher.file, watch)))
    });
    vec![new, watch, unwatch]
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::fs::File;

    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    use super::super::super::errno::check;
    use crate::policy::{Mounts, by_descriptor};

    pub(super) fn open() -> Result<File, u32> {
        check(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(Into::into)).map(Into::into)
    }

    pub(super) fn watch(mounts: &Mounts, watcher: &File, path: &[u8], follow: bool, mask: u32) -> Result<i32, u32> {
        mounts.at(path, follow, |place| {
            // The kernel takes names only. This one leads to what is open, whatever has become of the path.
            let open = place.anchor()?;
            let name = by_descriptor(&open);
            Ok(inotify::add_watch(watcher, name, WatchFlags::from_bits_retain(mask))?)
        })
    }

    pub(super) fn unwatch(watcher: &File, watch: i32) -> Result<(), u32> {
        check(inotify::remove_watch(watcher, watch).map_err(Into::into))
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::fs::File;

    use super::super::super::errno::ENOSYS;
    use crate::policy::Mounts;

    pub(super) fn open() -> Result<File, u32> {
        Err(ENOSYS)
    }

    pub(super) fn watch(_mounts: &Mounts, _watcher: &File, _path: &[u8], _follow: bool, _mask: u32) -> Result<i32, u32> {
        Err(ENOSYS)
    }

    pub(super) fn unwatch(_watcher: &File, _watch: i32) -> Result<(), u32> {
        Err(ENOSYS)
    }
}

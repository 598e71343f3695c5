//! Other names for what is there: renaming, and hard links.
//!
//! What has a name in a grant for writing can be changed through it. So both names must be in grants for writing, or a
//! program could get a file for writing that it was granted for reading. In the same way a FIFO or a device could come
//! to where such files may be opened. Between two grants of which only one has its special files, nothing is renamed
//! or linked: `EXDEV`, as between file systems, and programs copy instead.

use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::RenameFlags;

use super::errno::{self, Fault};
use super::opening::{parent, parent_of_new};
use crate::policy::Place;

fn both(from: Place, to: Place) -> Result<(Place, Place), Fault> {
    let (from, to) = (from.writable()?, to.writable()?);
    if from.has_special_files() != to.has_special_files() {
        return Err(errno::EXDEV.into());
    }
    Ok((from, to))
}

/// Renames, with Linux's flags.
pub(super) fn rename(from: Place, to: Place, flags: u32) -> Result<(), Fault> {
    let allowed = RenameFlags::NOREPLACE | RenameFlags::EXCHANGE;
    let flags = RenameFlags::from_bits(flags).filter(|flags| allowed.contains(*flags)).ok_or(errno::EINVAL)?;
    let (from, to) = both(from, to)?;
    if flags.is_empty() {
        return Ok(from.dir.rename(&from.path, &to.dir, &to.path)?);
    }
    // The granted directory itself has no name here, and `..` is none.
    let busy = libc::EBUSY.cast_unsigned();
    let (from_dir, from_name) = parent(&from)?.ok_or(busy)?;
    let (to_dir, to_name) = parent(&to)?.ok_or(busy)?;
    for (place, dir, name) in [(&from, &from_dir, &from_name), (&to, &to_dir, &to_name)] {
        // A slash at the end says that it is a directory.
        if place.path.as_os_str().as_bytes().ends_with(b"/") && dir.symlink_metadata(name).is_ok_and(|metadata| !metadata.is_dir()) {
            return Err(errno::ENOTDIR.into());
        }
    }
    Ok(rustix::fs::renameat_with(&from_dir, &from_name, &to_dir, &to_name, flags)?)
}

/// Gives a file another name.
pub(super) fn link(old: Place, new: Place, follow: bool) -> Result<(), Fault> {
    let (old, new) = both(old, new)?;
    // The granted directory itself, and what `..` leads to: no directory has two names.
    parent(&old)?.ok_or(errno::EPERM)?;
    let (dir, name) = parent_of_new(&new)?;
    if follow {
        let path = old.dir.canonicalize(&old.path)?;
        return Ok(old.dir.hard_link(path, &dir, name)?);
    }
    Ok(old.dir.hard_link(&old.path, &dir, name)?)
}

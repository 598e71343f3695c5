//! Opening files so that no thread waits for them, whatever they are.
//!
//! A file of a granted directory may be a FIFO that nobody writes to, a terminal, or a device that does something when
//! it is opened. So the server looks at a file's kind before it opens the file. It looks again afterwards, because
//! somebody may have exchanged the file meanwhile. It opens the file as one that does not block, and the file stays
//! so. For a file on a disk this makes no difference. Where nobody may ever answer, reading and writing say `EAGAIN`.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::OnceLock;

use cap_std::fs::{Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{Mode, OFlags};

use super::errno::{self, Fault};
use crate::policy::{Mounts, Place};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file or a directory.
    Plain,
    /// A FIFO or a character device: open to whom it is granted.
    Special,
    /// A socket or a block device: open to nobody.
    Never,
}

impl Kind {
    pub(super) fn of(mode: u32) -> Self {
        match mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR => Self::Plain,
            libc::S_IFIFO | libc::S_IFCHR => Self::Special,
            _ => Self::Never,
        }
    }

    pub(super) fn check(self, place: &Place) -> Result<(), u32> {
        match self {
            Self::Plain => Ok(()),
            Self::Special => place.special_files(),
            Self::Never => Err(errno::EACCES),
        }
    }
}

/// The permission bits that a program may set: nothing that makes a file run as somebody else.
pub(super) const PERMISSIONS: u32 = 0o1777;

/// Does something at a path, in its grant. If it leaves its grant there, in the grant that it leads to.
pub(super) fn at<T>(mounts: &Mounts, path: &[u8], follow: bool, act: impl Fn(Place) -> Result<T, Fault>) -> Result<T, u32> {
    match act(mounts.resolve(path)?) {
        Err(Fault::LedOut) => act(mounts.resolve_links(path, follow)?),
        done => done,
    }
    .map_err(Fault::number)
}

/// As [`at`], of two paths; a link at the end of the second is not followed.
pub(super) fn at_both<T>(
    mounts: &Mounts,
    from: &[u8],
    follow: bool,
    to: &[u8],
    act: impl Fn(Place, Place) -> Result<T, Fault>,
) -> Result<T, u32> {
    match act(mounts.resolve(from)?, mounts.resolve(to)?) {
        Err(Fault::LedOut) => act(mounts.resolve_links(from, follow)?, mounts.resolve_links(to, false)?),
        done => done,
    }
    .map_err(Fault::number)
}

/// The directory that a place is in, and its name there, which is not `..`. `None` for the granted directory itself, and for what ends in `..`.
pub(super) fn parent(place: &Place) -> Result<Option<(Dir, OsString)>, Fault> {
    let Some(name) = place.path.file_name().filter(|_| !place.path.as_os_str().as_bytes().ends_with(b"..")) else { return Ok(None) };
    let parent = place.path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let dir = match parent {
        Some(parent) => place.dir.open_dir(parent)?,
        None => place.dir.try_clone()?,
    };
    Ok(Some((dir, name.to_owned())))
}

/// As [`parent`], of something that is to be made and is no directory.
pub(super) fn parent_of_new(place: &Place) -> Result<(Dir, OsString), Fault> {
    let (dir, name) = parent(place)?.ok_or(errno::EEXIST)?;
    if place.path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(dir.symlink_metadata(&name).map_or(errno::ENOENT, |_| errno::EEXIST).into());
    }
    Ok((dir, name))
}

/// Something's place: a descriptor through which nothing can be read or written. What it is makes no difference.
pub(super) fn anchor(place: &Place, follow: bool, directory: bool) -> Result<File, Fault> {
    let flags = if directory { OFlags::PATH | OFlags::DIRECTORY } else { OFlags::PATH };
    if !follow
        && !place.path.as_os_str().as_bytes().ends_with(b"/")
        && let Some((dir, name)) = parent(place)?
    {
        // One name in a directory that is known leads nowhere else.
        return Ok(rustix::fs::openat(&dir, &name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?.into());
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    Ok(place.dir.open_with(&place.path, &options)?.into_std())
}

/// The name that leads to what a descriptor stands for, and nowhere else: for calls that take no descriptor of [`anchor`].
pub(super) fn by_descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The mode of what a descriptor stands for.
pub(super) fn mode_of(file: &File) -> Result<u32, Fault> {
    Ok(std::os::unix::fs::MetadataExt::mode(&file.metadata()?))
}

/// Opens a file.
pub(super) fn open(place: &Place, options: &mut OpenOptions, flags: i32) -> Result<File, Fault> {
    // What cannot be looked at is not there yet, or the opening says why.
    if let Ok(metadata) = place.dir.metadata(&place.path) {
        Kind::of(metadata.mode()).check(place)?;
    }
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | flags);
    let file = place.dir.open_with(&place.path, options)?.into_std();
    Kind::of(mode_of(&file)?).check(place)?;
    Ok(file)
}

/// Sets the permission bits of a file or directory, without opening it for anything else.
pub(super) fn set_mode(place: &Place, mode: u32) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = anchor(place, true, false)?;
    Kind::of(mode_of(&file)?).check(place)?;
    Ok(std::fs::set_permissions(by_descriptor(&file), std::fs::Permissions::from_mode(mode & PERMISSIONS))?)
}

/// The permission bits that this process takes from whatever it creates, as they were when this was first asked.
///
/// The system tells them only to whoever sets them, which another thread would notice. So they are looked up where they are written.
pub(super) fn umask() -> u32 {
    /// Where it is not written, what is usual.
    const USUAL: u32 = 0o022;
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| std::fs::read_to_string("/proc/self/status").ok().and_then(|text| written(&text)).unwrap_or(USUAL))
}

fn written(status: &str) -> Option<u32> {
    let digits = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(digits.trim(), 8).ok().filter(|mask| mask & !0o777 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_umask_is_read_where_the_system_writes_it() {
        assert_eq!(written("Name:\tcargo\nUmask:\t0027\nState:\tR\n"), Some(0o27));
        assert_eq!((written("Name:\tx\n"), written("Umask:\t9\n"), written("Umask:\t7777\n")), (None, None, None));
    }
}

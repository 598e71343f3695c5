//! Opening files so that no thread waits for them, whatever they are.
//!
//! A file of a granted directory may be a FIFO that nobody writes to, a terminal, or a device that does something when
//! it is opened. So the server looks at a file's kind before it opens the file. It looks again afterwards, because
//! somebody may have exchanged the file meanwhile. It opens the file as one that does not block, and the file stays
//! so. For a file on a disk this makes no difference. Where nobody may ever answer, reading and writing say `EAGAIN`.

use std::fs::File;

use cap_std::fs::{MetadataExt as _, OpenOptions, OpenOptionsExt as _};

use super::errno::{self, check};
use crate::policy::Place;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file or a directory.
    Plain,
    /// A FIFO or a character device: open to whom it is granted.
    Special,
    /// A socket or a block device: open to nobody.
    Never,
}

impl Kind {
    fn of(mode: u32) -> Self {
        match mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR => Self::Plain,
            libc::S_IFIFO | libc::S_IFCHR => Self::Special,
            _ => Self::Never,
        }
    }

    fn check(self, place: &Place) -> Result<(), u32> {
        match self {
            Self::Plain => Ok(()),
            Self::Special => place.special_files(),
            Self::Never => Err(errno::EACCES),
        }
    }
}

/// Opens a file.
pub(super) fn open(place: &Place, options: &mut OpenOptions) -> Result<File, u32> {
    // What cannot be looked at is not there yet, or the opening says why.
    if let Ok(metadata) = place.dir.metadata(&place.path) {
        Kind::of(metadata.mode()).check(place)?;
    }
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = check(place.dir.open_with(&place.path, options))?.into_std();
    Kind::of(std::os::unix::fs::MetadataExt::mode(&check(file.metadata())?)).check(place)?;
    Ok(file)
}

/// Sets the permission bits of a file or directory, without opening it for anything else.
#[cfg(target_os = "linux")]
pub(super) fn set_mode(place: &Place, mode: u32) -> Result<(), u32> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::PermissionsExt as _;
    let file = check(place.dir.open_with(&place.path, OpenOptions::new().read(true).custom_flags(libc::O_PATH)))?.into_std();
    Kind::of(std::os::unix::fs::MetadataExt::mode(&check(file.metadata())?)).check(place)?;
    // Through such a descriptor nothing can be changed, but through its name in `/proc`, which leads to the same file and nowhere else.
    check(std::fs::set_permissions(format!("/proc/self/fd/{}", file.as_raw_fd()), std::fs::Permissions::from_mode(mode)))
}

/// Sets the permission bits of a file or directory.
#[cfg(not(target_os = "linux"))]
pub(super) fn set_mode(place: &Place, mode: u32) -> Result<(), u32> {
    use cap_std::fs::PermissionsExt as _;
    Kind::of(check(place.dir.metadata(&place.path))?.mode()).check(place)?;
    check(place.dir.set_permissions(&place.path, cap_std::fs::Permissions::from_mode(mode)))
}

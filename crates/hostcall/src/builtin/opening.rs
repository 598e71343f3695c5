//! Opening files so that no thread waits for them, whatever they are.
//!
//! A file of a granted directory may be a FIFO that nobody writes to, a terminal, or a device that does something when
//! it is opened. So the server looks at a file's kind before it opens the file. It looks again afterwards, because
//! somebody may have exchanged the file meanwhile. It opens the file as one that does not block, and the file stays
//! so. For a file on a disk this makes no difference. Where nobody may ever answer, reading and writing say `EAGAIN`.

use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};

use super::errno::{self, Fault};
use crate::policy::{Place, by_descriptor};

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

    pub(super) fn check(self, place: &Place<'_>) -> Result<(), Fault> {
        match self {
            Self::Plain => Ok(()),
            Self::Special => place.special_files(),
            Self::Never => Err(errno::EACCES.into()),
        }
    }
}

/// The permission bits that a program may set: nothing that makes a file run as somebody else.
pub(super) const PERMISSIONS: u32 = 0o1777;

/// The mode of what a descriptor stands for.
pub(super) fn mode_of(file: &File) -> Result<u32, Fault> {
    Ok(file.metadata()?.mode())
}

/// Opens a file.
pub(super) fn open(place: &Place<'_>, flags: OFlags, mode: u32) -> Result<File, Fault> {
    match place.metadata() {
        // A link was not to be followed. Opening it says so.
        Ok(metadata) if metadata.is_symlink() => {}
        Ok(metadata) => Kind::of(metadata.mode()).check(place)?,
        Err(Fault::LedOut) => return Err(Fault::LedOut),
        // What cannot be looked at is not there yet, or the opening says why.
        Err(Fault::Errno(_)) => {}
    }
    let file = place.open(flags | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::from_raw_mode(mode))?.into();
    Kind::of(mode_of(&file)?).check(place)?;
    Ok(file)
}

/// Sets the permission bits of a file or directory, without opening it for anything else.
pub(super) fn set_mode(place: &Place<'_>, mode: u32) -> Result<(), Fault> {
    let file = place.anchor()?;
    Kind::of(mode_of(&file)?).check(place)?;
    Ok(std::fs::set_permissions(by_descriptor(&file), std::fs::Permissions::from_mode(mode & PERMISSIONS))?)
}

/// The permission bits that this process takes from whatever it creates, as they were when this was first asked.
///
/// The system tells them only to whoever sets them, which another thread would notice. So they are looked up where they
/// are written.
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

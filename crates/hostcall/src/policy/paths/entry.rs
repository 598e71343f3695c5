//! A name in a directory: what is made, removed, renamed and linked.
//!
//! The order of refusals is the kernel's, as far as a guest can tell.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};

use rustix::fs::{AtFlags, CWD, Mode, RenameFlags};
use rustix::io::Errno;

use super::place::{At, Place};
use super::{Fault, Handle, Mounts, errno};

/// The last part of a path.
#[derive(Debug)]
pub(super) enum Last {
    /// There is none: the path is the root's.
    Root,
    Dot,
    DotDot,
    Name(Name),
}

#[derive(Debug)]
pub(super) struct Name {
    /// With the slash that ends it, which the system does not take for a reason to follow a link where names are meant.
    text: Box<[u8]>,
    slash: bool,
    /// It is a name of the guest's tree itself: a grant's, or above one's.
    busy: bool,
}

impl Name {
    pub(super) fn new(name: &[u8], slash: bool, busy: bool) -> Self {
        let text = if slash { [name, b"/"].concat().into() } else { name.into() };
        Self { text, slash, busy }
    }

    fn bare(&self) -> &[u8] {
        &self.text[..self.text.len() - usize::from(self.slash)]
    }
}

/// What is at a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Directory,
    Other,
}

/// A name in a directory, with the rights of the grant that the directory is in. Only [`Mounts`] makes one.
#[derive(Debug)]
pub(crate) struct Entry<'m> {
    mounts: &'m Mounts,
    mount: Option<usize>,
    dir: Handle<'m>,
    last: Last,
}

impl<'m> Entry<'m> {
    pub(super) fn new(mounts: &'m Mounts, mount: Option<usize>, dir: Handle<'m>, last: Last) -> Self {
        Self { mounts, mount, dir, last }
    }

    /// What a name stands for, which is not followed.
    fn found(&self, name: &Name) -> Result<Found, Fault> {
        if name.busy {
            return Ok(Found::Directory);
        }
        match rustix::fs::statat(&self.dir, name.bare(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if stat.st_mode & libc::S_IFMT == libc::S_IFDIR => Ok(Found::Directory),
            Ok(_) => Ok(Found::Other),
            Err(Errno::NOENT) => Ok(Found::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes something that is not there yet.
    fn make(&self, directory: bool, make: impl FnOnce(BorrowedFd<'_>, &[u8]) -> rustix::io::Result<()>) -> Result<(), Fault> {
        let Last::Name(name) = &self.last else { return Err(errno::EEXIST.into()) };
        let must_be_directory = name.slash && !directory;
        if name.busy || must_be_directory || !self.mounts.is_writable(self.mount) {
            if self.found(name)? != Found::Nothing {
                return Err(errno::EEXIST.into());
            }
            if must_be_directory {
                return Err(errno::ENOENT.into());
            }
            self.mounts.writable(self.mount)?;
        }
        Ok(make(self.dir.as_fd(), &name.text)?)
    }

    /// Makes a directory: what it has made.
    pub(crate) fn make_dir(&self, mode: Mode) -> Result<Place<'_>, Fault> {
        self.make(true, |dir, name| rustix::fs::mkdirat(dir, name, mode))?;
        self.place()
    }

    /// Makes a FIFO, if the grant has them: what it has made.
    pub(crate) fn make_fifo(&self, mode: Mode) -> Result<Place<'_>, Fault> {
        if self.mounts.is_writable(self.mount) {
            self.mounts.special_files(self.mount)?;
        }
        self.make(false, |dir, name| rustix::fs::mkfifoat(dir, name, mode))?;
        self.place()
    }

    /// Makes a symbolic link. Its text leads wherever it says, and nobody follows it out of the grants.
    pub(crate) fn make_link(&self, text: &[u8]) -> Result<(), Fault> {
        self.make(false, |dir, name| rustix::fs::symlinkat(text, dir, name))
    }

    /// What has this name, which is not followed.
    fn place(&self) -> Result<Place<'_>, Fault> {
        let Last::Name(name) = &self.last else { return Err(errno::EISDIR.into()) };
        let at = At::Name { name: name.bare().into(), slash: false };
        Ok(Place::new(self.mounts, self.mount, Handle::Borrowed(self.dir.as_fd()), at, false))
    }

    /// Removes a file, or whatever is no directory.
    pub(crate) fn remove_file(&self) -> Result<(), Fault> {
        let Last::Name(name) = &self.last else { return Err(errno::EISDIR.into()) };
        self.mounts.writable(self.mount)?;
        if name.busy {
            return Err(errno::EISDIR.into());
        }
        Ok(rustix::fs::unlinkat(&self.dir, &*name.text, AtFlags::empty())?)
    }

    /// Removes a directory, which must be empty.
    pub(crate) fn remove_dir(&self) -> Result<(), Fault> {
        let name = match &self.last {
            Last::Name(name) => name,
            Last::Root => return Err(errno::EBUSY.into()),
            Last::Dot => return Err(errno::EINVAL.into()),
            Last::DotDot => return Err(errno::ENOTEMPTY.into()),
        };
        self.mounts.writable(self.mount)?;
        if name.busy {
            return Err(errno::EBUSY.into());
        }
        Ok(rustix::fs::unlinkat(&self.dir, &*name.text, AtFlags::REMOVEDIR)?)
    }

    /// Gives it another name.
    ///
    /// Both names must be in one grant. Else what was granted for reading could come to where it may be written, or a
    /// device to where devices may be opened.
    pub(crate) fn rename(&self, to: &Self, flags: RenameFlags) -> Result<(), Fault> {
        if self.mount != to.mount {
            return Err(errno::EXDEV.into());
        }
        let Last::Name(from_name) = &self.last else { return Err(errno::EBUSY.into()) };
        let Last::Name(to_name) = &to.last else {
            return Err(if flags.contains(RenameFlags::NOREPLACE) { errno::EEXIST } else { errno::EBUSY }.into());
        };
        self.mounts.writable(self.mount)?;
        if from_name.busy || to_name.busy {
            return self.refuse_rename(from_name, to, to_name, flags);
        }
        Ok(rustix::fs::renameat_with(&self.dir, &*from_name.text, &to.dir, &*to_name.text, flags)?)
    }

    /// Why nothing is renamed where one name is of the guest's tree itself. (A name that becomes what it is already is
    /// no mistake.)
    fn refuse_rename(&self, from: &Name, to: &Self, to_name: &Name, flags: RenameFlags) -> Result<(), Fault> {
        let exchange = flags.contains(RenameFlags::EXCHANGE);
        let (old, new) = (self.found(from)?, to.found(to_name)?);
        let refused = match (old, new) {
            (Found::Nothing, _) => errno::ENOENT,
            (_, Found::Nothing) if exchange => errno::ENOENT,
            (_, Found::Directory | Found::Other) if flags.contains(RenameFlags::NOREPLACE) => errno::EEXIST,
            (_, Found::Other) if exchange && to_name.slash => errno::ENOTDIR,
            (Found::Other, _) if from.slash || to_name.slash && !exchange => errno::ENOTDIR,
            (Found::Directory, Found::Directory) if from.bare() == to_name.bare() && same(&self.dir, &to.dir)? => return Ok(()),
            (Found::Directory, Found::Other) if !exchange => errno::ENOTDIR,
            (Found::Other, Found::Directory) if !exchange => errno::EISDIR,
            _ => errno::EBUSY,
        };
        Err(refused.into())
    }

    /// Gives a link this name, too.
    pub(super) fn link_to(&self, old: &Self) -> Result<(), Fault> {
        let Last::Name(name) = &old.last else { return Err(Fault::LedOut) };
        self.link(old.mount, |dir, new| rustix::fs::linkat(&old.dir, name.bare(), dir, new, AtFlags::empty()))
    }

    /// Gives what is at a place this name, too.
    pub(super) fn link_to_place(&self, old: &Place<'_>, file: &File) -> Result<(), Fault> {
        let name = by_descriptor(file);
        self.link(old.mount(), |dir, new| rustix::fs::linkat(CWD, &name, dir, new, AtFlags::SYMLINK_FOLLOW))
    }

    fn link(&self, old: Option<usize>, link: impl FnOnce(BorrowedFd<'_>, &[u8]) -> rustix::io::Result<()>) -> Result<(), Fault> {
        let same_mount = old == self.mount;
        self.make(false, |dir, new| {
            if !same_mount {
                // As the kernel does, after the new name was found to be free.
                return match rustix::fs::statat(dir, new, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(Errno::NOENT) => Err(Errno::XDEV),
                    Err(error) => Err(error),
                };
            }
            link(dir, new)
        })
    }
}

/// Whether two handles are of one directory.
fn same(one: &Handle<'_>, other: &Handle<'_>) -> Result<bool, Fault> {
    let [one, other] = [rustix::fs::fstat(one)?, rustix::fs::fstat(other)?];
    Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

/// The name that leads to what a descriptor stands for, and nowhere else: for calls that take no descriptor of what is
/// not open.
pub(crate) fn by_descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

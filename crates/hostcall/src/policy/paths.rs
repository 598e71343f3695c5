//! The guest's tree, and the one way from a path to what it names.
//!
//! Guests see one tree. Grants are mounted in it, as a kernel mounts directories: at a grant's name its directory is
//! seen, and whatever was there before is hidden. The *nodes* of the tree are the names of grants and what is above
//! them. They are always directories, never links, and a guest cannot rename, remove or make them. Where a node is no
//! grant, and the grant around it has no directory of that name, an empty directory of the server's is seen
//! ([`above`]).
//!
//! A path becomes a [`Place`] (what it leads to) or an [`Entry`] (a name in a directory, which may be free). Nothing
//! else makes one, and all that is done with paths is done through them. Their rights are those of the grant in which
//! they *are*, whatever names, `..` and links led there. There are two ways:
//!
//! * A path that begins with the name of a grant with no other grant below it is resolved by the system, which leaves
//!   no granted directory: one `openat2`. It leads out of it only by [`Fault::LedOut`].
//! * All other paths are [walked](walk) part by part, each relative to an open directory.
//!
//! So a directory that is renamed while a path is resolved leads nowhere that was not granted.
//!
//! The kernel's own trees, `/proc` and `/sys`, are not there unless they are granted: whoever looks for something in
//! them is told so, and not that it is refused. Paths are bytes, as the system has them.

mod above;
mod direct;
mod entry;
mod hints;
mod place;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, OFlags};

use self::above::Above;
use self::tree::{Node, Tree};
use super::denials::Denials;
use super::errno::{self, Fault};
use super::grant::{Access, DirGrant, GrantError};

pub(crate) use self::entry::{Entry, by_descriptor};
pub(crate) use self::place::Place;

/// A granted directory.
#[derive(Debug)]
struct Mount {
    grant: DirGrant,
    /// Where it is in the guest's tree.
    node: Node,
    /// The host's directory, from the root.
    host: PathBuf,
    dir: OwnedFd,
}

/// The granted directories.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    list: Vec<Mount>,
    tree: Tree,
    /// Where relative paths start: one slash before each component, so that the root is empty.
    start: Vec<u8>,
    above: Above,
    pub(crate) denials: Denials,
}

/// How often a path is walked anew, if what it names is exchanged again and again meanwhile.
const WALKS: usize = 16;
/// The most bytes of a path, as Linux has it.
const PATH: usize = 4095;

/// An open directory.
#[derive(Debug)]
enum Handle<'a> {
    Borrowed(BorrowedFd<'a>),
    Owned(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Borrowed(fd) => *fd,
            Self::Owned(fd) => fd.as_fd(),
        }
    }
}

/// Whether a descriptor stands for a link.
fn is_link(file: impl AsFd) -> Result<bool, Fault> {
    Ok(rustix::fs::fstat(file)?.st_mode & libc::S_IFMT == libc::S_IFLNK)
}

/// The parts of a path that count: what is between two slashes is none, nor is `.`.
fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

impl Mounts {
    pub(crate) fn add(&mut self, grant: &DirGrant) -> Result<(), GrantError> {
        let guest = grant.guest.as_bytes();
        if guest.contains(&0) || components(guest).any(|part| part == b"..") {
            return Err(GrantError::Name { guest: grant.guest.clone() });
        }
        let known = components(guest).try_fold(Tree::ROOT, |node, part| self.tree.child(node, part));
        if known.is_some_and(|node| self.tree.mount(node).is_some()) {
            return Err(GrantError::Taken { guest: grant.guest.clone() });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(CWD, &grant.host, flags, Mode::empty())
            .map_err(|error| GrantError::Open { host: grant.host.clone(), source: error.into() })?;
        // For hints only: without it there are fewer.
        let host = grant.host.canonicalize().unwrap_or_else(|_| grant.host.clone());
        let node = self.tree.mount_at(components(guest), self.list.len());
        self.list.push(Mount { grant: grant.clone(), node, host, dir });
        Ok(())
    }

    /// Has relative paths start in this directory of the guest's tree.
    pub(crate) fn start_in(&mut self, dir: &OsStr) {
        self.start = components(dir.as_bytes()).flat_map(|part| [b"/", part].concat()).collect();
    }

    /// Where relative paths start.
    pub(crate) fn start(&self) -> &[u8] {
        if self.start.is_empty() { b"/" } else { &self.start }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A path that can be one, from the root on.
    fn absolute<'p>(&self, path: &'p [u8]) -> Result<Cow<'p, [u8]>, Fault> {
        match path {
            [] => Err(errno::ENOENT.into()),
            _ if path.contains(&0) => Err(errno::EINVAL.into()),
            _ if path.len() > PATH => Err(errno::ENAMETOOLONG.into()),
            [b'/', ..] => Ok(path.into()),
            _ => Ok([&self.start, &b"/"[..], path].concat().into()),
        }
    }

    /// Does something with what a path leads to; through a link at its end, if `follow` says so.
    pub(crate) fn at<T>(&self, path: &[u8], follow: bool, act: impl Fn(&Place<'_>) -> Result<T, Fault>) -> Result<T, u32> {
        self.attempt(|walk| act(&self.place(path, follow, walk)?))
    }

    /// Does something with a name in a directory. A link of that name is what is meant, not what it leads to.
    pub(crate) fn entry<T>(&self, path: &[u8], act: impl Fn(&Entry<'_>) -> Result<T, Fault>) -> Result<T, u32> {
        self.attempt(|walk| act(&self.name(path, walk)?))
    }

    /// As [`Mounts::entry`], with two names.
    pub(crate) fn entries<T>(&self, from: &[u8], to: &[u8], act: impl Fn(&Entry<'_>, &Entry<'_>) -> Result<T, Fault>) -> Result<T, u32> {
        self.attempt(|walk| act(&self.name(from, walk)?, &self.name(to, walk)?))
    }

    /// Gives a file another name; to what a link leads, if `follow` says so, else to the link.
    pub(crate) fn link(&self, old: &[u8], new: &[u8], follow: bool) -> Result<(), u32> {
        self.attempt(|walk| {
            let place = self.place(old, follow, walk)?;
            let file = place.anchor()?;
            let new = self.name(new, walk)?;
            // A link has no name but that in its directory.
            if is_link(&file)? { new.link_to(&self.name(old, walk)?) } else { new.link_to_place(&place, &file) }
        })
    }

    /// The path, without links and `..`, of what a path leads to.
    pub(crate) fn canonical(&self, path: &[u8]) -> Result<Vec<u8>, u32> {
        self.attempt(|_| {
            let place = self.place(path, true, true)?;
            place.metadata()?;
            Ok(place.into_text())
        })
    }

    /// Resolves paths directly where that can be done, and else, and if it was not enough, by walks.
    fn attempt<T>(&self, act: impl Fn(bool) -> Result<T, Fault>) -> Result<T, u32> {
        let mut done = act(false);
        for _ in 0..WALKS {
            match done {
                Err(Fault::LedOut) => done = act(true),
                _ => break,
            }
        }
        done.map_err(Fault::number)
    }

    fn place(&self, path: &[u8], follow: bool, walk: bool) -> Result<Place<'_>, Fault> {
        let whole = self.absolute(path)?;
        let direct = if walk { None } else { self.direct_place(&whole, follow) };
        direct.map_or_else(|| walk::to_place(self, &whole, path, follow), Ok)
    }

    fn name(&self, path: &[u8], walk: bool) -> Result<Entry<'_>, Fault> {
        let whole = self.absolute(path)?;
        let direct = if walk { None } else { self.direct_entry(&whole)? };
        direct.map_or_else(|| walk::to_entry(self, &whole, path), Ok)
    }

    /// The grant of a mount. Without one it is what the server has above the grants.
    fn grant(&self, mount: Option<usize>) -> Option<&DirGrant> {
        mount.map(|mount| &self.list[mount].grant)
    }

    fn is_writable(&self, mount: Option<usize>) -> bool {
        self.grant(mount).is_some_and(|grant| grant.access == Access::ReadWrite)
    }

    /// Refuses what a grant for reading does not allow.
    fn writable(&self, mount: Option<usize>) -> Result<(), Fault> {
        if self.is_writable(mount) {
            return Ok(());
        }
        if let Some(mount) = mount {
            let Mount { grant, node, .. } = &self.list[mount];
            let name = self.tree.name(*node);
            let other = DirGrant { access: Access::ReadWrite, ..grant.clone() };
            self.denials.instead(format_args!("to write below {name}, which is granted for reading"), || [other.flag(), grant.flag()]);
        }
        Err(errno::EACCES.into())
    }

    /// Refuses FIFOs and devices under a grant that does not say that it has them.
    fn special_files(&self, mount: Option<usize>) -> Result<(), Fault> {
        if self.grant(mount).is_some_and(|grant| grant.special) {
            return Ok(());
        }
        if let Some(mount) = mount {
            let Mount { grant, node, .. } = &self.list[mount];
            let name = self.tree.name(*node);
            let other = DirGrant { special: true, ..grant.clone() };
            self.denials.instead(format_args!("to open a FIFO or a device below {name}"), || [other.flag(), grant.flag()]);
        }
        Err(errno::EACCES.into())
    }
}

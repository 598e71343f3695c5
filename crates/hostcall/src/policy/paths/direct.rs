//! Paths that the system resolves by itself, or most of them.
//!
//! It can where a path begins, part by part and without `..`, with the name of a grant. If no other grant is below that
//! one, the rest may have links and `..`, as long as it stays in the granted directory. If one is, the rest must have
//! none of both: then the path is what it says.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::entry::{Entry, Last, Name};
use super::place::{At, Place};
use super::tree::Tree;
use super::{Fault, Handle, Mounts};

/// What a path begins with.
struct Begins<'p> {
    mount: usize,
    /// The path behind the grant's name.
    rest: &'p [u8],
    /// The rest begins with something that is no name in the tree.
    leaves_tree: bool,
}

/// A path's directory and its last part, and whether a slash ends it. The directory is empty if there is but one part.
fn split(path: &[u8]) -> (&[u8], &[u8], bool) {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let begin = path[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    (&path[..begin], &path[begin..end], end < path.len())
}

/// Without slashes, and `.`, at its beginning.
fn trimmed(mut path: &[u8]) -> &[u8] {
    while let Some(rest) = path.strip_prefix(b"/").or_else(|| path.strip_prefix(b"./")) {
        path = rest;
    }
    path
}

impl Mounts {
    /// The grant with the longest name that a path begins with.
    fn begins<'p>(&self, path: &'p [u8]) -> Option<Begins<'p>> {
        let (mut node, mut ahead) = (Tree::ROOT, trimmed(path));
        let mut found = self.tree.mount(node).map(|mount| (mount, ahead));
        loop {
            let (part, rest) = ahead.split_at(ahead.iter().position(|byte| *byte == b'/').unwrap_or(ahead.len()));
            let Some(child) = self.tree.child(node, part) else { break };
            (node, ahead) = (child, trimmed(rest));
            found = self.tree.mount(node).map(|mount| (mount, ahead)).or(found);
        }
        let leaves_tree = !matches!(ahead, b"" | b"." | b"..") && !ahead.starts_with(b"../");
        found.map(|(mount, rest)| Begins { mount, rest, leaves_tree })
    }

    fn dir_of(&self, mount: usize) -> Handle<'_> {
        Handle::Borrowed(self.list[mount].dir.as_fd())
    }

    fn has_others_below(&self, mount: usize) -> bool {
        self.tree.has_children(self.list[mount].node)
    }

    /// A directory below a granted one.
    pub(super) fn open_below(&self, mount: usize, path: &[u8], resolve: ResolveFlags) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(&self.list[mount].dir, path, flags, Mode::empty(), resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS)
    }

    pub(super) fn direct_place(&self, path: &[u8], follow: bool) -> Option<Place<'_>> {
        let Begins { mount, rest, leaves_tree } = self.begins(path)?;
        let place = |dir, at| Some(Place::new(self, Some(mount), dir, at, follow));
        if rest.is_empty() {
            return place(self.dir_of(mount), At::Itself);
        }
        if !self.has_others_below(mount) {
            return place(self.dir_of(mount), At::Beneath(rest.into()));
        }
        let (dir, name, slash) = self.direct_parent(mount, rest, leaves_tree)?;
        if (follow || slash) && rustix::fs::readlinkat(&dir, name, Vec::new()).is_ok() {
            return None;
        }
        place(dir, At::Name { name: name.into(), slash })
    }

    /// The directory of a path's last part, that part, and whether a slash ends it, if no link and no `..` is in the
    /// way.
    fn direct_parent<'p>(&self, mount: usize, rest: &'p [u8], leaves_tree: bool) -> Option<(Handle<'_>, &'p [u8], bool)> {
        let (parent, name, slash) = split(rest);
        if !leaves_tree || name == b"." || rest.split(|byte| *byte == b'/').any(|part| part == b"..") {
            return None;
        }
        let dir = match parent {
            [] => self.dir_of(mount),
            _ => Handle::Owned(self.open_below(mount, parent, ResolveFlags::NO_SYMLINKS).ok()?),
        };
        Some((dir, name, slash))
    }

    pub(super) fn direct_entry(&self, path: &[u8]) -> Result<Option<Entry<'_>>, Fault> {
        let Some(Begins { mount, rest, leaves_tree }) = self.begins(path) else { return Ok(None) };
        let entry = |dir, name: &[u8], slash| Entry::new(self, Some(mount), dir, Last::Name(Name::new(name, slash, false)));
        if self.has_others_below(mount) {
            return Ok(self.direct_parent(mount, rest, leaves_tree).map(|(dir, name, slash)| entry(dir, name, slash)));
        }
        let (parent, name, slash) = split(rest);
        if matches!(name, b"" | b"." | b"..") {
            return Ok(None);
        }
        let dir = match parent {
            [] => self.dir_of(mount),
            _ => match self.open_below(mount, parent, ResolveFlags::empty()) {
                Ok(dir) => Handle::Owned(dir),
                Err(error) if leads_out(error) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
        };
        Ok(Some(entry(dir, name, slash)))
    }
}

/// Whether a path has to be walked: it leads out of the directory that it began in, or something is renamed just now,
/// or this system has no `openat2` (some say so by `EPERM`).
pub(super) fn leads_out(error: Errno) -> bool {
    matches!(error, Errno::XDEV | Errno::AGAIN | Errno::NOSYS | Errno::PERM)
}

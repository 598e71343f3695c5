//! The directories above what is granted. A program that was given `/data/in` finds `/` and `/data`, as on any system:
//! they can be looked at, listed, and gone through by `..`; there is nothing else in them, and nothing can be made in
//! them.
//!
//! They are real ones, in a temporary directory that is made when the first of them is asked for. What is *in* them is
//! known from the tree of names; nothing is ever looked up in the temporary directory, which a guest that was granted
//! the host's `/tmp` can change.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags};
use tempfile::TempDir;

use super::tree::{Node, Tree};

/// Those of one server: a handle for each name in the tree.
#[derive(Debug, Default)]
pub(super) struct Above(OnceLock<Option<(Vec<OwnedFd>, TempDir)>>);

impl Above {
    /// The directory of a name. `None` if this machine makes no temporary directory.
    pub(super) fn dir(&self, tree: &Tree, node: Node) -> Option<BorrowedFd<'_>> {
        let made = self.0.get_or_init(|| make(tree).ok());
        made.as_ref().map(|(dirs, _)| dirs[Tree::index(node)].as_fd())
    }
}

fn make(tree: &Tree) -> io::Result<(Vec<OwnedFd>, TempDir)> {
    let root = TempDir::new()?;
    let open = |node: Node| {
        let text = tree.text(node);
        let path = root.path().join(OsStr::from_bytes(text.strip_prefix(b"/").unwrap_or(text)));
        if node != Tree::ROOT {
            fs::create_dir(&path)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(CWD, &path, flags, Mode::empty())?)
    };
    let dirs = tree.all().map(open).collect::<io::Result<_>>()?;
    Ok((dirs, root))
}

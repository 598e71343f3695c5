//! A path that is walked in the guest's tree, part by part.
//!
//! Each part is opened relative to the directory that was reached, and as a directory that is no link. So no part leads
//! elsewhere than it says, whatever is renamed meanwhile. Where the part is a name of the tree itself, the walk crosses
//! into the grant of that name. A link is replaced by its text, which begins where the link lies, or at the root. `..`
//! goes back to where the walk came from: out of a grant to the directory that holds its name; elsewhere by the
//! system's `..`, and if that is another directory than the one that was walked through, somebody has moved it, and the
//! walk begins anew.
//!
//! A walk keeps one directory open, and one more for each grant that it is in.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::entry::{Entry, Last, Name};
use super::place::{At, Place};
use super::tree::{Node, Tree};
use super::{Fault, Handle, Mounts, PATH, errno};

/// The most symbolic links of one path, as Linux has it.
const LINKS: usize = 40;

/// Which directory it is, of all of the host.
type Identity = (u64, u64);

/// A directory that was walked into.
#[derive(Debug)]
struct Step {
    /// What it is in: a grant, or what the server has above them.
    mount: Option<usize>,
    /// If it is of the tree itself.
    node: Option<Node>,
    /// How it was reached.
    reached: Reached,
    /// Bytes of the walk's text before it.
    before: usize,
}

#[derive(Debug)]
enum Reached {
    /// It is a granted directory, or the server's. The directory from which it was reached was this.
    Crossed(Option<OwnedFd>),
    /// It is in the directory before.
    Entered(Identity),
}

#[derive(Debug)]
struct Walk<'m> {
    mounts: &'m Mounts,
    /// From the root on; never empty.
    steps: Vec<Step>,
    /// The last step's directory, if it was entered.
    here: Option<OwnedFd>,
    /// The path without links and `..`: a slash before each part.
    text: Vec<u8>,
    /// What is still to be walked, the next part last.
    ahead: Vec<Box<[u8]>>,
    /// A slash ends what is to be walked.
    slash: bool,
    links: usize,
    /// Whether whoever named this began at the root.
    from_root: bool,
}

/// What a path leads to.
pub(super) fn to_place<'m>(mounts: &'m Mounts, whole: &[u8], asked: &[u8], follow: bool) -> Result<Place<'m>, Fault> {
    let mut walk = Walk::new(mounts, whole, asked)?;
    while let Some(part) = walk.ahead.pop() {
        match &*part {
            b"." => {}
            b".." => walk.leave()?,
            name if walk.is_of_tree(name) || !walk.ahead.is_empty() => walk.go(name)?,
            name => {
                let mount = walk.granted(name)?;
                if follow || walk.slash {
                    // Whatever else is wrong with the name, opening it says so.
                    if let Ok(text) = rustix::fs::readlinkat(walk.dir(mount), name, Vec::new()) {
                        walk.replace(text.as_bytes())?;
                        continue;
                    }
                }
                walk.append(name);
                let at = At::Name { name: name.into(), slash: walk.slash };
                return Ok(Place::new(mounts, Some(mount), walk.handle(mount), at, follow || walk.slash).with_text(walk.text));
            }
        }
    }
    let (mount, dir) = walk.reached()?;
    Ok(Place::new(mounts, mount, dir, At::Itself, follow).with_text(walk.text))
}

/// The directory of a path's last part, and that part.
pub(super) fn to_entry<'m>(mounts: &'m Mounts, whole: &[u8], asked: &[u8]) -> Result<Entry<'m>, Fault> {
    let mut walk = Walk::new(mounts, whole, asked)?;
    let mut last = Last::Root;
    while let Some(part) = walk.ahead.pop() {
        let at_end = walk.ahead.is_empty();
        match &*part {
            b"." if at_end => last = Last::Dot,
            b".." if at_end => last = Last::DotDot,
            b"." => {}
            b".." => walk.leave()?,
            name if at_end => {
                let busy = walk.is_of_tree(name);
                if !busy {
                    walk.granted(name)?;
                }
                last = Last::Name(Name::new(name, walk.slash, busy));
            }
            name => walk.go(name)?,
        }
    }
    let (mount, dir) = walk.reached()?;
    Ok(Entry::new(mounts, mount, dir, last))
}

impl<'m> Walk<'m> {
    fn new(mounts: &'m Mounts, whole: &[u8], asked: &[u8]) -> Result<Self, Fault> {
        let mut walk = Self {
            mounts,
            steps: vec![mounts.root()],
            here: None,
            text: Vec::new(),
            ahead: Vec::new(),
            slash: false,
            links: 0,
            from_root: asked.starts_with(b"/"),
        };
        walk.push(whole);
        if mounts.is_empty() {
            return Err(walk.denied(None));
        }
        Ok(walk)
    }

    /// Has a path walked before what is ahead.
    fn push(&mut self, path: &[u8]) {
        if self.ahead.is_empty() {
            self.slash |= path.ends_with(b"/");
        }
        // A dot counts at the end only, where it is a name of the directory before it.
        let mut parts = path.rsplit(|byte| *byte == b'/').filter(|part| !part.is_empty());
        let last = parts.next().filter(|part| *part != b"." || self.ahead.is_empty());
        self.ahead.extend(last.into_iter().chain(parts.filter(|part| *part != b".")).map(Box::from));
    }

    fn last(&self) -> &Step {
        self.steps.last().expect("the root is never left")
    }

    /// The directory that was reached, in a grant.
    fn dir(&self, mount: usize) -> BorrowedFd<'_> {
        self.here.as_ref().unwrap_or(&self.mounts.list[mount].dir).as_fd()
    }

    /// As [`Walk::dir`], to keep.
    fn handle(&mut self, mount: usize) -> Handle<'m> {
        let mounts = self.mounts;
        self.here.take().map_or_else(|| Handle::Borrowed(mounts.list[mount].dir.as_fd()), Handle::Owned)
    }

    /// The directory that was reached, and what it is in.
    fn reached(&mut self) -> Result<(Option<usize>, Handle<'m>), Fault> {
        let Step { mount, node, .. } = *self.last();
        let dir = match mount {
            Some(mount) => self.handle(mount),
            // The server's own are all of the tree.
            None => {
                let dir = self.mounts.above.dir(&self.mounts.tree, node.unwrap_or(Tree::ROOT));
                Handle::Borrowed(dir.ok_or(errno::EACCES)?)
            }
        };
        Ok((mount, dir))
    }

    /// The name of the tree itself that a name is in the directory that was reached.
    fn node(&self, name: &[u8]) -> Option<Node> {
        self.mounts.tree.child(self.last().node?, name)
    }

    fn is_of_tree(&self, name: &[u8]) -> bool {
        self.node(name).is_some()
    }

    /// The grant that the directory is in. Above the grants there is nothing but names of the tree.
    fn granted(&self, name: &[u8]) -> Result<usize, Fault> {
        self.last().mount.ok_or_else(|| self.denied(Some(name)))
    }

    fn append(&mut self, name: &[u8]) {
        self.text.push(b'/');
        self.text.extend_from_slice(name);
    }

    /// Walks into a directory, or has a link's text walked.
    fn go(&mut self, name: &[u8]) -> Result<(), Fault> {
        let node = self.node(name);
        if let Some(node) = node
            && let Some(mount) = self.mounts.tree.mount(node)
        {
            self.cross(name, node, Some(mount));
            return Ok(());
        }
        let mount = match (self.last().mount, node) {
            (Some(mount), _) => mount,
            (None, Some(node)) => {
                self.cross(name, node, None);
                return Ok(());
            }
            (None, None) => return Err(self.denied(Some(name))),
        };
        match open_dir(self.dir(mount), name) {
            Ok(dir) => {
                let step = Step { mount: Some(mount), node, reached: Reached::Entered(identity(&dir)?), before: self.text.len() };
                self.append(name);
                self.steps.push(step);
                self.here = Some(dir);
                Ok(())
            }
            Err(error @ (Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => match node {
                // A name of the tree is a directory, whatever the grant has there.
                Some(node) => {
                    self.cross(name, node, None);
                    Ok(())
                }
                None if error == Errno::NOENT => Err(error.into()),
                None => match rustix::fs::readlinkat(self.dir(mount), name, Vec::new()) {
                    Ok(text) => self.replace(text.as_bytes()),
                    Err(Errno::INVAL) => Err(errno::ENOTDIR.into()),
                    Err(error) => Err(error.into()),
                },
            },
            Err(error) => Err(error.into()),
        }
    }

    fn cross(&mut self, name: &[u8], node: Node, mount: Option<usize>) {
        let step = Step { mount, node: Some(node), reached: Reached::Crossed(self.here.take()), before: self.text.len() };
        self.append(name);
        self.steps.push(step);
    }

    /// Walks to the directory before. The root is its own.
    fn leave(&mut self) -> Result<(), Fault> {
        let [.., before, last] = &*self.steps else { return Ok(()) };
        let here = match (&last.reached, &self.here) {
            (Reached::Entered(_), Some(here)) => {
                let up = open_dir(here.as_fd(), b"..")?;
                match before.reached {
                    Reached::Entered(known) if identity(&up)? == known => Some(up),
                    Reached::Entered(_) => return Err(Fault::LedOut),
                    // It is the granted directory, which is open.
                    Reached::Crossed(_) => None,
                }
            }
            _ => None,
        };
        if let Some(Step { reached, before, .. }) = self.steps.pop() {
            self.text.truncate(before);
            self.here = match reached {
                Reached::Crossed(back) => back,
                Reached::Entered(_) => here,
            };
        }
        Ok(())
    }

    /// Has a link's text walked, from the directory that was reached or from the root.
    fn replace(&mut self, text: &[u8]) -> Result<(), Fault> {
        self.links += 1;
        if self.links > LINKS {
            return Err(errno::ELOOP.into());
        }
        if text.is_empty() {
            return Err(errno::ENOENT.into());
        }
        if text.len() > PATH {
            return Err(errno::ENAMETOOLONG.into());
        }
        if text.starts_with(b"/") {
            self.steps.truncate(1);
            self.here = None;
            self.text.clear();
            self.from_root = true;
        }
        self.push(text);
        Ok(())
    }

    /// What is said of a path that is in no grant.
    fn denied(&self, name: Option<&[u8]>) -> Fault {
        let mut path = self.text.clone();
        for part in name.into_iter().chain(self.ahead.iter().rev().map(|part| &**part)) {
            path.push(b'/');
            path.extend_from_slice(part);
        }
        self.mounts.denied(&path, self.from_root)
    }
}

impl Mounts {
    fn root(&self) -> Step {
        Step { mount: self.tree.mount(Tree::ROOT), node: Some(Tree::ROOT), reached: Reached::Crossed(None), before: 0 }
    }
}

/// A directory, and no link to one.
fn open_dir(dir: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

fn identity(dir: &OwnedFd) -> Result<Identity, Fault> {
    let stat = rustix::fs::fstat(dir)?;
    Ok((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::policy::{Access, DirGrant};

    #[test]
    fn the_way_back_out_of_a_directory_that_was_moved_meanwhile_leads_nowhere() {
        let host = tempfile::tempdir().unwrap();
        fs::create_dir_all(host.path().join("granted/a/b")).unwrap();
        fs::create_dir(host.path().join("elsewhere")).unwrap();
        let mut mounts = Mounts::default();
        mounts.add(&DirGrant::new(host.path().join("granted"), "/", Access::ReadWrite)).unwrap();
        let mut walk = Walk::new(&mounts, b"/", b"/").unwrap();
        walk.go(b"a").unwrap();
        let a = identity(walk.here.as_ref().unwrap()).unwrap();
        walk.go(b"b").unwrap();
        walk.leave().unwrap();
        assert_eq!(identity(walk.here.as_ref().unwrap()), Ok(a), "nobody has moved it");
        walk.go(b"b").unwrap();
        fs::rename(host.path().join("granted/a/b"), host.path().join("elsewhere/b")).unwrap();
        assert_eq!(walk.leave().unwrap_err(), Fault::LedOut);
    }

    #[test]
    fn a_walk_follows_as_many_links_as_linux_and_texts_as_long_as_paths() {
        let host = tempfile::tempdir().unwrap();
        let mut mounts = Mounts::default();
        mounts.add(&DirGrant::new(host.path(), "/", Access::ReadOnly)).unwrap();
        let mut walk = Walk::new(&mounts, b"/", b"/").unwrap();
        assert_eq!(walk.replace(&[b'x'; PATH]), Ok(()));
        assert_eq!(walk.replace(&[b'x'; PATH + 1]), Err(Fault::Errno(errno::ENAMETOOLONG)));
        assert_eq!(walk.replace(b""), Err(Fault::Errno(errno::ENOENT)));
        (4..LINKS).for_each(|_| assert_eq!(walk.replace(b"x"), Ok(())));
        assert_eq!(walk.replace(b"x"), Ok(()), "the last that is followed");
        assert_eq!(walk.replace(b"x"), Err(Fault::Errno(errno::ELOOP)));
    }
}

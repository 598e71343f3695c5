//! What is said of a path that is in no grant: what the program has instead, and which flag would grant it.
//!
//! A path that a guest invented is never looked up on the host. Its first part is compared with names that are listed
//! in the directory that this process is in and in the root, and is looked up in what is granted.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::AtFlags;

use super::super::quoted::quoted;
use super::{Access, DirGrant, Fault, Mounts, components, errno};

/// Trees that tell a program of its own kernel. It has none.
const OF_KERNELS: [&[u8]; 2] = [b"proc", b"sys"];

/// What the program has instead, for messages about a path that is in no grant.
struct Granted<'a>(&'a Mounts);

impl fmt::Display for Granted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mounts { list, tree, .. } = self.0;
        for (i, mount) in list.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { " beside what is granted (" } else { ", " }, tree.name(mount.node))?;
        }
        f.write_str(if list.is_empty() { "" } else { ")" })
    }
}

/// Where names of the host are compared with what a guest asked for: the root, and the directory of this process.
pub(super) const LISTED: [&str; 2] = ["/", "."];

/// Whether a name that a directory has is a directory's. `None` if it has no such name, or a link's.
fn listed(dir: &Path, name: &OsStr) -> Option<bool> {
    let entry = fs::read_dir(dir).ok()?.flatten().find(|entry| entry.file_name() == name)?;
    let kind = entry.file_type().ok()?;
    (!kind.is_symlink()).then_some(kind.is_dir())
}

impl Mounts {
    /// Notes that a path is in no grant. Without a slash at its beginning it is the root's.
    pub(super) fn denied(&self, path: &[u8], from_root: bool) -> Fault {
        if components(path).next().is_some_and(|top| OF_KERNELS.contains(&top)) {
            return errno::ENOENT.into();
        }
        let shown = quoted(if path.is_empty() { b"/" } else { path });
        self.denials.note(format_args!("for {shown}{}", Granted(self)), || self.hint(path, from_root, LISTED.map(Path::new)).flag());
        errno::EACCES.into()
    }

    /// The grant that a path needs, as far as can be told: programs name what is here by names from here, and what they
    /// were granted by names of theirs.
    pub(super) fn hint(&self, path: &[u8], from_root: bool, [root, here]: [&Path; 2]) -> DirGrant {
        let asked = Path::new(OsStr::from_bytes(path));
        let absolute = self.list.iter().filter(|mount| mount.host.is_absolute() && mount.host != Path::new("/"));
        if let Some(mount) = absolute.into_iter().find(|mount| asked.starts_with(&mount.host)) {
            // It is granted under another name: also under this one.
            return DirGrant { host: mount.host.clone(), guest: mount.host.clone().into(), ..mount.grant.clone() };
        }
        let mut parts = components(path);
        let Some(top) = parts.next().filter(|top| *top != b"..").map(OsStr::from_bytes) else {
            return DirGrant::new(".", ".", Access::ReadWrite);
        };
        // A name alone may be a file's, which is granted with the directory that it is in.
        let alone = parts.next().is_none();
        if from_root && let Some(true) = listed(root, top) {
            let dir = root.join(top);
            return DirGrant::new(dir, Path::new("/").join(top), Access::ReadWrite);
        }
        // The program is in the root of its grants, where whoever started it took it to be in one of them.
        for mount in &self.list {
            if let Ok(stat) = rustix::fs::statat(&mount.dir, top, AtFlags::SYMLINK_NOFOLLOW) {
                return match stat.st_mode & libc::S_IFMT {
                    libc::S_IFDIR => DirGrant { host: mount.host.join(top), guest: top.into(), ..mount.grant.clone() },
                    _ => DirGrant { host: mount.host.clone(), guest: "/".into(), ..mount.grant.clone() },
                };
            }
        }
        let dir = here.join(top);
        match listed(here, top) {
            Some(true) => DirGrant::new(dir.strip_prefix(".").unwrap_or(&dir), top, Access::ReadWrite),
            Some(false) => DirGrant::new(here, ".", Access::ReadWrite),
            None if alone => DirGrant::new(DirGrant::PLACEHOLDER, "/", Access::ReadWrite),
            None => DirGrant::new(DirGrant::PLACEHOLDER, top, Access::ReadWrite),
        }
    }
}

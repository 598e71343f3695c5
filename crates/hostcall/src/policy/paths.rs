//! How a guest's path finds its grant.
//!
//! Guests see one tree. A path is cut at `/`; `.` and empty components are left out. A path that does not begin with `/`
//! starts in the directory that the policy says, which is the root unless it says another. The path's components are compared
//! with the grants' names. The longest name that the path begins with is its grant, and the rest of the path is resolved inside
//! it by `cap-std`, which refuses whatever leads out of the granted directory. Then, and if there is `..` before or within the
//! name, [`links`] says where the path leads in the guest's tree: perhaps to another grant. The directories above a grant are
//! there, too ([`above`]), also where they are in another grant whose directory has none of that name. The kernel's own trees, `/proc` and `/sys`, are not there unless they are granted: whoever looks
//! for something in them is told so, and not that it is refused.
//!
//! Paths are bytes, as the system has them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use hostcall_abi::services::errno;

use self::above::Above;
use super::denials::Denials;
use super::grant::{Access, DirGrant, GrantError};

#[derive(Debug)]
struct Mount {
    name: Vec<Box<[u8]>>,
    /// The name as [`Place::grant`].
    text: Arc<OsStr>,
    /// The host's directory, from the root.
    host: PathBuf,
    dir: Arc<Dir>,
    access: Access,
    special: bool,
}

/// The granted directories.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    list: Vec<Mount>,
    /// Where relative paths start: one slash before each component, so that the root is empty.
    start: Vec<u8>,
    above: Above,
    pub(crate) denials: Denials,
}

/// Trees that tell a program of its own kernel. It has none.
const OF_KERNELS: [&[u8]; 2] = [b"proc", b"sys"];

/// Where a guest's path leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) dir: Arc<Dir>,
    /// Never empty, never absolute.
    pub(crate) path: PathBuf,
    /// The grant's name: one slash before each component.
    pub(crate) grant: Arc<OsStr>,
    access: Access,
    special: bool,
    denials: Denials,
}

impl Place {
    /// Whether the grant is one for writing.
    pub(crate) fn is_writable(&self) -> bool {
        self.access == Access::ReadWrite
    }

    /// Whether the grant has its FIFOs and devices.
    pub(crate) fn has_special_files(&self) -> bool {
        self.special
    }

    fn name(&self) -> std::path::Display<'_> {
        Path::new(if self.grant.is_empty() { OsStr::new("/") } else { &self.grant }).display()
    }

    /// Refuses FIFOs and devices under a grant that does not say that it has them.
    pub(crate) fn special_files(&self) -> Result<(), u32> {
        if self.special {
            return Ok(());
        }
        let name = self.name();
        self.denials.note(format_args!("to open a FIFO or a device below {name}"), || format!("--dir HOST::{name}:special"));
        Err(errno::EACCES)
    }

    /// Refuses what a read-only grant does not allow.
    pub(crate) fn writable(self) -> Result<Self, u32> {
        if self.is_writable() {
            return Ok(self);
        }
        let name = self.name();
        self.denials.note(format_args!("to write below {name}, which is granted for reading"), || format!("--dir HOST::{name}"));
        Err(errno::EACCES)
    }
}

fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// What the program has instead, for messages about a path that is in no grant.
struct Granted<'a>(&'a [Mount]);

impl fmt::Display for Granted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, mount) in self.0.iter().enumerate() {
            let name = if mount.text.is_empty() { OsStr::new("/") } else { &mount.text };
            write!(f, "{}{}", if i == 0 { " beside what is granted (" } else { ", " }, Path::new(name).display())?;
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

impl Mounts {
    pub(crate) fn add(&mut self, grant: &DirGrant) -> Result<(), GrantError> {
        let guest = grant.guest.as_bytes();
        let name: Vec<Box<[u8]>> = components(guest).map(Box::from).collect();
        if guest.contains(&0) || name.iter().any(|part| **part == *b"..") {
            return Err(GrantError::Name { guest: grant.guest.clone() });
        }
        if self.list.iter().any(|mount| mount.name == name) {
            return Err(GrantError::Taken { guest: grant.guest.clone() });
        }
        let dir = Dir::open_ambient_dir(&grant.host, ambient_authority())
            .map_err(|source| GrantError::Open { host: grant.host.clone(), source })?;
        let text = name.iter().flat_map(|part| [b"/", &**part].concat()).collect::<Vec<u8>>();
        let text = OsStr::from_bytes(&text).into();
        // For hints only: without it there are fewer.
        let host = grant.host.canonicalize().unwrap_or_else(|_| grant.host.clone());
        self.list.push(Mount { name, text, host, dir: Arc::new(dir), access: grant.access, special: grant.special });
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

    /// The path from the root on.
    fn absolute<'a>(&self, path: &'a [u8]) -> Cow<'a, [u8]> {
        if self.start.is_empty() || path.is_empty() || path.starts_with(b"/") {
            return path.into();
        }
        [&self.start, &b"/"[..], path].concat().into()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The grant that a guest's path is in, and the path inside it.
    pub(crate) fn resolve(&self, path: &[u8]) -> Result<Place, u32> {
        if path.is_empty() {
            return Err(errno::ENOENT);
        }
        if path.contains(&0) {
            return Err(errno::EINVAL);
        }
        let path = self.absolute(path);
        if let Some(place) = self.find(&path) {
            return Ok(place);
        }
        if components(&path).any(|part| part == b"..") {
            return self.resolve_links(&path, false);
        }
        if components(&path).next().is_some_and(|top| OF_KERNELS.contains(&top)) {
            return Err(errno::ENOENT);
        }
        let shown = path_of(&path).display();
        self.denials.note(format_args!("for {shown}{}", Granted(&self.list)), || format!("--dir {}", self.hint(&path)));
        Err(errno::EACCES)
    }

    /// As [`resolve`](Self::resolve), without a word about a path that is in no grant.
    fn find(&self, path: &[u8]) -> Option<Place> {
        let begins = |mount: &&Mount| {
            let mut parts = components(path);
            mount.name.iter().all(|part| parts.next() == Some(&**part))
        };
        let Some(mount) = self.list.iter().filter(begins).max_by_key(|mount| mount.name.len()) else { return self.find_above(path) };
        let mut rest: PathBuf = components(path).skip(mount.name.len()).map(OsStr::from_bytes).collect();
        if rest.as_os_str().is_empty() {
            rest.push(".");
        } else if self.is_way_to_grant(path, mount, &rest) {
            return self.find_above(path);
        } else if path.ends_with(b"/") || path.ends_with(b"/.") {
            // What has a slash at its end must be a directory.
            rest.push("");
        }
        Some(Place {
            dir: mount.dir.clone(),
            path: rest,
            grant: mount.text.clone(),
            access: mount.access,
            special: mount.special,
            denials: self.denials.clone(),
        })
    }

    /// Whether a path in one grant is a directory above another, and the first has nothing of that name.
    fn is_way_to_grant(&self, path: &[u8], mount: &Mount, rest: &Path) -> bool {
        let parts: Vec<&[u8]> = components(path).collect();
        Above::has(&self.list, &parts) && mount.dir.symlink_metadata(rest).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// A directory above a grant.
    fn find_above(&self, path: &[u8]) -> Option<Place> {
        let parts: Vec<&[u8]> = components(path).collect();
        let dir = Above::has(&self.list, &parts).then(|| self.above.root(&self.list))??;
        let path = if parts.is_empty() { ".".into() } else { parts.into_iter().map(OsStr::from_bytes).collect() };
        Some(Place { dir, path, grant: OsStr::new("").into(), access: Access::ReadOnly, special: false, denials: self.denials.clone() })
    }

    /// The value of `--dir` that grants a path, as far as can be told: programs name what is here by names from here, and what they were granted by names of
    /// theirs.
    fn hint(&self, path: &[u8]) -> String {
        let asked = path_of(path);
        let inside = self
            .list
            .iter()
            .filter(|mount| mount.host.is_absolute())
            .find_map(|mount| asked.ancestors().find(|ancestor| ancestor.is_absolute() && *ancestor == mount.host));
        if let Some(dir) = inside {
            // It is granted under another name: also under this one.
            return dir.display().to_string();
        }
        let Some(top) = components(path).next().filter(|top| *top != b"..").map(path_of) else { return ".".into() };
        let from_root = Path::new("/").join(top);
        if path.starts_with(b"/") && from_root.exists() {
            return from_root.display().to_string();
        }
        // The program is in the root of its grants, where whoever started it took it to be in one of them.
        if let Some(mount) = self.list.iter().find(|mount| mount.dir.symlink_metadata(top).is_ok()) {
            return format!("{}::{}", mount.host.join(top).display(), top.display());
        }
        if top.exists() { top.display().to_string() } else { format!("HOST::{}", top.display()) }
    }
}

mod above;
mod links;

#[cfg(test)]
mod tests;

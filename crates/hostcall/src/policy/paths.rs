//! How a guest's path finds its grant.
//!
//! Guests see one tree. A path is cut at `/`; `.` and empty components are left out; all paths start at the root. The
//! path's components are compared with the grants' names. The longest name that the path begins with is its grant, and
//! the rest of the path is resolved inside it. If `..` follows the name, `cap-std` follows it as far as the granted
//! directory, not beyond. Before or within the name, `..` is refused.

use std::path::PathBuf;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use hostcall_abi::services::errno;

use super::denials::Denials;
use super::grant::{Access, DirGrant, GrantError};

#[derive(Debug)]
struct Mount {
    name: Vec<String>,
    /// The name as [`Place::grant`].
    text: Arc<str>,
    dir: Arc<Dir>,
    access: Access,
    special: bool,
}

/// The granted directories.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    list: Vec<Mount>,
    pub(crate) denials: Denials,
}

/// Where a guest's path leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) dir: Arc<Dir>,
    /// Never empty, never absolute.
    pub(crate) path: PathBuf,
    /// The grant's name: one slash before each component.
    pub(crate) grant: Arc<str>,
    access: Access,
    special: bool,
    denials: Denials,
}

impl Place {
    fn name(&self) -> &str {
        if self.grant.is_empty() { "/" } else { &self.grant }
    }

    /// Refuses FIFOs and devices under a grant that does not say that it has them.
    pub(crate) fn special_files(&self) -> Result<(), u32> {
        if self.special {
            return Ok(());
        }
        let name = self.name();
        self.denials.note(format_args!("to open a FIFO or a device below {name}"), format_args!("--dir HOST::{name}:special"));
        Err(errno::EACCES)
    }

    /// Refuses what a read-only grant does not allow.
    pub(crate) fn writable(self) -> Result<Self, u32> {
        if self.access == Access::ReadWrite {
            return Ok(self);
        }
        let name = self.name();
        self.denials.note(format_args!("to write below {name}, which is granted for reading"), format_args!("--dir HOST::{name}"));
        Err(errno::EACCES)
    }
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

impl Mounts {
    pub(crate) fn add(&mut self, grant: &DirGrant) -> Result<(), GrantError> {
        let guest = &grant.guest;
        let name: Vec<String> = components(guest).map(str::to_owned).collect();
        if guest.contains('\0') || name.iter().any(|part| part == "..") {
            return Err(GrantError::Name { guest: guest.clone() });
        }
        if self.list.iter().any(|mount| mount.name == name) {
            return Err(GrantError::Taken { guest: guest.clone() });
        }
        let dir = Dir::open_ambient_dir(&grant.host, ambient_authority())
            .map_err(|source| GrantError::Open { host: grant.host.clone(), source })?;
        let text = name.iter().map(|part| format!("/{part}")).collect::<String>().into();
        self.list.push(Mount { name, text, dir: Arc::new(dir), access: grant.access, special: grant.special });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The grant that a guest's path is in, and the path inside it.
    pub(crate) fn resolve(&self, path: &str) -> Result<Place, u32> {
        if path.is_empty() {
            return Err(errno::ENOENT);
        }
        if path.contains('\0') {
            return Err(errno::EINVAL);
        }
        let begins = |mount: &&Mount| {
            let mut parts = components(path);
            mount.name.iter().all(|part| parts.next() == Some(part))
        };
        let mount = self.list.iter().filter(begins).max_by_key(|mount| mount.name.len());
        let mount = mount.ok_or_else(|| {
            let root = if path.starts_with('/') { "/" } else { "" };
            match components(path).next().filter(|top| *top != "..") {
                None => self.denials.note(format_args!("for {path}"), "--dir ."),
                Some(top) => self.denials.note(format_args!("for {path}"), format_args!("--dir {root}{top}")),
            }
            errno::EACCES
        })?;
        let mut rest: PathBuf = components(path).skip(mount.name.len()).collect();
        if rest.as_os_str().is_empty() {
            rest.push(".");
        } else if path.ends_with('/') || path.ends_with("/.") {
            // What has a slash at its end must be a directory.
            rest.push("");
        }
        Ok(Place {
            dir: mount.dir.clone(),
            path: rest,
            grant: mount.text.clone(),
            access: mount.access,
            special: mount.special,
            denials: self.denials.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mounts(grants: &[(&str, &str, Access)]) -> (tempfile::TempDir, Mounts) {
        let host = tempfile::tempdir().unwrap();
        let mut mounts = Mounts::default();
        for (dir, guest, access) in grants {
            fs::create_dir_all(host.path().join(dir)).unwrap();
            mounts.add(&DirGrant::new(host.path().join(dir), *guest, *access)).unwrap();
        }
        (host, mounts)
    }

    fn rest(mounts: &Mounts, path: &str) -> Result<String, u32> {
        mounts.resolve(path).map(|place| place.path.display().to_string())
    }

    #[test]
    fn the_longest_name_that_a_path_begins_with_is_its_grant() {
        let (host, mounts) = mounts(&[("a", "/data", Access::ReadOnly), ("b", "data/deep", Access::ReadWrite)]);
        fs::write(host.path().join("b/x"), "b").unwrap();
        assert_eq!(rest(&mounts, "/data/x").unwrap(), "x");
        assert_eq!(rest(&mounts, "data/./deepx//y").unwrap(), "deepx/y");
        assert_eq!(mounts.resolve("/data/deep/x").unwrap().dir.read("x").unwrap(), b"b");
        assert_eq!(rest(&mounts, "/data/deep").unwrap(), ".");
        assert!(mounts.resolve("/data/x").unwrap().writable().is_err());
        assert!(mounts.resolve("/data/deep/x").unwrap().writable().is_ok());
    }

    #[test]
    fn paths_outside_every_grant_are_refused() {
        let (_host, mounts) = mounts(&[("a", "/data", Access::ReadWrite)]);
        for path in ["/etc/passwd", "/", ".", "dat", "/database", "..", "../data/x", "x/../data", "/data/../etc"] {
            let place = mounts.resolve(path);
            // The last is resolved inside the grant, where `..` leads nowhere.
            assert!(place.is_err() || path == "/data/../etc", "{path}");
        }
        assert_eq!(mounts.resolve("/data\0").unwrap_err(), errno::EINVAL);
        assert_eq!(mounts.resolve("").unwrap_err(), errno::ENOENT);
        assert!(Mounts::default().resolve("/x").is_err());
    }

    #[test]
    fn a_root_grant_has_every_path() {
        let (_host, mounts) = mounts(&[("a", "/", Access::ReadWrite)]);
        assert_eq!(rest(&mounts, "/etc/passwd").unwrap(), "etc/passwd");
        assert_eq!(rest(&mounts, "/").unwrap(), ".");
    }

    #[test]
    fn bad_grants_are_named() {
        let (host, mut mounts) = mounts(&[("a", "/data", Access::ReadWrite)]);
        let add = |mounts: &mut Mounts, dir: &str, guest: &str| mounts.add(&DirGrant::new(host.path().join(dir), guest, Access::ReadOnly));
        assert!(matches!(add(&mut mounts, "a", "data/"), Err(GrantError::Taken { .. })));
        assert!(matches!(add(&mut mounts, "a", "x/../y"), Err(GrantError::Name { .. })));
        assert!(matches!(add(&mut mounts, "missing", "/m"), Err(GrantError::Open { .. })));
    }
}

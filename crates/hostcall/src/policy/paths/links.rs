//! Where a path leads that leaves its grant: through `..`, or through a symbolic link.
//!
//! `cap-std` refuses to leave a granted directory. For the guest such a path may be a good one. Its tree has one root,
//! at which absolute links begin, and `..` of one grant may be in another. So the path is walked in the guest's tree,
//! part by part, and every symbolic link is replaced by what it says. The result is a path without links and `..`. It is
//! then resolved as any other path, in whichever grant it is. Nothing is opened here. If a link is exchanged meanwhile,
//! `cap-std` refuses the path for good.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStringExt as _;

use hostcall_abi::services::errno;

use super::{Mounts, Place, components};

/// The most symbolic links of one path, as Linux has it.
const LINKS: usize = 40;
/// The most bytes of a path, as Linux has it.
const PATH: usize = 4096;

impl Mounts {
    /// As [`resolve`](Mounts::resolve), of a path that leaves its grant. A symbolic link at its end is replaced if `follow` says so.
    pub(crate) fn resolve_links(&self, path: &[u8], follow: bool) -> Result<Place, u32> {
        if path.len() > PATH {
            return Err(errno::ENAMETOOLONG);
        }
        let path = &*self.absolute(path);
        let owned = |path: &[u8]| components(path).map(Box::from).collect::<Vec<Box<[u8]>>>();
        let ends_in_slash = path.ends_with(b"/") || path.ends_with(b"/.");
        let mut ahead: VecDeque<Box<[u8]>> = owned(path).into();
        let mut walked: Vec<u8> = Vec::new();
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            if *part == *b".." {
                // The root is its own parent.
                walked.truncate(walked.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
                continue;
            }
            let before = walked.len();
            walked.push(b'/');
            walked.extend_from_slice(&part);
            if ahead.is_empty() && !follow && !ends_in_slash {
                break;
            }
            let Some(text) = self.link_at(&walked) else { continue };
            links += 1;
            if links > LINKS {
                return Err(errno::ELOOP);
            }
            // A relative link begins at the directory that it is in.
            walked.truncate(if text.starts_with(b"/") { 0 } else { before });
            for part in owned(&text).into_iter().rev() {
                ahead.push_front(part);
            }
        }
        walked.extend_from_slice(if walked.is_empty() || ends_in_slash { b"/" } else { b"" });
        self.resolve(&walked)
    }

    /// The text of the symbolic link that a path leads to, if it is one. No other part of the path is one.
    fn link_at(&self, path: &[u8]) -> Option<Vec<u8>> {
        let place = self.find(path)?;
        // The granted directory itself is none, whatever the host's path of it is.
        (place.path.as_os_str() != OsStr::new(".")).then_some(())?;
        let text = place.dir.read_link_contents(&place.path).ok()?;
        Some(text.into_os_string().into_vec()).filter(|text| !text.is_empty() && text.len() <= PATH)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::grant::{Access, DirGrant};
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn two_grants() -> (tempfile::TempDir, Mounts) {
        let host = tempfile::tempdir().unwrap();
        let mut mounts = Mounts::default();
        for (dir, guest, access) in [("a", "/data", Access::ReadWrite), ("b", "/other/deep", Access::ReadOnly)] {
            fs::create_dir(host.path().join(dir)).unwrap();
            fs::write(host.path().join(dir).join("f"), dir).unwrap();
            mounts.add(&DirGrant::new(host.path().join(dir), guest, access)).unwrap();
        }
        (host, mounts)
    }

    fn leads(mounts: &Mounts, path: &str, follow: bool) -> Result<(String, String), u32> {
        let place = mounts.resolve_links(path.as_bytes(), follow)?;
        Ok((place.grant.to_str().unwrap().to_owned(), place.path.display().to_string()))
    }

    fn at(grant: &str, path: &str) -> Result<(String, String), u32> {
        Ok((grant.to_owned(), path.to_owned()))
    }

    #[test]
    fn links_are_followed_in_the_programs_tree() {
        let (host, mounts) = two_grants();
        let link = |target: &str, name: &str| symlink(target, host.path().join("a").join(name)).unwrap();
        link("/data/f", "absolute");
        link("../other/deep/f", "relative");
        link("/data/relative", "twice");
        link("/other/deep", "dir");
        link("/", "whole");
        for follow in [true, false] {
            assert_eq!(leads(&mounts, "/data/dir/f", follow), at("/other/deep", "f"));
            assert_eq!(leads(&mounts, "/data/whole/data/./whole/data/f", follow), at("/data", "f"));
            assert_eq!(leads(&mounts, "/data/dir/../deep/../../data/f", follow), at("/data", "f"));
            assert_eq!(leads(&mounts, "/data/../../../data/f", follow), at("/data", "f"), "the root is its own parent");
        }
        assert_eq!(leads(&mounts, "/data/absolute", true), at("/data", "f"));
        assert_eq!(leads(&mounts, "/data/relative", true), at("/other/deep", "f"));
        assert_eq!(leads(&mounts, "/data/twice", true), at("/other/deep", "f"));
        assert_eq!(leads(&mounts, "/data/twice", false), at("/data", "twice"));
        assert_eq!(leads(&mounts, "/data/dir/", false), at("/other/deep", "."), "a slash at the end follows a link");
        assert!(mounts.resolve_links(b"/data/dir/f", true).unwrap().writable().is_err(), "the grant that it leads to counts");
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        let (host, mounts) = two_grants();
        let link = |target: &str, name: &str| symlink(target, host.path().join("a").join(name)).unwrap();
        link(host.path().join("b/f").to_str().unwrap(), "hosts");
        link("/etc/passwd", "out");
        link("../../../../etc", "up");
        link("/data/b", "a");
        link("/data/a", "b");
        for path in ["/data/hosts", "/data/out", "/data/up/passwd", "/data/../etc/passwd", "/data/up/../data/../etc"] {
            assert_eq!(leads(&mounts, path, true), Err(errno::EACCES), "{path}");
        }
        assert_eq!(leads(&mounts, "/data/a", true), Err(errno::ELOOP));
        assert_eq!(leads(&mounts, "/data/a", false), at("/data", "a"));
        assert_eq!(leads(&mounts, &format!("/data/{}", "x/".repeat(3000)), true), Err(errno::ENAMETOOLONG));
        let many = format!("/data/{}f", "x/../".repeat(700));
        assert_eq!(leads(&mounts, &many, true), at("/data", "f"));
    }
}

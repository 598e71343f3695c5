//! The directories above what is granted. A program that was given `/data/in` finds `/` and `/data`, as on any system: they can be looked at, listed, and
//! gone through by `..`; there is nothing else in them, and nothing can be made in them.
//!
//! They are real ones, in a temporary directory that is made when the first of them is asked for.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tempfile::TempDir;

use super::{Mount, path_of};

/// Those of one program.
#[derive(Debug, Default)]
pub(super) struct Above(OnceLock<Option<(Arc<Dir>, TempDir)>>);

impl Above {
    /// Whether a path is one of them.
    pub(super) fn has(mounts: &[Mount], path: &[&[u8]]) -> bool {
        let is_above = |mount: &Mount| mount.name.len() > path.len() && mount.name.iter().zip(path).all(|(own, part)| **own == **part);
        mounts.iter().any(is_above)
    }

    /// The root. `None` if this machine makes no temporary directory.
    pub(super) fn root(&self, mounts: &[Mount]) -> Option<Arc<Dir>> {
        let made = self.0.get_or_init(|| {
            let root = TempDir::new().ok()?;
            for mount in mounts {
                fs::create_dir_all(mount.name.iter().fold(root.path().to_owned(), |dir, part| dir.join(path_of(part)))).ok()?;
            }
            let dir = Dir::open_ambient_dir(Path::new(root.path()), ambient_authority()).ok()?;
            Some((Arc::new(dir), root))
        });
        made.as_ref().map(|(dir, _)| dir.clone())
    }
}

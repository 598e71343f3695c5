//! What a path leads to.

use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::direct::leads_out;
use super::{Fault, Handle, Mounts, errno, is_link};

/// Where something is, relative to an open directory.
#[derive(Debug)]
pub(super) enum At {
    /// It is the directory.
    Itself,
    /// At the end of this path, which the system does not let lead out of the directory. No other grant is below it.
    Beneath(Box<[u8]>),
    /// It has this name in the directory, which is followed by no link. With a slash it must be a directory.
    Name { name: Box<[u8]>, slash: bool },
}

/// What a path leads to, with the rights of the grant that it is in. Only [`Mounts`] makes one.
#[derive(Debug)]
pub(crate) struct Place<'m> {
    mounts: &'m Mounts,
    mount: Option<usize>,
    dir: Handle<'m>,
    at: At,
    /// A link is not what was meant, but what it leads to.
    follow: bool,
    /// The path without links and `..`, if it was walked.
    text: Vec<u8>,
}

impl<'m> Place<'m> {
    pub(super) fn new(mounts: &'m Mounts, mount: Option<usize>, dir: Handle<'m>, at: At, follow: bool) -> Self {
        Self { mounts, mount, dir, at, follow, text: Vec::new() }
    }

    pub(super) fn with_text(self, text: Vec<u8>) -> Self {
        Self { text, ..self }
    }

    pub(super) fn into_text(self) -> Vec<u8> {
        if self.text.is_empty() { b"/".to_vec() } else { self.text }
    }

    #[cfg(test)]
    pub(super) fn at(self) -> At {
        self.at
    }

    pub(super) fn mount(&self) -> Option<usize> {
        self.mount
    }

    /// Whether the grant is one for writing.
    pub(crate) fn is_writable(&self) -> bool {
        self.mounts.is_writable(self.mount)
    }

    /// Refuses what a grant for reading does not allow.
    pub(crate) fn writable(&self) -> Result<(), Fault> {
        if !self.is_writable()
            && let At::Beneath(_) = self.at
            && let Err(Fault::LedOut) = self.anchor()
        {
            // The rights are those of where it leads.
            return Err(Fault::LedOut);
        }
        self.mounts.writable(self.mount)
    }

    /// Refuses FIFOs and devices under a grant that does not say that it has them.
    pub(crate) fn special_files(&self) -> Result<(), Fault> {
        self.mounts.special_files(self.mount)
    }

    /// Opens it, with the system's flags.
    pub(crate) fn open(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd, Fault> {
        let flags = flags | OFlags::CLOEXEC;
        let exact = flags | OFlags::NOFOLLOW;
        // `openat2` takes none where nothing is made.
        let mode = if flags.contains(OFlags::CREATE) { mode } else { Mode::empty() };
        let opened = match &self.at {
            At::Itself => rustix::fs::openat(&self.dir, c".", exact, mode),
            At::Beneath(path) => {
                let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
                let opened = rustix::fs::openat2(&self.dir, &**path, if self.follow { flags } else { exact }, mode, resolve);
                return opened.map_err(|error| if leads_out(error) { Fault::LedOut } else { error.into() });
            }
            At::Name { slash: true, .. } if flags.contains(OFlags::CREATE) => return Err(errno::EISDIR.into()),
            At::Name { name, slash } => {
                let exact = if *slash { exact | OFlags::DIRECTORY } else { exact };
                rustix::fs::openat(&self.dir, &**name, exact, mode)
            }
        };
        match opened {
            // It was no link when its path was walked.
            Err(Errno::LOOP) if self.follow => Err(Fault::LedOut),
            Ok(file) if self.follow && flags.contains(OFlags::PATH) && is_link(&file)? => Err(Fault::LedOut),
            opened => Ok(opened?),
        }
    }

    /// A descriptor through which nothing can be read or written, whatever it is.
    pub(crate) fn anchor(&self) -> Result<File, Fault> {
        Ok(self.open(OFlags::PATH, Mode::empty())?.into())
    }

    /// All that is known of it.
    pub(crate) fn metadata(&self) -> Result<Metadata, Fault> {
        Ok(self.anchor()?.metadata()?)
    }

    /// What the link says. `EINVAL` if it is none.
    pub(crate) fn read_link(&self) -> Result<Vec<u8>, Fault> {
        let link = self.anchor()?;
        match rustix::fs::readlinkat(&link, c"", Vec::new()) {
            Ok(text) => Ok(text.into_bytes()),
            // Of a descriptor that is no link's the system says that there is none.
            Err(Errno::NOENT) => Err(errno::EINVAL.into()),
            Err(error) => Err(error.into()),
        }
    }
}

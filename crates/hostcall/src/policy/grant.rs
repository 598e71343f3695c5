//! A directory as the user grants it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::str::FromStr;

use super::quoted::quoted;

/// What may be done in a granted directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Files may be read and directories listed.
    ReadOnly,
    /// Anything.
    ReadWrite,
}

/// A directory of the host under the name by which kernels know it.
///
/// As text, `HOST[::GUEST][:ro][:special]`: `data` grants `./data` under the name `data`, `/srv/in::/data:ro` grants
/// `/srv/in` under the name `/data`, for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGrant {
    /// The host's directory.
    pub host: PathBuf,
    /// Its name for kernels. A leading `/` makes no difference; `/` or `.` is the root of all their paths.
    pub guest: OsString,
    /// What may be done there.
    pub access: Access,
    /// Whether FIFOs and character devices in it may be opened. They never make a call wait: it says `EAGAIN` instead.
    /// (Sockets and block devices cannot be opened whatever is granted.)
    pub special: bool,
}

impl DirGrant {
    /// A grant of `host` under the name `guest`, without FIFOs and devices.
    pub fn new(host: impl Into<PathBuf>, guest: impl Into<OsString>, access: Access) -> Self {
        Self { host: host.into(), guest: guest.into(), access, special: false }
    }

    /// Where only a user knows which directory of the host is meant.
    pub(crate) const PLACEHOLDER: &str = "HOST";

    /// The flag of `cargo hostcall run` that grants it, as a shell reads it.
    pub(crate) fn flag(&self) -> String {
        let text = self.text().or_else(|| Self { host: Self::PLACEHOLDER.into(), ..self.clone() }.text());
        format!("--dir {}", quoted(text.as_deref().unwrap_or(OsStr::new(Self::PLACEHOLDER)).as_bytes()))
    }

    /// The text that [`DirGrant::parse`] reads as this grant. `None` if there is none.
    fn text(&self) -> Option<OsString> {
        let (host, guest) = (self.host.as_os_str().as_bytes(), self.guest.as_bytes());
        let names = [host.to_vec(), [host, b"::", guest].concat()];
        let special = if self.special { ":special" } else { "" };
        let access = if self.access == Access::ReadOnly { [":ro", ":ro"] } else { ["", ":rw"] };
        let ways = names.iter().flat_map(|names| access.map(|access| [names, access.as_bytes(), special.as_bytes()].concat()));
        ways.map(OsString::from_vec).find(|text| Self::parse(text).is_ok_and(|grant| grant == *self))
    }

    /// With the FIFOs and character devices in it.
    #[must_use]
    pub fn with_special_files(self) -> Self {
        Self { special: true, ..self }
    }
}

/// Why a directory was not granted.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// It is not there, is no directory, or may not be opened.
    #[error("cannot grant {host}: {source}", host = host.display())]
    Open {
        /// The host's directory.
        host: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The guest name cannot be one.
    #[error("cannot grant a directory under the name `{guest}`: the name must not contain `..` or a zero byte", guest = guest.display())]
    Name {
        /// The name.
        guest: OsString,
    },
    /// Two grants have the same guest name.
    #[error("the name `{guest}` is granted twice: give one of the two another name, as in HOST::GUEST", guest = guest.display())]
    Taken {
        /// The name.
        guest: OsString,
    },
    /// Not of the form `HOST[::GUEST][:ro][:special]`.
    #[error("`{text}` is not of the form HOST[::GUEST][:ro][:special]", text = text.display())]
    Form {
        /// The text.
        text: OsString,
    },
}

hostcall_error::readable!(GrantError);

impl FromStr for DirGrant {
    type Err = GrantError;

    fn from_str(text: &str) -> Result<Self, GrantError> {
        Self::parse(text.as_ref())
    }
}

impl DirGrant {
    /// Reads `HOST[::GUEST][:ro][:special]`, whose names need not be UTF-8.
    ///
    /// # Errors
    /// [`GrantError::Form`] for anything else.
    pub fn parse(text: &OsStr) -> Result<Self, GrantError> {
        let mut rest = text.as_bytes();
        // In `HOST::ro` the guest's name is `ro`.
        let without = |text: &'_ [u8], word: &[u8]| text.strip_suffix(word).filter(|rest| !rest.ends_with(b":")).map(<[u8]>::len);
        let (mut access, mut special) = (None, false);
        loop {
            if let (Some(len), None) = (without(rest, b":ro"), access) {
                (rest, access) = (&rest[..len], Some(Access::ReadOnly));
            } else if let (Some(len), None) = (without(rest, b":rw"), access) {
                (rest, access) = (&rest[..len], Some(Access::ReadWrite));
            } else if let (Some(len), false) = (without(rest, b":special"), special) {
                (rest, special) = (&rest[..len], true);
            } else {
                break;
            }
        }
        let (host, guest) = rest.windows(2).position(|pair| pair == b"::").map_or((rest, rest), |at| (&rest[..at], &rest[at + 2..]));
        if host.is_empty() || guest.is_empty() {
            return Err(GrantError::Form { text: text.to_owned() });
        }
        let [host, guest] = [host, guest].map(OsStr::from_bytes);
        Ok(Self { special, ..Self::new(host, guest, access.unwrap_or(Access::ReadWrite)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String, Access) {
        let grant: DirGrant = text.parse().unwrap();
        (grant.host.display().to_string(), grant.guest.into_string().unwrap(), grant.access)
    }

    #[test]
    fn grants_are_written_as_host_guest_and_ro() {
        let of = |host: &str, guest: &str, access| (host.to_owned(), guest.to_owned(), access);
        assert_eq!(parsed("data"), of("data", "data", Access::ReadWrite));
        assert_eq!(parsed("data:ro"), of("data", "data", Access::ReadOnly));
        assert_eq!(parsed("/srv/in::/data"), of("/srv/in", "/data", Access::ReadWrite));
        assert_eq!(parsed("/srv/in::/data:ro"), of("/srv/in", "/data", Access::ReadOnly));
        assert_eq!(parsed("x::ro"), of("x", "ro", Access::ReadWrite));
        assert_eq!(parsed("x::y:rw"), of("x", "y", Access::ReadWrite));
        assert_eq!(parsed("with:colon"), of("with:colon", "with:colon", Access::ReadWrite));
    }

    #[test]
    fn special_files_are_granted_by_a_word_of_their_own() {
        let grant = |text: &str| text.parse::<DirGrant>().unwrap();
        let dev = DirGrant::new("/dev", "/dev", Access::ReadOnly).with_special_files();
        assert_eq!((grant("/dev::/dev:ro:special"), grant("/dev::/dev:special:ro")), (dev.clone(), dev));
        assert_eq!(grant("pipes:special"), DirGrant::new("pipes", "pipes", Access::ReadWrite).with_special_files());
        assert_eq!(grant("x::special"), DirGrant::new("x", "special", Access::ReadWrite));
        assert_eq!(grant("x:ro:ro"), DirGrant::new("x:ro", "x:ro", Access::ReadOnly));
    }

    #[test]
    fn grants_without_a_host_or_guest_are_refused() {
        for text in ["", "::x", "x::", ":ro", ":special", ":special:ro", "::"] {
            assert!(text.parse::<DirGrant>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_flag_of_a_grant_is_one_word_that_says_the_same() {
        for text in ["a", "a:ro", "a::/b", "a b::c", "/x::y:ro:rw", "x:special:rw", "::"] {
            let (host, guest) = text.split_once("::").unwrap_or((text, text));
            for (access, special) in [(Access::ReadOnly, false), (Access::ReadWrite, true), (Access::ReadWrite, false)] {
                let grant = DirGrant { special, ..DirGrant::new(host, guest, access) };
                match grant.text() {
                    Some(text) => assert_eq!(DirGrant::parse(&text).unwrap(), grant),
                    None => assert!(text == "::", "{grant:?}"),
                }
            }
        }
        assert_eq!(DirGrant::new("/a b", "c", Access::ReadOnly).flag(), "--dir '/a b::c:ro'");
        assert_eq!(DirGrant::new("with::two", "c", Access::ReadOnly).flag(), "--dir HOST::c:ro");
    }

    #[test]
    fn names_that_are_not_utf_8_are_granted() {
        let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
        let grant = DirGrant::parse(name(b"/srv/\xe9::\xff:ro")).unwrap();
        assert_eq!(grant, DirGrant::new(name(b"/srv/\xe9"), name(b"\xff"), Access::ReadOnly));
    }
}

//! Names under `/dev` that every system has, and that need no grant.

use super::object::{Object, Special};
use super::table;
use crate::abi::errno::{EEXIST, ENOTDIR, ENXIO};
use crate::abi::{O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL};
use crate::error::Errno;
use alloc::vec::Vec;

/// What such a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Special(Special),
    /// What a descriptor stands for.
    Descriptor(i32),
    /// A terminal, of which there is none.
    Terminal,
}

fn number(text: &[u8]) -> Option<i32> {
    let digits = !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
    digits.then(|| text.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0')))
}

/// What a path stands for, if it is such a name, with whatever else leads to the same place (`//`, `/./`).
pub(crate) fn named(path: &[u8]) -> Option<Named> {
    if !path.windows(2).any(|two| matches!(two, b"//" | b"/.")) {
        return directly(path);
    }
    let ends_in_slash = path.ends_with(b"/");
    let mut plain: Vec<u8> = Vec::with_capacity(path.len());
    for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
        plain.push(b'/');
        plain.extend_from_slice(part);
    }
    if path.starts_with(b"/") && !ends_in_slash { directly(&plain) } else { None }
}

/// The same, of a path that leads there directly.
fn directly(path: &[u8]) -> Option<Named> {
    if let Some(number) = path.strip_prefix(b"/dev/fd/").or_else(|| path.strip_prefix(b"/proc/self/fd/")).and_then(number) {
        return Some(Named::Descriptor(number));
    }
    Some(match path {
        b"/dev/null" => Named::Special(Special::Null),
        b"/dev/zero" => Named::Special(Special::Zero),
        b"/dev/full" => Named::Special(Special::Full),
        b"/dev/random" | b"/dev/urandom" => Named::Special(Special::Random),
        b"/dev/stdin" => Named::Descriptor(0),
        b"/dev/stdout" => Named::Descriptor(1),
        b"/dev/stderr" => Named::Descriptor(2),
        b"/dev/tty" => Named::Terminal,
        _ => return None,
    })
}

/// Opens what a path stands for, if it is such a name: a descriptor.
pub(crate) fn open(path: &[u8], flags: i32) -> Option<Result<i32, Errno>> {
    let named = named(path)?;
    Some(if flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL {
        Err(Errno(EEXIST))
    } else if flags & O_DIRECTORY != 0 {
        Err(Errno(ENOTDIR))
    } else {
        match named {
            Named::Special(special) => table::open_object(Object::Special(special), flags),
            Named::Descriptor(fd) => table::duplicate(fd, 0, flags & O_CLOEXEC),
            Named::Terminal => Err(Errno(ENXIO)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_every_system_has_are_known_and_others_are_not() {
        assert_eq!(named(b"/dev/null"), Some(Named::Special(Special::Null)));
        assert_eq!(named(b"/dev/fd/12"), Some(Named::Descriptor(12)));
        assert_eq!(named(b"/proc/self/fd/0"), Some(Named::Descriptor(0)));
        assert_eq!(named(b"//dev/./././full"), Some(Named::Special(Special::Full)));
        assert_eq!([named(b"/dev/x/../null"), named(b"/dev//null/"), named(b"./dev/null")], [None; 3]);
        for other in [&b"/dev/sda"[..], b"dev/null", b"/dev/fd/", b"/dev/fd/1x", b"/dev/fd/-1", b"/dev/fd/9999999999", b"/dev/null/", b""] {
            assert_eq!(named(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn a_terminal_is_not_there_and_nothing_is_made_in_place_of_a_name() {
        assert_eq!(open(b"/dev/tty", 2), Some(Err(Errno(ENXIO))));
        assert_eq!(open(b"/dev/null", O_CREAT | O_EXCL), Some(Err(Errno(EEXIST))));
        assert_eq!(open(b"/dev/zero", O_DIRECTORY), Some(Err(Errno(ENOTDIR))));
        assert_eq!(open(b"/dev/fd/55555", 0), Some(Err(Errno(crate::abi::errno::EBADF))));
    }
}

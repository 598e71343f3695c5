//! What a library brings along that rustc has not compiled: objects of C, which `#[link(kind = "static")]` in a source
//! puts there.
//!
//! rustc is told of most such libraries on its command line, and the compiler's wrapper reads it there. Those that a
//! source names are seen only in what rustc has made: an archive whose other members are its own.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: &[u8; 8] = b"!<arch>\n";
/// Before each member: name (16 bytes), date, owner, group, mode, size (10, from byte 48 on), end.
const HEAD: usize = 60;
/// The name of the table that has the names too long for a head.
const LONG_NAMES: &str = "//";

/// A member of an archive that is not rustc's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    /// Whether it is LLVM's bitcode, of which any machine's code can be made.
    pub(super) is_bitcode: bool,
}

/// How bitcode begins.
const BITCODE: [u8; 4] = [b'B', b'C', 0xc0, 0xde];

/// The members that are not rustc's, in an archive as GNU's tools have them.
pub(super) fn members(archive: &Path) -> io::Result<Vec<Member>> {
    read(File::open(archive)?)
}

fn read(mut archive: impl Read + Seek) -> io::Result<Vec<Member>> {
    let mut magic = [0; MAGIC.len()];
    archive.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (mut long, mut all) = (Vec::new(), Vec::new());
    let mut head = [0; HEAD];
    loop {
        match archive.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(all),
            Err(error) => return Err(error),
        }
        let field = |from: usize, to: usize| str::from_utf8(&head[from..to]).map(str::trim_end).unwrap_or_default();
        let size: u64 = field(48, 58).parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let name = field(0, 16);
        if name == LONG_NAMES {
            (&mut archive).take(size).read_to_end(&mut long)?;
            archive.seek_relative((size % 2) as i64)?;
            continue;
        }
        let name = match name.strip_prefix('/').map(str::parse::<usize>) {
            Some(Ok(at)) => long.get(at..).and_then(|rest| rest.split(|byte| *byte == b'/').next()).unwrap_or_default(),
            _ => name.strip_suffix('/').unwrap_or(name).as_bytes(),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        // (The index of symbols has no name but a slash.)
        if !name.is_empty() && !is_rustcs(&name) {
            let mut begin = Vec::new();
            (&mut archive).take(size.min(BITCODE.len() as u64)).read_to_end(&mut begin)?;
            archive.seek_relative(-(begin.len() as i64))?;
            all.push(Member { name, is_bitcode: begin == BITCODE });
        }
        // Members begin at even places.
        archive.seek(SeekFrom::Current(i64::try_from(size + size % 2).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?))?;
    }
}

fn is_rustcs(name: &str) -> bool {
    name.ends_with(".rcgu.o") || name.ends_with(".rmeta") || name.ends_with(".rcgu.bc")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn member(name: &str, contents: &[u8]) -> Vec<u8> {
        let mut all = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, contents.len()).into_bytes();
        all.extend_from_slice(contents);
        all.resize(all.len().next_multiple_of(2), b'\n');
        all
    }

    #[test]
    fn members_that_are_not_rustcs_are_named() {
        let names = b"lib.rmeta/\nseven.1234.x.rcgu.o/\na long name of C.o/\n";
        let at = |name: &str| names.windows(name.len()).position(|part| part == name.as_bytes()).expect("it is there");
        let mut archive = MAGIC.to_vec();
        archive.extend(member("/", &[0; 7]));
        archive.extend(member(LONG_NAMES, names));
        for name in ["lib.rmeta", "seven.1234.x", "a long name"] {
            archive.extend(member(&format!("/{}", at(name)), b"odd"));
        }
        archive.extend(member("seven.o/", b"BC\xc0\xde and more"));
        let named = |archive: &[u8]| {
            let members = read(Cursor::new(archive)).expect("what is there");
            members.into_iter().map(|Member { name, is_bitcode }| (name, is_bitcode)).collect::<Vec<_>>()
        };
        assert_eq!(named(&archive), [("a long name of C.o".into(), false), ("seven.o".into(), true)]);
        assert!(read(Cursor::new(b"!<thin>\nxxxx")).is_err() && read(Cursor::new(b"")).is_err());
        let cut = &archive[..archive.len() - 50];
        assert_eq!(named(cut), [("a long name of C.o".into(), false)]);
    }
}

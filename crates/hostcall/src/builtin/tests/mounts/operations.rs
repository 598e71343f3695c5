//! What is drawn: grants, files, operations; how the services do them, and which difference from the kernel is none.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;

use hostcall_abi::std_services::{open, stat, time};

use super::super::*;

/// A generator of numbers that are the same on every machine (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Names of which paths are made. `q` is never above a grant.
const NAMES: [&str; 6] = ["x", "y", "m", "n", "f", "q"];
/// Names under which directories are granted.
const GUESTS: [&str; 9] = ["/", "/", "/m", "/x", "/x/y", "/m/n", "/m/n/x", "/x/y/m", "/y/m"];

#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// Below a half's files.
    pub(super) host: PathBuf,
    pub(super) guest: &'static str,
    pub(super) access: Access,
}

/// What is granted.
#[derive(Debug)]
pub(super) struct Setting {
    /// Outer ones before inner ones.
    pub(super) grants: Vec<Grant>,
    /// Where relative paths begin.
    pub(super) start: String,
}

/// The part of a name behind another, if it is within it.
fn within<'a>(name: &'a str, outer: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(if outer == "/" { "" } else { outer })?;
    rest.strip_prefix('/').filter(|rest| !rest.is_empty())
}

impl Setting {
    pub(super) fn draw(random: &mut Random) -> Self {
        let mut guests: Vec<&'static str> = (0..2 + random.below(4)).map(|_| random.of(&GUESTS)).collect();
        guests.sort_unstable();
        guests.dedup();
        let mut grants: Vec<Grant> = Vec::new();
        for (number, guest) in guests.iter().copied().enumerate() {
            let is_outer = guests.iter().any(|other| within(other, guest).is_some());
            let access = random.of(&[Access::ReadOnly, Access::ReadWrite, Access::ReadWrite]);
            let outer = grants.iter().rev().find_map(|outer| Some((outer, within(guest, outer.guest)?)));
            let host = match (outer, random.below(4)) {
                // The same directory that it hides, with other rights.
                (Some((outer, rest)), 0 | 1) => outer.host.join(rest),
                // A directory that another grant has as well, and no third has anything in.
                (_, 2) if number > 0 && !is_outer => grants[random.below(number)].host.join("q"),
                _ => format!("h{number}").into(),
            };
            grants.push(Grant { host, guest, access });
        }
        let start = if random.once_in(2) { "/".to_owned() } else { grants[random.below(grants.len())].guest.to_owned() };
        Self { grants, start }
    }

    pub(super) fn has_root(&self) -> bool {
        self.grants[0].guest == "/"
    }

    /// The names of directories above grants, which are none themselves.
    pub(super) fn ways(&self) -> Vec<&'static str> {
        let above =
            |guest: &'static str| guest.match_indices('/').map(|(at, _)| &guest[..at]).filter(|way| !way.is_empty()).collect::<Vec<_>>();
        let mut ways: Vec<_> = self.grants.iter().flat_map(|grant| above(grant.guest)).collect();
        ways.retain(|way| self.grants.iter().all(|grant| grant.guest != *way));
        ways
    }

    /// Makes the files of a half.
    pub(super) fn make(&self, files: &Path, random: &mut Random) {
        // Links come last: what is made before goes through none, and so nowhere else.
        let mut links = Vec::new();
        for grant in &self.grants {
            let root = make_dirs(files, &grant.host);
            // One in four is empty.
            for _ in 0..random.of(&[0, 5, 9, 14]) {
                let depth = random.below(3);
                let dir = (0..depth).fold(root.clone(), |dir, _| dir.join(random.of(&NAMES)));
                let path = dir.join(random.of(&NAMES));
                // What cannot be made is not.
                let _ = fs::create_dir_all(&dir);
                let _ = match random.below(3) {
                    0 => fs::create_dir(&path),
                    1 if path.symlink_metadata().is_err() => fs::write(&path, path.strip_prefix(files).unwrap().to_str().unwrap()),
                    1 => Ok(()),
                    _ => {
                        links.push((self::path(random), path));
                        Ok(())
                    }
                };
            }
        }
        // What is mounted needs a directory to be mounted on.
        for grant in &self.grants {
            let outer = self.grants.iter().rev().find_map(|outer| Some((outer, within(grant.guest, outer.guest)?)));
            if let Some((outer, rest)) = outer {
                make_dirs(files, &outer.host.join(rest));
            }
        }
        for grant in &self.grants {
            make_dirs(files, &grant.host);
        }
        // A directory of a link may have become a file's name, or another link's.
        for (text, path) in &links {
            let real = path.strip_prefix(files).unwrap().parent().unwrap().components();
            let dirs = real.scan(files.to_owned(), |dir, part| {
                dir.push(part);
                Some(dir.clone())
            });
            if dirs.into_iter().all(|dir| dir.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())) {
                let _ = symlink(text, path);
            }
        }
    }
}

/// Makes a directory below another, whatever is there.
fn make_dirs(files: &Path, dir: &Path) -> PathBuf {
    fs::create_dir_all(files).unwrap();
    dir.components().fold(files.to_owned(), |dir, part| {
        let dir = dir.join(part);
        if dir.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            fs::remove_file(&dir).unwrap();
        }
        let _ = fs::create_dir(&dir);
        dir
    })
}

/// A path: of few names, so that many are there.
fn path(random: &mut Random) -> String {
    let mut path = String::from(if random.once_in(3) { "" } else { "/" });
    for part in 0..1 + random.below(5) {
        if part > 0 {
            path.push('/');
        }
        path += match random.below(12) {
            0 | 1 => "..",
            2 => ".",
            _ => random.of(&NAMES),
        };
    }
    if random.once_in(8) {
        path.push('/');
    }
    path
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Open(String, u32),
    Stat(String, bool),
    ReadLink(String),
    MakeDir(String),
    RemoveDir(String),
    RemoveFile(String),
    Rename(String, String, u32),
    Link(String, String, bool),
    Symlink(String, String),
    SetMode(String),
    SetLen(String),
    SetTimes(String, bool),
    Access(String, u32),
    Canonical(String),
}

pub(super) fn draw(random: &mut Random, setting: &Setting, count: usize) -> Vec<Operation> {
    let path = |random: &mut Random| {
        // Often a name that counts.
        if random.once_in(5) {
            format!("{}/{}", random.of(&setting.grants.iter().map(|grant| grant.guest).collect::<Vec<_>>()), path(random))
        } else {
            path(random)
        }
    };
    let one = |random: &mut Random| match random.below(18) {
        0..4 => Operation::Open(
            path(random),
            random.of(&[
                open::READ,
                open::READ | open::WRITE,
                open::WRITE | open::CREATE,
                open::READ | open::WRITE | open::CREATE,
                open::WRITE | open::CREATE | open::CREATE_NEW,
                open::WRITE | open::CREATE | open::TRUNCATE,
                open::READ | open::NO_FOLLOW,
                open::READ | open::DIRECTORY,
                open::PATH,
                open::PATH | open::NO_FOLLOW,
            ]),
        ),
        4 => Operation::Stat(path(random), random.once_in(2)),
        5 => Operation::ReadLink(path(random)),
        6..8 => Operation::MakeDir(path(random)),
        8 => Operation::RemoveDir(path(random)),
        9 => Operation::RemoveFile(path(random)),
        10..12 => Operation::Rename(path(random), path(random), random.of(&[0, 0, 1, 2])),
        12 => Operation::Link(path(random), path(random), random.once_in(2)),
        13 => Operation::Symlink(path(random), path(random)),
        14 => Operation::SetMode(path(random)),
        15 => {
            if random.once_in(2) {
                Operation::SetLen(path(random))
            } else {
                Operation::SetTimes(path(random), random.once_in(2))
            }
        }
        16 => Operation::Access(path(random), random.of(&[0, 2, 4])),
        _ => Operation::Canonical(path(random)),
    };
    (0..count).map(|_| one(random)).collect()
}

/// What an operation says that worked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Done,
    /// A file's kind, length, and number of names. (A directory's length and number of names say nothing.)
    Known(u32, u64, u64),
    Text(Vec<u8>),
    /// Names and kinds.
    List(Vec<(String, u32)>),
}

/// What became of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Said(Said),
    Error(u32),
    /// It was not tried: it would rename or remove a directory above a mount, which the kernel allows and this does
    /// not.
    Busy,
}

impl Outcome {
    /// Whether what the services do is what the kernel does.
    pub(super) fn allows(&self, found: &Result<Said, u32>, operation: &Operation, setting: &Setting) -> bool {
        match (self, found) {
            (Self::Said(said), Ok(found)) => said == found,
            (Self::Said(_), Err(_)) => false,
            (Self::Error(error), Err(found)) if error == found => true,
            // Files of a grant for reading.
            (Self::Error(errno::EROFS), Err(errno::EACCES)) => true,
            // A grant for reading is asked before the file is looked at.
            (Self::Error(_), Err(errno::EACCES)) if operation.changes_a_file() => true,
            // Nothing is made in a directory that was removed where it was granted from, whatever is said of it first.
            (Self::Error(errno::ENOENT), Err(errno::EACCES)) if operation.makes() => true,
            // Above the grants nothing is there, and who asks is told that nothing is granted.
            (Self::Error(error), Err(errno::EACCES)) if !setting.has_root() => {
                *error == errno::ENOENT || matches!(operation, Operation::Rename(..))
            }
            // Which of two reasons is said.
            (Self::Error(errno::EINVAL | errno::ENOTEMPTY), Err(errno::EBUSY)) => matches!(operation, Operation::Rename(..)),
            // A slash, of the path or of a link at its end, says that no file can be made, wherever it leads.
            (Self::Error(errno::EISDIR), Err(_)) => matches!(operation, Operation::Open(_, bits) if bits & open::CREATE != 0),
            (Self::Busy, found) => found.is_err() || matches!(operation, Operation::Rename(..)) && *found == Ok(Said::Done),
            _ => false,
        }
    }
}

impl Operation {
    /// What is there already is changed by it.
    fn changes_a_file(&self) -> bool {
        match self {
            Self::Open(_, bits) => bits & (open::WRITE | open::CREATE) != 0,
            Self::SetMode(_) | Self::SetLen(_) | Self::SetTimes(..) | Self::Access(..) => true,
            _ => false,
        }
    }

    /// Something new is made by it.
    fn makes(&self) -> bool {
        matches!(self, Self::MakeDir(_) | Self::Symlink(..) | Self::Link(..))
    }

    pub(super) fn by_services(&self, world: &World, index: usize) -> Result<Said, u32> {
        let done = |result: Result<(), u32>| result.map(|()| Said::Done);
        match self {
            Self::Open(path, bits) => opened(world, path, *bits, index),
            Self::Stat(path, follow) => {
                let known = world.call::<Result<[u64; 16], u32>>("StdFiles__stat_path", &args().text(path).with(*follow))?;
                Ok(known_of(known[stat::MODE] as u32, known[stat::SIZE], known[stat::LINKS]))
            }
            Self::ReadLink(path) => text(world, "StdFiles__read_link", path),
            Self::MakeDir(path) => done(world.call("StdFiles__make_dir", &args().text(path).with(0o777u32))),
            Self::RemoveDir(path) => done(world.on_path("Files__remove_dir", path)),
            Self::RemoveFile(path) => done(world.on_path("Files__remove_file", path)),
            Self::Rename(from, to, flags) => done(world.call("StdFiles__rename", &args().text(from).text(to).with(*flags))),
            Self::Link(old, new, follow) => done(world.call("StdFiles__link", &args().text(old).text(new).with(*follow))),
            Self::Symlink(text, new) => done(world.call("StdFiles__symlink", &args().text(text).text(new))),
            Self::SetMode(path) => done(world.call("StdFiles__set_mode_path", &args().text(path).with(0o755u32))),
            Self::SetLen(path) => done(world.call("StdFiles__set_len_path", &args().text(path).with(3u64))),
            Self::SetTimes(path, follow) => {
                let times = [index as i64, 0, 0, time::OMIT];
                done(world.call("StdFiles__set_times_path", &args().text(path).with(*follow).with(times)))
            }
            Self::Access(path, mode) => done(world.call("StdFiles__access", &args().text(path).with(true).with(*mode))),
            Self::Canonical(path) => text(world, "StdFiles__canonicalize", path),
        }
    }
}

fn text(world: &World, name: &str, path: &str) -> Result<Said, u32> {
    let (len, text) = world.call_out::<Result<u32, u32>>(name, &args().text(path).room(300), false).unwrap();
    len.map(|_| Said::Text(text))
}

fn opened(world: &World, path: &str, bits: u32, index: usize) -> Result<Said, u32> {
    let (handle, kind) = world.call::<Result<(u64, u32), u32>>("StdFiles__open", &args().text(path).with(bits).with(0o777u32))?;
    let said = match kind {
        kind::DIR if bits & open::PATH == 0 => {
            let mut list = Vec::new();
            while let (Ok(Some((len, kind))), name) =
                { world.call_out::<Result<Option<(u32, u32)>, u32>>("Files__next_entry", &args().with(handle).room(60), false).unwrap() }
            {
                list.push((String::from_utf8(name[..len as usize].to_vec()).unwrap(), kind));
            }
            list.sort();
            Said::List(list)
        }
        kind::FILE if bits & open::WRITE != 0 => {
            assert_eq!(world.write_at(handle, 0, &written(index), false), Ok(written(index).len() as u32));
            Said::Done
        }
        kind::FILE if bits & open::READ != 0 => Said::Text(world.read_at(handle, 0, 100, false).unwrap()),
        _ => Said::Known(kind, 0, 0),
    };
    world.call::<()>("Files__close", &args().with(handle));
    Ok(said)
}

/// What an operation writes.
pub(super) fn written(index: usize) -> Vec<u8> {
    format!("<{index}>").into_bytes()
}

/// What is said of a file. Processors differ in how wide the number of links is.
pub(super) fn known_of(mode: u32, len: u64, links: impl Into<u64>) -> Said {
    let links = links.into();
    match mode & libc::S_IFMT {
        libc::S_IFDIR => Said::Known(kind::DIR, 0, 0),
        libc::S_IFREG => Said::Known(kind::FILE, len, links),
        libc::S_IFLNK => Said::Known(kind::SYMLINK, len, links),
        _ => Said::Known(kind::OTHER, 0, links),
    }
}

/// All files, with what is in them.
pub(super) fn listed(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut ahead = vec![dir.to_owned()];
    while let Some(next) = ahead.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let what = if metadata.is_dir() {
                ahead.push(path.clone());
                "a directory".to_owned()
            } else if metadata.is_symlink() {
                format!("a link to {}", fs::read_link(&path).unwrap().display())
            } else {
                format!("{} {:?}", metadata.nlink(), fs::read_to_string(&path).unwrap())
            };
            all.insert(path.strip_prefix(dir).unwrap().to_owned(), what);
        }
    }
    all
}

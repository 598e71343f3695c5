//! The kernel's half: mounts in a namespace, and system calls in a root of their own.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use hostcall_abi::std_services::open;

use super::super::*;
use super::operations::{Operation, Outcome, Said, Setting, known_of, written};

fn c(text: impl AsRef<[u8]>) -> CString {
    CString::new(text.as_ref()).unwrap()
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Between fork and exec: a namespace in which this user, who is its root, may mount.
pub(super) fn enter(ids: &[CString; 2]) -> io::Result<()> {
    // SAFETY: a system call without memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) })?;
    for (file, text) in [(c"/proc/self/setgroups", c"deny"), (c"/proc/self/uid_map", &*ids[0]), (c"/proc/self/gid_map", &*ids[1])] {
        // SAFETY: strings that end in zero; the descriptor is this function's.
        unsafe {
            let file = check(libc::open(file.as_ptr(), libc::O_WRONLY))?;
            check(libc::write(file, text.as_ptr().cast(), text.count_bytes()) as libc::c_int)?;
            libc::close(file);
        }
    }
    Ok(())
}

fn mount(from: &Path, to: &Path, kind: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let [from, to] = [from, to].map(|path| c(path.as_os_str().as_bytes()));
    // SAFETY: strings that end in zero, and no data.
    check(unsafe { libc::mount(from.as_ptr(), to.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) }).map(drop)
}

fn bind(from: &Path, to: &Path, access: Access) {
    mount(from, to, c"", libc::MS_BIND).unwrap();
    if access == Access::ReadOnly {
        mount(from, to, c"", libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY).unwrap();
    }
}

/// Mounts memory at a place, for all files of both halves.
pub(super) fn prepare(place: &Path) -> io::Result<()> {
    rustix::process::umask(rustix::fs::Mode::empty());
    mount(Path::new("none"), Path::new("/"), c"", libc::MS_REC | libc::MS_PRIVATE)?;
    mount(Path::new("none"), place, c"tmpfs", 0)
}

pub(super) fn unmount(place: &Path) {
    let place = c(place.as_os_str().as_bytes());
    // SAFETY: a string that ends in zero.
    check(unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) }).unwrap();
}

/// Mounts what is granted, and does all of it there.
pub(super) fn run(at: &Path, files: &Path, setting: &Setting, operations: &[Operation]) -> Vec<Outcome> {
    let root = at.join("root");
    fs::create_dir(&root).unwrap();
    let mut grants = &setting.grants[..];
    if setting.has_root() {
        bind(&files.join(&grants[0].host), &root, grants[0].access);
        grants = &grants[1..];
    } else {
        let above = at.join("above");
        for grant in grants {
            // Those within another are that one's affair.
            fs::create_dir_all(above.join(&grant.guest[1..])).unwrap();
        }
        bind(&above, &root, Access::ReadOnly);
    }
    for grant in grants {
        bind(&files.join(&grant.host), &root.join(&grant.guest[1..]), grant.access);
    }
    let outcomes = std::thread::scope(|scope| scope.spawn(|| in_root(&root, setting, operations)).join().unwrap());
    unmount(&root);
    outcomes
}

/// Which file of which mount something is.
type Identity = (u64, u64);

fn in_root(root: &Path, setting: &Setting, operations: &[Operation]) -> Vec<Outcome> {
    let proc = File::open("/proc/thread-self/fd").unwrap();
    let [root, start] = [c(root.as_os_str().as_bytes()), c(&setting.start)];
    // SAFETY: strings that end in zero. Root and current directory become this thread's own before.
    unsafe {
        check(libc::unshare(libc::CLONE_FS)).unwrap();
        check(libc::chroot(root.as_ptr())).unwrap();
        check(libc::chdir(start.as_ptr())).unwrap();
    }
    let ways: HashSet<Identity> = setting.ways().iter().filter_map(|way| identity(way)).collect();
    operations.iter().enumerate().map(|(index, operation)| outcome(operation, index, &ways, &proc)).collect()
}

/// What a name stands for; a link at its end is not followed.
fn identity(path: &str) -> Option<Identity> {
    let mut known = MaybeUninit::<libc::statx>::zeroed();
    let bare = path.trim_end_matches('/');
    let path = c(if bare.is_empty() { path } else { bare });
    // SAFETY: a string that ends in zero, and room for what is said.
    let known = unsafe {
        let wanted = libc::STATX_INO | libc::STATX_MNT_ID;
        check(libc::statx(libc::AT_FDCWD, path.as_ptr(), libc::AT_SYMLINK_NOFOLLOW, wanted, known.as_mut_ptr())).ok()?;
        known.assume_init()
    };
    Some((known.stx_mnt_id, known.stx_ino))
}

fn outcome(operation: &Operation, index: usize, ways: &HashSet<Identity>, proc: &File) -> Outcome {
    let names: &[&String] = match operation {
        Operation::Rename(from, to, _) => &[from, to],
        Operation::RemoveDir(path) => &[path],
        _ => &[],
    };
    if names.iter().any(|name| identity(name).is_some_and(|found| ways.contains(&found))) {
        return Outcome::Busy;
    }
    match said(operation, index, proc) {
        Ok(said) => Outcome::Said(said),
        Err(error) => Outcome::Error(error.raw_os_error().unwrap().cast_unsigned()),
    }
}

fn opened(path: &str, flags: libc::c_int) -> io::Result<File> {
    let path = c(path);
    // SAFETY: a string that ends in zero; the descriptor is new.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o777))?).into()) }
}

fn said(operation: &Operation, index: usize, proc: &File) -> io::Result<Said> {
    let at = libc::AT_FDCWD;
    let done = |result: libc::c_int| check(result).map(|_| Said::Done);
    // SAFETY: strings that end in zero and live until the call returns, and times that do.
    unsafe {
        match operation {
            Operation::Open(path, bits) => open_and_use(path, *bits, index),
            Operation::Stat(path, follow) => {
                let mut known = MaybeUninit::<libc::stat>::zeroed();
                let flags = if *follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
                check(libc::fstatat(at, c(path).as_ptr(), known.as_mut_ptr(), flags))?;
                let known = known.assume_init();
                Ok(known_of(known.st_mode, known.st_size.cast_unsigned(), known.st_nlink))
            }
            Operation::ReadLink(path) => Ok(Said::Text(fs::read_link(path)?.as_os_str().as_bytes().to_vec())),
            Operation::MakeDir(path) => done(libc::mkdir(c(path).as_ptr(), 0o777)),
            Operation::RemoveDir(path) => done(libc::rmdir(c(path).as_ptr())),
            Operation::RemoveFile(path) => done(libc::unlink(c(path).as_ptr())),
            Operation::Rename(from, to, flags) => done(libc::renameat2(at, c(from).as_ptr(), at, c(to).as_ptr(), *flags)),
            Operation::Link(old, new, follow) => {
                let flags = if *follow { libc::AT_SYMLINK_FOLLOW } else { 0 };
                done(libc::linkat(at, c(old).as_ptr(), at, c(new).as_ptr(), flags))
            }
            Operation::Symlink(text, new) => done(libc::symlink(c(text).as_ptr(), c(new).as_ptr())),
            Operation::SetMode(path) => done(libc::chmod(c(path).as_ptr(), 0o755)),
            Operation::SetLen(path) => done(libc::truncate(c(path).as_ptr(), 3)),
            Operation::SetTimes(path, follow) => {
                let time = |seconds, nanos| libc::timespec { tv_sec: seconds, tv_nsec: nanos };
                let times = [time(index as i64, 0), time(0, libc::UTIME_OMIT)];
                let flags = if *follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
                done(libc::utimensat(at, c(path).as_ptr(), times.as_ptr(), flags))
            }
            Operation::Access(path, mode) => done(libc::access(c(path).as_ptr(), mode.cast_signed())),
            Operation::Canonical(path) => {
                let file = opened(path, libc::O_PATH)?;
                let text = rustix::fs::readlinkat(proc, file.as_raw_fd().to_string(), Vec::new())?;
                // What is mounted may have been removed where it was mounted from.
                let text = text.to_bytes();
                Ok(Said::Text(text.strip_suffix(b" (deleted)").unwrap_or(text).to_vec()))
            }
        }
    }
}

fn open_and_use(path: &str, bits: u32, index: usize) -> io::Result<Said> {
    let on = |bit: u32| bits & bit != 0;
    let mut flags = match (on(open::READ), on(open::WRITE)) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        _ => libc::O_RDONLY,
    };
    for (bit, flag) in [
        (open::CREATE, libc::O_CREAT),
        (open::CREATE_NEW, libc::O_EXCL),
        (open::TRUNCATE, libc::O_TRUNC),
        (open::NO_FOLLOW, libc::O_NOFOLLOW),
        (open::DIRECTORY, libc::O_DIRECTORY),
        (open::PATH, libc::O_PATH),
    ] {
        flags |= if on(bit) { flag } else { 0 };
    }
    let mut file = opened(path, flags)?;
    let metadata = file.metadata()?;
    if on(open::PATH) {
        let mode = std::os::unix::fs::MetadataExt::mode(&metadata);
        let Said::Known(kind, ..) = known_of(mode, 0, 0u64) else { unreachable!("it says a kind") };
        return Ok(Said::Known(kind, 0, 0));
    }
    if metadata.is_dir() {
        let entries = rustix::fs::Dir::read_from(&file)?.map(|entry| {
            let entry = entry.unwrap();
            let kind = match entry.file_type() {
                rustix::fs::FileType::Directory => kind::DIR,
                rustix::fs::FileType::RegularFile => kind::FILE,
                _ => kind::SYMLINK,
            };
            (entry.file_name().to_str().unwrap().to_owned(), kind)
        });
        let mut list: Vec<_> = entries.filter(|(name, _)| name != "." && name != "..").collect();
        list.sort();
        return Ok(Said::List(list));
    }
    if on(open::WRITE) {
        std::os::unix::fs::FileExt::write_all_at(&file, &written(index), 0)?;
        return Ok(Said::Done);
    }
    let mut text = Vec::new();
    file.by_ref().take(100).read_to_end(&mut text)?;
    Ok(Said::Text(text))
}

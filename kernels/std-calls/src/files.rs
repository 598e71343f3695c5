//! Files and directories, with every error number that `std` tells apart.

use crate::{c, say};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use hermit_abi::{O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, S_IFDIR, S_IFMT, S_IFREG};
use hostcall_std::{dir, fd, file, io, lane};

fn open(path: &str, flags: i32) -> i32 {
    // SAFETY: a C string.
    unsafe { file::sys_open(c(path).as_ptr(), flags, 0o644) }
}

fn write(fd: i32, bytes: &[u8]) -> isize {
    // SAFETY: a slice.
    unsafe { io::sys_write(fd, bytes.as_ptr(), bytes.len()) }
}

fn read(fd: i32, most: usize) -> Result<vec::Vec<u8>, isize> {
    let mut bytes = vec![0; most];
    // SAFETY: a slice.
    let n = unsafe { io::sys_read(fd, bytes.as_mut_ptr(), most) };
    bytes.truncate(usize::try_from(n).map_err(|_| n)?);
    Ok(bytes)
}

fn stat(path: &str) -> Result<hermit_abi::stat, i32> {
    let mut stat = hermit_abi::stat::default();
    // SAFETY: a C string and a place for it.
    match unsafe { file::sys_stat(c(path).as_ptr(), &mut stat) } {
        0 => Ok(stat),
        error => Err(error),
    }
}

/// On a directory `w` that is granted, `ro` for reading, and nothing else.
pub(crate) fn run() -> i32 {
    let a = open("w/a", O_RDWR | O_CREAT | O_EXCL);
    assert!(a >= 3, "{a}");
    assert_eq!(write(a, b"hello, world"), 12);
    assert_eq!(file::sys_lseek(a, 7, hermit_abi::SEEK_SET), 7);
    assert_eq!(read(a, 100).as_deref(), Ok(&b"world"[..]));
    assert_eq!(read(a, 100).as_deref(), Ok(&b""[..]));
    assert_eq!(file::sys_lseek(a, -5, hermit_abi::SEEK_END), 7);
    assert_eq!(file::sys_lseek(a, -50, hermit_abi::SEEK_CUR), -22);
    assert_eq!(file::sys_ftruncate(a, 5), 0);
    assert_eq!(file::sys_fsync(a), 0);
    let mut of_fd = hermit_abi::stat::default();
    // SAFETY: a place for it.
    assert_eq!(unsafe { file::sys_fstat(a, &mut of_fd) }, 0);
    assert_eq!((of_fd.st_size, of_fd.st_mode & S_IFMT), (5, S_IFREG));
    let of_path = stat("w/a").expect("it is there");
    assert_eq!((of_path.st_ino, of_path.st_size), (of_fd.st_ino, 5));
    assert!(of_path.st_mtim.tv_sec > 1_500_000_000);

    let again = fd::sys_dup(a);
    assert!(again > 2 && again != a);
    assert_eq!(fd::sys_close(a), 0);
    assert_eq!(fd::sys_close(a), -9);
    assert_eq!(write(a, b"x"), -9);
    assert_eq!(lane::sys_get_errno(), 9);
    assert_eq!(file::sys_lseek(again, 0, hermit_abi::SEEK_SET), 0);
    assert_eq!(read(again, 100).as_deref(), Ok(&b"hello"[..]));
    assert_eq!(fd::sys_close(again), 0);

    let b = open("w/a", O_WRONLY | O_APPEND);
    let parts = [b" and".as_slice(), b"", b" more"]
        .map(|part| hermit_abi::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // SAFETY: three vectors of constants, which are only read.
    assert_eq!(unsafe { io::sys_writev(b, parts.as_ptr(), 3) }, 9);
    assert_eq!(read(b, 1), Err(-9));
    fd::sys_close(b);
    assert_eq!(stat("w/a").map(|stat| stat.st_size), Ok(14));
    fd::sys_close(open("w/a", O_WRONLY | O_TRUNC));
    assert_eq!(stat("w/a").map(|stat| stat.st_size), Ok(0));

    // SAFETY: C strings, all of them.
    unsafe {
        assert_eq!(dir::sys_mkdir(c("w/d").as_ptr(), 0o777), 0);
        assert_eq!(dir::sys_mkdir(c("w/d").as_ptr(), 0o777), -17);
        assert_eq!(dir::sys_mkdir(c("w/none/d").as_ptr(), 0o777), -2);
        assert_eq!(dir::sys_rename(c("w/a").as_ptr(), c("w/d/b").as_ptr()), 0);
        assert_eq!(dir::sys_rmdir(c("w/d").as_ptr()), -39);
        assert_eq!(dir::sys_rmdir(c("w/d/b").as_ptr()), -20);
        assert_eq!(dir::sys_unlink(c("w/d").as_ptr()), -21);
        assert_eq!(dir::sys_unlink(c("w/a").as_ptr()), -2);
        let mut path = [0u8; 100];
        assert_eq!(dir::sys_realpath(c("w/./d/../d/b").as_ptr(), path.as_mut_ptr(), 100), 6);
        assert_eq!(&path[..6], b"/w/d/b");
        assert_eq!(dir::sys_unlink(c("w/d/b").as_ptr()), 0);
        assert_eq!(dir::sys_rmdir(c("w/d").as_ptr()), 0);
    }
    assert_eq!(stat("w").map(|stat| stat.st_mode & S_IFMT), Ok(S_IFDIR));
    assert_eq!(stat("w/a").err(), Some(-2));
    assert_eq!(open("w/none", O_RDONLY), -2);
    assert_eq!(open("w", O_WRONLY), -21);
    assert_eq!(open("w/f/g", O_RDONLY), -20);
    assert_eq!(open("w/f", O_RDONLY | O_DIRECTORY), -20);
    assert_eq!(open("w/f", O_WRONLY | O_CREAT | O_EXCL), -17);
    assert_eq!(open("ro/f", O_RDWR), -13);
    assert_eq!(open("/etc/passwd", O_RDONLY), -13);
    // `read` of a directory.
    let w = open("w", O_RDONLY);
    assert_eq!(read(w, 1), Err(-21));
    fd::sys_close(w);
    // SAFETY: nulls are refused.
    unsafe {
        assert_eq!(file::sys_open(core::ptr::null(), O_RDONLY, 0), -22);
        assert_eq!(io::sys_read(0, core::ptr::null_mut(), 5), -22);
    }
    assert_eq!((file::sys_lseek(1, 0, 0), file::sys_lseek(99, 0, 0)), (-29, -9));
    0
}

/// Lists the directory `many` of `count` entries.
pub(crate) fn directory(count: usize) -> i32 {
    let fd = open("w", O_RDONLY | O_DIRECTORY);
    assert!(fd >= 3, "{fd}");
    // A name has up to 255 bytes; 1000 bytes hold a few of them.
    let room = 1000;
    let mut bytes = vec![0u64; room / 8];
    // SAFETY: 16 bytes, in which no entry fits: nothing is lost by asking.
    assert_eq!(unsafe { dir::sys_getdents64(fd, bytes.as_mut_ptr().cast(), 16) }, if count > 0 { -22 } else { 0 });
    let mut names = vec::Vec::new();
    loop {
        // SAFETY: `room` bytes.
        let used = match unsafe { dir::sys_getdents64(fd, bytes.as_mut_ptr().cast(), room) } {
            0 => break,
            used if used > 0 => used as usize,
            error => return -error as i32,
        };
        let mut at = 0;
        while at < used {
            // SAFETY: an entry begins there; only fields and the name, which ends with a zero, are looked at.
            unsafe {
                let entry = bytes.as_ptr().cast::<u8>().add(at);
                let len = entry.add(16).cast::<u16>().read();
                let kind = entry.add(18).read();
                let name = core::ffi::CStr::from_ptr(entry.add(19).cast()).to_string_lossy();
                names.push(format!("{name}:{kind}"));
                at += usize::from(len);
            }
        }
        assert_eq!(at, used);
    }
    names.sort();
    assert_eq!(names.len(), count);
    let text: String = names.iter().take(3).map(|name| format!("{name} ")).collect();
    say(&text);
    fd::sys_close(fd);
    0
}

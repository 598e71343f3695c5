//! Files and directories, with every error number that `std` tells apart.

use crate::{c, checked, say, with_more};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use hostcall_std::abi::{self, O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, S_IFDIR, S_IFMT, S_IFREG};
use hostcall_std::{dir, error, fd, file, io, links, memory, status};

fn open(path: &str, flags: i32) -> i32 {
    // SAFETY: a C string, and a mode.
    with_more(0o644, |more| unsafe { checked(file::libc_open(c(path).as_ptr(), flags, more) as i64) as i32 })
}

fn write(fd: i32, bytes: &[u8]) -> i64 {
    // SAFETY: a slice.
    unsafe { checked(io::libc_write(fd, bytes.as_ptr(), bytes.len()) as i64) }
}

fn read(fd: i32, most: usize) -> Result<vec::Vec<u8>, i64> {
    let mut bytes = vec![0; most];
    // SAFETY: a slice.
    let read = unsafe { checked(io::libc_read(fd, bytes.as_mut_ptr(), most) as i64) };
    bytes.truncate(usize::try_from(read).map_err(|_| read)?);
    Ok(bytes)
}

fn stat(path: &str) -> Result<abi::stat, i32> {
    let mut stat = abi::stat::default();
    // SAFETY: a C string and a place for it.
    match unsafe { checked(status::libc_stat(c(path).as_ptr(), &mut stat) as i64) } {
        0 => Ok(stat),
        error => Err(error as i32),
    }
}

/// On a directory `w` that is granted, `ro` for reading, and nothing else.
pub(crate) fn run() -> i32 {
    let a = open("w/a", O_RDWR | O_CREAT | O_EXCL);
    assert!(a >= 3, "{a}");
    assert_eq!(write(a, b"hello, world"), 12);
    assert_eq!(checked(file::libc_lseek(a, 7, abi::SEEK_SET) as i64), 7);
    assert_eq!(read(a, 100).as_deref(), Ok(&b"world"[..]));
    assert_eq!(read(a, 100).as_deref(), Ok(&b""[..]));
    assert_eq!(checked(file::libc_lseek(a, -5, abi::SEEK_END) as i64), 7);
    assert_eq!(checked(file::libc_lseek(a, -50, abi::SEEK_CUR) as i64), -22);
    assert_eq!(checked(file::libc_ftruncate(a, 5) as i64), 0);
    assert_eq!(checked(file::libc_fsync(a) as i64), 0);
    let mut of_fd = abi::stat::default();
    // SAFETY: a place for it.
    assert_eq!(unsafe { checked(status::libc_fstat(a, &mut of_fd) as i64) }, 0);
    assert_eq!((of_fd.st_size, of_fd.st_mode & S_IFMT), (5, S_IFREG));
    let of_path = stat("w/a").expect("it is there");
    assert_eq!((of_path.st_ino, of_path.st_size), (of_fd.st_ino, 5));
    assert!(of_path.st_mtim.tv_sec > 1_500_000_000);

    let again = fd::libc_dup(a);
    assert!(again > 2 && again != a);
    assert_eq!(checked(fd::libc_close(a) as i64), 0);
    assert_eq!(checked(fd::libc_close(a) as i64), -9);
    assert_eq!(write(a, b"x"), -9);
    // SAFETY: the lane's own.
    assert_eq!(unsafe { *error::libc___errno_location() }, 9);
    assert_eq!(checked(file::libc_lseek(again, 0, abi::SEEK_SET) as i64), 0);
    assert_eq!(read(again, 100).as_deref(), Ok(&b"hello"[..]));
    assert_eq!(checked(fd::libc_close(again) as i64), 0);

    let b = open("w/a", O_WRONLY | O_APPEND);
    let parts =
        [b" and".as_slice(), b"", b" more"].map(|part| abi::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // SAFETY: three vectors of constants, which are only read.
    assert_eq!(unsafe { checked(io::libc_writev(b, parts.as_ptr(), 3) as i64) }, 9);
    assert_eq!(read(b, 1), Err(-9));
    checked(fd::libc_close(b) as i64);
    assert_eq!(stat("w/a").map(|stat| stat.st_size), Ok(14));
    checked(fd::libc_close(open("w/a", O_WRONLY | O_TRUNC)) as i64);
    assert_eq!(stat("w/a").map(|stat| stat.st_size), Ok(0));

    // SAFETY: C strings, all of them.
    unsafe {
        assert_eq!(checked(links::libc_mkdir(c("w/d").as_ptr(), 0o777) as i64), 0);
        assert_eq!(checked(links::libc_mkdir(c("w/d").as_ptr(), 0o777) as i64), -17);
        assert_eq!(checked(links::libc_mkdir(c("w/none/d").as_ptr(), 0o777) as i64), -2);
        assert_eq!(checked(links::libc_rename(c("w/a").as_ptr(), c("w/d/b").as_ptr()) as i64), 0);
        assert_eq!(checked(links::libc_rmdir(c("w/d").as_ptr()) as i64), -39);
        assert_eq!(checked(links::libc_rmdir(c("w/d/b").as_ptr()) as i64), -20);
        assert_eq!(checked(links::libc_unlink(c("w/d").as_ptr()) as i64), -21);
        assert_eq!(checked(links::libc_unlink(c("w/a").as_ptr()) as i64), -2);
        let path = dir::libc_realpath(c("w/./d/../d/b").as_ptr(), core::ptr::null_mut());
        assert_eq!(core::ffi::CStr::from_ptr(path), c"/w/d/b");
        memory::libc_free(path.cast());
        assert_eq!(checked(links::libc_unlink(c("w/d/b").as_ptr()) as i64), 0);
        assert_eq!(checked(links::libc_rmdir(c("w/d").as_ptr()) as i64), 0);
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
    checked(fd::libc_close(w) as i64);
    // SAFETY: nulls are refused.
    unsafe {
        assert_eq!(checked(file::libc_open(core::ptr::null(), O_RDONLY, core::mem::zeroed()) as i64), -22);
        assert_eq!(checked(io::libc_read(0, core::ptr::null_mut(), 5) as i64), -22);
    }
    assert_eq!((checked(file::libc_lseek(1, 0, 0) as i64), checked(file::libc_lseek(99, 0, 0) as i64)), (-29, -9));
    0
}

/// Lists the directory `many` of `count` entries.
pub(crate) fn directory(count: usize) -> i32 {
    // SAFETY: a C string.
    let stream = unsafe { dir::libc_opendir(c("w").as_ptr()) };
    assert!(!stream.is_null());
    let mut names = vec::Vec::new();
    loop {
        // SAFETY: open, and read here alone.
        let entry = unsafe { dir::libc_readdir(stream) };
        if entry.is_null() {
            break;
        }
        // SAFETY: an entry, whose name ends with a zero.
        let (kind, name) = unsafe { ((*entry).d_type, core::ffi::CStr::from_ptr((&raw const (*entry).d_name).cast())) };
        names.push(format!("{}:{kind}", name.to_string_lossy()));
    }
    names.sort();
    assert_eq!(names.len(), count);
    let text: String = names.iter().take(3).map(|name| format!("{name} ")).collect();
    say(&text);
    // SAFETY: not used again.
    assert_eq!(unsafe { dir::libc_closedir(stream) }, 0);
    0
}

use std::ffi::{CStr, CString};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::{null, null_mut};

unsafe extern "C" {
    // The crate `libc` has it for some C libraries only.
    fn renameat2(from_dir: i32, from: *const libc::c_char, to_dir: i32, to: *const libc::c_char, flags: u32) -> i32;
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no zero")
}

/// What a function returned, and why if it failed.
fn said(result: i64) -> String {
    if result >= 0 { format!("{result}") } else { format!("error {}", std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}

/// Calls a function of C, whose arguments the caller answers for, and says what came of it.
macro_rules! say {
    ($what:literal, $call:expr) => {{
        // SAFETY: texts are C strings, and places are as large as the function wants them.
        let result = unsafe { $call } as i64;
        println!("{} {}", $what, said(result));
        result
    }};
}

pub fn all(fifo: bool) {
    // SAFETY: it is a number only.
    let before = unsafe { libc::umask(0o027) };
    relative();
    used();
    moved();
    mapped();
    settings();
    if fifo {
        pipes();
    }
    // SAFETY: as above.
    println!("umask {:o}", unsafe { libc::umask(before) });
    say!("removed", libc::unlink(c("a").as_ptr()));
}

fn opened(name: &str, flags: i32) -> i32 {
    // SAFETY: a C string.
    let fd = unsafe { libc::open(c(name).as_ptr(), flags, 0o777) };
    assert!(fd >= 0, "{name}: {}", std::io::Error::last_os_error());
    fd
}

fn closed(fd: i32) {
    // SAFETY: it is open.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

fn known(dir: i32, name: &str, flags: i32) -> libc::stat {
    let mut known = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: a C string, and room for what is known.
    assert_eq!(unsafe { libc::fstatat(dir, c(name).as_ptr(), known.as_mut_ptr(), flags) }, 0, "{name}");
    // SAFETY: every bit pattern is one.
    unsafe { known.assume_init() }
}

/// A terminal's settings, of which nothing but memory is needed.
fn settings() {
    // SAFETY: every bit pattern is one.
    let mut settings: libc::termios = unsafe { std::mem::zeroed() };
    settings.c_cc.fill(7);
    for bits in [0, !0] {
        settings.c_iflag = bits;
        settings.c_oflag = bits;
        settings.c_cflag = bits;
        settings.c_lflag = bits;
        // SAFETY: they are a terminal's settings.
        unsafe { libc::cfmakeraw(&raw mut settings) };
        let libc::termios { c_iflag, c_oflag, c_cflag, c_lflag, c_cc, .. } = settings;
        println!("raw {c_iflag:x} {c_oflag:x} {c_cflag:x} {c_lflag:x} {c_cc:?}");
    }
    let file = opened("raw", libc::O_RDWR | libc::O_CREAT);
    say!("of a file", libc::tcgetattr(file, &raw mut settings));
    closed(file);
    say!("removed", libc::unlink(c("raw").as_ptr()));
}

/// From a directory on.
fn relative() {
    say!("mkdir", libc::mkdir(c("top").as_ptr(), 0o777));
    let top = opened("top", libc::O_RDONLY | libc::O_DIRECTORY);
    println!("mode {:o}", known(libc::AT_FDCWD, "top", 0).st_mode);
    say!("mkdirat", libc::mkdirat(top, c("in").as_ptr(), 0o705));
    println!("mode {:o}", known(top, "in", 0).st_mode);
    // SAFETY: C strings.
    let made = unsafe { libc::openat(top, c("in/f").as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o666) };
    println!("openat {} mode {:o}", made >= 0, known(top, "in/f", 0).st_mode);
    say!("write", libc::write(made, c("text").as_ptr().cast(), 4));
    closed(made);
    say!("symlinkat", libc::symlinkat(c("in/f").as_ptr(), top, c("l").as_ptr()));
    say!("linkat", libc::linkat(top, c("in/f").as_ptr(), top, c("h").as_ptr(), 0));
    say!("linkat followed", libc::linkat(top, c("l").as_ptr(), top, c("h2").as_ptr(), libc::AT_SYMLINK_FOLLOW));
    say!("linkat not", libc::linkat(top, c("l").as_ptr(), top, c("l2").as_ptr(), 0));
    println!(
        "kinds {:o} {:o} {}",
        known(top, "h2", libc::AT_SYMLINK_NOFOLLOW).st_mode,
        known(top, "l2", libc::AT_SYMLINK_NOFOLLOW).st_mode & libc::S_IFMT,
        known(top, "h", 0).st_nlink
    );
    let mut text = [0u8; 16];
    let len = say!("readlinkat", libc::readlinkat(top, c("l2").as_ptr(), text.as_mut_ptr().cast(), text.len()));
    println!("text {:?}", String::from_utf8_lossy(&text[..len as usize]));
    say!("readlinkat cut", libc::readlinkat(top, c("l2").as_ptr(), text.as_mut_ptr().cast(), 2));
    say!("faccessat", libc::faccessat(top, c("l").as_ptr(), libc::R_OK | libc::W_OK, 0));
    say!("faccessat missing", libc::faccessat(top, c("m").as_ptr(), libc::F_OK, 0));
    say!("access x", libc::access(c("top/in/f").as_ptr(), libc::X_OK));
    // SAFETY: C strings.
    say!("exchange", renameat2(top, c("h").as_ptr(), top, c("l").as_ptr(), 2));
    println!("kinds {}", known(top, "h", libc::AT_SYMLINK_NOFOLLOW).st_mode & libc::S_IFMT == libc::S_IFLNK);
    say!("no replace", renameat2(top, c("h").as_ptr(), top, c("l").as_ptr(), 1));
    say!("renameat", libc::renameat(top, c("h").as_ptr(), libc::AT_FDCWD, c("out").as_ptr()));
    say!("fchmodat", libc::fchmodat(top, c("in/f").as_ptr(), 0o600, 0));
    let times = [libc::timespec { tv_sec: 5, tv_nsec: 6 }, libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT }];
    say!("utimensat", libc::utimensat(top, c("l2").as_ptr(), times.as_ptr(), libc::AT_SYMLINK_NOFOLLOW));
    let link = known(top, "l2", libc::AT_SYMLINK_NOFOLLOW);
    println!("times {} {} {}", link.st_atime, link.st_atime_nsec, link.st_mtime > 1_000_000_000);
    list(top);
    say!("fchdir", libc::fchdir(top));
    say!("unlink", libc::unlink(c("../out").as_ptr()));
    for name in ["in/f", "h2", "l", "l2"] {
        say!("unlinkat", libc::unlinkat(top, c(name).as_ptr(), 0));
    }
    say!("unlinkat dir as file", libc::unlinkat(top, c("in").as_ptr(), 0));
    say!("unlinkat dir", libc::unlinkat(top, c("in").as_ptr(), libc::AT_REMOVEDIR));
    say!("chdir", libc::chdir(c("..").as_ptr()));
    say!("rmdir", libc::rmdir(c("top").as_ptr()));
    say!("openat a file", libc::openat(opened("a", libc::O_RDONLY), c("x").as_ptr(), libc::O_RDONLY));
    closed(top);
}

/// The entries of a directory, read twice.
fn list(top: i32) {
    // SAFETY: the stream has a descriptor of its own, and entries are looked at before the next is read.
    unsafe {
        let stream = libc::fdopendir(libc::dup(top));
        for _ in 0..2 {
            let mut names = Vec::new();
            loop {
                let entry = libc::readdir(stream);
                if entry.is_null() {
                    break;
                }
                let name = CStr::from_ptr((&raw const (*entry).d_name).cast()).to_str().expect("a name").to_owned();
                if !name.starts_with('.') {
                    names.push((name, (*entry).d_type));
                }
            }
            names.sort();
            println!("{names:?}");
            libc::rewinddir(stream);
        }
        println!("closed {}", libc::closedir(stream));
    }
}

/// How much room there is, lengths and locks.
fn used() {
    let mut room = MaybeUninit::<libc::statvfs>::zeroed();
    say!("statvfs", libc::statvfs(c("a").as_ptr(), room.as_mut_ptr()));
    // SAFETY: every bit pattern is one.
    let room = unsafe { room.assume_init() };
    println!("room {} {} {}", room.f_bsize > 0, room.f_blocks >= room.f_bfree, room.f_namemax);
    let mut own = MaybeUninit::<libc::statfs>::zeroed();
    let fd = opened("a", libc::O_RDWR);
    say!("fstatfs", libc::fstatfs(fd, own.as_mut_ptr()));
    // SAFETY: as above.
    println!("type {:x}", unsafe { own.assume_init() }.f_type);
    say!("truncate", libc::truncate(c("a").as_ptr(), 7));
    say!("truncate below", libc::truncate(c("a").as_ptr(), -1));
    say!("allocate", libc::posix_fallocate(fd, 0, 20));
    println!("size {}", known(libc::AT_FDCWD, "a", 0).st_size);
    say!("allocate nothing", libc::fallocate(fd, 0, 0, 0));
    // SAFETY: every bit pattern is one.
    let mut part: libc::flock = unsafe { std::mem::zeroed() };
    part.l_type = libc::F_WRLCK as _;
    say!("lock", libc::fcntl(fd, libc::F_SETLK, &raw const part));
    say!("whose", libc::fcntl(fd, libc::F_GETLK, &raw mut part));
    println!("free {}", i32::from(part.l_type) == libc::F_UNLCK as i32);
    say!("flock", libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB));
    let other = opened("a", libc::O_RDONLY);
    say!("flock taken", libc::flock(other, libc::LOCK_SH | libc::LOCK_NB));
    closed(fd);
    say!("flock free", libc::flock(other, libc::LOCK_SH | libc::LOCK_NB));
    say!("flock wrong", libc::flock(other, 77));
    say!("sync", libc::fdatasync(other));
    let place = opened("a", libc::O_PATH);
    say!("place read", libc::read(place, [0u8; 4].as_mut_ptr().cast(), 4));
    let mut of = MaybeUninit::<libc::stat>::zeroed();
    say!("place known", libc::fstat(place, of.as_mut_ptr()));
    say!("place chmod", libc::fchmod(place, 0o600));
    [other, place].into_iter().for_each(closed);
}

/// Bytes in several pieces, and from file to file.
fn moved() {
    let (from, to) = (opened("a", libc::O_RDWR), opened("b", libc::O_RDWR | libc::O_CREAT));
    println!("mode {:o}", known(libc::AT_FDCWD, "b", 0).st_mode);
    let mut pieces = [*b"one ", *b"two ", *b"six "];
    let vectors = pieces.each_mut().map(|piece| libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: piece.len() });
    say!("pwritev", libc::pwritev(from, vectors.as_ptr(), 3, 2));
    say!("preadv", libc::preadv(from, vectors.as_ptr(), 3, 6));
    println!("pieces {:?}", pieces.map(|piece| String::from_utf8_lossy(&piece).into_owned()));
    let mut at = 2;
    say!("copy_file_range", libc::copy_file_range(from, &raw mut at, to, null_mut(), 4, 0));
    println!("at {at}");
    say!("sendfile", libc::sendfile(to, from, &raw mut at, 4));
    println!("at {at} {:?}", std::fs::read_to_string("b").expect("it is read"));
    let mut end = 1000;
    say!("copy from the end", libc::copy_file_range(from, &raw mut end, to, null_mut(), 4, 0));
    say!("pread below", libc::pread(from, pieces.as_mut_ptr().cast(), 4, -1));
    say!("lseek", libc::lseek(from, 0, libc::SEEK_CUR));
    [from, to].into_iter().for_each(closed);
    say!("unlink", libc::unlink(c("b").as_ptr()));
}

/// A file in memory.
fn mapped() {
    std::fs::write("m", vec![b'x'; 5000]).expect("it is written");
    let fd = opened("m", libc::O_RDWR);
    // SAFETY: mappings are used within their lengths while they are there.
    unsafe {
        let map = |flags| libc::mmap(null_mut(), 5000, libc::PROT_READ | libc::PROT_WRITE, flags, fd, 0).cast::<u8>();
        let (shared, private) = (map(libc::MAP_SHARED), map(libc::MAP_PRIVATE));
        closed(fd);
        println!("mapped {} {}", *shared, *private.add(4999));
        private.write_bytes(b'p', 5000);
        shared.add(4100).write_bytes(b's', 10);
        println!("msync {}", libc::msync(shared.cast(), 5000, libc::MS_SYNC));
        let seen = std::fs::read("m").expect("it is read");
        println!("seen {} {:?}", seen.len(), seen.iter().position(|byte| *byte != b'x'));
        shared.write(b'f');
        println!("munmap {} {}", libc::munmap(shared.cast(), 5000), libc::munmap(private.cast(), 5000));
        println!("seen {:?}", &std::fs::read("m").expect("it is read")[..2]);
        let file = File::options().read(true).write(true).open("m").expect("it is there");
        let shared = libc::mmap(null_mut(), 5000, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0).cast::<u8>();
        file.write_all_at(b"std's", 4000).expect("it is written");
        println!("mapped {}", String::from_utf8_lossy(std::slice::from_raw_parts(shared.add(4000), 6)));
        shared.add(4002).write(b'D');
        let mut seen = [0; 6];
        file.read_exact_at(&mut seen, 4000).expect("it is read");
        file.set_len(4003).expect("it is cut");
        println!("read {}, cut {}", String::from_utf8_lossy(&seen), *shared.add(4003));
        println!("munmap {}", libc::munmap(shared.cast(), 5000));
        let anonymous = libc::mmap(null_mut(), 10_000, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        println!("anonymous {} {}", anonymous as usize % 4096, (0..10_000).all(|i| *anonymous.cast::<u8>().add(i) == 0));
        println!("munmap {}", libc::munmap(anonymous, 10_000));
        println!("nothing {}", libc::mmap(null_mut(), 0, libc::PROT_READ, libc::MAP_PRIVATE, -1, 0) == libc::MAP_FAILED);
    }
    say!("unlink", libc::unlink(c("m").as_ptr()));
    say!("utimes", libc::utimes(c("a").as_ptr(), null()));
}

/// A FIFO, both of whose ends are here.
fn pipes() {
    say!("mkfifo", libc::mkfifo(c("p").as_ptr(), 0o666));
    println!("mode {:o}", known(libc::AT_FDCWD, "p", 0).st_mode);
    let both = opened("p", libc::O_RDWR | libc::O_NONBLOCK);
    let mut into = [0u8; 8];
    say!("empty", libc::read(both, into.as_mut_ptr().cast(), 8));
    say!("write", libc::write(both, c("bytes").as_ptr().cast(), 5));
    say!("read", libc::read(both, into.as_mut_ptr().cast(), 8));
    say!("lseek", libc::lseek(both, 0, libc::SEEK_SET));
    closed(both);
    say!("unlink", libc::unlink(c("p").as_ptr()));
}

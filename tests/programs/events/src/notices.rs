//! Notices of what happens to files, by `inotify`, and pipes that are spliced.

use std::error::Error;
use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::Duration;

const HEAD: usize = size_of::<libc::inotify_event>();

/// What a notice says: mask and name.
fn notices(bytes: &[u8]) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while let Some((head, behind)) = rest.split_at_checked(HEAD) {
        let field = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (mask, len) = (field(4), field(12) as usize);
        let name = String::from_utf8_lossy(&behind[..len]).trim_end_matches('\0').to_owned();
        all.push((mask, name));
        rest = &behind[len..];
    }
    all
}

fn watched(dir: &Path) -> Result<(), Box<dyn Error>> {
    // SAFETY: it takes flags only.
    let descriptor = unsafe { libc::inotify_init1(libc::IN_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error().into());
    }
    // SAFETY: just opened, and owned by nobody else.
    let mut watcher = fs::File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    let add = |path: &Path, mask: u32| -> io::Result<i32> {
        let path = CString::new(path.as_os_str().as_encoded_bytes()).expect("no zero");
        // SAFETY: the descriptor is open, and the path a C string.
        let watch = unsafe { libc::inotify_add_watch(descriptor, path.as_ptr(), mask) };
        if watch < 0 { Err(io::Error::last_os_error()) } else { Ok(watch) }
    };
    let watch = add(dir, libc::IN_CREATE | libc::IN_DELETE | libc::IN_MOVED_FROM | libc::IN_MOVED_TO | libc::IN_CLOSE_WRITE)?;
    println!("nothing there: {}", add(&dir.join("missing"), libc::IN_MODIFY).expect_err("it is not there"));
    let here = dir.to_owned();
    let other = thread::spawn(move || -> io::Result<()> {
        // The other thread waits by then.
        thread::sleep(Duration::from_millis(30));
        fs::write(here.join("one"), "1")?;
        fs::rename(here.join("one"), here.join("two"))?;
        fs::create_dir(here.join("dir"))?;
        fs::remove_file(here.join("two"))
    });
    let mut all = Vec::new();
    while all.len() < 6 {
        let mut bytes = [0; 4096];
        let read = watcher.read(&mut bytes)?;
        all.extend(notices(&bytes[..read]));
    }
    other.join().expect("it ends")?;
    for (mask, name) in &all {
        println!("{mask:#x} {name}");
    }
    // SAFETY: the descriptor is open.
    let removed = unsafe { libc::inotify_rm_watch(descriptor, watch) };
    // SAFETY: as above.
    let again = unsafe { libc::inotify_rm_watch(descriptor, watch) };
    println!("{removed} {again}");
    fs::remove_dir(dir.join("dir"))?;
    Ok(())
}

fn spliced() -> io::Result<()> {
    let ((mut from, mut to), (mut last, middle)) = (io::pipe()?, io::pipe()?);
    to.write_all(b"through two pipes")?;
    drop(to);
    let move_on = |len| {
        let none = std::ptr::null_mut();
        // SAFETY: both descriptors are open, and no offsets are given.
        unsafe { libc::splice(from.as_raw_fd(), none, middle.as_raw_fd(), none, len, 0) }
    };
    println!("{} {} {}", move_on(7), move_on(100), move_on(100));
    drop(middle);
    let mut text = String::new();
    last.read_to_string(&mut text)?;
    println!("{text}, and {} behind", from.read(&mut [0])?);
    Ok(())
}

fn copied() -> io::Result<()> {
    let ((mut from, mut to), (mut other, middle)) = (io::pipe()?, io::pipe()?);
    to.write_all(b"in two pipes")?;
    drop(to);
    // SAFETY: both descriptors are open.
    let copy = |len| unsafe { libc::tee(from.as_raw_fd(), middle.as_raw_fd(), len, 0) };
    let copied = [copy(6), copy(100)];
    // SAFETY: as above. What is no pipe is refused.
    let refused = unsafe { libc::tee(from.as_raw_fd(), 1 << 20, 1, 0) };
    drop(middle);
    let (mut here, mut there) = (String::new(), String::new());
    from.read_to_string(&mut here)?;
    other.read_to_string(&mut there)?;
    println!("{copied:?} {refused}: {here}, {there}");
    Ok(())
}

pub fn run(dir: &str) -> Result<(), Box<dyn Error>> {
    watched(Path::new(dir))?;
    spliced()?;
    Ok(copied()?)
}

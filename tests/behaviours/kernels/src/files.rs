//! Files of the host. What goes wrong here panics, so that the test shows where.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;
use hostcall::fs::{self, ErrorKind, File, OpenOptions, SeekFrom};
use hostcall::prelude::*;

/// Everything that can be done with a file in the directory `rw`.
#[kernel]
pub fn file_life() -> Result<(), fs::Error> {
    let file = File::create("rw/a.txt")?;
    file.write_all(b"hello, ")?;
    assert_eq!(file.write(b"host\n")?, 5);
    assert_eq!(file.metadata()?.len(), 12);
    assert_eq!(file.read(&mut [0; 4]).err().map(|error| error.kind()), Some(ErrorKind::InvalidHandle), "it is open for writing only");
    drop(file);
    assert_eq!(fs::read_to_string("rw/a.txt")?, "hello, host\n");

    let file = OpenOptions::new().read(true).write(true).open("rw/a.txt")?;
    assert_eq!(file.seek(SeekFrom::End(-5))?, 7);
    let mut five = [0; 5];
    file.read_exact(&mut five)?;
    assert_eq!(&five, b"host\n");
    assert_eq!(file.read(&mut five)?, 0, "the end");
    assert_eq!(file.read_exact(&mut five).err().map(|error| error.kind()), Some(ErrorKind::UnexpectedEof));
    assert_eq!(file.seek(SeekFrom::Start(7))?, 7);
    assert_eq!(file.seek(SeekFrom::Current(-7))?, 0);
    assert!(file.seek(SeekFrom::Current(-1)).is_err());
    file.write_all(b"HELLO")?;
    file.write_at(12, b"more")?;
    let mut all = [0; 32];
    assert_eq!(file.read_at(0, &mut all)?, 16);
    assert_eq!(&all[..16], b"HELLO, host\nmore");
    file.set_len(5)?;
    file.sync_all()?;
    assert_eq!(fs::read("rw/a.txt")?, b"HELLO");

    let appending = OpenOptions::new().append(true).open("rw/a.txt")?;
    appending.write_all(b"!")?;
    appending.write_all(b"?")?;
    assert_eq!(fs::read("rw/a.txt")?, b"HELLO!?");
    assert_eq!(
        OpenOptions::new().write(true).create_new(true).open("rw/a.txt").err().map(|error| error.kind()),
        Some(ErrorKind::AlreadyExists)
    );

    fs::rename("rw/a.txt", "rw/b.txt")?;
    assert!(!fs::exists("rw/a.txt")?);
    assert!(fs::metadata("rw/b.txt")?.is_file());
    assert!(fs::metadata("rw/b.txt")?.modified().since_epoch().as_secs() > 1_600_000_000);
    fs::remove_file("rw/b.txt")?;
    assert_eq!(fs::remove_file("rw/b.txt").err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    assert_eq!(File::open("rw/b.txt").err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    // As on Linux, a directory can be opened, and not read.
    assert_eq!(File::open("rw")?.read(&mut five).err().map(|error| error.kind()), Some(ErrorKind::IsADirectory));
    Ok(())
}

/// Everything that can be done with directories.
#[kernel]
pub fn directory_life() -> Result<(), fs::Error> {
    fs::create_dir("rw/d")?;
    assert_eq!(fs::create_dir("rw/d").err().map(|error| error.kind()), Some(ErrorKind::AlreadyExists));
    fs::create_dir_all("rw/d/e/f")?;
    fs::create_dir_all("rw/d/e/f")?;
    assert!(fs::metadata("rw/d/e")?.is_dir());
    let long = String::from_utf8(vec![b'n'; 250]).unwrap();
    let mut expected: Vec<String> = (0..40).map(|i| alloc::format!("file-{i}")).chain([String::from("e"), long]).collect();
    for name in expected.iter().filter(|name| *name != "e") {
        fs::write(&alloc::format!("rw/d/{name}"), name)?;
    }
    let mut found = Vec::new();
    for entry in fs::read_dir("rw/d")? {
        let entry = entry?;
        assert_eq!(entry.file_type().is_dir(), entry.file_name() == "e");
        assert_eq!(entry.metadata()?.is_file(), entry.file_name() != "e");
        found.push(String::from(entry.file_name()));
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(fs::remove_dir("rw/d").err().map(|error| error.kind()), Some(ErrorKind::DirectoryNotEmpty));
    assert_eq!(fs::read_dir("rw/none").map(|_| ()).err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    fs::remove_dir("rw/d/e/f")?;
    Ok(())
}

/// What a kernel must not do. `ro` is granted for reading, `rw` for everything, `rw/link` leads out of it.
#[kernel]
pub fn file_refusals() -> Result<(), fs::Error> {
    for path in ["../secret", "rw/../../secret", "rw/../secret", "/etc/passwd", "/secret", "secret", "rw/link", "rw/linkdir/secret"] {
        assert_eq!(File::open(path).map(|_| ()).err().map(|error| error.kind()), Some(ErrorKind::PermissionDenied), "open {path:?}");
        assert_eq!(fs::metadata(path).map(|_| ()).err().map(|error| error.kind()), Some(ErrorKind::PermissionDenied), "stat {path:?}");
        assert_eq!(fs::write(path, "x").err().map(|error| error.kind()), Some(ErrorKind::PermissionDenied), "write {path:?}");
        // A rename does not follow a link but takes its place, inside the grant.
        if path != "rw/link" {
            assert!(fs::rename("rw/mine", path).is_err());
        }
    }
    assert_eq!(fs::read_to_string("ro/given")?, "given");
    // What is above the grants is there, and holds nothing else.
    for above in ["/", "..", "rw/.."] {
        assert!(fs::metadata(above)?.is_dir(), "{above:?}");
        assert!(fs::write(above, "x").is_err() && fs::rename("rw/mine", above).is_err(), "{above:?}");
    }
    for refused in [
        fs::create_dir("/new"),
        fs::write("ro/given", "x"),
        fs::write("ro/new", "x"),
        fs::remove_file("ro/given"),
        fs::rename("ro/given", "ro/other"),
        fs::create_dir("ro/d"),
        fs::create_dir_all("ro/d/e"),
        fs::remove_dir("ro/dir"),
        OpenOptions::new().append(true).open("ro/given").map(|_| ()),
        OpenOptions::new().read(true).write(true).open("ro/given").map(|_| ()),
        OpenOptions::new().write(true).truncate(true).open("ro/given").map(|_| ()),
    ] {
        assert_eq!(refused.err().map(|error| error.kind()), Some(ErrorKind::PermissionDenied));
    }
    for (from, to) in [("ro/given", "rw/other"), ("rw/mine", "ro/mine")] {
        assert_eq!(fs::rename(from, to).err().map(|error| error.kind()), Some(ErrorKind::CrossesDevices));
    }
    let file = File::open("ro/given")?;
    assert!(file.write(b"x").is_err());
    assert!(file.set_len(0).is_err());
    assert_eq!(OpenOptions::new().open("rw/mine").map(|_| ()).err().map(|error| error.kind()), Some(ErrorKind::InvalidInput));
    assert_eq!(fs::read_to_string("rw/mine")?, "mine");
    Ok(())
}

/// A file of any handle. The layout of `File` is the compiler's affair, but a hostile kernel would find out as well.
fn forged(template: &File, handle: u64) -> ManuallyDrop<File> {
    const { assert!(size_of::<File>() == 8) };
    // SAFETY: `File` is a number; the copy is never dropped, and any number is a valid one.
    unsafe {
        let mut copy = ManuallyDrop::new(core::ptr::read(template));
        core::ptr::from_mut(&mut copy).cast::<u64>().write(handle);
        copy
    }
}

/// Handles that the host never gave out, and `foreign`, which it gave to another program.
#[kernel]
pub fn hostile_handles(foreign: u64) -> Result<(), fs::Error> {
    let real = File::open("ro/given")?;
    let mut bytes = [0; 5];
    let number = handle_of(&real);
    assert_eq!(forged(&real, number).read_at(0, &mut bytes)?, 5, "forging works, so the refusals below mean something");
    for handle in [0, 1, 2, foreign, number + 1, number ^ 1 << 32, number ^ 1 << 63, u64::MAX, u64::MAX - 1, 1 << 32, 1 << 63] {
        let file = forged(&real, handle);
        assert_eq!(file.read_at(0, &mut bytes).err().map(|error| error.kind()), Some(ErrorKind::InvalidHandle), "handle {handle:#x}");
        assert_eq!(file.metadata().err().map(|error| error.kind()), Some(ErrorKind::InvalidHandle));
        assert_eq!(file.seek(SeekFrom::Start(0)).err().map(|error| error.kind()), Some(ErrorKind::InvalidHandle));
        assert_eq!(file.write(b"x").err().map(|error| error.kind()), Some(ErrorKind::InvalidHandle));
        // Closing it must harm nobody.
        drop(ManuallyDrop::into_inner(file));
    }
    assert_eq!(real.read_at(0, &mut bytes)?, 5);
    let closed = handle_of(&real);
    let ghost = forged(&real, closed);
    drop(real);
    // The close is posted: it may take effect a little later, but takes effect.
    for _ in 0..100_000 {
        match ghost.read_at(0, &mut bytes) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidHandle);
                return Ok(());
            }
        }
    }
    panic!("a closed file can be read");
}

fn handle_of(file: &File) -> u64 {
    // SAFETY: see `forged`.
    unsafe { core::ptr::from_ref(file).cast::<u64>().read() }
}

/// Opens a file, leaves it open, and says its number.
#[kernel]
pub fn leaves_open(handle: &mut [u64]) -> Result<(), fs::Error> {
    let file = ManuallyDrop::new(File::open("ro/given")?);
    handle[0] = handle_of(&file);
    Ok(())
}

/// Every lane reads its own `part` bytes of a file, at offsets of its own, and sums them.
#[kernel]
pub fn reads_parts(part: u32, buffer: &mut [u8], sums: &mut [u64]) -> Result<(), fs::Error> {
    let i = global_id();
    if i >= sums.len() {
        return Ok(());
    }
    let part = part as usize;
    let own = &mut buffer[i * part..(i + 1) * part];
    let file = File::open("ro/big")?;
    let n = file.read_at((i * part) as u64, own)?;
    sums[i] = own[..n].iter().map(|b| u64::from(*b)).sum::<u64>() << 8 | u64::from(n == part);
    Ok(())
}

/// The lanes of each wave read a file together, and write it together to another.
#[kernel]
pub fn copies_by_wave(buffer: &mut [u8], sums: &mut [u64]) -> Result<(), fs::Error> {
    let part = buffer.len() / (global_size() / wave_size_of_launch());
    let wave = wave_index();
    let own = &mut buffer[wave * part..(wave + 1) * part];
    let from = OpenOptions::new().read(true).open_wave("ro/big")?;
    let to = OpenOptions::new().write(true).open_wave("rw/copy")?;
    let n = from.read_at_wave((wave * part) as u64, own)?;
    sums[global_id()] = n as u64;
    to.write_at_wave((wave * part) as u64, &own[..n])?;
    Ok(())
}

fn wave_size_of_launch() -> usize {
    hostcall::wave::wave_size() as usize
}

/// Every lane appends one line of its own.
#[kernel]
pub fn appends() -> Result<(), fs::Error> {
    let file = OpenOptions::new().append(true).create(true).open("rw/lines")?;
    file.write_all(alloc::format!("line {:05}\n", global_id()).as_bytes())
}

/// Opens files until it may not.
#[kernel]
pub fn opens_many(opened: &mut [u64]) {
    let mut files = Vec::new();
    let error = loop {
        match File::open("ro/given") {
            Ok(file) => files.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::TooManyOpenFiles);
    opened[0] = files.len() as u64;
    drop(files);
    // They are given back: the closes are posted, so it may take a moment.
    while let Err(error) = File::open("ro/given") {
        assert_eq!(error.kind(), ErrorKind::TooManyOpenFiles);
    }
}

/// Makes calls until they are refused; how many were not, and the errno of the refusal.
#[kernel]
pub fn calls_until_capped(done: &mut [u64]) {
    let mut calls = 0;
    done[1] = loop {
        match fs::metadata("ro/given") {
            Ok(_) => calls += 1,
            Err(error) => break u64::from(error.errno().unwrap_or(0)),
        }
    };
    done[0] = calls;
}

/// Reads more than may be in flight.
#[kernel]
pub fn reads_too_much(buffer: &mut [u8], errno: &mut [u64]) -> Result<(), fs::Error> {
    let file = File::open("ro/big")?;
    errno[0] = match file.read_at(0, buffer) {
        Ok(_) => 0,
        Err(error) => u64::from(error.errno().unwrap_or(1)),
    };
    assert_eq!(file.read_at(0, &mut buffer[..100])?, 100);
    Ok(())
}

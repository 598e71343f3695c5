//! Makes, copies, renames and removes files below a directory, and meets every error that can come of it.

use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

#[track_caller]
fn fails<T>(result: io::Result<T>, kind: ErrorKind) {
    match result {
        Ok(_) => panic!("{kind:?} was expected"),
        Err(error) => assert_eq!(error.kind(), kind, "{error}"),
    }
}

fn main() -> io::Result<()> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "w".to_owned());
    let dir = Path::new(&dir);
    let at = |name: &str| dir.join(name);

    fs::create_dir_all(at("deep/er/still"))?;
    fs::create_dir_all(at("deep/er"))?;
    fails(fs::create_dir(at("deep")), ErrorKind::AlreadyExists);
    assert_eq!(fs::read_dir(at("deep/er/still"))?.count(), 0);

    let mut file = File::options().read(true).write(true).create_new(true).open(at("a"))?;
    file.write_all(b"0123456789")?;
    file.seek(SeekFrom::Start(3))?;
    let mut rest = String::new();
    file.read_to_string(&mut rest)?;
    assert_eq!((rest.as_str(), file.stream_position()?), ("3456789", 10));
    file.set_len(4)?;
    file.sync_all()?;
    assert_eq!(file.metadata()?.len(), 4);
    assert_eq!(file.try_clone()?.seek(SeekFrom::End(-1))?, 3);
    drop(file);
    fails(File::create_new(at("a")), ErrorKind::AlreadyExists);

    assert_eq!(fs::copy(at("a"), at("b"))?, 4);
    assert_eq!(fs::read(at("b"))?, b"0123");
    OpenOptions::new().append(true).open(at("b"))?.write_all(b"456")?;
    fs::rename(at("b"), at("deep/c"))?;
    fails(fs::metadata(at("b")), ErrorKind::NotFound);
    assert_eq!(fs::read_to_string(at("deep/c"))?, "0123456");
    assert!(fs::exists(at("deep/c"))? && !fs::exists(at("deep/d"))?);
    assert_eq!(fs::canonicalize(at("deep/../deep/./c"))?, Path::new("/").join(at("deep/c")));

    let mut permissions = fs::metadata(at("a"))?.permissions();
    assert!(!permissions.readonly());
    permissions.set_readonly(true);
    fs::set_permissions(at("a"), permissions.clone())?;
    assert!(fs::metadata(at("a"))?.permissions().readonly());
    permissions.set_readonly(false);
    fs::set_permissions(at("a"), permissions)?;

    let metadata = fs::metadata(at("a"))?;
    assert!(metadata.is_file() && metadata.modified()?.elapsed().is_ok_and(|age| age.as_secs() < 3600));
    let mut entries = fs::read_dir(dir)?
        .map(|entry| Ok((entry.as_ref().unwrap().file_name(), entry?.file_type()?.is_dir())))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    assert_eq!(entries, [("a".into(), false), ("deep".into(), true)]);

    at_any_address(&at("bytes"))?;
    zeroed_of_any_length();

    fails(File::open(at("missing")), ErrorKind::NotFound);
    fails(File::open(at("a/b")), ErrorKind::NotADirectory);
    fails(fs::read(at("deep")), ErrorKind::IsADirectory);
    fails(fs::remove_dir(at("deep")), ErrorKind::DirectoryNotEmpty);
    fails(fs::remove_dir(at("a")), ErrorKind::NotADirectory);
    fails(fs::remove_file(at("deep")), ErrorKind::IsADirectory);
    fails(File::open("/etc/passwd"), ErrorKind::PermissionDenied);
    fails(File::open(at("../../etc/passwd")), ErrorKind::PermissionDenied);
    fails(File::open(at("a\0b")), ErrorKind::InvalidInput);
    fails(File::open(at(&"n".repeat(300))), ErrorKind::InvalidFilename);
    fails(OpenOptions::new().open(at("a")), ErrorKind::InvalidInput);
    fails(File::open(at("a"))?.write(b"x"), io::Error::from_raw_os_error(9).kind());

    fs::remove_file(at("a"))?;
    fs::remove_dir_all(at("deep"))?;
    assert_eq!(fs::read_dir(dir)?.count(), 0);
    println!("all as it should be");
    Ok(())
}

/// Writes and reads that begin at every place of 16 bytes, of lengths that are whole pieces and ones that are not: how
/// bytes are moved depends on both.
fn at_any_address(path: &Path) -> io::Result<()> {
    let bytes: Vec<u8> = (0..70_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let mut room = vec![0; bytes.len() + 32];
    for (place, len) in (0..17).flat_map(|place| [100, 128, 4096, 5003, 65_536].map(|len| (place, len))) {
        let part = &bytes[place..place + len];
        let mut file = File::create(path)?;
        file.write_all(part)?;
        drop(file);
        assert_eq!(fs::metadata(path)?.len(), len as u64);
        room.fill(0xa5);
        // Elsewhere than it was.
        let start = 16 - place % 16;
        File::open(path)?.read_exact(&mut room[start..start + len])?;
        assert!(room[start..start + len] == *part, "{len} bytes from {place} to {start}");
        assert!(room[..start].iter().chain(&room[start + len..]).all(|byte| *byte == 0xa5), "{len} bytes to {start}: more was written");
    }
    fs::remove_file(path)
}

/// Zeroed memory where there was something else before, of lengths that are whole pieces and ones that are not: who
/// fills it depends on them.
fn zeroed_of_any_length() {
    for len in (0..40).chain([100, 127, 128, 129, 143, 500, 4096, 5003, 65_536, 1_000_001]) {
        drop(black_box(vec![0xa5u8; len]));
        let bytes = black_box(vec![0u8; len]);
        assert!(bytes.iter().all(|byte| *byte == 0), "{len} bytes");
        drop(black_box(vec![u64::MAX; len]));
        assert!(black_box(vec![0u64; len]).iter().all(|number| *number == 0), "{len} numbers");
        // What is behind it stays.
        let (before, mut zeroed, behind) = (vec![7u8; 128], vec![0u8; 128], vec![7u8; 128]);
        zeroed.resize(128 + len % 300, 0);
        assert!(before.iter().chain(&behind).all(|byte| *byte == 7) && zeroed.iter().all(|byte| *byte == 0), "around {len} bytes");
    }
}

//! Work of one thread, the same on a device and on the host.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Nanoseconds of one of `count` repetitions of what `work` does.
pub(crate) fn each(count: u32, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

/// Appending a number to a `Vec` that grows.
pub(crate) fn push(count: u32) -> f64 {
    each(count, || {
        let mut all = Vec::new();
        for i in 0..count {
            all.push(black_box(i));
        }
        black_box(all);
    })
}

/// Allocating 16 to 512 bytes, writing one and giving them back: the same work as in the core's row `malloc`, whose
/// figures stand beside these.
pub(crate) fn alloc(count: u32) -> f64 {
    each(count, || {
        let mut state = 0x9e37_79b9u32;
        for _ in 0..count {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let mut block = Vec::<u8>::with_capacity(16 + (state % 497) as usize);
            block.push(state as u8);
            black_box(&mut block);
        }
    })
}

/// Inserting a number into a `HashMap` that grows, with std's own hasher.
pub(crate) fn insert(count: u32) -> f64 {
    each(count, || {
        let mut map = HashMap::new();
        for i in 0..u64::from(count) {
            map.insert(black_box(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)), i);
        }
        assert_eq!(map.len(), count as usize);
        black_box(map);
    })
}

/// Writing a line, which leaves by itself, as lines of standard output do.
pub(crate) fn lines(count: u32, line: impl FnMut(u32)) -> f64 {
    each(count, || (0..count).for_each(line))
}

/// Creating a file, writing into it and closing it; and listing an entry of the directory with them all.
pub(crate) fn files(dir: &Path, count: u32) -> io::Result<[f64; 2]> {
    let dir = dir.join("made");
    fs::create_dir(&dir)?;
    let mut made = Ok(());
    let creating = each(count, || made = (0..count).try_for_each(|i| File::create(dir.join(i.to_string()))?.write_all(b"contents")));
    made?;
    let mut listed = Ok(0);
    let listing = each(count, || listed = fs::read_dir(&dir).map(|entries| entries.filter(Result::is_ok).count()));
    assert_eq!(listed?, count as usize);
    fs::remove_dir_all(&dir)?;
    Ok([creating, listing])
}

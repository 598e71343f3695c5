//! What std costs where this runs. Prints a line for each figure: its name, and a number.
//!
//! `costs DIR`: DIR may be written to, and has a file `data` that is read. Names end in the unit: `ns` of one
//! operation, `gb_s` for 10⁹ bytes a second.

mod work;

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Instant;

/// Times that each figure is taken; the median is shown.
const SAMPLES: usize = 3;
/// Threads that read the file.
const READERS: u64 = 64;
/// Bytes of a write.
const BLOCK: usize = 4 << 10;
/// Bytes of a read: a staging slot.
const CHUNK: usize = 64 << 10;

fn main() -> io::Result<()> {
    let dir = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "/".into()));
    show("write_ns", || write(&dir, 2_000))?;
    show("read_gb_s", || read(&dir.join("data")))?;
    show("atomic_ns", || Ok(atomic(100_000)))?;
    show("mutex_ns", || Ok(mutex(100_000)))?;
    show("accesses_ns", || Ok(accesses(100_000)))?;
    show("push_ns", || Ok(work::push(1 << 20)))?;
    show("alloc_ns", || Ok(work::alloc(100_000)))?;
    show("insert_ns", || Ok(work::insert(100_000)))?;
    // Whoever reads the figures takes what has no blank for none.
    show("line_ns", || Ok(work::lines(2_000, |i| println!("line{i:06}"))))?;
    show("create_ns", || work::files(&dir, 500).map(|[creating, _]| creating))?;
    show("entry_ns", || work::files(&dir, 2_000).map(|[_, listing]| listing))
}

fn show(name: &str, mut sample: impl FnMut() -> io::Result<f64>) -> io::Result<()> {
    let mut all = (0..SAMPLES).map(|_| sample()).collect::<io::Result<Vec<_>>>()?;
    all.sort_by(f64::total_cmp);
    println!("{name} {:.4}", all[all.len() / 2]);
    Ok(())
}

/// Writes of one thread to one file.
fn write(dir: &Path, count: u32) -> io::Result<f64> {
    let mut file = File::create(dir.join("written"))?;
    let block = vec![7; BLOCK];
    let mut outcome = Ok(());
    let each = work::each(count, || outcome = (0..count).try_for_each(|_| file.write_all(&block)));
    outcome.map(|()| each)
}

/// Reads of a whole file by many threads, each its own part.
fn read(path: &Path) -> io::Result<f64> {
    let len = std::fs::metadata(path)?.len();
    let part = len.div_ceil(READERS);
    let ready = Arc::new(Barrier::new(READERS as usize + 1));
    let reader = |number: u64| {
        let (path, ready) = (path.to_owned(), ready.clone());
        thread::Builder::new().spawn(move || {
            let opened = File::open(path).and_then(|mut file| file.seek(SeekFrom::Start(number * part)).map(|_| file));
            let mut chunk = vec![0; CHUNK];
            // Even if that failed: the others wait for this one.
            ready.wait();
            let mut file = opened?;
            let end = part.min(len.saturating_sub(number * part));
            let mut at = 0;
            while at < end {
                let most = chunk.len().min((end - at) as usize);
                match file.read(&mut chunk[..most])? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    n => at += n as u64,
                }
            }
            black_box(chunk);
            Ok::<u64, io::Error>(at)
        })
    };
    let readers = (0..READERS).map(reader).collect::<io::Result<Vec<_>>>()?;
    ready.wait();
    let start = Instant::now();
    let mut bytes = 0;
    for reader in readers {
        bytes += reader.join().map_err(|_| io::Error::other("a reader panicked"))??;
    }
    assert_eq!(bytes, len);
    Ok(bytes as f64 / start.elapsed().as_nanos() as f64)
}

/// Additions to one atomic in the heap, each of which sees the one before.
fn atomic(count: u32) -> f64 {
    let number = Box::new(AtomicU64::new(0));
    work::each(count, || {
        let mut last = 0;
        for _ in 0..count {
            last = number.fetch_add(1 + (last >> 63), Ordering::Relaxed);
        }
        assert_eq!(last + 1, u64::from(count));
    })
}

/// What a mutex cannot do without, by hand: a compare-and-swap that acquires, a load and a store of what it guards, and
/// a swap that releases.
fn accesses(count: u32) -> f64 {
    let (lock, number) = (Box::new(AtomicU32::new(0)), Box::new(AtomicU64::new(0)));
    work::each(count, || {
        for _ in 0..count {
            // Acquire and release pair with each other, in the next round.
            if lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
                return;
            }
            number.store(number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            if lock.swap(0, Ordering::Release) != 1 {
                return;
            }
        }
        assert_eq!(number.load(Ordering::Relaxed), u64::from(count));
    })
}

/// Locking and unlocking of a mutex that nobody else wants.
fn mutex(count: u32) -> f64 {
    let number = Box::new(Mutex::new(0u64));
    work::each(count, || {
        for _ in 0..count {
            match number.lock() {
                Ok(mut number) => *number += 1,
                Err(_) => return,
            }
        }
        assert_eq!(number.lock().map(|number| *number).ok(), Some(u64::from(count)));
    })
}

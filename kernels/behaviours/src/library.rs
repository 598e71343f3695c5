//! The device library: print, files, heap, time, environment, random numbers, panics, exit.

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use hostcall::fs::{self, File, SeekFrom};
use hostcall::prelude::*;
use hostcall::random::Random;
use hostcall::{env, heap, process, time, wave};

/// Each lane prints `count` lines of its own: its number, the line's, and as many letters as the line's number.
#[kernel]
pub fn print_lines(count: u32) {
    let me = global_id();
    for i in 0..count {
        println!("{me} {i} {:.2} {:?} {:>width$}", me as f32 / 4.0, Some(i), "x", width = i as usize % 90 + 1);
        // Some lanes print to both.
        if (me as u32 + i) % 3 == 0 {
            eprintln!("error {me} {i}");
        }
    }
}

/// Each lane prints one line of several kilobytes.
#[kernel]
pub fn print_long(length: u32) {
    let me = global_id();
    println!("{me} {:>width$}|", me, width = length as usize);
}

/// Allocates, writes, checks and frees at random; the lane's word says how often something was wrong.
#[kernel]
pub fn heap_churn(rounds: u32, largest: u32, wrong: &mut [u32]) {
    let me = global_id();
    if me >= wrong.len() {
        return;
    }
    let mut random = Random::stream(7, me as u64);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut bad = 0;
    for _ in 0..rounds {
        let size = 1 + random.below(largest) as usize;
        let mut block: Vec<u8> = Vec::new();
        if block.try_reserve_exact(size).is_err() {
            bad += 1;
            continue;
        }
        block.resize(size, me as u8);
        kept.push(block);
        if kept.len() > 4 {
            let old = kept.swap_remove(random.below(4) as usize);
            bad += u32::from(old.iter().any(|byte| *byte != me as u8));
        }
    }
    bad += kept.iter().filter(|block| block.iter().any(|byte| *byte != me as u8)).count() as u32;
    wrong[me] = bad;
}

/// What the heap has in use and in all, after collections have come and gone.
#[kernel]
pub fn heap_collections(out: &mut [u64]) {
    let me = global_id();
    let mut words = BTreeMap::new();
    for i in 0..50u32 {
        *words.entry(format!("word {}", i % 7)).or_insert(0u32) += i;
    }
    let text: String = words.iter().map(|(word, count)| format!("{word}={count} ")).collect();
    let right = text == "word 0=196 word 1=154 word 2=161 word 3=168 word 4=175 word 5=182 word 6=189 ";
    drop((text, words));
    if me < out.len() {
        out[me] = u64::from(right);
    }
}

/// How full the heap is, by one lane.
#[kernel]
pub fn heap_stats(out: &mut [u64]) {
    let stats = heap::stats();
    out[0] = stats.used_bytes as u64;
    out[1] = stats.total_bytes as u64;
}

/// Asks for more than there is.
#[kernel]
pub fn heap_exhausted(bytes: u64) {
    let block: Vec<u8> = Vec::with_capacity(bytes as usize);
    // Without a use of the address the compiler leaves the allocation out.
    println!("{:?}", core::hint::black_box(block.as_ptr()));
}

fn file_steps(me: usize) -> Result<(), fs::Error> {
    let path = format!("/data/file-{me}");
    let moved = format!("/data/moved-{me}");
    let text = format!("lane {me} wrote this {}", "and more ".repeat(me % 40));
    fs::write(&path, &text)?;
    assert_eq!(fs::read_to_string(&path)?, text);
    assert_eq!(fs::metadata(&path)?.len(), text.len() as u64);
    let file = File::options().read(true).write(true).open(&path)?;
    let mut four = [0; 4];
    file.read_exact(&mut four)?;
    assert_eq!(&four, b"lane");
    assert_eq!(file.seek(SeekFrom::End(-2))?, text.len() as u64 - 2);
    file.write_all(b"!!!")?;
    let mut end = [0; 8];
    assert_eq!(file.read_at(text.len() as u64 - 2, &mut end)?, 3);
    assert_eq!(&end[..3], b"!!!");
    file.set_len(4)?;
    drop(file);
    assert_eq!(fs::read(&path)?, b"lane");
    fs::rename(&path, &moved)?;
    assert_eq!(fs::exists(&path)?, false);
    assert_eq!(fs::metadata(&path).unwrap_err().kind(), fs::ErrorKind::NotFound);
    fs::remove_file(&moved)?;
    assert_eq!(File::open("/etc/passwd").unwrap_err().kind(), fs::ErrorKind::PermissionDenied);
    assert_eq!(File::open("/data/../x").unwrap_err().kind(), fs::ErrorKind::PermissionDenied);
    Ok(())
}

/// Every lane uses files of its own; its word is 1 if all was right.
#[kernel]
pub fn files(right: &mut [u32]) {
    let me = global_id();
    if me < right.len() {
        match file_steps(me) {
            Ok(()) => right[me] = 1,
            Err(error) => println!("lane {me}: {error}"),
        }
    }
}

/// The entries of `/data`, by one lane.
#[kernel]
pub fn list() -> Result<(), fs::Error> {
    for entry in fs::read_dir("/data")? {
        let entry = entry?;
        println!("{} {}", entry.path(), entry.metadata()?.len());
    }
    Ok(())
}

/// Each wave reads its part of a file into its part of `out`, all lanes together.
#[kernel]
pub fn read_by_waves(part: u32, out: &mut [u8]) -> Result<(), fs::Error> {
    let start = wave::wave_index() * part as usize;
    let end = (start + part as usize).min(out.len());
    let file = File::open("/data/big")?;
    let read = file.read_at_wave(start as u64, &mut out[start..end])?;
    assert_eq!(read, end - start);
    Ok(())
}

/// What the host granted of the environment, and clocks that go on.
#[kernel]
pub fn surroundings() -> Result<(), CallError> {
    println!("{:?} {:?} {:?}", env::args()?, env::var("GREETING")?, env::var("PATH")?);
    let start = time::Instant::now();
    time::sleep(core::time::Duration::from_micros(200));
    assert!(start.elapsed() >= core::time::Duration::from_micros(200));
    assert!(time::SystemTime::now()?.since_epoch().as_secs() > 1_600_000_000);
    Ok(())
}

/// One lane panics; the others print until they are ended.
#[kernel]
pub fn panics(lane: u32) {
    let me = global_id();
    if me == lane as usize {
        panic!("lane {me} had enough");
    }
}

/// One lane exits with a code.
#[kernel]
pub fn exits(code: i32) {
    if global_id() == 0 {
        process::exit(code);
    }
}

//! What lanes do that are threads.

use add42_services::Host;
use hostcall::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, RwLock, mpsc};
use std::thread;
use std::{env, fs};

/// Lines in parts: what a lane writes without a newline stays with it until the line is whole.
#[kernel]
pub fn parts() -> io::Result<()> {
    let lane = global_id();
    print!("a{lane}");
    let mut out = io::stdout().lock();
    write!(out, " b{lane}")?;
    drop(out);
    writeln!(io::stdout(), " c{lane}")?;
    println!("d{lane} {}", "long ".repeat(100));
    io::stdout().write_all(format!("e{lane}\nf{lane}").as_bytes())?;
    println!(" g{lane}");
    io::stdout().flush()?;
    eprintln!("h{lane}");
    Ok(())
}

/// Thread-local values are the lane's own; they are dropped when it ends.
#[kernel]
pub fn own() {
    struct Noted(Cell<usize>);
    impl Drop for Noted {
        fn drop(&mut self) {
            println!("dropped {}", self.0.get());
        }
    }
    thread_local! {
        static MINE: Cell<usize> = const { Cell::new(7) };
        static TEXT: RefCell<String> = RefCell::new(String::from("text"));
        static NOTED: Noted = const { Noted(Cell::new(0)) };
    }
    let lane = global_id();
    assert_eq!(MINE.get(), 7, "another lane's value");
    MINE.set(lane);
    TEXT.with_borrow_mut(|text| text.push_str(&lane.to_string()));
    NOTED.with(|noted| noted.0.set(lane));
    // The error number of the last call is a lane's own as well.
    let missing = fs::File::open("nowhere").expect_err("nothing is granted");
    assert_eq!(missing.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(io::Error::last_os_error().kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(MINE.get(), lane);
    assert_eq!(TEXT.take(), format!("text{lane}"));
    print!("mine {lane}, ");
}

/// Collections, numbers as text, hashes with random keys.
#[kernel]
pub fn collections() {
    let lane = global_id();
    let numbers: Vec<u64> = (0..64).map(|i| (i * 37 + lane as u64) % 64).collect();
    let by_digit = numbers.iter().fold(HashMap::<u64, Vec<u64>>::new(), |mut map, n| {
        map.entry(n % 10).or_default().push(*n);
        map
    });
    let sorted: BTreeMap<u64, u64> = by_digit.iter().map(|(digit, numbers)| (*digit, numbers.iter().sum())).collect();
    let text: Vec<String> = sorted.values().map(u64::to_string).collect();
    let sum: u64 = text.join(" ").split(' ').map(|n| n.parse::<u64>().expect("a number")).sum();
    println!("{lane} {} {sum}", by_digit.len());
}

/// Locks, conditions and channels between lanes, of one wave as well.
#[kernel]
pub fn locks() {
    static COUNT: Mutex<(usize, Vec<usize>)> = Mutex::new((0, Vec::new()));
    static ALL: Condvar = Condvar::new();
    static TABLE: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());
    static CHANNEL: Mutex<Option<mpsc::Sender<usize>>> = Mutex::new(None);
    static READY: AtomicU32 = AtomicU32::new(0);
    let lane = global_id();
    TABLE.write().expect("no lane panicked").insert(lane, lane * lane);
    let mut count = COUNT.lock().expect("no lane panicked");
    count.0 += 1;
    count.1.push(lane);
    if count.0 == global_size() {
        ALL.notify_all();
    }
    // All lanes must be resident for this.
    let count = ALL.wait_while(count, |count| count.0 < global_size()).expect("no lane panicked");
    let mut lanes = count.1.clone();
    drop(count);
    lanes.sort_unstable();
    assert!(lanes.iter().copied().eq(0..global_size()));
    let squares: usize = TABLE.read().expect("no lane panicked").values().sum();
    assert_eq!(squares, lanes.iter().map(|lane| lane * lane).sum::<usize>());

    if lane == 0 {
        let (send, receive) = mpsc::channel();
        *CHANNEL.lock().expect("no lane panicked") = Some(send);
        READY.store(1, Ordering::Release);
        let sum: usize = receive.iter().take(global_size() - 1).sum();
        println!("{} lanes, {squares}, {sum}", global_size());
    } else {
        while READY.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        let send = CHANNEL.lock().expect("no lane panicked").clone().expect("it is ready");
        send.send(lane).expect("lane 0 receives");
    }
}

/// A large variable that other functions are lent, and calls within calls.
#[kernel]
pub fn stacks(depth: u32) {
    let lane = global_id();
    let mut page = [0u32; 2048];
    fill(&mut page, lane as u32);
    println!("{lane} {}", deep(depth, &page));
}

#[inline(never)]
fn fill(page: &mut [u32], first: u32) {
    for (i, word) in page.iter_mut().enumerate() {
        *word = first + i as u32;
    }
}

#[inline(never)]
fn deep(n: u32, page: &[u32]) -> u64 {
    let own = [n; 16];
    black_box(&own);
    if n == 0 { page.iter().copied().map(u64::from).sum() } else { deep(n - 1, page) + u64::from(own[n as usize % 16]) }
}

/// Files, arguments and variables.
#[kernel]
pub fn files() -> io::Result<()> {
    let lane = global_id();
    let path = format!("w/lane-{lane}");
    fs::write(&path, format!("{lane} of {}", global_size()))?;
    let mut text = String::new();
    fs::File::open(&path)?.read_to_string(&mut text)?;
    assert_eq!(text, format!("{lane} of {}", global_size()));
    fs::remove_file(&path)?;
    let arguments: Vec<String> = env::args().collect();
    println!("{lane} {arguments:?} {:?}", env::var("COLOUR").ok());
    Ok(())
}

/// A typed service beside std.
#[kernel]
pub fn services(y: &mut [f32]) -> Result<(), CallError> {
    let lane = global_id();
    y[lane] = Host::add42(y[lane])?;
    Ok(())
}

/// What a lane may not do is an error that says so.
#[kernel]
pub fn refused() {
    let error = thread::Builder::new().spawn(|| {}).expect_err("there are no threads to start");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    println!("{error}");
}

/// One lane panics; the others wait for it.
#[kernel]
pub fn panics(which: u32) {
    static NEVER: Mutex<bool> = Mutex::new(false);
    static CHANGED: Condvar = Condvar::new();
    if global_id() == which as usize {
        panic!("lane {which} has had enough");
    }
    drop(CHANGED.wait_while(NEVER.lock().expect("no lane panicked here"), |never| !*never));
}

/// Ends with an exit code, and what was printed is not lost.
#[kernel]
pub fn exits(code: i32) {
    if global_id() == 3 {
        print!("unfinished");
        std::process::exit(code);
    }
}

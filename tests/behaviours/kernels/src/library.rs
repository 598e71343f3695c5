//! The rest of the device library.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use behaviours_services::Tally;
use core::time::Duration;
use hostcall::prelude::*;
use hostcall::random::Random;
use hostcall::time::{Instant, SystemTime, sleep};
use hostcall::{env, heap, process};

use crate::code;

/// `[host's seconds, nanoseconds, device's nanoseconds of a sleep of 2 ms]`
#[kernel]
pub fn clocks(out: &mut [u64]) -> Result<(), CallError> {
    let now = SystemTime::now()?.since_epoch();
    let start = Instant::now();
    sleep(Duration::from_millis(2));
    let slept = start.elapsed();
    assert!(Instant::now() >= start + slept);
    out[0] = now.as_secs();
    out[1] = u64::from(now.subsec_nanos());
    out[2] = slept.as_nanos() as u64;
    Ok(())
}

/// Arguments and variables, printed.
#[kernel]
pub fn environment() -> Result<(), CallError> {
    for (i, arg) in env::args()?.into_iter().enumerate() {
        println!("{i}={arg}");
    }
    println!("{:?} {:?}", env::arg(1)?, env::arg(99)?);
    println!("{:?} {:?} {:?}", env::var("GIVEN")?, env::var("HOME")?, env::var("")?);
    Ok(())
}

/// Two numbers of each lane, and one of a seed of its own.
#[kernel]
pub fn randoms(numbers: &mut [[u64; 3]]) {
    let i = global_id();
    if i < numbers.len() {
        let mut random = Random::new();
        numbers[i] = [random.next_u64(), random.next_u64(), Random::with_seed(7).next_u64()];
    }
}

/// One lane ends the kernel with `status`, the others call until they are ended.
#[kernel]
pub fn exits(status: i32, after: &mut [u32]) {
    let i = global_id();
    if i == 1 {
        process::exit(status);
    }
    while Tally::tick(0).is_ok() {}
    after[i] = 1;
}

/// As `exits`, by an abort.
#[kernel]
pub fn aborts(after: &mut [u32]) {
    let i = global_id();
    if i == 1 {
        process::abort();
    }
    while Tally::tick(0).is_ok() {}
    after[i] = 1;
}

/// The lanes of `mask` of each wave panic; the others go on to a call.
#[kernel]
pub fn panics(mask: u64, after: &mut [u32]) {
    let i = global_id();
    if mask >> lane_id() & 1 == 1 {
        panic!("lane {i} was told to: {:?}", Some(mask));
    }
    while Tally::tick(0).is_ok() {}
    after[i] = 1;
}

/// An index out of bounds, found by the compiler's own check.
#[kernel]
pub fn panics_by_index(values: &mut [u32]) {
    let i = global_id();
    values[i + 1000] = 1;
}

/// A message too long to be sent whole.
#[kernel]
pub fn panics_at_length() {
    panic!("{}", "långt ".repeat(500));
}

/// A `Display` that panics while a panic is reported.
#[kernel]
pub fn panics_twice() {
    struct Bad;
    impl core::fmt::Display for Bad {
        fn fmt(&self, _: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            panic!("the second");
        }
    }
    panic!("the first: {Bad}");
}

/// An `Err` from a kernel.
#[kernel]
pub fn returns_an_error() -> Result<(), CallError> {
    Err(CallError::Timeout)
}

/// Many blocks of many sizes at once from every lane, of which none overlaps another.
#[kernel]
pub fn allocates(rounds: u32, right: &mut [u32]) {
    let i = global_id();
    if i >= right.len() {
        return;
    }
    let mut random = Random::with_seed(11);
    let mut good = 0;
    for round in 0..rounds {
        let text = String::from("lane ") + &i.to_string() + " of round " + &round.to_string();
        let mut numbers: Vec<u64> = Vec::new();
        let count = random.below(200) as usize;
        for n in 0..count {
            numbers.push(i as u64 * 1000 + n as u64);
        }
        let large = Aligned([i as u32; 32]);
        let boxed = Box::new(large);
        let aligned = core::ptr::from_ref(&*boxed) as usize % 128 == 0;
        let same = numbers.iter().enumerate().all(|(n, v)| *v == i as u64 * 1000 + n as u64) && boxed.0.iter().all(|v| *v == i as u32);
        let expected = text.strip_prefix("lane ").and_then(|rest| rest.split(' ').next()) == Some(i.to_string().as_str());
        good += u32::from(aligned && same && expected && numbers.len() == count);
    }
    right[i] = good;
}

#[repr(align(128))]
struct Aligned([u32; 32]);

/// What the heap says of itself: `[used, total]`.
#[kernel]
pub fn heap_use(out: &mut [u64]) {
    let stats = heap::stats();
    out[0] = stats.used_bytes as u64;
    out[1] = stats.total_bytes as u64;
}

/// Asks for more than there is: by `try_reserve` an error, which `out` counts; otherwise the kernel's end.
#[kernel]
pub fn exhausts(bytes: u64, politely: u32, out: &mut [u64]) {
    let mut block: Vec<u8> = Vec::new();
    if politely != 0 {
        out[global_id()] = u64::from(block.try_reserve_exact(bytes as usize).is_err());
    } else {
        block.reserve_exact(bytes as usize);
        out[global_id()] = block.capacity() as u64;
    }
}

/// Blocks that one kernel leaves and another frees: `keep[lane]` is the address.
#[kernel]
pub fn leaks(keep: &mut [u64]) {
    let i = global_id();
    keep[i] = Box::into_raw(Box::new([i as u64; 9])) as u64;
}

/// Frees what [`leaks`] left, and says whether it was whole.
#[kernel]
pub fn frees(keep: &mut [u64]) {
    let i = global_id();
    // SAFETY: made by `leaks` with this type, and freed once.
    let block = unsafe { Box::from_raw(keep[i] as *mut [u64; 9]) };
    keep[i] = u64::from(*block == [i as u64; 9]);
}

/// Every call of the built-in services, once, for a server that grants nothing.
#[kernel]
pub fn asks_for_all(out: &mut [u64]) {
    out[0] = hostcall::fs::read("rw/x").map_or(1, |_| 0);
    out[1] = env::var("HOME").map_or_else(code, |v| u64::from(v.is_none()));
    out[2] = env::args().map_or_else(code, |v| u64::from(v.is_empty()));
    out[3] = u64::from(SystemTime::now().is_ok());
    println!("printed");
    out[4] = 1;
}

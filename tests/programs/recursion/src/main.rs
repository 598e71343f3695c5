//! Calls within calls: `recursion direct N | pointers N | threads N | exit N | endless`.
//!
//! On NVIDIA's GPUs what a call saves lies in the lane's own memory, and a thread that has filled its lane's goes on in
//! that of the next. So what happens deep down here is what may notice: results of all kinds, thread-local values,
//! `errno`, copies, output, the end of the program.

use std::cell::Cell;
use std::hint::black_box;
use std::process::{self, ExitCode};
use std::thread;

thread_local! {
    /// The deepest call of the thread.
    static DEEPEST: Cell<u64> = const { Cell::new(0) };
}

/// Calls that take and give what is less than a register, several, and more than one.
#[inline(never)]
fn sum(n: u64, narrow: i8, wide: u128, part: f32) -> (u64, i8, u128) {
    if n == 0 {
        bottom();
        return (0, narrow, wide);
    }
    let (sum, narrow, wide) = pair(n - 1, (narrow, part)).map_or((0, 0, 0), |(sum, narrow)| (sum, narrow, wide.rotate_left(1)));
    (black_box(sum) + n, narrow.wrapping_sub(1), wide)
}

#[inline(never)]
fn pair(n: u64, (narrow, part): (i8, f32)) -> Option<(u64, i8)> {
    if n == 0 {
        bottom();
        return Some((0, narrow));
    }
    let (sum, narrow, _) = sum(n - 1, narrow.wrapping_add(1), u128::from(n) << 60, part + 0.5);
    Some((black_box(sum) + n, narrow)).filter(|_| part >= 0.0)
}

/// What a program does where it is deepest.
#[inline(never)]
fn bottom() {
    DEEPEST.with(|deepest| deepest.set(deepest.get() + 1));
    let bytes: Vec<u8> = (0..10_000_u32).map(|i| i as u8).collect();
    let copy = black_box(bytes.clone());
    assert!(copy == bytes && vec![0_u8; 5000].iter().all(|byte| *byte == 0));
    assert!(std::fs::File::open("/is/not/there").is_err());
    println!("at the bottom of {}", thread::current().name().unwrap_or("a thread"));
}

/// Through pointers, as interpreters and parsers do.
trait Node {
    fn depth(&self) -> u64;
}

struct Leaf;
struct Inner(Box<dyn Node>);

impl Node for Leaf {
    fn depth(&self) -> u64 {
        bottom();
        0
    }
}

impl Node for Inner {
    fn depth(&self) -> u64 {
        black_box(&self.0).depth() + 1
    }
}

impl Drop for Inner {
    /// Counts. The drop of a list is recursion, too.
    fn drop(&mut self) {
        DEEPEST.set(DEEPEST.get() + 1);
    }
}

#[inline(never)]
fn exits(n: u64) -> u64 {
    if n == 0 {
        println!("the end, deep down");
        process::exit(7);
    }
    black_box(exits(n - 1)) ^ n
}

/// As rustc sees it, it may end. It needs no variable in memory.
#[inline(never)]
fn endless(n: u64) -> u64 {
    if black_box(n) == u64::MAX { 0 } else { endless(n + 1) ^ n }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["direct", n] => println!("{:?}", sum(number(n), 5, 1 << 100 | 7, 0.25)),
        ["pointers", n] => {
            let list = (0..number(n)).fold(Box::new(Leaf) as Box<dyn Node>, |list, _| Box::new(Inner(list)));
            println!("{}", list.depth());
            drop(list);
            println!("{} dropped", DEEPEST.get() - 1);
        }
        ["threads", n] => {
            let n = number(n);
            let threads: Vec<_> = (0..3).map(|i| thread::Builder::new().spawn(move || sum(n + i, 0, 0, 0.0).0 + DEEPEST.get())).collect();
            let sums: Vec<u64> = threads.into_iter().map(|thread| thread.expect("there is room").join().expect("no panic")).collect();
            println!("{sums:?}");
        }
        ["exit", n] => println!("{}", exits(number(n))),
        ["endless"] => println!("{}", endless(0)),
        _ => {
            eprintln!("usage: recursion direct N | pointers N | threads N | exit N | endless");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

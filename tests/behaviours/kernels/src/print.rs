//! Printing.

use core::fmt;
use hostcall::prelude::*;

/// Every lane prints `lines` lines of lengths that differ, the odd ones to standard error if `both`.
#[kernel]
pub fn prints(lines: u32, both: u32) {
    let lane = global_id();
    for n in 0..lines {
        let fill = Repeated('x', (lane + n as usize) % 60);
        if both != 0 && n % 2 == 1 {
            eprintln!("E {lane} {n} {fill}.");
        } else {
            println!("O {lane} {n} {fill}.");
        }
    }
}

/// A character, so many times: formatted in small pieces.
struct Repeated(char, usize);

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.1).try_for_each(|_| fmt::Write::write_char(f, self.0))
    }
}

/// Every lane prints one line of `len` characters of its own.
#[kernel]
pub fn prints_long(len: u32) {
    let lane = global_id();
    println!("{lane}:{}", Repeated(char::from(b'a' + (lane % 26) as u8), len as usize));
}

#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Point {
    x: i32,
    name: &'static str,
    inner: Option<[u8; 2]>,
}

/// Formats of all kinds.
#[kernel]
pub fn print_formats(x: f32, y: f64, n: i64) {
    println!("{x} {y} {n}");
    println!("{x:?} {y:?} {n:?}");
    println!("{x:.3}|{y:10.2}|{y:<10.1}|{y:+e}");
    println!("{n:>8}|{n:<8}|{n:^8}|{n:08}|{n:+}|{:#x}|{:#010b}|{:o}", n as u16, n as u8, n as u16);
    println!("{:?} {:#?}", Point { x: -3, name: "a\"ß\n", inner: Some([1, 2]) }, Point { x: 4, name: "b", inner: None });
    println!("{:*^9}|{:.2}|{:>w$}|{:?}|{}", "mid", "truncate", 'c', '\'', true, w = 4);
    println!("{} {} {}", f32::MIN_POSITIVE, f64::MAX, f64::NAN);
    print!("no newline");
    println!();
}

/// A constant text, and texts without end of line in several parts.
#[kernel]
pub fn print_parts() {
    print!("<");
    print!("{}", lane_id());
    print!(">");
}

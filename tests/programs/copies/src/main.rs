//! What the compiler makes of copies and fills: `copies` compares each byte, `copies time` also says what large ones
//! take.
//!
//! What a byte should be is computed from where it is, so nothing is compared with another copy.

use std::hint::black_box;
use std::time::Instant;

/// Bytes around a block, which nobody may touch.
const MARGIN: usize = 32;
const UNTOUCHED: u8 = 0xa5;

/// What stands at `index` of a source.
fn byte(index: usize) -> u8 {
    (index.wrapping_mul(0x9e37_79b1) >> 13) as u8
}

fn source(len: usize) -> Vec<u8> {
    (0..len).map(byte).collect()
}

/// Counts what was compared, and says what is wrong.
#[derive(Default)]
struct Checks {
    right: u64,
    wrong: u64,
}

impl Checks {
    fn all(&mut self, what: &str, found: &[u8], expected: impl Fn(usize) -> u8) {
        let wrong = found.iter().enumerate().find(|(index, found)| **found != expected(*index));
        match wrong {
            None => self.right += 1,
            Some((index, found)) => {
                self.wrong += 1;
                println!("{what}: byte {index} is {found}, not {}", expected(index));
            }
        }
    }

    /// A block of `len` bytes at `to` in margins.
    fn within(&mut self, what: &str, all: &[u8], to: usize, len: usize, expected: impl Fn(usize) -> u8) {
        self.all(what, all, |index| if index.checked_sub(to).is_some_and(|at| at < len) { expected(index - to) } else { UNTOUCHED });
    }
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..40).chain([63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 300, 511, 512, 513, 1000, 2047, 2048, 2049, 4096, 5000])
}

fn copies(checks: &mut Checks) {
    let from = source(8192);
    for len in lengths() {
        for (to, at) in [(0, 0), (1, 0), (0, 1), (3, 7), (4, 8), (5, 5), (8, 4), (13, 29), (16, 16), (15, 31)] {
            let (to, len) = (black_box(to), black_box(len));
            let mut all = vec![UNTOUCHED; len + 2 * MARGIN];
            all[to..to + len].copy_from_slice(&from[at..at + len]);
            checks.within(&format!("copy of {len} from {at} to {to}"), &all, to, len, |index| byte(at + index));
        }
    }
}

fn moves(checks: &mut Checks) {
    for len in lengths() {
        for (to, at) in [(0, 0), (0, 1), (1, 0), (0, 16), (16, 0), (4, 20), (20, 4), (7, 300), (300, 7)] {
            let (to, len) = (black_box(to), black_box(len));
            let mut all = source(len + 400);
            all.copy_within(at..at + len, to);
            let moved = |index: usize| if index.checked_sub(to).is_some_and(|at| at < len) { byte(index - to + at) } else { byte(index) };
            checks.all(&format!("move of {len} from {at} to {to}"), &all, moved);
        }
    }
}

fn fills(checks: &mut Checks) {
    for len in lengths() {
        for (to, value) in [(0, 0), (1, 0xff), (4, 1), (13, 0x80), (16, 0)] {
            let (to, len, value) = (black_box(to), black_box(len), black_box(value));
            let mut all = vec![UNTOUCHED; len + 2 * MARGIN];
            all[to..to + len].fill(value);
            checks.within(&format!("fill of {len} at {to} with {value}"), &all, to, len, |_| value);
        }
        let zeroed = vec![0u8; black_box(len)];
        checks.all(&format!("zeroed {len}"), &zeroed, |_| 0);
    }
}

/// Values that are larger than registers, vectors that are cloned and grow.
fn values(checks: &mut Checks) {
    #[derive(Clone, Copy)]
    struct Large([u8; 1000]);
    let large = Large(std::array::from_fn(byte));
    let copies = [black_box(large); 3];
    for copy in &copies {
        checks.all("a large value", &black_box(*copy).0, byte);
    }
    let mut grown = Vec::new();
    for len in [1, 100, 1000, 20_000] {
        grown.extend_from_slice(&source(len)[..black_box(len)]);
        let clone = black_box(&grown).clone();
        let start = clone.len() - len;
        checks.all("what a vector grew by", &clone[start..], byte);
    }
}

/// Gigabytes a second of `work` on so many bytes.
fn rate(name: &str, bytes: usize, mut work: impl FnMut()) {
    const TIMES: usize = 8;
    let start = Instant::now();
    (0..TIMES).for_each(|_| work());
    println!("{name} {:.3}", (bytes * TIMES) as f64 / start.elapsed().as_secs_f64() / 1e9);
}

fn times() {
    const BYTES: usize = 4 << 20;
    let from = source(BYTES);
    let mut to = vec![0u8; BYTES + 1];
    rate("copy_gb_s", BYTES, || black_box(&mut to[..BYTES]).copy_from_slice(black_box(&from)));
    rate("copy_unaligned_gb_s", BYTES, || black_box(&mut to[1..]).copy_from_slice(black_box(&from)));
    rate("fill_gb_s", BYTES, || black_box(&mut to).fill(black_box(7)));
    rate("zeroed_gb_s", BYTES, || drop(black_box(vec![0u8; black_box(BYTES)])));
}

fn main() -> std::process::ExitCode {
    let mut checks = Checks::default();
    copies(&mut checks);
    moves(&mut checks);
    fills(&mut checks);
    values(&mut checks);
    println!("{} right, {} wrong", checks.right, checks.wrong);
    if std::env::args().nth(1).as_deref() == Some("time") {
        times();
    }
    std::process::ExitCode::from(u8::from(checks.wrong > 0))
}

//! What messages cost a kernel that has something else to do, and how long one is under way.

use core::sync::atomic::{AtomicU32, Ordering};

use bench_services::Message16;
use hostcall::kernel;
use hostcall::stream::Sent;
use hostcall::time::Instant;
use hostcall::wave::{global_id, lane_id, wave_index};

use crate::clock::Ticks;
use crate::streams::{Tally, write};

/// Columns of the matrices that are multiplied.
const COLUMNS: usize = 32;

/// `each` times a piece of a product of matrices by each wave, of which each lane then sends four elements.
///
/// `left` has a power of two of elements; `right` 32 times as many, so that a lane of a wave of 32 has a column of its
/// own. Each of the four elements is a sum of `steps` products. `out`, for each lane: the sum of what it sent, and
/// messages that were not sent.
#[kernel]
pub fn stream_cost(each: u32, steps: u32, left: &[f32], right: &[f32], out: &mut [[u64; 2]]) {
    multiply(each, steps, left, right, out, |units| Message16 { units }.send());
}

/// The same without messages: `out` says that all were not sent.
#[kernel]
pub fn stream_cost_none(each: u32, steps: u32, left: &[f32], right: &[f32], out: &mut [[u64; 2]]) {
    // Something that cannot be left out.
    multiply(each, steps, left, right, out, |units| if units[3] == u32::MAX { Sent::Sent } else { Sent::Off });
}

/// The same with messages that are never reached: what it costs to have them in the kernel.
#[kernel]
pub fn stream_cost_never(each: u32, steps: u32, left: &[f32], right: &[f32], out: &mut [[u64; 2]]) {
    // No sum of numbers is this one.
    multiply(each, steps, left, right, out, |units| if units[3] == u32::MAX { Message16 { units }.send() } else { Sent::Off });
}

#[inline(always)]
fn multiply(each: u32, steps: u32, left: &[f32], right: &[f32], out: &mut [[u64; 2]], send: impl Fn([u32; 4]) -> Sent) {
    let lane = global_id();
    let mut tally = Tally::default();
    if right.len() < left.len() * COLUMNS || !left.len().is_power_of_two() {
        return;
    }
    let (column, mask) = (lane_id() as usize % COLUMNS, left.len() - 1);
    let mut k = wave_index();
    for _ in 0..each {
        let mut sums = [0.0f32; 4];
        for _ in 0..steps / 4 {
            for (part, sum) in sums.iter_mut().enumerate() {
                let row = (k + part) & mask;
                // SAFETY: `row` is below the power of two that `left` has of elements, and `right` has 32 for each of
                // them; both were compared.
                let (a, b) = unsafe { (left.get_unchecked(row), right.get_unchecked(row * COLUMNS + column)) };
                *sum += a * b;
            }
            k += 4;
        }
        let units = sums.map(f32::to_bits);
        tally.add(send(units), &units);
    }
    write(out, lane, tally.0);
}

/// Looks at a word between two at the clock.
const LOOKS: u32 = 1 << 12;

/// One lane sends messages, and waits after each until the host's handler has written its number into `word`. `out`:
/// nanoseconds of `trips` of them, after `warm` others, and how many of all were answered. It gives up when one is not
/// answered for three seconds, or was not sent.
#[kernel]
pub fn stream_latency(warm: u32, trips: u32, word: *mut u32, out: &mut [[u64; 2]]) {
    // SAFETY: the host passes a word that both sides access atomically.
    let word = unsafe { AtomicU32::from_ptr(word) };
    let (clock, begin) = (Ticks::start(), Instant::now());
    let first = clock.now();
    let (mut start, mut answered) = (first, 0);
    for i in 1..=warm + trips {
        if i == warm + 1 {
            start = clock.now();
        }
        if (Message16 { units: [i, i, i, i] }).send() != Sent::Sent || !is_answered(word, i) {
            break;
        }
        answered += 1;
    }
    let ns = clock.nanoseconds(clock.now() - start, first, begin);
    write(out, global_id(), [ns, answered]);
}

/// Parts of that: with `what` 0 the message, and behind it its number in the word `behind`; with 1 the word alone,
/// which the host answers; with 2 the message, for the answer to which it does not wait, but for as many nanoseconds as
/// `pause` says. `out`: nanoseconds in which it sent, and of all; how many were answered.
#[kernel]
pub fn stream_latency_parts(what: u32, pause: u32, warm: u32, trips: u32, word: *mut u32, behind: *mut u32, out: &mut [[u64; 2]]) {
    // SAFETY: the host passes words that both sides access atomically.
    let [word, behind] = unsafe { [AtomicU32::from_ptr(word), AtomicU32::from_ptr(behind)] };
    let (clock, begin) = (Ticks::start(), Instant::now());
    let first = clock.now();
    let (mut start, mut sending, mut answered) = (first, 0, 0);
    for i in 1..=warm + trips {
        if i == warm + 1 {
            (start, sending) = (clock.now(), 0);
        }
        let before = clock.now();
        if what != 1 && (Message16 { units: [i, i, i, i] }).send() != Sent::Sent {
            break;
        }
        sending += clock.now() - before;
        if what == 2 {
            let since = Instant::now();
            while since.elapsed().as_nanos() < u128::from(pause) {}
        } else {
            // Relaxed: what counts is when it comes, which is behind the message, because the bus keeps stores in
            // order.
            behind.store(i, Ordering::Relaxed);
            if !is_answered(word, i) {
                break;
            }
        }
        answered += 1;
    }
    let whole = clock.now() - start;
    write(out, 0, [clock.nanoseconds(sending, first, begin), clock.nanoseconds(whole, first, begin)]);
    write(out, 1, [answered, 0]);
}

/// Looks until the host has written this number into the word, for three seconds at most.
#[inline(always)]
fn is_answered(word: &AtomicU32, number: u32) -> bool {
    let (mut looks, mut since) = (0, None::<Instant>);
    // Relaxed: the number is all there is to say. Pairs with the host's store.
    while word.load(Ordering::Relaxed) != number {
        // A simulated wave gives its processor to the host's thread, which may be waiting for it.
        #[cfg(not(target_arch = "nvptx64"))]
        hostcall::time::sleep(core::time::Duration::from_micros(1));
        looks += 1;
        if looks == LOOKS {
            looks = 0;
            if since.get_or_insert_with(Instant::now).elapsed().as_nanos() > 3_000_000_000 {
                return false;
            }
        }
    }
    true
}

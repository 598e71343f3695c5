//! Messages of the library's own: accesses to memory, and times.

use core::hint::black_box;
use hostcall::prelude::*;
use hostcall::stream::Sent;
use hostcall::stream::access::{self, Access, AccessKind, Space};
use hostcall::stream::interval::{self, Interval};
use hostcall::wave::wave_size;

/// Each lane reads a value in each of `rounds` steps of `stride` values, adds them up, and writes the sum to its own
/// place in `sums`.
#[kernel]
pub fn access_walk(values: &[u32], rounds: u32, stride: u32, sums: &mut [u32]) {
    let lane = global_id();
    let mut sum = 0u32;
    for round in 0..rounds as usize {
        let i = (lane + round * stride as usize) % values.len();
        access::read(&values[i]);
        sum = sum.wrapping_add(values[i]);
    }
    access::write(&sums[lane]);
    sums[lane] = sum;
}

/// An access of each kind, to the lane's own memory and to everybody's; what became of them is counted.
#[kernel]
pub fn access_kinds(values: &mut [u64], outcomes: &mut [u32]) {
    let lane = global_id();
    let own = black_box([lane as u16; 8]);
    let all = [
        access::read(&own[lane % 8]),
        access::write(&values[lane]),
        access::atomic(&values[0]),
        access::send(&values[lane], AccessKind::ReadWrite, 100),
        access::send_access(Access::new(0x1234, AccessKind::Read, Space::Region, 1)),
    ];
    black_box(&own);
    outcomes[lane] = all.iter().filter(|sent| **sent == Sent::Sent).count() as u32 | u32::from(access::armed()) << 8;
}

/// What a wave as a whole is measured as.
const WHOLE: u32 = 10;
/// What a step is measured as.
const STEP: u32 = 11;

/// Each wave takes `steps` steps, each longer than the one before, and says how long they took.
#[kernel]
pub fn interval_blocks(steps: u32, out: &mut [u32]) {
    let lane = global_id();
    let mut whole = interval::begin(WHOLE);
    whole.detail = steps;
    let mut value = lane as u32;
    for step in 0..steps {
        value = interval::of(STEP, || (0..8 << step).fold(value, |value, i| black_box(value.rotate_left(5) ^ i)));
    }
    out[lane] = value;
    sync_workgroup();
}

/// Intervals that were measured elsewhere: one of each wave.
#[kernel]
pub fn interval_sent(start: u64, outcomes: &mut [u32]) {
    let lane = global_id();
    let wave = (lane / wave_size() as usize) as u64;
    let sent = interval::send(|| Interval { start: start + wave, end: start + 3 * wave, label: wave as u32, detail: 7 });
    outcomes[lane] = u32::from(sent == Sent::Sent) | u32::from(interval::armed()) << 8;
}

/// Lanes of each row of a tile, and its rows.
const TILE: usize = 32;
/// Rows of a workgroup; its lanes take every eighth row of a tile.
const ROWS: usize = 8;

/// Transposes a square of `side` by `side` values, tile by tile, a workgroup of 32 × 8 lanes each. A row of a tile has
/// `pitch` places.
///
/// Rust has no statics in a workgroup's memory. So the tiles lie in `tiles`, one for each workgroup, and the accesses
/// say where theirs would lie: at `4 * (row * pitch + column)` from the start of the workgroup's memory.
#[kernel]
pub fn access_transpose(input: &[u32], side: u32, pitch: u32, tiles: &mut [u32], output: &mut [u32]) {
    let (side, pitch) = (side as usize, pitch as usize);
    let (x, y, group) = (local_index() % TILE, local_index() / TILE, group_index());
    let (left, top) = (group % (side / TILE) * TILE, group / (side / TILE) * TILE);
    let tile = group * TILE * pitch;
    let shared = |place: usize, kind| access::send_access(Access::new(4 * place as u64, kind, Space::Shared, 4));
    for row in (y..TILE).step_by(ROWS) {
        let from = (top + row) * side + left + x;
        access::read(&input[from]);
        let place = row * pitch + x;
        shared(place, AccessKind::Write);
        tiles[tile + place] = input[from];
    }
    sync_workgroup();
    for row in (y..TILE).step_by(ROWS) {
        let place = x * pitch + row;
        shared(place, AccessKind::Read);
        let to = (left + row) * side + top + x;
        access::write(&output[to]);
        output[to] = tiles[tile + place];
    }
}

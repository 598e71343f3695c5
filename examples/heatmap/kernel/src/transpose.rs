//! A transpose by tiles, which says what it does to memory, and when: launched by `cargo run -p hostcall-examples
//! --example transpose`.

use hostcall::prelude::*;
use hostcall::stream::access::{Access, AccessKind, Space};
use hostcall::wave::{group_index, local_index, sync_workgroup};

/// Rows and columns of a tile.
const TILE: usize = 32;
/// Rows that a workgroup of 32 × 8 lanes takes at a time.
const ROWS: usize = 8;

/// Transposes a square of `side` by `side` values, a multiple of 32, a workgroup for each tile. A row of a tile has
/// `pitch` words: with 32 of them all words of a column are in one bank of the workgroup's memory, with 33 each is in
/// another.
///
/// Rust has no statics in a workgroup's memory. So the tiles lie in `tiles`, and accesses say where they would lie
/// there.
#[kernel]
pub fn transpose(input: &[f32], side: u32, pitch: u32, tiles: &mut [f32], output: &mut [f32]) {
    let (side, pitch) = (side as usize, pitch as usize);
    let (x, y, group) = (local_index() % TILE, local_index() / TILE, group_index());
    let (left, top) = (group % (side / TILE) * TILE, group / (side / TILE) * TILE);
    let tile = group * TILE * pitch;
    let shared = |place: usize, kind| Access::new(4 * place as u64, kind, Space::Shared, 4);
    let reading = hostcall::interval!("read a tile");
    for row in (y..TILE).step_by(ROWS) {
        let (from, place) = ((top + row) * side + left + x, row * pitch + x);
        hostcall::access!(read, &input[from]);
        hostcall::access!(shared(place, AccessKind::Write));
        tiles[tile + place] = input[from];
    }
    drop(reading);
    sync_workgroup();
    let _writing = hostcall::interval!("write a tile");
    for row in (y..TILE).step_by(ROWS) {
        let (to, place) = ((left + row) * side + top + x, x * pitch + row);
        hostcall::access!(shared(place, AccessKind::Read));
        hostcall::access!(write, &output[to]);
        output[to] = tiles[tile + place];
    }
}

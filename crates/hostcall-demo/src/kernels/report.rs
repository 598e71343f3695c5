//! The sorted counts as text, in a file.

use crate::{BLOCK, Entry, Progress};
use hostcall::fs::File;
use hostcall::prelude::kernel;
use hostcall::wave::Converged;

use super::{Failure, mine, path};

/// Bytes of the text that one lane writes at a time.
const PIECE: usize = 512;

/// How long the lines of each block of [`BLOCK`] entries are together. The host makes them the places where the blocks
/// begin.
#[kernel]
pub fn measure(entries: &[Entry], blocks: &mut [u64]) {
    for block in mine(blocks.len()) {
        let end = entries.len().min((block + 1) * BLOCK);
        blocks[block] = entries[block * BLOCK..end].iter().map(Entry::line_len).sum();
    }
}

/// Writes the lines. Lanes share the output, not the entries, so that a word of a gigabyte is no lane's alone.
#[kernel]
pub fn render(text: &[u8], entries: &[Entry], blocks: &[u64], lines: &mut [u8]) {
    for piece in mine(lines.len().div_ceil(PIECE)) {
        let (start, end) = (piece * PIECE, lines.len().min((piece + 1) * PIECE));
        // The last block that begins at or before the piece; block 0 begins at 0.
        let block = blocks.partition_point(|&block| block <= start as u64) - 1;
        let mut skip = start as u64 - blocks[block];
        let mut at = start;
        for entry in &entries[block * BLOCK..] {
            if at == end {
                break;
            }
            let len = entry.line_len();
            if skip >= len {
                skip -= len;
                continue;
            }
            at += entry.write_line(text, skip, &mut lines[at..end]);
            skip = 0;
        }
    }
}

/// Writes the lines to a file. One wave.
#[kernel]
pub fn write(lines: &[u8], to: &[u8]) -> Result<(), Failure> {
    let lanes = Converged::here();
    let file = File::options().write(true).create(true).truncate(true).open_wave(path(to)?)?;
    file.write_at_wave(0, lines)?;
    if lanes.leads() {
        Progress::written(lines.len() as u64)?;
    }
    Ok(())
}

//! Counts the words of a file: maximal runs of ASCII letters, in lower case.
//!
//! The host launches these kernels one after the other on one queue:
//!
//! 1. [`load`]: waves open the file by hostcall, and each reads its own chunks of it into device memory. Or [`fetch`]:
//!    lanes ask a service for pieces of the text, which may be on another machine; [`begins`] has asked before where
//!    the parts of several devices begin.
//! 2. [`heads`], [`count`]: lanes find the words of their slices, and count them in a hash table in device memory.
//! 3. [`gather`], [`sort`](sort::sort), [`merge`](sort::merge): the table's words, by falling count, then by word.
//! 4. [`measure`](report::measure), [`render`](report::render), [`write`](report::write): the sorted counts as text;
//!    one wave writes them to a file by hostcall.
//!
//! Because the whole text stays in device memory, a word is nothing but the place where it was first seen: the table
//! holds no letters, a word may have any length, and putting one in is a single compare-and-swap.

mod count;
mod report;
mod sort;

pub use count::{Slot, count, gather, heads};

use core::ops::Range;

use crate::{Progress, Texts};
use hostcall::fs;
use hostcall::prelude::*;
use hostcall::wave::{Converged, wave_size};

/// Why a kernel gave up.
#[derive(Debug)]
#[allow(dead_code, reason = "what is in it is for whoever reads the panic's message; only some crate types make rustc miss a reader")]
pub enum Failure {
    /// A file operation failed.
    File(fs::Error),
    /// The file ended too early: it was changed while it was read.
    Shrunk {
        /// Where it ended.
        at: u64,
    },
    /// A path is not UTF-8.
    Path,
    /// A call failed.
    Call(CallError),
}

impl From<fs::Error> for Failure {
    fn from(error: fs::Error) -> Self {
        Self::File(error)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// The path that the host passed.
fn path(bytes: &[u8]) -> Result<&str, Failure> {
    core::str::from_utf8(bytes).map_err(|_| Failure::Path)
}

/// What this lane takes of `0..count` if each lane of the grid takes one in turn.
fn mine(count: usize) -> impl Iterator<Item = usize> {
    (global_id()..count).step_by(global_size())
}

/// Reads the file at `from` from byte `at` on into `text`, whose length is what is wanted of it: each wave reads every
/// so many'th chunk of `chunk` bytes.
#[kernel]
pub fn load(from: &[u8], at: u64, text: &mut [u8], chunk: u64) -> Result<(), Failure> {
    let lanes = Converged::here();
    let file = fs::File::options().read(true).open_wave(path(from)?)?;
    let chunk = chunk as usize;
    let waves = global_size() / wave_size() as usize;
    for index in (wave_index()..text.len().div_ceil(chunk)).step_by(waves) {
        let range: Range<usize> = index * chunk..(index * chunk + chunk).min(text.len());
        let (start, wanted) = (at + range.start as u64, range.len());
        // Whoever runs ahead of the lane that reports would read the chunk without it, and so twice.
        lanes.sync();
        let read = file.read_at_wave(start, &mut text[range])?;
        if read < wanted {
            return Err(Failure::Shrunk { at: start + read as u64 });
        }
        if lanes.leads() {
            Progress::read(wanted as u64)?;
        }
    }
    Ok(())
}

/// Asks where the parts of the text begin, and where the last one ends.
#[kernel]
pub fn begins(places: &mut [u64]) -> Result<(), Failure> {
    let parts = places.len().saturating_sub(1) as u32;
    for part in mine(places.len()) {
        places[part] = Texts::begin(part as u32, parts)?;
    }
    Ok(())
}

/// Asks for the bytes of the text from `at` on, as many as `text` has room for: each lane for pieces of `piece` bytes.
#[kernel]
pub fn fetch(at: u64, text: &mut [u8], piece: u64) -> Result<(), Failure> {
    let piece = piece as usize;
    for index in mine(text.len().div_ceil(piece)) {
        let range = index * piece..(index * piece + piece).min(text.len());
        let (start, wanted) = (at + range.start as u64, range.len());
        let read = Texts::read_at(start, &mut text[range])? as usize;
        if read < wanted {
            return Err(Failure::Shrunk { at: start + read as u64 });
        }
        Progress::read(wanted as u64)?;
    }
    Ok(())
}

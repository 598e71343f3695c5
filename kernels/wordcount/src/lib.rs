//! Counts the words of a file: maximal runs of ASCII letters, in lower case.
//!
//! The host launches these kernels one after the other on one queue:
//!
//! 1. [`load`]: waves open the file by hostcall, and each reads its own chunks of it into device memory.
//! 2. [`heads`], [`count`]: lanes find the words of their slices, and count them in a hash table in device memory.
//! 3. [`gather`], [`sort`](sort::sort), [`merge`](sort::merge): the table's words, by falling count, then by word.
//! 4. [`measure`](report::measure), [`render`](report::render), [`write`](report::write): the sorted counts as text; one wave
//!    writes them to a file by hostcall.
//!
//! Because the whole text stays in device memory, a word is nothing but the place where it was first seen: the table holds no
//! letters, a word may have any length, and putting one in is a single compare-and-swap.
#![no_std]

mod count;
mod report;
mod sort;

pub use count::{Slot, count, gather, heads};

use core::ops::Range;

use hostcall::fs;
use hostcall::prelude::*;
use hostcall::wave::{Converged, wave_size};
use wordcount_services::Progress;

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

/// Reads the file at `from` into `text`, whose length is the file's: each wave reads every so many'th chunk of `chunk` bytes.
#[kernel]
pub fn load(from: &[u8], text: &mut [u8], chunk: u64) -> Result<(), Failure> {
    let lanes = Converged::here();
    let file = fs::File::options().read(true).open_wave(path(from)?)?;
    let chunk = chunk as usize;
    let waves = global_size() / wave_size() as usize;
    for index in (wave_index()..text.len().div_ceil(chunk)).step_by(waves) {
        let range: Range<usize> = index * chunk..(index * chunk + chunk).min(text.len());
        let (start, wanted) = (range.start as u64, range.len());
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

//! What of a recording is wanted.

use std::io::Read;

use hostcall_abi::stream::Header;

use super::Reader;
use crate::named_filter::NamedFilter;

/// Why a recording cannot be read by a filter.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// It takes messages by chance.
    #[error(
        "`{filter}` takes messages by chance, and a recording has what was sent: leave `rate=` out, or give it to the run that records"
    )]
    ByChance {
        /// The filter.
        filter: String,
    },
}

hostcall_error::readable!(SelectError);

/// Which messages a reader hands on.
#[derive(Debug, Default)]
pub(super) struct Selection {
    filters: Vec<NamedFilter>,
    /// The lanes of the current message that are wanted, if others are in it.
    lanes: Option<u64>,
    unplaced: u64,
}

impl Selection {
    /// What the current message says of itself, without the lanes that are not wanted.
    pub(super) fn header(&self, header: Header) -> Header {
        Header { mask: self.lanes.unwrap_or(header.mask), ..header }
    }
}

impl<R: Read> Reader<R> {
    /// Hands on only what filters want of the streams that they name, and everything of others. The last filter of a
    /// name counts. Of a message of which some lanes are wanted, the values of the others are left out.
    ///
    /// # Errors
    /// When a filter has a rate.
    pub fn select(&mut self, filters: &[NamedFilter]) -> Result<(), SelectError> {
        if let Some(filter) = filters.iter().find(|named| named.filter.is_by_chance()) {
            return Err(SelectError::ByChance { filter: filter.to_string() });
        }
        self.selection = Selection { filters: filters.to_vec(), ..Selection::default() };
        Ok(())
    }

    /// Messages so far that were left out because nobody can tell whether they are wanted: a filter asks for x, y or z,
    /// and the shape of their launch is unknown, as in files that were written before shapes were, or is not one that
    /// the message can be of.
    pub fn unplaced(&self) -> u64 {
        self.selection.unplaced
    }

    /// Leaves out of the current message what is not wanted. Whether anything is.
    pub(super) fn narrow(&mut self) -> bool {
        if self.selection.filters.is_empty() {
            return true;
        }
        let header = self.packet().expect("it has been checked").header;
        let stream = self.streams[header.stream as usize].as_ref().expect("a stream of the program");
        self.selection.lanes = None;
        let Some(named) = self.selection.filters.iter().rfind(|named| stream.schema.name == named.stream) else { return true };
        let Some(lanes) = named.filter.lanes_of(&header, self.dispatch_of(header.from.launch).shape) else {
            self.selection.unplaced += 1;
            return false;
        };
        if lanes == 0 || lanes == header.mask {
            return lanes != 0;
        }
        // (A message of bytes is of one lane.)
        let (each, mut kept) = (self.bytes.len() / header.mask.count_ones() as usize, 0);
        for (at, lane) in (0..64).filter(|lane| header.mask >> lane & 1 != 0).enumerate() {
            if lanes >> lane & 1 != 0 {
                self.bytes.copy_within(at * each..(at + 1) * each, kept);
                kept += each;
            }
        }
        self.bytes.truncate(kept);
        self.selection.lanes = Some(lanes);
        true
    }
}

//! What of a recording is wanted.

use hostcall_abi::stream::Header;

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
    pub(super) filters: Vec<NamedFilter>,
    /// The lanes of the current message that are wanted, if others are in it.
    pub(super) lanes: Option<u64>,
    pub(super) unplaced: u64,
}

impl Selection {
    /// What the current message says of itself, without the lanes that are not wanted.
    pub(super) fn header(&self, header: Header) -> Header {
        Header { mask: self.lanes.unwrap_or(header.mask), ..header }
    }
}

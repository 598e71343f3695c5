//! Messages of bytes and of text as a column.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use hostcall_stream::sink::RawBatch;

/// Bytes of messages that make a table as full as one more row of numbers would.
const BYTES_OF_A_ROW: usize = 256;
/// Bytes of a table that is full, however many rows it is to have: Arrow counts them in 31 bits, and a batch has far
/// fewer than are left then.
const MOST_BYTES: usize = 1 << 30;

/// The messages of a table, one behind another.
#[derive(Debug)]
pub(crate) enum Slices {
    Bytes(BinaryBuilder),
    Text(StringBuilder),
}

impl Slices {
    pub(crate) fn new(is_text: bool) -> Self {
        if is_text { Self::Text(StringBuilder::new()) } else { Self::Bytes(BinaryBuilder::new()) }
    }

    /// Adds messages. What is no UTF-8 in text becomes U+FFFD.
    pub(crate) fn push(&mut self, batch: &RawBatch<'_>) {
        match self {
            Self::Bytes(column) => batch.slices().for_each(|slice| column.append_value(slice)),
            Self::Text(column) => batch.slices().for_each(|slice| column.append_value(String::from_utf8_lossy(slice))),
        }
    }

    /// For how many rows of numbers the bytes count.
    pub(crate) fn weight(&self) -> usize {
        let bytes = match self {
            Self::Bytes(column) => column.values_slice().len(),
            Self::Text(column) => column.values_slice().len(),
        };
        if bytes >= MOST_BYTES { usize::MAX } else { bytes / BYTES_OF_A_ROW }
    }

    pub(crate) fn take(&mut self) -> ArrayRef {
        match self {
            Self::Bytes(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
        }
    }
}

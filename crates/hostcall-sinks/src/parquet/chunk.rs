//! Column chunks that are made page by page, without Arrow's writer between, and are not compressed.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// A column chunk that is being written.
pub(super) struct Chunk {
    descriptor: ColumnDescPtr,
    rows: usize,
    bytes: TrackedWrite<Vec<u8>>,
    uncompressed: usize,
    dictionary: Option<i64>,
    data: Option<i64>,
    pages: Vec<PageEncodingStats>,
}

impl Chunk {
    pub(super) fn new(descriptor: ColumnDescPtr) -> Self {
        let bytes = TrackedWrite::new(Vec::new());
        Self { descriptor, rows: 0, bytes, uncompressed: 0, dictionary: None, data: None, pages: Vec::new() }
    }

    fn page(&mut self, page: Page, uncompressed: usize) -> Result<(), ParquetError> {
        let (page_type, encoding) = (page.page_type(), page.encoding());
        let spec = SerializedPageWriter::new(&mut self.bytes).write_page(CompressedPage::new(page, uncompressed))?;
        self.uncompressed += spec.uncompressed_size;
        match page_type {
            PageType::DICTIONARY_PAGE => self.dictionary = Some(spec.offset as i64),
            _ => self.data = self.data.or(Some(spec.offset as i64)),
        }
        match self.pages.last_mut() {
            Some(last) if (last.page_type, last.encoding) == (page_type, encoding) => last.count += 1,
            _ => self.pages.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
        Ok(())
    }

    /// Writes the dictionary, before all data.
    pub(super) fn dictionary(&mut self, entries: &[u8], count: usize, is_sorted: bool) -> Result<(), ParquetError> {
        let buf = entries.to_vec().into();
        self.page(Page::DictionaryPage { buf, num_values: count as u32, encoding: Encoding::PLAIN, is_sorted }, entries.len())
    }

    /// Writes a page of so many rows, with their levels if there are some.
    pub(super) fn data(&mut self, page: &[u8], rows: usize, encoding: Encoding) -> Result<(), ParquetError> {
        let (def_level_encoding, rep_level_encoding, statistics) = (Encoding::RLE, Encoding::RLE, None);
        let (buf, num_values) = (page.to_vec().into(), rows as u32);
        self.rows += rows;
        self.page(Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics }, page.len())
    }

    /// Completes it.
    pub(super) fn close(self, statistics: Statistics) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let bytes = self.bytes.into_inner()?;
        let mut encodings: Vec<_> = self.pages.iter().map(|page| page.encoding).chain([Encoding::RLE]).collect();
        encodings.dedup();
        let metadata = ColumnChunkMetaData::builder(self.descriptor)
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(encodings)
            .set_page_encoding_stats(self.pages)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(self.data.unwrap_or_default())
            .set_dictionary_page_offset(self.dictionary)
            .set_statistics(statistics)
            .build()?;
        let (bytes_written, rows_written) = (bytes.len() as u64, self.rows as u64);
        let close = ColumnCloseResult { bytes_written, rows_written, metadata, bloom_filter: None, column_index: None, offset_index: None };
        Ok((bytes.into(), close))
    }
}

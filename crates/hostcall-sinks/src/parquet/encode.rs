//! Tables as a Parquet file.
//!
//! Columns of origins are made here message by message ([`origins`](super::origins)). Those of fields go through
//! Arrow's writer: pages of numbers that were made here, too, were a tenth faster compressed, and a quarter slower
//! uncompressed.

use std::io::Write;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;

use super::origins::{self, Origins};
use crate::columns::Table;
use crate::definition::{DEVICE, ORIGINS};

/// How Parquet files are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// Not at all.
    None,
    /// LZ4: fast.
    Lz4,
    /// Snappy: fast, and known to every reader.
    Snappy,
    /// Zstandard, of a level from 1 (fast) to 22 (small).
    Zstd(u8),
}

impl Codec {
    pub(super) fn compression(self) -> Compression {
        match self {
            Self::None => Compression::UNCOMPRESSED,
            Self::Lz4 => Compression::LZ4_RAW,
            Self::Snappy => Compression::SNAPPY,
            Self::Zstd(level) => Compression::ZSTD(ZstdLevel::try_new(i32::from(level).clamp(1, 22)).expect("a level")),
        }
    }
}

/// A file that is being encoded.
pub(crate) struct Encoder<W: Write + Send> {
    file: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Columns of origins: all, or all but the device.
    origins: usize,
    /// Rows of a row group.
    most: usize,
    group: Option<Group>,
    groups: usize,
}

/// A row group that is being encoded.
struct Group {
    origins: Origins,
    /// One for each field: a stream's values have no structs in them.
    fields: Vec<ArrowColumnWriter>,
}

impl<W: Write + Send> Encoder<W> {
    /// A file of a stream's schema. `device`: that of all rows, for which there is no column then.
    pub(crate) fn new(to: W, stream: &SchemaRef, device: Option<u32>, codec: Codec, most: usize) -> Result<Self, ParquetError> {
        let mut schema = stream.clone();
        if let Some(device) = device {
            let mut metadata = stream.metadata.clone();
            metadata.insert(DEVICE, device.to_string());
            let fields: Vec<_> = stream.fields().iter().skip(1).cloned().collect();
            schema = Arc::new(arrow_schema::Schema::new_with_metadata(fields, metadata));
        }
        // No dictionaries of fields: they cost a look-up for each value. (Not measured apart.)
        let properties = WriterProperties::builder()
            .set_compression(codec.compression())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_created_by(concat!("hostcall ", env!("CARGO_PKG_VERSION")).into())
            .set_dictionary_enabled(false)
            .build();
        let (file, factory) = ArrowWriter::try_new(to, schema.clone(), Some(properties))?.into_serialized_writer()?;
        let origins = ORIGINS.len() - usize::from(device.is_some());
        Ok(Self { file, factory, schema, origins, most, group: None, groups: 0 })
    }

    /// Adds a table's rows.
    pub(crate) fn write(&mut self, table: Table, device: u32) -> Result<(), ParquetError> {
        // A row group is of one device.
        if self.group.as_ref().is_some_and(|group| group.origins.device() != device) {
            self.end_group()?;
        }
        let group = match &mut self.group {
            Some(group) => group,
            none => none.insert(Group { origins: Origins::default(), fields: Vec::new() }),
        };
        if group.fields.is_empty() {
            let writers = self.factory.create_column_writers(self.groups)?;
            group.fields = writers.into_iter().skip(self.origins).collect();
        }
        for ((writer, field), array) in group.fields.iter_mut().zip(&self.schema.fields()[self.origins..]).zip(&table.fields) {
            compute_leaves(field, array)?.iter().try_for_each(|leaf| writer.write(leaf))?;
        }
        group.origins.push(table.runs, &table.lanes, device);
        if group.origins.rows() >= self.most { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let Some(Group { origins, fields }) = self.group.take() else { return Ok(()) };
        let descriptors: Vec<_> = self.file.schema_descr().columns()[..self.origins].to_vec();
        let mut group = self.file.next_row_group()?;
        for descriptor in descriptors {
            let (chunk, close) = origins::column(&descriptor, &origins)?;
            group.append_column(&chunk, close)?;
        }
        for writer in fields {
            writer.close()?.append_to_row_group(&mut group)?;
        }
        group.close()?;
        self.groups += 1;
        Ok(())
    }

    /// Bytes so far, about.
    pub(super) fn bytes(&self) -> usize {
        let group = self.group.as_ref().map_or(0, |group| {
            let fields: usize = group.fields.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum();
            fields + group.origins.bytes()
        });
        self.file.bytes_written() + group
    }

    /// Completes the file.
    pub(crate) fn finish(mut self) -> Result<W, ParquetError> {
        self.end_group()?;
        self.file.into_inner()
    }
}

/// How many bytes a file of tables has. For [`measure`](crate::measure).
pub(crate) struct Measured(Encoder<Vec<u8>>);

impl Measured {
    pub(crate) fn new(schema: &hostcall_stream::Schema, codec: Codec) -> Self {
        let schema = crate::definition::arrow_schema(schema);
        Self(Encoder::new(Vec::new(), &schema, Some(0), codec, 1 << 20).expect("columns that Parquet has"))
    }

    pub(crate) fn write(&mut self, table: Table) {
        self.0.write(table, 0).expect("memory");
    }

    /// The file's bytes.
    pub(crate) fn finish(self) -> u64 {
        self.0.finish().expect("memory").len() as u64
    }
}

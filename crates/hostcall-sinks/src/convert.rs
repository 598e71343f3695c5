//! Recordings as files for analysis: what `cargo hostcall stream convert` does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use hostcall_stream::file::Message;
use hostcall_stream::sink::{Inlet, RawBatch, Sink, SinkError};
use hostcall_stream::{Head, Schema, Sites};
use tempfile::NamedTempFile;

use crate::arrow::Arrow;
use crate::columns::Columns;
use crate::definition::arrow_schema;
use crate::errors::OpenError;
use crate::parquet::{Codec, Encoder, Parquet};
use crate::part;
use crate::perfetto::Perfetto;
use crate::sites;

/// Rows of a table that is handed on.
const ROWS: usize = 1 << 16;

/// What a recording can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// A Parquet file, of one stream.
    Parquet,
    /// A directory of Parquet files.
    ParquetDirectory,
    /// An Arrow file, of one stream.
    Arrow,
    /// A directory of Arrow files.
    ArrowDirectory,
    /// A trace that Perfetto shows.
    Perfetto,
}

/// Why a recording was not converted.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The place cannot be written.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What was written is not whole.
    #[error(transparent)]
    Sink(SinkError),
    /// A file cannot be written.
    #[error("cannot write `{}`: {message}; make room, or write to another place", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        message: String,
    },
    /// A file holds one stream.
    #[error(
        "the recording has values of `{one}` and of `{other}`, and a file holds those of one: choose with `--stream {one}`, or give a directory"
    )]
    Several {
        /// A stream.
        one: String,
        /// Another.
        other: String,
    },
}

hostcall_error::readable!(ConvertError);

/// Converts messages, one after another.
pub struct Converter {
    only: Option<String>,
    values: u64,
    target: Target,
}

enum Target {
    /// By stream.
    Sink {
        sink: Box<dyn Sink>,
        inlets: Vec<(Schema, Box<dyn Inlet>)>,
        begun: bool,
    },
    File {
        path: PathBuf,
        form: Form,
        open: Option<Box<Open>>,
    },
}

struct Open {
    schema: Schema,
    arrow: SchemaRef,
    columns: Columns,
    device: u32,
    output: Output,
    /// The places that messages name, if any names one.
    sites: Option<Arc<Sites>>,
}

enum Output {
    Parquet(Encoder<NamedTempFile>),
    Arrow(FileWriter<NamedTempFile>),
}

impl std::fmt::Debug for Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Converter").field("only", &self.only).field("values", &self.values).finish_non_exhaustive()
    }
}

impl Converter {
    /// Begins a file or a directory. `stream`: only values of this one. The places in the source that its messages name
    /// are in a table beside: `_sites.parquet` or `_sites.arrow` in a directory, `out.sites.parquet` or
    /// `out.sites.arrow` beside a file `out`.
    ///
    /// # Errors
    /// When it cannot be written, or messages are there already.
    pub fn new(path: &Path, form: Form, stream: Option<String>) -> Result<Self, ConvertError> {
        let target = match form {
            Form::ParquetDirectory => return Ok(Self::into_sink(Parquet::to(path).open()?, stream)),
            Form::ArrowDirectory => return Ok(Self::into_sink(Arrow::files(path).open()?, stream)),
            Form::Perfetto => return Ok(Self::into_sink(Perfetto::to(path).open()?, stream)),
            Form::Parquet | Form::Arrow => Target::File { path: path.into(), form, open: None },
        };
        Ok(Self { only: stream, values: 0, target })
    }

    /// Begins to give messages to a sink. `stream`: only values of this one.
    pub fn into_sink(sink: impl Sink, stream: Option<String>) -> Self {
        Self { only: stream, values: 0, target: Target::Sink { sink: Box::new(sink), inlets: Vec::new(), begun: false } }
    }

    /// Adds a message.
    ///
    /// # Errors
    /// When it cannot be written, or is of another stream than those before, of which there can be but one.
    pub fn message(&mut self, message: &Message<'_>) -> Result<(), ConvertError> {
        if self.only.as_ref().is_some_and(|only| *only != message.schema.name) {
            return Ok(());
        }
        let head = [Head::new(message.header, message.program.device.number, message.after_gap)];
        let batch = RawBatch::new(&head, message.raw(), message.schema.bytes).dispatched(&message.dispatch);
        self.values += u64::from(head[0].values());
        match &mut self.target {
            Target::Sink { sink, inlets, begun } => {
                if !std::mem::replace(begun, true) {
                    sink.begin(message.sites);
                }
                let at = inlets.iter().position(|(schema, _)| schema == message.schema).unwrap_or_else(|| {
                    inlets.push((message.schema.clone(), sink.inlet(message.schema)));
                    inlets.len() - 1
                });
                inlets[at].1.take(&batch);
                Ok(())
            }
            Target::File { path, form, open } => {
                let open = match open {
                    Some(open) if open.schema == *message.schema => open,
                    Some(open) => {
                        return Err(ConvertError::Several { one: open.schema.name.to_string(), other: message.schema.name.to_string() });
                    }
                    none => none.insert(Open::new(path, *form, message.schema, head[0].device).map_err(wrote(path))?),
                };
                if message.header.site > 0 {
                    open.sites.get_or_insert_with(|| message.sites.clone());
                }
                open.push(&batch, head[0].device).map_err(wrote(path))
            }
        }
    }

    /// Completes what was written; how many values that is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<u64, ConvertError> {
        match self.target {
            Target::Sink { sink, inlets, .. } => {
                drop(inlets);
                sink.finish();
                if let Some(error) = sink.sunk().error {
                    return Err(ConvertError::Sink(error));
                }
            }
            Target::File { path, open: Some(open), .. } => open.finish(&path).map_err(wrote(&path))?,
            Target::File { path, open: None, .. } => return Err(wrote(&path)("there are no values, so there is nothing to write".into())),
        }
        Ok(self.values)
    }
}

fn wrote(path: &Path) -> impl Fn(Box<dyn std::error::Error>) -> ConvertError {
    let path = path.to_owned();
    move |error| ConvertError::Write { path: path.clone(), message: error.to_string() }
}

type Done = Result<(), Box<dyn std::error::Error>>;

impl Open {
    fn new(path: &Path, form: Form, schema: &Schema, device: u32) -> Result<Box<Self>, Box<dyn std::error::Error>> {
        let (file, arrow) = (part::beside(path)?, arrow_schema(schema));
        let output = match form {
            Form::Parquet => Output::Parquet(Encoder::new(file, &arrow, None, Codec::Zstd(1), 1 << 20)?),
            _ => Output::Arrow(FileWriter::try_new(file, &arrow)?),
        };
        Ok(Box::new(Self { schema: schema.clone(), arrow, columns: Columns::new(schema, ROWS), device, output, sites: None }))
    }

    fn push(&mut self, batch: &RawBatch<'_>, device: u32) -> Done {
        if self.device != device || self.columns.weight() >= ROWS {
            self.hand_on()?;
            self.device = device;
        }
        self.columns.push(batch);
        Ok(())
    }

    fn hand_on(&mut self) -> Done {
        let Some(mut table) = self.columns.take() else { return Ok(()) };
        table.add_lines(&self.schema, self.sites.as_deref());
        match &mut self.output {
            Output::Parquet(encoder) => encoder.write(table, self.device)?,
            Output::Arrow(writer) => writer.write(&table.into_batch(self.arrow.clone(), self.device))?,
        }
        Ok(())
    }

    fn finish(mut self, path: &Path) -> Done {
        self.hand_on()?;
        let (file, extension) = match self.output {
            Output::Parquet(encoder) => (encoder.finish()?, "parquet"),
            Output::Arrow(writer) => (writer.into_inner()?, "arrow"),
        };
        if let Some(places) = self.sites.map(|sites| sites.all()).filter(|places| !places.is_empty()) {
            let beside = path.with_extension(format!("sites.{extension}"));
            let table = part::beside(&beside)?;
            let table = if extension == "parquet" { sites::to_parquet(&places, table)? } else { sites::to_arrow(&places, table)? };
            table.persist(beside)?;
        }
        file.persist(path)?;
        Ok(())
    }
}

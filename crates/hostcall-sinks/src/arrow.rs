//! Arrow's own files, one for each stream: `Loss.arrow`, or as streams `Loss.arrows`, which can be read while they are
//! written. The places in the source that messages name are in `_sites.arrow`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use hostcall_stream::Schema;
use hostcall_stream::sink::{Inlet, Sink, SinkError, Sunk};
use tempfile::NamedTempFile;

use crate::errors::OpenError;
use crate::intake::{Account, Intake, Keeper, Label, Piece, Pipe};
use crate::part;
use crate::sites::{self, Written};

/// A sink of Arrow files that is being set up.
#[must_use = "nothing is kept before `open`"]
#[derive(Debug)]
pub struct Arrow {
    directory: PathBuf,
    form: Form,
    intake: Intake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    File,
    Stream,
}

impl Arrow {
    /// A file for each stream in a directory: `Loss.arrow`. Files appear when they are whole, at the end. A file that
    /// is there is replaced.
    pub fn files(directory: impl AsRef<Path>) -> Self {
        Self { directory: directory.as_ref().into(), form: Form::File, intake: Intake::default() }
    }

    /// The same in Arrow's streaming format, `Loss.arrows`: what [`Streams::wait`](hostcall_stream::Streams::wait) has
    /// waited for can be read at once.
    pub fn streams(directory: impl AsRef<Path>) -> Self {
        Self { form: Form::Stream, ..Self::files(directory) }
    }

    /// Which streams, and how much may wait. Always one thread.
    pub fn intake(mut self, intake: Intake) -> Self {
        self.intake = intake;
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// When nothing can be written there, or the system has no thread left.
    pub fn open(self) -> Result<ArrowSink, OpenError> {
        let Self { directory, form, intake } = self;
        part::writable(&directory)?;
        let name = format!("`{}`", directory.display());
        let keeper = Files { directory, form, open: HashMap::new(), entering: 0, places: Written::default() };
        Ok(ArrowSink(Arc::new(Pipe::start(name, intake, None, vec![Box::new(keeper)]).map_err(OpenError::Thread)?)))
    }
}

/// A sink of Arrow files. Clones are the same sink.
#[derive(Clone, Debug)]
pub struct ArrowSink(Arc<Pipe>);

crate::intake::sink!(ArrowSink);

/// A file that is being written.
enum Output {
    File(FileWriter<BufWriter<NamedTempFile>>),
    Stream(StreamWriter<BufWriter<File>>),
}

impl Output {
    fn new(path: &Path, form: Form, schema: &SchemaRef) -> Result<Self, ArrowError> {
        match form {
            Form::File => FileWriter::try_new(BufWriter::with_capacity(1 << 20, part::beside(path)?), schema).map(Self::File),
            Form::Stream => StreamWriter::try_new(BufWriter::with_capacity(1 << 20, File::create(path)?), schema).map(Self::Stream),
        }
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.write(rows),
            Self::Stream(writer) => writer.write(rows),
        }
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.flush(),
            Self::Stream(writer) => writer.flush(),
        }
    }

    /// Completes the file; its bytes.
    fn finish(self, path: &Path) -> Result<u64, ArrowError> {
        match self {
            Self::File(writer) => {
                let file = writer.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(path).map_err(|error| error.error)?;
            }
            Self::Stream(mut writer) => {
                writer.finish()?;
                writer.into_inner()?.flush()?;
            }
        }
        Ok(std::fs::metadata(path)?.len())
    }
}

struct Open {
    path: PathBuf,
    output: Output,
    messages: u64,
    values: u64,
    /// Those of the messages that have been said to be kept.
    kept: (u64, u64),
}

struct Files {
    directory: PathBuf,
    form: Form,
    open: HashMap<Label, Open>,
    /// Messages of the table that is being written.
    entering: u64,
    places: Written,
}

impl Files {
    /// Writes the table of places, if it is not there.
    fn put_places(&mut self, account: &Account) -> Result<(), SinkError> {
        let Some(places) = self.places.news(account) else { return Ok(()) };
        let path = self.directory.join(format!("{}.arrow", sites::NAME));
        let file = part::beside(&path).map_err(|error| part::failed(account, error))?;
        let file = sites::to_arrow(&places, file).map_err(|error| part::failed(account, error))?;
        file.persist(&path).map_err(|error| part::failed(account, error.error))?;
        self.places.set(places);
        Ok(())
    }
}

impl Keeper for Files {
    fn put(&mut self, piece: Piece, account: &Account) -> Result<(), SinkError> {
        let Piece { stream, device, table } = piece;
        let (messages, values) = (table.messages(), table.rows() as u64);
        self.entering = messages;
        let wrong = |error: ArrowError| part::failed(account, error);
        if !self.open.contains_key(&stream.label) {
            let extension = if self.form == Form::File { "arrow" } else { "arrows" };
            let path = self.directory.join(format!("{}.{extension}", stream.label));
            let output = Output::new(&path, self.form, &stream.arrow).map_err(wrong)?;
            self.open.insert(stream.label.clone(), Open { path, output, messages: 0, values: 0, kept: (0, 0) });
        }
        let open = self.open.get_mut(&stream.label).expect("it was put there");
        open.output.write(&table.into_batch(stream.arrow.clone(), device)).map_err(wrong)?;
        self.entering = 0;
        (open.messages, open.values) = (open.messages + messages, open.values + values);
        Ok(())
    }

    fn flush(&mut self, account: &Account) -> Result<(), SinkError> {
        self.put_places(account)?;
        for open in self.open.values_mut() {
            open.output.flush().map_err(|error| part::failed(account, error))?;
            if self.form == Form::Stream {
                account.kept(open.messages - open.kept.0, open.values - open.kept.1, 0);
                open.kept = (open.messages, open.values);
            }
        }
        Ok(())
    }

    fn roll(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self, account: &Account) -> Result<(), SinkError> {
        if !self.open.is_empty() {
            self.put_places(account)?;
        }
        for label in self.open.keys().cloned().collect::<Vec<_>>() {
            let Some(Open { path, output, messages, values, kept }) = self.open.remove(&label) else { continue };
            self.entering = messages - kept.0;
            let bytes = output.finish(&path).map_err(|error| part::failed(account, error))?;
            account.kept(messages - kept.0, values - kept.1, bytes);
            self.entering = 0;
        }
        Ok(())
    }

    fn abandon(&mut self) -> u64 {
        let open: u64 = self.open.drain().map(|(_, open)| open.messages - open.kept.0).sum();
        open + std::mem::take(&mut self.entering)
    }
}

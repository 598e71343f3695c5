//! The table of places in the source that stands beside the messages: rows name a place by its number, in the column
//! `site`.
//!
//! | column | type | |
//! |---|---|---|
//! | `site` | `UInt32` | the place's number |
//! | `file` | `Utf8` | as its compiler was given it |
//! | `line`, `column` | `UInt32` | from 1 on |
//! | `module` | `Utf8` | the module's path |
//! | `level` | `Utf8`, may be null | of a line of a log |
//! | `text` | `Utf8` | the name of an interval, the format of a line, or nothing |

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use hostcall_stream::{Level, Site};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use crate::errors::ReadError;
use crate::intake::Account;

/// What names of files with such tables begin with. Readers of directories leave files out whose names begin so, as
/// Spark's and Arrow's do.
pub(crate) const NAME: &str = "_sites";

/// Places by number.
pub(crate) type Numbered = Vec<(u32, Arc<Site>)>;

/// The places that have been written.
#[derive(Debug, Default)]
pub(crate) struct Written(Numbered);

impl Written {
    /// All places, if they are others than those that have been written.
    pub(crate) fn news(&self, account: &Account) -> Option<Numbered> {
        let all = account.sites()?.all();
        (all != self.0).then_some(all)
    }

    /// These have been.
    pub(crate) fn set(&mut self, places: Numbered) {
        self.0 = places;
    }
}

/// The table.
pub(crate) fn table(places: &Numbered) -> RecordBatch {
    fn numbers(places: &Numbered, of: impl Fn(u32, &Site) -> u32) -> ArrayRef {
        Arc::new(places.iter().map(|(number, site)| of(*number, site)).collect::<UInt32Array>())
    }
    fn texts<'a>(places: &'a Numbered, of: impl Fn(&'a Site) -> Option<&'a str>) -> ArrayRef {
        Arc::new(places.iter().map(|(_, site)| of(site)).collect::<StringArray>())
    }
    let columns = [
        ("site", numbers(places, |number, _| number)),
        ("file", texts(places, |site| Some(site.file.as_str()))),
        ("line", numbers(places, |_, site| site.line)),
        ("column", numbers(places, |_, site| site.column)),
        ("module", texts(places, |site| Some(site.module.as_str()))),
        ("level", texts(places, |site| site.level.map(Level::name))),
        ("text", texts(places, |site| Some(site.text.as_str()))),
    ];
    let field = |(name, array): &(&str, ArrayRef)| -> Field { Field::new(*name, DataType::clone(array.data_type()), *name == "level") };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.map(|(_, array)| array).to_vec()).expect("columns of the schema, equally long")
}

/// The table as a Parquet file.
pub(crate) fn to_parquet<W: Write + Send>(places: &Numbered, to: W) -> Result<W, ParquetError> {
    let table = table(places);
    let mut writer = ArrowWriter::try_new(to, table.schema(), None)?;
    writer.write(&table)?;
    writer.into_inner()
}

/// The table as an Arrow file.
pub(crate) fn to_arrow<W: Write>(places: &Numbered, to: W) -> Result<W, ArrowError> {
    let table = table(places);
    let mut writer = FileWriter::try_new(to, &table.schema())?;
    writer.write(&table)?;
    writer.into_inner()
}

/// The places that a sink wrote beside messages, by number: from the file with the table, or from the directory with
/// the messages. Runs that were added to a directory with [`append`](crate::Parquet::append) have tables of their own,
/// which are files of their own.
///
/// # Errors
/// When there is no table, or it cannot be read.
pub fn sites(path: impl AsRef<Path>) -> Result<BTreeMap<u32, Site>, ReadError> {
    let mut path: PathBuf = path.as_ref().into();
    if path.is_dir() {
        let inside = ["parquet", "arrow"].map(|extension| path.join(format!("{NAME}.{extension}")));
        path = inside.iter().find(|path| path.exists()).unwrap_or(&inside[0]).clone();
    }
    let file = File::open(&path).map_err(|source| ReadError::Io { path: path.clone(), source })?;
    let tables: Result<Vec<RecordBatch>, String> = if path.extension().is_some_and(|extension| extension == "arrow") {
        FileReader::try_new(BufReader::new(file), None).and_then(Iterator::collect).map_err(|error| error.to_string())
    } else {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
        reader.map_err(|error| error.to_string()).and_then(|reader| reader.collect::<Result<_, _>>().map_err(|error| error.to_string()))
    };
    let tables = tables.and_then(|tables| tables.iter().map(rows).collect::<Result<Vec<_>, _>>());
    tables.map(|tables| tables.into_iter().flatten().collect()).map_err(|reason| ReadError::Content { path, reason })
}

/// The rows of a table, or what is wrong with it.
fn rows(table: &RecordBatch) -> Result<Vec<(u32, Site)>, String> {
    let column = |name: &str| table.column_by_name(name).ok_or_else(|| format!("column `{name}` is missing"));
    let other = |name: &str| format!("column `{name}` is of another type");
    let number = |name: &str| column(name).and_then(|array| array.as_primitive_opt::<UInt32Type>().ok_or_else(|| other(name)));
    let text = |name: &str| column(name).and_then(|array| array.as_string_opt::<i32>().ok_or_else(|| other(name)));
    let (numbers, lines, columns) = (number("site")?, number("line")?, number("column")?);
    let (files, modules, levels, texts) = (text("file")?, text("module")?, text("level")?, text("text")?);
    let level = |row: usize| {
        let name = levels.is_valid(row).then(|| levels.value(row))?;
        (1..=5).filter_map(Level::new).find(|level| level.name() == name)
    };
    let site = |row: usize| Site {
        file: files.value(row).into(),
        line: lines.value(row),
        column: columns.value(row),
        module: modules.value(row).into(),
        level: level(row),
        text: texts.value(row).into(),
        // Rows of messages have it.
        kernel: "".into(),
    };
    Ok((0..table.num_rows()).map(|row| (numbers.value(row), site(row))).collect())
}

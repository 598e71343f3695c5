//! What sinks wrote, back as values of their type.

use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use hostcall_stream::file::Type;
use hostcall_stream::{Dispatch, Message, Origin, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::definition::{DEVICE, FIELD, stream_schema};
use crate::errors::ReadError;

/// Values, each with who sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<M> {
    /// Who sent them.
    pub origins: Vec<Origin>,
    /// The values.
    pub values: Vec<M>,
}

type Tables = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// The values of one stream that a sink wrote: file by file in the order of their names, some thousand at a time.
pub struct Values<M> {
    files: std::vec::IntoIter<PathBuf>,
    current: Option<(PathBuf, SchemaRef, Tables)>,
    of: PhantomData<fn() -> M>,
}

impl<M> std::fmt::Debug for Values<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.files.as_slice()).finish()
    }
}

/// Opens what a sink wrote: a Parquet or Arrow file, or a directory with such files, whose other streams are left out.
///
/// # Errors
/// When there is nothing of the stream, it was written with another definition of `M`, or a file cannot be read.
pub fn open<M: Message>(path: impl AsRef<Path>) -> Result<Values<M>, ReadError> {
    let path = path.as_ref();
    let (mut all, mut files, mut names) = (Vec::new(), Vec::new(), Vec::new());
    find(path, &mut all)?;
    let ours = Schema::of::<M>();
    for file in all {
        let (arrow, _) = tables(&file)?;
        let Some(theirs) = stream_schema(&arrow) else { continue };
        if theirs.name != ours.name {
            if !names.iter().any(|name: &String| theirs.name == *name) {
                names.push(theirs.name.into());
            }
        } else if (theirs.signature, theirs.bytes) != (ours.signature, ours.bytes) {
            let (theirs, ours) = (theirs.to_string(), ours.to_string());
            return Err(ReadError::Definition { path: file, stream: M::NAME.into(), theirs, ours });
        } else {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(ReadError::NoStream { path: path.into(), stream: M::NAME.into(), names });
    }
    Ok(Values { files: files.into_iter(), current: None, of: PhantomData })
}

/// The values in a table of Arrow's streaming format: what the sink `Nats` makes of messages of `M`.
///
/// # Errors
/// When it is not such a table, or of another stream or another definition of `M`.
pub fn decode<M: Message>(table: &[u8]) -> Result<Rows<M>, ReadError> {
    let path = || PathBuf::from("a message");
    let wrong = |reason: String| ReadError::Content { path: path(), reason };
    let reader = StreamReader::try_new(table, None).map_err(|error| wrong(error.to_string()))?;
    let (arrow, ours) = (reader.schema(), Schema::of::<M>());
    let theirs = stream_schema(&arrow).ok_or_else(|| wrong("it does not say of which stream it is".into()))?;
    if theirs.name != ours.name {
        return Err(ReadError::NoStream { path: path(), stream: ours.name.into(), names: vec![theirs.name.into()] });
    }
    if (theirs.signature, theirs.bytes) != (ours.signature, ours.bytes) {
        let (theirs, ours) = (theirs.to_string(), ours.to_string());
        return Err(ReadError::Definition { path: path(), stream: M::NAME.into(), theirs, ours });
    }
    let mut all = Rows { origins: Vec::new(), values: Vec::new() };
    for table in reader {
        let mut rows = rows(&table.map_err(|error| wrong(error.to_string()))?, &arrow).map_err(wrong)?;
        all.origins.append(&mut rows.origins);
        all.values.append(&mut rows.values);
    }
    Ok(all)
}

/// Files below a path, in the order of their names. Hidden ones, which are not whole yet, and tables of places are left
/// out.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    let wrong = |source| ReadError::Io { path: path.into(), source };
    if !std::fs::metadata(path).map_err(wrong)?.is_dir() {
        files.push(path.into());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(wrong)?;
    let mut inside = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    inside.sort_unstable();
    for path in inside {
        let hidden = path.file_name().is_some_and(|name| [b'.', b'_'].contains(name.as_encoded_bytes().first().unwrap_or(&b'.')));
        let known = path.extension().is_some_and(|extension| ["parquet", "arrow", "arrows"].iter().any(|known| extension == *known));
        if !hidden && (known || path.is_dir()) {
            find(&path, files)?;
        }
    }
    Ok(())
}

/// The tables of a file.
fn tables(path: &Path) -> Result<(SchemaRef, Tables), ReadError> {
    let file = File::open(path).map_err(|source| ReadError::Io { path: path.into(), source })?;
    let wrong = |reason: String| ReadError::Content { path: path.into(), reason };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("arrow") => {
            let reader = FileReader::try_new(BufReader::new(file), None).map_err(|error| wrong(error.to_string()))?;
            Ok((reader.schema(), Box::new(reader)))
        }
        Some("arrows") => {
            let reader = StreamReader::try_new(BufReader::new(file), None).map_err(|error| wrong(error.to_string()))?;
            Ok((reader.schema(), Box::new(reader)))
        }
        Some("parquet") => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| wrong(error.to_string()))?;
            let schema = builder.schema().clone();
            let reader = builder.with_batch_size(1 << 13).build().map_err(|error| wrong(error.to_string()))?;
            Ok((schema, Box::new(reader)))
        }
        _ => Err(wrong("its name does not end in `.parquet`, `.arrow` or `.arrows`".into())),
    }
}

impl<M: Message> Iterator for Values<M> {
    type Item = Result<Rows<M>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((path, schema, tables)) = &mut self.current else {
                let path = self.files.next()?;
                match self::tables(&path) {
                    Ok((schema, tables)) => self.current = Some((path, schema, tables)),
                    Err(error) => return Some(Err(error)),
                }
                continue;
            };
            match tables.next() {
                None => self.current = None,
                Some(table) => {
                    let rows = table.map_err(|error| error.to_string()).and_then(|table| rows(&table, schema));
                    return Some(rows.map_err(|reason| ReadError::Content { path: path.clone(), reason }));
                }
            }
        }
    }
}

/// The rows of a table, or what is wrong with it.
fn rows<M: Message>(table: &RecordBatch, arrow: &arrow_schema::Schema) -> Result<Rows<M>, String> {
    let schema = stream_schema(arrow).ok_or("it says no more of which stream it is")?;
    let count = table.num_rows();
    // SAFETY: any bytes are values of `M: Plain`, zeros too.
    let mut values = vec![unsafe { std::mem::zeroed::<M>() }; count];
    let bytes = hostcall_abi::codec::bytes_mut(&mut values);
    for field in schema.fields.iter().filter(|field| field.bytes > 0) {
        let column = arrow.fields().iter().position(|column| column.metadata().get(FIELD).is_some_and(|name| field.name == *name));
        let array = table.column(column.ok_or("a column is missing")?);
        let (from, size) = (field.offset as usize, field.bytes as usize);
        if from.checked_add(size).is_none_or(|end| end > size_of::<M>()) {
            return Err(format!("field `{}` is behind the value", field.name));
        }
        let leaves = leaves(array, &Type::of(field)).ok_or_else(|| format!("field `{}` is {}", field.name, array.data_type()))?;
        if leaves.len() != count * size {
            return Err(format!("field `{}` has {} bytes for {count} values of {size}", field.name, leaves.len()));
        }
        for (value, field) in bytes.chunks_exact_mut(size_of::<M>()).zip(leaves.chunks_exact(size)) {
            value[from..from + size].copy_from_slice(field);
        }
    }
    Ok(Rows { origins: origins(table, arrow)?, values })
}

/// The bytes of all leaves of an array of such a type.
fn leaves<'a>(array: &'a ArrayRef, ty: &Type) -> Option<&'a [u8]> {
    let (mut array, (lengths, leaf)) = (array, crate::definition::shape(ty));
    if array.null_count() > 0 {
        return None;
    }
    for length in lengths {
        let list = array.as_fixed_size_list_opt()?;
        if list.value_length() as usize != length || list.null_count() > 0 {
            return None;
        }
        array = list.values();
    }
    if array.null_count() > 0 || *array.data_type() != crate::definition::data_type(&leaf) {
        return None;
    }
    macro_rules! bytes {
        ($($data:ident => $ty:ident),*) => {
            match array.data_type() {
                $(DataType::$data => Some(array.as_primitive::<$ty>().values().inner().as_slice()),)*
                DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value_data()),
                _ => None,
            }
        };
    }
    bytes!(
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type, Int8 => Int8Type, Int16 => Int16Type,
        Int32 => Int32Type, Int64 => Int64Type, Float32 => Float32Type, Float64 => Float64Type
    )
}

/// The origins of a table's rows.
fn origins(table: &RecordBatch, schema: &arrow_schema::Schema) -> Result<Vec<Origin>, String> {
    let column = |name: &str| table.column_by_name(name).ok_or_else(|| format!("column `{name}` is missing"));
    macro_rules! column {
        ($name:literal, $ty:ty) => {
            column($name)?.as_primitive_opt::<$ty>().ok_or(concat!("column `", $name, "` is of another type"))?
        };
    }
    let (launch, group, wave) = (column!("launch", UInt16Type), column!("workgroup", Int64Type), column!("wave", UInt8Type));
    // Files before them have none.
    let numbers =
        table.column_by_name("dispatch").map(|column| column.as_primitive_opt::<Int64Type>().ok_or("column `dispatch` is of another type"));
    let kernels = table.column_by_name("kernel").map(|column| column.as_string_opt::<i32>().ok_or("column `kernel` is of another type"));
    let (numbers, kernels) = (numbers.transpose()?, kernels.transpose()?);
    let dispatch = |row: usize| {
        let number = numbers.filter(|numbers| numbers.is_valid(row)).map(|numbers| numbers.value(row) as u64);
        Dispatch::new(number, kernels.filter(|kernels| kernels.is_valid(row)).map(|kernels| kernels.value(row)))
    };
    let (lane, sm, time, site) =
        (column!("lane", UInt8Type), column!("sm", UInt16Type), column!("time", Int64Type), column!("site", UInt32Type));
    let weight = column!("weight", UInt16Type);
    let after_gap = column("after_gap")?.as_boolean_opt().ok_or("column `after_gap` is of another type")?;
    let (devices, device) = match schema.metadata.get(DEVICE) {
        Some(device) => (None, device.parse().map_err(|_| format!("device `{}`", &**device))?),
        None => (Some(column!("device", UInt32Type)), 0),
    };
    let origin = |row: usize| Origin {
        device: devices.map_or(device, |devices| devices.value(row)),
        launch: launch.value(row).into(),
        dispatch: dispatch(row),
        group: group.value(row) as u64,
        wave: wave.value(row).into(),
        lane: lane.value(row).into(),
        sm: sm.value(row).into(),
        time: time.is_valid(row).then(|| time.value(row) as u64),
        site: site.value(row),
        weight: weight.value(row).into(),
        after_gap: after_gap.value(row),
    };
    Ok((0..table.num_rows()).map(origin).collect())
}

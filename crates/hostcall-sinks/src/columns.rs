//! Messages as columns: one copy from a batch into the memory of Arrow arrays.
//!
//! A table has a column for each thing that is known of a value's origin , then one for each field. A field that has
//! the name of an origin's column is called `value_` and its name. What a field is called and how its source types it
//! stands in the column's metadata.
//!
//! | column | type | |
//! |---|---|---|
//! | `device` | `UInt32` | number of the device |
//! | `launch` | `UInt16` | low 10 bits of the launch's number, as the device knows it |
//! | `dispatch` | `Int64`, may be null | the launch's number on its device, from 1 on; null: unknown |
//! | `kernel` | `Utf8`, may be null | the kernel's name; null: unknown |
//! | `workgroup` | `Int64` | the workgroup's number in its grid |
//! | `wave`, `lane` | `UInt8` | wave in the workgroup, lane in the wave |
//! | `sm` | `UInt16` | the SM (compute unit) |
//! | `time` | `Int64`, may be null | nanoseconds of the device's clock |
//! | `site` | `UInt32` | the place in the source, as the program numbers them; 0: none |
//! | `weight` | `UInt16` | for how many values this one stands |
//! | `after_gap` | `Boolean` | see [`Head::after_gap`] |
//!
//! | type of a field | type of its column |
//! |---|---|
//! | `u8` to `u64`, `i8` to `i64`, `f32`, `f64` | the same |
//! | `[T; N]` | `FixedSizeList`, of lists if `T` is an array |
//! | a line of `log!`: beside its units, a column `text` without a field, null but for the first unit of each line | `Utf8` |
//! | `[u8]`, `str`: the field `value` of streams of bytes and of text | `Binary`, `Utf8` |
//! | `[u8; N]`, and any type that is not in this table | `FixedSizeBinary` |

use std::iter::repeat_n;
use std::sync::Arc;

use arrow_array::builder::{BooleanBufferBuilder, NullBufferBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, SchemaRef};
use hostcall_stream::file::Type;
use hostcall_stream::sink::RawBatch;
use hostcall_stream::{Content, Dispatch, Head, Log, Schema, Sites};

use crate::definition::{is, shape};
use crate::slices::Slices;

/// Values of one leaf of a field, one behind another.
#[derive(Debug)]
enum Leaf {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Of so many bytes each.
    Bytes(Vec<u8>, usize),
}

/// A field's values.
#[derive(Debug)]
struct Column {
    offset: usize,
    bytes: usize,
    /// Lengths of the arrays around the leaf, the outermost first.
    lengths: Vec<usize>,
    leaf: Leaf,
}

/// What is known of a message besides its values and lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) group: u64,
    pub(crate) time: Option<u64>,
    pub(crate) site: u32,
    /// Values of the message.
    pub(crate) values: u32,
    pub(crate) dispatch: Dispatch,
    pub(crate) launch: u16,
    pub(crate) sm: u16,
    pub(crate) weight: u16,
    pub(crate) wave: u8,
    pub(crate) after_gap: bool,
}

/// A table of one stream that is being filled.
#[derive(Debug)]
pub(crate) struct Columns {
    value_bytes: usize,
    runs: Vec<Run>,
    lanes: Vec<u8>,
    fields: Vec<Column>,
    /// Of a stream of bytes or text, which has no fields.
    slices: Option<Slices>,
    room: usize,
}

/// A table that is full. Origins are kept by message, because writers do better with them than with columns.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The messages, in order.
    pub(crate) runs: Vec<Run>,
    /// The lane of each value.
    pub(crate) lanes: Vec<u8>,
    /// The columns of fields.
    pub(crate) fields: Vec<ArrayRef>,
}

/// Lanes by number.
const LANES: [u8; 64] = {
    let (mut lanes, mut i) = ([0; 64], 0);
    while i < 64 {
        lanes[i] = i as u8;
        i += 1;
    }
    lanes
};

impl Columns {
    /// A table without rows. Memory is taken for `room` of them when the first comes.
    pub(crate) fn new(schema: &Schema, room: usize) -> Self {
        let column = |field: &hostcall_stream::Field| {
            let (lengths, leaf) = shape(&Type::of(field));
            Column { offset: field.offset as usize, bytes: field.bytes as usize, lengths, leaf: Leaf::new(&leaf) }
        };
        Self {
            value_bytes: schema.bytes as usize,
            runs: Vec::new(),
            lanes: Vec::new(),
            fields: schema.fields.iter().filter(|field| field.bytes > 0).map(column).collect(),
            slices: (schema.content() != Content::Values).then(|| Slices::new(schema.content() == Content::Text)),
            room,
        }
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.lanes.len()
    }

    /// Rows so far; more, if there are more bytes in them than in rows of numbers.
    pub(crate) fn weight(&self) -> usize {
        self.rows().max(self.slices.as_ref().map_or(0, Slices::weight))
    }

    /// Adds messages.
    pub(crate) fn push(&mut self, batch: &RawBatch<'_>) {
        if self.rows() == 0 {
            self.lanes.reserve(self.room);
            self.fields.iter_mut().for_each(|column| column.reserve(self.room));
        }
        self.runs.reserve(batch.heads().len());
        batch.heads().iter().zip(batch.dispatches()).for_each(|(head, dispatch)| self.origin(head, dispatch));
        self.fields.iter_mut().for_each(|column| column.push(batch.bytes(), self.value_bytes));
        self.slices.iter_mut().for_each(|slices| slices.push(batch));
    }

    /// The origins of a message's values.
    fn origin(&mut self, head: &Head, dispatch: Dispatch) {
        let header = head.header();
        let values = header.mask.count_ones() * header.values;
        self.runs.push(Run {
            group: header.from.group,
            time: header.time,
            site: header.site,
            values,
            dispatch,
            launch: header.from.launch as u16,
            sm: header.from.sm as u16,
            weight: 1 << header.weight.min(15),
            wave: header.from.wave as u8,
            after_gap: head.after_gap(),
        });
        // All lanes from 0 on, with a value each, are the ordinary case.
        if header.values == 1 && header.mask & header.mask.wrapping_add(1) == 0 {
            self.lanes.extend_from_slice(&LANES[..values as usize]);
        } else {
            let each = header.values as usize;
            self.lanes.extend(head.lanes().flat_map(|lane| repeat_n(lane as u8, each)));
        }
    }

    /// The rows as a table; none are left. `None`: there were none.
    pub(crate) fn take(&mut self) -> Option<Table> {
        if self.rows() == 0 {
            return None;
        }
        let (runs, lanes) = (std::mem::take(&mut self.runs), std::mem::take(&mut self.lanes));
        let fields = self.fields.iter_mut().map(Column::take).chain(self.slices.iter_mut().map(Slices::take)).collect();
        Some(Table { runs, lanes, fields })
    }
}

impl Table {
    pub(crate) fn rows(&self) -> usize {
        self.lanes.len()
    }

    pub(crate) fn messages(&self) -> u64 {
        self.runs.len() as u64
    }

    /// Adds the column of lines, if it is a log's: each beside the first of the units that it is made of, and nothing
    /// beside the others, or where the place in the source is not known. Called once.
    pub(crate) fn add_lines(&mut self, schema: &Schema, sites: Option<&Sites>) {
        if !is::<Log>(schema) {
            return;
        }
        let units = self.fields[0].as_primitive::<UInt32Type>().values();
        let mut texts = StringBuilder::new();
        let mut first = 0;
        for run in &self.runs {
            let site = sites.and_then(|sites| sites.get(run.site));
            let end = first + run.values as usize;
            for lane in self.lanes[first..end].chunk_by(|a, b| a == b) {
                let line: Vec<Log> = units[first..first + lane.len()].iter().map(|unit| Log { unit: *unit }).collect();
                texts.append_option(site.as_ref().and_then(|site| site.line(&line)));
                texts.append_nulls(lane.len() - 1);
                first += lane.len();
            }
        }
        self.fields.push(Arc::new(texts.finish()));
    }

    /// All columns, whose schema is the [stream's](crate::definition::arrow_schema).
    pub(crate) fn into_batch(self, schema: SchemaRef, device: u32) -> RecordBatch {
        let (runs, rows) = (&self.runs, self.rows());
        fn each<T: Copy>(runs: &[Run], rows: usize, of: impl Fn(&Run) -> T) -> Vec<T> {
            let mut all = Vec::with_capacity(rows);
            runs.iter().for_each(|run| all.extend(repeat_n(of(run), run.values as usize)));
            all
        }
        let (mut timed, mut after_gap) = (NullBufferBuilder::new(rows), BooleanBufferBuilder::new(rows));
        for run in runs {
            match run.time {
                Some(_) => timed.append_n_non_nulls(run.values as usize),
                None => timed.append_n_nulls(run.values as usize),
            }
            after_gap.append_n(run.values as usize, run.after_gap);
        }
        let times = each(runs, rows, |run| run.time.unwrap_or_default() as i64);
        let mut arrays: Vec<ArrayRef> = vec![
            primitive::<UInt32Type>(vec![device; rows]),
            primitive::<UInt16Type>(each(runs, rows, |run| run.launch)),
            Arc::new(PrimitiveArray::<Int64Type>::from(each(runs, rows, |run| run.dispatch.number.map(|number| number as i64)))),
            Arc::new(StringArray::from(each(runs, rows, |run| run.dispatch.kernel))),
            primitive::<Int64Type>(each(runs, rows, |run| run.group as i64)),
            primitive::<UInt8Type>(each(runs, rows, |run| run.wave)),
            primitive::<UInt8Type>(self.lanes),
            primitive::<UInt16Type>(each(runs, rows, |run| run.sm)),
            Arc::new(PrimitiveArray::<Int64Type>::new(times.into(), timed.finish())),
            primitive::<UInt32Type>(each(runs, rows, |run| run.site)),
            primitive::<UInt16Type>(each(runs, rows, |run| run.weight)),
            Arc::new(BooleanArray::new(after_gap.finish(), None)),
        ];
        arrays.extend(self.fields);
        RecordBatch::try_new(schema, arrays).expect("columns of the schema, equally long")
    }
}

fn primitive<T: arrow_array::ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef
where
    PrimitiveArray<T>: From<Vec<T::Native>>,
{
    Arc::new(PrimitiveArray::<T>::from(values))
}

/// Numbers that are their bytes.
trait Number: Copy {
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(impl Number for $ty {
        #[inline(always)]
        fn of(bytes: &[u8]) -> Self {
            <$ty>::from_ne_bytes(bytes.try_into().expect("the bytes of a number"))
        }
    })* };
}
numbers!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

/// Copies a field out of values of `stride` bytes.
#[inline]
fn gather<T: Number>(to: &mut Vec<T>, values: &[u8], stride: usize, offset: usize, bytes: usize) {
    if bytes == size_of::<T>() {
        to.extend(values.chunks_exact(stride).map(|value| T::of(&value[offset..offset + size_of::<T>()])));
    } else {
        for value in values.chunks_exact(stride) {
            to.extend(value[offset..offset + bytes].chunks_exact(size_of::<T>()).map(T::of));
        }
    }
}

impl Leaf {
    fn new(ty: &Type) -> Self {
        match ty {
            Type::Unsigned(1) => Self::U8(Vec::new()),
            Type::Unsigned(2) => Self::U16(Vec::new()),
            Type::Unsigned(4) => Self::U32(Vec::new()),
            Type::Unsigned(8) => Self::U64(Vec::new()),
            Type::Signed(1) => Self::I8(Vec::new()),
            Type::Signed(2) => Self::I16(Vec::new()),
            Type::Signed(4) => Self::I32(Vec::new()),
            Type::Signed(8) => Self::I64(Vec::new()),
            Type::F32 => Self::F32(Vec::new()),
            Type::F64 => Self::F64(Vec::new()),
            other => Self::Bytes(Vec::new(), other.bytes()),
        }
    }
}

/// Does the same with the values of any leaf.
macro_rules! each_leaf {
    ($leaf:expr, $values:ident, $array:ident => $do:expr, $bytes:ident, $width:ident => $else:expr) => {
        match $leaf {
            Leaf::U8($values) => {
                type $array = UInt8Type;
                $do
            }
            Leaf::U16($values) => {
                type $array = UInt16Type;
                $do
            }
            Leaf::U32($values) => {
                type $array = UInt32Type;
                $do
            }
            Leaf::U64($values) => {
                type $array = UInt64Type;
                $do
            }
            Leaf::I8($values) => {
                type $array = Int8Type;
                $do
            }
            Leaf::I16($values) => {
                type $array = Int16Type;
                $do
            }
            Leaf::I32($values) => {
                type $array = Int32Type;
                $do
            }
            Leaf::I64($values) => {
                type $array = Int64Type;
                $do
            }
            Leaf::F32($values) => {
                type $array = Float32Type;
                $do
            }
            Leaf::F64($values) => {
                type $array = Float64Type;
                $do
            }
            Leaf::Bytes($bytes, $width) => $else,
        }
    };
}

impl Column {
    fn push(&mut self, values: &[u8], stride: usize) {
        let Self { offset, bytes, leaf, .. } = self;
        each_leaf!(leaf, to, _Array => gather(to, values, stride, *offset, *bytes), to, _width => {
            for value in values.chunks_exact(stride) {
                to.extend_from_slice(&value[*offset..*offset + *bytes]);
            }
        });
    }

    fn reserve(&mut self, room: usize) {
        let elements = room * self.lengths.iter().product::<usize>();
        each_leaf!(&mut self.leaf, values, _Array => values.reserve(elements), bytes, width => bytes.reserve(elements * *width));
    }

    fn take(&mut self) -> ArrayRef {
        let mut array: ArrayRef = each_leaf!(
            &mut self.leaf,
            values, Array => primitive::<Array>(std::mem::take(values)),
            bytes, width => Arc::new(FixedSizeBinaryArray::new(*width as i32, std::mem::take(bytes).into(), None))
        );
        for length in self.lengths.iter().rev() {
            array = Arc::new(FixedSizeListArray::new(element(array.data_type().clone()), *length as i32, array, None));
        }
        array
    }
}

/// What arrays are made of.
pub(crate) fn element(ty: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", ty, false))
}

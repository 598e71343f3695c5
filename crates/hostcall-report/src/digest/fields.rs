//! Numbers in the fields of streams: how they are distributed, and what becomes of them.

use hostcall_stream::file::{Message, Value};
use hostcall_stream::{Schema, file};

use super::bins::{Bins, Range, Sum};

/// Cells in which values are counted, and in which they are followed.
const CELLS: usize = 1024;
const POINTS: usize = 512;
/// The finest cell of numbers that may be fractions.
const FINEST: i32 = -1074;

/// What is kept of a field, or of all elements of one that is an array: 60 KB.
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: String,
    /// Numbers that are some.
    pub(crate) all: Range,
    /// Infinite ones, NaN, and what is no number.
    pub(crate) others: u64,
    pub(crate) values: Bins<u64>,
    /// Logarithms to base 2 of those that are positive.
    pub(crate) logs: Bins<u64>,
    /// Over the stream's [`Along`].
    pub(crate) course: Bins<Range>,
}

/// Over what values are followed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Along {
    /// Another field: a step, say. Its index.
    Field(usize, String),
    /// The time of the device, from the first message on.
    Time,
    /// The number of the value in the recording: its messages have no time.
    Order,
}

/// The fields of a stream.
pub(crate) struct Fields {
    pub(crate) along: Along,
    /// By index; `None`: not numbers.
    pub(crate) fields: Vec<Option<Field>>,
    first: Option<u64>,
    count: u64,
}

/// Names of fields that count on while a program runs.
const STEPS: [&str; 8] = ["step", "iteration", "iter", "epoch", "batch", "round", "generation", "tick"];

fn is_whole(ty: &str) -> bool {
    matches!(ty, "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize")
}

/// The type of a field, or of an array's elements.
fn element(ty: &str) -> &str {
    let mut ty = ty.trim();
    while let Some((element, _)) = ty.strip_prefix('[').and_then(|rest| rest.rsplit_once(';')) {
        ty = element.trim();
    }
    ty
}

impl Fields {
    /// Of a stream; `room` says for how many fields there is any, and is made less.
    pub(crate) fn new(schema: &Schema, timed: bool, room: &mut usize) -> Self {
        let step = schema.fields.iter().position(|field| is_whole(&field.ty) && STEPS.contains(&field.name.to_ascii_lowercase().as_str()));
        let along = match step {
            Some(index) => Along::Field(index, schema.fields[index].name.to_string()),
            None if timed => Along::Time,
            None => Along::Order,
        };
        let field = |(index, field): (usize, &hostcall_stream::Field)| {
            let ty = element(&field.ty);
            if !(is_whole(ty) || ty == "f32" || ty == "f64") || *room == 0 {
                return None;
            }
            *room -= 1;
            let finest = if is_whole(ty) { 0 } else { FINEST };
            let points = if along == Along::Field(index, field.name.to_string()) { 1 } else { POINTS };
            Some(Field {
                name: field.name.to_string(),
                ty: field.ty.to_string(),
                all: Range::default(),
                others: 0,
                values: Bins::new(CELLS, finest),
                logs: Bins::new(CELLS, -20),
                course: Bins::new(points, if along == Along::Time { FINEST } else { 0 }),
            })
        };
        let fields = schema.fields.iter().enumerate().map(field).collect();
        Self { along, fields, first: None, count: 0 }
    }

    pub(crate) fn add(&mut self, message: &Message<'_>) {
        let time = message.header.time.map(|time| time.wrapping_sub(*self.first.get_or_insert(time)) as i64 as f64);
        for row in message.rows() {
            self.row(&row, time);
        }
    }

    fn row(&mut self, row: &file::Row<'_>, time: Option<f64>) {
        self.count += 1;
        let at = match &self.along {
            Along::Field(index, _) => row.fields().nth(*index).and_then(|(_, value)| value.number()),
            Along::Time => time,
            Along::Order => Some(self.count as f64),
        };
        for (field, (_, value)) in self.fields.iter_mut().zip(row.fields()) {
            if let Some(field) = field {
                field.add(&value, at);
            }
        }
    }
}

impl Field {
    fn add(&mut self, value: &Value, at: Option<f64>) {
        if let Value::List(values) = value {
            return values.iter().for_each(|value| self.add(value, at));
        }
        let Some(number) = value.number().filter(|number| number.is_finite()) else {
            self.others += 1;
            return;
        };
        let one = Range::of(number);
        self.all.merge(&one);
        self.values.add(number, &1);
        if number > 0.0 {
            self.logs.add(number.log2(), &1);
        }
        if let Some(at) = at {
            self.course.add(at, &one);
        }
    }

    /// Whether most of its values would share one bar of an even scale, and all have a place on a logarithmic one.
    pub(crate) fn is_skewed(&self) -> bool {
        let Some(most) = self.values.quantile(0.9) else { return false };
        self.all.least > 0.0
            && self.all.greatest / self.all.least > 64.0
            && (most - self.all.least) < 0.08 * (self.all.greatest - self.all.least)
    }
}

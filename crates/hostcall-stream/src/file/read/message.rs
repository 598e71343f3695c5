//! A message of a recording, and its values.

use std::sync::Arc;

use hostcall_abi::stream::{Header, Log, Message as _};

use super::super::format::Program;
use super::super::value::{Type, Value};
use crate::dispatch::Dispatch;
use crate::schema::{Field, Schema};
use crate::sites::{Site, Sites};

/// A message of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// What it says of itself.
    pub header: Header,
    /// Whether it was found behind a message that never became whole. What looks like a message there may be a part of
    /// one.
    pub after_gap: bool,
    /// The ring through which it came, as the recording numbers them.
    pub ring: u16,
    /// Granules that its ring took before.
    pub position: u64,
    /// The launch that it is of, and its kernel. Files of versions 1 and 2 say neither.
    pub dispatch: Dispatch,
    /// Who sent it.
    pub program: &'a Program,
    /// What its values are.
    pub schema: &'a Schema,
    /// The places in the source that messages name.
    pub sites: &'a Arc<Sites>,
    pub(super) types: &'a [Type],
    pub(super) raw: &'a [u8],
    pub(super) bytes: &'a [u8],
}

/// A value of a message, with the lane that sent it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The lane, in its wave.
    pub lane: u32,
    fields: &'a [Field],
    types: &'a [Type],
    bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// All values: those of each lane together, lane by lane. A message of bytes or text is one value.
    pub fn rows(&self) -> impl Iterator<Item = Row<'a>> + use<'a> {
        let Self { header, schema, types, bytes, .. } = *self;
        let mut rest = header.mask;
        let lanes = std::iter::from_fn(move || {
            let lane = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(lane)
        });
        let lanes = lanes.flat_map(move |lane| std::iter::repeat_n(lane, header.values as usize));
        let row = move |(lane, bytes)| Row { lane, fields: &schema.fields, types, bytes };
        let whole = (schema.bytes == 0).then_some(bytes);
        lanes.zip(whole.into_iter().chain(bytes.chunks_exact((schema.bytes as usize).max(1)))).map(row)
    }

    /// The bytes of all values, one behind another; or those of which the message is.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// As a [`RawBatch`](crate::sink::RawBatch) of this message has them.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The lines of a log that it is, by lane, with their place in the source; `None`: it is none, or its place is not
    /// known.
    pub fn log(&self) -> Option<LogLines> {
        let Self { schema, header, bytes, .. } = *self;
        if (&*schema.name, schema.signature, schema.bytes) != (Log::NAME, Log::SIGNATURE, size_of::<Log>() as u32) {
            return None;
        }
        let site = self.sites.get(header.site).filter(|site| site.level.is_some())?;
        let units: Vec<Log> = bytes.as_chunks::<4>().0.iter().map(|unit| Log { unit: u32::from_le_bytes(*unit) }).collect();
        let lanes = self.rows().step_by(header.values as usize).map(|row| row.lane);
        let line = |(lane, units)| Some((lane, site.line(units)?));
        let lines = lanes.zip(units.chunks_exact(header.values as usize)).map(line).collect::<Option<_>>()?;
        Some(LogLines { site, lines })
    }
}

/// The lines of a log that one message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLines {
    /// Where in the source they were written.
    pub site: Arc<Site>,
    /// The line of each lane.
    pub lines: Vec<(u32, String)>,
}

impl<'a> Row<'a> {
    /// The bytes of the value.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Each field with its value.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&'a Field, Value)> + use<'a> {
        let bytes = self.bytes;
        let value = move |(field, ty): (&'a Field, &Type)| match ty {
            Type::Slice | Type::Text => (field, ty.value(bytes)),
            _ => (field, ty.value(&bytes[field.offset as usize..][..field.bytes as usize])),
        };
        self.fields.iter().zip(self.types).map(value)
    }
}

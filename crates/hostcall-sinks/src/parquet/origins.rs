//! Columns of origins as Parquet's column chunks.
//!
//! All values of a message have one origin but for their lanes. So a column is a dictionary and runs, and its cost is
//! that of messages, not of values: Arrow's writer, which looks at each value, took most of the time. Chunks are not
//! compressed further.

use std::collections::HashMap;

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;

use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::Chunk;
use crate::columns::Run;

/// The origins of a row group.
#[derive(Debug, Default)]
pub(super) struct Origins {
    device: u32,
    runs: Vec<Run>,
    lanes: Vec<u8>,
}

impl Origins {
    pub(super) fn push(&mut self, runs: Vec<Run>, lanes: &[u8], device: u32) {
        self.device = device;
        if self.runs.is_empty() {
            self.runs = runs
        } else {
            self.runs.extend(runs)
        }
        self.lanes.extend_from_slice(lanes);
    }

    /// The device of all rows.
    pub(super) fn device(&self) -> u32 {
        self.device
    }

    pub(super) fn rows(&self) -> usize {
        self.lanes.len()
    }

    /// Bytes in a file, about.
    pub(super) fn bytes(&self) -> usize {
        24 * self.runs.len() + self.lanes.len()
    }
}

/// The chunk of one column.
pub(super) fn column(descriptor: &ColumnDescPtr, origins: &Origins) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let of: fn(&Run) -> Option<u64> = match descriptor.name() {
        "device" => return repeated(descriptor, origins, |_| Some(origins.device.into())),
        "launch" => |run| Some(run.launch.into()),
        "dispatch" => |run| run.dispatch.number,
        "kernel" => return kernels(descriptor, origins),
        "workgroup" => |run| Some(run.group),
        "wave" => |run| Some(run.wave.into()),
        "sm" => |run| Some(run.sm.into()),
        "time" => |run| run.time,
        "site" => |run| Some(run.site.into()),
        "weight" => |run| Some(run.weight.into()),
        "lane" => return lanes(descriptor, origins),
        "after_gap" => return gaps(descriptor, origins),
        other => unreachable!("no column `{other}` of origins"),
    };
    repeated(descriptor, origins, of)
}

/// A column of numbers that are those of messages.
fn repeated(
    descriptor: &ColumnDescPtr,
    origins: &Origins,
    of: impl Fn(&Run) -> Option<u64>,
) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let width = if descriptor.physical_type() == Type::INT32 { 4 } else { 8 };
    let mut levels = Runs::new(1);
    let mut numbers: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
    let (mut dictionary, mut runs) = (Vec::new(), Vec::<(u32, u64)>::new());
    let (mut last, mut nulls, mut range) = (None, 0, None::<(u64, u64)>);
    for run in &origins.runs {
        let value = of(run);
        levels.push(u32::from(value.is_some()), run.values.into());
        let Some(value) = value else {
            nulls += u64::from(run.values);
            continue;
        };
        let number = match last {
            Some((known, number)) if known == value => number,
            _ => *numbers.entry(value).or_insert_with(|| {
                dictionary.extend_from_slice(&value.to_le_bytes()[..width]);
                range = Some(range.map_or((value, value), |(least, most)| (least.min(value), most.max(value))));
                (dictionary.len() / width) as u32 - 1
            }),
        };
        last = Some((value, number));
        match runs.last_mut() {
            Some((same, count)) if *same == number => *count += u64::from(run.values),
            _ => runs.push((number, run.values.into())),
        }
    }
    let entries = dictionary.len() / width;
    let mut page = if descriptor.max_def_level() > 0 { levels.with_length() } else { Vec::new() };
    let statistics = match (width, range) {
        (4, range) => Statistics::int32(range.map(|(least, _)| least as i32), range.map(|(_, most)| most as i32), None, Some(nulls), false),
        (_, range) => Statistics::int64(range.map(|(least, _)| least as i64), range.map(|(_, most)| most as i64), None, Some(nulls), false),
    };
    let mut chunk = Chunk::new(descriptor.clone());
    let mut indices = Runs::new(bits(entries));
    runs.iter().for_each(|(number, count)| indices.push(*number, *count));
    let plain = (origins.rows() - nulls as usize) * width;
    if entries > 0 && dictionary.len() + indices.bytes.len() < plain {
        chunk.dictionary(&dictionary, entries, false)?;
        page.push(bits(entries) as u8);
        page.extend(indices.finish());
        chunk.data(&page, origins.rows(), Encoding::RLE_DICTIONARY)?;
    } else {
        // Hardly any two are the same.
        page.reserve(plain);
        for (number, count) in runs {
            let value = &dictionary[number as usize * width..][..width];
            (0..count).for_each(|_| page.extend_from_slice(value));
        }
        chunk.data(&page, origins.rows(), Encoding::PLAIN)?;
    }
    chunk.close(statistics)
}

/// The column of kernels' names: a dictionary and runs, whatever the names.
fn kernels(descriptor: &ColumnDescPtr, origins: &Origins) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut levels = Runs::new(1);
    let (mut names, mut dictionary, mut runs) = (Vec::<&str>::new(), Vec::new(), Vec::new());
    let mut nulls = 0;
    for run in &origins.runs {
        levels.push(u32::from(run.dispatch.kernel.is_some()), run.values.into());
        let Some(name) = run.dispatch.kernel else {
            nulls += u64::from(run.values);
            continue;
        };
        // There are few, and the last is mostly the same.
        let number = names.iter().rposition(|known| *known == name).unwrap_or_else(|| {
            dictionary.extend_from_slice(&(name.len() as u32).to_le_bytes());
            dictionary.extend_from_slice(name.as_bytes());
            names.push(name);
            names.len() - 1
        });
        runs.push((number as u32, u64::from(run.values)));
    }
    let mut page = levels.with_length();
    let mut chunk = Chunk::new(descriptor.clone());
    if names.is_empty() {
        chunk.data(&page, origins.rows(), Encoding::PLAIN)?;
    } else {
        chunk.dictionary(&dictionary, names.len(), false)?;
        let mut indices = Runs::new(bits(names.len()));
        runs.iter().for_each(|(number, count)| indices.push(*number, *count));
        page.push(bits(names.len()) as u8);
        page.extend(indices.finish());
        chunk.data(&page, origins.rows(), Encoding::RLE_DICTIONARY)?;
    }
    let bytes = |name: Option<&&str>| name.map(|name| ByteArray::from(*name));
    chunk.close(Statistics::byte_array(bytes(names.iter().min()), bytes(names.iter().max()), None, Some(nulls), false))
}

/// Bits of an index into so many entries; at least one, for readers that have not thought of none.
fn bits(entries: usize) -> u32 {
    (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1)
}

/// Runs of equal numbers, as Parquet's hybrid encoding has them.
struct Runs {
    /// Bytes of a number.
    width: usize,
    bytes: Vec<u8>,
    current: Option<(u32, u64)>,
}

impl Runs {
    fn new(bits: u32) -> Self {
        Self { width: bits.div_ceil(8) as usize, bytes: Vec::new(), current: None }
    }

    fn push(&mut self, number: u32, count: u64) {
        match &mut self.current {
            Some((same, sum)) if *same == number => *sum += count,
            _ => {
                self.end_run();
                self.current = Some((number, count));
            }
        }
    }

    fn end_run(&mut self) {
        if let Some((number, count)) = self.current.take() {
            varint(&mut self.bytes, count << 1);
            self.bytes.extend_from_slice(&number.to_le_bytes()[..self.width]);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.end_run();
        self.bytes
    }

    /// The same behind its length, as levels are.
    fn with_length(self) -> Vec<u8> {
        let runs = self.finish();
        [&(runs.len() as u32).to_le_bytes(), &*runs].concat()
    }
}

fn varint(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Bits of a lane.
const LANE_BITS: u8 = 6;

/// The column of lanes: six bits each, of a dictionary that has all of them.
fn lanes(descriptor: &ColumnDescPtr, origins: &Origins) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let lanes = &origins.lanes;
    let least = lanes.iter().min().copied().map(i32::from);
    let most = lanes.iter().max().copied().map(i32::from);
    let mut chunk = Chunk::new(descriptor.clone());
    let dictionary: Vec<u8> = (0..64u32).flat_map(u32::to_le_bytes).collect();
    chunk.dictionary(&dictionary, 64, true)?;
    let groups = lanes.len().div_ceil(8);
    let mut page = Vec::with_capacity(groups * 6 + 8);
    page.push(LANE_BITS);
    varint(&mut page, (groups as u64) << 1 | 1);
    let (eights, rest) = lanes.as_chunks::<8>();
    page.extend(eights.iter().flat_map(|eight| packed(*eight)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        page.extend(packed(last));
    }
    chunk.data(&page, lanes.len(), Encoding::RLE_DICTIONARY)?;
    chunk.close(Statistics::int32(least, most, None, Some(0), false))
}

/// Eight numbers of six bits in six bytes.
#[inline]
fn packed(lanes: [u8; 8]) -> [u8; 6] {
    let x = u64::from_le_bytes(lanes);
    let x = x & 0x003f_003f_003f_003f | x >> 2 & 0x0fc0_0fc0_0fc0_0fc0;
    let x = x & 0x0000_0fff_0000_0fff | x >> 4 & 0x00ff_f000_00ff_f000;
    let x = x & 0x00ff_ffff | x >> 8 & 0xffff_ff00_0000;
    let [a, b, c, d, e, f, ..] = x.to_le_bytes();
    [a, b, c, d, e, f]
}

/// The column that says which messages came after a gap: a bit each.
fn gaps(descriptor: &ColumnDescPtr, origins: &Origins) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut bits = arrow_array::builder::BooleanBufferBuilder::new(origins.rows());
    origins.runs.iter().for_each(|run| bits.append_n(run.values as usize, run.after_gap));
    let any = origins.runs.iter().any(|run| run.after_gap);
    let all = origins.runs.iter().all(|run| run.after_gap);
    let mut chunk = Chunk::new(descriptor.clone());
    chunk.data(bits.as_slice(), origins.rows(), Encoding::PLAIN)?;
    chunk.close(Statistics::boolean(Some(all), Some(any), None, Some(0), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_lanes_are_packed_bit_by_bit_from_the_lowest() {
        let lanes = [0, 1, 63, 32, 5, 62, 17, 33];
        let all = packed(lanes);
        for (index, lane) in lanes.into_iter().enumerate() {
            let bit = |bit: usize| all[(6 * index + bit) / 8] >> ((6 * index + bit) % 8) & 1;
            assert_eq!((0..6).map(|at| bit(at) << at).sum::<u8>(), lane, "{index}");
        }
    }
}

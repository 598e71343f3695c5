//! How fast one thread turns batches in memory into files in memory. For `cargo hostcall bench` and the example `rate`.

use std::time::{Duration, Instant};

use hostcall_stream::sink::RawBatch;
use hostcall_stream::{Field, Head, Header, Policy, Schema};

use crate::columns::{Columns, Table};
use crate::parquet::{Codec, Measured};

/// Processor time of this thread, where the system says it, so that others on the same processor do not count.
fn now(since: Instant) -> Duration {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let time = said.and_then(|said| said.split(' ').next()?.parse().ok());
    time.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Processor time that it took.
    pub took: Duration,
    /// Bytes of the values.
    pub values: u64,
    /// Bytes of the messages in their rings.
    pub rings: u64,
    /// Bytes of the file.
    pub file: u64,
}

/// Values of a training's kind: a step, a lane's number, a sum and a float, of 16 bytes.
fn schema() -> Schema {
    let field = |name: &str, ty: &str, offset, bytes| Field { name: name.into(), ty: ty.into(), offset, bytes };
    let fields = vec![field("step", "u32", 0, 4), field("loss", "f32", 4, 4), field("address", "u64", 8, 8)];
    Schema { name: "Sample".into(), signature: 1, bytes: 16, policy: Policy::Block, fields }
}

/// Batches of 1024 messages of 32 lanes.
fn batches(count: usize) -> Vec<(Vec<Head>, Vec<u8>)> {
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let batch = |index: usize| {
        let (mut heads, mut bytes) = (Vec::new(), Vec::new());
        for message in 0..1024u64 {
            let number = index as u64 * 1024 + message;
            let from = hostcall_abi::stream::From { group: number % 4224, wave: number as u32 & 1, sm: number as u32 % 132, launch: 3 };
            let kind = hostcall_abi::stream::Kind::Rows;
            let (mask, time) = (u64::from(u32::MAX), Some(1_000_000 + number * 37));
            let header = Header { stream: 1, granules: 9, kind, mask, wide: false, site: 7, weight: 0, user: 0, values: 1, time, from };
            heads.push(Head::new(header, 0, false));
            for lane in 0..32u64 {
                bytes.extend_from_slice(&(number as u32).to_ne_bytes());
                bytes.extend_from_slice(&((next() >> 40) as f32 / 16_777_216.0).to_ne_bytes());
                bytes.extend_from_slice(&(0x7f00_0000_0000 + (number * 32 + lane) * 4).to_ne_bytes());
            }
        }
        (heads, bytes)
    };
    (0..count).map(batch).collect()
}

/// Turns batches of values of 16 bytes into tables, and hands these on.
fn run(megabytes: usize, mut table: impl FnMut(Table)) -> (u64, u64) {
    let schema = schema();
    // As much as stays in no cache of one core's.
    let batches = batches(32);
    let mut columns = Columns::new(&schema, 3 << 15);
    let (mut values, mut rings) = (0, 0);
    while values < (megabytes as u64) << 20 {
        for (heads, bytes) in &batches {
            columns.push(&RawBatch::new(heads, bytes, schema.bytes));
            (values, rings) = (values + bytes.len() as u64, rings + heads.len() as u64 * 576);
            if columns.rows() >= 1 << 16 {
                columns.take().into_iter().for_each(&mut table);
            }
        }
    }
    columns.take().into_iter().for_each(&mut table);
    (values, rings)
}

/// Batches into tables of Arrow, which are forgotten.
pub fn arrow(megabytes: usize) -> Rate {
    let (mut file, clock) = (0, Instant::now());
    let began = now(clock);
    let schema = crate::definition::arrow_schema(&schema());
    let (values, rings) = run(megabytes, |table| file += table.into_batch(schema.clone(), 0).get_array_memory_size() as u64);
    Rate { took: now(clock) - began, values, rings, file }
}

/// Batches into a Parquet file in memory.
pub fn parquet(megabytes: usize, codec: Codec) -> Rate {
    let mut encoder = Measured::new(&schema(), codec);
    let clock = Instant::now();
    let began = now(clock);
    let (values, rings) = run(megabytes, |table| encoder.write(table));
    let file = encoder.finish();
    Rate { took: now(clock) - began, values, rings, file }
}

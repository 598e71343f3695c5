//! Recordings of invented messages.
#![allow(dead_code, reason = "each test uses what it needs")]

use hostcall_abi::stream::{From, Header, Kind};
use hostcall_report::Digest;
use hostcall_stream::file::{Device, Program, Reader, Writer};
use hostcall_stream::{Access, AccessKind, Field, Interval, Policy, Schema, Space, StreamCounts, Summary};

/// A field of a stream.
pub(crate) fn field(name: &str, ty: &str, offset: u32, bytes: u32) -> Field {
    Field { name: name.into(), ty: ty.into(), offset, bytes }
}

/// A stream of these fields, one behind another.
pub(crate) fn schema(name: &str, fields: &[(&str, &str, u32)]) -> Schema {
    let mut bytes = 0;
    let field = |&(name, ty, size): &(&str, &str, u32)| {
        bytes += size;
        field(name, ty, bytes - size, size)
    };
    let fields = fields.iter().map(field).collect();
    Schema { name: name.into(), signature: 7, bytes, policy: Policy::Drop, fields }
}

/// A header of a message of all 32 lanes, of stream `stream`.
pub(crate) fn header(stream: u32, time: Option<u64>) -> Header {
    let from = From { group: 0, wave: 0, sm: 0, launch: 1 };
    Header { stream, granules: 0, kind: Kind::Rows, mask: 0xffff_ffff, wide: false, site: 0, weight: 0, user: 0, values: 1, time, from }
}

/// A small generator of numbers, always the same (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
}

/// The streams of [`run`].
pub(crate) fn streams() -> Vec<(u32, Schema)> {
    let loss = schema("Loss", &[("step", "u32", 4), ("value", "f32", 4), ("norm", "f32", 4)]);
    let latency = schema("Latency", &[("nanoseconds", "u64", 8), ("kind", "u32", 4)]);
    vec![(1, Schema::of::<Access>()), (2, Schema::of::<Interval>()), (3, loss), (4, latency), (5, schema("Silent", &[("never", "u32", 4)]))]
}

/// A run of `waves` waves: accesses by rows and by columns, intervals, and a training's loss.
pub(crate) fn run(waves: u64) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let device = Device::new(0, "NVIDIA H200", "cuda");
    let rings = writer.program(Program::new("train", device, 8, streams())).expect("memory");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut counts = [0u64; 5];
    let base = 0x7f3a_2000_0000u64;
    for wave in 0..waves {
        let (sm, group) = ((wave % 8) as u32, wave / 4);
        let from = From { group, wave: (wave % 4) as u32, sm, launch: 1 };
        let ring = rings + sm;
        let begin = 1_000_000 + (wave / 16) * 9_000 + random.below(2_000);
        let mut clock = begin;
        let phase = wave * 4 / waves;
        for step in 0..4u64 {
            clock += 300 + random.below(400);
            let header = |site, stream| Header { site, from, ..header(stream, Some(clock)) };
            let rows = |address: &dyn Fn(u64) -> Access| (0..32).flat_map(|lane| bytes(&address(lane))).collect::<Vec<u8>>();
            let row = rows(&|lane| {
                Access::new(base + phase * 65536 + (wave % 64) * 512 + step * 128 + lane * 4, AccessKind::Read, Space::Global, 4)
            });
            writer.message(ring, header(3, 1), &row).expect("memory");
            let column = rows(&|lane| Access::new(base + 0x40_0000 + lane * 4096 + (wave % 32) * 128, AccessKind::Write, Space::Global, 4));
            writer.message(ring, header(5, 1), &column).expect("memory");
            let shared = rows(&|lane| Access::new(lane * [4, 8, 128, 132][step as usize], AccessKind::Read, Space::Shared, 4));
            writer.message(ring, header(8 + step as u32, 1), &shared).expect("memory");
            counts[0] += 3;
        }
        for label in 0..3u32 {
            let start = begin + u64::from(label) * 1500;
            let interval = Interval { start, end: start + 700 + random.below(900 * (1 + u64::from(label))), label, detail: 0 };
            let one = Header { mask: 1, site: 20 + label, from, ..header(2, Some(interval.end)) };
            writer.message(ring, one, &bytes(&interval)).expect("memory");
            counts[1] += 1;
        }
        let step = wave as f32;
        let loss: Vec<u8> = (0..32)
            .flat_map(|lane| {
                let value =
                    2.4 * (-step / (waves as f32 / 3.0)).exp() + 0.18 + 0.002 * ((random.below(100) as f32) - 50.0) / (1.0 + step / 40.0);
                let norm = 1.0 + random.below(1000) as f32 / 200.0;
                [(wave as u32).to_le_bytes(), (value + 0.001 * lane as f32).to_le_bytes(), norm.to_le_bytes()].concat()
            })
            .collect();
        writer.message(ring, Header { from, ..header(3, Some(clock)) }, &loss).expect("memory");
        counts[2] += 1;
        let latency: Vec<u8> = [&(40 + (1u64 << random.below(14))).to_le_bytes()[..], &(wave as u32 % 3).to_le_bytes()].concat();
        writer.message(ring, Header { mask: 1, from, ..header(4, Some(clock)) }, &latency).expect("memory");
        counts[3] += 1;
    }
    let dropped = [0, 0, 12, 0, 0];
    let count = |((_, schema), (messages, dropped)): (&(u32, Schema), (u64, u64))| StreamCounts {
        name: schema.name.clone(),
        messages,
        values: messages,
        dropped,
        ..StreamCounts::default()
    };
    let counted = streams().iter().zip(counts.into_iter().zip(dropped)).map(count).collect();
    writer.counters(&Summary { streams: counted, ..Summary::default() }).expect("memory");
    writer.end().expect("memory")
}

fn bytes<T: hostcall_abi::Plain>(value: &T) -> Vec<u8> {
    hostcall_abi::codec::bytes(std::slice::from_ref(value)).to_vec()
}

/// The page of a recording's bytes.
pub(crate) fn page(bytes: &[u8]) -> String {
    match Reader::new(bytes) {
        Ok(reader) => Digest::read(reader).to_html("run.hcs"),
        Err(error) => Digest::unreadable(&error).to_html("run.hcs"),
    }
}

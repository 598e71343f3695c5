//! What is known of a recording that is being written.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;

use hostcall_abi::Shown;
use hostcall_stream::file::{Message, Reader};

/// Ticks whose rates are kept, and streams and characters of their last values that are shown.
pub(super) const HISTORY: usize = 240;
const WORDS: usize = 160;

#[derive(Default)]
pub(super) struct Model {
    /// By number.
    pub(super) streams: BTreeMap<u32, Stream>,
    pub(super) programs: Vec<Program>,
    /// Bytes of each ring since the last tick.
    rings: Vec<u64>,
    /// Bytes of the file that have not been read.
    pub(super) behind: u64,
    /// Messages that never became whole, and granules that were none, as far as the recording says.
    pub(super) spoiled: (u64, u64),
    /// How it ended.
    pub(super) end: Option<String>,
}

#[derive(Default)]
pub(super) struct Stream {
    pub(super) name: String,
    pub(super) all: Load,
    /// Since the last tick, and in a second as of then.
    pub(super) new: Load,
    pub(super) rate: Load,
    /// Values in a second, the last tick last.
    pub(super) history: VecDeque<u64>,
    /// Messages that were dropped and that waited, as of the last counters in the recording; `None`: there are none
    /// yet.
    pub(super) counted: Option<(u64, u64)>,
    /// A value of the last tick in which there was one.
    pub(super) last: String,
    pub(super) told: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) messages: u64,
    pub(super) values: u64,
    /// Of rings.
    pub(super) bytes: u64,
}

/// A program with its rings.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) device: String,
    /// Bytes in a second of each ring.
    pub(super) rings: Vec<u64>,
}

impl Program {
    pub(super) fn bytes(&self) -> u64 {
        self.rings.iter().sum()
    }

    /// Rings through which something came.
    pub(super) fn used(&self) -> usize {
        self.rings.iter().filter(|bytes| **bytes > 0).count()
    }

    /// The part of the busiest ring, in percent.
    pub(super) fn busiest(&self) -> Option<f64> {
        let all = self.bytes();
        (all > 0).then(|| 100.0 * self.rings.iter().copied().max().unwrap_or(0) as f64 / all as f64)
    }
}

impl Load {
    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.values += other.values;
        self.bytes += other.bytes;
    }

    fn per(self, seconds: f64) -> Self {
        let rate = |number: u64| (number as f64 / seconds).round() as u64;
        Self { messages: rate(self.messages), values: rate(self.values), bytes: rate(self.bytes) }
    }
}

impl Model {
    pub(super) fn add(&mut self, message: &Message<'_>) {
        let header = &message.header;
        let load =
            Load { messages: 1, values: u64::from(header.mask.count_ones() * header.values), bytes: 64 * u64::from(header.granules) };
        let stream = self.streams.entry(header.stream).or_insert_with(|| Stream { name: line(&message.schema.name), ..Stream::default() });
        stream.new.add(load);
        // One in a tick: formatting all of them would take longer than reading.
        if !std::mem::replace(&mut stream.told, true)
            && let Some(row) = message.rows().next()
        {
            let from = header.from;
            let mut text = format!("workgroup {} wave {} lane {}", from.group, from.wave, row.lane);
            row.fields().for_each(|(field, value)| text += &format!(" {}={value}", field.name));
            stream.last = line(&text);
        }
        let ring = usize::from(message.ring);
        if self.rings.len() <= ring {
            self.rings.resize(ring + 1, 0);
        }
        self.rings[ring] += load.bytes;
    }

    /// Tells rates anew, after so many seconds.
    pub(super) fn tick(&mut self, seconds: f64, recording: &Reader<impl Read>) {
        let seconds = seconds.max(1e-3);
        for (number, schema) in recording.streams() {
            self.streams.entry(number).or_insert_with(|| Stream { name: line(&schema.name), ..Stream::default() });
        }
        let counters = recording.counters();
        for (stream, schema) in
            self.streams.iter_mut().filter_map(|(number, stream)| Some((stream, recording.streams().find(|(its, _)| its == number)?.1)))
        {
            stream.counted = counters.and_then(|counted| counted.stream(&schema.name)).map(|counted| (counted.dropped, counted.waited));
        }
        self.spoiled = counters.map_or((0, 0), |counted| (counted.torn, counted.malformed));
        for stream in self.streams.values_mut() {
            let new = std::mem::take(&mut stream.new);
            stream.all.add(new);
            stream.rate = new.per(seconds);
            stream.told = false;
            if stream.history.len() == HISTORY {
                stream.history.pop_front();
            }
            stream.history.push_back(stream.rate.values);
        }
        let rings = std::mem::take(&mut self.rings);
        let program = |program: &hostcall_stream::file::Program| {
            let its = program.first_ring as usize..(program.first_ring + program.rings) as usize;
            let bytes = |ring: usize| (rings.get(ring).copied().unwrap_or(0) as f64 / seconds).round() as u64;
            let device = &program.device;
            Program {
                name: line(&program.name),
                device: line(&format!("{} {}", device.kind, device.number)),
                rings: its.map(bytes).collect(),
            }
        };
        self.programs = recording.programs().iter().map(program).collect();
    }

    pub(super) fn end(&mut self, how: String) {
        self.end = Some(how);
    }

    pub(super) fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

/// Words of a recording on one line, which is not too long.
fn line(text: &str) -> String {
    Shown(text).to_string().chars().take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_steer_a_terminal() {
        assert_eq!(line("a\x1b[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(line(&"x".repeat(1000)).len(), WORDS);
    }
}

//! Messages of streams, against the bus.
//!
//! A handler sums up all units of all messages, and the kernels those that they sent: a figure is never one of messages
//! that are lost or wrong.
//!
//! * here: rates of all waves, a wave alone, gates, messages that are dropped.
//! * `cost`: what messages cost a kernel that has something else to do. `latency`: how long one is under way.
//! * `reader`: what is read, looked at and kept in memory, without a device.
//! * `dh_comms`: the form of AMD's dh_comms. `parts`: what a message of a wave alone consists of.

mod cost;
mod dh_comms;
mod latency;
mod parts;
mod reader;

pub(super) use cost::{OFF, PRICES, off, price};
pub(super) use dh_comms::row as dh_comms;
pub(super) use latency::row as latency;
pub(super) use parts::row as parts;
pub(super) use reader::{reader, sinks, sweep};

use std::cell::OnceCell;
use std::time::Duration;

use bench_services::{Message4, Message8, Message16};
use hostcall_stream::{Batch, Filter, Flow, Handler, Message, Policy, Report, Streams, StreamsBuilder};
use offload::{Args, Launch};

use super::bulk::{self, Way};
use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, median};

/// What the waves send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many bytes from each lane.
    Lanes(u32),
    /// Four times 16 bytes from each lane, at once.
    Four,
    /// 16 bytes from one lane of each wave; the others have gone.
    Alone,
    /// 16 bytes from one lane of each wave; the others are there.
    Once,
}

impl Shape {
    fn kernel(self) -> &'static str {
        match self {
            Self::Lanes(4) => "stream_4",
            Self::Lanes(8) => "stream_8",
            Self::Lanes(_) => "stream_16",
            Self::Four => "stream_64",
            Self::Alone => "stream_alone",
            Self::Once => "stream_once",
        }
    }

    /// Units of a lane's part, and lanes.
    fn size(self, wave: u32) -> (u32, u32) {
        match self {
            Self::Lanes(bytes) => (bytes / 4, wave),
            Self::Four => (16, wave),
            Self::Alone | Self::Once => (4, 1),
        }
    }

    /// Bytes of a message in its ring.
    fn ring_bytes(self, wave: u32) -> u32 {
        let (units, lanes) = self.size(wave);
        let layout = hostcall_abi::stream::Layout::new(units, lanes, wave == 64).expect("a message");
        layout.granules() * hostcall_abi::stream::GRANULE * 4
    }

    /// Values that each message holds.
    fn values(self, wave: u32) -> u32 {
        match self {
            Self::Lanes(_) => wave,
            Self::Four => 4 * wave,
            Self::Alone | Self::Once => 1,
        }
    }
}

/// The rows: their names with a window and without, what is sent, and how many threads read.
pub(super) const ROWS: [([&str; 2], Shape, usize); 7] = [
    (["stream.rate16", "stream.rate16.no_window"], Shape::Lanes(16), 8),
    (["stream.rate16.4", "stream.rate16.4.no_window"], Shape::Lanes(16), 4),
    (["stream.rate64", "stream.rate64.no_window"], Shape::Four, 8),
    (["stream.rate8", "stream.rate8.no_window"], Shape::Lanes(8), 8),
    (["stream.rate4", "stream.rate4.no_window"], Shape::Lanes(4), 8),
    (["stream.once", "stream.once.no_window"], Shape::Once, 8),
    (["stream.alone", "stream.alone.no_window"], Shape::Alone, 8),
];

/// Sums up the units of all messages, in 32 bits: what is measured is to read them.
#[derive(Clone, Copy, Debug)]
struct Sum;

impl<M: Message> Handler<M> for Sum {
    type State = u64;

    fn fold(&self, sum: &mut u64, batch: &Batch<'_, M>) -> Flow {
        // SAFETY: a message's size is a multiple of 4, it is plain, and batches are aligned to 16.
        let units = unsafe { std::slice::from_raw_parts(batch.values().as_ptr().cast::<u32>(), size_of_val(batch.values()) / 4) };
        *sum = sum.wrapping_add(units.iter().fold(0u32, |sum, unit| sum.wrapping_add(*unit)).into());
        Flow::Next
    }

    fn merge(&self, into: &mut u64, from: &u64) {
        *into = into.wrapping_add(*from);
    }

    fn report(&self, _: &u64) -> Report {
        Report::default()
    }
}

/// The kernels' program with somebody who receives its messages.
struct Receiver<'a> {
    rig: &'a Rig,
    streams: Streams,
}

impl<'a> Receiver<'a> {
    fn new(rig: &'a Rig, threads: usize, window: bool) -> Result<Self, Error> {
        if window {
            rig.window.as_ref().map_err(|why| Error::NoWindow(why.clone()))?;
        }
        Self::of(rig, Streams::builder().threads(threads).window(window).on::<Message16, _>(Sum))
    }

    /// With these streams, and those of smaller messages.
    fn of(rig: &'a Rig, builder: StreamsBuilder) -> Result<Self, Error> {
        let streams = builder.on::<Message4, _>(Sum).on::<Message8, _>(Sum).start(&rig.device)?;
        streams.attach(&rig.program)?;
        Ok(Self { rig, streams })
    }

    fn sum(&self) -> u64 {
        let sums = [self.streams.state::<Message4, Sum>(), self.streams.state::<Message8, Sum>(), self.streams.state::<Message16, Sum>()];
        sums.into_iter().flatten().fold(0, u64::wrapping_add)
    }

    /// Runs a kernel, checks that what it sent is what was received, and says what its lanes wrote and how long it
    /// took.
    fn run(&self, kernel: &str, launch: Launch, args: Args) -> Result<(Duration, Vec<[u64; 2]>), Error> {
        let lanes = launch.group_count() * launch.group_threads();
        let out = self.rig.zeroed::<[u64; 2]>(lanes as usize)?;
        self.streams.clear();
        let took = self.rig.run(kernel, launch, args.slice(&out), || {
            self.streams.wait(&self.rig.queue)?;
            Ok(())
        })?;
        let out = self.rig.queue.read(&out)?;
        let sent = out.iter().fold(0, |sum: u64, lane| sum.wrapping_add(lane[0]));
        Error::unless_all(format!("sums of `{kernel}`"), u64::from(self.sum() as u32 == sent as u32), 1)?;
        Ok((took, out))
    }
}

/// What a plain kernel's stores reach, measured once in a run.
#[derive(Debug, Default)]
pub(super) struct Bus(OnceCell<f64>);

impl Bus {
    fn gb_s(&self, rig: &Rig) -> Result<f64, Error> {
        if let Some(known) = self.0.get() {
            return Ok(*known);
        }
        let measured = bulk::bus(rig, Way::ToHost, rig.scale.bulk_bytes)?;
        Ok(*self.0.get_or_init(|| measured))
    }
}

/// Messages a second of all waves.
fn rate(rig: &Rig, shape: Shape, threads: usize, window: bool) -> Result<f64, Error> {
    let receiver = Receiver::new(rig, threads, window)?;
    let waves = rig.all_waves();
    let sample = |each: u32| -> Result<Duration, Error> { Ok(receiver.run(shape.kernel(), rig.waves(waves), Args::new().value(each))?.0) };
    let each = rig.calibrate(sample)?;
    median(rig.scale.samples, || Ok(f64::from(waves) * f64::from(each) / sample(each)?.as_secs_f64()))
}

/// Measures one row of all waves.
pub(super) fn row(rig: &Rig, name: &'static str, shape: Shape, threads: usize, window: bool, bus: &Bus) -> Result<Row, Error> {
    let threads = rig.threads(threads)?;
    let (waves, wave) = (rig.all_waves(), rig.device.info().wave_size);
    let messages = rate(rig, shape, threads, window)?;
    let (bus, ring) = (bus.gb_s(rig)?, shape.ring_bytes(wave));
    let note = format!(
        "{waves} waves, {:.1} M messages/s of {ring} B, {threads} reader(s); bus {bus:.2} GB/s{}",
        messages / 1e6,
        rig.registers(shape.kernel())?
    );
    let rate = messages * f64::from(shape.values(wave));
    Ok(Row { name, figure: Figure::PerS(rate), ratio: messages * f64::from(ring) / 1e9 / bus, against: Against::Bus, note })
}

/// Microseconds that a message of so many lanes costs a wave alone.
fn issue_us(rig: &Rig, receiver: &Receiver<'_>, lanes: u32) -> Result<f64, Error> {
    let (warm, each) = (rig.scale.calls / 10, rig.scale.calls);
    median(rig.scale.latency_samples, || {
        let wave = Launch::linear(1, lanes);
        let (_, out) = receiver.run("stream_issue", wave, Args::new().value(warm).value(each))?;
        Ok(out[0][1] as f64 / 1e3 / f64::from(each))
    })
}

/// The rows of gates: what it costs to ask whether a message is wanted, while all are and while none is.
pub(super) fn gate(rig: &Rig, name: &'static str, wanted: bool) -> Result<Row, Error> {
    let threads = rig.threads(4)?;
    let lanes = rig.device.info().wave_size;
    let live = |filter| Receiver::of(rig, Streams::builder().threads(threads).filter::<Message16>(filter).on::<Message16, _>(Sum));
    let (live, without, what) = if wanted {
        let live = issue_us(rig, &live(Filter::all())?, lanes)?;
        (
            live,
            issue_us(rig, &Receiver::of(rig, Streams::builder().threads(threads).on::<Message16, _>(Sum))?, lanes)?,
            "sends without asking",
        )
    } else {
        let live = issue_us(rig, &live(Filter::none())?, lanes)?;
        (live, issue_us(rig, &Receiver::of(rig, Streams::builder().threads(threads))?, lanes)?, "has nobody who listens")
    };
    let [live_ns, without_ns] = [live, without].map(|us| us * 1e3);
    let note = format!("{live_ns:.1} ns a message of a wave alone, {without_ns:.1} ns where it {what}");
    Ok(Row { name, figure: Figure::Ns(live_ns - without_ns), ratio: 1.0, against: Against::Itself, note })
}

/// The row `stream.issue`: what a message of all lanes costs a wave alone.
pub(super) fn issue(rig: &Rig, window: bool, name: &'static str, floor_us: f64) -> Result<Row, Error> {
    let us = issue_us(rig, &Receiver::new(rig, rig.threads(4)?, window)?, rig.device.info().wave_size)?;
    let each = rig.scale.calls;
    let note = format!(
        "median of {} x {each} messages of all lanes, 16 B each, in a row{}; {} in the same kernel that sends nothing",
        rig.scale.latency_samples,
        rig.registers("stream_16")?,
        rig.registers("stream_none")?.trim_start_matches(", ")
    );
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

/// The row `stream.drop`: what a message costs the device for which there is no room.
pub(super) fn dropped(rig: &Rig, name: &'static str) -> Result<Row, Error> {
    let streams = Streams::builder().threads(1).policy::<Message16>(Policy::Drop).on::<Message16, _>(Slow);
    let streams = streams.start(&rig.device)?;
    streams.attach(&rig.program)?;
    let (waves, each) = (rig.all_waves(), if rig.is_sim() { 50u32 } else { 2000 });
    let launch = rig.waves(waves);
    let lanes = launch.group_count() * launch.group_threads();
    let mut share = 0.0;
    let ns = median(rig.scale.samples, || {
        let out = rig.zeroed::<[u64; 2]>(lanes as usize)?;
        let before = streams.wait(&rig.queue)?;
        let took = rig.run("stream_16", launch, Args::new().value(each).slice(&out), || Ok(rig.queue.synchronize()?))?;
        let after = streams.wait(&rig.queue)?;
        let count = |summary: &hostcall_stream::Summary| summary.stream("Message16").map_or((0u64, 0u64), |s| (s.messages, s.dropped));
        let (received, dropped) = (count(&after).0 - count(&before).0, count(&after).1 - count(&before).1);
        Error::unless_all("messages received or dropped", received + dropped, u64::from(waves) * u64::from(each))?;
        share = dropped as f64 / (received + dropped) as f64;
        Ok(took.as_secs_f64() * 1e9 / (dropped.max(1)) as f64)
    })?;
    let note = format!("{waves} waves, a reader that sleeps; {:.1} % of the messages dropped", share * 100.0);
    Ok(Row { name, figure: Figure::Ns(ns), ratio: 1.0, against: Against::Itself, note })
}

/// Hardly ever takes a batch.
struct Slow;

impl Handler<Message16> for Slow {
    type State = ();
    fn fold(&self, (): &mut (), _: &Batch<'_, Message16>) -> Flow {
        std::thread::sleep(Duration::from_millis(1));
        Flow::Next
    }
    fn merge(&self, (): &mut (), (): &()) {}
    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_shapes_are_received_as_they_were_sent() {
        let rig = super::super::rig::tests::small();
        let bus = Bus::default();
        for (names, shape, _) in ROWS {
            for (name, window) in names.into_iter().zip([true, false]) {
                assert!(row(&rig, name, shape, 2, window, &bus).unwrap().figure.number() > 0.0);
            }
        }
        assert!(issue(&rig, false, "stream.issue", 1.0).unwrap().figure.number() > 0.0);
        dropped(&rig, "stream.drop").unwrap();
        for wanted in [true, false] {
            gate(&rig, "stream.gate", wanted).unwrap();
        }
    }

    #[test]
    fn a_kernel_that_computes_sends_what_is_received_and_the_form_of_dh_comms_likewise() {
        let rig = super::super::rig::tests::small();
        let bus = Bus::default();
        for (name, policy, window) in PRICES {
            assert!(price(&rig, name, policy, window, &bus).unwrap().ratio > 0.0);
        }
        assert!(off(&rig, OFF).unwrap().ratio > 0.0);
        assert!(latency(&rig, "stream.latency", 1.0).unwrap().figure.number() > 0.0);
        assert!(dh_comms(&rig, "stream.dh_comms").unwrap().ratio > 0.0);
        assert!(parts(&rig, "stream.parts", 1.0).unwrap().figure.number() > 0.0);
    }
}

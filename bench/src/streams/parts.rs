//! What a message of a wave alone consists of: each part by itself, as the kernel `stream_parts` does it.

use bench_services::Message16;
use hostcall_stream::{Filter, Policy, Streams};
use offload::{Args, HostMemory, Launch, Line, Memory};

use super::{Receiver, Sum, issue_us};
use crate::error::Error;
use crate::report::{Against, Figure, Row};
use crate::rig::{Rig, median};

/// The parts' bits, as the kernel has them.
const PARTS: [(&str, u32); 11] = [
    ("head", 1),
    ("credit", 2),
    ("clock", 4),
    ("ballots", 8),
    ("stores", 16),
    ("head, credit", 3),
    ("head, stores where it says", 1 | 16 | 32),
    ("gate", 64),
    ("gate's dice", 128),
    ("gate past the L1", 256),
    ("all but the gate", 63),
];

/// What the kernel works on.
struct Bench<'a> {
    rig: &'a Rig,
    head: Memory<u32>,
    gate: Memory<u32>,
    ring: HostMemory<u32>,
}

impl Bench<'_> {
    /// Nanoseconds of the parts, each time.
    fn ns(&self, what: u32, credit: u64) -> Result<f64, Error> {
        let rig = self.rig;
        let (warm, each) = (rig.scale.calls / 10, rig.scale.calls);
        let wave = rig.device.info().wave_size;
        median(rig.scale.latency_samples, || {
            let out = rig.zeroed::<[u64; 2]>(wave as usize)?;
            let args = Args::new().value(what).value(warm).value(each).address(self.head.address()).address(credit);
            let args = args.address(self.gate.address()).address(self.ring.address()).slice(&out);
            rig.run("stream_parts", Launch::linear(1, wave), args, || Ok(rig.queue.synchronize()?))?;
            Ok(rig.queue.read(&out)?[0][1] as f64 / f64::from(each))
        })
    }
}

/// Measures the row.
pub(crate) fn row(rig: &Rig, name: &'static str, floor_us: f64) -> Result<Row, Error> {
    let bench = Bench { rig, head: rig.zeroed(16)?, gate: rig.zeroed(16)?, ring: rig.device.alloc_host((512 << 10) / 4)? };
    let credit = rig.zeroed::<u64>(16)?;
    let window = rig.device.window(Line::BYTES);
    let own = bench.ns(0, credit.address())?;
    let mut all = Vec::new();
    for (part, what) in PARTS {
        all.push(format!("{part} {:.0}", bench.ns(what, credit.address())? - own));
        if let (Ok(window), true) = (&window, what & 2 != 0) {
            all.push(format!("{part} (in a window) {:.0}", bench.ns(what, window.address())? - own));
        }
    }
    let lanes = rig.device.info().wave_size;
    let issued = |builder: hostcall_stream::StreamsBuilder, lanes: u32| -> Result<f64, Error> {
        Ok(issue_us(rig, &Receiver::of(rig, builder.threads(rig.threads(4)?).on::<Message16, _>(Sum))?, lanes)? * 1e3)
    };
    let whole = |builder| issued(builder, lanes);
    let us = whole(Streams::builder())? / 1e3;
    for (what, builder) in [
        ("a message without its time", Streams::builder().timed::<Message16>(false)),
        ("that may be dropped", Streams::builder().policy::<Message16>(Policy::Drop)),
        ("without a window", Streams::builder().window(false)),
        ("that asks", Streams::builder().filter::<Message16>(Filter::all())),
    ] {
        all.push(format!("{what} {:.0}", whole(builder)?));
    }
    for (what, lanes) in [("of one lane", 1), ("of all lanes but one", lanes - 1)] {
        all.push(format!("{what} {:.0}", issued(Streams::builder(), lanes)?));
    }
    let note = format!("ns, each part by itself, in a loop of {own:.0}: {}", all.join("; "));
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

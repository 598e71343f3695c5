//! What messages cost a kernel that has something else to do: a product of matrices, of which each wave sends pieces.
//!
//! The same kernel runs with its stream on and off, in turns, so that what else the machine does falls on both.

use std::time::Duration;

use bench_services::Message16;
use hostcall_stream::{Policy, Streams};
use offload::{Args, Memory};

use super::{Bus, Receiver, Shape, Sum};
use crate::error::Error;
use crate::report::{Against, Figure, Row};
use crate::rig::{Rig, middle};

/// The rows: their names, what messages do without room, and whether with a window.
pub(crate) const PRICES: [(&str, Policy, bool); 3] =
    [("stream.cost", Policy::Block, true), ("stream.cost.no_window", Policy::Block, false), ("stream.cost.drop", Policy::Drop, true)];

/// The row of a stream to which nobody listens.
pub(crate) const OFF: &str = "stream.off";

/// Rows of the left matrix, which is a column; the right one has 32 columns.
const ROWS: usize = 256;

/// The matrices, and how much is to be done.
struct Product<'a> {
    rig: &'a Rig,
    left: Memory<f32>,
    right: Memory<f32>,
    each: u32,
}

/// Runs of one kind, and of the other.
struct Turns {
    silent: f64,
    sending: f64,
}

impl<'a> Product<'a> {
    fn new(rig: &'a Rig) -> Result<Self, Error> {
        let (left, right) = (rig.device.alloc::<f32>(ROWS)?, rig.device.alloc::<f32>(32 * ROWS)?);
        rig.queue.copy_to(&left, 0, &(0..ROWS).map(|i| (i % 17) as f32 - 8.0).collect::<Vec<_>>())?;
        rig.queue.copy_to(&right, 0, &(0..32 * ROWS).map(|i| (i % 23) as f32 - 11.0).collect::<Vec<_>>())?;
        Ok(Self { rig, left, right, each: if rig.is_sim() { 20 } else { 200 } })
    }

    fn args(&self, steps: u32) -> Args {
        Args::new().value(self.each).value(steps).slice(&self.left).slice(&self.right)
    }

    /// How long `kernel` takes while nobody listens.
    fn silent(&self, kernel: &str, threads: usize, steps: u32) -> Result<Duration, Error> {
        let nobody = Receiver::of(self.rig, Streams::builder().threads(threads))?;
        Ok(nobody.run(kernel, self.rig.waves(self.rig.all_waves()), self.args(steps))?.0)
    }

    /// So many steps that the kernel takes about `target` while it sends nothing.
    fn steps(&self, threads: usize, target: Duration) -> Result<u32, Error> {
        let mut steps = 64u32;
        for _ in 0..8 {
            let took = self.silent("stream_cost", threads, steps)?;
            let factor = target.as_secs_f64() / took.as_secs_f64().max(1e-9);
            if (0.97..1.03).contains(&factor) {
                break;
            }
            steps = ((f64::from(steps) * factor.clamp(0.1, 10.0)) as u32).clamp(4, 1 << 20) / 4 * 4;
        }
        Ok(steps)
    }

    /// Takes turns; medians of both, in seconds.
    fn turns(
        &self,
        mut silent: impl FnMut() -> Result<Duration, Error>,
        mut sending: impl FnMut() -> Result<Duration, Error>,
    ) -> Result<Turns, Error> {
        let (mut quiet, mut loud) = (Vec::new(), Vec::new());
        for _ in 0..self.rig.scale.samples {
            quiet.push(silent()?.as_secs_f64());
            loud.push(sending()?.as_secs_f64());
        }
        Ok(Turns { silent: middle(quiet), sending: middle(loud) })
    }
}

/// Measures one row: messages that take half of the bus's rate.
pub(crate) fn price(rig: &Rig, name: &'static str, policy: Policy, window: bool, bus: &Bus) -> Result<Row, Error> {
    if window && policy == Policy::Block {
        rig.window.as_ref().map_err(|why| Error::NoWindow(why.clone()))?;
    }
    let threads = rig.threads(8)?;
    let (bus, product) = (bus.gb_s(rig)?, Product::new(rig)?);
    let (waves, ring) = (rig.all_waves(), Shape::Lanes(16).ring_bytes(rig.device.info().wave_size));
    let bytes = f64::from(waves) * f64::from(product.each) * f64::from(ring);
    let steps = product.steps(threads, Duration::from_secs_f64(bytes / (bus * 0.5e9)))?;
    let mut dropped = 0;
    let Turns { silent, sending } = product.turns(
        || product.silent("stream_cost", threads, steps),
        || {
            let builder = Streams::builder().threads(threads).window(window).policy::<Message16>(policy).on::<Message16, _>(Sum);
            let receiver = Receiver::of(rig, builder)?;
            let (took, out) = receiver.run("stream_cost", rig.waves(waves), product.args(steps))?;
            let lost: u64 = out.iter().map(|lane| lane[1]).sum();
            if policy == Policy::Block {
                let complete = out.iter().filter(|lane| lane[1] == 0).count() as u64;
                Error::unless_all("lanes of `stream_cost` all of whose messages were sent", complete, out.len() as u64)?;
            }
            dropped += lost;
            Ok(took)
        },
    )?;
    let all = rig.scale.samples as f64 * f64::from(waves) * f64::from(product.each) * f64::from(rig.device.info().wave_size);
    let lost = if policy == Policy::Block { String::new() } else { format!("; {:.2} % dropped", dropped as f64 / all * 100.0) };
    let note = format!(
        "medians of {} turns: {:.3} ms, silent {:.3} ms, in which the messages would be {:.2} of the bus ({bus:.2} GB/s); {steps} steps each, {threads} \
         reader(s){lost}{}",
        rig.scale.samples,
        sending * 1e3,
        silent * 1e3,
        bytes / silent / 1e9 / bus,
        rig.registers("stream_cost")?
    );
    Ok(Row { name, figure: Figure::GbS(bytes / sending / 1e9), ratio: sending / silent, against: Against::Silent, note })
}

/// The row of a stream to which nobody listens: against the same kernel without a message in it, and one whose messages
/// are never reached.
pub(crate) fn off(rig: &Rig, name: &'static str) -> Result<Row, Error> {
    const KERNELS: [&str; 3] = ["stream_cost", "stream_cost_never", "stream_cost_none"];
    let (threads, product) = (rig.threads(1)?, Product::new(rig)?);
    let steps = product.steps(threads, rig.scale.sample / 10)?;
    let mut took = [const { Vec::new() }; 3];
    for _ in 0..rig.scale.samples {
        for (took, kernel) in took.iter_mut().zip(KERNELS) {
            took.push(product.silent(kernel, threads, steps)?.as_secs_f64());
        }
    }
    let [silent, never, none] = took.map(middle);
    let note = format!(
        "medians of {} turns: {:.3} ms{}, without it {:.3} ms{}, with messages that are never reached {:.3} ms ({:.3}x){}; {steps} steps each",
        rig.scale.samples,
        silent * 1e3,
        rig.registers(KERNELS[0])?,
        none * 1e3,
        rig.registers(KERNELS[2])?,
        never * 1e3,
        never / none,
        rig.registers(KERNELS[1])?
    );
    let each = f64::from(product.each);
    Ok(Row { name, figure: Figure::Ns((silent - none) * 1e9 / each), ratio: silent / none, against: Against::Silent, note })
}

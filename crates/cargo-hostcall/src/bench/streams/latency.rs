//! How long a message is under way: from a kernel to its handler and, by a word in host memory that the handler writes, back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bench_services::Message16;
use hostcall_stream::{Batch, Flow, Handler, Report, Streams};
use offload::{Args, HostMemory, Launch};

use crate::bench::error::Error;
use crate::bench::report::{Against, Figure, Row};
use crate::bench::rig::{Rig, middle};

/// Writes the number of the last message into a word that the kernel looks at.
struct Echo(Arc<HostMemory<u32>>);

impl Handler<Message16> for Echo {
    type State = ();

    fn fold(&self, (): &mut (), batch: &Batch<'_, Message16>) -> Flow {
        if let Some(last) = batch.values().last() {
            // SAFETY: the memory has a word, which both sides access atomically.
            let word = unsafe { AtomicU32::from_ptr(self.0.as_ptr()) };
            // Relaxed: the number is all there is to say. Pairs with the kernel's load.
            word.store(last.units[0], Ordering::Relaxed);
        }
        Flow::Next
    }

    fn merge(&self, (): &mut (), (): &()) {}

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

/// Measures the row. As the floor, on several threads, with memory of their own.
pub(in crate::bench) fn row(rig: &Rig, name: &'static str, floor_us: f64) -> Result<Row, Error> {
    let (warm, trips, threads) = (rig.scale.calls / 10, rig.scale.calls, rig.threads(if rig.is_sim() { 1 } else { 4 })?);
    let mut all = Vec::new();
    for _ in 0..rig.scale.hosts {
        let word = Arc::new(rig.device.alloc_host::<u32>(1024)?);
        let streams = Streams::builder().threads(threads).on::<Message16, _>(Echo(word.clone())).start(&rig.device)?;
        streams.attach(&rig.program)?;
        for _ in 0..rig.scale.latency_samples {
            word.write(0, &[0])?;
            let out = rig.zeroed::<[u64; 2]>(1)?;
            let args = Args::new().value(warm).value(trips).address(word.address()).slice(&out);
            rig.run("stream_latency", Launch::linear(1, 1), args, || {
                streams.wait(&rig.queue)?;
                Ok(())
            })?;
            let [ns, answered] = rig.queue.read(&out)?[0];
            Error::unless_all("messages of `stream_latency` that were answered", answered, u64::from(warm + trips))?;
            all.push(ns as f64 / 1e3 / f64::from(trips));
        }
    }
    let us = middle(all);
    let note = format!(
        "median of {} x {} x {trips} messages of one lane to a handler, which answers by a word in host memory; {threads} reader(s)",
        rig.scale.hosts, rig.scale.latency_samples
    );
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

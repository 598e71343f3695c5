//! How long a message is under way: from a kernel to its handler and, by a word in host memory that the handler writes, back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bench_services::Message16;
use hostcall_stream::{Batch, Flow, Handler, Report, Streams};
use offload::{Args, HostMemory, Launch};

use crate::bench::error::Error;
use crate::bench::report::{Against, Figure, Row};
use crate::bench::rig::{Rig, middle};

/// Writes the number of the last message into a word that the kernel looks at.
struct Echo {
    word: Arc<HostMemory<u32>>,
    /// When it was called, for each of them.
    handled: Option<Arc<Mutex<Vec<(u32, Instant)>>>>,
}

impl Handler<Message16> for Echo {
    type State = ();

    fn fold(&self, (): &mut (), batch: &Batch<'_, Message16>) -> Flow {
        if let Some(last) = batch.values().last() {
            if let Some(handled) = &self.handled {
                handled.lock().unwrap_or_else(PoisonError::into_inner).push((last.units[0], Instant::now()));
            }
            // SAFETY: the memory has a word, which both sides access atomically.
            let word = unsafe { AtomicU32::from_ptr(self.word.as_ptr()) };
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

/// When a thread that looks at a word saw each number in it.
fn seen_in(word: Arc<HostMemory<u32>>, numbers: u32, over: &AtomicBool) -> Vec<(u32, Instant)> {
    let (mut seen, mut last) = (Vec::new(), 0);
    while last != numbers && !over.load(Ordering::Relaxed) {
        // SAFETY: the memory has a word, which the kernel writes. Relaxed, as `over`: what is seen is all there is to say.
        let now = unsafe { AtomicU32::from_ptr(word.as_ptr()) }.load(Ordering::Relaxed);
        if now != last {
            seen.push((now, Instant::now()));
            last = now;
        }
        std::hint::spin_loop();
    }
    seen
}

/// The parts of a trip, in microseconds: until the message is sent, and from when it has come to when its handler is called.
fn parts(rig: &Rig, threads: usize) -> Result<[f64; 2], Error> {
    let (warm, trips) = (rig.scale.calls / 10, rig.scale.calls);
    let [word, behind] = [rig.device.alloc_host::<u32>(1024)?, rig.device.alloc_host::<u32>(1024)?].map(Arc::new);
    [&word, &behind].iter().try_for_each(|word| word.write(0, &[0]))?;
    let handled = Arc::new(Mutex::new(Vec::new()));
    let echo = Echo { word: word.clone(), handled: Some(handled.clone()) };
    let streams = Streams::builder().threads(threads).on::<Message16, _>(echo).start(&rig.device)?;
    streams.attach(&rig.program)?;
    let out = rig.zeroed::<[u64; 2]>(1)?;
    let args = Args::new().value(warm).value(trips).address(word.address()).address(behind.address()).slice(&out);
    let over = AtomicBool::new(false);
    let come = std::thread::scope(|scope| {
        let come = scope.spawn(|| seen_in(behind, warm + trips, &over));
        let ran = rig.run("stream_latency_parts", Launch::linear(1, 1), args, || Ok(streams.wait(&rig.queue).map(drop)?));
        // Relaxed: the thread has seen all, or is told to end.
        over.store(true, Ordering::Relaxed);
        let come = come.join().unwrap_or_default();
        ran.map(|_| come)
    })?;
    let [sending, answered] = rig.queue.read(&out)?[0];
    Error::unless_all("messages of `stream_latency_parts` that were answered", answered, u64::from(warm + trips))?;
    let handled: HashMap<u32, Instant> = handled.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
    let behind = |(number, come): &(u32, Instant)| {
        let handled = handled.get(number)?;
        // The thread that looks may see the word after the handler has seen the message.
        Some(handled.saturating_duration_since(*come).as_secs_f64() * 1e6)
    };
    let waited: Vec<f64> = come.iter().filter(|(number, _)| *number > warm).filter_map(behind).collect();
    let waited = if waited.is_empty() { 0.0 } else { middle(waited) };
    Ok([sending as f64 / 1e3 / f64::from(trips), waited])
}

/// Measures the row. As the floor, on several threads, with memory of their own.
pub(in crate::bench) fn row(rig: &Rig, name: &'static str, floor_us: f64) -> Result<Row, Error> {
    let (warm, trips, threads) = (rig.scale.calls / 10, rig.scale.calls, rig.threads(if rig.is_sim() { 1 } else { 4 })?);
    let mut all = Vec::new();
    for _ in 0..rig.scale.hosts {
        let word = Arc::new(rig.device.alloc_host::<u32>(1024)?);
        let streams =
            Streams::builder().threads(threads).on::<Message16, _>(Echo { word: word.clone(), handled: None }).start(&rig.device)?;
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
    let [sending, waiting] = parts(rig, threads)?;
    let note = format!(
        "median of {} x {} x {trips} messages of one lane to a handler, which answers by a word in host memory; {threads} reader(s); in another run \
         {sending:.2} us until it is sent, and {waiting:.2} us from a word that comes behind it to the handler",
        rig.scale.hosts, rig.scale.latency_samples
    );
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

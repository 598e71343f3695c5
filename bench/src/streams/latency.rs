//! How long a message is under way: from a kernel to its handler and, by a word in host memory that the handler writes,
//! back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bench_services::Message16;
use hostcall_stream::{Batch, Flow, Handler, Report, Streams};
use offload::{Args, HostMemory, Launch};

use crate::error::Error;
use crate::report::{Against, Figure, Row};
use crate::rig::{Rig, middle};

/// Numbers, and when each was seen.
type Seen = Vec<(u32, Instant)>;

/// Writes the number of the last message into a word that the kernel looks at.
struct Echo {
    word: Arc<HostMemory<u32>>,
    /// When it was called, for each of them.
    handled: Option<Arc<Mutex<Seen>>>,
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

/// Parts of a trip, as `stream_latency_parts` does them, in microseconds.
struct Parts {
    /// Until a message is sent.
    sending: f64,
    /// The same where the wave has not waited for an answer before, but as long.
    after_pause: f64,
    /// Until an answer comes, from when it is sent.
    answer: f64,
    /// The same of a word alone, which a thread answers that looks at nothing else.
    answer_to_word: f64,
    /// From when a word has come that is written behind the message to when its handler is called.
    handler: f64,
}

/// A thread that looks at the word behind messages.
struct Looker<'a> {
    behind: &'a HostMemory<u32>,
    /// Where it answers.
    answers: Option<&'a HostMemory<u32>>,
    over: AtomicBool,
}

impl Looker<'_> {
    /// When it saw each number.
    fn run(&self) -> Seen {
        let (mut seen, mut last) = (Vec::new(), 0);
        // Relaxed, here and below: a number is all there is to say.
        while !self.over.load(Ordering::Relaxed) {
            // SAFETY: the memory has a word, which both sides access atomically.
            let now = unsafe { AtomicU32::from_ptr(self.behind.as_ptr()) }.load(Ordering::Relaxed);
            if now != last {
                if let Some(answers) = self.answers {
                    // SAFETY: as above.
                    unsafe { AtomicU32::from_ptr(answers.as_ptr()) }.store(now, Ordering::Relaxed);
                }
                seen.push((now, Instant::now()));
                last = now;
            }
            std::hint::spin_loop();
        }
        seen
    }
}

impl Parts {
    fn measure(rig: &Rig, threads: usize) -> Result<Self, Error> {
        let handled = Arc::new(Mutex::new(Vec::new()));
        let word = Arc::new(rig.device.alloc_host::<u32>(1024)?);
        let echo = Echo { word: word.clone(), handled: Some(handled.clone()) };
        let streams = Streams::builder().threads(threads).on::<Message16, _>(echo).start(&rig.device)?;
        streams.attach(&rig.program)?;
        let (sending, whole, seen) = Self::run(rig, &streams, &word, 0, 0)?;
        let handled: HashMap<u32, Instant> = handled.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        // The thread may see the word after the handler has seen the message.
        let behind = |(number, seen): &(u32, Instant)| Some(handled.get(number)?.saturating_duration_since(*seen).as_secs_f64() * 1e6);
        let handler: Vec<f64> = seen.iter().filter_map(behind).collect();
        let (_, answer_to_word, _) = Self::run(rig, &streams, &word, 1, 0)?;
        let (after_pause, ..) = Self::run(rig, &streams, &word, 2, ((whole - sending) * 1e3) as u32)?;
        let handler = if handler.is_empty() { 0.0 } else { middle(handler) };
        Ok(Self { sending, after_pause, answer: whole - sending, answer_to_word, handler })
    }

    /// Microseconds that a message took to be sent, and that a trip took, and when the word behind each was seen.
    fn run(rig: &Rig, streams: &Streams, word: &HostMemory<u32>, what: u32, pause: u32) -> Result<(f64, f64, Seen), Error> {
        let (warm, trips) = (rig.scale.calls / 10, rig.scale.calls);
        let behind = rig.device.alloc_host::<u32>(1024)?;
        [word, &behind].iter().try_for_each(|word| word.write(0, &[0]))?;
        let out = rig.zeroed::<[u64; 2]>(2)?;
        let args = Args::new().value(what).value(pause).value(warm).value(trips);
        let args = args.address(word.address()).address(behind.address()).slice(&out);
        let looker = Looker { behind: &behind, answers: (what == 1).then_some(word), over: AtomicBool::new(false) };
        let seen = std::thread::scope(|scope| {
            let seen = scope.spawn(|| looker.run());
            let ran = rig.run("stream_latency_parts", Launch::linear(1, 1), args, || Ok(streams.wait(&rig.queue).map(drop)?));
            looker.over.store(true, Ordering::Relaxed);
            let seen = seen.join().unwrap_or_default();
            ran.map(|_| seen)
        })?;
        let [[sending, whole], [answered, _]] = rig.queue.read(&out)?[..] else { return Ok((0.0, 0.0, seen)) };
        Error::unless_all("messages of `stream_latency_parts` that were answered", answered, u64::from(warm + trips))?;
        let us = |ns: u64| ns as f64 / 1e3 / f64::from(trips);
        Ok((us(sending), us(whole), seen))
    }
}

/// Measures the row. As the floor, on several threads, with memory of their own.
pub(crate) fn row(rig: &Rig, name: &'static str, floor_us: f64) -> Result<Row, Error> {
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
    let Parts { sending, after_pause, answer, answer_to_word, handler } = Parts::measure(rig, threads)?;
    let note = format!(
        "median of {} x {} x {trips} messages of one lane to a handler, which answers by a word in host memory; {threads} reader(s); in another run \
         {sending:.2} us until a message is sent ({after_pause:.2} if the wave has slept as long before), {answer:.2} from then to the answer ({answer_to_word:.2} \
         to a word alone), of which {handler:.2} are between a word that comes behind the message and the handler",
        rig.scale.hosts, rig.scale.latency_samples
    );
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

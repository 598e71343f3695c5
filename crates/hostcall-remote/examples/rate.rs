//! What a remote call costs: the time of one beside a bare request of `async-nats`, and how many go through in batches.
//!
//! `nats-server -a 127.0.0.1 -p 4222 &`, then `cargo run --release -p hostcall-remote --example rate --
//! nats://127.0.0.1:4222`. Without an address it is measured within the process. Caller and worker are two connections
//! of one process.

use std::error::Error;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hostcall::detached::{Message, Runner};
use hostcall_remote::{CallOptions, Connector, Worker, local, nats};

#[hostcall::service]
pub(crate) trait Host {
    fn scale(x: f32) -> f32;
    fn mix(state: [u32; 16]) -> u32;
}

/// Calls that are timed one by one, in blocks.
const BLOCK: usize = 500;
const BLOCKS: usize = 40;
/// Lanes of a batch, in messages of a wave each.
const LANES: usize = 3200;
const WAVE: usize = 32;
/// Lanes that call in all, and batches that are under way at once.
const ALL: usize = 16_000_000;
const AT_ONCE: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let place = address.as_ref().map_or_else(local, nats);
    let scale = host::scale_batch(|calls| calls.answer(|(x,)| 2.0 * x));
    let mix = host::mix_batch(|calls| calls.answer(|(state,)| state.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))));
    let worker = Worker::on(place.clone()).service(scale).service(mix).start()?;
    println!("{worker}");
    let bare = address.as_deref().map(Bare::start).transpose()?;
    one_by_one(&place, bare.as_ref())?;
    drop(bare);
    batches(&place, "4 bytes there, 4 back", host::definition::scale(), 1)?;
    batches(&place, "64 bytes there, 4 back", host::definition::mix(), 16)
}

fn percentiles(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// A client that asks another one, with nothing of ours between. Each has a runtime of its own, as two processes would.
struct Bare {
    runtime: tokio::runtime::Runtime,
    asks: async_nats::Client,
    _answers: tokio::runtime::Runtime,
}

impl Bare {
    fn start(address: &str) -> Result<Self, Box<dyn Error>> {
        let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let (runtime, answers) = (runtime()?, runtime()?);
        let there = answers.handle().clone();
        let asks = runtime.block_on(async {
            let (asks, address) = (async_nats::connect(address).await?, address.to_owned());
            there.spawn(async move {
                let answers = async_nats::connect(&address).await?;
                let mut requests = answers.subscribe("bare").await?;
                while let Some(request) = futures_util::StreamExt::next(&mut requests).await {
                    if let Some(reply) = request.reply {
                        answers.publish(reply, request.payload).await?;
                    }
                }
                Ok::<_, async_nats::Error>(())
            });
            // Until the server knows the subscription.
            while asks.request("bare", bytes::Bytes::new()).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Ok::<_, async_nats::Error>(asks)
        });
        Ok(Self { asks: asks.map_err(|error| error.to_string())?, runtime, _answers: answers })
    }

    fn time(&self, times: &mut Vec<Duration>) -> Result<(), Box<dyn Error>> {
        let asked = self.runtime.block_on(async {
            for _ in 0..BLOCK {
                let start = Instant::now();
                self.asks.request("bare", bytes::Bytes::from_static(&[1; 20])).await?;
                times.push(start.elapsed());
            }
            Ok::<_, async_nats::RequestError>(())
        });
        Ok(asked?)
    }
}

/// A remote service as a server would call it, and a bare request in turns with it: whatever else the machine does, it
/// does to both.
fn one_by_one(place: &Connector, bare: Option<&Bare>) -> Result<(), Box<dyn Error>> {
    let remote = place.clone().connect()?;
    let runner = Runner::new();
    let callable = runner.add(remote.service(host::definition::scale()))?;
    let (mut times, mut others) = (Vec::new(), Vec::new());
    for block in 0..=BLOCKS {
        if block == 1 {
            // The first block warmed both up.
            times.clear();
            others.clear();
        }
        for _ in 0..BLOCK {
            let (give, take) = mpsc::sync_channel(1);
            let start = Instant::now();
            let message = Message { mask: 1, units: vec![1f32.to_bits()], room: 1, ..Message::default() };
            callable.run(message, move |replies| _ = give.send(replies.units))?;
            let units = take.recv()?;
            times.push(start.elapsed());
            assert_eq!(units, [2f32.to_bits()]);
        }
        bare.map(|bare| bare.time(&mut others)).transpose()?;
    }
    let (p50, p99) = percentiles(times);
    println!("a remote call of one lane: p50 {p50:.1?}, p99 {p99:.1?}");
    if bare.is_some() {
        let (bare, p99) = percentiles(others);
        println!("a bare request and reply of 20 bytes by async-nats: p50 {bare:.1?}, p99 {p99:.1?}");
        let over = (p50.as_secs_f64() - bare.as_secs_f64()) * 1e6;
        println!("the remote call's p50 is {over:+.1} µs, {:.2} times the bare request's", p50.as_secs_f64() / bare.as_secs_f64());
    }
    Ok(())
}

fn batches(place: &Connector, what: &str, definition: hostcall::Definition, units: usize) -> Result<(), Box<dyn Error>> {
    let options = CallOptions::new().in_flight(AT_ONCE).timeout(Duration::from_secs(60));
    let remote = place.clone().connect()?;
    let runner = Runner::new();
    let callable = runner.add(remote.service_with(definition, options))?;
    let (give, take) = mpsc::channel();
    let messages = ALL / WAVE;
    let start = Instant::now();
    let (mut started, mut ended, mut longest) = (0, 0, Duration::ZERO);
    while ended < messages {
        while started < messages && started - ended < AT_ONCE * LANES / WAVE {
            let (give, since) = (give.clone(), Instant::now());
            let message = Message { mask: u64::from(u32::MAX), units: vec![1; WAVE * units], room: 1, ..Message::default() };
            callable.run(message, move |replies| _ = give.send((replies.heads.len(), since.elapsed())))?;
            started += 1;
        }
        let (lanes, time) = take.recv()?;
        assert_eq!(lanes, WAVE);
        longest = longest.max(time);
        ended += 1;
    }
    let time = start.elapsed();
    let stats = &remote.stats()[0];
    let rate = ALL as f64 / time.as_secs_f64() / 1e6;
    let lanes = ALL as u64 / stats.requests;
    println!("{what}: {rate:.2} M lane calls/s; {lanes} lanes a request; {} requests, the slowest message {longest:?}", stats.requests);
    Ok(())
}

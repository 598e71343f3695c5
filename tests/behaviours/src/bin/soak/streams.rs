//! Very many messages of streams from all waves, whose filters change while kernels run. Nothing may be lost that is
//! not counted, and nothing changed.
//!
//! A round has streams of its own: rings of the least size or of more, a policy for each stream, a window or none, some
//! readers that are slow, some streams that are live. (The policy `Latest` is none of them: only a type can have it,
//! and nobody can note what others overwrite.) Several launches follow one another, while messages of those before are
//! still being read. The kernels note for each stream which values were sent, the sum of their digests, and which
//! messages were dropped or filtered. At the round's end all of that must be exactly what the host received and
//! counted, stream by stream. What a value says of who sent it must be what its message says, and the messages of each
//! wave must come in the order in which it sent them: see [`taker`].

mod taker;

use std::array::from_fn;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use behaviours_services::soaked::{Note, STREAMS, Soaked};
use behaviours_services::{Big, Numbered, Patient, Sampled, Tiny, mix};
use hostcall_stream::{Filter, Message, Policy, StreamCounts, Streams, StreamsBuilder};
use hostcall_tests::bundle;
use offload::{Args, Device, DeviceKind, Launch};

use self::taker::{Taken, Taker};
use crate::{Cli, interrupted, watch};

/// Launches of a round.
const LAUNCHES: u32 = 3;
/// Threads of a workgroup.
const GROUP: u32 = 64;

/// Numbers by chance, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % sides
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len() as u64) as usize]
    }
}

/// What a round is made with, for one stream.
#[derive(Clone, Copy, Debug)]
struct Plan {
    policy: Policy,
    live: bool,
}

/// What a round is made with.
#[derive(Debug)]
struct Round {
    plans: [Plan; STREAMS],
    memory: usize,
    window: bool,
    threads: usize,
    pause: Duration,
    patience: Duration,
    wave_size: u32,
}

impl Round {
    fn of(dice: &mut Dice, most_threads: usize, default_memory: usize, wave_size: u32) -> Self {
        Self {
            plans: from_fn(|_| Plan { policy: dice.pick(&Policy::CHOICES), live: dice.roll(2) == 0 }),
            // One ring of the least size, some of them, some more, the default.
            memory: dice.pick(&[0, 256 << 10, 4 << 20, default_memory, default_memory]),
            window: dice.roll(2) == 0,
            threads: 1 + dice.roll(most_threads as u64) as usize,
            // A short one fills small rings; while the long one lasts, a bus fills those of the default size.
            pause: Duration::from_micros(dice.pick(&[0, 0, 50, 3000])),
            patience: Duration::from_micros(dice.pick(&[0, 20, 1000])),
            wave_size,
        }
    }

    /// Whether it has one ring, of the least size.
    fn is_narrow(&self) -> bool {
        self.memory == 0
    }
}

/// A filter of any kind. Not every stream may be shut: of lanes that see the shut gate and others that do not, those of
/// a sample cannot say which counted it.
fn filter(dice: &mut Dice, plan: Plan, groups: u32) -> Filter {
    let first = dice.roll(u64::from(groups)) as u32;
    match dice.roll(6) {
        0 if plan.policy != Policy::Sample => Filter::none(),
        1 => Filter::all().groups(first..),
        2 => Filter::all().groups(..=first),
        3 => Filter::all().lanes(mix(dice.roll(u64::MAX))),
        4 => Filter::all().groups(first / 2..).lanes(u64::MAX >> 5).one_in(2),
        5 => Filter::all().one_in(dice.pick(&[2, 16, 512])),
        _ => Filter::all(),
    }
}

/// One of the soak's streams, whatever its type.
struct Kind {
    name: &'static str,
    build: fn(StreamsBuilder, &Round, Option<Filter>) -> StreamsBuilder,
    turn: fn(&Streams, Filter) -> Result<()>,
    taken: fn(&Streams) -> Option<Taken>,
}

fn build<M: Message + Soaked>(builder: StreamsBuilder, round: &Round, filter: Option<Filter>) -> StreamsBuilder {
    let builder = builder.policy::<M>(round.plans[M::INDEX].policy).patience::<M>(round.patience).on::<M, _>(Taker::new(
        round.pause,
        GROUP,
        round.wave_size,
    ));
    match filter {
        Some(filter) => builder.filter::<M>(filter),
        None => builder,
    }
}

const fn kind<M: Message + Soaked>() -> Kind {
    Kind {
        name: M::NAME,
        build: build::<M>,
        turn: |streams, filter| streams.set_filter::<M>(filter).context("a filter is set while kernels run"),
        taken: |streams| streams.state::<M, Taker>(),
    }
}

/// By [`Soaked::INDEX`].
const KINDS: [Kind; STREAMS] = [kind::<Numbered>(), kind::<Patient>(), kind::<Sampled>(), kind::<Tiny>(), kind::<Big>()];

/// What was counted, of all streams with one policy.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    values: u64,
    messages: u64,
    dropped: u64,
    filtered: u64,
    waited: u64,
}

impl Totals {
    fn add(&mut self, counts: &StreamCounts) {
        self.values += counts.values;
        self.messages += counts.messages;
        self.dropped += counts.dropped;
        self.filtered += counts.filtered;
        self.waited += counts.waited;
    }
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    rounds: u64,
    /// What rounds took: those of one ring of the least size, others with slow readers, and all others.
    took: [Duration; 3],
    policies: [Totals; 4],
}

impl Sums {
    fn values(&self) -> u64 {
        self.policies.iter().map(|totals| totals.values).sum()
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values in {} rounds", self.values(), self.rounds)?;
        for (policy, Totals { values, messages, dropped, filtered, waited }) in Policy::CHOICES.iter().zip(self.policies) {
            let name = policy.name();
            write!(f, "; {name}: {values} values of {messages} messages, {dropped} dropped, {filtered} filtered, {waited} waited")?;
        }
        let [narrow, slow, other] = self.took.map(|took| took.as_secs_f64());
        write!(f, "; {narrow:.1} s in rounds of one small ring, {slow:.1} s in others with slow readers, {other:.1} s in all others")
    }
}

/// Sends values until there are enough, or the time is up.
pub(crate) fn run(cli: &Cli, enough: u64) -> Result<()> {
    let (device, start) = (Device::open(&cli.device)?, Instant::now());
    let info = device.info().clone();
    let is_sim = info.kind == DeviceKind::Sim;
    let lanes = info.resident_waves * info.wave_size;
    // A stream's share of a round that is whole: few rounds would try few of the settings.
    let messages = (enough / u64::from(lanes) / u64::from(LAUNCHES) / 40).clamp(8, if is_sim { 200 } else { 400 }) as u32;
    println!(
        "soak: {enough} values on {} by {lanes} lanes, {LAUNCHES} launches of up to {messages} messages a round, seed {}",
        info.name, cli.seed
    );
    let (program, queue) = (device.load(&bundle())?, device.queue()?);
    // Its other kernels call.
    program.without_server();
    let kernel = program.kernel("soak_streams")?;
    let notes = device.alloc::<[u64; 6]>(lanes as usize * STREAMS)?;
    let shape = Launch::threads(lanes, GROUP);
    let groups = shape.group_count() as u32;
    let most_threads = std::thread::available_parallelism().map_or(1, |cores| cores.get()).min(8);
    let default_memory = if is_sim { 2 << 20 } else { 64 << 20 };
    let progress = Arc::new(AtomicU64::new(0));
    watch(progress.clone());
    let mut dice = Dice(cli.seed);
    let mut sums = Sums::default();
    let mut said = Instant::now();
    while sums.values() < enough && cli.seconds.is_none_or(|s| start.elapsed().as_secs() < s) && !interrupted() {
        let began = Instant::now();
        let round = Round::of(&mut dice, most_threads, default_memory, info.wave_size);
        let mut builder = Streams::builder().memory(round.memory).threads(round.threads).window(round.window);
        for (kind, plan) in KINDS.iter().zip(round.plans) {
            builder = (kind.build)(builder, &round, plan.live.then(|| filter(&mut dice, plan, groups)));
        }
        let streams = builder.start(&device)?;
        streams.attach(&program)?;
        // All waves and one thread over one small ring: such a round takes many times as long.
        let messages = if round.is_narrow() { (messages / 16).max(8) } else { messages };
        // The launches add to it.
        queue.fill(&notes, 0)?;
        for launch in 0..LAUNCHES {
            let number = sums.rounds as u32 * LAUNCHES + launch;
            let args = Args::new().value(cli.seed).value(number).value(messages).slice(&notes);
            // SAFETY: the kernel writes a note for each lane and stream, which are as many as there are, and live
            // beyond the wait.
            unsafe { queue.launch(&kernel, shape, args) }?;
            while !queue.is_idle()? {
                let index = dice.roll(STREAMS as u64) as usize;
                if round.plans[index].live {
                    (KINDS[index].turn)(&streams, filter(&mut dice, round.plans[index], groups))?;
                }
                std::thread::sleep(Duration::from_micros(50));
            }
        }
        let mut noted = [Note::default(); STREAMS];
        for (i, words) in queue.read(&notes)?.iter().enumerate() {
            noted[i % STREAMS].add(words);
        }
        let summary = streams.wait(&queue).with_context(|| format!("round {}: {round:?}", sums.rounds))?;
        for ((kind, plan), note) in KINDS.iter().zip(round.plans).zip(&noted) {
            let counts = summary.stream(kind.name).context("a stream that was registered is counted")?;
            let taken = (kind.taken)(&streams).context("a handler has a state")?;
            let received = (counts.values, taken.values, taken.sum, counts.dropped, counts.filtered);
            let sent = (note.sent, note.sent, note.sum, note.dropped, note.filtered);
            ensure!(
                received == sent,
                "round {}: {}: values, those handled, their sum, dropped and filtered messages: received {received:?}, sent {sent:?}; {round:?}; {summary}",
                sums.rounds,
                kind.name
            );
            let wrong = (taken.changed, taken.disordered, note.strange);
            ensure!(
                wrong == (0, 0, 0),
                "round {}: {}: changed values, messages behind a later one of their wave, values that ended strangely: {wrong:?}; {round:?}; {summary}",
                sums.rounds,
                kind.name
            );
            let must_all = plan.policy == Policy::Block && !plan.live;
            ensure!(!must_all || note.unsent == 0, "round {}: {}: {} values were not sent", sums.rounds, kind.name, note.unsent);
            sums.policies[plan.policy as usize].add(counts);
        }
        sums.rounds += 1;
        sums.took[if round.is_narrow() { 0 } else { usize::from(round.pause.is_zero()) + 1 }] += began.elapsed();
        progress.store(sums.rounds, Ordering::Relaxed);
        if said.elapsed() > Duration::from_secs(5) {
            said = Instant::now();
            println!("soak: {:.0} s: {sums}", start.elapsed().as_secs_f64());
        }
    }
    let why = match () {
        () if sums.values() >= enough => String::new(),
        () if interrupted() => format!(" (cut short by a signal, of {enough} values)"),
        () => format!(" (cut short by --seconds, of {enough} values)"),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "soak: in all{why}: {sums}; {seconds:.1} s ({:.2} M/s): 0 lost, 0 torn, 0 changed, 0 out of order",
        sums.values() as f64 / seconds / 1e6
    );
    Ok(())
}

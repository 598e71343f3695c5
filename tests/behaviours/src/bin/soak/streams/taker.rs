//! The handler of the soak of streams: sums up what it gets, and looks at every value and at the order of messages.

use std::time::{Duration, Instant};

use behaviours_services::soaked::Soaked;
use hostcall_stream::{Batch, Delivery, Flow, Handler, Message, Report};

/// Sums up and checks what it gets, and takes its time if it is to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taker {
    pause: Duration,
    /// Threads of a workgroup, and of a wave.
    group: u32,
    wave: u32,
}

/// What one thread has taken of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    /// Values.
    pub(super) values: u64,
    /// The sum of their digests.
    pub(super) sum: u64,
    /// Values that were changed, or that say another lane or number than their message and its other values.
    pub(super) changed: u64,
    /// Messages that came behind a later one of their wave.
    pub(super) disordered: u64,
    /// Of each wave, the number of its last message, and 1; 0: there was none. A wave's messages all come to one
    /// thread.
    last: Vec<u32>,
    /// When the first batch came.
    began: Option<Instant>,
    slept: Duration,
}

/// Waves of a grid whose order is looked at: more than any device has resident.
const MOST_WAVES: u64 = 1 << 20;

/// Of how much of its time a thread sleeps at most a part for one stream. There are five, so it sleeps for a quarter of
/// its time.
const SLEEPS: u32 = 20;

impl Taker {
    pub(super) fn new(pause: Duration, group: u32, wave: u32) -> Self {
        Self { pause, group, wave }
    }

    /// Looks at a message whose values say who sent them.
    fn check<M: Message + Soaked>(&self, taken: &mut Taken, message: &Delivery<'_, M>, (_, number): (u32, u32)) {
        let header = message.head.header();
        let wave = header.from.group * u64::from(self.group / self.wave) + u64::from(header.from.wave);
        if wave >= MOST_WAVES {
            taken.changed += message.values.len() as u64;
            return;
        }
        let first = wave as u32 * self.wave;
        let each = header.values as usize;
        // Values of a lane have numbers one behind another.
        let differs = |lane: u32, values: &[M]| {
            (number..).zip(values).filter(|(number, value)| value.key() != Some((first + lane, *number)) || !value.is_whole()).count()
                as u64
        };
        let rows = message.values.chunks_exact(each);
        taken.changed += if header.mask & header.mask.wrapping_add(1) == 0 {
            (0..).zip(rows).map(|(lane, values)| differs(lane, values)).sum::<u64>()
        } else {
            message.head.lanes().zip(rows).map(|(lane, values)| differs(lane, values)).sum::<u64>()
        };
        let wave = wave as usize;
        if taken.last.len() <= wave {
            taken.last.resize((wave + 1).next_power_of_two(), 0);
        }
        let last = &mut taken.last[wave];
        // (Parts of a wave send messages of one number.)
        let number = number.wrapping_add(1);
        taken.disordered += u64::from(number < *last);
        *last = number;
    }

    /// Sleeps, if it is to and has not slept too much: however small the ring is, and so the batches, a round ends in
    /// bounded time.
    fn rest(&self, taken: &mut Taken) {
        if self.pause.is_zero() {
            return;
        }
        let now = Instant::now();
        if taken.slept * SLEEPS <= now.duration_since(*taken.began.get_or_insert(now)) {
            std::thread::sleep(self.pause);
            taken.slept += now.elapsed();
        }
    }
}

impl<M: Message + Soaked> Handler<M> for Taker {
    type State = Taken;

    fn fold(&self, taken: &mut Taken, batch: &Batch<'_, M>) -> Flow {
        taken.values += batch.values().len() as u64;
        taken.sum = batch.values().iter().fold(taken.sum, |sum, value| sum.wrapping_add(value.digest()));
        for message in batch.messages() {
            if let Some(key) = message.values.first().and_then(Soaked::key) {
                self.check(taken, &message, key);
            }
        }
        self.rest(taken);
        Flow::Next
    }

    fn merge(&self, into: &mut Taken, from: &Taken) {
        into.values += from.values;
        into.sum = into.sum.wrapping_add(from.sum);
        into.changed += from.changed;
        into.disordered += from.disordered;
    }

    fn report(&self, _: &Taken) -> Report {
        Report::default()
    }
}

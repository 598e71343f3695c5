//! Messages of streams. Each kernel writes for each lane the sum of all units that it sent, and how many messages were
//! dropped.

use bench_services::{Message4, Message8, Message16, units};
use hostcall::kernel;
use hostcall::stream::Sent;
use hostcall::time::Instant;
use hostcall::wave::{global_id, lane_id};

use crate::clock::Ticks;

#[inline(always)]
fn sum<const N: usize>(all: u64, units: &[u32; N]) -> u64 {
    units.iter().fold(all, |all, unit| all.wrapping_add(u64::from(*unit)))
}

/// (No panic, whose text would need a stack.)
#[inline(always)]
pub(crate) fn write(out: &mut [[u64; 2]], lane: usize, value: [u64; 2]) {
    if let Some(out) = out.get_mut(lane) {
        *out = value;
    }
}

/// What a lane has sent: the sum, and messages that were not sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally(pub(crate) [u64; 2]);

impl Tally {
    #[inline(always)]
    pub(crate) fn add<const N: usize>(&mut self, outcome: Sent, units: &[u32; N]) {
        match outcome {
            Sent::Sent => self.0[0] = sum(self.0[0], units),
            _ => self.0[1] += 1,
        }
    }
}

/// A kernel that sends `each` messages of a type from each lane.
macro_rules! every_lane_sends {
    ($($name:ident: $message:ident),+) => { $(
        /// `each` messages from each lane.
        #[kernel]
        pub fn $name(each: u32, out: &mut [[u64; 2]]) {
            let lane = global_id();
            let mut tally = Tally::default();
            for i in 0..each {
                let message = $message { units: units(lane as u32, i) };
                tally.add(message.send(), &message.units);
            }
            write(out, lane, tally.0);
        }
    )+ };
}
every_lane_sends!(stream_4: Message4, stream_8: Message8, stream_16: Message16);

/// The last of these without messages: what is left is the kernel's own.
#[kernel]
pub fn stream_none(each: u32, out: &mut [[u64; 2]]) {
    let lane = global_id();
    let mut tally = Tally::default();
    for i in 0..each {
        let message = Message16 { units: units(lane as u32, i) };
        // Something that cannot be left out.
        let outcome = if message.units[3] == u32::MAX - 7 { Sent::Dropped } else { Sent::Sent };
        tally.add(outcome, &message.units);
    }
    write(out, lane, tally.0);
}

/// `each` times four messages of sixteen bytes from each lane, four at once.
#[kernel]
pub fn stream_64(each: u32, out: &mut [[u64; 2]]) {
    let lane = global_id();
    let mut tally = Tally::default();
    for i in 0..each {
        let all: [[u32; 4]; 4] = core::array::from_fn(|k| units(lane as u32, 4 * i + k as u32));
        let outcome = Message16::send_each(&all.map(|units| Message16 { units }));
        all.iter().for_each(|units| tally.add(outcome, units));
    }
    write(out, lane, tally.0);
}

/// `each` messages of sixteen bytes from the first lane of each wave; the others have gone.
#[kernel]
pub fn stream_alone(each: u32, out: &mut [[u64; 2]]) {
    let lane = global_id();
    let mut tally = Tally::default();
    if lane_id() == 0 {
        for i in 0..each {
            let message = Message16 { units: units(lane as u32, i) };
            tally.add(message.send(), &message.units);
        }
    }
    write(out, lane, tally.0);
}

/// `each` messages of sixteen bytes of each wave, which are the first lane's.
#[kernel]
pub fn stream_once(each: u32, out: &mut [[u64; 2]]) {
    let lane = global_id();
    let mut tally = Tally::default();
    for i in 0..each {
        let message = Message16 { units: units(lane as u32, i) };
        let outcome = Message16::once_per_wave(|| message);
        if lane_id() == 0 {
            tally.add(outcome, &message.units);
        }
    }
    write(out, lane, tally.0);
}

/// One wave: what a message costs it. `out`, of the first lane: nanoseconds of `each` messages in a row; and for each
/// lane the sum, as above.
#[kernel]
pub fn stream_issue(warm: u32, each: u32, out: &mut [[u64; 2]]) {
    let lane = global_id();
    let mut tally = Tally::default();
    let (clock, begin) = (Ticks::start(), Instant::now());
    let first = clock.now();
    let mut start = first;
    for i in 0..warm + each {
        if i == warm {
            start = clock.now();
        }
        let message = Message16 { units: units(lane as u32, i) };
        tally.add(message.send(), &message.units);
    }
    let ns = clock.nanoseconds(clock.now() - start, first, begin);
    write(out, lane, [tally.0[0], ns]);
}

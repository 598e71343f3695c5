//! A client on the processor: what a wave does, done by a thread. It sleeps where a wave spins.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::thread::futex;

use crate::doorbell::Doorbell;
use crate::layout::{LANES, QWORDS, control};
use crate::memory::Map;
use crate::stacks;
use crate::{Error, consumer, services, tables};

/// Looks at the control word before the thread sleeps.
const LOOKS: u32 = 128;

/// What a thread needs to call through a registered buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) map: Map,
    pub(crate) doorbell: Doorbell,
}

thread_local! {
    /// The last buffer that this thread used, and when it was known to be registered.
    static LAST: Cell<Option<(usize, u64, usize, Client)>> = const { Cell::new(None) };
}

/// The client of a registered buffer, and its consumer.
fn find(buffer: usize) -> Result<(usize, Client), Error> {
    let now = tables::registrations();
    if let Some((address, then, owner, client)) = LAST.get()
        && (address, then) == (buffer, now)
    {
        return Ok((owner, client));
    }
    let (owner, client) = tables::consumers().buffers.get(&buffer).copied().ok_or(Error::InvalidRequest)?;
    LAST.set(Some((buffer, now, owner, client)));
    Ok((owner, client))
}

/// Waits longer each time: first a moment, then until others ran, then asleep.
#[derive(Debug, Default)]
struct BackOff(u32);

impl BackOff {
    fn wait(&mut self) {
        match self.0 {
            0..=5 => (0..1 << self.0).for_each(|_| std::hint::spin_loop()),
            6..=9 => thread::yield_now(),
            more => thread::sleep(Duration::from_micros(20 << (more - 10).min(3))),
        }
        self.0 += 1;
    }
}

/// Calls a service for the lanes of a mask. Waits for a free packet, and for the answer.
pub(crate) fn call(buffer: usize, service: u32, mask: u64, lanes: &mut [[u64; QWORDS]]) -> Result<(), Error> {
    let (owner, client) = find(buffer)?;
    if services::serial() && consumer::current() == Some(owner) {
        // The one thread that could answer is this one.
        return Err(Error::ConsumerActive);
    }
    let map = &client.map;
    let mut pause = BackOff::default();
    let held = loop {
        let mut contended = BackOff::default();
        if let Some(held) = stacks::pop_free(map, || contended.wait()) {
            break held;
        }
        pause.wait();
        // Nobody gives packets of a buffer back that is gone.
        find(buffer)?;
    };
    let index = held.index(map) as u32;
    let (Some(header), Some(payload)) = (map.header(index), map.payload(index)) else { return Err(Error::InvalidRequest) };
    let active = || (0..LANES.min(lanes.len())).filter(|lane| mask >> lane & 1 == 1);
    for (lane, words) in active().map(|lane| (lane, &lanes[lane])) {
        payload.lanes[lane].iter().zip(words).for_each(|(place, word)| place.store(*word, Ordering::Relaxed));
    }
    header.service.store(service, Ordering::Relaxed);
    header.active_mask.store(mask, Ordering::Relaxed);
    header.control.store(control::READY, Ordering::Relaxed);
    let mut contended = BackOff::default();
    stacks::push_ready(map, held, || contended.wait());
    client.doorbell.ring();
    let answered = await_answer(&header.control);
    for lane in active().collect::<Vec<_>>() {
        payload.lanes[lane].iter().zip(&mut lanes[lane]).for_each(|(place, word)| *word = place.load(Ordering::Relaxed));
    }
    let mut contended = BackOff::default();
    stacks::give_back(map, held, || contended.wait());
    if answered & control::REFUSED == 0 { Ok(()) } else { Err(Error::InvalidRequest) }
}

/// Waits until the host clears the ready bit, and returns the word.
fn await_answer(word: &AtomicU32) -> u32 {
    for _ in 0..LOOKS {
        // Acquire: pairs with the host's release when it answers.
        let now = word.load(Ordering::Acquire);
        if now & control::READY == 0 {
            return now;
        }
        std::hint::spin_loop();
    }
    loop {
        // Acquire: as above. The host swaps the word, so it sees the bit, or this sees the answer.
        let now = word.fetch_or(control::SLEEPER, Ordering::Acquire);
        if now & control::READY == 0 {
            return now;
        }
        let _ = futex::wait(word, futex::Flags::empty(), now | control::SLEEPER, None);
    }
}

//! A client on the processor: what a wave does, done by a thread. It sleeps where a wave spins.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::thread::futex;

use crate::consumer::Served;
use crate::doorbell::Doorbell;
use crate::layout::{QWORDS, control};
use crate::patience::Patience;
use crate::stacks;
use crate::{Error, consumer, services, tables};

/// What a thread needs to call through a registered buffer.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) owner: usize,
    pub(crate) served: Arc<Served>,
    pub(crate) doorbell: Doorbell,
}

/// After so long a sleeping client looks by itself: a device that takes its sign of sleep away, or says again that the
/// packet is ready, delays the client and does not keep it for ever.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

thread_local! {
    static PATIENCE: Patience = const { Patience::new() };
    /// The last buffer that this thread used, and when it was known to be registered.
    static LAST: RefCell<Option<(u64, Client)>> = const { RefCell::new(None) };
}

/// Uses the client of a registered buffer. It is not cloned for each call: threads would contend for the count.
fn with<R>(buffer: usize, run: impl FnOnce(&Client) -> Result<R, Error>) -> Result<R, Error> {
    LAST.with_borrow_mut(|last| {
        let now = tables::registrations();
        if last.as_ref().is_none_or(|(then, client)| (*then, client.served.address()) != (now, buffer)) {
            // What it was is forgotten first: it keeps nothing alive that is gone.
            *last = None;
        }
        let (_, client) = match last {
            Some(last) => last,
            None => last.insert((now, tables::consumers().buffers.get(&buffer).cloned().ok_or(Error::InvalidRequest)?)),
        };
        run(client)
    })
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

/// Calls a service for the lanes of a mask, of which each has words in `lanes`. Waits for a free packet, and for the
/// answer.
pub(crate) fn call(buffer: usize, service: u32, mask: u64, lanes: &mut [[u64; QWORDS]]) -> Result<(), Error> {
    with(buffer, |client| client.call(service, mask, lanes))
}

impl Client {
    fn call(&self, service: u32, mask: u64, lanes: &mut [[u64; QWORDS]]) -> Result<(), Error> {
        if services::serial() && consumer::current() == Some(self.owner) {
            // The one thread that could answer is this one.
            return Err(Error::ConsumerActive);
        }
        let map = self.served.map().ok_or(Error::InvalidRequest)?;
        if consumer::current() == Some(self.owner) {
            // So would be the thread that leads.
            consumer::about_to_wait();
        }
        let mut pause = BackOff::default();
        let held = loop {
            let mut contended = BackOff::default();
            if let Some(held) = stacks::pop_free(map, || contended.wait()) {
                break held;
            }
            consumer::about_to_wait();
            pause.wait();
            // Nobody gives packets of a buffer back that is gone.
            if !tables::consumers().buffers.contains_key(&self.served.address()) {
                return Err(Error::InvalidRequest);
            }
        };
        let index = held.index(map) as u32;
        let (Some(header), Some(payload)) = (map.header(index), map.payload(index)) else { return Err(Error::InvalidRequest) };
        for lane in consumer::lanes(mask) {
            let words = payload.lanes[lane].iter().zip(&lanes[lane]);
            words.for_each(|(place, word)| place.store(*word, Ordering::Relaxed));
        }
        header.service.store(service, Ordering::Relaxed);
        header.active_mask.store(mask, Ordering::Relaxed);
        header.control.store(control::READY | control::TELL, Ordering::Relaxed);
        let mut contended = BackOff::default();
        self.served.push(map, held, || contended.wait());
        self.doorbell.ring();
        let answered = self.await_answer(index, &header.control);
        for lane in consumer::lanes(mask) {
            let words = payload.lanes[lane].iter().zip(&mut lanes[lane]);
            words.for_each(|(place, word)| *word = place.load(Ordering::Relaxed));
        }
        let mut contended = BackOff::default();
        stacks::give_back(map, held, || contended.wait());
        if answered & control::REFUSED == 0 { Ok(()) } else { Err(Error::InvalidRequest) }
    }

    /// Waits until the host clears the ready bit, and returns the word.
    fn await_answer(&self, index: u32, word: &AtomicU32) -> u32 {
        // Acquire: pairs with the host's release when it answers.
        let answer = || Some(word.load(Ordering::Acquire)).filter(|now| now & control::READY == 0);
        let in_vain = match PATIENCE.with(|patience| patience.look(answer)) {
            Ok(now) => return now,
            Err(in_vain) => in_vain,
        };
        consumer::about_to_wait();
        loop {
            // Acquire: as above.
            let now = word.load(Ordering::Acquire);
            if now & control::READY == 0 {
                PATIENCE.with(|patience| patience.slept(in_vain));
                return now;
            }
            let sleeping = now | control::SLEEPER;
            // The host swaps the word: it finds the bit, or this exchange fails. Relaxed: it says nothing but that
            // somebody sleeps.
            if now == sleeping || word.compare_exchange(now, sleeping, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                let limit = futex::Timespec { tv_sec: 0, tv_nsec: LONGEST_SLEEP.subsec_nanos() as _ };
                let woken = futex::wait(word, futex::Flags::empty(), sleeping, Some(&limit));
                if woken == Err(rustix::io::Errno::TIMEDOUT) {
                    self.served.refuse_if_over(index);
                }
            }
        }
    }
}

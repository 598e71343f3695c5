//! A device that writes what it likes, when it likes, into the whole buffer and into the doorbell, in every form of a
//! buffer.
//!
//! Another buffer of the same consumer is served as if nothing were, and nobody who waits for the device's own buffer
//! waits for ever.

mod common;

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use amd_hostcall::api::*;
use amd_hostcall::is_own_doorbell;
use amd_hostcall::layout::{Form, control, mailboxes_at};
use amd_hostcall::mailboxes::Mailboxes;
use amd_hostcall::memory::Map;
use amd_hostcall::stacks;
use common::formed::{Formed, ask};
use common::{Buffer, Consumer, until};

const ADD_ONE: u32 = 200;
/// Packets of the buffer that is attacked.
const PACKETS: u32 = 9;
/// The packet of mailboxes whose words the device leaves alone.
const SPARED: u32 = 0;

unsafe extern "C-unwind" fn add_one(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    unsafe { *payload = (*payload).wrapping_add(1) };
    0
}

/// Every service that a device can think of is answered: without a handler the process would end, as AMD documents.
unsafe extern "C-unwind" fn any(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
    0
}

fn with_services() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: fit for any thread.
        unsafe {
            assert_eq!(amd_hostcall_register_service(0, Some(any), null_mut()), 0);
            assert_eq!(amd_hostcall_register_service(ADD_ONE, Some(add_one), null_mut()), 0);
        }
    });
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Where the buffer's parts are, whatever its words say later.
enum Parts {
    Stacks(Map),
    Mailboxes(Mailboxes),
}

/// What the device and those who wait for it share.
struct Attacked {
    buffer: Formed,
    parts: Parts,
    /// The doorbell's handle as it was registered.
    doorbell: u64,
    stop: AtomicBool,
}

impl Attacked {
    fn new(buffer: Formed) -> Attacked {
        let (parts, doorbell) = match buffer.form {
            Form::Mailboxes => (Parts::Mailboxes(buffer.mailboxes()), 5),
            _ => (Parts::Stacks(buffer.stacks()), 2),
        };
        let doorbell = buffer.words[doorbell].load(Ordering::SeqCst);
        Attacked { buffer, parts, doorbell, stop: AtomicBool::new(false) }
    }

    /// Words before the payloads.
    fn head(&self) -> usize {
        match self.buffer.form {
            Form::Mailboxes => mailboxes_at(PACKETS)[4] / 8,
            _ => 6 + 3 * PACKETS as usize,
        }
    }

    /// Whether a word belongs to the packet that the device spares.
    fn spared(&self, word: usize) -> bool {
        let Parts::Mailboxes(boxes) = &self.parts else { return false };
        let [device, host, _, headers, payloads, _] = mailboxes_at(boxes.count());
        let parts = [(device, 4), (host, 4), (headers, 16), (payloads, 4096)];
        parts.iter().any(|(at, bytes)| (at + SPARED as usize * bytes..at + (SPARED as usize + 1) * bytes).contains(&(8 * word)))
    }

    /// One act of the device.
    fn act(&self, random: &mut Random) {
        let words = &self.buffer.words;
        match random.next() % 9 {
            // Any word at all, with one bit flipped or anything in it; then words that are not lanes'.
            kind @ 0..=3 => {
                let at = random.below(if kind < 2 { words.len() } else { self.head() });
                if self.spared(at) {
                    return;
                }
                if kind % 2 == 0 {
                    words[at].fetch_xor(1 << (random.next() % 64), Ordering::SeqCst);
                } else {
                    words[at].store(random.next(), Ordering::SeqCst);
                }
            }
            4 => self.write_doorbell(random),
            _ => match &self.parts {
                Parts::Stacks(map) => act_on_stacks(random, words, map),
                Parts::Mailboxes(boxes) => act_on_mailboxes(random, boxes),
            },
        }
        // The doorbell is the consumer's: a device rings it as it likes.
        if random.next().is_multiple_of(16) {
            let _ = hostcall_amd_ring(self.doorbell);
            thread::yield_now();
        }
    }

    /// Writes into the page of the doorbell, which a program gives to its GPU, where it is this library's own.
    fn write_doorbell(&self, random: &mut Random) {
        if !is_own_doorbell(self.doorbell) {
            return;
        }
        let at = if random.next().is_multiple_of(2) { random.below(8) } else { random.below(512) };
        let word = std::ptr::with_exposed_provenance::<AtomicU64>(self.doorbell as usize + 8 * at);
        // SAFETY: the handle is the address of a page of the library's own, which is never freed, and which consists of
        // atomics.
        unsafe { &*word }.store(random.next(), Ordering::SeqCst);
    }

    /// Those who wait for the buffer.
    fn clients(self: &Arc<Self>) -> Vec<JoinHandle<()>> {
        (0..2)
            .filter(|turn| *turn == 0 || self.buffer.form != Form::Mailboxes)
            .map(|_| {
                let attacked = self.clone();
                thread::spawn(move || match &attacked.parts {
                    Parts::Stacks(_) => attacked.call_until_stopped(),
                    Parts::Mailboxes(boxes) => attacked.ask_until_stopped(boxes),
                })
            })
            .collect()
    }

    /// Calls through the stacks. Packets may be lost, so that a call waits until the buffer is deregistered, and
    /// answers may be anything.
    fn call_until_stopped(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let mut payload = [[7; 8]];
            // SAFETY: one lane, and the buffer lives.
            unsafe { hostcall_amd_call(self.buffer.pointer(), ADD_ONE, 1, payload.as_mut_ptr()) };
        }
    }

    /// Asks through the mailbox whose words the device leaves alone: each time it must be answered.
    fn ask_until_stopped(&self, boxes: &Mailboxes) {
        for n in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            assert_eq!(ask(boxes, SPARED, ADD_ONE, 1 << 40, Some(self.doorbell), |_| n), [n + 1]);
        }
    }
}

fn act_on_stacks(random: &mut Random, words: &[AtomicU64], map: &Map) {
    match random.next() % 4 {
        // Packets that look right, in stacks that do not.
        0 => words[4].store((random.next() % 16) | ((random.next() & 0xffff) << 4), Ordering::SeqCst),
        1 => {
            let at = 6 + 3 * random.below(PACKETS as usize);
            words[at].store((random.next() % 16) | (1 << 20), Ordering::SeqCst);
            words[at + 1].store(random.next(), Ordering::SeqCst);
            words[at + 2].store((random.next() % 4) | (u64::from(control::READY) << 32), Ordering::SeqCst);
        }
        _ => {
            if let Some(held) = stacks::pop_free(map, || {})
                && let Some(header) = map.header(held.index(map) as u32)
            {
                header.service.store((random.next() % 3) as u32, Ordering::SeqCst);
                header.active_mask.store(random.next(), Ordering::SeqCst);
                header.control.store(random.next() as u32 | control::READY, Ordering::SeqCst);
                stacks::push_ready(map, held, || {});
            }
        }
    }
}

fn act_on_mailboxes(random: &mut Random, boxes: &Mailboxes) {
    let index = SPARED + 1 + random.below(PACKETS as usize - 1) as u32;
    let (header, device, host) = (boxes.header(index), boxes.device_phase(index), boxes.host_phase(index));
    let (header, device, host) = (header.unwrap(), device.unwrap(), host.unwrap());
    match random.next() % 4 {
        0 => host.store(random.next() as u32, Ordering::SeqCst),
        1 => device.store(random.next() as u32, Ordering::SeqCst),
        _ => {
            header.service.store((random.next() % 3) as u32, Ordering::SeqCst);
            header.active_mask.store(random.next(), Ordering::SeqCst);
            device.fetch_xor(1, Ordering::SeqCst);
        }
    }
}

fn attack(form: Form, seed: u64, time: Duration) {
    with_services();
    let (victim, other) = (Formed::new(PACKETS, form), Buffer::new(9));
    let consumer = Consumer::new(&[&other]);
    assert_eq!(victim.register(&consumer), 0);
    let attacked = Arc::new(Attacked::new(victim));
    if !is_own_doorbell(attacked.doorbell) {
        println!("left out: writing into the doorbell, which is a signal of AMD's runtime, in memory of its own");
    }
    let clients = attacked.clients();
    let devices: Vec<_> = (0..2)
        .map(|turn| {
            let attacked = attacked.clone();
            thread::spawn(move || {
                let mut random = Random(seed ^ (turn << 32));
                while !attacked.stop.load(Ordering::Relaxed) {
                    attacked.act(&mut random);
                }
            })
        })
        .collect();
    let begin = Instant::now();
    let mut n = 0;
    while n == 0 || begin.elapsed() < time {
        assert_eq!(other.call(ADD_ONE, [n; 8]), Ok([n + 1, n]), "seed {seed}: the other buffer is not disturbed");
        n += 1;
    }
    attacked.stop.store(true, Ordering::Relaxed);
    devices.into_iter().for_each(|device| device.join().unwrap());
    // With the device gone, both can be given up. Then nobody waits any more.
    assert_eq!(amd_hostcall_deregister_buffer(consumer.0, attacked.buffer.pointer()), 0, "seed {seed}");
    until("the end of every call on the buffer that was attacked", || clients.iter().all(JoinHandle::is_finished));
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(consumer.destroy(), 0, "seed {seed}");
    // The next one works.
    attacked.buffer.initialize();
    let consumer = Consumer::new(&[]);
    assert_eq!(attacked.buffer.register(&consumer), 0);
    match form {
        Form::Mailboxes => assert_eq!(common::formed::call(&attacked.buffer.mailboxes(), ADD_ONE, 1, true, |_| 1), [2]),
        _ => {
            let mut payload = [[1; 8]];
            // SAFETY: one lane, and the buffer lives.
            assert_eq!(unsafe { hostcall_amd_call(attacked.buffer.pointer(), ADD_ONE, 1, payload.as_mut_ptr()) }, 0);
            assert_eq!(payload[0][0], 2);
        }
    }
    assert_eq!(consumer.destroy(), 0);
}

/// Attacks a buffer of a form again and again. `HOSTCALL_HOSTILE_SECONDS=60` is the minute that the project asks for.
fn attacks(form: Form) {
    let seconds: f64 = std::env::var("HOSTCALL_HOSTILE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let rounds = (2.0 * seconds).ceil() as u64;
    for seed in 1..=rounds {
        attack(form, seed, Duration::from_secs_f64(seconds / rounds as f64));
    }
}

#[test]
fn a_device_that_writes_anything_anywhere_harms_its_own_packets_only() {
    attacks(Form::Stacks);
}

#[test]
fn a_device_that_writes_anything_anywhere_in_masked_stacks_harms_its_own_packets_only() {
    attacks(Form::MaskedStacks);
}

#[test]
fn a_device_that_writes_anything_into_mailboxes_harms_the_packets_that_it_wrote_to_only() {
    attacks(Form::Mailboxes);
}

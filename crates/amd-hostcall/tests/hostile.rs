//! A device that writes what it likes, when it likes, into the whole buffer.

mod common;

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use amd_hostcall::api::*;
use amd_hostcall::layout::{self, control};
use amd_hostcall::stacks;
use common::{Buffer, Consumer};

const ADD_ONE: u32 = 200;

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
}

/// One act of a hostile device.
fn act(random: &mut Random, buffer: &Buffer) {
    let words = buffer.words();
    let head = 6 + 3 * buffer.packets as usize;
    match random.next() % 8 {
        // Any word at all, with one bit flipped or anything in it.
        0 => _ = words[random.next() as usize % words.len()].fetch_xor(1 << (random.next() % 64), Ordering::SeqCst),
        1 => words[random.next() as usize % words.len()].store(random.next(), Ordering::SeqCst),
        2 => _ = words[random.next() as usize % head].fetch_xor(1 << (random.next() % 64), Ordering::SeqCst),
        3 => words[random.next() as usize % head].store(random.next(), Ordering::SeqCst),
        // Packets that look right, in stacks that do not.
        4 => words[4].store((random.next() % 16) | ((random.next() & 0xffff) << 4), Ordering::SeqCst),
        5 => {
            let at = 6 + 3 * (random.next() as usize % buffer.packets as usize);
            words[at].store((random.next() % 16) | (1 << 20), Ordering::SeqCst);
            words[at + 1].store(random.next(), Ordering::SeqCst);
            words[at + 2].store((random.next() % 4) | (u64::from(control::READY) << 32), Ordering::SeqCst);
        }
        _ => {
            let map = buffer.map_as_laid_out();
            if let Some(held) = stacks::pop_free(&map, || {}) {
                let index = layout::index(held.0, layout::index_size(buffer.packets)) as u32;
                if let Some(header) = map.header(index) {
                    header.service.store((random.next() % 3) as u32, Ordering::SeqCst);
                    header.active_mask.store(random.next(), Ordering::SeqCst);
                    header.control.store(random.next() as u32 | control::READY, Ordering::SeqCst);
                    stacks::push_ready(&map, held, || {});
                }
            }
        }
    }
}

fn attack(seed: u64, time: Duration) {
    with_services();
    let (victim, other) = (Buffer::new(9), Buffer::new(9));
    // Whose words the attacker has does not matter to its own map of the memory.
    victim.remember_layout();
    let consumer = Consumer::new(&[&victim, &other]);
    let (stop, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for turn in 0..2 {
            let (victim, stop) = (&victim, &stop);
            scope.spawn(move || {
                let mut random = Random(seed ^ (turn << 32));
                while !stop.load(Ordering::Relaxed) {
                    act(&mut random, victim);
                    // The doorbell is the consumer's: a device rings it as it likes.
                    if random.next().is_multiple_of(16) {
                        let _ = hostcall_amd_ring(victim.words()[2].load(Ordering::SeqCst));
                        thread::yield_now();
                    }
                }
            });
        }
        let begin = Instant::now();
        while begin.elapsed() < time {
            let n = calls.fetch_add(1, Ordering::Relaxed);
            assert_eq!(other.call(ADD_ONE, [n; 8]), Ok([n + 1, n]), "seed {seed}: the other buffer is not disturbed");
        }
        stop.store(true, Ordering::Relaxed);
    });
    // With the device gone, both can be given up, and the next one works.
    assert_eq!(consumer.deregister(&victim), 0, "seed {seed}");
    assert_eq!(consumer.destroy(), 0, "seed {seed}");
    // SAFETY: the buffer is nobody's now.
    assert_eq!(unsafe { amd_hostcall_initialize_buffer(victim.pointer(), victim.packets) }, 0);
    let consumer = Consumer::new(&[&victim]);
    assert_eq!(victim.call(ADD_ONE, [1; 8]), Ok([2, 1]));
    assert_eq!(consumer.destroy(), 0);
    assert!(calls.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_device_that_writes_anything_anywhere_harms_its_own_packets_only() {
    // `HOSTCALL_HOSTILE_SECONDS=60` is the minute that the project asks for.
    let seconds: f64 = std::env::var("HOSTCALL_HOSTILE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4.0);
    for seed in [1, 2, 3, 4] {
        attack(seed, Duration::from_secs_f64(seconds / 4.0));
    }
}

//! Buffers of every form, and what a wave does with mailboxes.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use amd_hostcall::api::*;
use amd_hostcall::layout::{Form, LANES, size_in};
use amd_hostcall::mailboxes::Mailboxes;
use amd_hostcall::memory::Map;

use super::{Consumer, until};

/// A buffer of some form.
pub(crate) struct Formed {
    pub(crate) words: Box<[AtomicU64]>,
    pub(crate) packets: u32,
    pub(crate) form: Form,
}

impl Formed {
    pub(crate) fn new(packets: u32, form: Form) -> Formed {
        let words: Box<[AtomicU64]> = (0..size_in(form, packets) / 8).map(|_| AtomicU64::new(u64::MAX)).collect();
        let buffer = Formed { words, packets, form };
        buffer.initialize();
        buffer
    }

    /// Lays it out, anew if it was in use.
    pub(crate) fn initialize(&self) {
        // SAFETY: as many bytes as the form says.
        assert_eq!(unsafe { hostcall_amd_initialize_form(self.pointer(), 8 * self.words.len(), self.packets, self.form as u32) }, 0);
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.words.as_ptr().cast_mut().cast()
    }

    pub(crate) fn register(&self, consumer: &Consumer) -> c_int {
        // SAFETY: the tests destroy consumers before they free buffers.
        unsafe { hostcall_amd_register_form(consumer.0, self.pointer(), self.form as u32) }
    }

    pub(crate) fn stacks(&self) -> Map {
        // SAFETY: initialised, and it lives longer.
        unsafe { Map::find(self.pointer().cast(), self.form, Some(self.packets)) }.unwrap()
    }

    pub(crate) fn mailboxes(&self) -> Mailboxes {
        // SAFETY: initialised, and it lives longer.
        unsafe { Mailboxes::find(self.pointer().cast()) }.unwrap()
    }
}

/// Rings as a wave does, by the handle in the buffer.
pub(crate) fn ring(doorbell: &AtomicU64) {
    assert_eq!(hostcall_amd_ring(doorbell.load(Ordering::SeqCst)), 0);
}

/// Claims a packet, as a wave does.
pub(crate) fn claim(boxes: &Mailboxes) -> u32 {
    let claims = boxes.words().occupied.load(Ordering::Relaxed);
    for index in (0..boxes.count()).cycle() {
        let word = std::ptr::with_exposed_provenance::<AtomicU32>(claims as usize + 4 * (index as usize / 32));
        // SAFETY: a word for each 32 packets, in a buffer that lives.
        let word = unsafe { &*word };
        let bit = 1 << (index % 32);
        if word.fetch_or(bit, Ordering::Acquire) & bit == 0 {
            let phases = [boxes.device_phase(index), boxes.host_phase(index)].map(|word| word.unwrap().load(Ordering::Relaxed));
            assert_eq!(phases[0], phases[1], "a packet that nobody holds is answered");
            return index;
        }
        thread::yield_now();
    }
    unreachable!("a cycle has no end")
}

pub(crate) fn unclaim(boxes: &Mailboxes, index: u32) {
    let claims = boxes.words().occupied.load(Ordering::Relaxed);
    let word = std::ptr::with_exposed_provenance::<AtomicU32>(claims as usize + 4 * (index as usize / 32));
    // SAFETY: as in `claim`.
    unsafe { &*word }.fetch_and(!(1 << (index % 32)), Ordering::Release);
}

/// Sends a packet whose lanes' words are `words(lane)`, and waits; the first words.
pub(crate) fn call(boxes: &Mailboxes, service: u32, mask: u64, rings: bool, words: impl Fn(usize) -> u64) -> Vec<u64> {
    let index = claim(boxes);
    let answers = ask(boxes, index, service, mask, rings.then(|| boxes.words().doorbell.load(Ordering::SeqCst)), words);
    unclaim(boxes, index);
    answers
}

/// The same for a packet that the wave has claimed.
pub(crate) fn ask(boxes: &Mailboxes, index: u32, service: u32, mask: u64, doorbell: Option<u64>, words: impl Fn(usize) -> u64) -> Vec<u64> {
    let (header, payload) = (boxes.header(index).unwrap(), boxes.payload(index).unwrap());
    header.service.store(service, Ordering::Relaxed);
    header.active_mask.store(mask, Ordering::Relaxed);
    let lanes: Vec<usize> = (0..LANES).filter(|lane| mask >> lane & 1 == 1).collect();
    lanes.iter().for_each(|lane| payload.lanes[*lane][0].store(words(*lane), Ordering::Relaxed));
    let (device, host) = (boxes.device_phase(index).unwrap(), boxes.host_phase(index).unwrap());
    let asked = device.load(Ordering::Relaxed) ^ 1;
    device.store(asked, Ordering::Release);
    if let Some(doorbell) = doorbell {
        assert_eq!(hostcall_amd_ring(doorbell), 0);
    }
    let answered = || host.load(Ordering::Acquire) == asked;
    let soon = (0..1000).any(|_| {
        thread::yield_now();
        answered()
    });
    if !soon {
        until("the answer to a mailbox", answered);
    }
    lanes.iter().map(|lane| payload.lanes[*lane][0].load(Ordering::Relaxed)).collect()
}

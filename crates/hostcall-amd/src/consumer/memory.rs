//! A registered buffer's memory, in either of its forms: what a consumer does with it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::thread::futex;

use super::call::Call;
use crate::Error;
use crate::layout::{Form, HeaderWords, PayloadWords, control};
use crate::mailboxes::Mailboxes;
use crate::memory::Map;
use crate::stacks::{self, Packets};

/// The memory of a buffer.
#[derive(Debug)]
pub(crate) enum Memory {
    Stacks(Map),
    Mailboxes(Mailboxes),
}

impl Memory {
    /// Finds a buffer's parts. `laid_out` is as for [`Map::find`].
    ///
    /// # Safety
    /// As for [`Map::find`] and [`Mailboxes::find`].
    pub(super) unsafe fn find(buffer: *mut u8, form: Form, laid_out: Option<u32>) -> Result<Memory, Error> {
        match form {
            // SAFETY: the caller's.
            Form::Stacks | Form::MaskedStacks => unsafe { Map::find(buffer, form, laid_out) }.map(Memory::Stacks),
            // SAFETY: the caller's.
            Form::Mailboxes => unsafe { Mailboxes::find(buffer) }.map(Memory::Mailboxes),
        }
    }

    pub(super) fn address(&self) -> usize {
        match self {
            Memory::Stacks(map) => map.address(),
            Memory::Mailboxes(boxes) => boxes.address(),
        }
    }

    pub(super) fn count(&self) -> u32 {
        match self {
            Memory::Stacks(map) => map.count(),
            Memory::Mailboxes(boxes) => boxes.count(),
        }
    }

    /// Where the doorbell's handle stands.
    pub(super) fn doorbell(&self) -> &AtomicU64 {
        match self {
            Memory::Stacks(map) => &map.words().doorbell,
            Memory::Mailboxes(boxes) => &boxes.words().doorbell,
        }
    }

    /// Whether packets wait that nobody has taken. In mailboxes, those that were taken wait too.
    pub(super) fn waits(&self) -> bool {
        match self {
            Memory::Stacks(map) => map.ready().load(Ordering::Acquire) != 0,
            Memory::Mailboxes(boxes) => boxes.any_waits(),
        }
    }

    /// Told that packets are likely to be ready.
    pub(super) fn expect_ready(&self) {
        if let Memory::Stacks(map) = self {
            crate::memory::expect(map.ready());
        }
    }

    /// Appends packets that may be ready, of stacks the oldest first. Some may have been taken before.
    pub(super) fn take(&self, taken: &mut Vec<u32>) {
        match self {
            Memory::Stacks(map) => stacks::take_ready(map, taken),
            Memory::Mailboxes(boxes) => boxes.take(taken),
        }
    }

    /// Whether a packet waits for the host. One that does not has nobody to answer to.
    pub(super) fn ready(&self, index: u32) -> bool {
        match self {
            Memory::Stacks(map) => map.header(index).is_some_and(|header| header.control.load(Ordering::Relaxed) & control::READY != 0),
            Memory::Mailboxes(boxes) => boxes.waits(index),
        }
    }

    /// All packets that wait for the host, taken or not, on a stack or lost.
    pub(super) fn all_ready(&self) -> Vec<u32> {
        (0..self.count()).filter(|index| self.ready(*index)).collect()
    }

    /// Copies a packet's words; `false` if there is none of this index.
    pub(super) fn read(&self, index: u32, call: &mut Call) -> bool {
        let Some((service, mask, payload)) = self.packet(index) else { return false };
        // Relaxed: acquired with what made the packet ready.
        call.service = service.load(Ordering::Relaxed);
        call.mask = mask.load(Ordering::Relaxed);
        call.read(payload);
        true
    }

    /// Told that a packet will be read next.
    pub(super) fn expect(&self, index: u32) {
        if let Some((_, mask, payload)) = self.packet(index) {
            Call::expect(mask.load(Ordering::Relaxed), payload);
        }
    }

    /// A packet's service, lanes and words.
    fn packet(&self, index: u32) -> Option<(&AtomicU32, &AtomicU64, &PayloadWords)> {
        Some(match self {
            Memory::Stacks(map) => {
                let header = map.header(index)?;
                (&header.service, &header.active_mask, map.payload(index)?)
            }
            Memory::Mailboxes(boxes) => {
                let header = boxes.header(index)?;
                (&header.service, &header.active_mask, boxes.payload(index)?)
            }
        })
    }

    /// Writes what handlers changed.
    pub(super) fn write(&self, index: u32, call: &Call) {
        let payload = match self {
            Memory::Stacks(map) => map.payload(index),
            Memory::Mailboxes(boxes) => boxes.payload(index),
        };
        if let Some(payload) = payload {
            call.write(payload);
        }
    }

    /// Notes that a taken packet is about to be answered. Afterwards it is not ready, unless its wave asks again.
    pub(super) fn settle(&self, index: u32) {
        match self {
            // The wave sees that in the control word, and `finish` changes it.
            Memory::Stacks(_) => {}
            Memory::Mailboxes(boxes) => boxes.settle(index),
        }
    }

    /// Lets the wave of a settled packet go on. A mailbox has no place to say that the call was refused.
    pub(super) fn finish(&self, index: u32, refused: bool) {
        match self {
            Memory::Stacks(map) => {
                if let Some(header) = map.header(index) {
                    clear_ready(header, refused);
                }
            }
            Memory::Mailboxes(boxes) => boxes.publish(index),
        }
    }
}

/// Clears a packet's ready bit, and wakes a client on the processor that sleeps on the word.
fn clear_ready(header: &HeaderWords, refused: bool) {
    let bits = control::READY | control::REFUSED | control::SLEEPER | control::TELL;
    let asked = header.control.load(Ordering::Relaxed);
    let kept = asked & !bits;
    let outcome = if refused && asked & control::TELL != 0 { control::REFUSED } else { 0 };
    // Release: pairs with the wave's acquire when it sees that it is not ready any more. A swap, because a client on
    // the processor may say at this moment that it sleeps. The host's memory: no atomic crosses the bus.
    let was = header.control.swap(kept | outcome, Ordering::AcqRel);
    if was & control::SLEEPER != 0 {
        // Shared: the buffer may be another process's too.
        let _ = futex::wake(&header.control, futex::Flags::empty(), i32::MAX as u32);
    }
}

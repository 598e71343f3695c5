//! A buffer of mailboxes in memory: the form that ROCm's device libraries have since July 2026.
//!
//! A wave claims a packet by a bit, fills it, flips the packet's word of the device, and waits until the host's word is
//! the same. Nothing says which packets wait: the host compares all of them. Only the lowest bit of a word counts. What
//! the host's words are is known here, and is never read back from memory that a device may write.
//!
//! The facts are from the public sources of ROCm: `amd/device-libs/ockl/src/hostcall_impl.cl` in `ROCm/llvm-project`,
//! and `projects/clr/rocclr/device/devhostcall.cpp` in `ROCm/rocm-systems`, both where `USE_NEW_HOSTCALL_IMPL` is
//! defined.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::Error;
use crate::layout::{self, MailboxHeaderWords, MailboxWords, PayloadWords};
use crate::memory::{expect, place};

/// The most packets of such a buffer: what a device can have in flight is far below.
const MOST: u32 = 1 << 20;

/// Where the parts of a buffer lie. Read once: what the buffer says of itself afterwards changes nothing.
#[derive(Debug)]
pub struct Mailboxes {
    base: NonNull<MailboxWords>,
    device: NonNull<AtomicU32>,
    host: NonNull<AtomicU32>,
    headers: NonNull<MailboxHeaderWords>,
    payloads: NonNull<PayloadWords>,
    /// What was last written to each of the host's words.
    answered: Box<[AtomicU32]>,
}

// SAFETY: it is addresses of memory that consists of atomics; who makes it promises that the memory outlives its use.
unsafe impl Send for Mailboxes {}
// SAFETY: as above.
unsafe impl Sync for Mailboxes {}

impl Mailboxes {
    /// Writes a new buffer's words: no packet claimed, none ready.
    ///
    /// # Errors
    /// A null or misaligned address; no packets, or too many.
    ///
    /// # Safety
    /// `buffer` is null, misaligned, or as many bytes as [`layout::mailboxes_at`] ends with, that nobody uses.
    pub unsafe fn initialize(buffer: *mut u8, packets: u32) -> Result<(), Error> {
        let base = place::<MailboxWords>(buffer.expose_provenance() as u64)?;
        if !(1..=MOST).contains(&packets) {
            return Err(Error::InvalidRequest);
        }
        let [device, host, claims, headers, payloads, _] = layout::mailboxes_at(packets).map(|at| (buffer.addr() + at) as u64);
        for at in (device..headers).step_by(4) {
            // SAFETY: the caller's: the phases and the claims are within the buffer.
            unsafe { place::<AtomicU32>(at)?.as_ref() }.store(0, Ordering::Relaxed);
        }
        // SAFETY: the caller's.
        let words = unsafe { base.as_ref() };
        words.device_phase.store(device, Ordering::Relaxed);
        words.host_phase.store(host, Ordering::Relaxed);
        words.occupied.store(claims, Ordering::Relaxed);
        words.headers.store(headers, Ordering::Relaxed);
        words.payloads.store(payloads, Ordering::Relaxed);
        words.doorbell.store(0, Ordering::Relaxed);
        // Release: pairs with whatever hands the buffer to a device.
        words.packets.store(packets, Ordering::Release);
        Ok(())
    }

    /// Finds the parts of a buffer that was laid out before, by this library or by another.
    ///
    /// # Errors
    /// A null or misaligned address; words that no initialised buffer has.
    ///
    /// # Safety
    /// `buffer` is null, misaligned, or a buffer in which all addresses lead to memory of the sizes that it says, or 56
    /// bytes that are refused for what they hold.
    pub unsafe fn find(buffer: *mut u8) -> Result<Mailboxes, Error> {
        let base = place::<MailboxWords>(buffer.expose_provenance() as u64)?;
        // SAFETY: the caller's: at least 56 bytes, and aligned.
        let words = unsafe { base.as_ref() };
        let packets = words.packets.load(Ordering::Acquire);
        if !(1..=MOST).contains(&packets) {
            return Err(Error::InvalidRequest);
        }
        fn part<T>(word: &AtomicU64) -> Result<NonNull<T>, Error> {
            place::<T>(word.load(Ordering::Relaxed)).map_err(|_| Error::InvalidRequest)
        }
        let host = part::<AtomicU32>(&words.host_phase)?;
        // SAFETY: the caller's: as many words as there are packets.
        let answered = (0..packets as usize).map(|i| AtomicU32::new(unsafe { host.add(i).as_ref() }.load(Ordering::Relaxed))).collect();
        let (device, headers, payloads) = (part(&words.device_phase)?, part(&words.headers)?, part(&words.payloads)?);
        Ok(Mailboxes { base, device, host, headers, payloads, answered })
    }

    /// The buffer's own words.
    pub fn words(&self) -> &MailboxWords {
        // SAFETY: who made this promised that the memory is there while it is used; it is all atomics.
        unsafe { self.base.as_ref() }
    }

    /// How many packets there are.
    pub fn count(&self) -> u32 {
        self.answered.len() as u32
    }

    /// The word of a packet that waves flip.
    pub fn device_phase(&self, index: u32) -> Option<&AtomicU32> {
        // SAFETY: as in `words`; the index is compared.
        (index < self.count()).then(|| unsafe { self.device.add(index as usize).as_ref() })
    }

    /// The word of a packet that the host flips.
    pub fn host_phase(&self, index: u32) -> Option<&AtomicU32> {
        // SAFETY: as in `words`; the index is compared.
        (index < self.count()).then(|| unsafe { self.host.add(index as usize).as_ref() })
    }

    /// A packet's header.
    pub fn header(&self, index: u32) -> Option<&MailboxHeaderWords> {
        // SAFETY: as in `words`; the index is compared.
        (index < self.count()).then(|| unsafe { self.headers.add(index as usize).as_ref() })
    }

    /// A packet's payload.
    pub fn payload(&self, index: u32) -> Option<&PayloadWords> {
        // SAFETY: as in `words`; the index is compared.
        (index < self.count()).then(|| unsafe { self.payloads.add(index as usize).as_ref() })
    }

    /// The buffer's address.
    pub fn address(&self) -> usize {
        self.base.addr().get()
    }

    /// Whether a packet waits for the host.
    pub(crate) fn waits(&self, index: u32) -> bool {
        let (Some(device), Some(answered)) = (self.device_phase(index), self.answered.get(index as usize)) else { return false };
        (device.load(Ordering::Relaxed) ^ answered.load(Ordering::Relaxed)) & 1 == 1
    }

    /// Whether any packet waits for the host.
    pub(crate) fn any_waits(&self) -> bool {
        (0..self.count()).any(|index| self.waits(index))
    }

    /// Appends the packets that wait for the host, those that are being served among them.
    pub(crate) fn take(&self, taken: &mut Vec<u32>) {
        let begin = taken.len();
        taken.extend((0..self.count()).filter(|index| self.waits(*index)));
        // Acquire: with the loads above it pairs with the release of the waves that flipped their words.
        std::sync::atomic::fence(Ordering::Acquire);
        for index in &taken[begin..] {
            if let (Some(header), Some(payload)) = (self.header(*index), self.payload(*index)) {
                expect(header);
                expect(&payload.lanes[0]);
            }
        }
    }

    /// Notes that a packet is answered: from now on it does not wait. Only who took the packet calls this, once, and
    /// then `publish`.
    pub(crate) fn settle(&self, index: u32) {
        if let Some(answered) = self.answered.get(index as usize) {
            answered.fetch_xor(1, Ordering::Relaxed);
        }
    }

    /// Lets the wave of a settled packet go on.
    pub(crate) fn publish(&self, index: u32) {
        let (Some(host), Some(answered)) = (self.host_phase(index), self.answered.get(index as usize)) else { return };
        // Release: pairs with the acquire of the wave that waits.
        host.store(answered.load(Ordering::Relaxed), Ordering::Release);
    }
}

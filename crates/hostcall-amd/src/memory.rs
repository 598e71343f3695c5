//! A buffer in memory: laid out, or found to be laid out by somebody else.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::layout::{self, BufferWords, Form, HeaderWords, PayloadWords};
use crate::stacks::Packets;

/// Where the parts of a buffer lie. Read once: what the buffer says of itself afterwards changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    base: NonNull<BufferWords>,
    headers: NonNull<HeaderWords>,
    payloads: NonNull<PayloadWords>,
    packets: u32,
    index_size: u32,
}

// SAFETY: it is addresses of memory that consists of atomics; who makes a `Map` promises that the memory outlives its
// use.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

/// The address, if it can be that of a `T`.
pub(crate) fn place<T>(address: u64) -> Result<NonNull<T>, Error> {
    let pointer = std::ptr::with_exposed_provenance_mut::<T>(address as usize);
    let place = NonNull::new(pointer).ok_or(Error::Nullptr)?;
    if place.is_aligned() { Ok(place) } else { Err(Error::IncorrectAlignment) }
}

/// What this library has laid out at an address. The buffer itself says neither its form nor how many packets it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaidOut {
    pub(crate) packets: u32,
    pub(crate) form: Form,
}

impl LaidOut {
    /// How many packets lie at the address, and in which form, as far as they are still those: nobody says when a
    /// buffer is freed, and another may lie there now.
    ///
    /// # Safety
    /// `buffer` is null, misaligned, or 48 bytes of memory that consists of atomics.
    pub(crate) unsafe fn left_at(self, buffer: *mut u8) -> (Option<u32>, Option<Form>) {
        let Ok(base) = place::<BufferWords>(buffer.expose_provenance() as u64) else { return (None, None) };
        // SAFETY: the caller's.
        let words = unsafe { base.as_ref() };
        let at = |offset: usize| (buffer.addr() + offset) as u64;
        let are = |expected: [(&AtomicU64, u64); 2]| expected.into_iter().all(|(word, value)| word.load(Ordering::Relaxed) == value);
        if self.form == Form::Mailboxes {
            // The first words of both kinds of buffer are addresses, one in each of 64 bits.
            let [device, host, ..] = layout::mailboxes_at(self.packets);
            return (None, are([(&words.headers, at(device)), (&words.payloads, at(host))]).then_some(Form::Mailboxes));
        }
        if !are([(&words.headers, at(layout::HEADERS_AT)), (&words.payloads, at(layout::payloads_at(self.packets)))]) {
            return (None, None);
        }
        let same = words.index.load(Ordering::Relaxed) == index_word(self.form, index_bits(self.form, self.packets));
        (Some(self.packets), same.then_some(self.form))
    }
}

/// Bits of an index, in a form with stacks.
fn index_bits(form: Form, packets: u32) -> u32 {
    if form == Form::MaskedStacks { layout::masked_index_size(packets) } else { layout::index_size(packets) }
}

/// How a buffer says that an index has so many bits.
fn index_word(form: Form, bits: u32) -> u32 {
    if form == Form::MaskedStacks { (u64::MAX >> (64 - bits)) as u32 } else { bits }
}

/// What lies where a buffer is to be, before it is laid out.
///
/// # Safety
/// As for [`LaidOut::left_at`], and neither null nor misaligned.
pub(crate) unsafe fn is_blank(buffer: *mut u8) -> bool {
    // SAFETY: the caller's: six words, aligned.
    let words = unsafe { &*buffer.cast::<[AtomicU64; size_of::<BufferWords>() / 8]>() };
    words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
}

impl Map {
    /// Writes a new buffer's words: all packets free, none ready.
    ///
    /// # Errors
    /// A null or misaligned address, or no packets.
    ///
    /// # Safety
    /// `buffer` is null, misaligned, or [`layout::buffer_size`] bytes of memory that nobody uses.
    pub unsafe fn initialize(buffer: *mut u8, packets: u32, form: Form) -> Result<Map, Error> {
        let base = place::<BufferWords>(buffer.expose_provenance() as u64)?;
        if packets == 0 {
            return Err(Error::InvalidRequest);
        }
        let index_size = index_bits(form, packets);
        let headers = place(buffer.addr() as u64 + layout::HEADERS_AT as u64)?;
        let payloads = place(buffer.addr() as u64 + layout::payloads_at(packets) as u64)?;
        let map = Map { base, headers, payloads, packets, index_size };
        let mut free = 0;
        for index in 0..u64::from(packets) {
            // What the memory held before is nothing that a client may take for a packet.
            let header = map.header(index as u32).expect("within the number of packets");
            header.next.store(free, Ordering::Relaxed);
            header.active_mask.store(0, Ordering::Relaxed);
            header.service.store(0, Ordering::Relaxed);
            header.control.store(0, Ordering::Relaxed);
            free = if index == 0 { layout::next_tag(0, map.index_size) } else { index };
        }
        let words = map.words();
        words.headers.store(headers.as_ptr().expose_provenance() as u64, Ordering::Relaxed);
        words.payloads.store(payloads.as_ptr().expose_provenance() as u64, Ordering::Relaxed);
        words.doorbell.store(0, Ordering::Relaxed);
        words.ready_stack.store(0, Ordering::Relaxed);
        words.index.store(index_word(form, index_size), Ordering::Relaxed);
        words.index_high.store(0, Ordering::Relaxed);
        // Release: pairs with the acquire of the first client's `pop_free`.
        words.free_stack.store(free, Ordering::Release);
        Ok(map)
    }

    /// Finds the parts of a buffer that was laid out before, by this library or by another. `laid_out` is the number of
    /// packets that [`initialize`](Self::initialize) gave to the buffer at this address, if it did. It is believed if
    /// the payloads lie accordingly.
    ///
    /// A buffer does not say how many packets it has. One that somebody else laid out has as many as the highest of
    /// those that are free or ready says, and no more than there is room for headers: behind the headers may be
    /// padding, and no payload belongs to that.
    ///
    /// # Errors
    /// A null or misaligned address; words that no initialised buffer has.
    ///
    /// # Safety
    /// `buffer` is null, misaligned, or a buffer in which all addresses lead to memory of the sizes that it says, or 48
    /// bytes that are refused for what they hold.
    pub unsafe fn find(buffer: *mut u8, form: Form, laid_out: Option<u32>) -> Result<Map, Error> {
        let base = place::<BufferWords>(buffer.expose_provenance() as u64)?;
        // SAFETY: the caller's: at least 48 bytes, and aligned.
        let words = unsafe { base.as_ref() };
        let index = words.index.load(Ordering::Relaxed);
        let index_size = if form == Form::MaskedStacks {
            // A mask has its ones below, and nothing in its upper half: there are fewer packets than that.
            let is_mask = index & index.wrapping_add(1) == 0 && words.index_high.load(Ordering::Relaxed) == 0;
            if is_mask { index.count_ones() } else { 0 }
        } else {
            index
        };
        if !(1..=32).contains(&index_size) {
            return Err(Error::InvalidRequest);
        }
        let refuse = |_| Error::InvalidRequest;
        let (at_headers, at_payloads) = (words.headers.load(Ordering::Relaxed), words.payloads.load(Ordering::Relaxed));
        let headers = place::<HeaderWords>(at_headers).map_err(refuse)?;
        let payloads = place::<PayloadWords>(at_payloads).map_err(refuse)?;
        let behind = at_headers == buffer.addr() as u64 + layout::HEADERS_AT as u64;
        let packets = match laid_out {
            Some(packets) if behind && at_payloads == buffer.addr() as u64 + layout::payloads_at(packets) as u64 => u64::from(packets),
            _ => {
                let room = at_payloads.checked_sub(at_headers).filter(|_| behind).map(|bytes| bytes / size_of::<HeaderWords>() as u64);
                // SAFETY: the caller's.
                unsafe { Self::known_packets(words, headers, index_size, room.unwrap_or(1 << index_size)) }?
            }
        };
        let packets = u32::try_from(packets).map_err(|_| Error::InvalidRequest)?;
        if packets == 0 || layout::masked_index_size(packets) > index_size {
            return Err(Error::InvalidRequest);
        }
        Ok(Map { base, headers, payloads, packets, index_size })
    }

    /// One more than the highest index on the two stacks; an error if that is more than `room`.
    ///
    /// # Safety
    /// The headers of the packets on the stacks are there, if there are no more than `room`.
    unsafe fn known_packets(words: &BufferWords, headers: NonNull<HeaderWords>, index_size: u32, room: u64) -> Result<u64, Error> {
        let (mut most, mut steps) = (0, 0u64);
        for top in [&words.free_stack, &words.ready_stack] {
            // Acquire: pairs with the releases by which packets are pushed.
            let mut pointer = top.load(Ordering::Acquire);
            while pointer != 0 {
                let index = layout::index(pointer, index_size);
                most = most.max(index + 1);
                steps += 1;
                if steps > 1 << index_size || most > room {
                    return Err(Error::InvalidRequest);
                }
                // SAFETY: the caller's: a packet on the stack has a header.
                pointer = unsafe { headers.add(index as usize).as_ref() }.next.load(Ordering::Relaxed);
            }
        }
        Ok(most)
    }

    /// The buffer's own words.
    pub fn words(&self) -> &BufferWords {
        // SAFETY: who made the map promised that the memory is there while it is used; it is all atomics.
        unsafe { self.base.as_ref() }
    }

    /// A packet's header.
    pub fn header(&self, index: u32) -> Option<&HeaderWords> {
        // SAFETY: as in `words`; the index is compared.
        (index < self.packets).then(|| unsafe { self.headers.add(index as usize).as_ref() })
    }

    /// A packet's payload.
    pub fn payload(&self, index: u32) -> Option<&PayloadWords> {
        // SAFETY: as in `words`; the index is compared.
        (index < self.packets).then(|| unsafe { self.payloads.add(index as usize).as_ref() })
    }

    /// The buffer's address.
    pub fn address(&self) -> usize {
        self.base.addr().get()
    }
}

/// Asks for a line that will be written soon. Lines that another processor wrote come at once then, not one after
/// another.
#[inline]
pub(crate) fn expect<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction changes nothing that a program sees; the address is a reference's.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) std::ptr::from_ref(place), options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

impl Packets for Map {
    type Word = AtomicU64;
    fn free(&self) -> &AtomicU64 {
        &self.words().free_stack
    }
    fn ready(&self) -> &AtomicU64 {
        &self.words().ready_stack
    }
    fn next(&self, index: u64) -> Option<&AtomicU64> {
        Some(&self.header(u32::try_from(index).ok()?)?.next)
    }
    fn expect(&self, index: u64) {
        let Ok(index) = u32::try_from(index) else { return };
        if let (Some(header), Some(payload)) = (self.header(index), self.payload(index)) {
            expect(header);
            expect(&payload.lanes[0]);
        }
    }
    fn index_size(&self) -> u32 {
        self.index_size
    }
    fn count(&self) -> u32 {
        self.packets
    }
}

//! The host's half of the plain loop: the threads that answer.

use std::sync::atomic::{AtomicBool, Ordering};

use bench_services::answer;
use hostcall_abi::header::ReplyHead;
use hostcall_abi::word::{WORD_BYTES, pack, unpack};
use hostcall_abi::{Header, Status, Tag, Word};
use offload::{Line, LineStore};

/// Doorbells looked at together.
pub(super) const LOT: usize = 16;
/// Lanes of a wide message, and words of each of them.
pub(super) const LANES: usize = 32;
const LANE_WORDS: usize = Header::words_for(16, LANES as u32) as usize;
/// Room for these side by side without their tags, and for the last one's tag: more than a block.
const LANE_BYTES: usize = LANE_WORDS * WORD_BYTES as usize + size_of::<u16>();
/// Words of a lone lane's request behind its header.
const LONE_WORDS: usize = Header::words_for(16, 1) as usize;
/// Words of a lane's reply.
const REPLY_WORDS: usize = ReplyHead::words(4) as usize;
/// Sweeps without a message after which a thread looks whether the kernel has ended; on the simulator it also lets the
/// waves have the processor.
const IDLE: u32 = 256;

/// The words of an area: doorbells, requests and replies.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) bells: *const u32,
    pub(super) requests: *const u8,
    pub(super) request_bytes: usize,
    pub(super) replies: *mut u8,
    pub(super) reply_bytes: usize,
    pub(super) store: LineStore,
}

// SAFETY: addresses of shared memory, which is accessed by volatile or atomic accesses only.
unsafe impl Send for View {}

/// Answers the ports from `first` on, one for each element of `shadow`, until `mine` calls are answered or the kernel
/// has ended.
///
/// # Safety
/// The view's areas have these ports, and no other thread answers them.
#[inline(always)]
pub(super) unsafe fn serve(
    view: &View,
    first: usize,
    mut shadow: Vec<u32>,
    mine: u64,
    polite: bool,
    ended: &AtomicBool,
    message: impl Fn(&View, usize, Tag) -> bool,
) {
    let (mut served, mut idle) = (0, 0u32);
    while served < mine {
        let before = served;
        for (lot, shadow) in shadow.chunks_exact_mut(LOT).enumerate() {
            let lot = first + lot * LOT;
            // SAFETY: a lot of the view's doorbells.
            let rung = unsafe { rung(view.bells.add(lot), shadow) };
            if rung == 0 {
                continue;
            }
            let ports = || (0..LOT).filter(|k| rung & 1 << k != 0);
            for k in ports() {
                prefetch(view.requests.wrapping_add((lot + k) * view.request_bytes));
            }
            for k in ports() {
                let tag = Tag::new(shadow[k] as u16).next();
                if message(view, lot + k, tag) {
                    shadow[k] = tag.seq().into();
                    served += 1;
                }
            }
            view.store.fence();
        }
        if served != before {
            idle = 0;
            continue;
        }
        idle += 1;
        if idle.is_multiple_of(IDLE) {
            // Pairs with `Ends`.
            if ended.load(Ordering::Relaxed) {
                return;
            }
            if polite {
                std::thread::yield_now();
            }
        }
    }
}

/// Which of sixteen doorbells differ from their shadow.
///
/// # Safety
/// `bells` is the first of sixteen aligned words.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn rung(bells: *const u32, shadow: &[u32]) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
    // SAFETY: SSE2 is part of x86-64; the caller's words, and as many of the shadow.
    unsafe {
        let same = |i: usize| {
            let bells = std::mem::transmute::<Word, std::arch::x86_64::__m128i>(load16(bells.add(i * 4).cast()));
            _mm_cmpeq_epi32(bells, _mm_loadu_si128(shadow[i * 4..][..4].as_ptr().cast()))
        };
        let same = _mm_packs_epi16(_mm_packs_epi32(same(0), same(1)), _mm_packs_epi32(same(2), same(3)));
        !_mm_movemask_epi8(same) as u32 & 0xffff
    }
}

/// Which of sixteen doorbells differ from their shadow.
///
/// # Safety
/// `bells` is the first of sixteen aligned words.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn rung(bells: *const u32, shadow: &[u32]) -> u32 {
    // SAFETY: the caller's words, which are only accessed atomically. Pairs with the kernel's store; a hint.
    let bell = |i: usize| unsafe { std::sync::atomic::AtomicU32::from_ptr(bells.add(i).cast_mut()) }.load(Ordering::Relaxed);
    (0..LOT).fold(0, |rung, i| rung | u32::from(bell(i) != shadow[i]) << i)
}

/// Asks for the two lines with which a request begins.
#[inline(always)]
fn prefetch(request: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..2 {
        // SAFETY: a hint, which faults on no address.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(request.wrapping_add(line * Line::BYTES).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = request;
}

/// Loads a word in one piece.
///
/// # Safety
/// `at` is valid for reads of 16 bytes and aligned to 16.
#[inline(always)]
unsafe fn load16(at: *const u8) -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        let x: std::arch::x86_64::__m128i;
        // SAFETY: one aligned load of the caller's bytes; it changes neither memory, stack nor flags.
        unsafe { std::arch::asm!("movdqa {x}, [{at}]", x = out(xmm_reg) x, at = in(reg) at, options(nostack, preserves_flags, readonly)) };
        // SAFETY: both are 16 bytes of plain integers.
        unsafe { std::mem::transmute::<std::arch::x86_64::__m128i, Word>(x) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let (a, b): (u64, u64);
        // SAFETY: as above.
        unsafe {
            std::arch::asm!("ldp {a}, {b}, [{at}]", a = out(reg) a, b = out(reg) b, at = in(reg) at, options(nostack, preserves_flags, readonly))
        };
        Word([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, and so no server that this could be compared with; asked for {at:?}")
    }
}

/// The units of a block from number `first` on, of the words that carry them. All of it happens in registers: a load
/// from memory to which two stores have just gone would wait for both.
#[inline(always)]
fn units<const WORDS: usize>(first: usize, words: &[Word; WORDS], head: [u32; 2]) -> [u32; 16] {
    std::array::from_fn(|i| if i < first { head[i] } else { unpack((i - first) as u32, |j| words[j as usize]) })
}

/// The two words of the reply to a block.
#[inline(always)]
fn reply(block: &[u32; 16], tag: Tag) -> [Word; REPLY_WORDS] {
    let [a, b] = answer(block);
    let units = [ReplyHead { status: Status::OK, dwords: 4 }.encode(), a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32, 0, 0];
    [0, 1].map(|j| Word::new(pack(j, |k| units.get(k as usize).copied().unwrap_or(0)), tag.payload()))
}

/// Stores a line of replies.
///
/// # Safety
/// `to` is a line of the view's reply areas, which no other thread writes.
#[inline(always)]
pub(super) unsafe fn store(view: &View, to: *mut u8, words: &[Word]) {
    let line = Line(std::array::from_fn(|i| words.get(i / 4).map_or(0, |word| word.0[i % 4])));
    // SAFETY: the caller's; the area found out what this processor has.
    unsafe { view.store.store(to, &line) };
}

/// Answers the message of a lone lane, if all of it is there.
///
/// # Safety
/// A port of the view's, which no other thread answers.
#[inline(always)]
pub(super) unsafe fn scalar(view: &View, port: usize, tag: Tag) -> bool {
    let request = view.requests.wrapping_add(port * view.request_bytes);
    // SAFETY: the port's first word.
    let head = unsafe { load16(request) };
    if head.tag() != tag.header() {
        return false;
    }
    // SAFETY: words of the port's request.
    let words: [Word; LONE_WORDS] = std::array::from_fn(|j| unsafe { load16(request.add((1 + j) * size_of::<Word>())) });
    if words.iter().fold(0, |wrong, word| wrong | word.tag() ^ tag.payload()) != 0 {
        return false;
    }
    let [a, b] = reply(&units(2, &words, Header::decode(head).1), tag);
    // SAFETY: the port's first line.
    unsafe {
        store(
            view,
            view.replies.wrapping_add(port * view.reply_bytes),
            &[a, b, Word::new([0; 4], tag.payload()), Word::new([0; 4], tag.payload())],
        )
    };
    true
}

/// Answers the message of a whole wave, if all of it is there.
///
/// # Safety
/// A port of the view's, which no other thread answers.
#[inline(always)]
pub(super) unsafe fn wide(view: &View, port: usize, tag: Tag) -> bool {
    let request = view.requests.wrapping_add(port * view.request_bytes);
    // SAFETY: the port's first word.
    if unsafe { load16(request) }.tag() != tag.header() {
        return false;
    }
    // In the order in which they lie, so that the processor fetches what follows meanwhile; and each lane's side by
    // side, each word over the last one's tag, so that nothing need be shifted.
    let mut asked = [[0u8; LANE_BYTES]; LANES];
    let mut wrong = 0;
    for j in 0..LANE_WORDS {
        for (lane, bytes) in asked.iter_mut().enumerate() {
            // SAFETY: a word of the port's request.
            let word = unsafe { load16(request.add((1 + j * LANES + lane) * size_of::<Word>())) };
            wrong |= word.tag() ^ tag.payload();
            let to = bytes[j * WORD_BYTES as usize..][..size_of::<Word>()].as_mut_ptr().cast::<Word>();
            // SAFETY: as many bytes as were sliced.
            unsafe { to.write_unaligned(word) };
        }
    }
    if wrong != 0 {
        return false;
    }
    let mut words = [Word([0; 4]); REPLY_WORDS * LANES];
    for (lane, bytes) in asked.iter().enumerate() {
        let block = std::array::from_fn(|i| u32::from_ne_bytes(*bytes[4 * i..].first_chunk().expect("four bytes")));
        let [a, b] = reply(&block, tag);
        (words[lane], words[LANES + lane]) = (a, b);
    }
    let to = view.replies.wrapping_add(port * view.reply_bytes);
    for (line, words) in words.chunks_exact(4).enumerate() {
        // SAFETY: a line of the port's reply area.
        unsafe { store(view, to.wrapping_add(line * Line::BYTES), words) };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doorbells_that_differ_from_their_shadow_have_rung() {
        #[repr(align(64))]
        struct Bells([u32; LOT]);
        let mut bells = Bells(std::array::from_fn(|i| i as u32 * 0x0101_0101));
        let shadow = bells.0;
        for (set, expected) in [(&[][..], 0), (&[0], 1), (&[3, 8, 15], 1 << 3 | 1 << 8 | 1 << 15)] {
            bells.0 = shadow;
            set.iter().for_each(|&i: &usize| bells.0[i] ^= 1 << 14);
            // SAFETY: sixteen words.
            assert_eq!(unsafe { rung(bells.0.as_ptr(), &shadow) }, expected);
        }
    }
}

//! The words of a port buffer, read and written as the wire demands: relaxed, and each in one piece.
//!
//! A device that the compiler knows nothing of writes shared memory. So words are moved by inline assembly or by
//! atomics, never through references.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::geometry::{Geometry, HostLayout};
use hostcall_abi::port::{HostMemory, LaneReplies, store_replies_by_words};
use hostcall_abi::word::WORD_BYTES;
use hostcall_abi::{Tag, Word};

use super::window::WindowWords;

/// Whether this processor moves aligned 16-byte words in one piece.
///
/// x86-64: processors with AVX guarantee it for aligned SSE moves (Intel SDM vol. 3A §10.1.1, AMD APM vol. 2 §7.3.2).
/// AArch64: those with `FEAT_LSE2` guarantee it for `ldp`/`stp` of an aligned pair.
pub(super) fn has_whole_words() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx")
    }
    #[cfg(target_arch = "aarch64")]
    {
        std::arch::is_aarch64_feature_detected!("lse2")
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        false
    }
}

/// Request and reply areas of one port buffer. Every access checks its index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortWords {
    requests: NonNull<u8>,
    replies: NonNull<u8>,
    marks: NonNull<AtomicU32>,
    turns: NonNull<AtomicU32>,
    window: Option<WindowWords>,
    request_words: u32,
    reply_words: u32,
    ports: u32,
}

// SAFETY: addresses of shared memory, which is accessed with atomic (or equivalent) accesses only.
unsafe impl Send for PortWords {}
// SAFETY: as above.
unsafe impl Sync for PortWords {}

impl PortWords {
    /// # Safety
    /// `base` is the start of the host part of a buffer of this (valid) geometry, aligned to a page; it stays valid
    /// while the words are used, and nobody makes references into it. If the geometry has a window, this is it.
    /// [`has_whole_words`] said yes.
    pub(super) unsafe fn new(base: NonNull<u8>, geometry: &Geometry, layout: &HostLayout, window: Option<WindowWords>) -> Self {
        // SAFETY: all offsets lie inside the buffer, as the caller promises.
        let part = |at: usize| unsafe { base.add(at) };
        let (requests, replies) = (part(layout.requests), part(layout.replies));
        let (marks, turns) = (part(layout.marks).cast(), part(layout.turns).cast());
        let Geometry { request_words, reply_words, ports, .. } = *geometry;
        Self { requests, replies, marks, turns, window, request_words, reply_words, ports }
    }

    /// The mark of a port: memory that the device can reach, though it has no business there.
    ///
    /// # Panics
    /// When there is no such port.
    #[inline(always)]
    pub(crate) fn mark(&self, port: u32) -> &AtomicU32 {
        assert!(port < self.ports, "port {port} has no mark");
        // SAFETY: one `u32` for each port lies there, as long as the words are used, and all accesses to it are atomic.
        unsafe { self.marks.add(port as usize).as_ref() }
    }

    /// The mark of the share that begins with a port: memory as that of a port's.
    ///
    /// # Panics
    /// When there is no such port.
    #[inline(always)]
    pub(crate) fn turn(&self, first: u32) -> &AtomicU32 {
        assert!(first < self.ports, "no share begins with port {first}");
        // SAFETY: one `u32` for each lot of ports lies there, as long as the words are used, and all accesses to it are
        // atomic.
        unsafe { self.turns.add((first / Geometry::LOT) as usize).as_ref() }
    }

    /// The first of `count` words of a request area.
    #[inline(always)]
    fn request(&self, port: u32, index: u32, count: u32) -> *mut u8 {
        let inside = port < self.ports && index <= self.request_words && count <= self.request_words - index;
        assert!(inside, "{count} words from {index} of port {port} are outside the request areas");
        // SAFETY: inside the request areas, as just checked.
        unsafe { self.requests.as_ptr().add((port as usize * self.request_words as usize + index as usize) * size_of::<Word>()) }
    }

    #[inline(always)]
    fn reply(&self, port: u32, index: u32) -> *mut u8 {
        assert!(
            self.window.is_none() && port < self.ports && index < self.reply_words,
            "word {index} of port {port} is outside the reply areas"
        );
        // SAFETY: inside the reply areas, as just checked; without a window they are in the host part.
        unsafe { self.replies.as_ptr().add((port as usize * self.reply_words as usize + index as usize) * size_of::<Word>()) }
    }

    /// Writes the replies to several lanes: what [`store_replies_by_words`] does, checked once for all words.
    #[inline(always)]
    fn store_rows(&self, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        let &LaneReplies { lanes, words, stride, streams } = replies;
        let (lanes, apart) = (lanes as usize, stride * 4);
        assert!(lanes as u32 * words <= self.reply_words, "{words} words of {lanes} lanes are outside the reply areas");
        let Some(last) = words.checked_sub(1) else { return };
        let end = (lanes - 1) * apart + (last * WORD_BYTES) as usize + size_of::<Word>();
        assert!(end <= size_of_val(streams), "the replies are inside the streams, with what is to spare behind them");
        let base = self.reply(port, 0);
        // A lane's first word last: when the client sees it, the others are on their way.
        for j in (0..words).rev() {
            let mut from = streams.as_ptr().cast::<u8>().wrapping_add((j * WORD_BYTES) as usize);
            let mut to = base.wrapping_add(j as usize * lanes * size_of::<Word>());
            for _ in 0..lanes {
                // SAFETY: 16 bytes of the streams, of which the last lane's last word ends at `end`.
                let word = unsafe { word_at(from, tag.payload()) };
                // SAFETY: a word of the port's reply area, of which there are at least `lanes * words`; see
                // `store_reply`.
                unsafe { store16(to, word) };
                from = from.wrapping_add(apart);
                to = to.wrapping_add(size_of::<Word>());
            }
        }
    }

    /// Before the replies to what handlers have done: what they wrote is seen before the replies are. Ordinary stores
    /// are by themselves.
    #[inline(always)]
    pub(crate) fn before_replies(&self) {
        if let Some(window) = &self.window {
            window.order();
        }
    }

    /// Replies leave the processor now.
    #[inline(always)]
    pub(crate) fn after_replies(&self) {
        if let Some(window) = &self.window {
            window.flush();
        }
    }

    /// Before another thread may answer the same ports: its replies are seen after those written so far.
    #[inline(always)]
    pub(crate) fn before_handing_over(&self) {
        if let Some(window) = &self.window {
            window.order();
        }
    }

    /// Asks for two lines of a port's request, from word `index` on, ahead of time, and for that of its first reply
    /// word, which will be stored: the device's loads have left it with nobody, or shared. All of it is a hint.
    #[inline(always)]
    pub(crate) fn expect(&self, port: u32, index: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let (port, word) = (port as usize, size_of::<Word>());
            let at = self.requests.as_ptr().wrapping_add((port * self.request_words as usize + index as usize) * word);
            // SAFETY: hints; they fault on no address.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
                _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(Geometry::LINE_WORDS as usize * word).cast());
            }
            if self.window.is_none() {
                let at = self.replies.as_ptr().wrapping_add(port * self.reply_words as usize * word);
                // SAFETY: a hint; it faults on no address, and processors that do not know it take it for a `nop`.
                unsafe { std::arch::asm!("prefetchw [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly)) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (port, index);
    }
}

/// The word of 14 bytes of payload and a tag.
///
/// # Safety
/// `at` is valid for reads of 16 bytes, which nobody else writes.
#[inline(always)]
unsafe fn word_at(at: *const u8, tag: u16) -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_loadu_si128, _mm_or_si128, _mm_set_epi16};
        // SAFETY: SSE2 is part of x86-64; 16 bytes, as the caller says. `Word` is 16 bytes of plain integers, as
        // vectors are.
        unsafe {
            let payload = _mm_and_si128(_mm_loadu_si128(at.cast()), _mm_set_epi16(0, -1, -1, -1, -1, -1, -1, -1));
            std::mem::transmute::<__m128i, Word>(_mm_or_si128(payload, _mm_set_epi16(tag.cast_signed(), 0, 0, 0, 0, 0, 0, 0)))
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // SAFETY: 16 bytes, as the caller says, which are plain integers.
        Word::new(unsafe { at.cast::<[u32; 4]>().read_unaligned() }, tag)
    }
}

/// Loads an aligned word in one piece.
///
/// # Safety
/// `at` is valid for reads of 16 bytes and aligned to 16; [`has_whole_words`] said yes.
#[inline(always)]
pub(crate) unsafe fn load16(at: *const u8) -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        let x: std::arch::x86_64::__m128i;
        // SAFETY: one aligned load from a valid address; it changes neither memory, stack nor flags.
        unsafe { std::arch::asm!("movdqa {x}, [{at}]", x = out(xmm_reg) x, at = in(reg) at, options(nostack, preserves_flags, readonly)) };
        // SAFETY: both are 16 bytes of plain integers.
        unsafe { std::mem::transmute::<std::arch::x86_64::__m128i, Word>(x) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let (a, b): (u64, u64);
        // The barrier keeps reads of staged bytes behind the word that announces them (x86-64 orders loads by itself).
        // SAFETY: one aligned load from a valid address, and a barrier; neither stack nor flags are changed.
        unsafe {
            std::arch::asm!("ldp {a}, {b}, [{at}]", "dmb oshld", a = out(reg) a, b = out(reg) b, at = in(reg) at, options(nostack, preserves_flags))
        };
        Word([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, see `has_whole_words`; asked for {at:?}")
    }
}

/// Stores an aligned word in one piece.
///
/// # Safety
/// `at` is valid for writes of 16 bytes and aligned to 16; [`has_whole_words`] said yes.
#[inline(always)]
pub(crate) unsafe fn store16(at: *mut u8, word: Word) {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: both are 16 bytes of plain integers.
        let x = unsafe { std::mem::transmute::<Word, std::arch::x86_64::__m128i>(word) };
        // SAFETY: one aligned store to a valid address; it changes neither stack nor flags.
        unsafe { std::arch::asm!("movdqa [{at}], {x}", x = in(xmm_reg) x, at = in(reg) at, options(nostack, preserves_flags)) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        let [a, b, c, d] = word.0.map(u64::from);
        let (a, b) = (a | b << 32, c | d << 32);
        // The barrier keeps staged bytes before the word that announces them (x86-64 orders stores by itself).
        // SAFETY: a barrier, and one aligned store to a valid address; neither stack nor flags are changed.
        unsafe {
            std::arch::asm!("dmb oshst", "stp {a}, {b}, [{at}]", a = in(reg) a, b = in(reg) b, at = in(reg) at, options(nostack, preserves_flags))
        };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, see `has_whole_words`; asked for {at:?} and {word:?}")
    }
}

impl HostMemory for PortWords {
    #[inline(always)]
    fn load_request(&self, port: u32, index: u32) -> Word {
        #[cfg(feature = "count-loads")]
        crate::test_utils::count_loads(1);
        // SAFETY: the address is a word of the request areas; whoever made this saw to it that the processor moves
        // words whole.
        unsafe { load16(self.request(port, index, 1)) }
    }

    #[inline(always)]
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        // SAFETY: as above, of the reply areas.
        unsafe { store16(self.reply(port, index), word) }
    }

    #[inline(always)]
    fn store_replies(&self, geometry: &Geometry, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        match &self.window {
            Some(window) => window.store_replies(port, tag, replies),
            None if replies.lanes == 1 || tag.scrubs() => store_replies_by_words(self, geometry, port, tag, replies),
            None => self.store_rows(port, tag, replies),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn load_payload(&self, port: u32, at: u32, lanes: u32, words: u32, tag: u16, out: &mut [u32]) -> bool {
        use std::arch::x86_64::{
            __m128i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi16, _mm_setzero_si128, _mm_storeu_si128, _mm_xor_si128,
        };
        #[cfg(feature = "count-loads")]
        crate::test_utils::count_loads(lanes * words);
        let start = self.request(port, at, lanes * words).cast_const();
        let row = lanes as usize * size_of::<Word>();
        let stride = hostcall_abi::port::lane_stride(words) * 4;
        assert!(lanes as usize * stride + size_of::<Word>() <= size_of_val(out), "the payload fits where it is copied to");
        let to = out.as_mut_ptr().cast::<u8>();
        // SAFETY: SSE2 is part of x86-64. Each word loaded is one of the message, which is inside the request area.
        // Word `j` of a lane is stored to its 14 bytes and the two behind them, which the next word (or the next lane's
        // first) overwrites: all inside `out`, as the assertion above says.
        unsafe {
            let tag = _mm_set1_epi16(tag.cast_signed());
            let mut wrong = _mm_setzero_si128();
            for lane in 0..lanes as usize {
                let mut from = start.wrapping_add(lane * size_of::<Word>());
                let mut to = to.wrapping_add(lane * stride);
                for _ in 0..words {
                    let word = std::mem::transmute::<Word, __m128i>(load16(from));
                    wrong = _mm_or_si128(wrong, _mm_xor_si128(word, tag));
                    _mm_storeu_si128(to.cast(), word);
                    from = from.wrapping_add(row);
                    to = to.wrapping_add(WORD_BYTES as usize);
                }
            }
            // Only the last of the eight halves is the tag.
            _mm_movemask_epi8(_mm_cmpeq_epi16(wrong, _mm_setzero_si128())) >> 14 == 3
        }
    }
}

/// A dense array of doorbell words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doorbells(pub(crate) NonNull<u32>);

// SAFETY: an address of shared memory, accessed atomically only.
unsafe impl Send for Doorbells {}
// SAFETY: as above.
unsafe impl Sync for Doorbells {}

impl Doorbells {
    /// The doorbell of `port`, which exists.
    #[inline(always)]
    pub(crate) fn load(&self, port: u32) -> u32 {
        // SAFETY: the caller's port exists, so the word is inside the array; all accesses to it are atomic.
        // Relaxed: only a hint. Pairs with nothing.
        unsafe { AtomicU32::from_ptr(self.0.as_ptr().add(port as usize)) }.load(Ordering::Relaxed)
    }
}

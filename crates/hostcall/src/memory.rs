//! The words of a port buffer, read and written as the wire demands: relaxed, and each in one piece.
//!
//! Shared memory is written by a device that the compiler knows nothing of, so words are moved by inline assembly or by
//! atomics, never through references.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hostcall_abi::Word;
use hostcall_abi::geometry::{Geometry, HostLayout, WordForm};
use hostcall_abi::port::HostMemory;

/// Request and reply areas of one port buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Areas {
    requests: NonNull<u8>,
    replies: NonNull<u8>,
    request_words: u32,
    reply_words: u32,
    ports: u32,
}

// SAFETY: addresses of shared memory, which is accessed with atomic (or equivalent) accesses only.
unsafe impl Send for Areas {}
// SAFETY: as above.
unsafe impl Sync for Areas {}

impl Areas {
    /// # Safety
    /// `base` is the start of the host part of a buffer of this (valid) geometry, aligned to a page; it stays valid while
    /// the areas are used, and nobody makes references into it.
    pub(crate) unsafe fn new(base: NonNull<u8>, geometry: &Geometry, layout: &HostLayout) -> Self {
        // SAFETY: both offsets lie inside the buffer, as the caller promises.
        let (requests, replies) = unsafe { (base.add(layout.requests), base.add(layout.replies)) };
        Self { requests, replies, request_words: geometry.request_words, reply_words: geometry.reply_words, ports: geometry.ports }
    }

    #[inline(always)]
    fn request(&self, port: u32, index: u32, stride: usize) -> *mut u8 {
        debug_assert!(port < self.ports && index < self.request_words);
        // SAFETY: the server half looks at indices below `request_words` of existing ports only (checked in debug builds),
        // so the address is inside the request areas.
        unsafe { self.requests.as_ptr().add((port as usize * self.request_words as usize + index as usize) * stride) }
    }

    #[inline(always)]
    fn reply(&self, port: u32, index: u32, stride: usize) -> *mut u8 {
        debug_assert!(port < self.ports && index < self.reply_words);
        // SAFETY: as in `request`, for the reply areas.
        unsafe { self.replies.as_ptr().add((port as usize * self.reply_words as usize + index as usize) * stride) }
    }
}

/// Words of 16 bytes, each moved by one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Single16(pub(crate) Areas);

impl Single16 {
    /// Whether this processor moves aligned 16-byte words in one piece.
    ///
    /// x86-64: processors with AVX guarantee it for aligned SSE moves (Intel SDM vol. 3A §10.1.1, AMD APM vol. 2 §7.3.2).
    /// AArch64: those with `FEAT_LSE2` guarantee it for `ldp`/`stp` of an aligned pair.
    pub(crate) fn supported() -> bool {
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
}

/// Loads an aligned word in one piece.
///
/// # Safety
/// `at` is valid for reads of 16 bytes and aligned to 16; [`Single16::supported`] said yes.
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
        Word { data: [a as u32, (a >> 32) as u32, b as u32], tag: (b >> 32) as u32 }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, see `Single16::supported`; asked for {at:?}")
    }
}

/// Stores an aligned word in one piece.
///
/// # Safety
/// `at` is valid for writes of 16 bytes and aligned to 16; [`Single16::supported`] said yes.
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
        let a = word.data[0] as u64 | (word.data[1] as u64) << 32;
        let b = word.data[2] as u64 | (word.tag as u64) << 32;
        // The barrier keeps staged bytes before the word that announces them (x86-64 orders stores by itself).
        // SAFETY: a barrier, and one aligned store to a valid address; neither stack nor flags are changed.
        unsafe {
            std::arch::asm!("dmb oshst", "stp {a}, {b}, [{at}]", a = in(reg) a, b = in(reg) b, at = in(reg) at, options(nostack, preserves_flags))
        };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, see `Single16::supported`; asked for {at:?} and {word:?}")
    }
}

impl HostMemory for Single16 {
    #[inline(always)]
    fn load_request(&self, port: u32, index: u32) -> Word {
        // SAFETY: the address is a word of the request areas; `PortBuffer` makes this form only where it is supported.
        unsafe { load16(self.0.request(port, index, 16)) }
    }

    #[inline(always)]
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        // SAFETY: as above, of the reply areas.
        unsafe { store16(self.0.reply(port, index, 16), word) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn load_payload(&self, port: u32, at: u32, lanes: u32, words: u32, tag: u32, out: &mut [u32]) -> bool {
        use std::arch::x86_64::{
            __m128i, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi32, _mm_setzero_si128, _mm_storeu_si128, _mm_xor_si128,
        };
        debug_assert!(at + lanes * words <= self.0.request_words);
        assert!(lanes as usize * words as usize * 3 < out.len());
        let start = self.0.request(port, at, 16).cast_const();
        let row = lanes as usize * 16;
        let mut to = out.as_mut_ptr();
        // SAFETY: SSE2 is part of x86-64. Each word loaded is one of the message, which is inside the request area, and the form is supported
        // where it is made. Word `n` of all is stored to units `3n..3n + 4`, the last of which the next one overwrites: inside `out`,
        // as the assertion above says.
        unsafe {
            let tag = _mm_set1_epi32(tag.cast_signed());
            let mut wrong = _mm_setzero_si128();
            for lane in 0..lanes as usize {
                let mut from = start.wrapping_add(lane * 16);
                for _ in 0..words {
                    let word = std::mem::transmute::<Word, __m128i>(load16(from));
                    wrong = _mm_or_si128(wrong, _mm_xor_si128(word, tag));
                    _mm_storeu_si128(to.cast(), word);
                    from = from.wrapping_add(row);
                    to = to.wrapping_add(3);
                }
            }
            // Only the last of the four units is the tag.
            _mm_movemask_epi8(_mm_cmpeq_epi32(wrong, _mm_setzero_si128())) >> 12 == 0xf
        }
    }
}

/// Words as three 8-byte (payload, tag) pairs, for machines without 16-byte accesses in one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triple8(pub(crate) Areas);

/// Loads a word of three pairs. If their tags disagree, the word is being written, and its tag here is none of the three: not the
/// one of the message that is expected, whose writer has begun.
///
/// # Safety
/// `at` is valid for reads of 24 bytes and aligned to 8.
#[inline(always)]
pub(crate) unsafe fn load24(at: *mut u8) -> Word {
    // SAFETY: valid and aligned for three `u64`, as the caller promises; all accesses to them are atomic.
    let pair = |i: usize| unsafe { AtomicU64::from_ptr(at.cast::<u64>().add(i)) }.load(Ordering::Acquire);
    // Acquire: staged bytes are read behind the word that announces them. Pairs with the other side's `store24`, or its
    // device's 8-byte stores.
    let [a, b, c] = [pair(0), pair(1), pair(2)];
    let [ta, tb, tc] = [(a >> 32) as u32, (b >> 32) as u32, (c >> 32) as u32];
    let tag = if ta == tb && tb == tc {
        ta
    } else {
        [1 << 30, 1 << 29, 1 << 28].map(|bit| ta ^ bit).into_iter().find(|&t| t != tb && t != tc).unwrap_or(!ta)
    };
    Word { data: [a as u32, b as u32, c as u32], tag }
}

/// Stores a word as three pairs.
///
/// # Safety
/// `at` is valid for writes of 24 bytes and aligned to 8.
#[inline(always)]
pub(crate) unsafe fn store24(at: *mut u8, word: Word) {
    for (i, &data) in word.data.iter().enumerate() {
        // SAFETY: valid and aligned for three `u64`, as the caller promises; all accesses to them are atomic.
        let pair = unsafe { AtomicU64::from_ptr(at.cast::<u64>().add(i)) };
        // Release: staged bytes are written before the word that announces them. Pairs with the other side's `load24`.
        pair.store(u64::from(data) | u64::from(word.tag) << 32, Ordering::Release);
    }
}

impl HostMemory for Triple8 {
    #[inline(always)]
    fn load_request(&self, port: u32, index: u32) -> Word {
        // SAFETY: the address is a word of the request areas.
        unsafe { load24(self.0.request(port, index, 24)) }
    }

    #[inline(always)]
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        // SAFETY: the address is a word of the reply areas.
        unsafe { store24(self.0.reply(port, index, 24), word) }
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

/// How the words of a buffer are accessed: decided once per sweep, not per word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Words {
    Single16(Single16),
    Triple8(Triple8),
}

impl Words {
    pub(crate) fn new(areas: Areas, form: WordForm) -> Self {
        match form {
            WordForm::Single16 => Self::Single16(Single16(areas)),
            WordForm::Triple8 => Self::Triple8(Triple8(areas)),
        }
    }
}

impl HostMemory for Words {
    #[inline(always)]
    fn load_request(&self, port: u32, index: u32) -> Word {
        match self {
            Self::Single16(memory) => memory.load_request(port, index),
            Self::Triple8(memory) => memory.load_request(port, index),
        }
    }

    #[inline(always)]
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        match self {
            Self::Single16(memory) => memory.store_reply(port, index, word),
            Self::Triple8(memory) => memory.store_reply(port, index, word),
        }
    }
}

/// Memory of a port buffer whose words can be asked for ahead of time. All are hints.
pub(crate) trait Prefetch: HostMemory {
    /// A word of a request area will be loaded.
    fn expect_request(&self, port: u32, index: u32) {
        let _ = (port, index);
    }

    /// A word of a reply area will be stored. The device's loads have left its line with nobody, or shared.
    fn expect_reply(&self, port: u32, index: u32) {
        let _ = (port, index);
    }
}

#[cfg(target_arch = "x86_64")]
impl Prefetch for Single16 {
    #[inline(always)]
    fn expect_request(&self, port: u32, index: u32) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // Into the second-level cache: a server of thousands of ports would push its own state out of the first.
        // SAFETY: a hint; it faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(self.0.request(port, index, 16).cast()) };
    }

    #[inline(always)]
    fn expect_reply(&self, port: u32, index: u32) {
        // SAFETY: a hint; it faults on no address, and processors that do not know it take it for a `nop`.
        unsafe {
            std::arch::asm!("prefetchw [{at}]", at = in(reg) self.0.reply(port, index, 16), options(nostack, preserves_flags, readonly))
        };
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Prefetch for Single16 {}

impl Prefetch for Triple8 {}

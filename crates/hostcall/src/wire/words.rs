//! The words of a port buffer, read and written as the wire demands: relaxed, and each in one piece.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::geometry::{Geometry, HostLayout};
use hostcall_abi::port::{HostMemory, LaneReplies, store_replies_by_words};
use hostcall_abi::word::WORD_BYTES;
use hostcall_abi::{ReplyHead, Tag, Word};
use offload::Line;

use super::whole::{load16, store16, word_at};
use super::window::WindowWords;

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
    /// [`has_whole_words`](super::whole::has_whole_words) said yes.
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

    /// Leaves the mark `after` of a port, whose last one was `before`: at once when a message was taken, before it is
    /// handled, since a kernel whose calls are answered may end, and then all that it can reach may be saved. A mark
    /// that is another one was put back meanwhile, and stays: then this is false.
    ///
    /// # Panics
    /// When there is no such port.
    #[inline(always)]
    pub(crate) fn leave_mark(&self, port: u32, before: u32, after: u32) -> bool {
        let mark = self.mark(port);
        // Pairs with nothing: marks are read by the thread that has the ports' lock, under which they are written. (No
        // exchange: who puts memory back uses none, and what is between the two accesses is a nanosecond.)
        let same = mark.load(Ordering::Relaxed) == before;
        if same {
            mark.store(after, Ordering::Relaxed);
        }
        same
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

    /// Writes the reply to a lone lane that is the first `words` words of `line`. The others have its tag and mean
    /// nothing.
    ///
    /// # Panics
    /// When there is no such port, or it has no such words.
    #[inline(always)]
    pub(super) fn store_lone(&self, geometry: &Geometry, port: u32, words: u32, line: &Line) {
        if let Some(window) = &self.window {
            return window.put_line(port, 0, line);
        }
        // The first word last: when the client sees it, the others are on their way.
        for (j, word) in (0..words).zip(line.0.chunks_exact(4)).rev() {
            if let &[a, b, c, d] = word {
                self.store_reply(port, ReplyHead::place(1, 0, j, geometry.lone_stride()), Word([a, b, c, d]));
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

impl HostMemory for PortWords {
    #[inline(always)]
    fn load_request(&self, port: u32, index: u32) -> Word {
        #[cfg(feature = "count-loads")]
        count_loads(1);
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
    fn load_lone(&self, port: u32, head: Word, at: u32, words: u32, tag: u16, out: &mut [u32]) -> bool {
        use super::join::{LONE, Row, join_lone};
        if words > LONE {
            let (start, rest) = out.split_at_mut(hostcall_abi::Header::LONE_UNITS as usize);
            start.copy_from_slice(&hostcall_abi::Header::decode(head).1);
            return self.load_payload(port, at, 1, words, tag, rest);
        }
        #[cfg(feature = "count-loads")]
        count_loads(words);
        let start = self.request(port, at, words).cast_const();
        let bytes = 8 + (words * WORD_BYTES) as usize;
        assert!(bytes.next_multiple_of(16) <= size_of_val(out), "the payload fits where it is copied to");
        // SAFETY: each word of the row is one of the message, which is inside the request area. What is stored is
        // inside `out`, as the assertion above says.
        unsafe {
            let mut row = Row::new(start, size_of::<Word>(), out.as_mut_ptr().cast(), tag);
            join_lone(&mut row, head, words);
            row.is_whole()
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn load_payload(&self, port: u32, at: u32, lanes: u32, words: u32, tag: u16, out: &mut [u32]) -> bool {
        use super::join::Row;
        #[cfg(feature = "count-loads")]
        count_loads(lanes * words);
        let start = self.request(port, at, lanes * words).cast_const();
        let apart = lanes as usize * size_of::<Word>();
        let stride = hostcall_abi::port::lane_stride(words) * 4;
        assert!(lanes as usize * stride + size_of::<Word>() <= size_of_val(out), "the payload fits where it is copied to");
        // SAFETY: each word of the rows is one of the message, which is inside the request area. What is stored of a
        // lane is its bytes and 2 behind them, which the next lane's overwrite: all inside `out`, as the assertion
        // above says.
        unsafe {
            let mut row = Row::new(start, apart, out.as_mut_ptr().cast(), tag);
            // A number that is known where the loop is compiled saves a loop for each lane.
            match words {
                1 => row.lanes(lanes, 1, stride),
                2 => row.lanes(lanes, 2, stride),
                3 => row.lanes(lanes, 3, stride),
                4 => row.lanes(lanes, 4, stride),
                5 => row.lanes(lanes, 5, stride),
                words => row.lanes(lanes, words, stride),
            }
            row.is_whole()
        }
    }
}

#[cfg(feature = "count-loads")]
thread_local! {
    /// Words of request areas that this thread has loaded.
    pub(crate) static LOADED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// So many words are loaded.
#[cfg(feature = "count-loads")]
fn count_loads(words: u32) {
    LOADED.set(LOADED.get() + u64::from(words));
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

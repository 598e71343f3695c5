//! The words that the host writes for a device through a window: replies and the control line, by whole lines.
//!
//! A window is written and never read. Stores into it are weakly ordered. So there are fences
//! ([`WindowWords::order`]): before a store, because the kernel may read other memory once it has seen the reply
//! (staged bytes, memory of the application); and after it, before the port goes to another thread.

use std::ptr::NonNull;

use hostcall_abi::geometry::{Geometry, WindowLayout};
use hostcall_abi::port::LaneReplies;
use hostcall_abi::word::WORD_BYTES;
use hostcall_abi::{Tag, Word};
use offload::{Line, LineStore};

use super::whole::word_at;

/// The window of one port buffer, as the host writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowWords {
    base: NonNull<u8>,
    layout: WindowLayout,
    store: LineStore,
    ports: u32,
    reply_words: u32,
}

// SAFETY: an address of memory that is only ever written, by whole lines, each of which one thread at a time has the
// right to write.
unsafe impl Send for WindowWords {}
// SAFETY: as above.
unsafe impl Sync for WindowWords {}

/// Words of a line.
const WORDS: usize = Geometry::LINE_WORDS as usize;

impl WindowWords {
    /// # Safety
    /// `base` is the start of a window of this (valid) geometry, aligned to a line, valid for writes by `store` while
    /// the words are used, and nobody makes references into it.
    pub(super) unsafe fn new(base: NonNull<u8>, geometry: &Geometry, store: LineStore) -> Self {
        Self { base, layout: geometry.window_layout(), store, ports: geometry.ports, reply_words: geometry.reply_words }
    }

    /// Writes line `line` of a port's reply area.
    #[inline(always)]
    fn put(&self, port: u32, line: usize, words: [Word; WORDS]) {
        let [a, b, c, d] = words.map(|word| word.0);
        self.put_line(port, line, &Line([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3], d[0], d[1], d[2], d[3]]));
    }

    /// The same of a line that lies in memory.
    #[inline(always)]
    pub(super) fn put_line(&self, port: u32, line: usize, all: &Line) {
        let area = self.reply_words as usize * size_of::<Word>();
        assert!(port < self.ports && (line + 1) * Line::BYTES <= area, "line {line} of port {port} is outside the reply areas");
        let at = self.layout.replies + port as usize * area + line * Line::BYTES;
        // SAFETY: a line of the port's reply area, as checked above: inside the window, whose base and areas are
        // aligned to lines. The processor has the instructions: whoever made the window asked.
        unsafe { self.store.store(self.base.as_ptr().add(at), all) };
    }

    /// Writes the replies to a message as lines; what is left of the last one carries the tag and nothing.
    #[inline(always)]
    pub(super) fn store_replies(&self, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        if replies.lanes == 1 && replies.words == 1 && !tag.scrubs() {
            // What most replies are.
            let rest = Word::new([0; 4], tag.payload());
            return self.put(port, 0, [replies.word(0, 0, tag), rest, rest, rest]);
        }
        let total = (replies.lanes * replies.words) as usize;
        let lines = total.div_ceil(WORDS);
        if replies.lanes.is_multiple_of(Geometry::LINE_WORDS) && !tag.scrubs() {
            // Most waves: the words of a line are of lanes that follow one another.
            return self.store_rows(port, tag, replies);
        }
        let (mut rank, mut j) = (0, 0);
        for line in 0..lines {
            let mut words = [Word::new([0; 4], tag.payload()); WORDS];
            for word in &mut words {
                if j < replies.words {
                    *word = replies.word(rank, j, tag);
                    rank += 1;
                    if rank == replies.lanes {
                        (rank, j) = (0, j + 1);
                    }
                }
            }
            self.put(port, line, words);
        }
        if tag.scrubs() {
            self.scrub(port, tag, lines);
        }
    }

    /// Writes the replies to whole lines of lanes: checked once for all words.
    #[inline(always)]
    fn store_rows(&self, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        let &LaneReplies { lanes, words, stride, streams } = replies;
        let (rows, apart) = (lanes as usize / WORDS, stride * 4);
        let area = self.reply_words as usize * size_of::<Word>();
        let inside = port < self.ports && lanes * words <= self.reply_words;
        assert!(inside, "{words} words of {lanes} lanes are outside the reply area of port {port}");
        let Some(last) = words.checked_sub(1) else { return };
        let end = (lanes as usize - 1) * apart + (last * WORD_BYTES) as usize + size_of::<Word>();
        assert!(end <= size_of_val(streams), "the replies are inside the streams, with what is to spare behind them");
        // SAFETY: the port's reply area is inside the window, as checked above.
        let mut to = unsafe { self.base.as_ptr().add(self.layout.replies + port as usize * area) };
        for j in 0..words {
            let mut from = streams.as_ptr().cast::<u8>().wrapping_add((j * WORD_BYTES) as usize);
            for _ in 0..rows {
                let mut line = Line::default();
                for n in 0..WORDS {
                    // SAFETY: 16 bytes of the streams, of which the last lane's last word ends at `end`; a word of the
                    // line, which is four of them.
                    unsafe {
                        let word = word_at(from, tag.payload());
                        (&raw mut line).cast::<Word>().add(n).write(word);
                    }
                    from = from.wrapping_add(apart);
                }
                // SAFETY: a line of the port's reply area, of which there are at least `lanes * words / WORDS`; see
                // `put_line`.
                unsafe { self.store.store(to, &line) };
                to = to.wrapping_add(Line::BYTES);
            }
        }
    }

    #[cold]
    fn scrub(&self, port: u32, tag: Tag, from: usize) {
        for line in from..self.reply_words as usize / WORDS {
            self.put(port, line, [Word::new([0; 4], tag.payload()); WORDS]);
        }
    }

    /// Writes every word of every reply area with this tag. Nobody uses the buffer yet.
    pub(super) fn start_from(&self, last: Tag) {
        for port in 0..self.ports {
            self.scrub(port, last, 0);
        }
        self.order();
    }

    /// Writes the control line.
    pub(super) fn close(&self, status: u32) {
        self.order();
        let mut line = Line::default();
        line.0[0] = status;
        // SAFETY: the control line is the first of the window.
        unsafe { self.store.store(self.base.as_ptr().add(self.layout.control), &line) };
        self.order();
    }

    /// Lines leave the processor's buffers.
    #[inline(always)]
    pub(super) fn flush(&self) {
        self.store.fence();
    }

    /// What was stored before is seen before what is stored from now on.
    #[inline(always)]
    pub(super) fn order(&self) {
        self.store.order();
    }
}

//! A block of ports: what one look at their doorbells finds.

use std::sync::atomic::Ordering;

use hostcall_abi::port::{Head, HostMemory, LaneReplies, Message, ServerPort, Usual};
use hostcall_abi::word::pack;
use hostcall_abi::{Geometry, Tag, Word};
use offload::Line;

use super::PortBuffer;
use super::words::PortWords;

/// Messages of one port that one look takes, at most: the others wait for the next sweep.
const TURN: u32 = 32;
/// How many ports ahead of the one that is served a message is asked for.
const AHEAD: u32 = 8;

/// Room for the reply to a lone lane of each port of a block, if it is not longer than a line.
#[derive(Debug)]
pub(crate) struct Lines(Box<[Line]>);

impl Default for Lines {
    fn default() -> Self {
        Self(vec![Line::default(); Block::PORTS].into())
    }
}

/// Ports that follow one another, [`Block::PORTS`] at most, from which messages are taken that are as expected.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    words: &'a PortWords,
    geometry: &'a Geometry,
    first: u32,
    states: &'a mut [ServerPort],
    /// What their doorbells showed when there was nothing to do.
    shadow: &'a mut [u32],
    lines: &'a mut Lines,
    /// Those to look at: a bit for each, as below.
    rung: u64,
    /// Those of them whose messages have not been asked for.
    unasked: u64,
    /// Those that hold something else, or nothing.
    left: u64,
    /// Those whose replies are in `lines`, and the words of each.
    replied: u64,
    reply_words: u32,
    /// Posts that were taken from the port that is looked at, and not acknowledged.
    posts: u32,
    taken: u32,
    /// The port from which something was taken last, counted from the first.
    last: usize,
    /// One whose mark was put back.
    doubtful: Option<usize>,
}

/// The stream of a reply that fits into a line.
pub(crate) struct Stream;

impl Stream {
    /// Units of which its words are made: a little more than they hold.
    pub(crate) const UNITS: usize = 16;
}

/// The memory of the ports. Whoever takes messages in a loop has a copy of it, which nothing that the loop stores to
/// can change: what is checked for one access is known for the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    words: PortWords,
    geometry: Geometry,
}

/// The next message of a port of the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) head: Head,
    /// The port, counted from the first.
    i: usize,
}

impl<'a> Block<'a> {
    /// Ports of a block, unless there are fewer: as many as can be handled at once.
    pub(crate) const PORTS: usize = 64;

    /// The ports from number `first` on, of which those in `rung` seem to hold something.
    #[inline(always)]
    pub(crate) fn new(
        memory: &'a PortBuffer,
        first: u32,
        states: &'a mut [ServerPort],
        shadow: &'a mut [u32],
        lines: &'a mut Lines,
        rung: u64,
    ) -> Self {
        // Of as many as there are.
        let ports = states.len().min(shadow.len());
        let rung = if ports < Self::PORTS { rung & !(u64::MAX << ports) } else { rung };
        let (words, geometry) = (memory.words(), memory.geometry());
        let mut block = Self {
            words,
            geometry,
            first,
            states,
            shadow,
            lines,
            rung,
            unasked: rung,
            left: 0,
            replied: 0,
            reply_words: 1,
            posts: 0,
            taken: 0,
            last: 0,
            doubtful: None,
        };
        (0..AHEAD).for_each(|_| block.ask());
        block
    }

    /// Asks for the message of the next port for which that has not been done.
    #[inline(always)]
    fn ask(&mut self) {
        let i = self.unasked.trailing_zeros() as usize;
        if let Some(state) = self.states.get(i) {
            self.unasked &= self.unasked - 1;
            self.words.expect(self.first + i as u32, state.position());
        }
    }

    /// The memory of its ports.
    #[inline(always)]
    pub(crate) fn view(&self) -> View {
        View { words: *self.words, geometry: *self.geometry }
    }

    /// The service of which the first of the ports that are to be looked at probably holds a message: any number.
    #[inline(always)]
    pub(crate) fn service(&self) -> Option<u16> {
        let i = self.rung.trailing_zeros();
        let state = self.states.get(i as usize)?;
        Some(self.words.load_request(self.first + i, state.position()).0[0] as u16)
    }

    /// Leaves all but so many of the ports that are to be looked at for later.
    #[inline(always)]
    pub(crate) fn set_aside(&mut self, most: usize) -> u64 {
        let mut aside = if most < self.count() { self.rung } else { 0 };
        for _ in 0..most.min(self.count()) {
            aside &= aside.wrapping_sub(1);
        }
        self.rung ^= aside;
        aside
    }

    /// Looks at these as well.
    #[inline(always)]
    pub(crate) fn add(&mut self, rung: u64) {
        self.rung |= rung;
    }

    /// Ports that are to be looked at.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.rung.count_ones() as usize
    }

    /// How many messages were taken, and from which port the last one, counted from the first.
    #[inline(always)]
    pub(crate) fn taken(&self) -> (u32, usize) {
        (self.taken, self.last)
    }

    /// A port whose mark was put back before it could be left, counted from the first.
    #[inline(always)]
    pub(crate) fn doubtful(&self) -> Option<usize> {
        self.doubtful
    }

    /// The ports that have to be looked at in another way.
    #[inline(always)]
    pub(crate) fn left(&self) -> u64 {
        self.left | self.rung
    }

    /// The next message that is there and not special. It is [taken](Block::take_lone) or [left](Block::leave).
    #[inline(always)]
    pub(crate) fn next(&mut self, view: &View, post: bool) -> Option<Next> {
        while self.rung != 0 {
            let i = self.rung.trailing_zeros() as usize;
            let head = self.states[i].peek(&view.words, self.first + i as u32);
            if (!post || self.posts < TURN)
                && let Some(head) = head
            {
                return Some(Next { head, i });
            }
            self.drop_first(post, !post || self.posts == 0);
        }
        None
    }

    /// A message is not as expected.
    #[inline(always)]
    pub(crate) fn leave(&mut self, post: bool) {
        self.drop_first(post, true);
    }

    /// Takes the next message, which is one lane's: its port, and the lane. Its payload is in `out` then, and its port
    /// has its [mark](ServerPort::mark), by which the server follows memory that is put back. `None`: it is left.
    #[inline(always)]
    pub(crate) fn take_lone(&mut self, view: &View, next: &Next, usual: &Usual, post: bool, out: &mut [u32]) -> Option<(u32, u32)> {
        let &Next { ref head, i } = next;
        let (port, before) = (self.first + i as u32, self.states[i].mark());
        let Some(lane) = self.states[i].take_lone(&view.words, &view.geometry, port, head, usual, out) else {
            self.drop_first(post, true);
            return None;
        };
        self.took(view, i, before, head.tag(), post);
        Some((port, lane))
    }

    /// The same of several lanes' message.
    #[inline(always)]
    pub(crate) fn take_many(&mut self, view: &View, next: &Next, usual: &Usual, post: bool, out: &mut [u32]) -> Option<(u32, Message)> {
        let &Next { ref head, i } = next;
        let (port, before) = (self.first + i as u32, self.states[i].mark());
        let Some(message) = self.states[i].take_many(&view.words, &view.geometry, port, head, usual, out) else {
            self.drop_first(post, true);
            return None;
        };
        self.took(view, i, before, head.tag(), post);
        Some((port, message))
    }

    #[inline(always)]
    fn took(&mut self, view: &View, i: usize, before: u32, tag: Tag, post: bool) {
        let (port, after) = (self.first + i as u32, self.states[i].mark());
        if !post {
            // Its wave waits for the reply, which leaves behind this: the kernel has not ended, and memory is put back
            // behind its end only. (A wave may have given the call up. Then the memory would have to be put back within
            // the nanoseconds since the message was read.) Pairs with nothing, as in `leave_mark`.
            view.words.mark(port).store(after, Ordering::Relaxed);
        } else if !view.words.leave_mark(port, before, after) {
            self.doubtful = Some(i);
        }
        self.shadow[i] = tag.payload().into();
        self.taken += 1;
        self.last = i;
        if post {
            // Others may lie behind it, and are acknowledged together.
            self.posts += 1;
        } else {
            self.rung &= self.rung.wrapping_sub(1);
            self.ask();
        }
    }

    /// The first port is not looked at any more, unless `left`, in another way.
    #[inline(always)]
    fn drop_first(&mut self, post: bool, left: bool) {
        let bit = self.rung & self.rung.wrapping_neg();
        self.rung ^= bit;
        self.ask();
        if left {
            self.left |= bit;
        }
        if post {
            self.acknowledge(bit.trailing_zeros());
        }
    }

    /// Acknowledges the posts of a port.
    #[inline(always)]
    fn acknowledge(&mut self, i: u32) {
        if self.posts > 0 {
            self.acknowledge_posts(i);
        }
    }

    #[inline(never)]
    fn acknowledge_posts(&mut self, i: u32) {
        self.posts = 0;
        let (port, state) = (self.first + i, &self.states[i as usize]);
        // In memory that was put back meanwhile this would be the reply to a call of the next pass. Relaxed, and pairs
        // with nothing, as in `leave_mark`.
        if self.words.mark(port).load(Ordering::Relaxed) == state.mark() {
            self.words.acknowledge(self.geometry, port, state.tag());
            self.words.after_replies();
        }
    }

    /// The most words of a reply that can be [kept](Block::reply).
    pub(crate) const MOST_WORDS: u32 = Geometry::LINE_WORDS;

    /// Keeps the reply to the lone lane of a message that was taken: a stream of units that has `words` words, as all
    /// that are kept at a time.
    #[inline(always)]
    pub(crate) fn reply(&mut self, next: &Next, words: u32, stream: &[u32; Stream::UNITS]) {
        let tag = next.head.tag().payload();
        let word = |j| Word::new(if j < words { pack(j, |i| stream[i as usize]) } else { [0; 4] }, tag).0;
        let line = &mut self.lines.0[next.i].0;
        for (place, j) in line.chunks_exact_mut(4).zip(0..) {
            place.copy_from_slice(&word(j));
        }
        self.replied |= 1 << next.i;
        self.reply_words = words;
    }

    /// The replies that were kept leave, and those of `answers`, whose streams are `stride` units apart.
    #[inline(never)]
    pub(crate) fn answer(&mut self, answers: &[Answer], stride: usize, streams: &[u32]) {
        if self.replied == 0 && answers.is_empty() {
            return;
        }
        self.words.before_replies();
        while self.replied != 0 {
            let i = self.replied.trailing_zeros();
            self.replied &= self.replied - 1;
            self.words.store_lone(self.geometry, self.first + i, self.reply_words, &self.lines.0[i as usize]);
        }
        for &Answer { port, words, ref message, at } in answers {
            let lanes = message.lanes();
            let end = at + lanes as usize * stride + LaneReplies::SPARE;
            self.words.store_replies(self.geometry, port, message.tag, &LaneReplies { lanes, words, stride, streams: &streams[at..end] });
        }
        self.words.after_replies();
    }

    /// All that was taken has been handled, or will be elsewhere.
    #[inline(always)]
    pub(crate) fn end(&mut self) {
        self.acknowledge(self.rung.trailing_zeros());
    }
}

/// A message that was handled, and where the streams of its replies begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) port: u32,
    /// Words of each lane's reply.
    pub(crate) words: u32,
    pub(crate) message: Message,
    pub(crate) at: usize,
}

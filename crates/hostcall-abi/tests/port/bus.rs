//! Memory behind a bus: stores of the device, and replies of the host, arrive in any order that coherence allows.

use std::cell::{Cell, RefCell};

use hostcall_abi::port::{HostMemory, LaneReplies, ServerPort};
use hostcall_abi::{Geometry, Header, ReplyHead, Tag, Word};

use crate::common::Random;
use crate::program::Fault;

/// A place that a store can go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Request { port: u32, index: usize },
    Reply { port: u32, index: usize },
    Doorbell { port: u32 },
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Store {
    /// Who stored: stores of one writer to one place stay in order.
    writer: u32,
    place: Place,
    word: Word,
}

#[derive(Debug)]
struct Inner {
    requests: Vec<Vec<Word>>,
    replies: Vec<Vec<Word>>,
    doorbells: Vec<Tag>,
    closed: u32,
    pending: Vec<Store>,
}

/// The memory of one buffer.
#[derive(Debug)]
pub struct Bus {
    pub geometry: Geometry,
    /// What the host has left of each port.
    pub marks: Vec<Cell<u32>>,
    inner: RefCell<Inner>,
}

/// The writer that is the host.
const HOST: u32 = u32::MAX;

impl Bus {
    /// Areas whose words all carry tags that messages since the last scrub may have left. Just before a scrub, request
    /// words carry those of the messages that follow it, as a lap without any scrub would have left them: no message
    /// behind a scrub is looked at before all of it is there. Of a reply's scrub the device sees a part only, so words
    /// that it leaves are as old as they can be, but no older.
    pub fn new(geometry: Geometry, last: Tag, random: &Random) -> Self {
        let since_scrub = last.seq() % Tag::SCRUB_PERIOD;
        let stale = |request: bool| {
            let near = random.below(u32::from(since_scrub.min(5)) + 1) as u16;
            let tag = match (last.next().scrubs(), request) {
                (true, true) => last.seq().wrapping_add(2 + random.below(8) as u16),
                (true, false) => last.seq().wrapping_sub(since_scrub - near),
                (false, _) => last.seq().wrapping_sub(near),
            };
            let header = request && random.below(3) == 0;
            Word::new([random.below(9); 4], if header { Tag::new(tag).header() } else { Tag::new(tag).payload() })
        };
        let area = |words: u32, header: bool| (0..geometry.ports).map(|_| (0..words).map(|_| stale(header)).collect()).collect();
        Self {
            geometry,
            marks: vec![Cell::new(ServerPort::new(last).mark()); geometry.ports as usize],
            inner: RefCell::new(Inner {
                requests: area(geometry.request_words, true),
                replies: area(geometry.reply_words, false),
                doorbells: vec![last; geometry.ports as usize],
                closed: 0,
                pending: Vec::new(),
            }),
        }
    }

    fn store(&self, writer: u32, place: Place, word: Word) {
        self.inner.borrow_mut().pending.push(Store { writer, place, word });
    }

    pub fn store_request(&self, writer: u32, port: u32, index: usize, word: Word) {
        assert!(index < self.geometry.request_words as usize, "a store outside the request area");
        self.store(writer, Place::Request { port, index }, word);
    }

    pub fn ring(&self, writer: u32, port: u32, tag: Tag) {
        self.store(writer, Place::Doorbell { port }, Word::new([0; 4], tag.payload()));
    }

    pub fn store_reply(&self, port: u32, index: u32, word: Word) {
        assert!(index < self.geometry.reply_words, "a store outside the reply area");
        self.store(HOST, Place::Reply { port, index: index as usize }, word);
    }

    pub fn close(&self, status: u16) {
        self.store(HOST, Place::Closed, Word::new([u32::from(status), 0, 0, 0], 0));
    }

    pub fn closed(&self) -> u32 {
        self.inner.borrow().closed
    }

    pub fn doorbell(&self, port: u32) -> Tag {
        self.inner.borrow().doorbells[port as usize]
    }

    pub fn load_reply(&self, port: u32, index: usize) -> Word {
        self.inner.borrow().replies[port as usize][index]
    }

    /// Delivers one store that may go next, if there is one.
    pub fn deliver(&self, random: &Random) {
        let mut inner = self.inner.borrow_mut();
        if inner.pending.is_empty() {
            return;
        }
        let chosen = random.below(inner.pending.len() as u32) as usize;
        let Store { writer, place, .. } = inner.pending[chosen];
        // An older store of the same writer to the same place goes first.
        let first = inner.pending.iter().position(|store| store.writer == writer && store.place == place).expect("the chosen one");
        let Store { word, .. } = inner.pending.remove(first);
        match place {
            Place::Request { port, index } => inner.requests[port as usize][index] = word,
            Place::Reply { port, index } => inner.replies[port as usize][index] = word,
            Place::Doorbell { port } => inner.doorbells[port as usize] = Tag::new(word.tag()),
            Place::Closed => inner.closed = word.0[0],
        }
    }

    pub fn is_quiet(&self) -> bool {
        self.inner.borrow().pending.is_empty()
    }
}

/// The requests as the host sees them.
pub struct HostView<'a> {
    pub bus: &'a Bus,
    pub fault: Fault,
    /// The tag that the server looks for.
    pub wanted: Tag,
    /// How many words it has loaded.
    pub loads: &'a Cell<u32>,
}

impl HostMemory for HostView<'_> {
    fn load_request(&self, port: u32, index: u32) -> Word {
        self.loads.set(self.loads.get() + 1);
        let area = &self.bus.inner.borrow().requests[port as usize];
        let word = area[index as usize];
        let header = word.tag() & Tag::default().header() != 0;
        let first = area[0];
        let scrub = self.wanted.scrubs() && first.tag() == self.wanted.header() && index >= Header::decode(first).0.message_words();
        if (self.fault == Fault::AnyTag && !header) || (self.fault == Fault::ScrubUnseen && scrub) {
            return Word::new(word.0, self.wanted.payload());
        }
        word
    }
    fn store_reply(&self, _: u32, _: u32, _: Word) {
        unreachable!("replies are written through `stores`");
    }
}

/// What the host stores to answer message `tag`, in its order.
pub fn stores(geometry: &Geometry, fault: Fault, tag: Tag, replies: &LaneReplies<'_>) -> Vec<(u32, Word)> {
    let written = Written { fault, stores: RefCell::default() };
    if geometry.window {
        InLines(&written).store_replies(geometry, 0, tag, replies);
    } else {
        written.store_replies(geometry, 0, tag, replies);
    }
    written.stores.into_inner()
}

/// Memory that is written word by word: notes the words.
struct Written {
    fault: Fault,
    stores: RefCell<Vec<(u32, Word)>>,
}

impl HostMemory for Written {
    fn load_request(&self, _: u32, _: u32) -> Word {
        unreachable!("for replies only")
    }
    fn store_reply(&self, _: u32, index: u32, word: Word) {
        self.stores.borrow_mut().push((index, word));
    }
}

/// Memory that is written in whole lines. The bus may tear them, but not their words.
struct InLines<'a>(&'a Written);

impl HostMemory for InLines<'_> {
    fn load_request(&self, _: u32, _: u32) -> Word {
        unreachable!("for replies only")
    }
    fn store_reply(&self, _: u32, _: u32, _: Word) {
        unreachable!("a window is written in lines");
    }
    fn store_replies(&self, geometry: &Geometry, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        let (stride, LaneReplies { lanes, words, .. }) = (geometry.lone_stride(), *replies);
        let end = if tag.scrubs() { geometry.reply_words } else { ReplyHead::area(lanes, words, stride) };
        // What fills a line up says the message's tag, and nothing that makes sense.
        let filler = if self.0.fault == Fault::FillerAhead { tag.next() } else { tag };
        let mut area = vec![Word::new([0xdead_beef; 4], filler.payload()); end.next_multiple_of(Geometry::LINE_WORDS) as usize];
        for (rank, j) in (0..lanes).flat_map(|rank| (0..words).map(move |j| (rank, j))) {
            area[ReplyHead::place(lanes, rank, j, stride) as usize] = replies.word(rank, j, tag);
        }
        for (index, word) in area.into_iter().enumerate() {
            self.0.store_reply(port, index as u32, word);
        }
    }
}

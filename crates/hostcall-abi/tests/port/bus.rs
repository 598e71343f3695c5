//! Host memory behind a bus: stores of the device, and replies of the host, arrive in any order that coherence allows.

use std::cell::RefCell;

use hostcall_abi::geometry::WordForm;
use hostcall_abi::port::HostMemory;
use hostcall_abi::{Geometry, Header, Tag, Word};

use crate::program::{Fault, Random};

/// A place that a store can go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Request { port: u32, index: usize, part: usize },
    Reply { port: u32, index: usize, part: usize },
    Doorbell { port: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Store {
    /// Who stored: stores of one writer to one place stay in order.
    writer: u32,
    place: Place,
    word: Word,
}

/// A word as its three (payload, tag) pairs. In [`WordForm::Single16`] they always arrive together.
type Parts = [(u32, u32); 3];

#[derive(Debug)]
struct Inner {
    requests: Vec<Vec<Parts>>,
    replies: Vec<Vec<Parts>>,
    doorbells: Vec<u32>,
    pending: Vec<Store>,
}

/// The memory of one buffer.
#[derive(Debug)]
pub struct Bus {
    pub geometry: Geometry,
    inner: RefCell<Inner>,
}

/// The writer that is the host.
pub const HOST: u32 = u32::MAX;

impl Bus {
    /// Areas whose words all carry tags that messages since the last scrub may have left.
    pub fn new(geometry: Geometry, last: Tag, random: &Random) -> Self {
        let since_scrub = last.seq() % Tag::SCRUB_PERIOD;
        let stale = |header: bool| {
            let tag = Tag::new(last.seq().wrapping_sub(random.below(since_scrub.min(5) + 1)));
            let raw = if header && random.below(3) == 0 { tag.header() } else { tag.payload() };
            [(random.below(9), raw); 3]
        };
        let area = |words: u32, header: bool| (0..geometry.ports).map(|_| (0..words).map(|_| stale(header)).collect()).collect();
        Self {
            geometry,
            inner: RefCell::new(Inner {
                requests: area(geometry.request_words, true),
                replies: area(geometry.reply_words, false),
                doorbells: vec![last.payload(); geometry.ports as usize],
                pending: Vec::new(),
            }),
        }
    }

    fn store(&self, writer: u32, place: impl Fn(usize) -> Place, word: Word) {
        let parts = match self.geometry.word_form {
            WordForm::Single16 => 1,
            WordForm::Triple8 => 3,
        };
        self.inner.borrow_mut().pending.extend((0..parts).map(|part| Store { writer, place: place(part), word }));
    }

    pub fn store_request(&self, writer: u32, port: u32, index: usize, word: Word) {
        assert!(index < self.geometry.request_words as usize, "a store outside the request area");
        self.store(writer, |part| Place::Request { port, index, part }, word);
    }

    pub fn ring(&self, writer: u32, port: u32, tag: u32) {
        let word = Word { data: [tag; 3], tag };
        self.inner.borrow_mut().pending.push(Store { writer, place: Place::Doorbell { port }, word });
    }

    pub fn doorbell(&self, port: u32) -> u32 {
        self.inner.borrow().doorbells[port as usize]
    }

    pub fn load_reply(&self, port: u32, index: usize) -> Word {
        whole(self.inner.borrow().replies[port as usize][index])
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
        let single = self.geometry.word_form == WordForm::Single16;
        let put = |parts: &mut Parts, part: usize| {
            for (at, (unit, tag)) in parts.iter_mut().enumerate() {
                if single || at == part {
                    (*unit, *tag) = (word.data[at], word.tag);
                }
            }
        };
        match place {
            Place::Request { port, index, part } => put(&mut inner.requests[port as usize][index], part),
            Place::Reply { port, index, part } => put(&mut inner.replies[port as usize][index], part),
            Place::Doorbell { port } => inner.doorbells[port as usize] = word.tag,
        }
    }

    pub fn is_quiet(&self) -> bool {
        self.inner.borrow().pending.is_empty()
    }
}

/// The word, if its three tags agree; else a word with a tag that none of them is.
fn whole(parts: Parts) -> Word {
    let [(a, ta), (b, tb), (c, tc)] = parts;
    let tag = if ta == tb && tb == tc { ta } else { ta ^ 0x2000_0000 };
    Word { data: [a, b, c], tag }
}

/// The memory as the host's half sees it.
pub struct HostView<'a> {
    pub bus: &'a Bus,
    pub fault: Fault,
    /// The tag that the server looks for.
    pub wanted: Tag,
}

impl HostMemory for HostView<'_> {
    fn load_request(&self, port: u32, index: u32) -> Word {
        let mut word = whole(self.bus.inner.borrow().requests[port as usize][index as usize]);
        let header = word.tag >> 31 != 0;
        let first = whole(self.bus.inner.borrow().requests[port as usize][0]);
        let scrub = self.wanted.scrubs() && first.tag == self.wanted.header() && index >= Header::decode(first.data).message_words();
        if (self.fault == Fault::AnyTag && !header) || (self.fault == Fault::ScrubUnseen && scrub) {
            word.tag = self.wanted.payload();
        }
        word
    }
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        assert!(index < self.bus.geometry.reply_words, "a store outside the reply area");
        self.bus.store(HOST, |part| Place::Reply { port, index: index as usize, part }, word);
    }
}

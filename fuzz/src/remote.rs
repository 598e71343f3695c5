//! A caller that sends a worker anything, and a worker that answers a caller anything.
//!
//! The oracle is memory: reading takes at most 64 bytes for each that came, and running what was read a few for each
//! that its calls ask for, which is known before. And what is read is of the service, what runs is answered, and what
//! is answered is read as it was written.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc;

use hostcall::detached::{Callable, Message, Replies, Runner};
use hostcall_remote::wire::{Answer, MOST_ASKED, RequestWriter, answers, asked, read_answer, read_request};

use crate::{Honest, Input, measured, shapes};

/// Bytes of memory that reading takes at most for each byte that came, and beside them.
const EACH: usize = 64;
const BESIDE: usize = 8 << 10;
/// Bytes of memory that running takes at most for each byte that was asked for.
const ASKED: usize = 8;
/// Bytes of an answer at most.
const MOST: usize = 64 << 10;

/// What runs on this thread.
struct Worker {
    _runner: Runner,
    callables: Vec<Callable>,
}

impl Worker {
    fn new() -> Rc<Self> {
        let runner = Runner::new();
        let callables =
            shapes::all(Honest).into_iter().map(|service| runner.add(service).expect("inline services need no threads")).collect();
        Rc::new(Self { _runner: runner, callables })
    }
}

thread_local! {
    static WORKER: RefCell<Option<Rc<Worker>>> = const { RefCell::new(None) };
}

/// What `work` returns, which takes no more memory than is due to so many bytes.
///
/// # Panics
/// If it takes more.
pub fn within<R>(bytes: usize, what: &str, work: impl FnOnce() -> R) -> R {
    let before = measured::taken();
    let done = work();
    let taken = measured::taken() - before;
    assert!(taken <= bytes + BESIDE, "{taken} bytes of memory for {what}, and {bytes} were due");
    done
}

/// Plays one input: the first byte says what it is.
pub fn run(data: &[u8]) {
    let worker = WORKER.with_borrow_mut(|worker| worker.get_or_insert_with(Worker::new).clone());
    let mut input = Input::new(data);
    let kind = input.byte();
    let callable = &worker.callables[usize::from(kind >> 2) % worker.callables.len()];
    match kind & 3 {
        0 => request(callable, input.bytes(usize::MAX)),
        1 => request(callable, &input.request(callable)),
        2 => drop(answer(input.bytes(usize::MAX))),
        _ => drop(answer(&input.answer())),
    }
}

/// A request, of which there is as much as there is.
fn request(callable: &Callable, body: &[u8]) {
    let definition = callable.definition();
    let Ok(messages) = within(EACH * body.len(), "a request", || read_request(definition, body)) else { return };
    let all: u64 = messages.iter().map(|message| asked(definition, message)).sum();
    assert!(!messages.is_empty() && all <= MOST_ASKED, "{} messages that ask for {all} bytes", messages.len());
    let (give, replies) = mpsc::channel();
    for (number, message) in (0..).zip(messages) {
        message.check(definition).expect("a message that was read is one of the service");
        let (give, lanes) = (give.clone(), message.lanes() as usize);
        let due = EACH * body.len() + ASKED * asked(definition, &message) as usize;
        within(due, "calls", || callable.run(message, move |replies| _ = give.send((number, replies))).expect("it was checked"));
        let (number, replies): (u32, Replies) = replies.try_recv().expect("an inline handler has answered");
        assert_eq!(replies.heads.len(), lanes, "each lane is answered once");
        let units: usize = replies.heads.iter().map(|head| usize::from(head.dwords)).sum();
        assert_eq!(replies.units.len(), units);
        for body in answers("worker", &[(number, replies.clone())], MOST) {
            assert!(body.len() <= MOST);
            let (worker, Answer::Replies(read)) = answer(&body).expect("our own") else { panic!("another answer than was written") };
            assert_eq!((worker.as_str(), read.len(), read[0].0), ("worker", 1, number));
            assert!(read[0].1 == replies || read[0].1.heads.iter().all(|head| head.status == hostcall::Status::TOO_LARGE));
        }
    }
}

/// An answer, of which there is as much as there is.
fn answer(body: &[u8]) -> Option<(String, Answer)> {
    let read = within(EACH * body.len(), "an answer", || read_answer(body)).ok()?;
    if let Answer::Replies(all) = &read.1 {
        for (_, replies) in all {
            let units: usize = replies.heads.iter().map(|head| usize::from(head.dwords)).sum();
            assert!(replies.heads.len() <= 64 && replies.units.len() == units);
        }
    }
    Some(read)
}

impl Input<'_> {
    /// Messages that make sense but for a number or two, and one byte that may be another.
    fn request(&mut self, callable: &Callable) -> Vec<u8> {
        let definition = callable.definition();
        let mut request = RequestWriter::new(definition);
        let (at, to) = (self.word() as usize, self.byte());
        while !self.is_empty() && request.messages() < 64 {
            let mut message = Message { port: self.byte().into(), post: definition.reply_dwords.is_none(), ..Message::default() };
            // One lane, most often, or as many as there can be.
            message.mask = match self.byte() {
                lane @ 0..64 => 1 << lane,
                255 => u64::MAX,
                _ => u64::from(self.word()) << 32 | u64::from(self.word()),
            };
            message.room = u16::from(self.byte()) << (self.byte() % 9);
            let image = self.byte() & 1 == 1;
            message.image = definition.takes_var && !message.post && image;
            for _ in 0..message.lanes() {
                let lane = message.units.len();
                message.units.extend((0..definition.units).map(|_| self.word()));
                if definition.takes_var {
                    // As many bytes as there are.
                    let bytes = self.byte();
                    let bytes = self.bytes(bytes.into());
                    message.units[lane + 1] = bytes.len() as u32;
                    message.bytes.extend_from_slice(bytes);
                }
            }
            request.push(&message);
        }
        let mut body = request.finish().to_vec();
        if to > 0 {
            let at = at % body.len();
            body[at] ^= to;
        }
        body
    }

    /// The head of an answer, and numbers.
    fn answer(&mut self) -> Vec<u8> {
        let mut body = b"HCA1".to_vec();
        body.extend(u32::from(self.byte() % 4).to_le_bytes());
        let worker = self.byte();
        let worker = self.bytes((worker % 32).into());
        body.extend((worker.len() as u32).to_le_bytes());
        body.extend_from_slice(worker);
        body.resize(body.len().next_multiple_of(4), 0);
        let count = self.byte();
        body.extend(u32::from(count).to_le_bytes());
        while !self.is_empty() {
            // Small numbers, most often; those that say a shape have two parts.
            let number = match self.byte() {
                low @ 0..128 => u32::from(low),
                128..192 => u32::from(self.byte()) | u32::from(self.byte()) << 8,
                _ => self.word(),
            };
            body.extend(number.to_le_bytes());
        }
        body
    }
}

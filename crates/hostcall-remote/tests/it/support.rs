//! Services, and ways to call them without a device.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use hostcall::detached::{Callable, Message, Replies, Runner};
use hostcall::{Definition, HandlerError, Service, Status};

#[hostcall::service]
pub(crate) trait Host {
    fn mixed(x: u32) -> u64;
    fn echo(text: &str, numbers: &[u32], back: &mut [u32]) -> u32;
    fn log(line: u64);
    fn say(text: &str);
}

/// A service of the same name as [`Host::mixed`], of another definition.
pub(crate) fn other_mixed() -> Definition {
    Definition::builder("Host__mixed").argument("u64").result("u64").build().expect("a definition")
}

/// 7 fails, 11 panics.
pub(crate) fn mixed(x: u32) -> Result<u64, HandlerError> {
    match x {
        7 => Err(HandlerError::new(70, "seven is not wanted")),
        11 => panic!("eleven is too much"),
        _ => Ok(u64::from(x) * 3),
    }
}

pub(crate) fn echo() -> Service {
    host::echo(|text, numbers, back: &mut [u32]| {
        back.iter_mut().zip(numbers.iter().rev()).for_each(|(to, from)| *to = *from);
        text.len() as u32
    })
}

/// Calls of `mixed`, by all lanes of a message.
pub(crate) fn message(arguments: &[u32]) -> Message {
    let mask = u64::MAX >> (64 - arguments.len());
    Message { mask, units: arguments.to_vec(), room: 2, ..Message::default() }
}

/// A remote service without a server: the runner gives it messages as a server would.
pub(crate) struct Caller {
    callable: Callable,
    _runner: Runner,
}

impl Caller {
    pub(crate) fn new(service: Service) -> Self {
        let runner = Runner::new();
        Self { callable: runner.add(service).expect("a service"), _runner: runner }
    }

    /// The replies will come.
    pub(crate) fn start(&self, message: Message) -> mpsc::Receiver<Replies> {
        let (give, take) = mpsc::channel();
        self.callable.run(message, move |replies| _ = give.send(replies)).expect("a message of the service");
        take
    }

    pub(crate) fn start_with(&self, message: Message, done: impl FnOnce(Replies) + Send + 'static) {
        self.callable.run(message, done).expect("a message of the service");
    }

    pub(crate) fn call(&self, message: Message) -> Replies {
        received(&self.start(message))
    }

    /// One call of `mixed`.
    pub(crate) fn mixed(&self, x: u32) -> Result<u64, Status> {
        result(&self.call(message(&[x])))
    }
}

/// The limit only ends a test that would hang.
pub(crate) fn received(replies: &mpsc::Receiver<Replies>) -> Replies {
    replies.recv_timeout(Duration::from_secs(120)).expect("every call ends")
}

/// Of a message of one lane.
pub(crate) fn result(replies: &Replies) -> Result<u64, Status> {
    assert_eq!(replies.heads.len(), 1);
    match replies.heads[0].status {
        Status::OK => Ok(u64::from(replies.units[0]) | u64::from(replies.units[1]) << 32),
        status => Err(status),
    }
}

/// Waits until something is so. The limit only ends a test that would hang.
pub(crate) fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(120), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

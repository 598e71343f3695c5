//! Messages: words that a lane sends in several calls, up to seven in each.
//!
//! The first word of a call describes it: bit 0 begins a message, bit 1 ends it, bits 5 to 7 say how many words follow,
//! and the bits above are the message's number. The host chooses that when a message begins, and answers with the
//! description that the next call is to have. The answer to the last call is `printf`'s result.
//!
//! Numbers cannot be guessed, so that no kernel adds to another's message.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::text;
use crate::services::say;

const BEGIN: u64 = 1;
const END: u64 = 2;
const LENGTH: u32 = 5;
const NUMBER: u32 = 8;
/// The number of a message that is dropped.
const NOBODY: u64 = u64::MAX >> NUMBER;
/// Words of a message, and of all that have begun and not ended. When there are more the oldest is dropped.
const MOST_OF_ONE: usize = 1 << 13;
const MOST: usize = 1 << 23;
/// What a message takes besides its words.
const OVERHEAD: usize = 8;

/// Messages that have begun and not ended.
#[derive(Debug, Default)]
struct Messages {
    open: HashMap<u64, Vec<u64>>,
    /// Their numbers, the oldest first, and some that have ended.
    order: VecDeque<u64>,
    words: usize,
    begun: u64,
    secret: RandomState,
}

/// What a call has come to.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// The message goes on; its number.
    Goes(u64),
    /// It has ended.
    Ends(Vec<u64>),
    /// There is none of this number, or it is too long.
    Lost,
}

impl Messages {
    fn begin(&mut self) -> u64 {
        loop {
            self.begun += 1;
            let number = self.secret.hash_one(self.begun) >> NUMBER;
            if number != NOBODY && !self.open.contains_key(&number) {
                self.open.insert(number, Vec::new());
                self.order.push_back(number);
                self.words += OVERHEAD;
                return number;
            }
        }
    }

    fn remove(&mut self, number: u64) -> Option<Vec<u64>> {
        let words = self.open.remove(&number)?;
        self.words -= OVERHEAD + words.len();
        if self.order.len() > 2 * self.open.len() + 64 {
            self.order.retain(|number| self.open.contains_key(number));
        }
        Some(words)
    }

    /// One call, whose words are `description` and `sent`.
    fn step(&mut self, description: u64, sent: &[u64]) -> Step {
        let number = if description & BEGIN != 0 { self.begin() } else { description >> NUMBER };
        let Some(words) = self.open.get_mut(&number) else { return Step::Lost };
        if words.len() + sent.len() > MOST_OF_ONE {
            self.remove(number);
            return Step::Lost;
        }
        words.extend_from_slice(sent);
        self.words += sent.len();
        while self.words > MOST {
            // Kernels that begin messages and do not end them.
            let Some(oldest) = self.order.pop_front() else { break };
            self.remove(oldest);
        }
        if description & END == 0 {
            return Step::Goes(number);
        }
        self.remove(number).map_or(Step::Lost, Step::Ends)
    }
}

/// One lane's call of service 2.
pub(crate) fn printf(words: &mut [u64; 8]) {
    static MESSAGES: OnceLock<Mutex<Messages>> = OnceLock::new();
    let description = words[0];
    let length = (description >> LENGTH & 7) as usize;
    let step = {
        let mut messages = MESSAGES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        messages.step(description, &words[1..=length])
    };
    let next = |number: u64| description & !BEGIN & ((1 << NUMBER) - 1) | number << NUMBER;
    words[0] = match step {
        Step::Goes(number) => next(number),
        Step::Ends(message) => print(&message).map_or(u64::MAX, |length| length as u64),
        Step::Lost => {
            static TOLD: AtomicBool = AtomicBool::new(false);
            // Relaxed: one of several may tell.
            if !TOLD.swap(true, Ordering::Relaxed) {
                say(
                    "hostcall: a text of a kernel's printf is dropped: it has more than 64 KiB, or it was never begun, or too many never end",
                );
            }
            if description & END == 0 { next(NOBODY) } else { u64::MAX }
        }
    };
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// Writes a message's text to the stream that its first word names; how long it was.
fn print(message: &[u64]) -> io::Result<usize> {
    let (to, rest) = message.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
    if *to > 1 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let text = text::format(&rest.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    // SAFETY: the streams of the C library, in which texts of kernels and of the program keep their order; the bytes
    // are there.
    let written = unsafe {
        let stream = if *to == 0 { stdout } else { stderr };
        let written = libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream);
        // What a kernel says is there whatever becomes of the process.
        if libc::fflush(stream) == 0 { written } else { 0 }
    };
    if written == text.len() { Ok(written) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(messages: &mut Messages, words: &[u64]) -> u64 {
        match messages.step(BEGIN | (words.len() as u64) << LENGTH, words) {
            Step::Goes(number) => number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_message_is_the_words_of_its_calls_in_their_order() {
        let mut messages = Messages::default();
        let (a, b) = (open(&mut messages, &[1]), open(&mut messages, &[10, 20]));
        assert_eq!(messages.step(a << NUMBER, &[2, 3]), Step::Goes(a));
        assert_eq!(messages.step(b << NUMBER | END, &[]), Step::Ends(vec![10, 20]));
        assert_eq!(messages.step(b << NUMBER | END, &[]), Step::Lost, "it has ended");
        assert_eq!(messages.step(a << NUMBER | END, &[4]), Step::Ends(vec![1, 2, 3, 4]));
        assert_eq!(messages.step(BEGIN | END, &[7]), Step::Ends(vec![7]));
        assert_eq!((messages.words, messages.open.len()), (0, 0));
    }

    #[test]
    fn messages_that_are_too_long_or_never_end_are_dropped_and_others_go_on() {
        let mut messages = Messages::default();
        let long = open(&mut messages, &[]);
        for _ in 0..MOST_OF_ONE / 4 {
            assert_eq!(messages.step(long << NUMBER, &[1; 4]), Step::Goes(long));
        }
        assert_eq!(messages.step(long << NUMBER, &[1]), Step::Lost);
        assert_eq!(messages.step(long << NUMBER | END, &[]), Step::Lost);
        let first = open(&mut messages, &[1]);
        let most = MOST / (OVERHEAD + 7) + 1;
        (0..most).for_each(|_| _ = open(&mut messages, &[1; 7]));
        assert!(messages.words <= MOST && messages.order.len() <= most + 64);
        assert_eq!(messages.step(first << NUMBER | END, &[]), Step::Lost, "the oldest");
        assert_eq!(messages.step(BEGIN | END, &[7]), Step::Ends(vec![7]));
    }
}

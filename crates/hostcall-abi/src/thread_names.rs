//! Names of the threads of a program with Rust's `std`, where host and device find them: for what is said of a thread
//! that failed.

/// The program's symbol of its [`ThreadNames`].
pub const THREAD_NAMES_SYMBOL: &str = "__hostcall_thread_names";

/// How many threads have their names kept.
pub const THREADS: usize = 256;

/// Words of a name.
const WORDS: usize = 4;

/// Most bytes of a name that are kept.
const BYTES: usize = WORDS * 8 - 1;

/// The name of each thread by its place in the launch, as bytes that end with a zero.
pub type ThreadNames = [[u64; WORDS]; THREADS];

/// A name as it is kept: as much of it as fits, whole characters of it.
pub fn to_words(name: &[u8]) -> [u64; WORDS] {
    let name = match core::str::from_utf8(&name[..name.len().min(BYTES)]) {
        Ok(name) => name.as_bytes(),
        Err(error) => &name[..error.valid_up_to()],
    };
    let mut words = [0; WORDS];
    for (at, byte) in name.iter().take_while(|byte| **byte != 0).enumerate() {
        words[at / 8] |= u64::from(*byte) << (at % 8 * 8);
    }
    words
}

/// A name that was kept, as what is printed of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadName {
    bytes: [u8; WORDS * 8],
    thread: usize,
}

impl ThreadName {
    /// Of the thread at this place in the launch, the first of which runs `main`.
    pub fn new(thread: usize, words: [u64; WORDS]) -> Self {
        let mut bytes = [0; WORDS * 8];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Self { bytes, thread }
    }
}

impl core::fmt::Display for ThreadName {
    /// As panics have it: `'main'`, the thread's name, or `'<unnamed>'`. The bytes are a device's: what is no letter a
    /// terminal shows is escaped.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let len = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
        let name = match (core::str::from_utf8(&self.bytes[..len]).unwrap_or_default(), self.thread) {
            ("", 0) => "main",
            ("", _) => "<unnamed>",
            (name, _) => name,
        };
        write!(f, "'{}'", name.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString as _;

    #[test]
    fn a_name_is_kept_as_far_as_there_is_room_for_whole_characters() {
        let kept = |thread, name: &str| ThreadName::new(thread, to_words(name.as_bytes())).to_string();
        assert_eq!([kept(0, ""), kept(3, ""), kept(0, "first"), kept(1, "worker")], ["'main'", "'<unnamed>'", "'first'", "'worker'"]);
        assert_eq!(kept(1, &"é".repeat(40)), std::format!("'{}'", "é".repeat(15)));
        assert_eq!(kept(1, &"x".repeat(40)), std::format!("'{}'", "x".repeat(31)));
        assert_eq!(kept(1, "a\u{1b}[2J"), "'a\\u{1b}[2J'");
        assert_eq!(ThreadName::new(1, [u64::MAX; WORDS]).to_string(), "'<unnamed>'");
    }
}

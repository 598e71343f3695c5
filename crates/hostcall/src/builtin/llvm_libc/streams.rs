//! `FILE *`: a handle of the program's table of files, and what C's streams have beside a file.
//!
//! A handle is a number that the device gives back. It never becomes an address. LLVM's library marks the three
//! standard streams in the two lowest bits, which handles leave free.

use std::collections::{HashMap, VecDeque};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostcall_abi::services::open;

use super::super::errno;
use super::super::files::open_file;
use super::super::table::{FileTable, OpenFile};
use crate::policy::Policy;
use crate::tenant::Tenant;

/// What a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Input,
    Output,
    Error,
    /// With its handle in the table.
    File(u64),
}

impl Which {
    /// Of a word that may be marked.
    pub(super) fn marked(word: u64) -> Self {
        match word & 3 {
            1 => Self::Input,
            2 => Self::Output,
            3 => Self::Error,
            _ => Self::File(handle_of(word)),
        }
    }
}

/// A handle as a word whose two lowest bits are free.
fn word_of(handle: u64) -> u64 {
    handle >> 32 << 32 | u64::from((handle as u32) << 2)
}

/// The handle of such a word.
fn handle_of(word: u64) -> u64 {
    word >> 32 << 32 | u64::from(word as u32 >> 2)
}

/// What `fopen` is told, as bits of an open.
fn mode_bits(mode: &[u8]) -> Option<u32> {
    let (&first, rest) = mode.split_first()?;
    let (mut both, mut new) = (false, false);
    for letter in rest {
        match letter {
            b'+' => both = true,
            b'x' => new = true,
            b'b' | b't' | b'e' => {}
            _ => return None,
        }
    }
    let bits = match first {
        b'r' if !new => open::READ | if both { open::WRITE } else { 0 },
        b'w' => open::WRITE | if new { open::CREATE_NEW } else { open::CREATE | open::TRUNCATE },
        b'a' => open::APPEND | if new { open::CREATE_NEW } else { open::CREATE },
        _ => return None,
    };
    Some(bits | if both { open::READ } else { 0 })
}

/// Bytes that a line is read by.
const AHEAD: usize = 4096;

/// What a stream has beside its file.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Bytes that were read, or pushed back, and nobody has had yet.
    ahead: VecDeque<u8>,
    at_end: bool,
    failed: bool,
}

/// Where bytes come from.
pub(super) trait Source {
    /// Reads what is there; 0 at the end.
    fn read(&self, into: &mut [u8]) -> std::io::Result<usize>;
}

impl Source for OpenFile {
    fn read(&self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.readable { (&*self.file).read(into) } else { Err(std::io::ErrorKind::PermissionDenied.into()) }
    }
}

impl State {
    pub(super) fn at_end(&self) -> bool {
        self.at_end
    }

    pub(super) fn failed(&self) -> bool {
        self.failed
    }

    pub(super) fn clear(&mut self) {
        (self.at_end, self.failed) = (false, false);
    }

    /// Reads into a buffer as `fread` does: until it is full, or nothing more comes. Bytes read.
    pub(super) fn fill(&mut self, source: &impl Source, into: &mut [u8]) -> usize {
        let mut done = self.ahead.len().min(into.len());
        into.iter_mut().zip(self.ahead.drain(..done)).for_each(|(to, byte)| *to = byte);
        while done < into.len() {
            match self.more(source, &mut into[done..]) {
                0 => break,
                more => done += more,
            }
        }
        done
    }

    /// Reads once, and remembers how it ended.
    fn more(&mut self, source: &impl Source, into: &mut [u8]) -> usize {
        loop {
            match source.read(into) {
                Ok(0) => self.at_end = true,
                Ok(more) => return more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => self.failed = true,
            }
            return 0;
        }
    }

    /// A line of at most `most` bytes, as `fgets` reads it.
    pub(super) fn line(&mut self, source: &impl Source, most: usize) -> Vec<u8> {
        let mut line = Vec::new();
        while line.len() < most && line.last() != Some(&b'\n') {
            if self.ahead.is_empty() {
                let mut chunk = [0; AHEAD];
                match self.more(source, &mut chunk) {
                    0 => break,
                    more => self.ahead.extend(&chunk[..more]),
                }
            }
            let end = self.ahead.iter().take(most - line.len()).position(|byte| *byte == b'\n').map(|at| at + 1);
            let end = end.unwrap_or(most - line.len()).min(self.ahead.len());
            line.extend(self.ahead.drain(..end));
        }
        line
    }

    /// Pushes a byte back; false, if too many are.
    pub(super) fn unread(&mut self, byte: u8) -> bool {
        let has_room = self.ahead.len() < 2 * AHEAD;
        if has_room {
            self.ahead.push_front(byte);
            self.at_end = false;
        }
        has_room
    }
}

/// A file that is open, as a stream.
#[derive(Debug)]
pub(super) struct Stream {
    file: Arc<OpenFile>,
    state: Mutex<State>,
}

impl Stream {
    /// Its file and its state, which is held for one operation of C's.
    pub(super) fn parts(&self) -> (&OpenFile, MutexGuard<'_, State>) {
        (&self.file, self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where the file is read and written is where the stream is: what was read ahead is forgotten.
    fn settle(&self, state: &mut State) -> std::io::Result<()> {
        let ahead = std::mem::take(&mut state.ahead).len() as i64;
        if ahead > 0 { (&*self.file.file).seek(SeekFrom::Current(-ahead)).map(drop) } else { Ok(()) }
    }

    /// Writes bytes; how many.
    pub(super) fn write(&self, bytes: &[u8]) -> usize {
        let (file, mut state) = self.parts();
        if !file.writable || self.settle(&mut state).is_err() {
            state.failed = true;
            return 0;
        }
        let mut left = bytes;
        file.writing(|| {
            while !left.is_empty() {
                match (&*file.file).write(left) {
                    Ok(done) if done > 0 => left = &left[done.min(left.len())..],
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => {
                        state.failed = true;
                        break;
                    }
                }
            }
        });
        bytes.len() - left.len()
    }

    /// As `fseek`.
    pub(super) fn seek(&self, offset: i64, whence: u64) -> Result<(), u32> {
        let to = match whence {
            0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| errno::EINVAL)?),
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => return Err(errno::EINVAL),
        };
        let (file, mut state) = self.parts();
        let done = self.settle(&mut state).and_then(|()| (&*file.file).seek(to));
        done.map_err(|error| errno::of(&error))?;
        state.at_end = false;
        Ok(())
    }

    /// As `ftell`.
    pub(super) fn place(&self) -> Result<u64, u32> {
        let (file, state) = self.parts();
        let place = (&*file.file).stream_position().map_err(|error| errno::of(&error))?;
        place.checked_sub(state.ahead.len() as u64).ok_or(errno::EINVAL)
    }
}

/// The streams of one program, until it ends.
#[derive(Debug)]
pub(super) struct Streams(Mutex<Option<HashMap<u64, Arc<Stream>>>>);

impl Default for Streams {
    fn default() -> Self {
        Self(Mutex::new(Some(HashMap::new())))
    }
}

impl Streams {
    fn list(&self) -> MutexGuard<'_, Option<HashMap<u64, Arc<Stream>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file, as `fopen`: the word that stands for it.
    pub(super) fn open(&self, policy: &Policy, files: &FileTable, tenant: &Arc<Tenant>, path: &[u8], mode: &[u8]) -> Result<u64, u32> {
        let bits = mode_bits(mode).ok_or(errno::EINVAL)?;
        let handle = open_file(policy, files, tenant, path, bits)?;
        let file = files.file(tenant, handle)?;
        let stream = Arc::new(Stream { file, state: Mutex::default() });
        self.list().as_mut().ok_or(errno::EBADF)?.insert(handle, stream);
        Ok(word_of(handle))
    }

    /// The stream of a handle.
    pub(super) fn get(&self, handle: u64) -> Result<Arc<Stream>, u32> {
        self.list().as_ref().and_then(|list| list.get(&handle)).cloned().ok_or(errno::EBADF)
    }

    /// Closes it.
    pub(super) fn close(&self, files: &FileTable, tenant: &Tenant, handle: u64) -> Result<(), u32> {
        let stream = self.list().as_mut().and_then(|list| list.remove(&handle)).ok_or(errno::EBADF)?;
        files.remove(tenant, handle)?;
        drop(stream);
        Ok(())
    }

    /// The program has ended: nothing is open, and nothing is opened any more.
    pub(super) fn end(&self) {
        let all = self.list().take();
        // Closing may take a while: not under the lock.
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Gives its bytes in pieces.
    struct Pieces(RefCell<VecDeque<&'static [u8]>>);

    impl Source for Pieces {
        fn read(&self, into: &mut [u8]) -> std::io::Result<usize> {
            let Some(piece) = self.0.borrow_mut().pop_front() else { return Ok(0) };
            into[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn handles_leave_the_bits_free_by_which_standard_streams_are_marked() {
        for handle in [1 << 32, 1 << 32 | 1, 7 << 32 | 0x3fff_ffff, u64::from(u32::MAX) << 32] {
            let word = word_of(handle);
            assert_eq!((word & 3, Which::marked(word)), (0, Which::File(handle)), "{handle:#x}");
        }
        let marks = [1, 2, 3].map(|mark| Which::marked(0x7f00_1234_5678 | mark));
        assert_eq!(marks, [Which::Input, Which::Output, Which::Error]);
    }

    #[test]
    fn modes_are_c_s() {
        let bits = |mode: &str| mode_bits(mode.as_bytes());
        assert_eq!(bits("r"), Some(open::READ));
        assert_eq!(bits("rb+"), Some(open::READ | open::WRITE));
        assert_eq!(bits("w"), Some(open::WRITE | open::CREATE | open::TRUNCATE));
        assert_eq!(bits("w+x"), Some(open::WRITE | open::CREATE_NEW | open::READ));
        assert_eq!(bits("a+"), Some(open::APPEND | open::CREATE | open::READ));
        assert!(["", "x", "rx", "rw", "q", "+r", "r,ccs=UTF-8"].iter().all(|mode| bits(mode).is_none()));
    }

    #[test]
    fn lines_end_at_their_newlines_at_the_most_and_at_the_end() {
        let source = Pieces(RefCell::new([&b"one\ntw"[..], b"o\nthree", b"!"].into()));
        let mut state = State::default();
        let lines: Vec<_> = [100, 100, 3, 100].map(|most| state.line(&source, most)).to_vec();
        assert_eq!(lines, [&b"one\n"[..], b"two\n", b"thr", b"ee!"]);
        assert!(state.at_end() && !state.failed());
        assert!(state.unread(b'!') && !state.at_end());
        assert_eq!((state.line(&source, 9), state.line(&source, 9)), (b"!".to_vec(), Vec::new()));
    }

    #[test]
    fn a_buffer_is_filled_with_what_was_read_ahead_first() {
        let source = Pieces(RefCell::new([&b"a\nbcd"[..], b"ef", b"g"].into()));
        let mut state = State::default();
        assert_eq!(state.line(&source, 100), b"a\n");
        let mut all = [0; 5];
        assert_eq!((state.fill(&source, &mut all), &all), (5, b"bcdef"));
        assert!(!state.at_end());
        assert_eq!((state.fill(&source, &mut all), all[0], state.at_end()), (1, b'g', true));
    }

    #[test]
    fn no_more_is_pushed_back_than_there_is_room_for() {
        let mut state = State::default();
        assert_eq!((0..3 * AHEAD).filter(|_| state.unread(1)).count(), 2 * AHEAD);
    }
}

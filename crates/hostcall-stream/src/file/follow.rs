//! Reading a recording while it is written.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::format::{FILE_HEAD, FRAME_HEAD, FrameHead, MAX_FRAME, MAX_TEXT, is_sealed, number};
use super::read::{Ending, Error, Message, Reader};

/// Reads a recording that grows: whole frames, as they come.
#[derive(Debug)]
pub struct Follower {
    reader: Reader<Growing>,
}

/// A file of which frames are read that are there as a whole.
#[derive(Debug)]
struct Growing {
    file: File,
    /// Bytes that have been read.
    position: u64,
    /// Bytes behind them that belong to a part which is there.
    whole: u64,
}

/// Opens a recording that may still be written. `None`: its head is not there yet.
///
/// # Errors
/// When there is no such file, or it does not begin as a recording does.
pub fn follow(path: impl AsRef<Path>) -> Result<Option<Follower>, Error> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| Error::Open { path: path.into(), source })?;
    match Reader::new(Growing { file, position: 0, whole: 0 }) {
        Ok(reader) => Ok(Some(Follower { reader })),
        Err(Error::NoHead { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Follower {
    /// The next message; `None`: there is none as yet, or none will come ([`Follower::has_ended`]).
    ///
    /// # Errors
    /// When the file is damaged, has become shorter, or the system fails to read it. There are no messages after it.
    #[expect(clippy::should_implement_trait, reason = "messages borrow the reader's memory, which iterators cannot say")]
    pub fn next(&mut self) -> Result<Option<Message<'_>>, Error> {
        self.reader.resume();
        self.reader.next()
    }

    /// Whether the recording is complete, and has been read.
    pub fn has_ended(&self) -> bool {
        self.reader.ending() == Some(Ending::Complete)
    }

    /// Programs, streams and counters, as far as it has been read.
    pub fn recording(&self) -> &Reader<impl Read + use<>> {
        &self.reader
    }

    /// Bytes of the file that have not been read.
    ///
    /// # Errors
    /// The system's.
    pub fn behind(&self) -> io::Result<u64> {
        Ok(self.reader.input().file.metadata()?.len().saturating_sub(self.reader.offset()))
    }
}

impl Growing {
    /// The length of the part that begins at `position`, if all of it is there; else 0. One that makes no sense counts
    /// as there: the reader says what is wrong with it.
    fn part(&mut self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        if length < self.position {
            return Err(io::Error::other("the file has become shorter: another run has begun to write it"));
        }
        let behind = length - self.position;
        let head_size = if self.position == 0 { FILE_HEAD } else { FRAME_HEAD };
        let mut head = [0; FRAME_HEAD];
        let head = &mut head[..head_size];
        if behind < head_size as u64 {
            return Ok(0);
        }
        self.file.read_exact(head)?;
        self.file.seek(SeekFrom::Start(self.position))?;
        let contents = match head.first_chunk::<FRAME_HEAD>() {
            Some(head) => FrameHead::decode(head).map(|head| head.bytes).filter(|bytes| *bytes <= MAX_FRAME),
            None => is_sealed(head).then(|| u64::from(number(head, 12))).filter(|bytes| *bytes <= MAX_TEXT),
        };
        let Some(contents) = contents else { return Ok(behind) };
        let whole = head_size as u64 + contents;
        Ok(if behind >= whole { whole } else { 0 })
    }
}

impl Read for Growing {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.whole == 0 {
            self.whole = self.part()?;
        }
        let most = usize::try_from(self.whole).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.file.read(&mut bytes[..most])?;
        self.position += read as u64;
        self.whole -= read as u64;
        Ok(read)
    }
}

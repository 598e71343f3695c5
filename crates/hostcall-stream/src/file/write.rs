//! Writing a recording.
//!
//! A thread that reads rings appends messages to a buffer of its own, in frames. A full buffer goes through a short
//! queue to one thread that writes. While the queue is full, the thread that reads rings waits, so waves wait for room
//! or drop their messages, as their policy says. When a write fails, what comes later is counted and let go, and nobody
//! waits any more.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hostcall_abi::stream::Packet;
use offload::host::without_sigpipe;

use super::format::{
    AFTER_GAP, FRAME_HEAD, FrameHead, Kind, MAX_FRAME, MAX_PROGRAMS, MAX_RINGS, MAX_TEXT, Program, counters_to_text, dispatch_frame,
    file_head, text_frame,
};
use crate::counts::Summary;
use crate::dispatch::Dispatch;

/// Bytes of a thread's buffer after which it is written.
const FULL: usize = 1 << 20;
/// Buffers that may wait for the thread that writes.
const QUEUED: usize = 8;

const _: () = assert!(2 * FULL as u64 <= MAX_FRAME, "a buffer is one frame at most, with its last message");

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The file.
    pub path: PathBuf,
    /// Messages in it.
    pub messages: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Messages that are not in it, because it could not be written.
    pub lost: u64,
    /// Why not.
    pub error: Option<RecordError>,
}

/// Why a recording is not whole.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write the recording `{}`: {message}; make room, or record to another place", path.display())]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// What the system's error means.
    pub kind: io::ErrorKind,
    /// What the system says.
    pub message: String,
}

hostcall_error::readable!(RecordError);

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, messages, bytes, lost, error } = self;
        write!(f, "{messages} messages recorded in `{}`, {bytes} bytes", path.display())?;
        match error {
            Some(error) => write!(f, "; {lost} messages are lost to it: {error}"),
            None => Ok(()),
        }
    }
}

/// What the thread that writes is given.
enum Job {
    /// Whole frames of data, and how many messages are in them.
    Data(Bytes, u64),
    /// Another frame.
    Other(Vec<u8>),
    /// Answer when everything before has been written.
    Flush(SyncSender<()>),
    /// Nothing comes any more.
    End,
}

/// Bytes, by fours: as units are taken apart.
type Bytes = Vec<[u8; 4]>;

/// A recording that is being written.
#[derive(Debug)]
pub(crate) struct Recording {
    path: PathBuf,
    queue: SyncSender<Job>,
    /// One for each thread that reads rings.
    buffers: Box<[Mutex<Buffer>]>,
    state: Arc<State>,
    writer: Mutex<Option<JoinHandle<()>>>,
    described: Mutex<Described>,
}

/// What the thread that writes tells others.
#[derive(Debug, Default)]
struct State {
    recorded: Mutex<Recorded>,
    /// Buffers that have been written, to be used again.
    spare: Mutex<Vec<Bytes>>,
}

/// What is known of programs.
#[derive(Debug, Default)]
struct Described {
    rings: u32,
    bytes: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics between two steps of a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    /// Makes the file, and starts the thread that writes.
    ///
    /// # Errors
    /// The system's, of making a file or a thread.
    pub(crate) fn start(path: &Path, threads: usize) -> io::Result<Self> {
        let file = File::create(path)?;
        let state = Arc::new(State { recorded: Mutex::new(Recorded { path: path.into(), ..Recorded::default() }), ..State::default() });
        let (queue, jobs) = mpsc::sync_channel(QUEUED);
        let theirs = state.clone();
        let writer =
            std::thread::Builder::new().name("hostcall-recording".into()).spawn(move || without_sigpipe(|| write(file, &jobs, &theirs)))?;
        let buffers = (0..threads).map(|_| Mutex::default()).collect();
        Ok(Self { path: path.into(), queue, buffers, state, writer: Mutex::new(Some(writer)), described: Mutex::default() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Numbers the rings of a program and writes what it is; the number of its first ring. `None`: the file has no
    /// numbers left.
    pub(crate) fn program(&self, mut program: Program) -> Option<u32> {
        let mut described = locked(&self.described);
        program.first_ring = described.rings;
        let text = program.to_text();
        let (rings, bytes) = (described.rings.checked_add(program.rings)?, described.bytes + text.len() as u64);
        if rings > MAX_RINGS || bytes > MAX_PROGRAMS || text.len() as u64 > MAX_TEXT {
            return None;
        }
        *described = Described { rings, bytes };
        self.send(Job::Other(text_frame(Kind::Program, &text)));
        Some(program.first_ring)
    }

    /// The buffer of a thread, while it reads a ring.
    pub(crate) fn turn(&self, thread: usize) -> Turn<'_> {
        Turn { recording: self, buffer: locked(&self.buffers[thread]) }
    }

    /// Hands what a thread has on to be written, and waits for room in the queue.
    fn hand_on(&self, buffer: &mut Buffer) {
        buffer.close();
        if !buffer.bytes.is_empty() {
            let spare = locked(&self.state.spare).pop().unwrap_or_else(|| Vec::with_capacity(FULL / 4 + (1 << 12)));
            let bytes = std::mem::replace(&mut buffer.bytes, spare);
            self.send(Job::Data(bytes, std::mem::take(&mut buffer.messages)));
        }
    }

    fn send(&self, job: Job) {
        // The thread takes jobs up to the end, behind which there are none.
        let _ = self.queue.send(job);
    }

    /// Writes what all threads have, and what has been counted, and waits until the system has it.
    pub(crate) fn flush(&self, counted: &Summary) {
        self.buffers.iter().for_each(|buffer| self.hand_on(&mut locked(buffer)));
        self.send(Job::Other(text_frame(Kind::Counters, &counters_to_text(counted))));
        let (sender, written) = mpsc::sync_channel(1);
        self.send(Job::Flush(sender));
        // Fails if the thread has ended, and then there is nothing to wait for.
        let _ = written.recv();
    }

    /// What has been recorded.
    pub(crate) fn recorded(&self) -> Recorded {
        locked(&self.state.recorded).clone()
    }

    /// Writes what there is, and the end. The threads that read rings have ended.
    pub(crate) fn end(&self, counted: &Summary) {
        self.flush(counted);
        self.send(Job::Other(text_frame(Kind::End, &[])));
        self.send(Job::End);
        if let Some(writer) = locked(&self.writer).take() {
            // It has nothing that panics; what it knew stands in `state`.
            let _ = offload::overdue::join(writer, || "streams that end wait until their recording is written".to_owned());
        }
        if let Some(error) = &locked(&self.state.recorded).error {
            tracing::error!(%error, "a recording is not whole");
        }
    }
}

/// The thread that writes.
fn write(mut file: File, jobs: &Receiver<Job>, state: &State) {
    let fail = |error: io::Error| {
        let recorded = &mut *locked(&state.recorded);
        let path = recorded.path.clone();
        recorded.error = Some(RecordError { path, kind: error.kind(), message: error.to_string() });
    };
    let mut whole = true;
    let mut put = |bytes: &[u8], messages: u64| {
        if whole && let Err(error) = file.write_all(bytes) {
            whole = false;
            fail(error);
        }
        let recorded = &mut *locked(&state.recorded);
        if whole {
            recorded.messages += messages;
            recorded.bytes += bytes.len() as u64;
        } else {
            recorded.lost += messages;
        }
    };
    put(&file_head(), 0);
    for job in jobs {
        match job {
            Job::Other(bytes) => put(&bytes, 0),
            Job::Data(mut bytes, messages) => {
                put(bytes.as_flattened(), messages);
                let spare = &mut *locked(&state.spare);
                if spare.len() < QUEUED && bytes.capacity() >= FULL / 4 {
                    bytes.clear();
                    spare.push(bytes);
                }
            }
            // Who asked may have gone.
            Job::Flush(sender) => drop(sender.send(())),
            Job::End => break,
        }
    }
}

/// Frames of one thread that are not written yet.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Bytes,
    /// The frame that is being filled.
    frame: Option<Frame>,
    messages: u64,
    /// What the file says of launches, by ring and bits: a ring's frames are all from one thread.
    dispatches: HashMap<(u16, u32), Dispatch>,
    /// Ring, bits and launch of the last message.
    last: Option<(u16, u32, Dispatch)>,
}

#[derive(Debug)]
struct Frame {
    /// Where its head stands in `bytes`.
    at: usize,
    ring: u16,
    flags: u32,
    position: u64,
    /// The position behind its last message.
    next: u64,
}

/// A head's place in a buffer.
const HEAD: usize = FRAME_HEAD / 4;

impl Buffer {
    /// Says which launch messages with these bits are of, unless the file says it already.
    #[inline]
    fn dispatch(&mut self, ring: u16, bits: u32, dispatch: Dispatch) {
        let last = Some((ring, bits, dispatch));
        if self.last == last {
            return;
        }
        self.last = last;
        if self.dispatches.get(&(ring, bits)).copied().unwrap_or_default() != dispatch {
            self.dispatches.insert((ring, bits), dispatch);
            self.close();
            self.bytes.extend_from_slice(dispatch_frame(ring, bits, dispatch).as_chunks::<4>().0);
        }
    }

    fn push(&mut self, ring: u16, position: u64, packet: &Packet<'_>) {
        let flags = if packet.after_gap { AFTER_GAP } else { 0 };
        let goes_on = |frame: &Frame| frame.ring == ring && frame.flags == flags && frame.next == position;
        if !self.frame.as_ref().is_some_and(goes_on) {
            self.close();
            self.frame = Some(Frame { at: self.bytes.len(), ring, flags, position, next: position });
            self.bytes.extend([[0; 4]; HEAD]);
        }
        if let Some(frame) = &mut self.frame {
            frame.next = position + u64::from(packet.header.granules);
        }
        self.bytes.extend(packet.raw().iter().map(|unit| unit.to_le_bytes()));
        self.messages += 1;
    }

    /// Writes the head of the frame that is being filled.
    fn close(&mut self) {
        let Some(Frame { at, ring, flags, position, .. }) = self.frame.take() else { return };
        let (head, contents) = self.bytes[at..].split_at_mut(HEAD);
        let contents = contents.as_flattened();
        let (bytes, checksum) = (contents.len() as u64, crc32c::crc32c(contents));
        let encoded = FrameHead { kind: Kind::Data as u16, ring, flags, position, bytes, checksum }.encode();
        head.as_flattened_mut().copy_from_slice(&encoded);
    }
}

/// A thread's buffer while it reads a ring.
pub(crate) struct Turn<'a> {
    recording: &'a Recording,
    buffer: MutexGuard<'a, Buffer>,
}

impl Turn<'_> {
    /// Records a message of a launch, whose ring took `position` granules before. Waits while the file is behind.
    #[inline]
    pub(crate) fn push(&mut self, ring: u32, position: u64, packet: &Packet<'_>, dispatch: Dispatch) {
        self.buffer.dispatch(ring as u16, packet.header.from.launch, dispatch);
        self.buffer.push(ring as u16, position, packet);
        if self.buffer.bytes.len() >= FULL / 4 {
            self.flush();
        }
    }

    /// Hands everything on to be written.
    pub(crate) fn flush(&mut self) {
        self.recording.hand_on(&mut self.buffer);
    }
}

//! How requests and answers are written: 32-bit units, little-endian, one behind the other.
//!
//! ```text
//! request: "HCQ1", messages, signature (2), then each message
//! message: mask (2), port, room | flags << 16, the fixed arguments of all lanes, strings and slices of all lanes padded to a unit
//! answer:  "HCA1", kind, the worker's name, answered messages, then each
//! answered: index, lanes | flags << 8, a head for each lane (one if all are alike), the units of all lanes, notes if there are any
//! note:    kind, code, lanes, its text
//! text:    bytes, then they, padded to a unit
//! ```
//!
//! Whoever reads believes nothing: what is decoded is checked against the definition, and takes memory in proportion to
//! the bytes that came.

use bytes::Bytes;
use hostcall::Definition;
use hostcall::detached::{Invalid, Message, Note, Replies, ReplyHead};
use hostcall_abi::Shown;

const REQUEST: u32 = u32::from_le_bytes(*b"HCQ1");
const ANSWER: u32 = u32::from_le_bytes(*b"HCA1");

const POST: u32 = 1;
const IMAGE: u32 = 2;
const ALIKE: u32 = 1;
const NOTES: u32 = 2;

const ANSWERED: u32 = 0;
const BUSY: u32 = 1;
const INVALID: u32 = 2;

/// Bytes of a note's text at most; notes of a message at most. A report keeps as many of each kind.
const TEXT: usize = 2048;
const MOST_NOTES: usize = 128;

/// Bytes of memory for which the calls of one request may [ask](asked): what those of one message can ask for, and as
/// much again.
pub const MOST_ASKED: u64 = 34 << 20;

/// Bytes that a call takes while it is handled, beside what it brings and the room for its reply.
const CALL: u64 = 256;

/// Bytes of memory for which the calls of a message ask: room for their replies, which may be all that the message
/// says, and what each call takes while it is handled. What is asked for is counted before it is taken, by who sends
/// and by who is asked.
pub fn asked(definition: &Definition, message: &Message) -> u64 {
    let room = u64::from(message.room);
    let units = match definition.reply_dwords {
        None => 0,
        // `&mut [T]` come back behind the result.
        Some(_) if definition.takes_var => 1 + room,
        Some(result) => 1 + room.min(result.max(1) as u64),
    };
    u64::from(message.lanes()) * (CALL + 4 * units)
}

/// Why bytes are no request or no answer.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// They end too early.
    #[error("it ends too early")]
    Short,
    /// There are more of them than it says.
    #[error("{bytes} bytes too many")]
    Long {
        /// How many.
        bytes: usize,
    },
    /// It begins with something else.
    #[error("it is nothing of this version of hostcall-remote")]
    Magic,
    /// It is of another definition.
    #[error("it is of another definition of the service: {found:016x}, not {wanted:016x}")]
    Signature {
        /// The one that came.
        found: u64,
        /// The one that is served.
        wanted: u64,
    },
    /// One of its messages is none of the service.
    #[error(transparent)]
    Message(#[from] Invalid),
    /// A number is none that there is.
    #[error("a number that cannot be: {0}")]
    Number(u32),
    /// It asks for more memory than a request may.
    #[error("its calls ask for {asked} bytes of memory, and those of a request for {MOST_ASKED} at most: send fewer messages at once")]
    Asks {
        /// For how many, as far as it was read.
        asked: u64,
    },
}

hostcall_error::readable!(Malformed);

fn put(to: &mut Vec<u8>, unit: u32) {
    to.extend_from_slice(&unit.to_le_bytes());
}

fn put_units(to: &mut Vec<u8>, units: &[u32]) {
    if cfg!(target_endian = "little") {
        to.extend_from_slice(hostcall_abi::codec::bytes(units));
    } else {
        units.iter().for_each(|&unit| put(to, unit));
    }
}

fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(bytes);
    to.resize(to.len().next_multiple_of(4), 0);
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    put(to, end as u32);
    put_bytes(to, &text.as_bytes()[..end]);
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(bytes).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(head)
    }

    fn unit(&mut self) -> Result<u32, Malformed> {
        let (head, rest) = self.0.split_first_chunk::<4>().ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*head))
    }

    fn wide(&mut self) -> Result<u64, Malformed> {
        let low = self.unit()?;
        Ok(u64::from(low) | u64::from(self.unit()?) << 32)
    }

    fn units(&mut self, count: usize) -> Result<Vec<u32>, Malformed> {
        let bytes = self.take(count.checked_mul(4).ok_or(Malformed::Short)?)?;
        let unit = |chunk: &[u8]| chunk.first_chunk().map_or(0, |unit| u32::from_le_bytes(*unit));
        Ok(bytes.chunks_exact(4).map(unit).collect())
    }

    fn padded(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let all = self.take(bytes.checked_next_multiple_of(4).ok_or(Malformed::Short)?)?;
        Ok(&all[..bytes])
    }

    /// A text for people, as it can be [printed](Shown).
    fn text(&mut self) -> Result<String, Malformed> {
        let bytes = self.unit()?;
        if bytes as usize > TEXT {
            return Err(Malformed::Number(bytes));
        }
        Ok(Shown(&String::from_utf8_lossy(self.padded(bytes as usize)?)).to_string())
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::Long { bytes: self.0.len() }) }
    }
}

/// A request that is being written.
#[derive(Debug)]
pub struct RequestWriter<'a> {
    definition: &'a Definition,
    bytes: Vec<u8>,
    count: u32,
    asked: u64,
}

impl<'a> RequestWriter<'a> {
    /// Bytes of a request without messages.
    const HEAD: usize = 16;

    /// A request of a service.
    pub fn new(definition: &'a Definition) -> Self {
        let mut bytes = Vec::with_capacity(256);
        put(&mut bytes, REQUEST);
        put(&mut bytes, 0);
        bytes.extend_from_slice(&definition.signature.to_le_bytes());
        Self { definition, bytes, count: 0, asked: 0 }
    }

    /// Takes memory for `count` messages like this one, as far as the request may be so many bytes long.
    pub fn expect_like(&mut self, message: &Message, count: usize, most: usize) {
        self.bytes.reserve(bytes_of(message).saturating_mul(count).min(most.saturating_sub(self.bytes.len())));
    }

    /// How many messages it has.
    pub fn messages(&self) -> usize {
        self.count as usize
    }

    /// Whether it has room for a message if it may be so many bytes long.
    pub fn has_room_for(&self, message: &Message, most: usize) -> bool {
        self.bytes.len() + bytes_of(message) <= most && self.asked + asked(self.definition, message) <= MOST_ASKED
    }

    /// Bytes of a message that is the only one of a request.
    pub fn alone(message: &Message) -> usize {
        Self::HEAD + bytes_of(message)
    }

    /// Adds a message.
    pub fn push(&mut self, message: &Message) {
        let Message { port, mask, post, image, room, ref units, ref bytes, .. } = *message;
        self.count += 1;
        self.asked += asked(self.definition, message);
        let to = &mut self.bytes;
        to.extend_from_slice(&mask.to_le_bytes());
        put(to, port);
        let flags = if post { POST } else { 0 } | if image { IMAGE } else { 0 };
        put(to, u32::from(room) | flags << 16);
        put_units(to, units);
        put_bytes(to, bytes);
    }

    /// The request.
    pub fn finish(mut self) -> Bytes {
        self.bytes[4..8].copy_from_slice(&self.count.to_le_bytes());
        self.bytes.into()
    }
}

fn bytes_of(message: &Message) -> usize {
    16 + 4 * message.units.len() + message.bytes.len().next_multiple_of(4)
}

/// The messages of a request, each checked.
///
/// # Errors
/// Why it is none of this service.
pub fn read_request(definition: &Definition, bytes: &[u8]) -> Result<Vec<Message>, Malformed> {
    let mut from = Reader(bytes);
    if from.unit()? != REQUEST {
        return Err(Malformed::Magic);
    }
    let count = from.unit()?;
    let (found, wanted) = (from.wide()?, definition.signature);
    if found != wanted {
        return Err(Malformed::Signature { found, wanted });
    }
    // Each takes 16 bytes at least.
    if count as usize > from.0.len() / 16 {
        return Err(Malformed::Short);
    }
    if count == 0 {
        return Err(Malformed::Number(0));
    }
    let (mut messages, mut all) = (Vec::with_capacity(count as usize), 0);
    for _ in 0..count {
        let (mask, port, flags) = (from.wide()?, from.unit()?, from.unit()?);
        if flags >> 16 & !(POST | IMAGE) != 0 {
            return Err(Malformed::Number(flags));
        }
        let (post, image) = (flags >> 16 & POST != 0, flags >> 16 & IMAGE != 0);
        let units = from.units(mask.count_ones() as usize * definition.units)?;
        let mut message = Message { port, mask, post, image, room: flags as u16, units, ..Message::default() };
        if definition.takes_var {
            let mut end = 0u32;
            for lane in message.units.chunks_exact(definition.units.max(2)) {
                end = end.checked_add(lane[1]).ok_or(Malformed::Short)?;
                message.ends.push(end);
            }
            message.bytes = from.padded(end as usize)?.to_vec();
        }
        message.check(definition)?;
        all += asked(definition, &message);
        if all > MOST_ASKED {
            return Err(Malformed::Asks { asked: all });
        }
        messages.push(message);
    }
    from.end()?;
    Ok(messages)
}

/// What a worker says to a request. There may be several answers to one, each to other messages of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// Replies to some messages, by their numbers in the request.
    Replies(Vec<(u32, Replies)>),
    /// Nothing of it has been run, because the worker has too much to do.
    Busy,
    /// Nothing of it has been run, because it is no request of the service.
    Invalid(String),
}

/// The beginning of an answer.
fn begin(kind: u32, worker: &str) -> Vec<u8> {
    let mut to = Vec::with_capacity(256);
    put(&mut to, ANSWER);
    put(&mut to, kind);
    put_text(&mut to, worker);
    to
}

/// That nothing has been run: for want of time, or for a reason.
pub fn refusal(worker: &str, reason: Option<&str>) -> Bytes {
    let mut to = begin(if reason.is_some() { INVALID } else { BUSY }, worker);
    put_text(&mut to, reason.unwrap_or(""));
    to.into()
}

/// Answers with these replies, each at most `most` bytes long. A reply that is longer by itself becomes
/// [`Status::TOO_LARGE`](hostcall::Status::TOO_LARGE).
pub fn answers(worker: &str, replies: &[(u32, Replies)], most: usize) -> Vec<Bytes> {
    let head = begin(ANSWERED, worker);
    let (mut all, mut to, mut count, at) = (Vec::new(), head.clone(), 0u32, head.len());
    put(&mut to, 0);
    let mut finish = |to: &mut Vec<u8>, count: &mut u32| {
        to[at..at + 4].copy_from_slice(&count.to_le_bytes());
        all.push(Bytes::from(std::mem::take(to)));
        *count = 0;
        to.extend_from_slice(&head);
        put(to, 0);
    };
    for (index, replies) in replies {
        let before = to.len();
        put_replies(&mut to, *index, replies);
        if to.len() > most && count > 0 {
            to.truncate(before);
            finish(&mut to, &mut count);
            put_replies(&mut to, *index, replies);
        }
        if to.len() > most {
            to.truncate(at + 4);
            let max = most.saturating_sub(at + 64) as u32;
            put_replies(&mut to, *index, &too_large(replies.heads.len(), max));
        }
        count += 1;
    }
    if count > 0 {
        finish(&mut to, &mut count);
    }
    all
}

fn too_large(lanes: usize, max: u32) -> Replies {
    let head = ReplyHead { status: hostcall::Status::TOO_LARGE, dwords: 1 };
    Replies { heads: vec![head; lanes], units: vec![max; lanes], notes: Vec::new() }
}

fn put_replies(to: &mut Vec<u8>, index: u32, replies: &Replies) {
    let Replies { heads, units, notes } = replies;
    let alike = heads.windows(2).all(|two| two[0] == two[1]);
    let flags = if alike { ALIKE } else { 0 } | if notes.is_empty() { 0 } else { NOTES };
    put(to, index);
    put(to, heads.len() as u32 | flags << 8);
    heads.iter().take(if alike { 1 } else { heads.len() }).for_each(|head| put(to, head.encode()));
    put_units(to, units);
    if !notes.is_empty() {
        let notes = &notes[..notes.len().min(MOST_NOTES)];
        put(to, notes.len() as u32);
        for Note { code, message, lanes } in notes {
            put(to, u32::from(code.is_some()));
            put(to, code.unwrap_or(0));
            put(to, *lanes);
            put_text(to, message);
        }
    }
}

/// An answer, and the name of the worker that gave it.
///
/// # Errors
/// Why it is none.
pub fn read_answer(bytes: &[u8]) -> Result<(String, Answer), Malformed> {
    let mut from = Reader(bytes);
    if from.unit()? != ANSWER {
        return Err(Malformed::Magic);
    }
    let (kind, worker) = (from.unit()?, from.text()?);
    let answer = match kind {
        ANSWERED => Answer::Replies(read_replies(&mut from)?),
        BUSY => {
            from.text()?;
            Answer::Busy
        }
        INVALID => Answer::Invalid(from.text()?),
        other => return Err(Malformed::Number(other)),
    };
    from.end()?;
    Ok((worker, answer))
}

fn read_replies(from: &mut Reader<'_>) -> Result<Vec<(u32, Replies)>, Malformed> {
    let count = from.unit()? as usize;
    // Each takes 8 bytes at least.
    if count > from.0.len() / 8 {
        return Err(Malformed::Short);
    }
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let (index, shape) = (from.unit()?, from.unit()?);
        let (lanes, flags) = (shape & 0xff, shape >> 8);
        if lanes > 64 || flags & !(ALIKE | NOTES) != 0 {
            return Err(Malformed::Number(shape));
        }
        let heads = if lanes == 0 {
            Vec::new()
        } else if flags & ALIKE != 0 {
            vec![ReplyHead::decode(from.unit()?); lanes as usize]
        } else {
            from.units(lanes as usize)?.into_iter().map(ReplyHead::decode).collect()
        };
        let units = from.units(heads.iter().map(|head| usize::from(head.dwords)).sum())?;
        let mut notes = Vec::new();
        if flags & NOTES != 0 {
            let count = from.unit()?;
            if count as usize > MOST_NOTES {
                return Err(Malformed::Number(count));
            }
            for _ in 0..count {
                let (kind, code, lanes) = (from.unit()?, from.unit()?, from.unit()?);
                let message = from.text()?;
                notes.push(Note { code: (kind != 0).then_some(code), message, lanes });
            }
        }
        all.push((index, Replies { heads, units, notes }));
    }
    Ok(all)
}

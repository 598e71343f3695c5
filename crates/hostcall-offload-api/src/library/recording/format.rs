//! The file of a recording.
//!
//! All numbers are little-endian. The file begins with [`MAGIC`], then, as 32 bits each, [`VERSION`], the version of
//! the API, and 8, the bytes of an address. Records follow. Each is its kind and the CRC-32 of its payload, 32 bits
//! each, the payload's length, 64 bits, and the payload. A record is written in one piece, so that a file ends with a
//! whole record unless the disk was full or the file was cut.

use super::reader::{Reader, Refused};
use crate::API_VERSION;

/// What a recording begins with.
pub(crate) const MAGIC: [u8; 8] = *b"OFLDREC\0";

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// What the records of a file come after.
pub(crate) fn header() -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    for number in [VERSION, API_VERSION, 8] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header
}

/// How many bytes the header has.
pub(crate) const HEADER: usize = 20;

/// How many bytes stand in front of a record's payload.
pub(crate) const FRAME: usize = 16;

/// An argument, or what a call wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number, as its bits.
    Number(u64),
    /// A handle, as the recorded process knew it.
    Handle(u64),
    /// Whether there was a callback.
    Callback(bool),
    /// An address, as the recorded process knew it.
    Pointer(u64),
    /// Memory.
    Memory(Memory),
}

/// Memory that a call reads or writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Where it was.
    pub(crate) address: u64,
    /// How many bytes the caller said that there are.
    pub(crate) size: u64,
    /// Whether it is memory that a copy or a fill reads or writes, perhaps later: at one address it is the same memory
    /// in all calls.
    pub(crate) lasts: bool,
    /// What was there: nothing if the call writes it, fewer bytes than `size` if not all could be read.
    pub(crate) bytes: Vec<u8>,
    /// Handles, addresses and further memory that the bytes name, with their offsets.
    pub(crate) links: Vec<(u64, Value)>,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A platform or a device appears.
    Object(Object),
    /// A call begins.
    Begin(Begin),
    /// A call has ended.
    End(End),
    /// What a queue wrote into the caller's memory, when the caller had waited for it.
    Arrived(Arrived),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) handle: u64,
    pub(crate) is_device: bool,
    /// An `ol_platform_backend_t`.
    pub(crate) backend: u32,
    /// The device's place in its platform.
    pub(crate) ordinal: u32,
    pub(crate) name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    /// The call's number.
    pub(crate) call: u64,
    pub(crate) thread: u64,
    /// Whether the caller was a function that a queue ran.
    pub(crate) in_host_function: bool,
    pub(crate) function: String,
    pub(crate) arguments: Vec<Value>,
    /// What of the call cannot be replayed.
    pub(crate) unseen: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) call: u64,
    /// An `ol_errc_t`.
    pub(crate) code: u32,
    pub(crate) details: String,
    /// What it wrote, by the number of the argument.
    pub(crate) outputs: Vec<(u32, Value)>,
    /// Addresses that mean device memory from now on, and how many bytes there are.
    pub(crate) ranges: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    /// The call that waited.
    pub(crate) call: u64,
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
}

/// How deep memory may name memory: a launch's list of arguments, an argument, and what it names.
const MOST_DEPTH: u32 = 4;

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Writer, &T)) {
        self.u32(list.len() as u32);
        list.iter().for_each(|item| each(self, item));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Number(number) => {
                self.u8(0);
                self.u64(*number);
            }
            Value::Handle(handle) => {
                self.u8(1);
                self.u64(*handle);
            }
            Value::Callback(is_there) => {
                self.u8(2);
                self.u8((*is_there).into());
            }
            Value::Pointer(address) => {
                self.u8(3);
                self.u64(*address);
            }
            Value::Memory(memory) => {
                self.u8(4);
                self.u64(memory.address);
                self.u64(memory.size);
                self.u8(memory.lasts.into());
                self.bytes(&memory.bytes);
                self.list(&memory.links, |to, (offset, value)| {
                    to.u64(*offset);
                    to.value(value);
                });
            }
        }
    }
}

fn value(from: &mut Reader<'_>, depth: u32) -> Result<Value, Refused> {
    Ok(match from.u8()? {
        0 => Value::Number(from.u64()?),
        1 => Value::Handle(from.u64()?),
        2 => Value::Callback(from.flag()?),
        3 => Value::Pointer(from.u64()?),
        4 if depth < MOST_DEPTH => Value::Memory(Memory {
            address: from.u64()?,
            size: from.u64()?,
            lasts: from.flag()?,
            bytes: from.bytes()?.to_vec(),
            links: from.list(|from| Ok((from.u64()?, value(from, depth + 1)?)))?,
        }),
        4 => return Err(from.refuse("memory names memory more deeply than any call does")),
        other => return Err(from.refuse(format!("there are no values of kind {other}"))),
    })
}

impl Record {
    /// The record with its frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = Writer(vec![0; FRAME]);
        let kind: u32 = match self {
            Record::Object(object) => {
                to.u64(object.handle);
                to.u8(object.is_device.into());
                to.u32(object.backend);
                to.u32(object.ordinal);
                to.bytes(object.name.as_bytes());
                1
            }
            Record::Begin(begin) => {
                to.u64(begin.call);
                to.u64(begin.thread);
                to.u8(begin.in_host_function.into());
                to.bytes(begin.function.as_bytes());
                to.list(&begin.arguments, Writer::value);
                to.list(&begin.unseen, |to, text| to.bytes(text.as_bytes()));
                2
            }
            Record::End(end) => {
                to.u64(end.call);
                to.u32(end.code);
                to.bytes(end.details.as_bytes());
                to.list(&end.outputs, |to, (index, value)| {
                    to.u32(*index);
                    to.value(value);
                });
                to.list(&end.ranges, |to, (address, size)| {
                    to.u64(*address);
                    to.u64(*size);
                });
                3
            }
            Record::Arrived(arrived) => {
                to.u64(arrived.call);
                to.u64(arrived.address);
                to.bytes(&arrived.bytes);
                4
            }
        };
        let Writer(mut bytes) = to;
        let (checksum, length) = (crc32fast::hash(&bytes[FRAME..]), (bytes.len() - FRAME) as u64);
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
        bytes[8..FRAME].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// A record from its payload, all of which must be used.
    pub(crate) fn decode(kind: u32, from: &mut Reader<'_>) -> Result<Record, Refused> {
        let record = match kind {
            1 => Record::Object(Object {
                handle: from.u64()?,
                is_device: from.flag()?,
                backend: from.u32()?,
                ordinal: from.u32()?,
                name: from.text()?,
            }),
            2 => Record::Begin(Begin {
                call: from.u64()?,
                thread: from.u64()?,
                in_host_function: from.flag()?,
                function: from.text()?,
                arguments: from.list(|from| value(from, 0))?,
                unseen: from.list(Reader::text)?,
            }),
            3 => Record::End(End {
                call: from.u64()?,
                code: from.u32()?,
                details: from.text()?,
                outputs: from.list(|from| Ok((from.u32()?, value(from, 0)?)))?,
                ranges: from.list(|from| Ok((from.u64()?, from.u64()?)))?,
            }),
            4 => Record::Arrived(Arrived { call: from.u64()?, address: from.u64()?, bytes: from.bytes()?.to_vec() }),
            other => return Err(from.refuse(format!("there are no records of kind {other}"))),
        };
        if from.is_empty() { Ok(record) } else { Err(from.refuse("it is longer than what it holds")) }
    }
}

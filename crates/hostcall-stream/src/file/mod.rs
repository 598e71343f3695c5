//! Recordings: files with the messages of a run as they lay in the rings, by custom with the extension `.hcs`.
//!
//! [`StreamsBuilder::record`](crate::StreamsBuilder::record) writes one, [`open`] reads it, and `cargo hostcall stream`
//! shows, checks and converts it. A message is stored without being decoded, so that writing costs a copy and a
//! checksum. Everything that is needed to decode it stands in the same file.
//!
//! # Format, version 3
//!
//! All numbers are little-endian. The file begins with a head of 24 bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `HCSTREAM` |
//! | 4 | version: 3 |
//! | 4 | bytes of the text that follows the head |
//! | 4 | CRC-32C of that text |
//! | 4 | CRC-32C of the 20 bytes before |
//!
//! The text is a JSON object: `hostcall`, the version of the program that wrote the file. Behind it stand *frames*, one
//! behind another. A frame has a head of 32 bytes, and contents:
//!
//! | bytes | what |
//! |---|---|
//! | 2 | kind |
//! | 2 | ring, in frames of data and of launches, else 0 |
//! | 4 | flags; in frames of data, 1: these messages were found by a search behind one that never became whole; in frames of launches, see below |
//! | 8 | position, in frames of data: granules of 64 bytes that the ring took before, else 0 |
//! | 8 | bytes of the contents, at most 16 MiB |
//! | 4 | CRC-32C of the contents |
//! | 4 | CRC-32C of the 28 bytes before |
//!
//! | kind | contents |
//! |---|---|
//! | 1, program | JSON: a program that was attached, its device, its rings and its streams; see below. It stands before the data of its rings. |
//! | 2, data | Whole messages, one behind another in the ring, as they lay there: units with their phases, see `hostcall_abi::stream`. Positions of a ring only grow. |
//! | 3, counters | JSON: what [`Summary`](crate::Summary) says, as of then. One is written by each [`Streams::wait`](crate::Streams::wait), and one before the end. |
//! | 4, end | Nothing. The recording is complete, and nothing follows. |
//! | 5, launch | JSON, and spaces up to a multiple of 4 bytes: `number`, which launch of its device it is, from 1 on, or `null`; `kernel`, its name, or `null`: unknown; and `shape`, an object with `groups` and `group_size`, lists of x, y and z, which is left out if it is unknown. Messages of the frame's ring whose headers have its flags as their launch (10 bits) are of this launch from here on. Of others it is unknown. |
//!
//! A program is an object with `name`; `device`, an object with `number`, `name` and `kind` (`sim`, `cuda`, `hsa`);
//! `wave_size`, 32 or 64; `first_ring` and `rings`, the numbers of its rings in this file; and `streams`, a list of
//! objects: all that its messages can be of. Each of them has the stream's `number` in message headers, `name`,
//! `signature` (16 hexadecimal digits), `bytes` of a value, `policy` (`block`, `drop`), and `fields`: a list of objects
//! with `name`, `type` as the source says it, `offset` and `bytes`. A stream of bytes or of text has `bytes` 0, and one
//! field `value` of 0 bytes, whose type is `[u8]` or `str`; its messages are those of `hostcall_abi::stream::bytes`.
//! Streams of one number are the same in all programs. Readers ignore members of objects that they do not know.
//!
//! A file may be cut off anywhere, because its program was killed or the disk was full. Its messages up to the last
//! whole frame are read, and [`Reader::ending`] says that it was cut. Everything else that is not as described here is
//! an [`Error`] which names the place. Nothing in a file is believed: lengths are checked before anything is allocated,
//! and memory is bounded by constants ([`Reader`]).
//!
//! Version 2 is the same without launches, version 1 also without streams of bytes and of text; recordings of all
//! versions are read.
//!
//! Frames are not compressed. There is no flag for it: a file system or `zstd` does it outside, and the reader takes
//! any [`std::io::Read`].

#[cfg(test)]
mod bytes_tests;
mod follow;
mod format;
mod make;
mod read;
mod replay;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use follow::{Follower, follow};
pub use format::{Device, Program};
pub use make::Writer;
pub use read::{Ending, Error, LogLines, Message, Reader, Row, SelectError, open};
pub use replay::Replay;
pub use value::{Type, Value};
pub use write::{RecordError, Recorded};
pub(crate) use write::{Recording, Turn};

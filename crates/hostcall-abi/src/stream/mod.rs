//! Streams: messages of kernels that nobody answers, through rings in host memory.
//!
//! A wave reserves room in its ring by one atomic addition in device memory, and stores its message straight into the
//! ring. Every 32-bit *unit* of the ring carries one *phase* bit, which flips with each lap ([`mod@unit`]). So the
//! reader knows of every unit whether it is there. No store is ordered against another: there is no fence, no commit
//! and no doorbell. The other 31 bits are the message. The bits that the phase displaces are gathered by ballots, and
//! travel in the same message ([`layout`]). The reader walks each ring in order, and returns room (*credit*) in one
//! word.
//!
//! * [`mod@unit`], the unit with its phase.
//! * [`header`]: the first two words of a message, who sent what.
//! * [`layout`]: where the units of each lane lie in a message.
//! * [`mod@bytes`]: messages of bytes and of text, of any length.
//! * [`mod@encode`]: a message by one thread, for tests.
//! * [`message`]: types of messages, and what a program says of them.
//! * [`builtin`]: messages that the library brings along.
//! * [`policy`]: what a message does when its ring is full.
//! * [`mod@send`]: the device's half.
//! * [`latest`]: both halves of the flight recorder, whose messages overwrite the oldest.
//! * [`site`]: places in the source.
//! * [`gate`]: which messages are wanted, as the host says while kernels run.
//! * [`log`]: lines whose text stays on the host.
//! * [`rings`]: where the rings of a program are.
//! * [`receive`]: the host's half; [`mod@take`]: its short way.
//!
//! # Why it is right
//!
//! Each unit is stored exactly once in a lap, padding included. The store of lap `n + 1` is issued only after the
//! reader has seen that of lap `n`, because it needs credit, which the reader returns after it has read. So a unit has
//! the store of lap `n - 1` or of lap `n`, and one bit tells which. It needs two things of a machine: an aligned store
//! of 32 bits is seen whole or not at all, and a store that depends on a loaded value (the credit) is not seen before
//! what the loaded value's store came after. Neither a torn wider store nor any order of stores does harm.
//!
//! Between reserving and storing, a wave waits for credit only: for no other wave, and for no barrier. Reservations
//! before its own have credit before it. So the reader always gets on, as long as resident waves make progress.

pub mod bounds;
pub mod builtin;
pub mod bytes;
pub mod encode;
pub mod gate;
pub mod header;
pub mod latest;
pub mod layout;
pub mod log;
pub mod message;
pub mod policy;
pub mod receive;
pub mod rings;
mod room;
mod rows;
pub mod send;
pub mod site;
pub mod take;
pub mod unit;

pub use bounds::{Bounds, Place};
pub use builtin::{Access, AccessKind, Interval, Space, Step, StepKind};
pub use bytes::{ByteLink, ByteStream, TextStream, send_bytes};
pub use encode::encode;
pub use gate::Gate;
pub use header::{From, Header, Kind};
pub use latest::{Latest, send_latest, send_latest_once};
pub use layout::Layout;
pub use log::{Log, LogKind};
pub use message::{Field, Message, SchemaWord};
pub use policy::{Policy, Sent};
pub use receive::{Found, GivenUp, Packet, Reader, RingMemory};
pub use rings::{Counters, Rings};
pub use send::{Counter, Credit, RingLink, Subject, send, send_once, wanted};
pub use site::{Site, SiteHead, SiteText};
pub use take::{Rows, Taken};

/// Units of a *granule*, the piece in which a ring is reserved: a line of 64 bytes.
pub const GRANULE: u32 = 16;
/// Units that each lane sends at most in one message: as many bits as a unit has for those of lane 31.
pub const MAX_UNITS: u32 = 31;
/// The smallest ring, in granules, as a power of two: a message of 64 lanes takes at most a quarter of it. (In loom's
/// models one granule does.)
pub const MIN_RING_LOG2: u32 = if cfg!(loom) { 2 } else { 10 };
/// The largest ring, in granules, as a power of two: 64 MiB.
pub const MAX_RING_LOG2: u32 = 20;

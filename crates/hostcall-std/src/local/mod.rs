//! Descriptors, and the objects of the device that they can stand for: pipes, pairs of sockets, counters, sets, the
//! files that every system has.
//!
//! * [`table`]: descriptors; [`numbering`]: which of their numbers are free. [`slots`]: open objects. [`object`]: of
//!   which kinds they are, and what can be done with any.
//! * [`pipe`], [`pair`], [`counter`]: the kinds. Nothing in them waits. [`transfer`]: reading and writing that does.
//!   [`special`]: names under `/dev`.
//! * [`wake`]: how a lane waits for objects, and at the same time for handles of the host. [`several`]: for several
//!   once. [`epoll`]: for a set, again and again.
//! * [`spin`]: a lock; [`machine`]: what all this needs of the machine and the host; [`numbers`]: C's.
//!
//! Nothing here knows C's types or who calls: functions return what they found or an error number.

pub(crate) mod counter;
pub(crate) mod epoll;
pub(crate) mod machine;
pub(crate) mod numbering;
pub(crate) mod numbers;
pub(crate) mod object;
pub(crate) mod pair;
pub(crate) mod pipe;
pub(crate) mod several;
pub(crate) mod slots;
pub(crate) mod special;
pub(crate) mod spin;
pub(crate) mod table;
pub(crate) mod transfer;
pub(crate) mod wake;

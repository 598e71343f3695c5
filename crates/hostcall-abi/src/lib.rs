//! The wire: every word a kernel and its host share, and the one state machine both run.
//!
//! A *port* is one slot of host memory, owned by one wave at a time. A message is a run of 16-byte [`Word`]s. Each
//! word carries 14 bytes of payload and a 2-byte *tag*, the message's sequence number. A reader sees from the tag that
//! the word is complete, so neither side needs a system-scope fence. A *doorbell* is only a hint where to look. The
//! client keeps lock and sequence number in device memory. So it reads nothing over the bus before it sends, and no
//! read-modify-write ever crosses the bus.
//!
//! * [`word`]: the word and its tag arithmetic.
//! * [`header`]: the first word of a request and the first unit of each lane's reply.
//! * [`geometry`]: sizes of a port buffer and where everything lies in it.
//! * [`descriptor`]: what the host writes into a loaded program so that it finds its port buffer.
//! * [`port`]: the state machine, client half and server half, generic over memory and lanes.
//! * [`stream`]: messages that nobody answers, through rings: layout, and both halves of the state machine.
//! * [`lanes`]: what lanes of one wave do together.
//! * [`llvm_rpc`]: the wire of LLVM's `rpc.h`, which is another one.
//! * [`status`]: how a call ended, as numbers on the wire and as [`CallError`].
//! * [`codec`]: how typed arguments and results become payload.
//! * [`services`]: the table of built-in services.
//! * [`mod@std_services`]: those that only programs with Rust's `std` call.
//! * [`rank`]: the variables that say which of several devices or processes this is.
//! * [`stacks`]: where the threads of such a program have their stacks, on a GPU.
//! * [`Shown`]: text of somebody else, as it is printed.
//! * [`tick`]: how long a tick of a device's counter is, where it does not count nanoseconds.
//! * [`sim`]: what a kernel built for the CPU simulator asks of the simulator.
//!
//! `docs/reference/protocol.md` has the numbered steps, the state table and the memory-model argument.
#![cfg_attr(not(test), no_std)]

#[macro_use]
mod unrolled;

pub mod codec;
pub mod descriptor;
pub mod failure;
pub mod file_error;
pub mod geometry;
pub mod header;
pub mod lanes;
pub mod llvm_rpc;
pub mod port;
pub mod rank;
pub mod services;
mod shown;
pub mod sim;
pub mod stacks;
pub mod status;
pub mod std_services;
pub mod stream;
pub mod thread_names;
pub mod tick;
pub mod word;

pub use codec::Plain;
pub use descriptor::{Callee, Descriptor};
pub use geometry::{Geometry, GeometryError};
pub use header::{Flags, Header, ReplyHead};
pub use shown::{Shown, ShownLines};
pub use status::{CallError, Status};
pub use word::{Tag, Word};

/// Version of everything in this crate that crosses the wire.
///
/// A program carries the version it was built with in its `__hostcall_abi` word; the host compares
/// it when the program is attached and refuses any other version, naming both.
pub const ABI_VERSION: u32 = 3;

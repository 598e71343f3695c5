//! What a running process shows of its servers and streams, while it runs: to `cargo hostcall top`, and to whoever else
//! asks.
//!
//! A process is asked to show itself by its environment, `HOSTCALL_TOP=1`, whatever language its host program is
//! written in. The first server or [`Source`] then opens a Unix socket, and a thread of its own answers there. Each
//! line that a client sends is answered by one line: a [`View`] as JSON. Nothing is done while nobody asks.
//!
//! * [`view`] has the types, for both sides.
//! * [`show`] is for those who have something to show.
//! * [`Watched`] is for those who look.
//!
//! The socket lies in a directory that only the user may enter, so only programs of the same user can look, and those
//! of root. They can read: nothing that a client sends changes anything.

#[cfg(unix)]
mod ask;
#[cfg(unix)]
mod socket;
mod sources;
pub mod view;

#[cfg(unix)]
pub use ask::{AskError, Found, Watched, running};
pub use sources::{Shown, Source, is_wanted, show};
pub use view::View;

/// The variable that asks a process to show itself. `1`: by a socket in the user's directory, under the process's
/// number. A path: by a socket there. Empty, `0` or not set: not at all.
pub const VARIABLE: &str = "HOSTCALL_TOP";

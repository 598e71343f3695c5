//! Sockets: the host's, as far as the host granted them.
//!
//! A call that has to wait does so in two steps. The call itself never waits on the host; where it says `EAGAIN`, a
//! second one waits, which holds no memory that others need, and then the first is made again.

pub mod address;
pub mod messages;
pub mod names;
pub mod options;
pub mod socket;

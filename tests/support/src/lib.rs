//! What tests of several crates share. It is not published, and no crate but tests uses it.

mod artefacts;
mod broker;
#[cfg(feature = "stores")]
mod bucket;
mod commands;
#[cfg(feature = "stores")]
mod jetstream;

pub use artefacts::{built, exported, stays_loaded};
pub use broker::Broker;
#[cfg(feature = "stores")]
pub use bucket::Bucket;
pub use commands::{has, opener, succeed, text};
#[cfg(feature = "stores")]
pub use jetstream::Kept;

//! What tests of several crates share. It is not published, and no crate but tests uses it.

mod artefacts;
mod broker;
mod commands;

pub use artefacts::{built, exported, stays_loaded};
pub use broker::Broker;
pub use commands::{has, opener, succeed, text};

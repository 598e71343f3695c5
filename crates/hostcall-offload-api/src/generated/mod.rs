//! What `offload-tblgen` writes. `cargo xtask generate` writes it anew, and CI compares.

pub mod api;
pub mod entry;
pub mod mock;
mod print;
pub mod replay;
pub mod safe;
pub mod sys;

//! What generated code stands on.
//!
//! An entry point is a few lines that say what its function's arguments are; everything that does not depend on the
//! function is here. A call goes through [`call`]: checks ([`check`]) and the implementation run inside it, a panic
//! becomes an error, an [`Error`] becomes the structure that the caller gets, the [trace] gets its line, and a recorder
//! the call ([`record`]).

mod call;
pub mod check;
mod error;
mod handle;
mod location;
pub mod mock;
mod print;
pub mod record;
pub mod safe;
pub mod trace;

pub use call::{call, is_watched, watched};
pub use error::Error;
pub use handle::{HandleState, HandleTable, LiveHandle};
pub(crate) use location::{current_place, remembers_places};
pub use print::{Bool, Bytes, Print, Shown, push_formatted};

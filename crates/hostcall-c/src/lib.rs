//! `libhostcall`: `hostcall`'s server for hosts in C and C++.
//!
//! `include/hostcall.h` is the interface, and says what holds for every function. Here each group of it is a module of
//! [`api`]; behind those are the things that handles stand for, and what all functions need.
//!
//! | module | it owns |
//! |---|---|
//! | [`api`] | the functions: arguments checked, panics caught, errors kept for the thread |
//! | `status` | what went wrong: a number for the program, a text for people |
//! | `boundary` | C's pointers: handles, texts, structures that begin with their size, `user` with `drop` |
//! | `device`, `server`, `definition`, `attachment` | what handles stand for |
//! | `handler`, `call` | a message on its way through a handler of the application |
//! | `json` | texts for programs |

pub mod api;
mod attachment;
mod boundary;
mod call;
mod definition;
mod device;
mod handler;
mod json;
mod server;
mod status;

/// Handlers in C on a server of Rust, where the example `handler_rate` compares them with closures.
#[doc(hidden)]
pub mod in_rust {
    pub use crate::api::service_of;
    pub use crate::definition::CDefinition;
    pub use crate::handler::{CCall, Lanes};
}

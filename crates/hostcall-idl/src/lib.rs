//! Definitions of services, read: for the macros of `hostcall-macros`, and for bindings in other languages.
//!
//! The idea: what a service is on the wire (its name, the text and the numbers that are hashed, how each argument
//! travels) is worked out here and nowhere else. A binding has then the same signature as the Rust code by
//! construction.
//!
//! The macros see tokens, and leave the sizes of types to the compiler. With the feature `bindings`, `files` reads
//! whole files and works out their types, and `generate` writes what other languages need.

pub mod attribute;
mod errors;
mod service;
mod stream;
mod text;
pub mod wire;

pub use errors::Errors;
pub use service::{Arg, Function, Kind, Measure, Output, SERVICE_ARGS, Service};
pub use stream::{STREAM_ARGS, field_name, field_type, message_text};
pub use text::{normalised, tidy};

#[cfg(feature = "bindings")]
pub mod files;
#[cfg(feature = "bindings")]
pub mod generate;
#[cfg(feature = "bindings")]
pub mod model;

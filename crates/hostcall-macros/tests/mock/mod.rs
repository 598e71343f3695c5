//! A stand-in for both faces of the crate `hostcall`: what the expansions refer to, recording what they do.
#![allow(dead_code, unused_imports, unused_macros, missing_docs, unreachable_pub, reason = "each test uses a part")]

pub use hostcall_abi::{CallError, Plain};

pub mod device;
pub mod host;

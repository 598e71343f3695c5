//! AMD's hostcall library, as its users know it: `amd_hostcall.h`, the same names, the same memory. Another engine serves it.
//!
//! Kernels push *packets* on a stack in a *buffer*, ring a *doorbell* and wait; *consumers* answer packets by calling *handlers* that were
//! registered for a service's number. `docs/guide/amd-hostcall.md` has the reference and the differences from AMD's library.
//!
//! The library stands for itself. The only word that packets and the ports of `hostcall` have in common is the operating system's, so it
//! depends on none of the other crates, and a C program that links it gets nothing else. What is to be called through packets and through
//! ports is registered with both.
//!
//! | module | it owns |
//! |---|---|
//! | [`layout`] | where each word lies |
//! | [`stacks`] | the stacks of free and of ready packets |
//! | [`memory`], [`mailboxes`] | a buffer in memory, in either of its forms: laid out, or found |
//! | `doorbell` | signals of AMD's runtime, or words of ours |
//! | `services` | handlers, callable functions, messages, the end of the process |
//! | `consumer` | threads, and buffers while they are served |
//! | `priority` | the priority of those threads |
//! | `client` | a wave's part, for threads of the host |
//! | `api` | the entry points in C |
#![cfg(target_os = "linux")]

pub mod api;
mod client;
mod consumer;
mod doorbell;
mod error;
pub mod layout;
pub mod mailboxes;
pub mod memory;
mod patience;
mod priority;
mod process;
mod services;
pub mod stacks;
mod tables;

pub use doorbell::is_own as is_own_doorbell;
pub use error::Error;
pub use services::{Callable, ErrorHandler, ErrorHandlerV0, ServiceHandler, ServiceHandlerV0};

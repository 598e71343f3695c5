//! The kernels of `cargo hostcall bench`.
//!
//! Each does one thing in a loop, checks what it gets, and says how often it was right, so that a figure is never one
//! of wrong answers. Those of a single wave read the device's clock themselves; for the others the host times the whole
//! kernel.
//!
//! * [`calls`]: calls of one wave and of all.
//! * [`posts`]: the same for posts.
//! * [`bulk`]: large slices, and the bus itself.
//! * [`files`]: a file read by all waves.
//! * [`heap`]: the device's allocators.
//! * [`plain`]: the wire without a client.
//! * [`quiet`]: a call after a long silence; what calls cost that are not made.
//! * [`streams`], [`stream_cost`]: messages that nobody answers; [`stream_parts`]: what one of them consists of.
//! * [`dh_comms`]: the form of AMD's dh_comms, for comparison.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]

pub mod bulk;
pub mod calls;
pub mod clock;
pub mod dh_comms;
pub mod files;
pub mod heap;
pub mod plain;
pub mod posts;
pub mod quiet;
pub mod stream_cost;
pub mod stream_parts;
pub mod streams;

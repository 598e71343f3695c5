//! `libhostcall_offload`: the C library.
//!
//! What devices do is in `liboffload`; this package gives its entry points their C names, and adds what answers the
//! calls that kernels make while they run: `hostcall`'s server. It is a package of its own because a Rust program that
//! uses `liboffload` may be linked to another library that has these names: LLVM's, or a mock.

mod grants;
mod port;
mod served;

use liboffload::library::host_calls::HostCalls;
use liboffload::library::{HostCallsOf, Library};

/// Kernels' calls are answered by `hostcall`'s server.
#[derive(Debug)]
pub enum Hostcall {}

impl HostCallsOf for Hostcall {
    fn host_calls() -> Option<&'static dyn HostCalls> {
        Some(&served::Servers)
    }
}

liboffload::export_entry_points!(Library<Hostcall>);

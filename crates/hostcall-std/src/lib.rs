//! What Rust's `std` asks of its operating system, where that is a GPU beside a host.
//!
//! `std` for these targets is the library's own Hermit layer, unchanged in what it asks for: C functions named `sys_*`, whose types the crate
//! `hermit-abi` has. Here they are. Each is either a call to the host (files, sockets, the wall clock, entropy) or code of the device
//! (memory, futexes, thread-local storage, sleeping); none of them makes another lane wait.
//!
//! * `entry`: the kernel that runs a program: arguments and variables first, then `main`.
//! * [`thread`](mod@thread): threads are waves of that kernel's launch, which wait to be given something to run.
//! * `stack`: where threads' stacks are, on NVIDIA GPUs.
//! * [`lane`]: what is a thread's own: error number, thread-local values, its place in a queue. A lane of a `#[kernel]` is a thread, too;
//!   [`output`]: what it prints. [`life`]: how it begins and ends.
//! * `copies`: of memory, on NVIDIA GPUs.
//! * [`tls`], [`futex`], [`memory`], [`time`], [`process`]: device code.
//! * [`fd`]: descriptors, which stand for handles of the host. [`mod@file`], [`dir`], [`net`]: what is done with those of each kind;
//!   [`poll`], [`io`]: with any.
//!
//! None of these modules uses one that uses it.
//!
//! A function returns what it should, or a negated error number, which the lane also keeps for `sys_get_errno`.
//!
//! The crate is compiled as kernels are and linked to a program's bitcode by symbol names alone; nothing else of it is visible there.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod arguments;
#[cfg(all(hostcall_device, target_arch = "nvptx64"))]
pub mod copies;
pub mod dir;
#[cfg(hostcall_device)]
pub mod entry;
pub mod error;
pub mod fd;
pub mod file;
pub mod futex;
pub mod io;
pub mod lane;
pub mod life;
pub mod memory;
pub mod net;
mod once;
pub mod output;
pub mod poll;
pub mod process;
mod services;
#[cfg(hostcall_device)]
pub mod stack;
pub mod thread;
pub mod time;
pub mod tls;

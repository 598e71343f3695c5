//! What Rust's `std`, and crates beside it, ask of their operating system, where that is a GPU beside a host.
//!
//! Programs are compiled for Linux with musl, and so ask C's functions. Here they are: each is either a call to the
//! host (files, sockets, the wall clock, entropy) or code of the device (memory, futexes, thread-local storage,
//! sleeping); none of them makes another lane wait. A function of C's is defined as `libc_NAME`, so that this crate can
//! be tested on a machine that has a C library of its own; where programs are linked it is `NAME` (`hostcall-build`,
//! `stdlib::runtime`). Functions that only std's overlay asks for are `sys_NAME`.
//!
//! * [`abi`]: C's types and numbers. [`error`](mod@error): how a function fails. [`variadic`]: how those with `...` are
//!   called.
//! * `entry`: the kernel that runs a program: arguments and variables first, then `main`. `environment`: variables.
//!   `constructors`: what runs before. [`exits`]: what runs when it exits. [`cpp`]: what C++'s compiler calls.
//! * [`thread`](mod@thread): threads are waves of that kernel's launch, which wait to be given something to run.
//! * `stack`: where threads' stacks are, on NVIDIA GPUs.
//! * [`lane`]: what is a thread's own: error number, thread-local values, its place in a queue. A lane of a `#[kernel]`
//!   is a thread, too;
//!   [`output`]: what it prints. [`life`]: how it begins and ends.
//! * `copies`: of memory, on NVIDIA GPUs. [`allocators`]: those that programs bring along.
//! * [`tls`], [`futex`], [`memory`], [`time`], [`process`]: device code. [`syscall`]: what is asked by number.
//!   [`signals`]: what is said of them. [`text`], [`calendar`], [`language`], [`mutex`], [`printf`], [`semaphore`]:
//!   parts of C's library. [`system`]: what is asked about the system; [`absent`], [`backtrace`]: what it has not.
//! * [`fd`]: descriptors, which stand for handles of the host or for objects of the device. [`mod@file`], [`dir`],
//!   [`net`], [`pipes`]: what is done with those of each kind; [`poll`], [`mod@epoll`], [`io`]: with any. `local`: the
//!   objects, and how one waits for them and for the host.
//! * [`place`]: where paths begin. [`links`]: names; [`status`], [`changes`], [`locks`]: what is known of files and set
//!   of them; [`notices`] of what happens to them; [`moving`], [`mapping`]: their bytes. `mapped`,
//!   `coherent`: how mappings stay as files are.
//!
//! None of these modules uses one that uses it.
//!
//! The crate is compiled as kernels are and linked to a program's bitcode by symbol names alone; nothing else of it is
//! visible there.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod abi;
pub mod absent;
pub mod allocators;
mod arguments;
pub mod backtrace;
mod blocks;
pub mod calendar;
pub mod changes;
mod coherent;
#[cfg(all(hostcall_device, not(any(target_arch = "nvptx64", target_arch = "amdgpu"))))]
mod constructors;
#[cfg(all(hostcall_device, target_arch = "nvptx64"))]
pub mod copies;
pub mod cpp;
pub mod dir;
#[cfg(hostcall_device)]
pub mod entry;
#[cfg(hostcall_device)]
pub mod environment;
pub mod epoll;
pub mod error;
pub mod exits;
pub mod fd;
pub mod file;
pub mod futex;
pub mod io;
pub mod lane;
pub mod language;
pub mod life;
pub mod links;
mod local;
mod lock;
pub mod locks;
mod mapped;
pub mod mapping;
pub mod memory;
pub mod moving;
pub mod mutex;
pub mod net;
pub mod notices;
mod once;
pub mod output;
pub mod pipes;
pub mod place;
pub mod poll;
pub mod printf;
pub mod process;
pub mod semaphore;
mod services;
pub mod signals;
#[cfg(all(hostcall_device, any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub mod stack;
pub mod status;
pub mod syscall;
pub mod system;
pub mod text;
pub mod thread;
pub mod time;
pub mod tls;
pub mod variadic;

//! What a kernel links: calls to the host, and the library that is built on them.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! # use hostcall::println; // kernels have no std, whose own this test has too
//! use hostcall::prelude::*;
//!
//! #[hostcall::service]
//! pub trait Host {
//!     fn add42(x: f32) -> f32;
//!     fn log(message: &str);
//! }
//!
//! /// Adds 42 to each element, on the host.
//! #[kernel]
//! pub fn demo(y: &mut [f32]) -> Result<(), CallError> {
//!     let i = global_id();
//!     if i < y.len() {
//!         y[i] = Host::add42(y[i])?; // a call: this lane waits for its result
//!         println!("lane {i}: {}", y[i]);
//!     }
//!     if i == 0 {
//!         Host::log("the first lane is done")?; // a post: nobody waits
//!     }
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! The same source runs on NVIDIA GPUs (`arch/nvptx.rs`), on AMD GPUs (`arch/amdgpu.rs`: compiled, never run) and in
//! the CPU simulator (`arch/sim.rs`). Users depend on `hostcall`, which is this crate when it is built for a device.
//!
//! Lanes that call together are one *group*. The group takes a port, sends one message and gives the port back
//! (`call.rs`; the state machine itself is `hostcall_abi::port`). That path is inlined into the kernel and stays in
//! registers. Rare paths are functions of their own, small and not generic: strings and slices (`staging.rs`,
//! `copy.rs`), and the end of a lane whose call failed (`failure.rs`).
//!
//! * [`Port`] and [`Pending`]: a port kept for several calls, a call whose result is fetched later.
//! * [`wave`](mod@wave): where a lane is, and calls made once for many lanes.
//! * [`print`](mod@print), [`fs`](mod@fs), [`time`](mod@time), [`env`](mod@env), [`random`](mod@random),
//!   [`process`](mod@process): a small standard library over the built-in services.
//! * [`stream`](mod@stream): messages that nobody answers, by the million.
//! * [`packets`](mod@packets): AMD's packets, for programs whose host serves these.
//! * [`heap`](mod@heap): the global allocator, over a heap in device memory that the server gives.
//!
//! A wave that panics reports it to the host once, and then its lanes end. Nothing here traps, because a trap would
//! cost a GPU its context.
//!
//! Programs with `std` (`target_vendor = "hostcall"`) contain two copies of this library. The program's copy is for its
//! kernels. The other is that of `hostcall-std`, which is linked to the program as one object. It has what there can be
//! only one of (the descriptor, the allocator, the end of lanes), and the program's copy refers to that by name. Panics
//! are `std`'s.
#![no_std]
// GPU targets are built by the device toolchain, which may use unstable features; the simulator needs none.
#![cfg_attr(
    any(target_arch = "nvptx64", target_arch = "amdgpu"),
    feature(asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features, reason = "a GPU's collectives are LLVM intrinsics")
)]
#![cfg_attr(target_arch = "amdgpu", feature(core_intrinsics, gpu_intrinsics, repr_simd, stdarch_amdgpu))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod arch;
mod builtin;
mod call;
mod context;
mod copy;
mod ending;
pub mod env;
mod failure;
pub mod fs;
pub mod heap;
mod outcome;
pub mod packets;
mod panic;
mod pending;
#[cfg(any(test, all(feature = "helpers", target_arch = "nvptx64")))]
mod pieces;
pub mod print;
pub mod process;
pub mod random;
mod staging;
pub mod stream;
pub mod time;
mod together;
pub mod wave;

pub use call::Port;
pub use context::ServiceWord;
pub use hostcall_abi::{CallError, Callee, Plain, Status};
pub use hostcall_macros::{Plain, access, interval, kernel, log, send, send_if, service, stream};
pub use pending::Pending;

/// What most kernels want: `use hostcall::prelude::*;`.
pub mod prelude {
    pub use crate::wave::{global_id, global_size, group_id, group_index, lane_id, local_id, local_index, sync_workgroup, wave_index};
    pub use crate::{CallError, Callee, Pending, Plain, Port, kernel, service};
    // Where `std` is, its own are better: they also know of what was printed through `io::stdout()`.
    #[cfg(not(target_vendor = "hostcall"))]
    pub use crate::{eprint, eprintln, print, println};
}

/// For `hostcall-std`, which is the other half of this library where Rust's `std` is.
#[doc(hidden)]
pub mod __runtime {
    pub use crate::builtin::{Clock, Console, Environment, Files, Process};
    use hostcall_abi::lanes::Lanes;
    use hostcall_abi::port::Arch;

    /// Bytes of a staging slot.
    pub fn slot_bytes() -> u32 {
        crate::context::descriptor().slot_bytes
    }

    /// Bytes of the device heap, its tables included.
    pub fn heap_bytes() -> u64 {
        crate::context::descriptor().heap_bytes
    }

    /// A word of the calling lane's own: what it was set to. A kernel sets it before anything else.
    pub fn lane_word() -> u64 {
        crate::arch::current::lane_word()
    }

    /// Sets the lane's word: to 0, to 1, or to an address in the heap that is a multiple of 64.
    pub fn set_lane_word(word: u64) {
        crate::arch::current::set_lane_word(word);
    }

    /// Whether a lane may wait for another of its wave.
    pub const INDEPENDENT_LANES: bool = crate::arch::current::INDEPENDENT_LANES;

    /// Begins a wave of a program's entry, before any of its lanes has a stack: returns on the first only, the others
    /// help it (`arch/nvptx/helpers.rs`).
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    pub fn begin_thread() {
        crate::arch::current::helpers::begin();
    }

    /// Calls `function(argument)` on the next lane of a thread's wave, and waits for its return; `false` if there is no
    /// such lane.
    ///
    /// # Safety
    /// As for a call, of a function that may run on any lane of the wave.
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    pub unsafe fn go_on(function: unsafe extern "C" fn(*mut u8), argument: *mut u8) -> bool {
        // SAFETY: the caller's.
        unsafe { crate::arch::current::helpers::go_on(function, argument) }
    }

    /// Says that the calling lane, which begins, is a kernel's: nobody helps it.
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    pub fn begin_lane() {
        crate::arch::current::helpers::set_present(false);
    }

    /// `memcpy` and `memmove`, with the help of the lanes that wait for orders if there are any.
    ///
    /// # Safety
    /// `from` is valid for reads of `bytes` bytes, and `to` for writes.
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    pub unsafe fn move_all(to: u64, from: u64, bytes: u64) {
        // SAFETY: the caller's.
        unsafe { crate::arch::current::helpers::move_all(to, from, bytes) };
    }

    /// `memset`, as [`move_all`].
    ///
    /// # Safety
    /// `to` is valid for writes of `bytes` bytes.
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    pub unsafe fn fill_all(to: u64, byte: u8, bytes: u64) {
        // SAFETY: the caller's.
        unsafe { crate::arch::current::helpers::fill_all(to, byte, bytes) };
    }

    /// Whether an address is in the calling lane's own memory, where other lanes see theirs.
    pub fn is_private(address: *const u8) -> bool {
        crate::arch::current::is_private(address)
    }

    /// Waits for somebody else, for the `attempt`-th time in a row.
    pub fn pause(attempt: u32) {
        crate::context::machine().pause(attempt);
    }

    /// Waits for something that may never come, which has a number below 2³⁰: until [`wake_patient`] where that
    /// [wakes](WAKES_PATIENT), and not for long elsewhere.
    pub fn pause_patiently(what: u32) {
        crate::context::machine().pause(hostcall_abi::sim::PATIENT | what);
    }

    /// Whether [`wake_patient`] ends waits.
    pub const WAKES_PATIENT: bool = crate::arch::current::WAKES_PATIENT;

    /// Ends the waits of lanes that wait patiently for this.
    pub fn wake_patient(what: u32) {
        crate::arch::current::wake_patient(what);
    }

    /// Nanoseconds of the device's clock.
    pub fn now_ns() -> u64 {
        crate::context::machine().now_ns()
    }

    /// Whether the kernel is known to end, or calls to be answered no more.
    pub fn is_ending() -> bool {
        crate::ending::is_ended() || crate::context::machine().known_closed() != 0
    }

    /// Ends the calling lane, whose kernel ends; others that ask [`is_ending`] learn it.
    pub fn end_lane() -> ! {
        crate::ending::end_lane()
    }

    /// Ends the calling lane if its kernel ends: for those that wait on the device, where no call tells them.
    pub fn end_if_ending() {
        if is_ending() {
            end_lane();
        }
    }

    pub use crate::panic::panicked;
}

/// For the macros.
#[doc(hidden)]
pub mod __private {
    pub use crate::call::{Port, call_fixed, call_fixed_on, post_fixed, post_fixed_on, start_fixed};
    pub use crate::context::{Given, ServiceWord};
    pub use crate::failure::{Failed, Fails, call_failed, failed};
    pub use crate::pending::Pending;
    pub use crate::staging::{call_var, call_var_together, post_var, post_var_together};
    pub use crate::stream::bytes::Slice;
    pub use crate::stream::log::Line;
    pub use crate::stream::{NO_SITE, StreamWord, send_latest_once, send_latest_units, send_once, send_units};
    pub use crate::together::{call_fixed_together, call_fixed_together_on, post_fixed_together, post_fixed_together_on};
    pub use hostcall_abi as abi;

    /// Keeps what is for the device.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __if_device {
        ($($tokens:tt)*) => { $($tokens)* };
    }
    /// Drops what is for the host.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __if_host {
        ($($tokens:tt)*) => {};
    }
    /// Keeps the first of two, or (`streams-off`) the second.
    #[cfg(not(feature = "streams-off"))]
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __with_streams {
        ({ $($with:tt)* } { $($without:tt)* }) => { $($with)* };
    }
    #[cfg(feature = "streams-off")]
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __with_streams {
        ({ $($with:tt)* } { $($without:tt)* }) => { $($without)* };
    }
    pub use crate::{__if_device as if_device, __if_host as if_host, __with_streams as with_streams};

    #[cfg(target_vendor = "hostcall")]
    unsafe extern "C" {
        safe fn sys_lane_enter();
        safe fn sys_lane_leave();
    }

    /// Bounds the registers of the lanes of the kernel that it is in: `hostcall-build` reads it in the PTX.
    #[inline(always)]
    pub fn max_registers<const MOST: u32>() {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: a comment.
        unsafe {
            core::arch::asm!("// hostcall.maxnreg {most}", most = const MOST, options(nomem, nostack, preserves_flags));
        }
    }

    /// Every kernel begins with it.
    #[inline(always)]
    pub fn kernel_enter() {
        #[cfg(target_vendor = "hostcall")]
        sys_lane_enter();
    }

    /// Every kernel ends with it.
    #[inline(always)]
    pub fn kernel_leave() {
        #[cfg(target_vendor = "hostcall")]
        sys_lane_leave();
    }
}

//! What stands before CUDA's driver in a program that is looked into.
//!
//! The system's loader puts this library before all others (`LD_PRELOAD`; `cargo hostcall probe` sees to it). It has
//! functions of the names of the driver's that load modules (`driver`), and a `dlsym` that gives these to whoever
//! looks the driver's up (`lookup`): CUDA's runtime, PyTorch, CuPy and Triton do. Whatever else of the driver a
//! program uses is the driver's own function, at its own address.
//!
//! A module that is loaded goes one of four ways (`session`):
//!
//! * PTX with a kernel that is meant, as text or in a fatbin (`image`), gets hostcall's calls and is loaded in the
//!   place of what came. Where the driver refuses it, what came is loaded, and that is said.
//! * A module that has hostcall's calls already is loaded as it is: Triton's, whose assembler `cargo hostcall probe`
//!   stands before.
//! * Machine code alone is loaded as it is, and counted.
//! * All else is loaded as it is: the same bytes at the same address.
//!
//! Behind the first two, the module gets a server and streams, and when the process exits, what the streams' handlers
//! have found is printed. Nothing is started before the first such module: a program that has none gets no thread, and
//! no memory of a device.
//!
//! Everything that the library is told is in the environment (`settings`), so that the program's children have it.

#[cfg(all(unix, target_pointer_width = "64"))]
mod driver;
#[cfg(all(unix, target_pointer_width = "64"))]
mod functions;
mod image;
#[cfg(all(unix, target_pointer_width = "64"))]
mod launches;
#[cfg(all(unix, target_pointer_width = "64"))]
mod lookup;
#[cfg(all(unix, target_pointer_width = "64"))]
mod real;
#[cfg(all(unix, target_pointer_width = "64"))]
mod session;
#[cfg(all(unix, target_pointer_width = "64"))]
mod settings;

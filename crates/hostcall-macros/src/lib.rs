//! The attributes [`macro@service`], [`macro@stream`] and [`macro@kernel`], and the derive [`macro@Plain`].
//!
//! The idea: a service is *one* trait that both sides compile. On the device it becomes functions that
//! lay out their arguments at constant offsets and send them; on the host it becomes a trait to
//! implement and, per function, a constructor that turns a closure into a registered service. Which of the two a crate
//! gets is not decided here: the expansion holds both, each wrapped in a declarative macro of the crate
//! `hostcall`, whose device face drops one and whose host face drops the other.
//!
//! A stream is one struct that both sides compile, in the same way.
//!
//! Use them as `hostcall::service`, `hostcall::stream`, `hostcall::kernel` and `hostcall::Plain`.
//! `docs/reference/architecture.md` lists the names that the expansions refer to.

mod bytes;
mod common;
mod kernel;
mod log;
mod plain;
mod service;
mod site;
mod stream;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Defines services: functions that a kernel calls and the host answers.
///
/// ```ignore
/// #[hostcall::service]
/// pub trait Host {
///     /// Adds 42.
///     fn add42(x: f32) -> f32;
///     /// No result: fire and forget.
///     fn log(message: &str);
///     fn fill(block: u32, out: &mut [u8]) -> Result<u32, Refused>;
/// }
/// ```
///
/// Arguments are wire types by value (`hostcall_abi::codec::Fixed`: numbers, `bool`, `char`, `#[derive(Plain)]`
/// structs, and arrays, tuples, `Option`s and `Result`s of these), `&str`, `&[T]`, and `&mut [T]` for bytes that come
/// back. Results are wire types. A function without `->` is posted: delivered, but not waited for; one with `-> ()` is
/// waited for.
///
/// *Kernels* call `Host::add42(1.0)`, which returns `Result<f32, CallError>`, and for functions of fixed-size arguments
/// with a result `Host::start_add42(1.0)`, which returns an `impl Pending<f32>`.
/// `Host::add42_by(callee, 1.0)` calls the service that the host passed to the kernel as a value.
///
/// *Hosts* register `host::add42(|x| x + 42.0)` (a module named like the trait, in snake case), or
/// implement the trait for a type and register `host::all(value)`. With the host's feature `tokio` there is also
/// `host::add42_async(|x| async move { … })`, for functions without `&mut [T]` arguments.
///
/// | argument | meaning |
/// |---|---|
/// | `on_error = "panic"` | stubs return `R` instead of `Result<R, CallError>`, and panic the lane with the error's text |
/// | `krate = path` | the crate that exports hostcall's items, if it is not `::hostcall` |
/// | `side = "device"` or `"host"` | expands to one side only; by default the crate `hostcall` decides |
#[proc_macro_attribute]
pub fn service(args: TokenStream, item: TokenStream) -> TokenStream {
    common::finish(service::expand(args.into(), item.into()))
}

/// Makes a struct a stream: kernels send its values, which nobody answers, and the host receives them by the million.
///
/// ```ignore
/// #[hostcall::stream(policy = "drop")]
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Loss {
///     pub step: u32,
///     pub value: f32,
/// }
/// ```
///
/// It derives `Plain`, so that the struct must be `#[repr(C)]`, and its fields plain and without padding. Its size is a
/// multiple of 4, and at most 124 bytes.
///
/// *Kernels* call `Loss { step, value }.send()`, `Loss::send_each(&[a, b])`, `Loss::once_per_wave(|| …)` and
/// `Loss::armed()`. *Hosts* receive with the crate `hostcall-stream`.
///
/// A stream of bytes or of text of any length is a struct without fields, which needs no derive:
/// `#[hostcall::stream(bytes)] pub struct Frame;`. Kernels call `Frame::send(&bytes)` and `Frame::once_per_wave(||
/// &bytes)`.
///
/// | argument | meaning |
/// |---|---|
/// | `bytes`, `text` | messages are slices of bytes, or strings |
/// | `policy = "block"`, `"drop"`, `"wait"`, `"sample"` or `"latest"` | what a message does when its ring is full: its wave waits, which is the default; it is dropped and counted; its wave waits for a while; fewer are sent the fuller the ring is; or it overwrites the oldest |
/// | `krate = path` | the crate that exports hostcall's items, if it is not `::hostcall` |
#[proc_macro_attribute]
pub fn stream(args: TokenStream, item: TokenStream) -> TokenStream {
    common::finish(stream::expand(args.into(), item.into()))
}

/// Sends a value of a stream, and says where in the source that is: `hostcall::send!(Loss { step, value })`.
///
/// It is `value.send()` with a place, and returns the same. The value is one expression, of a type with
/// `#[hostcall::stream]`.
#[proc_macro]
pub fn send(input: TokenStream) -> TokenStream {
    common::finish(site::send(input.into()))
}

/// Sends a value on a condition: `hostcall::send_if!(value > limit, Loss { step, value })`. It is worked out only then.
///
/// The message is of the lanes that fulfil the condition together. Returns `Sent::Off` for the others.
#[proc_macro]
pub fn send_if(input: TokenStream) -> TokenStream {
    common::finish(site::send_if(input.into()))
}

/// Says what the lane does to memory, and where in the source: `hostcall::access!(read, &x[i])`, with `write`,
/// `read_write` or `atomic` in the same place.
///
/// `hostcall::access!(access)` does it for an `Access` that was made otherwise. It accesses nothing itself.
/// `hostcall::stream::access` has it as functions, without the place.
#[proc_macro]
pub fn access(input: TokenStream) -> TokenStream {
    common::finish(site::access(input.into()))
}

/// Measures from here to where the value is dropped: `let _span = hostcall::interval!("softmax");`.
///
/// The name stays on the host; a message names its place in the source. `hostcall::stream::interval` has it with
/// numbers instead of names.
#[proc_macro]
pub fn interval(input: TokenStream) -> TokenStream {
    common::finish(site::interval(input.into()))
}

/// A line of a log: `hostcall::log!(Info, "step {step}: loss {loss:.3}")`, of level `Error`, `Warn`, `Info`, `Debug` or
/// `Trace`.
///
/// The text stays on the host and the arguments travel: up to 8 numbers, `bool`s, `char`s and pointers. The format is
/// that of `format!`, but width and precision are given as numbers.
#[proc_macro]
pub fn log(input: TokenStream) -> TokenStream {
    common::finish(log::expand(input.into()))
}

/// Makes a function a kernel: an entry point that the host launches.
///
/// ```text
/// #[hostcall::kernel]
/// pub fn demo(n: u32, y: &mut [f32]) -> Result<(), CallError> { … }
/// ```
///
/// Parameters are plain values, `&[T]` and `&mut [T]` of device memory (two parameters for the launch: address
/// and number of elements), and pointers. The result is `()` or a `Result<(), E>` with `E: Debug`, whose `Err`
/// panics the lane. The function itself stays an ordinary function.
///
/// `max_registers = 32` bounds the registers of a lane, as CUDA's `__maxnreg__` does: a multiprocessor of NVIDIA's has
/// 65536, so that with 32 all its 64 waves are resident, and with 64 half of them. What does not fit lies in the lane's
/// memory. It says nothing elsewhere.
///
/// `krate = path` names the crate that exports hostcall's items, if it is not `::hostcall`.
#[proc_macro_attribute]
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    common::finish(kernel::expand(args.into(), item.into()))
}

/// What `hostcall::kernel` is where the crate is compiled for the host: an error that says where kernels go.
#[proc_macro_attribute]
pub fn kernel_on_host(_args: TokenStream, item: TokenStream) -> TokenStream {
    kernel::on_host(&item.into()).into_compile_error().into()
}

/// Implements the trait `Plain` for a `#[repr(C)]` or `#[repr(transparent)]` struct of plain types
/// without padding, after checking all of that at compile time.
///
/// `#[hostcall(krate = path)]` on the struct names the crate that exports the trait, if it is not `::hostcall`.
#[proc_macro_derive(Plain, attributes(hostcall))]
pub fn plain(item: TokenStream) -> TokenStream {
    common::finish(plain::expand(item.into()))
}

//! Every error of this crate, in one enum. Each message carries the data and the remedy.

use std::fmt;
use std::time::Duration;

use hostcall_abi::descriptor::Element;

use crate::device::DeviceKind;

/// What went wrong.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A platform cannot be used on this machine.
    #[error("{reason}")]
    Unavailable {
        /// Which one.
        kind: DeviceKind,
        /// Why, with the remedy.
        reason: String,
        /// Nothing of it is here: no driver, or no GPU. Otherwise something is, and does not work.
        absent: bool,
    },
    /// The platform has fewer devices.
    #[error("there is no {kind} device {ordinal}: this machine has {count}")]
    NoDevice {
        /// Which platform.
        kind: DeviceKind,
        /// The device asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// A device string that nobody understands.
    #[error("cannot open device `{spec}`: {reason}; write `sim`, `sim:lanes=64,seed=7`, `cuda:0` or `hsa:0`")]
    Spec {
        /// The string.
        spec: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A simulator setting that cannot work.
    #[error("simulator setting {setting}: {reason}")]
    Config {
        /// The setting.
        setting: &'static str,
        /// Why not.
        reason: String,
    },
    /// Device memory is exhausted.
    #[error(
        "out of device memory on {device}: {asked} bytes asked, {available} available; free some, or ask for less{}",
        crate::sim::more_memory(device)
    )]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes asked for.
        asked: u64,
        /// Bytes available (the largest block may be smaller).
        available: u64,
    },
    /// Host memory that the device can see is exhausted.
    #[error("cannot allocate {asked} bytes of host memory that the device sees: {reason}")]
    OutOfHostMemory {
        /// Bytes asked for.
        asked: u64,
        /// What the system said.
        reason: String,
    },
    /// The bundle has no image for this device.
    #[error("program `{program}` has no image for {device} ({arch}); it has: {has}")]
    NoImage {
        /// The program.
        program: String,
        /// The device.
        device: String,
        /// Its architecture.
        arch: String,
        /// The images there are, and the bundle's note on those that are missing.
        has: String,
    },
    /// An image is damaged.
    #[error("{reason}")]
    Image {
        /// What is wrong: program, image and both hashes.
        reason: String,
    },
    /// An image cannot be loaded.
    #[error("cannot load program `{program}`: {reason}{}", .log.as_ref().map(|l| format!("\n{l}")).unwrap_or_default())]
    Load {
        /// The program.
        program: String,
        /// Why not.
        reason: String,
        /// The compiler's log, if there was a compilation.
        log: Option<String>,
    },
    /// The program has no such kernel.
    #[error("program `{program}` has no kernel `{kernel}`; it must be a `pub fn` under #[kernel]")]
    NoKernel {
        /// The program.
        program: String,
        /// The kernel asked for.
        kernel: String,
    },
    /// The program has no such global.
    #[error("program `{program}` has no global `{global}`; it must be a #[no_mangle] #[used] static")]
    NoGlobal {
        /// The program.
        program: String,
        /// The global asked for.
        global: String,
    },
    /// A launch of a program that links hostcall and is attached to no server.
    #[error(
        "cannot launch `{kernel}`: program `{program}` is attached to no server, so what it calls, prints and panics with would be lost; \
         call `server.attach(&program)` first, or `program.without_server()` if that is meant"
    )]
    NoServer {
        /// The program.
        program: String,
        /// The kernel.
        kernel: String,
    },
    /// A launch with the wrong number of arguments.
    #[error("kernel `{kernel}` takes {expected} parameters, {given} were given (a slice is two: address and length)")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters it has.
        expected: usize,
        /// Arguments given.
        given: usize,
    },
    /// A launch with an argument of the wrong size.
    #[error("parameter {index} of kernel `{kernel}` has {expected} bytes, an argument of {given} was given")]
    ArgumentSize {
        /// The kernel.
        kernel: String,
        /// Which parameter, from 0.
        index: usize,
        /// Its size.
        expected: usize,
        /// The argument's size.
        given: usize,
    },
    /// A launch with memory whose elements are not those of the kernel's slice.
    #[error(
        "parameter {index} of kernel `{kernel}` is a slice of {expected}, memory of {given} was given; pass `address` and `value` if that is meant"
    )]
    ArgumentElement {
        /// The kernel.
        kernel: String,
        /// Which parameter, from 0.
        index: usize,
        /// The kernel's elements.
        expected: Element,
        /// The memory's.
        given: Element,
    },
    /// A launch with memory of another device.
    #[error("argument {index} of kernel `{kernel}` is memory of another device than the queue's: allocate it from the same `Device`")]
    ArgumentDevice {
        /// The kernel.
        kernel: String,
        /// Which argument, from 0.
        index: usize,
    },
    /// A launch of an impossible shape.
    #[error("cannot launch `{kernel}`: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// Why not.
        reason: String,
    },
    /// A copy that does not fit.
    #[error("{what}: {len} elements at {offset} are outside of {size}")]
    Range {
        /// What was tried.
        what: &'static str,
        /// First element.
        offset: usize,
        /// Elements.
        len: usize,
        /// Elements there are.
        size: usize,
    },
    /// A global that the image has as a constant was to be written.
    #[error("`{global}` is a constant of the image; make it writable in the kernel's source (`static mut`, an atomic or an `UnsafeCell`)")]
    ReadOnly {
        /// The global.
        global: String,
    },
    /// Things of different devices were used together.
    #[error("{what} belongs to another device than the queue; make both from the same `Device`")]
    WrongDevice {
        /// What it is.
        what: &'static str,
    },
    /// The time to wait was over before the kernels were. They go on.
    #[error("the queue was not done after {waited:.1?}; kernels in flight on its device: {in_flight}")]
    Timeout {
        /// How long it was waited for.
        waited: Duration,
        /// Kernels of the device, in this queue or another, that have not ended.
        in_flight: usize,
    },
    /// A lane did something that ended its kernel; the device is still good.
    #[error("kernel `{}` ended by a fault: {}", .0.kernel, .0)]
    Fault(Box<Fault>),
    /// The device's context is lost; everything made from it fails from now on.
    #[error("{device} is lost: {reason}")]
    DeviceLost {
        /// The device's name.
        device: String,
        /// What happened, with the remedy.
        reason: String,
    },
    /// A device was not reset.
    #[error("cannot reset {device}: {reason}")]
    Reset {
        /// The device's name.
        device: String,
        /// Why not, with the remedy.
        reason: String,
    },
    /// Something that does not go with recording a graph.
    #[error("{0}")]
    Capture(String),
    /// This kind of device cannot do it.
    #[error("{what} is not supported by this kind of device")]
    Unsupported {
        /// What was tried.
        what: &'static str,
    },
    /// Something of a device was used in a process that was forked from the one in which the device was opened.
    #[error(transparent)]
    Forked(#[from] hostcall_error::Forked),
    /// A call of the driver or the system failed.
    #[error("{call} failed: {text} ({code})")]
    Backend {
        /// The function.
        call: &'static str,
        /// Its error number.
        code: i64,
        /// What the driver or system says of it.
        text: String,
    },
}

hostcall_error::readable!(Error);

/// The fault that ended a kernel on the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// Workgroup of the lane.
    pub block: [u32; 3],
    /// The lane's coordinates in its workgroup.
    pub thread: [u32; 3],
    /// What it did.
    pub kind: FaultKind,
    /// The function of the image that did it, if the image says so.
    pub function: Option<String>,
}

impl Fault {
    /// A fault. (Public for plugins outside of this crate.)
    pub fn new(kernel: impl Into<String>, block: [u32; 3], thread: [u32; 3], kind: FaultKind) -> Self {
        Self { kernel: kernel.into(), block, thread, kind, function: None }
    }
}

/// What a lane did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// It touched memory that is not there.
    Memory {
        /// The address.
        address: u64,
        /// Where that lies, seen from the device's allocations, as far as known.
        near: Option<String>,
    },
    /// It touched memory at an address that the processor does not say.
    Wild,
    /// Its stack overflowed.
    StackOverflow {
        /// Bytes of stack it had.
        stack_bytes: usize,
    },
    /// It executed an instruction that the processor does not have.
    IllegalInstruction {
        /// Address of the instruction.
        address: u64,
    },
    /// A division by zero or the like.
    Arithmetic {
        /// Address of the instruction.
        address: u64,
    },
    /// It ended the kernel on purpose (`trap`: a panic, an abort).
    Trap,
    /// No lane of its wave (or workgroup) can ever go on: the text names lanes and operations.
    Deadlock(String),
    /// It called an operation with impossible arguments.
    Misuse(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        let function = self.function.as_ref().map(|function| format!(" in `{function}`")).unwrap_or_default();
        write!(f, "{}{function} (block {bx},{by},{bz} thread {tx},{ty},{tz})", self.kind)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { address, near } => {
                write!(f, "access to address {address:#x}, where there is no memory")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, ": {near}"))
            }
            Self::Wild => f.write_str(
                "access to an address that the processor does not say: one that no memory can have, or that is not aligned as the instruction wants it",
            ),
            Self::StackOverflow { stack_bytes } => {
                write!(f, "stack overflow: the lane has {stack_bytes} bytes; raise SimConfig::stack_bytes (`sim:stack=…`)")
            }
            Self::IllegalInstruction { address } => write!(f, "illegal instruction at {address:#x}"),
            Self::Arithmetic { address } => write!(f, "arithmetic fault at {address:#x}"),
            Self::Trap => f.write_str("the kernel trapped"),
            Self::Deadlock(text) => write!(f, "deadlock: {text}"),
            Self::Misuse(text) => f.write_str(text),
        }
    }
}

/// Whether `dlopen`'s text says that there is no such library: not that it is damaged, or that another one is missing
/// which it needs.
pub(crate) fn is_missing(library: &str, text: &str) -> bool {
    text.contains(library) && text.contains("No such file")
}

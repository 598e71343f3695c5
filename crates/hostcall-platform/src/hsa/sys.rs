//! The public HSA interface, as far as it is used: handles, structures and constants, declared after version 1.2 of the
//! HSA runtime specification and AMD's extension `hsa_ext_amd.h`.
//!
//! Types have the interface's own names, so that handles travel between this crate and code that uses HSA itself.
//! Everything that C declares as an enumeration is an integer here: codes of newer runtimes survive.

#![expect(non_camel_case_types, reason = "the names of the C interface")]

use std::ffi::c_void;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub struct $name {
                /// What the runtime knows it by; 0 is none.
                pub handle: u64,
            }
        )*
    };
}

handles! {
    /// A processor: a CPU socket, or a GPU.
    hsa_agent_t
    /// A counter that packets, copies and hosts wait for.
    hsa_signal_t
    /// An instruction set.
    hsa_isa_t
    /// A kind of memory of an agent.
    hsa_amd_memory_pool_t
    /// A reader of a code object.
    hsa_code_object_reader_t
    /// Loaded code.
    hsa_executable_t
    /// A code object as part of an executable.
    hsa_loaded_code_object_t
    /// A kernel or variable of an executable.
    hsa_executable_symbol_t
}

/// What a function returned: an integer, not an enum, so that codes of newer runtimes survive.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hsa_status_t(pub u32);

impl hsa_status_t {
    /// It worked.
    pub const SUCCESS: Self = Self(0);
    /// An iteration was ended by its callback.
    pub const INFO_BREAK: Self = Self(1);
    /// Any failure.
    pub const ERROR: Self = Self(0x1000);
    /// An argument makes no sense.
    pub const INVALID_ARGUMENT: Self = Self(0x1001);
    /// A queue of this size or type cannot be.
    pub const INVALID_QUEUE_CREATION: Self = Self(0x1002);
    /// Memory of this size cannot be had.
    pub const INVALID_ALLOCATION: Self = Self(0x1003);
    /// No such agent.
    pub const INVALID_AGENT: Self = Self(0x1004);
    /// No such signal.
    pub const INVALID_SIGNAL: Self = Self(0x1006);
    /// No such queue.
    pub const INVALID_QUEUE: Self = Self(0x1007);
    /// Something ran out; of `hsa_init`: there is no usable kernel driver.
    pub const OUT_OF_RESOURCES: Self = Self(0x1008);
    /// A packet in a queue makes no sense.
    pub const INVALID_PACKET_FORMAT: Self = Self(0x1009);
    /// `hsa_init` was not called.
    pub const NOT_INITIALIZED: Self = Self(0x100b);
    /// Arguments do not go together; of loading: the code is for another processor.
    pub const INCOMPATIBLE_ARGUMENTS: Self = Self(0x100d);
    /// No such instruction set.
    pub const INVALID_ISA: Self = Self(0x100f);
    /// The bytes are no code object that this runtime knows.
    pub const INVALID_CODE_OBJECT: Self = Self(0x1010);
    /// No such executable.
    pub const INVALID_EXECUTABLE: Self = Self(0x1011);
    /// The executable cannot be changed any more.
    pub const FROZEN_EXECUTABLE: Self = Self(0x1012);
    /// An executable has no such symbol.
    pub const INVALID_SYMBOL_NAME: Self = Self(0x1013);
    /// A kernel trapped.
    pub const EXCEPTION: Self = Self(0x1016);
    /// No such symbol.
    pub const INVALID_EXECUTABLE_SYMBOL: Self = Self(0x101d);
    /// No such reader.
    pub const INVALID_CODE_OBJECT_READER: Self = Self(0x1021);
    /// No such memory pool.
    pub const INVALID_MEMORY_POOL: Self = Self(40);
    /// A kernel touched memory outside of every aperture.
    pub const MEMORY_APERTURE_VIOLATION: Self = Self(41);
    /// A kernel executed what is no instruction.
    pub const ILLEGAL_INSTRUCTION: Self = Self(42);
    /// A kernel touched memory that is not there.
    pub const MEMORY_FAULT: Self = Self(43);
}

/// `hsa_system_info_t`.
pub mod system_info {
    /// `u16`.
    pub const VERSION_MAJOR: u32 = 0;
    /// `u16`.
    pub const VERSION_MINOR: u32 = 1;
    /// `u64`.
    pub const TIMESTAMP: u32 = 2;
    /// `u64`: ticks a second of time-outs and profiling times.
    pub const TIMESTAMP_FREQUENCY: u32 = 3;
    /// C string; the runtime's build (AMD, from ROCm 4 on).
    pub const BUILD_VERSION: u32 = 0x200;
}

/// `hsa_agent_info_t` and AMD's additions.
pub mod agent_info {
    /// 64 bytes of text.
    pub const NAME: u32 = 0;
    /// `u32`.
    pub const WAVEFRONT_SIZE: u32 = 6;
    /// `u32`.
    pub const WORKGROUP_MAX_SIZE: u32 = 8;
    /// `u32`.
    pub const QUEUE_MAX_SIZE: u32 = 14;
    /// `u32`: see [`super::DEVICE_TYPE_GPU`].
    pub const DEVICE: u32 = 17;
    /// `u32`.
    pub const COMPUTE_UNITS: u32 = 0xa002;
    /// `u32`: MHz.
    pub const MAX_CLOCK: u32 = 0xa003;
    /// `u32`: bus, device and function.
    pub const BDFID: u32 = 0xa006;
    /// `u32`: MHz.
    pub const MAX_MEMORY_CLOCK: u32 = 0xa008;
    /// 64 bytes of text.
    pub const PRODUCT_NAME: u32 = 0xa009;
    /// `u32`.
    pub const WAVES_PER_UNIT: u32 = 0xa00a;
    /// [`super::hsa_amd_hdp_flush_t`].
    pub const HDP_FLUSH: u32 = 0xa00e;
    /// `u32`: PCI domain.
    pub const DOMAIN: u32 = 0xa00f;
    /// `u64`: ticks a second of the constant counter (not in old runtimes).
    pub const TIMESTAMP_FREQUENCY: u32 = 0xa016;
}

/// `HSA_DEVICE_TYPE_CPU`.
pub const DEVICE_TYPE_CPU: u32 = 0;
/// `HSA_DEVICE_TYPE_GPU`.
pub const DEVICE_TYPE_GPU: u32 = 1;

/// `hsa_isa_info_t`.
pub mod isa_info {
    /// `u32`: bytes of the name, its NUL included.
    pub const NAME_LENGTH: u32 = 0;
    /// Text.
    pub const NAME: u32 = 1;
}

/// `hsa_amd_memory_pool_info_t`.
pub mod pool_info {
    /// `u32`: see [`super::SEGMENT_GLOBAL`].
    pub const SEGMENT: u32 = 0;
    /// `u32`: see [`super::pool_flags`].
    pub const GLOBAL_FLAGS: u32 = 1;
    /// `usize`.
    pub const SIZE: u32 = 2;
    /// `bool`.
    pub const ALLOC_ALLOWED: u32 = 5;
    /// `usize`.
    pub const ALLOC_GRANULE: u32 = 6;
}

/// `HSA_AMD_SEGMENT_GLOBAL`.
pub const SEGMENT_GLOBAL: u32 = 0;
/// `HSA_AMD_SEGMENT_GROUP`.
pub const SEGMENT_GROUP: u32 = 3;

/// `hsa_amd_memory_pool_global_flag_t`.
pub mod pool_flags {
    /// For kernels' arguments.
    pub const KERNARG: u32 = 1;
    /// Coherent at system scope while kernels run.
    pub const FINE_GRAINED: u32 = 2;
    /// Coherent at the ends of kernels only.
    pub const COARSE_GRAINED: u32 = 4;
}

/// `HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS`: `u32`, see [`pool_access`].
pub const AGENT_POOL_INFO_ACCESS: u32 = 0;

/// `hsa_amd_memory_pool_access_t`.
pub mod pool_access {
    /// The agent can never reach this memory.
    pub const NEVER: u32 = 0;
    /// It can at once.
    pub const BY_DEFAULT: u32 = 1;
    /// It can when it was allowed to.
    pub const WHEN_ALLOWED: u32 = 2;
}

/// `hsa_executable_symbol_info_t`.
pub mod symbol_info {
    /// `u32`: see [`super::SYMBOL_KERNEL`].
    pub const TYPE: u32 = 0;
    /// `u32`.
    pub const VARIABLE_SIZE: u32 = 9;
    /// `u32`.
    pub const KERNARG_SIZE: u32 = 11;
    /// `u32`.
    pub const GROUP_SIZE: u32 = 13;
    /// `u32`: of a lane.
    pub const PRIVATE_SIZE: u32 = 14;
    /// `bool`.
    pub const DYNAMIC_CALLSTACK: u32 = 15;
    /// `u64`.
    pub const VARIABLE_ADDRESS: u32 = 21;
    /// `u64`.
    pub const KERNEL_OBJECT: u32 = 22;
}

/// `HSA_SYMBOL_KIND_VARIABLE`.
pub const SYMBOL_VARIABLE: u32 = 0;
/// `HSA_SYMBOL_KIND_KERNEL`.
pub const SYMBOL_KERNEL: u32 = 1;
/// `HSA_PROFILE_FULL`.
pub const PROFILE_FULL: u32 = 1;
/// `HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT`.
pub const ROUNDING_DEFAULT: u32 = 0;
/// `HSA_QUEUE_TYPE_MULTI`.
pub const QUEUE_TYPE_MULTI: u32 = 0;
/// `HSA_SIGNAL_CONDITION_LT`.
pub const CONDITION_LT: u32 = 2;
/// `HSA_WAIT_STATE_BLOCKED`.
pub const WAIT_BLOCKED: u32 = 0;
/// `HSA_WAIT_STATE_ACTIVE`.
pub const WAIT_ACTIVE: u32 = 1;

/// A queue, as both sides see it.
#[repr(C)]
#[derive(Debug)]
pub struct hsa_queue_t {
    /// Who may submit.
    pub kind: u32,
    /// What packets it takes.
    pub features: u32,
    /// Its packets.
    pub base_address: *mut c_void,
    /// Told of the last packet published.
    pub doorbell_signal: hsa_signal_t,
    /// Packets that fit.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Its number.
    pub id: u64,
}

/// Bytes of every packet.
pub const PACKET_BYTES: usize = 64;

/// A packet that runs a kernel. `header` and `setup` are published last, as one word.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_kernel_dispatch_packet_t {
    /// See [`header`].
    pub header: u16,
    /// Dimensions of the grid.
    pub setup: u16,
    /// Lanes of a workgroup.
    pub workgroup_size: [u16; 3],
    /// 0.
    pub reserved0: u16,
    /// Lanes of the grid.
    pub grid_size: [u32; 3],
    /// Bytes of stack of a lane.
    pub private_segment_size: u32,
    /// Bytes of memory of a workgroup.
    pub group_segment_size: u32,
    /// The kernel's descriptor.
    pub kernel_object: u64,
    /// Its arguments.
    pub kernarg_address: u64,
    /// 0.
    pub reserved2: u64,
    /// Decremented when it has ended; 0 for none.
    pub completion_signal: hsa_signal_t,
}

/// A packet that waits for signals: all of them (AND) or any (OR).
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_barrier_packet_t {
    /// See [`header`].
    pub header: u16,
    /// 0.
    pub reserved0: u16,
    /// 0.
    pub reserved1: u32,
    /// Waited for until they are 0; 0 for none.
    pub dep_signal: [hsa_signal_t; 5],
    /// 0.
    pub reserved2: u64,
    /// Decremented when it has ended; 0 for none.
    pub completion_signal: hsa_signal_t,
}

/// The first 16 bits of a packet.
pub mod header {
    /// No packet yet, or not any more.
    pub const INVALID: u16 = 1;
    /// [`super::hsa_kernel_dispatch_packet_t`].
    pub const KERNEL_DISPATCH: u16 = 2;
    /// [`super::hsa_barrier_packet_t`], all signals.
    pub const BARRIER_AND: u16 = 3;
    /// [`super::hsa_barrier_packet_t`], any signal.
    pub const BARRIER_OR: u16 = 5;
    /// Begins when all packets before have ended.
    pub const BARRIER: u16 = 1 << 8;
    /// Sees what the system wrote before.
    pub const ACQUIRE_SYSTEM: u16 = 2 << 9;
    /// Shows the system what was written.
    pub const RELEASE_SYSTEM: u16 = 2 << 11;
    /// The packet's kind.
    pub const TYPE_MASK: u16 = 0xff;
}

/// When a packet ran, in ticks of [`system_info::TIMESTAMP_FREQUENCY`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_profiling_dispatch_time_t {
    /// Its begin.
    pub start: u64,
    /// Its end.
    pub end: u64,
}

/// Registers that make what the host wrote through the PCI window visible to kernels; null where nothing is needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_hdp_flush_t {
    /// Write 1.
    pub memory: *mut u32,
    /// Not used here.
    pub registers: *mut u32,
}

/// `HSA_AMD_GPU_MEMORY_FAULT_EVENT`.
pub const EVENT_MEMORY_FAULT: u32 = 0;

/// What a system event handler is told. (The structures of other kinds of events begin with the agent, too.)
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_event_t {
    /// See [`EVENT_MEMORY_FAULT`].
    pub kind: u32,
    /// Where.
    pub agent: hsa_agent_t,
    /// Of a memory fault: the address.
    pub virtual_address: u64,
    /// Of a memory fault: why, one bit each.
    pub reasons: u32,
}

/// Called for each agent.
pub type AgentCallback = unsafe extern "C" fn(hsa_agent_t, *mut c_void) -> hsa_status_t;
/// Called for each instruction set.
pub type IsaCallback = unsafe extern "C" fn(hsa_isa_t, *mut c_void) -> hsa_status_t;
/// Called for each memory pool.
pub type PoolCallback = unsafe extern "C" fn(hsa_amd_memory_pool_t, *mut c_void) -> hsa_status_t;
/// Called when a queue fails.
pub type QueueCallback = unsafe extern "C" fn(hsa_status_t, *mut hsa_queue_t, *mut c_void);
/// Called when a signal's condition holds; whether to go on.
pub type SignalHandler = unsafe extern "C" fn(i64, *mut c_void) -> bool;
/// Called when the system fails.
pub type EventCallback = unsafe extern "C" fn(*const hsa_amd_event_t, *mut c_void) -> hsa_status_t;

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<hsa_queue_t>() == 40);
    assert!(offset_of!(hsa_queue_t, doorbell_signal) == 16);
    assert!(offset_of!(hsa_queue_t, id) == 32);
    assert!(size_of::<hsa_kernel_dispatch_packet_t>() == PACKET_BYTES);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, private_segment_size) == 24);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, kernarg_address) == 40);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, completion_signal) == 56);
    assert!(size_of::<hsa_barrier_packet_t>() == PACKET_BYTES);
    assert!(offset_of!(hsa_barrier_packet_t, dep_signal) == 8);
    assert!(offset_of!(hsa_barrier_packet_t, completion_signal) == 56);
    assert!(size_of::<hsa_amd_event_t>() == 32);
    assert!(offset_of!(hsa_amd_event_t, virtual_address) == 16);
    assert!(offset_of!(hsa_amd_event_t, reasons) == 24);
};

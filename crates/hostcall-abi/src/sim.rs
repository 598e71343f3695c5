//! What a kernel built for the CPU simulator asks of the simulator.
//!
//! A simulator image is a shared library of the same device code. It exports the word named [`OPS_SYMBOL`], in which
//! the simulator puts the address of a [`SimOps`] table before any kernel runs. For each kernel it exports a function
//! `KERNEL_ENTRY_PREFIX + name` of type [`KernelEntry`]. Device memory is host memory, so the table only has
//! operations of lanes.

/// Name of the word (`*const SimOps`) that the simulator fills after loading the image.
pub const OPS_SYMBOL: &str = "__hostcall_sim_ops";
/// Prefix of a kernel's entry function in a simulator image.
pub const KERNEL_ENTRY_PREFIX: &str = "__hostcall_sim_kernel_";
/// Version of [`SimOps`]; the simulator refuses an image built against another.
pub const SIM_VERSION: u32 = 6;
/// Name of the word (`u32`, initialised to [`SIM_VERSION`]) that says it.
pub const SIM_VERSION_SYMBOL: &str = "__hostcall_sim_version";
/// Section of kernels in C, which take their parameters one by one: by the calling convention of 64-bit Windows, in
/// which sizes say where each is. The section's functions are kernels under their own names.
pub const KERNEL_SECTION: &str = "hostcall_kernels";
/// Name of a word (`u32`) of images in C: their thread-local variables are group memory ([`SimOps::group_memory`]), and
/// have no initial values. Variables that are declared and defined nowhere are the dynamic part.
pub const GROUP_MEMORY_SYMBOL: &str = "__hostcall_sim_group_memory";
/// Bytes of group memory that a workgroup has at most, declared and dynamic: as on an H100.
pub const GROUP_MEMORY_BYTES: usize = 227 << 10;
/// Bit of the `attempt` that is given to [`SimOps::pause`].
pub const FOR_WAVES: u32 = 1 << 30;
/// Another bit of it: the lane is in no hurry, and [`SimOps::wake_patient`] will end the wait. The other bits are what
/// it waits for, a number of its choice.
pub const PATIENT: u32 = 1 << 31;
/// For [`SimOps::wake_patient`]: whatever they wait for.
pub const WHATEVER: u32 = u32::MAX;

/// One lane's run of a kernel. `params` points at the parameters, laid out by
/// [`KernelParams::place`](crate::descriptor::KernelParams::place).
pub type KernelEntry = unsafe extern "C" fn(params: *const u8);

/// Where a lane is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LaneInfo {
    /// Lane in its wave.
    pub lane: u32,
    /// Lanes of a wave: 32 or 64.
    pub wave_size: u32,
    /// A number for the resident wave, dense from 0, for hashing.
    pub wave: u32,
    /// The SM (compute unit) it runs on.
    pub sm: u32,
    /// Workgroup coordinates.
    pub group: [u32; 3],
    /// Workgroups of the grid.
    pub groups: [u32; 3],
    /// Coordinates in the workgroup.
    pub local: [u32; 3],
    /// Size of the workgroup.
    pub local_size: [u32; 3],
    /// Low bits of the launch's number on its device.
    pub launch: u32,
}

/// The memory of a workgroup: addresses. All are 0 if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct GroupMemory {
    /// Of the variables that the image declares.
    pub declared: usize,
    /// Of what the launch added to them.
    pub dynamic: usize,
    /// Behind its last byte.
    pub end: usize,
}

/// The simulator's operations. Every function acts for the lane that calls it.
#[repr(C)]
pub struct SimOps {
    /// Where the calling lane is.
    pub lane_info: unsafe extern "C" fn() -> *const LaneInfo,
    /// Lanes that run converged with the caller: those of its wave that reach the same call of this
    /// operation before any of them goes on. `site` names the call (an address).
    pub active_mask: unsafe extern "C" fn(site: usize) -> u64,
    /// Bit per lane of `mask` whose `predicate` is not 0. All lanes of `mask` must call.
    pub ballot: unsafe extern "C" fn(mask: u64, predicate: u32) -> u64,
    /// The `value` that lane `from` of `mask` passed. All lanes of `mask` must call.
    pub shuffle: unsafe extern "C" fn(mask: u64, value: u64, from: u32) -> u64,
    /// Waits for all lanes of `mask`, and orders memory among them.
    pub sync_wave: unsafe extern "C" fn(mask: u64),
    /// Waits for all lanes of the workgroup that have not ended, and orders memory among them.
    pub sync_group: unsafe extern "C" fn(),
    /// A lane waits for somebody else, for the `attempt`-th time in a row: lets others run, and sleeps the longer the
    /// larger `attempt` is. With [`FOR_WAVES`] in `attempt` it is a lane of another wave that is waited for, else
    /// probably the host.
    pub pause: unsafe extern "C" fn(attempt: u32),
    /// Nanoseconds of a clock that never goes back.
    pub clock_ns: unsafe extern "C" fn() -> u64,
    /// 64 bytes, 16-byte aligned, zeroed at the start, shared by the workgroup.
    pub group_scratch: unsafe extern "C" fn() -> *mut u8,
    /// Ends the calling lane.
    pub exit_lane: unsafe extern "C" fn() -> !,
    /// Ends the whole kernel as a fault of this lane.
    pub trap: unsafe extern "C" fn() -> !,
    /// A word of the calling lane's own, 0 when it starts.
    pub lane_word: unsafe extern "C" fn() -> *mut u64,
    /// Ends the waits of lanes that are in no hurry ([`PATIENT`]) and wait for this, or of all of them ([`WHATEVER`]);
    /// perhaps those of others, too. What was stored before is seen by them.
    pub wake_patient: unsafe extern "C" fn(what: u32),
    /// The memory that the workgroup shares, zeroed at the start. The result lives as long as the workgroup.
    pub group_memory: unsafe extern "C" fn() -> *const GroupMemory,
    /// Which memory an address is in, as [`Space`](crate::stream::Space) numbers them: the calling lane's stack is
    /// private, the workgroup's memory shared, and everything else global.
    pub space: unsafe extern "C" fn(address: usize) -> u32,
}

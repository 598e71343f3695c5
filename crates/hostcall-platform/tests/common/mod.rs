//! What the simulator's tests share: devices, kernels that are functions of the test, and their parameters.
#![allow(dead_code, reason = "each test binary uses a part")]

use hostcall_abi::Plain;
use hostcall_abi::sim::{KernelEntry, LaneInfo};
use offload::{Args, Device, Error, Launch, Memory, Queue, SimConfig, sim};

/// A device, a queue on it, and a kernel.
pub(crate) struct Bench {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    kernel: offload::Kernel,
}

impl Bench {
    pub(crate) fn new(config: &str, entry: KernelEntry) -> Self {
        Self::on(Device::sim(config.parse::<SimConfig>().unwrap()).unwrap(), entry)
    }

    pub(crate) fn on(device: Device, entry: KernelEntry) -> Self {
        let program = sim::program_from_functions(&device, &[("test", entry)]).unwrap();
        Self { queue: device.queue().unwrap(), kernel: program.kernel("test").unwrap(), device }
    }

    pub(crate) fn launch(&self, launch: Launch, args: Args) -> Result<(), Error> {
        // SAFETY: the tests pass what their kernels take, and keep the memory until they have synchronised.
        unsafe { self.queue.launch(&self.kernel, launch, args) }
    }

    /// Zeroed memory.
    pub(crate) fn zeroed<T: Plain>(&self, len: usize) -> Memory<T> {
        let memory = self.device.alloc(len).unwrap();
        self.queue.fill(&memory, 0).unwrap();
        memory
    }

    /// Runs the kernel on a zeroed memory of `len` elements (its only parameter: an address), and returns the memory.
    pub(crate) fn run<T: Plain>(&self, launch: Launch, len: usize) -> Vec<T> {
        let memory = self.zeroed::<T>(len);
        self.launch(launch, Args::new().address(memory.address())).unwrap();
        self.queue.read(&memory).unwrap()
    }
}

/// The `index`-th parameter, if all before it have 8 bytes.
pub(crate) unsafe fn param<T: Copy>(params: *const u8, index: usize) -> T {
    // SAFETY: the caller's.
    unsafe { params.add(8 * index).cast::<T>().read() }
}

pub(crate) fn lane() -> &'static LaneInfo {
    // SAFETY: called by a lane.
    unsafe { &*(sim::ops().lane_info)() }
}

/// Linear index in the workgroup.
pub(crate) fn local() -> usize {
    let l = lane();
    (l.local[0] + l.local_size[0] * (l.local[1] + l.local_size[1] * l.local[2])) as usize
}

/// Linear index of the workgroup.
pub(crate) fn group() -> usize {
    let l = lane();
    (l.group[0] + l.groups[0] * (l.group[1] + l.groups[1] * l.group[2])) as usize
}

/// Linear index in the grid.
pub(crate) fn global() -> usize {
    group() * lane().local_size.iter().product::<u32>() as usize + local()
}

pub(crate) fn ballot(mask: u64, predicate: bool) -> u64 {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().ballot)(mask, predicate.into()) }
}

pub(crate) fn active(site: usize) -> u64 {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().active_mask)(site) }
}

pub(crate) fn shuffle(mask: u64, value: u64, from: u32) -> u64 {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().shuffle)(mask, value, from) }
}

pub(crate) fn sync_wave(mask: u64) {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().sync_wave)(mask) }
}

pub(crate) fn sync_group() {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().sync_group)() }
}

pub(crate) fn pause(attempt: u32) {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().pause)(attempt) }
}

pub(crate) fn exit_lane() -> ! {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().exit_lane)() }
}

pub(crate) fn trap() -> ! {
    // SAFETY: called by a lane.
    unsafe { (sim::ops().trap)() }
}

/// Every way to run lanes.
pub(crate) const MODES: [&str; 3] = ["", "threads", "seed=3"];

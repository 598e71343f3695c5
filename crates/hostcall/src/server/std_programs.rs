//! Launches of programs with `std`: their shape, and stacks for their threads and lanes.

use std::sync::Arc;

use hostcall_abi::stacks::{STACKS_SYMBOL, Stacks};
use offload::cuda::{Limit, limit, set_limit};
use offload::{DeviceInfo, DeviceKind, Error, Kernel, Launch, Program};

/// The launch of a program with `std` that has room for `threads` threads: a workgroup for each. `entry` is its kernel `hostcall_std`. On CUDA devices a workgroup
/// is a whole wave, whose first lane is the thread; the others help it to copy what it reads and writes. Workgroups of one lane do as well, and are slower at
/// that: entries that were linked for them have no others.
pub fn program_launch(entry: &Kernel, threads: u32) -> Launch {
    let device = entry.program().device().info();
    let whole = device.kind == DeviceKind::Cuda && entry.info().max_group_size >= device.wave_size;
    Launch { groups: [threads, 1, 1], group_size: [if whole { device.wave_size } else { 1 }, 1, 1], dynamic_shared: 0 }
}

/// Reserves device memory for the stacks of `threads` threads of a program with `std`, of `bytes` each, before it is launched. The memory lives as long as the
/// program. Besides, every lane that a CUDA device could run gets memory of its own for return addresses and saved registers in proportion, unless
/// its context gives more already. Where threads have stacks that all others can address anyway, as in the simulator, nothing is done.
///
/// Without it, threads take stacks of at most 256 KiB from the heap.
///
/// # Errors
/// When the device has not so much memory, or fails.
pub fn reserve_stacks(program: &Program, threads: u32, bytes: usize) -> Result<(), Error> {
    // Stacks begin at cache lines, so that no two share one.
    let bytes = bytes.next_multiple_of(128);
    let own_bytes = own_bytes(program.device().info(), bytes);
    write(program, own_bytes, |stacks| {
        let memory = program.device().alloc::<u8>(bytes.saturating_mul(threads as usize))?;
        *stacks = Stacks { base: memory.address(), bytes: bytes as u64, threads: threads.into(), ..*stacks };
        program.keep(Arc::new(memory));
        Ok(())
    })
}

/// Gives each lane of kernels in programs with `std` at least so many bytes of stack: memory of its own, return addresses included, which the driver reserves
/// for every lane that a CUDA device could run. In the simulator the device's configuration says how large stacks are, and nothing is done.
///
/// # Errors
/// When the device has not so much memory, or fails.
pub fn reserve_lane_stacks(program: &Program, bytes: usize) -> Result<(), Error> {
    write(program, bytes.next_multiple_of(16), |_| Ok(()))
}

/// Sees to it that lanes have `own_bytes`, and tells the program so, and of what `change` makes of what it was told before.
fn write(program: &Program, own_bytes: usize, change: impl FnOnce(&mut Stacks) -> Result<(), Error>) -> Result<(), Error> {
    let device = program.device();
    if device.info().kind != DeviceKind::Cuda {
        return Ok(());
    }
    let Some(words) = program.find_global(STACKS_SYMBOL)? else { return Ok(()) };
    if limit(device, Limit::StackBytes)? < own_bytes {
        set_limit(device, Limit::StackBytes, own_bytes)?;
    }
    let mut bytes = [0; size_of::<Stacks>()];
    words.read(&mut bytes)?;
    let mut stacks = Stacks { own_bytes: limit(device, Limit::StackBytes)? as u64, ..Stacks::from_bytes(bytes) };
    change(&mut stacks)?;
    words.write(&stacks.to_bytes())
}

/// Bytes of each lane's own memory for threads with that much stack: at most what an eighth of the device's memory has room for.
fn own_bytes(device: &DeviceInfo, stack: usize) -> usize {
    const LEAST: usize = 16 << 10;
    let lanes = u64::from(device.resident_waves) * u64::from(device.wave_size);
    let affordable = (device.memory_bytes / 8 / lanes.max(1)) as usize;
    (stack / 32).clamp(LEAST, 256 << 10).min(affordable.max(LEAST)) & !15
}

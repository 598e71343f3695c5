//! Stacks for the threads of programs with `std`.

use std::sync::Arc;

use hostcall_abi::stacks::{STACKS_SYMBOL, Stacks};
use offload::cuda::{Limit, limit, set_limit};
use offload::{DeviceInfo, DeviceKind, Error, Program};

/// Reserves device memory for the stacks of `threads` threads of a program with `std`, of `bytes` each, before it is launched. The memory lives as long as the
/// program. Besides, every lane that a CUDA device could run gets memory for return addresses and saved registers in proportion, unless its context
/// gives more already. Where threads have stacks that all others can address anyway, as in the simulator, nothing is done.
///
/// Without it, threads take stacks of at most 256 KiB from the heap.
///
/// # Errors
/// When the device has not so much memory, or fails.
pub fn reserve_stacks(program: &Program, threads: u32, bytes: usize) -> Result<(), Error> {
    let device = program.device();
    if device.info().kind != DeviceKind::Cuda {
        return Ok(());
    }
    let Some(words) = program.find_global(STACKS_SYMBOL)? else { return Ok(()) };
    let own_bytes = own_bytes(device.info(), bytes);
    if limit(device, Limit::StackBytes)? < own_bytes {
        set_limit(device, Limit::StackBytes, own_bytes)?;
    }
    let bytes = bytes.next_multiple_of(ALIGN);
    let memory = device.alloc::<u8>(bytes.saturating_mul(threads as usize))?;
    let stacks = Stacks {
        base: memory.address(),
        bytes: bytes as u64,
        threads: threads.into(),
        own_bytes: limit(device, Limit::StackBytes)? as u64,
    };
    words.write(&stacks.to_bytes())?;
    program.keep(Arc::new(memory));
    Ok(())
}

/// Stacks begin at cache lines, so that no two share one.
const ALIGN: usize = 128;

/// Bytes of each lane's own memory for threads with that much stack. The driver reserves it for every lane that the device could run, and so it is at
/// most what an eighth of the device's memory has room for.
fn own_bytes(device: &DeviceInfo, stack: usize) -> usize {
    const LEAST: usize = 16 << 10;
    let lanes = u64::from(device.resident_waves) * u64::from(device.wave_size);
    let affordable = (device.memory_bytes / 8 / lanes.max(1)) as usize;
    (stack / 32).clamp(LEAST, 256 << 10).min(affordable.max(LEAST)) & !15
}

//! Stacks for the threads of programs with `std`.

use std::sync::Arc;

use hostcall_abi::stacks::{STACKS_SYMBOL, Stacks};
use offload::cuda::{Limit, limit};
use offload::{DeviceKind, Error, Program};

/// Reserves device memory for the stacks of `threads` threads of a program with `std`, of `bytes` each, before it is launched. The memory lives as long as the
/// program. Where lanes have stacks that all others can address anyway, as in the simulator, nothing is done.
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

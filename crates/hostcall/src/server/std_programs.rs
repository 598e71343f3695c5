//! Launches of programs with `std`: their shape, and stacks for their threads and lanes.

use std::sync::Arc;

use hostcall_abi::stacks::{STACKS_SYMBOL, Stacks};
use hostcall_abi::thread_names::{THREAD_NAMES_SYMBOL, THREADS, ThreadName, ThreadNames};
use offload::cuda::{Limit, limit, set_limit};
use offload::{Device, DeviceInfo, DeviceKind, Error, Kernel, Launch, Program, hsa};

/// The launch of a program with `std` that has room for `threads` threads: a workgroup for each. `entry` is its kernel
/// `hostcall_std`. On CUDA devices a workgroup is a whole wave, whose first lane is the thread; the others help it to
/// copy what it reads and writes. Workgroups of one lane do as well, and are slower at that: entries that were linked
/// for them have no others.
pub fn program_launch(entry: &Kernel, threads: u32) -> Launch {
    let device = entry.program().device().info();
    let whole = device.kind == DeviceKind::Cuda && entry.info().max_group_size >= device.wave_size;
    Launch { groups: [threads, 1, 1], group_size: [if whole { device.wave_size } else { 1 }, 1, 1], dynamic_shared: 0 }
}

/// Reserves device memory for the stacks of `threads` threads of a program with `std`, of `bytes` each, before it is
/// launched. The memory lives as long as the program. Besides, every lane that a GPU could run gets memory of its own
/// for return addresses and saved registers in proportion, unless it has more already. Says whether it did so: where
/// threads have stacks that all others can address anyway, as in the simulator, or none that others could, as in a
/// program for AMD's GPUs that has kernels besides, nothing is done.
///
/// Without it, threads take stacks of at most 256 KiB from the heap.
///
/// # Errors
/// When the device has not so much memory, or fails.
pub fn reserve_stacks(program: &Program, threads: u32, bytes: usize) -> Result<bool, Error> {
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

/// Gives each lane of kernels in programs with `std` at least so many bytes of stack: memory of its own, return
/// addresses included, which the driver reserves for every lane that a CUDA device could run. In the simulator the
/// device's configuration says how large stacks are, and nothing is done.
///
/// # Errors
/// When the device has not so much memory, or fails.
pub fn reserve_lane_stacks(program: &Program, bytes: usize) -> Result<(), Error> {
    if program.device().info().kind == DeviceKind::Cuda {
        write(program, bytes.next_multiple_of(16), |_| Ok(()))?;
    }
    Ok(())
}

/// The name of the thread of a program with `std` at that place in its launch (`Fault::block`), as panics name it:
/// `'main'`. `None` if nothing is known of it: the program keeps no names, or its device is lost.
pub fn thread_name(program: &Program, place: u32) -> Option<String> {
    let names = program.find_global(THREAD_NAMES_SYMBOL).ok()??;
    let mut bytes = [0; size_of::<ThreadNames>()];
    if names.size() != bytes.len() {
        return None;
    }
    names.read(&mut bytes).ok()?;
    let place = place as usize;
    let of_place = bytes.as_chunks::<{ size_of::<ThreadNames>() / THREADS }>().0.get(place)?;
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(of_place.as_chunks().0) {
        *word = u64::from_ne_bytes(*chunk);
    }
    Some(ThreadName::new(place, words).to_string())
}

/// Sees to it that lanes have `own_bytes`, and tells the program so, and of what `change` makes of what it was told
/// before. Whether it has words for it.
fn write(program: &Program, own_bytes: usize, change: impl FnOnce(&mut Stacks) -> Result<(), Error>) -> Result<bool, Error> {
    let device = program.device();
    if !matches!(device.info().kind, DeviceKind::Cuda | DeviceKind::Hsa) {
        return Ok(false);
    }
    let Some(words) = program.find_global(STACKS_SYMBOL)? else { return Ok(false) };
    let own_bytes = give_own(device, own_bytes)?;
    let mut bytes = [0; size_of::<Stacks>()];
    words.read(&mut bytes)?;
    let mut stacks = Stacks { own_bytes, ..Stacks::from_bytes(bytes) };
    change(&mut stacks)?;
    words.write(&stacks.to_bytes())?;
    Ok(true)
}

/// Gives lanes at least so many bytes of memory of their own; how many they have then.
fn give_own(device: &Device, bytes: usize) -> Result<u64, Error> {
    if device.info().kind == DeviceKind::Hsa {
        let wanted = u32::try_from(bytes).unwrap_or(u32::MAX);
        if hsa::stack(device)? < wanted {
            hsa::set_stack(device, wanted)?;
        }
        return Ok(hsa::stack(device)?.into());
    }
    if limit(device, Limit::StackBytes)? < bytes {
        set_limit(device, Limit::StackBytes, bytes)?;
    }
    Ok(limit(device, Limit::StackBytes)? as u64)
}

/// Bytes of each lane's own memory for threads with that much stack: at most what a part of the device's memory has
/// room for, a quarter for CUDA, a 32nd for AMD's runtime, whose lanes are twice as many. A 32nd of the stack, because
/// a thread on a CUDA device has that memory of all 32 lanes of its wave.
fn own_bytes(device: &DeviceInfo, stack: usize) -> usize {
    let (least, part) = if device.kind == DeviceKind::Hsa { (4 << 10, 32) } else { (16 << 10, 4) };
    let lanes = u64::from(device.resident_waves) * u64::from(device.wave_size);
    let affordable = (device.memory_bytes / part / lanes.max(1)) as usize;
    (stack / 32).clamp(least, 256 << 10).min(affordable.max(least)) & !15
}

//! The arguments of a call as values of a recording.
//!
//! Most follow from what the entry point says of them. Three structures and arrays say more than their types do, and
//! are followed by hand: the list of platforms of `olInit`, and the properties and arguments of a launch.

use std::mem::offset_of;

use super::format::{Memory, Value};
use super::own_memory::{is_there, read, read_text};
use crate::runtime::record::{Access, Argument, Element};
use crate::sys::{ol_init_args_t, ol_kernel_launch_prop_t, ol_kernel_launch_prop_type_t};

/// What is known of memory.
pub(super) trait Known {
    /// Whether an address lies in memory of the library.
    fn knows(&self, address: usize) -> bool;

    /// How many of the `size` bytes at an address no queue may still be writing: those before the first such byte.
    fn settled(&self, address: usize, size: usize) -> usize;
}

/// Addresses below this are not taken for pointers among the bytes of an argument: they may as well be numbers.
const LEAST_POINTER: u64 = 1 << 32;

/// The most properties of a launch that are followed.
const MOST_PROPERTIES: usize = 64;

/// The arguments, and what of the call cannot be replayed.
pub(super) fn values(function: &str, arguments: &[Argument], known: &dyn Known) -> (Vec<Value>, Vec<String>) {
    let mut values: Vec<_> = arguments.iter().map(|argument| value(function, *argument, known)).collect();
    let mut unseen = Vec::new();
    match (function, values.as_mut_slice()) {
        ("olInit", [Value::Memory(structure)]) => platforms(structure),
        ("olLaunchKernel", [.., properties, Value::Number(_), pointers, sizes]) => {
            if let Value::Memory(properties) = properties {
                launch_properties(properties);
            }
            if let (Value::Memory(pointers), Value::Memory(sizes)) = (pointers, sizes) {
                launch_arguments(pointers, sizes, known, &mut unseen);
            }
        }
        ("olLaunchHostFunction", _) => unseen.push("what the host function does".into()),
        ("olMemRegister", _) => unseen.push("what the program writes into the memory that it registers".into()),
        ("olPlatformRegisterRPCCallback", [_, Value::Callback(true)]) => unseen.push("what the callback answers".into()),
        _ => {}
    }
    (values, unseen)
}

fn memory(address: usize, size: usize, bytes: Vec<u8>) -> Memory {
    Memory { address: address as u64, size: size as u64, lasts: false, bytes, links: Vec::new() }
}

fn value(function: &str, argument: Argument, known: &dyn Known) -> Value {
    match argument {
        Argument::Number(number) => Value::Number(number),
        Argument::Handle(handle) => Value::Handle(handle as u64),
        Argument::Callback(is_there) => Value::Callback(is_there),
        Argument::Pointer(address)
        | Argument::Text(address @ 0)
        | Argument::Memory { address: address @ 0, .. }
        | Argument::Array { address: address @ 0, .. } => Value::Pointer(address as u64),
        Argument::Text(address) => {
            let text = read_text(address);
            Value::Memory(memory(address, text.len(), text))
        }
        // Only copies read memory of devices.
        Argument::Memory { access: Access::Read, address, .. } if function == "olMemcpy" && known.knows(address) => {
            Value::Pointer(address as u64)
        }
        Argument::Memory { access: Access::Write, address, .. } if known.knows(address) => Value::Pointer(address as u64),
        Argument::Memory { access: Access::Read, address, size } => {
            // What a queue leaves there in its turn, it leaves in the replay, too; what is there now may be from
            // before.
            let bytes = read(address, known.settled(address, size));
            Value::Memory(Memory { lasts: true, ..memory(address, size, bytes) })
        }
        Argument::Memory { access: Access::Value, address, size } => Value::Memory(memory(address, size, read(address, size))),
        Argument::Memory { access: Access::Write, address, size } => {
            Value::Memory(Memory { lasts: true, ..memory(address, size, Vec::new()) })
        }
        Argument::Memory { access: Access::Out | Access::OutHandle | Access::OutPointer, address, size } => {
            Value::Memory(memory(address, size, Vec::new()))
        }
        Argument::Array { of, address, count } => {
            let size = count.saturating_mul(8);
            let mut array = memory(address, size, read(address, size));
            array.links = words(&array.bytes)
                .map(|(offset, word)| (offset, if of == Element::Handle { Value::Handle(word) } else { Value::Pointer(word) }))
                .collect();
            Value::Memory(array)
        }
    }
}

/// Each eight bytes as a number, with their offsets.
fn words(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    bytes.as_chunks::<8>().0.iter().zip((0..).step_by(8)).map(|(word, offset)| (offset, u64::from_le_bytes(*word)))
}

fn word(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

fn half(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The list that `ol_init_args_t` names.
fn platforms(structure: &mut Memory) {
    let count = half(&structure.bytes, offset_of!(ol_init_args_t, NumPlatforms));
    let offset = offset_of!(ol_init_args_t, Platforms);
    let (Some(count), Some(address)) = (count, word(&structure.bytes, offset)) else { return };
    if address != 0 {
        let (address, size) = (address as usize, count as usize * 4);
        structure.links.push((offset as u64, Value::Memory(memory(address, size, read(address, size)))));
    }
}

/// The whole list of properties, of which the first one is there, and the value that each has.
fn launch_properties(list: &mut Memory) {
    const SIZE: usize = size_of::<ol_kernel_launch_prop_t>();
    let address = list.address as usize;
    let all = read(address, MOST_PROPERTIES * SIZE);
    let count =
        all.chunks_exact(SIZE).position(|item| half(item, 0) == Some(ol_kernel_launch_prop_type_t::OL_KERNEL_LAUNCH_PROP_TYPE_NONE.0));
    let bytes = all[..count.map_or(all.len() / SIZE, |end| end + 1) * SIZE].to_vec();
    *list = memory(address, bytes.len(), bytes);
    for offset in (offset_of!(ol_kernel_launch_prop_t, data)..list.bytes.len()).step_by(SIZE) {
        match word(&list.bytes, offset) {
            None | Some(0) => {}
            // The only value that there is is a C `bool`.
            Some(data) => {
                list.links.push((offset as u64, Value::Memory(memory(data as usize, 1, read(data as usize, 1)))));
            }
        }
    }
}

/// What each pointer to an argument points to, and the addresses in it.
fn launch_arguments(pointers: &mut Memory, sizes: &Memory, known: &dyn Known, unseen: &mut Vec<String>) {
    let sizes = words(&sizes.bytes).map(|(_, size)| size as usize);
    let count = pointers.links.len();
    for (index, ((_, link), size)) in pointers.links.iter_mut().zip(sizes).take(count).enumerate() {
        let Value::Pointer(address) = *link else { continue };
        if address == 0 {
            continue;
        }
        let mut argument = memory(address as usize, size, read(address as usize, size));
        for (offset, word) in words(&argument.bytes) {
            let is_known = known.knows(word as usize);
            if is_known || (word >= LEAST_POINTER && is_there(word as usize)) {
                argument.links.push((offset, Value::Pointer(word)));
            }
            if !is_known && argument.links.last().is_some_and(|(last, _)| *last == offset) {
                unseen.push(format!("the memory at {word:#x}, which argument {index} names and the library never saw"));
            }
        }
        *link = Value::Memory(argument);
    }
}

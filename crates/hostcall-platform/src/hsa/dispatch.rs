//! A launch as a packet: its arguments, its shape, its stack.

use std::sync::Arc;

use super::context::Context;
use super::fault;
use super::kernarg::Kernarg;
use super::program::Kernel;
use super::sys::*;
use crate::args::Params;
use crate::error::Error;
use crate::queue::Launch;

/// The packet of a launch, without its completion signal, and the arguments that it points at.
pub(super) fn packet(
    context: &Arc<Context>,
    kernel: &Kernel,
    launch: &Launch,
    params: &Params,
) -> Result<(hsa_kernel_dispatch_packet_t, Option<Kernarg>), Error> {
    let shape = Shape::of(launch).map_err(|reason| fault::launch(&kernel.name, reason))?;
    let group_bytes = u64::from(kernel.group_bytes) + u64::from(launch.dynamic_shared);
    let most = u64::from(context.found.group_bytes);
    // The device checks this, not the runtime, and then the whole queue fails.
    if group_bytes > most {
        let reason = format!("{group_bytes} bytes of memory for a workgroup are more than {most}, which {} has", context.name);
        return Err(fault::launch(&kernel.name, reason));
    }
    let arguments = arguments(context, kernel, &shape, params)?;
    let packet = hsa_kernel_dispatch_packet_t {
        setup: shape.dimensions,
        workgroup_size: shape.group,
        grid_size: shape.lanes,
        private_segment_size: kernel.stack(context.stack_bytes()),
        group_segment_size: group_bytes as u32,
        kernel_object: kernel.object,
        kernarg_address: arguments.as_ref().map_or(0, Kernarg::address),
        ..hsa_kernel_dispatch_packet_t::default()
    };
    Ok((packet, arguments))
}

/// A launch's shape as packets have it.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    dimensions: u16,
    group: [u16; 3],
    /// Of the grid.
    lanes: [u32; 3],
    groups: [u32; 3],
}

impl Shape {
    fn of(launch: &Launch) -> Result<Shape, String> {
        let mut shape = Shape { dimensions: 3, group: [0; 3], lanes: [0; 3], groups: launch.groups };
        for axis in 0..3 {
            let (groups, size) = (launch.groups[axis], launch.group_size[axis]);
            shape.group[axis] =
                u16::try_from(size).map_err(|_| format!("{size} threads on one axis of a workgroup: a packet holds at most 65535"))?;
            shape.lanes[axis] = groups
                .checked_mul(size)
                .ok_or_else(|| format!("{groups} workgroups of {size} threads on one axis: a packet holds at most {} threads", u32::MAX))?;
        }
        let used = shape.lanes.iter().rposition(|&lanes| lanes > 1).map_or(1, |axis| axis + 1);
        shape.dimensions = used as u16;
        Ok(shape)
    }
}

/// The block of arguments: the explicit ones, and after them what the compiler adds, if the kernel wants it.
fn arguments(context: &Arc<Context>, kernel: &Kernel, shape: &Shape, params: &Params) -> Result<Option<Kernarg>, Error> {
    let given = params.bytes();
    if given.len() > kernel.kernarg_bytes {
        let reason = format!("{} bytes of arguments, of which the kernel takes {}", given.len(), kernel.kernarg_bytes);
        return Err(fault::launch(&kernel.name, reason));
    }
    if kernel.kernarg_bytes == 0 {
        return Ok(None);
    }
    let mut block = Kernarg::new(context, kernel.kernarg_bytes)?;
    block.put(0, given);
    let hidden = given.len().next_multiple_of(8);
    if kernel.kernarg_bytes >= hidden + HIDDEN_BYTES {
        block.put(hidden, &hidden_arguments(shape));
    }
    Ok(Some(block))
}

/// Bytes of hidden arguments that are filled in; all others may be 0.
const HIDDEN_BYTES: usize = 24;

/// Group counts, group sizes and remainders (LLVM, "AMDGPU usage", code object version 5 metadata, hidden arguments).
fn hidden_arguments(shape: &Shape) -> [u8; HIDDEN_BYTES] {
    let mut bytes = [0; HIDDEN_BYTES];
    for axis in 0..3 {
        bytes[axis * 4..][..4].copy_from_slice(&shape.groups[axis].to_le_bytes());
        bytes[12 + axis * 2..][..2].copy_from_slice(&shape.group[axis].to_le_bytes());
        // Every group is whole, so that the remainders stay 0.
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(groups: [u32; 3], group_size: [u32; 3]) -> Result<Shape, String> {
        Shape::of(&Launch { groups, group_size, dynamic_shared: 0 })
    }

    #[test]
    fn a_grid_is_counted_in_lanes_and_has_the_dimensions_it_uses() {
        let one = shape([3, 1, 1], [64, 1, 1]).unwrap();
        assert_eq!(one, Shape { dimensions: 1, group: [64, 1, 1], lanes: [192, 1, 1], groups: [3, 1, 1] });
        assert_eq!(shape([1, 1, 1], [1, 8, 1]).unwrap().dimensions, 2);
        assert_eq!(shape([1, 1, 5], [4, 1, 1]).unwrap().dimensions, 3);
        assert_eq!(shape([1, 1, 1], [1, 1, 1]).unwrap().dimensions, 1);
    }

    #[test]
    fn what_a_packet_cannot_hold_is_refused() {
        assert!(shape([1 << 31, 1, 1], [2, 1, 1]).unwrap_err().contains("2147483648 workgroups of 2 threads"));
        assert!(shape([1, 1, 1], [1, 65536, 1]).unwrap_err().contains("65536 threads"));
        assert!(shape([u32::MAX, 1, 1], [1, 1, 1]).is_ok());
    }

    #[test]
    fn hidden_arguments_are_counts_then_sizes_then_remainders() {
        let bytes = hidden_arguments(&shape([2, 3, 4], [5, 6, 7]).unwrap());
        assert_eq!(bytes[..12], [2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!(bytes[12..], [5, 0, 6, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    }
}

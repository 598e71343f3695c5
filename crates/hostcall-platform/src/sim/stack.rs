//! Stacks of lanes: a slab for each wave, with a closed page below every stack. A thread that runs waves keeps its
//! slabs.

use std::num::NonZeroUsize;

use corosensei::stack::{Stack, StackPointer};

use super::arena::{Mapping, PAGE};
use crate::error::Error;

/// Stacks for the lanes of one wave.
pub(super) struct Slab {
    mapping: Mapping,
    stride: usize,
    pub(super) lanes: u32,
}

impl Slab {
    /// For no more lanes than there are: each is two maps of this process, of which the system grants some ten
    /// thousand.
    pub(super) fn new(lanes: u32, stack_bytes: usize) -> Result<Self, Error> {
        Self::mapped(lanes, stack_bytes).map_err(|error| Error::Backend {
            call: "reserving stacks",
            code: libc::ENOMEM.into(),
            text: format!(
                "{lanes} stacks of {stack_bytes} bytes for one more wave: {error}; lower the simulator's `sms` or `waves` (of a program, `--threads`), \
                 or raise the system's `vm.max_map_count`"
            ),
        })
    }

    fn mapped(lanes: u32, stack_bytes: usize) -> Result<Self, Error> {
        let stack_bytes = stack_bytes.next_multiple_of(PAGE);
        let stride = stack_bytes + PAGE;
        let mapping = Mapping::reserve(stride * lanes as usize)?;
        for lane in 0..lanes as usize {
            mapping.open(mapping.start + lane * stride + PAGE, stack_bytes)?;
        }
        Ok(Self { mapping, stride, lanes })
    }

    /// The stack of a lane. One coroutine at a time may use it, no longer than the slab lives.
    pub(super) fn stack(&self, lane: u32) -> LaneStack {
        let limit = self.mapping.start + lane as usize * self.stride;
        assert!(limit + self.stride <= self.mapping.start + self.mapping.bytes, "the slab has a stack for each lane of a wave");
        LaneStack { limit, base: limit + self.stride }
    }
}

/// One stack of a [`Slab`].
#[derive(Clone, Copy)]
pub(super) struct LaneStack {
    /// Its lowest address, where the closed page is.
    pub(super) limit: usize,
    base: usize,
}

impl LaneStack {
    /// Whether an address is in it.
    pub(super) fn contains(&self, address: usize) -> bool {
        (self.limit..self.base).contains(&address)
    }
}

fn address(n: usize) -> StackPointer {
    NonZeroUsize::new(n).expect("no mapping is at address 0")
}

// SAFETY: `Slab` keeps a closed page at `limit` and at least 32 KiB (`SimConfig::validate`) of memory up to `base`;
// both are page-aligned.
unsafe impl Stack for LaneStack {
    fn base(&self) -> StackPointer {
        address(self.base)
    }

    fn limit(&self) -> StackPointer {
        address(self.limit)
    }
}

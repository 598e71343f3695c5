//! What the heap needs of the lanes that use it.

use hostcall_abi::lanes::Lanes as _;

/// Places where lanes come together; the simulator tells them apart by address.
pub(crate) static SITES: [u8; 2] = [0, 1];

/// The lanes of a machine.
pub(crate) trait Lanes: Copy {
    /// The calling lane's number in its wave.
    fn lane(self) -> u32;
    /// The lanes that run converged with the caller at a place, the caller among them.
    fn converged(self, site: &'static u8) -> u64;
    /// Bit per lane of `mask` for which `predicate` holds.
    fn ballot(self, mask: u64, predicate: bool) -> u64;
    /// What lane `from` of `mask` passed as `value`. Groups with masks of their own may call it side by side.
    fn shuffle(self, mask: u64, value: u64, from: u32) -> u64;
    /// Orders all accesses before it against all after it, for the device's other lanes.
    fn fence(self);
    /// A number that lanes of one wave have in common and of different waves rather not.
    fn place(self) -> u32;
    /// Waits a little.
    fn pause(self, attempt: u32);
}

/// The lanes of the machine that this library was compiled for.
#[derive(Clone, Copy)]
pub(crate) struct DeviceLanes;

impl Lanes for DeviceLanes {
    #[inline(always)]
    fn lane(self) -> u32 {
        crate::context::machine().lane()
    }

    #[inline(always)]
    fn converged(self, site: &'static u8) -> u64 {
        crate::arch::current::converged_at(core::ptr::from_ref(site) as usize)
    }

    #[inline(always)]
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        crate::context::machine().ballot(mask, predicate)
    }

    #[inline(always)]
    fn shuffle(self, mask: u64, value: u64, from: u32) -> u64 {
        let machine = crate::context::machine();
        let low = machine.broadcast(mask, value as u32, from);
        let high = machine.broadcast(mask, (value >> 32) as u32, from);
        u64::from(low) | u64::from(high) << 32
    }

    #[inline(always)]
    fn fence(self) {
        crate::arch::current::fence_device();
    }

    #[inline(always)]
    fn place(self) -> u32 {
        crate::arch::current::resident_wave()
    }

    #[inline(always)]
    fn pause(self, attempt: u32) {
        crate::context::machine().pause_for_waves(attempt);
    }
}

/// The lanes of `mask` whose `key` is the caller's.
#[inline(always)]
pub(super) fn peers<L: Lanes>(lanes: L, mask: u64, key: u64) -> u64 {
    let mut left = mask;
    let mut own = 0;
    while left != 0 {
        let leader = left.trailing_zeros();
        let mine = lanes.shuffle(mask, key, leader) == key;
        let same = lanes.ballot(mask, mine);
        // All lanes go on until each is in a group, so that every collective is reached by all of `mask`.
        if mine {
            own = same;
        }
        left &= !same;
    }
    own
}

/// Position of the `n`-th set bit of `bits`, which has more than `n`.
#[inline(always)]
pub(super) fn nth_bit(bits: u64, n: u32) -> u32 {
    let first = bits.trailing_zeros();
    let run = bits >> first;
    if run & run.wrapping_add(1) == 0 {
        // The usual case: neighbouring blocks.
        return first + n;
    }
    let mut n = n;
    let mut at = 0;
    let mut width = 32;
    while width > 0 {
        let low = (bits >> at & ((1 << width) - 1)).count_ones();
        if n >= low {
            n -= low;
            at += width;
        }
        width /= 2;
    }
    at
}

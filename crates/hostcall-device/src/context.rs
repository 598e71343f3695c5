//! What the host wrote into this program: the descriptor, and the service numbers.

use crate::arch::current::Machine;
use core::cell::UnsafeCell;
use hostcall_abi::port::{Arch, Client, Group};
use hostcall_abi::{ABI_VERSION, Descriptor};

/// A static that the host writes while no kernel of the program runs, and device code only reads.
#[repr(transparent)]
pub(crate) struct HostWritten<T>(UnsafeCell<T>);

// SAFETY: lanes only read it; the host writes it between kernels.
unsafe impl<T> Sync for HostWritten<T> {}

/// The port buffer of this program. Read by plain loads, so that it stays in the first-level cache.
#[unsafe(no_mangle)]
#[used]
static __hostcall_device: HostWritten<Descriptor> = HostWritten(UnsafeCell::new(Descriptor::DETACHED));

/// The wire's version that this program was built with, for the host to compare.
#[unsafe(no_mangle)]
#[used]
static __hostcall_abi: u32 = ABI_VERSION;

/// Number of one service in this program's server: 0 until the host has patched it.
///
/// The stubs that `#[service]` makes declare one per function, under the name `__HOSTCALL__` + service.
/// A service that is registered while a kernel runs is seen by the next kernel.
#[repr(transparent)]
pub struct ServiceWord(HostWritten<u32>);

impl ServiceWord {
    /// "Nobody's".
    #[expect(clippy::new_without_default, reason = "used in statics only")]
    pub const fn new() -> Self {
        Self(HostWritten(UnsafeCell::new(0)))
    }

    /// The number.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        // SAFETY: no lane writes it. A plain load, which may be cached: the host writes between kernels, or
        // later, and then it does not matter which value a running kernel sees.
        unsafe { self.0.0.get().read() }
    }

    /// Names the service for [`crate::arch::current::converged_at`].
    #[inline(always)]
    pub(crate) fn site(&self) -> usize {
        core::ptr::from_ref(self) as usize
    }
}

/// The machine this lane runs on, with the program's port buffer.
#[inline(always)]
pub(crate) fn machine() -> Machine {
    Machine::new(__hostcall_device.0.get())
}

/// The client half of the wire on this machine.
#[inline(always)]
pub(crate) fn client() -> Client<Machine> {
    Client(machine())
}

/// The descriptor as the host wrote it.
#[inline(always)]
pub(crate) fn descriptor() -> &'static Descriptor {
    machine().descriptor()
}

/// The lanes that call `site` together with this one *and* agree on `key`. Lanes that run converged but
/// call different services, say through a function that was not inlined, become groups of their own.
#[inline(always)]
pub(crate) fn group_at(site: usize, key: u32) -> Group {
    let machine = machine();
    let mut mask = crate::arch::current::converged_at(site);
    let lane = machine.lane();
    loop {
        let leader = mask.trailing_zeros();
        let same = machine.ballot(mask, machine.broadcast(mask, u64::from(key), leader) as u32 == key);
        if same & (1 << lane) != 0 {
            return Group::new(same, lane);
        }
        mask &= !same;
    }
}

//! What the host wrote into this program: the descriptor, and the service numbers.

use crate::arch::current::{self as arch, Machine};
use core::cell::UnsafeCell;
#[cfg(not(target_vendor = "hostcall"))]
use hostcall_abi::ABI_VERSION;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Client, Group, first_lane};
use hostcall_abi::{CallError, Callee};

/// The wire's version that this program was built with, for the host to compare.
#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
#[cfg_attr(not(target_arch = "amdgpu"), used)]
// For AMD rustc 1.96 writes `llvm.used` in a form that LLVM refuses.
// Writable, as everything that the host sees: its tests pretend another version.
#[cfg_attr(not(any(target_arch = "nvptx64", target_arch = "amdgpu")), unsafe(link_section = ".data"))]
static __hostcall_abi: u32 = ABI_VERSION;

/// Number of one service in this program's server: 0 until the host has patched it.
///
/// The stubs that `#[service]` makes declare one per function, under the name `__HOSTCALL__` + service.
/// A service that is registered while a kernel runs is seen by the next kernel.
#[repr(transparent)]
pub struct ServiceWord(UnsafeCell<u32>);

// SAFETY: lanes only read it, through `arch::load_number`.
unsafe impl Sync for ServiceWord {}

impl ServiceWord {
    /// "Nobody's".
    #[expect(clippy::new_without_default, reason = "used in statics only")]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// The number.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        // SAFETY: the address of the word itself.
        unsafe { arch::load_number(self.0.get()) }
    }

    /// Names the service for `arch::converged_at`.
    #[inline(always)]
    pub(crate) fn site(&self) -> usize {
        core::ptr::from_ref(self) as usize
    }
}

/// Which service a stub calls: the one that has its name, or another that the kernel was given.
pub trait Called: Copy {
    /// The word of the stub.
    fn word(&self) -> &ServiceWord;

    /// The service's number; 0: nobody's.
    fn number(&self) -> u32;

    /// The number, if there is such a service.
    #[inline(always)]
    fn known(&self) -> Result<u32, CallError> {
        match self.number() {
            0 => Err(CallError::UnknownService),
            number => Ok(number),
        }
    }
}

impl Called for &ServiceWord {
    #[inline(always)]
    fn word(&self) -> &ServiceWord {
        self
    }

    #[inline(always)]
    fn number(&self) -> u32 {
        ServiceWord::number(self)
    }
}

/// A service that came as a value.
#[derive(Clone, Copy)]
pub struct Given {
    word: &'static ServiceWord,
    number: u32,
}

impl Given {
    /// The service `callee`, if it has the definition of the stub.
    #[inline(always)]
    pub fn new(word: &'static ServiceWord, signature: u64, callee: Callee) -> Self {
        Self { word, number: callee.number(signature) }
    }
}

impl Called for Given {
    #[inline(always)]
    fn word(&self) -> &ServiceWord {
        self.word
    }

    #[inline(always)]
    fn number(&self) -> u32 {
        self.number
    }
}

/// The machine this lane runs on, with the program's port buffer.
#[inline(always)]
pub(crate) fn machine() -> Machine {
    Machine
}

/// The client half of the wire on this machine.
#[inline(always)]
pub(crate) fn client() -> Client<Machine> {
    Client(Machine)
}

pub(crate) use arch::descriptor;

/// The lanes that call `site` together with this one *and* agree on `key`. Lanes that run converged but
/// call different services, say through a function that was not inlined, become groups of their own.
#[inline(always)]
pub(crate) fn group_at(site: usize, key: u32) -> Group {
    Group::new(agreeing(arch::converged_at(site), key), machine().lane())
}

/// The lanes of `mask` that agree with the calling one on `key`. All of them ask.
#[inline(always)]
pub(crate) fn agreeing(mask: u64, key: u32) -> u64 {
    let machine = machine();
    let same = machine.ballot(mask, machine.broadcast(mask, key, first_lane(mask)) == key);
    if same == mask { mask } else { split(mask, same, machine.lane(), key) }
}

/// Lanes of `mask` disagree on `key`; those of `same` agree with its first lane. The calling lane's own.
#[cold]
#[inline(never)]
fn split(mut mask: u64, mut same: u64, lane: u32, key: u32) -> u64 {
    let machine = machine();
    while same & (1 << lane) == 0 {
        mask &= !same;
        same = machine.ballot(mask, machine.broadcast(mask, key, first_lane(mask)) == key);
    }
    same
}

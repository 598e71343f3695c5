//! What the compiler puts into kernels that know nothing of streams: `cargo hostcall run --instrument`.
//!
//! The pass (`hostcall-build`, `probe/probe.cpp`) calls these functions by name. `what` is a kind in its lowest bits
//! and a number of the call in its highest 16, by which the simulator tells apart lanes that have parted: a place in
//! the source may have several calls.
//!
//! It is compiled with `cfg(hostcall_probe)` only, and once for a program: into the runtime of those with std.

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::{Access, AccessKind, Interval, Message, Policy, SiteHead, Space, Step, Subject};

use super::access::__HOSTCALL_STREAM__Access as ACCESS;
use super::interval::__HOSTCALL_STREAM__Interval as INTERVAL;
use super::{StreamWord, units_of, words};
use crate::arch::current as arch;
use crate::context::machine;

words!(Step, __HOSTCALL_STREAM__Step, __HOSTCALL_SCHEMA__Step);

/// Units of a message.
const fn units<M: Message>() -> usize {
    hostcall_abi::stream::message::units::<M>()
}

/// The lanes that run converged at a call.
#[inline(always)]
fn converged(site: *const SiteHead, what: u32) -> Group {
    let call = site as usize ^ (((what >> 16) as usize) << (usize::BITS - 16));
    Group::new(arch::converged_at(call), machine().lane())
}

/// Sends one value of each of the lanes.
#[inline(always)]
fn send<M: Message, const UNITS: usize>(word: &'static StreamWord, group: &Group, site: *const SiteHead, value: &M) {
    // SAFETY: the pass passes the address of a place that it has made, which lives as long as the program.
    let site = unsafe { &*site };
    if let Some(subject) = word.subject_at(Some(site), 1) {
        // Nobody looks at what became of it: the host counts.
        let _ = hostcall_abi::stream::send(machine(), group, subject, &units_of::<M, UNITS>(value));
    }
}

/// Sends the first lane's value for all of them.
#[inline(always)]
fn send_once<M: Message, const UNITS: usize>(word: &'static StreamWord, group: &Group, site: *const SiteHead, value: &M) {
    // SAFETY: as in `send`.
    let site = unsafe { &*site };
    if let Some(subject) = word.subject_at(Some(site), 1) {
        let _ = hostcall_abi::stream::send_once(machine(), group, subject, &units_of::<M, UNITS>(value));
    }
}

/// The memory of an access whose messages are wanted: none to a stack.
#[inline(always)]
fn space(address: *const u8, what: u32) -> Option<Space> {
    let space = match Space::new(u64::from(what >> 2 & 7)) {
        Space::Flat => arch::space(address),
        known => known,
    };
    (space != Space::Private && !is_stack(address)).then_some(space)
}

/// Whether an address is in a thread's stack, which in programs with std is memory like any other.
#[inline(always)]
fn is_stack(address: *const u8) -> bool {
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    {
        unsafe extern "C" {
            safe fn __hostcall_probe_is_stack(address: u64) -> u32;
        }
        __hostcall_probe_is_stack(address as u64) != 0
    }
    #[cfg(not(all(feature = "helpers", target_arch = "nvptx64")))]
    {
        let _ = address;
        false
    }
}

/// The lane is about to access memory. `what`: kind in 2 bits, space in 3, bytes in 11.
///
/// Whether anybody wants to know of it is found out with the registers that a call has for nothing. What sends needs
/// many, which it puts away first: that is a function of its own.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __hostcall_probe_access(address: *const u8, what: u32, site: *const SiteHead) {
    if !ACCESS.armed() {
        return;
    }
    let Some(space) = space(address, what) else { return };
    // SAFETY: as in `send`.
    let Some(mut subject) = ACCESS.subject_at(Some(unsafe { &*site }), 1) else { return };
    let Ok(group) = hostcall_abi::stream::wanted(machine(), &converged(site, what), &mut subject) else { return };
    let access = Access::new(address as u64, AccessKind::new(u64::from(what)), space, what >> 5 & 0x7ff);
    send_access(access, group.mask, (subject.stream, subject.site), subject.policy, subject.timed, subject.weight);
}

/// Sends an access of the lanes in `mask`, which is wanted.
#[cold]
#[inline(never)]
fn send_access(access: Access, mask: u64, (stream, site): (u32, u32), policy: Policy, timed: bool, weight: u32) {
    let subject = Subject { stream, site, policy, timed, values: 1, live: false, weight };
    let group = Group::new(mask, machine().lane());
    let _ = hostcall_abi::stream::send(machine(), &group, subject, &units_of::<_, { units::<Access>() }>(&access));
}

/// The lane is about to copy or fill `bytes` bytes: as many accesses as they are powers of two, of at most the most
/// that a message can say.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __hostcall_probe_range(address: *const u8, bytes: u64, what: u32, site: *const SiteHead) {
    if !ACCESS.armed() || bytes == 0 {
        return;
    }
    let Some(space) = space(address, what) else { return };
    let (mut at, mut left) = (address as u64, bytes);
    while left > 0 {
        let piece = (1 << left.ilog2()).min(u64::from(Access::MAX_BYTES));
        let access = Access::new(at, AccessKind::new(u64::from(what)), space, piece as u32);
        send::<_, { units::<Access>() }>(&ACCESS, &converged(site, what), site, &access);
        at += piece;
        left -= piece;
    }
}

/// The lane has come to a block.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __hostcall_probe_step(what: u32, block: u32, site: *const SiteHead) {
    if !__HOSTCALL_STREAM__Step.armed() {
        return;
    }
    let group = converged(site, what);
    let step = Step { kind: what & 0xffff, block, lanes: group.count };
    send_once::<_, { units::<Step>() }>(&__HOSTCALL_STREAM__Step, &group, site, &step);
}

/// What [`__hostcall_probe_end`] is to know of the beginning.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __hostcall_probe_begin() -> u64 {
    if INTERVAL.armed() { machine().now_ns() } else { 0 }
}

/// The lane has come through a kernel, or a barrier: `what` is the interval's label.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __hostcall_probe_end(start: u64, what: u32, site: *const SiteHead) {
    if !INTERVAL.armed() || start == 0 {
        return;
    }
    let group = converged(site, what);
    let interval = Interval { start, end: machine().now_ns(), label: what & 0xffff, detail: group.count };
    send_once::<_, { units::<Interval>() }>(&INTERVAL, &group, site, &interval);
}

/// Waits for the whole workgroup: a call that the pass finds, where a machine has no instruction for it.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn __hostcall_barrier() {
    arch::sync_group();
}

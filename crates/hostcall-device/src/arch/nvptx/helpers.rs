//! Helper lanes: the lanes beside lane 0 of a wave that runs a thread of a program with std.
//!
//! A lane that copies alone from or to the host's memory is slow, because each piece of 16 bytes crosses the bus by
//! itself. So the entry kernel of programs with std can be launched with whole waves. Lane 0 is the thread. The other
//! lanes wait at a barrier for orders. For a copy, lane 0 writes an order to shared memory, meets the others at the
//! barrier, copies with them, and meets them again.
//!
//! Helpers have no stack, because the word that says where a stack begins is the thread's (`hostcall-build`,
//! `shared_stacks`). So nothing that they run may have a variable in memory. A test checks this.

use super::{barrier_of_wave, exit_lane, fence_system, load_bulk, store_bulk};
use crate::wave;
use core::arch::asm;
use hostcall_abi::port::Arch;

/// Lanes of a wave.
const LANES: u32 = 32;
/// The fewest bytes that are worth an order.
const LEAST: u32 = 128;

/// What is to be copied, or filled with zeros.
#[derive(Clone, Copy)]
struct Order {
    to: u64,
    /// 0: from nowhere, zeros.
    from: u64,
    /// A multiple of 16; 0 sends the helpers home.
    bytes: u32,
    /// Not 0: `to` is the host's.
    to_host: u32,
}

/// Where the workgroup's order lies in shared memory, and behind it whether there are helpers.
#[inline(never)]
fn place() -> u32 {
    let address: u32;
    // SAFETY: declares 32 bytes of static shared memory and takes their address; this function is never inlined, so there is one such
    // variable in a program.
    unsafe {
        asm!("{{ .shared .align 16 .b8 hostcall_order[32];", "mov.u32 {address}, hostcall_order; }}", address = out(reg32) address, options(pure, nomem, nostack));
    }
    address
}

impl Order {
    fn give(self) {
        let Self { to, from, bytes, to_host } = self;
        // SAFETY: the order's place in shared memory, which helpers read behind the barrier only.
        unsafe {
            asm!("st.shared.v2.u64 [{place}], {{{to}, {from}}};", "st.shared.v2.u32 [{place}+16], {{{bytes}, {to_host}}};",
                place = in(reg32) place(), to = in(reg64) to, from = in(reg64) from, bytes = in(reg32) bytes, to_host = in(reg32) to_host, options(nostack));
        }
        barrier_of_wave();
    }

    /// The order that was given before the last barrier.
    fn read() -> Self {
        let (to, from, bytes, to_host);
        // SAFETY: as in `give`; lane 0 writes the next one behind another barrier.
        unsafe {
            asm!("ld.shared.v2.u64 {{{to}, {from}}}, [{place}];", "ld.shared.v2.u32 {{{bytes}, {to_host}}}, [{place}+16];",
                place = in(reg32) place(), to = out(reg64) to, from = out(reg64) from, bytes = out(reg32) bytes, to_host = out(reg32) to_host,
                options(readonly, nostack));
        }
        Self { to, from, bytes, to_host }
    }
}

/// Says whether the workgroup has helpers: every lane that begins, each the same.
pub(crate) fn set_present(present: bool) {
    // SAFETY: the word behind the order.
    unsafe {
        asm!("st.shared.u32 [{place}+24], {present};", place = in(reg32) place(), present = in(reg32) u32::from(present), options(nostack))
    };
}

fn are_present() -> bool {
    let present: u32;
    // SAFETY: the word behind the order, which every lane has set as it began.
    unsafe {
        asm!("ld.shared.u32 {present}, [{place}+24];", place = in(reg32) place(), present = out(reg32) present, options(readonly, nostack))
    };
    present != 0
}

/// Begins a wave of the entry kernel, before any lane has a stack: returns on the lane that is a thread. The others help it, if they are
/// a whole wave, until it ends.
pub(crate) fn begin() {
    set_present(wave::group_size() == [LANES, 1, 1]);
    if wave::local_index() != 0 {
        while are_present() {
            barrier_of_wave();
            if Order::read().bytes == 0 {
                break;
            }
            work();
            barrier_of_wave();
        }
        exit_lane();
    }
}

/// Sends the helpers home, if there are any: the calling thread is the last of its wave.
pub(crate) fn dismiss() {
    if are_present() {
        Order { to: 0, from: 0, bytes: 0, to_host: 0 }.give();
    }
}

/// Copies what helpers can of `bytes` bytes, together with them: how many from the start.
///
/// # Safety
/// As for a copy by the calling lane alone. Neither address is in its own memory.
pub(crate) unsafe fn copy(to: u64, from: u64, bytes: u32, to_host: bool) -> u32 {
    if bytes < LEAST || !are_present() {
        return 0;
    }
    let whole = bytes & !15;
    Order { to, from, bytes: whole, to_host: to_host.into() }.give();
    work();
    barrier_of_wave();
    whole
}

/// Fills what helpers can of `bytes` bytes with zeros, together with them: how many from the start.
///
/// # Safety
/// `to` is valid for writes of so many bytes, and not in the calling lane's own memory.
pub(crate) unsafe fn zero(to: u64, bytes: u32) -> u32 {
    // SAFETY: the caller's; nothing is read.
    unsafe { copy(to, 0, bytes, false) }
}

/// A lane's part of the order, neighbours next to each other.
#[inline(never)]
fn work() {
    let order = Order::read();
    let ends = order.to | order.from;
    if order.from == 0 {
        // SAFETY: `to` is valid for the order's bytes, as whoever gave it says. An aligned multiple of what is stored at once, as below.
        unsafe {
            if order.to.is_multiple_of(16) {
                strided::<[u32; 4]>(order, |_| [0; 4], |to, piece| store_bulk(to, piece));
            } else {
                strided::<u8>(order, |_| 0, |to, byte| to.write_volatile(byte));
            }
        }
        return;
    }
    // SAFETY: both are valid for the order's bytes, as whoever gave it says, and multiples of what is copied at once. All accesses are volatile, or of
    // inline assembly: neither side is in this program's memory alone.
    unsafe {
        if ends.is_multiple_of(16) {
            strided::<[u32; 4]>(order, |from| load_bulk(from), |to, piece| store_bulk(to, piece));
        } else if ends.is_multiple_of(4) {
            strided::<u32>(order, |from| from.read_volatile(), |to, unit| to.write_volatile(unit));
        } else {
            strided::<u8>(order, |from| from.read_volatile(), |to, byte| to.write_volatile(byte));
        }
    }
    if order.to_host != 0 {
        // What this lane wrote is the host's before the message is that announces it.
        fence_system();
    }
}

/// Loads four before it waits for the first: each may be a round trip over the bus.
///
/// # Safety
/// `load` and `store` may be used for every `T` of the order's bytes, a whole number of them, and both ends are aligned for `T`.
#[inline(always)]
unsafe fn strided<T: Copy>(order: Order, load: impl Fn(*const T) -> T, store: impl Fn(*mut T, T)) {
    let size = size_of::<T>() as u32;
    let stride = LANES * size;
    let mut at = super::Machine.lane() * size;
    let from = |at: u32| (order.from + u64::from(at)) as *const T;
    let to = |at: u32| (order.to + u64::from(at)) as *mut T;
    while at + 3 * stride < order.bytes {
        let (a, b, c, d) = (load(from(at)), load(from(at + stride)), load(from(at + 2 * stride)), load(from(at + 3 * stride)));
        store(to(at), a);
        store(to(at + stride), b);
        store(to(at + 2 * stride), c);
        store(to(at + 3 * stride), d);
        at += 4 * stride;
    }
    while at < order.bytes {
        store(to(at), load(from(at)));
        at += stride;
    }
}

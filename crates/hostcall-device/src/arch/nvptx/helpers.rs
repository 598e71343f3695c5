//! Helper lanes: the lanes beside lane 0 of a wave that runs a thread of a program with std.
//!
//! A lane that copies alone is slow, because each piece of 16 bytes goes to memory and back by itself, over the bus if
//! the memory is the host's. So the entry kernel of programs with std can be launched with whole waves. Lane 0 is the
//! thread. The other lanes wait at a barrier for orders. For a copy, lane 0 writes an order to shared memory, meets
//! the others at the barrier, copies with them, and meets them again.
//!
//! Helpers have no stack, because the word that says where a stack begins is the thread's (`hostcall-build`,
//! `shared_stacks`). So nothing that they run may have a variable in memory. A test checks this.
//!
//! What they do have is memory of their own for return addresses and saved registers. When lane 0's is full of calls,
//! it has lane 1 run what comes next, on the thread's stack, and becomes a helper until that has returned; lane 1 goes
//! on in lane 2's, and so on (`hostcall-build`, `shared_stacks/further.rs`). One lane at a time is the thread.

use super::plain::{load, load_byte, load_piece, store, store_byte, store_piece};
use super::{barrier_of_wave, copy_lane_word, exit_lane, fence_system, is_global, lane_word_place, load_bulk, store_bulk};
use crate::pieces::{Cut, Share, WIDEST, apart, forwards};
use crate::wave;
use core::arch::asm;
use hostcall_abi::lanes::Lanes;

/// Lanes of a wave.
const LANES: u32 = 32;
/// The fewest bytes that are worth an order, where one end is the host's.
const LEAST: u32 = 128;
/// And where none is.
const LEAST_HERE: u32 = 256;

/// What is to be done: copies and fills by all lanes together, the rest by one.
#[derive(Clone, Copy)]
struct Order {
    /// Of a call: the function.
    to: u64,
    /// Of a fill: what with, four bytes. Of a call: what it is given.
    from: u64,
    /// A multiple of 16. Of what is for one lane: which.
    bytes: u32,
    kind: u32,
}

/// A copy with an end in the host's memory, from there.
const FROM_HOST: u32 = 0;
/// As that, and to there.
const TO_HOST: u32 = 1;
/// A fill.
const FILL: u32 = 2;
/// The lane calls a function, and is the thread until that returns.
const CALL: u32 = 3;
/// The function has returned that the lane before had called: that lane is the thread again.
const RETURN: u32 = 4;
/// The thread has ended.
const END: u32 = 5;

/// Where the workgroup's order lies in shared memory, and behind it whether there are helpers.
#[inline(never)]
fn place() -> u32 {
    let address: u32;
    // SAFETY: declares 32 bytes of static shared memory and takes their address; this function is never inlined, so
    // there is one such variable in a program.
    unsafe {
        asm!("{{ .shared .align 16 .b8 hostcall_order[32];", "mov.u32 {address}, hostcall_order; }}", address = out(reg32) address, options(pure, nomem, nostack));
    }
    address
}

impl Order {
    fn give(self) {
        let Self { to, from, bytes, kind } = self;
        // SAFETY: the order's place in shared memory, which helpers read behind the barrier only.
        unsafe {
            asm!("st.shared.v2.u64 [{place}], {{{to}, {from}}};", "st.shared.v2.u32 [{place}+16], {{{bytes}, {kind}}};",
                place = in(reg32) place(), to = in(reg64) to, from = in(reg64) from, bytes = in(reg32) bytes, kind = in(reg32) kind, options(nostack));
        }
        barrier_of_wave();
    }

    /// The order that was given before the last barrier.
    fn read() -> Self {
        let (to, from, bytes, kind);
        // SAFETY: as in `give`; lane 0 writes the next one behind another barrier.
        unsafe {
            asm!("ld.shared.v2.u64 {{{to}, {from}}}, [{place}];", "ld.shared.v2.u32 {{{bytes}, {kind}}}, [{place}+16];",
                place = in(reg32) place(), to = out(reg64) to, from = out(reg64) from, bytes = out(reg32) bytes, kind = out(reg32) kind,
                options(readonly, nostack));
        }
        Self { to, from, bytes, kind }
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

/// Begins a wave of the entry kernel, before any lane has a stack: returns on the lane that is a thread. The others
/// help it, if they are a whole wave, until it ends.
pub(crate) fn begin() {
    set_present(wave::group_size() == [LANES, 1, 1]);
    if wave::local_index() != 0 {
        if are_present() {
            help();
        }
        exit_lane();
    }
}

/// Does what orders say, until what the calling lane has called on the next one has returned; ends the lane if the
/// thread ends.
#[inline(never)]
fn help() {
    let lane = super::Machine.lane();
    loop {
        barrier_of_wave();
        let Order { to, from, bytes, kind } = Order::read();
        if kind == END {
            exit_lane();
        }
        if kind < CALL {
            work();
        }
        barrier_of_wave();
        if kind >= CALL && bytes == lane {
            if kind == RETURN {
                return;
            }
            // SAFETY: the address of such a function, which `go_on` gave with what it takes.
            unsafe { core::mem::transmute::<u64, unsafe extern "C" fn(*mut u8)>(to)(from as *mut u8) };
            Order { to: 0, from: 0, bytes: lane - 1, kind: RETURN }.give();
            barrier_of_wave();
        }
    }
}

/// Calls `function(argument)` on the next lane, and waits for its return; `false` if there is no such lane.
///
/// # Safety
/// As for the call, on another lane of the wave.
pub(crate) unsafe fn go_on(function: unsafe extern "C" fn(*mut u8), argument: *mut u8) -> bool {
    let lane = super::Machine.lane();
    if !are_present() || lane + 1 == LANES {
        return false;
    }
    let place = lane_word_place();
    let next = place + 4;
    // SAFETY: the next lane waits for orders.
    unsafe { copy_lane_word(place, next) };
    Order { to: function as usize as u64, from: argument as u64, bytes: lane + 1, kind: CALL }.give();
    barrier_of_wave();
    help();
    // SAFETY: this lane's own.
    unsafe { copy_lane_word(next, place) };
    true
}

/// Sends the helpers home, if there are any: the calling thread is the last of its wave.
pub(crate) fn dismiss() {
    if are_present() {
        Order { to: 0, from: 0, bytes: 0, kind: END }.give();
    }
}

/// Gives the order, if there are helpers, and does the caller's share of it; whether there are.
fn share(order: Order) -> bool {
    if !are_present() {
        return false;
    }
    order.give();
    work();
    barrier_of_wave();
    true
}

/// Copies what helpers can of `bytes` bytes, together with them: how many from the start.
///
/// # Safety
/// As for a copy by the calling lane alone. Neither address is in its own memory.
pub(crate) unsafe fn copy(to: u64, from: u64, bytes: u32, to_host: bool) -> u32 {
    let whole = bytes & !(WIDEST - 1);
    let kind = if to_host { TO_HOST } else { FROM_HOST };
    if bytes >= LEAST && share(Order { to, from, bytes: whole, kind }) { whole } else { 0 }
}

/// A lane's part of the order, neighbours next to each other.
#[inline(never)]
fn work() {
    let Order { to, from, bytes, kind } = Order::read();
    let share = Share { lane: super::Machine.lane(), lanes: LANES };
    // SAFETY: `to` is valid for the order's bytes, and `from` of a copy, as whoever gave it says; the pieces are as
    // wide as both are aligned. All accesses are volatile, or of inline assembly: the host's memory is not in this
    // program's hands alone.
    unsafe {
        if kind == FILL {
            let four = from as u32;
            if to.is_multiple_of(16) {
                share.each(16, bytes, |_| [four; 4], |at, piece| store_bulk((to + u64::from(at)) as *mut _, piece));
            } else {
                share.each(1, bytes, |_| four as u8, |at, byte| store_byte(to + u64::from(at), byte));
            }
        } else if (to | from).is_multiple_of(16) {
            let load = |at: u32| load_bulk((from + u64::from(at)) as *const _);
            share.each(16, bytes, load, |at, piece| store_bulk((to + u64::from(at)) as *mut _, piece));
        } else if (to | from).is_multiple_of(4) {
            let load = |at: u32| ((from + u64::from(at)) as *const u32).read_volatile();
            share.each(4, bytes, load, |at, unit| ((to + u64::from(at)) as *mut u32).write_volatile(unit));
        } else {
            let load = |at: u32| ((from + u64::from(at)) as *const u8).read_volatile();
            share.each(1, bytes, load, |at, byte| ((to + u64::from(at)) as *mut u8).write_volatile(byte));
        }
    }
    if kind == TO_HOST {
        // What this lane wrote is the host's before the message is that announces it.
        fence_system();
    }
}

/// The most bytes of one round: what an order's numbers can hold.
const ROUND: u64 = 1 << 30;

/// `memcpy` and, where the ends overlap, `memmove`: by helpers what is long enough for an order, the rest alone.
///
/// # Safety
/// `from` is valid for reads of `bytes` bytes, and `to` for writes.
pub(crate) unsafe fn move_all(to: u64, from: u64, bytes: u64) {
    let mut done = 0;
    if to == from {
        return;
    }
    if !forwards(to, from, bytes) {
        // From the last byte to the first: what is stored next is loaded already.
        while done < bytes {
            let count = (bytes - done).min(ROUND);
            let last = bytes - done - 1;
            // SAFETY: below `bytes`.
            unsafe {
                Share::ALL.each(
                    1,
                    count as u32,
                    |at| load_byte(from + last - u64::from(at)),
                    |at, byte| store_byte(to + last - u64::from(at), byte),
                );
            }
            done += count;
        }
        return;
    }
    let alone = !apart(to, from, bytes) || !is_global(to) || !is_global(from);
    while done < bytes {
        let count = (bytes - done).min(ROUND) as u32;
        // SAFETY: the caller's.
        unsafe { move_round(to + done, from + done, count, alone) };
        done += u64::from(count);
    }
}

/// # Safety
/// As [`move_all`], forwards.
unsafe fn move_round(to: u64, from: u64, bytes: u32, alone: bool) {
    let Cut { head, piece, body } = Cut::of(to, from, bytes);
    let one = |start: u32, count: u32| {
        let (to, from) = (to + u64::from(start), from + u64::from(start));
        // SAFETY: the caller's.
        unsafe { Share::ALL.each(1, count, |at| load_byte(from + u64::from(at)), |at, byte| store_byte(to + u64::from(at), byte)) };
    };
    one(0, head);
    let (inner_to, inner_from) = (to + u64::from(head), from + u64::from(head));
    let shared = !alone && body >= LEAST_HERE && share(Order { to: inner_to, from: inner_from, bytes: body, kind: FROM_HOST });
    if !shared {
        // SAFETY: the caller's; both ends are aligned for the piece.
        unsafe {
            match piece {
                16 => Share::ALL.each(
                    16,
                    body,
                    |at| load_piece(inner_from + u64::from(at)),
                    |at, value| store_piece(inner_to + u64::from(at), value),
                ),
                4 => Share::ALL.each(4, body, |at| load(inner_from + u64::from(at)), |at, value| store(inner_to + u64::from(at), value)),
                _ => one(head, body),
            }
        }
    }
    one(head + body, bytes - head - body);
}

/// `memset`: by helpers what is long enough for an order, the rest alone.
///
/// # Safety
/// `to` is valid for writes of `bytes` bytes.
pub(crate) unsafe fn fill_all(to: u64, byte: u8, bytes: u64) {
    let four = u32::from(byte) * 0x0101_0101;
    let alone = !is_global(to);
    let mut done = 0;
    while done < bytes {
        let count = (bytes - done).min(ROUND) as u32;
        let to = to + done;
        let Cut { head, body, .. } = Cut::of(to, to, count);
        let one = |start: u32, count: u32| {
            let to = to + u64::from(start);
            // SAFETY: the caller's.
            unsafe { Share::ALL.each(1, count, |_| byte, |at, byte| store_byte(to + u64::from(at), byte)) };
        };
        one(0, head);
        let inner = to + u64::from(head);
        let shared = !alone && body >= LEAST_HERE && share(Order { to: inner, from: four.into(), bytes: body, kind: FILL });
        if !shared {
            // SAFETY: the caller's; aligned.
            unsafe { Share::ALL.each(16, body, |_| [four; 4], |at, value| store_piece(inner + u64::from(at), value)) };
        }
        one(head + body, count - head - body);
        done += u64::from(count);
    }
}

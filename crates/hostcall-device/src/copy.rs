//! Copies between device memory and a staging slot, by all lanes of a group together.
//!
//! A lane's part of a slot begins at a multiple of 4. If it begins at a multiple of 16, the lanes copy pieces of 16
//! bytes, neighbours next to each other, so that the bus sees whole lines. Otherwise they copy units of 4. Of the
//! staged path, only this module is compiled for speed.

use crate::arch::current as arch;
use crate::context::{descriptor, machine};
use hostcall_abi::codec::padded;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From device memory to staging.
    In,
    /// From staging to device memory.
    Out,
}

/// Moves whole blocks of 16-byte pieces: a lane loads all of a block before it waits for the first, because a piece
/// from the host is a round trip over the bus. A macro, so that no loop over them, and no array in memory, is left.
macro_rules! blocks {
    ($at:ident, $stride:ident, $len:ident, |$from:ident| $load:expr, |$to:ident, $piece:ident| $store:expr; $($i:tt)*) => {
        while $at + $stride * 3 + 16 <= $len {
            let pieces = ($({
                let $from = $at as usize + ($stride * $i) as usize;
                $load
            },)*);
            $({
                let ($to, $piece) = ($at as usize + ($stride * $i) as usize, pieces.$i);
                $store;
            })*
            $at += $stride * 4;
        }
    };
}

/// 16 bytes that are moved at once.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Piece([u32; 4]);

/// Value of lane `from`.
fn broadcast64(mask: u64, value: u64, from: u32) -> u64 {
    let machine = machine();
    let low = machine.broadcast(mask, value as u32, from);
    let high = machine.broadcast(mask, (value >> 32) as u32, from);
    u64::from(low) | u64::from(high) << 32
}

/// For each lane of `whose` in turn: copies the `len` bytes at its `address` to or from its `place` in the staging
/// area. All lanes of `mask` take part, those that are not among `whose` with nothing of their own.
///
/// Bytes on a lane's own stack are memory that no other lane can reach, whatever its address: that lane copies them
/// alone.
///
/// # Safety
/// `address` is valid for `len` bytes, to be read or written as `way` says, by every lane of the wave unless it is on
/// the caller's stack; `place` is a multiple of 4, and `len` bytes from there, rounded up to 16, are the caller's in a
/// slot that the group holds. All of that where the caller is among `whose`, which are lanes of `mask`.
#[inline(never)]
pub(crate) unsafe fn each_lane(mask: u64, whose: u64, way: Way, place: u64, address: u64, len: u32) {
    let machine = machine();
    let me = machine.lane();
    let all = Group::new(mask, me);
    let mut lanes = whose;
    while lanes != 0 {
        let lane = lanes.trailing_zeros();
        lanes &= lanes - 1;
        let at = descriptor().staging + broadcast64(mask, place, lane);
        let address = broadcast64(mask, address, lane);
        let len = machine.broadcast(mask, len, lane);
        let alone = machine.ballot(mask, me == lane && arch::is_private(address as *const u8)) != 0;
        if !alone || me == lane {
            let group = if alone { Group::new(1 << lane, lane) } else { all };
            // SAFETY: the caller's; a private address is used by the lane whose it is.
            unsafe {
                let done = match way {
                    _ if group.count != 1 || alone => 0,
                    Way::In => by_helpers(at, address, len, true),
                    Way::Out => by_helpers(address, at, len, false),
                };
                let (at, address, len) = (at + u64::from(done), address + u64::from(done), len - done);
                match way {
                    Way::In => copy_in(&group, at as *mut u8, address as *const u8, len),
                    Way::Out => copy_out(&group, address as *mut u8, at as *const u8, len),
                }
            }
        }
    }
}

/// Copies as much of `len` bytes, from the start, as lanes that otherwise only wait can copy with this one; how many
/// bytes that are. `to_host`: `to` is a place in staging. In a program of the simulator the processor's own copy is
/// faster than pieces, and copies all.
///
/// # Safety
/// As for a copy by the calling lane, which is alone; neither address is in its own memory.
#[inline(always)]
pub(crate) unsafe fn by_helpers(to: u64, from: u64, len: u32, to_host: bool) -> u32 {
    #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
    // SAFETY: the caller's.
    unsafe {
        arch::helpers::copy(to, from, len, to_host)
    }
    #[cfg(all(target_vendor = "hostcall", any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: the caller's; a place in staging is no memory of the program's, so the two do not overlap.
    unsafe {
        let _ = to_host;
        core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, len as usize);
        len
    }
    #[cfg(not(any(
        all(feature = "helpers", target_arch = "nvptx64"),
        all(target_vendor = "hostcall", any(target_arch = "x86_64", target_arch = "aarch64"))
    )))]
    {
        let _ = (to, from, len, to_host);
        0
    }
}

/// Copies a block of the heap into another, with the lanes that otherwise only wait if there are any.
///
/// # Safety
/// Both are valid for `len` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn move_block(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's.
    unsafe {
        #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
        arch::helpers::move_all(to as u64, from as u64, len as u64);
        #[cfg(not(all(feature = "helpers", target_arch = "nvptx64")))]
        core::ptr::copy_nonoverlapping(from, to, len);
    }
}

/// Fills a block of the heap with zeros, as [`move_block`].
///
/// # Safety
/// `to` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_block(to: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe {
        #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
        arch::helpers::fill_all(to as u64, 0, len as u64);
        #[cfg(not(all(feature = "helpers", target_arch = "nvptx64")))]
        to.write_bytes(0, len);
    }
}

/// # Safety
/// As [`each_lane`]: `to` is a place in staging, `from` readable by the lanes of the group.
#[inline(always)]
unsafe fn copy_in(group: &Group, to: *mut u8, from: *const u8, len: u32) {
    if !(to as usize).is_multiple_of(16) {
        let mut at = group.rank * 4;
        while at < len {
            let mut unit = [0u8; 4];
            // SAFETY: at most 4 bytes from `at`, all below `len`; the region is padded to whole units.
            unsafe {
                tail(unit.as_mut_ptr(), from.add(at as usize), (len - at).min(4));
                to.add(at as usize).cast::<u32>().write_volatile(u32::from_ne_bytes(unit));
            }
            at += group.count * 4;
        }
        return;
    }
    let stride = group.count * 16;
    let mut at = group.rank * 16;
    if (from as usize).is_multiple_of(16) {
        blocks!(at, stride, len,
            |at| {
                // SAFETY: below `len` by the loop's condition, aligned because `from` and `at` are.
                unsafe { from.add(at).cast::<Piece>().read() }
            },
            |at, piece| {
                // SAFETY: within the region, whose start is 16-byte aligned.
                unsafe { arch::store_bulk(to.add(at).cast(), piece.0) }
            };
            0 1 2 3);
    }
    while at < len {
        let mut piece = [0u32; 4];
        // SAFETY: at most 16 bytes from `at`, all below `len`; the region is rounded up to whole pieces.
        unsafe {
            tail(piece.as_mut_ptr().cast(), from.add(at as usize), (len - at).min(16));
            arch::store_bulk(to.add(at as usize).cast(), piece);
        }
        at += stride;
    }
    // The next part may begin inside this one's last piece: order the writes.
    machine().sync(group.mask);
}

/// # Safety
/// As [`each_lane`]: `from` is a place in staging, `to` writable by the lanes of the group.
#[inline(always)]
unsafe fn copy_out(group: &Group, to: *mut u8, from: *const u8, len: u32) {
    if !(from as usize).is_multiple_of(16) {
        let mut at = group.rank * 4;
        while at < len {
            // SAFETY: at most 4 bytes from `at`, all below `len`; the region is padded to whole units. Volatile: see
            // `load_bulk`.
            unsafe {
                let unit = from.add(at as usize).cast::<u32>().read_volatile().to_ne_bytes();
                tail(to.add(at as usize), unit.as_ptr(), (len - at).min(4));
            }
            at += group.count * 4;
        }
        return;
    }
    let stride = group.count * 16;
    let mut at = group.rank * 16;
    if (to as usize).is_multiple_of(16) {
        blocks!(at, stride, len,
            |at| {
                // SAFETY: within the region, aligned.
                unsafe { Piece(arch::load_bulk(from.add(at).cast())) }
            },
            |at, piece| {
                // SAFETY: below `len` by the loop's condition, aligned because `to` and `at` are.
                unsafe { to.add(at).cast::<Piece>().write(piece) }
            };
            0 1 2 3);
    }
    while at < len {
        // SAFETY: within the region, which is rounded up to whole pieces; at most 16 bytes from `at`, all below `len`.
        unsafe {
            let piece = arch::load_bulk(from.add(at as usize).cast());
            tail(to.add(at as usize), piece.as_ptr().cast(), (len - at).min(16));
        }
        at += stride;
    }
}

/// Copies the few bytes that are no whole piece. One function for all of them: inlined, each would be a loop of its
/// own.
///
/// # Safety
/// Both are valid for `len` bytes and do not overlap.
#[inline(never)]
unsafe fn tail(to: *mut u8, from: *const u8, len: u32) {
    // SAFETY: the caller's.
    unsafe { core::ptr::copy_nonoverlapping(from, to, len as usize) };
}

/// Where the next part of a lane's region begins behind one of `len` bytes.
#[inline(always)]
pub(crate) fn behind(place: u64, len: usize) -> u64 {
    place + u64::from(padded(len as u32))
}

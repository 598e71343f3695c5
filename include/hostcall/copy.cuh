// Copies between device memory and a staging slot, by all lanes of a group together: `hostcall-device`'s `copy`.
//
// A lane's part of a slot begins at a multiple of 4. If it begins at a multiple of 16, the lanes copy pieces of 16
// bytes, neighbours next to each other, so that the bus sees whole lines. Otherwise they copy units of 4.
#pragma once

namespace hostcall {
namespace wire {

/// Copies the few bytes that are no whole piece. One function for all of them: inlined, each would be a loop of its
/// own.
HC_NOINLINE inline void copy_tail(u8* to, const u8* from, u32 len) {
    HC_NO_UNROLL
    for (u32 i = 0; i < len; i++) to[i] = from[i];
}

HC_DEVICE_INLINE u32 least(u32 a, u32 b) { return a < b ? a : b; }

/// The unit that begins with these bytes, of which there are `len`, and goes on with zeros.
HC_NOINLINE inline u32 unit_from(const u8* from, u32 len) {
    // Where it is one in memory, too, it is one load, and not four that wait for each other.
    if (len >= 4 && (u64)from % 4 == 0) return *(const u32*)from;
    u32 unit = 0;
    copy_tail((u8*)&unit, from, least(len, 4));
    return unit;
}

HC_DEVICE_INLINE bool is_aligned(u64 address) { return address % 16 == 0; }

/// Copies `len` bytes from device memory to a place in staging that is rounded up to 16 bytes.
HC_DEVICE_INLINE void copy_in(const lanes& all, u64 to, u64 from, u32 len) {
    if (!is_aligned(to)) {
        HC_NO_UNROLL
        for (u32 at = all.rank * 4; at < len; at += all.count * 4) {
            *(volatile u32*)(to + at) = unit_from((const u8*)(from + at), len - at);
        }
        return;
    }
    const u32 stride = all.count * 16;
    u32 at = all.rank * 16;
    if (is_aligned(from)) {
        // A lane loads all of a block before it stores the first.
        HC_NO_UNROLL
        for (; at + stride * 3 + 16 <= len; at += stride * 4) {
            word pieces[4];
            HC_UNROLL
            for (u32 i = 0; i < 4; i++) pieces[i] = *(const word*)(from + at + stride * i);
            HC_UNROLL
            for (u32 i = 0; i < 4; i++) machine::store_bulk(to + at + stride * i, pieces[i]);
        }
    }
    HC_NO_UNROLL
    for (; at < len; at += stride) {
        word piece = {};
        copy_tail((u8*)&piece, (const u8*)(from + at), least(len - at, 16));
        machine::store_bulk(to + at, piece);
    }
    // The next part may begin inside this one's last piece: order the writes.
    machine::sync(all.mask);
}

/// Copies `len` bytes from a place in staging to device memory.
HC_DEVICE_INLINE void copy_out(const lanes& all, u64 to, u64 from, u32 len) {
    if (!is_aligned(from)) {
        HC_NO_UNROLL
        for (u32 at = all.rank * 4; at < len; at += all.count * 4) {
            // Volatile: see `load_bulk`.
            const u32 unit = *(const volatile u32*)(from + at);
            copy_tail((u8*)(to + at), (const u8*)&unit, least(len - at, 4));
        }
        return;
    }
    const u32 stride = all.count * 16;
    u32 at = all.rank * 16;
    if (is_aligned(to)) {
        HC_NO_UNROLL
        for (; at + stride * 3 + 16 <= len; at += stride * 4) {
            word pieces[4];
            HC_UNROLL
            for (u32 i = 0; i < 4; i++) pieces[i] = machine::load_bulk(from + at + stride * i);
            HC_UNROLL
            for (u32 i = 0; i < 4; i++) *(word*)(to + at + stride * i) = pieces[i];
        }
    }
    HC_NO_UNROLL
    for (; at < len; at += stride) {
        const word piece = machine::load_bulk(from + at);
        copy_tail((u8*)(to + at), (const u8*)&piece, least(len - at, 16));
    }
}

/// Value of lane `from`.
HC_DEVICE_INLINE u64 broadcast64(machine::mask mask, u64 value, u32 from) {
    const u32 low = machine::broadcast(mask, (u32)value, from), high = machine::broadcast(mask, (u32)(value >> 32), from);
    return low | (u64)high << 32;
}

/// For each lane of `whose` in turn: copies the `len` bytes at its `address` to (`in`) or from its `place` in the
/// staging area. All lanes of `mask`, of which those are, take part.
///
/// Bytes on a lane's own stack are memory that no other lane can reach, whatever its address: that lane copies them
/// alone.
HC_NOINLINE inline void copy_each_lane(machine::mask mask, machine::mask whose, bool in, u64 place, u64 address, u32 len) {
    const u32 me = machine::lane();
    const lanes all = lanes::make(mask, me);
    HC_NO_UNROLL
    for (machine::mask rest = whose; rest != 0; rest &= rest - 1) {
        const u32 lane = machine::first_lane(rest);
        const u64 staged = machine::descriptor().staging + broadcast64(mask, place, lane);
        const u64 there = broadcast64(mask, address, lane);
        const u32 bytes = machine::broadcast(mask, len, lane);
        const bool alone = machine::ballot(mask, me == lane && machine::is_private(there)) != 0;
        if (!alone || me == lane) {
            const lanes group = alone ? lanes::make((machine::mask)((machine::mask)1 << lane), lane) : all;
            if (in) {
                copy_in(group, staged, there, bytes);
            } else {
                copy_out(group, there, staged, bytes);
            }
        }
    }
}

}  // namespace wire
}  // namespace hostcall

// Calls with strings and slices: inside the message if they fit, else through a staging slot. `hostcall-device`'s
// `staging`.
//
// A staging slot is a block of pinned host memory that a group of lanes owns for one call. Each lane has a region of
// it. The lanes copy together. A system fence before the message makes the bytes visible before the words that announce
// them.
//
// These functions are no templates: a program has one copy of each. They pass each other masks and an `outcome`, which
// are numbers.
#pragma once

namespace hostcall {
namespace wire {

/// The bytes of one string or slice.
struct part {
    u8* data;
    u64 len;
};

/// Words of a reply that are asked for at once: each look over the bus takes as long as one.
constexpr u32 ahead = 4;
/// "No slot" among slot numbers.
constexpr u32 no_slot = ~0u;

/// The largest `value` among the group's lanes.
HC_NOINLINE inline u32 group_max(machine::mask mask, u32 value) {
    u32 max = 0;
    for (machine::mask lanes = mask; lanes != 0;) {
        const u32 other = machine::broadcast(mask, value, machine::first_lane(lanes));
        max = other > max ? other : max;
        // Usually all agree, or the rest is smaller.
        lanes &= machine::ballot(mask, value > max);
    }
    return max;
}

/// Takes a staging slot for the group; `no_slot` if the buffer is closed, or has none.
HC_NOINLINE inline u32 take_slot(machine::mask mask) {
    const lanes group = lanes::make(mask, machine::lane());
    const u32 slots = machine::descriptor().slots;
    u32 taken = no_slot;
    if (group.leads() && slots != 0) {
        const u32 first = machine::first_port() % slots;
        u32 slot = first, attempt = 0;
        // Known to be closed: no slot comes free that would be of use, and looking at all of them takes time.
        while (machine::known_closed() == 0) {
            if (machine::lock_slot(slot) == 0) {
                taken = slot;
                break;
            }
            slot = slot + 1 == slots ? 0 : slot + 1;
            if (slot == first) {
                // All are held, each by a call that the server will answer, or whose lanes learn that it is closed.
                attempt++;
                machine::pause_for_waves(attempt);
            }
        }
    }
    return machine::broadcast(mask, taken, group.leader);
}

/// Gives a slot back.
HC_DEVICE_INLINE void release_slot(machine::mask mask, u32 slot) {
    const lanes group = lanes::make(mask, machine::lane());
    machine::sync(mask);
    if (group.leads()) machine::unlock_slot(slot);
}

/// One lane's reply, read unit by unit.
struct incoming {
    const lanes& group;
    const held& port;
    /// Units that are left, words of the whole reply, and how many of them have been read.
    u32 left, words, read;
    /// The last that were read, the next in front.
    word next_words[ahead];
    word current;
    /// Halves of units consumed, the head's among them.
    u32 at;
    outcome end;

    HC_METHOD incoming(const lanes& group, const held& port, const reply<1>& first)
        : group(group), port(port), read(1), next_words{}, current(first.words[0]), at(2), end(outcome::make(first.status, first.unit(0))) {
        left = end.ok() ? first.dwords : 0;
        words = wire::reply_words(left);
    }

    /// The next unit; 0 where there is none, which `end` then says.
    HC_METHOD u32 next() {
        if (left == 0) {
            if (end.ok()) end = outcome::make(HOSTCALL_STATUS_MALFORMED, 0);
            return 0;
        }
        left--;
        const u32 low = half();
        return low | half() << 16;
    }

    /// Reads on as far as `count` units reach.
    HC_NOINLINE void fill(u32* to, u32 count) {
        HC_NO_UNROLL
        for (u32 i = 0; i < count; i++) to[i] = next();
    }
    HC_NOINLINE void fill_bytes(u8* to, u32 len) {
        HC_NO_UNROLL
        for (u32 i = 0; i < len; i += 4) {
            const u32 unit = next();
            copy_tail(to + i, (const u8*)&unit, least(len - i, 4));
        }
    }

private:
    /// The next half of a unit, of which a word has seven.
    HC_METHOD u32 half() {
        const u32 in_word = at % word_halves;
        if (in_word == 0) next_word(at / word_halves);
        at++;
        // No index, which would put the word into memory.
        const u32 unit = in_word < 2 ? current.at[0] : in_word < 4 ? current.at[1] : in_word < 6 ? current.at[2] : current.at[3];
        return unit >> (in_word % 2 * 16) & 0xffffu;
    }
    /// Word `index`, the one behind the last.
    HC_METHOD void next_word(u32 index) {
        if (index == read) {
            port_client::reply_words<ahead>(group, port, index, words, next_words);
            read += ahead;
        }
        current = next_words[0];
        HC_UNROLL
        for (u32 i = 0; i + 1 < ahead; i++) next_words[i] = next_words[i + 1];
    }
};

/// One lane's call. It begins with the units before the bytes, which begin with where the bytes lie.
struct var_call {
    u32 number;
    bool post;
    u32* fixed;
    u32 fixed_units;
    const part* ins;
    u32 in_count;
    const part* outs;
    u32 out_count;
    /// Gets the result's units.
    u32* result;
    u32 result_units;
    /// Gets the number of bytes returned of each of `outs`.
    u32* returned;

    /// Whether strings and slices are longer, together, than what is counted here.
    HC_METHOD bool too_long() const {
        u64 sum = 0;
        bool wrapped = false;
        for (u32 i = 0; i < in_count; i++) wrapped |= ins[i].len > ~0u, sum += ins[i].len;
        for (u32 i = 0; i < out_count; i++) wrapped |= outs[i].len > ~0u, sum += outs[i].len;
        return wrapped || sum > ~0u / 2;
    }
    HC_METHOD u32 in_bytes() const {
        u32 sum = 0;
        for (u32 i = 0; i < in_count; i++) sum += codec::padded((u32)ins[i].len);
        return sum;
    }
    HC_METHOD u32 out_bytes() const {
        u32 sum = 0;
        for (u32 i = 0; i < out_count; i++) sum += codec::padded((u32)outs[i].len);
        return sum;
    }
    /// Says where the bytes lie.
    HC_METHOD void put_head(u32 at) {
        fixed[0] = at;
        fixed[1] = in_bytes();
    }
    /// Unit `index` of the payload, the inline bytes behind the rest.
    HC_NOINLINE u32 unit(u32 index) const {
        if (index < fixed_units) return fixed[index];
        u32 at = (index - fixed_units) * 4;
        for (u32 i = 0; i < in_count; i++) {
            const u32 len = (u32)ins[i].len;
            if (at < codec::padded(len)) return unit_from(ins[i].data + at, len - at);
            at -= codec::padded(len);
        }
        return 0;
    }

    /// Those of the message, whose bytes may lie in a slot.
    HC_METHOD u32 flags(bool staged) const { return (staged ? HOSTCALL_FLAG_STAGED : 0) | (post ? 0 : HOSTCALL_FLAG_REPLY); }
    /// Reads what comes before the bytes of a reply.
    HC_METHOD void take_results(incoming& reply) {
        reply.fill(result, result_units);
        reply.fill(returned, out_count);
        for (u32 i = 0; i < out_count; i++) returned[i] = least(returned[i], (u32)outs[i].len);
    }
    /// What a post that was sent came to. The slot must stay ours until the server has copied it.
    HC_METHOD outcome posted(machine::mask mask, const held& held, bool staged) const {
        return outcome::make(staged ? port_client::await_ack(mask, held.port, held.tag()) : (u32)HOSTCALL_STATUS_OK, 0);
    }

    /// Copies the bytes that go to the host into the slot, those of the lanes of `whose`, each lane's from its `region`
    /// on, by all lanes of `mask`.
    HC_METHOD void copy_in_all(machine::mask mask, machine::mask whose, u64 region) const {
        u64 place = region;
        for (u32 i = 0; i < in_count; i++) {
            copy_each_lane(mask, whose, true, place, (u64)ins[i].data, (u32)ins[i].len);
            place += codec::padded((u32)ins[i].len);
        }
        machine::fence_system();
        machine::sync(mask);
    }
    /// Copies the bytes that came from the host out of the slot, as `copy_in_all` does.
    HC_METHOD void copy_out_all(machine::mask mask, machine::mask whose, u64 region, outcome end) const {
        machine::fence_system();
        machine::sync(mask);
        u64 place = region;
        for (u32 i = 0; i < out_count; i++) {
            // Lanes whose call failed take part in the copying of the others, with nothing of their own.
            copy_each_lane(mask, whose, false, place, (u64)outs[i].data, end.ok() ? returned[i] : 0);
            // The server leaves each argument its place, however short an earlier one comes back.
            place += codec::padded((u32)outs[i].len);
        }
    }
};

/// Sends the message, with its bytes inline or (`staged`) announcing those in the lane's `region` of a slot, and for a
/// call receives the reply. `units` are those of the longest payload.
HC_NOINLINE inline outcome exchange_var(machine::mask mask, var_call& call, u32 units, bool staged, u64 region) {
    const lanes group = lanes::make(mask, machine::lane());
    held held;
    u32 status = port_client::acquire(group, true, held);
    if (status != HOSTCALL_STATUS_OK) return outcome::make(status, 0);
    status = port_client::send_long(group, held, call.number, call.flags(staged), units, [&call](u32 i) { return call.unit(i); });
    outcome end = outcome::make(status, 0);
    if (status == HOSTCALL_STATUS_OK && call.post) {
        end = call.posted(mask, held, staged);
    } else if (status == HOSTCALL_STATUS_OK) {
        const reply<1> first = port_client::receive<1>(group, held, 0);
        incoming reply(group, held, first);
        call.take_results(reply);
        if (!staged) {
            for (u32 i = 0; i < call.out_count; i++) reply.fill_bytes(call.outs[i].data, call.returned[i]);
        }
        end = reply.end;
    }
    if (staged && !call.post && call.out_count != 0) {
        call.copy_out_all(mask, mask, region, end);
        machine::sync(mask);
    }
    port_client::release(group, held);
    return end;
}

/// Makes the call with its bytes in a staging slot, the calling lane's from `own` on.
HC_NOINLINE inline outcome call_in_slot(machine::mask mask, var_call& call, u32 own) {
    const u32 slot = take_slot(mask);
    if (slot == no_slot) return outcome::make(port_client::known_end(), 0);
    const u64 region = (u64)slot * machine::descriptor().slot_bytes + own;
    call.put_head((u32)(region / 16));
    call.copy_in_all(mask, mask, region);
    const outcome end = exchange_var(mask, call, call.fixed_units, true, region);
    release_slot(mask, slot);
    return end;
}

/// Makes the call with its bytes in a staging slot: by all lanes of the group together, or if they do not fit, by one
/// after another.
HC_NOINLINE inline outcome call_staged(machine::mask mask, var_call& call) {
    const u32 slot_bytes = machine::descriptor().slot_bytes, me = machine::lane();
    const u32 ins = call.in_bytes(), outs = call.out_bytes();
    const u32 need = ((ins > outs ? ins : outs) + 15) & ~15u;
    u64 sum = 0;
    u32 own = 0;
    HC_NO_UNROLL
    for (machine::mask rest = mask; rest != 0; rest &= rest - 1) {
        const u32 lane = machine::first_lane(rest);
        if (lane == me) own = (u32)sum;
        sum += machine::broadcast(mask, need, lane);
    }
    if (sum <= slot_bytes) return call_in_slot(mask, call, own);
    outcome end = outcome::make(HOSTCALL_STATUS_TOO_LARGE, slot_bytes);
    HC_NO_UNROLL
    for (machine::mask rest = mask; rest != 0; rest &= rest - 1) {
        const machine::mask lane = (machine::mask)(rest & (0 - rest));
        if ((lane >> me & 1) != 0 && need <= slot_bytes) end = call_in_slot(lane, call, 0);
        machine::sync(mask);
    }
    return end;
}

/// Makes the call.
HC_NOINLINE inline outcome perform(u64 site, var_call& call) {
    machine::mask mask = group_at(site, call.number).mask;
    const bool oversized = call.too_long();
    const machine::mask others = machine::ballot(mask, oversized);
    if (oversized) return outcome::make(HOSTCALL_STATUS_TOO_LARGE, machine::descriptor().slot_bytes);
    mask &= ~others;
    const u32 units = group_max(mask, call.fixed_units + call.in_bytes() / 4);
    const u32 words = group_max(mask, wire::reply_words(call.result_units + call.out_count + call.out_bytes() / 4));
    if (fits(units, words, machine::count_ones(mask))) {
        call.put_head(HOSTCALL_VAR_INLINE);
        return exchange_var(mask, call, units, false, 0);
    }
    return call_staged(mask, call);
}

}  // namespace wire
}  // namespace hostcall

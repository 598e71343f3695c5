// Calls that a wave makes once: `hostcall-device`'s `together`. The message is that of the first of the lanes that run
// converged, and all of these lanes get its result.
//
// The other lanes would only wait, so they help. Each stores one of the message's words, all of them by one
// instruction, which the bus takes as one transaction; all of them copy strings and slices; and all of them read the
// one reply.
#pragma once

namespace hostcall {
namespace wire {

/// The most words of a message, or of a reply, that carry bytes themselves: one lane stores them, and word by word they
/// are read.
constexpr u32 most_words_together = 8;

/// Sends the first lane's message over a port that the lanes own.
template <u32 Units, u32 Room>
HC_DEVICE_INLINE u32 send_together(const lanes& all, held& held, u32 number, u32 flags, const u32 (&units)[Room]) {
    u32 shared[Room];
    HC_UNROLL
    for (u32 i = 0; i < Room; i++) shared[i] = machine::broadcast(all.mask, units[i], all.leader);
    return port_client::send_together<Units>(all, held, number, flags, payload<Room>{shared, Units});
}

/// Sends it and receives its reply.
template <u32 Units, u32 ReplyWords, u32 Room>
HC_DEVICE_INLINE reply<ReplyWords> exchange_together(const lanes& all, held& held, u32 number, const u32 (&units)[Room]) {
    const u32 status = send_together<Units>(all, held, number, HOSTCALL_FLAG_REPLY, units);
    if (status != HOSTCALL_STATUS_OK) return reply<ReplyWords>::without(status);
    return port_client::receive_together<ReplyWords>(all, held);
}

/// Makes one call for all lanes that run converged here.
template <class R, u32 Units, u32 Room>
HC_DEVICE_INLINE answer<R> call_fixed_together(u64 site, const service_word* word, const u32 (&units)[Room]) {
    constexpr u32 words = wire::reply_words(codec::fixed<R>::units);
    const u32 number = machine::load_number(word);
    if (number == 0) return no_answer<R>(HOSTCALL_STATUS_UNKNOWN_SERVICE, 0);
    const lanes all = group_at(site, number);
    if (!fits(Units, words, 1)) return no_answer<R>(HOSTCALL_STATUS_TOO_LARGE, 0);
    held held;
    const u32 status = port_client::acquire(all, true, held);
    if (status != HOSTCALL_STATUS_OK) return no_answer<R>(status, 0);
    const auto reply = exchange_together<Units, words>(all, held, number, units);
    port_client::release(all, held);
    return decode<R>(reply);
}

/// Posts one message for all lanes that run converged here.
template <u32 Units, u32 Room>
HC_DEVICE_INLINE answer<void> post_fixed_together(u64 site, const service_word* word, const u32 (&units)[Room]) {
    const u32 number = machine::load_number(word);
    if (number == 0) return no_answer<void>(HOSTCALL_STATUS_UNKNOWN_SERVICE, 0);
    const lanes all = group_at(site, number);
    held held;
    u32 status = port_client::acquire(all, true, held);
    if (status == HOSTCALL_STATUS_OK) {
        status = send_together<Units>(all, held, number, 0, units);
        port_client::release(all, held);
    }
    if (status != HOSTCALL_STATUS_OK) return no_answer<void>(status, 0);
    return {};
}

/// The first lane sends its message, with its bytes inline or (`staged`) announcing those in the slot whose bytes begin
/// at `region`, and for a call all lanes receive the reply.
HC_NOINLINE inline outcome exchange_var_together(machine::mask mask, var_call& call, u32 units, bool staged, u64 region) {
    const lanes all = lanes::make(mask, machine::lane()), alone = all.alone();
    held held;
    u32 status = port_client::acquire(all, true, held);
    if (status != HOSTCALL_STATUS_OK) return outcome::make(status, 0);
    if (all.leads()) {
        status = port_client::send_long(alone, held, call.number, call.flags(staged), units, [&call](u32 i) { return call.unit(i); });
    }
    status = machine::broadcast(mask, status, all.leader);
    held.state.bits = machine::broadcast(mask, held.state.bits, all.leader);
    outcome end = outcome::make(status, 0);
    if (status == HOSTCALL_STATUS_OK && call.post) {
        end = call.posted(mask, held, staged);
    } else if (status == HOSTCALL_STATUS_OK) {
        const reply<1> first = port_client::receive_together<1>(all, held);
        incoming reply(alone, held, first);
        call.take_results(reply);
        for (u32 i = 0; i < call.out_count; i++) call.returned[i] = machine::broadcast(mask, call.returned[i], all.leader);
        // Only the first lane's slices are filled. (What its outcome is, and so whether it reads on, all of them have
        // read.)
        if (!staged && all.leads()) {
            for (u32 i = 0; i < call.out_count; i++) reply.fill_bytes(call.outs[i].data, call.returned[i]);
        }
        end = reply.end;
        if (!staged) end = outcome::make(machine::broadcast(mask, end.status(), all.leader), end.detail());
    }
    if (staged && end.ok() && call.out_count != 0) call.copy_out_all(mask, (machine::mask)((machine::mask)1 << all.leader), region, end);
    // What came back is the first lane's to read, and whose else it is.
    machine::sync(mask);
    port_client::release(all, held);
    return end;
}

/// Makes a call with strings or slices for all lanes of `mask`.
HC_NOINLINE inline outcome perform_together(machine::mask mask, var_call& call) {
    const lanes all = lanes::make(mask, machine::lane());
    const auto first = [&](u32 value) { return machine::broadcast(mask, value, all.leader); };
    // What the first lane wrote before is what all of them copy.
    machine::sync(mask);
    const u32 slot_bytes = machine::descriptor().slot_bytes;
    if (first(call.too_long() ? 1 : 0) != 0) return outcome::make(HOSTCALL_STATUS_TOO_LARGE, slot_bytes);
    const u32 ins = first(call.in_bytes()), outs = first(call.out_bytes());
    const u32 units = call.fixed_units + ins / 4, words = wire::reply_words(call.result_units + call.out_count + outs / 4);
    if (words_for(units, 1) <= most_words_together && words <= most_words_together && fits(units, words, 1)) {
        call.put_head(HOSTCALL_VAR_INLINE);
        return exchange_var_together(mask, call, units, false, 0);
    }
    if ((((ins > outs ? ins : outs) + 15) & ~15u) > slot_bytes) return outcome::make(HOSTCALL_STATUS_TOO_LARGE, slot_bytes);
    const u32 slot = take_slot(mask);
    if (slot == no_slot) return outcome::make(port_client::known_end(), 0);
    const u64 region = (u64)slot * slot_bytes;
    call.put_head((u32)(region / 16));
    call.copy_in_all(mask, (machine::mask)((machine::mask)1 << all.leader), region);
    const outcome end = exchange_var_together(mask, call, call.fixed_units, true, region);
    release_slot(mask, slot);
    return end;
}

}  // namespace wire

template <class R, u32 Units, u32 Room>
HC_DEVICE_INLINE answer<R> port::call_together(const service_word* word, const u32 (&units)[Room]) {
    u32 why;
    const u32 number = number_of(word, why);
    if (number == 0) return wire::no_answer<R>(why, 0);
    constexpr u32 words = wire::reply_words(codec::fixed<R>::units);
    if (!wire::fits(Units, words, 1)) return wire::no_answer<R>(HOSTCALL_STATUS_TOO_LARGE, 0);
    return wire::decode<R>(wire::exchange_together<Units, words>(lanes_, held_, number, units));
}

template <u32 Units, u32 Room>
HC_DEVICE_INLINE answer<void> port::post_together(const service_word* word, const u32 (&units)[Room]) {
    u32 why;
    const u32 number = number_of(word, why);
    if (number == 0) return wire::no_answer<void>(why, 0);
    const u32 status = wire::send_together<Units>(lanes_, held_, number, 0, units);
    if (status != HOSTCALL_STATUS_OK) return wire::no_answer<void>(status, 0);
    return {};
}

}  // namespace hostcall

// Messages of bytes and of text: as many as a lane likes, up to a quarter of a ring. `hostcall_abi::stream::bytes`.
//
// Each lane sends a message of its own. The lanes of a wave that run converged store it together, one lane's message
// after another's; bytes on a lane's own stack that lane stores alone.
#pragma once

namespace hostcall {
namespace wire {

/// Quads of a message before those of data, and bytes of each of those.
constexpr u32 head_quads = HOSTCALL_STREAM_HEADER_UNITS / quad_units, quad_bytes = HOSTCALL_STREAM_QUAD_BYTES;

/// Granules of a message of `length` bytes, however many they are.
HC_DEVICE_INLINE u32 granules_of(u32 length) {
    const u32 quads = head_quads + length / quad_bytes + (length % quad_bytes != 0 ? 1 : 0);
    return (quads + quads_of_granule - 1) / quads_of_granule;
}

/// The quad of the `count` bytes at `from`, at most 15, without its phase: their top bits are displaced.
HC_DEVICE_INLINE quad bytes_quad(const u8* from, u32 count) {
    u32 at[quad_units] = {};
    // All loads before the first is waited for.
    HC_UNROLL
    for (u32 i = 0; i < quad_bytes; i++) {
        if (i < count) at[i / 4] |= (u32)from[i] << (8 * (i % 4));
    }
    return {{at[0], at[1], at[2], at[3] | at[0] >> 31 << 24 | at[1] >> 31 << 25 | at[2] >> 31 << 26 | count << 27}};
}

/// Asks the stream's gate for the message of lane `sender`, alone; every lane of `group` is told.
HC_DEVICE_INLINE sent admit_one(const lanes& group, u32 sender, subject& subject) {
    constexpr u32 admitted = 1 << 8;
    u32 told = 0;
    if (machine::lane() == sender) {
        lanes alone = lanes::make((machine::mask)((machine::mask)1 << sender), sender);
        const sent end = admit(alone, subject);
        told = end == sent::sent ? admitted | subject.weight : (u32)end;
    }
    told = machine::broadcast(group.mask, told, sender);
    subject.weight = told & 0xff;
    return (told & admitted) != 0 ? sent::sent : (sent)told;
}

/// Sends one message of lane `sender`, by the lanes of `group`, which can read its bytes. All of them are told what
/// became of it.
HC_DEVICE_INLINE sent send_by(const lanes& group, u32 sender, subject subject, const u8* bytes, u32 length) {
    const u32 granules = granules_of(length), quarter = (1u << ring::rings().ring_log2) / 4;
    if (granules > (quarter < HOSTCALL_STREAM_MAX_GRANULES ? quarter : HOSTCALL_STREAM_MAX_GRANULES)) return sent::too_large;
    if (subject.live) {
        const sent admitted = admit_one(group, sender, subject);
        if (admitted != sent::sent) return admitted;
    }
    u64 time = 0;
    position at;
    const sent end = reserve(group, granules, subject, at, [&](const wire::subject& subject) {
        if (subject.timed) time = machine::now_ns();
    });
    if (end != sent::sent) return end;
    const auto header = message_header::make(subject, granules, HOSTCALL_STREAM_KIND_BYTES, machine::wave_size() == 64, 1ull << sender, time);
    HC_NO_UNROLL
    for (u32 which = group.rank; which < granules * quads_of_granule; which += group.count) {
        quad four = which == 0 ? header.first() : header.second();
        if (which >= head_quads) {
            // Quads behind the last byte have none.
            const u32 first = (which - head_quads) * quad_bytes, rest = length > first ? length - first : 0;
            four = bytes_quad(bytes + first, rest < quad_bytes ? rest : quad_bytes);
        }
        store_quad(at, quad_units * which, four);
    }
    return sent::sent;
}

/// Sends the bytes of each lane of `mask`, one lane's after another's; or (`once`) the first one's, for all of them. A
/// function of its own, because its time is that of the bytes.
HC_NOINLINE inline sent send_bytes(machine::mask mask, bool once, u32 word, u64 address, u64 length) {
    const u32 me = machine::lane();
    const lanes all = lanes::make(mask, me);
    const subject subject = subject_of(word, 1);
    const u32 own = length < ~0u ? (u32)length : ~0u;
    sent end = sent::off;
    // What lanes have written is seen by those who help.
    machine::sync(mask);
    HC_NO_UNROLL
    for (machine::mask rest = once ? (machine::mask)((machine::mask)1 << all.leader) : mask; rest != 0; rest &= rest - 1) {
        const u32 sender = machine::first_lane(rest);
        const u64 there = broadcast64(mask, address, sender);
        const u32 count = machine::broadcast(mask, own, sender);
        const bool alone = machine::ballot(mask, me == sender && machine::is_private(there)) != 0;
        if (!alone || me == sender) {
            const lanes by = alone ? lanes::make((machine::mask)((machine::mask)1 << sender), sender) : all;
            const sent told = send_by(by, sender, subject, (const u8*)there, count);
            if (me == sender) end = told;
        }
    }
    // Nobody goes on, and perhaps writes its bytes, before the others have read them.
    machine::sync(mask);
    return once ? (sent)machine::broadcast(mask, (u32)end, all.leader) : end;
}

}  // namespace wire

/// Sends bytes or a text, as the stream `T` has them: a message of each lane that runs converged `here`, each with its
/// own. Longer than a quarter of a ring, or than 122 790 bytes, is `too_large`.
template <class T>
HC_DEVICE_INLINE sent send(const typename stream_of<T>::slice& bytes, place here = place::current()) {
    const u32 word = stream_of<T>::word();
    if (word == 0) return sent::off;
    return wire::send_bytes(machine::converged_at(here.site()), false, word, (u64)bytes.data, bytes.len);
}

/// Sends one such message for all lanes that run converged `here`, which store it together: the first one's.
template <class T>
HC_DEVICE_INLINE sent send_once(const typename stream_of<T>::slice& bytes, place here = place::current()) {
    const u32 word = stream_of<T>::word();
    if (word == 0) return sent::off;
    return wire::send_bytes(machine::converged_at(here.site()), true, word, (u64)bytes.data, bytes.len);
}

}  // namespace hostcall

/// Declares a stream of bytes (`::hostcall::slice<::hostcall::u8>`, "[u8]") or of text (`::hostcall::str`, "str"), by a
/// type that only names it. `cargo hostcall bindgen` writes it. At global scope.
#define HOSTCALL_BYTE_STREAM(type, name, policy, signature, slice_type, text)                                                         \
    HOSTCALL_STREAM_WORDS(name, policy, signature, 0, 1, ::hostcall::codec::text_room("value" text), "value" text,                    \
                          HOSTCALL_FIELDS({5, sizeof(text) - 1, 0, 0}))                                                               \
    template <>                                                                                                                       \
    struct hostcall::stream_of<type> {                                                                                                \
        using slice = slice_type;                                                                                                     \
        HC_METHOD static ::hostcall::u32 word() { return ::hostcall::machine::load_number(&__HOSTCALL_STREAM__##name); }              \
    };

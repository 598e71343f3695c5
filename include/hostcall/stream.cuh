// Message streams: messages that nobody answers, through rings in host memory. `hostcall_abi::stream`: `send`, `room`,
// `gate`.
//
// A message goes this way: the lanes of which it is wanted agree; one atomic reserves room in the wave's ring, as the
// stream's policy says; the lanes store header, displaced bits and their own units side by side. Nothing is awaited but
// room.
#pragma once

namespace hostcall {
namespace wire {

/// What `number`, one of a `sent`, says.
constexpr u32 told_sent = (u32)sent::sent, told_closed = (u32)sent::closed, told_filtered = (u32)sent::filtered,
              told_dropped = (u32)sent::dropped;

/// Whether a message that stands for 2 to the power `weight` is sent.
HC_DEVICE_INLINE bool is_chosen(u32 dice, u32 weight) { return ((u64)(dice * HOSTCALL_STREAM_SPREAD) >> (32 - weight)) == 0; }

/// Whether a number is in a span. Numbers from the largest on are that to it.
HC_DEVICE_INLINE bool is_in(u32 span, u32 number) {
    number = number < HOSTCALL_STREAM_MAX_SPAN ? number : HOSTCALL_STREAM_MAX_SPAN;
    return (span & HOSTCALL_STREAM_MAX_SPAN) <= number && number <= span >> 16;
}

/// Whether values of the calling lane are wanted from where it is.
HC_DEVICE_INLINE bool is_within(const hostcall_bounds& bounds) {
    const coordinates group = machine::group_id(), lane = machine::local_id();
    return bounds.first_x <= group.x && group.x <= bounds.last_x && is_in(bounds.group_y, group.y) && is_in(bounds.group_z, group.z) &&
           is_in(bounds.lane_x, lane.x) && is_in(bounds.lane_y, lane.y) && is_in(bounds.lane_z, lane.z) &&
           (bounds.waves >> (ring::wave() & 31) & 1) != 0;
}

/// The lanes of `group` whose message is wanted, `group` then; else what to tell the calling lane. Every lane of the
/// group calls.
HC_DEVICE_INLINE sent admit(lanes& group, subject& subject) {
    const hostcall_gate gate = ring::gate(subject.stream);
    const u32 lane = machine::lane();
    subject.weight = gate.rate_log2 < HOSTCALL_STREAM_MAX_RATE_LOG2 ? gate.rate_log2 : HOSTCALL_STREAM_MAX_RATE_LOG2;
    // One number for all of them.
    const u32 dice = machine::broadcast(group.mask, machine::dice(), group.leader);
    const bool inside = (u32)ring::group() - gate.first < gate.groups || gate.groups == ~0u;
    bool wanted = inside && gate.shut == 0 && (gate.lanes >> lane & 1) != 0 && is_chosen(dice, subject.weight);
    if (gate.bounded != 0) wanted = is_within(ring::bounds(subject.stream)) && wanted;
    const machine::mask mask = machine::ballot(group.mask, wanted);
    if ((mask >> lane & 1) != 0) {
        group = lanes::make(mask, lane);
        return sent::sent;
    }
    if (gate.shut != 0) return sent::off;
    if (mask == 0 && group.leads()) ring::count(subject.stream, HOSTCALL_STREAM_FILTERED);
    return sent::filtered;
}

/// Of so much of a ring that is used, for how many messages one stands, as a power of two: of each further sixteenth
/// above the half four times as many.
HC_DEVICE_INLINE u32 thinned(i32 used, u32 size) {
    const i32 half = (i32)(size >> 1);
    if (used < half) return 0;
    // Not a division.
    const u32 above = (u32)(used - half) >> (machine::count_ones(size - 1) - 4);
    return above == 0 ? 1 : 2 * above;
}

/// Whether there is room for a message that does not wait until there is, and above that, how many it then stands for,
/// 2 to the power `most` at most. By the leader alone.
HC_COLD inline u32 find_room(u32 granules, u32 size, u32 stream, u32 policy, u32 most) {
    u32 attempt = 0;
    u64 since = 0;
    for (;;) {
        // Less than an eighth is free: others that look at the same time may take that much before this one reserves.
        // (The reader may have got past the head that was seen: what is used is then less than nothing.)
        const u32 head = ring::head();
        const u64 credit = ring::credit();
        const i32 used = (i32)(head - (u32)credit);
        if (used <= (i32)(size - (granules > size / 8 ? granules : size / 8))) {
            const u32 thin = policy == (u32)policy::sample ? thinned(used, size) : 0, weight = thin < most ? thin : most;
            if (weight == 0 || is_chosen(machine::dice(), weight)) return told_sent | weight << 8;
            ring::count(stream, HOSTCALL_STREAM_FILTERED);
            return told_filtered;
        }
        if (credit >> 32 != 0) return told_closed;
        // For the next look, or the next message.
        ring::learn();
        if (policy == (u32)policy::wait) {
            const u64 now = machine::now_ns();
            if (attempt == 0) {
                since = now;
                ring::count(stream, HOSTCALL_STREAM_WAITED);
            }
            if (now - since < ring::gate(stream).patience) {
                attempt++;
                machine::nap(attempt);
                continue;
            }
        }
        ring::count(stream, HOSTCALL_STREAM_DROPPED);
        return told_dropped;
    }
}

/// More than half of the ring is used, or nobody reads it: waits until what has been reserved is free. By the leader
/// alone.
HC_COLD inline u32 wait_for_room(u32 first, u32 granules, u32 size, u32 stream) {
    u32 attempt = 0;
    for (;;) {
        // Also long before credit is short, so that few ever wait for it.
        ring::learn();
        const u64 credit = ring::credit();
        if (credit >> 32 != 0) return told_closed;
        if (first + granules - (u32)credit <= size) return told_sent;
        if (attempt == 0) ring::count(stream, HOSTCALL_STREAM_WAITED);
        attempt++;
        machine::nap(attempt);
    }
}

/// Reserves room for a message, and tells all lanes where it is, or why there is none. What does not depend on that is
/// worked out `meanwhile`.
template <class Meanwhile>
HC_DEVICE_INLINE sent reserve(const lanes& group, u32 granules, subject& subject, position& at, const Meanwhile& meanwhile) {
    const u32 ring_log2 = ring::rings().ring_log2, size = 1u << ring_log2;
    if (subject.policy != policy::block) {
        u32 told = 0;
        if (group.leads()) told = find_room(granules, size, subject.stream, (u32)subject.policy, HOSTCALL_STREAM_MAX_WEIGHT_LOG2 - subject.weight);
        told = machine::broadcast(group.mask, told, group.leader);
        if ((told & 0xffu) != told_sent) return (sent)(told & 0xffu);
        subject.weight += told >> 8;
    }
    // Both are under way together; in which order they are made does not matter, because the reader does not get past
    // what is reserved here.
    const u64 credit = ring::credit();
    u32 first = 0;
    if (group.leads()) first = ring::reserve(granules);
    meanwhile(subject);
    first = machine::broadcast(group.mask, first, group.leader);
    const bool is_short = first + granules - (u32)credit > size / 2 || credit >> 32 != 0;
    if (machine::ballot(group.mask, is_short) != 0) {
        u32 told = 0;
        if (group.leads()) told = wait_for_room(first, granules, size, subject.stream);
        // What has been reserved is never stored.
        if (machine::broadcast(group.mask, told, group.leader) != told_sent) return sent::closed;
    }
    at = position::make(first, ring_log2);
    return sent::sent;
}

/// The top bits of all lanes' units.
template <u32 Units>
struct top_bits {
    u64 ballots[Units];

    HC_METHOD void gather(const lanes& group, const u32 (&units)[Units]) {
        HC_UNROLL
        for (u32 k = 0; k < Units; k++) ballots[k] = machine::ballot(group.mask, units[k] >> 31 != 0);
    }
    /// A bit for each ballot that has one in `mask`.
    HC_METHOD u32 each(u64 mask) const {
        u32 bits = 0;
        HC_UNROLL
        for (u32 k = 0; k < Units; k++) bits |= ((ballots[k] & mask) != 0 ? 1u : 0u) << k;
        return bits;
    }
    /// Unit `index` of the displaced bits: a ballot, or what the ballots' own phases displace.
    HC_METHOD u32 unit(const layout& layout, u32 index) const {
        const u32 of = layout.wide ? index / 2 : index, half = layout.wide ? index % 2 : 0;
        if (of < Units) return (u32)(ballots[of] >> (32 * half));
        return of == Units ? each((u64)phase_bit << (32 * half)) : 0;
    }
    /// Quad `which` behind the header: displaced bits, then zeros.
    HC_METHOD quad at(const layout& layout, u32 which) const {
        if (layout.lanes == 1) {
            // A lane alone: its bits are all that a ballot has.
            return {{which == 0 ? each(~0ull) : 0u, 0, 0, 0}};
        }
        quad four = {};
        // As many turns as the widest waves need, a constant everywhere: in the simulator it is not known here how wide
        // they are.
        const u32 quads = Units / (layout.wide ? 2 : 4) + 1;
        HC_UNROLL
        for (u32 k = 0; k < Units / 2 + 1; k++) {
            if (k >= quads || k != which) continue;
            four = {{unit(layout, 4 * k), unit(layout, 4 * k + 1), unit(layout, 4 * k + 2), unit(layout, 4 * k + 3)}};
        }
        return four;
    }
};

/// Quad `which` of header, displaced bits and padding, without phases.
template <u32 Units>
HC_DEVICE_INLINE quad left_quad(const message_header& header, const layout& layout, const top_bits<Units>& bits, u32 which) {
    // Selected, not indexed: registers have no index.
    if (which == 0) return header.first();
    if (which == 1) return header.second();
    return bits.at(layout, which - HOSTCALL_STREAM_HEADER_UNITS / quad_units);
}

HC_DEVICE_INLINE void store_quad(const position& at, u32 index, const quad& four) {
    machine::store_units(ring::unit(at.unit(index)), four.with_phase(at.phase(index)).at);
}

/// Stores everything that stands before the columns. `own`: the lane's own quad, for groups that have a lane for each.
template <bool Whole, u32 Units>
HC_DEVICE_INLINE void store_left(const lanes& group, const layout& layout, const position& at, const subject& subject, u64 time,
                          const top_bits<Units>& bits, const quad& own) {
    const u32 quads = layout.left() / quad_units;
    if (Whole || group.count >= quads) {
        if (group.rank < quads) store_quad(at, quad_units * group.rank, own);
    } else {
        const message_header header = message_header::make(subject, layout, (u64)group.mask, time);
        HC_NO_UNROLL
        for (u32 which = group.rank; which < quads; which += group.count) {
            store_quad(at, quad_units * which, left_quad(header, layout, bits, which));
        }
    }
    if constexpr (Units % quad_units != 0) {
        // What is left where columns begin within a quad.
        const u32 end = layout.left();
        HC_NO_UNROLL
        for (u32 rest = quad_units * quads + group.rank; rest < end; rest += group.count) {
            const quad four = bits.at(layout, quads - HOSTCALL_STREAM_HEADER_UNITS / quad_units);
            const u32 k = rest - quad_units * quads, unit = k == 0 ? four.at[0] : k == 1 ? four.at[1] : four.at[2];
            const u32 one[1] = {(unit & data_bits) | at.phase(rest)};
            machine::store_units(ring::unit(at.unit(rest)), one);
        }
    }
}

/// Stores the lane's own units. Those of a column lie in one quad, and so have one phase.
template <u32 Units>
HC_DEVICE_INLINE void store_columns(const lanes& group, const layout& layout, const position& at, const u32 (&units)[Units]) {
    constexpr u32 fours = Units & ~3u;
    if constexpr (fours != 0) {
        HC_UNROLL
        for (u32 first = 0; first < fours; first += quad_units) {
            store_quad(at, layout.place(group.rank, first), {{units[first], units[first + 1], units[first + 2], units[first + 3]}});
        }
    }
    if constexpr ((Units & 2) != 0) {
        const u32 place = layout.place(group.rank, fours), phase = at.phase(place);
        const u32 two[2] = {(units[fours] & data_bits) | phase, (units[fours + 1] & data_bits) | phase};
        machine::store_units(ring::unit(at.unit(place)), two);
    }
    if constexpr ((Units & 1) != 0) {
        const u32 place = layout.place(group.rank, Units - 1);
        const u32 one[1] = {(units[Units - 1] & data_bits) | at.phase(place)};
        machine::store_units(ring::unit(at.unit(place)), one);
    }
}

/// Sends `Units` units from each lane of `group`, in one message. `Whole`: all lanes of a wave.
template <bool Whole, u32 Units>
HC_DEVICE_INLINE sent send_in(const lanes& group, subject subject, const u32 (&units)[Units]) {
    static_assert(Units > 0 && Units <= HOSTCALL_STREAM_MAX_UNITS, "a lane's part of a message has 1 to 31 units");
    const layout layout{Units, group.count, machine::wave_size() == 64};
    u64 time = 0;
    top_bits<Units> bits;
    quad own = {};
    position at;
    // While room is reserved: what does not depend on it. All lanes make all ballots; each then picks what it stores.
    const sent end = reserve(group, layout.granules(), subject, at, [&](const wire::subject& subject) {
        if (subject.timed) time = machine::now_ns();
        bits.gather(group, units);
        // Mostly there is a lane for each quad, which works it out before the answer is there.
        const message_header header = message_header::make(subject, layout, (u64)group.mask, time);
        own = left_quad(header, layout, bits, group.rank);
        machine::settle(own.at);
    });
    if (end != sent::sent) return end;
    store_left<Whole>(group, layout, at, subject, time, bits, own);
    store_columns(group, layout, at, units);
    return sent::sent;
}

/// Units of the largest value of one lane whose message is one granule.
constexpr u32 once_units = HOSTCALL_STREAM_GRANULE - HOSTCALL_STREAM_HEADER_UNITS - 1;
constexpr u32 granule_quads = HOSTCALL_STREAM_GRANULE / quad_units;

/// The quads of a message of one lane that is one granule, without phases: header, displaced bits, padding, the lane's
/// units.
template <u32 Units>
HC_DEVICE_INLINE void fill(quad (&quads)[granule_quads], const layout& layout, const message_header& header, const u32 (&units)[Units]) {
    u32 all[HOSTCALL_STREAM_GRANULE] = {};
    HC_UNROLL
    for (u32 k = 0; k < Units; k++) {
        all[HOSTCALL_STREAM_HEADER_UNITS] |= (units[k] >> 31) << k;
        all[layout.place(0, k)] = units[k];
    }
    HC_UNROLL
    for (u32 k = 0; k < granule_quads; k++) quads[k] = {{all[4 * k], all[4 * k + 1], all[4 * k + 2], all[4 * k + 3]}};
    quads[0] = header.first();
    quads[1] = header.second();
}

/// Sends the units of a lane alone whose message is one granule: where everything lies in it is known before it runs,
/// and is worked out while room is reserved.
template <u32 Units>
HC_DEVICE_INLINE sent send_alone(const lanes& group, subject subject, const u32 (&units)[Units]) {
    const layout layout{Units, 1, machine::wave_size() == 64};
    quad quads[granule_quads];
    position at;
    const sent end = reserve(group, layout.granules(), subject, at, [&](const wire::subject& subject) {
        fill(quads, layout, message_header::make(subject, layout, (u64)group.mask, subject.timed ? machine::now_ns() : 0), units);
        HC_UNROLL
        for (u32 k = 0; k < granule_quads; k++) machine::settle(quads[k].at);
    });
    if (end != sent::sent) return end;
    HC_UNROLL
    for (u32 k = 0; k < granule_quads; k++) store_quad(at, quad_units * k, quads[k]);
    return sent::sent;
}

/// Sends `Units` units from each lane of a part of a wave.
template <u32 Units>
HC_DEVICE_INLINE sent send_apart(const lanes& group, const subject& subject, const u32 (&units)[Units]) {
    if constexpr (Units <= once_units) {
        if (group.count == 1) return send_alone(group, subject, units);
    }
    return send_in<false>(group, subject, units);
}

/// Sends the units of the first lane of `group`, in a message of that lane alone, which all lanes store together if it
/// is short.
template <u32 Units>
HC_DEVICE_INLINE sent once_in(const lanes& group, subject subject, const u32 (&units)[Units]) {
    if constexpr (Units > once_units) {
        u32 told = told_sent;
        if (group.leads()) told = (u32)send_in<false>(group.alone(), subject, units);
        // The others wait: they would be ahead of it with the next message.
        return (sent)machine::broadcast(group.mask, told, group.leader);
    } else {
        const layout layout{Units, 1, machine::wave_size() == 64};
        u64 time = 0;
        u32 first[Units];
        position at;
        const sent end = reserve(group, layout.granules(), subject, at, [&](const wire::subject& subject) {
            HC_UNROLL
            for (u32 k = 0; k < Units; k++) first[k] = machine::broadcast(group.mask, units[k], group.leader);
            if (subject.timed) time = machine::now_ns();
        });
        if (end != sent::sent) return end;
        quad quads[granule_quads];
        fill(quads, layout, message_header::make(subject, layout, 1ull << group.leader, time), first);
        HC_NO_UNROLL
        for (u32 which = group.rank; which < granule_quads; which += group.count) {
            quad own = quads[0];
            HC_UNROLL
            for (u32 k = 1; k < granule_quads; k++) {
                if (k == which) own = quads[k];
            }
            store_quad(at, quad_units * which, own);
        }
        return sent::sent;
    }
}

/// [`once_in`] of a part of a wave.
template <u32 Units>
HC_DEVICE_INLINE sent once_apart(const lanes& group, const subject& subject, const u32 (&units)[Units]) {
    if constexpr (Units <= once_units) {
        if (group.count == 1) return send_alone(group, subject, units);
    }
    return once_in(group, subject, units);
}

/// What messages of a stream say of themselves, by its word, which is not 0.
HC_DEVICE_INLINE subject subject_of(u32 word, u32 values) {
    const u32 number = word >> HOSTCALL_STREAM_POLICY_SHIFT & 7;
    const wire::policy policy = number <= (u32)policy::sample ? (wire::policy)number : policy::block;
    return {word & HOSTCALL_STREAM_MAX, policy, (word & HOSTCALL_STREAM_UNTIMED) == 0, values, (word & HOSTCALL_STREAM_LIVE) != 0, 0};
}

/// Sends `values` values of `Units` units altogether from each lane that runs converged at `site`; or the first lane's.
template <bool Once, u32 Units>
HC_DEVICE_INLINE sent send_units(u64 site, u32 word, u32 values, const u32 (&units)[Units]) {
    if (word == 0) return sent::off;
    subject subject = subject_of(word, values);
    lanes group = lanes::make(machine::converged_at(site), machine::lane());
    if (subject.live) {
        const sent admitted = admit(group, subject);
        if (admitted != sent::sent) return admitted;
    }
    // With lanes that are known the layout is constant, and collectives cost an instruction each.
    const u32 count = machine::wave_size();
    const machine::mask all = count == 64 ? (machine::mask)~0ull : (machine::mask)~0u;
    const lanes whole{all, count, machine::lane(), 0};
    if constexpr (Once) return group.mask == all ? once_in(whole, subject, units) : once_apart(group, subject, units);
    return group.mask == all ? send_in<true>(whole, subject, units) : send_apart(group, subject, units);
}

}  // namespace wire

/// What a program says of a stream: `hostcall_abi::stream::message::SchemaWord`.
template <size_t Fields, size_t Room>
struct schema_word {
    u64 signature;
    u32 bytes, policy;
    /// Of each field: length of its name and of its type in `text`, offset, bytes.
    u16 fields[Fields][4];
    char text[Room];
};

template <size_t Fields, size_t Room, size_t N>
HC_HOST_DEVICE constexpr schema_word<Fields, Room> make_schema(u64 signature, size_t bytes, u32 policy, const u16 (&fields)[Fields][4],
                                                               const char (&text)[N]) {
    schema_word<Fields, Room> word{signature, (u32)bytes, policy, {}, {}};
    for (size_t i = 0; i < Fields; i++) {
        for (size_t k = 0; k < 4; k++) word.fields[i][k] = fields[i][k];
    }
    for (size_t i = 0; i + 1 < N && i < Room; i++) word.text[i] = text[i];
    return word;
}

/// A type whose values are sent: `HOSTCALL_STREAM` says where its word is.
template <class T>
struct stream_of {
    static_assert(sizeof(T) == 0, "not a stream: `cargo hostcall bindgen --lang cuda` declares those under #[hostcall::stream]");
};

/// Whether anybody reads a stream: for what is costly to prepare.
template <class T>
HC_DEVICE_INLINE bool armed() {
    return stream_of<T>::word() != 0;
}

/// Sends a value: one message of all lanes that run converged `here`, each with its own.
template <class T>
HC_DEVICE_INLINE sent send(const T& value, place here = place::current()) {
    u32 units[sizeof(T) / 4];
    codec::fixed<T>::put(value, units);
    return wire::send_units<false>(here.site(), stream_of<T>::word(), 1, units);
}

/// Sends several values of each lane that runs converged `here` in one message, which costs less than one for each: up
/// to 8, of 124 bytes together.
template <class T, size_t N>
HC_DEVICE_INLINE sent send_each(const T (&values)[N], place here = place::current()) {
    static_assert(N <= 8 && N * sizeof(T) <= 4 * HOSTCALL_STREAM_MAX_UNITS, "a lane sends at most 8 values, and 124 bytes, at once");
    u32 units[N * sizeof(T) / 4];
    HC_UNROLL
    for (u32 i = 0; i < N; i++) codec::fixed<T>::put(values[i], units + i * (sizeof(T) / 4));
    return wire::send_units<false>(here.site(), stream_of<T>::word(), (u32)N, units);
}

/// Sends one value for all lanes that run converged `here`: the first one's.
template <class T>
HC_DEVICE_INLINE sent send_once(const T& value, place here = place::current()) {
    u32 units[sizeof(T) / 4];
    codec::fixed<T>::put(value, units);
    return wire::send_units<true>(here.site(), stream_of<T>::word(), 1, units);
}

}  // namespace hostcall

/// Declares a stream: its type, its name, its policy, its signature, and of each field, as `HOSTCALL_FIELDS` lists
/// them, the lengths of name and type, its place and its size; names and types one behind another. `cargo hostcall
/// bindgen` writes it. At global scope.
#define HOSTCALL_FIELDS(...) {__VA_ARGS__}
#define HOSTCALL_STREAM(type, name, policy, signature, count, fields, room, text)                                                     \
    HOSTCALL_STREAM_WORDS(name, policy, signature, sizeof(type), count, room, text, fields)                                           \
    template <>                                                                                                                       \
    struct hostcall::stream_of<type> {                                                                                                \
        static_assert(sizeof(type) % 4 == 0 && sizeof(type) <= 4 * HOSTCALL_STREAM_MAX_UNITS, "a message has 4 to 124 bytes");       \
        HC_METHOD static ::hostcall::u32 word() { return ::hostcall::machine::load_number(&__HOSTCALL_STREAM__##name); }              \
    };
// The words that the host reads and patches.
#define HOSTCALL_STREAM_WORDS(name, policy, signature, bytes, count, room, text, ...)                                                 \
    extern "C" {                                                                                                                      \
    HC_GLOBAL ::hostcall::u32 __HOSTCALL_STREAM__##name = 0;                                                                          \
    HC_GLOBAL ::hostcall::schema_word<count, room> __HOSTCALL_SCHEMA__##name =                                                        \
        ::hostcall::make_schema<count, room>(signature, bytes, policy, __VA_ARGS__, text);                                            \
    }

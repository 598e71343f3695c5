// The rings of message streams: where they are, and how a wave's messages lie in them. `hostcall_abi::stream`:
// `header`, `layout`, `unit`, `rings`; and `hostcall-device`'s `arch::ring`.
#pragma once

namespace hostcall {

/// What became of a message.
enum class sent : u32 {
    /// It is in the ring, or on the way there.
    sent,
    /// There was no room, and its policy is not to wait until there is.
    dropped,
    /// Nobody reads the ring any more.
    closed,
    /// It is longer than a message can be.
    too_large,
    /// Nobody wants messages of this stream.
    off,
    /// This message is not wanted: its stream's gate leaves it out, or it was not chosen as a sample.
    filtered,
};

namespace wire {

/// What a message does when its ring is full.
enum class policy : u32 { block, drop, wait, sample };

/// Units: 31 bits of data, and the phase of the ring's lap.
constexpr u32 phase_bit = 1u << 31, data_bits = ~phase_bit;
/// Units that are stored by one instruction where that is possible.
constexpr u32 quad_units = 4;
constexpr u32 quads_of_granule = HOSTCALL_STREAM_GRANULE / quad_units;

/// Four units.
struct quad {
    u32 at[quad_units];

    HC_METHOD quad with_phase(u32 phase) const {
        return {{(at[0] & data_bits) | phase, (at[1] & data_bits) | phase, (at[2] & data_bits) | phase, (at[3] & data_bits) | phase}};
    }
};

/// What a message says of itself.
struct subject {
    u32 stream;
    wire::policy policy;
    bool timed;
    /// Values of the stream's type that each lane sends.
    u32 values;
    /// Whether its stream's gate is asked.
    bool live;
    /// For how many messages it stands: 2 to this power.
    u32 weight;
};

/// Where a message lies: its first unit, counted from the first lap on, and the units of the ring as a power of two.
struct position {
    u32 first, bits;

    HC_METHOD static position make(u32 granule, u32 ring_log2) {
        return {granule * HOSTCALL_STREAM_GRANULE, ring_log2 + HOSTCALL_STREAM_GRANULE_LOG2};
    }
    /// Where unit `index` of the message lies in the ring, and its phase.
    HC_METHOD u32 unit(u32 index) const { return (first + index) & ((1u << bits) - 1); }
    HC_METHOD u32 phase(u32 index) const { return (~((first + index) >> bits) & 1u) << 31; }
};

/// Where everything lies in a message of `units` units from each of `lanes` lanes.
struct layout {
    u32 units, lanes;
    bool wide;

    /// Units of displaced bits.
    HC_METHOD u32 bits() const { return lanes == 1 ? 1 : wide ? 2 * units + 2 : units + 1; }
    HC_METHOD u32 granules() const {
        return (HOSTCALL_STREAM_HEADER_UNITS + bits() + lanes * units + HOSTCALL_STREAM_GRANULE - 1) / HOSTCALL_STREAM_GRANULE;
    }
    /// Units before the columns.
    HC_METHOD u32 left() const { return granules() * HOSTCALL_STREAM_GRANULE - lanes * units; }
    /// Units of each lane that are in columns of four.
    HC_METHOD u32 in_fours() const { return units & ~3u; }
    /// Unit of the message that is unit `index` of the lane of rank `rank`.
    HC_METHOD u32 place(u32 rank, u32 index) const {
        const u32 fours = in_fours(), columns = granules() * HOSTCALL_STREAM_GRANULE - fours * lanes;
        if (index < fours) return columns + (index / 4) * 4 * lanes + rank * 4 + index % 4;
        if ((units & 2) != 0 && index < fours + 2) return columns - 2 * lanes + rank * 2 + (index - fours);
        return left() + rank;
    }
};

/// The calling wave's ring.
struct ring {
    /// The number of the workgroup in the grid, and of the wave in the workgroup.
    HC_METHOD static u64 group() {
        const coordinates id = machine::group_id(), count = machine::group_count();
        return ((u64)id.z * count.y + id.y) * count.x + id.x;
    }
    HC_METHOD static u32 wave() {
        const coordinates id = machine::local_id(), size = machine::group_size();
        return ((id.z * size.y + id.y) * size.x + id.x) / machine::wave_size();
    }
    HC_METHOD static const hostcall_rings& rings() { return machine::rings(); }
    /// Waves are spread evenly, and by nothing that can change while one runs, so that the messages of a wave stay in
    /// order.
    HC_METHOD static u32 number() {
        const u32 own = (u32)group() * 32 + wave();
        return (u32)(((u64)(own * HOSTCALL_STREAM_SPREAD) << rings().rings_log2) >> 32);
    }
    /// What belongs to the ring, of what begins at `first`.
    HC_METHOD static u64 own(u64 first) { return first + (u64)number() * HOSTCALL_STREAM_STRIDE; }
    HC_METHOD static u64 unit(u32 index) { return rings().data + (u64)number() * rings().stride + (u64)index * 4; }

    /// Granules that have been read since the ring was attached; above them, not 0: nobody reads any more. One load, so
    /// that both are of one time. Pairs with the reader's store: the stores of the message depend on the value.
    HC_METHOD static u64 credit() { return machine::load_credit(own(rings().credit)); }
    /// Looks over the bus what the reader has said, unless `credit` shows that by itself.
    HC_METHOD static void learn() {
        if (rings().control != 0) machine::store_credit(own(rings().credit), machine::load_credit(own(rings().control)));
    }
    /// Granules that have been reserved; and reserves more.
    HC_METHOD static u32 head() { return machine::load_head(own(rings().states)); }
    HC_METHOD static u32 reserve(u32 granules) { return machine::add_head(own(rings().states), granules); }
    /// What the host wants of a stream now. The look may be stale.
    HC_METHOD static hostcall_gate gate(u32 stream) {
        return machine::load_gate(rings().gates + (u64)(stream - 1) * sizeof(hostcall_gate));
    }
    /// From where it wants messages of a stream, if its gate is bounded. They lie before the gates, backwards, and are
    /// loaded as gates are.
    HC_METHOD static hostcall_bounds bounds(u32 stream) {
        const hostcall_gate at = machine::load_gate(rings().gates - (u64)stream * sizeof(hostcall_bounds));
        return {(u32)at.lanes, (u32)(at.lanes >> 32), at.first, at.groups, at.rate_log2, at.shut, at.patience, at.bounded};
    }
    /// Adds one to a counter of the ring's for this stream, which lies at `field` of them.
    HC_METHOD static void count(u32 stream, u32 field) {
        const u32 index = ((stream - 1) << rings().rings_log2) + number();
        machine::add_count(rings().counters + (u64)index * HOSTCALL_STREAM_COUNTERS_BYTES + field);
    }
};

/// The header of a message from the calling wave.
struct message_header {
    u32 at[HOSTCALL_STREAM_HEADER_UNITS];

    HC_METHOD static message_header make(const subject& subject, const layout& layout, u64 mask, u64 time) {
        return make(subject, layout.granules(), HOSTCALL_STREAM_KIND_ROWS, layout.wide, mask, time);
    }
    HC_METHOD static message_header make(const subject& subject, u32 granules, u32 kind, bool wide, u64 mask, u64 time) {
        const u64 group = ring::group();
        const u32 lane_63 = (u32)(mask >> 63), flags = (subject.timed ? 0u : 1u) | (wide ? 4u | lane_63 << 1 : 0u);
        return {{
            (subject.stream & HOSTCALL_STREAM_MAX) | granules << 12 | kind << 23 | flags << 27,
            (u32)mask & data_bits,
            ((u32)(mask >> 31) & 1u) << 16 | (subject.weight & 15u) << 17 | (machine::launch() & 0x3ffu) << 21,
            wide ? (u32)(mask >> 32) & data_bits : 0u,
            (u32)time & data_bits,
            ((u32)(time >> 31) & 0x3ffffffu) | ((subject.values - 1) & 31u) << 26,
            (u32)group & data_bits,
            ((u32)(group >> 31) & 0xffffu) | (ring::wave() & 31u) << 16 | (machine::sm() & 0x3ffu) << 21,
        }};
    }
    HC_METHOD quad first() const { return {{at[0], at[1], at[2], at[3]}}; }
    HC_METHOD quad second() const { return {{at[4], at[5], at[6], at[7]}}; }
};

}  // namespace wire
}  // namespace hostcall

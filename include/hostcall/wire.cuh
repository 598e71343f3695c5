// Words, tags, headers, states of ports: `hostcall_abi`'s `word`, `header`, `port` and `port::group`.
#pragma once

namespace hostcall {
namespace wire {

using word = hostcall_word;

/// Payload of one word in 16-bit halves of a unit.
constexpr u32 word_halves = HOSTCALL_WORD_BYTES / 2;

/// A word of this payload (what is in the upper half of its last unit is replaced) and this raw tag.
HC_DEVICE_INLINE word make_word(u32 a, u32 b, u32 c, u32 d, u32 tag) { return {{a, b, c, (d & 0xffffu) | tag << 16}}; }

/// The raw tag of a word.
HC_DEVICE_INLINE u32 tag_of(const word& word) { return word.at[3] >> 16; }

/// Word `index` of a stream of 32-bit units, of which `unit(i)` gives the `i`-th (anything behind the last).
template <class Unit>
HC_DEVICE_INLINE word pack(u32 index, u32 tag, const Unit& unit) {
    const u32 first = index * word_halves / 2;
    const u32 a = unit(first), b = unit(first + 1), c = unit(first + 2), d = unit(first + 3);
    if (index % 2 == 0) return make_word(a, b, c, d, tag);
    return make_word(a >> 16 | b << 16, b >> 16 | c << 16, c >> 16 | d << 16, d >> 16, tag);
}

/// Unit `index` of a stream in `count` words: what `pack` packed. What would lie behind the last word is nothing.
template <u32 N>
HC_DEVICE_INLINE u32 unpack(const word (&words)[N], u32 index) {
    u32 unit = 0;
    HC_UNROLL
    for (u32 part = 0; part < 2; part++) {
        const u32 half = 2 * index + part, j = half / word_halves, at = half % word_halves;
        const u32 value = j < N ? words[j].at[at / 2] >> (at % 2 * 16) & 0xffffu : 0;
        unit |= value << (part * 16);
    }
    return unit;
}

/// Words that carry `units` units. From 2³⁰ units on it is those of 2³⁰ − 1: more than any area has.
HC_HOST_DEVICE constexpr u32 words_of(u32 units) {
    return ((units < 1u << 30 ? units : (1u << 30) - 1) * 4 + HOSTCALL_WORD_BYTES - 1) / HOSTCALL_WORD_BYTES;
}

// Tags: the sequence number, 15 bits, is the raw tag of payload.
HC_HOST_DEVICE constexpr u32 next_tag(u32 seq) { return (seq + 1) & HOSTCALL_TAG_MASK; }
HC_HOST_DEVICE constexpr u32 header_tag(u32 seq) { return seq | HOSTCALL_TAG_HEADER; }
/// Whether this message rewrites every word of its port.
HC_HOST_DEVICE constexpr bool scrubs(u32 seq) { return (seq & (HOSTCALL_SCRUB_PERIOD - 1)) == 0; }

/// Words behind the header word that carry `units` units of each of `lanes` lanes.
HC_HOST_DEVICE constexpr u32 words_for(u32 units, u32 lanes) {
    // Of a lone lane `words_of` the units but the first two, or of none.
    return lanes != 1 ? words_of(units)
                      : ((units < (1u << 30) - 1 ? units : (1u << 30) - 2) * 4 + HOSTCALL_WORD_BYTES - 1 - HOSTCALL_LONE_UNITS * 4) /
                            HOSTCALL_WORD_BYTES;
}

/// Whole units of payload of each lane, of a message with `words` words for each of `lanes` lanes.
HC_HOST_DEVICE constexpr u32 units_in(u32 words, u32 lanes) { return words * word_halves / 2 + (lanes == 1 ? HOSTCALL_LONE_UNITS : 0); }

/// Words of a lane's reply that carries `dwords` units: the head is a unit too.
HC_HOST_DEVICE constexpr u32 reply_words(u32 dwords) { return words_of(dwords < 1u << 30 ? 1 + dwords : 1u << 30); }
/// Whether a reply that carries `dwords` units has a word `j`.
HC_HOST_DEVICE constexpr bool reply_reaches(u32 dwords, u32 j) { return j == 0 || dwords > (HOSTCALL_WORD_BYTES * j - 4) / 4; }
/// Where word `j` of the `rank`-th of `lanes` lanes' reply lies in the reply area.
HC_HOST_DEVICE constexpr u32 reply_place(u32 lanes, u32 rank, u32 j, u32 lone_stride) {
    return lanes == 1 ? j * lone_stride : j * lanes + rank;
}
/// Words of the reply area that replies of `words` words to each of `lanes` lanes reach.
HC_HOST_DEVICE constexpr u32 reply_area(u32 lanes, u32 words, u32 lone_stride) {
    return lanes == 1 ? (words - 1) * lone_stride + 1 : lanes * words;
}

/// The lower half of a port's word in device memory: the lock, and what its next owner must know
/// (`hostcall_abi::port::PortState`). The upper half is the launch that gave the port back last.
struct port_state {
    u32 bits;

    HC_METHOD static port_state make(u32 tag, u32 position, bool unacked) {
        return {tag << HOSTCALL_STATE_TAG_SHIFT | position << HOSTCALL_STATE_POSITION_SHIFT | (unacked ? HOSTCALL_STATE_UNACKED : 0)};
    }
    /// The port's word, left by an owner of a launch.
    HC_METHOD u64 word(u32 launch) const { return bits | (u64)launch << 32; }
    /// The state of a port of which the host has left this mark: this one, or that behind the mark's message if the
    /// host has seen others than the device remembers. What is not acknowledged may lie there still.
    HC_METHOD port_state caught_up_with(u32 mark, u32 request_words) const {
        const u32 unseen = (tag() - mark) & HOSTCALL_TAG_MASK;
        return unseen == 0 || (unacked() && unseen <= request_words) ? *this : make(mark & HOSTCALL_TAG_MASK, 0, false);
    }
    HC_METHOD bool locked() const { return (bits & HOSTCALL_STATE_LOCKED) != 0; }
    HC_METHOD u32 tag() const { return bits >> HOSTCALL_STATE_TAG_SHIFT & HOSTCALL_TAG_MASK; }
    HC_METHOD u32 position() const { return bits >> HOSTCALL_STATE_POSITION_SHIFT; }
    HC_METHOD bool unacked() const { return (bits & HOSTCALL_STATE_UNACKED) != 0; }
    /// Whether the last message was a call that nobody waited for: its reply may still be to come.
    HC_METHOD bool abandoned() const { return unacked() && position() == 0; }
};

/// The lanes that make one call together.
template <class A>
struct group {
    typename A::mask mask;
    /// How many they are, the caller's place among them, and the first of them.
    u32 count, rank, leader;

    /// The lanes in `mask` as seen by `lane`, which is one of them.
    HC_METHOD static group make(typename A::mask mask, u32 lane) {
        using bits = typename A::mask;
        return {mask, A::count_ones(mask), A::count_ones((bits)(mask & (((bits)1 << lane) - 1))), A::first_lane(mask)};
    }
    /// The first of them, as a group that only it is in; and for what concerns its messages, what the others take it
    /// for.
    HC_METHOD group alone() const { return {(typename A::mask)((typename A::mask)1 << leader), 1, 0, leader}; }
    HC_METHOD bool leads() const { return rank == 0; }
};

/// A port that the group owns, and its state as it will be released.
struct held {
    u32 port;
    port_state state;

    /// Tag of the last message sent.
    HC_METHOD u32 tag() const { return state.tag(); }
};

/// The first words of one lane's reply.
template <u32 N>
struct reply {
    /// How the call ended, and payload in units.
    u32 status, dwords;
    word words[N];

    /// What stands for the reply to a call that got none.
    HC_METHOD static reply without(u32 status) {
        reply reply = {};
        reply.status = status;
        return reply;
    }
    /// Unit `index` of the payload, which lies in the words.
    HC_METHOD u32 unit(u32 index) const { return unpack(words, index + 1); }
};

}  // namespace wire
}  // namespace hostcall

// Messages of streams, as the client in C++ sends them, over a machine whose every access is a function of the test's,
// for one lane of a wave.
//
// Lanes and their collectives are the simulator's: the test is the simulator. What concerns rings is told to the test
// instead of made.
#include "hostcall_abi.h"

#include "hostcall/config.cuh"

#define machine sim_machine
#include "hostcall/machine_sim.cuh"
#undef machine

extern "C" {

/// What the machine asks of the test: `Ring` in `tests/stream_words.rs`.
struct ring_table {
    hostcall::u64 (*load_credit)(hostcall::u64);
    void (*store_credit)(hostcall::u64, hostcall::u64);
    hostcall::u32 (*load_head)(hostcall::u64);
    hostcall::u32 (*add_head)(hostcall::u64, hostcall::u32);
    void (*load_gate)(hostcall::u64, hostcall_gate*);
    hostcall::u32 (*dice)();
    void (*add_count)(hostcall::u64);
    void (*store_units)(hostcall::u64, hostcall::u32, const hostcall::u32*);
    void (*nap)(hostcall::u32);
    hostcall::u32 (*is_private)(hostcall::u64);
};

/// What a lane sends. Kinds: 0 a value, 1 the first lane's value, 2 bytes, 3 the first lane's bytes.
struct stream_message {
    hostcall::u32 kind, word, values, units;
    const hostcall::u32* value;
    hostcall::u64 address, length;
};

}  // extern "C"

namespace {
const ring_table* table;
}

namespace hostcall {

struct machine : sim_machine {
    static bool is_private(u64 address) { return table->is_private(address) != 0; }
    static u64 load_credit(u64 at) { return table->load_credit(at); }
    static void store_credit(u64 at, u64 credit) { table->store_credit(at, credit); }
    static u32 load_head(u64 at) { return table->load_head(at); }
    static u32 add_head(u64 at, u32 granules) { return table->add_head(at, granules); }
    static hostcall_gate load_gate(u64 at) {
        hostcall_gate gate;
        table->load_gate(at, &gate);
        return gate;
    }
    static u32 dice() { return table->dice(); }
    static void add_count(u64 at) { table->add_count(at); }
    template <u32 N>
    static void store_units(u64 at, const u32 (&values)[N]) {
        table->store_units(at, N, values);
    }
    static void nap(u32 attempt) { table->nap(attempt); }
};

}  // namespace hostcall

#include "hostcall/wire.cuh"
#include "hostcall/client.cuh"
#include "hostcall/types.cuh"
#include "hostcall/codec.cuh"
#include "hostcall/service.cuh"
#include "hostcall/answer.cuh"
#include "hostcall/fixed_call.cuh"
#include "hostcall/copy.cuh"
#include "hostcall/rings.cuh"
#include "hostcall/stream.cuh"
#include "hostcall/stream_bytes.cuh"

namespace {

using hostcall::u32;

template <bool Once, u32 Units>
hostcall::sent send_value(const stream_message& m) {
    if constexpr (Units > 1) {
        if (m.units < Units) return send_value<Once, Units - 1>(m);
    }
    u32 units[Units];
    for (u32 i = 0; i < Units; i++) units[i] = m.value[i];
    return hostcall::wire::send_units<Once>(0, m.word, m.values, units);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void hc_ring_begin(const ring_table* ring, const void* lanes, const hostcall_rings* rings) {
    table = ring;
    __hostcall_sim_ops = lanes;
    __hostcall_rings = *rings;
}

/// Sends one message of the calling lane; a `sent`.
__attribute__((visibility("default"))) u32 hc_ring_send(const stream_message* m) {
    switch (m->kind) {
        case 0: return (u32)send_value<false, HOSTCALL_STREAM_MAX_UNITS>(*m);
        case 1: return (u32)send_value<true, HOSTCALL_STREAM_MAX_UNITS>(*m);
        default: {
            const auto mask = hostcall::machine::converged_at(0);
            return (u32)hostcall::wire::send_bytes(mask, m->kind == 3, m->word, m->address, m->length);
        }
    }
}

}  // extern "C"

// The client in C++ over a machine whose every access is a function of the test's, for one lane of a program of
// messages.
#include "hostcall.cuh"

using hostcall::u32;
using hostcall::u64;

extern "C" {

/// The machine, as the test implements it: `recorded::Machine` in `tests/words.rs`.
struct machine_table {
    u32 (*lane)();
    u64 (*ballot)(u64, u32);
    u32 (*broadcast)(u64, u32, u32);
    void (*sync)(u64);
    void (*pause)(u32);
    void (*pause_for_waves)(u32);
    u64 (*now_ns)();
    void (*before_first_poll)(u32);
    u32 (*first_port)();
    u32 (*ports)();
    u32 (*request_words)();
    u32 (*reply_words)();
    u32 (*lone_stride)();
    u32 (*has_window)();
    u32 (*launch)();
    u32 (*mark)(u32);
    u64 (*lock_port)(u32);
    void (*unlock_port)(u32, u64);
    void (*store_request)(u32, u32, const hostcall_word*);
    void (*load_reply)(u32, u32, hostcall_word*);
    void (*ring)(u32, u32);
    u32 (*closed)();
    u32 (*known_closed)();
    void (*remember_closed)(u32);
};

/// One message, and what becomes of it.
struct message {
    u64 mask, deadline_ns;
    u32 kind, service, flags, units, seed, reply_words;
};

/// What the lane got: a status, and of a call the reply's head and first units.
struct outcome {
    u32 status, reply_status, dwords, units[3];
};

}  // extern "C"

namespace {

const machine_table* table;

struct recorded {
    using mask = u64;

    static u32 lane() { return table->lane(); }
    static u64 ballot(u64 mask, bool predicate) { return table->ballot(mask, predicate); }
    static u32 broadcast(u64 mask, u32 value, u32 from) { return table->broadcast(mask, value, from); }
    static void sync(u64 mask) { table->sync(mask); }
    static void pause(u32 attempt) { table->pause(attempt); }
    static void pause_for_waves(u32 attempt) { table->pause_for_waves(attempt); }
    static u64 now_ns() { return table->now_ns(); }
    static void before_first_poll(u32 lanes) { table->before_first_poll(lanes); }
    static u32 first_port() { return table->first_port(); }
    static u32 ports() { return table->ports(); }
    static u32 request_words() { return table->request_words(); }
    static u32 reply_words() { return table->reply_words(); }
    static u32 lone_stride() { return table->lone_stride(); }
    static bool has_window() { return table->has_window() != 0; }
    static u32 launch() { return table->launch(); }
    static u32 mark(u32 port) { return table->mark(port); }
    static u64 lock_port(u32 port) { return table->lock_port(port); }
    static void unlock_port(u32 port, u64 word) { table->unlock_port(port, word); }
    static void store_request(u32 port, u32 index, const hostcall_word& word) { table->store_request(port, index, &word); }
    static hostcall_word load_reply(u32 port, u32 index) {
        hostcall_word word;
        table->load_reply(port, index, &word);
        return word;
    }
    static void ring(u32 port, u32 tag) { table->ring(port, tag); }
    static u32 closed() { return table->closed(); }
    static u32 known_closed() { return table->known_closed(); }
    static void remember_closed(u32 status) { table->remember_closed(status); }
    static u32 count_ones(u64 bits) { return (u32)__builtin_popcountll(bits); }
    static u32 first_lane(u64 mask) { return (u32)__builtin_ctzll(mask); }
};

using client = hostcall::wire::client<recorded>;
using group = hostcall::wire::group<recorded>;

/// Unit `i` of a message.
struct unit_of {
    const message& m;
    u32 operator()(u32 i) const { return i < m.units ? (m.seed + i) * 0x9e3779b9u ^ recorded::lane() : 0; }
};

template <u32 Units>
u32 send(const group& all, hostcall::wire::held& held, const message& m) {
    if (m.units == Units) return client::send<Units>(all, held, m.service, m.flags, unit_of{m});
    if constexpr (Units > 0) return send<Units - 1>(all, held, m);
    return client::send_long(all, held, m.service, m.flags, m.units, unit_of{m});
}

/// Unit `i` of a message that is the first lane's.
struct shared_unit_of {
    const message& m;
    u32 operator()(u32 i) const { return i < m.units ? (m.seed + i) * 0x9e3779b9u : 0; }
};

template <u32 Words>
void receive_together(const group& all, hostcall::wire::held& held, outcome& out) {
    const auto reply = client::receive_together<Words>(all, held);
    out.reply_status = reply.status;
    out.dwords = reply.dwords;
    for (u32 i = 0; i < 3; i++) out.units[i] = reply.unit(i);
}

/// `m.units` are at most `Units`.
template <u32 Units>
void together(const group& all, hostcall::wire::held& held, const message& m, outcome& out) {
    if constexpr (Units > 0) {
        if (m.units < Units) return together<Units - 1>(all, held, m, out);
    }
    out.status = client::send_together<Units>(all, held, m.service, m.flags, shared_unit_of{m});
    if (out.status != 0 || m.kind != 4) return;
    if (m.reply_words == 1) receive_together<1>(all, held, out);
    if (m.reply_words == 2) receive_together<2>(all, held, out);
    if (m.reply_words == 3) receive_together<3>(all, held, out);
}

template <u32 Words>
void receive(const group& all, hostcall::wire::held& held, const message& m, bool late, outcome& out) {
    const auto reply = late ? client::receive_late<Words>(all, held, m.deadline_ns) : client::receive<Words>(all, held, m.deadline_ns);
    out.reply_status = reply.status;
    out.dwords = reply.dwords;
    for (u32 i = 0; i < 3; i++) out.units[i] = reply.unit(i);
    if (reply.status == 0 && Words == 1 && hostcall::wire::reply_words(reply.dwords) > 1) {
        hostcall_word more[2];
        client::reply_words<2>(all, held, 1, hostcall::wire::reply_words(reply.dwords), more);
        out.units[2] = more[0].at[0];
    }
}

}  // namespace

/// Carries out one message for the calling lane. Kinds: 0 a call, 1 a post, 2 a call that is dropped, 3 one over a port
/// that is kept, and fetched late, 4 and 5 a call and a post of the first lane with the help of the others.
extern "C" __attribute__((visibility("default"))) void hc_carry_out(const machine_table* machine, const message* m, outcome* out) {
    table = machine;
    *out = {};
    const group all = group::make(m->mask, recorded::lane());
    hostcall::wire::held held;
    out->status = client::acquire(all, m->kind != 3, held);
    if (out->status != 0) return;
    if (m->kind >= 4) {
        together<40>(all, held, *m, *out);
        client::release(all, held);
        return;
    }
    out->status = m->units <= 20 ? send<20>(all, held, *m) : client::send_long(all, held, m->service, m->flags, m->units, unit_of{*m});
    if (out->status == 0 && (m->kind == 0 || m->kind == 3)) {
        const bool late = m->kind == 3;
        if (late) (void)client::ready(all, held);
        if (m->reply_words == 1) receive<1>(all, held, *m, late, *out);
        if (m->reply_words == 2) receive<2>(all, held, *m, late, *out);
        if (m->reply_words == 3) receive<3>(all, held, *m, late, *out);
    }
    client::release(all, held);
}

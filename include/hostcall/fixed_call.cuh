// Calls whose arguments and results have fixed sizes: `hostcall-device`'s `call` and `pending`.
//
// A call goes this way: the stub encodes its arguments into 32-bit units; `group_at` finds the lanes that call
// together; `acquire` takes a port; `send`, `receive`, `release`; the stub decodes its result. If the messages of all
// lanes do not fit, the lanes call in turns.
#pragma once

namespace hostcall {
namespace wire {

using lanes = group<machine>;
using port_client = client<machine>;

/// Lanes of `mask` disagree on `key`; those of `same` agree with its first lane. The calling lane's own.
HC_COLD inline machine::mask split(machine::mask mask, machine::mask same, u32 lane, u32 key) {
    while ((same >> lane & 1) == 0) {
        mask &= ~same;
        same = machine::ballot(mask, machine::broadcast(mask, key, machine::first_lane(mask)) == key);
    }
    return same;
}

/// Those of `mask`, which are together here, that agree with this lane on `key`.
HC_DEVICE_INLINE machine::mask agreeing(machine::mask mask, u32 lane, u32 key) {
    const machine::mask same = machine::ballot(mask, machine::broadcast(mask, key, machine::first_lane(mask)) == key);
    return same == mask ? mask : split(mask, same, lane, key);
}

/// The lanes that call `site` together with this one and agree on `key`.
HC_DEVICE_INLINE lanes group_at(u64 site, u32 key) {
    const machine::mask mask = machine::converged_at(site);
    const u32 lane = machine::lane();
    return lanes::make(agreeing(mask, lane, key), lane);
}

// What is called: the service that has a name, by its word, or one that came as a value. Its number, 0 if it is nobody;
// and what tells its stub from others, for `group_at`.
HC_DEVICE_INLINE u32 number_of(const service_word* word) { return machine::load_number(word); }
HC_DEVICE_INLINE u32 number_of(const given& called) { return called.number(); }
HC_DEVICE_INLINE u64 site_of(const service_word* word) { return (u64)word; }
HC_DEVICE_INLINE u64 site_of(const given& called) { return (u64)called.word(); }

/// Whether a message of `units` units of each of `count` lanes fits into a port's areas, and replies of `words` words.
HC_DEVICE_INLINE bool fits(u32 units, u32 words, u32 count) {
    const u32 request = words_for(units, count);
    // First what keeps the products small.
    return request <= 255 && words <= machine::reply_words() && count * request < machine::request_words() &&
           reply_area(count, words, machine::lone_stride()) <= machine::reply_words();
}

/// As many of the first lanes of `rest` as fit into one message; none if not even one does.
HC_COLD inline machine::mask first_turn(machine::mask rest, u32 units, u32 words) {
    machine::mask turn = rest;
    while (turn != 0 && !fits(units, words, machine::count_ones(turn))) {
        machine::mask last = turn;
        // Without all but the last of them.
        while ((last & (last - 1)) != 0) last &= last - 1;
        turn &= ~last;
    }
    return turn;
}

/// Those of `mask` whose turn is also that of `lane`; none if not even one lane's message fits.
HC_COLD inline machine::mask turn_of(machine::mask mask, u32 lane, u32 units, u32 words) {
    machine::mask rest = mask, turn;
    do {
        turn = first_turn(rest, units, words);
        rest &= ~turn;
    } while (turn != 0 && (turn >> lane & 1) == 0);
    return turn;
}

/// Runs `message` for the lanes of a call, in as many turns as it takes: all together if their messages fit into the
/// port's areas, else as many at a time as do. Not at all for lanes of which not even one's message fits.
template <class Message>
HC_DEVICE_INLINE void in_turns(const lanes& all, u32 units, u32 words, const Message& message) {
    if constexpr (machine::independent_lanes) {
        // No way back from a message to the next turn: a loop around the message would keep its arguments in registers
        // while it waits.
        machine::mask turn = all.mask;
        if (!fits(units, words, all.count)) turn = turn_of(all.mask, machine::lane(), units, words);
        if (turn != 0) message(turn == all.mask ? all : lanes::make(turn, machine::lane()));
    } else {
        // Lanes go in step: those whose turn it is not wait until all go on.
        for (machine::mask rest = all.mask; rest != 0;) {
            const machine::mask turn = fits(units, words, machine::count_ones(rest)) ? rest : first_turn(rest, units, words);
            if (turn == 0) return;
            rest &= ~turn;
            if ((turn >> machine::lane() & 1) != 0) message(lanes::make(turn, machine::lane()));
            machine::sync(all.mask);
        }
    }
}

/// Units of a payload, 0 behind them.
template <u32 N>
struct payload {
    const u32 (&units)[N];
    u32 count;

    HC_METHOD u32 operator()(u32 i) const { return i < count ? units[i] : 0; }
};

/// Sends a request over a port that the lanes own, and receives their replies.
template <u32 Units, u32 ReplyWords, u32 Room>
HC_DEVICE_INLINE reply<ReplyWords> exchange(const lanes& all, held& held, u32 number, const u32 (&units)[Room]) {
    const u32 status = port_client::send<Units>(all, held, number, HOSTCALL_FLAG_REPLY, payload<Room>{units, Units});
    if (status != HOSTCALL_STATUS_OK) return reply<ReplyWords>::without(status);
    return port_client::receive<ReplyWords>(all, held, 0);
}

/// Calls a service and waits.
template <class R, u32 Units, class Called, u32 Room>
HC_DEVICE_INLINE answer<R> call_fixed(const Called& called, const u32 (&units)[Room]) {
    constexpr u32 words = wire::reply_words(codec::fixed<R>::units);
    const u32 number = number_of(called);
    if (number == 0) return no_answer<R>(HOSTCALL_STATUS_UNKNOWN_SERVICE, 0);
    auto reply = wire::reply<words>::without(HOSTCALL_STATUS_TOO_LARGE);
    in_turns(group_at(site_of(called), number), Units, words, [&](const lanes& turn) {
        held held;
        const u32 status = port_client::acquire(turn, true, held);
        if (status == HOSTCALL_STATUS_OK) {
            reply = exchange<Units, words>(turn, held, number, units);
            port_client::release(turn, held);
        } else {
            reply.status = status;
        }
    });
    return decode<R>(reply);
}

/// Sends a message that nobody waits for.
template <u32 Units, class Called, u32 Room>
HC_DEVICE_INLINE answer<void> post_fixed(const Called& called, const u32 (&units)[Room]) {
    const u32 number = number_of(called);
    if (number == 0) return no_answer<void>(HOSTCALL_STATUS_UNKNOWN_SERVICE, 0);
    u32 status = HOSTCALL_STATUS_TOO_LARGE;
    in_turns(group_at(site_of(called), number), Units, 1, [&](const lanes& turn) {
        held held;
        status = port_client::acquire(turn, true, held);
        if (status == HOSTCALL_STATUS_OK) {
            status = port_client::send<Units>(turn, held, number, 0, payload<Room>{units, Units});
            port_client::release(turn, held);
        }
    });
    if (status != HOSTCALL_STATUS_OK) return no_answer<void>(status, 0);
    return {};
}

}  // namespace wire

/// A port that a wave keeps for several calls, which saves each call the taking of one.
///
/// All lanes that were converged when it was taken must make its calls together. Other calls may be made meanwhile: the
/// buffer's last port is never kept, so there is always one for them.
class port {
public:
    /// Takes a port for the lanes that run converged here. If no port is free that may be kept, `status` is `BUSY`, and
    /// so are the calls over it: they can be made without it.
    HC_METHOD static port hold(place here = place::current()) { return port(here); }

    HC_METHOD explicit operator bool() const { return why_ == HOSTCALL_STATUS_OK; }
    HC_METHOD hostcall::status status() const { return (hostcall::status)why_; }

    port(const port&) = delete;
    port& operator=(const port&) = delete;
    HC_METHOD ~port() {
        if (why_ == HOSTCALL_STATUS_OK) wire::port_client::release(lanes_, held_);
    }

    // For the stubs.

    template <class R, u32 Units, u32 Room>
    HC_METHOD answer<R> call(const service_word* word, const u32 (&units)[Room]) {
        u32 why;
        const u32 number = number_of(word, why);
        if (number == 0) return wire::no_answer<R>(why, 0);
        constexpr u32 words = wire::reply_words(codec::fixed<R>::units);
        // All replies' words are read, however short they are.
        if (words > 1 && !wire::fits(Units, words, lanes_.count)) return wire::no_answer<R>(HOSTCALL_STATUS_TOO_LARGE, 0);
        return wire::decode<R>(wire::exchange<Units, words>(lanes_, held_, number, units));
    }
    template <u32 Units, u32 Room>
    HC_METHOD answer<void> post(const service_word* word, const u32 (&units)[Room]) {
        u32 why;
        const u32 number = number_of(word, why);
        if (number == 0) return wire::no_answer<void>(why, 0);
        const u32 status = wire::port_client::send<Units>(lanes_, held_, number, 0, wire::payload<Room>{units, Units});
        if (status != HOSTCALL_STATUS_OK) return wire::no_answer<void>(status, 0);
        return {};
    }

    template <class R, u32 Units, u32 Room>
    HC_METHOD answer<R> call_together(const service_word* word, const u32 (&units)[Room]);
    template <u32 Units, u32 Room>
    HC_METHOD answer<void> post_together(const service_word* word, const u32 (&units)[Room]);

private:
    wire::lanes lanes_;
    wire::held held_;
    u32 why_;

    /// Number of the service, or 0 with why there can be no call.
    HC_METHOD u32 number_of(const service_word* word, u32& why) const {
        const u32 number = machine::load_number(word);
        why = number == 0 ? HOSTCALL_STATUS_UNKNOWN_SERVICE : why_;
        return why == HOSTCALL_STATUS_OK ? number : 0;
    }

    HC_METHOD explicit port(place here)
        : lanes_(wire::group_at(here.site(), 0)), held_{}, why_(wire::port_client::acquire(lanes_, false, held_)) {}
};

/// A call under way whose result is a `T`. It holds a port until it is waited for or ends its life. The lanes that
/// started it together must wait for it together.
template <class T>
class pending {
public:
    pending(const pending&) = delete;
    pending& operator=(const pending&) = delete;
    /// A call whose result nobody waited for is carried out all the same; the port's next owner waits for it.
    HC_METHOD ~pending() { give_back(); }

    /// Whether it was sent. If it was not, `wait` says why.
    HC_METHOD explicit operator bool() const { return why_ == HOSTCALL_STATUS_OK; }
    /// Whether every lane's result is there, or none will come. One look.
    HC_METHOD bool is_ready() const { return !holds_ || wire::port_client::ready(lanes_, held_); }
    /// Waits for the result. Once.
    HC_METHOD answer<T> wait() { return finish(0); }
    /// Waits for the result, at most `ns` nanoseconds. A call that was given up is still carried out; its port is
    /// reused once the host has answered.
    HC_METHOD answer<T> wait_timeout(u64 ns) {
        const u64 now = machine::now_ns(), deadline = now + (ns == 0 ? 1 : ns);
        return finish(deadline < now ? ~0ull : deadline);
    }

    // For the stubs.

    /// Sends the call.
    template <u32 Units, u32 Room>
    HC_METHOD static pending start(const service_word* word, const u32 (&units)[Room]) {
        return pending(word, machine::load_number(word), wire::payload<Room>{units, Units}, size<Units>{});
    }

private:
    template <u32 Units>
    struct size {};
    static constexpr u32 words = wire::reply_words(codec::fixed<T>::units);

    wire::lanes lanes_;
    wire::held held_;
    /// Why it was not sent.
    u32 why_;
    bool holds_ = false;

    template <u32 Units, u32 Room>
    HC_METHOD pending(const service_word* word, u32 number, wire::payload<Room> payload, size<Units>)
        : lanes_(wire::group_at(wire::site_of(word), number)), held_{}, why_(HOSTCALL_STATUS_UNKNOWN_SERVICE) {
        if (number == 0) return;
        why_ = HOSTCALL_STATUS_TOO_LARGE;
        if (!wire::fits(Units, words, lanes_.count)) return;
        why_ = wire::port_client::acquire(lanes_, false, held_);
        if (why_ != HOSTCALL_STATUS_OK) return;
        holds_ = true;
        why_ = wire::port_client::send<Units>(lanes_, held_, number, HOSTCALL_FLAG_REPLY, payload);
        if (why_ != HOSTCALL_STATUS_OK) give_back();
    }

    HC_METHOD answer<T> finish(u64 deadline_ns) {
        if (!holds_) return wire::no_answer<T>(why_ == HOSTCALL_STATUS_OK ? HOSTCALL_STATUS_FINISHED : why_, 0);
        const auto reply = wire::port_client::receive_late<words>(lanes_, held_, deadline_ns);
        give_back();
        return wire::decode<T>(reply);
    }
    HC_METHOD void give_back() {
        if (holds_) wire::port_client::release(lanes_, held_);
        holds_ = false;
    }
};

}  // namespace hostcall

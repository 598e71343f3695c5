// The client half of the state machine: `hostcall_abi::port::Client`, function by function, over a machine `A`.
//
// Results on the way are status numbers, which stay in registers.
#pragma once

namespace hostcall {
namespace wire {

/// "No port" among port numbers.
constexpr u32 no_port = ~0u;
/// While it polls alone, the leader looks at the server's `closed` word, and rings again, once in so many attempts.
constexpr u32 closed_check = 8;
/// Attempts after which a waiting group lets its leader poll one word alone: over the bus, and in the device's own
/// memory.
constexpr u32 eager_attempts = 24, eager_attempts_window = 96;

template <class A>
struct client {
    using mask = typename A::mask;
    using group = wire::group<A>;

    /// Takes a port: the first free one from the wave's own on. `wait`: for one message, and if none is free the group
    /// waits. Otherwise to keep it: nobody waits for a port to keep, and the buffer's last port is never kept, so that
    /// who waits for one gets one.
    HC_METHOD static u32 acquire(const group& lanes, bool wait, held& held) {
        u32 port = no_port;
        u32 state = A::ports() == 0 ? HOSTCALL_STATUS_SERVER_GONE : HOSTCALL_STATUS_BUSY;
        if (lanes.leads() && A::ports() > not_kept(wait)) {
            port = A::first_port();
            if (!wait && port + 1 == A::ports()) port = 0;
            // Two independent accesses to the device's memory: they cost the time of one.
            const u32 closed = A::known_closed();
            const u64 word = A::lock_port(port);
            state = (u32)word;
            if (closed != 0 || port_state{state}.locked() || port_state{state}.abandoned() || (u32)(word >> 32) != A::launch()) {
                const u64 other = acquire_other(port, word, closed, wait);
                port = (u32)other;
                state = (u32)(other >> 32);
            }
        }
        port = A::broadcast(lanes.mask, port, lanes.leader);
        state = A::broadcast(lanes.mask, state, lanes.leader);
        held = {port, {state}};
        return port == no_port ? state : HOSTCALL_STATUS_OK;
    }

    /// Gives a port back.
    HC_METHOD static void release(const group& lanes, const held& held) {
        // Every lane has read what it wanted before the next owner may cause the words to change.
        A::sync(lanes.mask);
        if (lanes.leads()) A::unlock_port(held.port, held.state.word(A::launch()));
    }

    /// Why something other than a port that the server lends was not to be had: the status with which it closed the
    /// buffer, if that is known.
    HC_METHOD static u32 known_end() {
        const u32 closed = A::known_closed();
        return closed == 0 ? HOSTCALL_STATUS_BUSY : closed;
    }

    /// Sends a message of `Units` units of payload per lane, of which `unit(i)` gives the calling lane's `i`-th.
    template <u32 Units, class Unit>
    HC_METHOD static u32 send(const group& lanes, held& held, u32 service, u32 flags, const Unit& unit) {
        return send_as<Units, true>(lanes, held, service, flags, Units, unit);
    }
    /// As `send`, where `units` are no constant, or many: less code, and `unit` may as well look into memory.
    template <class Unit>
    HC_METHOD static u32 send_long(const group& lanes, held& held, u32 service, u32 flags, u32 units, const Unit& unit) {
        return send_as<0, false>(lanes, held, service, flags, units, unit);
    }

    /// Sends the message of one lane, the group's first, in which all of the group help: each stores a word of it, all
    /// of them by one instruction. `unit(i)` gives the same for all lanes of the group. Otherwise as `send`.
    template <u32 Units, class Unit>
    HC_METHOD static u32 send_together(const group& lanes, held& held, u32 service, u32 flags, const Unit& unit) {
        constexpr u32 words = words_for(Units, 1);
        u32 base, tag;
        const u32 status = place(lanes, held, 1, words, flags, base, tag);
        if (status != HOSTCALL_STATUS_OK) return status;
        word mine = lone_header(lanes.leader, service | words << 16 | flags << 24, tag, unit);
        // The word of the first lane in this round, and the lane whose word was the last.
        u32 first = base, last = 0;
        if constexpr (words != 0) {
            const auto rest = [&unit](u32 i) { return unit(i + HOSTCALL_LONE_UNITS); };
            HC_UNROLL
            for (u32 j = 0; j < words; j++) {
                const word word = pack(j, tag, rest);
                last++;
                if (last == lanes.count) {
                    // More words than lanes: each has one now.
                    A::store_request(held.port, first + lanes.rank, mine);
                    first += lanes.count;
                    last = 0;
                }
                if (last == lanes.rank) mine = word;
            }
        }
        if (lanes.rank <= last) A::store_request(held.port, first + lanes.rank, mine);
        sent(lanes, held.port, 1 + words, tag);
        return status;
    }

    /// The most payload bytes per lane that a message of `count` lanes can carry.
    HC_METHOD static u32 largest(u32 count) {
        const u32 words = (A::request_words() - 1) / count;
        return 4 * units_in(words > 255 ? 255 : words, count);
    }

    /// Waits until the server has copied all of the port's last message. Gives OK or the status with which it closed
    /// the buffer. (It and what else crosses into the rare paths is passed as numbers, which stay in registers.)
    HC_COLD static u32 await_ack(mask lanes, u32 port, u32 want) {
        const group group = group::make(lanes, A::lane());
        u32 closed = 0;
        if (group.leads()) {
            u32 attempt = 0;
            while (tag_of(A::load_reply(port, 0)) != want) {
                attempt++;
                if (attempt % closed_check == 0) {
                    A::ring(port, want);
                    closed = check_closed();
                    // The server acknowledges everything it has before it closes; look once more.
                    if (closed != 0 && tag_of(A::load_reply(port, 0)) != want) break;
                    closed = 0;
                }
                A::pause(attempt);
            }
        }
        return A::broadcast(group.mask, closed, group.leader);
    }

    /// Whether every lane's reply to the last message is there. For the whole group.
    HC_METHOD static bool ready(const group& lanes, const held& held) {
        const u32 tag = tag_of(A::load_reply(held.port, place_of(lanes, 0)));
        return A::ballot(lanes.mask, tag != held.tag()) == 0;
    }

    /// Waits for the replies to the last message and reads each lane's first `N` words. If `deadline_ns` (0 for none)
    /// passes, or the server closes the buffer, the status says so, and the port is left abandoned: its next owner
    /// waits for the late reply.
    template <u32 N>
    HC_METHOD static reply<N> receive(const group& lanes, held& held, u64 deadline_ns) {
        A::before_first_poll(lanes.count);
        return receive_late<N>(lanes, held, deadline_ns);
    }
    /// As `receive`, of a request that was sent some time ago: looks at once.
    template <u32 N>
    HC_METHOD static reply<N> receive_late(const group& lanes, held& held, u64 deadline_ns) {
        return await_reply<N>(lanes, lanes, held, deadline_ns);
    }
    /// As `receive`, of a message that one lane sent with the help of all (`send_together`): every lane of the group
    /// reads its reply.
    template <u32 N>
    HC_METHOD static reply<N> receive_together(const group& lanes, held& held) {
        A::before_first_poll(1);
        return await_reply<N>(lanes, lanes.alone(), held, 0);
    }

    /// Waits for the reply to what `asked` sent; `lanes` are those who wait.
    template <u32 N>
    HC_METHOD static reply<N> await_reply(const group& lanes, const group& asked, held& held, u64 deadline_ns) {
        static_assert(N >= 1, "a reply has a word");
        const u32 want = held.tag();
        const u32 eager = A::has_window() ? eager_attempts_window : eager_attempts;
        reply<N> reply;
        u32 attempt = 0;
        for (;;) {
            HC_UNROLL
            for (u32 j = 0; j < N; j++) reply.words[j] = A::load_reply(held.port, place_of(asked, j));
            const u32 head = reply.words[0].at[0];
            reply.status = head & 0xffffu;
            reply.dwords = head >> 16;
            // Without branches, which each are on the way of every reply.
            u32 missing = tag_of(reply.words[0]) != want;
            HC_UNROLL
            for (u32 j = 1; j < N; j++) missing |= (u32)reply_reaches(reply.dwords, j) & (u32)(tag_of(reply.words[j]) != want);
            // A lane alone asks nobody.
            const bool there = lanes.count == 1 ? missing == 0 : A::ballot(lanes.mask, missing != 0) == 0;
            if (there) {
                held.state = port_state::make(held.tag(), 0, false);
                return reply;
            }
            attempt++;
            if (attempt >= eager) {
                const u32 status = wait_slowly(lanes.mask, asked.count, held.port, want, attempt, deadline_ns);
                if (status != HOSTCALL_STATUS_OK) return wire::reply<N>::without(status);
            }
            A::pause(attempt);
        }
    }

    /// Reads the words of the calling lane's reply from `index` on that are below `end`, at most `N`, waiting for them.
    template <u32 N>
    HC_METHOD static void reply_words(const group& lanes, const held& held, u32 index, u32 end, word (&words)[N]) {
        const u32 want = held.tag();
        u32 attempt = 0;
        for (;;) {
            bool missing = false;
            HC_UNROLL
            for (u32 j = 0; j < N; j++) {
                words[j] = index + j < end ? A::load_reply(held.port, place_of(lanes, index + j)) : make_word(0, 0, 0, 0, want);
            }
            HC_UNROLL
            for (u32 j = 0; j < N; j++) missing |= tag_of(words[j]) != want;
            // The server writes all of a message's replies in one go, so this is at most a matter of the bus.
            if (!missing) return;
            attempt++;
            A::pause(attempt);
        }
    }

private:
    /// Ports, the last ones, that are not taken: the very last, if the port is to be kept.
    HC_METHOD static u32 not_kept(bool wait) { return wait ? 0 : 1; }

    /// Where word `j` of the calling lane's reply lies.
    HC_METHOD static u32 place_of(const group& lanes, u32 j) { return reply_place(lanes.count, lanes.rank, j, A::lone_stride()); }

    /// The status with which the server closed the buffer, 0 while it serves; what it finds over the bus is remembered.
    HC_METHOD static u32 check_closed() {
        const u32 known = A::known_closed();
        if (known != 0) return known;
        const u32 closed = A::closed();
        if (closed != 0) A::remember_closed(closed);
        return closed;
    }

    /// The wave's own port, whose word was `word`, is held, abandoned or new to the launch, or the buffer is `closed`:
    /// looks at all ports, one after another, round and round. Gives a port (low half) and its state, or none and why.
    HC_COLD static u64 acquire_other(u32 first, u64 word, u32 closed, bool wait) {
        const u32 ports = A::ports() - not_kept(wait);
        u32 port = first, attempt = 0, state = up_to_date(port, word, closed);
        for (;;) {
            if (!port_state{state}.locked()) {
                // The end first, before anything that reads over the bus: once it is known, all that calls must learn
                // of it at once.
                if (closed == 0 && (!port_state{state}.abandoned() || answered(port, state))) return both(port, state);
                // Closed, or the host still works on a call that was given up: as good as held.
                // (Of no launch: who takes it next compares it with the mark.)
                A::unlock_port(port, state);
            }
            if (closed != 0) return both(no_port, closed);
            port++;
            if (port == ports) port = 0;
            if (port == first) {
                // No port is free. Whoever holds the last one waits for the server only, so it will come free.
                if (!wait) return both(no_port, HOSTCALL_STATUS_BUSY);
                const u32 end = check_closed();
                if (end != 0) return both(no_port, end);
                attempt++;
                A::pause_for_waves(attempt);
            }
            closed = A::known_closed();
            state = up_to_date(port, A::lock_port(port), closed);
        }
    }
    /// The state of a port with this word. The first owner of a launch compares it with what the host has seen. If the
    /// buffer is `closed` or the port held there is nothing to compare.
    HC_COLD static u32 up_to_date(u32 port, u64 word, u32 closed) {
        const port_state state = {(u32)word};
        if (closed != 0 || state.locked() || (u32)(word >> 32) == A::launch()) return state.bits;
        return state.caught_up_with(A::mark(port), A::request_words()).bits;
    }
    HC_METHOD static u64 both(u32 port, u32 state) { return (u64)state << 32 | port; }

    /// Whether the last message of a port, abandoned by an earlier owner, has been answered. If not, rings for it:
    /// nobody else would.
    HC_COLD static bool answered(u32 port, u32 state) {
        const u32 tag = port_state{state}.tag();
        const bool answered = tag_of(A::load_reply(port, 0)) == tag;
        if (!answered) A::ring(port, tag);
        return answered;
    }

    template <u32 Units, bool Straight, class Unit>
    HC_METHOD static u32 send_as(const group& lanes, held& held, u32 service, u32 flags, u32 units, const Unit& unit) {
        const u32 words = words_for(units, lanes.count);
        u32 base, tag;
        const u32 status = place(lanes, held, lanes.count, words, flags, base, tag);
        if (status != HOSTCALL_STATUS_OK) return status;
        const u32 head = service | words << 16 | flags << 24;
        if (lanes.count == 1) {
            A::store_request(held.port, base, lone_header(lanes.leader, head, tag, unit));
            const auto rest = [&unit](u32 i) { return unit(i + HOSTCALL_LONE_UNITS); };
            store_words<Straight, words_for(Units, 1)>(held.port, (u64)base + 1, 1, words, tag, rest);
        } else {
            if (lanes.leads()) {
                const u32 low = (u32)lanes.mask, high = (u32)((u64)lanes.mask >> 32);
                A::store_request(held.port, base, make_word(head, low << 16, low >> 16 | high << 16, high >> 16, header_tag(tag)));
            }
            store_words<Straight, words_of(Units)>(held.port, (u64)base + 1 + lanes.rank, lanes.count, words, tag, unit);
        }
        sent(lanes, held.port, 1 + lanes.count * words, tag);
        return status;
    }

    /// The header of a message of one lane, in which its first units are.
    template <class Unit>
    HC_METHOD static word lone_header(u32 lane, u32 head, u32 tag, const Unit& unit) {
        const u32 a = unit(0), b = unit(1);
        const u32 lone = head | HOSTCALL_FLAG_LONE << 24, first = (lane & 0xffffu) | a << 16;
        return make_word(lone, first, a >> 16 | b << 16, b >> 16, header_tag(tag));
    }

    /// Stores the words of one lane's payload, from `first` on, one in every `stride`. `Words` is their number where it
    /// is a constant. Places are of 64 bits, so that all addresses are the first one plus a constant: sums of 32 bits
    /// might wrap around before they become addresses.
    template <bool Straight, u32 Words, class Unit>
    HC_METHOD static void store_words(u32 port, u64 first, u64 stride, u32 words, u32 tag, const Unit& unit) {
        if constexpr (Straight && Words == 0) {
            // A loop of no turns is a comparison that compilers warn of.
            (void)port, (void)first, (void)stride, (void)words, (void)tag, (void)unit;
        } else if constexpr (Straight && Words <= 16) {
            (void)words;
            HC_UNROLL
            for (u32 j = 0; j != Words; j++) A::store_request(port, first + j * stride, pack(j, tag, unit));
        } else {
            HC_NO_UNROLL
            for (u32 j = 0; j < words; j++) A::store_request(port, first + j * stride, pack(j, tag, unit));
        }
    }

    /// Where a message of `words` words behind the header for each of `count` lanes goes, and its tag: the port's state
    /// is that behind it.
    HC_METHOD static u32 place(const group& lanes, held& held, u32 count, u32 words, u32 flags, u32& base, u32& tag) {
        const u32 room = A::request_words();
        tag = next_tag(held.tag());
        base = 0;
        if (words > 255 || 1 + count * words > room) return HOSTCALL_STATUS_TOO_LARGE;
        const u32 need = 1 + count * words;
        base = held.state.position();
        // A restart of the ring. `base == 0` with `unacked` is an abandoned call.
        if (base + need > room || scrubs(tag) || base == 0) {
            if (held.state.unacked()) {
                const u32 status = await_ack(lanes.mask, held.port, held.tag());
                if (status != HOSTCALL_STATUS_OK) return status;
            }
            base = 0;
        }
        // Behind a scrub there is no room: the server takes it when it sees all its words, so none may be overwritten
        // before.
        const u32 next = scrubs(tag) ? room : base + need;
        held.state = port_state::make(tag, (flags & HOSTCALL_FLAG_REPLY) != 0 ? 0 : next, true);
        return HOSTCALL_STATUS_OK;
    }

    /// The words of a message are stored: scrubs if it is one that does, and rings.
    HC_METHOD static void sent(const group& lanes, u32 port, u32 need, u32 tag) {
        if (scrubs(tag)) scrub(lanes.mask, port, need, tag);
        if (lanes.leads()) A::ring(port, tag);
    }

    /// Rewrites the rest of the request area, so that no word is ever a lap old.
    HC_COLD static void scrub(mask lanes, u32 port, u32 from, u32 tag) {
        const group group = group::make(lanes, A::lane());
        for (u32 at = from + group.rank; at < A::request_words(); at += group.count) {
            A::store_request(port, at, make_word(0, 0, 0, 0, tag));
        }
    }

    /// The leader polls one word alone until it is there (or a while has passed), looking at the clock and at `closed`
    /// now and then. `asked` is the number of lanes that the message is of.
    HC_COLD static u32 wait_slowly(mask lanes, u32 asked, u32 port, u32 want, u32 attempt, u64 deadline_ns) {
        const group group = group::make(lanes, A::lane());
        u32 verdict = 0;
        if (group.leads()) {
            u32 tries = attempt;
            // Once the leader's reply is there, others' may take longer: all of them are looked at again.
            while (tag_of(A::load_reply(port, 0)) != want) {
                tries++;
                if (tries % closed_check == 0) {
                    // Nothing orders our ring with that of the port's last owner, so the host may be left with the
                    // older one.
                    A::ring(port, want);
                    verdict = check_closed();
                    if (verdict != 0) break;
                }
                if (deadline_ns != 0 && A::now_ns() >= deadline_ns) {
                    verdict = HOSTCALL_STATUS_TIMEOUT;
                    break;
                }
                A::pause(tries);
            }
            if (verdict == 0 && attempt % closed_check == 0) {
                // Lanes other than the leader's are late.
                verdict = check_closed();
                if (deadline_ns != 0 && A::now_ns() >= deadline_ns) verdict = HOSTCALL_STATUS_TIMEOUT;
            }
        }
        verdict = A::broadcast(group.mask, verdict, group.leader);
        if (verdict != 0) {
            // The server answers everything it has before it closes: one last look decides.
            const u32 at = reply_place(asked, group.rank, 0, A::lone_stride());
            const bool missing = tag_of(A::load_reply(port, at)) != want;
            if (A::ballot(group.mask, missing) == 0) verdict = 0;
        }
        return verdict;
    }
};

}  // namespace wire
}  // namespace hostcall

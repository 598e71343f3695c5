// NVIDIA GPUs, sm_70 and later: independent lanes, PTX ISA 8.4 (CUDA 12.4).
#pragma once

extern "C" {
// In constant memory: reading a field costs no trip to a cache that stores to host memory would have to share.
#if defined(__clang__)
#define HC_CONSTANT __attribute__((device, constant, weak, used))
#elif defined(__CUDACC_RDC__)
#define HC_CONSTANT __constant__ __attribute__((weak, used))
#else
#define HC_CONSTANT __constant__ __attribute__((used))
#endif
HC_CONSTANT hostcall_descriptor __hostcall_device;
HC_CONSTANT hostcall_rings __hostcall_rings;
#undef HC_CONSTANT
HC_GLOBAL hostcall::u32 __hostcall_abi = HOSTCALL_ABI_VERSION;
}

namespace hostcall {

/// A place in the source. The hardware knows which lanes run together, so it says nothing here.
struct place {
    HC_METHOD static place current() { return {}; }
    HC_METHOD u64 site() const { return 0; }
};

/// What the client asks of the machine it runs on: `hostcall_abi::port::Arch`, and what else differs.
struct machine {
    /// Bit per lane.
    using mask = u32;
    /// Lanes that have parted all make progress: each has a program counter of its own.
    static constexpr bool independent_lanes = true;

    HC_METHOD static const hostcall_descriptor& descriptor() { return __hostcall_device; }

#define HC_REGISTER(name, ptx)                     \
    HC_METHOD static u32 name() {                  \
        u32 value;                                 \
        asm("mov.u32 %0, " ptx ";" : "=r"(value)); \
        return value;                              \
    }
    HC_REGISTER(lane, "%%laneid")
    HC_REGISTER(sm, "%%smid")
    HC_REGISTER(warp, "%%warpid")
    HC_REGISTER(warps, "%%nwarpid")
    HC_REGISTER(tid_x, "%%tid.x")
    HC_REGISTER(tid_y, "%%tid.y")
    HC_REGISTER(tid_z, "%%tid.z")
    HC_REGISTER(ntid_x, "%%ntid.x")
    HC_REGISTER(ntid_y, "%%ntid.y")
    HC_REGISTER(ntid_z, "%%ntid.z")
    HC_REGISTER(ctaid_x, "%%ctaid.x")
    HC_REGISTER(ctaid_y, "%%ctaid.y")
    HC_REGISTER(ctaid_z, "%%ctaid.z")
    HC_REGISTER(nctaid_x, "%%nctaid.x")
    HC_REGISTER(nctaid_y, "%%nctaid.y")
    HC_REGISTER(nctaid_z, "%%nctaid.z")
#undef HC_REGISTER
    HC_METHOD static coordinates local_id() { return {tid_x(), tid_y(), tid_z()}; }
    HC_METHOD static coordinates group_size() { return {ntid_x(), ntid_y(), ntid_z()}; }
    HC_METHOD static coordinates group_id() { return {ctaid_x(), ctaid_y(), ctaid_z()}; }
    HC_METHOD static coordinates group_count() { return {nctaid_x(), nctaid_y(), nctaid_z()}; }
    HC_METHOD static u32 wave_size() { return 32; }

    // Collectives: what compilers know to be convergent.
#if defined(__clang__)
    HC_METHOD static mask converged_at(u64) { return __nvvm_activemask(); }
    HC_METHOD static mask ballot(mask lanes, bool predicate) { return (mask)__nvvm_vote_ballot_sync(lanes, predicate); }
    HC_METHOD static u32 broadcast(mask lanes, u32 value, u32 from) {
        return (u32)__nvvm_shfl_sync_idx_i32(lanes, (int)value, (int)from, 31);
    }
    HC_METHOD static void sync(mask lanes) { __nvvm_bar_warp_sync(lanes); }
#else
    HC_METHOD static mask converged_at(u64) { return __activemask(); }
    HC_METHOD static mask ballot(mask lanes, bool predicate) { return __ballot_sync(lanes, predicate); }
    HC_METHOD static u32 broadcast(mask lanes, u32 value, u32 from) { return __shfl_sync(lanes, value, (int)from); }
    HC_METHOD static void sync(mask lanes) { __syncwarp(lanes); }
#endif

    HC_METHOD static u32 count_ones(u64 bits) {
        u32 count;
        asm("popc.b64 %0, %1;" : "=r"(count) : "l"(bits));
        return count;
    }
    HC_METHOD static u32 count_ones(u32 bits) {
        u32 count;
        asm("popc.b32 %0, %1;" : "=r"(count) : "r"(bits));
        return count;
    }
    /// The lowest lane of a mask that has one.
    HC_METHOD static u32 first_lane(mask lanes) {
        u32 lane;
        asm("{ .reg .b32 t; brev.b32 t, %1; bfind.shiftamt.u32 %0, t; }" : "=r"(lane) : "r"(lanes));
        return lane;
    }

    /// Orders everything before it against everything after it, for the host as well.
    HC_METHOD static void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

    /// Whether an address is in the calling lane's own stack, where other lanes see theirs.
    HC_METHOD static bool is_private(u64 address) {
        u32 is;
        asm("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(address));
        return is != 0;
    }

    /// Ends the calling lane.
    [[noreturn]] HC_METHOD static void exit_lane() {
        asm volatile("exit;");
        __builtin_unreachable();
    }

    HC_METHOD static u64 now_ns() {
        u64 now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        return now;
    }
    HC_METHOD static u32 clock() {
        u32 now;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
        return now;
    }

    /// Sleeps for the longer the larger `attempt` is, up to 8 µs, so that waves that wait for a disk leave bus and
    /// memory to others.
    HC_COLD static void sleep(u32 attempt) {
        // Where a look is a load from a window, of about 0.3 µs, looks pace themselves for longer.
        const u32 eager = has_window() ? 48u : 16u;
        if (attempt > eager) {
            const u32 doublings = (attempt - eager) >> 3, most = has_window() ? 8u : 7u;
            asm volatile("nanosleep.u32 %0;" ::"r"((has_window() ? 32u : 64u) << (doublings < most ? doublings : most)));
        }
    }
    HC_METHOD static void pause(u32 attempt) {
        // One trip over the bus takes about 1.3 µs: the first polls are paced by it.
        if (attempt > 16) sleep(attempt);
    }
    HC_METHOD static void pause_for_waves(u32 attempt) { pause(attempt); }

    HC_METHOD static void before_first_poll(u32 lanes) {
        // A look into a window is a load from the GPU's own memory: one that comes too early costs nobody anything.
        if (has_window()) return;
        // Without one a look takes a round trip that samples the word half-way; one right behind the request always
        // comes too early.
        const u32 start = clock();
        const u32 wait = descriptor().first_poll.clocks + lanes * descriptor().first_poll.per_lane;
        while (clock() - start < wait) {
        }
    }

    HC_METHOD static u32 first_port() {
        const u32 wave = sm() * warps() + warp();
        return wave < ports() ? wave : wave % ports();
    }
    HC_METHOD static u32 ports() { return descriptor().ports; }
    HC_METHOD static u32 request_words() { return descriptor().request_words; }
    HC_METHOD static u32 reply_words() { return descriptor().reply_words; }
    HC_METHOD static u32 lone_stride() { return descriptor().lone_stride; }
    HC_METHOD static bool has_window() { return descriptor().window != 0; }

    // Relaxed at device scope: the owners of a port are ordered by the dependencies that `docs/reference/protocol.md`
    // lists.
    HC_METHOD static u64 lock_port(u32 port) {
        u64 old;
        asm volatile("atom.relaxed.gpu.global.or.b64 %0, [%1], 1;" : "=l"(old) : "l"(descriptor().states + (u64)port * 8) : "memory");
        return old;
    }
    HC_METHOD static void unlock_port(u32 port, u64 word) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(descriptor().states + (u64)port * 8), "l"(word) : "memory");
    }
    /// Pairs with the server's store of a mark.
    HC_METHOD static u32 mark(u32 port) { return load_sys(mark_at(port)); }

    // One 128-bit access: what is stored together is seen together.
    HC_METHOD static void store_whole(u64 at, const hostcall_word& word) {
        const u64 low = word.at[0] | (u64)word.at[1] << 32, high = word.at[2] | (u64)word.at[3] << 32;
        asm volatile("{ .reg .b128 t; mov.b128 t, {%0, %1}; st.relaxed.sys.global.b128 [%2], t; }" ::"l"(low), "l"(high), "l"(at)
                     : "memory");
    }
    HC_METHOD static hostcall_word load_whole(u64 at) {
        u64 low, high;
        asm volatile("{ .reg .b128 t; ld.relaxed.sys.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
                     : "=l"(low), "=l"(high)
                     : "l"(at)
                     : "memory");
        return {{(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)}};
    }
    // Whole words, so that payload and tag are of the same write. They pair with the server's `load_request` and
    // `store_reply`.
    HC_METHOD static void store_request(u32 port, u64 index, const hostcall_word& word) {
        store_whole(descriptor().requests + ((u64)port * request_words() + index) * 16, word);
    }
    HC_METHOD static hostcall_word load_reply(u32 port, u64 index) {
        return load_whole(descriptor().replies + ((u64)port * reply_words() + index) * 16);
    }
    /// Pairs with the server's sweep; a hint only.
    HC_METHOD static void ring(u32 port, u32 tag) { store_sys(descriptor().doorbells + (u64)port * 4, tag); }
    /// Pairs with the server's store when it shuts down.
    HC_METHOD static u32 closed() { return load_sys(descriptor().control + HOSTCALL_CONTROL_CLOSED); }
    /// Pairs with `remember_closed`, or with a window, where it is the word of `closed` itself, with the server's
    /// store.
    HC_METHOD static u32 known_closed() { return load_sys(descriptor().closed); }
    HC_METHOD static void remember_closed(u32 status) {
        if (!has_window()) asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(descriptor().closed), "r"(status) : "memory");
    }

    /// A service's number. The read-only path may serve it: one that is written while a kernel runs is seen by the next
    /// kernel. By what compilers know to be a load of what does not change, so that a loop of calls has it in front of
    /// the loop.
    HC_METHOD static u32 load_number(const u32* word) {
#if defined(__clang__)
        return __nvvm_ldg_ui(word);
#else
        return __ldg(word);
#endif
    }

    HC_METHOD static u32 lock_slot(u32 slot) {
        u32 old;
        asm volatile("atom.relaxed.gpu.global.exch.b32 %0, [%1], 1;" : "=r"(old) : "l"(descriptor().slot_locks + (u64)slot * 4) : "memory");
        return old;
    }
    HC_METHOD static void unlock_slot(u32 slot) {
        asm volatile("st.release.gpu.global.u32 [%0], 0;" ::"l"(descriptor().slot_locks + (u64)slot * 4) : "memory");
    }

    // Staged bytes, ordered by fences. Volatile keeps loads from a line that a former owner of the slot left in L1.
    HC_METHOD static hostcall_word load_bulk(u64 at) {
        hostcall_word v;
        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.at[0]), "=r"(v.at[1]), "=r"(v.at[2]), "=r"(v.at[3])
                     : "l"(at)
                     : "memory");
        return v;
    }
    HC_METHOD static void store_bulk(u64 at, const hostcall_word& v) {
        asm volatile("st.global.v4.u32 [%4], {%0, %1, %2, %3};" ::"r"(v.at[0]), "r"(v.at[1]), "r"(v.at[2]), "r"(v.at[3]), "l"(at)
                     : "memory");
    }

    // Rings of streams.
    HC_METHOD static const hostcall_rings& rings() { return __hostcall_rings; }
    /// Pairs with the reader's store; what is stored into the ring next depends on the value.
    HC_METHOD static u64 load_credit(u64 at) {
        u64 credit;
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(credit) : "l"(at) : "memory");
        return credit;
    }
    /// Pairs with `load_credit` of another wave.
    HC_METHOD static void store_credit(u64 at, u64 credit) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(credit) : "memory");
    }
    // Relaxed: they hand out room, and order nothing.
    HC_METHOD static u32 load_head(u64 at) {
        u32 head;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(head) : "l"(at) : "memory");
        return head;
    }
    HC_METHOD static u32 add_head(u64 at, u32 granules) {
        u32 head;
        asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(head) : "l"(at), "r"(granules) : "memory");
        return head;
    }
    /// Mostly through the L1, which takes a quarter of the time, and never hears of a change. A relaxed load now and
    /// then (of 128, one) brings the line anew. Weak, while the host may write: any value will do, and lanes agree by a
    /// ballot.
    HC_METHOD static hostcall_gate load_gate(u64 at) {
        u32 a, b, c, d, e, f, g, h;
        // The product spreads all bits of the clock: in a loop its low ones may always be the same.
        if (dice() * HOSTCALL_STREAM_SPREAD >> 25 == 0) {
            asm volatile(
                "ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%8]; ld.relaxed.gpu.global.v4.u32 {%4, %5, %6, %7}, [%8+16];"
                : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e), "=r"(f), "=r"(g), "=r"(h)
                : "l"(at)
                : "memory");
        } else {
            asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%8]; ld.global.ca.v4.u32 {%4, %5, %6, %7}, [%8+16];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e), "=r"(f), "=r"(g), "=r"(h)
                         : "l"(at)
                         : "memory");
        }
        return {a | (u64)b << 32, c, d, e, f, g, h};
    }
    HC_METHOD static u32 dice() { return clock(); }
    /// Relaxed: it is read when the kernel has ended.
    HC_METHOD static void add_count(u64 at) { asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(at) : "memory"); }
    // PTX promises for a vector what it does for each of its elements, and no more is needed. Pairs with the reader's
    // loads, by phases.
    HC_METHOD static void store_units(u64 at, const u32 (&v)[4]) {
        asm volatile("st.relaxed.sys.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                     : "memory");
    }
    HC_METHOD static void store_units(u64 at, const u32 (&v)[2]) {
        asm volatile("st.relaxed.sys.global.v2.b32 [%0], {%1, %2};" ::"l"(at), "r"(v[0]), "r"(v[1]) : "memory");
    }
    HC_METHOD static void store_units(u64 at, const u32 (&v)[1]) { store_sys(at, v[0]); }
    /// These values, worked out where this is called, not where they are used.
    HC_METHOD static void settle(u32 (&v)[4]) { asm volatile("" : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3])::"memory"); }
    /// Waits for room: up to 2 µs.
    HC_METHOD static void nap(u32 attempt) { asm volatile("nanosleep.u32 %0;" ::"r"(64u << (attempt < 5 ? attempt : 5u))); }
    /// Low bits of the launch's number. A pass of a profiler is a launch; replays of a graph's node have the same
    /// number.
    HC_METHOD static u32 launch() {
        u32 grid;
        asm("mov.u32 %0, %%gridid;" : "=r"(grid));
        return grid;
    }

private:
    /// Where a port's mark lies.
    HC_METHOD static u64 mark_at(u32 port) {
        return descriptor().doorbells + (u64)descriptor().marks * HOSTCALL_PAGE + (u64)port * 4;
    }
    HC_METHOD static u32 load_sys(u64 at) {
        u32 value;
        asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        return value;
    }
    HC_METHOD static void store_sys(u64 at, u32 value) {
        asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
    }
};

}  // namespace hostcall

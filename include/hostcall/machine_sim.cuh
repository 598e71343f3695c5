// The CPU simulator (`hostcall_abi::sim`): its table has the operations of lanes, and device memory is the host's own.
#pragma once

extern "C" {
/// Filled by the simulator after it has loaded the image, before any kernel runs.
HC_GLOBAL const void* __hostcall_sim_ops = nullptr;
HC_GLOBAL hostcall::u32 __hostcall_sim_version = HOSTCALL_SIM_VERSION;
HC_GLOBAL hostcall_descriptor __hostcall_device = {};
HC_GLOBAL hostcall_rings __hostcall_rings = {};
HC_GLOBAL hostcall::u32 __hostcall_abi = HOSTCALL_ABI_VERSION;
}

namespace hostcall {

/// A place in the source. The simulator tells lanes that have parted by it.
struct place {
    const char* file;
    u32 line;

    static place current(const char* file = __builtin_FILE(), u32 line = (u32)__builtin_LINE()) { return {file, line}; }
    HC_METHOD u64 site() const { return (u64)file * 31 + line; }
};

/// What the client asks of the machine it runs on: `hostcall_abi::port::Arch`, and what else differs.
struct machine {
    /// Bit per lane.
    using mask = u64;
    /// Each lane is a fiber or thread of its own.
    static constexpr bool independent_lanes = true;

    HC_METHOD static const hostcall_descriptor& descriptor() { return __hostcall_device; }
    HC_METHOD static const hostcall_lane_info& info() { return *op<const hostcall_lane_info* (*)()>(HOSTCALL_SIM_OP_LANE_INFO)(); }

    HC_METHOD static u32 lane() { return info().lane; }
    HC_METHOD static u32 wave_size() { return info().wave_size; }
    HC_METHOD static u32 sm() { return info().sm; }
    HC_METHOD static coordinates local_id() { return of(info().local); }
    HC_METHOD static coordinates group_size() { return of(info().local_size); }
    HC_METHOD static coordinates group_id() { return of(info().group); }
    HC_METHOD static coordinates group_count() { return of(info().groups); }

    HC_METHOD static mask converged_at(u64 site) { return op<u64 (*)(u64)>(HOSTCALL_SIM_OP_ACTIVE_MASK)(site); }
    HC_METHOD static mask ballot(mask lanes, bool predicate) {
        if (is_alone(lanes)) return predicate ? lanes : 0;
        return op<u64 (*)(u64, u32)>(HOSTCALL_SIM_OP_BALLOT)(lanes, predicate);
    }
    HC_METHOD static u32 broadcast(mask lanes, u32 value, u32 from) {
        if (is_alone(lanes)) return value;
        return (u32)op<u64 (*)(u64, u64, u32)>(HOSTCALL_SIM_OP_SHUFFLE)(lanes, value, from);
    }
    HC_METHOD static void sync(mask lanes) {
        if (!is_alone(lanes)) op<void (*)(u64)>(HOSTCALL_SIM_OP_SYNC_WAVE)(lanes);
    }

    HC_METHOD static u32 count_ones(u64 bits) { return (u32)__builtin_popcountll(bits); }
    /// The lowest lane of a mask that has one.
    HC_METHOD static u32 first_lane(mask lanes) { return (u32)__builtin_ctzll(lanes); }

    HC_METHOD static void fence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
    /// There is one memory.
    HC_METHOD static bool is_private(u64) { return false; }
    [[noreturn]] HC_METHOD static void exit_lane() {
        op<void (*)()>(HOSTCALL_SIM_OP_EXIT_LANE)();
        __builtin_unreachable();
    }
    HC_METHOD static u64 now_ns() { return op<u64 (*)()>(HOSTCALL_SIM_OP_CLOCK_NS)(); }
    HC_METHOD static void pause(u32 attempt) { op<void (*)(u32)>(HOSTCALL_SIM_OP_PAUSE)(attempt); }
    HC_METHOD static void pause_for_waves(u32 attempt) {
        pause((attempt < HOSTCALL_SIM_FOR_WAVES - 1 ? attempt : HOSTCALL_SIM_FOR_WAVES - 1) | HOSTCALL_SIM_FOR_WAVES);
    }
    HC_METHOD static void before_first_poll(u32) {}

    HC_METHOD static u32 first_port() { return info().wave % ports(); }
    HC_METHOD static u32 ports() { return descriptor().ports; }
    HC_METHOD static u32 request_words() { return descriptor().request_words; }
    HC_METHOD static u32 reply_words() { return descriptor().reply_words; }
    HC_METHOD static u32 lone_stride() { return descriptor().lone_stride; }
    HC_METHOD static bool has_window() { return descriptor().window != 0; }

    /// Acquire pairs with the release in `unlock_port` of the former owner.
    HC_METHOD static u64 lock_port(u32 port) { return __atomic_fetch_or(word64(descriptor().states, port), 1ull, __ATOMIC_ACQUIRE); }
    /// Release pairs with the acquire in `lock_port` of the next owner.
    HC_METHOD static void unlock_port(u32 port, u64 word) { __atomic_store_n(word64(descriptor().states, port), word, __ATOMIC_RELEASE); }
    /// Pairs with the server's store of a mark.
    HC_METHOD static u32 mark(u32 port) { return __atomic_load_n(word32(mark_at(port), 0), __ATOMIC_RELAXED); }

    // One 16-byte access on processors with AVX, which the host checked: what is stored together is seen together.
#if defined(__x86_64__)
    typedef u32 quad __attribute__((vector_size(16)));
    HC_METHOD static hostcall_word load_whole(u64 at) {
        quad v;
        asm volatile("movdqa %1, %0" : "=x"(v) : "m"(*(const quad*)at) : "memory");
        return {{v[0], v[1], v[2], v[3]}};
    }
    HC_METHOD static void store_whole(u64 at, const hostcall_word& word) {
        const quad v = {word.at[0], word.at[1], word.at[2], word.at[3]};
        asm volatile("movdqa %1, %0" : "=m"(*(quad*)at) : "x"(v) : "memory");
    }
#elif defined(__aarch64__)
    HC_METHOD static hostcall_word load_whole(u64 at) {
        u64 low, high;
        asm volatile("ldp %0, %1, [%2]" : "=r"(low), "=r"(high) : "r"(at) : "memory");
        return {{(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)}};
    }
    HC_METHOD static void store_whole(u64 at, const hostcall_word& word) {
        const u64 low = word.at[0] | (u64)word.at[1] << 32, high = word.at[2] | (u64)word.at[3] << 32;
        asm volatile("stp %0, %1, [%2]" ::"r"(low), "r"(high), "r"(at) : "memory");
    }
#else
#error "the simulator runs on x86-64 and AArch64"
#endif
    // They pair with the server's `load_request` and `store_reply`.
    HC_METHOD static void store_request(u32 port, u64 index, const hostcall_word& word) {
        store_whole(descriptor().requests + ((u64)port * request_words() + index) * 16, word);
    }
    HC_METHOD static hostcall_word load_reply(u32 port, u64 index) {
        return load_whole(descriptor().replies + ((u64)port * reply_words() + index) * 16);
    }
    /// Pairs with the server's sweep; a hint only.
    HC_METHOD static void ring(u32 port, u32 tag) { __atomic_store_n(word32(descriptor().doorbells, port), tag, __ATOMIC_RELAXED); }
    /// Acquire pairs with the server's release store when it shuts down: the answers it gave before are seen.
    HC_METHOD static u32 closed() { return __atomic_load_n(word32(descriptor().control + HOSTCALL_CONTROL_CLOSED, 0), __ATOMIC_ACQUIRE); }
    /// Pairs with `remember_closed`, or with a window, where it is the word of `closed` itself, with the server's
    /// store.
    HC_METHOD static u32 known_closed() { return __atomic_load_n(word32(descriptor().closed, 0), __ATOMIC_RELAXED); }
    HC_METHOD static void remember_closed(u32 status) {
        if (!has_window()) __atomic_store_n(word32(descriptor().closed, 0), status, __ATOMIC_RELAXED);
    }
    /// A service's number, which the host may write while lanes run.
    HC_METHOD static u32 load_number(const u32* word) { return *(const volatile u32*)word; }

    /// Acquire pairs with the release in `unlock_slot`.
    HC_METHOD static u32 lock_slot(u32 slot) { return __atomic_exchange_n(word32(descriptor().slot_locks, slot), 1u, __ATOMIC_ACQUIRE); }
    HC_METHOD static void unlock_slot(u32 slot) { __atomic_store_n(word32(descriptor().slot_locks, slot), 0u, __ATOMIC_RELEASE); }

    // Staged bytes, ordered by fences.
    HC_METHOD static hostcall_word load_bulk(u64 at) { return load_whole(at); }
    HC_METHOD static void store_bulk(u64 at, const hostcall_word& word) { store_whole(at, word); }

    // Rings of streams.
    HC_METHOD static const hostcall_rings& rings() { return __hostcall_rings; }
    /// Acquire pairs with the reader's store of credit: what is stored into the ring next must not be seen before what
    /// was read there.
    HC_METHOD static u64 load_credit(u64 at) { return __atomic_load_n((const u64*)at, __ATOMIC_ACQUIRE); }
    /// Release pairs with `load_credit` of another wave.
    HC_METHOD static void store_credit(u64 at, u64 credit) { __atomic_store_n((u64*)at, credit, __ATOMIC_RELEASE); }
    // Relaxed: they hand out room, and order nothing.
    HC_METHOD static u32 load_head(u64 at) { return __atomic_load_n(word32(at, 0), __ATOMIC_RELAXED); }
    HC_METHOD static u32 add_head(u64 at, u32 granules) { return __atomic_fetch_add(word32(at, 0), granules, __ATOMIC_RELAXED); }
    /// Relaxed: pairs with the host's copy, and any mixture of two gates will do.
    HC_METHOD static hostcall_gate load_gate(u64 at) {
        u32 words[8];
        for (u32 i = 0; i < 8; i++) words[i] = __atomic_load_n(word32(at, i), __ATOMIC_RELAXED);
        return {words[0] | (u64)words[1] << 32, words[2], words[3], words[4], words[5], words[6], words[7]};
    }
    /// Steps of the simulated clock, which a seed decides.
    HC_METHOD static u32 dice() { return (u32)now_ns() * 0x85ebca6bu; }
    /// Relaxed: it is read when the kernel has ended.
    HC_METHOD static void add_count(u64 at) { __atomic_fetch_add((u64*)at, 1ull, __ATOMIC_RELAXED); }
    /// Relaxed: each unit's phase says all of it. Pairs with the reader's loads.
    template <u32 N>
    HC_METHOD static void store_units(u64 at, const u32 (&values)[N]) {
        for (u32 i = 0; i < N; i++) __atomic_store_n(word32(at, i), values[i], __ATOMIC_RELAXED);
    }
    HC_METHOD static void settle(u32 (&)[4]) {}
    HC_METHOD static void nap(u32 attempt) { pause(attempt); }
    HC_METHOD static u32 launch() { return info().launch; }

private:
    /// Where a port's mark lies.
    HC_METHOD static u64 mark_at(u32 port) {
        return descriptor().doorbells + (u64)descriptor().marks * HOSTCALL_PAGE + (u64)port * 4;
    }
    /// The operation at an offset of the simulator's table.
    template <class F>
    HC_METHOD static F op(u32 at) {
        return *(const F*)((const char*)__atomic_load_n(&__hostcall_sim_ops, __ATOMIC_RELAXED) + at);
    }
    HC_METHOD static bool is_alone(mask lanes) { return (lanes & (lanes - 1)) == 0; }
    HC_METHOD static coordinates of(const u32 (&at)[3]) { return {at[0], at[1], at[2]}; }
    HC_METHOD static u32* word32(u64 at, u32 index) { return (u32*)(at + (u64)index * 4); }
    HC_METHOD static u64* word64(u64 at, u32 index) { return (u64*)(at + (u64)index * 8); }
};

}  // namespace hostcall

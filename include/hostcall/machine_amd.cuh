// AMD GPUs: gfx90a, gfx942, gfx1100, by clang as HIP. Compiled and disassembled; never run on hardware.
//
// The lanes of a wave run in lockstep under an execution mask, so collectives need no explicit mask. Volatile accesses
// bypass the caches at system scope (LLVM's AMDGPU memory model), and one of a vector of 16 bytes is one instruction.
#pragma once

extern "C" {
HC_GLOBAL hostcall_descriptor __hostcall_device = {};
HC_GLOBAL hostcall_rings __hostcall_rings = {};
HC_GLOBAL hostcall_tick __hostcall_tick = {HOSTCALL_TICK_NANOS, HOSTCALL_TICK_FRACTION};
HC_GLOBAL hostcall::u32 __hostcall_abi = HOSTCALL_ABI_VERSION;
}

#define HC_GLOBAL_MEMORY __attribute__((address_space(1)))

namespace hostcall {

/// What clang 22 has builtins for, and older ones, from clang 15 (ROCm 5.2) on, under other names or not at all.
namespace isa {
HC_DEVICE_INLINE u32 wave_size() {
#if __has_builtin(__builtin_amdgcn_wavefrontsize)
    return __builtin_amdgcn_wavefrontsize();
#else
    return __AMDGCN_WAVEFRONT_SIZE;
#endif
}

/// The lanes that run, and for which it is so. In waves of 32 lanes the upper half is 0.
HC_DEVICE_INLINE u64 ballot(bool predicate) {
#if __has_builtin(__builtin_amdgcn_ballot_w64)
    return __builtin_amdgcn_ballot_w64(predicate);
#else
    constexpr int not_equal = 33;  // LLVM's `ICmpInst::ICMP_NE`
    return __builtin_amdgcn_uicmp((u32)predicate, 0u, not_equal);
#endif
}

/// Ticks of the counter whose rate does not depend on the clock of the cores.
HC_DEVICE_INLINE u64 steady_counter() {
#if __has_builtin(__builtin_readsteadycounter)
    return __builtin_readsteadycounter();
#else
    return __builtin_amdgcn_s_memrealtime();
#endif
}

/// The number of the launch's packet in its queue: an intrinsic of LLVM's, for which clang has no builtin.
HC_ON_DEVICE u64 dispatch_id() __asm("llvm.amdgcn.dispatch.id");
}  // namespace isa

/// A place in the source. The hardware knows which lanes run together, so it says nothing here.
struct place {
    HC_METHOD static place current() { return {}; }
    HC_METHOD u64 site() const { return 0; }
};

/// What the client asks of the machine it runs on: `hostcall_abi::port::Arch`, and what else differs.
struct machine {
    /// Bit per lane.
    using mask = u64;
    /// A lane that waits in a loop keeps those behind the loop from running.
    static constexpr bool independent_lanes = false;

    HC_METHOD static const hostcall_descriptor& descriptor() { return __hostcall_device; }

    HC_METHOD static u32 lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
    HC_METHOD static u32 wave_size() { return isa::wave_size(); }
    HC_METHOD static coordinates local_id() {
        return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()};
    }
    HC_METHOD static coordinates group_id() {
        return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()};
    }
    // From the dispatch packet (HSA runtime specification 1.2, §2.9.6): sizes of a workgroup at byte 4, of the grid at
    // byte 12.
    HC_METHOD static coordinates group_size() {
        auto sizes = (const __attribute__((address_space(4))) u16*)__builtin_amdgcn_dispatch_ptr() + 2;
        return {sizes[0], sizes[1], sizes[2]};
    }
    HC_METHOD static coordinates group_count() {
        auto grid = (const __attribute__((address_space(4))) u32*)__builtin_amdgcn_dispatch_ptr() + 3;
        const coordinates size = group_size();
        return {groups(grid[0], size.x), groups(grid[1], size.y), groups(grid[2], size.z)};
    }
    HC_METHOD static u32 sm() { return __builtin_amdgcn_workgroup_id_x(); }

    HC_METHOD static mask converged_at(u64) { return active(true); }
    HC_METHOD static mask ballot(mask lanes, bool predicate) { return active(predicate) & lanes; }
    /// `from` is an active lane; the index of `ds_bpermute` is in bytes.
    HC_METHOD static u32 broadcast(mask, u32 value, u32 from) { return (u32)__builtin_amdgcn_ds_bpermute((int)(from * 4), (int)value); }
    HC_METHOD static void sync(mask) {
        __builtin_amdgcn_wave_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "");
    }

    HC_METHOD static u32 count_ones(u64 bits) { return (u32)__builtin_popcountll(bits); }
    /// The lowest lane of a mask that has one.
    HC_METHOD static u32 first_lane(mask lanes) { return (u32)__builtin_ctzll(lanes); }

    /// Orders everything before it against everything after it, for the host as well.
    HC_METHOD static void fence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
    /// Whether an address is in the calling lane's own stack, where other lanes see theirs.
    HC_METHOD static bool is_private(u64 address) {
        return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void*)address);
    }
    /// Ends the wave. Lanes of a wave cannot end one by one: the others come to their own end or to this one.
    [[noreturn]] HC_METHOD static void exit_lane() {
        __builtin_amdgcn_endpgm();
        __builtin_unreachable();
    }

    /// The rate of the counter is a matter of the part, and in `__hostcall_tick`
    /// (`hostcall_abi::tick::Tick::nanoseconds`).
    HC_METHOD static u64 now_ns() {
        const u64 ticks = isa::steady_counter(), fraction = __hostcall_tick.fraction;
        return ticks * __hostcall_tick.nanos + (ticks >> 32) * fraction + (((ticks & 0xffffffffu) * fraction) >> 32);
    }

    HC_METHOD static void pause(u32 attempt) {
        // As on NVIDIA: looks into a window pace themselves for longer.
        const u32 eager = has_window() ? 48u : 16u;
        if (attempt > eager) {
            const u32 doublings = (attempt - eager) >> 3;
            // 64 clocks each.
            for (u32 i = 0; i < 1u << (doublings < 7 ? doublings : 7); i++) __builtin_amdgcn_s_sleep(1);
        }
    }
    HC_METHOD static void pause_for_waves(u32 attempt) { pause(attempt); }
    HC_METHOD static void before_first_poll(u32) {}

    /// A number by which waves spread: that of the wave in the grid, since consecutive waves are those that are
    /// resident together.
    HC_METHOD static u32 first_port() {
        const coordinates id = group_id(), count = group_count(), local = local_id(), size = group_size();
        const u32 group = (id.z * count.y + id.y) * count.x + id.x;
        const u32 waves = (size.x * size.y * size.z + wave_size() - 1) / wave_size();
        return (group * waves + ((local.z * size.y + local.y) * size.x + local.x) / wave_size()) % ports();
    }
    HC_METHOD static u32 ports() { return descriptor().ports; }
    HC_METHOD static u32 request_words() { return descriptor().request_words; }
    HC_METHOD static u32 reply_words() { return descriptor().reply_words; }
    HC_METHOD static u32 lone_stride() { return descriptor().lone_stride; }
    HC_METHOD static bool has_window() { return descriptor().window != 0; }

    /// Acquire pairs with the release in `unlock_port` of the former owner.
    HC_METHOD static u64 lock_port(u32 port) {
        return __hip_atomic_fetch_or(word64(descriptor().states, port), 1ull, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    /// Release pairs with the acquire in `lock_port` of the next owner.
    HC_METHOD static void unlock_port(u32 port, u64 word) {
        __hip_atomic_store(word64(descriptor().states, port), word, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    /// Pairs with the server's store of a mark.
    HC_METHOD static u32 mark(u32 port) {
        return __hip_atomic_load(word32(mark_at(port), 0), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }

    // One access of 16 bytes: what is stored together is seen together.
    HC_METHOD static void store_whole(u64 at, const hostcall_word& word) { *volatile_quad(at) = of_word(word); }
    HC_METHOD static hostcall_word load_whole(u64 at) { return load_bulk(at); }
    // One 16-byte access. They pair with the server's `load_request` and `store_reply`.
    HC_METHOD static void store_request(u32 port, u64 index, const hostcall_word& word) {
        store_whole(descriptor().requests + ((u64)port * request_words() + index) * 16, word);
    }
    HC_METHOD static hostcall_word load_reply(u32 port, u64 index) {
        return load_whole(descriptor().replies + ((u64)port * reply_words() + index) * 16);
    }
    /// Pairs with the server's sweep; a hint only.
    HC_METHOD static void ring(u32 port, u32 tag) { *(volatile u32 HC_GLOBAL_MEMORY*)(descriptor().doorbells + (u64)port * 4) = tag; }
    /// Pairs with the server's store when it shuts down.
    HC_METHOD static u32 closed() { return *(volatile u32 HC_GLOBAL_MEMORY*)(descriptor().control + HOSTCALL_CONTROL_CLOSED); }
    /// Pairs with `remember_closed`, or with a window, where it is the word of `closed` itself, with the server's
    /// store.
    HC_METHOD static u32 known_closed() {
        return __hip_atomic_load(word32(descriptor().closed, 0), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    HC_METHOD static void remember_closed(u32 status) {
        if (!has_window()) __hip_atomic_store(word32(descriptor().closed, 0), status, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    /// A service's number, which the host writes while no kernel of the program runs.
    HC_METHOD static u32 load_number(const u32* word) { return *(const volatile u32*)word; }

    /// Acquire pairs with the release in `unlock_slot`.
    HC_METHOD static u32 lock_slot(u32 slot) {
        return __hip_atomic_exchange(word32(descriptor().slot_locks, slot), 1u, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    HC_METHOD static void unlock_slot(u32 slot) {
        __hip_atomic_store(word32(descriptor().slot_locks, slot), 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }

    // Staged bytes, ordered by fences.
    HC_METHOD static hostcall_word load_bulk(u64 at) {
        const quad v = *volatile_quad(at);
        return {{v.x, v.y, v.z, v.w}};
    }
    HC_METHOD static void store_bulk(u64 at, const hostcall_word& word) { *(quad HC_GLOBAL_MEMORY*)at = of_word(word); }

    // Rings of streams.
    HC_METHOD static const hostcall_rings& rings() { return __hostcall_rings; }
    /// Pairs with the reader's store; what is stored into the ring next depends on the value.
    HC_METHOD static u64 load_credit(u64 at) {
        return __hip_atomic_load((u64*)at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    /// Pairs with `load_credit` of another wave.
    HC_METHOD static void store_credit(u64 at, u64 credit) {
        __hip_atomic_store((u64*)at, credit, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    // Relaxed: they hand out room, and order nothing.
    HC_METHOD static u32 load_head(u64 at) { return __hip_atomic_load(word32(at, 0), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static u32 add_head(u64 at, u32 granules) {
        return __hip_atomic_fetch_add(word32(at, 0), granules, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    /// Relaxed: any mixture of two gates will do, and lanes agree by a ballot.
    HC_METHOD static hostcall_gate load_gate(u64 at) {
        u32 words[8];
        HC_UNROLL
        for (u32 i = 0; i < 8; i++) words[i] = __hip_atomic_load(word32(at, i), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        return {words[0] | (u64)words[1] << 32, words[2], words[3], words[4], words[5], words[6], words[7]};
    }
    HC_METHOD static u32 dice() { return (u32)isa::steady_counter(); }
    /// Relaxed: it is read when the kernel has ended.
    HC_METHOD static void add_count(u64 at) {
        __hip_atomic_fetch_add((u64*)at, 1ull, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
    // One access each. They pair with the reader's loads, by the units' phases.
    HC_METHOD static void store_units(u64 at, const u32 (&v)[4]) { *volatile_quad(at) = quad{v[0], v[1], v[2], v[3]}; }
    HC_METHOD static void store_units(u64 at, const u32 (&v)[2]) { *(volatile pair HC_GLOBAL_MEMORY*)at = pair{v[0], v[1]}; }
    HC_METHOD static void store_units(u64 at, const u32 (&v)[1]) { *(volatile u32 HC_GLOBAL_MEMORY*)at = v[0]; }
    HC_METHOD static void settle(u32 (&)[4]) {}
    HC_METHOD static void nap(u32 attempt) { pause(attempt); }
    /// Low bits of the number of the launch's packet in its queue.
    HC_METHOD static u32 launch() { return (u32)isa::dispatch_id(); }

private:
    /// Where a port's mark lies.
    HC_METHOD static u64 mark_at(u32 port) {
        return descriptor().doorbells + (u64)descriptor().marks * HOSTCALL_PAGE + (u64)port * 4;
    }
    typedef u32 pair __attribute__((ext_vector_type(2)));
    typedef u32 quad __attribute__((ext_vector_type(4)));

    HC_METHOD static u32 groups(u32 lanes, u32 size) { return size == 0 ? lanes : (lanes + size - 1) / size; }
    HC_METHOD static mask active(bool predicate) { return isa::ballot(predicate); }
    HC_METHOD static u32* word32(u64 at, u32 index) { return (u32*)(at + (u64)index * 4); }
    HC_METHOD static u64* word64(u64 at, u32 index) { return (u64*)(at + (u64)index * 8); }
    HC_METHOD static quad of_word(const hostcall_word& word) { return quad{word.at[0], word.at[1], word.at[2], word.at[3]}; }
    HC_METHOD static volatile quad HC_GLOBAL_MEMORY* volatile_quad(u64 at) { return (volatile quad HC_GLOBAL_MEMORY*)at; }
};

}  // namespace hostcall

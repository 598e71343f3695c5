// What packets ask of a machine: accesses that the host sees at once, claims that only waves see, and a doorbell.
#pragma once

namespace hostcall {
namespace packets {

#if defined(HOSTCALL_MACHINE_NVIDIA)

/// Accesses of `.sys` scope, to memory of the host that is pinned.
struct memory {
#define HC_LOAD(name, type, how, reg)                                                    \
    HC_METHOD static type name(const type* at) {                                         \
        type value;                                                                      \
        asm volatile("ld." how " %0, [%1];" : "=" reg(value) : "l"(at) : "memory");      \
        return value;                                                                    \
    }
#define HC_STORE(name, type, how, reg)                                                   \
    HC_METHOD static void name(type* at, type value) {                                   \
        asm volatile("st." how " [%0], %1;" ::"l"(at), reg(value) : "memory");           \
    }
    HC_LOAD(load, u32, "relaxed.sys.global.u32", "r")
    HC_LOAD(load, u64, "relaxed.sys.global.u64", "l")
    HC_LOAD(acquire, u32, "acquire.sys.global.u32", "r")
    HC_LOAD(acquire, u64, "acquire.sys.global.u64", "l")
    HC_STORE(store, u32, "relaxed.sys.global.u32", "r")
    HC_STORE(store, u64, "relaxed.sys.global.u64", "l")
    HC_STORE(release, u32, "release.sys.global.u32", "r")
    HC_STORE(release, u64, "release.sys.global.u64", "l")
#undef HC_LOAD
#undef HC_STORE
    /// What the word was: `expected`, if it is `desired` now.
    HC_METHOD static u64 exchange(u64* at, u64 expected, u64 desired) {
        u64 was;
        asm volatile("atom.acq_rel.sys.global.cas.b64 %0, [%1], %2, %3;" : "=l"(was) : "l"(at), "l"(expected), "l"(desired) : "memory");
        return was;
    }
    // Between waves only: the host never looks at claims.
    HC_METHOD static u32 claim(u32* at, u32 bit) {
        u32 was;
        asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(was) : "l"(at), "r"(bit) : "memory");
        return was;
    }
    HC_METHOD static void unclaim(u32* at, u32 bit) {
        asm volatile("red.release.gpu.global.and.b32 [%0], %1;" ::"l"(at), "r"(~bit) : "memory");
    }
    /// Stores a value that no other ring has had: an addition over the bus may undo the host's own. Release: whoever
    /// sees it also sees the packet that was handed over before.
    HC_METHOD static void ring(u64 doorbell) {
        const u64 wave = (u64)machine::sm() * machine::warps() + machine::warp();
        release((u64*)(doorbell + 8), machine::now_ns() << 16 | (wave & 0xffff));
    }
};

#elif defined(HOSTCALL_MACHINE_AMD)

/// Accesses of system scope, to fine-grained memory of the host.
struct memory {
    HC_METHOD static u32 load(const u32* at) { return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static u64 load(const u64* at) { return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static u32 acquire(const u32* at) { return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static u64 acquire(const u64* at) { return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static void store(u32* at, u32 value) { __hip_atomic_store(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static void store(u64* at, u64 value) { __hip_atomic_store(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
    HC_METHOD static void release(u32* at, u32 value) { __hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); }
    /// What the word was: `expected`, if it is `desired` now.
    HC_METHOD static u64 exchange(u64* at, u64 expected, u64 desired) {
        __hip_atomic_compare_exchange_strong(at, &expected, desired, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        return expected;
    }
    // Between waves only: the host never looks at claims.
    HC_METHOD static u32 claim(u32* at, u32 bit) { return __hip_atomic_fetch_or(at, bit, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT); }
    HC_METHOD static void unclaim(u32* at, u32 bit) { __hip_atomic_fetch_and(at, ~bit, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); }
    /// Adds one to the signal, and raises its interrupt if it has one (HSA runtime: `amd_signal_t`).
    HC_METHOD static void ring(u64 doorbell) {
        __hip_atomic_fetch_add((u64*)(doorbell + 8), (u64)1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
        u64* const mailbox = *(u64**)(doorbell + 16);
        if (mailbox) {
            const u32 event = *(const u32*)(doorbell + 24);
            __hip_atomic_store(mailbox, (u64)event, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
            __builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(event & 0xffffffu));
        }
    }
};

#else

/// The simulator: its waves are threads of the host.
struct memory {
    HC_METHOD static u32 load(const u32* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
    HC_METHOD static u64 load(const u64* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
    HC_METHOD static u32 acquire(const u32* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
    HC_METHOD static u64 acquire(const u64* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
    HC_METHOD static void store(u32* at, u32 value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
    HC_METHOD static void store(u64* at, u64 value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
    HC_METHOD static void release(u32* at, u32 value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
    /// What the word was: `expected`, if it is `desired` now.
    HC_METHOD static u64 exchange(u64* at, u64 expected, u64 desired) {
        __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        return expected;
    }
    HC_METHOD static u32 claim(u32* at, u32 bit) { return __atomic_fetch_or(at, bit, __ATOMIC_ACQUIRE); }
    HC_METHOD static void unclaim(u32* at, u32 bit) { __atomic_fetch_and(at, ~bit, __ATOMIC_RELEASE); }
    HC_METHOD static void ring(u64 doorbell) { __atomic_fetch_add((u64*)(doorbell + 8), (u64)1, __ATOMIC_SEQ_CST); }
};

#endif

}  // namespace packets
}  // namespace hostcall

/*
 * A client of the wire of LLVM's libc for GPUs (libc/shared/rpc.h), of our own: the same memory, other code. Programs
 * that are linked with that libc have LLVM's client, and need none of this.
 *
 * Who loads the program fills `__llvm_rpc_client`. On a GPU the lanes of a wave open a port together; on the processor
 * each thread is a wave of one lane, as it is in LLVM's.
 */
#pragma once

#include <OffloadKernel.h>

namespace wire {

struct Packet {
    uint64_t words[8];
};

struct Header {
    uint64_t mask;
    uint32_t opcode;
};

#ifdef LLVM_RPC_DOORBELL
/* As of LLVM 24's development: with a doorbell, which is not rung while its first word is null. */
constexpr uint32_t MOST_PORTS = 16384;
#else
constexpr uint32_t MOST_PORTS = 4096;
#endif

struct Client {
    uint32_t ports;
#ifdef LLVM_RPC_DOORBELL
    void *doorbell;
#endif
    const uint32_t *inbox;
    uint32_t *outbox;
    Header *headers;
    Packet *packets;
    uint32_t locks[MOST_PORTS / 32];
};

constexpr uint32_t of_libc(uint32_t number) { return uint32_t('c') << 24 | number; }

#if defined(__NVPTX__) || defined(__AMDGPU__)
inline uint64_t lanes() { return __gpu_lane_mask(); }
inline uint32_t width() { return __gpu_num_lanes(); }
inline uint32_t lane() { return __gpu_lane_id(); }
inline bool is_first(uint64_t mask) { return __gpu_is_first_in_lane(mask); }
inline uint32_t from_first(uint64_t mask, uint32_t value) { return __gpu_read_first_lane_u32(mask, value); }
inline bool any(uint64_t mask, bool value) { return __gpu_ballot(mask, value) != 0; }
inline void together(uint64_t mask) { __gpu_sync_lane(mask); }
#else
inline uint64_t lanes() { return 1; }
inline uint32_t width() { return 1; }
inline uint32_t lane() { return 0; }
inline bool is_first(uint64_t) { return true; }
inline uint32_t from_first(uint64_t, uint32_t value) { return value; }
inline bool any(uint64_t, bool value) { return value; }
inline void together(uint64_t) {}
#endif
/*
 * The locks of ports are ordered by fences, for other waves of the device, as LLVM's client orders its own. (For NVPTX,
 * clang 22 drops the order of an atomic operation that reads and writes, and makes these fences those of the system.)
 */
#if defined(__has_builtin)
#if __has_builtin(__scoped_atomic_thread_fence)
#define LLVM_RPC_FENCE(order) __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_DEVICE)
#endif
#endif
#ifndef LLVM_RPC_FENCE
#define LLVM_RPC_FENCE(order) __atomic_thread_fence(order)
#endif
/* In the simulator other lanes of the wave go on meanwhile. */
inline void pause() { __gpu_thread_suspend(); }

} // namespace wire

extern "C" {
extern __attribute__((visibility("default"))) wire::Client __llvm_rpc_client;
}

namespace wire {

/* A port, from its making to its end. */
class Port {
    Client &client;
    uint64_t mask;
    uint32_t index, out = 0;
    bool received = false, owns = true;

    static uint32_t load(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

    void own() {
        while (!owns) {
            owns = from_first(mask, load(&client.inbox[index])) == out;
            if (!owns)
                pause();
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    }

    void give() {
        together(mask);
        out = !out;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        if (is_first(mask))
            __atomic_store_n(&client.outbox[index], out, __ATOMIC_RELAXED);
        owns = false;
    }

    Packet &packet() { return client.packets[uint64_t(index) * width() + lane()]; }

    void unlock() {
        together(mask);
        LLVM_RPC_FENCE(__ATOMIC_RELEASE);
        if (is_first(mask))
            __atomic_fetch_and(&client.locks[index / 32], ~(1u << index % 32), __ATOMIC_RELAXED);
        together(mask);
    }

  public:
    explicit Port(uint32_t opcode) : client(__llvm_rpc_client), mask(lanes()), index(0) {
        for (uint32_t next = 0;; next++) {
            index = from_first(mask, next % client.ports);
            if (next > 0 && index == 0)
                pause();
            uint32_t bit = 1u << index % 32, before = bit;
            if (is_first(mask))
                before = __atomic_fetch_or(&client.locks[index / 32], bit, __ATOMIC_RELAXED);
            if (from_first(mask, before) & bit)
                continue;
            LLVM_RPC_FENCE(__ATOMIC_ACQUIRE);
            out = from_first(mask, load(&client.outbox[index]));
            if (from_first(mask, load(&client.inbox[index])) == out)
                break;
            unlock();
        }
        if (is_first(mask)) {
            client.headers[index].opcode = opcode;
            client.headers[index].mask = mask;
        }
        together(mask);
    }

    ~Port() { unlock(); }
    Port(const Port &) = delete;
    Port &operator=(const Port &) = delete;

    void send(uint64_t a, uint64_t b = 0, uint64_t c = 0) {
        own();
        uint64_t *words = packet().words;
        words[0] = a, words[1] = b, words[2] = c;
        give();
        received = false;
    }

    void send(const Packet &whole) {
        own();
        packet() = whole;
        give();
        received = false;
    }

    Packet receive() {
        if (received)
            give();
        own();
        received = true;
        return packet();
    }

    void send_bytes(const void *from, uint64_t size) {
        const char *bytes = static_cast<const char *>(from);
        for (uint64_t at = 0; at == 0 || any(mask, at < size + 8); at += 64) {
            own();
            char *to = reinterpret_cast<char *>(packet().words);
            if (at == 0)
                __builtin_memcpy(to, &size, 8);
            /* Eight bytes more are sent: the size. */
            uint64_t first = at == 0 ? 0 : at - 8, room = at == 0 ? 56 : 64, left = size > first ? size - first : 0;
            __builtin_memcpy(at == 0 ? to + 8 : to, bytes + first, left < room ? left : room);
            give();
        }
        received = false;
    }

    uint64_t receive_bytes(void *into, uint64_t most) {
        char *bytes = static_cast<char *>(into);
        Packet now = receive();
        uint64_t size = now.words[0];
        for (uint64_t at = 0, from = 8; any(mask, at < size);) {
            uint64_t room = 64 - from, left = at < size ? size - at : 0, part = left < room ? left : room;
            if (at + part <= most)
                __builtin_memcpy(bytes + at, reinterpret_cast<char *>(now.words) + from, part);
            at += room, from = 0;
            if (any(mask, at < size))
                now = receive();
        }
        return size;
    }
};

} // namespace wire

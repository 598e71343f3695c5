/* Packets from the device's side: the memory of a hostcall buffer, and a call through it.
 *
 *   hostcall_amd_result_t r = hostcall_amd_preview(buffer, service, a0, …, a7);
 *
 * Each lane that runs sends eight words and gets two. Kernels in C, C++ or HIP that clang compiles for AMD GPUs fill a packet; the
 * pointer of the buffer is what the host allocated, in memory that both sides see at once (fine-grained, of the host). Threads of
 * the host make the same call through the library. The types serve both. */
#ifndef AMD_HOSTCALL_DEVICE_H
#define AMD_HOSTCALL_DEVICE_H

#include <stdint.h>

#define HOSTCALL_AMD_READY 1u
/* Set by the host if a call was refused, and if the client had set HOSTCALL_AMD_TELL with HOSTCALL_AMD_READY. */
#define HOSTCALL_AMD_REFUSED 2u
#define HOSTCALL_AMD_TELL 8u

typedef struct hostcall_amd_header_t {
    uint64_t next;
    uint64_t active_mask;
    uint32_t service;
    uint32_t control;
} hostcall_amd_header_t;

typedef struct hostcall_amd_payload_t {
    uint64_t lanes[64][8];
} hostcall_amd_payload_t;

typedef struct hostcall_amd_buffer_t {
    hostcall_amd_header_t *headers;
    hostcall_amd_payload_t *payloads;
    uint64_t doorbell;
    uint64_t free_stack;
    uint64_t ready_stack;
    uint32_t index_size;
} hostcall_amd_buffer_t;

/* What a lane gets. refused is not 0 if no handler ran; x and y are then what the lane sent. */
typedef struct hostcall_amd_result_t {
    uint64_t x;
    uint64_t y;
    uint32_t refused;
} hostcall_amd_result_t;

#if defined(__AMDGCN__)

#if defined(__HIP__) || defined(__HIPCC__)
#define HOSTCALL_AMD_DEVICE static inline __attribute__((device))
#else
#define HOSTCALL_AMD_DEVICE static inline
#endif

#define HOSTCALL_AMD_SYSTEM __MEMORY_SCOPE_SYSTEM

/* What a ringing wave needs of an HSA signal. */
typedef struct {
    int64_t kind;
    int64_t value;
    uint64_t *mailbox;
    uint32_t event;
} hostcall_amd_signal_t;

/* The value of the first lane that runs, as a value of the wave. */
HOSTCALL_AMD_DEVICE uint64_t hostcall_amd_first(uint64_t value) {
    uint32_t low = __builtin_amdgcn_readfirstlane((uint32_t)value);
    uint32_t high = __builtin_amdgcn_readfirstlane((uint32_t)(value >> 32));
    return (uint64_t)high << 32 | low;
}

/* This lane's number in its wave. */
HOSTCALL_AMD_DEVICE uint32_t hostcall_amd_lane(void) {
#if defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ == 32
    return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#else
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#endif
}

/* The lanes that run here. */
HOSTCALL_AMD_DEVICE uint64_t hostcall_amd_active(void) {
#if defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ == 32
    return __builtin_amdgcn_ballot_w32(1);
#else
    return __builtin_amdgcn_ballot_w64(1);
#endif
}

/* Waits for a time that doubles: waves that met at a stack part. */
HOSTCALL_AMD_DEVICE void hostcall_amd_pause(uint32_t *turn) {
    for (uint32_t i = 0; i < (1u << *turn); ++i)
        __builtin_amdgcn_s_sleep(1);
    if (*turn < 6)
        ++*turn;
}

HOSTCALL_AMD_DEVICE hostcall_amd_header_t *hostcall_amd_header(hostcall_amd_buffer_t *buffer, uint64_t pointer) {
    return buffer->headers + (pointer & ((UINT64_C(1) << buffer->index_size) - 1));
}

/* Takes a free packet. Waits as long as there is none. */
HOSTCALL_AMD_DEVICE uint64_t hostcall_amd_pop(hostcall_amd_buffer_t *buffer) {
    uint32_t turn = 0;
    for (;;) {
        uint64_t top = __scoped_atomic_load_n(&buffer->free_stack, __ATOMIC_ACQUIRE, HOSTCALL_AMD_SYSTEM);
        if (top) {
            uint64_t below = __scoped_atomic_load_n(&hostcall_amd_header(buffer, top)->next, __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
            if (__scoped_atomic_compare_exchange_n(&buffer->free_stack, &top, below, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED,
                                                   HOSTCALL_AMD_SYSTEM))
                return top;
        }
        hostcall_amd_pause(&turn);
    }
}

HOSTCALL_AMD_DEVICE void hostcall_amd_push(hostcall_amd_buffer_t *buffer, uint64_t *stack, uint64_t pointer) {
    uint64_t *next = &hostcall_amd_header(buffer, pointer)->next;
    uint64_t below = __scoped_atomic_load_n(stack, __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
    uint32_t turn = 0;
    for (;;) {
        __scoped_atomic_store_n(next, below, __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
        if (__scoped_atomic_compare_exchange_n(stack, &below, pointer, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM))
            return;
        hostcall_amd_pause(&turn);
    }
}

/* Adds one to the signal, and raises its interrupt if it has one. */
HOSTCALL_AMD_DEVICE void hostcall_amd_ring_signal(uint64_t doorbell) {
    hostcall_amd_signal_t *signal = (hostcall_amd_signal_t *)(uintptr_t)doorbell;
    __scoped_atomic_fetch_add(&signal->value, 1, __ATOMIC_RELEASE, HOSTCALL_AMD_SYSTEM);
    if (signal->mailbox) {
        uint32_t event = signal->event;
        __scoped_atomic_store_n(signal->mailbox, (uint64_t)event, __ATOMIC_RELEASE, HOSTCALL_AMD_SYSTEM);
        __builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(event & 0xffffffu));
    }
}

/* One call of all lanes that run here. */
HOSTCALL_AMD_DEVICE hostcall_amd_result_t hostcall_amd_preview(void *where, uint32_t service, uint64_t a0, uint64_t a1, uint64_t a2,
                                                               uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7) {
    hostcall_amd_buffer_t *buffer = (hostcall_amd_buffer_t *)where;
    uint32_t lane = hostcall_amd_lane();
    uint64_t mask = hostcall_amd_active();
    int leads = lane == (uint32_t)__builtin_ctzll(mask);
    uint64_t packet = 0;
    if (leads)
        packet = hostcall_amd_pop(buffer);
    packet = hostcall_amd_first(packet);
    hostcall_amd_header_t *header = hostcall_amd_header(buffer, packet);
    uint64_t *words = buffer->payloads[packet & ((UINT64_C(1) << buffer->index_size) - 1)].lanes[lane];
    words[0] = a0, words[1] = a1, words[2] = a2, words[3] = a3;
    words[4] = a4, words[5] = a5, words[6] = a6, words[7] = a7;
    /* All lanes' words are there before the packet is: the lanes run as one, and this waits for their stores. */
    __scoped_atomic_thread_fence(__ATOMIC_RELEASE, HOSTCALL_AMD_SYSTEM);
    if (leads) {
        header->service = service;
        header->active_mask = mask;
        __scoped_atomic_store_n(&header->control, HOSTCALL_AMD_READY | HOSTCALL_AMD_TELL, __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
        hostcall_amd_push(buffer, &buffer->ready_stack, packet);
        hostcall_amd_ring_signal(buffer->doorbell);
    }
    uint32_t control = 0;
    if (leads) {
        for (;;) {
            control = __scoped_atomic_load_n(&header->control, __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
            if (!(control & HOSTCALL_AMD_READY))
                break;
            __builtin_amdgcn_s_sleep(1);
        }
    }
    control = __builtin_amdgcn_readfirstlane(control);
    /* Pairs with the host's release when it answered. */
    __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, HOSTCALL_AMD_SYSTEM);
    hostcall_amd_result_t result;
    result.x = __scoped_atomic_load_n(&words[0], __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
    result.y = __scoped_atomic_load_n(&words[1], __ATOMIC_RELAXED, HOSTCALL_AMD_SYSTEM);
    result.refused = control & HOSTCALL_AMD_REFUSED;
    __scoped_atomic_thread_fence(__ATOMIC_RELEASE, HOSTCALL_AMD_SYSTEM);
    if (leads) {
        uint64_t step = UINT64_C(1) << buffer->index_size;
        uint64_t back = packet + step;
        hostcall_amd_push(buffer, &buffer->free_stack, back ? back : step);
    }
    return result;
}

#else

#include "amd_hostcall.h"

/* The same from a thread of the host: one lane. */
static inline hostcall_amd_result_t hostcall_amd_preview(void *buffer, uint32_t service, uint64_t a0, uint64_t a1, uint64_t a2,
                                                         uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7) {
    uint64_t payload[1][8] = {{a0, a1, a2, a3, a4, a5, a6, a7}};
    hostcall_amd_result_t result;
    result.refused = hostcall_amd_call(buffer, service, 1, payload) != AMD_HOSTCALL_SUCCESS;
    result.x = payload[0][0];
    result.y = payload[0][1];
    return result;
}

#endif

#endif

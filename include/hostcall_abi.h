/* The numbers of hostcall's wire. Printed from the crate `hostcall-abi` by `cargo xtask abi-header`: do not edit. */
#ifndef HOSTCALL_ABI_H
#define HOSTCALL_ABI_H

#if defined(__cplusplus)
#define HOSTCALL_ABI_ASSERT(condition) static_assert(condition, "as in hostcall-abi")
#else
#define HOSTCALL_ABI_ASSERT(condition) _Static_assert(condition, "as in hostcall-abi")
#endif

#if defined(__CUDACC_RTC__) && (__CUDACC_VER_MAJOR__ < 13 || (__CUDACC_VER_MAJOR__ == 13 && __CUDACC_VER_MINOR__ < 5))
/* Older versions of NVRTC lack it. This is what their front end has instead. */
#define __builtin_offsetof(type, member) ((unsigned long long)__INTADDR__(&((type*)0)->member))
#endif

#define HOSTCALL_ABI_VERSION 3u
#define HOSTCALL_WORD_BYTES 14u
#define HOSTCALL_TAG_MASK 32767u
#define HOSTCALL_TAG_HEADER 32768u
#define HOSTCALL_SCRUB_PERIOD 16384u
#define HOSTCALL_FLAG_REPLY 1u
#define HOSTCALL_FLAG_STAGED 2u
#define HOSTCALL_FLAG_LONE 4u
#define HOSTCALL_LONE_UNITS 2u
#define HOSTCALL_VAR_INLINE 4294967295u
#define HOSTCALL_VAR_UNITS 2u
#define HOSTCALL_VAR_MOST_RESULT 64u
#define HOSTCALL_PAGE 4096u
#define HOSTCALL_STATE_LOCKED 1u
#define HOSTCALL_STATE_TAG_SHIFT 1u
#define HOSTCALL_STATE_UNACKED 65536u
#define HOSTCALL_STATE_POSITION_SHIFT 17u
#define HOSTCALL_KERNEL_PARAMS_MAX 31u
#define HOSTCALL_ELEMENT_KIND_SHIFT 12u
#define HOSTCALL_ELEMENT_UNSIGNED 1u
#define HOSTCALL_ELEMENT_SIGNED 2u
#define HOSTCALL_ELEMENT_FLOAT 3u
#define HOSTCALL_ELEMENT_VALUE 32768u
#define HOSTCALL_WHAT_BYTES 128u
#define HOSTCALL_FILE_BYTES 96u
#define HOSTCALL_SITE_UNITS 57u
#define HOSTCALL_CAUSE_CALL 0u
#define HOSTCALL_CAUSE_INDEX 1u
#define HOSTCALL_CAUSE_RANGE 2u
#define HOSTCALL_CAUSE_LENGTHS 3u
#define HOSTCALL_CAUSE_DIVISION 4u
#define HOSTCALL_CAUSE_REMAINDER 5u
#define HOSTCALL_CAUSE_NONE 6u
#define HOSTCALL_CAUSE_TEXT 7u
#define HOSTCALL_PRINTF_SIZE_SHIFT 8u
#define HOSTCALL_PRINTF_SIGNED 1u
#define HOSTCALL_PRINTF_UNSIGNED 2u
#define HOSTCALL_PRINTF_FLOAT 3u
#define HOSTCALL_PRINTF_POINTER 4u
#define HOSTCALL_PRINTF_TEXT 5u
#define HOSTCALL_PRINTF_CHAR 6u
#define HOSTCALL_PRINTF_NULL 4294967295u
#define HOSTCALL_PRINTF_TEXTS 4u
#define HOSTCALL_CHECK_SIDES 1u
#define HOSTCALL_CHECK_FIRST_OF 2u
#define HOSTCALL_CHECK_GOES_ON 4u
#define HOSTCALL_CHECK_OTHER 0u
#define HOSTCALL_CHECK_BOOL 7u
#define HOSTCALL_CHECK_TEXTS 2u
#define HOSTCALL_OPEN_READ 1u
#define HOSTCALL_OPEN_WRITE 2u
#define HOSTCALL_OPEN_APPEND 4u
#define HOSTCALL_OPEN_TRUNCATE 8u
#define HOSTCALL_OPEN_CREATE 16u
#define HOSTCALL_OPEN_CREATE_NEW 32u
#define HOSTCALL_FIRST_POLL_CLOCKS 500u
#define HOSTCALL_FIRST_POLL_PER_LANE 37u
#define HOSTCALL_TICK_NANOS 10u
#define HOSTCALL_TICK_FRACTION 0u
#define HOSTCALL_STREAM_GRANULE 16u
#define HOSTCALL_STREAM_GRANULE_LOG2 4u
#define HOSTCALL_STREAM_MAX_UNITS 31u
#define HOSTCALL_STREAM_MAX 4095u
#define HOSTCALL_STREAM_HEADER_UNITS 8u
#define HOSTCALL_STREAM_MAX_GRANULES 2047u
#define HOSTCALL_STREAM_KIND_ROWS 0u
#define HOSTCALL_STREAM_KIND_BYTES 1u
#define HOSTCALL_STREAM_QUAD_BYTES 15u
#define HOSTCALL_STREAM_POLICY_SHIFT 12u
#define HOSTCALL_STREAM_UNTIMED 32768u
#define HOSTCALL_STREAM_LIVE 65536u
#define HOSTCALL_STREAM_MAX_RATE_LOG2 11u
#define HOSTCALL_STREAM_MAX_SPAN 65535u
#define HOSTCALL_STREAM_MAX_WEIGHT_LOG2 15u
#define HOSTCALL_STREAM_STRIDE 128u
#define HOSTCALL_STREAM_SPREAD 2654435769u
#define HOSTCALL_STREAM_COUNTERS_BYTES 32u
#define HOSTCALL_STREAM_DROPPED 0u
#define HOSTCALL_STREAM_WAITED 8u
#define HOSTCALL_STREAM_FILTERED 16u
#define HOSTCALL_STREAM_SCHEMA_HEAD 16u
#define HOSTCALL_SIM_VERSION 6u
#define HOSTCALL_SIM_FOR_WAVES 1073741824u

#define HOSTCALL_STATUS_OK 0u
#define HOSTCALL_STATUS_UNKNOWN_SERVICE 1u
#define HOSTCALL_STATUS_REFUSED 2u
#define HOSTCALL_STATUS_HANDLER_FAILED 3u
#define HOSTCALL_STATUS_HANDLER_PANICKED 4u
#define HOSTCALL_STATUS_TOO_LARGE 5u
#define HOSTCALL_STATUS_SERVER_GONE 6u
#define HOSTCALL_STATUS_TIMEOUT 7u
#define HOSTCALL_STATUS_MALFORMED 8u
#define HOSTCALL_STATUS_FINISHED 9u
#define HOSTCALL_STATUS_DETACHED 10u
#define HOSTCALL_STATUS_KERNEL_ENDED 11u
#define HOSTCALL_STATUS_BUSY 12u
#define HOSTCALL_STATUSES(X) \
    X(ok, 0) \
    X(unknown_service, 1) \
    X(refused, 2) \
    X(handler_failed, 3) \
    X(handler_panicked, 4) \
    X(too_large, 5) \
    X(server_gone, 6) \
    X(timeout, 7) \
    X(malformed, 8) \
    X(finished, 9) \
    X(detached, 10) \
    X(kernel_ended, 11) \
    X(busy, 12)

/* A word of the wire: 14 bytes of payload and a 2-byte tag. */
struct hostcall_word {
    __attribute__((aligned(16))) unsigned int at[4];
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_word) == 16);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_word, at) == 0);

/* When a waiting lane first looks. */
struct hostcall_first_poll {
    unsigned int clocks;
    unsigned int per_lane;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_first_poll) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_first_poll, clocks) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_first_poll, per_lane) == 4);

/* What the host writes into a program: `__hostcall_device`. */
struct hostcall_descriptor {
    __attribute__((aligned(64))) unsigned long long states;
    unsigned long long doorbells;
    unsigned long long requests;
    unsigned long long replies;
    unsigned int ports;
    unsigned int request_words;
    unsigned int reply_words;
    unsigned int lone_stride;
    unsigned long long control;
    unsigned long long staging;
    unsigned long long slot_locks;
    unsigned int slots;
    unsigned int slot_bytes;
    unsigned long long heap;
    unsigned long long heap_bytes;
    unsigned long long closed;
    unsigned long long seed;
    struct hostcall_first_poll first_poll;
    unsigned int window;
    unsigned int marks;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_descriptor) == 128);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, states) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, doorbells) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, requests) == 16);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, replies) == 24);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, ports) == 32);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, request_words) == 36);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, reply_words) == 40);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, lone_stride) == 44);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, control) == 48);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, staging) == 56);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, slot_locks) == 64);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, slots) == 72);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, slot_bytes) == 76);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, heap) == 80);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, heap_bytes) == 88);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, closed) == 96);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, seed) == 104);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, first_poll) == 112);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, window) == 120);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_descriptor, marks) == 124);

/* Where the rings of streams are: `__hostcall_rings`. */
struct hostcall_rings {
    __attribute__((aligned(64))) unsigned long long data;
    unsigned long long stride;
    unsigned long long states;
    unsigned long long credit;
    unsigned long long control;
    unsigned long long counters;
    unsigned int ring_log2;
    unsigned int rings_log2;
    unsigned long long gates;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_rings) == 64);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, data) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, stride) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, states) == 16);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, credit) == 24);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, control) == 32);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, counters) == 40);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, ring_log2) == 48);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, rings_log2) == 52);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_rings, gates) == 56);

/* Which messages of a stream are wanted. */
struct hostcall_gate {
    __attribute__((aligned(32))) unsigned long long lanes;
    unsigned int first;
    unsigned int groups;
    unsigned int rate_log2;
    unsigned int shut;
    unsigned int patience;
    unsigned int bounded;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_gate) == 32);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, lanes) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, first) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, groups) == 12);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, rate_log2) == 16);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, shut) == 20);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, patience) == 24);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_gate, bounded) == 28);

/* From which places messages of a stream are wanted: a span is first | last << 16. */
struct hostcall_bounds {
    __attribute__((aligned(32))) unsigned int first_x;
    unsigned int last_x;
    unsigned int group_y;
    unsigned int group_z;
    unsigned int lane_x;
    unsigned int lane_y;
    unsigned int lane_z;
    unsigned int waves;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_bounds) == 32);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, first_x) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, last_x) == 4);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, group_y) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, group_z) == 12);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, lane_x) == 16);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, lane_y) == 20);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, lane_z) == 24);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_bounds, waves) == 28);

/* Nanoseconds of a tick: `__hostcall_tick`. */
struct hostcall_tick {
    unsigned int nanos;
    unsigned int fraction;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_tick) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_tick, nanos) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_tick, fraction) == 4);

/* A kernel's parameters: `__HOSTCALL_KERNEL__…`. */
struct hostcall_kernel_params {
    unsigned int count;
    unsigned int sizes[HOSTCALL_KERNEL_PARAMS_MAX];
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_kernel_params) == 128);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_kernel_params, count) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_kernel_params, sizes) == 4);

/* Where a lane of the simulator is. */
struct hostcall_lane_info {
    unsigned int lane;
    unsigned int wave_size;
    unsigned int wave;
    unsigned int sm;
    unsigned int group[3];
    unsigned int groups[3];
    unsigned int local[3];
    unsigned int local_size[3];
    unsigned int launch;
};
HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_lane_info) == 68);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, lane) == 0);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, wave_size) == 4);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, wave) == 8);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, sm) == 12);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, group) == 16);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, groups) == 28);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, local) == 40);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, local_size) == 52);
HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_lane_info, launch) == 64);

/* Offset of the word in the control line that says that the server is gone. */
#define HOSTCALL_CONTROL_CLOSED 0u
/* A service as a value: number, and the low half of its signature. */
#define HOSTCALL_CALLEE_BYTES 8u

/* The simulator's operations, pointers to functions, and where they lie in its table. */
#define HOSTCALL_SIM_OP_LANE_INFO 0u
#define HOSTCALL_SIM_OP_ACTIVE_MASK 8u
#define HOSTCALL_SIM_OP_BALLOT 16u
#define HOSTCALL_SIM_OP_SHUFFLE 24u
#define HOSTCALL_SIM_OP_SYNC_WAVE 32u
#define HOSTCALL_SIM_OP_SYNC_GROUP 40u
#define HOSTCALL_SIM_OP_PAUSE 48u
#define HOSTCALL_SIM_OP_CLOCK_NS 56u
#define HOSTCALL_SIM_OP_GROUP_SCRATCH 64u
#define HOSTCALL_SIM_OP_EXIT_LANE 72u
#define HOSTCALL_SIM_OP_TRAP 80u
#define HOSTCALL_SIM_OP_LANE_WORD 88u
#define HOSTCALL_SIM_OP_WAKE_PATIENT 96u
#define HOSTCALL_SIM_OP_GROUP_MEMORY 104u
#define HOSTCALL_SIM_OP_SPACE 112u
#define HOSTCALL_SIM_OPS_BYTES 120u

#endif

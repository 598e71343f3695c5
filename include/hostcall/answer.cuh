// How a call ended, and what came back.
#pragma once

namespace hostcall {

/// A call's result, or why it has none.
template <class T>
struct answer {
    /// How it ended; `status::ok` if there is a value.
    hostcall::status status = hostcall::status::ok;
    /// What belongs to the status: the code that a handler gave, the limit that the policy set, the most bytes of one
    /// call.
    u32 detail = 0;
    T value = {};

    HC_METHOD bool ok() const { return status == hostcall::status::ok; }
    HC_METHOD explicit operator bool() const { return ok(); }
    HC_METHOD const T& operator*() const { return value; }
    HC_METHOD const T* operator->() const { return &value; }
    HC_METHOD T value_or(const T& other) const { return ok() ? value : other; }
};
template <>
struct answer<void> {
    hostcall::status status = hostcall::status::ok;
    u32 detail = 0;

    HC_METHOD bool ok() const { return status == hostcall::status::ok; }
    HC_METHOD explicit operator bool() const { return ok(); }
};

// What stubs return.
#if defined(HOSTCALL_ON_ERROR_ABORT)
template <class T>
using returned = T;
#define HOSTCALL_FINISH(spoken, ...) HOSTCALL_OR_ABORT(spoken, __VA_ARGS__)
#else
template <class T>
using returned = answer<T>;
#define HOSTCALL_FINISH(spoken, ...) (__VA_ARGS__)
#endif
#define HOSTCALL_STUB HC_DEVICE_INLINE

namespace wire {

/// A status, and the first unit of what came with it, in one register.
struct outcome {
    u64 bits;

    HC_METHOD static outcome make(u32 status, u32 detail) {
        return {status == HOSTCALL_STATUS_OK ? 0 : status | (u64)detail << 32};
    }
    HC_METHOD u32 status() const { return (u32)bits & 0xffffu; }
    HC_METHOD u32 detail() const { return (u32)(bits >> 32); }
    HC_METHOD bool ok() const { return bits == 0; }
};

/// The error of a call that is over, its port given back: fills in the limit that the client does not give. Ends the
/// lane instead if the kernel is being ended.
HC_COLD inline u64 failed(u32 status, u32 detail) {
    if (status == HOSTCALL_STATUS_KERNEL_ENDED) machine::exit_lane();
    // Of a call without strings and slices: with them, the slot is the limit, and is said.
    if (status == HOSTCALL_STATUS_TOO_LARGE && detail == 0) detail = client<machine>::largest(1);
    return outcome::make(status, detail).bits;
}

/// The answer of a call without a result.
template <class R>
HC_DEVICE_INLINE answer<R> no_answer(u32 status, u32 detail) {
    const outcome why{failed(status, detail)};
    answer<R> answer;
    answer.status = (hostcall::status)why.status();
    answer.detail = why.detail();
    return answer;
}

/// The answer of a call whose result's units have come.
template <class R>
HC_DEVICE_INLINE answer<R> decoded(const u32* units) {
    answer<R> answer;
    if constexpr (codec::fixed<R>::units != 0) {
        if (!codec::fixed<R>::get(units, answer.value)) return no_answer<R>(HOSTCALL_STATUS_MALFORMED, 0);
    }
    (void)units;
    return answer;
}

/// The answer that a reply carries.
template <class R, u32 Words>
HC_DEVICE_INLINE answer<R> decode(const reply<Words>& reply) {
    if (reply.status != HOSTCALL_STATUS_OK) return no_answer<R>(reply.status, reply.unit(0));
    if constexpr (codec::fixed<R>::units != 0) {
        if (reply.dwords < codec::fixed<R>::units) return no_answer<R>(HOSTCALL_STATUS_MALFORMED, 0);
    }
    constexpr u32 room = codec::fixed<R>::units == 0 ? 1 : codec::fixed<R>::units;
    u32 units[room];
    if constexpr (room <= 64) {
        HC_UNROLL
        for (u32 i = 0; i < room; i++) units[i] = reply.unit(i);
    } else {
        for (u32 i = 0; i < room; i++) units[i] = reply.unit(i);
    }
    return decoded<R>(units);
}

}  // namespace wire
}  // namespace hostcall

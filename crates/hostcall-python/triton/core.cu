// What Triton's stubs call: hostcall's client for so many units there and back.
//
// `build.py` makes LLVM bitcode of it, which the wheel contains. `hostcall/triton.py` writes the stub of a service as a
// few lines of LLVM IR that call one of these functions. All of them are inlined there, so their parameters and arrays
// end in registers: a call takes the first units of its 16 parameters, and a result goes to a variable of the stub.
#include <hostcall.cuh>

namespace {

using hostcall::u32;
using hostcall::u64;

template <u32 N>
struct reply {
    using type = hostcall::array<u32, N>;
};
template <>
struct reply<0> {
    using type = void;
};

HC_METHOD u64 put(const hostcall::answer<void>& answer, u32*) { return hostcall::wire::outcome::make((u32)answer.status, answer.detail).bits; }
template <hostcall::size_t N>
HC_METHOD u64 put(const hostcall::answer<hostcall::array<u32, N>>& answer, u32* result) {
    HC_UNROLL
    for (u32 i = 0; i < (u32)N; i++) result[i] = answer.value[i];
    return hostcall::wire::outcome::make((u32)answer.status, answer.detail).bits;
}

}  // namespace

#define UNITS u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g, u32 h, u32 i, u32 j, u32 k, u32 l, u32 m, u32 n, u32 o, u32 p
#define LIST a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

// How a call ended: 0, or a status and in the upper half what belongs to it.
#define CALL(units, words)                                                                                          \
    extern "C" HC_METHOD u64 hostcall_call_##units##_##words(const u32* word, u32* result, UNITS) {                 \
        const u32 all[] = {LIST};                                                                                   \
        return put(hostcall::wire::call_fixed<reply<words>::type, units>(word, all), result);                       \
    }
#define FUNCTIONS(units)                                                                                            \
    CALL(units, 0)                                                                                                  \
    CALL(units, 1)                                                                                                  \
    CALL(units, 2)                                                                                                  \
    extern "C" HC_METHOD u64 hostcall_post_##units(const u32* word, UNITS) {                                        \
        const u32 all[] = {LIST};                                                                                   \
        return put(hostcall::wire::post_fixed<units>(word, all), nullptr);                                          \
    }
FUNCTIONS(0)
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(3)
FUNCTIONS(4)
FUNCTIONS(5)
FUNCTIONS(6)
FUNCTIONS(7)
FUNCTIONS(8)
FUNCTIONS(9)
FUNCTIONS(10)
FUNCTIONS(11)
FUNCTIONS(12)
FUNCTIONS(13)
FUNCTIONS(14)
FUNCTIONS(15)
FUNCTIONS(16)

// Ends the lane, with a report that the call `spoken` failed.
extern "C" HC_NOINLINE void hostcall_failed(u64 outcome, const char* spoken) {
    const hostcall::wire::outcome why{outcome};
    hostcall::wire::report(HOSTCALL_CAUSE_CALL, why.status(), why.detail(), spoken, "a Triton kernel", 0);
}

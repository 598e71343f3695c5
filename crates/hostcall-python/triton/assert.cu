// CUDA's `__assertfail`, which Triton's `tl.device_assert` calls, as a report of the host's: `docs/guide/asserts.md`.
//
// `build.py` makes LLVM bitcode of it, of which Triton's LLVM links only what a kernel needs: a kernel that asserts
// nothing is linked with nothing. That is why no list may keep the globals that the host finds by name, as one does
// otherwise (`build.py` takes it away); the function that reports names them.
#include <hostcall_assert.cuh>

/// CUDA's own. `build.py` gives it its real name, which the function below has in this module.
extern "C" __attribute__((device, noreturn)) void hostcall_assertfail_of_cuda(const char* message, const char* file, hostcall::u32 line,
                                                                              const char* function, hostcall::u64 size);

namespace {

/// Triton knows no functions, and says so.
HC_METHOD bool is_unknown(const char* function) {
    constexpr char unknown[] = "unknown";
    HC_UNROLL
    for (hostcall::u32 i = 0; i < sizeof unknown; i++) {
        if (function[i] != unknown[i]) return false;
    }
    return true;
}

HC_METHOD void keep(const void* global) { asm volatile("" ::"l"(global)); }

}  // namespace

extern "C" [[noreturn]] HC_COLD void hostcall_asserted(const char* message, const char* file, hostcall::u32 line, const char* function,
                                                       hostcall::u64 size) {
    keep(&__hostcall_abi);
    keep(&__HOSTCALL_SIGNATURE__Process__asserted);
    const char* condition = message[0] != 0 ? message : "tl.device_assert";
    const bool unserved = hostcall::checks::tell(0, 0, 0, line << 3, condition, file, is_unknown(function) ? "" : function, nullptr);
    if (unserved) hostcall_assertfail_of_cuda(message, file, line, function, size);
    hostcall::machine::exit_lane();
}

/// Inlined, so that no function of this name is left beside CUDA's.
extern "C" [[noreturn]] HC_METHOD void __assertfail(const char* message, const char* file, hostcall::u32 line, const char* function,
                                                    hostcall::u64 size) {
    hostcall_asserted(message, file, line, function, size);
}

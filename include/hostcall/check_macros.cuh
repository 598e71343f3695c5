// The macros of `hostcall_assert.cuh`. Without a guard: `include/asserts` includes it again behind each header that
// defines one of them.

#if defined(HOSTCALL_DEVICE_PASS)

// A statement within an expression, so that what was compared is there when it is wanted. `said`: the condition's text,
// and a format with its values, in parentheses; the condition may have commas.
#if defined(__CUDACC_RTC__)
// NVRTC knows no such statements: a lambda, which is told the name of the function around it.
#define HOSTCALL_CHECK(said, ...)                                                                                              \
    [&](const char* hc_function) { HOSTCALL_CHECKED(hc_function, said, __VA_ARGS__) }(__PRETTY_FUNCTION__)
#else
#define HOSTCALL_CHECK(said, ...)                                                                                              \
    __extension__({                                                                                                            \
        HOSTCALL_CHECK_IN_PEACE                                                                                                \
        HOSTCALL_CHECKED(__PRETTY_FUNCTION__, said, __VA_ARGS__)                                                               \
        HOSTCALL_CHECK_DONE                                                                                                    \
    })
#endif
#define HOSTCALL_CHECKED(function, said, ...)                                                                                  \
    ::hostcall::checks::check hc_check;                                                                                        \
    __builtin_expect(hc_check.holds(hc_check <= __VA_ARGS__), 1)                                                               \
        ? (void)0                                                                                                              \
        : ::hostcall::checks::failed(hc_check, __FILE__, __LINE__, function, HOSTCALL_SAID said);
#define HOSTCALL_SAID(...) __VA_ARGS__
// The comparison that is added in front is in no need of parentheses.
#if defined(__GNUC__)
#define HOSTCALL_CHECK_IN_PEACE _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wparentheses\"")
#define HOSTCALL_CHECK_DONE _Pragma("GCC diagnostic pop")
#else
#define HOSTCALL_CHECK_IN_PEACE
#define HOSTCALL_CHECK_DONE
#endif

#undef assert
#if defined(NDEBUG)
#define assert(...) ((void)0)
#else
#define assert(...) HOSTCALL_CHECK((#__VA_ARGS__), __VA_ARGS__)
#endif

#undef CUDA_KERNEL_ASSERT
#undef CUDA_KERNEL_ASSERT_MSG
#undef CUDA_KERNEL_ASSERT_PRINTF
#define HOSTCALL_OWN_KERNEL_ASSERT 1
#define CUDA_KERNEL_ASSERT(...) HOSTCALL_CHECK((#__VA_ARGS__), __VA_ARGS__)
#define CUDA_KERNEL_ASSERT_MSG(condition, message) HOSTCALL_CHECK((#condition, "%s", message), condition)
#define CUDA_KERNEL_ASSERT_PRINTF(condition, ...) HOSTCALL_CHECK((#condition, __VA_ARGS__), condition)

#undef printf
#undef fprintf
#undef stdout
#undef stderr
#define printf(...) hostcall_printf(__VA_ARGS__)
#define fprintf(...) hostcall_fprintf(__VA_ARGS__)
#define stdout (::hostcall::checks::stream{1})
#define stderr (::hostcall::checks::stream{2})

#elif !defined(CUDA_KERNEL_ASSERT)

// For the host's pass, where PyTorch's headers are not there.
#define HOSTCALL_OWN_KERNEL_ASSERT 1
#define CUDA_KERNEL_ASSERT(...) assert((__VA_ARGS__))
#define CUDA_KERNEL_ASSERT_MSG(condition, message) assert((condition))
#define CUDA_KERNEL_ASSERT_PRINTF(condition, ...) assert((condition))

#endif

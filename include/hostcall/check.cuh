// Checks of kernels that exist: a condition is taken apart, and if it does not hold, the host gets its text, the values
// of both sides of its (first) comparison and the place, and puts them into words: `Process::asserted`. Included by
// `hostcall_assert.cuh`, which has the macros.
#pragma once

HOSTCALL_SERVICE(Process__asserted, "fn([u32; 10], &[u8], &[u8], &[u32], &[u8], &[u8], &[u8], &[u8])",
                 "fn ( [ u32 ; 10 ] , & [ u8 ] , & [ u8 ] , & [ u32 ] , & [ u8 ] , & [ u8 ] , & [ u8 ] , & [ u8 ] )", void,
                 ::hostcall::array<::hostcall::u32, 10>, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u8>,
                 ::hostcall::slice<::hostcall::u32>, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u8>,
                 ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u8>)

// Everything else is for the pass that makes device code. Functions of the host are read in that pass too, and must be
// able to name what the macros name.
#if defined(HOSTCALL_DEVICE_PASS)

#if defined(HOSTCALL_MACHINE_SIM)
#define HC_ANYWHERE __attribute__((always_inline))
#else
#define HC_ANYWHERE HC_HOST_DEVICE __attribute__((always_inline))
#endif

#if defined(HOSTCALL_MACHINE_SIM)
// The simulator's kernels are in the host's process.
#define HC_TRAP() (void)0
#elif defined(__clang__)
#define HC_TRAP() __builtin_trap()
#else
#define HC_TRAP() __trap()
#endif

// The header compares what the caller compares, of which the caller's own warnings speak.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif

namespace hostcall {
namespace checks {

template <bool>
struct only_if {};
template <>
struct only_if<true> {
    using type = int;
};

template <class T>
struct pointers {
    static constexpr bool value = false;
};
template <class T>
struct pointers<T*> {
    static constexpr bool value = true;
};

template <class T>
struct is_bool {
    static constexpr bool value = false;
};
template <>
struct is_bool<bool> {
    static constexpr bool value = true;
};

/// What is copied: everything but objects of classes. A copy uses no name of a constant, which need not have a place.
template <class T>
struct copies {
    static constexpr bool value = !__is_class(T) && !__is_union(T);
};
template <class T, size_t N>
struct copies<T[N]> {
    static constexpr bool value = true;
};
template <class T, size_t N>
struct copies<const T[N]> {
    static constexpr bool value = true;
};

/// What a zero is that stands for no pointer: a number, or `nullptr`.
template <class T>
struct zero_for {
    static constexpr bool value = !pointers<T>::value && copies<T>::value;
};

/// A value as it travels.
struct side {
    u32 kind = HOSTCALL_CHECK_OTHER;
    u64 bits = 0;
};

template <class T>
HC_ANYWHERE constexpr side integer(T value) {
    constexpr bool is_signed = (T)-1 < (T)1;
    const u32 kind = (is_signed ? HOSTCALL_PRINTF_SIGNED : HOSTCALL_PRINTF_UNSIGNED) | (u32)sizeof(T) << HOSTCALL_PRINTF_SIZE_SHIFT;
    return {kind, is_signed ? (u64)(i64)value : (u64)value};
}
template <class T>
HC_ANYWHERE constexpr side real(T value) {
    return {HOSTCALL_PRINTF_FLOAT | (u32)sizeof(T) << HOSTCALL_PRINTF_SIZE_SHIFT, __builtin_bit_cast(u64, (f64)value)};
}

HC_ANYWHERE constexpr side side_of(bool value) { return {HOSTCALL_CHECK_BOOL, value}; }
HC_ANYWHERE constexpr side side_of(char value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(i8 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(u8 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(i16 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(u16 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(i32 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(u32 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(long value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(unsigned long value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(i64 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(u64 value) { return integer(value); }
HC_ANYWHERE constexpr side side_of(char16_t value) { return {HOSTCALL_PRINTF_CHAR, value}; }
HC_ANYWHERE constexpr side side_of(char32_t value) { return {HOSTCALL_PRINTF_CHAR, value}; }
HC_ANYWHERE constexpr side side_of(f32 value) { return real(value); }
HC_ANYWHERE constexpr side side_of(f64 value) { return real(value); }
HC_ANYWHERE constexpr side side_of(decltype(nullptr)) { return {HOSTCALL_PRINTF_POINTER, 0}; }

/// Whether an object of a class can be made a number of 32 bits, as a `half` can.
template <class T>
struct becomes_real {
    template <class U>
    HC_ANYWHERE static char probe(decltype((f32)(*(const U*)nullptr))*);
    template <class U>
    HC_ANYWHERE static long probe(...);
    static constexpr bool value = sizeof(probe<T>(nullptr)) == 1;
};

template <class T>
HC_ANYWHERE constexpr side shown(const T& value) {
    (void)value;
    if constexpr (__is_enum(T)) {
        return side_of((__underlying_type(T))value);
    } else if constexpr (pointers<T>::value) {
        // No number at compile time.
        if (__builtin_is_constant_evaluated()) return {HOSTCALL_PRINTF_POINTER, 0};
        return {HOSTCALL_PRINTF_POINTER, (u64)value};
    } else if constexpr (copies<T>::value) {
        return side_of(value);
    } else if constexpr (becomes_real<T>::value) {
        return side_of((f32)value);
    } else {
        return {};
    }
}

/// The outcome of a comparison. It is the whole condition, unless it becomes a `bool`, which is then part of one.
struct compared {
    bool holds;
    HC_ANYWHERE constexpr operator bool() const { return holds; }
};

/// One condition: what its comparison compared.
struct check {
    side sides[2] = {};
    u32 bits = 0;

    template <class L, class R>
    HC_ANYWHERE constexpr compared keep(const L& left, const R& right, bool holds) {
        sides[0] = shown(left);
        sides[1] = shown(right);
        bits = HOSTCALL_CHECK_SIDES;
        return {holds};
    }
    HC_ANYWHERE constexpr bool holds(compared whole) { return whole.holds; }
    /// What is no comparison may contain one.
    template <class T>
    HC_ANYWHERE constexpr bool holds(const T& whole) {
        if (bits != 0) bits |= HOSTCALL_CHECK_FIRST_OF;
        return static_cast<bool>(whole);
    }
    HC_ANYWHERE constexpr u32 kinds() const { return sides[0].kind | sides[1].kind << 16; }
};

/// The left side of a comparison; or if there is none, the condition, or the first part of one.
template <class T, class Held>
struct left {
    check& to;
    Held value;

    HC_ANYWHERE constexpr operator Held() const { return value; }
    /// Of a class that is a condition.
    template <class Bool, typename only_if<is_bool<Bool>::value && !copies<T>::value>::type = 0>
    HC_ANYWHERE explicit constexpr operator Bool() const {
        return static_cast<bool>(value);
    }

#define HC_COMPARES(op)                                                                   \
    template <class R, typename only_if<copies<R>::value>::type = 0>                      \
    HC_ANYWHERE constexpr compared operator op(R right) const {                           \
        if constexpr (pointers<T>::value && zero_for<R>::value) {                         \
            return to.keep(value, nullptr, value op(T) nullptr);                          \
        } else if constexpr (pointers<R>::value && zero_for<T>::value) {                  \
            return to.keep(nullptr, right, (R) nullptr op right);                         \
        } else {                                                                          \
            return to.keep(value, right, static_cast<bool>(value op right));              \
        }                                                                                 \
    }                                                                                     \
    template <class R, typename only_if<!copies<R>::value>::type = 0>                     \
    HC_ANYWHERE constexpr compared operator op(const R& right) const {                    \
        return to.keep(value, right, static_cast<bool>(value op right));                  \
    }
    HC_COMPARES(==)
    HC_COMPARES(!=)
    HC_COMPARES(<)
    HC_COMPARES(<=)
    HC_COMPARES(>)
    HC_COMPARES(>=)
#undef HC_COMPARES
};

template <class T, typename only_if<copies<T>::value>::type = 0>
HC_ANYWHERE constexpr left<T, T> operator<=(check& to, T value) {
    return {to, value};
}
template <class T, typename only_if<!copies<T>::value>::type = 0>
HC_ANYWHERE constexpr left<T, const T&> operator<=(check& to, const T& value) {
    return {to, value};
}

/// What a message adds to a check.
struct message {
    const u32* units;
    u32 count;
    str format;
    slice<u8> texts[HOSTCALL_CHECK_TEXTS];
};

// What follows is cold, and in small functions that keep in memory what they know: a kernel takes as many registers as
// the functions that it may call.

/// A report on its way.
struct report {
    u32 number, line_bits;
    /// The file, the condition and the function.
    const char* texts[3];
    const message* more;
    machine::mask lanes;
    u32 sides[6];
    /// The head, the place, and how long the slices are.
    u32 fixed[HOSTCALL_VAR_UNITS + 10 + 7];
    /// The bytes of the slices, in their order, so many; and for how many more there is room.
    wire::part parts[8];
    u32 count, room;
    wire::held held;
};

/// The unit that begins with these bytes, of which there are `len`, and goes on with zeros. By hand: `copy_tail` would
/// need the unit's address, and with it a register more than the 32 with which all threads of a processor are there at
/// once.
HC_COLD inline u32 bytes_at(const u8* from, u32 len) {
    u32 unit = 0;
    HC_NO_UNROLL
    for (u32 left = wire::least(len, 4); left != 0; left--) unit = unit << 8 | from[left - 1];
    return unit;
}

/// Unit `index` of what is sent.
HC_COLD inline u32 unit_of(const report& report, u32 index) {
    constexpr u32 fixed = sizeof report.fixed / sizeof(u32);
    if (index < fixed) return report.fixed[index];
    u32 at = (index - fixed) * 4, part = 0;
    while (part < report.count && at >= codec::padded((u32)report.parts[part].len)) {
        at -= codec::padded((u32)report.parts[part].len);
        part++;
    }
    if (part == report.count) return 0;
    return bytes_at(report.parts[part].data + at, (u32)report.parts[part].len - at);
}

HC_DEVICE_INLINE wire::lanes alone() {
    const u32 lane = machine::lane();
    return {(machine::mask)((machine::mask)1 << lane), 1, 0, lane};
}
HC_COLD inline bool take_port(report& report) {
    return wire::port_client::acquire(alone(), true, report.held) == HOSTCALL_STATUS_OK;
}
/// Sends it, as a post of one lane.
HC_COLD inline void send(report& report) {
    const u32 units = (u32)sizeof report.fixed / 4 + report.fixed[1] / 4;
    // If the host is gone nobody can be told.
    (void)wire::port_client::send_long(alone(), report.held, report.number, 0, units, [&report](u32 i) { return unit_of(report, i); });
    wire::port_client::release(alone(), report.held);
}

/// Adds bytes to it, to the argument `slice`. What does not fit into a message of one lane is cut.
HC_COLD inline void add(report& report, u32 slice, const void* data, u64 len) {
    const u32 fits = len < report.room ? (u32)len : report.room;
    report.parts[report.count] = {(u8*)data, fits};
    report.count++;
    report.room -= codec::padded(fits);
    report.fixed[HOSTCALL_VAR_UNITS + 10 + slice] += fits;
}

/// Where the lane is, and where the check stands.
HC_COLD inline void place(report& report) {
    const coordinates id = machine::group_id(), local = machine::local_id();
    const u32 place[10] = {id.x, id.y, id.z, local.x, local.y, local.z, (u32)report.lanes, (u32)((u64)report.lanes >> 32),
                           report.line_bits >> 3, report.line_bits & 7};
    HC_UNROLL
    for (u32 i = 0; i < 10; i++) report.fixed[HOSTCALL_VAR_UNITS + i] = place[i];
}

/// Puts everything in its place; what does not fit is cut from the last on.
HC_COLD inline void fill(report& report) {
    HC_NO_UNROLL
    for (u32 i = 0; i < sizeof report.fixed / 4; i++) report.fixed[i] = 0;
    report.count = 0;
    report.room = (wire::port_client::largest(1) & ~3u) - (u32)sizeof report.fixed;
    const u32 room = report.room;
    place(report);
    add(report, 0, report.texts[0], wire::text_length(report.texts[0]));
    add(report, 1, report.texts[1], wire::text_length(report.texts[1]));
    if ((report.line_bits & HOSTCALL_CHECK_SIDES) != 0) add(report, 2, report.sides, sizeof report.sides);
    if (report.more != nullptr) {
        add(report, 2, report.more->units, 4 * report.more->count);
        add(report, 3, report.more->format.data, report.more->format.len);
        add(report, 4, report.more->texts[0].data, report.more->texts[0].len);
        add(report, 5, report.more->texts[1].data, report.more->texts[1].len);
    }
    add(report, 6, report.texts[2], wire::text_length(report.texts[2]));
    report.fixed[0] = HOSTCALL_VAR_INLINE;
    report.fixed[1] = room - report.room;
}

/// Tells the host, by the first of the lanes that fail together: what did not hold, the place, and `line` with the bits
/// of the check above it. True: nobody serves the program.
HC_COLD inline bool tell(u32 kinds, u64 a, u64 b, u32 line_bits, const char* condition, const char* file, const char* function,
                         const message* more) {
    report report;
    report.number = machine::load_number(&__HOSTCALL__Process__asserted);
    report.line_bits = line_bits;
    report.texts[0] = file, report.texts[1] = condition, report.texts[2] = function;
    report.more = more;
    const u32 sides[6] = {kinds & 0xffff, (u32)a, (u32)(a >> 32), kinds >> 16, (u32)b, (u32)(b >> 32)};
    HC_UNROLL
    for (u32 i = 0; i < 6; i++) report.sides[i] = sides[i];
    // Of one line and one condition: compilers let lanes come here together from several checks.
    const u32 lane = machine::lane();
    const machine::mask line = wire::group_at(wire::site_of(&__HOSTCALL__Process__asserted), line_bits).mask;
    const wire::lanes group = wire::lanes::make(wire::agreeing(line, lane, (u32)(u64)condition), lane);
    report.lanes = group.mask;
    if (!group.leads() || report.number == 0) return report.number == 0;
    fill(report);
    if (take_port(report)) send(report);
    return false;
}

/// What becomes of a lane that has failed a check. Where nobody serves the program, the kernel fails as it would have
/// failed without this header: to end a lane without a word would be worse.
HC_DEVICE_INLINE void after(bool unserved) {
#if !defined(HOSTCALL_ASSERT_CONTINUE)
    if (unserved) HC_TRAP();
    machine::exit_lane();
#else
    (void)unserved;
#endif
}

HC_DEVICE_INLINE u32 line_bits(u32 line, u32 bits) {
#if defined(HOSTCALL_ASSERT_CONTINUE)
    bits |= HOSTCALL_CHECK_GOES_ON;
#endif
    return line << 3 | bits;
}

HC_ANYWHERE inline void failed(const check& check, const char* file, u32 line, const char* function, const char* condition) {
    after(tell(check.kinds(), check.sides[0].bits, check.sides[1].bits, line_bits(line, check.bits), condition, file, function,
               nullptr));
}

/// The values of a message, out of the way of the kernel.
template <class... Args>
HC_NOINLINE inline bool tell_with(u32 kinds, u64 a, u64 b, u32 line_bits, const char* condition, const char* file, const char* function,
                           const char* format, Args... args) {
    static_assert((printed::is_text<Args>::count + ... + 0u) <= HOSTCALL_CHECK_TEXTS, "the message of a check has at most 2 texts");
    printed::values<sizeof...(Args)> all;
    (all.add(args), ...);
    const message more{all.units, 3 * all.count, format, {all.texts[0], all.texts[1]}};
    return tell(kinds, a, b, line_bits, condition, file, function, &more);
}
template <class... Args>
HC_ANYWHERE inline void failed(const check& check, const char* file, u32 line, const char* function, const char* condition,
                        const char* format, Args... args) {
    after(tell_with<Args...>(check.kinds(), check.sides[0].bits, check.sides[1].bits, line_bits(line, check.bits), condition, file,
                             function, format, args...));
}

/// Standard output or standard error of the host, where C has a `FILE*`.
struct stream {
    u32 number;
#if defined(HOSTCALL_HAS_STDIO)
    /// For the host's functions, which are read in this pass and not run.
    HC_ANYWHERE operator FILE*() const { return nullptr; }
#endif
};

}  // namespace checks
}  // namespace hostcall

/// C's `printf` and `fprintf`, as the macros of `hostcall_assert.cuh` call them: bytes, or -1.
template <class... Args>
HC_ANYWHERE inline int hostcall_printf(const char* format, Args... args) {
    const auto written = ::hostcall::printf(format, args...);
    return written.ok() ? (int)written.value : -1;
}
template <class... Args>
HC_ANYWHERE inline int hostcall_fprintf(::hostcall::checks::stream to, const char* format, Args... args) {
    const auto written = ::hostcall::printed::to(to.number, format, args...);
    return written.ok() ? (int)written.value : -1;
}
#if defined(HOSTCALL_HAS_STDIO) && !defined(HOSTCALL_MACHINE_SIM)
/// A function of the host's, read in this pass: it is not run.
template <class... Args>
inline int hostcall_fprintf(FILE*, const char*, Args...) {
    return -1;
}
#endif
// By whatever name they are called.
namespace std {
using ::hostcall_fprintf;
using ::hostcall_printf;
}
namespace hostcall {
using ::hostcall_fprintf;
using ::hostcall_printf;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif

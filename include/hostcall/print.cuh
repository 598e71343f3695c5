// `printf`: the format and the values travel, and the host puts the text together, checking each conversion against the
// type of its value.
#pragma once

HOSTCALL_SERVICE(Console__format, "fn(u32, &[u8], &[u32], &[u8], &[u8], &[u8], &[u8]) -> u32",
                 "fn ( u32 , & [ u8 ] , & [ u32 ] , & [ u8 ] , & [ u8 ] , & [ u8 ] , & [ u8 ] ) - > u32", ::hostcall::u32, ::hostcall::u32,
                 ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u32>, ::hostcall::slice<::hostcall::u8>,
                 ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u8>)

namespace hostcall {
namespace printed {

// The values of a call: three units each, and the texts among them.
template <size_t N>
struct values {
    u32 units[3 * N + 1];
    slice<u8> texts[HOSTCALL_PRINTF_TEXTS];
    u32 count, texts_count;

    HC_METHOD values() : count(0), texts_count(0) {}

    HC_METHOD void put(u32 kind, u64 bits) {
        units[3 * count] = kind;
        units[3 * count + 1] = (u32)bits;
        units[3 * count + 2] = (u32)(bits >> 32);
        ++count;
    }
    template <class T>
    HC_METHOD void integer(T value) {
        constexpr bool is_signed = (T)-1 < (T)1;
        const u32 kind = is_signed ? HOSTCALL_PRINTF_SIGNED : HOSTCALL_PRINTF_UNSIGNED;
        put(kind | (u32)sizeof(T) << HOSTCALL_PRINTF_SIZE_SHIFT, is_signed ? (u64)(i64)value : (u64)value);
    }

    HC_METHOD void add(bool value) { integer((i32)value); }
    HC_METHOD void add(char value) { integer(value); }
    HC_METHOD void add(i8 value) { integer(value); }
    HC_METHOD void add(u8 value) { integer(value); }
    HC_METHOD void add(i16 value) { integer(value); }
    HC_METHOD void add(u16 value) { integer(value); }
    HC_METHOD void add(i32 value) { integer(value); }
    HC_METHOD void add(u32 value) { integer(value); }
    HC_METHOD void add(long value) { integer(value); }
    HC_METHOD void add(unsigned long value) { integer(value); }
    HC_METHOD void add(i64 value) { integer(value); }
    HC_METHOD void add(u64 value) { integer(value); }
    HC_METHOD void add(char32_t value) { put(HOSTCALL_PRINTF_CHAR, (u32)value); }
    HC_METHOD void add(f32 value) { add((f64)value); }
    HC_METHOD void add(f64 value) {
        u64 bits;
        HC_COPY(&bits, &value, sizeof bits);
        put(HOSTCALL_PRINTF_FLOAT, bits);
    }
    HC_METHOD void add(const void* value) { put(HOSTCALL_PRINTF_POINTER, (u64)value); }
    HC_METHOD void add(const char* value) {
        if (value == nullptr) return put(HOSTCALL_PRINTF_TEXT, HOSTCALL_PRINTF_NULL);
        add(str(value));
    }
    HC_METHOD void add(const str& value) {
        texts[texts_count] = bytes(value);
        put(HOSTCALL_PRINTF_TEXT, texts_count);
        ++texts_count;
    }
};

// How many of some types are texts.
template <class T>
struct is_text {
    static constexpr u32 count = 0;
};
template <>
struct is_text<const char*> {
    static constexpr u32 count = 1;
};
template <>
struct is_text<char*> {
    static constexpr u32 count = 1;
};
template <>
struct is_text<str> {
    static constexpr u32 count = 1;
};

template <class... Args>
HC_DEVICE_INLINE answer<u32> to(u32 stream, str format, Args... args) {
    static_assert((is_text<Args>::count + ... + 0u) <= HOSTCALL_PRINTF_TEXTS,
                  "printf takes at most 4 texts: print the others by calls of their own");
    values<sizeof...(Args)> all;
    (all.add(args), ...);
    return call<u32>(&__HOSTCALL__Console__format, stream, bytes(format), slice<u32>(all.units, 3 * all.count), all.texts[0],
                     all.texts[1], all.texts[2], all.texts[3]);
}

}  // namespace printed

/// Writes to the host's standard output what C's `printf` makes of the format and the values: how many bytes. The host
/// formats. A conversion that is none for its value (`%d` with a `double`) fails the call, and the host's report says
/// which; lengths (`l`, `ll`, `z`) need not be right, because the value's type comes along. Numbers, `bool`, `char`,
/// `char32_t` (`%c`), pointers, and at most 4 texts (`const char*`, `str`); no `%n`.
template <class... Args>
HC_DEVICE_INLINE answer<u32> printf(str format, Args... args) {
    return printed::to(1, format, args...);
}
/// The same to standard error.
template <class... Args>
HC_DEVICE_INLINE answer<u32> printf_error(str format, Args... args) {
    return printed::to(2, format, args...);
}

}  // namespace hostcall

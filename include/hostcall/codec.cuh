// How typed arguments and results become a lane's payload, in 32-bit units: `hostcall_abi::codec`.
#pragma once

namespace hostcall {
namespace codec {

/// A value of a fixed number of units: `units`, `put` to them, and `get` from them, which says whether they are such a
/// value.
template <class T, class = void>
struct fixed {
    static_assert(is_plain<T>::value, "not a type of the wire: see HOSTCALL_PLAIN");
    static constexpr u32 units = (sizeof(T) + 3) / 4;
    HC_METHOD static void put(const T& value, u32* out) {
        if constexpr (sizeof(T) % 4 != 0) out[units - 1] = 0;
        HC_COPY(out, &value, sizeof(T));
    }
    HC_METHOD static bool get(const u32* from, T& value) {
        HC_COPY(&value, from, sizeof(T));
        return true;
    }
};

template <>
struct fixed<void> {
    static constexpr u32 units = 0;
};

template <>
struct fixed<unit> {
    static constexpr u32 units = 0;
    HC_METHOD static void put(const unit&, u32*) {}
    HC_METHOD static bool get(const u32*, unit&) { return true; }
};

template <>
struct fixed<bool> {
    static constexpr u32 units = 1;
    HC_METHOD static void put(const bool& value, u32* out) { out[0] = value ? 1 : 0; }
    HC_METHOD static bool get(const u32* from, bool& value) {
        value = from[0] != 0;
        return from[0] <= 1;
    }
};

template <>
struct fixed<char32_t> {
    static constexpr u32 units = 1;
    HC_METHOD static void put(const char32_t& value, u32* out) { out[0] = (u32)value; }
    HC_METHOD static bool get(const u32* from, char32_t& value) {
        value = (char32_t)from[0];
        return from[0] < 0xd800 || (from[0] >= 0xe000 && from[0] < 0x110000);
    }
};

template <u32 N>
HC_DEVICE_INLINE void clear(u32* out) {
    HC_UNROLL
    for (u32 i = 0; i < N; i++) out[i] = 0;
}

template <class T>
struct fixed<optional<T>> {
    static constexpr u32 units = 1 + fixed<T>::units;
    HC_METHOD static void put(const optional<T>& option, u32* out) {
        clear<units>(out);
        out[0] = option.has ? 1 : 0;
        if (option.has) fixed<T>::put(option.value, out + 1);
    }
    HC_METHOD static bool get(const u32* from, optional<T>& option) {
        option.has = from[0] != 0;
        if (from[0] == 0) return true;
        return fixed<T>::get(from + 1, option.value) && from[0] == 1;
    }
};

template <class T, class E>
struct fixed<result<T, E>> {
    static constexpr u32 units = 1 + (fixed<T>::units > fixed<E>::units ? fixed<T>::units : fixed<E>::units);
    HC_METHOD static void put(const result<T, E>& result, u32* out) {
        clear<units>(out);
        out[0] = result.ok ? 0 : 1;
        if (result.ok) {
            fixed<T>::put(result.value, out + 1);
        } else {
            fixed<E>::put(result.error, out + 1);
        }
    }
    HC_METHOD static bool get(const u32* from, result<T, E>& result) {
        result.ok = from[0] == 0;
        if (result.ok) return fixed<T>::get(from + 1, result.value);
        return fixed<E>::get(from + 1, result.error) && from[0] == 1;
    }
};

/// Values one after another.
template <class... Ts>
struct sequence {
    static constexpr u32 units = (0 + ... + fixed<Ts>::units);
    HC_METHOD static void put(u32* out, const Ts&... values) {
        u32 at = 0;
        ((fixed<Ts>::put(values, out + at), at += fixed<Ts>::units), ...);
        (void)out;
        (void)at;
    }
    HC_METHOD static bool get(const u32* from, Ts&... values) {
        u32 at = 0;
        bool good = true;
        ((good &= fixed<Ts>::get(from + at, values), at += fixed<Ts>::units), ...);
        return good;
    }
};

template <class... Ts>
struct fixed<tuple<Ts...>> {
    static constexpr u32 units = sequence<Ts...>::units;
    HC_METHOD static void put(const tuple<Ts...>& t, u32* out) {
        if constexpr (sizeof...(Ts) == 1) sequence<Ts...>::put(out, t._0);
        if constexpr (sizeof...(Ts) == 2) sequence<Ts...>::put(out, t._0, t._1);
        if constexpr (sizeof...(Ts) == 3) sequence<Ts...>::put(out, t._0, t._1, t._2);
        if constexpr (sizeof...(Ts) == 4) sequence<Ts...>::put(out, t._0, t._1, t._2, t._3);
        if constexpr (sizeof...(Ts) == 5) sequence<Ts...>::put(out, t._0, t._1, t._2, t._3, t._4);
        if constexpr (sizeof...(Ts) == 6) sequence<Ts...>::put(out, t._0, t._1, t._2, t._3, t._4, t._5);
        if constexpr (sizeof...(Ts) == 7) sequence<Ts...>::put(out, t._0, t._1, t._2, t._3, t._4, t._5, t._6);
        if constexpr (sizeof...(Ts) == 8) sequence<Ts...>::put(out, t._0, t._1, t._2, t._3, t._4, t._5, t._6, t._7);
    }
    HC_METHOD static bool get(const u32* from, tuple<Ts...>& t) {
        if constexpr (sizeof...(Ts) == 1) return sequence<Ts...>::get(from, t._0);
        if constexpr (sizeof...(Ts) == 2) return sequence<Ts...>::get(from, t._0, t._1);
        if constexpr (sizeof...(Ts) == 3) return sequence<Ts...>::get(from, t._0, t._1, t._2);
        if constexpr (sizeof...(Ts) == 4) return sequence<Ts...>::get(from, t._0, t._1, t._2, t._3);
        if constexpr (sizeof...(Ts) == 5) return sequence<Ts...>::get(from, t._0, t._1, t._2, t._3, t._4);
        if constexpr (sizeof...(Ts) == 6) return sequence<Ts...>::get(from, t._0, t._1, t._2, t._3, t._4, t._5);
        if constexpr (sizeof...(Ts) == 7) return sequence<Ts...>::get(from, t._0, t._1, t._2, t._3, t._4, t._5, t._6);
        if constexpr (sizeof...(Ts) == 8) return sequence<Ts...>::get(from, t._0, t._1, t._2, t._3, t._4, t._5, t._6, t._7);
    }
};

/// What kind of argument a type is: by value, bytes that go to the host, or bytes that come back. `units` are those of
/// its definition's hash.
enum class kind { value, in, out };
template <class T>
struct argument {
    static constexpr codec::kind kind = codec::kind::value;
    static constexpr u64 hashed = fixed<T>::units;
    static constexpr u32 units = fixed<T>::units;
    HC_METHOD static void put(const T& value, u32* out) { fixed<T>::put(value, out); }
};
template <>
struct argument<str> {
    static constexpr codec::kind kind = codec::kind::in;
    static constexpr u64 hashed = 1;
    static constexpr u32 units = 1;
    static constexpr u64 element = 1;
    HC_METHOD static void put(const str& text, u32* out) { out[0] = (u32)text.len; }
};
template <class T>
struct argument<slice<T>> {
    static_assert(is_plain<T>::value, "elements of slices are plain: see HOSTCALL_PLAIN");
    static constexpr codec::kind kind = codec::kind::in;
    static constexpr u64 hashed = sizeof(T);
    static constexpr u32 units = 1;
    static constexpr u64 element = sizeof(T);
    HC_METHOD static void put(const slice<T>& slice, u32* out) { out[0] = (u32)(slice.len * sizeof(T)); }
};
template <class T>
struct argument<slice_mut<T>> {
    static_assert(is_plain<T>::value, "elements of slices are plain: see HOSTCALL_PLAIN");
    static constexpr codec::kind kind = codec::kind::out;
    static constexpr u64 hashed = sizeof(T);
    static constexpr u32 units = 1;
    static constexpr u64 element = sizeof(T);
    HC_METHOD static void put(const slice_mut<T>& slice, u32* out) { out[0] = (u32)(slice.len * sizeof(T)); }
};

/// All arguments of a call.
template <class... Args>
struct arguments {
    /// Whether there are strings or slices.
    static constexpr bool var = (false || ... || (argument<Args>::kind != kind::value));
    static constexpr u32 ins = (0u + ... + (argument<Args>::kind == kind::in ? 1u : 0u));
    static constexpr u32 outs = (0u + ... + (argument<Args>::kind == kind::out ? 1u : 0u));
    /// Units before the bytes of strings and slices.
    static constexpr u32 units = (var ? HOSTCALL_VAR_UNITS : 0) + (0u + ... + argument<Args>::units);
    /// The same, for arrays: at least one.
    static constexpr u32 room = units == 0 ? 1 : units;

    HC_METHOD static void put(u32* out, const Args&... args) {
        u32 at = var ? HOSTCALL_VAR_UNITS : 0;
        ((argument<Args>::put(args, out + at), at += argument<Args>::units), ...);
        (void)out;
        (void)at;
    }
};

/// Bytes that `len` bytes take among the variable parts.
HC_DEVICE_INLINE u32 padded(u32 len) { return (len + 3) & ~3u; }

}  // namespace codec
}  // namespace hostcall

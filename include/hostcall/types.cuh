// Rust's types that C++ lacks, as services take and return them.
#pragma once

namespace hostcall {

/// `()` inside another type, or as an argument. As a result it is `void`.
struct unit {};

/// `u128` and `i128`.
struct alignas(16) u128 {
    u64 low, high;
};
struct alignas(16) i128 {
    u64 low;
    i64 high;
};

/// `[T; N]`.
template <class T, size_t N>
struct array {
    T at[N];

    HC_METHOD T& operator[](size_t i) { return at[i]; }
    HC_METHOD const T& operator[](size_t i) const { return at[i]; }
    HC_METHOD T* data() { return at; }
    HC_METHOD const T* data() const { return at; }
    HC_METHOD static constexpr size_t size() { return N; }
};

/// `Option<T>`.
template <class T>
struct optional {
    bool has = false;
    /// If it has one.
    T value = {};

    optional() = default;
    HC_METHOD optional(const T& value) : has(true), value(value) {}
    HC_METHOD explicit operator bool() const { return has; }
    HC_METHOD const T& operator*() const { return value; }
    HC_METHOD const T* operator->() const { return &value; }
    HC_METHOD T value_or(const T& other) const { return has ? value : other; }
};

/// `Result<T, E>`.
template <class T, class E>
struct result {
    bool ok = true;
    /// If it is ok.
    T value = {};
    /// If it is not.
    E error = {};

    HC_METHOD static result success(const T& value) { return {true, value, E{}}; }
    HC_METHOD static result failure(const E& error) { return {false, T{}, error}; }
    HC_METHOD explicit operator bool() const { return ok; }
    HC_METHOD const T& operator*() const { return value; }
    HC_METHOD T value_or(const T& other) const { return ok ? value : other; }
};

/// A tuple of one to eight: an aggregate, so structured bindings take it apart.
template <class... Ts>
struct tuple;
template <class A>
struct tuple<A> {
    A _0;
};
template <class A, class B>
struct tuple<A, B> {
    A _0;
    B _1;
};
template <class A, class B, class C>
struct tuple<A, B, C> {
    A _0;
    B _1;
    C _2;
};
template <class A, class B, class C, class D>
struct tuple<A, B, C, D> {
    A _0;
    B _1;
    C _2;
    D _3;
};
template <class A, class B, class C, class D, class E>
struct tuple<A, B, C, D, E> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
};
template <class A, class B, class C, class D, class E, class F>
struct tuple<A, B, C, D, E, F> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
};
template <class A, class B, class C, class D, class E, class F, class G>
struct tuple<A, B, C, D, E, F, G> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    G _6;
};
template <class A, class B, class C, class D, class E, class F, class G, class H>
struct tuple<A, B, C, D, E, F, G, H> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    G _6;
    H _7;
};

/// `&str`: bytes that are UTF-8, which the host checks.
struct str {
    const char* data = nullptr;
    size_t len = 0;

    str() = default;
    HC_METHOD str(const char* data, size_t len) : data(data), len(len) {}
    /// A text up to its zero. Of a literal the compiler counts.
    HC_METHOD str(const char* text) : data(text), len(length(text)) {}

private:
    HC_METHOD static size_t length(const char* text) {
#if !defined(__CUDACC__) || defined(__clang__)
        if (__builtin_constant_p(__builtin_strlen(text))) return __builtin_strlen(text);
#endif
        size_t len = 0;
        while (text[len] != 0) len++;
        return len;
    }
};

/// `&[T]`.
template <class T>
struct slice {
    const T* data = nullptr;
    size_t len = 0;

    slice() = default;
    HC_METHOD slice(const T* data, size_t len) : data(data), len(len) {}
    template <size_t N>
    HC_METHOD slice(const T (&all)[N]) : data(all), len(N) {}
};

/// `&mut [T]`: what the host returns comes back into it.
template <class T>
struct slice_mut {
    T* data = nullptr;
    size_t len = 0;
    /// Gets the number of elements that the host returned.
    u32* returned = nullptr;

    slice_mut() = default;
    HC_METHOD slice_mut(T* data, size_t len, u32* returned = nullptr) : data(data), len(len), returned(returned) {}
    template <size_t N>
    HC_METHOD slice_mut(T (&all)[N]) : data(all), len(N) {}
};

/// Whether a type is its bytes, without padding and without pointers: `hostcall_abi::Plain`.
template <class T>
struct is_plain {
    static constexpr bool value = false;
};
#define HC_PLAIN(T)                         \
    template <>                             \
    struct is_plain<T> {                    \
        static constexpr bool value = true; \
    };
HC_PLAIN(u8)
HC_PLAIN(u16)
HC_PLAIN(u32)
HC_PLAIN(u64)
HC_PLAIN(u128)
HC_PLAIN(i8)
HC_PLAIN(i16)
HC_PLAIN(i32)
HC_PLAIN(i64)
HC_PLAIN(i128)
HC_PLAIN(f32)
HC_PLAIN(f64)
// `char` and `long` are types of their own: bytes of text, and what some systems call a 64-bit integer.
HC_PLAIN(char)
HC_PLAIN(long)
HC_PLAIN(unsigned long)
#undef HC_PLAIN
template <class T, size_t N>
struct is_plain<array<T, N>> : is_plain<T> {};

}  // namespace hostcall

/// Says that a struct is plain, as `#[derive(Plain)]` does. At global scope, with the struct's whole name.
#define HOSTCALL_PLAIN(...)                                     \
    template <>                                                 \
    struct hostcall::is_plain<__VA_ARGS__> {                    \
        static constexpr bool value = true;                     \
        static_assert(alignof(__VA_ARGS__) <= 16, "plain data"); \
    };

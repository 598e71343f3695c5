// What a program says of the services that it calls, under names by which the host finds it:
// `hostcall_abi::descriptor`.
#pragma once

namespace hostcall {

/// Number of one service in this program's server: 0 until the host has patched it.
using service_word = u32;

/// A service as a value: what the host passes to a kernel that is to call this service, and not the one that has the
/// name. Rust's `ServiceHandle::callee` makes it, and C's `hc_service_callee`. Without initialiser it is nobody.
struct callee {
    u32 number = 0;
    u32 check = 0;
};
static_assert(sizeof(callee) == 8, "as large as in Rust");

/// What a stub calls: the service that came as a value, if its definition is the stub's. Else nobody.
class given {
public:
    HC_METHOD given(const service_word* word, u64 signature, callee callee)
        : word_(word), number_(callee.check == (u32)signature ? callee.number : 0) {}

    // For `wire`.

    HC_METHOD u32 number() const { return number_; }
    HC_METHOD const service_word* word() const { return word_; }

private:
    const service_word* word_;
    u32 number_;
};

/// What a stub was made from: a hash, which the host compares with its own, and the definition for people.
template <size_t Room>
struct signature_word {
    u64 hash;
    char text[Room];
};

namespace codec {

/// Bytes that the text of a definition takes: without its zero, a multiple of 8.
template <size_t N>
HC_HOST_DEVICE constexpr size_t text_room(const char (&)[N]) {
    return (N - 1 + 7) / 8 * 8;
}

/// Hash of a definition (FNV-1a): `hostcall_abi::codec::signature`.
template <class R, class... Args, size_t N>
HC_HOST_DEVICE constexpr u64 signature(const char (&text)[N]) {
    constexpr u64 prime = 0x100000001b3ull;
    u64 hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i + 1 < N; i++) hash = (hash ^ (u8)text[i]) * prime;
    const u64 units[] = {argument<Args>::hashed..., fixed<R>::units};
    for (u64 unit : units) hash = (hash ^ unit) * prime;
    return hash;
}

template <size_t Room, size_t N>
HC_HOST_DEVICE constexpr signature_word<Room> make_signature(u64 hash, const char (&text)[N]) {
    signature_word<Room> word{hash, {}};
    for (size_t i = 0; i + 1 < N && i < Room; i++) word.text[i] = text[i];
    return word;
}

}  // namespace codec
}  // namespace hostcall

/// Declares a service: `Trait__function`, its definition as people write it, the same as tokens separated by spaces,
/// its result's type, and its arguments'. `cargo hostcall bindgen` writes it. At global scope.
#define HOSTCALL_SERVICE(name, text, tokens, ...)                                                                                     \
    extern "C" {                                                                                                                      \
    HC_GLOBAL ::hostcall::service_word __HOSTCALL__##name = 0;                                                                        \
    HC_GLOBAL ::hostcall::signature_word<::hostcall::codec::text_room(text)> __HOSTCALL_SIGNATURE__##name =                           \
        ::hostcall::codec::make_signature<::hostcall::codec::text_room(text)>(::hostcall::codec::signature<__VA_ARGS__>(tokens), text); \
    }

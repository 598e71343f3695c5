// Made by `cargo hostcall bindgen --lang cuda`. Do not edit.
#pragma once
#include <hostcall.cuh>

/// A message of four bytes.
struct Message4 {
    /// What is summed up.
    ::hostcall::array<::hostcall::u32, 1> units;
};
static_assert(sizeof(Message4) == 4, "Message4: as large as in Rust");
static_assert(__builtin_offsetof(Message4, units) == 0, "Message4::units: where it is in Rust");

/// A message of eight bytes: as many as an address has.
struct Message8 {
    /// What is summed up.
    ::hostcall::array<::hostcall::u32, 2> units;
};
static_assert(sizeof(Message8) == 8, "Message8: as large as in Rust");
static_assert(__builtin_offsetof(Message8, units) == 0, "Message8::units: where it is in Rust");

/// A message of sixteen bytes.
struct Message16 {
    /// What is summed up.
    ::hostcall::array<::hostcall::u32, 4> units;
};
static_assert(sizeof(Message16) == 16, "Message16: as large as in Rust");
static_assert(__builtin_offsetof(Message16, units) == 0, "Message16::units: where it is in Rust");
HOSTCALL_PLAIN(::Message4)
HOSTCALL_PLAIN(::Message8)
HOSTCALL_PLAIN(::Message16)

/// `hostcall::send(Message4{…})` sends one of each lane.
HOSTCALL_STREAM(::Message4, Message4, 0, 0xfb5b726e02262745ull, 1,
                HOSTCALL_FIELDS({5, 8, 0, 4}), 16, "units[u32; 1]")

/// `hostcall::send(Message8{…})` sends one of each lane.
HOSTCALL_STREAM(::Message8, Message8, 0, 0xefe49d21e434b826ull, 1,
                HOSTCALL_FIELDS({5, 8, 0, 8}), 16, "units[u32; 2]")

/// `hostcall::send(Message16{…})` sends one of each lane.
HOSTCALL_STREAM(::Message16, Message16, 0, 0x70efdad42bf11cddull, 1,
                HOSTCALL_FIELDS({5, 8, 0, 16}), 16, "units[u32; 4]")

HOSTCALL_SERVICE(Bench__exchange, "fn([u32; 16]) -> [u64; 2]", "fn ( [ u32 ; 16 ] ) - > [ u64 ; 2 ]", ::hostcall::array<::hostcall::u64, 2>, ::hostcall::array<::hostcall::u32, 16>)
static_assert(::hostcall::codec::signature<::hostcall::array<::hostcall::u64, 2>, ::hostcall::array<::hostcall::u32, 16>>("fn ( [ u32 ; 16 ] ) - > [ u64 ; 2 ]") == 0x62f4819d037e3637ull, "Bench::exchange: as in Rust");
HOSTCALL_SERVICE(Bench__note, "fn([u32; 16])", "fn ( [ u32 ; 16 ] )", void, ::hostcall::array<::hostcall::u32, 16>)
static_assert(::hostcall::codec::signature<void, ::hostcall::array<::hostcall::u32, 16>>("fn ( [ u32 ; 16 ] )") == 0xe3290704750acbceull, "Bench::note: as in Rust");
HOSTCALL_SERVICE(Bench__take, "fn(&[u8]) -> u64", "fn ( & [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::slice<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::slice<::hostcall::u8>>("fn ( & [ u8 ] ) - > u64") == 0xcbb5465170d474d0ull, "Bench::take: as in Rust");
HOSTCALL_SERVICE(Bench__give, "fn(u32, &mut [u8]) -> u64", "fn ( u32 , & mut [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u8>>("fn ( u32 , & mut [ u8 ] ) - > u64") == 0x5e871d8e3f6c537dull, "Bench::give: as in Rust");

/// Calls of the shapes whose cost is measured.
struct Bench {
    /// 64 bytes in, 16 bytes out: [`answer`] to the block.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u64, 2>> exchange(::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::exchange", ::hostcall::call<::hostcall::array<::hostcall::u64, 2>>(&__HOSTCALL__Bench__exchange, block));
    }
    /// As `exchange`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u64, 2>> exchange_by(::hostcall::callee hc_callee, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::exchange", ::hostcall::call<::hostcall::array<::hostcall::u64, 2>>(::hostcall::given(&__HOSTCALL__Bench__exchange, 0x62f4819d037e3637ull, hc_callee), block));
    }
    /// One `exchange` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u64, 2>> exchange_together(::hostcall::array<::hostcall::u32, 16> block, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Bench::exchange", ::hostcall::call_together<::hostcall::array<::hostcall::u64, 2>>(hc_here, &__HOSTCALL__Bench__exchange, block));
    }
    /// As `exchange`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u64, 2>> exchange_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::exchange", ::hostcall::call_on<::hostcall::array<::hostcall::u64, 2>>(hc_port, &__HOSTCALL__Bench__exchange, block));
    }
    /// As `exchange_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u64, 2>> exchange_together_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::exchange", ::hostcall::call_together_on<::hostcall::array<::hostcall::u64, 2>>(hc_port, &__HOSTCALL__Bench__exchange, block));
    }
    /// Starts `exchange`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::array<::hostcall::u64, 2>> start_exchange(::hostcall::array<::hostcall::u32, 16> block) {
        return ::hostcall::start<::hostcall::array<::hostcall::u64, 2>>(&__HOSTCALL__Bench__exchange, block);
    }

    /// The same 64 bytes, posted.
    static HOSTCALL_STUB ::hostcall::returned<void> note(::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::note", ::hostcall::post(&__HOSTCALL__Bench__note, block));
    }
    /// As `note`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> note_by(::hostcall::callee hc_callee, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::note", ::hostcall::post(::hostcall::given(&__HOSTCALL__Bench__note, 0xe3290704750acbceull, hc_callee), block));
    }
    /// One `note` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together(::hostcall::array<::hostcall::u32, 16> block, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Bench::note", ::hostcall::post_together(hc_here, &__HOSTCALL__Bench__note, block));
    }
    /// As `note`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::note", ::hostcall::post_on(hc_port, &__HOSTCALL__Bench__note, block));
    }
    /// As `note_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Bench::note", ::hostcall::post_together_on(hc_port, &__HOSTCALL__Bench__note, block));
    }

    /// A large slice to the host, which returns its [`digest`].
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> take(::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Bench::take", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Bench__take, data));
    }
    /// As `take`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> take_by(::hostcall::callee hc_callee, ::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Bench::take", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Bench__take, 0xcbb5465170d474d0ull, hc_callee), data));
    }
    /// One `take` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> take_together(::hostcall::slice<::hostcall::u8> data, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Bench::take", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Bench__take, data));
    }

    /// A large slice to the kernel, every byte of it [`filling`] of `chunk`. Returns how many bytes.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> give(::hostcall::u32 chunk, ::hostcall::slice_mut<::hostcall::u8> out) {
        return HOSTCALL_FINISH("Bench::give", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Bench__give, chunk, out));
    }
    /// As `give`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> give_by(::hostcall::callee hc_callee, ::hostcall::u32 chunk, ::hostcall::slice_mut<::hostcall::u8> out) {
        return HOSTCALL_FINISH("Bench::give", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Bench__give, 0x5e871d8e3f6c537dull, hc_callee), chunk, out));
    }
    /// One `give` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> give_together(::hostcall::u32 chunk, ::hostcall::slice_mut<::hostcall::u8> out, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Bench::give", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Bench__give, chunk, out));
    }
};

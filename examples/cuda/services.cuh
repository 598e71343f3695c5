// Made by `cargo hostcall bindgen --lang cuda`. Do not edit.
#pragma once
#include <hostcall.cuh>

/// A plain struct of 24 bytes.
struct Particle {
    /// Where it is.
    ::hostcall::array<::hostcall::f32, 3> place;
    /// How heavy it is.
    ::hostcall::f32 mass;
    /// Which one it is.
    ::hostcall::u64 number;
};
static_assert(sizeof(Particle) == 24, "Particle: as large as in Rust");
static_assert(__builtin_offsetof(Particle, place) == 0, "Particle::place: where it is in Rust");
static_assert(__builtin_offsetof(Particle, mass) == 12, "Particle::mass: where it is in Rust");
static_assert(__builtin_offsetof(Particle, number) == 16, "Particle::number: where it is in Rust");

/// A message of an odd number of units; it waits for room.
struct Sample {
    /// Who sent it.
    ::hostcall::u32 lane;
    /// Which one of that lane's it is.
    ::hostcall::u32 round;
    /// Any number, negative ones too.
    ::hostcall::f32 value;
    /// Another one.
    ::hostcall::i32 more;
    /// The lane's bits, upside down.
    ::hostcall::u32 inverted;
};
static_assert(sizeof(Sample) == 20, "Sample: as large as in Rust");
static_assert(__builtin_offsetof(Sample, lane) == 0, "Sample::lane: where it is in Rust");
static_assert(__builtin_offsetof(Sample, round) == 4, "Sample::round: where it is in Rust");
static_assert(__builtin_offsetof(Sample, value) == 8, "Sample::value: where it is in Rust");
static_assert(__builtin_offsetof(Sample, more) == 12, "Sample::more: where it is in Rust");
static_assert(__builtin_offsetof(Sample, inverted) == 16, "Sample::inverted: where it is in Rust");

/// A message of one unit, dropped when there is no room.
struct Mark {
    /// Any number.
    ::hostcall::i32 value;
};
static_assert(sizeof(Mark) == 4, "Mark: as large as in Rust");
static_assert(__builtin_offsetof(Mark, value) == 0, "Mark::value: where it is in Rust");

/// A struct in a message; the fuller the ring, the fewer are sent.
struct Track {
    /// Where a particle was.
    ::Particle particle;
    /// When.
    ::hostcall::array<::hostcall::f32, 2> seconds;
};
static_assert(sizeof(Track) == 32, "Track: as large as in Rust");
static_assert(__builtin_offsetof(Track, particle) == 0, "Track::particle: where it is in Rust");
static_assert(__builtin_offsetof(Track, seconds) == 24, "Track::seconds: where it is in Rust");
HOSTCALL_PLAIN(::Particle)
HOSTCALL_PLAIN(::Sample)
HOSTCALL_PLAIN(::Mark)
HOSTCALL_PLAIN(::Track)

/// `hostcall::send(Sample{…})` sends one of each lane.
HOSTCALL_STREAM(::Sample, Sample, 0, 0xdb4b9d15d8530663ull, 5,
                HOSTCALL_FIELDS({4, 3, 0, 4}, {5, 3, 4, 4}, {5, 3, 8, 4}, {4, 3, 12, 4}, {8, 3, 16, 4}), 48, "laneu32roundu32valuef32morei32invertedu32")

/// `hostcall::send(Mark{…})` sends one of each lane.
HOSTCALL_STREAM(::Mark, Mark, 1, 0x5886095ef2ac672bull, 1,
                HOSTCALL_FIELDS({5, 3, 0, 4}), 8, "valuei32")

/// `hostcall::send(Track{…})` sends one of each lane.
HOSTCALL_STREAM(::Track, Track, 3, 0x7d7cf8905e4f18c1ull, 2,
                HOSTCALL_FIELDS({8, 8, 0, 24}, {7, 8, 24, 8}), 32, "particleParticleseconds[f32; 2]")

/// Text of any length.
/// `hostcall::send<Line>(…)` sends a message of each lane.
struct Line {};
HOSTCALL_BYTE_STREAM(::Line, Line, 0, 0xb89b8ff7cc303ed0ull, ::hostcall::str, "str")

/// Bytes of any length, dropped when there is no room.
/// `hostcall::send<Blob>(…)` sends a message of each lane.
struct Blob {};
HOSTCALL_BYTE_STREAM(::Blob, Blob, 1, 0xed475c8c099810e7ull, ::hostcall::slice<::hostcall::u8>, "[u8]")

HOSTCALL_SERVICE(Host__add42, "fn(f32) -> f32", "fn ( f32 ) - > f32", ::hostcall::f32, ::hostcall::f32)
static_assert(::hostcall::codec::signature<::hostcall::f32, ::hostcall::f32>("fn ( f32 ) - > f32") == 0xd7f282fff761096dull, "Host::add42: as in Rust");
HOSTCALL_SERVICE(Host__nothing, "fn() -> ()", "fn ( ) - > ( )", void)
static_assert(::hostcall::codec::signature<void>("fn ( ) - > ( )") == 0x94ece623a6d95bdcull, "Host::nothing: as in Rust");
HOSTCALL_SERVICE(Host__sum, "fn(u64, u64) -> u64", "fn ( u64 , u64 ) - > u64", ::hostcall::u64, ::hostcall::u64, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u64, ::hostcall::u64>("fn ( u64 , u64 ) - > u64") == 0x347548adde4eefd4ull, "Host::sum: as in Rust");
HOSTCALL_SERVICE(Host__scale, "fn(i32, f64) -> f64", "fn ( i32 , f64 ) - > f64", ::hostcall::f64, ::hostcall::i32, ::hostcall::f64)
static_assert(::hostcall::codec::signature<::hostcall::f64, ::hostcall::i32, ::hostcall::f64>("fn ( i32 , f64 ) - > f64") == 0x0b7644476b253790ull, "Host::scale: as in Rust");
HOSTCALL_SERVICE(Host__mixed, "fn(u8) -> (u8, i64, bool, char)", "fn ( u8 ) - > ( u8 , i64 , bool , char )", ::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>, ::hostcall::u8)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>, ::hostcall::u8>("fn ( u8 ) - > ( u8 , i64 , bool , char )") == 0xc591b14a9ac8c3edull, "Host::mixed: as in Rust");
HOSTCALL_SERVICE(Host__lookup, "fn(u64) -> Option<u64>", "fn ( u64 ) - > Option < u64 >", ::hostcall::optional<::hostcall::u64>, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::optional<::hostcall::u64>, ::hostcall::u64>("fn ( u64 ) - > Option < u64 >") == 0x138f3b50e64301cfull, "Host::lookup: as in Rust");
HOSTCALL_SERVICE(Host__half, "fn(u32) -> Result<u64, u32>", "fn ( u32 ) - > Result < u64 , u32 >", ::hostcall::result<::hostcall::u64, ::hostcall::u32>, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::result<::hostcall::u64, ::hostcall::u32>, ::hostcall::u32>("fn ( u32 ) - > Result < u64 , u32 >") == 0x0bd5908e30015263ull, "Host::half: as in Rust");
HOSTCALL_SERVICE(Host__set, "fn(u64) -> Result<(), u16>", "fn ( u64 ) - > Result < ( ) , u16 >", ::hostcall::result<::hostcall::unit, ::hostcall::u16>, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::result<::hostcall::unit, ::hostcall::u16>, ::hostcall::u64>("fn ( u64 ) - > Result < ( ) , u16 >") == 0xbdd2cc4dcfc344aeull, "Host::set: as in Rust");
HOSTCALL_SERVICE(Host__digest, "fn([u8; 64]) -> [u32; 2]", "fn ( [ u8 ; 64 ] ) - > [ u32 ; 2 ]", ::hostcall::array<::hostcall::u32, 2>, ::hostcall::array<::hostcall::u8, 64>)
static_assert(::hostcall::codec::signature<::hostcall::array<::hostcall::u32, 2>, ::hostcall::array<::hostcall::u8, 64>>("fn ( [ u8 ; 64 ] ) - > [ u32 ; 2 ]") == 0xf4db45d3c8c558caull, "Host::digest: as in Rust");
HOSTCALL_SERVICE(Host__step, "fn(Particle, f32) -> Particle", "fn ( Particle , f32 ) - > Particle", ::Particle, ::Particle, ::hostcall::f32)
static_assert(::hostcall::codec::signature<::Particle, ::Particle, ::hostcall::f32>("fn ( Particle , f32 ) - > Particle") == 0x71fe5ba460f6b1fbull, "Host::step: as in Rust");
HOSTCALL_SERVICE(Host__wide, "fn([u32; 100]) -> [u32; 60]", "fn ( [ u32 ; 100 ] ) - > [ u32 ; 60 ]", ::hostcall::array<::hostcall::u32, 60>, ::hostcall::array<::hostcall::u32, 100>)
static_assert(::hostcall::codec::signature<::hostcall::array<::hostcall::u32, 60>, ::hostcall::array<::hostcall::u32, 100>>("fn ( [ u32 ; 100 ] ) - > [ u32 ; 60 ]") == 0x61e603a33570e3a0ull, "Host::wide: as in Rust");
HOSTCALL_SERVICE(Host__small, "fn(i8, u16, bool, char) -> i16", "fn ( i8 , u16 , bool , char ) - > i16", ::hostcall::i16, ::hostcall::i8, ::hostcall::u16, bool, char32_t)
static_assert(::hostcall::codec::signature<::hostcall::i16, ::hostcall::i8, ::hostcall::u16, bool, char32_t>("fn ( i8 , u16 , bool , char ) - > i16") == 0x5490198c0dbeb613ull, "Host::small: as in Rust");
HOSTCALL_SERVICE(Host__measure, "fn(&str, &[u32]) -> (u32, u64)", "fn ( & str , & [ u32 ] ) - > ( u32 , u64 )", ::hostcall::tuple<::hostcall::u32, ::hostcall::u64>, ::hostcall::str, ::hostcall::slice<::hostcall::u32>)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>, ::hostcall::str, ::hostcall::slice<::hostcall::u32>>("fn ( & str , & [ u32 ] ) - > ( u32 , u64 )") == 0x35342dd2c8aa4ffaull, "Host::measure: as in Rust");
HOSTCALL_SERVICE(Host__echo, "fn(&[u8], &mut [u8]) -> u32", "fn ( & [ u8 ] , & mut [ u8 ] ) - > u32", ::hostcall::u32, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>>("fn ( & [ u8 ] , & mut [ u8 ] ) - > u32") == 0x928ef3bf6355086aull, "Host::echo: as in Rust");
HOSTCALL_SERVICE(Host__fill, "fn(u32, &mut [u16]) -> Result<u32, u32>", "fn ( u32 , & mut [ u16 ] ) - > Result < u32 , u32 >", ::hostcall::result<::hostcall::u32, ::hostcall::u32>, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u16>)
static_assert(::hostcall::codec::signature<::hostcall::result<::hostcall::u32, ::hostcall::u32>, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u16>>("fn ( u32 , & mut [ u16 ] ) - > Result < u32 , u32 >") == 0x26730b838c70e095ull, "Host::fill: as in Rust");
HOSTCALL_SERVICE(Host__note, "fn(u64)", "fn ( u64 )", void, ::hostcall::u64)
static_assert(::hostcall::codec::signature<void, ::hostcall::u64>("fn ( u64 )") == 0x91d2e0e594396505ull, "Host::note: as in Rust");
HOSTCALL_SERVICE(Host__log, "fn(&str)", "fn ( & str )", void, ::hostcall::str)
static_assert(::hostcall::codec::signature<void, ::hostcall::str>("fn ( & str )") == 0xc37440676a55a4f6ull, "Host::log: as in Rust");
HOSTCALL_SERVICE(Host__picky, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Host::picky: as in Rust");
HOSTCALL_SERVICE(Host__fragile, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Host::fragile: as in Rust");
HOSTCALL_SERVICE(Host__held_back, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Host::held_back: as in Rust");

HOSTCALL_SERVICE(Nobody__home, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Nobody::home: as in Rust");

/// A function for each shape of arguments and results.
struct Host {
    /// Adds 42.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42(::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call<::hostcall::f32>(&__HOSTCALL__Host__add42, x));
    }
    /// As `add42`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_by(::hostcall::callee hc_callee, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call<::hostcall::f32>(::hostcall::given(&__HOSTCALL__Host__add42, 0xd7f282fff761096dull, hc_callee), x));
    }
    /// One `add42` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_together(::hostcall::f32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call_together<::hostcall::f32>(hc_here, &__HOSTCALL__Host__add42, x));
    }
    /// As `add42`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_on(::hostcall::port& hc_port, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call_on<::hostcall::f32>(hc_port, &__HOSTCALL__Host__add42, x));
    }
    /// As `add42_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_together_on(::hostcall::port& hc_port, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call_together_on<::hostcall::f32>(hc_port, &__HOSTCALL__Host__add42, x));
    }
    /// Starts `add42`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::f32> start_add42(::hostcall::f32 x) {
        return ::hostcall::start<::hostcall::f32>(&__HOSTCALL__Host__add42, x);
    }

    /// No argument and no result, but waited for.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing() {
        return HOSTCALL_FINISH("Host::nothing", ::hostcall::call<void>(&__HOSTCALL__Host__nothing));
    }
    /// As `nothing`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_by(::hostcall::callee hc_callee) {
        return HOSTCALL_FINISH("Host::nothing", ::hostcall::call<void>(::hostcall::given(&__HOSTCALL__Host__nothing, 0x94ece623a6d95bdcull, hc_callee)));
    }
    /// One `nothing` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_together(::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::nothing", ::hostcall::call_together<void>(hc_here, &__HOSTCALL__Host__nothing));
    }
    /// As `nothing`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_on(::hostcall::port& hc_port) {
        return HOSTCALL_FINISH("Host::nothing", ::hostcall::call_on<void>(hc_port, &__HOSTCALL__Host__nothing));
    }
    /// As `nothing_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_together_on(::hostcall::port& hc_port) {
        return HOSTCALL_FINISH("Host::nothing", ::hostcall::call_together_on<void>(hc_port, &__HOSTCALL__Host__nothing));
    }
    /// Starts `nothing`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<void> start_nothing() {
        return ::hostcall::start<void>(&__HOSTCALL__Host__nothing);
    }

    /// Two arguments of one type.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum(::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Host::sum", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Host__sum, a, b));
    }
    /// As `sum`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_by(::hostcall::callee hc_callee, ::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Host::sum", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Host__sum, 0x347548adde4eefd4ull, hc_callee), a, b));
    }
    /// One `sum` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_together(::hostcall::u64 a, ::hostcall::u64 b, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::sum", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Host__sum, a, b));
    }
    /// As `sum`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_on(::hostcall::port& hc_port, ::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Host::sum", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Host__sum, a, b));
    }
    /// As `sum_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_together_on(::hostcall::port& hc_port, ::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Host::sum", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Host__sum, a, b));
    }
    /// Starts `sum`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_sum(::hostcall::u64 a, ::hostcall::u64 b) {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Host__sum, a, b);
    }

    /// Two arguments of different types.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale(::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Host::scale", ::hostcall::call<::hostcall::f64>(&__HOSTCALL__Host__scale, a, b));
    }
    /// As `scale`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_by(::hostcall::callee hc_callee, ::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Host::scale", ::hostcall::call<::hostcall::f64>(::hostcall::given(&__HOSTCALL__Host__scale, 0x0b7644476b253790ull, hc_callee), a, b));
    }
    /// One `scale` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_together(::hostcall::i32 a, ::hostcall::f64 b, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::scale", ::hostcall::call_together<::hostcall::f64>(hc_here, &__HOSTCALL__Host__scale, a, b));
    }
    /// As `scale`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_on(::hostcall::port& hc_port, ::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Host::scale", ::hostcall::call_on<::hostcall::f64>(hc_port, &__HOSTCALL__Host__scale, a, b));
    }
    /// As `scale_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_together_on(::hostcall::port& hc_port, ::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Host::scale", ::hostcall::call_together_on<::hostcall::f64>(hc_port, &__HOSTCALL__Host__scale, a, b));
    }
    /// Starts `scale`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::f64> start_scale(::hostcall::i32 a, ::hostcall::f64 b) {
        return ::hostcall::start<::hostcall::f64>(&__HOSTCALL__Host__scale, a, b);
    }

    /// A tuple.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed(::hostcall::u8 a) {
        return HOSTCALL_FINISH("Host::mixed", ::hostcall::call<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(&__HOSTCALL__Host__mixed, a));
    }
    /// As `mixed`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_by(::hostcall::callee hc_callee, ::hostcall::u8 a) {
        return HOSTCALL_FINISH("Host::mixed", ::hostcall::call<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(::hostcall::given(&__HOSTCALL__Host__mixed, 0xc591b14a9ac8c3edull, hc_callee), a));
    }
    /// One `mixed` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_together(::hostcall::u8 a, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::mixed", ::hostcall::call_together<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(hc_here, &__HOSTCALL__Host__mixed, a));
    }
    /// As `mixed`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_on(::hostcall::port& hc_port, ::hostcall::u8 a) {
        return HOSTCALL_FINISH("Host::mixed", ::hostcall::call_on<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(hc_port, &__HOSTCALL__Host__mixed, a));
    }
    /// As `mixed_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_together_on(::hostcall::port& hc_port, ::hostcall::u8 a) {
        return HOSTCALL_FINISH("Host::mixed", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(hc_port, &__HOSTCALL__Host__mixed, a));
    }
    /// Starts `mixed`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> start_mixed(::hostcall::u8 a) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(&__HOSTCALL__Host__mixed, a);
    }

    /// The square of a number that 3 divides.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup(::hostcall::u64 key) {
        return HOSTCALL_FINISH("Host::lookup", ::hostcall::call<::hostcall::optional<::hostcall::u64>>(&__HOSTCALL__Host__lookup, key));
    }
    /// As `lookup`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_by(::hostcall::callee hc_callee, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Host::lookup", ::hostcall::call<::hostcall::optional<::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Host__lookup, 0x138f3b50e64301cfull, hc_callee), key));
    }
    /// One `lookup` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_together(::hostcall::u64 key, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::lookup", ::hostcall::call_together<::hostcall::optional<::hostcall::u64>>(hc_here, &__HOSTCALL__Host__lookup, key));
    }
    /// As `lookup`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Host::lookup", ::hostcall::call_on<::hostcall::optional<::hostcall::u64>>(hc_port, &__HOSTCALL__Host__lookup, key));
    }
    /// As `lookup_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_together_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Host::lookup", ::hostcall::call_together_on<::hostcall::optional<::hostcall::u64>>(hc_port, &__HOSTCALL__Host__lookup, key));
    }
    /// Starts `lookup`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::optional<::hostcall::u64>> start_lookup(::hostcall::u64 key) {
        return ::hostcall::start<::hostcall::optional<::hostcall::u64>>(&__HOSTCALL__Host__lookup, key);
    }

    /// Half of an even number; of an odd one itself, as an error.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u64, ::hostcall::u32>> half(::hostcall::u32 n) {
        return HOSTCALL_FINISH("Host::half", ::hostcall::call<::hostcall::result<::hostcall::u64, ::hostcall::u32>>(&__HOSTCALL__Host__half, n));
    }
    /// As `half`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u64, ::hostcall::u32>> half_by(::hostcall::callee hc_callee, ::hostcall::u32 n) {
        return HOSTCALL_FINISH("Host::half", ::hostcall::call<::hostcall::result<::hostcall::u64, ::hostcall::u32>>(::hostcall::given(&__HOSTCALL__Host__half, 0x0bd5908e30015263ull, hc_callee), n));
    }
    /// One `half` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u64, ::hostcall::u32>> half_together(::hostcall::u32 n, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::half", ::hostcall::call_together<::hostcall::result<::hostcall::u64, ::hostcall::u32>>(hc_here, &__HOSTCALL__Host__half, n));
    }
    /// As `half`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u64, ::hostcall::u32>> half_on(::hostcall::port& hc_port, ::hostcall::u32 n) {
        return HOSTCALL_FINISH("Host::half", ::hostcall::call_on<::hostcall::result<::hostcall::u64, ::hostcall::u32>>(hc_port, &__HOSTCALL__Host__half, n));
    }
    /// As `half_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u64, ::hostcall::u32>> half_together_on(::hostcall::port& hc_port, ::hostcall::u32 n) {
        return HOSTCALL_FINISH("Host::half", ::hostcall::call_together_on<::hostcall::result<::hostcall::u64, ::hostcall::u32>>(hc_port, &__HOSTCALL__Host__half, n));
    }
    /// Starts `half`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::result<::hostcall::u64, ::hostcall::u32>> start_half(::hostcall::u32 n) {
        return ::hostcall::start<::hostcall::result<::hostcall::u64, ::hostcall::u32>>(&__HOSTCALL__Host__half, n);
    }

    /// Nothing, or an error.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::unit, ::hostcall::u16>> set(::hostcall::u64 n) {
        return HOSTCALL_FINISH("Host::set", ::hostcall::call<::hostcall::result<::hostcall::unit, ::hostcall::u16>>(&__HOSTCALL__Host__set, n));
    }
    /// As `set`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::unit, ::hostcall::u16>> set_by(::hostcall::callee hc_callee, ::hostcall::u64 n) {
        return HOSTCALL_FINISH("Host::set", ::hostcall::call<::hostcall::result<::hostcall::unit, ::hostcall::u16>>(::hostcall::given(&__HOSTCALL__Host__set, 0xbdd2cc4dcfc344aeull, hc_callee), n));
    }
    /// One `set` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::unit, ::hostcall::u16>> set_together(::hostcall::u64 n, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::set", ::hostcall::call_together<::hostcall::result<::hostcall::unit, ::hostcall::u16>>(hc_here, &__HOSTCALL__Host__set, n));
    }
    /// As `set`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::unit, ::hostcall::u16>> set_on(::hostcall::port& hc_port, ::hostcall::u64 n) {
        return HOSTCALL_FINISH("Host::set", ::hostcall::call_on<::hostcall::result<::hostcall::unit, ::hostcall::u16>>(hc_port, &__HOSTCALL__Host__set, n));
    }
    /// As `set_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::unit, ::hostcall::u16>> set_together_on(::hostcall::port& hc_port, ::hostcall::u64 n) {
        return HOSTCALL_FINISH("Host::set", ::hostcall::call_together_on<::hostcall::result<::hostcall::unit, ::hostcall::u16>>(hc_port, &__HOSTCALL__Host__set, n));
    }
    /// Starts `set`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::result<::hostcall::unit, ::hostcall::u16>> start_set(::hostcall::u64 n) {
        return ::hostcall::start<::hostcall::result<::hostcall::unit, ::hostcall::u16>>(&__HOSTCALL__Host__set, n);
    }

    /// 64 bytes there, 8 back.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 2>> digest(::hostcall::array<::hostcall::u8, 64> block) {
        return HOSTCALL_FINISH("Host::digest", ::hostcall::call<::hostcall::array<::hostcall::u32, 2>>(&__HOSTCALL__Host__digest, block));
    }
    /// As `digest`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 2>> digest_by(::hostcall::callee hc_callee, ::hostcall::array<::hostcall::u8, 64> block) {
        return HOSTCALL_FINISH("Host::digest", ::hostcall::call<::hostcall::array<::hostcall::u32, 2>>(::hostcall::given(&__HOSTCALL__Host__digest, 0xf4db45d3c8c558caull, hc_callee), block));
    }
    /// One `digest` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 2>> digest_together(::hostcall::array<::hostcall::u8, 64> block, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::digest", ::hostcall::call_together<::hostcall::array<::hostcall::u32, 2>>(hc_here, &__HOSTCALL__Host__digest, block));
    }
    /// As `digest`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 2>> digest_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u8, 64> block) {
        return HOSTCALL_FINISH("Host::digest", ::hostcall::call_on<::hostcall::array<::hostcall::u32, 2>>(hc_port, &__HOSTCALL__Host__digest, block));
    }
    /// As `digest_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 2>> digest_together_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u8, 64> block) {
        return HOSTCALL_FINISH("Host::digest", ::hostcall::call_together_on<::hostcall::array<::hostcall::u32, 2>>(hc_port, &__HOSTCALL__Host__digest, block));
    }
    /// Starts `digest`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::array<::hostcall::u32, 2>> start_digest(::hostcall::array<::hostcall::u8, 64> block) {
        return ::hostcall::start<::hostcall::array<::hostcall::u32, 2>>(&__HOSTCALL__Host__digest, block);
    }

    /// A struct there and back.
    static HOSTCALL_STUB ::hostcall::returned<::Particle> step(::Particle particle, ::hostcall::f32 seconds) {
        return HOSTCALL_FINISH("Host::step", ::hostcall::call<::Particle>(&__HOSTCALL__Host__step, particle, seconds));
    }
    /// As `step`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::Particle> step_by(::hostcall::callee hc_callee, ::Particle particle, ::hostcall::f32 seconds) {
        return HOSTCALL_FINISH("Host::step", ::hostcall::call<::Particle>(::hostcall::given(&__HOSTCALL__Host__step, 0x71fe5ba460f6b1fbull, hc_callee), particle, seconds));
    }
    /// One `step` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::Particle> step_together(::Particle particle, ::hostcall::f32 seconds, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::step", ::hostcall::call_together<::Particle>(hc_here, &__HOSTCALL__Host__step, particle, seconds));
    }
    /// As `step`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::Particle> step_on(::hostcall::port& hc_port, ::Particle particle, ::hostcall::f32 seconds) {
        return HOSTCALL_FINISH("Host::step", ::hostcall::call_on<::Particle>(hc_port, &__HOSTCALL__Host__step, particle, seconds));
    }
    /// As `step_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::Particle> step_together_on(::hostcall::port& hc_port, ::Particle particle, ::hostcall::f32 seconds) {
        return HOSTCALL_FINISH("Host::step", ::hostcall::call_together_on<::Particle>(hc_port, &__HOSTCALL__Host__step, particle, seconds));
    }
    /// Starts `step`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::Particle> start_step(::Particle particle, ::hostcall::f32 seconds) {
        return ::hostcall::start<::Particle>(&__HOSTCALL__Host__step, particle, seconds);
    }

    /// So many bytes that the lanes of a wave call in turns.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 60>> wide(::hostcall::array<::hostcall::u32, 100> values) {
        return HOSTCALL_FINISH("Host::wide", ::hostcall::call<::hostcall::array<::hostcall::u32, 60>>(&__HOSTCALL__Host__wide, values));
    }
    /// As `wide`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 60>> wide_by(::hostcall::callee hc_callee, ::hostcall::array<::hostcall::u32, 100> values) {
        return HOSTCALL_FINISH("Host::wide", ::hostcall::call<::hostcall::array<::hostcall::u32, 60>>(::hostcall::given(&__HOSTCALL__Host__wide, 0x61e603a33570e3a0ull, hc_callee), values));
    }
    /// One `wide` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 60>> wide_together(::hostcall::array<::hostcall::u32, 100> values, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::wide", ::hostcall::call_together<::hostcall::array<::hostcall::u32, 60>>(hc_here, &__HOSTCALL__Host__wide, values));
    }
    /// As `wide`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 60>> wide_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 100> values) {
        return HOSTCALL_FINISH("Host::wide", ::hostcall::call_on<::hostcall::array<::hostcall::u32, 60>>(hc_port, &__HOSTCALL__Host__wide, values));
    }
    /// As `wide_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::array<::hostcall::u32, 60>> wide_together_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 100> values) {
        return HOSTCALL_FINISH("Host::wide", ::hostcall::call_together_on<::hostcall::array<::hostcall::u32, 60>>(hc_port, &__HOSTCALL__Host__wide, values));
    }
    /// Starts `wide`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::array<::hostcall::u32, 60>> start_wide(::hostcall::array<::hostcall::u32, 100> values) {
        return ::hostcall::start<::hostcall::array<::hostcall::u32, 60>>(&__HOSTCALL__Host__wide, values);
    }

    /// Values of every size less than a unit.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::i16> small(::hostcall::i8 a, ::hostcall::u16 b, bool yes, char32_t letter) {
        return HOSTCALL_FINISH("Host::small", ::hostcall::call<::hostcall::i16>(&__HOSTCALL__Host__small, a, b, yes, letter));
    }
    /// As `small`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::i16> small_by(::hostcall::callee hc_callee, ::hostcall::i8 a, ::hostcall::u16 b, bool yes, char32_t letter) {
        return HOSTCALL_FINISH("Host::small", ::hostcall::call<::hostcall::i16>(::hostcall::given(&__HOSTCALL__Host__small, 0x5490198c0dbeb613ull, hc_callee), a, b, yes, letter));
    }
    /// One `small` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::i16> small_together(::hostcall::i8 a, ::hostcall::u16 b, bool yes, char32_t letter, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::small", ::hostcall::call_together<::hostcall::i16>(hc_here, &__HOSTCALL__Host__small, a, b, yes, letter));
    }
    /// As `small`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::i16> small_on(::hostcall::port& hc_port, ::hostcall::i8 a, ::hostcall::u16 b, bool yes, char32_t letter) {
        return HOSTCALL_FINISH("Host::small", ::hostcall::call_on<::hostcall::i16>(hc_port, &__HOSTCALL__Host__small, a, b, yes, letter));
    }
    /// As `small_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::i16> small_together_on(::hostcall::port& hc_port, ::hostcall::i8 a, ::hostcall::u16 b, bool yes, char32_t letter) {
        return HOSTCALL_FINISH("Host::small", ::hostcall::call_together_on<::hostcall::i16>(hc_port, &__HOSTCALL__Host__small, a, b, yes, letter));
    }
    /// Starts `small`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::i16> start_small(::hostcall::i8 a, ::hostcall::u16 b, bool yes, char32_t letter) {
        return ::hostcall::start<::hostcall::i16>(&__HOSTCALL__Host__small, a, b, yes, letter);
    }

    /// A string and a slice: bytes of the one, sum of the other.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>> measure(::hostcall::str text, ::hostcall::slice<::hostcall::u32> numbers) {
        return HOSTCALL_FINISH("Host::measure", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>>(&__HOSTCALL__Host__measure, text, numbers));
    }
    /// As `measure`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>> measure_by(::hostcall::callee hc_callee, ::hostcall::str text, ::hostcall::slice<::hostcall::u32> numbers) {
        return HOSTCALL_FINISH("Host::measure", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Host__measure, 0x35342dd2c8aa4ffaull, hc_callee), text, numbers));
    }
    /// One `measure` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>> measure_together(::hostcall::str text, ::hostcall::slice<::hostcall::u32> numbers, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::measure", ::hostcall::call_together<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>>(hc_here, &__HOSTCALL__Host__measure, text, numbers));
    }

    /// Bytes there and back: their sum.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> echo(::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Host::echo", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Host__echo, data, back));
    }
    /// As `echo`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> echo_by(::hostcall::callee hc_callee, ::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Host::echo", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Host__echo, 0x928ef3bf6355086aull, hc_callee), data, back));
    }
    /// One `echo` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> echo_together(::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::echo", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Host__echo, data, back));
    }

    /// Fills a slice; odd blocks are refused.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u32, ::hostcall::u32>> fill(::hostcall::u32 block, ::hostcall::slice_mut<::hostcall::u16> out) {
        return HOSTCALL_FINISH("Host::fill", ::hostcall::call<::hostcall::result<::hostcall::u32, ::hostcall::u32>>(&__HOSTCALL__Host__fill, block, out));
    }
    /// As `fill`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u32, ::hostcall::u32>> fill_by(::hostcall::callee hc_callee, ::hostcall::u32 block, ::hostcall::slice_mut<::hostcall::u16> out) {
        return HOSTCALL_FINISH("Host::fill", ::hostcall::call<::hostcall::result<::hostcall::u32, ::hostcall::u32>>(::hostcall::given(&__HOSTCALL__Host__fill, 0x26730b838c70e095ull, hc_callee), block, out));
    }
    /// One `fill` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u32, ::hostcall::u32>> fill_together(::hostcall::u32 block, ::hostcall::slice_mut<::hostcall::u16> out, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::fill", ::hostcall::call_together<::hostcall::result<::hostcall::u32, ::hostcall::u32>>(hc_here, &__HOSTCALL__Host__fill, block, out));
    }

    /// Posted.
    static HOSTCALL_STUB ::hostcall::returned<void> note(::hostcall::u64 value) {
        return HOSTCALL_FINISH("Host::note", ::hostcall::post(&__HOSTCALL__Host__note, value));
    }
    /// As `note`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> note_by(::hostcall::callee hc_callee, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Host::note", ::hostcall::post(::hostcall::given(&__HOSTCALL__Host__note, 0x91d2e0e594396505ull, hc_callee), value));
    }
    /// One `note` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together(::hostcall::u64 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::note", ::hostcall::post_together(hc_here, &__HOSTCALL__Host__note, value));
    }
    /// As `note`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_on(::hostcall::port& hc_port, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Host::note", ::hostcall::post_on(hc_port, &__HOSTCALL__Host__note, value));
    }
    /// As `note_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together_on(::hostcall::port& hc_port, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Host::note", ::hostcall::post_together_on(hc_port, &__HOSTCALL__Host__note, value));
    }

    /// Posted, with a string.
    static HOSTCALL_STUB ::hostcall::returned<void> log(::hostcall::str message) {
        return HOSTCALL_FINISH("Host::log", ::hostcall::post(&__HOSTCALL__Host__log, message));
    }
    /// As `log`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> log_by(::hostcall::callee hc_callee, ::hostcall::str message) {
        return HOSTCALL_FINISH("Host::log", ::hostcall::post(::hostcall::given(&__HOSTCALL__Host__log, 0xc37440676a55a4f6ull, hc_callee), message));
    }
    /// One `log` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> log_together(::hostcall::str message, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::log", ::hostcall::post_together(hc_here, &__HOSTCALL__Host__log, message));
    }

    /// Fails for odd arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky(::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::picky", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Host__picky, value));
    }
    /// As `picky`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_by(::hostcall::callee hc_callee, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::picky", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Host__picky, 0xf952883d07162c59ull, hc_callee), value));
    }
    /// One `picky` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_together(::hostcall::u32 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::picky", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Host__picky, value));
    }
    /// As `picky`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::picky", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Host__picky, value));
    }
    /// As `picky_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_together_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::picky", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Host__picky, value));
    }
    /// Starts `picky`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_picky(::hostcall::u32 value) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Host__picky, value);
    }

    /// Panics for odd arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile(::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::fragile", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Host__fragile, value));
    }
    /// As `fragile`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_by(::hostcall::callee hc_callee, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::fragile", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Host__fragile, 0xf952883d07162c59ull, hc_callee), value));
    }
    /// One `fragile` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_together(::hostcall::u32 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::fragile", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Host__fragile, value));
    }
    /// As `fragile`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::fragile", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Host__fragile, value));
    }
    /// As `fragile_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_together_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::fragile", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Host__fragile, value));
    }
    /// Starts `fragile`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_fragile(::hostcall::u32 value) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Host__fragile, value);
    }

    /// Answered when the host likes.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back(::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::held_back", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Host__held_back, value));
    }
    /// As `held_back`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_by(::hostcall::callee hc_callee, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::held_back", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Host__held_back, 0xf952883d07162c59ull, hc_callee), value));
    }
    /// One `held_back` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_together(::hostcall::u32 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::held_back", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Host__held_back, value));
    }
    /// As `held_back`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::held_back", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Host__held_back, value));
    }
    /// As `held_back_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_together_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Host::held_back", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Host__held_back, value));
    }
    /// Starts `held_back`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_held_back(::hostcall::u32 value) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Host__held_back, value);
    }
};

/// A service that nobody registers.
struct Nobody {
    /// Never answered by a handler.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> home(::hostcall::u32 x) {
        return HOSTCALL_FINISH("Nobody::home", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Nobody__home, x));
    }
    /// As `home`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> home_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Nobody::home", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Nobody__home, 0xf952883d07162c59ull, hc_callee), x));
    }
    /// One `home` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> home_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Nobody::home", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Nobody__home, x));
    }
    /// As `home`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> home_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Nobody::home", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Nobody__home, x));
    }
    /// As `home_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> home_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Nobody::home", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Nobody__home, x));
    }
    /// Starts `home`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_home(::hostcall::u32 x) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Nobody__home, x);
    }
};

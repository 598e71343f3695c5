// Made by `cargo hostcall bindgen --lang cuda`. Do not edit.
#pragma once
#include <hostcall.cuh>

/// A plain struct of more than 64 bytes.
struct Large {
    /// Something that says which lane it is of.
    ::hostcall::u64 seed;
    /// The rest.
    ::hostcall::array<::hostcall::u32, 30> values;
};
static_assert(sizeof(Large) == 128, "Large: as large as in Rust");
static_assert(__builtin_offsetof(Large, seed) == 0, "Large::seed: where it is in Rust");
static_assert(__builtin_offsetof(Large, values) == 8, "Large::values: where it is in Rust");

/// Why `Typed::fill` refused.
struct Refused {
    /// The block that was asked for.
    ::hostcall::u32 block;
};
static_assert(sizeof(Refused) == 4, "Refused: as large as in Rust");
static_assert(__builtin_offsetof(Refused, block) == 0, "Refused::block: where it is in Rust");

/// A message of one unit.
struct Tiny {
    /// Lane and number.
    ::hostcall::u32 value;
};
static_assert(sizeof(Tiny) == 4, "Tiny: as large as in Rust");
static_assert(__builtin_offsetof(Tiny, value) == 0, "Tiny::value: where it is in Rust");

/// A message that waits for room for a while.
struct Patient {
    /// The lane in the grid.
    ::hostcall::u32 lane;
    /// The lane's messages so far.
    ::hostcall::u32 number;
};
static_assert(sizeof(Patient) == 8, "Patient: as large as in Rust");
static_assert(__builtin_offsetof(Patient, lane) == 0, "Patient::lane: where it is in Rust");
static_assert(__builtin_offsetof(Patient, number) == 4, "Patient::number: where it is in Rust");

/// A message of which fewer are sent the fuller the ring is.
struct Sampled {
    /// The lane in the grid.
    ::hostcall::u32 lane;
    /// The lane's messages so far.
    ::hostcall::u32 number;
};
static_assert(sizeof(Sampled) == 8, "Sampled: as large as in Rust");
static_assert(__builtin_offsetof(Sampled, lane) == 0, "Sampled::lane: where it is in Rust");
static_assert(__builtin_offsetof(Sampled, number) == 4, "Sampled::number: where it is in Rust");

/// A message of two units, of which the first is often of the largest numbers.
struct Numbered {
    /// The lane in the grid.
    ::hostcall::u32 lane;
    /// The lane's messages so far.
    ::hostcall::u32 number;
};
static_assert(sizeof(Numbered) == 8, "Numbered: as large as in Rust");
static_assert(__builtin_offsetof(Numbered, lane) == 0, "Numbered::lane: where it is in Rust");
static_assert(__builtin_offsetof(Numbered, number) == 4, "Numbered::number: where it is in Rust");

/// A message of six units.
struct Mixed {
    /// All bits set, or none.
    ::hostcall::u64 bits;
    /// Half the lane's number, below zero.
    ::hostcall::f64 half;
    /// The lane in the grid.
    ::hostcall::i32 lane;
    /// Its bytes.
    ::hostcall::array<::hostcall::u8, 4> bytes;
};
static_assert(sizeof(Mixed) == 24, "Mixed: as large as in Rust");
static_assert(__builtin_offsetof(Mixed, bits) == 0, "Mixed::bits: where it is in Rust");
static_assert(__builtin_offsetof(Mixed, half) == 8, "Mixed::half: where it is in Rust");
static_assert(__builtin_offsetof(Mixed, lane) == 16, "Mixed::lane: where it is in Rust");
static_assert(__builtin_offsetof(Mixed, bytes) == 20, "Mixed::bytes: where it is in Rust");

/// The largest message, which is dropped when there is no room.
struct Big {
    /// The lane in the grid.
    ::hostcall::u32 lane;
    /// The lane's messages so far.
    ::hostcall::u32 number;
    /// A product of both in each.
    ::hostcall::array<::hostcall::u32, 29> rest;
};
static_assert(sizeof(Big) == 124, "Big: as large as in Rust");
static_assert(__builtin_offsetof(Big, lane) == 0, "Big::lane: where it is in Rust");
static_assert(__builtin_offsetof(Big, number) == 4, "Big::number: where it is in Rust");
static_assert(__builtin_offsetof(Big, rest) == 8, "Big::rest: where it is in Rust");
HOSTCALL_PLAIN(::Large)
HOSTCALL_PLAIN(::Refused)
HOSTCALL_PLAIN(::Tiny)
HOSTCALL_PLAIN(::Patient)
HOSTCALL_PLAIN(::Sampled)
HOSTCALL_PLAIN(::Numbered)
HOSTCALL_PLAIN(::Mixed)
HOSTCALL_PLAIN(::Big)

/// `hostcall::send(Tiny{…})` sends one of each lane.
HOSTCALL_STREAM(::Tiny, Tiny, 0, 0xeb5f74545b816596ull, 1,
                HOSTCALL_FIELDS({5, 3, 0, 4}), 8, "valueu32")

/// `hostcall::send(Patient{…})` sends one of each lane.
HOSTCALL_STREAM(::Patient, Patient, 2, 0x7f44db151b83996full, 2,
                HOSTCALL_FIELDS({4, 3, 0, 4}, {6, 3, 4, 4}), 16, "laneu32numberu32")

/// `hostcall::send(Sampled{…})` sends one of each lane.
HOSTCALL_STREAM(::Sampled, Sampled, 3, 0xa5ad94a77c7dba04ull, 2,
                HOSTCALL_FIELDS({4, 3, 0, 4}, {6, 3, 4, 4}), 16, "laneu32numberu32")

/// `hostcall::send(Numbered{…})` sends one of each lane.
HOSTCALL_STREAM(::Numbered, Numbered, 0, 0xd0f762cafea1c8ccull, 2,
                HOSTCALL_FIELDS({4, 3, 0, 4}, {6, 3, 4, 4}), 16, "laneu32numberu32")

/// `hostcall::send(Mixed{…})` sends one of each lane.
HOSTCALL_STREAM(::Mixed, Mixed, 0, 0xbece1f4777d9a15full, 4,
                HOSTCALL_FIELDS({4, 3, 0, 8}, {4, 3, 8, 8}, {4, 3, 16, 4}, {5, 7, 20, 4}), 40, "bitsu64halff64lanei32bytes[u8; 4]")

/// `hostcall::send(Big{…})` sends one of each lane.
HOSTCALL_STREAM(::Big, Big, 1, 0x5ab1480f1be5b5d2ull, 3,
                HOSTCALL_FIELDS({4, 3, 0, 4}, {6, 3, 4, 4}, {4, 9, 8, 116}), 32, "laneu32numberu32rest[u32; 29]")

/// Messages of bytes of any length.
/// `hostcall::send<Frame>(…)` sends a message of each lane.
struct Frame {};
HOSTCALL_BYTE_STREAM(::Frame, Frame, 0, 0x7ad8b9bd864c57d3ull, ::hostcall::slice<::hostcall::u8>, "[u8]")

/// Messages of text.
/// `hostcall::send<Note>(…)` sends a message of each lane.
struct Note {};
HOSTCALL_BYTE_STREAM(::Note, Note, 0, 0xa6b059cc3a6eb99aull, ::hostcall::str, "str")

// Not here: the stream `Flown`, because kernels in C++ do not send the policy `latest`.

HOSTCALL_SERVICE(Typed__nothing, "fn() -> ()", "fn ( ) - > ( )", void)
static_assert(::hostcall::codec::signature<void>("fn ( ) - > ( )") == 0x94ece623a6d95bdcull, "Typed::nothing: as in Rust");
HOSTCALL_SERVICE(Typed__add42, "fn(f32) -> f32", "fn ( f32 ) - > f32", ::hostcall::f32, ::hostcall::f32)
static_assert(::hostcall::codec::signature<::hostcall::f32, ::hostcall::f32>("fn ( f32 ) - > f32") == 0xd7f282fff761096dull, "Typed::add42: as in Rust");
HOSTCALL_SERVICE(Typed__sum, "fn(u64, u64) -> u64", "fn ( u64 , u64 ) - > u64", ::hostcall::u64, ::hostcall::u64, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u64, ::hostcall::u64>("fn ( u64 , u64 ) - > u64") == 0x347548adde4eefd4ull, "Typed::sum: as in Rust");
HOSTCALL_SERVICE(Typed__scale, "fn(i32, f64) -> f64", "fn ( i32 , f64 ) - > f64", ::hostcall::f64, ::hostcall::i32, ::hostcall::f64)
static_assert(::hostcall::codec::signature<::hostcall::f64, ::hostcall::i32, ::hostcall::f64>("fn ( i32 , f64 ) - > f64") == 0x0b7644476b253790ull, "Typed::scale: as in Rust");
HOSTCALL_SERVICE(Typed__swap, "fn(u32, u32) -> (u32, u32)", "fn ( u32 , u32 ) - > ( u32 , u32 )", ::hostcall::tuple<::hostcall::u32, ::hostcall::u32>, ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>, ::hostcall::u32, ::hostcall::u32>("fn ( u32 , u32 ) - > ( u32 , u32 )") == 0x6df66d4fa2f4a798ull, "Typed::swap: as in Rust");
HOSTCALL_SERVICE(Typed__mixed, "fn(u8) -> (u8, i64, bool, char)", "fn ( u8 ) - > ( u8 , i64 , bool , char )", ::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>, ::hostcall::u8)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>, ::hostcall::u8>("fn ( u8 ) - > ( u8 , i64 , bool , char )") == 0xc591b14a9ac8c3edull, "Typed::mixed: as in Rust");
HOSTCALL_SERVICE(Typed__lookup, "fn(u64) -> Option<u64>", "fn ( u64 ) - > Option < u64 >", ::hostcall::optional<::hostcall::u64>, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::optional<::hostcall::u64>, ::hostcall::u64>("fn ( u64 ) - > Option < u64 >") == 0x138f3b50e64301cfull, "Typed::lookup: as in Rust");
HOSTCALL_SERVICE(Typed__large, "fn(Large) -> Large", "fn ( Large ) - > Large", ::Large, ::Large)
static_assert(::hostcall::codec::signature<::Large, ::Large>("fn ( Large ) - > Large") == 0xdaa19a5245812ce3ull, "Typed::large: as in Rust");
HOSTCALL_SERVICE(Typed__measure, "fn(&str, &[u32]) -> (u32, u64)", "fn ( & str , & [ u32 ] ) - > ( u32 , u64 )", ::hostcall::tuple<::hostcall::u32, ::hostcall::u64>, ::hostcall::str, ::hostcall::slice<::hostcall::u32>)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>, ::hostcall::str, ::hostcall::slice<::hostcall::u32>>("fn ( & str , & [ u32 ] ) - > ( u32 , u64 )") == 0x35342dd2c8aa4ffaull, "Typed::measure: as in Rust");
HOSTCALL_SERVICE(Typed__fill, "fn(u32, &mut [u8]) -> Result<u32, Refused>", "fn ( u32 , & mut [ u8 ] ) - > Result < u32 , Refused >", ::hostcall::result<::hostcall::u32, ::Refused>, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::result<::hostcall::u32, ::Refused>, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u8>>("fn ( u32 , & mut [ u8 ] ) - > Result < u32 , Refused >") == 0x1861c3581dfa1da1ull, "Typed::fill: as in Rust");
HOSTCALL_SERVICE(Typed__echo, "fn(&[u8], &mut [u8]) -> u32", "fn ( & [ u8 ] , & mut [ u8 ] ) - > u32", ::hostcall::u32, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>>("fn ( & [ u8 ] , & mut [ u8 ] ) - > u32") == 0x928ef3bf6355086aull, "Typed::echo: as in Rust");
HOSTCALL_SERVICE(Typed__note, "fn(u64)", "fn ( u64 )", void, ::hostcall::u64)
static_assert(::hostcall::codec::signature<void, ::hostcall::u64>("fn ( u64 )") == 0x91d2e0e594396505ull, "Typed::note: as in Rust");
HOSTCALL_SERVICE(Typed__log, "fn(&str)", "fn ( & str )", void, ::hostcall::str)
static_assert(::hostcall::codec::signature<void, ::hostcall::str>("fn ( & str )") == 0xc37440676a55a4f6ull, "Typed::log: as in Rust");
HOSTCALL_SERVICE(Typed__nap, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Typed::nap: as in Rust");
HOSTCALL_SERVICE(Typed__picky, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Typed::picky: as in Rust");
HOSTCALL_SERVICE(Typed__fragile, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Typed::fragile: as in Rust");

HOSTCALL_SERVICE(Nobody__home, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Nobody::home: as in Rust");

HOSTCALL_SERVICE(Strict__strict_add, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Strict::strict_add: as in Rust");

HOSTCALL_SERVICE(Tally__tick, "fn(u32) -> u64", "fn ( u32 ) - > u64", ::hostcall::u64, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u32>("fn ( u32 ) - > u64") == 0xf83d7712d87f615full, "Tally::tick: as in Rust");

HOSTCALL_SERVICE(Together__none, "fn() -> u64", "fn ( ) - > u64", ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::u64>("fn ( ) - > u64") == 0x47074a533fa28e70ull, "Together::none: as in Rust");
HOSTCALL_SERVICE(Together__one, "fn(u32) -> (u64, u64)", "fn ( u32 ) - > ( u64 , u64 )", ::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::u32>("fn ( u32 ) - > ( u64 , u64 )") == 0x87664800f1687a07ull, "Together::one: as in Rust");
HOSTCALL_SERVICE(Together__two, "fn(u64) -> (u64, u64)", "fn ( u64 ) - > ( u64 , u64 )", ::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::u64>("fn ( u64 ) - > ( u64 , u64 )") == 0x9463e802aefadcdbull, "Together::two: as in Rust");
HOSTCALL_SERVICE(Together__sixteen, "fn([u32; 16]) -> (u64, u64)", "fn ( [ u32 ; 16 ] ) - > ( u64 , u64 )", ::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::array<::hostcall::u32, 16>)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::array<::hostcall::u32, 16>>("fn ( [ u32 ; 16 ] ) - > ( u64 , u64 )") == 0xfec4389f283d382cull, "Together::sixteen: as in Rust");
HOSTCALL_SERVICE(Together__thirty, "fn([u32; 30]) -> (u64, u64)", "fn ( [ u32 ; 30 ] ) - > ( u64 , u64 )", ::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::array<::hostcall::u32, 30>)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>, ::hostcall::array<::hostcall::u32, 30>>("fn ( [ u32 ; 30 ] ) - > ( u64 , u64 )") == 0x26a124bda97af60aull, "Together::thirty: as in Rust");
HOSTCALL_SERVICE(Together__note, "fn(u64)", "fn ( u64 )", void, ::hostcall::u64)
static_assert(::hostcall::codec::signature<void, ::hostcall::u64>("fn ( u64 )") == 0x91d2e0e594396505ull, "Together::note: as in Rust");
HOSTCALL_SERVICE(Together__say, "fn(&str)", "fn ( & str )", void, ::hostcall::str)
static_assert(::hostcall::codec::signature<void, ::hostcall::str>("fn ( & str )") == 0xc37440676a55a4f6ull, "Together::say: as in Rust");
HOSTCALL_SERVICE(Together__turn, "fn(&[u8], &mut [u8]) -> u64", "fn ( & [ u8 ] , & mut [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>>("fn ( & [ u8 ] , & mut [ u8 ] ) - > u64") == 0xa490a8b8f54fc532ull, "Together::turn: as in Rust");
HOSTCALL_SERVICE(Together__take, "fn(&[u8]) -> u64", "fn ( & [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::slice<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::slice<::hostcall::u8>>("fn ( & [ u8 ] ) - > u64") == 0xcbb5465170d474d0ull, "Together::take: as in Rust");
HOSTCALL_SERVICE(Together__picky, "fn(u32) -> u64", "fn ( u32 ) - > u64", ::hostcall::u64, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u32>("fn ( u32 ) - > u64") == 0xf83d7712d87f615full, "Together::picky: as in Rust");

HOSTCALL_SERVICE(Second__triple, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Second::triple: as in Rust");

HOSTCALL_SERVICE(Late__come, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Late::come: as in Rust");

HOSTCALL_SERVICE(Gate__held_back, "fn(u32) -> u32", "fn ( u32 ) - > u32", ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::u32, ::hostcall::u32>("fn ( u32 ) - > u32") == 0xf952883d07162c59ull, "Gate::held_back: as in Rust");
HOSTCALL_SERVICE(Gate__may_go, "fn(u32) -> bool", "fn ( u32 ) - > bool", bool, ::hostcall::u32)
static_assert(::hostcall::codec::signature<bool, ::hostcall::u32>("fn ( u32 ) - > bool") == 0x4c25ec4458400635ull, "Gate::may_go: as in Rust");
HOSTCALL_SERVICE(Gate__here, "fn(u32) -> ()", "fn ( u32 ) - > ( )", void, ::hostcall::u32)
static_assert(::hostcall::codec::signature<void, ::hostcall::u32>("fn ( u32 ) - > ( )") == 0x788ce1d589d28aa3ull, "Gate::here: as in Rust");

HOSTCALL_SERVICE(Stress__count, "fn(u32, u32) -> (u32, u32)", "fn ( u32 , u32 ) - > ( u32 , u32 )", ::hostcall::tuple<::hostcall::u32, ::hostcall::u32>, ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>, ::hostcall::u32, ::hostcall::u32>("fn ( u32 , u32 ) - > ( u32 , u32 )") == 0x6df66d4fa2f4a798ull, "Stress::count: as in Rust");
HOSTCALL_SERVICE(Stress__sum, "fn(u32, u64, &[u8]) -> u64", "fn ( u32 , u64 , & [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::u32, ::hostcall::u64, ::hostcall::slice<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u32, ::hostcall::u64, ::hostcall::slice<::hostcall::u8>>("fn ( u32 , u64 , & [ u8 ] ) - > u64") == 0x069566536c8b736eull, "Stress::sum: as in Rust");
HOSTCALL_SERVICE(Stress__turn, "fn(u32, &[u8], &mut [u8]) -> u64", "fn ( u32 , & [ u8 ] , & mut [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::u32, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u32, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>>("fn ( u32 , & [ u8 ] , & mut [ u8 ] ) - > u64") == 0x21736d226170ac21ull, "Stress::turn: as in Rust");
HOSTCALL_SERVICE(Stress__post, "fn(u32, u32)", "fn ( u32 , u32 )", void, ::hostcall::u32, ::hostcall::u32)
static_assert(::hostcall::codec::signature<void, ::hostcall::u32, ::hostcall::u32>("fn ( u32 , u32 )") == 0x787e0f305d5b2c28ull, "Stress::post: as in Rust");
HOSTCALL_SERVICE(Stress__post_sum, "fn(u32, u64, &[u8])", "fn ( u32 , u64 , & [ u8 ] )", void, ::hostcall::u32, ::hostcall::u64, ::hostcall::slice<::hostcall::u8>)
static_assert(::hostcall::codec::signature<void, ::hostcall::u32, ::hostcall::u64, ::hostcall::slice<::hostcall::u8>>("fn ( u32 , u64 , & [ u8 ] )") == 0xc492b060fe81dbf8ull, "Stress::post_sum: as in Rust");

HOSTCALL_SERVICE(Soak__mark, "fn(u64) -> u64", "fn ( u64 ) - > u64", ::hostcall::u64, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u64>("fn ( u64 ) - > u64") == 0xc00784dde9ad5393ull, "Soak::mark: as in Rust");
HOSTCALL_SERVICE(Soak__wide, "fn(u64, Large) -> Large", "fn ( u64 , Large ) - > Large", ::Large, ::hostcall::u64, ::Large)
static_assert(::hostcall::codec::signature<::Large, ::hostcall::u64, ::Large>("fn ( u64 , Large ) - > Large") == 0xff2b7dde01185630ull, "Soak::wide: as in Rust");
HOSTCALL_SERVICE(Soak__bulk, "fn(u64, &[u32], &mut [u32]) -> u64", "fn ( u64 , & [ u32 ] , & mut [ u32 ] ) - > u64", ::hostcall::u64, ::hostcall::u64, ::hostcall::slice<::hostcall::u32>, ::hostcall::slice_mut<::hostcall::u32>)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u64, ::hostcall::slice<::hostcall::u32>, ::hostcall::slice_mut<::hostcall::u32>>("fn ( u64 , & [ u32 ] , & mut [ u32 ] ) - > u64") == 0x66a07e6fb3872d61ull, "Soak::bulk: as in Rust");
HOSTCALL_SERVICE(Soak__text, "fn(u64, &str) -> u64", "fn ( u64 , & str ) - > u64", ::hostcall::u64, ::hostcall::u64, ::hostcall::str)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u64, ::hostcall::str>("fn ( u64 , & str ) - > u64") == 0x73cff483e7fce597ull, "Soak::text: as in Rust");
HOSTCALL_SERVICE(Soak__post, "fn(u64)", "fn ( u64 )", void, ::hostcall::u64)
static_assert(::hostcall::codec::signature<void, ::hostcall::u64>("fn ( u64 )") == 0x91d2e0e594396505ull, "Soak::post: as in Rust");
HOSTCALL_SERVICE(Soak__fail, "fn(u64) -> u64", "fn ( u64 ) - > u64", ::hostcall::u64, ::hostcall::u64)
static_assert(::hostcall::codec::signature<::hostcall::u64, ::hostcall::u64>("fn ( u64 ) - > u64") == 0xc00784dde9ad5393ull, "Soak::fail: as in Rust");

/// One function for each shape of arguments and results.
struct Typed {
    /// No argument and no result.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing() {
        return HOSTCALL_FINISH("Typed::nothing", ::hostcall::call<void>(&__HOSTCALL__Typed__nothing));
    }
    /// As `nothing`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_by(::hostcall::callee hc_callee) {
        return HOSTCALL_FINISH("Typed::nothing", ::hostcall::call<void>(::hostcall::given(&__HOSTCALL__Typed__nothing, 0x94ece623a6d95bdcull, hc_callee)));
    }
    /// One `nothing` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_together(::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::nothing", ::hostcall::call_together<void>(hc_here, &__HOSTCALL__Typed__nothing));
    }
    /// As `nothing`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_on(::hostcall::port& hc_port) {
        return HOSTCALL_FINISH("Typed::nothing", ::hostcall::call_on<void>(hc_port, &__HOSTCALL__Typed__nothing));
    }
    /// As `nothing_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> nothing_together_on(::hostcall::port& hc_port) {
        return HOSTCALL_FINISH("Typed::nothing", ::hostcall::call_together_on<void>(hc_port, &__HOSTCALL__Typed__nothing));
    }
    /// Starts `nothing`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<void> start_nothing() {
        return ::hostcall::start<void>(&__HOSTCALL__Typed__nothing);
    }

    /// One argument.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42(::hostcall::f32 x) {
        return HOSTCALL_FINISH("Typed::add42", ::hostcall::call<::hostcall::f32>(&__HOSTCALL__Typed__add42, x));
    }
    /// As `add42`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_by(::hostcall::callee hc_callee, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Typed::add42", ::hostcall::call<::hostcall::f32>(::hostcall::given(&__HOSTCALL__Typed__add42, 0xd7f282fff761096dull, hc_callee), x));
    }
    /// One `add42` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_together(::hostcall::f32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::add42", ::hostcall::call_together<::hostcall::f32>(hc_here, &__HOSTCALL__Typed__add42, x));
    }
    /// As `add42`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_on(::hostcall::port& hc_port, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Typed::add42", ::hostcall::call_on<::hostcall::f32>(hc_port, &__HOSTCALL__Typed__add42, x));
    }
    /// As `add42_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_together_on(::hostcall::port& hc_port, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Typed::add42", ::hostcall::call_together_on<::hostcall::f32>(hc_port, &__HOSTCALL__Typed__add42, x));
    }
    /// Starts `add42`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::f32> start_add42(::hostcall::f32 x) {
        return ::hostcall::start<::hostcall::f32>(&__HOSTCALL__Typed__add42, x);
    }

    /// Two arguments of one type.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum(::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Typed::sum", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Typed__sum, a, b));
    }
    /// As `sum`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_by(::hostcall::callee hc_callee, ::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Typed::sum", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Typed__sum, 0x347548adde4eefd4ull, hc_callee), a, b));
    }
    /// One `sum` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_together(::hostcall::u64 a, ::hostcall::u64 b, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::sum", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Typed__sum, a, b));
    }
    /// As `sum`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_on(::hostcall::port& hc_port, ::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Typed::sum", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Typed__sum, a, b));
    }
    /// As `sum_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_together_on(::hostcall::port& hc_port, ::hostcall::u64 a, ::hostcall::u64 b) {
        return HOSTCALL_FINISH("Typed::sum", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Typed__sum, a, b));
    }
    /// Starts `sum`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_sum(::hostcall::u64 a, ::hostcall::u64 b) {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Typed__sum, a, b);
    }

    /// Two arguments of different types.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale(::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Typed::scale", ::hostcall::call<::hostcall::f64>(&__HOSTCALL__Typed__scale, a, b));
    }
    /// As `scale`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_by(::hostcall::callee hc_callee, ::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Typed::scale", ::hostcall::call<::hostcall::f64>(::hostcall::given(&__HOSTCALL__Typed__scale, 0x0b7644476b253790ull, hc_callee), a, b));
    }
    /// One `scale` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_together(::hostcall::i32 a, ::hostcall::f64 b, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::scale", ::hostcall::call_together<::hostcall::f64>(hc_here, &__HOSTCALL__Typed__scale, a, b));
    }
    /// As `scale`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_on(::hostcall::port& hc_port, ::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Typed::scale", ::hostcall::call_on<::hostcall::f64>(hc_port, &__HOSTCALL__Typed__scale, a, b));
    }
    /// As `scale_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f64> scale_together_on(::hostcall::port& hc_port, ::hostcall::i32 a, ::hostcall::f64 b) {
        return HOSTCALL_FINISH("Typed::scale", ::hostcall::call_together_on<::hostcall::f64>(hc_port, &__HOSTCALL__Typed__scale, a, b));
    }
    /// Starts `scale`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::f64> start_scale(::hostcall::i32 a, ::hostcall::f64 b) {
        return ::hostcall::start<::hostcall::f64>(&__HOSTCALL__Typed__scale, a, b);
    }

    /// A tuple of equal parts.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> swap(::hostcall::u32 a, ::hostcall::u32 b) {
        return HOSTCALL_FINISH("Typed::swap", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(&__HOSTCALL__Typed__swap, a, b));
    }
    /// As `swap`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> swap_by(::hostcall::callee hc_callee, ::hostcall::u32 a, ::hostcall::u32 b) {
        return HOSTCALL_FINISH("Typed::swap", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(::hostcall::given(&__HOSTCALL__Typed__swap, 0x6df66d4fa2f4a798ull, hc_callee), a, b));
    }
    /// One `swap` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> swap_together(::hostcall::u32 a, ::hostcall::u32 b, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::swap", ::hostcall::call_together<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(hc_here, &__HOSTCALL__Typed__swap, a, b));
    }
    /// As `swap`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> swap_on(::hostcall::port& hc_port, ::hostcall::u32 a, ::hostcall::u32 b) {
        return HOSTCALL_FINISH("Typed::swap", ::hostcall::call_on<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(hc_port, &__HOSTCALL__Typed__swap, a, b));
    }
    /// As `swap_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> swap_together_on(::hostcall::port& hc_port, ::hostcall::u32 a, ::hostcall::u32 b) {
        return HOSTCALL_FINISH("Typed::swap", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(hc_port, &__HOSTCALL__Typed__swap, a, b));
    }
    /// Starts `swap`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> start_swap(::hostcall::u32 a, ::hostcall::u32 b) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(&__HOSTCALL__Typed__swap, a, b);
    }

    /// A tuple of different parts.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed(::hostcall::u8 a) {
        return HOSTCALL_FINISH("Typed::mixed", ::hostcall::call<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(&__HOSTCALL__Typed__mixed, a));
    }
    /// As `mixed`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_by(::hostcall::callee hc_callee, ::hostcall::u8 a) {
        return HOSTCALL_FINISH("Typed::mixed", ::hostcall::call<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(::hostcall::given(&__HOSTCALL__Typed__mixed, 0xc591b14a9ac8c3edull, hc_callee), a));
    }
    /// One `mixed` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_together(::hostcall::u8 a, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::mixed", ::hostcall::call_together<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(hc_here, &__HOSTCALL__Typed__mixed, a));
    }
    /// As `mixed`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_on(::hostcall::port& hc_port, ::hostcall::u8 a) {
        return HOSTCALL_FINISH("Typed::mixed", ::hostcall::call_on<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(hc_port, &__HOSTCALL__Typed__mixed, a));
    }
    /// As `mixed_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> mixed_together_on(::hostcall::port& hc_port, ::hostcall::u8 a) {
        return HOSTCALL_FINISH("Typed::mixed", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(hc_port, &__HOSTCALL__Typed__mixed, a));
    }
    /// Starts `mixed`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>> start_mixed(::hostcall::u8 a) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u8, ::hostcall::i64, bool, char32_t>>(&__HOSTCALL__Typed__mixed, a);
    }

    /// An option.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup(::hostcall::u64 key) {
        return HOSTCALL_FINISH("Typed::lookup", ::hostcall::call<::hostcall::optional<::hostcall::u64>>(&__HOSTCALL__Typed__lookup, key));
    }
    /// As `lookup`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_by(::hostcall::callee hc_callee, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Typed::lookup", ::hostcall::call<::hostcall::optional<::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Typed__lookup, 0x138f3b50e64301cfull, hc_callee), key));
    }
    /// One `lookup` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_together(::hostcall::u64 key, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::lookup", ::hostcall::call_together<::hostcall::optional<::hostcall::u64>>(hc_here, &__HOSTCALL__Typed__lookup, key));
    }
    /// As `lookup`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Typed::lookup", ::hostcall::call_on<::hostcall::optional<::hostcall::u64>>(hc_port, &__HOSTCALL__Typed__lookup, key));
    }
    /// As `lookup_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::optional<::hostcall::u64>> lookup_together_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Typed::lookup", ::hostcall::call_together_on<::hostcall::optional<::hostcall::u64>>(hc_port, &__HOSTCALL__Typed__lookup, key));
    }
    /// Starts `lookup`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::optional<::hostcall::u64>> start_lookup(::hostcall::u64 key) {
        return ::hostcall::start<::hostcall::optional<::hostcall::u64>>(&__HOSTCALL__Typed__lookup, key);
    }

    /// More than 64 bytes each way.
    static HOSTCALL_STUB ::hostcall::returned<::Large> large(::Large value) {
        return HOSTCALL_FINISH("Typed::large", ::hostcall::call<::Large>(&__HOSTCALL__Typed__large, value));
    }
    /// As `large`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::Large> large_by(::hostcall::callee hc_callee, ::Large value) {
        return HOSTCALL_FINISH("Typed::large", ::hostcall::call<::Large>(::hostcall::given(&__HOSTCALL__Typed__large, 0xdaa19a5245812ce3ull, hc_callee), value));
    }
    /// One `large` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::Large> large_together(::Large value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::large", ::hostcall::call_together<::Large>(hc_here, &__HOSTCALL__Typed__large, value));
    }
    /// As `large`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::Large> large_on(::hostcall::port& hc_port, ::Large value) {
        return HOSTCALL_FINISH("Typed::large", ::hostcall::call_on<::Large>(hc_port, &__HOSTCALL__Typed__large, value));
    }
    /// As `large_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::Large> large_together_on(::hostcall::port& hc_port, ::Large value) {
        return HOSTCALL_FINISH("Typed::large", ::hostcall::call_together_on<::Large>(hc_port, &__HOSTCALL__Typed__large, value));
    }
    /// Starts `large`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::Large> start_large(::Large value) {
        return ::hostcall::start<::Large>(&__HOSTCALL__Typed__large, value);
    }

    /// A string and a slice in.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>> measure(::hostcall::str text, ::hostcall::slice<::hostcall::u32> numbers) {
        return HOSTCALL_FINISH("Typed::measure", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>>(&__HOSTCALL__Typed__measure, text, numbers));
    }
    /// As `measure`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>> measure_by(::hostcall::callee hc_callee, ::hostcall::str text, ::hostcall::slice<::hostcall::u32> numbers) {
        return HOSTCALL_FINISH("Typed::measure", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Typed__measure, 0x35342dd2c8aa4ffaull, hc_callee), text, numbers));
    }
    /// One `measure` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>> measure_together(::hostcall::str text, ::hostcall::slice<::hostcall::u32> numbers, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::measure", ::hostcall::call_together<::hostcall::tuple<::hostcall::u32, ::hostcall::u64>>(hc_here, &__HOSTCALL__Typed__measure, text, numbers));
    }

    /// A slice out, or an error of the service's own.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u32, ::Refused>> fill(::hostcall::u32 block, ::hostcall::slice_mut<::hostcall::u8> out) {
        return HOSTCALL_FINISH("Typed::fill", ::hostcall::call<::hostcall::result<::hostcall::u32, ::Refused>>(&__HOSTCALL__Typed__fill, block, out));
    }
    /// As `fill`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u32, ::Refused>> fill_by(::hostcall::callee hc_callee, ::hostcall::u32 block, ::hostcall::slice_mut<::hostcall::u8> out) {
        return HOSTCALL_FINISH("Typed::fill", ::hostcall::call<::hostcall::result<::hostcall::u32, ::Refused>>(::hostcall::given(&__HOSTCALL__Typed__fill, 0x1861c3581dfa1da1ull, hc_callee), block, out));
    }
    /// One `fill` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::result<::hostcall::u32, ::Refused>> fill_together(::hostcall::u32 block, ::hostcall::slice_mut<::hostcall::u8> out, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::fill", ::hostcall::call_together<::hostcall::result<::hostcall::u32, ::Refused>>(hc_here, &__HOSTCALL__Typed__fill, block, out));
    }

    /// Slices of any size there and back.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> echo(::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Typed::echo", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Typed__echo, data, back));
    }
    /// As `echo`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> echo_by(::hostcall::callee hc_callee, ::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Typed::echo", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Typed__echo, 0x928ef3bf6355086aull, hc_callee), data, back));
    }
    /// One `echo` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> echo_together(::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::echo", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Typed__echo, data, back));
    }

    /// Fire and forget.
    static HOSTCALL_STUB ::hostcall::returned<void> note(::hostcall::u64 value) {
        return HOSTCALL_FINISH("Typed::note", ::hostcall::post(&__HOSTCALL__Typed__note, value));
    }
    /// As `note`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> note_by(::hostcall::callee hc_callee, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Typed::note", ::hostcall::post(::hostcall::given(&__HOSTCALL__Typed__note, 0x91d2e0e594396505ull, hc_callee), value));
    }
    /// One `note` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together(::hostcall::u64 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::note", ::hostcall::post_together(hc_here, &__HOSTCALL__Typed__note, value));
    }
    /// As `note`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_on(::hostcall::port& hc_port, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Typed::note", ::hostcall::post_on(hc_port, &__HOSTCALL__Typed__note, value));
    }
    /// As `note_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together_on(::hostcall::port& hc_port, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Typed::note", ::hostcall::post_together_on(hc_port, &__HOSTCALL__Typed__note, value));
    }

    /// Fire and forget with a string.
    static HOSTCALL_STUB ::hostcall::returned<void> log(::hostcall::str message) {
        return HOSTCALL_FINISH("Typed::log", ::hostcall::post(&__HOSTCALL__Typed__log, message));
    }
    /// As `log`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> log_by(::hostcall::callee hc_callee, ::hostcall::str message) {
        return HOSTCALL_FINISH("Typed::log", ::hostcall::post(::hostcall::given(&__HOSTCALL__Typed__log, 0xc37440676a55a4f6ull, hc_callee), message));
    }
    /// One `log` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> log_together(::hostcall::str message, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::log", ::hostcall::post_together(hc_here, &__HOSTCALL__Typed__log, message));
    }

    /// Sleeps on the host.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> nap(::hostcall::u32 millis) {
        return HOSTCALL_FINISH("Typed::nap", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Typed__nap, millis));
    }
    /// As `nap`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> nap_by(::hostcall::callee hc_callee, ::hostcall::u32 millis) {
        return HOSTCALL_FINISH("Typed::nap", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Typed__nap, 0xf952883d07162c59ull, hc_callee), millis));
    }
    /// One `nap` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> nap_together(::hostcall::u32 millis, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::nap", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Typed__nap, millis));
    }
    /// As `nap`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> nap_on(::hostcall::port& hc_port, ::hostcall::u32 millis) {
        return HOSTCALL_FINISH("Typed::nap", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Typed__nap, millis));
    }
    /// As `nap_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> nap_together_on(::hostcall::port& hc_port, ::hostcall::u32 millis) {
        return HOSTCALL_FINISH("Typed::nap", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Typed__nap, millis));
    }
    /// Starts `nap`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_nap(::hostcall::u32 millis) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Typed__nap, millis);
    }

    /// Fails for odd arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky(::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::picky", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Typed__picky, value));
    }
    /// As `picky`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_by(::hostcall::callee hc_callee, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::picky", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Typed__picky, 0xf952883d07162c59ull, hc_callee), value));
    }
    /// One `picky` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_together(::hostcall::u32 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::picky", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Typed__picky, value));
    }
    /// As `picky`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::picky", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Typed__picky, value));
    }
    /// As `picky_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> picky_together_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::picky", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Typed__picky, value));
    }
    /// Starts `picky`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_picky(::hostcall::u32 value) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Typed__picky, value);
    }

    /// Panics for odd arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile(::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::fragile", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Typed__fragile, value));
    }
    /// As `fragile`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_by(::hostcall::callee hc_callee, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::fragile", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Typed__fragile, 0xf952883d07162c59ull, hc_callee), value));
    }
    /// One `fragile` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_together(::hostcall::u32 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Typed::fragile", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Typed__fragile, value));
    }
    /// As `fragile`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::fragile", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Typed__fragile, value));
    }
    /// As `fragile_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> fragile_together_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Typed::fragile", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Typed__fragile, value));
    }
    /// Starts `fragile`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_fragile(::hostcall::u32 value) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Typed__fragile, value);
    }
};

/// A service that no test registers.
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

/// A service whose stubs panic instead of returning errors.
struct Strict {
    /// As `Typed::add42`.
    static HOSTCALL_STUB ::hostcall::u32 strict_add(::hostcall::u32 x) {
        return HOSTCALL_OR_ABORT("Strict::strict_add", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Strict__strict_add, x));
    }
    /// As `strict_add`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::u32 strict_add_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_OR_ABORT("Strict::strict_add", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Strict__strict_add, 0xf952883d07162c59ull, hc_callee), x));
    }
    /// One `strict_add` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::u32 strict_add_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_OR_ABORT("Strict::strict_add", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Strict__strict_add, x));
    }
    /// As `strict_add`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::u32 strict_add_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_OR_ABORT("Strict::strict_add", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Strict__strict_add, x));
    }
    /// As `strict_add_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::u32 strict_add_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_OR_ABORT("Strict::strict_add", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Strict__strict_add, x));
    }
    /// Starts `strict_add`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_strict_add(::hostcall::u32 x) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Strict__strict_add, x);
    }
};

/// Calls that are counted by where they come from.
struct Tally {
    /// Counts a call made for `what`; gives each call a number of its own.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> tick(::hostcall::u32 what) {
        return HOSTCALL_FINISH("Tally::tick", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Tally__tick, what));
    }
    /// As `tick`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> tick_by(::hostcall::callee hc_callee, ::hostcall::u32 what) {
        return HOSTCALL_FINISH("Tally::tick", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Tally__tick, 0xf83d7712d87f615full, hc_callee), what));
    }
    /// One `tick` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> tick_together(::hostcall::u32 what, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Tally::tick", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Tally__tick, what));
    }
    /// As `tick`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> tick_on(::hostcall::port& hc_port, ::hostcall::u32 what) {
        return HOSTCALL_FINISH("Tally::tick", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Tally__tick, what));
    }
    /// As `tick_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> tick_together_on(::hostcall::port& hc_port, ::hostcall::u32 what) {
        return HOSTCALL_FINISH("Tally::tick", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Tally__tick, what));
    }
    /// Starts `tick`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_tick(::hostcall::u32 what) {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Tally__tick, what);
    }
};

/// Calls that a wave makes together. Each returns the number of the call, as the host counts them, and something of the
/// arguments.
struct Together {
    /// No argument.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> none() {
        return HOSTCALL_FINISH("Together::none", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Together__none));
    }
    /// As `none`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> none_by(::hostcall::callee hc_callee) {
        return HOSTCALL_FINISH("Together::none", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Together__none, 0x47074a533fa28e70ull, hc_callee)));
    }
    /// One `none` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> none_together(::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::none", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Together__none));
    }
    /// As `none`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> none_on(::hostcall::port& hc_port) {
        return HOSTCALL_FINISH("Together::none", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Together__none));
    }
    /// As `none_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> none_together_on(::hostcall::port& hc_port) {
        return HOSTCALL_FINISH("Together::none", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Together__none));
    }
    /// Starts `none`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_none() {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Together__none);
    }

    /// One unit.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> one(::hostcall::u32 a) {
        return HOSTCALL_FINISH("Together::one", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__one, a));
    }
    /// As `one`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> one_by(::hostcall::callee hc_callee, ::hostcall::u32 a) {
        return HOSTCALL_FINISH("Together::one", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Together__one, 0x87664800f1687a07ull, hc_callee), a));
    }
    /// One `one` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> one_together(::hostcall::u32 a, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::one", ::hostcall::call_together<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_here, &__HOSTCALL__Together__one, a));
    }
    /// As `one`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> one_on(::hostcall::port& hc_port, ::hostcall::u32 a) {
        return HOSTCALL_FINISH("Together::one", ::hostcall::call_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__one, a));
    }
    /// As `one_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> one_together_on(::hostcall::port& hc_port, ::hostcall::u32 a) {
        return HOSTCALL_FINISH("Together::one", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__one, a));
    }
    /// Starts `one`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> start_one(::hostcall::u32 a) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__one, a);
    }

    /// Two units.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> two(::hostcall::u64 a) {
        return HOSTCALL_FINISH("Together::two", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__two, a));
    }
    /// As `two`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> two_by(::hostcall::callee hc_callee, ::hostcall::u64 a) {
        return HOSTCALL_FINISH("Together::two", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Together__two, 0x9463e802aefadcdbull, hc_callee), a));
    }
    /// One `two` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> two_together(::hostcall::u64 a, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::two", ::hostcall::call_together<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_here, &__HOSTCALL__Together__two, a));
    }
    /// As `two`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> two_on(::hostcall::port& hc_port, ::hostcall::u64 a) {
        return HOSTCALL_FINISH("Together::two", ::hostcall::call_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__two, a));
    }
    /// As `two_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> two_together_on(::hostcall::port& hc_port, ::hostcall::u64 a) {
        return HOSTCALL_FINISH("Together::two", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__two, a));
    }
    /// Starts `two`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> start_two(::hostcall::u64 a) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__two, a);
    }

    /// Sixteen: `block[0] >> 8`, if the others belong to it.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> sixteen(::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Together::sixteen", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__sixteen, block));
    }
    /// As `sixteen`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> sixteen_by(::hostcall::callee hc_callee, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Together::sixteen", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Together__sixteen, 0xfec4389f283d382cull, hc_callee), block));
    }
    /// One `sixteen` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> sixteen_together(::hostcall::array<::hostcall::u32, 16> block, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::sixteen", ::hostcall::call_together<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_here, &__HOSTCALL__Together__sixteen, block));
    }
    /// As `sixteen`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> sixteen_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Together::sixteen", ::hostcall::call_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__sixteen, block));
    }
    /// As `sixteen_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> sixteen_together_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 16> block) {
        return HOSTCALL_FINISH("Together::sixteen", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__sixteen, block));
    }
    /// Starts `sixteen`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> start_sixteen(::hostcall::array<::hostcall::u32, 16> block) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__sixteen, block);
    }

    /// Thirty: likewise.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> thirty(::hostcall::array<::hostcall::u32, 30> block) {
        return HOSTCALL_FINISH("Together::thirty", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__thirty, block));
    }
    /// As `thirty`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> thirty_by(::hostcall::callee hc_callee, ::hostcall::array<::hostcall::u32, 30> block) {
        return HOSTCALL_FINISH("Together::thirty", ::hostcall::call<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(::hostcall::given(&__HOSTCALL__Together__thirty, 0x26a124bda97af60aull, hc_callee), block));
    }
    /// One `thirty` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> thirty_together(::hostcall::array<::hostcall::u32, 30> block, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::thirty", ::hostcall::call_together<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_here, &__HOSTCALL__Together__thirty, block));
    }
    /// As `thirty`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> thirty_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 30> block) {
        return HOSTCALL_FINISH("Together::thirty", ::hostcall::call_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__thirty, block));
    }
    /// As `thirty_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> thirty_together_on(::hostcall::port& hc_port, ::hostcall::array<::hostcall::u32, 30> block) {
        return HOSTCALL_FINISH("Together::thirty", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(hc_port, &__HOSTCALL__Together__thirty, block));
    }
    /// Starts `thirty`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>> start_thirty(::hostcall::array<::hostcall::u32, 30> block) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u64, ::hostcall::u64>>(&__HOSTCALL__Together__thirty, block);
    }

    /// Posted.
    static HOSTCALL_STUB ::hostcall::returned<void> note(::hostcall::u64 value) {
        return HOSTCALL_FINISH("Together::note", ::hostcall::post(&__HOSTCALL__Together__note, value));
    }
    /// As `note`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> note_by(::hostcall::callee hc_callee, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Together::note", ::hostcall::post(::hostcall::given(&__HOSTCALL__Together__note, 0x91d2e0e594396505ull, hc_callee), value));
    }
    /// One `note` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together(::hostcall::u64 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::note", ::hostcall::post_together(hc_here, &__HOSTCALL__Together__note, value));
    }
    /// As `note`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_on(::hostcall::port& hc_port, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Together::note", ::hostcall::post_on(hc_port, &__HOSTCALL__Together__note, value));
    }
    /// As `note_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> note_together_on(::hostcall::port& hc_port, ::hostcall::u64 value) {
        return HOSTCALL_FINISH("Together::note", ::hostcall::post_together_on(hc_port, &__HOSTCALL__Together__note, value));
    }

    /// Posted, with a string.
    static HOSTCALL_STUB ::hostcall::returned<void> say(::hostcall::str text) {
        return HOSTCALL_FINISH("Together::say", ::hostcall::post(&__HOSTCALL__Together__say, text));
    }
    /// As `say`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> say_by(::hostcall::callee hc_callee, ::hostcall::str text) {
        return HOSTCALL_FINISH("Together::say", ::hostcall::post(::hostcall::given(&__HOSTCALL__Together__say, 0xc37440676a55a4f6ull, hc_callee), text));
    }
    /// One `say` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> say_together(::hostcall::str text, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::say", ::hostcall::post_together(hc_here, &__HOSTCALL__Together__say, text));
    }

    /// The data, turned round.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> turn(::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Together::turn", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Together__turn, data, back));
    }
    /// As `turn`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> turn_by(::hostcall::callee hc_callee, ::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Together::turn", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Together__turn, 0xa490a8b8f54fc532ull, hc_callee), data, back));
    }
    /// One `turn` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> turn_together(::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::turn", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Together__turn, data, back));
    }

    /// How long the data is.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> take(::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Together::take", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Together__take, data));
    }
    /// As `take`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> take_by(::hostcall::callee hc_callee, ::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Together::take", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Together__take, 0xcbb5465170d474d0ull, hc_callee), data));
    }
    /// One `take` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> take_together(::hostcall::slice<::hostcall::u8> data, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::take", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Together__take, data));
    }

    /// Fails for odd arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> picky(::hostcall::u32 value) {
        return HOSTCALL_FINISH("Together::picky", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Together__picky, value));
    }
    /// As `picky`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> picky_by(::hostcall::callee hc_callee, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Together::picky", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Together__picky, 0xf83d7712d87f615full, hc_callee), value));
    }
    /// One `picky` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> picky_together(::hostcall::u32 value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Together::picky", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Together__picky, value));
    }
    /// As `picky`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> picky_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Together::picky", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Together__picky, value));
    }
    /// As `picky_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> picky_together_on(::hostcall::port& hc_port, ::hostcall::u32 value) {
        return HOSTCALL_FINISH("Together::picky", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Together__picky, value));
    }
    /// Starts `picky`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_picky(::hostcall::u32 value) {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Together__picky, value);
    }
};

/// A second service beside [`Tally`] and [`Typed`].
struct Second {
    /// Three times `x`.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> triple(::hostcall::u32 x) {
        return HOSTCALL_FINISH("Second::triple", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Second__triple, x));
    }
    /// As `triple`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> triple_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Second::triple", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Second__triple, 0xf952883d07162c59ull, hc_callee), x));
    }
    /// One `triple` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> triple_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Second::triple", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Second__triple, x));
    }
    /// As `triple`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> triple_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Second::triple", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Second__triple, x));
    }
    /// As `triple_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> triple_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Second::triple", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Second__triple, x));
    }
    /// Starts `triple`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_triple(::hostcall::u32 x) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Second__triple, x);
    }
};

/// A service that no test registers before its kernel is attached.
struct Late {
    /// Answered by whoever comes late.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> come(::hostcall::u32 x) {
        return HOSTCALL_FINISH("Late::come", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Late__come, x));
    }
    /// As `come`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> come_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Late::come", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Late__come, 0xf952883d07162c59ull, hc_callee), x));
    }
    /// One `come` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> come_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Late::come", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Late__come, x));
    }
    /// As `come`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> come_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Late::come", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Late__come, x));
    }
    /// As `come_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> come_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Late::come", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Late__come, x));
    }
    /// Starts `come`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_come(::hostcall::u32 x) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Late__come, x);
    }
};

/// Calls whose answers the test holds back, and ones by which a kernel waits for the test.
struct Gate {
    /// Answered when the test likes.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back(::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::held_back", ::hostcall::call<::hostcall::u32>(&__HOSTCALL__Gate__held_back, x));
    }
    /// As `held_back`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::held_back", ::hostcall::call<::hostcall::u32>(::hostcall::given(&__HOSTCALL__Gate__held_back, 0xf952883d07162c59ull, hc_callee), x));
    }
    /// One `held_back` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Gate::held_back", ::hostcall::call_together<::hostcall::u32>(hc_here, &__HOSTCALL__Gate__held_back, x));
    }
    /// As `held_back`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::held_back", ::hostcall::call_on<::hostcall::u32>(hc_port, &__HOSTCALL__Gate__held_back, x));
    }
    /// As `held_back_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u32> held_back_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::held_back", ::hostcall::call_together_on<::hostcall::u32>(hc_port, &__HOSTCALL__Gate__held_back, x));
    }
    /// Starts `held_back`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u32> start_held_back(::hostcall::u32 x) {
        return ::hostcall::start<::hostcall::u32>(&__HOSTCALL__Gate__held_back, x);
    }

    /// Whether the kernel may go on.
    static HOSTCALL_STUB ::hostcall::returned<bool> may_go(::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::may_go", ::hostcall::call<bool>(&__HOSTCALL__Gate__may_go, x));
    }
    /// As `may_go`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<bool> may_go_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::may_go", ::hostcall::call<bool>(::hostcall::given(&__HOSTCALL__Gate__may_go, 0x4c25ec4458400635ull, hc_callee), x));
    }
    /// One `may_go` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<bool> may_go_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Gate::may_go", ::hostcall::call_together<bool>(hc_here, &__HOSTCALL__Gate__may_go, x));
    }
    /// As `may_go`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<bool> may_go_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::may_go", ::hostcall::call_on<bool>(hc_port, &__HOSTCALL__Gate__may_go, x));
    }
    /// As `may_go_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<bool> may_go_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::may_go", ::hostcall::call_together_on<bool>(hc_port, &__HOSTCALL__Gate__may_go, x));
    }
    /// Starts `may_go`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<bool> start_may_go(::hostcall::u32 x) {
        return ::hostcall::start<bool>(&__HOSTCALL__Gate__may_go, x);
    }

    /// Says that a lane is there.
    static HOSTCALL_STUB ::hostcall::returned<void> here(::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::here", ::hostcall::call<void>(&__HOSTCALL__Gate__here, x));
    }
    /// As `here`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> here_by(::hostcall::callee hc_callee, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::here", ::hostcall::call<void>(::hostcall::given(&__HOSTCALL__Gate__here, 0x788ce1d589d28aa3ull, hc_callee), x));
    }
    /// One `here` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> here_together(::hostcall::u32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Gate::here", ::hostcall::call_together<void>(hc_here, &__HOSTCALL__Gate__here, x));
    }
    /// As `here`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> here_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::here", ::hostcall::call_on<void>(hc_port, &__HOSTCALL__Gate__here, x));
    }
    /// As `here_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> here_together_on(::hostcall::port& hc_port, ::hostcall::u32 x) {
        return HOSTCALL_FINISH("Gate::here", ::hostcall::call_together_on<void>(hc_port, &__HOSTCALL__Gate__here, x));
    }
    /// Starts `here`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<void> start_here(::hostcall::u32 x) {
        return ::hostcall::start<void>(&__HOSTCALL__Gate__here, x);
    }
};

/// Messages with checksums.
struct Stress {
    /// A number of the lane's, echoed with one more.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> count(::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::count", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(&__HOSTCALL__Stress__count, lane, number));
    }
    /// As `count`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> count_by(::hostcall::callee hc_callee, ::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::count", ::hostcall::call<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(::hostcall::given(&__HOSTCALL__Stress__count, 0x6df66d4fa2f4a798ull, hc_callee), lane, number));
    }
    /// One `count` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> count_together(::hostcall::u32 lane, ::hostcall::u32 number, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Stress::count", ::hostcall::call_together<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(hc_here, &__HOSTCALL__Stress__count, lane, number));
    }
    /// As `count`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> count_on(::hostcall::port& hc_port, ::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::count", ::hostcall::call_on<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(hc_port, &__HOSTCALL__Stress__count, lane, number));
    }
    /// As `count_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> count_together_on(::hostcall::port& hc_port, ::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::count", ::hostcall::call_together_on<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(hc_port, &__HOSTCALL__Stress__count, lane, number));
    }
    /// Starts `count`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>> start_count(::hostcall::u32 lane, ::hostcall::u32 number) {
        return ::hostcall::start<::hostcall::tuple<::hostcall::u32, ::hostcall::u32>>(&__HOSTCALL__Stress__count, lane, number);
    }

    /// The data's checksum, which the handler also compares.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum(::hostcall::u32 lane, ::hostcall::u64 checksum, ::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Stress::sum", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Stress__sum, lane, checksum, data));
    }
    /// As `sum`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_by(::hostcall::callee hc_callee, ::hostcall::u32 lane, ::hostcall::u64 checksum, ::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Stress::sum", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Stress__sum, 0x069566536c8b736eull, hc_callee), lane, checksum, data));
    }
    /// One `sum` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> sum_together(::hostcall::u32 lane, ::hostcall::u64 checksum, ::hostcall::slice<::hostcall::u8> data, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Stress::sum", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Stress__sum, lane, checksum, data));
    }

    /// The data, turned round, and its checksum.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> turn(::hostcall::u32 lane, ::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Stress::turn", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Stress__turn, lane, data, back));
    }
    /// As `turn`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> turn_by(::hostcall::callee hc_callee, ::hostcall::u32 lane, ::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back) {
        return HOSTCALL_FINISH("Stress::turn", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Stress__turn, 0x21736d226170ac21ull, hc_callee), lane, data, back));
    }
    /// One `turn` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> turn_together(::hostcall::u32 lane, ::hostcall::slice<::hostcall::u8> data, ::hostcall::slice_mut<::hostcall::u8> back, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Stress::turn", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Stress__turn, lane, data, back));
    }

    /// A number of the lane's, posted.
    static HOSTCALL_STUB ::hostcall::returned<void> post(::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::post", ::hostcall::post(&__HOSTCALL__Stress__post, lane, number));
    }
    /// As `post`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> post_by(::hostcall::callee hc_callee, ::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::post", ::hostcall::post(::hostcall::given(&__HOSTCALL__Stress__post, 0x787e0f305d5b2c28ull, hc_callee), lane, number));
    }
    /// One `post` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> post_together(::hostcall::u32 lane, ::hostcall::u32 number, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Stress::post", ::hostcall::post_together(hc_here, &__HOSTCALL__Stress__post, lane, number));
    }
    /// As `post`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> post_on(::hostcall::port& hc_port, ::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::post", ::hostcall::post_on(hc_port, &__HOSTCALL__Stress__post, lane, number));
    }
    /// As `post_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> post_together_on(::hostcall::port& hc_port, ::hostcall::u32 lane, ::hostcall::u32 number) {
        return HOSTCALL_FINISH("Stress::post", ::hostcall::post_together_on(hc_port, &__HOSTCALL__Stress__post, lane, number));
    }

    /// Data and its checksum, posted.
    static HOSTCALL_STUB ::hostcall::returned<void> post_sum(::hostcall::u32 lane, ::hostcall::u64 checksum, ::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Stress::post_sum", ::hostcall::post(&__HOSTCALL__Stress__post_sum, lane, checksum, data));
    }
    /// As `post_sum`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> post_sum_by(::hostcall::callee hc_callee, ::hostcall::u32 lane, ::hostcall::u64 checksum, ::hostcall::slice<::hostcall::u8> data) {
        return HOSTCALL_FINISH("Stress::post_sum", ::hostcall::post(::hostcall::given(&__HOSTCALL__Stress__post_sum, 0xc492b060fe81dbf8ull, hc_callee), lane, checksum, data));
    }
    /// One `post_sum` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> post_sum_together(::hostcall::u32 lane, ::hostcall::u64 checksum, ::hostcall::slice<::hostcall::u8> data, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Stress::post_sum", ::hostcall::post_together(hc_here, &__HOSTCALL__Stress__post_sum, lane, checksum, data));
    }
};

/// What the soak calls. A `key` is different for every call of a run; all else follows from it.
struct Soak {
    /// Returns `mix(key)`.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> mark(::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::mark", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Soak__mark, key));
    }
    /// As `mark`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> mark_by(::hostcall::callee hc_callee, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::mark", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Soak__mark, 0xc00784dde9ad5393ull, hc_callee), key));
    }
    /// One `mark` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> mark_together(::hostcall::u64 key, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Soak::mark", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Soak__mark, key));
    }
    /// As `mark`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> mark_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::mark", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Soak__mark, key));
    }
    /// As `mark_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> mark_together_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::mark", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Soak__mark, key));
    }
    /// Starts `mark`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_mark(::hostcall::u64 key) {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Soak__mark, key);
    }

    /// The key twice in a larger message; returns `mix(key)` likewise.
    static HOSTCALL_STUB ::hostcall::returned<::Large> wide(::hostcall::u64 key, ::Large value) {
        return HOSTCALL_FINISH("Soak::wide", ::hostcall::call<::Large>(&__HOSTCALL__Soak__wide, key, value));
    }
    /// As `wide`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::Large> wide_by(::hostcall::callee hc_callee, ::hostcall::u64 key, ::Large value) {
        return HOSTCALL_FINISH("Soak::wide", ::hostcall::call<::Large>(::hostcall::given(&__HOSTCALL__Soak__wide, 0xff2b7dde01185630ull, hc_callee), key, value));
    }
    /// One `wide` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::Large> wide_together(::hostcall::u64 key, ::Large value, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Soak::wide", ::hostcall::call_together<::Large>(hc_here, &__HOSTCALL__Soak__wide, key, value));
    }
    /// As `wide`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::Large> wide_on(::hostcall::port& hc_port, ::hostcall::u64 key, ::Large value) {
        return HOSTCALL_FINISH("Soak::wide", ::hostcall::call_on<::Large>(hc_port, &__HOSTCALL__Soak__wide, key, value));
    }
    /// As `wide_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::Large> wide_together_on(::hostcall::port& hc_port, ::hostcall::u64 key, ::Large value) {
        return HOSTCALL_FINISH("Soak::wide", ::hostcall::call_together_on<::Large>(hc_port, &__HOSTCALL__Soak__wide, key, value));
    }
    /// Starts `wide`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::Large> start_wide(::hostcall::u64 key, ::Large value) {
        return ::hostcall::start<::Large>(&__HOSTCALL__Soak__wide, key, value);
    }

    /// Words made of the key; returned with each bit flipped.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> bulk(::hostcall::u64 key, ::hostcall::slice<::hostcall::u32> data, ::hostcall::slice_mut<::hostcall::u32> back) {
        return HOSTCALL_FINISH("Soak::bulk", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Soak__bulk, key, data, back));
    }
    /// As `bulk`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> bulk_by(::hostcall::callee hc_callee, ::hostcall::u64 key, ::hostcall::slice<::hostcall::u32> data, ::hostcall::slice_mut<::hostcall::u32> back) {
        return HOSTCALL_FINISH("Soak::bulk", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Soak__bulk, 0x66a07e6fb3872d61ull, hc_callee), key, data, back));
    }
    /// One `bulk` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> bulk_together(::hostcall::u64 key, ::hostcall::slice<::hostcall::u32> data, ::hostcall::slice_mut<::hostcall::u32> back, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Soak::bulk", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Soak__bulk, key, data, back));
    }

    /// A text made of the key.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> text(::hostcall::u64 key, ::hostcall::str text) {
        return HOSTCALL_FINISH("Soak::text", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Soak__text, key, text));
    }
    /// As `text`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> text_by(::hostcall::callee hc_callee, ::hostcall::u64 key, ::hostcall::str text) {
        return HOSTCALL_FINISH("Soak::text", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Soak__text, 0x73cff483e7fce597ull, hc_callee), key, text));
    }
    /// One `text` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> text_together(::hostcall::u64 key, ::hostcall::str text, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Soak::text", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Soak__text, key, text));
    }

    /// Posted.
    static HOSTCALL_STUB ::hostcall::returned<void> post(::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::post", ::hostcall::post(&__HOSTCALL__Soak__post, key));
    }
    /// As `post`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> post_by(::hostcall::callee hc_callee, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::post", ::hostcall::post(::hostcall::given(&__HOSTCALL__Soak__post, 0x91d2e0e594396505ull, hc_callee), key));
    }
    /// One `post` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> post_together(::hostcall::u64 key, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Soak::post", ::hostcall::post_together(hc_here, &__HOSTCALL__Soak__post, key));
    }
    /// As `post`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> post_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::post", ::hostcall::post_on(hc_port, &__HOSTCALL__Soak__post, key));
    }
    /// As `post_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<void> post_together_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::post", ::hostcall::post_together_on(hc_port, &__HOSTCALL__Soak__post, key));
    }

    /// The handler fails with the code `key as u32`, or panics if the key is even.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> fail(::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::fail", ::hostcall::call<::hostcall::u64>(&__HOSTCALL__Soak__fail, key));
    }
    /// As `fail`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> fail_by(::hostcall::callee hc_callee, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::fail", ::hostcall::call<::hostcall::u64>(::hostcall::given(&__HOSTCALL__Soak__fail, 0xc00784dde9ad5393ull, hc_callee), key));
    }
    /// One `fail` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> fail_together(::hostcall::u64 key, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Soak::fail", ::hostcall::call_together<::hostcall::u64>(hc_here, &__HOSTCALL__Soak__fail, key));
    }
    /// As `fail`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> fail_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::fail", ::hostcall::call_on<::hostcall::u64>(hc_port, &__HOSTCALL__Soak__fail, key));
    }
    /// As `fail_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::u64> fail_together_on(::hostcall::port& hc_port, ::hostcall::u64 key) {
        return HOSTCALL_FINISH("Soak::fail", ::hostcall::call_together_on<::hostcall::u64>(hc_port, &__HOSTCALL__Soak__fail, key));
    }
    /// Starts `fail`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::u64> start_fail(::hostcall::u64 key) {
        return ::hostcall::start<::hostcall::u64>(&__HOSTCALL__Soak__fail, key);
    }
};

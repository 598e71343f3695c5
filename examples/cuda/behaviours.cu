// Kernels that use every kind of call. The tests of `tests/cpp` run them in the simulator.
#include "services.cuh"

using hostcall::status;
using hostcall::u32;
using hostcall::u64;

// What a kernel says of an answer: its value, or status and detail.
template <class T>
HC_DEVICE_INLINE u64 told(const hostcall::answer<T>& answer) {
    return answer.ok() ? (u64)answer.value : (u64)answer.status << 32 | answer.detail;
}

/// Every shape of arguments and results: a bit of the result for each that was right.
HOSTCALL_KERNEL(shapes, u32* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u32 good = 0;
    good |= Host::nothing().ok() ? 1u : 0;
    good |= Host::add42((float)i).value_or(0) == (float)i + 42 ? 2u : 0;
    good |= Host::sum(i, 1000).value_or(0) == i + 1000 ? 4u : 0;
    good |= Host::scale((int)i - 3, 0.5).value_or(-99) == ((int)i - 3) * 0.5 ? 8u : 0;
    if (const auto mixed = Host::mixed((hostcall::u8)i)) {
        const auto [a, b, c, d] = *mixed;
        good |= a == (hostcall::u8)i && b == -(hostcall::i64)(hostcall::u8)i && c == (i % 2 == 1) && d == U'\u00df' ? 16u : 0;
    }
    if (const auto found = Host::lookup(i)) good |= found->has == (i % 3 == 0) && found->value_or(7) == (i % 3 == 0 ? i * i : 7) ? 32u : 0;
    if (const auto half = Host::half((u32)i)) {
        good |= half->ok == (i % 2 == 0) && (half->ok ? half->value == i / 2 : half->error == i) ? 64u : 0;
    }
    if (const auto set = Host::set(i)) good |= set->ok == (i != 5) && (set->ok || set->error == 5) ? 128u : 0;
    hostcall::array<hostcall::u8, 64> block;
    u32 sum = 0;
    for (u32 k = 0; k < 64; k++) sum += block[k] = (hostcall::u8)(i * 7 + k);
    if (const auto digest = Host::digest(block)) good |= digest->at[0] == sum && digest->at[1] == block[63] ? 256u : 0;
    const Particle before = {{{1, 2, (float)i}}, 3, i << 33};
    if (const auto after = Host::step(before, 2)) {
        good |= after->place[2] == (float)i + 2 && after->mass == 3 && after->number == (i << 33) + 1 ? 512u : 0;
    }
    const auto small = (hostcall::i16)(i - 3 + (i % 2 == 0 ? 223 : 0));
    good |= Host::small(-3, (hostcall::u16)i, i % 2 == 0, U'\u00df').value_or(0) == small ? 1024u : 0;
    hostcall::array<u32, 100> values;
    for (u32 k = 0; k < 100; k++) values[k] = (u32)i * 1000 + k;
    if (const auto back = Host::wide(values)) {
        u32 same = 0;
        for (u32 k = 0; k < 60; k++) same += back->at[k] == (u32)i * 1000 + 40 + k ? 1 : 0;
        good |= same == 60 ? 2048u : 0;
    }
    right[i] = good;
}

/// Posts among calls: `rounds` of each lane.
HOSTCALL_KERNEL(posts_and_calls, u32 rounds, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 sum = 0;
    for (u32 round = 0; round < rounds; round++) {
        for (u32 k = 0; k < round % 4; k++) sum += Host::note(1).ok() ? 0 : 1000000;
        if (round % 3 == 0) sum += Host::sum(round, i).value_or(1000000);
        if (round % 5 == 0) sum += Host::log("posted, with a string").ok() ? 0 : 1000000;
    }
    sums[i] = sum;
}

/// A string and slices of so many bytes there and back, from and to memory that begins anywhere. `right` gets 7.
HOSTCALL_KERNEL(slices, u32 bytes, u32 step, u32 shift, unsigned char* from, unsigned char* back, u64 room, u64* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    const u32 len = bytes + step * (u32)(i % 3);
    hostcall::u8 *data = from + i * room + (shift + i) % 16, *into = back + i * room + (shift * 3 + i) % 16;
    u32 sum = 0;
    for (u32 k = 0; k < len; k++) sum += data[k] = (hostcall::u8)(i * 31 + k * 7);
    u64 good = 0;
    u32 returned = 77;
    const auto echoed = Host::echo({data, len}, {into, len, &returned});
    if (echoed && *echoed == sum && returned == len) {
        u32 same = 0;
        for (u32 k = 0; k < len; k++) same += into[k] == data[k] ? 1 : 0;
        good |= same == len ? 1 : 0;
    }
    const u32 numbers[3] = {(u32)i, 1, 2};
    if (const auto measured = Host::measure("hello, world", numbers)) good |= measured->_0 == 12 && measured->_1 == i + 3 ? 2 : 0;
    hostcall::u16 filled[5] = {1, 1, 1, 1, 1};
    if (const auto result = Host::fill((u32)i, filled)) {
        const bool odd = i % 2 == 1;
        good |= result->ok != odd && (odd ? result->error == i : result->value == 5) && filled[4] == (hostcall::u16)i ? 4 : 0;
    }
    right[i] = echoed.ok() ? good : told(echoed);
}

/// Posts a string of so many bytes.
HOSTCALL_KERNEL(logs, u32 bytes, char* text, u64 room, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    for (u32 k = 0; k < bytes; k++) text[i * room + k] = (char)('a' + (i + k) % 26);
    ends[i] = (u64)Host::log({text + i * room, bytes}).status;
}

/// Lanes that diverge call different services with different trip counts.
HOSTCALL_KERNEL(divergent, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 sum = 0;
    for (u64 round = 0; round < i % 5; round++) {
        if (i % 2 == 0) {
            sum += Host::sum(round, 1).value_or(1000000);
        } else {
            const auto found = Host::lookup(3 * round);
            sum += found ? found->value_or(1000000) : 1000000;
        }
    }
    sums[i] = sum;
}

/// Waves call and post once for all their lanes; a bit of the result for each that was right. `from` and `back` are so
/// many bytes of each wave.
HOSTCALL_KERNEL(together, u32 bytes, unsigned char* from, unsigned char* back, u64* right, u64 n) {
    const u64 i = hostcall::global_id();
    const u64 wave = i / hostcall::machine::wave_size(), first = wave * hostcall::machine::wave_size();
    hostcall::u8 *data = from + wave * bytes, *into = back + wave * bytes;
    u32 sum = 0;
    for (u32 k = 0; k < bytes; k++) sum += data[k] = (hostcall::u8)('a' + (wave * 31 + k * 7) % 26);
    if (i >= n) return;
    // Lanes need not go on together by themselves, neither behind a branch nor behind a call.
    const auto lanes = hostcall::converged::here();
    // Arguments are the first lane's, whatever the others pass.
    u64 good = Host::sum_together(i, 1000).value_or(0) == first + 1000 ? 1 : 0;
    lanes.sync();
    good |= Host::note_together(1).ok() ? 2 : 0;
    hostcall::array<hostcall::u8, 64> block;
    for (u32 k = 0; k < 64; k++) block[k] = (hostcall::u8)(wave + k);
    u32 digest = 0;
    for (u32 k = 0; k < 64; k++) digest += block[k];
    lanes.sync();
    if (const auto answer = Host::digest_together(block)) good |= answer->at[0] == digest && answer->at[1] == block[63] ? 4 : 0;
    u32 returned = 77;
    lanes.sync();
    const auto echoed = Host::echo_together({data, bytes}, {into, bytes, &returned});
    if (echoed && *echoed == sum && returned == bytes) {
        u32 same = 0;
        for (u32 k = 0; k < bytes; k++) same += into[k] == data[k] ? 1 : 0;
        good |= same == bytes ? 8 : 0;
    }
    lanes.sync();
    good |= Host::log_together({(const char*)data, bytes}).ok() ? 16 : 0;
    {
        lanes.sync();
        auto port = hostcall::port::hold();
        if (port) {
            good |= Host::sum_together_on(port, i, 1).value_or(0) == first + 1 ? 32 : 0;
            lanes.sync();
            good &= Host::note_together_on(port, 1).ok() ? ~0ull : ~32ull;
        } else {
            good |= Host::note_together(1).ok() ? 32 : 0;
        }
    }
    lanes.sync();
    const auto failed = Host::picky_together((u32)wave);
    good |= wave % 2 == 0 ? failed.value_or(0) == wave * 10 ? 64 : 0 : failed.status == status::handler_failed && failed.detail == wave + 7 ? 64 : 0;
    // Lanes that part call for themselves. (On lines of their own: a place is a line.)
    u64 half = 0;
    if (i % 2 == 0) {
        half = Host::sum_together(i, 100).value_or(0) - 100;
    } else {
        half = Host::sum_together(i, 300).value_or(0) - 300;
    }
    good |= half % 2 == i % 2 && half >= first && half <= i ? 128 : 0;
    right[i] = good;
}

/// Messages of every size and form: `rounds` of each lane of `mask`; `told` gets what became of the last.
HOSTCALL_KERNEL(sends, u32 rounds, u64 mask, u32* told, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n || (mask >> (i % 32) & 1) == 0) return;
    hostcall::sent last = hostcall::sent::off;
    for (u32 round = 0; round < rounds; round++) {
        last = hostcall::send(Sample{(u32)i, round, -(float)i, -(int)round, ~(u32)i});
        if (round % 2 == 0) hostcall::send(Track{{{{(float)i, (float)round, -1}}, -2, i << 40 | round}, {{(float)round, -0.5f}}});
        if (round % 3 == 0) {
            const Mark marks[3] = {{(int)i}, {-(int)i - 1}, {(int)round}};
            hostcall::send_each(marks);
        }
    }
    told[i] = (u32)last + 1;
}

/// One message of each wave: the first lane's.
HOSTCALL_KERNEL(sends_once, u32 rounds, u32* told, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u32 good = 0;
    for (u32 round = 0; round < rounds; round++) {
        good += hostcall::send_once(Sample{(u32)i, round, 1, 2, 3}) == hostcall::sent::sent ? 1 : 0;
    }
    told[i] = good + (hostcall::armed<Sample>() ? 1000 : 0);
}

/// Bytes and text: of each lane of `mask`, in each round, `bytes` bytes and `step` more for some lanes, from memory and
/// from the stack; and a wave's once.
HOSTCALL_KERNEL(sends_bytes, u32 rounds, u64 mask, u32 bytes, u32 step, const unsigned char* from, u32* told, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n || (mask >> (i % 32) & 1) == 0) return;
    u32 good = hostcall::armed<Line>() && hostcall::armed<Blob>() ? 1000000 : 0;
    for (u32 round = 0; round < rounds; round++) {
        const u32 length = bytes + (u32)(i + round) % 3 * step;
        hostcall::u8 head[19];
        for (u32 k = 0; k < 19; k++) head[k] = (hostcall::u8)(i + round + k);
        good += hostcall::send<Blob>(hostcall::slice<hostcall::u8>(from + i % 16, length)) == hostcall::sent::sent ? 1 : 0;
        good += hostcall::send<Line>(hostcall::str((const char*)from, length % 40)) == hostcall::sent::sent ? 1 : 0;
        good += hostcall::send<Blob>(hostcall::slice<hostcall::u8>(head, (i + round) % 20)) == hostcall::sent::sent ? 1 : 0;
        good += hostcall::send_once<Line>("once") == hostcall::sent::sent ? 1 : 0;
    }
    good += hostcall::send<Blob>(hostcall::slice<hostcall::u8>(from, 122791)) == hostcall::sent::too_large ? 500000 : 0;
    told[i] = good;
}

/// Only the lanes of `mask` call.
HOSTCALL_KERNEL(masked, u64 mask, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    sums[i] = (mask >> (i % 32) & 1) != 0 ? told(Host::sum(i, 1000)) : 0;
}

/// Calls what nobody registered.
HOSTCALL_KERNEL(unknown, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) ends[i] = told(Nobody::home((u32)i));
}

/// Calls services that came as values, lanes of one wave different ones; and one by a value of another definition, or
/// of none.
HOSTCALL_KERNEL(by_value, hostcall::callee odd, hostcall::callee even, hostcall::callee texts, hostcall::callee posts, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    const auto measured = Host::measure_by(texts, "a text", hostcall::slice<u32>());
    const bool right = measured.ok() && measured->_0 == 6 && Host::note_by(posts, i).ok();
    const bool nobody = Host::sum_by(texts, i, 1000).status == status::unknown_service &&
                        Host::measure_by(hostcall::callee(), "", hostcall::slice<u32>()).status == status::unknown_service;
    ends[i] = right && nobody ? told(Host::sum_by(i % 2 == 1 ? odd : even, i, 1000)) : ~0ull;
}

/// Calls handlers that fail, and that panic.
HOSTCALL_KERNEL(picky, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) ends[i] = told(Host::picky((u32)i));
}
HOSTCALL_KERNEL(fragile, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) ends[i] = told(Host::fragile((u32)i));
}

/// Keeps a port while it makes other calls; without one, calls without.
HOSTCALL_KERNEL(keeps, u32 rounds, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 sum = 0;
    auto port = hostcall::port::hold();
    for (u32 round = 0; round < rounds; round++) {
        if (port) {
            sum += Host::sum_on(port, round, i).value_or(1000000);
            sum += Host::note_on(port, 1).ok() ? 0 : 1000000;
        } else {
            sum += port.status() == status::busy ? 0 : 1000000;
            sum += Host::sum(round, i).value_or(1000000);
            sum += Host::note(1).ok() ? 0 : 1000000;
        }
        sum += Host::sum(1, 1).value_or(1000000);
    }
    sums[i] = sum;
}

/// Starts a call, makes another, and fetches the first; drops one.
HOSTCALL_KERNEL(starts, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 sum = 0;
    for (u32 round = 0; round < 5; round++) {
        auto started = Host::start_sum(i, round);
        sum += Host::sum(1, 1).value_or(1000000);
        if (started) {
            for (u32 look = 0; round % 2 == 0 && !started.is_ready() && look < 100000; look++) {
            }
            sum += started.wait().value_or(1000000);
        } else {
            sum += started.wait().status == status::busy ? i + round : 1000000;
        }
        const auto dropped = Host::start_sum(1, 2);
    }
    sums[i] = sum;
}

/// Gives up on a call that is held back, and calls on.
HOSTCALL_KERNEL(gives_up, u64 ns, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    auto started = Host::start_held_back((u32)i);
    const auto first = started.wait_timeout(ns);
    ends[2 * i] = (u64)first.status;
    ends[2 * i + 1] = told(Host::sum(i, 1));
}

/// Calls until the server is gone.
HOSTCALL_KERNEL(until_gone, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    for (;;) {
        const auto sum = Host::sum(i, 1);
        if (!sum) {
            ends[i] = told(sum);
            return;
        }
    }
}

/// More bytes than any slot has.
HOSTCALL_KERNEL(too_large, u64 bytes, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    hostcall::u8 one = 7;
    // Lanes with few bytes are not held up by those with too many, whose bytes are never looked at.
    const auto answer = i % 2 == 0 ? Host::echo({&one, 1}, {&one, 1}) : Host::echo({&one, bytes}, {&one, 1});
    ends[i] = (u64)answer.status << 32 | (answer.ok() ? answer.value : answer.detail);
}

/// Ends the lanes whose call fails.
HOSTCALL_KERNEL(aborts, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    const u32 value = HOSTCALL_OR_ABORT("Host::picky", Host::picky((u32)i));
    ends[i] = value + 1;
}

/// Prints values of every type; a conversion that is none for its value is refused.
HOSTCALL_KERNEL(formats, u64* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    const char* nothing = nullptr;
    const auto written = hostcall::printf("%llu: %5.2f|%-6s|%#x|%c%c|%d|%hhu|%s|%p\n", i, 3.14159f, "text", 255u, 'x', U'\u00df', -7L,
                                          (hostcall::u8)200, nothing, (const void*)16);
    u64 good = written && *written == 44 + (i > 9 ? 1 : 0) ? 1 : 0;
    const auto empty = hostcall::printf("");
    good |= empty && *empty == 0 ? 2 : 0;
    // A text that is longer than what a message holds by itself.
    char large[700];
    for (hostcall::size_t at = 0; at < sizeof large; ++at) large[at] = (char)('a' + at % 26);
    const auto error = hostcall::printf_error("%.3s%s", "abcdef", hostcall::str(large, sizeof large));
    good |= error && *error == 703 ? 4 : 0;
    good |= hostcall::printf("%d", 1.5).status == status::handler_failed ? 8 : 0;
    right[i] = good;
}

/// Prints, looks at the clock and the environment, and writes and reads a file.
HOSTCALL_KERNEL(surroundings, u64* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 good = hostcall::print("printed from C++\n").ok() ? 1 : 0;
    if (const auto now = hostcall::system_time()) good |= now->_0 > 1700000000 && now->_1 < 1000000000 ? 2 : 0;
    char value[8] = {};
    if (const auto found = hostcall::var("GREETING", value)) {
        good |= found->has && found->value == 5 && value[0] == 'h' && value[4] == 'o' ? 4 : 0;
    }
    if (const auto found = hostcall::var("ABSENT", value)) good |= found->has ? 0 : 8;
    auto file = hostcall::file::open("/data/numbers", HOSTCALL_OPEN_READ | HOSTCALL_OPEN_WRITE | HOSTCALL_OPEN_CREATE);
    if (file) {
        u64 number = i * i, back = 0;
        const auto written = file.write_at(i * 8, {(const hostcall::u8*)&number, 8});
        const auto read = file.read_at(i * 8, {(hostcall::u8*)&back, 8});
        good |= written && written->value_or(0) == 8 && read && read->value_or(0) == 8 && back == number ? 16 : 0;
    }
    const auto absent = hostcall::file::open("/data/absent", HOSTCALL_OPEN_READ);
    good |= !absent && absent.status() == status::ok && absent.error() == 2 ? 32 : 0;
    right[i] = good;
}

/// What the host granted: arguments and variables, of which as much comes as there is room for.
HOSTCALL_KERNEL(grants, u64* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 good = 0;
    if (const auto count = hostcall::arg_count()) good |= *count == 2 ? 1 : 0;
    char value[8] = {};
    if (const auto first = hostcall::arg(0, value)) good |= first->value_or(0) == 5 && value[0] == 'f' && value[4] == 't' && value[5] == 0 ? 2 : 0;
    char few[4] = {};
    if (const auto second = hostcall::arg(1, {few, 3})) {
        good |= second->value_or(0) == 16 && few[0] == 'z' && few[2] == 'e' && few[3] == 0 ? 4 : 0;
    }
    if (const auto third = hostcall::arg(2, value)) good |= third->has ? 0 : 8;
    few[0] = few[1] = 0;
    if (const auto variable = hostcall::var("GREETING", {few, 1})) good |= variable->value_or(0) == 5 && few[0] == 'h' && few[1] == 0 ? 16 : 0;
    if (const auto empty = hostcall::var("EMPTY", value)) good |= empty->has && empty->value == 0 ? 32 : 0;
    right[i] = good;
}

// The host's error of a read or a write that has come to an end; above it, how the call ended.
HC_DEVICE_INLINE u64 error_of(const hostcall::answer<hostcall::result<u32, u32>>& answer) {
    return answer.ok() ? answer->ok ? 0 : answer->error : (u64)answer.status << 32;
}

/// Reads that find less than was asked for, what the host refuses, and files that are closed. `right` gets a bit for
/// each that was right.
HOSTCALL_KERNEL(files, u64* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    constexpr u64 no_entry = 2, bad_file = 9, too_many = 24, no_access = 13;
    u64 good = 0;
    hostcall::u8 bytes[16] = {};
    auto given = hostcall::file::open("/given/text", HOSTCALL_OPEN_READ);
    if (given) {
        const auto all = given.read_at(0, bytes), rest = given.read_at(3, bytes), behind = given.read_at(5, bytes);
        good |= all && all->value_or(99) == 5 ? 1 : 0;
        good |= rest && rest->value_or(99) == 2 && bytes[0] == 'l' && bytes[1] == 'o' && bytes[2] == 'l' ? 2 : 0;
        good |= behind && behind->ok && behind->value == 0 ? 4 : 0;
        good |= error_of(given.write_at(0, {bytes, 1})) == bad_file ? 8 : 0;
    }
    u64 refused = 0;
    const char* const paths[] = {"/etc/passwd", "/secret", "/given/../secret", "/given/../../secret", "../secret"};
    for (const char* path : paths) {
        const auto file = hostcall::file::open(path, HOSTCALL_OPEN_READ);
        refused += !file && file.status() == status::ok && file.error() == no_access ? 1 : 0;
    }
    good |= refused == 5 ? 16 : 0;
    const auto writing = hostcall::file::open("/given/text", HOSTCALL_OPEN_WRITE);
    const auto creating = hostcall::file::open("/given/new", HOSTCALL_OPEN_WRITE | HOSTCALL_OPEN_CREATE);
    const auto absent = hostcall::file::open("/given/absent", HOSTCALL_OPEN_READ);
    good |= writing.error() == no_access && creating.error() == no_access && absent.error() == no_entry ? 32 : 0;
    // Closing is posted: it takes effect a little later.
    given.close();
    u64 closed = 0;
    for (u32 look = 0; look < 100000 && closed == 0; look++) closed = error_of(given.read_at(0, bytes));
    good |= !given && closed == bad_file ? 64 : 0;
    // More files than may be open at once, one after the other: each is closed at the end of its life.
    u64 opened = 0;
    for (u32 look = 0; look < 100000 && opened < 20; look++) {
        const auto file = hostcall::file::open("/given/text", HOSTCALL_OPEN_READ);
        if (!file && file.error() != too_many) break;
        opened += file ? 1 : 0;
    }
    good |= opened == 20 ? 128 : 0;
    right[i] = good;
}

/// The first lane ends the kernel; the others call until they are ended. `ends` stays as it was: no call of theirs
/// fails.
HOSTCALL_KERNEL(is_ended, u64* ends, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    if (i == 0) hostcall::abort("the kernel is to end");
    for (;;) {
        const auto sum = Host::sum(i, 1);
        if (!sum) {
            ends[i] = told(sum);
            return;
        }
    }
}

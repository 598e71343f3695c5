// Kernels in the names of LLVM's `rpc.h`, over hostcall's own wire.
#include "hostcall_rpc.h"

HC_GLOBAL rpc::Client llvm_client asm("__llvm_rpc_client");

#define DEVICE HC_DEVICE_INLINE
#define CLIENT llvm_client
#define ITEM hostcall::global_id()
#define KERNEL2(name, T1, a1, T2, a2) HOSTCALL_KERNEL(name, T1 a1, T2 a2)

#include "llvm_rpc_body.h"

// What has no twin: a client that waits for an answer which no session sends, and packets to a session of nobody's.
HOSTCALL_KERNEL(over, uint64_t* out, uint8_t*) {
    auto port = llvm_client.open<LIBC | 0x8000>();
    uint64_t word = 0;
    auto take = [&](rpc::Buffer* buffer, uint32_t) { word += buffer->data[0]; };
    port.send_and_recv([](rpc::Buffer* buffer, uint32_t) { buffer->data[0] = 41; }, take);
    out[16 * ITEM] = word;
    port.recv(take);
    out[16 * ITEM + 1] = word;
}


// Calls by services of the test's, beside which sessions are measured.
HOSTCALL_SERVICE(Plain__echo, "fn([u64; 8]) -> [u64; 8]", "fn ( [ u64 ; 8 ] ) - > [ u64 ; 8 ]", ::hostcall::array<::hostcall::u64, 8>,
                 ::hostcall::array<::hostcall::u64, 8>)
HOSTCALL_SERVICE(Plain__sum, "fn(&[u8]) -> u64", "fn ( & [ u8 ] ) - > u64", ::hostcall::u64, ::hostcall::slice<::hostcall::u8>)

// Picoseconds a call, the least and the mean of ten times `calls`, and how many results were wrong.
template <class Call>
HC_DEVICE_INLINE void measured(uint64_t* out, uint32_t calls, const Call& call) {
    uint64_t least = ~(uint64_t)0, all = 0, wrong = 0;
    for (uint32_t i = 0; i < calls / 10; i++) wrong += call(i) ? 0 : 1;
    for (uint32_t times = 0; times < 10; times++) {
        const uint64_t begin = hostcall::now_ns();
        HC_NO_UNROLL
        for (uint32_t i = 0; i < calls; i++) wrong += call(i) ? 0 : 1;
        const uint64_t took = hostcall::now_ns() - begin;
        least = took < least ? took : least;
        all += took;
    }
    out[0] = least * 1000 / calls, out[1] = all * 100 / calls, out[2] = wrong;
}

// The opcodes are the test's: the first word is one more, and the sum of bytes.
constexpr uint32_t ECHO = 0x78000003, BYTES = 0x78000004;

HOSTCALL_KERNEL(rate_plain, uint64_t* out, uint8_t*, uint32_t calls) {
    measured(out, calls, [](uint64_t i) {
        hostcall::array<hostcall::u64, 8> words = {{i, 1, 2, 3, 4, 5, 6, 7}};
        const auto back = hostcall::call<hostcall::array<hostcall::u64, 8>>(&__HOSTCALL__Plain__echo, words);
        return back.ok() && back->at[0] == i + 1 && back->at[7] == 7;
    });
}

HOSTCALL_KERNEL(rate_together, uint64_t* out, uint8_t*, uint32_t calls) {
    measured(out, calls, [](uint64_t i) {
        uint64_t first = 0, last = 0;
        auto port = llvm_client.open<ECHO>();
        port.send_and_recv(
            [=](rpc::Buffer* buffer, uint32_t) {
                for (uint32_t j = 1; j < 8; j++) buffer->data[j] = j;
                buffer->data[0] = i;
            },
            [&](rpc::Buffer* buffer, uint32_t) { first = buffer->data[0], last = buffer->data[7]; });
        port.close();
        return first == i + 1 && last == 7;
    });
}

HOSTCALL_KERNEL(rate_apart, uint64_t* out, uint8_t*, uint32_t calls) {
    measured(out, calls, [](uint64_t i) {
        uint64_t first = 0, last = 0;
        auto port = llvm_client.open<ECHO>();
        port.send([=](rpc::Buffer* buffer, uint32_t) {
            for (uint32_t j = 1; j < 8; j++) buffer->data[j] = j;
            buffer->data[0] = i;
        });
        port.recv([&](rpc::Buffer* buffer, uint32_t) { first = buffer->data[0], last = buffer->data[7]; });
        port.close();
        return first == i + 1 && last == 7;
    });
}

// 100 bytes, from memory of the device.
HC_DEVICE_INLINE uint64_t filled(uint8_t* bytes) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 100; i++) sum += bytes[i] = pattern(i, 3);
    return sum;
}

HOSTCALL_KERNEL(rate_plain_string, uint64_t* out, uint8_t* bytes, uint32_t calls) {
    const uint64_t sum = filled(bytes);
    measured(out, calls, [=](uint64_t) {
        const auto back = hostcall::call<hostcall::u64>(&__HOSTCALL__Plain__sum, hostcall::slice<hostcall::u8>(bytes, 100));
        return back.ok() && *back == sum;
    });
}

HOSTCALL_KERNEL(rate_string, uint64_t* out, uint8_t* bytes, uint32_t calls) {
    const uint64_t sum = filled(bytes);
    measured(out, calls, [=](uint64_t) { return said<BYTES>(bytes, 100) == sum; });
}

HOSTCALL_KERNEL(rate_known, uint64_t* out, uint8_t*, uint32_t calls) {
    measured(out, calls, [](uint64_t i) { return asked<LIBC | 0x8000>(i) == i + 1; });
}

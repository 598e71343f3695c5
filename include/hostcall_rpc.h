// The client of LLVM libc's `shared/rpc.h` over hostcall's own wire: for kernels that were written against that header
// and are compiled again. `rpc::Client`, its ports and `rpc::Buffer` have the names and meanings that they have there.
//
// A port records what a lane sends. It goes to the host when the lane wants an answer, as one call, and what the host
// sends comes back with the call's reply: one exchange, where LLVM's wire has one for each packet in each direction.
// What is exchanged is LLVM's row of packets, so the host serves it by the same functions (service `LlvmRpc`,
// `crates/hostcall/src/rpc/sessions.rs`). Each lane has a session of its own. `docs/guide/llvm-rpc.md` says how to use
// it, and what is different.
//
// A session that cannot go on ends its lane, and the host's report says why: LLVM's functions have no way to say so.
#pragma once

#ifdef LLVM_LIBC_SHARED_RPC_H
#error "hostcall_rpc.h takes the place of LLVM's shared/rpc.h: include one of the two"
#endif
// LLVM's other headers find theirs here already.
#define LLVM_LIBC_SHARED_RPC_H

#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#else
// NVRTC has no such header.
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
#endif

#include "hostcall.cuh"

HOSTCALL_SERVICE(LlvmRpc__packet, "fn(u32, u32, [u64; 8]) -> (u32, [u64; 8])",
                 "fn ( u32 , u32 , [ u64 ; 8 ] ) - > ( u32 , [ u64 ; 8 ] )", ::hostcall::tuple<::hostcall::u32, ::hostcall::array<::hostcall::u64, 8>>,
                 ::hostcall::u32, ::hostcall::u32, ::hostcall::array<::hostcall::u64, 8>)
HOSTCALL_SERVICE(LlvmRpc__pair, "fn(u32, u32, [u64; 16]) -> (u32, [u64; 8])",
                 "fn ( u32 , u32 , [ u64 ; 16 ] ) - > ( u32 , [ u64 ; 8 ] )", ::hostcall::tuple<::hostcall::u32, ::hostcall::array<::hostcall::u64, 8>>,
                 ::hostcall::u32, ::hostcall::u32, ::hostcall::array<::hostcall::u64, 16>)
HOSTCALL_SERVICE(LlvmRpc__exchange, "fn(u32, u32, bool, &[u8], &[u8], &mut [u8], &mut [u8]) -> u32",
                 "fn ( u32 , u32 , bool , & [ u8 ] , & [ u8 ] , & mut [ u8 ] , & mut [ u8 ] ) - > u32", ::hostcall::u32, ::hostcall::u32,
                 ::hostcall::u32, bool, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice<::hostcall::u8>,
                 ::hostcall::slice_mut<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>)
HOSTCALL_SERVICE(LlvmRpc__close, "fn(u32, u32, &[u8])", "fn ( u32 , u32 , & [ u8 ] )", void, ::hostcall::u32, ::hostcall::u32,
                 ::hostcall::slice<::hostcall::u8>)

namespace rpc {

/// What a callback of LLVM's server returns.
enum Status {
    RPC_SUCCESS = 0x0,
    RPC_ERROR = 0x1000,
    RPC_UNHANDLED_OPCODE = 0x1001,
};

/// What one lane sends or gets at a time. One that is sent begins as zeros.
struct Buffer {
    uint64_t data[8];
};
static_assert(sizeof(Buffer) == 64, "a packet");

/// What a lane does between `open` and `close`.
class Port {
public:
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    HC_METHOD ~Port() { close(); }

    /// Records a packet, which `fill(Buffer*, uint32_t lane)` fills.
    template <class F>
    HC_METHOD void send(F fill) {
        if (sent_ == most) exchange(false, 64 * most, nullptr, 0, nullptr, 0);
        Buffer* const packet = &out_[sent_++];
        *packet = {};
        fill(packet, hostcall::lane_id());
    }

    /// Hands the next packet that the host sends to `use(Buffer*, uint32_t lane)`. If none has come, what was recorded
    /// goes to the host now.
    template <class U>
    HC_METHOD void recv(U use) {
        if (taken_ == answered_) ask();
        use(&in_[taken_++], hostcall::lane_id());
    }

    template <class F, class U>
    HC_METHOD void send_and_recv(F fill, U use) {
        if (sent_ != 0 || taken_ != answered_) {
            send(fill);
            recv(use);
            return;
        }
        // As most calls are: nothing of it is in memory.
        Buffer packet = {};
        fill(&packet, hostcall::lane_id());
        packet = call<8>(&__HOSTCALL__LlvmRpc__packet, &packet);
        use(&packet, hostcall::lane_id());
    }

    /// Receives a packet, and sends what `work` makes of it.
    template <class W>
    HC_METHOD void recv_and_send(W work) {
        if (taken_ == answered_) ask();
        Buffer packet = in_[taken_++];
        work(&packet, hostcall::lane_id());
        send([&packet](Buffer* to, uint32_t) { *to = packet; });
    }

    /// Sends bytes. What is behind the function's return is the lane's again.
    HC_METHOD void send_n(const void* src, uint64_t size) { put_string((const hostcall::u8*)src, size); }
    HC_METHOD void send_n(const void* const* src, uint64_t* size) { send_n(*src, *size); }

    /// Receives bytes into what `alloc(uint64_t size)` returns.
    template <class A>
    HC_METHOD void recv_n(void** dst, uint64_t* size, A&& alloc) {
        if (taken_ == answered_) exchange(true, 64 * sent_, nullptr, 0, nullptr, 0);
        const Buffer first = in_[taken_++];
        *size = first.data[0];
        *dst = alloc(*size);
        take_string((hostcall::u8*)*dst, *size, (const hostcall::u8*)(first.data + 1));
    }

    HC_METHOD uint32_t get_opcode() const { return opcode_; }

    /// Sends what was recorded and waits for nothing.
    HC_METHOD void close() {
        if (sent_ != 0 || session_ != 0) finish();
    }

private:
    friend struct Client;
    using u8 = hostcall::u8;
    using u32 = hostcall::u32;
    using u64 = hostcall::u64;

    /// Packets that are recorded, and that come ahead.
    static constexpr u32 most = 4;

    /// The number of the session if the host waits for this lane's next call.
    u32 session_ = 0;
    u32 opcode_;
    /// Packets recorded, come, and taken of these.
    u32 sent_ = 0, answered_ = 0, taken_ = 0;
    const char* file_;
    u32 line_;
    Buffer out_[most], in_[most];

    HC_METHOD Port(u32 opcode, const char* file, u32 line) : opcode_(opcode), file_(file), line_(line) {}

    /// Ends the lane if a call has failed.
    template <class T>
    HC_METHOD void check(const hostcall::answer<T>& answer) const {
        if (answer.ok()) return;
        hostcall::wire::report(HOSTCALL_CAUSE_CALL, (u64)answer.status, answer.detail, "rpc::Port", file_, line_);
    }

    /// A call that brings whole packets of so many words together, and gets one.
    template <hostcall::size_t Words, class Service>
    HC_METHOD Buffer call(const Service* service, const Buffer* packets) {
        hostcall::array<u64, Words> words;
        HC_UNROLL
        for (hostcall::size_t i = 0; i < Words; i++) words[i] = packets[i / 8].data[i % 8];
        const auto answer = hostcall::call<hostcall::tuple<u32, hostcall::array<u64, 8>>>(service, session_, opcode_, words);
        check(answer);
        session_ = answer->_0;
        Buffer packet;
        HC_UNROLL
        for (u32 i = 0; i < 8; i++) packet.data[i] = answer->_1[i];
        return packet;
    }

    /// Sends what was recorded, and waits for an answer.
    HC_NOINLINE void ask() {
        if (sent_ != 1 && sent_ != 2) return exchange(true, 64 * sent_, nullptr, 0, nullptr, 0), void();
        in_[0] = sent_ == 1 ? call<8>(&__HOSTCALL__LlvmRpc__packet, out_) : call<16>(&__HOSTCALL__LlvmRpc__pair, out_);
        sent_ = 0, answered_ = 1, taken_ = 0;
    }

    /// Sends so many bytes of what was recorded, and behind them those of a string. Gets bytes of a string, how many of
    /// them is returned, and packets behind it.
    HC_NOINLINE u32 exchange(bool wants, u32 recorded, const u8* string, u32 size, u8* back, u32 room) {
        for (u32 i = taken_; i < answered_; i++) in_[i - taken_] = in_[i];
        answered_ -= taken_, taken_ = 0;
        u32 bytes = 0, packets = 0;
        const auto answer = hostcall::call<u32>(&__HOSTCALL__LlvmRpc__exchange, session_, opcode_, wants,
                                                hostcall::slice<u8>((const u8*)out_, recorded), hostcall::slice<u8>(string, size),
                                                hostcall::slice_mut<u8>(back, room, &bytes),
                                                hostcall::slice_mut<u8>((u8*)(in_ + answered_), 64 * (most - answered_), &packets));
        check(answer);
        session_ = *answer, sent_ = 0, answered_ += packets / 64;
        return bytes;
    }

    /// Bytes of a string that one call can bring or get, whole packets.
    HC_METHOD static u64 piece() {
        const u32 slot = hostcall::machine::descriptor().slot_bytes;
        return slot < 4096 ? 64 : slot - 2 * sizeof out_;
    }

    HC_NOINLINE void put_string(const u8* from, u64 size) {
        if (sent_ == most) exchange(false, 64 * most, nullptr, 0, nullptr, 0);
        if (size <= 64 * (most - sent_) - 8) {
            Buffer* const to = out_ + sent_;
            to->data[0] = size;
            const u32 packets = ((u32)size + 8 + 63) / 64;
            HC_NO_UNROLL
            for (u32 i = 1; i < 8 * packets; i++) to[i / 8].data[i % 8] = word(from, 8 * (i - 1), (u32)size);
            sent_ += packets;
            return;
        }
        out_[sent_].data[0] = size;
        u32 recorded = 64 * sent_ + 8;
        // Calls end where packets end.
        u64 next = piece() - 8;
        for (u64 at = 0; at < size; at += next, next = piece(), recorded = 0) {
            if (next > size - at) next = size - at;
            exchange(false, recorded, from + at, (u32)next, nullptr, 0);
        }
    }

    /// The eight bytes from `at` on, of so many. Loads do not wait for one another.
    HC_METHOD static u64 word(const u8* from, u32 at, u32 size) {
        u64 word = 0;
        HC_UNROLL
        for (u32 i = 0; i < 8; i++) word |= (u64)(at + i < size ? from[at + i] : 0) << 8 * i;
        return word;
    }

    HC_NOINLINE void take_string(u8* to, u64 size, const u8* first) {
        u64 at = size < 56 ? size : 56;
        hostcall::wire::copy_tail(to, first, (u32)at);
        while (at < size) {
            u64 next = size - at;
            if (taken_ < answered_) {
                if (next > 64) next = 64;
                hostcall::wire::copy_tail(to + at, (const u8*)&in_[taken_++], (u32)next);
            } else {
                next = exchange(true, 64 * sent_, nullptr, 0, to + at, (u32)(next < piece() ? next : piece()));
            }
            at += next;
        }
    }

    HC_NOINLINE void finish() {
        check(hostcall::post(&__HOSTCALL__LlvmRpc__close, session_, opcode_, hostcall::slice<u8>((const u8*)out_, 64 * sent_)));
        sent_ = 0, session_ = 0;
    }
};

/// What opens ports. A program may have one under LLVM's name, `__llvm_rpc_client`: whoever loads it writes nothing
/// there.
struct Client {
    using Port = rpc::Port;

    uint64_t recompiled = 0;

    /// A port for sessions of an opcode. (The other parameters say where, for reports.)
    template <uint32_t opcode>
    HC_METHOD Port open(const char* file = HC_CALLER_FILE, uint32_t line = HC_CALLER_LINE) {
        return Port(opcode, file, line);
    }
};
static_assert(sizeof(Client) == 8, "the size by which the host knows it: RECOMPILED_CLIENT_BYTES");

}  // namespace rpc

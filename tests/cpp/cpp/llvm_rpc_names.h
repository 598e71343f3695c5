/* The names of LLVM's `rpc.h` over the client of LLVM's wire in `examples/offload/llvm_rpc.h`. */
#pragma once

#include "llvm_rpc.h"

namespace rpc {

struct Buffer {
    uint64_t data[8];
};

class Port {
    wire::Port port;
    uint32_t opcode;

  public:
    explicit Port(uint32_t opcode) : port(opcode), opcode(opcode) {}

    template <class F> void send(F fill) {
        wire::Packet packet = {};
        fill(reinterpret_cast<Buffer *>(&packet), wire::lane());
        port.send(packet);
    }

    template <class U> void recv(U use) {
        wire::Packet packet = port.receive();
        use(reinterpret_cast<Buffer *>(&packet), wire::lane());
    }

    template <class F, class U> void send_and_recv(F fill, U use) {
        send(fill);
        recv(use);
    }

    template <class W> void recv_and_send(W work) {
        wire::Packet packet = port.receive();
        work(reinterpret_cast<Buffer *>(&packet), wire::lane());
        port.send(packet);
    }

    void send_n(const void *bytes, uint64_t size) { port.send_bytes(bytes, size); }

    template <class A> void recv_n(void **to, uint64_t *size, A &&alloc) {
        wire::Packet now = port.receive();
        *size = now.words[0];
        *to = alloc(*size);
        for (uint64_t at = 0, from = 8; at < *size; from = 0) {
            if (from == 0)
                now = port.receive();
            uint64_t left = *size - at, part = left < 64 - from ? left : 64 - from;
            __builtin_memcpy(static_cast<char *>(*to) + at, reinterpret_cast<char *>(now.words) + from, part);
            at += part;
        }
    }

    uint32_t get_opcode() const { return opcode; }

    /* The port ends with its life. */
    void close() {}
};

struct Client {
    template <uint32_t opcode> Port open() const { return Port(opcode); }
};

} // namespace rpc

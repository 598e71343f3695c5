// Kernels that call the host as programs do that are linked with LLVM's libc for GPUs: see llvm_rpc.h.
#include "llvm_rpc.h"

using wire::of_libc;
using wire::Port;

extern "C" {
wire::Client __llvm_rpc_client;
}

static uint64_t length(const char *text) {
    uint64_t size = 0;
    while (text[size])
        size++;
    return size;
}

static void puts(const char *text) {
    Port port(of_libc(5));
    port.send_bytes(text, length(text));
    port.receive();
}

static uint64_t open(const char *path, const char *mode) {
    Port port(of_libc(8));
    port.send_bytes(path, length(path) + 1);
    uint64_t word = 0;
    __builtin_memcpy(&word, mode, length(mode));
    port.send(word);
    return port.receive().words[0];
}

static uint64_t on_stream(uint32_t number, uint64_t stream, uint64_t b = 0, uint64_t c = 0) {
    Port port(of_libc(number));
    port.send(stream, b, c);
    return port.receive().words[0];
}

struct Arguments {
    uint32_t item;
    double half;
    const char *text;
};

/* As LLVM's printf: the host says how long the arguments are, and then which strings it wants. */
static uint64_t print(uint64_t stream, const char *format, const Arguments &arguments) {
    Port port(stream ? of_libc(23) : of_libc(21));
    if (stream)
        port.send(stream);
    port.send_bytes(format, length(format) + 1);
    uint64_t size = port.receive().words[0];
    port.send_bytes(&arguments, size < sizeof arguments ? size : sizeof arguments);
    for (;;) {
        wire::Packet now = port.receive();
        const char *text = reinterpret_cast<const char *>(now.words[1]);
        if (!wire::any(wire::lanes(), text != nullptr))
            return now.words[0];
        port.send_bytes(text, text ? length(text) + 1 : 0);
    }
}

static uint32_t item() { return __gpu_block_id_x() * __gpu_num_threads_x() + __gpu_thread_id_x(); }

/* Every item prints. */
OFFLOAD_KERNEL1(hello, uint64_t *, out) {
    Arguments arguments = {item(), item() * 0.5, item() % 2 ? "odd" : "even"};
    out[item()] = print(0, "hello from item %u, half of which is %.1f: it is %s\n", arguments);
}

/* The first item writes a file and reads it. */
OFFLOAD_KERNEL1(files, uint64_t *, out) {
    if (item() != 0)
        return;
    puts("a file is written");
    uint64_t file = open("/data/written.txt", "w+");
    out[0] = file != 0;
    out[1] = print(file, "%u %.2f %s\n", {7, 2.5, "a text that is longer than one packet, so that it takes more than one exchange"});
    out[2] = on_stream(17, file, 2, 0);
    char text[200] = {};
    {
        Port port(of_libc(6));
        port.send(4, file);
        out[3] = port.receive_bytes(text, sizeof text);
        out[4] = port.receive().words[0];
    }
    out[5] = text[0] == '2' && text[1] == '.' && text[2] == '5' && text[3] == '0';
    out[6] = on_stream(9, file);
    out[7] = open("/data/missing", "r");
}

/* Every item counts to 100, each step on the host. */
OFFLOAD_KERNEL1(count, uint64_t *, out) {
    uint64_t value = 0;
    for (int i = 0; i < 100; i++) {
        Port port(of_libc(0x8000));
        port.send(value);
        value = port.receive().words[0];
    }
    out[item()] = value;
}

/* Memory of the host's giving, which the items write. */
OFFLOAD_KERNEL1(memory, uint64_t *, out) {
    uint64_t *mine = nullptr;
    {
        Port port(of_libc(10));
        port.send(1000 * sizeof *mine);
        mine = reinterpret_cast<uint64_t *>(port.receive().words[0]);
    }
    if (!mine)
        return;
    for (uint64_t i = 0; i < 1000; i++)
        mine[i] = i + item();
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 1000; i++)
        sum += mine[i] - item();
    out[item()] = sum;
    Port port(of_libc(11));
    port.send(reinterpret_cast<uint64_t>(mine));
}

/* An opcode of nobody's: the platform's callback may know it. */
OFFLOAD_KERNEL1(own, uint64_t *, out) {
    Port port(uint32_t('x') << 24 | 1);
    port.send(item() + 20);
    out[item()] = port.receive().words[0];
}

/* A function of the host by its address. */
OFFLOAD_KERNEL1(address, uint64_t *, out) {
    if (item() != 0)
        return;
    Port port(of_libc(12));
    port.send_bytes("", 0);
    port.send(0x1234);
    out[0] = port.receive().words[0];
}

OFFLOAD_KERNEL1(leave, uint64_t *, out) {
    if (item() != 0)
        return;
    Port port(of_libc(1));
    port.send(0);
    port.receive();
    port.send(3);
    out[0] = 1;
}

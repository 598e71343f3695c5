// Kernels that check and measure LLVM's wire: those of llvm_rpc_kernel.cpp, and these. See llvm_rpc_check.c.
#include "llvm_rpc_kernel.cpp"

#if defined(__NVPTX__) || defined(__AMDGPU__)
static inline uint64_t now() { return __builtin_readcyclecounter(); }
#else
static inline uint64_t now() { return __hostcall_sim_ops->clock_ns(); }
#endif

/* Where the client's mailboxes lie, and its ports; with `ports` not 0, so many are used from now on. */
OFFLOAD_KERNEL2(client, uint64_t *, out, uint64_t, ports) {
    if (item() != 0)
        return;
    if (ports)
        __llvm_rpc_client.ports = uint32_t(ports);
    out[0] = reinterpret_cast<uint64_t>(__llvm_rpc_client.inbox);
    out[1] = reinterpret_cast<uint64_t>(__llvm_rpc_client.outbox);
    out[2] = __llvm_rpc_client.ports;
}

/* Every item counts to `calls`, each step on the host, and stops at a step that is none. */
OFFLOAD_KERNEL2(steps, uint64_t *, out, uint64_t, calls) {
    uint64_t value = 0;
    for (uint64_t call = 0; call < calls; call++) {
        Port port(of_libc(0x8000));
        port.send(value);
        uint64_t next = port.receive().words[0];
        if (!wire::any(wire::lanes(), next == value + 1))
            break;
        value = next;
    }
    out[item()] = value;
}

/* The same of one item, which times the parts of its calls: opening a port, sending, receiving, closing. */
OFFLOAD_KERNEL2(parts, uint64_t *, out, uint64_t, calls) {
    if (item() != 0)
        return;
    uint64_t value = 0, sums[4] = {};
    for (uint64_t call = 0; call < calls; call++) {
        uint64_t times[5];
        times[0] = now();
        {
            Port port(of_libc(0x8000));
            times[1] = now();
            port.send(value);
            times[2] = now();
            value = port.receive().words[0];
            times[3] = now();
        }
        times[4] = now();
        for (int part = 0; part < 4; part++)
            sums[part] += times[part + 1] - times[part];
    }
    out[0] = value;
    for (int part = 0; part < 4; part++)
        out[1 + part] = sums[part];
}

/* Bytes of each item come back as they were sent, of several lengths: how many lengths did. */
OFFLOAD_KERNEL1(echo, uint64_t *, out) {
    constexpr uint64_t MOST = 300;
    constexpr uint64_t sizes[] = {0, 1, 55, 56, 57, 119, 120, 121, MOST};
    uint64_t right = 0;
    for (uint64_t longest : sizes) {
        unsigned char sent[MOST + 1], back[MOST + 1] = {};
        uint64_t size = longest > item() % 3 ? longest - item() % 3 : 0;
        for (uint64_t i = 0; i < size; i++)
            sent[i] = static_cast<unsigned char>(i * 31 + item());
        Port port(of_libc(0x8002));
        port.send_bytes(sent, size);
        bool same = port.receive_bytes(back, MOST) == size;
        for (uint64_t i = 0; i < size; i++)
            same = same && sent[i] == back[i];
        right += same;
    }
    out[item()] = right;
}

/* Packets in either direction, in the order of LLVM's test: the sum of what comes back. */
OFFLOAD_KERNEL1(either, uint64_t *, out) {
    Port port(of_libc(0x8001));
    port.send(0);
    uint64_t value = 10 * item(), sum = 0;
    port.send(value);
    sum += port.receive().words[0] - value;
    port.send(value + 1);
    sum += port.receive().words[0] - value;
    port.send(0);
    port.send(value + 2);
    for (int i = 0; i < 3; i++)
        sum += port.receive().words[0] - value;
    out[item()] = sum;
}

/*
 * Kernels in the names of LLVM's `rpc.h`. The same text is compiled with `hostcall_rpc.h`, and over a client of LLVM's
 * own wire (`llvm_rpc_names.h`); the tests compare what they leave in `out`, 16 words for each item. Who includes this
 * defines DEVICE, CLIENT, ITEM and KERNEL2.
 */

constexpr uint32_t LIBC = uint32_t('c') << 24;

DEVICE uint64_t length(const char *text) {
    uint64_t size = 0;
    while (text[size])
        size++;
    return size;
}

/* Sends words, and says the first that comes back. */
template <uint32_t opcode> DEVICE uint64_t asked(uint64_t a, uint64_t b = 0, uint64_t c = 0) {
    uint64_t word = 0;
    auto port = CLIENT.open<opcode>();
    port.send_and_recv(
        [=](rpc::Buffer *buffer, uint32_t) {
            buffer->data[0] = a;
            buffer->data[1] = b;
            buffer->data[2] = c;
        },
        [&](rpc::Buffer *buffer, uint32_t) { word = buffer->data[0]; });
    port.close();
    return word;
}

/* The same with bytes before the words. */
template <uint32_t opcode> DEVICE uint64_t said(const void *bytes, uint64_t size) {
    uint64_t word = 0;
    auto port = CLIENT.open<opcode>();
    port.send_n(bytes, size);
    port.recv([&](rpc::Buffer *buffer, uint32_t) { word = buffer->data[0]; });
    port.close();
    return word;
}

DEVICE uint8_t pattern(uint64_t at, uint64_t item) { return uint8_t(at * 7 + (at >> 8) + item * 13 + 1); }

/* Bytes there and back by LIBC_TEST_STREAM: 1 if they are the same. */
DEVICE uint64_t echoed(uint8_t *there, uint8_t *back, uint64_t size, uint64_t item) {
    for (uint64_t i = 0; i < size; i++)
        there[i] = pattern(i, item), back[i] = 0;
    back[size] = 0xee;
    auto port = CLIENT.open<LIBC | 0x8002>();
    port.send_n(there, size);
    /* They may be changed as soon as they were sent. */
    for (uint64_t i = 0; i < size; i++)
        there[i] = 0;
    uint64_t came = 0;
    void *to = nullptr;
    port.recv_n(&to, &came, [=](uint64_t) { return back; });
    port.close();
    bool same = came == size && to == back && back[size] == 0xee;
    for (uint64_t i = 0; i < size; i++)
        same &= back[i] == pattern(i, item);
    return same;
}

/* Room for each item, and behind that of all for one that has much. */
constexpr uint64_t ROOM = 16384, MOST = 256, MIB = 1 << 20;

KERNEL2(echoes, uint64_t *, out, uint8_t *, scratch) {
    const uint64_t item = ITEM;
    const uint64_t sizes[6] = {0, 1, 63, 64, 65, 4096};
    uint8_t *there = scratch + item * ROOM, *back = there + ROOM / 2;
    /* Each lane's own order, so that they send different sizes at a time. */
    for (uint32_t i = 0; i < 6; i++)
        out[16 * item + i] = echoed(there, back, sizes[(i + item) % 6], item);
    for (uint32_t size = 110; size < 310; size += 17)
        out[16 * item + 6] += echoed(there, back, size + item % 3, item);
    if (item == 5)
        out[16 * item + 7] = echoed(scratch + MOST * ROOM, scratch + MOST * ROOM + MIB + 64, MIB, item);
}

/* Each step by the host; packets that are sent alone, and with others. */
KERNEL2(counts, uint64_t *, out, uint8_t *, scratch) {
    (void)scratch;
    const uint64_t item = ITEM;
    uint64_t value = item;
    for (uint32_t i = 0; i < 20; i++)
        value = asked<LIBC | 0x8000>(value);
    out[16 * item] = value;
    auto port = CLIENT.open<LIBC | 0x8000>();
    port.send([&](rpc::Buffer *buffer, uint32_t) {
        for (uint32_t i = 0; i < 8; i++)
            buffer->data[i] = item * 10 + i;
    });
    port.recv([&](rpc::Buffer *buffer, uint32_t) {
        for (uint32_t i = 0; i < 8; i++)
            out[16 * item + 1 + i] = buffer->data[i];
    });
    out[16 * item + 9] = port.get_opcode();
    port.close();
}

/* LLVM's test of packets in either direction, which ends with either. */
DEVICE uint64_t interface(bool ends_with_send) {
    uint64_t count = 0;
    auto port = CLIENT.open<LIBC | 0x8001>();
    auto give = [&](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = count = count + 1; };
    auto take = [&](rpc::Buffer *buffer, uint32_t) { count = buffer->data[0]; };
    port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = ends_with_send; });
    port.send(give);
    port.recv(take);
    port.send(give);
    port.recv(take);
    port.send(give);
    port.send(give);
    port.recv(take);
    port.recv(take);
    if (ends_with_send)
        port.send(give);
    else
        port.recv(take);
    port.close();
    return count;
}

KERNEL2(interfaces, uint64_t *, out, uint8_t *, scratch) {
    (void)scratch;
    out[16 * ITEM] = interface(true);
    out[16 * ITEM + 1] = interface(false);
}

/* Opcodes whose handlers the test has: a sum, and a session whose sends depend on what it has received. */
DEVICE uint64_t longest_of(uint64_t item) {
    uint64_t best = 0, left = 3 + item % 4;
    auto port = CLIENT.open<0x78000002>();
    port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = item; });
    for (;;) {
        uint64_t size = 0;
        void *text = nullptr;
        char room[320] = {};
        port.recv_n(&text, &size, [&](uint64_t) { return (void *)room; });
        uint64_t sum = 0;
        for (uint64_t i = 0; i < size; i++)
            sum += (uint8_t)room[i];
        if (sum > best)
            best = sum;
        port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = left; });
        if (left-- == 0)
            break;
    }
    port.recv_and_send([&](rpc::Buffer *buffer, uint32_t) { best = best * 1000 + buffer->data[0]; });
    port.close();
    return best;
}

KERNEL2(own, uint64_t *, out, uint8_t *, scratch) {
    (void)scratch;
    const uint64_t item = ITEM;
    out[16 * item] = asked<0x78000001>(item, 20, 300);
    out[16 * item + 1] = longest_of(item);
}

/* What nobody serves. */
KERNEL2(unknown, uint64_t *, out, uint8_t *, scratch) {
    (void)scratch;
    const uint64_t item = ITEM;
    auto port = CLIENT.open<0x79000001>();
    uint64_t words = 1;
    auto take = [&](rpc::Buffer *buffer, uint32_t) {
        for (uint32_t i = 0; i < 8; i++)
            words = words * 10 + buffer->data[i];
    };
    port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = item; });
    port.recv(take);
    port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = item; });
    port.recv(take);
    port.close();
    out[16 * item] = words;
}

/* Lanes that part: each kind of session, one beside the other. */
KERNEL2(parted, uint64_t *, out, uint8_t *, scratch) {
    const uint64_t item = ITEM;
    for (uint32_t round = 0; round < 6; round++) {
        if ((item + round) % 3 == 0)
            out[16 * item + round] = asked<LIBC | 0x8000>(item * 100 + round);
        else if ((item + round) % 3 == 1)
            out[16 * item + round] = echoed(scratch + item * ROOM, scratch + item * ROOM + ROOM / 2, 40 * item % 2000, item);
        else
            out[16 * item + round] = longest_of(item + round);
    }
}

/* The first item writes a file and reads it. */
DEVICE uint64_t opened(const char *path, const char *mode) {
    uint64_t file = 0;
    auto port = CLIENT.open<LIBC | 8>();
    port.send_n(path, length(path) + 1);
    port.send([=](rpc::Buffer *buffer, uint32_t) {
        for (uint32_t i = 0; mode[i]; i++)
            ((char *)buffer->data)[i] = mode[i];
    });
    port.recv([&](rpc::Buffer *buffer, uint32_t) { file = buffer->data[0]; });
    port.close();
    return file;
}

struct Arguments {
    uint64_t number;
    const char *first, *second;
};

/* As LLVM's printf: the host says how long the arguments are, and then which strings it wants. */
DEVICE uint64_t printed(uint64_t file, const char *format, Arguments arguments) {
    auto port = CLIENT.open<LIBC | 23>();
    port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = file; });
    port.send_n(format, length(format) + 1);
    uint64_t size = 0, result = 0;
    port.recv([&](rpc::Buffer *buffer, uint32_t) { size = buffer->data[0]; });
    port.send_n(&arguments, size);
    for (;;) {
        const char *text = nullptr;
        port.recv([&](rpc::Buffer *buffer, uint32_t) {
            result = buffer->data[0];
            text = (const char *)buffer->data[1];
        });
        if (!text)
            break;
        port.send_n(text, length(text) + 1);
    }
    port.close();
    return result;
}

KERNEL2(files, uint64_t *, out, uint8_t *, scratch) {
    if (ITEM != 0)
        return;
    said<LIBC | 5>("a file is written", 17);
    const uint64_t file = opened("/data/written.txt", "w+");
    out[0] = file != 0;
    out[1] = printed(file, "%lu %s: %s\n",
                     {7, "one", "a text that is longer than one packet, so that it takes more than one exchange over there, and more "
                                "than what is recorded here: that is four packets, and this text has more bytes than fit into them, "
                                "as it goes on and on until it has more than two hundred and forty-eight"});
    out[2] = asked<LIBC | 17>(file, 0, 0);
    uint64_t size = 0, counted = 0;
    void *to = nullptr;
    auto port = CLIENT.open<LIBC | 6>();
    port.send([=](rpc::Buffer *buffer, uint32_t) {
        buffer->data[0] = 4000;
        buffer->data[1] = file;
    });
    port.recv_n(&to, &size, [=](uint64_t) { return scratch; });
    port.recv([&](rpc::Buffer *buffer, uint32_t) { counted = buffer->data[0]; });
    port.close();
    out[3] = size, out[4] = counted;
    for (uint64_t i = 0; i < size; i++)
        out[5] = out[5] * 31 + scratch[i];
    out[6] = asked<LIBC | 14>(file);
    out[7] = asked<LIBC | 9>(file);
    out[8] = asked<LIBC | 9>(file);
    out[9] = opened("/data/missing", "r");
    out[10] = opened("/elsewhere", "w");
}

/* Memory of the host's giving, which the items write. */
KERNEL2(memory, uint64_t *, out, uint8_t *, scratch) {
    (void)scratch;
    const uint64_t item = ITEM;
    uint64_t *mine = (uint64_t *)asked<LIBC | 10>(100 * sizeof(uint64_t)), sum = 0;
    out[16 * item] = mine != nullptr;
    if (!mine)
        return;
    for (uint64_t i = 0; i < 100; i++)
        mine[i] = i + item;
    for (uint64_t i = 0; i < 100; i++)
        sum += mine[i] - item;
    out[16 * item + 1] = sum;
    auto port = CLIENT.open<LIBC | 11>();
    port.send([=](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = (uint64_t)mine; });
    port.close();
}

KERNEL2(leave, uint64_t *, out, uint8_t *, scratch) {
    (void)scratch;
    if (ITEM != 0)
        return;
    auto port = CLIENT.open<LIBC | 1>();
    port.send_and_recv([](rpc::Buffer *, uint32_t) {}, [](rpc::Buffer *, uint32_t) {});
    port.send([](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = 3; });
    port.close();
    out[0] = 1;
}

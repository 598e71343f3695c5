/* Packets per second through this library, beside plain loops of the same protocol, in one run (loops.h says what the loops do).
 *
 *   bench [MILLISECONDS PER ROW]
 *   bench count KIND LANES PACKETS    packets that are there before the consumer starts: the processor time of each. Under callgrind
 *                                     its instructions. KIND: 0 bare loop, 1 AMD's algorithm, 2 this library
 *   bench waits                       how long calls wait for handlers that block, and mailboxes for a look
 *
 * Calls: threads that fill a packet, ring and wait, over and over. A call's time is mostly that of lines that travel between processors.
 * Bursts: one thread fills many packets and rings once; the time from the ring until the last is answered is the consumer's. */
#include "loops.h"

enum { MOST = 64, ROUNDS = 5, BURST = 256 };

enum { BARE, AMD, PLAIN_PRODUCERS, OURS, KINDS };

typedef struct {
    hostcall_amd_buffer_t *buffer;
    loop_t *loop;
    uint64_t calls;
    int kind;
} producer_t;

static atomic_int stop;

static void plain_call(producer_t *producer) {
    hostcall_amd_buffer_t *buffer = producer->buffer;
    uint64_t packet = take(buffer);
    fill(buffer, packet, 1, producer->calls);
    put(buffer, &buffer->ready_stack, packet);
    if (producer->kind == BARE)
        __atomic_fetch_add(&producer->loop->doorbell, 1, __ATOMIC_RELEASE);
    else if (producer->kind == AMD)
        ring_loop(producer->loop);
    else
        hostcall_amd_ring(buffer->doorbell);
    while (!answered(buffer, packet))
        relax();
    if (buffer->payloads[index_of(buffer, packet)].lanes[0][0] != producer->calls + 1)
        abort();
    give_back(buffer, packet);
}

static void *produce(void *argument) {
    producer_t *producer = argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        if (producer->kind == OURS) {
            uint64_t payload[1][8] = {{producer->calls}};
            if (hostcall_amd_call(producer->buffer, SERVICE, 1, payload) || payload[0][0] != producer->calls + 1)
                abort();
        } else
            plain_call(producer);
        ++producer->calls;
    }
    return NULL;
}

/* Calls per second. */
static double rate(int kind, int threads, double seconds) {
    hostcall_amd_buffer_t *buffer = new_buffer(MOST);
    void *const all[] = {buffer};
    loop_t *loop = kind <= AMD ? start_loop(all, 1, 0, kind == BARE) : NULL;
    amd_hostcall_consumer_t *consumer = loop ? NULL : start_consumer(buffer);
    producer_t producers[MOST];
    pthread_t ids[MOST];
    atomic_store(&stop, 0);
    double begin = now();
    for (int i = 0; i < threads; ++i) {
        producers[i] = (producer_t){buffer, loop, 0, kind};
        pthread_create(&ids[i], NULL, produce, &producers[i]);
    }
    usleep((useconds_t)(1e6 * seconds));
    atomic_store(&stop, 1);
    uint64_t calls = 0;
    for (int i = 0; i < threads; ++i) {
        pthread_join(ids[i], NULL);
        calls += producers[i].calls;
    }
    double time = now() - begin;
    if (loop)
        end_loop(loop);
    else if (amd_hostcall_destroy_consumer(consumer))
        abort();
    free(buffer);
    return (double)calls / time;
}

/* Packets that are all there when the consumer starts. */
static void once(int kind, uint64_t mask, uint32_t count) {
    hostcall_amd_buffer_t *buffer = new_buffer(count);
    uint64_t *packets = malloc(count * sizeof *packets);
    for (uint32_t i = 0; i < count; ++i)
        fill(buffer, packets[i] = take(buffer), mask, i);
    for (uint32_t i = 0; i < count; ++i)
        put(buffer, &buffer->ready_stack, packets[i]);
    void *const all[] = {buffer};
    calls_wanted = (uint64_t)count * (unsigned)__builtin_popcountll(mask);
    if (kind <= AMD)
        ring_loop(start_loop(all, 1, 0, kind == BARE));
    else
        start_consumer(buffer);
    for (uint32_t i = 0; i < count; ++i)
        while (!answered(buffer, packets[i]))
            usleep(1000);
    printf("%.1f ns of the serving thread's processor time a packet\n", 1e9 * (last_call - first_call) / (count - 1));
    fflush(stdout);
    /* What looks for more is not counted: nothing is ended or freed. */
    _exit(0);
}

/* Packets per second of one consumer that has BURST of them at once. */
static double burst(int kind, uint64_t mask, double seconds) {
    hostcall_amd_buffer_t *buffer = new_buffer(BURST);
    void *const all[] = {buffer};
    loop_t *loop = kind <= AMD ? start_loop(all, 1, 0, kind == BARE) : NULL;
    amd_hostcall_consumer_t *consumer = loop ? NULL : start_consumer(buffer);
    uint64_t packets[BURST], count = 0;
    double spent = 0, end = now() + seconds;
    while (now() < end) {
        for (int i = 0; i < BURST; ++i) {
            packets[i] = take(buffer);
            fill(buffer, packets[i], mask, (uint64_t)i);
        }
        for (int i = 0; i < BURST; ++i)
            put(buffer, &buffer->ready_stack, packets[i]);
        double begin = now();
        if (kind == BARE)
            __atomic_fetch_add(&loop->doorbell, 1, __ATOMIC_RELEASE);
        else if (kind == AMD)
            ring_loop(loop);
        else
            hostcall_amd_ring(buffer->doorbell);
        for (int i = 0; i < BURST; ++i)
            while (!answered(buffer, packets[i]))
                relax();
        spent += now() - begin;
        count += BURST;
        for (int i = 0; i < BURST; ++i) {
            if (buffer->payloads[index_of(buffer, packets[i])].lanes[__builtin_ctzll(mask)][0] != (uint64_t)i + 1)
                abort();
            give_back(buffer, packets[i]);
        }
    }
    if (loop)
        end_loop(loop);
    else if (amd_hostcall_destroy_consumer(consumer))
        abort();
    free(buffer);
    return (double)count / spent;
}

static void at_rest(void) {
    hostcall_amd_buffer_t *buffer = new_buffer(MOST);
    amd_hostcall_consumer_t *consumer = start_consumer(buffer);
    sleep(2);
    double before = processor_time();
    sleep(2);
    printf("at rest: %.2f %% of a processor\n", 50 * (processor_time() - before));
    double wakes[51];
    for (int i = 0; i < 51; ++i) {
        usleep(50000);
        uint64_t payload[1][8] = {{1}};
        double begin = now();
        if (hostcall_amd_call(buffer, SERVICE, 1, payload))
            abort();
        wakes[i] = 1e6 * (now() - begin);
    }
    double middle = median(wakes, 51);
    printf("first call after 50 ms of silence, there and back: median %.1f us, slowest of 51 %.1f us\n", middle, wakes[50]);
    if (amd_hostcall_destroy_consumer(consumer))
        abort();
    free(buffer);
}

/* Handlers that block, until they are told to go on. */
enum { BLOCKS = 24, CALLS_BACK = 25 };

static atomic_int go_on, inside;

static int blocks(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service, (void)payload;
    atomic_fetch_add(&inside, 1);
    while (!atomic_load(&go_on))
        usleep(1000);
    atomic_fetch_sub(&inside, 1);
    return 0;
}

static int calls_back(void *buffer, uint32_t service, uint64_t *payload) {
    (void)service;
    uint64_t inner[1][8] = {{payload[0]}};
    if (hostcall_amd_call(*(void **)buffer, SERVICE, 1, inner))
        abort();
    payload[0] = inner[0][0];
    return 0;
}

/* Seconds of one call, whose answer is one more. */
static double one_call(void *buffer, uint32_t service) {
    uint64_t payload[1][8] = {{41}};
    double begin = now();
    if (hostcall_amd_call(buffer, service, 1, payload) || payload[0][0] != 42)
        abort();
    return now() - begin;
}

/* Milliseconds that a call waits behind so many packets whose handlers block. The consumer knows nothing of them. */
static double behind(uint32_t count) {
    hostcall_amd_buffer_t *buffer = new_buffer(count + 8);
    amd_hostcall_consumer_t *consumer = start_consumer(buffer);
    one_call(buffer, SERVICE);
    atomic_store(&go_on, 0);
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t packet = take(buffer);
        fill(buffer, packet, 1, i);
        buffer->headers[index_of(buffer, packet)].service = BLOCKS;
        put(buffer, &buffer->ready_stack, packet);
    }
    hostcall_amd_ring(buffer->doorbell);
    double time = one_call(buffer, SERVICE);
    atomic_store(&go_on, 1);
    if (amd_hostcall_destroy_consumer(consumer))
        abort();
    free(buffer);
    return 1e3 * time;
}

/* Seconds of one call through a mailbox, which only rings if it is asked to. */
static double mail(mailboxes_t *buffer, uint32_t index, int rings) {
    buffer->headers[index].active_mask = 1, buffer->headers[index].service = SERVICE;
    buffer->payloads[index].lanes[0][0] = 41;
    uint32_t asked = buffer->device_phase[index] ^ 1;
    double begin = now();
    __atomic_store_n(&buffer->device_phase[index], asked, __ATOMIC_RELEASE);
    if (rings)
        hostcall_amd_ring(buffer->doorbell);
    while (__atomic_load_n(&buffer->host_phase[index], __ATOMIC_ACQUIRE) != asked)
        relax();
    if (buffer->payloads[index].lanes[0][0] != 42)
        abort();
    return now() - begin;
}

static mailboxes_t *new_mailboxes(uint32_t packets, amd_hostcall_consumer_t **consumer) {
    size_t size = hostcall_amd_form_size(packets, HOSTCALL_AMD_MAILBOXES);
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, size) || hostcall_amd_initialize_form(memory, size, packets, HOSTCALL_AMD_MAILBOXES) ||
        amd_hostcall_create_consumer(consumer) || hostcall_amd_register_form(*consumer, memory, HOSTCALL_AMD_MAILBOXES) ||
        amd_hostcall_launch_consumer(*consumer))
        abort();
    return memory;
}

static void say_times(const char *what, double *times, size_t count) {
    double middle = median(times, count);
    printf("%s: median %.1f us, 99 of 100 within %.1f us, slowest of %zu %.1f us\n", what, 1e6 * middle, 1e6 * times[count * 99 / 100],
           count, 1e6 * times[count - 1]);
    fflush(stdout);
}

static void waits(void) {
    void *self = NULL;
    if (amd_hostcall_register_service(BLOCKS, blocks, NULL) || amd_hostcall_register_service(CALLS_BACK, calls_back, &self))
        abort();
    const uint32_t counts[] = {1, 8, 32, 128, 400};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
        double times[ROUNDS];
        for (int round = 0; round < ROUNDS; ++round)
            times[round] = behind(counts[c]);
        double middle = median(times, ROUNDS);
        printf("a call behind %u handlers that block: median %.2f ms, slowest of %d %.2f ms\n", counts[c], middle, ROUNDS, times[ROUNDS - 1]);
        fflush(stdout);
    }
    enum { TIMES = 201, MANY = 20000 };
    static double times[MANY];
    hostcall_amd_buffer_t *buffer = new_buffer(8);
    amd_hostcall_consumer_t *consumer = start_consumer(buffer);
    self = buffer;
    for (int i = 0; i < TIMES; ++i)
        times[i] = one_call(buffer, CALLS_BACK);
    say_times("a call whose handler calls", times, TIMES);
    if (amd_hostcall_destroy_consumer(consumer))
        abort();
    free(buffer);
    amd_hostcall_consumer_t *consumers[2];
    mailboxes_t *boxes[2] = {new_mailboxes(64, &consumers[0]), new_mailboxes(64, &consumers[1])};
    for (int i = 0; i < TIMES; ++i) {
        usleep(50000);
        mail(boxes[0], 0, 1);
        times[i] = mail(boxes[1], 0, 0);
    }
    say_times("mailboxes, a packet whose ring another queue's took, after 50 ms of silence", times, TIMES);
    for (int i = 0; i < MANY; ++i)
        times[i] = mail(boxes[0], 0, i % 10 == 0);
    say_times("mailboxes, calls back to back of which one in ten rings", times, MANY);
    for (int i = 0; i < 2; ++i) {
        if (amd_hostcall_destroy_consumer(consumers[i]))
            abort();
        free(boxes[i]);
    }
}

int main(int argc, char **argv) {
    double seconds = (argc > 1 ? atof(argv[1]) : 300) / 1000;
    if (amd_hostcall_register_service(SERVICE, add_one, NULL))
        return 1;
    if (argc > 1 && !strcmp(argv[1], "waits")) {
        waits();
        return 0;
    }
    if (argc > 4 && !strcmp(argv[1], "count")) {
        int lanes = atoi(argv[3]);
        once(atoi(argv[2]), lanes < 64 ? (UINT64_C(1) << lanes) - 1 : ~UINT64_C(0), (uint32_t)atoi(argv[4]));
    }
    printf("processors: %ld; rows are medians of %d runs of %.0f ms, taken in turns\n", sysconf(_SC_NPROCESSORS_ONLN), ROUNDS, 1e3 * seconds);
    printf("| calls, threads | bare loop | AMD's algorithm | plain producers, this library | this library | to AMD's | to the bare loop |\n");
    printf("|--:|--:|--:|--:|--:|--:|--:|\n");
    const int threads[] = {1, 2, 4, 8};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t) {
        double runs[KINDS][ROUNDS], middle[KINDS];
        for (int round = 0; round < ROUNDS; ++round)
            for (int kind = 0; kind < KINDS; ++kind)
                runs[kind][round] = rate(kind, threads[t], seconds);
        for (int kind = 0; kind < KINDS; ++kind)
            middle[kind] = median(runs[kind], ROUNDS);
        printf("| %d | %.0f/s | %.0f/s | %.0f/s | %.0f/s | %.2fx | %.2fx |\n", threads[t], middle[BARE], middle[AMD],
               middle[PLAIN_PRODUCERS], middle[OURS], middle[OURS] / middle[AMD], middle[OURS] / middle[BARE]);
        fflush(stdout);
    }
    printf("| packets in a burst of %d, lanes | bare loop | AMD's algorithm | this library | to AMD's | to the bare loop |\n", BURST);
    printf("|--:|--:|--:|--:|--:|--:|\n");
    const uint64_t masks[] = {1, 0xff, UINT64_C(0xffffffff), ~UINT64_C(0)};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; ++m) {
        double runs[KINDS][ROUNDS], middle[KINDS];
        for (int round = 0; round < ROUNDS; ++round)
            for (int kind = 0; kind < KINDS - 1; ++kind)
                runs[kind][round] = burst(kind, masks[m], seconds);
        for (int kind = 0; kind < KINDS - 1; ++kind)
            middle[kind] = median(runs[kind], ROUNDS);
        printf("| %d | %.0f/s | %.0f/s | %.0f/s | %.2fx | %.2fx |\n", __builtin_popcountll(masks[m]), middle[BARE], middle[AMD],
               middle[PLAIN_PRODUCERS], middle[PLAIN_PRODUCERS] / middle[AMD], middle[PLAIN_PRODUCERS] / middle[BARE]);
        fflush(stdout);
    }
    at_rest();
    return 0;
}

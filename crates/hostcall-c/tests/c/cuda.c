/* A host with a CUDA context of its own, on the fake driver. */
#include "check.h"
#include "definitions.h"

extern int fake_destroyed, fake_loaded, fake_unbounded, fake_blocking, fake_passes;
extern size_t fake_stack;
extern void *(*fake_kernel)(void *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
extern int cuStreamSynchronize(void *);
extern void fake_enter(void *);
extern void *fake_context, *fake_green_stream, *fake_module, *fake_function;
extern unsigned char fake_globals[160];
extern uint64_t fake_signature;

/* Lanes that were answered. */
static int handled;

static void handler(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  (void)call;
  __atomic_fetch_add(&handled, (int)lanes->count, __ATOMIC_SEQ_CST);
  for (i = 0; i < lanes->count; i++) {
    float x;
    memcpy(&x, lanes->arguments + i * lanes->argument_stride, sizeof x);
    x += 42;
    memcpy(lanes->results + i * lanes->result_stride, &x, sizeof x);
  }
}

static uint32_t word(size_t at) {
  uint32_t word;
  memcpy(&word, fake_globals + at, sizeof word);
  return word;
}

/* What the kernel of one lane calls, and what it gets. */
struct called {
  uint32_t port;
  float x, result;
  uint32_t head;
};

/* Sixteen bytes, which are stored and loaded in one piece. */
typedef uint32_t piece __attribute__((vector_size(16)));

static uint64_t address_at(size_t at) {
  uint64_t address;
  memcpy(&address, fake_globals + at, sizeof address);
  return address;
}

/* Typed::add42 of one lane, by the first message of a port: docs/reference/protocol.md. */
static void *calls_add42(void *argument) {
  enum { TAG = 1, REPLY = 1, LONE = 4 };
  struct called *called = argument;
  volatile piece *request = (volatile piece *)(uintptr_t)address_at(16) + (size_t)called->port * word(36);
  volatile piece *reply = (volatile piece *)(uintptr_t)address_at(24) + (size_t)called->port * word(40);
  volatile uint32_t *doorbell = (volatile uint32_t *)(uintptr_t)address_at(8) + called->port;
  uint32_t x;
  piece got;
  memcpy(&x, &called->x, sizeof x);
  *request = (piece){word(132) | (REPLY | LONE) << 24, x << 16, x >> 16, (TAG | 0x8000u) << 16};
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  *doorbell = TAG;
  do got = *reply;
  while (got[3] >> 16 != TAG);
  x = got[1];
  called->head = got[0];
  memcpy(&called->result, &x, sizeof x);
  return NULL;
}

/* Launches that nobody announces, of a program that is attached: with a wait behind them, and such as block. */
static void launches(void) {
  uint32_t port;
  fake_kernel = calls_add42;
  for (port = 0; port < 4; port++) {
    struct called called = {port, (float)port, 0, 0}, *parameter = &called;
    void *parameters[] = {&parameter};
    fake_blocking = port % 2 == 1;
    CHECK(cuLaunchKernel(fake_function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) == 0);
    if (!fake_blocking) CHECK(cuStreamSynchronize(NULL) == 0);
    CHECK((called.head & 0xffff) == 0 && called.result == (float)port + 42);
  }
  fake_kernel = NULL;
}

/* A launch whose kernel is run many times over memory that was put back: each pass is answered. */
static void passes(hc_server *server) {
  struct called called = {0, 8, 0, 0}, *parameter = &called;
  void *parameters[] = {&parameter};
  hc_attachment *attachment;
  const int before = __atomic_load_n(&handled, __ATOMIC_SEQ_CST);
  MUST(hc_attach_cuda_module(server, fake_module, "module", &attachment));
  fake_kernel = calls_add42;
  fake_passes = 10;
  CHECK(cuLaunchKernel(fake_function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) == 0);
  CHECK((called.head & 0xffff) == 0 && called.result == 50);
  CHECK(__atomic_load_n(&handled, __ATOMIC_SEQ_CST) - before == 10);
  fake_passes = 1;
  fake_kernel = NULL;
  MUST(hc_wait(server, NULL));
  hc_detach(&attachment);
  memset(fake_globals, 0, 128);
  memset(fake_globals + 132, 0, 4);
}

/* A program is attached: it has a descriptor, and the service its number. */
static void is_attached(hc_server *server, hc_attachment **attachment) {
  uint32_t number;
  MUST(hc_number(server, "Typed::add42", &number));
  CHECK(*attachment != NULL && word(132) == number && number != 0);
  /* The descriptor's ports. */
  CHECK(word(32) == 4);
  launches();
  MUST(hc_wait(server, NULL));
  hc_detach(attachment);
  memset(fake_globals, 0, 128);
  memset(fake_globals + 132, 0, 4);
}

int main(void) {
  hc_device *device;
  hc_server *server;
  hc_attachment *attachment, *again;
  hc_server_options options;
  uint32_t abi = ABI_VERSION;
  uint64_t address;
  uint8_t copy[HC_DESCRIPTOR_BYTES];
  char text[1024];
  size_t bytes = sizeof text;
  memcpy(fake_globals + 128, &abi, sizeof abi);
  fake_signature = Typed__add42_definition.signature;

  CHECK(hc_device_from_cuda_context(NULL, &device) == HC_UNAVAILABLE && strstr(hc_last_error(), "no CUDA context is current") != NULL);
  fake_enter(fake_context);
  MUST(hc_device_from_cuda_context(NULL, &device));
  hc_device_destroy(&device);
  MUST(hc_device_from_cuda_context(fake_context, &device));
  MUST(hc_device_describe(device, text, &bytes));
  CHECK(strstr(text, "a fake GPU") != NULL && strstr(text, "\"kind\":\"CUDA\"") != NULL);

  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.ports = 4;
  options.staging_slots = 1;
  options.staging_slot_bytes = 4096;
  options.no_window = 1;
  MUST(hc_server_start(device, &options, NULL, 0, &server));
  MUST(hc_register(server, &Typed__add42_definition, HC_INLINE, handler, NULL, NULL, NULL));

  MUST(hc_attach_cuda_module(server, fake_module, "module", &attachment));
  CHECK(fake_loaded == 1);
  is_attached(server, &attachment);
  MUST(hc_attach_cuda_function(server, fake_function, "function", &attachment));
  is_attached(server, &attachment);
  MUST(hc_attach_cuda_library(server, (char *)fake_module + 1, "library", &attachment));
  is_attached(server, &attachment);
  CHECK(hc_attach_cuda_library(server, fake_function, "library", &attachment) == HC_DEVICE && attachment == NULL);
  CHECK(hc_attach_cuda_module(server, fake_function, "module", &attachment) == HC_DEVICE && attachment == NULL);

  passes(server);

  /* A stream of a green context: a part of the device that the primary context is of. */
  MUST(hc_wait(server, fake_green_stream));

  /* Lanes' stacks grow for kernels only of which nobody knows what they need, and nobody's shrink. */
  fake_stack = 1 << 10;
  MUST(hc_attach_cuda_module(server, fake_module, "module", &attachment));
  is_attached(server, &attachment);
  CHECK(fake_stack == 1 << 10);
  fake_unbounded = 1;
  MUST(hc_attach_cuda_module(server, fake_module, "module", &attachment));
  is_attached(server, &attachment);
  CHECK(fake_stack == 8 << 10);
  fake_stack = 1 << 16;
  MUST(hc_attach_cuda_function(server, fake_function, "function", &attachment));
  is_attached(server, &attachment);
  CHECK(fake_stack == 1 << 16);
  fake_unbounded = 0;

  fake_signature++;
  CHECK(hc_attach_cuda_module(server, fake_module, "module", &attachment) == HC_MISMATCH && attachment == NULL);
  fake_signature--;
  MUST(hc_descriptor(server, NULL, &address, copy, &attachment));
  CHECK(memcmp((void *)(uintptr_t)address, copy, sizeof copy) == 0);
  MUST(hc_descriptor(server, attachment, NULL, copy, &again));
  CHECK(memcmp((void *)(uintptr_t)address, copy, sizeof copy) == 0);
  hc_detach(&again);
  hc_detach(&attachment);

  MUST(hc_launch_begin(server));
  MUST(hc_wait_timeout(server, NULL, 1000000000));
  MUST(hc_launch_end(server));
  MUST(hc_server_stop(&server));
  hc_device_destroy(&device);
  CHECK(fake_destroyed == 0);
  puts("ok cuda");
  return 0;
}

/* A host with CUDA contexts of its own, on a GPU: launches by the driver's API of a kernel of examples/cuda, from a
 * module, a library, a function and by symbols; every kind of handler; two contexts at once.
 *
 *   driver BEHAVIOURS.cubin
 *
 * Without a GPU it is compiled only. */
#include "check.h"

#include <cuda.h>
#include <pthread.h>

#define DRIVER(call)                                                \
  do {                                                              \
    const CUresult result_ = (call);                                \
    if (result_ != CUDA_SUCCESS) {                                  \
      const char *why_ = "?";                                       \
      cuGetErrorString(result_, &why_);                             \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, why_);   \
      exit(1);                                                      \
    }                                                               \
  } while (0)

enum { LANES = 256 };

static const hc_definition sum = HC_DEFINITION("Host__sum", "fn(u64, u64) -> u64");
static const hc_definition picky = HC_DEFINITION("Host__picky", "fn(u32) -> u32");

/* What a context's part of the test has. */
struct host {
  CUcontext context;
  CUmodule module;
  CUstream stream;
  CUdeviceptr results;
  hc_device *device;
  hc_server *server;
};

/* Host::sum: rows of two u64 each. */
static void answer_sum(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user, (void)call;
  for (i = 0; i < lanes->count; i++) {
    uint64_t values[2];
    memcpy(values, lanes->arguments + i * lanes->argument_stride, sizeof values);
    values[0] += values[1];
    memcpy(lanes->results + i * lanes->result_stride, values, sizeof values[0]);
  }
}

struct later {
  pthread_t thread;
  const hc_lanes *lanes;
  hc_call *call;
};

static void *complete(void *argument) {
  struct later *later = argument;
  answer_sum(NULL, later->lanes, later->call);
  MUST(hc_complete(later->call));
  free(later);
  return NULL;
}

/* Keeps the call: another thread answers it. */
static void answer_later(void *user, const hc_lanes *lanes, hc_call *call) {
  struct later *later = malloc(sizeof *later);
  (void)user;
  CHECK(later != NULL);
  later->lanes = lanes;
  later->call = call;
  CHECK(pthread_create(&later->thread, NULL, complete, later) == 0);
  CHECK(pthread_detach(later->thread) == 0);
}

/* Host::picky: fails for odd arguments. */
static void answer_picky(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  for (i = 0; i < lanes->count; i++) {
    const uint32_t value = lanes->arguments[i * lanes->argument_stride];
    if (value % 2 == 0) lanes->results[i * lanes->result_stride] = value * 10;
    else MUST(hc_fail(call, i, value + 7, "odd"));
  }
}

static void begin(struct host *host, CUcontext context, const char *cubin) {
  memset(host, 0, sizeof *host);
  host->context = context;
  DRIVER(cuCtxSetCurrent(context));
  DRIVER(cuModuleLoad(&host->module, cubin));
  DRIVER(cuStreamCreate(&host->stream, CU_STREAM_NON_BLOCKING));
  DRIVER(cuMemAlloc(&host->results, LANES * sizeof(uint64_t)));
  MUST(hc_device_from_cuda_context(NULL, &host->device));
  MUST(hc_server_start(host->device, NULL, NULL, 0, &host->server));
}

static void end(struct host *host) {
  MUST(hc_server_stop(&host->server));
  hc_device_destroy(&host->device);
  DRIVER(cuCtxSetCurrent(host->context));
  DRIVER(cuMemFree(host->results));
  DRIVER(cuStreamDestroy(host->stream));
  DRIVER(cuModuleUnload(host->module));
}

/* Launches `masked`, of which every lane calls Host::sum. */
static void launch(struct host *host, CUfunction function) {
  uint64_t mask = ~UINT64_C(0), n = LANES;
  void *arguments[3];
  arguments[0] = &mask, arguments[1] = &host->results, arguments[2] = &n;
  DRIVER(cuCtxSetCurrent(host->context));
  DRIVER(cuMemsetD8(host->results, 0, LANES * sizeof(uint64_t)));
  MUST(hc_launch_begin(host->server));
  DRIVER(cuLaunchKernel(function, LANES / 64, 1, 1, 64, 1, 1, 0, host->stream, arguments, NULL));
}

static void finish(struct host *host) {
  uint64_t results[LANES];
  uint64_t i;
  MUST(hc_wait(host->server, host->stream));
  MUST(hc_launch_end(host->server));
  DRIVER(cuCtxSetCurrent(host->context));
  DRIVER(cuMemcpyDtoH(results, host->results, sizeof results));
  for (i = 0; i < LANES; i++) CHECK(results[i] == i + 1000);
}

static CUfunction function_of(CUmodule module, const char *name) {
  CUfunction function;
  DRIVER(cuModuleGetFunction(&function, module, name));
  return function;
}

/* With each kind of handler, from a module. */
static void modes(struct host *host) {
  static const hc_run runs[] = {HC_INLINE, HC_BLOCKING, HC_DEFERRED};
  hc_attachment *attachment;
  size_t i;
  MUST(hc_attach_cuda_module(host->server, host->module, "module", &attachment));
  for (i = 0; i < sizeof runs / sizeof *runs; i++) {
    hc_service *service;
    MUST(hc_register(host->server, &sum, runs[i], runs[i] == HC_DEFERRED ? answer_later : answer_sum, NULL, NULL, &service));
    launch(host, function_of(host->module, "masked"));
    finish(host);
    hc_unregister(&service);
  }
  hc_detach(&attachment);
  puts("ok modes");
}

static uint64_t address_of(void *user, const char *symbol) {
  CUdeviceptr address = 0;
  size_t bytes;
  return cuModuleGetGlobal(&address, &bytes, user, symbol) == CUDA_SUCCESS ? address : 0;
}

/* By every handle that there is. */
static void handles(struct host *host, const char *cubin) {
  hc_service *service;
  hc_attachment *attachment;
  CUlibrary library;
  CUkernel kernel;
  CUfunction function = function_of(host->module, "masked");
  MUST(hc_register(host->server, &sum, HC_INLINE, answer_sum, NULL, NULL, &service));
  MUST(hc_attach_cuda_function(host->server, function, "function", &attachment));
  launch(host, function);
  finish(host);
  hc_detach(&attachment);
  MUST(hc_attach_symbols(host->server, "symbols", address_of, host->module, NULL, &attachment));
  launch(host, function);
  finish(host);
  hc_detach(&attachment);
  DRIVER(cuLibraryLoadFromFile(&library, cubin, NULL, NULL, 0, NULL, NULL, 0));
  DRIVER(cuLibraryGetKernel(&kernel, library, "masked"));
  MUST(hc_attach_cuda_library(host->server, library, "library", &attachment));
  launch(host, (CUfunction)kernel);
  finish(host);
  hc_detach(&attachment);
  DRIVER(cuLibraryUnload(library));
  hc_unregister(&service);
  puts("ok handles");
}

/* A handler fails: the wait says so, and the report which. */
static void failure(struct host *host) {
  hc_attachment *attachment;
  char report[16384], stats[16384];
  size_t bytes = sizeof report, more = sizeof stats;
  uint64_t results[LANES], n = LANES, i;
  void *arguments[2];
  arguments[0] = &host->results, arguments[1] = &n;
  MUST(hc_register(host->server, &picky, HC_INLINE, answer_picky, NULL, NULL, NULL));
  MUST(hc_attach_cuda_module(host->server, host->module, "module", &attachment));
  DRIVER(cuCtxSetCurrent(host->context));
  MUST(hc_launch_begin(host->server));
  DRIVER(cuLaunchKernel(function_of(host->module, "picky"), LANES / 64, 1, 1, 64, 1, 1, 0, host->stream, arguments, NULL));
  CHECK(hc_wait(host->server, host->stream) == HC_KERNEL_FAILED);
  MUST(hc_launch_end(host->server));
  MUST(hc_report(host->server, report, &bytes));
  CHECK(strstr(report, "Host__picky") != NULL && strstr(report, "odd") != NULL);
  MUST(hc_stats(host->server, stats, &more));
  CHECK(strstr(stats, "\"Host__picky\"") != NULL && strstr(stats, "\"failed\":128") != NULL);
  DRIVER(cuMemcpyDtoH(results, host->results, sizeof results));
  for (i = 0; i < LANES; i++) {
    if (i % 2 == 0) CHECK(results[i] == i * 10);
    else CHECK((uint32_t)results[i] == i + 7 && results[i] >> 32 != 0);
  }
  hc_detach(&attachment);
  puts("ok failure");
}

/* Kernels of two contexts call at once, each its own server. */
static void two_contexts(struct host *one, struct host *other) {
  hc_attachment *attachments[2];
  hc_service *services[2];
  struct host *hosts[2];
  int i, round;
  hosts[0] = one, hosts[1] = other;
  for (i = 0; i < 2; i++) {
    DRIVER(cuCtxSetCurrent(hosts[i]->context));
    MUST(hc_register(hosts[i]->server, &sum, HC_INLINE, answer_sum, NULL, NULL, &services[i]));
    MUST(hc_attach_cuda_module(hosts[i]->server, hosts[i]->module, "module", &attachments[i]));
  }
  for (round = 0; round < 20; round++) {
    for (i = 0; i < 2; i++) launch(hosts[i], function_of(hosts[i]->module, "masked"));
    for (i = 0; i < 2; i++) finish(hosts[i]);
  }
  for (i = 0; i < 2; i++) {
    hc_detach(&attachments[i]);
    hc_unregister(&services[i]);
  }
  puts("ok two contexts");
}

int main(int argc, char **argv) {
  CUdevice device;
  CUcontext primary, second;
  struct host one, other;
  int times;
  CHECK(argc == 2);
  /* Modules are loaded before kernels wait for the host: docs/reference/deadlocks.md. */
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
#if CUDA_VERSION >= 13000
  DRIVER(cuCtxCreate(&second, NULL, 0, device));
#else
  DRIVER(cuCtxCreate(&second, 0, device));
#endif
  for (times = 0; times < 2; times++) {
    begin(&one, primary, argv[1]);
    modes(&one);
    handles(&one, argv[1]);
    begin(&other, second, argv[1]);
    two_contexts(&one, &other);
    failure(&one);
    end(&other);
    end(&one);
  }
  DRIVER(cuCtxDestroy(second));
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return 0;
}

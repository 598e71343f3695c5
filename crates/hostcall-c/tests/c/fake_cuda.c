/* A driver without a GPU: memory is the host's, a kernel is a thread, what is called is counted. It has the functions
 * that the library opens, so that attaching to a CUDA program can be tested: which globals are written, and that
 * nothing of the application's is destroyed. Functions that do nothing are weak: another file may have some that do
 * more (fake_cuda_modules.c and fake_cuda_streams.c in crates/hostcall-offload-api/tests/c). */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int R;
typedef uint64_t P;

/* What a test may look at. */
int fake_destroyed, fake_loaded, fake_switched; /* the last: how often the current context was changed */
_Thread_local void *fake_current;
/* While it is set, fills and copies within the device are kept for `fake_release`; other copies are counted: a real
 * driver may have them wait for what was kept. */
int fake_held, fake_waits;
int fake_modules, fake_streams; /* how many there are */
size_t fake_stack = 1 << 16; /* a lane's, in bytes */
int fake_unbounded; /* whether its kernel has the word of those that may need any amount of it */
static void count(int *of, int by) { __atomic_fetch_add(of, by, __ATOMIC_SEQ_CST); }
unsigned char fake_globals[160] __attribute__((aligned(64)));
uint64_t fake_signature;
/* Two bytes: the library's handle lies behind the module's, and is no other's. */
static char context[1], green[1], module[2], stream[1], green_stream[1], function[1];
void *fake_green_stream = green_stream, *fake_context = context, *fake_module = module, *fake_function = function;

#define WEAK __attribute__((weak))
#define OK(name) \
  WEAK R name(void) { return 0; }
#define NO(name) \
  WEAK R name(void) { return 801; }

OK(cuInit) OK(cuStreamQuery) OK(cuStreamWaitEvent) OK(cuEventRecord) OK(cuEventQuery) OK(cuEventSynchronize)
OK(cuEventDestroy_v2) OK(cuThreadExchangeStreamCaptureMode)
NO(cuMemAllocManaged) NO(cuMemHostRegister_v2) NO(cuMemHostUnregister) NO(cuMemPrefetchAsync_v2) NO(cuImportExternalMemory)
NO(cuExternalMemoryGetMappedBuffer) NO(cuDestroyExternalMemory) NO(cuModuleLoadDataEx)
NO(cuModuleGetFunction) NO(cuFuncGetAttribute) NO(cuFuncSetAttribute) NO(cuFuncGetParamInfo) NO(cuOccupancyMaxPotentialBlockSize)
NO(cuOccupancyMaxActiveBlocksPerMultiprocessor) NO(cuLaunchCooperativeKernel) NO(cuStreamWaitValue32_v2)
NO(cuStreamBeginCapture_v2) NO(cuStreamEndCapture) NO(cuGraphInstantiateWithFlags) NO(cuGraphLaunch) NO(cuGraphDestroy)
NO(cuGraphExecDestroy) NO(cuEventElapsedTime)

/* What the device can reach: its own blocks and those of the host. */
typedef struct {
  char *start, *copy;
  size_t bytes;
  int pinned;
} block;
static block *reachable;
static size_t blocks, room;
static pthread_mutex_t reaching = PTHREAD_MUTEX_INITIALIZER;
static void reach(void *p, size_t bytes, int pinned) {
  pthread_mutex_lock(&reaching);
  if (blocks == room) reachable = realloc(reachable, (room = 2 * room + 64) * sizeof *reachable);
  if (reachable == NULL) abort();
  reachable[blocks++] = (block){p, NULL, bytes, pinned};
  pthread_mutex_unlock(&reaching);
}
/* Whether so much more of the host's memory may be pinned: FAKE_CUDA_PINNED is how many bytes in all. */
static int may_pin(size_t bytes) {
  const char *most = getenv("FAKE_CUDA_PINNED");
  size_t sum = bytes;
  if (most == NULL) return 1;
  pthread_mutex_lock(&reaching);
  for (size_t i = 0; i < blocks; i++)
    if (reachable[i].pinned) sum += reachable[i].bytes;
  pthread_mutex_unlock(&reaching);
  return sum <= strtoull(most, NULL, 10);
}
static void release(void *p) {
  pthread_mutex_lock(&reaching);
  for (size_t i = 0; i < blocks; i++)
    if (reachable[i].start == p) reachable[i] = reachable[--blocks];
  pthread_mutex_unlock(&reaching);
  free(p);
}
static void save(void) {
  for (size_t i = 0; i < blocks; i++) {
    reachable[i].copy = malloc(reachable[i].bytes);
    if (reachable[i].copy == NULL) abort();
    memcpy(reachable[i].copy, reachable[i].start, reachable[i].bytes);
  }
}
static void put_back(int last) {
  for (size_t i = 0; i < blocks; i++) {
    if (!last) memcpy(reachable[i].start, reachable[i].copy, reachable[i].bytes);
    else free(reachable[i].copy);
  }
}

/* What every launch runs, with its first parameter, on a thread that stands for the device; null: there is no device.
 * Launches return at once, or when the kernel has ended, as by CUDA_LAUNCH_BLOCKING=1 and under debuggers. */
void *(*fake_kernel)(void *);
int fake_blocking;
/* How often each launch runs it: before each pass but the first all that the device can reach is put back, as by
 * profilers that replay kernels. Such a launch returns when the last pass has ended. */
int fake_passes = 1;
static pthread_t running[64];
static int runs;
WEAK R cuStreamSynchronize(void *s) {
  (void)s;
  while (runs > 0)
    if (pthread_join(running[--runs], NULL) != 0) return 999;
  return 0;
}
WEAK R cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned shared, void *s,
                      void **parameters, void **extra) {
  (void)f, (void)gx, (void)gy, (void)gz, (void)x, (void)y, (void)z, (void)shared, (void)extra;
  if (fake_kernel == NULL) return 801;
  if (fake_passes > 1) save();
  for (int pass = 1; pass <= fake_passes; pass++) {
    if (runs == 64 || pthread_create(&running[runs], NULL, fake_kernel, *(void **)parameters[0]) != 0) return 999;
    runs++;
    if (fake_passes > 1) {
      if (cuStreamSynchronize(s) != 0) return 999;
      put_back(pass == fake_passes);
    }
  }
  return fake_blocking ? cuStreamSynchronize(s) : 0;
}

R cuDriverGetVersion(int *v) { *v = 12080; return 0; }
R cuGetErrorName(int e, const char **t) { (void)e; *t = "CUDA_ERROR_OF_THE_FAKE"; return 0; }
R cuGetErrorString(int e, const char **t) { (void)e; *t = "the fake driver cannot do it"; return 0; }
R cuDeviceGetCount(int *n) { *n = 1; return 0; }
R cuDeviceGet(int *d, int i) { *d = i; return 0; }
R cuDeviceGetName(char *n, int l, int d) { (void)d; strncpy(n, "a fake GPU", (size_t)l); return 0; }
R cuDeviceGetAttribute(int *v, int a, int d) {
  (void)d;
  switch (a) {
    case 1: *v = 1024; break;   /* threads of a workgroup */
    case 10: *v = 32; break;    /* lanes of a wave */
    case 16: *v = 2; break;     /* SMs */
    case 39: *v = 128; break;   /* threads of an SM */
    case 75: *v = 9; break;     /* compute capability */
    case 76: *v = 0; break;
    default: *v = 1;
  }
  return 0;
}
R cuDeviceTotalMem_v2(size_t *b, int d) { (void)d; *b = (size_t)1 << 30; return 0; }
R cuDeviceGetPCIBusId(char *t, int l, int d) { (void)d; strncpy(t, "0000:00:00.0", (size_t)l); return 0; }
R cuDeviceGetUuid_v2(void *u, int d) { (void)d; memset(u, 0, 16); return 0; }
static int retained;
R cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; count(&retained, 1); *c = context; return 0; }
/* Only what was retained here is given back. */
R cuDevicePrimaryCtxRelease_v2(int d) { (void)d; count(&retained, -1); if (retained < 0) fake_destroyed++; return 0; }
R cuDevicePrimaryCtxReset_v2(int d) { (void)d; fake_destroyed++; return 0; }
static _Thread_local void *below[8];
static _Thread_local int depth;
R cuCtxPushCurrent_v2(void *c) {
  if ((c != context && c != green) || depth == 8) return 201;
  fake_switched++;
  below[depth++] = fake_current;
  fake_current = c;
  return 0;
}
R cuCtxPopCurrent_v2(void **c) {
  if (depth == 0) return 201;
  fake_switched++;
  *c = fake_current;
  fake_current = below[--depth];
  return 0;
}
/* Makes a context current on this thread, as another library would. */
void fake_enter(void *c) { fake_current = c; }
/* What is in a stream needs the stream's context. */
static R current(void) { return fake_current == context ? 0 : fake_current == NULL ? 201 : 400; }
R cuCtxSetCurrent(void *c) { if (c != NULL && c != context) return 201; fake_switched++; fake_current = c; return 0; }
R cuCtxGetDevice(int *d) { *d = 0; return 0; }
R cuCtxGetCurrent(void **c) { *c = fake_current; return 0; }
R cuCtxGetLimit(size_t *v, int l) { (void)l; *v = fake_stack; return 0; }
R cuCtxSetLimit(int l, size_t v) { (void)l; fake_stack = v; return 0; }
R cuMemGetInfo_v2(size_t *f, size_t *t) { *f = *t = (size_t)1 << 30; return 0; }
/* The latest blocks of the device. */
enum { BLOCKS = 64 };
static struct range {
  P start;
  size_t bytes;
} on_device[BLOCKS];
static size_t device_blocks;
static int is_on_device(P p) {
  for (size_t i = 0; i < BLOCKS; i++)
    if (p - on_device[i].start < on_device[i].bytes) return 1;
  return 0;
}
static R allocate(void **p, size_t bytes, int pinned) {
  *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (*p == NULL) return 2;
  memset(*p, 0, bytes);
  reach(*p, bytes, pinned);
  return 0;
}
WEAK R cuMemAlloc_v2(P *p, size_t bytes) {
  void *m;
  R r = allocate(&m, bytes, 0);
  *p = (P)(uintptr_t)m;
  if (r == 0) on_device[device_blocks++ % BLOCKS] = (struct range){*p, bytes};
  return r;
}
WEAK R cuMemFree_v2(P p) { release((void *)(uintptr_t)p); return 0; }
WEAK R cuMemHostAlloc(void **p, size_t bytes, unsigned f) { (void)f; return may_pin(bytes) ? allocate(p, bytes, 1) : 2; }
WEAK R cuMemFreeHost(void *p) { release(p); return 0; }
R cuMemHostGetDevicePointer_v2(P *p, void *h, unsigned f) { (void)f; *p = (P)(uintptr_t)h; return 0; }
/* A fill of rows, each of `columns` times a value of `size` bytes, or, with `from`, a copy. */
struct work {
  P to, from;
  size_t pitch, size, columns, height;
  unsigned char value[4];
};
static struct work kept[4096];
static size_t kept_count;
static void work(const struct work *w) {
  if (w->from) memmove((void *)(uintptr_t)w->to, (void *)(uintptr_t)w->from, w->size);
  for (size_t y = 0; y < w->height; y++)
    for (size_t x = 0; x < w->columns; x++) memcpy((void *)(uintptr_t)(w->to + y * w->pitch + x * w->size), w->value, w->size);
}
static R keep(const struct work *w) {
  R r = current();
  if (r == 0 && !fake_held) work(w);
  if (r != 0 || !fake_held) return r;
  if (kept_count == sizeof kept / sizeof *kept) return 2;
  kept[kept_count++] = *w;
  return 0;
}
void fake_release(void) {
  for (size_t i = 0; i < kept_count; i++) work(&kept[i]);
  kept_count = 0;
  fake_held = 0;
}
static R copy(P to, P from, size_t n) {
  struct work w = {to, from, 0, n, 0, 0, {0}};
  if (fake_held && !(is_on_device(to) && is_on_device(from))) {
    fake_waits++;
    fake_release();
  }
  return keep(&w);
}
WEAK R cuMemcpyHtoDAsync_v2(P to, const void *from, size_t n, void *s) { (void)s; return copy(to, (P)(uintptr_t)from, n); }
WEAK R cuMemcpyDtoHAsync_v2(void *to, P from, size_t n, void *s) { (void)s; return copy((P)(uintptr_t)to, from, n); }
WEAK R cuMemcpyAsync(P to, P from, size_t n, void *s) { (void)s; return copy(to, from, n); }
static R rows(P to, size_t pitch, const void *v, size_t size, size_t columns, size_t height) {
  struct work w = {to, 0, pitch, size, columns, height, {0}};
  memcpy(w.value, v, size);
  return to % size == 0 && (height < 2 || pitch % size == 0) ? keep(&w) : 1;
}
WEAK R cuMemsetD8Async(P to, unsigned char v, size_t n, void *s) { (void)s; return rows(to, 0, &v, 1, n, 1); }
WEAK R cuMemsetD16Async(P to, uint16_t v, size_t n, void *s) { (void)s; return rows(to, 0, &v, sizeof v, n, 1); }
WEAK R cuMemsetD32Async(P to, uint32_t v, size_t n, void *s) { (void)s; return rows(to, 0, &v, sizeof v, n, 1); }
WEAK R cuMemsetD2D8Async(P to, size_t pitch, unsigned char v, size_t w, size_t h, void *s) { (void)s; return rows(to, pitch, &v, 1, w, h); }
WEAK R cuMemsetD2D32Async(P to, size_t pitch, uint32_t v, size_t w, size_t h, void *s) { (void)s; return rows(to, pitch, &v, 4, w, h); }
WEAK R cuModuleUnload(void *m) { (void)m; count(&fake_destroyed, 1); count(&fake_modules, -1); return 0; }
R cuLibraryGetModule(void **m, void *l) { *m = module; return l == (void *)(module + 1) ? 0 : 400; }
R cuFuncGetModule(void **m, void *f) { *m = module; return f == function ? 0 : 400; }
WEAK R cuModuleGetFunctionCount(unsigned *n, void *m) { *n = 1; return m == module ? 0 : 400; }
WEAK R cuModuleEnumerateFunctions(void **f, unsigned n, void *m) { (void)n; (void)m; f[0] = function; return 0; }
WEAK R cuFuncGetName(const char **name, void *f) { *name = "kernel"; return f == function ? 0 : 400; }
WEAK R cuFuncLoad(void *f) { fake_loaded++; return f == function ? 0 : 400; }
WEAK R cuModuleGetGlobal_v2(P *p, size_t *bytes, void *m, const char *name) {
  P start = (P)(uintptr_t)fake_globals;
  if (m != module) return 400;
  if (strcmp(name, "__hostcall_device") == 0) { *p = start; *bytes = 128; return 0; }
  if (strcmp(name, "__hostcall_abi") == 0) { *p = start + 128; *bytes = 4; return 0; }
  if (fake_unbounded && strcmp(name, "__HOSTCALL_STACK__kernel") == 0) { *p = start + 136; *bytes = 4; return 0; }
  if (strcmp(name, "__HOSTCALL__Typed__add42") == 0) { *p = start + 132; *bytes = 4; return 0; }
  if (strcmp(name, "__HOSTCALL_SIGNATURE__Typed__add42") == 0) { *p = (P)(uintptr_t)&fake_signature; *bytes = 8; return 0; }
  return 500;
}
WEAK R cuLaunchHostFunc(void *s, void (*f)(void *), void *d) { (void)s; f(d); return 0; }
WEAK R cuStreamCreate(void **s, unsigned f) { (void)f; *s = stream; count(&fake_streams, 1); return 0; }
WEAK R cuStreamDestroy_v2(void *s) { (void)s; count(&fake_streams, -1); return 0; }
R cuStreamGetCtx(void *s, void **c) { *c = s == fake_green_stream ? green : context; return 0; }
R cuStreamGetGreenCtx(void *s, void **g) { *g = s == fake_green_stream ? green : NULL; return 0; }
WEAK R cuEventCreate(void **e, unsigned f) { (void)f; *e = stream; return 0; }

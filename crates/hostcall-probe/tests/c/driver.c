/* What the stand-in for CUDA's driver (crates/hostcall-c/tests/c/fake_cuda.c) has besides: it takes modules, keeps what
 * it was given as files in FAKE_DIR, and has the globals that the latest PTX defines. It compiles nothing: a launch
 * writes down what the words of the module's streams say then. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int R;
typedef uint64_t P;
extern void *fake_module, *fake_function;

static int kept;
static void note(const char *what) {
  char path[4096];
  snprintf(path, sizeof path, "%s/log", getenv("FAKE_DIR"));
  FILE *f = fopen(path, "a");
  if (f == NULL) abort();
  fprintf(f, "%s\n", what);
  fclose(f);
}
static void keep(const char *function, const void *image, size_t bytes) {
  char path[4096], line[256];
  snprintf(path, sizeof path, "%s/%d", getenv("FAKE_DIR"), kept);
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(image, 1, bytes, f) != bytes) abort();
  fclose(f);
  snprintf(line, sizeof line, "%s %d", function, kept++);
  note(line);
}

/* A global of the PTX that was loaded last. */
struct global {
  char name[512];
  unsigned char *bytes;
  size_t size;
  struct global *next;
};
static struct global *globals;

static struct global *define(const char *name, size_t length, size_t size) {
  struct global *g = calloc(1, sizeof *g);
  if (g == NULL || length >= sizeof g->name) abort();
  memcpy(g->name, name, length);
  g->bytes = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
  g->size = size;
  memset(g->bytes, 0, size);
  g->next = globals;
  return globals = g;
}

/* `.global .align 4 .b8 name[8] = {1, 2};`, `.global .align 4 .u32 name = 3;`, with `.visible`, `.const` and the like. */
static void read_globals(const char *text) {
  globals = NULL;
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    const char *end = strchr(line, ';'), *brace = strchr(line, '\n');
    if (end == NULL) break;
    if (strncmp(line, ".visible .global", 16) && strncmp(line, ".visible .const", 15) && strncmp(line, ".global", 7) &&
        strncmp(line, ".weak .global", 13) && strncmp(line, ".weak .const", 12) && strncmp(line, ".const", 6))
      continue;
    if (brace != NULL && brace < end) end = brace;
    static const struct { const char *type; size_t bytes; } types[] = {{".b8 ", 1}, {".u8 ", 1}, {".b32 ", 4}, {".u32 ", 4}, {".b64 ", 8}, {".u64 ", 8}};
    const char *name = NULL;
    size_t width = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types && name == NULL; i++) {
      const char *type = strstr(line, types[i].type);
      if (type != NULL && type < end) name = type + strlen(types[i].type), width = types[i].bytes;
    }
    if (name == NULL) continue;
    size_t length = strcspn(name, "[ =;");
    size_t count = name[length] == '[' ? strtoull(name + length + 1, NULL, 10) : 1;
    struct global *g = define(name, length, count * width);
    const char *at = memchr(name, '=', (size_t)(end - name));
    for (size_t i = 0; at != NULL && i < count; i++) {
      at += strcspn(at, "0123456789-;");
      if (*at == ';') break;
      char *after;
      unsigned long long value = strtoull(at, &after, 0);
      memcpy(g->bytes + i * width, &value, width);
      at = after;
    }
  }
}

static R load(const char *function, void **module, const void *image) {
  const unsigned char *bytes = image;
  if (bytes[0] == 0x7f || *(const uint32_t *)image == 0xba55ed50) {
    size_t size = bytes[0] == 0x7f ? 64 : 16 + *(const uint64_t *)(bytes + 8);
    keep(function, image, size);
  } else {
    if (getenv("FAKE_REFUSES") && strstr(image, getenv("FAKE_REFUSES"))) { note("refused"); return 218; }
    keep(function, image, strlen(image));
    /* (hostcall loads modules of its own, which have none of these.) */
    if (strstr(image, "__hostcall_rings")) read_globals(image);
  }
  *module = fake_module;
  return 0;
}
R cuModuleLoadData(void **m, const void *image) { return load(__func__, m, image); }
R cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *o, void **v) { (void)n, (void)o, (void)v; return load(__func__, m, image); }
R cuModuleLoadFatBinary(void **m, const void *image) { return load(__func__, m, image); }
R cuModuleLoad(void **m, const char *path) { (void)m; note(path); *m = fake_module; return 0; }
R cuLibraryLoadData(void **l, const void *code, int *j, void **jv, unsigned jn, int *o, void **v, unsigned n) {
  (void)j, (void)jv, (void)jn, (void)o, (void)v, (void)n;
  R r = load(__func__, l, code);
  *l = (char *)fake_module + 1;
  return r;
}
R cuLibraryUnload(void *l) { (void)l; note(__func__); return 0; }
R cuLinkCreate_v2(unsigned n, int *o, void **v, void **state) { (void)n, (void)o, (void)v; *state = malloc(1); return 0; }
R cuLinkAddData_v2(void *s, int kind, void *data, size_t size, const char *name, unsigned n, int *o, void **v) {
  (void)s, (void)kind, (void)name, (void)n, (void)o, (void)v;
  keep(__func__, data, size);
  return 0;
}
R cuLinkDestroy(void *s) { free(s); return 0; }
R cuModuleGetGlobal_v2(P *p, size_t *bytes, void *m, const char *name) {
  if (m != fake_module) return 400;
  for (struct global *g = globals; g != NULL; g = g->next)
    if (strcmp(g->name, name) == 0) { *p = (P)(uintptr_t)g->bytes; *bytes = g->size; return 0; }
  return 500;
}
R cuCtxSynchronize(void) { return 0; }
R cuModuleGetFunction(void **f, void *m, const char *name) { (void)m; *f = strdup(name); return 0; }
R cuFuncGetName(const char **name, void *f) { *name = f == fake_function ? "kernel" : f; return 0; }
R cuKernelGetName(const char **name, void *f) { (void)name, (void)f; return 400; }
R cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned shared, void *s,
                 void **parameters, void **extra) {
  (void)gx, (void)gy, (void)gz, (void)x, (void)y, (void)z, (void)shared, (void)s, (void)parameters, (void)extra;
  char line[512];
  uint32_t word = 0;
  for (struct global *g = globals; g != NULL; g = g->next)
    if (strcmp(g->name, "__HOSTCALL_STREAM__Access") == 0) memcpy(&word, g->bytes, 4);
  snprintf(line, sizeof line, "launch %s %s", (char *)f, word ? "on" : "off");
  note(line);
  return 0;
}

static R find(const char *name, void **f, int version) {
  char exact[256];
  const char *form[] = {"%s", "%s_v2", "%s_v3"};
  /* The latest form of a function, as the driver gives it for the latest version of CUDA. */
  for (int i = strcmp(name, "cuGetProcAddress") == 0 && version < 12000 ? 0 : 2; i >= 0; i--) {
    snprintf(exact, sizeof exact, form[i], name);
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if ((*f = dlsym(self, exact)) != NULL) return 0;
  }
  return 500;
}
R cuGetProcAddress(const char *name, void **f, int version, uint64_t flags) { (void)flags; return find(name, f, version); }
R cuGetProcAddress_v2(const char *name, void **f, int version, uint64_t flags, int *status) {
  (void)flags;
  if (status) *status = 0;
  return find(name, f, version);
}
/* Each kernel of what was loaded last has as many registers as FAKE_REGISTERS says. */
R cuFuncGetAttribute(int *v, int a, void *f) { (void)a, (void)f; *v = atoi(getenv("FAKE_REGISTERS")); return 0; }
R cuLibraryGetKernel(void **k, void *l, const char *name) { (void)l; *k = strdup(name); return 0; }
R cuKernelGetAttribute(int *v, int a, void *k, int d) { (void)d; return cuFuncGetAttribute(v, a, k); }

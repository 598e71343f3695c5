/* A program that knows nothing of hostcall: it loads the images that it is given, by functions that it finds as its
 * first argument says, and launches `k` three times.
 *   program linked|dlsym|proc11|proc12 FUNCTION IMAGE... */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int R;
R cuInit(unsigned);
R cuDevicePrimaryCtxRetain(void **, int);
R cuCtxSetCurrent(void *);
R cuModuleLoadData(void **, const void *);
R cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
R cuModuleLoadFatBinary(void **, const void *);
R cuModuleLoad(void **, const char *);
R cuModuleUnload(void *);
R cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
R cuLibraryUnload(void *);
R cuLinkCreate_v2(unsigned, int *, void **, void **);
R cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
R cuLinkDestroy(void *);
R cuModuleGetFunction(void **, void *, const char *);
R cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
R cuGetProcAddress(const char *, void **, int, uint64_t);

static void check(const char *what, R r) {
  if (r != 0) {
    fprintf(stderr, "%s: %d\n", what, r);
    exit(3);
  }
}

static const char *how;
static void *library;
static void *find(const char *name, const char *known) {
  void *f = NULL;
  if (strncmp(how, "proc", 4) == 0) {
    int version = atoi(how + 4) * 1000;
    void *get = dlsym(library, "cuGetProcAddress");
    check("cuGetProcAddress", ((R (*)(const char *, void **, int, uint64_t))get)("cuGetProcAddress", &get, version, 0));
    check(known, version < 12000 ? ((R (*)(const char *, void **, int, uint64_t))get)(known, &f, version, 0)
                                 : ((R (*)(const char *, void **, int, uint64_t, int *))get)(known, &f, version, 0, NULL));
  } else {
    f = dlsym(library, name);
  }
  if (f == NULL) exit(4);
  return f;
}
/* `linked`: the loader's own; else found. */
#define CALL(name, known) (strcmp(how, "linked") == 0 ? &name : (__typeof__(&name))find(#name, known))

static void *read_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  char *all = calloc(1, 1 << 20);
  if (f == NULL || all == NULL) exit(5);
  *bytes = fread(all, 1, (1 << 20) - 1, f);
  fclose(f);
  return all;
}

int main(int count, char **words) {
  void *context, *module = NULL, *kernel;
  if (count < 4) return 2;
  how = words[1];
  const char *by = words[2];
  library = dlopen("libcuda.so.1", RTLD_LAZY);
  check("cuInit", cuInit(0));
  check("context", cuDevicePrimaryCtxRetain(&context, 0));
  check("current", cuCtxSetCurrent(context));
  for (int i = 3; i < count; i++) {
    size_t bytes;
    void *image = read_file(words[i], &bytes);
    if (strcmp(by, "data") == 0) check(by, CALL(cuModuleLoadData, "cuModuleLoadData")(&module, image));
    if (strcmp(by, "ex") == 0) check(by, CALL(cuModuleLoadDataEx, "cuModuleLoadDataEx")(&module, image, 0, NULL, NULL));
    if (strcmp(by, "fat") == 0) {
      struct { uint32_t magic, version; void *fatbin, *file; } wrapper = {0x466243b1, 1, image, NULL};
      check(by, CALL(cuModuleLoadFatBinary, "cuModuleLoadFatBinary")(&module, &wrapper));
    }
    if (strcmp(by, "file") == 0) check(by, CALL(cuModuleLoad, "cuModuleLoad")(&module, words[i]));
    if (strcmp(by, "library") == 0) {
      check(by, CALL(cuLibraryLoadData, "cuLibraryLoadData")(&module, image, NULL, NULL, 0, NULL, NULL, 0));
      check(by, CALL(cuLibraryUnload, "cuLibraryUnload")(module));
    }
    if (strcmp(by, "link") == 0) {
      static void *state;
      if (state == NULL) check(by, cuLinkCreate_v2(0, NULL, NULL, &state));
      check(by, CALL(cuLinkAddData_v2, "cuLinkAddData")(state, 1, image, bytes + 1, words[i], 0, NULL, NULL));
    }
  }
  if (strcmp(by, "library") != 0 && strcmp(by, "link") != 0) {
    check("cuModuleGetFunction", cuModuleGetFunction(&kernel, module, "k"));
    for (int i = 0; i < 3; i++) check("launch", CALL(cuLaunchKernel, "cuLaunchKernel")(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    check("unload", CALL(cuModuleUnload, "cuModuleUnload")(module));
  }
  if (getenv("PROGRAM_FORKS")) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) exit(0);
    if (waitpid(child, &status, 0) != child || status != 0) return 6;
  }
  puts("the program has ended");
  return 7;
}

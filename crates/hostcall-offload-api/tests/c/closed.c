/* A program closes the library that it has not shut down, and opens it again. Usage: closed LIBRARY */
#include <OffloadAPI.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

/* A function's address is a pointer: POSIX. */
#define FIND(name)                         \
  union {                                  \
    void *address;                         \
    __typeof__(&name) function;            \
  } name##_;                               \
  name##_.address = dlsym(library, #name); \
  if (name##_.address == NULL) return 2

static bool count(ol_device_handle_t device, void *user) {
  (void)device;
  ++*(int *)user;
  return true;
}

static int use(const char *path) {
  int devices = 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 1;
  FIND(olInit);
  FIND(olIterateDevices);
  if (olInit_.function(NULL) != OL_SUCCESS) return 3;
  if (olIterateDevices_.function(count, &devices) != OL_SUCCESS || devices == 0) return 4;
  return dlclose(library) == 0 ? 0 : 5;
}

int main(int argc, char **argv) {
  int i, code;
  if (argc != 2) return 6;
  for (i = 0; i < 2; i++) {
    code = use(argv[1]);
    if (code != 0) return code;
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL) return 7;
  }
  puts("passed");
  return 0;
}

/* A program closes the library while a consumer's thread runs in it. Usage: closed LIBRARY */
#include "amd_hostcall.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* A function's address is a pointer: POSIX. */
#define FIND(name)                        \
  union {                                 \
    void *address;                        \
    __typeof__(&name) function;           \
  } name##_;                              \
  name##_.address = dlsym(library, #name); \
  if (name##_.address == NULL) return 2

int main(int argc, char **argv) {
  amd_hostcall_consumer_t *consumer;
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return 1;
  FIND(amd_hostcall_create_consumer);
  FIND(amd_hostcall_launch_consumer);
  if (amd_hostcall_create_consumer_.function(&consumer) != 0) return 3;
  if (amd_hostcall_launch_consumer_.function(consumer) != 0) return 4;
  if (dlclose(library) != 0) return 5;
  /* The thread goes on, in code that is still there. */
  usleep(50 * 1000);
  if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL) return 6;
  puts("passed");
  return 0;
}

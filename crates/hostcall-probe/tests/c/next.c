/* Another library that is preloaded, behind ours: its `puts` asks for the next one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int puts(const char *text) {
  int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
  if (next == puts) return -1;
  next("through the next library");
  return next(text);
}

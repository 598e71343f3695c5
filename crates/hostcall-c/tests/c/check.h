/* What the programs of the tests share: checks that say where, and the kernels. */
#ifndef CHECK_H
#define CHECK_H

#include <hostcall.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHECK_WITHOUT_LIBRARY

#define CHECK(condition)                                                                                    \
  do {                                                                                                      \
    if (!(condition)) {                                                                                     \
      printf("%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition, hc_last_error());      \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

#define MUST(call) must((call), __FILE__, __LINE__, #call)

static inline void must(hc_status status, const char *file, int line, const char *call) {
  if (status != HC_OK) {
    printf("%s:%d: %s: %s: %s\n", file, line, call, hc_status_string(status), hc_last_error());
    exit(1);
  }
}

/* A file's bytes. */
static inline void *file_of(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  void *bytes;
  long size;
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  size = ftell(file);
  CHECK(size > 0 && fseek(file, 0, SEEK_SET) == 0);
  bytes = malloc((size_t)size);
  CHECK(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  *count = (size_t)size;
  return bytes;
}

#endif

/* The device of the tests, as hc_device_open takes it. */
static inline const char *which(void) {
  const char *chosen = getenv("HOSTCALL_TEST_DEVICE");
  return chosen != NULL ? chosen : "sim";
}

static inline hc_shape shape_of(uint32_t groups, uint32_t group_size) {
  hc_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.size = sizeof shape;
  shape.groups[0] = groups;
  shape.group_size[0] = group_size;
  return shape;
}

/* What a kernel has for each lane's result: the call's status above, its detail below. */
#define RESULT(status, detail) ((uint64_t)(status) << 32 | (detail))
enum { UNKNOWN_SERVICE = 1, HANDLER_FAILED = 3, SERVER_GONE = 6, REFUSED = 2, MALFORMED = 8 };

#endif

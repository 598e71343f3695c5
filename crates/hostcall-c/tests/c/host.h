/* What the parts of the suite begin with: a device, a server, the kernels, memory. */
#ifndef HOST_H
#define HOST_H

#include "check.h"
#include "definitions.h"

#include <pthread.h>
#include <time.h>

enum { LANES = 64 };

static const void *image;
static size_t image_size;

/* What each part begins with. */
struct host {
  hc_device *device;
  hc_server *server;
  hc_program *program;
  hc_attachment *attachment;
  hc_memory *memory;
};

static inline void begin(struct host *host, const hc_server_options *options, const hc_grant *grants, size_t grant_count) {
  memset(host, 0, sizeof *host);
  MUST(hc_device_open(which(), &host->device));
  MUST(hc_server_start(host->device, options, grants, grant_count, &host->server));
  MUST(hc_program_load(host->device, image, image_size, &host->program));
  MUST(hc_memory_alloc(host->device, 1 << 20, &host->memory));
}

static inline void attach(struct host *host) {
  MUST(hc_attach_program(host->server, host->program, &host->attachment));
}

static inline void end(struct host *host) {
  hc_detach(&host->attachment);
  CHECK(host->attachment == NULL);
  if (host->server != NULL) MUST(hc_server_stop(&host->server));
  CHECK(host->server == NULL);
  hc_program_unload(&host->program);
  hc_memory_free(&host->memory);
  hc_device_destroy(&host->device);
  CHECK(host->device == NULL && host->program == NULL && host->memory == NULL);
}

/* Launches a kernel whose last parameter is the memory as a slice of `count` elements. */
static inline void launch(struct host *host, const char *kernel, const void *first, size_t first_size, uint64_t count) {
  hc_argument arguments[3];
  size_t n = 0;
  uint64_t address;
  hc_shape shape = shape_of(LANES / 32, 32);
  MUST(hc_memory_address(host->memory, &address));
  if (first != NULL) {
    arguments[n].bytes = first;
    arguments[n++].count = first_size;
  }
  if (count != 0) {
    arguments[n].bytes = &address;
    arguments[n++].count = sizeof address;
    arguments[n].bytes = &count;
    arguments[n++].count = sizeof count;
  }
  MUST(hc_launch(host->program, kernel, &shape, arguments, n, NULL));
}

static inline void write_floats(struct host *host) {
  float y[LANES];
  int i;
  for (i = 0; i < LANES; i++) y[i] = (float)i;
  MUST(hc_memory_write(host->memory, 0, y, sizeof y));
}

static inline void check_floats(struct host *host) {
  float y[LANES];
  int i;
  MUST(hc_memory_read(host->memory, 0, y, sizeof y));
  for (i = 0; i < LANES; i++) CHECK(y[i] == (float)i + 42);
}

static inline void read_results(struct host *host, uint64_t *results) {
  MUST(hc_memory_read(host->memory, 0, results, LANES * sizeof *results));
}

/* A returned text; to be freed. */
static inline char *text_of(hc_status (*ask)(hc_server *, char *, size_t *), hc_server *server) {
  size_t bytes = 0, again;
  char *text;
  MUST(ask(server, NULL, &bytes));
  CHECK(bytes > 0);
  text = malloc(bytes);
  again = bytes - 1;
  CHECK(ask(server, text, &again) == HC_TOO_SMALL && again == bytes);
  MUST(ask(server, text, &again));
  CHECK(strlen(text) + 1 == bytes);
  return text;
}

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static inline void count(int *number, int by) {
  pthread_mutex_lock(&counting);
  *number += by;
  pthread_mutex_unlock(&counting);
}

static inline int counted(const int *number) {
  int value;
  pthread_mutex_lock(&counting);
  value = *number;
  pthread_mutex_unlock(&counting);
  return value;
}

static inline void drop(void *user) {
  count(user, 1);
}

/* Typed::add42. */
static inline void add42(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  CHECK(lanes->size >= sizeof(hc_lanes) && lanes->count > 0 && lanes->count <= 64 && !lanes->posted && lanes->mask != 0);
  CHECK(lanes->argument_units == 1 && lanes->result_units == 1);
  for (i = 0; i < lanes->count; i++) {
    float x;
    memcpy(&x, lanes->arguments + i * lanes->argument_stride, sizeof x);
    CHECK(lanes->results[i * lanes->result_stride] == 0);
    x += 42;
    memcpy(lanes->results + i * lanes->result_stride, &x, sizeof x);
  }
  CHECK(hc_complete(call) == HC_INVALID);
}

/* A deferred call. */
struct kept {
  const hc_lanes *lanes;
  hc_call *call;
};

struct part {
  const char *name;
  void (*run)(void);
};

/* Runs all parts, twice, in this process. */
static inline int run_parts(int argc, char **argv, const struct part *parts, size_t count_of_parts) {
  size_t i, times;
  CHECK(argc == 2 && hc_api_version() == HC_API_VERSION && strcmp(hc_version(), "0.1.0") == 0);
  image = file_of(argv[1], &image_size);
  for (times = 0; times < 2; times++) {
    for (i = 0; i < count_of_parts; i++) {
      parts[i].run();
      printf("ok %s\n", parts[i].name);
      fflush(stdout);
    }
  }
  free((void *)(uintptr_t)image);
  return 0;
}

#endif

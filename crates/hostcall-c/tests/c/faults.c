/* Everything that a program can do wrong without lying about pointers. Usage: faults KERNELS. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "definitions.h"

#include <pthread.h>

/* Sizes start servers, which takes longer. */
enum { ROUNDS = 20, ROUNDS_OF_SIZES = 5 };

static const char *path;
static void *image;
static size_t image_size;

static void handler(void *user, const hc_lanes *lanes, hc_call *call) {
  (void)user;
  (void)lanes;
  (void)call;
}

static void drop(void *user) {
  __atomic_fetch_add((int *)user, 1, __ATOMIC_SEQ_CST);
}

static uint64_t nowhere(void *user, const char *symbol) {
  (void)user;
  (void)symbol;
  return 0;
}

static uint64_t zero_drops(void *user, const char *symbol) {
  return nowhere(user, symbol);
}

#define INVALID(call) CHECK((call) == HC_INVALID && hc_last_error()[0] != 0)

/* With nulls in each place; handles that were ended are nulls. */
static void nulls(hc_device *device, hc_server *server, hc_program *program, hc_memory *memory) {
  char text[1];
  size_t bytes = 0, count;
  uint64_t address;
  uint32_t number;
  hc_callee callee = {1, 1};
  const void *in;
  void *out;
  int drops = 0;
  hc_shape shape = shape_of(1, 1);
  hc_argument argument = {NULL, 4};
  hc_device *no_device = NULL, *new_device;
  hc_server *no_server = NULL, *new_server;
  hc_service *no_service = NULL, *service;
  hc_attachment *no_attachment = NULL, *attachment;
  hc_program *no_program = NULL, *new_program;
  hc_memory *no_memory = NULL, *new_memory;

  CHECK(strcmp(hc_status_string(HC_INVALID), "HC_INVALID") == 0 && strcmp(hc_status_string(-5), "unknown status") == 0);
  INVALID(hc_device_open(NULL, &new_device));
  CHECK(new_device == NULL);
  INVALID(hc_device_open("sim", NULL));
  INVALID(hc_device_open("toaster", &new_device));
  INVALID(hc_device_from_cuda_context(NULL, NULL));
  INVALID(hc_device_describe(NULL, text, &bytes));
  INVALID(hc_device_describe(device, text, NULL));
  hc_device_destroy(NULL);
  hc_device_destroy(&no_device);

  INVALID(hc_server_start(NULL, NULL, NULL, 0, &new_server));
  INVALID(hc_server_start(device, NULL, NULL, 0, NULL));
  INVALID(hc_server_start(device, NULL, NULL, 1, &new_server));
  CHECK(new_server == NULL);
  MUST(hc_server_stop(NULL));
  MUST(hc_server_stop(&no_server));

  INVALID(hc_register(NULL, &Typed__add42_definition, HC_INLINE, handler, &drops, drop, &service));
  INVALID(hc_register(server, NULL, HC_INLINE, handler, &drops, drop, &service));
  INVALID(hc_register(server, &Typed__add42_definition, HC_INLINE, NULL, &drops, drop, &service));
  INVALID(hc_register(server, &Typed__add42_definition, 0, handler, &drops, drop, &service));
  INVALID(hc_register(server, &Typed__add42_definition, 4, handler, &drops, drop, NULL));
  CHECK(service == NULL && drops == 5);
  hc_unregister(NULL);
  hc_unregister(&no_service);
  INVALID(hc_service_number(NULL, &number));
  INVALID(hc_service_callee(NULL, &callee));
  CHECK(callee.number == 0 && callee.check == 0);
  INVALID(hc_number(NULL, "a", &number));
  INVALID(hc_number(server, NULL, &number));
  INVALID(hc_number(server, "a", NULL));
  CHECK(hc_number(server, "Nobody::home", &number) == HC_NOT_FOUND);
  INVALID(hc_bytes_in(NULL, 0, 0, &in, &count));
  INVALID(hc_bytes_out(NULL, 0, 0, &out, &count));
  CHECK(in == NULL && out == NULL && count == 0);
  INVALID(hc_bytes_returned(NULL, 0, 0, 0));
  INVALID(hc_fail(NULL, 0, 0, NULL));
  INVALID(hc_refuse(NULL, 0, 0));
  INVALID(hc_malformed(NULL, 0));
  INVALID(hc_complete(NULL));

  INVALID(hc_attach_cuda_module(NULL, &drops, "a", &attachment));
  INVALID(hc_attach_cuda_module(server, NULL, "a", &attachment));
  INVALID(hc_attach_cuda_module(server, &drops, NULL, &attachment));
  INVALID(hc_attach_cuda_module(server, &drops, "a", NULL));
  INVALID(hc_attach_cuda_library(server, NULL, "a", &attachment));
  INVALID(hc_attach_cuda_function(server, NULL, "a", &attachment));
  /* The simulator has none of these. */
  INVALID(hc_attach_cuda_module(server, &drops, "a", &attachment));
  INVALID(hc_attach_cuda_library(server, &drops, "a", &attachment));
  INVALID(hc_attach_cuda_function(server, &drops, "a", &attachment));
  drops = 0;
  INVALID(hc_attach_symbols(NULL, "a", nowhere, &drops, drop, &attachment));
  INVALID(hc_attach_symbols(server, NULL, nowhere, &drops, drop, &attachment));
  INVALID(hc_attach_symbols(server, "a", NULL, &drops, drop, &attachment));
  INVALID(hc_attach_symbols(server, "a", nowhere, &drops, drop, NULL));
  CHECK(hc_attach_symbols(server, "a", zero_drops, &drops, drop, &attachment) == HC_MISMATCH && drops == 5);
  INVALID(hc_attach_program(NULL, program, &attachment));
  INVALID(hc_attach_program(server, NULL, &attachment));
  INVALID(hc_attach_program(server, program, NULL));
  INVALID(hc_descriptor(NULL, NULL, &address, NULL, &attachment));
  INVALID(hc_descriptor(server, NULL, &address, NULL, NULL));
  CHECK(attachment == NULL);
  hc_detach(NULL);
  hc_detach(&no_attachment);

  INVALID(hc_launch_begin(NULL));
  INVALID(hc_launch_end(NULL));
  INVALID(hc_wait(NULL, NULL));
  INVALID(hc_wait(server, &drops));
  INVALID(hc_wait_timeout(NULL, NULL, 1));
  INVALID(hc_report(NULL, text, &bytes));
  INVALID(hc_report(server, text, NULL));
  INVALID(hc_report_json(NULL, text, &bytes));
  INVALID(hc_stats(NULL, text, &bytes));
  bytes = 1;
  CHECK(hc_stats(server, text, &bytes) == HC_TOO_SMALL && bytes > 1);

  INVALID(hc_program_load(NULL, image, image_size, &new_program));
  INVALID(hc_program_load(device, NULL, image_size, &new_program));
  INVALID(hc_program_load(device, image, image_size, NULL));
  INVALID(hc_program_load(device, image, image_size - 1, &new_program));
  INVALID(hc_program_load(device, "not an image", 12, &new_program));
  INVALID(hc_program_load(device, "", 0, &new_program));
  hc_program_unload(NULL);
  hc_program_unload(&no_program);
  INVALID(hc_launch(NULL, "add42", &shape, NULL, 0, NULL));
  INVALID(hc_launch(program, NULL, &shape, NULL, 0, NULL));
  INVALID(hc_launch(program, "add42", NULL, NULL, 0, NULL));
  INVALID(hc_launch(program, "add42", &shape, NULL, 1, NULL));
  INVALID(hc_launch(program, "add42", &shape, &argument, 1, NULL));
  INVALID(hc_launch(program, "add42", &shape, NULL, 0, NULL));
  CHECK(hc_launch(program, "no such kernel", &shape, NULL, 0, NULL) == HC_NOT_FOUND);

  INVALID(hc_memory_alloc(NULL, 1, &new_memory));
  INVALID(hc_memory_alloc(device, 1, NULL));
  CHECK(hc_memory_alloc(device, SIZE_MAX / 4, &new_memory) == HC_NO_MEMORY && new_memory == NULL);
  INVALID(hc_memory_address(NULL, &address));
  INVALID(hc_memory_address(memory, NULL));
  INVALID(hc_memory_write(NULL, 0, text, 1));
  INVALID(hc_memory_write(memory, 0, NULL, 1));
  INVALID(hc_memory_write(memory, 16, text, 1));
  INVALID(hc_memory_write(memory, SIZE_MAX, text, 1));
  INVALID(hc_memory_read(NULL, 0, text, 1));
  INVALID(hc_memory_read(memory, 0, NULL, 1));
  INVALID(hc_memory_read(memory, 16, text, 1));
  hc_memory_free(NULL);
  hc_memory_free(&no_memory);
}

/* Structures that say another size. */
static void sizes(hc_device *device, hc_server *server, hc_program *program) {
  hc_server_options options;
  hc_grant grants[2];
  hc_definition definition = Typed__add42_definition;
  hc_shape shape = shape_of(1, 1);
  hc_server *other = NULL;
  int drops = 0;
  size_t size;
  memset(&options, 0xff, sizeof options);
  for (size = 0; size < sizeof(size_t); size++) {
    options.size = definition.size = shape.size = size;
    INVALID(hc_server_start(device, &options, NULL, 0, &other));
    INVALID(hc_register(server, &definition, HC_INLINE, handler, &drops, drop, NULL));
    INVALID(hc_launch(program, "add42", &shape, NULL, 0, NULL));
  }
  CHECK(drops == 8);
  /* An older header knew less: the rest are the defaults. */
  options.size = sizeof(size_t);
  MUST(hc_server_start(device, &options, NULL, 0, &other));
  MUST(hc_server_stop(&other));
  definition.size = sizeof(size_t);
  INVALID(hc_register(server, &definition, HC_INLINE, handler, NULL, NULL, NULL));
  shape.size = sizeof(size_t);
  INVALID(hc_launch(program, "add42", &shape, NULL, 0, NULL));
  CHECK(strstr(hc_last_error(), "attached to no server") != NULL);
  /* A newer one knows more. */
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  {
    struct {
      hc_server_options known;
      uint64_t more[4];
    } newer;
    memset(&newer, 0xff, sizeof newer);
    newer.known = options;
    newer.known.size = sizeof newer;
    MUST(hc_server_start(device, &newer.known, NULL, 0, &other));
    MUST(hc_server_stop(&other));
  }
  memset(grants, 0, sizeof grants);
  grants[0].size = sizeof *grants, grants[0].kind = HC_GRANT_ARGUMENT, grants[0].text = "a";
  INVALID(hc_server_start(device, NULL, grants, 2, &other));
  grants[1] = grants[0];
  grants[1].size = 24;
  INVALID(hc_server_start(device, NULL, grants, 2, &other));
  options.staging_slots = 1;
  INVALID(hc_server_start(device, &options, NULL, 0, &other));
  options.staging_slot_bytes = 1;
  INVALID(hc_server_start(device, &options, NULL, 0, &other));
  options.staging_slots = options.staging_slot_bytes = 0;
  options.heap_bytes = UINT64_MAX;
  INVALID(hc_server_start(device, &options, NULL, 0, &other));
  CHECK(other == NULL);
}

/* CUDA's own, where there is no CUDA. */
static void without_cuda(void) {
  hc_device *device = NULL;
  hc_status status = hc_device_open("cuda:0", &device);
  CHECK((status == HC_OK) == (device != NULL));
  if (status == HC_OK) {
    hc_device_destroy(&device);
    return;
  }
  CHECK(status == HC_UNAVAILABLE && hc_last_error()[0] != 0);
  CHECK(hc_device_from_cuda_context(NULL, &device) == HC_UNAVAILABLE && device == NULL);
}

static hc_device *device;
static hc_server *server;
static hc_program *program;
static hc_memory *memory;

/* All of it, while seven others do the same with the same handles. */
static void *everything(void *index) {
  int i;
  for (i = 0; i < ROUNDS; i++) {
    hc_definition definition = HC_DEFINITION("Of__this", "fn(u32) -> u32");
    char name[32], text[64];
    size_t bytes;
    hc_service *service;
    hc_attachment *attachment;
    int drops = 0;
    uint32_t number, again;
    hc_callee callee;
    nulls(device, server, program, memory);
    if (i < ROUNDS_OF_SIZES) sizes(device, server, program);
    sprintf(name, "Of__thread%d", *(int *)index);
    definition.name = name;
    MUST(hc_register(server, &definition, HC_BLOCKING, handler, &drops, drop, &service));
    CHECK(hc_register(server, &definition, HC_BLOCKING, handler, &drops, drop, NULL) == HC_TAKEN);
    MUST(hc_service_number(service, &number));
    MUST(hc_number(server, name, &again));
    MUST(hc_service_callee(service, &callee));
    CHECK(number == again && callee.number == number);
    INVALID(hc_service_callee(service, NULL));
    hc_unregister(&service);
    MUST(hc_descriptor(server, NULL, NULL, NULL, &attachment));
    hc_detach(&attachment);
    MUST(hc_launch_begin(server));
    MUST(hc_wait(server, NULL));
    MUST(hc_launch_end(server));
    bytes = sizeof text;
    MUST(hc_report(server, text, &bytes));
    CHECK(bytes == 1 && text[0] == 0);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[8];
  int indices[8];
  hc_server_options options;
  size_t i;
  CHECK(argc == 2);
  setvbuf(stdout, NULL, _IOLBF, 0);
  path = argv[1];
  image = file_of(path, &image_size);
  MUST(hc_device_open("sim", &device));
  /* Small buffers, because many are made. */
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.ports = 8;
  options.staging_slots = 1;
  options.staging_slot_bytes = 4096;
  MUST(hc_server_start(device, &options, NULL, 0, &server));
  MUST(hc_program_load(device, image, image_size, &program));
  MUST(hc_memory_alloc(device, 16, &memory));
  nulls(device, server, program, memory);
  puts("ok nulls");
  sizes(device, server, program);
  puts("ok sizes");
  without_cuda();
  puts("ok without cuda");
  for (i = 0; i < 8; i++) {
    indices[i] = (int)i;
    CHECK(pthread_create(&threads[i], NULL, everything, &indices[i]) == 0);
  }
  for (i = 0; i < 8; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  puts("ok threads");
  hc_memory_free(&memory);
  hc_program_unload(&program);
  MUST(hc_server_stop(&server));
  hc_device_destroy(&device);
  free(image);
  return 0;
}

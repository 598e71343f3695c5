/* The library is opened by this program, used, closed, and opened again. Usage: opened LIBRARY KERNELS. */
#define _GNU_SOURCE
#include "check.h"
#include "definitions.h"

#include <dlfcn.h>

/* Instead of being linked: the functions by their names and version. (A function's address is a pointer: POSIX.) */
#define FIND(name)                                        \
  union {                                                 \
    void *address;                                        \
    __typeof__(&name) function;                           \
  } name##_;                                              \
  name##_.address = dlvsym(library, #name, "HOSTCALL_1"); \
  if (name##_.address == NULL) return 1

static void add42(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  (void)call;
  for (i = 0; i < lanes->count; i++) {
    float x;
    memcpy(&x, lanes->arguments + i * lanes->argument_stride, sizeof x);
    x += 42;
    memcpy(lanes->results + i * lanes->result_stride, &x, sizeof x);
  }
}

#define DO(call)                                          \
  if ((call) != HC_OK) {                                  \
    printf("%s: %s\n", #call, hc_last_error_.function()); \
    return 2;                                             \
  }

static int use(const char *path, const void *image, size_t image_size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  hc_device *device;
  hc_server *server;
  hc_program *program;
  hc_memory *memory;
  hc_attachment *attachment;
  uint64_t address, count = 8;
  hc_argument arguments[2];
  hc_shape shape = shape_of(1, 8);
  float y[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int i;
  if (library == NULL) return 3;
  FIND(hc_last_error);
  FIND(hc_device_open);
  FIND(hc_server_start);
  FIND(hc_program_load);
  FIND(hc_memory_alloc);
  FIND(hc_memory_address);
  FIND(hc_memory_write);
  FIND(hc_memory_read);
  FIND(hc_register);
  FIND(hc_attach_program);
  FIND(hc_launch);
  FIND(hc_wait);
  FIND(hc_detach);
  FIND(hc_server_stop);
  FIND(hc_program_unload);
  FIND(hc_memory_free);
  FIND(hc_device_destroy);
  DO(hc_device_open_.function(which(), &device));
  DO(hc_server_start_.function(device, NULL, NULL, 0, &server));
  DO(hc_register_.function(server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL));
  DO(hc_program_load_.function(device, image, image_size, &program));
  DO(hc_attach_program_.function(server, program, &attachment));
  DO(hc_memory_alloc_.function(device, sizeof y, &memory));
  DO(hc_memory_address_.function(memory, &address));
  DO(hc_memory_write_.function(memory, 0, y, sizeof y));
  arguments[0].bytes = &address, arguments[0].count = sizeof address;
  arguments[1].bytes = &count, arguments[1].count = sizeof count;
  DO(hc_launch_.function(program, "add42", &shape, arguments, 2, NULL));
  DO(hc_wait_.function(server, NULL));
  DO(hc_memory_read_.function(memory, 0, y, sizeof y));
  for (i = 0; i < 8; i++)
    if (y[i] != (float)i + 42) return 4;
  hc_detach_.function(&attachment);
  DO(hc_server_stop_.function(&server));
  hc_program_unload_.function(&program);
  hc_memory_free_.function(&memory);
  hc_device_destroy_.function(&device);
  return dlclose(library) == 0 ? 0 : 5;
}

int main(int argc, char **argv) {
  size_t image_size;
  void *image;
  int times;
  if (argc != 3) return 6;
  {
    FILE *file = fopen(argv[2], "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) return 7;
    image_size = (size_t)ftell(file);
    rewind(file);
    image = malloc(image_size);
    if (image == NULL || fread(image, 1, image_size, file) != image_size) return 8;
    fclose(file);
  }
  for (times = 0; times < 3; times++) {
    int code = use(argv[1], image, image_size);
    if (code != 0) {
      printf("failed: %d\n", code);
      return code;
    }
    printf("ok %d\n", times);
  }
  free(image);
  return 0;
}

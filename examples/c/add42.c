/* A host in C: a kernel asks it to add 42 to each element, on the simulator, so no GPU is needed. Usage: add42 KERNEL,
 * with the kernel of ../cuda/add42.cu as a compiler leaves it, or that of ../add42/kernel as hostcall-build does. */
#include <hostcall.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(hc_status status, const char *what) {
  if (status != HC_OK) {
    fprintf(stderr, "%s: %s: %s\n", what, hc_status_string(status), hc_last_error());
    exit(1);
  }
}

/* Host::add42: all lanes of a wave that call together are answered together. */
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

/* Host::log: posted, so there are no results. */
static void log_text(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  for (i = 0; i < lanes->count; i++) {
    const void *text;
    size_t bytes;
    if (hc_bytes_in(call, i, 0, &text, &bytes) == HC_OK) printf("the kernel says: %.*s\n", (int)bytes, (const char *)text);
  }
}

int main(int argc, char **argv) {
  const hc_definition add42_definition = HC_DEFINITION("Host__add42", "fn(f32) -> f32");
  const hc_definition log_definition = HC_DEFINITION("Host__log", "fn(&str)");
  float y[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  static char image[64 << 20];
  size_t image_bytes;
  FILE *file;
  hc_device *device;
  hc_server *server;
  hc_program *program;
  hc_attachment *attachment;
  hc_memory *memory;
  uint64_t address, count = 8;
  hc_argument arguments[2];
  hc_shape shape = {sizeof shape, {1, 1, 1}, {8, 1, 1}, 0};
  int i;

  file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) {
    fprintf(stderr, "usage: add42 KERNEL\n");
    return 2;
  }
  image_bytes = fread(image, 1, sizeof image, file);
  fclose(file);

  must(hc_device_open("sim", &device), "hc_device_open");
  must(hc_server_start(device, NULL, NULL, 0, &server), "hc_server_start");
  must(hc_register(server, &add42_definition, HC_INLINE, add42, NULL, NULL, NULL), "hc_register");
  must(hc_register(server, &log_definition, HC_BLOCKING, log_text, NULL, NULL, NULL), "hc_register");

  must(hc_program_load(device, image, image_bytes, &program), "hc_program_load");
  must(hc_attach_program(server, program, &attachment), "hc_attach_program");

  must(hc_memory_alloc(device, sizeof y, &memory), "hc_memory_alloc");
  must(hc_memory_write(memory, 0, y, sizeof y), "hc_memory_write");
  must(hc_memory_address(memory, &address), "hc_memory_address");
  /* A slice of Rust is two parameters: address and length. */
  arguments[0].bytes = &address;
  arguments[0].count = sizeof address;
  arguments[1].bytes = &count;
  arguments[1].count = sizeof count;
  must(hc_launch(program, "demo", &shape, arguments, 2, NULL), "hc_launch");
  must(hc_wait(server, NULL), "hc_wait");
  must(hc_memory_read(memory, 0, y, sizeof y), "hc_memory_read");
  for (i = 0; i < 8; i++) printf("%g%c", y[i], i == 7 ? '\n' : ' ');

  hc_detach(&attachment);
  must(hc_server_stop(&server), "hc_server_stop");
  hc_program_unload(&program);
  hc_memory_free(&memory);
  hc_device_destroy(&device);
  return 0;
}

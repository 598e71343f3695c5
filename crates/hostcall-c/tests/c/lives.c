/* A host in C: servers, programs and calls that come and go. Usage: lives KERNELS. Everything twice, in one process. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

/* ---- What does not go well ------------------------------------------------------------------------------------ */

/* Another definition than the program's: whichever comes first. */
static void other_definitions(void) {
  struct host host;
  hc_service *service = NULL;
  hc_attachment *again;
  hc_definition other = HC_DEFINITION("Typed__add42", "fn(f64) -> f32");
  int drops = 0;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &other, HC_INLINE, add42, &drops, drop, &service));
  CHECK(hc_attach_program(host.server, host.program, &host.attachment) == HC_MISMATCH && host.attachment == NULL);
  CHECK(strstr(hc_last_error(), "fn(f32) -> f32") != NULL && strstr(hc_last_error(), "fn(f64) -> f32") != NULL);
  CHECK(hc_register(host.server, &Typed__add42_definition, HC_INLINE, add42, &drops, drop, NULL) == HC_TAKEN && counted(&drops) == 1);
  hc_unregister(&service);
  attach(&host);
  CHECK(hc_register(host.server, &other, HC_INLINE, add42, &drops, drop, &service) == HC_MISMATCH && service == NULL);
  CHECK(hc_attach_program(host.server, host.program, &again) == HC_TAKEN && again == NULL);
  end(&host);
  CHECK(counted(&drops) == 3);
}

static void a_kernel_panics(void) {
  struct host host;
  uint64_t mask = 1 << 5;
  char *report;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL));
  attach(&host);
  launch(&host, "panics", &mask, sizeof mask, LANES);
  CHECK(hc_wait(host.server, NULL) == HC_KERNEL_FAILED && strstr(hc_last_error(), "was told to") != NULL);
  report = text_of(hc_report_json, host.server);
  CHECK(strstr(report, "\"thread\":[5,0,0]") != NULL && strstr(report, "was told to") != NULL);
  free(report);
  write_floats(&host);
  launch(&host, "add42", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  check_floats(&host);
  end(&host);
}

static int failed;

static void fail_and_count(void *user, const hc_lanes *lanes, hc_call *call) {
  (void)user;
  MUST(hc_fail(call, HC_ALL_LANES, 5, "told at the end"));
  count(&failed, (int)lanes->count);
}

static void the_end_tells_what_nobody_has_waited_for(void) {
  struct host host;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Typed__picky_definition, HC_INLINE, fail_and_count, NULL, NULL, NULL));
  attach(&host);
  failed = 0;
  launch(&host, "picky", NULL, 0, LANES);
  while (counted(&failed) < LANES) {
    struct timespec nap = {0, 1000000};
    nanosleep(&nap, NULL);
  }
  CHECK(hc_server_stop(&host.server) == HC_KERNEL_FAILED && strstr(hc_last_error(), "told at the end") != NULL);
  CHECK(host.server == NULL);
  end(&host);
}

/* ---- Late answers -------------------------------------------------------------------------------------------------- */

static struct kept held[LANES];
static int held_count;

static void hold(void *user, const hc_lanes *lanes, hc_call *call) {
  (void)user;
  pthread_mutex_lock(&counting);
  held[held_count].lanes = lanes;
  held[held_count++].call = call;
  pthread_mutex_unlock(&counting);
}

static int held_lanes(void) {
  int i, lanes = 0;
  pthread_mutex_lock(&counting);
  for (i = 0; i < held_count; i++) lanes += (int)held[i].lanes->count;
  pthread_mutex_unlock(&counting);
  return lanes;
}

static void wait_until_held(int lanes) {
  while (held_lanes() < lanes) {
    struct timespec nap = {0, 1000000};
    nanosleep(&nap, NULL);
  }
}

static void answers_come_late(void) {
  struct host host;
  uint64_t results[LANES];
  uint32_t i, k;
  int drops = 0;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Gate__held_back_definition, HC_DEFERRED, hold, &drops, drop, NULL));
  attach(&host);
  held_count = 0;
  launch(&host, "held_backs", NULL, 0, LANES);
  wait_until_held(LANES);
  CHECK(hc_wait_timeout(host.server, NULL, 1000000) == HC_TIMEOUT && strstr(hc_last_error(), "Gate::held_back") != NULL);
  for (i = 0; i < (uint32_t)held_count; i++) {
    for (k = 0; k < held[i].lanes->count; k++) {
      held[i].lanes->results[k * held[i].lanes->result_stride] = held[i].lanes->arguments[k * held[i].lanes->argument_stride] * 3;
    }
    MUST(hc_complete(held[i].call));
  }
  MUST(hc_wait(host.server, NULL));
  read_results(&host, results);
  for (i = 0; i < LANES; i++) CHECK(results[i] == i * 3);
  end(&host);
  CHECK(counted(&drops) == 1);
}

static void answers_come_after_the_server_has_stopped(void) {
  struct host host;
  uint64_t results[LANES];
  int i, drops = 0;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Gate__held_back_definition, HC_DEFERRED, hold, &drops, drop, NULL));
  attach(&host);
  held_count = 0;
  launch(&host, "held_backs", NULL, 0, LANES);
  wait_until_held(LANES);
  MUST(hc_server_stop(&host.server));
  /* The kernel ends, for which another server waits. An answer before that would be one of two. */
  MUST(hc_server_start(host.device, NULL, NULL, 0, &host.server));
  MUST(hc_wait(host.server, NULL));
  read_results(&host, results);
  for (i = 0; i < LANES; i++) CHECK(results[i] == RESULT(SERVER_GONE, 0));
  CHECK(counted(&drops) == 0);
  for (i = 0; i < held_count; i++) MUST(hc_complete(held[i].call));
  CHECK(counted(&drops) == 1);
  end(&host);
}

/* ---- Grants and options -------------------------------------------------------------------------------------------- */

static char said[4096];

static int take(void *user, const char *bytes, size_t size) {
  CHECK(strlen(said) + size < sizeof said);
  memcpy(said + strlen(said), bytes, size);
  (void)user;
  return 0;
}

static void grants_and_options(void) {
  struct host host;
  hc_grant grants[8];
  hc_server_options options;
  hc_shape one = shape_of(1, 1);
  size_t i;
  int drops = 0;
  char *stats;
  memset(said, 0, sizeof said);
  memset(grants, 0, sizeof grants);
  memset(&options, 0, sizeof options);
  for (i = 0; i < 8; i++) {
    grants[i].size = sizeof *grants;
    grants[i].user = &drops;
    grants[i].drop = drop;
  }
  grants[0].kind = HC_GRANT_VARIABLE, grants[0].text = "GIVEN", grants[0].value = "by C";
  grants[1].kind = HC_GRANT_ARGUMENT, grants[1].text = "zero";
  grants[2].kind = HC_GRANT_ARGUMENT, grants[2].text = "one";
  grants[3].kind = HC_GRANT_STDOUT, grants[3].write = take;
  grants[4].kind = HC_GRANT_STDIN, grants[4].text = "";
  grants[5].kind = HC_LIMIT_CALLS, grants[5].number = 1000;
  grants[6].kind = HC_LIMIT_WAITS, grants[6].number = 10;
  grants[7].kind = HC_LIMIT_WATCHERS, grants[7].number = 1;
  options.size = sizeof options;
  options.threads = 1;
  options.awake = 1;
  options.latencies = 1;
  options.ports = 8;
  options.staging_slots = 4;
  options.staging_slot_bytes = 4096;
  options.heap_bytes = 1 << 20;
  begin(&host, &options, grants, 8);
  attach(&host);
  MUST(hc_launch(host.program, "environment", &one, NULL, 0, NULL));
  MUST(hc_wait(host.server, NULL));
  stats = text_of(hc_stats, host.server);
  CHECK(strstr(stats, "\"latency_ns\"") != NULL);
  free(stats);
  end(&host);
  CHECK(strcmp(said, "0=zero\n1=one\nSome(\"one\") None\nSome(\"by C\") None None\n") == 0);
  CHECK(counted(&drops) == 8);
  /* Whatever is wrong, `drop` is called for each. */
  MUST(hc_device_open(which(), &host.device));
  grants[4].kind = 99;
  CHECK(hc_server_start(host.device, NULL, grants, 8, &host.server) == HC_INVALID && counted(&drops) == 16);
  grants[4].kind = HC_GRANT_DIRECTORY, grants[4].text = "/no/such/place";
  CHECK(hc_server_start(host.device, NULL, grants, 8, &host.server) == HC_SYSTEM && counted(&drops) == 24);
  CHECK(hc_server_start(NULL, NULL, grants, 8, &host.server) == HC_INVALID && counted(&drops) == 32);
  hc_device_destroy(&host.device);
}

/* ---- Programs of somebody else's ----------------------------------------------------------------------------------- */

/* Globals in device memory, by name. */
struct globals {
  uint64_t start;
  int asked, drops;
};

static uint64_t address_of(void *user, const char *symbol) {
  struct globals *globals = user;
  globals->asked++;
  if (strcmp(symbol, "__hostcall_device") == 0) return globals->start;
  if (strcmp(symbol, "__hostcall_abi") == 0) return globals->start + 128;
  if (strcmp(symbol, "__HOSTCALL__Typed__add42") == 0) return globals->start + 132;
  if (strcmp(symbol, "__HOSTCALL_SIGNATURE__Typed__add42") == 0) return globals->start + 136;
  return 0;
}

static void drop_globals(void *user) {
  ((struct globals *)user)->drops++;
}

static void programs_by_symbols_and_by_descriptor(void) {
  struct host host;
  struct globals globals;
  unsigned char memory[144];
  uint8_t copy[HC_DESCRIPTOR_BYTES];
  uint64_t address = 0, again = 0;
  uint32_t number, abi = ABI_VERSION, there;
  uint64_t signature = Typed__add42_definition.signature;
  hc_attachment *own = NULL, *shared = NULL, *of_own = NULL;
  begin(&host, NULL, NULL, 0);
  memset(&globals, 0, sizeof globals);
  memset(memory, 0, sizeof memory);
  memcpy(memory + 128, &abi, sizeof abi);
  memcpy(memory + 136, &signature, sizeof signature);
  MUST(hc_memory_write(host.memory, 0, memory, sizeof memory));
  MUST(hc_memory_address(host.memory, &globals.start));
  MUST(hc_attach_symbols(host.server, "mine", address_of, &globals, drop_globals, &host.attachment));
  CHECK(globals.asked > 0 && globals.drops == 0);
  MUST(hc_register(host.server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL));
  MUST(hc_number(host.server, "Typed__add42", &number));
  MUST(hc_memory_read(host.memory, 0, memory, sizeof memory));
  memcpy(&there, memory + 132, sizeof there);
  CHECK(there == number);

  /* What the program was given is a descriptor; others can have the same memory, or memory of their own. */
  MUST(hc_descriptor(host.server, host.attachment, &address, copy, &shared));
  CHECK(address != 0 && memcmp(copy, memory, sizeof copy) == 0);
  MUST(hc_descriptor(host.server, NULL, &again, NULL, &own));
  CHECK(again != 0 && again != address);
  MUST(hc_descriptor(host.server, own, NULL, copy, &of_own));
  CHECK(memcmp(copy, memory, sizeof copy) != 0);
  hc_detach(&of_own);
  hc_detach(&own);
  hc_detach(&shared);

  /* Another version of the wire. */
  abi = 777;
  hc_detach(&host.attachment);
  CHECK(globals.drops == 1);
  MUST(hc_memory_write(host.memory, 128, &abi, sizeof abi));
  CHECK(hc_attach_symbols(host.server, "mine", address_of, &globals, drop_globals, &host.attachment) == HC_MISMATCH);
  CHECK(globals.drops == 2 && strstr(hc_last_error(), "version 777") != NULL);
  end(&host);
}

/* Launches of others: announced, counted, ended. */
static void launches_are_announced(void) {
  struct host host;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL));
  attach(&host);
  CHECK(hc_launch_end(host.server) == HC_INVALID);
  MUST(hc_launch_begin(host.server));
  MUST(hc_launch_begin(host.server));
  write_floats(&host);
  launch(&host, "add42", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  check_floats(&host);
  MUST(hc_launch_end(host.server));
  MUST(hc_launch_end(host.server));
  CHECK(hc_launch_end(host.server) == HC_INVALID);
  end(&host);
}

int main(int argc, char **argv) {
  static const struct part parts[] = {
      {"other definitions", other_definitions},
      {"a kernel panics", a_kernel_panics},
      {"the end tells what nobody has waited for", the_end_tells_what_nobody_has_waited_for},
      {"answers come late", answers_come_late},
      {"answers come after the server has stopped", answers_come_after_the_server_has_stopped},
      {"grants and options", grants_and_options},
      {"programs by symbols and by descriptor", programs_by_symbols_and_by_descriptor},
      {"launches are announced", launches_are_announced},
  };
  return run_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}

/* A host in C: calls, in all three modes. Usage: calls KERNELS. Everything twice, in one process. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

/* ---- Calls, in all three modes ------------------------------------------------------------------------------------- */

/* Answers on a thread of its own. */
static void *add42_later(void *argument) {
  struct kept kept = *(struct kept *)argument;
  uint32_t i;
  free(argument);
  for (i = 0; i < kept.lanes->count; i++) {
    float x;
    memcpy(&x, kept.lanes->arguments + i * kept.lanes->argument_stride, sizeof x);
    x += 42;
    memcpy(kept.lanes->results + i * kept.lanes->result_stride, &x, sizeof x);
  }
  MUST(hc_complete(kept.call));
  return NULL;
}

static void add42_deferred(void *user, const hc_lanes *lanes, hc_call *call) {
  struct kept *kept = malloc(sizeof *kept);
  pthread_t thread;
  (void)user;
  kept->lanes = lanes;
  kept->call = call;
  CHECK(pthread_create(&thread, NULL, add42_later, kept) == 0 && pthread_detach(thread) == 0);
}

static void calls_in_each_mode(void) {
  struct host host;
  hc_run mode;
  begin(&host, NULL, NULL, 0);
  attach(&host);
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    hc_service *service;
    uint32_t number, by_name;
    char *stats;
    int drops = 0;
    MUST(hc_register(host.server, &Typed__add42_definition, mode, mode == HC_DEFERRED ? add42_deferred : add42, &drops, drop, &service));
    MUST(hc_service_number(service, &number));
    MUST(hc_number(host.server, "Typed::add42", &by_name));
    CHECK(number == by_name && number != 0);
    write_floats(&host);
    launch(&host, "add42", NULL, 0, LANES);
    MUST(hc_wait(host.server, NULL));
    check_floats(&host);
    stats = text_of(hc_stats, host.server);
    CHECK(strstr(stats, "\"Typed__add42\"") != NULL && strstr(stats, "\"calls\":64") != NULL);
    free(stats);
    hc_unregister(&service);
    CHECK(service == NULL);
    CHECK(hc_number(host.server, "Typed::add42", &by_name) == HC_NOT_FOUND && by_name == 0);
    /* Threads that look at the old table give it up soon. */
    while (counted(&drops) == 0) {
      struct timespec nap = {0, 1000000};
      nanosleep(&nap, NULL);
    }
    CHECK(counted(&drops) == 1);
  }
  end(&host);
}

/* ---- Stack of handlers ---------------------------------------------------------------------------------------------- */

/* As much as a main thread has, but for what is below. */
static void deep(void *user, const hc_lanes *lanes, hc_call *call) {
  volatile char block[7 << 20];
  block[0] = block[sizeof block - 1] = 1;
  add42(user, lanes, call);
}

static void deeper(void *user, const hc_lanes *lanes, hc_call *call) {
  volatile char block[40 << 20];
  block[0] = block[sizeof block - 1] = 1;
  add42(user, lanes, call);
}

static void handlers_have_much_stack(void) {
  hc_run mode;
  for (mode = HC_INLINE; mode <= HC_BLOCKING; mode++) {
    int more;
    for (more = 0; more < 2; more++) {
      struct host host;
      hc_server_options options;
      memset(&options, 0, sizeof options);
      options.size = sizeof options;
      options.handler_stack_kib = more ? 44 << 10 : 0;
      begin(&host, &options, NULL, 0);
      MUST(hc_register(host.server, &Typed__add42_definition, mode, more ? deeper : deep, NULL, NULL, NULL));
      attach(&host);
      write_floats(&host);
      launch(&host, "add42", NULL, 0, LANES);
      MUST(hc_wait(host.server, NULL));
      check_floats(&host);
      end(&host);
    }
  }
}

/* Multiplies by `user`'s number. */
static void times(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)call;
  for (i = 0; i < lanes->count; i++)
    lanes->results[i * lanes->result_stride] = lanes->arguments[i * lanes->argument_stride] * *(uint32_t *)user;
}

/* Several services of one type: the kernel is told which to call. */
static void services_as_values(void) {
  struct host host;
  uint64_t results[LANES];
  hc_definition definitions[2] = {HC_DEFINITION("Mine__triple", "fn(u32) -> u32"), HC_DEFINITION("Mine__sevenfold", "fn(u32) -> u32")};
  uint32_t factors[2] = {3, 7};
  hc_service *services[2];
  hc_callee callees[2];
  hc_argument arguments[4];
  hc_shape shape = shape_of(LANES / 32, 32);
  uint64_t address, count = LANES, i;
  begin(&host, NULL, NULL, 0);
  for (i = 0; i < 2; i++) {
    MUST(hc_register(host.server, &definitions[i], HC_INLINE, times, &factors[i], NULL, &services[i]));
    MUST(hc_service_callee(services[i], &callees[i]));
    arguments[i].bytes = &callees[i];
    arguments[i].count = sizeof callees[i];
  }
  attach(&host);
  MUST(hc_memory_address(host.memory, &address));
  arguments[2].bytes = &address;
  arguments[2].count = sizeof address;
  arguments[3].bytes = &count;
  arguments[3].count = sizeof count;
  MUST(hc_launch(host.program, "given", &shape, arguments, 4, NULL));
  MUST(hc_wait(host.server, NULL));
  read_results(&host, results);
  for (i = 0; i < LANES; i++) CHECK(results[i] == 3 * i * 1000 + 7 * i);
  for (i = 0; i < 2; i++) hc_unregister(&services[i]);
  end(&host);
}

/* A definition that is a text. */
static void definitions_by_text(void) {
  struct host host;
  hc_definition definition = HC_DEFINITION("Typed__add42", " fn (f32) -> f32 ");
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &definition, HC_INLINE, add42, NULL, NULL, NULL));
  attach(&host);
  write_floats(&host);
  launch(&host, "add42", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  check_floats(&host);
  end(&host);
}

/* ---- Larger values, strings and slices ----------------------------------------------------------------------------- */

/* The seed and each value of `Large` are one more. */
static void large(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i, k;
  (void)user;
  (void)call;
  CHECK(lanes->argument_units == 32 && lanes->result_units == 32);
  for (i = 0; i < lanes->count; i++) {
    uint64_t seed;
    memcpy(&seed, lanes->arguments + i * lanes->argument_stride, sizeof seed);
    seed++;
    memcpy(lanes->results + i * lanes->result_stride, &seed, sizeof seed);
    for (k = 0; k < 30; k++) lanes->results[i * lanes->result_stride + 2 + k] = (uint32_t)seed * 31 + k;
  }
}

static void structures(void) {
  struct host host;
  uint32_t right[LANES];
  int i;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Typed__large_definition, HC_INLINE, large, NULL, NULL, NULL));
  MUST(hc_register(host.server, &Typed__add42_definition, HC_BLOCKING, add42, NULL, NULL, NULL));
  attach(&host);
  launch(&host, "shapes", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  MUST(hc_memory_read(host.memory, 0, right, sizeof right));
  /* Of the eight calls of a lane, those of the others end as an unknown service. */
  for (i = 0; i < LANES; i++) CHECK(right[i] == ((1u << 1) | (1u << 7)));
  end(&host);
}

static void measure(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  for (i = 0; i < lanes->count; i++) {
    const void *text, *numbers, *again;
    size_t length, bytes, k;
    uint64_t sum = 0;
    uint32_t *result = lanes->results + i * lanes->result_stride;
    MUST(hc_bytes_in(call, i, 1, &numbers, &bytes));
    MUST(hc_bytes_in(call, i, 0, &text, &length));
    MUST(hc_bytes_in(call, i, 0, &again, &length));
    CHECK(again == text && (uintptr_t)numbers % 4 == 0 && bytes % 4 == 0);
    CHECK(strncmp("the quick brown fox jumps over the lazy dog", text, length) == 0);
    for (k = 0; k < bytes / 4; k++) sum += ((const uint32_t *)numbers)[k];
    result[0] = (uint32_t)length;
    memcpy(result + 1, &sum, sizeof sum);
    CHECK(hc_bytes_in(call, i, 2, &text, &length) == HC_INVALID && text == NULL);
    CHECK(hc_bytes_in(call, lanes->count, 0, &text, &length) == HC_INVALID);
    CHECK(hc_bytes_returned(call, i, 0, 0) == HC_INVALID);
  }
}

/* A handler as a deferred one: the message is handled at once, by a thread of its own. */
struct late {
  hc_handler handler;
  struct kept kept;
};

static void *handle_late(void *argument) {
  struct late late = *(struct late *)argument;
  free(argument);
  late.handler(NULL, late.kept.lanes, late.kept.call);
  MUST(hc_complete(late.kept.call));
  return NULL;
}

static void later(void *user, const hc_lanes *lanes, hc_call *call) {
  struct late *late = malloc(sizeof *late);
  pthread_t thread;
  late->handler = *(hc_handler *)user;
  late->kept.lanes = lanes;
  late->kept.call = call;
  CHECK(pthread_create(&thread, NULL, handle_late, late) == 0 && pthread_detach(thread) == 0);
}

/* Registers a handler in a mode. */
static void keep(struct host *host, const hc_definition *definition, hc_run mode, hc_handler *handler) {
  MUST(hc_register(host->server, definition, mode, mode == HC_DEFERRED ? later : *handler, handler, NULL, NULL));
}

static void strings_and_slices_in(void) {
  hc_handler handler = measure;
  hc_run mode;
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    struct host host;
    uint64_t results[LANES];
    int i;
    begin(&host, NULL, NULL, 0);
    keep(&host, &Typed__measure_definition, mode, &handler);
    attach(&host);
    launch(&host, "texts", NULL, 0, LANES);
    MUST(hc_wait(host.server, NULL));
    read_results(&host, results);
    for (i = 0; i < LANES; i++) CHECK(results[i] == 1);
    end(&host);
  }
}

/* Result<u32, Refused>: a tag, and the value or the error. */
static void fill(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  for (i = 0; i < lanes->count; i++) {
    uint32_t block = lanes->arguments[i * lanes->argument_stride + 2];
    uint32_t *result = lanes->results + i * lanes->result_stride;
    void *bytes;
    size_t room, k;
    MUST(hc_bytes_out(call, i, 0, &bytes, &room));
    for (k = 0; k < room; k++) CHECK(((unsigned char *)bytes)[k] == 0);
    CHECK(hc_bytes_returned(call, i, 0, room + 1) == HC_INVALID);
    if (block % 2 == 1) {
      result[0] = 1;
      result[1] = block;
      MUST(hc_bytes_returned(call, i, 0, 0));
    } else {
      memset(bytes, (int)block, room);
      result[0] = 0;
      result[1] = (uint32_t)room;
    }
  }
}

static void slices_out(void) {
  hc_handler handler = fill;
  hc_run mode;
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    struct host host;
    uint64_t results[LANES];
    int i;
    begin(&host, NULL, NULL, 0);
    keep(&host, &Typed__fill_definition, mode, &handler);
    attach(&host);
    launch(&host, "fills", NULL, 0, LANES);
    MUST(hc_wait(host.server, NULL));
    read_results(&host, results);
    for (i = 0; i < LANES; i++) CHECK(results[i] == (i % 2 == 1 ? 2u : 1u));
    end(&host);
  }
}

static void echo(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  for (i = 0; i < lanes->count; i++) {
    const void *from;
    void *to;
    size_t length, room;
    MUST(hc_bytes_in(call, i, 0, &from, &length));
    MUST(hc_bytes_out(call, i, 1, &to, &room));
    CHECK(length == room && hc_bytes_out(call, i, 0, &to, &room) == HC_INVALID);
    MUST(hc_bytes_out(call, i, 1, &to, &room));
    memcpy(to, from, length);
    lanes->results[i * lanes->result_stride] = (uint32_t)length;
  }
}

/* From what goes with the message to what takes a slot of the staging area. */
static void slices_there_and_back(void) {
  static const uint32_t lengths[] = {0, 5, 100, 700, 5000, 12000};
  hc_handler handler = echo;
  size_t l;
  hc_run mode;
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    struct host host;
    begin(&host, NULL, NULL, 0);
    keep(&host, &Typed__echo_definition, mode, &handler);
    attach(&host);
    for (l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      enum { FEW = 8 };
      uint32_t length = lengths[l];
      uint64_t total = (uint64_t)length * FEW, few = FEW, address, from, to, results[FEW];
      unsigned char *data = malloc(2 * total + 1);
      hc_argument arguments[7];
      hc_shape shape = shape_of(1, FEW);
      uint64_t i;
      MUST(hc_memory_address(host.memory, &address));
      from = address + 4096;
      to = from + total;
      for (i = 0; i < total; i++) data[i] = (unsigned char)(i * 7 + length);
      MUST(hc_memory_write(host.memory, 4096, data, total));
      arguments[0].bytes = &length, arguments[0].count = sizeof length;
      arguments[1].bytes = &from, arguments[2].bytes = &total;
      arguments[3].bytes = &to, arguments[4].bytes = &total;
      arguments[5].bytes = &address, arguments[6].bytes = &few;
      for (i = 1; i < 7; i++) arguments[i].count = sizeof(uint64_t);
      MUST(hc_launch(host.program, "echoes", &shape, arguments, 7, NULL));
      MUST(hc_wait(host.server, NULL));
      MUST(hc_memory_read(host.memory, 0, results, sizeof results));
      for (i = 0; i < FEW; i++) CHECK(results[i] == length);
      MUST(hc_memory_read(host.memory, 4096 + total, data + total, total));
      CHECK(memcmp(data, data + total, total) == 0);
      free(data);
    }
    end(&host);
  }
}

/* ---- Posts --------------------------------------------------------------------------------------------------------- */

static int notes, words;

static void note(void *user, const hc_lanes *lanes, hc_call *call) {
  (void)user;
  (void)call;
  CHECK(lanes->posted && lanes->results == NULL && lanes->result_units == 0 && lanes->argument_units == 2);
  count(&notes, (int)lanes->count);
}

static void log_text(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  for (i = 0; i < lanes->count; i++) {
    const void *text;
    size_t length;
    MUST(hc_bytes_in(call, i, 0, &text, &length));
    CHECK(length >= 3 && length <= 5);
    count(&words, 1);
  }
}

static void posts(void) {
  hc_handler note_handler = note, log_handler = log_text;
  hc_run mode;
  uint32_t each = 10;
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    struct host host;
    notes = words = 0;
    begin(&host, NULL, NULL, 0);
    keep(&host, &Typed__note_definition, mode, &note_handler);
    keep(&host, &Typed__log_definition, mode, &log_handler);
    attach(&host);
    launch(&host, "posts", &each, sizeof each, 0);
    launch(&host, "logs", NULL, 0, 0);
    MUST(hc_wait(host.server, NULL));
    CHECK(counted(&notes) == 10 * LANES && counted(&words) == LANES);
    end(&host);
  }
}

/* ---- Failures ------------------------------------------------------------------------------------------------------ */

static void picky(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  CHECK(hc_fail(call, lanes->count, 1, "no such lane") == HC_INVALID);
  for (i = 0; i < lanes->count; i++) {
    uint32_t value = lanes->arguments[i * lanes->argument_stride];
    lanes->results[i * lanes->result_stride] = value;
    if (value % 4 == 1) {
      MUST(hc_fail(call, i, 1, "not the last word"));
      MUST(hc_fail(call, i, 100 + value, "too odd"));
    }
    if (value % 4 == 2) MUST(hc_refuse(call, i, 13));
    if (value % 4 == 3) MUST(hc_malformed(call, i));
  }
}

static void single_lanes_fail(void) {
  hc_handler handler = picky;
  hc_run mode;
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    struct host host;
    uint64_t results[LANES];
    uint64_t i;
    char *report;
    begin(&host, NULL, NULL, 0);
    keep(&host, &Typed__picky_definition, mode, &handler);
    attach(&host);
    launch(&host, "picky", NULL, 0, LANES);
    CHECK(hc_wait(host.server, NULL) == HC_KERNEL_FAILED && strstr(hc_last_error(), "too odd") != NULL);
    read_results(&host, results);
    for (i = 0; i < LANES; i++) {
      static const uint64_t ends[] = {0, RESULT(HANDLER_FAILED, 100), RESULT(REFUSED, 13), RESULT(MALFORMED, 0)};
      CHECK(results[i] == ends[i % 4] + (i % 4 < 2 ? i : 0));
    }
    report = text_of(hc_report, host.server);
    CHECK(strstr(report, "handler of Typed__picky failed") != NULL && strstr(report, "not the last word") == NULL);
    free(report);
    report = text_of(hc_report_json, host.server);
    CHECK(strstr(report, "\"success\":false") != NULL && strstr(report, "\"code\":101") != NULL);
    free(report);
    /* Told once; and all is well again. */
    MUST(hc_wait(host.server, NULL));
    report = text_of(hc_report, host.server);
    CHECK(strcmp(report, "") == 0);
    free(report);
    end(&host);
  }
}

static void fail_all(void *user, const hc_lanes *lanes, hc_call *call) {
  (void)user;
  (void)lanes;
  MUST(hc_fail(call, HC_ALL_LANES, 9, NULL));
}

static void all_lanes_fail(void) {
  hc_handler handler = fail_all;
  hc_run mode;
  for (mode = HC_INLINE; mode <= HC_DEFERRED; mode++) {
    struct host host;
    uint64_t results[LANES];
    int i;
    begin(&host, NULL, NULL, 0);
    keep(&host, &Typed__echo_definition, mode, &handler);
    keep(&host, &Typed__picky_definition, mode, &handler);
    attach(&host);
    launch(&host, "picky", NULL, 0, LANES);
    CHECK(hc_wait(host.server, NULL) == HC_KERNEL_FAILED);
    read_results(&host, results);
    for (i = 0; i < LANES; i++) CHECK(results[i] == RESULT(HANDLER_FAILED, 9));
    end(&host);
  }
}

static void nobody_is_there(void) {
  struct host host;
  uint64_t results[LANES];
  int i;
  begin(&host, NULL, NULL, 0);
  attach(&host);
  launch(&host, "unknown", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  read_results(&host, results);
  for (i = 0; i < LANES; i++) CHECK(results[i] == RESULT(UNKNOWN_SERVICE, 0));
  end(&host);
}

int main(int argc, char **argv) {
  static const struct part parts[] = {
      {"calls in each mode", calls_in_each_mode},
      {"handlers have much stack", handlers_have_much_stack},
      {"services as values", services_as_values},
      {"definitions by text", definitions_by_text},
      {"structures", structures},
      {"strings and slices in", strings_and_slices_in},
      {"slices out", slices_out},
      {"slices there and back", slices_there_and_back},
      {"posts", posts},
      {"single lanes fail", single_lanes_fail},
      {"all lanes fail", all_lanes_fail},
      {"nobody is there", nobody_is_there},
  };
  return run_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}

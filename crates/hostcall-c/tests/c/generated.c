/* A host in C by the functions that `cargo hostcall bindgen --lang c` makes. Usage: generated KERNELS. Everything twice. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

/* A handler of a function of Typed: what is done for each lane, whose arguments are `a`. */
#define HANDLER(service, ...)                                                 \
  static void on_##service(void *user, const hc_lanes *lanes, hc_call *call) { \
    uint32_t lane;                                                            \
    (void)user;                                                               \
    for (lane = 0; lane < lanes->count; lane++) {                             \
      Typed__##service##_arguments a;                                         \
      MUST(Typed__##service##_get(lanes, call, lane, &a));                    \
      __VA_ARGS__;                                                            \
    }                                                                         \
  }

/* Typed::nothing has neither arguments nor a result. */
static int nothings;

static void on_nothing(void *user, const hc_lanes *lanes, hc_call *call) {
  (void)user;
  (void)call;
  CHECK(!lanes->posted && lanes->argument_units == 0 && lanes->result_units == 0);
  count(&nothings, (int)lanes->count);
}

HANDLER(add42, Typed__add42_put(lanes, lane, a.x + 42))
HANDLER(sum, Typed__sum_put(lanes, lane, a.a + a.b))
HANDLER(scale, Typed__scale_put(lanes, lane, a.a * a.b))

HANDLER(swap, {
  Typed__swap_result r;
  r._0 = a.b;
  r._1 = a.a;
  Typed__swap_put(lanes, lane, &r);
})

HANDLER(mixed, {
  Typed__mixed_result r;
  r._0 = a.a;
  r._1 = -(int64_t)a.a;
  r._2 = a.a % 2 == 1;
  r._3 = 0xdf;
  Typed__mixed_put(lanes, lane, &r);
})

HANDLER(lookup, {
  Typed__lookup_result r;
  r.has = a.key % 3 == 0;
  r.value = a.key * a.key;
  Typed__lookup_put(lanes, lane, &r);
})

HANDLER(large, {
  Large next;
  uint32_t k;
  next.seed = a.value.seed + 1;
  for (k = 0; k < 30; k++) {
    CHECK(a.value.values[k] == (uint32_t)a.value.seed * 31 + k);
    next.values[k] = (uint32_t)next.seed * 31 + k;
  }
  Typed__large_put(lanes, lane, &next);
})

HANDLER(measure, {
  Typed__measure_result r;
  size_t k;
  r._0 = (uint32_t)a.text_count;
  r._1 = 0;
  CHECK(strncmp("the quick brown fox jumps over the lazy dog", a.text, a.text_count) == 0);
  for (k = 0; k < a.numbers_count; k++) r._1 += a.numbers[k];
  Typed__measure_put(lanes, lane, &r);
})

HANDLER(fill, {
  Typed__fill_result r;
  memset(&r, 0, sizeof r);
  r.ok = a.block % 2 == 0;
  if (r.ok) {
    memset(a.out, (int)a.block, a.out_count);
    r.value = (uint32_t)a.out_count;
  } else {
    r.error.block = a.block;
    MUST(Typed__fill_out_returned(call, lane, 0));
  }
  Typed__fill_put(lanes, lane, &r);
})

HANDLER(echo, {
  CHECK(a.data_count == a.back_count);
  memcpy(a.back, a.data, a.data_count);
  Typed__echo_put(lanes, lane, (uint32_t)a.data_count);
})

static int notes, words;

HANDLER(note, {
  CHECK((uint32_t)a.value < 10 && a.value >> 32 < LANES);
  count(&notes, 1);
})

HANDLER(log, {
  static const char *const known[] = {"zero", "one", "two", "three"};
  size_t k, found = 0;
  for (k = 0; k < 4; k++) found += a.message_count == strlen(known[k]) && memcmp(a.message, known[k], a.message_count) == 0;
  CHECK(found == 1);
  count(&words, 1);
})

#define KEEP(service) MUST(hc_register(host.server, &Typed__##service##_definition, HC_INLINE, on_##service, NULL, NULL, NULL))

/* Every shape of fixed arguments and results. */
static void values(void) {
  struct host host;
  uint32_t right[LANES];
  int i;
  nothings = 0;
  begin(&host, NULL, NULL, 0);
  KEEP(nothing);
  KEEP(add42);
  KEEP(sum);
  KEEP(scale);
  KEEP(swap);
  KEEP(mixed);
  KEEP(lookup);
  KEEP(large);
  attach(&host);
  launch(&host, "shapes", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  MUST(hc_memory_read(host.memory, 0, right, sizeof right));
  for (i = 0; i < LANES; i++) CHECK(right[i] == 255);
  CHECK(counted(&nothings) == LANES);
  end(&host);
}

static void strings_and_slices(void) {
  enum { FEW = 8, BYTES = 9000 };
  struct host host;
  uint64_t results[LANES], address, from, to, total = FEW * BYTES, few = FEW, i;
  unsigned char *data = malloc(2 * FEW * BYTES);
  uint32_t length = BYTES;
  hc_argument arguments[7];
  hc_shape shape = shape_of(1, FEW);
  begin(&host, NULL, NULL, 0);
  KEEP(measure);
  KEEP(fill);
  KEEP(echo);
  attach(&host);
  launch(&host, "texts", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  read_results(&host, results);
  for (i = 0; i < LANES; i++) CHECK(results[i] == 1);
  launch(&host, "fills", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  read_results(&host, results);
  for (i = 0; i < LANES; i++) CHECK(results[i] == (i % 2 == 1 ? 2u : 1u));
  /* More than goes with a message. */
  MUST(hc_memory_address(host.memory, &address));
  from = address + 4096;
  to = from + total;
  for (i = 0; i < total; i++) data[i] = (unsigned char)(i * 7 + 3);
  MUST(hc_memory_write(host.memory, 4096, data, total));
  arguments[0].bytes = &length, arguments[0].count = sizeof length;
  arguments[1].bytes = &from, arguments[2].bytes = &total;
  arguments[3].bytes = &to, arguments[4].bytes = &total;
  arguments[5].bytes = &address, arguments[6].bytes = &few;
  for (i = 1; i < 7; i++) arguments[i].count = sizeof(uint64_t);
  MUST(hc_launch(host.program, "echoes", &shape, arguments, 7, NULL));
  MUST(hc_wait(host.server, NULL));
  MUST(hc_memory_read(host.memory, 0, results, FEW * sizeof *results));
  for (i = 0; i < FEW; i++) CHECK(results[i] == BYTES);
  MUST(hc_memory_read(host.memory, 4096 + total, data + total, total));
  CHECK(memcmp(data, data + total, total) == 0);
  free(data);
  end(&host);
}

static void posts(void) {
  struct host host;
  uint32_t each = 10;
  notes = words = 0;
  begin(&host, NULL, NULL, 0);
  KEEP(note);
  KEEP(log);
  attach(&host);
  launch(&host, "posts", &each, sizeof each, 0);
  launch(&host, "logs", NULL, 0, 0);
  MUST(hc_wait(host.server, NULL));
  CHECK(counted(&notes) == 10 * LANES && counted(&words) == LANES);
  end(&host);
}

int main(int argc, char **argv) {
  static const struct part parts[] = {{"values", values}, {"strings and slices", strings_and_slices}, {"posts", posts}};
  return run_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}

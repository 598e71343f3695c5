/* A stand-in for the library's functions that handlers call: one message, whose lanes all have the same strings and slices. It counts what it is told. */
#include <stdio.h>
#include <string.h>
#include <hostcall.h>

static struct {
  const char *text;
  uint32_t numbers[3];
  uint16_t back[4];
  size_t returned; /* bytes */
  unsigned malformed, failed;
  uint32_t code;
} library = {"h\xc3\xa9llo", {1, 2, 3000000000u}, {0, 0, 0, 0}, 0, 0, 0, 0};

#ifdef __cplusplus
extern "C" {
#endif
hc_status hc_malformed(hc_call *call, uint32_t lane) {
  (void)call, (void)lane;
  library.malformed++;
  return HC_OK;
}
hc_status hc_fail(hc_call *call, uint32_t lane, uint32_t code, const char *message) {
  (void)call, (void)lane, (void)message;
  library.failed++;
  library.code = code;
  return HC_OK;
}
hc_status hc_bytes_in(hc_call *call, uint32_t lane, uint32_t variable, const void **bytes, size_t *count) {
  (void)call, (void)lane;
  if (variable > 1) return HC_INVALID;
  *bytes = variable == 0 ? (const void *)library.text : (const void *)library.numbers;
  *count = variable == 0 ? strlen(library.text) : sizeof(library.numbers);
  return HC_OK;
}
hc_status hc_bytes_out(hc_call *call, uint32_t lane, uint32_t variable, void **bytes, size_t *count) {
  (void)call, (void)lane;
  if (variable != 2) return HC_INVALID;
  *bytes = library.back;
  *count = sizeof(library.back);
  return HC_OK;
}
hc_status hc_bytes_returned(hc_call *call, uint32_t lane, uint32_t variable, size_t count) {
  (void)call, (void)lane;
  if (variable != 2) return HC_INVALID;
  library.returned = count;
  return HC_OK;
}
const char *hc_last_error(void) { return "the stand-in refuses"; }
#ifdef __cplusplus
}
#endif

/* A message of `count` lanes, whose rows stand one after another. */
static hc_lanes message_of(uint32_t count, const uint32_t *arguments, size_t units, uint32_t *results, size_t result_units) {
  hc_lanes lanes;
  memset(&lanes, 0, sizeof(lanes));
  lanes.size = sizeof(lanes);
  lanes.count = count;
  lanes.posted = results == NULL;
  lanes.mask = (UINT64_C(1) << count) - 1;
  lanes.arguments = arguments;
  lanes.argument_stride = lanes.argument_units = units;
  lanes.results = results;
  lanes.result_stride = lanes.result_units = result_units;
  return lanes;
}

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      return 1;                                                           \
    }                                                                     \
  } while (0)

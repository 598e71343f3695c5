/* A host in C whose kernel calls for ever. Usage: endless KERNELS. It ends all the same. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

/* Tally::tick. */
static void tick(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)user;
  (void)call;
  for (i = 0; i < lanes->count; i++) memset(lanes->results + i * lanes->result_stride, 0, 8);
}

static void a_wait_gives_up(void) {
  struct host host;
  const uint32_t for_ever = UINT32_MAX;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Tally__tick_definition, HC_INLINE, tick, NULL, NULL, NULL));
  attach(&host);
  launch(&host, "calls", &for_ever, sizeof for_ever, LANES);
  CHECK(hc_wait_timeout(host.server, NULL, 50000000) == HC_TIMEOUT);
  end(&host);
}

int main(int argc, char **argv) {
  static const struct part parts[] = {{"a wait gives up", a_wait_gives_up}};
  return run_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}

/* A host in C whose kernel calls for as long as it is answered, and which ends all the same. What handlers write to is
 * static: they go on after `main` has returned, and with it its variables have gone. Usage: endings KERNELS ORDER,
 * where ORDER is of letters: what is ended, and when. */
#define _POSIX_C_SOURCE 200809L
#include "host.h"

static void tick(void *user, const hc_lanes *lanes, hc_call *call) {
  uint32_t i;
  (void)call;
  count(user, (int)lanes->count);
  for (i = 0; i < lanes->count; i++) memset(lanes->results + i * lanes->result_stride, 0, lanes->result_units * sizeof(uint32_t));
}

static int ticks;

int main(int argc, char **argv) {
  struct host host;
  const char *next;
  CHECK(argc == 3);
  image = file_of(argv[1], &image_size);
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Tally__tick_definition, HC_INLINE, tick, &ticks, NULL, NULL));
  attach(&host);
  launch(&host, "calls_until_refused", NULL, 0, 2 * LANES);
  while (counted(&ticks) < LANES) {
    struct timespec nap = {0, 1000000};
    nanosleep(&nap, NULL);
  }
  CHECK(hc_wait_timeout(host.server, NULL, 10000000) == HC_TIMEOUT);
  for (next = argv[2]; *next != 0; next++) {
    switch (*next) {
      case 'a': hc_detach(&host.attachment); break;
      case 's': hc_server_stop(&host.server); break;
      case 'p': hc_program_unload(&host.program); break;
      case 'm': hc_memory_free(&host.memory); break;
      case 'd': hc_device_destroy(&host.device); break;
      default: CHECK(0);
    }
    printf("%c", *next);
    fflush(stdout);
  }
  printf(" ended\n");
  fflush(stdout);
  return 0;
}

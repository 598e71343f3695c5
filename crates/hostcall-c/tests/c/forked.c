/* What a child that fork has made may do with what is its parent's: nothing, and it is told so. */
#include "host.h"

#include <sys/wait.h>
#include <unistd.h>

/* Forks; the child ends when it has done its part. One that hangs is ended by the system. */
static void in_child(struct host *host, void (*child)(struct host *)) {
  int status;
  pid_t forked = fork();
  CHECK(forked >= 0);
  if (forked == 0) {
    alarm(60);
    child(host);
    _exit(0);
  }
  CHECK(waitpid(forked, &status, 0) == forked);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void is_forked(hc_status status, const char *what) {
  char text[64];
  snprintf(text, sizeof text, "this %s belongs to the process that this one was forked from", what);
  CHECK(status == HC_FORKED && strcmp(hc_status_string(status), "HC_FORKED") == 0);
  CHECK(strstr(hc_last_error(), text) != NULL);
}

static void is_refused(struct host *host) {
  hc_shape shape = shape_of(1, 1);
  hc_attachment *attachment;
  hc_server *server;
  size_t bytes = 0;
  uint32_t number;
  char byte;
  is_forked(hc_wait(host->server, NULL), "server");
  is_forked(hc_wait_timeout(host->server, NULL, 1000), "server");
  is_forked(hc_register(host->server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL), "server");
  is_forked(hc_number(host->server, "Typed__add42", &number), "server");
  is_forked(hc_launch_begin(host->server), "server");
  is_forked(hc_launch_end(host->server), "server");
  is_forked(hc_report(host->server, NULL, &bytes), "server");
  is_forked(hc_stats(host->server, NULL, &bytes), "server");
  is_forked(hc_attach_program(host->server, host->program, &attachment), "server");
  is_forked(hc_descriptor(host->server, NULL, NULL, NULL, &attachment), "server");
  is_forked(hc_server_start(host->device, NULL, NULL, 0, &server), "device");
  is_forked(hc_device_describe(host->device, NULL, &bytes), "device");
  is_forked(hc_launch(host->program, "add42", &shape, NULL, 0, NULL), "program");
  is_forked(hc_memory_read(host->memory, 0, &byte, 1), "memory");
}

static void ends_its_copies(struct host *host) {
  hc_detach(&host->attachment);
  is_forked(hc_server_stop(&host->server), "server");
  hc_program_unload(&host->program);
  hc_memory_free(&host->memory);
  hc_device_destroy(&host->device);
  CHECK(host->attachment == NULL && host->server == NULL && host->program == NULL && host->memory == NULL && host->device == NULL);
  MUST(hc_server_stop(&host->server));
}

static void calls_by_its_own(struct host *parent) {
  struct host host;
  (void)parent;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL));
  attach(&host);
  write_floats(&host);
  launch(&host, "add42", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  check_floats(&host);
  end(&host);
}

static void executes(struct host *host) {
  (void)host;
  execlp("true", "true", (char *)NULL);
  _exit(1);
}

static void goes_on_beside(void (*child)(struct host *)) {
  struct host host;
  begin(&host, NULL, NULL, 0);
  MUST(hc_register(host.server, &Typed__add42_definition, HC_INLINE, add42, NULL, NULL, NULL));
  attach(&host);
  in_child(&host, child);
  write_floats(&host);
  launch(&host, "add42", NULL, 0, LANES);
  MUST(hc_wait(host.server, NULL));
  check_floats(&host);
  end(&host);
}

static void a_child_is_refused(void) {
  goes_on_beside(is_refused);
}
static void a_child_ends_its_copies(void) {
  goes_on_beside(ends_its_copies);
}
static void a_child_has_its_own(void) {
  goes_on_beside(calls_by_its_own);
}
static void a_child_executes(void) {
  goes_on_beside(executes);
}

int main(int argc, char **argv) {
  static const struct part parts[] = {
      {"a child is refused", a_child_is_refused},
      {"a child ends its copies", a_child_ends_its_copies},
      {"a child has its own", a_child_has_its_own},
      {"a child executes another program", a_child_executes},
  };
  return run_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}

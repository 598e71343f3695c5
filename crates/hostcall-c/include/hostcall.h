/* hostcall for hosts in C and C++: code on a GPU calls functions of this program while the kernel is still running.
 *
 * What is the same for all functions:
 *
 * - What can fail returns an hc_status; hc_last_error() has this thread's last text, which names the remedy. Nothing
 *   throws, aborts or prints.
 * - Handles are opaque. The function that ends one takes its address and nulls it; a null handle is ignored there, and
 *   is HC_INVALID elsewhere. Any thread may use a handle, but not while another one ends it.
 * - In a child that fork has made, every function that is given a handle of the parent's is HC_FORKED, does nothing,
 *   and leaves the parent undisturbed; the functions that end one null it. The child may make handles of its own.
 * - A structure that may grow begins with its size: set it to sizeof. One that is smaller, of an older header, has
 *   defaults for the rest.
 * - A text that is returned takes two calls: with a null buffer the size is told, the NUL at the end included; with a
 *   buffer of that size the text is written. `bytes` is the buffer's size before and the text's after. HC_TOO_SMALL:
 *   nothing was written.
 * - A `user` pointer goes with a `drop` function (or null), which is called once, when nothing can use the pointer any
 *   more; whoever hands both over never has to call it, whatever the function returned. Until then it points to what
 *   is there: not to a variable of `main`, unless hc_server_stop comes before its return.
 * - Functions of the application are called on threads of the library, several at a time unless it is said otherwise.
 *   They may not throw, and may not call CUDA: a kernel may be waiting for them.
 */
#ifndef HOSTCALL_H
#define HOSTCALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- About ------------------------------------------------------------------------------------------------------- */

/* The version of this header. The library's is hc_api_version(): it has everything of headers with a smaller or
 * equal one. */
#define HC_API_VERSION 1

typedef int32_t hc_status;
enum {
  HC_OK = 0,
  HC_INVALID = 1,       /* an argument is null, or cannot be */
  HC_UNAVAILABLE = 2,   /* there is no such device, or no driver for it */
  HC_NO_MEMORY = 3,     /* the device or the system has no memory left */
  HC_TAKEN = 4,         /* a service has this name already, or a server answers this program already */
  HC_MISMATCH = 5,      /* the program was built with another definition of a service, or another version of the wire */
  HC_NOT_FOUND = 6,     /* there is no kernel, service or symbol of this name */
  HC_KERNEL_FAILED = 7, /* a kernel or a handler failed: hc_report says how */
  HC_DEVICE_LOST = 8,   /* the device's context is lost */
  HC_TIMEOUT = 9,       /* the time to wait was over */
  HC_TOO_SMALL = 10,    /* a buffer is too small: its size was told */
  HC_MALFORMED = 11,    /* what a lane has sent is not what its definition says: the lane's call has been failed */
  HC_UNSUPPORTED = 12,  /* this kind of device, or of service, cannot do it */
  HC_DEVICE = 13,       /* the device's driver refused */
  HC_SYSTEM = 14,       /* the operating system refused */
  HC_INTERNAL = 15,     /* a fault of the library: please report its text */
  HC_FORKED = 16        /* the handle belongs to the process that this one was forked from */
};

/* HC_API_VERSION of the library. */
uint32_t hc_api_version(void);
/* The library's version: "0.1.0". */
const char *hc_version(void);
/* A status's name: "HC_INVALID"; of any other number "unknown status". */
const char *hc_status_string(hc_status status);
/* What this thread's last function that failed said; "" if none did. Valid until this thread's next one fails. */
const char *hc_last_error(void);

/* Called once when nothing uses `user` any more, on any thread. It may not call functions of this header. */
typedef void (*hc_drop)(void *user);

typedef struct hc_device hc_device;
typedef struct hc_server hc_server;
typedef struct hc_service hc_service;
typedef struct hc_attachment hc_attachment;
typedef struct hc_program hc_program;
typedef struct hc_memory hc_memory;
typedef struct hc_call hc_call;

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* The GPU of a CUDA context that the application has made (a CUcontext), or, if null, of the one that is current on
 * this thread. The context is used, never destroyed, and must live as long as the device and all that is made from
 * it. */
hc_status hc_device_from_cuda_context(void *cu_context, hc_device **out);
/* The device that a text names: "sim" (the simulator, on the processor; "sim:lanes=64"), "cuda", "cuda:1" (in its
 * primary context, which the CUDA runtime uses too), "hsa:0". */
hc_status hc_device_open(const char *which, hc_device **out);
/* As JSON: kind, name, driver, arch, wave_size, compute_units, memory_bytes, … */
hc_status hc_device_describe(const hc_device *device, char *json, size_t *bytes);
/* What was made from it keeps what it needs. Never destroys the application's context. */
void hc_device_destroy(hc_device **device);

/* ---- Servers ----------------------------------------------------------------------------------------------------- */

/* Zeros are the defaults. */
typedef struct hc_server_options {
  size_t size;
  uint32_t threads;             /* that answer; default: half of the processors, 1 to 4 */
  uint32_t blocking_threads;    /* for HC_BLOCKING handlers of each attached program, at most; default 512 */
  uint32_t ports;               /* of each attached program: calls open at a time; default: as many as waves can run */
  uint32_t staging_slots;       /* for large strings and slices; both numbers or none */
  uint32_t staging_slot_bytes;  /* a multiple of 4096 */
  uint32_t awake;               /* 1: looks for calls all the time, whoever launches; see hc_launch_begin */
  uint32_t latencies;           /* 1: hc_stats has them */
  uint32_t no_window;           /* 1: replies go through host memory, not the device's */
  uint32_t no_built_in;         /* 1: kernels can call what is registered, and nothing else: they cannot print */
  uint32_t handler_stack_kib;   /* that handlers have on each thread; default: as much as the main thread, at least 8192 */
  uint64_t heap_bytes;          /* of each attached program, in device memory; default 0 */
  const char *trace;            /* a file to write all calls to, for Chrome's and Perfetto's viewers; default: none */
} hc_server_options;

/* What kernels may touch of the host. Without grants: standard output, standard error and the clock. */
typedef uint32_t hc_grant_kind;
enum {
  HC_GRANT_DIRECTORY = 1,  /* text: HOST[::GUEST][:ro][:special] */
  HC_GRANT_VARIABLE = 2,   /* text: the variable's name; value: its value */
  HC_GRANT_ARGUMENT = 3,   /* text: one more argument */
  HC_GRANT_NETWORK = 4,    /* text: HOST:PORT[+RANGE...], or null for the whole network */
  HC_GRANT_STDIN = 5,      /* text: what can be read; null: this process's */
  HC_GRANT_STDOUT = 6,     /* write, user and drop: where it goes; without write: nowhere. Default: this process's */
  HC_GRANT_STDERR = 7,     /* the same */
  /* Of each attached program: */
  HC_LIMIT_OPEN_FILES = 8, /* number: descriptors of any kind; default 65536 */
  HC_LIMIT_BYTES_IN_FLIGHT = 9, /* number: of reads and writes; default: none */
  HC_LIMIT_CALLS = 10,     /* number: of built-in services; default: none */
  HC_LIMIT_WAITS = 11,     /* number: things for which calls wait at a time; default 524288 */
  HC_LIMIT_WATCHERS = 12   /* number: of changes of files (inotify); default 16 */
};

/* Takes what a kernel has printed, one call at a time. Not 0: it could not be written, and the rest is not offered. */
typedef int (*hc_write)(void *user, const char *bytes, size_t count);

typedef struct hc_grant {
  size_t size; /* the same in all grants of an array */
  hc_grant_kind kind;
  uint32_t reserved; /* 0 */
  const char *text;
  const char *value;
  uint64_t number;
  hc_write write;
  void *user;
  hc_drop drop;
} hc_grant;

/* Starts the threads that answer. `options` may be null, and so `grants` if there are none. */
hc_status hc_server_start(hc_device *device, const hc_server_options *options, const hc_grant *grants, size_t grant_count,
                          hc_server **out);
/* Answers what has arrived, then all that comes with SERVER_GONE, and ends the threads. Lanes whose calls deferred
 * handlers still hold get SERVER_GONE, or what hc_complete answers before they look: it must be called all the same.
 * HC_KERNEL_FAILED: something failed that no hc_wait has returned; hc_last_error() says what. The server is gone
 * whatever is returned. */
hc_status hc_server_stop(hc_server **server);

/* ---- Services ---------------------------------------------------------------------------------------------------- */

/* An argument that is a string or a slice. */
typedef uint32_t hc_variable_kind;
enum {
  HC_TEXT = 1, /* &str: bytes that are UTF-8 */
  HC_IN = 2,   /* &[T] */
  HC_OUT = 3   /* &mut [T]: comes back to the calling lane */
};

typedef struct hc_variable {
  hc_variable_kind kind;
  uint32_t unit;          /* where in the lane's units its length in bytes stands */
  uint32_t element_bytes; /* of T; 1 for HC_TEXT */
} hc_variable;

#define HC_POSTED UINT32_MAX /* hc_definition.reply_units of a function without a result, for which nobody waits */

/* What both sides must agree on. `cargo hostcall bindgen --lang c` writes these; HC_DEFINITION makes one of a
 * function's type as Rust writes it. */
typedef struct hc_definition {
  size_t size;
  const char *name;             /* on the wire: "Host__add42" */
  uint64_t signature;           /* 0: everything below is found out from `text` */
  const char *text;             /* "fn(f32) -> f32"; null: not known */
  uint32_t takes_var;           /* 1 if there are strings or slices */
  uint32_t units;               /* of a lane's arguments, of 32 bits: 2 of the wire's if takes_var, those of each
                                 * argument of fixed size, 1 (its length) for each string or slice */
  uint32_t reply_units;         /* of the result, or HC_POSTED */
  uint32_t variable_count;
  const hc_variable *variables; /* strings and slices, in the order of the arguments */
} hc_definition;

/* hc_definition d = HC_DEFINITION("Host__add42", "fn(f32) -> f32"): types of numbers, bool, char, tuples, arrays,
 * Option and Result, and of arguments also &str, &[T] and &mut [T]. For structures use bindgen. */
#define HC_DEFINITION(name, text) {sizeof(hc_definition), (name), 0, (text), 0, 0, 0, 0, NULL}

/* Where a handler runs. */
typedef uint32_t hc_run;
enum {
  HC_INLINE = 1,   /* on a thread that answers: it must be quick */
  HC_BLOCKING = 2, /* on a pool: it may sleep, read a disk, take locks */
  HC_DEFERRED = 3  /* on a thread that answers, and keeps the hc_call: hc_complete answers, later, from any thread */
};

/* A message: the calls that lanes of one wave make together. Row i is the i-th of them, in the order of `mask`. All
 * of this can be read until the handler returns; of a deferred call until hc_complete. */
typedef struct hc_lanes {
  size_t size;
  uint32_t count;            /* lanes that call: 1 to 64 */
  uint32_t posted;           /* 1: nobody waits, and there are no results */
  uint64_t mask;             /* their numbers in the wave, as bits */
  const uint32_t *arguments; /* of lane i: arguments + i * argument_stride, argument_units of them */
  size_t argument_stride;
  size_t argument_units;
  uint32_t *results;         /* of lane i: results + i * result_stride, result_units of them, zero until they are
                              * written; null if posted */
  size_t result_stride;
  size_t result_units;
  uint32_t service;          /* the service's number */
  uint32_t port;             /* through which the message came */
} hc_lanes;

/* Answers a message: it writes the results, and fails the lanes that have none by hc_fail. When an inline or
 * blocking handler returns, all lanes are answered. */
typedef void (*hc_handler)(void *user, const hc_lanes *lanes, hc_call *call);

/* Registers a service; programs that are attached learn its number, so kernels launched from now on can call it. The
 * definition is copied. `out` may be null: the service then stays as long as the server. */
hc_status hc_register(hc_server *server, const hc_definition *definition, hc_run run, hc_handler handler, void *user,
                      hc_drop drop, hc_service **out);
/* Calls end as UNKNOWN_SERVICE from now on; `drop` is called when those that are being handled have ended. */
void hc_unregister(hc_service **service);
/* The number by which programs know a service, for kernels that are given it: of a handle, or of a name, which a
 * program may not know. */
hc_status hc_service_number(const hc_service *service, uint32_t *number);
hc_status hc_number(hc_server *server, const char *name, uint32_t *number);
/* A service as an argument of a kernel, which calls it by a stub whose name ends in `_by`, and not the one that has the stub's
 * name: several services of one type, each registered under a name of its own. */
typedef struct hc_callee {
  uint32_t number;
  uint32_t check;
} hc_callee;
hc_status hc_service_callee(const hc_service *service, hc_callee *callee);

/* All lanes of a message. */
#define HC_ALL_LANES UINT32_MAX

/* In a handler, or of a deferred call until hc_complete, by one thread at a time. `lane` is a row, `variable` a
 * string or slice: both from 0. */

/* A lane's string or slice: `count` bytes, aligned for its elements; copied, so that the device cannot change it. */
hc_status hc_bytes_in(hc_call *call, uint32_t lane, uint32_t variable, const void **bytes, size_t *count);
/* Room for what comes back of a lane's HC_OUT: `count` bytes, zero, aligned for its elements. All of them come back,
 * unless hc_bytes_returned says fewer; nothing, if neither is called. */
hc_status hc_bytes_out(hc_call *call, uint32_t lane, uint32_t variable, void **bytes, size_t *count);
/* Only the first `count` bytes come back. */
hc_status hc_bytes_returned(hc_call *call, uint32_t lane, uint32_t variable, size_t count);
/* The lane gets HANDLER_FAILED and the code, the report the message (which may be null). HC_ALL_LANES: all of them.
 * The last word on a lane counts. */
hc_status hc_fail(hc_call *call, uint32_t lane, uint32_t code, const char *message);
/* The lane gets REFUSED and the code: the host's policy. */
hc_status hc_refuse(hc_call *call, uint32_t lane, uint32_t code);
/* The lane gets MALFORMED: its units are no value of the argument's type. */
hc_status hc_malformed(hc_call *call, uint32_t lane);
/* Answers a deferred call and frees it, once, from any thread; also after the server has stopped. */
hc_status hc_complete(hc_call *call);

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* Each attach gives a program memory to call through, and its services their numbers; `name` is what errors and
 * reports call it. The program must stay loaded until hc_detach. HC_MISMATCH: hc_last_error() names the service and
 * both definitions. */

/* A CUmodule of the device's context. */
hc_status hc_attach_cuda_module(hc_server *server, void *cu_module, const char *name, hc_attachment **out);
/* A CUlibrary. */
hc_status hc_attach_cuda_library(hc_server *server, void *cu_library, const char *name, hc_attachment **out);
/* The module that a CUfunction is part of; cudaGetFuncBySymbol gives one of a kernel of the CUDA runtime. */
hc_status hc_attach_cuda_function(hc_server *server, const void *cu_function, const char *name, hc_attachment **out);

/* The device's address of a global of the program, 0 if it has none of this name. */
typedef uint64_t (*hc_address_of)(void *user, const char *symbol);
/* A program whose globals the application finds. It is asked now, and when services are registered while the program
 * is attached. */
hc_status hc_attach_symbols(hc_server *server, const char *name, hc_address_of address_of, void *user, hc_drop drop,
                            hc_attachment **out);

/* A program of hc_program_load. */
hc_status hc_attach_program(hc_server *server, hc_program *program, hc_attachment **out);

#define HC_DESCRIPTOR_BYTES 128
/* Memory to call through for kernels that take it as an argument: the descriptor's address in device memory, or a
 * copy of it (either may be null). With `shared_with` it is the memory of another attachment, and ends with that. */
hc_status hc_descriptor(hc_server *server, const hc_attachment *shared_with, uint64_t *device_address, uint8_t *host_copy,
                        hc_attachment **out);

/* No kernel of it may be in flight. Lanes that call all the same get DETACHED. */
void hc_detach(hc_attachment **attachment);

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* While nothing is in flight that the server knows of, its threads sleep. It knows of hc_launch and hc_wait. Calls of
 * programs that are attached by a handle of CUDA's, by symbols or by a descriptor, and are launched by other means, are
 * found within some milliseconds by a thread that looks now and then. Whoever announces such a launch before it
 * begins saves its first call that time. Each is ended once. */
hc_status hc_launch_begin(hc_server *server);
hc_status hc_launch_end(hc_server *server);
/* Waits for what is in a stream (a CUstream; null: CUDA's default stream, or what hc_launch was given null for) and
 * for every call it posted. HC_KERNEL_FAILED: a kernel or a handler failed; hc_report says how until the next wait. */
hc_status hc_wait(hc_server *server, void *cu_stream);
/* The same, for at most so long: HC_TIMEOUT, and hc_last_error() names the calls that are open. */
hc_status hc_wait_timeout(hc_server *server, void *cu_stream, uint64_t nanoseconds);
/* What the last wait reported, for people; "" if all was well. */
hc_status hc_report(hc_server *server, char *text, size_t *bytes);
/* The same as JSON: success, panics, exits, handler_failures, handler_panics, unknown_services, malformed, omitted. */
hc_status hc_report_json(hc_server *server, char *json, size_t *bytes);
/* Counts by service, as JSON: name, number, messages, calls, failed, bytes_in, bytes_out, and with
 * hc_server_options.latencies latency_ns. */
hc_status hc_stats(hc_server *server, char *json, size_t *bytes);

/* ---- Without CUDA ------------------------------------------------------------------------------------------------ */

/* Programs, memory and launches by this library: for the simulator, and for whoever has no other way. */

/* What a file has: NAME.program, as hostcall-build writes it, or an image as a compiler leaves it: a shared library for
 * the simulator (g++ -DHOSTCALL_SIM -shared), PTX or a cubin. */
hc_status hc_program_load(hc_device *device, const void *bytes, size_t count, hc_program **out);
/* It stays loaded as long as it is attached, and until what was launched has ended. */
void hc_program_unload(hc_program **program);

typedef struct hc_shape {
  size_t size;
  uint32_t groups[3];      /* workgroups; 0 counts as 1 */
  uint32_t group_size[3];  /* threads of each; 0 counts as 1 */
  uint32_t dynamic_shared; /* bytes */
} hc_shape;

/* The value of a parameter. A slice of Rust is two: the address and the number of elements, 8 bytes each. */
typedef struct hc_argument {
  const void *bytes;
  size_t count;
} hc_argument;

/* Starts a kernel and returns. The stream is as in hc_wait. */
hc_status hc_launch(hc_program *program, const char *kernel, const hc_shape *shape, const hc_argument *arguments,
                    size_t argument_count, void *cu_stream);

/* Device memory, not initialised. */
hc_status hc_memory_alloc(hc_device *device, size_t bytes, hc_memory **out);
hc_status hc_memory_address(const hc_memory *memory, uint64_t *address);
/* Copy now, without waiting for kernels. */
hc_status hc_memory_write(hc_memory *memory, size_t offset, const void *from, size_t count);
hc_status hc_memory_read(const hc_memory *memory, size_t offset, void *to, size_t count);
/* No kernel may use it any more. */
void hc_memory_free(hc_memory **memory);

#ifdef __cplusplus
}
#endif

#endif

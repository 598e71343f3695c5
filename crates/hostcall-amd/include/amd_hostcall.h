/* AMD's hostcall interface, as libamd_hostcall of the hostcall project serves it.
 *
 * By default this is v1, the later interface. With AMD_HOSTCALL_V0 defined it is v0: the same names with v0's parameters.
 * What AMD's library has not begins with hostcall_amd_. Reference and differences: docs/guide/amd-hostcall.md. */
#ifndef AMD_HOSTCALL_H
#define AMD_HOSTCALL_H

#include <stddef.h>
#include <stdint.h>

#ifndef AMD_HOSTCALL_API
#define AMD_HOSTCALL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    AMD_HOSTCALL_SUCCESS,
    AMD_HOSTCALL_ERROR_CONSUMER_ACTIVE,
    AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE,
    AMD_HOSTCALL_ERROR_CONSUMER_LAUNCH_FAILED,
    AMD_HOSTCALL_ERROR_INVALID_REQUEST,
    AMD_HOSTCALL_ERROR_SERVICE_UNKNOWN,
    AMD_HOSTCALL_ERROR_INCORRECT_ALIGNMENT,
    AMD_HOSTCALL_ERROR_NULLPTR,
    AMD_HOSTCALL_INTERNAL_ERROR
} amd_hostcall_error_t;

/* A consumer: threads that serve the buffers registered with it. Never dereferenced. */
typedef struct amd_hostcall_consumer_t amd_hostcall_consumer_t;

/* What service 1 calls: two words out, seven in. */
typedef void (*amd_hostcall_function_call_t)(uint64_t *output, const uint64_t *input);

/* ---- the same in both versions ---- */

/* The name of an error. */
#ifdef AMD_HOSTCALL_V0
AMD_HOSTCALL_API const char *amd_hostcall_error_string(amd_hostcall_error_t error);
#else
AMD_HOSTCALL_API const char *amd_hostcall_error_string(int error);
#endif
/* Bytes of a buffer, and its alignment. */
AMD_HOSTCALL_API size_t amd_hostcall_get_buffer_size(uint32_t num_packets);
AMD_HOSTCALL_API uint32_t amd_hostcall_get_buffer_alignment(void);
/* Lays a buffer out. */
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_initialize_buffer(void *buffer, uint32_t num_packets);
/* Ends serving a buffer: what is ready is answered first. */
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_deregister_buffer(amd_hostcall_consumer_t *consumer, void *buffer);
/* Starts the consumer's threads. */
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_launch_consumer(amd_hostcall_consumer_t *consumer);
/* Writes a line about each packet to standard output. */
AMD_HOSTCALL_API void amd_hostcall_enable_debug(void);

#ifndef AMD_HOSTCALL_V0
/* ---- v1 ---- */

/* One lane's call: eight words in and out. Anything but 0 is a failure, and ends the process. An exception of C++ must not leave a handler,
 * nor a function that service 1 calls, nor an error handler: it ends the process at once. */
typedef int (*amd_hostcall_service_handler_t)(void *state, uint32_t service, uint64_t *payload);
/* Told of an error before the process ends. */
typedef void (*amd_hostcall_error_handler_t)(void *state, int error);

AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_create_consumer(amd_hostcall_consumer_t **consumer);
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_destroy_consumer(amd_hostcall_consumer_t *consumer);
/* For all consumers, each service once. 0 is the default handler, 1 is taken. */
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_register_service(uint32_t service, amd_hostcall_service_handler_t handler,
                                                                    void *state);
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_register_buffer(amd_hostcall_consumer_t *consumer, void *buffer);
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_on_error(amd_hostcall_error_handler_t handler, void *state);
#else
/* ---- v0 ---- */

/* As in v1, no exception may leave a handler. */
typedef void (*amd_hostcall_service_handler_t)(void *cbdata, uint32_t service, uint64_t *payload);
typedef void (*amd_hostcall_error_handler_t)(amd_hostcall_error_t error, void *cbdata);

#define amd_hostcall_create_consumer hostcall_amd_v0_create_consumer
#define amd_hostcall_destroy_consumer hostcall_amd_v0_destroy_consumer
#define amd_hostcall_register_service hostcall_amd_v0_register_service
#define amd_hostcall_register_buffer hostcall_amd_v0_register_buffer
#define amd_hostcall_on_error hostcall_amd_v0_on_error

AMD_HOSTCALL_API amd_hostcall_consumer_t *amd_hostcall_create_consumer(void);
AMD_HOSTCALL_API void amd_hostcall_destroy_consumer(amd_hostcall_consumer_t *consumer);
/* For one consumer. A service that has a handler gets the new one. */
AMD_HOSTCALL_API void amd_hostcall_register_service(amd_hostcall_consumer_t *consumer, uint32_t service,
                                                    amd_hostcall_service_handler_t handler, void *cbdata);
AMD_HOSTCALL_API void amd_hostcall_register_buffer(amd_hostcall_consumer_t *consumer, void *buffer);
AMD_HOSTCALL_API amd_hostcall_error_t amd_hostcall_on_error(amd_hostcall_consumer_t *consumer, amd_hostcall_error_handler_t handler,
                                                            void *cbdata);
#endif

/* ---- ours ---- */

/* Allows service 1 to call a function; forbids it again. */
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_allow_call(amd_hostcall_function_call_t function);
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_forbid_call(amd_hostcall_function_call_t function);
/* Lays a buffer out if size bytes are enough for it. */
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_initialize_buffer(void *buffer, size_t size, uint32_t num_packets);
/* How packets travel through a buffer. Kernels that were compiled with ROCm's device libraries want one of the last two. */
typedef enum {
    HOSTCALL_AMD_STACKS,        /* as amd_hostcall_initialize_buffer lays it out: stacks, and the bits of an index */
    HOSTCALL_AMD_MASKED_STACKS, /* stacks, and these bits as a mask */
    HOSTCALL_AMD_MAILBOXES      /* a mailbox for each packet: the form of July 2026 */
} hostcall_amd_form_t;
/* Bytes of a buffer in a form, 0 if there is no such form; lays one out if size bytes are enough; lets a consumer serve it. */
AMD_HOSTCALL_API size_t hostcall_amd_form_size(uint32_t num_packets, uint32_t form);
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_initialize_form(void *buffer, size_t size, uint32_t num_packets, uint32_t form);
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_register_form(amd_hostcall_consumer_t *consumer, void *buffer, uint32_t form);
/* Calls a service from a thread of the host, as a wave would: for the lanes of mask, eight words each, in and out. Waits. */
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_call(void *buffer, uint32_t service, uint64_t mask, uint64_t (*payload)[8]);
/* Rings a doorbell by its handle, as a buffer holds it. */
AMD_HOSTCALL_API amd_hostcall_error_t hostcall_amd_ring(uint64_t doorbell);

#ifdef __cplusplus
}
#endif

#endif

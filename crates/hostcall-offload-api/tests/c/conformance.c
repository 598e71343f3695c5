/* Made from OffloadAPI.td (LLVM 23) by offload-tblgen --gen-tests; change that, not this file. */
/*
 * Conformance tests. Link this with the library and with a file that defines the fixture declared below.
 * It fills in the arguments of a call that succeeds; the one that a test is about is then changed by the test.
 */
#include <OffloadAPI.h>
#include <stdio.h>
#include <string.h>

/* Points every member of `call`, which is the params structure of `function`, at an argument of a call that succeeds. */
/* Returns 0 if there is no such call. */
int fixture(const char *function, void *call);

static int failed, skipped, passed;

static void expect(const char *test, ol_result_t result, ol_errc_t expected) {
    ol_errc_t code = result ? result->Code : OL_ERRC_SUCCESS;
    if (code == expected) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s: expected code %d, got %d (%s)\n", test, (int)expected, (int)code, result && result->Details ? result->Details : "");
}

static void skip(const char *test, const char *why) {
    skipped++;
    printf("SKIP %s: %s\n", test, why);
}

/* olCalculateOptimalOccupancy returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_calculate_optimal_occupancy_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olCalculateOptimalOccupancy returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_calculate_optimal_occupancy_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olCalculateOptimalOccupancy returns OL_ERRC_SYMBOL_KIND: `Kernel` is not a kernel */
static void test_ol_calculate_optimal_occupancy_ol_errc_symbol_kind_prose(void) {
    skip(__func__, "`Kernel` is not a kernel");
}

/* olCalculateOptimalOccupancy returns OL_ERRC_UNSUPPORTED: the driver does not tell */
static void test_ol_calculate_optimal_occupancy_ol_errc_unsupported_prose(void) {
    skip(__func__, "the driver does not tell");
}

/* olCalculateOptimalOccupancy returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_calculate_optimal_occupancy_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_calculate_optimal_occupancy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCalculateOptimalOccupancy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olCalculateOptimalOccupancy(*call.pDevice, *call.pKernel, *call.pSharedMemory, *call.pGroupSize), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olCalculateOptimalOccupancy returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Kernel` */
static void test_ol_calculate_optimal_occupancy_ol_errc_invalid_null_handle_null_kernel(void) {
    struct ol_calculate_optimal_occupancy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCalculateOptimalOccupancy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pKernel = NULL;
    expect(__func__, olCalculateOptimalOccupancy(*call.pDevice, *call.pKernel, *call.pSharedMemory, *call.pGroupSize), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olCalculateOptimalOccupancy returns OL_ERRC_INVALID_NULL_POINTER: `NULL == GroupSize` */
static void test_ol_calculate_optimal_occupancy_ol_errc_invalid_null_pointer_null_group_size(void) {
    struct ol_calculate_optimal_occupancy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCalculateOptimalOccupancy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pGroupSize = NULL;
    expect(__func__, olCalculateOptimalOccupancy(*call.pDevice, *call.pKernel, *call.pSharedMemory, *call.pGroupSize), OL_ERRC_INVALID_NULL_POINTER);
}

/* olCreateEvent returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_create_event_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olCreateEvent returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_create_event_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olCreateEvent returns OL_ERRC_INVALID_ENUMERATION: `Flags` is not an event flag */
static void test_ol_create_event_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`Flags` is not an event flag");
}

/* olCreateEvent returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_create_event_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_create_event_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateEvent", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olCreateEvent(*call.pQueue, *call.pFlags, *call.pEvent), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olCreateEvent returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Event` */
static void test_ol_create_event_ol_errc_invalid_null_pointer_null_event(void) {
    struct ol_create_event_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateEvent", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEvent = NULL;
    expect(__func__, olCreateEvent(*call.pQueue, *call.pFlags, *call.pEvent), OL_ERRC_INVALID_NULL_POINTER);
}

/* olCreateProgram returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_create_program_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olCreateProgram returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_create_program_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olCreateProgram returns OL_ERRC_INVALID_BINARY: the image is damaged, or not for this device */
static void test_ol_create_program_ol_errc_invalid_binary_prose(void) {
    skip(__func__, "the image is damaged, or not for this device");
}

/* olCreateProgram returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_create_program_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_create_program_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateProgram", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olCreateProgram(*call.pDevice, *call.pProgData, *call.pProgDataSize, *call.pProgram), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olCreateProgram returns OL_ERRC_INVALID_NULL_POINTER: `NULL == ProgData` */
static void test_ol_create_program_ol_errc_invalid_null_pointer_null_prog_data(void) {
    struct ol_create_program_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateProgram", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pProgData = NULL;
    expect(__func__, olCreateProgram(*call.pDevice, *call.pProgData, *call.pProgDataSize, *call.pProgram), OL_ERRC_INVALID_NULL_POINTER);
}

/* olCreateProgram returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Program` */
static void test_ol_create_program_ol_errc_invalid_null_pointer_null_program(void) {
    struct ol_create_program_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateProgram", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pProgram = NULL;
    expect(__func__, olCreateProgram(*call.pDevice, *call.pProgData, *call.pProgDataSize, *call.pProgram), OL_ERRC_INVALID_NULL_POINTER);
}

/* olCreateQueue returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_create_queue_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olCreateQueue returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_create_queue_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olCreateQueue returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_create_queue_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_create_queue_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateQueue", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olCreateQueue(*call.pDevice, *call.pQueue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olCreateQueue returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Queue` */
static void test_ol_create_queue_ol_errc_invalid_null_pointer_null_queue(void) {
    struct ol_create_queue_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olCreateQueue", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olCreateQueue(*call.pDevice, *call.pQueue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olDestroyEvent returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_destroy_event_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olDestroyEvent returns OL_ERRC_INVALID_EVENT: `Event` is not an event, or is destroyed already */
static void test_ol_destroy_event_ol_errc_invalid_event_prose(void) {
    skip(__func__, "`Event` is not an event, or is destroyed already");
}

/* olDestroyEvent returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Event` */
static void test_ol_destroy_event_ol_errc_invalid_null_handle_null_event(void) {
    struct ol_destroy_event_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olDestroyEvent", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEvent = NULL;
    expect(__func__, olDestroyEvent(*call.pEvent), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olDestroyProgram returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_destroy_program_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olDestroyProgram returns OL_ERRC_INVALID_ARGUMENT: `Program` is not a program, or is destroyed already */
static void test_ol_destroy_program_ol_errc_invalid_argument_prose(void) {
    skip(__func__, "`Program` is not a program, or is destroyed already");
}

/* olDestroyProgram returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Program` */
static void test_ol_destroy_program_ol_errc_invalid_null_handle_null_program(void) {
    struct ol_destroy_program_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olDestroyProgram", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pProgram = NULL;
    expect(__func__, olDestroyProgram(*call.pProgram), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olDestroyQueue returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_destroy_queue_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olDestroyQueue returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue, or is destroyed already */
static void test_ol_destroy_queue_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue, or is destroyed already");
}

/* olDestroyQueue returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_destroy_queue_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_destroy_queue_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olDestroyQueue", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olDestroyQueue(*call.pQueue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetDeviceInfo returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_device_info_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetDeviceInfo returns OL_ERRC_INVALID_SIZE: `PropSize == 0` */
static void test_ol_get_device_info_ol_errc_invalid_size_prop_size_0(void) {
    struct ol_get_device_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetDeviceInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSize = 0;
    expect(__func__, olGetDeviceInfo(*call.pDevice, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_SIZE);
}

/* olGetDeviceInfo returns OL_ERRC_INVALID_SIZE: the property needs more than `PropSize` bytes */
static void test_ol_get_device_info_ol_errc_invalid_size_prose(void) {
    skip(__func__, "the property needs more than `PropSize` bytes");
}

/* olGetDeviceInfo returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of devices */
static void test_ol_get_device_info_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of devices");
}

/* olGetDeviceInfo returns OL_ERRC_UNSUPPORTED: the driver does not tell this property */
static void test_ol_get_device_info_ol_errc_unsupported_prose(void) {
    skip(__func__, "the driver does not tell this property");
}

/* olGetDeviceInfo returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_get_device_info_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olGetDeviceInfo returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_get_device_info_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_get_device_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetDeviceInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olGetDeviceInfo(*call.pDevice, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetDeviceInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropValue` */
static void test_ol_get_device_info_ol_errc_invalid_null_pointer_null_prop_value(void) {
    struct ol_get_device_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetDeviceInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropValue = NULL;
    expect(__func__, olGetDeviceInfo(*call.pDevice, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetDeviceInfoSize returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_device_info_size_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetDeviceInfoSize returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of devices */
static void test_ol_get_device_info_size_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of devices");
}

/* olGetDeviceInfoSize returns OL_ERRC_UNSUPPORTED: the driver does not tell this property */
static void test_ol_get_device_info_size_ol_errc_unsupported_prose(void) {
    skip(__func__, "the driver does not tell this property");
}

/* olGetDeviceInfoSize returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_get_device_info_size_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olGetDeviceInfoSize returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_get_device_info_size_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_get_device_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetDeviceInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olGetDeviceInfoSize(*call.pDevice, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetDeviceInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropSizeRet` */
static void test_ol_get_device_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret(void) {
    struct ol_get_device_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetDeviceInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSizeRet = NULL;
    expect(__func__, olGetDeviceInfoSize(*call.pDevice, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetEventElapsedTime returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_event_elapsed_time_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetEventElapsedTime returns OL_ERRC_INVALID_EVENT: `StartEvent` or `EndEvent` is not an event */
static void test_ol_get_event_elapsed_time_ol_errc_invalid_event_prose(void) {
    skip(__func__, "`StartEvent` or `EndEvent` is not an event");
}

/* olGetEventElapsedTime returns OL_ERRC_INVALID_ARGUMENT: an event does not measure time, or is not complete */
static void test_ol_get_event_elapsed_time_ol_errc_invalid_argument_prose(void) {
    skip(__func__, "an event does not measure time, or is not complete");
}

/* olGetEventElapsedTime returns OL_ERRC_INVALID_DEVICE: the events are of different devices */
static void test_ol_get_event_elapsed_time_ol_errc_invalid_device_prose(void) {
    skip(__func__, "the events are of different devices");
}

/* olGetEventElapsedTime returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == StartEvent` */
static void test_ol_get_event_elapsed_time_ol_errc_invalid_null_handle_null_start_event(void) {
    struct ol_get_event_elapsed_time_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventElapsedTime", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pStartEvent = NULL;
    expect(__func__, olGetEventElapsedTime(*call.pStartEvent, *call.pEndEvent, *call.pElapsedTime), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetEventElapsedTime returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == EndEvent` */
static void test_ol_get_event_elapsed_time_ol_errc_invalid_null_handle_null_end_event(void) {
    struct ol_get_event_elapsed_time_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventElapsedTime", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEndEvent = NULL;
    expect(__func__, olGetEventElapsedTime(*call.pStartEvent, *call.pEndEvent, *call.pElapsedTime), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetEventElapsedTime returns OL_ERRC_INVALID_NULL_POINTER: `NULL == ElapsedTime` */
static void test_ol_get_event_elapsed_time_ol_errc_invalid_null_pointer_null_elapsed_time(void) {
    struct ol_get_event_elapsed_time_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventElapsedTime", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pElapsedTime = NULL;
    expect(__func__, olGetEventElapsedTime(*call.pStartEvent, *call.pEndEvent, *call.pElapsedTime), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetEventInfo returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_event_info_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetEventInfo returns OL_ERRC_INVALID_SIZE: `PropSize == 0` */
static void test_ol_get_event_info_ol_errc_invalid_size_prop_size_0(void) {
    struct ol_get_event_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSize = 0;
    expect(__func__, olGetEventInfo(*call.pEvent, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_SIZE);
}

/* olGetEventInfo returns OL_ERRC_INVALID_SIZE: the property needs more than `PropSize` bytes */
static void test_ol_get_event_info_ol_errc_invalid_size_prose(void) {
    skip(__func__, "the property needs more than `PropSize` bytes");
}

/* olGetEventInfo returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of events */
static void test_ol_get_event_info_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of events");
}

/* olGetEventInfo returns OL_ERRC_INVALID_EVENT: `Event` is not an event */
static void test_ol_get_event_info_ol_errc_invalid_event_prose(void) {
    skip(__func__, "`Event` is not an event");
}

/* olGetEventInfo returns OL_ERRC_INVALID_QUEUE: the queue is asked for, and has been destroyed */
static void test_ol_get_event_info_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "the queue is asked for, and has been destroyed");
}

/* olGetEventInfo returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Event` */
static void test_ol_get_event_info_ol_errc_invalid_null_handle_null_event(void) {
    struct ol_get_event_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEvent = NULL;
    expect(__func__, olGetEventInfo(*call.pEvent, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetEventInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropValue` */
static void test_ol_get_event_info_ol_errc_invalid_null_pointer_null_prop_value(void) {
    struct ol_get_event_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropValue = NULL;
    expect(__func__, olGetEventInfo(*call.pEvent, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetEventInfoSize returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_event_info_size_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetEventInfoSize returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of events */
static void test_ol_get_event_info_size_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of events");
}

/* olGetEventInfoSize returns OL_ERRC_INVALID_EVENT: `Event` is not an event */
static void test_ol_get_event_info_size_ol_errc_invalid_event_prose(void) {
    skip(__func__, "`Event` is not an event");
}

/* olGetEventInfoSize returns OL_ERRC_INVALID_QUEUE: the queue is asked for, and has been destroyed */
static void test_ol_get_event_info_size_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "the queue is asked for, and has been destroyed");
}

/* olGetEventInfoSize returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Event` */
static void test_ol_get_event_info_size_ol_errc_invalid_null_handle_null_event(void) {
    struct ol_get_event_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEvent = NULL;
    expect(__func__, olGetEventInfoSize(*call.pEvent, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetEventInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropSizeRet` */
static void test_ol_get_event_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret(void) {
    struct ol_get_event_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetEventInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSizeRet = NULL;
    expect(__func__, olGetEventInfoSize(*call.pEvent, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_SYMBOL_KIND: `Kernel` is not a kernel */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_symbol_kind_prose(void) {
    skip(__func__, "`Kernel` is not a kernel");
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_UNSUPPORTED: the device has no cooperative launches, or its driver does not tell */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_unsupported_prose(void) {
    skip(__func__, "the device has no cooperative launches, or its driver does not tell");
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_get_kernel_max_cooperative_group_count_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetKernelMaxCooperativeGroupCount", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olGetKernelMaxCooperativeGroupCount(*call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pMaxGroupCount), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Kernel` */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_handle_null_kernel(void) {
    struct ol_get_kernel_max_cooperative_group_count_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetKernelMaxCooperativeGroupCount", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pKernel = NULL;
    expect(__func__, olGetKernelMaxCooperativeGroupCount(*call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pMaxGroupCount), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_INVALID_NULL_POINTER: `NULL == LaunchSizeArgs` */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_pointer_null_launch_size_args(void) {
    struct ol_get_kernel_max_cooperative_group_count_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetKernelMaxCooperativeGroupCount", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pLaunchSizeArgs = NULL;
    expect(__func__, olGetKernelMaxCooperativeGroupCount(*call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pMaxGroupCount), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetKernelMaxCooperativeGroupCount returns OL_ERRC_INVALID_NULL_POINTER: `NULL == MaxGroupCount` */
static void test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_pointer_null_max_group_count(void) {
    struct ol_get_kernel_max_cooperative_group_count_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetKernelMaxCooperativeGroupCount", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pMaxGroupCount = NULL;
    expect(__func__, olGetKernelMaxCooperativeGroupCount(*call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pMaxGroupCount), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetMemInfo returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_mem_info_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetMemInfo returns OL_ERRC_INVALID_SIZE: `PropSize == 0` */
static void test_ol_get_mem_info_ol_errc_invalid_size_prop_size_0(void) {
    struct ol_get_mem_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetMemInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSize = 0;
    expect(__func__, olGetMemInfo(*call.pPtr, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_SIZE);
}

/* olGetMemInfo returns OL_ERRC_INVALID_SIZE: the property needs more than `PropSize` bytes */
static void test_ol_get_mem_info_ol_errc_invalid_size_prose(void) {
    skip(__func__, "the property needs more than `PropSize` bytes");
}

/* olGetMemInfo returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of allocations */
static void test_ol_get_mem_info_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of allocations");
}

/* olGetMemInfo returns OL_ERRC_NOT_FOUND: `Ptr` is in no allocation of this library */
static void test_ol_get_mem_info_ol_errc_not_found_prose(void) {
    skip(__func__, "`Ptr` is in no allocation of this library");
}

/* olGetMemInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Ptr` */
static void test_ol_get_mem_info_ol_errc_invalid_null_pointer_null_ptr(void) {
    struct ol_get_mem_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetMemInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPtr = NULL;
    expect(__func__, olGetMemInfo(*call.pPtr, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetMemInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropValue` */
static void test_ol_get_mem_info_ol_errc_invalid_null_pointer_null_prop_value(void) {
    struct ol_get_mem_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetMemInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropValue = NULL;
    expect(__func__, olGetMemInfo(*call.pPtr, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetMemInfoSize returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_mem_info_size_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetMemInfoSize returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of allocations */
static void test_ol_get_mem_info_size_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of allocations");
}

/* olGetMemInfoSize returns OL_ERRC_NOT_FOUND: `Ptr` is in no allocation of this library */
static void test_ol_get_mem_info_size_ol_errc_not_found_prose(void) {
    skip(__func__, "`Ptr` is in no allocation of this library");
}

/* olGetMemInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Ptr` */
static void test_ol_get_mem_info_size_ol_errc_invalid_null_pointer_null_ptr(void) {
    struct ol_get_mem_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetMemInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPtr = NULL;
    expect(__func__, olGetMemInfoSize(*call.pPtr, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetMemInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropSizeRet` */
static void test_ol_get_mem_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret(void) {
    struct ol_get_mem_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetMemInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSizeRet = NULL;
    expect(__func__, olGetMemInfoSize(*call.pPtr, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetPlatformInfo returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_platform_info_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetPlatformInfo returns OL_ERRC_INVALID_SIZE: `PropSize == 0` */
static void test_ol_get_platform_info_ol_errc_invalid_size_prop_size_0(void) {
    struct ol_get_platform_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetPlatformInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSize = 0;
    expect(__func__, olGetPlatformInfo(*call.pPlatform, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_SIZE);
}

/* olGetPlatformInfo returns OL_ERRC_INVALID_SIZE: the property needs more than `PropSize` bytes */
static void test_ol_get_platform_info_ol_errc_invalid_size_prose(void) {
    skip(__func__, "the property needs more than `PropSize` bytes");
}

/* olGetPlatformInfo returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of platforms */
static void test_ol_get_platform_info_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of platforms");
}

/* olGetPlatformInfo returns OL_ERRC_INVALID_PLATFORM: `Platform` is not a platform */
static void test_ol_get_platform_info_ol_errc_invalid_platform_prose(void) {
    skip(__func__, "`Platform` is not a platform");
}

/* olGetPlatformInfo returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Platform` */
static void test_ol_get_platform_info_ol_errc_invalid_null_handle_null_platform(void) {
    struct ol_get_platform_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetPlatformInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPlatform = NULL;
    expect(__func__, olGetPlatformInfo(*call.pPlatform, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetPlatformInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropValue` */
static void test_ol_get_platform_info_ol_errc_invalid_null_pointer_null_prop_value(void) {
    struct ol_get_platform_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetPlatformInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropValue = NULL;
    expect(__func__, olGetPlatformInfo(*call.pPlatform, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetPlatformInfoSize returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_platform_info_size_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetPlatformInfoSize returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of platforms */
static void test_ol_get_platform_info_size_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of platforms");
}

/* olGetPlatformInfoSize returns OL_ERRC_INVALID_PLATFORM: `Platform` is not a platform */
static void test_ol_get_platform_info_size_ol_errc_invalid_platform_prose(void) {
    skip(__func__, "`Platform` is not a platform");
}

/* olGetPlatformInfoSize returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Platform` */
static void test_ol_get_platform_info_size_ol_errc_invalid_null_handle_null_platform(void) {
    struct ol_get_platform_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetPlatformInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPlatform = NULL;
    expect(__func__, olGetPlatformInfoSize(*call.pPlatform, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetPlatformInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropSizeRet` */
static void test_ol_get_platform_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret(void) {
    struct ol_get_platform_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetPlatformInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSizeRet = NULL;
    expect(__func__, olGetPlatformInfoSize(*call.pPlatform, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetQueueInfo returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_queue_info_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetQueueInfo returns OL_ERRC_INVALID_SIZE: `PropSize == 0` */
static void test_ol_get_queue_info_ol_errc_invalid_size_prop_size_0(void) {
    struct ol_get_queue_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetQueueInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSize = 0;
    expect(__func__, olGetQueueInfo(*call.pQueue, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_SIZE);
}

/* olGetQueueInfo returns OL_ERRC_INVALID_SIZE: the property needs more than `PropSize` bytes */
static void test_ol_get_queue_info_ol_errc_invalid_size_prose(void) {
    skip(__func__, "the property needs more than `PropSize` bytes");
}

/* olGetQueueInfo returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of queues */
static void test_ol_get_queue_info_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of queues");
}

/* olGetQueueInfo returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_get_queue_info_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olGetQueueInfo returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_get_queue_info_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_get_queue_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetQueueInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olGetQueueInfo(*call.pQueue, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetQueueInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropValue` */
static void test_ol_get_queue_info_ol_errc_invalid_null_pointer_null_prop_value(void) {
    struct ol_get_queue_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetQueueInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropValue = NULL;
    expect(__func__, olGetQueueInfo(*call.pQueue, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetQueueInfoSize returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_queue_info_size_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetQueueInfoSize returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of queues */
static void test_ol_get_queue_info_size_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of queues");
}

/* olGetQueueInfoSize returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_get_queue_info_size_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olGetQueueInfoSize returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_get_queue_info_size_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_get_queue_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetQueueInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olGetQueueInfoSize(*call.pQueue, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetQueueInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropSizeRet` */
static void test_ol_get_queue_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret(void) {
    struct ol_get_queue_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetQueueInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSizeRet = NULL;
    expect(__func__, olGetQueueInfoSize(*call.pQueue, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetSymbol returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_symbol_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetSymbol returns OL_ERRC_INVALID_ENUMERATION: `Kind` is not a kind of symbols */
static void test_ol_get_symbol_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`Kind` is not a kind of symbols");
}

/* olGetSymbol returns OL_ERRC_NOT_FOUND: the program has no such symbol */
static void test_ol_get_symbol_ol_errc_not_found_prose(void) {
    skip(__func__, "the program has no such symbol");
}

/* olGetSymbol returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Program` */
static void test_ol_get_symbol_ol_errc_invalid_null_handle_null_program(void) {
    struct ol_get_symbol_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbol", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pProgram = NULL;
    expect(__func__, olGetSymbol(*call.pProgram, *call.pName, *call.pKind, *call.pSymbol), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetSymbol returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Name` */
static void test_ol_get_symbol_ol_errc_invalid_null_pointer_null_name(void) {
    struct ol_get_symbol_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbol", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pName = NULL;
    expect(__func__, olGetSymbol(*call.pProgram, *call.pName, *call.pKind, *call.pSymbol), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetSymbol returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Symbol` */
static void test_ol_get_symbol_ol_errc_invalid_null_pointer_null_symbol(void) {
    struct ol_get_symbol_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbol", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSymbol = NULL;
    expect(__func__, olGetSymbol(*call.pProgram, *call.pName, *call.pKind, *call.pSymbol), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetSymbolInfo returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_symbol_info_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetSymbolInfo returns OL_ERRC_INVALID_SIZE: `PropSize == 0` */
static void test_ol_get_symbol_info_ol_errc_invalid_size_prop_size_0(void) {
    struct ol_get_symbol_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbolInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSize = 0;
    expect(__func__, olGetSymbolInfo(*call.pSymbol, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_SIZE);
}

/* olGetSymbolInfo returns OL_ERRC_INVALID_SIZE: the property needs more than `PropSize` bytes */
static void test_ol_get_symbol_info_ol_errc_invalid_size_prose(void) {
    skip(__func__, "the property needs more than `PropSize` bytes");
}

/* olGetSymbolInfo returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of symbols */
static void test_ol_get_symbol_info_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of symbols");
}

/* olGetSymbolInfo returns OL_ERRC_SYMBOL_KIND: symbols of this kind do not have the property */
static void test_ol_get_symbol_info_ol_errc_symbol_kind_prose(void) {
    skip(__func__, "symbols of this kind do not have the property");
}

/* olGetSymbolInfo returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Symbol` */
static void test_ol_get_symbol_info_ol_errc_invalid_null_handle_null_symbol(void) {
    struct ol_get_symbol_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbolInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSymbol = NULL;
    expect(__func__, olGetSymbolInfo(*call.pSymbol, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetSymbolInfo returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropValue` */
static void test_ol_get_symbol_info_ol_errc_invalid_null_pointer_null_prop_value(void) {
    struct ol_get_symbol_info_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbolInfo", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropValue = NULL;
    expect(__func__, olGetSymbolInfo(*call.pSymbol, *call.pPropName, *call.pPropSize, *call.pPropValue), OL_ERRC_INVALID_NULL_POINTER);
}

/* olGetSymbolInfoSize returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_get_symbol_info_size_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olGetSymbolInfoSize returns OL_ERRC_INVALID_ENUMERATION: `PropName` is no property of symbols */
static void test_ol_get_symbol_info_size_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`PropName` is no property of symbols");
}

/* olGetSymbolInfoSize returns OL_ERRC_SYMBOL_KIND: symbols of this kind do not have the property */
static void test_ol_get_symbol_info_size_ol_errc_symbol_kind_prose(void) {
    skip(__func__, "symbols of this kind do not have the property");
}

/* olGetSymbolInfoSize returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Symbol` */
static void test_ol_get_symbol_info_size_ol_errc_invalid_null_handle_null_symbol(void) {
    struct ol_get_symbol_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbolInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSymbol = NULL;
    expect(__func__, olGetSymbolInfoSize(*call.pSymbol, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olGetSymbolInfoSize returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PropSizeRet` */
static void test_ol_get_symbol_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret(void) {
    struct ol_get_symbol_info_size_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olGetSymbolInfoSize", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPropSizeRet = NULL;
    expect(__func__, olGetSymbolInfoSize(*call.pSymbol, *call.pPropName, *call.pPropSizeRet), OL_ERRC_INVALID_NULL_POINTER);
}

/* olInit returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_init_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olInit returns OL_ERRC_INVALID_ARGUMENT: `InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL` */
static void test_ol_init_ol_errc_invalid_argument_init_args_null_init_args_num_platforms_0_init_args_platforms_null(void) {
    skip(__func__, "`InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL`");
}

/* olInit returns OL_ERRC_INVALID_SIZE: `InitArgs != NULL && InitArgs->Size == 0` */
static void test_ol_init_ol_errc_invalid_size_init_args_null_init_args_size_0(void) {
    skip(__func__, "`InitArgs != NULL && InitArgs->Size == 0`");
}

/* olIsValidBinary returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_is_valid_binary_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olIsValidBinary returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_is_valid_binary_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olIsValidBinary returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_is_valid_binary_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_is_valid_binary_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olIsValidBinary", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olIsValidBinary(*call.pDevice, *call.pProgData, *call.pProgDataSize, *call.pValid), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olIsValidBinary returns OL_ERRC_INVALID_NULL_POINTER: `NULL == ProgData` */
static void test_ol_is_valid_binary_ol_errc_invalid_null_pointer_null_prog_data(void) {
    struct ol_is_valid_binary_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olIsValidBinary", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pProgData = NULL;
    expect(__func__, olIsValidBinary(*call.pDevice, *call.pProgData, *call.pProgDataSize, *call.pValid), OL_ERRC_INVALID_NULL_POINTER);
}

/* olIsValidBinary returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Valid` */
static void test_ol_is_valid_binary_ol_errc_invalid_null_pointer_null_valid(void) {
    struct ol_is_valid_binary_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olIsValidBinary", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pValid = NULL;
    expect(__func__, olIsValidBinary(*call.pDevice, *call.pProgData, *call.pProgDataSize, *call.pValid), OL_ERRC_INVALID_NULL_POINTER);
}

/* olIterateDevices returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_iterate_devices_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olIterateDevices returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Callback` */
static void test_ol_iterate_devices_ol_errc_invalid_null_pointer_null_callback(void) {
    struct ol_iterate_devices_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olIterateDevices", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pCallback = NULL;
    expect(__func__, olIterateDevices(*call.pCallback, *call.pUserData), OL_ERRC_INVALID_NULL_POINTER);
}

/* olLaunchHostFunction returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_launch_host_function_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olLaunchHostFunction returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_launch_host_function_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olLaunchHostFunction returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_launch_host_function_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_launch_host_function_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olLaunchHostFunction", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olLaunchHostFunction(*call.pQueue, *call.pCallback, *call.pUserData), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olLaunchHostFunction returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Callback` */
static void test_ol_launch_host_function_ol_errc_invalid_null_pointer_null_callback(void) {
    struct ol_launch_host_function_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olLaunchHostFunction", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pCallback = NULL;
    expect(__func__, olLaunchHostFunction(*call.pQueue, *call.pCallback, *call.pUserData), OL_ERRC_INVALID_NULL_POINTER);
}

/* olLaunchKernel returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_launch_kernel_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olLaunchKernel returns OL_ERRC_INVALID_ARGUMENT: `(ArgPtrs == NULL) != (ArgSizes == NULL)` */
static void test_ol_launch_kernel_ol_errc_invalid_argument_arg_ptrs_null_arg_sizes_null(void) {
    skip(__func__, "`(ArgPtrs == NULL) != (ArgSizes == NULL)`");
}

/* olLaunchKernel returns OL_ERRC_INVALID_ARGUMENT: `NumArgs > 0 && (ArgPtrs == NULL || ArgSizes == NULL)` */
static void test_ol_launch_kernel_ol_errc_invalid_argument_num_args_0_arg_ptrs_null_arg_sizes_null(void) {
    skip(__func__, "`NumArgs > 0 && (ArgPtrs == NULL || ArgSizes == NULL)`");
}

/* olLaunchKernel returns OL_ERRC_INVALID_ARGUMENT: the kernel has more arguments than `NumArgs`, or fewer */
static void test_ol_launch_kernel_ol_errc_invalid_argument_prose(void) {
    skip(__func__, "the kernel has more arguments than `NumArgs`, or fewer");
}

/* olLaunchKernel returns OL_ERRC_INVALID_QUEUE: `Queue` is neither null nor a queue */
static void test_ol_launch_kernel_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is neither null nor a queue");
}

/* olLaunchKernel returns OL_ERRC_INVALID_DEVICE: `Device` is not a device, or not the queue's */
static void test_ol_launch_kernel_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device, or not the queue's");
}

/* olLaunchKernel returns OL_ERRC_SYMBOL_KIND: `Kernel` is not a kernel */
static void test_ol_launch_kernel_ol_errc_symbol_kind_prose(void) {
    skip(__func__, "`Kernel` is not a kernel");
}

/* olLaunchKernel returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_launch_kernel_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_launch_kernel_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olLaunchKernel", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olLaunchKernel(*call.pQueue, *call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pProperties, *call.pNumArgs, *call.pArgPtrs, *call.pArgSizes), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olLaunchKernel returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Kernel` */
static void test_ol_launch_kernel_ol_errc_invalid_null_handle_null_kernel(void) {
    struct ol_launch_kernel_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olLaunchKernel", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pKernel = NULL;
    expect(__func__, olLaunchKernel(*call.pQueue, *call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pProperties, *call.pNumArgs, *call.pArgPtrs, *call.pArgSizes), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olLaunchKernel returns OL_ERRC_INVALID_NULL_POINTER: `NULL == LaunchSizeArgs` */
static void test_ol_launch_kernel_ol_errc_invalid_null_pointer_null_launch_size_args(void) {
    struct ol_launch_kernel_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olLaunchKernel", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pLaunchSizeArgs = NULL;
    expect(__func__, olLaunchKernel(*call.pQueue, *call.pDevice, *call.pKernel, *call.pLaunchSizeArgs, *call.pProperties, *call.pNumArgs, *call.pArgPtrs, *call.pArgSizes), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemAlloc returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_alloc_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemAlloc returns OL_ERRC_INVALID_SIZE: `Size == 0` */
static void test_ol_mem_alloc_ol_errc_invalid_size_size_0(void) {
    struct ol_mem_alloc_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAlloc", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSize = 0;
    expect(__func__, olMemAlloc(*call.pDevice, *call.pType, *call.pSize, *call.pAllocationOut), OL_ERRC_INVALID_SIZE);
}

/* olMemAlloc returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_mem_alloc_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olMemAlloc returns OL_ERRC_INVALID_ENUMERATION: `Type` is not an allocation type */
static void test_ol_mem_alloc_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`Type` is not an allocation type");
}

/* olMemAlloc returns OL_ERRC_OUT_OF_RESOURCES: there is not that much memory */
static void test_ol_mem_alloc_ol_errc_out_of_resources_prose(void) {
    skip(__func__, "there is not that much memory");
}

/* olMemAlloc returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_mem_alloc_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_mem_alloc_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAlloc", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olMemAlloc(*call.pDevice, *call.pType, *call.pSize, *call.pAllocationOut), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemAlloc returns OL_ERRC_INVALID_NULL_POINTER: `NULL == AllocationOut` */
static void test_ol_mem_alloc_ol_errc_invalid_null_pointer_null_allocation_out(void) {
    struct ol_mem_alloc_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAlloc", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pAllocationOut = NULL;
    expect(__func__, olMemAlloc(*call.pDevice, *call.pType, *call.pSize, *call.pAllocationOut), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemAllocAligned returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_alloc_aligned_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemAllocAligned returns OL_ERRC_INVALID_SIZE: `Size == 0` */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_size_size_0(void) {
    struct ol_mem_alloc_aligned_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAllocAligned", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSize = 0;
    expect(__func__, olMemAllocAligned(*call.pDevice, *call.pType, *call.pSize, *call.pAlignment, *call.pAllocationOut), OL_ERRC_INVALID_SIZE);
}

/* olMemAllocAligned returns OL_ERRC_INVALID_ARGUMENT: `Alignment == 0` */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_argument_alignment_0(void) {
    struct ol_mem_alloc_aligned_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAllocAligned", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pAlignment = 0;
    expect(__func__, olMemAllocAligned(*call.pDevice, *call.pType, *call.pSize, *call.pAlignment, *call.pAllocationOut), OL_ERRC_INVALID_ARGUMENT);
}

/* olMemAllocAligned returns OL_ERRC_INVALID_ARGUMENT: `(Alignment & (Alignment - 1)) != 0` */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_argument_alignment_alignment_1_0(void) {
    skip(__func__, "`(Alignment & (Alignment - 1)) != 0`");
}

/* olMemAllocAligned returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olMemAllocAligned returns OL_ERRC_INVALID_ENUMERATION: `Type` is not an allocation type */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_enumeration_prose(void) {
    skip(__func__, "`Type` is not an allocation type");
}

/* olMemAllocAligned returns OL_ERRC_OUT_OF_RESOURCES: there is not that much memory */
static void test_ol_mem_alloc_aligned_ol_errc_out_of_resources_prose(void) {
    skip(__func__, "there is not that much memory");
}

/* olMemAllocAligned returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_mem_alloc_aligned_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAllocAligned", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olMemAllocAligned(*call.pDevice, *call.pType, *call.pSize, *call.pAlignment, *call.pAllocationOut), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemAllocAligned returns OL_ERRC_INVALID_NULL_POINTER: `NULL == AllocationOut` */
static void test_ol_mem_alloc_aligned_ol_errc_invalid_null_pointer_null_allocation_out(void) {
    struct ol_mem_alloc_aligned_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemAllocAligned", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pAllocationOut = NULL;
    expect(__func__, olMemAllocAligned(*call.pDevice, *call.pType, *call.pSize, *call.pAlignment, *call.pAllocationOut), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemFill returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_fill_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemFill returns OL_ERRC_INVALID_SIZE: `PatternSize == 0` */
static void test_ol_mem_fill_ol_errc_invalid_size_pattern_size_0(void) {
    struct ol_mem_fill_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemFill", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPatternSize = 0;
    expect(__func__, olMemFill(*call.pQueue, *call.pPtr, *call.pPatternSize, *call.pPatternPtr, *call.pFillSize), OL_ERRC_INVALID_SIZE);
}

/* olMemFill returns OL_ERRC_INVALID_SIZE: `FillSize % PatternSize != 0` */
static void test_ol_mem_fill_ol_errc_invalid_size_fill_size_pattern_size_0(void) {
    skip(__func__, "`FillSize % PatternSize != 0`");
}

/* olMemFill returns OL_ERRC_INVALID_QUEUE: `Queue` is neither null nor a queue */
static void test_ol_mem_fill_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is neither null nor a queue");
}

/* olMemFill returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Ptr` */
static void test_ol_mem_fill_ol_errc_invalid_null_pointer_null_ptr(void) {
    struct ol_mem_fill_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemFill", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPtr = NULL;
    expect(__func__, olMemFill(*call.pQueue, *call.pPtr, *call.pPatternSize, *call.pPatternPtr, *call.pFillSize), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemFill returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PatternPtr` */
static void test_ol_mem_fill_ol_errc_invalid_null_pointer_null_pattern_ptr(void) {
    struct ol_mem_fill_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemFill", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPatternPtr = NULL;
    expect(__func__, olMemFill(*call.pQueue, *call.pPtr, *call.pPatternSize, *call.pPatternPtr, *call.pFillSize), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemFree returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_free_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemFree returns OL_ERRC_NOT_FOUND: no allocation of this library begins at `Address` */
static void test_ol_mem_free_ol_errc_not_found_prose(void) {
    skip(__func__, "no allocation of this library begins at `Address`");
}

/* olMemFree returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Address` */
static void test_ol_mem_free_ol_errc_invalid_null_pointer_null_address(void) {
    struct ol_mem_free_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemFree", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pAddress = NULL;
    expect(__func__, olMemFree(*call.pAddress), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemPrefetch returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_prefetch_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemPrefetch returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_mem_prefetch_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olMemPrefetch returns OL_ERRC_INVALID_NULL_POINTER: `Count > 0 && Mems == NULL` */
static void test_ol_mem_prefetch_ol_errc_invalid_null_pointer_count_0_mems_null(void) {
    skip(__func__, "`Count > 0 && Mems == NULL`");
}

/* olMemPrefetch returns OL_ERRC_INVALID_NULL_POINTER: `Count > 0 && Sizes == NULL` */
static void test_ol_mem_prefetch_ol_errc_invalid_null_pointer_count_0_sizes_null(void) {
    skip(__func__, "`Count > 0 && Sizes == NULL`");
}

/* olMemPrefetch returns OL_ERRC_INVALID_ENUMERATION: `(Flags & ~(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST)) != 0` */
static void test_ol_mem_prefetch_ol_errc_invalid_enumeration_flags_ol_mem_migration_flag_host_to_device_ol_mem_migration_flag_device_to_host_0(void) {
    skip(__func__, "`(Flags & ~(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST)) != 0`");
}

/* olMemPrefetch returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_mem_prefetch_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_mem_prefetch_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemPrefetch", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olMemPrefetch(*call.pQueue, *call.pCount, *call.pMems, *call.pSizes, *call.pFlags), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemRegister returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_register_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemRegister returns OL_ERRC_INVALID_SIZE: `Size == 0` */
static void test_ol_mem_register_ol_errc_invalid_size_size_0(void) {
    struct ol_mem_register_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemRegister", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSize = 0;
    expect(__func__, olMemRegister(*call.pDevice, *call.pPtr, *call.pSize, *call.pFlags, *call.pPinnedPtr), OL_ERRC_INVALID_SIZE);
}

/* olMemRegister returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_mem_register_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olMemRegister returns OL_ERRC_INVALID_ENUMERATION: `(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0` */
static void test_ol_mem_register_ol_errc_invalid_enumeration_flags_ol_memory_register_flag_lock_memory_ol_memory_register_flag_unlock_memory_0(void) {
    skip(__func__, "`(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`");
}

/* olMemRegister returns OL_ERRC_INVALID_ARGUMENT: the memory overlaps registered memory without lying in it */
static void test_ol_mem_register_ol_errc_invalid_argument_prose(void) {
    skip(__func__, "the memory overlaps registered memory without lying in it");
}

/* olMemRegister returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_mem_register_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_mem_register_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemRegister", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olMemRegister(*call.pDevice, *call.pPtr, *call.pSize, *call.pFlags, *call.pPinnedPtr), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemRegister returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Ptr` */
static void test_ol_mem_register_ol_errc_invalid_null_pointer_null_ptr(void) {
    struct ol_mem_register_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemRegister", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPtr = NULL;
    expect(__func__, olMemRegister(*call.pDevice, *call.pPtr, *call.pSize, *call.pFlags, *call.pPinnedPtr), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemRegister returns OL_ERRC_INVALID_NULL_POINTER: `NULL == PinnedPtr` */
static void test_ol_mem_register_ol_errc_invalid_null_pointer_null_pinned_ptr(void) {
    struct ol_mem_register_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemRegister", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPinnedPtr = NULL;
    expect(__func__, olMemRegister(*call.pDevice, *call.pPtr, *call.pSize, *call.pFlags, *call.pPinnedPtr), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemUnregister returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_mem_unregister_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemUnregister returns OL_ERRC_INVALID_DEVICE: `Device` is not a device */
static void test_ol_mem_unregister_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`Device` is not a device");
}

/* olMemUnregister returns OL_ERRC_INVALID_ENUMERATION: `(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0` */
static void test_ol_mem_unregister_ol_errc_invalid_enumeration_flags_ol_memory_register_flag_lock_memory_ol_memory_register_flag_unlock_memory_0(void) {
    skip(__func__, "`(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`");
}

/* olMemUnregister returns OL_ERRC_INVALID_ARGUMENT: no registered memory begins at `Ptr` */
static void test_ol_mem_unregister_ol_errc_invalid_argument_prose(void) {
    skip(__func__, "no registered memory begins at `Ptr`");
}

/* olMemUnregister returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Device` */
static void test_ol_mem_unregister_ol_errc_invalid_null_handle_null_device(void) {
    struct ol_mem_unregister_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemUnregister", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDevice = NULL;
    expect(__func__, olMemUnregister(*call.pDevice, *call.pPtr, *call.pFlags), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemUnregister returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Ptr` */
static void test_ol_mem_unregister_ol_errc_invalid_null_pointer_null_ptr(void) {
    struct ol_mem_unregister_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemUnregister", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPtr = NULL;
    expect(__func__, olMemUnregister(*call.pDevice, *call.pPtr, *call.pFlags), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemcpy returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_memcpy_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olMemcpy returns OL_ERRC_INVALID_QUEUE: `Queue` is neither null nor a queue */
static void test_ol_memcpy_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is neither null nor a queue");
}

/* olMemcpy returns OL_ERRC_INVALID_DEVICE: `DstDevice` or `SrcDevice` is not a device */
static void test_ol_memcpy_ol_errc_invalid_device_prose(void) {
    skip(__func__, "`DstDevice` or `SrcDevice` is not a device");
}

/* olMemcpy returns OL_ERRC_INVALID_ARGUMENT: both devices are the host, and `Queue` is another device's */
static void test_ol_memcpy_ol_errc_invalid_argument_prose(void) {
    skip(__func__, "both devices are the host, and `Queue` is another device's");
}

/* olMemcpy returns OL_ERRC_INVALID_SIZE: an allocation of this library ends before `Size` bytes do */
static void test_ol_memcpy_ol_errc_invalid_size_prose(void) {
    skip(__func__, "an allocation of this library ends before `Size` bytes do");
}

/* olMemcpy returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == DstDevice` */
static void test_ol_memcpy_ol_errc_invalid_null_handle_null_dst_device(void) {
    struct ol_memcpy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemcpy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDstDevice = NULL;
    expect(__func__, olMemcpy(*call.pQueue, *call.pDstPtr, *call.pDstDevice, *call.pSrcPtr, *call.pSrcDevice, *call.pSize), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemcpy returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == SrcDevice` */
static void test_ol_memcpy_ol_errc_invalid_null_handle_null_src_device(void) {
    struct ol_memcpy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemcpy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSrcDevice = NULL;
    expect(__func__, olMemcpy(*call.pQueue, *call.pDstPtr, *call.pDstDevice, *call.pSrcPtr, *call.pSrcDevice, *call.pSize), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olMemcpy returns OL_ERRC_INVALID_NULL_POINTER: `NULL == DstPtr` */
static void test_ol_memcpy_ol_errc_invalid_null_pointer_null_dst_ptr(void) {
    struct ol_memcpy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemcpy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pDstPtr = NULL;
    expect(__func__, olMemcpy(*call.pQueue, *call.pDstPtr, *call.pDstDevice, *call.pSrcPtr, *call.pSrcDevice, *call.pSize), OL_ERRC_INVALID_NULL_POINTER);
}

/* olMemcpy returns OL_ERRC_INVALID_NULL_POINTER: `NULL == SrcPtr` */
static void test_ol_memcpy_ol_errc_invalid_null_pointer_null_src_ptr(void) {
    struct ol_memcpy_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olMemcpy", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pSrcPtr = NULL;
    expect(__func__, olMemcpy(*call.pQueue, *call.pDstPtr, *call.pDstDevice, *call.pSrcPtr, *call.pSrcDevice, *call.pSize), OL_ERRC_INVALID_NULL_POINTER);
}

/* olPlatformRegisterRPCCallback returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_platform_register_rpc_callback_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olPlatformRegisterRPCCallback returns OL_ERRC_INVALID_PLATFORM: `Platform` is not a platform */
static void test_ol_platform_register_rpc_callback_ol_errc_invalid_platform_prose(void) {
    skip(__func__, "`Platform` is not a platform");
}

/* olPlatformRegisterRPCCallback returns OL_ERRC_UNSUPPORTED: kernels of the platform cannot call the host */
static void test_ol_platform_register_rpc_callback_ol_errc_unsupported_prose(void) {
    skip(__func__, "kernels of the platform cannot call the host");
}

/* olPlatformRegisterRPCCallback returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Platform` */
static void test_ol_platform_register_rpc_callback_ol_errc_invalid_null_handle_null_platform(void) {
    struct ol_platform_register_rpc_callback_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olPlatformRegisterRPCCallback", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pPlatform = NULL;
    expect(__func__, olPlatformRegisterRPCCallback(*call.pPlatform, *call.pCallback), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olPlatformRegisterRPCCallback returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Callback` */
static void test_ol_platform_register_rpc_callback_ol_errc_invalid_null_pointer_null_callback(void) {
    struct ol_platform_register_rpc_callback_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olPlatformRegisterRPCCallback", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pCallback = NULL;
    expect(__func__, olPlatformRegisterRPCCallback(*call.pPlatform, *call.pCallback), OL_ERRC_INVALID_NULL_POINTER);
}

/* olQueryQueue returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_query_queue_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olQueryQueue returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_query_queue_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olQueryQueue returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_query_queue_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_query_queue_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olQueryQueue", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olQueryQueue(*call.pQueue, *call.pIsQueueWorkCompleted), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olShutDown returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_shut_down_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olSyncEvent returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_sync_event_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olSyncEvent returns OL_ERRC_INVALID_EVENT: `Event` is not an event */
static void test_ol_sync_event_ol_errc_invalid_event_prose(void) {
    skip(__func__, "`Event` is not an event");
}

/* olSyncEvent returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Event` */
static void test_ol_sync_event_ol_errc_invalid_null_handle_null_event(void) {
    struct ol_sync_event_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olSyncEvent", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEvent = NULL;
    expect(__func__, olSyncEvent(*call.pEvent), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olSyncQueue returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_sync_queue_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olSyncQueue returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_sync_queue_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olSyncQueue returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_sync_queue_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_sync_queue_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olSyncQueue", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olSyncQueue(*call.pQueue), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olWaitEvents returns OL_ERRC_UNINITIALIZED: the library is not initialised */
static void test_ol_wait_events_ol_errc_uninitialized_prose(void) {
    skip(__func__, "the library is not initialised");
}

/* olWaitEvents returns OL_ERRC_INVALID_QUEUE: `Queue` is not a queue */
static void test_ol_wait_events_ol_errc_invalid_queue_prose(void) {
    skip(__func__, "`Queue` is not a queue");
}

/* olWaitEvents returns OL_ERRC_INVALID_NULL_HANDLE: an element of `Events` is null */
static void test_ol_wait_events_ol_errc_invalid_null_handle_prose(void) {
    skip(__func__, "an element of `Events` is null");
}

/* olWaitEvents returns OL_ERRC_INVALID_NULL_HANDLE: `NULL == Queue` */
static void test_ol_wait_events_ol_errc_invalid_null_handle_null_queue(void) {
    struct ol_wait_events_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olWaitEvents", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pQueue = NULL;
    expect(__func__, olWaitEvents(*call.pQueue, *call.pEvents, *call.pNumEvents), OL_ERRC_INVALID_NULL_HANDLE);
}

/* olWaitEvents returns OL_ERRC_INVALID_EVENT: an element of `Events` is not an event */
static void test_ol_wait_events_ol_errc_invalid_event_prose(void) {
    skip(__func__, "an element of `Events` is not an event");
}

/* olWaitEvents returns OL_ERRC_INVALID_NULL_POINTER: `NULL == Events` */
static void test_ol_wait_events_ol_errc_invalid_null_pointer_null_events(void) {
    struct ol_wait_events_params_t call;
    memset(&call, 0, sizeof call);
    if (!fixture("olWaitEvents", &call)) {
        skip(__func__, "the fixture has no call");
        return;
    }
    *call.pEvents = NULL;
    expect(__func__, olWaitEvents(*call.pQueue, *call.pEvents, *call.pNumEvents), OL_ERRC_INVALID_NULL_POINTER);
}

int main(void) {
    test_ol_calculate_optimal_occupancy_ol_errc_uninitialized_prose();
    test_ol_calculate_optimal_occupancy_ol_errc_invalid_device_prose();
    test_ol_calculate_optimal_occupancy_ol_errc_symbol_kind_prose();
    test_ol_calculate_optimal_occupancy_ol_errc_unsupported_prose();
    test_ol_calculate_optimal_occupancy_ol_errc_invalid_null_handle_null_device();
    test_ol_calculate_optimal_occupancy_ol_errc_invalid_null_handle_null_kernel();
    test_ol_calculate_optimal_occupancy_ol_errc_invalid_null_pointer_null_group_size();
    test_ol_create_event_ol_errc_uninitialized_prose();
    test_ol_create_event_ol_errc_invalid_queue_prose();
    test_ol_create_event_ol_errc_invalid_enumeration_prose();
    test_ol_create_event_ol_errc_invalid_null_handle_null_queue();
    test_ol_create_event_ol_errc_invalid_null_pointer_null_event();
    test_ol_create_program_ol_errc_uninitialized_prose();
    test_ol_create_program_ol_errc_invalid_device_prose();
    test_ol_create_program_ol_errc_invalid_binary_prose();
    test_ol_create_program_ol_errc_invalid_null_handle_null_device();
    test_ol_create_program_ol_errc_invalid_null_pointer_null_prog_data();
    test_ol_create_program_ol_errc_invalid_null_pointer_null_program();
    test_ol_create_queue_ol_errc_uninitialized_prose();
    test_ol_create_queue_ol_errc_invalid_device_prose();
    test_ol_create_queue_ol_errc_invalid_null_handle_null_device();
    test_ol_create_queue_ol_errc_invalid_null_pointer_null_queue();
    test_ol_destroy_event_ol_errc_uninitialized_prose();
    test_ol_destroy_event_ol_errc_invalid_event_prose();
    test_ol_destroy_event_ol_errc_invalid_null_handle_null_event();
    test_ol_destroy_program_ol_errc_uninitialized_prose();
    test_ol_destroy_program_ol_errc_invalid_argument_prose();
    test_ol_destroy_program_ol_errc_invalid_null_handle_null_program();
    test_ol_destroy_queue_ol_errc_uninitialized_prose();
    test_ol_destroy_queue_ol_errc_invalid_queue_prose();
    test_ol_destroy_queue_ol_errc_invalid_null_handle_null_queue();
    test_ol_get_device_info_ol_errc_uninitialized_prose();
    test_ol_get_device_info_ol_errc_invalid_size_prop_size_0();
    test_ol_get_device_info_ol_errc_invalid_size_prose();
    test_ol_get_device_info_ol_errc_invalid_enumeration_prose();
    test_ol_get_device_info_ol_errc_unsupported_prose();
    test_ol_get_device_info_ol_errc_invalid_device_prose();
    test_ol_get_device_info_ol_errc_invalid_null_handle_null_device();
    test_ol_get_device_info_ol_errc_invalid_null_pointer_null_prop_value();
    test_ol_get_device_info_size_ol_errc_uninitialized_prose();
    test_ol_get_device_info_size_ol_errc_invalid_enumeration_prose();
    test_ol_get_device_info_size_ol_errc_unsupported_prose();
    test_ol_get_device_info_size_ol_errc_invalid_device_prose();
    test_ol_get_device_info_size_ol_errc_invalid_null_handle_null_device();
    test_ol_get_device_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret();
    test_ol_get_event_elapsed_time_ol_errc_uninitialized_prose();
    test_ol_get_event_elapsed_time_ol_errc_invalid_event_prose();
    test_ol_get_event_elapsed_time_ol_errc_invalid_argument_prose();
    test_ol_get_event_elapsed_time_ol_errc_invalid_device_prose();
    test_ol_get_event_elapsed_time_ol_errc_invalid_null_handle_null_start_event();
    test_ol_get_event_elapsed_time_ol_errc_invalid_null_handle_null_end_event();
    test_ol_get_event_elapsed_time_ol_errc_invalid_null_pointer_null_elapsed_time();
    test_ol_get_event_info_ol_errc_uninitialized_prose();
    test_ol_get_event_info_ol_errc_invalid_size_prop_size_0();
    test_ol_get_event_info_ol_errc_invalid_size_prose();
    test_ol_get_event_info_ol_errc_invalid_enumeration_prose();
    test_ol_get_event_info_ol_errc_invalid_event_prose();
    test_ol_get_event_info_ol_errc_invalid_queue_prose();
    test_ol_get_event_info_ol_errc_invalid_null_handle_null_event();
    test_ol_get_event_info_ol_errc_invalid_null_pointer_null_prop_value();
    test_ol_get_event_info_size_ol_errc_uninitialized_prose();
    test_ol_get_event_info_size_ol_errc_invalid_enumeration_prose();
    test_ol_get_event_info_size_ol_errc_invalid_event_prose();
    test_ol_get_event_info_size_ol_errc_invalid_queue_prose();
    test_ol_get_event_info_size_ol_errc_invalid_null_handle_null_event();
    test_ol_get_event_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_uninitialized_prose();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_device_prose();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_symbol_kind_prose();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_unsupported_prose();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_handle_null_device();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_handle_null_kernel();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_pointer_null_launch_size_args();
    test_ol_get_kernel_max_cooperative_group_count_ol_errc_invalid_null_pointer_null_max_group_count();
    test_ol_get_mem_info_ol_errc_uninitialized_prose();
    test_ol_get_mem_info_ol_errc_invalid_size_prop_size_0();
    test_ol_get_mem_info_ol_errc_invalid_size_prose();
    test_ol_get_mem_info_ol_errc_invalid_enumeration_prose();
    test_ol_get_mem_info_ol_errc_not_found_prose();
    test_ol_get_mem_info_ol_errc_invalid_null_pointer_null_ptr();
    test_ol_get_mem_info_ol_errc_invalid_null_pointer_null_prop_value();
    test_ol_get_mem_info_size_ol_errc_uninitialized_prose();
    test_ol_get_mem_info_size_ol_errc_invalid_enumeration_prose();
    test_ol_get_mem_info_size_ol_errc_not_found_prose();
    test_ol_get_mem_info_size_ol_errc_invalid_null_pointer_null_ptr();
    test_ol_get_mem_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret();
    test_ol_get_platform_info_ol_errc_uninitialized_prose();
    test_ol_get_platform_info_ol_errc_invalid_size_prop_size_0();
    test_ol_get_platform_info_ol_errc_invalid_size_prose();
    test_ol_get_platform_info_ol_errc_invalid_enumeration_prose();
    test_ol_get_platform_info_ol_errc_invalid_platform_prose();
    test_ol_get_platform_info_ol_errc_invalid_null_handle_null_platform();
    test_ol_get_platform_info_ol_errc_invalid_null_pointer_null_prop_value();
    test_ol_get_platform_info_size_ol_errc_uninitialized_prose();
    test_ol_get_platform_info_size_ol_errc_invalid_enumeration_prose();
    test_ol_get_platform_info_size_ol_errc_invalid_platform_prose();
    test_ol_get_platform_info_size_ol_errc_invalid_null_handle_null_platform();
    test_ol_get_platform_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret();
    test_ol_get_queue_info_ol_errc_uninitialized_prose();
    test_ol_get_queue_info_ol_errc_invalid_size_prop_size_0();
    test_ol_get_queue_info_ol_errc_invalid_size_prose();
    test_ol_get_queue_info_ol_errc_invalid_enumeration_prose();
    test_ol_get_queue_info_ol_errc_invalid_queue_prose();
    test_ol_get_queue_info_ol_errc_invalid_null_handle_null_queue();
    test_ol_get_queue_info_ol_errc_invalid_null_pointer_null_prop_value();
    test_ol_get_queue_info_size_ol_errc_uninitialized_prose();
    test_ol_get_queue_info_size_ol_errc_invalid_enumeration_prose();
    test_ol_get_queue_info_size_ol_errc_invalid_queue_prose();
    test_ol_get_queue_info_size_ol_errc_invalid_null_handle_null_queue();
    test_ol_get_queue_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret();
    test_ol_get_symbol_ol_errc_uninitialized_prose();
    test_ol_get_symbol_ol_errc_invalid_enumeration_prose();
    test_ol_get_symbol_ol_errc_not_found_prose();
    test_ol_get_symbol_ol_errc_invalid_null_handle_null_program();
    test_ol_get_symbol_ol_errc_invalid_null_pointer_null_name();
    test_ol_get_symbol_ol_errc_invalid_null_pointer_null_symbol();
    test_ol_get_symbol_info_ol_errc_uninitialized_prose();
    test_ol_get_symbol_info_ol_errc_invalid_size_prop_size_0();
    test_ol_get_symbol_info_ol_errc_invalid_size_prose();
    test_ol_get_symbol_info_ol_errc_invalid_enumeration_prose();
    test_ol_get_symbol_info_ol_errc_symbol_kind_prose();
    test_ol_get_symbol_info_ol_errc_invalid_null_handle_null_symbol();
    test_ol_get_symbol_info_ol_errc_invalid_null_pointer_null_prop_value();
    test_ol_get_symbol_info_size_ol_errc_uninitialized_prose();
    test_ol_get_symbol_info_size_ol_errc_invalid_enumeration_prose();
    test_ol_get_symbol_info_size_ol_errc_symbol_kind_prose();
    test_ol_get_symbol_info_size_ol_errc_invalid_null_handle_null_symbol();
    test_ol_get_symbol_info_size_ol_errc_invalid_null_pointer_null_prop_size_ret();
    test_ol_init_ol_errc_uninitialized_prose();
    test_ol_init_ol_errc_invalid_argument_init_args_null_init_args_num_platforms_0_init_args_platforms_null();
    test_ol_init_ol_errc_invalid_size_init_args_null_init_args_size_0();
    test_ol_is_valid_binary_ol_errc_uninitialized_prose();
    test_ol_is_valid_binary_ol_errc_invalid_device_prose();
    test_ol_is_valid_binary_ol_errc_invalid_null_handle_null_device();
    test_ol_is_valid_binary_ol_errc_invalid_null_pointer_null_prog_data();
    test_ol_is_valid_binary_ol_errc_invalid_null_pointer_null_valid();
    test_ol_iterate_devices_ol_errc_uninitialized_prose();
    test_ol_iterate_devices_ol_errc_invalid_null_pointer_null_callback();
    test_ol_launch_host_function_ol_errc_uninitialized_prose();
    test_ol_launch_host_function_ol_errc_invalid_queue_prose();
    test_ol_launch_host_function_ol_errc_invalid_null_handle_null_queue();
    test_ol_launch_host_function_ol_errc_invalid_null_pointer_null_callback();
    test_ol_launch_kernel_ol_errc_uninitialized_prose();
    test_ol_launch_kernel_ol_errc_invalid_argument_arg_ptrs_null_arg_sizes_null();
    test_ol_launch_kernel_ol_errc_invalid_argument_num_args_0_arg_ptrs_null_arg_sizes_null();
    test_ol_launch_kernel_ol_errc_invalid_argument_prose();
    test_ol_launch_kernel_ol_errc_invalid_queue_prose();
    test_ol_launch_kernel_ol_errc_invalid_device_prose();
    test_ol_launch_kernel_ol_errc_symbol_kind_prose();
    test_ol_launch_kernel_ol_errc_invalid_null_handle_null_device();
    test_ol_launch_kernel_ol_errc_invalid_null_handle_null_kernel();
    test_ol_launch_kernel_ol_errc_invalid_null_pointer_null_launch_size_args();
    test_ol_mem_alloc_ol_errc_uninitialized_prose();
    test_ol_mem_alloc_ol_errc_invalid_size_size_0();
    test_ol_mem_alloc_ol_errc_invalid_device_prose();
    test_ol_mem_alloc_ol_errc_invalid_enumeration_prose();
    test_ol_mem_alloc_ol_errc_out_of_resources_prose();
    test_ol_mem_alloc_ol_errc_invalid_null_handle_null_device();
    test_ol_mem_alloc_ol_errc_invalid_null_pointer_null_allocation_out();
    test_ol_mem_alloc_aligned_ol_errc_uninitialized_prose();
    test_ol_mem_alloc_aligned_ol_errc_invalid_size_size_0();
    test_ol_mem_alloc_aligned_ol_errc_invalid_argument_alignment_0();
    test_ol_mem_alloc_aligned_ol_errc_invalid_argument_alignment_alignment_1_0();
    test_ol_mem_alloc_aligned_ol_errc_invalid_device_prose();
    test_ol_mem_alloc_aligned_ol_errc_invalid_enumeration_prose();
    test_ol_mem_alloc_aligned_ol_errc_out_of_resources_prose();
    test_ol_mem_alloc_aligned_ol_errc_invalid_null_handle_null_device();
    test_ol_mem_alloc_aligned_ol_errc_invalid_null_pointer_null_allocation_out();
    test_ol_mem_fill_ol_errc_uninitialized_prose();
    test_ol_mem_fill_ol_errc_invalid_size_pattern_size_0();
    test_ol_mem_fill_ol_errc_invalid_size_fill_size_pattern_size_0();
    test_ol_mem_fill_ol_errc_invalid_queue_prose();
    test_ol_mem_fill_ol_errc_invalid_null_pointer_null_ptr();
    test_ol_mem_fill_ol_errc_invalid_null_pointer_null_pattern_ptr();
    test_ol_mem_free_ol_errc_uninitialized_prose();
    test_ol_mem_free_ol_errc_not_found_prose();
    test_ol_mem_free_ol_errc_invalid_null_pointer_null_address();
    test_ol_mem_prefetch_ol_errc_uninitialized_prose();
    test_ol_mem_prefetch_ol_errc_invalid_queue_prose();
    test_ol_mem_prefetch_ol_errc_invalid_null_pointer_count_0_mems_null();
    test_ol_mem_prefetch_ol_errc_invalid_null_pointer_count_0_sizes_null();
    test_ol_mem_prefetch_ol_errc_invalid_enumeration_flags_ol_mem_migration_flag_host_to_device_ol_mem_migration_flag_device_to_host_0();
    test_ol_mem_prefetch_ol_errc_invalid_null_handle_null_queue();
    test_ol_mem_register_ol_errc_uninitialized_prose();
    test_ol_mem_register_ol_errc_invalid_size_size_0();
    test_ol_mem_register_ol_errc_invalid_device_prose();
    test_ol_mem_register_ol_errc_invalid_enumeration_flags_ol_memory_register_flag_lock_memory_ol_memory_register_flag_unlock_memory_0();
    test_ol_mem_register_ol_errc_invalid_argument_prose();
    test_ol_mem_register_ol_errc_invalid_null_handle_null_device();
    test_ol_mem_register_ol_errc_invalid_null_pointer_null_ptr();
    test_ol_mem_register_ol_errc_invalid_null_pointer_null_pinned_ptr();
    test_ol_mem_unregister_ol_errc_uninitialized_prose();
    test_ol_mem_unregister_ol_errc_invalid_device_prose();
    test_ol_mem_unregister_ol_errc_invalid_enumeration_flags_ol_memory_register_flag_lock_memory_ol_memory_register_flag_unlock_memory_0();
    test_ol_mem_unregister_ol_errc_invalid_argument_prose();
    test_ol_mem_unregister_ol_errc_invalid_null_handle_null_device();
    test_ol_mem_unregister_ol_errc_invalid_null_pointer_null_ptr();
    test_ol_memcpy_ol_errc_uninitialized_prose();
    test_ol_memcpy_ol_errc_invalid_queue_prose();
    test_ol_memcpy_ol_errc_invalid_device_prose();
    test_ol_memcpy_ol_errc_invalid_argument_prose();
    test_ol_memcpy_ol_errc_invalid_size_prose();
    test_ol_memcpy_ol_errc_invalid_null_handle_null_dst_device();
    test_ol_memcpy_ol_errc_invalid_null_handle_null_src_device();
    test_ol_memcpy_ol_errc_invalid_null_pointer_null_dst_ptr();
    test_ol_memcpy_ol_errc_invalid_null_pointer_null_src_ptr();
    test_ol_platform_register_rpc_callback_ol_errc_uninitialized_prose();
    test_ol_platform_register_rpc_callback_ol_errc_invalid_platform_prose();
    test_ol_platform_register_rpc_callback_ol_errc_unsupported_prose();
    test_ol_platform_register_rpc_callback_ol_errc_invalid_null_handle_null_platform();
    test_ol_platform_register_rpc_callback_ol_errc_invalid_null_pointer_null_callback();
    test_ol_query_queue_ol_errc_uninitialized_prose();
    test_ol_query_queue_ol_errc_invalid_queue_prose();
    test_ol_query_queue_ol_errc_invalid_null_handle_null_queue();
    test_ol_shut_down_ol_errc_uninitialized_prose();
    test_ol_sync_event_ol_errc_uninitialized_prose();
    test_ol_sync_event_ol_errc_invalid_event_prose();
    test_ol_sync_event_ol_errc_invalid_null_handle_null_event();
    test_ol_sync_queue_ol_errc_uninitialized_prose();
    test_ol_sync_queue_ol_errc_invalid_queue_prose();
    test_ol_sync_queue_ol_errc_invalid_null_handle_null_queue();
    test_ol_wait_events_ol_errc_uninitialized_prose();
    test_ol_wait_events_ol_errc_invalid_queue_prose();
    test_ol_wait_events_ol_errc_invalid_null_handle_prose();
    test_ol_wait_events_ol_errc_invalid_null_handle_null_queue();
    test_ol_wait_events_ol_errc_invalid_event_prose();
    test_ol_wait_events_ol_errc_invalid_null_pointer_null_events();
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}

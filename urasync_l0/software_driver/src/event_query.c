// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an event tells: its times, where it comes from, its place in the order of completion.

#include "event_pool.h"

static ze_result_t timestamp(entry_t this_entry, event_t *event,
                             ze_kernel_timestamp_result_t *result) {
    if (!event->timestamps) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (!event_is_complete(event)) {
        return ZE_RESULT_NOT_READY;
    }
    checker_host_saw_event(this_entry, event);
    const ze_kernel_timestamp_data_t data = {.kernelStart = atomic_load(&event->start),
                                             .kernelEnd = atomic_load(&event->end)};
    *result = (ze_kernel_timestamp_result_t){.global = data, .context = data};
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                                   ze_kernel_timestamp_result_t *dstptr) {
    ENTER(zeEventQueryKernelTimestamp);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    CHECK_POINTER(dstptr);
    return timestamp(this_entry, (event_t *)hEvent, dstptr);
}

// One packet an event. Times of the host's clock are not offered, as the device's flags say.
ze_result_t ZE_APICALL zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults) {
    ENTER(zeEventQueryKernelTimestampsExt);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pCount);
    if (*pCount == 0) {
        *pCount = 1;
        return ZE_RESULT_SUCCESS;
    }
    CHECK_POINTER(pResults);
    if (pResults->pSynchronizedTimestampsBuffer != NULL) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    CHECK_POINTER(pResults->pKernelTimestampsBuffer);
    const ze_result_t result =
        timestamp(this_entry, (event_t *)hEvent, pResults->pKernelTimestampsBuffer);
    if (result == ZE_RESULT_SUCCESS) {
        *pCount = 1;
    }
    return result;
}

ze_result_t ZE_APICALL zeEventGetEventPool(ze_event_handle_t hEvent,
                                           ze_event_pool_handle_t *phEventPool) {
    ENTER(zeEventGetEventPool);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    CHECK_POINTER(phEventPool);
    *phEventPool = (ze_event_pool_handle_t)((event_t *)hEvent)->pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventGetSignalScope(ze_event_handle_t hEvent,
                                             ze_event_scope_flags_t *pSignalScope) {
    ENTER(zeEventGetSignalScope);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    CHECK_POINTER(pSignalScope);
    *pSignalScope = ((event_t *)hEvent)->signal_scope;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventGetWaitScope(ze_event_handle_t hEvent,
                                           ze_event_scope_flags_t *pWaitScope) {
    ENTER(zeEventGetWaitScope);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    CHECK_POINTER(pWaitScope);
    *pWaitScope = ((event_t *)hEvent)->wait_scope;
    return ZE_RESULT_SUCCESS;
}

// The specification answers 0 for every event of a pool.
ze_result_t ZE_APICALL zeEventGetCounterBasedFlags(ze_event_handle_t hEvent,
                                                   ze_event_counter_based_flags_t *pFlags) {
    ENTER(zeEventGetCounterBasedFlags);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    CHECK_POINTER(pFlags);
    const event_t *event = (const event_t *)hEvent;
    *pFlags = event->pool == NULL ? event->counter_flags : 0;
    return ZE_RESULT_SUCCESS;
}

typedef struct serial_query {
    bool complete;
    uint64_t serial;
} serial_query_t;

static void ask_serial(object_t *object, void *argument) {
    serial_query_t *query = argument;
    event_t *event = (event_t *)object;
    query->complete = event_is_complete(event) && atomic_load(&event->serial) > 0;
    query->serial = atomic_load(&event->serial);
}

int32_t urasync_event_serial(uint64_t event, uint64_t *serial) {
    serial_query_t query;
    if (serial == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    if (!live_visit(KIND_EVENT, event, ask_serial, &query)) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    if (!query.complete) {
        return URASYNC_CONTROL_TIMED_OUT;
    }
    *serial = query.serial;
    return URASYNC_CONTROL_OK;
}

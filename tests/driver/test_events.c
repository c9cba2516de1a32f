// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regular events: life, state, waits between lists, times, the order of completion.

#define _GNU_SOURCE

#include <pthread.h>

#include "bench.h"
#include "tests.h"

void event_pools_give_out_their_places(void) {
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 0};
    ze_event_pool_handle_t pool = NULL;
    CHECK_EQUAL(ze.zeEventPoolCreate(context, &desc, 0, NULL, &pool), ZE_RESULT_ERROR_INVALID_SIZE);
    desc.count = 2;
    CHECK_EQUAL(ze.zeEventPoolCreate(context, &desc, 1, NULL, &pool), ZE_RESULT_ERROR_INVALID_SIZE);
    desc.flags = 0x10;
    CHECK_EQUAL(ze.zeEventPoolCreate(context, &desc, 0, NULL, &pool),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.flags = ZE_EVENT_POOL_FLAG_IPC;
    CHECK_EQUAL(ze.zeEventPoolCreate(context, &desc, 0, NULL, &pool),
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    pool = make_pool(2, POOL_TIMESTAMPS);
    ze_event_pool_flags_t flags = 0;
    ze_context_handle_t owner = NULL;
    SUCCESS(ze.zeEventPoolGetFlags(pool, &flags));
    CHECK_EQUAL(flags, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    SUCCESS(ze.zeEventPoolGetContextHandle(pool, &owner));
    CHECK(owner == context);
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = 2,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_DEVICE};
    ze_event_handle_t event = NULL;
    CHECK_EQUAL(ze.zeEventCreate(pool, &event_desc, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    event_desc.index = 1;
    SUCCESS(ze.zeEventCreate(pool, &event_desc, &event));
    ze_event_handle_t second = NULL;
    CHECK_EQUAL(ze.zeEventCreate(pool, &event_desc, &second), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeEventPoolDestroy(pool), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    ze_event_pool_handle_t from = NULL;
    ze_event_scope_flags_t scope = 0;
    ze_event_counter_based_flags_t counter = 7;
    SUCCESS(ze.zeEventGetEventPool(event, &from));
    CHECK(from == pool);
    SUCCESS(ze.zeEventGetSignalScope(event, &scope));
    CHECK_EQUAL(scope, ZE_EVENT_SCOPE_FLAG_HOST);
    SUCCESS(ze.zeEventGetWaitScope(event, &scope));
    CHECK_EQUAL(scope, ZE_EVENT_SCOPE_FLAG_DEVICE);
    SUCCESS(ze.zeEventGetCounterBasedFlags(event, &counter));
    CHECK_EQUAL(counter, 0);
    destroy_event(event);
    event = make_event(pool, 1); // the place is free again
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    destroy_event(event);
    event_desc.signal = 0x8;
    CHECK_EQUAL(ze.zeEventCreate(pool, &event_desc, &event), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    CHECK_EQUAL(ze.zeEventCreate(NULL, &event_desc, &event), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeEventCreate(pool, NULL, &event), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    destroy_pool(pool);
}

void the_host_signals_and_resets_events(void) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeEventHostSynchronize(event, 0), ZE_RESULT_NOT_READY);
    const uint64_t before = now_ns();
    CHECK_EQUAL(ze.zeEventHostSynchronize(event, 20 * MILLISECOND), ZE_RESULT_NOT_READY);
    CHECK(now_ns() - before >= 20 * MILLISECOND);
    for (int i = 0; i < 3; ++i) {
        SUCCESS(ze.zeEventHostSignal(event));
        SUCCESS(ze.zeEventHostSignal(event)); // set already: nothing changes
        SUCCESS(ze.zeEventQueryStatus(event));
        SUCCESS(ze.zeEventHostSynchronize(event, 0));
        SUCCESS(ze.zeEventHostSynchronize(event, INFINITE));
        SUCCESS(ze.zeEventHostReset(event));
        CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    }
    CHECK_EQUAL(ze.zeEventHostSignal(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeEventHostReset(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeEventQueryStatus(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeEventHostSynchronize(NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    destroy_event(event);
    destroy_pool(pool);
}

static void *signal_event(void *event) {
    SUCCESS(ze.zeEventHostSignal(event));
    return NULL;
}

void a_sleeping_host_is_woken(void) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    for (int i = 0; i < 200; ++i) {
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, signal_event, event), 0);
        finish_event(event);
        pthread_join(thread, NULL);
        SUCCESS(ze.zeEventHostReset(event));
    }
    destroy_event(event);
    destroy_pool(pool);
}

void lists_signal_and_reset_events_in_order(void) {
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    ze_event_handle_t end = make_event(pool, 1);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    hold(list);
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, event));
    SUCCESS(ze.zeCommandListAppendEventReset(list, event));
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, end));
    CHECK_EQUAL(ze.zeEventDestroy(event), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeEventDestroy(end), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(urasync_gate_limit(handle_of(list), 1), 0);
    release(list);
    finish_event(event);
    wait_held(list);
    SUCCESS(ze.zeEventQueryStatus(event));
    CHECK_EQUAL(urasync_gate_limit(handle_of(list), UINT64_MAX), 0);
    finish_event(end);
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    destroy_event(event);
    destroy_event(end);
    destroy_list(list);
    destroy_pool(pool);
}

// A waits for B's event, B for the host's; the order of completion must be B, then A.
void a_list_waits_for_an_event_of_another_list(void) {
    ze_event_pool_handle_t pool = make_pool(3, POOL_PLAIN);
    ze_event_handle_t start = make_event(pool, 0);
    ze_event_handle_t middle = make_event(pool, 1);
    ze_event_handle_t end = make_event(pool, 2);
    ze_command_list_handle_t a = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t b = make_list_on(1, OUT_OF_ORDER);
    SUCCESS(ze.zeCommandListAppendWaitOnEvents(a, 1, &middle));
    SUCCESS(ze.zeCommandListAppendSignalEvent(a, end));
    SUCCESS(ze.zeCommandListAppendBarrier(b, middle, 1, &start));
    CHECK_EQUAL(ze.zeEventHostSynchronize(end, 2 * MILLISECOND), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeEventQueryStatus(middle), ZE_RESULT_NOT_READY);
    uint64_t serials[3] = {0};
    CHECK_EQUAL(urasync_event_serial(handle_of(end), &serials[2]), URASYNC_CONTROL_TIMED_OUT);
    SUCCESS(ze.zeEventHostSignal(start));
    finish_event(end);
    CHECK_EQUAL(urasync_event_serial(handle_of(start), &serials[0]), 0);
    CHECK_EQUAL(urasync_event_serial(handle_of(middle), &serials[1]), 0);
    CHECK_EQUAL(urasync_event_serial(handle_of(end), &serials[2]), 0);
    CHECK(0 < serials[0] && serials[0] < serials[1] && serials[1] < serials[2]);
    CHECK(serials[2] <= urasync_commands_completed());
    CHECK_EQUAL(urasync_event_serial(handle_of(pool), &serials[0]), URASYNC_CONTROL_UNKNOWN_HANDLE);
    finish(a);
    finish(b);
    destroy_event(start);
    destroy_event(middle);
    destroy_event(end);
    destroy_list(a);
    destroy_list(b);
    destroy_pool(pool);
}

void events_are_for_their_context_and_devices(void) {
    ze_context_handle_t other = ze.zeDriverGetDefaultContext(driver);
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_pool_handle_t foreign_pool = NULL;
    ze_event_pool_handle_t first_pool = NULL;
    SUCCESS(ze.zeEventPoolCreate(other, &desc, 0, NULL, &foreign_pool));
    SUCCESS(ze.zeEventPoolCreate(context, &desc, 1, &devices[0], &first_pool));
    ze_event_handle_t foreign = make_event(foreign_pool, 0);
    ze_event_handle_t first = make_event(first_pool, 0);
    ze_command_list_handle_t list = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t second = make_list_on(1, IN_ORDER);
    CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(list, foreign),
                ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK_EQUAL(ze.zeCommandListAppendWaitOnEvents(list, 1, &foreign),
                ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(second, first),
                ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    ze_event_handle_t mixed[2] = {first, NULL};
    CHECK_EQUAL(ze.zeCommandListAppendWaitOnEvents(list, 2, mixed),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeCommandListAppendWaitOnEvents(list, 1, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(list, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeCommandListAppendEventReset(list, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    destroy_event(first); // no refused append has kept it
    destroy_event(foreign);
    destroy_pool(first_pool);
    destroy_pool(foreign_pool);
    destroy_list(list);
    destroy_list(second);
}

// --- Times --------------------------------------------------------------------------------------

void timed_events_tell_start_and_end_in_ticks(void) {
    enum { SIZE = 8 << 20 };
    ze_event_pool_handle_t pool = make_pool(2, POOL_TIMESTAMPS);
    ze_event_pool_handle_t plain_pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t first = make_event(pool, 0);
    ze_event_handle_t second = make_event(pool, 1);
    ze_event_handle_t plain = make_event(plain_pool, 0);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *memory = make_device_memory(SIZE);
    ze_kernel_timestamp_result_t times[2];
    memset(times, 0, sizeof times);
    uint64_t host = 0;
    uint64_t before = 0;
    uint64_t after = 0;
    hold(list);
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, "a", 1, SIZE, first, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, "b", 1, SIZE, second, 0, NULL));
    CHECK_EQUAL(ze.zeEventQueryKernelTimestamp(first, &times[0]), ZE_RESULT_NOT_READY);
    SUCCESS(ze.zeDeviceGetGlobalTimestamps(devices[0], &host, &before));
    release(list);
    finish(list);
    SUCCESS(ze.zeDeviceGetGlobalTimestamps(devices[0], &host, &after));
    SUCCESS(ze.zeEventQueryKernelTimestamp(first, &times[0]));
    SUCCESS(ze.zeEventQueryKernelTimestamp(second, &times[1]));
    CHECK(before <= times[0].global.kernelStart);
    CHECK(times[0].global.kernelStart < times[0].global.kernelEnd);
    CHECK(times[0].global.kernelEnd <= times[1].global.kernelStart);
    CHECK(times[1].global.kernelStart < times[1].global.kernelEnd);
    CHECK(times[1].global.kernelEnd <= after);
    CHECK(memcmp(&times[0].global, &times[0].context, sizeof times[0].global) == 0);

    uint32_t count = 0;
    SUCCESS(ze.zeEventQueryKernelTimestampsExt(first, devices[0], &count, NULL));
    CHECK_EQUAL(count, 1);
    ze_kernel_timestamp_result_t packet;
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .stype = (ze_structure_type_t)
            ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES,
        .pKernelTimestampsBuffer = &packet};
    count = 4;
    SUCCESS(ze.zeEventQueryKernelTimestampsExt(first, devices[0], &count, &results));
    CHECK_EQUAL(count, 1);
    CHECK(memcmp(&packet, &times[0], sizeof packet) == 0);

    // The same numbers, written by the device; packed, and at offsets.
    ze_event_handle_t both[2] = {second, first};
    ze_kernel_timestamp_result_t *written = make_host_memory(8 * sizeof *written);
    const size_t offsets[2] = {5 * sizeof *written, 3 * sizeof *written};
    SUCCESS(
        ze.zeCommandListAppendQueryKernelTimestamps(list, 2, both, written, NULL, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendQueryKernelTimestamps(list, 2, both, written, offsets, NULL, 0,
                                                        NULL));
    finish(list);
    CHECK(memcmp(&written[0], &times[1], sizeof *written) == 0);
    CHECK(memcmp(&written[1], &times[0], sizeof *written) == 0);
    CHECK(memcmp(&written[5], &times[1], sizeof *written) == 0);
    CHECK(memcmp(&written[3], &times[0], sizeof *written) == 0);

    SUCCESS(ze.zeEventHostSignal(plain));
    CHECK_EQUAL(ze.zeEventQueryKernelTimestamp(plain, &times[0]),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // not an event with times
    CHECK_EQUAL(
        ze.zeCommandListAppendQueryKernelTimestamps(list, 1, &plain, written, NULL, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK_EQUAL(ze.zeEventQueryKernelTimestamp(first, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    free_memory(written);
    free_memory(memory);
    destroy_event(first);
    destroy_event(second);
    destroy_event(plain);
    destroy_list(list);
    destroy_pool(pool);
    destroy_pool(plain_pool);
}

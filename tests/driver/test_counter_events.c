// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counter-based events in their three forms: they are a place on a timeline, not a bit.

#define _GNU_SOURCE

#include "bench.h"
#include "tests.h"

enum { IMMEDIATE = 1, NON_IMMEDIATE = 2, HOST_VISIBLE = 4, TIMESTAMP = 16 };

typedef enum form { FORM_POOL, FORM_CREATED, FORM_VENDOR, FORMS } form_t;

typedef struct subject {
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
} subject_t;

static subject_t make(form_t form) {
    subject_t subject = {0};
    const uint32_t flags = IMMEDIATE | NON_IMMEDIATE | HOST_VISIBLE | TIMESTAMP;
    if (form == FORM_POOL) {
        subject.pool = make_pool(1, POOL_COUNTER_BASED | POOL_TIMESTAMPS);
        subject.event = make_event(subject.pool, 0);
    } else if (form == FORM_CREATED) {
        subject.event = make_counter_event(flags);
    } else {
        const zex_counter_based_event_desc_t desc = {
            .stype = ZEX_STRUCTURE_COUNTER_BASED_EVENT_DESC, .flags = flags};
        SUCCESS(ze.zexCounterBasedEventCreate2(context, devices[0], &desc, &subject.event));
    }
    return subject;
}

static void destroy(subject_t subject) {
    destroy_event(subject.event);
    if (subject.pool != NULL) {
        destroy_pool(subject.pool);
    }
}

// One list each: appended or not, complete or not, armed again.
static void check_life(form_t form) {
    const subject_t subject = make(form);
    ze_event_handle_t event = subject.event;
    SUCCESS(ze.zeEventQueryStatus(event)); // never appended: complete
    SUCCESS(ze.zeEventHostSynchronize(event, 0));
    SUCCESS(ze.zeEventHostSynchronize(event, INFINITE));
    ze_command_list_handle_t list = make_list(IN_ORDER);
    SUCCESS(ze.zeCommandListAppendWaitOnEvents(list, 1, &event)); // a wait for nothing
    finish(list);
    for (int i = 0; i < 3; ++i) {
        hold(list);
        SUCCESS(ze.zeCommandListAppendSignalEvent(list, event)); // arms it, without a reset
        CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
        CHECK_EQUAL(ze.zeEventHostSynchronize(event, 0), ZE_RESULT_NOT_READY);
        CHECK_EQUAL(ze.zeEventHostSynchronize(event, MILLISECOND), ZE_RESULT_NOT_READY);
        CHECK_EQUAL(ze.zeEventDestroy(event), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        uint64_t serial = 0;
        CHECK_EQUAL(urasync_event_serial(handle_of(event), &serial), URASYNC_CONTROL_TIMED_OUT);
        release(list);
        finish_event(event);
        SUCCESS(ze.zeEventQueryStatus(event));
        CHECK_EQUAL(urasync_event_serial(handle_of(event), &serial), 0);
    }
    CHECK_EQUAL(ze.zeEventHostReset(event), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK_EQUAL(ze.zeEventHostSignal(event), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    CHECK_EQUAL(ze.zeCommandListAppendEventReset(list, event),
                ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    ze_kernel_timestamp_result_t times;
    SUCCESS(ze.zeEventQueryKernelTimestamp(event, &times));
    CHECK(times.global.kernelStart > 0 && times.global.kernelStart <= times.global.kernelEnd);
    destroy_list(list);
    SUCCESS(ze.zeEventQueryStatus(event)); // the list is gone, its timeline is not
    destroy(subject);
}

void counter_based_events_are_armed_by_each_append(void) {
    for (form_t form = 0; form < FORMS; ++form) {
        check_life(form);
    }
}

// The wait keeps the value that the event had at its append, whatever the event does later.
static void check_capture(form_t form) {
    const subject_t subject = make(form);
    ze_event_handle_t event = subject.event;
    ze_command_list_handle_t signalling = make_list(IN_ORDER);
    ze_command_list_handle_t waiting = make_list(IN_ORDER);
    ze_command_list_handle_t later = make_list(IN_ORDER);
    char *memory = make_device_memory(64);
    hold(signalling);
    hold(later);
    SUCCESS(ze.zeCommandListAppendSignalEvent(signalling, event));
    SUCCESS(ze.zeCommandListAppendMemoryFill(waiting, memory, "a", 1, 64, NULL, 1, &event));
    SUCCESS(ze.zeCommandListAppendSignalEvent(later, event)); // moves the event elsewhere
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(waiting, 2 * MILLISECOND), ZE_RESULT_NOT_READY);
    release(signalling);
    finish(waiting); // although the event itself is not complete
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    CHECK(filled_with(memory, 'a', 64));
    release(later);
    finish_event(event);
    // Two appends to one list: the wait between them needs the first only.
    CHECK_EQUAL(urasync_gate_limit(handle_of(signalling), 2), 0); // one ran already
    SUCCESS(ze.zeCommandListAppendSignalEvent(signalling, event));
    SUCCESS(ze.zeCommandListAppendWaitOnEvents(waiting, 1, &event));
    SUCCESS(ze.zeCommandListAppendSignalEvent(signalling, event));
    finish(waiting);
    wait_held(signalling);
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(urasync_gate_limit(handle_of(signalling), UINT64_MAX), 0);
    finish_event(event);
    free_memory(memory);
    finish(later); // what the event left behind there
    destroy_list(signalling);
    destroy_list(waiting);
    destroy_list(later);
    destroy(subject);
}

void waits_keep_the_value_of_their_append(void) {
    for (form_t form = 0; form < FORMS; ++form) {
        check_capture(form);
    }
}

// A command may wait for the event that it signals: for what it was before.
void a_command_may_wait_for_its_own_event(void) {
    for (form_t form = 0; form < FORMS; ++form) {
        const subject_t subject = make(form);
        ze_event_handle_t event = subject.event;
        ze_command_list_handle_t list = make_list(IN_ORDER);
        for (int i = 0; i < 10; ++i) {
            SUCCESS(ze.zeCommandListAppendBarrier(list, event, 1, &event));
        }
        finish_event(event);
        destroy_list(list);
        destroy(subject);
    }
}

void only_in_order_lists_signal_counter_based_events(void) {
    ze_command_list_handle_t list = make_list(OUT_OF_ORDER);
    ze_command_list_handle_t regular = make_regular_list(0);
    for (form_t form = 0; form < FORMS; ++form) {
        const subject_t subject = make(form);
        ze_event_handle_t event = subject.event;
        CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(list, event),
                    ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
        CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(regular, event),
                    ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
        SUCCESS(ze.zeCommandListAppendWaitOnEvents(list, 1, &event)); // waiting is for all
        SUCCESS(ze.zeEventQueryStatus(event));
        destroy(subject);
    }
    finish(list);
    destroy_list(list);
    destroy_list(regular);
}

void counter_based_events_are_for_the_lists_they_name(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t regular = make_regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
    const struct {
        uint32_t flags;
        ze_result_t immediate;
        ze_result_t regular;
    } expected[] = {
        {0, ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT},
        {IMMEDIATE, ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT},
        {NON_IMMEDIATE, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, ZE_RESULT_SUCCESS},
        {IMMEDIATE | NON_IMMEDIATE, ZE_RESULT_SUCCESS, ZE_RESULT_SUCCESS}};
    for (size_t i = 0; i < COUNT(expected); ++i) {
        ze_event_handle_t event = make_counter_event(expected[i].flags);
        ze_event_counter_based_flags_t flags = 99;
        SUCCESS(ze.zeEventGetCounterBasedFlags(event, &flags));
        CHECK_EQUAL(flags, expected[i].flags);
        ze_event_pool_handle_t pool = (ze_event_pool_handle_t)1;
        SUCCESS(ze.zeEventGetEventPool(event, &pool));
        CHECK(pool == NULL);
        CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(list, event), expected[i].immediate);
        CHECK_EQUAL(ze.zeCommandListAppendSignalEvent(regular, event), expected[i].regular);
        finish(list);
        destroy_event(event);
    }
    SUCCESS(ze.zeCommandListReset(regular));
    destroy_list(regular);
    destroy_list(list);
}

void counter_based_events_that_cannot_be_are_refused(void) {
    ze_event_handle_t event = NULL;
    ze_event_counter_based_desc_t desc = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, .flags = 0x80};
    CHECK_EQUAL(ze.zeEventCounterBasedCreate(context, devices[0], &desc, &event),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.flags =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    CHECK_EQUAL(ze.zeEventCounterBasedCreate(context, devices[0], &desc, &event),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.flags = ZE_EVENT_COUNTER_BASED_FLAG_IPC;
    CHECK_EQUAL(ze.zeEventCounterBasedCreate(context, devices[0], &desc, &event),
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    CHECK_EQUAL(ze.zeEventCounterBasedCreate(context, devices[0], NULL, &event),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeEventCounterBasedCreate(context, NULL, &desc, &event),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zexCounterBasedEventCreate2(context, devices[0], NULL, &event),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

// An event may be signalled on one device and waited for on another.
void counter_based_events_cross_devices(void) {
    ze_event_handle_t event = make_counter_event(0);
    ze_command_list_handle_t first = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t second = make_list_on(1, IN_ORDER);
    char *memory = make_device_memory(64);
    hold(second);
    SUCCESS(ze.zeCommandListAppendMemoryFill(second, memory, "s", 1, 64, event, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryFill(first, memory, "f", 1, 64, NULL, 1, &event));
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(first, 2 * MILLISECOND), ZE_RESULT_NOT_READY);
    release(second);
    finish(first);
    CHECK(filled_with(memory, 'f', 64));
    free_memory(memory);
    destroy_list(first);
    destroy_list(second);
    destroy_event(event);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Immediate lists: creation, modes, synchronisation, gates, destruction.

#define _GNU_SOURCE

#include "bench.h"
#include "tests.h"

static ze_result_t append_fill(ze_command_list_handle_t list, void *memory, char byte,
                               ze_event_handle_t signal) {
    return ze.zeCommandListAppendMemoryFill(list, memory, &byte, 1, 64, signal, 0, NULL);
}

void immediate_lists_are_what_was_asked_for(void) {
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = 1,
                                    .index = 1,
                                    .flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER |
                                             ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT,
                                    .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                    .priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH};
    ze_command_list_handle_t list = NULL;
    SUCCESS(ze.zeCommandListCreateImmediate(context, devices[1], &desc, &list));
    ze_device_handle_t device = NULL;
    ze_context_handle_t owner = NULL;
    uint32_t number = 99;
    ze_bool_t immediate = 0;
    ze_command_queue_flags_t flags = 0;
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
    ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
    SUCCESS(ze.zeCommandListGetDeviceHandle(list, &device));
    SUCCESS(ze.zeCommandListGetContextHandle(list, &owner));
    CHECK(device == devices[1] && owner == context);
    SUCCESS(ze.zeCommandListGetOrdinal(list, &number));
    CHECK_EQUAL(number, 1);
    SUCCESS(ze.zeCommandListImmediateGetIndex(list, &number));
    CHECK_EQUAL(number, 1);
    SUCCESS(ze.zeCommandListIsImmediate(list, &immediate));
    CHECK(immediate);
    SUCCESS(ze.zeCommandListImmediateGetFlags(list, &flags));
    CHECK_EQUAL(flags, desc.flags);
    SUCCESS(ze.zeCommandListImmediateGetMode(list, &mode));
    CHECK_EQUAL(mode, desc.mode);
    SUCCESS(ze.zeCommandListImmediateGetPriority(list, &priority));
    CHECK_EQUAL(priority, desc.priority);
    CHECK_EQUAL(ze.zeCommandListIsGraphCaptureEnabledExt(list), ZE_RESULT_QUERY_FALSE);
    CHECK_EQUAL(ze.zeCommandListClose(list), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeCommandListReset(list), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    destroy_list(list);

    ze_command_queue_desc_t bad = desc;
    bad.index = 77;
    CHECK_EQUAL(ze.zeCommandListCreateImmediate(context, devices[0], &bad, &list),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    bad = desc;
    bad.ordinal = 2;
    CHECK_EQUAL(ze.zeCommandListCreateImmediate(context, devices[0], &bad, &list),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    bad = desc;
    bad.flags = 0x8;
    CHECK_EQUAL(ze.zeCommandListCreateImmediate(context, devices[0], &bad, &list),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    bad = desc;
    bad.mode = (ze_command_queue_mode_t)3;
    CHECK_EQUAL(ze.zeCommandListCreateImmediate(context, devices[0], &bad, &list),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    CHECK_EQUAL(ze.zeCommandListCreateImmediate(context, devices[0], NULL, &list),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeCommandListCreateImmediate(context, NULL, &desc, &list),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeCommandListDestroy(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

void synchronising_a_list_waits_as_long_as_it_may(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    SUCCESS(ze.zeCommandListHostSynchronize(list, 0)); // nothing was appended
    char *memory = make_device_memory(64);
    hold(list);
    SUCCESS(append_fill(list, memory, 'a', NULL));
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(list, 0), ZE_RESULT_NOT_READY);
    const uint64_t before = now_ns();
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(list, 20 * MILLISECOND), ZE_RESULT_NOT_READY);
    CHECK(now_ns() - before >= 20 * MILLISECOND);
    CHECK(filled_with(memory, 0, 64));
    release(list);
    SUCCESS(ze.zeCommandListHostSynchronize(list, INFINITE));
    CHECK(filled_with(memory, 'a', 64));
    SUCCESS(ze.zeCommandListHostSynchronize(list, 0));
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    ze_command_list_handle_t regular = make_regular_list(0);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(regular, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    destroy_list(regular);
    free_memory(memory);
    destroy_list(list);
}

void a_synchronous_list_completes_each_append(void) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list = NULL;
    SUCCESS(ze.zeCommandListCreateImmediate(context, devices[0], &desc, &list));
    char *memory = make_device_memory(64);
    for (char byte = 1; byte < 100; ++byte) {
        SUCCESS(append_fill(list, memory, byte, NULL));
        CHECK(filled_with(memory, byte, 64));
        SUCCESS(ze.zeCommandListHostSynchronize(list, 0));
    }
    free_memory(memory);
    destroy_list(list);
}

void synchronising_a_device_waits_for_its_lists_only(void) {
    ze_command_list_handle_t mine = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t other = make_list_on(1, IN_ORDER);
    char *memory = make_device_memory(128);
    hold(other);
    SUCCESS(append_fill(other, memory + 64, 'b', NULL));
    SUCCESS(append_fill(mine, memory, 'a', NULL));
    SUCCESS(ze.zeDeviceSynchronize(devices[0]));
    CHECK(filled_with(memory, 'a', 64));
    CHECK(filled_with(memory + 64, 0, 64));
    release(other);
    SUCCESS(ze.zeDeviceSynchronize(devices[1]));
    CHECK(filled_with(memory + 64, 'b', 64));
    free_memory(memory);
    destroy_list(mine);
    destroy_list(other);
}

void a_list_with_pending_commands_is_not_destroyed(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *memory = make_device_memory(64);
    hold(list);
    SUCCESS(append_fill(list, memory, 'a', NULL));
    const uint64_t before = now_ns();
    CHECK_EQUAL(ze.zeCommandListDestroy(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(urasync_gate_limit(handle_of(list), 0), 0);
    release(list);
    CHECK_EQUAL(ze.zeCommandListDestroy(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(now_ns() - before < 900 * MILLISECOND); // at a gate it does not wait, as it does below
    CHECK_EQUAL(urasync_gate_limit(handle_of(list), UINT64_MAX), 0);
    destroy_list(list); // waits for the fill
    CHECK(filled_with(memory, 'a', 64));
    free_memory(memory);
}

// --- Gates --------------------------------------------------------------------------------------

void gates_count(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    const uint64_t handle = handle_of(list);
    char *memory = make_device_memory(64);
    uint32_t depth = 9;
    CHECK_EQUAL(urasync_gate_open(handle), URASYNC_CONTROL_NOT_CLOSED);
    hold(list);
    hold(list);
    CHECK_EQUAL(urasync_gate_depth(handle, &depth), 0);
    CHECK_EQUAL(depth, 2);
    CHECK_EQUAL(urasync_gate_wait_reached(handle, MILLISECOND), URASYNC_CONTROL_TIMED_OUT);
    SUCCESS(append_fill(list, memory, 'a', NULL));
    wait_held(list);
    release(list);
    wait_held(list);
    CHECK(filled_with(memory, 0, 64));
    release(list);
    finish(list);
    CHECK(filled_with(memory, 'a', 64));
    CHECK_EQUAL(urasync_gate_open(handle), URASYNC_CONTROL_NOT_CLOSED);
    free_memory(memory);
    destroy_list(list);
    CHECK_EQUAL(urasync_gate_close(handle), URASYNC_CONTROL_UNKNOWN_HANDLE);
    ze_command_list_handle_t regular = make_regular_list(0);
    CHECK_EQUAL(urasync_gate_close(handle_of(regular)), URASYNC_CONTROL_UNKNOWN_HANDLE);
    destroy_list(regular);
}

// Whether the first command had begun or not when the gate closed, the second has not.
void a_gate_closes_between_two_commands(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    char *memory = make_device_memory(128);
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, "a", 1, 64, NULL, 1, &event));
    SUCCESS(append_fill(list, memory + 64, 'b', NULL));
    hold(list);
    SUCCESS(ze.zeEventHostSignal(event));
    wait_held(list);
    uint64_t appended = 0;
    uint64_t completed = 0;
    CHECK_EQUAL(urasync_list_progress(handle_of(list), &appended, &completed), 0);
    CHECK_EQUAL(appended, 2);
    CHECK(completed <= 1);
    CHECK(filled_with(memory, completed == 1 ? 'a' : 0, 64));
    CHECK(filled_with(memory + 64, 0, 64));
    release(list);
    finish(list);
    CHECK(filled_with(memory, 'a', 64));
    CHECK(filled_with(memory + 64, 'b', 64));
    destroy_event(event);
    destroy_pool(pool);
    free_memory(memory);
    destroy_list(list);
}

void a_gate_lets_a_number_of_commands_through(void) {
    enum { COMMANDS = 10 };
    ze_command_list_handle_t list = make_list(IN_ORDER);
    const uint64_t handle = handle_of(list);
    char *memory = make_device_memory(COMMANDS * 64);
    CHECK_EQUAL(urasync_gate_limit(handle, 0), 0);
    for (int i = 0; i < COMMANDS; ++i) {
        SUCCESS(append_fill(list, memory + i * 64, 'a', NULL));
    }
    for (uint64_t number = 0; number < COMMANDS; number += 3) {
        CHECK_EQUAL(urasync_gate_limit(handle, number), 0);
        CHECK_EQUAL(urasync_list_wait_completed(handle, number, SECONDS_10), 0);
        wait_held(list);
        uint64_t appended = 0;
        uint64_t completed = 0;
        CHECK_EQUAL(urasync_list_progress(handle, &appended, &completed), 0);
        CHECK_EQUAL(completed, number);
        CHECK(filled_with(memory, 'a', number * 64));
        CHECK(filled_with(memory + number * 64, 0, 64));
    }
    CHECK_EQUAL(urasync_list_wait_completed(handle, COMMANDS, MILLISECOND),
                URASYNC_CONTROL_TIMED_OUT);
    CHECK_EQUAL(urasync_gate_limit(handle, UINT64_MAX), 0);
    finish(list);
    free_memory(memory);
    destroy_list(list);
}

void new_lists_can_begin_behind_a_gate(void) {
    CHECK_EQUAL(urasync_gate_close_new(0), 0);
    CHECK_EQUAL(urasync_gate_close_new(0), 0);
    CHECK_EQUAL(urasync_gate_open_new(0), 0);
    ze_command_list_handle_t first = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t second = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t free_one = make_list_on(1, IN_ORDER);
    CHECK_EQUAL(urasync_gate_open_new(0), 0);
    CHECK_EQUAL(urasync_gate_open_new(0), URASYNC_CONTROL_NOT_CLOSED);
    CHECK_EQUAL(urasync_gate_close_new(DEVICES), URASYNC_CONTROL_OUT_OF_RANGE);
    ze_command_list_handle_t later = make_list_on(0, IN_ORDER);
    char *memory = make_device_memory(4 * 64);
    SUCCESS(append_fill(first, memory, 'a', NULL));
    SUCCESS(append_fill(second, memory + 64, 'b', NULL));
    SUCCESS(append_fill(free_one, memory + 128, 'c', NULL));
    SUCCESS(append_fill(later, memory + 192, 'd', NULL));
    finish(free_one);
    finish(later);
    wait_held(first);
    wait_held(second);
    CHECK(filled_with(memory, 0, 128));
    release(first);
    finish(first);
    CHECK(filled_with(memory + 64, 0, 64));
    hold(second);
    CHECK_EQUAL(urasync_gate_open_all(1), 0);
    wait_held(second);
    CHECK_EQUAL(urasync_gate_open_all(0), 0); // twice closed, and open now
    finish(second);
    CHECK(filled_with(memory + 64, 'b', 64));
    free_memory(memory);
    destroy_list(first);
    destroy_list(second);
    destroy_list(free_one);
    destroy_list(later);
}

// --- Failures, counts, the live table -----------------------------------------------------------

static ze_result_t query(void) { return ze.zeContextGetStatus(context); }

void planned_calls_fail(void) {
    const uint64_t delivered = urasync_failures_delivered();
    CHECK_EQUAL(urasync_fail("zeContextGetStatus", 3, ZE_RESULT_ERROR_DEVICE_LOST, 2), 0);
    SUCCESS(query());
    SUCCESS(query());
    CHECK_EQUAL(query(), ZE_RESULT_ERROR_DEVICE_LOST);
    SUCCESS(ze.zeDeviceGetStatus(devices[0])); // another entry
    CHECK_EQUAL(query(), ZE_RESULT_ERROR_DEVICE_LOST);
    SUCCESS(query());
    CHECK_EQUAL(urasync_failures_delivered() - delivered, 2);
    // Two plans count on their own; the older wins where both apply.
    CHECK_EQUAL(urasync_fail("zeContextGetStatus", 2, ZE_RESULT_ERROR_UNKNOWN, 1), 0);
    CHECK_EQUAL(urasync_fail("zeContextGetStatus", 2, ZE_RESULT_ERROR_DEVICE_LOST, 2), 0);
    SUCCESS(query());
    CHECK_EQUAL(query(), ZE_RESULT_ERROR_UNKNOWN);
    CHECK_EQUAL(query(), ZE_RESULT_ERROR_DEVICE_LOST);
    SUCCESS(query());
    // For ever, until it is cleared.
    CHECK_EQUAL(urasync_fail("zeContextGetStatus", 1, ZE_RESULT_ERROR_DEVICE_LOST, 0), 0);
    for (int i = 0; i < 100; ++i) {
        CHECK_EQUAL(query(), ZE_RESULT_ERROR_DEVICE_LOST);
    }
    urasync_clear_failures();
    SUCCESS(query());
    CHECK_EQUAL(urasync_fail("zeNothing", 1, ZE_RESULT_ERROR_UNKNOWN, 1),
                URASYNC_CONTROL_UNKNOWN_ENTRY);
    CHECK_EQUAL(urasync_fail("zeMemFree", 0, ZE_RESULT_ERROR_UNKNOWN, 1),
                URASYNC_CONTROL_OUT_OF_RANGE);
    CHECK_EQUAL(urasync_fail("zeMemFree", 1, ZE_RESULT_SUCCESS, 1), URASYNC_CONTROL_OUT_OF_RANGE);
}

void a_failed_call_does_nothing(void) {
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL;
    CHECK_EQUAL(urasync_fail("zeMemAllocDevice", 1, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, 1), 0);
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &desc, 64, 0, devices[0], &memory),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(memory == NULL);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    memory = make_device_memory(64);
    CHECK_EQUAL(urasync_fail("zeCommandListAppendMemoryFill", 1, ZE_RESULT_ERROR_DEVICE_LOST, 1),
                0);
    CHECK_EQUAL(append_fill(list, memory, 'a', NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    finish(list);
    CHECK(filled_with(memory, 0, 64));
    CHECK_EQUAL(urasync_fail("zeMemFree", 1, ZE_RESULT_ERROR_UNKNOWN, 1), 0);
    CHECK_EQUAL(ze.zeMemFree(context, memory), ZE_RESULT_ERROR_UNKNOWN);
    free_memory(memory);
    destroy_list(list);
}

void calls_are_counted_by_entry(void) {
    urasync_reset_call_counts();
    SUCCESS(query());
    SUCCESS(query());
    CHECK_EQUAL(ze.zeContextGetStatus(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    SUCCESS(ze.zeDeviceGetStatus(devices[0]));
    CHECK_EQUAL(urasync_calls("zeContextGetStatus"), 3);
    CHECK_EQUAL(urasync_calls("zeDeviceGetStatus"), 1);
    CHECK_EQUAL(urasync_total_calls(), 4);
    CHECK_EQUAL(urasync_calls("zeNothing"), UINT64_MAX);
    uint64_t sum = 0;
    uint32_t implemented = 0;
    for (uint32_t entry = 0; entry < urasync_entry_count(); ++entry) {
        sum += urasync_entry_calls(entry);
        implemented += urasync_entry_implemented(entry) == 1 ? 1 : 0;
        CHECK(urasync_entry_name(entry) != NULL);
    }
    CHECK_EQUAL(sum, 4);
    CHECK(implemented > 100 && implemented < urasync_entry_count());
    CHECK(urasync_entry_name(urasync_entry_count()) == NULL);
    urasync_reset_call_counts();
    CHECK_EQUAL(urasync_total_calls(), 0);
}

static uint64_t live(const char *kind) {
    for (uint32_t i = 0; i < urasync_object_kind_count(); ++i) {
        if (strcmp(urasync_object_kind_name(i), kind) == 0) {
            return urasync_live_count(i);
        }
    }
    return UINT64_MAX;
}

void live_objects_stand_in_the_table(void) {
    ze_command_list_handle_t list = make_list_on(1, IN_ORDER);
    void *memory = make_device_memory(12345);
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t first = make_event(pool, 0);
    ze_event_handle_t second = make_event(pool, 1);
    CHECK_EQUAL(live("command_list"), 1);
    CHECK_EQUAL(live("event"), 2);
    CHECK_EQUAL(live("event_pool"), 1);
    CHECK_EQUAL(live("device_memory"), 1);
    CHECK_EQUAL(live("host_memory"), 0);
    CHECK(urasync_object_kind_name(urasync_object_kind_count()) == NULL);
    urasync_live_row rows[8];
    CHECK_EQUAL(urasync_live_table(NULL, 0), 6);
    CHECK_EQUAL(urasync_live_table(rows, COUNT(rows)), 6);
    const void *expected[] = {context, list, memory, pool, first, second};
    for (size_t i = 0; i < COUNT(expected); ++i) {
        CHECK_EQUAL(rows[i].handle, handle_of(expected[i]));
        CHECK(i == 0 || rows[i].serial > rows[i - 1].serial);
    }
    CHECK_EQUAL(rows[2].bytes, 12345);
    CHECK_EQUAL(rows[2].device, 0);
    CHECK_EQUAL(rows[1].device, 1);
    CHECK_EQUAL(rows[4].device, UINT32_MAX);
    CHECK(strcmp(rows[1].creator, "zeCommandListCreateImmediate") == 0);
    CHECK(strcmp(rows[2].creator, "zeMemAllocDevice") == 0);
    CHECK(strcmp(urasync_object_kind_name(rows[5].kind), "event") == 0);
    destroy_event(first);
    CHECK_EQUAL(urasync_live_table(rows, COUNT(rows)), 5);
    CHECK_EQUAL(rows[4].handle, handle_of(second));
    destroy_event(second);
    destroy_pool(pool);
    free_memory(memory);
    destroy_list(list);
}

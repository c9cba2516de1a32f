// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regular lists, queues and fences, and regular lists in immediate lists.

#define _GNU_SOURCE

#include "bench.h"
#include "tests.h"

static void append_add_marker(ze_command_list_handle_t list, char *memory, const char *byte) {
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, byte, 1, 64, NULL, 0, NULL));
}

static ze_result_t execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                           ze_fence_handle_t fence) {
    return ze.zeCommandQueueExecuteCommandLists(queue, 1, &list, fence);
}

static ze_fence_handle_t make_fence(ze_command_queue_handle_t queue, ze_fence_flags_t flags) {
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC, .flags = flags};
    ze_fence_handle_t fence = NULL;
    SUCCESS(ze.zeFenceCreate(queue, &desc, &fence));
    return fence;
}

void regular_lists_run_when_they_are_executed(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_regular_list(0);
    char *memory = make_device_memory(128);
    append_add_marker(list, memory, "a");
    SUCCESS(ze.zeCommandListAppendMemoryCopy(list, memory + 64, memory, 64, NULL, 0, NULL));
    CHECK_EQUAL(execute(queue, list, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT); // still open
    SUCCESS(ze.zeCommandListClose(list));
    CHECK_EQUAL(ze.zeCommandListAppendMemoryFill(list, memory, "z", 1, 64, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // closed
    CHECK(filled_with(memory, 0, 128));
    for (int run = 0; run < 3; ++run) {
        memset(memory, 0, 128);
        SUCCESS(execute(queue, list, NULL));
        SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
        CHECK(filled_with(memory, 'a', 128));
    }
    SUCCESS(ze.zeCommandListReset(list)); // empty and open again
    append_add_marker(list, memory, "b");
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(execute(queue, list, NULL));
    SUCCESS(ze.zeCommandQueueSynchronize(queue, INFINITE));
    CHECK(filled_with(memory, 'b', 64));
    CHECK(filled_with(memory + 64, 'a', 64));
    ze_command_list_flags_t flags = 99;
    SUCCESS(ze.zeCommandListGetFlags(list, &flags));
    CHECK_EQUAL(flags, 0);
    uint32_t index = 0;
    CHECK_EQUAL(ze.zeCommandListImmediateGetIndex(list, &index), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    free_memory(memory);
    destroy_list(list);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

void queues_check_what_they_execute(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t immediate = make_list(IN_ORDER);
    const ze_command_list_desc_t copy_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                              .commandQueueGroupOrdinal = 1};
    ze_command_list_handle_t other_group = NULL;
    ze_command_list_handle_t other_device = NULL;
    const ze_command_list_desc_t plain = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    SUCCESS(ze.zeCommandListCreate(context, devices[0], &copy_desc, &other_group));
    SUCCESS(ze.zeCommandListCreate(context, devices[1], &plain, &other_device));
    SUCCESS(ze.zeCommandListClose(other_group));
    SUCCESS(ze.zeCommandListClose(other_device));
    CHECK_EQUAL(execute(queue, immediate, NULL), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    CHECK_EQUAL(execute(queue, other_group, NULL), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    CHECK_EQUAL(execute(queue, other_device, NULL), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    CHECK_EQUAL(execute(NULL, other_group, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeCommandQueueExecuteCommandLists(queue, 0, &immediate, NULL),
                ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(ze.zeCommandQueueExecuteCommandLists(queue, 1, NULL, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeCommandQueueSynchronize(NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    uint32_t number = 9;
    ze_command_queue_flags_t flags = 9;
    ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_DEFAULT;
    ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    SUCCESS(ze.zeCommandQueueGetOrdinal(queue, &number));
    CHECK_EQUAL(number, 0);
    SUCCESS(ze.zeCommandQueueGetIndex(queue, &number));
    CHECK_EQUAL(number, 0);
    SUCCESS(ze.zeCommandQueueGetFlags(queue, &flags));
    CHECK_EQUAL(flags, 0);
    SUCCESS(ze.zeCommandQueueGetMode(queue, &mode));
    CHECK_EQUAL(mode, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    SUCCESS(ze.zeCommandQueueGetPriority(queue, &priority));
    CHECK_EQUAL(priority, ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
    destroy_list(other_group);
    destroy_list(other_device);
    destroy_list(immediate);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

void lists_that_run_are_in_use(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_regular_list(0);
    ze_fence_handle_t fence = make_fence(queue, 0);
    char *memory = make_device_memory(64);
    append_add_marker(list, memory, "a");
    SUCCESS(ze.zeCommandListClose(list));
    hold(queue);
    SUCCESS(execute(queue, list, fence));
    CHECK_EQUAL(ze.zeCommandListReset(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeCommandListDestroy(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeFenceDestroy(fence), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeCommandQueueDestroy(queue), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeCommandQueueSynchronize(queue, 0), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeCommandQueueSynchronize(queue, MILLISECOND), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeFenceHostSynchronize(fence, 0), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeFenceHostSynchronize(fence, MILLISECOND), ZE_RESULT_NOT_READY);
    release(queue);
    SUCCESS(ze.zeFenceHostSynchronize(fence, SECONDS_10));
    SUCCESS(ze.zeFenceQueryStatus(fence));
    CHECK(filled_with(memory, 'a', 64));
    SUCCESS(ze.zeCommandListReset(list)); // free as soon as the fence is seen
    SUCCESS(ze.zeFenceReset(fence));
    CHECK_EQUAL(ze.zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeCommandQueueDestroy(queue), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE); // its fence
    SUCCESS(ze.zeFenceDestroy(fence));
    destroy_list(list);
    free_memory(memory);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

void fences_belong_to_their_queue(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_queue_handle_t other = make_queue();
    ze_fence_handle_t fence = make_fence(queue, ZE_FENCE_FLAG_SIGNALED);
    ze_command_list_handle_t list = make_regular_list(0);
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(ze.zeFenceQueryStatus(fence)); // begins signalled, as asked
    CHECK_EQUAL(execute(other, list, fence), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    SUCCESS(ze.zeCommandListReset(list)); // the refused execution holds nothing
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(ze.zeFenceReset(fence));
    SUCCESS(execute(queue, list, fence));
    SUCCESS(ze.zeFenceHostSynchronize(fence, SECONDS_10));
    const ze_fence_desc_t bad = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC, .flags = 2};
    ze_fence_handle_t refused = NULL;
    CHECK_EQUAL(ze.zeFenceCreate(queue, &bad, &refused), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    CHECK_EQUAL(ze.zeFenceCreate(NULL, &bad, &refused), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeFenceReset(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    SUCCESS(ze.zeFenceDestroy(fence));
    destroy_list(list);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
    SUCCESS(ze.zeCommandQueueDestroy(other));
}

// Recorded waits, signals and resets act at each execution.
void recorded_events_act_at_each_execution(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_regular_list(0);
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t start = make_event(pool, 0);
    ze_event_handle_t end = make_event(pool, 1);
    char *memory = make_device_memory(64);
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, "a", 1, 64, NULL, 1, &start));
    SUCCESS(ze.zeCommandListAppendEventReset(list, start));
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, end));
    SUCCESS(ze.zeCommandListClose(list));
    for (int run = 0; run < 3; ++run) {
        memset(memory, 0, 64);
        SUCCESS(execute(queue, list, NULL));
        CHECK_EQUAL(ze.zeEventHostSynchronize(end, 2 * MILLISECOND), ZE_RESULT_NOT_READY);
        CHECK(filled_with(memory, 0, 64));
        CHECK_EQUAL(ze.zeEventDestroy(start), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        CHECK_EQUAL(ze.zeEventDestroy(end), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        SUCCESS(ze.zeEventHostSignal(start));
        finish_event(end);
        CHECK(filled_with(memory, 'a', 64));
        CHECK_EQUAL(ze.zeEventQueryStatus(start), ZE_RESULT_NOT_READY);
        SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
        SUCCESS(ze.zeEventHostReset(end));
    }
    // An event that was destroyed since stops the execution, not the program.
    destroy_event(start);
    CHECK_EQUAL(execute(queue, list, NULL), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    destroy_event(end); // the refused execution holds nothing
    destroy_list(list);
    destroy_pool(pool);
    free_memory(memory);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

void recorded_counter_based_events_follow_the_executions(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_regular_list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
    ze_command_list_handle_t waiting = make_list(IN_ORDER);
    ze_event_handle_t first = make_counter_event(ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
    ze_event_handle_t last = make_counter_event(ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, first));
    SUCCESS(ze.zeCommandListAppendBarrier(list, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, last));
    SUCCESS(ze.zeCommandListClose(list));
    CHECK_EQUAL(ze.zeEventQueryStatus(first), ZE_RESULT_NOT_READY); // recorded, not executed
    for (int run = 0; run < 3; ++run) {
        hold(queue);
        SUCCESS(execute(queue, list, NULL));
        CHECK_EQUAL(ze.zeEventQueryStatus(first), ZE_RESULT_NOT_READY);
        CHECK_EQUAL(ze.zeEventQueryStatus(last), ZE_RESULT_NOT_READY);
        SUCCESS(ze.zeCommandListAppendWaitOnEvents(waiting, 1, &last));
        CHECK_EQUAL(ze.zeCommandListHostSynchronize(waiting, MILLISECOND), ZE_RESULT_NOT_READY);
        release(queue);
        finish_event(first);
        finish_event(last);
        finish(waiting);
    }
    SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
    SUCCESS(ze.zeCommandListReset(list));
    SUCCESS(ze.zeEventQueryStatus(last)); // keeps what it knew
    destroy_list(list);
    destroy_list(waiting);
    destroy_event(first);
    destroy_event(last);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

// A gate that closes while a list runs holds its next command.
void a_gate_holds_a_queue_within_a_list(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_regular_list(0);
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t begun = make_event(pool, 0);
    ze_event_handle_t go_on = make_event(pool, 1);
    char *memory = make_device_memory(64);
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, begun));
    SUCCESS(ze.zeCommandListAppendWaitOnEvents(list, 1, &go_on));
    append_add_marker(list, memory, "a");
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(execute(queue, list, NULL));
    finish_event(begun);
    hold(queue);
    SUCCESS(ze.zeEventHostSignal(go_on));
    wait_held(queue);
    CHECK(filled_with(memory, 0, 64));
    release(queue);
    SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
    CHECK(filled_with(memory, 'a', 64));
    destroy_event(begun);
    destroy_event(go_on);
    destroy_pool(pool);
    destroy_list(list);
    free_memory(memory);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

void an_immediate_list_takes_regular_lists_in_order(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t regular[2] = {make_regular_list(0), make_regular_list(0)};
    ze_event_handle_t event = make_counter_event(0);
    char *memory = make_device_memory(64);
    append_add_marker(regular[0], memory, "a");
    append_add_marker(regular[1], memory, "b");
    CHECK_EQUAL(ze.zeCommandListImmediateAppendCommandListsExp(list, 2, regular, event, 0, NULL),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // open
    SUCCESS(ze.zeCommandListClose(regular[0]));
    SUCCESS(ze.zeCommandListClose(regular[1]));
    hold(list);
    append_add_marker(list, memory, "c");
    SUCCESS(ze.zeCommandListImmediateAppendCommandListsExp(list, 2, regular, event, 0, NULL));
    CHECK_EQUAL(ze.zeCommandListReset(regular[1]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    release(list);
    finish_event(event);
    SUCCESS(ze.zeCommandListReset(regular[1]));
    CHECK(filled_with(memory, 'b', 64));
    CHECK_EQUAL(
        ze.zeCommandListImmediateAppendCommandListsExp(regular[0], 1, regular, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT); // not an immediate list
    CHECK_EQUAL(ze.zeCommandListImmediateAppendCommandListsExp(list, 1, NULL, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    free_memory(memory);
    destroy_list(regular[0]);
    destroy_list(regular[1]);
    destroy_list(list);
    destroy_event(event);
}

// Frees that wait for commands see into lists that are executed.
void a_deferred_free_sees_commands_of_executed_lists(void) {
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_regular_list(0);
    char *memory = make_device_memory(64);
    append_add_marker(list, memory, "a");
    SUCCESS(ze.zeCommandListClose(list));
    hold(queue);
    SUCCESS(execute(queue, list, NULL));
    const ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                            .freePolicy =
                                                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    SUCCESS(ze.zeMemFreeExt(context, &desc, memory));
    uint64_t used = 0;
    CHECK_EQUAL(urasync_device_memory_used(0, &used), 0);
    CHECK_EQUAL(used, 64);
    release(queue);
    SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
    CHECK_EQUAL(urasync_device_memory_used(0, &used), 0);
    CHECK_EQUAL(used, 0);
    destroy_list(list);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

void a_synchronous_queue_completes_each_execution(void) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_queue_handle_t queue = NULL;
    SUCCESS(ze.zeCommandQueueCreate(context, devices[0], &desc, &queue));
    ze_command_list_handle_t list = make_regular_list(0);
    char *memory = make_device_memory(64);
    append_add_marker(list, memory, "a");
    SUCCESS(ze.zeCommandListClose(list));
    for (int run = 0; run < 50; ++run) {
        memset(memory, 0, 64);
        SUCCESS(execute(queue, list, NULL));
        CHECK(filled_with(memory, 'a', 64));
    }
    destroy_list(list);
    free_memory(memory);
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

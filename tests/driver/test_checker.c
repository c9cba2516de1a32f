// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker, in a process of its own where it is on: each kind of fault is planted and found, and
// the same program without the fault passes. Gates see to it that nothing depends on who is faster.

#include "bench.h"
#include "schedule.h"
#include "tests.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
enum { VARIANTS = 1 }; // the planted faults are data races, which it finds as well
#else
enum { VARIANTS = 2 };
#endif

enum { SIZE = 4096, SECONDS_OF_CHILD = 120 };

static ze_command_list_handle_t a, b, c;
static char *memory;

static void fill(ze_command_list_handle_t list, void *at, size_t size, ze_event_handle_t signal,
                 ze_event_handle_t wait) {
    const char pattern = 1;
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, at, &pattern, 1, size, signal, wait != NULL,
                                             wait != NULL ? &wait : NULL));
}

static void copy(ze_command_list_handle_t list, void *to, const void *from, size_t size) {
    SUCCESS(ze.zeCommandListAppendMemoryCopy(list, to, from, size, NULL, 0, NULL));
}

static void signal_event(ze_command_list_handle_t list, ze_event_handle_t event) {
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, event));
}

static void wait_event(ze_command_list_handle_t list, ze_event_handle_t event) {
    SUCCESS(ze.zeCommandListAppendWaitOnEvents(list, 1, &event));
}

static void finish_all(void) {
    finish(a);
    finish(b);
    finish(c);
}

// --- Two commands and the same bytes ------------------------------------------------------------

static void two_writes(bool fault) {
    fill(a, memory, SIZE, NULL, NULL);
    if (!fault) {
        finish(a);
    }
    fill(b, memory + SIZE - 1, SIZE, NULL, NULL); // one byte in common
}

static void writes_side_by_side(bool fault) {
    fill(a, memory, SIZE, NULL, NULL);
    fill(b, memory + SIZE - fault, SIZE, NULL, NULL);
}

static void a_write_and_a_read(bool fault) {
    if (fault) {
        fill(a, memory, SIZE, NULL, NULL);
    } else {
        copy(a, memory + 2 * SIZE, memory, SIZE);
    }
    copy(b, memory + 4 * SIZE, memory, SIZE);
}

static void a_read_and_a_later_write(bool fault) {
    copy(a, memory + 2 * SIZE, memory, SIZE);
    copy(b, memory + 4 * SIZE, memory, SIZE);
    finish(a);
    if (!fault) {
        finish(b);
    }
    fill(a, memory, SIZE, NULL, NULL);
}

// Another read in the middle must not hide what was read beside it.
static void a_read_in_parts(bool fault) {
    copy(a, memory + 2 * SIZE, memory, SIZE);
    copy(b, memory + 4 * SIZE, memory + SIZE / 2, 1);
    finish(b);
    if (!fault) {
        finish(a);
    }
    fill(b, memory + SIZE - 1, 1, NULL, NULL);
}

static void a_query_is_a_wait(bool fault) {
    ze_event_handle_t event = make_counter_event(0);
    fill(a, memory, SIZE, event, NULL);
    CHECK_EQUAL(urasync_list_wait_completed(handle_of(a), 1, SECONDS_10), 0); // the host sees none
    if (!fault) {
        SUCCESS(ze.zeEventQueryStatus(event));
    }
    fill(b, memory, SIZE, NULL, NULL);
    finish(a);
    finish(b);
    destroy_event(event);
}

static void a_counter_event(bool fault) {
    ze_event_handle_t event = make_counter_event(0);
    if (fault) {
        signal_event(a, event);
        fill(a, memory, SIZE, NULL, NULL); // behind the signal
    } else {
        fill(a, memory, SIZE, event, NULL);
    }
    fill(b, memory, SIZE, NULL, event);
    finish(a);
    finish(b);
    destroy_event(event);
}

// The wait is for the place that the event had at the append, not for a later one.
static void a_counter_event_that_moved_on(bool fault) {
    ze_event_handle_t event = make_counter_event(0);
    hold(b);
    signal_event(a, event);
    if (fault) {
        fill(b, memory, SIZE, NULL, event);
    }
    fill(a, memory, SIZE, event, NULL);
    if (!fault) {
        fill(b, memory, SIZE, NULL, event);
    }
    finish(a);
    release(b);
    finish(b);
    destroy_event(event);
}

static void an_event_of_a_pool(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    fill(a, memory, SIZE, fault ? NULL : event, NULL);
    if (fault) {
        signal_event(c, event);
    }
    fill(b, memory, SIZE, NULL, event);
    finish_all();
    destroy_event(event);
    destroy_pool(pool);
}

static void a_chain_of_three(bool fault) {
    ze_event_handle_t first = make_counter_event(0);
    ze_event_handle_t second = make_counter_event(0);
    fill(a, memory, SIZE, first, NULL);
    if (!fault) {
        wait_event(b, first);
    }
    signal_event(b, second);
    fill(c, memory, SIZE, NULL, second);
    finish_all();
    destroy_event(first);
    destroy_event(second);
}

static void rows_of_a_region(bool fault) {
    // Each list has its own columns of the same rows.
    const ze_copy_region_t left = {.width = 16, .height = 4, .depth = 1};
    const ze_copy_region_t right = {
        .originX = fault ? 15 : 16, .width = 16, .height = 4, .depth = 1};
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(a, memory, &left, 64, 0, memory + SIZE, &left,
                                                   64, 0, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(b, memory, &right, 64, 0, memory + 2 * SIZE,
                                                   &right, 64, 0, NULL, 0, NULL));
}

static void regular_lists(bool fault) {
    ze_command_list_handle_t list = make_regular_list(0);
    ze_command_queue_handle_t queue = make_queue();
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    SUCCESS(ze.zeFenceCreate(queue, &desc, &fence));
    fill(list, memory, SIZE, NULL, NULL);
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(ze.zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    if (!fault) {
        SUCCESS(ze.zeFenceHostSynchronize(fence, SECONDS_10));
    }
    fill(a, memory, SIZE, NULL, NULL);
    finish(a);
    SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
    SUCCESS(ze.zeFenceDestroy(fence));
    SUCCESS(ze.zeCommandListDestroy(list));
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

// --- Memory that is not there -------------------------------------------------------------------

static void a_free_of_memory_in_use(bool fault) {
    char *mine = make_device_memory(SIZE);
    hold(a);
    fill(a, mine, SIZE, NULL, NULL);
    if (!fault) {
        release(a);
        finish(a);
    }
    free_memory(mine);
    if (fault) {
        release(a);
        finish(a);
    }
}

static void a_free_that_nobody_waited_for(bool fault) {
    char *mine = make_device_memory(SIZE);
    uint64_t appended;
    uint64_t completed;
    fill(a, mine, SIZE, NULL, NULL);
    urasync_list_progress(handle_of(a), &appended, &completed);
    CHECK_EQUAL(urasync_list_wait_completed(handle_of(a), appended, SECONDS_10), 0);
    if (!fault) {
        finish(a);
    }
    free_memory(mine);
}

static void a_command_on_freed_memory(bool fault) {
    char *mine = make_device_memory(SIZE);
    if (fault) {
        free_memory(mine);
    }
    fill(a, mine, SIZE, NULL, NULL);
    finish(a);
    if (!fault) {
        free_memory(mine);
    }
}

static void a_command_beyond_the_end(bool fault) {
    copy(a, memory + 15 * SIZE, memory, SIZE + fault);
}

static void a_page_that_is_unmapped(bool fault) {
    void *range;
    ze_physical_mem_handle_t physical;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = PAGE};
    SUCCESS(ze.zeVirtualMemReserve(context, NULL, PAGE, &range));
    SUCCESS(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical));
    SUCCESS(ze.zeVirtualMemMap(context, range, PAGE, physical, 0,
                               ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    fill(a, range, SIZE, NULL, NULL);
    finish(a);
    if (fault) {
        SUCCESS(ze.zeVirtualMemUnmap(context, range, PAGE));
    }
    fill(a, range, SIZE, NULL, NULL);
    finish(a);
    if (!fault) {
        SUCCESS(ze.zeVirtualMemUnmap(context, range, PAGE));
    }
    SUCCESS(ze.zeVirtualMemFree(context, range, PAGE));
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
}

// Addresses that went back are kept from others for a while, but there must be enough left.
static void many_ranges_that_go(bool fault) {
    for (int i = 0; i < 3000; ++i) {
        void *range;
        SUCCESS(ze.zeVirtualMemReserve(context, NULL, (size_t)64 << 30, &range));
        SUCCESS(ze.zeVirtualMemFree(context, range, (size_t)64 << 30));
    }
    fill(a, memory, SIZE, NULL, NULL);
    if (fault) {
        fill(b, memory, SIZE, NULL, NULL);
    }
}

// --- Who knows what -----------------------------------------------------------------------------

// All that a list was given is complete, and the host has not seen it.
static void complete_unseen(ze_command_list_handle_t list) {
    uint64_t appended;
    uint64_t completed;
    CHECK_EQUAL(urasync_list_progress(handle_of(list), &appended, &completed), 0);
    CHECK_EQUAL(urasync_list_wait_completed(handle_of(list), appended, SECONDS_10), 0);
}

// Whoever destroys a list knows that it is complete.
static void a_list_that_goes(bool fault) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    fill(list, memory, SIZE, NULL, NULL);
    complete_unseen(list);
    if (!fault) {
        destroy_list(list);
    }
    fill(b, memory, SIZE, NULL, NULL);
    finish(b);
    if (fault) {
        destroy_list(list);
    }
}

static void a_look_at_an_event(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    fill(a, memory, SIZE, event, NULL);
    complete_unseen(a);
    if (!fault) {
        SUCCESS(ze.zeEventHostSynchronize(event, SECONDS_10));
    }
    fill(b, memory, SIZE, NULL, NULL);
    finish_all();
    destroy_event(event);
    destroy_pool(pool);
}

// The signal stands for what the host knows then, not for what it learns later.
static void a_signal_from_the_host(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    fill(b, memory, SIZE, NULL, event);
    fill(a, memory, SIZE, NULL, NULL);
    complete_unseen(a);
    if (!fault) {
        finish(a);
    }
    SUCCESS(ze.zeEventHostSignal(event));
    finish_all();
    destroy_event(event);
    destroy_pool(pool);
}

static void a_wait_for_the_device(bool fault) {
    fill(a, memory, SIZE, NULL, NULL);
    complete_unseen(a);
    if (!fault) {
        SUCCESS(ze.zeDeviceSynchronize(devices[0]));
    }
    fill(b, memory, SIZE, NULL, NULL);
}

static ze_command_list_handle_t make_list_of_mode(ze_command_queue_mode_t mode) {
    const ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .flags = IN_ORDER, .mode = mode};
    ze_command_list_handle_t list = NULL;
    SUCCESS(ze.zeCommandListCreateImmediate(context, devices[0], &desc, &list));
    return list;
}

static void an_append_that_waits(bool fault) {
    ze_command_list_handle_t list = make_list_of_mode(fault ? ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS
                                                            : ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    fill(list, memory, SIZE, NULL, NULL);
    complete_unseen(list);
    fill(b, memory, SIZE, NULL, NULL);
    finish(b);
    destroy_list(list);
}

static uint64_t frees_before;

static void *release_soon(void *list) {
    while (urasync_calls("zeMemFreeExt") == frees_before) {
        sched_yield();
    }
    release(list);
    return NULL;
}

// A free that waits for the commands that use the memory: the host knows them complete then.
static void a_free_that_waits(bool fault) {
    char *mine = make_device_memory(SIZE);
    const ze_memory_free_ext_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
        .freePolicy = fault ? 0 : ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    hold(a);
    fill(a, mine, SIZE, NULL, NULL);
    fill(a, memory, SIZE, NULL, NULL);
    wait_held(a);
    if (fault) {
        SUCCESS(ze.zeMemFreeExt(context, &desc, mine));
        release(a);
        return;
    }
    pthread_t thread;
    frees_before = urasync_calls("zeMemFreeExt");
    CHECK_EQUAL(pthread_create(&thread, NULL, release_soon, a), 0);
    SUCCESS(ze.zeMemFreeExt(context, &desc, mine));
    pthread_join(thread, NULL);
}

static void a_free_that_is_put_off(bool fault) {
    char *mine = make_device_memory(SIZE);
    const ze_memory_free_ext_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
        .freePolicy = fault ? 0 : ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    hold(a);
    fill(a, mine, SIZE, NULL, NULL);
    SUCCESS(ze.zeMemFreeExt(context, &desc, mine));
    release(a);
    complete_unseen(a);
    free_memory(make_device_memory(SIZE)); // collects it
}

// Frees that need not wait: nobody has seen the commands complete, but they are.
static void free_what_is_complete(bool fault, uint32_t policy) {
    char *mine = make_device_memory(SIZE);
    const ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                            .freePolicy = fault ? 0 : policy};
    fill(a, mine, SIZE, NULL, NULL);
    complete_unseen(a);
    SUCCESS(ze.zeMemFreeExt(context, &desc, mine));
}

static void a_free_that_need_not_wait(bool fault) {
    free_what_is_complete(fault, ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE);
}

static void a_free_that_is_put_off_for_nothing(bool fault) {
    free_what_is_complete(fault, ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE);
}

// --- Queues and what is executed on them --------------------------------------------------------

typedef enum seen { UNSEEN, BY_QUEUE, BY_STATUS, BY_MODE } seen_t;

static void execute(seen_t seen) {
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                .mode = seen == BY_MODE
                                                            ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                            : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_list_handle_t list = make_regular_list(0);
    ze_command_queue_handle_t queue;
    ze_fence_handle_t fence;
    SUCCESS(ze.zeCommandQueueCreate(context, devices[0], &queue_desc, &queue));
    SUCCESS(ze.zeFenceCreate(queue, &fence_desc, &fence));
    fill(list, memory, SIZE, NULL, NULL);
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(ze.zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    CHECK_EQUAL(urasync_list_wait_completed(handle_of(queue), 1, SECONDS_10), 0);
    if (seen == BY_QUEUE) {
        SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
    }
    if (seen == BY_STATUS) {
        while (ze.zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY) {
        }
    }
    fill(a, memory, SIZE, NULL, NULL);
    finish(a);
    SUCCESS(ze.zeFenceHostSynchronize(fence, SECONDS_10));
    SUCCESS(ze.zeFenceDestroy(fence));
    SUCCESS(ze.zeCommandListDestroy(list));
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

static void a_queue_that_is_waited_for(bool fault) { execute(fault ? UNSEEN : BY_QUEUE); }

static void a_fence_that_is_asked(bool fault) { execute(fault ? UNSEEN : BY_STATUS); }

static void an_execution_that_waits(bool fault) { execute(fault ? UNSEEN : BY_MODE); }

// An event in the middle of a regular list stands for the commands before it.
static void a_part_of_a_regular_list(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    ze_command_list_handle_t list = make_regular_list(0);
    ze_command_queue_handle_t queue = make_queue();
    fill(list, memory, SIZE, event, NULL);
    fill(list, memory + SIZE, SIZE, NULL, NULL);
    SUCCESS(ze.zeCommandListClose(list));
    SUCCESS(ze.zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    CHECK_EQUAL(urasync_list_wait_completed(handle_of(queue), 1, SECONDS_10), 0);
    fill(b, fault ? memory + SIZE : memory, SIZE, NULL, event);
    finish(b);
    SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
    destroy_event(event);
    destroy_pool(pool);
    SUCCESS(ze.zeCommandListDestroy(list));
    SUCCESS(ze.zeCommandQueueDestroy(queue));
}

// --- Which bytes --------------------------------------------------------------------------------

// The last row of the second slice of a copy between two stretches of memory.
static void a_last_row(const char *side, bool fault) {
    enum { PITCH = 64, SLICE = 1024 };
    const ze_copy_region_t region = {.width = 16, .height = 4, .depth = 2};
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(a, memory, &region, PITCH, SLICE, memory + SIZE,
                                                   &region, PITCH, SLICE, NULL, 0, NULL));
    fill(b, (char *)side + SLICE + 3 * PITCH + 16 - fault, 1, NULL, NULL);
}

static void a_last_row_that_is_written(bool fault) { a_last_row(memory, fault); }

static void a_last_row_that_is_read(bool fault) { a_last_row(memory + SIZE, fault); }

static void times_that_are_written(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_TIMESTAMPS);
    ze_event_handle_t event = make_event(pool, 0);
    signal_event(a, event);
    finish(a);
    SUCCESS(ze.zeEventHostSynchronize(event, SECONDS_10));
    SUCCESS(ze.zeCommandListAppendQueryKernelTimestamps(a, 1, &event, memory, NULL, NULL, 0, NULL));
    if (!fault) {
        finish(a);
    }
    fill(b, memory, 1, NULL, NULL);
    finish_all();
    destroy_event(event);
    destroy_pool(pool);
}

static void a_page_that_is_in_use(bool fault) {
    void *range;
    ze_physical_mem_handle_t physical;
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = PAGE};
    SUCCESS(ze.zeVirtualMemReserve(context, NULL, PAGE, &range));
    SUCCESS(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical));
    SUCCESS(ze.zeVirtualMemMap(context, range, PAGE, physical, 0,
                               ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    fill(a, range, SIZE, NULL, NULL);
    complete_unseen(a);
    if (!fault) {
        finish(a);
    }
    SUCCESS(ze.zeVirtualMemUnmap(context, range, PAGE));
    finish(a);
    SUCCESS(ze.zeVirtualMemFree(context, range, PAGE));
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
}

// Of several reads by one list the last one counts.
static void a_read_once_more(bool fault) {
    copy(a, memory + 2 * SIZE, memory, SIZE);
    finish(a);
    copy(a, memory + 2 * SIZE, memory, SIZE);
    complete_unseen(a);
    if (!fault) {
        finish(a);
    }
    fill(b, memory, SIZE, NULL, NULL);
}

static void a_conflict_behind_what_is_right(bool fault) {
    fill(a, memory + SIZE, SIZE, NULL, NULL);
    complete_unseen(a);
    fill(b, memory, SIZE, NULL, NULL);
    if (!fault) {
        finish(a);
    }
    fill(b, memory, (size_t)2 * SIZE, NULL, NULL);
}

// What is known complete is forgotten now and then; what is not is kept.
static void among_many_bytes(char *at, bool fault) {
    copy(a, memory + 2 * SIZE, memory, SIZE); // reads the one, writes the other
    complete_unseen(a);
    for (size_t i = (size_t)4 * SIZE; i < (size_t)16 * SIZE; i += 2) {
        fill(c, memory + i, 1, NULL, NULL);
        if (i % SIZE == 0) {
            finish(c);
        }
    }
    finish(c);
    if (!fault) {
        finish(a);
    }
    fill(b, at, SIZE, NULL, NULL);
}

static void a_read_among_many_bytes(bool fault) { among_many_bytes(memory, fault); }

static void a_write_among_many_bytes(bool fault) { among_many_bytes(memory + 2 * SIZE, fault); }

// --- A lost device ------------------------------------------------------------------------------

// What was appended before the loss will never matter to anybody.
static void a_device_that_is_lost(bool fault) {
    char *mine = make_device_memory(SIZE);
    hold(a);
    fill(a, mine, SIZE, NULL, NULL);
    if (!fault) {
        urasync_fail("zeCommandListHostSynchronize", 1, ZE_RESULT_ERROR_DEVICE_LOST, 1);
        CHECK_EQUAL(ze.zeCommandListHostSynchronize(a, 0), ZE_RESULT_ERROR_DEVICE_LOST);
    }
    fill(b, mine, SIZE, NULL, NULL);
    finish(b);
    free_memory(mine);
    release(a);
    finish(a);
}

// What was appended before it is forgotten, what comes after it is looked at.
static void a_command_after_a_loss(bool fault) {
    fill(a, memory, SIZE, NULL, NULL);
    complete_unseen(a);
    urasync_fail("zeCommandListHostSynchronize", 1, ZE_RESULT_ERROR_DEVICE_LOST, 1);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(b, 0), ZE_RESULT_ERROR_DEVICE_LOST);
    fill(c, memory, SIZE, NULL, NULL);
    finish(c);
    fill(a, memory, SIZE, NULL, NULL);
    complete_unseen(a);
    if (!fault) {
        finish(a);
    }
    fill(c, memory, SIZE, NULL, NULL);
    finish_all();
}

// --- Events -------------------------------------------------------------------------------------

static void a_reset_before_the_wait_is_over(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    signal_event(a, event);
    finish(a);
    wait_event(b, event);
    uint64_t appended;
    uint64_t completed;
    urasync_list_progress(handle_of(b), &appended, &completed);
    CHECK_EQUAL(urasync_list_wait_completed(handle_of(b), appended, SECONDS_10), 0);
    if (!fault) {
        finish(b);
    }
    SUCCESS(ze.zeEventHostReset(event));
    finish(b);
    destroy_event(event);
    destroy_pool(pool);
}

static void a_reset_of_a_pending_event(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    hold(a);
    if (fault) {
        signal_event(a, event);
    }
    SUCCESS(ze.zeEventHostReset(event));
    release(a);
    finish(a);
    destroy_event(event);
    destroy_pool(pool);
}

static void after_an_unseen_command(bool fault, bool resets,
                                    ze_result_t (*call)(ze_event_handle_t event)) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    if (resets) {
        SUCCESS(ze.zeCommandListAppendEventReset(a, event));
    } else {
        signal_event(a, event);
    }
    complete_unseen(a);
    if (!fault) {
        finish(a);
    }
    SUCCESS(call(event));
    finish(a);
    if (call != ze.zeEventDestroy) {
        destroy_event(event);
    }
    destroy_pool(pool);
}

static void a_reset_of_an_unseen_signal(bool fault) {
    after_an_unseen_command(fault, false, ze.zeEventHostReset);
}

static void a_destruction_of_an_unseen_signal(bool fault) {
    after_an_unseen_command(fault, false, ze.zeEventDestroy);
}

static void a_host_signal_after_an_unseen_reset(bool fault) {
    after_an_unseen_command(fault, true, ze.zeEventHostSignal);
}

static void a_reset_by_another_list(bool fault) {
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    ze_event_handle_t waited = make_event(pool, 1);
    signal_event(a, event);
    wait_event(b, event);
    signal_event(b, waited);
    wait_event(c, fault ? event : waited);
    SUCCESS(ze.zeCommandListAppendEventReset(c, event));
    if (fault && ze.zeEventHostSynchronize(waited, 100 * MILLISECOND) != ZE_RESULT_SUCCESS) {
        SUCCESS(ze.zeEventHostSignal(event)); // b had not got past its wait
    }
    finish_all();
    destroy_event(event);
    destroy_event(waited);
    destroy_pool(pool);
}

static void an_event_that_goes_while_it_is_in_use(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    hold(a);
    signal_event(a, event);
    if (fault) {
        CHECK_EQUAL(ze.zeEventDestroy(event), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    }
    release(a);
    finish(a);
    destroy_event(event);
    destroy_pool(pool);
}

// Looks at an event whose list has gone, which was seen before that or not.
static void outlive(bool fault, void (*look)(ze_event_handle_t event)) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_TIMESTAMPS);
    ze_event_handle_t event = make_event(pool, 0);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    signal_event(list, event);
    finish(list);
    if (!fault) {
        SUCCESS(ze.zeEventQueryStatus(event));
    }
    destroy_list(list);
    look(event);
    destroy_event(event);
    destroy_pool(pool);
}

static void reset(ze_event_handle_t event) { SUCCESS(ze.zeEventHostReset(event)); }

static void signal_once_more(ze_event_handle_t event) { SUCCESS(ze.zeEventHostSignal(event)); }

static void query_times(ze_event_handle_t event) {
    ze_kernel_timestamp_result_t times;
    SUCCESS(ze.zeEventQueryKernelTimestamp(event, &times));
}

static void use_again(ze_event_handle_t event) {
    signal_event(a, event); // by a list that is there
    finish(a);
    SUCCESS(ze.zeEventHostSynchronize(event, SECONDS_10));
}

// A destruction looks at no list.
static void a_destruction_without_the_list(bool fault) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    signal_event(list, event);
    finish(list);
    destroy_list(list);
    if (fault) {
        reset(event);
    }
    destroy_event(event);
    destroy_pool(pool);
}

static void a_reset_without_the_list(bool fault) { outlive(fault, reset); }

static void a_host_signal_without_the_list(bool fault) { outlive(fault, signal_once_more); }

static void times_without_the_list(bool fault) {
    outlive(true, use_again); // no fault
    outlive(fault, query_times);
}

static void a_look_without_the_list(bool fault) {
    ze_event_handle_t event = make_counter_event(ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    signal_event(list, event);
    if (fault) {
        finish(list);
    } else {
        SUCCESS(ze.zeEventHostSynchronize(event, SECONDS_10));
    }
    destroy_list(list);
    SUCCESS(ze.zeEventHostSynchronize(event, SECONDS_10));
    destroy_event(event);
}

// --- Launches ------------------------------------------------------------------------------------

static ze_module_handle_t module;
static ze_kernel_handle_t kernel;

static void touch_nothing(const urasync_launch *launch, void *user) {
    (void)launch;
    (void)user;
}

// A kernel of one pointer, which it does not use: the checker believes what is said of it.
static void make_kernel(const void *pointer) {
    static const char name[] = "touch";
    static const uint32_t sizes[] = {0};
    CHECK_EQUAL(urasync_kernel_register(name, touch_nothing, NULL, COUNT(sizes), sizes), 0);
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof name - 1,
                                   .pInputModule = (const uint8_t *)name};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = name};
    SUCCESS(ze.zeModuleCreate(context, devices[0], &desc, &module, NULL));
    SUCCESS(ze.zeKernelCreate(module, &kernel_desc, &kernel));
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 0, sizeof pointer, &pointer));
}

static void launch(ze_command_list_handle_t list) {
    const ze_group_count_t one = {1, 1, 1};
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
}

static void destroy_kernel(void) {
    SUCCESS(ze.zeKernelDestroy(kernel));
    SUCCESS(ze.zeModuleDestroy(module));
}

static void launch_beside_a_fill(void) {
    launch(a);
    fill(b, memory + 8 * SIZE, SIZE, NULL, NULL);
    finish_all();
    destroy_kernel();
}

static void a_launch_has_the_whole_allocation(bool fault) {
    const uint64_t less[] = {8 * SIZE, 0};
    make_kernel(memory);
    if (!fault) {
        CHECK_EQUAL(urasync_kernel_declare(handle_of(kernel), 2, less),
                    URASYNC_CONTROL_OUT_OF_RANGE);
        CHECK_EQUAL(urasync_kernel_declare(handle_of(kernel), 1, less), 0);
    }
    launch_beside_a_fill();
    CHECK_EQUAL(urasync_kernel_declare(handle_of(context), 1, less),
                URASYNC_CONTROL_UNKNOWN_HANDLE);
}

static void a_launch_has_all_of_a_kind(bool fault) {
    const uint64_t nothing = 0;
    make_kernel(NULL);
    SUCCESS(ze.zeKernelSetIndirectAccess(kernel, fault ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE
                                                       : ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST));
    launch_beside_a_fill();
    make_kernel(memory);
    SUCCESS(ze.zeKernelSetIndirectAccess(kernel, 7));
    CHECK_EQUAL(urasync_kernel_declare(handle_of(kernel), 1, &nothing), 0);
    launch_beside_a_fill(); // no fault
}

// Memory of another context is out of its reach.
static void a_launch_has_its_context(bool fault) {
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_command_queue_desc_t in_order = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                              .flags = IN_ORDER,
                                              .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_context_handle_t other = NULL;
    ze_command_list_handle_t list = NULL;
    void *apart = NULL;
    SUCCESS(ze.zeContextCreate(driver, &desc, &other));
    SUCCESS(ze.zeMemAllocDevice(other, &device, SIZE, 0, devices[0], &apart));
    SUCCESS(ze.zeCommandListCreateImmediate(other, devices[0], &in_order, &list));
    make_kernel(NULL);
    SUCCESS(ze.zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE));
    launch(a);
    if (fault) {
        fill(b, memory, SIZE, NULL, NULL);
    }
    fill(list, apart, SIZE, NULL, NULL);
    finish(list);
    finish_all();
    destroy_kernel();
    destroy_list(list);
    SUCCESS(ze.zeMemFree(other, apart));
    SUCCESS(ze.zeContextDestroy(other));
}

// An indirect launch reads its groups when it runs, and of several kernels also their count.
static void groups_beside_a_fill(bool fault, int which) {
    ze_group_count_t *groups = make_host_memory(SIZE);
    uint32_t *count = make_host_memory(SIZE);
    make_kernel(NULL);
    if (which == 0) {
        SUCCESS(ze.zeCommandListAppendLaunchKernelIndirect(a, kernel, groups, NULL, 0, NULL));
    } else {
        SUCCESS(ze.zeCommandListAppendLaunchMultipleKernelsIndirect(a, 1, &kernel, count, groups,
                                                                    NULL, 0, NULL));
    }
    if (!fault) {
        finish(a);
    }
    fill(b, which == 2 ? (void *)count : groups, SIZE, NULL, NULL);
    finish_all();
    destroy_kernel();
    free_memory(groups);
    free_memory(count);
}

static void groups_of_a_launch(bool fault) { groups_beside_a_fill(fault, 0); }

static void groups_of_several_launches(bool fault) { groups_beside_a_fill(fault, 1); }

static void the_count_of_several_launches(bool fault) { groups_beside_a_fill(fault, 2); }

static void a_launch_on_freed_memory(bool fault) {
    char *freed = make_device_memory(SIZE);
    make_kernel(freed);
    if (fault) {
        free_memory(freed);
    }
    launch(a);
    finish(a);
    destroy_kernel();
    if (!fault) {
        free_memory(freed);
    }
}

static void a_kernel_that_goes_too_early(bool fault) {
    make_kernel(memory);
    hold(a);
    launch(a);
    wait_held(a);
    if (fault) {
        destroy_kernel();
    }
    release(a);
    finish(a);
    if (!fault) {
        destroy_kernel();
    }
}

static const struct {
    const char *name;
    void (*run)(bool fault);
    const char *says[2]; // what a report has in it
} programs[] = {
    {"two writes", two_writes, {"no order between zeCommandListAppendMemoryFill", "the 1 bytes"}},
    {"writes side by side", writes_side_by_side, {"which writes the 1 bytes", "writes them"}},
    {"a write and a read", a_write_and_a_read, {"zeCommandListAppendMemoryCopy", "4096 bytes"}},
    {"a read and a later write", a_read_and_a_later_write, {"which reads", "which writes"}},
    {"a read in parts", a_read_in_parts, {"which reads", "which writes"}},
    {"a query is a wait", a_query_is_a_wait, {"no order between", ""}},
    {"a counter event", a_counter_event, {"no order between", ""}},
    {"a counter event that moved on", a_counter_event_that_moved_on, {"no order between", ""}},
    {"an event of a pool", an_event_of_a_pool, {"no order between", ""}},
    {"a chain of three", a_chain_of_three, {"no order between", ""}},
    {"rows of a region", rows_of_a_region, {"which writes the 1 bytes", "CopyRegion"}},
    {"regular lists", regular_lists, {"no order between", ""}},
    {"a free of memory in use", a_free_of_memory_in_use, {"zeMemFree takes the 4096", "stay"}},
    {"a free that nobody waited for",
     a_free_that_nobody_waited_for,
     {"zeMemFree takes the 4096 bytes", "nobody has seen it complete"}},
    {"a command on freed memory", a_command_on_freed_memory, {"are no memory", "did not run"}},
    {"a command beyond the end", a_command_beyond_the_end, {"are no memory", "touches 4097 bytes"}},
    {"a page that is unmapped", a_page_that_is_unmapped, {"are no memory", "did not run"}},
    {"many ranges that go", many_ranges_that_go, {"no order between", ""}},
    {"a device that is lost", a_device_that_is_lost, {"zeMemFree takes the 4096 bytes", "stay"}},
    {"a reset before the wait is over",
     a_reset_before_the_wait_is_over,
     {"zeEventHostReset resets event", "zeCommandListAppendWaitOnEvents"}},
    {"a reset of a pending event", a_reset_of_a_pending_event, {"zeEventHostReset", "refers"}},
    {"a reset by another list", a_reset_by_another_list, {"with no order to", "EventReset"}},
    {"a reset without the list",
     a_reset_without_the_list,
     {"zeEventHostReset for event", "an immediate list that was destroyed"}},
    {"a host signal without the list",
     a_host_signal_without_the_list,
     {"zeEventHostSignal for event", "an immediate list that was destroyed"}},
    {"times without the list",
     times_without_the_list,
     {"zeEventQueryKernelTimestamp for event", "an immediate list that was destroyed"}},
    {"a look without the list",
     a_look_without_the_list,
     {"zeEventHostSynchronize for event", "an immediate list that was destroyed"}},
    {"a launch and an allocation",
     a_launch_has_the_whole_allocation,
     {"zeCommandListAppendLaunchKernel", "4096 bytes"}},
    {"a launch that reaches everything",
     a_launch_has_all_of_a_kind,
     {"zeCommandListAppendLaunchKernel", "4096 bytes"}},
    {"a launch in its context",
     a_launch_has_its_context,
     {"zeCommandListAppendLaunchKernel", "4096 bytes"}},
    {"groups of a launch", groups_of_a_launch, {"LaunchKernelIndirect", "12 bytes"}},
    {"groups of several launches",
     groups_of_several_launches,
     {"LaunchMultipleKernelsIndirect", "12 bytes"}},
    {"the count of several launches",
     the_count_of_several_launches,
     {"LaunchMultipleKernelsIndirect", "4 bytes"}},
    {"a launch on freed memory", a_launch_on_freed_memory, {"are no memory", "did not run"}},
    {"a kernel that goes",
     a_kernel_that_goes_too_early,
     {"zeKernelDestroy", "'touch', of which 1"}},
    {"a list that goes", a_list_that_goes, {"no order between", ""}},
    {"a look at an event", a_look_at_an_event, {"no order between", ""}},
    {"a signal from the host", a_signal_from_the_host, {"no order between", ""}},
    {"a wait for the device", a_wait_for_the_device, {"no order between", ""}},
    {"an append that waits", an_append_that_waits, {"no order between", ""}},
    {"a free that waits", a_free_that_waits, {"zeMemFreeExt takes the 4096 bytes", "stay"}},
    {"a free that is put off",
     a_free_that_is_put_off,
     {"zeMemFreeExt takes the 4096 bytes", "stay"}},
    {"a free that need not wait",
     a_free_that_need_not_wait,
     {"zeMemFreeExt takes the 4096 bytes", "nobody has seen"}},
    {"a free that is put off for nothing",
     a_free_that_is_put_off_for_nothing,
     {"zeMemFreeExt takes the 4096 bytes", "nobody has seen"}},
    {"a queue that is waited for", a_queue_that_is_waited_for, {"no order between", ""}},
    {"a fence that is asked", a_fence_that_is_asked, {"no order between", ""}},
    {"an execution that waits", an_execution_that_waits, {"no order between", ""}},
    {"a part of a regular list",
     a_part_of_a_regular_list,
     {"no order between", "(command 2 of list"}},
    {"a last row that is written", a_last_row_that_is_written, {"the 1 bytes", "CopyRegion"}},
    {"a last row that is read", a_last_row_that_is_read, {"the 1 bytes", "which reads "}},
    {"times that are written", times_that_are_written, {"QueryKernelTimestamps", "writes them"}},
    {"a page that is in use",
     a_page_that_is_in_use,
     {"zeVirtualMemUnmap takes", "nobody has seen"}},
    {"a read once more", a_read_once_more, {"the 4096 bytes", "which reads "}},
    {"a conflict behind what is right",
     a_conflict_behind_what_is_right,
     {"no order between", "the 4096 bytes"}},
    {"a read among many bytes", a_read_among_many_bytes, {"no order between", "which reads "}},
    {"a write among many bytes",
     a_write_among_many_bytes,
     {"no order between", "zeCommandListAppendMemoryCopy"}},
    {"a command after a loss", a_command_after_a_loss, {"no order between", ""}},
    {"a reset of an unseen signal",
     a_reset_of_an_unseen_signal,
     {"zeEventHostReset resets event", "zeCommandListAppendSignalEvent"}},
    {"a destruction of an unseen signal",
     a_destruction_of_an_unseen_signal,
     {"zeEventDestroy destroys event", "zeCommandListAppendSignalEvent"}},
    {"a host signal after an unseen reset",
     a_host_signal_after_an_unseen_reset,
     {"zeEventHostSignal signals event", "zeCommandListAppendEventReset"}},
    {"a destruction without the list",
     a_destruction_without_the_list,
     {"zeEventHostReset for event", "an immediate list that was destroyed"}},
    {"an event that goes", an_event_that_goes_while_it_is_in_use, {"zeEventDestroy", "refers"}},
};

// The fault is reported, and, but for what follows from it, nothing else.
static void check_reports(size_t program, bool fault) {
    char text[512] = "";
    const uint64_t count = urasync_checker_report_count();
    urasync_checker_report(0, text, sizeof text);
    const bool right = fault ? count > 0 && strstr(text, programs[program].says[0]) != NULL &&
                                   strstr(text, programs[program].says[1]) != NULL
                             : count == 0;
    if (!right) {
        printf("%s, with%s the fault: %" PRIu64 " reports, the first: %s\n", programs[program].name,
               fault ? "" : "out", count, text);
    }
    CHECK(right);
    urasync_checker_clear();
}

int child_checker(void) {
    uint32_t one = 1;
    alarm(SECONDS_OF_CHILD);
    ze.zeInit(0);
    ze.zeDriverGet(&one, &driver);
    ze.zeDeviceGet(driver, &one, devices);
    context = ze.zeDriverGetDefaultContext(driver);
    CHECK_EQUAL(urasync_checker_is_on(), 1);
    for (size_t i = 0; i < COUNT(programs); ++i) {
        for (int fault = 0; fault < VARIANTS; ++fault) {
            a = make_list(IN_ORDER);
            b = make_list(IN_ORDER);
            c = make_list(IN_ORDER);
            memory = make_device_memory((size_t)16 * SIZE);
            programs[i].run(fault != 0);
            finish_all();
            check_reports(i, fault != 0);
            free_memory(memory);
            destroy_list(a);
            destroy_list(b);
            destroy_list(c);
            CHECK_EQUAL(urasync_checker_report_count(), 0);
        }
    }
    return atomic_load(&failed_checks) == 0 ? 0 : 1;
}

void the_checker_finds_faults_and_passes_what_is_right(void) {
    char errors[1 << 15];
    CHECK_EQUAL(run_child("child_checker", "URASYNC_L0_SOFTWARE_CHECK", "1", errors, sizeof errors),
                0);
    CHECK_EQUAL(strstr(errors, "urasync software driver: no order between") != NULL, VARIANTS > 1);
}

void the_checker_is_off_unless_it_is_asked_for(void) {
    CHECK_EQUAL(urasync_checker_is_on(), 0);
    CHECK_EQUAL(urasync_checker_report_count(), 0);
}

// --- Seeds --------------------------------------------------------------------------------------

int child_seed(void) {
    enum { COMMANDS = 200 };
    uint32_t one = 1;
    alarm(SECONDS_OF_CHILD);
    ze.zeInit(0);
    ze.zeDriverGet(&one, &driver);
    ze.zeDeviceGet(driver, &one, devices);
    context = ze.zeDriverGetDefaultContext(driver);
    a = make_list(IN_ORDER);
    const uint64_t before = now_ns();
    for (int i = 0; i < COMMANDS; ++i) {
        SUCCESS(ze.zeCommandListAppendBarrier(a, NULL, 0, NULL));
    }
    finish(a);
    const uint64_t slept = now_ns() - before;
    destroy_list(a);
    // Without a seed this takes far less than a hundredth of that.
    return slept > 2 * MILLISECOND ? 0 : 1;
}

void a_seed_decides_how_long_commands_are_held_back(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_seed", "URASYNC_L0_SOFTWARE_SEED", "7", errors, sizeof errors), 0);
    CHECK_EQUAL(schedule_of(7, 1, 5), schedule_of(7, 1, 5));
    uint64_t different = 0;
    uint64_t held = 0;
    for (uint64_t place = 1; place <= 1000; ++place) {
        different += schedule_of(7, 1, place) != schedule_of(8, 1, place);
        held += schedule_of(7, 2, place) > 0;
        CHECK_EQUAL(schedule_of(0, 1, place), 0);
    }
    CHECK(different > 100);
    CHECK(held > 100 && held < 900);
}

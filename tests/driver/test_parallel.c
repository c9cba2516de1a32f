// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many threads, lists and events at once. What is checked is order and content; the sanitizers
// check the rest.

#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bench.h"
#include "tests.h"

enum { THREADS = 4 };

static void run_threads(void *(*run)(void *), void *arguments, size_t size) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; ++i) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, run, (char *)arguments + i * size), 0);
    }
    for (size_t i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
}

// --- Each thread with a list of its own ---------------------------------------------------------

static void *fill_and_read_back(void *argument) {
    enum { ROUNDS = 300, WORDS = 1024 };
    const uint32_t number = *(uint32_t *)argument;
    ze_command_list_handle_t list = make_list_on(number % DEVICES, IN_ORDER);
    ze_event_handle_t event = make_counter_event(0);
    uint32_t *host = make_host_memory(WORDS * sizeof *host);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t value = number << 16 | round;
        uint32_t *memory = make_device_memory(WORDS * sizeof *memory);
        SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, &value, sizeof value,
                                                 WORDS * sizeof *memory, NULL, 0, NULL));
        SUCCESS(ze.zeCommandListAppendMemoryCopy(list, host, memory, WORDS * sizeof *host, event, 0,
                                                 NULL));
        finish_event(event);
        bool right = true;
        for (size_t i = 0; i < WORDS; ++i) {
            right = right && host[i] == value;
        }
        CHECK(right);
        free_memory(memory);
    }
    free_memory(host);
    destroy_list(list);
    destroy_event(event);
    return NULL;
}

void threads_with_lists_of_their_own_do_not_meet(void) {
    uint32_t numbers[THREADS] = {1, 2, 3, 4};
    run_threads(fill_and_read_back, numbers, sizeof numbers[0]);
}

// --- A ring of lists ----------------------------------------------------------------------------

// Each list adds a step to a shared trail after the list before it: the order is total, and nothing
// but the events makes it so.
void a_ring_of_lists_keeps_its_order(void) {
    enum { LISTS = 5, TURNS = 200, STEPS = LISTS * TURNS };
    ze_command_list_handle_t lists[LISTS];
    ze_event_handle_t events[LISTS];
    for (uint32_t i = 0; i < LISTS; ++i) {
        lists[i] = make_list_on(i % DEVICES, IN_ORDER);
        events[i] = make_counter_event(0);
        hold(lists[i]);
    }
    // The last written step, and a copy of it at each step.
    uint32_t *current = make_device_memory(sizeof *current);
    uint32_t *trail = make_host_memory(STEPS * sizeof *trail);
    for (uint32_t step = 0; step < STEPS; ++step) {
        const uint32_t i = step % LISTS;
        ze_event_handle_t before = events[(i + LISTS - 1) % LISTS];
        const uint32_t value = step + 1;
        SUCCESS(
            ze.zeCommandListAppendMemoryCopy(lists[i], &trail[step], current, 4, NULL, 1, &before));
        SUCCESS(
            ze.zeCommandListAppendMemoryFill(lists[i], current, &value, 4, 4, events[i], 0, NULL));
    }
    for (uint32_t i = LISTS; i-- > 0;) { // the last first
        release(lists[i]);
    }
    for (uint32_t i = 0; i < LISTS; ++i) {
        finish(lists[i]);
    }
    bool right = true;
    for (uint32_t step = 0; step < STEPS; ++step) {
        right = right && trail[step] == step;
    }
    CHECK(right);
    CHECK_EQUAL(*current, STEPS);
    for (uint32_t i = 0; i < LISTS; ++i) {
        destroy_list(lists[i]);
        destroy_event(events[i]);
    }
    free_memory(current);
    free_memory(trail);
}

// Two lists hand a regular event to and fro; each resets what it has waited for.
void two_lists_play_ping_pong(void) {
    enum { ROUNDS = 500 };
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t ping = make_event(pool, 0);
    ze_event_handle_t pong = make_event(pool, 1);
    ze_command_list_handle_t a = make_list_on(0, IN_ORDER);
    ze_command_list_handle_t b = make_list_on(1, OUT_OF_ORDER);
    uint32_t *cell = make_device_memory(sizeof *cell);
    uint32_t *seen = make_host_memory(ROUNDS * sizeof *seen);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t value = round + 1;
        SUCCESS(ze.zeCommandListAppendMemoryFill(a, cell, &value, 4, 4, ping, 0, NULL));
        SUCCESS(ze.zeCommandListAppendWaitOnEvents(a, 1, &pong));
        SUCCESS(ze.zeCommandListAppendEventReset(a, pong));
        SUCCESS(ze.zeCommandListAppendWaitOnEvents(b, 1, &ping));
        SUCCESS(ze.zeCommandListAppendEventReset(b, ping));
        SUCCESS(ze.zeCommandListAppendMemoryCopy(b, &seen[round], cell, 4, pong, 0, NULL));
    }
    finish(a);
    finish(b);
    bool right = true;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        right = right && seen[round] == round + 1;
    }
    CHECK(right);
    destroy_event(ping);
    destroy_event(pong);
    destroy_pool(pool);
    destroy_list(a);
    destroy_list(b);
    free_memory(cell);
    free_memory(seen);
}

// --- Events come and go -------------------------------------------------------------------------

// The thread destroys an event the moment it sees it complete: the worker must be done with it.
static void *use_events_once(void *argument) {
    enum { ROUNDS = 1500 };
    ze_event_pool_handle_t pool = make_pool(2, *(uint32_t *)argument % 2);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    for (int round = 0; round < ROUNDS; ++round) {
        ze_event_handle_t event = make_event(pool, 0);
        ze_event_handle_t last = make_event(pool, 1);
        SUCCESS(ze.zeCommandListAppendSignalEvent(list, event));
        SUCCESS(ze.zeCommandListAppendBarrier(list, last, 1, &event));
        if (round % 3 == 0) {
            finish_event(event);
        } else {
            while (ze.zeEventQueryStatus(event) != ZE_RESULT_SUCCESS) {
            }
        }
        finish_event(last);
        destroy_event(event);
        destroy_event(last);
    }
    destroy_list(list);
    destroy_pool(pool);
    return NULL;
}

void events_may_be_destroyed_as_soon_as_they_are_complete(void) {
    uint32_t numbers[THREADS] = {0, 1, 2, 3};
    run_threads(use_events_once, numbers, sizeof numbers[0]);
}

static void *make_and_drop_lists(void *argument) {
    const uint32_t device = *(uint32_t *)argument % DEVICES;
    for (int round = 0; round < 60; ++round) {
        ze_event_handle_t event = make_counter_event(0);
        ze_command_list_handle_t list = make_list_on(device, IN_ORDER);
        for (int i = 0; i < round; ++i) {
            SUCCESS(ze.zeCommandListAppendSignalEvent(list, event));
        }
        destroy_list(list); // waits for what is pending
        SUCCESS(ze.zeEventQueryStatus(event));
        destroy_event(event);
    }
    return NULL;
}

void lists_may_be_destroyed_with_their_last_commands_running(void) {
    uint32_t numbers[THREADS] = {0, 1, 2, 3};
    run_threads(make_and_drop_lists, numbers, sizeof numbers[0]);
}

// --- Memory -------------------------------------------------------------------------------------

static void *allocate_and_ask(void *argument) {
    enum { SLOTS = 64, STEPS = 1500 };
    unsigned int seed = *(uint32_t *)argument;
    char *slots[SLOTS] = {0};
    size_t sizes[SLOTS] = {0};
    for (int step = 0; step < STEPS; ++step) {
        const size_t i = (size_t)rand_r(&seed) % SLOTS;
        if (slots[i] != NULL) {
            void *base = NULL;
            size_t size = 0;
            SUCCESS(ze.zeMemGetAddressRange(context, slots[i] + sizes[i] / 2, &base, &size));
            CHECK(base == slots[i] && size == sizes[i]);
            CHECK_EQUAL((unsigned char)slots[i][sizes[i] - 1], (unsigned char)i);
            free_memory(slots[i]);
            slots[i] = NULL;
        } else {
            sizes[i] = 1 + (size_t)rand_r(&seed) % 9000;
            slots[i] = step % 2 == 0 ? make_device_memory(sizes[i]) : make_host_memory(sizes[i]);
            slots[i][sizes[i] - 1] = (char)i;
        }
    }
    for (size_t i = 0; i < SLOTS; ++i) {
        if (slots[i] != NULL) {
            free_memory(slots[i]);
        }
    }
    return NULL;
}

void threads_allocate_and_ask_at_once(void) {
    uint32_t seeds[THREADS] = {11, 22, 33, 44};
    run_threads(allocate_and_ask, seeds, sizeof seeds[0]);
}

static void *map_and_unmap(void *argument) {
    enum { ROUNDS = 100 };
    const char mark = (char)(1 + *(uint32_t *)argument);
    void *address = NULL;
    SUCCESS(ze.zeVirtualMemReserve(context, NULL, 4 * PAGE, &address));
    char *range = address;
    for (size_t round = 0; round < ROUNDS; ++round) {
        ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = PAGE};
        ze_physical_mem_handle_t physical = NULL;
        SUCCESS(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical));
        char *place = range + round % 4 * PAGE;
        SUCCESS(ze.zeVirtualMemMap(context, place, PAGE, physical, 0,
                                   ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
        CHECK_EQUAL(place[round], 0);
        place[round] = mark;
        CHECK_EQUAL(place[round], mark);
        SUCCESS(ze.zeVirtualMemUnmap(context, place, PAGE));
        SUCCESS(ze.zePhysicalMemDestroy(context, physical));
    }
    SUCCESS(ze.zeVirtualMemFree(context, range, 4 * PAGE));
    return NULL;
}

void threads_map_and_unmap_at_once(void) {
    uint32_t numbers[THREADS] = {0, 1, 2, 3};
    run_threads(map_and_unmap, numbers, sizeof numbers[0]);
}

// --- Controls beside all this -------------------------------------------------------------------

static atomic_bool steering_ends;

static void *steer(void *argument) {
    const uint64_t list = handle_of(*(ze_command_list_handle_t *)argument);
    urasync_live_row rows[64];
    while (!atomic_load(&steering_ends)) {
        CHECK_EQUAL(urasync_gate_close(list), 0);
        urasync_gate_wait_reached(list, MILLISECOND / 10);
        (void)urasync_live_table(rows, COUNT(rows));
        (void)urasync_total_calls();
        uint64_t appended = 0;
        uint64_t completed = 0;
        CHECK_EQUAL(urasync_list_progress(list, &appended, &completed), 0);
        CHECK(completed <= appended);
        CHECK_EQUAL(urasync_gate_open(list), 0);
    }
    return NULL;
}

void controls_may_steer_while_lists_run(void) {
    enum { ROUNDS = 400 };
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_event_handle_t event = make_counter_event(0);
    uint32_t *cell = make_device_memory(sizeof *cell);
    pthread_t thread;
    atomic_store(&steering_ends, false);
    CHECK_EQUAL(pthread_create(&thread, NULL, steer, &list), 0);
    for (uint32_t round = 1; round <= ROUNDS; ++round) {
        SUCCESS(ze.zeCommandListAppendMemoryFill(list, cell, &round, 4, 4, event, 0, NULL));
        finish_event(event);
        CHECK_EQUAL(*cell, round);
    }
    atomic_store(&steering_ends, true);
    pthread_join(thread, NULL);
    free_memory(cell);
    destroy_event(event);
    destroy_list(list);
}

// Every n-th of many calls fails, whichever thread makes it: exactly as many as planned.
static void *query_often(void *argument) {
    for (int i = 0; i < 2000; ++i) {
        const ze_result_t result = ze.zeContextGetStatus(context);
        if (result != ZE_RESULT_SUCCESS) {
            CHECK_EQUAL(result, ZE_RESULT_ERROR_DEVICE_LOST);
            ++*(uint32_t *)argument;
        }
    }
    return NULL;
}

void failures_are_delivered_exactly(void) {
    uint32_t failed[THREADS] = {0};
    urasync_reset_call_counts();
    CHECK_EQUAL(urasync_fail("zeContextGetStatus", 1000, ZE_RESULT_ERROR_DEVICE_LOST, 77), 0);
    run_threads(query_often, failed, sizeof failed[0]);
    uint32_t total = 0;
    for (size_t i = 0; i < THREADS; ++i) {
        total += failed[i];
    }
    CHECK_EQUAL(total, 77);
    CHECK_EQUAL(urasync_calls("zeContextGetStatus"), THREADS * 2000);
}

// One call is slow, whichever thread makes it; those of the others are not.
static void *query_and_count(void *argument) {
    for (int i = 0; i < 200; ++i) {
        SUCCESS(ze.zeContextGetStatus(context));
    }
    atomic_fetch_add((_Atomic uint32_t *)argument, 1);
    return NULL;
}

void one_call_is_slow(void) {
    _Atomic uint32_t ended = 0;
    pthread_t threads[THREADS];
    CHECK_EQUAL(urasync_slow_call("zeContextGetStatus", 100, UINT64_MAX), 0);
    CHECK_EQUAL(urasync_slow_call_wait_reached(0), URASYNC_CONTROL_TIMED_OUT);
    for (size_t i = 0; i < THREADS; ++i) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, query_and_count, &ended), 0);
    }
    CHECK_EQUAL(urasync_slow_call_wait_reached(SECONDS_10), 0);
    const uint64_t before = now_ns();
    while (atomic_load(&ended) < THREADS - 1 && now_ns() - before < SECONDS_10) {
        sched_yield();
    }
    CHECK_EQUAL(atomic_load(&ended), THREADS - 1);
    CHECK_EQUAL(urasync_slow_call_wait_reached(0), 0);
    urasync_slow_call_end();
    for (size_t i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    CHECK_EQUAL(atomic_load(&ended), THREADS);
    CHECK_EQUAL(urasync_slow_call_wait_reached(0), URASYNC_CONTROL_TIMED_OUT);
    CHECK_EQUAL(urasync_slow_call("zeNothing", 1, 1), URASYNC_CONTROL_UNKNOWN_ENTRY);
    CHECK_EQUAL(urasync_slow_call("zeMemFree", 0, 1), URASYNC_CONTROL_OUT_OF_RANGE);
}

// One list, many threads that wait for it and for its events.
typedef struct waiter {
    ze_command_list_handle_t list;
    ze_event_handle_t event;
} waiter_t;

static void *wait_for_both(void *argument) {
    const waiter_t *waiter = argument;
    finish_event(waiter->event);
    finish(waiter->list);
    return NULL;
}

void many_threads_wait_for_one_list(void) {
    ze_event_pool_handle_t pool = make_pool(THREADS, POOL_PLAIN);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    for (int round = 0; round < 50; ++round) {
        waiter_t waiters[THREADS];
        pthread_t threads[THREADS];
        hold(list);
        for (uint32_t i = 0; i < THREADS; ++i) {
            waiters[i] = (waiter_t){list, make_event(pool, i)};
            SUCCESS(ze.zeCommandListAppendSignalEvent(list, waiters[i].event));
            CHECK_EQUAL(pthread_create(&threads[i], NULL, wait_for_both, &waiters[i]), 0);
        }
        release(list);
        for (uint32_t i = 0; i < THREADS; ++i) {
            pthread_join(threads[i], NULL);
            destroy_event(waiters[i].event);
        }
    }
    destroy_list(list);
    destroy_pool(pool);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What commands do to memory, and that each honours its waits and its signal.

#define _GNU_SOURCE

#include <stdlib.h>

#include "bench.h"
#include "tests.h"

// --- Effects ------------------------------------------------------------------------------------

void fills_repeat_patterns_of_every_size(void) {
    enum { SIZE = 300 * 1024 };
    ze_command_list_handle_t list = make_list(IN_ORDER);
    unsigned char *memory = make_device_memory(SIZE + 256);
    for (size_t pattern_size = 1; pattern_size <= 128; pattern_size *= 2) {
        unsigned char pattern[128];
        for (size_t i = 0; i < pattern_size; ++i) {
            pattern[i] = (unsigned char)(i * 7 + pattern_size);
        }
        // A part of the pattern may stand at the end.
        const size_t sizes[] = {pattern_size, 3 * pattern_size, SIZE - SIZE % pattern_size,
                                2 * pattern_size + pattern_size / 2};
        for (size_t s = 0; s < COUNT(sizes); ++s) {
            SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, "\xEE", 1, SIZE + 256, NULL, 0,
                                                     NULL));
            SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory + 128, pattern, pattern_size,
                                                     sizes[s], NULL, 0, NULL));
            memset(pattern, 0, 0); // the pattern was copied at the append
            finish(list);
            bool right =
                filled_with(memory, 0xEE, 128) && filled_with(memory + 128 + sizes[s], 0xEE, 128);
            for (size_t i = 0; i < sizes[s]; ++i) {
                right = right && memory[128 + i] == pattern[i % pattern_size];
            }
            CHECK(right);
        }
    }
    free_memory(memory);
    destroy_list(list);
}

void a_fill_takes_its_pattern_at_the_append(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *memory = make_device_memory(64);
    char *source = make_host_memory(64);
    char pattern = 'p';
    hold(list);
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, &pattern, 1, 64, NULL, 0, NULL));
    pattern = 'q';
    memset(source, 'r', 64); // a copy reads its source when it runs
    SUCCESS(ze.zeCommandListAppendMemoryCopy(list, memory, source, 32, NULL, 0, NULL));
    memset(source, 's', 64);
    CHECK(filled_with(memory, 0, 64));
    release(list);
    finish(list);
    CHECK(filled_with(memory, 's', 32));
    CHECK(filled_with(memory + 32, 'p', 32));
    free_memory(memory);
    free_memory(source);
    destroy_list(list);
}

void fills_that_do_not_fit_are_refused(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *memory = make_device_memory(4096);
    static const char pattern[256] = {1};
#define FILL(address, pattern_size, size)                                                          \
    ze.zeCommandListAppendMemoryFill(list, address, pattern, pattern_size, size, NULL, 0, NULL)
    CHECK_EQUAL(FILL(memory, 0, 4096), ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(FILL(memory, 3, 4095), ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(FILL(memory, 256, 4096), ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(FILL(memory, 1, 4097), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(FILL(memory + 4088, 8, 16), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(FILL(memory + 4, 8, 1024), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    CHECK_EQUAL(FILL(NULL, 8, 1024), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryFill(list, memory, NULL, 1, 1, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryFill(NULL, memory, pattern, 1, 1, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryFill(list, memory, pattern, 1, 1, NULL, 1, NULL),
                ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryCopy(list, NULL, memory, 1, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryCopy(list, memory, NULL, 1, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    uint64_t appended = 1;
    uint64_t completed = 1;
    CHECK_EQUAL(urasync_list_progress(handle_of(list), &appended, &completed), 0);
    CHECK_EQUAL(appended, 0); // a refused append leaves nothing
    CHECK(filled_with(memory, 0, 4096));
    free_memory(memory);
    destroy_list(list);
}

void copies_move_bytes(void) {
    enum { SIZE = 100003 };
    ze_command_list_handle_t list = make_list(IN_ORDER);
    unsigned char *device = make_device_memory(SIZE);
    unsigned char *host = make_host_memory(SIZE);
    unsigned char *plain = malloc(SIZE);
    for (size_t i = 0; i < SIZE; ++i) {
        plain[i] = (unsigned char)(i * 131 >> 3);
    }
    SUCCESS(ze.zeCommandListAppendMemoryCopy(list, device, plain, SIZE, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryCopyFromContext(list, host, context, device, SIZE, NULL, 0,
                                                        NULL));
    SUCCESS(ze.zeCommandListAppendMemoryCopy(list, device + 5, device, SIZE - 5, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryCopy(list, device, device, 0, NULL, 0, NULL));
    CHECK_EQUAL(
        ze.zeCommandListAppendMemoryCopyFromContext(list, host, NULL, device, SIZE, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    finish(list);
    CHECK(memcmp(host, plain, SIZE) == 0);
    CHECK(memcmp(device, plain, 5) == 0);
    CHECK(memcmp(device + 5, plain, SIZE - 5) == 0); // an overlapping copy moves
    free(plain);
    free_memory(device);
    free_memory(host);
    destroy_list(list);
}

static void copy_region_plainly(unsigned char *to, const ze_copy_region_t *to_region,
                                size_t to_pitch, size_t to_slice, const unsigned char *from,
                                const ze_copy_region_t *from_region, size_t from_pitch,
                                size_t from_slice) {
    for (uint32_t z = 0; z < to_region->depth; ++z) {
        for (uint32_t y = 0; y < to_region->height; ++y) {
            for (uint32_t x = 0; x < to_region->width; ++x) {
                to[(to_region->originZ + z) * to_slice + (to_region->originY + y) * to_pitch +
                   to_region->originX + x] =
                    from[(from_region->originZ + z) * from_slice +
                         (from_region->originY + y) * from_pitch + from_region->originX + x];
            }
        }
    }
}

void region_copies_move_boxes(void) {
    enum { SIZE = 64 * 1024 };
    ze_command_list_handle_t list = make_list(IN_ORDER);
    unsigned char *from = make_host_memory(SIZE);
    unsigned char *to = make_device_memory(SIZE);
    unsigned char *expected = calloc(1, SIZE);
    for (size_t i = 0; i < SIZE; ++i) {
        from[i] = (unsigned char)(1 + i % 251);
    }
    const ze_copy_region_t to_box = {3, 2, 1, 17, 5, 4};
    const ze_copy_region_t from_box = {1, 0, 2, 17, 5, 4};
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(list, to, &to_box, 40, 40 * 11, from, &from_box,
                                                   25, 25 * 9, NULL, 0, NULL));
    copy_region_plainly(expected, &to_box, 40, 40 * 11, from, &from_box, 25, 25 * 9);
    finish(list);
    CHECK(memcmp(to, expected, SIZE) == 0);
    // Flat, with depth 0 and pitches by default: rows follow each other.
    const ze_copy_region_t flat = {0, 0, 0, 100, 7, 0};
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(list, to + 10000, &flat, 0, 0, from + 50, &flat,
                                                   0, 0, NULL, 0, NULL));
    memcpy(expected + 10000, from + 50, 700);
    finish(list);
    CHECK(memcmp(to, expected, SIZE) == 0);
    const ze_copy_region_t beside = {100, 0, 0, 100, 7, 1};
    const ze_copy_region_t across = {50, 3, 0, 100, 7, 1};
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(list, to, &beside, 300, 0, to, &flat, 300, 0,
                                                   NULL, 0, NULL));
    CHECK_EQUAL(ze.zeCommandListAppendMemoryCopyRegion(list, to, &across, 300, 0, to, &flat, 300, 0,
                                                       NULL, 0, NULL),
                ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    // Overlap that the call cannot see, since the addresses differ.
    const ze_copy_region_t row = {0, 0, 0, 100, 1, 1};
    unsigned char moved[100];
    finish(list);
    memcpy(moved, to + 10000, sizeof moved);
    SUCCESS(ze.zeCommandListAppendMemoryCopyRegion(list, to + 10030, &row, 0, 0, to + 10000, &row,
                                                   0, 0, NULL, 0, NULL));
    finish(list);
    CHECK(memcmp(to + 10030, moved, sizeof moved) == 0);
    const ze_copy_region_t narrow = {0, 0, 0, 99, 7, 1};
    CHECK_EQUAL(ze.zeCommandListAppendMemoryCopyRegion(list, to, &flat, 0, 0, from, &narrow, 0, 0,
                                                       NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryCopyRegion(list, to, &flat, 99, 0, from, &flat, 0, 0,
                                                       NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryCopyRegion(list, to, NULL, 0, 0, from, &flat, 0, 0,
                                                       NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    finish(list);
    free(expected);
    free_memory(from);
    free_memory(to);
    destroy_list(list);
}

void written_timestamps_are_device_ticks_in_order(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    uint64_t *stamps = make_host_memory(2 * sizeof *stamps);
    uint64_t host = 0;
    uint64_t before = 0;
    uint64_t after = 0;
    SUCCESS(ze.zeDeviceGetGlobalTimestamps(devices[0], &host, &before));
    SUCCESS(ze.zeCommandListAppendWriteGlobalTimestamp(list, &stamps[0], NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendWriteGlobalTimestamp(list, &stamps[1], NULL, 0, NULL));
    finish(list);
    SUCCESS(ze.zeDeviceGetGlobalTimestamps(devices[0], &host, &after));
    CHECK(before <= stamps[0] && stamps[0] <= stamps[1] && stamps[1] <= after);
    CHECK_EQUAL(ze.zeCommandListAppendWriteGlobalTimestamp(list, NULL, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    free_memory(stamps);
    destroy_list(list);
}

// --- Waits and signals of every append ----------------------------------------------------------

typedef struct operands {
    char *to;
    char *from;
    ze_event_handle_t timed;
    ze_command_list_handle_t regular; // closed; fills `to`
} operands_t;

typedef ze_result_t append_t(ze_command_list_handle_t list, const operands_t *operands,
                             ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits);

static ze_result_t barrier(ze_command_list_handle_t list, const operands_t *operands,
                           ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    (void)operands;
    return ze.zeCommandListAppendBarrier(list, signal, count, waits);
}

static ze_result_t ranges_barrier(ze_command_list_handle_t list, const operands_t *operands,
                                  ze_event_handle_t signal, uint32_t count,
                                  ze_event_handle_t *waits) {
    const size_t size = 64;
    const void *range = operands->to;
    return ze.zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, signal, count, waits);
}

static ze_result_t fill(ze_command_list_handle_t list, const operands_t *operands,
                        ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    return ze.zeCommandListAppendMemoryFill(list, operands->to, "f", 1, 64, signal, count, waits);
}

static ze_result_t copy(ze_command_list_handle_t list, const operands_t *operands,
                        ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    return ze.zeCommandListAppendMemoryCopy(list, operands->to, operands->from, 64, signal, count,
                                            waits);
}

static ze_result_t copy_from_context(ze_command_list_handle_t list, const operands_t *operands,
                                     ze_event_handle_t signal, uint32_t count,
                                     ze_event_handle_t *waits) {
    return ze.zeCommandListAppendMemoryCopyFromContext(list, operands->to, context, operands->from,
                                                       64, signal, count, waits);
}

static ze_result_t copy_region(ze_command_list_handle_t list, const operands_t *operands,
                               ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    const ze_copy_region_t region = {0, 0, 0, 8, 8, 1};
    return ze.zeCommandListAppendMemoryCopyRegion(list, operands->to, &region, 0, 0, operands->from,
                                                  &region, 0, 0, signal, count, waits);
}

static ze_result_t timestamp(ze_command_list_handle_t list, const operands_t *operands,
                             ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    return ze.zeCommandListAppendWriteGlobalTimestamp(list, (uint64_t *)operands->to, signal, count,
                                                      waits);
}

static ze_result_t query_timestamps(ze_command_list_handle_t list, const operands_t *operands,
                                    ze_event_handle_t signal, uint32_t count,
                                    ze_event_handle_t *waits) {
    ze_event_handle_t timed = operands->timed;
    return ze.zeCommandListAppendQueryKernelTimestamps(list, 1, &timed, operands->to, NULL, signal,
                                                       count, waits);
}

static ze_result_t execute_list(ze_command_list_handle_t list, const operands_t *operands,
                                ze_event_handle_t signal, uint32_t count,
                                ze_event_handle_t *waits) {
    ze_command_list_handle_t regular = operands->regular;
    return ze.zeCommandListImmediateAppendCommandListsExp(list, 1, &regular, signal, count, waits);
}

static bool untouched(const char *memory) {
    for (size_t i = 0; i < 64; ++i) {
        if (memory[i] != '-') {
            return false;
        }
    }
    return true;
}

static void check_append(append_t *append, bool writes, uint32_t flags, uint32_t wait_count) {
    enum { MAX_WAITS = 9 };
    ze_event_pool_handle_t pool = make_pool(MAX_WAITS + 2, POOL_TIMESTAMPS);
    ze_event_handle_t waits[MAX_WAITS];
    for (uint32_t i = 0; i < wait_count; ++i) {
        waits[i] = make_event(pool, i);
    }
    ze_event_handle_t signal = make_event(pool, MAX_WAITS);
    operands_t operands = {.to = make_host_memory(64),
                           .from = make_host_memory(64),
                           .timed = make_event(pool, MAX_WAITS + 1),
                           .regular = make_regular_list(0)};
    memset(operands.to, '-', 64);
    memset(operands.from, 'c', 64);
    SUCCESS(ze.zeEventHostSignal(operands.timed));
    SUCCESS(
        ze.zeCommandListAppendMemoryFill(operands.regular, operands.to, "r", 1, 64, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListClose(operands.regular));
    ze_command_list_handle_t list = make_list(flags);
    SUCCESS(append(list, &operands, signal, wait_count, waits));
    for (uint32_t i = 0; i < wait_count; ++i) {
        // Not before the last of its waits.
        CHECK_EQUAL(ze.zeEventHostSynchronize(signal, i + 1 == wait_count ? 2 * MILLISECOND : 0),
                    ZE_RESULT_NOT_READY);
        CHECK(untouched(operands.to));
        CHECK_EQUAL(ze.zeEventDestroy(waits[wait_count - 1]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        SUCCESS(ze.zeEventHostSignal(waits[i]));
    }
    finish_event(signal);
    CHECK_EQUAL(untouched(operands.to), !writes);
    // Once the signal is seen, the waits and the list that was executed are free.
    for (uint32_t i = 0; i < wait_count; ++i) {
        destroy_event(waits[i]);
    }
    destroy_list(operands.regular);
    destroy_event(signal);
    destroy_event(operands.timed);
    destroy_list(list);
    destroy_pool(pool);
    free_memory(operands.to);
    free_memory(operands.from);
}

void every_append_honours_its_waits_and_its_signal(void) {
    static const struct {
        append_t *append;
        bool writes;
    } appends[] = {{barrier, false},  {ranges_barrier, false},   {fill, true},
                   {copy, true},      {copy_from_context, true}, {copy_region, true},
                   {timestamp, true}, {query_timestamps, true},  {execute_list, true}};
    for (size_t i = 0; i < COUNT(appends); ++i) {
        for (uint32_t wait_count = 1; wait_count <= 9; wait_count += 4) { // inline and beyond
            check_append(appends[i].append, appends[i].writes, IN_ORDER, wait_count);
            check_append(appends[i].append, appends[i].writes, OUT_OF_ORDER, wait_count);
        }
    }
}

void hints_are_accepted_in_their_place(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *memory = make_device_memory(4096);
    SUCCESS(ze.zeCommandListAppendMemoryPrefetch(list, memory, 4096));
    SUCCESS(ze.zeCommandListAppendMemAdvise(list, devices[0], memory, 4096,
                                            ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
    CHECK_EQUAL(
        ze.zeCommandListAppendMemAdvise(list, NULL, memory, 4096, ZE_MEMORY_ADVICE_SET_READ_MOSTLY),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(
        ze.zeCommandListAppendMemAdvise(list, devices[0], memory, 4096, (ze_memory_advice_t)99),
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
    CHECK_EQUAL(ze.zeCommandListAppendMemoryPrefetch(list, NULL, 4096),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    finish(list);
    uint64_t appended = 0;
    uint64_t completed = 0;
    CHECK_EQUAL(urasync_list_progress(handle_of(list), &appended, &completed), 0);
    CHECK_EQUAL(appended, 2);
    CHECK_EQUAL(completed, 2);
    free_memory(memory);
    destroy_list(list);
}

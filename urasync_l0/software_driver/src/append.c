// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends. Each checks everything first, then prepares a command, then submits it; so an append
// that fails has changed nothing.

#include <stdlib.h>
#include <string.h>

#include "event_pool.h"
#include "worker.h"

// --- Preparing and submitting -------------------------------------------------------------------

// Whether commands of the list may wait for the event or signal it.
static ze_result_t event_check(const command_list_t *list, ze_event_handle_t handle,
                               entry_t this_entry, bool signals) {
    CHECK_HANDLE(handle, KIND_EVENT);
    const event_t *event = (const event_t *)handle;
    bool fits = event->context == list->context;
    if (event->counter_based) {
        if (signals) {
            const uint32_t immediate = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
            const uint32_t regular = ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
            const uint32_t chosen = event->counter_flags & (immediate | regular);
            const uint32_t allowed = chosen != 0 ? chosen : immediate;
            fits =
                fits && list->in_order && (allowed & (list->immediate ? immediate : regular)) != 0;
        }
    } else {
        fits = fits && (event->pool->device_mask >> list->device->index & 1u) != 0;
    }
    return fits ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
}

static ze_result_t list_check(ze_command_list_handle_t handle, entry_t this_entry) {
    CHECK_HANDLE(handle, KIND_COMMAND_LIST);
    const command_list_t *list = (const command_list_t *)handle;
    return !list->immediate && list->closed ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

static ze_result_t events_check(const command_list_t *list, entry_t this_entry,
                                ze_event_handle_t signal, uint32_t wait_count,
                                ze_event_handle_t *waits) {
    if (waits == NULL && wait_count > 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (signal != NULL) {
        result = event_check(list, signal, this_entry, true);
    }
    for (uint32_t i = 0; i < wait_count && result == ZE_RESULT_SUCCESS; ++i) {
        result = event_check(list, waits[i], this_entry, false);
    }
    return result;
}

static void keep_event(const command_t *command, event_t *event) {
    if (command->recorded) {
        event_retain(event);
    } else {
        event_hold(event);
    }
}

// A command with its waits and its signal, or an error and no effect.
static ze_result_t prepare(command_list_t *list, entry_t entry, ze_event_handle_t signal,
                           uint32_t wait_count, ze_event_handle_t *waits, command_t **out) {
    const ze_result_t valid = events_check(list, entry, signal, wait_count, waits);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    if (list->immediate && !worker_start(list->worker)) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    command_t *command =
        list->immediate ? worker_new_command(list->worker) : malloc(sizeof *command);
    wait_t *places = NULL;
    if (command != NULL) {
        places = wait_count <= INLINE_WAITS ? command->inline_waits
                                            : malloc(wait_count * sizeof *places);
    }
    if (places == NULL) {
        free(command);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    command->next = NULL;
    command->action = ACTION_NONE;
    command->entry = entry;
    command->recorded = !list->immediate;
    command->wait_count = wait_count;
    command->waits = places;
    command->signal = (event_t *)signal;
    command->range_count = 0;
    for (uint32_t i = 0; i < wait_count; ++i) {
        places[i] = event_capture((event_t *)waits[i]);
        if (places[i].event != NULL) {
            keep_event(command, places[i].event);
        }
    }
    if (signal != NULL) {
        keep_event(command, command->signal);
    }
    *out = command;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t submit(command_list_t *list, command_t *command) {
    event_t *signal = command->signal;
    const bool arm = signal != NULL && signal->counter_based;
    if (!list->immediate) {
        if (list->last != NULL) {
            list->last->next = command;
        } else {
            list->first = command;
        }
        list->last = command;
        ++list->count;
        if (arm) {
            event_arm(signal, list->timeline, list->count);
        }
        return ZE_RESULT_SUCCESS;
    }
    // Held until it is armed: the command may complete, and let the event go, before that.
    if (arm) {
        event_hold(signal);
    }
    const uint64_t place = worker_append(list->worker, command);
    if (arm) {
        event_arm(signal, list->worker->timeline, place);
        event_drop(signal);
    }
    if (list->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) {
        wait_until(list->worker->timeline, timeline_reached, place, OS_FOREVER);
    }
    return ZE_RESULT_SUCCESS;
}

#define PREPARE(signal, wait_count, waits)                                                         \
    command_list_t *list = (command_list_t *)hCommandList;                                         \
    command_t *command;                                                                            \
    const ze_result_t prepared_ =                                                                  \
        prepare(list, this_entry, (signal), (wait_count), (waits), &command);                      \
    if (prepared_ != ZE_RESULT_SUCCESS) {                                                          \
        return prepared_;                                                                          \
    }

#define CHECK_LIST()                                                                               \
    do {                                                                                           \
        const ze_result_t list_ = list_check(hCommandList, this_entry);                            \
        if (list_ != ZE_RESULT_SUCCESS) {                                                          \
            return list_;                                                                          \
        }                                                                                          \
    } while (0)

// --- Events and barriers ------------------------------------------------------------------------

ze_result_t ZE_APICALL zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                                  ze_event_handle_t hSignalEvent,
                                                  uint32_t numWaitEvents,
                                                  ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendBarrier);
    CHECK_LIST();
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t hCommandList, uint32_t numRanges, const size_t *pRangeSizes,
    const void **pRanges, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendMemoryRangesBarrier);
    CHECK_LIST();
    CHECK_POINTER(pRangeSizes);
    CHECK_POINTER(pRanges);
    (void)numRanges; // a worker runs in order, so every range is covered
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                      ze_event_handle_t hEvent) {
    ENTER(zeCommandListAppendSignalEvent);
    CHECK_LIST();
    CHECK_HANDLE(hEvent, KIND_EVENT);
    PREPARE(hEvent, 0, NULL);
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                       uint32_t numEvents,
                                                       ze_event_handle_t *phEvents) {
    ENTER(zeCommandListAppendWaitOnEvents);
    CHECK_LIST();
    CHECK_POINTER(phEvents);
    PREPARE(NULL, numEvents, phEvents);
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                     ze_event_handle_t hEvent) {
    ENTER(zeCommandListAppendEventReset);
    CHECK_LIST();
    const ze_result_t usable =
        event_check((const command_list_t *)hCommandList, hEvent, this_entry, false);
    if (usable != ZE_RESULT_SUCCESS) {
        return usable;
    }
    event_t *event = (event_t *)hEvent;
    if (event->counter_based) {
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    }
    PREPARE(NULL, 0, NULL);
    command->action = ACTION_RESET_EVENT;
    command->reset = event;
    keep_event(command, event);
    return submit(list, command);
}

// --- Memory -------------------------------------------------------------------------------------

ze_result_t ZE_APICALL zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                                     void *ptr, const void *pattern,
                                                     size_t pattern_size, size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendMemoryFill);
    CHECK_LIST();
    CHECK_POINTER(ptr);
    CHECK_POINTER(pattern);
    if (pattern_size == 0 || pattern_size > MAX_PATTERN ||
        (pattern_size & (pattern_size - 1)) != 0 || size % pattern_size != 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    if (((uintptr_t)ptr & (pattern_size - 1)) != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    if (size > 0) {
        command->action = ACTION_FILL;
        command_add_range(command, ptr, size, true);
        command->fill.pattern_size = pattern_size;
        memcpy(command->fill.pattern, pattern, pattern_size);
    }
    return submit(list, command);
}

static ze_result_t append_copy(entry_t this_entry, ze_command_list_handle_t hCommandList,
                               void *dstptr, const void *srcptr, size_t size,
                               ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                               ze_event_handle_t *phWaitEvents) {
    CHECK_LIST();
    CHECK_POINTER(dstptr);
    CHECK_POINTER(srcptr);
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    if (size > 0) {
        command->action = ACTION_COPY;
        command_add_range(command, dstptr, size, true);
        command_add_range(command, srcptr, size, false);
    }
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList,
                                                     void *dstptr, const void *srcptr, size_t size,
                                                     ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendMemoryCopy);
    return append_copy(this_entry, hCommandList, dstptr, srcptr, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyFromContext(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_context_handle_t hContextSrc,
    const void *srcptr, size_t size, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendMemoryCopyFromContext);
    CHECK_HANDLE(hContextSrc, KIND_CONTEXT);
    return append_copy(this_entry, hCommandList, dstptr, srcptr, size, hSignalEvent, numWaitEvents,
                       phWaitEvents);
}

static region_side_t region_side(const void *pointer, const ze_copy_region_t *region,
                                 uint32_t pitch, uint32_t slice_pitch) {
    const size_t row = pitch != 0 ? pitch : region->width;
    const size_t slice = slice_pitch != 0 ? slice_pitch : row * region->height;
    return (region_side_t){.first = (uintptr_t)pointer + region->originZ * slice +
                                    region->originY * row + region->originX,
                           .pitch = row,
                           .slice = slice};
}

// Bytes from the first of the region to the last.
static size_t region_extent(const command_t *command, const region_side_t *side) {
    return (command->region.slices - 1) * side->slice + (command->region.rows - 1) * side->pitch +
           command->region.width;
}

static bool intervals_meet(uint32_t a, uint32_t b, uint32_t length) {
    return a < b ? b - a < length : a - b < length;
}

static bool regions_overlap(const void *to, const ze_copy_region_t *to_region, const void *from,
                            const ze_copy_region_t *from_region, uint32_t depth) {
    return to == from &&
           intervals_meet(to_region->originX, from_region->originX, to_region->width) &&
           intervals_meet(to_region->originY, from_region->originY, to_region->height) &&
           intervals_meet(to_region->originZ, from_region->originZ, depth);
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void *dstptr, const ze_copy_region_t *dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void *srcptr,
    const ze_copy_region_t *srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendMemoryCopyRegion);
    CHECK_LIST();
    CHECK_POINTER(dstptr);
    CHECK_POINTER(dstRegion);
    CHECK_POINTER(srcptr);
    CHECK_POINTER(srcRegion);
    const uint32_t depth = dstRegion->depth != 0 ? dstRegion->depth : 1; // 0 is a flat region
    if (dstRegion->width != srcRegion->width || dstRegion->height != srcRegion->height ||
        depth != (srcRegion->depth != 0 ? srcRegion->depth : 1) || dstRegion->width == 0 ||
        dstRegion->height == 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    const region_side_t to = region_side(dstptr, dstRegion, dstPitch, dstSlicePitch);
    const region_side_t from = region_side(srcptr, srcRegion, srcPitch, srcSlicePitch);
    if (to.pitch < dstRegion->width || from.pitch < srcRegion->width ||
        (depth > 1 && (to.slice < to.pitch * dstRegion->height ||
                       from.slice < from.pitch * srcRegion->height))) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    if (to.pitch == from.pitch && to.slice == from.slice &&
        regions_overlap(dstptr, dstRegion, srcptr, srcRegion, depth)) {
        return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
    }
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    command->action = ACTION_COPY_REGION;
    command->region.width = dstRegion->width;
    command->region.rows = dstRegion->height;
    command->region.slices = depth;
    command->region.to = to;
    command->region.from = from;
    command_add_range(command, (void *)to.first, region_extent(command, &to), true);
    command_add_range(command, (void *)from.first, region_extent(command, &from), false);
    return submit(list, command);
}

// Hints: accepted, in their place of the order, without an effect that a program could see.
ze_result_t ZE_APICALL zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                                         const void *ptr, size_t size) {
    ENTER(zeCommandListAppendMemoryPrefetch);
    CHECK_LIST();
    CHECK_POINTER(ptr);
    (void)size;
    PREPARE(NULL, 0, NULL);
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                                    ze_device_handle_t hDevice, const void *ptr,
                                                    size_t size, ze_memory_advice_t advice) {
    enum { LAST_ADVICE = 10 };
    ENTER(zeCommandListAppendMemAdvise);
    CHECK_LIST();
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(ptr);
    if ((uint32_t)advice > LAST_ADVICE) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    (void)size;
    PREPARE(NULL, 0, NULL);
    return submit(list, command);
}

// --- Timestamps ---------------------------------------------------------------------------------

ze_result_t ZE_APICALL zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendWriteGlobalTimestamp);
    CHECK_LIST();
    CHECK_POINTER(dstptr);
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    command->action = ACTION_WRITE_TIMESTAMP;
    command_add_range(command, dstptr, sizeof *dstptr, true);
    return submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendQueryKernelTimestamps);
    CHECK_LIST();
    CHECK_POINTER(phEvents);
    CHECK_POINTER(dstptr);
    const command_list_t *asked = (const command_list_t *)hCommandList;
    for (uint32_t i = 0; i < numEvents; ++i) {
        const ze_result_t usable = event_check(asked, phEvents[i], this_entry, false);
        if (usable != ZE_RESULT_SUCCESS) {
            return usable;
        }
        if (!((const event_t *)phEvents[i])->timestamps) {
            return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
        }
    }
    event_t **events = malloc((numEvents + 1) * sizeof *events);
    size_t *offsets = pOffsets != NULL ? malloc((numEvents + 1) * sizeof *offsets) : NULL;
    if (events == NULL || (offsets == NULL && pOffsets != NULL)) {
        free(events);
        free(offsets);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    command_list_t *list = (command_list_t *)hCommandList;
    command_t *command;
    const ze_result_t prepared =
        prepare(list, this_entry, hSignalEvent, numWaitEvents, phWaitEvents, &command);
    if (prepared != ZE_RESULT_SUCCESS) {
        free(events);
        free(offsets);
        return prepared;
    }
    command->action = ACTION_QUERY_TIMESTAMPS;
    command->query.events = events;
    command->query.offsets = offsets;
    command->query.count = numEvents;
    command->query.destination = dstptr;
    for (uint32_t i = 0; i < numEvents; ++i) {
        events[i] = (event_t *)phEvents[i];
        keep_event(command, events[i]);
        if (offsets != NULL) {
            offsets[i] = pOffsets[i];
        }
    }
    return submit(list, command);
}

// --- Lists in an immediate list -----------------------------------------------------------------

ze_result_t ZE_APICALL zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListImmediateAppendCommandListsExp);
    CHECK_HANDLE(hCommandListImmediate, KIND_COMMAND_LIST);
    command_list_t *list = (command_list_t *)hCommandListImmediate;
    if (!list->immediate) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const ze_result_t valid =
        lists_check(this_entry, list->device, list->ordinal, numCommandLists, phCommandLists);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    command_t *command;
    ze_result_t result =
        prepare(list, this_entry, hSignalEvent, numWaitEvents, phWaitEvents, &command);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = lists_submit(command, numCommandLists, phCommandLists, NULL);
    if (result != ZE_RESULT_SUCCESS) {
        command_discard(command);
        return result;
    }
    return submit(list, command);
}

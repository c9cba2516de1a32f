// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends that touch memory, and hints about it.

#include <string.h>

#include "append.h"

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
        (pattern_size & (pattern_size - 1)) != 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    if (((uintptr_t)ptr & (pattern_size - 1)) != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    memory_facts_t facts; // a mapping may go on in the next; an allocation ends where it ends
    if (memory_find(ptr, &facts) && !mapping_find(ptr, &facts) &&
        size > facts.base + facts.size - (uintptr_t)ptr) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    if (size > 0) {
        command->action = ACTION_FILL;
        command_add_range(command, ptr, size, true);
        command->fill.pattern_size = pattern_size;
        memcpy(command->fill.pattern, pattern, pattern_size);
    }
    return append_submit(list, command);
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
    return append_submit(list, command);
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
    return append_submit(list, command);
}

// Hints: accepted, in their place of the order, without an effect that a program could see.
ze_result_t ZE_APICALL zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                                         const void *ptr, size_t size) {
    ENTER(zeCommandListAppendMemoryPrefetch);
    CHECK_LIST();
    CHECK_POINTER(ptr);
    (void)size;
    PREPARE(NULL, 0, NULL);
    return append_submit(list, command);
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
    return append_submit(list, command);
}

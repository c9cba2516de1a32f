// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends that write times.

#include <stdlib.h>

#include "append.h"

ze_result_t ZE_APICALL zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendWriteGlobalTimestamp);
    CHECK_LIST();
    CHECK_POINTER(dstptr);
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    command->action = ACTION_WRITE_TIMESTAMP;
    command_add_range(command, dstptr, sizeof *dstptr, true);
    return append_submit(list, command);
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
        const ze_result_t usable = append_event_check(asked, phEvents[i], this_entry, false);
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
        append_prepare(list, this_entry, hSignalEvent, numWaitEvents, phWaitEvents, &command);
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
        append_keep_event(command, events[i]);
        if (offsets != NULL) {
            offsets[i] = pOffsets[i];
        }
    }
    return append_submit(list, command);
}

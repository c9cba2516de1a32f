// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends: what all have in common, and those of events and barriers.

#include <stdlib.h>

#include "append.h"
#include "event_pool.h"

// --- Preparing and submitting -------------------------------------------------------------------

// Whether commands of the list may wait for the event or signal it.
ze_result_t append_event_check(const command_list_t *list, ze_event_handle_t handle,
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
        fits = fits && device_covered(event->pool->device_mask, list->device);
    }
    return fits ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
}

ze_result_t append_list_check(ze_command_list_handle_t handle, entry_t this_entry) {
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
        result = append_event_check(list, signal, this_entry, true);
    }
    for (uint32_t i = 0; i < wait_count && result == ZE_RESULT_SUCCESS; ++i) {
        result = append_event_check(list, waits[i], this_entry, false);
    }
    return result;
}

void append_keep_event(const command_t *command, event_t *event) {
    if (command->recorded) {
        event_retain(event);
    } else {
        event_hold(event);
    }
}

// A command with its waits and its signal, or an error and no effect.
ze_result_t append_prepare(command_list_t *list, entry_t entry, ze_event_handle_t signal,
                           uint32_t wait_count, ze_event_handle_t *waits, command_t **out) {
    ze_result_t valid = device_result(list->device);
    if (valid == ZE_RESULT_SUCCESS) {
        valid = events_check(list, entry, signal, wait_count, waits);
    }
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
    command->counted = signal != NULL && ((event_t *)signal)->counter_based;
    command->known = NULL;
    command->wait_count = wait_count;
    command->waits = places;
    command->signal = (event_t *)signal;
    command->range_count = 0;
    for (uint32_t i = 0; i < wait_count; ++i) {
        places[i] = event_capture((event_t *)waits[i]);
        if (places[i].event != NULL) {
            append_keep_event(command, places[i].event);
        }
    }
    if (signal != NULL) {
        append_keep_event(command, command->signal);
    }
    *out = command;
    return ZE_RESULT_SUCCESS;
}

ze_result_t append_submit(command_list_t *list, command_t *command) {
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
    if (signal != NULL) {
        checker_signal_appended(list->worker, signal);
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
        checker_host_saw_worker(list->worker);
    }
    return ZE_RESULT_SUCCESS;
}

// --- Events and barriers ------------------------------------------------------------------------

ze_result_t ZE_APICALL zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                                  ze_event_handle_t hSignalEvent,
                                                  uint32_t numWaitEvents,
                                                  ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendBarrier);
    CHECK_LIST();
    PREPARE(hSignalEvent, numWaitEvents, phWaitEvents);
    return append_submit(list, command);
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
    return append_submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                      ze_event_handle_t hEvent) {
    ENTER(zeCommandListAppendSignalEvent);
    CHECK_LIST();
    CHECK_HANDLE(hEvent, KIND_EVENT);
    PREPARE(hEvent, 0, NULL);
    return append_submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                       uint32_t numEvents,
                                                       ze_event_handle_t *phEvents) {
    ENTER(zeCommandListAppendWaitOnEvents);
    CHECK_LIST();
    CHECK_POINTER(phEvents);
    PREPARE(NULL, numEvents, phEvents);
    return append_submit(list, command);
}

ze_result_t ZE_APICALL zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                     ze_event_handle_t hEvent) {
    ENTER(zeCommandListAppendEventReset);
    CHECK_LIST();
    const ze_result_t usable =
        append_event_check((const command_list_t *)hCommandList, hEvent, this_entry, false);
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
    append_keep_event(command, event);
    return append_submit(list, command);
}

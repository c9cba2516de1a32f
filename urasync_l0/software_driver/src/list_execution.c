// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executions of regular lists, by a queue or by an immediate list.

#include <stdlib.h>

#include "append.h"

ze_result_t lists_check(entry_t this_entry, const device_t *device, uint32_t ordinal,
                        uint32_t count, ze_command_list_handle_t *lists) {
    CHECK_POINTER(lists);
    if (count == 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    for (uint32_t i = 0; i < count; ++i) {
        CHECK_HANDLE(lists[i], KIND_COMMAND_LIST);
        const command_list_t *list = (const command_list_t *)lists[i];
        if (list->immediate || list->device != device || list->ordinal != ordinal) {
            return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
        }
        if (!list->closed) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static void note_destroyed(event_t *event, void *argument) {
    if (atomic_load(&event->object.kind) != KIND_EVENT) {
        *(bool *)argument = true;
    }
}

static void hold_event(event_t *event, void *argument) {
    (void)argument;
    event_hold(event);
}

ze_result_t lists_submit(command_t *command, uint32_t count, ze_command_list_handle_t *lists,
                         fence_t *fence) {
    bool destroyed = false;
    for (uint32_t i = 0; i < count; ++i) {
        for (command_t *inner = ((command_list_t *)lists[i])->first; inner; inner = inner->next) {
            command_visit_events(inner, note_destroyed, &destroyed);
        }
    }
    if (destroyed) {
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    }
    command_list_t **copy = malloc(count * sizeof *copy);
    if (copy == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        copy[i] = (command_list_t *)lists[i];
        atomic_fetch_add(&copy[i]->pending, 1);
        atomic_fetch_add(&copy[i]->timeline->submissions, 1);
        for (command_t *inner = copy[i]->first; inner != NULL; inner = inner->next) {
            command_visit_events(inner, hold_event, NULL);
            if (inner->action == ACTION_LAUNCH) {
                launches_hold(inner);
            }
        }
    }
    if (fence != NULL) {
        fence_hold(fence);
    }
    command->action = ACTION_EXECUTE_LISTS;
    command->execute.lists = copy;
    command->execute.count = count;
    command->execute.fence = fence;
    return ZE_RESULT_SUCCESS;
}

// Under the worker's lock, because others look into pending commands; then the lists may go.
void lists_completed(worker_t *worker, command_t *command) {
    os_mutex_lock(&worker->mutex);
    const uint32_t count = command->execute.count;
    command_list_t **lists = command->execute.lists;
    command->execute.count = 0;
    command->execute.lists = NULL;
    os_mutex_unlock(&worker->mutex);
    for (uint32_t i = 0; i < count; ++i) {
        atomic_fetch_sub(&lists[i]->pending, 1);
    }
    free(lists);
}

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
        append_prepare(list, this_entry, hSignalEvent, numWaitEvents, phWaitEvents, &command);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    result = lists_submit(command, numCommandLists, phCommandLists, NULL);
    if (result != ZE_RESULT_SUCCESS) {
        command_discard(command);
        return result;
    }
    return append_submit(list, command);
}

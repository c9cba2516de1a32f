// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command lists: immediate ones, which own a worker, and regular ones, which record.

#include <stdlib.h>

#include "worker.h"

enum { LIST_FLAGS = 0x3f, QUEUE_FLAGS = 0x7 };

ze_result_t queue_desc_check(const device_t *device, const ze_command_queue_desc_t *desc) {
    (void)device; // all devices have the same groups
    if (desc->flags > QUEUE_FLAGS || (uint32_t)desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
        (uint32_t)desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if (desc->index >= device_queue_count(desc->ordinal)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           const ze_command_list_desc_t *desc,
                                           ze_command_list_handle_t *phCommandList) {
    ENTER(zeCommandListCreate);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(desc);
    CHECK_POINTER(phCommandList);
    if (desc->flags > LIST_FLAGS) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    context_t *context = (context_t *)hContext;
    device_t *device = (device_t *)hDevice;
    if (!context_has_device(context, device) || desc->commandQueueGroupOrdinal >= QUEUE_GROUPS) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    command_list_t *list = calloc(1, sizeof *list);
    timeline_t *timeline = timeline_create();
    if (list == NULL || timeline == NULL) {
        free(list);
        timeline_release(timeline);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    list->context = context;
    list->device = device;
    list->ordinal = desc->commandQueueGroupOrdinal;
    list->flags = desc->flags;
    list->in_order = (desc->flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0;
    list->timeline = timeline;
    context_adopt(context);
    live_add(&list->object, KIND_COMMAND_LIST, list, (int32_t)device->index, 0, this_entry);
    *phCommandList = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListCreateImmediate(ze_context_handle_t hContext,
                                                    ze_device_handle_t hDevice,
                                                    const ze_command_queue_desc_t *altdesc,
                                                    ze_command_list_handle_t *phCommandList) {
    ENTER(zeCommandListCreateImmediate);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(altdesc);
    CHECK_POINTER(phCommandList);
    context_t *context = (context_t *)hContext;
    device_t *device = (device_t *)hDevice;
    const ze_result_t valid = queue_desc_check(device, altdesc);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    if (!context_has_device(context, device)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    command_list_t *list = calloc(1, sizeof *list);
    worker_t *worker = list != NULL ? worker_create(device) : NULL;
    if (worker == NULL) {
        free(list);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    list->context = context;
    list->device = device;
    list->ordinal = altdesc->ordinal;
    list->index = altdesc->index;
    list->flags = altdesc->flags;
    list->mode = altdesc->mode;
    list->priority = altdesc->priority;
    list->immediate = true;
    list->in_order = (altdesc->flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0;
    list->worker = worker;
    worker->order.owner = (uintptr_t)list;
    context_adopt(context);
    live_add(&list->object, KIND_COMMAND_LIST, list, (int32_t)device->index, 0, this_entry);
    *phCommandList = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

static void discard_all(command_list_t *list) {
    while (list->first != NULL) {
        command_t *command = list->first;
        list->first = command->next;
        command_discard(command);
    }
    list->last = NULL;
    list->count = 0;
}

ze_result_t ZE_APICALL zeCommandListDestroy(ze_command_list_handle_t hCommandList) {
    ENTER(zeCommandListDestroy);
    CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);
    command_list_t *list = (command_list_t *)hCommandList;
    if (list->immediate ? !worker_drain(list->worker) : atomic_load(&list->pending) > 0) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&list->object);
    if (list->immediate) {
        worker_destroy(list->worker);
    } else {
        discard_all(list);
        timeline_release(list->timeline);
    }
    context_abandon(list->context);
    free(list);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListClose(ze_command_list_handle_t hCommandList) {
    ENTER(zeCommandListClose);
    CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);
    command_list_t *list = (command_list_t *)hCommandList;
    if (list->immediate) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    list->closed = true;
    atomic_store(&list->timeline->period, list->count);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListReset(ze_command_list_handle_t hCommandList) {
    ENTER(zeCommandListReset);
    CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);
    command_list_t *list = (command_list_t *)hCommandList;
    if (list->immediate) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (atomic_load(&list->pending) > 0) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    // Events of the old recording keep the old timeline.
    timeline_t *timeline = timeline_create();
    if (timeline == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    discard_all(list);
    timeline_release(list->timeline);
    list->timeline = timeline;
    list->closed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList,
                                                    uint64_t timeout) {
    ENTER(zeCommandListHostSynchronize);
    CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);
    const command_list_t *list = (const command_list_t *)hCommandList;
    if (!list->immediate) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const bool idle = timeout == 0 ? timeline_reached(list->worker->timeline,
                                                      atomic_load(&list->worker->appended))
                                   : worker_wait_idle(list->worker, os_deadline(timeout));
    if (idle) {
        checker_host_saw_worker(list->worker);
    }
    return idle ? device_result(list->device) : ZE_RESULT_NOT_READY;
}

// --- Questions about a list ---------------------------------------------------------------------

#define LIST_QUESTION(name, type, only_immediate, expression)                                      \
    ze_result_t ZE_APICALL name(ze_command_list_handle_t hCommandList, type *answer) {             \
        ENTER(name);                                                                               \
        CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);                                             \
        CHECK_POINTER(answer);                                                                     \
        const command_list_t *list = (const command_list_t *)hCommandList;                         \
        if ((only_immediate) && !list->immediate) {                                                \
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;                                               \
        }                                                                                          \
        *answer = (expression);                                                                    \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

LIST_QUESTION(zeCommandListGetDeviceHandle, ze_device_handle_t, false,
              (ze_device_handle_t)list->device)
LIST_QUESTION(zeCommandListGetContextHandle, ze_context_handle_t, false,
              (ze_context_handle_t)list->context)
LIST_QUESTION(zeCommandListGetOrdinal, uint32_t, false, list->ordinal)
LIST_QUESTION(zeCommandListIsImmediate, ze_bool_t, false, list->immediate)
LIST_QUESTION(zeCommandListImmediateGetIndex, uint32_t, true, list->index)
LIST_QUESTION(zeCommandListImmediateGetFlags, ze_command_queue_flags_t, true, list->flags)
LIST_QUESTION(zeCommandListImmediateGetMode, ze_command_queue_mode_t, true, list->mode)
LIST_QUESTION(zeCommandListImmediateGetPriority, ze_command_queue_priority_t, true, list->priority)

ze_result_t ZE_APICALL zeCommandListGetFlags(ze_command_list_handle_t hCommandList,
                                             ze_command_list_flags_t *pFlags) {
    ENTER(zeCommandListGetFlags);
    CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);
    CHECK_POINTER(pFlags);
    const command_list_t *list = (const command_list_t *)hCommandList;
    if (list->immediate) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    *pFlags = list->flags;
    return ZE_RESULT_SUCCESS;
}

// Graphs are not implemented, so no list is ever in capture.
ze_result_t ZE_APICALL
zeCommandListIsGraphCaptureEnabledExt(ze_command_list_handle_t hCommandList) {
    ENTER(zeCommandListIsGraphCaptureEnabledExt);
    CHECK_HANDLE(hCommandList, KIND_COMMAND_LIST);
    return (ze_result_t)ZE_RESULT_QUERY_FALSE;
}

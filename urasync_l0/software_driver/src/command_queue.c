// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command queues: a worker that executes regular lists.

#include <stdlib.h>

#include "worker.h"

ze_result_t ZE_APICALL zeCommandQueueCreate(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice,
                                            const ze_command_queue_desc_t *desc,
                                            ze_command_queue_handle_t *phCommandQueue) {
    ENTER(zeCommandQueueCreate);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(desc);
    CHECK_POINTER(phCommandQueue);
    context_t *context = (context_t *)hContext;
    device_t *device = (device_t *)hDevice;
    const ze_result_t valid = queue_desc_check(device, desc);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    if (!context_has_device(context, device)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    command_queue_t *queue = calloc(1, sizeof *queue);
    worker_t *worker = queue != NULL ? worker_create(device) : NULL;
    if (worker == NULL) {
        free(queue);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    queue->context = context;
    queue->device = device;
    queue->desc = *desc;
    queue->worker = worker;
    worker->order.owner = (uintptr_t)queue;
    context_adopt(context);
    live_add(&queue->object, KIND_COMMAND_QUEUE, queue, (int32_t)device->index, 0, this_entry);
    *phCommandQueue = (ze_command_queue_handle_t)queue;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue) {
    ENTER(zeCommandQueueDestroy);
    CHECK_HANDLE(hCommandQueue, KIND_COMMAND_QUEUE);
    command_queue_t *queue = (command_queue_t *)hCommandQueue;
    if (atomic_load(&queue->fences) > 0 || !worker_drain(queue->worker)) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&queue->object);
    worker_destroy(queue->worker);
    context_abandon(queue->context);
    free(queue);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue,
                                                         uint32_t numCommandLists,
                                                         ze_command_list_handle_t *phCommandLists,
                                                         ze_fence_handle_t hFence) {
    ENTER(zeCommandQueueExecuteCommandLists);
    CHECK_HANDLE(hCommandQueue, KIND_COMMAND_QUEUE);
    command_queue_t *queue = (command_queue_t *)hCommandQueue;
    ze_result_t result = lists_check(this_entry, queue->device, queue->desc.ordinal,
                                     numCommandLists, phCommandLists);
    fence_t *fence = (fence_t *)hFence;
    if (result == ZE_RESULT_SUCCESS && fence != NULL) {
        result = fence_check(fence, queue, this_entry);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    worker_t *worker = queue->worker;
    command_t *command = worker_start(worker) ? worker_new_command(worker) : NULL;
    if (command == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *command = (command_t){.entry = this_entry, .waits = command->inline_waits};
    result = lists_submit(command, numCommandLists, phCommandLists, fence);
    if (result != ZE_RESULT_SUCCESS) {
        command_discard(command);
        return result;
    }
    const uint64_t place = worker_append(worker, command);
    if (queue->desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) {
        wait_until(worker->timeline, timeline_reached, place, OS_FOREVER);
        checker_host_saw_worker(worker);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue,
                                                 uint64_t timeout) {
    ENTER(zeCommandQueueSynchronize);
    CHECK_HANDLE(hCommandQueue, KIND_COMMAND_QUEUE);
    worker_t *worker = ((command_queue_t *)hCommandQueue)->worker;
    const bool idle = timeout == 0
                          ? timeline_reached(worker->timeline, atomic_load(&worker->appended))
                          : worker_wait_idle(worker, os_deadline(timeout));
    if (idle) {
        checker_host_saw_worker(worker);
    }
    return idle ? device_result(worker->device) : ZE_RESULT_NOT_READY;
}

#define QUEUE_QUESTION(name, type, member)                                                         \
    ze_result_t ZE_APICALL name(ze_command_queue_handle_t hCommandQueue, type *answer) {           \
        ENTER(name);                                                                               \
        CHECK_HANDLE(hCommandQueue, KIND_COMMAND_QUEUE);                                           \
        CHECK_POINTER(answer);                                                                     \
        *answer = ((const command_queue_t *)hCommandQueue)->desc.member;                           \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

QUEUE_QUESTION(zeCommandQueueGetOrdinal, uint32_t, ordinal)
QUEUE_QUESTION(zeCommandQueueGetIndex, uint32_t, index)
QUEUE_QUESTION(zeCommandQueueGetFlags, ze_command_queue_flags_t, flags)
QUEUE_QUESTION(zeCommandQueueGetMode, ze_command_queue_mode_t, mode)
QUEUE_QUESTION(zeCommandQueueGetPriority, ze_command_queue_priority_t, priority)

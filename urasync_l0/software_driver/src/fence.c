// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fences: set when an execution on their queue has ended. Same coding of the state as an event's.

#include <stdlib.h>

#include "worker.h"

struct fence {
    object_t object;
    command_queue_t *queue;
    _Atomic uint64_t state;
};

ze_result_t fence_check(fence_t *fence, const command_queue_t *queue, entry_t this_entry) {
    CHECK_HANDLE(fence, KIND_FENCE);
    return fence->queue == queue ? ZE_RESULT_SUCCESS
                                 : ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
}

void fence_hold(fence_t *fence) { atomic_fetch_add(&fence->state, EVENT_PENDING); }

void fence_complete(fence_t *fence) {
    uint64_t state = atomic_load(&fence->state);
    while (
        !atomic_compare_exchange_weak(&fence->state, &state, (state | EVENT_SET) - EVENT_PENDING)) {
    }
    wake(fence);
}

static bool fence_is_set(const void *subject, uint64_t value) {
    (void)value;
    return (atomic_load(&((const fence_t *)subject)->state) & EVENT_SET) != 0;
}

ze_result_t ZE_APICALL zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                                     const ze_fence_desc_t *desc, ze_fence_handle_t *phFence) {
    ENTER(zeFenceCreate);
    CHECK_HANDLE(hCommandQueue, KIND_COMMAND_QUEUE);
    CHECK_POINTER(desc);
    CHECK_POINTER(phFence);
    if (desc->flags > ZE_FENCE_FLAG_SIGNALED) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    fence_t *fence = calloc(1, sizeof *fence);
    if (fence == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    fence->queue = (command_queue_t *)hCommandQueue;
    atomic_store(&fence->state, (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0 ? EVENT_SET : 0);
    atomic_fetch_add(&fence->queue->fences, 1);
    live_add(&fence->object, KIND_FENCE, fence, (int32_t)fence->queue->device->index, 0,
             this_entry);
    *phFence = (ze_fence_handle_t)fence;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeFenceDestroy(ze_fence_handle_t hFence) {
    ENTER(zeFenceDestroy);
    CHECK_HANDLE(hFence, KIND_FENCE);
    fence_t *fence = (fence_t *)hFence;
    if (atomic_load(&fence->state) >= EVENT_PENDING) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&fence->object);
    atomic_fetch_sub(&fence->queue->fences, 1);
    free(fence);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout) {
    ENTER(zeFenceHostSynchronize);
    CHECK_HANDLE(hFence, KIND_FENCE);
    const bool set = timeout == 0 ? fence_is_set(hFence, 0)
                                  : wait_until(hFence, fence_is_set, 0, os_deadline(timeout));
    if (set) {
        checker_host_saw_worker(((const fence_t *)hFence)->queue->worker);
    }
    return set ? device_result(((const fence_t *)hFence)->queue->device) : ZE_RESULT_NOT_READY;
}

ze_result_t ZE_APICALL zeFenceQueryStatus(ze_fence_handle_t hFence) {
    ENTER(zeFenceQueryStatus);
    CHECK_HANDLE(hFence, KIND_FENCE);
    if (!fence_is_set(hFence, 0)) {
        return ZE_RESULT_NOT_READY;
    }
    checker_host_saw_worker(((const fence_t *)hFence)->queue->worker);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeFenceReset(ze_fence_handle_t hFence) {
    ENTER(zeFenceReset);
    CHECK_HANDLE(hFence, KIND_FENCE);
    atomic_fetch_and(&((fence_t *)hFence)->state, ~EVENT_SET);
    return ZE_RESULT_SUCCESS;
}

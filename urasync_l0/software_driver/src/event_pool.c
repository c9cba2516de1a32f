// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Event pools.

#include "event_pool.h"

#include <stdlib.h>

enum { POOL_FLAGS = 0xf, COUNTER_FLAGS = 0x3 };

// The counter-based descriptor in the chain of a pool's descriptor, or NULL.
static const ze_event_pool_counter_based_exp_desc_t *counter_desc(const ze_event_pool_desc_t *d) {
    for (const ze_base_desc_t *next = d->pNext; next != NULL; next = next->pNext) {
        const uint32_t stype = next->stype;
        if (stype == ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC) {
            return (const ze_event_pool_counter_based_exp_desc_t *)next;
        }
    }
    return NULL;
}

ze_result_t ZE_APICALL zeEventPoolCreate(ze_context_handle_t hContext,
                                         const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                         ze_device_handle_t *phDevices,
                                         ze_event_pool_handle_t *phEventPool) {
    ENTER(zeEventPoolCreate);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(desc);
    CHECK_POINTER(phEventPool);
    if (desc->count == 0 || (phDevices == NULL && numDevices > 0)) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    if (desc->flags > POOL_FLAGS) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if ((desc->flags & ZE_EVENT_POOL_FLAG_IPC) != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    context_t *context = (context_t *)hContext;
    uint64_t mask = numDevices > 0 ? 0 : context->device_mask;
    for (uint32_t i = 0; i < numDevices; ++i) {
        CHECK_HANDLE(phDevices[i], KIND_DEVICE);
        const device_t *device = (const device_t *)phDevices[i];
        if (!context_has_device(context, device)) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        mask |= device_bit(device);
    }
    const ze_event_pool_counter_based_exp_desc_t *counter = counter_desc(desc);
    if (counter != NULL && counter->flags > COUNTER_FLAGS) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if (counter != NULL && settings_hidden(ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME)) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    event_pool_t *pool = calloc(1, sizeof *pool + desc->count * sizeof pool->used[0]);
    if (pool == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    pool->context = context;
    pool->device_mask = mask;
    pool->count = desc->count;
    pool->flags = desc->flags;
    pool->counter_based = counter != NULL;
    pool->counter_flags = counter != NULL ? counter->flags : 0;
    context_adopt(context);
    const int32_t device = numDevices == 1 ? (int32_t)((device_t *)phDevices[0])->index : NO_DEVICE;
    live_add(&pool->object, KIND_EVENT_POOL, pool, device, 0, this_entry);
    *phEventPool = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolDestroy(ze_event_pool_handle_t hEventPool) {
    ENTER(zeEventPoolDestroy);
    CHECK_HANDLE(hEventPool, KIND_EVENT_POOL);
    event_pool_t *pool = (event_pool_t *)hEventPool;
    if (atomic_load(&pool->live) > 0) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&pool->object);
    context_abandon(pool->context);
    free(pool);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                   ze_context_handle_t *phContext) {
    ENTER(zeEventPoolGetContextHandle);
    CHECK_HANDLE(hEventPool, KIND_EVENT_POOL);
    CHECK_POINTER(phContext);
    *phContext = (ze_context_handle_t)((event_pool_t *)hEventPool)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                           ze_event_pool_flags_t *pFlags) {
    ENTER(zeEventPoolGetFlags);
    CHECK_HANDLE(hEventPool, KIND_EVENT_POOL);
    CHECK_POINTER(pFlags);
    *pFlags = ((event_pool_t *)hEventPool)->flags;
    return ZE_RESULT_SUCCESS;
}

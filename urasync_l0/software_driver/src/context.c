// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts: which devices they have, and what lives in them.

#include <stdlib.h>

#include "internal.h"

static uint64_t mask_of_all(void) { return (UINT64_C(1) << settings.devices) - 1; }

// Not in the live table: it lives as long as the driver.
context_t *context_create_default(void) {
    static context_t context;
    context.device_mask = mask_of_all();
    atomic_store(&context.object.kind, KIND_CONTEXT);
    return &context;
}

bool context_has_device(const context_t *context, const device_t *device) {
    return device_covered(context->device_mask, device);
}

void context_adopt(context_t *context) { atomic_fetch_add(&context->children, 1); }

void context_abandon(context_t *context) { atomic_fetch_sub(&context->children, 1); }

static ze_result_t create(entry_t this_entry, ze_driver_handle_t hDriver,
                          const ze_context_desc_t *desc, uint32_t numDevices,
                          ze_device_handle_t *phDevices, ze_context_handle_t *phContext) {
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(desc);
    CHECK_POINTER(phContext);
    if (desc->flags > 1) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if (phDevices == NULL && numDevices > 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    uint64_t mask = numDevices > 0 ? 0 : mask_of_all();
    for (uint32_t i = 0; i < numDevices; ++i) {
        CHECK_HANDLE(phDevices[i], KIND_DEVICE);
        mask |= device_bit((const device_t *)phDevices[i]);
    }
    context_t *context = calloc(1, sizeof *context);
    if (context == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    context->device_mask = mask;
    live_add(&context->object, KIND_CONTEXT, context, NO_DEVICE, 0, this_entry);
    *phContext = (ze_context_handle_t)context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                                       ze_context_handle_t *phContext) {
    ENTER(zeContextCreate);
    return create(this_entry, hDriver, desc, 0, NULL, phContext);
}

ze_result_t ZE_APICALL zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                                         uint32_t numDevices, ze_device_handle_t *phDevices,
                                         ze_context_handle_t *phContext) {
    ENTER(zeContextCreateEx);
    return create(this_entry, hDriver, desc, numDevices, phDevices, phContext);
}

ze_result_t ZE_APICALL zeContextDestroy(ze_context_handle_t hContext) {
    ENTER(zeContextDestroy);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    context_t *context = (context_t *)hContext;
    if (context == the_driver.default_context) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    memory_collect_deferred();
    if (atomic_load(&context->children) > 0) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&context->object);
    free(context);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextGetStatus(ze_context_handle_t hContext) {
    ENTER(zeContextGetStatus);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextSystemBarrier(ze_context_handle_t hContext,
                                              ze_device_handle_t hDevice) {
    ENTER(zeContextSystemBarrier);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    static _Atomic uint32_t barrier;
    atomic_fetch_add(&barrier, 1); // a full barrier, in a form that the thread sanitizer knows
    return ZE_RESULT_SUCCESS;
}

static ze_result_t set_residency(entry_t this_entry, ze_context_handle_t hContext,
                                 ze_device_handle_t hDevice, void *ptr, size_t size,
                                 bool resident) {
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(ptr);
    if (size == 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    const device_t *device = (const device_t *)hDevice;
    memory_facts_t facts;
    if (!memory_find(ptr, &facts) || facts.context != (const context_t *)hContext ||
        !context_has_device(facts.context, device)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (size > facts.size - ((uintptr_t)ptr - facts.base)) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    return memory_make_resident(ptr, device, resident) ? ZE_RESULT_SUCCESS
                                                       : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t ZE_APICALL zeContextMakeMemoryResident(ze_context_handle_t hContext,
                                                   ze_device_handle_t hDevice, void *ptr,
                                                   size_t size) {
    ENTER(zeContextMakeMemoryResident);
    return set_residency(this_entry, hContext, hDevice, ptr, size, true);
}

ze_result_t ZE_APICALL zeContextEvictMemory(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice, void *ptr, size_t size) {
    ENTER(zeContextEvictMemory);
    return set_residency(this_entry, hContext, hDevice, ptr, size, false);
}

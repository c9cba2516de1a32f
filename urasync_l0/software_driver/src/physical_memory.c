// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Physical memory objects: memory of the store without an address of its own.

#include <stdlib.h>

#include "physical_memory.h"

ze_result_t ZE_APICALL zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           ze_physical_mem_desc_t *desc,
                                           ze_physical_mem_handle_t *phPhysicalMemory) {
    enum { ON_DEVICE = 1, ON_HOST = 2 };
    ENTER(zePhysicalMemCreate);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(desc);
    CHECK_POINTER(phPhysicalMemory);
    if (desc->flags > (ON_DEVICE | ON_HOST)) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    context_t *context = (context_t *)hContext;
    device_t *device = NULL;
    if ((desc->flags & ON_HOST) == 0) {
        CHECK_HANDLE(hDevice, KIND_DEVICE);
        device = (device_t *)hDevice;
        if (!context_has_device(context, device)) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    if (desc->size == 0 || desc->size % virtual_page(desc->size) != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    memory_collect_deferred();
    physical_t *physical = calloc(1, sizeof *physical);
    if (physical == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (device != NULL && !device_memory_take(device, desc->size)) {
        free(physical);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (!os_store_take(desc->size, &physical->store_offset)) {
        if (device != NULL) {
            device_memory_give_back(device, desc->size);
        }
        free(physical);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    physical->context = context;
    physical->device = device;
    physical->size = desc->size;
    context_adopt(context);
    live_add(&physical->object, KIND_PHYSICAL_MEMORY, physical,
             device != NULL ? (int32_t)device->index : NO_DEVICE, desc->size, this_entry);
    *phPhysicalMemory = (ze_physical_mem_handle_t)physical;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zePhysicalMemDestroy(ze_context_handle_t hContext,
                                            ze_physical_mem_handle_t hPhysicalMemory) {
    ENTER(zePhysicalMemDestroy);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hPhysicalMemory, KIND_PHYSICAL_MEMORY);
    physical_t *physical = (physical_t *)hPhysicalMemory;
    if (physical->context != (context_t *)hContext) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    os_mutex_lock(&virtual_memory_mutex);
    const bool mapped = physical->mappings > 0;
    os_mutex_unlock(&virtual_memory_mutex);
    if (mapped) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&physical->object);
    os_store_give_back(physical->store_offset, physical->size);
    if (physical->device != NULL) {
        device_memory_give_back(physical->device, physical->size);
    }
    context_abandon(physical->context);
    free(physical);
    return ZE_RESULT_SUCCESS;
}

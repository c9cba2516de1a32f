// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations of the three kinds: getting, freeing, and questions about addresses.

#include <stdlib.h>

#include "worker.h"

typedef struct allocation {
    range_node_t range;
    object_t object;
    ze_memory_type_t type;
    context_t *context;
    device_t *device; // NULL of host memory, and of shared memory without a device
    uint64_t id;
    size_t mapped; // bytes of whole pages
    uint64_t resident_mask;
} allocation_t;

// Memory that is freed once the commands that were pending at the free have completed.
typedef struct deferred {
    struct deferred *next;
    allocation_t *allocation;
    wait_t *places;
    size_t count;
} deferred_t;

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static range_map_t allocations;
static deferred_t *deferred = NULL;

// --- Allocating ---------------------------------------------------------------------------------

static bool is_relaxed(const void *chain, bool *importing) {
    bool relaxed = false;
    for (const ze_base_desc_t *next = chain; next != NULL; next = next->pNext) {
        switch ((uint32_t)next->stype) {
        case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC:
        case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC:
            relaxed = (((const ze_relaxed_allocation_limits_exp_desc_t *)next)->flags &
                       ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE) != 0;
            break;
        case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC:
        case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD:
        case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32:
            *importing = true;
            break;
        default:
            break;
        }
    }
    return relaxed && !settings_hidden(ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME);
}

// What is larger than all memory of a device is no question of room there.
static ze_result_t size_check(size_t size, size_t alignment, const void *chain, bool on_device) {
    const size_t largest_alignment = (size_t)1 << 30;
    bool importing = false;
    const bool relaxed = is_relaxed(chain, &importing);
    if (importing) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION; // no external memory, as the device says
    }
    if (size == 0 || (size > settings.max_allocation && !relaxed) ||
        (on_device && size > settings.memory)) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    if ((alignment & (alignment - 1)) != 0 || alignment > largest_alignment) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(entry_t entry, kind_t kind, ze_memory_type_t type, context_t *context,
                            device_t *device, size_t size, size_t alignment, void **pptr) {
    const ze_result_t out_of_memory = kind == KIND_HOST_MEMORY
                                          ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                          : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    memory_collect_deferred();
    allocation_t *allocation = calloc(1, sizeof *allocation);
    if (allocation == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (size > SIZE_MAX - OS_PAGE || (device != NULL && !device_memory_take(device, size))) {
        free(allocation);
        return out_of_memory;
    }
    const size_t mapped = (size + OS_PAGE - 1) & ~(size_t)(OS_PAGE - 1);
    void *memory = os_memory_map(mapped, alignment);
    if (memory == NULL) {
        if (device != NULL) {
            device_memory_give_back(device, size);
        }
        free(allocation);
        return out_of_memory;
    }
    allocation->range.base = (uintptr_t)memory;
    allocation->range.size = size;
    allocation->type = type;
    allocation->context = context;
    allocation->device = device;
    allocation->mapped = mapped;
    context_adopt(context);
    live_add(&allocation->object, kind, memory, device != NULL ? (int32_t)device->index : NO_DEVICE,
             size, entry);
    allocation->id = allocation->object.serial;
    os_mutex_lock(&mutex);
    range_map_insert(&allocations, &allocation->range);
    os_mutex_unlock(&mutex);
    *pptr = memory;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t hContext,
                                        const ze_device_mem_alloc_desc_t *device_desc, size_t size,
                                        size_t alignment, ze_device_handle_t hDevice, void **pptr) {
    ENTER(zeMemAllocDevice);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(device_desc);
    CHECK_POINTER(pptr);
    if (device_desc->flags > 0x7) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    const ze_result_t valid = size_check(size, alignment, device_desc->pNext, true);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    context_t *context = (context_t *)hContext;
    device_t *device = (device_t *)hDevice;
    if (!context_has_device(context, device) || device_desc->ordinal > 0) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return allocate(this_entry, KIND_DEVICE_MEMORY, ZE_MEMORY_TYPE_DEVICE, context, device, size,
                    alignment, pptr);
}

ze_result_t ZE_APICALL zeMemAllocShared(ze_context_handle_t hContext,
                                        const ze_device_mem_alloc_desc_t *device_desc,
                                        const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                        size_t alignment, ze_device_handle_t hDevice, void **pptr) {
    ENTER(zeMemAllocShared);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(device_desc);
    CHECK_POINTER(host_desc);
    CHECK_POINTER(pptr);
    if (device_desc->flags > 0x7 || host_desc->flags > 0xf) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    const ze_result_t valid = size_check(size, alignment, device_desc->pNext, hDevice != NULL);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    context_t *context = (context_t *)hContext;
    device_t *device = (device_t *)hDevice;
    if (device != NULL) {
        CHECK_HANDLE(hDevice, KIND_DEVICE);
        if (!context_has_device(context, device)) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    return allocate(this_entry, KIND_SHARED_MEMORY, ZE_MEMORY_TYPE_SHARED, context, device, size,
                    alignment, pptr);
}

ze_result_t ZE_APICALL zeMemAllocHost(ze_context_handle_t hContext,
                                      const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                      size_t alignment, void **pptr) {
    ENTER(zeMemAllocHost);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(host_desc);
    CHECK_POINTER(pptr);
    if (host_desc->flags > 0xf) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    const ze_result_t valid = size_check(size, alignment, host_desc->pNext, false);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    return allocate(this_entry, KIND_HOST_MEMORY, ZE_MEMORY_TYPE_HOST, (context_t *)hContext, NULL,
                    size, alignment, pptr);
}

// --- Freeing ------------------------------------------------------------------------------------

// Takes the allocation out of the records; NULL when the pointer is not the start of one.
static allocation_t *forget(context_t *context, const void *pointer) {
    os_mutex_lock(&mutex);
    allocation_t *allocation = (allocation_t *)range_map_find(&allocations, (uintptr_t)pointer);
    if (allocation != NULL &&
        (allocation->range.base != (uintptr_t)pointer || allocation->context != context)) {
        allocation = NULL;
    }
    if (allocation != NULL) {
        range_map_remove(&allocations, &allocation->range);
        device_note_resident(allocation->resident_mask, -(int64_t)allocation->range.size);
    }
    os_mutex_unlock(&mutex);
    return allocation;
}

// Memory that a command may still use stays as it is, for the process to survive the fault.
static void give_back(entry_t entry, allocation_t *allocation) {
    live_remove(&allocation->object);
    if (checker_memory_goes(entry, allocation->range.base, allocation->range.size)) {
        memory_retire(allocation->range.base, allocation->mapped);
    }
    if (allocation->device != NULL) {
        device_memory_give_back(allocation->device, allocation->range.size);
    }
    context_abandon(allocation->context);
    free(allocation);
}

static void release_places(wait_t *places, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        timeline_release(places[i].timeline);
    }
    free(places);
}

ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t hContext, void *ptr) {
    ENTER(zeMemFree);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    allocation_t *allocation = forget((context_t *)hContext, ptr);
    if (allocation == NULL) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    give_back(this_entry, allocation);
    memory_collect_deferred();
    return ZE_RESULT_SUCCESS;
}

static bool over(const deferred_t *one) {
    for (size_t i = 0; i < one->count; ++i) {
        if (!timeline_reached(one->places[i].timeline, one->places[i].value)) {
            return false;
        }
    }
    return true;
}

void memory_collect_deferred(void) {
    deferred_t *ready = NULL;
    os_mutex_lock(&mutex);
    for (deferred_t **place = &deferred; *place != NULL;) {
        deferred_t *one = *place;
        if (over(one)) {
            *place = one->next;
            one->next = ready;
            ready = one;
        } else {
            place = &one->next;
        }
    }
    os_mutex_unlock(&mutex);
    while (ready != NULL) {
        deferred_t *one = ready;
        ready = one->next;
        for (size_t i = 0; i < one->count; ++i) {
            checker_host_saw_timeline(one->places[i].timeline);
        }
        give_back(ENTRY_zeMemFreeExt, one->allocation);
        release_places(one->places, one->count);
        free(one);
    }
}

ze_result_t ZE_APICALL zeMemFreeExt(ze_context_handle_t hContext,
                                    const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr) {
    ENTER(zeMemFreeExt);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(pMemFreeDesc);
    CHECK_POINTER(ptr);
    const uint32_t blocking = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
    const uint32_t defer = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    const uint32_t policy = pMemFreeDesc->freePolicy;
    if (policy != 0 && policy != blocking && policy != defer) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    deferred_t *one = policy == defer ? calloc(1, sizeof *one) : NULL;
    if (policy == defer && one == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    wait_t *places = NULL;
    size_t count = 0;
    memory_facts_t facts;
    if (policy != 0 && memory_find(ptr, &facts) &&
        !workers_using(facts.base, facts.size, &places, &count)) {
        free(one);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (policy == blocking) {
        for (size_t i = 0; i < count; ++i) {
            wait_for(&places[i], OS_FOREVER);
            checker_host_saw_timeline(places[i].timeline);
        }
    }
    allocation_t *allocation = forget((context_t *)hContext, ptr);
    if (allocation == NULL) {
        release_places(places, count);
        free(one);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (policy != 0) {
        checker_memory_awaited(allocation->range.base, allocation->range.size);
    }
    if (policy == defer) {
        *one = (deferred_t){.allocation = allocation, .places = places, .count = count};
        os_mutex_lock(&mutex);
        one->next = deferred;
        deferred = one;
        os_mutex_unlock(&mutex);
    } else {
        give_back(this_entry, allocation);
        release_places(places, count);
    }
    memory_collect_deferred();
    return ZE_RESULT_SUCCESS;
}

// --- Questions ----------------------------------------------------------------------------------

static memory_facts_t facts_of(const allocation_t *allocation) {
    return (memory_facts_t){.type = allocation->type,
                            .id = allocation->id,
                            .page = OS_PAGE,
                            .device = allocation->device,
                            .context = allocation->context,
                            .base = allocation->range.base,
                            .size = allocation->range.size};
}

bool memory_find(const void *address, memory_facts_t *facts) {
    os_mutex_lock(&mutex);
    const allocation_t *allocation =
        (const allocation_t *)range_map_find(&allocations, (uintptr_t)address);
    if (allocation != NULL) {
        *facts = facts_of(allocation);
    }
    os_mutex_unlock(&mutex);
    return allocation != NULL || mapping_find(address, facts);
}

void memory_visit(void (*visit)(const memory_facts_t *, void *), void *argument) {
    os_mutex_lock(&mutex);
    const allocation_t *allocation;
    for (uintptr_t at = 0;
         (allocation = (const allocation_t *)range_map_first(&allocations, at, UINTPTR_MAX - at)) !=
         NULL;
         at = allocation->range.base + allocation->range.size) {
        const memory_facts_t facts = facts_of(allocation);
        visit(&facts, argument);
    }
    os_mutex_unlock(&mutex);
    mapping_visit(visit, argument);
}

bool memory_make_resident(const void *address, const device_t *device, bool resident) {
    os_mutex_lock(&mutex);
    allocation_t *allocation = (allocation_t *)range_map_find(&allocations, (uintptr_t)address);
    if (allocation != NULL) {
        const uint64_t bit = device_bit(device);
        if (resident && (allocation->resident_mask & bit) == 0) {
            allocation->resident_mask |= bit;
            device_note_resident(bit, (int64_t)allocation->range.size);
        } else if (!resident && (allocation->resident_mask & bit) != 0) {
            allocation->resident_mask &= ~bit;
            device_note_resident(bit, -(int64_t)allocation->range.size);
        }
    }
    os_mutex_unlock(&mutex);
    return allocation != NULL || mapping_make_resident(address, device, resident);
}

ze_result_t ZE_APICALL zeMemGetAllocProperties(ze_context_handle_t hContext, const void *ptr,
                                               ze_memory_allocation_properties_t *properties,
                                               ze_device_handle_t *phDevice) {
    ENTER(zeMemGetAllocProperties);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    CHECK_POINTER(properties);
    memory_facts_t facts;
    bool known = memory_find(ptr, &facts) && facts.context == (const context_t *)hContext;
    if (known && settings.mapped_unknown && mapping_find(ptr, &facts)) {
        known = false;
    }
    if (!known) {
        facts = (memory_facts_t){.type = ZE_MEMORY_TYPE_UNKNOWN};
    }
    properties->type = facts.type;
    properties->id = facts.id;
    properties->pageSize = facts.page;
    if (phDevice != NULL) {
        *phDevice = (ze_device_handle_t)facts.device;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr,
                                            void **pBase, size_t *pSize) {
    ENTER(zeMemGetAddressRange);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    memory_facts_t facts;
    if (!memory_find(ptr, &facts) || facts.context != (const context_t *)hContext) {
        return (ze_result_t)ZE_RESULT_ERROR_ADDRESS_NOT_FOUND;
    }
    if (pBase != NULL) {
        *pBase = (void *)facts.base;
    }
    if (pSize != NULL) {
        *pSize = facts.size;
    }
    return ZE_RESULT_SUCCESS;
}

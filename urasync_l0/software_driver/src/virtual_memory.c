// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Virtual memory: reserved address ranges, and what is mapped into them.

#include <stdlib.h>

#include "physical_memory.h"

enum { SMALL_PAGE = 64 * 1024 };

typedef struct mapping {
    range_node_t range;
    object_t object;
    physical_t *physical;
    ze_memory_access_attribute_t access;
    uint64_t resident_mask;
} mapping_t;

typedef struct reservation {
    range_node_t range;
    object_t object;
    context_t *context;
} reservation_t;

os_mutex_t virtual_memory_mutex = OS_MUTEX_INITIALIZER;
static range_map_t reservations;
static range_map_t mappings;

static uint64_t small_page(void) { return settings.page < SMALL_PAGE ? settings.page : SMALL_PAGE; }

uint64_t virtual_page(uint64_t size) {
    return size >= settings.page ? settings.page : small_page();
}

static os_access_t os_access(ze_memory_access_attribute_t access) {
    switch (access) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
        return OS_ACCESS_READ_WRITE;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
        return OS_ACCESS_READ;
    default:
        return OS_ACCESS_NONE;
    }
}

static memory_facts_t facts_of(const mapping_t *mapping) {
    const physical_t *physical = mapping->physical;
    return (memory_facts_t){.type = physical->device != NULL ? ZE_MEMORY_TYPE_DEVICE
                                                             : ZE_MEMORY_TYPE_HOST,
                            .id = physical->object.serial,
                            .page = virtual_page(physical->size),
                            .device = physical->device,
                            .context = physical->context,
                            .base = mapping->range.base,
                            .size = mapping->range.size};
}

bool mapping_find(const void *address, memory_facts_t *facts) {
    os_mutex_lock(&virtual_memory_mutex);
    const mapping_t *mapping = (const mapping_t *)range_map_find(&mappings, (uintptr_t)address);
    if (mapping != NULL) {
        *facts = facts_of(mapping);
    }
    os_mutex_unlock(&virtual_memory_mutex);
    return mapping != NULL;
}

void mapping_visit(void (*visit)(const memory_facts_t *, void *), void *argument) {
    os_mutex_lock(&virtual_memory_mutex);
    const mapping_t *mapping;
    for (uintptr_t at = 0;
         (mapping = (const mapping_t *)range_map_first(&mappings, at, UINTPTR_MAX - at)) != NULL;
         at = mapping->range.base + mapping->range.size) {
        const memory_facts_t facts = facts_of(mapping);
        visit(&facts, argument);
    }
    os_mutex_unlock(&virtual_memory_mutex);
}

// Finds the mapping at an address; unmapping it evicts it.
bool mapping_make_resident(const void *address, const device_t *device, bool resident) {
    os_mutex_lock(&virtual_memory_mutex);
    mapping_t *mapping = (mapping_t *)range_map_find(&mappings, (uintptr_t)address);
    if (mapping != NULL) {
        const uint64_t bit = device_bit(device);
        if (resident != ((mapping->resident_mask & bit) != 0)) {
            mapping->resident_mask ^= bit;
            const int64_t bytes = (int64_t)mapping->range.size;
            device_note_resident(bit, resident ? bytes : -bytes);
        }
    }
    os_mutex_unlock(&virtual_memory_mutex);
    return mapping != NULL;
}

// The reservation that contains the whole range and belongs to the context, or NULL.
static reservation_t *reservation_of(const context_t *context, const void *ptr, size_t size) {
    reservation_t *found = (reservation_t *)range_map_find(&reservations, (uintptr_t)ptr);
    if (found == NULL || found->context != context ||
        size > found->range.size - ((uintptr_t)ptr - found->range.base)) {
        return NULL;
    }
    return found;
}

bool address_is_reserved(const void *address) {
    os_mutex_lock(&virtual_memory_mutex);
    const bool reserved = range_map_find(&reservations, (uintptr_t)address) != NULL;
    os_mutex_unlock(&virtual_memory_mutex);
    return reserved;
}

static ze_result_t range_check(const void *ptr, size_t size) {
    if (size == 0 || size % small_page() != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    return (uintptr_t)ptr % small_page() != 0 ? ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT
                                              : ZE_RESULT_SUCCESS;
}

// --- Reservations -------------------------------------------------------------------------------

ze_result_t ZE_APICALL zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice, size_t size,
                                                 size_t *pagesize) {
    ENTER(zeVirtualMemQueryPageSize);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pagesize);
    if (size == 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    *pagesize = virtual_page(size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeVirtualMemReserve(ze_context_handle_t hContext, const void *pStart,
                                           size_t size, void **pptr) {
    ENTER(zeVirtualMemReserve);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(pptr);
    if (size == 0 || size % virtual_page(size) != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    reservation_t *reservation = calloc(1, sizeof *reservation);
    if (reservation == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    void *address = os_memory_reserve(pStart, size, settings.page);
    if (address == NULL) {
        free(reservation);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    reservation->range.base = (uintptr_t)address;
    reservation->range.size = size;
    reservation->context = (context_t *)hContext;
    context_adopt(reservation->context);
    live_add(&reservation->object, KIND_RESERVATION, address, NO_DEVICE, size, this_entry);
    os_mutex_lock(&virtual_memory_mutex);
    range_map_insert(&reservations, &reservation->range);
    os_mutex_unlock(&virtual_memory_mutex);
    *pptr = address;
    return ZE_RESULT_SUCCESS;
}

// Under the mutex.
static void remove_mapping(mapping_t *mapping) {
    range_map_remove(&mappings, &mapping->range);
    device_note_resident(mapping->resident_mask, -(int64_t)mapping->range.size);
    --mapping->physical->mappings;
    live_remove(&mapping->object);
    free(mapping);
}

ze_result_t ZE_APICALL zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr,
                                        size_t size) {
    ENTER(zeVirtualMemFree);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    const ze_result_t valid = range_check(ptr, size);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    os_mutex_lock(&virtual_memory_mutex);
    reservation_t *found = reservation_of((context_t *)hContext, ptr, size);
    if (found == NULL || found->range.base != (uintptr_t)ptr || found->range.size != size) {
        os_mutex_unlock(&virtual_memory_mutex);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    range_node_t *inside;
    while ((inside = range_map_first(&mappings, (uintptr_t)ptr, size)) != NULL) {
        remove_mapping((mapping_t *)inside);
    }
    range_map_remove(&reservations, &found->range);
    live_remove(&found->object);
    memory_retire(found->range.base, size);
    os_mutex_unlock(&virtual_memory_mutex);
    context_abandon(found->context);
    free(found);
    return ZE_RESULT_SUCCESS;
}

// --- Mappings -----------------------------------------------------------------------------------

// A record of a mapping that the system has made already; false when there is no memory for it.
static bool add_mapping(entry_t entry, uintptr_t base, size_t size, physical_t *physical,
                        ze_memory_access_attribute_t access) {
    mapping_t *mapping = calloc(1, sizeof *mapping);
    if (mapping == NULL) {
        return false;
    }
    mapping->range.base = base;
    mapping->range.size = size;
    mapping->physical = physical;
    mapping->access = access;
    ++physical->mappings;
    live_add(&mapping->object, KIND_MAPPING, (void *)base, physical->object.device, size, entry);
    range_map_insert(&mappings, &mapping->range);
    return true;
}

// Cuts the mapping that reaches over `address` in two there; both parts go on as before.
static bool cut_mapping(uintptr_t address) {
    mapping_t *mapping = (mapping_t *)range_map_find(&mappings, address);
    if (mapping == NULL || mapping->range.base == address) {
        return true;
    }
    const size_t kept = address - mapping->range.base;
    const size_t rest = mapping->range.size - kept;
    mapping->range.size = kept;
    if (!add_mapping(mapping->object.creator, address, rest, mapping->physical, mapping->access)) {
        mapping->range.size = kept + rest;
        return false;
    }
    ((mapping_t *)range_map_find(&mappings, address))->resident_mask = mapping->resident_mask;
    live_resize(&mapping->object, kept);
    return true;
}

static ze_result_t map(entry_t entry, const context_t *context, const void *ptr, size_t size,
                       physical_t *physical, size_t offset, ze_memory_access_attribute_t access) {
    if (physical->context != context || offset > physical->size || size > physical->size - offset ||
        reservation_of(context, ptr, size) == NULL ||
        range_map_first(&mappings, (uintptr_t)ptr, size) != NULL) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (!os_store_map((void *)ptr, size, physical->store_offset + offset, os_access(access))) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!add_mapping(entry, (uintptr_t)ptr, size, physical, access)) {
        os_store_unmap((void *)ptr, size);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeVirtualMemMap(ze_context_handle_t hContext, const void *ptr, size_t size,
                                       ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                                       ze_memory_access_attribute_t access) {
    ENTER(zeVirtualMemMap);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hPhysicalMemory, KIND_PHYSICAL_MEMORY);
    CHECK_POINTER(ptr);
    if ((uint32_t)access > ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    const ze_result_t valid = range_check(ptr, size);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    if (offset % small_page() != 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    os_mutex_lock(&virtual_memory_mutex);
    const ze_result_t result = map(this_entry, (context_t *)hContext, ptr, size,
                                   (physical_t *)hPhysicalMemory, offset, access);
    os_mutex_unlock(&virtual_memory_mutex);
    return result;
}

// Whether the range begins and ends where mappings do, and has at least one.
static bool covers_mappings(uintptr_t base, size_t size) {
    const range_node_t *first = range_map_first(&mappings, base, size);
    const range_node_t *last = range_map_find(&mappings, base + size - 1);
    return first != NULL && first->base >= base &&
           (last == NULL || last->base + last->size == base + size);
}

ze_result_t ZE_APICALL zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr,
                                         size_t size) {
    ENTER(zeVirtualMemUnmap);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    ze_result_t result = range_check(ptr, size);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    os_mutex_lock(&virtual_memory_mutex);
    if (reservation_of((context_t *)hContext, ptr, size) == NULL ||
        !covers_mappings((uintptr_t)ptr, size)) {
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    } else if (checker_memory_goes(this_entry, (uintptr_t)ptr, size) &&
               !os_store_unmap((void *)ptr, size)) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        range_node_t *inside;
        while ((inside = range_map_first(&mappings, (uintptr_t)ptr, size)) != NULL) {
            remove_mapping((mapping_t *)inside);
        }
    }
    os_mutex_unlock(&virtual_memory_mutex);
    return result;
}

// --- Access -------------------------------------------------------------------------------------

// Every byte of the range must be mapped.
static ze_result_t set_access(const context_t *context, uintptr_t base, size_t size,
                              ze_memory_access_attribute_t access) {
    if (reservation_of(context, (const void *)base, size) == NULL) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const uintptr_t end = base + size;
    for (uintptr_t at = base; at < end;) {
        const range_node_t *node = range_map_find(&mappings, at);
        if (node == NULL) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        at = node->base + node->size;
    }
    if (!cut_mapping(base) || !cut_mapping(end) ||
        !os_memory_protect((void *)base, size, os_access(access))) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uintptr_t at = base; at < end;) {
        mapping_t *mapping = (mapping_t *)range_map_find(&mappings, at);
        mapping->access = access;
        at = mapping->range.base + mapping->range.size;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext, const void *ptr,
                                                      size_t size,
                                                      ze_memory_access_attribute_t access) {
    ENTER(zeVirtualMemSetAccessAttribute);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    if ((uint32_t)access > ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    ze_result_t result = range_check(ptr, size);
    if (result == ZE_RESULT_SUCCESS) {
        os_mutex_lock(&virtual_memory_mutex);
        result = set_access((context_t *)hContext, (uintptr_t)ptr, size, access);
        os_mutex_unlock(&virtual_memory_mutex);
    }
    return result;
}

// The access at an address, and the end of the mapping or gap there.
static ze_memory_access_attribute_t access_at(uintptr_t at, uintptr_t limit, uintptr_t *end) {
    const mapping_t *mapping = (const mapping_t *)range_map_find(&mappings, at);
    if (mapping != NULL) {
        *end = mapping->range.base + mapping->range.size;
        return mapping->access;
    }
    const range_node_t *next = range_map_first(&mappings, at, limit - at);
    *end = next != NULL ? next->base : limit;
    return ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
}

ze_result_t ZE_APICALL zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext, const void *ptr,
                                                      size_t size,
                                                      ze_memory_access_attribute_t *access,
                                                      size_t *outSize) {
    ENTER(zeVirtualMemGetAccessAttribute);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_POINTER(ptr);
    CHECK_POINTER(access);
    CHECK_POINTER(outSize);
    const ze_result_t valid = range_check(ptr, size);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    const uintptr_t base = (uintptr_t)ptr;
    const uintptr_t limit = base + size;
    ze_result_t result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    os_mutex_lock(&virtual_memory_mutex);
    if (reservation_of((context_t *)hContext, ptr, size) != NULL) {
        uintptr_t end;
        *access = access_at(base, limit, &end);
        uintptr_t further;
        while (end < limit && access_at(end, limit, &further) == *access) {
            end = further;
        }
        *outSize = (end < limit ? end : limit) - base;
        result = ZE_RESULT_SUCCESS;
    }
    os_mutex_unlock(&virtual_memory_mutex);
    return result;
}

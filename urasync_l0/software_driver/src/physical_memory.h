// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Physical memory objects, as mappings see them.

#ifndef URASYNC_PHYSICAL_MEMORY_H
#define URASYNC_PHYSICAL_MEMORY_H

#include "internal.h"

typedef struct physical {
    object_t object;
    context_t *context;
    device_t *device; // NULL of physical host memory
    size_t size;
    uint64_t store_offset;
    uint32_t mappings; // under virtual_memory_mutex
} physical_t;

// Guards reservations, mappings and how often physical memory is mapped.
extern os_mutex_t virtual_memory_mutex;

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The account of each device's memory, and how much is resident on it. What a sub-device takes, its
// root device has taken too.

#include "internal.h"

static bool take(device_t *device, uint64_t bytes) {
    uint64_t used = atomic_load(&device->memory_used);
    do {
        const uint64_t limit = atomic_load(&device->memory_limit);
        if (used > limit || bytes > limit - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&device->memory_used, &used, used + bytes));
    return true;
}

bool device_memory_take(device_t *device, uint64_t bytes) {
    if (device->root != NULL && !take(device->root, bytes)) {
        return false;
    }
    if (!take(device, bytes)) {
        if (device->root != NULL) {
            atomic_fetch_sub(&device->root->memory_used, bytes);
        }
        return false;
    }
    return true;
}

void device_memory_give_back(device_t *device, uint64_t bytes) {
    atomic_fetch_sub(&device->memory_used, bytes);
    if (device->root != NULL) {
        atomic_fetch_sub(&device->root->memory_used, bytes);
    }
}

static uint64_t unused(const device_t *device) {
    const uint64_t limit = atomic_load(&device->memory_limit);
    const uint64_t used = atomic_load(&device->memory_used);
    return limit > used ? limit - used : 0;
}

// What could be allocated on the device; of a sub-device never more than the root has left.
uint64_t device_usable_memory(const device_t *device) {
    memory_collect_deferred();
    const uint64_t own = unused(device);
    const uint64_t of_root = device->root != NULL ? unused(device->root) : own;
    return own < of_root ? own : of_root;
}

void device_note_resident(uint64_t mask, int64_t bytes) {
    for (uint32_t index = 0; mask != 0; ++index, mask >>= 1) {
        if ((mask & 1) != 0) {
            atomic_fetch_add(&the_driver.devices[index].resident, (uint64_t)bytes);
        }
    }
}

// --- Controls -----------------------------------------------------------------------------------

int32_t urasync_device_memory_set_limit(uint32_t device_index, uint64_t bytes) {
    device_t *device = device_at(device_index);
    if (device == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    atomic_store(&device->memory_limit, bytes);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_memory_limit(uint32_t device_index, uint64_t *bytes) {
    const device_t *device = device_at(device_index);
    if (device == NULL || bytes == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    *bytes = atomic_load(&device->memory_limit);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_memory_used(uint32_t device_index, uint64_t *bytes) {
    const device_t *device = device_at(device_index);
    if (device == NULL || bytes == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    memory_collect_deferred();
    *bytes = atomic_load(&device->memory_used);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_memory_free(uint32_t device_index, uint64_t *bytes) {
    const device_t *device = device_at(device_index);
    if (device == NULL || bytes == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    *bytes = device_usable_memory(device);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_resident_bytes(uint32_t device_index, uint64_t *bytes) {
    const device_t *device = device_at(device_index);
    if (device == NULL || bytes == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    *bytes = atomic_load(&device->resident);
    return URASYNC_CONTROL_OK;
}

uint64_t urasync_resident_bytes(void) {
    uint64_t bytes = 0;
    for (uint32_t index = 0; driver_ready() && index < device_count(); ++index) {
        bytes += atomic_load(&the_driver.devices[index].resident);
    }
    return bytes;
}

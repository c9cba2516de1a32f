// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices that are lost: a command failed while it ran, so nothing on them can be relied on. There
// is no way back in this process, as with a real one.

#include "internal.h"

static _Atomic uint64_t lost = 0; // a bit for each index

static uint64_t own_bit(const device_t *device) { return UINT64_C(1) << device->index; }

void device_lose(const device_t *device) {
    atomic_fetch_or(&lost, own_bit(device));
    checker_device_lost();
}

ze_result_t device_result(const device_t *device) {
    const uint64_t now = atomic_load_explicit(&lost, memory_order_relaxed);
    return (now & own_bit(device)) != 0 ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t context_result(const context_t *context) {
    if (atomic_load_explicit(&lost, memory_order_relaxed) == 0) {
        return ZE_RESULT_SUCCESS;
    }
    for (uint32_t index = 0; index < device_count(); ++index) {
        const device_t *device = device_at(index);
        if (context_has_device(context, device) && device_result(device) != ZE_RESULT_SUCCESS) {
            return ZE_RESULT_ERROR_DEVICE_LOST;
        }
    }
    return ZE_RESULT_SUCCESS;
}

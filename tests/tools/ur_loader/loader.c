/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A libur_loader without adapters for clients that measure: each call writes a line to the file
 * that WRITTEN_CALLS names, with the handles and sizes that tests look at, and makes up what it
 * answers.
 */
#include "unified_runtime.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *file;
static atomic_uintptr_t last = 0x1000;

static ur_result_t told(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(file, format, values);
    va_end(values);
    return UR_RESULT_SUCCESS;
}

/* Handles and addresses are numbers of their own. */
static void *made(void) { return (void *)(atomic_fetch_add(&last, 0x1000) + 0x1000); }

ur_result_t urLoaderInit(uint32_t flags, void *config) {
    (void)flags, (void)config;
    file = fopen(getenv("WRITTEN_CALLS"), "w");
    if (file == NULL)
        abort();
    return UR_RESULT_SUCCESS;
}

ur_result_t urAdapterGet(uint32_t count, ur_adapter_handle_t *adapters, uint32_t *found) {
    (void)count, (void)found;
    *adapters = made();
    return UR_RESULT_SUCCESS;
}

ur_result_t urPlatformGet(ur_adapter_handle_t adapter, uint32_t count,
                          ur_platform_handle_t *platforms, uint32_t *found) {
    (void)adapter, (void)count, (void)found;
    *platforms = made();
    return UR_RESULT_SUCCESS;
}

ur_result_t urDeviceGet(ur_platform_handle_t platform, ur_device_type_t type, uint32_t count,
                        ur_device_handle_t *devices, uint32_t *found) {
    (void)platform, (void)type, (void)count, (void)found;
    *devices = made();
    return UR_RESULT_SUCCESS;
}

ur_result_t urContextCreate(uint32_t count, const ur_device_handle_t *devices,
                            const ur_context_properties_t *properties,
                            ur_context_handle_t *context) {
    (void)count, (void)devices, (void)properties;
    *context = made();
    return told("context\n");
}

ur_result_t urContextRelease(ur_context_handle_t context) {
    (void)context;
    told("release_context\n");
    return fflush(file) == 0 ? UR_RESULT_SUCCESS : UR_RESULT_ERROR_UNKNOWN;
}

ur_result_t urQueueCreate(ur_context_handle_t context, ur_device_handle_t device,
                          const ur_queue_properties_t *properties, ur_queue_handle_t *queue) {
    (void)context, (void)device, (void)properties;
    *queue = made();
    return told("queue %p\n", (void *)*queue);
}

ur_result_t urQueueFinish(ur_queue_handle_t queue) { return told("finish %p\n", (void *)queue); }

ur_result_t urQueueRelease(ur_queue_handle_t queue) {
    return told("release_queue %p\n", (void *)queue);
}

ur_result_t urUSMPoolGetDefaultDevicePoolExp(ur_context_handle_t context, ur_device_handle_t device,
                                             ur_usm_pool_handle_t *pool) {
    (void)context, (void)device;
    *pool = made();
    return told("default_pool %p\n", (void *)*pool);
}

ur_result_t urUSMPoolCreateExp(ur_context_handle_t context, ur_device_handle_t device,
                               ur_usm_pool_desc_t *description, ur_usm_pool_handle_t *pool) {
    (void)context, (void)device, (void)description;
    *pool = made();
    return told("pool %p\n", (void *)*pool);
}

ur_result_t urUSMPoolDestroyExp(ur_context_handle_t context, ur_device_handle_t device,
                                ur_usm_pool_handle_t pool) {
    (void)context, (void)device;
    return told("destroy_pool %p\n", (void *)pool);
}

ur_result_t urUSMPoolSetInfoExp(ur_usm_pool_handle_t pool, ur_usm_pool_info_t name, void *value,
                                size_t size) {
    (void)size;
    return told("set %p %x %zx\n", (void *)pool, (unsigned)name, *(size_t *)value);
}

ur_result_t urUSMPoolGetInfoExp(ur_usm_pool_handle_t pool, ur_usm_pool_info_t name, void *value,
                                size_t *size) {
    (void)pool, (void)name, (void)size;
    *(size_t *)value = 4096;
    return UR_RESULT_SUCCESS;
}

ur_result_t urEnqueueUSMDeviceAllocExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                                       size_t size,
                                       const ur_exp_async_usm_alloc_properties_t *properties,
                                       uint32_t count, const ur_event_handle_t *events, void **mem,
                                       ur_event_handle_t *event) {
    (void)properties, (void)count, (void)events;
    *mem = made();
    if (event != NULL)
        *event = made();
    return told("allocate %p %p %zu %p %p\n", (void *)queue, (void *)pool, size, *mem,
                event == NULL ? NULL : (void *)*event);
}

ur_result_t urEnqueueUSMFreeExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool, void *mem,
                                uint32_t count, const ur_event_handle_t *events,
                                ur_event_handle_t *event) {
    (void)pool, (void)count, (void)events;
    if (event != NULL)
        *event = made();
    return told("free %p %p %p\n", (void *)queue, mem, event == NULL ? NULL : (void *)*event);
}

ur_result_t urEnqueueEventsWaitWithBarrier(ur_queue_handle_t queue, uint32_t count,
                                           const ur_event_handle_t *events,
                                           ur_event_handle_t *event) {
    (void)events;
    if (event != NULL)
        *event = made();
    return told("barrier %p %u %p\n", (void *)queue, count, event == NULL ? NULL : (void *)*event);
}

ur_result_t urEventRelease(ur_event_handle_t event) {
    return told("release_event %p\n", (void *)event);
}

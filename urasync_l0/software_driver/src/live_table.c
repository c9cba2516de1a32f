// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of objects that were created and not destroyed: one list for each kind.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

typedef struct live_list {
    os_mutex_t mutex;
    object_t *first;
    object_t *last;
    _Atomic uint64_t count;
} __attribute__((aligned(64))) live_list_t;

static live_list_t lists[KIND_COUNT] = {[0 ... KIND_COUNT - 1] = {.mutex = OS_MUTEX_INITIALIZER}};
static _Atomic uint64_t last_serial = 0;

static const char *const names[KIND_COUNT] = {
    [KIND_NONE] = "destroyed",
    [KIND_DRIVER] = "driver",
    [KIND_DEVICE] = "device",
    [KIND_CONTEXT] = "context",
    [KIND_COMMAND_QUEUE] = "command_queue",
    [KIND_COMMAND_LIST] = "command_list",
    [KIND_FENCE] = "fence",
    [KIND_EVENT_POOL] = "event_pool",
    [KIND_EVENT] = "event",
    [KIND_DEVICE_MEMORY] = "device_memory",
    [KIND_SHARED_MEMORY] = "shared_memory",
    [KIND_HOST_MEMORY] = "host_memory",
    [KIND_PHYSICAL_MEMORY] = "physical_memory",
    [KIND_RESERVATION] = "virtual_reservation",
    [KIND_MAPPING] = "virtual_mapping",
    [KIND_MODULE] = "module",
    [KIND_BUILD_LOG] = "build_log",
    [KIND_KERNEL] = "kernel",
};

void live_add(object_t *object, kind_t kind, const void *handle, int32_t device, uint64_t bytes,
              entry_t creator) {
    live_list_t *list = &lists[kind];
    object->device = device;
    object->creator = creator;
    object->handle = (uintptr_t)handle;
    object->bytes = bytes;
    object->next = NULL;
    os_mutex_lock(&list->mutex);
    object->serial = atomic_fetch_add(&last_serial, 1) + 1;
    object->previous = list->last;
    if (list->last != NULL) {
        list->last->next = object;
    } else {
        list->first = object;
    }
    list->last = object;
    atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
    os_mutex_unlock(&list->mutex);
    atomic_store_explicit(&object->kind, kind, memory_order_release);
}

void live_remove(object_t *object) {
    live_list_t *list = &lists[atomic_load(&object->kind)];
    os_mutex_lock(&list->mutex);
    atomic_store(&object->kind, KIND_NONE);
    if (object->previous != NULL) {
        object->previous->next = object->next;
    } else {
        list->first = object->next;
    }
    if (object->next != NULL) {
        object->next->previous = object->previous;
    } else {
        list->last = object->previous;
    }
    atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
    os_mutex_unlock(&list->mutex);
}

void live_resize(object_t *object, uint64_t bytes) {
    live_list_t *list = &lists[atomic_load(&object->kind)];
    os_mutex_lock(&list->mutex);
    object->bytes = bytes;
    os_mutex_unlock(&list->mutex);
}

uint64_t live_count(kind_t kind) { return atomic_load(&lists[kind].count); }

bool live_visit(kind_t kind, uint64_t handle, void (*visit)(object_t *, void *), void *argument) {
    live_list_t *list = &lists[kind];
    bool found = false;
    os_mutex_lock(&list->mutex);
    for (object_t *object = list->first; object != NULL && !found; object = object->next) {
        if (object->handle == handle) {
            visit(object, argument);
            found = true;
        }
    }
    os_mutex_unlock(&list->mutex);
    return found;
}

void live_visit_all(kind_t kind, void (*visit)(object_t *, void *), void *argument) {
    live_list_t *list = &lists[kind];
    os_mutex_lock(&list->mutex);
    for (object_t *object = list->first; object != NULL; object = object->next) {
        visit(object, argument);
    }
    os_mutex_unlock(&list->mutex);
}

ze_result_t object_check(const object_t *object, kind_t kind, entry_t entry) {
    if (object == NULL) {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    const uint32_t found = atomic_load_explicit(&object->kind, memory_order_acquire);
    if (found == kind) {
        return ZE_RESULT_SUCCESS;
    }
    fprintf(stderr, "urasync software driver: %s needs a handle of kind %s; %p is of kind %s\n",
            entry_name(entry), names[kind], (const void *)object,
            found < KIND_COUNT ? names[found] : "unknown");
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

// Kinds as the controls number them: without none, driver and device.
#define FIRST_KIND KIND_CONTEXT

uint32_t urasync_object_kind_count(void) { return KIND_COUNT - FIRST_KIND; }

const char *urasync_object_kind_name(uint32_t kind) {
    return kind < KIND_COUNT - FIRST_KIND ? names[kind + FIRST_KIND] : NULL;
}

uint64_t urasync_live_count(uint32_t kind) {
    return kind < KIND_COUNT - FIRST_KIND ? live_count((kind_t)(kind + FIRST_KIND)) : 0;
}

typedef struct gathering {
    urasync_live_row *rows;
    size_t capacity;
    size_t count;
    kind_t kind;
} gathering_t;

static void gather(object_t *object, void *argument) {
    gathering_t *gathering = argument;
    if (gathering->count < gathering->capacity) {
        gathering->rows[gathering->count] =
            (urasync_live_row){.kind = gathering->kind - FIRST_KIND,
                               .device = (uint32_t)object->device,
                               .handle = object->handle,
                               .bytes = object->bytes,
                               .serial = object->serial,
                               .creator = entry_name(object->creator)};
    }
    ++gathering->count;
}

static int by_serial(const void *left, const void *right) {
    const uint64_t a = ((const urasync_live_row *)left)->serial;
    const uint64_t b = ((const urasync_live_row *)right)->serial;
    return (a > b) - (a < b);
}

size_t urasync_live_table(urasync_live_row *rows, size_t capacity) {
    gathering_t gathering = {.rows = rows, .capacity = rows != NULL ? capacity : 0};
    for (kind_t kind = FIRST_KIND; kind < KIND_COUNT; ++kind) {
        gathering.kind = kind;
        live_visit_all(kind, gather, &gathering);
    }
    const size_t copied =
        gathering.count < gathering.capacity ? gathering.count : gathering.capacity;
    if (copied > 1) {
        qsort(rows, copied, sizeof *rows, by_serial);
    }
    return gathering.count;
}

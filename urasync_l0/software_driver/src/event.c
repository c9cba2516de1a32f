// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events: their life, their state, and waiting for them.
//
// A regular event is complete while it is set. A counter-based event is a place on a timeline:
// complete before its first append and from then on when the timeline has reached the place.

#include "event_pool.h"

#include <stdlib.h>

enum { SCOPE_FLAGS = 0x7, COUNTER_FLAGS = 0x7f };

// --- Life ---------------------------------------------------------------------------------------

void event_retain(event_t *event) { atomic_fetch_add(&event->references, 1); }

void event_release(event_t *event) {
    if (atomic_fetch_sub(&event->references, 1) == 1) {
        timeline_release(event->timeline);
        checker_event_forgotten(event);
        os_mutex_destroy(&event->mutex);
        free(event);
    }
}

static event_t *event_create(context_t *context) {
    event_t *event = calloc(1, sizeof *event);
    if (event != NULL) {
        event->context = context;
        atomic_store_explicit(&event->references, 1, memory_order_relaxed);
        os_mutex_init(&event->mutex);
        context_adopt(context);
    }
    return event;
}

ze_result_t ZE_APICALL zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc,
                                     ze_event_handle_t *phEvent) {
    ENTER(zeEventCreate);
    CHECK_HANDLE(hEventPool, KIND_EVENT_POOL);
    CHECK_POINTER(desc);
    CHECK_POINTER(phEvent);
    if (desc->signal > SCOPE_FLAGS || desc->wait > SCOPE_FLAGS) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    event_pool_t *pool = (event_pool_t *)hEventPool;
    if (desc->index >= pool->count || atomic_exchange(&pool->used[desc->index], true)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT; // beyond the end, or another event is there
    }
    event_t *event = event_create(pool->context);
    if (event == NULL) {
        atomic_store(&pool->used[desc->index], false);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_fetch_add(&pool->live, 1);
    event->pool = pool;
    event->index = desc->index;
    event->counter_based = pool->counter_based;
    event->counter_flags = pool->counter_flags;
    event->timestamps = (pool->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                                        ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)) != 0;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    live_add(&event->object, KIND_EVENT, event, pool->object.device, 0, this_entry);
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t create_counter_based(entry_t this_entry, ze_context_handle_t hContext,
                                        ze_device_handle_t hDevice,
                                        const ze_event_counter_based_desc_t *desc,
                                        ze_event_handle_t *phEvent) {
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(desc);
    CHECK_POINTER(phEvent);
    const uint32_t both =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    if (desc->flags > COUNTER_FLAGS || desc->signal > SCOPE_FLAGS || desc->wait > SCOPE_FLAGS ||
        (desc->flags & both) == both) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if ((desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) != 0 || desc->pNext != NULL) {
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; // neither IPC nor external storage
    }
    context_t *context = (context_t *)hContext;
    const device_t *device = (const device_t *)hDevice;
    if (!context_has_device(context, device)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    event_t *event = event_create(context);
    if (event == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    event->counter_based = true;
    event->counter_flags = desc->flags;
    event->timestamps = (desc->flags & both) != 0;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    live_add(&event->object, KIND_EVENT, event, (int32_t)device->index, 0, this_entry);
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice,
                                                 const ze_event_counter_based_desc_t *desc,
                                                 ze_event_handle_t *phEvent) {
    ENTER(zeEventCounterBasedCreate);
    return create_counter_based(this_entry, hContext, hDevice, desc, phEvent);
}

// The form that Intel's driver publishes by name; its descriptor has the same layout and flags.
ze_result_t ZE_APICALL zexCounterBasedEventCreate2(ze_context_handle_t hContext,
                                                   ze_device_handle_t hDevice,
                                                   const zex_counter_based_event_desc_t *desc,
                                                   ze_event_handle_t *phEvent) {
    ENTER(zexCounterBasedEventCreate2);
    if (desc == NULL) {
        return create_counter_based(this_entry, hContext, hDevice, NULL, phEvent);
    }
    const ze_event_counter_based_desc_t same = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
        .pNext = desc->pNext,
        .flags = desc->flags,
        .signal = desc->signalScope,
        .wait = desc->waitScope};
    return create_counter_based(this_entry, hContext, hDevice, &same, phEvent);
}

ze_result_t ZE_APICALL zeEventDestroy(ze_event_handle_t hEvent) {
    ENTER(zeEventDestroy);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    event_t *event = (event_t *)hEvent;
    checker_event_destroyed(this_entry, event);
    if (atomic_load(&event->state) >= EVENT_PENDING) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&event->object);
    context_abandon(event->context);
    if (event->pool != NULL) {
        atomic_store(&event->pool->used[event->index], false);
        atomic_fetch_sub(&event->pool->live, 1);
    }
    event_release(event);
    return ZE_RESULT_SUCCESS;
}

// --- State --------------------------------------------------------------------------------------

void event_hold(event_t *event) { atomic_fetch_add(&event->state, EVENT_PENDING); }

void event_drop(event_t *event) { atomic_fetch_sub(&event->state, EVENT_PENDING); }

void event_arm(event_t *event, timeline_t *timeline, uint64_t place) {
    timeline_retain(timeline);
    os_mutex_lock(&event->mutex);
    timeline_t *old = event->timeline;
    event->timeline = timeline;
    event->place = place;
    os_mutex_unlock(&event->mutex);
    timeline_release(old);
}

void event_complete(event_t *event, uint64_t start, uint64_t end, uint64_t serial) {
    atomic_store_explicit(&event->start, start, memory_order_relaxed);
    atomic_store_explicit(&event->end, end, memory_order_relaxed);
    atomic_store_explicit(&event->serial, serial, memory_order_relaxed);
    if (event->counter_based) {
        event_drop(event); // its timeline advances after this
        return;
    }
    uint64_t state = atomic_load(&event->state);
    while (
        !atomic_compare_exchange_weak(&event->state, &state, (state | EVENT_SET) - EVENT_PENDING)) {
    }
    wake(event);
}

void event_reset(event_t *event) { atomic_fetch_and(&event->state, ~EVENT_SET); }

bool event_is_set(const void *subject, uint64_t value) {
    (void)value;
    return (atomic_load(&((const event_t *)subject)->state) & EVENT_SET) != 0;
}

// --- Waiting ------------------------------------------------------------------------------------

wait_t event_capture(event_t *event) {
    if (!event->counter_based) {
        return (wait_t){.event = event};
    }
    wait_t wait = {0};
    os_mutex_lock(&event->mutex);
    if (event->timeline != NULL) {
        wait.timeline = timeline_retain(event->timeline);
        wait.value = timeline_target(event->timeline, event->place);
    }
    os_mutex_unlock(&event->mutex);
    return wait;
}

bool wait_for(const wait_t *wait, uint64_t deadline) {
    if (wait->event != NULL) {
        return wait_until(wait->event, event_is_set, 0, deadline);
    }
    return wait->timeline == NULL ||
           wait_until(wait->timeline, timeline_reached, wait->value, deadline);
}

static bool wait_is_over(const wait_t *wait) {
    if (wait->event != NULL) {
        return event_is_set(wait->event, 0);
    }
    return wait->timeline == NULL || timeline_reached(wait->timeline, wait->value);
}

bool event_is_complete(event_t *event) {
    const wait_t wait = event_capture(event);
    const bool over = wait_is_over(&wait);
    timeline_release(wait.timeline);
    return over;
}

bool event_wait(event_t *event, uint64_t deadline) {
    const wait_t wait = event_capture(event);
    const bool over = wait_for(&wait, deadline);
    timeline_release(wait.timeline);
    return over;
}

ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t hEvent) {
    ENTER(zeEventQueryStatus);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    if (!event_is_complete((event_t *)hEvent)) {
        return ZE_RESULT_NOT_READY;
    }
    checker_host_saw_event(this_entry, (event_t *)hEvent);
    return context_result(((const event_t *)hEvent)->context);
}

ze_result_t ZE_APICALL zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout) {
    ENTER(zeEventHostSynchronize);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    event_t *event = (event_t *)hEvent;
    const bool over =
        timeout == 0 ? event_is_complete(event) : event_wait(event, os_deadline(timeout));
    if (over) {
        checker_host_saw_event(this_entry, event);
    }
    return over ? context_result(event->context) : ZE_RESULT_NOT_READY;
}

ze_result_t ZE_APICALL zeEventHostSignal(ze_event_handle_t hEvent) {
    ENTER(zeEventHostSignal);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    event_t *event = (event_t *)hEvent;
    if (event->counter_based) {
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    }
    const uint64_t ticks = event->timestamps ? device_ticks() : 0;
    event_hold(event);
    checker_host_signals(this_entry, event);
    event_complete(event, ticks, ticks, next_serial());
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventHostReset(ze_event_handle_t hEvent) {
    ENTER(zeEventHostReset);
    CHECK_HANDLE(hEvent, KIND_EVENT);
    event_t *event = (event_t *)hEvent;
    if (event->counter_based) {
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    }
    checker_host_resets(this_entry, event);
    event_reset(event);
    return ZE_RESULT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gates, and how far lists and queues have come.

#include "worker.h"

static void retain_list_worker(object_t *object, void *argument) {
    const command_list_t *list = (const command_list_t *)object;
    *(worker_t **)argument = list->immediate ? worker_retain(list->worker) : NULL;
}

static void retain_queue_worker(object_t *object, void *argument) {
    *(worker_t **)argument = worker_retain(((const command_queue_t *)object)->worker);
}

static worker_t *find_worker(uint64_t handle) {
    worker_t *worker = NULL;
    if (!live_visit(KIND_COMMAND_LIST, handle, retain_list_worker, &worker)) {
        live_visit(KIND_COMMAND_QUEUE, handle, retain_queue_worker, &worker);
    }
    return worker;
}

int32_t urasync_gate_close(uint64_t list) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    os_mutex_lock(&worker->mutex);
    atomic_fetch_add(&worker->gate_depth, 1);
    os_mutex_unlock(&worker->mutex);
    worker_release(worker);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_gate_open(uint64_t list) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    os_mutex_lock(&worker->mutex);
    const bool closed = atomic_load(&worker->gate_depth) > 0;
    if (closed) {
        atomic_fetch_sub(&worker->gate_depth, 1);
        os_condition_broadcast(&worker->changed);
    }
    os_mutex_unlock(&worker->mutex);
    worker_release(worker);
    return closed ? URASYNC_CONTROL_OK : URASYNC_CONTROL_NOT_CLOSED;
}

int32_t urasync_gate_depth(uint64_t list, uint32_t *depth) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    *depth = atomic_load(&worker->gate_depth);
    worker_release(worker);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_gate_limit(uint64_t list, uint64_t number) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    os_mutex_lock(&worker->mutex);
    atomic_store(&worker->gate_limit, number);
    os_condition_broadcast(&worker->changed);
    os_mutex_unlock(&worker->mutex);
    worker_release(worker);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_gate_wait_reached(uint64_t list, uint64_t timeout_ns) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    const uint64_t deadline = os_deadline(timeout_ns);
    os_mutex_lock(&worker->mutex);
    bool patient = true;
    bool reached;
    while (!(reached = worker->at_gate && worker_is_held(worker)) && patient) {
        patient = os_condition_wait(&worker->changed, &worker->mutex, deadline);
    }
    os_mutex_unlock(&worker->mutex);
    worker_release(worker);
    return reached ? URASYNC_CONTROL_OK : URASYNC_CONTROL_TIMED_OUT;
}

int32_t urasync_list_progress(uint64_t list, uint64_t *appended, uint64_t *completed) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    // In this order completed is never above appended.
    *completed = atomic_load(&worker->timeline->completed);
    *appended = atomic_load(&worker->appended);
    worker_release(worker);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_list_wait_completed(uint64_t list, uint64_t number, uint64_t timeout_ns) {
    worker_t *worker = find_worker(list);
    if (worker == NULL) {
        return URASYNC_CONTROL_UNKNOWN_HANDLE;
    }
    const bool completed =
        wait_until(worker->timeline, timeline_reached, number, os_deadline(timeout_ns));
    worker_release(worker);
    return completed ? URASYNC_CONTROL_OK : URASYNC_CONTROL_TIMED_OUT;
}

int32_t urasync_gate_close_new(uint32_t device_index) {
    device_t *device = device_at(device_index);
    if (device == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    atomic_fetch_add(&device->gate_new, 1);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_gate_open_new(uint32_t device_index) {
    device_t *device = device_at(device_index);
    if (device == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    uint32_t depth = atomic_load(&device->gate_new);
    do {
        if (depth == 0) {
            return URASYNC_CONTROL_NOT_CLOSED;
        }
    } while (!atomic_compare_exchange_weak(&device->gate_new, &depth, depth - 1));
    return URASYNC_CONTROL_OK;
}

static void open_wide(worker_t *worker) {
    os_mutex_lock(&worker->mutex);
    atomic_store(&worker->gate_depth, 0);
    atomic_store(&worker->gate_limit, UINT64_MAX);
    os_condition_broadcast(&worker->changed);
    os_mutex_unlock(&worker->mutex);
}

int32_t urasync_gate_open_all(uint32_t device_index) {
    const device_t *device = device_at(device_index);
    if (device == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    workers_visit(device, open_wide);
    return URASYNC_CONTROL_OK;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workers: one thread each, which runs commands in the order in which they were appended.

#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"
#include "schedule.h"
#include "worker.h"

enum {
    MAX_SPARE = 256,             // commands kept for use again
    SPINS_PER_LOOK = 64,         // between two looks at the clock
    PATIENCE = 15000,            // nanoseconds that a worker spins before it sleeps
    DRAIN_PATIENCE = 1000000000, // nanoseconds that a destroy waits for pending commands
};

// All workers, for questions about a device or about memory.
static os_mutex_t all_mutex = OS_MUTEX_INITIALIZER;
static worker_t *all = NULL;
static uint64_t created = 0;

worker_t *worker_create(device_t *device) {
    worker_t *worker = calloc(1, sizeof *worker);
    timeline_t *timeline = timeline_create();
    if (worker == NULL || timeline == NULL) {
        free(worker);
        timeline_release(timeline);
        return NULL;
    }
    atomic_store(&worker->references, 1);
    worker->device = device;
    worker->timeline = timeline;
    atomic_store(&worker->gate_depth, atomic_load(&device->gate_new) > 0 ? 1 : 0);
    atomic_store(&worker->gate_limit, UINT64_MAX);
    os_mutex_init(&worker->mutex);
    os_condition_init(&worker->changed);
    checker_worker_created(worker);
    os_mutex_lock(&all_mutex);
    worker->number = ++created;
    worker->next = all;
    if (all != NULL) {
        all->previous = worker;
    }
    all = worker;
    os_mutex_unlock(&all_mutex);
    return worker;
}

worker_t *worker_retain(worker_t *worker) {
    atomic_fetch_add(&worker->references, 1);
    return worker;
}

void worker_release(worker_t *worker) {
    if (atomic_fetch_sub(&worker->references, 1) > 1) {
        return;
    }
    while (worker->spare != NULL) {
        command_t *command = worker->spare;
        worker->spare = command->next;
        free(command);
    }
    if (worker->queue != NULL) {
        opencl()->clReleaseCommandQueue(worker->queue);
    }
    timeline_release(worker->timeline);
    os_condition_destroy(&worker->changed);
    os_mutex_destroy(&worker->mutex);
    free(worker);
}

// Spins outside of the lock while the host is likely to append soon.
static void spin_for_command(worker_t *worker, uint64_t seen) {
    const uint64_t end = os_now() + PATIENCE;
    do {
        for (int spin = 0; spin < SPINS_PER_LOOK; ++spin) {
            if (atomic_load_explicit(&worker->handed_over, memory_order_relaxed) > seen) {
                return;
            }
            os_relax();
        }
    } while (os_now() < end);
}

bool worker_is_held(const worker_t *worker) {
    return worker->first != NULL && (atomic_load(&worker->gate_depth) > 0 ||
                                     worker->first->place > atomic_load(&worker->gate_limit));
}

static void stand_at_gate(worker_t *worker) {
    while (worker_is_held(worker)) {
        if (!worker->at_gate) {
            worker->at_gate = true;
            os_condition_broadcast(&worker->changed);
        }
        os_condition_wait(&worker->changed, &worker->mutex, OS_FOREVER);
    }
    worker->at_gate = false;
}

// The next command, which stays the first of the pending ones until it has completed.
static command_t *take(worker_t *worker) {
    os_mutex_lock(&worker->mutex);
    bool spun = false;
    while (worker->first == NULL && !worker->stopping) {
        if (!spun) {
            const uint64_t seen = atomic_load(&worker->appended);
            os_mutex_unlock(&worker->mutex);
            spin_for_command(worker, seen);
            os_mutex_lock(&worker->mutex);
            spun = true;
            continue;
        }
        worker->sleeping = true;
        os_condition_wait(&worker->changed, &worker->mutex, OS_FOREVER);
        worker->sleeping = false;
    }
    stand_at_gate(worker);
    command_t *command = worker->first;
    os_mutex_unlock(&worker->mutex);
    return command;
}

static void complete(worker_t *worker, command_t *command) {
    os_mutex_lock(&worker->mutex);
    worker->first = command->next;
    if (worker->first == NULL) {
        worker->last = NULL;
    }
    checker_drop_knowledge(command->known);
    command->known = NULL;
    command_free_arrays(command); // not before: another thread may look at pending commands
    const bool keep = worker->spare_count < MAX_SPARE;
    if (keep) {
        command->next = worker->spare;
        worker->spare = command;
        ++worker->spare_count;
    }
    os_mutex_unlock(&worker->mutex);
    if (!keep) {
        free(command);
    }
    timeline_advance(worker->timeline);
}

static void *run(void *argument) {
    worker_t *worker = argument;
    for (;;) {
        command_t *command = take(worker);
        if (command == NULL) {
            return NULL;
        }
        schedule_delay(worker->number, command->place);
        checker_command_begins(worker, command, 0, command->place);
        const bool counted = command->counted;
        command_run(worker, command);
        if (counted) {
            checker_place_reached(worker, worker->timeline, command->place);
        }
        complete(worker, command);
    }
}

bool worker_start(worker_t *worker) {
    os_mutex_lock(&worker->mutex);
    if (!worker->started) {
        worker->started = os_thread_start(&worker->thread, run, worker, "urasync-worker");
    }
    const bool started = worker->started;
    os_mutex_unlock(&worker->mutex);
    return started;
}

bool worker_drain(worker_t *worker) {
    const uint64_t target = atomic_load(&worker->appended);
    if (timeline_reached(worker->timeline, target)) {
        return true;
    }
    return atomic_load(&worker->gate_depth) == 0 && atomic_load(&worker->gate_limit) >= target &&
           wait_until(worker->timeline, timeline_reached, target, os_deadline(DRAIN_PATIENCE));
}

void worker_destroy(worker_t *worker) {
    os_mutex_lock(&worker->mutex);
    worker->stopping = true;
    os_condition_broadcast(&worker->changed);
    const bool started = worker->started;
    os_mutex_unlock(&worker->mutex);
    if (started) {
        os_thread_join(worker->thread);
    }
    checker_worker_destroyed(worker);
    os_mutex_lock(&all_mutex);
    if (worker->previous != NULL) {
        worker->previous->next = worker->next;
    } else {
        all = worker->next;
    }
    if (worker->next != NULL) {
        worker->next->previous = worker->previous;
    }
    os_mutex_unlock(&all_mutex);
    worker_release(worker);
}

command_t *worker_new_command(worker_t *worker) {
    os_mutex_lock(&worker->mutex);
    command_t *command = worker->spare;
    if (command != NULL) {
        worker->spare = command->next;
        --worker->spare_count;
    }
    os_mutex_unlock(&worker->mutex);
    return command != NULL ? command : malloc(sizeof *command);
}

uint64_t worker_append(worker_t *worker, command_t *command) {
    command->next = NULL;
    command->known = checker_host_knowledge();
    os_mutex_lock(&worker->mutex);
    const uint64_t place = atomic_load_explicit(&worker->appended, memory_order_relaxed) + 1;
    command->place = place;
    if (worker->last != NULL) {
        worker->last->next = command;
    } else {
        worker->first = command;
    }
    worker->last = command;
    atomic_store(&worker->appended, place);
    const bool sleeping = worker->sleeping;
    worker->sleeping = false; // once is enough, however long it takes to wake up
    os_mutex_unlock(&worker->mutex);
    // Not before: it would run into the lock, and have to be woken once more.
    atomic_store_explicit(&worker->handed_over, place, memory_order_relaxed);
    if (sleeping) {
        os_condition_broadcast(&worker->changed);
    }
    return place;
}

bool worker_wait_idle(worker_t *worker, uint64_t deadline) {
    return wait_until(worker->timeline, timeline_reached, atomic_load(&worker->appended), deadline);
}

void worker_pass_gate(worker_t *worker) {
    if (atomic_load(&worker->gate_depth) > 0) {
        os_mutex_lock(&worker->mutex);
        stand_at_gate(worker);
        os_mutex_unlock(&worker->mutex);
    }
}

void workers_visit(const device_t *device, void (*visit)(worker_t *)) {
    os_mutex_lock(&all_mutex);
    for (worker_t *worker = all; worker != NULL; worker = worker->next) {
        if (worker->device == device) {
            visit(worker);
        }
    }
    os_mutex_unlock(&all_mutex);
}

// One place for each worker that `wanted` says has one.
static bool collect(uint64_t (*wanted)(worker_t *, const void *), const void *argument,
                    wait_t **places, size_t *count) {
    *places = NULL;
    *count = 0;
    bool enough = true;
    os_mutex_lock(&all_mutex);
    for (worker_t *worker = all; worker != NULL && enough; worker = worker->next) {
        const uint64_t place = wanted(worker, argument);
        if (place == 0) {
            continue;
        }
        wait_t *more = realloc(*places, (*count + 1) * sizeof **places);
        enough = more != NULL;
        if (enough) {
            *places = more;
            (*places)[(*count)++] =
                (wait_t){.timeline = timeline_retain(worker->timeline), .value = place};
        }
    }
    os_mutex_unlock(&all_mutex);
    if (!enough) {
        for (size_t i = 0; i < *count; ++i) {
            timeline_release((*places)[i].timeline);
        }
        free(*places);
        *places = NULL;
        *count = 0;
    }
    return enough;
}

static uint64_t last_place_on_device(worker_t *worker, const void *device) {
    return worker->device == device ? atomic_load(&worker->appended) : 0;
}

void workers_wait_idle(const device_t *device) {
    wait_t *places;
    size_t count;
    while (!collect(last_place_on_device, device, &places, &count)) {
        // Without memory for the list nothing can be known; it will come back.
    }
    for (size_t i = 0; i < count; ++i) {
        wait_for(&places[i], OS_FOREVER);
        checker_host_saw_timeline(places[i].timeline);
        timeline_release(places[i].timeline);
    }
    free(places);
}

typedef struct interval {
    uintptr_t base;
    size_t size;
} interval_t;

static uint64_t last_place_touching(worker_t *worker, const void *argument) {
    const interval_t *interval = argument;
    uint64_t place = 0;
    os_mutex_lock(&worker->mutex);
    for (const command_t *command = worker->first; command != NULL; command = command->next) {
        if (command_touches(command, interval->base, interval->size)) {
            place = command->place;
        }
    }
    os_mutex_unlock(&worker->mutex);
    return place;
}

bool workers_using(uintptr_t base, size_t size, wait_t **places, size_t *count) {
    const interval_t interval = {base, size};
    return collect(last_place_touching, &interval, places, count);
}

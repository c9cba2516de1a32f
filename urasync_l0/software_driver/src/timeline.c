// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timelines: counters of completed commands, which counter-based events and waits refer to.

#include <stdlib.h>

#include "internal.h"

timeline_t *timeline_create(void) {
    timeline_t *timeline = calloc(1, sizeof *timeline);
    if (timeline != NULL) {
        atomic_store(&timeline->references, 1);
    }
    return timeline;
}

timeline_t *timeline_retain(timeline_t *timeline) {
    atomic_fetch_add_explicit(&timeline->references, 1, memory_order_relaxed);
    return timeline;
}

void timeline_release(timeline_t *timeline) {
    if (timeline != NULL && atomic_fetch_sub(&timeline->references, 1) == 1) {
        checker_timeline_forgotten(timeline);
        free(timeline);
    }
}

// A regular list that was never submitted has its places in its first execution, still to come.
uint64_t timeline_target(const timeline_t *timeline, uint64_t place) {
    const uint64_t submissions = atomic_load(&timeline->submissions);
    const uint64_t before = submissions > 0 ? submissions - 1 : 0;
    return before * atomic_load(&timeline->period) + place;
}

bool timeline_reached(const void *subject, uint64_t value) {
    return atomic_load(&((const timeline_t *)subject)->completed) >= value;
}

void timeline_advance(timeline_t *timeline) {
    atomic_fetch_add(&timeline->completed, 1);
    wake(timeline);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "vector_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *checker_memory(void *old, size_t size) {
    void *memory = realloc(old, size);
    if (memory == NULL) {
        fprintf(stderr, "urasync software driver: no memory for the checker's records\n");
        abort();
    }
    return memory;
}

static void grow(vector_clock_t *clock, uint32_t count) {
    if (count > clock->count) {
        clock->at = checker_memory(clock->at, count * sizeof *clock->at);
        memset(clock->at + clock->count, 0, (count - clock->count) * sizeof *clock->at);
        clock->count = count;
    }
}

void vector_clock_raise(vector_clock_t *clock, uint32_t slot, uint64_t number) {
    grow(clock, slot + 1);
    if (clock->at[slot] < number) {
        clock->at[slot] = number;
    }
}

void vector_clock_join(vector_clock_t *clock, const vector_clock_t *other) {
    grow(clock, other->count);
    for (uint32_t slot = 0; slot < other->count; ++slot) {
        if (clock->at[slot] < other->at[slot]) {
            clock->at[slot] = other->at[slot];
        }
    }
}

void vector_clock_copy(vector_clock_t *clock, const vector_clock_t *other) {
    if (clock->count > 0) {
        memset(clock->at, 0, clock->count * sizeof *clock->at);
    }
    vector_clock_join(clock, other);
}

void vector_clock_clear(vector_clock_t *clock) {
    free(clock->at);
    *clock = (vector_clock_t){0};
}

bool vector_clock_covers(const vector_clock_t *clock, uint32_t slot, uint64_t number) {
    return slot < clock->count && clock->at[slot] >= number;
}

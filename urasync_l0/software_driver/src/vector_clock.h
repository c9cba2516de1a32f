// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks: for each slot (the host, and each worker) the number of its last step that is
// known to come before. The caller locks. Without memory for one the process ends, with a message:
// a checker that forgot something would accuse or absolve at random.

#ifndef URASYNC_VECTOR_CLOCK_H
#define URASYNC_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct vector_clock {
    uint32_t count; // slots beyond have 0
    uint64_t *at;
} vector_clock_t;

void vector_clock_raise(vector_clock_t *clock, uint32_t slot, uint64_t number);
void vector_clock_join(vector_clock_t *clock, const vector_clock_t *other);
void vector_clock_copy(vector_clock_t *clock, const vector_clock_t *other);
void vector_clock_clear(vector_clock_t *clock);
bool vector_clock_covers(const vector_clock_t *clock, uint32_t slot, uint64_t number);

// Memory that the checker cannot do without.
void *checker_memory(void *old, size_t size);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who touched which bytes last, for the checker: of every byte the last write, and the last read of
// each slot since. The caller locks.

#ifndef URASYNC_ACCESS_MAP_H
#define URASYNC_ACCESS_MAP_H

#include "entry.h"
#include "range_map.h"
#include "vector_clock.h"

// One step of a slot: a command, or a call of the host.
typedef struct step {
    uint32_t references;
    uint32_t slot;
    uint64_t number; // among the steps of its slot
    entry_t entry;
    uint64_t list;  // handle of its command list or queue; 0 of the host's
    uint64_t place; // in the list, from 1
} step_t;

step_t *step_create(uint32_t slot, uint64_t number, entry_t entry, uint64_t list, uint64_t place);
step_t *step_retain(step_t *step);
void step_release(step_t *step);

// The last steps that touched something: bytes, or an event.
typedef struct accesses {
    step_t *write; // NULL: none that anybody remembers
    step_t **reads;
    uint32_t read_count;
} accesses_t;

void accesses_note_write(accesses_t *accesses, step_t *step); // and forget everything before
void accesses_note_read(accesses_t *accesses, step_t *step);
void accesses_clear(accesses_t *accesses);
// A step that `clock` does not come after: the write, or, for who writes, a read. NULL if none.
const step_t *accesses_unordered(const accesses_t *accesses, const vector_clock_t *clock,
                                 bool writes);

typedef struct access_map {
    range_map_t ranges;
    size_t count;
} access_map_t;

typedef struct conflict {
    bool found;
    step_t other; // a copy
    bool other_writes;
    uintptr_t base; // the bytes in question
    size_t size;
} conflict_t;

// Notes that a step whose clock is given touches bytes; returns the first conflict.
conflict_t access_map_touch(access_map_t *map, uintptr_t base, size_t size, bool writes,
                            step_t *step, const vector_clock_t *clock);
// Forgets bytes that go back to the system; returns the first step that `clock` does not cover.
conflict_t access_map_forget(access_map_t *map, uintptr_t base, size_t size,
                             const vector_clock_t *clock);
// Forgets what `clock` covers wholly: nobody who begins later can be in conflict with it.
void access_map_sweep(access_map_t *map, const vector_clock_t *clock);

#endif

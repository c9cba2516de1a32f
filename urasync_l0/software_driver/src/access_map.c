// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "access_map.h"

#include <stdlib.h>

// --- Steps --------------------------------------------------------------------------------------

step_t *step_create(uint32_t slot, uint64_t number, entry_t entry, uint64_t list, uint64_t place) {
    step_t *step = checker_memory(NULL, sizeof *step);
    *step = (step_t){.references = 1,
                     .slot = slot,
                     .number = number,
                     .entry = entry,
                     .list = list,
                     .place = place};
    return step;
}

step_t *step_retain(step_t *step) {
    ++step->references;
    return step;
}

void step_release(step_t *step) {
    if (step != NULL && --step->references == 0) {
        free(step);
    }
}

// --- Accesses -----------------------------------------------------------------------------------

void accesses_clear(accesses_t *accesses) {
    step_release(accesses->write);
    for (uint32_t i = 0; i < accesses->read_count; ++i) {
        step_release(accesses->reads[i]);
    }
    free(accesses->reads);
    *accesses = (accesses_t){0};
}

void accesses_note_write(accesses_t *accesses, step_t *step) {
    step_retain(step);
    accesses_clear(accesses);
    accesses->write = step;
}

// Of one slot the last read is enough: whoever comes after it comes after those before.
void accesses_note_read(accesses_t *accesses, step_t *step) {
    step_retain(step);
    for (uint32_t i = 0; i < accesses->read_count; ++i) {
        if (accesses->reads[i]->slot == step->slot) {
            step_release(accesses->reads[i]);
            accesses->reads[i] = step;
            return;
        }
    }
    accesses->reads =
        checker_memory(accesses->reads, (accesses->read_count + 1) * sizeof(*accesses->reads));
    accesses->reads[accesses->read_count++] = step;
}

static bool covers(const vector_clock_t *clock, const step_t *step) {
    return vector_clock_covers(clock, step->slot, step->number);
}

const step_t *accesses_unordered(const accesses_t *accesses, const vector_clock_t *clock,
                                 bool writes) {
    if (accesses->write != NULL && !covers(clock, accesses->write)) {
        return accesses->write;
    }
    for (uint32_t i = 0; writes && i < accesses->read_count; ++i) {
        if (!covers(clock, accesses->reads[i])) {
            return accesses->reads[i];
        }
    }
    return NULL;
}

// --- Ranges -------------------------------------------------------------------------------------

typedef struct stretch {
    range_node_t range;
    accesses_t accesses;
} stretch_t;

static stretch_t *add_stretch(access_map_t *map, uintptr_t base, size_t size) {
    stretch_t *stretch = checker_memory(NULL, sizeof *stretch);
    *stretch = (stretch_t){.range = {.base = base, .size = size}};
    range_map_insert(&map->ranges, &stretch->range);
    ++map->count;
    return stretch;
}

static void remove_stretch(access_map_t *map, stretch_t *stretch) {
    range_map_remove(&map->ranges, &stretch->range);
    accesses_clear(&stretch->accesses);
    free(stretch);
    --map->count;
}

// Makes a border at `address`: the stretch around it becomes two.
static void cut(access_map_t *map, uintptr_t address) {
    stretch_t *whole = (stretch_t *)range_map_find(&map->ranges, address);
    if (whole == NULL || whole->range.base == address) {
        return;
    }
    const size_t kept = address - whole->range.base;
    stretch_t *rest = add_stretch(map, address, 0);
    rest->range.size = whole->range.size - kept;
    whole->range.size = kept;
    if (whole->accesses.write != NULL) {
        rest->accesses.write = step_retain(whole->accesses.write);
    }
    for (uint32_t i = 0; i < whole->accesses.read_count; ++i) {
        accesses_note_read(&rest->accesses, whole->accesses.reads[i]);
    }
}

// The first conflict is told; one fault is enough to look for.
static void note_conflict(conflict_t *conflict, const stretch_t *stretch,
                          const vector_clock_t *clock, bool writes) {
    const step_t *other = accesses_unordered(&stretch->accesses, clock, writes);
    if (other != NULL && !conflict->found) {
        *conflict = (conflict_t){.found = true,
                                 .other = *other,
                                 .other_writes = other == stretch->accesses.write,
                                 .base = stretch->range.base,
                                 .size = stretch->range.size};
    }
}

conflict_t access_map_touch(access_map_t *map, uintptr_t base, size_t size, bool writes,
                            step_t *step, const vector_clock_t *clock) {
    conflict_t conflict = {0};
    const uintptr_t end = base + size;
    stretch_t *first = NULL;
    cut(map, base);
    cut(map, end);
    for (uintptr_t at = base; at < end;) {
        stretch_t *stretch = (stretch_t *)range_map_first(&map->ranges, at, end - at);
        if (stretch == NULL || stretch->range.base > at) {
            const uintptr_t next = stretch == NULL ? end : stretch->range.base;
            stretch = add_stretch(map, at, next - at);
        }
        at = stretch->range.base + stretch->range.size;
        note_conflict(&conflict, stretch, clock, writes);
        if (!writes) {
            accesses_note_read(&stretch->accesses, step);
        } else if (first == NULL) {
            first = stretch;
            accesses_note_write(&first->accesses, step);
        } else { // all was written by one step now, so it is one stretch
            remove_stretch(map, stretch);
            first->range.size = at - base;
        }
    }
    return conflict;
}

conflict_t access_map_forget(access_map_t *map, uintptr_t base, size_t size,
                             const vector_clock_t *clock) {
    conflict_t conflict = {0};
    cut(map, base);
    cut(map, base + size);
    stretch_t *stretch;
    while ((stretch = (stretch_t *)range_map_first(&map->ranges, base, size)) != NULL) {
        note_conflict(&conflict, stretch, clock, true);
        remove_stretch(map, stretch);
    }
    return conflict;
}

void access_map_sweep(access_map_t *map, const vector_clock_t *clock) {
    for (uintptr_t at = 0;;) {
        stretch_t *stretch = (stretch_t *)range_map_first(&map->ranges, at, UINTPTR_MAX - at);
        if (stretch == NULL) {
            return;
        }
        at = stretch->range.base + stretch->range.size;
        if (accesses_unordered(&stretch->accesses, clock, true) == NULL) {
            remove_stretch(map, stretch);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of the entries, and what each does first: count its call, maybe fail.

#ifndef URASYNC_ENTRY_H
#define URASYNC_ENTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "level_zero.h"

#define ENTRY_NUMBER(table, minor, field, name) ENTRY_##name,
typedef enum entry {
#define URASYNC_IMPLEMENTED ENTRY_NUMBER
#define URASYNC_NOT_IMPLEMENTED ENTRY_NUMBER
#define URASYNC_EXTENSION(name) ENTRY_##name,
#include "entries.h"
    ENTRY_COUNT,
    ENTRY_NONE = ENTRY_COUNT
} entry_t;
#undef ENTRY_NUMBER

// Why an entry may do something else than its work.
enum { ENTRY_HIDDEN = 1, ENTRY_MAY_FAIL = 2, ENTRY_MAY_BE_SLOW = 4 };

typedef struct entry_state {
    _Atomic uint64_t calls;
    _Atomic uint32_t special;
} entry_state_t;

extern entry_state_t entry_states[ENTRY_COUNT];

const char *entry_name(entry_t entry);
bool entry_is_implemented(entry_t entry);
entry_t entry_find(const char *name); // ENTRY_NONE when there is none
// The long way of ENTER: hidden, or perhaps planned to be slow or to fail.
ze_result_t entry_special(entry_t entry);
ze_result_t entry_not_implemented(entry_t entry);

// failure.c: the planned result of this call; SUCCESS when none applies.
ze_result_t failure_of_call(entry_t entry);

// slow_call.c: takes the time that was planned for this call, if any was.
void slow_call_wait(entry_t entry);

static inline ze_result_t entry_begin(entry_t entry) {
    entry_state_t *state = &entry_states[entry];
    atomic_fetch_add_explicit(&state->calls, 1, memory_order_relaxed);
    if (atomic_load_explicit(&state->special, memory_order_relaxed) != 0) {
        return entry_special(entry);
    }
    return ZE_RESULT_SUCCESS;
}

// The first line of every entry.
#define ENTER(name)                                                                                \
    const entry_t this_entry = ENTRY_##name;                                                       \
    const ze_result_t begin_ = entry_begin(this_entry);                                            \
    if (begin_ != ZE_RESULT_SUCCESS) {                                                             \
        return begin_;                                                                             \
    }

#endif

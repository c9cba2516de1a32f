// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the entries, and the answers of those that are hidden or not implemented.

#include <stdio.h>
#include <string.h>

#include "internal.h"

typedef struct entry_row {
    const char *name;
    bool implemented;
} entry_row_t;

static const entry_row_t rows[ENTRY_COUNT] = {
#define URASYNC_IMPLEMENTED(table, minor, field, name) [ENTRY_##name] = {#name, true},
#define URASYNC_NOT_IMPLEMENTED(table, minor, field, name) [ENTRY_##name] = {#name, false},
#define URASYNC_EXTENSION(name) [ENTRY_##name] = {#name, true},
#include "entries.h"
};

entry_state_t entry_states[ENTRY_COUNT];

// Which entries have already said that they are not implemented.
static atomic_bool told[ENTRY_COUNT];

const char *entry_name(entry_t entry) { return entry < ENTRY_COUNT ? rows[entry].name : NULL; }

bool entry_is_implemented(entry_t entry) { return entry < ENTRY_COUNT && rows[entry].implemented; }

entry_t entry_find(const char *name) {
    for (entry_t entry = 0; entry < ENTRY_COUNT; ++entry) {
        if (strcmp(rows[entry].name, name) == 0) {
            return entry;
        }
    }
    return ENTRY_NONE;
}

ze_result_t entry_special(entry_t entry) {
    const uint32_t special = atomic_load(&entry_states[entry].special);
    if ((special & ENTRY_MAY_BE_SLOW) != 0) {
        slow_call_wait(entry);
    }
    if ((special & ENTRY_MAY_FAIL) != 0) {
        const ze_result_t planned = failure_of_call(entry);
        if (planned != ZE_RESULT_SUCCESS) {
            return planned;
        }
    }
    return (special & ENTRY_HIDDEN) != 0 ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : ZE_RESULT_SUCCESS;
}

ze_result_t entry_not_implemented(entry_t entry) {
    const ze_result_t begin = entry_begin(entry);
    if (begin != ZE_RESULT_SUCCESS) {
        return begin;
    }
    if (!atomic_exchange(&told[entry], true)) {
        fprintf(stderr, "urasync software driver: %s is not implemented\n", rows[entry].name);
    }
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

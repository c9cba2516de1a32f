// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often each entry was called.

#include "internal.h"

uint32_t urasync_controls_version(void) { return 1; }

uint32_t urasync_entry_count(void) { return ENTRY_COUNT; }

const char *urasync_entry_name(uint32_t entry) { return entry_name((entry_t)entry); }

uint64_t urasync_entry_calls(uint32_t entry) {
    return entry < ENTRY_COUNT ? atomic_load(&entry_states[entry].calls) : 0;
}

int32_t urasync_entry_implemented(uint32_t entry) {
    return entry_is_implemented((entry_t)entry) ? 1 : 0;
}

uint64_t urasync_calls(const char *name) {
    const entry_t entry = name != NULL ? entry_find(name) : ENTRY_NONE;
    return entry != ENTRY_NONE ? atomic_load(&entry_states[entry].calls) : UINT64_MAX;
}

uint64_t urasync_total_calls(void) {
    uint64_t total = 0;
    for (entry_t entry = 0; entry < ENTRY_COUNT; ++entry) {
        total += atomic_load(&entry_states[entry].calls);
    }
    return total;
}

void urasync_reset_call_counts(void) {
    for (entry_t entry = 0; entry < ENTRY_COUNT; ++entry) {
        atomic_store(&entry_states[entry].calls, 0);
    }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses that went back: unmapped at once, or, while the checker is on, without access for a
// while, so that the system gives them to nobody else and a late use is known for what it is.

#include <stdlib.h>

#include "internal.h"

enum { MOST_RETIRED = 4096 };
#define MOST_BYTES ((uint64_t)1 << 40) // of addresses, of which there are 128 times as many

typedef struct retired {
    range_node_t range;
    struct retired *next;
} retired_t;

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static range_map_t ranges;
static retired_t *oldest = NULL;
static retired_t **end = &oldest;
static uint32_t count = 0;
static uint64_t bytes = 0;

static retired_t *take_oldest(void) {
    retired_t *gone = oldest;
    oldest = gone->next;
    if (oldest == NULL) {
        end = &oldest;
    }
    range_map_remove(&ranges, &gone->range);
    --count;
    bytes -= gone->range.size;
    return gone;
}

void memory_retire(uintptr_t base, size_t size) {
    retired_t *retired = checker_is_on ? calloc(1, sizeof *retired) : NULL;
    if (retired == NULL || !os_store_unmap((void *)base, size)) {
        os_memory_unmap((void *)base, size);
        free(retired);
        return;
    }
    os_mutex_lock(&mutex);
    retired->range = (range_node_t){.base = base, .size = size};
    range_map_insert(&ranges, &retired->range);
    *end = retired;
    end = &retired->next;
    ++count;
    bytes += size;
    while (count > MOST_RETIRED || bytes > MOST_BYTES) {
        retired_t *gone = take_oldest();
        os_memory_unmap((void *)gone->range.base, gone->range.size);
        free(gone);
    }
    os_mutex_unlock(&mutex);
}

bool memory_was_given(const void *address) {
    os_mutex_lock(&mutex);
    const bool given = range_map_find(&ranges, (uintptr_t)address) != NULL;
    os_mutex_unlock(&mutex);
    return given || address_is_reserved(address);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address ranges that do not overlap, found by any address inside. A treap; the caller locks.

#ifndef URASYNC_RANGE_MAP_H
#define URASYNC_RANGE_MAP_H

#include <stddef.h>
#include <stdint.h>

// Embedded as the first member of what has a range.
typedef struct range_node {
    uintptr_t base;
    size_t size;
    uint32_t priority;
    struct range_node *left;
    struct range_node *right;
} range_node_t;

typedef struct range_map {
    range_node_t *root;
    uint32_t random; // 0 is a valid start
} range_map_t;

// Base and size of the node are set; its range overlaps no other.
void range_map_insert(range_map_t *map, range_node_t *node);
void range_map_remove(range_map_t *map, range_node_t *node);
// The range that contains the address, or NULL.
range_node_t *range_map_find(const range_map_t *map, uintptr_t address);
// The range with the lowest base that reaches into base .. base + size, or NULL.
range_node_t *range_map_first(const range_map_t *map, uintptr_t base, size_t size);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address ranges by base address: a binary search tree whose priorities, random, form a heap.

#include "range_map.h"

static uint32_t next_priority(range_map_t *map) {
    uint32_t x = map->random != 0 ? map->random : 2463534242u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    map->random = x;
    return x;
}

// Splits a tree into the ranges below `base` and the others.
static void split(range_node_t *tree, uintptr_t base, range_node_t **low, range_node_t **high) {
    while (tree != NULL) {
        if (tree->base < base) {
            *low = tree;
            low = &tree->right;
            tree = tree->right;
        } else {
            *high = tree;
            high = &tree->left;
            tree = tree->left;
        }
    }
    *low = NULL;
    *high = NULL;
}

void range_map_insert(range_map_t *map, range_node_t *node) {
    node->priority = next_priority(map);
    range_node_t **place = &map->root;
    while (*place != NULL && (*place)->priority >= node->priority) {
        place = node->base < (*place)->base ? &(*place)->left : &(*place)->right;
    }
    split(*place, node->base, &node->left, &node->right);
    *place = node;
}

void range_map_remove(range_map_t *map, range_node_t *node) {
    range_node_t **place = &map->root;
    while (*place != node) {
        place = node->base < (*place)->base ? &(*place)->left : &(*place)->right;
    }
    range_node_t *low = node->left;
    range_node_t *high = node->right;
    while (low != NULL && high != NULL) {
        if (low->priority >= high->priority) {
            *place = low;
            place = &low->right;
            low = low->right;
        } else {
            *place = high;
            place = &high->left;
            high = high->left;
        }
    }
    *place = low != NULL ? low : high;
}

range_node_t *range_map_find(const range_map_t *map, uintptr_t address) {
    range_node_t *node = map->root;
    while (node != NULL) {
        if (address < node->base) {
            node = node->left;
        } else if (address - node->base >= node->size) {
            node = node->right;
        } else {
            return node;
        }
    }
    return NULL;
}

range_node_t *range_map_first(const range_map_t *map, uintptr_t base, size_t size) {
    range_node_t *node = map->root;
    range_node_t *found = NULL;
    while (node != NULL) {
        if (base < node->base || base - node->base < node->size) { // ends after base
            found = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    if (found != NULL && found->base > base && found->base - base >= size) {
        return NULL;
    }
    return found;
}

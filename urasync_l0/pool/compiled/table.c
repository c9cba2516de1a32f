// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash table with open addressing. A removed entry leaves no trace: those behind it move up.

#include "structure.h"

enum { FIRST_CAPACITY = 16 };

static size_t home(const struct table *table, uint64_t key) {
    // Addresses and sizes are multiples of 256 and more: their low bits tell nothing.
    uint64_t mixed = (key >> 8) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 32) & (table->capacity - 1);
}

static struct table_slot *find(const struct table *table, uint64_t key) {
    size_t place = home(table, key);
    while (table->slots[place].value != NULL && table->slots[place].key != key) {
        place = (place + 1) & (table->capacity - 1);
    }
    return &table->slots[place];
}

void *table_get(const struct table *table, uint64_t key) {
    return table->count == 0 ? NULL : find(table, key)->value;
}

static int grow(struct table *table) {
    struct table larger = {.capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY,
                           .count = table->count};
    larger.slots = PyMem_Calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].value != NULL) {
            *find(&larger, table->slots[i].key) = table->slots[i];
        }
    }
    PyMem_Free(table->slots);
    *table = larger;
    return 0;
}

int table_put(struct table *table, uint64_t key, void *value) {
    if (3 * (table->count + 1) > 2 * table->capacity && grow(table) < 0) {
        return -1;
    }
    struct table_slot *slot = find(table, key);
    table->count += slot->value == NULL;
    *slot = (struct table_slot){key, value};
    return 0;
}

void *table_pop(struct table *table, uint64_t key) {
    if (table->count == 0) {
        return NULL;
    }
    struct table_slot *slot = find(table, key);
    void *value = slot->value;
    if (value == NULL) {
        return NULL;
    }
    table->count--;
    size_t mask = table->capacity - 1;
    size_t gap = (size_t)(slot - table->slots);
    for (size_t place = (gap + 1) & mask; table->slots[place].value != NULL;
         place = (place + 1) & mask) {
        // An entry may move into the gap unless that lies before the place where it belongs.
        size_t distance = (place - home(table, table->slots[place].key)) & mask;
        if (distance >= ((place - gap) & mask)) {
            table->slots[gap] = table->slots[place];
            gap = place;
        }
    }
    table->slots[gap].value = NULL;
    return value;
}

void table_free(struct table *table) {
    PyMem_Free(table->slots);
    *table = (struct table){0};
}

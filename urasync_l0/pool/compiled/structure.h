// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner structure of the pool core in C: blocks, the index of runs by size, the runs of a
// queue, and the part of a heap that every allocation and free passes. The Python classes of the
// same names (block.py, size_index.py, run_index.py, tally.py, heap_blocks.py) are the reference:
// each function here does what the method of its name does there, which is where the reasons stand.
// Tests run both against each other.
//
// All of it is guarded by the lock of the pool, as there. What runs out of the host's memory raises
// MemoryError and may leave a heap half changed, as there.

#ifndef URASYNC_POOL_STRUCTURE_H
#define URASYNC_POOL_STRUCTURE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum state { IN_USE = 0, PENDING = 1, IDLE = 2, EDGE = 3, STATES = 4 };
enum reuse { REUSE_IDLE = 0, REUSE_OWN = 1, REUSE_CLOCK = 2, REUSES = 3 };

typedef struct block block;
struct block {
    PyObject ob_base;
    PyObject *heap;
    PyObject *order; // None unless pending
    PyObject *views; // a tuple of run_index; NULL is the empty one
    PyObject *undo;  // None, or what an allocation changed
    block *previous;
    block *next;
    uint64_t address;
    uint64_t size;
    uint64_t requested;
    uint64_t stamp;
    uint64_t age;
    uint64_t born;
    uint64_t owner;
    enum state state;
};

// -- tables -----------------------------------------------------------------------------------

// A hash table from numbers to pointers; NULL is no value.
struct table_slot {
    uint64_t key;
    void *value;
};
struct table {
    struct table_slot *slots;
    size_t capacity; // a power of two, or 0
    size_t count;
};

void *table_get(const struct table *table, uint64_t key);
int table_put(struct table *table, uint64_t key, void *value);
void *table_pop(struct table *table, uint64_t key);
void table_free(struct table *table);

// -- runs by size -----------------------------------------------------------------------------

enum { BY_SIZE = 0, BY_CLASS = 1, PLACES = 2 };

struct bin;
struct run {
    uint64_t start;
    uint64_t end;
    block *first;
    struct bin *bin;
    uint32_t place[PLACES]; // where it stands in the heaps of its bin and of its class
};

struct run_heap {
    struct run **items; // the lowest address first
    uint32_t count;
    uint32_t capacity;
};

struct bin {
    uint64_t size;
    unsigned number; // of its class
    struct run_heap runs;
};

struct size_class {
    struct run_heap runs;
    struct bin **bins; // by size, also such as are empty just now
    uint32_t count;
    uint32_t capacity;
};

enum { MANTISSA_BITS = 3, PER_OCTAVE = 1 << MANTISSA_BITS, OCTAVES = 48 };
enum { CLASSES = OCTAVES * PER_OCTAVE };

typedef struct {
    PyObject ob_base;
    bool lowest;
    Py_ssize_t count;
    struct table starts; // run by its first address
    struct table bins;   // bin by its size
    struct size_class *classes[CLASSES];
    uint64_t octaves[OCTAVES]; // the lowest address of each
    uint64_t present;          // bit by octave: whether it has a run
} size_index;

size_index *new_size_index(bool lowest);
struct run *index_at(const size_index *index, uint64_t start);
struct run *index_insert(size_index *index, uint64_t start, uint64_t end, block *first);
int index_enter(size_index *index, struct run *run);
void index_withdraw(size_index *index, struct run *run);
block *index_erase(size_index *index, struct run *run);
struct run *index_find(size_index *index, uint64_t size, uint64_t *rank);

// -- the runs of a queue ----------------------------------------------------------------------

typedef struct {
    PyObject ob_base;
    PyObject *order;
    PyObject *pending; // dict: blocks freed by the queue, oldest first
    PyObject *clock;
    PyObject *alone; // the tuple of just this view, NULL until it is needed
    size_index *sizes;
    struct table ends; // run by the address after its last
    uint64_t newest_stamp;
    uint64_t unmarked_frees;
    uint64_t unmarked_bytes;
} run_index;

run_index *new_run_index(PyObject *order, bool lowest);
int view_add(run_index *view, block *part);
int view_remove(run_index *view, block *part);
int view_enter(run_index *view, block *part);
int view_leave(run_index *view, block *part);

static inline bool is_among(PyObject *views, const run_index *view) {
    if (views != NULL) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(views); i++) {
            if (PyTuple_GET_ITEM(views, i) == (const PyObject *)view) {
                return true;
            }
        }
    }
    return false;
}

static inline Py_ssize_t view_count(PyObject *views) {
    return views == NULL ? 0 : PyTuple_GET_SIZE(views);
}

static inline run_index *view_at(PyObject *views, Py_ssize_t position) {
    return (run_index *)PyTuple_GET_ITEM(views, position);
}

// -- numbers ----------------------------------------------------------------------------------

typedef struct {
    PyObject ob_base;
    int64_t used;
    int64_t used_high;
    int64_t requested;
    int64_t births;
    int64_t allocations;
    int64_t frees;
    int64_t reused[REUSES];
} tally;

void tally_handed_out(tally *numbers, block *given, uint64_t requested);
void tally_taken_back(tally *numbers, const block *freed);

// -- a heap -----------------------------------------------------------------------------------

typedef struct {
    PyObject ob_base;
    PyObject *pool;
    PyObject *key;
    PyObject *segments;
    PyObject *views; // dict: run_index by order
    size_index *idle;
    int64_t used_bytes;
    int64_t pending_bytes;
    int64_t idle_bytes;
    uint64_t frees;
    enum reuse last_reuse;
    char one_range;
    char whole;
    char crowded;
} heap_blocks;

block *new_block(PyObject *heap, uint64_t address, uint64_t size, enum state state);

// Replace a strong reference. What the old one held may run a destructor, so it goes last.
static inline void replace(PyObject **place, PyObject *value) {
    PyObject *old = *place;
    *place = Py_NewRef(value);
    Py_XDECREF(old);
}

static inline void link_previous(block *of, block *previous) {
    block *old = of->previous;
    of->previous = (block *)Py_NewRef((PyObject *)previous);
    Py_XDECREF((PyObject *)old);
}

static inline void link_next(block *of, block *next) {
    block *old = of->next;
    of->next = (block *)Py_NewRef((PyObject *)next);
    Py_XDECREF((PyObject *)old);
}

// -- the module -------------------------------------------------------------------------------

extern PyTypeObject block_type;
extern PyTypeObject size_index_type;
extern PyTypeObject run_index_type;
extern PyTypeObject heap_blocks_type;
extern PyTypeObject tally_type;

// Objects of Python modules, fetched when this module is loaded; they live as long as the process.
struct known {
    PyObject *states[STATES]; // the members of BlockState
    PyObject *reuses[REUSES]; // the members of Reuse
    PyObject *piece;          // the class Piece
    PyObject *nothing;        // the empty clock
    PyObject *completed;      // names of attributes and methods
    PyObject *id;
    PyObject *pieces;
    PyObject *reversed;
};
extern struct known known;

#endif

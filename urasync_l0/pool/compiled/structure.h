// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner structure of the pool core in C: blocks, the index of runs by size, the runs of a
// queue, the part of a heap that every allocation and free passes, and the front of pools and
// queues, where the usual ones are done at once. The Python classes of the same names (block.py,
// size_index.py, run_index.py, tally.py, heap_blocks.py, fields.py, pool_front.py, held_block.py,
// held_signal.py, list_front.py, queue_front.py), and `Search.mark` of search.py, are the
// reference: each function here does what the method of its name does there, which is where the
// reasons stand. Tests run both against each other.
//
// All of it is guarded by the lock of the pool, as there. What runs out of the host's memory raises
// MemoryError and may leave a heap half changed, as there.

#ifndef URASYNC_POOL_STRUCTURE_H
#define URASYNC_POOL_STRUCTURE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum state { IN_USE = 0, PENDING = 1, IDLE = 2, EDGE = 3, STATES = 4 };
// The completed mark of a closed queue.
static const uint64_t EVERYTHING = UINT64_C(1) << 63;

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
    uint8_t filled[OCTAVES];   // of each, bit by class: whether it has a run
    struct run *spare;         // unused, or NULL
} size_index;

size_index *new_size_index(bool lowest);
struct run *index_at(const size_index *index, uint64_t start);
struct run *index_insert(size_index *index, uint64_t start, uint64_t end, block *first);
int index_enter(size_index *index, struct run *run);
void index_withdraw(size_index *index, struct run *run);
block *index_erase(size_index *index, struct run *run);
// Free a run that is in no table any more, and whose first block is nobody's.
void index_forget(size_index *index, struct run *run);
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
    uint64_t cut; // the end of what was cut out last
} run_index;

run_index *new_run_index(PyObject *order, bool lowest);
int view_add(run_index *view, block *part);
int view_remove(run_index *view, block *part);
// Take what lies between two addresses, the higher that of `after`, out of a block's run.
int view_cut(run_index *view, const block *part, uint64_t low, uint64_t high, block *after);
int view_enter(run_index *view, block *part);
int view_leave(run_index *view, block *part);
// Let a pending block be no part any more of one view's runs.
int view_leave_for_good(run_index *view, block *part);

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
    run_index *recent; // the view that was asked for last, or NULL
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
// Whether heap_hand_out would find memory; -1 with an error.
int heap_has(heap_blocks *heap, PyObject *order, PyObject *clock, uint64_t requested);
PyObject *heap_hand_out(heap_blocks *heap, PyObject *order, PyObject *clock, uint64_t requested,
                        tally *numbers);
int heap_take_back(heap_blocks *heap, block *freed, PyObject *order, uint64_t stamp,
                   tally *numbers);
// Enter an idle block into the index and into the runs that it touches.
int heap_offer(heap_blocks *heap, block *idle);
// Take an idle block out of the index; it stays in its runs.
int heap_withdraw(heap_blocks *heap, const block *idle);
// Make pending blocks whose queue has passed their stamp idle.
int heap_note_completion(heap_blocks *heap);
// Whether a queue with pending frees should get a marker.
bool heap_is_crowded_by(const heap_blocks *heap, const run_index *view);

// -- queues, contexts and the registry, as far as every call reads them -----------------------

typedef struct {
    PyObject ob_base;
    PyObject *clock;
    PyObject *domain;     // NULL, or a domain_fields
    PyObject *lock;       // NULL, or a lock
    PyObject *operations; // NULL, or what can be asked of the queue's list
    PyObject *markers;    // NULL, or a list
    uint64_t id;
    uint64_t sequence;
    uint64_t completed;
} order_fields;

typedef struct {
    PyObject ob_base;
    PyObject *order;
    PyObject *clock;
    uint64_t number;
} mark_fields;

typedef struct {
    PyObject ob_base;
    PyObject *lock; // NULL, or a lock
    uint64_t epoch;
    _Atomic int64_t held_signals;
} domain_fields;

typedef struct {
    PyObject ob_base;
    PyObject *live;
    PyObject *observer;
} registry_fields;

typedef struct {
    PyObject ob_base;
    PyObject *pool;
} current_fields;

// These also read objects of the classes in Python. They return new references.
int order_id(PyObject *order, uint64_t *id);
int order_sequence(PyObject *order, uint64_t *sequence);
int order_completed(PyObject *order, uint64_t *completed);
int domain_epoch(PyObject *domain, uint64_t *epoch);
PyObject *order_clock(PyObject *order);
// The number that a clock has for an order; 0 without one.
int clock_number(PyObject *clock, PyObject *order, uint64_t *number);
PyObject *current_pool(PyObject *current);
PyObject *registry_live(PyObject *registry);
PyObject *registry_observer(PyObject *registry);

// -- pools ------------------------------------------------------------------------------------

typedef struct {
    PyObject ob_base;
    PyThread_type_lock native;
    int waiting;    // threads
    char is_called; // one of them
    char is_locked;
} lock;

void lock_acquire(lock *this);
void lock_release(lock *this);

typedef struct {
    PyObject ob_base;
    PyObject *lock;
    PyObject *domain;
    PyObject *registry;
    PyObject *tally;
    PyObject *usual; // dict: a heap and its largest request, by key
    uint64_t epoch;
    uint64_t limit;
    char by_clock;
    char by_polling;
    char is_closed;
} pool_front;

// Place and query markers if a request that the pool serves finds its heap crowded; -1 with an
// error. The caller holds no lock.
int pool_mark_if_crowded(pool_front *pool, PyObject *heap, uint64_t largest, uint64_t size);
// As Search.mark of search.py; leaves the heap crowded where the reference has to do it.
int pool_mark(pool_front *pool, heap_blocks *heap);

// Whether pool_take_at_once would find memory now; -1 with an error.
int pool_has_at_once(pool_front *pool, PyObject *heap, uint64_t largest, PyObject *order,
                     uint64_t size);
PyObject *pool_usual(pool_front *pool, PyObject *key, uint64_t *largest);
PyObject *pool_take_at_once(pool_front *pool, PyObject *heap, uint64_t largest, PyObject *order,
                            uint64_t size, PyObject **address);
int pool_free(pool_front *pool, block *freed, PyObject *order, uint64_t stamp);
pool_front *pool_of(const block *given);

// -- what users hold --------------------------------------------------------------------------

typedef struct {
    PyObject ob_base;
    PyObject *block;
    PyObject *order;
    uint64_t born;
} dropped_block;

typedef struct {
    PyObject ob_base;
    block *block;
    PyObject *dropped;
    PyObject *order;
    PyObject *ptr;
    PyObject *nbytes;
    PyObject *queue;
    PyObject *kind;
    PyObject *pool;
    PyObject *event;
    uint64_t born;
    char is_noted; // nothing is left to do when it is dropped
} held_block;

struct holding {
    block *block;
    PyObject *address, *nbytes, *dropped, *order, *queue, *kind, *pool, *event;
};
PyObject *hold_block(PyTypeObject *type, const struct holding *what);

// -- signals ----------------------------------------------------------------------------------

typedef struct native_signal {
    PyObject ob_base;
    PyObject *mark;              // NULL before the first signal
    struct native_signal *first; // held; or NULL
    PyObject *returned;          // a list, or NULL
    PyObject *waiters;           // dict: the number of a queue's last wait by its order; or NULL
    uint64_t value;
    _Atomic uint32_t holders;
    char is_new;
    char is_unseen;
} native_signal;

void signal_take(native_signal *this);
bool signal_hold(native_signal *this);
int signal_release(native_signal *this);

typedef struct {
    PyObject ob_base;
    native_signal *signal; // NULL once it is released
    PyObject *mark;
    PyObject *domain; // a domain_fields
    PyObject *dropped;
    PyObject *queue;
    PyObject *context;
    PyObject *command;
} held_signal;

struct signalling {
    PyObject *domain, *dropped, *queue, *context, *command;
};
// Takes over the caller's hold of the signal, if it succeeds.
PyObject *hold_signal(PyTypeObject *type, native_signal *given, const struct signalling *what);
int held_release(held_signal *held);

typedef struct {
    PyObject ob_base;
    PyObject *order;
    PyObject *mark_type;
    PyObject *ready;     // a list, or None
    native_signal *last; // held; or NULL
    uint64_t append;     // the addresses of functions
    uint64_t query;      // 0 where there is none
    uint64_t wait;       // likewise
    uint64_t value;
    char is_private;
    char is_plain;
    char is_closing;
} list_front;

// Whether list_signal may be asked.
bool list_can_signal(const list_front *list);
static inline lock *list_lock(const list_front *list) {
    return (lock *)((order_fields *)list->order)->lock;
}
// The number of a signal's mark; 0 of what is no signal in C that has one.
uint64_t signal_number(PyObject *of);
// The last signal, held, as a new reference; NULL if it does not cover the number. The caller holds
// the queue's lock.
native_signal *list_signal_from(list_front *list, uint64_t number);
// Whether list_signal would append nothing.
bool list_has_signal(const list_front *list);
// The signal of the queue's place, held, as a new reference: the last one, if no command came after
// it, or one that is appended. With `*code` it is one that the driver refused to append, and is for
// list_refuse, which raises. NULL without an error where the reference has to do it. The caller
// holds the queue's lock, and but for list_refuse keeps it.
native_signal *list_signal(list_front *list, uint32_t *code);
void list_refuse(list_front *list, native_signal *given, uint32_t code);
// As list_signal, or a signal that is appended in any case; what the driver refuses raises. Only
// where list_can_signal; the caller holds no lock.
native_signal *list_signal_at_once(list_front *list, bool of_its_own);

// Signals that a queue is to wait for, held, each with a mark.
enum { WAITS_AT_ONCE = 8 };
struct awaited {
    native_signal *signals[WAITS_AT_ONCE]; // references
    uint32_t count;
};
// Append one wait for all of them, and note it: 1. 0 where the reference has to do it, -1 with an
// error; nothing was appended then. The caller holds no lock.
int list_wait(list_front *list, const struct awaited *awaited);

// -- queues -----------------------------------------------------------------------------------

typedef struct {
    PyObject ob_base;
    PyObject *attention;
    PyObject *dropped;
    PyObject *event_type;
    PyObject *held_type;
    PyObject *notes;
    PyObject *registry;
    PyObject *routes;       // dict: route by kind
    PyObject *command_list; // NULL, or a list_front
    PyObject *context;
    PyObject *order;
} queue_front;

typedef struct {
    PyObject ob_base;
    PyObject *kind;
    PyObject *key;
    PyObject *current;
    PyObject *command;
    PyObject *pool; // NULL, or a weak reference to the pool that was found to serve it last
    PyObject *core; // of that pool
    PyObject *heap;
    uint64_t largest;
} route;

// An allocation, or the tuple of its address and its event or None; NULL without an error where the
// method in Python has to do it, as with the others.
PyObject *queue_allocate(queue_front *queue, PyObject *kind, PyObject *nbytes, PyObject *named,
                         bool is_held, bool with_event);
// The event, or None without one.
PyObject *queue_free(queue_front *queue, PyObject *target, bool with_event);
// An event, for a known command.
PyObject *queue_record(queue_front *queue, PyObject *command);
// Whether a wait for an event appends nothing, since the queue is behind it in any case; false also
// where only the method in Python knows.
bool queue_is_behind(queue_front *queue, PyObject *event);
// None, once the queue is behind each event of a list, a tuple or alone.
PyObject *queue_wait(queue_front *queue, PyObject *events);

// As PyObject_TypeCheck, of a class in C that has members: who inherits those has it among the
// first bases, whatever else it inherits.
static inline bool is_a(PyObject *object, const PyTypeObject *type) {
    const PyTypeObject *each = Py_TYPE(object);
    while (each != NULL && each != type) {
        each = each->tp_base;
    }
    return each != NULL;
}

// What makes a base class: subclasses take arguments of their own.
static inline PyObject *make_empty(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    (void)arguments;
    (void)named;
    return type->tp_alloc(type, 0);
}

// A member's value as a new reference; AttributeError before it is set.
static inline PyObject *member_value(PyObject *value, const char *name) {
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, name);
    }
    return Py_XNewRef(value);
}

// Call a method for what it does.
static inline int call_method(PyObject *of, PyObject *name) {
    PyObject *answer = PyObject_CallMethodNoArgs(of, name);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

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
extern PyTypeObject lock_type;
extern PyTypeObject mark_fields_type;
extern PyTypeObject order_fields_type;
extern PyTypeObject domain_fields_type;
extern PyTypeObject registry_fields_type;
extern PyTypeObject current_fields_type;
extern PyTypeObject pool_front_type;
extern PyTypeObject dropped_block_type;
extern PyTypeObject held_block_type;
extern PyTypeObject signal_type;
extern PyTypeObject held_signal_type;
extern PyTypeObject list_front_type;
extern PyTypeObject queue_front_type;
extern PyTypeObject route_type;
extern PyTypeObject at_once_type;

// Objects of Python modules, fetched when this module is loaded; they live as long as the process.
struct known {
    PyObject *states[STATES]; // the members of BlockState
    PyObject *reuses[REUSES]; // the members of Reuse
    PyObject *piece;          // the class Piece
    PyObject *nothing;        // the empty clock
    PyObject *usm_type;       // the enumeration UsmType
    PyObject *command_free;   // the Commands of a free and of a recorded event
    PyObject *command_record;
    PyObject *command_barrier;
    PyObject *ur_error; // classes
    PyObject *device_lost_error;
    // Names of attributes and methods.
    PyObject *allocated, *append, *asks, *clock, *complete, *completed, *context;
    PyObject *core, *device, *dropped_type, *epoch, *error, *event, *finish_if_closed, *freed;
    PyObject *id, *is_closing, *live, *loss, *marker_covering, *merge, *note_completion, *observer;
    PyObject *pieces, *pool, *prepares, *query, *refuse, *refuse_query, *refuse_wait, *release;
    PyObject *require, *reversed;
    PyObject *sequence, *source, *tell, *threads, *wait, *waiting;
};
extern struct known known;

#endif

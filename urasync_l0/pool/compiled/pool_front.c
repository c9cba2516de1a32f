// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocations and frees that take one look: pool_front.py.

#include "structure.h"

#include <structmember.h>

static int tell(PyObject *observer, PyObject *what, block *of, PyObject *order) {
    PyObject *answer = PyObject_CallMethodObjArgs(observer, what, (PyObject *)of, order, NULL);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

static int tell_if_any(pool_front *pool, PyObject *what, block *of, PyObject *order) {
    PyObject *observer = registry_observer(pool->registry);
    int status = observer == NULL ? -1 : 0;
    if (status == 0 && observer != Py_None) {
        status = tell(observer, what, of, order);
    }
    Py_XDECREF(observer);
    return status;
}

// -- allocate ---------------------------------------------------------------------------------

static PyObject *hand_out(pool_front *pool, PyObject *heap, PyObject *order, uint64_t size) {
    PyObject *clock = pool->by_clock ? order_clock(order) : Py_NewRef(known.nothing);
    if (clock == NULL) {
        return NULL;
    }
    PyObject *found = heap_hand_out((heap_blocks *)heap, order, clock, size, (tally *)pool->tally);
    Py_DECREF(clock);
    return found;
}

// The caller holds the lock.
static PyObject *take_locked(pool_front *pool, PyObject *heap, PyObject *order, uint64_t size) {
    uint64_t epoch;
    if (pool->is_closed) {
        Py_RETURN_NONE;
    }
    if (domain_epoch(pool->domain, &epoch) < 0 ||
        (epoch != pool->epoch && call_method((PyObject *)pool, known.note_completion) < 0)) {
        return NULL;
    }
    PyObject *found = hand_out(pool, heap, order, size);
    if (found == NULL || found == Py_None) {
        return found;
    }
    if (tell_if_any(pool, known.allocated, (block *)found, order) < 0) {
        Py_CLEAR(found);
    }
    return found;
}

static bool is_served(const pool_front *pool, uint64_t largest, uint64_t size) {
    return size != 0 && size <= largest && (pool->limit == 0 || size <= pool->limit);
}

int pool_mark_if_crowded(pool_front *pool, PyObject *heap, uint64_t largest, uint64_t size) {
    bool is_crowded = ((heap_blocks *)heap)->crowded;
    return is_crowded && is_served(pool, largest, size) ? pool_mark(pool, (heap_blocks *)heap) : 0;
}

static int has_locked(pool_front *pool, PyObject *heap, PyObject *order, uint64_t size) {
    uint64_t epoch;
    if (domain_epoch(pool->domain, &epoch) < 0 ||
        (epoch != pool->epoch && call_method((PyObject *)pool, known.note_completion) < 0)) {
        return -1;
    }
    PyObject *clock = pool->by_clock ? order_clock(order) : Py_NewRef(known.nothing);
    int status = clock == NULL ? -1 : heap_has((heap_blocks *)heap, order, clock, size);
    Py_XDECREF(clock);
    return status;
}

int pool_has_at_once(pool_front *pool, PyObject *heap, uint64_t largest, PyObject *order,
                     uint64_t size) {
    if (((heap_blocks *)heap)->crowded || !is_served(pool, largest, size)) {
        return 0;
    }
    lock_acquire((lock *)pool->lock);
    int status = pool->is_closed ? 0 : has_locked(pool, heap, order, size);
    lock_release((lock *)pool->lock);
    return status;
}

static int set_item(PyObject *of, PyObject *key, PyObject *value) {
    return PyDict_CheckExact(of) ? PyDict_SetItem(of, key, value)
                                 : PyObject_SetItem(of, key, value);
}

PyObject *pool_take_at_once(pool_front *pool, PyObject *heap, uint64_t largest, PyObject *order,
                            uint64_t size, PyObject **address) {
    if (((heap_blocks *)heap)->crowded || !is_served(pool, largest, size)) {
        Py_RETURN_NONE;
    }
    lock_acquire((lock *)pool->lock);
    PyObject *found = take_locked(pool, heap, order, size);
    lock_release((lock *)pool->lock);
    if (found == NULL || found == Py_None) {
        return found;
    }
    *address = PyLong_FromUnsignedLongLong(((block *)found)->address);
    PyObject *live = *address == NULL ? NULL : registry_live(pool->registry);
    if (live == NULL || set_item(live, *address, found) < 0) {
        Py_CLEAR(*address);
        Py_CLEAR(found);
    }
    Py_XDECREF(live);
    return found;
}

// The heap for a kind and device, borrowed, and the largest request; None if there is none.
PyObject *pool_usual(pool_front *pool, PyObject *key, uint64_t *largest) {
    PyObject *entry = PyDict_GetItemWithError(pool->usual, key);
    if (entry == NULL) {
        return PyErr_Occurred() ? NULL : Py_None;
    }
    if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != 2 ||
        !is_a(PyTuple_GET_ITEM(entry, 0), &heap_blocks_type)) {
        PyErr_SetString(PyExc_TypeError, "an entry of `usual` is a heap and a number of bytes");
        return NULL;
    }
    *largest = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(entry, 1));
    return *largest == UINT64_MAX && PyErr_Occurred() ? NULL : PyTuple_GET_ITEM(entry, 0);
}

// Every member is set when the pool is made; before, its methods do nothing.
static int require_made(pool_front *pool) {
    if (pool->lock == NULL || pool->domain == NULL || pool->registry == NULL ||
        pool->tally == NULL || pool->usual == NULL) {
        PyErr_SetString(PyExc_AttributeError, "the pool is not made yet");
        return -1;
    }
    return 0;
}

static PyObject *take_at_once(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    pool_front *pool = (pool_front *)self;
    uint64_t largest = 0;
    if (require_made(pool) < 0) {
        return NULL;
    }
    if (count != 3 || !PyLong_Check(given[2])) {
        PyErr_SetString(PyExc_TypeError, "take_at_once() takes an order, a key and a size");
        return NULL;
    }
    PyObject *heap = pool_usual(pool, given[1], &largest);
    if (heap == NULL || heap == Py_None) {
        return Py_XNewRef(heap);
    }
    // A negative size, or one of more than 64 bits, is larger than any that is served.
    uint64_t size = PyLong_AsUnsignedLongLong(given[2]);
    if (size == UINT64_MAX && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return NULL;
        }
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    PyObject *address = NULL;
    PyObject *found = pool_take_at_once(pool, heap, largest, given[0], size, &address);
    Py_XDECREF(address);
    return found;
}

// -- free -------------------------------------------------------------------------------------

static int free_locked(pool_front *pool, block *freed, PyObject *order, uint64_t stamp) {
    uint64_t completed;
    if (heap_take_back((heap_blocks *)freed->heap, freed, order, stamp, (tally *)pool->tally) < 0 ||
        tell_if_any(pool, known.freed, freed, order) < 0 ||
        order_completed(order, &completed) < 0) {
        return -1;
    }
    return completed >= EVERYTHING ? call_method((PyObject *)pool, known.note_completion) : 0;
}

int pool_free(pool_front *pool, block *freed, PyObject *order, uint64_t stamp) {
    lock_acquire((lock *)pool->lock);
    int status = free_locked(pool, freed, order, stamp);
    lock_release((lock *)pool->lock);
    if (status == 0 && pool->is_closed) {
        status = call_method((PyObject *)pool, known.finish_if_closed);
    }
    return status;
}

static PyObject *free_(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    pool_front *pool = (pool_front *)self;
    if (require_made(pool) < 0) {
        return NULL;
    }
    if (count != 3 || !Py_IS_TYPE(given[0], &block_type) || !PyLong_Check(given[2])) {
        PyErr_SetString(PyExc_TypeError, "free() takes a block, an order and a stamp");
        return NULL;
    }
    block *freed = (block *)given[0];
    if (freed->previous == NULL || freed->next == NULL || !is_a(freed->heap, &heap_blocks_type)) {
        PyErr_Format(PyExc_ValueError, "%R is not linked", given[0]);
        return NULL;
    }
    uint64_t stamp = PyLong_AsUnsignedLongLong(given[2]);
    if ((stamp == UINT64_MAX && PyErr_Occurred()) || pool_free(pool, freed, given[1], stamp) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

// -- the Python class -------------------------------------------------------------------------

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const pool_front *pool = (pool_front *)self;
    Py_VISIT(pool->lock);
    Py_VISIT(pool->domain);
    Py_VISIT(pool->registry);
    Py_VISIT(pool->tally);
    Py_VISIT(pool->usual);
    return 0;
}

static int clear(PyObject *self) {
    pool_front *pool = (pool_front *)self;
    Py_CLEAR(pool->lock);
    Py_CLEAR(pool->domain);
    Py_CLEAR(pool->registry);
    Py_CLEAR(pool->tally);
    Py_CLEAR(pool->usual);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_TYPE(self)->tp_free(self);
}

// What C relies on the type of is checked here, once.
#define CHECKED(member, type)                                                                      \
    static PyObject *get_##member(PyObject *self, void *closure) {                                 \
        (void)closure;                                                                             \
        return member_value(((pool_front *)self)->member, #member);                                \
    }                                                                                              \
    static int set_##member(PyObject *self, PyObject *value, void *closure) {                      \
        (void)closure;                                                                             \
        if (value == NULL || !Py_IS_TYPE(value, &type) || ((pool_front *)self)->member != NULL) {  \
            PyErr_SetString(PyExc_TypeError, "the " #member " of a pool is set once");             \
            return -1;                                                                             \
        }                                                                                          \
        ((pool_front *)self)->member = Py_NewRef(value);                                           \
        return 0;                                                                                  \
    }

CHECKED(lock, lock_type)
CHECKED(tally, tally_type)
CHECKED(usual, PyDict_Type)

static PyMethodDef methods[] = {
    {"take_at_once", (PyCFunction)(void (*)(void))take_at_once, METH_FASTCALL,
     "Hand out pooled memory if that takes one look, or None."},
    {"free", (PyCFunction)(void (*)(void))free_, METH_FASTCALL, "Take a block back."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"lock", get_lock, set_lock, "Guards the heaps and the numbers.", NULL},
    {"tally", get_tally, set_tally, "The numbers that move with every call.", NULL},
    {"usual", get_usual, set_usual, "The heaps, and their largest requests, by key.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"domain", T_OBJECT_EX, offsetof(pool_front, domain), 0, "The queues of the context."},
    {"registry", T_OBJECT_EX, offsetof(pool_front, registry), 0, "The pools of the context."},
    {"epoch", T_ULONGLONG, offsetof(pool_front, epoch), 0, "When completion was noted last."},
    {"limit", T_ULONGLONG, offsetof(pool_front, limit), 0, "Most bytes of driver memory, or 0."},
    {"by_polling", T_BOOL, offsetof(pool_front, by_polling), 0, "Whether queues are asked."},
    {"by_clock", T_BOOL, offsetof(pool_front, by_clock), 0, "Whether clocks are looked at."},
    {"is_closed", T_BOOL, offsetof(pool_front, is_closed), 0, "Whether it was destroyed."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject pool_front_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.PoolFront",
    .tp_basicsize = sizeof(pool_front),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "The part of a pool that every call passes, in C.",
    .tp_new = make_empty,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_members = members,
};

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block in the hands of a user's object, and what that leaves when it is dropped: held_block.py.

#include "structure.h"

#include <structmember.h>

// -- what is left to do -----------------------------------------------------------------------

static PyObject *make_dropped(PyTypeObject *type, PyObject *given, uint64_t born, PyObject *order) {
    dropped_block *made = (dropped_block *)type->tp_alloc(type, 0);
    if (made != NULL) {
        made->block = Py_NewRef(given);
        made->born = born;
        made->order = Py_NewRef(order);
    }
    return (PyObject *)made;
}

static PyObject *new_dropped(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"block", "born", "order", NULL};
    PyObject *given, *order;
    unsigned long long born;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!KO", names, &block_type, &given, &born,
                                     &order)) {
        return NULL;
    }
    return make_dropped(type, given, born, order);
}

static int traverse_dropped(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((dropped_block *)self)->block);
    Py_VISIT(((dropped_block *)self)->order);
    return 0;
}

static int clear_dropped(PyObject *self) {
    Py_CLEAR(((dropped_block *)self)->block);
    Py_CLEAR(((dropped_block *)self)->order);
    return 0;
}

static void dealloc_dropped(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_dropped(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef members_of_dropped[] = {
    {"block", T_OBJECT, offsetof(dropped_block, block), READONLY, "What is to be freed."},
    {"born", T_ULONGLONG, offsetof(dropped_block, born), READONLY, "Which use of it."},
    {"order", T_OBJECT, offsetof(dropped_block, order), READONLY, "That of its queue."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject dropped_block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.DroppedBlock",
    .tp_basicsize = sizeof(dropped_block),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A use of a block that nobody holds any more, in C.",
    .tp_new = new_dropped,
    .tp_traverse = traverse_dropped,
    .tp_clear = clear_dropped,
    .tp_dealloc = dealloc_dropped,
    .tp_members = members_of_dropped,
};

// -- the object that holds --------------------------------------------------------------------

PyObject *hold_block(PyTypeObject *type, const struct holding *what) {
    held_block *held = (held_block *)type->tp_alloc(type, 0);
    if (held == NULL) {
        return NULL;
    }
    held->block = (block *)Py_NewRef((PyObject *)what->block);
    held->born = what->block->born;
    held->ptr = Py_NewRef(what->address);
    held->nbytes = Py_NewRef(what->nbytes);
    held->dropped = Py_NewRef(what->dropped);
    held->order = Py_NewRef(what->order);
    held->queue = Py_NewRef(what->queue);
    held->kind = Py_NewRef(what->kind);
    held->pool = Py_NewRef(what->pool);
    held->event = Py_NewRef(what->event);
    return (PyObject *)held;
}

static PyObject *new_held(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    (void)arguments;
    (void)named;
    held_block *held = (held_block *)type->tp_alloc(type, 0);
    if (held != NULL) {
        held->is_noted = 1; // it holds nothing yet
    }
    return (PyObject *)held;
}

static int init_held(PyObject *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"block", "dropped", "order", "nbytes", "queue",
                            "kind",  "pool",    "event", NULL};
    held_block *held = (held_block *)self;
    PyObject *given, *dropped, *nbytes = NULL;
    PyObject *order = Py_None, *queue = Py_None, *kind = Py_None, *pool = Py_None;
    PyObject *event = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!O|OO!OOOO", names, &block_type, &given,
                                     &dropped, &order, &PyLong_Type, &nbytes, &queue, &kind, &pool,
                                     &event)) {
        return -1;
    }
    if (held->block != NULL) {
        PyErr_SetString(PyExc_TypeError, "it holds a block already");
        return -1;
    }
    held->ptr = PyLong_FromUnsignedLongLong(((block *)given)->address);
    held->nbytes = nbytes == NULL ? PyLong_FromLong(0) : Py_NewRef(nbytes);
    if (held->ptr == NULL || held->nbytes == NULL) {
        return -1;
    }
    held->block = (block *)Py_NewRef(given);
    held->born = ((block *)given)->born;
    held->dropped = Py_NewRef(dropped);
    held->order = Py_NewRef(order);
    held->queue = Py_NewRef(queue);
    held->kind = Py_NewRef(kind);
    held->pool = Py_NewRef(pool);
    held->event = Py_NewRef(event);
    held->is_noted = 0;
    return 0;
}

static PyObject *leave(PyObject *self, PyObject *unused) {
    (void)unused;
    held_block *held = (held_block *)self;
    if (held->block == NULL) {
        PyErr_SetString(PyExc_ValueError, "it holds no block");
        return NULL;
    }
    held->is_noted = 1;
    PyObject *type = PyObject_GetAttr((PyObject *)Py_TYPE(self), known.dropped_type);
    if (type == NULL) {
        return NULL;
    }
    PyObject *left = NULL;
    if (PyType_Check(type) && PyType_IsSubtype((PyTypeObject *)type, &dropped_block_type)) {
        left = make_dropped((PyTypeObject *)type, (PyObject *)held->block, held->born, held->order);
    } else {
        PyErr_Format(PyExc_TypeError, "dropped_type is %R, no DroppedBlock", type);
    }
    Py_DECREF(type);
    return left;
}

// Runs no code in Python, since collection may come anywhere: `leave` and the append are in C.
static void finalize(PyObject *self) {
    const held_block *held = (held_block *)self;
    if (held->is_noted) {
        return;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *left = leave(self, NULL);
    PyObject *answer =
        left == NULL ? NULL : PyObject_CallMethodOneArg(held->dropped, known.append, left);
    if (answer == NULL) {
        PyErr_WriteUnraisable(self);
    }
    Py_XDECREF(answer);
    Py_XDECREF(left);
    PyErr_Restore(type, value, trace);
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const held_block *held = (held_block *)self;
    Py_VISIT(held->block);
    Py_VISIT(held->dropped);
    Py_VISIT(held->order);
    Py_VISIT(held->queue);
    Py_VISIT(held->kind);
    Py_VISIT(held->pool);
    Py_VISIT(held->event);
    return 0;
}

static int clear(PyObject *self) {
    held_block *held = (held_block *)self;
    Py_CLEAR(held->block);
    Py_CLEAR(held->dropped);
    Py_CLEAR(held->order);
    Py_CLEAR(held->queue);
    Py_CLEAR(held->kind);
    Py_CLEAR(held->pool);
    Py_CLEAR(held->event);
    return 0;
}

static void dealloc(PyObject *self) {
    // Of a subclass, Python has done so.
    if (Py_IS_TYPE(self, &held_block_type) && PyObject_CallFinalizerFromDealloc(self) < 0) {
        return;
    }
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_CLEAR(((held_block *)self)->ptr);
    Py_CLEAR(((held_block *)self)->nbytes);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *note_freed(PyObject *self, PyObject *unused) {
    (void)unused;
    ((held_block *)self)->is_noted = 1;
    Py_RETURN_NONE;
}

pool_front *pool_of(const block *given) {
    PyObject *heap = given == NULL ? NULL : given->heap;
    if (heap == NULL || !is_a(heap, &heap_blocks_type)) {
        return NULL;
    }
    PyObject *pool = ((heap_blocks *)heap)->pool;
    return pool != NULL && is_a(pool, &pool_front_type) ? (pool_front *)pool : NULL;
}

static PyObject *get_is_freed(PyObject *self, void *closure) {
    (void)closure;
    const held_block *held = (held_block *)self;
    const pool_front *pool = pool_of(held->block);
    if (held->is_noted || pool == NULL || pool->registry == NULL) {
        Py_RETURN_TRUE;
    }
    PyObject *live = registry_live(pool->registry);
    if (live == NULL) {
        return NULL;
    }
    PyObject *found = PyObject_GetItem(live, held->ptr);
    Py_DECREF(live);
    if (found == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_KeyError)) {
            return NULL;
        }
        PyErr_Clear();
    }
    bool is_it = found == (PyObject *)held->block && held->block->born == held->born;
    Py_XDECREF(found);
    return PyBool_FromLong(!is_it);
}

static PyMethodDef methods[] = {
    {"note_freed", note_freed, METH_NOARGS, "Have nothing left to do when it is dropped."},
    {"leave", leave, METH_NOARGS, "What is left to do, for the caller to do it at once."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"is_freed", get_is_freed, NULL, "Whether it was freed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"block", T_OBJECT, offsetof(held_block, block), READONLY, "The block."},
    {"dropped", T_OBJECT, offsetof(held_block, dropped), READONLY, "Where it goes when dropped."},
    {"order", T_OBJECT, offsetof(held_block, order), READONLY, "That of the queue, or None."},
    {"ptr", T_OBJECT, offsetof(held_block, ptr), READONLY, "The address."},
    {"nbytes", T_OBJECT, offsetof(held_block, nbytes), READONLY, "The size asked for, in bytes."},
    {"queue", T_OBJECT, offsetof(held_block, queue), READONLY, "The queue that allocated it."},
    {"kind", T_OBJECT, offsetof(held_block, kind), READONLY, "The kind of memory."},
    {"pool", T_OBJECT, offsetof(held_block, pool), READONLY, "The pool that it comes from."},
    {"event", T_OBJECT, offsetof(held_block, event), READONLY, "The event of the allocation."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject held_block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.HeldBlock",
    .tp_basicsize = sizeof(held_block),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A block in the hands of a user's object, in C.",
    .tp_new = new_held,
    .tp_init = init_held,
    .tp_finalize = finalize,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_members = members,
};

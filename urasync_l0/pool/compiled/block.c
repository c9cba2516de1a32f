// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block: block.py.

#include "structure.h"

#include <structmember.h>

block *new_block(PyObject *heap, uint64_t address, uint64_t size, enum state state) {
    block *made = PyObject_GC_New(block, &block_type);
    if (made == NULL) {
        return NULL;
    }
    memset((char *)made + sizeof(PyObject), 0, sizeof *made - sizeof(PyObject));
    made->heap = Py_NewRef(heap);
    made->order = Py_NewRef(Py_None);
    made->undo = Py_NewRef(Py_None);
    made->address = address;
    made->size = size;
    made->state = state;
    PyObject_GC_Track((PyObject *)made);
    return made;
}

static int state_of(PyObject *value, enum state *state) {
    for (int i = 0; i < STATES; i++) {
        if (value == known.states[i]) {
            *state = (enum state)i;
            return 0;
        }
    }
    PyErr_Format(PyExc_TypeError, "the state of a block is a BlockState, not %R", value);
    return -1;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    (void)type;
    static char *names[] = {"heap", "address", "size", "state", NULL};
    PyObject *heap, *value;
    unsigned long long address, size;
    enum state state;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OKKO", names, &heap, &address, &size,
                                     &value) ||
        state_of(value, &state) < 0) {
        return NULL;
    }
    return (PyObject *)new_block(heap, address, size, state);
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const block *this = (block *)self;
    Py_VISIT(this->heap);
    Py_VISIT(this->order);
    Py_VISIT(this->views);
    Py_VISIT(this->undo);
    Py_VISIT(this->previous);
    Py_VISIT(this->next);
    return 0;
}

static int clear(PyObject *self) {
    block *this = (block *)self;
    Py_CLEAR(this->heap);
    Py_CLEAR(this->order);
    Py_CLEAR(this->views);
    Py_CLEAR(this->undo);
    Py_CLEAR(this->previous);
    Py_CLEAR(this->next);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, dealloc) clear(self);
    PyObject_GC_Del(self);
    Py_TRASHCAN_END
}

static PyObject *repr(PyObject *self) {
    const block *this = (block *)self;
    char what[80];
    PyOS_snprintf(what, sizeof what, "Block(0x%llx, %llu bytes", (unsigned long long)this->address,
                  (unsigned long long)this->size);
    PyObject *name = PyObject_GetAttrString(known.states[this->state], "name");
    PyObject *text = NULL;
    if (name != NULL && this->order != Py_None) {
        PyObject *id = PyObject_GetAttrString(this->order, "id");
        if (id != NULL) {
            text = PyUnicode_FromFormat("%s, %U, freed on queue %S at %llu)", what, name, id,
                                        (unsigned long long)this->stamp);
            Py_DECREF(id);
        }
    } else if (name != NULL) {
        text = PyUnicode_FromFormat("%s, %U)", what, name);
    }
    Py_XDECREF(name);
    return text;
}

static PyObject *insert_before(PyObject *self, PyObject *argument) {
    block *this = (block *)self, *follower = (block *)argument;
    if (!Py_IS_TYPE(argument, &block_type) || follower->previous == NULL) {
        PyErr_Format(PyExc_TypeError, "%R is no linked block", argument);
        return NULL;
    }
    link_previous(this, follower->previous);
    link_next(this, follower);
    link_next(this->previous, this);
    link_previous(follower, this);
    Py_RETURN_NONE;
}

static PyObject *unlink_(PyObject *self, PyObject *unused) {
    (void)unused;
    const block *this = (block *)self;
    if (this->previous == NULL || this->next == NULL) {
        PyErr_Format(PyExc_ValueError, "%R is not linked", self);
        return NULL;
    }
    link_next(this->previous, this->next);
    link_previous(this->next, this->previous);
    Py_RETURN_NONE;
}

static PyObject *get_end(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLongLong(((block *)self)->address + ((block *)self)->size);
}

static PyObject *get_state(PyObject *self, void *closure) {
    (void)closure;
    return Py_NewRef(known.states[((block *)self)->state]);
}

static int set_state(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    return state_of(value, &((block *)self)->state);
}

static PyObject *get_views(PyObject *self, void *closure) {
    (void)closure;
    PyObject *views = ((block *)self)->views;
    return views == NULL ? PyTuple_New(0) : Py_NewRef(views);
}

static int set_views(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyTuple_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "the views of a block are a tuple of RunIndex");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (!Py_IS_TYPE(PyTuple_GET_ITEM(value, i), &run_index_type)) {
            PyErr_SetString(PyExc_TypeError, "the views of a block are a tuple of RunIndex");
            return -1;
        }
    }
    PyObject *old = ((block *)self)->views;
    ((block *)self)->views = PyTuple_GET_SIZE(value) ? Py_NewRef(value) : NULL;
    Py_XDECREF(old);
    return 0;
}

// A block that was never linked is its own neighbour, as in the reference, but holds no reference
// to itself.
static PyObject *get_link(PyObject *self, void *closure) {
    block *const *link = (block **)((char *)self + (size_t)closure);
    return Py_NewRef(*link == NULL ? self : (PyObject *)*link);
}

static int set_link(PyObject *self, PyObject *value, void *closure) {
    if (value == NULL || !Py_IS_TYPE(value, &block_type)) {
        PyErr_SetString(PyExc_TypeError, "the neighbour of a block is a block");
        return -1;
    }
    replace((PyObject **)((char *)self + (size_t)closure), value);
    return 0;
}

static PyMethodDef methods[] = {
    {"insert_before", insert_before, METH_O, "Link this block in front of another."},
    {"unlink", unlink_, METH_NOARGS, "Take this block out of its region's list."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"end", get_end, NULL, "The address right after the block.", NULL},
    {"state", get_state, set_state, "What it is to the pool.", NULL},
    {"views", get_views, set_views, "The runs that a pending block is part of.", NULL},
    {"previous", get_link, set_link, "The block before.", (void *)offsetof(block, previous)},
    {"next", get_link, set_link, "The block after.", (void *)offsetof(block, next)},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"heap", T_OBJECT, offsetof(block, heap), READONLY, "The heap that it belongs to."},
    {"order", T_OBJECT, offsetof(block, order), 0, "The queue that freed it."},
    {"undo", T_OBJECT, offsetof(block, undo), 0, "What its allocation changed."},
    {"address", T_ULONGLONG, offsetof(block, address), 0, "Address of the first byte."},
    {"size", T_ULONGLONG, offsetof(block, size), 0, "Size in bytes."},
    {"requested", T_ULONGLONG, offsetof(block, requested), 0, "Bytes that were asked for."},
    {"stamp", T_ULONGLONG, offsetof(block, stamp), 0, "Place of the free."},
    {"age", T_ULONGLONG, offsetof(block, age), 0, "Number of the free in the heap."},
    {"born", T_ULONGLONG, offsetof(block, born), 0, "Number of the allocation in the pool."},
    {"owner", T_ULONGLONG, offsetof(block, owner), 0, "Id of the allocating queue."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.Block",
    .tp_basicsize = sizeof(block),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A piece of driver memory, in C.",
    .tp_new = make,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_repr = repr,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_members = members,
};

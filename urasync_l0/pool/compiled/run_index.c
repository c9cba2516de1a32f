// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runs of memory that is safe for one queue: run_index.py. A run stands in the size index by
// its start, and in the table of ends.

#include "structure.h"

#include <structmember.h>

run_index *new_run_index(PyObject *order, bool lowest) {
    run_index *view = PyObject_GC_New(run_index, &run_index_type);
    if (view == NULL) {
        return NULL;
    }
    memset((char *)view + sizeof(PyObject), 0, sizeof *view - sizeof(PyObject));
    view->order = Py_NewRef(order);
    view->clock = Py_NewRef(known.nothing);
    PyObject_GC_Track((PyObject *)view);
    view->pending = PyDict_New();
    view->sizes = new_size_index(lowest);
    if (view->pending == NULL || view->sizes == NULL) {
        Py_DECREF((PyObject *)view);
        return NULL;
    }
    return view;
}

// Whether a block may be part of a run. Regions may lie side by side by chance: a run ends where
// its region does.
static bool is_free(const block *part) { return part->state == PENDING || part->state == IDLE; }

// Make the blocks from `first` to `last` part of the runs, joining those that they touch.
static int add_between(run_index *view, block *first, const block *last) {
    size_index *sizes = view->sizes;
    uint64_t start = first->address;
    uint64_t end = last->address + last->size;
    struct run *left = is_free(first->previous) ? table_pop(&view->ends, start) : NULL;
    struct run *right = is_free(last->next) ? index_at(sizes, end) : NULL;
    if (left != NULL) {
        index_withdraw(sizes, left);
        if (right != NULL) {
            end = right->end;
            Py_DECREF((PyObject *)index_erase(sizes, right));
        }
        left->end = end;
        return index_enter(sizes, left) < 0 ? -1 : table_put(&view->ends, end, left);
    }
    if (right != NULL) {
        index_withdraw(sizes, right);
        table_pop(&sizes->starts, right->start);
        right->start = start;
        replace((PyObject **)&right->first, (PyObject *)first);
        return table_put(&sizes->starts, start, right) < 0 ? -1 : index_enter(sizes, right);
    }
    struct run *run = index_insert(sizes, start, end, first);
    return run == NULL ? -1 : table_put(&view->ends, end, run);
}

int view_add(run_index *view, block *part) { return add_between(view, part, part); }

// The run that a block is part of.
static struct run *run_of(const run_index *view, const block *part) {
    const block *first = part;
    struct run *run;
    while ((run = index_at(view->sizes, first->address)) == NULL || first->state == EDGE) {
        if (first->state == EDGE) {
            PyErr_Format(PyExc_AssertionError, "%R is in no run of %R", part, view->order);
            return NULL;
        }
        first = first->previous;
    }
    return run;
}

int view_cut(run_index *view, const block *part, uint64_t low, uint64_t high, block *after) {
    size_index *sizes = view->sizes;
    struct run *run = run_of(view, part);
    if (run == NULL) {
        return -1;
    }
    uint64_t end = run->end;
    view->cut = high < end ? high : end;
    index_withdraw(sizes, run);
    if (run->start < low) {
        run->end = low;
        if (index_enter(sizes, run) < 0 || table_put(&view->ends, low, run) < 0) {
            return -1;
        }
        if (high >= end) {
            table_pop(&view->ends, end);
            return 0;
        }
        struct run *rest = index_insert(sizes, high, end, after);
        return rest == NULL ? -1 : table_put(&view->ends, end, rest);
    }
    table_pop(&sizes->starts, run->start);
    if (high < end) {
        run->start = high;
        replace((PyObject **)&run->first, (PyObject *)after);
        return table_put(&sizes->starts, high, run) < 0 ? -1 : index_enter(sizes, run);
    }
    table_pop(&view->ends, end);
    Py_DECREF((PyObject *)run->first);
    index_forget(sizes, run);
    return 0;
}

int view_remove(run_index *view, block *part) {
    return view_cut(view, part, part->address, part->address + part->size, part->next);
}

// A block, or the idle block beside it whose membership in the runs hangs on it alone.
static block *first_with(const run_index *view, block *part) {
    block *neighbour = part->previous;
    return neighbour->state == IDLE && !is_among(neighbour->previous->views, view) ? neighbour
                                                                                   : part;
}

static block *last_with(const run_index *view, block *part) {
    block *neighbour = part->next;
    return neighbour->state == IDLE && !is_among(neighbour->next->views, view) ? neighbour : part;
}

int view_enter(run_index *view, block *part) {
    Py_ssize_t count = view_count(part->views);
    PyObject *views;
    if (count == 0 && view->alone != NULL) {
        views = Py_NewRef(view->alone);
    } else {
        views = PyTuple_New(count + 1);
        if (views == NULL) {
            return -1;
        }
        for (Py_ssize_t i = 0; i < count; i++) {
            PyTuple_SET_ITEM(views, i, Py_NewRef(PyTuple_GET_ITEM(part->views, i)));
        }
        PyTuple_SET_ITEM(views, count, Py_NewRef((PyObject *)view));
        if (count == 0) {
            view->alone = Py_NewRef(views);
        }
    }
    PyObject *old = part->views;
    part->views = views;
    Py_XDECREF(old);
    return add_between(view, first_with(view, part), last_with(view, part));
}

int view_leave(run_index *view, block *part) {
    const block *first = first_with(view, part), *last = last_with(view, part);
    return view_cut(view, first, first->address, last->address + last->size, last->next);
}

// Let a pending block be no part any more of one view's runs.
int view_leave_for_good(run_index *view, block *part) {
    if (view_leave(view, part) < 0) {
        return -1;
    }
    Py_ssize_t count = view_count(part->views);
    PyObject *left = count > 1 ? PyTuple_New(count - 1) : NULL;
    if (count > 1 && left == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0, to = 0; i < count; i++) {
        PyObject *each = PyTuple_GET_ITEM(part->views, i);
        if (each != (PyObject *)view) {
            PyTuple_SET_ITEM(left, to++, Py_NewRef(each));
        }
    }
    PyObject *old = part->views;
    part->views = left;
    Py_XDECREF(old);
    return 0;
}

// -- the Python class -------------------------------------------------------------------------

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    (void)type;
    static char *names[] = {"order", "lowest", NULL};
    PyObject *order;
    int lowest;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O$p", names, &order, &lowest)) {
        return NULL;
    }
    return (PyObject *)new_run_index(order, lowest);
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const run_index *view = (run_index *)self;
    Py_VISIT(view->order);
    Py_VISIT(view->pending);
    Py_VISIT(view->clock);
    Py_VISIT(view->alone);
    Py_VISIT(view->sizes);
    return 0;
}

static int clear(PyObject *self) {
    run_index *view = (run_index *)self;
    table_free(&view->ends);
    Py_CLEAR(view->order);
    Py_CLEAR(view->pending);
    Py_CLEAR(view->clock);
    Py_CLEAR(view->alone);
    Py_CLEAR(view->sizes);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    PyObject_GC_Del(self);
}

typedef int change(run_index *view, block *part);

static PyObject *apply(change *what, PyObject *self, PyObject *argument) {
    const block *part = (block *)argument;
    if (!Py_IS_TYPE(argument, &block_type) || part->previous == NULL || part->next == NULL) {
        PyErr_Format(PyExc_TypeError, "%R is no linked block", argument);
        return NULL;
    }
    if (what((run_index *)self, (block *)argument) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *self, PyObject *argument) {
    return apply(view_enter, self, argument);
}

static PyObject *leave(PyObject *self, PyObject *argument) {
    return apply(view_leave, self, argument);
}

static PyObject *add(PyObject *self, PyObject *argument) { return apply(view_add, self, argument); }

static PyObject *remove_(PyObject *self, PyObject *argument) {
    return apply(view_remove, self, argument);
}

static PyObject *runs(PyObject *self, PyObject *unused) {
    (void)unused;
    const struct table *starts = &((run_index *)self)->sizes->starts;
    PyObject *found = PyList_New(0);
    for (size_t i = 0; found != NULL && i < starts->capacity; i++) {
        const struct run *run = starts->slots[i].value;
        if (run == NULL) {
            continue;
        }
        PyObject *pair = Py_BuildValue("KK", (unsigned long long)run->start,
                                       (unsigned long long)(run->end - run->start));
        if (pair == NULL || PyList_Append(found, pair) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(pair);
    }
    if (found != NULL && PyList_Sort(found) < 0) {
        Py_CLEAR(found);
    }
    return found;
}

static PyObject *get_pending(PyObject *self, void *closure) {
    (void)closure;
    return Py_NewRef(((run_index *)self)->pending);
}

static int set_pending(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyDict_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "the pending blocks of a queue are a dict");
        return -1;
    }
    replace(&((run_index *)self)->pending, value);
    return 0;
}

static PyMethodDef methods[] = {
    {"enter", enter, METH_O, "Make a pending block safe for the queue."},
    {"leave", leave, METH_O, "Undo `enter`."},
    {"add", add, METH_O, "Make a block part of the runs."},
    {"remove", remove_, METH_O, "Take a block out of its run."},
    {"runs", runs, METH_NOARGS, "Return every run as (address, size in bytes), lowest first."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"pending", get_pending, set_pending, "Blocks freed by the queue, oldest first.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"order", T_OBJECT, offsetof(run_index, order), READONLY, "The queue."},
    {"clock", T_OBJECT, offsetof(run_index, clock), 0, "What the queue is ordered after."},
    {"sizes", T_OBJECT, offsetof(run_index, sizes), READONLY, "The runs by size."},
    {"newest_stamp", T_ULONGLONG, offsetof(run_index, newest_stamp), 0, "Of the latest free."},
    {"unmarked_frees", T_ULONGLONG, offsetof(run_index, unmarked_frees), 0, "Since a marker."},
    {"unmarked_bytes", T_ULONGLONG, offsetof(run_index, unmarked_bytes), 0, "Since a marker."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject run_index_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.RunIndex",
    .tp_basicsize = sizeof(run_index),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "The runs of memory safe for one queue, in C.",
    .tp_new = make,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_members = members,
};

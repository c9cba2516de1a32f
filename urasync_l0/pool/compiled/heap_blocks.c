// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a heap that every allocation and free passes: heap_blocks.py.

#include "structure.h"

#include <structmember.h>

enum { MARK_EVERY = 64, MARK_SHARE = 160, MARK_BYTES = 32 << 10 };

// -- idle blocks and the runs beside them -----------------------------------------------------

// Do something to an idle block in every run that it touches.
static int beside(const block *idle, block *part, int (*what)(run_index *, block *)) {
    PyObject *before = idle->previous->views;
    PyObject *after = idle->next->views;
    for (Py_ssize_t i = 0; i < view_count(before); i++) {
        if (what(view_at(before, i), part) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < view_count(after); i++) {
        run_index *view = view_at(after, i);
        if (!is_among(before, view) && what(view, part) < 0) {
            return -1;
        }
    }
    return 0;
}

int heap_offer(heap_blocks *heap, block *idle) {
    uint64_t end = idle->address + idle->size;
    if (index_insert(heap->idle, idle->address, end, idle) == NULL) {
        return -1;
    }
    return beside(idle, idle, view_add);
}

int heap_withdraw(heap_blocks *heap, const block *idle) {
    struct run *run = index_at(heap->idle, idle->address);
    if (run == NULL) {
        PyErr_Format(PyExc_KeyError, "%R is not idle", idle);
        return -1;
    }
    Py_DECREF((PyObject *)index_erase(heap->idle, run));
    return 0;
}

static int withdraw(heap_blocks *heap, block *idle) {
    return heap_withdraw(heap, idle) < 0 ? -1 : beside(idle, idle, view_remove);
}

// -- handing out ------------------------------------------------------------------------------

static int note_piece(PyObject *undo, block *part, uint64_t size) {
    PyObject *pieces = PyObject_GetAttr(undo, known.pieces);
    PyObject *number = PyLong_FromUnsignedLongLong(size);
    PyObject *piece = NULL;
    int status = -1;
    if (pieces != NULL && number != NULL) {
        piece = PyObject_CallFunctionObjArgs(known.piece, (PyObject *)part, number, NULL);
    }
    if (piece != NULL) {
        status = PyList_Append(pieces, piece);
    }
    Py_XDECREF(piece);
    Py_XDECREF(number);
    Py_XDECREF(pieces);
    return status;
}

static int leave_all(PyObject *views, block *part) {
    for (Py_ssize_t i = 0; i < view_count(views); i++) {
        if (view_leave(view_at(views, i), part) < 0) {
            return -1;
        }
    }
    return 0;
}

// Take one free block, or the front of it, out of what is free. `*views` gets the runs that it was
// part of: the caller lets go of them.
static int take_piece(heap_blocks *heap, block *part, uint64_t taken, PyObject *order,
                      enum reuse *reuse, PyObject **views) {
    *views = NULL;
    if (part->state == IDLE) {
        heap->idle_bytes -= (int64_t)taken;
        return withdraw(heap, part);
    }
    if (leave_all(part->views, part) < 0) {
        return -1;
    }
    *views = part->views;
    part->views = NULL;
    heap->pending_bytes -= (int64_t)taken;
    if (part->order != order) {
        *reuse = REUSE_CLOCK;
    } else if (*reuse == REUSE_IDLE) {
        *reuse = REUSE_OWN;
    }
    return 0;
}

// What is left of a block whose front was taken is free as before.
static int return_rest(heap_blocks *heap, block *rest, enum state state, PyObject *views) {
    rest->state = state;
    if (state == IDLE) {
        return heap_offer(heap, rest);
    }
    for (Py_ssize_t i = 0; i < view_count(views); i++) {
        if (view_enter(view_at(views, i), rest) < 0) {
            return -1;
        }
    }
    return 0;
}

// The blocks before `last`, from `first` on, became one with it: undo their links backwards, so
// that they do not keep each other alive.
static void absorb_pieces(block *first, const block *last) {
    for (block *gone = first; gone != last; gone = gone->next) {
        Py_CLEAR(gone->previous);
    }
}

static block *carve(heap_blocks *heap, block *first, uint64_t size, PyObject *order,
                    PyObject *undo) {
    enum reuse reuse = REUSE_IDLE;
    block *before = first->previous;
    block *part = first;
    uint64_t address = first->address;
    uint64_t missing = size;
    for (;;) {
        enum state state = part->state;
        uint64_t taken = part->size < missing ? part->size : missing;
        PyObject *views;
        if (undo != Py_None && note_piece(undo, part, taken) < 0) {
            return NULL;
        }
        if (take_piece(heap, part, taken, order, &reuse, &views) < 0) {
            Py_XDECREF(views);
            return NULL;
        }
        part->state = IN_USE;
        missing -= taken;
        if (taken < part->size) {
            block *used = new_block((PyObject *)heap, address, size, IN_USE);
            if (used == NULL) {
                Py_XDECREF(views);
                return NULL;
            }
            part->address += taken;
            part->size -= taken;
            link_previous(used, before);
            link_next(used, part);
            link_next(before, used);
            link_previous(part, used);
            int status = return_rest(heap, part, state, views);
            Py_XDECREF(views);
            if (status < 0) {
                Py_DECREF((PyObject *)used);
                return NULL;
            }
            part = used;
            break;
        }
        if (state == PENDING) {
            int status = PyDict_DelItem(view_at(views, 0)->pending, (PyObject *)part);
            Py_DECREF(views);
            if (status < 0) {
                return NULL;
            }
            replace(&part->order, Py_None);
        }
        if (missing == 0) {
            part->address = address;
            part->size = size;
            Py_INCREF((PyObject *)part);
            if (part != first) {
                absorb_pieces(first, part);
                link_previous(part, before);
                link_next(before, part);
            }
            break;
        }
        part = part->next;
    }
    heap->used_bytes += (int64_t)size;
    heap->last_reuse = reuse;
    return part;
}

static run_index *make_view(heap_blocks *heap, PyObject *order) {
    run_index *view = new_run_index(order, heap->one_range);
    if (view != NULL && PyDict_SetItem(heap->views, order, (PyObject *)view) < 0) {
        Py_CLEAR(view);
    }
    return view;
}

static run_index *view_of(heap_blocks *heap, PyObject *order) {
    if (heap->recent != NULL && heap->recent->order == order) {
        return (run_index *)Py_NewRef((PyObject *)heap->recent);
    }
    PyObject *found = Py_XNewRef(PyDict_GetItemWithError(heap->views, order));
    if (found == NULL && !PyErr_Occurred()) {
        found = (PyObject *)make_view(heap, order);
    }
    if (found != NULL) {
        replace((PyObject **)&heap->recent, found);
    }
    return (run_index *)found;
}

// By size alone, a part of a run would beat the whole.
static bool holds(const heap_blocks *heap, const struct run *own, const struct run *idle) {
    return !heap->one_range && own->start < idle->start && idle->start < own->end;
}

// The run that is taken from; NULL if none holds so many bytes.
static struct run *fit_for(const heap_blocks *heap, const run_index *view, uint64_t size) {
    uint64_t rank = 0, own_rank = 0;
    struct run *fit = index_find(heap->idle, size, &rank);
    struct run *own = index_find(view->sizes, size, &own_rank);
    if (own != NULL && (fit == NULL || own_rank <= rank || holds(heap, own, fit))) {
        fit = own;
        rank = own_rank;
    }
    return fit == NULL || (heap->whole && rank != size) ? NULL : fit;
}

// A block in use, or None if no run holds so many bytes.
static PyObject *take(heap_blocks *heap, run_index *view, uint64_t size, PyObject *undo) {
    struct run *fit = fit_for(heap, view, size);
    if (fit == NULL) {
        Py_RETURN_NONE;
    }
    return (PyObject *)carve(heap, fit->first, size, view->order, undo);
}

// -- taking back ------------------------------------------------------------------------------

static int set_pending(block *freed, run_index *view, uint64_t stamp) {
    freed->state = PENDING;
    replace(&freed->order, view->order);
    freed->stamp = stamp;
    if (PyDict_SetItem(view->pending, (PyObject *)freed, Py_None) < 0) {
        return -1;
    }
    return view_enter(view, freed);
}

bool heap_is_crowded_by(const heap_blocks *heap, const run_index *view) {
    if (view->unmarked_frees >= MARK_EVERY) {
        return PyDict_GET_SIZE(view->pending) >= MARK_EVERY;
    }
    uint64_t held = (uint64_t)(heap->used_bytes + heap->pending_bytes + heap->idle_bytes);
    uint64_t share = held / MARK_SHARE;
    return PyDict_GET_SIZE(heap->views) > 1 &&
           view->unmarked_bytes > (share > MARK_BYTES ? share : MARK_BYTES);
}

static int free_block(heap_blocks *heap, block *freed, PyObject *order, uint64_t stamp) {
    run_index *view = view_of(heap, order);
    if (view == NULL) {
        return -1;
    }
    if (stamp < view->newest_stamp) {
        stamp = view->newest_stamp;
    } else {
        view->newest_stamp = stamp;
    }
    heap->used_bytes -= (int64_t)freed->size;
    heap->pending_bytes += (int64_t)freed->size;
    freed->age = ++heap->frees;
    int status = set_pending(freed, view, stamp);
    view->unmarked_frees++;
    view->unmarked_bytes += freed->size;
    if (!heap->crowded) {
        heap->crowded = heap_is_crowded_by(heap, view);
    }
    Py_DECREF((PyObject *)view);
    return status;
}

static void drop_link(const block *gone) {
    link_next(gone->previous, gone->next);
    link_previous(gone->next, gone->previous);
}

static int set_idle(heap_blocks *heap, block *freed) {
    heap->idle_bytes += (int64_t)freed->size;
    freed->state = IDLE;
    freed->requested = 0;
    block *left = freed->previous;
    if (left->state == IDLE) {
        if (withdraw(heap, left) < 0) {
            return -1;
        }
        freed->address = left->address;
        freed->size += left->size;
        Py_INCREF((PyObject *)left);
        drop_link(left);
        Py_DECREF((PyObject *)left);
    }
    block *right = freed->next;
    if (right->state == IDLE) {
        if (withdraw(heap, right) < 0) {
            return -1;
        }
        freed->size += right->size;
        Py_INCREF((PyObject *)right);
        drop_link(right);
        Py_DECREF((PyObject *)right);
    }
    return heap_offer(heap, freed);
}

// Take a pending block out of every list of such; it stays linked, without state.
static int remove_pending(heap_blocks *heap, block *part) {
    PyObject *views = part->views;
    if (views == NULL) {
        PyErr_Format(PyExc_AssertionError, "%R is not pending", part);
        return -1;
    }
    if (PyDict_DelItem(view_at(views, 0)->pending, (PyObject *)part) < 0 ||
        leave_all(views, part) < 0) {
        return -1;
    }
    part->views = NULL;
    Py_DECREF(views);
    replace(&part->order, Py_None);
    part->state = IN_USE;
    heap->pending_bytes -= (int64_t)part->size;
    return 0;
}

// -- order ------------------------------------------------------------------------------------

// Make what another queue freed after `seen`, up to `number`, safe for a view's queue.
static int absorb_view(run_index *view, const run_index *freed, uint64_t seen, uint64_t number,
                       PyObject *added) {
    PyObject *newest_first = PyObject_CallMethodNoArgs(freed->pending, known.reversed);
    PyObject *part = NULL;
    int status = newest_first == NULL ? -1 : 0;
    while (status == 0 && (part = PyIter_Next(newest_first)) != NULL) {
        block *each = (block *)part;
        if (each->stamp <= seen) {
            break;
        }
        if (each->stamp <= number && !is_among(each->views, view)) {
            status = view_enter(view, each) < 0 || PyList_Append(added, part) < 0 ? -1 : 0;
        }
        Py_CLEAR(part);
    }
    Py_XDECREF(part);
    Py_XDECREF(newest_first);
    return status < 0 || PyErr_Occurred() ? -1 : 0;
}

static int absorb(heap_blocks *heap, run_index *view, PyObject *clock, PyObject *added) {
    PyObject *items = PyMapping_Items(clock);
    if (items == NULL) {
        return -1;
    }
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(items); i++) {
        PyObject *entry = PyList_GET_ITEM(items, i);
        PyObject *order = PyTuple_GET_ITEM(entry, 0);
        uint64_t number = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(entry, 1));
        uint64_t seen = 0;
        if (number == UINT64_MAX && PyErr_Occurred()) {
            status = -1;
            break;
        }
        PyObject *freed = PyDict_GetItemWithError(heap->views, order);
        if (PyErr_Occurred() || clock_number(view->clock, order, &seen) < 0) {
            status = -1;
        } else if (freed != NULL && number > seen) {
            status = absorb_view(view, (run_index *)freed, seen, number, added);
        }
    }
    Py_DECREF(items);
    if (status == 0) {
        replace(&view->clock, clock);
    }
    return status;
}

// -- the usual allocation and free ------------------------------------------------------------

enum { GRANULE = 256 };

static uint64_t rounded(uint64_t requested) {
    return (requested + (GRANULE - 1)) & ~(uint64_t)(GRANULE - 1);
}

static int absorb_clock(heap_blocks *heap, run_index *view, PyObject *clock) {
    if (view->clock == clock) {
        return 0;
    }
    PyObject *added = PyList_New(0);
    int status = added == NULL ? -1 : absorb(heap, view, clock, added);
    Py_XDECREF(added);
    return status;
}

int heap_has(heap_blocks *heap, PyObject *order, PyObject *clock, uint64_t requested) {
    run_index *view = view_of(heap, order);
    int status = view == NULL ? -1 : absorb_clock(heap, view, clock);
    if (status == 0) {
        status = fit_for(heap, view, rounded(requested)) != NULL;
    }
    Py_XDECREF((PyObject *)view);
    return status;
}

PyObject *heap_hand_out(heap_blocks *heap, PyObject *order, PyObject *clock, uint64_t requested,
                        tally *numbers) {
    uint64_t owner;
    run_index *view = order_id(order, &owner) < 0 ? NULL : view_of(heap, order);
    if (view == NULL) {
        return NULL;
    }
    int status = absorb_clock(heap, view, clock);
    uint64_t size = rounded(requested);
    PyObject *found = status < 0 ? NULL : take(heap, view, size, Py_None);
    Py_DECREF((PyObject *)view);
    if (found == NULL || found == Py_None) {
        return found;
    }
    block *given = (block *)found;
    replace(&given->undo, Py_None);
    given->owner = owner;
    tally_handed_out(numbers, given, requested);
    numbers->reused[heap->last_reuse]++;
    return found;
}

int heap_take_back(heap_blocks *heap, block *freed, PyObject *order, uint64_t stamp,
                   tally *numbers) {
    tally_taken_back(numbers, freed);
    replace(&freed->undo, Py_None);
    return free_block(heap, freed, order, stamp);
}

// -- the Python class -------------------------------------------------------------------------

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"pool", "key", "one_range", "whole", NULL};
    PyObject *pool, *key;
    int one_range = 0, whole = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OO|$pp", names, &pool, &key, &one_range,
                                     &whole)) {
        return NULL;
    }
    heap_blocks *heap = (heap_blocks *)type->tp_alloc(type, 0);
    if (heap == NULL) {
        return NULL;
    }
    heap->pool = Py_NewRef(pool);
    heap->key = Py_NewRef(key);
    heap->one_range = (char)one_range;
    heap->whole = (char)whole;
    heap->segments = PyList_New(0);
    heap->views = PyDict_New();
    heap->idle = new_size_index(one_range);
    if (heap->segments == NULL || heap->views == NULL || heap->idle == NULL) {
        Py_DECREF((PyObject *)heap);
        return NULL;
    }
    return (PyObject *)heap;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const heap_blocks *heap = (heap_blocks *)self;
    Py_VISIT(heap->pool);
    Py_VISIT(heap->key);
    Py_VISIT(heap->segments);
    Py_VISIT(heap->views);
    Py_VISIT(heap->idle);
    Py_VISIT((PyObject *)heap->recent);
    return 0;
}

static int clear(PyObject *self) {
    heap_blocks *heap = (heap_blocks *)self;
    Py_CLEAR(heap->pool);
    Py_CLEAR(heap->key);
    Py_CLEAR(heap->segments);
    Py_CLEAR(heap->views);
    Py_CLEAR(heap->idle);
    Py_CLEAR(heap->recent);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_TYPE(self)->tp_free(self);
}

// Arguments of methods: so many of these types, in this order.
static int check(const char *name, PyObject *const *given, Py_ssize_t count,
                 PyTypeObject *const *types, Py_ssize_t wanted) {
    if (count != wanted) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, not %zd", name, wanted, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < wanted; i++) {
        if (types[i] != NULL && !Py_IS_TYPE(given[i], types[i])) {
            PyErr_Format(PyExc_TypeError, "argument %zd of %s() must be a %s, not %R", i + 1, name,
                         types[i]->tp_name, given[i]);
            return -1;
        }
        if (types[i] == &block_type &&
            (((block *)given[i])->previous == NULL || ((block *)given[i])->next == NULL)) {
            PyErr_Format(PyExc_ValueError, "%R is not linked", given[i]);
            return -1;
        }
    }
    return 0;
}

static bool to_number(PyObject *object, uint64_t *number) {
    *number = PyLong_AsUnsignedLongLong(object);
    return !(*number == UINT64_MAX && PyErr_Occurred());
}

static PyObject *none_or_error(int status) {
    if (status < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *method_take(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    static PyTypeObject *const types[] = {&run_index_type, &PyLong_Type, NULL};
    uint64_t size;
    if (check("take", given, count, types, 3) < 0 || !to_number(given[1], &size)) {
        return NULL;
    }
    return take((heap_blocks *)self, (run_index *)given[0], size, given[2]);
}

static PyObject *method_hand_out(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    static PyTypeObject *const types[] = {NULL, NULL, &PyLong_Type, &tally_type};
    uint64_t requested;
    if (check("hand_out", given, count, types, 4) < 0 || !to_number(given[2], &requested)) {
        return NULL;
    }
    return heap_hand_out((heap_blocks *)self, given[0], given[1], requested, (tally *)given[3]);
}

static PyObject *method_take_back(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    static PyTypeObject *const types[] = {&block_type, NULL, &PyLong_Type, &tally_type};
    uint64_t stamp;
    if (check("take_back", given, count, types, 4) < 0 || !to_number(given[2], &stamp)) {
        return NULL;
    }
    return none_or_error(
        heap_take_back((heap_blocks *)self, (block *)given[0], given[1], stamp, (tally *)given[3]));
}

static PyObject *method_free(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    static PyTypeObject *const types[] = {&block_type, NULL, &PyLong_Type};
    uint64_t stamp;
    if (check("free", given, count, types, 3) < 0 || !to_number(given[2], &stamp)) {
        return NULL;
    }
    return none_or_error(free_block((heap_blocks *)self, (block *)given[0], given[1], stamp));
}

static PyObject *method_set_pending(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    (void)self;
    static PyTypeObject *const types[] = {&block_type, &run_index_type, &PyLong_Type};
    uint64_t stamp;
    if (check("_set_pending", given, count, types, 3) < 0 || !to_number(given[2], &stamp)) {
        return NULL;
    }
    return none_or_error(set_pending((block *)given[0], (run_index *)given[1], stamp));
}

static PyObject *on_block(const char *name, int (*what)(heap_blocks *, block *), PyObject *self,
                          PyObject *argument) {
    static PyTypeObject *const types[] = {&block_type};
    if (check(name, &argument, 1, types, 1) < 0) {
        return NULL;
    }
    return none_or_error(what((heap_blocks *)self, (block *)argument));
}

static PyObject *method_set_idle(PyObject *self, PyObject *argument) {
    return on_block("set_idle", set_idle, self, argument);
}

static PyObject *method_remove_pending(PyObject *self, PyObject *argument) {
    return on_block("_remove_pending", remove_pending, self, argument);
}

static PyObject *method_offer(PyObject *self, PyObject *argument) {
    return on_block("_offer", heap_offer, self, argument);
}

static PyObject *method_withdraw(PyObject *self, PyObject *argument) {
    return on_block("_withdraw", withdraw, self, argument);
}

static PyObject *method_view(PyObject *self, PyObject *order) {
    return (PyObject *)view_of((heap_blocks *)self, order);
}

static PyObject *method_absorb(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    static PyTypeObject *const types[] = {&run_index_type, NULL};
    if (check("absorb", given, count, types, 2) < 0) {
        return NULL;
    }
    PyObject *added = PyList_New(0);
    if (added != NULL && absorb((heap_blocks *)self, (run_index *)given[0], given[1], added) < 0) {
        Py_CLEAR(added);
    }
    return added;
}

static PyObject *method_forget(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    (void)self;
    static PyTypeObject *const types[] = {&run_index_type, &PyList_Type, NULL};
    if (check("forget", given, count, types, 3) < 0) {
        return NULL;
    }
    run_index *view = (run_index *)given[0];
    replace(&view->clock, given[2]);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(given[1]); i++) {
        PyObject *each = PyList_GET_ITEM(given[1], i);
        if (!Py_IS_TYPE(each, &block_type)) {
            PyErr_Format(PyExc_TypeError, "forget() takes a list of blocks, not of %R", each);
            return NULL;
        }
        block *part = (block *)each;
        if (part->state == PENDING && is_among(part->views, view) &&
            view_leave_for_good(view, part) < 0) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *method_note_completion(PyObject *self, PyObject *unused) {
    (void)unused;
    return none_or_error(heap_note_completion((heap_blocks *)self));
}

static PyObject *method_is_crowding(PyObject *self, PyObject *argument) {
    static PyTypeObject *const types[] = {&run_index_type};
    if (check("_is_crowding", &argument, 1, types, 1) < 0) {
        return NULL;
    }
    return PyBool_FromLong(heap_is_crowded_by((heap_blocks *)self, (run_index *)argument));
}

static PyObject *method_new_block(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    static PyTypeObject *const types[] = {&PyLong_Type, &PyLong_Type, NULL};
    uint64_t address, size;
    if (check("new_block", given, count, types, 3) < 0 || !to_number(given[0], &address) ||
        !to_number(given[1], &size)) {
        return NULL;
    }
    for (int i = 0; i < STATES; i++) {
        if (given[2] == known.states[i]) {
            return (PyObject *)new_block(self, address, size, (enum state)i);
        }
    }
    PyErr_Format(PyExc_TypeError, "the state of a block is a BlockState, not %R", given[2]);
    return NULL;
}

static PyObject *method_forget_blocks(PyObject *self, PyObject *unused) {
    (void)unused;
    heap_blocks *heap = (heap_blocks *)self;
    size_index *idle = new_size_index(heap->one_range);
    PyObject *views = PyDict_New();
    if (idle == NULL || views == NULL) {
        Py_XDECREF((PyObject *)idle);
        Py_XDECREF(views);
        return NULL;
    }
    heap->used_bytes = heap->pending_bytes = heap->idle_bytes = 0;
    Py_SETREF(heap->idle, idle);
    Py_SETREF(heap->views, views);
    Py_CLEAR(heap->recent);
    Py_RETURN_NONE;
}

static PyObject *get_last_reuse(PyObject *self, void *closure) {
    (void)closure;
    return Py_NewRef(known.reuses[((heap_blocks *)self)->last_reuse]);
}

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL

static PyMethodDef methods[] = {
    {"hand_out", FAST(method_hand_out), "Hand out pooled memory, and count it; or None."},
    {"take_back", FAST(method_take_back), "Make a block in use pending, and count it."},
    {"take", FAST(method_take), "Hand out bytes that are safe for the view's queue, or None."},
    {"free", FAST(method_free), "Make a block in use pending."},
    {"set_idle", method_set_idle, METH_O, "Make a linked block without state idle."},
    {"view", method_view, METH_O, "Return the runs as a queue sees them."},
    {"absorb", FAST(method_absorb), "Make what a clock covers safe for the view's queue."},
    {"forget", FAST(method_forget), "Undo `absorb`."},
    {"note_completion", method_note_completion, METH_NOARGS, "Make complete blocks idle."},
    {"new_block", FAST(method_new_block), "Make a block of this heap, linked nowhere."},
    {"_set_pending", FAST(method_set_pending), "Make a block pending, with a stamp."},
    {"_remove_pending", method_remove_pending, METH_O, "Take a block out of what is pending."},
    {"_offer", method_offer, METH_O, "Enter an idle block."},
    {"_withdraw", method_withdraw, METH_O, "Take an idle block out."},
    {"_is_crowding", method_is_crowding, METH_O, "Tell whether it is time for a marker."},
    {"_forget_blocks", method_forget_blocks, METH_NOARGS, "Have no blocks any more."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"last_reuse", get_last_reuse, NULL, "Where the last block came from.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"pool", T_OBJECT, offsetof(heap_blocks, pool), READONLY, "The pool that it is a part of."},
    {"key", T_OBJECT, offsetof(heap_blocks, key), READONLY, "Its kind and device."},
    {"segments", T_OBJECT, offsetof(heap_blocks, segments), 0, "Its driver memory."},
    {"views", T_OBJECT, offsetof(heap_blocks, views), READONLY, "The runs of each queue."},
    {"idle", T_OBJECT, offsetof(heap_blocks, idle), READONLY, "The idle blocks by size."},
    {"used_bytes", T_LONGLONG, offsetof(heap_blocks, used_bytes), 0, "Bytes in use."},
    {"pending_bytes", T_LONGLONG, offsetof(heap_blocks, pending_bytes), 0, "Bytes pending."},
    {"idle_bytes", T_LONGLONG, offsetof(heap_blocks, idle_bytes), 0, "Bytes idle."},
    {"frees", T_ULONGLONG, offsetof(heap_blocks, frees), READONLY, "How many frees there were."},
    {"crowded", T_BOOL, offsetof(heap_blocks, crowded), 0, "Whether a queue needs a marker."},
    {"_one_range", T_BOOL, offsetof(heap_blocks, one_range), READONLY, "Low addresses first."},
    {"is_whole", T_BOOL, offsetof(heap_blocks, whole), READONLY, "A segment for each request."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject heap_blocks_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.HeapBlocks",
    .tp_basicsize = sizeof(heap_blocks),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "The blocks of a heap, in C.",
    .tp_new = make,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_members = members,
};

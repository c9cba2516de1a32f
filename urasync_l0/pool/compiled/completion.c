// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of pending blocks when their queue has passed them: heap_blocks.py. Until then, a
// pending block without an order is a complete one.

#include "structure.h"

#include <stdlib.h>

enum { CLEAR_AT_ONCE = 16 };

static int drop_view(heap_blocks *heap, run_index *view) {
    PyObject *each, *part, *unused;
    Py_ssize_t position = 0;
    while (PyDict_Next(heap->views, &position, NULL, &each)) {
        Py_ssize_t place = 0;
        while (PyDict_Next(((run_index *)each)->pending, &place, &part, &unused)) {
            if (is_among(((block *)part)->views, view) &&
                view_leave_for_good(view, (block *)part) < 0) {
                return -1;
            }
        }
    }
    Py_CLEAR(heap->recent);
    return PyDict_DelItem(heap->views, view->order);
}

static int by_address(const void *one, const void *other) {
    uint64_t a = (*(block *const *)one)->address, b = (*(block *const *)other)->address;
    return a < b ? -1 : a > b;
}

// Blocks whose references are held.
struct row {
    block **blocks;
    size_t count;
    size_t capacity;
};

static int row_add(struct row *row, block *part) {
    if (row->count == row->capacity) {
        size_t capacity = row->capacity ? 2 * row->capacity : 64;
        block **blocks = PyMem_Realloc(row->blocks, capacity * sizeof(block *));
        if (blocks == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        row->blocks = blocks;
        row->capacity = capacity;
    }
    row->blocks[row->count++] = (block *)Py_NewRef((PyObject *)part);
    return 0;
}

static void row_free(struct row *row) {
    for (size_t i = 0; i < row->count; i++) {
        Py_DECREF((PyObject *)row->blocks[i]);
    }
    PyMem_Free(row->blocks);
}

// Note the complete blocks of a view, which are its oldest, and let it forget them.
static int collect_from(run_index *view, uint64_t completed, struct row *complete) {
    size_t first = complete->count;
    PyObject *part, *unused;
    Py_ssize_t place = 0;
    while (PyDict_Next(view->pending, &place, &part, &unused) &&
           ((block *)part)->stamp <= completed) {
        if (row_add(complete, (block *)part) < 0) {
            return -1;
        }
        replace(&((block *)part)->order, Py_None);
    }
    size_t found = complete->count - first;
    if (found >= CLEAR_AT_ONCE && found == (size_t)PyDict_GET_SIZE(view->pending)) {
        PyDict_Clear(view->pending);
        return 0;
    }
    for (size_t i = first; i < complete->count; i++) {
        if (PyDict_DelItem(view->pending, (PyObject *)complete->blocks[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int collect_complete(heap_blocks *heap, struct row *complete, PyObject *finished) {
    PyObject *order, *each;
    Py_ssize_t position = 0;
    while (PyDict_Next(heap->views, &position, &order, &each)) {
        run_index *view = (run_index *)each;
        uint64_t completed;
        view->cut = 0;
        if (order_completed(order, &completed) < 0 || collect_from(view, completed, complete) < 0) {
            return -1;
        }
        if (completed >= EVERYTHING && PyList_Append(finished, each) < 0) {
            return -1;
        }
    }
    return 0;
}

static bool is_complete(const block *part) {
    return part->state == PENDING && part->order == Py_None;
}

// Whether no complete block comes before, but for an idle one between.
static bool starts_stretch(const block *part) {
    const block *before = part->previous;
    return !is_complete(before->state == IDLE ? before->previous : before);
}

// Put the blocks that start a stretch first, in address order; return how many they are.
static size_t sort_starts(const struct row *complete) {
    size_t starts = 0;
    for (size_t i = 0; i < complete->count; i++) {
        block *each = complete->blocks[i];
        if (starts_stretch(each)) {
            complete->blocks[i] = complete->blocks[starts];
            complete->blocks[starts++] = each;
        }
    }
    if (starts > 1) {
        qsort(complete->blocks, starts, sizeof(block *), by_address);
    }
    return starts;
}

// Adjacent blocks that are complete or idle.
struct stretch {
    block *first;
    block *kept; // the last complete one, which becomes them all
    block *before;
    block *after;
    uint64_t low;
    uint64_t high;
};

static struct stretch stretch_from(block *complete) {
    block *first = complete->previous->state == IDLE ? complete->previous : complete;
    struct stretch found = {.first = first, .before = first->previous, .low = first->address};
    block *each = complete;
    for (;; each = each->next) {
        if (is_complete(each)) {
            found.kept = each;
        } else if (each->state != IDLE) {
            break;
        }
        found.high = each->address + each->size;
    }
    found.after = each;
    return found;
}

// Cut a stretch out of runs that a block of it is part of, unless that was done at one before.
static int leave(const struct stretch *stretch, const block *part, PyObject *views) {
    for (Py_ssize_t i = 0; i < view_count(views); i++) {
        run_index *view = view_at(views, i);
        if (view->cut <= part->address &&
            view_cut(view, part, stretch->low, stretch->high, stretch->after) < 0) {
            return -1;
        }
    }
    return 0;
}

// Take one block of a stretch out of every list; it stays linked, and idle.
static int take_out(heap_blocks *heap, const struct stretch *stretch, block *part) {
    if (part->state == IDLE) {
        return leave(stretch, part, part->previous->views) < 0 ||
                       leave(stretch, part, part->next->views) < 0
                   ? -1
                   : heap_withdraw(heap, part);
    }
    if (leave(stretch, part, part->views) < 0) {
        return -1;
    }
    Py_CLEAR(part->views);
    part->state = IDLE;
    heap->pending_bytes -= (int64_t)part->size;
    heap->idle_bytes += (int64_t)part->size;
    return 0;
}

static int complete_stretch(heap_blocks *heap, block *first) {
    struct stretch stretch = stretch_from(first);
    block *next;
    for (block *each = stretch.first; each != stretch.after; each = next) {
        next = each->next;
        if (take_out(heap, &stretch, each) < 0) {
            return -1;
        }
        // What is gone keeps no other that is.
        if (each != stretch.kept) {
            Py_CLEAR(each->next);
            Py_CLEAR(each->previous);
        }
    }
    block *kept = stretch.kept;
    kept->address = stretch.low;
    kept->size = stretch.high - stretch.low;
    kept->requested = 0;
    link_previous(kept, stretch.before);
    link_next(kept, stretch.after);
    link_next(stretch.before, kept);
    link_previous(stretch.after, kept);
    return heap_offer(heap, kept);
}

int heap_note_completion(heap_blocks *heap) {
    struct row complete = {0};
    PyObject *finished = PyList_New(0);
    int status = finished == NULL ? -1 : collect_complete(heap, &complete, finished);
    // In address order a stretch is at the front of its runs, so that leaving them is one step.
    size_t starts = status < 0 ? 0 : sort_starts(&complete);
    for (size_t i = 0; status == 0 && i < starts; i++) {
        status = complete_stretch(heap, complete.blocks[i]);
    }
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(finished); i++) {
        status = drop_view(heap, (run_index *)PyList_GET_ITEM(finished, i));
    }
    row_free(&complete);
    Py_XDECREF(finished);
    return status;
}

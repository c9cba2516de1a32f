// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of pending blocks when their queue has passed them: heap_blocks.py.

#include "structure.h"

#include <stdlib.h>

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

static int collect_complete(heap_blocks *heap, struct row *complete, PyObject *finished) {
    PyObject *order, *each, *part, *unused;
    Py_ssize_t position = 0;
    while (PyDict_Next(heap->views, &position, &order, &each)) {
        run_index *view = (run_index *)each;
        uint64_t completed;
        if (order_completed(order, &completed) < 0) {
            return -1;
        }
        Py_ssize_t place = 0;
        while (PyDict_Next(view->pending, &place, &part, &unused) &&
               ((block *)part)->stamp <= completed) {
            if (row_add(complete, (block *)part) < 0) {
                return -1;
            }
        }
        if (completed >= EVERYTHING && PyList_Append(finished, each) < 0) {
            return -1;
        }
    }
    return 0;
}

int heap_note_completion(heap_blocks *heap) {
    struct row complete = {0};
    PyObject *finished = PyList_New(0);
    int status = finished == NULL ? -1 : collect_complete(heap, &complete, finished);
    // In address order a block is at the front of its run, so that leaving it is one step.
    if (complete.count > 1) {
        qsort(complete.blocks, complete.count, sizeof(block *), by_address);
    }
    for (size_t i = 0; status == 0 && i < complete.count; i++) {
        block *part = complete.blocks[i];
        status = heap_remove_pending(heap, part) < 0 || heap_set_idle(heap, part) < 0 ? -1 : 0;
    }
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(finished); i++) {
        status = drop_view(heap, (run_index *)PyList_GET_ITEM(finished, i));
    }
    row_free(&complete);
    Py_XDECREF(finished);
    return status;
}

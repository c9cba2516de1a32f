// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pool counts at every allocation and free: tally.py.

#include "structure.h"

#include <structmember.h>

void tally_handed_out(tally *numbers, block *given, uint64_t requested) {
    given->requested = requested;
    given->born = (uint64_t)++numbers->births;
    numbers->allocations++;
    numbers->requested += (int64_t)requested;
    numbers->used += (int64_t)given->size;
    if (numbers->used > numbers->used_high) {
        numbers->used_high = numbers->used;
    }
}

void tally_taken_back(tally *numbers, const block *freed) {
    numbers->used -= (int64_t)freed->size;
    numbers->requested -= (int64_t)freed->requested;
    numbers->frees++;
}

static PyObject *method_handed_out(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !Py_IS_TYPE(given[0], &block_type)) {
        PyErr_SetString(PyExc_TypeError, "handed_out() takes a block and its requested bytes");
        return NULL;
    }
    uint64_t requested = PyLong_AsUnsignedLongLong(given[1]);
    if (requested == UINT64_MAX && PyErr_Occurred()) {
        return NULL;
    }
    tally_handed_out((tally *)self, (block *)given[0], requested);
    Py_RETURN_NONE;
}

static PyObject *method_taken_back(PyObject *self, PyObject *argument) {
    if (!Py_IS_TYPE(argument, &block_type)) {
        PyErr_Format(PyExc_TypeError, "taken_back() takes a block, not %R", argument);
        return NULL;
    }
    tally_taken_back((tally *)self, (block *)argument);
    Py_RETURN_NONE;
}

static PyObject *method_counts(PyObject *self, PyObject *unused) {
    (void)unused;
    const tally *numbers = (tally *)self;
    return Py_BuildValue("{sLsLsLsLsL}", "allocations", (long long)numbers->allocations, "frees",
                         (long long)numbers->frees, "reused_idle",
                         (long long)numbers->reused[REUSE_IDLE], "reused_own",
                         (long long)numbers->reused[REUSE_OWN], "reused_clock",
                         (long long)numbers->reused[REUSE_CLOCK]);
}

static PyMethodDef methods[] = {
    {"handed_out", (PyCFunction)(void (*)(void))method_handed_out, METH_FASTCALL,
     "Note that a block goes to a caller."},
    {"taken_back", method_taken_back, METH_O, "Note that a block was freed."},
    {"counts", method_counts, METH_NOARGS, "Return the counts by their names."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"used", T_LONGLONG, offsetof(tally, used), 0, "Bytes of blocks in use."},
    {"used_high", T_LONGLONG, offsetof(tally, used_high), 0, "The peak of used bytes."},
    {"requested", T_LONGLONG, offsetof(tally, requested), 0, "Bytes that were asked for."},
    {"births", T_LONGLONG, offsetof(tally, births), 0, "Number of the latest allocation."},
    {"allocations", T_LONGLONG, offsetof(tally, allocations), 0, "Allocations not undone."},
    {"frees", T_LONGLONG, offsetof(tally, frees), 0, "Frees."},
    {"reused_idle", T_LONGLONG, offsetof(tally, reused[REUSE_IDLE]), 0, "Of complete blocks."},
    {"reused_own", T_LONGLONG, offsetof(tally, reused[REUSE_OWN]), 0, "Of the queue's own frees."},
    {"reused_clock", T_LONGLONG, offsetof(tally, reused[REUSE_CLOCK]), 0, "By a clock."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject tally_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.Tally",
    .tp_basicsize = sizeof(tally),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a pool counts at every call, in C.",
    .tp_new = PyType_GenericNew,
    .tp_methods = methods,
    .tp_members = members,
};

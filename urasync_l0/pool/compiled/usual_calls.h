// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the UR adapter libraries call of this module without a function in Python: the usual
// allocations, frees and events. They find it in a capsule, whose name changes with what it holds.

#ifndef URASYNC_USUAL_CALLS_H
#define URASYNC_USUAL_CALLS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#define URASYNC_USUAL_CALLS "usual_calls_2"

// The caller holds Python's lock, and a reference to each object. Where an int is given, it is 1
// when it is done, 0 where the method in Python has to do it and nothing was changed, -1 with an
// error. Who wants an event gives a place for a new reference to it, else NULL.
struct usual_calls {
    // Gives the address of so many bytes, of a ur_usm_type_t and from a pool, or from the current
    // one for NULL.
    int (*allocate)(PyObject *queue, uint32_t kind, uint64_t size, PyObject *pool,
                    uint64_t *address, PyObject **event);
    int (*free)(PyObject *queue, uint64_t address, PyObject **event);
    // A barrier, or just a wait, behind nothing but the queue itself.
    int (*record)(PyObject *queue, bool is_barrier, PyObject **event);
    // Whether a queue is behind an event in any case, so that a wait for it does nothing.
    bool (*is_behind)(PyObject *queue, PyObject *event);
    // Releases an event that nobody has counted the references of.
    int (*release)(PyObject *event);
};

// Puts the capsule into the module.
int add_usual_calls(PyObject *module);

#endif

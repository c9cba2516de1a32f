// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The usual allocations and frees of queue_front.c, for the UR adapter libraries.

#include "usual_calls.h"

#include "structure.h"

static PyObject *kinds[4]; // the members of UsmType by their values

static int allocate(PyObject *queue, uint32_t kind, uint64_t size, PyObject *pool,
                    uint64_t *address) {
    if (!PyObject_TypeCheck(queue, &queue_front_type) || kind >= sizeof kinds / sizeof *kinds) {
        return 0;
    }
    PyObject *nbytes = PyLong_FromUnsignedLongLong(size);
    PyObject *given = nbytes == NULL ? NULL
                                     : queue_allocate((queue_front *)queue, kinds[kind], nbytes,
                                                      pool, false, false);
    Py_XDECREF(nbytes);
    if (given == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    *address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(given, 0));
    Py_DECREF(given);
    return 1;
}

static int free_(PyObject *queue, uint64_t address) {
    if (!PyObject_TypeCheck(queue, &queue_front_type)) {
        return 0;
    }
    PyObject *target = PyLong_FromUnsignedLongLong(address);
    PyObject *event = target == NULL ? NULL : queue_free((queue_front *)queue, target, false);
    Py_XDECREF(target);
    if (event == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_DECREF(event);
    return 1;
}

int add_usual_calls(PyObject *module) {
    static const struct usual_calls calls = {allocate, free_};
    static const char name[] = "urasync_l0.pool._structure." URASYNC_USUAL_CALLS;
    static const char *const names[] = {"UNKNOWN", "HOST", "DEVICE", "SHARED"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kinds[i] = PyObject_GetAttrString(known.usm_type, names[i]);
        if (kinds[i] == NULL) {
            return -1;
        }
    }
    PyObject *capsule = PyCapsule_New((void *)&calls, name, NULL);
    int status = capsule == NULL ? -1 : PyModule_AddObjectRef(module, URASYNC_USUAL_CALLS, capsule);
    Py_XDECREF(capsule);
    return status;
}

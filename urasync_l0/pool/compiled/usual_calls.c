// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The usual calls of queue_front.c and held_signal.c, for the UR adapter libraries.

#include "usual_calls.h"

#include "structure.h"

static PyObject *kinds[4]; // the members of UsmType by their values

static int allocate(PyObject *queue, uint32_t kind, uint64_t size, PyObject *pool,
                    uint64_t *address, PyObject **event) {
    if (!is_a(queue, &queue_front_type) || kind >= sizeof kinds / sizeof *kinds) {
        return 0;
    }
    PyObject *nbytes = PyLong_FromUnsignedLongLong(size);
    PyObject *given = nbytes == NULL ? NULL
                                     : queue_allocate((queue_front *)queue, kinds[kind], nbytes,
                                                      pool, false, event != NULL);
    Py_XDECREF(nbytes);
    if (given == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    *address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(given, 0));
    if (event != NULL) {
        *event = Py_NewRef(PyTuple_GET_ITEM(given, 1));
    }
    Py_DECREF(given);
    return 1;
}

// Hands out the event of a call, NULL if there was none.
static int give(PyObject *made, PyObject **event) {
    if (made == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (event != NULL) {
        *event = made;
    } else {
        Py_DECREF(made);
    }
    return 1;
}

static int free_(PyObject *queue, uint64_t address, PyObject **event) {
    if (!is_a(queue, &queue_front_type)) {
        return 0;
    }
    PyObject *target = PyLong_FromUnsignedLongLong(address);
    PyObject *made =
        target == NULL ? NULL : queue_free((queue_front *)queue, target, event != NULL);
    Py_XDECREF(target);
    return give(made, event);
}

static int record(PyObject *queue, bool is_barrier, PyObject **event) {
    if (!is_a(queue, &queue_front_type)) {
        return 0;
    }
    PyObject *command = is_barrier ? known.command_barrier : known.command_record;
    return give(queue_record((queue_front *)queue, command), event);
}

static bool is_behind(PyObject *queue, PyObject *event) {
    return is_a(queue, &queue_front_type) && queue_is_behind((queue_front *)queue, event);
}

static int release(PyObject *event) {
    // Who counts references, or watches the event, has a weak reference to it.
    if (!is_a(event, &held_signal_type) || ((held_signal *)event)->signal == NULL ||
        *PyObject_GET_WEAKREFS_LISTPTR(event) != NULL) {
        return 0;
    }
    return held_release((held_signal *)event) < 0 ? -1 : 1;
}

int add_usual_calls(PyObject *module) {
    static const struct usual_calls calls = {allocate, free_, record, is_behind, release};
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

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The allocations and frees that enter no function in Python: the pool core does the usual ones in
 * C, once the handles are looked up. What it leaves undone goes to Python as any other call, which
 * has all rules and reports all errors.
 */
#include "library.h"

#include "usual_calls.h"

static struct {
    const struct usual_calls *calls; /* NULL without a pool core in C */
    PyInterpreterState *interpreter;
    PyObject *queues, *pools; /* the tables of handles */
    PyObject *failed;
} front;

void connect_usual_calls(uintptr_t queues, uintptr_t pools, uintptr_t failed) {
    const PyGILState_STATE held = PyGILState_Ensure();
    front.calls = PyCapsule_Import("urasync_l0.pool._structure." URASYNC_USUAL_CALLS, 0);
    if (front.calls == NULL)
        PyErr_Clear(); /* a Python program with another version of the package than ours */
    front.interpreter = PyInterpreterState_Get();
    front.queues = Py_NewRef((PyObject *)queues);
    front.pools = Py_NewRef((PyObject *)pools);
    front.failed = Py_NewRef((PyObject *)failed);
    PyGILState_Release(held);
}

/*
 * Whether this thread can have Python's lock at once, which it then has. The first call of a thread
 * goes through cffi, which keeps what Python knows of the thread until it ends.
 */
static bool have_python(PyGILState_STATE *held) {
#ifdef Py_GIL_DISABLED
    (void)held;
    return false; /* tables would change under our hands */
#else
    PyThreadState *thread = front.calls == NULL ? NULL : PyGILState_GetThisThreadState();
    if (thread == NULL || PyThreadState_GetInterpreter(thread) != front.interpreter)
        return false;
    *held = PyGILState_Ensure();
    return true;
#endif
}

/* The object of a handle as a new reference; NULL where there is none. */
static PyObject *object_of(PyObject *table, const void *handle) {
    PyObject *number = PyLong_FromVoidPtr((void *)handle);
    PyObject *found = number == NULL ? NULL : PyDict_GetItemWithError(table, number);
    Py_XINCREF(found);
    Py_XDECREF(number);
    PyErr_Clear();
    return found;
}

/* What the functions in Python do with an error: it is kept, logged, and made a code. */
static ur_result_t code_of_error(const char *entry) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL)
        PyException_SetTraceback(error, trace);
    PyObject *answer = PyObject_CallFunction(front.failed, "sO", entry, error);
    const unsigned long code =
        answer == NULL ? UR_RESULT_ERROR_UNKNOWN : PyLong_AsUnsignedLong(answer);
    PyErr_Clear();
    Py_XDECREF(answer);
    Py_XDECREF(trace);
    Py_XDECREF(error);
    Py_XDECREF(type);
    return (ur_result_t)code;
}

bool allocate_at_once(const char *entry, ur_usm_type_t kind, ur_queue_handle_t queue,
                      ur_usm_pool_handle_t pool, size_t size, void **mem, ur_result_t *result) {
    PyGILState_STATE held;
    uint64_t address = 0;
    int done = 0;
    if (!have_python(&held))
        return false;
    PyObject *on = object_of(front.queues, queue);
    PyObject *from = pool == NULL ? NULL : object_of(front.pools, pool);
    if (on != NULL && (from != NULL || pool == NULL))
        done = front.calls->allocate(on, kind, size, from, &address);
    *result = done < 0 ? code_of_error(entry) : UR_RESULT_SUCCESS;
    if (done > 0)
        *mem = (void *)(uintptr_t)address;
    Py_XDECREF(from);
    Py_XDECREF(on);
    PyGILState_Release(held);
    return done != 0;
}

bool free_at_once(const char *entry, ur_queue_handle_t queue, void *mem, ur_result_t *result) {
    PyGILState_STATE held;
    int done = 0;
    if (!have_python(&held))
        return false;
    PyObject *on = object_of(front.queues, queue);
    if (on != NULL)
        done = front.calls->free(on, (uintptr_t)mem);
    *result = done < 0 ? code_of_error(entry) : UR_RESULT_SUCCESS;
    Py_XDECREF(on);
    PyGILState_Release(held);
    return done != 0;
}

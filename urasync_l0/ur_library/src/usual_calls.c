/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The allocations, frees and events that enter no function in Python: the pool core does the usual
 * ones in C, once the handles are looked up. What it leaves undone goes to Python as any other
 * call, which has all rules and reports all errors.
 */
#include "library.h"

#include "usual_calls.h"

static struct {
    const struct usual_calls *calls; /* NULL without a pool core in C */
    PyInterpreterState *interpreter;
    PyObject *queues, *pools, *events; /* the tables of handles */
    PyObject *event_handles;           /* of events that have one in that table for good */
    PyObject *cells;                   /* the handles that stand for nothing */
    PyObject *released_contexts;       /* those that end with what depends on them */
    PyObject *failed;
} front;

/* What is done on a queue once the call's handles are known. */
struct usual_work {
    int (*function)(const struct usual_work *work, PyObject *on, PyObject **event);
    ur_usm_type_t kind;
    ur_usm_pool_handle_t pool;
    size_t size;
    void **given;
    void *freed;
    bool is_barrier;
};

static bool take_over(PyObject *given) {
    if (!PyArg_ParseTuple(given, "O!O!O!O!OO!O", &PyDict_Type, &front.queues, &PyDict_Type,
                          &front.pools, &PyDict_Type, &front.events, &PyDict_Type,
                          &front.event_handles, &front.cells, &PySet_Type, &front.released_contexts,
                          &front.failed))
        return false;
    Py_INCREF(given); /* and so all that is in it */
    return true;
}

void connect_usual_calls(uintptr_t given) {
    const PyGILState_STATE held = PyGILState_Ensure();
    front.calls = PyCapsule_Import("urasync_l0.pool._structure." URASYNC_USUAL_CALLS, 0);
    if (front.calls == NULL || !take_over((PyObject *)given)) {
        PyErr_Clear(); /* a Python program with another version of the package than ours */
        front.calls = NULL;
    }
    front.interpreter = PyInterpreterState_Get();
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

/* The object that a table has for a number, as a new reference; NULL where there is none. */
static PyObject *object_at(PyObject *table, PyObject *number) {
    PyObject *found = number == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(table, number));
    PyErr_Clear();
    return found;
}

static PyObject *object_of(PyObject *table, const void *handle) {
    PyObject *number = PyLong_FromVoidPtr((void *)handle);
    PyObject *found = object_at(table, number);
    Py_XDECREF(number);
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

/*
 * The queue of a call as a new reference, if it need not wait for any of the call's events. NULL
 * where the function in Python has to look.
 */
static PyObject *queue_of(const struct usual_call *call) {
    PyObject *on = object_of(front.queues, call->queue);
    if (on == NULL || (call->count == 0) != (call->wait_list == NULL))
        goto no;
    for (uint32_t i = 0; i < call->count; i++) {
        PyObject *event = object_of(front.events, call->wait_list[i]);
        const bool is_behind = event != NULL && front.calls->is_behind(on, event);
        Py_XDECREF(event);
        if (!is_behind)
            goto no;
    }
    return on;
no:
    Py_XDECREF(on);
    return NULL;
}

/*
 * A cell for the handle of the event that a call asks for, which stands for nothing yet: so
 * whatever fails does so before the call. NULL where there is none to be had at once.
 */
static PyObject *take_cell(void) {
    PyObject *handle =
        PyObject_Size(front.cells) > 0 ? PyObject_CallMethod(front.cells, "popleft", NULL) : NULL;
    if (handle != NULL && PyDict_SetItem(front.events, handle, Py_None) < 0)
        Py_CLEAR(handle);
    PyErr_Clear();
    return handle;
}

static void give_cell_back(PyObject *handle) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *done = PyDict_DelItem(front.events, handle) < 0
                         ? NULL
                         : PyObject_CallMethod(front.cells, "append", "O", handle);
    if (done == NULL)
        PyErr_Clear(); /* the cell is lost */
    Py_XDECREF(done);
    PyErr_Restore(type, error, trace);
}

/* Does a call, with its event if it asks for one, and gives what the call in the pool core gave. */
static int with_event(const struct usual_call *call, PyObject *on, const struct usual_work *work) {
    PyObject *event = NULL, *handle = NULL;
    if (call->event != NULL && (handle = take_cell()) == NULL)
        return 0;
    const int done = work->function(work, on, handle == NULL ? NULL : &event);
    if (handle == NULL)
        return done;
    if (done <= 0) {
        give_cell_back(handle);
    } else {
        PyDict_SetItem(front.events, handle, event); /* there is one, so this takes no memory */
        *call->event = PyLong_AsVoidPtr(handle);
    }
    Py_XDECREF(event);
    Py_DECREF(handle);
    return done;
}

static bool do_at_once(const struct usual_call *call, const struct usual_work *work,
                       ur_result_t *result) {
    PyGILState_STATE held;
    int done = 0;
    if (!have_python(&held))
        return false;
    PyObject *on = queue_of(call);
    if (on != NULL)
        done = with_event(call, on, work);
    *result = done < 0 ? code_of_error(call->entry) : UR_RESULT_SUCCESS;
    Py_XDECREF(on);
    PyGILState_Release(held);
    return done != 0;
}

static int allocate(const struct usual_work *work, PyObject *on, PyObject **event) {
    uint64_t address = 0;
    PyObject *from = work->pool == NULL ? NULL : object_of(front.pools, work->pool);
    int done = 0;
    if (from != NULL || work->pool == NULL)
        done = front.calls->allocate(on, work->kind, work->size, from, &address, event);
    Py_XDECREF(from);
    if (done > 0)
        *work->given = (void *)(uintptr_t)address;
    return done;
}

bool allocate_at_once(const struct usual_call *call, ur_usm_type_t kind, ur_usm_pool_handle_t pool,
                      size_t size, void **mem, ur_result_t *result) {
    const struct usual_work work = {
        .function = allocate, .kind = kind, .pool = pool, .size = size, .given = mem};
    return do_at_once(call, &work, result);
}

static int free_(const struct usual_work *work, PyObject *on, PyObject **event) {
    return front.calls->free(on, (uintptr_t)work->freed, event);
}

bool free_at_once(const struct usual_call *call, void *mem, ur_result_t *result) {
    const struct usual_work work = {.function = free_, .freed = mem};
    return do_at_once(call, &work, result);
}

static int record(const struct usual_work *work, PyObject *on, PyObject **event) {
    /* Without an event it is a wait for what the queue is behind already. */
    return event == NULL ? 1 : front.calls->record(on, work->is_barrier, event);
}

bool record_at_once(const struct usual_call *call, bool is_barrier, ur_result_t *result) {
    const struct usual_work work = {.function = record, .is_barrier = is_barrier};
    return do_at_once(call, &work, result);
}

/* Only where nothing waits for the release but the event itself. */
static int release(PyObject *handle, PyObject *event) {
    if (PySet_GET_SIZE(front.released_contexts) > 0 || PyDict_GET_SIZE(front.event_handles) > 0)
        return 0;
    const int done = front.calls->release(event);
    if (done > 0)
        give_cell_back(handle);
    return done;
}

bool release_event_at_once(ur_event_handle_t event, ur_result_t *result) {
    PyGILState_STATE held;
    int done = 0;
    if (!have_python(&held))
        return false;
    PyObject *handle = PyLong_FromVoidPtr(event);
    PyObject *released = object_at(front.events, handle);
    if (released != NULL)
        done = release(handle, released);
    *result = done < 0 ? code_of_error("urEventRelease") : UR_RESULT_SUCCESS;
    Py_XDECREF(released);
    Py_XDECREF(handle);
    PyGILState_Release(held);
    return done != 0;
}

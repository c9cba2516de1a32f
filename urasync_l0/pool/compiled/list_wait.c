// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The append of a wait that nothing else comes with: `CommandList.place` of command_list.py, and
// what that asks of order.py and event_source.py.

#include "structure.h"

// -- the clock --------------------------------------------------------------------------------

static bool is_readable(PyObject *clock) {
    return clock != NULL && (clock == known.nothing || PyDict_CheckExact(clock));
}

static PyObject *without_finished(PyObject *clock) {
    PyObject *left = PyDict_New();
    Py_ssize_t position = 0;
    PyObject *order, *number;
    while (left != NULL && clock != known.nothing &&
           PyDict_Next(clock, &position, &order, &number)) {
        uint64_t completed = 0, passed = PyLong_AsUnsignedLongLong(number);
        if ((passed == UINT64_MAX && PyErr_Occurred()) || order_completed(order, &completed) < 0 ||
            (passed > completed && PyDict_SetItem(left, order, number) < 0)) {
            Py_CLEAR(left);
        }
    }
    return left;
}

// Adds one entry to a clock's copy, which is made when there is something to add.
static int merge_entry(const order_fields *own, PyObject *order, uint64_t number,
                       PyObject **merged) {
    uint64_t completed = 0, known_number = 0;
    if (order == (const PyObject *)own) {
        return 0;
    }
    if (order_completed(order, &completed) < 0 ||
        clock_number(*merged == NULL ? own->clock : *merged, order, &known_number) < 0) {
        return -1;
    }
    if (number <= completed || number <= known_number) {
        return 0;
    }
    if (*merged == NULL) {
        *merged = without_finished(own->clock);
    }
    PyObject *value = *merged == NULL ? NULL : PyLong_FromUnsignedLongLong(number);
    int status = value == NULL ? -1 : PyDict_SetItem(*merged, order, value);
    Py_XDECREF(value);
    return status;
}

static int merge_by_reference(order_fields *own, mark_fields *mark) {
    PyObject *answer = PyObject_CallMethodOneArg((PyObject *)own, known.merge, (PyObject *)mark);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

// As QueueOrder.merge.
static int merge(order_fields *own, mark_fields *mark) {
    if (!is_readable(own->clock) || !is_readable(mark->clock)) {
        return merge_by_reference(own, mark);
    }
    PyObject *merged = NULL;
    int status = merge_entry(own, mark->order, mark->number, &merged);
    Py_ssize_t position = 0;
    PyObject *order, *number;
    while (status == 0 && mark->clock != known.nothing &&
           PyDict_Next(mark->clock, &position, &order, &number)) {
        uint64_t passed = PyLong_AsUnsignedLongLong(number);
        status = passed == UINT64_MAX && PyErr_Occurred()
                     ? -1
                     : merge_entry(own, order, passed, &merged);
    }
    if (status == 0 && merged != NULL) {
        replace(&own->clock, merged);
    }
    Py_XDECREF(merged);
    return status;
}

// -- the wait ---------------------------------------------------------------------------------

static bool can_wait(const list_front *list) {
#ifdef Py_GIL_DISABLED
    (void)list;
    return false;
#else
    return !list->is_closing && list->wait != 0 && list->order != NULL &&
           is_a(list->order, &order_fields_type) && ((order_fields *)list->order)->lock != NULL &&
           ((order_fields *)list->order)->clock != NULL;
#endif
}

static uint32_t append(const list_front *list, const struct awaited *awaited) {
    typedef uint32_t wait_t(void *, uint32_t, void **);
    wait_t *function = (wait_t *)(uintptr_t)list->wait;
    void *native = (void *)(uintptr_t)list->value, *events[WAITS_AT_ONCE];
    for (uint32_t i = 0; i < awaited->count; i++) {
        events[i] = (void *)(uintptr_t)awaited->signals[i]->value;
    }
    PyThreadState *thread = PyEval_SaveThread(); // a driver may make who appends wait
    uint32_t code = function(native, awaited->count, events);
    PyEval_RestoreThread(thread);
    return code;
}

// As EventSource.waited. Who waits has numbers of its own, so its queue's lock is enough.
static int note_waiter(PyObject *waiters, PyObject *order, uint64_t number) {
    uint64_t earlier = 0;
    if (waiters == NULL) {
        return 0;
    }
    if (clock_number(waiters, order, &earlier) < 0) {
        return -1;
    }
    PyObject *value = PyLong_FromUnsignedLongLong(earlier > number ? earlier : number);
    int status = value == NULL ? -1 : PyDict_SetItem(waiters, order, value);
    Py_XDECREF(value);
    return status;
}

static int note_wait(order_fields *order, const struct awaited *awaited) {
    order->sequence++;
    for (uint32_t i = 0; i < awaited->count; i++) {
        const native_signal *signal = awaited->signals[i];
        if (note_waiter(signal->waiters, (PyObject *)order, order->sequence) < 0 ||
            merge(order, (mark_fields *)signal->mark) < 0) {
            return -1;
        }
    }
    return 1;
}

static void refuse(list_front *list, uint32_t code, uint32_t count) {
    PyObject *number = PyLong_FromUnsignedLong(code), *events = PyLong_FromUnsignedLong(count);
    PyObject *answer =
        number == NULL || events == NULL
            ? NULL
            : PyObject_CallMethodObjArgs((PyObject *)list, known.refuse_wait, number, events, NULL);
    Py_XDECREF(number);
    Py_XDECREF(events);
    Py_XDECREF(answer);
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_SystemError, "the error %u of the driver raised nothing", code);
    }
}

int list_wait(list_front *list, const struct awaited *awaited) {
    if (!can_wait(list)) {
        return 0;
    }
    uint32_t code = 0;
    int status = 0;
    lock_acquire(list_lock(list));
    if (!list->is_closing) {
        code = append(list, awaited);
        status = code == 0 ? note_wait((order_fields *)list->order, awaited) : -1;
    }
    lock_release(list_lock(list));
    if (code != 0) {
        refuse(list, code, awaited->count);
    }
    return status;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The markers of a crowded heap: `Search.mark` of search.py, and what it asks of order.py, for
// queues whose lists can signal at once. Where one cannot, the reference does all of it.
//
// This relies on the interpreter's lock, as queue_front.c does.

#include "structure.h"

enum { MARKERS_AT_MOST = 16, QUERIES_AT_ONCE = 4 };
enum { NOT_READY = 1 }; // what a query answers of a signal that has not happened; 0 of one that has

// A queue with pending frees, and the stamp that a marker of it must cover; 0 for none.
struct freed {
    order_fields *order; // a reference
    uint64_t stamp;
};

// -- what there is to do ----------------------------------------------------------------------

static bool is_usual(PyObject *order) {
    if (!PyObject_TypeCheck(order, &order_fields_type)) {
        return false;
    }
    const order_fields *fields = (order_fields *)order;
    return fields->markers != NULL && fields->operations != NULL &&
           PyObject_TypeCheck(fields->operations, &list_front_type) &&
           ((list_front *)fields->operations)->order == order &&
           list_can_signal((list_front *)fields->operations) &&
           ((domain_fields *)fields->domain)->lock != NULL;
}

static bool are_usual(const heap_blocks *heap) {
    Py_ssize_t position = 0;
    PyObject *order, *view;
    while (PyDict_Next(heap->views, &position, &order, &view)) {
        if (PyDict_GET_SIZE(((run_index *)view)->pending) != 0 && !is_usual(order)) {
            return false;
        }
    }
    return true;
}

// That of the newest pending free.
static int newest_stamp(const run_index *view, uint64_t *stamp) {
    PyObject *newest_first = PyObject_CallMethodNoArgs(view->pending, known.reversed);
    PyObject *newest = newest_first == NULL ? NULL : PyIter_Next(newest_first);
    Py_XDECREF(newest_first);
    if (newest == NULL) {
        return -1;
    }
    *stamp = ((block *)newest)->stamp;
    Py_DECREF(newest);
    return 0;
}

// The queues with pending frees, as many as there is room for: one for each view. The heap is not
// crowded any more.
static int collect(heap_blocks *heap, struct freed *all, Py_ssize_t *count) {
    Py_ssize_t position = 0;
    PyObject *order, *found;
    heap->crowded = 0;
    while (PyDict_Next(heap->views, &position, &order, &found)) {
        run_index *view = (run_index *)found;
        if (PyDict_GET_SIZE(view->pending) == 0) {
            continue;
        }
        struct freed *freed = &all[(*count)++];
        *freed = (struct freed){.order = (order_fields *)Py_NewRef(order)};
        if (heap_is_crowded_by(heap, view)) {
            if (newest_stamp(view, &freed->stamp) < 0) {
                return -1;
            }
            view->unmarked_bytes = view->unmarked_frees = 0;
        }
    }
    return 0;
}

// -- placing ----------------------------------------------------------------------------------

static bool is_covered(PyObject *markers, uint64_t stamp) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(markers); i++) {
        if (signal_number(PyList_GET_ITEM(markers, i)) >= stamp) {
            return true;
        }
    }
    return false;
}

static int place_by_reference(order_fields *order, uint64_t stamp) {
    PyObject *number = PyLong_FromUnsignedLongLong(stamp);
    PyObject *marker = number == NULL ? NULL
                                      : PyObject_CallMethodOneArg((PyObject *)order,
                                                                  known.marker_covering, number);
    PyObject *answer = marker == NULL ? NULL : PyObject_CallMethodNoArgs(marker, known.release);
    Py_XDECREF(number);
    Py_XDECREF(marker);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

// As QueueOrder.marker_covering, for nobody but the queue's markers to hold.
static int place(order_fields *order, uint64_t stamp) {
    lock *own = (lock *)order->lock;
    list_front *list = (list_front *)Py_NewRef(order->operations);
    native_signal *given = NULL;
    lock_acquire(own);
    bool is_done = is_covered(order->markers, stamp);
    if (!is_done) {
        given = list_signal_from(list, stamp);
    }
    lock_release(own);
    if (!is_done && given == NULL) {
        given = list_signal_at_once(list, true);
    }
    Py_DECREF((PyObject *)list);
    if (given == NULL) {
        return is_done ? 0 : PyErr_Occurred() ? -1 : place_by_reference(order, stamp);
    }
    lock_acquire(own);
    bool is_kept = order->completed < EVERYTHING; // else nobody would ever take it off the list
    int status = is_kept ? PyList_Append(order->markers, (PyObject *)given) : 0;
    lock_release(own);
    if ((!is_kept || status < 0) && signal_release(given) < 0) {
        status = -1;
    }
    Py_DECREF((PyObject *)given);
    return status;
}

// -- querying ---------------------------------------------------------------------------------

static bool raise_completed(order_fields *order, uint64_t number) {
    if (number <= order->completed) {
        return false;
    }
    order->completed = number;
    return true;
}

static int complete_by_reference(PyObject *domain, const mark_fields *mark) {
    PyObject *answer = PyObject_CallMethodOneArg(domain, known.complete, (PyObject *)mark);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

// As OrderDomain.complete.
static int complete(domain_fields *domain, const mark_fields *mark) {
    bool has_clock = mark->clock != known.nothing;
    if (has_clock && !PyDict_CheckExact(mark->clock)) {
        return complete_by_reference((PyObject *)domain, mark);
    }
    int status = 0;
    lock_acquire((lock *)domain->lock);
    bool has_moved = raise_completed((order_fields *)mark->order, mark->number);
    Py_ssize_t position = 0;
    PyObject *order, *number;
    while (has_clock && PyDict_Next(mark->clock, &position, &order, &number)) {
        uint64_t passed = PyLong_AsUnsignedLongLong(number);
        if (passed == UINT64_MAX && PyErr_Occurred()) {
            status = -1;
            break;
        }
        has_moved |= raise_completed((order_fields *)order, passed);
    }
    domain->epoch += has_moved;
    lock_release((lock *)domain->lock);
    return status;
}

static Py_ssize_t count_passed(PyObject *markers, uint64_t number) {
    Py_ssize_t passed = 0;
    while (passed < PyList_GET_SIZE(markers)) {
        uint64_t its_own = signal_number(PyList_GET_ITEM(markers, passed));
        if (its_own == 0 || its_own > number) {
            break;
        }
        passed++;
    }
    return passed;
}

// As QueueOrder.retire.
static int retire(order_fields *order, const mark_fields *mark) {
    if (complete((domain_fields *)order->domain, mark) < 0) {
        return -1;
    }
    lock_acquire((lock *)order->lock);
    Py_ssize_t passed = count_passed(order->markers, mark->number);
    PyObject *retired = PyList_GetSlice(order->markers, 0, passed);
    int status = retired == NULL ? -1 : PyList_SetSlice(order->markers, 0, passed, NULL);
    lock_release((lock *)order->lock);
    for (Py_ssize_t i = 0; status == 0 && i < passed; i++) {
        status = signal_release((native_signal *)PyList_GET_ITEM(retired, i));
    }
    Py_XDECREF(retired);
    return status;
}

// The oldest marker, held, as a new reference; NULL without one.
static native_signal *oldest(order_fields *order) {
    native_signal *found = NULL;
    lock_acquire((lock *)order->lock);
    if (PyList_GET_SIZE(order->markers) != 0) {
        PyObject *first = PyList_GET_ITEM(order->markers, 0);
        if (signal_number(first) != 0 && signal_hold((native_signal *)first)) {
            found = (native_signal *)Py_NewRef(first);
        }
    }
    lock_release((lock *)order->lock);
    return found;
}

static bool has(PyObject *owner, PyObject *name, PyObject *value) {
    PyObject *found = owner == NULL ? NULL : PyObject_GetAttr(owner, name);
    Py_XDECREF(found);
    return found == value;
}

// Whether the driver may be asked: the context is open, and no device of it lost.
static bool may_ask(native_signal *marker) {
    PyObject *source = PyObject_GetAttr((PyObject *)marker, known.source);
    PyObject *loss = source == NULL ? NULL : PyObject_GetAttr(source, known.loss);
    bool answer = has(source, known.is_closing, Py_False) && has(loss, known.error, Py_None);
    Py_XDECREF(source);
    Py_XDECREF(loss);
    PyErr_Clear();
    return answer;
}

static int truth_of(PyObject *answer) {
    int truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return truth;
}

static int ask_driver(const list_front *list, native_signal *marker) {
    typedef uint32_t query_t(void *);
    query_t *function = (query_t *)(uintptr_t)list->query;
    PyThreadState *thread = PyEval_SaveThread(); // a driver may make who asks wait
    uint32_t code = function((void *)(uintptr_t)marker->value);
    PyEval_RestoreThread(thread);
    if (code <= NOT_READY) {
        return code != NOT_READY;
    }
    PyObject *number = PyLong_FromUnsignedLong(code);
    PyObject *answer =
        number == NULL ? NULL
                       : PyObject_CallMethodOneArg((PyObject *)marker, known.refuse_query, number);
    Py_XDECREF(number);
    Py_XDECREF(answer);
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_SystemError, "the error %u of the driver raised nothing", code);
    }
    return -1;
}

// As CallsUnderWay.begin: the thread's number, which is for `end`, and its list of such.
static PyObject *begin(PyObject *asks, PyObject **threads) {
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    *threads = thread == NULL ? NULL : PyObject_GetAttr(asks, known.threads);
    if (*threads == NULL || !PyList_CheckExact(*threads) || PyList_Append(*threads, thread) < 0) {
        Py_XDECREF(*threads);
        Py_CLEAR(thread);
    }
    return thread;
}

// As CallsUnderWay.end. An equal number of the same thread will do as well as this one.
static int end(PyObject *asks, PyObject *threads, PyObject *thread) {
    Py_ssize_t last = PyList_GET_SIZE(threads) - 1;
    int is_it = 0;
    while (last >= 0) {
        is_it = PyObject_RichCompareBool(PyList_GET_ITEM(threads, last), thread, Py_EQ);
        if (is_it != 0) {
            break;
        }
        last--;
    }
    int status = is_it > 0 ? PyList_SetSlice(threads, last, last + 1, NULL) : -1;
    Py_DECREF(threads);
    Py_DECREF(thread);
    PyObject *waiting = status < 0 ? NULL : PyObject_GetAttr(asks, known.waiting);
    int has_waiting = waiting == NULL ? -1 : PyObject_IsTrue(waiting);
    Py_XDECREF(waiting);
    return has_waiting > 0 ? call_method(asks, known.tell) : has_waiting;
}

static int end_keeping_error(PyObject *asks, PyObject *threads, PyObject *thread) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    int status = end(asks, threads, thread);
    if (status == 0) {
        PyErr_Restore(type, value, trace);
    } else {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    return status;
}

// As NativeEvent.query: who asks counts itself first and then looks, so that nothing is destroyed
// under its hands.
static int query(order_fields *order, native_signal *marker) {
    list_front *list = (list_front *)order->operations;
    PyObject *asks = list->query == 0 ? NULL : PyObject_GetAttr((PyObject *)marker, known.asks);
    if (asks == NULL) {
        PyErr_Clear();
        return truth_of(PyObject_CallMethodNoArgs((PyObject *)marker, known.query));
    }
    Py_INCREF((PyObject *)list);
    PyObject *threads, *thread = begin(asks, &threads);
    int truth = -1;
    if (thread != NULL) {
        if (signal_number((PyObject *)marker) <= order->completed) {
            truth = 1;
        } else if (may_ask(marker)) {
            truth = ask_driver(list, marker);
        } else {
            truth = truth_of(PyObject_CallMethodNoArgs((PyObject *)marker, known.query));
        }
        if (end_keeping_error(asks, threads, thread) < 0) {
            truth = -1;
        }
    }
    Py_DECREF((PyObject *)list);
    Py_DECREF(asks);
    return truth;
}

static int has_happened(order_fields *order, native_signal *marker) {
    return signal_number((PyObject *)marker) <= order->completed ? 1 : query(order, marker);
}

// As QueueOrder.poll_markers.
static int poll(order_fields *order) {
    int status = 1;
    for (int i = 0; status == 1 && i < QUERIES_AT_ONCE; i++) {
        native_signal *marker = oldest(order);
        if (marker == NULL) {
            break;
        }
        status = has_happened(order, marker);
        if (status > 0 && retire(order, (mark_fields *)marker->mark) < 0) {
            status = -1;
        }
        if (signal_release(marker) < 0) {
            status = -1;
        }
        Py_DECREF((PyObject *)marker);
    }
    return status < 0 ? -1 : 0;
}

// -- all of it --------------------------------------------------------------------------------

// No error of a marker fails the search, but that the device is lost: all is over then.
static int noticed(int status) {
    if (status < 0 && PyErr_ExceptionMatches(known.ur_error) &&
        !PyErr_ExceptionMatches(known.device_lost_error)) {
        PyErr_Clear();
        status = 0;
    }
    return status;
}

static int place_and_query(const pool_front *pool, const struct freed *all, Py_ssize_t count) {
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < count; i++) {
        order_fields *order = all[i].order;
        if (order->completed < all[i].stamp && PyList_GET_SIZE(order->markers) < MARKERS_AT_MOST) {
            status = noticed(place(order, all[i].stamp));
        }
    }
    for (Py_ssize_t i = 0; status == 0 && pool->by_polling && i < count; i++) {
        if (PyList_GET_SIZE(all[i].order->markers) != 0) {
            status = noticed(poll(all[i].order));
        }
    }
    return status;
}

int pool_mark(pool_front *pool, heap_blocks *heap) {
    struct freed *all = NULL;
    Py_ssize_t count = 0;
    int status = 0;
    lock_acquire((lock *)pool->lock);
    if (heap->crowded && are_usual(heap)) {
        all = PyMem_New(struct freed, (size_t)PyDict_GET_SIZE(heap->views));
        status = all == NULL ? -1 : collect(heap, all, &count);
    }
    lock_release((lock *)pool->lock);
    if (status == 0) {
        status = place_and_query(pool, all, count);
    } else if (all == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF((PyObject *)all[i].order);
    }
    PyMem_Free(all);
    return status;
}

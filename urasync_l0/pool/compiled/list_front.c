// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front of a queue's list: list_front.py, and the append of a signal that nothing else comes
// with.

#include "structure.h"

#include <structmember.h>

// -- the last signal --------------------------------------------------------------------------

uint64_t signal_number(PyObject *of) {
    PyObject *mark = is_a(of, &signal_type) ? ((const native_signal *)of)->mark : NULL;
    return mark != NULL && is_a(mark, &mark_fields_type) ? ((mark_fields *)mark)->number : 0;
}

native_signal *list_signal_from(list_front *list, uint64_t number) {
    native_signal *last = list->last;
    if (last == NULL || !list->is_private || signal_number((PyObject *)last) < number ||
        !signal_hold(last)) {
        return NULL;
    }
    return (native_signal *)Py_NewRef((PyObject *)last);
}

static int replace_last(list_front *list, native_signal *with) {
    native_signal *old = list->last;
    list->last = with;
    int status = old == NULL ? 0 : signal_release(old);
    Py_XDECREF((PyObject *)old);
    return status;
}

static int note_signal(list_front *list, native_signal *appended) {
    signal_hold(appended);
    return replace_last(list, (native_signal *)Py_NewRef((PyObject *)appended));
}

// -- a signal at the queue's place ------------------------------------------------------------

bool list_can_signal(const list_front *list) {
#ifdef Py_GIL_DISABLED
    (void)list;
    return false;
#else
    return list->is_plain && !list->is_closing && list->append != 0 && list->ready != NULL &&
           PyList_CheckExact(list->ready) && list->mark_type != NULL && list->order != NULL &&
           is_a(list->order, &order_fields_type) && ((order_fields *)list->order)->lock != NULL &&
           ((order_fields *)list->order)->domain != NULL;
#endif
}

bool list_has_signal(const list_front *list) {
    return list->is_private && list->last != NULL &&
           signal_number((PyObject *)list->last) == ((order_fields *)list->order)->sequence;
}

static native_signal *take_ready(PyObject *ready) {
    Py_ssize_t last = PyList_GET_SIZE(ready) - 1;
    if (last < 0 || !is_a(PyList_GET_ITEM(ready, last), &signal_type)) {
        return NULL;
    }
    PyObject *taken = Py_NewRef(PyList_GET_ITEM(ready, last));
    if (PyList_SetSlice(ready, last, last + 1, NULL) < 0) {
        Py_CLEAR(taken);
    }
    return (native_signal *)taken;
}

static PyObject *next_mark(const list_front *list) {
    const order_fields *order = (order_fields *)list->order;
    PyTypeObject *type = (PyTypeObject *)list->mark_type;
    mark_fields *mark = (mark_fields *)type->tp_alloc(type, 0);
    if (mark != NULL) {
        mark->order = Py_NewRef(list->order);
        mark->number = order->sequence + 1;
        mark->clock = Py_NewRef(order->clock);
    }
    return (PyObject *)mark;
}

static uint32_t append(const list_front *list, const native_signal *ready) {
    typedef uint32_t append_t(void *, void *);
    append_t *function = (append_t *)(uintptr_t)list->append;
    void *native = (void *)(uintptr_t)list->value, *event = (void *)(uintptr_t)ready->value;
    PyThreadState *thread = PyEval_SaveThread(); // a driver may make who appends wait
    uint32_t code = function(native, event);
    PyEval_RestoreThread(thread);
    return code;
}

// As list_signal, but always one that is appended.
static native_signal *append_signal(list_front *list, uint32_t *code) {
    order_fields *order = (order_fields *)list->order;
    PyObject *mark = order->clock == NULL ? NULL : next_mark(list);
    native_signal *given = mark == NULL ? NULL : take_ready(list->ready);
    if (given == NULL) {
        Py_XDECREF(mark);
        return NULL;
    }
    signal_take(given);
    *code = append(list, given);
    if (*code != 0) {
        Py_DECREF(mark);
        return given;
    }
    order->sequence++;
    Py_XSETREF(given->mark, mark);
    if (note_signal(list, given) < 0) {
        signal_release(given);
        Py_DECREF((PyObject *)given);
        given = NULL;
    }
    return given;
}

native_signal *list_signal(list_front *list, uint32_t *code) {
    native_signal *last = list_signal_from(list, ((order_fields *)list->order)->sequence);
    return last == NULL ? append_signal(list, code) : last;
}

native_signal *list_signal_at_once(list_front *list, bool of_its_own) {
    uint32_t code = 0;
    native_signal *given = NULL;
    lock_acquire(list_lock(list));
    if (!list->is_closing) {
        given = of_its_own ? append_signal(list, &code) : list_signal(list, &code);
    }
    lock_release(list_lock(list));
    if (code != 0) {
        list_refuse(list, given, code);
        Py_CLEAR(given);
    }
    return given;
}

void list_refuse(list_front *list, native_signal *given, uint32_t code) {
    PyObject *number = PyLong_FromUnsignedLong(code);
    PyObject *answer = number == NULL ? NULL
                                      : PyObject_CallMethodObjArgs((PyObject *)list, known.refuse,
                                                                   (PyObject *)given, number, NULL);
    Py_XDECREF(number);
    Py_XDECREF(answer);
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_SystemError, "the error %u of the driver raised nothing", code);
    }
}

// -- the Python class -------------------------------------------------------------------------

static PyObject *method_signal_from(PyObject *self, PyObject *argument) {
    uint64_t number = PyLong_AsUnsignedLongLong(argument);
    if (number == UINT64_MAX && PyErr_Occurred()) {
        return NULL;
    }
    native_signal *found = list_signal_from((list_front *)self, number);
    return found == NULL ? Py_NewRef(Py_None) : (PyObject *)found;
}

static PyObject *method_note_signal(PyObject *self, PyObject *argument) {
    if (!is_a(argument, &signal_type)) {
        PyErr_SetString(PyExc_TypeError, "what is noted is a Signal");
        return NULL;
    }
    if (note_signal((list_front *)self, (native_signal *)argument) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *method_forget_signal(PyObject *self, PyObject *unused) {
    (void)unused;
    if (replace_last((list_front *)self, NULL) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *get_last(PyObject *self, void *closure) {
    (void)closure;
    PyObject *last = (PyObject *)((list_front *)self)->last;
    return Py_NewRef(last == NULL ? Py_None : last);
}

static int set_last(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value != Py_None || ((list_front *)self)->last != NULL) {
        PyErr_SetString(PyExc_TypeError, "the last signal is noted, or forgotten");
        return -1;
    }
    return 0;
}

static PyObject *get_mark_type(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((list_front *)self)->mark_type, "mark_type");
}

static int set_mark_type(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyType_Check(value) ||
        !PyType_IsSubtype((PyTypeObject *)value, &mark_fields_type)) {
        PyErr_SetString(PyExc_TypeError, "a place in the order is a MarkFields");
        return -1;
    }
    replace(&((list_front *)self)->mark_type, value);
    return 0;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const list_front *list = (list_front *)self;
    Py_VISIT(list->order);
    Py_VISIT(list->mark_type);
    Py_VISIT(list->ready);
    Py_VISIT((PyObject *)list->last);
    return 0;
}

static int clear(PyObject *self) {
    list_front *list = (list_front *)self;
    PyObject *last = (PyObject *)list->last;
    list->last = NULL;
    Py_XDECREF(last);
    Py_CLEAR(list->order);
    Py_CLEAR(list->mark_type);
    Py_CLEAR(list->ready);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"signal_from", method_signal_from, METH_O, "The last signal, held, if it covers a number."},
    {"note_signal", method_note_signal, METH_O, "Note that a signal was appended."},
    {"forget_signal", method_forget_signal, METH_NOARGS, "Hold no signal any more."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"last", get_last, set_last, "The signal that was appended last, or None.", NULL},
    {"mark_type", get_mark_type, set_mark_type, "What a place in the order is.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"order", T_OBJECT_EX, offsetof(list_front, order), 0, "That of the queue."},
    {"ready", T_OBJECT_EX, offsetof(list_front, ready), 0, "What can be appended, or None."},
    {"append", T_ULONGLONG, offsetof(list_front, append), 0, "The address of what appends."},
    {"query", T_ULONGLONG, offsetof(list_front, query), 0, "The address of what asks."},
    {"wait", T_ULONGLONG, offsetof(list_front, wait), 0, "The address of what appends waits."},
    {"value", T_ULONGLONG, offsetof(list_front, value), 0, "The native list."},
    {"is_private", T_BOOL, offsetof(list_front, is_private), 0, "Whether nobody else appends."},
    {"is_plain", T_BOOL, offsetof(list_front, is_plain), 0, "Whether no times are taken."},
    {"is_closing", T_BOOL, offsetof(list_front, is_closing), 0, "Whether it was closed."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject list_front_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.ListFront",
    .tp_basicsize = sizeof(list_front),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What a signal reads of a queue's list, in C.",
    .tp_new = make_empty,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = attributes,
    .tp_members = members,
};

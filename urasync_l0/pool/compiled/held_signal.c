// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals on queues, and what users hold of them: held_signal.py.
//
// The numbers of holders are atomic, so that no lock is needed where collection drops an object.

#include "structure.h"

#include <structmember.h>

#ifndef Py_BEGIN_CRITICAL_SECTION // before 3.13, where the interpreter has a lock in any case
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

// -- a signal ---------------------------------------------------------------------------------

void signal_take(native_signal *this) {
    this->is_new = this->is_unseen = 0;
    atomic_store(&this->holders, 1);
}

bool signal_hold(native_signal *this) {
    uint32_t holders = atomic_load(&this->holders);
    while (holders != 0 && !atomic_compare_exchange_weak(&this->holders, &holders, holders + 1)) {
    }
    return holders != 0;
}

static bool let_go(native_signal *this) { return atomic_fetch_sub(&this->holders, 1) == 1; }

int signal_release(native_signal *this) {
    if (!let_go(this)) {
        return 0;
    }
    native_signal *first = this->first;
    this->first = NULL;
    int status = first == NULL ? 0 : signal_release(first);
    Py_XDECREF((PyObject *)first);
    if (this->returned != NULL && PyList_Append(this->returned, (PyObject *)this) < 0) {
        status = -1;
    }
    return status;
}

static int init_signal(PyObject *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"value", "returned", NULL};
    native_signal *this = (native_signal *)self;
    PyObject *value, *returned;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!O", names, &PyLong_Type, &value,
                                     &returned)) {
        return -1;
    }
    if (this->returned != NULL || (returned != Py_None && !PyList_CheckExact(returned))) {
        PyErr_SetString(PyExc_TypeError, "a signal is made once, with a list or None");
        return -1;
    }
    this->value = PyLong_AsUnsignedLongLong(value);
    if (this->value == UINT64_MAX && PyErr_Occurred()) {
        return -1;
    }
    this->returned = returned == Py_None ? NULL : Py_NewRef(returned);
    this->is_new = 1;
    this->is_unseen = 0;
    atomic_store(&this->holders, 1);
    return 0;
}

static PyObject *method_take(PyObject *self, PyObject *unused) {
    (void)unused;
    signal_take((native_signal *)self);
    Py_RETURN_NONE;
}

static PyObject *method_hold(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(signal_hold((native_signal *)self));
}

static PyObject *method_let_go(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(let_go((native_signal *)self));
}

static PyObject *method_release(PyObject *self, PyObject *unused) {
    (void)unused;
    if (signal_release((native_signal *)self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *get_first(PyObject *self, void *closure) {
    (void)closure;
    PyObject *first = (PyObject *)((native_signal *)self)->first;
    return Py_NewRef(first == NULL ? Py_None : first);
}

static int set_first(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    native_signal *this = (native_signal *)self;
    if (value == NULL || (value != Py_None && !is_a(value, &signal_type))) {
        PyErr_SetString(PyExc_TypeError, "what is first is a Signal, or None");
        return -1;
    }
    PyObject *old = (PyObject *)this->first;
    this->first = value == Py_None ? NULL : (native_signal *)Py_NewRef(value);
    Py_XDECREF(old);
    return 0;
}

static PyObject *get_waiters(PyObject *self, void *closure) {
    (void)closure;
    PyObject *waiters = ((native_signal *)self)->waiters;
    return Py_NewRef(waiters == NULL ? Py_None : waiters);
}

static int set_waiters(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyDict_CheckExact(value) || ((native_signal *)self)->waiters != NULL) {
        PyErr_SetString(PyExc_TypeError, "the waiters of a signal are a dict, set once");
        return -1;
    }
    ((native_signal *)self)->waiters = Py_NewRef(value);
    return 0;
}

static int traverse_signal(PyObject *self, visitproc visit, void *arg) {
    const native_signal *this = (native_signal *)self;
    Py_VISIT(this->mark);
    Py_VISIT((PyObject *)this->first);
    Py_VISIT(this->returned);
    Py_VISIT(this->waiters);
    return 0;
}

static int clear_signal(PyObject *self) {
    native_signal *this = (native_signal *)self;
    PyObject *first = (PyObject *)this->first;
    this->first = NULL;
    Py_XDECREF(first);
    Py_CLEAR(this->mark);
    Py_CLEAR(this->returned);
    Py_CLEAR(this->waiters);
    return 0;
}

static void dealloc_signal(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_signal(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods_of_signal[] = {
    {"take", method_take, METH_NOARGS, "Begin to serve another signal."},
    {"hold", method_hold, METH_NOARGS, "Keep it from serving another signal, if anybody holds it."},
    {"let_go", method_let_go, METH_NOARGS, "Hold it no longer; tell whether nobody does."},
    {"release", method_release, METH_NOARGS, "Hold it no longer; the last one gives it back."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes_of_signal[] = {
    {"first", get_first, set_first, "That of the command's first step, or None.", NULL},
    {"waiters", get_waiters, set_waiters, "The last waits of queues, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members_of_signal[] = {
    {"value", T_ULONGLONG, offsetof(native_signal, value), READONLY, "The native event."},
    {"mark", T_OBJECT_EX, offsetof(native_signal, mark), 0, "Where the signal stands."},
    {"returned", T_OBJECT, offsetof(native_signal, returned), READONLY, "Where it goes, or None."},
    {"is_new", T_BOOL, offsetof(native_signal, is_new), 0, "Whether it has never served before."},
    {"is_unseen", T_BOOL, offsetof(native_signal, is_unseen), 0, "Whether nobody saw the signal."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject signal_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.Signal",
    .tp_basicsize = sizeof(native_signal),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What stands for one signal on a queue at a time, in C.",
    .tp_new = make_empty,
    .tp_init = init_signal,
    .tp_traverse = traverse_signal,
    .tp_clear = clear_signal,
    .tp_dealloc = dealloc_signal,
    .tp_methods = methods_of_signal,
    .tp_getset = attributes_of_signal,
    .tp_members = members_of_signal,
};

// -- the object that holds one ----------------------------------------------------------------

static native_signal *exchange(held_signal *held, native_signal *with) {
    native_signal *old;
    Py_BEGIN_CRITICAL_SECTION(held);
    old = held->signal;
    held->signal = with;
    Py_END_CRITICAL_SECTION();
    return old;
}

int held_release(held_signal *held) {
    native_signal *mine = exchange(held, NULL);
    if (mine == NULL) {
        return 0;
    }
    atomic_fetch_sub(&((domain_fields *)held->domain)->held_signals, 1);
    int status = signal_release(mine);
    Py_DECREF((PyObject *)mine);
    return status;
}

static void begin_to_hold(held_signal *held, native_signal *given) {
    atomic_fetch_add(&((domain_fields *)held->domain)->held_signals, 1);
    exchange(held, (native_signal *)Py_NewRef((PyObject *)given));
}

PyObject *hold_signal(PyTypeObject *type, native_signal *given, const struct signalling *what) {
    held_signal *held = (held_signal *)type->tp_alloc(type, 0);
    if (held == NULL) {
        return NULL;
    }
    held->mark = Py_NewRef(given->mark);
    held->domain = Py_NewRef(what->domain);
    held->dropped = Py_NewRef(what->dropped);
    held->queue = Py_NewRef(what->queue);
    held->context = Py_NewRef(what->context);
    held->command = Py_NewRef(what->command);
    begin_to_hold(held, given);
    return (PyObject *)held;
}

static int init_held(PyObject *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"signal", "domain", "dropped", "queue", "context", "command", NULL};
    held_signal *held = (held_signal *)self;
    PyObject *given, *domain, *dropped;
    PyObject *queue = Py_None, *context = Py_None, *command = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!O!O|OOO", names, &signal_type, &given,
                                     &domain_fields_type, &domain, &dropped, &queue, &context,
                                     &command)) {
        return -1;
    }
    if (held->domain != NULL || ((native_signal *)given)->mark == NULL) {
        PyErr_SetString(PyExc_TypeError, "it is made once, over a signal that has a mark");
        return -1;
    }
    held->mark = Py_NewRef(((native_signal *)given)->mark);
    held->domain = Py_NewRef(domain);
    held->dropped = Py_NewRef(dropped);
    held->queue = Py_NewRef(queue);
    held->context = Py_NewRef(context);
    held->command = Py_NewRef(command);
    begin_to_hold(held, (native_signal *)given);
    return 0;
}

static PyObject *release(PyObject *self, PyObject *unused) {
    (void)unused;
    if (held_release((held_signal *)self) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *get_signal(PyObject *self, void *closure) {
    (void)closure;
    PyObject *found;
    Py_BEGIN_CRITICAL_SECTION(self);
    found = (PyObject *)((held_signal *)self)->signal;
    found = Py_NewRef(found == NULL ? Py_None : found);
    Py_END_CRITICAL_SECTION();
    return found;
}

static int traverse_held(PyObject *self, visitproc visit, void *arg) {
    const held_signal *held = (held_signal *)self;
    Py_VISIT((PyObject *)held->signal);
    Py_VISIT(held->mark);
    Py_VISIT(held->domain);
    Py_VISIT(held->dropped);
    Py_VISIT(held->queue);
    Py_VISIT(held->context);
    Py_VISIT(held->command);
    return 0;
}

// Runs no code in Python, since collection may come anywhere: the signal goes back to a list.
static int clear_held(PyObject *self) {
    held_signal *held = (held_signal *)self;
    if (held->signal != NULL) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        if (held_release(held) < 0) {
            PyErr_WriteUnraisable(NULL);
        }
        PyErr_Restore(type, value, trace);
    }
    Py_CLEAR(held->mark);
    Py_CLEAR(held->domain);
    Py_CLEAR(held->dropped);
    Py_CLEAR(held->queue);
    Py_CLEAR(held->context);
    Py_CLEAR(held->command);
    return 0;
}

static void dealloc_held(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_held(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods_of_held[] = {
    {"release", release, METH_NOARGS, "Give the signal back now. Idempotent; calls no driver."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes_of_held[] = {
    {"_signal", get_signal, NULL, "The signal; None once it is released.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members_of_held[] = {
    {"mark", T_OBJECT_EX, offsetof(held_signal, mark), READONLY, "Where the signal stands."},
    {"domain", T_OBJECT_EX, offsetof(held_signal, domain), READONLY, "The queues' domain."},
    {"dropped", T_OBJECT_EX, offsetof(held_signal, dropped), READONLY, "Of no use here."},
    {"queue", T_OBJECT_EX, offsetof(held_signal, queue), READONLY, "The queue, or None."},
    {"context", T_OBJECT_EX, offsetof(held_signal, context), READONLY, "What it belongs to."},
    {"command", T_OBJECT_EX, offsetof(held_signal, command), READONLY, "What it stands for."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject held_signal_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.HeldSignal",
    .tp_basicsize = sizeof(held_signal),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A signal in the hands of a user's object, in C.",
    .tp_new = make_empty,
    .tp_init = init_held,
    .tp_traverse = traverse_held,
    .tp_clear = clear_held,
    .tp_dealloc = dealloc_held,
    .tp_methods = methods_of_held,
    .tp_getset = attributes_of_held,
    .tp_members = members_of_held,
};

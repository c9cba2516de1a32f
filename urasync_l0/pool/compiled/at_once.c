// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A method that is first tried in C: what `at_once` of queue_front.py makes of one in Python. Where
// the call is not a usual one, the method in Python gets it as it came.

#include "structure.h"

enum action { ALLOC, ALLOC_ADDRESS, FREE, FREE_OWN, RECORD, APPEND_MARKER, WAIT };

typedef struct {
    PyObject ob_base;
    vectorcallfunc vectorcall;
    PyObject *function;   // the method in Python
    PyObject *dictionary; // its name, its text and the like
    PyObject *kind;       // the member of UsmType that an ALLOC is of
    enum action action;
} at_once;

static bool is_called(PyObject *name, PyObject *wanted) {
    return name == wanted || PyUnicode_Compare(name, wanted) == 0;
}

// Whether an argument that is given says that there is nothing to wait for, as is so without it, or
// whether an event is wanted.
static bool is_understood(PyObject *name, PyObject *value, bool *with_event) {
    if (is_called(name, known.event)) {
        *with_event = value == Py_True;
        return PyBool_Check(value);
    }
    return is_called(name, known.wait) && PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 0;
}

// The pool that a call names, by position or by keyword, NULL without one, and whether it wants an
// event. False if there is anything else than so many arguments and these. Without a place for a
// pool, there is none.
static bool is_plain(PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted,
                     PyObject *keywords, PyObject **pool, bool *with_event) {
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    *with_event = false;
    if (pool != NULL) {
        *pool = NULL;
    }
    if (pool != NULL && count == wanted + 1) {
        *pool = given[wanted];
    } else if (count != wanted) {
        return false;
    }
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(keywords, i), *value = given[count + i];
        if (is_understood(name, value, with_event)) {
            continue;
        }
        if (pool == NULL || *pool != NULL || !is_called(name, known.pool)) {
            return false;
        }
        *pool = value;
    }
    return true;
}

static PyObject *allocate(const at_once *this, PyObject *const *given, Py_ssize_t count,
                          PyObject *keywords) {
    Py_ssize_t wanted = this->action == ALLOC ? 2 : 3;
    PyObject *pool;
    bool with_event;
    if (count < wanted || !is_a(given[0], &queue_front_type) ||
        !is_plain(given, count, wanted, keywords, &pool, &with_event)) {
        return NULL;
    }
    PyObject *kind = this->action == ALLOC ? this->kind : given[1];
    bool is_held = this->action == ALLOC;
    return queue_allocate((queue_front *)given[0], kind, given[wanted - 1], pool, is_held,
                          with_event);
}

static PyObject *release(const at_once *this, PyObject *const *given, Py_ssize_t count,
                         PyObject *keywords) {
    bool is_own = this->action == FREE_OWN, with_event;
    if (!is_plain(given, count, is_own ? 1 : 2, keywords, NULL, &with_event)) {
        return NULL;
    }
    PyObject *target = given[count - 1];
    PyObject *queue = given[0];
    if (is_own) {
        queue = is_a(target, &held_block_type) ? ((held_block *)target)->queue : NULL;
    }
    if (queue == NULL || !is_a(queue, &queue_front_type)) {
        return NULL;
    }
    Py_INCREF(queue);
    PyObject *result = queue_free((queue_front *)queue, target, with_event);
    Py_DECREF(queue);
    return result;
}

static PyObject *record(PyObject *const *given, Py_ssize_t count, PyObject *keywords) {
    if (count != 1 || keywords != NULL || !is_a(given[0], &queue_front_type)) {
        return NULL;
    }
    return queue_record((queue_front *)given[0], known.command_record);
}

static PyObject *wait(PyObject *const *given, Py_ssize_t count, PyObject *keywords) {
    if (count != 2 || keywords != NULL || !is_a(given[0], &queue_front_type)) {
        return NULL;
    }
    return queue_wait((queue_front *)given[0], given[1]);
}

static PyObject *append_marker(PyObject *const *given, Py_ssize_t count, PyObject *keywords) {
    if (count != 1 || keywords != NULL || !is_a(given[0], &list_front_type) ||
        !list_can_signal((list_front *)given[0])) {
        return NULL;
    }
    return (PyObject *)list_signal_at_once((list_front *)given[0], true);
}

static PyObject *call(PyObject *self, PyObject *const *given, size_t flagged, PyObject *keywords) {
    const at_once *this = (at_once *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flagged);
    PyObject *result = this->action == RECORD          ? record(given, count, keywords)
                       : this->action == APPEND_MARKER ? append_marker(given, count, keywords)
                       : this->action == WAIT          ? wait(given, count, keywords)
                       : this->action >= FREE          ? release(this, given, count, keywords)
                                                       : allocate(this, given, count, keywords);
    if (result != NULL || PyErr_Occurred()) {
        return result;
    }
    return PyObject_Vectorcall(this->function, given, flagged, keywords);
}

// -- the Python class -------------------------------------------------------------------------

static int read_action(at_once *this, const char *name) {
    static const struct {
        const char *name;
        enum action action;
        const char *kind;
    } actions[] = {
        {"alloc_device", ALLOC, "DEVICE"},
        {"alloc_shared", ALLOC, "SHARED"},
        {"alloc_host", ALLOC, "HOST"},
        {"alloc_address", ALLOC_ADDRESS, NULL},
        {"free", FREE, NULL},
        {"free_own", FREE_OWN, NULL},
        {"record", RECORD, NULL},
        {"append_marker", APPEND_MARKER, NULL},
        {"wait", WAIT, NULL},
    };
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(name, actions[i].name) == 0) {
            this->action = actions[i].action;
            if (actions[i].kind != NULL) {
                this->kind = PyObject_GetAttrString(known.usm_type, actions[i].kind);
                return this->kind == NULL ? -1 : 0;
            }
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "nothing called %s is done at once", name);
    return -1;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"method", "action", NULL};
    PyObject *function;
    const char *action;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "Os", names, &function, &action)) {
        return NULL;
    }
    at_once *this = (at_once *)type->tp_alloc(type, 0);
    if (this == NULL) {
        return NULL;
    }
    this->vectorcall = call;
    this->function = Py_NewRef(function);
    if (read_action(this, action) < 0) {
        Py_CLEAR(this);
    }
    return (PyObject *)this;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const at_once *this = (at_once *)self;
    Py_VISIT(this->function);
    Py_VISIT(this->dictionary);
    Py_VISIT(this->kind);
    return 0;
}

static int clear(PyObject *self) {
    at_once *this = (at_once *)self;
    Py_CLEAR(this->function);
    Py_CLEAR(this->dictionary);
    Py_CLEAR(this->kind);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type) {
    (void)type;
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *repr(PyObject *self) { return PyObject_Repr(((at_once *)self)->function); }

static PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject at_once_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.AtOnce",
    .tp_basicsize = sizeof(at_once),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = "A method that is first tried in C.",
    .tp_new = make,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(at_once, vectorcall),
    .tp_dictoffset = offsetof(at_once, dictionary),
    .tp_descr_get = bind,
    .tp_repr = repr,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_getset = attributes,
};

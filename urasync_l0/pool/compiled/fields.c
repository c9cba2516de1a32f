// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every allocation and free reads of queues, contexts and the registry: fields.py.

#include "structure.h"

#include <structmember.h>

// -- reading ----------------------------------------------------------------------------------

static int number_of(PyObject *owner, PyTypeObject *type, size_t offset, PyObject *name,
                     uint64_t *number) {
    if (is_a(owner, type)) {
        *number = *(uint64_t *)((char *)owner + offset);
        return 0;
    }
    PyObject *found = PyObject_GetAttr(owner, name);
    if (found == NULL) {
        return -1;
    }
    *number = PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    return *number == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

int order_id(PyObject *order, uint64_t *id) {
    return number_of(order, &order_fields_type, offsetof(order_fields, id), known.id, id);
}

int order_sequence(PyObject *order, uint64_t *sequence) {
    return number_of(order, &order_fields_type, offsetof(order_fields, sequence), known.sequence,
                     sequence);
}

int order_completed(PyObject *order, uint64_t *completed) {
    return number_of(order, &order_fields_type, offsetof(order_fields, completed), known.completed,
                     completed);
}

int domain_epoch(PyObject *domain, uint64_t *epoch) {
    return number_of(domain, &domain_fields_type, offsetof(domain_fields, epoch), known.epoch,
                     epoch);
}

// Without the interpreter's lock another thread may just be replacing what is read: only a look-up
// of the attribute is safe then.
static PyObject *object_of(PyObject *owner, PyTypeObject *type, size_t offset, PyObject *name) {
#ifndef Py_GIL_DISABLED
    if (is_a(owner, type)) {
        PyObject *found = *(PyObject **)((char *)owner + offset);
        if (found != NULL) {
            return Py_NewRef(found);
        }
    }
#else
    (void)type;
    (void)offset;
#endif
    return PyObject_GetAttr(owner, name);
}

PyObject *order_clock(PyObject *order) {
    return object_of(order, &order_fields_type, offsetof(order_fields, clock), known.clock);
}

int clock_number(PyObject *clock, PyObject *order, uint64_t *number) {
    *number = 0;
    if (clock == known.nothing) {
        return 0;
    }
    PyObject *found = PyDict_CheckExact(clock) ? Py_XNewRef(PyDict_GetItemWithError(clock, order))
                                               : PyObject_GetItem(clock, order);
    if (found == NULL) {
        if (PyErr_ExceptionMatches(PyExc_KeyError)) {
            PyErr_Clear();
        }
        return PyErr_Occurred() ? -1 : 0;
    }
    *number = PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    return *number == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

PyObject *current_pool(PyObject *current) {
    return object_of(current, &current_fields_type, offsetof(current_fields, pool), known.pool);
}

PyObject *registry_live(PyObject *registry) {
    return object_of(registry, &registry_fields_type, offsetof(registry_fields, live), known.live);
}

PyObject *registry_observer(PyObject *registry) {
    return object_of(registry, &registry_fields_type, offsetof(registry_fields, observer),
                     known.observer);
}

// -- the Python classes -----------------------------------------------------------------------

static int traverse_order(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((order_fields *)self)->clock);
    Py_VISIT(((order_fields *)self)->domain);
    Py_VISIT(((order_fields *)self)->lock);
    Py_VISIT(((order_fields *)self)->operations);
    Py_VISIT(((order_fields *)self)->markers);
    return 0;
}

static int clear_order(PyObject *self) {
    Py_CLEAR(((order_fields *)self)->clock);
    Py_CLEAR(((order_fields *)self)->domain);
    Py_CLEAR(((order_fields *)self)->lock);
    Py_CLEAR(((order_fields *)self)->operations);
    Py_CLEAR(((order_fields *)self)->markers);
    return 0;
}

static PyObject *get_domain(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((order_fields *)self)->domain, "domain");
}

static int set_domain(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !is_a(value, &domain_fields_type) ||
        ((order_fields *)self)->domain != NULL) {
        PyErr_SetString(PyExc_TypeError, "the domain of an order is set once");
        return -1;
    }
    ((order_fields *)self)->domain = Py_NewRef(value);
    return 0;
}

static PyObject *get_lock(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((order_fields *)self)->lock, "lock");
}

static int set_once(PyObject **place, PyObject *value, PyTypeObject *type, const char *problem) {
    if (value == NULL || !Py_IS_TYPE(value, type) || *place != NULL) {
        PyErr_SetString(PyExc_TypeError, problem);
        return -1;
    }
    *place = Py_NewRef(value);
    return 0;
}

static int set_lock(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    return set_once(&((order_fields *)self)->lock, value, &lock_type,
                    "the lock of an order is set once");
}

static PyObject *get_markers(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((order_fields *)self)->markers, "markers");
}

static int set_markers(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    return set_once(&((order_fields *)self)->markers, value, &PyList_Type,
                    "the markers of an order are a list, set once");
}

static PyObject *get_lock_of_domain(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((domain_fields *)self)->lock, "lock");
}

static int set_lock_of_domain(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    return set_once(&((domain_fields *)self)->lock, value, &lock_type,
                    "the lock of a domain is set once");
}

static void dealloc_domain(PyObject *self) {
    Py_CLEAR(((domain_fields *)self)->lock);
    Py_TYPE(self)->tp_free(self);
}

static int traverse_mark(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((mark_fields *)self)->order);
    Py_VISIT(((mark_fields *)self)->clock);
    return 0;
}

static int clear_mark(PyObject *self) {
    Py_CLEAR(((mark_fields *)self)->order);
    Py_CLEAR(((mark_fields *)self)->clock);
    return 0;
}

static void dealloc_mark(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_mark(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *get_held_signals(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromLongLong(atomic_load(&((domain_fields *)self)->held_signals));
}

static int set_held_signals(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    long long count = value == NULL ? 0 : PyLong_AsLongLong(value);
    if (count == -1 && PyErr_Occurred()) {
        return -1;
    }
    atomic_store(&((domain_fields *)self)->held_signals, count);
    return 0;
}

static void dealloc_order(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_order(self);
    Py_TYPE(self)->tp_free(self);
}

static int traverse_registry(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((registry_fields *)self)->live);
    Py_VISIT(((registry_fields *)self)->observer);
    return 0;
}

static int clear_registry(PyObject *self) {
    Py_CLEAR(((registry_fields *)self)->live);
    Py_CLEAR(((registry_fields *)self)->observer);
    return 0;
}

static void dealloc_registry(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_registry(self);
    Py_TYPE(self)->tp_free(self);
}

static int traverse_current(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((current_fields *)self)->pool);
    return 0;
}

static int clear_current(PyObject *self) {
    Py_CLEAR(((current_fields *)self)->pool);
    return 0;
}

static void dealloc_current(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_current(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef members_of_order[] = {
    {"id", T_ULONGLONG, offsetof(order_fields, id), 0, "A number of its own."},
    {"sequence", T_ULONGLONG, offsetof(order_fields, sequence), 0, "How many commands."},
    {"completed", T_ULONGLONG, offsetof(order_fields, completed), 0, "How far it has finished."},
    {"clock", T_OBJECT_EX, offsetof(order_fields, clock), 0, "What it is ordered after."},
    {"operations", T_OBJECT_EX, offsetof(order_fields, operations), 0, "That of its list."},
    {NULL, 0, 0, 0, NULL},
};

static PyMemberDef members_of_mark[] = {
    {"order", T_OBJECT_EX, offsetof(mark_fields, order), 0, "That of the queue."},
    {"clock", T_OBJECT_EX, offsetof(mark_fields, clock), 0, "That of the queue there."},
    {"number", T_ULONGLONG, offsetof(mark_fields, number), 0, "The command's number."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes_of_order[] = {
    {"domain", get_domain, set_domain, "The queues of the context.", NULL},
    {"lock", get_lock, set_lock, "Guards the queue's list.", NULL},
    {"markers", get_markers, set_markers, "Signals that the pools look at.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef attributes_of_domain[] = {
    {"lock", get_lock_of_domain, set_lock_of_domain, "Guards the completed marks.", NULL},
    {"held_signals", get_held_signals, set_held_signals, "How many HeldSignals hold one.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members_of_domain[] = {
    {"epoch", T_ULONGLONG, offsetof(domain_fields, epoch), 0, "Changes with completed marks."},
    {NULL, 0, 0, 0, NULL},
};

static PyMemberDef members_of_registry[] = {
    {"live", T_OBJECT_EX, offsetof(registry_fields, live), 0, "Blocks in use by address."},
    {"observer", T_OBJECT_EX, offsetof(registry_fields, observer), 0, "Is told of every call."},
    {NULL, 0, 0, 0, NULL},
};

static PyMemberDef members_of_current[] = {
    {"pool", T_OBJECT_EX, offsetof(current_fields, pool), 0, "What the usual call reads."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject order_fields_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.OrderFields",
    .tp_basicsize = sizeof(order_fields),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What the pools read of a queue's order, in C.",
    .tp_new = make_empty,
    .tp_getset = attributes_of_order,
    .tp_traverse = traverse_order,
    .tp_clear = clear_order,
    .tp_dealloc = dealloc_order,
    .tp_members = members_of_order,
};

PyTypeObject mark_fields_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.MarkFields",
    .tp_basicsize = sizeof(mark_fields),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A place in the order of a queue, in C.",
    .tp_new = make_empty,
    .tp_traverse = traverse_mark,
    .tp_clear = clear_mark,
    .tp_dealloc = dealloc_mark,
    .tp_members = members_of_mark,
};

PyTypeObject domain_fields_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.DomainFields",
    .tp_basicsize = sizeof(domain_fields),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What the pools read of a context's queues, in C.",
    .tp_new = make_empty,
    .tp_dealloc = dealloc_domain,
    .tp_getset = attributes_of_domain,
    .tp_members = members_of_domain,
};

PyTypeObject registry_fields_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.RegistryFields",
    .tp_basicsize = sizeof(registry_fields),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What the pools read of their registry, in C.",
    .tp_new = make_empty,
    .tp_traverse = traverse_registry,
    .tp_clear = clear_registry,
    .tp_dealloc = dealloc_registry,
    .tp_members = members_of_registry,
};

PyTypeObject current_fields_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.CurrentFields",
    .tp_basicsize = sizeof(current_fields),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What the usual allocation reads of a device, in C.",
    .tp_new = make_empty,
    .tp_traverse = traverse_current,
    .tp_clear = clear_current,
    .tp_dealloc = dealloc_current,
    .tp_members = members_of_current,
};

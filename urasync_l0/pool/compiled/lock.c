// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lock of a pool: as threading.Lock, for the with statement and for the functions in C.

#include "structure.h"

#ifdef Py_GIL_DISABLED
static bool make_native(lock *this) {
    this->native = PyThread_allocate_lock();
    return this->native != NULL;
}

void lock_acquire(lock *this) {
    if (!PyThread_acquire_lock(this->native, NOWAIT_LOCK)) {
        PyThreadState *thread = PyEval_SaveThread();
        PyThread_acquire_lock(this->native, WAIT_LOCK);
        PyEval_RestoreThread(thread);
    }
    this->is_locked = 1;
}

void lock_release(lock *this) {
    this->is_locked = 0;
    PyThread_release_lock(this->native);
}
#else
// The members are guarded by the interpreter's lock. Only who has to wait needs a native one, which
// is free for just one of them whenever one is called.
static bool make_native(lock *this) {
    this->native = PyThread_allocate_lock();
    return this->native != NULL && PyThread_acquire_lock(this->native, NOWAIT_LOCK);
}

void lock_acquire(lock *this) {
    while (this->is_locked) {
        this->waiting++;
        PyThreadState *thread = PyEval_SaveThread();
        PyThread_acquire_lock(this->native, WAIT_LOCK);
        PyEval_RestoreThread(thread);
        this->waiting--;
        this->is_called = 0;
    }
    this->is_locked = 1;
}

void lock_release(lock *this) {
    this->is_locked = 0;
    if (this->waiting != 0 && !this->is_called) {
        this->is_called = 1;
        PyThread_release_lock(this->native);
    }
}
#endif

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "", names)) {
        return NULL;
    }
    lock *this = (lock *)type->tp_alloc(type, 0);
    if (this != NULL && !make_native(this)) {
        Py_DECREF((PyObject *)this);
        return PyErr_NoMemory();
    }
    return (PyObject *)this;
}

static void dealloc(PyObject *self) {
    lock *this = (lock *)self;
    if (this->native != NULL) {
        PyThread_free_lock(this->native);
    }
    Py_TYPE(self)->tp_free(self);
}

static PyObject *enter(PyObject *self, PyObject *unused) {
    (void)unused;
    lock_acquire((lock *)self);
    Py_RETURN_TRUE;
}

static PyObject *locked(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(((lock *)self)->is_locked);
}

static PyObject *release(PyObject *self, PyObject *unused) {
    (void)unused;
    if (!((lock *)self)->is_locked) {
        PyErr_SetString(PyExc_RuntimeError, "release unlocked lock");
        return NULL;
    }
    lock_release((lock *)self);
    Py_RETURN_NONE;
}

static PyObject *leave(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    (void)given;
    (void)count;
    return release(self, NULL);
}

static PyMethodDef methods[] = {
    {"acquire", enter, METH_NOARGS, "Wait for the lock."},
    {"release", release, METH_NOARGS, "Let somebody else have it."},
    {"locked", locked, METH_NOARGS, "Tell whether somebody has it."},
    {"__enter__", enter, METH_NOARGS, "Wait for the lock."},
    {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, "Let somebody else have it."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject lock_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.Lock",
    .tp_basicsize = sizeof(lock),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A lock, in C.",
    .tp_new = make,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
};

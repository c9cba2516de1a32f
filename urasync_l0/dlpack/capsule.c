// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory in a DLPack capsule. In C because whoever got it may let go of it on any thread, and after
// Python has ended.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

enum { UNSIGNED_INTEGER = 1, MAJOR = 1, MINOR = 0 };

// The structures of DLPack, as its versions 0 and 1 lay them out.

struct device {
    int32_t type;
    int32_t id;
};

struct data_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct tensor {
    void *data;
    struct device device;
    int32_t dimensions;
    struct data_type type;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
};

struct managed {
    struct tensor tensor;
    void *context;
    void (*let_go)(struct managed *self);
};

struct versioned {
    uint32_t major, minor;
    void *context;
    void (*let_go)(struct versioned *self);
    uint64_t flags; // none: the memory may be written, and is no copy
    struct tensor tensor;
};

static const char *const PLAIN_NAME = "dltensor";
static const char *const VERSIONED_NAME = "dltensor_versioned";

// What a capsule leads to.
struct export {
    PyObject *owner; // keeps the memory
    int64_t size, stride;
    union {
        struct managed plain;
        struct versioned versioned;
    };
};

static void end_export(struct export *export) {
    if (!Py_IsInitialized()) {
        return; // nobody is left to whom the owner could be given back
    }
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(export->owner);
    PyMem_Free(export);
    PyGILState_Release(state);
}

static void let_go_of_plain(struct managed *self) { end_export(self->context); }

static void let_go_of_versioned(struct versioned *self) { end_export(self->context); }

// Of a capsule that nobody took the memory from; who takes it renames the capsule.
static void end_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, PLAIN_NAME)) {
        struct managed *plain = PyCapsule_GetPointer(capsule, PLAIN_NAME);
        plain->let_go(plain);
    } else if (PyCapsule_IsValid(capsule, VERSIONED_NAME)) {
        struct versioned *versioned = PyCapsule_GetPointer(capsule, VERSIONED_NAME);
        versioned->let_go(versioned);
    }
}

static PyObject *make_capsule(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *owner;
    unsigned long long address;
    long long size;
    struct device device;
    int is_versioned;
    if (!PyArg_ParseTuple(arguments, "OKLiip", &owner, &address, &size, &device.type, &device.id,
                          &is_versioned)) {
        return NULL;
    }
    struct export *export = PyMem_Calloc(1, sizeof *export);
    if (export == NULL) {
        return PyErr_NoMemory();
    }
    export->size = size;
    export->stride = 1;
    struct tensor tensor = {
        .data = (void *)(uintptr_t)address,
        .device = device,
        .dimensions = 1,
        .type = {.code = UNSIGNED_INTEGER, .bits = 8, .lanes = 1},
        .shape = &export->size,
        .strides = &export->stride,
    };
    PyObject *capsule;
    if (is_versioned) {
        export->versioned = (struct versioned){.major = MAJOR,
                                               .minor = MINOR,
                                               .context = export,
                                               .let_go = let_go_of_versioned,
                                               .tensor = tensor};
        capsule = PyCapsule_New(&export->versioned, VERSIONED_NAME, end_capsule);
    } else {
        export->plain =
            (struct managed){.tensor = tensor, .context = export, .let_go = let_go_of_plain};
        capsule = PyCapsule_New(&export->plain, PLAIN_NAME, end_capsule);
    }
    if (capsule == NULL) {
        PyMem_Free(export);
        return NULL;
    }
    export->owner = Py_NewRef(owner);
    return capsule;
}

static PyMethodDef functions[] = {
    {"make_capsule", make_capsule, METH_VARARGS,
     "make_capsule(owner, address, size, device_type, device_id, is_versioned, /)\n--\n\n"
     "A DLPack capsule with so many bytes at an address, which keeps their owner."},
    {0},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, // there is nothing here that two threads could share
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "urasync_l0.dlpack._capsule",
    .m_doc = "Memory in DLPack capsules.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__capsule(void) { return PyModuleDef_Init(&definition); }

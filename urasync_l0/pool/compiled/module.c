// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module urasync_l0.pool._structure.

#include "structure.h"
#include "usual_calls.h"

struct known known;

static PyObject *attribute_of(const char *module_name, const char *name) {
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    return found;
}

static int members_of(const char *class_name, const char *const *names, PyObject **places,
                      int count) {
    PyObject *class_ = attribute_of("urasync_l0.pool.block", class_name);
    int status = class_ == NULL ? -1 : 0;
    for (int i = 0; status == 0 && i < count; i++) {
        places[i] = PyObject_GetAttrString(class_, names[i]);
        status = places[i] == NULL ? -1 : 0;
    }
    Py_XDECREF(class_);
    return status;
}

static int fetch_names(void) {
#define NAME(name)                                                                                 \
    {                                                                                              \
        &known.name, #name                                                                         \
    }
    static const struct {
        PyObject **place;
        const char *name;
    } names[] = {
        NAME(allocated),
        NAME(append),
        NAME(asks),
        NAME(clock),
        NAME(complete),
        NAME(completed),
        NAME(context),
        NAME(core),
        NAME(device),
        NAME(dropped_type),
        NAME(epoch),
        NAME(error),
        NAME(event),
        NAME(finish_if_closed),
        NAME(freed),
        NAME(id),
        NAME(is_closing),
        NAME(live),
        NAME(loss),
        NAME(marker_covering),
        NAME(merge),
        NAME(note_completion),
        NAME(observer),
        NAME(pieces),
        NAME(pool),
        NAME(prepares),
        NAME(query),
        NAME(refuse),
        NAME(refuse_query),
        NAME(refuse_wait),
        NAME(release),
        NAME(require),
        NAME(sequence),
        NAME(source),
        NAME(tell),
        NAME(threads),
        NAME(wait),
        NAME(waiting),
        {&known.reversed, "__reversed__"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *names[i].place = PyUnicode_InternFromString(names[i].name);
        if (*names[i].place == NULL) {
            return -1;
        }
    }
    return 0;
}

static int fetch_known(void) {
    static const char *const states[STATES] = {"IN_USE", "PENDING", "IDLE", "EDGE"};
    static const char *const reuses[REUSES] = {"IDLE", "OWN", "CLOCK"};
    if (members_of("BlockState", states, known.states, STATES) < 0 ||
        members_of("Reuse", reuses, known.reuses, REUSES) < 0) {
        return -1;
    }
    known.piece = attribute_of("urasync_l0.pool.block", "Piece");
    known.nothing = attribute_of("urasync_l0.pool.fields", "NOTHING");
    known.usm_type = attribute_of("urasync_l0.enums", "UsmType");
    known.ur_error = attribute_of("urasync_l0.result", "UrError");
    known.device_lost_error = attribute_of("urasync_l0.result", "DeviceLostError");
    PyObject *commands = attribute_of("urasync_l0.enums", "Command");
    if (known.piece == NULL || known.nothing == NULL || known.usm_type == NULL ||
        known.ur_error == NULL || known.device_lost_error == NULL || commands == NULL) {
        Py_XDECREF(commands);
        return -1;
    }
    known.command_free = PyObject_GetAttrString(commands, "ENQUEUE_USM_FREE_EXP");
    known.command_record = PyObject_GetAttrString(commands, "EVENTS_WAIT");
    known.command_barrier = PyObject_GetAttrString(commands, "EVENTS_WAIT_WITH_BARRIER");
    Py_DECREF(commands);
    return known.command_free == NULL || known.command_record == NULL ||
                   known.command_barrier == NULL
               ? -1
               : fetch_names();
}

static int execute(PyObject *module) {
    PyTypeObject *const types[] = {
        &block_type,       &size_index_type,    &run_index_type,       &heap_blocks_type,
        &tally_type,       &lock_type,          &order_fields_type,    &domain_fields_type,
        &pool_front_type,  &dropped_block_type, &registry_fields_type, &held_block_type,
        &queue_front_type, &route_type,         &at_once_type,         &mark_fields_type,
        &signal_type,      &held_signal_type,   &list_front_type,      &current_fields_type,
    };
    // The classes are the process's, and go with the package's first copy: another one, after its
    // modules were forgotten and imported again, has other enumerators, and uses those in Python.
    static bool is_taken = false;
    if (is_taken) {
        PyErr_SetString(PyExc_ImportError, "another copy of the package uses these classes");
        return -1;
    }
    if (fetch_known() < 0) {
        return -1;
    }
    is_taken = true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyModule_AddType(module, types[i]) < 0) {
            return -1;
        }
    }
    return add_usual_calls(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, // everything here is guarded by the lock of the pool
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "urasync_l0.pool._structure",
    .m_doc = "The inner structure of the pool core, in C; structure.py says when it is used.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__structure(void) { return PyModuleDef_Init(&definition); }

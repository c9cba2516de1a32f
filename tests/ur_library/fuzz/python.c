// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Behind the entries is Python, of which the compiler's coverage sees nothing: here its lines are
// counted, and each result of each entry.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include "fuzz.h"

#include <stdio.h>

enum { COUNTERS = 1 << 15 };

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

static void count(uint64_t number) {
    number *= 0x9E3779B97F4A7C15ull;
    uint8_t *counter = &counters[number >> 49];
    if (*counter < UINT8_MAX)
        (*counter)++;
}

static int on_line(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument) {
    (void)unused, (void)argument;
    if (what == PyTrace_LINE) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        count((uintptr_t)code + (uint64_t)PyFrame_GetLineNumber(frame));
        Py_DECREF(code);
    }
    return 0;
}

void count_result(uint32_t entry, ur_result_t result) { count((uint64_t)entry << 32 | result); }

static void run(const char *text) {
    const PyGILState_STATE held = PyGILState_Ensure();
    if (PyRun_SimpleString(text) != 0)
        fail("Python's part failed");
    PyGILState_Release(held);
}

// What nobody sees otherwise: exceptions in finalizers, callbacks and other threads.
static const char watch[] =
    "import gc, os, sys, threading, traceback\n"
    "def tell(*lines):\n"
    "    os.write(%d, ''.join(lines).encode())\n"
    "    os.abort()\n"
    "def told(seen):\n"
    "    tell('nobody sees this exception:\\n', *traceback.format_exception(\n"
    "        seen.exc_type, seen.exc_value, seen.exc_traceback))\n"
    "sys.unraisablehook = threading.excepthook = told\n"
    "from urasync_l0.ur_library.handle_table import HandleTable\n"
    "tables = [t for t in gc.get_objects() if isinstance(t, HandleTable)\n"
    "          and t.kind not in ('adapter', 'platform', 'device')]\n"
    "assert len(tables) == 7, tables\n";

void watch_python(int report_to) {
    static char text[sizeof watch + 16];
    snprintf(text, sizeof text, watch, report_to);
    run(text);
    // This thread keeps its state in Python, and thereby the function.
    (void)PyGILState_Ensure();
    PyEval_SetTrace(on_line, NULL);
    (void)PyEval_SaveThread();
}

void check_tables(void) {
    run("left = {t.kind: len(t) - 1 for t in tables if len(t) > 1}\n"
        "if left: tell(f'handles are left in the tables: {left}\\n')\n");
}

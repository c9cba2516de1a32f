/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Python in the client's process. A Python program has one. For any other it is started from the
 * environment that the library is installed in: <prefix>/bin/python, if the library lies in
 * <prefix>/lib/python.../site-packages; else the Python that built it; if that is gone, the one
 * that libpython belongs to. The client's variables, locale, signals and streams are its own.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(argument) #argument
#define TEXT(argument) TEXT_OF(argument)
#define PYTHON_VERSION TEXT(PY_MAJOR_VERSION) "." TEXT(PY_MINOR_VERSION)
/* Objects are laid out differently without the interpreter's lock, so it is another Python. */
#ifdef Py_GIL_DISABLED
enum { FREE_THREADED = 1 };
#define PYTHON_BUILD PYTHON_VERSION "t"
#else
enum { FREE_THREADED = 0 };
#define PYTHON_BUILD PYTHON_VERSION
#endif

/*
 * Both adapter libraries may be in one process, each with a copy of this code, and only one may
 * start Python. A unique symbol is the same in all libraries of a process, however they are loaded.
 */
__attribute__((visibility("default"))) pthread_mutex_t urasync_l0_interpreter_lock =
    PTHREAD_MUTEX_INITIALIZER;
__asm__(".type urasync_l0_interpreter_lock, @gnu_unique_object");

static bool started_here;

/* When the library is loaded: a relative path means nothing once the client has changed its folder.
 */
__attribute__((constructor)) static void find_library(void) { (void)library_path(); }

const char *library_path(void) {
    static char path[PATH_MAX];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Dl_info library;
    pthread_mutex_lock(&lock);
    if (path[0] == '\0' && dladdr(function_table, &library) != 0 &&
        realpath(library.dli_fname, path) == NULL)
        path[0] = '\0';
    pthread_mutex_unlock(&lock);
    return path;
}

/* Write the path of the Python in a prefix's bin; tell whether there is one. */
static bool python_in(const char *prefix, char *path, size_t size) {
    static const char *const names[] = {"python" PYTHON_BUILD, "python3"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const int length = snprintf(path, size, "%s/bin/%s", prefix, names[i]);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static bool python_of_environment(char *path, size_t size) {
    char place[PATH_MAX], *end;
    snprintf(place, sizeof(place), "%s", library_path());
    end = strstr(place, "/site-packages/urasync_l0/");
    if (end == NULL)
        end = strstr(place, "/dist-packages/urasync_l0/");
    for (int up = 0; end != NULL && up < 2; up++) { /* python3.x and lib */
        *end = '\0';
        end = strrchr(place, '/');
    }
    if (end == NULL)
        return false;
    *end = '\0';
    return python_in(place, path, size);
}

/* libpython lies in <prefix>/lib, or deeper. */
static bool python_of_libpython(char *path, size_t size) {
    char place[PATH_MAX], *end;
    Dl_info python;
    if (dladdr((void *)&PyType_Type, &python) == 0 || realpath(python.dli_fname, place) == NULL)
        return false;
    while ((end = strrchr(place, '/')) != NULL) {
        *end = '\0';
        if (python_in(place, path, size))
            return true;
    }
    return false;
}

/* Write the path of the Python to start, or an empty string. */
static void find_python(char *path, size_t size) {
    if (python_of_environment(path, size))
        return;
    const int length = snprintf(path, size, "%s", built_by);
    if (length > 0 && (size_t)length < size && access(path, X_OK) == 0)
        return;
    if (!python_of_libpython(path, size))
        path[0] = '\0';
}

/* Python's extension modules do not name the library that they take Python from. */
static void share_symbols(void) {
    Dl_info python;
    if (dladdr((void *)&PyType_Type, &python) != 0)
        dlopen(python.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* Whoever first imports Python's module of signals has it take interrupts, which then end no
 * client; so that is done here, and undone. */
static void leave_interrupts(void) {
    struct sigaction kept;
    sigaction(SIGINT, NULL, &kept);
    PyObject *module = PyImport_ImportModule("_signal");
    if (module == NULL)
        PyErr_Clear();
    Py_XDECREF(module);
    sigaction(SIGINT, &kept, NULL);
}

/* The package and what it needs may be installed where Python does not look by itself; and it is
 * the package that the library belongs to, whatever else there is. */
static void find_package(void) {
    char place[PATH_MAX], *end;
    snprintf(place, sizeof(place), "%s", library_path());
    for (int up = 0; up < 3 && (end = strrchr(place, '/')) != NULL; up++)
        *end = '\0';
    PyObject *folder = PyUnicode_DecodeFSDefault(place);
    PyObject *folders = PySys_GetObject("path"); /* not a new reference */
    if (folder == NULL || folders == NULL ||
        (PySequence_Contains(folders, folder) == 0 && PyList_Insert(folders, 0, folder) != 0))
        PyErr_Clear();
    Py_XDECREF(folder);
}

/* Variables that are meant for other Pythons change nothing here, and nothing of the client's is
 * changed: Python would set the locale, and a variable for child processes. */
static PyStatus start_apart(const char *python) {
    PyPreConfig before;
    PyConfig config;
    PyStatus status;
    PyPreConfig_InitPythonConfig(&before);
    before.parse_argv = 0;
    before.use_environment = 0;
    before.configure_locale = 0;
    before.coerce_c_locale = 0;
    before.utf8_mode = 1;
    status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status))
        return status;
    PyConfig_InitPythonConfig(&config);
    config.parse_argv = 0;
    config.use_environment = 0;
    config.configure_c_stdio = 0;
    config.install_signal_handlers = 0;
    status = PyConfig_SetBytesString(&config, &config.program_name, python);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (!PyStatus_Exception(status)) {
        leave_interrupts();
        find_package();
    }
    return status;
}

static bool start_interpreter(void) {
    char python[PATH_MAX];
    find_python(python, sizeof(python));
    if (python[0] == '\0') {
        write_formatted(LEVEL_ERROR,
                        "no Python " PYTHON_BUILD " was found where this library is installed, "
                        "nor the one that built it, %s, nor one beside libpython",
                        built_by);
        return false;
    }
    share_symbols();
    const PyStatus status = start_apart(python);
    if (PyStatus_Exception(status)) {
        write_formatted(LEVEL_ERROR, "%s could not be started: %s", python,
                        status.err_msg == NULL ? "no reason given" : status.err_msg);
        return false;
    }
    write_formatted(LEVEL_INFO, "started %s", python);
    started_here = true;
    PyEval_SaveThread();
    return true;
}

static bool is_built_for(const char *version) {
    return strncmp(version, PYTHON_VERSION ".", strlen(PYTHON_VERSION ".")) == 0 &&
           (strstr(version, "free-threading build") != NULL) == FREE_THREADED;
}

bool have_interpreter(void) {
    bool is_running;
    pthread_mutex_lock(&urasync_l0_interpreter_lock);
    if (Py_IsInitialized())
        is_running = true;
    else
        is_running = start_interpreter();
    pthread_mutex_unlock(&urasync_l0_interpreter_lock);
    if (is_running && !is_built_for(Py_GetVersion())) {
        write_formatted(LEVEL_ERROR,
                        "the program runs Python %.40s; this library was built for " PYTHON_BUILD,
                        Py_GetVersion());
        return false;
    }
    return is_running;
}

void without_python_lock(void (*function)(void)) {
    PyThreadState *held = NULL;
    if (Py_IsInitialized() && PyGILState_Check())
        held = PyEval_SaveThread();
    function();
    if (held != NULL)
        PyEval_RestoreThread(held);
}

void end_interpreter(void) {
    PyGILState_STATE held;
    if (!started_here || !Py_IsInitialized())
        return;
    held = PyGILState_Ensure();
    if (PyRun_SimpleString("import atexit; atexit._run_exitfuncs()") != 0)
        PyErr_Clear();
    PyGILState_Release(held);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A UR adapter library: C functions that hand their arguments to Python.
 *
 * library.c      who may call, from the first call to the end of the process
 * interpreter.c  finding and starting Python, when the client is not a Python program
 * usual_calls.c  the allocations, frees and events that are made without a function in Python
 * logger.c       messages in the style of UR's logger
 *
 * The build adds, from include/entries.h and function_tables.txt: the functions themselves, the
 * table of them, and the exported urGet...ProcAddrTable.
 */
#ifndef URASYNC_LIBRARY_H
#define URASYNC_LIBRARY_H

#include "unified_runtime.h"

/* Any function of the table; its real type is known to who calls it. */
typedef void (*ur_function_t)(void);

/* All tables of Unified Runtime, one behind the other. The first word of a handle points here. */
extern const ur_function_t function_table[];

enum logger_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR, LEVEL_QUIET };

/* -- library.c ----------------------------------------------------------------------------------
 */

/*
 * Begin a call of an entry; starts Python with the first one. False if Python cannot be called: it
 * did not start, the process ends, or it is a child of the one that started it.
 */
bool begin_call(const char *entry);

/* The result of a call that could not begin. */
ur_result_t refused(const char *entry);

/*
 * The same of urEventGetInfo, which clients in Python ask before they wait at their end: what is
 * asked about is complete then, for the end has waited for it.
 */
ur_result_t status_at_end(ur_event_info_t property, size_t room, void *value, size_t *size);

/* Called while Python starts: it is there, but the package cannot be used. */
void fail_start(const char *reason);

/* End a call that began, with its result. */
ur_result_t end_call(ur_result_t result);

/*
 * Put a release off to the end of the call that this thread is inside of; false if it is in none.
 * Python's collection may run in any call of a Python program and end the client's objects, whose
 * releases would want the locks that the call holds.
 */
bool put_off_nested(void (*call)(void *const *arguments), void *first, void *second);

/* The answer of a function that is not offered. */
ur_result_t unsupported(const char *function);

/* Copy a part of the table to the loader, if it asks for the version that the table has. */
ur_result_t copy_table(ur_api_version_t version, void *target, size_t first, size_t count);

/* Refuse further calls and wait, at most some seconds, until those of other threads are done. */
void end_calls(void);

/*
 * Release everything when the process ends. What is registered last is called first: to be called
 * when the driver is loaded, which has handlers of its own.
 */
void release_at_exit(void);

/* -- interpreter.c ------------------------------------------------------------------------------
 */

/* Whether a Python that this library was built for runs, or was started by this call. */
bool have_interpreter(void);

/* The real path of this library, or an empty string. */
const char *library_path(void);

/* Call a function that may block; a thread of a Python program may hold Python's lock meanwhile. */
void without_python_lock(void (*function)(void));

/* Run what Python programs run at their end, if the interpreter was started here. */
void end_interpreter(void);

/* -- usual_calls.c ------------------------------------------------------------------------------
 */

/*
 * Called while Python starts, if the pool core is in C: the address of a tuple, in which are the
 * tables of handles, what else is kept of them, and what makes a code of an error with the name of
 * the entry.
 */
void connect_usual_calls(uintptr_t given);

/* What the usual calls on a queue have in common. */
struct usual_call {
    const char *entry;
    ur_queue_handle_t queue;
    uint32_t count;
    const ur_event_handle_t *wait_list;
    ur_event_handle_t *event; /* NULL if none is asked for */
};

/*
 * Allocate, free, give an event at the queue's place, or release one, if that is the usual case.
 * False if nothing was done, and the function in Python has to be called.
 */
bool allocate_at_once(const struct usual_call *call, ur_usm_type_t kind, ur_usm_pool_handle_t pool,
                      size_t size, void **mem, ur_result_t *result);
bool free_at_once(const struct usual_call *call, void *mem, ur_result_t *result);
bool record_at_once(const struct usual_call *call, bool is_barrier, ur_result_t *result);
bool release_event_at_once(ur_event_handle_t event, ur_result_t *result);

/* -- the generated part -------------------------------------------------------------------------
 */

/* The path of the Python that built the library. */
extern const char built_by[];

/* Import the package and tell cffi which Python function serves which entry. 0 on success. */
int start_bindings(void);

/* -- logger.c -----------------------------------------------------------------------------------
 */

/* Whether somebody wants to see messages of a level. */
bool is_logged(uint32_t level);

void write_log(uint32_t level, const char *message);

__attribute__((format(printf, 2, 3))) void write_formatted(uint32_t level, const char *format, ...);

#endif

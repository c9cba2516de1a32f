/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "library.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum state { NOT_STARTED, STARTING, RUNNING, FAILED, ENDED, FORKED };

static _Atomic int state = NOT_STARTED;
static _Atomic int calls_under_way;
static _Thread_local int own_calls;
static bool start_failed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void after_fork_in_child(void) {
    /* Python's lock may have been held by a thread that the child does not have. */
    if (state != NOT_STARTED)
        state = FORKED;
}

static void at_exit(void) {
    end_calls();
    if (state != ENDED)
        return;
    if (calls_under_way == own_calls)
        end_interpreter();
    else
        write_formatted(LEVEL_WARNING, "the process ends during %d calls; nothing is released",
                        calls_under_way - own_calls);
}

static void start(void) {
    state = STARTING;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    if (!have_interpreter() || start_bindings() != 0 || start_failed) {
        state = FAILED;
        return;
    }
    state = RUNNING;
}

void fail_start(const char *reason) {
    write_log(LEVEL_ERROR, reason);
    start_failed = true;
}

void release_at_exit(void) { atexit(at_exit); }

static void start_once(void) { pthread_once(&once, start); }

/* Whether a function does nothing that the end of the process has not done: it has waited for all
 * queues and given everything back. */
static bool is_done(const char *entry) {
    size_t length = strlen(entry), ending = strlen("Release");
    return strcmp(entry, "urEventWait") == 0 || strcmp(entry, "urQueueFinish") == 0 ||
           strcmp(entry, "urUSMFree") == 0 || strcmp(entry, "urUSMPoolDestroyExp") == 0 ||
           strcmp(entry + length - ending, "Release") == 0;
}

ur_result_t refused(const char *entry) {
    static const char *const reasons[] = {
        [NOT_STARTED] = "Python has not started", [STARTING] = "Python is just starting",
        [RUNNING] = "Python is running",          [FAILED] = "Python could not be started",
        [ENDED] = "the process is ending",        [FORKED] = "it cannot be used after a fork",
    };
    const int now = state;
    /* C++ programs release in destructors, dpctl waits when Python ends, and neither bears failure.
     */
    if (now == ENDED && is_done(entry))
        return UR_RESULT_SUCCESS;
    write_formatted(LEVEL_ERROR, "%s is refused: %s", entry, reasons[now]);
    return UR_RESULT_ERROR_UNINITIALIZED;
}

ur_result_t status_at_end(ur_event_info_t property, size_t room, void *value, size_t *size) {
    if (state != ENDED || property != UR_EVENT_INFO_COMMAND_EXECUTION_STATUS)
        return refused("urEventGetInfo");
    if (value != NULL && room < sizeof(ur_execution_info_t))
        return UR_RESULT_ERROR_INVALID_SIZE;
    if (value != NULL)
        *(ur_execution_info_t *)value = UR_EVENT_STATUS_COMPLETE;
    if (size != NULL)
        *size = sizeof(ur_execution_info_t);
    return UR_RESULT_SUCCESS;
}

bool begin_call(const char *entry) {
    if (state == NOT_STARTED || state == STARTING)
        without_python_lock(start_once);
    atomic_fetch_add(&calls_under_way, 1);
    if (state != RUNNING) {
        atomic_fetch_sub(&calls_under_way, 1);
        return false;
    }
    own_calls++;
    return true;
}

/* What a thread has put off, oldest first. */
struct put_off {
    struct put_off *next;
    void (*call)(void *const *arguments);
    void *arguments[2];
};
static _Thread_local struct put_off *first_put_off, **end_of_put_off;
static _Thread_local bool makes_up;

bool put_off_nested(void (*call)(void *const *arguments), void *first, void *second) {
    if (own_calls < 2)
        return false;
    struct put_off *one = malloc(sizeof(*one));
    if (one == NULL)
        return false;
    *one = (struct put_off){.call = call, .arguments = {first, second}};
    if (first_put_off == NULL)
        end_of_put_off = &first_put_off;
    *end_of_put_off = one;
    end_of_put_off = &one->next;
    return true;
}

/* Calls made up for may put off others in turn. */
static void make_up(void) {
    makes_up = true;
    while (first_put_off != NULL) {
        struct put_off *one = first_put_off;
        first_put_off = one->next;
        one->call(one->arguments);
        free(one);
    }
    makes_up = false;
}

ur_result_t end_call(ur_result_t result) {
    own_calls--;
    atomic_fetch_sub(&calls_under_way, 1);
    if (own_calls == 0 && first_put_off != NULL && !makes_up)
        make_up();
    return result;
}

void end_calls(void) {
    const struct timespec pause = {.tv_nsec = 1000000};
    int expected = RUNNING;
    if (!atomic_compare_exchange_strong(&state, &expected, ENDED))
        return;
    for (int left = 3000; left > 0 && calls_under_way != own_calls; left--)
        nanosleep(&pause, NULL);
}

ur_result_t unsupported(const char *function) {
    write_formatted(LEVEL_WARNING, "%s is not offered by this adapter", function);
    return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ur_result_t copy_table(ur_api_version_t version, void *target, size_t first, size_t count) {
    if (target == NULL)
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    /* While the major version is 0, each minor version may move functions. */
    if (version != UR_API_VERSION) {
        write_formatted(LEVEL_ERROR, "the loader has version %u.%u of Unified Runtime, not %u.%u",
                        version >> 16, version & 0xFFFF, UR_API_VERSION >> 16,
                        UR_API_VERSION & 0xFFFF);
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    memcpy(target, &function_table[first], count * sizeof(function_table[0]));
    return UR_RESULT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* UR_LOG_LEVEL_ZERO="level:<level>;output:<stderr, stdout or file,path>", as UR's own adapters. */
#include "library.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"debug", "info", "warning", "error", "quiet"};
static const char *const labels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "QUIET"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t written_from = LEVEL_QUIET;
static FILE *output;

static struct {
    ur_logger_callback_t function;
    void *user_data;
    uint32_t from;
} callback = {.from = LEVEL_QUIET};

static void read_setting(const char *name, const char *value) {
    if (strcmp(name, "level") == 0) {
        for (uint32_t level = LEVEL_DEBUG; level <= LEVEL_QUIET; level++)
            if (strcmp(value, names[level]) == 0)
                written_from = level;
    } else if (strcmp(name, "output") == 0) {
        if (strcmp(value, "stdout") == 0)
            output = stdout;
        else if (strncmp(value, "file,", 5) == 0)
            output = fopen(value + 5, "ae");
        if (output == NULL)
            output = stderr;
    }
}

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void read_settings(void) {
    const char *variable = getenv("UR_LOG_LEVEL_ZERO");
    char *text = variable == NULL ? NULL : strdup(variable);
    char *rest = NULL;
    output = stderr;
    /* A child must not wait for what a thread was writing that it does not have. */
    pthread_atfork(before_fork, after_fork, after_fork);
    if (text == NULL)
        return;
    for (char *part = strtok_r(text, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        char *colon = strchr(part, ':');
        if (colon == NULL)
            continue;
        *colon = '\0';
        read_setting(part, colon + 1);
    }
    free(text);
}

static void lock_log(void) {
    pthread_once(&once, read_settings);
    pthread_mutex_lock(&lock);
}

bool is_logged(uint32_t level) {
    pthread_once(&once, read_settings);
    return level < LEVEL_QUIET && (level >= written_from || level >= callback.from);
}

void write_log(uint32_t level, const char *message) {
    ur_logger_callback_t function;
    void *user_data;
    if (!is_logged(level))
        return;
    lock_log();
    if (level >= written_from) {
        fprintf(output, "<LEVEL_ZERO>[%s]: %s\n", labels[level], message);
        fflush(output);
    }
    function = level >= callback.from ? callback.function : NULL;
    user_data = callback.user_data;
    pthread_mutex_unlock(&lock);
    if (function != NULL)
        function(level, message, user_data);
}

void write_formatted(uint32_t level, const char *format, ...) {
    char message[512];
    va_list arguments;
    if (!is_logged(level))
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    write_log(level, message);
}

ur_result_t urAdapterSetLoggerCallback(ur_adapter_handle_t adapter, ur_logger_callback_t function,
                                       void *user_data, ur_logger_level_t level) {
    if (adapter == NULL)
        return UR_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (function == NULL)
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    lock_log();
    callback.function = function;
    callback.user_data = user_data;
    callback.from = level;
    pthread_mutex_unlock(&lock);
    return UR_RESULT_SUCCESS;
}

ur_result_t urAdapterSetLoggerCallbackLevel(ur_adapter_handle_t adapter, ur_logger_level_t level) {
    if (adapter == NULL)
        return UR_RESULT_ERROR_INVALID_NULL_HANDLE;
    lock_log();
    if (callback.function != NULL)
        callback.from = level;
    pthread_mutex_unlock(&lock);
    return UR_RESULT_SUCCESS;
}

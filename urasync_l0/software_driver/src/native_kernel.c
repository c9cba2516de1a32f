// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in native code: functions that a test registers by name. They stay registered, so that a
// launch under way always has its function; another registration of a name is for later modules.

#include <stdlib.h>
#include <string.h>

#include "module.h"

struct native_kernel {
    native_kernel_t *next;
    char *name;
    urasync_native_kernel *run;
    void *user;
    uint32_t argument_count;
    uint32_t sizes[]; // bytes; 0 of a pointer
};

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static native_kernel_t *all = NULL; // the latest first

const native_kernel_t *native_kernel_find(const char *name) {
    os_mutex_lock(&mutex);
    const native_kernel_t *found = all;
    while (found != NULL && strcmp(found->name, name) != 0) {
        found = found->next;
    }
    os_mutex_unlock(&mutex);
    return found;
}

bool native_kernel_describe(const native_kernel_t *native, spirv_kernel_t *kernel) {
    const uint32_t count = native->argument_count;
    *kernel = (spirv_kernel_t){.name = strdup(native->name),
                               .native = native,
                               .parameter_count = count,
                               .parameters = calloc(count + 1, sizeof *kernel->parameters)};
    if (kernel->name == NULL || kernel->parameters == NULL) {
        free(kernel->name);
        free(kernel->parameters);
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const bool is_pointer = native->sizes[i] == 0;
        kernel->parameters[i] =
            (parameter_t){.kind = is_pointer ? PARAMETER_POINTER : PARAMETER_VALUE,
                          .size = is_pointer ? sizeof(void *) : native->sizes[i]};
    }
    return true;
}

void native_kernel_run(const native_kernel_t *native, const urasync_launch *launch) {
    native->run(launch, native->user);
}

int32_t urasync_kernel_register(const char *name, urasync_native_kernel *run, void *user,
                                uint32_t argument_count, const uint32_t *sizes) {
    enum { MOST_ARGUMENTS = 128, LARGEST_ARGUMENT = 1024 };
    if (name == NULL || *name == '\0' || run == NULL || argument_count > MOST_ARGUMENTS ||
        (argument_count > 0 && sizes == NULL)) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    for (uint32_t i = 0; i < argument_count; ++i) {
        if (sizes[i] > LARGEST_ARGUMENT) {
            return URASYNC_CONTROL_OUT_OF_RANGE;
        }
    }
    native_kernel_t *native = malloc(sizeof *native + argument_count * sizeof native->sizes[0]);
    char *copy = strdup(name);
    if (native == NULL || copy == NULL) {
        free(native);
        free(copy);
        return URASYNC_CONTROL_NO_MEMORY;
    }
    native->name = copy;
    native->run = run;
    native->user = user;
    native->argument_count = argument_count;
    for (uint32_t i = 0; i < argument_count; ++i) {
        native->sizes[i] = sizes[i];
    }
    os_mutex_lock(&mutex);
    native->next = all;
    all = native;
    os_mutex_unlock(&mutex);
    return URASYNC_CONTROL_OK;
}

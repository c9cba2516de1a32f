// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL runtime that compiles nothing: for failures that a real one does not have on demand,
// and for what a real one does not tell. `made_up_opencl` has what it was told, and what it
// answers. The variable MADE_UP_OPENCL_FAILS names the function, or the property of the device,
// that fails. Each launch writes 4711 to where the last pointer points.

#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

enum { SUCCESS = 0, OUT_OF_RESOURCES = -5, CANNOT_ANSWER = -30, FOUND = 4711 };

EXPORTED made_up_opencl_t made_up_opencl = {.units = 3, .concurrent_groups = 32};

static uint64_t object; // all objects are this one
static uint32_t *last_pointer;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t pass(uint64_t nanoseconds) {
    const uint64_t end = now() + nanoseconds;
    while (now() < end) {
    }
    return now();
}

static int32_t result_of(const char *function) {
    const char *failing = getenv("MADE_UP_OPENCL_FAILS");
    return failing != NULL && strcmp(failing, function) == 0 ? OUT_OF_RESOURCES : SUCCESS;
}

static void *object_of(const char *function, int32_t *result) {
    *result = result_of(function);
    return *result == SUCCESS ? &object : NULL;
}

#define ONE(name, before, ...)                                                                     \
    EXPORTED int32_t name(before uint32_t capacity, void **objects, uint32_t *count);              \
    int32_t name(before uint32_t capacity, void **objects, uint32_t *count) {                      \
        __VA_ARGS__;                                                                               \
        if (capacity > 0 && objects != NULL) {                                                     \
            *objects = &object;                                                                    \
        }                                                                                          \
        *count = 1;                                                                                \
        return result_of(#name);                                                                   \
    }
#define COMMA ,
ONE(clGetPlatformIDs, , )
ONE(clGetDeviceIDs, void *platform COMMA uint64_t type COMMA, (void)platform, (void)type)

EXPORTED int32_t clGetDeviceInfo(void *device, uint32_t what, size_t size, void *to, size_t *all);
int32_t clGetDeviceInfo(void *device, uint32_t what, size_t size, void *to, size_t *all) {
    (void)device;
    (void)all;
    enum { UNITS = 0x1002, NAME = 0x102B, SVM_CAPABILITIES = 0x1053, IL_VERSION = 0x105B };
    memset(to, 0, size);
    if (what == UNITS) {
        *(uint32_t *)to = made_up_opencl.units;
    } else if (what == NAME) {
        memcpy(to, "made up", sizeof "made up");
    } else if (what == SVM_CAPABILITIES && result_of("CL_DEVICE_SVM_CAPABILITIES") == SUCCESS) {
        *(uint64_t *)to = 4; // fine-grained, of the system
    } else if (what == IL_VERSION && result_of("CL_DEVICE_IL_VERSION") == SUCCESS) {
        memcpy(to, "SPIR-V_1.0", sizeof "SPIR-V_1.0");
    }
    return SUCCESS;
}

// What makes an object, and what gives it back, count it.
static void count(atomic_int *balance, int more, int32_t result) {
    atomic_fetch_add(balance, result == SUCCESS ? more : 0);
}

#define RESULT(name, parameters)                                                                   \
    EXPORTED int32_t name parameters;                                                              \
    int32_t name parameters { return result_of(#name); }
#define OBJECT(name, ...)                                                                          \
    EXPORTED void *name(__VA_ARGS__, int32_t *result);                                             \
    void *name(__VA_ARGS__, int32_t *result) { return object_of(#name, result); }
#define COUNTED(name, release, balance, ...)                                                       \
    EXPORTED void *name(__VA_ARGS__, int32_t *result);                                             \
    void *name(__VA_ARGS__, int32_t *result) {                                                     \
        void *made = object_of(#name, result);                                                     \
        count(&made_up_opencl.balance, 1, *result);                                                \
        return made;                                                                               \
    }                                                                                              \
    EXPORTED int32_t release(void *given);                                                         \
    int32_t release(void *given) {                                                                 \
        const int32_t result = given == &object ? result_of(#release) : OUT_OF_RESOURCES;          \
        count(&made_up_opencl.balance, -1, result);                                                \
        return result;                                                                             \
    }

// Parameters that nobody looks at have no names.
#pragma GCC diagnostic ignored "-Wpedantic"
RESULT(clGetPlatformInfo, (void *, uint32_t, size_t, void *, size_t *))
OBJECT(clCreateContext, const intptr_t *, uint32_t, void *const *, void *, void *)
COUNTED(clCreateCommandQueueWithProperties, clReleaseCommandQueue, queues, void *, void *,
        const uint64_t *)
COUNTED(clCreateProgramWithIL, clReleaseProgram, programs, void *, const void *, size_t)
COUNTED(clCreateKernel, clReleaseKernel, kernels, void *, const char *)
RESULT(clSetProgramSpecializationConstant, (void *, uint32_t, size_t, const void *))
RESULT(clBuildProgram, (void *, uint32_t, void *const *, const char *, void *, void *))
RESULT(clWaitForEvents, (uint32_t, void *const *))

EXPORTED int32_t clCompileProgram(void *program, uint32_t devices, void *const *device,
                                  const char *options, uint32_t headers, void *const *header,
                                  const char **names, void *callback, void *user);
int32_t clCompileProgram(void *program, uint32_t devices, void *const *device, const char *options,
                         uint32_t headers, void *const *header, const char **names, void *callback,
                         void *user) {
    (void)program, (void)devices, (void)device, (void)headers, (void)header, (void)names;
    (void)callback, (void)user;
    const size_t room = sizeof made_up_opencl.options - strlen(made_up_opencl.options) - 1;
    strncat(made_up_opencl.options, options != NULL ? options : "", room);
    return result_of("clCompileProgram");
}

EXPORTED void *clLinkProgram(void *context, uint32_t devices, void *const *device,
                             const char *options, uint32_t programs, void *const *inputs,
                             void *callback, void *user, int32_t *result);
void *clLinkProgram(void *context, uint32_t devices, void *const *device, const char *options,
                    uint32_t programs, void *const *inputs, void *callback, void *user,
                    int32_t *result) {
    (void)context, (void)devices, (void)device, (void)options, (void)programs, (void)inputs;
    (void)callback, (void)user;
    void *made = object_of("clLinkProgram", result);
    count(&made_up_opencl.programs, 1, *result);
    return made;
}

EXPORTED int32_t clReleaseEvent(void *event);
int32_t clReleaseEvent(void *event) {
    const int32_t result = event == &object ? result_of("clReleaseEvent") : OUT_OF_RESOURCES;
    count(&made_up_opencl.events, -1, result);
    return result;
}

EXPORTED int32_t clSetKernelArg(void *kernel, uint32_t index, size_t size, const void *value);
int32_t clSetKernelArg(void *kernel, uint32_t index, size_t size, const void *value) {
    (void)kernel;
    if (index < MADE_UP_ARGUMENTS) {
        made_up_opencl.argument_sizes[index] = size;
        made_up_opencl.is_local[index] = value == NULL;
    }
    return result_of("clSetKernelArg");
}

EXPORTED int32_t clSetKernelExecInfo(void *kernel, uint32_t what, size_t size, const void *value);
int32_t clSetKernelExecInfo(void *kernel, uint32_t what, size_t size, const void *value) {
    enum { SVM_FINE_GRAIN_SYSTEM = 0x11B7, DISPATCH_TYPE = 0x4257 };
    (void)kernel;
    if (what == DISPATCH_TYPE && size == sizeof made_up_opencl.dispatch_type) {
        memcpy(&made_up_opencl.dispatch_type, value, size);
    } else if (what == SVM_FINE_GRAIN_SYSTEM && size == sizeof made_up_opencl.any_pointer) {
        memcpy(&made_up_opencl.any_pointer, value, size);
    }
    return result_of("clSetKernelExecInfo");
}

static int32_t concurrent_groups(void *queue, void *kernel, uint32_t dimensions,
                                 const size_t *offset, const size_t *local, size_t *groups) {
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)local;
    *groups = made_up_opencl.concurrent_groups;
    return SUCCESS;
}

// Every program has the variable `units`.
static int32_t variable(void *device, void *program, const char *name, size_t *size, void **at) {
    (void)device, (void)program;
    *size = sizeof made_up_opencl.units;
    *at = &made_up_opencl.units;
    return strcmp(name, "units") == 0 ? SUCCESS : CANNOT_ANSWER;
}

EXPORTED void *clGetExtensionFunctionAddressForPlatform(void *platform, const char *name);
void *clGetExtensionFunctionAddressForPlatform(void *platform, const char *name) {
    static const struct {
        const char *name;
        void *function;
    } extensions[] = {
        {"clGetKernelMaxConcurrentWorkGroupCountINTEL", concurrent_groups},
        {"clGetDeviceGlobalVariablePointerINTEL", variable},
    };
    (void)platform;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; ++i) {
        if (strcmp(name, extensions[i].name) == 0) {
            return extensions[i].function;
        }
    }
    return NULL;
}

EXPORTED int32_t clGetProgramBuildInfo(void *program, void *device, uint32_t what, size_t size,
                                       void *to, size_t *all);
int32_t clGetProgramBuildInfo(void *program, void *device, uint32_t what, size_t size, void *to,
                              size_t *all) {
    static const char log[] = "said while it was made";
    (void)program, (void)device, (void)what;
    if (to != NULL && size >= sizeof log) {
        memcpy(to, log, sizeof log);
    }
    if (all != NULL) {
        *all = sizeof log;
    }
    return SUCCESS;
}

EXPORTED int32_t clGetEventProfilingInfo(void *event, uint32_t what, size_t size, void *to,
                                         size_t *all);
int32_t clGetEventProfilingInfo(void *event, uint32_t what, size_t size, void *to, size_t *all) {
    enum { START = 0x1282 };
    (void)event, (void)all;
    memcpy(to, what == START ? &made_up_opencl.started : &made_up_opencl.ended, size);
    return SUCCESS;
}

EXPORTED int32_t clGetKernelWorkGroupInfo(void *kernel, void *device, uint32_t what, size_t size,
                                          void *to, size_t *all);
int32_t clGetKernelWorkGroupInfo(void *kernel, void *device, uint32_t what, size_t size, void *to,
                                 size_t *all) {
    enum { LOCAL_MEM_SIZE = 0x11B2 };
    (void)kernel, (void)device, (void)all;
    if (what != LOCAL_MEM_SIZE) {
        return CANNOT_ANSWER;
    }
    memcpy(to, &made_up_opencl.local_memory, size);
    return SUCCESS;
}

EXPORTED int32_t clGetKernelSubGroupInfo(void *kernel, void *device, uint32_t what,
                                         size_t input_size, const void *input, size_t size,
                                         void *to, size_t *all);
int32_t clGetKernelSubGroupInfo(void *kernel, void *device, uint32_t what, size_t input_size,
                                const void *input, size_t size, void *to, size_t *all) {
    (void)kernel, (void)device, (void)input_size, (void)input, (void)all;
    const size_t answer = what; // each question has another one
    memcpy(to, &answer, size);
    return SUCCESS;
}

EXPORTED int32_t clSetKernelArgSVMPointer(void *kernel, uint32_t index, void *pointer);
int32_t clSetKernelArgSVMPointer(void *kernel, uint32_t index, void *pointer) {
    (void)kernel;
    (void)index;
    last_pointer = pointer;
    return result_of("clSetKernelArgSVMPointer");
}

EXPORTED int32_t clEnqueueNDRangeKernel(void *queue, void *kernel, uint32_t dimensions,
                                        const size_t *offset, const size_t *global,
                                        const size_t *local, uint32_t waits, void *const *events,
                                        void **event);
int32_t clEnqueueNDRangeKernel(void *queue, void *kernel, uint32_t dimensions, const size_t *offset,
                               const size_t *global, const size_t *local, uint32_t waits,
                               void *const *events, void **event) {
    (void)queue, (void)kernel, (void)waits, (void)events;
    const int32_t result = result_of("clEnqueueNDRangeKernel");
    if (result != SUCCESS) {
        return result;
    }
    memcpy(made_up_opencl.offset, offset, dimensions * sizeof *offset);
    memcpy(made_up_opencl.global, global, dimensions * sizeof *global);
    memcpy(made_up_opencl.local, local, dimensions * sizeof *local);
    made_up_opencl.started =
        pass(made_up_opencl.run_time); // a while before, in, and behind the run
    made_up_opencl.ended = pass(made_up_opencl.run_time);
    pass(made_up_opencl.run_time);
    if (made_up_opencl.has_another_clock) {
        made_up_opencl.started = 1;
        made_up_opencl.ended = 2;
    }
    *last_pointer = FOUND;
    *event = &object;
    count(&made_up_opencl.events, 1, result);
    return SUCCESS;
}

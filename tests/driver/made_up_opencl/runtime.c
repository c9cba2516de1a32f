// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL runtime that compiles nothing: for failures that a real one does not have on demand.
// The variable MADE_UP_OPENCL_FAILS names the function, or the property of the device, that fails.
// Each launch writes 4711 to where the last pointer points.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { SUCCESS = 0, OUT_OF_RESOURCES = -5, FOUND = 4711 };

static uint64_t object; // all objects are this one
static uint32_t *last_pointer;

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
    enum { NAME = 0x102B, SVM_CAPABILITIES = 0x1053, IL_VERSION = 0x105B };
    memset(to, 0, size);
    if (what == NAME) {
        memcpy(to, "made up", sizeof "made up");
    } else if (what == SVM_CAPABILITIES && result_of("CL_DEVICE_SVM_CAPABILITIES") == SUCCESS) {
        *(uint64_t *)to = 4; // fine-grained, of the system
    } else if (what == IL_VERSION && result_of("CL_DEVICE_IL_VERSION") == SUCCESS) {
        memcpy(to, "SPIR-V_1.0", sizeof "SPIR-V_1.0");
    }
    return SUCCESS;
}

#define RESULT(name, parameters)                                                                   \
    EXPORTED int32_t name parameters;                                                              \
    int32_t name parameters { return result_of(#name); }
#define OBJECT(name, ...)                                                                          \
    EXPORTED void *name(__VA_ARGS__, int32_t *result);                                             \
    void *name(__VA_ARGS__, int32_t *result) { return object_of(#name, result); }

// Parameters that nobody looks at have no names.
#pragma GCC diagnostic ignored "-Wpedantic"
RESULT(clGetPlatformInfo, (void *, uint32_t, size_t, void *, size_t *))
OBJECT(clCreateContext, const intptr_t *, uint32_t, void *const *, void *, void *)
OBJECT(clCreateCommandQueueWithProperties, void *, void *, const uint64_t *)
RESULT(clReleaseCommandQueue, (void *))
OBJECT(clCreateProgramWithIL, void *, const void *, size_t)
RESULT(clSetProgramSpecializationConstant, (void *, uint32_t, size_t, const void *))
RESULT(clBuildProgram, (void *, uint32_t, void *const *, const char *, void *, void *))
RESULT(clCompileProgram, (void *, uint32_t, void *const *, const char *, uint32_t, void *const *,
                          const char **, void *, void *))
OBJECT(clLinkProgram, void *, uint32_t, void *const *, const char *, uint32_t, void *const *,
       void *, void *)
RESULT(clReleaseProgram, (void *))
OBJECT(clCreateKernel, void *, const char *)
RESULT(clReleaseKernel, (void *))
RESULT(clSetKernelArg, (void *, uint32_t, size_t, const void *))
RESULT(clSetKernelExecInfo, (void *, uint32_t, size_t, const void *))
RESULT(clWaitForEvents, (uint32_t, void *const *))
RESULT(clReleaseEvent, (void *))

EXPORTED void *clGetExtensionFunctionAddressForPlatform(void *platform, const char *name);
void *clGetExtensionFunctionAddressForPlatform(void *platform, const char *name) {
    (void)platform;
    (void)name;
    return NULL;
}

// Questions that it cannot answer leave the answer as it is.
enum { CANNOT_ANSWER = -30 };
#define NO_ANSWER(name, parameters)                                                                \
    EXPORTED int32_t name parameters;                                                              \
    int32_t name parameters { return CANNOT_ANSWER; }
NO_ANSWER(clGetProgramBuildInfo, (void *, void *, uint32_t, size_t, void *, size_t *))
NO_ANSWER(clGetKernelWorkGroupInfo, (void *, void *, uint32_t, size_t, void *, size_t *))
NO_ANSWER(clGetKernelSubGroupInfo,
          (void *, void *, uint32_t, size_t, const void *, size_t, void *, size_t *))
NO_ANSWER(clGetEventProfilingInfo, (void *, uint32_t, size_t, void *, size_t *))

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
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)global;
    (void)local;
    (void)waits;
    (void)events;
    const int32_t result = result_of("clEnqueueNDRangeKernel");
    if (result == SUCCESS) {
        *last_pointer = FOUND;
        *event = &object;
    }
    return result;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The OpenCL runtime that compiles and runs SPIR-V on the host's processors: found, and loaded,
// when the first module asks for it, never before, and never unloaded. Only what is needed of
// OpenCL is declared, with the names and values of its specification.

#ifndef URASYNC_OPENCL_H
#define URASYNC_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cl_platform *cl_platform_t;
typedef struct cl_device *cl_device_t;
typedef struct cl_context *cl_context_t;
typedef struct cl_queue *cl_queue_t;
typedef struct cl_program *cl_program_t;
typedef struct cl_kernel *cl_kernel_t;
typedef struct cl_event *cl_event_t;

enum {
    CL_SUCCESS = 0,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_LINK_PROGRAM_FAILURE = -17,
    CL_INVALID_SPEC_ID = -71,
};

enum {
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_SVM_CAPABILITIES = 0x1053,
    CL_DEVICE_SVM_FINE_GRAIN_SYSTEM = 1 << 2,
    CL_DEVICE_IL_VERSION = 0x105B,
    CL_QUEUE_PROPERTIES = 0x1093,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11B2,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11B3,
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11B4,
    CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM = 0x11B7,
    CL_KERNEL_MAX_NUM_SUB_GROUPS = 0x11B9,
    CL_KERNEL_COMPILE_NUM_SUB_GROUPS = 0x11BA,
    CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE = 0x2033,
    CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL = 0x410A,
    CL_KERNEL_EXEC_INFO_DISPATCH_TYPE_INTEL = 0x4257,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
};

// Result, name and parameters of each function.
#define OPENCL_FUNCTIONS(X)                                                                        \
    X(int32_t, clGetPlatformIDs, (uint32_t, cl_platform_t *, uint32_t *))                          \
    X(int32_t, clGetPlatformInfo, (cl_platform_t, uint32_t, size_t, void *, size_t *))             \
    X(int32_t, clGetDeviceIDs, (cl_platform_t, uint64_t, uint32_t, cl_device_t *, uint32_t *))     \
    X(int32_t, clGetDeviceInfo, (cl_device_t, uint32_t, size_t, void *, size_t *))                 \
    X(void *, clGetExtensionFunctionAddressForPlatform, (cl_platform_t, const char *))             \
    X(cl_context_t, clCreateContext,                                                               \
      (const intptr_t *, uint32_t, const cl_device_t *, void *, void *, int32_t *))                \
    X(cl_queue_t, clCreateCommandQueueWithProperties,                                              \
      (cl_context_t, cl_device_t, const uint64_t *, int32_t *))                                    \
    X(int32_t, clReleaseCommandQueue, (cl_queue_t))                                                \
    X(cl_program_t, clCreateProgramWithIL, (cl_context_t, const void *, size_t, int32_t *))        \
    X(int32_t, clSetProgramSpecializationConstant, (cl_program_t, uint32_t, size_t, const void *)) \
    X(int32_t, clBuildProgram,                                                                     \
      (cl_program_t, uint32_t, const cl_device_t *, const char *, void *, void *))                 \
    X(int32_t, clCompileProgram,                                                                   \
      (cl_program_t, uint32_t, const cl_device_t *, const char *, uint32_t, const cl_program_t *,  \
       const char **, void *, void *))                                                             \
    X(cl_program_t, clLinkProgram,                                                                 \
      (cl_context_t, uint32_t, const cl_device_t *, const char *, uint32_t, const cl_program_t *,  \
       void *, void *, int32_t *))                                                                 \
    X(int32_t, clGetProgramBuildInfo,                                                              \
      (cl_program_t, cl_device_t, uint32_t, size_t, void *, size_t *))                             \
    X(int32_t, clReleaseProgram, (cl_program_t))                                                   \
    X(cl_kernel_t, clCreateKernel, (cl_program_t, const char *, int32_t *))                        \
    X(int32_t, clReleaseKernel, (cl_kernel_t))                                                     \
    X(int32_t, clSetKernelArg, (cl_kernel_t, uint32_t, size_t, const void *))                      \
    X(int32_t, clSetKernelArgSVMPointer, (cl_kernel_t, uint32_t, const void *))                    \
    X(int32_t, clSetKernelExecInfo, (cl_kernel_t, uint32_t, size_t, const void *))                 \
    X(int32_t, clGetKernelWorkGroupInfo,                                                           \
      (cl_kernel_t, cl_device_t, uint32_t, size_t, void *, size_t *))                              \
    X(int32_t, clGetKernelSubGroupInfo,                                                            \
      (cl_kernel_t, cl_device_t, uint32_t, size_t, const void *, size_t, void *, size_t *))        \
    X(int32_t, clEnqueueNDRangeKernel,                                                             \
      (cl_queue_t, cl_kernel_t, uint32_t, const size_t *, const size_t *, const size_t *,          \
       uint32_t, const cl_event_t *, cl_event_t *))                                                \
    X(int32_t, clWaitForEvents, (uint32_t, const cl_event_t *))                                    \
    X(int32_t, clGetEventProfilingInfo, (cl_event_t, uint32_t, size_t, void *, size_t *))          \
    X(int32_t, clReleaseEvent, (cl_event_t))

// What a runtime may lack.
#define OPENCL_EXTENSIONS(X)                                                                       \
    X(int32_t, clGetKernelMaxConcurrentWorkGroupCountINTEL,                                        \
      (cl_queue_t, cl_kernel_t, uint32_t, const size_t *, const size_t *, size_t *))               \
    X(int32_t, clGetDeviceGlobalVariablePointerINTEL,                                              \
      (cl_device_t, cl_program_t, const char *, size_t *, void **))

typedef struct opencl {
#define OPENCL_MEMBER(result, name, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
    OPENCL_EXTENSIONS(OPENCL_MEMBER)
#undef OPENCL_MEMBER
    cl_platform_t platform;
    cl_device_t device;
    cl_context_t context;
    uint32_t units;   // that run groups at once
    cl_queue_t queue; // for questions; each worker runs its launches on its own
} opencl_t;

// The runtime. NULL when there is none: then last_error says what was looked for, and where.
const opencl_t *opencl_open(void);
// The runtime that a module was made with; only after opencl_open has found one.
const opencl_t *opencl(void);
cl_queue_t opencl_create_queue(void); // NULL when that fails
const char *opencl_result_name(int32_t result);

#endif

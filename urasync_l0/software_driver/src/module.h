// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, kernels and launches.
//
// A module is a program in SPIR-V, compiled by the OpenCL runtime, or a list of native functions
// that a test has registered. Kernels hold their module, launches their kernel: what is destroyed
// while a launch is under way goes when that is complete.

#ifndef URASYNC_MODULE_H
#define URASYNC_MODULE_H

#include "opencl.h"
#include "spirv.h"
#include "worker.h"

// --- module.c -----------------------------------------------------------------------------------

typedef struct module {
    object_t object;
    context_t *context;
    device_t *device;
    _Atomic uint32_t references; // the handle, and kernels in memory
    _Atomic uint32_t kernels;    // with a handle
    cl_program_t program;        // NULL of native functions
    uint32_t input_count;
    spirv_program_t *inputs;
} module_t;

module_t *module_retain(module_t *module);
void module_release(module_t *module);
const spirv_kernel_t *module_find_kernel(const module_t *module, const char *name);

// --- module_build.c -----------------------------------------------------------------------------

// Text that grows; whoever appends need not look whether there was memory.
typedef struct text {
    char *content; // NULL, or ended by a zero byte
    size_t length;
} text_t;

__attribute__((format(printf, 2, 3))) void text_add(text_t *text, const char *format, ...);

// Makes the programs of the module, or says in `log` why not. What was made is the module's.
ze_result_t module_build(module_t *module, const ze_module_desc_t *desc, text_t *log);

// --- native_kernel.c ----------------------------------------------------------------------------

// What a test registered under a name; NULL when it did not.
typedef struct native_kernel native_kernel_t;
const native_kernel_t *native_kernel_find(const char *name);
// Describes it as a kernel of a program; false when there is no memory.
bool native_kernel_describe(const native_kernel_t *native, spirv_kernel_t *kernel);
void native_kernel_run(const native_kernel_t *native, const urasync_launch *launch);

// --- kernel.c -----------------------------------------------------------------------------------

typedef struct kernel {
    object_t object;
    module_t *module;
    const spirv_kernel_t *info;
    const native_kernel_t *native; // or NULL
    _Atomic uint32_t references;   // the handle, and launches in memory
    _Atomic uint32_t pending;      // launches that have not completed
    os_mutex_t mutex;              // from the first argument to the launch in OpenCL
    cl_kernel_t kernel;
    bool is_concurrent; // what OpenCL was told last
    uint64_t local;     // bytes of local memory that its code has; arguments may add more
    // What the next launch takes with it.
    uint32_t group_size[3];
    uint32_t offset[3];
    ze_kernel_indirect_access_flags_t indirect;
    bool *given;        // whether each argument was set
    size_t *values;     // of each argument: its place in `arguments`, or bytes of local memory
    size_t total;       // bytes of all values
    uint64_t *declared; // a test's word: bytes that each pointer is used for; NULL without one
    unsigned char *arguments;
} kernel_t;

kernel_t *kernel_retain(kernel_t *kernel);
void kernel_release(kernel_t *kernel);
ze_result_t kernel_set_argument(kernel_t *kernel, uint32_t index, size_t size, const void *value);
ze_result_t kernel_set_group_size(kernel_t *kernel, const uint32_t sizes[3]);
uint32_t kernel_cooperative_groups(const kernel_t *kernel); // that can run at once
ze_result_t kernel_check_local(const kernel_t *kernel);     // whether a group has room for it

// --- launch.c -----------------------------------------------------------------------------------

typedef struct launch {
    struct launch *next; // of the same command
    kernel_t *kernel;
    uint32_t groups[3];
    const ze_group_count_t *indirect_groups; // read when it runs; NULL: `groups`
    uint32_t group_size[3];
    uint32_t offset[3];
    ze_kernel_indirect_access_flags_t indirect;
    bool is_cooperative;
    uint64_t started; // nanoseconds, of the last run
    uint64_t ended;
    uint32_t range_count;  // the checker's, filled at the append
    byte_range_t *ranges;  // what the pointers among the arguments name
    uint32_t beyond_count; // and, after them, what it may reach without
    size_t *values;
    unsigned char arguments[];
} launch_t;

// Everything that the kernel has now, to run later; NULL when there is no memory.
launch_t *launch_create(kernel_t *kernel, const ze_group_count_t *groups, bool is_cooperative);

#endif

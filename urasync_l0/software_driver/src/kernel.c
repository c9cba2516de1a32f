// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels: what they are, and what their next launch takes with it. One thread at a time may set
// that and launch, as Level Zero says.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "last_error.h"
#include "module.h"

enum {
    LARGEST_GROUP = 1024,  // as the device says
    SUGGESTED_GROUP = 256, // work-items, at most
    LARGEST_LOCAL = 65536, // bytes, as the device says
    ALIGNMENT = 16,        // of values among the arguments
};

kernel_t *kernel_retain(kernel_t *kernel) {
    atomic_fetch_add(&kernel->references, 1);
    return kernel;
}

static void free_kernel(kernel_t *kernel) {
    if (kernel->kernel != NULL) {
        opencl()->clReleaseKernel(kernel->kernel);
    }
    module_release(kernel->module);
    os_mutex_destroy(&kernel->mutex);
    free(kernel->given);
    free(kernel->values);
    free(kernel->declared);
    free(kernel->arguments);
    free(kernel);
}

void kernel_release(kernel_t *kernel) {
    if (atomic_fetch_sub(&kernel->references, 1) == 1) {
        free_kernel(kernel);
    }
}

// --- Making -------------------------------------------------------------------------------------

static bool prepare_arguments(kernel_t *kernel) {
    const uint32_t count = kernel->info->parameter_count;
    kernel->given = calloc(count + 1, sizeof *kernel->given);
    kernel->values = calloc(count + 1, sizeof *kernel->values);
    if (kernel->given == NULL || kernel->values == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const parameter_t *parameter = &kernel->info->parameters[i];
        if (parameter->kind == PARAMETER_VALUE || parameter->kind == PARAMETER_POINTER) {
            kernel->values[i] = kernel->total;
            kernel->total += (parameter->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
    }
    kernel->arguments = calloc(1, kernel->total + 1);
    return kernel->arguments != NULL;
}

static void query(const kernel_t *kernel, uint32_t what, size_t size, void *answer) {
    const opencl_t *cl = opencl();
    if (kernel->kernel != NULL) {
        cl->clGetKernelWorkGroupInfo(kernel->kernel, cl->device, what, size, answer, NULL);
    }
}

static void required_group_size(const kernel_t *kernel, size_t required[3]) {
    required[0] = required[1] = required[2] = 0;
    query(kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, 3 * sizeof *required, required);
}

static ze_result_t create_in_opencl(kernel_t *kernel) {
    const opencl_t *cl = opencl();
    const uint32_t any_pointer = 1;
    int32_t result = CL_SUCCESS;
    kernel->kernel = cl->clCreateKernel(kernel->module->program, kernel->info->name, &result);
    if (result != CL_SUCCESS) {
        kernel->kernel = NULL;
        last_error_set("The OpenCL runtime cannot make the kernel '%s' (%s, %d).",
                       kernel->info->name, opencl_result_name(result), result);
        return result == CL_OUT_OF_HOST_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                               : ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    }
    cl->clSetKernelExecInfo(kernel->kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
                            sizeof any_pointer, &any_pointer);
    size_t required[3];
    required_group_size(kernel, required);
    for (int i = 0; i < 3 && required[0] != 0; ++i) {
        kernel->group_size[i] = (uint32_t)required[i];
    }
    query(kernel, CL_KERNEL_LOCAL_MEM_SIZE, sizeof kernel->local, &kernel->local);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc,
                                      ze_kernel_handle_t *phKernel) {
    enum { KERNEL_FLAGS = 0x3 };
    ENTER(zeKernelCreate);
    CHECK_HANDLE(hModule, KIND_MODULE);
    CHECK_POINTER(desc);
    CHECK_POINTER(desc->pKernelName);
    CHECK_POINTER(phKernel);
    if (desc->flags > KERNEL_FLAGS) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    module_t *module = (module_t *)hModule;
    const spirv_kernel_t *info = module_find_kernel(module, desc->pKernelName);
    if (info == NULL) {
        last_error_set("The module has no kernel '%s'.", desc->pKernelName);
        return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    }
    kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    kernel->module = module_retain(module);
    kernel->info = info;
    atomic_store(&kernel->references, 1);
    os_mutex_init(&kernel->mutex);
    kernel->group_size[0] = kernel->group_size[1] = kernel->group_size[2] = 1;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (prepare_arguments(kernel)) {
        result = ZE_RESULT_SUCCESS;
        if (info->native != NULL) {
            kernel->native = info->native;
        } else {
            result = create_in_opencl(kernel);
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        kernel_release(kernel);
        return result;
    }
    atomic_fetch_add(&module->kernels, 1);
    live_add(&kernel->object, KIND_KERNEL, kernel, (int32_t)module->device->index, 0, this_entry);
    *phKernel = (ze_kernel_handle_t)kernel;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelDestroy(ze_kernel_handle_t hKernel) {
    ENTER(zeKernelDestroy);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    kernel_t *kernel = (kernel_t *)hKernel;
    checker_kernel_destroyed(this_entry, kernel->info->name, atomic_load(&kernel->pending));
    live_remove(&kernel->object);
    atomic_fetch_sub(&kernel->module->kernels, 1);
    kernel_release(kernel);
    return ZE_RESULT_SUCCESS;
}

// --- Arguments ----------------------------------------------------------------------------------

ze_result_t kernel_set_argument(kernel_t *kernel, uint32_t argIndex, size_t argSize,
                                const void *pArgValue) {
    const spirv_kernel_t *info = kernel->info;
    if (argIndex >= info->parameter_count) {
        last_error_set("The kernel '%s' has %u arguments; there is no number %u.", info->name,
                       info->parameter_count, argIndex);
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    }
    const parameter_t *parameter = &info->parameters[argIndex];
    if (parameter->kind == PARAMETER_OPAQUE) {
        last_error_set("Argument %u of the kernel '%s' is an image, a sampler or the like, which "
                       "this device does not have.",
                       argIndex, info->name);
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    if (parameter->kind == PARAMETER_LOCAL) {
        if (argSize == 0 || argSize > LARGEST_LOCAL) {
            last_error_set("Argument %u of the kernel '%s' is local memory of 1 to %d bytes, not "
                           "of %zu.",
                           argIndex, info->name, LARGEST_LOCAL, argSize);
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        }
        kernel->values[argIndex] = argSize;
    } else {
        // oneMKL gives int in eight bytes, and Intel's driver takes the first four.
        const bool fits = parameter->kind == PARAMETER_VALUE ? argSize >= parameter->size
                                                             : argSize == parameter->size;
        if (!fits) {
            last_error_set("Argument %u of the kernel '%s' has %zu bytes, not %zu.", argIndex,
                           info->name, parameter->size, argSize);
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        }
        unsigned char *to = kernel->arguments + kernel->values[argIndex];
        if (pArgValue != NULL) {
            memcpy(to, pArgValue, parameter->size);
        } else {
            memset(to, 0, parameter->size);
        }
    }
    kernel->given[argIndex] = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_check_local(const kernel_t *kernel) {
    uint64_t total = kernel->local;
    for (uint32_t i = 0; i < kernel->info->parameter_count; ++i) {
        total += kernel->info->parameters[i].kind == PARAMETER_LOCAL ? kernel->values[i] : 0;
    }
    if (total > LARGEST_LOCAL) {
        last_error_set("A group of the kernel '%s' would need %" PRIu64 " bytes of local memory; "
                       "there are %d.",
                       kernel->info->name, total, LARGEST_LOCAL);
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                                size_t argSize, const void *pArgValue) {
    ENTER(zeKernelSetArgumentValue);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    return kernel_set_argument((kernel_t *)hKernel, argIndex, argSize, pArgValue);
}

ze_result_t ZE_APICALL zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel,
                                                 ze_kernel_indirect_access_flags_t flags) {
    enum { ACCESS_FLAGS = 0x7 };
    ENTER(zeKernelSetIndirectAccess);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    if (flags > ACCESS_FLAGS) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    ((kernel_t *)hKernel)->indirect = flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetIndirectAccess(ze_kernel_handle_t hKernel,
                                                 ze_kernel_indirect_access_flags_t *pFlags) {
    ENTER(zeKernelGetIndirectAccess);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    CHECK_POINTER(pFlags);
    *pFlags = ((const kernel_t *)hKernel)->indirect;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX,
                                                  uint32_t offsetY, uint32_t offsetZ) {
    ENTER(zeKernelSetGlobalOffsetExp);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    kernel_t *kernel = (kernel_t *)hKernel;
    kernel->offset[0] = offsetX;
    kernel->offset[1] = offsetY;
    kernel->offset[2] = offsetZ;
    return ZE_RESULT_SUCCESS;
}

// A hint, without an effect on processors.
ze_result_t ZE_APICALL zeKernelSetCacheConfig(ze_kernel_handle_t hKernel,
                                              ze_cache_config_flags_t flags) {
    enum { CACHE_FLAGS = 0x3 };
    ENTER(zeKernelSetCacheConfig);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    return flags > CACHE_FLAGS ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

// --- Groups -------------------------------------------------------------------------------------

static uint32_t largest_group(const kernel_t *kernel) {
    size_t largest = LARGEST_GROUP;
    query(kernel, CL_KERNEL_WORK_GROUP_SIZE, sizeof largest, &largest);
    return largest < LARGEST_GROUP ? (uint32_t)largest : LARGEST_GROUP;
}

ze_result_t kernel_set_group_size(kernel_t *kernel, const uint32_t sizes[3]) {
    if (memcmp(kernel->group_size, sizes, sizeof kernel->group_size) == 0) {
        return ZE_RESULT_SUCCESS;
    }
    const uint32_t largest = largest_group(kernel);
    size_t required[3];
    required_group_size(kernel, required);
    uint64_t total = 1;
    bool fits = true;
    for (int i = 0; i < 3; ++i) {
        fits = fits && sizes[i] >= 1 && sizes[i] <= largest;
        fits = fits && (required[0] == 0 || sizes[i] == required[i]);
        total = fits ? total * sizes[i] : 0;
    }
    if (!fits || total > largest) {
        last_error_set("Groups of %u x %u x %u work-items do not suit the kernel '%s': it takes %u "
                       "at most, and requires %zu x %zu x %zu (0: any).",
                       sizes[0], sizes[1], sizes[2], kernel->info->name, largest, required[0],
                       required[1], required[2]);
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    }
    memcpy(kernel->group_size, sizes, sizeof kernel->group_size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                            uint32_t groupSizeY, uint32_t groupSizeZ) {
    ENTER(zeKernelSetGroupSize);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    const uint32_t sizes[3] = {groupSizeX, groupSizeY, groupSizeZ};
    return kernel_set_group_size((kernel_t *)hKernel, sizes);
}

static uint32_t largest_divisor(uint32_t number, uint32_t limit) {
    for (uint32_t divisor = number < limit ? number : limit; divisor > 1; --divisor) {
        if (number % divisor == 0) {
            return divisor;
        }
    }
    return 1;
}

// Sizes that divide the global ones, the first as large as may be: along it a kernel is vectorised.
ze_result_t ZE_APICALL zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel, uint32_t globalSizeX,
                                                uint32_t globalSizeY, uint32_t globalSizeZ,
                                                uint32_t *groupSizeX, uint32_t *groupSizeY,
                                                uint32_t *groupSizeZ) {
    ENTER(zeKernelSuggestGroupSize);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    CHECK_POINTER(groupSizeX);
    CHECK_POINTER(groupSizeY);
    CHECK_POINTER(groupSizeZ);
    const kernel_t *kernel = (const kernel_t *)hKernel;
    if (globalSizeX == 0 || globalSizeY == 0 || globalSizeZ == 0) {
        return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
    }
    size_t required[3];
    required_group_size(kernel, required);
    if (required[0] != 0) {
        *groupSizeX = (uint32_t)required[0];
        *groupSizeY = (uint32_t)required[1];
        *groupSizeZ = (uint32_t)required[2];
        return ZE_RESULT_SUCCESS;
    }
    uint32_t room = largest_group(kernel);
    room = room < SUGGESTED_GROUP ? room : SUGGESTED_GROUP;
    *groupSizeX = largest_divisor(globalSizeX, room);
    *groupSizeY = largest_divisor(globalSizeY, room / *groupSizeX);
    *groupSizeZ = largest_divisor(globalSizeZ, room / *groupSizeX / *groupSizeY);
    return ZE_RESULT_SUCCESS;
}

// One group can always wait for itself; of more only the runtime can tell. A group has one of its
// threads, of which there are no more than its units, though it says that more could wait.
ze_result_t ZE_APICALL zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel,
                                                               uint32_t *totalGroupCount) {
    ENTER(zeKernelSuggestMaxCooperativeGroupCount);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    CHECK_POINTER(totalGroupCount);
    *totalGroupCount = kernel_cooperative_groups((const kernel_t *)hKernel);
    return ZE_RESULT_SUCCESS;
}

uint32_t kernel_cooperative_groups(const kernel_t *kernel) {
    const opencl_t *cl = opencl();
    if (kernel->native != NULL || cl->clGetKernelMaxConcurrentWorkGroupCountINTEL == NULL) {
        return 1;
    }
    const size_t none[3] = {0};
    const size_t sizes[3] = {kernel->group_size[0], kernel->group_size[1], kernel->group_size[2]};
    size_t count = 0;
    const int32_t result = cl->clGetKernelMaxConcurrentWorkGroupCountINTEL(
        cl->queue, kernel->kernel, 3, none, sizes, &count);
    if (result != CL_SUCCESS || count == 0) {
        return 1;
    }
    return count < cl->units ? (uint32_t)count : cl->units;
}

// --- Controls -----------------------------------------------------------------------------------

typedef struct declaration {
    uint32_t count;
    uint64_t *bytes; // given to the kernel
    int32_t answer;
} declaration_t;

static void declare(object_t *object, void *argument) {
    kernel_t *kernel = (kernel_t *)object;
    declaration_t *declaration = argument;
    if (declaration->bytes != NULL && declaration->count != kernel->info->parameter_count) {
        declaration->answer = URASYNC_CONTROL_OUT_OF_RANGE;
        return;
    }
    uint64_t *before = kernel->declared;
    kernel->declared = declaration->bytes;
    declaration->bytes = before;
    declaration->answer = URASYNC_CONTROL_OK;
}

int32_t urasync_kernel_declare(uint64_t kernel, uint32_t count, const uint64_t *bytes) {
    declaration_t declaration = {.count = count, .answer = URASYNC_CONTROL_UNKNOWN_HANDLE};
    if (bytes != NULL) {
        declaration.bytes = calloc((size_t)count + 1, sizeof *bytes);
        if (declaration.bytes == NULL) {
            return URASYNC_CONTROL_NO_MEMORY;
        }
        memcpy(declaration.bytes, bytes, count * sizeof *bytes);
    }
    live_visit(KIND_KERNEL, kernel, declare, &declaration);
    free(declaration.bytes);
    return declaration.answer;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and their build logs.

#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "last_error.h"

module_t *module_retain(module_t *module) {
    atomic_fetch_add(&module->references, 1);
    return module;
}

static void free_module(module_t *module) {
    if (module->program != NULL) {
        opencl()->clReleaseProgram(module->program);
    }
    for (uint32_t i = 0; i < module->input_count; ++i) {
        spirv_free(&module->inputs[i]);
    }
    free(module->inputs);
    free(module);
}

void module_release(module_t *module) {
    if (atomic_fetch_sub(&module->references, 1) == 1) {
        free_module(module);
    }
}

const spirv_kernel_t *module_find_kernel(const module_t *module, const char *name) {
    for (uint32_t i = 0; i < module->input_count; ++i) {
        const spirv_program_t *input = &module->inputs[i];
        for (uint32_t j = 0; j < input->kernel_count; ++j) {
            if (strcmp(input->kernels[j].name, name) == 0) {
                return &input->kernels[j];
            }
        }
    }
    return NULL;
}

// --- Build logs ---------------------------------------------------------------------------------

typedef struct build_log {
    object_t object;
    text_t text;
} build_log_t;

static ze_result_t give_log(entry_t this_entry, const device_t *device, text_t *text,
                            ze_module_build_log_handle_t *phBuildLog) {
    build_log_t *log = phBuildLog != NULL ? calloc(1, sizeof *log) : NULL;
    if (log == NULL) {
        free(text->content);
        return phBuildLog != NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
    }
    log->text = *text;
    live_add(&log->object, KIND_BUILD_LOG, log, (int32_t)device->index, 0, this_entry);
    *phBuildLog = (ze_module_build_log_handle_t)log;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog) {
    ENTER(zeModuleBuildLogDestroy);
    CHECK_HANDLE(hModuleBuildLog, KIND_BUILD_LOG);
    build_log_t *log = (build_log_t *)hModuleBuildLog;
    live_remove(&log->object);
    free(log->text.content);
    free(log);
    return ZE_RESULT_SUCCESS;
}

// Sizes count the zero byte at the end.
ze_result_t ZE_APICALL zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog,
                                                 size_t *pSize, char *pBuildLog) {
    ENTER(zeModuleBuildLogGetString);
    CHECK_HANDLE(hModuleBuildLog, KIND_BUILD_LOG);
    CHECK_POINTER(pSize);
    const text_t *text = &((const build_log_t *)hModuleBuildLog)->text;
    const size_t all = text->length + 1;
    if (pBuildLog != NULL && *pSize > 0) {
        const size_t copied = *pSize < all ? *pSize : all;
        memcpy(pBuildLog, text->content != NULL ? text->content : "", copied - 1);
        pBuildLog[copied - 1] = '\0';
    }
    if (*pSize == 0 || *pSize > all) {
        *pSize = all;
    }
    return ZE_RESULT_SUCCESS;
}

// --- Modules ------------------------------------------------------------------------------------

ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_module_desc_t *desc, ze_module_handle_t *phModule,
                                      ze_module_build_log_handle_t *phBuildLog) {
    ENTER(zeModuleCreate);
    CHECK_HANDLE(hContext, KIND_CONTEXT);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(desc);
    CHECK_POINTER(phModule);
    if ((uint32_t)desc->format > ZE_MODULE_FORMAT_NATIVE) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    context_t *context = (context_t *)hContext;
    device_t *device = (device_t *)hDevice;
    if (!context_has_device(context, device)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    module_t *module = calloc(1, sizeof *module);
    if (module == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    module->context = context;
    module->device = device;
    atomic_store(&module->references, 1);
    text_t log = {0};
    ze_result_t result = module_build(module, desc, &log);
    if (result != ZE_RESULT_SUCCESS && log.content != NULL) {
        last_error_set("%s", log.content);
    }
    const ze_result_t given = give_log(this_entry, device, &log, phBuildLog);
    result = result != ZE_RESULT_SUCCESS ? result : given;
    if (result != ZE_RESULT_SUCCESS) {
        free_module(module);
        return result;
    }
    context_adopt(context);
    live_add(&module->object, KIND_MODULE, module, (int32_t)device->index, 0, this_entry);
    *phModule = (ze_module_handle_t)module;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleDestroy(ze_module_handle_t hModule) {
    ENTER(zeModuleDestroy);
    CHECK_HANDLE(hModule, KIND_MODULE);
    module_t *module = (module_t *)hModule;
    if (atomic_load(&module->kernels) > 0) {
        last_error_set("The module has %u kernels that were not destroyed.",
                       atomic_load(&module->kernels));
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    live_remove(&module->object);
    context_abandon(module->context);
    module_release(module);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount,
                                              const char **pNames) {
    ENTER(zeModuleGetKernelNames);
    CHECK_HANDLE(hModule, KIND_MODULE);
    CHECK_POINTER(pCount);
    const module_t *module = (const module_t *)hModule;
    uint32_t all = 0;
    for (uint32_t i = 0; i < module->input_count; ++i) {
        for (uint32_t j = 0; j < module->inputs[i].kernel_count; ++j, ++all) {
            if (pNames != NULL && all < *pCount) {
                pNames[all] = module->inputs[i].kernels[j].name;
            }
        }
    }
    if (*pCount == 0 || *pCount > all) {
        *pCount = all;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleGetProperties(ze_module_handle_t hModule,
                                             ze_module_properties_t *pModuleProperties) {
    ENTER(zeModuleGetProperties);
    CHECK_HANDLE(hModule, KIND_MODULE);
    CHECK_POINTER(pModuleProperties);
    pModuleProperties->flags = 0; // what is imported is found when it is built, or it fails
    return ZE_RESULT_SUCCESS;
}

// Nothing is left to be linked: a module that imports what nobody has does not build.
ze_result_t ZE_APICALL zeModuleDynamicLink(uint32_t numModules, ze_module_handle_t *phModules,
                                           ze_module_build_log_handle_t *phLinkLog) {
    ENTER(zeModuleDynamicLink);
    CHECK_POINTER(phModules);
    for (uint32_t i = 0; i < numModules; ++i) {
        CHECK_HANDLE(phModules[i], KIND_MODULE);
    }
    if (numModules == 0) {
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    text_t empty = {0};
    return give_log(this_entry, ((const module_t *)phModules[0])->device, &empty, phLinkLog);
}

ze_result_t ZE_APICALL zeModuleGetGlobalPointer(ze_module_handle_t hModule, const char *pGlobalName,
                                                size_t *pSize, void **pptr) {
    ENTER(zeModuleGetGlobalPointer);
    CHECK_HANDLE(hModule, KIND_MODULE);
    CHECK_POINTER(pGlobalName);
    const module_t *module = (const module_t *)hModule;
    if (module->program == NULL) {
        return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    }
    const opencl_t *cl = opencl();
    if (cl->clGetDeviceGlobalVariablePointerINTEL == NULL) {
        last_error_set("The OpenCL runtime tells no addresses of global variables.");
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    size_t size = 0;
    void *address = NULL;
    if (cl->clGetDeviceGlobalVariablePointerINTEL(cl->device, module->program, pGlobalName, &size,
                                                  &address) != CL_SUCCESS) {
        return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    }
    if (pSize != NULL) {
        *pSize = size;
    }
    if (pptr != NULL) {
        *pptr = address;
    }
    return ZE_RESULT_SUCCESS;
}

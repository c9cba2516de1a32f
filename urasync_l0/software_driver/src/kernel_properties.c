// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about kernels.

#include <string.h>

#include "module.h"

static uint64_t work_group_fact(const kernel_t *kernel, uint32_t what) {
    const opencl_t *cl = opencl();
    uint64_t answer = 0;
    if (kernel->kernel != NULL) {
        cl->clGetKernelWorkGroupInfo(kernel->kernel, cl->device, what, sizeof answer, &answer,
                                     NULL);
    }
    return answer;
}

static uint32_t sub_group_fact(const kernel_t *kernel, uint32_t what) {
    const opencl_t *cl = opencl();
    const size_t group[3] = {256, 1, 1}; // what the size of the largest sub-group is asked for
    const bool has_input = what == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE;
    size_t answer = 0;
    if (kernel->kernel == NULL ||
        cl->clGetKernelSubGroupInfo(kernel->kernel, cl->device, what, has_input ? sizeof group : 0,
                                    has_input ? group : NULL, sizeof answer, &answer,
                                    NULL) != CL_SUCCESS) {
        return 0;
    }
    return (uint32_t)answer;
}

ze_result_t ZE_APICALL zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                             ze_kernel_properties_t *pKernelProperties) {
    ENTER(zeKernelGetProperties);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    CHECK_POINTER(pKernelProperties);
    const kernel_t *kernel = (const kernel_t *)hKernel;
    ze_kernel_properties_t *properties = pKernelProperties;
    size_t required[3] = {0};
    if (kernel->kernel != NULL) {
        opencl()->clGetKernelWorkGroupInfo(kernel->kernel, opencl()->device,
                                           CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                           required, NULL);
    }
    properties->numKernelArgs = kernel->info->parameter_count;
    properties->requiredGroupSizeX = (uint32_t)required[0];
    properties->requiredGroupSizeY = (uint32_t)required[1];
    properties->requiredGroupSizeZ = (uint32_t)required[2];
    properties->requiredNumSubGroups = sub_group_fact(kernel, CL_KERNEL_COMPILE_NUM_SUB_GROUPS);
    properties->requiredSubgroupSize =
        sub_group_fact(kernel, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL);
    properties->maxSubgroupSize = sub_group_fact(kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE);
    properties->maxNumSubgroups = sub_group_fact(kernel, CL_KERNEL_MAX_NUM_SUB_GROUPS);
    properties->localMemSize = (uint32_t)kernel->local;
    properties->privateMemSize = (uint32_t)work_group_fact(kernel, CL_KERNEL_PRIVATE_MEM_SIZE);
    properties->spillMemSize = 0; // processors spill to the stack
    memset(&properties->uuid, 0, sizeof properties->uuid);
    const uint64_t serial = kernel->module->object.serial;
    const uint64_t number = kernel->object.serial;
    memcpy(properties->uuid.mid, &serial, sizeof serial);
    memcpy(properties->uuid.kid, &number, sizeof number);
    for (ze_base_properties_t *next = properties->pNext; next != NULL; next = next->pNext) {
        if (next->stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES) {
            const uint64_t multiple =
                work_group_fact(kernel, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
            ((ze_kernel_preferred_group_size_properties_t *)next)->preferredMultiple =
                multiple != 0 ? (uint32_t)multiple : 1;
        }
    }
    return ZE_RESULT_SUCCESS;
}

// Copies a text as Level Zero wants it: without room only its size, which counts the zero byte.
static ze_result_t give_text(const char *text, size_t *size, char *to) {
    const size_t all = strlen(text) + 1;
    if (to != NULL && *size > 0) {
        const size_t copied = *size < all ? *size : all;
        memcpy(to, text, copied - 1);
        to[copied - 1] = '\0';
    }
    if (*size == 0 || *size > all) {
        *size = all;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName) {
    ENTER(zeKernelGetName);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    CHECK_POINTER(pSize);
    return give_text(((const kernel_t *)hKernel)->info->name, pSize, pName);
}

// Attributes in the source, with blanks between them: of SPIR-V none are known. The driver's text
// lives as long as the kernel.
ze_result_t ZE_APICALL zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t *pSize,
                                                   char **pString) {
    ENTER(zeKernelGetSourceAttributes);
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    CHECK_POINTER(pSize);
    static char none[] = "";
    *pSize = 1;
    if (pString != NULL && *pString != NULL) {
        **pString = '\0';
    } else if (pString != NULL) {
        *pString = none;
    }
    return ZE_RESULT_SUCCESS;
}

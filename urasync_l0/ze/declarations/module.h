// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

typedef enum { ZE_MODULE_FORMAT_IL_SPIRV, ... } ze_module_format_t;

typedef struct {
    uint32_t numConstants;
    const uint32_t *pConstantIds;
    const void **pConstantValues;
} ze_module_constants_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    ze_module_format_t format;
    size_t inputSize;
    const uint8_t *pInputModule;
    const char *pBuildFlags;
    const ze_module_constants_t *pConstants;
    ...;
} ze_module_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t count;
    const size_t *inputSizes;
    const uint8_t **pInputModules;
    const char **pBuildFlags;
    const ze_module_constants_t **pConstants;
    ...;
} ze_module_program_exp_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    const char *pKernelName;
    ...;
} ze_kernel_desc_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t numKernelArgs;
    uint32_t requiredGroupSizeX;
    uint32_t requiredGroupSizeY;
    uint32_t requiredGroupSizeZ;
    uint32_t requiredNumSubGroups;
    uint32_t requiredSubgroupSize;
    uint32_t maxSubgroupSize;
    uint32_t maxNumSubgroups;
    uint32_t localMemSize;
    uint32_t privateMemSize;
    ...;
} ze_kernel_properties_t;

typedef struct {
    uint32_t groupCountX;
    uint32_t groupCountY;
    uint32_t groupCountZ;
} ze_group_count_t;

enum {
    ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST,
    ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE,
    ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED,
    ...
};

ze_result_t zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                           const ze_module_desc_t *desc, ze_module_handle_t *phModule,
                           ze_module_build_log_handle_t *phBuildLog);
ze_result_t zeModuleDestroy(ze_module_handle_t hModule);
ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog, size_t *pSize,
                                      char *pBuildLog);
ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog);
ze_result_t zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount,
                                   const char **pNames);

ze_result_t zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc,
                           ze_kernel_handle_t *phKernel);
ze_result_t zeKernelDestroy(ze_kernel_handle_t hKernel);
ze_result_t zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                  ze_kernel_properties_t *pKernelProperties);
ze_result_t zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName);
ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel, uint32_t flags);
ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const void *pArgValue);
ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                 uint32_t groupSizeY, uint32_t groupSizeZ);
ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel, uint32_t globalSizeX,
                                     uint32_t globalSizeY, uint32_t globalSizeZ,
                                     uint32_t *groupSizeX, uint32_t *groupSizeY,
                                     uint32_t *groupSizeZ);
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                            ze_kernel_handle_t hKernel,
                                            const ze_group_count_t *pLaunchFuncArgs,
                                            ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                            ze_event_handle_t *phWaitEvents);

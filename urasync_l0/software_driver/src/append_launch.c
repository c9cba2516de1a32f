// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends of launches.

#include <string.h>

#include "append.h"
#include "last_error.h"
#include "module.h"

// Whether a list can launch the kernel as it is now.
static ze_result_t kernel_check(const command_list_t *list, ze_kernel_handle_t handle,
                                entry_t this_entry) {
    CHECK_HANDLE(handle, KIND_KERNEL);
    const kernel_t *kernel = (const kernel_t *)handle;
    const module_t *module = kernel->module;
    const device_t *root = list->device->root != NULL ? list->device->root : list->device;
    if (module->context != list->context ||
        (module->device != list->device && module->device != root)) {
        last_error_set("The kernel '%s' is of another context or device than the list.",
                       kernel->info->name);
        return (ze_result_t)ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE;
    }
    if (list->ordinal != 0) {
        last_error_set("Queue group %u only copies; launches need group 0.", list->ordinal);
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    }
    for (uint32_t i = 0; i < kernel->info->parameter_count; ++i) {
        if (!kernel->given[i]) {
            last_error_set("Argument %u of the kernel '%s' was not set.", i, kernel->info->name);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    return kernel_check_local(kernel);
}

// Makes the prepared command a launch; without memory it is given back.
static ze_result_t submit(command_list_t *list, command_t *command, launch_t *launch,
                          const uint32_t *count) {
    command->action = ACTION_LAUNCH;
    command->launch.first = launch;
    command->launch.count = count;
    if (!command->recorded) {
        launches_hold(command);
    }
    return append_submit(list, command);
}

static ze_result_t append(entry_t this_entry, ze_command_list_handle_t hCommandList,
                          ze_kernel_handle_t hKernel, const ze_group_count_t *groups,
                          bool is_cooperative, bool is_indirect, ze_event_handle_t hSignalEvent,
                          uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    CHECK_LIST();
    CHECK_POINTER(groups);
    const ze_result_t valid =
        kernel_check((const command_list_t *)hCommandList, hKernel, this_entry);
    if (valid != ZE_RESULT_SUCCESS) {
        return valid;
    }
    kernel_t *kernel = (kernel_t *)hKernel;
    if (is_cooperative) {
        const uint64_t asked =
            (uint64_t)groups->groupCountX * groups->groupCountY * groups->groupCountZ;
        const uint32_t most = kernel_cooperative_groups(kernel);
        if (asked > most) {
            last_error_set("%lu groups of the kernel '%s' cannot run at once; %u can.",
                           (unsigned long)asked, kernel->info->name, most);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    launch_t *launch = launch_create(kernel, is_indirect ? NULL : groups, is_cooperative);
    if (launch == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    command_list_t *list = (command_list_t *)hCommandList;
    command_t *command;
    const ze_result_t prepared =
        append_prepare(list, this_entry, hSignalEvent, numWaitEvents, phWaitEvents, &command);
    if (prepared != ZE_RESULT_SUCCESS) {
        launch_free(launch);
        return prepared;
    }
    if (is_indirect) {
        launch->indirect_groups = groups;
        command_add_range(command, groups, sizeof *groups, false);
    }
    return submit(list, command, launch, NULL);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                                       ze_kernel_handle_t hKernel,
                                                       const ze_group_count_t *pLaunchFuncArgs,
                                                       ze_event_handle_t hSignalEvent,
                                                       uint32_t numWaitEvents,
                                                       ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendLaunchKernel);
    return append(this_entry, hCommandList, hKernel, pLaunchFuncArgs, false, false, hSignalEvent,
                  numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchFuncArgs, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendLaunchCooperativeKernel);
    return append(this_entry, hCommandList, hKernel, pLaunchFuncArgs, true, false, hSignalEvent,
                  numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelIndirect(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchArgumentsBuffer, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendLaunchKernelIndirect);
    return append(this_entry, hCommandList, hKernel, pLaunchArgumentsBuffer, false, true,
                  hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchMultipleKernelsIndirect(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, ze_kernel_handle_t *phKernels,
    const uint32_t *pCountBuffer, const ze_group_count_t *pLaunchArgumentsBuffer,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendLaunchMultipleKernelsIndirect);
    CHECK_LIST();
    CHECK_POINTER(phKernels);
    CHECK_POINTER(pCountBuffer);
    CHECK_POINTER(pLaunchArgumentsBuffer);
    for (uint32_t i = 0; i < numKernels; ++i) {
        const ze_result_t valid =
            kernel_check((const command_list_t *)hCommandList, phKernels[i], this_entry);
        if (valid != ZE_RESULT_SUCCESS) {
            return valid;
        }
    }
    launch_t *first = NULL;
    launch_t **last = &first;
    for (uint32_t i = 0; i < numKernels; ++i) {
        *last = launch_create((kernel_t *)phKernels[i], NULL, false);
        if (*last == NULL) {
            launch_free(first);
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        (*last)->indirect_groups = &pLaunchArgumentsBuffer[i];
        last = &(*last)->next;
    }
    command_list_t *list = (command_list_t *)hCommandList;
    command_t *command;
    const ze_result_t prepared =
        append_prepare(list, this_entry, hSignalEvent, numWaitEvents, phWaitEvents, &command);
    if (prepared != ZE_RESULT_SUCCESS) {
        launch_free(first);
        return prepared;
    }
    command_add_range(command, pCountBuffer, sizeof *pCountBuffer, false);
    command_add_range(command, pLaunchArgumentsBuffer, numKernels * sizeof *pLaunchArgumentsBuffer,
                      false);
    return submit(list, command, first, pCountBuffer);
}

// The size or the value of each argument; of local memory its size is pointed to. Those that were
// set stay, if a later one does not fit.
static ze_result_t set_arguments(ze_kernel_handle_t handle, void **arguments) {
    const spirv_kernel_t *info = ((const kernel_t *)handle)->info;
    for (uint32_t i = 0; i < info->parameter_count; ++i) {
        const bool is_local = info->parameters[i].kind == PARAMETER_LOCAL;
        size_t size = info->parameters[i].size;
        if (is_local && arguments[i] != NULL) {
            memcpy(&size, arguments[i], sizeof size);
        }
        const ze_result_t result =
            kernel_set_argument((kernel_t *)handle, i, size, is_local ? NULL : arguments[i]);
        if (result != ZE_RESULT_SUCCESS) {
            return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t groupCounts, const ze_group_size_t groupSizes, void **pArguments,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents) {
    ENTER(zeCommandListAppendLaunchKernelWithArguments);
    CHECK_LIST();
    CHECK_HANDLE(hKernel, KIND_KERNEL);
    bool is_cooperative = false;
    for (const ze_base_desc_t *next = pNext; next != NULL; next = next->pNext) {
        if ((uint32_t)next->stype != ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC) {
            last_error_set("A launch takes no extension of the type 0x%x.", (uint32_t)next->stype);
            return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
        }
        is_cooperative =
            ((const ze_command_list_append_launch_kernel_param_cooperative_desc_t *)next)
                ->isCooperative != 0;
    }
    const uint32_t sizes[3] = {groupSizes.groupSizeX, groupSizes.groupSizeY, groupSizes.groupSizeZ};
    ze_result_t result = kernel_set_group_size((kernel_t *)hKernel, sizes);
    if (result == ZE_RESULT_SUCCESS && pArguments != NULL) {
        result = set_arguments(hKernel, pArguments);
    }
    return result != ZE_RESULT_SUCCESS
               ? result
               : append(this_entry, hCommandList, hKernel, &groupCounts, is_cooperative, false,
                        hSignalEvent, numWaitEvents, phWaitEvents);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initialisation, the one driver, its properties, extensions and functions by name.

#include <string.h>

#include "internal.h"

enum {
    API_VERSION = ZE_MAKE_VERSION(1, 15),
    DRIVER_VERSION = (1u << 24) | (15u << 16) | 39000u, // 1.15.39000 as 8, 8 and 16 bits
    DRIVER_TYPE_GPU = 1,                                // bit of ze_init_driver_type_flags_t
};

driver_t the_driver;
static atomic_bool ready = false;

bool driver_ready(void) { return atomic_load(&ready); }

static ze_result_t initialise(void) {
    static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
    if (!settings_load()) {
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    os_mutex_lock(&mutex);
    if (!atomic_load(&ready)) {
        devices_init();
        atomic_store(&the_driver.object.kind, KIND_DRIVER);
        the_driver.default_context = context_create_default();
        atomic_store(&ready, true);
    }
    os_mutex_unlock(&mutex);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags) {
    ENTER(zeInit);
    if ((flags & ~(ze_init_flags_t)(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) != 0) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if (flags == ZE_INIT_FLAG_VPU_ONLY) {
        return ZE_RESULT_ERROR_UNINITIALIZED; // every device here is a GPU
    }
    return initialise();
}

static ze_result_t get_drivers(uint32_t *count, ze_driver_handle_t *drivers) {
    if (drivers != NULL && *count > 0) {
        drivers[0] = (ze_driver_handle_t)&the_driver;
    }
    if (*count == 0 || *count > 1) {
        *count = 1;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                     ze_init_driver_type_desc_t *desc) {
    ENTER(zeInitDrivers);
    CHECK_POINTER(pCount);
    CHECK_POINTER(desc);
    if (desc->flags == 0) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if ((desc->flags & DRIVER_TYPE_GPU) == 0) {
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    const ze_result_t result = initialise();
    return result == ZE_RESULT_SUCCESS ? get_drivers(pCount, phDrivers) : result;
}

ze_result_t ZE_APICALL zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers) {
    ENTER(zeDriverGet);
    CHECK_POINTER(pCount);
    return driver_ready() ? get_drivers(pCount, phDrivers) : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t ZE_APICALL zeDriverGetApiVersion(ze_driver_handle_t hDriver,
                                             ze_api_version_t *version) {
    ENTER(zeDriverGetApiVersion);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(version);
    *version = (ze_api_version_t)API_VERSION;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGetProperties(ze_driver_handle_t hDriver,
                                             ze_driver_properties_t *pDriverProperties) {
    ENTER(zeDriverGetProperties);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(pDriverProperties);
    static const char uuid[] = "urasync-software";
    _Static_assert(sizeof uuid == ZE_MAX_DRIVER_UUID_SIZE + 1, "a UUID and its end");
    memcpy(pDriverProperties->uuid.id, uuid, ZE_MAX_DRIVER_UUID_SIZE);
    pDriverProperties->driverVersion = DRIVER_VERSION;
    for (ze_base_properties_t *next = pDriverProperties->pNext; next != NULL; next = next->pNext) {
        if (next->stype == ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES) {
            ((ze_driver_memory_free_ext_properties_t *)next)->freePolicies =
                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGetIpcProperties(ze_driver_handle_t hDriver,
                                                ze_driver_ipc_properties_t *pIpcProperties) {
    ENTER(zeDriverGetIpcProperties);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(pIpcProperties);
    pIpcProperties->flags = 0;
    return ZE_RESULT_SUCCESS;
}

typedef struct extension {
    const char *name;
    uint32_t version;
} extension_t;

static const extension_t extensions[] = {
    {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_PCI_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_DEVICE_IP_VERSION_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_MODULE_PROGRAM_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
    {ZE_GLOBAL_OFFSET_EXP_NAME, ZE_MAKE_VERSION(1, 0)},
};
enum { EXTENSIONS = sizeof extensions / sizeof extensions[0] };

const char *const *driver_published(void) {
    static const char *names[EXTENSIONS + 1];
    for (size_t i = 0; i < EXTENSIONS; ++i) {
        names[i] = extensions[i].name;
    }
    return names;
}

ze_result_t ZE_APICALL
zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                               ze_driver_extension_properties_t *pExtensionProperties) {
    ENTER(zeDriverGetExtensionProperties);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(pCount);
    uint32_t visible = 0;
    for (size_t i = 0; i < EXTENSIONS; ++i) {
        if (settings_hidden(extensions[i].name)) {
            continue;
        }
        if (pExtensionProperties != NULL && visible < *pCount) {
            ze_driver_extension_properties_t *row = &pExtensionProperties[visible];
            memset(row->name, 0, sizeof row->name);
            memcpy(row->name, extensions[i].name, strlen(extensions[i].name));
            row->version = extensions[i].version;
        }
        ++visible;
    }
    if (*pCount == 0 || *pCount > visible) {
        *pCount = visible;
    }
    return ZE_RESULT_SUCCESS;
}

// Entries that came after the tables of an old loader, and functions outside of the tables.
ze_result_t ZE_APICALL zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver,
                                                           const char *name,
                                                           void **ppFunctionAddress) {
    ENTER(zeDriverGetExtensionFunctionAddress);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(name);
    CHECK_POINTER(ppFunctionAddress);
    typedef void (*function_t)(void);
    static const struct {
        const char *name;
        function_t function;
    } functions[] = {
#define PUBLISH(function) {#function, (function_t)function}
        PUBLISH(zexCounterBasedEventCreate2),
        PUBLISH(zeEventCounterBasedCreate),
        PUBLISH(zeCommandListHostSynchronize),
        PUBLISH(zeCommandListImmediateAppendCommandListsExp),
        PUBLISH(zeDeviceGetRootDevice),
        PUBLISH(zeDriverGetDefaultContext),
        PUBLISH(zeEventPoolGetFlags),
        PUBLISH(zeEventQueryKernelTimestampsExt),
        PUBLISH(zeDriverGetLastErrorDescription),
        PUBLISH(zeCommandListAppendLaunchKernelWithArguments),
#undef PUBLISH
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        if (strcmp(functions[i].name, name) == 0 && !settings_hidden(name)) {
            *ppFunctionAddress = (void *)functions[i].function;
            return ZE_RESULT_SUCCESS;
        }
    }
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_context_handle_t ZE_APICALL zeDriverGetDefaultContext(ze_driver_handle_t hDriver) {
    if (entry_begin(ENTRY_zeDriverGetDefaultContext) != ZE_RESULT_SUCCESS ||
        object_check((object_t *)hDriver, KIND_DRIVER, ENTRY_zeDriverGetDefaultContext) !=
            ZE_RESULT_SUCCESS) {
        return NULL;
    }
    return (ze_context_handle_t)the_driver.default_context;
}

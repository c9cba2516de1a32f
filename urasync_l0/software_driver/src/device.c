// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices: their properties, their memory account and their clock.

#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "worker.h"

// What this device claims to be: a discrete GPU of some years ago, of no special kind.
enum {
    VENDOR_ID = 0x8086,
    DEVICE_ID = 0x56c0,
    IP_VERSION = (12 << 22) | (55 << 14) | 8, // architecture 12.55, revision 8
    TIMESTAMP_BITS = 56,
    COMPUTE_QUEUES = 4,
    COPY_QUEUES = 2,
};

void device_init(device_t *device, uint32_t index) {
    device->index = index;
    atomic_store(&device->memory_limit, settings.memory);
    atomic_store(&device->object.kind, KIND_DEVICE);
}

bool device_memory_take(device_t *device, uint64_t bytes) {
    uint64_t used = atomic_load(&device->memory_used);
    do {
        const uint64_t limit = atomic_load(&device->memory_limit);
        if (used > limit || bytes > limit - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&device->memory_used, &used, used + bytes));
    return true;
}

void device_memory_give_back(device_t *device, uint64_t bytes) {
    atomic_fetch_sub(&device->memory_used, bytes);
}

uint64_t device_ticks(void) {
    const unsigned __int128 ticks = (unsigned __int128)os_now() * settings.timer / 1000000000u;
    return (uint64_t)ticks & ((UINT64_C(1) << TIMESTAMP_BITS) - 1);
}

uint32_t device_queue_count(uint32_t ordinal) {
    return ordinal == 0 ? COMPUTE_QUEUES : ordinal == 1 ? COPY_QUEUES : 0;
}

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                                   ze_device_handle_t *phDevices) {
    ENTER(zeDeviceGet);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(pCount);
    const uint32_t count = settings.devices;
    if (phDevices != NULL) {
        for (uint32_t i = 0; i < *pCount && i < count; ++i) {
            phDevices[i] = (ze_device_handle_t)&the_driver.devices[i];
        }
    }
    if (*pCount == 0 || *pCount > count) {
        *pCount = count;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                             ze_device_handle_t *phSubdevices) {
    ENTER(zeDeviceGetSubDevices);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pCount);
    (void)phSubdevices;
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                             ze_device_handle_t *phRootDevice) {
    ENTER(zeDeviceGetRootDevice);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(phRootDevice);
    *phRootDevice = NULL; // the device is a root itself
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t hDevice,
                                             ze_device_properties_t *properties) {
    ENTER(zeDeviceGetProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    const device_t *device = (const device_t *)hDevice;
    properties->type = ZE_DEVICE_TYPE_GPU;
    properties->vendorId = VENDOR_ID;
    properties->deviceId = DEVICE_ID;
    properties->flags = 0;
    properties->subdeviceId = 0;
    properties->coreClockRate = 2000;
    properties->maxMemAllocSize = settings.max_allocation;
    properties->maxHardwareContexts = 65536;
    properties->maxCommandQueuePriority = 0;
    properties->numThreadsPerEU = 8;
    properties->physicalEUSimdWidth = 8;
    properties->numEUsPerSubslice = 16;
    properties->numSubslicesPerSlice = 4;
    properties->numSlices = 8;
    // Ticks a second in the structure of version 1.2, nanoseconds a tick in the first one.
    properties->timerResolution = properties->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                                      ? settings.timer
                                      : 1000000000u / settings.timer;
    properties->timestampValidBits = TIMESTAMP_BITS;
    properties->kernelTimestampValidBits = TIMESTAMP_BITS;
    static const char uuid[ZE_MAX_DEVICE_UUID_SIZE] = "urasync-device-";
    memcpy(properties->uuid.id, uuid, sizeof uuid);
    properties->uuid.id[ZE_MAX_DEVICE_UUID_SIZE - 1] = (uint8_t)device->index;
    memset(properties->name, 0, sizeof properties->name);
    snprintf(properties->name, sizeof properties->name, "urasync software device %u",
             device->index);
    for (ze_base_properties_t *next = properties->pNext; next != NULL; next = next->pNext) {
        const uint32_t stype = next->stype;
        if (stype == ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT) {
            ((ze_device_ip_version_ext_t *)next)->ipVersion = IP_VERSION;
        } else if (stype == ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES) {
            ((ze_event_query_kernel_timestamps_ext_properties_t *)next)->flags =
                ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL;
        }
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetComputeProperties(ze_device_handle_t hDevice,
                                                    ze_device_compute_properties_t *properties) {
    ENTER(zeDeviceGetComputeProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->maxTotalGroupSize = 1024;
    properties->maxGroupSizeX = 1024;
    properties->maxGroupSizeY = 1024;
    properties->maxGroupSizeZ = 1024;
    properties->maxGroupCountX = UINT32_MAX;
    properties->maxGroupCountY = UINT32_MAX;
    properties->maxGroupCountZ = UINT32_MAX;
    properties->maxSharedLocalMemory = 65536;
    properties->numSubGroupSizes = 3;
    memset(properties->subGroupSizes, 0, sizeof properties->subGroupSizes);
    properties->subGroupSizes[0] = 8;
    properties->subGroupSizes[1] = 16;
    properties->subGroupSizes[2] = 32;
    return ZE_RESULT_SUCCESS;
}

// No modules yet: no version of SPIR-V, no native kernels.
ze_result_t ZE_APICALL zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                                   ze_device_module_properties_t *properties) {
    ENTER(zeDeviceGetModuleProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->spirvVersionSupported = 0;
    properties->flags = 0;
    properties->fp16flags = 0;
    properties->fp32flags = 0;
    properties->fp64flags = 0;
    properties->maxArgumentsSize = 2048;
    properties->printfBufferSize = 0;
    memset(&properties->nativeKernelSupported, 0, sizeof properties->nativeKernelSupported);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_command_queue_group_properties_t *groups) {
    ENTER(zeDeviceGetCommandQueueGroupProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pCount);
    if (groups != NULL) {
        for (uint32_t i = 0; i < *pCount && i < QUEUE_GROUPS; ++i) {
            groups[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
                              (i == 0 ? ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE : 0);
            groups[i].maxMemoryFillPatternSize = MAX_PATTERN;
            groups[i].numQueues = device_queue_count(i);
        }
    }
    if (*pCount == 0 || *pCount > QUEUE_GROUPS) {
        *pCount = QUEUE_GROUPS;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                                   ze_device_memory_properties_t *memories) {
    ENTER(zeDeviceGetMemoryProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pCount);
    if (memories != NULL && *pCount > 0) {
        memories->flags = 0;
        memories->maxClockRate = 2000;
        memories->maxBusWidth = 256;
        memories->totalSize = settings.memory;
        memset(memories->name, 0, sizeof memories->name);
        memcpy(memories->name, "host memory", sizeof "host memory");
        for (ze_base_properties_t *next = memories->pNext; next != NULL; next = next->pNext) {
            if (next->stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES) {
                ze_device_memory_ext_properties_t *more = (void *)next;
                more->type = ZE_DEVICE_MEMORY_EXT_TYPE_DDR4;
                more->physicalSize = settings.memory;
                more->readBandwidth = 20;
                more->writeBandwidth = 20;
                more->bandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC;
            }
        }
    }
    *pCount = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t *properties) {
    ENTER(zeDeviceGetMemoryAccessProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    const ze_memory_access_cap_flags_t all =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
        ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    properties->hostAllocCapabilities = all;
    properties->deviceAllocCapabilities = all;
    properties->sharedSingleDeviceAllocCapabilities = all;
    properties->sharedCrossDeviceAllocCapabilities = settings.peer ? all : 0;
    properties->sharedSystemAllocCapabilities = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetCacheProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                                  ze_device_cache_properties_t *caches) {
    ENTER(zeDeviceGetCacheProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pCount);
    if (caches != NULL && *pCount > 0) {
        caches->flags = 0;
        caches->cacheSize = (size_t)16 << 20;
    }
    *pCount = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetImageProperties(ze_device_handle_t hDevice,
                                                  ze_device_image_properties_t *properties) {
    ENTER(zeDeviceGetImageProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->maxImageDims1D = 0;
    properties->maxImageDims2D = 0;
    properties->maxImageDims3D = 0;
    properties->maxImageBufferSize = 0;
    properties->maxImageArraySlices = 0;
    properties->maxSamplers = 0;
    properties->maxReadImageArgs = 0;
    properties->maxWriteImageArgs = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t *properties) {
    ENTER(zeDeviceGetExternalMemoryProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->memoryAllocationImportTypes = 0;
    properties->memoryAllocationExportTypes = 0;
    properties->imageImportTypes = 0;
    properties->imageExportTypes = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                                ze_device_handle_t hPeerDevice,
                                                ze_device_p2p_properties_t *properties) {
    ENTER(zeDeviceGetP2PProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_HANDLE(hPeerDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->flags =
        settings.peer || hDevice == hPeerDevice
            ? ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS
            : 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceCanAccessPeer(ze_device_handle_t hDevice,
                                             ze_device_handle_t hPeerDevice, ze_bool_t *value) {
    ENTER(zeDeviceCanAccessPeer);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_HANDLE(hPeerDevice, KIND_DEVICE);
    CHECK_POINTER(value);
    *value = settings.peer || hDevice == hPeerDevice;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetStatus(ze_device_handle_t hDevice) {
    ENTER(zeDeviceGetStatus);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice,
                                                   uint64_t *hostTimestamp,
                                                   uint64_t *deviceTimestamp) {
    ENTER(zeDeviceGetGlobalTimestamps);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(hostTimestamp);
    CHECK_POINTER(deviceTimestamp);
    *hostTimestamp = os_now();
    *deviceTimestamp = device_ticks();
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                   ze_pci_ext_properties_t *properties) {
    ENTER(zeDevicePciGetPropertiesExt);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->address = (ze_pci_address_ext_t){.bus = 3 + ((const device_t *)hDevice)->index};
    properties->maxSpeed =
        (ze_pci_speed_ext_t){.genVersion = 4, .width = 16, .maxBandwidth = 31500000000};
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetCounterBasedEventMaxValue(ze_device_handle_t hDevice,
                                                            uint64_t *maxValue) {
    ENTER(zeDeviceGetCounterBasedEventMaxValue);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(maxValue);
    *maxValue = UINT64_MAX;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceSynchronize(ze_device_handle_t hDevice) {
    ENTER(zeDeviceSynchronize);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    workers_wait_idle((const device_t *)hDevice);
    return ZE_RESULT_SUCCESS;
}

// --- Controls -----------------------------------------------------------------------------------

static device_t *device_at(uint32_t index) {
    return driver_ready() && index < settings.devices ? &the_driver.devices[index] : NULL;
}

uint32_t urasync_device_count(void) { return driver_ready() ? settings.devices : 0; }

int32_t urasync_device_memory_set_limit(uint32_t device_index, uint64_t bytes) {
    device_t *device = device_at(device_index);
    if (device == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    atomic_store(&device->memory_limit, bytes);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_memory_limit(uint32_t device_index, uint64_t *bytes) {
    const device_t *device = device_at(device_index);
    if (device == NULL || bytes == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    *bytes = atomic_load(&device->memory_limit);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_memory_used(uint32_t device_index, uint64_t *bytes) {
    const device_t *device = device_at(device_index);
    if (device == NULL || bytes == NULL) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    memory_collect_deferred();
    *bytes = atomic_load(&device->memory_used);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_device_memory_free(uint32_t device_index, uint64_t *bytes) {
    uint64_t used;
    const int32_t result = urasync_device_memory_used(device_index, &used);
    if (result == URASYNC_CONTROL_OK) {
        if (bytes == NULL) {
            return URASYNC_CONTROL_OUT_OF_RANGE;
        }
        const uint64_t limit = atomic_load(&device_at(device_index)->memory_limit);
        *bytes = limit > used ? limit - used : 0;
    }
    return result;
}

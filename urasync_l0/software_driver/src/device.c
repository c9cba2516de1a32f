// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices: what there is, their properties and their clock.

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
    SLICES = 8,
};

uint32_t device_count(void) { return settings.devices * (1 + settings.sub_devices); }

device_t *device_at(uint32_t index) {
    return driver_ready() && index < device_count() ? &the_driver.devices[index] : NULL;
}

uint64_t device_bit(const device_t *device) { return UINT64_C(1) << device->index; }

bool device_covered(uint64_t mask, const device_t *device) {
    const uint64_t root = device->root != NULL ? device_bit(device->root) : 0;
    return (mask & (device_bit(device) | root)) != 0;
}

static void init(uint32_t index, device_t *root, uint32_t place, uint64_t memory) {
    device_t *device = &the_driver.devices[index];
    device->index = index;
    device->root = root;
    device->place = place;
    device->memory_size = memory;
    atomic_store(&device->memory_limit, memory);
    atomic_store(&device->object.kind, KIND_DEVICE);
}

void devices_init(void) {
    for (uint32_t index = 0; index < settings.devices; ++index) {
        init(index, NULL, 0, settings.memory);
        for (uint32_t place = 0; place < settings.sub_devices; ++place) {
            init(settings.devices + index * settings.sub_devices + place,
                 &the_driver.devices[index], place, settings.memory / settings.sub_devices);
        }
    }
}

uint64_t device_ticks_at(uint64_t nanoseconds) {
    const unsigned __int128 ticks = (unsigned __int128)nanoseconds * settings.timer / 1000000000u;
    return (uint64_t)ticks & ((UINT64_C(1) << TIMESTAMP_BITS) - 1);
}

uint64_t device_ticks(void) { return device_ticks_at(os_now()); }

uint32_t device_queue_count(uint32_t ordinal) {
    return ordinal == 0 ? COMPUTE_QUEUES : ordinal == 1 ? COPY_QUEUES : 0;
}

static void list_devices(uint32_t first, uint32_t count, uint32_t *capacity,
                         ze_device_handle_t *devices) {
    if (devices != NULL) {
        for (uint32_t i = 0; i < *capacity && i < count; ++i) {
            devices[i] = (ze_device_handle_t)&the_driver.devices[first + i];
        }
    }
    if (*capacity == 0 || *capacity > count) {
        *capacity = count;
    }
}

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                                   ze_device_handle_t *phDevices) {
    ENTER(zeDeviceGet);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(pCount);
    const bool parts = settings.sub_devices > 0 && settings.hierarchy != COMPOSITE;
    list_devices(parts ? settings.devices : 0,
                 settings.devices * (parts ? settings.sub_devices : 1), pCount, phDevices);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                             ze_device_handle_t *phSubdevices) {
    ENTER(zeDeviceGetSubDevices);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(pCount);
    const device_t *device = (const device_t *)hDevice;
    const uint32_t count = device->root == NULL ? settings.sub_devices : 0;
    list_devices(settings.devices + device->index * count, count, pCount, phSubdevices);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                             ze_device_handle_t *phRootDevice) {
    ENTER(zeDeviceGetRootDevice);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(phRootDevice);
    // With the flat hierarchy nobody knows the root devices.
    const device_t *device = (const device_t *)hDevice;
    *phRootDevice = settings.hierarchy == FLAT ? NULL : (ze_device_handle_t)device->root;
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
    const bool is_part = device->root != NULL && settings.hierarchy == COMPOSITE;
    properties->flags = is_part ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0;
    properties->subdeviceId = is_part ? device->place : 0;
    properties->coreClockRate = 2000;
    properties->maxMemAllocSize = settings.max_allocation < device->memory_size
                                      ? settings.max_allocation
                                      : device->memory_size;
    properties->maxHardwareContexts = 65536;
    properties->maxCommandQueuePriority = 0;
    properties->numThreadsPerEU = 8;
    properties->physicalEUSimdWidth = 8;
    properties->numEUsPerSubslice = 16;
    properties->numSubslicesPerSlice = 4;
    properties->numSlices = device->root != NULL ? SLICES / settings.sub_devices : SLICES;
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
    if (device->root != NULL) {
        snprintf(properties->name, sizeof properties->name,
                 "urasync software device %u, sub-device %u", device->root->index, device->place);
    } else {
        snprintf(properties->name, sizeof properties->name, "urasync software device %u",
                 device->index);
    }
    for (ze_base_properties_t *next = properties->pNext; next != NULL; next = next->pNext) {
        const uint32_t stype = next->stype;
        if (stype == ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT) {
            ((ze_device_ip_version_ext_t *)next)->ipVersion = IP_VERSION;
        } else if (stype == ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES) {
            ((ze_event_query_kernel_timestamps_ext_properties_t *)next)->flags =
                ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL;
        } else if (stype == ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES) {
            ((ze_device_usablemem_size_ext_properties_t *)next)->currUsableMemSize =
                device_usable_memory(device);
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

// What an OpenCL runtime for a processor is expected to do. None is looked for until a module is
// made, which says so if there is none.
ze_result_t ZE_APICALL zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                                   ze_device_module_properties_t *properties) {
    ENTER(zeDeviceGetModuleProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    const ze_device_fp_flags_t floats = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                        ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
    properties->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
    properties->flags = ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64 |
                        ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
    properties->fp16flags = floats;
    properties->fp32flags = floats;
    properties->fp64flags = floats;
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
        const uint64_t size = ((const device_t *)hDevice)->memory_size;
        memories->totalSize = size;
        memset(memories->name, 0, sizeof memories->name);
        memcpy(memories->name, "host memory", sizeof "host memory");
        for (ze_base_properties_t *next = memories->pNext; next != NULL; next = next->pNext) {
            if (next->stype == ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES) {
                ze_device_memory_ext_properties_t *more = (void *)next;
                more->type = ZE_DEVICE_MEMORY_EXT_TYPE_DDR4;
                more->physicalSize = size;
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

// Parts of one root device reach each other's memory whatever the setting says.
static bool are_peers(const device_t *device, const device_t *peer) {
    const device_t *root = device->root != NULL ? device->root : device;
    return settings.peer || root == (peer->root != NULL ? peer->root : peer);
}

ze_result_t ZE_APICALL zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                                ze_device_handle_t hPeerDevice,
                                                ze_device_p2p_properties_t *properties) {
    ENTER(zeDeviceGetP2PProperties);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    CHECK_HANDLE(hPeerDevice, KIND_DEVICE);
    CHECK_POINTER(properties);
    properties->flags =
        are_peers((const device_t *)hDevice, (const device_t *)hPeerDevice)
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
    *value = are_peers((const device_t *)hDevice, (const device_t *)hPeerDevice);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetStatus(ze_device_handle_t hDevice) {
    ENTER(zeDeviceGetStatus);
    CHECK_HANDLE(hDevice, KIND_DEVICE);
    return device_result((const device_t *)hDevice);
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
    const device_t *device = (const device_t *)hDevice;
    const device_t *card = device->root != NULL ? device->root : device;
    properties->address = (ze_pci_address_ext_t){.bus = 3 + card->index};
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
    return device_result((const device_t *)hDevice);
}

// --- Controls -----------------------------------------------------------------------------------

uint32_t urasync_device_count(void) { return driver_ready() ? device_count() : 0; }

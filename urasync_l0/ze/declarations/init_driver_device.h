// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

enum {
    ZE_INIT_FLAG_GPU_ONLY,
    ZE_INIT_DRIVER_TYPE_FLAG_GPU,
    ...
};

typedef enum {
    ZE_DEVICE_TYPE_GPU,
    ZE_DEVICE_TYPE_CPU,
    ZE_DEVICE_TYPE_FPGA,
    ZE_DEVICE_TYPE_MCA,
    ZE_DEVICE_TYPE_VPU,
    ...
} ze_device_type_t;

enum {
    ZE_DEVICE_PROPERTY_FLAG_INTEGRATED,
    ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE,
    ZE_DEVICE_PROPERTY_FLAG_ECC,
    ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING,
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE,
    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
    ZE_MEMORY_ACCESS_CAP_FLAG_RW,
    ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC,
    ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT,
    ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC,
    ...
};

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    ...;
} ze_init_driver_type_desc_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t driverVersion;
    ...;
} ze_driver_properties_t;

typedef struct {
    char name[...];
    uint32_t version;
    ...;
} ze_driver_extension_properties_t;

typedef struct {
    uint8_t id[...];
    ...;
} ze_device_uuid_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    ze_device_type_t type;
    uint32_t vendorId;
    uint32_t deviceId;
    uint32_t flags;
    uint32_t subdeviceId;
    uint32_t coreClockRate;
    uint64_t maxMemAllocSize;
    uint32_t maxHardwareContexts;
    uint32_t maxCommandQueuePriority;
    uint32_t numThreadsPerEU;
    uint32_t physicalEUSimdWidth;
    uint32_t numEUsPerSubslice;
    uint32_t numSubslicesPerSlice;
    uint32_t numSlices;
    uint64_t timerResolution;
    uint32_t timestampValidBits;
    uint32_t kernelTimestampValidBits;
    ze_device_uuid_t uuid;
    char name[...];
    ...;
} ze_device_properties_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t flags;
    uint32_t maxClockRate;
    uint32_t maxBusWidth;
    uint64_t totalSize;
    char name[...];
    ...;
} ze_device_memory_properties_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t hostAllocCapabilities;
    uint32_t deviceAllocCapabilities;
    uint32_t sharedSingleDeviceAllocCapabilities;
    uint32_t sharedCrossDeviceAllocCapabilities;
    uint32_t sharedSystemAllocCapabilities;
    ...;
} ze_device_memory_access_properties_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t flags;
    size_t maxMemoryFillPatternSize;
    uint32_t numQueues;
    ...;
} ze_command_queue_group_properties_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t maxTotalGroupSize;
    uint32_t maxGroupSizeX;
    uint32_t maxGroupSizeY;
    uint32_t maxGroupSizeZ;
    uint32_t maxGroupCountX;
    uint32_t maxGroupCountY;
    uint32_t maxGroupCountZ;
    uint32_t maxSharedLocalMemory;
    uint32_t numSubGroupSizes;
    uint32_t subGroupSizes[...];
    ...;
} ze_device_compute_properties_t;

typedef int... ze_api_version_t;

ze_result_t zeInit(uint32_t flags);
ze_result_t zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                          ze_init_driver_type_desc_t *desc);

ze_result_t zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers);
ze_result_t zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t *version);
ze_result_t zeDriverGetProperties(ze_driver_handle_t hDriver,
                                  ze_driver_properties_t *pDriverProperties);
ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                                           ze_driver_extension_properties_t *pExtensionProperties);
ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver, const char *name,
                                                void **ppFunctionAddress);

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount, ze_device_handle_t *phDevices);
ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                  ze_device_handle_t *phSubdevices);
ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice,
                                  ze_device_properties_t *pDeviceProperties);
ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                        ze_device_memory_properties_t *pMemProperties);
ze_result_t
zeDeviceGetMemoryAccessProperties(ze_device_handle_t hDevice,
                                  ze_device_memory_access_properties_t *pMemAccessProperties);
ze_result_t zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties);
ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t hDevice,
                                         ze_device_compute_properties_t *pComputeProperties);
ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                  ze_bool_t *value);
ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice, uint64_t *hostTimestamp,
                                        uint64_t *deviceTimestamp);

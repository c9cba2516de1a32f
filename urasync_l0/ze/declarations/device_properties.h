// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

enum {
    ZE_DEVICE_MODULE_FLAG_FP16,
    ZE_DEVICE_MODULE_FLAG_FP64,
    ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS,
    ZE_DEVICE_FP_FLAG_DENORM,
    ZE_DEVICE_FP_FLAG_INF_NAN,
    ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST,
    ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO,
    ZE_DEVICE_FP_FLAG_ROUND_TO_INF,
    ZE_DEVICE_FP_FLAG_FMA,
    ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT,
    ZE_DEVICE_FP_FLAG_SOFT_FLOAT,
    ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS,
    ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS,
    ...
};

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t spirvVersionSupported;
    uint32_t flags;
    uint32_t fp16flags;
    uint32_t fp32flags;
    uint32_t fp64flags;
    uint32_t maxArgumentsSize;
    uint32_t printfBufferSize;
    ...;
} ze_device_module_properties_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    size_t cacheSize;
    ...;
} ze_device_cache_properties_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t flags;
    ...;
} ze_device_p2p_properties_t;

typedef struct {
    uint32_t domain;
    uint32_t bus;
    uint32_t device;
    uint32_t function;
    ...;
} ze_pci_address_ext_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    ze_pci_address_ext_t address;
    ...;
} ze_pci_ext_properties_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t ipVersion;
    ...;
} ze_device_ip_version_ext_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    uint64_t currUsableMemSize;
    ...;
} ze_device_usablemem_size_ext_properties_t;

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                        ze_device_module_properties_t *pModuleProperties);
ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                       ze_device_cache_properties_t *pCacheProperties);
ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                     ze_device_p2p_properties_t *pP2PProperties);
ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                        ze_pci_ext_properties_t *pPciProperties);
ze_result_t zeDeviceGetRootDevice(ze_device_handle_t hDevice, ze_device_handle_t *phRootDevice);

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

typedef enum {
    ZE_MEMORY_TYPE_UNKNOWN,
    ZE_MEMORY_TYPE_HOST,
    ZE_MEMORY_TYPE_DEVICE,
    ZE_MEMORY_TYPE_SHARED,
    ...
} ze_memory_type_t;

enum {
    ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE,
    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE,
    ...
};

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    ...;
} ze_context_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    uint32_t ordinal;
    ...;
} ze_device_mem_alloc_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    ...;
} ze_host_mem_alloc_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    ...;
} ze_relaxed_allocation_limits_exp_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t freePolicy;
    ...;
} ze_memory_free_ext_desc_t;

typedef struct {
    ze_structure_type_t stype;
    void *pNext;
    ze_memory_type_t type;
    uint64_t id;
    uint64_t pageSize;
    ...;
} ze_memory_allocation_properties_t;

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                              uint32_t numDevices, ze_device_handle_t *phDevices,
                              ze_context_handle_t *phContext);
ze_result_t zeContextDestroy(ze_context_handle_t hContext);
ze_result_t zeContextGetStatus(ze_context_handle_t hContext);
ze_result_t zeContextMakeMemoryResident(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                        void *ptr, size_t size);
ze_result_t zeContextEvictMemory(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 void *ptr, size_t size);

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t *device_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr);
ze_result_t zeMemAllocShared(ze_context_handle_t hContext,
                             const ze_device_mem_alloc_desc_t *device_desc,
                             const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr);
ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t *host_desc,
                           size_t size, size_t alignment, void **pptr);
ze_result_t zeMemFree(ze_context_handle_t hContext, void *ptr);
ze_result_t zeMemFreeExt(ze_context_handle_t hContext,
                         const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr);
ze_result_t zeMemGetAllocProperties(ze_context_handle_t hContext, const void *ptr,
                                    ze_memory_allocation_properties_t *pMemAllocProperties,
                                    ze_device_handle_t *phDevice);
ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr, void **pBase,
                                 size_t *pSize);

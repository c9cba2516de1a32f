// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

typedef enum {
    ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE,
    ...
} ze_memory_access_attribute_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    size_t size;
    ...;
} ze_physical_mem_desc_t;

ze_result_t zeVirtualMemQueryPageSize(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      size_t size, size_t *pagesize);
ze_result_t zeVirtualMemReserve(ze_context_handle_t hContext, const void *pStart, size_t size,
                                void **pptr);
ze_result_t zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr, size_t size);
ze_result_t zeVirtualMemMap(ze_context_handle_t hContext, const void *ptr, size_t size,
                            ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                            ze_memory_access_attribute_t access);
ze_result_t zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr, size_t size);

ze_result_t zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                ze_physical_mem_desc_t *desc,
                                ze_physical_mem_handle_t *phPhysicalMemory);
ze_result_t zePhysicalMemDestroy(ze_context_handle_t hContext,
                                 ze_physical_mem_handle_t hPhysicalMemory);

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the libraries need of Unified Runtime 0.12, declared by us. Enumerations are their integers;
 * their values stand in urasync_l0/enums.py. The build gives the declarations to cffi, too.
 */
#ifndef URASYNC_UNIFIED_RUNTIME_H
#define URASYNC_UNIFIED_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UR_API_VERSION 0x0000000C
#define UR_RESULT_SUCCESS 0
#define UR_RESULT_ERROR_UNINITIALIZED 37
#define UR_RESULT_ERROR_UNSUPPORTED_VERSION 43
#define UR_RESULT_ERROR_UNSUPPORTED_FEATURE 44
#define UR_RESULT_ERROR_INVALID_NULL_HANDLE 46
#define UR_RESULT_ERROR_INVALID_NULL_POINTER 48
#define UR_RESULT_ERROR_INVALID_SIZE 49
#define UR_RESULT_ERROR_UNKNOWN 0x7FFFFFFE
#define UR_EVENT_INFO_COMMAND_EXECUTION_STATUS 3
#define UR_EVENT_STATUS_COMPLETE 0
#define UR_USM_TYPE_HOST 1
#define UR_USM_TYPE_DEVICE 2
#define UR_USM_TYPE_SHARED 3

typedef struct ur_adapter_handle_t_ *ur_adapter_handle_t;
typedef struct ur_platform_handle_t_ *ur_platform_handle_t;
typedef struct ur_device_handle_t_ *ur_device_handle_t;
typedef struct ur_context_handle_t_ *ur_context_handle_t;
typedef struct ur_queue_handle_t_ *ur_queue_handle_t;
typedef struct ur_event_handle_t_ *ur_event_handle_t;
typedef struct ur_usm_pool_handle_t_ *ur_usm_pool_handle_t;

typedef struct ur_mem_handle_t_ *ur_mem_handle_t;
typedef struct ur_program_handle_t_ *ur_program_handle_t;
typedef struct ur_kernel_handle_t_ *ur_kernel_handle_t;

typedef uintptr_t ur_native_handle_t;
typedef uint8_t ur_bool_t;
typedef uint32_t ur_result_t;
typedef uint32_t ur_api_version_t;
typedef uint32_t ur_structure_type_t;
typedef uint32_t ur_logger_level_t;
typedef uint32_t ur_adapter_info_t;
typedef uint32_t ur_platform_info_t;
typedef uint32_t ur_device_info_t;
typedef uint32_t ur_device_type_t;
typedef uint32_t ur_exp_peer_info_t;
typedef uint32_t ur_context_info_t;
typedef uint32_t ur_queue_info_t;
typedef uint32_t ur_event_info_t;
typedef uint32_t ur_profiling_info_t;
typedef uint32_t ur_execution_info_t;
typedef uint32_t ur_program_info_t;
typedef uint32_t ur_program_build_info_t;
typedef uint32_t ur_exp_program_flags_t;
typedef uint32_t ur_kernel_info_t;
typedef uint32_t ur_kernel_group_info_t;
typedef uint32_t ur_kernel_sub_group_info_t;
typedef uint32_t ur_kernel_exec_info_t;
typedef uint32_t ur_mem_flags_t;
typedef uint32_t ur_mem_info_t;
typedef uint32_t ur_map_flags_t;
typedef uint32_t ur_buffer_create_type_t;
typedef uint32_t ur_usm_type_t;
typedef uint32_t ur_usm_alloc_info_t;
typedef uint32_t ur_usm_pool_info_t;
typedef uint32_t ur_usm_migration_flags_t;
typedef uint32_t ur_usm_advice_flags_t;

typedef void (*ur_logger_callback_t)(ur_logger_level_t level, const char *message, void *user_data);
typedef void (*ur_context_extended_deleter_t)(void *user_data);
typedef void (*ur_event_callback_t)(ur_event_handle_t event, ur_execution_info_t status,
                                    void *user_data);

/* What every structure begins with. */
typedef struct ur_base_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
} ur_base_properties_t;

typedef struct ur_platform_native_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    bool isNativeHandleOwned;
} ur_platform_native_properties_t;

typedef ur_platform_native_properties_t ur_device_native_properties_t;
typedef ur_platform_native_properties_t ur_context_native_properties_t;
typedef ur_platform_native_properties_t ur_queue_native_properties_t;
typedef ur_platform_native_properties_t ur_event_native_properties_t;
typedef ur_platform_native_properties_t ur_mem_native_properties_t;
typedef ur_platform_native_properties_t ur_program_native_properties_t;
typedef ur_platform_native_properties_t ur_kernel_native_properties_t;

typedef struct ur_device_partition_property_t {
    int32_t type;
    uint32_t value;
} ur_device_partition_property_t;

typedef struct ur_device_partition_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    const ur_device_partition_property_t *pProperties;
    size_t PropCount;
} ur_device_partition_properties_t;

typedef struct ur_device_binary_t {
    ur_structure_type_t stype;
    const void *pNext;
    const char *pDeviceTargetSpec;
} ur_device_binary_t;

typedef struct ur_context_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
} ur_context_properties_t;

typedef ur_context_properties_t ur_queue_properties_t;
typedef ur_context_properties_t ur_exp_enqueue_ext_properties_t;
typedef ur_context_properties_t ur_exp_async_usm_alloc_properties_t;
typedef ur_context_properties_t ur_usm_host_desc_t;
typedef ur_context_properties_t ur_usm_device_desc_t;
typedef ur_context_properties_t ur_usm_pool_desc_t;
typedef ur_context_properties_t ur_kernel_launch_ext_properties_t;

typedef struct ur_queue_index_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t computeIndex;
} ur_queue_index_properties_t;

typedef struct ur_queue_native_desc_t {
    ur_structure_type_t stype;
    const void *pNext;
    void *pNativeData;
} ur_queue_native_desc_t;

typedef struct ur_usm_desc_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t hints;
    uint32_t align;
} ur_usm_desc_t;

typedef struct ur_usm_alloc_location_desc_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t location;
} ur_usm_alloc_location_desc_t;

typedef struct ur_usm_pool_limits_desc_t {
    ur_structure_type_t stype;
    const void *pNext;
    size_t maxPoolableSize;
    size_t minDriverAllocSize;
} ur_usm_pool_limits_desc_t;

typedef struct ur_usm_pool_buffer_desc_t {
    ur_structure_type_t stype;
    const void *pNext;
    void *pMem;
    size_t size;
    ur_usm_type_t memType;
    ur_device_handle_t device;
} ur_usm_pool_buffer_desc_t;

typedef struct ur_buffer_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    void *pHost;
} ur_buffer_properties_t;

typedef struct ur_buffer_region_t {
    ur_structure_type_t stype;
    const void *pNext;
    size_t origin;
    size_t size;
} ur_buffer_region_t;

typedef struct ur_rect_offset_t {
    uint64_t x;
    uint64_t y;
    uint64_t z;
} ur_rect_offset_t;

typedef struct ur_rect_region_t {
    uint64_t width;
    uint64_t height;
    uint64_t depth;
} ur_rect_region_t;

typedef struct ur_program_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t count;
    const void *pMetadatas;
} ur_program_properties_t;

typedef struct ur_specialization_constant_info_t {
    uint32_t id;
    size_t size;
    const void *pValue;
} ur_specialization_constant_info_t;

typedef struct ur_kernel_exec_info_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
} ur_kernel_exec_info_properties_t;

/* A value, an address, or a handle with flags; the last is the longest. */
typedef struct ur_exp_kernel_arg_value_t {
    const void *value;
    uint64_t flags;
} ur_exp_kernel_arg_value_t;

typedef struct ur_exp_kernel_arg_properties_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t type;
    uint32_t index;
    size_t size;
    ur_exp_kernel_arg_value_t value;
} ur_exp_kernel_arg_properties_t;

#include "entries.h"

#endif

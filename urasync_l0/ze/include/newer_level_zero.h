// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of Level Zero that an older system header lacks.
//
// Include it after <level_zero/ze_api.h>. Each item stands under `#ifdef
// URASYNC_DECLARE_<identifier>`; the build preprocesses the system header, looks for each
// identifier of this file in the result, and defines the macro of each one that is not there. So a
// newer header wins, and nothing is declared twice.
//
// Constants are anonymous enumerators because an enumeration of the system header cannot be
// extended; their values are those of spec 1.17. Entries are prototypes only: their addresses come
// from the loader at run time.

#ifndef URASYNC_NEWER_LEVEL_ZERO_H
#define URASYNC_NEWER_LEVEL_ZERO_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Names of extensions are macros of the preprocessor, so they guard themselves. */
#ifndef ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME
#define ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME "ZE_experimental_event_pool_counter_based"
#endif
#ifndef ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME
#define ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME "ZE_experimental_immediate_command_list_append"
#endif
#ifndef ZE_DEVICE_IP_VERSION_EXT_NAME
#define ZE_DEVICE_IP_VERSION_EXT_NAME "ZE_extension_device_ip_version"
#endif
#ifndef ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME
#define ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_NAME "ZE_extension_event_query_kernel_timestamps"
#endif
#ifndef ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME
#define ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_NAME "ZE_extension_device_usablemem_size_properties"
#endif

/* Results that spec 1.4 does not name. */

#ifdef URASYNC_DECLARE_ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE
enum { ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE = 0x7ff00004 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_EXP_RTAS_BUILD_RETRY
enum { ZE_RESULT_EXP_RTAS_BUILD_RETRY = 0x7ff00005 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_EXP_RTAS_BUILD_DEFERRED
enum { ZE_RESULT_EXP_RTAS_BUILD_DEFERRED = 0x7ff00006 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE
enum { ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE = 0x7800001c };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_EXT_RTAS_BUILD_RETRY
enum { ZE_RESULT_EXT_RTAS_BUILD_RETRY = 0x7800001d };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_EXT_RTAS_BUILD_DEFERRED
enum { ZE_RESULT_EXT_RTAS_BUILD_DEFERRED = 0x7800001e };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE
enum { ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE = 0x7800001f };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED
enum { ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED = 0x78000020 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_ADDRESS_NOT_FOUND
enum { ZE_RESULT_ERROR_ADDRESS_NOT_FOUND = 0x78000021 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_QUERY_TRUE
enum { ZE_RESULT_QUERY_TRUE = 0x78000022 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_QUERY_FALSE
enum { ZE_RESULT_QUERY_FALSE = 0x78000023 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_INVALID_GRAPH
enum { ZE_RESULT_ERROR_INVALID_GRAPH = 0x78000024 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED
enum { ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED = 0x78000025 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED
enum { ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED = 0x78000026 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT
enum { ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT = 0x78000027 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING
enum { ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING = 0x78000028 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS
enum { ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS = 0x78000029 };
#endif

#ifdef URASYNC_DECLARE_ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT
enum { ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT = 0x7800002a };
#endif

/* API versions. */

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_5
enum { ZE_API_VERSION_1_5 = ZE_MAKE_VERSION(1, 5) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_6
enum { ZE_API_VERSION_1_6 = ZE_MAKE_VERSION(1, 6) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_7
enum { ZE_API_VERSION_1_7 = ZE_MAKE_VERSION(1, 7) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_8
enum { ZE_API_VERSION_1_8 = ZE_MAKE_VERSION(1, 8) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_9
enum { ZE_API_VERSION_1_9 = ZE_MAKE_VERSION(1, 9) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_10
enum { ZE_API_VERSION_1_10 = ZE_MAKE_VERSION(1, 10) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_11
enum { ZE_API_VERSION_1_11 = ZE_MAKE_VERSION(1, 11) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_12
enum { ZE_API_VERSION_1_12 = ZE_MAKE_VERSION(1, 12) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_13
enum { ZE_API_VERSION_1_13 = ZE_MAKE_VERSION(1, 13) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_14
enum { ZE_API_VERSION_1_14 = ZE_MAKE_VERSION(1, 14) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_15
enum { ZE_API_VERSION_1_15 = ZE_MAKE_VERSION(1, 15) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_16
enum { ZE_API_VERSION_1_16 = ZE_MAKE_VERSION(1, 16) };
#endif

#ifdef URASYNC_DECLARE_ZE_API_VERSION_1_17
enum { ZE_API_VERSION_1_17 = ZE_MAKE_VERSION(1, 17) };
#endif

/* Structure types. */

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT
enum { ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT = 0x1000f };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES
enum { ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES = 0x20041 };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES
enum { ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES = 0x10011 };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES
enum { ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES = 0x10012 };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC
enum { ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC = 0x10016 };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC
enum { ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC = 0x00020014 };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC
enum { ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC = 0x00020021 };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC
enum { ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC = 0x0002003A };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC
enum { ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC = 0x0002003C };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES
enum { ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES = 0x0002003E };
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES
enum { ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES = 0x00020040 };
#endif

#ifdef URASYNC_DECLARE_ZEX_STRUCTURE_COUNTER_BASED_EVENT_DESC
enum { ZEX_STRUCTURE_COUNTER_BASED_EVENT_DESC = 0x0003001C };
#endif

/* Flags. */

#ifdef URASYNC_DECLARE_ZE_COMMAND_QUEUE_FLAG_IN_ORDER
enum { ZE_COMMAND_QUEUE_FLAG_IN_ORDER = ZE_BIT(1) };
#endif

#ifdef URASYNC_DECLARE_ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT
enum { ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT = ZE_BIT(2) };
#endif

#ifdef URASYNC_DECLARE_ZE_COMMAND_LIST_FLAG_IN_ORDER
enum { ZE_COMMAND_LIST_FLAG_IN_ORDER = ZE_BIT(3) };
#endif

#ifdef URASYNC_DECLARE_ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE
enum { ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE = ZE_BIT(4) };
#endif

#ifdef URASYNC_DECLARE_ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT
enum { ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT = ZE_BIT(5) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP
enum { ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP = ZE_BIT(3) };
#endif

#ifdef URASYNC_DECLARE_ZE_INIT_DRIVER_TYPE_FLAG_GPU
enum { ZE_INIT_DRIVER_TYPE_FLAG_GPU = ZE_BIT(0) };
#endif

#ifdef URASYNC_DECLARE_ZE_INIT_DRIVER_TYPE_FLAG_NPU
enum { ZE_INIT_DRIVER_TYPE_FLAG_NPU = ZE_BIT(1) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE
enum { ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE = ZE_BIT(0) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE
enum { ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE = ZE_BIT(1) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE
enum { ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE = ZE_BIT(0) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE
enum { ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE = ZE_BIT(1) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE
enum { ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE = ZE_BIT(2) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_IPC
enum { ZE_EVENT_COUNTER_BASED_FLAG_IPC = ZE_BIT(3) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP
enum { ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP = ZE_BIT(4) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP
enum { ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP = ZE_BIT(5) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL
enum { ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL = ZE_BIT(6) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL
enum { ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL = ZE_BIT(0) };
#endif

#ifdef URASYNC_DECLARE_ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED
enum { ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED = ZE_BIT(1) };
#endif

/* Descriptors and results. */

#ifdef URASYNC_DECLARE_ze_init_driver_type_flags_t
typedef uint32_t ze_init_driver_type_flags_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_pool_counter_based_exp_flags_t
typedef uint32_t ze_event_pool_counter_based_exp_flags_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_counter_based_flags_t
typedef uint32_t ze_event_counter_based_flags_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_query_kernel_timestamps_ext_flags_t
typedef uint32_t ze_event_query_kernel_timestamps_ext_flags_t;
#endif

#ifdef URASYNC_DECLARE_ze_init_driver_type_desc_t
typedef struct _ze_init_driver_type_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_init_driver_type_flags_t flags;
} ze_init_driver_type_desc_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_pool_counter_based_exp_desc_t
typedef struct _ze_event_pool_counter_based_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_event_pool_counter_based_exp_flags_t flags;
} ze_event_pool_counter_based_exp_desc_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_counter_based_desc_t
typedef struct _ze_event_counter_based_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_event_counter_based_flags_t flags;
    ze_event_scope_flags_t signal;
    ze_event_scope_flags_t wait;
} ze_event_counter_based_desc_t;
#endif

#ifdef URASYNC_DECLARE_ze_device_ip_version_ext_t
typedef struct _ze_device_ip_version_ext_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t ipVersion;
} ze_device_ip_version_ext_t;
#endif

#ifdef URASYNC_DECLARE_ze_device_usablemem_size_ext_properties_t
typedef struct _ze_device_usablemem_size_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    uint64_t currUsableMemSize;
} ze_device_usablemem_size_ext_properties_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_query_kernel_timestamps_ext_properties_t
typedef struct _ze_event_query_kernel_timestamps_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    ze_event_query_kernel_timestamps_ext_flags_t flags;
} ze_event_query_kernel_timestamps_ext_properties_t;
#endif

#ifdef URASYNC_DECLARE_ze_synchronized_timestamp_data_ext_t
typedef struct _ze_synchronized_timestamp_data_ext_t {
    uint64_t kernelStart;
    uint64_t kernelEnd;
} ze_synchronized_timestamp_data_ext_t;
#endif

#ifdef URASYNC_DECLARE_ze_synchronized_timestamp_result_ext_t
typedef struct _ze_synchronized_timestamp_result_ext_t {
    ze_synchronized_timestamp_data_ext_t global;
    ze_synchronized_timestamp_data_ext_t context;
} ze_synchronized_timestamp_result_ext_t;
#endif

#ifdef URASYNC_DECLARE_ze_event_query_kernel_timestamps_results_ext_properties_t
typedef struct _ze_event_query_kernel_timestamps_results_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    ze_kernel_timestamp_result_t *pKernelTimestampsBuffer;
    ze_synchronized_timestamp_result_ext_t *pSynchronizedTimestampsBuffer;
} ze_event_query_kernel_timestamps_results_ext_properties_t;
#endif

#ifdef URASYNC_DECLARE_ze_group_size_t
typedef struct _ze_group_size_t {
    uint32_t groupSizeX;
    uint32_t groupSizeY;
    uint32_t groupSizeZ;
} ze_group_size_t;
#endif

#ifdef URASYNC_DECLARE_ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC
enum { ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC = 0x20036 };
#endif

#ifdef URASYNC_DECLARE_ze_command_list_append_launch_kernel_param_cooperative_desc_t
typedef struct _ze_command_list_append_launch_kernel_param_cooperative_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_bool_t isCooperative;
} ze_command_list_append_launch_kernel_param_cooperative_desc_t;
#endif

/* Vendor extension of the Intel driver; same layout and flags as ze_event_counter_based_desc_t. */

#ifdef URASYNC_DECLARE_zex_counter_based_event_desc_t
typedef struct _zex_counter_based_event_desc_t {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
    ze_event_scope_flags_t signalScope;
    ze_event_scope_flags_t waitScope;
} zex_counter_based_event_desc_t;
#endif

/* Entries. None of them is exported by the 1.8 loader: look them up at run time. */

#ifdef URASYNC_DECLARE_zeInitDrivers
ze_result_t ZE_APICALL zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                     ze_init_driver_type_desc_t *desc);
#endif

#ifdef URASYNC_DECLARE_zeDriverGetLastErrorDescription
ze_result_t ZE_APICALL zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver,
                                                       const char **ppString);
#endif

#ifdef URASYNC_DECLARE_zeDeviceGetRootDevice
ze_result_t ZE_APICALL zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                             ze_device_handle_t *phRootDevice);
#endif

#ifdef URASYNC_DECLARE_zeDeviceSynchronize
ze_result_t ZE_APICALL zeDeviceSynchronize(ze_device_handle_t hDevice);
#endif

#ifdef URASYNC_DECLARE_zeDeviceGetCounterBasedEventMaxValue
ze_result_t ZE_APICALL zeDeviceGetCounterBasedEventMaxValue(ze_device_handle_t hDevice,
                                                            uint64_t *maxValue);
#endif

#ifdef URASYNC_DECLARE_zeCommandQueueGetOrdinal
ze_result_t ZE_APICALL zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue,
                                                uint32_t *pOrdinal);
#endif

#ifdef URASYNC_DECLARE_zeCommandQueueGetIndex
ze_result_t ZE_APICALL zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t *pIndex);
#endif

#ifdef URASYNC_DECLARE_zeCommandQueueGetFlags
ze_result_t ZE_APICALL zeCommandQueueGetFlags(ze_command_queue_handle_t hCommandQueue,
                                              ze_command_queue_flags_t *pFlags);
#endif

#ifdef URASYNC_DECLARE_zeCommandQueueGetMode
ze_result_t ZE_APICALL zeCommandQueueGetMode(ze_command_queue_handle_t hCommandQueue,
                                             ze_command_queue_mode_t *pMode);
#endif

#ifdef URASYNC_DECLARE_zeCommandQueueGetPriority
ze_result_t ZE_APICALL zeCommandQueueGetPriority(ze_command_queue_handle_t hCommandQueue,
                                                 ze_command_queue_priority_t *pPriority);
#endif

#ifdef URASYNC_DECLARE_zeCommandListHostSynchronize
ze_result_t ZE_APICALL zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList,
                                                    uint64_t timeout);
#endif

#ifdef URASYNC_DECLARE_zeCommandListGetDeviceHandle
ze_result_t ZE_APICALL zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                                    ze_device_handle_t *phDevice);
#endif

#ifdef URASYNC_DECLARE_zeCommandListGetContextHandle
ze_result_t ZE_APICALL zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                                     ze_context_handle_t *phContext);
#endif

#ifdef URASYNC_DECLARE_zeCommandListGetOrdinal
ze_result_t ZE_APICALL zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList,
                                               uint32_t *pOrdinal);
#endif

#ifdef URASYNC_DECLARE_zeCommandListImmediateGetIndex
ze_result_t ZE_APICALL
zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex);
#endif

#ifdef URASYNC_DECLARE_zeCommandListIsImmediate
ze_result_t ZE_APICALL zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                                ze_bool_t *pIsImmediate);
#endif

#ifdef URASYNC_DECLARE_zeCommandListGetFlags
ze_result_t ZE_APICALL zeCommandListGetFlags(ze_command_list_handle_t hCommandList,
                                             ze_command_list_flags_t *pFlags);
#endif

#ifdef URASYNC_DECLARE_zeCommandListImmediateGetFlags
ze_result_t ZE_APICALL zeCommandListImmediateGetFlags(ze_command_list_handle_t hCommandList,
                                                      ze_command_queue_flags_t *pFlags);
#endif

#ifdef URASYNC_DECLARE_zeCommandListImmediateGetMode
ze_result_t ZE_APICALL zeCommandListImmediateGetMode(ze_command_list_handle_t hCommandList,
                                                     ze_command_queue_mode_t *pMode);
#endif

#ifdef URASYNC_DECLARE_zeCommandListImmediateGetPriority
ze_result_t ZE_APICALL zeCommandListImmediateGetPriority(ze_command_list_handle_t hCommandList,
                                                         ze_command_queue_priority_t *pPriority);
#endif

#ifdef URASYNC_DECLARE_zeCommandListIsGraphCaptureEnabledExt
ze_result_t ZE_APICALL zeCommandListIsGraphCaptureEnabledExt(ze_command_list_handle_t hCommandList);
#endif

#ifdef URASYNC_DECLARE_zeCommandListImmediateAppendCommandListsExp
ze_result_t ZE_APICALL zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents);
#endif

#ifdef URASYNC_DECLARE_zeEventPoolGetContextHandle
ze_result_t ZE_APICALL zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                   ze_context_handle_t *phContext);
#endif

#ifdef URASYNC_DECLARE_zeEventPoolGetFlags
ze_result_t ZE_APICALL zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                           ze_event_pool_flags_t *pFlags);
#endif

#ifdef URASYNC_DECLARE_zeEventCounterBasedCreate
ze_result_t ZE_APICALL zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice,
                                                 const ze_event_counter_based_desc_t *desc,
                                                 ze_event_handle_t *phEvent);
#endif

#ifdef URASYNC_DECLARE_zeEventGetCounterBasedFlags
ze_result_t ZE_APICALL zeEventGetCounterBasedFlags(ze_event_handle_t hEvent,
                                                   ze_event_counter_based_flags_t *pFlags);
#endif

#ifdef URASYNC_DECLARE_zeEventGetEventPool
ze_result_t ZE_APICALL zeEventGetEventPool(ze_event_handle_t hEvent,
                                           ze_event_pool_handle_t *phEventPool);
#endif

#ifdef URASYNC_DECLARE_zeEventGetSignalScope
ze_result_t ZE_APICALL zeEventGetSignalScope(ze_event_handle_t hEvent,
                                             ze_event_scope_flags_t *pSignalScope);
#endif

#ifdef URASYNC_DECLARE_zeEventGetWaitScope
ze_result_t ZE_APICALL zeEventGetWaitScope(ze_event_handle_t hEvent,
                                           ze_event_scope_flags_t *pWaitScope);
#endif

#ifdef URASYNC_DECLARE_zeEventQueryKernelTimestampsExt
ze_result_t ZE_APICALL zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults);
#endif

#ifdef URASYNC_DECLARE_zexCounterBasedEventCreate2
ze_result_t ZE_APICALL zexCounterBasedEventCreate2(ze_context_handle_t hContext,
                                                   ze_device_handle_t hDevice,
                                                   const zex_counter_based_event_desc_t *desc,
                                                   ze_event_handle_t *phEvent);
#endif

#ifdef URASYNC_DECLARE_zeCommandListAppendLaunchKernelWithArguments
ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t groupCounts, const ze_group_size_t groupSizes, void **pArguments,
    const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents);
#endif

#ifdef URASYNC_DECLARE_zeDriverGetDefaultContext
ze_context_handle_t ZE_APICALL zeDriverGetDefaultContext(ze_driver_handle_t hDriver);
#endif

#if defined(__cplusplus)
}
#endif

#endif

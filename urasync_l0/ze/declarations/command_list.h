// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

enum {
    ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY,
    ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
    ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT,
    ...
};

typedef enum {
    ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    ...
} ze_command_queue_mode_t;

typedef enum {
    ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
    ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW,
    ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH,
    ...
} ze_command_queue_priority_t;

typedef enum {
    ZE_MEMORY_ADVICE_SET_READ_MOSTLY,
    ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY,
    ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION,
    ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION,
    ZE_MEMORY_ADVICE_SET_NON_ATOMIC_MOSTLY,
    ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY,
    ZE_MEMORY_ADVICE_BIAS_CACHED,
    ZE_MEMORY_ADVICE_BIAS_UNCACHED,
    ...
} ze_memory_advice_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t ordinal;
    uint32_t index;
    uint32_t flags;
    ze_command_queue_mode_t mode;
    ze_command_queue_priority_t priority;
    ...;
} ze_command_queue_desc_t;

typedef struct {
    uint32_t originX;
    uint32_t originY;
    uint32_t originZ;
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    ...;
} ze_copy_region_t;

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t *altdesc,
                                         ze_command_list_handle_t *phCommandList);
ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList);
ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                     ze_bool_t *pIsImmediate);
ze_result_t zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t *phDevice);
ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList, uint64_t timeout);

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                           ze_event_handle_t hEvent);
ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                            uint32_t numEvents, ze_event_handle_t *phEvents);
ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                          ze_event_handle_t hEvent);
ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                       ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                       ze_event_handle_t *phWaitEvents);
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList, void *dstptr,
                                          const void *srcptr, size_t size,
                                          ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents);
ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList, void *ptr,
                                          const void *pattern, size_t pattern_size, size_t size,
                                          ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents);
ze_result_t zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void *dstptr, const ze_copy_region_t *dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void *srcptr,
    const ze_copy_region_t *srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents);
ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                              const void *ptr, size_t size);
ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                         ze_device_handle_t hDevice, const void *ptr, size_t size,
                                         ze_memory_advice_t advice);
ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t hCommandList,
                                                    uint64_t *dstptr,
                                                    ze_event_handle_t hSignalEvent,
                                                    uint32_t numWaitEvents,
                                                    ze_event_handle_t *phWaitEvents);

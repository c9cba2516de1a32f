// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

enum {
    ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
    ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
    ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE,
    ZE_EVENT_SCOPE_FLAG_DEVICE,
    ZE_EVENT_SCOPE_FLAG_HOST,
    ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE,
    ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE,
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP,
    ...
};

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    uint32_t count;
    ...;
} ze_event_pool_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    ...;
} ze_event_pool_counter_based_exp_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t index;
    uint32_t signal;
    uint32_t wait;
    ...;
} ze_event_desc_t;

typedef struct {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
    uint32_t signal;
    uint32_t wait;
    ...;
} ze_event_counter_based_desc_t;

typedef struct {
    uint64_t kernelStart;
    uint64_t kernelEnd;
    ...;
} ze_kernel_timestamp_data_t;

typedef struct {
    ze_kernel_timestamp_data_t global;
    ze_kernel_timestamp_data_t context;
    ...;
} ze_kernel_timestamp_result_t;

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext, const ze_event_pool_desc_t *desc,
                              uint32_t numDevices, ze_device_handle_t *phDevices,
                              ze_event_pool_handle_t *phEventPool);
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool);
ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc,
                          ze_event_handle_t *phEvent);
ze_result_t zeEventCounterBasedCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_event_counter_based_desc_t *desc,
                                      ze_event_handle_t *phEvent);
ze_result_t zeEventDestroy(ze_event_handle_t hEvent);
ze_result_t zeEventHostSignal(ze_event_handle_t hEvent);
ze_result_t zeEventHostReset(ze_event_handle_t hEvent);
ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent);
ze_result_t zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout);
ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                        ze_kernel_timestamp_result_t *dstptr);

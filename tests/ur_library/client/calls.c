/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every entry once, with what it must give. */
#include "client.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { SIZE = 4096 };

void tables(void) {
    typedef ur_result_t (*get_table_t)(ur_api_version_t, void *);
    extern void *dlsym(void *, const char *);
    get_table_t get = (get_table_t)dlsym(libraries[0], "urGetQueueProcAddrTable");
    void *guarded[9];
    for (int i = 0; i < 9; i++)
        guarded[i] = guarded;
    GIVES(UR_RESULT_ERROR_UNSUPPORTED_VERSION, get(UR_API_VERSION - 1, guarded));
    GIVES(UR_RESULT_ERROR_UNSUPPORTED_VERSION, get(UR_API_VERSION + 1, guarded));
    GIVES(UR_RESULT_ERROR_UNSUPPORTED_VERSION, get(UR_API_VERSION + 0x10000, guarded));
    CHECK(guarded[0] == guarded);
    GIVES(INVALID_NULL_POINTER, get(UR_API_VERSION, NULL));
    OK(get(UR_API_VERSION, guarded));
    CHECK(guarded[7] != guarded && guarded[8] == guarded); /* eight functions, and no more */
    void **all = table_of(libraries[0]);
    for (size_t i = 0; i < table_size(); i++)
        CHECK(all[i] != NULL);
    free(all);
    /* What is not offered says so, whatever it is called with. */
    ur_result_t (*sampler)(void *, void *, void *) =
        (ur_result_t (*)(void *, void *, void *))function("urSamplerCreate");
    GIVES(UR_RESULT_ERROR_UNSUPPORTED_FEATURE, sampler(NULL, NULL, NULL));
}

void information(void) {
    struct bench bench = begin();
    uint32_t number = 0, count = 0;
    size_t size = 0;
    void *handle = NULL;
    char text[256];
    ur_api_version_t version = 0;
    const char *option = NULL;
    uint64_t device_time = 0, host_time = 0;

    OK(UR(urAdapterRetain)(bench.adapter));
    OK(UR(urAdapterRelease)(bench.adapter));
    OK(UR(urAdapterGetInfo)(bench.adapter, ADAPTER_INFO_VERSION, sizeof(number), &number, &size));
    CHECK(size == sizeof(number) && (number == 1 || number == 2));

    OK(UR(urPlatformGetInfo)(bench.platform, PLATFORM_INFO_NAME, 0, NULL, &size));
    CHECK(size > 1 && size <= sizeof(text));
    OK(UR(urPlatformGetInfo)(bench.platform, PLATFORM_INFO_NAME, sizeof(text), text, NULL));
    CHECK(strlen(text) + 1 == size);
    OK(UR(urPlatformGetInfo)(bench.platform, PLATFORM_INFO_ADAPTER, sizeof(handle), &handle, NULL));
    CHECK(handle == bench.adapter);
    OK(UR(urPlatformGetApiVersion)(bench.platform, &version));
    CHECK(version == UR_API_VERSION);
    OK(UR(urPlatformGetBackendOption)(bench.platform, "-O0", &option));
    const char *again = NULL;
    for (int i = 0; i < 100; i++)
        OK(UR(urPlatformGetBackendOption)(bench.platform, i % 2 ? "-O1" : "-O2", &again));
    CHECK(strcmp(option, "-ze-opt-disable") == 0); /* texts last */

    OK(UR(urDeviceRetain)(bench.device));
    OK(UR(urDeviceRelease)(bench.device));
    OK(UR(urDeviceGetInfo)(bench.device, DEVICE_INFO_NAME, sizeof(text), text, &size));
    CHECK(size == strlen(text) + 1);
    OK(UR(urDeviceGetInfo)(bench.device, DEVICE_INFO_PLATFORM, sizeof(handle), &handle, NULL));
    CHECK(handle == bench.platform);
    OK(UR(urDeviceGetGlobalTimestamps)(bench.device, &device_time, &host_time));
    CHECK_DONE(host_time != 0);
    const ur_device_partition_property_t by_slice = {0x1089, 0};
    const ur_device_partition_properties_t way = {STYPE_DEVICE_PARTITION_PROPERTIES, NULL,
                                                  &by_slice, 1};
    (void)UR(urDevicePartition)(bench.device, &way, 0, NULL, &count);

    OK(UR(urContextRetain)(bench.context));
    OK(UR(urContextGetInfo)(bench.context, CONTEXT_INFO_REFERENCE_COUNT, sizeof(number), &number,
                            NULL));
    CHECK(number == 2);
    OK(UR(urContextRelease)(bench.context));
    OK(UR(urContextGetInfo)(bench.context, CONTEXT_INFO_DEVICES, sizeof(handle), &handle, &size));
    CHECK(handle == bench.device && size == sizeof(handle));

    const ur_queue_index_properties_t far = {STYPE_QUEUE_INDEX_PROPERTIES, NULL, 1000};
    const ur_queue_properties_t indexed = {STYPE_QUEUE_PROPERTIES, &far, 0};
    ur_queue_handle_t none = NULL;
    GIVES(INVALID_VALUE, UR(urQueueCreate)(bench.context, bench.device, &indexed, &none));
    OK(UR(urQueueRetain)(bench.queue));
    OK(UR(urQueueRelease)(bench.queue));
    OK(UR(urQueueGetInfo)(bench.queue, QUEUE_INFO_CONTEXT, sizeof(handle), &handle, NULL));
    CHECK(handle == bench.context);
    OK(UR(urQueueGetInfo)(bench.queue, QUEUE_INFO_DEVICE, sizeof(handle), &handle, NULL));
    CHECK(handle == bench.device);
    OK(UR(urQueueFlush)(bench.queue));
    OK(UR(urQueueFinish)(bench.queue));
    bool captures = true;
    OK(UR(urQueueIsGraphCaptureEnabledExp)(bench.queue, &captures));
    CHECK(!captures);
    ur_bool_t is_empty = 0;
    OK(UR(urQueueGetInfo)(bench.queue, QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
    CHECK_DONE(is_empty == 1);
    end(&bench);
}

void native_handles(void) {
    struct bench bench = begin();
    ur_native_handle_t native = 0;
    void *again = NULL;
    const ur_platform_native_properties_t kept = {STYPE_PLATFORM_NATIVE_PROPERTIES, NULL, false};
    OK(UR(urPlatformGetNativeHandle)(bench.platform, &native));
    OK(UR(urPlatformCreateWithNativeHandle)(native, bench.adapter, &kept,
                                            (ur_platform_handle_t *)&again));
    CHECK(again == bench.platform);
    OK(UR(urDeviceGetNativeHandle)(bench.device, &native));
    OK(UR(urDeviceCreateWithNativeHandle)(native, bench.adapter, NULL,
                                          (ur_device_handle_t *)&again));
    CHECK(again == bench.device);
    OK(UR(urDeviceRelease)(bench.device));

    ur_context_handle_t context = NULL;
    OK(UR(urContextGetNativeHandle)(bench.context, &native));
    OK(UR(urContextCreateWithNativeHandle)(native, bench.adapter, 1, &bench.device, &kept,
                                           &context));
    ur_queue_native_desc_t immediate = {STYPE_QUEUE_NATIVE_DESC, NULL, &immediate};
    const ur_queue_native_properties_t chained = {STYPE_QUEUE_NATIVE_PROPERTIES, &immediate, false};
    ur_queue_handle_t queue = NULL;
    OK(UR(urQueueGetNativeHandle)(bench.queue, &immediate, &native));
    OK(UR(urQueueCreateWithNativeHandle)(native, context, bench.device, &chained, &queue));
    OK(UR(urQueueFinish)(queue));
    ur_event_handle_t event = NULL, event_again = NULL;
    OK(UR(urEnqueueEventsWaitWithBarrier)(queue, 0, NULL, &event));
    OK(UR(urEventGetNativeHandle)(event, &native));
    OK(UR(urEventCreateWithNativeHandle)(native, context, &kept, &event_again));
    OK(UR(urEventWait)(1, &event_again));
    OK(UR(urEventRelease)(event_again));
    OK(UR(urEventRelease)(event));
    OK(UR(urQueueRelease)(queue));
    OK(UR(urContextRelease)(context));
    end(&bench);
}

static void info(ur_context_handle_t context, const void *mem, uint32_t name, size_t size,
                 void *value) {
    size_t needed = 0;
    OK(UR(urUSMGetMemAllocInfo)(context, mem, name, size, value, &needed));
    CHECK(needed == size);
}

static void check_kind(struct bench *bench, void *mem, uint32_t kind) {
    uint32_t type = 99;
    size_t size = 0;
    void *base = NULL, *device = NULL, *pool = NULL;
    info(bench->context, mem, USM_ALLOC_INFO_TYPE, sizeof(type), &type);
    info(bench->context, mem, USM_ALLOC_INFO_SIZE, sizeof(size), &size);
    info(bench->context, mem, USM_ALLOC_INFO_BASE_PTR, sizeof(base), &base);
    info(bench->context, mem, USM_ALLOC_INFO_DEVICE, sizeof(device), &device);
    info(bench->context, mem, USM_ALLOC_INFO_POOL, sizeof(pool), &pool);
    CHECK(type == kind && size == SIZE && base == mem && pool != NULL);
    CHECK(device == (kind == USM_TYPE_HOST ? NULL : bench->device));
}

/* Fill and copy memory and look at what the copy holds. */
static void use(struct bench *bench, void *mem) {
    unsigned char seen[SIZE];
    const uint32_t pattern = 0x01020304;
    OK(UR(urEnqueueUSMFill)(bench->queue, mem, sizeof(pattern), &pattern, SIZE, 0, NULL, NULL));
    OK(UR(urEnqueueUSMMemcpy)(bench->queue, true, seen, mem, SIZE, 0, NULL, NULL));
    for (size_t i = 0; i < SIZE; i++)
        CHECK_DONE(seen[i] == 4 - i % 4);
}

/* What any adapter does with memory in the order of a queue. */
static void in_order(struct bench *bench) {
    void *mem = NULL;
    OK(UR(urEnqueueUSMDeviceAllocExp)(bench->queue, NULL, SIZE, NULL, 0, NULL, &mem, NULL));
    use(bench, mem);
    OK(UR(urEnqueueUSMFreeExp)(bench->queue, NULL, mem, 0, NULL, NULL));
}

static void all_kinds(struct bench *bench) {
    void *mem[3] = {0};
    const uint32_t kinds[3] = {USM_TYPE_DEVICE, USM_TYPE_SHARED, USM_TYPE_HOST};
    OK(UR(urEnqueueUSMDeviceAllocExp)(bench->queue, NULL, SIZE, NULL, 0, NULL, &mem[0], NULL));
    OK(UR(urEnqueueUSMSharedAllocExp)(bench->queue, NULL, SIZE, NULL, 0, NULL, &mem[1], NULL));
    OK(UR(urEnqueueUSMHostAllocExp)(bench->queue, NULL, SIZE, NULL, 0, NULL, &mem[2], NULL));
    for (int i = 0; i < 3; i++) {
        check_kind(bench, mem[i], kinds[i]);
        use(bench, mem[i]);
        OK(UR(urEnqueueUSMFreeExp)(bench->queue, NULL, mem[i], 0, NULL, NULL));
    }
    const ur_usm_device_desc_t hints = {STYPE_USM_DEVICE_DESC, NULL, 0};
    const ur_usm_desc_t aligned = {STYPE_USM_DESC, &hints, 0, 1 << 16};
    void *before = NULL; /* so that alignment is no matter of chance */
    OK(UR(urUSMDeviceAlloc)(bench->context, bench->device, NULL, NULL, 1, &before));
    OK(UR(urUSMDeviceAlloc)(bench->context, bench->device, &aligned, NULL, SIZE, &mem[0]));
    CHECK((uintptr_t)mem[0] % (1 << 16) == 0);
    OK(UR(urUSMFree)(bench->context, before));
    OK(UR(urUSMSharedAlloc)(bench->context, bench->device, NULL, NULL, SIZE, &mem[1]));
    OK(UR(urUSMHostAlloc)(bench->context, NULL, NULL, SIZE, &mem[2]));
    for (int i = 0; i < 3; i++) {
        check_kind(bench, mem[i], kinds[i]);
        use(bench, mem[i]);
        OK(UR(urUSMFree)(bench->context, mem[i]));
    }
    uint32_t type = 99;
    info(bench->context, &type, USM_ALLOC_INFO_TYPE, sizeof(type), &type);
    CHECK(type == USM_TYPE_UNKNOWN);
}

void memory(void) {
    struct bench bench = begin();
    all_kinds(&bench);
    end(&bench);
}

/* As many adapters as the variable says, all in use at the same time, by one loader. */
void each_adapter(void) {
    enum { MOST = 4 };
    ur_adapter_handle_t adapters[MOST] = {0};
    struct bench benches[MOST];
    uint32_t count = 0;
    OK(UR(urAdapterGet)(0, NULL, &count));
    CHECK(count == (uint32_t)atoi(getenv("ADAPTERS")) && count <= MOST);
    OK(UR(urAdapterGet)(count, adapters, NULL));
    for (uint32_t i = 0; i < count; i++)
        benches[i] = begin_on(adapters[i]);
    for (uint32_t i = 0; i < 2 * count; i++)
        in_order(&benches[i % count]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t version = 0;
        OK(UR(urAdapterGetInfo)(adapters[i], ADAPTER_INFO_VERSION, sizeof(version), &version,
                                NULL));
        printf("version %u\n", version);
        end(&benches[i]);
    }
}

static size_t pool_number(ur_usm_pool_handle_t pool, uint32_t name) {
    size_t value = 0, size = 0, again = 1;
    OK(UR(urUSMPoolGetInfo)(pool, name, sizeof(value), &value, &size));
    CHECK(size == sizeof(value));
    OK(UR(urUSMPoolGetInfoExp)(pool, name, &again, &size));
    CHECK(again == value);
    return value;
}

void pools(void) {
    struct bench bench = begin();
    const ur_usm_pool_limits_desc_t limits = {STYPE_USM_POOL_LIMITS_DESC, NULL, 1 << 20, 1 << 21};
    ur_usm_pool_desc_t desc = {STYPE_USM_POOL_DESC, &limits, 0};
    ur_usm_pool_handle_t pool = NULL, own = NULL, inside = NULL, found = NULL;
    void *mem = NULL, *context = NULL;
    size_t number = (size_t)1 << 30;

    OK(UR(urUSMPoolCreate)(bench.context, &desc, &pool));
    OK(UR(urUSMPoolRetain)(pool));
    OK(UR(urUSMPoolRelease)(pool));
    OK(UR(urUSMPoolGetInfo)(pool, POOL_INFO_CONTEXT, sizeof(context), &context, NULL));
    CHECK(context == bench.context);
    OK(UR(urEnqueueUSMDeviceAllocExp)(bench.queue, pool, SIZE, NULL, 0, NULL, &mem, NULL));
    CHECK(pool_number(pool, POOL_INFO_USED_CURRENT) == SIZE);
    CHECK(pool_number(pool, POOL_INFO_RESERVED_CURRENT) >= SIZE);
    OK(UR(urEnqueueUSMFreeExp)(bench.queue, pool, mem, 0, NULL, NULL));
    CHECK(pool_number(pool, POOL_INFO_USED_CURRENT) == 0);
    OK(UR(urUSMPoolSetInfoExp)(pool, POOL_INFO_RELEASE_THRESHOLD, &number, sizeof(number)));
    CHECK(pool_number(pool, POOL_INFO_RELEASE_THRESHOLD) == number);
    GIVES(INVALID_SIZE, UR(urUSMPoolSetInfoExp)(pool, POOL_INFO_MAXIMUM_SIZE, &number, 4));
    OK(UR(urUSMPoolRelease)(pool));

    desc.pNext = NULL;
    OK(UR(urUSMPoolCreateExp)(bench.context, bench.device, &desc, &own));
    OK(UR(urUSMPoolSetDevicePoolExp)(bench.context, bench.device, own));
    OK(UR(urUSMPoolGetDevicePoolExp)(bench.context, bench.device, &found));
    CHECK(found == own);
    OK(UR(urUSMPoolGetDefaultDevicePoolExp)(bench.context, bench.device, &found));
    CHECK(found != own);
    OK(UR(urUSMPoolSetDevicePoolExp)(bench.context, bench.device, found));
    OK(UR(urQueueFinish)(bench.queue));
    OK(UR(urUSMPoolTrimToExp)(bench.context, bench.device, own, 0));
    CHECK(pool_number(own, POOL_INFO_RESERVED_CURRENT) == 0);
    OK(UR(urUSMPoolDestroyExp)(bench.context, bench.device, own));
    if (is_direct) {
        const char *message = NULL;
        int32_t error = 0;
        GIVES(INVALID_VALUE, UR(urUSMPoolRetain)(own));
        OK(UR(urAdapterGetLastError)(bench.adapter, &message, &error));
        CHECK(strstr(message, "handle of no pool") != NULL);
    }

    OK(UR(urUSMDeviceAlloc)(bench.context, bench.device, NULL, NULL, 1 << 20, &mem));
    const ur_usm_pool_buffer_desc_t buffer = {
        STYPE_USM_POOL_BUFFER_DESC, NULL, mem, 1 << 20, USM_TYPE_DEVICE, bench.device};
    desc.pNext = &buffer;
    OK(UR(urUSMPoolCreateExp)(bench.context, bench.device, &desc, &inside));
    void *part = NULL;
    OK(UR(urEnqueueUSMDeviceAllocExp)(bench.queue, inside, SIZE, NULL, 0, NULL, &part, NULL));
    CHECK((char *)part >= (char *)mem && (char *)part + SIZE <= (char *)mem + (1 << 20));
    OK(UR(urEnqueueUSMFreeExp)(bench.queue, inside, part, 0, NULL, NULL));
    OK(UR(urQueueFinish)(bench.queue));
    OK(UR(urUSMPoolDestroyExp)(bench.context, bench.device, inside));
    OK(UR(urUSMFree)(bench.context, mem));
    end(&bench);
}

void events(void) {
    struct bench bench = begin();
    const ur_queue_properties_t profiled = {STYPE_QUEUE_PROPERTIES, NULL, QUEUE_FLAG_PROFILING};
    ur_queue_handle_t queue = NULL;
    ur_event_handle_t event[6] = {0};
    void *mem = NULL, *handle = NULL;
    uint32_t number = 99;
    uint64_t start_time = 0, end_time = 0;
    const unsigned char pattern = 7;
    OK(UR(urQueueCreate)(bench.context, bench.device, &profiled, &queue));
    OK(UR(urEnqueueUSMDeviceAllocExp)(queue, NULL, SIZE, NULL, 0, NULL, &mem, &event[0]));
    OK(UR(urEnqueueUSMFill)(queue, mem, 1, &pattern, SIZE, 1, &event[0], &event[1]));
    OK(UR(urEnqueueEventsWait)(bench.queue, 1, &event[1], &event[2]));
    OK(UR(urEnqueueUSMFreeExp)(bench.queue, NULL, mem, 1, &event[2], &event[3]));
    const ur_exp_enqueue_ext_properties_t none = {STYPE_EXP_ENQUEUE_EXT_PROPERTIES, NULL, 0};
    OK(UR(urEnqueueEventsWaitWithBarrierExt)(queue, &none, 1, &event[3], &event[4]));
    OK(UR(urEnqueueTimestampRecordingExp)(queue, true, 1, &event[4], &event[5]));
    OK(UR(urEventWait)(6, event));
    OK(UR(urEventGetInfo)(event[1], EVENT_INFO_COMMAND_QUEUE, sizeof(handle), &handle, NULL));
    CHECK(handle == queue);
    OK(UR(urEventGetInfo)(event[1], EVENT_INFO_COMMAND_TYPE, sizeof(number), &number, NULL));
    CHECK(number == COMMAND_USM_FILL);
    OK(UR(urEventGetInfo)(event[1], EVENT_INFO_COMMAND_EXECUTION_STATUS, sizeof(number), &number,
                          NULL));
    CHECK_DONE(number == 0);
    if (executes()) {
        OK(UR(urEventGetProfilingInfo)(event[1], PROFILING_INFO_START, 8, &start_time, NULL));
        OK(UR(urEventGetProfilingInfo)(event[1], PROFILING_INFO_END, 8, &end_time, NULL));
        CHECK(start_time > 0 && end_time >= start_time);
    }
    OK(UR(urEventRetain)(event[1]));
    OK(UR(urEventRelease)(event[1]));
    for (int i = 0; i < 6; i++)
        OK(UR(urEventRelease)(event[i]));
    OK(UR(urQueueRelease)(queue));
    end(&bench);
}

static _Atomic int calls;
static void *expected_event;

static void on_complete(ur_event_handle_t event, ur_execution_info_t status, void *user_data) {
    if ((expected_event == NULL || event == expected_event) && status == 0 && user_data == &calls)
        atomic_fetch_add(&calls, 1);
}

static void on_release(void *user_data) {
    if (user_data == &calls)
        atomic_fetch_add(&calls, 100);
}

void callbacks(void) {
    struct bench bench = begin();
    ur_event_handle_t event = NULL;
    OK(UR(urContextSetExtendedDeleter)(bench.context, on_release, &calls));
    OK(UR(urEnqueueEventsWaitWithBarrier)(bench.queue, 0, NULL, &event));
    expected_event = is_direct ? event : NULL; /* a loader may have an event of its own */
    OK(UR(urEventSetCallback)(event, 0, on_complete, &calls));
    for (int i = 0; i < 5000 && atomic_load(&calls) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(atomic_load(&calls) == 1);
    OK(UR(urEventRelease)(event));
    end(&bench);
    CHECK(atomic_load(&calls) == 101);
}

/* Two devices; the second one's memory is copied by a queue of the first. */
void peers(void) {
    struct bench bench = begin();
    ur_device_handle_t devices[2] = {0};
    ur_context_handle_t context = NULL;
    ur_queue_handle_t queue = NULL;
    uint32_t count = 0, can = 0;
    size_t size = 0;
    void *mem = NULL;
    OK(UR(urDeviceGet)(bench.platform, DEVICE_TYPE_ALL, 2, devices, &count));
    CHECK(count == 2 && devices[0] == bench.device);
    OK(UR(urUsmP2PPeerAccessGetInfoExp)(devices[0], devices[1], PEER_ACCESS_SUPPORT, sizeof(can),
                                        &can, &size));
    CHECK(size == sizeof(can) && (can == 1 || !executes()));
    if (can == 0) {
        GIVES(INVALID_OPERATION, UR(urUsmP2PEnablePeerAccessExp)(devices[0], devices[1]));
        GIVES(INVALID_OPERATION, UR(urUsmP2PDisablePeerAccessExp)(devices[0], devices[1]));
        end(&bench);
        return;
    }
    OK(UR(urUsmP2PEnablePeerAccessExp)(devices[0], devices[1]));
    GIVES(INVALID_OPERATION, UR(urUsmP2PEnablePeerAccessExp)(devices[0], devices[1]));
    OK(UR(urContextCreate)(2, devices, NULL, &context));
    OK(UR(urQueueCreate)(context, devices[0], NULL, &queue));
    OK(UR(urUSMDeviceAlloc)(context, devices[1], NULL, NULL, SIZE, &mem));
    unsigned char seen[SIZE];
    const unsigned char pattern = 9;
    OK(UR(urEnqueueUSMFill)(queue, mem, 1, &pattern, SIZE, 0, NULL, NULL));
    OK(UR(urEnqueueUSMMemcpy)(queue, true, seen, mem, SIZE, 0, NULL, NULL));
    CHECK_DONE(seen[0] == 9 && seen[SIZE - 1] == 9);
    OK(UR(urUSMFree)(context, mem));
    OK(UR(urQueueRelease)(queue));
    OK(UR(urContextRelease)(context));
    OK(UR(urUsmP2PDisablePeerAccessExp)(devices[0], devices[1]));
    OK(UR(urDeviceRelease)(devices[0]));
    OK(UR(urDeviceRelease)(devices[1]));
    end(&bench);
}

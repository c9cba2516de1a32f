/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What wrong calls give. */
#include "client.h"

#include <string.h>

void wrong_arguments(void) {
    struct bench bench = begin();
    void *mem = NULL;
    ur_event_handle_t event = NULL, *no_events = &event;
    uint32_t number = 0;
    GIVES(INVALID_NULL_HANDLE, UR(urQueueFinish)(NULL));
    GIVES(INVALID_NULL_HANDLE,
          UR(urEnqueueUSMDeviceAllocExp)(NULL, NULL, 64, NULL, 0, NULL, &mem, NULL));
    GIVES(INVALID_NULL_POINTER,
          UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, 64, NULL, 0, NULL, NULL, NULL));
    GIVES(INVALID_USM_SIZE,
          UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, 0, NULL, 0, NULL, &mem, NULL));
    GIVES(INVALID_EVENT_WAIT_LIST,
          UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, 64, NULL, 1, NULL, &mem, NULL));
    GIVES(INVALID_EVENT_WAIT_LIST,
          UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, 64, NULL, 1, no_events, &mem, NULL));
    GIVES(INVALID_MEM_OBJECT, UR(urEnqueueUSMFreeExp)(bench.queue, NULL, &bench, 0, NULL, NULL));
    CHECK(mem == NULL && event == NULL);
    GIVES(UNSUPPORTED_ENUMERATION,
          UR(urQueueGetInfo)(bench.queue, QUEUE_INFO_REFERENCE_COUNT + 1, 4, &number, NULL));
    GIVES(INVALID_SIZE,
          UR(urQueueGetInfo)(bench.queue, QUEUE_INFO_REFERENCE_COUNT, 2, &number, NULL));
    CHECK(number == 0);
    const char *option = NULL;
    GIVES(INVALID_VALUE, UR(urPlatformGetBackendOption)(bench.platform, "-\xd8", &option));
    CHECK(option == NULL); /* that text was not UTF-8 */
    const ur_device_binary_t no_target = {0, NULL, NULL};
    GIVES(INVALID_NULL_POINTER, UR(urDeviceSelectBinary)(bench.device, &no_target, 1, &number));
    end(&bench);
}

void stale_handles(void) {
    struct bench bench = begin();
    ur_event_handle_t event = NULL;
    ur_queue_handle_t queue = bench.queue, invented = (ur_queue_handle_t)&bench;
    ur_usm_pool_handle_t pool = NULL;
    const char *message = NULL;
    int32_t error = 0;
    OK(UR(urUSMPoolGetDefaultDevicePoolExp)(bench.context, bench.device, &pool));
    OK(UR(urEnqueueEventsWait)(queue, 0, NULL, &event));
    OK(UR(urEventRelease)(event));
    GIVES(INVALID_EVENT, UR(urEventRelease)(event));
    GIVES(INVALID_EVENT, UR(urEventWait)(1, &event));
    GIVES(INVALID_EVENT_WAIT_LIST, UR(urEnqueueEventsWait)(queue, 1, &event, NULL));
    GIVES(INVALID_QUEUE, UR(urQueueFinish)(invented));
    GIVES(INVALID_QUEUE, UR(urQueueFinish)((ur_queue_handle_t)bench.context));
    /* An event may outlive its queue, of which it then has no handle. */
    ur_queue_handle_t released = NULL, asked = queue;
    OK(UR(urQueueCreate)(bench.context, bench.device, NULL, &released));
    OK(UR(urEnqueueEventsWait)(released, 0, NULL, &event));
    OK(UR(urQueueRelease)(released));
    OK(UR(urEventGetInfo)(event, EVENT_INFO_COMMAND_QUEUE, sizeof(asked), &asked, NULL));
    CHECK(asked == NULL);
    OK(UR(urEventRelease)(event));
    end(&bench);
    GIVES(INVALID_QUEUE, UR(urQueueFinish)(queue));
    GIVES(INVALID_QUEUE, UR(urQueueRelease)(queue));
    GIVES(5, UR(urContextRelease)(bench.context));
    /* A context's own pools end with it, handles and all. */
    GIVES(INVALID_VALUE, UR(urUSMPoolRetain)(pool));
    OK(UR(urAdapterGetLastError)(bench.adapter, &message, &error));
    CHECK(strstr(message, "handle of no pool") != NULL);
}

/* What a loader does that has several adapters: call through the first word of a handle. */
void table_in_handles(void) {
    struct bench bench = begin();
    ur_usm_pool_handle_t pool = NULL;
    ur_event_handle_t event = NULL;
    OK(UR(urUSMPoolGetDevicePoolExp)(bench.context, bench.device, &pool));
    OK(UR(urEnqueueEventsWait)(bench.queue, 0, NULL, &event));
    void *handles[] = {bench.adapter, bench.platform, bench.device, bench.context,
                       bench.queue,   pool,           event};
    void **all = table_of(libraries[0]);
    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
        CHECK(memcmp(*(void **)handles[i], all, table_size() * sizeof(void *)) == 0);
    ur_result_t (*finish)(void *) =
        (ur_result_t (*)(void *))(*(void ***)bench.queue)[table_index("urQueueFinish")];
    OK(finish(bench.queue));
    OK(UR(urEventRelease)(event));
    free(all);
    end(&bench);
}

void last_error(void) {
    struct bench bench = begin();
    const char *message = NULL;
    int32_t error = 99;
    void *mem = NULL;
    OK(UR(urAdapterGetLastError)(bench.adapter, &message, &error));
    CHECK(message[0] == '\0' && error == 0);
    GIVES(INVALID_USM_SIZE,
          UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, 0, NULL, 0, NULL, &mem, NULL));
    OK(UR(urAdapterGetLastError)(bench.adapter, &message, &error));
    CHECK(strstr(message, "0 bytes") != NULL && error == INVALID_USM_SIZE);
    end(&bench);
}

static int messages;

static void on_message(ur_logger_level_t level, const char *message, void *user_data) {
    if (level == 3 && strstr(message, "urQueueFinish") != NULL && user_data == &messages)
        messages++;
}

void logger(void) {
    struct bench bench = begin();
    ur_queue_handle_t invented = (ur_queue_handle_t)&bench;
    OK(UR(urAdapterSetLoggerCallback)(bench.adapter, on_message, &messages, 3));
    GIVES(INVALID_QUEUE, UR(urQueueFinish)(invented));
    CHECK(messages == 1);
    OK(UR(urAdapterSetLoggerCallbackLevel)(bench.adapter, 4));
    GIVES(INVALID_QUEUE, UR(urQueueFinish)(invented));
    CHECK(messages == 1);
    end(&bench);
}

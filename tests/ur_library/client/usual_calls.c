/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Allocations, frees and events of the usual kind, among such as look like them and are wrong or
 * need more.
 * Prints what each gave, so that the library can be compared with one whose pool core has no C:
 * then every call is done by a function in Python. What must not happen at all is checked here.
 */
#include "client.h"

#include <pthread.h>
#include <string.h>

enum { ROUNDS = 3, KINDS = 3, LIVE = 5, LARGE = 1 << 16 };

static struct bench bench;
static void *const untouched = &bench;

static const struct {
    const char *entry;
    uint32_t kind;
} kinds[KINDS] = {{"urEnqueueUSMDeviceAllocExp", USM_TYPE_DEVICE},
                  {"urEnqueueUSMSharedAllocExp", USM_TYPE_SHARED},
                  {"urEnqueueUSMHostAllocExp", USM_TYPE_HOST}};

/* Addresses differ from run to run, their distances do not. */
static char *first_of[KINDS];

static void *allocate(int kind, ur_queue_handle_t queue, ur_usm_pool_handle_t pool, size_t size) {
    void *mem = untouched;
    __typeof__(&urEnqueueUSMDeviceAllocExp) entry =
        (__typeof__(&urEnqueueUSMDeviceAllocExp))function(kinds[kind].entry);
    const ur_result_t code = entry(queue, pool, size, NULL, 0, NULL, &mem, NULL);
    if (code != UR_RESULT_SUCCESS) {
        CHECK(mem == untouched);
        printf("%s of %zu: %u\n", kinds[kind].entry, size, code);
        return NULL;
    }
    if (first_of[kind] == NULL)
        first_of[kind] = mem;
    return mem;
}

static void show(int kind, void *mem) {
    uint32_t type = 99;
    size_t size = 0;
    OK(UR(urUSMGetMemAllocInfo)(bench.context, mem, USM_ALLOC_INFO_TYPE, 4, &type, NULL));
    OK(UR(urUSMGetMemAllocInfo)(bench.context, mem, USM_ALLOC_INFO_SIZE, 8, &size, NULL));
    CHECK(type == kinds[kind].kind);
    printf("%s: %zu bytes at %td\n", kinds[kind].entry, size, (char *)mem - first_of[kind]);
}

static void release(ur_queue_handle_t queue, ur_usm_pool_handle_t pool, void *mem) {
    const ur_result_t code = UR(urEnqueueUSMFreeExp)(queue, pool, mem, 0, NULL, NULL);
    if (code != UR_RESULT_SUCCESS)
        printf("urEnqueueUSMFreeExp: %u\n", code);
}

static void show_pool(const char *name, ur_usm_pool_handle_t pool) {
    static const uint32_t numbers[] = {POOL_INFO_USED_CURRENT, POOL_INFO_USED_HIGH,
                                       POOL_INFO_RESERVED_CURRENT};
    printf("%s:", name);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        size_t value = 0;
        OK(UR(urUSMPoolGetInfo)(pool, numbers[i], sizeof(value), &value, NULL));
        printf(" %zu", value);
    }
    printf("\n");
}

static void use_every_kind(ur_usm_pool_handle_t pool) {
    static const size_t sizes[LIVE] = {1, 4096, 5000, 256, LARGE};
    void *mem[KINDS][LIVE];
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < LIVE; i++) {
            mem[kind][i] = allocate(kind, bench.queue, NULL, sizes[i]);
            CHECK(mem[kind][i] != NULL);
            show(kind, mem[kind][i]);
        }
    show_pool("in use", pool);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < LIVE; i += 2)
            release(bench.queue, NULL, mem[kind][i]);
    show_pool("partly", pool);
    for (int kind = 0; kind < KINDS; kind++) {
        mem[kind][0] = allocate(kind, bench.queue, NULL, 3000);
        show(kind, mem[kind][0]);
        for (int i = 0; i < LIVE; i++)
            if (i <= 1 || i % 2 == 1)
                release(bench.queue, NULL, mem[kind][i]);
    }
    show_pool("free", pool);
}

static void refuse_sizes_and_handles(ur_queue_handle_t stale, ur_usm_pool_handle_t destroyed) {
    ur_usm_pool_handle_t own = NULL;
    OK(UR(urUSMPoolGetDefaultDevicePoolExp)(bench.context, bench.device, &own));
    const ur_queue_handle_t queues[] = {NULL, stale, (ur_queue_handle_t)bench.context,
                                        (ur_queue_handle_t)&bench, (ur_queue_handle_t)own};
    const ur_usm_pool_handle_t pools[] = {destroyed, (ur_usm_pool_handle_t)bench.queue,
                                          (ur_usm_pool_handle_t)&bench};
    const size_t sizes[] = {0, (size_t)1 << 62, SIZE_MAX};
    void *mem = allocate(0, bench.queue, NULL, 512);
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            CHECK(allocate(kind, bench.queue, NULL, sizes[i]) == NULL);
        for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
            CHECK(allocate(kind, queues[i], NULL, 512) == NULL);
        for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
            CHECK(allocate(kind, bench.queue, pools[i], 512) == NULL);
        GIVES(INVALID_NULL_POINTER,
              ((__typeof__(&urEnqueueUSMDeviceAllocExp))function(kinds[kind].entry))(
                  bench.queue, NULL, 512, NULL, 0, NULL, NULL, NULL));
    }
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
        release(queues[i], NULL, mem);
    release(bench.queue, NULL, NULL);
    release(bench.queue, NULL, (char *)mem + 8);
    release(bench.queue, NULL, &bench);
    release(bench.queue, destroyed, mem);
    release(bench.queue, NULL, mem);
    GIVES(INVALID_MEM_OBJECT, UR(urEnqueueUSMFreeExp)(bench.queue, NULL, mem, 0, NULL, NULL));
}

static void use_named_pools(ur_queue_handle_t other_queue) {
    const ur_usm_pool_desc_t plain = {STYPE_USM_POOL_DESC, NULL, 0};
    const ur_usm_pool_desc_t zeroing = {STYPE_USM_POOL_DESC, NULL, 1};
    ur_usm_pool_handle_t own = NULL, zeroed = NULL, found = NULL;
    unsigned char seen[512];
    const unsigned char pattern = 0xA5;
    size_t limit = 1 << 20;
    OK(UR(urUSMPoolCreateExp)(bench.context, bench.device, (ur_usm_pool_desc_t *)&plain, &own));
    OK(UR(urUSMPoolCreateExp)(bench.context, bench.device, (ur_usm_pool_desc_t *)&zeroing,
                              &zeroed));
    first_of[0] = NULL;
    for (int i = 0; i < 4; i++) {
        void *mem = allocate(0, bench.queue, own, 4096), *blank = NULL;
        show(0, mem);
        OK(UR(urUSMGetMemAllocInfo)(bench.context, mem, USM_ALLOC_INFO_POOL, 8, &found, NULL));
        CHECK(found == own);
        show_pool("own", own);
        CHECK(allocate(2, bench.queue, own, 4096) == NULL); /* a device's pool has no host memory */
        CHECK(allocate(0, other_queue, own, 4096) == NULL); /* of another context */
        release(other_queue, NULL, mem);
        release(bench.queue, zeroed, mem);
        release(bench.queue, i % 2 ? own : NULL, mem);
        blank = allocate(0, bench.queue, zeroed, sizeof(seen));
        OK(UR(urEnqueueUSMMemcpy)(bench.queue, true, seen, blank, sizeof(seen), 0, NULL, NULL));
        for (size_t j = 0; j < sizeof(seen); j++)
            CHECK(seen[j] == 0);
        OK(UR(urEnqueueUSMFill)(bench.queue, blank, 1, &pattern, sizeof(seen), 0, NULL, NULL));
        release(bench.queue, NULL, blank);
    }
    /* What serves who names no pool changes between two calls of the same kind. */
    OK(UR(urUSMPoolGetDevicePoolExp)(bench.context, bench.device, &found));
    OK(UR(urUSMPoolSetDevicePoolExp)(bench.context, bench.device, own));
    void *mem = allocate(0, bench.queue, NULL, 4096);
    show_pool("own, as the current one", own);
    OK(UR(urUSMPoolSetDevicePoolExp)(bench.context, bench.device, found));
    release(bench.queue, NULL, mem);
    OK(UR(urUSMPoolSetInfoExp)(own, POOL_INFO_MAXIMUM_SIZE, &limit, sizeof(limit)));
    CHECK(allocate(0, bench.queue, own, 4 << 20) == NULL);
    mem = allocate(0, bench.queue, own, 4096);
    OK(UR(urUSMPoolDestroyExp)(bench.context, bench.device, own));
    CHECK(allocate(0, bench.queue, own, 4096) == NULL);
    release(bench.queue, own, mem);
    release(bench.queue, NULL, mem);
    OK(UR(urUSMPoolDestroyExp)(bench.context, bench.device, zeroed));
}

/* Memory goes from queue to queue, and each finds again what it freed itself. */
static void use_two_queues(void) {
    ur_queue_handle_t second = NULL;
    OK(UR(urQueueCreate)(bench.context, bench.device, NULL, &second));
    OK(UR(urQueueFinish)(bench.queue));
    first_of[0] = NULL;
    for (int i = 0; i < 4; i++) {
        void *here = allocate(0, bench.queue, NULL, 4096);
        void *there = allocate(0, second, NULL, 4096);
        CHECK(here != there);
        release(second, NULL, here);
        void *again = allocate(0, second, NULL, 4096);
        CHECK(again == here);
        release(bench.queue, NULL, there);
        release(second, NULL, again);
        OK(UR(urQueueFinish)(second));
        OK(UR(urQueueFinish)(bench.queue));
    }
    OK(UR(urQueueRelease)(second));
    CHECK(allocate(0, second, NULL, 4096) == NULL);
}

static void show_event(const char *name, ur_event_handle_t event) {
    uint32_t command = 99, status = 99, count = 0;
    ur_queue_handle_t queue = NULL;
    ur_context_handle_t context = NULL;
    OK(UR(urEventGetInfo)(event, EVENT_INFO_COMMAND_QUEUE, sizeof(queue), &queue, NULL));
    OK(UR(urEventGetInfo)(event, EVENT_INFO_CONTEXT, sizeof(context), &context, NULL));
    OK(UR(urEventGetInfo)(event, EVENT_INFO_COMMAND_TYPE, 4, &command, NULL));
    OK(UR(urEventGetInfo)(event, EVENT_INFO_REFERENCE_COUNT, 4, &count, NULL));
    OK(UR(urEventWait)(1, &event));
    OK(UR(urEventGetInfo)(event, EVENT_INFO_COMMAND_EXECUTION_STATUS, 4, &status, NULL));
    printf("%s: command %u, count %u, status %u, here %d%d\n", name, command, count, status,
           queue == bench.queue, context == bench.context);
}

static void show_code(const char *name, ur_result_t code) { printf("%s: %u\n", name, code); }

static void release_event(ur_event_handle_t event) {
    show_code("urEventRelease", UR(urEventRelease)(event));
}

/* Events of every call, with wait lists of what the queue is behind anyway, and of what it is not.
 */
static void use_events(void) {
    static const unsigned char pattern = 0x5A;
    ur_queue_handle_t second = NULL;
    ur_event_handle_t event[8] = {NULL}, none = NULL;
    void *mem[KINDS] = {NULL};
    unsigned char seen = 0;
    OK(UR(urQueueCreate)(bench.context, bench.device, NULL, &second));
    for (int kind = 0; kind < KINDS; kind++) {
        __typeof__(&urEnqueueUSMDeviceAllocExp) entry =
            (__typeof__(&urEnqueueUSMDeviceAllocExp))function(kinds[kind].entry);
        OK(entry(bench.queue, NULL, 4096, NULL, 0, NULL, &mem[kind], &event[kind]));
        show_event(kinds[kind].entry, event[kind]);
    }
    OK(UR(urEnqueueUSMFill)(bench.queue, mem[0], 1, &pattern, 64, 0, NULL, NULL));
    OK(UR(urEnqueueEventsWait)(bench.queue, 0, NULL, &event[3]));
    OK(UR(urEnqueueEventsWaitWithBarrier)(bench.queue, 2, event, &event[4]));
    OK(UR(urEnqueueUSMFreeExp)(bench.queue, NULL, mem[1], 1, &event[3], &event[5]));
    for (int i = 3; i < 6; i++)
        show_event("own", event[i]);
    OK(UR(urEnqueueEventsWait)(bench.queue, 1, &event[4], NULL));
    OK(UR(urEnqueueEventsWaitWithBarrier)(second, 1, &event[4], NULL));
    OK(UR(urEnqueueEventsWaitWithBarrier)(second, 1, &event[3], NULL)); /* behind it by now */
    OK(UR(urEnqueueUSMMemcpy)(second, true, &seen, mem[0], 1, 0, NULL, NULL));
    CHECK(seen == pattern);
    OK(UR(urEnqueueUSMFreeExp)(second, NULL, mem[0], 3, &event[3], &event[6]));
    OK(UR(urEnqueueUSMFreeExp)(second, NULL, mem[2], 0, NULL, NULL));
    show_event("of the second queue", event[6]);

    GIVES(INVALID_EVENT_WAIT_LIST, UR(urEnqueueEventsWait)(bench.queue, 0, event, &event[7]));
    GIVES(INVALID_EVENT_WAIT_LIST, UR(urEnqueueEventsWait)(bench.queue, 1, NULL, &event[7]));
    GIVES(INVALID_EVENT_WAIT_LIST, UR(urEnqueueEventsWait)(bench.queue, 1, &none, &event[7]));
    GIVES(INVALID_MEM_OBJECT,
          UR(urEnqueueUSMFreeExp)(bench.queue, NULL, mem[1], 1, &event[3], &event[7]));
    CHECK(event[7] == NULL);

    OK(UR(urEventRetain)(event[0]));
    show_event("retained", event[0]);
    release_event(event[0]);
    for (int i = 0; i < 7; i++)
        release_event(event[i]);
    for (int i = 0; i < 7; i++) {
        release_event(event[i]);
        show_code("wait", UR(urEventWait)(1, &event[i]));
        show_code("list", UR(urEnqueueEventsWaitWithBarrier)(bench.queue, 1, &event[i], &event[7]));
    }
    release_event(NULL);
    release_event((ur_event_handle_t)bench.queue);
    CHECK(event[7] == NULL);
    OK(UR(urQueueRelease)(second));
}

/* The last event of a context, and the event of another one. */
static void end_with_an_event(ur_queue_handle_t other_queue) {
    ur_context_handle_t context = NULL;
    ur_queue_handle_t queue = NULL;
    ur_event_handle_t event = NULL, foreign = NULL;
    OK(UR(urContextCreate)(1, &bench.device, NULL, &context));
    OK(UR(urQueueCreate)(context, bench.device, NULL, &queue));
    OK(UR(urEnqueueEventsWait)(queue, 0, NULL, &event));
    OK(UR(urEnqueueEventsWait)(other_queue, 0, NULL, &foreign));
    OK(UR(urEventWait)(1, &foreign)); /* complete, and yet not of this context */
    show_code("foreign", UR(urEnqueueEventsWait)(queue, 1, &foreign, NULL));
    OK(UR(urQueueFinish)(queue));
    OK(UR(urQueueRelease)(queue));
    show_code("last of the context", UR(urContextRelease)(context));
    release_event(foreign);
    release_event(event);
    show_code("the context", UR(urContextRetain)(context));
}

static void *in_a_thread(void *pool) {
    use_every_kind(pool);
    return NULL;
}

void usual_calls(void) {
    ur_usm_pool_handle_t pool = NULL, destroyed = NULL;
    ur_queue_handle_t stale = NULL, other_queue = NULL;
    ur_context_handle_t other = NULL;
    ur_usm_pool_desc_t plain = {STYPE_USM_POOL_DESC, NULL, 0};
    size_t everything = SIZE_MAX;
    pthread_t thread;
    bench = begin();
    OK(UR(urUSMPoolGetDefaultDevicePoolExp)(bench.context, bench.device, &pool));
    OK(UR(urUSMPoolSetInfoExp)(pool, POOL_INFO_RELEASE_THRESHOLD, &everything, 8));
    OK(UR(urContextCreate)(1, &bench.device, NULL, &other));
    OK(UR(urQueueCreate)(other, bench.device, NULL, &other_queue));
    OK(UR(urQueueCreate)(bench.context, bench.device, NULL, &stale));
    OK(UR(urQueueRelease)(stale));
    OK(UR(urUSMPoolCreateExp)(bench.context, bench.device, &plain, &destroyed));
    OK(UR(urUSMPoolDestroyExp)(bench.context, bench.device, destroyed));
    for (int round = 0; round < ROUNDS; round++) {
        use_every_kind(pool);
        refuse_sizes_and_handles(stale, destroyed);
        use_named_pools(other_queue);
        use_two_queues();
        use_events();
        end_with_an_event(other_queue);
        CHECK(pthread_create(&thread, NULL, in_a_thread, pool) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        OK(UR(urQueueFinish)(bench.queue));
        show_pool("finished", pool);
    }
    OK(UR(urQueueRelease)(other_queue));
    OK(UR(urContextRelease)(other));
    end(&bench);
}

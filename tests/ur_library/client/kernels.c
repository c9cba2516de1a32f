/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels on memory that is allocated and freed in queue order: what Unified Runtime's own tests do
 * with kernels, with the data looked at. The program is that of tests/helpers/spirv.py.
 */
#include "client.h"

#include <pthread.h>

enum {
    ITEMS = 16,
    BYTES = 4 * ITEMS,
    QUEUES = 8,
    ROUNDS = 64,
    QUEUE_FLAG_BATCHED = 1 << 7,
    QUEUE_FLAG_IMMEDIATE = 1 << 8,
};

static const char *const kinds[] = {
    "urEnqueueUSMDeviceAllocExp",
    "urEnqueueUSMSharedAllocExp",
    "urEnqueueUSMHostAllocExp",
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct bench bench;
static ur_program_handle_t program;

static void *allocate(size_t kind, ur_queue_handle_t queue, uint32_t waits,
                      const ur_event_handle_t *wait, ur_event_handle_t *event) {
    __typeof__(&urEnqueueUSMDeviceAllocExp) call = function(kinds[kind]);
    void *mem = NULL;
    OK(call(queue, NULL, BYTES, NULL, waits, wait, &mem, event));
    CHECK(mem != NULL);
    return mem;
}

static void launch_fill(ur_queue_handle_t queue, ur_kernel_handle_t kernel, void *mem,
                        uint32_t value) {
    const ur_exp_kernel_arg_properties_t arguments[2] = {
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 1, 0, sizeof(mem), {mem, 0}},
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 0, 1, sizeof(value), {&value, 0}},
    };
    const size_t items = ITEMS, group = 1;
    OK(UR(urEnqueueKernelLaunchWithArgsExp)(queue, kernel, 1, NULL, &items, &group, 2, arguments,
                                            NULL, 0, NULL, NULL));
}

static void launch_add(ur_queue_handle_t queue, ur_kernel_handle_t kernel, void *to, void *from,
                       uint32_t value, uint32_t waits, const ur_event_handle_t *wait,
                       ur_event_handle_t *event) {
    const ur_exp_kernel_arg_properties_t arguments[3] = {
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 1, 0, sizeof(to), {to, 0}},
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 1, 1, sizeof(from), {from, 0}},
        {STYPE_EXP_KERNEL_ARG_PROPERTIES, NULL, 0, 2, sizeof(value), {&value, 0}},
    };
    const size_t items = ITEMS, group = ITEMS;
    OK(UR(urEnqueueKernelLaunchWithArgsExp)(queue, kernel, 1, NULL, &items, &group, 3, arguments,
                                            NULL, waits, wait, event));
}

static void copy(ur_queue_handle_t queue, uint32_t *to, const void *from) {
    OK(UR(urEnqueueUSMMemcpy)(queue, false, to, from, BYTES, 0, NULL, NULL));
}

static void check(const uint32_t *found, uint32_t expected) {
    for (size_t i = 0; i < ITEMS; i++) {
        if (found[i] != expected) {
            fprintf(stderr, "number %zu is %u instead of %u\n", i, found[i], expected);
            exit(1);
        }
    }
}

static void free_in_order(ur_queue_handle_t queue, void *mem, ur_event_handle_t *event) {
    OK(UR(urEnqueueUSMFreeExp)(queue, NULL, mem, 0, NULL, event));
}

/* Once, and again in memory that was freed, with one wait of the host at the end. */
static void one_queue(size_t kind, uint32_t flags, uint32_t *seen) {
    const ur_queue_properties_t properties = {STYPE_QUEUE_PROPERTIES, NULL, flags};
    ur_queue_handle_t queue = NULL;
    ur_kernel_handle_t kernel = NULL;
    ur_event_handle_t freed = NULL;
    OK(UR(urQueueCreate)(bench.context, bench.device, &properties, &queue));
    OK(UR(urKernelCreate)(program, "fill", &kernel));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        void *mem = allocate(kind, queue, 0, NULL, NULL);
        launch_fill(queue, kernel, mem, 1000 * (uint32_t)kind + round);
        copy(queue, &seen[round * ITEMS], mem);
        free_in_order(queue, mem, round == 0 ? &freed : NULL);
    }
    OK(UR(urQueueFinish)(queue));
    OK(UR(urEventRelease)(freed));
    for (uint32_t round = 0; round < ROUNDS; round++)
        check(&seen[round * ITEMS], 1000 * (uint32_t)kind + round);
    OK(UR(urKernelRelease)(kernel));
    OK(UR(urQueueRelease)(queue));
}

/* Each step on the next queue: an allocation behind the free before, a kernel that reads what the
 * kernel before wrote, and the free of that. */
static void across_queues(size_t kind, ur_queue_handle_t *queues, uint32_t *seen) {
    ur_kernel_handle_t fill = NULL, add = NULL;
    ur_event_handle_t events[ROUNDS], written = NULL, freed = NULL;
    OK(UR(urKernelCreate)(program, "fill", &fill));
    OK(UR(urKernelCreate)(program, "add", &add));
    void *from = allocate(kind, queues[0], 0, NULL, NULL);
    launch_fill(queues[0], fill, from, 7);
    OK(UR(urEnqueueEventsWait)(queues[0], 0, NULL, &written));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        ur_queue_handle_t queue = queues[(round + 1) % QUEUES];
        const ur_event_handle_t waits[] = {written, freed};
        void *to = allocate(kind, queue, freed != NULL ? 2 : 1, waits, NULL);
        events[round] = written;
        launch_add(queue, add, to, from, 1, 1, &events[round], &written);
        copy(queue, &seen[round * ITEMS], to);
        if (freed != NULL)
            OK(UR(urEventRelease)(freed));
        free_in_order(queue, from, &freed);
        from = to;
    }
    free_in_order(queues[ROUNDS % QUEUES], from, NULL);
    for (size_t i = 0; i < QUEUES; i++)
        OK(UR(urQueueFinish)(queues[i]));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        check(&seen[round * ITEMS], 8 + round);
        OK(UR(urEventRelease)(events[round]));
    }
    OK(UR(urEventRelease)(written));
    OK(UR(urEventRelease)(freed));
    OK(UR(urKernelRelease)(fill));
    OK(UR(urKernelRelease)(add));
}

struct worker {
    pthread_t thread;
    size_t kind;
    uint32_t number;
    ur_queue_handle_t queue;
    uint32_t *seen;
};

static void *work(void *argument) {
    const struct worker *worker = argument;
    ur_kernel_handle_t kernel = NULL;
    OK(UR(urKernelCreate)(program, "fill", &kernel));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        void *mem = allocate(worker->kind, worker->queue, 0, NULL, NULL);
        launch_fill(worker->queue, kernel, mem, worker->number * ROUNDS + round);
        copy(worker->queue, &worker->seen[round * ITEMS], mem);
        free_in_order(worker->queue, mem, NULL);
    }
    OK(UR(urQueueFinish)(worker->queue));
    OK(UR(urKernelRelease)(kernel));
    return NULL;
}

/* A thread for each queue. */
static void in_threads(size_t kind, ur_queue_handle_t *queues, uint32_t *seen) {
    struct worker workers[QUEUES];
    for (uint32_t i = 0; i < QUEUES; i++) {
        workers[i] = (struct worker){0, kind, i, queues[i], &seen[i * ROUNDS * ITEMS]};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (uint32_t i = 0; i < QUEUES; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    for (uint32_t i = 0; i < QUEUES * ROUNDS; i++)
        check(&seen[i * ITEMS], i);
}

void kernels(void) {
    static char content[1 << 16];
    FILE *file = fopen(getenv("PROGRAM"), "rb");
    CHECK(file != NULL);
    const size_t length = fread(content, 1, sizeof(content), file);
    fclose(file);
    bench = begin();
    OK(UR(urProgramCreateWithIL)(bench.context, content, length, NULL, &program));
    const ur_result_t built = UR(urProgramBuild)(bench.context, program, NULL);
    if (built == COMPILER_NOT_AVAILABLE) {
        puts("the driver has no compiler");
        OK(UR(urProgramRelease)(program));
        end(&bench);
        return;
    }
    OK(built);
    ur_queue_handle_t queues[QUEUES];
    for (size_t i = 0; i < QUEUES; i++)
        OK(UR(urQueueCreate)(bench.context, bench.device, NULL, &queues[i]));
    uint32_t *seen = NULL;
    const size_t room = (size_t)QUEUES * ROUNDS * BYTES;
    OK(UR(urUSMHostAlloc)(bench.context, NULL, NULL, room, (void **)&seen));
    for (size_t kind = 0; kind < KINDS; kind++) {
        one_queue(kind, QUEUE_FLAG_BATCHED, seen);
        one_queue(kind, QUEUE_FLAG_IMMEDIATE, seen);
        across_queues(kind, queues, seen);
        in_threads(kind, queues, seen);
    }
    OK(UR(urUSMFree)(bench.context, seen));
    for (size_t i = 0; i < QUEUES; i++)
        OK(UR(urQueueRelease)(queues[i]));
    OK(UR(urProgramRelease)(program));
    end(&bench);
}

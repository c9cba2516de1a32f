/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures an adapter: measure LIBRARY [SOFTWARE_DRIVER]. LIBRARY is libur_loader or an adapter
 * library. Requests are lines on the standard input, answers lines of numbers on the standard
 * output, so that several of these processes can be measured in turns:
 *
 *   time FILE          seconds that the lines of the trace took
 *   memory FILE        highest bytes that the driver gave out, highest that the pool says it held;
 *                      0 for what nobody knows
 *   pairs COUNT        microseconds for an allocation and its free
 *   event_pairs COUNT  the same with an event for both calls
 *   free_blocks COUNT  the same without events among so many free blocks of 64 sizes
 *   finish COUNT       to synchronise after so many frees
 *   allocate COUNT     microseconds for one of so many allocations in a row
 *   free COUNT         for one of their frees
 *   record COUNT       for an event, and its release
 *   threads COUNT      for a pair without events, over all pairs that so many threads do at a time,
 *                      each on a queue of its own
 *
 * The software driver, if it is used and named, is asked for what it gave out.
 */
#include "entries.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MAXIMUM_QUEUES = 64, PAIR_SIZE = 4096, PAIRS_OF_THREADS = 20000 };

static struct adapter adapter;
static int32_t (*driver_bytes)(uint32_t, uint64_t *);

static struct {
    __typeof__(&urEnqueueUSMDeviceAllocExp) alloc;
    __typeof__(&urEnqueueUSMFreeExp) free;
    __typeof__(&urEnqueueEventsWaitWithBarrier) barrier;
    __typeof__(&urEventRelease) release_event;
    __typeof__(&urQueueFinish) finish;
} ur;

static double wall_clock(void) {
    struct timespec time;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t given_out(void) {
    uint64_t bytes = 0;
    if (driver_bytes != NULL)
        CHECK(driver_bytes(0, &bytes) == 0);
    return bytes;
}

/* A trace as ur_client.py writes it: numbers only, checked before. */

enum operation { ALLOCATE, FREE, RECORD, WAIT, SYNCHRONISE };

struct line {
    uint32_t operation, queue, slot;
    size_t size;
};

struct trace {
    size_t line_count, allocation_slots, event_slots, queue_count;
    struct line *lines;
};

static struct trace read_trace(const char *path) {
    struct trace trace;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    CHECK(fscanf(file, "%zu %zu %zu %zu", &trace.line_count, &trace.allocation_slots,
                 &trace.event_slots, &trace.queue_count) == 4);
    CHECK(trace.queue_count <= MAXIMUM_QUEUES);
    trace.lines = calloc(trace.line_count, sizeof(struct line));
    CHECK(trace.lines != NULL);
    for (size_t i = 0; i < trace.line_count; i++) {
        struct line *line = &trace.lines[i];
        CHECK(fscanf(file, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %zu", &line->operation,
                     &line->queue, &line->slot, &line->size) == 4);
    }
    fclose(file);
    return trace;
}

struct run {
    ur_context_handle_t context;
    ur_queue_handle_t queues[MAXIMUM_QUEUES];
    size_t queue_count;
    ur_usm_pool_handle_t pool;
};

/* A context of its own, whose device pool is told to keep everything. */
static struct run begin(size_t queue_count) {
    struct run run = {.queue_count = queue_count};
    size_t everything = SIZE_MAX;
    OK(UR(urContextCreate)(1, &adapter.device, NULL, &run.context));
    for (size_t i = 0; i < queue_count; i++)
        OK(UR(urQueueCreate)(run.context, adapter.device, NULL, &run.queues[i]));
    OK(UR(urUSMPoolGetDefaultDevicePoolExp)(run.context, adapter.device, &run.pool));
    OK(UR(urUSMPoolSetInfoExp)(run.pool, POOL_INFO_RELEASE_THRESHOLD, &everything,
                               sizeof(everything)));
    return run;
}

static void end(struct run *run) {
    for (size_t i = 0; i < run->queue_count; i++) {
        OK(ur.finish(run->queues[i]));
        OK(UR(urQueueRelease)(run->queues[i]));
    }
    OK(UR(urContextRelease)(run->context));
}

/* Carries out every line; if told to look, gives the highest number of bytes that were given out.
 */
static uint64_t replay(const struct trace *trace, const struct run *run, void **allocations,
                       ur_event_handle_t *events, bool look) {
    const uint64_t before = given_out();
    uint64_t highest = 0;
    for (size_t i = 0; i < trace->line_count; i++) {
        const struct line *line = &trace->lines[i];
        ur_queue_handle_t queue = run->queues[line->queue];
        switch ((enum operation)line->operation) {
        case ALLOCATE:
            OK(ur.alloc(queue, NULL, line->size, NULL, 0, NULL, &allocations[line->slot], NULL));
            if (look && given_out() - before > highest)
                highest = given_out() - before;
            break;
        case FREE:
            OK(ur.free(queue, NULL, allocations[line->slot], 0, NULL, NULL));
            allocations[line->slot] = NULL;
            break;
        case RECORD:
            if (events[line->slot] != NULL)
                OK(ur.release_event(events[line->slot]));
            OK(ur.barrier(queue, 0, NULL, &events[line->slot]));
            break;
        case WAIT:
            OK(ur.barrier(queue, 1, &events[line->slot], NULL));
            break;
        case SYNCHRONISE:
            OK(ur.finish(queue));
            break;
        }
    }
    return highest;
}

static void run_trace(const char *path, bool look) {
    struct trace trace = read_trace(path);
    struct run run = begin(trace.queue_count);
    void **allocations = calloc(trace.allocation_slots + 1, sizeof(void *));
    ur_event_handle_t *events = calloc(trace.event_slots + 1, sizeof(ur_event_handle_t));
    CHECK(allocations != NULL && events != NULL);
    const double start = wall_clock();
    const uint64_t highest = replay(&trace, &run, allocations, events, look);
    const double seconds = wall_clock() - start;
    if (look) {
        size_t held = 0;
        if (UR(urUSMPoolGetInfoExp)(run.pool, POOL_INFO_RESERVED_HIGH, &held, NULL) != 0)
            held = 0;
        printf("%" PRIu64 " %zu\n", highest, held);
    } else {
        printf("%.9f\n", seconds);
    }
    for (size_t i = 0; i < trace.allocation_slots; i++)
        if (allocations[i] != NULL)
            OK(ur.free(run.queues[0], NULL, allocations[i], 0, NULL, NULL));
    for (size_t i = 0; i < trace.event_slots; i++)
        if (events[i] != NULL)
            OK(ur.release_event(events[i]));
    end(&run);
    free(allocations);
    free(events);
    free(trace.lines);
}

static double time_pairs(ur_queue_handle_t queue, size_t count) {
    const double start = wall_clock();
    for (size_t i = 0; i < count; i++) {
        void *mem = NULL;
        OK(ur.alloc(queue, NULL, PAIR_SIZE, NULL, 0, NULL, &mem, NULL));
        OK(ur.free(queue, NULL, mem, 0, NULL, NULL));
    }
    return (wall_clock() - start) * 1e6 / (double)count;
}

static double time_event_pairs(ur_queue_handle_t queue, size_t count) {
    const double start = wall_clock();
    for (size_t i = 0; i < count; i++) {
        ur_event_handle_t allocated = NULL, freed = NULL;
        void *mem = NULL;
        OK(ur.alloc(queue, NULL, PAIR_SIZE, NULL, 0, NULL, &mem, &allocated));
        OK(ur.free(queue, NULL, mem, 0, NULL, &freed));
        OK(ur.release_event(allocated));
        OK(ur.release_event(freed));
    }
    return (wall_clock() - start) * 1e6 / (double)count;
}

static void measure_pairs(size_t count, double (*measured)(ur_queue_handle_t, size_t)) {
    struct run run = begin(1);
    measured(run.queues[0], count / 10 + 1); /* fills the pool */
    OK(ur.finish(run.queues[0]));
    printf("%.4f\n", measured(run.queues[0], count));
    end(&run);
}

static void pairs(size_t count) { measure_pairs(count, time_pairs); }

static void event_pairs(size_t count) { measure_pairs(count, time_event_pairs); }

/* Allocates so many blocks of 512 bytes to 32 KiB. */
static void **allocate_blocks(ur_queue_handle_t queue, size_t count) {
    void **blocks = calloc(count, sizeof(void *));
    CHECK(blocks != NULL);
    for (size_t i = 0; i < count; i++)
        OK(ur.alloc(queue, NULL, 512 * (1 + i % 64), NULL, 0, NULL, &blocks[i], NULL));
    return blocks;
}

static void free_blocks(size_t count) {
    struct run run = begin(1);
    void **blocks = allocate_blocks(run.queues[0], 2 * count);
    for (size_t i = 0; i < 2 * count; i += 2)
        OK(ur.free(run.queues[0], NULL, blocks[i], 0, NULL, NULL));
    time_pairs(run.queues[0], 100);
    printf("%.4f\n", time_pairs(run.queues[0], 1000));
    for (size_t i = 1; i < 2 * count; i += 2)
        OK(ur.free(run.queues[0], NULL, blocks[i], 0, NULL, NULL));
    free(blocks);
    end(&run);
}

static void finish(size_t count) {
    struct run run = begin(1);
    void **blocks = allocate_blocks(run.queues[0], count);
    OK(ur.finish(run.queues[0]));
    for (size_t i = 0; i < count; i++)
        OK(ur.free(run.queues[0], NULL, blocks[i], 0, NULL, NULL));
    const double start = wall_clock();
    OK(ur.finish(run.queues[0]));
    printf("%.1f\n", (wall_clock() - start) * 1e6);
    free(blocks);
    end(&run);
}

/* Seconds that so many allocations of a full pool took, and their frees. */
struct halves {
    double allocated, freed;
};

static struct halves time_halves(size_t count) {
    struct run run = begin(1);
    ur_queue_handle_t queue = run.queues[0];
    void **blocks = calloc(count, sizeof(void *));
    struct halves halves = {0};
    CHECK(blocks != NULL);
    for (int round = 0; round < 2; round++) { /* the first one fills the pool */
        const double start = wall_clock();
        for (size_t i = 0; i < count; i++)
            OK(ur.alloc(queue, NULL, PAIR_SIZE, NULL, 0, NULL, &blocks[i], NULL));
        const double middle = wall_clock();
        for (size_t i = 0; i < count; i++)
            OK(ur.free(queue, NULL, blocks[i], 0, NULL, NULL));
        halves.freed = wall_clock() - middle;
        halves.allocated = middle - start;
        OK(ur.finish(queue));
    }
    free(blocks);
    end(&run);
    return halves;
}

static void allocate_alone(size_t count) {
    printf("%.4f\n", time_halves(count).allocated * 1e6 / (double)count);
}

static void free_alone(size_t count) {
    printf("%.4f\n", time_halves(count).freed * 1e6 / (double)count);
}

static void record(size_t count) {
    struct run run = begin(1);
    const double start = wall_clock();
    for (size_t i = 0; i < count; i++) {
        ur_event_handle_t event = NULL;
        OK(ur.barrier(run.queues[0], 0, NULL, &event));
        OK(ur.release_event(event));
    }
    printf("%.4f\n", (wall_clock() - start) * 1e6 / (double)count);
    end(&run);
}

struct worker {
    pthread_t thread;
    pthread_barrier_t *ready;
    ur_queue_handle_t queue;
    size_t pairs;
    double start, end;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    time_pairs(worker->queue, 1); /* what only the first pair needs */
    pthread_barrier_wait(worker->ready);
    worker->start = wall_clock();
    time_pairs(worker->queue, worker->pairs);
    worker->end = wall_clock();
    return NULL;
}

static void threads(size_t count) {
    CHECK(count >= 1 && count <= MAXIMUM_QUEUES);
    struct run run = begin(count);
    struct worker workers[MAXIMUM_QUEUES];
    pthread_barrier_t ready;
    const size_t pairs = PAIRS_OF_THREADS / count;
    CHECK(pthread_barrier_init(&ready, NULL, (unsigned)count) == 0);
    for (size_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.ready = &ready, .queue = run.queues[i], .pairs = pairs};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    double first = INFINITY, last = 0; /* by the threads' own look: this one may be late */
    for (size_t i = 0; i < count; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        first = workers[i].start < first ? workers[i].start : first;
        last = workers[i].end > last ? workers[i].end : last;
    }
    printf("%.4f\n", (last - first) * 1e6 / (double)(pairs * count));
    pthread_barrier_destroy(&ready);
    end(&run);
}

static const struct {
    const char *name;
    void (*answer)(size_t);
} counted_requests[] = {
    {"pairs", pairs},   {"event_pairs", event_pairs}, {"free_blocks", free_blocks},
    {"finish", finish}, {"allocate", allocate_alone}, {"free", free_alone},
    {"record", record}, {"threads", threads},
};

static void answer(const char *request, size_t count) {
    for (size_t i = 0; i < sizeof(counted_requests) / sizeof(*counted_requests); i++) {
        if (strcmp(request, counted_requests[i].name) == 0) {
            counted_requests[i].answer(count);
            return;
        }
    }
    CHECK(!"a known request");
}

int main(int count, char **arguments) {
    char request[4096];
    CHECK(count == 2 || count == 3);
    open_library(arguments[1]);
    adapter = open_adapter();
    ur.alloc = UR(urEnqueueUSMDeviceAllocExp);
    ur.free = UR(urEnqueueUSMFreeExp);
    ur.barrier = UR(urEnqueueEventsWaitWithBarrier);
    ur.release_event = UR(urEventRelease);
    ur.finish = UR(urQueueFinish);
    if (count == 3) {
        void *driver = dlopen(arguments[2], RTLD_NOW);
        CHECK(driver != NULL);
        driver_bytes =
            (int32_t (*)(uint32_t, uint64_t *))dlsym(driver, "urasync_device_memory_used");
        CHECK(driver_bytes != NULL);
    }
    while (fgets(request, sizeof(request), stdin) != NULL) {
        char *argument = strchr(request, ' ');
        CHECK(argument != NULL);
        *argument++ = '\0';
        argument[strcspn(argument, "\n")] = '\0';
        if (strcmp(request, "time") == 0 || strcmp(request, "memory") == 0)
            run_trace(argument, strcmp(request, "memory") == 0);
        else
            answer(request, strtoull(argument, NULL, 10));
        fflush(stdout);
    }
    return 0;
}

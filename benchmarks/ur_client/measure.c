/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures an adapter: measure LIBRARY [SOFTWARE_DRIVER]. LIBRARY is libur_loader or an adapter
 * library. Requests are lines on the standard input, a name and an argument; answers are lines of
 * numbers on the standard output, so that several of these processes can be measured in turns:
 *
 *   time FILE           seconds that the lines of the trace took
 *   memory FILE         highest bytes that the driver gave out, highest that the pool says it held;
 *                       0 for what nobody knows
 *   pairs COUNT         microseconds for an allocation and its free
 *   event_pairs COUNT   the same with an event for both calls
 *   halves COUNT        for an allocation, and for a free, of so many in batches
 *   event_halves COUNT  to record an event, and to release it
 *   threads COUNT       for a pair without events, over all pairs that so many threads do at a
 *                       time, each on a queue and a pool of its own
 *   free_blocks FILE    for a pair among free blocks, in the quickest of some rounds; the file has
 *                       how many blocks, pairs and rounds there are, then the sizes of the blocks,
 *                       of which every second one is freed, and those of the pairs
 *   finish COUNT        to synchronise after so many frees
 *   start 0             milliseconds to open the library and have a first context
 *   instructions FILE   0; callgrind counts by the library FILE, made of counter.c
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

enum {
    MAXIMUM_QUEUES = 64,
    PAIR_SIZE = 4096,
    WARM_UP = 200,    /* pairs that fill the pool, as many whatever is asked for */
    BATCH = 256,      /* how many are measured between two looks at the clock */
    FREED_SIZE = 256, /* bytes of what a synchronisation finds freed */
    PAIRS_OF_THREADS = 20000,
};

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

/* A trace as measuring_process.py writes it: numbers only, checked before. */

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

static void keep_everything(ur_usm_pool_handle_t pool) {
    size_t everything = SIZE_MAX;
    OK(UR(urUSMPoolSetInfoExp)(pool, POOL_INFO_RELEASE_THRESHOLD, &everything, sizeof(everything)));
}

/* A context of its own, whose device pool is told to keep everything. */
static struct run begin(size_t queue_count) {
    struct run run = {.queue_count = queue_count};
    OK(UR(urContextCreate)(1, &adapter.device, NULL, &run.context));
    for (size_t i = 0; i < queue_count; i++)
        OK(UR(urQueueCreate)(run.context, adapter.device, NULL, &run.queues[i]));
    OK(UR(urUSMPoolGetDefaultDevicePoolExp)(run.context, adapter.device, &run.pool));
    keep_everything(run.pool);
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

static void time_trace(const char *path) { run_trace(path, false); }

static void trace_memory(const char *path) { run_trace(path, true); }

static double microseconds_since(double start) { return (wall_clock() - start) * 1e6; }

static size_t number_in(const char *argument) { return strtoull(argument, NULL, 10); }

static void pair(ur_queue_handle_t queue, ur_usm_pool_handle_t pool, size_t size) {
    void *mem = NULL;
    OK(ur.alloc(queue, pool, size, NULL, 0, NULL, &mem, NULL));
    OK(ur.free(queue, NULL, mem, 0, NULL, NULL));
}

static void do_pairs(ur_queue_handle_t queue, size_t count) {
    for (size_t i = 0; i < count; i++)
        pair(queue, NULL, PAIR_SIZE);
}

static void do_event_pairs(ur_queue_handle_t queue, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ur_event_handle_t allocated = NULL, freed = NULL;
        void *mem = NULL;
        OK(ur.alloc(queue, NULL, PAIR_SIZE, NULL, 0, NULL, &mem, &allocated));
        OK(ur.free(queue, NULL, mem, 0, NULL, &freed));
        OK(ur.release_event(allocated));
        OK(ur.release_event(freed));
    }
}

static void time_pairs(size_t count, void (*measured)(ur_queue_handle_t, size_t)) {
    struct run run = begin(1);
    measured(run.queues[0], WARM_UP);
    OK(ur.finish(run.queues[0]));
    const double start = wall_clock();
    measured(run.queues[0], count);
    printf("%.4f\n", microseconds_since(start) / (double)count);
    end(&run);
}

static void pairs(const char *argument) { time_pairs(number_in(argument), do_pairs); }

static void event_pairs(const char *argument) { time_pairs(number_in(argument), do_event_pairs); }

/* One half of a pair for each of a batch: it fills, or empties, these places. */
typedef void half(ur_queue_handle_t queue, void **places);

static void allocate_batch(ur_queue_handle_t queue, void **places) {
    for (size_t i = 0; i < BATCH; i++)
        OK(ur.alloc(queue, NULL, PAIR_SIZE, NULL, 0, NULL, &places[i], NULL));
}

static void free_batch(ur_queue_handle_t queue, void **places) {
    for (size_t i = 0; i < BATCH; i++)
        OK(ur.free(queue, NULL, places[i], 0, NULL, NULL));
}

static void record_batch(ur_queue_handle_t queue, void **places) {
    for (size_t i = 0; i < BATCH; i++)
        OK(ur.barrier(queue, 0, NULL, (ur_event_handle_t *)&places[i]));
}

static void release_batch(ur_queue_handle_t queue, void **places) {
    (void)queue;
    for (size_t i = 0; i < BATCH; i++)
        OK(ur.release_event(places[i]));
}

static void time_halves(size_t count, half *first, half *second) {
    struct run run = begin(1);
    void *places[BATCH] = {0};
    double of_first = 0, of_second = 0;
    const size_t batches = (count + BATCH - 1) / BATCH;
    for (size_t batch = 0; batch <= batches; batch++) {
        const double start = wall_clock();
        first(run.queues[0], places);
        const double middle = wall_clock();
        second(run.queues[0], places);
        const double last = wall_clock();
        OK(ur.finish(run.queues[0]));
        if (batch > 0) { /* the one before fills the pool */
            of_first += middle - start;
            of_second += last - middle;
        }
    }
    const double measured = (double)(batches * BATCH);
    printf("%.4f %.4f\n", of_first * 1e6 / measured, of_second * 1e6 / measured);
    end(&run);
}

static void halves(const char *argument) {
    time_halves(number_in(argument), allocate_batch, free_batch);
}

static void event_halves(const char *argument) {
    time_halves(number_in(argument), record_batch, release_batch);
}

struct worker {
    pthread_t thread;
    pthread_barrier_t *ready;
    ur_queue_handle_t queue;
    ur_usm_pool_handle_t pool;
    size_t pairs;
    double start, end;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    pair(worker->queue, worker->pool, PAIR_SIZE); /* what only the first pair needs */
    pthread_barrier_wait(worker->ready);
    worker->start = wall_clock();
    for (size_t i = 0; i < worker->pairs; i++)
        pair(worker->queue, worker->pool, PAIR_SIZE);
    worker->end = wall_clock();
    return NULL;
}

static void threads(const char *argument) {
    const size_t count = number_in(argument);
    CHECK(count >= 1 && count <= MAXIMUM_QUEUES);
    struct run run = begin(count);
    struct worker workers[MAXIMUM_QUEUES];
    ur_usm_pool_desc_t description = {.stype = STYPE_USM_POOL_DESC};
    pthread_barrier_t ready;
    const size_t pairs_of_each = PAIRS_OF_THREADS / count;
    CHECK(pthread_barrier_init(&ready, NULL, (unsigned)count) == 0);
    for (size_t i = 0; i < count; i++) {
        struct worker *worker = &workers[i];
        *worker = (struct worker){.ready = &ready, .queue = run.queues[i]};
        worker->pairs = pairs_of_each;
        OK(UR(urUSMPoolCreateExp)(run.context, adapter.device, &description, &worker->pool));
        keep_everything(worker->pool);
    }
    for (size_t i = 0; i < count; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    double first = INFINITY, last = 0; /* by the threads' own look: this one may be late */
    for (size_t i = 0; i < count; i++) {
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
        first = workers[i].start < first ? workers[i].start : first;
        last = workers[i].end > last ? workers[i].end : last;
    }
    printf("%.4f\n", (last - first) * 1e6 / (double)(pairs_of_each * count));
    CHECK(pthread_barrier_destroy(&ready) == 0);
    for (size_t i = 0; i < count; i++) {
        OK(ur.finish(workers[i].queue));
        OK(UR(urUSMPoolDestroyExp)(run.context, adapter.device, workers[i].pool));
    }
    end(&run);
}

static size_t next_number(FILE *file) {
    size_t number = 0;
    CHECK(fscanf(file, "%zu", &number) == 1);
    return number;
}

static void free_blocks(const char *path) {
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    const size_t block_count = next_number(file);
    const size_t pair_count = next_number(file);
    const size_t rounds = next_number(file);
    void **blocks = calloc(block_count, sizeof(void *));
    size_t *sizes = calloc(pair_count, sizeof(size_t));
    CHECK(blocks != NULL && sizes != NULL);
    struct run run = begin(1);
    ur_queue_handle_t queue = run.queues[0];
    for (size_t i = 0; i < block_count; i++)
        OK(ur.alloc(queue, NULL, next_number(file), NULL, 0, NULL, &blocks[i], NULL));
    for (size_t i = 0; i < pair_count; i++)
        sizes[i] = next_number(file);
    fclose(file);

    for (size_t i = 0; i < block_count; i += 2)
        OK(ur.free(queue, NULL, blocks[i], 0, NULL, NULL));
    double least = INFINITY;
    for (size_t round = 0; round < rounds; round++) {
        OK(ur.finish(queue));
        const double start = wall_clock();
        for (size_t i = 0; i < pair_count; i++)
            pair(queue, NULL, sizes[i]);
        const double took = microseconds_since(start);
        least = took < least ? took : least;
    }
    printf("%.4f\n", least / (double)pair_count);
    for (size_t i = 1; i < block_count; i += 2)
        OK(ur.free(queue, NULL, blocks[i], 0, NULL, NULL));
    end(&run);
    free(sizes);
    free(blocks);
}

/* Frees every second block first, so that no two neighbours meet early. */
static void finish(const char *argument) {
    const size_t count = number_in(argument);
    struct run run = begin(1);
    ur_queue_handle_t queue = run.queues[0];
    void **blocks = calloc(count, sizeof(void *));
    CHECK(blocks != NULL);
    for (size_t i = 0; i < count; i++)
        OK(ur.alloc(queue, NULL, FREED_SIZE, NULL, 0, NULL, &blocks[i], NULL));
    for (size_t first = 0; first < 2; first++)
        for (size_t i = first; i < count; i += 2)
            OK(ur.free(queue, NULL, blocks[i], 0, NULL, NULL));
    const double start = wall_clock();
    OK(ur.finish(queue));
    printf("%.1f\n", microseconds_since(start));
    free(blocks);
    end(&run);
}

static double microseconds_to_open; /* the library, at the process's start */

static void start_up(const char *argument) {
    ur_context_handle_t context;
    (void)argument;
    const double start = wall_clock();
    OK(UR(urContextCreate)(1, &adapter.device, NULL, &context));
    printf("%.4f\n", (microseconds_to_open + microseconds_since(start)) / 1e3);
    OK(UR(urContextRelease)(context));
}

static void instructions(const char *path) {
    void *counter = dlopen(path, RTLD_NOW); /* the same each time */
    CHECK(counter != NULL);
    void (*write_instructions)(void) = (void (*)(void))dlsym(counter, "write_instructions");
    CHECK(write_instructions != NULL);
    write_instructions();
    printf("0\n");
}

static const struct {
    const char *name;
    void (*answer)(const char *argument);
} requests[] = {
    {"time", time_trace},
    {"memory", trace_memory},
    {"pairs", pairs},
    {"event_pairs", event_pairs},
    {"halves", halves},
    {"event_halves", event_halves},
    {"threads", threads},
    {"free_blocks", free_blocks},
    {"finish", finish},
    {"start", start_up},
    {"instructions", instructions},
};

static void answer(const char *name, const char *argument) {
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        if (strcmp(name, requests[i].name) == 0) {
            requests[i].answer(argument);
            return;
        }
    }
    CHECK(!"a known request");
}

int main(int count, char **arguments) {
    char request[4096];
    CHECK(count == 2 || count == 3);
    const double start = wall_clock();
    open_library(arguments[1]);
    adapter = open_adapter();
    microseconds_to_open = microseconds_since(start);
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
        answer(request, argument);
        fflush(stdout);
    }
    return 0;
}

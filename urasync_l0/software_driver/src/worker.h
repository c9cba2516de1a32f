// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workers, their commands, and the lists and queues that own them.

#ifndef URASYNC_WORKER_H
#define URASYNC_WORKER_H

#include "internal.h"

typedef struct command_list command_list_t;
typedef struct launch launch_t; // in module.h
typedef struct fence fence_t;

// --- command.c ----------------------------------------------------------------------------------

typedef enum action {
    ACTION_NONE, // only waits and a signal: barriers, hints
    ACTION_FILL,
    ACTION_COPY,
    ACTION_COPY_REGION,
    ACTION_RESET_EVENT,
    ACTION_WRITE_TIMESTAMP,
    ACTION_QUERY_TIMESTAMPS,
    ACTION_EXECUTE_LISTS,
    ACTION_LAUNCH,
} action_t;

// Bytes that a command touches. Of a region copy: from its first byte to its last.
typedef struct byte_range {
    uintptr_t base;
    size_t size;
    bool written;
} byte_range_t;

typedef struct region_side {
    uintptr_t first; // address of the first byte of the region
    size_t pitch;    // bytes from row to row
    size_t slice;    // bytes from slice to slice
} region_side_t;

typedef struct command {
    struct command *next;
    action_t action;
    entry_t entry;
    bool recorded;         // of a regular list: runs any number of times
    bool counted;          // its signal is counter-based
    vector_clock_t *known; // the checker's: what the host knew at the append
    uint64_t place;
    uint32_t wait_count;
    wait_t *waits;
    wait_t inline_waits[INLINE_WAITS];
    event_t *signal;
    uint32_t range_count;
    byte_range_t ranges[MAX_RANGES];
    union {
        struct {
            size_t pattern_size;
            unsigned char pattern[MAX_PATTERN];
        } fill; // of ranges[0]
        struct {
            size_t width; // bytes
            size_t rows;
            size_t slices;
            region_side_t to;
            region_side_t from;
        } region;
        event_t *reset;
        struct {
            event_t **events;
            size_t *offsets; // NULL: one result after the other
            uint32_t count;
            char *destination;
        } query;
        struct {
            command_list_t **lists;
            uint32_t count;
            fence_t *fence;
        } execute;
        struct {
            launch_t *first;       // run one after the other
            const uint32_t *count; // how many of them, read when it runs; NULL: all
        } launch;
    };
} command_t;

void command_add_range(command_t *command, const void *base, size_t size, bool written);
// Where a query of time stamps puts one of its results.
uintptr_t command_query_result(const command_t *command, uint32_t number);
bool command_touches(const command_t *command, uintptr_t base, size_t size);
// Calls `visit` for each event that the command refers to, waits and signal included.
void command_visit_events(const command_t *command, void (*visit)(event_t *, void *), void *arg);

typedef struct worker worker_t;
// Runs a command: waits, acts, signals.
void command_run(worker_t *worker, command_t *command);
// Gives back what the command refers to: of a command that was not run, or of a recorded one.
void command_discard(command_t *command);
// Only the memory beside the command itself.
void command_free_arrays(command_t *command);

// --- launch.c: of launch commands ---------------------------------------------------------------

// Kernels with launches under way are not to be destroyed; the run lets them go.
void launches_hold(const command_t *command);
void launches_run(worker_t *worker, const command_t *command);
// The times of the last run, in nanoseconds.
void launches_times(const command_t *command, uint64_t *start, uint64_t *end);
bool launches_touch(const command_t *command, uintptr_t base, size_t size);
// Calls `visit` for each range that the checker looks at, until it says no. `surely` of what an
// argument names, not of what the kernel may reach besides.
typedef bool range_visit_t(worker_t *worker, const byte_range_t *range, bool surely);
bool launches_visit_ranges(worker_t *worker, const command_t *command, range_visit_t *visit);
void launch_free(launch_t *launch); // with those that follow

// --- worker.c -----------------------------------------------------------------------------------

struct worker {
    worker_t *previous; // in the list of all workers
    worker_t *next;
    _Atomic uint32_t references;
    device_t *device;
    timeline_t *timeline;
    os_mutex_t mutex;
    os_condition_t changed;
    command_t *first; // pending; the first may be running
    command_t *last;
    command_t *spare; // to be used again
    uint32_t spare_count;
    _Atomic uint64_t appended;
    _Atomic uint64_t handed_over; // the same, a little later: what the thread spins for
    _Atomic uint32_t gate_depth;
    _Atomic uint64_t gate_limit; // the place of the last command that may run
    bool at_gate;
    bool sleeping;
    bool stopping;
    bool started;
    os_thread_t thread;
    struct cl_queue *queue; // of the OpenCL runtime, made by the first launch
    worker_order_t order;   // the checker's
    uint64_t number;        // of its creation
};

worker_t *worker_create(device_t *device);
worker_t *worker_retain(worker_t *worker);
void worker_release(worker_t *worker);
// The thread runs from now on; false when there can be no more threads.
bool worker_start(worker_t *worker);
// True when every command has completed. False at a closed gate, or after a second of waiting.
bool worker_drain(worker_t *worker);
// Ends the thread of a drained worker and drops the owner's reference.
void worker_destroy(worker_t *worker);
// A command for worker_append; NULL when there is no memory.
command_t *worker_new_command(worker_t *worker);
// Hands the command over and returns its place.
uint64_t worker_append(worker_t *worker, command_t *command);
bool worker_wait_idle(worker_t *worker, uint64_t deadline);
// Whether the gate holds the worker's first command. Under the worker's lock.
bool worker_is_held(const worker_t *worker);
// Called by the worker's thread between the commands of a regular list.
void worker_pass_gate(worker_t *worker);

// Waits for everything that was appended on the device so far.
void workers_wait_idle(const device_t *device);
// Places that must be reached before nothing touches the range; `*places` is for free().
bool workers_using(uintptr_t base, size_t size, wait_t **places, size_t *count);
void workers_visit(const device_t *device, void (*visit)(worker_t *));

// --- command_list.c, append.c -------------------------------------------------------------------

struct command_list {
    object_t object;
    context_t *context;
    device_t *device;
    uint32_t ordinal;
    uint32_t index;
    uint32_t flags; // of the list, or of the queue behind an immediate list
    ze_command_queue_mode_t mode;
    ze_command_queue_priority_t priority;
    bool immediate;
    bool in_order;
    // Immediate
    worker_t *worker;
    // Regular
    bool closed;
    command_t *first;
    command_t *last;
    uint64_t count;
    timeline_t *timeline;
    _Atomic uint32_t pending; // executions that were submitted and have not ended
};

ze_result_t queue_desc_check(const device_t *device, const ze_command_queue_desc_t *desc);
// Checks that the lists can run on a queue of this device and group.
ze_result_t lists_check(entry_t entry, const device_t *device, uint32_t ordinal, uint32_t count,
                        ze_command_list_handle_t *lists);
// Makes `command` an execution of the lists; it holds them and their events until it has run.
ze_result_t lists_submit(command_t *command, uint32_t count, ze_command_list_handle_t *lists,
                         fence_t *fence);
// The execution has run: lets the lists go.
void lists_completed(worker_t *worker, command_t *command);

// --- command_queue.c, fence.c -------------------------------------------------------------------

typedef struct command_queue {
    object_t object;
    context_t *context;
    device_t *device;
    ze_command_queue_desc_t desc;
    worker_t *worker;
    _Atomic uint32_t fences;
} command_queue_t;

ze_result_t fence_check(fence_t *fence, const command_queue_t *queue, entry_t entry);
void fence_hold(fence_t *fence);
void fence_complete(fence_t *fence);

#endif

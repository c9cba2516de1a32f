// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker: knows what comes before what, and reports what touches memory or events with no
// order between. On when URASYNC_L0_SOFTWARE_CHECK is 1; off, it costs one look at a flag.
//
// Steps are the commands of a worker, each after the one before, and the calls of the host. What
// orders them: a command comes after what the host knew when it was appended, and after the signals
// that it waits for; the host knows what it has waited for or seen complete. All threads of the
// host count as one, because what orders them is not seen here. A list counts as in order, as
// workers run them so. What the host's own code reads and writes is not seen.
//
// Reported: two steps with no order that touch the same bytes, one of them writing; commands on
// memory that was freed, unmapped or never given; memory that goes back to the system, and events
// that are reset or destroyed, while a command that uses them is not known complete; events that
// are reset or asked for the first time since their signal when the immediate list that they had it
// from is destroyed, because Intel's driver then writes to the list; kernels that are destroyed
// while a launch of them is under way. A launch touches the allocations whole to which its pointers
// point, for reading only if the program says so, and everything of the kinds that it may reach
// indirectly, unless a test declares what it touches. After a DEVICE_LOST that a
// test planned, nothing that was appended before it is looked at any more.

#ifndef URASYNC_CHECKER_H
#define URASYNC_CHECKER_H

#include "access_map.h"
#include "level_zero.h"

#include <stdatomic.h>

struct command;
struct event;
struct timeline;
struct wait;
struct worker;

// Of a worker: its slot and what its next command comes after.
typedef struct worker_order {
    uint32_t slot;
    uint64_t owner; // handle of the list or queue
    vector_clock_t clock;
    step_t *step;      // the command that runs now
    uint64_t place;    // its place, or that of the execution that it is part of
    uint64_t forgiven; // the place of the last command that is not looked at
} worker_order_t;

// Of a regular event: what whoever waits for it comes after, and who has used it since its reset.
// Of all: the worker of the immediate list that signals it, until the host has seen that, or 0.
typedef struct event_order {
    uint64_t signaller;
    vector_clock_t signalled;
    accesses_t uses; // a reset, signal or destruction is a write, a wait a read
} event_order_t;

// Of a timeline: what is before its latest places that somebody may wait for.
typedef struct timeline_order timeline_order_t;

// Settings decide once, before anything else is called.
void checker_start(bool on);
extern bool checker_is_on;

// --- Workers and their commands -----------------------------------------------------------------

void checker_worker_created(struct worker *worker);
void checker_worker_destroyed(struct worker *worker); // it has finished, and its owner knows
// At the append: what the host knows now. NULL when the checker is off.
vector_clock_t *checker_host_knowledge(void);
void checker_drop_knowledge(vector_clock_t *knowledge);
// Before the command can run.
void checker_signal_appended(const struct worker *worker, struct event *event);
// Around a command, on its worker's thread. `list` is the regular list that it stands in, or 0.
void checker_command_begins(struct worker *worker, struct command *command, uint64_t list,
                            uint64_t place);
void checker_command_waited(struct worker *worker, const struct wait *wait);
// Everything that the command touches; false when some of it is no memory, so that it must not run.
bool checker_command_touches(struct worker *worker, const struct command *command);
void checker_command_resets(struct worker *worker, struct event *event);
// Before the signal can be seen. `place` of a counter-based event is on `timeline`.
void checker_command_signals(struct worker *worker, struct event *event);
void checker_place_reached(struct worker *worker, struct timeline *timeline, uint64_t place);

// --- The host -----------------------------------------------------------------------------------

void checker_host_saw_worker(const struct worker *worker);
void checker_host_saw_timeline(const struct timeline *timeline); // of a worker
void checker_host_saw_event(entry_t entry, struct event *event);
void checker_host_signals(entry_t entry, struct event *event);
void checker_host_resets(entry_t entry, struct event *event);
void checker_event_destroyed(entry_t entry, struct event *event);
void checker_event_forgotten(struct event *event); // its memory goes
void checker_timeline_forgotten(struct timeline *timeline);
// A kernel's handle goes, of which so many launches have not completed.
void checker_kernel_destroyed(entry_t entry, const char *name, uint32_t pending);
// The driver itself sees to it that what uses the memory is over before it goes, also what was over
// before anybody looked.
void checker_memory_awaited(uintptr_t base, size_t size);
// Memory is about to go back to the system; false when somebody may still use it, so that it must
// stay where it is.
bool checker_memory_goes(entry_t entry, uintptr_t base, size_t size);
// The host will be told that the device is lost.
void checker_device_lost(void);

#endif

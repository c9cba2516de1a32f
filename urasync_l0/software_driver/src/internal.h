// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concepts of the software driver and the functions that its files offer each other.
//
// Glossary
//   entry      a function of the Level Zero tables; has a number, a count of calls, maybe a failure
//   object     anything with a handle; a live object stands in the live table
//   driver     the one driver, with up to 8 root devices and a default context
//   device     a limit of memory, two queue groups, a gate for new lists; a root device, or one of
//              the sub-devices of a root device, whose memory is a part of the root's
//   allocation memory of the kinds device, shared or host, known by its address range
//   store      host memory behind physical memory objects; can be mapped at several addresses
//   command    what an append leaves behind: waits, an action with its byte ranges, a signal
//   worker     runs the commands of one immediate list or one command queue, in order
//   timeline   counts the completed commands of a worker or of a regular list; outlives its owner
//   event      regular: a bit that is set and reset. Counter-based: a place on a timeline
//   wait       a regular event, or a place on a timeline that was fixed at the append
//   gate       holds a worker before its next command while it is closed
//   module     a program and its kernels; see module.h
//   launch     a run of a kernel with the arguments that it had at the append
//   checker    knows which steps, commands and calls of the host, come before which others
//   subject    what a thread can wait for: a regular event, a fence or a timeline
//
// Locks, in the order in which a thread may take them: virtual memory's, the live table's, that of
// the list of workers, a worker's, an event's, the checker's. Others are taken alone. No lock is
// held while a command runs.

#ifndef URASYNC_INTERNAL_H
#define URASYNC_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checker.h"
#include "controls.h"
#include "entry.h"
#include "level_zero.h"
#include "os.h"
#include "range_map.h"

enum {
    MAX_ROOT_DEVICES = 8,
    MAX_SUB_DEVICES = 4, // of a root device
    MAX_DEVICES = MAX_ROOT_DEVICES * (1 + MAX_SUB_DEVICES),
    MAX_PATTERN = 128, // bytes of a fill pattern
    INLINE_WAITS = 4,  // waits of a command that need no memory of their own
    MAX_RANGES = 2,    // byte ranges of a command
    NO_DEVICE = -1,
    QUEUE_GROUPS = 2,
};

// --- live_table.c: objects ---------------------------------------------------------------------

typedef enum kind {
    KIND_NONE, // of an object that was destroyed
    KIND_DRIVER,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_COMMAND_QUEUE,
    KIND_COMMAND_LIST,
    KIND_FENCE,
    KIND_EVENT_POOL,
    KIND_EVENT,
    KIND_DEVICE_MEMORY,
    KIND_SHARED_MEMORY,
    KIND_HOST_MEMORY,
    KIND_PHYSICAL_MEMORY,
    KIND_RESERVATION,
    KIND_MAPPING,
    KIND_MODULE,
    KIND_BUILD_LOG,
    KIND_KERNEL,
    KIND_COUNT
} kind_t;

typedef struct object {
    _Atomic uint32_t kind;
    int32_t device; // index, or NO_DEVICE
    entry_t creator;
    uint64_t handle;
    uint64_t bytes;
    uint64_t serial;
    struct object *previous;
    struct object *next;
} object_t;

void live_add(object_t *object, kind_t kind, const void *handle, int32_t device, uint64_t bytes,
              entry_t creator);
void live_remove(object_t *object);
void live_resize(object_t *object, uint64_t bytes);
uint64_t live_count(kind_t kind);
// Finds the live object of a handle and calls `visit` while it cannot go away.
bool live_visit(kind_t kind, uint64_t handle, void (*visit)(object_t *, void *), void *argument);
void live_visit_all(kind_t kind, void (*visit)(object_t *, void *), void *argument);

// SUCCESS, or the answer to a NULL handle and to one that is no live object of this kind.
ze_result_t object_check(const object_t *object, kind_t kind, entry_t entry);

#define CHECK_HANDLE(pointer, kind)                                                                \
    do {                                                                                           \
        const ze_result_t check_ = object_check((const object_t *)(pointer), (kind), this_entry);  \
        if (check_ != ZE_RESULT_SUCCESS) {                                                         \
            return check_;                                                                         \
        }                                                                                          \
    } while (0)

#define CHECK_POINTER(pointer)                                                                     \
    do {                                                                                           \
        if ((pointer) == NULL) {                                                                   \
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                                           \
        }                                                                                          \
    } while (0)

// --- settings.c ---------------------------------------------------------------------------------

// What zeDeviceGet gives when root devices have sub-devices, as Level Zero's own variable says.
typedef enum hierarchy {
    COMPOSITE, // the root devices
    FLAT,      // the sub-devices, as if they were root devices
    COMBINED,  // the sub-devices, which know their root device
} hierarchy_t;

typedef struct settings {
    uint32_t devices;     // root devices
    uint32_t sub_devices; // of each root device; 0, or 2 and more
    hierarchy_t hierarchy;
    uint64_t memory;         // bytes of each root device
    uint64_t max_allocation; // bytes
    uint64_t page;           // bytes, of large virtual memory
    uint64_t timer;          // ticks a second
    bool mapped_unknown;     // zeMemGetAllocProperties does not know mapped memory
    bool peer;               // devices can access each other
    bool check;              // the checker is on
    uint64_t seed;           // of the times at which workers go on; 0: as soon as they can
} settings_t;

extern settings_t settings;

// Reads the environment once; false (and a line on stderr for each problem) when it is not valid.
bool settings_load(void);
bool settings_hidden(const char *name);

// --- waiting.c: sleeping until a subject changes -----------------------------------------------

typedef bool condition_t(const void *subject, uint64_t value);
// True when the condition holds; false when the deadline has passed without that.
bool wait_until(const void *subject, condition_t *condition, uint64_t value, uint64_t deadline);
// After a change of the subject. Does not touch the subject, which may be gone by now.
void wake(const void *subject);

// --- timeline.c ---------------------------------------------------------------------------------

typedef struct timeline {
    _Atomic uint32_t references;
    _Atomic uint64_t completed;
    // Only for regular lists: how many commands one execution has, and executions submitted.
    _Atomic uint64_t period;
    _Atomic uint64_t submissions;
    timeline_order_t *order; // the checker's
} timeline_t;

timeline_t *timeline_create(void);
timeline_t *timeline_retain(timeline_t *timeline);
void timeline_release(timeline_t *timeline);
// Where `place` lies now that the list may have been submitted several times.
uint64_t timeline_target(const timeline_t *timeline, uint64_t place);
condition_t timeline_reached;
void timeline_advance(timeline_t *timeline);

// --- driver.c, device.c, device_memory.c
// ------------------------------------------------------------

typedef struct context context_t;

// Root devices come first; `index` counts on through the sub-devices of the first, and so on.
typedef struct device {
    object_t object;
    uint32_t index;
    uint32_t place;       // of a sub-device among those of its root
    struct device *root;  // NULL of a root device
    uint64_t memory_size; // bytes
    _Atomic uint64_t memory_limit;
    _Atomic uint64_t memory_used;
    _Atomic uint64_t resident; // bytes made resident from elsewhere, or explicitly
    _Atomic uint32_t gate_new; // depth of the gate for lists that are created from now on
} device_t;

typedef struct driver {
    object_t object;
    device_t devices[MAX_DEVICES];
    context_t *default_context;
} driver_t;

extern driver_t the_driver;
bool driver_ready(void);
const char *const *driver_published(void); // names, ended by NULL

void devices_init(void);
uint32_t device_count(void); // root devices and sub-devices
device_t *device_at(uint32_t index);
uint64_t device_bit(const device_t *device);
// Whether the mask has the device or its root device.
bool device_covered(uint64_t mask, const device_t *device);
// `bytes` more, or with a minus fewer, are resident on the devices of the mask.
void device_note_resident(uint64_t mask, int64_t bytes);
bool device_memory_take(device_t *device, uint64_t bytes);
void device_memory_give_back(device_t *device, uint64_t bytes);
uint64_t device_usable_memory(const device_t *device);
uint64_t device_ticks(void);
uint64_t device_ticks_at(uint64_t nanoseconds); // of the clock that os_now reads
uint32_t device_queue_count(uint32_t ordinal);

// --- context.c ----------------------------------------------------------------------------------

struct context {
    object_t object;
    uint64_t device_mask;
    _Atomic uint64_t children;
};

context_t *context_create_default(void);
bool context_has_device(const context_t *context, const device_t *device);
// The number of objects that the context must outlive.
void context_adopt(context_t *context);
void context_abandon(context_t *context);

// --- device_loss.c ------------------------------------------------------------------------------

void device_lose(const device_t *device);
// DEVICE_LOST, or SUCCESS; of a context, whether a device of it is lost.
ze_result_t device_result(const device_t *device);
ze_result_t context_result(const context_t *context);

// --- memory.c, virtual_memory.c -----------------------------------------------------------------

// What the driver knows about an address.
typedef struct memory_facts {
    ze_memory_type_t type;
    uint64_t id;
    uint64_t page;
    device_t *device;
    const context_t *context;
    uintptr_t base;
    size_t size;
} memory_facts_t;

bool memory_find(const void *address, memory_facts_t *facts);
// Calls `visit` for all memory there is; it must not ask about memory itself.
void memory_visit(void (*visit)(const memory_facts_t *, void *), void *argument);
void mapping_visit(void (*visit)(const memory_facts_t *, void *), void *argument);
bool memory_make_resident(const void *address, const device_t *device, bool resident);
// Releases the memory of deferred frees whose commands have completed.
void memory_collect_deferred(void);
bool mapping_find(const void *address, memory_facts_t *facts);
bool mapping_make_resident(const void *address, const device_t *device, bool resident);
uint64_t virtual_page(uint64_t size);
// Whether the driver gave the address once, though there is no memory now.
bool memory_was_given(const void *address);
bool address_is_reserved(const void *address);
// While the checker is on, addresses that go back are kept for a while, so that nobody else gets
// them, and who still uses them is seen.
void memory_retire(uintptr_t base, size_t size);

// --- command.c: the order of completion ---------------------------------------------------------

uint64_t commands_completed(void);
uint64_t next_serial(void);

// --- event.c ------------------------------------------------------------------------------------

typedef struct event_pool event_pool_t;

typedef struct event {
    object_t object;
    event_pool_t *pool; // NULL of an event without one
    context_t *context;
    uint32_t index;
    bool counter_based;
    bool timestamps;
    ze_event_scope_flags_t signal_scope;
    ze_event_scope_flags_t wait_scope;
    ze_event_counter_based_flags_t counter_flags;
    _Atomic uint32_t references; // of the memory: the handle, and recorded commands
    _Atomic uint64_t state;      // EVENT_SET, and EVENT_PENDING for each pending command
    _Atomic uint64_t serial;     // place of the last signal in the order of completion
    // Times in ticks; written before the event is complete, read after.
    _Atomic uint64_t start;
    _Atomic uint64_t end;
    // Counter-based only: the place of the last append.
    os_mutex_t mutex;
    timeline_t *timeline;
    uint64_t place;
    event_order_t order; // the checker's
} event_t;

#define EVENT_SET ((uint64_t)1)
#define EVENT_PENDING ((uint64_t)2)

// A wait: the event, or the timeline and the value.
typedef struct wait {
    event_t *event;
    timeline_t *timeline;
    uint64_t value;
} wait_t;

wait_t event_capture(event_t *event);
void event_retain(event_t *event);
void event_release(event_t *event);
void event_hold(event_t *event); // a pending command refers to it
void event_drop(event_t *event);
// The command that signals `event` is `place` on `timeline`.
void event_arm(event_t *event, timeline_t *timeline, uint64_t place);
// Ends a command that signals the event: times, serial, set, drop. The event may be gone after it.
void event_complete(event_t *event, uint64_t start, uint64_t end, uint64_t serial);
void event_reset(event_t *event);
bool event_is_complete(event_t *event);
bool event_wait(event_t *event, uint64_t deadline);
condition_t event_is_set;
bool wait_for(const wait_t *wait, uint64_t deadline);

#endif

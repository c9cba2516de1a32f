/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a program of operations: operations LIBRARY FILE. Each line of FILE is an operation, a name
 * and integers (tests/intel/programs.py writes them). For each, a line is printed: its number, then
 * facts, of which a part is missing if the operation ends the process. An operation that needs
 * something that is not there, since an earlier one failed, is left out.
 *
 * Slots hold what operations make; -1 is none. Wait lists are a count and slots of events.
 */
#include "facts.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { MAXIMUM_ARGUMENTS = 80, SECONDS = 15, LARGEST_VALUE = 1 << 16, USM_ALLOC_INFO_SIZE = 2 };

static long long arguments[MAXIMUM_ARGUMENTS];
static int argument_count, next_argument;

static long long number(void) {
    CHECK(next_argument < argument_count);
    return arguments[next_argument++];
}

static int slot(void) {
    const long long value = number();
    CHECK(value >= NONE && value < SLOTS);
    return (int)value;
}

static bool is_missing;

/* What is in a slot; an empty slot leaves the operation out. */
#define TAKE(place, index)                                                                         \
    ({                                                                                             \
        const int index_ = (index);                                                                \
        is_missing |= index_ != NONE && (place)[index_] == NULL;                                   \
        index_ == NONE ? NULL : (place)[index_];                                                   \
    })

static ur_queue_handle_t queue(void) { return TAKE(slots.queues, slot()); }
static ur_usm_pool_handle_t pool(void) { return TAKE(slots.pools, slot()); }
static ur_event_handle_t event(void) { return TAKE(slots.events, slot()); }

/* A pointer is a slot and an offset; without a slot the offset is the address. */
static void *pointer(void) {
    const int index = slot();
    char *base = TAKE(slots.pointers, index);
    const long long offset = number();
    return index == NONE ? (void *)(uintptr_t)offset : base + offset;
}

struct wait_list {
    uint32_t count;
    ur_event_handle_t events[SLOTS];
};

static struct wait_list wait_list(void) {
    struct wait_list list = {.count = (uint32_t)number()};
    for (uint32_t i = 0; i < list.count; i++)
        list.events[i] = event();
    return list;
}

#define WAIT_LIST(list) (list).count, (list).count == 0 ? NULL : (list).events

/* An event that an operation is to give, and the slot that it goes to. */
struct event_place {
    int slot;
    ur_event_handle_t event;
};

static struct event_place event_place(void) {
    const struct event_place place = {slot(), NULL};
    if (place.slot != NONE)
        slots.events[place.slot] = NULL;
    return place;
}

static ur_event_handle_t *place_of(struct event_place *place) {
    return place->slot == NONE ? NULL : &place->event;
}

static void store_event(const struct event_place *place) {
    if (place->slot == NONE)
        return;
    slots.events[place->slot] = place->event;
    printf(" event=%d", place->event != NULL);
}

/* Leaves an operation out, or tells its result; true if what it gave is to be stored. */
#define RUN(call)                                                                                  \
    (is_missing ? (printf(" left-out"), false) : ({                                                \
        const ur_result_t result_ = (call);                                                        \
        tell_result(result_);                                                                      \
        result_ == UR_RESULT_SUCCESS;                                                              \
    }))

enum { HOST = 1, DEVICE, SHARED };

static void enqueue_alloc(void) {
    const int kind = (int)number(), queue_slot = slot();
    ur_queue_handle_t on = TAKE(slots.queues, queue_slot);
    ur_usm_pool_handle_t from = pool();
    const size_t size = (size_t)number();
    const int target = slot();
    struct event_place place = event_place();
    const struct wait_list waits = wait_list();
    void *memory = NULL;
    __typeof__(&urEnqueueUSMDeviceAllocExp) alloc = kind == HOST ? UR(urEnqueueUSMHostAllocExp)
                                                    : kind == DEVICE
                                                        ? UR(urEnqueueUSMDeviceAllocExp)
                                                        : UR(urEnqueueUSMSharedAllocExp);
    slots.pointers[target] = NULL;
    if (RUN(alloc(on, from, size, NULL, WAIT_LIST(waits), &memory, place_of(&place)))) {
        slots.pointers[target] = memory;
        tell_given_out(queue_slot, kind, memory, size);
        store_event(&place);
    }
}

static void enqueue_free(void) {
    const int queue_slot = slot();
    ur_queue_handle_t on = TAKE(slots.queues, queue_slot);
    ur_usm_pool_handle_t hint = pool();
    void *memory = pointer();
    struct event_place place = event_place();
    const struct wait_list waits = wait_list();
    if (RUN(UR(urEnqueueUSMFreeExp)(on, hint, memory, WAIT_LIST(waits), place_of(&place)))) {
        note_given_back(queue_slot, memory);
        store_event(&place);
    }
}

static void usm_alloc(void) {
    const int kind = (int)number();
    ur_usm_pool_handle_t from = pool();
    const size_t size = (size_t)number();
    const uint32_t alignment = (uint32_t)number();
    const int target = slot();
    const ur_usm_desc_t description = {1, NULL, 0, alignment};
    void *memory = NULL;
    ur_device_handle_t device = slots.adapter.device;
    slots.pointers[target] = NULL;
    if (RUN(kind == HOST ? UR(urUSMHostAlloc)(slots.context, &description, from, size, &memory)
            : kind == DEVICE
                ? UR(urUSMDeviceAlloc)(slots.context, device, &description, from, size, &memory)
                : UR(urUSMSharedAlloc)(slots.context, device, &description, from, size, &memory))) {
        slots.pointers[target] = memory;
        tell_given_out(NONE, kind, memory, size);
        printf(" aligned=%d", alignment == 0 || (uintptr_t)memory % alignment == 0);
    }
}

static void usm_free(void) {
    void *memory = pointer();
    if (RUN(UR(urUSMFree)(slots.context, memory)))
        note_given_back(NONE, memory);
}

static void fill(void) {
    ur_queue_handle_t on = queue();
    void *memory = pointer();
    const size_t pattern_size = (size_t)number();
    uint64_t pattern[16];
    for (int i = 0; i < 16; i++)
        pattern[i] = (uint64_t)arguments[next_argument] * 0x0101010101010101u;
    (void)number();
    const size_t size = (size_t)number();
    struct event_place place = event_place();
    const struct wait_list waits = wait_list();
    if (RUN(UR(urEnqueueUSMFill)(on, memory, pattern_size, pattern, size, WAIT_LIST(waits),
                                 place_of(&place))))
        store_event(&place);
}

static void copy(void) {
    ur_queue_handle_t on = queue();
    const bool is_blocking = number() != 0;
    void *target = pointer(), *source = pointer();
    const size_t size = (size_t)number();
    struct event_place place = event_place();
    const struct wait_list waits = wait_list();
    if (RUN(UR(urEnqueueUSMMemcpy)(on, is_blocking, target, source, size, WAIT_LIST(waits),
                                   place_of(&place))))
        store_event(&place);
}

/* Tells what is in memory whose contents are defined. */
static void read_back(void) {
    static unsigned char seen[LARGEST_VALUE];
    ur_queue_handle_t on = queue();
    void *memory = pointer();
    const size_t size = (size_t)number();
    CHECK(size <= sizeof(seen));
    memset(seen, 0xEE, size);
    if (RUN(UR(urEnqueueUSMMemcpy)(on, true, seen, memory, size, 0, NULL, NULL))) {
        bool is_even = true;
        for (size_t i = 1; i < size; i++)
            is_even &= seen[i] == seen[0];
        printf(" byte=%d even=%d", seen[0], is_even);
    }
}

static void barrier(void) {
    const int kind = (int)number();
    ur_queue_handle_t on = queue();
    struct event_place place = event_place();
    const struct wait_list waits = wait_list();
    ur_event_handle_t *given = place_of(&place);
    if (RUN(kind == 0   ? UR(urEnqueueEventsWait)(on, WAIT_LIST(waits), given)
            : kind == 1 ? UR(urEnqueueEventsWaitWithBarrier)(on, WAIT_LIST(waits), given)
            : kind == 2 ? UR(urEnqueueEventsWaitWithBarrierExt)(on, NULL, WAIT_LIST(waits), given)
                        : UR(urEnqueueTimestampRecordingExp)(on, false, WAIT_LIST(waits), given)))
        store_event(&place);
}

static void event_wait(void) {
    const struct wait_list waits = wait_list();
    (void)RUN(UR(urEventWait)(waits.count, waits.events));
}

static void event_retain(void) { (void)RUN(UR(urEventRetain)(event())); }

/* Releases; the last time (as the program says) the slot becomes empty. */
static void event_release(void) {
    const int index = slot();
    ur_event_handle_t released = TAKE(slots.events, index);
    const bool is_last = number() != 0;
    if (RUN(UR(urEventRelease)(released)) && is_last)
        slots.events[index] = NULL;
}

static void queue_create(void) {
    const int index = slot();
    const ur_queue_properties_t properties = {14, NULL, (uint32_t)number()};
    ur_queue_handle_t created = NULL;
    if (RUN(UR(urQueueCreate)(slots.context, slots.adapter.device, &properties, &created)))
        slots.queues[index] = created;
}

static void queue_call(void) {
    const int call = (int)number(), index = slot();
    ur_queue_handle_t on = TAKE(slots.queues, index);
    const bool is_done = RUN(call == 0   ? UR(urQueueFinish)(on)
                             : call == 1 ? UR(urQueueFlush)(on)
                             : call == 2 ? UR(urQueueRetain)(on)
                                         : UR(urQueueRelease)(on));
    if (is_done && call == 4)
        slots.queues[index] = NULL;
}

static void pool_create(void) {
    const int way = (int)number(), index = slot();
    ur_usm_pool_limits_desc_t limits = {20, NULL, 0, 0};
    ur_usm_pool_desc_t description = {10, NULL, (uint32_t)number()};
    limits.maxPoolableSize = (size_t)number();
    if (limits.maxPoolableSize != 0)
        description.pNext = &limits;
    ur_usm_pool_handle_t created = NULL;
    ur_device_handle_t device = slots.adapter.device;
    if (RUN(way == 0   ? UR(urUSMPoolCreate)(slots.context, &description, &created)
            : way == 1 ? UR(urUSMPoolCreateExp)(slots.context, device, &description, &created)
            : way == 2 ? UR(urUSMPoolGetDefaultDevicePoolExp)(slots.context, device, &created)
                       : UR(urUSMPoolGetDevicePoolExp)(slots.context, device, &created))) {
        slots.pools[index] = created;
        printf(" pool=%d", created != NULL);
    }
}

static void pool_call(void) {
    const int call = (int)number(), index = slot();
    ur_usm_pool_handle_t of = TAKE(slots.pools, index);
    const size_t bytes = (size_t)number();
    ur_device_handle_t device = slots.adapter.device;
    const bool is_done = RUN(call == 0   ? UR(urUSMPoolRetain)(of)
                             : call == 1 ? UR(urUSMPoolSetDevicePoolExp)(slots.context, device, of)
                             : call == 2 ? UR(urUSMPoolTrimToExp)(slots.context, device, of, bytes)
                             : call == 3 ? UR(urUSMPoolRelease)(of)
                                         : UR(urUSMPoolDestroyExp)(slots.context, device, of));
    if (is_done && call >= 2)
        forget_given_back();
    if (is_done && call >= 3 && bytes != 0) /* the last time, as the program says */
        slots.pools[index] = NULL;
}

static void pool_set(void) {
    ur_usm_pool_handle_t of = pool();
    const uint32_t name = (uint32_t)number();
    size_t value = (size_t)number();
    (void)RUN(UR(urUSMPoolSetInfoExp)(of, name, &value, (size_t)number()));
}

/* How many bytes a pool says, in view of what is in use of its kind of memory. */
static void pool_bytes(void) {
    ur_usm_pool_handle_t of = pool();
    const uint32_t name = (uint32_t)number();
    const size_t in_use = bytes_in_use((unsigned)number());
    size_t value = 0, size = 0;
    if (RUN(UR(urUSMPoolGetInfoExp)(of, name, &value, &size))) {
        printf(" size=%zu", size);
        tell_number("bytes", value, in_use, "in-use");
    }
}

/* Asks for a property: for its size, then, with so many bytes more or less, for its value. */
static void info(void) {
    enum { ADAPTER, PLATFORM, DEVICE_, CONTEXT, QUEUE, EVENT, PROFILING, MEMORY, POOL };
    static char value[LARGEST_VALUE];
    size_t needed = 0, size = 0;
    const int object = (int)number();
    const uint32_t name = (uint32_t)number();
    const long long more = number();
    ur_queue_handle_t a_queue = object == QUEUE ? queue() : NULL;
    ur_event_handle_t an_event = object == EVENT || object == PROFILING ? event() : NULL;
    ur_usm_pool_handle_t a_pool = object == POOL ? pool() : NULL;
    void *memory = object == MEMORY ? pointer() : NULL;
#define ASK(size, value)                                                                           \
    (object == ADAPTER ? UR(urAdapterGetInfo)(slots.adapter.adapter, name, size, value, &needed)   \
     : object == PLATFORM                                                                          \
         ? UR(urPlatformGetInfo)(slots.adapter.platform, name, size, value, &needed)               \
     : object == DEVICE_   ? UR(urDeviceGetInfo)(slots.adapter.device, name, size, value, &needed) \
     : object == CONTEXT   ? UR(urContextGetInfo)(slots.context, name, size, value, &needed)       \
     : object == QUEUE     ? UR(urQueueGetInfo)(a_queue, name, size, value, &needed)               \
     : object == EVENT     ? UR(urEventGetInfo)(an_event, name, size, value, &needed)              \
     : object == PROFILING ? UR(urEventGetProfilingInfo)(an_event, name, size, value, &needed)     \
     : object == MEMORY                                                                            \
         ? UR(urUSMGetMemAllocInfo)(slots.context, memory, name, size, value, &needed)             \
         : UR(urUSMPoolGetInfo)(a_pool, name, size, value, &needed))
    if (!RUN(ASK(0, NULL)))
        return;
    size = needed + (size_t)more;
    CHECK(size <= sizeof(value));
    memset(value, 0x55, sizeof(value));
    const ur_result_t result = ASK(size, value);
    printf(" value-result=%u", result);
    uint64_t word = 0;
    memcpy(&word, value, sizeof(word));
    if (result != UR_RESULT_SUCCESS)
        tell_property(needed, NULL, 0, NULL);
    else if (object == PROFILING)
        printf(" time=%s", word == 0 ? "0" : "set");
    else if (object == MEMORY && name == USM_ALLOC_INFO_SIZE)
        tell_number("value", word, size_of(memory), "requested");
    else
        tell_property(needed, value, needed, memory);
}

static void context_call(void) {
    const int call = (int)number();
    ur_context_handle_t of = slots.context;
    is_missing |= of == NULL;
    if (RUN(call == 0 ? UR(urContextRetain)(of) : UR(urContextRelease)(of)) && call == 2)
        slots.context = NULL;
}

static const struct {
    const char *name;
    void (*run)(void);
} operations[] = {
    {"enqueue-alloc", enqueue_alloc},
    {"enqueue-free", enqueue_free},
    {"usm-alloc", usm_alloc},
    {"usm-free", usm_free},
    {"fill", fill},
    {"copy", copy},
    {"read", read_back},
    {"barrier", barrier},
    {"event-wait", event_wait},
    {"event-retain", event_retain},
    {"event-release", event_release},
    {"queue-create", queue_create},
    {"queue-call", queue_call},
    {"pool-create", pool_create},
    {"pool-call", pool_call},
    {"pool-set", pool_set},
    {"pool-bytes", pool_bytes},
    {"info", info},
    {"context-call", context_call},
};

static void run(const char *name) {
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (strcmp(operations[i].name, name) == 0) {
            operations[i].run();
            return;
        }
    fprintf(stderr, "there is no operation %s\n", name);
    exit(1);
}

int main(int count, char **words) {
    char line[4096];
    CHECK(count == 3);
    FILE *file = fopen(words[2], "r");
    CHECK(file != NULL);
    open_library(words[1]);
    slots.adapter = open_adapter();
    OK(UR(urContextCreate)(1, &slots.adapter.device, NULL, &slots.context));
    for (int i = 0; fgets(line, sizeof(line), file) != NULL; i++) {
        const char *name = strtok(line, " \n");
        CHECK(name != NULL);
        argument_count = next_argument = 0;
        for (char *word; (word = strtok(NULL, " \n")) != NULL;) {
            CHECK(argument_count < MAXIMUM_ARGUMENTS);
            arguments[argument_count++] = strtoll(word, NULL, 0);
        }
        is_missing = false;
        printf("%d", i);
        fflush(stdout);
        alarm(SECONDS);
        if (strcmp(name, "skip") != 0)
            run(name);
        puts("");
        fflush(stdout);
    }
    alarm(SECONDS);
    puts("end");
    return 0;
}

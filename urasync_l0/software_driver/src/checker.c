// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What comes before what, and what follows from it. One lock for all; nothing is called under it
// that takes another.

#include "checker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

enum {
    HOST = 0,          // the host's slot
    KEPT_PLACES = 512, // of a timeline
    MOST_STRETCHES = 4096,
    MOST_REPORTS = 64, // that are kept; all are counted
    LONGEST_REPORT = 512,
};

typedef struct place_clock {
    uint64_t place;
    vector_clock_t clock;
} place_clock_t;

// A ring of the latest places, in their order.
struct timeline_order {
    uint64_t count; // ever
    place_clock_t places[KEPT_PLACES];
};

bool checker_is_on = false;

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static vector_clock_t host;
static access_map_t memory;
static size_t sweep_at = MOST_STRETCHES;

// Workers by slot. The numbers of a slot go on when it serves another worker.
typedef struct slot {
    worker_t *worker;
    uint64_t number;
} slot_t;
static slot_t *slots = NULL;
static uint32_t slot_count = 1; // slot 0 is the host's

static char reports[MOST_REPORTS][LONGEST_REPORT];
static uint64_t report_count = 0;

void checker_start(bool on) { checker_is_on = on; }

// --- Reports ------------------------------------------------------------------------------------

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...) {
    char text[LONGEST_REPORT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "urasync software driver: %s\n", text);
    if (report_count < MOST_REPORTS) {
        memcpy(reports[report_count], text, sizeof text);
    }
    ++report_count;
}

typedef struct step_name {
    char text[128];
} step_name_t;

static step_name_t name_of(const step_t *step) {
    step_name_t name;
    if (step->slot == HOST) {
        snprintf(name.text, sizeof name.text, "%s", entry_name(step->entry));
    } else {
        snprintf(name.text, sizeof name.text, "%s (command %" PRIu64 " of list 0x%" PRIx64 ")",
                 entry_name(step->entry), step->place, step->list);
    }
    return name;
}

static void report_conflict(const step_t *step, bool writes, const conflict_t *conflict) {
    if (conflict->found) {
        report("no order between %s, which %s the %zu bytes at 0x%" PRIxPTR
               ", and %s, which %s them",
               name_of(step).text, writes ? "writes" : "reads", conflict->size, conflict->base,
               name_of(&conflict->other).text, conflict->other_writes ? "writes" : "reads");
    }
}

uint64_t urasync_checker_report_count(void) {
    os_mutex_lock(&mutex);
    const uint64_t count = report_count;
    os_mutex_unlock(&mutex);
    return count;
}

size_t urasync_checker_report(uint64_t index, char *text, size_t capacity) {
    os_mutex_lock(&mutex);
    size_t length = 0;
    if (index < report_count && index < MOST_REPORTS) {
        length = strlen(reports[index]);
        if (capacity > 0) {
            snprintf(text, capacity, "%s", reports[index]);
        }
    }
    os_mutex_unlock(&mutex);
    return length;
}

void urasync_checker_clear(void) {
    os_mutex_lock(&mutex);
    report_count = 0;
    os_mutex_unlock(&mutex);
}

int32_t urasync_checker_is_on(void) { return checker_is_on ? 1 : 0; }

// --- Workers ------------------------------------------------------------------------------------

void checker_worker_created(worker_t *worker) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    uint32_t slot = 1;
    while (slot < slot_count && slots[slot].worker != NULL) {
        ++slot;
    }
    if (slot == slot_count || slots == NULL) {
        slots = checker_memory(slots, (slot + 1) * sizeof *slots);
        slots[slot].number = 0;
        slot_count = slot + 1;
    }
    slots[slot].worker = worker;
    worker->order = (worker_order_t){.slot = slot};
    os_mutex_unlock(&mutex);
}

void checker_worker_destroyed(worker_t *worker) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    vector_clock_join(&host, &worker->order.clock);
    vector_clock_clear(&worker->order.clock);
    step_release(worker->order.step);
    worker->order.step = NULL;
    slots[worker->order.slot].worker = NULL;
    os_mutex_unlock(&mutex);
}

vector_clock_t *checker_host_knowledge(void) {
    if (!checker_is_on) {
        return NULL;
    }
    vector_clock_t *knowledge = checker_memory(NULL, sizeof *knowledge);
    *knowledge = (vector_clock_t){0};
    os_mutex_lock(&mutex);
    vector_clock_join(knowledge, &host);
    os_mutex_unlock(&mutex);
    return knowledge;
}

void checker_drop_knowledge(vector_clock_t *knowledge) {
    if (knowledge != NULL) {
        vector_clock_clear(knowledge);
        free(knowledge);
    }
}

void checker_signal_appended(const worker_t *worker, event_t *event) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    event->order.signaller = worker->number;
    os_mutex_unlock(&mutex);
}

// --- Commands -----------------------------------------------------------------------------------

static bool is_forgiven(const worker_t *worker) {
    return worker->order.place <= worker->order.forgiven;
}

void checker_command_begins(worker_t *worker, command_t *command, uint64_t list, uint64_t place) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    worker_order_t *order = &worker->order;
    if (command->known != NULL) {
        vector_clock_join(&order->clock, command->known);
    }
    if (list == 0) {
        order->place = place;
    }
    const uint64_t number = ++slots[order->slot].number;
    vector_clock_raise(&order->clock, order->slot, number);
    step_release(order->step);
    order->step =
        step_create(order->slot, number, command->entry, list != 0 ? list : order->owner, place);
    os_mutex_unlock(&mutex);
}

// What is before a place: that of the first place at or behind it which is known.
static const vector_clock_t *clock_of_place(const timeline_t *timeline, uint64_t place) {
    const timeline_order_t *order = timeline->order;
    if (order == NULL) {
        return NULL;
    }
    uint64_t low = order->count > KEPT_PLACES ? order->count - KEPT_PLACES : 0;
    uint64_t high = order->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (order->places[middle % KEPT_PLACES].place < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < order->count ? &order->places[low % KEPT_PLACES].clock : NULL;
}

static void join_place(vector_clock_t *clock, const timeline_t *timeline, uint64_t place) {
    const vector_clock_t *before = clock_of_place(timeline, place);
    if (before != NULL) {
        vector_clock_join(clock, before);
    }
}

// Waits and signals must come after the reset before; a reset must come after all of them.
static void use_event(event_t *event, step_t *step, const vector_clock_t *clock, bool resets,
                      const char *does) {
    const step_t *other = accesses_unordered(&event->order.uses, clock, resets);
    if (other != NULL) {
        report("%s %s event 0x%" PRIxPTR " with no order to %s, which uses it", name_of(step).text,
               does, (uintptr_t)event, name_of(other).text);
    }
    if (resets) {
        accesses_note_write(&event->order.uses, step);
    } else {
        accesses_note_read(&event->order.uses, step);
    }
}

void checker_command_waited(worker_t *worker, const wait_t *wait) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    worker_order_t *order = &worker->order;
    if (wait->event != NULL) {
        vector_clock_join(&order->clock, &wait->event->order.signalled);
        if (!is_forgiven(worker)) {
            use_event(wait->event, order->step, &order->clock, false, "waits for");
        }
    } else if (wait->timeline != NULL) {
        join_place(&order->clock, wait->timeline, wait->value);
    }
    os_mutex_unlock(&mutex);
}

// Whether all bytes are memory, as far as the driver can know: what it never gave may be the
// host's own.
static bool is_memory(const worker_t *worker, uintptr_t base, size_t size) {
    const uintptr_t end = base + size;
    for (uintptr_t at = base; at < end;) {
        memory_facts_t facts;
        if (memory_find((const void *)at, &facts)) {
            at = facts.base + facts.size;
        } else if (at > base || memory_was_given((const void *)at)) {
            os_mutex_lock(&mutex);
            report("%s touches %zu bytes at 0x%" PRIxPTR ", of which those from 0x%" PRIxPTR
                   " on are no memory: they were freed, unmapped or never given; it did not run",
                   name_of(worker->order.step).text, size, base, at);
            os_mutex_unlock(&mutex);
            return false;
        } else {
            return true;
        }
    }
    return true;
}

static void touch(worker_t *worker, uintptr_t base, size_t size, bool writes) {
    step_t *step = worker->order.step;
    const conflict_t conflict =
        access_map_touch(&memory, base, size, writes, step, &worker->order.clock);
    report_conflict(step, writes, &conflict);
}

static bool touch_range(worker_t *worker, const byte_range_t *range, bool surely) {
    (void)surely;
    touch(worker, range->base, range->size, range->written);
    return true;
}

static bool range_is_memory(worker_t *worker, const byte_range_t *range, bool surely) {
    return !surely || is_memory(worker, range->base, range->size);
}

typedef void piece_t(worker_t *worker, uintptr_t base, size_t size, bool writes);

static void each_row(worker_t *worker, const command_t *command, const region_side_t *side,
                     bool writes, piece_t *piece) {
    for (size_t slice = 0; slice < command->region.slices; ++slice) {
        for (size_t row = 0; row < command->region.rows; ++row) {
            piece(worker, side->first + slice * side->slice + row * side->pitch,
                  command->region.width, writes);
        }
    }
}

static void each_piece(worker_t *worker, const command_t *command, piece_t *piece) {
    if (command->action == ACTION_COPY_REGION) {
        each_row(worker, command, &command->region.from, false, piece);
        each_row(worker, command, &command->region.to, true, piece);
        return;
    }
    for (uint32_t i = command->range_count; i > 0; --i) { // what is read comes second
        const byte_range_t *range = &command->ranges[i - 1];
        piece(worker, range->base, range->size, range->written);
    }
    if (command->action == ACTION_LAUNCH) {
        launches_visit_ranges(worker, command, touch_range);
    }
    if (command->action == ACTION_QUERY_TIMESTAMPS) {
        for (uint32_t i = 0; i < command->query.count; ++i) {
            piece(worker, command_query_result(command, i), sizeof(ze_kernel_timestamp_result_t),
                  true);
        }
    }
}

bool checker_command_touches(worker_t *worker, const command_t *command) {
    if (!checker_is_on) {
        return true;
    }
    for (uint32_t i = 0; i < command->range_count; ++i) {
        if (!is_memory(worker, command->ranges[i].base, command->ranges[i].size)) {
            return false;
        }
    }
    if (command->action == ACTION_LAUNCH &&
        !launches_visit_ranges(worker, command, range_is_memory)) {
        return false;
    }
    os_mutex_lock(&mutex);
    if (!is_forgiven(worker)) {
        each_piece(worker, command, touch);
    }
    if (memory.count > sweep_at) {
        access_map_sweep(&memory, &host);
        sweep_at = 2 * memory.count > MOST_STRETCHES ? 2 * memory.count : MOST_STRETCHES;
    }
    os_mutex_unlock(&mutex);
    return true;
}

void checker_command_resets(worker_t *worker, event_t *event) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    if (!is_forgiven(worker)) {
        use_event(event, worker->order.step, &worker->order.clock, true, "resets");
    }
    os_mutex_unlock(&mutex);
}

void checker_command_signals(worker_t *worker, event_t *event) {
    if (!checker_is_on || event->counter_based) {
        return;
    }
    os_mutex_lock(&mutex);
    vector_clock_copy(&event->order.signalled, &worker->order.clock);
    if (!is_forgiven(worker)) {
        use_event(event, worker->order.step, &worker->order.clock, false, "signals");
    }
    os_mutex_unlock(&mutex);
}

void checker_place_reached(worker_t *worker, timeline_t *timeline, uint64_t place) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    if (timeline->order == NULL) {
        timeline->order = checker_memory(NULL, sizeof *timeline->order);
        memset(timeline->order, 0, sizeof *timeline->order);
    }
    place_clock_t *entry = &timeline->order->places[timeline->order->count++ % KEPT_PLACES];
    entry->place = place;
    vector_clock_copy(&entry->clock, &worker->order.clock);
    os_mutex_unlock(&mutex);
}

// --- The host -----------------------------------------------------------------------------------

// The next step of the host, under the lock.
static step_t *host_step(entry_t entry) {
    const uint64_t number = host.count > HOST ? host.at[HOST] + 1 : 1;
    vector_clock_raise(&host, HOST, number);
    return step_create(HOST, number, entry, 0, 0);
}

void checker_host_saw_worker(const worker_t *worker) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    vector_clock_join(&host, &worker->order.clock);
    os_mutex_unlock(&mutex);
}

void checker_host_saw_timeline(const timeline_t *timeline) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    for (uint32_t slot = 1; slot < slot_count; ++slot) {
        if (slots[slot].worker != NULL && slots[slot].worker->timeline == timeline) {
            vector_clock_join(&host, &slots[slot].worker->order.clock);
        }
    }
    os_mutex_unlock(&mutex);
}

// The host has seen the signal now, or it does not matter any more.
static void forget_signaller(entry_t entry, event_t *event) {
    const uint64_t signaller = event->order.signaller;
    event->order.signaller = 0;
    for (uint32_t slot = 1; slot < slot_count && signaller != 0; ++slot) {
        if (slots[slot].worker != NULL && slots[slot].worker->number == signaller) {
            return;
        }
    }
    if (signaller != 0) {
        report("%s for event 0x%" PRIxPTR ", whose signal came from an immediate list that was "
               "destroyed before anybody saw it: Intel's driver writes to the list now",
               entry_name(entry), (uintptr_t)event);
    }
}

void checker_host_saw_event(entry_t entry, event_t *event) {
    if (!checker_is_on) {
        return;
    }
    const wait_t wait = event_capture(event);
    os_mutex_lock(&mutex);
    forget_signaller(entry, event);
    if (wait.event != NULL) {
        vector_clock_join(&host, &event->order.signalled);
    } else if (wait.timeline != NULL) {
        join_place(&host, wait.timeline, wait.value);
    }
    os_mutex_unlock(&mutex);
    timeline_release(wait.timeline);
}

void checker_host_signals(entry_t entry, event_t *event) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    forget_signaller(entry, event);
    step_t *step = host_step(entry);
    vector_clock_copy(&event->order.signalled, &host);
    use_event(event, step, &host, false, "signals");
    step_release(step);
    os_mutex_unlock(&mutex);
}

// A destruction does not look at the list that signalled the event.
static void host_uses(entry_t entry, event_t *event, const char *does, bool looks_at_list) {
    os_mutex_lock(&mutex);
    step_t *step = host_step(entry);
    if (atomic_load(&event->state) >= EVENT_PENDING) {
        report("%s %s event 0x%" PRIxPTR ", to which a command refers that has not completed",
               entry_name(entry), does, (uintptr_t)event);
        accesses_note_write(&event->order.uses, step);
    } else {
        use_event(event, step, &host, true, does);
    }
    if (looks_at_list) {
        forget_signaller(entry, event);
    }
    step_release(step);
    os_mutex_unlock(&mutex);
}

void checker_host_resets(entry_t entry, event_t *event) {
    if (checker_is_on) {
        host_uses(entry, event, "resets", true);
    }
}

void checker_event_destroyed(entry_t entry, event_t *event) {
    if (checker_is_on) {
        host_uses(entry, event, "destroys", false);
    }
}

void checker_event_forgotten(event_t *event) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    vector_clock_clear(&event->order.signalled);
    accesses_clear(&event->order.uses);
    os_mutex_unlock(&mutex);
}

void checker_kernel_destroyed(entry_t entry, const char *name, uint32_t pending) {
    if (checker_is_on && pending > 0) {
        os_mutex_lock(&mutex);
        report("%s destroys the kernel '%s', of which %u launches have not completed",
               entry_name(entry), name, pending);
        os_mutex_unlock(&mutex);
    }
}

void checker_timeline_forgotten(timeline_t *timeline) {
    if (timeline->order == NULL) {
        return;
    }
    for (int i = 0; i < KEPT_PLACES; ++i) {
        vector_clock_clear(&timeline->order->places[i].clock);
    }
    free(timeline->order);
}

// Whether the command at a place still has something to do. It has signalled before its worker is
// done with it, and the host may have seen the signal; the worker may have gone on since it was
// found among the pending ones.
static bool may_still_run(const worker_t *worker, uint64_t place) {
    const step_t *step = worker->order.step;
    if (place != worker->order.place) {
        return place > worker->order.place;
    }
    return step == NULL || !vector_clock_covers(&host, step->slot, step->number);
}

// Looks for commands that have not completed; `*accused` is whether one is not of a lost device.
static bool is_pending(const wait_t *pending, size_t count, bool *accused) {
    bool found = false;
    for (size_t i = 0; i < count; ++i) {
        for (uint32_t slot = 1; slot < slot_count; ++slot) {
            const worker_t *worker = slots[slot].worker;
            if (worker != NULL && worker->timeline == pending[i].timeline &&
                may_still_run(worker, pending[i].value)) {
                found = true;
                *accused = *accused || pending[i].value > worker->order.forgiven;
            }
        }
    }
    return found;
}

void checker_memory_awaited(uintptr_t base, size_t size) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    access_map_forget(&memory, base, size, &host);
    os_mutex_unlock(&mutex);
}

bool checker_memory_goes(entry_t entry, uintptr_t base, size_t size) {
    if (!checker_is_on) {
        return true;
    }
    wait_t *pending;
    size_t count;
    if (!workers_using(base, size, &pending, &count)) {
        count = 0;
    }
    os_mutex_lock(&mutex);
    step_t *step = host_step(entry);
    const conflict_t conflict = access_map_forget(&memory, base, size, &host);
    bool accused = false;
    const bool is_used = is_pending(pending, count, &accused);
    if (accused) {
        report("%s takes the %zu bytes at 0x%" PRIxPTR
               " away, which a command uses that has not completed; they stay where they are",
               entry_name(entry), size, base);
    } else if (conflict.found) {
        report("%s takes the %zu bytes at 0x%" PRIxPTR
               " away with no order to %s, which %s them: nobody has seen it complete",
               entry_name(entry), size, base, name_of(&conflict.other).text,
               conflict.other_writes ? "writes" : "reads");
    }
    step_release(step);
    os_mutex_unlock(&mutex);
    for (size_t i = 0; i < count; ++i) {
        timeline_release(pending[i].timeline);
    }
    free(pending);
    return !is_used;
}

void checker_device_lost(void) {
    if (!checker_is_on) {
        return;
    }
    os_mutex_lock(&mutex);
    for (uint32_t slot = 1; slot < slot_count; ++slot) {
        worker_t *worker = slots[slot].worker;
        if (worker != NULL) {
            worker->order.forgiven = atomic_load(&worker->appended);
            vector_clock_join(&host, &worker->order.clock);
        }
        vector_clock_raise(&host, slot, slots[slot].number);
    }
    access_map_sweep(&memory, &host);
    os_mutex_unlock(&mutex);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands: what they wait for, what they do to memory, what they signal.

#include <stdlib.h>
#include <string.h>

#include "worker.h"

static _Atomic uint64_t completed = 0;

uint64_t commands_completed(void) { return atomic_load(&completed); }

uint64_t next_serial(void) { return atomic_fetch_add(&completed, 1) + 1; }

uint64_t urasync_commands_completed(void) { return commands_completed(); }

void command_add_range(command_t *command, const void *base, size_t size, bool written) {
    if (size > 0) {
        command->ranges[command->range_count++] = (byte_range_t){(uintptr_t)base, size, written};
    }
}

static bool overlap(uintptr_t base, size_t size, uintptr_t other_base, size_t other_size) {
    return base < other_base ? other_base - base < size : base - other_base < other_size;
}

uintptr_t command_query_result(const command_t *command, uint32_t number) {
    const size_t offset = command->query.offsets != NULL
                              ? command->query.offsets[number]
                              : number * sizeof(ze_kernel_timestamp_result_t);
    return (uintptr_t)command->query.destination + offset;
}

bool command_touches(const command_t *command, uintptr_t base, size_t size) {
    for (uint32_t i = 0; i < command->range_count; ++i) {
        if (overlap(base, size, command->ranges[i].base, command->ranges[i].size)) {
            return true;
        }
    }
    if (command->action == ACTION_QUERY_TIMESTAMPS) {
        for (uint32_t i = 0; i < command->query.count; ++i) {
            if (overlap(base, size, command_query_result(command, i),
                        sizeof(ze_kernel_timestamp_result_t))) {
                return true;
            }
        }
    }
    if (command->action == ACTION_LAUNCH && launches_touch(command, base, size)) {
        return true;
    }
    if (command->action == ACTION_EXECUTE_LISTS) {
        for (uint32_t i = 0; i < command->execute.count; ++i) {
            for (const command_t *inner = command->execute.lists[i]->first; inner != NULL;
                 inner = inner->next) {
                if (command_touches(inner, base, size)) {
                    return true;
                }
            }
        }
    }
    return false;
}

void command_visit_events(const command_t *command, void (*visit)(event_t *, void *), void *arg) {
    for (uint32_t i = 0; i < command->wait_count; ++i) {
        if (command->waits[i].event != NULL) {
            visit(command->waits[i].event, arg);
        }
    }
    if (command->signal != NULL) {
        visit(command->signal, arg);
    }
    if (command->action == ACTION_RESET_EVENT) {
        visit(command->reset, arg);
    }
    if (command->action == ACTION_QUERY_TIMESTAMPS) {
        for (uint32_t i = 0; i < command->query.count; ++i) {
            visit(command->query.events[i], arg);
        }
    }
}

void command_free_arrays(command_t *command) {
    if (command->waits != command->inline_waits) {
        free(command->waits);
    }
    if (command->action == ACTION_QUERY_TIMESTAMPS) {
        free(command->query.events);
        free(command->query.offsets);
    }
    if (command->action == ACTION_LAUNCH) {
        launch_free(command->launch.first);
    }
}

static void drop_event(event_t *event, void *argument) {
    (void)argument;
    event_drop(event);
}

static void release_event(event_t *event, void *argument) {
    (void)argument;
    event_release(event);
}

void command_discard(command_t *command) {
    command_visit_events(command, command->recorded ? release_event : drop_event, NULL);
    for (uint32_t i = 0; i < command->wait_count; ++i) {
        timeline_release(command->waits[i].timeline);
    }
    command_free_arrays(command);
    checker_drop_knowledge(command->known);
    free(command);
}

static void fill(const command_t *command) {
    const size_t size = command->ranges[0].size;
    char *to = (char *)command->ranges[0].base;
    const size_t pattern_size = command->fill.pattern_size;
    if (pattern_size == 1) {
        memset(to, command->fill.pattern[0], size);
        return;
    }
    // Doubles what is there already; later parts are multiples of the pattern away.
    size_t done = pattern_size < size ? pattern_size : size;
    memcpy(to, command->fill.pattern, done);
    while (done < size) {
        const size_t limit = (size_t)64 * 1024; // stay within the cache
        size_t part = done < limit ? done : limit - limit % pattern_size;
        part = part < size - done ? part : size - done;
        memcpy(to + done, to, part);
        done += part;
    }
}

static void copy_region(const command_t *command) {
    for (size_t slice = 0; slice < command->region.slices; ++slice) {
        for (size_t row = 0; row < command->region.rows; ++row) {
            const region_side_t *to = &command->region.to;
            const region_side_t *from = &command->region.from;
            // They may overlap, which is the application's fault.
            memmove((char *)to->first + slice * to->slice + row * to->pitch,
                    (const char *)from->first + slice * from->slice + row * from->pitch,
                    command->region.width);
        }
    }
}

static void query_timestamps(const command_t *command) {
    for (uint32_t i = 0; i < command->query.count; ++i) {
        const event_t *event = command->query.events[i];
        const ze_kernel_timestamp_data_t data = {.kernelStart = atomic_load(&event->start),
                                                 .kernelEnd = atomic_load(&event->end)};
        const ze_kernel_timestamp_result_t result = {.global = data, .context = data};
        memcpy((void *)command_query_result(command, i), &result, sizeof result);
        event_drop(command->query.events[i]);
    }
}

static void execute_lists(worker_t *worker, command_t *command) {
    for (uint32_t i = 0; i < command->execute.count; ++i) {
        command_list_t *list = command->execute.lists[i];
        uint64_t place = 0;
        for (command_t *inner = list->first; inner != NULL; inner = inner->next) {
            worker_pass_gate(worker);
            checker_command_begins(worker, inner, (uintptr_t)list, ++place);
            command_run(worker, inner);
            if (inner->counted) {
                checker_place_reached(worker, list->timeline,
                                      atomic_load(&list->timeline->completed) + 1);
            }
            timeline_advance(list->timeline);
        }
    }
    lists_completed(worker, command);
}

static void act(worker_t *worker, command_t *command) {
    switch (command->action) {
    case ACTION_NONE:
        break;
    case ACTION_FILL:
        fill(command);
        break;
    case ACTION_COPY:
        memmove((void *)command->ranges[0].base, (const void *)command->ranges[1].base,
                command->ranges[0].size);
        break;
    case ACTION_COPY_REGION:
        copy_region(command);
        break;
    case ACTION_RESET_EVENT:
        checker_command_resets(worker, command->reset);
        event_reset(command->reset);
        event_drop(command->reset);
        break;
    case ACTION_WRITE_TIMESTAMP: {
        const uint64_t ticks = device_ticks();
        memcpy((void *)command->ranges[0].base, &ticks, sizeof ticks);
        break;
    }
    case ACTION_QUERY_TIMESTAMPS:
        query_timestamps(command);
        break;
    case ACTION_EXECUTE_LISTS:
        execute_lists(worker, command);
        break;
    case ACTION_LAUNCH:
        launches_run(worker, command);
        break;
    }
}

// What the host may free once it sees the signal is let go before the signal.
void command_run(worker_t *worker, command_t *command) {
    for (uint32_t i = 0; i < command->wait_count; ++i) {
        wait_t *wait = &command->waits[i];
        wait_for(wait, OS_FOREVER);
        checker_command_waited(worker, wait);
        if (wait->event != NULL) {
            event_drop(wait->event);
        } else if (!command->recorded) {
            timeline_release(wait->timeline);
        }
    }
    event_t *signal = command->signal;
    fence_t *fence = command->action == ACTION_EXECUTE_LISTS ? command->execute.fence : NULL;
    const bool timed = signal != NULL && signal->timestamps;
    uint64_t start = timed ? device_ticks() : 0;
    const bool may_run = checker_command_touches(worker, command);
    if (may_run) {
        act(worker, command);
    }
    uint64_t end = timed ? device_ticks() : 0;
    if (timed && may_run && command->action == ACTION_LAUNCH) {
        launches_times(command, &start, &end);
    }
    const uint64_t serial = next_serial();
    if (signal != NULL) {
        checker_command_signals(worker, signal);
        event_complete(signal, start, end, serial);
    }
    if (fence != NULL) {
        fence_complete(fence);
    }
}

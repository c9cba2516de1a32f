// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver's tests share: the entries as a loader gets them, and short ways to make things.

#ifndef URASYNC_BENCH_H
#define URASYNC_BENCH_H

#include <stddef.h>
#include <string.h>

#include <level_zero/ze_api.h>

#include "newer_level_zero.h"

#include "controls.h"

#include "check.h"

// Every implemented entry by name, typed by the header; filled from the driver's tables.
typedef struct entries {
#define URASYNC_IMPLEMENTED(table, minor, field, name) __typeof__(&name) name;
#define URASYNC_EXTENSION(name) __typeof__(&name) name;
#include "entries.h"
} entries_t;

extern entries_t ze;

// Fills `ze` as a loader of specification 1.`minor` would; entries that it lacks stay NULL.
void load_entries(uint32_t minor);
// Adds the functions that the driver offers by name only.
void load_extensions(void);

enum { DEVICES = 2 };
#define DEVICE_MEMORY ((uint64_t)1 << 30)
#define MAX_ALLOCATION ((uint64_t)256 << 20)
#define PAGE ((size_t)2 << 20)
#define SMALL_PAGE ((size_t)64 << 10)
#define TIMER_TICKS 19200000
#define INFINITE UINT64_MAX
#define SECONDS_10 ((uint64_t)10000000000) // longer than anything here should take
#define MILLISECOND ((uint64_t)1000000)

// Opened by the test program before the first test.
extern ze_driver_handle_t driver;
extern ze_device_handle_t devices[DEVICES];
extern ze_context_handle_t context; // of all devices

uint64_t handle_of(const void *handle);
uint64_t now_ns(void);

enum { OUT_OF_ORDER = 0, IN_ORDER = 2 };
ze_command_list_handle_t make_list(uint32_t flags); // immediate, asynchronous, on device 0
ze_command_list_handle_t make_list_on(uint32_t device, uint32_t flags);
ze_command_list_handle_t make_regular_list(ze_command_list_flags_t flags);
ze_command_queue_handle_t make_queue(void);

enum { POOL_PLAIN = 0, POOL_TIMESTAMPS = 1, POOL_COUNTER_BASED = 2 };
ze_event_pool_handle_t make_pool(uint32_t count, uint32_t kind);
ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index);
ze_event_handle_t make_counter_event(ze_event_counter_based_flags_t flags);

void *make_device_memory(size_t size);
void *make_host_memory(size_t size);
void free_memory(void *memory);

bool filled_with(const void *memory, int byte, size_t size);

// Closed gates of lists.
void hold(const void *list);
void release(const void *list);
void wait_held(const void *list);

void destroy_list(ze_command_list_handle_t list);
void destroy_event(ze_event_handle_t event);
void destroy_pool(ze_event_pool_handle_t pool);

// Waits at most ten seconds for the commands of a list, and fails the test otherwise.
void finish(ze_command_list_handle_t list);
void finish_event(ze_event_handle_t event);

// Runs a named child test in a process of its own, with one more variable (or NULL); what it
// writes to stderr is stored. Returns its exit status, or -1 when a signal ended it.
int run_child(const char *name, const char *variable, const char *value, char *errors,
              size_t capacity);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test controls of the software driver.
//
// A test reaches these functions in the same shared object that the Level Zero loader has loaded
// (open it by the same absolute path). They never go through the loader. Handles are the driver's
// own handles as integers; with one driver and no loader layer these are the handles that the
// application sees.
//
// Only this file's plain declarations matter to a parser: lines that begin with '#' may be
// dropped, and but for two small structures and a function no type beyond uint64_t, uint32_t,
// int32_t, size_t and char is used.
//
// Conventions, stated once:
//   - Sizes are bytes, times are nanoseconds, UINT64_MAX is no limit.
//   - A function that returns int32_t answers 0 on success and a negative URASYNC_CONTROL_* code
//     on failure; nothing has changed then.
//   - Every function may be called from any thread at any time; none waits for a command, except
//     those whose name says wait.
//   - Strings that are returned belong to the driver and live as long as the process.

#ifndef URASYNC_SOFTWARE_DRIVER_CONTROLS_H
#define URASYNC_SOFTWARE_DRIVER_CONTROLS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// Answers of the functions that return int32_t.
enum {
    URASYNC_CONTROL_OK = 0,
    URASYNC_CONTROL_UNKNOWN_HANDLE = -1, // no live object of that kind has this handle
    URASYNC_CONTROL_UNKNOWN_ENTRY = -2,  // the driver has no entry of that name
    URASYNC_CONTROL_OUT_OF_RANGE = -3,   // an index, a number or a size is out of range
    URASYNC_CONTROL_NOT_CLOSED = -4,     // a gate was opened more often than it was closed
    URASYNC_CONTROL_TIMED_OUT = -5,      // the wait ended before the condition held
    URASYNC_CONTROL_NO_MEMORY = -6       // the host has no memory for the driver's own records
};

// The version of this interface; changes when a declaration below changes its meaning.
uint32_t urasync_controls_version(void);

// --- Gates -------------------------------------------------------------------------------------
//
// A gate holds a worker before its next command: the command that runs now ends, the next one
// does not start, and so nothing behind it completes. Closing counts: a gate that was closed twice
// must be opened twice. Takes the handle of an immediate command list or of a command queue.

int32_t urasync_gate_close(uint64_t list);
int32_t urasync_gate_open(uint64_t list);

// How often the gate of `list` is closed now.
int32_t urasync_gate_depth(uint64_t list, uint32_t *depth);

// Lets the first `number` commands that were appended to `list` run and holds the next, in addition
// to the gate; UINT64_MAX, the state at creation, holds none. Commands that run already go on.
int32_t urasync_gate_limit(uint64_t list, uint64_t number);

// Waits until the worker of `list` stands at its closed gate, or its limit, with a command to run.
// URASYNC_CONTROL_TIMED_OUT after `timeout_ns` without that, or when the gate is not closed.
int32_t urasync_gate_wait_reached(uint64_t list, uint64_t timeout_ns);

// Lists and queues that are created on device `device_index` from now on begin with a gate closed
// once, until the matching open. The open changes only later creations: the gates of lists made
// meanwhile are opened one by one, or all at once with urasync_gate_open_all.
int32_t urasync_gate_close_new(uint32_t device_index);
int32_t urasync_gate_open_new(uint32_t device_index);

// Opens every closed gate of every list and queue of the device, whatever its depth, and lifts
// every limit.
int32_t urasync_gate_open_all(uint32_t device_index);

// --- Failures ----------------------------------------------------------------------------------

// The `nth` (1 is the next) call from now of the entry (a name such as "zeMemAllocDevice") and the
// `times` - 1 calls that follow return `result` and do nothing else. `times` 0 means for ever.
// Several plans for one entry count independently; the oldest that applies wins.
int32_t urasync_fail(const char *entry, uint64_t nth, uint32_t result, uint64_t times);

// Forgets every plan.
void urasync_clear_failures(void);

// Number of calls that a plan made fail since the driver was loaded.
uint64_t urasync_failures_delivered(void);

// --- Slow calls ---------------------------------------------------------------------------------

// The `nth` (1 is the next) call from now of the entry waits until urasync_slow_call_end, but at
// most `most_ns`, before it does its work, or fails as planned. There is one plan at a time.
int32_t urasync_slow_call(const char *entry, uint64_t nth, uint64_t most_ns);

// Waits until a call waits so; URASYNC_CONTROL_TIMED_OUT after `timeout_ns` without one.
int32_t urasync_slow_call_wait_reached(uint64_t timeout_ns);

// Forgets the plan, and lets the calls that wait go on.
void urasync_slow_call_end(void);

// --- Devices -----------------------------------------------------------------------------------

uint32_t urasync_device_count(void); // root devices and sub-devices

// Limit of the device's memory. May be set below what is in use: then nothing more can be
// allocated until enough was freed. Root devices have the indexes 0 and up; those of sub-devices
// follow: first all of device 0, then all of device 1, and so on.
int32_t urasync_device_memory_set_limit(uint32_t device_index, uint64_t bytes);
int32_t urasync_device_memory_limit(uint32_t device_index, uint64_t *bytes);
int32_t urasync_device_memory_used(uint32_t device_index, uint64_t *bytes);
int32_t urasync_device_memory_free(uint32_t device_index, uint64_t *bytes);

// Bytes that are resident by zeContextMakeMemoryResident and neither evicted, freed nor unmapped
// since: on one device, and over all devices.
int32_t urasync_device_resident_bytes(uint32_t device_index, uint64_t *bytes);
uint64_t urasync_resident_bytes(void);

// --- Calls -------------------------------------------------------------------------------------
//
// Entries have fixed numbers 0 .. count-1 in one build of the driver.

uint32_t urasync_entry_count(void);
const char *urasync_entry_name(uint32_t entry);    // NULL when out of range
uint64_t urasync_entry_calls(uint32_t entry);      // since load or reset; 0 when out of range
int32_t urasync_entry_implemented(uint32_t entry); // 1 or 0; 0 when out of range
uint64_t urasync_calls(const char *entry);         // by name; UINT64_MAX when the name is unknown
uint64_t urasync_total_calls(void);
void urasync_reset_call_counts(void);

// --- Commands ----------------------------------------------------------------------------------

// Number of commands that have completed in this process, over all lists.
uint64_t urasync_commands_completed(void);

// The place of the most recent signal of an event in the order of completion: the number that
// urasync_commands_completed had reached when the signalling command completed. A signal from the
// host takes a number too. URASYNC_CONTROL_TIMED_OUT when the event is not complete.
int32_t urasync_event_serial(uint64_t event, uint64_t *serial);

// Commands that were appended to a list or queue, and those that completed.
int32_t urasync_list_progress(uint64_t list, uint64_t *appended, uint64_t *completed);

// Waits until the first `number` commands of a list or queue have completed.
int32_t urasync_list_wait_completed(uint64_t list, uint64_t number, uint64_t timeout_ns);

// --- Kernels -----------------------------------------------------------------------------------

// What a native function learns of its launch. Each argument is the address of its value: of so
// many bytes, or of a pointer.
typedef struct urasync_launch {
    uint32_t groups[3];
    uint32_t group_size[3];
    uint32_t offset[3];
    uint32_t argument_count;
    const void *const *arguments;
} urasync_launch;

typedef void urasync_native_kernel(const urasync_launch *launch, void *user);

// Registers a function as a kernel, which runs once for each launch, on the worker of its list. A
// module of the format ZE_MODULE_FORMAT_NATIVE has the kernels that its input names, a line each.
// `sizes` has the bytes of each argument, up to 1024; 0 is a pointer to memory. It stays
// registered; another function of the same name is for kernels that are created later.
int32_t urasync_kernel_register(const char *name, urasync_native_kernel *run, void *user,
                                uint32_t argument_count, const uint32_t *sizes);

// Declares what later launches of `kernel` touch, for the checker: of each argument that is a
// pointer so many bytes from there on, and nothing else, whatever the kernel may reach indirectly.
// `count` is the number of all arguments, in their order. NULL takes the declaration back.
int32_t urasync_kernel_declare(uint64_t kernel, uint32_t count, const uint64_t *bytes);

// --- The checker -------------------------------------------------------------------------------
//
// It is on when URASYNC_L0_SOFTWARE_CHECK was 1 when the driver began; 1 or 0. Reports also go to
// the standard error output, a line each.

int32_t urasync_checker_is_on(void);
uint64_t urasync_checker_report_count(void); // since the start or the last clear
// Copies one of the first reports, 0 and up, ended by a zero byte; returns its length, 0 for none.
size_t urasync_checker_report(uint64_t index, char *text, size_t capacity);
void urasync_checker_clear(void);

// --- Live objects ------------------------------------------------------------------------------
//
// A row for each object that was created and not destroyed yet. Kinds are numbered 0 .. count-1.

uint32_t urasync_object_kind_count(void);
const char *urasync_object_kind_name(uint32_t kind); // "context", "event", …; NULL out of range
uint64_t urasync_live_count(uint32_t kind);          // 0 when out of range

typedef struct urasync_live_row {
    uint32_t kind;       // index of the kind
    uint32_t device;     // index of the device, or UINT32_MAX when the object has none
    uint64_t handle;     // the handle, or the address of a memory allocation
    uint64_t bytes;      // memory that the object stands for; 0 for other kinds
    uint64_t serial;     // number of its creation; never used twice
    const char *creator; // name of the entry that created it
} urasync_live_row;

// Copies up to `capacity` rows in order of creation; returns how many exist. Call it with capacity
// 0 for the number. Rows of objects that come or go meanwhile may or may not appear.
size_t urasync_live_table(urasync_live_row *rows, size_t capacity);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif

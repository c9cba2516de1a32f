// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A coverage-guided fuzzer of the entries of a UR adapter library. An input is a series of calls:
// cases.py writes a function for each entry, which takes the arguments from the input.
//
// fuzzer.c     what an input begins with, what is looked at after it
// input.c      numbers, texts and structures from the bytes of the input
// objects.c    handles and memory: what calls gave, and how all of it is given back
// python.c     Python's part: its lines as coverage, exceptions that nobody sees, what it keeps
//
// A client may not do everything: native handles belong to objects that are there, and what a
// command touches is memory for as far as it goes. Memory that was freed is in between: under the
// checker of the software driver, commands on it do not run.
#ifndef FUZZ_H
#define FUZZ_H

#include "unified_runtime.h"

enum kind {
    ADAPTER,
    PLATFORM,
    DEVICE,
    CONTEXT,
    QUEUE,
    EVENT,
    USM_POOL,
    MEM,
    PROGRAM,
    KERNEL,
    KIND_COUNT,
};

enum {
    ROOM = 4096,          // for answers whose size nobody says, in bytes
    LIST_LENGTH = 4,      // of lists that are given
    OUT_LENGTH = 8,       // of lists that are filled
    HOST_BYTES = 4 << 20, // of the client's memory
    FARTHEST = 1023,      // bytes of a transfer that is bounded, and of its pitches and origins
    TALLEST = 31,         // rows and slices
};

// What a call may touch; chosen before its arguments.
extern enum reach {
    BOUNDED,  // any memory; sizes are such that the client's own has so many bytes
    ANY_SIZE, // memory of the driver that is in use, or none; the adapter or the driver knows its
              // end
} reach;

// Whether a call is to be one that may succeed: with arguments of the right kinds, and small
// numbers. Chance alone makes hardly any.
extern bool is_sensible;

_Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);

void count_call(uint32_t entry, ur_result_t result);
void destroy_modules(void); // programs of the driver that the fuzzer made itself

// -- cases.py
// --------------------------------------------------------------------------------------

struct entry {
    const char *name;
    void (*call)(void);
};
extern const struct entry entries[];
extern const uint32_t entry_count;
extern const uint32_t structure_types[];
extern const uint32_t structure_type_count;
bool is_known_result(ur_result_t result);

// -- input.c
// ---------------------------------------------------------------------------------------

void begin_input(const uint8_t *data, size_t size);
bool has_input(void);

uint8_t take_byte(void);
uint32_t take_number(void);                                     // small, or anything
uint32_t take_one_of(const uint32_t *values, uint32_t count);   // mostly
uint32_t take_flags_of(const uint32_t *values, uint32_t count); // mostly
size_t take_any_size(void);
size_t take_extent(void);      // of something that is touched
size_t take_height(void);      // of rows and slices
size_t take_offset_size(void); // where something begins
size_t take_pattern_size(void);
bool take_chance(unsigned one_in);
bool take_mistake(unsigned one_in);

// Memory that is given back after the call, as large as it says.
void *take_room(size_t size);

// Room for a number, or nowhere.
void *take_out_room(size_t size);
size_t take_property_size(void);
const void *take_content(size_t size); // bytes of the input, or NULL
const char *take_text(void);
const size_t *take_work_sizes(bool is_offset);
ur_rect_offset_t take_offset(void);
ur_rect_region_t take_region(void);
void *take_structure(uint32_t stype); // with a chain behind it, or NULL
const ur_exp_kernel_arg_properties_t *take_kernel_arguments(uint32_t *count);
const ur_specialization_constant_info_t *take_constants(uint32_t *count);
const ur_device_binary_t *take_binaries(uint32_t *count);
ur_event_callback_t take_event_callback(void);
ur_context_extended_deleter_t take_deleter(void);
ur_logger_callback_t take_logger_callback(void);

void free_rooms(void);

// -- objects.c
// -------------------------------------------------------------------------------------

void remember(enum kind kind, void *handle);
void *take_handle(enum kind kind);
const void *take_handles(enum kind kind, uint32_t *count);
void *take_out(enum kind kind);                   // room for a handle, or NULL
void *take_outs(enum kind kind, uint32_t *count); // room for several
ur_native_handle_t take_native(enum kind kind);   // of an object that stays until the end, or 0
void *take_memory(void);                          // an address
void **take_memory_out(void);
void note_size(size_t size);             // that is asked for
void *take_memory_of_size(size_t *size); // for a pool within it: at most so many bytes may be used
void **take_map_out(void);
void *take_map(void);
void freed(void *memory);
void *host_memory(void);
void before_context_release(ur_context_handle_t context);

// To be called when a call is over: its result must be a known one, and what it gave is remembered.
void end_call_of(const char *entry, ur_result_t result);

// Memory that an input begins with: of the host, of a device, or shared.
void begin_memory(ur_context_handle_t context, ur_device_handle_t device, unsigned which);

// Give everything back.
void release_all(void);

// -- python.c
// --------------------------------------------------------------------------------------

void watch_python(int report_to);
void check_tables(void);
void count_result(uint32_t entry, ur_result_t result);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz.h"

#include "functions.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum reach reach;
bool is_sensible;

static const uint8_t *input;
static size_t left;

static void *rooms[256];
static size_t room_count;

void begin_input(const uint8_t *data, size_t size) {
    input = data;
    left = size;
}

bool has_input(void) { return left > 0; }

uint8_t take_byte(void) {
    if (left == 0)
        return 0;
    left--;
    return *input++;
}

static uint64_t take_bytes(unsigned count) {
    uint64_t number = 0;
    for (unsigned i = 0; i < count; i++)
        number = number << 8 | take_byte();
    return number;
}

bool take_chance(unsigned one_in) { return take_byte() % one_in == one_in - 1; }

bool take_mistake(unsigned one_in) { return !is_sensible && take_chance(one_in); }

uint32_t take_one_of(const uint32_t *values, uint32_t count) {
    return is_sensible || take_chance(2) ? values[take_byte() % count] : take_number();
}

uint32_t take_flags_of(const uint32_t *values, uint32_t count) {
    uint32_t flags = is_sensible || take_chance(2) ? 0 : take_number();
    for (unsigned more = take_byte() % 4; more > 1; more--)
        flags |= values[take_byte() % count];
    return flags;
}

uint32_t take_number(void) {
    // Enumerations have their extensions from these values on.
    static const uint32_t bases[] = {0x1000, 0x1080, 0x2000, 0x2010, 0x2050, 0x4000, 0x5000};
    const uint8_t way = take_byte();
    if (way < 160)
        return way;
    if (way < 192)
        return 1u << (way % 32);
    if (way < 240)
        return bases[way % (sizeof bases / sizeof bases[0])] + take_byte();
    return (uint32_t)take_bytes(4);
}

size_t take_any_size(void) {
    static const size_t sizes[] = {
        0,       1,         255,        256,        257,        4096,     65535,          65536,
        2 << 20, 33u << 20, 1ull << 32, 1ull << 40, 1ull << 63, SIZE_MAX, SIZE_MAX - 255, 1 << 20,
    };
    const uint8_t way = take_byte();
    if (way < 128)
        return sizes[way % 16];
    if (way < 192)
        return way * 64u;
    if (way < 240)
        return take_bytes(2);
    return take_bytes(8);
}

size_t take_offset_size(void) { return is_sensible ? take_byte() % 4u * 64 : take_any_size(); }

size_t take_pattern_size(void) { return is_sensible ? 1u << take_byte() % 6 : take_byte() % 65u; }

size_t take_extent(void) {
    if (is_sensible)
        return (take_byte() % 4u + 1) * 64;
    const size_t size = take_any_size();
    return reach == BOUNDED ? size & FARTHEST : size;
}

size_t take_height(void) {
    if (is_sensible)
        return take_byte() % 3u + 1;
    // The checker looks at each row.
    const size_t height = take_any_size();
    return reach == BOUNDED || height < 1ull << 40 ? height & TALLEST : height;
}

void *take_room(size_t size) {
    void *room = calloc(1, size == 0 ? 1 : size);
    if (room == NULL || room_count == sizeof rooms / sizeof rooms[0])
        fail("too many arguments in memory");
    rooms[room_count++] = room;
    return room;
}

void free_rooms(void) {
    while (room_count > 0)
        free(rooms[--room_count]);
}

void *take_out_room(size_t size) { return take_mistake(8) ? NULL : take_room(size); }

size_t take_property_size(void) {
    if (is_sensible)
        return take_chance(2) ? 8 : take_chance(2) ? 4 : ROOM;
    static const size_t sizes[] = {8, 4, 1, 0, 16, 64, 256, ROOM};
    const uint8_t way = take_byte();
    return way < 192 ? sizes[way % 8] : way;
}

const void *take_content(size_t size) {
    if (take_mistake(16))
        return NULL;
    uint8_t *room = take_room(size);
    for (size_t i = 0; i < size && left > 0; i++)
        room[i] = take_byte();
    return room;
}

const char *take_text(void) {
    static const char *const known[] = {"kernel",          "",       "-O0",
                                        "-ze-opt-disable", "spir64", "-cl-std"};
    const uint8_t way = take_byte();
    if (way >= 240 && !is_sensible)
        return NULL;
    if (way < 160 || is_sensible)
        return known[way % (sizeof known / sizeof known[0])];
    char *text = take_room(17);
    for (unsigned i = 0; i < way % 17u; i++)
        text[i] = (char)take_byte();
    return text;
}

const size_t *take_work_sizes(bool is_offset) {
    if (is_sensible ? is_offset : take_chance(4))
        return NULL;
    size_t *sizes = take_room(4 * sizeof *sizes); // what has more dimensions is refused
    for (unsigned i = 0; i < 3; i++)
        sizes[i] = take_mistake(4) ? take_any_size() : 1u << take_byte() % 3;
    return sizes;
}

ur_rect_offset_t take_offset(void) {
    ur_rect_offset_t offset = {take_extent(), take_height(), take_height()};
    if (is_sensible)
        offset = (ur_rect_offset_t){take_byte() % 64, take_byte() % 2, take_byte() % 2};
    return offset;
}

ur_rect_region_t take_region(void) {
    ur_rect_region_t region = {take_extent(), take_height(), take_height()};
    return region;
}

// The members of a structure behind its head. Those of most are numbers, which may be anything.
static void fill(uint32_t stype, void *structure) {
    static const uint32_t bits[] = {1, 2, 4, 8, 16, 32, 64, 128};
    union {
        ur_device_partition_properties_t partition;
        ur_buffer_properties_t buffer;
        ur_usm_pool_buffer_desc_t pool_buffer;
        ur_usm_pool_limits_desc_t limits;
        ur_buffer_region_t region;
        ur_queue_native_desc_t native_desc;
        ur_platform_native_properties_t native;
        ur_usm_desc_t usm;
    } *of = structure;
    switch (stype) {
    case FUZZ_DEVICE_PARTITION_PROPERTIES: {
        of->partition.PropCount = take_number();
        if (take_mistake(8))
            return;
        of->partition.PropCount = is_sensible ? 1 : of->partition.PropCount % (LIST_LENGTH + 1);
        ur_device_partition_property_t *ways = take_room(LIST_LENGTH * sizeof *ways);
        for (unsigned i = 0; i < of->partition.PropCount; i++) {
            ways[i].type = (int32_t)(take_mistake(4) ? take_number() : 0x1086u + take_byte() % 5);
            ways[i].value = is_sensible ? take_byte() % 3 : take_number();
        }
        of->partition.pProperties = ways;
        return;
    }
    case FUZZ_BUFFER_PROPERTIES:
        of->buffer.pHost = reach == BOUNDED && take_chance(2) ? host_memory() : NULL;
        return;
    case FUZZ_USM_POOL_BUFFER_DESC:
        of->pool_buffer.pMem = take_memory_of_size(&of->pool_buffer.size);
        of->pool_buffer.memType = take_number();
        of->pool_buffer.device = take_handle(DEVICE);
        return;
    case FUZZ_USM_POOL_LIMITS_DESC:
    case FUZZ_BUFFER_REGION:
        of->limits.maxPoolableSize = take_offset_size() * 2;
        of->limits.minDriverAllocSize = is_sensible ? take_extent() : take_any_size();
        return;
    case FUZZ_QUEUE_NATIVE_DESC:
        of->native_desc.pNativeData = is_sensible || take_chance(2) ? of : NULL;
        return;
    case FUZZ_USM_DESC:
        of->usm.hints = take_flags_of(bits, 8);
        of->usm.align = is_sensible ? 1u << take_byte() % 14 : take_number();
        return;
    case FUZZ_CONTEXT_NATIVE_PROPERTIES ... FUZZ_PROGRAM_NATIVE_PROPERTIES:
        return; // native handles stay with those who gave them
    default:
        ((ur_context_properties_t *)structure)->flags = take_flags_of(bits, 8);
    }
}

void *take_structure(uint32_t stype) {
    enum { SIZE = 64 };
    if (take_chance(4))
        return NULL;
    ur_base_properties_t *first = take_room(SIZE);
    first->stype = take_chance(16) ? take_number() : stype;
    fill(stype, first);
    ur_base_properties_t *last = first;
    for (unsigned more = take_byte() % 8; more > 5; more--) {
        ur_base_properties_t *next = take_room(SIZE);
        next->stype = structure_types[take_byte() % structure_type_count];
        fill(next->stype, next);
        if (take_chance(8))
            next->stype = UINT32_MAX - take_byte(); // unknown
        last->pNext = next;
        last = next;
    }
    if (take_chance(32))
        last->pNext = first; // leads back
    return first;
}

const ur_exp_kernel_arg_properties_t *take_kernel_arguments(uint32_t *count) {
    static const uint32_t expected[] = {0, 4, 8}; // sizes; 0 is a pointer
    *count = is_sensible ? 3 : take_byte() % (LIST_LENGTH + 1);
    if (take_mistake(8))
        return NULL;
    ur_exp_kernel_arg_properties_t *all = take_room(LIST_LENGTH * sizeof *all);
    for (uint32_t i = 0; i < *count; i++) {
        all[i].stype = take_mistake(2) ? take_number() : 0;
        all[i].index = take_mistake(8) ? take_number() : i;
        all[i].type = take_mistake(16) ? take_number() : take_byte() % 5;
        all[i].size = take_mistake(8) ? take_any_size() : take_byte() % 17;
        if (is_sensible) {
            all[i].type = expected[i] ? 0 : take_byte() % 2 + 1;
            all[i].size = expected[i] ? expected[i] : 8;
        }
        if (all[i].type == 0) // a value
            all[i].value.value = all[i].size <= ROOM ? take_content(all[i].size) : NULL;
        else if (all[i].type == 2) // a buffer
            all[i].value.value = take_handle(MEM);
        else
            all[i].value.value = take_memory();
        all[i].value.flags = take_byte();
    }
    return all;
}

const ur_specialization_constant_info_t *take_constants(uint32_t *count) {
    *count = is_sensible ? 1 : take_byte() % (LIST_LENGTH + 1);
    if (take_mistake(8))
        return NULL;
    ur_specialization_constant_info_t *all = take_room(LIST_LENGTH * sizeof *all);
    for (uint32_t i = 0; i < *count; i++) {
        all[i].id = take_byte() % 4;
        all[i].size = take_mistake(8) ? take_any_size() : take_byte() % 9;
        all[i].pValue = take_mistake(8) ? NULL : take_content(8);
    }
    return all;
}

const ur_device_binary_t *take_binaries(uint32_t *count) {
    *count = take_byte() % (LIST_LENGTH + 1);
    if (take_mistake(8))
        return NULL;
    ur_device_binary_t *all = take_room(LIST_LENGTH * sizeof *all);
    for (uint32_t i = 0; i < *count; i++)
        all[i].pDeviceTargetSpec = take_text();
    return all;
}

static _Atomic unsigned calls_back;

static void on_event(ur_event_handle_t event, ur_execution_info_t status, void *user_data) {
    (void)event, (void)status, (void)user_data;
    calls_back++;
}

static void on_release(void *user_data) {
    (void)user_data;
    calls_back++;
}

static void on_message(ur_logger_level_t level, const char *message, void *user_data) {
    (void)level, (void)user_data;
    calls_back += strlen(message) > 0;
}

ur_event_callback_t take_event_callback(void) { return take_mistake(8) ? NULL : on_event; }
ur_context_extended_deleter_t take_deleter(void) { return take_mistake(8) ? NULL : on_release; }
ur_logger_callback_t take_logger_callback(void) { return take_mistake(8) ? NULL : on_message; }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fuzz.h"

#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct list {
    void *items[MOST];
    size_t count;
} list_t;

static list_t known[KIND_COUNT];  // handles that calls gave, released since or not
static list_t native[KIND_COUNT]; // those whose native handle somebody has; no call releases them
static list_t live, gone, maps;   // memory
static size_t sizes[MOST];        // of the memory in use, as it was asked for
static size_t asked;

static struct {
    enum kind kind;
    void **handles;
    uint32_t count;
} outs[4];
static size_t out_count;
static void **memory_out, **map_out;

static _Alignas(4096) uint8_t client_memory[HOST_BYTES];

static bool add(list_t *list, void *item) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == item)
            return false;
    if (list->count == MOST)
        fail("there is no place for another handle or address");
    list->items[list->count++] = item;
    return true;
}

static void *any_of(const list_t *list, size_t number) {
    return list->count == 0 ? NULL : list->items[number % list->count];
}

static bool drop(list_t *list, void *item) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == item) {
            list->count--;
            list->items[i] = list->items[list->count];
            if (list == &live)
                sizes[i] = sizes[list->count];
            return true;
        }
    }
    return false;
}

// -- handles
// ---------------------------------------------------------------------------------------

void remember(enum kind kind, void *handle) {
    for (size_t i = 0; i < native[kind].count; i++)
        if (native[kind].items[i] == handle)
            return;
    add(&known[kind], handle);
}

void *take_handle(enum kind kind) {
    const uint8_t way = take_byte();
    if (is_sensible)
        return kind == USM_POOL && way % 2 ? NULL : any_of(&known[kind], way / 2);
    if (way == 0 || way >= 252)
        return NULL;
    if (way >= 248)
        return any_of(&known[take_byte() % KIND_COUNT], way);
    if (way >= 246)
        return (void *)(uintptr_t)take_byte();
    return any_of(&known[kind], way - 1u);
}

const void *take_handles(enum kind kind, uint32_t *count) {
    *count = take_byte() % (LIST_LENGTH + 1);
    if (is_sensible ? *count == 0 : take_chance(8))
        return NULL;
    void **handles = take_room(*count * sizeof *handles);
    for (uint32_t i = 0; i < *count; i++)
        handles[i] = take_handle(kind);
    return handles;
}

void *take_out(enum kind kind) {
    uint32_t one = 1;
    return take_mistake(8) ? NULL : take_outs(kind, &one);
}

void *take_outs(enum kind kind, uint32_t *count) {
    void **room;
    if (*count == 0) {
        *count = take_byte() % (OUT_LENGTH + 1);
        if (take_chance(4))
            return NULL;
    }
    room = take_room(*count * sizeof *room);
    outs[out_count].kind = kind;
    outs[out_count].handles = room;
    outs[out_count++].count = *count;
    return room;
}

ur_native_handle_t take_native(enum kind kind) {
    ur_native_handle_t found = 0;
    void *handle = take_chance(8) ? NULL : any_of(&known[kind], take_byte());
    if (handle == NULL || native_handle_of(kind, handle, any_of(&known[DEVICE], 0), &found) != 0)
        return 0;
    if (kind != DEVICE && kind != PLATFORM) {
        drop(&known[kind], handle);
        add(&native[kind], handle);
    }
    return found;
}

// -- memory
// ----------------------------------------------------------------------------------------

void *host_memory(void) { return client_memory + take_byte(); }

void *take_memory(void) {
    const uint8_t way = take_byte();
    if (way >= 248)
        return NULL;
    void *memory = any_of(&live, way);
    if (is_sensible && way < 224)
        return memory;
    if (reach == BOUNDED) {
        if (way >= 224)
            return any_of(&gone, way);
        if (way >= 160)
            return host_memory();
        if (memory != NULL && way >= 128)
            return (uint8_t *)memory + take_byte();
    }
    return memory;
}

void **take_memory_out(void) {
    memory_out = take_out_room(sizeof *memory_out);
    return memory_out;
}

void *take_memory_of_size(size_t *size) {
    enum { BEYOND = 64 << 10 }; // a bounded transfer from the last byte of the pool stays within
    const uint8_t way = take_byte();
    *size = take_any_size();
    if (way >= 240)
        return NULL;
    const size_t number = live.count == 0 ? 0 : way % live.count;
    if (way < 128 && live.count > 0 && sizes[number] > 2 * BEYOND) {
        if (*size > sizes[number] - BEYOND)
            *size = sizes[number] - BEYOND;
        return live.items[number];
    }
    *size %= HOST_BYTES / 2;
    return client_memory;
}

void note_size(size_t size) { asked = size; }

void **take_map_out(void) {
    map_out = take_out_room(sizeof *map_out);
    return map_out;
}

void *take_map(void) { return take_chance(8) ? take_memory() : any_of(&maps, take_byte()); }

void freed(void *memory) {
    if (drop(&live, memory))
        add(&gone, memory);
}

// -- the end of a call
// -----------------------------------------------------------------------------

void end_call_of(const char *entry, ur_result_t result) {
    const bool done = result == UR_RESULT_SUCCESS;
    if (!is_known_result(result) || result == UR_RESULT_ERROR_UNKNOWN) {
        const char *message = "";
        int32_t code = 0;
        last_error(any_of(&known[ADAPTER], 0), &message, &code);
        fail("%s gave the result %#x: %s", entry, result, message);
    }
    for (size_t i = 0; i < out_count; i++) {
        for (uint32_t n = 0; n < outs[i].count; n++) {
            void *handle = outs[i].handles[n];
            if (handle != NULL && !done)
                fail("%s failed with %u and gave a handle all the same", entry, result);
            if (handle != NULL)
                remember(outs[i].kind, handle);
        }
    }
    if (memory_out != NULL && *memory_out != NULL) {
        if (!done)
            fail("%s failed with %u and gave memory all the same", entry, result);
        drop(&gone, *memory_out);
        if (!add(&live, *memory_out))
            fail("%s gave %p, which is in use", entry, *memory_out);
        sizes[live.count - 1] = asked;
    }
    if (map_out != NULL && *map_out != NULL)
        add(&maps, *map_out);
    out_count = 0;
    memory_out = map_out = NULL;
    free_rooms();
}

// -- the end of an input
// ---------------------------------------------------------------------------

void begin_memory(ur_context_handle_t context, ur_device_handle_t device, unsigned which) {
    enum { SIZE = 256 << 10 };
    memory_out = take_room(sizeof *memory_out);
    asked = SIZE;
    const ur_result_t result =
        which == 0   ? UR(urUSMHostAlloc)(context, NULL, NULL, SIZE, memory_out)
        : which == 1 ? UR(urUSMDeviceAlloc)(context, device, NULL, NULL, SIZE, memory_out)
                     : UR(urUSMSharedAlloc)(context, device, NULL, NULL, SIZE, memory_out);
    end_call_of("an allocation at the begin", result);
}

typedef ur_result_t free_t(void *owner, void *memory);

static void free_memory_of(void *owner, free_t *free) {
    for (size_t i = live.count; i > 0; i--) {
        void *memory = live.items[i - 1];
        if (free(owner, memory) == UR_RESULT_SUCCESS)
            freed(memory);
    }
}

static void free_memory_of_all(enum kind kind, free_t *free) {
    for (unsigned i = 0; i < known[kind].count; i++)
        free_memory_of(known[kind].items[i], free);
    for (unsigned i = 0; i < native[kind].count; i++)
        free_memory_of(native[kind].items[i], free);
}

// Nobody can free the memory of a context that is released.
void before_context_release(ur_context_handle_t context) {
    if (is_last_reference(context))
        free_memory_of(context, free_in_context);
}

static void release_kind(enum kind kind, list_t *list) {
    enum { MOST_REFERENCES = 10000 };
    for (size_t i = list->count; i > 0; i--) {
        int references = 0;
        while (release(kind, list->items[i - 1]) == UR_RESULT_SUCCESS)
            if (++references == MOST_REFERENCES)
                fail("a handle of kind %u cannot be released", kind);
    }
    list->count = 0;
}

void release_all(void) {
    static const enum kind order[] = {EVENT, KERNEL, PROGRAM, MEM, QUEUE};
    static const enum kind rest[] = {USM_POOL, CONTEXT};
    // The queues of a context that is released serve on.
    free_memory_of_all(CONTEXT, free_in_context);
    free_memory_of_all(QUEUE, free_in_queue);
    if (live.count > 0)
        fail("%p cannot be freed", live.items[0]);
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++) {
        release_kind(order[i], &known[order[i]]);
        release_kind(order[i], &native[order[i]]);
    }
    destroy_modules(); // launches are complete
    for (unsigned i = 0; i < sizeof rest / sizeof rest[0]; i++) {
        release_kind(rest[i], &known[rest[i]]);
        release_kind(rest[i], &native[rest[i]]);
    }
    // Adapters, platforms and devices stay for good.
    gone.count = maps.count = 0;
}

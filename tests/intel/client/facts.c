/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "facts.h"

#include <inttypes.h>
#include <string.h>

enum { MAXIMUM_RANGES = 65536, LONGEST_VALUE = 64 };

struct slots slots;

/* Memory that was given out once, in order of time. */
struct range {
    const char *memory;
    size_t size;
    int kind, given_back_on;
    bool in_use;
};

static struct range ranges[MAXIMUM_RANGES];
static size_t range_count;

void tell_result(ur_result_t result) { printf(" result=%u", result); }

/* The name of what a word of a value points to, or null. */
static const char *name_of(const void *word, char *name, size_t size) {
    if (word == slots.adapter.adapter)
        return "adapter";
    if (word == slots.adapter.platform)
        return "platform";
    if (word == slots.adapter.device)
        return "device";
    if (word == slots.context)
        return "context";
    for (int i = 0; i < SLOTS; i++) {
        const void *handles[] = {slots.queues[i], slots.events[i], slots.pools[i],
                                 slots.pointers[i]};
        static const char *const kinds[] = {"queue", "event", "pool", "pointer"};
        for (int kind = 0; kind < 4; kind++)
            if (word == handles[kind] && word != NULL) {
                snprintf(name, size, "%s%d", kinds[kind], i);
                return name;
            }
    }
    return NULL;
}

/* Whether a value is a text, and not a number whose bytes could be one. */
static bool is_text(const char *value, size_t size) {
    if (size < 2 || size == sizeof(uint32_t) || size == sizeof(uint64_t) || value[size - 1] != 0)
        return false;
    for (size_t i = 0; i < size - 1; i++)
        if (value[i] < ' ' || value[i] > '~')
            return false;
    return true;
}

/* Spaces at the end are not told. */
static void tell_text(const char *value) {
    size_t length = strlen(value);
    while (length > 0 && value[length - 1] == ' ')
        length--;
    printf(" value=");
    for (size_t i = 0; i < length; i++)
        putchar(value[i] == ' ' ? ',' : value[i]);
}

void tell_property(size_t needed, const void *value, size_t size, const void *subject) {
    char name[32];
    const unsigned char *bytes = value;
    if (value != NULL && is_text(value, size)) {
        tell_text(value);
        return;
    }
    printf(" size=%zu", needed);
    if (value == NULL)
        return;
    printf(" value=");
    if (size == sizeof(void *)) {
        const void *word;
        memcpy(&word, value, sizeof(word));
        const char *known =
            word == subject && word != NULL ? "itself" : name_of(word, name, sizeof(name));
        if (known != NULL) {
            printf("%s", known);
            return;
        }
        /* Addresses differ from run to run; numbers of this size are not told from them. */
        if ((uintptr_t)word >> 40 != 0 && (uintptr_t)word >> 47 == 0) {
            printf("address");
            return;
        }
    }
    if (size <= LONGEST_VALUE) {
        for (size_t i = size; i > 0; i--)
            printf("%02x", bytes[i - 1]);
        return;
    }
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    printf("#%08x", sum);
}

void tell_number(const char *name, size_t value, size_t expected, const char *expectation) {
    printf(" %s=%s", name,
           value == expected  ? expectation
           : value == 0       ? "0"
           : value > expected ? "more"
                              : "less");
}

static bool overlap(const struct range *range, const char *memory, size_t size) {
    return memory < range->memory + range->size && range->memory < memory + size;
}

/* The latest memory that was given back and overlaps this; NULL for none. */
static const struct range *latest(const char *memory, size_t size) {
    for (size_t i = range_count; i > 0; i--)
        if (!ranges[i - 1].in_use && overlap(&ranges[i - 1], memory, size))
            return &ranges[i - 1];
    return NULL;
}

static const char *place_of(const struct range *range, int queue, const char *memory, size_t size) {
    if (range == NULL)
        return "none";
    if (queue != range->given_back_on)
        return "other-queue";
    if (range->memory != memory)
        return "part";
    return range->size >= size ? "again" : "again-larger";
}

void tell_given_out(int queue, int kind, const char *memory, size_t size) {
    const size_t taken = size == 0 ? 1 : size;
    const struct range *range = latest(memory, taken);
    bool is_taken = false;
    for (size_t i = 0; i < range_count; i++)
        is_taken |= ranges[i].in_use && overlap(&ranges[i], memory, taken);
    printf(" null=%d in-use=%d memory=%s place=%s", memory == NULL, is_taken,
           range == NULL ? "new" : "given-back", place_of(range, queue, memory, taken));
    CHECK(range_count < MAXIMUM_RANGES);
    ranges[range_count++] = (struct range){memory, taken, kind, NONE, true};
}

void note_given_back(int queue, const char *memory) {
    for (size_t i = range_count; i > 0; i--)
        if (ranges[i - 1].in_use && ranges[i - 1].memory == memory) {
            ranges[i - 1].in_use = false;
            ranges[i - 1].given_back_on = queue;
            return;
        }
}

void forget_given_back(void) {
    size_t kept = 0;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].in_use)
            ranges[kept++] = ranges[i];
    range_count = kept;
}

size_t bytes_in_use(unsigned kinds) {
    size_t sum = 0;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].in_use && (kinds & 1u << ranges[i].kind) != 0)
            sum += ranges[i].size;
    return sum;
}

size_t size_of(const char *memory) {
    for (size_t i = range_count; i > 0; i--)
        if (ranges[i - 1].in_use && ranges[i - 1].memory == memory)
            return ranges[i - 1].size;
    return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations of the three kinds, their limits, their frees, and questions about addresses.

#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bench.h"
#include "tests.h"

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
static const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};

static uint64_t used(uint32_t device) {
    uint64_t bytes = UINT64_MAX;
    CHECK_EQUAL(urasync_device_memory_used(device, &bytes), 0);
    return bytes;
}

static ze_memory_allocation_properties_t properties_of(const void *address,
                                                       ze_device_handle_t *device) {
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    SUCCESS(ze.zeMemGetAllocProperties(context, address, &properties, device));
    return properties;
}

void allocations_of_each_kind_know_what_they_are(void) {
    char *device = NULL;
    char *shared = NULL;
    char *anywhere = NULL;
    char *host = NULL;
    SUCCESS(ze.zeMemAllocDevice(context, &device_desc, 1000, 0, devices[1], (void **)&device));
    SUCCESS(ze.zeMemAllocShared(context, &device_desc, &host_desc, 2000, 0, devices[0],
                                (void **)&shared));
    SUCCESS(
        ze.zeMemAllocShared(context, &device_desc, &host_desc, 3000, 0, NULL, (void **)&anywhere));
    SUCCESS(ze.zeMemAllocHost(context, &host_desc, 4000, 0, (void **)&host));
    CHECK_EQUAL(used(1), 1000);
    CHECK_EQUAL(used(0), 2000); // shared memory counts on its device, host memory nowhere
    const struct {
        char *address;
        size_t size;
        ze_memory_type_t type;
        ze_device_handle_t device;
    } expected[] = {{device, 1000, ZE_MEMORY_TYPE_DEVICE, devices[1]},
                    {shared, 2000, ZE_MEMORY_TYPE_SHARED, devices[0]},
                    {anywhere, 3000, ZE_MEMORY_TYPE_SHARED, NULL},
                    {host, 4000, ZE_MEMORY_TYPE_HOST, NULL}};
    for (size_t i = 0; i < COUNT(expected); ++i) {
        char *address = expected[i].address;
        CHECK(filled_with(address, 0, expected[i].size));
        ze_device_handle_t owner = (ze_device_handle_t)1;
        const ze_memory_allocation_properties_t start = properties_of(address, &owner);
        CHECK_EQUAL(start.type, expected[i].type);
        CHECK(owner == expected[i].device);
        CHECK(start.id != 0 && start.pageSize >= 4096);
        const ze_memory_allocation_properties_t last =
            properties_of(address + expected[i].size - 1, NULL);
        CHECK_EQUAL(last.id, start.id);
        CHECK_EQUAL(last.type, start.type);
        void *base = NULL;
        size_t size = 0;
        SUCCESS(ze.zeMemGetAddressRange(context, address + expected[i].size - 1, &base, &size));
        CHECK(base == address);
        CHECK_EQUAL(size, expected[i].size);
        SUCCESS(ze.zeMemGetAddressRange(context, address, NULL, NULL));
        for (size_t j = 0; j < i; ++j) {
            CHECK(properties_of(expected[j].address, NULL).id != start.id);
        }
    }
    for (size_t i = 0; i < COUNT(expected); ++i) {
        free_memory(expected[i].address);
    }
    CHECK_EQUAL(used(0) + used(1), 0);
}

void unknown_addresses_are_unknown(void) {
    char *memory = make_device_memory(100);
    int local = 0;
    ze_device_handle_t owner = devices[0];
    CHECK_EQUAL(properties_of(&local, &owner).type, ZE_MEMORY_TYPE_UNKNOWN);
    CHECK(owner == NULL);
    CHECK_EQUAL(properties_of(memory + 100, NULL).type, ZE_MEMORY_TYPE_UNKNOWN);
    CHECK_EQUAL(properties_of(memory - 1, NULL).type, ZE_MEMORY_TYPE_UNKNOWN);
    CHECK_EQUAL(ze.zeMemGetAddressRange(context, &local, NULL, NULL),
                ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
    // Known only in its own context.
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_context_handle_t other = ze.zeDriverGetDefaultContext(driver);
    SUCCESS(ze.zeMemGetAllocProperties(other, memory, &properties, NULL));
    CHECK_EQUAL(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
    CHECK_EQUAL(ze.zeMemFree(other, memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeMemFree(context, memory + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeMemFree(context, &local), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeMemFree(context, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeMemFree(NULL, memory), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    free_memory(memory);
    CHECK_EQUAL(ze.zeMemFree(context, memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(properties_of(memory, NULL).type, ZE_MEMORY_TYPE_UNKNOWN);
}

void allocations_are_aligned(void) {
    for (size_t alignment = 1; alignment <= (size_t)16 << 20; alignment *= 2) {
        void *memory = NULL;
        SUCCESS(ze.zeMemAllocDevice(context, &device_desc, 100, alignment, devices[0], &memory));
        CHECK_EQUAL((uintptr_t)memory % alignment, 0);
        free_memory(memory);
    }
    void *memory = NULL;
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &device_desc, 100, 3, devices[0], &memory),
                ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    CHECK_EQUAL(ze.zeMemAllocHost(context, &host_desc, 100, 48, &memory),
                ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

void allocations_have_limits(void) {
    void *memory = NULL;
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &device_desc, 0, 0, devices[0], &memory),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(
        ze.zeMemAllocDevice(context, &device_desc, MAX_ALLOCATION + 1, 0, devices[0], &memory),
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(ze.zeMemAllocHost(context, &host_desc, MAX_ALLOCATION + 1, 0, &memory),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    SUCCESS(ze.zeMemAllocDevice(context, &device_desc, MAX_ALLOCATION, 0, devices[0], &memory));
    free_memory(memory);

    const ze_relaxed_allocation_limits_exp_desc_t relaxed = {
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_mem_alloc_desc_t desc = device_desc;
    desc.pNext = &relaxed;
    SUCCESS(ze.zeMemAllocDevice(context, &desc, MAX_ALLOCATION + 1, 0, devices[0], &memory));
    void *more = NULL;
    CHECK_EQUAL(
        ze.zeMemAllocDevice(context, &desc, DEVICE_MEMORY - MAX_ALLOCATION, 0, devices[0], &more),
        ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    SUCCESS(ze.zeMemAllocDevice(context, &desc, DEVICE_MEMORY - MAX_ALLOCATION - 1, 0, devices[0],
                                &more));
    void *shared = NULL;
    CHECK_EQUAL(ze.zeMemAllocShared(context, &device_desc, &host_desc, 1, 0, devices[0], &shared),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    SUCCESS(ze.zeMemAllocShared(context, &device_desc, &host_desc, 1, 0, devices[1], &shared));
    free_memory(shared);
    free_memory(more);
    free_memory(memory);
    // More than all memory of the device is a size that it does not have.
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &desc, DEVICE_MEMORY + 1, 0, devices[0], &memory),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(
        ze.zeMemAllocShared(context, &desc, &host_desc, SIZE_MAX - 100, 0, devices[0], &memory),
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE);

    CHECK_EQUAL(ze.zeMemAllocDevice(NULL, &desc, 1, 0, devices[0], &memory),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &desc, 1, 0, NULL, &memory),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeMemAllocDevice(context, NULL, 1, 0, devices[0], &memory),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &desc, 1, 0, devices[0], NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc.flags = 0x8;
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &desc, 1, 0, devices[0], &memory),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    const ze_external_memory_export_desc_t exported = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC};
    desc.flags = 0;
    desc.pNext = &exported;
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &desc, 1, 0, devices[0], &memory),
                ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
}

void the_memory_limit_can_change(void) {
    uint64_t bytes = 0;
    CHECK_EQUAL(urasync_device_memory_limit(0, &bytes), 0);
    CHECK_EQUAL(bytes, DEVICE_MEMORY);
    void *first = make_device_memory(3000);
    CHECK_EQUAL(urasync_device_memory_set_limit(0, 5000), 0);
    CHECK_EQUAL(urasync_device_memory_free(0, &bytes), 0);
    CHECK_EQUAL(bytes, 2000);
    void *second = NULL;
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &device_desc, 2001, 0, devices[0], &second),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK_EQUAL(used(0), 3000);
    second = make_device_memory(2000);
    CHECK_EQUAL(urasync_device_memory_set_limit(0, 1000), 0); // below what is in use
    CHECK_EQUAL(urasync_device_memory_free(0, &bytes), 0);
    CHECK_EQUAL(bytes, 0);
    void *third = NULL;
    CHECK_EQUAL(ze.zeMemAllocDevice(context, &device_desc, 1, 0, devices[0], &third),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    SUCCESS(ze.zeMemAllocDevice(context, &device_desc, 1, 0, devices[1], &third));
    free_memory(first);
    free_memory(second);
    free_memory(third);
    CHECK_EQUAL(urasync_device_memory_set_limit(0, DEVICE_MEMORY), 0);
    CHECK_EQUAL(urasync_device_memory_set_limit(DEVICES, 1), URASYNC_CONTROL_OUT_OF_RANGE);
}

// Random allocations and frees; every address is asked for against a plain table.
void many_allocations_are_found_by_any_address(void) {
    enum { SLOTS = 3000, STEPS = 12000 };
    static struct {
        char *base;
        size_t size;
        uint64_t id;
    } slots[SLOTS];
    memset(slots, 0, sizeof slots);
    uint64_t total = 0;
    srandom(7);
    for (int step = 0; step < STEPS; ++step) {
        const size_t i = (size_t)random() % SLOTS;
        if (slots[i].base == NULL) {
            slots[i].size = 1 + (size_t)random() % 20000;
            slots[i].base = make_device_memory(slots[i].size);
            slots[i].id = properties_of(slots[i].base, NULL).id;
            total += slots[i].size;
        } else if (random() % 3 == 0) {
            free_memory(slots[i].base);
            total -= slots[i].size;
            slots[i].base = NULL;
        }
        const size_t j = (size_t)random() % SLOTS;
        if (slots[j].base != NULL) {
            const char *inside = slots[j].base + (size_t)random() % slots[j].size;
            CHECK_EQUAL(properties_of(inside, NULL).id, slots[j].id);
            CHECK_EQUAL(properties_of(slots[j].base + slots[j].size, NULL).id != slots[j].id, 1);
        }
    }
    CHECK_EQUAL(used(0), total);
    for (size_t i = 0; i < SLOTS; ++i) {
        if (slots[i].base != NULL) {
            free_memory(slots[i].base);
        }
    }
}

static uint64_t resident_pages(void) {
    unsigned long total = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu %lu", &total, &resident) == 2);
    fclose(file);
    return resident;
}

void memory_is_committed_when_it_is_touched(void) {
    const uint64_t page = 4096;
    const uint64_t before = resident_pages();
    char *memory = make_device_memory(MAX_ALLOCATION);
    memory[MAX_ALLOCATION - 1] = 1;
    CHECK_EQUAL(memory[MAX_ALLOCATION / 2], 0);
    // The process may grow for other reasons meanwhile, but not by so much.
    CHECK(resident_pages() < before + MAX_ALLOCATION / page / 4);
    free_memory(memory);
}

int child_touch_freed(void) {
    uint32_t one = 1;
    ze.zeInit(0);
    ze.zeDriverGet(&one, &driver);
    ze.zeDeviceGet(driver, &one, devices);
    context = ze.zeDriverGetDefaultContext(driver);
    volatile char *memory = make_device_memory(4096);
    memory[0] = 1;
    free_memory((void *)memory);
    memory[0] = 2;
    return 0;
}

void freed_memory_cannot_be_touched(void) {
    char errors[8192];
    CHECK(run_child("child_touch_freed", NULL, NULL, errors, sizeof errors) != 0);
}

// --- Residency ----------------------------------------------------------------------------------

void residency_is_counted(void) {
    char *memory = make_device_memory(10000);
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[0], memory, 10000));
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[0], memory, 10000));
    CHECK_EQUAL(urasync_resident_bytes(), 10000);
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[1], memory + 100, 1000));
    CHECK_EQUAL(urasync_resident_bytes(), 20000); // whole allocations, on each device
    SUCCESS(ze.zeContextEvictMemory(context, devices[0], memory, 10000));
    CHECK_EQUAL(urasync_resident_bytes(), 10000);
    int local = 0;
    CHECK_EQUAL(ze.zeContextMakeMemoryResident(context, devices[0], &local, sizeof local),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeContextMakeMemoryResident(context, devices[0], memory, 10001),
                ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK_EQUAL(ze.zeContextEvictMemory(context, NULL, memory, 1),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    free_memory(memory); // ends its residency
    CHECK_EQUAL(urasync_resident_bytes(), 0);
}

// --- Frees that know about commands -------------------------------------------------------------

static ze_result_t free_with(ze_driver_memory_free_policy_ext_flags_t policy, void *memory) {
    const ze_memory_free_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                            .freePolicy = policy};
    return ze.zeMemFreeExt(context, &desc, memory);
}

static void *free_blocking(void *memory) {
    SUCCESS(free_with(ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE, memory));
    return NULL;
}

static void append_fill(ze_command_list_handle_t list, void *memory, size_t size) {
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, "x", 1, size, NULL, 0, NULL));
}

void a_blocking_free_waits_for_the_commands_that_touch_the_memory(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *touched = make_device_memory(8192);
    char *other = make_device_memory(8192);
    hold(list);
    append_fill(list, touched + 4096, 100);
    wait_held(list);
    free_blocking(other); // nothing pending touches it
    const uint64_t before = used(0);
    const uint64_t calls = urasync_calls("zeMemFreeExt");
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, free_blocking, touched), 0);
    while (urasync_calls("zeMemFreeExt") == calls) {
        sched_yield();
    }
    for (int look = 0; look < 50; ++look) { // it must not get through while the gate is closed
        CHECK_EQUAL(used(0), before);
        sched_yield();
    }
    release(list);
    pthread_join(thread, NULL);
    CHECK_EQUAL(used(0), 0);
    CHECK_EQUAL(free_with(ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE, touched),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    destroy_list(list);
}

void a_deferred_free_keeps_the_memory_until_its_commands_completed(void) {
    ze_command_list_handle_t list = make_list(IN_ORDER);
    char *touched = make_device_memory(8192);
    char *other = make_device_memory(1000);
    hold(list);
    append_fill(list, touched, 8192);
    SUCCESS(free_with(ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE, touched));
    SUCCESS(free_with(ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE, other));
    CHECK_EQUAL(used(0), 8192); // the other went at once
    CHECK_EQUAL(properties_of(touched, NULL).type, ZE_MEMORY_TYPE_UNKNOWN);
    CHECK_EQUAL(ze.zeMemFree(context, touched), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    release(list);
    finish(list); // and the fill found its memory
    CHECK_EQUAL(used(0), 0);
    destroy_list(list);
}

void a_free_of_each_policy_frees(void) {
    const ze_driver_memory_free_policy_ext_flags_t policies[] = {
        0, ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE,
        ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    for (size_t i = 0; i < COUNT(policies); ++i) {
        SUCCESS(free_with(policies[i], make_host_memory(100)));
    }
    void *memory = make_host_memory(100);
    CHECK_EQUAL(free_with(0x8, memory), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    CHECK_EQUAL(ze.zeMemFreeExt(context, NULL, memory), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(free_with(0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    free_memory(memory);
}

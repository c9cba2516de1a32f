// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reserved ranges, physical memory, and mappings.

#define _GNU_SOURCE

#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define LARGE_RESERVATION ((size_t)64 << 30) // the sanitizers keep much of the addresses
#else
#define LARGE_RESERVATION ((size_t)4 << 40)
#endif

static char *reserve(size_t size) {
    void *address = NULL;
    SUCCESS(ze.zeVirtualMemReserve(context, NULL, size, &address));
    return address;
}

static ze_physical_mem_handle_t make_physical(size_t size) {
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = size};
    ze_physical_mem_handle_t physical = NULL;
    SUCCESS(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical));
    return physical;
}

static ze_result_t map(char *address, size_t size, ze_physical_mem_handle_t physical,
                       size_t offset) {
    return ze.zeVirtualMemMap(context, address, size, physical, offset,
                              ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE);
}

static void check_access(const char *address, size_t size, ze_memory_access_attribute_t access,
                         size_t extent) {
    ze_memory_access_attribute_t found;
    size_t found_size = 0;
    SUCCESS(ze.zeVirtualMemGetAccessAttribute(context, address, size, &found, &found_size));
    CHECK_EQUAL(found, access);
    CHECK_EQUAL(found_size, extent);
}

static uint64_t used(void) {
    uint64_t bytes = UINT64_MAX;
    CHECK_EQUAL(urasync_device_memory_used(0, &bytes), 0);
    return bytes;
}

static uint64_t resident_on(uint32_t device) {
    uint64_t bytes = UINT64_MAX;
    CHECK_EQUAL(urasync_device_resident_bytes(device, &bytes), 0);
    return bytes;
}

void mappings_are_resident_until_they_are_unmapped(void) {
    char *address = reserve(2 * PAGE);
    ze_physical_mem_handle_t physical = make_physical(2 * PAGE);
    SUCCESS(map(address, PAGE, physical, 0));
    SUCCESS(map(address + PAGE, PAGE, physical, PAGE));
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[1], address, PAGE));
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[1], address, PAGE));
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[1], address + PAGE, PAGE));
    CHECK_EQUAL(resident_on(1), 2 * PAGE);
    CHECK_EQUAL(resident_on(0), 0);
    // A mapping that is cut in two stays resident in both parts.
    SUCCESS(ze.zeVirtualMemSetAccessAttribute(context, address, SMALL_PAGE,
                                              ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    SUCCESS(ze.zeContextEvictMemory(context, devices[1], address, SMALL_PAGE));
    CHECK_EQUAL(resident_on(1), 2 * PAGE - SMALL_PAGE);
    SUCCESS(ze.zeVirtualMemUnmap(context, address, PAGE));
    CHECK_EQUAL(resident_on(1), PAGE);
    CHECK_EQUAL(urasync_resident_bytes(), PAGE);
    SUCCESS(ze.zeVirtualMemFree(context, address, 2 * PAGE));
    CHECK_EQUAL(resident_on(1), 0);
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
}

void page_sizes_depend_on_the_size(void) {
    size_t page = 0;
    SUCCESS(ze.zeVirtualMemQueryPageSize(context, devices[0], 1, &page));
    CHECK_EQUAL(page, SMALL_PAGE);
    SUCCESS(ze.zeVirtualMemQueryPageSize(context, devices[0], PAGE - 1, &page));
    CHECK_EQUAL(page, SMALL_PAGE);
    SUCCESS(ze.zeVirtualMemQueryPageSize(context, devices[0], PAGE, &page));
    CHECK_EQUAL(page, PAGE);
    SUCCESS(ze.zeVirtualMemQueryPageSize(context, devices[0], DEVICE_MEMORY, &page));
    CHECK_EQUAL(page, PAGE);
    CHECK_EQUAL(ze.zeVirtualMemQueryPageSize(context, devices[0], 0, &page),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(ze.zeVirtualMemQueryPageSize(context, NULL, 1, &page),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

void large_ranges_can_be_reserved(void) {
    char *first = reserve(LARGE_RESERVATION);
    CHECK_EQUAL((uintptr_t)first % PAGE, 0);
    void *near = NULL;
    SUCCESS(ze.zeVirtualMemReserve(context, first, PAGE, &near)); // taken, so somewhere else
    CHECK((char *)near < first || (char *)near >= first + LARGE_RESERVATION);
    check_access(first, LARGE_RESERVATION, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE, LARGE_RESERVATION);
    CHECK_EQUAL(used(), 0);
    void *bad = NULL;
    CHECK_EQUAL(ze.zeVirtualMemReserve(context, NULL, 0, &bad), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(ze.zeVirtualMemReserve(context, NULL, PAGE + SMALL_PAGE, &bad),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(ze.zeVirtualMemReserve(context, NULL, PAGE, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeVirtualMemFree(context, first, PAGE), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeVirtualMemFree(context, first + PAGE, LARGE_RESERVATION - PAGE),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    SUCCESS(ze.zeVirtualMemFree(context, near, PAGE));
    SUCCESS(ze.zeVirtualMemFree(context, first, LARGE_RESERVATION));
    CHECK_EQUAL(ze.zeVirtualMemFree(context, first, LARGE_RESERVATION),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

void data_follows_physical_memory_to_another_address(void) {
    char *range = reserve(8 * PAGE);
    ze_physical_mem_handle_t one = make_physical(PAGE);
    ze_physical_mem_handle_t two = make_physical(2 * PAGE);
    CHECK_EQUAL(used(), 3 * PAGE);
    SUCCESS(map(range + 2 * PAGE, PAGE, one, 0));
    SUCCESS(map(range + 3 * PAGE, 2 * PAGE, two, 0)); // beside it: one range of bytes
    ze_command_list_handle_t list = make_list(IN_ORDER);
    SUCCESS(
        ze.zeCommandListAppendMemoryFill(list, range + 2 * PAGE, "a", 1, 2 * PAGE, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, range + 4 * PAGE, "b", 1, PAGE, NULL, 0, NULL));
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, range + 2 * PAGE, "o", 1, PAGE, NULL, 0, NULL));
    finish(list);
    CHECK_EQUAL(ze.zePhysicalMemDestroy(context, two), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    SUCCESS(ze.zeVirtualMemUnmap(context, range + 3 * PAGE, 2 * PAGE));
    SUCCESS(map(range, PAGE, two, PAGE)); // its second page first
    SUCCESS(map(range + PAGE, PAGE, two, 0));
    CHECK(filled_with(range, 'b', PAGE));
    CHECK(filled_with(range + PAGE, 'a', PAGE));
    CHECK(filled_with(range + 2 * PAGE, 'o', PAGE)); // each has bytes of its own
    SUCCESS(map(range + 7 * PAGE, PAGE, two, PAGE)); // and once more: two names of the same bytes
    *(volatile char *)(range + 7 * PAGE) = 'c'; // the compiler takes the two for different bytes
    CHECK_EQUAL(*(volatile char *)range, 'c');
    SUCCESS(ze.zeVirtualMemUnmap(context, range, 8 * PAGE)); // everything, over the gaps
    SUCCESS(ze.zePhysicalMemDestroy(context, one));
    SUCCESS(ze.zePhysicalMemDestroy(context, two));
    CHECK_EQUAL(used(), 0);
    // New physical memory is zero again.
    one = make_physical(PAGE);
    SUCCESS(map(range, PAGE, one, 0));
    CHECK(filled_with(range, 0, PAGE));
    // Freeing the range unmaps what is mapped, and does not destroy it.
    SUCCESS(ze.zeVirtualMemFree(context, range, 8 * PAGE));
    CHECK_EQUAL(used(), PAGE);
    SUCCESS(ze.zePhysicalMemDestroy(context, one));
    destroy_list(list);
}

void mapped_memory_is_known_as_device_memory(void) {
    char *range = reserve(4 * PAGE);
    ze_physical_mem_handle_t physical = make_physical(2 * PAGE);
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t owner = NULL;
    SUCCESS(ze.zeMemGetAllocProperties(context, range, &properties, &owner));
    CHECK_EQUAL(properties.type, ZE_MEMORY_TYPE_UNKNOWN); // reserved only
    SUCCESS(map(range + PAGE, 2 * PAGE, physical, 0));
    SUCCESS(ze.zeMemGetAllocProperties(context, range + PAGE + 77, &properties, &owner));
    CHECK_EQUAL(properties.type, ZE_MEMORY_TYPE_DEVICE);
    CHECK(owner == devices[0] && properties.id != 0);
    CHECK_EQUAL(properties.pageSize, PAGE);
    void *base = NULL;
    size_t size = 0;
    SUCCESS(ze.zeMemGetAddressRange(context, range + 2 * PAGE, &base, &size));
    CHECK(base == range + PAGE);
    CHECK_EQUAL(size, 2 * PAGE);
    SUCCESS(ze.zeContextMakeMemoryResident(context, devices[0], range + PAGE, 2 * PAGE));
    CHECK_EQUAL(ze.zeMemFree(context, range + PAGE), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    SUCCESS(ze.zeVirtualMemUnmap(context, range + PAGE, 2 * PAGE));
    SUCCESS(ze.zeMemGetAllocProperties(context, range + PAGE, &properties, &owner));
    CHECK_EQUAL(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
    SUCCESS(ze.zeVirtualMemFree(context, range, 4 * PAGE));
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
}

static void open_in_child(void) {
    uint32_t one = 1;
    ze.zeInit(0);
    ze.zeDriverGet(&one, &driver);
    ze.zeDeviceGet(driver, &one, devices);
    context = ze.zeDriverGetDefaultContext(driver);
}

int child_mapped_unknown(void) {
    open_in_child();
    char *range = reserve(PAGE);
    SUCCESS(map(range, PAGE, make_physical(PAGE), 0));
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .type = ZE_MEMORY_TYPE_HOST};
    SUCCESS(ze.zeMemGetAllocProperties(context, range, &properties, NULL));
    CHECK_EQUAL(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
    void *memory = make_device_memory(100);
    SUCCESS(ze.zeMemGetAllocProperties(context, memory, &properties, NULL));
    CHECK_EQUAL(properties.type, ZE_MEMORY_TYPE_DEVICE);
    return atomic_load(&failed_checks);
}

void a_setting_makes_mapped_memory_unknown(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_mapped_unknown", "URASYNC_L0_SOFTWARE_MAPPED_UNKNOWN", "1", errors,
                          sizeof errors),
                0);
}

void access_can_change_for_part_of_a_mapping(void) {
    char *range = reserve(4 * PAGE);
    ze_physical_mem_handle_t physical = make_physical(3 * PAGE);
    SUCCESS(map(range, 3 * PAGE, physical, 0));
    check_access(range, 4 * PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, 3 * PAGE);
    range[PAGE] = 'z';
    SUCCESS(ze.zeVirtualMemSetAccessAttribute(context, range + PAGE, PAGE,
                                              ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    CHECK_EQUAL(range[PAGE], 'z');
    range[0] = 'y';
    range[2 * PAGE] = 'x';
    check_access(range, 3 * PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, PAGE);
    check_access(range + PAGE, 2 * PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY, PAGE);
    check_access(range + 2 * PAGE, PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, PAGE);
    check_access(range + 3 * PAGE, PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE, PAGE);
    CHECK_EQUAL(ze.zeVirtualMemSetAccessAttribute(context, range + 2 * PAGE, 2 * PAGE,
                                                  ZE_MEMORY_ACCESS_ATTRIBUTE_NONE),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // the last page is not mapped
    check_access(range + 2 * PAGE, PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, PAGE);
    SUCCESS(ze.zeVirtualMemSetAccessAttribute(context, range, 3 * PAGE,
                                              ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    check_access(range, 4 * PAGE, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, 3 * PAGE);
    range[PAGE] = 'w';
    CHECK_EQUAL(
        ze.zeVirtualMemSetAccessAttribute(context, range, PAGE, (ze_memory_access_attribute_t)3),
        ZE_RESULT_ERROR_INVALID_ENUMERATION);
    SUCCESS(ze.zeVirtualMemUnmap(context, range, 3 * PAGE)); // as it was mapped
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
    SUCCESS(ze.zeVirtualMemFree(context, range, 4 * PAGE));
}

int child_write_read_only(void) {
    open_in_child();
    char *range = reserve(PAGE);
    SUCCESS(ze.zeVirtualMemMap(context, range, PAGE, make_physical(PAGE), 0,
                               ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    if (*(volatile char *)range != 0) {
        return 0;
    }
    *(volatile char *)range = 1;
    return 0;
}

int child_touch_unmapped(void) {
    open_in_child();
    char *range = reserve(PAGE);
    ze_physical_mem_handle_t physical = make_physical(PAGE);
    SUCCESS(map(range, PAGE, physical, 0));
    *(volatile char *)range = 1;
    SUCCESS(ze.zeVirtualMemUnmap(context, range, PAGE));
    *(volatile char *)range = 2;
    return 0;
}

void memory_without_access_cannot_be_touched(void) {
    char errors[8192];
    CHECK(run_child("child_write_read_only", NULL, NULL, errors, sizeof errors) != 0);
    CHECK(run_child("child_touch_unmapped", NULL, NULL, errors, sizeof errors) != 0);
}

void mappings_that_do_not_fit_are_refused(void) {
    char *range = reserve(4 * PAGE);
    ze_physical_mem_handle_t physical = make_physical(2 * PAGE);
    CHECK_EQUAL(map(range, 3 * PAGE, physical, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(map(range, 2 * PAGE, physical, PAGE), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(map(range + 3 * PAGE, 2 * PAGE, physical, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(map(range + 4 * PAGE, PAGE, physical, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(map(range + 1, PAGE, physical, 0), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    CHECK_EQUAL(map(range, PAGE, physical, 1), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    CHECK_EQUAL(map(range, PAGE - 1, physical, 0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(map(range, 0, physical, 0), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK_EQUAL(map(NULL, PAGE, physical, 0), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(map(range, PAGE, NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    SUCCESS(map(range + PAGE, 2 * PAGE, physical, 0));
    CHECK_EQUAL(map(range, 2 * PAGE, physical, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT); // overlaps
    CHECK_EQUAL(ze.zeVirtualMemUnmap(context, range, 2 * PAGE), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeVirtualMemUnmap(context, range + 2 * PAGE, 2 * PAGE),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // would cut the mapping
    CHECK_EQUAL(ze.zeVirtualMemUnmap(context, range + 3 * PAGE, PAGE),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // nothing there
    range[PAGE] = 'k';
    CHECK_EQUAL(range[PAGE], 'k'); // still mapped
    SUCCESS(ze.zeVirtualMemUnmap(context, range, 4 * PAGE));
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
    SUCCESS(ze.zeVirtualMemFree(context, range, 4 * PAGE));
}

// Bytes that the driver's store has committed: the blocks of its file in memory.
static uint64_t committed(void) {
    for (int file = 0; file < 1024; ++file) {
        char path[64];
        char target[128] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        struct stat status;
        if (readlink(path, target, sizeof target - 1) > 0 &&
            strstr(target, "urasync-physical-memory") != NULL && fstat(file, &status) == 0) {
            return (uint64_t)status.st_blocks * 512;
        }
    }
    CHECK(false);
    return 0;
}

void physical_memory_is_committed_while_it_is_used(void) {
    char *range = reserve(4 * PAGE);
    ze_physical_mem_handle_t physical = make_physical(4 * PAGE);
    const uint64_t before = committed();
    SUCCESS(map(range, 4 * PAGE, physical, 0));
    CHECK_EQUAL(committed(), before);
    memset(range + PAGE, 1, PAGE);
    CHECK_EQUAL(committed() - before, PAGE);
    SUCCESS(ze.zeVirtualMemUnmap(context, range, 4 * PAGE));
    CHECK_EQUAL(committed() - before, PAGE); // it is the physical memory's, not the range's
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
    CHECK_EQUAL(committed(), before);
    SUCCESS(ze.zeVirtualMemFree(context, range, 4 * PAGE));
}

void physical_memory_counts_against_the_limit(void) {
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = DEVICE_MEMORY + PAGE};
    ze_physical_mem_handle_t physical = NULL;
    CHECK_EQUAL(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    desc.size = DEVICE_MEMORY;
    SUCCESS(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical));
    ze_physical_mem_handle_t more = NULL;
    desc.size = PAGE;
    CHECK_EQUAL(ze.zePhysicalMemCreate(context, devices[0], &desc, &more),
                ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    SUCCESS(ze.zePhysicalMemCreate(context, devices[1], &desc, &more));
    SUCCESS(ze.zePhysicalMemDestroy(context, more));
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
    CHECK_EQUAL(used(), 0);
    desc.size = PAGE + 1;
    CHECK_EQUAL(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    desc.size = 0;
    CHECK_EQUAL(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical),
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    desc.size = PAGE;
    CHECK_EQUAL(ze.zePhysicalMemCreate(context, NULL, &desc, &physical),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    desc.flags = 4;
    CHECK_EQUAL(ze.zePhysicalMemCreate(context, devices[0], &desc, &physical),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.flags = 2; // on the host
    SUCCESS(ze.zePhysicalMemCreate(context, NULL, &desc, &physical));
    CHECK_EQUAL(used(), 0);
    ze_context_handle_t other = ze.zeDriverGetDefaultContext(driver);
    CHECK_EQUAL(ze.zePhysicalMemDestroy(other, physical), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    SUCCESS(ze.zePhysicalMemDestroy(context, physical));
}

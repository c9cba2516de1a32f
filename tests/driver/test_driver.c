// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initialisation, settings, and the properties of driver and devices.

#define _GNU_SOURCE

#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

// --- Initialisation and settings ----------------------------------------------------------------

int child_before_init(void) {
    uint32_t count = 0;
    if (ze.zeDriverGet(&count, NULL) != ZE_RESULT_ERROR_UNINITIALIZED) {
        return 1;
    }
    if (ze.zeInit(ZE_INIT_FLAG_VPU_ONLY) != ZE_RESULT_ERROR_UNINITIALIZED ||
        ze.zeDriverGet(&count, NULL) != ZE_RESULT_ERROR_UNINITIALIZED) {
        return 2;
    }
    ze_init_driver_type_desc_t npu = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
        .flags = ZE_INIT_DRIVER_TYPE_FLAG_NPU};
    if (ze.zeInitDrivers(&count, NULL, &npu) != ZE_RESULT_ERROR_UNINITIALIZED) {
        return 3;
    }
    ze_init_driver_type_desc_t all = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, .flags = UINT32_MAX};
    ze_driver_handle_t found = NULL;
    count = 4;
    if (ze.zeInitDrivers(&count, &found, &all) != ZE_RESULT_SUCCESS || count != 1 ||
        found == NULL) {
        return 4;
    }
    return 0;
}

void initialisation_is_needed_and_may_repeat(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_before_init", NULL, NULL, errors, sizeof errors), 0);
    CHECK_EQUAL(errors[0], 0);
    SUCCESS(ze.zeInit(0));
    SUCCESS(ze.zeInit(ZE_INIT_FLAG_GPU_ONLY));
    CHECK_EQUAL(ze.zeInit(0x10), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    uint32_t count = 0;
    ze_init_driver_type_desc_t desc = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, .flags = 0};
    CHECK_EQUAL(ze.zeInitDrivers(&count, NULL, &desc), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.flags = ZE_INIT_DRIVER_TYPE_FLAG_GPU;
    CHECK_EQUAL(ze.zeInitDrivers(NULL, NULL, &desc), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    SUCCESS(ze.zeInitDrivers(&count, NULL, &desc));
    CHECK_EQUAL(count, 1);
    ze_driver_handle_t again = NULL;
    SUCCESS(ze.zeInitDrivers(&count, &again, &desc));
    CHECK(again == driver);
    CHECK_EQUAL(ze.zeDriverGet(NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

int child_init_twice(void) {
    const ze_result_t first = ze.zeInit(0);
    const ze_result_t second = ze.zeInit(0);
    return first != second ? 2 : first == ZE_RESULT_ERROR_UNINITIALIZED ? 1 : (int)first;
}

void settings_that_are_wrong_are_named_once(void) {
    static const struct {
        const char *name;
        const char *value;
    } wrong[] = {
        {"URASYNC_L0_SOFTWARE_DEVICES", "0"},        {"URASYNC_L0_SOFTWARE_DEVICES", "9"},
        {"URASYNC_L0_SOFTWARE_DEVICES", "two"},      {"URASYNC_L0_SOFTWARE_DEVICES", "-1"},
        {"URASYNC_L0_SOFTWARE_DEVICES", ""},         {"URASYNC_L0_SOFTWARE_MEMORY", "16X"},
        {"URASYNC_L0_SOFTWARE_MEMORY", "16GB"},      {"URASYNC_L0_SOFTWARE_MEMORY", "0"},
        {"URASYNC_L0_SOFTWARE_MEMORY", "16777217T"}, {"URASYNC_L0_SOFTWARE_MAX_ALLOCATION", "1"},
        {"URASYNC_L0_SOFTWARE_PAGE", "3M"},          {"URASYNC_L0_SOFTWARE_TIMER", "0"},
        {"URASYNC_L0_SOFTWARE_TIMER", "1e6"},        {"URASYNC_L0_SOFTWARE_MAPPED_UNKNOWN", "yes"},
        {"URASYNC_L0_SOFTWARE_SUB_DEVICES", "1"},    {"URASYNC_L0_SOFTWARE_SUB_DEVICES", "5"},
        {"ZE_FLAT_DEVICE_HIERARCHY", "flat"},        {"ZE_FLAT_DEVICE_HIERARCHY", ""},
        {"URASYNC_L0_SOFTWARE_PEER", "2"},           {"URASYNC_L0_SOFTWARE_HIDE", "zeMemFreeeExt"},
        {"URASYNC_L0_SOFTWARE_HIDE", "zeMemFree,,"}, {"URASYNC_L0_SOFTWARE_MEMROY", "16G"},
    };
    for (size_t i = 0; i < COUNT(wrong); ++i) {
        char errors[4096];
        const int status =
            run_child("child_init_twice", wrong[i].name, wrong[i].value, errors, sizeof errors);
        if (status != 1 || strstr(errors, wrong[i].name) == NULL ||
            strchr(errors, '\n') != errors + strlen(errors) - 1) {
            printf("%s=%s: status %d, said: %s\n", wrong[i].name, wrong[i].value, status, errors);
            CHECK(false);
        }
    }
}

int child_devices(void) {
    uint32_t count = 0;
    const char *expected = getenv("URASYNC_L0_SOFTWARE_DEVICES");
    if (ze.zeInit(0) != ZE_RESULT_SUCCESS) {
        return 1;
    }
    uint32_t one = 1;
    ze_driver_handle_t found;
    ze.zeDriverGet(&one, &found);
    ze.zeDeviceGet(found, &count, NULL);
    return count == (uint32_t)atoi(expected) && urasync_device_count() == count ? 0 : 2;
}

void settings_give_the_number_of_devices(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_devices", "URASYNC_L0_SOFTWARE_DEVICES", "1", errors, 4096), 0);
    CHECK_EQUAL(run_child("child_devices", "URASYNC_L0_SOFTWARE_DEVICES", "8", errors, 4096), 0);
}

int child_without_environment(void) {
    clearenv();
    return ze.zeInit(0) == ZE_RESULT_SUCCESS ? 0 : 1;
}

void an_environment_may_be_absent(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_without_environment", NULL, NULL, errors, sizeof errors), 0);
}

int child_sizes(void) {
    uint32_t one = 1;
    ze_driver_handle_t found;
    ze_device_handle_t device;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    if (ze.zeInit(0) != ZE_RESULT_SUCCESS) {
        return 1;
    }
    ze.zeDriverGet(&one, &found);
    ze.zeDeviceGet(found, &one, &device);
    ze.zeDeviceGetProperties(device, &properties);
    ze.zeDeviceGetMemoryProperties(device, &one, &memory);
    // The largest allocation is 256M by the parent's setting, and never more than the memory.
    return memory.totalSize == (uint64_t)96 << 20 && properties.maxMemAllocSize == (uint64_t)96
                                                                                       << 20
               ? 0
               : 2;
}

void settings_give_the_memory(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_sizes", "URASYNC_L0_SOFTWARE_MEMORY", "96M", errors, 4096), 0);
    CHECK_EQUAL(run_child("child_sizes", "URASYNC_L0_SOFTWARE_MEMORY", "98304K", errors, 4096), 0);
    CHECK_EQUAL(run_child("child_sizes", "URASYNC_L0_SOFTWARE_MEMORY", "100663296", errors, 4096),
                0);
}

int child_hidden(void) {
    uint32_t one = 1;
    ze_driver_handle_t found;
    ze_device_handle_t device;
    ze_context_handle_t made;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    if (ze.zeInit(0) != ZE_RESULT_SUCCESS) {
        return 1;
    }
    ze.zeDriverGet(&one, &found);
    ze.zeDeviceGet(found, &one, &device);
    ze.zeContextCreate(found, &desc, &made);
    void *address = NULL;
    size_t page = 0;
    if (ze.zeVirtualMemReserve(made, NULL, PAGE, &address) != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
        ze.zeVirtualMemQueryPageSize(made, device, PAGE, &page) !=
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
        urasync_calls("zeVirtualMemReserve") != 1) {
        return 2;
    }
    if (ze.zeDriverGetExtensionFunctionAddress(found, "zexCounterBasedEventCreate2", &address) !=
            ZE_RESULT_ERROR_INVALID_ARGUMENT ||
        ze.zeDriverGetExtensionFunctionAddress(found, "zeEventCounterBasedCreate", &address) !=
            ZE_RESULT_SUCCESS) {
        return 3;
    }
    ze_driver_extension_properties_t rows[32];
    uint32_t count = COUNT(rows);
    ze.zeDriverGetExtensionProperties(found, &count, rows);
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(rows[i].name, ZE_EVENT_POOL_COUNTER_BASED_EXP_NAME) == 0) {
            return 4;
        }
    }
    return count > 0 ? 0 : 5;
}

void settings_hide_what_they_name(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_hidden", "URASYNC_L0_SOFTWARE_HIDE",
                          "zeVirtualMem*,zexCounterBasedEventCreate2,"
                          "ZE_experimental_event_pool_counter_based",
                          errors, sizeof errors),
                0);
    CHECK_EQUAL(errors[0], 0);
}

// --- Properties ---------------------------------------------------------------------------------

void driver_describes_itself(void) {
    ze_api_version_t version;
    SUCCESS(ze.zeDriverGetApiVersion(driver, &version));
    CHECK_EQUAL(version, ZE_MAKE_VERSION(1, 15));
    CHECK_EQUAL(ze.zeDriverGetApiVersion(NULL, &version), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeDriverGetApiVersion(driver, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ze_driver_memory_free_ext_properties_t policies = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES};
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
                                         .pNext = &policies};
    SUCCESS(ze.zeDriverGetProperties(driver, &properties));
    CHECK_EQUAL(properties.driverVersion >> 24, 1);
    CHECK_EQUAL(properties.driverVersion >> 16 & 0xff, 15);
    CHECK_EQUAL(properties.driverVersion & 0xffff, 39000);
    CHECK_EQUAL(policies.freePolicies, 3);
    uint32_t count = 0;
    SUCCESS(ze.zeDriverGetExtensionProperties(driver, &count, NULL));
    CHECK(count >= 5);
    ze_driver_extension_properties_t rows[33];
    memset(rows, 0xA5, sizeof rows);
    uint32_t fewer = 2;
    SUCCESS(ze.zeDriverGetExtensionProperties(driver, &fewer, rows));
    CHECK_EQUAL(fewer, 2);
    CHECK_EQUAL((unsigned char)rows[2].name[0], 0xA5);
    uint32_t more = COUNT(rows);
    SUCCESS(ze.zeDriverGetExtensionProperties(driver, &more, rows));
    CHECK_EQUAL(more, count);
    bool found = false;
    for (uint32_t i = 0; i < more; ++i) {
        if (strcmp(rows[i].name, ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_NAME) == 0) {
            found = true;
            CHECK_EQUAL(rows[i].version, ZE_MAKE_VERSION(1, 0));
        }
    }
    CHECK(found);
    CHECK(ze.zeDriverGetDefaultContext(NULL) == NULL);
    ze_context_handle_t standard = ze.zeDriverGetDefaultContext(driver);
    CHECK(standard != NULL && standard == ze.zeDriverGetDefaultContext(driver));
    SUCCESS(ze.zeContextGetStatus(standard));
    CHECK_EQUAL(ze.zeContextDestroy(standard), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

void functions_are_found_by_name(void) {
    void *address = NULL;
    SUCCESS(
        ze.zeDriverGetExtensionFunctionAddress(driver, "zeCommandListHostSynchronize", &address));
    ze_command_list_handle_t list = make_list(IN_ORDER);
    const uint64_t before = urasync_calls("zeCommandListHostSynchronize");
    SUCCESS(((__typeof__(&zeCommandListHostSynchronize))address)(list, SECONDS_10));
    CHECK_EQUAL(urasync_calls("zeCommandListHostSynchronize"), before + 1);
    destroy_list(list);
    SUCCESS(
        ze.zeDriverGetExtensionFunctionAddress(driver, "zexCounterBasedEventCreate2", &address));
    const zex_counter_based_event_desc_t desc = {.stype = ZEX_STRUCTURE_COUNTER_BASED_EVENT_DESC,
                                                 .flags = 7};
    ze_event_handle_t event = NULL;
    SUCCESS(
        ((__typeof__(&zexCounterBasedEventCreate2))address)(context, devices[0], &desc, &event));
    SUCCESS(ze.zeEventQueryStatus(event));
    destroy_event(event);
    CHECK_EQUAL(ze.zeDriverGetExtensionFunctionAddress(driver, "zeNothing", &address),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeDriverGetExtensionFunctionAddress(driver, NULL, &address),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

void devices_describe_themselves(void) {
    uint32_t count = 0;
    SUCCESS(ze.zeDeviceGet(driver, &count, NULL));
    CHECK_EQUAL(count, DEVICES);
    ze_device_properties_t first = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_ip_version_ext_t ip = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT};
    ze_device_properties_t second = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                     .pNext = &ip};
    SUCCESS(ze.zeDeviceGetProperties(devices[0], &first));
    SUCCESS(ze.zeDeviceGetProperties(devices[1], &second));
    CHECK_EQUAL(first.type, ZE_DEVICE_TYPE_GPU);
    CHECK(ip.ipVersion != 0);
    CHECK_EQUAL(first.maxMemAllocSize, MAX_ALLOCATION);
    CHECK(memcmp(first.uuid.id, second.uuid.id, sizeof first.uuid.id) != 0);
    CHECK(strcmp(first.name, second.name) != 0);
    CHECK_EQUAL(first.timerResolution, 1000000000 / TIMER_TICKS); // nanoseconds a tick
    CHECK_EQUAL(second.timerResolution, TIMER_TICKS);             // ticks a second
    ze_command_queue_group_properties_t groups[3] = {
        {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES},
        {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES}};
    count = 3;
    SUCCESS(ze.zeDeviceGetCommandQueueGroupProperties(devices[0], &count, groups));
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(groups[0].flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                                     ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    CHECK_EQUAL(groups[1].flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    CHECK_EQUAL(groups[0].maxMemoryFillPatternSize, 128);
    CHECK(groups[0].numQueues > 0 && groups[1].numQueues > 0);
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    count = 1;
    SUCCESS(ze.zeDeviceGetMemoryProperties(devices[0], &count, &memory));
    CHECK_EQUAL(memory.totalSize, DEVICE_MEMORY);
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    SUCCESS(ze.zeDeviceGetMemoryAccessProperties(devices[0], &access));
    CHECK((access.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW) != 0);
    CHECK_EQUAL(access.sharedSystemAllocCapabilities, 0);
    count = 5;
    SUCCESS(ze.zeDeviceGetSubDevices(devices[0], &count, NULL));
    CHECK_EQUAL(count, 0);
    ze_device_handle_t root = devices[0];
    SUCCESS(ze.zeDeviceGetRootDevice(devices[0], &root));
    CHECK(root == NULL);
    ze_bool_t can = 0;
    SUCCESS(ze.zeDeviceCanAccessPeer(devices[0], devices[1], &can));
    CHECK(can);
    ze_pci_ext_properties_t pci[2] = {{.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES},
                                      {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES}};
    SUCCESS(ze.zeDevicePciGetPropertiesExt(devices[0], &pci[0]));
    SUCCESS(ze.zeDevicePciGetPropertiesExt(devices[1], &pci[1]));
    CHECK(pci[0].address.bus != pci[1].address.bus);
    SUCCESS(ze.zeDeviceGetStatus(devices[0]));
    CHECK_EQUAL(ze.zeDeviceGetStatus(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeDeviceGetProperties(devices[0], NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    uint64_t largest = 0;
    SUCCESS(ze.zeDeviceGetCounterBasedEventMaxValue(devices[0], &largest));
    CHECK_EQUAL(largest, UINT64_MAX);
}

int child_no_peer(void) {
    uint32_t count = 2;
    ze_driver_handle_t found;
    ze_device_handle_t both[2];
    ze_bool_t other = 1;
    ze_bool_t self = 0;
    ze.zeInit(0);
    uint32_t one = 1;
    ze.zeDriverGet(&one, &found);
    ze.zeDeviceGet(found, &count, both);
    ze.zeDeviceCanAccessPeer(both[0], both[1], &other);
    ze.zeDeviceCanAccessPeer(both[0], both[0], &self);
    return !other && self ? 0 : 1;
}

void settings_forbid_peer_access(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_no_peer", "URASYNC_L0_SOFTWARE_PEER", "0", errors, 4096), 0);
}

static ze_device_handle_t first_device(void) {
    uint32_t one = 1;
    ze_driver_handle_t found = NULL;
    ze_device_handle_t device = NULL;
    ze.zeInit(0);
    ze.zeDriverGet(&one, &found);
    ze.zeDeviceGet(found, &one, &device);
    return device;
}

// Three sub-devices of each of two devices: handles, memory, peers, and contexts on one of them.
int child_sub_devices(void) {
    ze_device_handle_t root = first_device();
    ze_device_handle_t parts[4] = {NULL};
    uint32_t count = COUNT(parts);
    if (ze.zeDeviceGetSubDevices(root, &count, parts) != ZE_RESULT_SUCCESS || count != 3 ||
        urasync_device_count() != 8) {
        return 1;
    }
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze.zeDeviceGetProperties(parts[2], &properties);
    ze_device_handle_t up = NULL;
    ze.zeDeviceGetRootDevice(parts[2], &up);
    if (properties.flags != ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE || properties.subdeviceId != 2 ||
        up != root) {
        return 2;
    }
    count = COUNT(parts);
    ze.zeDeviceGetSubDevices(parts[0], &count, NULL);
    if (count != 0) {
        return 3;
    }
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t one_part;
    ze_driver_handle_t found;
    uint32_t one = 1;
    ze.zeDriverGet(&one, &found);
    ze.zeContextCreateEx(found, &desc, 1, &parts[2], &one_part);
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *address = NULL;
    if (ze.zeMemAllocDevice(one_part, &memory, 64, 0, root, &address) !=
            ZE_RESULT_ERROR_INVALID_ARGUMENT ||
        ze.zeMemAllocDevice(one_part, &memory, 64, 0, parts[1], &address) !=
            ZE_RESULT_ERROR_INVALID_ARGUMENT ||
        ze.zeMemAllocDevice(one_part, &memory, MAX_ALLOCATION, 0, parts[2], &address) !=
            ZE_RESULT_SUCCESS) {
        return 4;
    }
    // The third part of the first device has the index 2 + 2. Its memory is the root's, too.
    uint64_t of_part = 0;
    uint64_t of_root = 0;
    uint64_t of_other = 1;
    urasync_device_memory_used(4, &of_part);
    urasync_device_memory_used(0, &of_root);
    urasync_device_memory_used(3, &of_other);
    if (of_part != MAX_ALLOCATION || of_root != MAX_ALLOCATION || of_other != 0) {
        return 5;
    }
    void *more = NULL;
    if (ze.zeMemAllocDevice(one_part, &memory, DEVICE_MEMORY / 3 - MAX_ALLOCATION + 1, 0, parts[2],
                            &more) != ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) {
        return 6;
    }
    urasync_device_memory_used(0, &of_root);
    ze.zeMemFree(one_part, address);
    urasync_device_memory_used(4, &of_part);
    return of_root == MAX_ALLOCATION && of_part == 0 ? 0 : 7;
}

void root_devices_have_the_sub_devices_of_the_setting(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_sub_devices", "URASYNC_L0_SOFTWARE_SUB_DEVICES", "3", errors,
                          sizeof errors),
                0);
    CHECK_EQUAL(errors[0], 0);
}

// With two sub-devices each: 10 + devices shown, 20 when they have a root, 40 when they are parts.
int child_hierarchy(void) {
    setenv("URASYNC_L0_SOFTWARE_SUB_DEVICES", "2", 1);
    ze_device_handle_t device = first_device();
    uint32_t one = 1;
    uint32_t count = 0;
    ze_driver_handle_t found;
    ze.zeDriverGet(&one, &found);
    ze.zeDeviceGet(found, &count, NULL);
    ze_device_handle_t root = NULL;
    ze.zeDeviceGetRootDevice(device, &root);
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze.zeDeviceGetProperties(device, &properties);
    return 10 + (int)count + (root != NULL ? 20 : 0) + (properties.flags != 0 ? 40 : 0);
}

void the_hierarchy_says_which_devices_there_are(void) {
    static const struct {
        const char *hierarchy;
        int expected;
    } cases[] = {{"COMPOSITE", 12}, {"FLAT", 14}, {"COMBINED", 34}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        char errors[4096];
        CHECK_EQUAL(run_child("child_hierarchy", "ZE_FLAT_DEVICE_HIERARCHY", cases[i].hierarchy,
                              errors, sizeof errors),
                    cases[i].expected);
    }
}

static uint64_t usable_memory(uint32_t device) {
    ze_device_usablemem_size_ext_properties_t usable = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &usable};
    SUCCESS(ze.zeDeviceGetProperties(devices[device], &properties));
    return usable.currUsableMemSize;
}

void usable_memory_is_what_is_not_allocated(void) {
    const uint64_t before = usable_memory(0);
    const uint64_t other = usable_memory(1);
    void *memory = make_device_memory(12345);
    CHECK_EQUAL(usable_memory(0), before - 12345);
    CHECK_EQUAL(usable_memory(1), other);
    free_memory(memory);
    CHECK_EQUAL(usable_memory(0), before);
}

// The device's clock runs at its resolution beside the host's.
void global_timestamps_run_at_the_timer_resolution(void) {
    uint64_t host[2];
    uint64_t ticks[2];
    SUCCESS(ze.zeDeviceGetGlobalTimestamps(devices[0], &host[0], &ticks[0]));
    while (now_ns() < host[0] + 20 * MILLISECOND) {
    }
    SUCCESS(ze.zeDeviceGetGlobalTimestamps(devices[0], &host[1], &ticks[1]));
    // The two clocks are read one after the other, so a pause between them may shift one.
    const double seconds = (double)(host[1] - host[0]) / 1e9;
    const double rate = (double)(ticks[1] - ticks[0]) / seconds;
    CHECK(rate > TIMER_TICKS * 0.5 && rate < TIMER_TICKS * 2.0);
    CHECK(ticks[1] < (uint64_t)1 << 56);
}

// --- Contexts -----------------------------------------------------------------------------------

void contexts_outlive_what_is_in_them(void) {
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_context_desc_t bad = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC, .flags = 0x8};
    ze_context_handle_t made = NULL;
    CHECK_EQUAL(ze.zeContextCreate(NULL, &desc, &made), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    CHECK_EQUAL(ze.zeContextCreate(driver, NULL, &made), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(ze.zeContextCreate(driver, &bad, &made), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    SUCCESS(ze.zeContextCreateEx(driver, &desc, 1, &devices[1], &made));
    SUCCESS(ze.zeContextGetStatus(made));
    SUCCESS(ze.zeContextSystemBarrier(made, devices[1]));
    const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL;
    CHECK_EQUAL(ze.zeMemAllocDevice(made, &device_desc, 64, 0, devices[0], &memory),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // not a device of this context
    SUCCESS(ze.zeMemAllocDevice(made, &device_desc, 64, 0, devices[1], &memory));
    CHECK_EQUAL(ze.zeContextDestroy(made), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK_EQUAL(ze.zeMemFree(context, memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    SUCCESS(ze.zeMemFree(made, memory));
    SUCCESS(ze.zeContextDestroy(made));
    CHECK_EQUAL(ze.zeContextDestroy(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

void a_handle_of_another_kind_is_refused(void) {
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    CHECK_EQUAL(ze.zeEventDestroy((ze_event_handle_t)pool), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize((ze_command_list_handle_t)context, 0),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    destroy_pool(pool);
}

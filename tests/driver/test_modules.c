// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, kernels and launches, with native functions as kernels: what the driver itself does.

#include <stdlib.h>

#include "bench.h"
#include "tests.h"

enum { ITEMS = 64 };

// --- Native functions ---------------------------------------------------------------------------

// store(pointer to, uint value): writes the value for each work-item.
static void run_store(const urasync_launch *launch, void *user) {
    (void)user;
    uint32_t *to = *(uint32_t *const *)launch->arguments[0];
    const uint32_t value = *(const uint32_t *)launch->arguments[1];
    for (uint32_t i = 0; to != NULL && i < launch->groups[0] * launch->group_size[0]; ++i) {
        to[launch->offset[0] + i] = value;
    }
}

// sum(pointer to, pointer from): adds up ITEMS numbers.
static void run_sum(const urasync_launch *launch, void *user) {
    (void)user;
    uint32_t *to = *(uint32_t *const *)launch->arguments[0];
    const uint32_t *from = *(const uint32_t *const *)launch->arguments[1];
    *to = 0;
    for (uint32_t i = 0; i < ITEMS; ++i) {
        *to += from[i];
    }
}

static void run_sleep(const urasync_launch *launch, void *user) {
    (void)launch;
    const uint64_t end = now_ns() + MILLISECOND;
    while (now_ns() < end) {
        atomic_fetch_add((atomic_int *)user, 1);
    }
}

static atomic_int turns;

static const char names[] = "store\nsum\nsleep";

static ze_module_handle_t make_module_of(ze_device_handle_t device) {
    static const uint32_t store[] = {0, sizeof(uint32_t)};
    static const uint32_t sum[] = {0, 0};
    CHECK_EQUAL(urasync_kernel_register("store", run_store, NULL, 2, store), 0);
    CHECK_EQUAL(urasync_kernel_register("sum", run_sum, NULL, 2, sum), 0);
    CHECK_EQUAL(urasync_kernel_register("sleep", run_sleep, &turns, 0, NULL), 0);
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof names - 1,
                                   .pInputModule = (const uint8_t *)names};
    ze_module_handle_t module = NULL;
    SUCCESS(ze.zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

static ze_module_handle_t make_module(void) { return make_module_of(devices[0]); }

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name) {
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    SUCCESS(ze.zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

static void set_store(ze_kernel_handle_t kernel, const void *to, uint32_t value) {
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 0, sizeof to, &to));
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 1, sizeof value, &value));
}

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t groups,
                   ze_event_handle_t signal, ze_event_handle_t wait) {
    const ze_group_count_t count = {groups, 1, 1};
    SUCCESS(ze.zeCommandListAppendLaunchKernel(list, kernel, &count, signal, wait != NULL,
                                               wait != NULL ? &wait : NULL));
}

static void destroy(ze_module_handle_t module, ze_kernel_handle_t kernel) {
    SUCCESS(ze.zeKernelDestroy(kernel));
    SUCCESS(ze.zeModuleDestroy(module));
}

// --- Modules ------------------------------------------------------------------------------------

void modules_name_their_kernels(void) {
    ze_module_handle_t module = make_module();
    uint32_t count = 0;
    SUCCESS(ze.zeModuleGetKernelNames(module, &count, NULL));
    CHECK_EQUAL(count, 3);
    const char *found[3] = {NULL, NULL, NULL};
    count = 2;
    SUCCESS(ze.zeModuleGetKernelNames(module, &count, found));
    CHECK_EQUAL(count, 2);
    CHECK(strcmp(found[0], "store") == 0 && strcmp(found[1], "sum") == 0 && found[2] == NULL);
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES,
                                         .flags = UINT32_MAX};
    SUCCESS(ze.zeModuleGetProperties(module, &properties));
    CHECK_EQUAL(properties.flags, 0);
    CHECK_EQUAL(ze.zeModuleGetGlobalPointer(module, "none", NULL, NULL),
                ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    ze_module_build_log_handle_t log = NULL;
    SUCCESS(ze.zeModuleDynamicLink(1, &module, &log));
    SUCCESS(ze.zeModuleBuildLogDestroy(log));
    SUCCESS(ze.zeModuleDestroy(module));
}

void a_module_that_cannot_be_made_says_why(void) {
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = 4,
                             .pInputModule = (const uint8_t *)"none"};
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t log = NULL;
    CHECK_EQUAL(ze.zeModuleCreate(context, devices[0], &desc, &module, &log),
                ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    CHECK(module == NULL);
    const char *expected = "No native function is registered as 'none'.";
    const char *said = NULL;
    SUCCESS(ze.zeDriverGetLastErrorDescription(driver, &said));
    CHECK(strcmp(said, expected) == 0);
    char text[64];
    size_t size = 0;
    SUCCESS(ze.zeModuleBuildLogGetString(log, &size, NULL));
    CHECK_EQUAL(size, strlen(expected) + 1);
    size = sizeof text;
    SUCCESS(ze.zeModuleBuildLogGetString(log, &size, text));
    CHECK_EQUAL(size, strlen(expected) + 1);
    CHECK(strcmp(text, expected) == 0);
    size = 3;
    SUCCESS(ze.zeModuleBuildLogGetString(log, &size, text));
    CHECK(strcmp(text, "No") == 0);
    SUCCESS(ze.zeModuleBuildLogDestroy(log));
    desc.inputSize = 0;
    CHECK_EQUAL(ze.zeModuleCreate(context, devices[0], &desc, &module, NULL),
                ZE_RESULT_ERROR_INVALID_SIZE);
    desc.pInputModule = NULL;
    CHECK_EQUAL(ze.zeModuleCreate(context, devices[0], &desc, &module, NULL),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc.format = (ze_module_format_t)2;
    CHECK_EQUAL(ze.zeModuleCreate(context, devices[0], &desc, &module, NULL),
                ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

void modules_outlive_their_kernels(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    CHECK_EQUAL(ze.zeModuleDestroy(module), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    destroy(module, kernel);
    CHECK_EQUAL(urasync_kernel_register("", run_store, NULL, 0, NULL),
                URASYNC_CONTROL_OUT_OF_RANGE);
    CHECK_EQUAL(urasync_kernel_register("store", NULL, NULL, 0, NULL),
                URASYNC_CONTROL_OUT_OF_RANGE);
}

// --- Kernels ------------------------------------------------------------------------------------

void kernels_describe_themselves(void) {
    ze_module_handle_t module = make_module();
    const ze_kernel_desc_t unknown = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                      .pKernelName = "none"};
    ze_kernel_handle_t kernel = NULL;
    CHECK_EQUAL(ze.zeKernelCreate(module, &unknown, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    kernel = make_kernel(module, "store");
    ze_kernel_preferred_group_size_properties_t preferred = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES,
                                         .pNext = &preferred};
    SUCCESS(ze.zeKernelGetProperties(kernel, &properties));
    CHECK_EQUAL(properties.numKernelArgs, 2);
    CHECK_EQUAL(properties.requiredGroupSizeX, 0);
    CHECK_EQUAL(preferred.preferredMultiple, 1);
    char name[8];
    size_t size = 0;
    SUCCESS(ze.zeKernelGetName(kernel, &size, NULL));
    CHECK_EQUAL(size, sizeof "store");
    SUCCESS(ze.zeKernelGetName(kernel, &size, name));
    CHECK(strcmp(name, "store") == 0);
    uint32_t attributes = 0;
    char *text = NULL;
    SUCCESS(ze.zeKernelGetSourceAttributes(kernel, &attributes, &text));
    CHECK(attributes == 1 && *text == '\0');
    ze_kernel_indirect_access_flags_t flags = 1;
    SUCCESS(ze.zeKernelGetIndirectAccess(kernel, &flags));
    CHECK_EQUAL(flags, 0);
    SUCCESS(ze.zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    SUCCESS(ze.zeKernelGetIndirectAccess(kernel, &flags));
    CHECK_EQUAL(flags, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
    CHECK_EQUAL(ze.zeKernelSetIndirectAccess(kernel, 8), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    SUCCESS(ze.zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM));
    destroy(module, kernel);
}

void group_sizes_fit_the_kernel(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    SUCCESS(ze.zeKernelSetGroupSize(kernel, 32, 4, 8));
    CHECK_EQUAL(ze.zeKernelSetGroupSize(kernel, 0, 1, 1),
                ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    CHECK_EQUAL(ze.zeKernelSetGroupSize(kernel, 64, 32, 1),
                ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    CHECK_EQUAL(ze.zeKernelSetGroupSize(kernel, UINT32_MAX, UINT32_MAX, UINT32_MAX),
                ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    const uint32_t global[][3] = {{1000, 1, 1}, {7, 6, 5}, {1009, 2, 1}, {1 << 20, 3, 3}};
    for (size_t i = 0; i < COUNT(global); ++i) {
        uint32_t x, y, z;
        SUCCESS(ze.zeKernelSuggestGroupSize(kernel, global[i][0], global[i][1], global[i][2], &x,
                                            &y, &z));
        CHECK(global[i][0] % x == 0 && global[i][1] % y == 0 && global[i][2] % z == 0);
        SUCCESS(ze.zeKernelSetGroupSize(kernel, x, y, z));
    }
    uint32_t group;
    CHECK_EQUAL(ze.zeKernelSuggestGroupSize(kernel, 0, 1, 1, &group, &group, &group),
                ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
    destroy(module, kernel);
}

void arguments_that_do_not_fit_are_refused(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    const uint64_t value = 0;
    CHECK_EQUAL(ze.zeKernelSetArgumentValue(kernel, 2, 8, &value),
                ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    CHECK_EQUAL(ze.zeKernelSetArgumentValue(kernel, 0, 4, &value),
                ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    CHECK_EQUAL(ze.zeKernelSetArgumentValue(kernel, 1, 2, &value),
                ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    const ze_group_count_t one = {1, 1, 1};
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_ARGUMENT); // an argument was not set
    const char *said = NULL;
    SUCCESS(ze.zeDriverGetLastErrorDescription(driver, &said));
    CHECK(strcmp(said, "Argument 0 of the kernel 'store' was not set.") == 0);
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 0, sizeof(void *), NULL)); // a null pointer
    SUCCESS(ze.zeKernelSetArgumentValue(kernel, 1, sizeof(uint32_t), &value));
    launch(list, kernel, 1, NULL, NULL);
    finish(list);
    destroy_list(list);
    destroy(module, kernel);
}

// --- Launches -----------------------------------------------------------------------------------

void a_launch_takes_its_arguments_at_the_append(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    uint32_t *memory = make_device_memory(2 * ITEMS * sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    hold(list);
    SUCCESS(ze.zeKernelSetGroupSize(kernel, ITEMS / 2, 1, 1));
    set_store(kernel, memory, 0x01010101);
    launch(list, kernel, 2, NULL, NULL);
    set_store(kernel, memory + ITEMS, 0x02020202);
    launch(list, kernel, 1, NULL, NULL);
    SUCCESS(ze.zeKernelSetGlobalOffsetExp(kernel, ITEMS / 2, 0, 0));
    set_store(kernel, memory + ITEMS, 0x03030303);
    SUCCESS(ze.zeKernelSetGroupSize(kernel, 1, 1, 1));
    launch(list, kernel, ITEMS / 2, NULL, NULL);
    set_store(kernel, memory, 0);
    destroy(module, kernel); // the launches keep what they need
    wait_held(list);
    CHECK(filled_with(memory, 0, ITEMS));
    release(list);
    finish(list);
    CHECK(filled_with(memory, 1, ITEMS * sizeof *memory));
    CHECK(filled_with(memory + ITEMS, 2, ITEMS / 2 * sizeof *memory));
    CHECK(filled_with(memory + ITEMS + ITEMS / 2, 3, ITEMS / 2 * sizeof *memory));
    destroy_list(list);
    free_memory(memory);
}

void launches_are_commands_in_their_order(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t store = make_kernel(module, "store");
    ze_kernel_handle_t sum = make_kernel(module, "sum");
    uint32_t *memory = make_device_memory((ITEMS + 2) * sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t other = make_list(IN_ORDER);
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    SUCCESS(ze.zeKernelSetGroupSize(store, ITEMS, 1, 1));
    hold(list);
    // The other list's sum waits for the store, and the fill behind the sum comes after it.
    set_store(store, memory, 3);
    launch(list, store, 1, event, NULL);
    const void *result = memory + ITEMS;
    const void *from = memory;
    SUCCESS(ze.zeKernelSetArgumentValue(sum, 0, sizeof result, &result));
    SUCCESS(ze.zeKernelSetArgumentValue(sum, 1, sizeof from, &from));
    launch(other, sum, 1, NULL, event);
    const uint32_t zero = 0;
    SUCCESS(ze.zeCommandListAppendMemoryFill(other, memory, &zero, sizeof zero,
                                             ITEMS * sizeof *memory, NULL, 0, NULL));
    wait_held(list);
    CHECK_EQUAL(ze.zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(other, 0), ZE_RESULT_NOT_READY);
    release(list);
    finish(other);
    CHECK_EQUAL(memory[ITEMS], 3 * ITEMS);
    CHECK_EQUAL(memory[0], 0);
    finish(list);
    destroy_event(event);
    destroy_pool(pool);
    destroy_list(list);
    destroy_list(other);
    SUCCESS(ze.zeKernelDestroy(sum));
    destroy(module, store);
    free_memory(memory);
}

void a_launch_does_not_hold_up_other_lists(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    uint32_t *memory = make_device_memory(2 * sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t other = make_list(IN_ORDER);
    hold(list);
    set_store(kernel, memory, 1);
    launch(list, kernel, 1, NULL, NULL);
    set_store(kernel, memory + 1, 2);
    launch(other, kernel, 1, NULL, NULL);
    finish(other);
    CHECK_EQUAL(memory[1], 2);
    CHECK_EQUAL(memory[0], 0);
    release(list);
    finish(list);
    CHECK_EQUAL(memory[0], 1);
    destroy_list(list);
    destroy_list(other);
    destroy(module, kernel);
    free_memory(memory);
}

void indirect_launches_read_their_groups_when_they_run(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernels[] = {make_kernel(module, "store"), make_kernel(module, "store"),
                                    make_kernel(module, "store")};
    uint32_t *memory = make_device_memory(4 * ITEMS * sizeof *memory);
    ze_group_count_t *groups = make_host_memory(4 * sizeof *groups);
    uint32_t *count = make_host_memory(sizeof *count);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    hold(list);
    set_store(kernels[0], memory + 3 * ITEMS, 4);
    SUCCESS(
        ze.zeCommandListAppendLaunchKernelIndirect(list, kernels[0], &groups[3], NULL, 0, NULL));
    for (uint32_t i = 0; i < COUNT(kernels); ++i) {
        set_store(kernels[i], memory + i * ITEMS, i + 1);
    }
    SUCCESS(ze.zeCommandListAppendLaunchMultipleKernelsIndirect(list, COUNT(kernels), kernels,
                                                                count, groups, NULL, 0, NULL));
    *count = 2;
    groups[0] = (ze_group_count_t){3, 1, 1};
    groups[1] = (ze_group_count_t){0, 1, 1}; // nothing
    groups[2] = (ze_group_count_t){5, 1, 1}; // beyond the count
    groups[3] = (ze_group_count_t){7, 1, 1};
    release(list);
    finish(list);
    CHECK(memory[2] == 1 && memory[3] == 0);
    CHECK(memory[ITEMS] == 0 && memory[2 * ITEMS] == 0);
    CHECK(memory[3 * ITEMS + 6] == 4 && memory[3 * ITEMS + 7] == 0);
    destroy_list(list);
    for (uint32_t i = 0; i < COUNT(kernels); ++i) {
        SUCCESS(ze.zeKernelDestroy(kernels[i]));
    }
    SUCCESS(ze.zeModuleDestroy(module));
    free_memory(count);
    free_memory(groups);
    free_memory(memory);
}

void several_launches_wait_and_signal_once(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    uint32_t *memory = make_device_memory(sizeof *memory);
    uint32_t *numbers = make_host_memory(4 * sizeof *numbers);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_command_list_handle_t other = make_list(IN_ORDER);
    ze_event_pool_handle_t pool = make_pool(2, POOL_PLAIN);
    ze_event_handle_t before = make_event(pool, 0);
    ze_event_handle_t after = make_event(pool, 1);
    numbers[0] = numbers[1] = numbers[2] = numbers[3] = 1;
    set_store(kernel, memory, 6);
    hold(list);
    SUCCESS(ze.zeCommandListAppendSignalEvent(list, before));
    SUCCESS(ze.zeCommandListAppendLaunchMultipleKernelsIndirect(
        other, 1, &kernel, numbers, (const ze_group_count_t *)&numbers[1], after, 1, &before));
    wait_held(list);
    CHECK_EQUAL(ze.zeCommandListHostSynchronize(other, MILLISECOND), ZE_RESULT_NOT_READY);
    CHECK_EQUAL(memory[0], 0);
    release(list);
    finish_event(after);
    CHECK_EQUAL(memory[0], 6);
    finish(list);
    finish(other);
    destroy_event(before);
    destroy_event(after);
    destroy_pool(pool);
    destroy_list(list);
    destroy_list(other);
    destroy(module, kernel);
    free_memory(numbers);
    free_memory(memory);
}

// A module keeps the functions that it was made with.
void a_function_registered_anew_is_for_later_modules(void) {
    static const uint32_t none[] = {0};
    ze_module_handle_t module = make_module();
    CHECK_EQUAL(urasync_kernel_register("store", run_sleep, &turns, 0, none), 0);
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    SUCCESS(ze.zeKernelGetProperties(kernel, &properties));
    CHECK_EQUAL(properties.numKernelArgs, 2);
    uint32_t *memory = make_device_memory(sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    set_store(kernel, memory, 8);
    launch(list, kernel, 1, NULL, NULL);
    finish(list);
    CHECK_EQUAL(memory[0], 8);
    destroy_list(list);
    free_memory(memory);
    destroy(module, kernel);
}

void cooperative_launches_have_a_limit(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    uint32_t *memory = make_device_memory(sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    uint32_t most = 0;
    SUCCESS(ze.zeKernelSuggestMaxCooperativeGroupCount(kernel, &most));
    CHECK_EQUAL(most, 1); // a native function says nothing about groups that wait for each other
    set_store(kernel, memory, 9);
    ze_group_count_t groups = {1, 1, 1};
    SUCCESS(ze.zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, NULL, 0, NULL));
    groups.groupCountY = 2;
    CHECK_EQUAL(ze.zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    finish(list);
    CHECK_EQUAL(memory[0], 9);
    destroy_list(list);
    destroy(module, kernel);
    free_memory(memory);
}

void recorded_launches_run_with_each_execution(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    uint32_t *memory = make_device_memory(sizeof *memory);
    ze_command_list_handle_t list = make_regular_list(0);
    ze_command_queue_handle_t queue = make_queue();
    set_store(kernel, memory, 5);
    launch(list, kernel, 1, NULL, NULL);
    destroy(module, kernel);
    SUCCESS(ze.zeCommandListClose(list));
    for (int i = 0; i < 3; ++i) {
        *memory = 0;
        SUCCESS(ze.zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        SUCCESS(ze.zeCommandQueueSynchronize(queue, SECONDS_10));
        CHECK_EQUAL(*memory, 5);
    }
    SUCCESS(ze.zeCommandListReset(list)); // lets the kernel go
    SUCCESS(ze.zeCommandListDestroy(list));
    SUCCESS(ze.zeCommandQueueDestroy(queue));
    free_memory(memory);
}

void launches_need_a_list_that_computes(void) {
    ze_module_handle_t module = make_module_of(devices[1]);
    ze_kernel_handle_t kernel = make_kernel(module, "sleep");
    const ze_command_queue_desc_t copies = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                            .ordinal = 1,
                                            .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list = NULL;
    SUCCESS(ze.zeCommandListCreateImmediate(context, devices[1], &copies, &list));
    const ze_group_count_t one = {1, 1, 1};
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    destroy_list(list);
    list = make_list(IN_ORDER);
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE);
    destroy_list(list);
    destroy(module, kernel);
}

void launches_have_the_times_of_their_run(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "sleep");
    ze_command_list_handle_t list = make_list(IN_ORDER);
    ze_event_pool_handle_t pool = make_pool(1, POOL_TIMESTAMPS);
    ze_event_handle_t event = make_event(pool, 0);
    launch(list, kernel, 1, event, NULL);
    finish_event(event);
    ze_kernel_timestamp_result_t times;
    SUCCESS(ze.zeEventQueryKernelTimestamp(event, &times));
    const uint64_t ticks = times.global.kernelEnd - times.global.kernelStart;
    CHECK(ticks >= TIMER_TICKS / 1000 - 1); // it runs for a millisecond
    destroy_event(event);
    destroy_pool(pool);
    destroy_list(list);
    destroy(module, kernel);
}

void a_blocking_free_waits_for_launches(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    for (int indirect = 0; indirect < 2; ++indirect) {
        uint32_t *memory = make_device_memory(ITEMS * sizeof *memory);
        uint32_t *other = make_device_memory(ITEMS * sizeof *other);
        ze_command_list_handle_t list = make_list(IN_ORDER);
        hold(list);
        set_store(kernel, indirect ? other : memory, 1);
        SUCCESS(ze.zeKernelSetIndirectAccess(kernel,
                                             indirect ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE : 0));
        launch(list, kernel, 1, NULL, NULL);
        const ze_memory_free_ext_desc_t defer = {
            .stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
            .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
        uint64_t before = 0;
        uint64_t used = 0;
        CHECK_EQUAL(urasync_device_memory_used(0, &before), 0);
        SUCCESS(ze.zeMemFreeExt(context, &defer, memory));
        CHECK_EQUAL(urasync_device_memory_used(0, &used), 0);
        CHECK_EQUAL(used, before);
        release(list);
        finish(list);
        free_memory(other); // collects what is over
        destroy_list(list);
        CHECK_EQUAL(urasync_device_memory_used(0, &used), 0);
        CHECK_EQUAL(used, 0);
    }
    destroy(module, kernel);
}

void a_launch_may_bring_its_arguments(void) {
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t kernel = make_kernel(module, "store");
    uint32_t *memory = make_device_memory(ITEMS * sizeof *memory);
    ze_command_list_handle_t list = make_list(IN_ORDER);
    void *pointer = memory;
    uint32_t value = 0x05050505;
    void *arguments[] = {&pointer, &value};
    const ze_group_count_t groups = {ITEMS / 4, 1, 1};
    ze_group_size_t sizes = {4, 1, 1};
    ze_command_list_append_launch_kernel_param_cooperative_desc_t more = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC};
    SUCCESS(ze.zeCommandListAppendLaunchKernelWithArguments(list, kernel, groups, sizes, arguments,
                                                            &more, NULL, 0, NULL));
    finish(list);
    CHECK(filled_with(memory, 5, ITEMS * sizeof *memory));
    more.isCooperative = true; // of more groups than can run at once
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernelWithArguments(list, kernel, groups, sizes,
                                                                arguments, &more, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_ARGUMENT);
    more.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernelWithArguments(list, kernel, groups, sizes,
                                                                arguments, &more, NULL, 0, NULL),
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    sizes.groupSizeX = 4096;
    CHECK_EQUAL(ze.zeCommandListAppendLaunchKernelWithArguments(list, kernel, groups, sizes,
                                                                arguments, NULL, NULL, 0, NULL),
                ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    destroy_list(list);
    destroy(module, kernel);
    free_memory(memory);
}

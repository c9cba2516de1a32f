// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short ways to make things for tests.

#define _GNU_SOURCE

#include "bench.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tables.h"

entries_t ze;
ze_driver_handle_t driver;
ze_device_handle_t devices[DEVICES];
ze_context_handle_t context;

enum { MAX_ENTRIES = 128 };

void load_entries(uint32_t minor) {
    function_t table_memory[MAX_ENTRIES];
    memset(&ze, 0, sizeof ze);
#define URASYNC_TABLE(table, structure)                                                            \
    {                                                                                              \
        memset(table_memory, 0, sizeof table_memory);                                              \
        SUCCESS(zeGet##table##ProcAddrTable((ze_api_version_t)ZE_MAKE_VERSION(1, minor),           \
                                            table_memory));                                        \
        size_t place = 0;
#define URASYNC_IMPLEMENTED(table, minor, field, name)                                             \
    ze.name = (__typeof__(ze.name))table_memory[place++];
#define URASYNC_NOT_IMPLEMENTED(table, minor, field, name) ++place;
#define URASYNC_TABLE_END(table) }
#include "entries.h"
}

void load_extensions(void) {
    void *function = NULL;
#define URASYNC_EXTENSION(name)                                                                    \
    SUCCESS(ze.zeDriverGetExtensionFunctionAddress(driver, #name, &function));                     \
    ze.name = (__typeof__(ze.name))function;
#include "entries.h"
}

uint64_t handle_of(const void *handle) { return (uintptr_t)handle; }

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ze_command_list_handle_t make_list_on(uint32_t device, uint32_t flags) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .flags = flags,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list = NULL;
    SUCCESS(ze.zeCommandListCreateImmediate(context, devices[device], &desc, &list));
    return list;
}

ze_command_list_handle_t make_list(uint32_t flags) { return make_list_on(0, flags); }

ze_command_list_handle_t make_regular_list(ze_command_list_flags_t flags) {
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .flags = flags};
    ze_command_list_handle_t list = NULL;
    SUCCESS(ze.zeCommandListCreate(context, devices[0], &desc, &list));
    return list;
}

ze_command_queue_handle_t make_queue(void) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue = NULL;
    SUCCESS(ze.zeCommandQueueCreate(context, devices[0], &desc, &queue));
    return queue;
}

ze_event_pool_handle_t make_pool(uint32_t count, uint32_t kind) {
    const ze_event_pool_counter_based_exp_desc_t counter = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
        .flags = ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE |
                 ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE};
    const ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .pNext = (kind & POOL_COUNTER_BASED) != 0 ? &counter : NULL,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                 ((kind & POOL_TIMESTAMPS) != 0 ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0),
        .count = count};
    ze_event_pool_handle_t pool = NULL;
    SUCCESS(ze.zeEventPoolCreate(context, &desc, 0, NULL, &pool));
    return pool;
}

ze_event_handle_t make_event(ze_event_pool_handle_t pool, uint32_t index) {
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index};
    ze_event_handle_t event = NULL;
    SUCCESS(ze.zeEventCreate(pool, &desc, &event));
    return event;
}

ze_event_handle_t make_counter_event(ze_event_counter_based_flags_t flags) {
    const ze_event_counter_based_desc_t desc = {
        .stype = (ze_structure_type_t)ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, .flags = flags};
    ze_event_handle_t event = NULL;
    SUCCESS(ze.zeEventCounterBasedCreate(context, devices[0], &desc, &event));
    return event;
}

void *make_device_memory(size_t size) {
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory = NULL;
    SUCCESS(ze.zeMemAllocDevice(context, &desc, size, 0, devices[0], &memory));
    return memory;
}

void *make_host_memory(size_t size) {
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;
    SUCCESS(ze.zeMemAllocHost(context, &desc, size, 0, &memory));
    return memory;
}

void free_memory(void *memory) { SUCCESS(ze.zeMemFree(context, memory)); }

bool filled_with(const void *memory, int byte, size_t size) {
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != (unsigned char)byte) {
            printf("byte %zu is 0x%02x, expected 0x%02x\n", i, bytes[i], (unsigned char)byte);
            return false;
        }
    }
    return true;
}

void hold(const void *list) { CHECK_EQUAL(urasync_gate_close(handle_of(list)), 0); }

void release(const void *list) { CHECK_EQUAL(urasync_gate_open(handle_of(list)), 0); }

void wait_held(const void *list) {
    CHECK_EQUAL(urasync_gate_wait_reached(handle_of(list), SECONDS_10), 0);
}

void destroy_list(ze_command_list_handle_t list) { SUCCESS(ze.zeCommandListDestroy(list)); }

void destroy_event(ze_event_handle_t event) { SUCCESS(ze.zeEventDestroy(event)); }

void destroy_pool(ze_event_pool_handle_t pool) { SUCCESS(ze.zeEventPoolDestroy(pool)); }

void finish(ze_command_list_handle_t list) {
    SUCCESS(ze.zeCommandListHostSynchronize(list, SECONDS_10));
}

void finish_event(ze_event_handle_t event) {
    SUCCESS(ze.zeEventHostSynchronize(event, SECONDS_10));
}

int run_child(const char *name, const char *variable, const char *value, char *errors,
              size_t capacity) {
    int pipe_ends[2];
    fflush(stdout);
    if (pipe(pipe_ends) != 0) {
        return -2;
    }
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        if (variable != NULL) {
            setenv(variable, value, 1);
        }
        execl("/proc/self/exe", "driver-test", "--child", name, (char *)NULL);
        _exit(127);
    }
    close(pipe_ends[1]);
    size_t length = 0;
    char ignored[256];
    for (;;) {
        const bool full = length + 1 >= capacity;
        const ssize_t part = full ? read(pipe_ends[0], ignored, sizeof ignored)
                                  : read(pipe_ends[0], errors + length, capacity - 1 - length);
        if (part <= 0) {
            break;
        }
        length += full ? 0 : (size_t)part;
    }
    errors[length] = '\0';
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

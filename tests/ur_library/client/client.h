/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A UR client that calls every entry. It finds the functions in an adapter library, by the tables,
 * or in libur_loader, by their names. A scenario is a function; the first check that fails ends the
 * process with status 1 and says where.
 */
#ifndef UR_CLIENT_H
#define UR_CLIENT_H

#include "unified_runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ADAPTER_INFO_BACKEND = 0,
    ADAPTER_INFO_VERSION = 2,
    PLATFORM_INFO_NAME = 1,
    PLATFORM_INFO_ADAPTER = 7,
    DEVICE_TYPE_ALL = 2,
    DEVICE_INFO_TYPE = 0,
    DEVICE_INFO_NAME = 66,
    DEVICE_INFO_PLATFORM = 63,
    CONTEXT_INFO_NUM_DEVICES = 0,
    CONTEXT_INFO_DEVICES = 1,
    CONTEXT_INFO_REFERENCE_COUNT = 2,
    CONTEXT_INFO_USM_MEMCPY_2D_SUPPORT = 3,
    QUEUE_INFO_CONTEXT = 0,
    QUEUE_INFO_DEVICE = 1,
    QUEUE_INFO_FLAGS = 3,
    QUEUE_INFO_REFERENCE_COUNT = 4,
    QUEUE_INFO_EMPTY = 6,
    EVENT_INFO_COMMAND_QUEUE = 0,
    EVENT_INFO_CONTEXT = 1,
    EVENT_INFO_COMMAND_TYPE = 2,
    EVENT_INFO_COMMAND_EXECUTION_STATUS = 3,
    EVENT_INFO_REFERENCE_COUNT = 4,
    MEM_INFO_SIZE = 0,
    MEM_INFO_CONTEXT = 1,
    PROFILING_INFO_START = 2,
    PROFILING_INFO_END = 3,
    COMMAND_USM_FILL = 17,
    COMMAND_USM_FILL_2D = 21,
    PROGRAM_INFO_CONTEXT = 1,
    PROGRAM_BUILD_INFO_STATUS = 0,
    KERNEL_INFO_NUM_ARGS = 1,
    KERNEL_GROUP_INFO_WORK_GROUP_SIZE = 1,
    KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE = 0,
    KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS = 0,
    PEER_ACCESS_SUPPORT = 0,
    USM_ALLOC_INFO_TYPE = 0,
    USM_ALLOC_INFO_BASE_PTR = 1,
    USM_ALLOC_INFO_SIZE = 2,
    USM_ALLOC_INFO_DEVICE = 3,
    USM_ALLOC_INFO_POOL = 4,
    USM_TYPE_UNKNOWN = 0,
    USM_TYPE_HOST = 1,
    USM_TYPE_DEVICE = 2,
    USM_TYPE_SHARED = 3,
    POOL_INFO_REFERENCE_COUNT = 0,
    POOL_INFO_CONTEXT = 1,
    POOL_INFO_RELEASE_THRESHOLD = 0x2050,
    POOL_INFO_MAXIMUM_SIZE = 0x2051,
    POOL_INFO_RESERVED_CURRENT = 0x2052,
    POOL_INFO_USED_CURRENT = 0x2054,
    POOL_INFO_USED_HIGH = 0x2055,
    QUEUE_FLAG_PROFILING = 2,
    STYPE_CONTEXT_PROPERTIES = 0,
    STYPE_BUFFER_PROPERTIES = 2,
    STYPE_BUFFER_REGION = 3,
    STYPE_USM_DESC = 7,
    STYPE_USM_DEVICE_DESC = 9,
    STYPE_USM_POOL_DESC = 10,
    STYPE_USM_POOL_LIMITS_DESC = 11,
    STYPE_QUEUE_PROPERTIES = 14,
    STYPE_CONTEXT_NATIVE_PROPERTIES = 16,
    STYPE_KERNEL_NATIVE_PROPERTIES = 17,
    STYPE_QUEUE_NATIVE_PROPERTIES = 18,
    STYPE_MEM_NATIVE_PROPERTIES = 19,
    STYPE_EVENT_NATIVE_PROPERTIES = 20,
    STYPE_PLATFORM_NATIVE_PROPERTIES = 21,
    STYPE_DEVICE_NATIVE_PROPERTIES = 22,
    STYPE_PROGRAM_NATIVE_PROPERTIES = 23,
    STYPE_QUEUE_NATIVE_DESC = 25,
    STYPE_DEVICE_PARTITION_PROPERTIES = 26,
    STYPE_QUEUE_INDEX_PROPERTIES = 15,
    STYPE_USM_POOL_BUFFER_DESC = 36,
    STYPE_EXP_ENQUEUE_EXT_PROPERTIES = 0x4000,
    STYPE_EXP_KERNEL_ARG_PROPERTIES = 0x5000,
    INVALID_OPERATION = 1,
    INVALID_QUEUE = 3,
    INVALID_VALUE = 4,
    INVALID_BUFFER_SIZE = 10,
    INVALID_MEM_OBJECT = 11,
    INVALID_EVENT = 12,
    INVALID_EVENT_WAIT_LIST = 13,
    INVALID_NULL_HANDLE = 46,
    INVALID_NULL_POINTER = 48,
    INVALID_PROGRAM = 8,
    COMPILER_NOT_AVAILABLE = 16,
    INVALID_SIZE = 49,
    UNSUPPORTED_ENUMERATION = 54,
    INVALID_USM_SIZE = 64,
};

/* The function of a name, through whatever is being tested; an error of the test without one. */
void *function(const char *name);
#define UR(name) ((__typeof__(&name))function(#name))

/* Whether calls go to the adapter library without a loader between. */
extern bool is_direct;

/* The size of all function tables, and the index of a function in them. */
size_t table_size(void);
size_t table_index(const char *name);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Whether commands are executed: not by a driver without a device, as the variable says. */
bool executes(void);

/* What is so when the commands before were executed. */
#define CHECK_DONE(condition) CHECK(!executes() || (condition))

#define GIVES(code, call)                                                                          \
    do {                                                                                           \
        ur_result_t result_ = (call);                                                              \
        if (result_ != (ur_result_t)(code)) {                                                      \
            fprintf(stderr, "%s:%d: %u instead of %u from %s\n", __FILE__, __LINE__, result_,      \
                    (unsigned)(code), #call);                                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define OK(call) GIVES(UR_RESULT_SUCCESS, call)

/* What nearly every scenario begins with. */
struct bench {
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    ur_device_handle_t device;
    ur_context_handle_t context;
    ur_queue_handle_t queue;
};

struct bench begin(void);
struct bench begin_on(ur_adapter_handle_t adapter);
void end(struct bench *bench);

/* The loaded libraries: those that the command line names. */
extern void *libraries[2];
void *table_of(void *library);

void tables(void);
void information(void);
void native_handles(void);
void memory(void);
void each_adapter(void);
void rows(void);
void buffers(void);
void pools(void);
void usual_calls(void);
void events(void);
void callbacks(void);
void peers(void);
void programs(void);
void exit_during_kernels(void);
void kernels(void);
void wrong_arguments(void);
void stale_handles(void);
void table_in_handles(void);
void last_error(void);
void logger(void);
void threads(void);
void first_calls(void);
void fork_after_use(void);
void fork_while_logging(void);
void leaves_the_client_alone(void);
void from_another_folder(void);
void waits_for_input(void);
void no_release(void);
void exit_during_calls(void);
void exit_in_callback(void);
void two_adapters(void);
void not_started(void);

#endif

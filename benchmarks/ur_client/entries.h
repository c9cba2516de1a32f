/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a C client of Unified Runtime begins with: its functions, from libur_loader by their names,
 * or from an adapter library by its tables.
 */
#ifndef UR_CLIENT_ENTRIES_H
#define UR_CLIENT_ENTRIES_H

#include "unified_runtime.h"

#include "function_places.h" /* made by ur_client.py: TABLE_ and PLACE_ of each function */

#include <stdio.h>
#include <stdlib.h>

enum {
    DEVICE_TYPE_ALL = 2,
    POOL_INFO_RELEASE_THRESHOLD = 0x2050,
    POOL_INFO_RESERVED_HIGH = 0x2053,
    STYPE_USM_POOL_DESC = 10,
};

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define OK(call)                                                                                   \
    do {                                                                                           \
        const ur_result_t result_ = (call);                                                        \
        if (result_ != UR_RESULT_SUCCESS) {                                                        \
            fprintf(stderr, "%s:%d: %u from %s\n", __FILE__, __LINE__, result_, #call);            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Opens libur_loader and starts it, or an adapter library. */
void open_library(const char *path);

/* A function, or the end of the process with a message. */
void *ur_function(const char *name, const char *table, size_t place);
#define UR(name) ((__typeof__(&name))ur_function(#name, TABLE_##name, PLACE_##name))

struct adapter {
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    ur_device_handle_t device;
};

/* The first device of the first platform. */
struct adapter open_adapter(void);

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the driver's C tests. A check that fails says where, and the test goes on.
//
// What these tests can show: the driver does what its tables promise, alone and from many threads,
// and under the sanitizers. What they cannot: that a loader or an adapter is content with it.

#ifndef URASYNC_CHECK_H
#define URASYNC_CHECK_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

extern atomic_int failed_checks;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            atomic_fetch_add(&failed_checks, 1);                                                   \
            printf("%s:%d: %s: does not hold: %s\n", __FILE__, __LINE__, __func__, #condition);    \
        }                                                                                          \
    } while (0)

// Both sides are converted to uint64_t; results and sizes read best in hexadecimal.
#define CHECK_EQUAL(actual, expected)                                                              \
    do {                                                                                           \
        const uint64_t actual_ = (uint64_t)(actual);                                               \
        const uint64_t expected_ = (uint64_t)(expected);                                           \
        if (actual_ != expected_) {                                                                \
            atomic_fetch_add(&failed_checks, 1);                                                   \
            printf("%s:%d: %s: %s is 0x%" PRIx64 ", expected 0x%" PRIx64 " (%s)\n", __FILE__,      \
                   __LINE__, __func__, #actual, actual_, expected_, #expected);                    \
        }                                                                                          \
    } while (0)

#define SUCCESS(call) CHECK_EQUAL(call, ZE_RESULT_SUCCESS)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif

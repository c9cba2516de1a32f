// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the made-up OpenCL runtime exports for tests.

#ifndef URASYNC_MADE_UP_OPENCL_H
#define URASYNC_MADE_UP_OPENCL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MADE_UP_ARGUMENTS = 8 };

typedef struct made_up_opencl {
    // What it answers.
    uint32_t units;           // compute units of its device
    size_t concurrent_groups; // of any kernel
    uint64_t local_memory;    // bytes, of the code of kernels
    uint64_t run_time;        // nanoseconds of a launch, and as many before and behind it
    bool has_another_clock;   // its times are not those of the driver's clock
    // What there is of each kind.
    atomic_int queues;
    atomic_int programs;
    atomic_int kernels;
    atomic_int events;
    // What it was told last.
    char options[128]; // of all programs that were compiled alone, one after the other
    size_t offset[3];
    size_t global[3];
    size_t local[3];
    size_t argument_sizes[MADE_UP_ARGUMENTS];
    bool is_local[MADE_UP_ARGUMENTS];
    uint32_t dispatch_type;
    uint32_t any_pointer;
    uint64_t started; // of a launch
    uint64_t ended;
} made_up_opencl_t;

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Event pools, which give events their flags and count them.

#ifndef URASYNC_EVENT_POOL_H
#define URASYNC_EVENT_POOL_H

#include "internal.h"

struct event_pool {
    object_t object;
    context_t *context;
    uint64_t device_mask; // devices that may use the events
    uint32_t count;
    ze_event_pool_flags_t flags;
    bool counter_based;
    ze_event_pool_counter_based_exp_flags_t counter_flags;
    _Atomic uint32_t live;
    atomic_bool used[]; // by index
};

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures planned by a test: which call of which entry returns what.

#include <stdlib.h>

#include "internal.h"

typedef struct plan {
    struct plan *next;
    entry_t entry;
    ze_result_t result;
    uint64_t calls_before; // that still succeed
    uint64_t times;        // that still fail
    bool for_ever;
} plan_t;

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static plan_t *plans = NULL; // oldest first
static _Atomic uint64_t delivered = 0;

ze_result_t failure_of_call(entry_t entry) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    os_mutex_lock(&mutex);
    bool more = false;
    for (plan_t **place = &plans; *place != NULL;) {
        plan_t *plan = *place;
        if (plan->entry == entry) {
            if (plan->calls_before > 0) {
                --plan->calls_before;
            } else {
                if (result == ZE_RESULT_SUCCESS) {
                    result = plan->result;
                }
                if (!plan->for_ever && --plan->times == 0) {
                    *place = plan->next;
                    free(plan);
                    continue;
                }
            }
            more = true;
        }
        place = &plan->next;
    }
    if (!more) {
        atomic_fetch_and(&entry_states[entry].special, ~(uint32_t)ENTRY_MAY_FAIL);
    }
    os_mutex_unlock(&mutex);
    if (result != ZE_RESULT_SUCCESS) {
        atomic_fetch_add(&delivered, 1);
        if (result == ZE_RESULT_ERROR_DEVICE_LOST) {
            checker_device_lost();
        }
    }
    return result;
}

int32_t urasync_fail(const char *entry_name, uint64_t nth, uint32_t result, uint64_t times) {
    const entry_t entry = entry_name != NULL ? entry_find(entry_name) : ENTRY_NONE;
    if (entry == ENTRY_NONE) {
        return URASYNC_CONTROL_UNKNOWN_ENTRY;
    }
    if (nth == 0 || result == ZE_RESULT_SUCCESS) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    plan_t *plan = malloc(sizeof *plan);
    if (plan == NULL) {
        return URASYNC_CONTROL_NO_MEMORY;
    }
    *plan = (plan_t){.entry = entry,
                     .result = (ze_result_t)result,
                     .calls_before = nth - 1,
                     .times = times,
                     .for_ever = times == 0};
    os_mutex_lock(&mutex);
    plan_t **place = &plans;
    while (*place != NULL) {
        place = &(*place)->next;
    }
    *place = plan;
    atomic_fetch_or(&entry_states[entry].special, ENTRY_MAY_FAIL);
    os_mutex_unlock(&mutex);
    return URASYNC_CONTROL_OK;
}

void urasync_clear_failures(void) {
    os_mutex_lock(&mutex);
    while (plans != NULL) {
        plan_t *plan = plans;
        plans = plan->next;
        atomic_fetch_and(&entry_states[plan->entry].special, ~(uint32_t)ENTRY_MAY_FAIL);
        free(plan);
    }
    os_mutex_unlock(&mutex);
}

uint64_t urasync_failures_delivered(void) { return atomic_load(&delivered); }

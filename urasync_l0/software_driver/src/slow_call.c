// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call that a test makes slow: which call of which entry waits before it does its work.

#include "internal.h"

static os_mutex_t mutex = OS_MUTEX_INITIALIZER;
static os_condition_t changed;
static entry_t slow_entry = ENTRY_NONE; // of the plan
static uint64_t calls_before;           // that are as quick as ever
static uint64_t most;                   // nanoseconds
static uint64_t turn = 0;               // changes when whoever waits shall go on
static uint32_t waiting = 0;

static void prepare(void) {
    static bool is_prepared = false;
    if (!is_prepared) {
        is_prepared = true;
        os_condition_init(&changed);
    }
}

static void forget_plan(void) {
    if (slow_entry != ENTRY_NONE) {
        atomic_fetch_and(&entry_states[slow_entry].special, ~(uint32_t)ENTRY_MAY_BE_SLOW);
        slow_entry = ENTRY_NONE;
    }
}

void slow_call_wait(entry_t entry) {
    os_mutex_lock(&mutex);
    if (entry == slow_entry && calls_before-- == 0) {
        forget_plan();
        const uint64_t deadline = os_deadline(most);
        const uint64_t mine = turn;
        ++waiting;
        os_condition_broadcast(&changed);
        while (mine == turn && os_condition_wait(&changed, &mutex, deadline)) {
        }
        --waiting;
    }
    os_mutex_unlock(&mutex);
}

int32_t urasync_slow_call(const char *entry_name, uint64_t nth, uint64_t most_ns) {
    const entry_t entry = entry_name != NULL ? entry_find(entry_name) : ENTRY_NONE;
    if (entry == ENTRY_NONE) {
        return URASYNC_CONTROL_UNKNOWN_ENTRY;
    }
    if (nth == 0) {
        return URASYNC_CONTROL_OUT_OF_RANGE;
    }
    os_mutex_lock(&mutex);
    prepare();
    forget_plan();
    slow_entry = entry;
    calls_before = nth - 1;
    most = most_ns;
    atomic_fetch_or(&entry_states[entry].special, ENTRY_MAY_BE_SLOW);
    os_mutex_unlock(&mutex);
    return URASYNC_CONTROL_OK;
}

int32_t urasync_slow_call_wait_reached(uint64_t timeout_ns) {
    const uint64_t deadline = os_deadline(timeout_ns);
    os_mutex_lock(&mutex);
    prepare();
    bool patient = true;
    while (waiting == 0 && patient) {
        patient = os_condition_wait(&changed, &mutex, deadline);
    }
    const bool reached = waiting > 0;
    os_mutex_unlock(&mutex);
    return reached ? URASYNC_CONTROL_OK : URASYNC_CONTROL_TIMED_OUT;
}

void urasync_slow_call_end(void) {
    os_mutex_lock(&mutex);
    prepare();
    forget_plan();
    ++turn;
    os_condition_broadcast(&changed);
    os_mutex_unlock(&mutex);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sleeping until a subject changes.
//
// Sleepers stand in one of a fixed number of rooms, chosen by the address of what they wait for.
// So whoever changes a subject need not touch it any more when it wakes them: a thread that saw
// the change at once may have destroyed the subject meanwhile.
//
// A change is a sequentially consistent store before wake() looks for sleepers, and a sleeper
// announces itself before it looks at the subject. One of the two sees the other.

#include "internal.h"

enum { ROOMS = 256, SPINS = 100 };

typedef struct room {
    os_mutex_t mutex;
    os_condition_t changed;
    _Atomic uint32_t sleepers;
} __attribute__((aligned(64))) room_t;

static room_t rooms[ROOMS];

__attribute__((constructor)) static void open_rooms(void) {
    for (int i = 0; i < ROOMS; ++i) {
        os_mutex_init(&rooms[i].mutex);
        os_condition_init(&rooms[i].changed);
    }
}

static room_t *room_of(const void *subject) {
    const uint64_t mixed = ((uintptr_t)subject >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    return &rooms[mixed >> 56];
}

bool wait_until(const void *subject, condition_t *condition, uint64_t value, uint64_t deadline) {
    // Most commands are short: a few microseconds of patience save two switches of threads.
    for (int spin = 0; spin < SPINS; ++spin) {
        if (condition(subject, value)) {
            return true;
        }
        os_relax();
    }
    room_t *room = room_of(subject);
    bool holds = false;
    os_mutex_lock(&room->mutex);
    atomic_fetch_add(&room->sleepers, 1);
    while (!(holds = condition(subject, value))) {
        if (!os_condition_wait(&room->changed, &room->mutex, deadline)) {
            holds = condition(subject, value);
            break;
        }
    }
    atomic_fetch_sub(&room->sleepers, 1);
    os_mutex_unlock(&room->mutex);
    return holds;
}

void wake(const void *subject) {
    room_t *room = room_of(subject);
    if (atomic_load(&room->sleepers) == 0) {
        return;
    }
    os_mutex_lock(&room->mutex);
    os_condition_broadcast(&room->changed);
    os_mutex_unlock(&room->mutex);
}

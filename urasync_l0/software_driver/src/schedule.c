// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "schedule.h"

#include "internal.h"

// One of many numbers for each input, evenly spread: Steele, Lea and Flood's splitmix64.
static uint64_t mixed(uint64_t number) {
    number += UINT64_C(0x9E3779B97F4A7C15);
    number = (number ^ (number >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94D049BB133111EB);
    return number ^ (number >> 31);
}

uint64_t schedule_of(uint64_t seed, uint64_t worker, uint64_t place) {
    enum { MICROSECOND = 1000 };
    if (seed == 0) {
        return 0;
    }
    // For some commands in a row a worker keeps up with the others, or hangs back, now and then
    // much.
    const uint64_t mood = mixed(seed ^ mixed(worker * 1024 + place / 8)) % 4;
    const uint64_t chance = mixed(seed ^ mixed(worker) ^ place);
    if (mood == 0 && chance % 4 == 0) {
        return (chance >> 8) % (400 * MICROSECOND);
    }
    return mood == 1 ? (chance >> 8) % (20 * MICROSECOND) : 0;
}

void schedule_delay(uint64_t worker, uint64_t place) {
    const uint64_t delay = schedule_of(settings.seed, worker, place);
    if (delay > 0) {
        os_sleep(delay);
    }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When workers go on: as soon as they can, or as a seed says, so that lists run ahead of each other
// or hang back in ways that a busy machine seldom shows.

#ifndef URASYNC_SCHEDULE_H
#define URASYNC_SCHEDULE_H

#include <stdint.h>

// Nanoseconds for which a command is held back: that at `place` of the worker that was created as
// number `worker`. Always the same for the same numbers; 0 for seed 0.
uint64_t schedule_of(uint64_t seed, uint64_t worker, uint64_t place);
// Sleeps as long as the setting's seed says.
void schedule_delay(uint64_t worker, uint64_t place);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts instructions in a process that runs under callgrind with --instr-atstart=no. */
#include <valgrind/callgrind.h>

#include <stdbool.h>

/* Begins to count; from the second call on, writes to a file what came since the last one. */
void write_instructions(void);

void write_instructions(void) {
    static bool is_counting;
    if (is_counting)
        CALLGRIND_DUMP_STATS;
    else
        CALLGRIND_START_INSTRUMENTATION;
    is_counting = true;
}

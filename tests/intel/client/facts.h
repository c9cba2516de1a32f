/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program of operations holds, and how what it sees is told so that runs of different
 * adapters can be compared: handles and addresses by the slots that they are in.
 */
#ifndef INTEL_CLIENT_FACTS_H
#define INTEL_CLIENT_FACTS_H

#include "entries.h"

enum { SLOTS = 256, NONE = -1 };

/* Everything is null where there is nothing. */
struct slots {
    struct adapter adapter;
    ur_context_handle_t context;
    ur_queue_handle_t queues[SLOTS];
    ur_event_handle_t events[SLOTS];
    ur_usm_pool_handle_t pools[SLOTS];
    char *pointers[SLOTS];
};

extern struct slots slots;

/* Facts are printed behind the operation's number as name=value. */
void tell_result(ur_result_t result);

/* A property: its size, and its value if that was asked for; `subject` is called "itself". */
void tell_property(size_t needed, const void *value, size_t size, const void *subject);

/* How a number stands to what it is expected to be. */
void tell_number(const char *name, size_t value, size_t expected, const char *expectation);

/* Memory that was given out for `queue` (its slot, or NONE): whether it lies in memory that was
 * given back before, where in it, and whether it overlaps memory that is still in use. */
void tell_given_out(int queue, int kind, const char *memory, size_t size);

/* Memory that was given back on `queue`; all that may have gone to the driver. */
void note_given_back(int queue, const char *memory);
void forget_given_back(void);

/* Bytes that were asked for and are in use, of some kinds (a bit for each) or at an address. */
size_t bytes_in_use(unsigned kinds);
size_t size_of(const char *memory);

#endif

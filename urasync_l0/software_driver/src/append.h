// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every append does: check everything, prepare a command, submit it. So an append that fails
// has changed nothing.

#ifndef URASYNC_APPEND_H
#define URASYNC_APPEND_H

#include "worker.h"

// Whether the handle is a list that takes commands now.
ze_result_t append_list_check(ze_command_list_handle_t handle, entry_t entry);
// Whether commands of the list may wait for the event, or signal it.
ze_result_t append_event_check(const command_list_t *list, ze_event_handle_t handle, entry_t entry,
                               bool signals);
// A command with its waits and its signal, or an error and no effect.
ze_result_t append_prepare(command_list_t *list, entry_t entry, ze_event_handle_t signal,
                           uint32_t wait_count, ze_event_handle_t *waits, command_t **out);
// One more event that the prepared command refers to.
void append_keep_event(const command_t *command, event_t *event);
// Hands the command to the list. Cannot fail.
ze_result_t append_submit(command_list_t *list, command_t *command);

#define PREPARE(signal, wait_count, waits)                                                         \
    command_list_t *list = (command_list_t *)hCommandList;                                         \
    command_t *command;                                                                            \
    const ze_result_t prepared_ =                                                                  \
        append_prepare(list, this_entry, (signal), (wait_count), (waits), &command);               \
    if (prepared_ != ZE_RESULT_SUCCESS) {                                                          \
        return prepared_;                                                                          \
    }

#define CHECK_LIST()                                                                               \
    do {                                                                                           \
        const ze_result_t list_ = append_list_check(hCommandList, this_entry);                     \
        if (list_ != ZE_RESULT_SUCCESS) {                                                          \
            return list_;                                                                          \
        }                                                                                          \
    } while (0)

#endif

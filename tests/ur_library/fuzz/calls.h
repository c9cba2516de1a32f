// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries that the fuzzer itself uses.
#ifndef CALLS_H
#define CALLS_H

#include "library.h"

#include "functions.h"

// The function of an entry; cases.py writes its place in the table.
#define UR(name) ((__typeof__(name) *)function_table[FUNCTION_##name])

static inline ur_result_t release(unsigned kind, void *handle) {
    switch (kind) {
    case CONTEXT:
        return UR(urContextRelease)(handle);
    case QUEUE:
        return UR(urQueueRelease)(handle);
    case EVENT:
        return UR(urEventRelease)(handle);
    case USM_POOL:
        return UR(urUSMPoolRelease)(handle);
    case MEM:
        return UR(urMemRelease)(handle);
    case PROGRAM:
        return UR(urProgramRelease)(handle);
    case KERNEL:
        return UR(urKernelRelease)(handle);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
}

static inline ur_result_t native_handle_of(unsigned kind, void *handle, void *device,
                                           ur_native_handle_t *native) {
    switch (kind) {
    case PLATFORM:
        return UR(urPlatformGetNativeHandle)(handle, native);
    case DEVICE:
        return UR(urDeviceGetNativeHandle)(handle, native);
    case CONTEXT:
        return UR(urContextGetNativeHandle)(handle, native);
    case QUEUE:
        return UR(urQueueGetNativeHandle)(handle, NULL, native);
    case EVENT:
        return UR(urEventGetNativeHandle)(handle, native);
    case MEM:
        return UR(urMemGetNativeHandle)(handle, device, native);
    case PROGRAM:
        return UR(urProgramGetNativeHandle)(handle, native);
    case KERNEL:
        return UR(urKernelGetNativeHandle)(handle, native);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
}

static inline void last_error(void *adapter, const char **message, int32_t *code) {
    (void)UR(urAdapterGetLastError)(adapter, message, code);
}

static inline ur_result_t free_in_context(void *context, void *memory) {
    return UR(urUSMFree)(context, memory);
}

static inline ur_result_t free_in_queue(void *queue, void *memory) {
    return UR(urEnqueueUSMFreeExp)(queue, NULL, memory, 0, NULL, NULL);
}

static inline bool is_last_reference(ur_context_handle_t context) {
    enum { REFERENCE_COUNT = 2 };
    uint32_t count = 0;
    return UR(urContextGetInfo)(context, REFERENCE_COUNT, sizeof count, &count, NULL) ==
               UR_RESULT_SUCCESS &&
           count == 1;
}

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "last_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local char text[LONGEST_ERROR];

void last_error_set(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
}

const char *last_error(void) { return text; }

ze_result_t ZE_APICALL zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver,
                                                       const char **ppString) {
    ENTER(zeDriverGetLastErrorDescription);
    CHECK_HANDLE(hDriver, KIND_DRIVER);
    CHECK_POINTER(ppString);
    *ppString = last_error();
    return ZE_RESULT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exported table functions, as a loader without types sees them.

#ifndef URASYNC_TABLES_H
#define URASYNC_TABLES_H

#include <level_zero/ze_api.h>

typedef void (*function_t)(void);

#define URASYNC_TABLE(table, structure)                                                            \
    ze_result_t zeGet##table##ProcAddrTable(ze_api_version_t version, function_t *functions);
#include "entries.h"

#endif

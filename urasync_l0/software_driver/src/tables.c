// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the loader looks for in the shared object, one for each table.
//
// The loader passes the version of the specification that it was built for, and memory for as many
// entries as the table had then. So only entries up to that version may be written.

#include "internal.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void (*function_t)(void);

// An entry that is not implemented takes any arguments and uses none.
#define URASYNC_NOT_IMPLEMENTED(table, minor, field, name)                                         \
    static ze_result_t ZE_APICALL refuse_##name(void) {                                            \
        return entry_not_implemented(ENTRY_##name);                                                \
    }
#include "entries.h"

typedef struct table_row {
    uint32_t minor; // 1.x
    function_t function;
} table_row_t;

static ze_result_t fill(const table_row_t *rows, size_t count, uint32_t version,
                        function_t *table) {
    if (table == NULL) {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if (ZE_MAJOR_VERSION(version) != 1) {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    for (size_t i = 0; i < count && rows[i].minor <= ZE_MINOR_VERSION(version); ++i) {
        table[i] = rows[i].function;
    }
    return ZE_RESULT_SUCCESS;
}

// Each table: its rows, then the function that copies them.
#define URASYNC_TABLE(table, structure)                                                            \
    EXPORTED ze_result_t ZE_APICALL zeGet##table##ProcAddrTable(ze_api_version_t version,          \
                                                                function_t *functions);            \
    ze_result_t ZE_APICALL zeGet##table##ProcAddrTable(ze_api_version_t version,                   \
                                                       function_t *functions) {                    \
        static const table_row_t rows[] = {
#define URASYNC_IMPLEMENTED(table, minor, field, name) {minor, (function_t)name},
#define URASYNC_NOT_IMPLEMENTED(table, minor, field, name) {minor, (function_t)refuse_##name},
#define URASYNC_TABLE_END(table)                                                                   \
    }                                                                                              \
    ;                                                                                              \
    return fill(rows, sizeof rows / sizeof rows[0], version, functions);                           \
    }
#include "entries.h"

// Tools and system management: the older loader insists on the tables, whose entries stay NULL.
#define EMPTY_TABLE(name)                                                                          \
    EXPORTED ze_result_t ZE_APICALL name(ze_api_version_t version, function_t *functions);         \
    ze_result_t ZE_APICALL name(ze_api_version_t version, function_t *functions) {                 \
        return fill(NULL, 0, version, functions);                                                  \
    }

EMPTY_TABLE(zetGetDeviceProcAddrTable)
EMPTY_TABLE(zetGetContextProcAddrTable)
EMPTY_TABLE(zetGetCommandListProcAddrTable)
EMPTY_TABLE(zetGetModuleProcAddrTable)
EMPTY_TABLE(zetGetKernelProcAddrTable)
EMPTY_TABLE(zetGetMetricProcAddrTable)
EMPTY_TABLE(zetGetMetricGroupProcAddrTable)
EMPTY_TABLE(zetGetMetricStreamerProcAddrTable)
EMPTY_TABLE(zetGetMetricQueryPoolProcAddrTable)
EMPTY_TABLE(zetGetMetricQueryProcAddrTable)
EMPTY_TABLE(zetGetTracerExpProcAddrTable)
EMPTY_TABLE(zetGetDebugProcAddrTable)

EMPTY_TABLE(zesGetDeviceProcAddrTable)
EMPTY_TABLE(zesGetDriverProcAddrTable)
EMPTY_TABLE(zesGetSchedulerProcAddrTable)
EMPTY_TABLE(zesGetPerformanceFactorProcAddrTable)
EMPTY_TABLE(zesGetPowerProcAddrTable)
EMPTY_TABLE(zesGetFrequencyProcAddrTable)
EMPTY_TABLE(zesGetEngineProcAddrTable)
EMPTY_TABLE(zesGetStandbyProcAddrTable)
EMPTY_TABLE(zesGetFirmwareProcAddrTable)
EMPTY_TABLE(zesGetMemoryProcAddrTable)
EMPTY_TABLE(zesGetFabricPortProcAddrTable)
EMPTY_TABLE(zesGetTemperatureProcAddrTable)
EMPTY_TABLE(zesGetPsuProcAddrTable)
EMPTY_TABLE(zesGetFanProcAddrTable)
EMPTY_TABLE(zesGetLedProcAddrTable)
EMPTY_TABLE(zesGetRasProcAddrTable)
EMPTY_TABLE(zesGetDiagnosticsProcAddrTable)

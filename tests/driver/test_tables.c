// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables: what a loader of each version gets, and that nothing beyond is written.

#include "bench.h"
#include "tables.h"
#include "tests.h"

enum { CANARY = 0xA5, SPACE = 128, NEWEST = 17 };

#define FILL(table, version, memory)                                                               \
    zeGet##table##ProcAddrTable((ze_api_version_t)(version), (memory))

static size_t written(const function_t *memory) {
    size_t count = 0;
    unsigned char canary[sizeof *memory];
    memset(canary, CANARY, sizeof canary);
    while (count < SPACE && memcmp(&memory[count], canary, sizeof canary) != 0) {
        ++count;
    }
    for (size_t i = count; i < SPACE; ++i) {
        CHECK(memcmp(&memory[i], canary, sizeof canary) == 0);
    }
    return count;
}

// Sizes that were observed at the two loaders' calls; they do not come from the driver's own list.
void tables_have_the_size_of_the_version(void) {
    function_t memory[SPACE];
#define CHECK_SIZE(table, old, new)                                                                \
    memset(memory, CANARY, sizeof memory);                                                         \
    SUCCESS(FILL(table, ZE_MAKE_VERSION(1, 4), memory));                                           \
    CHECK_EQUAL(written(memory), old);                                                             \
    memset(memory, CANARY, sizeof memory);                                                         \
    SUCCESS(FILL(table, ZE_MAKE_VERSION(1, NEWEST), memory));                                      \
    CHECK_EQUAL(written(memory), new);
    CHECK_SIZE(Global, 1, 2)
    CHECK_SIZE(Driver, 6, 9)
    CHECK_SIZE(Device, 18, 28)
    CHECK_SIZE(DeviceExp, 1, 1)
    CHECK_SIZE(Context, 9, 9)
    CHECK_SIZE(CommandQueue, 4, 9)
    CHECK_SIZE(CommandList, 28, 52)
    CHECK_SIZE(Image, 4, 5)
    CHECK_SIZE(ImageExp, 2, 3)
    CHECK_SIZE(Mem, 10, 13)
    CHECK_SIZE(Fence, 5, 5)
    CHECK_SIZE(EventPool, 5, 8)
    CHECK_SIZE(Event, 7, 17)
    CHECK_SIZE(EventExp, 1, 1)
    CHECK_SIZE(Module, 9, 9)
    CHECK_SIZE(ModuleBuildLog, 2, 2)
    CHECK_SIZE(Kernel, 12, 12)
    CHECK_SIZE(KernelExp, 2, 4)
    CHECK_SIZE(Sampler, 2, 2)
    CHECK_SIZE(PhysicalMem, 2, 3)
    CHECK_SIZE(VirtualMem, 7, 7)
    CHECK_SIZE(FabricVertexExp, 4, 4)
    CHECK_SIZE(FabricEdgeExp, 3, 3)
    CHECK_SIZE(CommandListExp, 0, 9)
    CHECK_SIZE(MemExp, 0, 4)
    CHECK_SIZE(DriverExp, 0, 1)
}

// For every version each table is a prefix of the newest one, as long as the list of entries says.
void tables_of_every_version_are_prefixes(void) {
    function_t newest[SPACE];
    function_t memory[SPACE];
    for (int minor = 0; minor <= NEWEST; ++minor) {
#define URASYNC_TABLE(table, structure)                                                            \
    {                                                                                              \
        size_t expected = 0;                                                                       \
        memset(newest, CANARY, sizeof newest);                                                     \
        memset(memory, CANARY, sizeof memory);                                                     \
        SUCCESS(FILL(table, ZE_MAKE_VERSION(1, NEWEST), newest));                                  \
        SUCCESS(FILL(table, ZE_MAKE_VERSION(1, minor), memory));
#define URASYNC_IMPLEMENTED(table, since, field, name) expected += (since) <= minor ? 1 : 0;
#define URASYNC_NOT_IMPLEMENTED(table, since, field, name) expected += (since) <= minor ? 1 : 0;
#define URASYNC_TABLE_END(table)                                                                   \
    CHECK_EQUAL(written(memory), expected);                                                        \
    CHECK(memcmp(memory, newest, expected * sizeof memory[0]) == 0);                               \
    for (size_t i = 0; i < expected; ++i) {                                                        \
        CHECK(memory[i] != NULL);                                                                  \
    }                                                                                              \
    }
#include "entries.h"
    }
}

void tables_refuse_what_they_cannot_fill(void) {
    function_t memory[SPACE];
    memset(memory, CANARY, sizeof memory);
    CHECK_EQUAL(FILL(Mem, ZE_MAKE_VERSION(1, 4), NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK_EQUAL(FILL(Mem, ZE_MAKE_VERSION(2, 0), memory), ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    CHECK_EQUAL(FILL(Mem, ZE_MAKE_VERSION(0, 9), memory), ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    CHECK_EQUAL(written(memory), 0);
}

#define TOOL_TABLE(name) ze_result_t name(ze_api_version_t version, function_t *functions);
#define TOOL_TABLES(X)                                                                             \
    X(zetGetDeviceProcAddrTable)                                                                   \
    X(zetGetContextProcAddrTable)                                                                  \
    X(zetGetCommandListProcAddrTable)                                                              \
    X(zetGetModuleProcAddrTable)                                                                   \
    X(zetGetKernelProcAddrTable)                                                                   \
    X(zetGetMetricProcAddrTable)                                                                   \
    X(zetGetMetricGroupProcAddrTable)                                                              \
    X(zetGetMetricStreamerProcAddrTable)                                                           \
    X(zetGetMetricQueryPoolProcAddrTable)                                                          \
    X(zetGetMetricQueryProcAddrTable)                                                              \
    X(zetGetTracerExpProcAddrTable)                                                                \
    X(zetGetDebugProcAddrTable)                                                                    \
    X(zesGetDeviceProcAddrTable)                                                                   \
    X(zesGetDriverProcAddrTable)                                                                   \
    X(zesGetSchedulerProcAddrTable)                                                                \
    X(zesGetPerformanceFactorProcAddrTable)                                                        \
    X(zesGetPowerProcAddrTable)                                                                    \
    X(zesGetFrequencyProcAddrTable)                                                                \
    X(zesGetEngineProcAddrTable)                                                                   \
    X(zesGetStandbyProcAddrTable)                                                                  \
    X(zesGetFirmwareProcAddrTable)                                                                 \
    X(zesGetMemoryProcAddrTable)                                                                   \
    X(zesGetFabricPortProcAddrTable)                                                               \
    X(zesGetTemperatureProcAddrTable)                                                              \
    X(zesGetPsuProcAddrTable)                                                                      \
    X(zesGetFanProcAddrTable)                                                                      \
    X(zesGetLedProcAddrTable)                                                                      \
    X(zesGetRasProcAddrTable)                                                                      \
    X(zesGetDiagnosticsProcAddrTable)
TOOL_TABLES(TOOL_TABLE)

void tool_tables_succeed_and_write_nothing(void) {
    function_t memory[SPACE];
    memset(memory, CANARY, sizeof memory);
#define CHECK_TOOL_TABLE(name) SUCCESS(name((ze_api_version_t)ZE_MAKE_VERSION(1, 4), memory));
    TOOL_TABLES(CHECK_TOOL_TABLE)
    CHECK_EQUAL(written(memory), 0);
}

// Only the entries of specification 1.4: everything an old loader can reach must do by itself.
void an_old_loader_has_the_old_entries(void) {
    load_entries(4);
    CHECK(ze.zeInitDrivers == NULL);
    CHECK(ze.zeCommandListHostSynchronize == NULL);
    CHECK(ze.zeEventCounterBasedCreate == NULL);
    CHECK(ze.zeMemFreeExt != NULL);
    void *memory = make_device_memory(4096);
    ze_command_list_handle_t list = make_list(OUT_OF_ORDER);
    ze_event_pool_handle_t pool = make_pool(1, POOL_PLAIN);
    ze_event_handle_t event = make_event(pool, 0);
    const int pattern = 0x5A5A5A5A;
    SUCCESS(ze.zeCommandListAppendMemoryFill(list, memory, &pattern, sizeof pattern, 4096, event, 0,
                                             NULL));
    finish_event(event);
    CHECK(filled_with(memory, 0x5A, 4096));
    destroy_event(event);
    destroy_pool(pool);
    destroy_list(list);
    free_memory(memory);
    load_entries(17);
    load_extensions();
}

// Prints once for each entry, always refuses, always counts.
int child_not_implemented(void) {
    function_t memory[SPACE];
    FILL(Sampler, ZE_MAKE_VERSION(1, 4), memory);
    ze_result_t (*create)(ze_context_handle_t, ze_device_handle_t, const ze_sampler_desc_t *,
                          ze_sampler_handle_t *) = (__typeof__(create))memory[0];
    ze_result_t (*destroy)(ze_sampler_handle_t) = (__typeof__(destroy))memory[1];
    for (int i = 0; i < 2; ++i) {
        if (destroy(NULL) != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
            create(NULL, NULL, NULL, NULL) != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) {
            return 1;
        }
    }
    return urasync_calls("zeSamplerDestroy") == 2 && urasync_calls("zeSamplerCreate") == 2 ? 0 : 2;
}

void an_entry_that_is_not_implemented_says_so_once(void) {
    char errors[4096];
    CHECK_EQUAL(run_child("child_not_implemented", NULL, NULL, errors, sizeof errors), 0);
    const char *first = "urasync software driver: zeSamplerDestroy is not implemented\n";
    const char *second = "urasync software driver: zeSamplerCreate is not implemented\n";
    CHECK_EQUAL(strlen(errors), strlen(first) + strlen(second));
    CHECK(strstr(errors, first) != NULL);
    CHECK(strstr(errors, second) != NULL);
}

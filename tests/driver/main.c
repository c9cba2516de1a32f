// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the tests of the software driver: all, or those whose name contains the first argument.
// After each test nothing may live and no memory may be in use.

#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

enum { WATCHDOG_SECONDS = 300 };

atomic_int failed_checks = 0;

#define TEST(name) {#name, name},
static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
#include "tests.h"
};

#define CHILD(name) {#name, name},
static const struct {
    const char *name;
    int (*run)(void);
} children[] = {
#include "tests.h"
};

static int run_named_child(const char *name) {
    for (size_t i = 0; i < COUNT(children); ++i) {
        if (strcmp(children[i].name, name) == 0) {
            load_entries(17);
            return children[i].run();
        }
    }
    printf("there is no child test %s\n", name);
    return 127;
}

static void open_driver(void) {
    uint32_t count = 1;
    SUCCESS(ze.zeInit(0));
    SUCCESS(ze.zeDriverGet(&count, &driver));
    load_extensions();
    count = DEVICES;
    SUCCESS(ze.zeDeviceGet(driver, &count, devices));
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    SUCCESS(ze.zeContextCreate(driver, &desc, &context));
}

static void check_nothing_is_left(void) {
    urasync_live_row rows[16];
    const size_t count = urasync_live_table(rows, COUNT(rows));
    for (size_t i = 1; i < count && i < COUNT(rows); ++i) { // the first is the context
        printf("left: %s 0x%" PRIx64 " of %s\n", urasync_object_kind_name(rows[i].kind),
               rows[i].handle, rows[i].creator);
    }
    CHECK_EQUAL(count, 1);
    for (uint32_t device = 0; device < DEVICES; ++device) {
        uint64_t used = 1;
        CHECK_EQUAL(urasync_device_memory_used(device, &used), 0);
        CHECK_EQUAL(used, 0);
    }
    CHECK_EQUAL(urasync_resident_bytes(), 0);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(WATCHDOG_SECONDS); // a test that hangs must end
    setenv("URASYNC_L0_SOFTWARE_DEVICES", "2", 0);
    setenv("URASYNC_L0_SOFTWARE_MEMORY", "1G", 0);
    setenv("URASYNC_L0_SOFTWARE_MAX_ALLOCATION", "256M", 0);
    if (argc == 3 && strcmp(argv[1], "--child") == 0) {
        return run_named_child(argv[2]);
    }
    load_entries(17);
    open_driver();
    size_t run = 0;
    for (size_t i = 0; i < COUNT(tests); ++i) {
        if (argc > 1 && strstr(tests[i].name, argv[1]) == NULL) {
            continue;
        }
        const int before = atomic_load(&failed_checks);
        tests[i].run();
        urasync_clear_failures();
        check_nothing_is_left();
        ++run;
        if (atomic_load(&failed_checks) != before) {
            printf("FAILED %s\n", tests[i].name);
        }
    }
    SUCCESS(ze.zeContextDestroy(context));
    const int failed = atomic_load(&failed_checks);
    printf("%zu tests, %d failed checks\n", run, failed);
    return failed == 0 && run > 0 ? 0 : 1;
}
